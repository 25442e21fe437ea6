// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A core and what the device puts around it: creation, reset, the callbacks of a running program,
 * engine debug registers, activity counters.
 */
#include <errno.h>
#include <string.h>
#include "device.h"
#include "submit.h"
#include "timing.h"

#define ENGINE_VERSION 1u

static uint32_t sbuf_caps(const struct emu_product *product)
{
	return product->sbuf_partition_bytes / 1024;
}

static enum trn_fault unit_read(void *opaque, uint64_t addr, void *buf, size_t len, bool fetch)
{
	struct emu_unit *unit = opaque;

	/* A stop that arrived between two runs is noticed here: the first thing a run does is
	 * fetch. */
	if (atomic_load_explicit(&unit->stopping, memory_order_relaxed))
		return TRN_FAULT_STOPPED;
	if (!emu_windows_allow(&unit->windows, addr, len,
			       fetch ? TRN_ACCESS_EXEC : TRN_ACCESS_READ))
		return TRN_FAULT_WINDOW;
	if (emu_memory_read(unit->device, addr, buf, len))
		return fetch ? TRN_FAULT_FETCH : TRN_FAULT_DMA;
	return TRN_FAULT_NONE;
}

static enum trn_fault unit_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	static const struct emu_origin origin = { 0 };
	struct emu_unit *unit = opaque;

	if (!emu_windows_allow(&unit->windows, addr, len, TRN_ACCESS_WRITE))
		return TRN_FAULT_WINDOW;
	return emu_memory_write(unit->device, addr, buf, len, origin) ? TRN_FAULT_DMA
								      : TRN_FAULT_NONE;
}

static enum trn_fault unit_dma_trigger(void *opaque, uint32_t engine_mask, uint32_t queue,
				       uint32_t count)
{
	static const struct emu_origin origin = { .program = true };
	struct emu_unit *unit = opaque;
	unsigned int e;

	if (queue >= TRN_UDMA_QUEUES || (engine_mask >> TRN_ENGINES_PER_CORE) ||
	    count > TRN_Q_INDEX_MASK)
		return TRN_FAULT_OPERAND;
	for (e = 0; e < TRN_ENGINES_PER_CORE; e++) {
		struct emu_dma_engine *engine;

		if (!(engine_mask & (1u << e)))
			continue;
		engine = &unit->device->engine[unit->index * TRN_ENGINES_PER_CORE + e];
		if (emu_udma_doorbell(engine, EMU_S2M, queue, count, origin) ||
		    emu_udma_doorbell(engine, EMU_M2S, queue, count, origin))
			return TRN_FAULT_DMA;
	}
	return TRN_FAULT_NONE;
}

static void unit_notify(void *opaque, unsigned int slot, const struct trn_notification *entry)
{
	struct emu_unit *unit = opaque;

	emu_notific_post(unit->device, &unit->notific, slot, entry);
	if (slot == TRN_NOTIFY_SLOT_CORE)
		emu_irq_raise(unit->device, TRN_VECTOR_CORE(unit->index));
}

static uint64_t unit_turn(void *opaque, uint64_t when, bool *woken)
{
	struct emu_unit *unit = opaque;

	return emu_clock_turn(emu_timing_clock(unit->device),
			      emu_timing_core(unit->device, unit->index), when, woken);
}

static void unit_wake(void *opaque)
{
	emu_unit_post(opaque);
}

static void unit_span(void *opaque, const struct emu_span *span)
{
	struct emu_unit *unit = opaque;

	emu_timing_core_span(unit->device, unit->index, span);
}

void emu_unit_post(struct emu_unit *unit)
{
	struct emu_device *device = unit->device;

	if (device->timing)
		emu_clock_post(emu_timing_clock(device), emu_timing_core(device, unit->index), 0);
}

const struct emu_core_ops emu_unit_core_ops = {
	.read = unit_read,
	.write = unit_write,
	.dma_trigger = unit_dma_trigger,
	.notify = unit_notify,
	.turn = unit_turn,
	.wake = unit_wake,
	.span = unit_span,
};

void emu_unit_dma_error(struct emu_unit *unit, uint64_t addr)
{
	if (atomic_load(&unit->running))
		emu_core_fail(unit->core, TRN_FAULT_DMA, addr);
}

uint64_t emu_unit_busy_ns(struct emu_unit *unit)
{
	uint64_t busy = atomic_load(&unit->busy_ns), start = atomic_load(&unit->run_start_ns);
	uint64_t now = emu_monotonic_ns();

	return start && now > start ? busy + (now - start) : busy;
}

