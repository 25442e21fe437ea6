// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Submission queue: run requests are fetched, checked, executed and reported in order on the core's
 * worker thread.
 *
 * Locking: unit->lock guards the registers. A run is executed without it; a reset, an abort or an
 * enable raises unit->generation, and a run that began before then reports nothing but, for an
 * abort, its end.
 */
#include <string.h>
#include "submit.h"
#include "timing.h"

/** struct run - a run being prepared or executed; lives on the worker's stack. */
struct run {
	uint64_t generation;
	struct trn_run_request request;
	struct emu_run image;
	struct emu_run_result result;
};

#define CONTROL_KNOWN (TRN_SQ_ENABLE | TRN_SQ_ABORT | TRN_SQ_RESUME)

/* The moment at which the core begins is that of the doorbell, not that at which its thread wakes.
 */
static void unit_kick(struct emu_unit *unit)
{
	emu_unit_post(unit);
	emu_worker_kick(&unit->worker);
}

static bool sq_size_valid(uint32_t size)
{
	return size >= 2 && size <= TRN_SQ_MAX && !(size & (size - 1));
}

static void stop_run(struct emu_unit *unit)
{
	atomic_store(&unit->stopping, true);
	emu_core_stop(unit->core);
}

void emu_submit_stop(struct emu_unit *unit)
{
	pthread_mutex_lock(&unit->lock);
	unit->enabled = false;
	unit->debug_start = 0;
	unit->sq_tail = unit->sq_head;
	unit->generation++;
	atomic_store(&unit->stopping, true);
	pthread_mutex_unlock(&unit->lock);
	emu_core_stop(unit->core);
}

static void sq_config(struct emu_unit *unit, const char *what, uint32_t value)
{
	emu_complain(unit->device, EMU_COMPLAINT_SQ_CONFIG, "core %u submission queue: %s (0x%x)",
		     unit->index, what, value);
}

static void tail_write(struct emu_unit *unit, uint32_t value)
{
	const struct emu_event event = { .kind = EMU_EVENT_SUBMISSION,
					 .arg = { unit->index, value } };
	const char *wrong = NULL;

	pthread_mutex_lock(&unit->lock);
	if (!unit->enabled)
		wrong = "doorbell while disabled";
	else if (value - unit->sq_head > unit->sq_size)
		wrong = "doorbell beyond the size of the ring";
	else if (value - unit->sq_head < unit->sq_tail - unit->sq_head)
		wrong = "doorbell takes back requests"; /* the first may be running already */
	else
		unit->sq_tail = value;
	pthread_mutex_unlock(&unit->lock);
	if (wrong) {
		sq_config(unit, wrong, value);
		return;
	}
	emu_stat_add(unit->device, EMU_STAT_DOORBELLS, 1);
	emu_event(unit->device, &event);
	unit_kick(unit);
}

static void control_write(struct emu_unit *unit, uint32_t value)
{
	const char *wrong = value & ~CONTROL_KNOWN ? "unknown control bit" : NULL;
	bool stop = false;

	pthread_mutex_lock(&unit->lock);
	if (value & TRN_SQ_ABORT) {
		unit->sq_tail = unit->sq_head + (unit->status == TRN_CORE_STATUS_RUNNING);
		if (unit->status == TRN_CORE_STATUS_HALTED)
			unit->status = TRN_CORE_STATUS_IDLE;
		stop = atomic_load(&unit->running);
		if (stop)
			atomic_store(&unit->stopping, true);
	}
	if ((value & TRN_SQ_RESUME) && unit->status == TRN_CORE_STATUS_HALTED)
		unit->status = TRN_CORE_STATUS_IDLE;
	if ((value & TRN_SQ_ENABLE) && !unit->enabled) {
		if (!sq_size_valid(unit->sq_size) || (unit->sq_base & 63) ||
		    atomic_load(&unit->running)) {
			wrong = "enabled with a bad size or base, or during a run";
		} else {
			unit->enabled = true;
			unit->sq_head = 0;
			unit->sq_tail = 0;
		}
	} else if (!(value & TRN_SQ_ENABLE)) {
		unit->enabled = false;
	}
	pthread_mutex_unlock(&unit->lock);
	if (stop)
		emu_core_stop(unit->core);
	if (wrong)
		sq_config(unit, wrong, value);
	unit_kick(unit);
}

