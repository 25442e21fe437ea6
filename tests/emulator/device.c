// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The device: creation, reset, register access from outside.
 *
 * Locking: reset_lock serialises resets. A reset sets "stopping", upon which every worker returns
 * at its next step, and waits until all of them sleep; register accesses go on meanwhile and are
 * harmless.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "submit.h"
#include "timing.h"

#define ROUTING_IDS 64u
#define SERIAL_HIGH 0x54524e00u /* "TRN", generation in the low byte */
#define SERIAL_LOW  0x10000000u /* plus routing id, plus 64 for each node */

static const struct emu_origin host_origin = { 0 };

static int config_check(const struct emu_config *config, const struct emu_product **product,
			char *error, size_t size)
{
	const char *arch = config->arch ? config->arch : emu_product_at(0)->arch;
	char names[64];

	if (config->size != sizeof(*config)) {
		snprintf(error, size,
			 "size of the configuration is %zu, this model expects %zu: rebuild the "
			 "caller",
			 config->size, sizeof(*config));
		return -EINVAL;
	}
	*product = emu_product_find(arch);
	if (!*product) {
		emu_product_names(names, sizeof(names));
		snprintf(error, size, "arch=%s is unknown; known are%s", arch, names);
		return -EINVAL;
	}
	if (config->routing_id >= ROUTING_IDS) {
		snprintf(error, size, "routing-id=%" PRIu32 " is out of range; must be 0 to %u",
			 config->routing_id, ROUTING_IDS - 1);
		return -EINVAL;
	}
	if (config->hbm_bytes && !emu_hbm_size_valid(*product, config->hbm_bytes)) {
		snprintf(error, size,
			 "hbm-size=%" PRIu64 " is invalid; bytes of each of the %u stacks must be "
			 "%" PRIu64 " (the real size) or a power of two from %llu to below it",
			 config->hbm_bytes, (*product)->stacks, (*product)->hbm_bytes, EMU_HBM_MIN);
		return -EINVAL;
	}
	if (config->disable_features & ~TRN_FEATURE_ALL) {
		snprintf(error, size,
			 "disable-features=0x%" PRIx32 " is invalid; known features are 0x%x",
			 config->disable_features, TRN_FEATURE_ALL);
		return -EINVAL;
	}
	return 0;
}

/* The first node of an UltraServer is the one with the lowest serial number. */
static uint64_t serial_make(const struct emu_product *product, const struct emu_config *config)
{
	return (uint64_t)(SERIAL_HIGH | product->generation) << 32 |
	       (SERIAL_LOW + config->node * ROUTING_IDS + config->routing_id);
}

static int parts_create(struct emu_device *device)
{
	unsigned int i;
	int error;

	for (i = 0; i < device->product->top_sps; i++)
		emu_notific_init(&device->top_sp_notific[i]);
	emu_irq_init(device);
	error = emu_hbm_create(device);
	if (!error)
		error = emu_blocks_create(device);
	if (!error)
		error = emu_units_create(device);
	if (!error)
		error = emu_engines_create(device);
	if (!error)
		error = emu_firmware_create(device);
	if (!error)
		emu_misc_power_up(device);
	return error;
}

static int device_fill(struct emu_device *device, const struct emu_config *config, char *error,
		       size_t size)
{
	int status = emu_timing_create(device, config, error, size);

	if (status)
		return status;
	status = parts_create(device);
	if (!status)
		return emu_links_create(device, config, error, size);
	snprintf(error, size,
		 "cannot create the %s device (hbm-size=%" PRIu64
		 ", %u stacks): %s; take a smaller hbm-size, or raise what this process may "
		 "reserve (ulimit -v, vm.overcommit_memory) and its threads (ulimit -u)",
		 device->product->arch, device->hbm_bytes, device->product->stacks,
		 strerror(-status));
	return status;
}

int emu_device_create(const struct emu_config *config, const struct emu_host_ops *ops, void *opaque,
		      struct emu_device **device, char *error, size_t error_size)
{
	const struct emu_product *product;
	struct emu_device *dev;
	int status;

