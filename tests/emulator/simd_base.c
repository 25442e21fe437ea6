// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Vector loops for any processor.
 */
#define SIMD_NAME base
#define SIMD_TARGET
#define SIMD_BYTES 16
#define SIMD_MR	   4
#define SIMD_NV	   2

#include "simd_template.h"
