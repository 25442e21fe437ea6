// SPDX-License-Identifier: BSD-2-Clause
/*
 * Faults on demand as a driver sees them, by registers alone: a case for each fault, on each
 * product. A fault without a case fails the suite.
 */
#include <errno.h>
#include <string.h>
#include "emu_rig.h"

#define MR(offset) (RIG_MISC + (offset))
#define PROGRAM	   0x2000000ull
#define DATA	   0x3000000ull
#define SEM	   7
#define ONES	   0xffffffffu

static struct rig rig;
static struct rig_host mem; /* what a driver would have allocated for DMA */
static struct rig_queue queue;
static struct rig_core core;

/* Every fault exists under its name, and takes the value. */
static void fault(const char *name, uint64_t value)
{
	ck_assert_msg(!emu_device_fault_set(rig.dev, name, value), "%s=%llu", name,
		      (unsigned long long)value);
}

static uint64_t fault_left(const char *name)
{
	uint64_t value;

	ck_assert_int_eq(emu_device_fault_get(rig.dev, name, &value), 0);
	return value;
}

static void open_product(void)
{
	rig_open(&rig);
	rig_host_alloc(&rig, &mem, 65536);
}

static void close_product(void)
{
	rig_host_free(&rig, &mem);
	rig_close(&rig, 0);
}

static void open_queue(void)
{
	open_product();
	rig_queue_open(&rig, &queue, RIG_H2T, 0, 32);
}

static void close_queue(void)
{
	rig_quiesce(&rig);
	rig_queue_close(&queue);
	close_product();
}

static void open_core(void)
{
	open_product();
	rig_core_open(&rig, &core, 0);
	rig_unmask(&rig, TRN_VECTOR_CORE(0));
}

static void close_core(void)
{
	rig_core_close(&core);
	close_product();
}

static struct trn_insn insn(enum trn_opcode op)
{
	return (struct trn_insn){ .opcode = (uint8_t)op, .engine = TRN_ENGINE_SP };
}

/* Sets semaphore SEM to 1, 2, 3 and ends. */
static struct trn_run_request counting_program(void)
{
	struct trn_insn code[4];
	int i;

	for (i = 0; i < 3; i++) {
		code[i] = insn(TRN_OP_NOP);
		code[i].update[0] = (struct trn_sync){ .op = TRN_UPDATE_WRITE,
						       .mode = TRN_UPDATE_AT_COMPLETE,
						       .index = SEM,
						       .value = i + 1 };
	}
	code[3] = insn(TRN_OP_HALT);
	return rig_program(&rig, PROGRAM, TRN_ENGINE_SP, code, 4);
}

static uint32_t *words(void)
{
	return (uint32_t *)(void *)mem.ptr;
}

/* A copy and its 4-byte marker, as a driver polls for it. */
static void copy_with_marker(uint64_t dst, uint64_t src, uint32_t len, uint32_t marker)
{
	words()[0] = marker;
	words()[1] = ~marker;
	rig_m2s(&queue, src, len, 0);
	rig_s2m(&queue, dst, len);
	rig_m2s(&queue, mem.dev, 4, 0);
	rig_s2m(&queue, mem.dev + 4, 4);
	rig_ring(&queue, 2, 2);
}

static bool marked(uint32_t marker)
{
	rig_quiesce(&rig);
	return __atomic_load_n(&words()[1], __ATOMIC_ACQUIRE) == marker;
}

static uint32_t cause_m2s(void)
{
	return rig_read(&rig,
			queue.udma + TRN_UDMA_GEN + TRN_GEN_IOFIC_SECONDARY_A + TRN_IOFIC_CAUSE);
}

