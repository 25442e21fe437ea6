// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program builder: tiles, operand checks, transfers, and above all that the synchronisation it
 * inserts is enough.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "builder_priv.h"
#include "program_rig.h"
#include "trn/kernels.h"

static const struct trn_scalar none = { TRN_SCALAR_IMM, 0, { 0 } };

static struct trn_builder *builder(void)
{
	struct trn_builder *b = trn_builder_create("test", 2);

	ck_assert_ptr_nonnull(b);
	return b;
}

static void refused(struct trn_builder *b, const char *word)
{
	struct trn_image *image = NULL;

	ck_assert_int_ne(trn_builder_finish(b, &image), TRN_OK);
	ck_assert_ptr_null(image);
	ck_assert_msg(strstr(trn_error_text(), word) != NULL, "no \"%s\" in: %s", word,
		      trn_error_text());
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "program \"test\""));
	trn_builder_free(b);
}

/* ---- tiles ---- */

START_TEST(test_tiles_disjoint)
{
	struct trn_builder *b = builder();
	struct trn_tile tile[200];
	uint32_t state = 1, used = 0, i, k, round;

	for (round = 0; round < 2000; round++) {
		state = state * 1664525u + 1013904223u;
		if (used && (state >> 8) % 3 == 0) {
			i = (state >> 16) % used;
			trn_builder_tile_free(b, tile[i]);
			tile[i] = tile[--used];
			continue;
		}
		if (used == 200 || trn_builder_tile_space(b, TRN_MEM_SBUF) < 4096)
			continue;
		tile[used] = trn_builder_tile(b, TRN_MEM_SBUF, 128, 1 + (state >> 12) % 4000);
		ck_assert_uint_eq(tile[used].offset % 64, 0);
		for (k = 0; k < used; k++)
			ck_assert(tile[k].offset + tile[k].bytes <= tile[used].offset ||
				  tile[used].offset + tile[used].bytes <= tile[k].offset);
		used++;
	}
	ck_assert_int_eq(trn_builder_status(b), TRN_OK);
	while (used)
		trn_builder_tile_free(b, tile[--used]);
	ck_assert_uint_eq(trn_builder_tile_space(b, TRN_MEM_SBUF), TRN_SBUF_PARTITION_BYTES_V2);
	trn_builder_free(b);
}
END_TEST

START_TEST(test_tiles_psum_bank)
{
	struct trn_builder *b = builder();
	uint32_t sizes[] = { 100, 2048, 600, 1500, 64, 2000 }, i;

	for (i = 0; i < 6; i++) {
		struct trn_tile t = trn_builder_tile(b, TRN_MEM_PSUM, 128, sizes[i]);

		ck_assert_uint_eq(t.offset / TRN_PSUM_BANK_BYTES,
				  (t.offset + sizes[i] - 1) / TRN_PSUM_BANK_BYTES);
	}
	ck_assert_int_eq(trn_builder_status(b), TRN_OK);
	trn_builder_free(b);
}
END_TEST

START_TEST(test_tiles_bad)
{
	struct trn_builder *b = builder();
	struct trn_tile t;

	switch (_i) {
	case 0:
		trn_builder_tile(b, TRN_MEM_SBUF, 128, TRN_SBUF_PARTITION_BYTES_V2 + 1);
		refused(b, "no room for a tile of 196609 bytes");
		break;
	case 1:
		trn_builder_tile(b, TRN_MEM_SBUF, 128, UINT32_MAX);
		refused(b, "no room");
		break;
	case 2:
		trn_builder_tile(b, TRN_MEM_SBUF, 129, 4);
		refused(b, "129 partitions");
		break;
	case 3:
		trn_builder_tile(b, TRN_MEM_SBUF, 0, 4);
		refused(b, "0 partitions");
		break;
	case 4:
		trn_builder_tile(b, TRN_MEM_SBUF, 1, 0);
		refused(b, "0 bytes");
		break;
	case 5:
		trn_builder_tile(b, 3, 1, 4);
		refused(b, "memory 3");
		break;
	case 6:
		t = trn_builder_tile(b, TRN_MEM_SBUF, 1, 4);
		trn_builder_tile_free(b, t);
		trn_builder_tile_free(b, t);
		refused(b, "freed twice");
		break;
	case 7:
		t = trn_builder_tile(b, TRN_MEM_PSUM, 1, 16384);
		trn_builder_tile(b, TRN_MEM_PSUM, 1, 4);
		refused(b, "PSUM");
		break;
	}
}
END_TEST

/* ---- what is refused when it is built ---- */

