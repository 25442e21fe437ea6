/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: sleeps. A thread may replace its clock, see trnhw_user_clock_set().
 */
#ifndef TRNHW_USER_DELAY_H
#define TRNHW_USER_DELAY_H

void usleep_range(unsigned long min_us, unsigned long max_us);

#endif /* TRNHW_USER_DELAY_H */
