// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Encoding of one transfer as a pair of descriptors.
 */
#include "internal.h"

void trnhw_desc_encode(const struct trnhw_xfer *xfer, unsigned int ring_id, struct trn_desc *m2s,
		       struct trn_desc *s2m)
{
	u32 word = xfer->len & TRN_DESC_LEN_MASK;	/* 64 KiB is encoded as 0 */
	u32 source;

	word |= (ring_id << TRN_DESC_RING_ID_SHIFT) & TRN_DESC_RING_ID_MASK;
	source = word | TRN_DESC_FIRST | TRN_DESC_LAST;
	if (xfer->flags & TRNHW_XFER_INTERRUPT)
		source |= TRN_DESC_INT;
	m2s->ctrl = trnhw_to_wire32(source);
	m2s->meta = trnhw_to_wire32(xfer->flags & TRNHW_XFER_BARRIER ? TRN_META_BARRIER :
								      TRN_META_PLAIN);
	m2s->addr = trnhw_to_wire64(xfer->src);
	s2m->ctrl = trnhw_to_wire32(word);
	s2m->meta = 0;
	s2m->addr = trnhw_to_wire64(xfer->dst);
}
