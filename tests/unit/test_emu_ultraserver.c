// SPDX-License-Identifier: BSD-2-Clause
/*
 * An UltraServer of Trn2: nodes of 16 devices, a process each, and the election that finds out
 * which node is which, run by registers and descriptors as topology.md tells it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "emu_rig.h"
#include "link_rig.h"

#define DEVICES	  16u
#define SIDES	  2u
#define PAGE	  4096u
#define TRIES_MAX 30000u

/* topology.md: routing id of a device index; engines and link bases of a side, left and right. */
static const uint8_t routing[DEVICES] = {
	0, 8, 9, 1, 2, 10, 11, 3, 6, 14, 15, 7, 4, 12, 13, 5,
};

static const struct {
	unsigned int engine;
	uint64_t base;
} side_engine[SIDES][2] = {
	{ { 36, 0x0014000000000000 }, { 68, 0x0018000000000000 } },
	{ { 4, 0x0010000000000000 }, { 100, 0x001c000000000000 } },
};

/* Neighbour nodes, left and right. */
static const unsigned int four[4][SIDES] = { { 1, 3 }, { 0, 2 }, { 3, 1 }, { 2, 0 } };
static const unsigned int two[2][SIDES] = { { 1, 1 }, { 0, 0 } };

/** struct member - a device in an election. */
struct member {
	struct link_dev dev;
	struct link_queue queue[SIDES][2];
	uint8_t *page[SIDES][2]; /* data page of each engine, in host memory */
	uint64_t bus[SIDES][2];
	uint64_t serial[SIDES];
};

static char dir[64];
static unsigned int nodes;

static void check(bool condition, unsigned int node, unsigned int index, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "node %u device %u: %s\n", node, index, what);
	_exit(1);
}

/* The descriptor pair: register space of the neighbour to the page, then a mark behind it. */
static void remote_read(struct member *m, unsigned int side, unsigned int which, uint32_t reg,
			void *data, uint32_t len)
{
	struct link_queue *queue = &m->queue[side][which];
	uint32_t *page = (uint32_t *)m->page[side][which];
	uint64_t host = TRN_V3_HOST_BASE | m->bus[side][which];
	unsigned int i;

	page[0] = 1;
	__atomic_store_n(&page[1], 0, __ATOMIC_RELEASE);
	link_append(queue, host + 8, side_engine[side][which].base + 0x8006c84000ull + reg, len,
		    true);
	link_append(queue, host + 4, host, 4, true);
	link_ring(queue, 2);
	for (i = 0; i < TRIES_MAX && __atomic_load_n(&page[1], __ATOMIC_ACQUIRE) != 1; i++)
		link_pause(0);
	check(__atomic_load_n(&page[1], __ATOMIC_ACQUIRE) == 1, side, which, "no answer");
	memcpy(data, page + 2, len);
}

static void misc(struct member *m, uint32_t reg, uint32_t value)
{
	link_write(&m->dev, 0x06c84000 + reg, value);
}

static void member_open(struct member *m, unsigned int node, unsigned int index)
{
	struct emu_config config = link_config("trn2", "node", routing[index]);
	unsigned int side, which;

	config.node = node;
	config.nodes = nodes;
	config.link_dir = dir;
	link_open(&m->dev, &config);
	for (side = 0; side < SIDES; side++) {
		for (which = 0; which < 2; which++) {
			uint8_t *page = aligned_alloc(PAGE, PAGE);

			memset(page, 0, PAGE);
			check(!emu_inproc_map(m->dev.inproc, page, PAGE, true,
					      &m->bus[side][which]),
			      node, index, "no host page");
			m->page[side][which] = page;
			link_queue_open(&m->dev, &m->queue[side][which],
					side_engine[side][which].engine, 0);
		}
	}
}

static void member_close(struct member *m)
{
	unsigned int i;

	link_close(&m->dev, 0);
	for (i = 0; i < 2 * SIDES; i++)
		free(m->page[i / 2][i % 2]);
}

static bool valid(uint32_t word)
{
	return word && word != 0xdeadbeef;
}

/* Step c. */
static void serials_read(struct member *m, unsigned int node, unsigned int index)
{
	unsigned int side;
	uint64_t second = 0;

	for (side = 0; side < SIDES; side++) {
		do {
			remote_read(m, side, 0, 0x38, &m->serial[side], 8);
			remote_read(m, side, 1, 0x38, &second, 8);
		} while (!valid((uint32_t)m->serial[side]) || !valid((uint32_t)second));
		check(m->serial[side] == second, node, index, "the two engines of a side disagree");
	}
}

static void pair_write(struct member *m, uint64_t left, uint64_t right)
{
	misc(m, 0x180, (uint32_t)(left >> 32));
	misc(m, 0x184, (uint32_t)left);
	misc(m, 0x188, (uint32_t)(right >> 32));
	misc(m, 0x18c, (uint32_t)right);
}

/* Step e: left and right value of the neighbour of a side. */
static void pair_read(struct member *m, unsigned int side, uint64_t value[SIDES])
{
	uint32_t word[4];

	do {
		remote_read(m, side, 0, 0x180, word, sizeof(word));
	} while (!valid(word[3]));
	value[0] = (uint64_t)word[0] << 32 | word[1];
	value[1] = (uint64_t)word[2] << 32 | word[3];
}

static void neighbours_succeed(struct member *m, unsigned int node, unsigned int index)
{
	unsigned int side;
	uint32_t status;

	for (side = 0; side < SIDES; side++) {
		do {
			remote_read(m, side, 0, 0x190, &status, 4);
		} while (!(status & 0xff));
		check((status & 0xff) == 3, node, index, "a neighbour failed");
	}
	pair_write(m, 0, 0);
}

