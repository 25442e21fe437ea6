/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of the program builder, shared by builder*.c only.
 *
 * Order of things. Every tracked operation goes through trn_build_issue(): it looks up what the
 * operation depends on, drops what its engine already knows to be complete (vector clocks), inserts
 * waits, and records the accesses. Values of engine waits are instruction indices until finish,
 * which numbers the instructions that signal.
 */
#ifndef TRN_BUILDER_PRIV_H
#define TRN_BUILDER_PRIV_H

#include "trn/builder.h"
#include "error.h"
#include "tnx.h"

#define TRN_BUILD_LANES	     16u	       /* semaphores that transfers take turns on */
#define TRN_BUILD_ENGINES    8u		       /* indexed by enum trn_engine */
#define TRN_BUILD_QUEUES     TRN_BUILD_ENGINES /* one per triggering engine, its number */
#define TRN_BUILD_ACCESS_MAX 8u		       /* on-chip ranges one operation touches */
#define TRN_BUILD_READERS    4u		       /* transfers remembered as readers of a range */
#define TRN_BUILD_QUADRANT   32u
#define TRN_BUILD_MAPS	     8u /* two memories x four partition quadrants */

/* Semaphores: one per engine by engine number, then the lanes, then the user's. */
#define TRN_BUILD_SEM_LANE TRN_BUILD_ENGINES
#define TRN_BUILD_SEM_USER (TRN_BUILD_SEM_LANE + TRN_BUILD_LANES)

/**
 * struct trn_build_clock - what is known complete: instructions per engine, increments per lane.
 */
struct trn_build_clock {
	uint32_t engine[TRN_BUILD_ENGINES];
	uint32_t lane[TRN_BUILD_LANES];
};

/** struct trn_build_insn - an instruction and what finish must still fill in. */
struct trn_build_insn {
	struct trn_insn insn;
	bool signals;		      /* somebody waits for its completion */
	bool symbolic[2];	      /* wait value is an instruction index */
	struct trn_build_clock clock; /* known complete when it starts */
};

struct trn_build_stream {
	struct trn_build_insn *insns;
	uint32_t count;
	uint32_t capacity;
	struct trn_build_clock clock; /* known complete when the next instruction starts */
	bool raw; /* holds raw instructions, which may branch or use both updates */
};

/**
 * struct trn_build_ref - an instruction (engine, index + 1) or a transfer group (group + 1); 0:
 * none.
 */
struct trn_build_ref {
	uint32_t engine;
	uint32_t index;
	uint32_t group;
};

/**
 * struct trn_build_segment - a byte range of one quadrant of one memory and who touched it last.
 */
struct trn_build_segment {
	uint32_t start;
	uint32_t end;
	struct trn_build_ref writer;
	uint32_t reader[TRN_BUILD_ENGINES];	  /* index + 1 of the last reading instruction */
	uint32_t reader_group[TRN_BUILD_READERS]; /* group + 1 */
};

/** struct trn_build_map - sorted, non-overlapping segments. */
struct trn_build_map {
	struct trn_build_segment *segs;
	uint32_t count;
	uint32_t capacity;
};

struct trn_build_group {
	uint32_t lane;
	uint32_t target;	      /* the lane's semaphore value once complete */
	struct trn_build_clock clock; /* known complete when it was triggered */
};

struct trn_build_lane {
	uint32_t issued; /* increments of all groups so far */
	uint32_t group;	 /* last group + 1 */
};

/** struct trn_build_hbm - an access of a group to a tensor: @rows rows of @bytes, @step apart. */
struct trn_build_hbm {
	uint32_t group;
	bool write;
	uint64_t offset;
	uint64_t step;
	uint64_t rows;
	uint64_t bytes;
};

struct trn_build_tensor {
	struct trn_tnx_tensor info;
	struct trn_build_hbm *access;
	uint32_t count;
	uint32_t writes; /* of these */
	uint32_t capacity;
};

struct trn_build_ring {
	struct trn_tnx_xfer *xfers;
	uint32_t count;
	uint32_t capacity;
	bool used;
};

/** struct trn_build_hole - free on-chip bytes. */
struct trn_build_hole {
	uint32_t start;
	uint32_t bytes;
};

struct trn_build_space {
	struct trn_build_hole *holes; /* sorted by start */
	uint32_t count;
	uint32_t capacity;
	uint32_t cursor; /* next-fit, so that buffers rotate */
	uint32_t total;
};

