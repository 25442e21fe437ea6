// SPDX-License-Identifier: BSD-2-Clause
/*
 * Opening: a device model, the hardware layer on it, and what the module's probe would do.
 *
 * Locking: none; the device is not shared before it is complete.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"
#include "emu.h"
#include "identity.h"

static u32 mmio_read(void *opaque, unsigned int bar, u64 offset)
{
	return emu_device_read(((struct trn_emu *)opaque)->model, bar, offset, 4);
}

static void mmio_write(void *opaque, unsigned int bar, u64 offset, u32 value)
{
	emu_device_write(((struct trn_emu *)opaque)->model, bar, offset, value, 4);
}

static void *dma_alloc(void *opaque, size_t size, u64 *bus)
{
	struct trn_emu_mem mem;

	if (trn_emu_mem_alloc(opaque, size, &mem))
		return NULL;
	*bus = mem.bus;
	return mem.ptr;
}

static void dma_free(void *opaque, size_t size, void *ptr, u64 bus)
{
	struct trn_emu_mem mem = { .ptr = ptr,
				   .size = (size + TRN_EMU_PAGE - 1) & ~(TRN_EMU_PAGE - 1),
				   .bus = bus };

	trn_emu_mem_free(opaque, &mem);
}

/* The library prints nothing; the last complaint becomes part of an error sentence. */
static void log_keep(void *opaque, enum trnhw_user_level level, const char *text)
{
	struct trn_emu *emu = opaque;

	if (level > TRNHW_USER_WARNING)
		return;
	pthread_mutex_lock(&emu->lock);
	snprintf(emu->log, sizeof(emu->log), "%s", text);
	pthread_mutex_unlock(&emu->lock);
}

static int hw_start(struct trn_emu *emu)
{
	static const struct trnhw_user_ops ops = {
		.size = sizeof(ops),
		.mmio_read = mmio_read,
		.mmio_write = mmio_write,
		.dma_alloc = dma_alloc,
		.dma_free = dma_free,
		.log = log_keep,
	};
	uint8_t config[TRN_EMU_CONFIG_BYTES];
	struct trn_emu_identity id;
	int error;

	emu_device_pci_config(emu->model, config);
	trn_emu_identify(config, &id);
	error = trnhw_user_device_create(emu->name, &ops, emu, &emu->dev);
	if (error)
		return error;
	error = trnhw_init(&emu->hw, emu->dev, trnhw_user_iomap(emu->dev, 0),
			   id.ext ? trnhw_user_iomap(emu->dev, 2) : NULL, id.device, id.features,
			   id.vectors);
	if (error)
		return error;
	emu->hw_ready = true;
	/* The model was made in its power-up state a moment ago: there is nothing a reset would
	 * undo. */
	return trnhw_start(&emu->hw, (1u << emu->hw.arch->cores) - 1);
}

static int engines_start(struct trn_emu *emu)
{
	const u32 needed = TRN_FEATURE_CORES | TRN_FEATURE_NOTIFY;
	unsigned int h2t = emu->hw.arch->h2t_engine(0);
	unsigned int i;
	int error;

	for (i = 0; i < emu->hw.arch->cores; i++) {
		emu->copyqs[i].vector =
			TRN_VECTOR_H2T(emu->hw.arch->cores, emu->hw.arch->h2t_engine(i) - h2t);
		error = trnhw_copyq_init(&emu->copyqs[i].hw, &emu->hw, i);
		if (error)
			return error;
		if ((emu->hw.features & needed) != needed)
			continue;
		error = trnhw_core_init(&emu->cores[i].hw, &emu->hw, i);
		if (error)
			return error;
	}
	if (emu->hw.features & TRN_FEATURE_MSIX)
		for (i = 0; i < emu->hw.vectors && i < TRN_EMU_VECTORS_MAX; i++)
			trnhw_irq_unmask(&emu->hw, i);
	return 0;
}

static int constants_make(struct trn_emu *emu)
{
	int error = trn_emu_mem_alloc(emu, TRN_EMU_PAGE, &emu->constants);

	if (!error)
		*(uint32_t *)((uint8_t *)emu->constants.ptr + TRN_EMU_CONST_ONE) = 1;
	return error;
}

static void emu_close(struct trn_backend_device *device)
{
	struct trn_emu *emu = trn_emu_of(device);
	unsigned int i;

	while (emu->inproc && !trn_list_empty(&emu->contexts))
		trn_emu_ctx_destroy(
			device, trn_list_entry(emu->contexts.next, struct trn_emu_ctx, link)->id);
	trn_emu_bo_teardown(emu);
	if (emu->hw_ready) {
		for (i = 0; i < emu->hw.arch->cores; i++) {
			trnhw_core_fini(&emu->cores[i].hw);
			trnhw_copyq_fini(&emu->copyqs[i].hw);
		}
		trn_emu_mem_free(emu, &emu->constants);
		trnhw_fini(&emu->hw);
	}
	if (emu->inproc)
		emu_inproc_interrupt_handler(emu->inproc, NULL, NULL);
	emu_inproc_destroy(emu->inproc);
	trnhw_user_device_destroy(emu->dev);
	trn_emu_irq_teardown(emu);
	for (i = 0; i < TRN_MAX_CORES; i++)
		pthread_mutex_destroy(&emu->copyqs[i].lock);
	pthread_mutex_destroy(&emu->reset_lock);
	pthread_mutex_destroy(&emu->abort_lock);
	pthread_mutex_destroy(&emu->lock);
	free(emu);
}

