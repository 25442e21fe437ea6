// SPDX-License-Identifier: BSD-2-Clause
/* Kernel library on an emulated core, against double precision on the host. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "program_rig.h"
#include "trn/kernels.h"

static uint32_t state;

static float uniform(float low, float high)
{
	state = state * 1664525u + 1013904223u;
	return low + (high - low) * (float)(state >> 8) / 16777216.0f;
}

static void fill(float *x, size_t n, float low, float high)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = uniform(low, high);
}

static void loaded(struct rig *rig, enum trn_status status, struct trn_image **image)
{
	ck_assert_msg(status == TRN_OK, "%s", trn_error_text());
	rig_load(rig, *image);
}

static void run(struct rig *rig)
{
	ck_assert_msg(rig_run(rig, NULL, 0) == 0, "%s", rig_text(rig));
}

static void close_to(double got, double want, double scale, double tolerance, size_t i)
{
	ck_assert_msg(fabs(got - want) <= tolerance * (scale > 1e-30 ? scale : 1),
		      "element %zu: %.9g, must be %.9g", i, got, want);
}

/*
 * Counts around every boundary of the tiling: one, a partial row, whole rows, a full tile, more
 * than one.
 */
static const uint64_t counts[] = { 1,	  2, 127, 128, 129, 1000, 4097, 128 * 2048, 128 * 2048 + 1,
				   300007 };