static void bad_operation(struct trn_builder *b, int i)
{
	struct trn_view s =
		trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 128, 4096), TRN_DTYPE_FP32, 128);
	struct trn_view p = trn_view(trn_builder_tile(b, TRN_MEM_PSUM, 128, 2048), TRN_DTYPE_FP32,
				     128),
			q = p, v;

	q.offset += 1024;
	switch (i) {
	case 0:
		trn_emit_copy(b, TRN_ENGINE_PE, s, s);
		break;
	case 1:
		trn_emit_copy(b, TRN_ENGINE_POOL, s, p);
		break;
	case 2:
		trn_emit_copy(b, TRN_ENGINE_DVE, s, trn_view_columns(s, 0, 64));
		break;
	case 3:
		trn_emit_copy(b, TRN_ENGINE_DVE, trn_view_rows(s, 16, 16), trn_view_rows(s, 0, 16));
		break;
	case 4:
		trn_emit_copy(b, TRN_ENGINE_DVE, trn_view_rows(s, 32, 64), trn_view_rows(s, 0, 64));
		break;
	case 5:
		trn_emit_tensor_tensor(b, TRN_ENGINE_DVE, s, p, TRN_ALU_ADD, q);
		break;
	case 6:
		trn_emit_matmul(b, s, s, false);
		break;
	case 7:
		trn_emit_matmul(b, p, q, false);
		break;
	case 8:
		trn_emit_load_weights(b, p);
		break;
	case 9:
		trn_emit_load_weights(b, trn_view_columns(s, 0, 129));
		break;
	case 10:
		trn_emit_matmul(b, trn_view_columns(p, 0, 513), trn_view_columns(s, 0, 513), false);
		break;
	case 11:
		v = p;
		v.offset += 1600;
		trn_emit_matmul(b, v, s, false);
		break;
	case 12:
		v = s;
		v.offset += 2;
		trn_emit_copy(b, TRN_ENGINE_DVE, v, s);
		break;
	case 13:
		v = s;
		v.offset = TRN_SBUF_PARTITION_BYTES_V2 - 4;
		trn_emit_copy(b, TRN_ENGINE_DVE, v, s);
		break;
	case 14:
		v = s;
		v.dim[0].step = 0;
		trn_emit_copy(b, TRN_ENGINE_DVE, v, s);
		break;
	case 15:
		v = trn_view_dim(trn_view_dim(trn_view_dim(trn_view_dim(s, 0, 1), 0, 1), 0, 1), 0,
				 1);
		trn_emit_copy(b, TRN_ENGINE_DVE, s, v);
		break;
	case 16:
		v = s;
		v.dtype = TRN_DTYPE_INT64;
		trn_emit_copy(b, TRN_ENGINE_DVE, s, v);
		break;
	case 17:
		trn_emit_activate(b, s, s, TRN_ACT_EXP, trn_scalar(1), trn_scalar(0.5f), 0);
		break;
	case 18:
		trn_emit_activate(b, s, s, (enum trn_act)99, trn_scalar(1), none, 0);
		break;
	case 19:
		trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, s, s, TRN_ALU_MUL, trn_scalar_vector(s),
				       TRN_ALU_BYPASS, none, 0);
		break;
	case 20:
		trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, s, s, TRN_ALU_MUL,
				       trn_scalar_register(64), TRN_ALU_BYPASS, none, 0);
		break;
	case 21:
		trn_emit_tensor_scalar(
			b, TRN_ENGINE_DVE, s, s, TRN_ALU_MUL,
			trn_scalar_vector(trn_view_rows(trn_view_columns(s, 0, 1), 0, 64)),
			TRN_ALU_BYPASS, none, 0);
		break;
	case 22:
		trn_emit_reduce(b, trn_view_columns(s, 0, 2), s, TRN_ALU_ADD, 1, false);
		break;
	case 23:
		trn_emit_reduce(b, trn_view_columns(s, 0, 1), s, TRN_ALU_ADD, 2, false);
		break;
	case 24:
		trn_emit_transpose(b, p, s, trn_view_rows(s, 0, 64));
		break;
	case 25:
		trn_emit_acc_read(b, TRN_ENGINE_POOL, trn_view_columns(s, 0, 1));
		break;
	case 26:
		v = s;
		v.ndim = 0;
		trn_emit_copy(b, TRN_ENGINE_DVE, v, s);
		break;
	case 27:
		v = s;
		v.dim[0].step = -1;
		trn_emit_copy(b, TRN_ENGINE_DVE, s, v);
		break;
	case 28:
		trn_emit_memset(b, TRN_ENGINE_ACT, s, 0);
		break;
	}
}

static const char *const bad_operation_word[] = {
	"PE does not execute",
	"POOL cannot reach PSUM",
	"shapes differ",
	"cannot start at partition 16",
	"cannot start at partition 32",
	"only one input",
	"fp32 in PSUM",
	"moving tile",
	"SBUF",
	"128 columns",
	"512 columns",
	"one PSUM bank",
	"multiple of 4",
	"leaves its partition",
	"cannot repeat",
	"5 dimensions",
	"int64",
	"no constant bias",
	"unknown function",
	"128 in 128",
	"register 64",
	"64",
	"one element for each group",
	"1 to all dimensions",
	"identity",
	"POOL does not execute",
	"0 dimensions",
	"leaves its partition",
	"ACT does not execute",
};

START_TEST(test_bad_operations)
{
	struct trn_builder *b = builder();

	bad_operation(b, _i);
	refused(b, bad_operation_word[_i]);
}
END_TEST

