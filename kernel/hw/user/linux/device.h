/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: a device is its callbacks; messages go to one of them, never to a stream.
 */
#ifndef TRNHW_USER_DEVICE_H
#define TRNHW_USER_DEVICE_H

#include <linux/types.h>

struct device;

enum trnhw_user_level {
	TRNHW_USER_ERROR,
	TRNHW_USER_WARNING,
	TRNHW_USER_INFO,
	TRNHW_USER_DEBUG,
};

__attribute__((format(printf, 3, 4)))
void trnhw_user_log(const struct device *dev, enum trnhw_user_level level, const char *format, ...);

#define dev_err(dev, ...)	trnhw_user_log(dev, TRNHW_USER_ERROR, __VA_ARGS__)
#define dev_warn(dev, ...)	trnhw_user_log(dev, TRNHW_USER_WARNING, __VA_ARGS__)
#define dev_info(dev, ...)	trnhw_user_log(dev, TRNHW_USER_INFO, __VA_ARGS__)
#define dev_dbg(dev, ...)	trnhw_user_log(dev, TRNHW_USER_DEBUG, __VA_ARGS__)

#endif /* TRNHW_USER_DEVICE_H */
