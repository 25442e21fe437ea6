// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rig for tests of links.
 */
#include <string.h>
#include <time.h>
#include "link_rig.h"

#define RINGS 0x1000000ull /* behind what belongs to the firmware */

void link_pause(unsigned int ms)
{
	const struct timespec time = { .tv_nsec = ms ? ms * 1000000l : 50000l };

	nanosleep(&time, NULL);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void on_interrupt(void *arg, unsigned int vector)
{
	struct link_dev *dev = arg;

	if (vector == TRN_VECTOR_DEVICE)
		__atomic_fetch_add(&dev->irq0, 1, __ATOMIC_SEQ_CST);
}

struct emu_config link_config(const char *arch, const char *fabric, uint32_t routing_id)
{
	const struct emu_config config = {
		.size = sizeof(config),
		.arch = arch,
		.fabric = fabric,
		.routing_id = routing_id,
		.hbm_bytes = LINK_RIG_HBM,
	};

	return config;
}

void link_open(struct link_dev *dev, const struct emu_config *config)
{
	char error[256] = "";
	uint64_t size;

	memset(dev, 0, sizeof(*dev));
	dev->generation = config->arch && !strcmp(config->arch, "trn2") ? 3 : 2;
	ck_assert_msg(!emu_inproc_create(config, &dev->inproc, error, sizeof(error)), "%s", error);
	dev->dev = emu_inproc_device(dev->inproc);
	dev->hbm = emu_device_hbm(dev->dev, &size);
	emu_inproc_interrupt_handler(dev->inproc, on_interrupt, dev);
}

void link_close(struct link_dev *dev, uint64_t complaints)
{
	char text[256];

	emu_device_complaint_text(dev->dev, text, sizeof(text));
	ck_assert_msg(link_complaints(dev, EMU_COMPLAINT_NONE) == complaints,
		      "%llu complaints, %llu expected; last: %s",
		      (unsigned long long)link_complaints(dev, EMU_COMPLAINT_NONE),
		      (unsigned long long)complaints, text);
	emu_inproc_destroy(dev->inproc);
	dev->inproc = NULL;
}

uint32_t link_ext(struct link_dev *dev, uint32_t offset)
{
	return emu_device_read(dev->dev, TRN_EXT_BAR, offset, 4);
}

void link_ext_write(struct link_dev *dev, uint32_t offset, uint32_t value)
{
	emu_device_write(dev->dev, TRN_EXT_BAR, offset, value, 4);
}

uint32_t link_reg(struct link_dev *dev, unsigned int link, uint32_t reg)
{
	return link_ext(dev, TRN_EXT_LINK(link) + reg);
}

uint32_t link_read(struct link_dev *dev, uint64_t bar0)
{
	return emu_device_read(dev->dev, 0, bar0, 4);
}

void link_write(struct link_dev *dev, uint64_t bar0, uint32_t value)
{
	emu_device_write(dev->dev, 0, bar0, value, 4);
}

uint64_t link_window(struct link_dev *dev, unsigned int link)
{
	return link_reg(dev, link, TRN_LINK_WINDOW_LOW) |
	       (uint64_t)link_reg(dev, link, TRN_LINK_WINDOW_HIGH) << 32;
}

void link_wait_state(struct link_dev *dev, unsigned int link, uint32_t state)
{
	uint64_t end = now_ms() + LINK_RIG_WAIT_MS;

	while (link_reg(dev, link, TRN_LINK_STATE) != state) {
		ck_assert_msg(now_ms() < end, "link %u is in state %u, not %u", link,
			      link_reg(dev, link, TRN_LINK_STATE), state);
		link_pause(1);
	}
}

uint64_t link_complaints(struct link_dev *dev, enum emu_complaint kind)
{
	return emu_device_complaints(dev->dev, kind);
}

uint64_t link_misc(const struct link_dev *dev)
{
	return dev->generation == 3 ? TRN_V3_MISC : TRN_V2_MISC;
}

uint64_t link_misc_dev(const struct link_dev *dev)
{
	if (dev->generation == 3)
		return TRN_V3_APB_DEV(0) + TRN_V3_MISC;
	return TRN_V2_DEV_BASE + TRN_V2_MISC;
}

uint64_t link_sem(const struct link_dev *dev, uint32_t aperture, unsigned int i)
{
	return (dev->generation == 3 ? TRN_V3_TPB(0) : TRN_V2_TPB(0)) + aperture + i * 4;
}

uint64_t link_sem_dev(const struct link_dev *dev, uint32_t aperture, unsigned int i)
{
	if (dev->generation == 3)
		return TRN_V3_TPB_DEV(0) + aperture + i * 4;
	return TRN_V2_DEV_BASE + TRN_V2_TPB(0) + aperture + i * 4;
}

uint32_t link_udma(const struct link_dev *dev, unsigned int id)
{
	if (dev->generation == 3)
		return TRN_V3_UDMA(id / TRN_V3_ENGINES_PER_SENG, id % TRN_V3_ENGINES_PER_SENG);
	return TRN_V2_UDMA(id / TRN_ENGINES_PER_CORE, id % TRN_ENGINES_PER_CORE);
}

uint64_t link_bar0_dev(const struct link_dev *dev, uint32_t bar0)
{
	if (dev->generation == 3)
		return TRN_V3_SE_DEV(0) + (bar0 - TRN_V3_SE(0));
	return TRN_V2_DEV_BASE + bar0;
}

static uint32_t queue_reg(const struct link_queue *queue, int dir, uint32_t reg)
{
	return queue->udma + (dir ? TRN_UDMA_S2M : TRN_UDMA_M2S) + TRN_UDMA_QUEUE(queue->queue) +
	       reg;
}

static struct trn_desc *ring_at(const struct link_queue *queue, int dir)
{
	return (struct trn_desc *)(queue->dev->hbm + queue->ring) + dir * LINK_RIG_RING;
}

void link_queue_open(struct link_dev *dev, struct link_queue *queue, unsigned int engine,
		     unsigned int number)
{
	const uint32_t size = LINK_RIG_RING * TRN_DESC_SIZE;
	int dir;

	memset(queue, 0, sizeof(*queue));
	queue->dev = dev;
	queue->engine = engine;
	queue->queue = number;
	queue->udma = link_udma(dev, engine);
	queue->ring = RINGS + (engine * TRN_UDMA_QUEUES + number) * 2ull * size;
	link_write(dev, queue->udma + TRN_UDMA_M2S + TRN_M2S_PKT_LEN_CFG, 0x010fffff);
	link_write(dev, queue->udma + TRN_UDMA_M2S + TRN_M2S_PREFETCH_CFG2, 0x00010041);
	for (dir = 0; dir < 2; dir++) {
		uint64_t base = queue->ring + (uint64_t)dir * size;

		link_write(dev, queue_reg(queue, dir, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
		link_write(dev, queue_reg(queue, dir, dir ? TRN_Q_S2M_SW_CTRL : TRN_Q_M2S_SW_CTRL),
			   TRN_Q_SW_CTRL_RESET);
		link_write(dev, queue_reg(queue, dir, TRN_Q_BASE_LOW), (uint32_t)base);
		link_write(dev, queue_reg(queue, dir, TRN_Q_BASE_HIGH), (uint32_t)(base >> 32));
		link_write(dev, queue_reg(queue, dir, TRN_Q_LENGTH), LINK_RIG_RING);
		link_write(dev, queue_reg(queue, dir, TRN_Q_CFG),
			   TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE);
	}
}

void link_append(struct link_queue *queue, uint64_t dst, uint64_t src, uint32_t len, bool barrier)
{
	uint32_t pass = TRN_RING_FIRST_ID + queue->next / LINK_RIG_RING;
	uint32_t at = queue->next++ % LINK_RIG_RING;
	uint32_t id = (pass & 3) << TRN_DESC_RING_ID_SHIFT;

	ring_at(queue, 0)[at] = (struct trn_desc){
		.ctrl = (len & TRN_DESC_LEN_MASK) | TRN_DESC_FIRST | TRN_DESC_LAST | id,
		.meta = barrier ? TRN_META_BARRIER : TRN_META_PLAIN,
		.addr = src,
	};
	ring_at(queue, 1)[at] =
		(struct trn_desc){ .ctrl = (len & TRN_DESC_LEN_MASK) | id, .addr = dst };
}

void link_ring(struct link_queue *queue, uint32_t count)
{
	link_write(queue->dev, queue_reg(queue, 1, TRN_Q_TAIL_INC), count);
	link_write(queue->dev, queue_reg(queue, 0, TRN_Q_TAIL_INC), count);
}

void link_copy(struct link_queue *queue, uint64_t dst, uint64_t src, uint32_t len)
{
	link_append(queue, dst, src, len, false);
	link_ring(queue, 1);
}

uint32_t link_head(struct link_queue *queue)
{
	return link_read(queue->dev, queue_reg(queue, 1, TRN_Q_HEAD)) & TRN_Q_INDEX_MASK;
}

void link_wait_idle(struct link_queue *queue)
{
	uint64_t end = now_ms() + LINK_RIG_WAIT_MS;

	while (link_head(queue) != queue->next % LINK_RIG_RING) {
		ck_assert_msg(now_ms() < end, "queue %u of engine %u stands at %u, not %u",
			      queue->queue, queue->engine, link_head(queue),
			      queue->next % LINK_RIG_RING);
		link_pause(0);
	}
}

uint32_t link_word(struct link_dev *dev, uint64_t addr)
{
	return __atomic_load_n((uint32_t *)(dev->hbm + addr), __ATOMIC_ACQUIRE);
}

void link_word_set(struct link_dev *dev, uint64_t addr, uint32_t value)
{
	__atomic_store_n((uint32_t *)(dev->hbm + addr), value, __ATOMIC_RELEASE);
}

void link_wait_word(struct link_dev *dev, uint64_t addr, uint32_t value)
{
	uint64_t end = now_ms() + LINK_RIG_WAIT_MS;

	while (link_word(dev, addr) != value) {
		ck_assert_msg(now_ms() < end, "word at 0x%llx is 0x%x, not 0x%x",
			      (unsigned long long)addr, link_word(dev, addr), value);
		link_pause(0);
	}
}
