// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "tool.h"

int tool_fail(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("trn: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return TOOL_FAILED;
}

int tool_fail_library(const char *what, enum trn_status status)
{
	const char *text = trn_error_text();

	if (!text[0])
		text = trn_strerror(status);
	return what ? tool_fail("%s: %s", what, text) : tool_fail("%s", text);
}

int tool_usage(const struct tool *tool, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("trn: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	if (tool->command)
		fprintf(stderr, "; see trn %s --help\n", tool->command);
	else
		fputs("; see trn --help\n", stderr);
	return TOOL_USAGE;
}

int tool_option(struct tool *tool, int argc, char **argv, const struct option *table,
		const char *help, int *exit_code)
{
	int option;

	opterr = 0;
	for (;;) {
		option = getopt_long(argc, argv, ":", table, NULL);
		switch (option) {
		case TOOL_OPTION_JSON:
			tool->json = true;
			break;
		case TOOL_OPTION_DEVICE:
			tool->device = optarg;
			break;
		case TOOL_OPTION_HELP:
			fputs(help, stdout);
			*exit_code = TOOL_OK;
			return -2;
		case '?':
			*exit_code = tool_usage(tool, "unknown or ambiguous option \"%s\"",
						argv[optind - 1]);
			return -2;
		case ':':
			*exit_code =
				tool_usage(tool, "option \"%s\" needs a value", argv[optind - 1]);
			return -2;
		default:
			return option;
		}
	}
}

bool tool_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end && *value >= low && *value <= high;
}

bool tool_size(const char *text, uint64_t *value)
{
	static const struct {
		const char *name;
		unsigned int shift;
	} units[] = {
		{ "", 0 },     { "K", 10 }, { "KiB", 10 }, { "M", 20 },
		{ "MiB", 20 }, { "G", 30 }, { "GiB", 30 },
	};
	char *end;
	size_t i;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	for (i = 0; !errno && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcasecmp(end, units[i].name) != 0)
			continue;
		if (*value > UINT64_MAX >> units[i].shift)
			return false;
		*value <<= units[i].shift;
		return true;
	}
	return false;
}

int tool_open(struct tool *tool, const char *given, struct trn_device **device)
{
	const char *spec = given ? given : tool->device;
	enum trn_status status = trn_device_open(spec, device);

	return status ? tool_fail_library(NULL, status) : TOOL_OK;
}

double tool_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
