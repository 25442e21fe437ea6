// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Windows of a core (TPB) and of a TOP_SP in BAR0: SBUF and PSUM, events and semaphores, control
 * blocks, activity counters.
 */
#include <string.h>
#include "device.h"

#define EVENTS		(TRN_TPB_EVENTS - TRN_TPB_EVENTS)
#define SEM_READ	(TRN_TPB_SEM_READ - TRN_TPB_EVENTS)
#define SEM_SET		(TRN_TPB_SEM_SET - TRN_TPB_EVENTS)
#define SEM_INC		(TRN_TPB_SEM_INC - TRN_TPB_EVENTS)
#define SEM_DEC		(TRN_TPB_SEM_DEC - TRN_TPB_EVENTS)
#define APERTURE	(TRN_SEM_COUNT * 4u)
#define ENGINE_BLOCK	(TRN_TPB_ENGINE(1) - TRN_TPB_ENGINE(0))
#define CORE_BLOCK_SIZE 0x1000u

enum sync_kind {
	SYNC_NONE,
	SYNC_EVENT,
	SYNC_READ,
	SYNC_SET,
	SYNC_INC,
	SYNC_DEC,
};

/* @offset is relative to the events. Event 256 does not exist but drivers touch it: it reads 0 and
 * ignores writes. */
static enum sync_kind sync_split(uint32_t offset, unsigned int *index)
{
	*index = offset % APERTURE / 4;
	if (offset <= EVENTS + APERTURE) {
		*index = offset / 4;
		return SYNC_EVENT;
	}
	switch (offset / APERTURE * APERTURE) {
	case SEM_READ:
		return SYNC_READ;
	case SEM_SET:
		return SYNC_SET;
	case SEM_INC:
		return SYNC_INC;
	case SEM_DEC:
		return SYNC_DEC;
	}
	return SYNC_NONE;
}

static void sync_unknown(struct emu_device *device, uint32_t offset)
{
	emu_complain(device, EMU_COMPLAINT_UNKNOWN_REGISTER, "no event or semaphore at 0x%x",
		     offset);
}

static void sync_read_only(struct emu_device *device, unsigned int index)
{
	emu_complain(device, EMU_COMPLAINT_READ_ONLY,
		     "semaphore %u: written through the read aperture", index);
}

static uint32_t core_sync_read(struct emu_unit *unit, uint32_t offset)
{
	unsigned int index;

	switch (sync_split(offset, &index)) {
	case SYNC_EVENT:
		return index < TRN_EVENT_COUNT && emu_core_event_read(unit->core, index);
	case SYNC_READ:
	case SYNC_SET:
	case SYNC_INC:
	case SYNC_DEC:
		return (uint32_t)emu_core_sem_read(unit->core, index);
	case SYNC_NONE:
		break;
	}
	sync_unknown(unit->device, offset);
	return 0;
}

static void core_sync_write(struct emu_unit *unit, uint32_t offset, uint32_t value)
{
	unsigned int index;

	switch (sync_split(offset, &index)) {
	case SYNC_EVENT:
		if (index < TRN_EVENT_COUNT)
			emu_core_event_set(unit->core, index, value & 1);
		break;
	case SYNC_READ:
		sync_read_only(unit->device, index);
		break;
	case SYNC_SET:
		emu_core_sem_set(unit->core, index, (int32_t)value);
		break;
	case SYNC_INC:
		emu_core_sem_add(unit->core, index, (int32_t)value);
		break;
	case SYNC_DEC:
		emu_core_sem_add(unit->core, index, (int32_t)(0u - value));
		break;
	case SYNC_NONE:
		sync_unknown(unit->device, offset);
		break;
	}
}

uint32_t emu_top_sp_read(struct emu_device *device, unsigned int index, uint32_t offset)
{
	struct emu_sync *sync = &device->top_sp[index];
	unsigned int n;

	switch (offset < TRN_TPB_SYNC_SIZE ? sync_split(offset, &n) : SYNC_NONE) {
	case SYNC_EVENT:
		return n < TRN_EVENT_COUNT ? atomic_load(&sync->event[n]) : 0;
	case SYNC_READ:
	case SYNC_SET:
	case SYNC_INC:
	case SYNC_DEC:
		return atomic_load(&sync->sem[n]);
	case SYNC_NONE:
		break;
	}
	sync_unknown(device, offset);
	return 0;
}

void emu_top_sp_write(struct emu_device *device, unsigned int index, uint32_t offset,
		      uint32_t value)
{
	struct emu_sync *sync = &device->top_sp[index];
	unsigned int n;

	switch (offset < TRN_TPB_SYNC_SIZE ? sync_split(offset, &n) : SYNC_NONE) {
	case SYNC_EVENT:
		if (n < TRN_EVENT_COUNT)
			atomic_store(&sync->event[n], value & 1);
		break;
	case SYNC_READ:
		sync_read_only(device, n);
		break;
	case SYNC_SET:
		atomic_store(&sync->sem[n], value);
		break;
	case SYNC_INC:
		atomic_fetch_add(&sync->sem[n], value);
		break;
	case SYNC_DEC:
		atomic_fetch_sub(&sync->sem[n], value);
		break;
	case SYNC_NONE:
		sync_unknown(device, offset);
		break;
	}
}

