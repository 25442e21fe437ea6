/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of the tests that use the kernel's interface directly, without the runtime.
 *
 * A test prints "ok N - name" or "not ok N - name" for each case, and at its end "N passed, N
 * failed, N skipped". Programs are encoded by hand, so that what the kernel accepts does not depend
 * on what the runtime writes.
 */
#ifndef TESTS_VM_UAPI_H
#define TESTS_VM_UAPI_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drm/trainium_accel.h"
#include "trainium/isa.h"
#include "trainium/map.h"

#define KIB 1024ull
#define MIB (1024ull * KIB)
#define GIB (1024ull * MIB)

/* Cases. */
void uapi_ok(bool passed, const char *format, ...) __attribute__((format(printf, 2, 3)));
void uapi_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** uapi_is() - compare; prints both on failure. */
void uapi_is(int64_t got, int64_t want, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/** uapi_end() - print the sum; the exit status. */
int uapi_end(void);

/* The node: TRN_NODE, or the first of this machine. */
const char *uapi_node(void);
int uapi_open(void);
/** uapi_pci() - PCI address of the device of @fd, as in sysfs. */
void uapi_pci(int fd, char text[16]);

/* Calls: 0 or a negative errno; never restarted. */
int uapi_call(int fd, unsigned long request, void *arg);
int uapi_device(int fd, struct drm_trainium_device_info *info);
uint64_t uapi_free_hbm(int fd);
/** uapi_bo() - handle, or 0; *@error receives the errno when not NULL. */
uint32_t uapi_bo(int fd, uint32_t place, uint64_t size, int *error);
void uapi_bo_close(int fd, uint32_t handle);
void *uapi_map(int fd, uint32_t handle, size_t size);
uint32_t uapi_ctx(int fd, uint32_t mask, uint32_t count, uint32_t *cores);
int uapi_ctx_destroy(int fd, uint32_t ctx);
void uapi_status(int fd, uint32_t ctx, struct drm_trainium_ctx_status *status);
uint32_t uapi_syncobj(int fd);
/** uapi_wait() - wait for a timeline point, at most @seconds. */
int uapi_wait(int fd, uint32_t syncobj, uint64_t point, int seconds);
int64_t uapi_now_ns(void);

/* Commands, waited for: 0 or the job's error. */
int uapi_run_cmds(int fd, uint32_t ctx, const struct drm_trainium_cmd *cmds, uint32_t count,
		  uint64_t timeout_ns);
int uapi_write(int fd, uint32_t ctx, uint32_t handle, uint64_t offset, const void *data,
	       uint64_t size);
int uapi_read(int fd, uint32_t ctx, uint32_t handle, uint64_t offset, void *data, uint64_t size);
struct drm_trainium_cmd uapi_cmd_run(uint32_t program, const void *args, uint32_t size);

/* Transfers, rings, programs. */
struct drm_trainium_xfer uapi_xfer_bo_sbuf(uint32_t handle, uint64_t offset, uint64_t sbuf,
					   uint32_t length);
struct drm_trainium_xfer uapi_xfer_sbuf_bo(uint64_t sbuf, uint32_t handle, uint64_t offset,
					   uint32_t length);
struct drm_trainium_xfer uapi_xfer_sem(uint32_t semaphore);
struct drm_trainium_ring_create uapi_ring_args(uint32_t ctx, uint32_t core, uint32_t engine,
					       uint32_t queue,
					       const struct drm_trainium_xfer *xfers,
					       uint32_t count);
uint32_t uapi_ring(int fd, uint32_t ctx, uint32_t core, uint32_t engine, uint32_t queue,
		   const struct drm_trainium_xfer *xfers, uint32_t count);

struct trn_insn uapi_insn(uint8_t opcode);
struct trn_insn uapi_insn_trigger(uint32_t engine_mask, uint32_t queue, uint32_t count);
/** uapi_insn_wait() - wait until a semaphore reaches @value, then make it 0. */
struct trn_insn uapi_insn_wait(uint16_t semaphore, int32_t value);
struct trn_insn uapi_insn_branch(uint32_t target);

/** struct uapi_prog - a program under construction: one engine (sync), its code buffer, rings,
 * buffers. */
struct uapi_prog {
	struct trn_insn code[64];
	uint32_t count;
	uint32_t rings[16];
	uint32_t ring_count;
	struct drm_trainium_program_bo bos[16];
	uint32_t bo_count;
	uint32_t code_bo;
};

void uapi_prog_add(struct uapi_prog *prog, struct trn_insn insn);
/** uapi_prog_create() - upload and create; handle, or 0 with *@error. */
uint32_t uapi_prog_create(int fd, uint32_t ctx, uint32_t core, struct uapi_prog *prog, int *error);
/** uapi_prog_make() - program of a few instructions and a HALT. */
uint32_t uapi_prog_make(int fd, uint32_t ctx, uint32_t core, const struct trn_insn *insns,
			uint32_t count);

#endif /* TESTS_VM_UAPI_H */
