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

/* v3. BAR0 is piecewise: each window is linear inside, the windows lie apart in device space. */
#define TRN_V3_CORES			8
#define TRN_V3_DIES			2
#define TRN_V3_SENGS			4		/* two cores, 32 DMA engines each */
#define TRN_V3_STACKS			4
#define TRN_V3_TOP_SPS			16		/* those a driver numbers */
#define TRN_V3_HW_TOP_SPS		20		/* those the address map has */
#define TRN_V3_ENGINES			132
#define TRN_V3_ENGINES_PER_SENG		32
#define TRN_V3_H2T_ENGINES		4
#define TRN_V3_BAR0_SIZE		0x100000000ull
#define TRN_V3_BAR4_SIZE		0x4000000000ull
#define TRN_V3_HOST_BASE		0x400000000000ull	/* bit 46 */
#define TRN_V3_HOST_MASK		0x400000000000ull
#define TRN_V3_HOST_SIZE		0x400000000000ull
/* neighbour routes B0_0 to B0_3: bit 52, link number in bits 51:50 */
#define TRN_V3_LINKS			4
#define TRN_V3_LINK_BASE(l)		(0x10000000000000ull + (l) * 0x4000000000000ull)
#define TRN_V3_LINK_MASK		0x1c000000000000ull	/* bits 52:50 */
/* die 1 is bit 47 of the device address */
#define TRN_V3_DIE_DEV(d)		((d) * 0x800000000000ull)
#define TRN_V3_HBM_SIZE			0x600000000ull	/* per stack: 24 GiB of a 64 GiB slot */
#define TRN_V3_HBM_BASE(h)		(TRN_V3_DIE_DEV((h) / 2) + (h) % 2 * 0x4000000000ull)
#define TRN_V3_HBM_BAR4(h)		((h) * 0x1000000000ull)
#define TRN_V3_PREPROC_SIZE		0x34c0000u
#define TRN_V3_PREPROC_DEV(s)		(TRN_V3_HBM_BASE(s) + 0x1200000000ull)
/* SENG engine space */
#define TRN_V3_SE(s)			(0x80000000u + (s) * 0x10000000u)
#define TRN_V3_SE_DEV(s)		(TRN_V3_HBM_BASE(s) + 0x1000000000ull)
#define TRN_V3_SE_SIZE			0x10000000u
#define TRN_V3_UDMA(s, e)		\
	(TRN_V3_SE(s) + 0x2000000u + (s) % 2 * 0x2000000u + (e) * 0x100000u)
#define TRN_V3_SDMA(s, e)		(TRN_V3_UDMA(s, e) + 0x40000u)
#define TRN_V3_SDMA_SIZE		0x7000u
/* fabric interrupts and errors of an engine */
#define TRN_V3_FIS(s, e)		\
	(TRN_V3_SE(s) + 0xc000000u + (s) % 2 * 0x400000u + (e) * 0x20000u)
#define TRN_V3_FIS_SIZE			0x1000u
/* cores */
#define TRN_V3_TPB(n)			(0xd0000000u + (n) * 0x4000000u)
#define TRN_V3_TPB_SIZE			0x4000000u
#define TRN_V3_TPB_DEV(n)		\
	(TRN_V3_HBM_BASE((n) / 2) + 0x2000000000ull + (n) % 2 * 0x1000000000ull)
/* per-die register space */
#define TRN_V3_APB(d)			((d) * 0x40000000u)
#define TRN_V3_APB_DEV(d)		(TRN_V3_DIE_DEV(d) + 0x8000000000ull)
#define TRN_V3_APB_SIZE			0x20000000u
#define TRN_V3_NC_BLOCK(n)		\
	(TRN_V3_APB((n) / 4) + 0x6000000u + (n) % 4 / 2 * 0x400000u + (n) % 2 * 0x180000u)
#define TRN_V3_NC_NOTIFIC(n)		(TRN_V3_NC_BLOCK(n) + 0x1000u)
#define TRN_V3_PE_COUNTERS(n)		(TRN_V3_NC_BLOCK(n) + 0x141100u)
/* engines 128 to 131 */
#define TRN_V3_H2T_UDMA(k)		(TRN_V3_APB((k) / 2) + 0x6800000u + (k) % 2 * 0x100000u)
#define TRN_V3_H2T_SDMA(k)		(TRN_V3_H2T_UDMA(k) + 0x40000u)
#define TRN_V3_H2T_ENGINE(n)		(128 + (n) / 2)
#define TRN_V3_H2T_QUEUE(n)		((n) % 2)
#define TRN_V3_MISC			(TRN_V3_APB(0) + 0x6c84000u)
/*
 * TOP_SPs. The window takes the number of the hardware, k; a driver numbers 0 to 7 of die 0 and
 * 8 to 15 of die 1, which are 0 to 7 and 10 to 17 of the hardware.
 */
#define TRN_V3_TOP_SP_HW(t)		((t) + (t) / 8 * 2)
#define TRN_V3_TOP_SP(k)		(0xf0000000u + (k) * 0x400000u)
#define TRN_V3_TOP_SP_SIZE		0x400000u
#define TRN_V3_TOP_SP_DEV(k)		\
	(TRN_V3_DIE_DEV((k) / 10) + 0x8280000000ull + (k) % 10 * 0x40000000ull)
#define TRN_V3_TOP_SP_NOTIFIC(t)	(TRN_V3_APB((t) / 8) + 0x6a00000u + (t) % 8 * 0x40000u)

#endif /* TRAINIUM_MAP_H */
