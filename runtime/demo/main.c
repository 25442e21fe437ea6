// SPDX-License-Identifier: BSD-2-Clause
/*
 * trn-demo: trains a small language model on a text, on a Trainium device.
 *
 * The last line is "demo: ok" with exit status 0, or one sentence on the error output with
 * status 1.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "demo.h"

#define GENERATED 300
#define SHORT_RUN 20 /* steps below which a falling loss is not demanded */

static const struct demo_hyper defaults = { .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8 };

static void print_head(const struct demo_device *d, const struct demo_options *o,
		       const struct demo_text *text)
{
	printf("device: %s (%s, %u cores, %.1f GiB HBM%s%s), core mask 0x%x\n", d->info.spec,
	       d->info.product, d->info.cores, (double)d->info.hbm_total / (1 << 30),
	       d->info.node[0] ? ", " : "", d->info.node, trn_queue_cores(d->queue));
	printf("text: %s, %zu bytes\n", o->text, text->bytes);
	printf("model: next byte from %d, %d parameters, fp32; Adam, rate %g, batch %u, %u steps, "
	       "seed %" PRIu64 "%s",
	       DEMO_CONTEXT, DEMO_PARAMETERS, o->lr, o->batch, o->steps, o->seed,
	       o->ranks > 1 ? "" : "\n");
	if (o->ranks > 1)
		printf(", %u ranks\n", o->ranks);
	if (o->verify_steps < o->steps)
		printf("host reference: only the first %u of %u steps\n", o->verify_steps,
		       o->steps);
	printf("\n  step    loss  samples/s\n");
	fflush(stdout);
}

/* Mean of the last tenth. */
static double final_loss(const struct demo_options *o, const struct demo_result *r)
{
	uint32_t n = o->steps / 10 + 1, i;
	double sum = 0;

	for (i = o->steps - n; i < o->steps; i++)
		sum += r->losses[i];
	return sum / n;
}

static void print_json(const struct demo_device *d, const struct demo_options *o,
		       const struct demo_text *text, const struct demo_result *r)
{
	uint32_t i;

	printf("{\"device\": \"%s\", \"text_bytes\": %zu, \"steps\": %u, \"batch\": %u, \"ranks\": "
	       "%u, \"seed\": %" PRIu64 ", \"lr\": %.9g, \"parameters\": %d, \"verified_steps\": "
	       "%u, \"samples_per_second\": %.1f, \"loss_first\": %.9g, "
	       "\"loss_final\": %.9g, \"loss_deviation\": %.6g, \"parameter_deviation\": %.6g, "
	       "\"losses\": [",
	       d->info.spec, text->bytes, o->steps, o->batch, o->ranks, o->seed, o->lr,
	       DEMO_PARAMETERS, o->verify_steps, r->samples_per_second, r->losses[0],
	       final_loss(o, r), r->deviation, r->param_deviation);
	for (i = 0; i < o->steps; i++)
		printf("%s%.9g", i ? ", " : "", r->losses[i]);
	printf("]}\n");
}

static bool print_generated(struct demo_device *d, const struct demo_options *o,
			    const struct demo_text *text)
{
	uint8_t generated[DEMO_CONTEXT + GENERATED];
	char printable[DEMO_CONTEXT + GENERATED + 1];
	uint64_t state = o->seed;

	memcpy(generated, text->data + demo_random(&state) % (text->bytes - DEMO_CONTEXT + 1),
	       DEMO_CONTEXT);
	if (!demo_generate(d, generated, o->seed, generated + DEMO_CONTEXT, GENERATED))
		return false;
	demo_text_printable(generated, sizeof(generated), printable);
	printf("\ngenerated (the first %d bytes are given):\n%s\n\n", DEMO_CONTEXT, printable);
	return true;
}

static bool loss_fell(const struct demo_options *o, const struct demo_result *r)
{
	double last = final_loss(o, r);

	if (o->steps < SHORT_RUN || last < r->losses[0])
		return true;
	return demo_fail("the loss did not fall: %.4f at step 1, %.4f at the end of %u steps",
			 r->losses[0], last, o->steps);
}

