/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: compile-time checks.
 */
#ifndef TRNHW_USER_BUILD_BUG_H
#define TRNHW_USER_BUILD_BUG_H

#define BUILD_BUG_ON(condition)	_Static_assert(!(condition), #condition)

#endif /* TRNHW_USER_BUILD_BUG_H */
