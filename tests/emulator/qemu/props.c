// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Properties besides those of the command line: faults on demand (set before start or by qom-set at
 * run time) and counters of guest mistakes (qom-get).
 *
 * Everything here runs with the BQL.
 */
#include "trainium.h"
#include "qapi/error.h"
#include "qapi/visitor.h"

static void fault_get(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	TrainiumState *s = TRAINIUM(obj);
	uint64_t value = s->fault[(uintptr_t)opaque];

	if (s->model) {
		emu_device_fault_get(s->model, name, &value);
	}
	visit_type_uint64(v, name, &value, errp);
}

static bool fault_set_model(TrainiumState *s, const char *name, uint64_t value, Error **errp)
{
	switch (emu_device_fault_set(s->model, name, value)) {
	case 0:
		return true;
	case -ERANGE:
		error_setg(errp, "trainium: %s=%" PRIu64 " is out of range", name, value);
		return false;
	default:
		error_setg(errp, "trainium: the model has no fault %s", name);
		return false;
	}
}

static void fault_set(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	TrainiumState *s = TRAINIUM(obj);
	uint64_t value;

	if (!visit_type_uint64(v, name, &value, errp)) {
		return;
	}
	if (s->model) {
		fault_set_model(s, name, value, errp);
	} else {
		s->fault[(uintptr_t)opaque] = value;
	}
}

bool trainium_faults_apply(TrainiumState *s, Error **errp)
{
	const char *name;
	unsigned int i;

	for (i = 0; i < TRAINIUM_FAULTS_MAX && (name = emu_fault_name(i, NULL)); i++) {
		if (s->fault[i] && !fault_set_model(s, name, s->fault[i], errp)) {
			return false;
		}
	}
	return true;
}

static void complaints_get(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	TrainiumState *s = TRAINIUM(obj);
	uint64_t value = 0;

	if (s->model) {
		value = emu_device_complaints(s->model, (enum emu_complaint)(uintptr_t)opaque);
	}
	visit_type_uint64(v, name, &value, errp);
}

static char *complaint_text_get(Object *obj, Error **errp)
{
	TrainiumState *s = TRAINIUM(obj);
	char text[256] = "";

	if (s->model) {
		emu_device_complaint_text(s->model, text, sizeof(text));
	}
	return g_strdup(text);
}

void trainium_class_properties_add(ObjectClass *class)
{
	const char *name, *help;
	uintptr_t i;

	for (i = 0; i < TRAINIUM_FAULTS_MAX && (name = emu_fault_name(i, &help)); i++) {
		object_class_property_add(class, name, "uint64", fault_get, fault_set, NULL,
					  (void *)i);
		object_class_property_set_description(class, name, help);
	}
	object_class_property_add(class, "complaints", "uint64", complaints_get, NULL, NULL,
				  (void *)(uintptr_t)EMU_COMPLAINT_NONE);
	object_class_property_set_description(class, "complaints", "guest mistakes counted so far");
	for (i = EMU_COMPLAINT_NONE + 1; i < EMU_COMPLAINT_COUNT; i++) {
		g_autofree char *kind = g_strdup_printf("complaints-%s", emu_complaint_name(i));

		object_class_property_add(class, kind, "uint64", complaints_get, NULL, NULL,
					  (void *)i);
	}
	object_class_property_add_str(class, "complaint-text", complaint_text_get, NULL);
	object_class_property_set_description(class, "complaint-text",
					      "the last guest mistake in words");
}
