// SPDX-License-Identifier: BSD-2-Clause
/*
 * The hardware layer's checks of rings and transfers against tables of ranges, compared with a
 * slow reading of the same rules; tables may break their rules, then nothing more is allowed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "kernel/hw/trnhw.h"

#define RANGES_MAX 12
#define DESCS_MAX  24
#define LL(x)	   ((unsigned long long)(x)) /* for printf */

/** struct table - ranges of an input; @valid: sorted and without overlap. */
struct table {
	struct trnhw_range *range; /* exactly @count, on the heap */
	unsigned int count;
	bool valid;
};

static u64 address(struct fuzz_input *in)
{
	uint8_t kind = fuzz_u8(in);

	if (kind < 0xc0)
		return (u64)(kind & 0x3f) << 12;
	if (kind < 0xe0)
		return fuzz_u32(in);
	if (kind < 0xf0)
		return ~0ull - fuzz_u16(in);
	return fuzz_u64(in);
}

static u64 bytes(struct fuzz_input *in)
{
	uint8_t kind = fuzz_u8(in);

	if (kind < 0xc0)
		return (u64)(kind & 15) << 12;
	return kind < 0xf0 ? fuzz_u32(in) : fuzz_u64(in);
}

static void table_fill(struct fuzz_input *in, struct table *t)
{
	u64 end = 0;
	unsigned int i;

	t->count = fuzz_u8(in) % (RANGES_MAX + 1);
	t->range = malloc((t->count ? t->count : 1) * sizeof(*t->range));
	FUZZ_CHECK(t->range, "no memory");
	t->valid = true;
	for (i = 0; i < t->count; i++) {
		struct trnhw_range *r = &t->range[i];

		r->base = address(in);
		r->size = bytes(in);
		r->access = fuzz_u8(in) & 7;
		if (!r->size || r->size - 1 > ~r->base || (i && r->base < end) || (i && !end))
			t->valid = false;
		end = r->base + r->size; /* 0: up to the last byte */
	}
}

/* Byte @addr of the range that holds it; 0 bytes when none allows @access there. */
static u64 allowed_from(const struct table *t, u64 addr, u32 access)
{
	u64 best = 0;
	unsigned int i;

	for (i = 0; i < t->count; i++) {
		const struct trnhw_range *r = &t->range[i];

		if (addr >= r->base && addr - r->base < r->size && (r->access & access) == access &&
		    r->size - (addr - r->base) > best)
			best = r->size - (addr - r->base);
	}
	return best;
}

static bool span_allowed(const struct table *t, u64 addr, u64 len, u32 access)
{
	if (len - 1 > ~addr)
		return false;
	while (len) {
		u64 step = allowed_from(t, addr, access);

		if (!step)
			return false;
		if (step >= len)
			return true;
		addr += step;
		len -= step;
	}
	return true;
}

static bool xfer_allowed(const struct table *t, const struct trnhw_xfer *x)
{
	return x->len && x->len <= TRN_DESC_MAX_BYTES &&
	       !(x->flags & ~(TRNHW_XFER_BARRIER | TRNHW_XFER_INTERRUPT)) &&
	       span_allowed(t, x->src, x->len, TRN_ACCESS_READ) &&
	       span_allowed(t, x->dst, x->len, TRN_ACCESS_WRITE);
}

static struct trnhw_xfer xfer(struct fuzz_input *in)
{
	struct trnhw_xfer x = { .src = address(in), .dst = address(in), .len = fuzz_u16(in) };
	uint8_t flags = fuzz_u8(in);

	x.flags = flags & 3;
	if (flags & 0x80)
		x.len = TRN_DESC_MAX_BYTES;
	if (flags & 0x40)
		x.len = fuzz_u32(in);
	if (flags & 0x20)
		x.flags = fuzz_u32(in);
	x.src += fuzz_u8(in);
	return x;
}

static bool check_xfer(const struct table *t, const struct trnhw_xfer *x)
{
	u64 bad = 0x1234;
	int ret = trnhw_xfer_check(x, t->range, t->count, &bad);
	bool allowed = xfer_allowed(t, x);

	FUZZ_CHECK(!ret || ret == -EINVAL || ret == -EACCES, "check returns %d", ret);
	FUZZ_CHECK(ret || allowed, "allowed: %u bytes from %llx to %llx, flags %x", x->len,
		   LL(x->src), LL(x->dst), x->flags);
	FUZZ_CHECK(!t->valid || !ret == allowed,
		   "refused with %d at %llx: %u bytes from %llx to %llx, flags %x", ret, LL(bad),
		   x->len, LL(x->src), LL(x->dst), x->flags);
	if (ret == -EACCES)
		FUZZ_CHECK(bad - x->src < x->len || bad - x->dst < x->len,
			   "refused at %llx, which is outside of the transfer", LL(bad));
	FUZZ_CHECK(trnhw_xfer_check(x, t->range, t->count, NULL) == ret, "not the same twice");
	return !ret;
}