static void secondary(struct member *m, unsigned int node, unsigned int index)
{
	uint64_t value[SIDES];
	unsigned int side;

	misc(m, 0x190, 0);
	serials_read(m, node, index);
	pair_write(m, index, index);
	for (side = 0; side < SIDES; side++) {
		pair_read(m, side, value);
		check(value[0] == index, node, index, "a neighbour has another index");
	}
	misc(m, 0x190, 3);
	neighbours_succeed(m, node, index);
}

static unsigned int node_id(uint64_t s, uint64_t l, uint64_t r, uint64_t d, uint64_t *pod)
{
	if (l == r) {
		*pod = s < l ? s : l;
		return s < l ? 0 : 1;
	}
	if (s < d && s < l && s < r) {
		*pod = s;
		return 0;
	}
	if (s >= d && d < l && d < r) {
		*pod = d;
		return 2;
	}
	*pod = l < r ? l : r;
	return l < r ? 1 : 3;
}

static void primary(struct member *m, unsigned int node)
{
	uint64_t own = link_read(&m->dev, 0x06c84038) | (uint64_t)link_read(&m->dev, 0x06c8403c)
								<< 32;
	uint64_t left[SIDES], right[SIDES], pod;
	unsigned int id;

	misc(m, 0x190, 0x00ff0000);
	serials_read(m, node, 0);
	pair_write(m, m->serial[0], m->serial[1]);
	pair_read(m, 0, left);
	pair_read(m, 1, right);
	check(left[0] > 15 && right[0] > 15, node, 0, "a neighbour is no primary");
	id = node_id(own, m->serial[0], m->serial[1], left[1], &pod);
	misc(m, 0x190, 0x00ff0003);
	neighbours_succeed(m, node, 0);
	misc(m, 0x190, 3 | 3 << 8 | id << 16 | nodes << 24);
	misc(m, 0x194, (uint32_t)(pod >> 32));
	misc(m, 0x198, (uint32_t)pod);
	check(id == node, node, 0, "elected as another node");
	check(pod == 0x54524e0310000000, node, 0, "the pod has another serial number");
	check(link_read(&m->dev, 0x06c84190) == (3 | 3 << 8 | node << 16 | nodes << 24), node, 0,
	      "status word");
}

/* The wiring as the link registers and the serial numbers show it. */
static void wiring_check(struct member *m, unsigned int node, unsigned int index)
{
	static const unsigned int side_of[4] = { 1, 0, 0, 1 };
	const unsigned int *peer = nodes == 4 ? four[node] : two[node];
	unsigned int l, side;

	for (l = 0; l < 4; l++) {
		check(link_reg(&m->dev, l, TRN_LINK_PEER) ==
			      (1u << 31 | peer[side_of[l]] << 8 | routing[index]),
		      node, index, "a link is wired to another device");
		check(link_reg(&m->dev, l, TRN_LINK_STATE) == 2, node, index, "a link is not up");
		check(link_reg(&m->dev, 4 + l, TRN_LINK_STATE) == 2, node, index,
		      "a link of the torus is not up");
	}
	for (side = 0; side < SIDES; side++)
		check(m->serial[side] == 0x54524e0310000000 + peer[side] * 64ull + routing[index],
		      node, index, "a neighbour has another serial number");
}

static int node_run(unsigned int node, int hear, int tell)
{
	struct member *m = calloc(DEVICES, sizeof(*m));
	unsigned int i;
	char word = 'd';

	for (i = 0; i < DEVICES; i++)
		member_open(&m[i], node, i);
	for (i = 1; i < DEVICES; i++)
		secondary(&m[i], node, i);
	primary(&m[0], node);
	for (i = 0; i < DEVICES; i++)
		wiring_check(&m[i], node, i);
	/* Nobody leaves before all are done. */
	if (write(tell, &word, 1) != 1 || read(hear, &word, 1) != 1)
		return 2;
	for (i = 0; i < DEVICES; i++)
		member_close(&m[i]);
	free(m);
	return 0;
}

static void ultraserver(unsigned int count)
{
	int up[2], down[2], status;
	unsigned int node;
	pid_t pid[4];
	char word;

	nodes = count;
	snprintf(dir, sizeof(dir), "/tmp/trainium-pod-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(pipe(up), 0);
	ck_assert_int_eq(pipe(down), 0);
	for (node = 0; node < nodes; node++) {
		pid[node] = fork();
		ck_assert_int_ge(pid[node], 0);
		if (!pid[node])
			_exit(node_run(node, down[0], up[1]));
	}
	/* A node that fails closes its end without a word, once all have. */
	close(up[1]);
	for (node = 0; node < nodes; node++)
		ck_assert_int_eq(read(up[0], &word, 1), 1);
	for (node = 0; node < nodes; node++)
		ck_assert_int_eq(write(down[1], "e", 1), 1);
	for (node = 0; node < nodes; node++) {
		ck_assert_int_eq(waitpid(pid[node], &status, 0), pid[node]);
		ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "node %u ended with %d",
			      node, status);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

START_TEST(four_nodes)
{
	ultraserver(4);
}
END_TEST

START_TEST(two_nodes)
{
	ultraserver(2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("emu_ultraserver");
	TCase *tc = tcase_create("election");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 240);
	tcase_add_test(tc, four_nodes);
	tcase_add_test(tc, two_nodes);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
