// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Notification rings: registers of a NOTIFIC block and the producer.
 *
 * Locking: notific->lock guards the registers. A producer reserves an entry under it, writes the
 * entry without it and then reports it finished; HEAD moves when all entries reserved so far are in
 * memory. A change of base or size voids reservations.
 */
#include <string.h>
#include "device.h"
#include "timing.h"

#define SLOT_STRIDE (TRN_NQ_SLOT(1) - TRN_NQ_SLOT(0))

void emu_notific_init(struct emu_notific *notific)
{
	memset(notific->nq, 0, sizeof(notific->nq));
	pthread_mutex_init(&notific->lock, NULL);
	emu_cond_init(&notific->settled);
}

void emu_notific_destroy(struct emu_notific *notific)
{
	pthread_cond_destroy(&notific->settled);
	pthread_mutex_destroy(&notific->lock);
}

/* Lock held. */
static void nq_restart(struct emu_nq *nq)
{
	nq->head = 0;
	nq->tail = 0;
	nq->reserved = 0;
	nq->finished = 0;
	nq->overflow = false;
	nq->generation++;
}

void emu_notific_clear(struct emu_notific *notific)
{
	unsigned int i;

	pthread_mutex_lock(&notific->lock);
	for (i = 0; i < TRN_NQ_SLOTS; i++) {
		notific->nq[i].base = 0;
		notific->nq[i].size = 0;
		notific->nq[i].armed = false;
		nq_restart(&notific->nq[i]);
	}
	pthread_mutex_unlock(&notific->lock);
}

static struct emu_nq *nq_at(struct emu_device *device, struct emu_notific *notific, uint32_t offset,
			    uint32_t *reg)
{
	uint32_t inside = offset - TRN_NQ_SLOT(0);

	*reg = inside % SLOT_STRIDE;
	if (offset < TRN_NQ_SLOT(0) || offset >= TRN_NQ_SLOT(TRN_NQ_SLOTS) || *reg > TRN_NQ_TAIL) {
		emu_complain(device, EMU_COMPLAINT_UNKNOWN_REGISTER,
			     "NOTIFIC block has no register 0x%x", offset);
		return NULL;
	}
	return &notific->nq[inside / SLOT_STRIDE];
}

uint32_t emu_notific_read(struct emu_device *device, struct emu_notific *notific, uint32_t offset)
{
	uint32_t reg, value = 0;
	struct emu_nq *nq = nq_at(device, notific, offset, &reg);

	if (!nq)
		return 0;
	pthread_mutex_lock(&notific->lock);
	switch (reg) {
	case TRN_NQ_BASE_LOW:
		value = (uint32_t)nq->base;
		break;
	case TRN_NQ_BASE_HIGH:
		value = (uint32_t)(nq->base >> 32);
		break;
	case TRN_NQ_SIZE:
		value = nq->size;
		break;
	case TRN_NQ_HEAD:
		value = nq->head;
		break;
	case TRN_NQ_TAIL:
		value = nq->tail;
		break;
	}
	pthread_mutex_unlock(&notific->lock);
	return value;
}

static bool nq_size_valid(uint32_t size)
{
	return size >= TRN_NOTIFY_SIZE && !(size & (size - 1));
}

/*
 * A write from outside that takes the memory of a ring away returns when no entry is under way any
 * more. Next to a host that does not answer the first such write waits in vain, and no other does.
 * A worker never waits, for others may wait for it. Lock held, but given up meanwhile.
 */
static void nq_settle(struct emu_notific *notific, struct emu_nq *nq)
{
	struct timespec until;

	if (!nq->writing || nq->overdue || emu_worker_here())
		return;
	until = emu_deadline_ms(EMU_SETTLE_MS);
	while (nq->writing && !pthread_cond_timedwait(&notific->settled, &notific->lock, &until))
		;
	nq->overdue = nq->writing;
}

