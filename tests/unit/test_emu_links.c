// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links between devices of one process: wiring, what can be reached, links that are not up,
 * neighbours that go away. Links between processes: test_emu_far.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "emu_rig.h"
#include "link_rig.h"

#define DATA	LINK_RIG_DATA
#define BACK	(LINK_RIG_DATA + 0x100000)
#define TARGETS (LINK_RIG_DATA + 0x200000) /* one word for each link of each sender */
#define DEVICES 16u

/* topology.md: device index of a routing id and back, and for Trn2 where its links go. */
static const uint8_t trn1_index[16] = {
	0, 4, 1, 5, 3, 7, 2, 6, 12, 8, 13, 9, 15, 11, 14, 10,
};

static const uint8_t trn1_routing[16] = {
	0, 2, 6, 4, 1, 3, 7, 5, 9, 11, 15, 13, 8, 10, 14, 12,
};

static const uint8_t trn2_index[16] = {
	0, 3, 4, 7, 12, 15, 8, 11, 1, 2, 5, 6, 13, 14, 9, 10,
};

static const uint8_t trn2_routing[16] = {
	0, 8, 9, 1, 2, 10, 11, 3, 6, 14, 15, 7, 4, 12, 13, 5,
};

static const uint8_t trn2_seng[16][4] = {
	{ 12, 1, 3, 4 },  { 0, 13, 5, 2 },  { 14, 3, 1, 6 },   { 2, 15, 7, 0 },
	{ 8, 5, 7, 0 },	  { 4, 9, 1, 6 },   { 10, 7, 5, 2 },   { 6, 11, 3, 4 },
	{ 4, 9, 11, 12 }, { 8, 5, 13, 10 }, { 6, 11, 9, 14 },  { 10, 7, 15, 8 },
	{ 0, 13, 15, 8 }, { 12, 1, 9, 14 }, { 2, 15, 13, 10 }, { 14, 3, 11, 12 },
};

/* Two neighbours: link[0] of the device with routing id id[0] leads to the one with id[1], its
 * link[1] back. */
struct pair {
	const char *arch;
	unsigned int id[2], link[2];
};

static const struct pair pairs[] = {
	{ "trn1", { 0, 4 }, { 1, 3 } },
	{ "inf2", { 0, 1 }, { 1, 0 } },
	{ "trn2", { 0, 8 }, { 1, 0 } },
};

static const struct pair *pair;

static bool rig_is(const char *arch)
{
	return !strcmp(rig_map->arch, arch);
}

static void one_open(struct link_dev *dev, unsigned int which)
{
	struct emu_config config = link_config(pair->arch, "machine", pair->id[which]);

	link_open(dev, &config);
}

static void pair_choose(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (rig_is(pairs[i].arch))
			pair = &pairs[i];
	ck_assert_ptr_nonnull(pair);
}

static void pair_open(struct link_dev dev[2])
{
	pair_choose();
	one_open(&dev[0], 0);
	one_open(&dev[1], 1);
}

static uint64_t target_word(unsigned int sender, unsigned int link)
{
	return TARGETS + (sender * 8 + link) * 4;
}

static uint32_t tag(unsigned int sender, unsigned int link)
{
	return 0x7a600000 | sender << 8 | link;
}

/* Each device writes a tag over each of its links, to a word that is its own. */
static void tags_send(struct link_dev *dev, unsigned int count, unsigned int links)
{
	struct link_queue queue;
	unsigned int d, l;

	for (d = 0; d < count; d++) {
		link_queue_open(&dev[d], &queue, 0, 0);
		for (l = 0; l < links; l++) {
			link_word_set(&dev[d], DATA + l * 4, tag(d, l));
			link_copy(&queue, link_window(&dev[d], l) + target_word(d, l), DATA + l * 4,
				  4);
			link_copy(&queue, BACK + l * 4, link_window(&dev[d], l) + target_word(d, l),
				  4);
		}
		link_wait_idle(&queue);
		for (l = 0; l < links; l++)
			ck_assert_uint_eq(link_word(&dev[d], BACK + l * 4), tag(d, l));
	}
}

/* The tag of (@d, @link) arrived at @expected and nowhere else. */
static void tag_check(struct link_dev *dev, unsigned int count, unsigned int d, unsigned int link,
		      unsigned int expected)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		ck_assert_msg(link_word(&dev[i], target_word(d, link)) ==
				      (i == expected ? tag(d, link) : 0),
			      "routing id %u link %u: the word at routing id %u is 0x%x", d, link,
			      i, link_word(&dev[i], target_word(d, link)));
}

static void machine_open(struct link_dev *dev, const char *arch, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct emu_config config = link_config(arch, "machine", i);

		link_open(&dev[i], &config);
	}
}

static void machine_close(struct link_dev *dev, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		link_close(&dev[i], 0);
}

/* Neighbour of routing id @r over @link, by the tables of topology.md. */
static unsigned int expected_peer(unsigned int r, unsigned int link)
{
	unsigned int d, row, column;

	if (rig_is("inf2"))
		return link ? (r + 1) % 12 : (r + 11) % 12;
	if (rig_is("trn2"))
		return trn2_routing[trn2_seng[trn2_index[r]][link % 4]];
	d = trn1_index[r];
	row = d / 4;
	column = d % 4;
	switch (link) {
	case 0:
		return trn1_routing[(d + 12) % 16];
	case 1:
		return trn1_routing[4 * row + (column + 3) % 4];
	case 2:
		return trn1_routing[(d + 4) % 16];
	default:
		return trn1_routing[4 * row + (column + 1) % 4];
	}
}

