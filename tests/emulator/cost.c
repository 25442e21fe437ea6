// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Published costs. The comment beside a number is the row it comes from: "11.1" is a section of the
 * NeuronCore reference, "6" the cost column of its instruction tables, "[M]" a choice of this model
 * where nothing is published. Documentation/time-mode.md lists the same rows with the choices.
 */
#include "cost.h"
#include "exec.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* clang-format off */
#define COMMON								\
	.issue = 64,		/* 11.1 minimum issue interval */	\
	.settle = {							\
		/* 11.1 access latency 60 + dependent overhead 100 */	\
		[TRN_ENGINE_PE] = 160,					\
		/* 11.1 small dependent ACT instruction 264 c, less the 64 of its issue */ \
		[TRN_ENGINE_ACT] = 200,					\
		[TRN_ENGINE_POOL] = 160, /* as PE */			\
		/* 11.1 DVE fixed overhead of a production cost model */ \
		[TRN_ENGINE_DVE] = 144,					\
	},								\
	.pool_start = 150,	/* 11.1 POOL start; 6.4 iota 150 + N */	\
	.accumulator_read = 64,	/* 11.1 ACT accumulator read */		\
	.dynamic_copy = 600,	/* 11.1 dynamic-offset on-chip copy */	\
	.fp32_columns = 4,	/* 11.1 PE multiply, FP32 */		\
	.weights_share = 4,	/* 11.1 weight load up to 4 x faster */	\
	.half_stride = 16,	/* 11.1 innermost stride > 16 B */	\
	.dma_run_ps = 107500,	/* 11.3 t_fix 0.86 us for 8 runs */	\
	.dma_start_ps = 1300000, /* 11.3 semaphore-to-start latency */	\
	.dge_ps = 600000,	/* 11.3 hardware DGE instruction */	\
	.dge_engines = 16,	/* 7.1 engines per core */		\
	.hop_ps = 1500000	/* 11.4 hop inside a node 1 to 2 us */

static const struct emu_costs v2_costs = {
	.mhz = {		/* 1.3 */
		[TRN_ENGINE_PE] = 2800,
		[TRN_ENGINE_ACT] = 1400,
		[TRN_ENGINE_POOL] = 1400,
		[TRN_ENGINE_DVE] = 1120,
		[TRN_ENGINE_SP] = 1400,	/* [M] as ACT */
		[TRN_ENGINE_CC] = 1400,	/* [M] as ACT */
	},
	.fast16 = 1,
	.fast16_other = 1,
	.dma_bytes_per_us = 17000, /* 11.3 achievable per engine 17 B/ns */
	COMMON,
};

static const struct emu_costs v3_costs = {
	.mhz = {		/* 1.3 */
		[TRN_ENGINE_PE] = 2400,
		[TRN_ENGINE_ACT] = 1200,
		[TRN_ENGINE_POOL] = 1200,
		[TRN_ENGINE_DVE] = 960,
		[TRN_ENGINE_SP] = 1200,	/* [M] as ACT */
		[TRN_ENGINE_CC] = 1200,	/* [M] as ACT */
	},
	.fast16 = 4,		/* 11.1 DVE copy 16-bit, v3: 4 x of v2 */
	.fast16_other = 2,	/* 11.1 2 x in the weaker cases */
	/* 11.3 32 KiB by one engine in 1416 ns (23 B/ns) */
	.dma_bytes_per_us = 23141,
	COMMON,
};
/* clang-format on */

static const struct emu_costs *const tables[] = {
	[2] = &v2_costs,
	[3] = &v3_costs,
};

const struct emu_costs *emu_costs_get(unsigned int generation)
{
	return generation < ARRAY_SIZE(tables) ? tables[generation] : NULL;
}

uint64_t emu_cost_ps(const struct emu_costs *costs, enum trn_engine engine, uint64_t cycles)
{
	return costs->mhz[engine] ? cycles * 1000000u / costs->mhz[engine] : 0;
}

