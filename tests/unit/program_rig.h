/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs an image on an emulated core alone: no registers, no driver.
 *
 * Transfers are carried out by a thread that picks the next DMA engine at random (printed seed), so
 * that a missing wait shows up as a wrong result instead of going unnoticed.
 */
#ifndef PROGRAM_RIG_H
#define PROGRAM_RIG_H

#include "tnx.h"
#include "trn/builder.h"

struct rig;

struct rig *rig_create(uint32_t generation);
void rig_free(struct rig *rig);
/**
 * rig_load() - allocate zeroed tensors, copy constants; replaces what was loaded. The image must
 * outlive the rig's use of it.
 */
void rig_load(struct rig *rig, const struct trn_image *image);
/** rig_tensor() - host memory of a tensor; fails the test when there is none. */
void *rig_tensor(struct rig *rig, const char *name);
/**
 * rig_run() - one run. Return: fault code, 0 for a good run; semaphores used must then be zero,
 * which it checks.
 */
int rig_run(struct rig *rig, const uint32_t *args, unsigned int count);
/** rig_text() - the last fault in words. */
const char *rig_text(const struct rig *rig);

/**
 * rig_build() - finish a builder and load the image; the caller frees the image. Fails the test on
 * an error.
 */
struct trn_image *rig_build(struct rig *rig, struct trn_builder *builder);

#endif /* PROGRAM_RIG_H */