/* Every link of every device of a whole machine: 16 of Trn1 and Trn2, 12 of Inf2. */
START_TEST(machine)
{
	unsigned int count = rig_is("inf2") ? 12 : 16, links = rig_is("inf2") ? 2 : 4, r, l;
	struct link_dev dev[DEVICES];

	if (rig_is("trn2"))
		links = 8;
	machine_open(dev, rig_map->arch, count);
	tags_send(dev, count, links);
	for (r = 0; r < count; r++) {
		ck_assert_uint_eq(link_ext(&dev[r], TRN_EXT_LINK_COUNT), links);
		for (l = 0; l < links; l++) {
			unsigned int peer = expected_peer(r, l);

			ck_assert_uint_eq(link_reg(&dev[r], l, TRN_LINK_PEER), 1u << 31 | peer);
			ck_assert_uint_eq(link_reg(&dev[r], l, TRN_LINK_STATE), 2);
			tag_check(dev, count, r, l, peer);
		}
	}
	machine_close(dev, count);
}
END_TEST

/* Six of Inf2 make a line; of the others, a device alone has nobody. */
START_TEST(part_of_machine)
{
	struct link_dev dev[6];
	unsigned int r, l;

	if (!rig_is("inf2")) {
		machine_open(dev, rig_map->arch, 1);
		for (l = 0; l < link_ext(&dev[0], TRN_EXT_LINK_COUNT); l++) {
			ck_assert_uint_eq(link_reg(&dev[0], l, TRN_LINK_STATE), 0);
			ck_assert_uint_ne(link_reg(&dev[0], l, TRN_LINK_PEER), 0);
		}
		machine_close(dev, 1);
		return;
	}
	machine_open(dev, "inf2", 6);
	for (r = 0; r < 6; r++) {
		ck_assert_uint_eq(link_reg(&dev[r], 0, TRN_LINK_STATE), r > 0 ? 2 : 0);
		ck_assert_uint_eq(link_reg(&dev[r], 1, TRN_LINK_STATE), r < 5 ? 2 : 0);
	}
	machine_close(dev, 6);
}
END_TEST

/* Devices of routing ids 16 and up make a torus of their own; Inf2 has one ring. */
START_TEST(second_torus)
{
	struct emu_config config = link_config(rig_map->arch, "machine", 16 + 9);
	unsigned int l;
	struct link_dev dev;

	link_open(&dev, &config);
	for (l = 0; l < link_ext(&dev, TRN_EXT_LINK_COUNT); l++)
		ck_assert_uint_eq(link_reg(&dev, l, TRN_LINK_PEER),
				  rig_is("inf2") ? 0 : 1u << 31 | (16 + expected_peer(9, l)));
	link_close(&dev, 0);
}
END_TEST

static void refused(const struct emu_config *config, const char *first, const char *second)
{
	struct emu_inproc *inproc;
	char error[256] = "";

	ck_assert_int_lt(emu_inproc_create(config, &inproc, error, sizeof(error)), 0);
	ck_assert_ptr_null(inproc);
	ck_assert_msg(strstr(error, first) && strstr(error, second), "%s", error);
}

START_TEST(bad_places)
{
	struct emu_config config = link_config(rig_map->arch, "machine", 3);
	struct link_dev dev, other;

	config.name = "first";
	link_open(&dev, &config);
	config.name = "second";
	refused(&config, "first", "second");
	refused(&config, "routing-id=3", "machine");
	/* Another fabric, or none, is another machine. */
	config.fabric = "elsewhere";
	link_open(&other, &config);
	link_close(&other, 0);
	config.fabric = NULL;
	link_open(&other, &config);
	link_close(&other, 0);
	link_close(&dev, 0);
	/* Its place is free again. */
	config.fabric = "machine";
	link_open(&dev, &config);
	emu_device_disconnect(dev.dev);
	link_open(&other, &config);
	link_close(&other, 0);
	link_close(&dev, 0);

	config = link_config(rig_map->arch, "machine", 0);
	config.nodes = 2;
	if (!rig_is("trn2"))
		refused(&config, "nodes=2", rig_map->arch);
	config.nodes = 3;
	refused(&config, "nodes=3", "2 or 4");
	config.nodes = 1;
	config.node = 1;
	refused(&config, "node=1", "nodes=1");
}
END_TEST

static void windows_check(struct link_dev *dev)
{
	static const uint64_t v2[] = { 0x1000000000000, 0x1100000000000, 0x1200000000000,
				       0x1300000000000 };
	static const uint64_t v3[] = { 0x10000000000000, 0x14000000000000, 0x18000000000000,
				       0x1c000000000000, 0x20000000000000, 0x24000000000000,
				       0x28000000000000, 0x2c000000000000 };
	unsigned int l;

	for (l = 0; l < link_ext(dev, TRN_EXT_LINK_COUNT); l++)
		ck_assert_uint_eq(link_window(dev, l), rig_is("trn2") ? v3[l] : v2[l]);
}

