// SPDX-License-Identifier: BSD-2-Clause
/*
 * Harness of the NeuronCore's unit tests.
 */
#include "core_harness.h"

static uint8_t *locate(struct harness *h, uint64_t addr, size_t len)
{
	uint64_t image = addr - H_IMAGE(0);

	if (addr <= H_MEM_BYTES && len <= H_MEM_BYTES - addr)
		return h->mem + addr;
	if (addr >= H_IMAGE(0) && image <= sizeof(h->prog) && len <= sizeof(h->prog) - image)
		return (uint8_t *)h->prog + image;
	return NULL;
}

static enum trn_fault mem_read(void *opaque, uint64_t addr, void *buf, size_t len, bool fetch)
{
	struct harness *h = opaque;
	const uint8_t *p = locate(h, addr, len);

	h->fetches += fetch;
	if (!p)
		return fetch ? TRN_FAULT_FETCH : TRN_FAULT_WINDOW;
	memcpy(buf, p, len);
	return TRN_FAULT_NONE;
}

static enum trn_fault mem_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	uint8_t *p = locate(opaque, addr, len);

	if (!p)
		return TRN_FAULT_WINDOW;
	memcpy(p, buf, len);
	return TRN_FAULT_NONE;
}

static enum trn_fault dma_trigger(void *opaque, uint32_t engine_mask, uint32_t queue,
				  uint32_t count)
{
	struct harness *h = opaque;

	h->trigger[0] = engine_mask;
	h->trigger[1] = queue;
	h->trigger[2] = count;
	h->triggers++;
	return TRN_FAULT_NONE;
}

static void notify(void *opaque, unsigned int slot, const struct trn_notification *entry)
{
	struct harness *h = opaque;

	if (h->notes < H_NOTES_MAX) {
		h->note_slot[h->notes] = slot;
		h->note[h->notes++] = *entry;
	}
}

static const struct emu_core_ops ops = {
	.read = mem_read,
	.write = mem_write,
	.dma_trigger = dma_trigger,
	.notify = notify,
};

struct harness *h_create_config(const struct emu_core_config *config)
{
	struct harness *h = calloc(1, sizeof(*h));

	ck_assert_ptr_nonnull(h);
	h->core = emu_core_create(config, &ops, h);
	ck_assert_ptr_nonnull(h->core);
	return h;
}

struct harness *h_create(unsigned int generation)
{
	struct emu_core_config config = {
		.generation = generation,
		.sbuf_partition_bytes = generation == 2 ? TRN_SBUF_PARTITION_BYTES_V2
							: TRN_SBUF_PARTITION_BYTES_V3,
	};

	return h_create_config(&config);
}

void h_destroy(struct harness *h)
{
	emu_core_destroy(h->core);
	free(h);
}

struct trn_insn *h_emit(struct harness *h, enum trn_engine engine, enum trn_opcode op)
{
	struct trn_insn *insn;

	ck_assert_uint_lt(h->count[engine], H_PROG_MAX - 1);
	insn = &h->prog[engine][h->count[engine]++];
	memset(insn, 0, sizeof(*insn));
	insn->opcode = (uint8_t)op;
	insn->engine = (uint8_t)engine;
	return insn;
}

enum trn_fault h_run(struct harness *h)
{
	unsigned int e;

	for (e = 0; e < TRN_ENGINE_MAX; e++) {
		h->run.image[e].base = H_IMAGE(e);
		if (h->count[e] && h->prog[e][h->count[e] - 1].opcode != TRN_OP_HALT)
			h_emit(h, (enum trn_engine)e, TRN_OP_HALT);
		h->run.image[e].count = h->count[e];
	}
	emu_core_run(h->core, &h->run, &h->result);
	memset(h->count, 0, sizeof(h->count));
	return h->result.fault;
}

void h_run_ok(struct harness *h)
{
	enum trn_fault fault = h_run(h);

	ck_assert_msg(fault == TRN_FAULT_NONE, "fault %d, engine %d, instruction %u, opcode %02x",
		      fault, h->result.engine, h->result.pc, h->result.opcode);
}

static struct trn_operand operand(unsigned int mem, unsigned int partition, unsigned int partitions,
				  uint32_t offset, enum trn_dtype dtype, uint16_t n)
{
	return (struct trn_operand){
		.where = mem << TRN_OPERAND_MEM_SHIFT | offset,
		.partition = (uint8_t)partition,
		.partitions = (uint8_t)partitions,
		.dtype = (uint8_t)dtype,
		.ndim = 1,
		.dim = { { 1, n } },
	};
}

struct trn_operand h_sbuf(unsigned int partition, unsigned int partitions, uint32_t offset,
			  enum trn_dtype dtype, uint16_t n)
{
	return operand(TRN_MEM_SBUF, partition, partitions, offset, dtype, n);
}

struct trn_operand h_psum(unsigned int partition, unsigned int partitions, uint32_t offset,
			  enum trn_dtype dtype, uint16_t n)
{
	return operand(TRN_MEM_PSUM, partition, partitions, offset, dtype, n);
}

struct trn_operand h_unused(void)
{
	return (struct trn_operand){ .where = TRN_MEM_UNUSED << TRN_OPERAND_MEM_SHIFT };
}

uint32_t h_vector(unsigned int mem, unsigned int type, unsigned int quadrant, uint32_t offset)
{
	return mem << TRN_VECTOR_MEM_SHIFT | type << TRN_VECTOR_DTYPE_SHIFT |
	       quadrant << TRN_VECTOR_QUADRANT_SHIFT | offset;
}

uint32_t h_f32(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

void h_put(struct harness *h, unsigned int partition, uint32_t offset, const void *data, size_t len)
{
	void *p = emu_core_sbuf(h->core, partition, offset, (uint32_t)len);

	ck_assert_ptr_nonnull(p);
	memcpy(p, data, len);
}

void h_get(struct harness *h, unsigned int partition, uint32_t offset, void *data, size_t len)
{
	const void *p = emu_core_sbuf(h->core, partition, offset, (uint32_t)len);

	ck_assert_ptr_nonnull(p);
	memcpy(data, p, len);
}

void h_put_f32(struct harness *h, unsigned int partition, uint32_t offset, float f)
{
	h_put(h, partition, offset, &f, sizeof(f));
}

float h_get_f32(struct harness *h, unsigned int partition, uint32_t offset)
{
	float f;

	h_get(h, partition, offset, &f, sizeof(f));
	return f;
}

uint32_t h_get_u32(struct harness *h, unsigned int partition, uint32_t offset)
{
	uint32_t u;

	h_get(h, partition, offset, &u, sizeof(u));
	return u;
}

uint32_t h_psum_u32(struct harness *h, unsigned int partition, uint32_t offset)
{
	uint32_t u;
	const void *p = emu_core_psum(h->core, partition, offset, sizeof(u));

	ck_assert_ptr_nonnull(p);
	memcpy(&u, p, sizeof(u));
	return u;
}

void h_add(Suite *suite, const char *name, const TTest *test, int loops)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 120);
	if (loops)
		tcase_add_loop_test(tc, test, 0, loops);
	else
		tcase_add_test(tc, test);
	suite_add_tcase(suite, tc);
}

int h_main(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
