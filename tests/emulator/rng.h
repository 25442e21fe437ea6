/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XORWOW generator (Marsaglia, 2003) and its seeding from one word.
 */
#ifndef EMU_RNG_H
#define EMU_RNG_H

#include <stdint.h>

#define EMU_XORWOW_WORDS 6

/** struct emu_xorwow - generator state, in the order it is saved: x, y, z, w, v, d. */
struct emu_xorwow {
	uint32_t s[EMU_XORWOW_WORDS];
};

/** emu_xorwow_next() - next 32-bit draw. */
static inline uint32_t emu_xorwow_next(struct emu_xorwow *r)
{
	uint32_t t = r->s[0] ^ (r->s[0] >> 2);

	r->s[0] = r->s[1];
	r->s[1] = r->s[2];
	r->s[2] = r->s[3];
	r->s[3] = r->s[4];
	r->s[4] = (r->s[4] ^ (r->s[4] << 4)) ^ (t ^ (t << 1));
	r->s[5] += 362437;
	return r->s[5] + r->s[4];
}

/** emu_xorwow_seed() - state number @stream of @seed, by SplitMix64 started at (seed << 32 |
 * stream). */
void emu_xorwow_seed(struct emu_xorwow *r, uint32_t seed, uint32_t stream);

#endif /* EMU_RNG_H */
