// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Properties besides those trainium.c defines: faults on demand (set before start or by qom-set at
 * run time), statistics and counters of guest mistakes (qom-get).
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

static void fault_set(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	TrainiumState *s = TRAINIUM(obj);
	uint64_t value;

	if (!visit_type_uint64(v, name, &value, errp)) {
		return;
	}
	if (s->model) {
		trainium_fault_set(s, name, value, errp);
	} else {
		s->fault[(uintptr_t)opaque] = value;
	}
}

bool trainium_faults_apply(TrainiumState *s, Error **errp)
{
	const char *name;
	unsigned int i;

	for (i = 0; i < TRAINIUM_FAULTS_MAX && (name = emu_fault_name(i, NULL)); i++) {
		if (s->fault[i] && !trainium_fault_set(s, name, s->fault[i], errp)) {
			return false;
		}
	}
	return true;
}

static void stat_get(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	TrainiumState *s = TRAINIUM(obj);
	uint64_t value = s->model ? emu_device_stat(s->model, (uintptr_t)opaque) : 0;

	visit_type_uint64(v, name, &value, errp);
}

static bool report_mistakes_get(Object *obj, Error **errp)
{
	return qatomic_read(&TRAINIUM(obj)->report_mistakes);
}

static void report_mistakes_set(Object *obj, bool value, Error **errp)
{
	TrainiumState *s = TRAINIUM(obj);

	qatomic_set(&s->mistakes_shown, 0);
	qatomic_set(&s->report_mistakes, value);
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

/* The properties of the command line, which trainium.c defines. */
static const struct {
	const char *name, *help;
} described[] = {
	{ "arch", "product: trn1, inf2 or trn2" },
	{ "routing-id", "place in the topology, 0 to 63; one of its own for each device" },
	{ "serial", "serial number; 0: made from generation and routing id" },
	{ "hbm-size", "bytes of each HBM stack: a power of two from 64 MiB; 0: the real size" },
	{ "disable-features",
	  "bits of the open extension to leave out: 1 MSI-X, 2 cores, 4 windows, "
	  "8 notifications, 16 clock, 32 links" },
	{ "fabric", "devices of this process with the same name are linked; empty: none" },
	{ "node", "place in an UltraServer, from 0" },
	{ "nodes", "nodes of the UltraServer: 1, 2 or 4" },
	{ "link-dir", "folder where the devices of other nodes' processes are met" },
	{ "time-mode", "on: charge published costs; the device clock is virtual" },
	{ "trace", "time mode: file for a trace in Chrome form, written at the end" },
	{ "trace-events", "time mode: how many events the trace keeps; 0: a million" },
};

static bool trace_write_get(Object *obj, Error **errp)
{
	return false;
}

static void trace_write_set(Object *obj, bool value, Error **errp)
{
	TrainiumState *s = TRAINIUM(obj);

	if (!s->model || !s->trace) {
		error_setg(errp, "trainium: trace-write needs a device with a trace");
	} else if (value && emu_device_trace_write(s->model)) {
		error_setg(errp, "trainium: the trace cannot be written to %s", s->trace);
	}
}

static void counters_add(ObjectClass *class)
{
	const char *name, *help;
	uintptr_t i;

	for (i = 0; (name = emu_stat_name(i, &help)); i++) {
		g_autofree char *stat = g_strdup_printf("stat-%s", name);
		g_autofree char *text = g_strdup_printf("read-only: %s", help);

		object_class_property_add(class, stat, "uint64", stat_get, NULL, NULL, (void *)i);
		object_class_property_set_description(class, stat, text);
	}
	object_class_property_add(class, "complaints", "uint64", complaints_get, NULL, NULL,
				  (void *)(uintptr_t)EMU_COMPLAINT_NONE);
	object_class_property_set_description(class, "complaints",
					      "read-only: guest mistakes counted so far");
	for (i = EMU_COMPLAINT_NONE + 1; i < EMU_COMPLAINT_COUNT; i++) {
		g_autofree char *kind = g_strdup_printf("complaints-%s", emu_complaint_name(i));

		object_class_property_add(class, kind, "uint64", complaints_get, NULL, NULL,
					  (void *)i);
		object_class_property_set_description(class, kind,
						      "read-only: mistakes of this kind");
	}
	object_class_property_add_str(class, "complaint-text", complaint_text_get, NULL);
	object_class_property_set_description(class, "complaint-text",
					      "read-only: the last guest mistake in words");
}

void trainium_class_properties_add(ObjectClass *class)
{
	const char *name, *help;
	uintptr_t i;

	for (i = 0; i < ARRAY_SIZE(described); i++) {
		object_class_property_set_description(class, described[i].name, described[i].help);
	}
	for (i = 0; i < TRAINIUM_FAULTS_MAX && (name = emu_fault_name(i, &help)); i++) {
		object_class_property_add(class, name, "uint64", fault_get, fault_set, NULL,
					  (void *)i);
		object_class_property_set_description(class, name, help);
	}
	object_class_property_add_bool(class, "report-mistakes", report_mistakes_get,
				       report_mistakes_set);
	object_class_property_set_description(
		class, "report-mistakes", "on: a line for each of the first 1000 guest mistakes");
	object_class_property_add_bool(class, "trace-write", trace_write_get, trace_write_set);
	object_class_property_set_description(class, "trace-write",
					      "at run time, on: write the trace so far");
	counters_add(class);
}
