// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Semaphores, events, the waits and updates of instructions, and notifications.
 *
 * Locking: core->lock. A change from outside the run thread bumps wake_seq and signals; a change
 * made by an instruction needs neither, because the thread that makes it looks at every engine
 * again before it sleeps.
 */
#include "core_priv.h"

/* Keeps a report for the run thread. A full list drops reports: the first ones tell more. Caller
 * holds the lock. */
static void error_add(struct emu_core *core, enum trn_fault code, const struct emu_engine *eng,
		      uint32_t tag, unsigned int index)
{
	struct emu_error_report *r;

	if (core->errors == EMU_ERRORS_MAX)
		return;
	r = &core->error[core->errors++];
	r->code = (uint8_t)code;
	r->engine = eng ? (uint8_t)eng->id : 0;
	r->tag = tag;
	r->payload = index;
}

/* Wraps modulo 2^32 and reports when the signed range was left. Caller holds the lock. */
static void sem_add_locked(struct emu_core *core, unsigned int index, int64_t value,
			   const struct emu_engine *eng, uint32_t tag)
{
	int64_t sum = (int64_t)core->sem[index] + value;

	core->sem[index] = (int32_t)(uint32_t)sum;
	if (sum != core->sem[index])
		error_add(core, TRN_FAULT_SEM_OVERFLOW, eng, tag, index);
}

static void event_set_locked(struct emu_core *core, unsigned int index, bool value,
			     const struct emu_engine *eng, uint32_t tag)
{
	if (core->event[index] == value)
		error_add(core, TRN_FAULT_EVENT_DOUBLE, eng, tag, index);
	core->event[index] = value;
}

void emu_sync_wake(struct emu_core *core)
{
	core->wake_seq++;
	pthread_cond_signal(&core->wake);
	if (core->time && core->running)
		core->ops.wake(core->opaque);
}

int32_t emu_core_sem_read(struct emu_core *core, unsigned int index)
{
	int32_t value = 0;

	if (index >= TRN_SEM_COUNT)
		return 0;
	pthread_mutex_lock(&core->lock);
	value = core->sem[index];
	pthread_mutex_unlock(&core->lock);
	return value;
}

void emu_core_sem_set(struct emu_core *core, unsigned int index, int32_t value)
{
	if (index >= TRN_SEM_COUNT)
		return;
	pthread_mutex_lock(&core->lock);
	core->sem[index] = value;
	emu_sync_wake(core);
	pthread_mutex_unlock(&core->lock);
}

void emu_core_sem_add(struct emu_core *core, unsigned int index, int32_t value)
{
	if (index >= TRN_SEM_COUNT)
		return;
	pthread_mutex_lock(&core->lock);
	sem_add_locked(core, index, value, NULL, 0);
	emu_sync_wake(core);
	pthread_mutex_unlock(&core->lock);
}

bool emu_core_event_read(struct emu_core *core, unsigned int index)
{
	bool value;

	if (index >= TRN_EVENT_COUNT)
		return false;
	pthread_mutex_lock(&core->lock);
	value = core->event[index];
	pthread_mutex_unlock(&core->lock);
	return value;
}

void emu_core_event_set(struct emu_core *core, unsigned int index, bool value)
{
	if (index >= TRN_EVENT_COUNT)
		return;
	pthread_mutex_lock(&core->lock);
	event_set_locked(core, index, value, NULL, 0);
	emu_sync_wake(core);
	pthread_mutex_unlock(&core->lock);
}

void emu_sync_clear_range(struct emu_core *core, unsigned int first, unsigned int count)
{
	unsigned int i;

	pthread_mutex_lock(&core->lock);
	for (i = first; i < TRN_SEM_COUNT && i - first < count; i++)
		core->sem[i] = 0;
	pthread_mutex_unlock(&core->lock);
}

static int32_t sync_value(const struct emu_engine *eng, const struct trn_sync *s)
{
	if (s->mode & TRN_SYNC_VALUE_REG)
		return (int32_t)emu_reg_get(eng, (unsigned int)s->value);
	return s->value;
}

