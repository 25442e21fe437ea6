/* SPDX-License-Identifier: BSD-2-Clause */
/* trn-demo: parts of the program and what they share. */
#ifndef DEMO_H
#define DEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "model.h"
#include "reference.h"
#include "trn/trn.h"

#define DEMO_DEFAULT_TEXT  "/usr/share/common-licenses/GPL-3"
#define DEMO_DEVIATION_MAX 0.02
#define DEMO_STEPS_MAX	   1000000u
#define DEMO_RANKS_MAX	   64u

/** struct demo_options - the command line. */
struct demo_options {
	const char *text;
	uint32_t steps;
	uint32_t verify_steps; /* compared with the host, from the first; at least 1 */
	uint32_t batch;	       /* of all ranks together */
	uint32_t ranks;
	uint64_t seed;
	double lr;
	bool plot;
	bool json;
	bool help;
};

/** struct demo_text - the training text and what samples are drawn from it with. */
struct demo_text {
	uint8_t *data;
	size_t bytes;
};

/** struct demo_result - what a training run measured; arrays belong to it. */
struct demo_result {
	double *losses; /* [steps] */
	float *params;	/* after the last step verified */
	float *trained; /* after the last step */
	double samples_per_second;
	double deviation; /* largest relative one of the loss */
	uint32_t deviation_step;
	double param_deviation; /* largest, relative to the largest parameter */
};

/** struct demo_device - what rank's device is used with. */
struct demo_device {
	struct trn_device *device;
	struct trn_queue *queue;
	struct trn_comm *comm; /* NULL with one rank */
	uint32_t rank;
	uint32_t ranks;
	struct trn_device_info info;
	struct trn_memory *params, *m, *v;
	struct trn_memory
		*grad; /* DEMO_PARAMETERS floats, then the loss: one all-reduce for both */
	struct trn_program *grad_program, *adam_program;
};

/* fail.c */
/** demo_fail() - keep a sentence for main() to print; returns false. */
bool demo_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** demo_fail_trn() - the same with the library's sentence; true for TRN_OK. */
bool demo_check(enum trn_status status);
const char *demo_failure(void);
/** demo_output_written() - true when all that was printed has arrived. */
bool demo_output_written(void);

/* options.c */
bool demo_options_parse(int argc, char **argv, struct demo_options *options);
void demo_options_help(void);

/* text.c */
bool demo_text_load(const char *path, struct demo_text *text);
void demo_text_free(struct demo_text *text);
/**
 * demo_text_batch() - the samples [batch, 17] of step @step (from 1), the same for every caller.
 */
void demo_text_batch(const struct demo_text *text, uint64_t seed, uint64_t step, uint32_t batch,
		     uint8_t *samples);
/** demo_text_printable() - copy @bytes as text for a terminal: control characters become dots. */
void demo_text_printable(const uint8_t *data, size_t bytes, char *out);

/* verify.c: the reference on a thread of its own, beside the device. */
struct demo_verify;
struct demo_verify *demo_verify_start(const struct demo_options *options,
				      const struct demo_text *text, const float *params,
				      const struct demo_hyper *hyper);
/** demo_verify_finish() - wait, compare with @result; frees. */
bool demo_verify_finish(struct demo_verify *verify, struct demo_result *result);
/** demo_verify_cancel() - stop and free; NULL is allowed. */
void demo_verify_cancel(struct demo_verify *verify);

/* train.c */
bool demo_device_open(struct demo_device *d, const struct demo_options *options,
		      const float *params);
void demo_device_close(struct demo_device *d);
bool demo_train(struct demo_device *d, const struct demo_options *options,
		const struct demo_text *text, const struct demo_hyper *hyper,
		struct demo_result *result);

/* generate.c */
/**
 * demo_generate() - @bytes of text sampled from the trained model on the device, after the 16
 * bytes at @prompt.
 */
bool demo_generate(struct demo_device *d, const uint8_t *prompt, uint64_t seed, uint8_t *out,
		   size_t bytes);

/* plot.c */
void demo_plot(const double *losses, uint32_t steps);

/* ranks.c */
/**
 * demo_ranks_run() - start one process per rank, wait for all; false when one failed (all are gone
 * then).
 */
bool demo_ranks_run(const struct demo_options *options, char **argv);
/**
 * demo_ranks_join() - in a rank's process: tie its life to the parent's. Return: whether this
 * process was started by demo_ranks_run().
 */
bool demo_ranks_join(void);
/** demo_ranks_self() - rank of this process from TRN_RANK, or false when it is not one. */
bool demo_ranks_self(uint32_t *rank);

#endif /* DEMO_H */