/* Posts to the firmware; request at 4096, response at 8192 of the driver's memory. */
static void post(uint8_t sequence)
{
	uint8_t *request = mem.ptr + 4096;
	uint32_t crc = ONES;
	int i, bit;

	memset(request, 0, 8);
	request[0] = sequence;
	request[1] = TRN_FWIO_POST;
	request[2] = 8;
	for (i = 0; i < 8; i++) {
		crc ^= request[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	crc = ~crc;
	memcpy(request + 4, &crc, 4);
	__atomic_store_n(&mem.ptr[8192], 0, __ATOMIC_RELEASE);
	rig_write(&rig, MR(TRN_MISC_REQUEST_LOW), (uint32_t)(mem.dev + 4096));
	rig_write(&rig, MR(TRN_MISC_REQUEST_HIGH), (uint32_t)((mem.dev + 4096) >> 32));
	rig_write(&rig, MR(TRN_MISC_RESPONSE_LOW), (uint32_t)(mem.dev + 8192));
	rig_write(&rig, MR(TRN_MISC_RESPONSE_HIGH), (uint32_t)((mem.dev + 8192) >> 32));
	rig_write(&rig, MR(TRN_MISC_TRIGGER), 1);
	rig_quiesce(&rig);
}

/* Sequence number of the last answer, 0: none. */
static uint8_t answer(void)
{
	return __atomic_load_n(&mem.ptr[8192], __ATOMIC_ACQUIRE);
}

static void reset_begin(void)
{
	rig_write(&rig, MR(TRN_MISC_RESET), TRN_RESET_DEVICE);
	rig_write(&rig, MR(TRN_MISC_TRIGGER), 1);
}

static void reset_works(void)
{
	reset_begin();
	rig_wait(&rig, MR(TRN_MISC_RESET), ~0u, 0);
	rig_wait(&rig, MR(TRN_MISC_FW_STATUS), TRN_FW_STATUS_BUSY, 0);
}

START_TEST(irq_lost)
{
	struct trn_run_request request;

	open_core();
	request = counting_program();
	fault("irq-lost", 1);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	rig_quiesce(&rig);
	/* The work is done and visible, the message never came and is not pending either. */
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_CORE(0)), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_PENDING(TRN_VECTOR_CORE(0))), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 1);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	rig_wait_irq(&rig, TRN_VECTOR_CORE(0), 1);
	close_core();
}
END_TEST

START_TEST(irq_spurious)
{
	unsigned int vectors;

	open_product();
	vectors = rig_ext_read(&rig, TRN_EXT_VECTORS);
	rig_unmask(&rig, TRN_VECTOR_DEVICE);
	fault("irq-spurious", vectors);
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_DEVICE), 1);
	/* Masked vectors keep the event until they are unmasked. */
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_CORE(0)), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_PENDING(TRN_VECTOR_CORE(0))), 1);
	rig_unmask(&rig, TRN_VECTOR_CORE(0));
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_CORE(0)), 1);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(0))), 0);
	close_product();
}
END_TEST

START_TEST(completion_late)
{
	open_queue();
	fault("completion-late", 100);
	copy_with_marker(DATA, mem.dev + 64, 64, 0x1a7e);
	ck_assert_int_eq(emu_device_quiesce(rig.dev, 1), -ETIMEDOUT);
	rig_wait_word(&words()[1], 0x1a7e);
	fault("completion-late", 0);
	close_queue();
}
END_TEST

START_TEST(completion_missing)
{
	open_queue();
	memset(mem.ptr + 64, 0x51, 64);
	fault("completion-missing", 1);
	copy_with_marker(DATA, mem.dev + 64, 64, 0x1055);
	/* The data is there and the rings moved on; only the marker is not written. */
	ck_assert(!marked(0x1055));
	ck_assert_uint_eq(rig_head(&queue, 0), 2);
	ck_assert_mem_eq(rig_hbm(&rig, DATA), mem.ptr + 64, 64);
	copy_with_marker(DATA, mem.dev + 64, 64, 0x1056);
	ck_assert(marked(0x1056));
	close_queue();
}
END_TEST