/** enum law - how cycles follow from the number of elements per partition. */
enum law {
	LAW_CONTROL, /* sequencer only: the issue interval [M] */
	LAW_LINEAR,  /* N * @num / @den + @extra */
	LAW_COPY,    /* N, in the fast modes of DVE less */
	LAW_MEMSET,  /* N, half for zero in 16 bits */
	LAW_PAIR,    /* 2 N; N with an input in PSUM or all bf16, SBUF, contiguous */
	LAW_PAIR_B,  /* 2 N; N for all bf16, SBUF, contiguous */
	LAW_REDUCE,  /* N, half for bf16 */
	LAW_ACC,     /* N, and a read of the accumulator when it leaves through slot 2 */
	LAW_PARTS,   /* N times partitions [M] */
	LAW_WEIGHTS,
	LAW_MATMUL,
};

/** struct price - a row of section 6. */
struct price {
	enum law law;
	uint16_t num, den, extra;
};

static const struct price prices[] = {
	[TRN_OP_LDWEIGHTS] = { .law = LAW_WEIGHTS }, /* 6.1 M / 4, at least 64 */
	[TRN_OP_MATMUL] = { .law = LAW_MATMUL },     /* 6.1 max(64, N); FP32 x 4 */
	[TRN_OP_ACTIVATE] = { .law = LAW_ACC },	     /* 6.2 max(64, N); read-out + 64 */
	[TRN_OP_ACC_READ] = { LAW_LINEAR, 0, 1, 64 },
	[TRN_OP_COPY] = { .law = LAW_COPY },		       /* 6.2 max(64, N); fast modes */
	[TRN_OP_MEMSET] = { .law = LAW_MEMSET },	       /* 6.2 N (N/2 for zero in 16-bit) */
	[TRN_OP_TENSOR_TENSOR] = { .law = LAW_PAIR },	       /* 6.2 */
	[TRN_OP_TENSOR_SCALAR] = { .law = LAW_ACC },	       /* 6.2; tensor_scalar_reduce + 64 */
	[TRN_OP_SCALAR_TENSOR_TENSOR] = { .law = LAW_PAIR_B }, /* 6.2 2N (N for bf16 cases) */
	[TRN_OP_TENSOR_REDUCE] = { .law = LAW_REDUCE },	       /* 6.2 N (N/2 bf16 add/max) */
	[TRN_OP_SCAN] = { LAW_LINEAR, 2, 1, 0 },	       /* 6.2 max(64, 2N) */
	[TRN_OP_RECIPROCAL] = { LAW_LINEAR, 8, 1, 0 },	       /* 6.2 max(64, 8N) on DVE */
	[TRN_OP_COPY_PREDICATED] = { LAW_LINEAR, 2, 1, 0 },    /* 6.2 N or 2N */
	[TRN_OP_SELECT_REDUCE] = { LAW_LINEAR, 2, 1, 0 },      /* 6.2 2N */
	[TRN_OP_RANGE_SELECT] = { LAW_LINEAR, 1, 1, 0 },       /* 6.2 max(64, N) */
	[TRN_OP_BN_STATS] = { LAW_LINEAR, 1, 1, 0 },	       /* 6.2 max(64, N) */
	[TRN_OP_BN_AGGR] = { LAW_LINEAR, 13, 3, 0 },	       /* 6.2 max(64, 13N/3) */
	[TRN_OP_MAX8] = { LAW_LINEAR, 1, 1, 0 },	       /* 6.3 N */
	[TRN_OP_FIND_INDEX8] = { LAW_LINEAR, 1, 1, 0 },	       /* 6.3 N */
	[TRN_OP_MATCH_REPLACE8] = { LAW_LINEAR, 1, 1, 0 },     /* 6.3 N */
	[TRN_OP_TRANSPOSE32] = { LAW_LINEAR, 1, 1, 0 },	       /* 6.3 max(64, N) */
	[TRN_OP_SHUFFLE32] = { LAW_LINEAR, 1, 1, 0 },	       /* 6.3 max(64, N) */
	[TRN_OP_RNG] = { LAW_LINEAR, 1, 1, 0 },		       /* 6.3 N */
	[TRN_OP_RNG_SEED] = { LAW_LINEAR, 1, 1, 0 },	       /* [M] */
	[TRN_OP_RNG_SET] = { LAW_LINEAR, 1, 1, 0 },	       /* [M] */
	[TRN_OP_RNG_GET] = { LAW_LINEAR, 1, 1, 0 },	       /* [M] */
	[TRN_OP_DROPOUT] = { LAW_LINEAR, 1, 1, 0 },	       /* 6.3 max(64, N) */
	[TRN_OP_QUANTIZE_MX] = { LAW_LINEAR, 1, 4, 0 },	       /* 6.2 N/4 */
	[TRN_OP_IOTA] = { LAW_LINEAR, 1, 1, 0 },	       /* 6.4 150 + N */
	[TRN_OP_AFFINE_SELECT] = { LAW_LINEAR, 1, 1, 0 },      /* 6.4 150 + N */
	[TRN_OP_PARTITION_REDUCE] = { .law = LAW_PARTS },      /* 6.2 "large" */
	[TRN_OP_N_GATHER] = { LAW_LINEAR, 1, 1, 0 },	       /* [M] */
	[TRN_OP_NONZERO] = { LAW_LINEAR, 1, 1, 0 },	       /* [M] */
	[TRN_OP_SEQUENCE_BOUNDS] = { LAW_LINEAR, 1, 1, 0 },    /* [M] */
};

