/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON on standard output: the writer keeps track of commas and indentation. */
#ifndef TRN_TOOL_JSON_H
#define TRN_TOOL_JSON_H

#include <stdbool.h>
#include <stdint.h>

/** struct json - zeroed at the start. @key arguments are NULL inside arrays and at the top. */
struct json {
	unsigned int depth;
	bool comma; /* something stands before in this object or array */
};

void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
/** json_real() - null when @value is not finite, which JSON cannot say. */
void json_real(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);
void json_null(struct json *json, const char *key);

#endif /* TRN_TOOL_JSON_H */
