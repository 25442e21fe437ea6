/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rig for tests of links: several in-process devices of any product whose descriptor rings lie in
 * their own HBM, so that nothing but the devices is needed.
 */
#ifndef LINK_RIG_H
#define LINK_RIG_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include "tests/emulator/emu.h"
#include "tests/emulator/inproc.h"
#include "trainium/desc.h"
#include "trainium/ext.h"
#include "trainium/map.h"
#include "trainium/regs.h"

#define LINK_RIG_HBM	 (64ull << 20) /* bytes of a stack */
#define LINK_RIG_RING	 64u
#define LINK_RIG_WAIT_MS 10000u
#define LINK_RIG_DATA	 0x2000000ull /* first device address the rig does not use itself */

/** struct link_dev - a device; @irq0 counts messages of vector 0, atomic. */
struct link_dev {
	struct emu_inproc *inproc;
	struct emu_device *dev;
	uint8_t *hbm; /* stack 0 */
	unsigned int generation;
	uint32_t irq0;
};

/** struct link_queue - queue of an engine; rings in HBM. */
struct link_queue {
	struct link_dev *dev;
	unsigned int engine, queue;
	uint32_t udma, next;
	uint64_t ring; /* device address: M2S, then S2M */
};

/** link_config() - the configuration of the tests: small HBM. */
struct emu_config link_config(const char *arch, const char *fabric, uint32_t routing_id);
void link_open(struct link_dev *dev, const struct emu_config *config);
/** link_close() - also asserts the number of complaints. */
void link_close(struct link_dev *dev, uint64_t complaints);

uint32_t link_ext(struct link_dev *dev, uint32_t offset);
void link_ext_write(struct link_dev *dev, uint32_t offset, uint32_t value);
uint32_t link_reg(struct link_dev *dev, unsigned int link, uint32_t reg);
uint32_t link_read(struct link_dev *dev, uint64_t bar0);
void link_write(struct link_dev *dev, uint64_t bar0, uint32_t value);
/** link_window() - device address of the window of @link. */
uint64_t link_window(struct link_dev *dev, unsigned int link);
void link_wait_state(struct link_dev *dev, unsigned int link, uint32_t state);
uint64_t link_complaints(struct link_dev *dev, enum emu_complaint kind);

/** link_misc() - BAR0 offset of the MISC RAM; link_misc_dev(): its device address. */
uint64_t link_misc(const struct link_dev *dev);
uint64_t link_misc_dev(const struct link_dev *dev);
/** link_sem(), link_sem_dev() - semaphore @i of core 0 in an aperture: BAR0, device address. */
uint64_t link_sem(const struct link_dev *dev, uint32_t aperture, unsigned int i);
uint64_t link_sem_dev(const struct link_dev *dev, uint32_t aperture, unsigned int i);
/** link_udma() - BAR0 offset of DMA engine @id. */
uint32_t link_udma(const struct link_dev *dev, unsigned int id);
/** link_bar0_dev() - device address of a register of an engine of core 0. */
uint64_t link_bar0_dev(const struct link_dev *dev, uint32_t bar0);

/** link_queue_open() - program and enable; a second time: reset. */
void link_queue_open(struct link_dev *dev, struct link_queue *queue, unsigned int engine,
		     unsigned int number);
/** link_append() - one packet of @len <= 64 KiB, no doorbell; barrier on request. */
void link_append(struct link_queue *queue, uint64_t dst, uint64_t src, uint32_t len, bool barrier);
void link_ring(struct link_queue *queue, uint32_t count);
void link_copy(struct link_queue *queue, uint64_t dst, uint64_t src, uint32_t len);
uint32_t link_head(struct link_queue *queue);
/** link_wait_idle() - until everything appended is done. */
void link_wait_idle(struct link_queue *queue);
uint32_t link_word(struct link_dev *dev, uint64_t addr);
void link_word_set(struct link_dev *dev, uint64_t addr, uint32_t value);
/** link_wait_word() - until the word in HBM is @value. */
void link_wait_word(struct link_dev *dev, uint64_t addr, uint32_t value);
void link_pause(unsigned int ms);

#endif /* LINK_RIG_H */
