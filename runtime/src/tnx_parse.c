// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file form of an image. Both directions are pure functions of their arguments.
 *
 * The parser trusts nothing: each size and offset is compared with the file's length before use,
 * every byte is covered by a checksum or must be zero, and the finished image must pass
 * trn_tnx_check().
 */
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "tnx.h"

#define SECTIONS_MAX (2u + TRN_ENGINE_MAX + TRN_TNX_RINGS_MAX)

static const char *section_name(uint32_t type)
{
	static const char *const name[] = { "unknown", "tensors", "constants", "code", "ring" };

	return type < sizeof(name) / sizeof(name[0]) ? name[type] : name[0];
}

static bool all_zero(const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i])
			return false;
	}
	return true;
}

static uint32_t header_crc(const struct trn_tnx_header *header, const void *table, size_t bytes)
{
	struct trn_tnx_header copy = *header;

	copy.crc = 0;
	return trn_tnx_crc32c(trn_tnx_crc32c(0, &copy, sizeof(copy)), table, bytes);
}

static enum trn_status parse_header(const uint8_t *data, size_t bytes, struct trn_tnx_header *h)
{
	size_t n = sizeof(TRN_TNX_MAGIC) - 1;
	uint64_t table;
	uint32_t crc;

	if (bytes < n || memcmp(data, TRN_TNX_MAGIC, n))
		return trn_error_set(
			TRN_ERR_BAD_FILE,
			"not a .tnx program: the first %zu bytes are not its signature", n);
	if (bytes < sizeof(*h))
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "truncated: %zu bytes, the header alone has %zu", bytes,
				     sizeof(*h));
	memcpy(h, data, sizeof(*h));
	if (h->version != TRN_TNX_VERSION)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "version at offset 8 is %u; this library reads version %u",
				     h->version, TRN_TNX_VERSION);
	if (h->header_size != sizeof(*h) || h->section_size != sizeof(struct trn_tnx_section))
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "header size at offset 12 is %u and section entry size at "
				     "offset 32 is %u; they must be %zu and %zu",
				     h->header_size, h->section_size, sizeof(*h),
				     sizeof(struct trn_tnx_section));
	if (h->file_size != bytes)
		return trn_error_set(
			TRN_ERR_BAD_FILE,
			"%s: the header says %llu bytes at offset 16, the file has %zu",
			h->file_size > bytes ? "truncated" : "too long",
			(unsigned long long)h->file_size, bytes);
	if (h->sections > SECTIONS_MAX)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "section count at offset 28 is %u, at most %u are possible",
				     h->sections, SECTIONS_MAX);
	table = (uint64_t)h->sections * sizeof(struct trn_tnx_section);
	if (table > bytes - sizeof(*h))
		return trn_error_set(
			TRN_ERR_BAD_FILE,
			"truncated: %u section entries end at %llu, the file has %zu bytes",
			h->sections, (unsigned long long)(sizeof(*h) + table), bytes);
	crc = header_crc(h, data + sizeof(*h), (size_t)table);
	if (crc != h->crc)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "corrupt: checksum of header and section table is %08x, "
				     "offset 36 says %08x",
				     crc, h->crc);
	if (!all_zero(h->reserved, sizeof(h->reserved)))
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "reserved header bytes at offset 104 are not zero");
	return TRN_OK;
}

/* Place and checksum of a section; *@end is where the previous one ended. */
static enum trn_status parse_place(const uint8_t *data, size_t bytes, uint32_t index,
				   const struct trn_tnx_section *s, uint64_t *end)
{
	uint64_t expected = (*end + TRN_TNX_ALIGN - 1) & ~(uint64_t)(TRN_TNX_ALIGN - 1);
	uint32_t crc;

	if (s->offset != expected || s->offset > bytes || s->size > bytes - s->offset ||
	    s->reserved)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "section %u (%s): offset %llu, size %llu; it must start at "
				     "%llu and end by %zu",
				     index, section_name(s->type), (unsigned long long)s->offset,
				     (unsigned long long)s->size, (unsigned long long)expected,
				     bytes);
	if (!all_zero(data + *end, (size_t)(s->offset - *end)))
		return trn_error_set(
			TRN_ERR_BAD_FILE,
			"corrupt: bytes between offset %llu and section %u are not zero",
			(unsigned long long)*end, index);
	crc = trn_tnx_crc32c(0, data + s->offset, (size_t)s->size);
	if (crc != s->crc)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "corrupt: section %u (%s) at offset %llu, %llu bytes: "
				     "checksum is %08x, must be %08x",
				     index, section_name(s->type), (unsigned long long)s->offset,
				     (unsigned long long)s->size, crc, s->crc);
	*end = s->offset + s->size;
	return TRN_OK;
}

