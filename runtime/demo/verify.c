// SPDX-License-Identifier: BSD-2-Clause
/*
 * The host's run of the same steps, on a thread beside the device.
 *
 * Locking: the thread owns the reference and its losses until it is joined; @cancel is the only
 * thing written meanwhile.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "demo.h"

struct demo_verify {
	const struct demo_options *options;
	const struct demo_text *text;
	struct demo_hyper hyper;
	struct demo_reference *reference;
	double *losses;
	uint8_t *samples;
	pthread_t thread;
	atomic_bool cancel;
};

static void *run(void *opaque)
{
	struct demo_verify *v = opaque;
	uint32_t step;

	for (step = 1; step <= v->options->verify_steps && !atomic_load(&v->cancel); step++) {
		demo_text_batch(v->text, v->options->seed, step, v->options->batch, v->samples);
		v->losses[step - 1] = demo_reference_step(v->reference, v->samples, &v->hyper);
	}
	return NULL;
}

static void verify_free(struct demo_verify *v)
{
	demo_reference_free(v->reference);
	free(v->losses);
	free(v->samples);
	free(v);
}

struct demo_verify *demo_verify_start(const struct demo_options *options,
				      const struct demo_text *text, const float *params,
				      const struct demo_hyper *hyper)
{
	struct demo_verify *v = calloc(1, sizeof(*v));

	if (!v) {
		demo_fail("no memory for the host reference");
		return NULL;
	}
	v->options = options;
	v->text = text;
	v->hyper = *hyper;
	v->reference = demo_reference_create(params, options->batch);
	v->losses = calloc(options->verify_steps, sizeof(double));
	v->samples = malloc((size_t)options->batch * DEMO_SAMPLE);
	if (!v->reference || !v->losses || !v->samples ||
	    pthread_create(&v->thread, NULL, run, v)) {
		demo_fail("no memory or thread for the host reference");
		verify_free(v);
		return NULL;
	}
	return v;
}

static void compare(const struct demo_verify *v, struct demo_result *result)
{
	const double *params = demo_reference_params(v->reference);
	double peak = 0, worst = 0;
	uint32_t i;

	result->deviation = 0;
	result->deviation_step = 1;
	for (i = 0; i < v->options->verify_steps; i++) {
		double d = fabs(result->losses[i] - v->losses[i]) / fmax(fabs(v->losses[i]), 1e-12);

		/* Written so that a NaN counts as the worst deviation. */
		if (!(d <= result->deviation)) {
			result->deviation = isnan(d) ? INFINITY : d;
			result->deviation_step = i + 1;
		}
	}
	for (i = 0; i < DEMO_PARAMETERS; i++) {
		double d = fabs(result->params[i] - params[i]);

		peak = fmax(peak, fabs(params[i]));
		worst = isnan(d) ? INFINITY : fmax(worst, d);
	}
	result->param_deviation = worst / fmax(peak, 1e-12);
}

bool demo_verify_finish(struct demo_verify *verify, struct demo_result *result)
{
	pthread_join(verify->thread, NULL);
	compare(verify, result);
	verify_free(verify);
	if (result->deviation < DEMO_DEVIATION_MAX)
		return true;
	return demo_fail(
		"the loss of step %u deviates %.3g %% from the host's, %.3g %% are allowed",
		result->deviation_step, 100 * result->deviation, 100 * DEMO_DEVIATION_MAX);
}

void demo_verify_cancel(struct demo_verify *verify)
{
	if (!verify)
		return;
	atomic_store(&verify->cancel, true);
	pthread_join(verify->thread, NULL);
	verify_free(verify);
}
