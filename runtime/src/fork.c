// SPDX-License-Identifier: BSD-2-Clause
/*
 * Fork detection without a system call: one page the kernel wipes in every child (MADV_WIPEONFORK),
 * also in those made by a raw clone, holds a token; a device remembers the token of its process.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static atomic_uint_fast64_t *fork_page;

static void fork_setup(void)
{
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (madvise(page, sysconf(_SC_PAGESIZE), MADV_WIPEONFORK)) {
		munmap(page, sysconf(_SC_PAGESIZE));
		return;
	}
	fork_page = page;
}

uint64_t trn_fork_token(void)
{
	/* Without the page (Linux before 4.14) the pid itself is the token, at the price of a
	 * system call. */
	return fork_page ? atomic_load_explicit(fork_page, memory_order_relaxed)
			 : (uint64_t)getpid();
}

uint64_t trn_fork_token_make(void)
{
	pthread_once(&fork_once, fork_setup);
	if (fork_page)
		atomic_store_explicit(fork_page, (uint64_t)getpid(), memory_order_relaxed);
	return trn_fork_token();
}