	*device = NULL;
	status = config_check(config, &product, error, error_size);
	if (status)
		return status;
	dev = calloc(1, sizeof(*dev));
	if (!dev) {
		snprintf(error, error_size, "out of memory for the device model");
		return -ENOMEM;
	}
	dev->product = product;
	dev->ops = ops;
	dev->opaque = opaque;
	dev->routing_id = config->routing_id;
	dev->features = TRN_FEATURE_ALL & ~config->disable_features;
	dev->serial = config->serial ? config->serial : serial_make(product, config);
	dev->hbm_bytes = config->hbm_bytes ? config->hbm_bytes : product->hbm_bytes;
	atomic_init(&dev->bus_master, true);
	pthread_mutex_init(&dev->reset_lock, NULL);
	pthread_mutex_init(&dev->complaint_lock, NULL);
	status = device_fill(dev, config, error, error_size);
	if (status) {
		emu_device_destroy(dev);
		return status;
	}
	*device = dev;
	return 0;
}

void emu_device_destroy(struct emu_device *device)
{
	unsigned int i;

	if (!device)
		return;
	emu_links_leave(device);
	atomic_store(&device->stopping, true);
	if (device->timing)
		emu_clock_stop(emu_timing_clock(device));
	/* A reset by the firmware waits for cores, so stop their runs first. */
	for (i = 0; i < device->product->cores; i++)
		if (device->unit[i].core)
			emu_submit_stop(&device->unit[i]);
	emu_firmware_destroy(device);
	emu_engines_destroy(device);
	emu_units_destroy(device);
	emu_links_destroy(device);
	emu_timing_destroy(device);
	emu_blocks_destroy(device);
	emu_hbm_destroy(device);
	for (i = 0; i < device->product->top_sps; i++)
		emu_notific_destroy(&device->top_sp_notific[i]);
	emu_irq_destroy(device);
	pthread_mutex_destroy(&device->complaint_lock);
	pthread_mutex_destroy(&device->reset_lock);
	free(device);
}

void emu_device_disconnect(struct emu_device *device)
{
	emu_links_leave(device);
}

uint64_t emu_device_bar_size(const struct emu_device *device, unsigned int bar)
{
	switch (bar) {
	case 0:
		return device->product->bar0_size;
	case TRN_EXT_BAR:
		return device->features ? TRN_EXT_BAR_SIZE : 0;
	case 4:
		return device->hbm_stride * device->product->stacks;
	}
	return 0;
}

unsigned int emu_device_vectors(const struct emu_device *device)
{
	return device->irq.count;
}

/* The memory windows of a core take any access inside a word; registers take words. */
static bool access_valid(struct emu_device *device, unsigned int bar, uint64_t offset,
			 unsigned int size)
{
	if (size == 4 && !(offset & 3) && offset < emu_device_bar_size(device, bar))
		return true;
	emu_complain(device, EMU_COMPLAINT_ACCESS_SIZE,
		     "access of %u bytes at BAR%u 0x%llx: registers are 32-bit and aligned", size,
		     bar, (unsigned long long)offset);
	return false;
}

/* The last access before a removal is still answered; what it starts never happens. */
static bool register_vanishes(struct emu_device *device)
{
	bool gone = emu_device_removed(device);

	if (!gone)
		emu_fault_step(device);
	return gone;
}

uint32_t emu_device_read(struct emu_device *device, unsigned int bar, uint64_t offset,
			 unsigned int size)
{
	uint32_t value;

	emu_stat_add(device, EMU_STAT_REGISTER_READS, 1);
	if (register_vanishes(device) || emu_fault_value(device, EMU_FAULT_REGS_ALL_ONES))
		return 0xffffffff;
	if (bar == 0 && size && size < 4 && emu_register_part_read(device, offset, size, &value))
		return value;
	if (!access_valid(device, bar, offset, size))
		return 0xffffffff;
	if (bar == 0)
		return emu_register_read(device, offset);
	if (bar == TRN_EXT_BAR)
		return emu_ext_read(device, (uint32_t)offset);
	return 0xffffffff;
}