static void bad_transfer(struct trn_builder *b, int i)
{
	uint64_t shape[2] = { 128, 64 }, big = UINT64_MAX / 2;
	static const float one = 1;
	uint64_t single = 1;
	int t = trn_builder_tensor(b, "t", TRN_TENSOR_INPUT, TRN_DTYPE_FP32, shape, 2, NULL);
	struct trn_view s =
		trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 128, 256), TRN_DTYPE_FP32, 64);
	struct trn_builder_dma x = trn_builder_dma_view(t, 0, 256, s, true);

	switch (i) {
	case 0:
		trn_builder_load(b, s, t, 4, 256);
		break;
	case 1:
		trn_builder_load(b, s, 7, 0, 256);
		break;
	case 2:
		trn_builder_load(b, s, -1, 0, 256);
		break;
	case 3:
		trn_builder_load(b, s, t, UINT64_MAX, 256);
		break;
	case 4:
		trn_builder_load(b, s, t, 0, INT64_MAX);
		break;
	case 5:
		trn_builder_load(b, s, t, 0, -256);
		break;
	case 6:
		trn_builder_store(b, t, 0, 0, s);
		break;
	case 7:
		trn_builder_store(b, t, 0, 128, s);
		break;
	case 8:
		x.partition = 1;
		trn_builder_dma(b, TRN_ENGINE_SP, &x, 1);
		break;
	case 9:
		x.sbuf_offset = UINT32_MAX;
		trn_builder_dma(b, TRN_ENGINE_SP, &x, 1);
		break;
	case 10:
		x.bytes = 0;
		trn_builder_dma(b, TRN_ENGINE_SP, &x, 1);
		break;
	case 11:
		x.partitions = UINT32_MAX;
		trn_builder_dma(b, TRN_ENGINE_SP, &x, 1);
		break;
	case 12:
		s.dim[0].step = 2;
		trn_builder_load(b, s, t, 0, 256);
		break;
	case 13:
		t = trn_builder_tensor(b, "c", TRN_TENSOR_CONSTANT, TRN_DTYPE_FP32, &single, 1,
				       &one);
		trn_builder_store(b, t, 0, 0, trn_view_rows(trn_view_columns(s, 0, 1), 0, 1));
		break;
	case 14:
		trn_builder_copy(b, t, 0, t, 0, 1u << 20);
		break;
	case 15:
		trn_builder_copy(b, t, 0, t, 0, 0);
		break;
	case 16:
		trn_builder_tensor(b, "t", TRN_TENSOR_INPUT, TRN_DTYPE_FP32, shape, 2, NULL);
		break;
	case 17:
		trn_builder_tensor(b, "u", TRN_TENSOR_INPUT, TRN_DTYPE_FP32, &big, 1, NULL);
		break;
	case 18:
		trn_builder_tensor(b, "u", TRN_TENSOR_INPUT, TRN_DTYPE_INVALID, shape, 2, NULL);
		break;
	case 19:
		trn_builder_tensor(b, "u", TRN_TENSOR_INPUT, TRN_DTYPE_FP32, shape, 0, NULL);
		break;
	case 20:
		trn_builder_tensor(b, "u", TRN_TENSOR_CONSTANT, TRN_DTYPE_FP32, shape, 2, NULL);
		break;
	case 21:
		trn_builder_tensor(b, NULL, TRN_TENSOR_INPUT, TRN_DTYPE_FP32, shape, 2, NULL);
		break;
	}
}

static const char *const bad_transfer_word[] = {
	"ends 32772 bytes into tensor \"t\"",
	"tensor 7",
	"tensor -1",
	"ends",
	"ends",
	"step is not negative",
	"must not overlap",
	"must not overlap",
	"leave SBUF",
	"leave SBUF",
	"leave SBUF",
	"leave SBUF",
	"leave SBUF",
	"cannot be written",
	"1048576 of 32768",
	"+0 of",
	"two tensors",
	"larger than 2^48",
	"type 0x0",
	"rank 0",
	"need content",
	"name",
};

START_TEST(test_bad_transfers)
{
	struct trn_builder *b = builder();

	bad_transfer(b, _i);
	refused(b, bad_transfer_word[_i]);
}
END_TEST

START_TEST(test_bad_builders)
{
	struct trn_builder *b = trn_builder_create("test", 7);
	struct trn_image *image;
	char name[80];

	ck_assert_int_eq(trn_builder_status(b), TRN_ERR_UNSUPPORTED);
	refused(b, "generation 7");
	b = trn_builder_create("", 2);
	ck_assert_int_eq(trn_builder_finish(b, &image), TRN_ERR_INVALID);
	trn_builder_free(b);
	memset(name, 'n', sizeof(name));
	name[79] = 0;
	b = trn_builder_create(name, 2);
	ck_assert_int_eq(trn_builder_finish(b, &image), TRN_ERR_INVALID);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "79 characters"));
	trn_builder_free(b);
	ck_assert_int_eq(trn_builder_finish(NULL, &image), TRN_ERR_NO_HOST_MEMORY);
	trn_builder_free(NULL);
}
END_TEST

/* What trn_builder_create() gives when memory is short is an error like another: finish tells it.
 */
START_TEST(test_null)
{
	struct trn_builder_dma x = { .partitions = 1, .bytes = 4 };
	struct trn_tile tile = { TRN_MEM_SBUF, 1, 0, 64 };
	struct trn_view view = trn_view(tile, TRN_DTYPE_FP32, 1);
	struct trn_insn insn = { .opcode = TRN_OP_NOP, .engine = TRN_ENGINE_SP };
	struct trn_image *image = NULL;
	struct trn_builder *b = NULL;
	uint64_t shape = 1;

	ck_assert_int_eq(
		trn_builder_tensor(b, "t", TRN_TENSOR_INPUT, TRN_DTYPE_FP32, &shape, 1, NULL), -1);
	ck_assert_int_eq(trn_builder_emit(b, &insn), -1);
	ck_assert_int_eq(trn_builder_semaphore(b), -1);
	ck_assert_int_eq(trn_builder_dma(b, TRN_ENGINE_SP, &x, 1), -1);
	trn_builder_tile(b, TRN_MEM_SBUF, 1, 64);
	trn_builder_tile_free(b, tile);
	ck_assert_uint_eq(trn_builder_tile_space(b, TRN_MEM_SBUF), 0);
	trn_builder_load(b, view, 0, 0, 0);
	trn_builder_store(b, 0, 0, 0, view);
	trn_builder_copy(b, 0, 0, 0, 0, 4);
	trn_emit_load_weights(b, view);
	trn_emit_matmul(b, view, view, true);
	trn_emit_transpose(b, view, view, view);
	trn_emit_identity(b, view);
	trn_emit_activate(b, view, view, TRN_ACT_ABS, trn_scalar(1), trn_scalar(1), 0);
	trn_emit_acc_read(b, TRN_ENGINE_ACT, view);
	trn_emit_copy(b, TRN_ENGINE_DVE, view, view);
	trn_emit_memset(b, TRN_ENGINE_DVE, view, 0);
	trn_emit_tensor_tensor(b, TRN_ENGINE_DVE, view, view, TRN_ALU_ADD, view);
	trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, view, view, TRN_ALU_ADD, trn_scalar(1),
			       TRN_ALU_BYPASS, trn_scalar(1), 0);
	trn_emit_scalar_tensor_tensor(b, view, view, TRN_ALU_ADD, trn_scalar(1), TRN_ALU_ADD, view,
				      0);
	trn_emit_reduce(b, view, view, TRN_ALU_ADD, 1, false);
	trn_emit_reciprocal(b, view, view);
	trn_emit_bn_stats(b, view, view);
	trn_emit_bn_aggr(b, view, view);
	trn_emit_copy_predicated(b, view, view, view);
	trn_emit_iota(b, view, NULL, 0, 0);
	trn_emit_affine_select(b, view, view, NULL, 0, 0, TRN_ALU_EQ, 0);
	ck_assert_int_eq(trn_builder_finish(b, &image), TRN_ERR_NO_HOST_MEMORY);
	ck_assert_ptr_null(image);
}
END_TEST

