// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trn/builder.h"

#include "files.h"
#include "json.h"
#include "text.h"
#include "tool.h"

#define FILES_MAX   256
#define REPEAT_MAX  1000000000ull
#define TIMEOUT_MAX 86400ull
#define ARGS_MAX    64 /* words: 256 bytes */

static const char help[] = "usage: trn run [OPTION…] FILE.tnx\n\n"
			   "Loads a program, fills its inputs from files, runs it, and writes its "
			   "outputs to files.\n\n"
			   "  --input NAME=FILE    content of an input, state or constant tensor: "
			   "raw, row-major, exactly\n"
			   "                       its size; every input of the program needs one\n"
			   "  --output NAME=FILE   write a tensor after the last run; nothing is "
			   "written when a run fails\n"
			   "  --repeat N           run N times (default 1)\n"
			   "  --args HEX,…         up to 64 words for the program; the first 16 "
			   "become registers 0..15\n"
			   "  --core N             core to run on (default: any free one)\n"
			   "  --list               print the program's tensors and end; needs no "
			   "device\n" TOOL_COMMON_HELP;

/* A tensor and its file. */
struct binding {
	const char *name;
	const char *path;
	struct trn_tensor_info info;
	void *data;
	struct files_output output;
};

struct run {
	struct tool *tool;
	const char *path;
	struct binding input[FILES_MAX], output[FILES_MAX];
	size_t inputs, outputs;
	uint64_t repeat;
	uint64_t core;	  /* UINT64_MAX: any */
	uint64_t timeout; /* seconds, 0: the driver's default */
	uint32_t args[ARGS_MAX];
	size_t arg_count;
	bool list;
	double seconds;
	struct trn_image *image;
	struct trn_device *device;
	struct trn_queue *queue;
	struct trn_program *program;
};

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = { "input", "output", "state", "temp", "constant" };

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

/* "fp32 [128, 64]" */
static const char *shape_text(const struct trn_tensor_info *info, char *out, size_t size)
{
	size_t used = (size_t)snprintf(out, size, "%s [", trn_dtype_name(info->dtype));
	uint32_t i;

	for (i = 0; i < info->rank && i < 6 && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%" PRIu64, i ? ", " : "",
					 info->shape[i]);
	if (used < size)
		snprintf(out + used, size - used, "]");
	return out;
}

/* ---- command line ---- */

static int add_file(struct run *run, struct binding *list, size_t *count, char *text,
		    const char *option)
{
	char *equals = strchr(text, '=');
	size_t i;

	if (!equals || equals == text || !equals[1])
		return tool_usage(run->tool, "%s \"%s\" is not NAME=FILE", option, text);
	if (*count == FILES_MAX)
		return tool_usage(run->tool, "more than %d files with %s", FILES_MAX, option);
	*equals = '\0';
	for (i = 0; i < *count; i++) {
		if (!strcmp(list[i].name, text))
			return tool_usage(run->tool, "%s names \"%s\" twice", option, text);
		/* The second would replace the first. */
		if (list == run->output && !strcmp(list[i].path, equals + 1))
			return tool_usage(run->tool, "%s: \"%s\" and \"%s\" both go to \"%s\"",
					  option, list[i].name, text, equals + 1);
	}
	list[*count].name = text;
	list[*count].path = equals + 1;
	list[*count].output.fd = -1;
	++*count;
	return TOOL_OK;
}

static int parse_args(struct run *run, char *text)
{
	char *word, *end;
	unsigned long long value;

	for (word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		value = strtoull(word, &end, 16);
		if (end == word || *end || word[0] == '-' || value > UINT32_MAX)
			return tool_usage(run->tool,
					  "--args: \"%s\" is not a hexadecimal word of 32 bits",
					  word);
		if (run->arg_count == ARGS_MAX)
			return tool_usage(run->tool, "--args: more than %d words", ARGS_MAX);
		run->args[run->arg_count++] = (uint32_t)value;
	}
	if (!run->arg_count)
		return tool_usage(run->tool, "--args needs at least one word");
	return TOOL_OK;
}

