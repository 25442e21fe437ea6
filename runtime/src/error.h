/* SPDX-License-Identifier: BSD-2-Clause */
/* Per-thread error sentences. */
#ifndef TRN_ERROR_H
#define TRN_ERROR_H

#include "trn/trn.h"

/** trn_error_set() - store the sentence of a failure and return @status, so callers write `return
 * trn_error_set(…)`. */
enum trn_status trn_error_set(enum trn_status status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** trn_error_clear() - forget the sentence (start of a public call that reports through lower
 * layers). */
void trn_error_clear(void);
/** trn_status_from_errno() - map a backend's negative errno to a status. */
enum trn_status trn_status_from_errno(int error);

#endif /* TRN_ERROR_H */
