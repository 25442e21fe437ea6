// SPDX-License-Identifier: BSD-2-Clause
/*
 * Speed of the emulated core next to OpenBLAS and memory, on one thread: matrix products on PE as a
 * ratio to cblas_sgemm of the same shape in the same run, and the elementwise engines in elements
 * per second.
 *
 * usage: bench_matmul [--json FILE]
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/emulator/core.h"

#define REPEATS	    200 /* instructions per run: long enough that starting a run does not count */
#define ROUNDS	    7	/* best of */
#define IMAGE	    0x10000ull
#define BF16_DATA   65536
#define FP8_DATA    98304
#define RESULTS_MAX 64

static struct trn_insn program[2][2 * REPEATS + 2];

struct result {
	const char *name;
	double value;
	double reference; /* same unit; 0: none */
	const char *unit;
};

static struct result results[RESULTS_MAX];
static unsigned int result_count;

static enum trn_fault mem_read(void *opaque, uint64_t addr, void *buf, size_t len, bool fetch)
{
	(void)opaque;
	if (!fetch || addr < IMAGE || addr - IMAGE + len > sizeof(program))
		return TRN_FAULT_FETCH;
	memcpy(buf, (uint8_t *)program + (addr - IMAGE), len);
	return TRN_FAULT_NONE;
}

static enum trn_fault mem_write(void *opaque, uint64_t addr, const void *buf, size_t len)
{
	(void)opaque;
	(void)addr;
	(void)buf;
	(void)len;
	return TRN_FAULT_WINDOW;
}

static enum trn_fault dma_trigger(void *opaque, uint32_t engine_mask, uint32_t queue,
				  uint32_t count)
{
	(void)opaque;
	(void)engine_mask;
	(void)queue;
	(void)count;
	return TRN_FAULT_DMA;
}

static void notify(void *opaque, unsigned int slot, const struct trn_notification *entry)
{
	(void)opaque;
	(void)slot;
	(void)entry;
}

static uint32_t f32_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

/* Processor time of this thread: other load on the machine counts less than on the clock. */
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static struct trn_operand operand(unsigned int mem, unsigned int parts, uint32_t offset,
				  enum trn_dtype dtype, unsigned int n)
{
	return (struct trn_operand){
		.where = mem << TRN_OPERAND_MEM_SHIFT | offset,
		.partitions = (uint8_t)parts,
		.dtype = (uint8_t)dtype,
		.ndim = 1,
		.dim = { { 1, (uint16_t)n } },
	};
}

/* Runs @count instructions of @engine from the program; returns the best time of a run. */
static double run(struct emu_core *core, enum trn_engine engine, uint32_t count)
{
	struct emu_run r = { 0 };
	struct emu_run_result result;
	double best = 1e9;
	int i;

	program[0][count] = (struct trn_insn){ .opcode = TRN_OP_HALT, .engine = (uint8_t)engine };
	r.image[engine] = (struct emu_engine_image){ IMAGE, count + 1 };
	for (i = 0; i < ROUNDS; i++) {
		double t = now();

		emu_core_run(core, &r, &result);
		t = now() - t;
		if (result.fault) {
			fprintf(stderr, "bench_matmul: fault %d at instruction %u\n", result.fault,
				result.pc);
			exit(EXIT_FAILURE);
		}
		if (t < best)
			best = t;
	}
	return best;
}

static void add(const char *name, double value, double reference, const char *unit)
{
	if (result_count < RESULTS_MAX)
		results[result_count++] = (struct result){ name, value, reference, unit };
}

static float *random_floats(size_t n)
{
	float *p = aligned_alloc(64, n * sizeof(float));
	size_t i;

	if (!p)
		exit(EXIT_FAILURE);
	for (i = 0; i < n; i++)
		p[i] = (float)rand() / (float)RAND_MAX - 0.5f;
	return p;
}

/* C[m][n] = A[k][m]' B[k][n], the product PE computes, and the same size at which SGEMM is at its
 * best. */