START_TEST(registers)
{
	struct link_dev dev[2];
	uint32_t summary;

	pair_open(dev);
	/* On Trn2 two links lead to a neighbour: the public one and the one of the torus. */
	summary = 1u << pair->link[0] | (rig_is("trn2") ? 0x10u << pair->link[0] : 0);
	ck_assert_uint_eq(link_ext(&dev[0], TRN_EXT_LINK_NODE), 1 << 8);
	ck_assert_uint_eq(link_ext(&dev[0], TRN_EXT_LINK_REJECTED), 0);
	windows_check(&dev[0]);
	ck_assert_uint_eq(link_reg(&dev[0], 2 * !rig_is("inf2"), TRN_LINK_STATE), 0);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_STATE), 2);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_ERRORS), 0);
	ck_assert_uint_eq(link_ext(&dev[0], TRN_EXT_LINK_SUMMARY), summary);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_EVENTS), TRN_LINK_EVENT_UP);
	link_ext_write(&dev[0], TRN_EXT_LINK(pair->link[0]) + TRN_LINK_EVENTS, TRN_LINK_EVENT_DOWN);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_EVENTS), TRN_LINK_EVENT_UP);
	link_ext_write(&dev[0], TRN_EXT_LINK(pair->link[0]) + TRN_LINK_EVENTS, TRN_LINK_EVENT_UP);
	ck_assert_uint_eq(link_ext(&dev[0], TRN_EXT_LINK_SUMMARY),
			  summary & ~(1u << pair->link[0]));
	link_ext_write(&dev[0], TRN_EXT_LINK(pair->link[0]) + TRN_LINK_ENABLE, 0xffffffff);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_ENABLE), 7);
	ck_assert_uint_eq(link_complaints(&dev[0], EMU_COMPLAINT_NONE), 0);

	/* A machine reset sets them back and leaves the link. */
	emu_device_reset(dev[0].dev);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_ENABLE), 0);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_STATE), 2);

	link_ext_write(&dev[0], TRN_EXT_LINK_COUNT, 1);
	link_ext_write(&dev[0], TRN_EXT_LINK(0) + TRN_LINK_STATE, 1);
	link_ext_write(&dev[0], TRN_EXT_LINK(pair->link[0]) + TRN_LINK_WINDOW_HIGH, 1);
	ck_assert_uint_eq(link_complaints(&dev[0], EMU_COMPLAINT_READ_ONLY), 3);
	ck_assert_uint_eq(link_ext(&dev[0], TRN_EXT_LINK_COUNT + 0x10), 0);
	ck_assert_uint_eq(link_reg(&dev[0], 0, 0x14), 0);
	link_ext_write(&dev[0], TRN_EXT_LINK(0) + 0x3c, 1);
	ck_assert_uint_eq(link_ext(&dev[0], TRN_EXT_LINK(8)), 0);
	ck_assert_uint_eq(link_complaints(&dev[0], EMU_COMPLAINT_UNKNOWN_REGISTER), 4);
	link_close(&dev[0], 7);
	link_close(&dev[1], 0);
}
END_TEST

static void wait_irq(struct link_dev *dev, uint32_t count)
{
	unsigned int i;

	for (i = 0; i < LINK_RIG_WAIT_MS && __atomic_load_n(&dev->irq0, __ATOMIC_SEQ_CST) < count;
	     i++)
		link_pause(1);
	ck_assert_uint_eq(__atomic_load_n(&dev->irq0, __ATOMIC_SEQ_CST), count);
}

START_TEST(events)
{
	struct link_dev dev[2];
	uint64_t value;

	pair_open(dev);
	link_ext_write(&dev[0], TRN_EXT_IRQ_MASK(0), 0);
	ck_assert_int_eq(emu_device_fault_set(dev[1].dev, "link-down", 1u << pair->link[1]), 0);
	ck_assert_int_eq(emu_device_fault_get(dev[1].dev, "link-down", &value), 0);
	ck_assert_uint_eq(value, 1u << pair->link[1]);
	/* Down at both ends, and no interrupt: none was enabled. */
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_STATE), 1);
	ck_assert_uint_eq(link_reg(&dev[1], pair->link[1], TRN_LINK_STATE), 1);
	ck_assert_uint_eq(dev[0].irq0, 0);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_EVENTS),
			  TRN_LINK_EVENT_UP | TRN_LINK_EVENT_DOWN);
	/* Enabling what is set already raises it. */
	link_ext_write(&dev[0], TRN_EXT_LINK(pair->link[0]) + TRN_LINK_ENABLE, TRN_LINK_EVENT_ALL);
	wait_irq(&dev[0], 1);
	link_ext_write(&dev[0], TRN_EXT_LINK(pair->link[0]) + TRN_LINK_EVENTS, TRN_LINK_EVENT_ALL);
	emu_device_fault_set(dev[1].dev, "link-down", 0);
	wait_irq(&dev[0], 2);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_STATE), 2);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_EVENTS), TRN_LINK_EVENT_UP);
	link_close(&dev[1], 0);
	wait_irq(&dev[0], 3);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_STATE), 0);
	ck_assert_int_eq(emu_device_fault_set(dev[0].dev, "link-down", 256), -ERANGE);
	link_close(&dev[0], 0);
}
END_TEST

struct seen {
	unsigned int up, down, unconnected;
};

static void on_event(void *arg, const struct emu_event *event)
{
	struct seen *seen = arg;

	if (event->kind != EMU_EVENT_LINK || event->arg[0] != pair->link[0])
		return;
	ck_assert_uint_eq(event->arg[1], 0);
	ck_assert_uint_eq(event->arg[2], pair->id[1]);
	seen->up += !strcmp(event->text, "up");
	seen->down += !strcmp(event->text, "down");
	seen->unconnected += !strcmp(event->text, "unconnected");
}

START_TEST(shown)
{
	struct seen seen = { 0, 0, 0 };
	struct emu_link_info info;
	struct link_dev dev[2];

	pair_choose();
	one_open(&dev[0], 0);
	emu_inproc_event_handler(dev[0].inproc, on_event, &seen);
	one_open(&dev[1], 1);
	ck_assert(emu_device_link(dev[0].dev, pair->link[0], &info));
	ck_assert_str_eq(info.state, "up");
	ck_assert(info.wired);
	ck_assert_uint_eq(info.routing_id, pair->id[1]);
	ck_assert(!emu_device_link(dev[0].dev, link_ext(&dev[0], TRN_EXT_LINK_COUNT), &info));
	emu_device_fault_set(dev[1].dev, "link-down", 1u << pair->link[1]);
	emu_device_fault_set(dev[1].dev, "link-down", 0);
	link_close(&dev[1], 0);
	ck_assert_uint_eq(seen.up, 2);
	ck_assert_uint_eq(seen.down, 1);
	ck_assert_uint_eq(seen.unconnected, 1);
	link_close(&dev[0], 0);
}
END_TEST

