// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>

#include "health.h"
#include "json.h"
#include "text.h"
#include "tool.h"

#define DEFAULT_BYTES ((uint64_t)64 << 20)
#define LEAST_BYTES   4096

static const char help[] =
	"usage: trn test [OPTION…] [SPEC]\n\n"
	"Health check of a device: memory pattern, copies both ways and inside, then on each core "
	"a\n"
	"matrix product and semaphores. Prints each check with its time and rate; the last line "
	"is\n"
	"\"test: ok\" or \"test: failed\".\n\n"
	"  --size BYTES    HBM to test, in all (default 64M); K, M, G are understood\n"
	"  --core N        this core only (default: every core)\n"
	"  --seed N        of the patterns (default 1)\n" TOOL_COMMON_HELP;

enum unit {
	UNIT_BYTES,
	UNIT_OPERATIONS,
	UNIT_HANDOVERS
};

static const struct check {
	const char *name;
	bool (*run)(struct health *health);
	enum unit unit;
	bool on_core;
} checks[] = {
	{ "memory", health_memory, UNIT_BYTES, false },
	{ "copy host to HBM", health_copy_in, UNIT_BYTES, false },
	{ "copy HBM to host", health_copy_out, UNIT_BYTES, false },
	{ "copy HBM to HBM", health_copy_inside, UNIT_BYTES, false },
	{ "matrix product", health_matmul, UNIT_OPERATIONS, true },
	{ "semaphores", health_semaphores, UNIT_HANDOVERS, true },
};

#define CHECKS (sizeof(checks) / sizeof(checks[0]))

struct test {
	struct tool *tool;
	struct health health;
	struct json json;
	uint64_t core; /* UINT64_MAX: every core */
	unsigned int failed;
};

static const char *rate_text(const struct health *health, enum unit unit, char *out)
{
	double rate = health->seconds > 0 ? (double)health->moved / health->seconds : 0;

	if (unit == UNIT_BYTES)
		return text_rate(health->moved, health->seconds, out);
	if (unit == UNIT_OPERATIONS)
		snprintf(out, TEXT_CELL, "%.2f GFLOP/s", rate / 1e9);
	else
		snprintf(out, TEXT_CELL, "%.0f/s", rate);
	return out;
}

static void report(struct test *test, const struct check *check, int core, bool ok, double seconds)
{
	static const char *const units[] = { "bytes_per_second", "flop_per_second", "per_second" };
	const struct health *health = &test->health;
	char name[40], time[TEXT_CELL], rate[TEXT_CELL] = "";

	test->failed += !ok;
	if (test->tool->json) {
		json_open(&test->json, NULL, '{');
		json_string(&test->json, "name", check->name);
		if (core >= 0)
			json_signed(&test->json, "core", core);
		json_bool(&test->json, "ok", ok);
		json_real(&test->json, "seconds", seconds);
		if (ok && health->seconds > 0)
			json_real(&test->json, units[check->unit],
				  (double)health->moved / health->seconds);
		json_string(&test->json, "text", health->text);
		json_close(&test->json, '}');
		return;
	}
	if (core >= 0)
		snprintf(name, sizeof(name), "core %d %s", core, check->name);
	else
		snprintf(name, sizeof(name), "%s", check->name);
	text_paint(test->tool->color, ok ? TEXT_GREEN : TEXT_RED, ok ? "ok    " : "FAILED");
	printf("  %-22s  %9s  ", name, text_time(seconds, time));
	if (ok)
		printf("%15s  ", rate_text(health, check->unit, rate));
	printf("%s\n", health->text);
	fflush(stdout);
}

static void run_check(struct test *test, const struct check *check, int core)
{
	double begin = tool_now();
	bool ok;

	test->health.moved = 0;
	test->health.seconds = 0;
	test->health.text[0] = '\0';
	ok = check->run(&test->health);
	report(test, check, core, ok, tool_now() - begin);
	/* The next check tells about itself: a queue that failed takes no more work. */
	if (!ok)
		trn_queue_reset(test->health.queue);
}