enum {
	OPT_INPUT = TOOL_OPTION_FIRST,
	OPT_OUTPUT,
	OPT_REPEAT,
	OPT_ARGS,
	OPT_CORE,
	OPT_TIMEOUT,
	OPT_LIST
};

static const struct option options[] = {
	{ "input", required_argument, NULL, OPT_INPUT },
	{ "output", required_argument, NULL, OPT_OUTPUT },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "args", required_argument, NULL, OPT_ARGS },
	{ "core", required_argument, NULL, OPT_CORE },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "list", no_argument, NULL, OPT_LIST },
	TOOL_COMMON_OPTIONS,
	{ 0 },
};

static int apply_option(struct run *run, int option)
{
	switch (option) {
	case OPT_INPUT:
		return add_file(run, run->input, &run->inputs, optarg, "--input");
	case OPT_OUTPUT:
		return add_file(run, run->output, &run->outputs, optarg, "--output");
	case OPT_REPEAT:
		if (!tool_number(optarg, 1, REPEAT_MAX, &run->repeat))
			return tool_usage(run->tool,
					  "--repeat \"%s\" is not a number from 1 to %llu", optarg,
					  REPEAT_MAX);
		return TOOL_OK;
	case OPT_ARGS:
		return parse_args(run, optarg);
	case OPT_CORE:
		if (!tool_number(optarg, 0, 31, &run->core))
			return tool_usage(run->tool, "--core \"%s\" is not the number of a core",
					  optarg);
		return TOOL_OK;
	case OPT_TIMEOUT:
		if (!tool_number(optarg, 1, TIMEOUT_MAX, &run->timeout))
			return tool_usage(
				run->tool,
				"--timeout \"%s\" is not a number of seconds from 1 to %llu",
				optarg, TIMEOUT_MAX);
		return TOOL_OK;
	default:
		run->list = true;
		return TOOL_OK;
	}
}

/* ---- tensors ---- */

static int tensor_unknown(const struct run *run, const char *name)
{
	size_t i, used = 0, count = trn_image_tensor_count(run->image);
	struct trn_tensor_info info;
	char names[512] = "";

	for (i = 0; i < count && used < sizeof(names) - 80; i++)
		if (!trn_image_tensor(run->image, i, &info) && info.kind != TRN_TENSOR_TEMP)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s (%s)",
						 used ? ", " : "", info.name, kind_name(info.kind));
	return tool_fail("program \"%s\" has no tensor \"%s\"; it has %s",
			 trn_image_name(run->image), name, names[0] ? names : "none");
}

static int find_tensors(const struct run *run, struct binding *list, size_t count)
{
	size_t i, j, tensors = trn_image_tensor_count(run->image);

	for (i = 0; i < count; i++) {
		for (j = 0; j < tensors; j++)
			if (!trn_image_tensor(run->image, j, &list[i].info) &&
			    !strcmp(list[i].info.name, list[i].name))
				break;
		if (j == tensors)
			return tensor_unknown(run, list[i].name);
		list[i].data = malloc(list[i].info.bytes ? list[i].info.bytes : 1);
		if (!list[i].data)
			return tool_fail("no host memory for the %" PRIu64 " bytes of \"%s\"",
					 list[i].info.bytes, list[i].name);
	}
	return TOOL_OK;
}

static int check_inputs(const struct run *run)
{
	size_t i, j, tensors = trn_image_tensor_count(run->image);
	struct trn_tensor_info info;
	char shape[128];

	for (i = 0; i < tensors; i++) {
		if (trn_image_tensor(run->image, i, &info) || info.kind != TRN_TENSOR_INPUT)
			continue;
		for (j = 0; j < run->inputs && strcmp(run->input[j].name, info.name); j++)
			;
		if (j == run->inputs)
			return tool_fail("input \"%s\" (%s, %" PRIu64
					 " bytes) has no file; give --input "
					 "%s=FILE",
					 info.name, shape_text(&info, shape, sizeof(shape)),
					 info.bytes, info.name);
	}
	return TOOL_OK;
}

