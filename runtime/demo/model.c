// SPDX-License-Identifier: BSD-2-Clause
/*
 * The model as device programs.
 *
 * Activations have features on partitions and the batch on the free dimension, which is what the
 * next product needs as its moving operand. Weight gradients contract over the batch, so both their
 * factors are turned once to have the batch on partitions.
 */
#include "model.h"
#include "trn/builder.h"

#define DEMO_GENERATION 2 /* runs on all later ones */

/** struct net - a program being built; views of what stays in SBUF. */
struct net {
	struct trn_builder *b;
	uint32_t batch;
	float share;		/* 1 / samples of all ranks */
	struct trn_view params; /* [128, DEMO_COLUMNS] */
	struct trn_view grad;
	struct trn_view identity; /* [128, 128] */
	struct trn_view lane;	  /* [128, 1] number of the partition */
	struct trn_view row;	  /* [128, 256] 0, 1, 2, ... in every partition */
	struct trn_view hot[2];	  /* [128, 16 * batch] one-hot of the context, bytes 0..127 and
				     128..255 on partitions */
	struct trn_view tokens;	  /* [batch, 17] fp32 */
	struct trn_view x;	  /* [128, 4 * batch] */
	struct trn_view h1, d1, h2, d2; /* [128, batch]: activation and its derivative */
	struct trn_view z;		/* [batch, 256] */
	struct trn_view dz;
};

static struct trn_view sbuf(struct net *n, unsigned int rows, unsigned int columns)
{
	return trn_view(trn_builder_tile(n->b, TRN_MEM_SBUF, rows, columns * 4), TRN_DTYPE_FP32,
			columns);
}

static struct trn_view psum(struct net *n, unsigned int rows, unsigned int columns,
			    struct trn_tile *tile)
{
	*tile = trn_builder_tile(n->b, TRN_MEM_PSUM, rows, columns * 4);
	return trn_view(*tile, TRN_DTYPE_FP32, columns);
}

/* Moves a finished PSUM tile to @dst and gives it back. */
static void drain(struct net *n, struct trn_view dst, struct trn_view src, struct trn_tile tile)
{
	trn_emit_copy(n->b, TRN_ENGINE_DVE, dst, src);
	trn_builder_tile_free(n->b, tile);
}

/* @dst [C, R] in SBUF = transpose of @src [R, C]. */
static void turn(struct net *n, struct trn_view dst, struct trn_view src)
{
	struct trn_tile tile;
	struct trn_view ps = psum(n, dst.partitions, dst.dim[0].count, &tile);

	trn_emit_transpose(n->b, ps, src,
			   trn_view_columns(trn_view_rows(n->identity, 0, src.partitions), 0,
					    src.partitions));
	drain(n, dst, ps, tile);
}

static struct trn_view turned(struct net *n, struct trn_view src)
{
	struct trn_view dst = sbuf(n, src.dim[0].count, src.partitions);

	turn(n, dst, src);
	return dst;
}

static void multiply(struct net *n, struct trn_view dst, struct trn_view stationary,
		     struct trn_view moving, bool accumulate)
{
	trn_emit_load_weights(n->b, stationary);
	trn_emit_matmul(n->b, dst, moving, accumulate);
}

/* @dst in SBUF = stationary' x moving. */
static void product(struct net *n, struct trn_view dst, struct trn_view stationary,
		    struct trn_view moving)
{
	struct trn_tile tile;
	struct trn_view ps = psum(n, dst.partitions, dst.dim[0].count, &tile);

	multiply(n, ps, stationary, moving, false);
	drain(n, dst, ps, tile);
}

static struct trn_view weights(const struct net *n, unsigned int column, unsigned int columns)
{
	return trn_view_columns(n->params, column, columns);
}

static struct trn_view gradient(const struct net *n, unsigned int column, unsigned int columns)
{
	return trn_view_columns(n->grad, column, columns);
}

