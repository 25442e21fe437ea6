// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Virtual time: who acts next.
 *
 * Locking: clock->lock guards everything and is a leaf. An owner sleeps on its own condition and is
 * woken when one of its actors is next, or when it stopped having any.
 */
#include <pthread.h>
#include <stdlib.h>
#include "clock.h"

/** struct actor - one actor. */
struct actor {
	uint64_t when; /* EMU_CLOCK_NEVER: nothing to do */
	unsigned int owner;
	bool posted; /* somebody posted since the last turn */
};

struct emu_clock {
	pthread_mutex_t lock;
	pthread_cond_t *wake; /* by owner */
	struct actor *actor;
	unsigned int actors, owners;
	unsigned int running; /* who has the turn */
	uint64_t now;
	bool stopped;
};

struct emu_clock *emu_clock_create(unsigned int actors, const unsigned int *owner,
				   unsigned int owners)
{
	struct emu_clock *clock = calloc(1, sizeof(*clock));
	unsigned int i;

	if (!clock)
		return NULL;
	clock->actor = calloc(actors, sizeof(*clock->actor));
	clock->wake = calloc(owners, sizeof(*clock->wake));
	if (!clock->actor || !clock->wake) {
		free(clock->actor);
		free(clock->wake);
		free(clock);
		return NULL;
	}
	pthread_mutex_init(&clock->lock, NULL);
	for (i = 0; i < owners; i++)
		pthread_cond_init(&clock->wake[i], NULL);
	for (i = 0; i < actors; i++) {
		clock->actor[i].owner = owner[i];
		clock->actor[i].when = EMU_CLOCK_NEVER;
	}
	clock->actors = actors;
	clock->owners = owners;
	clock->running = EMU_CLOCK_NOBODY;
	clock->now = EMU_CLOCK_FIRST;
	return clock;
}

void emu_clock_destroy(struct emu_clock *clock)
{
	unsigned int i;

	if (!clock)
		return;
	for (i = 0; i < clock->owners; i++)
		pthread_cond_destroy(&clock->wake[i]);
	pthread_mutex_destroy(&clock->lock);
	free(clock->wake);
	free(clock->actor);
	free(clock);
}

static _Thread_local uint64_t arrival;

void emu_clock_arrival(uint64_t when)
{
	arrival = when;
}

/* Lock held. */
static uint64_t present(const struct emu_clock *clock)
{
	return clock->now > arrival ? clock->now : arrival;
}

uint64_t emu_clock_now(struct emu_clock *clock)
{
	uint64_t now;

	pthread_mutex_lock(&clock->lock);
	now = present(clock);
	pthread_mutex_unlock(&clock->lock);
	return now;
}

/* Lock held. */
static unsigned int earliest(const struct emu_clock *clock)
{
	unsigned int i, best = EMU_CLOCK_NOBODY;
	uint64_t when = EMU_CLOCK_NEVER;

	for (i = 0; i < clock->actors; i++) {
		if (clock->actor[i].when < when) {
			when = clock->actor[i].when;
			best = i;
		}
	}
	return best;
}

/* Wakes the owner of whoever is next, unless that is @self, who looks anyway. Lock held. */
static void pass_on(struct emu_clock *clock, unsigned int self)
{
	unsigned int next;

	if (clock->running != EMU_CLOCK_NOBODY)
		return;
	next = earliest(clock);
	if (next != EMU_CLOCK_NOBODY && clock->actor[next].owner != self)
		pthread_cond_signal(&clock->wake[clock->actor[next].owner]);
}

/* Lock held. */
static void turn_begin(struct emu_clock *clock, unsigned int actor)
{
	clock->running = actor;
	if (clock->actor[actor].when > clock->now)
		clock->now = clock->actor[actor].when;
}

void emu_clock_post(struct emu_clock *clock, unsigned int actor, uint64_t when)
{
	struct actor *a = &clock->actor[actor];

	pthread_mutex_lock(&clock->lock);
	if (when < present(clock))
		when = present(clock);
	if (when < a->when)
		a->when = when;
	a->posted = true;
	/* The owner itself may sleep for the sake of a later moment of the same actor. */
	pass_on(clock, EMU_CLOCK_NOBODY);
	pthread_mutex_unlock(&clock->lock);
}