/* Base and size may change while the queue is disabled only. */
static void ring_write(struct emu_unit *unit, uint32_t reg, uint32_t value)
{
	bool refused;

	pthread_mutex_lock(&unit->lock);
	refused = unit->enabled;
	if (!refused) {
		switch (reg) {
		case TRN_CORE_SQ_BASE_LOW:
			unit->sq_base = (unit->sq_base & ~0xffffffffull) | value;
			break;
		case TRN_CORE_SQ_BASE_HIGH:
			unit->sq_base = (unit->sq_base & 0xffffffffull) | (uint64_t)value << 32;
			break;
		case TRN_CORE_SQ_SIZE:
			unit->sq_size = value;
			break;
		}
	}
	pthread_mutex_unlock(&unit->lock);
	if (refused)
		sq_config(unit, "base or size written while enabled", value);
	else if (reg == TRN_CORE_SQ_SIZE && value && !sq_size_valid(value))
		sq_config(unit, "size is no power of two from 2 to 4096", value);
}

uint32_t emu_unit_core_read(struct emu_unit *unit, uint32_t reg)
{
	uint32_t value = 0;
	bool known = true;

	pthread_mutex_lock(&unit->lock);
	switch (reg) {
	case TRN_CORE_ID:
		value = TRN_CORE_ID_VALUE;
		break;
	case TRN_CORE_GENERATION:
		value = unit->device->product->generation;
		break;
	case TRN_CORE_CAPS:
		value = unit->device->features;
		break;
	case TRN_CORE_STATUS:
		value = unit->status;
		break;
	case TRN_CORE_SQ_BASE_LOW:
		value = (uint32_t)unit->sq_base;
		break;
	case TRN_CORE_SQ_BASE_HIGH:
		value = (uint32_t)(unit->sq_base >> 32);
		break;
	case TRN_CORE_SQ_SIZE:
		value = unit->sq_size;
		break;
	case TRN_CORE_SQ_TAIL:
		value = unit->sq_tail;
		break;
	case TRN_CORE_SQ_HEAD:
		value = unit->sq_head;
		break;
	case TRN_CORE_SQ_CONTROL:
		value = unit->enabled ? TRN_SQ_ENABLE : 0;
		break;
	default:
		known = false;
		break;
	}
	pthread_mutex_unlock(&unit->lock);
	if (!known)
		emu_complain(unit->device, EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "core %u has no control register 0x%x", unit->index, reg);
	return value;
}

void emu_unit_core_write(struct emu_unit *unit, uint32_t reg, uint32_t value)
{
	switch (reg) {
	case TRN_CORE_SQ_BASE_LOW:
	case TRN_CORE_SQ_BASE_HIGH:
	case TRN_CORE_SQ_SIZE:
		ring_write(unit, reg, value);
		break;
	case TRN_CORE_SQ_TAIL:
		tail_write(unit, value);
		break;
	case TRN_CORE_SQ_CONTROL:
		control_write(unit, value);
		break;
	case TRN_CORE_ID:
	case TRN_CORE_GENERATION:
	case TRN_CORE_CAPS:
	case TRN_CORE_STATUS:
	case TRN_CORE_SQ_HEAD:
		emu_complain(unit->device, EMU_COMPLAINT_READ_ONLY,
			     "core %u: control register 0x%x is read-only", unit->index, reg);
		break;
	default:
		emu_complain(unit->device, EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "core %u has no control register 0x%x", unit->index, reg);
		break;
	}
}

void emu_submit_engine_control(struct emu_unit *unit, unsigned int engine, uint32_t value)
{
	if (value & TRN_ENG_CONTROL_STOP)
		stop_run(unit);
	if (!(value & TRN_ENG_CONTROL_START))
		return;
	pthread_mutex_lock(&unit->lock);
	unit->debug_start |= 1u << engine;
	pthread_mutex_unlock(&unit->lock);
	unit_kick(unit);
}

bool emu_engine_exists(uint32_t engine)
{
	return engine >= TRN_ENGINE_PE && engine < TRN_ENGINE_MAX && engine != 4;
}

static const char memory_damaged[] = "uncorrectable memory error";

/* What is wrong when a read ended with @status. */
static const char *read_wrong(int status, const char *unreadable)
{
	if (!status)
		return NULL;
	return status == EMU_MEMORY_ECC ? memory_damaged : unreadable;
}

static const char *program_load(struct emu_unit *unit, struct run *run)
{
	struct trn_program_table table;
	const char *wrong;
	uint32_t i;

	wrong = read_wrong(emu_memory_read(unit->device, run->request.program, &table,
					   sizeof(table)),
			   "program table cannot be read");
	if (wrong)
		return wrong;
	if (table.magic != TRN_PROGRAM_TABLE_MAGIC || !table.count ||
	    table.count > sizeof(table.entry) / sizeof(table.entry[0]))
		return "bad magic or count in the program table";
	for (i = 0; i < table.count; i++) {
		const struct trn_program_entry *entry = &table.entry[i];

		if (!emu_engine_exists(entry->engine) || run->image.image[entry->engine].count)
			return "unknown or repeated engine in the program table";
		if (!entry->insns || (entry->base & (TRN_INSN_SIZE - 1)))
			return "empty or misaligned engine image";
		run->image.image[entry->engine].base = entry->base;
		run->image.image[entry->engine].count = entry->insns;
	}
	return NULL;
}