static void constants(struct net *n)
{
	static const int16_t none[TRN_OPERAND_DIMS] = { 0 }, one[TRN_OPERAND_DIMS] = { 1 };

	n->identity = sbuf(n, DEMO_ROWS, DEMO_ROWS);
	n->lane = sbuf(n, DEMO_ROWS, 1);
	n->row = sbuf(n, DEMO_ROWS, DEMO_BYTES);
	trn_emit_identity(n->b, n->identity);
	trn_emit_iota(n->b, n->lane, none, 0, 1);
	trn_emit_iota(n->b, n->row, one, 0, 0);
}

static void load_params(struct net *n)
{
	uint64_t shape[2] = { DEMO_ROWS, DEMO_COLUMNS };
	int tensor = trn_builder_tensor(n->b, "params", TRN_TENSOR_STATE, TRN_DTYPE_FP32, shape, 2,
					NULL);

	n->params = sbuf(n, DEMO_ROWS, DEMO_COLUMNS);
	trn_builder_load(n->b, n->params, tensor, 0, DEMO_COLUMNS * 4);
}

/*
 * One-hot with the byte value on partitions: every partition gets the whole context and compares it
 * with its own number.
 */
static void one_hot(struct net *n)
{
	uint64_t shape[2] = { DEMO_CONTEXT, n->batch };
	unsigned int columns = DEMO_CONTEXT * n->batch, half;
	int tensor = trn_builder_tensor(n->b, "context", TRN_TENSOR_INPUT, TRN_DTYPE_UINT8, shape,
					2, NULL);
	struct trn_view raw = trn_view(trn_builder_tile(n->b, TRN_MEM_SBUF, DEMO_ROWS, columns),
				       TRN_DTYPE_UINT8, columns);

	trn_builder_load(n->b, raw, tensor, 0, 0);
	for (half = 0; half < 2; half++) {
		n->hot[half] = sbuf(n, DEMO_ROWS, columns);
		trn_emit_tensor_scalar(n->b, TRN_ENGINE_DVE, n->hot[half], raw, TRN_ALU_SUB,
				       trn_scalar((float)(half * DEMO_ROWS)), TRN_ALU_EQ,
				       trn_scalar_vector(n->lane), 0);
	}
}

/* x: quarter q of the partitions receives bytes 4 q .. 4 q + 3 of the context side by side. */
static void embed(struct net *n)
{
	unsigned int columns = DEMO_TILES * n->batch, half, q;
	struct trn_tile tile;
	struct trn_view ps = psum(n, DEMO_ROWS, columns, &tile);

	for (half = 0; half < 2; half++) {
		trn_emit_load_weights(n->b, weights(n, DEMO_COL_E + half * DEMO_DIM, DEMO_DIM));
		for (q = 0; q < DEMO_ROWS / DEMO_DIM; q++)
			trn_emit_matmul(n->b, trn_view_rows(ps, q * DEMO_DIM, DEMO_DIM),
					trn_view_columns(n->hot[half], q * columns, columns), half);
	}
	n->x = sbuf(n, DEMO_ROWS, columns);
	drain(n, n->x, ps, tile);
}

static void activate(struct net *n, struct trn_view *h, struct trn_view *d, struct trn_view ps,
		     unsigned int bias, bool training)
{
	struct trn_scalar b = trn_scalar_vector(weights(n, bias, 1));

	*h = sbuf(n, DEMO_HIDDEN, n->batch);
	trn_emit_activate(n->b, *h, ps, TRN_ACT_GELU, trn_scalar(1.0f), b, TRN_REDUCE_IDLE);
	if (!training)
		return;
	*d = sbuf(n, DEMO_HIDDEN, n->batch);
	trn_emit_activate(n->b, *d, ps, TRN_ACT_GELU_DX, trn_scalar(1.0f), b, TRN_REDUCE_IDLE);
}