START_TEST(test_add)
{
	uint64_t n = counts[_i], i;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	float *a, *b, *keep;

	loaded(rig, trn_kernel_add(n, &image), &image);
	a = rig_tensor(rig, "a");
	b = rig_tensor(rig, "b");
	keep = malloc(n * 4);
	fill(a, n, -10, 10);
	fill(b, n, -10, 10);
	memcpy(keep, a, n * 4);
	run(rig);
	for (i = 0; i < n; i++)
		ck_assert_float_eq(a[i], keep[i] + b[i]);
	free(keep);
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

START_TEST(test_binary)
{
	static const enum trn_alu ops[] = { TRN_ALU_ADD, TRN_ALU_SUB, TRN_ALU_MUL,
					    TRN_ALU_MAX, TRN_ALU_MIN, TRN_ALU_GT };
	uint64_t n = 777, i;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	float *a, *b, *c;

	loaded(rig, trn_kernel_binary(ops[_i], n, &image), &image);
	a = rig_tensor(rig, "a");
	b = rig_tensor(rig, "b");
	c = rig_tensor(rig, "c");
	fill(a, n, -10, 10);
	fill(b, n, -10, 10);
	run(rig);
	for (i = 0; i < n; i++) {
		float want = _i == 0   ? a[i] + b[i]
			     : _i == 1 ? a[i] - b[i]
			     : _i == 2 ? a[i] * b[i]
			     : _i == 3 ? fmaxf(a[i], b[i])
			     : _i == 4 ? fminf(a[i], b[i])
				       : a[i] > b[i];

		ck_assert_float_eq(c[i], want);
	}
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

static double gelu(double x)
{
	return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
}

START_TEST(test_unary)
{
	static const enum trn_act functions[] = { TRN_ACT_COPY,	   TRN_ACT_EXP,	 TRN_ACT_LOG,
						  TRN_ACT_TANH,	   TRN_ACT_GELU, TRN_ACT_RELU,
						  TRN_ACT_SIGMOID, TRN_ACT_SQRT, TRN_ACT_RSQRT,
						  TRN_ACT_SQUARE };
	uint64_t n = 1500, i;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	float *x, *y;

	loaded(rig, trn_kernel_unary(functions[_i], n, &image), &image);
	x = rig_tensor(rig, "x");
	y = rig_tensor(rig, "y");
	fill(x, n,
	     functions[_i] == TRN_ACT_LOG || functions[_i] == TRN_ACT_SQRT ||
			     functions[_i] == TRN_ACT_RSQRT
		     ? 0.01f
		     : -4,
	     4);
	run(rig);
	for (i = 0; i < n; i++) {
		double v = x[i], want = 0;

		switch (functions[_i]) {
		case TRN_ACT_COPY:
			want = v;
			break;
		case TRN_ACT_EXP:
			want = exp(v);
			break;
		case TRN_ACT_LOG:
			want = log(v);
			break;
		case TRN_ACT_TANH:
			want = tanh(v);
			break;
		case TRN_ACT_GELU:
			want = gelu(v);
			break;
		case TRN_ACT_RELU:
			want = v > 0 ? v : 0;
			break;
		case TRN_ACT_SIGMOID:
			want = 1 / (1 + exp(-v));
			break;
		case TRN_ACT_SQRT:
			want = sqrt(v);
			break;
		case TRN_ACT_RSQRT:
			want = 1 / sqrt(v);
			break;
		default:
			want = v * v;
			break;
		}
		close_to(y[i], want, fabs(want), 4e-7, i);
	}
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

/** struct shape - a matrix product to test. */
struct shape {
	uint32_t m, n, k, dtype, bias, activation;
};

static const struct shape shapes[] = {
	{ 1, 1, 1, TRN_DTYPE_FP32, 0, 0 },
	{ 128, 128, 128, TRN_DTYPE_FP32, 0, 0 },
	{ 128, 512, 256, TRN_DTYPE_FP32, 0, 0 },
	{ 130, 515, 129, TRN_DTYPE_FP32, 0, 0 },
	{ 3, 700, 5, TRN_DTYPE_FP32, 1, 0 },
	{ 257, 33, 300, TRN_DTYPE_FP32, 1, TRN_ACT_GELU },
	{ 200, 1025, 64, TRN_DTYPE_FP32, 1, TRN_ACT_RELU },
	{ 65, 17, 8192 + 200, TRN_DTYPE_FP32, 0, 0 },
	{ 140, 5000, 500, TRN_DTYPE_FP32, 0, 0 },
	{ 1, 300, 1000, TRN_DTYPE_FP32, 0, 0 },
	{ 128, 128, 128, TRN_DTYPE_BF16, 0, 0 },
	{ 100, 77, 333, TRN_DTYPE_BF16, 1, TRN_ACT_TANH },
};

static uint16_t to_bf16(float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static double input(const void *data, uint32_t dtype, size_t i)
{
	uint32_t u;
	float f;

	if (dtype == TRN_DTYPE_FP32)
		return ((const float *)data)[i];
	u = (uint32_t)((const uint16_t *)data)[i] << 16;
	memcpy(&f, &u, 4);
	return f;
}

static void fill_input(void *data, uint32_t dtype, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (dtype == TRN_DTYPE_FP32)
			((float *)data)[i] = uniform(-1, 1);
		else
			((uint16_t *)data)[i] = to_bf16(uniform(-1, 1));
	}
}

static double product(const struct shape *s, const void *a, const void *b, const float *bias,
		      size_t i, double *scale)
{
	size_t m = i / s->n, n = i % s->n, k;
	double sum = 0;

	*scale = 0;
	for (k = 0; k < s->k; k++) {
		double t = input(a, s->dtype, m * s->k + k) * input(b, s->dtype, k * s->n + n);

		sum += t;
		*scale += fabs(t);
	}
	if (bias)
		sum += bias[n];
	return s->activation == TRN_ACT_GELU   ? gelu(sum)
	       : s->activation == TRN_ACT_RELU ? fmax(sum, 0)
	       : s->activation == TRN_ACT_TANH ? tanh(sum)
					       : sum;
}

START_TEST(test_matmul)
{
	const struct shape *s = &shapes[_i];
	struct trn_matmul_options o = { .size = sizeof(o),
					.m = s->m,
					.n = s->n,
					.k = s->k,
					.dtype = s->dtype,
					.bias = s->bias,
					.activation = s->activation };
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	size_t i, total = (size_t)s->m * s->n, step;
	void *a, *b;
	float *bias, *c;

	loaded(rig, trn_kernel_matmul(&o, &image), &image);
	a = rig_tensor(rig, "a");
	b = rig_tensor(rig, "b");
	bias = s->bias ? rig_tensor(rig, "bias") : NULL;
	fill_input(a, s->dtype, (size_t)s->m * s->k);
	fill_input(b, s->dtype, (size_t)s->k * s->n);
	if (bias)
		fill(bias, s->n, -1, 1);
	run(rig);
	c = rig_tensor(rig, "c");
	/* Every element of small products, a regular sample of large ones. */
	step = 1 + total * s->k / 20000000;
	for (i = 0; i < total; i += step) {
		double scale, want = product(s, a, b, bias, i, &scale);

		close_to(c[i], want, scale + 1, 1.0 / (1 << 20), i);
	}
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

START_TEST(test_matmul_again)
{
	struct trn_matmul_options o = { .size = sizeof(o), .m = 150, .n = 600, .k = 200 };
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	float *c, *keep;
	int i;

	loaded(rig, trn_kernel_matmul(&o, &image), &image);
	fill(rig_tensor(rig, "a"), 150 * 200, -1, 1);
	fill(rig_tensor(rig, "b"), 200 * 600, -1, 1);
	run(rig);
	c = rig_tensor(rig, "c");
	keep = malloc(150 * 600 * 4);
	memcpy(keep, c, 150 * 600 * 4);
	for (i = 0; i < 50; i++) {
		memset(c, 0, 150 * 600 * 4);
		run(rig);
		ck_assert_mem_eq(c, keep, 150 * 600 * 4);
	}
	free(keep);
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

static const uint64_t row_shapes[][2] = { { 1, 1 },	 { 1, 100 },  { 128, 64 }, { 129, 3 },
					  { 300, 1000 }, { 5, 8192 }, { 40, 513 } };

START_TEST(test_reduce)
{
	static const enum trn_alu ops[] = { TRN_ALU_ADD, TRN_ALU_MAX, TRN_ALU_MIN };
	enum trn_alu op = ops[_i % 3];
	uint64_t rows = row_shapes[_i / 3][0], columns = row_shapes[_i / 3][1], r, c;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	float *x, *y;

	if (_i / 3 == 5)
		columns = 20001;
	loaded(rig, trn_kernel_reduce(op, rows, columns, &image), &image);
	x = rig_tensor(rig, "x");
	fill(x, rows * columns, -1, 1);
	run(rig);
	y = rig_tensor(rig, "y");
	for (r = 0; r < rows; r++) {
		double want = x[r * columns];

		for (c = 1; c < columns; c++) {
			double v = x[r * columns + c];

			want = op == TRN_ALU_ADD   ? want + v
			       : op == TRN_ALU_MAX ? fmax(want, v)
						   : fmin(want, v);
		}
		close_to(y[r], want, (double)columns, 1e-6, r);
	}
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

START_TEST(test_softmax)
{
	uint64_t rows = row_shapes[_i][0], columns = row_shapes[_i][1], r, c;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	float *x, *y;

	loaded(rig, trn_kernel_softmax(rows, columns, &image), &image);
	x = rig_tensor(rig, "x");
	fill(x, rows * columns, -20, 20);
	run(rig);
	y = rig_tensor(rig, "y");
	for (r = 0; r < rows; r++) {
		double peak = -1e300, sum = 0;

		for (c = 0; c < columns; c++)
			peak = fmax(peak, x[r * columns + c]);
		for (c = 0; c < columns; c++)
			sum += exp(x[r * columns + c] - peak);
		for (c = 0; c < columns; c++)
			close_to(y[r * columns + c], exp(x[r * columns + c] - peak) / sum, 1, 3e-6,
				 r * columns + c);
	}
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

START_TEST(test_layer_norm)
{
	uint64_t rows = row_shapes[_i][0], columns = row_shapes[_i][1], r, c;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	float *x, *y, *gain, *shift;

	loaded(rig, trn_kernel_layer_norm(rows, columns, 1e-5f, &image), &image);
	x = rig_tensor(rig, "x");
	gain = rig_tensor(rig, "gain");
	shift = rig_tensor(rig, "shift");
	fill(x, rows * columns, -3, 5);
	fill(gain, columns, -2, 2);
	fill(shift, columns, -2, 2);
	run(rig);
	y = rig_tensor(rig, "y");
	for (r = 0; r < rows; r++) {
		double mean = 0, var = 0;

		for (c = 0; c < columns; c++)
			mean += x[r * columns + c] / (double)columns;
		for (c = 0; c < columns; c++)
			var += (x[r * columns + c] - mean) * (x[r * columns + c] - mean) /
			       (double)columns;
		for (c = 0; c < columns; c++)
			close_to(y[r * columns + c],
				 (x[r * columns + c] - mean) / sqrt(var + 1e-5) * gain[c] +
					 shift[c],
				 10, 1e-5, r * columns + c);
	}
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

START_TEST(test_embedding)
{
	static const uint64_t shape[][3] = {
		{ 256, 32, 16 }, { 1, 1, 1 }, { 300, 520, 140 }, { 1000, 7, 257 }
	};
	uint64_t v = shape[_i][0], d = shape[_i][1], n = shape[_i][2], i;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	float *table, *y;
	int32_t *ids;

	loaded(rig, trn_kernel_embedding(v, d, n, &image), &image);
	table = rig_tensor(rig, "table");
	ids = rig_tensor(rig, "ids");
	fill(table, v * d, -1, 1);
	for (i = 0; i < n; i++)
		ids[i] = (int32_t)(i * 7919 % v);
	if (n > 2)
		ids[2] = (int32_t)v;
	run(rig);
	y = rig_tensor(rig, "y");
	for (i = 0; i < n * d; i++)
		ck_assert_float_eq(y[i], (uint64_t)ids[i / d] < v
						 ? table[(uint64_t)ids[i / d] * d + i % d]
						 : 0);
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

START_TEST(test_adam)
{
	uint64_t n = counts[_i], i, step;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	struct trn_adam_args args;
	uint32_t words[7];
	float *p, *g;
	double *want;

	if (n > 200000)
		n = 131073;
	loaded(rig, trn_kernel_adam(n, &image), &image);
	p = rig_tensor(rig, "p");
	g = rig_tensor(rig, "g");
	want = calloc(3 * n, sizeof(*want));
	fill(p, n, -1, 1);
	for (i = 0; i < n; i++)
		want[i] = p[i];
	for (step = 1; step <= 4; step++) {
		fill(g, n, -1, 1);
		trn_adam_args(&args, 0.01, 0.9, 0.999, 1e-8, step);
		memcpy(words, &args, sizeof(words));
		ck_assert_msg(rig_run(rig, words, 7) == 0, "%s", rig_text(rig));
		for (i = 0; i < n; i++) {
			double *m = &want[n + i], *v = &want[2 * n + i];

			*m = 0.9 * *m + 0.1 * g[i];
			*v = 0.999 * *v + 0.001 * g[i] * g[i];
			want[i] -= 0.01 / (1 - pow(0.9, (double)step)) * *m /
				   (sqrt(*v / (1 - pow(0.999, (double)step))) + 1e-8);
		}
	}
	for (i = 0; i < n; i++)
		close_to(p[i], want[i], 1, 3e-6, i);
	free(want);
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

START_TEST(test_bad_arguments)
{
	struct trn_matmul_options o = { .size = sizeof(o), .m = 1, .n = 1, .k = 1 };
	struct trn_image *image = NULL;

	ck_assert_int_eq(trn_kernel_add(0, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_add(UINT64_MAX, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_add(1, NULL), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_binary(TRN_ALU_SHL, 1, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_unary(TRN_ACT_PRELU, 1, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_reduce(TRN_ALU_MUL, 1, 1, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_softmax(0, 1, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_softmax(1, 8193, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_softmax(UINT64_MAX, UINT64_MAX, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_layer_norm(1, 0, 0, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_embedding(0, 1, 1, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_adam(0, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_kernel_matmul(NULL, &image), TRN_ERR_INVALID);
	o.k = 0;
	ck_assert_int_eq(trn_kernel_matmul(&o, &image), TRN_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "K 0"));
	o.k = UINT64_MAX;
	ck_assert_int_eq(trn_kernel_matmul(&o, &image), TRN_ERR_INVALID);
	o.k = 1;
	o.dtype = TRN_DTYPE_INT8;
	ck_assert_int_eq(trn_kernel_matmul(&o, &image), TRN_ERR_INVALID);
	ck_assert_ptr_null(image);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("kernels");
	TCase *tc = tcase_create("kernels");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_add, 0, COUNT(counts));
	tcase_add_loop_test(tc, test_binary, 0, 6);
	tcase_add_loop_test(tc, test_unary, 0, 10);
	tcase_add_loop_test(tc, test_matmul, 0, COUNT(shapes));
	tcase_add_test(tc, test_matmul_again);
	tcase_add_loop_test(tc, test_reduce, 0, 3 * COUNT(row_shapes));
	tcase_add_loop_test(tc, test_softmax, 0, COUNT(row_shapes));
	tcase_add_loop_test(tc, test_layer_norm, 1, COUNT(row_shapes));
	tcase_add_loop_test(tc, test_embedding, 0, 4);
	tcase_add_loop_test(tc, test_adam, 0, COUNT(counts));
	tcase_add_test(tc, test_bad_arguments);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
