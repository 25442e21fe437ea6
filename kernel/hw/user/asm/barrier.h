/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-space shim: real barriers, because the device model runs on other threads.
 */
#ifndef TRNHW_USER_BARRIER_H
#define TRNHW_USER_BARRIER_H

/* ThreadSanitizer knows no fences; what it needs to see is in READ_ONCE(), WRITE_ONCE(). */
#ifdef __SANITIZE_THREAD__
#define mb()		__sync_synchronize()
#define rmb()		__sync_synchronize()
#define wmb()		__sync_synchronize()
#else
#define mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
#endif
#define dma_rmb()	rmb()
#define dma_wmb()	wmb()

#endif /* TRNHW_USER_BARRIER_H */
