// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Choice of the vector loops.
 */
#include "simd.h"

static const struct emu_simd *variant_usable(unsigned int i)
{
	switch (i) {
	case 0:
		return &emu_simd_base;
#ifdef __x86_64__
	case 1:
		return __builtin_cpu_supports("avx2") ? &emu_simd_avx2 : NULL;
	case 2:
		if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
			return &emu_simd_avx512;
		break;
#endif
	}
	return NULL;
}

const struct emu_simd *emu_simd_variant(unsigned int i)
{
	return variant_usable(i);
}

const struct emu_simd *emu_simd_get(void)
{
	static const struct emu_simd *chosen;
	const struct emu_simd *best = __atomic_load_n(&chosen, __ATOMIC_RELAXED), *v;
	unsigned int i;

	if (best)
		return best;
	for (i = 0; (v = variant_usable(i)); i++)
		best = v;
	__atomic_store_n(&chosen, best, __ATOMIC_RELAXED);
	return best;
}
