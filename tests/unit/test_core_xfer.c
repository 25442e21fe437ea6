// SPDX-License-Identifier: BSD-2-Clause
/*
 * DMA_XFER: copies, casts, accumulation, gather and scatter, faults.
 */
#include "core_harness.h"
#include "tests/emulator/numeric.h"

#define FROM 0x4000u
#define TO   0x20000u
#define SP   TRN_ENGINE_SP

struct dim32 {
	int32_t step;
	uint16_t count;
};

static void set_operand(struct trn_insn *i, unsigned int which, uint64_t base, enum trn_dtype dtype,
			unsigned int flags, unsigned int ndim, const struct dim32 *dim)
{
	uint8_t *raw = i->raw + which * TRN_XFER_OPERAND_SIZE;
	uint16_t f = (uint16_t)flags;
	unsigned int d;

	memcpy(raw, &base, 8);
	raw[8] = (uint8_t)dtype;
	raw[9] = (uint8_t)ndim;
	memcpy(raw + 10, &f, 2);
	for (d = 0; d < ndim; d++) {
		memcpy(raw + 12 + 6 * d, &dim[d].step, 4);
		memcpy(raw + 16 + 6 * d, &dim[d].count, 2);
	}
}

static struct trn_insn *xfer(struct harness *h, enum trn_dtype to, enum trn_dtype from, uint16_t n)
{
	struct trn_insn *i = h_emit(h, SP, TRN_OP_DMA_XFER);
	struct dim32 dim = { 1, n };

	set_operand(i, 0, TO, to, 0, 1, &dim);
	set_operand(i, 1, FROM, from, 0, 1, &dim);
	return i;
}

static float f32_at(struct harness *h, uint32_t addr)
{
	float f;

	memcpy(&f, h->mem + addr, 4);
	return f;
}

static void put_f32_at(struct harness *h, uint32_t addr, float f)
{
	memcpy(h->mem + addr, &f, 4);
}

START_TEST(plain_copy)
{
	struct harness *h = h_create(2);
	unsigned int n;

	for (n = 0; n < 60000; n++)
		h->mem[FROM + n] = (uint8_t)(n * 7);
	xfer(h, TRN_DTYPE_UINT8, TRN_DTYPE_UINT8, 60000);
	h_run_ok(h);
	ck_assert_mem_eq(h->mem + TO, h->mem + FROM, 60000);
	ck_assert_uint_eq(h->mem[TO + 60000], 0);
	h_destroy(h);
}
END_TEST

START_TEST(copy_of_64_bit)
{
	struct harness *h = h_create(2);
	uint64_t v = 0x123456789abcdef0ull;

	memcpy(h->mem + FROM, &v, 8);
	xfer(h, TRN_DTYPE_INT64, TRN_DTYPE_INT64, 1);
	h_run_ok(h);
	ck_assert_mem_eq(h->mem + TO, &v, 8);
	xfer(h, TRN_DTYPE_INT32, TRN_DTYPE_INT64, 1);
	ck_assert_int_eq(h_run(h), TRN_FAULT_OPERAND);
	h_destroy(h);
}
END_TEST

START_TEST(cast)
{
	struct harness *h = h_create(2);
	uint16_t got[2];

	put_f32_at(h, FROM, emu_bits_f32(0x3f818000));
	put_f32_at(h, FROM + 4, -1.5f);
	xfer(h, TRN_DTYPE_BF16, TRN_DTYPE_FP32, 2);
	h_run_ok(h);
	memcpy(got, h->mem + TO, 4);
	ck_assert_uint_eq(got[0], 0x3f82);
	ck_assert_uint_eq(got[1], 0xbfc0);
	h_destroy(h);
}
END_TEST

/* [5, 7] to [7, 5]. */
START_TEST(transpose)
{
	static const struct dim32 dst[] = { { 1, 7 }, { 7, 5 } }, src[] = { { 5, 7 }, { 1, 5 } };
	struct harness *h = h_create(2);
	struct trn_insn *i = h_emit(h, SP, TRN_OP_DMA_XFER);
	unsigned int r, c;

	for (r = 0; r < 7; r++)
		for (c = 0; c < 5; c++)
			put_f32_at(h, FROM + 4 * (r * 5 + c), (float)(r * 10 + c));
	set_operand(i, 0, TO, TRN_DTYPE_FP32, 0, 2, dst);
	set_operand(i, 1, FROM, TRN_DTYPE_FP32, 0, 2, src);
	h_run_ok(h);
	for (r = 0; r < 7; r++)
		for (c = 0; c < 5; c++)
			ck_assert(f32_at(h, TO + 4 * (c * 7 + r)) == (float)(r * 10 + c));
	h_destroy(h);
}
END_TEST

