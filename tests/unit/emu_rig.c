// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rig for register-level tests of the device model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "emu_rig.h"

static void on_interrupt(void *arg, unsigned int vector)
{
	struct rig *rig = arg;

	ck_assert_uint_lt(vector, RIG_MAX_VECTORS);
	__atomic_fetch_add(&rig->irq[vector], 1, __ATOMIC_SEQ_CST);
}

static void map_choose(const char *arch)
{
	const struct rig_map *map;
	unsigned int i;

	for (i = 0; (map = rig_map_at(i)); i++)
		if (!strcmp(map->arch, arch))
			rig_map = map;
	ck_assert_str_eq(rig_map->arch, arch);
}

void rig_open_config(struct rig *rig, const struct emu_config *config)
{
	struct emu_config full = *config;
	char error[256] = "";

	memset(rig, 0, sizeof(*rig));
	if (full.arch)
		map_choose(full.arch);
	full.arch = rig_map->arch;
	ck_assert_msg(!emu_inproc_create(&full, &rig->inproc, error, sizeof(error)), "%s", error);
	rig->dev = emu_inproc_device(rig->inproc);
	emu_inproc_interrupt_handler(rig->inproc, on_interrupt, rig);
}

void rig_open(struct rig *rig)
{
	const struct emu_config config = { .size = sizeof(config) };

	rig_open_config(rig, &config);
}

void rig_close(struct rig *rig, uint64_t complaints)
{
	char text[256];

	emu_device_complaint_text(rig->dev, text, sizeof(text));
	ck_assert_msg(rig_complaints(rig, EMU_COMPLAINT_NONE) == complaints,
		      "%llu complaints, %llu expected; last: %s",
		      (unsigned long long)rig_complaints(rig, EMU_COMPLAINT_NONE),
		      (unsigned long long)complaints, text);
	emu_inproc_destroy(rig->inproc);
}

uint32_t rig_read(struct rig *rig, uint64_t bar0)
{
	return emu_device_read(rig->dev, 0, bar0, 4);
}

void rig_write(struct rig *rig, uint64_t bar0, uint32_t value)
{
	emu_device_write(rig->dev, 0, bar0, value, 4);
}

uint32_t rig_ext_read(struct rig *rig, uint32_t offset)
{
	return emu_device_read(rig->dev, TRN_EXT_BAR, offset, 4);
}

void rig_ext_write(struct rig *rig, uint32_t offset, uint32_t value)
{
	emu_device_write(rig->dev, TRN_EXT_BAR, offset, value, 4);
}

uint32_t rig_irq(struct rig *rig, unsigned int vector)
{
	return __atomic_load_n(&rig->irq[vector], __ATOMIC_SEQ_CST);
}

void rig_unmask(struct rig *rig, unsigned int vector)
{
	rig_ext_write(rig, TRN_EXT_IRQ_MASK(vector), 0);
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void pause_short(void)
{
	const struct timespec ts = { .tv_nsec = 50000 };

	nanosleep(&ts, NULL);
}

void rig_wait(struct rig *rig, uint64_t bar0, uint32_t mask, uint32_t value)
{
	uint64_t end = now_ms() + RIG_TIMEOUT_MS;
	uint32_t last;

	while (((last = rig_read(rig, bar0)) & mask) != value) {
		ck_assert_msg(now_ms() < end,
			      "BAR0 0x%llx reads 0x%x, waited for 0x%x under mask 0x%x",
			      (unsigned long long)bar0, last, value, mask);
		pause_short();
	}
}

void rig_wait_irq(struct rig *rig, unsigned int vector, uint32_t count)
{
	uint64_t end = now_ms() + RIG_TIMEOUT_MS;

	while (rig_irq(rig, vector) < count) {
		ck_assert_msg(now_ms() < end, "vector %u: %u interrupts, waited for %u", vector,
			      rig_irq(rig, vector), count);
		pause_short();
	}
}

void rig_wait_word(const void *word, uint32_t value)
{
	uint64_t end = now_ms() + RIG_TIMEOUT_MS;
	uint32_t last;

	while ((last = __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE)) != value) {
		ck_assert_msg(now_ms() < end, "word is 0x%x, waited for 0x%x", last, value);
		pause_short();
	}
}

void rig_wait_complaint(struct rig *rig, enum emu_complaint kind, uint64_t count)
{
	uint64_t end = now_ms() + RIG_TIMEOUT_MS;

	while (rig_complaints(rig, kind) < count) {
		ck_assert_msg(now_ms() < end, "complaint %s: %llu, waited for %llu",
			      emu_complaint_name(kind),
			      (unsigned long long)rig_complaints(rig, kind),
			      (unsigned long long)count);
		pause_short();
	}
}

