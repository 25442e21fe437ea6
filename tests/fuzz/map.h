/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the things an input aims at are, for each product. Constant. */
#ifndef FUZZ_MAP_H
#define FUZZ_MAP_H

#include <stdint.h>

/** struct fuzz_map - counts and addresses of a product; indices are below the counts. */
struct fuzz_map {
	const char *arch;
	unsigned int cores, stacks, top_sps, engines;
	unsigned int host_engine; /* first of those for copies between host and device */
	uint64_t bar0_size, host_base;
	uint32_t misc; /* BAR0, as all that is not called device */
	uint32_t (*udma)(unsigned int engine);
	uint32_t (*tpb)(unsigned int core);
	uint32_t (*nc_notific)(unsigned int core);
	uint32_t (*top_sp)(unsigned int index);
	uint32_t (*top_sp_notific)(unsigned int index);
	uint64_t (*hbm_device)(unsigned int stack);
	uint64_t (*tpb_device)(unsigned int core);
	uint64_t (*udma_device)(unsigned int engine);
	/* somewhere in register space, @value decides where */
	uint64_t (*register_device)(uint32_t value);
	/* beside the product's own routes: to a neighbour, or nowhere */
	uint64_t (*route)(uint32_t value);
};

/** fuzz_map_choose() - the product of an input; all sizes and last bytes are legal. */
const struct fuzz_map *fuzz_map_choose(const uint8_t *data, uint64_t size);

/** fuzz_map_index() - number of the product, from 0. */
unsigned int fuzz_map_index(const struct fuzz_map *map);

#endif /* FUZZ_MAP_H */