/* The other arguments that can be NULL. */
START_TEST(test_null_arguments)
{
	struct trn_view view;
	struct trn_builder *b;

	b = builder();
	ck_assert_int_eq(trn_builder_emit(b, NULL), -1);
	refused(b, "NULL");
	b = builder();
	ck_assert_int_eq(trn_builder_dma(b, TRN_ENGINE_SP, NULL, 3), -1);
	refused(b, "NULL");
	b = builder();
	view = trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 1, 64), TRN_DTYPE_FP32, 1);
	trn_emit_iota(b, view, NULL, 0, 0);
	refused(b, "NULL");
	b = builder();
	ck_assert_int_eq(trn_builder_finish(b, NULL), TRN_ERR_INVALID);
	trn_builder_free(b);
	/* A tile whose end does not fit into 32 bits is none of this builder's. */
	b = builder();
	trn_builder_tile_free(b, (struct trn_tile){ TRN_MEM_SBUF, 1, UINT32_MAX - 63, 64 });
	refused(b, "never allocated");
}
END_TEST

/* The first error stays, whatever follows. */
START_TEST(test_sticky)
{
	struct trn_builder *b = builder();

	bad_operation(b, 0);
	bad_operation(b, 5);
	bad_transfer(b, 1);
	ck_assert_int_eq(trn_builder_semaphore(b), -1);
	refused(b, "PE does not execute");
}
END_TEST

START_TEST(test_finished_twice)
{
	struct trn_builder *b = builder();
	struct trn_image *image = NULL, *again = NULL;

	trn_emit_memset(b, TRN_ENGINE_DVE,
			trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 1, 4), TRN_DTYPE_FP32, 1), 1);
	ck_assert_int_eq(trn_builder_finish(b, &image), TRN_OK);
	ck_assert_int_eq(trn_builder_finish(b, &again), TRN_ERR_INVALID);
	ck_assert_ptr_null(again);
	trn_builder_free(b);
	trn_image_free(image);
}
END_TEST

/* ---- raw instructions ---- */

