// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adam. Factors that change with the step come as run arguments in registers 0..6, so one image
 *serves all steps.
 *
 *	m = beta1 m + (1 - beta1) g
 *	v = beta2 v + (1 - beta2) g^2
 *	p = p + rate * m / (sqrt(v * scale2) + epsilon)
 */
#include <math.h>
#include "kernels/kernel.h"

#define COLUMNS 1024u

enum reg {
	REG_RATE,
	REG_SCALE2,
	REG_BETA1,
	REG_ONE_MINUS_BETA1,
	REG_BETA2,
	REG_ONE_MINUS_BETA2,
	REG_EPSILON,
};

_Static_assert(sizeof(struct trn_adam_args) == 4 * (REG_EPSILON + 1), "one register per field");

void trn_adam_args(struct trn_adam_args *args, double lr, double beta1, double beta2,
		   double epsilon, uint64_t step)
{
	args->rate = (float)(-lr / (1.0 - pow(beta1, (double)step)));
	args->scale2 = (float)(1.0 / (1.0 - pow(beta2, (double)step)));
	args->beta1 = (float)beta1;
	args->one_minus_beta1 = (float)(1.0 - beta1);
	args->beta2 = (float)beta2;
	args->one_minus_beta2 = (float)(1.0 - beta2);
	args->epsilon = (float)epsilon;
}

/** struct adam_views - tiles of a piece: parameters, gradient, moments, two temporaries. */
struct adam_views {
	struct trn_view p, g, m, v, t, d;
};

static void adam_emit(struct trn_builder *b, const struct adam_views *x)
{
	struct trn_scalar none = trn_scalar(0.0f);

	trn_emit_activate(b, x->t, x->g, TRN_ACT_SQUARE, trn_scalar(1.0f), none, TRN_REDUCE_IDLE);
	trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, x->g, x->g, TRN_ALU_MUL,
			       trn_scalar_register(REG_ONE_MINUS_BETA1), TRN_ALU_BYPASS, none, 0);
	trn_emit_scalar_tensor_tensor(b, x->m, x->m, TRN_ALU_MUL, trn_scalar_register(REG_BETA1),
				      TRN_ALU_ADD, x->g, 0);
	trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, x->t, x->t, TRN_ALU_MUL,
			       trn_scalar_register(REG_ONE_MINUS_BETA2), TRN_ALU_BYPASS, none, 0);
	trn_emit_scalar_tensor_tensor(b, x->v, x->v, TRN_ALU_MUL, trn_scalar_register(REG_BETA2),
				      TRN_ALU_ADD, x->t, 0);
	trn_emit_activate(b, x->d, x->v, TRN_ACT_SQRT, trn_scalar_register(REG_SCALE2), none,
			  TRN_REDUCE_IDLE);
	trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, x->d, x->d, TRN_ALU_ADD,
			       trn_scalar_register(REG_EPSILON), TRN_ALU_BYPASS, none, 0);
	trn_emit_reciprocal(b, x->d, x->d);
	trn_emit_tensor_tensor(b, TRN_ENGINE_DVE, x->d, x->d, TRN_ALU_MUL, x->m);
	trn_emit_scalar_tensor_tensor(b, x->p, x->d, TRN_ALU_MUL, trn_scalar_register(REG_RATE),
				      TRN_ALU_ADD, x->p, 0);
}

enum trn_status trn_kernel_adam(uint64_t count, struct trn_image **image)
{
	struct trn_flat flat = { 0 };
	struct trn_builder *b;
	struct trn_tile tile[6];
	struct adam_views x;
	int p, g, m, v, i;

	if (!image || !count || count >> 44)
		return trn_error_set(TRN_ERR_INVALID,
				     "kernel adam: %llu parameters; 1 to 2^44 are possible, and "
				     "image must not be NULL",
				     (unsigned long long)count);
	*image = NULL;
	b = trn_builder_create("adam", TRN_KERNEL_GENERATION);
	if (!b)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "kernel adam: no memory for a builder");
	p = trn_kernel_vector(b, "p", TRN_TENSOR_STATE, count);
	g = trn_kernel_vector(b, "g", TRN_TENSOR_INPUT, count);
	m = trn_kernel_vector(b, "m", TRN_TENSOR_STATE, count);
	v = trn_kernel_vector(b, "v", TRN_TENSOR_STATE, count);
	while (trn_flat_next(&flat, count, COLUMNS) && !trn_builder_status(b)) {
		x.p = trn_flat_tile(b, &flat, &tile[0]);
		x.g = trn_flat_tile(b, &flat, &tile[1]);
		x.m = trn_flat_tile(b, &flat, &tile[2]);
		x.v = trn_flat_tile(b, &flat, &tile[3]);
		x.t = trn_flat_tile(b, &flat, &tile[4]);
		x.d = trn_flat_tile(b, &flat, &tile[5]);
		trn_flat_move(b, &flat, g, x.g, true);
		trn_flat_move(b, &flat, m, x.m, true);
		trn_flat_move(b, &flat, v, x.v, true);
		trn_flat_move(b, &flat, p, x.p, true);
		adam_emit(b, &x);
		trn_flat_move(b, &flat, m, x.m, false);
		trn_flat_move(b, &flat, v, x.v, false);
		trn_flat_move(b, &flat, p, x.p, false);
		for (i = 0; i < 6; i++)
			trn_builder_tile_free(b, tile[i]);
	}
	return trn_kernel_finish(b, image);
}
