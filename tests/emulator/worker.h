/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Worker thread that sleeps until it is kicked and then calls one function until that finds nothing
 * more to do.
 */
#ifndef EMU_WORKER_H
#define EMU_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/** struct emu_worker - one thread; fields are private to worker.c. */
struct emu_worker {
	void (*work)(void *opaque);
	void (*started)(void *thread_opaque), (*stopping)(void *thread_opaque);
	void *opaque, *thread_opaque;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake, idle;
	atomic_bool kicked, sleeping;
	bool stop, running;
};

/**
 * emu_worker_start() - @work(@opaque) runs after each emu_worker_kick(); kicks while it runs are
 * not lost, they are merged.
 * @started, @stopping: called on the new thread at its begin and end, may be NULL.
 * Return: 0 or a negative errno.
 */
int emu_worker_start(struct emu_worker *worker, void (*work)(void *opaque), void *opaque,
		     void (*started)(void *thread_opaque), void (*stopping)(void *thread_opaque),
		     void *thread_opaque);
/** emu_worker_stop() - waits for the function to return and ends the thread. Harmless on a worker
 * never started. */
void emu_worker_stop(struct emu_worker *worker);
/** emu_worker_kick() - any thread; cheap when the worker is awake. Never blocks on the work itself.
 */
void emu_worker_kick(struct emu_worker *worker);
/** emu_worker_wait_idle() - wait until the worker sleeps with no kick outstanding. @deadline:
 * CLOCK_MONOTONIC ns, 0: for ever. */
bool emu_worker_wait_idle(struct emu_worker *worker, uint64_t deadline);
/** emu_worker_is_idle() - a snapshot of the same condition. */
bool emu_worker_is_idle(struct emu_worker *worker);
/** emu_worker_here() - is the calling thread a worker? */
bool emu_worker_here(void);
/** emu_monotonic_ns() - CLOCK_MONOTONIC. */
uint64_t emu_monotonic_ns(void);
/** emu_deadline_ms(), emu_cond_init() - waits that end at a time of the same clock. */
struct timespec emu_deadline_ms(unsigned int ms);
void emu_cond_init(pthread_cond_t *cond);

#endif /* EMU_WORKER_H */