/* Plain and read-only words of an engine's control block; lock held. */
static uint32_t engine_word(struct emu_unit *unit, unsigned int engine, uint32_t reg, bool *known)
{
	*known = true;
	switch (reg) {
	case TRN_ENG_ID:
		return engine | ENGINE_VERSION << 16;
	case TRN_ENG_CAPS:
		return sbuf_caps(unit->device->product);
	case TRN_ENG_BASE_LOW:
		return (uint32_t)unit->engine_base[engine];
	case TRN_ENG_BASE_HIGH:
		return (uint32_t)(unit->engine_base[engine] >> 32);
	case TRN_ENG_COUNT:
		return unit->engine_count[engine];
	case TRN_ENG_CONTROL:
		return 0;
	case TRN_ENG_STATUS:
		return unit->engine_status[engine];
	case TRN_ENG_FAULT:
		return unit->engine_fault[engine];
	case TRN_ENG_FAULT_TAG:
		return unit->engine_fault_tag[engine];
	}
	*known = false;
	return 0;
}

uint32_t emu_unit_engine_read(struct emu_unit *unit, unsigned int engine, uint32_t reg)
{
	uint32_t value;
	bool known;

	switch (reg) {
	case TRN_ENG_PC:
		return emu_core_engine_pc(unit->core, (enum trn_engine)engine);
	case TRN_ENG_CYCLES_LOW:
		return (uint32_t)emu_unit_busy_ns(unit);
	case TRN_ENG_CYCLES_HIGH:
		return (uint32_t)(emu_unit_busy_ns(unit) >> 32);
	}
	if (reg >= TRN_ENG_REG(0) && reg < TRN_ENG_REG(TRN_REG_COUNT))
		return emu_core_engine_reg(unit->core, (enum trn_engine)engine,
					   (reg - TRN_ENG_REG(0)) / 4);
	pthread_mutex_lock(&unit->lock);
	value = engine_word(unit, engine, reg, &known);
	pthread_mutex_unlock(&unit->lock);
	if (!known)
		emu_complain(unit->device, EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "core %u engine %u has no register 0x%x", unit->index, engine, reg);
	return value;
}

void emu_unit_engine_write(struct emu_unit *unit, unsigned int engine, uint32_t reg, uint32_t value)
{
	bool known;

	if (reg >= TRN_ENG_REG(0) && reg < TRN_ENG_REG(TRN_REG_COUNT)) {
		emu_core_engine_reg_set(unit->core, (enum trn_engine)engine,
					(reg - TRN_ENG_REG(0)) / 4, value);
		return;
	}
	if (reg == TRN_ENG_CONTROL) {
		emu_submit_engine_control(unit, engine, value);
		return;
	}
	pthread_mutex_lock(&unit->lock);
	engine_word(unit, engine, reg, &known);
	switch (reg) {
	case TRN_ENG_BASE_LOW:
		unit->engine_base[engine] = (unit->engine_base[engine] & ~0xffffffffull) | value;
		break;
	case TRN_ENG_BASE_HIGH:
		unit->engine_base[engine] = (unit->engine_base[engine] & 0xffffffffull) |
					    (uint64_t)value << 32;
		break;
	case TRN_ENG_COUNT:
		unit->engine_count[engine] = value;
		break;
	default:
		known = known || (reg >= TRN_ENG_PC && reg <= TRN_ENG_CYCLES_HIGH);
		pthread_mutex_unlock(&unit->lock);
		emu_complain(unit->device,
			     known ? EMU_COMPLAINT_READ_ONLY : EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "core %u engine %u: write of register 0x%x", unit->index, engine, reg);
		return;
	}
	pthread_mutex_unlock(&unit->lock);
}

/* What the counters count from. */
static void pe_restart(struct emu_unit *unit)
{
	atomic_store(&unit->pe_start_ns, emu_monotonic_ns());
	atomic_store(&unit->pe_start_busy_ns, emu_unit_busy_ns(unit));
	atomic_store(&unit->pe_idle_ns, 0);
	atomic_store(&unit->pe_latch, 0);
}

/* Time without a run, as cycles of the tensor engine; never falls. */
static uint64_t pe_idle(struct emu_unit *unit)
{
	uint64_t busy = emu_unit_busy_ns(unit) - atomic_load(&unit->pe_start_busy_ns);
	uint64_t since = emu_monotonic_ns() - atomic_load(&unit->pe_start_ns);
	uint64_t idle = since > busy ? since - busy : 0, last = atomic_load(&unit->pe_idle_ns);

	while (last < idle && !atomic_compare_exchange_weak(&unit->pe_idle_ns, &last, idle))
		;
	return (last < idle ? idle : last) * unit->device->product->pe.clock_mhz / 1000;
}

