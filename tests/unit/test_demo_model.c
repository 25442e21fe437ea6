// SPDX-License-Identifier: BSD-2-Clause
/*
 * The demo's model on an emulated core against its double-precision reference, and the reference
 * against finite differences.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "program_rig.h"
#include "runtime/demo/model.h"
#include "runtime/demo/reference.h"
#include "trn/kernels.h"

static const struct demo_hyper hyper = { 0.003, 0.9, 0.999, 1e-8 };

/* A text with structure, so that training has something to find. */
static void make_samples(uint8_t *samples, uint32_t batch, uint64_t *state)
{
	uint32_t b, i;

	for (b = 0; b < batch; b++) {
		uint32_t phase = (uint32_t)(demo_random(state) % 1000);

		for (i = 0; i < DEMO_SAMPLE; i++)
			samples[b * DEMO_SAMPLE + i] =
				(uint8_t)((phase + i) * (phase + i) % 251 + (b % 7 == 0 ? 4 : 0));
	}
}

static void put_batch(struct rig *rig, const uint8_t *samples, uint32_t batch, bool training)
{
	uint8_t *context = rig_tensor(rig, "context");
	uint32_t b, i;

	for (b = 0; b < batch; b++) {
		for (i = 0; i < DEMO_CONTEXT; i++)
			context[i * batch + b] = samples[b * DEMO_SAMPLE + i];
	}
	if (training)
		memcpy(rig_tensor(rig, "samples"), samples, batch * DEMO_SAMPLE);
}

static const uint32_t batches[] = { 1, 7, 64, 128 };

START_TEST(test_gradient)
{
	uint32_t batch = batches[_i], i;
	uint8_t samples[128 * DEMO_SAMPLE];
	float *params = malloc(DEMO_PARAMETERS * sizeof(float)), *grad;
	struct demo_reference *ref;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	uint64_t state = 5;
	double loss, peak = 0;

	demo_model_init(params, 1);
	make_samples(samples, batch, &state);
	ref = demo_reference_create(params, batch);
	loss = demo_reference_step(ref, samples, &hyper);
	ck_assert_msg(demo_model_grad(batch, batch, &image) == TRN_OK, "%s", trn_error_text());
	rig_load(rig, image);
	memcpy(rig_tensor(rig, "params"), params, DEMO_PARAMETERS * sizeof(float));
	put_batch(rig, samples, batch, true);
	ck_assert_msg(rig_run(rig, NULL, 0) == 0, "%s", rig_text(rig));
	ck_assert_double_eq_tol(*(float *)rig_tensor(rig, "loss"), loss, 1e-5 * loss);
	grad = rig_tensor(rig, "grad");
	for (i = 0; i < DEMO_PARAMETERS; i++)
		peak = fmax(peak, fabs(demo_reference_grad(ref)[i]));
	for (i = 0; i < DEMO_PARAMETERS; i++)
		ck_assert_msg(fabs(grad[i] - demo_reference_grad(ref)[i]) <= 2e-6 * peak,
			      "row %u column %u: %g, must be %g", i / DEMO_COLUMNS,
			      i % DEMO_COLUMNS, grad[i], demo_reference_grad(ref)[i]);
	demo_reference_free(ref);
	rig_free(rig);
	trn_image_free(image);
	free(params);
}
END_TEST