START_TEST(completion_double)
{
	struct trn_run_request request;
	struct trn_notification first, second;

	open_core();
	request = counting_program();
	fault("completion-double", 1);
	rig_submit(&core, &request);
	first = rig_note(&core);
	second = rig_note(&core);
	ck_assert_uint_eq(first.type, TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(second.type, TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(first.payload[0], second.payload[0]);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 1);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	close_core();
}
END_TEST

START_TEST(fw_silent)
{
	open_product();
	fault("fw-silent", 1);
	post(2);
	ck_assert_uint_eq(answer(), 0);
	post(3);
	ck_assert_uint_eq(answer(), 3);
	close_product();
}
END_TEST

START_TEST(fw_crc)
{
	open_product();
	fault("fw-crc", 1);
	post(2);
	ck_assert_uint_eq(answer(), 2);
	ck_assert_uint_eq(mem.ptr[8193], TRN_FWIO_FAIL);
	post(3);
	ck_assert_uint_eq(mem.ptr[8193], TRN_FWIO_OK);
	close_product();
}
END_TEST

START_TEST(fw_lying)
{
	open_product();
	fault("fw-lying", 1);
	post(2);
	ck_assert_uint_eq(answer(), 2);
	ck_assert_uint_eq(mem.ptr[8194] | mem.ptr[8195] << 8, 0xffff);
	post(3);
	ck_assert_uint_eq(mem.ptr[8194] | mem.ptr[8195] << 8, TRN_FWIO_RESP_PAYLOAD);
	close_product();
}
END_TEST

START_TEST(fw_sequence)
{
	open_product();
	fault("fw-sequence", 2);
	post(2);
	ck_assert_uint_eq(answer(), 3);
	post(255);
	ck_assert_uint_eq(answer(), 1);
	post(4);
	ck_assert_uint_eq(answer(), 4);
	close_product();
}
END_TEST

START_TEST(reset_slow)
{
	open_product();
	fault("reset-slow", 300);
	reset_begin();
	rig_wait(&rig, MR(TRN_MISC_FW_STATUS), TRN_FW_STATUS_BUSY, TRN_FW_STATUS_BUSY);
	rig_wait(&rig, MR(TRN_MISC_DEVICE_ID), ~0u, TRN_MISC_NOT_READY);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_RESET)), TRN_RESET_DEVICE);
	rig_wait(&rig, MR(TRN_MISC_RESET), ~0u, 0);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_DEVICE_ID)), 0);
	close_product();
}
END_TEST

START_TEST(reset_fail)
{
	open_product();
	fault("reset-fail", 1);
	reset_begin();
	rig_wait(&rig, MR(TRN_MISC_RESET), ~0u, 0);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_FW_STATUS)), TRN_FW_STATUS_BUSY);
	reset_works();
	close_product();
}
END_TEST

START_TEST(reset_twice)
{
	open_product();
	fault("reset-twice", 1);
	reset_begin();
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_RESET)), TRN_RESET_DEVICE);
	reset_works();
	close_product();
}
END_TEST

START_TEST(regs_all_ones)
{
	open_product();
	fault("regs-all-ones", 1);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_DEVICE_ID)), ONES);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_ID), ONES);
	rig_write(&rig, MR(TRN_MISC_METRIC), 5);
	fault("irq-spurious", 1);
	fault("regs-all-ones", 0);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_METRIC)), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_PENDING(TRN_VECTOR_DEVICE)), 0);
	close_product();
}
END_TEST

START_TEST(engine_hang)
{
	open_queue();
	fault("engine-hang", 1 + RIG_H2T);
	copy_with_marker(DATA, mem.dev + 64, 64, 0xdead);
	ck_assert(!marked(0xdead));
	ck_assert_uint_eq(rig_head(&queue, 0), 0);
	/* The doorbell was taken: the tail stands where the driver rang it. */
	ck_assert_uint_eq(rig_read(&rig, rig_q(&queue, 0, TRN_Q_TAIL)) & TRN_Q_INDEX_MASK, 2);
	fault("engine-hang", 0);
	ck_assert(marked(0xdead));
	close_queue();
}
END_TEST

START_TEST(ecc_correctable)
{
	open_product();
	rig_unmask(&rig, TRN_VECTOR_DEVICE);
	fault("ecc-correctable", 3);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(0))), 3u << 16);
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_DEVICE), 0);
	fault("ecc-correctable", 0xffff);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(0))), 0xffffu << 16);
	close_product();
}
END_TEST

START_TEST(ecc_uncorrectable)
{
	open_product();
	rig_unmask(&rig, TRN_VECTOR_DEVICE);
	fault("ecc-uncorrectable", 2);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(0))), 2);
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_DEVICE), 1);
	close_product();
}
END_TEST

