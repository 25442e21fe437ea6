// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What a transfer may touch. This is the memory protection between users of one device: everything
 * is refused unless a range of the table allows it.
 */
#include "internal.h"

/* Index of the last range that starts at or below @addr, @count when there is none. */
static unsigned int range_find(const struct trnhw_range *ranges, unsigned int count, u64 addr)
{
	unsigned int low = 0, high = count;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (ranges[mid].base <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? low - 1 : count;
}

/* 0, or -EACCES with the first byte that is not covered in *@bad. @len is not 0. */
static int span_check(const struct trnhw_range *ranges, unsigned int count, u64 addr, u64 len,
		      u32 access, u64 *bad)
{
	unsigned int i = range_find(ranges, count, addr);

	*bad = addr;
	if (len - 1 > ~addr)		/* would wrap around the end of the address space */
		return -EACCES;
	for (; i < count; i++) {
		const struct trnhw_range *r = &ranges[i];
		u64 rest;

		if (addr < r->base || addr - r->base >= r->size || (r->access & access) != access)
			break;
		rest = r->size - (addr - r->base);
		if (len <= rest)
			return 0;
		addr += rest;
		len -= rest;
		*bad = addr;
	}
	return -EACCES;
}

int trnhw_xfer_check(const struct trnhw_xfer *xfer, const struct trnhw_range *ranges,
		     unsigned int count, u64 *bad_address)
{
	u64 bad = 0;
	int ret = -EINVAL;

	if (xfer->len && xfer->len <= TRN_DESC_MAX_BYTES &&
	    !(xfer->flags & ~(TRNHW_XFER_BARRIER | TRNHW_XFER_INTERRUPT))) {
		ret = span_check(ranges, count, xfer->src, xfer->len, TRN_ACCESS_READ, &bad);
		if (!ret)
			ret = span_check(ranges, count, xfer->dst, xfer->len, TRN_ACCESS_WRITE,
					 &bad);
	}
	if (ret == -EACCES && bad_address)
		*bad_address = bad;
	return ret;
}

/* Decodes a pair if trnhw_desc_encode() can have made it. */
static int pair_decode(const struct trn_desc *m2s, const struct trn_desc *s2m,
		       struct trnhw_xfer *xfer)
{
	u32 source = trnhw_from_wire32(READ_ONCE(m2s->ctrl));
	u32 meta = trnhw_from_wire32(READ_ONCE(m2s->meta));
	u32 dest = trnhw_from_wire32(READ_ONCE(s2m->ctrl));
	const u32 both = TRN_DESC_FIRST | TRN_DESC_LAST;
	const u32 common = TRN_DESC_LEN_MASK | TRN_DESC_RING_ID_MASK;

	if ((source & ~common & ~TRN_DESC_INT) != both || dest != (source & common))
		return -EINVAL;
	if ((meta != TRN_META_PLAIN && meta != TRN_META_BARRIER) || READ_ONCE(s2m->meta))
		return -EINVAL;
	xfer->src = trnhw_from_wire64(READ_ONCE(m2s->addr));
	xfer->dst = trnhw_from_wire64(READ_ONCE(s2m->addr));
	xfer->len = source & TRN_DESC_LEN_MASK;
	if (!xfer->len)
		xfer->len = TRN_DESC_MAX_BYTES;
	xfer->flags = meta == TRN_META_BARRIER ? TRNHW_XFER_BARRIER : 0;
	if (source & TRN_DESC_INT)
		xfer->flags |= TRNHW_XFER_INTERRUPT;
	return 0;
}

int trnhw_ring_check(const struct trn_desc *m2s, const struct trn_desc *s2m, u32 count,
		     const struct trnhw_range *ranges, unsigned int range_count, u32 *bad_index,
		     u64 *bad_address)
{
	struct trnhw_xfer xfer;
	int ret = 0;
	u32 i;

	for (i = 0; i < count && !ret; i++) {
		ret = pair_decode(&m2s[i], &s2m[i], &xfer);
		if (!ret)
			ret = trnhw_xfer_check(&xfer, ranges, range_count, bad_address);
		if (ret && bad_index)
			*bad_index = i;
	}
	return ret;
}