START_TEST(reach)
{
	const uint32_t word = 0x51525354;
	struct link_dev dev[2];
	struct link_queue queue;
	uint64_t window;

	pair_open(dev);
	link_queue_open(&dev[0], &queue, 0, 0);
	window = link_window(&dev[0], pair->link[0]);
	/* MISC RAM: serial number, then a plain word written and read */
	link_copy(&queue, BACK, window + link_misc_dev(&dev[1]) + TRN_MISC_SERIAL_LOW, 8);
	link_word_set(&dev[0], DATA, word);
	link_copy(&queue, window + link_misc_dev(&dev[1]) + TRN_MISC_RUNTIME0, DATA, 4);
	/* semaphores, SBUF */
	link_word_set(&dev[0], DATA + 4, 5);
	link_copy(&queue, window + link_sem_dev(&dev[1], TRN_TPB_SEM_INC, 7), DATA + 4, 4);
	link_copy(&queue, window + link_sem_dev(&dev[1], 0x40, 0), DATA, 4);
	/* a copy from neighbour to neighbour through this device, across pages and pieces */
	memset(dev[1].hbm + DATA, 0x3c, 65536);
	link_copy(&queue, window + BACK, window + DATA, 65536);
	link_wait_idle(&queue);
	ck_assert_uint_eq(link_word(&dev[0], BACK), 0x10000000 + pair->id[1]);
	ck_assert_uint_eq(link_word(&dev[0], BACK + 4), 0x54524e00 + dev[0].generation);
	ck_assert_uint_eq(link_read(&dev[1], link_misc(&dev[1]) + TRN_MISC_RUNTIME0), word);
	ck_assert_uint_eq(link_read(&dev[1], link_sem(&dev[1], TRN_TPB_SEM_READ, 7)), 5);
	ck_assert_uint_eq(link_read(&dev[1], link_sem(&dev[1], 0x40, 0)), word);
	ck_assert_int_eq(memcmp(dev[1].hbm + BACK, dev[1].hbm + DATA, 65536), 0);
	link_close(&dev[0], 0);
	link_close(&dev[1], 0);
}
END_TEST

