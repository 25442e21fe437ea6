/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Activation functions: evaluated in double precision, rounded once to FP32.
 */
#ifndef EMU_ACT_FUNC_H
#define EMU_ACT_FUNC_H

#include <stdbool.h>
#include <stdint.h>
#include "trainium/isa.h"

/** emu_act_valid() - is @func a function code? */
bool emu_act_valid(unsigned int func);
/** emu_act_eval() - one value; @param is the slope of prelu for negative x. */
float emu_act_eval(unsigned int func, float x, float param);
/** emu_act_row() - a row; dst may be src. Same bits as emu_act_eval() on each element. */
void emu_act_row(unsigned int func, float *dst, const float *src, uint32_t n, float param);

#endif /* EMU_ACT_FUNC_H */
