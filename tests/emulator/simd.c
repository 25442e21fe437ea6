// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Choice of the vector loops.
 */
#include "simd.h"

#ifdef __x86_64__
static bool has_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

const struct emu_simd *emu_simd_variant(unsigned int i)
{
	switch (i) {
	case 0:
		return &emu_simd_base;
	case 1:
		return __builtin_cpu_supports("avx2") ? &emu_simd_avx2 : NULL;
	case 2:
		return has_avx512() ? &emu_simd_avx512vl : NULL;
	case 3:
		return has_avx512() ? &emu_simd_avx512 : NULL;
	}
	return NULL;
}

static const struct emu_simd *choose_rows(void)
{
	if (has_avx512())
		return &emu_simd_avx512;
	return __builtin_cpu_supports("avx2") ? &emu_simd_avx2 : &emu_simd_base;
}

/* On AMD processors up to Zen 4 a 512-bit multiply and add take turns on 256-bit units: the
 * narrower tile is faster by a tenth. */
static const struct emu_simd *choose_matrix(void)
{
	return has_avx512() && __builtin_cpu_is("amd") ? &emu_simd_avx512vl : choose_rows();
}
#else
const struct emu_simd *emu_simd_variant(unsigned int i)
{
	return i ? NULL : &emu_simd_base;
}

static const struct emu_simd *choose_rows(void)
{
	return &emu_simd_base;
}

static const struct emu_simd *choose_matrix(void)
{
	return &emu_simd_base;
}
#endif

/* Threads that race here store the same pointer. */
static const struct emu_simd *remember(const struct emu_simd **slot,
				       const struct emu_simd *(*choose)(void))
{
	const struct emu_simd *v = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (!v) {
		v = choose();
		__atomic_store_n(slot, v, __ATOMIC_RELAXED);
	}
	return v;
}

const struct emu_simd *emu_simd_get(void)
{
	static const struct emu_simd *chosen;

	return remember(&chosen, choose_rows);
}

const struct emu_simd *emu_simd_matrix(void)
{
	static const struct emu_simd *chosen;

	return remember(&chosen, choose_matrix);
}