static const struct {
	enum trn_alu op;
	float a, b, r;
} sums[] = {
	{ TRN_ALU_BYPASS, 1, 2.5f, 3.5f },
	{ TRN_ALU_ADD, 1, 2.5f, 3.5f },
	{ TRN_ALU_MAX, 1, 2.5f, 2.5f },
	{ TRN_ALU_MIN, 1, 2.5f, 1 },
};

START_TEST(accumulate)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = xfer(h, TRN_DTYPE_FP32, TRN_DTYPE_BF16, 1);
	uint16_t b = (uint16_t)(h_f32(sums[_i].b) >> 16);

	put_f32_at(h, TO, sums[_i].a);
	memcpy(h->mem + FROM, &b, 2);
	i->raw[10] = TRN_XFER_ACCUMULATE;
	i->op0 = (uint8_t)sums[_i].op;
	i->update[0] = (struct trn_sync){ TRN_UPDATE_ADD, TRN_UPDATE_AT_COMPLETE, 3, 16 };
	h_run_ok(h);
	ck_assert(f32_at(h, TO) == sums[_i].r);
	ck_assert_int_eq(emu_core_sem_read(h->core, 3), 16);
	h_destroy(h);
}
END_TEST

#define ROW  8
#define ROWS 4

/* Rows of a table chosen by an index vector in SBUF, one index per partition. */
static struct trn_insn *rows(struct harness *h, bool scatter, unsigned int flags,
			     const uint32_t index[ROWS], uint32_t bound)
{
	static const struct dim32 table[] = { { 1, ROW }, { ROW, ROWS } };
	struct trn_insn *i = h_emit(h, SP, TRN_OP_DMA_XFER);
	unsigned int r;

	for (r = 0; r < ROWS; r++)
		h_put(h, 32 + r, 64, &index[r], 4);
	set_operand(i, 0, TO, TRN_DTYPE_FP32, scatter ? TRN_XFER_INDEX_VECTOR | flags : 0, 2,
		    table);
	set_operand(i, 1, FROM, TRN_DTYPE_FP32, scatter ? 0 : TRN_XFER_INDEX_VECTOR | flags, 2,
		    table);
	i->kinds = TRN_SCALAR_VECTOR;
	i->c0 = h_vector(TRN_MEM_SBUF, TRN_VECTOR_INT32, 1, 64);
	i->c1 = bound;
	return i;
}

static void fill_table(struct harness *h)
{
	unsigned int n;

	for (n = 0; n < 100 * ROW; n++)
		put_f32_at(h, FROM + 4 * n, (float)n);
}

START_TEST(gather_rows)
{
	static const uint32_t index[] = { 7, 0, 99, 7 };
	struct harness *h = h_create(2);
	unsigned int r, c;

	fill_table(h);
	rows(h, false, 0, index, 100);
	h_run_ok(h);
	for (r = 0; r < ROWS; r++)
		for (c = 0; c < ROW; c++)
			ck_assert(f32_at(h, TO + 4 * (r * ROW + c)) == (float)(index[r] * ROW + c));
	h_destroy(h);
}
END_TEST

START_TEST(scatter_add_rows)
{
	static const uint32_t index[] = { 5, 2, 5, 1 };
	struct harness *h = h_create(2);
	unsigned int c;

	fill_table(h);
	rows(h, true, TRN_XFER_ACCUMULATE, index, 6);
	h_run_ok(h);
	for (c = 0; c < ROW; c++) {
		ck_assert(f32_at(h, TO + 4 * (5 * ROW + c)) == (float)(c + 2 * ROW + c));
		ck_assert(f32_at(h, TO + 4 * (2 * ROW + c)) == (float)(ROW + c));
		ck_assert(f32_at(h, TO + 4 * (0 * ROW + c)) == 0);
	}
	h_destroy(h);
}
END_TEST

