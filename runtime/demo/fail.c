// SPDX-License-Identifier: BSD-2-Clause
/* The sentence of a failure. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "demo.h"

static char text[1200];

bool demo_fail(const char *format, ...)
{
	va_list args;

	if (text[0])
		return false;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return false;
}

bool demo_check(enum trn_status status)
{
	if (status == TRN_OK)
		return true;
	return demo_fail("%s", trn_error_text()[0] ? trn_error_text() : trn_strerror(status));
}

bool demo_output_written(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	return demo_fail("cannot write to standard output: %s", strerror(errno));
}

const char *demo_failure(void)
{
	return text;
}
