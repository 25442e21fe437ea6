// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Vector loops for AVX2.
 */
#ifdef __x86_64__
#define SIMD_NAME   avx2
#define SIMD_TARGET __attribute__((target("avx2")))
#define SIMD_BYTES  32
#define SIMD_MR	    4
#define SIMD_NV	    2

#include "simd_template.h"
#endif