/* Caller holds the lock. */
static bool wait_holds(const struct emu_core *core, const struct emu_engine *eng,
		       const struct trn_sync *w)
{
	int32_t value = sync_value(eng, w);

	switch (w->op) {
	case TRN_WAIT_SEM_GE:
		return core->sem[w->index] >= value;
	case TRN_WAIT_SEM_EQ:
		return core->sem[w->index] == value;
	case TRN_WAIT_SEM_GT:
		return core->sem[w->index] > value;
	case TRN_WAIT_SEM_LE:
		return core->sem[w->index] <= value;
	case TRN_WAIT_EVENT_SET:
		return core->event[w->index];
	case TRN_WAIT_EVENT_CLEAR:
		return !core->event[w->index];
	}
	return true;
}

/* Caller holds the lock. */
static void wait_pass(struct emu_core *core, const struct emu_engine *eng,
		      const struct trn_insn *insn, const struct trn_sync *w)
{
	switch (w->mode & ~TRN_SYNC_VALUE_REG) {
	case TRN_WAIT_PASS_SUB:
		sem_add_locked(core, w->index, -(int64_t)sync_value(eng, w), eng, insn->tag);
		break;
	case TRN_WAIT_PASS_ZERO:
		core->sem[w->index] = 0;
		break;
	case TRN_WAIT_PASS_CLEAR_EVENT:
		core->event[w->index] = false;
		break;
	}
}

/** emu_sync_try_waits() - true when both waits hold; their pass actions are then applied, in order,
 * in the same critical section. */
bool emu_sync_try_waits(struct emu_core *core, struct emu_engine *eng, const struct trn_insn *insn)
{
	bool pass;

	if (!(insn->wait[0].op | insn->wait[1].op))
		return true;
	pthread_mutex_lock(&core->lock);
	pass = wait_holds(core, eng, &insn->wait[0]) && wait_holds(core, eng, &insn->wait[1]);
	if (pass) {
		wait_pass(core, eng, insn, &insn->wait[0]);
		wait_pass(core, eng, insn, &insn->wait[1]);
	}
	pthread_mutex_unlock(&core->lock);
	return pass;
}

/* Caller holds the lock. Returns the new value of the semaphore or event. */
static int32_t update_own(struct emu_core *core, const struct emu_engine *eng,
			  const struct trn_insn *insn, const struct emu_update *u)
{
	int64_t value = u->value;

	switch (u->op) {
	case TRN_UPDATE_INC:
		sem_add_locked(core, u->index, 1, eng, insn->tag);
		break;
	case TRN_UPDATE_DEC:
		sem_add_locked(core, u->index, -1, eng, insn->tag);
		break;
	case TRN_UPDATE_ADD:
		sem_add_locked(core, u->index, value, eng, insn->tag);
		break;
	case TRN_UPDATE_SUB:
		sem_add_locked(core, u->index, -value, eng, insn->tag);
		break;
	case TRN_UPDATE_WRITE:
		core->sem[u->index] = (int32_t)value;
		break;
	case TRN_UPDATE_EVENT_SET:
	case TRN_UPDATE_EVENT_CLEAR:
		event_set_locked(core, u->index, u->op == TRN_UPDATE_EVENT_SET, eng, insn->tag);
		return core->event[u->index];
	}
	return core->sem[u->index];
}

static bool update_elsewhere(unsigned int mode)
{
	return ((mode >> TRN_UPDATE_TARGET_SHIFT) & 7) == TRN_UPDATE_TARGET_ADDRESS;
}

/** emu_sync_resolve() - reads the registers an update names: its value, and for a semaphore
 * elsewhere the address in registers index and index + 1. */
struct emu_update emu_sync_resolve(const struct emu_engine *eng, const struct trn_sync *u)
{
	struct emu_update update = {
		.op = u->op,
		.mode = u->mode,
		.index = u->index,
		.value = sync_value(eng, u),
	};