/* Copies a section of entries of @entry bytes; *@out is set only on success. */
static enum trn_status copy_entries(const uint8_t *data, const struct trn_tnx_section *s,
				    size_t entry, uint64_t max, void **out, uint32_t *count)
{
	if (!s->size || s->size % entry || s->size / entry > max)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "section %s at offset %llu: %llu bytes are not 1..%llu "
				     "entries of %zu bytes",
				     section_name(s->type), (unsigned long long)s->offset,
				     (unsigned long long)s->size, (unsigned long long)max, entry);
	*out = malloc((size_t)s->size);
	if (!*out)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY,
				     "no memory for %llu bytes of a program",
				     (unsigned long long)s->size);
	memcpy(*out, data + s->offset, (size_t)s->size);
	*count = (uint32_t)(s->size / entry);
	return TRN_OK;
}

static enum trn_status twice(const struct trn_tnx_section *s)
{
	return trn_error_set(TRN_ERR_BAD_FILE,
			     "section %s %u at offset %llu occurs twice or has an impossible index",
			     section_name(s->type), s->index, (unsigned long long)s->offset);
}

static enum trn_status parse_section(const uint8_t *data, const struct trn_tnx_section *s,
				     struct trn_image *image)
{
	struct trn_image_ring *ring;
	uint32_t count = 0;

	switch (s->type) {
	case TRN_TNX_TENSORS:
		if (image->tensors || s->index)
			return twice(s);
		return copy_entries(data, s, sizeof(*image->tensors), TRN_TNX_TENSORS_MAX,
				    (void **)&image->tensors, &image->tensor_count);
	case TRN_TNX_CONSTANTS:
		if (image->constants || s->index)
			return twice(s);
		image->constants_bytes = s->size;
		return copy_entries(data, s, 1, UINT32_MAX, (void **)&image->constants, &count);
	case TRN_TNX_CODE:
		if (s->index >= TRN_ENGINE_MAX || image->code[s->index].insns)
			return twice(s);
		return copy_entries(data, s, sizeof(struct trn_insn), TRN_TNX_INSNS_MAX,
				    (void **)&image->code[s->index].insns,
				    &image->code[s->index].count);
	case TRN_TNX_RING:
		if (s->index >> 16 || image->ring_count == TRN_TNX_RINGS_MAX)
			return twice(s);
		ring = &image->rings[image->ring_count];
		ring->engine = s->index & 0xff;
		ring->queue = s->index >> 8;
		image->ring_count++;
		return copy_entries(data, s, sizeof(struct trn_tnx_xfer), TRN_TNX_XFERS_MAX,
				    (void **)&ring->xfers, &ring->count);
	}
	return trn_error_set(TRN_ERR_BAD_FILE,
			     "section at offset %llu has type %u, which is unknown",
			     (unsigned long long)s->offset, s->type);
}

enum trn_status trn_tnx_parse(const void *data, size_t bytes, struct trn_image **image)
{
	const uint8_t *p = data;
	struct trn_tnx_header h;
	struct trn_image *made;
	enum trn_status status = parse_header(p, bytes, &h);
	uint64_t end;
	uint32_t i;

