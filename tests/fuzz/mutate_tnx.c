// SPDX-License-Identifier: BSD-2-Clause
/*
 * Mutations of .tnx files. After a change the header, the section table and the checksums are made
 * right again, or no input would get past them; one in eight is left as it is.
 */
#include <string.h>
#include "fuzz.h"
#include "mutate.h"
#include "tnx.h"

#define SECTIONS_MAX 12u
#define FILE_MAX     0x8000u

static const uint32_t entry_size[] = { 0, sizeof(struct trn_tnx_tensor), 1, sizeof(struct trn_insn),
				       sizeof(struct trn_tnx_xfer) };

static size_t align(size_t n)
{
	return (n + TRN_TNX_ALIGN - 1) / TRN_TNX_ALIGN * TRN_TNX_ALIGN;
}

/* Sections in order, none behind the end, checksums right. Return: size of the file. */
static size_t repair(uint8_t *data, size_t size)
{
	struct trn_tnx_header h;
	struct trn_tnx_section s;
	size_t end, table;
	uint32_t i;

	if (size < sizeof(h))
		return size;
	memcpy(&h, data, sizeof(h));
	memcpy(h.magic, TRN_TNX_MAGIC, sizeof(h.magic));
	h.version = TRN_TNX_VERSION;
	h.header_size = sizeof(h);
	h.section_size = sizeof(s);
	memset(h.reserved, 0, sizeof(h.reserved));
	if (h.sections > (size - sizeof(h)) / sizeof(s))
		h.sections = (uint32_t)((size - sizeof(h)) / sizeof(s));
	table = h.sections * sizeof(s);
	end = sizeof(h) + table;
	for (i = 0; i < h.sections; i++) {
		uint8_t *entry = data + sizeof(h) + i * sizeof(s);

		memcpy(&s, entry, sizeof(s));
		s.reserved = 0;
		if (align(end) > size) {
			h.sections = i;
			break;
		}
		memset(data + end, 0, align(end) - end);
		s.offset = align(end);
		if (s.size > size - s.offset)
			s.size = size - s.offset;
		if (s.type < sizeof(entry_size) / sizeof(entry_size[0]) && s.type &&
		    s.size >= entry_size[s.type])
			s.size -= s.size % entry_size[s.type];
		s.crc = trn_tnx_crc32c(0, data + s.offset, (size_t)s.size);
		end = (size_t)(s.offset + s.size);
		memcpy(entry, &s, sizeof(s));
	}
	h.file_size = end;
	h.crc = 0;
	h.crc = trn_tnx_crc32c(trn_tnx_crc32c(0, &h, sizeof(h)), data + sizeof(h),
			       h.sections * sizeof(s));
	memcpy(data, &h, sizeof(h));
	return end;
}

static const uint64_t numbers[] = { 0,		1,	    2,	     3,		 4,
				    64,		128,	    160,     255,	 256,
				    4095,	4096,	    65535,   65536,	 65537,
				    1 << 18,	1 << 20,    1 << 24, 0x7fffffff, 0xffffffff,
				    1ull << 48, 1ull << 63, ~0ull };

/* An interesting number in a field of 1, 2, 4 or 8 bytes. */
static void field(struct mutate *m, uint8_t *data, size_t size)
{
	uint64_t value = numbers[mutate_next(m) % (sizeof(numbers) / sizeof(numbers[0]))];
	size_t width = (size_t)1 << mutate_next(m) % 4;
	size_t at = mutate_next(m) % size / width * width;

	if (at + width <= size)
		memcpy(data + at, &value, width);
}

/* A file with a section of each kind, to begin with. */
static size_t fresh(struct mutate *m, uint8_t *data, size_t max)
{
	struct trn_tnx_header h = { .generation = 2 + mutate_next(m) % 2, .name = "fuzz" };
	struct trn_tnx_section s = { 0 };
	size_t at = sizeof(h), end;
	uint32_t i;

	h.sections = 1 + mutate_next(m) % SECTIONS_MAX;
	end = sizeof(h) + h.sections * sizeof(s) + h.sections * 512;
	if (end > max)
		return LLVMFuzzerMutate(data, 0, max);
	memset(data, 0, end);
	memcpy(data, &h, sizeof(h));
	for (i = 0; i < h.sections; i++, at += sizeof(s)) {
		s.type = i < 4 ? i + 1 : 3 + mutate_next(m) % 2;
		s.index = s.type == TRN_TNX_CODE ? mutate_next(m) % 8
			  : s.type == TRN_TNX_RING
				  ? mutate_next(m) % 16 | (mutate_next(m) % 14) << 8
				  : 0;
		s.size = entry_size[s.type] * (1 + mutate_next(m) % 2);
		memcpy(data + at, &s, sizeof(s));
	}
	return end;
}

/* Fills in what the rules ask of tensors and transfers, so that files are accepted. */
static void content(struct mutate *m, uint8_t *data)
{
	struct trn_tnx_header h;
	struct trn_tnx_section s;
	uint32_t i, k;

	memcpy(&h, data, sizeof(h));
	for (i = 0; i < h.sections; i++) {
		memcpy(&s, data + sizeof(h) + i * sizeof(s), sizeof(s));
		for (k = 0; s.type == TRN_TNX_TENSORS && k < s.size / sizeof(struct trn_tnx_tensor);
		     k++) {
			struct trn_tnx_tensor t = { .name = { 't', (char)('a' + k % 26) },
						    .dtype = TRN_DTYPE_FP32,
						    .kind = mutate_next(m) % 5,
						    .rank = 1,
						    .shape = { 1 + mutate_next(m) % 64 } };

			t.bytes = 4 * t.shape[0];
			memcpy(data + s.offset + k * sizeof(t), &t, sizeof(t));
		}
		for (k = 0; s.type == TRN_TNX_RING && k < s.size / sizeof(struct trn_tnx_xfer);
		     k++) {
			struct trn_tnx_xfer x = { .dst_kind = (uint8_t)(mutate_next(m) % 3),
						  .flags = mutate_next(m) & 1,
						  .length = 4,
						  .dst_offset = mutate_next(m) % 256 };

			if (x.dst_kind != TRN_TNX_REF_SEM_INC)
				x.src_offset = mutate_next(m) % 256;
			memcpy(data + s.offset + k * sizeof(x), &x, sizeof(x));
		}
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct mutate m = { .state = seed };
	uint32_t what = mutate_next(&m) % 8;

	if (max_size > FILE_MAX)
		max_size = FILE_MAX;
	if (size > max_size)
		size = max_size;
	if (size < sizeof(struct trn_tnx_header) || !(mutate_next(&m) % 64)) {
		size = repair(data, fresh(&m, data, max_size));
		if (size >= sizeof(struct trn_tnx_header) && what)
			content(&m, data);
	} else if (what < 3) {
		size = LLVMFuzzerMutate(data, size, max_size);
	} else {
		field(&m, data, size);
		if (what == 3)
			field(&m, data, size < 512 ? size : 512);
	}
	return mutate_next(&m) % 8 ? repair(data, size) : size;
}