static int read_inputs(struct run *run)
{
	char what[160], shape[128];
	struct binding *input;
	size_t i;
	int code = find_tensors(run, run->input, run->inputs);

	if (!code)
		code = check_inputs(run);
	for (i = 0; i < run->inputs && !code; i++) {
		input = &run->input[i];
		snprintf(what, sizeof(what), "tensor \"%s\" (%s)", input->info.name,
			 shape_text(&input->info, shape, sizeof(shape)));
		code = files_read(input->path, what, input->data, input->info.bytes);
	}
	return code;
}

static int check_outputs(struct run *run)
{
	int code = find_tensors(run, run->output, run->outputs);
	size_t i;

	for (i = 0; i < run->outputs && !code; i++)
		code = files_check(run->output[i].path);
	return code;
}

static void list_json(const struct run *run)
{
	size_t i, count = trn_image_tensor_count(run->image);
	struct trn_tensor_info info;
	struct json json = { 0 };
	uint32_t d;

	json_open(&json, NULL, '{');
	json_string(&json, "program", trn_image_name(run->image));
	json_open(&json, "tensors", '[');
	for (i = 0; i < count; i++) {
		if (trn_image_tensor(run->image, i, &info))
			continue;
		json_open(&json, NULL, '{');
		json_string(&json, "name", info.name);
		json_string(&json, "kind", kind_name(info.kind));
		json_string(&json, "dtype", trn_dtype_name(info.dtype));
		json_open(&json, "shape", '[');
		for (d = 0; d < info.rank && d < 6; d++)
			json_number(&json, NULL, info.shape[d]);
		json_close(&json, ']');
		json_number(&json, "bytes", info.bytes);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
}

static int list_text(const struct run *run)
{
	static const char *const heading[] = { "TENSOR", "KIND", "TYPE", "BYTES" };
	struct text_table table = { .columns = 4, .right = 1u << 3 };
	size_t i, count = trn_image_tensor_count(run->image);
	char shape[128], bytes[TEXT_CELL];
	struct trn_tensor_info info;
	bool ok = text_row(&table, heading);

	for (i = 0; i < count && ok; i++) {
		const char *cells[] = { info.name, "", shape, bytes };

		if (trn_image_tensor(run->image, i, &info))
			continue;
		cells[1] = kind_name(info.kind);
		shape_text(&info, shape, sizeof(shape));
		snprintf(bytes, sizeof(bytes), "%" PRIu64, info.bytes);
		ok = text_row(&table, cells);
	}
	if (ok)
		text_print(&table, run->tool->color);
	free(table.cells);
	return ok ? TOOL_OK : tool_fail("no host memory for the list of tensors");
}

static int list_tensors(const struct run *run)
{
	if (!run->tool->json)
		return list_text(run);
	list_json(run);
	return TOOL_OK;
}

/* ---- device ---- */

static int load(struct run *run)
{
	struct trn_queue_options queue = TRN_OPTIONS(queue);
	enum trn_status status;
	int code = tool_open(run->tool, NULL, &run->device);

	if (code)
		return code;
	if (run->core == UINT64_MAX)
		queue.core_count = 1;
	else
		queue.core_mask = 1u << run->core;
	queue.timeout_ns = run->timeout * 1000000000;
	status = trn_queue_create(run->device, &queue, &run->queue);
	if (!status)
		status = trn_program_load(run->queue, 0, run->image, NULL, 0, &run->program);
	return status ? tool_fail_library(run->path, status) : TOOL_OK;
}

static int copy(struct run *run, struct binding *binding, bool to_device)
{
	struct trn_memory *memory;
	enum trn_status status;
	uint64_t offset;

	status = trn_program_tensor(run->program, binding->name, &memory, &offset, &binding->info);
	if (!status && to_device)
		status = trn_queue_write(run->queue, memory, offset, binding->data,
					 binding->info.bytes, NULL);
	else if (!status)
		status = trn_queue_read(run->queue, binding->data, memory, offset,
					binding->info.bytes, NULL);
	return status ? tool_fail_library(binding->name, status) : TOOL_OK;
}

static int execute(struct run *run)
{
	enum trn_status status;
	double begin;
	uint64_t n;
	size_t i;
	int code = TOOL_OK;

	for (i = 0; i < run->inputs && !code; i++)
		code = copy(run, &run->input[i], true);
	if (code)
		return code;
	status = trn_queue_finish(run->queue, UINT64_MAX);
	begin = tool_now();
	for (n = 1; n <= run->repeat && !status; n++)
		status = trn_program_run(run->program, run->args,
					 run->arg_count * sizeof(run->args[0]), NULL);
	if (!status)
		status = trn_queue_finish(run->queue, UINT64_MAX);
	run->seconds = tool_now() - begin;
	if (status)
		return tool_fail_library(run->path, status);
	for (i = 0; i < run->outputs && !code; i++)
		code = copy(run, &run->output[i], false);
	if (!code) {
		status = trn_queue_finish(run->queue, UINT64_MAX);
		code = status ? tool_fail_library(run->path, status) : TOOL_OK;
	}
	return code;
}

/* All are written beside their places before the first is put into its own. */
static int write_outputs(struct run *run)
{
	struct binding *output;
	int code = TOOL_OK;
	size_t i;

	for (i = 0; i < run->outputs && !code; i++) {
		output = &run->output[i];
		code = files_create(&output->output, output->path);
		if (!code)
			code = files_write(&output->output, output->data, output->info.bytes);
	}
	for (i = 0; i < run->outputs && !code; i++)
		code = files_commit(&run->output[i].output);
	return code;
}

static void report(const struct run *run)
{
	char total[TEXT_CELL], each[TEXT_CELL];
	struct json json = { 0 };
	size_t i;

	if (!run->tool->json) {
		printf("%s: %" PRIu64 " run%s in %s, %s each\n", trn_image_name(run->image),
		       run->repeat, run->repeat == 1 ? "" : "s", text_time(run->seconds, total),
		       text_time(run->seconds / (double)run->repeat, each));
		return;
	}
	json_open(&json, NULL, '{');
	json_open(&json, "run", '{');
	json_string(&json, "program", trn_image_name(run->image));
	json_string(&json, "file", run->path);
	json_number(&json, "repeat", run->repeat);
	json_real(&json, "seconds", run->seconds);
	json_real(&json, "seconds_per_run", run->seconds / (double)run->repeat);
	json_open(&json, "outputs", '[');
	for (i = 0; i < run->outputs; i++) {
		json_open(&json, NULL, '{');
		json_string(&json, "name", run->output[i].name);
		json_string(&json, "file", run->output[i].path);
		json_number(&json, "bytes", run->output[i].info.bytes);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
	json_close(&json, '}');
}

static int run_program(struct run *run)
{
	enum trn_status status = trn_image_open(run->path, &run->image);
	int code;

	if (status)
		return tool_fail_library(NULL, status);
	if (run->list)
		return list_tensors(run);
	code = read_inputs(run);
	if (!code)
		code = check_outputs(run);
	if (!code)
		code = load(run);
	if (!code)
		code = execute(run);
	if (!code)
		code = write_outputs(run);
	if (!code)
		report(run);
	return code;
}

static void release(struct run *run)
{
	size_t i;

	for (i = 0; i < run->outputs; i++)
		files_discard(&run->output[i].output);
	if (run->program)
		trn_program_unload(run->program);
	if (run->queue)
		trn_queue_destroy(run->queue);
	trn_device_close(run->device);
	if (run->image)
		trn_image_free(run->image);
	for (i = 0; i < run->inputs; i++)
		free(run->input[i].data);
	for (i = 0; i < run->outputs; i++)
		free(run->output[i].data);
	free(run);
}

int tool_run(struct tool *tool, int argc, char **argv)
{
	struct run *run = calloc(1, sizeof(*run));
	int option, code = TOOL_OK;

	if (!run)
		return tool_fail("no host memory");
	run->tool = tool;
	run->repeat = 1;
	run->core = UINT64_MAX;
	while (!code && (option = tool_option(tool, argc, argv, options, help, &code)) != -1) {
		if (option == -2)
			goto out;
		code = apply_option(run, option);
	}
	if (!code && optind == argc)
		code = tool_usage(tool, "no program file given");
	else if (!code && argc - optind > 1)
		code = tool_usage(tool, "\"%s\" is one argument too many", argv[optind + 1]);
	if (!code) {
		run->path = argv[optind];
		code = run_program(run);
	}
out:
	release(run);
	return code;
}