START_TEST(test_raw)
{
	struct trn_builder *b = builder();
	struct trn_insn insn = { .opcode = TRN_OP_NOP, .engine = TRN_ENGINE_ACT };
	struct rig *rig = rig_create(2);
	struct trn_image *image;
	int sem = trn_builder_semaphore(b);

	ck_assert_int_ge(sem, 0);
	insn.update[0].op = TRN_UPDATE_ADD;
	insn.update[0].mode = TRN_UPDATE_AT_COMPLETE;
	insn.update[0].index = (uint16_t)sem;
	insn.update[0].value = 3;
	insn.update[1] = insn.update[0];
	ck_assert_int_eq(trn_builder_emit(b, &insn), 0);
	memset(insn.update, 0, sizeof(insn.update));
	insn.engine = TRN_ENGINE_DVE;
	insn.wait[0].op = TRN_WAIT_SEM_EQ;
	insn.wait[0].index = (uint16_t)sem;
	insn.wait[0].value = 6;
	ck_assert_int_eq(trn_builder_emit(b, &insn), 0);
	ck_assert_int_eq(trn_builder_emit(b, &insn), 1);
	image = rig_build(rig, b);
	ck_assert_int_eq(rig_run(rig, NULL, 0), 0);
	ck_assert_int_eq(rig_run(rig, NULL, 0), 0);
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

START_TEST(test_raw_bad)
{
	struct trn_builder *b = builder();
	struct trn_insn insn = { .opcode = TRN_OP_NOP, .engine = 4 };

	ck_assert_int_eq(trn_builder_emit(b, &insn), -1);
	refused(b, "engine 4");
}
END_TEST

START_TEST(test_semaphores_run_out)
{
	struct trn_builder *b = builder();
	int last = -1, sem;

	while ((sem = trn_builder_semaphore(b)) >= 0) {
		ck_assert_int_gt(sem, last);
		last = sem;
	}
	ck_assert_int_eq(last, TRN_SEM_COUNT - 1);
	refused(b, "256 semaphores");
}
END_TEST

/*
 * ---- synchronisation: random programs against the same operations done one after the other ----
 */

#define WIDTH	48
#define TENSORS 3
#define STEPS	250

/** struct world - what a program works on, once on the device and once here. */
struct world {
	float sbuf[128][WIDTH];
	float psum[128][WIDTH];
	float tensor[TENSORS][128][WIDTH];
};

/** struct generator - a random program. */
struct generator {
	struct trn_builder *b;
	struct world *w;
	struct trn_view sbuf, psum, identity;
	int tensor[TENSORS];
	uint32_t state;
};

static uint32_t pick(struct generator *g, uint32_t n)
{
	g->state = g->state * 1664525u + 1013904223u;
	return (g->state >> 8) % n;
}

/** struct area - rows and columns an operation takes; @from and @to may be different quadrants. */
struct area {
	uint32_t rows, from_row, to_row, columns, from, to;
};

static struct area random_area(struct generator *g)
{
	static const uint32_t rows[] = { 32, 64, 128, 7, 40 };
	struct area a;

	a.rows = rows[pick(g, 5)];
	a.from_row = a.rows > 64 ? 0 : a.rows > 32 ? 64 * pick(g, 2) : 32 * pick(g, 4);
	a.to_row = a.rows > 64 ? 0 : a.rows > 32 ? 64 * pick(g, 2) : 32 * pick(g, 4);
	a.columns = 1 + pick(g, 16);
	a.from = pick(g, WIDTH - a.columns + 1);
	a.to = pick(g, WIDTH - a.columns + 1);
	return a;
}

static struct trn_view area_view(struct trn_view v, uint32_t row, uint32_t rows, uint32_t column,
				 uint32_t columns)
{
	return trn_view_columns(trn_view_rows(v, row, rows), column, columns);
}

/* dst = src + y, both in SBUF; the row is read before it is written. */
static void step_add(struct generator *g, enum trn_engine engine)
{
	struct area a = random_area(g);
	uint32_t y = pick(g, WIDTH - a.columns + 1), r, c;
	float row[WIDTH];

	trn_emit_tensor_tensor(g->b, engine, area_view(g->sbuf, a.to_row, a.rows, a.to, a.columns),
			       area_view(g->sbuf, a.from_row, a.rows, a.from, a.columns),
			       TRN_ALU_ADD, area_view(g->sbuf, a.from_row, a.rows, y, a.columns));
	for (r = 0; r < a.rows; r++) {
		for (c = 0; c < a.columns; c++)
			row[c] = g->w->sbuf[a.from_row + r][a.from + c] +
				 g->w->sbuf[a.from_row + r][y + c];
		memcpy(&g->w->sbuf[a.to_row + r][a.to], row, a.columns * 4);
	}
}

/* Halves, so that numbers stay small. */
static void step_scale(struct generator *g)
{
	struct area a = random_area(g);
	uint32_t r, c;
	float row[WIDTH];

	trn_emit_activate(g->b, area_view(g->sbuf, a.to_row, a.rows, a.to, a.columns),
			  area_view(g->sbuf, a.from_row, a.rows, a.from, a.columns), TRN_ACT_COPY,
			  trn_scalar(0.5f), none, 0);
	for (r = 0; r < a.rows; r++) {
		for (c = 0; c < a.columns; c++)
			row[c] = g->w->sbuf[a.from_row + r][a.from + c] * 0.5f;
		memcpy(&g->w->sbuf[a.to_row + r][a.to], row, a.columns * 4);
	}
}

/* Through PE: product with the identity into PSUM, as a copy of all 128 rows. */
static void step_product(struct generator *g)
{
	struct area a = random_area(g);
	uint32_t r;

	trn_emit_load_weights(g->b, g->identity);
	trn_emit_matmul(g->b, area_view(g->psum, 0, 128, a.to, a.columns),
			area_view(g->sbuf, 0, 128, a.from, a.columns), false);
	for (r = 0; r < 128; r++)
		memmove(&g->w->psum[r][a.to], &g->w->sbuf[r][a.from], a.columns * 4);
}

static void step_drain(struct generator *g)
{
	struct area a = random_area(g);
	uint32_t r;

	trn_emit_copy(g->b, pick(g, 2) ? TRN_ENGINE_DVE : TRN_ENGINE_ACT,
		      area_view(g->sbuf, a.to_row, a.rows, a.to, a.columns),
		      area_view(g->psum, a.from_row, a.rows, a.from, a.columns));
	for (r = 0; r < a.rows; r++)
		memcpy(&g->w->sbuf[a.to_row + r][a.to], &g->w->psum[a.from_row + r][a.from],
		       a.columns * 4);
}

/* Any rows may be moved by a transfer, also single ones. */
static void step_move(struct generator *g, bool load)
{
	uint32_t t = pick(g, TENSORS), rows = 1 + pick(g, 128), first = pick(g, 129 - rows),
		 columns = 1 + pick(g, 16), r;
	uint32_t from = pick(g, WIDTH - columns + 1), to = pick(g, WIDTH - columns + 1),
		 engine = pick(g, 3);
	uint32_t row = pick(g, 129 - rows);
	struct trn_builder_dma x = trn_builder_dma_view(
		g->tensor[t], (row * WIDTH + (load ? from : to)) * 4, WIDTH * 4,
		area_view(g->sbuf, first, rows, load ? to : from, columns), load);

	trn_builder_dma(g->b,
			engine == 0   ? TRN_ENGINE_SP
			: engine == 1 ? TRN_ENGINE_ACT
				      : TRN_ENGINE_POOL,
			&x, 1);
	for (r = 0; r < rows; r++) {
		if (load)
			memcpy(&g->w->sbuf[first + r][to], &g->w->tensor[t][row + r][from],
			       columns * 4);
		else
			memcpy(&g->w->tensor[t][row + r][to], &g->w->sbuf[first + r][from],
			       columns * 4);
	}
}

static void step_copy(struct generator *g)
{
	uint32_t from = pick(g, TENSORS), to = (from + 1 + pick(g, TENSORS - 1)) % TENSORS,
		 n = 1 + pick(g, 128 * WIDTH);
	uint32_t a = pick(g, 128 * WIDTH - n + 1), c = pick(g, 128 * WIDTH - n + 1);

	trn_builder_copy(g->b, g->tensor[to], c * 4, g->tensor[from], a * 4, n * 4);
	memcpy((char *)g->w->tensor[to] + c * 4, (char *)g->w->tensor[from] + a * 4, n * 4);
}

static void generate(struct generator *g, uint32_t seed)
{
	static const char *const names[TENSORS] = { "t0", "t1", "t2" };
	uint64_t shape[2] = { 128, WIDTH };
	uint32_t i;

	g->state = seed;
	g->b = builder();
	g->sbuf = trn_view(trn_builder_tile(g->b, TRN_MEM_SBUF, 128, WIDTH * 4), TRN_DTYPE_FP32,
			   WIDTH);
	g->psum = trn_view(trn_builder_tile(g->b, TRN_MEM_PSUM, 128, WIDTH * 4), TRN_DTYPE_FP32,
			   WIDTH);
	g->identity = trn_view(trn_builder_tile(g->b, TRN_MEM_SBUF, 128, 512), TRN_DTYPE_FP32, 128);
	for (i = 0; i < TENSORS; i++)
		g->tensor[i] = trn_builder_tensor(g->b, names[i], TRN_TENSOR_STATE, TRN_DTYPE_FP32,
						  shape, 2, NULL);
	trn_emit_identity(g->b, g->identity);
	trn_emit_memset(g->b, TRN_ENGINE_DVE, g->sbuf, 1.0f);
	trn_emit_memset(g->b, TRN_ENGINE_DVE, g->psum, 2.0f);
	for (i = 0; i < 128 * WIDTH; i++) {
		g->w->sbuf[i / WIDTH][i % WIDTH] = 1.0f;
		g->w->psum[i / WIDTH][i % WIDTH] = 2.0f;
	}
	for (i = 0; i < STEPS; i++) {
		switch (pick(g, 9)) {
		case 0:
			step_add(g, TRN_ENGINE_DVE);
			break;
		case 1:
			step_add(g, TRN_ENGINE_POOL);
			break;
		case 2:
		case 3:
			step_scale(g);
			break;
		case 4:
			step_product(g);
			break;
		case 5:
			step_drain(g);
			break;
		case 6:
			step_move(g, true);
			break;
		case 7:
			step_move(g, false);
			break;
		case 8:
			step_copy(g);
			break;
		}
	}
	for (i = 0; i < TENSORS; i++) {
		uint32_t column = i * 16;

		trn_builder_store(g->b, g->tensor[i], column * 4, WIDTH * 4,
				  area_view(g->sbuf, 0, 128, column, 16));
	}
}

static void start_tensors(struct world *w)
{
	uint32_t t, i;

	for (t = 0; t < TENSORS; t++) {
		for (i = 0; i < 128 * WIDTH; i++)
			w->tensor[t][i / WIDTH][i % WIDTH] = (float)((i * 7 + t * 13) % 64);
	}
}

static bool same(struct rig *rig, const struct world *w)
{
	bool equal = true;
	uint32_t i, r, c;
	char name[4] = "t0";

	for (i = 0; i < TENSORS; i++) {
		const float *got;

		name[1] = (char)('0' + i);
		got = rig_tensor(rig, name);
		for (r = 0; r < 128; r++) {
			for (c = 0; c < WIDTH; c++) {
				float want = c >= i * 16 && c < i * 16 + 16 ? w->sbuf[r][c]
									    : w->tensor[i][r][c];

				equal &= got[r * WIDTH + c] == want;
			}
		}
	}
	return equal;
}

static void put_tensors(struct rig *rig, const struct world *w)
{
	memcpy(rig_tensor(rig, "t0"), w->tensor[0], sizeof(w->tensor[0]));
	memcpy(rig_tensor(rig, "t1"), w->tensor[1], sizeof(w->tensor[1]));
	memcpy(rig_tensor(rig, "t2"), w->tensor[2], sizeof(w->tensor[2]));
}

START_TEST(test_random_programs)
{
	struct world *w = calloc(1, sizeof(*w)), *first = calloc(1, sizeof(*first));
	struct generator g = { .w = w };
	struct rig *rig = rig_create(2);
	struct trn_image *image;
	int run;

	start_tensors(w);
	memcpy(first, w, sizeof(*w));
	generate(&g, 1000 + (uint32_t)_i);
	image = rig_build(rig, g.b);
	for (run = 0; run < 3; run++) {
		put_tensors(rig, first);
		ck_assert_msg(rig_run(rig, NULL, 0) == 0, "%s", rig_text(rig));
		ck_assert_msg(same(rig, w), "program %d, run %d: wrong result", _i, run);
	}
	rig_free(rig);
	trn_image_free(image);
	free(w);
	free(first);
}
END_TEST

/* A program without its waits is a race, which ThreadSanitizer would rightly report. */
#ifdef __SANITIZE_THREAD__
#define RACY_TESTS 0
#else
#define RACY_TESTS 1
#endif

/* The test above can fail: without the waits some program goes wrong. */
START_TEST(test_waits_matter)
{
	struct world *w = calloc(1, sizeof(*w)), *first = calloc(1, sizeof(*first));
	uint32_t wrong = 0, seed, e, i;

	for (seed = 0; seed < 10; seed++) {
		struct generator g = { .w = w };
		struct rig *rig = rig_create(2);
		struct trn_image *image;

		start_tensors(w);
		memcpy(first, w, sizeof(*w));
		generate(&g, seed);
		image = rig_build(rig, g.b);
		for (e = 0; e < TRN_ENGINE_MAX; e++) {
			/*
			 * The epilogue of SP keeps its waits: the rig checks that nothing is left
			 * over.
			 */
			for (i = 0; i < image->code[e].count; i++) {
				if (e != TRN_ENGINE_SP)
					memset(image->code[e].insns[i].wait, 0,
					       sizeof(image->code[e].insns[i].wait));
			}
		}
		put_tensors(rig, first);
		ck_assert_int_eq(rig_run(rig, NULL, 0), 0);
		wrong += !same(rig, w);
		rig_free(rig);
		trn_image_free(image);
	}
	ck_assert_uint_gt(wrong, 5);
	free(w);
	free(first);
}
END_TEST

START_TEST(test_thousand_runs)
{
	struct trn_builder *b = builder();
	struct rig *rig = rig_create(2);
	struct trn_image *image;
	uint64_t shape[2] = { 128, 4 };
	int t = trn_builder_tensor(b, "t", TRN_TENSOR_STATE, TRN_DTYPE_FP32, shape, 2, NULL), i;
	struct trn_view v = trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 128, 16), TRN_DTYPE_FP32, 4);
	float *data;

	trn_builder_load(b, v, t, 0, 16);
	trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, v, v, TRN_ALU_ADD, trn_scalar(1), TRN_ALU_BYPASS,
			       none, 0);
	trn_emit_activate(b, v, v, TRN_ACT_COPY, trn_scalar(1), none, 0);
	trn_builder_store(b, t, 0, 16, v);
	trn_builder_load(b, v, t, 0, 16);
	trn_emit_tensor_scalar(b, TRN_ENGINE_POOL, v, v, TRN_ALU_ADD, trn_scalar(1), TRN_ALU_BYPASS,
			       none, 0);
	trn_builder_store(b, t, 0, 16, v);
	image = rig_build(rig, b);
	for (i = 1; i <= 1000; i++)
		ck_assert_msg(rig_run(rig, NULL, 0) == 0, "run %d: %s", i, rig_text(rig));
	data = rig_tensor(rig, "t");
	for (i = 0; i < 512; i++)
		ck_assert_float_eq(data[i], 2000);
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

