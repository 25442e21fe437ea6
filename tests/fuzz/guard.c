// SPDX-License-Identifier: BSD-2-Clause
/* Memory mappings with guard pages. No state. */
#include <string.h>
#include <sys/mman.h>
#include "guard.h"

#define PAGE	  4096u
#define CLEAR_MIN (4u << 20) /* SBUF and PSUM are not of this size */
#define CLEAR_MAX (16u << 20)

/* The end of the mapping is the end of the last page, so sizes must be whole pages to be exact. */
static size_t pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

void *fuzz_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	char *all = mmap(addr, pages(size) + 2 * PAGE, prot, flags, fd, offset);

	if (all == MAP_FAILED)
		return MAP_FAILED;
	if (mprotect(all, PAGE, PROT_NONE) || mprotect(all + PAGE + pages(size), PAGE, PROT_NONE)) {
		munmap(all, pages(size) + 2 * PAGE);
		return MAP_FAILED;
	}
	return all + PAGE;
}

int fuzz_munmap(void *addr, size_t size)
{
	return munmap((char *)addr - PAGE, pages(size) + 2 * PAGE);
}

/* Register storage: the same pages are used by each input, and giving one back costs more. */
static int clear_resident(char *p, size_t size)
{
	unsigned char resident[CLEAR_MAX / PAGE];
	size_t i;

	if (mincore(p, size, resident))
		return -1;
	for (i = 0; i < pages(size) / PAGE; i++)
		if (resident[i] & 1)
			memset(p + i * PAGE, 0, PAGE);
	return 0;
}

int fuzz_madvise(void *addr, size_t size, int advice)
{
	if (advice == MADV_HUGEPAGE)
		return 0;
	if (advice == MADV_DONTNEED && size >= CLEAR_MIN && size <= CLEAR_MAX)
		return clear_resident(addr, size);
	return madvise(addr, size, advice);
}