void emu_top_sp_clear(struct emu_device *device, unsigned int index)
{
	struct emu_sync *sync = &device->top_sp[index];
	unsigned int i;

	for (i = 0; i < TRN_SEM_COUNT; i++)
		atomic_store(&sync->sem[i], 0);
	for (i = 0; i < TRN_EVENT_COUNT; i++)
		atomic_store(&sync->event[i], 0);
}

/* Pointer to a word of SBUF or PSUM, NULL where no memory is behind the window. */
static void *window_word(struct emu_unit *unit, uint32_t offset)
{
	if (offset < TRN_TPB_SBUF_SIZE)
		return emu_core_sbuf(unit->core, offset / TRN_SBUF_PARTITION_STRIDE,
				     offset % TRN_SBUF_PARTITION_STRIDE, 4);
	offset -= TRN_TPB_PSUM;
	return emu_core_psum(unit->core, offset / TRN_PSUM_PARTITION_BYTES,
			     offset % TRN_PSUM_PARTITION_BYTES, 4);
}

static void window_unbacked(struct emu_unit *unit, uint32_t offset)
{
	emu_complain(unit->device, EMU_COMPLAINT_UNKNOWN_REGISTER,
		     "core %u: no memory behind window offset 0x%x", unit->index, offset);
}

bool emu_tpb_is_memory(uint32_t offset)
{
	return offset < TRN_TPB_PSUM + TRN_TPB_PSUM_SIZE;
}

void emu_tpb_part_write(struct emu_unit *unit, uint32_t offset, unsigned int size, uint32_t value)
{
	uint8_t *word = window_word(unit, offset & ~3u);

	if (!word) {
		window_unbacked(unit, offset);
		return;
	}
	for (word += offset & 3; size--; value >>= 8)
		__atomic_store_n(word++, (uint8_t)value, __ATOMIC_RELAXED);
}

static bool engine_block(uint32_t offset, unsigned int *engine, uint32_t *reg)
{
	if (offset < TRN_TPB_ENGINE(0) || offset >= TRN_TPB_ENGINE(TRN_ENGINE_MAX))
		return false;
	*engine = (offset - TRN_TPB_ENGINE(0)) / ENGINE_BLOCK;
	*reg = (offset - TRN_TPB_ENGINE(0)) % ENGINE_BLOCK;
	return true;
}

uint32_t emu_tpb_read(struct emu_unit *unit, uint32_t offset)
{
	unsigned int engine;
	uint32_t reg;
	void *word;

	if (emu_tpb_is_memory(offset)) {
		word = window_word(unit, offset);
		if (word)
			return __atomic_load_n((uint32_t *)word, __ATOMIC_RELAXED);
		window_unbacked(unit, offset);
		return 0;
	}
	if (offset >= TRN_TPB_EVENTS && offset < TRN_TPB_EVENTS + TRN_TPB_SYNC_SIZE)
		return core_sync_read(unit, offset - TRN_TPB_EVENTS);
	if (unit->device->features & TRN_FEATURE_CORES) {
		if (engine_block(offset, &engine, &reg))
			return emu_unit_engine_read(unit, engine, reg);
		if (offset >= TRN_TPB_CORE && offset < TRN_TPB_CORE + CORE_BLOCK_SIZE)
			return emu_unit_core_read(unit, offset - TRN_TPB_CORE);
	}
	emu_complain(unit->device, EMU_COMPLAINT_UNKNOWN_REGISTER, "core %u has no register 0x%x",
		     unit->index, offset);
	return 0;
}

void emu_tpb_write(struct emu_unit *unit, uint32_t offset, uint32_t value)
{
	unsigned int engine;
	uint32_t reg;
	void *word;

	if (emu_tpb_is_memory(offset)) {
		word = window_word(unit, offset);
		if (word)
			__atomic_store_n((uint32_t *)word, value, __ATOMIC_RELAXED);
		else
			window_unbacked(unit, offset);
		return;
	}
	if (offset >= TRN_TPB_EVENTS && offset < TRN_TPB_EVENTS + TRN_TPB_SYNC_SIZE) {
		core_sync_write(unit, offset - TRN_TPB_EVENTS, value);
		return;
	}
	if (unit->device->features & TRN_FEATURE_CORES) {
		if (engine_block(offset, &engine, &reg)) {
			emu_unit_engine_write(unit, engine, reg, value);
			return;
		}
		if (offset >= TRN_TPB_CORE && offset < TRN_TPB_CORE + CORE_BLOCK_SIZE) {
			emu_unit_core_write(unit, offset - TRN_TPB_CORE, value);
			return;
		}
	}
	emu_complain(unit->device, EMU_COMPLAINT_UNKNOWN_REGISTER, "core %u has no register 0x%x",
		     unit->index, offset);
}