/* ---- shape of what comes out ---- */

/* An operation that depends on five others gets its waits on NOPs before it, two each. */
START_TEST(test_many_waits)
{
	struct trn_builder *b = builder();
	struct trn_image *image = NULL;
	uint64_t shape = 16;
	int t = trn_builder_tensor(b, "t", TRN_TENSOR_INPUT, TRN_DTYPE_FP32, &shape, 1, NULL);
	struct trn_view v = trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 1, 64), TRN_DTYPE_FP32, 16);
	uint32_t i, waits = 0, nops = 0;

	for (i = 0; i < 3; i++)
		trn_builder_load(b, trn_view_columns(v, i, 1), t, 0, 0);
	trn_emit_memset(b, TRN_ENGINE_POOL, trn_view_columns(v, 3, 1), 1);
	trn_emit_activate(b, trn_view_columns(v, 4, 1), trn_view_columns(v, 4, 1), TRN_ACT_COPY,
			  trn_scalar(1), none, 0);
	trn_emit_copy(b, TRN_ENGINE_DVE, trn_view_columns(v, 8, 5), trn_view_columns(v, 0, 5));
	ck_assert_msg(trn_builder_finish(b, &image) == TRN_OK, "%s", trn_error_text());
	for (i = 0; i < image->code[TRN_ENGINE_DVE].count; i++) {
		const struct trn_insn *insn = &image->code[TRN_ENGINE_DVE].insns[i];

		waits += (insn->wait[0].op != 0) + (insn->wait[1].op != 0);
		nops += insn->opcode == TRN_OP_NOP;
	}
	ck_assert_uint_eq(waits, 5);
	ck_assert_uint_eq(nops, 2);
	trn_builder_free(b);
	trn_image_free(image);
}
END_TEST

