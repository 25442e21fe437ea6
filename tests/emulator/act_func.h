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
/** emu_act_reference() - one value by the C library; @param is the slope of prelu for negative x.
 */
float emu_act_reference(unsigned int func, float x, float param);
/**
 * emu_act_row() - a row; dst may be src. The result of an element depends on nothing but the
 * element, and is within one unit in the last place of emu_act_reference().
 */
void emu_act_row(unsigned int func, float *dst, const float *src, uint32_t n, float param);

#endif /* EMU_ACT_FUNC_H */
