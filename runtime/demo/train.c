// SPDX-License-Identifier: BSD-2-Clause
/*
 * Training on the device. A step is one batch of commands: the samples in, "grad", the loss out,
 * "adam"; with several ranks the gradient is all-reduced between the two programs. The host runs
 * ahead by a few steps and only waits for a slot it wants to use again.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "demo.h"
#include "trn/kernels.h"

#define SLOTS	  4
#define LINES	  20 /* of progress */
#define FLOATS(n) ((uint64_t)(n) * sizeof(float))

/** struct slot - host memory of a step under way. */
struct slot {
	uint8_t *samples; /* [share, 17] */
	uint8_t *context; /* [16, share] */
	float loss;
	uint32_t step; /* 0: free */
	struct trn_fence fence;
};

/** struct training - a run. */
struct training {
	struct demo_device *d;
	const struct demo_options *options;
	const struct demo_text *text;
	const struct demo_hyper *hyper;
	struct demo_result *result;
	uint32_t share; /* samples of this rank */
	uint8_t *batch; /* [batch, 17], all ranks */
	struct trn_memory *context, *samples;
	uint64_t context_offset, samples_offset;
	struct slot slot[SLOTS];
	double start;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool memory(struct demo_device *d, uint64_t bytes, struct trn_memory **out)
{
	struct trn_memory_options o = TRN_OPTIONS(o);

	o.stack = TRN_STACK_ANY;
	o.tag = "demo";
	return demo_check(trn_memory_alloc(d->device, bytes, &o, out));
}

static bool load_programs(struct demo_device *d, const struct demo_options *options)
{
	struct trn_binding grad[] = {
		{ "params", d->params, 0 },
		{ "grad", d->grad, 0 },
		{ "loss", d->grad, FLOATS(DEMO_PARAMETERS) },
	};
	struct trn_binding adam[] = {
		{ "p", d->params, 0 },
		{ "g", d->grad, 0 },
		{ "m", d->m, 0 },
		{ "v", d->v, 0 },
	};
	struct trn_image *image = NULL;
	bool ok;

	ok = demo_check(demo_model_grad(options->batch / d->ranks, options->batch, &image)) &&
	     demo_check(trn_program_load(d->queue, 0, image, grad, 3, &d->grad_program));
	trn_image_free(image);
	if (!ok)
		return false;
	image = NULL;
	ok = demo_check(trn_kernel_adam(DEMO_PARAMETERS, &image)) &&
	     demo_check(trn_program_load(d->queue, 0, image, adam, 4, &d->adam_program));
	trn_image_free(image);
	return ok;
}

bool demo_device_open(struct demo_device *d, const struct demo_options *options,
		      const float *params)
{
	struct trn_queue_options q = TRN_OPTIONS(q);
	struct trn_fence fence;

	q.core_count = 1;
	q.timeout_ns = 60000000000ull;
	d->info.size = sizeof(d->info);
	if (!demo_check(trn_device_open(NULL, &d->device)) ||
	    !demo_check(trn_device_get_info(d->device, &d->info)) ||
	    !demo_check(trn_queue_create(d->device, &q, &d->queue)))
		return false;
	if (!memory(d, FLOATS(DEMO_PARAMETERS), &d->params) ||
	    !memory(d, FLOATS(DEMO_PARAMETERS), &d->m) ||
	    !memory(d, FLOATS(DEMO_PARAMETERS), &d->v) ||
	    !memory(d, FLOATS(DEMO_PARAMETERS + 1), &d->grad))
		return false;
	if (!load_programs(d, options))
		return false;
	if (d->ranks > 1 &&
	    !demo_check(trn_comm_create(d->queue, d->rank, d->ranks, NULL, &d->comm)))
		return false;
	return demo_check(trn_queue_write(d->queue, d->params, 0, params, FLOATS(DEMO_PARAMETERS),
					  &fence)) &&
	       demo_check(trn_fence_wait(fence, UINT64_MAX));
}

void demo_device_close(struct demo_device *d)
{
	trn_comm_destroy(d->comm);
	trn_program_unload(d->adam_program);
	trn_program_unload(d->grad_program);
	trn_memory_free(d->grad);
	trn_memory_free(d->v);
	trn_memory_free(d->m);
	trn_memory_free(d->params);
	trn_queue_destroy(d->queue);
	trn_device_close(d->device);
	memset(d, 0, sizeof(*d));
}

/* A run whose output goes nowhere ends early. */
static bool progress(const struct training *t, uint32_t step, double loss)
{
	uint32_t every = (t->options->steps + LINES - 1) / LINES;
	double seconds = now() - t->start;

	if (t->d->rank || t->options->json ||
	    (step != 1 && step != t->options->steps && step % every))
		return true;
	printf("%6u  %6.4f  %9.0f\n", step, loss,
	       seconds > 0 ? step * (double)t->options->batch / seconds : 0.0);
	return demo_output_written();
}

/* Waits for the step in a slot and takes its loss. */
static bool collect(struct training *t, struct slot *s)
{
	if (!s->step)
		return true;
	if (!demo_check(trn_fence_wait(s->fence, UINT64_MAX)))
		return false;
	if (!isfinite(s->loss))
		return demo_fail(
			"the loss of step %u is not a number; a smaller --lr than %g may help",
			s->step, t->options->lr);
	t->result->losses[s->step - 1] = s->loss;
	if (!progress(t, s->step, s->loss))
		return false;
	s->step = 0;
	return true;
}

static void fill(struct training *t, struct slot *s, uint32_t step)
{
	uint32_t b, i;

	demo_text_batch(t->text, t->options->seed, step, t->options->batch, t->batch);
	memcpy(s->samples, t->batch + (size_t)t->d->rank * t->share * DEMO_SAMPLE,
	       (size_t)t->share * DEMO_SAMPLE);
	for (b = 0; b < t->share; b++) {
		for (i = 0; i < DEMO_CONTEXT; i++)
			s->context[i * t->share + b] = s->samples[b * DEMO_SAMPLE + i];
	}
}

static bool enqueue(struct training *t, struct slot *s, uint32_t step)
{
	struct demo_device *d = t->d;
	struct trn_adam_args args;

	fill(t, s, step);
	trn_adam_args(&args, t->hyper->lr, t->hyper->beta1, t->hyper->beta2, t->hyper->epsilon,
		      step);
	if (!demo_check(trn_queue_write(d->queue, t->context, t->context_offset, s->context,
					(uint64_t)t->share * DEMO_CONTEXT, NULL)) ||
	    !demo_check(trn_queue_write(d->queue, t->samples, t->samples_offset, s->samples,
					(uint64_t)t->share * DEMO_SAMPLE, NULL)) ||
	    !demo_check(trn_program_run(d->grad_program, NULL, 0, NULL)))
		return false;
	if (d->comm && !demo_check(trn_comm_allreduce(d->comm, d->grad, 0, DEMO_PARAMETERS + 1,
						      TRN_REDUCE_SUM)))
		return false;
	if (!demo_check(trn_program_run(d->adam_program, &args, sizeof(args), NULL)) ||
	    !demo_check(trn_queue_read(d->queue, &s->loss, d->grad, FLOATS(DEMO_PARAMETERS),
				       sizeof(float), &s->fence)))
		return false;
	s->step = step;
	if (step == t->options->verify_steps &&
	    !demo_check(trn_queue_read(d->queue, t->result->params, d->params, 0,
				       FLOATS(DEMO_PARAMETERS), NULL)))
		return false;
	return demo_check(trn_queue_flush(d->queue));
}

static bool slots_make(struct training *t)
{
	int i;

	t->batch = malloc((size_t)t->options->batch * DEMO_SAMPLE);
	for (i = 0; i < SLOTS; i++) {
		t->slot[i].samples = malloc((size_t)t->share * DEMO_SAMPLE);
		t->slot[i].context = malloc((size_t)t->share * DEMO_CONTEXT);
		if (!t->batch || !t->slot[i].samples || !t->slot[i].context)
			return demo_fail("no memory for %u samples", t->share);
	}
	return true;
}

static bool train_steps(struct training *t)
{
	uint32_t step, i;

	t->start = now();
	for (step = 1; step <= t->options->steps; step++) {
		struct slot *s = &t->slot[step % SLOTS];

		if (!collect(t, s) || !enqueue(t, s, step))
			return false;
	}
	for (i = 0; i < SLOTS; i++) {
		if (!collect(t, &t->slot[(step + i) % SLOTS]))
			return false;
	}
	t->result->samples_per_second =
		t->options->steps * (double)t->options->batch / fmax(now() - t->start, 1e-9);
	return demo_check(trn_queue_read(t->d->queue, t->result->trained, t->d->params, 0,
					 FLOATS(DEMO_PARAMETERS), NULL)) &&
	       demo_check(trn_queue_finish(t->d->queue, UINT64_MAX));
}

bool demo_train(struct demo_device *d, const struct demo_options *options,
		const struct demo_text *text, const struct demo_hyper *hyper,
		struct demo_result *result)
{
	struct training t = {
		.d = d, .options = options, .text = text, .hyper = hyper, .result = result
	};
	bool ok;
	int i;

	t.share = options->batch / d->ranks;
	ok = slots_make(&t) &&
	     demo_check(trn_program_tensor(d->grad_program, "context", &t.context,
					   &t.context_offset, NULL)) &&
	     demo_check(trn_program_tensor(d->grad_program, "samples", &t.samples,
					   &t.samples_offset, NULL)) &&
	     train_steps(&t);
	/* Host buffers of steps under way must outlive them. */
	if (!ok)
		trn_queue_finish(d->queue, UINT64_MAX);
	for (i = 0; i < SLOTS; i++) {
		free(t.slot[i].samples);
		free(t.slot[i].context);
	}
	free(t.batch);
	return ok;
}