/* Reads a descriptor pair as the device does; false when the device would refuse it. */
static bool pair_read(const struct trn_desc *m2s, const struct trn_desc *s2m, struct trnhw_xfer *x)
{
	u32 len = m2s->ctrl & TRN_DESC_LEN_MASK;

	if ((m2s->ctrl & TRN_DESC_M2S_RESERVED) || (s2m->ctrl & TRN_DESC_S2M_RESERVED) ||
	    s2m->meta || (m2s->meta & ~TRN_META_WRITE_BARRIER) != TRN_META_PLAIN)
		return false;
	if (len != (s2m->ctrl & TRN_DESC_LEN_MASK) || !(m2s->ctrl & TRN_DESC_FIRST) ||
	    !(m2s->ctrl & TRN_DESC_LAST))
		return false;
	x->src = m2s->addr;
	x->dst = s2m->addr;
	x->len = len ? len : TRN_DESC_MAX_BYTES;
	x->flags = 0;
	return true;
}

static void check_ring(const struct table *t, struct fuzz_input *in)
{
	u32 count = fuzz_u8(in) % (DESCS_MAX + 1), bad_index = ~0u, i;
	struct trn_desc *m2s = malloc((count ? count : 1) * sizeof(*m2s));
	struct trn_desc *s2m = malloc((count ? count : 1) * sizeof(*s2m));
	u64 bad = 0;
	int ret;

	FUZZ_CHECK(m2s && s2m, "no memory");
	for (i = 0; i < count; i++) {
		struct trnhw_xfer x = xfer(in);
		uint8_t twist = fuzz_u8(in);

		trnhw_desc_encode(&x, twist, &m2s[i], &s2m[i]);
		if (twist >= 0xf0)
			((u8 *)(twist & 1 ? &m2s[i] : &s2m[i]))[fuzz_u8(in) % 16] ^= fuzz_u8(in);
	}
	ret = trnhw_ring_check(m2s, s2m, count, t->range, t->count, &bad_index, &bad);
	FUZZ_CHECK(!ret || bad_index < count, "refused at %u of %u", bad_index, count);
	for (i = 0; i < (ret ? bad_index : count); i++) {
		struct trnhw_xfer x;

		FUZZ_CHECK(pair_read(&m2s[i], &s2m[i], &x),
			   "accepted, and the device refuses {%08x %08x} {%08x %08x}", m2s[i].ctrl,
			   m2s[i].meta, s2m[i].ctrl, s2m[i].meta);
		FUZZ_CHECK(xfer_allowed(t, &x), "accepted: %u bytes from %llx to %llx", x.len,
			   LL(x.src), LL(x.dst));
	}
	FUZZ_CHECK(trnhw_ring_check(m2s, s2m, count, t->range, t->count, NULL, NULL) == ret,
		   "not the same twice");
	free(m2s);
	free(s2m);
}

/* A ring made of transfers that are allowed is itself allowed, padding included. */
static void check_fill(const struct table *t, struct fuzz_input *in)
{
	struct trnhw_xfer xfers[DESCS_MAX];
	u32 count = 0, wanted = fuzz_u8(in) % (DESCS_MAX + 1), ring, i;
	u64 pad = address(in);
	struct trn_desc *m2s, *s2m;

	for (i = 0; i < wanted; i++) {
		xfers[count] = xfer(in);
		count += check_xfer(t, &xfers[count]);
	}
	ring = trnhw_ring_count(count);
	FUZZ_CHECK(!ring == !count, "%u descriptors for %u transfers", ring, count);
	if (!ring)
		return;
	FUZZ_CHECK(ring > count && ring >= TRN_RING_MIN && !(ring % TRN_RING_MULTIPLE),
		   "%u descriptors for %u transfers", ring, count);
	m2s = malloc(ring * sizeof(*m2s));
	s2m = malloc(ring * sizeof(*s2m));
	FUZZ_CHECK(m2s && s2m, "no memory");
	trnhw_ring_fill(xfers, count, pad, m2s, s2m, ring);
	FUZZ_CHECK(!trnhw_ring_check(m2s, s2m, count, t->range, t->count, NULL, NULL),
		   "a ring of allowed transfers is refused");
	for (i = count; i < ring; i++)
		FUZZ_CHECK(m2s[i].addr == pad && s2m[i].addr == pad + 4 &&
				   (m2s[i].ctrl & TRN_DESC_LEN_MASK) == 4,
			   "padding goes elsewhere");
	free(m2s);
	free(s2m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct table t;

	table_fill(&in, &t);
	do {
		struct trnhw_xfer x = xfer(&in);

		check_xfer(&t, &x);
		check_ring(&t, &in);
		check_fill(&t, &in);
	} while (in.left);
	free(t.range);
	return 0;
}