static void forward(struct net *n, bool training)
{
	struct trn_tile tile;
	struct trn_view ps;
	unsigned int t;

	constants(n);
	load_params(n);
	one_hot(n);
	embed(n);
	ps = psum(n, DEMO_HIDDEN, n->batch, &tile);
	for (t = 0; t < DEMO_TILES; t++)
		multiply(n, ps, weights(n, DEMO_COL_W1 + t * DEMO_HIDDEN, DEMO_HIDDEN),
			 trn_view_columns(n->x, t * n->batch, n->batch), t > 0);
	activate(n, &n->h1, &n->d1, ps, DEMO_COL_B1, training);
	trn_builder_tile_free(n->b, tile);
	ps = psum(n, DEMO_HIDDEN, n->batch, &tile);
	multiply(n, ps, weights(n, DEMO_COL_W2, DEMO_HIDDEN), n->h1, false);
	activate(n, &n->h2, &n->d2, ps, DEMO_COL_B2, training);
	trn_builder_tile_free(n->b, tile);
	n->z = sbuf(n, n->batch, DEMO_BYTES);
	product(n, n->z, n->h2, weights(n, DEMO_COL_W3, DEMO_BYTES));
}

/* The samples by partition, as numbers. */
static void load_tokens(struct net *n)
{
	uint64_t shape[2] = { n->batch, DEMO_SAMPLE };
	int tensor = trn_builder_tensor(n->b, "samples", TRN_TENSOR_INPUT, TRN_DTYPE_UINT8, shape,
					2, NULL);
	struct trn_view raw = trn_view(trn_builder_tile(n->b, TRN_MEM_SBUF, n->batch, DEMO_SAMPLE),
				       TRN_DTYPE_UINT8, DEMO_SAMPLE);

	n->tokens = sbuf(n, n->batch, DEMO_SAMPLE);
	trn_builder_load(n->b, raw, tensor, 0, DEMO_SAMPLE);
	trn_emit_copy(n->b, TRN_ENGINE_DVE, n->tokens, raw);
}

/* @dst [batch, 256] = one-hot of token @i of each sample. */
static void hot_token(struct net *n, struct trn_view dst, unsigned int i)
{
	trn_emit_tensor_scalar(n->b, TRN_ENGINE_DVE, dst, trn_view_rows(n->row, 0, n->batch),
			       TRN_ALU_EQ, trn_scalar_vector(trn_view_columns(n->tokens, i, 1)),
			       TRN_ALU_BYPASS, trn_scalar(0), 0);
}

/* loss = log(sum exp(z - max)) - (z[target] - max), added over the batch by a product with ones. */
static void loss(struct net *n)
{
	uint64_t shape = 1;
	int tensor = trn_builder_tensor(n->b, "loss", TRN_TENSOR_OUTPUT, TRN_DTYPE_FP32, &shape, 1,
					NULL);
	struct trn_view target = sbuf(n, n->batch, DEMO_BYTES),
			picked = sbuf(n, n->batch, DEMO_BYTES);
	struct trn_view each = sbuf(n, n->batch, 4), ones = sbuf(n, n->batch, 1),
			sum = sbuf(n, 1, 1), ps;
	struct trn_view peak = trn_view_columns(each, 0, 1), mass = trn_view_columns(each, 1, 1);
	struct trn_view hit = trn_view_columns(each, 2, 1), log = trn_view_columns(each, 3, 1);
	struct trn_tile tile;

	load_tokens(n);
	hot_token(n, target, DEMO_CONTEXT);
	trn_emit_reduce(n->b, peak, n->z, TRN_ALU_MAX, 1, true);
	n->dz = sbuf(n, n->batch, DEMO_BYTES);
	trn_emit_activate(n->b, n->dz, n->z, TRN_ACT_EXP, trn_scalar(1.0f), trn_scalar_vector(peak),
			  TRN_REDUCE_RESET_REDUCE);
	trn_emit_acc_read(n->b, TRN_ENGINE_ACT, mass);
	trn_emit_activate(n->b, log, mass, TRN_ACT_LOG, trn_scalar(1.0f), trn_scalar(0),
			  TRN_REDUCE_IDLE);
	trn_emit_tensor_tensor(n->b, TRN_ENGINE_DVE, picked, n->z, TRN_ALU_MUL, target);
	trn_emit_reduce(n->b, hit, picked, TRN_ALU_ADD, 1, false);
	trn_emit_tensor_tensor(n->b, TRN_ENGINE_DVE, hit, hit, TRN_ALU_ADD, peak);
	trn_emit_tensor_tensor(n->b, TRN_ENGINE_DVE, log, log, TRN_ALU_SUB, hit);
	trn_emit_memset(n->b, TRN_ENGINE_POOL, ones, n->share);
	ps = psum(n, 1, 1, &tile);
	multiply(n, ps, log, ones, false);
	drain(n, sum, ps, tile);
	trn_builder_store(n->b, tensor, 0, 0, sum);

	/* dz = (softmax - target) / samples */
	trn_emit_reciprocal(n->b, mass, mass);
	trn_emit_scalar_tensor_tensor(n->b, n->dz, n->dz, TRN_ALU_MUL, trn_scalar_vector(mass),
				      TRN_ALU_SUB, target, 0);
	trn_emit_tensor_scalar(n->b, TRN_ENGINE_DVE, n->dz, n->dz, TRN_ALU_MUL,
			       trn_scalar(n->share), TRN_ALU_BYPASS, trn_scalar(0), 0);
}

