/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: monotonic time in nanoseconds.
 */
#ifndef TRNHW_USER_KTIME_H
#define TRNHW_USER_KTIME_H

#include <linux/types.h>

typedef s64 ktime_t;

ktime_t ktime_get(void);

static inline ktime_t ktime_add_ms(ktime_t time, u64 ms)
{
	return time + (s64)ms * 1000000;
}

static inline bool ktime_after(ktime_t a, ktime_t b)
{
	return a > b;
}

static inline bool ktime_before(ktime_t a, ktime_t b)
{
	return a < b;
}

#endif /* TRNHW_USER_KTIME_H */