static struct trn_emu *emu_new(const char *spec)
{
	struct trn_emu *emu = calloc(1, sizeof(*emu));
	unsigned int i;

	if (!emu)
		return NULL;
	pthread_mutex_init(&emu->lock, NULL);
	pthread_mutex_init(&emu->reset_lock, NULL);
	pthread_mutex_init(&emu->abort_lock, NULL);
	for (i = 0; i < TRN_MAX_CORES; i++)
		pthread_mutex_init(&emu->copyqs[i].lock, NULL);
	trn_emu_irq_setup(emu);
	trn_list_init(&emu->contexts);
	snprintf(emu->name, sizeof(emu->name), "emu:%s", spec);
	return emu;
}

static int faults_apply(struct trn_emu *emu, const char *spec,
			const struct trn_emu_options *options)
{
	char range[256];
	unsigned int i;
	int error;

	for (i = 0; i < options->faults; i++) {
		error = emu_device_fault_set(emu->model, options->fault[i].name,
					     options->fault[i].value);
		if (!error)
			continue;
		emu_device_fault_range(emu->model, options->fault[i].name, range, sizeof(range));
		trn_error_set(TRN_ERR_INVALID, "device emu:%s: %s=%llu is refused; must be %s",
			      spec, options->fault[i].name,
			      (unsigned long long)options->fault[i].value, range);
		return -EINVAL;
	}
	return 0;
}

static int emu_open(const char *spec, struct trn_backend_device **device, char node[32])
{
	struct trn_emu_options options;
	struct emu_config config = { .size = sizeof(config) };
	char text[256] = "";
	struct trn_emu *emu;
	int error;

	error = trn_emu_options_parse(spec, &options);
	if (error)
		return error;
	emu = emu_new(spec);
	if (!emu)
		return -ENOMEM;
	config.arch = options.arch;
	config.routing_id = options.routing_id;
	config.hbm_bytes = options.hbm;
	config.disable_features = options.disable;
	config.time_mode = options.time_mode;
	config.trace = options.trace[0] ? options.trace : NULL;
	config.trace_events = options.trace_events;
	error = emu_inproc_create(&config, &emu->inproc, text, sizeof(text));
	if (error) {
		trn_error_set(error == -ENOMEM ? TRN_ERR_NO_HOST_MEMORY : TRN_ERR_INVALID,
			      "device emu:%s: %s", spec, text);
		goto err;
	}
	emu->model = emu_inproc_device(emu->inproc);
	emu_inproc_interrupt_handler(emu->inproc, trn_emu_irq_handler, emu);
	error = faults_apply(emu, spec, &options);
	if (error)
		goto err;
	error = hw_start(emu);
	if (!error)
		error = engines_start(emu);
	if (!error)
		error = constants_make(emu);
	if (!error)
		error = trn_emu_hbm_setup(emu);
	if (error) {
		trn_error_set(trn_status_from_errno(error),
			      "device emu:%s does not come up: %s%s%s", spec, strerror(-error),
			      *emu->log ? ": " : "", emu->log);
		goto err;
	}
	node[0] = 0;
	*device = (struct trn_backend_device *)emu;
	return 0;

err:
	emu_close((struct trn_backend_device *)emu);
	return error;
}

/* The one that TRN_DEVICE names, made for the moment to ask it what it is: a few milliseconds. */
static int emu_list(struct trn_device_info *list, size_t *count)
{
	const char *spec = getenv("TRN_DEVICE");
	struct trn_device *device;
	size_t room = *count;

	*count = 0;
	if (!spec || strncmp(spec, "emu:", 4))
		return 0;
	/* A bad name is told by opening it. */
	if (trn_device_open_with(&trn_backend_emu, spec + 4, spec, &device))
		return 0;
	*count = 1;
	if (room) {
		memset(list, 0, sizeof(*list));
		list->size = sizeof(*list);
		trn_info_fill(device, list);
	}
	trn_device_close(device);
	return 0;
}

const struct trn_backend_ops trn_backend_emu = {
	.name = "emu",
	.list = emu_list,
	.open = emu_open,
	.close = emu_close,
	.query = trn_emu_query,
	.bo_create = trn_emu_bo_create,
	.bo_map = trn_emu_bo_map,
	.bo_destroy = trn_emu_bo_destroy,
	.ctx_create = trn_emu_ctx_create,
	.ctx_destroy = trn_emu_ctx_destroy,
	.ctx_status = trn_emu_ctx_status,
	.ring_create = trn_emu_ring_create,
	.ring_destroy = trn_emu_ring_destroy,
	.program_create = trn_emu_program_create,
	.program_destroy = trn_emu_program_destroy,
	.submit = trn_emu_submit,
	.ctx_wait = trn_emu_ctx_wait,
	.ctx_fd = trn_emu_ctx_fd,
};
