/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: single accesses to memory another thread or the device writes. Stronger than the
 * kernel's (which order nothing), so that ThreadSanitizer sees the order the barriers make.
 */
#ifndef TRNHW_USER_COMPILER_H
#define TRNHW_USER_COMPILER_H

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), (value), __ATOMIC_RELEASE)

#endif /* TRNHW_USER_COMPILER_H */