/*
 * What an engine already knows is not waited for again; what it learns through another engine
 * neither.
 */
START_TEST(test_no_needless_waits)
{
	struct trn_builder *b = builder();
	struct trn_image *image = NULL;
	uint64_t shape = 16;
	int t = trn_builder_tensor(b, "t", TRN_TENSOR_INPUT, TRN_DTYPE_FP32, &shape, 1, NULL);
	struct trn_view v = trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 1, 64), TRN_DTYPE_FP32, 16);
	struct trn_view u = trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 1, 64), TRN_DTYPE_FP32, 16);
	uint32_t i, waits = 0;

	trn_builder_load(b, v, t, 0, 0);
	trn_emit_copy(b, TRN_ENGINE_DVE, u, v); /* waits for the load */
	trn_emit_copy(b, TRN_ENGINE_DVE, u, v); /* knows it */
	trn_emit_tensor_tensor(b, TRN_ENGINE_POOL, v, u, TRN_ALU_ADD,
			       v); /* waits for DVE, which knew the load */
	ck_assert_int_eq(trn_builder_finish(b, &image), TRN_OK);
	for (i = 0; i < image->code[TRN_ENGINE_DVE].count; i++)
		waits += (image->code[TRN_ENGINE_DVE].insns[i].wait[0].op != 0) +
			 (image->code[TRN_ENGINE_DVE].insns[i].wait[1].op != 0);
	ck_assert_uint_eq(waits, 1);
	ck_assert_uint_eq(image->code[TRN_ENGINE_POOL].insns[0].wait[0].op, TRN_WAIT_SEM_GE);
	ck_assert_uint_eq(image->code[TRN_ENGINE_POOL].insns[0].wait[1].op, TRN_WAIT_NONE);
	trn_builder_free(b);
	trn_image_free(image);
}
END_TEST

/*
 * Rows above 64 KiB are split, large copies spread over all engines, and every byte is moved once.
 */