/* One descriptor that the neighbour refuses: error bits, mistake, counter, and nothing more. */
static void refuse_one(struct link_dev *dev, uint64_t dst, uint64_t src, uint32_t errors)
{
	struct link_queue queue;
	uint64_t before = link_complaints(dev, EMU_COMPLAINT_DESC_ADDRESS);
	unsigned int i;

	link_queue_open(dev, &queue, 0, 0);
	link_copy(&queue, dst, src, 4);
	for (i = 0;
	     i < LINK_RIG_WAIT_MS && link_complaints(dev, EMU_COMPLAINT_DESC_ADDRESS) == before;
	     i++)
		link_pause(1);
	ck_assert_uint_eq(link_complaints(dev, EMU_COMPLAINT_DESC_ADDRESS), before + 1);
	ck_assert_int_eq(emu_device_quiesce(dev->dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_uint_eq(link_head(&queue), 0);
	ck_assert_uint_eq(link_reg(dev, pair->link[0], TRN_LINK_ERRORS), errors);
	/* Forget the descriptor before the engine goes on. */
	link_queue_open(dev, &queue, 0, 0);
	link_write(dev, queue.udma + TRN_UDMA_M2S + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
	link_write(dev, queue.udma + TRN_UDMA_S2M + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
	ck_assert_int_eq(emu_device_quiesce(dev->dev, LINK_RIG_WAIT_MS), 0);
}

START_TEST(refusals)
{
	struct link_dev dev[2];
	uint64_t window;
	uint64_t nowhere[3];
	unsigned int i, n = 2;

	pair_open(dev);
	window = link_window(&dev[0], pair->link[0]);
	nowhere[0] = LINK_RIG_HBM; /* behind the stack */
	nowhere[1] = link_sem_dev(&dev[1], TRN_TPB_PSUM, 0);
	/* The host of the neighbour; on v2 no window has room for it. */
	if (rig_is("trn2"))
		nowhere[n++] = TRN_V3_HOST_BASE | 0x100000;
	for (i = 0; i < n; i++) {
		refuse_one(&dev[0], window + nowhere[i], DATA, 2 * i + 1);
		refuse_one(&dev[0], DATA, window + nowhere[i], 2 * i + 2);
	}
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_EVENTS) & TRN_LINK_EVENT_ERROR,
			  TRN_LINK_EVENT_ERROR);
	ck_assert_uint_eq(link_complaints(&dev[1], EMU_COMPLAINT_NONE), 0);
	link_close(&dev[0], link_complaints(&dev[0], EMU_COMPLAINT_DESC_ADDRESS));
	link_close(&dev[1], 0);
}
END_TEST

/* Only descriptors reach a link: not rings, not the firmware's mailbox. */
START_TEST(descriptors_only)
{
	struct link_queue queue;
	struct link_dev dev[2];
	uint64_t window;
	uint32_t half;
	unsigned int i;

	pair_open(dev);
	window = link_window(&dev[0], pair->link[0]);
	link_queue_open(&dev[0], &queue, 0, 0);
	half = queue.udma + TRN_UDMA_M2S + TRN_UDMA_QUEUE(0);
	link_write(&dev[0], half + TRN_Q_BASE_LOW, (uint32_t)(window + DATA));
	link_write(&dev[0], half + TRN_Q_BASE_HIGH, (uint32_t)((window + DATA) >> 32));
	link_copy(&queue, BACK, DATA, 4);
	ck_assert_int_eq(emu_device_quiesce(dev[0].dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_uint_eq(link_complaints(&dev[0], EMU_COMPLAINT_DESC_ADDRESS), 1);
	for (i = TRN_MISC_REQUEST_HIGH; i <= TRN_MISC_RESPONSE_LOW; i += 4)
		link_write(&dev[0], link_misc(&dev[0]) + i,
			   i % 8 ? (uint32_t)(window + DATA) : (uint32_t)((window + DATA) >> 32));
	link_write(&dev[0], link_misc(&dev[0]) + TRN_MISC_TRIGGER, 1);
	ck_assert_int_eq(emu_device_quiesce(dev[0].dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_uint_eq(link_complaints(&dev[0], EMU_COMPLAINT_FWIO_REQUEST), 1);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_ERRORS), 0);
	link_close(&dev[0], 2);
	link_close(&dev[1], 0);
}
END_TEST

/* Damaged memory of a neighbour fails the copy and is nobody's mistake. */
START_TEST(damaged_neighbour)
{
	struct link_queue queue;
	struct link_dev dev[2];

	pair_open(dev);
	link_queue_open(&dev[0], &queue, 0, 0);
	ck_assert_int_eq(emu_device_fault_set(dev[1].dev, "ecc-uncorrectable-at", 1 + DATA + 32),
			 0);
	link_word_set(&dev[0], BACK, 9);
	link_copy(&queue, BACK, link_window(&dev[0], pair->link[0]) + DATA + 32, 4);
	ck_assert_int_eq(emu_device_quiesce(dev[0].dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_uint_eq(link_head(&queue), 0);
	ck_assert_uint_eq(link_word(&dev[0], BACK), 9);
	ck_assert_uint_eq(link_read(&dev[0], queue.udma + TRN_UDMA_GEN + TRN_GEN_IOFIC_SECONDARY_A +
						     TRN_IOFIC_CAUSE),
			  TRN_ERR_A_DATA_RESPONSE);
	/* It was the neighbour that read, so it counts. */
	ck_assert_uint_eq(link_read(&dev[1], link_misc(&dev[1]) + TRN_MISC_HBM_ECC(0)) & 0xffff, 1);
	link_close(&dev[0], 0);
	link_close(&dev[1], 0);
}
END_TEST

/* Several nodes in one process: 0 - 1 and 2 - 3 left, 0 - 3 and 1 - 2 right. */
START_TEST(nodes_of_one_process)
{
	static const unsigned int peer[4][4] = {
		{ 3, 1, 1, 3 }, { 2, 0, 0, 2 }, { 1, 3, 3, 1 }, { 0, 2, 2, 0 }
	};
	struct emu_config config;
	struct link_queue queue;
	struct link_dev dev[4];
	unsigned int n, l;

	if (!rig_is("trn2"))
		return;
	for (n = 0; n < 4; n++) {
		config = link_config("trn2", "pod", 6);
		config.nodes = 4;
		config.node = n;
		link_open(&dev[n], &config);
	}
	for (n = 0; n < 4; n++) {
		ck_assert_uint_eq(link_ext(&dev[n], TRN_EXT_LINK_NODE), n | 4 << 8);
		link_queue_open(&dev[n], &queue, 0, 0);
		for (l = 0; l < 4; l++) {
			ck_assert_uint_eq(link_reg(&dev[n], l, TRN_LINK_PEER),
					  1u << 31 | peer[n][l] << 8 | 6);
			ck_assert_uint_eq(link_reg(&dev[n], 4 + l, TRN_LINK_STATE), 0);
			link_word_set(&dev[n], DATA + l * 4, tag(n, l));
			link_copy(&queue, link_window(&dev[n], l) + target_word(n, l), DATA + l * 4,
				  4);
		}
		link_wait_idle(&queue);
	}
	for (n = 0; n < 4; n++)
		for (l = 0; l < 4; l++)
			tag_check(dev, 4, n, l, peer[n][l]);
	for (n = 0; n < 4; n++)
		link_close(&dev[n], 0);
}
END_TEST

/* Without the feature nothing of it is there. */
START_TEST(feature_off)
{
	struct emu_config config = link_config(rig_map->arch, "machine", 0);
	struct link_dev dev;
	struct link_queue queue;

	config.disable_features = TRN_FEATURE_LINKS;
	link_open(&dev, &config);
	ck_assert_uint_eq(link_ext(&dev, TRN_EXT_LINK_COUNT), 0);
	ck_assert_uint_eq(link_complaints(&dev, EMU_COMPLAINT_UNKNOWN_REGISTER), 1);
	link_queue_open(&dev, &queue, 0, 0);
	/* The public windows of Trn2 stay: the queue waits for a neighbour. */
	if (rig_is("trn2")) {
		link_copy(&queue, 0x14000000000000 + DATA, DATA, 4);
		ck_assert_int_eq(emu_device_quiesce(dev.dev, LINK_RIG_WAIT_MS), 0);
		ck_assert_uint_eq(link_complaints(&dev, EMU_COMPLAINT_DESC_ADDRESS), 0);
		link_queue_open(&dev, &queue, 0, 0);
	}
	link_copy(&queue, (rig_is("trn2") ? 0x24000000000000 : 0x1100000000000) + DATA, DATA, 4);
	ck_assert_int_eq(emu_device_quiesce(dev.dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_uint_eq(link_complaints(&dev, EMU_COMPLAINT_DESC_ADDRESS), 1);
	link_close(&dev, 2);
}
END_TEST

/* The queue waits, others go on, a reset forgets it. */
START_TEST(unconnected)
{
	struct link_dev dev[2];
	struct link_queue waits, goes;

	pair_choose();
	one_open(&dev[0], 0);
	link_queue_open(&dev[0], &waits, 0, 0);
	link_queue_open(&dev[0], &goes, 0, 1);
	link_word_set(&dev[0], DATA, 0xa1);
	link_copy(&waits, link_window(&dev[0], pair->link[0]) + BACK, DATA, 4);
	link_copy(&waits, BACK, DATA, 4);
	link_copy(&goes, BACK + 8, DATA, 4);
	link_wait_idle(&goes);
	ck_assert_int_eq(emu_device_quiesce(dev[0].dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_uint_eq(link_head(&waits), 0);
	ck_assert_uint_eq(link_word(&dev[0], BACK), 0);
	ck_assert_uint_eq(link_word(&dev[0], BACK + 8), 0xa1);

	/* A queue reset forgets it. */
	link_queue_open(&dev[0], &waits, 0, 0);
	link_word_set(&dev[0], DATA, 0xa2);
	link_copy(&waits, BACK, DATA, 4);
	link_wait_idle(&waits);
	ck_assert_uint_eq(link_word(&dev[0], BACK), 0xa2);

	/* A neighbour that appears takes what waits. */
	link_copy(&waits, link_window(&dev[0], pair->link[0]) + BACK, DATA, 4);
	link_copy(&waits, BACK + 12, DATA, 4);
	one_open(&dev[1], 1);
	link_wait_word(&dev[1], BACK, 0xa2);
	link_wait_idle(&waits);

	/* So does a device that ends with work that waits. */
	link_close(&dev[1], 0);
	link_copy(&waits, link_window(&dev[0], pair->link[0]) + BACK, DATA, 4);
	emu_device_reset(dev[0].dev);
	link_queue_open(&dev[0], &waits, 0, 0);
	link_copy(&waits, link_window(&dev[0], pair->link[0]) + BACK, DATA, 4);
	link_close(&dev[0], 0);
}
END_TEST

/* A packet of several descriptors that has to wait in its middle is not taken apart. */
START_TEST(waits_inside_packet)
{
	struct link_dev dev[2];
	struct link_queue queue;
	uint64_t window;
	struct trn_desc *m2s;

	pair_open(dev);
	link_queue_open(&dev[0], &queue, 0, 0);
	window = link_window(&dev[0], pair->link[0]);
	link_word_set(&dev[0], DATA, 1);
	link_word_set(&dev[0], DATA + 4, 2);
	emu_device_fault_set(dev[0].dev, "link-down", 1u << pair->link[0]);
	link_append(&queue, BACK, DATA, 4, false);
	link_append(&queue, window + BACK, DATA + 4, 4, false);
	m2s = (struct trn_desc *)(dev[0].hbm + queue.ring);
	m2s[0].ctrl &= ~TRN_DESC_LAST;
	m2s[1].ctrl &= ~TRN_DESC_FIRST;
	link_ring(&queue, 2);
	link_wait_word(&dev[0], BACK, 1);
	ck_assert_int_eq(emu_device_quiesce(dev[0].dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_uint_eq(link_head(&queue), 1);
	emu_device_fault_set(dev[0].dev, "link-down", 0);
	link_wait_word(&dev[1], BACK, 2);
	link_wait_idle(&queue);
	link_close(&dev[0], 0);
	link_close(&dev[1], 0);
}
END_TEST

#define ROUNDS 400u

static atomic_uint taken[2];

/* Data, then a semaphore, from two engines at once: who sees the semaphore sees the data. The next
 * round begins when this one was looked at. */
static void *ordered_sender(void *arg)
{
	struct link_queue *queue = arg;
	uint64_t window = link_window(queue->dev, pair->link[0]);
	unsigned int i, e = queue->engine;
	uint64_t data = DATA + e * 0x20000ull;

	for (i = 1; i <= ROUNDS; i++) {
		link_word_set(queue->dev, data, i);
		link_word_set(queue->dev, data + 0xfffc, i);
		link_word_set(queue->dev, data + 0x10000, 1);
		link_append(queue, window + data, data, 65536, false);
		link_append(queue, window + link_sem_dev(queue->dev, TRN_TPB_SEM_INC, e),
			    data + 0x10000, 4, false);
		link_ring(queue, 2);
		while (atomic_load(&taken[e]) < i)
			link_pause(0);
		link_wait_idle(queue);
	}
	return NULL;
}

START_TEST(semaphore_after_data)
{
	struct link_dev dev[2];
	struct link_queue queue[2];
	pthread_t thread[2];
	uint32_t seen[2] = { 0, 0 };
	unsigned int e;

	pair_open(dev);
	for (e = 0; e < 2; e++) {
		link_queue_open(&dev[0], &queue[e], e, 0);
		ck_assert_int_eq(pthread_create(&thread[e], NULL, ordered_sender, &queue[e]), 0);
	}
	while (seen[0] < ROUNDS || seen[1] < ROUNDS) {
		for (e = 0; e < 2; e++) {
			uint64_t data = DATA + e * 0x20000ull;

			seen[e] = link_read(&dev[1], link_sem(&dev[1], TRN_TPB_SEM_READ, e));
			if (seen[e] == atomic_load(&taken[e]))
				continue;
			ck_assert_uint_eq(link_word(&dev[1], data), seen[e]);
			ck_assert_uint_eq(link_word(&dev[1], data + 0xfffc), seen[e]);
			atomic_store(&taken[e], seen[e]);
		}
	}
	for (e = 0; e < 2; e++)
		pthread_join(thread[e], NULL);
	ck_assert_uint_eq(link_read(&dev[1], link_sem(&dev[1], TRN_TPB_SEM_READ, 0)), ROUNDS);
	ck_assert_uint_eq(link_read(&dev[1], link_sem(&dev[1], TRN_TPB_SEM_READ, 1)), ROUNDS);
	link_close(&dev[0], 0);
	link_close(&dev[1], 0);
}
END_TEST

static void *counting_sender(void *arg)
{
	struct link_queue *queue = arg;
	uint64_t window = link_window(queue->dev, pair->link[0]);
	unsigned int i;

	link_word_set(queue->dev, DATA, 1);
	for (i = 0; i < ROUNDS; i++) {
		link_copy(queue, window + link_sem_dev(queue->dev, TRN_TPB_SEM_INC, 3), DATA, 4);
		link_copy(queue, window + BACK, BACK, 65536);
		if (i % 8 == 7)
			link_wait_idle(queue);
	}
	link_wait_idle(queue);
	return NULL;
}

/* A link that flaps loses nothing and does nothing twice. */
START_TEST(flapping)
{
	struct link_dev dev[2];
	struct link_queue queue;
	pthread_t thread;
	unsigned int i;

	pair_open(dev);
	for (i = 0; i < 65536; i += 4)
		link_word_set(&dev[0], BACK + i, i * 2654435761u);
	link_queue_open(&dev[0], &queue, 0, 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, counting_sender, &queue), 0);
	for (i = 0; i < 150; i++) {
		emu_device_fault_set(dev[i & 1].dev, "link-down", 1u << pair->link[i & 1]);
		link_pause(0);
		emu_device_fault_set(dev[i & 1].dev, "link-down", 0);
		link_pause(0);
	}
	pthread_join(thread, NULL);
	ck_assert_uint_eq(link_read(&dev[1], link_sem(&dev[1], TRN_TPB_SEM_READ, 3)), ROUNDS);
	ck_assert_int_eq(memcmp(dev[0].hbm + BACK, dev[1].hbm + BACK, 65536), 0);
	link_close(&dev[0], 0);
	link_close(&dev[1], 0);
}
END_TEST

static void pair_open_timed(struct link_dev *dev)
{
	struct emu_config config;
	unsigned int i;

	pair_choose();
	for (i = 0; i < 2; i++) {
		config = link_config(pair->arch, "machine", pair->id[i]);
		config.time_mode = true;
		link_open(&dev[i], &config);
	}
}

/* In time mode a queue that waits for a link waits without being charged for ever. */
START_TEST(time_mode)
{
	struct link_dev dev[2];
	struct link_queue queue, other;
	uint64_t window;

	pair_open_timed(dev);
	link_queue_open(&dev[0], &queue, 0, 0);
	link_queue_open(&dev[0], &other, 0, 1);
	window = link_window(&dev[0], pair->link[0]);
	link_word_set(&dev[0], DATA, 0x71);
	emu_device_fault_set(dev[1].dev, "link-down", 1u << pair->link[1]);
	link_copy(&queue, window + BACK, DATA, 4);
	link_copy(&other, BACK, DATA, 4);
	link_wait_word(&dev[0], BACK, 0x71);
	ck_assert_int_eq(emu_device_quiesce(dev[0].dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_uint_eq(link_word(&dev[1], BACK), 0);
	emu_device_fault_set(dev[1].dev, "link-down", 0);
	link_wait_word(&dev[1], BACK, 0x71);
	link_wait_idle(&queue);
	link_close(&dev[0], 0);
	link_close(&dev[1], 0);
}
END_TEST

static uint64_t link_clock(struct link_dev *dev)
{
	uint64_t now = link_ext(dev, TRN_EXT_CLOCK_LOW);

	return now | (uint64_t)link_ext(dev, TRN_EXT_CLOCK_HIGH) << 32;
}

/* A doorbell written over a link rings one hop later than the neighbour that writes it is, however
 * far the clock of the other one is behind. */
START_TEST(time_over_link)
{
	struct link_dev dev[2];
	struct link_queue queue, remote;
	uint64_t window, doorbell, start, before;

	pair_open_timed(dev);
	link_queue_open(&dev[0], &queue, 0, 0);
	link_queue_open(&dev[1], &remote, 0, 0);
	window = link_window(&dev[0], pair->link[0]);
	doorbell =
		window + link_bar0_dev(&dev[1], remote.udma + TRN_UDMA_QUEUE(0) + TRN_Q_TAIL_INC);
	link_word_set(&dev[0], DATA, 1);
	/* The sender is ahead. */
	link_copy(&queue, BACK, DATA, 65536);
	ck_assert_int_eq(emu_device_quiesce(dev[0].dev, LINK_RIG_WAIT_MS), 0);
	start = link_clock(&dev[0]);
	before = link_clock(&dev[1]);
	ck_assert_uint_gt(start, before + 3000);
	link_word_set(&dev[1], DATA, 0x72);
	link_append(&remote, BACK, DATA, 4, false);
	link_copy(&queue, doorbell + TRN_UDMA_S2M, DATA, 4);
	ck_assert_int_eq(emu_device_quiesce(dev[0].dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_uint_eq(link_clock(&dev[1]), before);
	link_copy(&queue, doorbell, DATA, 4);
	link_wait_word(&dev[1], BACK, 0x72);
	ck_assert_int_eq(emu_device_quiesce(dev[0].dev, LINK_RIG_WAIT_MS), 0);
	ck_assert_int_eq(emu_device_quiesce(dev[1].dev, LINK_RIG_WAIT_MS), 0);
	/* Sender: two starts, two words of no less than a run. Hop, start and run of the other. */
	start = link_clock(&dev[1]) - link_clock(&dev[0]);
	ck_assert_msg(start >= 1500 + 1300 + 107 - 2 && start <= 1500 + 1300 + 108 + 2,
		      "the neighbour is %llu ns ahead", (unsigned long long)start);
	link_close(&dev[0], 0);
	link_close(&dev[1], 0);
}
END_TEST

static atomic_bool sending;

static void *endless_sender(void *arg)
{
	struct link_queue *queue = arg;
	uint64_t window = link_window(queue->dev, pair->link[0]);

	while (atomic_load(&sending)) {
		if (queue->next - link_head(queue) < 8 || link_head(queue) == queue->next % 64) {
			link_copy(queue, window + BACK, DATA, 65536);
			link_copy(queue, window + link_sem_dev(queue->dev, TRN_TPB_SEM_INC, 3),
				  DATA, 4);
		}
		link_pause(0);
	}
	return NULL;
}

/* Resets and ends of a neighbour while transfers to it run. */
START_TEST(neighbour_goes)
{
	struct link_dev dev[2];
	struct link_queue queue;
	pthread_t thread;
	unsigned int i;

	pair_open(dev);
	link_queue_open(&dev[0], &queue, 0, 0);
	atomic_store(&sending, true);
	ck_assert_int_eq(pthread_create(&thread, NULL, endless_sender, &queue), 0);
	for (i = 0; i < 60; i++) {
		link_pause(1);
		if (i % 3 == 0) {
			link_close(&dev[1], 0);
			one_open(&dev[1], 1);
		} else if (i % 3 == 1) {
			emu_device_reset(dev[1].dev);
		} else {
			emu_device_reset(dev[0].dev);
			/* the sender finds its queue gone and waits */
			emu_device_fault_set(dev[0].dev, "link-down", 1u << pair->link[0]);
			emu_device_fault_set(dev[0].dev, "link-down", 0);
		}
	}
	atomic_store(&sending, false);
	pthread_join(thread, NULL);
	link_close(&dev[1], 0);
	/* Doorbells of the queue that a reset switched off are the test's mistake. */
	link_close(&dev[0], link_complaints(&dev[0], EMU_COMPLAINT_NONE));
}
END_TEST

/* Rings of two devices that ring each other for ever are stopped. */
static void ring_ids_ignore(struct link_dev *dev, uint32_t udma)
{
	uint32_t gen = udma + TRN_UDMA_GEN;

	link_write(dev, gen + TRN_GEN_IOFIC_SECONDARY_A + TRN_IOFIC_ABORT_MASK,
		   ~TRN_ERR_A_ALL | TRN_ERR_A_WRONG_RING_ID);
	link_write(dev, gen + TRN_GEN_IOFIC_SECONDARY_B + TRN_IOFIC_ABORT_MASK,
		   ~TRN_ERR_B_ALL | TRN_ERR_B_WRONG_RING_ID);
}

START_TEST(doorbell_loop)
{
	struct link_dev dev[2];
	struct link_queue queue[2];
	uint64_t sum = 0;
	unsigned int d, i;

	pair_open(dev);
	for (d = 0; d < 2; d++) {
		uint64_t there = link_window(&dev[d], pair->link[d]);
		uint32_t half = TRN_UDMA_QUEUE(0) + TRN_Q_TAIL_INC;
		uint32_t udma = link_udma(&dev[!d], 0);

		link_queue_open(&dev[d], &queue[d], 0, 0);
		ring_ids_ignore(&dev[d], link_udma(&dev[d], 0)); /* nobody counts the passes */
		link_word_set(&dev[d], DATA, 2);
		for (i = 0; i < LINK_RIG_RING / 2; i++) {
			link_append(&queue[d],
				    there + link_bar0_dev(&dev[!d], udma + TRN_UDMA_S2M + half),
				    DATA, 4, false);
			link_append(&queue[d],
				    there + link_bar0_dev(&dev[!d], udma + TRN_UDMA_M2S + half),
				    DATA, 4, false);
		}
	}
	link_ring(&queue[0], 2);
	for (i = 0; i < 6 * LINK_RIG_WAIT_MS && !sum; i++) {
		link_pause(1);
		sum = link_complaints(&dev[0], EMU_COMPLAINT_REGISTER_DMA_LOOP) +
		      link_complaints(&dev[1], EMU_COMPLAINT_REGISTER_DMA_LOOP);
	}
	for (d = 0; d < 2; d++)
		ck_assert_int_eq(emu_device_quiesce(dev[d].dev, LINK_RIG_WAIT_MS), 0);
	sum = link_complaints(&dev[0], EMU_COMPLAINT_REGISTER_DMA_LOOP) +
	      link_complaints(&dev[1], EMU_COMPLAINT_REGISTER_DMA_LOOP);
	ck_assert_uint_ge(sum, 1);
	for (d = 0; d < 2; d++)
		link_close(&dev[d], link_complaints(&dev[d], EMU_COMPLAINT_REGISTER_DMA_LOOP));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		machine,
		part_of_machine,
		second_torus,
		bad_places,
		registers,
		events,
		shown,
		reach,
		refusals,
		feature_off,
		unconnected,
		waits_inside_packet,
		semaphore_after_data,
		flapping,
		neighbour_goes,
		time_mode,
		time_over_link,
		descriptors_only,
		damaged_neighbour,
		nodes_of_one_process,
		doorbell_loop,
	};

	return RIG_MAIN("emu_links", tests);
}