START_TEST(ecc_correctable_at)
{
	uint64_t bad = rig_map->hbm_base(1) + DATA;

	open_queue();
	rig_unmask(&rig, TRN_VECTOR_DEVICE);
	memset(rig_hbm(&rig, bad), 0x7e, 128);
	fault("ecc-correctable-at", 1 + bad + 40);
	/* The bytes before the damaged word, then the word. */
	copy_with_marker(mem.dev + 64, bad, 32, 1);
	ck_assert(marked(1));
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(1))), 0);
	copy_with_marker(mem.dev + 64, bad, 128, 2);
	ck_assert(marked(2));
	ck_assert_mem_eq(mem.ptr + 64, rig_hbm(&rig, bad), 128);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(1))), 1u << 16);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(0))), 0);
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_DEVICE), 0);
	fault("ecc-correctable-at", 0);
	copy_with_marker(mem.dev + 64, bad, 128, 3);
	ck_assert(marked(3));
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(1))), 1u << 16);
	close_queue();
}
END_TEST

START_TEST(ecc_uncorrectable_at)
{
	open_queue();
	rig_unmask(&rig, TRN_VECTOR_DEVICE);
	fault("ecc-uncorrectable-at", 1 + DATA);
	copy_with_marker(mem.dev + 64, DATA, 64, 1);
	/* As if the source were not there: error of the read side, engine aborted, no marker. */
	ck_assert(!marked(1));
	ck_assert_uint_eq(cause_m2s(), TRN_ERR_A_DATA_RESPONSE);
	ck_assert_uint_eq(rig_head(&queue, 0), 0);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(0))), 1);
	ck_assert_uint_ge(rig_irq(&rig, TRN_VECTOR_DEVICE), 1);
	fault("ecc-uncorrectable-at", 0);
	/* Work still posted is tried again after the change of state, and succeeds now. */
	rig_write(&rig, queue.udma + TRN_UDMA_M2S + TRN_M2S_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
	rig_write(&rig, queue.udma + TRN_UDMA_S2M + TRN_S2M_CHANGE_STATE, TRN_UDMA_CHANGE_NORMAL);
	ck_assert(marked(1));
	close_queue();
}
END_TEST

/* A core that runs into it: the instruction fetch fails, the run ends with a fault. */
START_TEST(ecc_uncorrectable_at_fetch)
{
	struct trn_run_request request;
	uint32_t counted;

	open_core();
	request = counting_program();
	fault("ecc-uncorrectable-at", 1 + PROGRAM + 0x1000);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_FETCH);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_STATUS)),
			  TRN_CORE_STATUS_HALTED);
	counted = rig_read(&rig, MR(TRN_MISC_HBM_ECC(0)));
	ck_assert_uint_ge(counted, 1);
	/* The program's table instead of its code: the request is refused, the counter goes on. */
	fault("ecc-uncorrectable-at", 1 + PROGRAM);
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_RESUME);
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_REQUEST);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_HBM_ECC(0))), counted + 1);
	close_core();
}
END_TEST

START_TEST(notify_phase)
{
	struct trn_run_request request;

	open_core();
	request = counting_program();
	fault("notify-phase", 1);
	rig_submit(&core, &request);
	rig_wait_irq(&rig, TRN_VECTOR_CORE(0), 1);
	rig_quiesce(&rig);
	/* Written, counted and announced, but it looks like the entry of the pass before. */
	ck_assert_uint_eq(rig_read(&rig, rig_nq(&core, 0, TRN_NQ_HEAD)), 1);
	ck_assert_uint_eq(core.nq[0].type, TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(core.nq[0].flags & TRN_NOTIFY_FLAG_PHASE, 0);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_SQ_HEAD)), 1);
	core.read = 1;
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	close_core();
}
END_TEST

static uint32_t sem_value(void)
{
	return rig_read(&rig, rig_sem(0, TRN_TPB_SEM_READ, SEM));
}