void rig_quiesce(struct rig *rig)
{
	ck_assert_int_eq(emu_device_quiesce(rig->dev, RIG_TIMEOUT_MS), 0);
}

uint64_t rig_complaints(struct rig *rig, enum emu_complaint kind)
{
	return emu_device_complaints(rig->dev, kind);
}

void *rig_hbm(struct rig *rig, uint64_t dev)
{
	uint64_t bar4, offset, size;
	uint8_t *hbm = emu_device_hbm(rig->dev, &bar4);
	unsigned int h;

	for (h = 0; emu_device_hbm_stack(rig->dev, h, &offset, &size); h++)
		if (dev - rig_map->hbm_base(h) < size)
			return hbm + offset + (dev - rig_map->hbm_base(h));
	ck_abort_msg("0x%llx is no HBM address", (unsigned long long)dev);
	return NULL;
}

void rig_host_alloc(struct rig *rig, struct rig_host *host, size_t len)
{
	len = (len + 4095) / 4096 * 4096;
	host->ptr = aligned_alloc(4096, len);
	ck_assert_ptr_nonnull(host->ptr);
	memset(host->ptr, 0, len);
	host->len = len;
	ck_assert_int_eq(emu_inproc_map(rig->inproc, host->ptr, len, true, &host->bus), 0);
	host->dev = RIG_HOST | host->bus;
}

void rig_host_free(struct rig *rig, struct rig_host *host)
{
	ck_assert_int_eq(emu_inproc_unmap(rig->inproc, host->bus), 0);
	free(host->ptr);
}

uint32_t rig_engine(unsigned int id)
{
	return rig_map->udma(id);
}

void rig_engine_init(struct rig *rig, unsigned int id)
{
	uint32_t udma = rig_engine(id), gen = udma + TRN_UDMA_GEN;

	rig_write(rig, udma + TRN_UDMA_M2S + TRN_M2S_PKT_LEN_CFG, 0x010fffff);
	rig_write(rig, udma + TRN_UDMA_M2S + TRN_M2S_PREFETCH_CFG2, 0x00010041);
	rig_write(rig, gen + TRN_GEN_IOFIC_SECONDARY_A + TRN_IOFIC_ABORT_MASK, ~TRN_ERR_A_ALL);
	rig_write(rig, gen + TRN_GEN_IOFIC_SECONDARY_B + TRN_IOFIC_ABORT_MASK, ~TRN_ERR_B_ALL);
	rig_write(rig, gen + TRN_GEN_IOFIC_SECONDARY_A + TRN_IOFIC_MASK_CLEAR, ~TRN_ERR_A_ALL);
	rig_write(rig, gen + TRN_GEN_IOFIC_SECONDARY_B + TRN_IOFIC_MASK_CLEAR, ~TRN_ERR_B_ALL);
}

uint32_t rig_q(const struct rig_queue *queue, int dir, uint32_t reg)
{
	return queue->udma + (dir ? TRN_UDMA_S2M : TRN_UDMA_M2S) + TRN_UDMA_QUEUE(queue->queue) +
	       reg;
}

void rig_queue_reset(struct rig_queue *queue)
{
	struct rig *rig = queue->rig;
	int dir;

	rig_write(rig, rig_q(queue, 0, TRN_Q_M2S_RATE_MASK), TRN_Q_RATE_MASK_HONOUR_DMB);
	for (dir = 0; dir < 2; dir++) {
		uint64_t base = queue->mem.dev + (dir ? queue->length * TRN_DESC_SIZE : 0);

		rig_write(rig, rig_q(queue, dir, TRN_Q_CFG), TRN_Q_CFG_RESET_VALUE);
		rig_write(rig, rig_q(queue, dir, dir ? TRN_Q_S2M_SW_CTRL : TRN_Q_M2S_SW_CTRL),
			  TRN_Q_SW_CTRL_RESET);
		rig_write(rig, rig_q(queue, dir, TRN_Q_BASE_LOW), (uint32_t)base);
		rig_write(rig, rig_q(queue, dir, TRN_Q_BASE_HIGH), (uint32_t)(base >> 32));
		rig_write(rig, rig_q(queue, dir, TRN_Q_LENGTH), queue->length);
		rig_write(rig, rig_q(queue, dir, dir ? TRN_Q_S2M_COMPL_CFG : TRN_Q_M2S_COMPL_CFG),
			  0);
		rig_write(rig, rig_q(queue, dir, TRN_Q_CFG),
			  TRN_Q_CFG_RESET_VALUE | TRN_Q_CFG_ENABLE);
		queue->next[dir] = 0;
		queue->pass[dir] = TRN_RING_FIRST_ID;
	}
}

