/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fuzz targets share: reading an input, a broken promise, a device with memory around it.
 * Documentation/fuzzing.md tells how they are run.
 *
 * A target is one file with LLVMFuzzerTestOneInput(). It is linked twice: with libFuzzer, and with
 * replay.c, which runs the files of its corpus.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** LLVMFuzzerTestOneInput() - one input from beginning to end; always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** struct fuzz_input - what is left of an input; behind its end are zeroes. */
struct fuzz_input {
	const uint8_t *data;
	size_t left;
};

/** fuzz_take() - next @size bytes, little-endian; @size at most 8. */
uint64_t fuzz_take(struct fuzz_input *in, size_t size);
static inline uint8_t fuzz_u8(struct fuzz_input *in)
{
	return (uint8_t)fuzz_take(in, 1);
}

static inline uint16_t fuzz_u16(struct fuzz_input *in)
{
	return (uint16_t)fuzz_take(in, 2);
}

static inline uint32_t fuzz_u32(struct fuzz_input *in)
{
	return (uint32_t)fuzz_take(in, 4);
}

static inline uint64_t fuzz_u64(struct fuzz_input *in)
{
	return fuzz_take(in, 8);
}

/** fuzz_bytes() - the next @size bytes. */
void fuzz_bytes(struct fuzz_input *in, void *to, size_t size);

/** fuzz_fail() - a promise is broken: print the sentence and end the process with a stack. */
void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/** FUZZ_CHECK() - fuzz_fail() with the printf arguments when @condition does not hold. */
#define FUZZ_CHECK(condition, ...)              \
	do {                                    \
		if (!(condition))               \
			fuzz_fail(__VA_ARGS__); \
	} while (0)

/** FUZZ_COUNT() - elements of an array. */
#define FUZZ_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Addresses an input may name; they never change, so that a corpus keeps its meaning. */
#define FUZZ_HOST_BYTES 0x10000u
#define FUZZ_HOST_BUS	0x100000ull /* memory the device may read and write */
#define FUZZ_ROM_BYTES	0x1000u
#define FUZZ_ROM_BUS	0x111000ull /* memory it may only read */
#define FUZZ_HBM_BYTES	0x4000000ull

struct emu_device;
struct emu_inproc;
struct rig_map;

/** struct fuzz_device - an in-process device that lives as long as the process. */
struct fuzz_device {
	const struct rig_map *map;
	struct emu_inproc *inproc;
	struct emu_device *dev;
	uint8_t *host; /* FUZZ_HOST_BYTES at FUZZ_HOST_BUS */
	uint8_t *rom;  /* FUZZ_ROM_BYTES at FUZZ_ROM_BUS */
	uint8_t *hbm;  /* stacks of FUZZ_HBM_BYTES, one behind the other */
	uint64_t hbm_size;
};

/**
 * fuzz_device_begin() - the device in its power-up state, memory zeroed. The product, and whether
 * it is in time mode, are chosen by the last byte of the input, so that the steps before it mean
 * the same for each.
 */
struct fuzz_device *fuzz_device_begin(const uint8_t *data, size_t size);
/**
 * fuzz_device_end() - waits up to @timeout_ms for work that comes to an end, resets the device and
 * checks the promises: memory around what it was given is unchanged, and it copies as ever.
 */
void fuzz_device_end(struct fuzz_device *device, unsigned int timeout_ms);
/** fuzz_rom_restore() - for a target that filled @device->rom: as it was, before the end. */
void fuzz_rom_restore(struct fuzz_device *device);
/** fuzz_hbm() - pointer to @size bytes at device address @addr, NULL when that is no HBM. */
void *fuzz_hbm(struct fuzz_device *device, uint64_t addr, size_t size);
/** fuzz_write(), fuzz_read() - word registers of BAR0. */
void fuzz_write(struct fuzz_device *device, uint64_t offset, uint32_t value);
uint32_t fuzz_read(struct fuzz_device *device, uint64_t offset);
/** fuzz_udma() - BAR0 offset of DMA engine @id, taken modulo their number. */
uint32_t fuzz_udma(const struct fuzz_device *device, unsigned int id);
/** fuzz_queue_set() - program and enable one direction (0 M2S, 1 S2M) of a queue. */
void fuzz_queue_set(struct fuzz_device *device, unsigned int engine, unsigned int dir,
		    unsigned int queue, uint64_t ring, uint32_t length);
/** fuzz_address() - an address that an input chose: mostly valid, often just beyond. */
uint64_t fuzz_address(const struct fuzz_device *device, struct fuzz_input *in);

#endif /* FUZZ_H */
