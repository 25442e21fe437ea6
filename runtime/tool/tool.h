/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the `trn` command. */
#ifndef TRN_TOOL_H
#define TRN_TOOL_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trn/trn.h"

/* Exit codes; Documentation/trn-tool.md. */
#define TOOL_OK	    0
#define TOOL_FAILED 1
#define TOOL_USAGE  2

/** struct tool - what the options common to all commands have set. */
struct tool {
	const char *command;
	bool json;
	bool color;	    /* standard output is a terminal that has them */
	const char *device; /* --device; NULL: TRN_DEVICE, else the first of the machine */
};

/** struct tool_command - one command; @run gets argv[0] = its name. */
struct tool_command {
	const char *name;
	const char *summary;
	int (*run)(struct tool *tool, int argc, char **argv);
};

int tool_ls(struct tool *tool, int argc, char **argv);
int tool_info(struct tool *tool, int argc, char **argv);
int tool_run(struct tool *tool, int argc, char **argv);
int tool_test(struct tool *tool, int argc, char **argv);
int tool_doctor(struct tool *tool, int argc, char **argv);

/** tool_fail() - "trn: sentence" on standard error. Return: TOOL_FAILED. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** tool_fail_library() - the same with the library's sentence, after @what unless that is NULL. */
int tool_fail_library(const char *what, enum trn_status status);
/** tool_usage() - a mistake on the command line, and where to read on. Return: TOOL_USAGE. */
int tool_usage(const struct tool *tool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Common options, for the tables of the commands. */
enum {
	TOOL_OPTION_JSON = 1000,
	TOOL_OPTION_DEVICE,
	TOOL_OPTION_HELP,
	TOOL_OPTION_FIRST, /* of a command's own */
};
#define TOOL_COMMON_OPTIONS                                                \
	{ "json", no_argument, NULL, TOOL_OPTION_JSON },                   \
		{ "device", required_argument, NULL, TOOL_OPTION_DEVICE }, \
	{                                                                  \
		"help", no_argument, NULL, TOOL_OPTION_HELP                \
	}

#define TOOL_COMMON_HELP                                                                        \
	"  --device SPEC   trn0, /dev/accel/accel0, 0000:00:04.0, emu:trn1; else TRN_DEVICE,\n" \
	"                  else the first device of the machine\n"                              \
	"  --json          machine-readable output\n"                                           \
	"  --help          this text\n"

/**
 * tool_option() - next option of a command.
 * @help: printed for --help
 * @exit_code: set when the command is to end
 * Return: a value of the table; -1 after the last; -2 when the command is to end with @exit_code.
 */
int tool_option(struct tool *tool, int argc, char **argv, const struct option *table,
		const char *help, int *exit_code);

/** tool_number() - decimal or 0x number within [@low, @high]; false otherwise. */
bool tool_number(const char *text, uint64_t low, uint64_t high, uint64_t *value);
/** tool_size() - a number of bytes with an optional K, M, G, KiB, MiB, GiB. */
bool tool_size(const char *text, uint64_t *value);

/** tool_open() - the device that the options name; @given, a positional argument, wins. */
int tool_open(struct tool *tool, const char *given, struct trn_device **device);

/** tool_now() - seconds. */
double tool_now(void);

#endif /* TRN_TOOL_H */