START_TEST(core_hang)
{
	struct trn_run_request request;
	struct trn_notification note;

	open_core();
	request = counting_program();
	fault("core-hang", 1 + TRN_ENGINE_SP);
	rig_submit(&core, &request);
	ck_assert_int_eq(emu_device_quiesce(rig.dev, 50), -ETIMEDOUT);
	ck_assert_uint_eq(sem_value(), 0);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_STATUS)),
			  TRN_CORE_STATUS_RUNNING);
	/* An abort ends the run; the next one hangs again until the fault is taken away. */
	rig_write(&rig, rig_core_reg(&core, TRN_CORE_SQ_CONTROL), TRN_SQ_ENABLE | TRN_SQ_ABORT);
	do {
		note = rig_note(&core);
	} while (note.type != TRN_NOTIFY_RUN_END);
	ck_assert_uint_eq(note.code, TRN_FAULT_STOPPED);
	rig_submit(&core, &request);
	ck_assert_int_eq(emu_device_quiesce(rig.dev, 50), -ETIMEDOUT);
	fault("core-hang", 0);
	ck_assert_uint_eq(rig_note(&core).code, TRN_FAULT_NONE);
	ck_assert_uint_eq(sem_value(), 3);
	close_core();
}
END_TEST

START_TEST(core_hang_at)
{
	struct trn_run_request request;

	open_core();
	request = counting_program();
	fault("core-hang-at", 2);
	fault("core-hang", 1 + TRN_ENGINE_SP);
	rig_submit(&core, &request);
	rig_wait(&rig, rig_sem(0, TRN_TPB_SEM_READ, SEM), ~0u, 2);
	ck_assert_int_eq(emu_device_quiesce(rig.dev, 50), -ETIMEDOUT);
	ck_assert_uint_eq(sem_value(), 2);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, 0) - TRN_TPB_CORE +
						 TRN_TPB_ENGINE(TRN_ENGINE_SP) + TRN_ENG_PC),
			  2);
	/* A reset gets the core back; it changes no fault. */
	reset_works();
	ck_assert_uint_eq(fault_left("core-hang"), 1 + TRN_ENGINE_SP);
	fault("core-hang", 0);
	close_core();
}
END_TEST

/* Third register access from now is the last one that is answered. */
START_TEST(removal)
{
	open_product();
	rig_unmask(&rig, TRN_VECTOR_DEVICE);
	rig_write(&rig, MR(TRN_MISC_METRIC), 77);
	fault("removal", 1 + 3);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_METRIC)), 77);
	ck_assert_uint_eq(fault_left("removal"), 1 + 2);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_METRIC)), 77);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_METRIC)), 77);
	ck_assert(emu_device_removed(rig.dev));
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_METRIC)), ONES);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_ID), ONES);
	rig_write(&rig, MR(TRN_MISC_METRIC), 78);
	fault("irq-spurious", 1);
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_DEVICE), 0);
	/* Plugged in again: powered up, nothing of before. */
	fault("removal", 0);
	ck_assert_uint_eq(rig_read(&rig, MR(TRN_MISC_METRIC)), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_IRQ_MASK(TRN_VECTOR_DEVICE)), 1);
	close_product();
}
END_TEST

/* In the middle of a ring: what was copied stays, what follows never happens. */
START_TEST(removal_during_dma)
{
	int i;

	open_queue();
	for (i = 0; i < 8; i++) {
		memset(mem.ptr + 4096 * (size_t)i, 0x10 + i, 64);
		rig_m2s(&queue, mem.dev + 4096 * (uint64_t)i, 64, 0);
		rig_s2m(&queue, mem.dev + 4096 * (uint64_t)i + 64, 64);
	}
	/* Two doorbells and five descriptors. */
	fault("removal", 1 + 2 + 5);
	rig_ring(&queue, 8, 8);
	rig_quiesce(&rig);
	ck_assert(emu_device_removed(rig.dev));
	for (i = 0; i < 8; i++)
		ck_assert_uint_eq(mem.ptr[4096 * i + 64], i < 5 ? 0x10 + i : 0);
	ck_assert_uint_eq(rig_read(&rig, rig_q(&queue, 0, TRN_Q_HEAD)), ONES);
	fault("removal", 0);
	ck_assert_uint_eq(rig_head(&queue, 0), 0);
	close_queue();
}
END_TEST