static bool is_16bit(const struct emu_view *v)
{
	return !v->used || v->esize == 2;
}

static bool is_bf16_sbuf(const struct emu_view *v)
{
	return !v->used || (v->dtype == TRN_DTYPE_BF16 && v->mem == TRN_MEM_SBUF && v->contiguous);
}

static bool all_bf16_sbuf(const struct emu_exec *x)
{
	return is_bf16_sbuf(&x->v[0]) && is_bf16_sbuf(&x->v[1]) && is_bf16_sbuf(&x->v[2]);
}

static bool in_sbuf_contiguous(const struct emu_view *v)
{
	return !v->used || (v->mem == TRN_MEM_SBUF && v->contiguous);
}

/* Elements a cycle of a copy or tensor_scalar. */
static uint32_t copy_rate(const struct emu_costs *costs, const struct emu_exec *x)
{
	if (x->eng->id != TRN_ENGINE_DVE || !is_16bit(&x->v[0]) || !is_16bit(&x->v[1]))
		return 1;
	if (in_sbuf_contiguous(&x->v[0]) && in_sbuf_contiguous(&x->v[1]))
		return costs->fast16;
	return costs->fast16_other;
}

static bool dynamic_offset(const struct emu_exec *x)
{
	unsigned int i;

	for (i = 0; i < 3; i++)
		if (x->v[i].used && (x->insn->slot[i].where & TRN_OPERAND_REG))
			return true;
	return false;
}

static bool wide_stride(const struct emu_costs *costs, const struct emu_exec *x)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		int64_t step = x->v[i].used && x->v[i].n > 1 ? x->v[i].step[0] : 0;

		if (step > costs->half_stride || -step > costs->half_stride)
			return true;
	}
	return false;
}

static uint64_t pair_cycles(const struct emu_exec *x, uint64_t n, bool psum_helps)
{
	bool psum = (x->v[1].used && x->v[1].mem == TRN_MEM_PSUM) ||
		    (x->v[2].used && x->v[2].mem == TRN_MEM_PSUM);

	return (psum && psum_helps) || all_bf16_sbuf(x) ? n : 2 * n;
}

