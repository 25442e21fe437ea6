// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runs: programs that move data, programs that go wrong, and what is left afterwards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "uapi.h"

enum {
	WORDS = 16384
};

static uint32_t ctx, core, halt;

static int run(int fd, uint32_t program, uint64_t timeout_ns)
{
	struct drm_trainium_cmd cmd = uapi_cmd_run(program, NULL, 0);

	return uapi_run_cmds(fd, ctx, &cmd, 1, timeout_ns);
}

static void usable(int fd, const char *after)
{
	uapi_is(run(fd, halt, 0), 0, "the core works after %s", after);
}

/*
 * HBM -> SBUF on one queue, SBUF -> HBM on another, each followed by a semaphore increment; the
 * program triggers the second after the first has ended. Run three times with new data, so that
 * rings have to be back at their beginning.
 */
static void rings(int fd)
{
	uint32_t in = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, WORDS * 4, NULL),
		 out = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, WORDS * 4, NULL);
	static uint32_t a[WORDS], b[WORDS];
	struct drm_trainium_xfer load[17], store[17];
	struct uapi_prog prog;
	uint32_t i, round, program;
	int err;

	for (i = 0; i < 16; i++) {
		load[i] = uapi_xfer_bo_sbuf(in, i * 4096, i * (uint64_t)TRN_SBUF_PARTITION_STRIDE,
					    4096);
		store[i] = uapi_xfer_sbuf_bo(i * (uint64_t)TRN_SBUF_PARTITION_STRIDE, out,
					     (15 - i) * 4096, 4096);
	}
	load[16] = uapi_xfer_sem(3);
	store[16] = uapi_xfer_sem(4);
	load[15].flags = store[15].flags = DRM_TRAINIUM_XFER_BARRIER;
	memset(&prog, 0, sizeof(prog));
	prog.rings[prog.ring_count++] = uapi_ring(fd, ctx, core, 0, 0, load, 17);
	prog.rings[prog.ring_count++] = uapi_ring(fd, ctx, core, 5, 13, store, 17);
	uapi_prog_add(&prog, uapi_insn_trigger(1u << 0, 0, 17));
	uapi_prog_add(&prog, uapi_insn_wait(3, 1));
	uapi_prog_add(&prog, uapi_insn_trigger(1u << 5, 13, 17));
	uapi_prog_add(&prog, uapi_insn_wait(4, 1));
	uapi_prog_add(&prog, uapi_insn(TRN_OP_HALT));
	program = uapi_prog_create(fd, ctx, core, &prog, &err);
	uapi_is(err, 0, "program with two rings");
	for (round = 0; round < 3; round++) {
		for (i = 0; i < WORDS; i++)
			a[i] = i * 2654435761u + round;
		uapi_write(fd, ctx, in, 0, a, sizeof(a));
		uapi_is(run(fd, program, 0), 0, "round %u: run", round);
		uapi_read(fd, ctx, out, 0, b, sizeof(b));
		for (i = 0, err = 0; i < 16; i++)
			err |= memcmp(a + i * 1024, b + (15 - i) * 1024, 4096);
		uapi_ok(!err, "round %u: data went through the on-chip memory", round);
		if (round == 1)
			usable(fd, "another program in between");
	}
}

/* Runs of a program without rings share a doorbell; more than the submission queue holds in one
 * job. */
static void batch(int fd)
{
	static struct drm_trainium_cmd cmds[500];
	struct drm_trainium_ctx_status s;
	uint32_t i;

	for (i = 0; i < 500; i++)
		cmds[i] = uapi_cmd_run(halt, NULL, 0);
	uapi_is(uapi_run_cmds(fd, ctx, cmds, 500, 0), 0, "five hundred runs in one job");
	uapi_status(fd, ctx, &s);
	uapi_is(s.fault, 0, "no fault");
}

/* The argument block reaches the registers: the program takes an illegal turn unless the first
 * argument is 5. */
