/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * UDMA descriptors: 16 bytes, little-endian. M2S describes a source buffer, S2M a destination
 * buffer.
 */
#ifndef TRAINIUM_DESC_H
#define TRAINIUM_DESC_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define TRN_DESC_SIZE			16
#define TRN_DESC_MAX_BYTES		65536u		/* length field 0 */

/* Word 0 (both kinds unless noted). */
#define TRN_DESC_LEN_MASK		0x0000ffffu
#define TRN_DESC_RING_ID_SHIFT		24
#define TRN_DESC_RING_ID_MASK		0x03000000u
#define TRN_DESC_FIRST			(1u << 26)	/* M2S */
#define TRN_DESC_LAST			(1u << 27)	/* M2S */
/* M2S: interrupt on completion; a vector exists only with the open extension */
#define TRN_DESC_INT			(1u << 28)
/* M2S: all earlier data is written before this descriptor proceeds */
#define TRN_DESC_DMB			(1u << 30)
#define TRN_DESC_M2S_RESERVED		0xa0ff0000u
#define TRN_DESC_S2M_RESERVED		0xecff0000u

/* Word 1 of M2S: meta control. */
#define TRN_META_LAST_BLOCK		(1u << 0)
#define TRN_META_FIRST_BLOCK		(1u << 1)
#define TRN_META_COPY			(1u << 19)
#define TRN_META_OP_SHIFT		23
#define TRN_META_OP_MASK		0x03800000u
#define TRN_META_OP_COPY		2u
#define TRN_META_WRITE_BARRIER		(1u << 26)
#define TRN_META_PLAIN			0x01080003u
#define TRN_META_BARRIER		0x05080003u

#define TRN_RING_MIN			32u
#define TRN_RING_MAX			0xfffff0u
#define TRN_RING_MULTIPLE		16u
#define TRN_RING_ALIGN			256u
#define TRN_RING_FIRST_ID		1u
/* programmed limit, M2S descriptors per packet */
#define TRN_PACKET_MAX_DESCS		65u

/** struct trn_desc - one descriptor. */
struct trn_desc {
	uint32_t ctrl;
	uint32_t meta;			/* S2M: second-buffer pointer, 0 */
	uint64_t addr;
};

#endif /* TRAINIUM_DESC_H */
