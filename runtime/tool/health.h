/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of `trn test`. */
#ifndef TRN_TOOL_HEALTH_H
#define TRN_TOOL_HEALTH_H

#include "trn/trn.h"

#define HEALTH_TEXT 256

/** struct health - what the checks work on, and what the last one says. */
struct health {
	struct trn_device *device;
	struct trn_device_info info;
	struct trn_queue *queue; /* of the core under test; copy-only for memory and copies */
	uint64_t bytes;		 /* of HBM to test */
	uint64_t seed;
	uint64_t moved;		/* bytes or operations the check has done */
	double seconds;		/* in those alone */
	char text[HEALTH_TEXT]; /* result, or what is wrong */
};

/*
 * A check returns true when all is well; @text says what was measured, or names what is wrong: the
 * place, the expected and the found value.
 */
/** health_memory() - a pattern that depends on the place and its inverse, over all stacks. */
bool health_memory(struct health *health);
/** health_copy_in(), _out(), _inside() - host to HBM, back, HBM to HBM; odd offsets too. */
bool health_copy_in(struct health *health);
bool health_copy_out(struct health *health);
bool health_copy_inside(struct health *health);
/** health_matmul() - fp32 product against the host in double. */
bool health_matmul(struct health *health);
/** health_semaphores() - engines hand a tile round; each step waits for the one before. */
bool health_semaphores(struct health *health);

/** health_library() - @text from the library's sentence. Return: false. */
bool health_library(struct health *health, enum trn_status status);

#endif /* TRN_TOOL_HEALTH_H */