static void arguments(int fd)
{
	struct trn_insn insns[2] = { uapi_insn_branch(2), uapi_insn(0xff) };
	uint32_t program, args[64] = { 5 };
	struct drm_trainium_cmd cmd, bad;

	insns[0].op0 = TRN_ALU_EQ;
	insns[0].c0 = 5;
	program = uapi_prog_make(fd, ctx, core, insns, 2);
	cmd = uapi_cmd_run(program, args, 4);
	uapi_is(uapi_run_cmds(fd, ctx, &cmd, 1, 0), 0, "an argument reaches the program");
	args[0] = 6;
	uapi_is(uapi_run_cmds(fd, ctx, &cmd, 1, 0), -EIO, "another argument, another way");
	cmd = uapi_cmd_run(halt, args, sizeof(args));
	uapi_is(uapi_run_cmds(fd, ctx, &cmd, 1, 0), 0, "run with 256 bytes of arguments");
	bad = cmd, bad.run.args_size = 260;
	uapi_is(uapi_run_cmds(fd, ctx, &bad, 1, 0), -EINVAL, "too many arguments");
	bad = cmd, bad.run.args_size = 6;
	uapi_is(uapi_run_cmds(fd, ctx, &bad, 1, 0), -EINVAL, "half an argument");
	bad = cmd, bad.run.args = 0;
	uapi_is(uapi_run_cmds(fd, ctx, &bad, 1, 0), -EFAULT, "null pointer to arguments");
	bad = cmd, bad.run.program = 4711;
	uapi_is(uapi_run_cmds(fd, ctx, &bad, 1, 0), -ENOENT, "program that does not exist");
	bad = cmd, bad.run.reserved[1] = 1;
	uapi_is(uapi_run_cmds(fd, ctx, &bad, 1, 0), -EINVAL, "reserved field of a run");
}

static void fails(int fd, struct trn_insn insn, uint32_t fault, const char *name)
{
	struct trn_insn insns[2] = { uapi_insn(TRN_OP_NOP), insn };
	struct drm_trainium_ctx_status s;
	uint32_t program;

	insns[1].tag = 77;
	program = uapi_prog_make(fd, ctx, core, insns, 2);
	uapi_is(run(fd, program, 0), -EIO, "%s", name);
	uapi_status(fd, ctx, &s);
	uapi_is(s.fault, fault, "%s: fault code", name);
	uapi_ok(s.fault_pc == 1 && s.fault_engine == TRN_ENGINE_SP && s.last_error == EIO,
		"%s: fault at pc %u of engine %u", name, s.fault_pc, s.fault_engine);
	uapi_is(s.fault_tag, 77, "%s: tag of the instruction", name);
	uapi_is(s.guilty, 0, "%s: no reset", name);
	usable(fd, name);
}

static void faults(int fd)
{
	struct trn_insn insn = uapi_insn(0xff);

	fails(fd, insn, TRN_FAULT_ILLEGAL_INSN, "illegal instruction");
	insn = uapi_insn(TRN_OP_NOP);
	insn.engine = TRN_ENGINE_PE;
	fails(fd, insn, TRN_FAULT_ILLEGAL_INSN, "instruction of another engine");
	insn = uapi_insn(TRN_OP_WRITE32);
	insn.write32.address = 0x2000000;
	fails(fd, insn, TRN_FAULT_WINDOW, "write to memory that is not the program's");
	insn.write32.address = 0xffff00000000ull;
	fails(fd, insn, TRN_FAULT_WINDOW, "write to a register");
	insn.write32.address = 0x100000000000ull;
	fails(fd, insn, TRN_FAULT_WINDOW, "write to host memory");
	fails(fd, uapi_insn_branch(1000), TRN_FAULT_FETCH, "branch out of the program");
}