void emu_notific_write(struct emu_device *device, struct emu_notific *notific, uint32_t offset,
		       uint32_t value)
{
	struct emu_nq *nq;
	uint32_t reg;

	nq = nq_at(device, notific, offset, &reg);
	if (!nq)
		return;
	if (reg == TRN_NQ_HEAD) {
		emu_complain(device, EMU_COMPLAINT_READ_ONLY,
			     "head of a notification ring is read-only");
		return;
	}
	if (reg == TRN_NQ_SIZE && value && !nq_size_valid(value))
		emu_complain(device, EMU_COMPLAINT_NQ_SIZE,
			     "notification ring of %u bytes; must be a power of two of at least %u",
			     value, TRN_NOTIFY_SIZE);
	pthread_mutex_lock(&notific->lock);
	switch (reg) {
	case TRN_NQ_BASE_LOW:
		nq->base = (nq->base & ~0xffffffffull) | value;
		nq->armed = false;
		nq_restart(nq);
		break;
	case TRN_NQ_BASE_HIGH:
		nq->base = (nq->base & 0xffffffffull) | (uint64_t)value << 32;
		nq->armed = false;
		nq_restart(nq);
		break;
	case TRN_NQ_SIZE:
		nq->size = value;
		nq->armed = nq_size_valid(value);
		nq_restart(nq);
		break;
	case TRN_NQ_TAIL:
		nq->tail = value;
		break;
	}
	if (reg <= TRN_NQ_SIZE)
		nq_settle(notific, nq);
	pthread_mutex_unlock(&notific->lock);
}

/* Lock held. Return: false when there is no ring or no room. */
static bool nq_reserve(struct emu_nq *nq, uint64_t *addr, uint8_t *flags)
{
	uint32_t entries = nq->size / TRN_NOTIFY_SIZE;

	if (!nq->armed)
		return false;
	if (nq->reserved - nq->tail >= entries) {
		nq->overflow = true;
		return false;
	}
	*addr = nq->base + (uint64_t)(nq->reserved & (entries - 1)) * TRN_NOTIFY_SIZE;
	*flags = (nq->reserved / entries) & 1 ? 0 : TRN_NOTIFY_FLAG_PHASE;
	if (nq->overflow)
		*flags |= TRN_NOTIFY_FLAG_OVERFLOW;
	nq->overflow = false;
	nq->reserved++;
	nq->writing++;
	return true;
}

/* The first 8 bytes hold the phase bit and go last. */
static int entry_write(struct emu_device *device, uint64_t addr,
		       const struct trn_notification *entry)
{
	static const struct emu_origin origin = { 0 };
	const uint8_t *bytes = (const uint8_t *)entry;

	if (emu_memory_write(device, addr + 8, bytes + 8, sizeof(*entry) - 8, origin))
		return -1;
	return emu_memory_write(device, addr, bytes, 8, origin);
}

bool emu_notific_post(struct emu_device *device, struct emu_notific *notific, unsigned int slot,
		      const struct trn_notification *entry)
{
	_Alignas(8) struct trn_notification copy = *entry;
	struct emu_nq *nq;
	uint64_t addr, generation;
	uint8_t flags;
	bool written;

	if (slot >= TRN_NQ_SLOTS || !(device->features & TRN_FEATURE_NOTIFY))
		return false;
	nq = &notific->nq[slot];
	pthread_mutex_lock(&notific->lock);
	written = nq_reserve(nq, &addr, &flags);
	generation = nq->generation;
	pthread_mutex_unlock(&notific->lock);
	if (!written)
		return false;
	copy.flags = flags;
	if (emu_fault_take(device, EMU_FAULT_NOTIFY_PHASE))
		copy.flags ^= TRN_NOTIFY_FLAG_PHASE;
	if (!copy.timestamp)
		copy.timestamp = emu_device_clock_ns(device);
	written = !entry_write(device, addr, &copy);
	if (written)
		emu_stat_add(device, EMU_STAT_NOTIFICATIONS, 1);
	/* A guest that switches bus mastering off before its rings loses entries, no more. */
	else if (atomic_load(&device->bus_master))
		emu_complain(device, EMU_COMPLAINT_NQ_ADDRESS,
			     "notification ring at 0x%llx cannot be written",
			     (unsigned long long)addr);
	pthread_mutex_lock(&notific->lock);
	if (nq->generation == generation && ++nq->finished == nq->reserved)
		nq->head = nq->reserved;
	if (!--nq->writing) {
		nq->overdue = false;
		pthread_cond_broadcast(&notific->settled);
	}
	pthread_mutex_unlock(&notific->lock);
	return written;
}