/* Two halves of a batch, each divided by the whole, add up to the gradient of the whole. */
START_TEST(test_shares)
{
	uint8_t samples[128 * DEMO_SAMPLE];
	float *params = malloc(DEMO_PARAMETERS * sizeof(float)),
	      *sum = calloc(DEMO_PARAMETERS, sizeof(float)), *grad;
	struct rig *rig = rig_create(2);
	struct trn_image *half = NULL, *whole = NULL;
	uint64_t state = 9;
	float loss = 0;
	uint32_t i, part;

	demo_model_init(params, 2);
	make_samples(samples, 128, &state);
	ck_assert_int_eq(demo_model_grad(64, 128, &half), TRN_OK);
	ck_assert_int_eq(demo_model_grad(128, 128, &whole), TRN_OK);
	rig_load(rig, half);
	memcpy(rig_tensor(rig, "params"), params, DEMO_PARAMETERS * sizeof(float));
	for (part = 0; part < 2; part++) {
		put_batch(rig, samples + part * 64 * DEMO_SAMPLE, 64, true);
		ck_assert_msg(rig_run(rig, NULL, 0) == 0, "%s", rig_text(rig));
		grad = rig_tensor(rig, "grad");
		for (i = 0; i < DEMO_PARAMETERS; i++)
			sum[i] += grad[i];
		loss += *(float *)rig_tensor(rig, "loss");
	}
	rig_load(rig, whole);
	memcpy(rig_tensor(rig, "params"), params, DEMO_PARAMETERS * sizeof(float));
	put_batch(rig, samples, 128, true);
	ck_assert_msg(rig_run(rig, NULL, 0) == 0, "%s", rig_text(rig));
	grad = rig_tensor(rig, "grad");
	ck_assert_double_eq_tol(*(float *)rig_tensor(rig, "loss"), loss, 1e-5);
	for (i = 0; i < DEMO_PARAMETERS; i++)
		ck_assert_float_eq_tol(grad[i], sum[i], 1e-6);
	rig_free(rig);
	trn_image_free(half);
	trn_image_free(whole);
	free(params);
	free(sum);
}
END_TEST

START_TEST(test_training)
{
	uint32_t batch = 32, step, i;
	uint8_t samples[128 * DEMO_SAMPLE];
	float *params = malloc(DEMO_PARAMETERS * sizeof(float)),
	      *m = calloc(DEMO_PARAMETERS, sizeof(float));
	float *v = calloc(DEMO_PARAMETERS, sizeof(float)),
	      *grad = malloc(DEMO_PARAMETERS * sizeof(float));
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL, *adam = NULL;
	struct demo_reference *ref;
	struct trn_adam_args args;
	uint32_t words[7];
	uint64_t state = 5;
	double first = 0, loss = 0, got = 0;

	demo_model_init(params, 3);
	ref = demo_reference_create(params, batch);
	ck_assert_int_eq(demo_model_grad(batch, batch, &image), TRN_OK);
	ck_assert_int_eq(trn_kernel_adam(DEMO_PARAMETERS, &adam), TRN_OK);
	for (step = 1; step <= 30; step++) {
		make_samples(samples, batch, &state);
		loss = demo_reference_step(ref, samples, &hyper);
		rig_load(rig, image);
		memcpy(rig_tensor(rig, "params"), params, DEMO_PARAMETERS * sizeof(float));
		put_batch(rig, samples, batch, true);
		ck_assert_msg(rig_run(rig, NULL, 0) == 0, "%s", rig_text(rig));
		got = *(float *)rig_tensor(rig, "loss");
		ck_assert_double_eq_tol(got, loss, 1e-4 * loss);
		memcpy(grad, rig_tensor(rig, "grad"), DEMO_PARAMETERS * sizeof(float));
		rig_load(rig, adam);
		memcpy(rig_tensor(rig, "p"), params, DEMO_PARAMETERS * sizeof(float));
		memcpy(rig_tensor(rig, "m"), m, DEMO_PARAMETERS * sizeof(float));
		memcpy(rig_tensor(rig, "v"), v, DEMO_PARAMETERS * sizeof(float));
		memcpy(rig_tensor(rig, "g"), grad, DEMO_PARAMETERS * sizeof(float));
		trn_adam_args(&args, hyper.lr, hyper.beta1, hyper.beta2, hyper.epsilon, step);
		memcpy(words, &args, sizeof(words));
		ck_assert_msg(rig_run(rig, words, 7) == 0, "%s", rig_text(rig));
		memcpy(params, rig_tensor(rig, "p"), DEMO_PARAMETERS * sizeof(float));
		memcpy(m, rig_tensor(rig, "m"), DEMO_PARAMETERS * sizeof(float));
		memcpy(v, rig_tensor(rig, "v"), DEMO_PARAMETERS * sizeof(float));
		if (step == 1)
			first = loss;
	}
	ck_assert_msg(got < first - 0.5, "loss %g after 30 steps, %g before", got, first);
	for (i = 0; i < DEMO_PARAMETERS; i++)
		ck_assert_double_eq_tol(params[i], demo_reference_params(ref)[i], 0.01);
	demo_reference_free(ref);
	rig_free(rig);
	trn_image_free(image);
	trn_image_free(adam);
	free(params);
	free(m);
	free(v);
	free(grad);
}
END_TEST