START_TEST(index_out_of_bounds)
{
	static const uint32_t index[] = { 7, 100, 0xffffffff, 3 };
	struct harness *h = h_create(2);
	unsigned int r, c;
	bool skip = _i;

	fill_table(h);
	rows(h, false, skip ? TRN_XFER_OOB_SKIP : 0, index, 100);
	ck_assert_int_eq(h_run(h), skip ? TRN_FAULT_NONE : TRN_FAULT_OPERAND);
	for (r = 0; r < ROWS; r++)
		for (c = 0; c < ROW; c++) {
			bool moved = r == 0 || (r == 3 && skip);

			ck_assert(f32_at(h, TO + 4 * (r * ROW + c)) ==
				  (moved ? (float)(index[r] * ROW + c) : 0));
		}
	if (!skip)
		ck_assert_uint_eq(h->result.address, FROM + 4 * 100 * ROW);
	h_destroy(h);
}
END_TEST

START_TEST(base_register)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = xfer(h, TRN_DTYPE_FP32, TRN_DTYPE_FP32, 1);
	uint16_t flags = TRN_XFER_BASE_REG | 9 << TRN_XFER_REG_SHIFT;

	h->run.args[9] = 0x100;
	put_f32_at(h, FROM + 0x100, 3);
	memcpy(i->raw + TRN_XFER_OPERAND_SIZE + 10, &flags, 2);
	h_run_ok(h);
	ck_assert(f32_at(h, TO) == 3);
	h_destroy(h);
}
END_TEST

START_TEST(window_fault_names_the_address)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = xfer(h, TRN_DTYPE_FP32, TRN_DTYPE_FP32, 1);
	uint64_t far = 0x123400000000ull;

	memcpy(i->raw + (_i ? TRN_XFER_OPERAND_SIZE : 0), &far, 8);
	ck_assert_int_eq(h_run(h), TRN_FAULT_WINDOW);
	ck_assert_uint_eq(h->result.address, far);
	h_destroy(h);
}
END_TEST

START_TEST(encodings)
{
	struct harness *h = h_create(2);
	struct trn_insn *i = xfer(h, TRN_DTYPE_FP32, TRN_DTYPE_FP32, 4);
	enum trn_fault want = TRN_FAULT_ILLEGAL_INSN;
	uint8_t *dst = i->raw, *src = i->raw + TRN_XFER_OPERAND_SIZE;

	switch (_i) {
	case 0:
		dst[11] = 0x80; /* reserved flag */
		break;
	case 1:
		dst[10] = 1 << TRN_XFER_REG_SHIFT; /* register without its flag */
		break;
	case 2:
		src[10] = TRN_XFER_ACCUMULATE;
		break;
	case 3:
		src[10] = TRN_XFER_OOB_SKIP; /* without an index vector */
		break;
	case 4:
		src[10] = TRN_XFER_INDEX_VECTOR; /* without a vector in c0 */
		break;
	case 5:
		i->op0 = TRN_ALU_ADD; /* without accumulate */
		break;
	case 6:
		dst[10] = TRN_XFER_ACCUMULATE;
		i->op0 = TRN_ALU_MUL;
		break;
	case 7:
		src[18] = 1; /* dimension beyond the number of dimensions */
		break;
	case 8:
		src[16] = 5; /* totals differ */
		want = TRN_FAULT_OPERAND;
		break;
	case 9:
		src[9] = 0;
		memset(src + 12, 0, 6);
		want = TRN_FAULT_OPERAND;
		break;
	case 10:
		memset(src + 16, 0, 2);
		want = TRN_FAULT_OPERAND;
		break;
	case 11: /* more than 2^24 elements */
		src[9] = dst[9] = 2;
		memset(src + 16, 0xff, 2);
		memset(dst + 16, 0xff, 2);
		memset(src + 22, 0xff, 2);
		memset(dst + 22, 0xff, 2);
		want = TRN_FAULT_OPERAND;
		break;
	case 12:
		src[8] = TRN_DTYPE_INVALID;
		want = TRN_FAULT_OPERAND;
		break;
	case 13:
		src[8] = TRN_DTYPE_FP8_E4M3FN; /* v4 */
		break;
	case 14:
		i->c1 = 5; /* a bound without indices */
		break;
	}
	ck_assert_int_eq(h_run(h), want);
	h_destroy(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("core DMA_XFER");

	H_TEST(s, plain_copy);
	H_TEST(s, copy_of_64_bit);
	H_TEST(s, cast);
	H_TEST(s, transpose);
	H_LOOP(s, accumulate, ARRAY_SIZE(sums));
	H_TEST(s, gather_rows);
	H_TEST(s, scatter_add_rows);
	H_LOOP(s, index_out_of_bounds, 2);
	H_TEST(s, base_register);
	H_LOOP(s, window_fault_names_the_address, 2);
	H_LOOP(s, encodings, 15);
	return h_main(s);
}
