/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Virtual time of one device in time mode.
 *
 * An actor is something that spends time by itself: a core, a DMA engine. It has a moment at which
 * it acts next, or none while it has nothing to do. The clock gives the turn to one actor at a
 * time, always to the one whose moment is the earliest (the lower number first when they are
 * equal), so everything that happens inside of turns happens in one order, whatever the host's
 * scheduler does. What an actor does in its turn takes no virtual time; a cost is a later moment
 * for its next turn.
 *
 * A thread owns one or more actors and asks for their turns. What comes from outside of turns, the
 * host's register accesses, happens "now": at the moment of the last turn given.
 *
 * Times are picoseconds; the device is made at EMU_CLOCK_FIRST, so that 0 ns is no moment.
 */
#ifndef EMU_CLOCK_H
#define EMU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define EMU_CLOCK_NEVER	 UINT64_MAX
#define EMU_PS_PER_NS	 1000u
#define EMU_CLOCK_FIRST	 EMU_PS_PER_NS
#define EMU_CLOCK_NOBODY UINT32_MAX

struct emu_clock;

/**
 * emu_clock_create() - @actors with the thread (0..@owners-1) that owns each in @owner.
 * Return: NULL when memory is short.
 */
struct emu_clock *emu_clock_create(unsigned int actors, const unsigned int *owner,
				   unsigned int owners);
void emu_clock_destroy(struct emu_clock *clock);

/** emu_clock_now() - the present moment, for what the calling thread does to the device. */
uint64_t emu_clock_now(struct emu_clock *clock);
/**
 * emu_clock_arrival() - what this thread does to other devices from here on happens there at @when,
 * unless they are further already; 0: at their present.
 */
void emu_clock_arrival(uint64_t when);

/**
 * emu_clock_post() - @actor acts at @when (not before now) unless it acts earlier already. Any
 * thread. The caller then wakes the owner's thread, should that be asleep elsewhere.
 */
void emu_clock_post(struct emu_clock *clock, unsigned int actor, uint64_t when);
/** emu_clock_set() - @actor's next moment is @when, or EMU_CLOCK_NEVER; in its own turn or with
 * whatever keeps emu_clock_post() for it away. */
void emu_clock_set(struct emu_clock *clock, unsigned int actor, uint64_t when);

/**
 * emu_clock_turn() - end the turn of @actor, if it has one, and wait for the next: at @when or,
 * when somebody posts an earlier moment, then. *@posted: a post came since the last turn. Return:
 * the moment; EMU_CLOCK_NEVER when the clock is stopped.
 */
uint64_t emu_clock_turn(struct emu_clock *clock, unsigned int actor, uint64_t when, bool *posted);
/** emu_clock_leave() - end the turn; @actor has nothing to do until somebody posts. Return: false
 * when somebody did during the turn: it goes on. */
bool emu_clock_leave(struct emu_clock *clock, unsigned int actor);
/**
 * emu_clock_next() - end the turn of any actor of @owner, wait until one of them has the turn.
 * Return: its number; EMU_CLOCK_NOBODY when none of them has anything to do or the clock is
 * stopped.
 */
unsigned int emu_clock_next(struct emu_clock *clock, unsigned int owner);

/** emu_clock_stop() - from now on nobody waits and nobody has a turn, until emu_clock_restart(),
 * which takes away all moments; time goes on from where it was. */
void emu_clock_stop(struct emu_clock *clock);
void emu_clock_restart(struct emu_clock *clock);

#endif /* EMU_CLOCK_H */