void emu_device_write(struct emu_device *device, unsigned int bar, uint64_t offset, uint32_t value,
		      unsigned int size)
{
	emu_stat_add(device, EMU_STAT_REGISTER_WRITES, 1);
	if (register_vanishes(device) || emu_fault_value(device, EMU_FAULT_REGS_ALL_ONES))
		return;
	if (bar == 0 && size && size < 4 && emu_register_part_write(device, offset, size, value))
		return;
	if (!access_valid(device, bar, offset, size))
		return;
	if (bar == 0)
		emu_register_write(device, offset, value, host_origin);
	else if (bar == TRN_EXT_BAR)
		emu_ext_write(device, (uint32_t)offset, value);
}

void emu_device_bus_master(struct emu_device *device, bool enabled)
{
	if (atomic_exchange(&device->bus_master, enabled) != enabled && enabled)
		emu_irq_flush(device);
}

static void workers_wait(struct emu_device *device)
{
	unsigned int i;

	emu_worker_wait_idle(&device->firmware.worker, 0);
	for (i = 0; i < device->group_count; i++)
		emu_worker_wait_idle(&device->group[i].worker, 0);
	for (i = 0; i < device->product->cores; i++)
		emu_worker_wait_idle(&device->unit[i].worker, 0);
}

void emu_device_reset(struct emu_device *device)
{
	unsigned int i;

	emu_stat_add(device, EMU_STAT_RESETS, 1);
	pthread_mutex_lock(&device->reset_lock);
	emu_links_close(device);
	atomic_store(&device->stopping, true);
	if (device->timing)
		emu_clock_stop(emu_timing_clock(device));
	for (i = 0; i < device->product->cores; i++)
		emu_submit_stop(&device->unit[i]);
	workers_wait(device);
	for (i = 0; i < device->product->cores; i++)
		emu_unit_reset(&device->unit[i]);
	/* Gives the pages back and leaves zeroes. */
	if (madvise(device->store, device->store_size, MADV_DONTNEED))
		memset(device->store, 0, device->store_size);
	emu_hbm_power_up(device);
	emu_engines_power_up(device);
	for (i = 0; i < device->product->top_sp_windows; i++)
		emu_top_sp_clear(device, i);
	for (i = 0; i < device->product->top_sps; i++)
		emu_notific_clear(&device->top_sp_notific[i]);
	atomic_store(&device->firmware.trigger, false);
	atomic_store(&device->firmware.resetting, false);
	emu_misc_power_up(device);
	emu_irq_power_up(device);
	emu_links_power_up(device);
	atomic_store(&device->stopping, false);
	/* After the flag: a worker that is kicked in between finds a clock that stands, and
	 * returns. */
	if (device->timing)
		emu_clock_restart(emu_timing_clock(device));
	emu_links_open(device);
	pthread_mutex_unlock(&device->reset_lock);
}

static bool all_idle(struct emu_device *device)
{
	unsigned int i;

	if (!emu_worker_is_idle(&device->firmware.worker))
		return false;
	for (i = 0; i < device->product->cores; i++)
		if (!emu_worker_is_idle(&device->unit[i].worker))
			return false;
	for (i = 0; i < device->group_count; i++)
		if (!emu_worker_is_idle(&device->group[i].worker))
			return false;
	return true;
}

int emu_device_quiesce(struct emu_device *device, unsigned int timeout_ms)
{
	uint64_t deadline = emu_monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
	bool idle = true;
	unsigned int i;

	/* One worker may give work to another, so go round until all are found asleep at once. */
	do {
		idle = emu_worker_wait_idle(&device->firmware.worker, deadline);
		for (i = 0; idle && i < device->product->cores; i++)
			idle = emu_worker_wait_idle(&device->unit[i].worker, deadline);
		for (i = 0; idle && i < device->group_count; i++)
			idle = emu_worker_wait_idle(&device->group[i].worker, deadline);
	} while (idle && !all_idle(device));
	return idle ? 0 : -ETIMEDOUT;
}
