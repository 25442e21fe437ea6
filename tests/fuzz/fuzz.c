// SPDX-License-Identifier: BSD-2-Clause
/* Reading an input, and the end of a target that found something. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"

void fuzz_bytes(struct fuzz_input *in, void *to, size_t size)
{
	size_t have = size < in->left ? size : in->left;

	if (have)
		memcpy(to, in->data, have);
	if (have < size)
		memset((uint8_t *)to + have, 0, size - have);
	in->data += have;
	in->left -= have;
}

uint64_t fuzz_take(struct fuzz_input *in, size_t size)
{
	uint8_t bytes[8] = { 0 };
	uint64_t value = 0;
	unsigned int i;

	fuzz_bytes(in, bytes, size);
	for (i = sizeof(bytes); i--;)
		value = value << 8 | bytes[i];
	return value;
}

void fuzz_fail(const char *format, ...)
{
	va_list args;

	fputs("fuzz: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	abort();
}
