/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The demo's language model: the next byte from the last 16.
 *
 *	x  = embedding of 16 bytes, 32 numbers each		512
 *	h1 = gelu(x W1 + b1), h2 = gelu(h1 W2 + b2)		128, 128
 *	p  = softmax(h2 W3)					256
 *
 * All parameters live in one fp32 matrix of 128 rows; each matrix of the model is a range of its
 *columns. Feature f = 128 t + 32 q + e of x is number e of byte 4 q + t: a quarter of the
 *partitions belongs to four neighbouring bytes.
 */
#ifndef DEMO_MODEL_H
#define DEMO_MODEL_H

#include <stdint.h>
#include "trn/trn.h"

#define DEMO_CONTEXT  16
#define DEMO_SAMPLE   (DEMO_CONTEXT + 1)
#define DEMO_BYTES    256
#define DEMO_DIM      32
#define DEMO_HIDDEN   128
#define DEMO_FEATURES (DEMO_CONTEXT * DEMO_DIM)
#define DEMO_ROWS     128
#define DEMO_TILES    (DEMO_FEATURES / DEMO_ROWS)

/* Columns of the parameter matrix. */
enum demo_column {
	DEMO_COL_E = 0,				 /* two blocks of [128 bytes, 32] */
	DEMO_COL_W1 = DEMO_COL_E + 2 * DEMO_DIM, /* four tiles of [128 features, 128] */
	DEMO_COL_W2 = DEMO_COL_W1 + DEMO_TILES * DEMO_HIDDEN,
	DEMO_COL_W3 = DEMO_COL_W2 + DEMO_HIDDEN,
	DEMO_COL_B1 = DEMO_COL_W3 + DEMO_BYTES,
	DEMO_COL_B2,
	DEMO_COLUMNS,
};

#define DEMO_PARAMETERS (DEMO_ROWS * DEMO_COLUMNS)

/**
 * demo_model_grad() - image "grad": from "params" and a batch to "grad" and "loss".
 *
 * "context" [16, batch] and "samples" [batch, 17] hold the same bytes, by position and by sample;
 * the last of a sample is the one to predict. Gradient and loss are sums over the batch divided by
 * @total, so that ranks with a share each can add theirs. @batch 1..128.
 */
enum trn_status demo_model_grad(uint32_t batch, uint32_t total, struct trn_image **image);
/**
 * demo_model_forward() - image "forward": "params" and "context" [16, batch] to "logits" [batch,
 * 256].
 */
enum trn_status demo_model_forward(uint32_t batch, struct trn_image **image);
/** demo_model_init() - starting values from a seed. */
void demo_model_init(float *params, uint64_t seed);

/** demo_random() - next of a sequence (SplitMix64). */
uint64_t demo_random(uint64_t *state);

#endif /* DEMO_MODEL_H */
