// SPDX-License-Identifier: BSD-2-Clause
/*
 * Interrupts of the model wake waiters; a waiter also looks by itself now and then, so that a lost
 * interrupt costs time, not progress.
 *
 * Locking: trn_emu_irq.lock guards the count of its vector.
 */
#include <time.h>

#include "emu.h"

#define POLL_WITH_IRQ_NS    20000000ll /* a lost interrupt is rare */
#define POLL_WITHOUT_IRQ_NS 50000ll

void trn_emu_irq_setup(struct trn_emu *emu)
{
	pthread_condattr_t attr;
	unsigned int i;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	for (i = 0; i < TRN_EMU_VECTORS_MAX; i++) {
		pthread_mutex_init(&emu->irqs[i].lock, NULL);
		pthread_cond_init(&emu->irqs[i].cond, &attr);
	}
	pthread_condattr_destroy(&attr);
}

void trn_emu_irq_teardown(struct trn_emu *emu)
{
	unsigned int i;

	for (i = 0; i < TRN_EMU_VECTORS_MAX; i++) {
		pthread_cond_destroy(&emu->irqs[i].cond);
		pthread_mutex_destroy(&emu->irqs[i].lock);
	}
}

void trn_emu_irq_handler(void *arg, unsigned int vector)
{
	struct trn_emu *emu = arg;
	struct trn_emu_irq *irq;

	if (vector >= TRN_EMU_VECTORS_MAX)
		return;
	irq = &emu->irqs[vector];
	pthread_mutex_lock(&irq->lock);
	irq->count++;
	pthread_cond_broadcast(&irq->cond);
	pthread_mutex_unlock(&irq->lock);
}

uint64_t trn_emu_irq_count(struct trn_emu_irq *irq)
{
	uint64_t count;

	pthread_mutex_lock(&irq->lock);
	count = irq->count;
	pthread_mutex_unlock(&irq->lock);
	return count;
}

void trn_emu_irq_wait(struct trn_emu *emu, unsigned int vector, uint64_t seen, int64_t deadline)
{
	bool irqs = emu->hw.features & TRN_FEATURE_MSIX;
	int64_t until = trn_emu_now() + (irqs ? POLL_WITH_IRQ_NS : POLL_WITHOUT_IRQ_NS);
	struct trn_emu_irq *irq = &emu->irqs[vector];
	struct timespec end;
	int error = 0;

	if (until > deadline)
		until = deadline;
	if (until < 0)
		until = 0;
	end.tv_sec = until / 1000000000;
	end.tv_nsec = until % 1000000000;
	pthread_mutex_lock(&irq->lock);
	while (irq->count == seen && !error)
		error = pthread_cond_timedwait(&irq->cond, &irq->lock, &end);
	pthread_mutex_unlock(&irq->lock);
}