static double sgemm(int m, int n, int k, int repeats)
{
	float *a = random_floats((size_t)k * m), *b = random_floats((size_t)k * n),
	      *c = random_floats((size_t)m * n);
	double best = 1e9;
	int i, j;

	for (i = 0; i < ROUNDS; i++) {
		double t = now();

		for (j = 0; j < repeats; j++)
			cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1, a, m, b, n,
				    1, c, n);
		t = now() - t;
		if (t < best)
			best = t;
	}
	free(a);
	free(b);
	free(c);
	return 2.0 * m * n * k * repeats / best * 1e-9;
}

static void bench_matmul(struct emu_core *core, const char *name, enum trn_dtype dtype,
			 unsigned int k, unsigned int m, unsigned int n, bool reload,
			 double reference)
{
	uint32_t data = dtype == TRN_DTYPE_FP32	  ? 0
			: dtype == TRN_DTYPE_BF16 ? BF16_DATA
						  : FP8_DATA;
	unsigned int i, count = 0;
	double t;

	for (i = 0; i < REPEATS; i++) {
		struct trn_insn insn = { .engine = TRN_ENGINE_PE };

		if (reload || !i) {
			insn.opcode = TRN_OP_LDWEIGHTS;
			insn.slot[1] = operand(TRN_MEM_SBUF, k, data, dtype, m);
			program[0][count++] = insn;
			memset(&insn.slot, 0, sizeof(insn.slot));
		}
		insn.opcode = TRN_OP_MATMUL;
		insn.slot[0] = operand(TRN_MEM_PSUM, m, 2048 * (i % 8), TRN_DTYPE_FP32, n);
		insn.slot[1] = operand(TRN_MEM_SBUF, k, data + 4096, dtype, n);
		insn.opf = TRN_OPF_ACCUMULATE;
		program[0][count++] = insn;
	}
	t = run(core, TRN_ENGINE_PE, count);
	add(name, 2.0 * m * n * k * REPEATS / t * 1e-9, reference, "GFLOP/s");
}

/* One instruction shape on 128 partitions of 1024 elements. */
static void bench_elementwise(struct emu_core *core, const char *name, enum trn_engine engine,
			      struct trn_insn insn, enum trn_dtype dtype, bool two_inputs,
			      bool reduce, double reference)
{
	const uint32_t data = dtype == TRN_DTYPE_BF16 ? BF16_DATA : 0;
	const unsigned int n = 1024;
	unsigned int i;
	double t;

	insn.engine = (uint8_t)engine;
	insn.slot[0] = operand(TRN_MEM_SBUF, 128, 131072, dtype, reduce ? 1 : n);
	insn.slot[1] = operand(TRN_MEM_SBUF, 128, data, dtype, n);
	if (two_inputs)
		insn.slot[2] = operand(TRN_MEM_SBUF, 128, data + 16384, dtype, n);
	for (i = 0; i < REPEATS / 8; i++)
		program[0][i] = insn;
	t = run(core, engine, REPEATS / 8);
	add(name, 128.0 * n * (REPEATS / 8) / t * 1e-9, reference, "Gelement/s");
}

/* Elements per second of a plain three-operand loop on as much memory, what TENSOR_TENSOR would be
 * without a model around it. */
static double plain_add(void)
{
	const size_t n = 128 * 1024;
	float *a = random_floats(n), *b = random_floats(n), *c = random_floats(n);
	double best = 1e9;
	size_t i;
	int r, j;

	for (r = 0; r < ROUNDS; r++) {
		double t = now();

		for (j = 0; j < REPEATS / 8; j++) {
			for (i = 0; i < n; i++)
				c[i] = a[i] + b[i];
			__asm__ volatile("" : : "r"(c) : "memory");
		}
		t = now() - t;
		if (t < best)
			best = t;
	}
	free(a);
	free(b);
	free(c);
	return (double)n * (REPEATS / 8) / best * 1e-9;
}

