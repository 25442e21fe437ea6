// SPDX-License-Identifier: BSD-2-Clause
/*
 * The address map as the pages give it, in literals (see conformance.h for why).
 */
#include "conformance.h"

#define V2_PRODUCT                                                                                 \
	.generation = 2, .cores = 2, .stacks = 2, .top_sps = 6, .engines = 34, .seng_engines = 16, \
	.bar0_size = 0x40000000, .hbm_size = 0x400000000, .bar4_stride = 0x400000000,              \
	.hbm = { 0x0, 0x1000000000 }, .host = 0x100000000000, .misc = 0x30fa0000,                  \
	.misc_dev = 0x0ffff0fa0000

const struct conf_product conf_products[3] = {
	{ .arch = "trn1", .bit = TRN1, .pci_device = 0x7164, V2_PRODUCT },
	{ .arch = "inf2", .bit = INF2, .pci_device = 0x7264, V2_PRODUCT },
	{ .arch = "trn2",
	  .bit = TRN2,
	  .pci_device = 0x7364,
	  .generation = 3,
	  .cores = 8,
	  .stacks = 4,
	  .top_sps = 16,
	  .engines = 132,
	  .seng_engines = 32,
	  .bar0_size = 0x100000000,
	  .hbm_size = 0x600000000,
	  .bar4_stride = 0x1000000000,
	  .hbm = { 0x0, 0x4000000000, 0x800000000000, 0x804000000000 },
	  .host = 0x400000000000,
	  .misc = 0x06c84000,
	  .misc_dev = 0x8006c84000 },
};

static bool v3(const struct conf *c)
{
	return c->p->generation == 3;
}

unsigned int conf_owned(const struct conf *c)
{
	return v3(c) ? 128 : 32;
}

uint64_t conf_udma(const struct conf *c, unsigned int engine)
{
	static const uint64_t seng[4] = { 0x82000000, 0x94000000, 0xa2000000, 0xb4000000 };
	static const uint64_t h2t[4] = { 0x06800000, 0x06900000, 0x46800000, 0x46900000 };

	if (v3(c))
		return engine < 128 ? seng[engine / 32] + engine % 32 * 0x100000ull
				    : h2t[engine - 128];
	if (engine < 32)
		return (engine < 16 ? 0x30000000 : 0x30700000) + engine % 16 * 0x40000ull;
	return engine == 32 ? 0x30600000 : 0x30d00000;
}

uint64_t conf_udma_dev(const struct conf *c, unsigned int engine)
{
	static const uint64_t seng[4] = { 0x1002000000, 0x5004000000, 0x801002000000,
					  0x805004000000 };
	static const uint64_t h2t[4] = { 0x8006800000, 0x8006900000, 0x808006800000,
					 0x808006900000 };

	if (v3(c))
		return engine < 128 ? seng[engine / 32] + engine % 32 * 0x100000ull
				    : h2t[engine - 128];
	return 0x0fffc0000000 + conf_udma(c, engine);
}

uint64_t conf_sdma(const struct conf *c, unsigned int engine)
{
	if (v3(c))
		return conf_udma(c, engine) + 0x40000;
	if (engine < 32)
		return (engine < 16 ? 0x30400000 : 0x30b00000) + engine % 16 * 0x7000ull;
	return engine == 32 ? 0x30640000 : 0x30d40000;
}

uint64_t conf_fis(unsigned int engine)
{
	static const uint64_t seng[4] = { 0x8c000000, 0x9c400000, 0xac000000, 0xbc400000 };

	return seng[engine / 32] + engine % 32 * 0x20000ull;
}

uint64_t conf_tpb(const struct conf *c, unsigned int core)
{
	return (v3(c) ? 0xd0000000 : 0) + core * 0x04000000ull;
}

uint64_t conf_tpb_dev(const struct conf *c, unsigned int core)
{
	static const uint64_t dev[8] = { 0x2000000000,	 0x3000000000,	 0x6000000000,
					 0x7000000000,	 0x802000000000, 0x803000000000,
					 0x806000000000, 0x807000000000 };

	return v3(c) ? dev[core] : 0x0fffc0000000 + core * 0x04000000ull;
}

uint64_t conf_top_sp(const struct conf *c, unsigned int t)
{
	if (v3(c))
		return (t < 8 ? 0xf0000000 : 0xf2800000) + t % 8 * 0x00400000ull;
	return 0x10000000 + t * 0x00400000ull;
}

uint64_t conf_top_sp_dev(const struct conf *c, unsigned int t)
{
	if (v3(c))
		return (t < 8 ? 0x8280000000 : 0x808280000000) + t % 8 * 0x40000000ull;
	return 0x0fffd0000000 + t * 0x00400000ull;
}

uint64_t conf_nc_notific(const struct conf *c, unsigned int core)
{
	static const uint64_t bar0[8] = { 0x06001000, 0x06181000, 0x06401000, 0x06581000,
					  0x46001000, 0x46181000, 0x46401000, 0x46581000 };

	return v3(c) ? bar0[core] : 0x30535000 + core * 0x700000ull;
}

uint64_t conf_top_sp_notific(const struct conf *c, unsigned int t)
{
	if (v3(c))
		return (t < 8 ? 0x06a00000 : 0x46a00000) + t % 8 * 0x40000ull;
	return 0x30e04000 + t * 0x40000ull;
}

uint64_t conf_counters(const struct conf *c, unsigned int core)
{
	static const uint64_t bar0[8] = { 0x06141100, 0x062c1100, 0x06541100, 0x066c1100,
					  0x46141100, 0x462c1100, 0x46541100, 0x466c1100 };

	if (v3(c))
		return bar0[core];
	return core ? 0x30cb1100 : 0x305b1100;
}

unsigned int conf_h2t(const struct conf *c, unsigned int core, unsigned int *queue)
{
	*queue = v3(c) ? core % 2 : 0;
	return v3(c) ? 128 + core / 2 : 32 + core;
}