/* Whether the accumulator of an ACTIVATE or TENSOR_SCALAR is brought to memory as well. */
static bool reads_accumulator(const struct emu_exec *x)
{
	return x->v[2].used || (emu_insn_reduce_cmd(x->insn) && x->eng->id == TRN_ENGINE_DVE);
}

static uint64_t data_cycles(const struct emu_costs *costs, const struct emu_exec *x,
			    const struct price *price)
{
	const struct emu_view *first = x->v[1].used ? &x->v[1] : &x->v[0];
	uint64_t n = first->used ? first->n : 0, cycles = n;

	switch (price->law) {
	case LAW_CONTROL:
		break;
	case LAW_LINEAR:
		cycles = (n * price->num + price->den - 1) / price->den + price->extra;
		break;
	case LAW_COPY:
		cycles = n / copy_rate(costs, x);
		break;
	case LAW_MEMSET:
		if (first->esize == 2 && !x->insn->c0)
			cycles = n / 2;
		break;
	case LAW_PAIR:
	case LAW_PAIR_B:
		cycles = pair_cycles(x, n, price->law == LAW_PAIR);
		break;
	case LAW_REDUCE:
		if (first->dtype == TRN_DTYPE_BF16 &&
		    (x->insn->reduce_op == TRN_ALU_ADD || x->insn->reduce_op == TRN_ALU_MAX))
			cycles = n / 2;
		break;
	case LAW_ACC:
		if (x->insn->opcode == TRN_OP_TENSOR_SCALAR)
			cycles = n / copy_rate(costs, x);
		if (cycles < costs->issue)
			cycles = costs->issue;
		if (reads_accumulator(x))
			cycles += costs->accumulator_read;
		break;
	case LAW_PARTS:
		cycles = n * first->parts;
		break;
	case LAW_WEIGHTS:
		cycles = (n + costs->weights_share - 1) / costs->weights_share;
		break;
	case LAW_MATMUL:
		if (first->dtype == TRN_DTYPE_FP32 || first->dtype == TRN_DTYPE_FP32R)
			cycles = n * costs->fp32_columns;
		break;
	}
	if (wide_stride(costs, x))
		cycles *= 2;
	if (price->law == LAW_COPY && dynamic_offset(x) && cycles < costs->dynamic_copy)
		cycles = costs->dynamic_copy;
	return cycles;
}

uint64_t emu_cost_cycles(const struct emu_costs *costs, const struct emu_exec *x)
{
	static const struct price control = { .law = LAW_CONTROL };
	const struct price *price = &control;
	uint64_t cycles = 0;

	if (x->insn->opcode < ARRAY_SIZE(prices))
		price = &prices[x->insn->opcode];
	if (price->law != LAW_CONTROL) {
		cycles = data_cycles(costs, x, price);
		if (x->eng->id == TRN_ENGINE_POOL)
			return cycles + costs->pool_start;
	}
	return cycles < costs->issue ? costs->issue : cycles;
}

static uint64_t bytes_ps(const struct emu_costs *costs, uint64_t bytes)
{
	return bytes * 1000000u / costs->dma_bytes_per_us;
}

/* Never 0: time must pass between two turns of an engine that feeds itself. */
uint64_t emu_cost_dma_run(const struct emu_costs *costs, uint64_t bytes, bool completion)
{
	uint64_t ps = bytes_ps(costs, bytes);

	if (!completion && ps < costs->dma_run_ps)
		ps = costs->dma_run_ps;
	return ps < 1000 ? 1000 : ps;
}

uint64_t emu_cost_dge(const struct emu_costs *costs, uint64_t bytes, uint64_t runs, bool compute)
{
	uint64_t share = (runs + costs->dge_engines - 1) / costs->dge_engines;
	uint64_t ps = bytes_ps(costs, bytes) / costs->dge_engines;

	if (ps < share * costs->dma_run_ps)
		ps = share * costs->dma_run_ps;
	return compute ? 2 * ps : ps; /* 11.3 compute DMA before v4: half the rate */
}
