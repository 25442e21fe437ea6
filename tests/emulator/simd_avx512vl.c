// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Vector loops for AVX-512 on 256-bit vectors: 32 registers, without the halves a 512-bit operation
 * is split into on some processors.
 */
#ifdef __x86_64__
#define SIMD_NAME   avx512vl
#define SIMD_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define SIMD_BYTES  32
#define SIMD_MR	    8
#define SIMD_NV	    2

#include "simd_template.h"
#endif