/* The queues of the program before are gone: whatever the next one triggers, nothing moves. */
static void foreign_queue(int fd)
{
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 4096, NULL), value = 0xffff, zero = 0;
	struct drm_trainium_xfer xfers[2] = { uapi_xfer_bo_sbuf(bo, 4, 0, 4),
					      uapi_xfer_sbuf_bo(0, bo, 0, 4) };
	struct uapi_prog prog;
	struct trn_insn insn = uapi_insn_trigger(1u << 7, 7, 2);
	struct drm_trainium_cmd fill = {
		.type = DRM_TRAINIUM_CMD_FILL,
		.fill = { .handle = bo, .offset = 4, .length = 4, .pattern = 77 },
	};
	uint32_t owner, other = uapi_prog_make(fd, ctx, core, &insn, 1);
	int err;

	memset(&prog, 0, sizeof(prog));
	xfers[0].flags = DRM_TRAINIUM_XFER_BARRIER;
	prog.rings[prog.ring_count++] = uapi_ring(fd, ctx, core, 7, 7, xfers, 2);
	uapi_prog_add(&prog, insn);
	uapi_prog_add(&prog, uapi_insn(TRN_OP_HALT));
	owner = uapi_prog_create(fd, ctx, core, &prog, &err);
	uapi_is(err, 0, "program whose ring copies a word");
	uapi_run_cmds(fd, ctx, &fill, 1, 0);
	uapi_is(run(fd, owner, 0), 0, "run it");
	/* The program does not wait for its transfers. */
	for (err = 0; err < 500 && value != 77; err++) {
		usleep(10000);
		uapi_read(fd, ctx, bo, 0, &value, 4);
	}
	uapi_is(value, 77, "the word was copied");
	uapi_write(fd, ctx, bo, 0, &zero, 4);
	uapi_is(run(fd, other, 0), -EIO, "another program triggers the same queue");
	usleep(20000);
	uapi_read(fd, ctx, bo, 0, &value, 4);
	uapi_is(value, 0, "nothing was copied");
	usable(fd, "it");
}

static void endless(int fd)
{
	struct trn_insn loop = uapi_insn_branch(0), wait = uapi_insn_wait(9, 1);
	uint32_t looping = uapi_prog_make(fd, ctx, core, &loop, 1),
		 waiting = uapi_prog_make(fd, ctx, core, &wait, 1);
	struct drm_trainium_ctx_status s;
	int64_t start = uapi_now_ns();

	uapi_is(run(fd, looping, 1000000000), -ETIME, "endless loop with a time-out of one second");
	uapi_ok(uapi_now_ns() - start < 3000000000ll, "it ends soon after");
	uapi_status(fd, ctx, &s);
	uapi_ok(s.guilty == 1 && s.last_error == ETIME, "the context is guilty");
	usable(fd, "a reset");
	uapi_is(run(fd, waiting, 200000000), -ETIME, "endless wait");
	usable(fd, "another reset");
}

/* What was queued behind the job that was reset is cancelled; what comes later runs. */
static void behind(int fd)
{
	struct trn_insn loop = uapi_insn_branch(0);
	uint32_t looping = uapi_prog_make(fd, ctx, core, &loop, 1), sync = uapi_syncobj(fd);
	struct drm_trainium_sync point = { .handle = sync, .point = 1 };
	struct drm_trainium_cmd cmd = uapi_cmd_run(looping, NULL, 0);
	struct drm_trainium_submit submit = {
		.ctx = ctx,
		.cmds = (uintptr_t)&cmd,
		.cmd_count = 1,
		.cmd_stride = sizeof(cmd),
		.signals = (uintptr_t)&point,
		.signal_count = 1,
		.timeout_ns = 300000000,
	};
	struct drm_trainium_ctx_status s;
	uint64_t first;

	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &submit), 0, "submit an endless loop");
	first = submit.seq;
	cmd = uapi_cmd_run(halt, NULL, 0);
	point.point = 2;
	submit.seq = 0;
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &submit), 0, "and a good job behind it");
	uapi_is(uapi_wait(fd, sync, 1, 5), 0, "the first fence is signalled");
	uapi_is(uapi_wait(fd, sync, 2, 5), 0, "the second too");
	uapi_status(fd, ctx, &s);
	uapi_is(s.last_error, ECANCELED, "the job behind was cancelled");
	uapi_is((int64_t)s.last_failed, (int64_t)first + 1, "it is named");
	memset(&s, 0, sizeof(s));
	s.id = ctx;
	s.seq = first;
	uapi_call(fd, DRM_IOCTL_TRAINIUM_CTX_STATUS, &s);
	uapi_is(s.seq_error, -ETIME, "the first timed out");
	usable(fd, "both");
}

