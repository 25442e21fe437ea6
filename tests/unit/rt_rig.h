/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of the runtime share: devices, queues, and programs of a few instructions. */
#ifndef RT_RIG_H
#define RT_RIG_H

#include <check.h>

#include "internal.h"
#include "memory.h"
#include "trainium/isa.h"

#define RT_SPEC "emu:trn1,hbm=256M"
#define RT_MS	1000000ull
/* For queues whose runs are to hang; long enough that others end in it on a busy machine as well.
 */
#define RT_HANG_NS (2000 * RT_MS)
#define RT_FOREVER UINT64_MAX

/** rt_ok() - assert that a call succeeded; the sentence is in the message otherwise. */
#define rt_ok(call)                                                                                \
	do {                                                                                       \
		enum trn_status rt_status_ = (call);                                               \
		ck_assert_msg(rt_status_ == TRN_OK, "%s: %s: %s", #call, trn_strerror(rt_status_), \
			      trn_error_text());                                                   \
	} while (0)

/** rt_fails() - assert that a call fails with @status and that its sentence holds @word. */
#define rt_fails(call, status, word)                                                             \
	do {                                                                                     \
		enum trn_status rt_status_ = (call);                                             \
		ck_assert_msg(rt_status_ == (status), "%s: %s, not %s: %s", #call,               \
			      trn_strerror(rt_status_), trn_strerror(status), trn_error_text()); \
		ck_assert_msg(strstr(trn_error_text(), (word)) != NULL, "no \"%s\" in: %s",      \
			      (word), trn_error_text());                                         \
	} while (0)

struct trn_device *rt_open(const char *spec);
/** rt_queue() - @cores of any number, 0 for copies only; @timeout_ns 0: default. */
struct trn_queue *rt_queue(struct trn_device *device, uint32_t cores, uint64_t timeout_ns);
struct trn_memory *rt_alloc(struct trn_device *device, uint64_t bytes);
/** rt_pattern() - bytes that depend on their place and on @seed. */
void rt_pattern(uint8_t *out, size_t bytes, uint32_t seed);

/** struct rt_program - instructions of the sync engine as a program object of the backend. */
struct rt_program {
	struct trn_queue *queue;
	struct trn_memory *code;
	uint32_t handle;
};

void rt_program_make(struct rt_program *program, struct trn_queue *queue,
		     const struct trn_insn *insns, uint32_t count);
enum trn_status rt_program_run(struct rt_program *program, struct trn_fence *fence);
void rt_program_free(struct rt_program *program);
/** rt_insn() - an instruction of the sync engine. */
struct trn_insn rt_insn(uint8_t opcode);

/** rt_main() - run a suite; used as the end of main(). */
int rt_main(Suite *suite);

#endif /* RT_RIG_H */
