/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: real barriers, because the device model runs on other threads.
 */
#ifndef TRNHW_USER_BARRIER_H
#define TRNHW_USER_BARRIER_H

#define mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#define dma_rmb()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define dma_wmb()	__atomic_thread_fence(__ATOMIC_RELEASE)

#endif /* TRNHW_USER_BARRIER_H */
