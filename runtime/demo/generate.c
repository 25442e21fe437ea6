// SPDX-License-Identifier: BSD-2-Clause
/* Sampling text from the trained model: one run of the forward program per byte. */
#include <math.h>
#include <string.h>
#include "demo.h"

#define TEMPERATURE 0.7

/* A byte drawn with the probabilities softmax(z / TEMPERATURE). */
static uint8_t draw(const float *z, uint64_t *state)
{
	double p[DEMO_BYTES], mass = 0, at;
	float peak = z[0];
	int i;

	for (i = 1; i < DEMO_BYTES; i++)
		peak = fmaxf(peak, z[i]);
	for (i = 0; i < DEMO_BYTES; i++)
		mass += p[i] = exp((z[i] - peak) / TEMPERATURE);
	at = (double)(demo_random(state) >> 11) / 9007199254740992.0 * mass;
	for (i = 0; i < DEMO_BYTES - 1; i++) {
		at -= p[i];
		if (at < 0)
			break;
	}
	return (uint8_t)i;
}

static bool sample(struct demo_device *d, struct trn_program *program, const uint8_t *prompt,
		   uint64_t seed, uint8_t *out, size_t bytes)
{
	uint64_t context_offset, logits_offset, state = seed;
	struct trn_memory *context, *logits;
	uint8_t window[DEMO_CONTEXT];
	float z[DEMO_BYTES];
	size_t i;

	if (!demo_check(trn_program_tensor(program, "context", &context, &context_offset, NULL)) ||
	    !demo_check(trn_program_tensor(program, "logits", &logits, &logits_offset, NULL)))
		return false;
	memcpy(window, prompt, sizeof(window));
	for (i = 0; i < bytes; i++) {
		if (!demo_check(trn_queue_write(d->queue, context, context_offset, window,
						sizeof(window), NULL)) ||
		    !demo_check(trn_program_run(program, NULL, 0, NULL)) ||
		    !demo_check(
			    trn_queue_read(d->queue, z, logits, logits_offset, sizeof(z), NULL)) ||
		    !demo_check(trn_queue_finish(d->queue, UINT64_MAX)))
			return false;
		out[i] = draw(z, &state);
		memmove(window, window + 1, sizeof(window) - 1);
		window[sizeof(window) - 1] = out[i];
	}
	return true;
}

bool demo_generate(struct demo_device *d, const uint8_t *prompt, uint64_t seed, uint8_t *out,
		   size_t bytes)
{
	struct trn_binding binding = { "params", d->params, 0 };
	struct trn_program *program = NULL;
	struct trn_image *image = NULL;
	bool ok;

	ok = demo_check(demo_model_forward(1, &image)) &&
	     demo_check(trn_program_load(d->queue, 0, image, &binding, 1, &program)) &&
	     sample(d, program, prompt, seed, out, bytes);
	trn_program_unload(program);
	trn_image_free(image);
	return ok;
}
