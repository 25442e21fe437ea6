// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

/* Length of the UTF-8 sequence at @at, 0 when it is none. */
static unsigned int utf8_length(const unsigned char *at)
{
	unsigned int length = at[0] < 0x80		      ? 1
			      : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
			      : (at[0] & 0xf0) == 0xe0	      ? 3
			      : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
							      : 0;
	unsigned int i;

	for (i = 1; i < length; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

static void quote(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned int length;

	putchar('"');
	for (; *at; at += length ? length : 1) {
		length = utf8_length(at);
		if (!length)
			fputs("\\ufffd", stdout);
		else if (*at == '"' || *at == '\\')
			printf("\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			printf("\\u%04x", *at);
		else
			fwrite(at, 1, length, stdout);
	}
	putchar('"');
}

static void begin(struct json *json, const char *key)
{
	if (json->comma)
		putchar(',');
	if (json->depth)
		printf("\n%*s", (int)json->depth * 2, "");
	if (key) {
		quote(key);
		fputs(": ", stdout);
	}
	json->comma = true;
}

void json_open(struct json *json, const char *key, char bracket)
{
	begin(json, key);
	putchar(bracket);
	json->depth++;
	json->comma = false;
}

void json_close(struct json *json, char bracket)
{
	json->depth--;
	if (json->comma)
		printf("\n%*s", (int)json->depth * 2, "");
	putchar(bracket);
	json->comma = true;
	if (!json->depth)
		putchar('\n');
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin(json, key);
	quote(value);
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	begin(json, key);
	printf("%" PRIu64, value);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	begin(json, key);
	printf("%" PRId64, value);
}

void json_real(struct json *json, const char *key, double value)
{
	begin(json, key);
	if (isfinite(value))
		printf("%.9g", value);
	else
		fputs("null", stdout);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin(json, key);
	fputs(value ? "true" : "false", stdout);
}

void json_null(struct json *json, const char *key)
{
	begin(json, key);
	fputs("null", stdout);
}