/* A queue that cannot be had is a failed check too: the core may be somebody else's. */
static void run_group(struct test *test, int core)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	enum trn_status status;
	size_t i;

	options.core_mask = core >= 0 ? 1u << core : 0;
	test->health.queue = NULL;
	status = trn_queue_create(test->health.device, &options, &test->health.queue);
	for (i = 0; i < CHECKS; i++) {
		if (checks[i].on_core != (core >= 0))
			continue;
		if (status) {
			health_library(&test->health, status);
			report(test, &checks[i], core, false, 0);
			break;
		}
		run_check(test, &checks[i], core);
	}
	if (test->health.queue)
		trn_queue_destroy(test->health.queue);
}

static void run_cores(struct test *test)
{
	uint32_t core;

	for (core = 0; core < test->health.info.cores; core++)
		if (test->core == UINT64_MAX || test->core == core)
			run_group(test, (int)core);
}

static int run_all(struct test *test)
{
	struct trn_device_info *info = &test->health.info;
	char have[TEXT_CELL], want[TEXT_CELL];

	if (test->core != UINT64_MAX && test->core >= info->cores)
		return tool_fail("%s has cores 0 to %u, not %" PRIu64, info->spec, info->cores - 1,
				 test->core);
	if (test->health.bytes > info->hbm_free)
		return tool_fail("%s has %s of HBM free, --size asks for %s; `trn info` says who "
				 "holds the rest",
				 info->spec, text_bytes(info->hbm_free, have),
				 text_bytes(test->health.bytes, want));
	if (test->tool->json) {
		json_open(&test->json, NULL, '{');
		json_string(&test->json, "device", info->spec);
		json_open(&test->json, "checks", '[');
	}
	run_group(test, -1);
	if (info->can_run)
		run_cores(test);
	if (test->tool->json) {
		json_close(&test->json, ']');
		json_bool(&test->json, "can_run", info->can_run);
		json_bool(&test->json, "ok", !test->failed);
		json_close(&test->json, '}');
	} else {
		if (!info->can_run)
			puts("skip    programs cannot run on this device: it has no submission "
			     "queues");
		printf("test: ");
		text_paint(test->tool->color, test->failed ? TEXT_RED : TEXT_GREEN,
			   test->failed ? "failed" : "ok");
		putchar('\n');
	}
	return test->failed ? TOOL_FAILED : TOOL_OK;
}

enum {
	OPT_SIZE = TOOL_OPTION_FIRST,
	OPT_CORE,
	OPT_SEED
};

static int apply_option(struct test *test, int option)
{
	if (option == OPT_SIZE &&
	    (!tool_size(optarg, &test->health.bytes) || test->health.bytes < LEAST_BYTES))
		return tool_usage(test->tool,
				  "--size \"%s\" is not a number of bytes from %d, like 64M",
				  optarg, LEAST_BYTES);
	if (option == OPT_CORE && !tool_number(optarg, 0, 31, &test->core))
		return tool_usage(test->tool, "--core \"%s\" is not the number of a core", optarg);
	if (option == OPT_SEED && !tool_number(optarg, 0, UINT64_MAX, &test->health.seed))
		return tool_usage(test->tool, "--seed \"%s\" is not a number", optarg);
	return TOOL_OK;
}

int tool_test(struct tool *tool, int argc, char **argv)
{
	static const struct option options[] = {
		{ "size", required_argument, NULL, OPT_SIZE },
		{ "core", required_argument, NULL, OPT_CORE },
		{ "seed", required_argument, NULL, OPT_SEED },
		TOOL_COMMON_OPTIONS,
		{ 0 },
	};
	struct test test = { .tool = tool, .core = UINT64_MAX };
	enum trn_status status;
	int option, code = TOOL_OK;

	test.health.bytes = DEFAULT_BYTES;
	test.health.seed = 1;
	while ((option = tool_option(tool, argc, argv, options, help, &code)) != -1) {
		if (option != -2)
			code = apply_option(&test, option);
		if (option == -2 || code)
			return code;
	}
	if (argc - optind > 1)
		return tool_usage(tool, "\"%s\" is one argument too many", argv[optind + 1]);
	code = tool_open(tool, optind < argc ? argv[optind] : NULL, &test.health.device);
	if (code)
		return code;
	test.health.info.size = sizeof(test.health.info);
	status = trn_device_get_info(test.health.device, &test.health.info);
	/* Whole pages. */
	test.health.bytes = test.health.bytes & ~(uint64_t)(LEAST_BYTES - 1);
	code = status ? tool_fail_library(NULL, status) : run_all(&test);
	trn_device_close(test.health.device);
	return code;
}