/*
 * Gradient before an activation from the one after it, which lies in PSUM; the bias gradient is its
 * sum over the batch.
 */
static struct trn_view through(struct net *n, struct trn_view ps, struct trn_view derivative,
			       unsigned int bias)
{
	struct trn_view da = sbuf(n, DEMO_HIDDEN, n->batch);

	trn_emit_tensor_tensor(n->b, TRN_ENGINE_DVE, da, ps, TRN_ALU_MUL, derivative);
	trn_emit_reduce(n->b, gradient(n, bias, 1), da, TRN_ALU_ADD, 1, false);
	return da;
}

static struct trn_view backward_output(struct net *n)
{
	struct trn_view w3t, dzt, da;
	struct trn_tile tile;
	struct trn_view ps = psum(n, DEMO_HIDDEN, n->batch, &tile);
	unsigned int half;

	for (half = 0; half < 2; half++) {
		w3t = turned(n, weights(n, DEMO_COL_W3 + half * DEMO_ROWS, DEMO_ROWS));
		dzt = turned(n, trn_view_columns(n->dz, half * DEMO_ROWS, DEMO_ROWS));
		multiply(n, ps, w3t, dzt, half);
	}
	da = through(n, ps, n->d2, DEMO_COL_B2);
	trn_builder_tile_free(n->b, tile);
	product(n, gradient(n, DEMO_COL_W3, DEMO_BYTES), turned(n, n->h2), n->dz);
	return da;
}

static struct trn_view backward_middle(struct net *n, struct trn_view da2)
{
	struct trn_view da;
	struct trn_tile tile;
	struct trn_view ps = psum(n, DEMO_HIDDEN, n->batch, &tile);

	multiply(n, ps, turned(n, weights(n, DEMO_COL_W2, DEMO_HIDDEN)), da2, false);
	da = through(n, ps, n->d1, DEMO_COL_B1);
	trn_builder_tile_free(n->b, tile);
	product(n, gradient(n, DEMO_COL_W2, DEMO_HIDDEN), turned(n, n->h1), turned(n, da2));
	return da;
}

/* Embedding rows collect the gradient of every place their byte stands at. */
static void backward_embedding(struct net *n, struct trn_view dx)
{
	struct trn_view hot = sbuf(n, n->batch, DEMO_CONTEXT * DEMO_BYTES), ps;
	struct trn_tile tile;
	unsigned int half, i;

	for (i = 0; i < DEMO_CONTEXT; i++)
		hot_token(n, trn_view_columns(hot, i * DEMO_BYTES, DEMO_BYTES), i);
	for (half = 0; half < 2; half++) {
		ps = psum(n, DEMO_ROWS, DEMO_DIM, &tile);
		for (i = 0; i < DEMO_CONTEXT; i++)
			multiply(n, ps,
				 trn_view_columns(hot, i * DEMO_BYTES + half * DEMO_ROWS,
						  DEMO_ROWS),
				 trn_view_columns(
					 dx, i % DEMO_TILES * DEMO_ROWS + i / DEMO_TILES * DEMO_DIM,
					 DEMO_DIM),
				 i > 0);
		drain(n, gradient(n, DEMO_COL_E + half * DEMO_DIM, DEMO_DIM), ps, tile);
	}
}