static const char *args_load(struct emu_unit *unit, struct run *run)
{
	const struct trn_run_request *request = &run->request;
	size_t len = sizeof(run->image.args);

	run->image.args_address = request->args;
	if (!request->args)
		return request->args_size ? "argument size without address" : NULL;
	if (request->args_size < len)
		len = request->args_size;
	return read_wrong(emu_memory_read(unit->device, request->args, run->image.args, len),
			  "argument block cannot be read");
}

static const char *run_prepare(struct emu_unit *unit, struct run *run)
{
	const struct trn_run_request *request = &run->request;
	const char *wrong;

	if (request->flags || request->reserved0 || request->reserved1[0] || request->reserved1[1])
		return "reserved field not 0";
	wrong = program_load(unit, run);
	if (!wrong)
		wrong = args_load(unit, run);
	if (!wrong &&
	    emu_windows_load(unit->device, &unit->windows, request->windows, request->window_count))
		wrong = "window table unreadable, too long, unsorted or overlapping";
	return wrong;
}

static void run_execute(struct emu_unit *unit, struct run *run)
{
	uint64_t start = emu_monotonic_ns();

	atomic_store(&unit->run_start_ns, start);
	emu_core_run(unit->core, &run->image, &run->result);
	atomic_store(&unit->run_start_ns, 0);
	atomic_fetch_add(&unit->busy_ns, emu_monotonic_ns() - start);
}

static void engines_book(struct emu_unit *unit, const struct run *run)
{
	unsigned int e;

	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		bool fault = run->result.fault && run->result.engine == e;

		if (!run->image.image[e].count)
			continue;
		unit->engine_status[e] = fault ? TRN_ENG_STATUS_FAULT : TRN_ENG_STATUS_HALTED;
		unit->engine_fault[e] = fault ? run->result.fault : TRN_FAULT_NONE;
		unit->engine_fault_tag[e] = fault ? run->result.tag : 0;
	}
}

static void report(struct emu_unit *unit, const struct run *run)
{
	struct emu_device *device = unit->device;
	struct trn_notification entry = {
		.engine = run->result.fault ? (uint8_t)run->result.engine : 0,
		.code = (uint8_t)run->result.fault,
		.tag = run->result.tag,
	};
	const struct emu_event event = {
		.kind = EMU_EVENT_RUN_END,
		.arg = { unit->index, run->request.cookie, run->result.fault, run->result.address },
	};
	unsigned int times = 1;

	emu_stat_add(device, EMU_STAT_RUNS, 1);
	emu_stat_add(device, EMU_STAT_RUN_FAULTS, run->result.fault != TRN_FAULT_NONE);
	emu_event(device, &event);
	emu_fault_delay(device, EMU_FAULT_COMPLETION_LATE);
	if (emu_fault_take(device, EMU_FAULT_COMPLETION_MISSING))
		return;
	if (run->result.fault) {
		entry.type = TRN_NOTIFY_ERROR;
		entry.payload[0] = run->request.cookie;
		entry.payload[1] = run->result.address;
		emu_notific_post(device, &unit->notific, TRN_NOTIFY_SLOT_CORE, &entry);
	}
	if (emu_fault_take(device, EMU_FAULT_COMPLETION_DOUBLE))
		times = 2;
	entry.type = TRN_NOTIFY_RUN_END;
	entry.payload[0] = run->request.cookie;
	entry.payload[1] = run->result.pc;
	while (times--) {
		emu_notific_post(device, &unit->notific, TRN_NOTIFY_SLOT_CORE, &entry);
		emu_irq_raise(device, TRN_VECTOR_CORE(unit->index));
	}
}

/* The head moves before the notification, so whoever sees the entry also sees the request counted
 * as finished. */
static void run_finish(struct emu_unit *unit, struct run *run)
{
	bool valid;

	pthread_mutex_lock(&unit->lock);
	atomic_store(&unit->running, false);
	valid = run->generation == unit->generation;
	if (valid) {
		unit->sq_head++;
		unit->status = TRN_CORE_STATUS_IDLE;
		if (run->result.fault && run->result.fault != TRN_FAULT_STOPPED)
			unit->status = TRN_CORE_STATUS_HALTED;
		engines_book(unit, run);
	}
	pthread_mutex_unlock(&unit->lock);
	if (valid)
		report(unit, run);
}

