/* SPDX-License-Identifier: BSD-2-Clause */
/* A device in JSON, the same from every command. */
#ifndef TRN_TOOL_DESCRIBE_H
#define TRN_TOOL_DESCRIBE_H

#include "json.h"
#include "tool.h"

/** describe_device() - an object with the fields of Documentation/trn-tool.md. */
void describe_device(struct json *json, const char *key, const struct trn_device_info *info);
/** describe_free_cores() - how many cores are free. */
uint32_t describe_free_cores(const struct trn_device_info *info);
const char *describe_core_state(uint32_t state);

#endif /* TRN_TOOL_DESCRIBE_H */
