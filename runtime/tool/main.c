// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static const struct tool_command commands[] = {
	{ "ls", "list the devices", tool_ls },
	{ "info", "all about one device", tool_info },
	{ "run", "run a program file on a device", tool_run },
	{ "test", "health check of a device", tool_test },
	{ "doctor", "what is missing on this machine, and how to fix it", tool_doctor },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(void)
{
	size_t i;

	puts("usage: trn [--json] [--device SPEC] COMMAND [ARGUMENT…]\n");
	for (i = 0; i < COMMANDS; i++)
		printf("  %-8s%s\n", commands[i].name, commands[i].summary);
	puts("\n  --device SPEC   trn0, /dev/accel/accel0, 0000:00:04.0, emu:trn1; else "
	     "TRN_DEVICE,\n"
	     "                  else the first device of the machine\n"
	     "  --json          machine-readable output\n"
	     "  --help          this text; trn COMMAND --help explains a command\n"
	     "  --version       version of the library\n\n"
	     "Exit status: 0 done, 1 failed, 2 wrong command line.");
}

/* Output that could not be written is a failure, also when only the buffer's flush shows it. */
static int finish(int code)
{
	if (fflush(stdout) || ferror(stdout)) {
		tool_fail("cannot write to standard output: %s", strerror(errno));
		return code ? code : TOOL_FAILED;
	}
	return code;
}

static int dispatch(struct tool *tool, int argc, char **argv)
{
	const char *name = argv[0];
	size_t i;

	for (i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, name) != 0)
			continue;
		tool->command = name;
		optind = 0;
		return commands[i].run(tool, argc, argv);
	}
	return tool_usage(tool, "there is no command \"%s\"", name);
}

int main(int argc, char **argv)
{
	const char *term = getenv("TERM");
	struct tool tool = {
		.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR") && term &&
			 strcmp(term, "dumb"),
	};
	int i;

	/* A closed pipe and a limit on files are errors of write(), told like the others. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--json")) {
			tool.json = true;
		} else if (!strcmp(argv[i], "--device") && i + 1 < argc) {
			tool.device = argv[++i];
		} else if (!strncmp(argv[i], "--device=", 9)) {
			tool.device = argv[i] + 9;
		} else if (!strcmp(argv[i], "--device")) {
			return tool_usage(&tool, "option \"--device\" needs a value");
		} else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			help();
			return finish(TOOL_OK);
		} else if (!strcmp(argv[i], "--version")) {
			printf("trn %s\n", trn_version());
			return finish(TOOL_OK);
		} else {
			return tool_usage(&tool, "unknown option \"%s\"", argv[i]);
		}
	}
	if (i == argc)
		return tool_usage(&tool, "no command given");
	return finish(dispatch(&tool, argc - i, argv + i));
}