static void bench_vector(struct emu_core *core)
{
	struct trn_insn tt = { .opcode = TRN_OP_TENSOR_TENSOR, .op0 = TRN_ALU_ADD };
	struct trn_insn ts = { .opcode = TRN_OP_TENSOR_SCALAR,
			       .op0 = TRN_ALU_MUL,
			       .op1 = TRN_ALU_ADD,
			       .c0 = f32_bits(1.5f),
			       .c1 = f32_bits(0.5f) };
	struct trn_insn stt = { .opcode = TRN_OP_SCALAR_TENSOR_TENSOR,
				.op0 = TRN_ALU_MUL,
				.op1 = TRN_ALU_ADD,
				.c0 = f32_bits(1.5f) };
	struct trn_insn sum = { .opcode = TRN_OP_TENSOR_REDUCE, .reduce_op = TRN_ALU_ADD };
	struct trn_insn max = { .opcode = TRN_OP_TENSOR_REDUCE, .reduce_op = TRN_ALU_MAX };
	struct trn_insn copy = { .opcode = TRN_OP_COPY };
	struct trn_insn act = { .opcode = TRN_OP_ACTIVATE, .c0 = f32_bits(1) };
	static const struct {
		enum trn_act func;
		const char *name;
	} funcs[] = {
		{ TRN_ACT_RELU, "activate relu" },	 { TRN_ACT_EXP, "activate exp" },
		{ TRN_ACT_TANH, "activate tanh" },	 { TRN_ACT_SIGMOID, "activate sigmoid" },
		{ TRN_ACT_SILU, "activate silu" },	 { TRN_ACT_GELU, "activate gelu" },
		{ TRN_ACT_GELU_DX, "activate gelu_dx" }, { TRN_ACT_RSQRT, "activate rsqrt" },
	};
	double plain = plain_add();
	unsigned int i;

	bench_elementwise(core, "tensor_tensor add fp32", TRN_ENGINE_DVE, tt, TRN_DTYPE_FP32, true,
			  false, plain);
	bench_elementwise(core, "tensor_tensor add bf16", TRN_ENGINE_DVE, tt, TRN_DTYPE_BF16, true,
			  false, plain);
	bench_elementwise(core, "tensor_scalar mul add fp32", TRN_ENGINE_DVE, ts, TRN_DTYPE_FP32,
			  false, false, plain);
	bench_elementwise(core, "scalar_tensor_tensor fp32", TRN_ENGINE_DVE, stt, TRN_DTYPE_FP32,
			  true, false, plain);
	bench_elementwise(core, "tensor_reduce add fp32", TRN_ENGINE_DVE, sum, TRN_DTYPE_FP32,
			  false, true, plain);
	bench_elementwise(core, "tensor_reduce max fp32", TRN_ENGINE_DVE, max, TRN_DTYPE_FP32,
			  false, true, plain);
	bench_elementwise(core, "copy fp32", TRN_ENGINE_DVE, copy, TRN_DTYPE_FP32, false, false,
			  plain);
	for (i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++) {
		act.op0 = (uint8_t)funcs[i].func;
		bench_elementwise(core, funcs[i].name, TRN_ENGINE_ACT, act, TRN_DTYPE_FP32, false,
				  false, 0);
	}
}

/* Cost of an instruction that does nothing. */
static void bench_overhead(struct emu_core *core)
{
	unsigned int i;
	double t;

	for (i = 0; i < REPEATS; i++)
		program[0][i] = (struct trn_insn){ .opcode = TRN_OP_NOP, .engine = TRN_ENGINE_SP };
	t = run(core, TRN_ENGINE_SP, REPEATS);
	add("nop and start of a run", REPEATS / t * 1e-6, 0, "Minstruction/s");
}

