/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Harness of the NeuronCore's unit tests: a core with a flat memory behind it, and short ways to
 * write and run programs.
 */
#ifndef CORE_HARNESS_H
#define CORE_HARNESS_H

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "tests/emulator/core.h"

#define H_MEM_BYTES (1u << 20)
#define H_PROG_MAX  1024
#define H_NOTES_MAX 256
#define H_IMAGE(e)  ((uint64_t)(e)*H_PROG_MAX * TRN_INSN_SIZE + (1ull << 32))
#define H_DATA	    0x1000ull /* data addresses below 1 MiB, images above 4 GiB */

struct harness {
	struct emu_core *core;
	uint8_t mem[H_MEM_BYTES];
	struct trn_insn prog[TRN_ENGINE_MAX][H_PROG_MAX];
	uint32_t count[TRN_ENGINE_MAX];
	struct emu_run run;
	struct emu_run_result result;
	unsigned int notes;
	unsigned int note_slot[H_NOTES_MAX];
	struct trn_notification note[H_NOTES_MAX];
	uint32_t trigger[3];
	unsigned int triggers;
	unsigned int fetches;
};

struct harness *h_create(unsigned int generation);
struct harness *h_create_config(const struct emu_core_config *config);
void h_destroy(struct harness *h);
/** h_emit() - append an instruction of @engine; the caller fills in the rest. */
struct trn_insn *h_emit(struct harness *h, enum trn_engine engine, enum trn_opcode op);
/** h_run() - add HALT to every engine with instructions, run, forget the program. Return: the
 * fault. */
enum trn_fault h_run(struct harness *h);
/** h_run_ok() - h_run() that must succeed. */
void h_run_ok(struct harness *h);

/* Operands: contiguous, and general. */
struct trn_operand h_sbuf(unsigned int partition, unsigned int partitions, uint32_t offset,
			  enum trn_dtype dtype, uint16_t n);
struct trn_operand h_psum(unsigned int partition, unsigned int partitions, uint32_t offset,
			  enum trn_dtype dtype, uint16_t n);
struct trn_operand h_unused(void);
uint32_t h_vector(unsigned int mem, unsigned int type, unsigned int quadrant, uint32_t offset);
uint32_t h_f32(float f);

/* Data in and out of a partition. */
void h_put(struct harness *h, unsigned int partition, uint32_t offset, const void *data,
	   size_t len);
void h_get(struct harness *h, unsigned int partition, uint32_t offset, void *data, size_t len);
void h_put_f32(struct harness *h, unsigned int partition, uint32_t offset, float f);
float h_get_f32(struct harness *h, unsigned int partition, uint32_t offset);
uint32_t h_get_u32(struct harness *h, unsigned int partition, uint32_t offset);
uint32_t h_psum_u32(struct harness *h, unsigned int partition, uint32_t offset);

/** h_main() - run @suite; exit status. */
int h_main(Suite *suite);
/** h_add() - add a test case of one test with @loops instances (0: plain). */
void h_add(Suite *suite, const char *name, const TTest *test, int loops);
#define H_TEST(suite, test)    h_add(suite, #test, test, 0)
#define H_LOOP(suite, test, n) h_add(suite, #test, test, n)
#define ARRAY_SIZE(a)	       (sizeof(a) / sizeof((a)[0]))

#endif /* CORE_HARNESS_H */
