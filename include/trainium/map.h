/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address map: BAR0 offsets, device addresses, counts. v2 = Trn1 and Inf2. Per-generation tables of
 * the hardware layer and of the model are both built from these.
 */
#ifndef TRAINIUM_MAP_H
#define TRAINIUM_MAP_H

#define TRN_MAX_DEVICES			64
#define TRN_MAX_CORES			8
#define TRN_ENGINES_PER_CORE		16	/* DMA engines owned by a core */
/* first 16 MiB of every stack belong to the firmware */
#define TRN_HBM_FW_RESERVED		0x1000000ull

/* v2. */
#define TRN_V2_CORES			2
#define TRN_V2_STACKS			2
#define TRN_V2_TOP_SPS			6
#define TRN_V2_ENGINES			34
#define TRN_V2_BAR0_SIZE		0x40000000ull
#define TRN_V2_BAR4_SIZE		0x800000000ull
/* device address of BAR0 offset 0; linear to the host window */
#define TRN_V2_DEV_BASE			0x0fffc0000000ull
#define TRN_V2_HOST_BASE		0x100000000000ull	/* bit 44 */
#define TRN_V2_HOST_MASK		0x1f00000000000ull	/* bits 48:44 */
#define TRN_V2_HOST_SIZE		0x100000000000ull
#define TRN_V2_HBM_SIZE			0x400000000ull		/* per stack */
#define TRN_V2_HBM_BASE(h)		((h) * 0x1000000000ull)
#define TRN_V2_HBM_BAR4(h)		((h) * 0x400000000ull)
#define TRN_V2_TPB(n)			((n) * 0x4000000u)	/* BAR0 */
#define TRN_V2_TPB_SIZE			0x4000000u
#define TRN_V2_TOP_SP(t)		(0x10000000u + (t) * 0x400000u)
#define TRN_V2_TOP_SP_SIZE		0x400000u
#define TRN_V2_APB			0x30000000u
#define TRN_V2_SENG(s)			(TRN_V2_APB + (s) * 0x700000u)
#define TRN_V2_UDMA(s, e)		(TRN_V2_SENG(s) + (e) * 0x40000u)
#define TRN_V2_SDMA(s, e)		(TRN_V2_SENG(s) + 0x400000u + (e) * 0x7000u)
#define TRN_V2_SDMA_SIZE		0x7000u
#define TRN_V2_NC_NOTIFIC(s)		(TRN_V2_SENG(s) + 0x535000u)
#define TRN_V2_PE_COUNTERS(s)		(TRN_V2_SENG(s) + 0x5b1100u)
/* engines 32, 33 */
#define TRN_V2_H2T_UDMA(k)		(TRN_V2_APB + 0x600000u + (k) * 0x700000u)
#define TRN_V2_H2T_SDMA(k)		(TRN_V2_APB + 0x640000u + (k) * 0x700000u)
#define TRN_V2_TOP_SP_NOTIFIC(t)	(TRN_V2_APB + 0xe04000u + (t) * 0x40000u)
#define TRN_V2_MISC			(TRN_V2_APB + 0xfa0000u)
#define TRN_V2_H2T_ENGINE(n)		(32 + (n))

#endif /* TRAINIUM_MAP_H */
