/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel library: images for common operations, shapes as arguments.
 *
 * Every function builds an image; load it with trn_program_load() on any generation from 2 up.
 * Tensors are fp32 and row-major unless stated; names are in the comment of each function. The
 * caller frees the image. Arithmetic is FP32; results are checked against double precision in the
 * tests. Documentation/kernels.md has the numbers and limits.
 */
#ifndef TRN_KERNELS_H
#define TRN_KERNELS_H

#include "trn/trn.h"
#include "trainium/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

/** trn_kernel_add() - a += b; "a" (state) and "b" (input), @count elements, any count. */
TRN_API enum trn_status trn_kernel_add(uint64_t count, struct trn_image **image);

/**
 * trn_kernel_binary() - "c" = "a" @op "b" elementwise; @op: ADD, SUB, MUL, MAX, MIN, or a
 * comparison (1.0 or 0.0).
 */
TRN_API enum trn_status trn_kernel_binary(enum trn_alu op, uint64_t count,
					  struct trn_image **image);

/** trn_kernel_unary() - "y" = @function("x") elementwise. */
TRN_API enum trn_status trn_kernel_unary(enum trn_act function, uint64_t count,
					 struct trn_image **image);

/** struct trn_matmul_options - what a matrix product does besides; size-first. */
struct trn_matmul_options {
	size_t size;
	uint64_t m, n, k;
	uint32_t dtype;	     /* of "a" and "b": TRN_DTYPE_FP32 (default) or TRN_DTYPE_BF16 */
	uint32_t bias;	     /* 1: "bias" [N] is added to every row */
	uint32_t activation; /* enum trn_act, applied last; TRN_ACT_COPY (0): none */
};

/**
 * trn_kernel_matmul() - "c" [M, N] = f("a" [M, K] x "b" [K, N] + "bias" [N]); any sizes; "c" and
 * "bias" are fp32.
 */
TRN_API enum trn_status trn_kernel_matmul(const struct trn_matmul_options *options,
					  struct trn_image **image);

/**
 * trn_kernel_reduce() - "y" [rows] = sum, maximum or minimum (@op ADD, MAX, MIN) over each row of
 * "x" [rows, columns].
 */
TRN_API enum trn_status trn_kernel_reduce(enum trn_alu op, uint64_t rows, uint64_t columns,
					  struct trn_image **image);

/**
 * trn_kernel_softmax() - "y" = softmax of each row of "x" [rows, columns]; @columns at most 8192.
 */
TRN_API enum trn_status trn_kernel_softmax(uint64_t rows, uint64_t columns,
					   struct trn_image **image);

/**
 * trn_kernel_layer_norm() - "y" = (x - mean) / sqrt(variance + @epsilon) * "gain" + "shift" per
 * row; @columns at most 8192.
 */
TRN_API enum trn_status trn_kernel_layer_norm(uint64_t rows, uint64_t columns, float epsilon,
					      struct trn_image **image);

/**
 * trn_kernel_embedding() - "y" [count, dim] = rows of "table" [vocabulary, dim] named by "ids"
 * [count] (int32); an id outside gives zeros.
 */
TRN_API enum trn_status trn_kernel_embedding(uint64_t vocabulary, uint64_t dim, uint64_t count,
					     struct trn_image **image);

/** struct trn_adam_args - argument block of trn_kernel_adam(); the same for every parameter. */
struct trn_adam_args {
	float rate;   /* -lr / (1 - beta1^step) */
	float scale2; /* 1 / (1 - beta2^step) */
	float beta1, one_minus_beta1;
	float beta2, one_minus_beta2;
	float epsilon;
};

/** trn_adam_args() - fill the block for @step 1, 2, 3 … */
TRN_API void trn_adam_args(struct trn_adam_args *args, double lr, double beta1, double beta2,
			   double epsilon, uint64_t step);

/**
 * trn_kernel_adam() - one Adam step of @count parameters: "p", "m", "v" (state), "g" (input); run
 * it with a struct trn_adam_args.
 */
TRN_API enum trn_status trn_kernel_adam(uint64_t count, struct trn_image **image);

#ifdef __cplusplus
}
#endif

#endif /* TRN_KERNELS_H */