	if (update_elsewhere(u->mode))
		update.address = emu_reg_get(eng, u->index) |
				 (uint64_t)emu_reg_get(eng, u->index + 1u) << 32;
	return update;
}

/* A semaphore elsewhere: one 32-bit write to an aperture word. */
static enum trn_fault update_address(struct emu_core *core, struct emu_engine *eng,
				     const struct emu_update *u)
{
	uint32_t value = u->op == TRN_UPDATE_INC ? 1 : (uint32_t)u->value;
	enum trn_fault fault;

	fault = core->ops.write(core->opaque, u->address, &value, sizeof(value));
	if (fault)
		eng->fault_address = u->address;
	return fault;
}

enum trn_fault emu_sync_apply(struct emu_core *core, struct emu_engine *eng,
			      const struct trn_insn *insn, const struct emu_update *u)
{
	int32_t value = 0;

	if (!u->op)
		return TRN_FAULT_NONE;
	if (update_elsewhere(u->mode)) {
		enum trn_fault fault = update_address(core, eng, u);

		if (fault)
			return fault;
	} else {
		pthread_mutex_lock(&core->lock);
		value = update_own(core, eng, insn, u);
		pthread_mutex_unlock(&core->lock);
	}
	if (insn->flags & TRN_INSN_TRACE)
		emu_notify(core, eng, insn, TRN_NOTIFY_EVENT, u->op, u->index, (uint32_t)value);
	return TRN_FAULT_NONE;
}

/**
 * emu_sync_updates() - both updates of an instruction, in order.
 *
 * "At read" and "at complete" are applied at the same moment, after the instruction: it is executed
 * whole, so this is the first moment at which either is allowed to be seen. Time mode, where the
 * two differ, applies them one by one (core_time.c).
 */
enum trn_fault emu_sync_updates(struct emu_core *core, struct emu_engine *eng,
				const struct trn_insn *insn)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct emu_update update;
		enum trn_fault fault;

		if (!insn->update[i].op)
			continue;
		update = emu_sync_resolve(eng, &insn->update[i]);
		fault = emu_sync_apply(core, eng, insn, &update);
		if (fault)
			return fault;
	}
	return TRN_FAULT_NONE;
}

/** emu_sync_post_errors() - posts the kept reports to the core's slot; run thread only. */
void emu_sync_post_errors(struct emu_core *core)
{
	struct emu_error_report report[EMU_ERRORS_MAX];
	unsigned int i, n;

	pthread_mutex_lock(&core->lock);
	n = core->errors;
	memcpy(report, core->error, n * sizeof(report[0]));
	core->errors = 0;
	pthread_mutex_unlock(&core->lock);

	for (i = 0; i < n; i++) {
		struct trn_notification entry = {
			.type = TRN_NOTIFY_ERROR,
			.engine = report[i].engine,
			.code = report[i].code,
			.tag = report[i].tag,
			.payload = { 0, report[i].payload },
		};

		core->ops.notify(core->opaque, TRN_NOTIFY_SLOT_CORE, &entry);
	}
}

void emu_notify_at(struct emu_core *core, struct emu_engine *eng, const struct trn_insn *insn,
		   enum trn_notify_type type, uint8_t code, uint64_t payload0, uint64_t payload1,
		   uint64_t timestamp)
{
	struct trn_notification entry = {
		.type = (uint8_t)type,
		.engine = (uint8_t)eng->id,
		.code = code,
		.tag = insn->tag,
		.timestamp = timestamp,
		.payload = { payload0, payload1 },
	};

	core->ops.notify(core->opaque, (unsigned int)eng->id, &entry);
}

/** emu_notify() - one entry of engine @eng about @insn, to the engine's slot. */
void emu_notify(struct emu_core *core, struct emu_engine *eng, const struct trn_insn *insn,
		enum trn_notify_type type, uint8_t code, uint64_t payload0, uint64_t payload1)
{
	emu_notify_at(core, eng, insn, type, code, payload0, payload1, 0);
}