void rig_queue_open(struct rig *rig, struct rig_queue *queue, unsigned int engine, unsigned int q,
		    uint32_t length)
{
	memset(queue, 0, sizeof(*queue));
	queue->rig = rig;
	queue->engine = engine;
	queue->queue = q;
	queue->udma = rig_engine(engine);
	queue->length = length;
	rig_host_alloc(rig, &queue->mem, 2 * (size_t)length * TRN_DESC_SIZE);
	queue->m2s = (struct trn_desc *)queue->mem.ptr;
	queue->s2m = queue->m2s + length;
	rig_engine_init(rig, engine);
	rig_queue_reset(queue);
}

void rig_queue_close(struct rig_queue *queue)
{
	rig_host_free(queue->rig, &queue->mem);
}

static void append(struct rig_queue *queue, int dir, struct trn_desc desc)
{
	struct trn_desc *ring = dir ? queue->s2m : queue->m2s;

	desc.ctrl |= (queue->pass[dir] & 3) << TRN_DESC_RING_ID_SHIFT;
	ring[queue->next[dir]] = desc;
	if (++queue->next[dir] == queue->length) {
		queue->next[dir] = 0;
		queue->pass[dir]++;
	}
}

void rig_m2s_raw(struct rig_queue *queue, uint64_t addr, uint32_t len, uint32_t flags,
		 uint32_t meta)
{
	append(queue, 0,
	       (struct trn_desc){
		       .ctrl = (len & TRN_DESC_LEN_MASK) | flags, .meta = meta, .addr = addr });
}

void rig_m2s(struct rig_queue *queue, uint64_t addr, uint32_t len, uint32_t flags)
{
	rig_m2s_raw(queue, addr, len, TRN_DESC_FIRST | TRN_DESC_LAST | flags, TRN_META_PLAIN);
}

void rig_s2m(struct rig_queue *queue, uint64_t addr, uint32_t len)
{
	append(queue, 1, (struct trn_desc){ .ctrl = len & TRN_DESC_LEN_MASK, .addr = addr });
}

void rig_ring(struct rig_queue *queue, uint32_t m2s, uint32_t s2m)
{
	if (s2m)
		rig_write(queue->rig, rig_q(queue, 1, TRN_Q_TAIL_INC), s2m);
	if (m2s)
		rig_write(queue->rig, rig_q(queue, 0, TRN_Q_TAIL_INC), m2s);
}

void rig_copy(struct rig_queue *queue, uint64_t dst, uint64_t src, uint32_t len)
{
	rig_m2s(queue, src, len, 0);
	rig_s2m(queue, dst, len);
	rig_ring(queue, 1, 1);
}

uint32_t rig_head(struct rig_queue *queue, int dir)
{
	return rig_read(queue->rig, rig_q(queue, dir, TRN_Q_HEAD)) & TRN_Q_INDEX_MASK;
}

uint32_t rig_core_reg(const struct rig_core *core, uint32_t reg)
{
	return rig_map->tpb(core->core) + TRN_TPB_CORE + reg;
}

uint32_t rig_nq(const struct rig_core *core, unsigned int slot, uint32_t reg)
{
	return rig_map->nc_notific(core->core) + TRN_NQ_SLOT(slot) + reg;
}

uint32_t rig_sem(unsigned int n, uint32_t aperture, unsigned int i)
{
	return rig_map->tpb(n) + aperture + i * 4;
}

