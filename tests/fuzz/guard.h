/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory mappings of the device model with a page without access before and behind each.
 *
 * The build of the fuzz targets defines mmap, munmap and madvise to these names in the model's
 * sources alone: HBM, SBUF, PSUM and register storage are mappings, which AddressSanitizer would
 * not watch.
 */
#ifndef FUZZ_GUARD_H
#define FUZZ_GUARD_H

#include <stddef.h>
#include <sys/types.h>

void *fuzz_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
int fuzz_munmap(void *addr, size_t size);
/** fuzz_madvise() - without huge pages: clearing one takes longer than an input. */
int fuzz_madvise(void *addr, size_t size, int advice);

#endif /* FUZZ_GUARD_H */