	*image = NULL;
	if (status)
		return status;
	made = calloc(1, sizeof(*made));
	if (made)
		made->rings = calloc(TRN_TNX_RINGS_MAX, sizeof(*made->rings));
	if (!made || !made->rings) {
		trn_image_free(made);
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no memory for a program");
	}
	memcpy(made->name, h.name, sizeof(made->name));
	made->generation = h.generation;
	end = sizeof(h) + (uint64_t)h.sections * sizeof(struct trn_tnx_section);
	for (i = 0; !status && i < h.sections; i++) {
		struct trn_tnx_section s;

		memcpy(&s, p + sizeof(h) + i * sizeof(s), sizeof(s));
		status = parse_place(p, bytes, i, &s, &end);
		if (!status)
			status = parse_section(p, &s, made);
	}
	if (!status && end != bytes)
		status = trn_error_set(
			TRN_ERR_BAD_FILE,
			"too long: the last section ends at %llu, the file has %zu bytes",
			(unsigned long long)end, bytes);
	if (!status)
		status = trn_tnx_check(made);
	if (status) {
		trn_image_free(made);
		return status;
	}
	*image = made;
	return TRN_OK;
}

/** struct writer - first pass counts (data NULL), second pass writes. */
struct writer {
	uint8_t *data;
	struct trn_tnx_section *table;
	uint32_t sections;
	uint64_t end;
};

static void put_section(struct writer *w, uint32_t type, uint32_t index, const void *content,
			uint64_t size)
{
	struct trn_tnx_section s = { .type = type, .index = index, .size = size };

	if (!size)
		return;
	s.offset = (w->end + TRN_TNX_ALIGN - 1) & ~(uint64_t)(TRN_TNX_ALIGN - 1);
	w->end = s.offset + size;
	if (w->data) {
		memcpy(w->data + s.offset, content, (size_t)size);
		s.crc = trn_tnx_crc32c(0, content, (size_t)size);
		memcpy(&w->table[w->sections], &s, sizeof(s));
	}
	w->sections++;
}

static void put_all(struct writer *w, const struct trn_image *image)
{
	uint32_t i;

	put_section(w, TRN_TNX_TENSORS, 0, image->tensors,
		    (uint64_t)image->tensor_count * sizeof(*image->tensors));
	put_section(w, TRN_TNX_CONSTANTS, 0, image->constants, image->constants_bytes);
	for (i = 0; i < TRN_ENGINE_MAX; i++)
		put_section(w, TRN_TNX_CODE, i, image->code[i].insns,
			    (uint64_t)image->code[i].count * sizeof(struct trn_insn));
	for (i = 0; i < image->ring_count; i++)
		put_section(w, TRN_TNX_RING, image->rings[i].engine | image->rings[i].queue << 8,
			    image->rings[i].xfers,
			    (uint64_t)image->rings[i].count * sizeof(struct trn_tnx_xfer));
}

enum trn_status trn_tnx_serialize(const struct trn_image *image, void **data, size_t *bytes)
{
	struct trn_tnx_header h = { .version = TRN_TNX_VERSION, .header_size = sizeof(h) };
	struct writer w = { NULL, NULL, 0, 0 };
	uint64_t start;

	*data = NULL;
	put_all(&w, image);
	start = sizeof(h) + (uint64_t)w.sections * sizeof(struct trn_tnx_section);
	w.sections = 0;
	w.end = start;
	put_all(&w, image);
	w.data = calloc(1, (size_t)w.end);
	if (!w.data)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no memory for a file of %llu bytes",
				     (unsigned long long)w.end);
	w.table = (struct trn_tnx_section *)(void *)(w.data + sizeof(h));
	w.sections = 0;
	w.end = start;
	put_all(&w, image);
	memcpy(h.magic, TRN_TNX_MAGIC, sizeof(h.magic));
	h.file_size = w.end;
	h.generation = image->generation;
	h.sections = w.sections;
	h.section_size = sizeof(struct trn_tnx_section);
	memcpy(h.name, image->name, sizeof(h.name));
	h.crc = header_crc(&h, w.table, w.sections * sizeof(struct trn_tnx_section));
	memcpy(w.data, &h, sizeof(h));
	*data = w.data;
	*bytes = (size_t)w.end;
	return TRN_OK;
}