struct trn_builder {
	enum trn_status status;
	char error[512];
	bool finished;
	char name[64];
	uint32_t generation;
	struct trn_build_stream stream[TRN_BUILD_ENGINES];
	struct trn_build_map map[TRN_BUILD_MAPS];
	struct trn_build_space space[2];
	struct trn_build_tensor *tensors;
	uint32_t tensor_count;
	uint32_t tensor_capacity;
	uint8_t *constants;
	uint64_t constants_bytes;
	struct trn_build_group *groups;
	uint32_t group_count;
	uint32_t group_capacity;
	struct trn_build_lane lane[TRN_BUILD_LANES];
	uint32_t next_lane;
	struct trn_build_ring ring[TRN_BUILD_QUEUES][TRN_TNX_DMA_ENGINES];
	uint32_t next_semaphore;
	uint32_t operation; /* tracked instructions so far: the tag a fault is reported with */
};

/** struct trn_build_access - on-chip bytes [start, end) of a partition range. */
struct trn_build_access {
	uint8_t mem;
	uint8_t partition;
	uint8_t partitions;
	bool write;
	uint32_t start;
	uint32_t end;
};

/**
 * struct trn_build_deps - what an operation must wait for: the latest index per engine and count
 * per lane.
 */
struct trn_build_deps {
	uint32_t engine[TRN_BUILD_ENGINES];   /* index + 1 */
	uint32_t lane[TRN_BUILD_LANES];	      /* semaphore value */
	uint32_t lane_group[TRN_BUILD_LANES]; /* group + 1 that gives it */
	bool transfer;			      /* the operation is a transfer group */
};

/* builder.c */
/** trn_build_fail() - keep the first error of the builder. */
void trn_build_fail(struct trn_builder *builder, enum trn_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/**
 * trn_build_grow() - room for one more element of @size at @array; false: out of memory, sticky.
 */
bool trn_build_grow(struct trn_builder *builder, void **array, uint32_t *capacity, uint32_t count,
		    size_t size);
const char *trn_build_engine_name(unsigned int engine);

/* builder_sync.c */
/**
 * trn_build_append() - an instruction at the end of its stream. Return: its slot, NULL on error.
 */
struct trn_build_insn *trn_build_append(struct trn_builder *builder, const struct trn_insn *insn);
/**
 * trn_build_wait() - make engine @engine wait for @deps; waits that do not fit @insn go to NOPs
 * before it.
 */
void trn_build_wait(struct trn_builder *builder, unsigned int engine, struct trn_build_deps *deps,
		    const struct trn_insn *insn);
/** trn_build_issue() - append a tracked instruction with its on-chip accesses. */
void trn_build_issue(struct trn_builder *builder, const struct trn_insn *insn,
		     const struct trn_build_access *access, unsigned int count);
/** trn_build_need() - add @ref to what @engine must wait for; what is known complete is dropped. */
void trn_build_need(struct trn_builder *builder, unsigned int engine, struct trn_build_deps *deps,
		    struct trn_build_ref ref);

/** trn_build_known() - @engine knows that group @group (+ 1) is complete. */
bool trn_build_known(const struct trn_builder *builder, unsigned int engine, uint32_t group);

/* builder_map.c */
/** trn_build_map_collect() - refs an access depends on, into @deps of @engine. */
void trn_build_map_collect(struct trn_builder *builder, unsigned int engine,
			   const struct trn_build_access *access, struct trn_build_deps *deps);
/** trn_build_map_record() - the access happened, by @ref. */
void trn_build_map_record(struct trn_builder *builder, const struct trn_build_access *access,
			  struct trn_build_ref ref);

/* builder_tile.c */
bool trn_build_space_init(struct trn_builder *builder, unsigned int mem, uint32_t total);

/* builder_view.c: checks of operands and their encoding. */
bool trn_build_operand(struct trn_builder *builder, const char *what, const struct trn_view *view,
		       struct trn_operand *operand, struct trn_build_access *access, bool write);
bool trn_build_scalar(struct trn_builder *builder, const char *what,
		      const struct trn_scalar *scalar, unsigned int partitions, uint32_t *kind,
		      uint32_t *bits, struct trn_build_access *access, unsigned int *accesses);
uint64_t trn_build_elements(const struct trn_view *view);

/* builder_finish.c */
bool trn_build_epilogue(struct trn_builder *builder);

#endif /* TRN_BUILDER_PRIV_H */