/* A running program ends without a trace on the host's side. */
START_TEST(removal_during_run)
{
	struct trn_run_request request;

	open_core();
	request = counting_program();
	fault("core-hang", 1 + TRN_ENGINE_SP);
	rig_submit(&core, &request);
	ck_assert_int_eq(emu_device_quiesce(rig.dev, 20), -ETIMEDOUT);
	fault("removal", 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(core.nq[0].type, 0);
	ck_assert_uint_eq(rig_irq(&rig, TRN_VECTOR_CORE(0)), 0);
	fault("core-hang", 0);
	fault("removal", 0);
	ck_assert_uint_eq(rig_read(&rig, rig_core_reg(&core, TRN_CORE_STATUS)),
			  TRN_CORE_STATUS_IDLE);
	close_core();
}
END_TEST

/* A queue that needs the link waits, and goes on by itself. */
START_TEST(link_down)
{
	struct emu_config config = { .size = sizeof(config), .fabric = "fault" };
	struct rig other;
	uint32_t peer;

	rig_open_config(&rig, &config);
	rig_host_alloc(&rig, &mem, 65536);
	peer = rig_ext_read(&rig, TRN_EXT_LINK(0) + TRN_LINK_PEER);
	config.routing_id = peer & TRN_LINK_PEER_ROUTING_ID;
	rig_open_config(&other, &config);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_LINK(0) + TRN_LINK_STATE), TRN_LINK_STATE_UP);
	rig_queue_open(&rig, &queue, RIG_H2T, 0, 32);
	rig_unmask(&rig, TRN_VECTOR_DEVICE);
	rig_ext_write(&rig, TRN_EXT_LINK(0) + TRN_LINK_EVENTS, TRN_LINK_EVENT_ALL);
	rig_ext_write(&rig, TRN_EXT_LINK(0) + TRN_LINK_ENABLE, TRN_LINK_EVENT_DOWN);
	fault("link-down", 1);
	rig_wait_irq(&rig, TRN_VECTOR_DEVICE, 1);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_LINK(0) + TRN_LINK_STATE),
			  TRN_LINK_STATE_DOWN);
	memset(mem.ptr, 0x5d, 64);
	rig_copy(&queue,
		 (rig_ext_read(&rig, TRN_EXT_LINK(0) + TRN_LINK_WINDOW_LOW) |
		  (uint64_t)rig_ext_read(&rig, TRN_EXT_LINK(0) + TRN_LINK_WINDOW_HIGH) << 32) +
			 TRN_HBM_FW_RESERVED,
		 mem.dev, 64);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&queue, 0), 0);
	fault("link-down", 0);
	rig_quiesce(&rig);
	ck_assert_uint_eq(rig_head(&queue, 0), 1);
	ck_assert_int_eq(memcmp(rig_hbm(&other, TRN_HBM_FW_RESERVED), mem.ptr, 64), 0);
	/* A neighbour that is removed is not there. */
	ck_assert_int_eq(emu_device_fault_set(other.dev, "removal", 1), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_LINK(0) + TRN_LINK_STATE),
			  TRN_LINK_STATE_UNCONNECTED);
	ck_assert_int_eq(emu_device_fault_set(other.dev, "removal", 0), 0);
	ck_assert_uint_eq(rig_ext_read(&rig, TRN_EXT_LINK(0) + TRN_LINK_STATE), TRN_LINK_STATE_UP);
	close_queue();
	rig_close(&other, 0);
}
END_TEST

/** struct seen - what an event handler was shown; atomic access. */
static struct seen {
	uint32_t kinds, complaint;
	char text[256];
} seen;

static void on_event(void *arg, const struct emu_event *event)
{
	struct seen *all = arg;

	if (event->kind == EMU_EVENT_COMPLAINT) {
		strncpy(all->text, event->text, sizeof(all->text) - 1);
		__atomic_store_n(&all->complaint, (uint32_t)event->arg[0], __ATOMIC_SEQ_CST);
	}
	__atomic_fetch_or(&all->kinds, 1u << event->kind, __ATOMIC_SEQ_CST);
}

