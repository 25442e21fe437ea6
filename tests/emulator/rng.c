// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Seeding of the XORWOW generator.
 */
#include "rng.h"

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

void emu_xorwow_seed(struct emu_xorwow *r, uint32_t seed, uint32_t stream)
{
	uint64_t state = (uint64_t)seed << 32 | stream;
	unsigned int i;

	for (i = 0; i < EMU_XORWOW_WORDS; i += 2) {
		uint64_t v = splitmix64(&state);

		r->s[i] = (uint32_t)v;
		r->s[i + 1] = (uint32_t)(v >> 32);
	}
	/* The xorshift part must not be all zero, or it stays there. */
	if (!(r->s[0] | r->s[1] | r->s[2] | r->s[3] | r->s[4]))
		r->s[4] = 1;
}