/* Counters are per core, the layout has rows and column groups; each row shows the whole, the first
 * column group the weight loads. */
static uint64_t pe_counter(struct emu_unit *unit, uint32_t group, uint32_t reg)
{
	uint32_t columns = unit->device->product->pe.column_groups;
	uint64_t matmul, weights;

	emu_core_pe_counters(unit->core, &matmul, &weights);
	if (group == columns && reg == TRN_PE_COUNTER_MATMUL)
		return matmul;
	if (group == columns && reg == TRN_PE_COUNTER_IDLE)
		return pe_idle(unit);
	if (group == 0 && reg == TRN_PE_COUNTER_WEIGHTS)
		return weights;
	return 0;
}

/*
 * A counter is read upper half first. That latches the lower half, so that the two are of one
 * moment; the latch holds one counter until its lower half is read.
 */
uint32_t emu_pe_counter_read(struct emu_unit *unit, uint32_t offset)
{
	const struct emu_pe_layout *pe = &unit->device->product->pe;
	uint32_t group = offset % pe->row_stride / pe->group_stride;
	uint32_t reg = offset % pe->row_stride % pe->group_stride;
	uint64_t key = (uint64_t)((offset & ~4u) | 1) << 32;
	uint64_t latch = atomic_load(&unit->pe_latch), value;

	if (!(reg & 4) && (latch & ~0xffffffffull) == key &&
	    atomic_compare_exchange_strong(&unit->pe_latch, &latch, 0))
		return (uint32_t)latch;
	value = pe_counter(unit, group, reg & ~4u);
	if (!(reg & 4))
		return (uint32_t)value;
	atomic_store(&unit->pe_latch, key | (uint32_t)value);
	return (uint32_t)(value >> 32);
}

void emu_unit_reset(struct emu_unit *unit)
{
	unsigned int e;

	pthread_mutex_lock(&unit->lock);
	unit->held = true;
	pthread_mutex_unlock(&unit->lock);
	emu_submit_stop(unit);
	emu_worker_wait_idle(&unit->worker, 0);
	emu_core_reset(unit->core);
	pe_restart(unit);
	emu_notific_clear(&unit->notific);
	pthread_mutex_lock(&unit->lock);
	unit->held = false;
	unit->enabled = false;
	unit->debug_start = 0;
	unit->sq_base = 0;
	unit->sq_size = 0;
	unit->sq_head = 0;
	unit->sq_tail = 0;
	unit->status = TRN_CORE_STATUS_IDLE;
	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		unit->engine_base[e] = 0;
		unit->engine_count[e] = 0;
		unit->engine_status[e] = 0;
		unit->engine_fault[e] = 0;
		unit->engine_fault_tag[e] = 0;
	}
	pthread_mutex_unlock(&unit->lock);
}

static int unit_create(struct emu_device *device, unsigned int index)
{
	const struct emu_core_config config = {
		.generation = device->product->generation,
		.sbuf_partition_bytes = device->product->sbuf_partition_bytes,
		.costs = emu_timing_costs(device),
	};
	struct emu_unit *unit = &device->unit[index];

	unit->device = device;
	unit->index = index;
	pthread_mutex_init(&unit->lock, NULL);
	emu_notific_init(&unit->notific);
	unit->core = emu_core_create(&config, &emu_unit_core_ops, unit);
	if (!unit->core)
		return -ENOMEM;
	pe_restart(unit);
	return emu_worker_start(&unit->worker, emu_submit_work, unit, device->ops->thread_start,
				device->ops->thread_stop, device->opaque);
}

int emu_units_create(struct emu_device *device)
{
	unsigned int i;
	int error;

	for (i = 0; i < device->product->cores; i++) {
		error = unit_create(device, i);
		if (error)
			return error;
	}
	return 0;
}

/* Cores end after the DMA workers, which touch semaphores. */
void emu_units_destroy(struct emu_device *device)
{
	unsigned int i;

	for (i = 0; i < device->product->cores; i++) {
		struct emu_unit *unit = &device->unit[i];

		if (!unit->device)
			continue;
		emu_submit_stop(unit);
		emu_worker_stop(&unit->worker);
		if (unit->core)
			emu_core_destroy(unit->core);
		emu_windows_free(&unit->windows);
		emu_notific_destroy(&unit->notific);
		pthread_mutex_destroy(&unit->lock);
	}
}