/* Copies of another context on the same device go on while a core is being reset. */
static void neighbours(int fd)
{
	struct trn_insn loop = uapi_insn_branch(0);
	uint32_t looping = uapi_prog_make(fd, ctx, core, &loop, 1);
	struct drm_trainium_cmd cmd = uapi_cmd_run(looping, NULL, 0), fills[64];
	struct drm_trainium_submit submit = {
		.ctx = ctx,
		.cmds = (uintptr_t)&cmd,
		.cmd_count = 1,
		.cmd_stride = sizeof(cmd),
		.timeout_ns = 100000000,
	};
	uint32_t bo = uapi_bo(fd, DRM_TRAINIUM_PLACE_HBM, 16 * MIB, NULL), other[4], i;
	int64_t end = uapi_now_ns() + 600000000;
	int err = 0, jobs = 0;

	memset(fills, 0, sizeof(fills));
	for (i = 0; i < 4; i++)
		other[i] = uapi_ctx(fd, 0, 0, NULL);
	for (i = 0; i < 64; i++) {
		fills[i].type = DRM_TRAINIUM_CMD_FILL;
		fills[i].fill.handle = bo;
		fills[i].fill.offset = i * 262144;
		fills[i].fill.length = 262144;
	}
	uapi_is(uapi_call(fd, DRM_IOCTL_TRAINIUM_SUBMIT, &submit), 0, "submit an endless loop");
	for (i = 0; !err && uapi_now_ns() < end; i = (i + 1) % 4, jobs++)
		err = uapi_run_cmds(fd, other[i], fills, 64, 0);
	uapi_is(err, 0, "copies of other contexts went on, %d jobs", jobs);
	usable(fd, "it");
	for (i = 0; i < 4; i++)
		uapi_ctx_destroy(fd, other[i]);
	uapi_bo_close(fd, bo);
}

int main(void)
{
	struct drm_trainium_device_info info;
	uint32_t cores = 0;
	int fd = uapi_open();

	uapi_device(fd, &info);
	if (!(info.caps & DRM_TRAINIUM_CAP_RUN)) {
		struct trn_insn nop = uapi_insn(TRN_OP_NOP);
		struct uapi_prog prog;
		int err;

		memset(&prog, 0, sizeof(prog));
		uapi_prog_add(&prog, nop);
		ctx = uapi_ctx(fd, 0, 1, &cores);
		uapi_prog_create(fd, ctx, (uint32_t)__builtin_ctz(cores | 0x80000000u), &prog,
				 &err);
		uapi_is(err, -EOPNOTSUPP, "a device that runs no programs says so");
		return uapi_end();
	}
	ctx = uapi_ctx(fd, 0, 1, &cores);
	core = (uint32_t)__builtin_ctz(cores | 0x80000000u);
	halt = uapi_prog_make(fd, ctx, core, NULL, 0);
	usable(fd, "creation");
	rings(fd);
	batch(fd);
	arguments(fd);
	faults(fd);
	foreign_queue(fd);
	endless(fd);
	behind(fd);
	neighbours(fd);
	close(fd);
	return uapi_end();
}
