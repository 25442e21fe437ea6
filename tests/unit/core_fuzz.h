/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run of arbitrary bytes as a program of the emulated NeuronCore: the body of a libFuzzer
 * target and of a unit test.
 */
#ifndef CORE_FUZZ_H
#define CORE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#define CORE_FUZZ_GENERATIONS 3

/**
 * core_fuzz_one() - byte 0 chooses the generation, the rest is 128-byte instructions; each goes to
 * the stream of the engine it names. The run is bounded. Aborts when an instruction touched memory
 * between partitions. Return: instructions executed.
 */
uint64_t core_fuzz_one(const uint8_t *data, size_t size);

#endif /* CORE_FUZZ_H */