void rig_core_open(struct rig *rig, struct rig_core *core, unsigned int n)
{
	memset(core, 0, sizeof(*core));
	core->rig = rig;
	core->core = n;
	core->sq_size = 16;
	core->nq_entries = 64;
	rig_host_alloc(rig, &core->mem, 8192);
	core->sq = (struct trn_run_request *)core->mem.ptr;
	core->nq = (struct trn_notification *)(core->mem.ptr + 4096);
	rig_write(rig, rig_nq(core, 0, TRN_NQ_BASE_HIGH), (uint32_t)((core->mem.dev + 4096) >> 32));
	rig_write(rig, rig_nq(core, 0, TRN_NQ_BASE_LOW), (uint32_t)(core->mem.dev + 4096));
	rig_write(rig, rig_nq(core, 0, TRN_NQ_SIZE), core->nq_entries * TRN_NOTIFY_SIZE);
	rig_write(rig, rig_core_reg(core, TRN_CORE_SQ_BASE_LOW), (uint32_t)core->mem.dev);
	rig_write(rig, rig_core_reg(core, TRN_CORE_SQ_BASE_HIGH), (uint32_t)(core->mem.dev >> 32));
	rig_write(rig, rig_core_reg(core, TRN_CORE_SQ_SIZE), core->sq_size);
	rig_write(rig, rig_core_reg(core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE);
}

void rig_core_close(struct rig_core *core)
{
	rig_write(core->rig, rig_nq(core, 0, TRN_NQ_SIZE), 0);
	rig_host_free(core->rig, &core->mem);
}

void rig_windows(struct rig *rig, struct trn_run_request *request, uint64_t dev,
		 const struct trn_window *window, uint32_t count)
{
	memcpy(rig_hbm(rig, dev), window, count * sizeof(*window));
	request->windows = dev;
	request->window_count = count;
}

struct trn_run_request rig_program(struct rig *rig, uint64_t dev, enum trn_engine engine,
				   const struct trn_insn *insn, uint32_t count)
{
	const struct trn_window all = {
		.base = 0,
		.size = rig_map->hbm_size,
		.access = TRN_ACCESS_READ | TRN_ACCESS_WRITE | TRN_ACCESS_EXEC,
	};
	struct trn_program_table *table = rig_hbm(rig, dev);
	struct trn_run_request request = { .program = dev, .cookie = dev ^ 0xc00c1e };

	memset(table, 0, sizeof(*table));
	table->magic = TRN_PROGRAM_TABLE_MAGIC;
	table->count = 1;
	table->entry[0].engine = engine;
	table->entry[0].insns = count;
	table->entry[0].base = dev + 0x1000;
	memcpy(rig_hbm(rig, dev + 0x1000), insn, count * sizeof(*insn));
	rig_windows(rig, &request, dev + 0x800, &all, 1);
	return request;
}

void rig_submit(struct rig_core *core, const struct trn_run_request *request)
{
	core->sq[core->tail++ % core->sq_size] = *request;
	rig_write(core->rig, rig_core_reg(core, TRN_CORE_SQ_TAIL), core->tail);
}

struct trn_notification rig_note(struct rig_core *core)
{
	struct trn_notification *entry = &core->nq[core->read % core->nq_entries];
	uint8_t phase = (core->read / core->nq_entries) & 1 ? 0 : TRN_NOTIFY_FLAG_PHASE;
	uint64_t end = now_ms() + RIG_TIMEOUT_MS, first;
	struct trn_notification copy;

	for (;;) {
		first = __atomic_load_n((uint64_t *)entry, __ATOMIC_ACQUIRE);
		memcpy(&copy, &first, sizeof(first));
		if ((copy.flags & TRN_NOTIFY_FLAG_PHASE) == phase)
			break;
		ck_assert_msg(now_ms() < end, "no notification %u", core->read);
		pause_short();
	}
	copy = *entry;
	core->read++;
	rig_write(core->rig, rig_nq(core, 0, TRN_NQ_TAIL), core->read);
	return copy;
}

enum trn_fault rig_run(struct rig_core *core, const struct trn_run_request *request)
{
	struct trn_notification note;

	rig_submit(core, request);
	do {
		note = rig_note(core);
	} while (note.type != TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(note.payload[0], request->cookie);
	return (enum trn_fault)note.code;
}

/* A test runs in a process of its own, where this comes first. */
#define PRODUCT_SETUP(index)                   \
	static void product_setup##index(void) \
	{                                      \
		rig_map = rig_map_at(index);   \
	}
PRODUCT_SETUP(0)
PRODUCT_SETUP(1)
PRODUCT_SETUP(2)

static void (*const product_setup[])(void) = { product_setup0, product_setup1, product_setup2 };

#define PRODUCTS   (sizeof(product_setup) / sizeof(product_setup[0]))
#define NAME_BYTES 128

/* @name holds the name of the case until the runner is freed. */
static void product_add(Suite *suite, unsigned int product, const TTest *test,
			char name[NAME_BYTES])
{
	TCase *tc;

	snprintf(name, NAME_BYTES, "%s@%s", test->name, rig_map_at(product)->arch);
	tc = tcase_create(name);
	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, product_setup[product], NULL);
	tcase_add_test(tc, test);
	suite_add_tcase(suite, tc);
}

int rig_main(const char *suite_name, const TTest *const *tests, size_t count)
{
	const char *only = getenv("TRN_EMU_ARCH");
	char(*name)[NAME_BYTES] = calloc(PRODUCTS * count, sizeof(*name));
	Suite *suite = suite_create(suite_name);
	const struct rig_map *map;
	SRunner *runner;
	unsigned int p;
	size_t i;
	int failed;

	for (p = 0; name && (map = rig_map_at(p)); p++)
		for (i = 0; (!only || !strcmp(only, map->arch)) && i < count; i++)
			product_add(suite, p, tests[i], name[p * count + i]);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = !name || srunner_ntests_failed(runner);
	srunner_free(runner);
	free(name);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