/* The ring itself is unreachable: nothing can be finished, so the core halts where it is. */
static void fetch_failed(struct emu_unit *unit, const struct run *run, uint64_t addr, int status)
{
	struct trn_notification entry = {
		.type = TRN_NOTIFY_ERROR,
		.code = TRN_FAULT_REQUEST,
		.payload = { 0, addr },
	};

	if (status != EMU_MEMORY_ECC)
		emu_complain(unit->device, EMU_COMPLAINT_SQ_CONFIG,
			     "core %u submission queue: no memory at 0x%llx", unit->index,
			     (unsigned long long)addr);
	pthread_mutex_lock(&unit->lock);
	atomic_store(&unit->running, false);
	if (run->generation == unit->generation) {
		unit->status = TRN_CORE_STATUS_HALTED;
		if (atomic_load(&unit->stopping)) {
			/* Aborted meanwhile: the request that could not be read is dropped. */
			unit->sq_tail = unit->sq_head;
			unit->status = TRN_CORE_STATUS_IDLE;
		}
	}
	pthread_mutex_unlock(&unit->lock);
	emu_notific_post(unit->device, &unit->notific, TRN_NOTIFY_SLOT_CORE, &entry);
	emu_irq_raise(unit->device, TRN_VECTOR_CORE(unit->index));
}

/* Return: false when no request may start now. */
static bool request_next(struct emu_unit *unit, struct run *run, uint64_t *addr)
{
	bool any;

	pthread_mutex_lock(&unit->lock);
	any = unit->enabled && !unit->held && unit->status != TRN_CORE_STATUS_HALTED &&
	      unit->sq_head != unit->sq_tail;
	if (any) {
		*addr = unit->sq_base +
			(uint64_t)(unit->sq_head & (unit->sq_size - 1)) * sizeof(run->request);
		run->generation = unit->generation;
		unit->status = TRN_CORE_STATUS_RUNNING;
		atomic_store(&unit->stopping, false);
		atomic_store(&unit->running, true);
	}
	pthread_mutex_unlock(&unit->lock);
	return any;
}

static bool serve_request(struct emu_unit *unit)
{
	struct run run = { 0 };
	const char *wrong;
	uint64_t addr;
	int status;

	if (!request_next(unit, &run, &addr))
		return false;
	status = emu_memory_read(unit->device, addr, &run.request, sizeof(run.request));
	if (status) {
		fetch_failed(unit, &run, addr, status);
		return true;
	}
	wrong = run_prepare(unit, &run);
	if (wrong) {
		if (wrong != memory_damaged)
			emu_complain(unit->device, EMU_COMPLAINT_SQ_REQUEST,
				     "core %u, request with cookie 0x%llx: %s", unit->index,
				     (unsigned long long)run.request.cookie, wrong);
		run.result.fault = TRN_FAULT_REQUEST;
	} else {
		run_execute(unit, &run);
	}
	run_finish(unit, &run);
	return true;
}

/* Engines started by their control registers run together, with no windows and no notification. */
static bool serve_debug(struct emu_unit *unit)
{
	struct run run = { 0 };
	unsigned int e;
	uint32_t start;

	pthread_mutex_lock(&unit->lock);
	start = unit->held ? 0 : unit->debug_start;
	unit->debug_start = 0;
	if (start) {
		run.generation = unit->generation;
		atomic_store(&unit->stopping, false);
		atomic_store(&unit->running, true);
	}
	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		if (!(start & (1u << e)))
			continue;
		run.image.image[e].base = unit->engine_base[e];
		run.image.image[e].count = unit->engine_count[e];
		unit->engine_status[e] = TRN_ENG_STATUS_RUNNING;
	}
	pthread_mutex_unlock(&unit->lock);
	if (!start)
		return false;
	emu_windows_open(&unit->windows);
	run_execute(unit, &run);
	pthread_mutex_lock(&unit->lock);
	atomic_store(&unit->running, false);
	if (run.generation == unit->generation)
		engines_book(unit, &run);
	pthread_mutex_unlock(&unit->lock);
	return true;
}

static void serve_all(struct emu_unit *unit)
{
	bool more = true;

	while (more && !atomic_load(&unit->device->stopping)) {
		more = serve_debug(unit);
		more |= serve_request(unit);
	}
}

/* In time mode everything a core does happens in its turns, from the doorbell on. */
static void serve_timed(struct emu_unit *unit)
{
	struct emu_clock *clock = emu_timing_clock(unit->device);
	unsigned int actor = emu_timing_core(unit->device, unit->index);
	bool posted;

	do {
		if (emu_clock_turn(clock, actor, 0, &posted) == EMU_CLOCK_NEVER)
			return;
		serve_all(unit);
	} while (!emu_clock_leave(clock, actor));
}

void emu_submit_work(void *opaque)
{
	struct emu_unit *unit = opaque;

	if (unit->device->timing)
		serve_timed(unit);
	else
		serve_all(unit);
}