static bool report(struct demo_device *d, const struct demo_options *o,
		   const struct demo_text *text, const struct demo_result *r)
{
	if (o->json) {
		print_json(d, o, text, r);
		return true;
	}
	if (o->plot) {
		printf("\n");
		demo_plot(r->losses, o->steps);
	}
	if (!print_generated(d, o, text))
		return false;
	printf("loss: %.4f at step 1, %.4f over the last %u steps; %.0f samples/s\n", r->losses[0],
	       final_loss(o, r), o->steps / 10 + 1, r->samples_per_second);
	printf("deviation from the host in double precision, %u steps: loss %.3g %% (step %u), "
	       "parameters %.3g %% of the largest\n",
	       o->verify_steps, 100 * r->deviation, r->deviation_step, 100 * r->param_deviation);
	return true;
}

/* Training, with the reference beside it on rank 0. */
static bool run_device(struct demo_device *d, const struct demo_options *o,
		       const struct demo_text *text, const float *params, struct demo_result *r)
{
	struct demo_hyper hyper = defaults;
	struct demo_verify *verify = NULL;
	bool ok;

	hyper.lr = o->lr;
	if (!demo_device_open(d, o, params))
		return false;
	if (d->rank)
		return demo_train(d, o, text, &hyper, r);
	if (!o->json)
		print_head(d, o, text);
	verify = demo_verify_start(o, text, params, &hyper);
	if (!verify)
		return false;
	if (!demo_train(d, o, text, &hyper, r)) {
		demo_verify_cancel(verify);
		return false;
	}
	ok = demo_verify_finish(verify, r);
	return report(d, o, text, r) && ok && loss_fell(o, r);
}

static bool run_rank(const struct demo_options *o, uint32_t rank)
{
	struct demo_device d = { .rank = rank, .ranks = o->ranks };
	struct demo_result r = { 0 };
	struct demo_text text = { 0 };
	float *params = malloc(DEMO_PARAMETERS * sizeof(float));
	bool ok = false;

	r.losses = calloc(o->steps, sizeof(double));
	r.params = calloc(DEMO_PARAMETERS, sizeof(float));
	r.trained = calloc(DEMO_PARAMETERS, sizeof(float));
	if (!params || !r.losses || !r.params || !r.trained) {
		demo_fail("no memory for %u steps", o->steps);
	} else if (demo_text_load(o->text, &text)) {
		demo_model_init(params, o->seed);
		ok = run_device(&d, o, &text, params, &r);
		demo_device_close(&d);
	}
	demo_text_free(&text);
	free(params);
	free(r.losses);
	free(r.params);
	free(r.trained);
	return ok;
}

/* One sentence when the text is bad, not one per rank. */
static bool text_usable(const struct demo_options *o)
{
	struct demo_text text;

	if (!demo_text_load(o->text, &text))
		return false;
	demo_text_free(&text);
	return true;
}

int main(int argc, char **argv)
{
	struct demo_options options;
	bool child = demo_ranks_join(), is_rank, ok;
	uint32_t rank = 0;

	/* A closed pipe and a limit on files are errors of write(), told like the others. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	ok = demo_options_parse(argc, argv, &options);
	if (ok && options.help) {
		demo_options_help();
		ok = demo_output_written();
		if (!ok)
			fprintf(stderr, "demo: %s\n", demo_failure());
		return !ok;
	}
	is_rank = demo_ranks_self(&rank);
	if (ok && is_rank && rank >= options.ranks)
		ok = demo_fail("TRN_RANK is %u, but there are only %u ranks (--ranks)", rank,
			       options.ranks);
	if (ok && options.ranks > 1 && !is_rank)
		ok = text_usable(&options) && demo_ranks_run(&options, argv);
	else if (ok)
		ok = run_rank(&options, rank);
	if (ok && !child && !rank && !options.json)
		puts("demo: ok");
	ok = demo_output_written() && ok;
	if (!ok) {
		if (child)
			fprintf(stderr, "demo: rank %u: %s\n", rank, demo_failure());
		else
			fprintf(stderr, "demo: %s\n", demo_failure());
		return 1;
	}
	if (!child && !rank && options.json)
		fputs("demo: ok\n", stderr);
	return 0;
}
