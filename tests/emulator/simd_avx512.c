// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Vector loops for AVX-512 on 512-bit vectors.
 */
#ifdef __x86_64__
#define SIMD_NAME   avx512
#define SIMD_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define SIMD_BYTES  64
#define SIMD_MR	    8
#define SIMD_NV	    1

#include "simd_template.h"
#endif
