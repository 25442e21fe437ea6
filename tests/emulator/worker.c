// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Worker thread.
 *
 * Locking: worker->lock guards stop, running and the two conditions and is a leaf. kicked and
 * sleeping are atomics so that a kick of an awake worker takes no lock: the worker sets sleeping,
 * then looks at kicked once more; a kicker sets kicked, then looks at sleeping. With sequential
 * consistency one of the two sees the other.
 */
#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#include "worker.h"

/* A waker costs several microseconds, as much as copying 64 KiB; so look for the next doorbell this
 * long before sleeping. */
#define SPIN_NS	    30000u
#define SPIN_CHECKS 64

uint64_t emu_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct timespec emu_deadline_ms(unsigned int ms)
{
	uint64_t end = emu_monotonic_ns() + (uint64_t)ms * 1000000u;

	return (struct timespec){
		.tv_sec = (time_t)(end / 1000000000u),
		.tv_nsec = (long)(end % 1000000000u),
	};
}

void emu_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

static void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#else
	sched_yield();
#endif
}

/* Gives way to whoever else wants the processor: the guest may be waiting for it. */
static bool worker_spin(struct emu_worker *worker)
{
	uint64_t end = emu_monotonic_ns() + SPIN_NS;
	int i;

	do {
		for (i = 0; i < SPIN_CHECKS; i++) {
			if (atomic_load_explicit(&worker->kicked, memory_order_relaxed))
				return true;
			cpu_relax();
		}
		sched_yield();
	} while (emu_monotonic_ns() < end);
	return false;
}

/* Return: false when the thread must end. */
static bool worker_sleep(struct emu_worker *worker)
{
	bool go_on;

	pthread_mutex_lock(&worker->lock);
	atomic_store(&worker->sleeping, true);
	while (!worker->stop && !atomic_load(&worker->kicked)) {
		pthread_cond_broadcast(&worker->idle);
		pthread_cond_wait(&worker->wake, &worker->lock);
	}
	atomic_store(&worker->sleeping, false);
	go_on = !worker->stop;
	pthread_mutex_unlock(&worker->lock);
	return go_on;
}

static _Thread_local bool on_worker;

bool emu_worker_here(void)
{
	return on_worker;
}

static void *worker_main(void *arg)
{
	struct emu_worker *worker = arg;
	bool may_spin = sysconf(_SC_NPROCESSORS_ONLN) > 1;

	on_worker = true;
	if (worker->started)
		worker->started(worker->thread_opaque);
	while (worker_sleep(worker)) {
		do {
			while (atomic_exchange(&worker->kicked, false))
				worker->work(worker->opaque);
		} while (may_spin && worker_spin(worker));
	}
	if (worker->stopping)
		worker->stopping(worker->thread_opaque);
	return NULL;
}

int emu_worker_start(struct emu_worker *worker, void (*work)(void *opaque), void *opaque,
		     void (*started)(void *thread_opaque), void (*stopping)(void *thread_opaque),
		     void *thread_opaque)
{
	int error;

	worker->work = work;
	worker->opaque = opaque;
	worker->started = started;
	worker->stopping = stopping;
	worker->thread_opaque = thread_opaque;
	worker->stop = false;
	atomic_init(&worker->kicked, false);
	atomic_init(&worker->sleeping, false);
	pthread_mutex_init(&worker->lock, NULL);
	emu_cond_init(&worker->wake);
	emu_cond_init(&worker->idle);
	error = pthread_create(&worker->thread, NULL, worker_main, worker);
	worker->running = !error;
	if (error) {
		pthread_cond_destroy(&worker->idle);
		pthread_cond_destroy(&worker->wake);
		pthread_mutex_destroy(&worker->lock);
	}
	return -error;
}

void emu_worker_stop(struct emu_worker *worker)
{
	if (!worker->running)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->stop = true;
	pthread_cond_broadcast(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	pthread_cond_destroy(&worker->idle);
	pthread_cond_destroy(&worker->wake);
	pthread_mutex_destroy(&worker->lock);
	worker->running = false;
}

void emu_worker_kick(struct emu_worker *worker)
{
	atomic_store(&worker->kicked, true);
	if (!atomic_load(&worker->sleeping))
		return;
	pthread_mutex_lock(&worker->lock);
	pthread_cond_signal(&worker->wake);
	pthread_mutex_unlock(&worker->lock);
}

bool emu_worker_is_idle(struct emu_worker *worker)
{
	return atomic_load(&worker->sleeping) && !atomic_load(&worker->kicked);
}

bool emu_worker_wait_idle(struct emu_worker *worker, uint64_t deadline)
{
	struct timespec until = {
		.tv_sec = (time_t)(deadline / 1000000000u),
		.tv_nsec = (long)(deadline % 1000000000u),
	};
	int error = 0;
	bool idle;

	pthread_mutex_lock(&worker->lock);
	while (!(idle = emu_worker_is_idle(worker)) && !error) {
		if (deadline)
			error = pthread_cond_timedwait(&worker->idle, &worker->lock, &until);
		else
			error = pthread_cond_wait(&worker->idle, &worker->lock);
	}
	pthread_mutex_unlock(&worker->lock);
	return idle;
}
