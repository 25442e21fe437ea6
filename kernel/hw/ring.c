// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Rings that are written once and run many times.
 */
#include "internal.h"

#define TRNHW_PAD_BYTES		4u

/*
 * The spare keeps a full run from moving the tail onto the head, where "all done" and "all to do"
 * would look the same.
 */
u32 trnhw_ring_count(u32 count)
{
	u32 padded;

	if (!count || count >= TRN_RING_MAX)
		return 0;
	padded = (count + TRN_RING_MULTIPLE) / TRN_RING_MULTIPLE * TRN_RING_MULTIPLE;
	return padded < TRN_RING_MIN ? TRN_RING_MIN : padded;
}

void trnhw_ring_fill(const struct trnhw_xfer *xfers, u32 count, u64 pad, struct trn_desc *m2s,
		     struct trn_desc *s2m, u32 ring_count)
{
	const struct trnhw_xfer padding = {
		.src = pad,
		.dst = pad + TRNHW_PAD_BYTES,
		.len = TRNHW_PAD_BYTES,
	};
	u32 i;

	for (i = 0; i < ring_count; i++)
		trnhw_desc_encode(i < count ? &xfers[i] : &padding, TRN_RING_FIRST_ID, &m2s[i],
				  &s2m[i]);
}
