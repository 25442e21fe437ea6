/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Submission queue of a core, as seen by unit.c.
 */
#ifndef EMU_SUBMIT_H
#define EMU_SUBMIT_H

#include "device.h"

/** emu_submit_work() - worker function: executes requests until none is left that may start. */
void emu_submit_work(void *unit);
/** emu_submit_stop() - disable the queue and end the run under way; returns at once. */
void emu_submit_stop(struct emu_unit *unit);
/** emu_submit_engine_control() - write of an engine's control register. */
void emu_submit_engine_control(struct emu_unit *unit, unsigned int engine, uint32_t value);

/** emu_engine_exists() - @engine is an engine of a core; number 4 is not used. */
bool emu_engine_exists(uint32_t engine);

#endif /* EMU_SUBMIT_H */
