// SPDX-License-Identifier: BSD-2-Clause
/*
 * Bringing a core back after a failed run: stop, reset handshake, engine init, start.
 *
 * Locking: reset_lock around the handshake (it shares a doorbell with the mailbox of the firmware);
 * the lock of the core's copy queue, so that nobody's copy is on the engine that is initialised
 * with the core.
 */
#include "emu.h"

static void state_set(struct trn_emu *emu, struct trn_emu_core *core, uint32_t state)
{
	pthread_mutex_lock(&emu->lock);
	core->state = state;
	pthread_mutex_unlock(&emu->lock);
}

void trn_emu_core_unload(struct trn_emu *emu, unsigned int index)
{
	struct trn_emu_core *core = &emu->cores[index];
	struct trn_emu_ring **slot;
	unsigned int engine, queue;

	for (engine = 0; engine < TRN_ENGINES_PER_CORE; engine++)
		for (queue = 0; queue < TRN_EMU_QUEUES; queue++) {
			slot = &core->loaded[engine][queue];
			if (!*slot)
				continue;
			trnhw_udma_queue_stop(&emu->hw, index * TRN_ENGINES_PER_CORE + engine,
					      queue);
			trn_emu_ring_put(emu, *slot);
			*slot = NULL;
		}
}

int trn_emu_core_recover(struct trn_emu *emu, unsigned int index)
{
	struct trn_emu_core *core = &emu->cores[index];
	struct trn_emu_copyq *copyq = &emu->copyqs[index];
	int error, copyq_error;

	pthread_mutex_lock(&emu->reset_lock);
	state_set(emu, core, DRM_TRAINIUM_CORE_RESETTING);
	trnhw_core_stop(&core->hw); /* a core that does not stop is reset all the more */
	trn_emu_core_unload(emu, index);
	pthread_mutex_lock(&copyq->lock);
	error = trnhw_reset_cores(&emu->hw, 1u << index);
	if (!error)
		error = trnhw_start(&emu->hw, 1u << index);
	copyq_error = trn_emu_copyq_reset(emu, copyq);
	pthread_mutex_unlock(&copyq->lock);
	if (!error)
		error = copyq_error;
	if (!error)
		error = trnhw_core_start(&core->hw);
	pthread_mutex_lock(&emu->lock);
	emu->resets++;
	core->state = error	    ? DRM_TRAINIUM_CORE_FAILED
		      : core->owner ? DRM_TRAINIUM_CORE_OWNED
				    : DRM_TRAINIUM_CORE_FREE;
	pthread_mutex_unlock(&emu->lock);
	pthread_mutex_unlock(&emu->reset_lock);
	return error;
}
