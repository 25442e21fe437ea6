// SPDX-License-Identifier: BSD-2-Clause
/* Host memory of the backend that the device reaches. Locking: none; the shell locks its table. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "emu.h"

int64_t trn_emu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int trn_emu_mem_alloc(struct trn_emu *emu, size_t size, struct trn_emu_mem *mem)
{
	int error;

	memset(mem, 0, sizeof(*mem));
	size = (size + TRN_EMU_PAGE - 1) & ~(TRN_EMU_PAGE - 1);
	mem->ptr = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem->ptr == MAP_FAILED) {
		mem->ptr = NULL;
		return -ENOMEM;
	}
	mem->size = size;
	error = emu_inproc_map(emu->inproc, mem->ptr, size, true, &mem->bus);
	if (!error && emu->hw.arch) {
		mem->address = trnhw_host_address(&emu->hw, mem->bus);
		if (!mem->address) {
			emu_inproc_unmap(emu->inproc, mem->bus);
			error = -EIO;
		}
	}
	if (error) {
		munmap(mem->ptr, size);
		memset(mem, 0, sizeof(*mem));
	}
	return error;
}

void trn_emu_mem_free(struct trn_emu *emu, struct trn_emu_mem *mem)
{
	if (!mem->ptr)
		return;
	emu_inproc_unmap(emu->inproc, mem->bus);
	munmap(mem->ptr, mem->size);
	memset(mem, 0, sizeof(*mem));
}