START_TEST(events)
{
	const uint32_t want = 1u << EMU_EVENT_DOORBELL | 1u << EMU_EVENT_SUBMISSION |
			      1u << EMU_EVENT_DMA_ERROR | 1u << EMU_EVENT_RUN_END |
			      1u << EMU_EVENT_INTERRUPT | 1u << EMU_EVENT_RESET |
			      1u << EMU_EVENT_FAULT | 1u << EMU_EVENT_COMPLAINT;
	struct trn_run_request request;

	open_core();
	memset(&seen, 0, sizeof(seen));
	emu_inproc_event_handler(rig.inproc, on_event, &seen);
	rig_queue_open(&rig, &queue, RIG_H2T, 0, 32);
	request = counting_program();
	ck_assert_int_eq(rig_run(&core, &request), TRN_FAULT_NONE);
	fault("ecc-uncorrectable-at", 1 + DATA);
	copy_with_marker(mem.dev + 64, DATA, 64, 1);
	ck_assert(!marked(1));
	reset_works();
	rig_write(&rig, MR(TRN_MISC_API_VERSION), 1);
	rig_quiesce(&rig);
	ck_assert_uint_eq(__atomic_load_n(&seen.kinds, __ATOMIC_SEQ_CST), want);
	ck_assert_uint_eq(seen.complaint, EMU_COMPLAINT_READ_ONLY);
	ck_assert_ptr_nonnull(strstr(seen.text, "belongs to the firmware"));
	/* Nobody watches any more. */
	emu_inproc_event_handler(rig.inproc, NULL, NULL);
	seen.kinds = 0;
	rig_write(&rig, MR(TRN_MISC_API_VERSION), 1);
	ck_assert_uint_eq(seen.kinds, 0);
	rig_queue_close(&queue);
	rig_core_close(&core);
	rig_host_free(&rig, &mem);
	rig_close(&rig, 2);
}
END_TEST

static const struct fault_case {
	const char *fault;
	const TTest *const *test;
} cases[] = {
	{ "irq-lost", &irq_lost },
	{ "irq-spurious", &irq_spurious },
	{ "completion-late", &completion_late },
	{ "completion-missing", &completion_missing },
	{ "completion-double", &completion_double },
	{ "fw-silent", &fw_silent },
	{ "fw-crc", &fw_crc },
	{ "fw-lying", &fw_lying },
	{ "fw-sequence", &fw_sequence },
	{ "reset-slow", &reset_slow },
	{ "reset-fail", &reset_fail },
	{ "reset-twice", &reset_twice },
	{ "regs-all-ones", &regs_all_ones },
	{ "engine-hang", &engine_hang },
	{ "ecc-correctable", &ecc_correctable },
	{ "ecc-uncorrectable", &ecc_uncorrectable },
	{ "ecc-correctable-at", &ecc_correctable_at },
	{ "ecc-uncorrectable-at", &ecc_uncorrectable_at },
	{ "ecc-uncorrectable-at", &ecc_uncorrectable_at_fetch },
	{ "notify-phase", &notify_phase },
	{ "core-hang", &core_hang },
	{ "core-hang-at", &core_hang_at },
	{ "removal", &removal },
	{ "removal", &removal_during_dma },
	{ "removal", &removal_during_run },
	{ "link-down", &link_down },
};
#define CASES (sizeof(cases) / sizeof(cases[0]))

START_TEST(every_fault_has_a_case)
{
	const char *name, *help;
	unsigned int i, c;

	for (i = 0; (name = emu_fault_name(i, &help)); i++) {
		for (c = 0; c < CASES && strcmp(cases[c].fault, name); c++)
			;
		ck_assert_msg(c < CASES, "fault %s has no case here", name);
		ck_assert_uint_gt(strlen(help), 0);
	}
	ck_assert_uint_gt(i, 0);
}
END_TEST

