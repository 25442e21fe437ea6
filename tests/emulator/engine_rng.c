// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Random numbers of the DVE and POOL lanes: RNG, RNG_SEED, RNG_SET, RNG_GET and DROPOUT.
 *
 * A lane draws in iteration order. The v4 DVE has four states per lane; element i of a row uses
 * state i mod 4.
 */
#include "exec.h"

static void lanes_seed(struct emu_lanes *lanes, uint32_t seed)
{
	unsigned int p, s;

	for (p = 0; p < TRN_PARTITIONS; p++)
		for (s = 0; s < EMU_SUBLANES; s++)
			emu_xorwow_seed(&lanes->rng[p][s], seed, s * TRN_PARTITIONS + p);
}

void emu_lanes_reset(struct emu_lanes *lanes)
{
	memset(lanes->acc, 0, sizeof(lanes->acc));
	lanes_seed(lanes, 0);
}

static unsigned int sublanes(const struct emu_exec *x)
{
	return x->core->config.generation >= 4 && x->eng->id == TRN_ENGINE_DVE ? EMU_SUBLANES : 1;
}

static uint32_t lane_draw(struct emu_exec *x, unsigned int lane, uint32_t i)
{
	return emu_xorwow_next(&x->core->lanes[x->eng->id].rng[lane][i % sublanes(x)]);
}

enum trn_fault emu_exec_rng(struct emu_exec *x)
{
	const struct emu_view *v = &x->v[0];
	uint32_t *row = (uint32_t *)(void *)x->core->row[0];
	unsigned int p;
	uint32_t i;

	if (!emu_dtype_is_int(v->dtype))
		return TRN_FAULT_OPERAND;
	for (p = 0; p < v->parts; p++) {
		for (i = 0; i < v->n; i++)
			row[i] = lane_draw(x, v->first + p, i);
		emu_view_store_u32(v, p, row);
	}
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_rng_seed(struct emu_exec *x)
{
	const struct emu_view *v = &x->v[1];
	uint32_t seed;

	if (v->parts != 1 || v->n != 1 || v->esize != sizeof(seed))
		return TRN_FAULT_OPERAND;
	memcpy(&seed, v->base, sizeof(seed));
	lanes_seed(&x->core->lanes[x->eng->id], seed);
	return TRN_FAULT_NONE;
}

/* State of a lane: 6 words (POOL, v3 and later) or 24 (DVE, v4). */
static enum trn_fault rng_state(struct emu_exec *x, const struct emu_view *v, bool set)
{
	uint32_t *row = (uint32_t *)(void *)x->core->row[0];
	unsigned int words = EMU_XORWOW_WORDS * sublanes(x), p;

	if (v->dtype != TRN_DTYPE_UINT32 || v->n != words)
		return TRN_FAULT_OPERAND;
	for (p = 0; p < v->parts; p++) {
		struct emu_xorwow *state = x->core->lanes[x->eng->id].rng[v->first + p];

		if (set) {
			emu_view_load_u32(v, p, row);
			memcpy(state, row, words * sizeof(uint32_t));
		} else {
			memcpy(row, state, words * sizeof(uint32_t));
			emu_view_store_u32(v, p, row);
		}
	}
	return TRN_FAULT_NONE;
}

enum trn_fault emu_exec_rng_set(struct emu_exec *x)
{
	return rng_state(x, &x->v[1], true);
}

enum trn_fault emu_exec_rng_get(struct emu_exec *x)
{
	return rng_state(x, &x->v[0], false);
}

/* u = draw / 2^32 < probability: the element becomes zero. Kept elements are not rescaled. */
enum trn_fault emu_exec_dropout(struct emu_exec *x)
{
	const struct emu_view *dst = &x->v[0], *src = &x->v[1];
	uint32_t *row = (uint32_t *)(void *)x->core->row[0];
	struct emu_scalar probability;
	enum trn_fault fault;
	unsigned int p;
	uint32_t i;

	if (dst->dtype != src->dtype)
		return TRN_FAULT_OPERAND;
	fault = emu_scalar_init(x, 0, src->parts, &probability);
	if (fault)
		return fault;
	for (p = 0; p < src->parts; p++) {
		double limit = (double)emu_scalar_f32(x, &probability, p) * 0x1p32;

		emu_view_load_u32(src, p, row);
		for (i = 0; i < src->n; i++)
			if ((double)lane_draw(x, src->first + p, i) < limit)
				row[i] = 0;
		emu_view_store_u32(dst, p, row);
	}
	return TRN_FAULT_NONE;
}