static void backward_input(struct net *n, struct trn_view da1)
{
	struct trn_view da1t = turned(n, da1), xt = sbuf(n, n->batch, DEMO_ROWS);
	struct trn_view w1t = sbuf(n, DEMO_HIDDEN, DEMO_FEATURES),
			dx = sbuf(n, n->batch, DEMO_FEATURES);
	unsigned int t;

	for (t = 0; t < DEMO_TILES; t++) {
		unsigned int column = DEMO_COL_W1 + t * DEMO_HIDDEN;

		turn(n, xt, trn_view_columns(n->x, t * n->batch, n->batch));
		product(n, gradient(n, column, DEMO_HIDDEN), xt, da1t);
		turn(n, trn_view_columns(w1t, t * DEMO_ROWS, DEMO_ROWS),
		     weights(n, column, DEMO_HIDDEN));
	}
	product(n, dx, da1, w1t);
	backward_embedding(n, dx);
}

static enum trn_status finish(struct net *n, struct trn_image **image)
{
	enum trn_status status = trn_builder_finish(n->b, image);

	trn_builder_free(n->b);
	return status;
}

enum trn_status demo_model_grad(uint32_t batch, uint32_t total, struct trn_image **image)
{
	uint64_t shape[2] = { DEMO_ROWS, DEMO_COLUMNS };
	struct net n = { .batch = batch, .share = 1.0f / (float)total };
	int tensor;

	n.b = trn_builder_create("grad", DEMO_GENERATION);
	if (!n.b)
		return finish(&n, image);
	forward(&n, true);
	loss(&n);
	n.grad = sbuf(&n, DEMO_ROWS, DEMO_COLUMNS);
	backward_input(&n, backward_middle(&n, backward_output(&n)));
	tensor = trn_builder_tensor(n.b, "grad", TRN_TENSOR_OUTPUT, TRN_DTYPE_FP32, shape, 2, NULL);
	trn_builder_store(n.b, tensor, 0, DEMO_COLUMNS * 4, n.grad);
	return finish(&n, image);
}

enum trn_status demo_model_forward(uint32_t batch, struct trn_image **image)
{
	uint64_t shape[2] = { batch, DEMO_BYTES };
	struct net n = { .batch = batch };
	int tensor;

	n.b = trn_builder_create("forward", DEMO_GENERATION);
	if (!n.b)
		return finish(&n, image);
	forward(&n, false);
	tensor = trn_builder_tensor(n.b, "logits", TRN_TENSOR_OUTPUT, TRN_DTYPE_FP32, shape, 2,
				    NULL);
	trn_builder_store(n.b, tensor, 0, DEMO_BYTES * 4, n.z);
	return finish(&n, image);
}

uint64_t demo_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Uniform in [-limit, limit). */
static float uniform(uint64_t *state, float limit)
{
	return ((float)(demo_random(state) >> 40) / 8388608.0f - 1.0f) * limit;
}

void demo_model_init(float *params, uint64_t seed)
{
	uint64_t state = seed * 2 + 1;
	int r, c;

	for (r = 0; r < DEMO_ROWS; r++) {
		for (c = 0; c < DEMO_COLUMNS; c++) {
			float limit = c < DEMO_COL_W1	? 0.5f
				      : c < DEMO_COL_W2 ? 0.0765f
				      : c < DEMO_COL_W3 ? 0.153f
				      : c < DEMO_COL_B1 ? 0.03f
							: 0.0f;

			params[r * DEMO_COLUMNS + c] = uniform(&state, limit);
		}
	}
}