static void print(void)
{
	unsigned int i;

	printf("%-32s %10s %10s %7s  %s\n", "what", "emulated", "reference", "ratio", "unit");
	for (i = 0; i < result_count; i++) {
		const struct result *r = &results[i];

		if (r->reference > 0)
			printf("%-32s %10.2f %10.2f %7.2f  %s\n", r->name, r->value, r->reference,
			       r->value / r->reference, r->unit);
		else
			printf("%-32s %10.2f %10s %7s  %s\n", r->name, r->value, "-", "-", r->unit);
	}
}

static int write_json(const char *path)
{
	FILE *f = fopen(path, "w");
	unsigned int i;

	if (!f) {
		perror(path);
		return -1;
	}
	fprintf(f, "{\n  \"benchmark\": \"matmul\",\n  \"results\": [\n");
	for (i = 0; i < result_count; i++) {
		const struct result *r = &results[i];

		fprintf(f,
			"    {\"name\": \"%s\", \"value\": %.4f, \"reference\": %.4f, \"ratio\": "
			"%.4f, \"unit\": \"%s\"}%s\n",
			r->name, r->value, r->reference,
			r->reference > 0 ? r->value / r->reference : 0, r->unit,
			i + 1 < result_count ? "," : "");
	}
	fprintf(f, "  ]\n}\n");
	return fclose(f);
}

int main(int argc, char **argv)
{
	const struct emu_core_config config = {
		.generation = 2, .sbuf_partition_bytes = TRN_SBUF_PARTITION_BYTES_V2
	};
	const struct emu_core_ops ops = {
		.read = mem_read,
		.write = mem_write,
		.dma_trigger = dma_trigger,
		.notify = notify,
	};
	struct emu_core *core;
	double small, large;
	unsigned int p, i;

	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	openblas_set_num_threads(1);
	core = emu_core_create(&config, &ops, NULL);
	if (!core)
		return EXIT_FAILURE;
	for (p = 0; p < TRN_PARTITIONS; p++) {
		float *row = emu_core_sbuf(core, p, 0, 65536);

		uint16_t *half = emu_core_sbuf(core, p, BF16_DATA, 32768);
		uint8_t *byte = emu_core_sbuf(core, p, FP8_DATA, 32768);

		/* Each type gets numbers of ordinary size: subnormals and NaN would measure
		 * something else. */
		for (i = 0; i < 65536 / sizeof(float); i++)
			row[i] = (float)rand() / (float)RAND_MAX - 0.5f;
		for (i = 0; i < 16384; i++)
			half[i] =
				(uint16_t)(f32_bits((float)rand() / (float)RAND_MAX - 0.5f) >> 16);
		for (i = 0; i < 32768; i++)
			byte[i] = (uint8_t)(0x28 + (rand() & 0x87));
	}
	small = sgemm(128, 512, 128, REPEATS);
	large = sgemm(1024, 1024, 1024, 2);
	bench_matmul(core, "matmul fp32 128x128x512", TRN_DTYPE_FP32, 128, 128, 512, false, small);
	bench_matmul(core, "  with weight load", TRN_DTYPE_FP32, 128, 128, 512, true, small);
	bench_matmul(core, "  next to sgemm 1024^3", TRN_DTYPE_FP32, 128, 128, 512, true, large);
	bench_matmul(core, "matmul bf16 128x128x512", TRN_DTYPE_BF16, 128, 128, 512, true, small);
	bench_matmul(core, "  next to sgemm 1024^3", TRN_DTYPE_BF16, 128, 128, 512, true, large);
	bench_matmul(core, "matmul fp8 e4m3 128x128x512", TRN_DTYPE_FP8_E4M3, 128, 128, 512, true,
		     small);
	bench_matmul(core, "matmul fp32 64x64x128", TRN_DTYPE_FP32, 64, 64, 128, true,
		     sgemm(64, 128, 64, REPEATS));
	bench_vector(core);
	bench_overhead(core);
	emu_core_destroy(core);
	print();
	if (argc == 3 && !strcmp(argv[1], "--json") && write_json(argv[2]))
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