START_TEST(test_descriptors)
{
	struct trn_builder *b = builder();
	struct trn_image *image = NULL;
	uint64_t bytes = 5 * 1000 * 1000, moved = 0;
	int x = trn_builder_tensor(b, "x", TRN_TENSOR_INPUT, TRN_DTYPE_UINT8, &bytes, 1, NULL);
	int y = trn_builder_tensor(b, "y", TRN_TENSOR_OUTPUT, TRN_DTYPE_UINT8, &bytes, 1, NULL);
	struct trn_view v =
		trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 2, 160000), TRN_DTYPE_FP32, 40000);
	uint32_t r, i, increments = 0;

	trn_builder_copy(b, y, 0, x, 0, bytes);
	trn_builder_load(b, v, x, 0, 160000);
	ck_assert_msg(trn_builder_finish(b, &image) == TRN_OK, "%s", trn_error_text());
	ck_assert_uint_eq(image->ring_count, 16);
	for (r = 0; r < image->ring_count; r++) {
		for (i = 0; i < image->rings[r].count; i++) {
			const struct trn_tnx_xfer *xfer = &image->rings[r].xfers[i];

			ck_assert_uint_le(xfer->length, 65536);
			if (xfer->dst_kind == TRN_TNX_REF_SEM_INC) {
				increments++;
				ck_assert_uint_eq(xfer->flags, TRN_TNX_XFER_BARRIER);
			} else {
				moved += xfer->length;
			}
		}
	}
	ck_assert_uint_eq(moved, bytes + 320000);
	ck_assert_uint_gt(increments, 16);
	trn_builder_free(b);
	trn_image_free(image);
}
END_TEST

/* More transfers under way than semaphores to count them on. */
START_TEST(test_many_groups)
{
	struct trn_builder *b = builder();
	struct rig *rig = rig_create(2);
	struct trn_image *image;
	uint64_t n = 200;
	int t = trn_builder_tensor(b, "t", TRN_TENSOR_INPUT, TRN_DTYPE_FP32, &n, 1, NULL), i;
	int y = trn_builder_tensor(b, "y", TRN_TENSOR_OUTPUT, TRN_DTYPE_FP32, &n, 1, NULL);
	struct trn_view v =
		trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 1, 800), TRN_DTYPE_FP32, 200);
	float *x, *out;

	for (i = 0; i < 200; i++)
		trn_builder_load(b, trn_view_columns(v, (unsigned int)i, 1), t, (uint64_t)i * 4, 0);
	for (i = 0; i < 8; i++)
		trn_builder_store(b, y, 0, 0, v); /* eight readers of one range */
	trn_emit_memset(b, TRN_ENGINE_DVE, v, 0);
	image = rig_build(rig, b);
	x = rig_tensor(rig, "t");
	for (i = 0; i < 200; i++)
		x[i] = (float)i;
	ck_assert_msg(rig_run(rig, NULL, 0) == 0, "%s", rig_text(rig));
	out = rig_tensor(rig, "y");
	for (i = 0; i < 200; i++)
		ck_assert_float_eq(out[i], (float)i);
	rig_free(rig);
	trn_image_free(image);
}
END_TEST

/* Only the engines used are started, each image ends with HALT. */
START_TEST(test_engines)
{
	struct trn_builder *b = builder();
	struct trn_image *image = NULL;
	uint32_t e;

	trn_emit_memset(b, TRN_ENGINE_POOL,
			trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 1, 4), TRN_DTYPE_FP32, 1), 1);
	ck_assert_int_eq(trn_builder_finish(b, &image), TRN_OK);
	for (e = 0; e < TRN_ENGINE_MAX; e++)
		ck_assert_uint_eq(image->code[e].count, e == TRN_ENGINE_POOL ? 2 : 0);
	ck_assert_uint_eq(image->code[TRN_ENGINE_POOL].insns[1].opcode, TRN_OP_HALT);
	ck_assert_uint_eq(image->ring_count, 0);
	trn_builder_free(b);
	trn_image_free(image);
}
END_TEST

START_TEST(test_dtypes)
{
	ck_assert_uint_eq(trn_dtype_bytes(TRN_DTYPE_FP32), 4);
	ck_assert_uint_eq(trn_dtype_bytes(TRN_DTYPE_BF16), 2);
	ck_assert_uint_eq(trn_dtype_bytes(TRN_DTYPE_FP8_E4M3), 1);
	ck_assert_uint_eq(trn_dtype_bytes(TRN_DTYPE_INT64), 8);
	ck_assert_uint_eq(trn_dtype_bytes(0), 0);
	ck_assert_uint_eq(trn_dtype_bytes(UINT32_MAX), 0);
	ck_assert_str_eq(trn_dtype_name(TRN_DTYPE_BF16), "bf16");
	ck_assert_str_eq(trn_dtype_name(UINT32_MAX), "unknown");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("builder");
	TCase *tc = tcase_create("builder");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 180);
	tcase_add_test(tc, test_tiles_disjoint);
	tcase_add_test(tc, test_tiles_psum_bank);
	tcase_add_loop_test(tc, test_tiles_bad, 0, 8);
	tcase_add_loop_test(tc, test_bad_operations, 0, 29);
	tcase_add_loop_test(tc, test_bad_transfers, 0, 22);
	tcase_add_test(tc, test_bad_builders);
	tcase_add_test(tc, test_null);
	tcase_add_test(tc, test_null_arguments);
	tcase_add_test(tc, test_sticky);
	tcase_add_test(tc, test_finished_twice);
	tcase_add_test(tc, test_raw);
	tcase_add_test(tc, test_raw_bad);
	tcase_add_test(tc, test_semaphores_run_out);
	tcase_add_loop_test(tc, test_random_programs, 0, 40);
	tcase_add_loop_test(tc, test_waits_matter, 0, RACY_TESTS);
	tcase_add_test(tc, test_thousand_runs);
	tcase_add_test(tc, test_many_waits);
	tcase_add_test(tc, test_no_needless_waits);
	tcase_add_test(tc, test_descriptors);
	tcase_add_test(tc, test_many_groups);
	tcase_add_test(tc, test_engines);
	tcase_add_test(tc, test_dtypes);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
