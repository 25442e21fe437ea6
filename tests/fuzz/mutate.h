/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mutators that know the structure of an input; linked with libFuzzer only.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/** LLVMFuzzerMutate() - libFuzzer's own mutation of plain bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
/** LLVMFuzzerCustomMutator() - called by libFuzzer; returns the new size. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
/** LLVMFuzzerCustomCrossOver() - makes one of two inputs; returns the size of @out, 0: none. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_size, const uint8_t *second,
				 size_t second_size, uint8_t *out, size_t max_size,
				 unsigned int seed);

/** struct mutate - random numbers that follow from libFuzzer's seed; first byte of the input. */
struct mutate {
	uint64_t state;
	uint8_t choice;
};

static inline uint32_t mutate_next(struct mutate *m)
{
	m->state = m->state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(m->state >> 33) ^ (uint32_t)(m->state >> 12);
}

#endif /* FUZZ_MUTATE_H */
