/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rig for register-level tests of the device model: an in-process device, host memory it reaches,
 * rings, waits. Knows no driver.
 */
#ifndef EMU_RIG_H
#define EMU_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <check.h>
#include "emu_rig_map.h"
#include "tests/emulator/emu.h"
#include "tests/emulator/inproc.h"
#include "trainium/desc.h"
#include "trainium/ext.h"
#include "trainium/isa.h"
#include "trainium/map.h"
#include "trainium/notify.h"
#include "trainium/regs.h"

#define RIG_MAX_VECTORS	  (1u + TRN_MAX_CORES + 4u)
#define RIG_TIMEOUT_MS	  10000u
#define RIG_CORE_BLOCK(n) (rig_map->tpb(n) + TRN_TPB_CORE)
#define RIG_HOST	  (rig_map->host_base)
#define RIG_MISC	  (rig_map->misc)
/* first host copy engine */
#define RIG_H2T	    (rig_map->cores * TRN_ENGINES_PER_CORE)
#define RIG_VECTORS (1u + rig_map->cores + rig_map->engines - RIG_H2T)

/** struct rig - device under test; irq[] counts messages per vector. */
struct rig {
	struct emu_inproc *inproc;
	struct emu_device *dev;
	uint32_t irq[RIG_MAX_VECTORS]; /* atomic access */
};

/** struct rig_host - page-aligned host memory, mapped for the device; dev is its device address. */
struct rig_host {
	uint8_t *ptr;
	size_t len;
	uint64_t bus, dev;
};

/** struct rig_queue - a queue of an engine with rings in host memory. */
struct rig_queue {
	struct rig *rig;
	unsigned int engine, queue;
	uint32_t udma; /* BAR0 offset of the engine */
	uint32_t length;
	struct rig_host mem; /* M2S ring, then S2M ring */
	struct trn_desc *m2s, *s2m;
	uint32_t next[2], pass[2]; /* producer index and ring id: M2S, S2M */
};

/** struct rig_core - a core with submission queue and notification ring in host memory. */
struct rig_core {
	struct rig *rig;
	unsigned int core;
	struct rig_host mem;
	struct trn_run_request *sq;
	struct trn_notification *nq;
	uint32_t tail, read; /* requests written, notifications consumed */
	uint32_t sq_size, nq_entries;
};

/** rig_main() - run @count tests as @suite, once for each product (TRN_EMU_ARCH=: that one alone);
 * exit status. */
int rig_main(const char *suite, const TTest *const *tests, size_t count);
#define RIG_MAIN(suite, tests) rig_main(suite, tests, sizeof(tests) / sizeof((tests)[0]))

/** rig_open() - a device of the product under test; rig_open_config() of @config, whose arch NULL
 * means the same product. */
void rig_open(struct rig *rig);
void rig_open_config(struct rig *rig, const struct emu_config *config);
/** rig_close() - also asserts that the device ended without a complaint unless @complaints were
 * expected. */
void rig_close(struct rig *rig, uint64_t complaints);

uint32_t rig_read(struct rig *rig, uint64_t bar0);
void rig_write(struct rig *rig, uint64_t bar0, uint32_t value);
uint32_t rig_ext_read(struct rig *rig, uint32_t offset);
void rig_ext_write(struct rig *rig, uint32_t offset, uint32_t value);
uint32_t rig_irq(struct rig *rig, unsigned int vector);
void rig_unmask(struct rig *rig, unsigned int vector);
/** rig_wait() - until the register reads @value under @mask; fails the test after RIG_TIMEOUT_MS.
 */
void rig_wait(struct rig *rig, uint64_t bar0, uint32_t mask, uint32_t value);
void rig_wait_irq(struct rig *rig, unsigned int vector, uint32_t count);
void rig_wait_word(const void *word, uint32_t value);
void rig_wait_complaint(struct rig *rig, enum emu_complaint kind, uint64_t count);
void rig_quiesce(struct rig *rig);
uint64_t rig_complaints(struct rig *rig, enum emu_complaint kind);
/** rig_hbm() - pointer into BAR4 for a device address in HBM. */
void *rig_hbm(struct rig *rig, uint64_t dev);

void rig_host_alloc(struct rig *rig, struct rig_host *host, size_t len);
void rig_host_free(struct rig *rig, struct rig_host *host);

/** rig_engine() - BAR0 offset of DMA engine @id. */
uint32_t rig_engine(unsigned int id);
/** rig_engine_init() - interrupt controllers and limits as a driver programs them. */
void rig_engine_init(struct rig *rig, unsigned int id);
void rig_queue_open(struct rig *rig, struct rig_queue *queue, unsigned int engine, unsigned int q,
		    uint32_t length);
void rig_queue_reset(struct rig_queue *queue);
void rig_queue_close(struct rig_queue *queue);
/** rig_m2s(), rig_s2m() - append one descriptor, no doorbell. @flags are or-ed to FIRST and LAST,
 * or replace them with rig_m2s_raw(). */
void rig_m2s_raw(struct rig_queue *queue, uint64_t addr, uint32_t len, uint32_t flags,
		 uint32_t meta);
void rig_m2s(struct rig_queue *queue, uint64_t addr, uint32_t len, uint32_t flags);
void rig_s2m(struct rig_queue *queue, uint64_t addr, uint32_t len);
void rig_ring(struct rig_queue *queue, uint32_t m2s, uint32_t s2m);
/** rig_copy() - one packet of @len <= 64 KiB and both doorbells. */
void rig_copy(struct rig_queue *queue, uint64_t dst, uint64_t src, uint32_t len);
/** rig_head() - head register without ring id, of direction 0 M2S, 1 S2M. */
uint32_t rig_head(struct rig_queue *queue, int dir);
/** rig_q() - BAR0 offset of a queue register. */
uint32_t rig_q(const struct rig_queue *queue, int dir, uint32_t reg);

void rig_core_open(struct rig *rig, struct rig_core *core, unsigned int n);
void rig_core_close(struct rig_core *core);
/** rig_core_reg() - BAR0 offset of a register of the core's control block. */
uint32_t rig_core_reg(const struct rig_core *core, uint32_t reg);
/** rig_nq() - BAR0 offset of a register of notification slot @slot of the core. */
uint32_t rig_nq(const struct rig_core *core, unsigned int slot, uint32_t reg);
/**
 * rig_program() - write a program of one engine to HBM: table at @dev, image at @dev + 0x1000.
 * Return: a request for it that may reach all of HBM 0.
 */
struct trn_run_request rig_program(struct rig *rig, uint64_t dev, enum trn_engine engine,
				   const struct trn_insn *insn, uint32_t count);
void rig_windows(struct rig *rig, struct trn_run_request *request, uint64_t dev,
		 const struct trn_window *window, uint32_t count);
void rig_submit(struct rig_core *core, const struct trn_run_request *request);
/** rig_note() - next entry of slot 0's ring; waits for it. */
struct trn_notification rig_note(struct rig_core *core);
/** rig_run() - submit, wait for RUN_END (checks the cookie), return its code. An ERROR entry before
 * it is skipped. */
enum trn_fault rig_run(struct rig_core *core, const struct trn_run_request *request);
/** rig_sem() - BAR0 offset of semaphore @i of core @n in aperture TRN_TPB_SEM_*. */
uint32_t rig_sem(unsigned int n, uint32_t aperture, unsigned int i);

#endif /* EMU_RIG_H */
