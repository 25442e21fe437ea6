// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Time of the user-space shim: the machine's, or the calling thread's replacement.
 */
#include <errno.h>
#include <time.h>

#include <linux/delay.h>
#include <linux/ktime.h>

#include "trnhw_user.h"

#define NS_PER_SECOND	1000000000ull

static _Thread_local const struct trnhw_user_clock *clock_mine;

void trnhw_user_clock_set(const struct trnhw_user_clock *clock)
{
	clock_mine = clock;
}

ktime_t ktime_get(void)
{
	struct timespec now;

	if (clock_mine)
		return clock_mine->now_ns(clock_mine->opaque);
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (s64)now.tv_sec * (s64)NS_PER_SECOND + now.tv_nsec;
}

void usleep_range(unsigned long min_us, unsigned long max_us)
{
	u64 ns = (u64)min_us * 1000;
	struct timespec rest;

	(void)max_us;
	if (clock_mine) {
		clock_mine->sleep_ns(clock_mine->opaque, ns);
		return;
	}
	rest.tv_sec = ns / NS_PER_SECOND;
	rest.tv_nsec = ns % NS_PER_SECOND;
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, &rest) == EINTR)
		;
}