/* The forward program's logits give the loss of the reference. */
START_TEST(test_forward)
{
	uint32_t batch = 5, b, c;
	uint8_t samples[128 * DEMO_SAMPLE];
	float *params = malloc(DEMO_PARAMETERS * sizeof(float)), *z;
	struct demo_reference *ref;
	struct rig *rig = rig_create(2);
	struct trn_image *image = NULL;
	uint64_t state = 4;
	double loss = 0, want;

	demo_model_init(params, 1);
	make_samples(samples, batch, &state);
	ref = demo_reference_create(params, batch);
	want = demo_reference_step(ref, samples, &hyper);
	ck_assert_msg(demo_model_forward(batch, &image) == TRN_OK, "%s", trn_error_text());
	rig_load(rig, image);
	memcpy(rig_tensor(rig, "params"), params, DEMO_PARAMETERS * sizeof(float));
	put_batch(rig, samples, batch, false);
	ck_assert_msg(rig_run(rig, NULL, 0) == 0, "%s", rig_text(rig));
	z = rig_tensor(rig, "logits");
	for (b = 0; b < batch; b++) {
		double mass = 0;

		for (c = 0; c < DEMO_BYTES; c++)
			mass += exp(z[b * DEMO_BYTES + c]);
		loss += log(mass) - z[b * DEMO_BYTES + samples[b * DEMO_SAMPLE + DEMO_CONTEXT]];
	}
	ck_assert_double_eq_tol(loss / batch, want, 1e-5);
	demo_reference_free(ref);
	rig_free(rig);
	trn_image_free(image);
	free(params);
}
END_TEST

/* Derivative of the reference's loss by finite differences at one parameter of each kind. */
START_TEST(test_reference)
{
	static const int columns[] = { DEMO_COL_E + 3,	DEMO_COL_W1 + 5, DEMO_COL_W1 + 300,
				       DEMO_COL_W2 + 7, DEMO_COL_W3 + 9, DEMO_COL_B1,
				       DEMO_COL_B2 };
	static const struct demo_hyper still = { 0, 0.9, 0.999, 1e-8 };
	float *params = malloc(DEMO_PARAMETERS * sizeof(float)), saved;
	uint8_t samples[8 * DEMO_SAMPLE];
	struct demo_reference *ref;
	uint64_t state = 8;
	size_t at = (size_t)(_i < 1 ? 0 : 40) * DEMO_COLUMNS + (size_t)columns[_i];
	double grad, up, down;

	demo_model_init(params, 7);
	make_samples(samples, 8, &state);
	samples[3] = 0;
	ref = demo_reference_create(params, 8);
	demo_reference_step(ref, samples, &still);
	grad = demo_reference_grad(ref)[at];
	demo_reference_free(ref);
	saved = params[at];
	params[at] = saved + 0.01f;
	ref = demo_reference_create(params, 8);
	up = demo_reference_step(ref, samples, &still);
	demo_reference_free(ref);
	params[at] = saved - 0.01f;
	ref = demo_reference_create(params, 8);
	down = demo_reference_step(ref, samples, &still);
	demo_reference_free(ref);
	ck_assert_double_eq_tol((up - down) / 0.02, grad, 1e-4 * fabs(grad) + 1e-6);
	ck_assert_double_ne(grad, 0);
	free(params);
}
END_TEST

START_TEST(test_bad_batch)
{
	struct trn_image *image = NULL;

	ck_assert_int_eq(demo_model_grad(_i ? 129 : 0, 128, &image), TRN_ERR_INVALID);
	ck_assert_ptr_null(image);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "program \"grad\""));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("demo model");
	TCase *tc = tcase_create("demo model");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_gradient, 0, 4);
	tcase_add_test(tc, test_shares);
	tcase_add_test(tc, test_training);
	tcase_add_test(tc, test_forward);
	tcase_add_loop_test(tc, test_reference, 0, 7);
	tcase_add_loop_test(tc, test_bad_batch, 0, 2);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