START_TEST(values_out_of_range)
{
	static const char *const with_names[] = { "engine-hang", "core-hang", "ecc-correctable-at",
						  "ecc-uncorrectable-at" };
	const char *name, *help;
	char text[256];
	unsigned int i;

	open_product();
	for (i = 0; (name = emu_fault_name(i, &help)); i++) {
		ck_assert_int_eq(emu_device_fault_set(rig.dev, name, UINT64_MAX), -ERANGE);
		ck_assert_uint_eq(fault_left(name), 0);
		emu_device_fault_range(rig.dev, name, text, sizeof(text));
		ck_assert_ptr_nonnull(strstr(text, "0"));
	}
	for (i = 0; i < sizeof(with_names) / sizeof(with_names[0]); i++) {
		emu_device_fault_range(rig.dev, with_names[i], text, sizeof(text));
		ck_assert_ptr_nonnull(strstr(text, "1 + "));
	}
	ck_assert_int_eq(emu_device_fault_set(rig.dev, "engine-hang", rig_map->engines + 1),
			 -ERANGE);
	ck_assert_int_eq(emu_device_fault_set(rig.dev, "core-hang", 1 + 4), -ERANGE);
	ck_assert_int_eq(emu_device_fault_set(rig.dev, "core-hang", 1 + 8 * rig_map->cores + 1),
			 -ERANGE);
	ck_assert_int_eq(emu_device_fault_set(rig.dev, "ecc-correctable-at",
					      1 + rig_map->hbm_base(0) + rig_map->hbm_size),
			 -ERANGE);
	ck_assert_int_eq(emu_device_fault_set(rig.dev, "no-such-fault", 1), -ENOENT);
	close_product();
}
END_TEST

/* A fault of something the device does not have is contradictory. */
START_TEST(faults_without_their_feature)
{
	static const char *const names[] = { "irq-lost", "irq-spurious", "notify-phase",
					     "core-hang", "core-hang-at" };
	const struct emu_config config = { .size = sizeof(config),
					   .disable_features = TRN_FEATURE_ALL };
	char text[256];
	unsigned int i;

	rig_open_config(&rig, &config);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ck_assert_int_eq(emu_device_fault_set(rig.dev, names[i], 2), -ENOTSUP);
		ck_assert_int_eq(emu_device_fault_set(rig.dev, names[i], 0), 0);
		emu_device_fault_range(rig.dev, names[i], text, sizeof(text));
		ck_assert_ptr_nonnull(strstr(text, "disable-features"));
	}
	fault("fw-silent", 1);
	rig_close(&rig, 0);
}
END_TEST

/* What a driver does is counted where it can be read from outside. */
START_TEST(statistics)
{
	static const struct {
		const char *name;
		uint64_t least;
	} want[] = {
		{ "register-reads", 1 }, { "register-writes", 20 },  { "doorbells", 4 },
		{ "descriptors", 8 },	 { "dma-bytes", 132 },	     { "resets", 1 },
		{ "faults-taken", 1 },	 { "firmware-requests", 1 },
	};
	const char *name, *help;
	unsigned int i, w, found = 0;

	open_queue();
	copy_with_marker(DATA, mem.dev + 64, 64, 1);
	ck_assert(marked(1));
	fault("completion-missing", 1);
	copy_with_marker(DATA, mem.dev + 64, 64, 2);
	ck_assert(!marked(2));
	reset_works();
	post(2);
	for (i = 0; (name = emu_stat_name(i, &help)); i++) {
		ck_assert_uint_gt(strlen(help), 0);
		for (w = 0; w < sizeof(want) / sizeof(want[0]); w++) {
			if (strcmp(want[w].name, name))
				continue;
			ck_assert_msg(emu_device_stat(rig.dev, i) >= want[w].least, "%s is %llu",
				      name, (unsigned long long)emu_device_stat(rig.dev, i));
			found++;
		}
	}
	ck_assert_uint_eq(found, sizeof(want) / sizeof(want[0]));
	ck_assert_uint_eq(emu_device_stat(rig.dev, i), 0);
	close_queue();
}
END_TEST

int main(void)
{
	const TTest *tests[CASES + 5] = { every_fault_has_a_case, values_out_of_range,
					  faults_without_their_feature, statistics, events };
	unsigned int i;

	for (i = 0; i < CASES; i++)
		tests[5 + i] = *cases[i].test;
	return RIG_MAIN("emu_fault", tests);
}