void emu_clock_set(struct emu_clock *clock, unsigned int actor, uint64_t when)
{
	pthread_mutex_lock(&clock->lock);
	if (when < clock->now)
		when = clock->now;
	clock->actor[actor].when = when;
	pass_on(clock, EMU_CLOCK_NOBODY);
	pthread_mutex_unlock(&clock->lock);
}

uint64_t emu_clock_turn(struct emu_clock *clock, unsigned int actor, uint64_t when, bool *posted)
{
	struct actor *a = &clock->actor[actor];

	pthread_mutex_lock(&clock->lock);
	if (clock->running == actor) {
		clock->running = EMU_CLOCK_NOBODY;
		/* A post during the turn asks for another look at the same moment. */
		a->when = a->posted ? clock->now : when;
	} else if (when < a->when) {
		a->when = when;
	}
	if (a->when < clock->now)
		a->when = clock->now;
	pass_on(clock, a->owner);
	while (!clock->stopped && (clock->running != EMU_CLOCK_NOBODY || earliest(clock) != actor))
		pthread_cond_wait(&clock->wake[a->owner], &clock->lock);
	if (clock->stopped) {
		when = EMU_CLOCK_NEVER;
	} else {
		turn_begin(clock, actor);
		when = clock->now;
	}
	*posted = a->posted;
	a->posted = false;
	pthread_mutex_unlock(&clock->lock);
	return when;
}

bool emu_clock_leave(struct emu_clock *clock, unsigned int actor)
{
	struct actor *a = &clock->actor[actor];
	bool left;

	pthread_mutex_lock(&clock->lock);
	left = !a->posted || clock->stopped;
	if (left) {
		if (clock->running == actor)
			clock->running = EMU_CLOCK_NOBODY;
		a->when = EMU_CLOCK_NEVER;
		pass_on(clock, EMU_CLOCK_NOBODY);
	}
	pthread_mutex_unlock(&clock->lock);
	return left;
}

/* Lock held. */
static bool owner_busy(const struct emu_clock *clock, unsigned int owner)
{
	unsigned int i;

	for (i = 0; i < clock->actors; i++)
		if (clock->actor[i].owner == owner && clock->actor[i].when != EMU_CLOCK_NEVER)
			return true;
	return false;
}

unsigned int emu_clock_next(struct emu_clock *clock, unsigned int owner)
{
	unsigned int next = EMU_CLOCK_NOBODY;

	pthread_mutex_lock(&clock->lock);
	if (clock->running != EMU_CLOCK_NOBODY && clock->actor[clock->running].owner == owner)
		clock->running = EMU_CLOCK_NOBODY;
	pass_on(clock, owner);
	while (!clock->stopped && owner_busy(clock, owner)) {
		if (clock->running == EMU_CLOCK_NOBODY) {
			next = earliest(clock);
			if (clock->actor[next].owner == owner)
				break;
			next = EMU_CLOCK_NOBODY;
		}
		pthread_cond_wait(&clock->wake[owner], &clock->lock);
	}
	if (next != EMU_CLOCK_NOBODY)
		turn_begin(clock, next);
	pthread_mutex_unlock(&clock->lock);
	return next;
}

void emu_clock_stop(struct emu_clock *clock)
{
	unsigned int i;

	pthread_mutex_lock(&clock->lock);
	clock->stopped = true;
	clock->running = EMU_CLOCK_NOBODY;
	for (i = 0; i < clock->owners; i++)
		pthread_cond_broadcast(&clock->wake[i]);
	pthread_mutex_unlock(&clock->lock);
}

void emu_clock_restart(struct emu_clock *clock)
{
	unsigned int i;

	pthread_mutex_lock(&clock->lock);
	for (i = 0; i < clock->actors; i++) {
		clock->actor[i].when = EMU_CLOCK_NEVER;
		clock->actor[i].posted = false;
	}
	clock->running = EMU_CLOCK_NOBODY;
	clock->stopped = false;
	pthread_mutex_unlock(&clock->lock);
}
