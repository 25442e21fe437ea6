// SPDX-License-Identifier: BSD-2-Clause
/* Command line. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "demo.h"

enum option_code {
	OPT_TEXT = 256,
	OPT_STEPS,
	OPT_BATCH,
	OPT_RANKS,
	OPT_SEED,
	OPT_VERIFY,
	OPT_LR,
	OPT_NO_PLOT,
	OPT_JSON,
	OPT_HELP,
};

static const struct option table[] = {
	{ "text", required_argument, NULL, OPT_TEXT },
	{ "steps", required_argument, NULL, OPT_STEPS },
	{ "batch", required_argument, NULL, OPT_BATCH },
	{ "ranks", required_argument, NULL, OPT_RANKS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "verify-steps", required_argument, NULL, OPT_VERIFY },
	{ "lr", required_argument, NULL, OPT_LR },
	{ "no-plot", no_argument, NULL, OPT_NO_PLOT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ NULL, 0, NULL, 0 },
};

void demo_options_help(void)
{
	printf("Usage: trn-demo [options]\n"
	       "Trains a small language model on a text, on a Trainium device, and compares with "
	       "the host.\n"
	       "\n"
	       "  --text FILE         text to train on (default " DEMO_DEFAULT_TEXT ")\n"
	       "  --steps N           training steps (default 400)\n"
	       "  --batch N           samples of a step, of all ranks together (default 128)\n"
	       "  --ranks N           processes, each with a device or core of its own (default "
	       "1)\n"
	       "  --seed N            of the starting values and the order of the samples (default "
	       "1)\n"
	       "  --lr X              learning rate of Adam (default 0.003)\n"
	       "  --verify-steps N    compare only the first N steps with the host (default all)\n"
	       "  --no-plot           no plot of the loss\n"
	       "  --json              one JSON object instead of text\n"
	       "  --help\n"
	       "\n"
	       "TRN_DEVICE chooses the device; TRN_DEVICE=emu:trn1 is one inside this process.\n");
}

static bool number(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || *value < low || *value > high)
		return demo_fail("--%s %s: a number from %" PRIu64 " to %" PRIu64 " is needed",
				 name, text, low, high);
	return true;
}

static bool apply(struct demo_options *o, int option, const char *value)
{
	uint64_t n = 0;
	char *end;

	switch (option) {
	case OPT_TEXT:
		o->text = value;
		return true;
	case OPT_STEPS:
		if (!number("steps", value, 1, DEMO_STEPS_MAX, &n))
			return false;
		o->steps = (uint32_t)n;
		return true;
	case OPT_BATCH:
		if (!number("batch", value, 1, DEMO_ROWS * DEMO_RANKS_MAX, &n))
			return false;
		o->batch = (uint32_t)n;
		return true;
	case OPT_RANKS:
		if (!number("ranks", value, 1, DEMO_RANKS_MAX, &n))
			return false;
		o->ranks = (uint32_t)n;
		return true;
	case OPT_SEED:
		return number("seed", value, 0, UINT64_MAX, &o->seed);
	case OPT_VERIFY:
		if (!number("verify-steps", value, 1, DEMO_STEPS_MAX, &n))
			return false;
		o->verify_steps = (uint32_t)n;
		return true;
	case OPT_LR:
		o->lr = strtod(value, &end);
		if (end == value || *end || !(o->lr > 0 && o->lr <= 1))
			return demo_fail("--lr %s: a number above 0 and at most 1 is needed",
					 value);
		return true;
	case OPT_NO_PLOT:
		o->plot = false;
		return true;
	case OPT_JSON:
		o->json = true;
		return true;
	case OPT_HELP:
		o->help = true;
		return true;
	}
	return false;
}

bool demo_options_parse(int argc, char **argv, struct demo_options *options)
{
	int option;

	*options = (struct demo_options){ .text = DEMO_DEFAULT_TEXT,
					  .steps = 400,
					  .batch = 128,
					  .ranks = 1,
					  .seed = 1,
					  .lr = 0.003,
					  .plot = true };
	opterr = 0;
	optind = 1;
	while ((option = getopt_long(argc, argv, ":", table, NULL)) != -1) {
		if (option == ':')
			return demo_fail("%s needs a value; --help lists the options",
					 argv[optind - 1]);
		if (option == '?')
			return demo_fail("%s is not an option; --help lists them",
					 argv[optind - 1]);
		if (!apply(options, option, optarg))
			return false;
	}
	if (optind < argc)
		return demo_fail("%s: no argument is expected here; a text is given with --text",
				 argv[optind]);
	if (options->batch % options->ranks || options->batch / options->ranks > DEMO_ROWS)
		return demo_fail("a batch of %u cannot be split among %u ranks: it must be a "
				 "multiple of the ranks, at most %u each",
				 options->batch, options->ranks, DEMO_ROWS);
	if (!options->verify_steps || options->verify_steps > options->steps)
		options->verify_steps = options->steps;
	return true;
}
