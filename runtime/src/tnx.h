/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The .tnx container: image in memory, and its file form (Documentation/program-container.md).
 *
 * An image is immutable once made. All functions are pure but the two that touch files.
 */
#ifndef TRN_TNX_H
#define TRN_TNX_H

#include <stddef.h>
#include <stdint.h>
#include "trainium/isa.h"
#include "trn/trn.h"

#define TRN_TNX_MAGIC	    "TRNX\r\n\x1a\n"
#define TRN_TNX_VERSION	    1u
#define TRN_TNX_NAME_MAX    63u
#define TRN_TNX_TENSORS_MAX 4096u
#define TRN_TNX_RINGS_MAX   224u /* 16 engines x 14 queues */
#define TRN_TNX_QUEUES	    14u
#define TRN_TNX_DMA_ENGINES 16u
#define TRN_TNX_INSNS_MAX   (1u << 24)
#define TRN_TNX_XFERS_MAX   (1u << 20)
#define TRN_TNX_FILE_MAX    (1ull << 36)
#define TRN_TNX_ALIGN	    128u /* of every section */

/* Section types. */
enum trn_tnx_type {
	TRN_TNX_TENSORS = 1,
	TRN_TNX_CONSTANTS = 2,
	TRN_TNX_CODE = 3, /* index: engine */
	TRN_TNX_RING = 4, /* index: DMA engine | queue << 8 */
};

/** struct trn_tnx_header - first 128 bytes of a file, little-endian. */
struct trn_tnx_header {
	char magic[8];
	uint32_t version;
	uint32_t header_size; /* 128 */
	uint64_t file_size;
	uint32_t generation;
	uint32_t sections;
	uint32_t section_size; /* 32 */
	uint32_t crc;	       /* CRC32C of header and section table, this field 0 */
	char name[64];	       /* zero-terminated, zero-padded */
	uint8_t reserved[24];
};

/** struct trn_tnx_section - entry of the section table that follows the header. */
struct trn_tnx_section {
	uint32_t type;
	uint32_t index;
	uint64_t offset; /* from the start of the file, multiple of 128, ascending */
	uint64_t size;
	uint32_t crc; /* CRC32C of the section */
	uint32_t reserved;
};

/** struct trn_tnx_tensor - entry of the tensor section, 160 bytes. */
struct trn_tnx_tensor {
	char name[64];
	uint32_t dtype;
	uint32_t kind;
	uint32_t rank;
	uint32_t reserved0;
	uint64_t shape[6];
	uint64_t bytes;
	uint64_t constant_offset; /* in the constants section; 0 unless a constant */
	uint64_t reserved1[2];
};

#define TRN_TNX_REF_TENSOR   0
#define TRN_TNX_REF_SBUF     1
#define TRN_TNX_REF_SEM_INC  2 /* destination only */
#define TRN_TNX_XFER_BARRIER (1u << 0)

/** struct trn_tnx_xfer - a symbolic transfer, 40 bytes. */
struct trn_tnx_xfer {
	uint8_t src_kind;
	uint8_t dst_kind;
	uint16_t flags;
	uint32_t length; /* 1..65536 */
	uint32_t src_tensor;
	uint32_t dst_tensor;
	uint64_t src_offset; /* tensor: bytes; SBUF: partition * 256 KiB + byte */
	uint64_t dst_offset; /* semaphore: number */
	uint64_t reserved;
};

_Static_assert(sizeof(struct trn_tnx_header) == 128, "header is 128 bytes");
_Static_assert(sizeof(struct trn_tnx_section) == 32, "section entry is 32 bytes");
_Static_assert(sizeof(struct trn_tnx_tensor) == 160, "tensor entry is 160 bytes");
_Static_assert(sizeof(struct trn_tnx_xfer) == 40, "transfer is 40 bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are read in place");

/** struct trn_image_ring - transfers of one queue of one DMA engine, in order. */
struct trn_image_ring {
	uint32_t engine;
	uint32_t queue;
	uint32_t count;
	struct trn_tnx_xfer *xfers;
};

/** struct trn_image_code - instructions of one engine; count 0: not started. */
struct trn_image_code {
	uint32_t count;
	struct trn_insn *insns;
};

/** struct trn_image - a program in memory; owns everything it points to. */
struct trn_image {
	char name[64];
	uint32_t generation;
	uint32_t tensor_count;
	struct trn_tnx_tensor *tensors;
	uint8_t *constants;
	uint64_t constants_bytes;
	struct trn_image_code code[TRN_ENGINE_MAX];
	uint32_t ring_count;
	struct trn_image_ring *rings;
};

/** trn_tnx_parse() - build an image from a file's bytes; nothing outside @data is read. */
enum trn_status trn_tnx_parse(const void *data, size_t bytes, struct trn_image **image);
/** trn_tnx_serialize() - the file form; the caller frees *@data. */
enum trn_status trn_tnx_serialize(const struct trn_image *image, void **data, size_t *bytes);
/**
 * trn_tnx_check() - the rules an image must keep (parser and builder use it): NULL-safe,
 * overflow-safe.
 */
enum trn_status trn_tnx_check(const struct trn_image *image);
/** trn_tnx_crc32c() - CRC32C (Castagnoli) of @data continued from @crc, 0 to start. */
uint32_t trn_tnx_crc32c(uint32_t crc, const void *data, size_t bytes);
/** trn_tnx_sbuf_bytes() - bytes per partition of a generation; 0: unknown generation. */
uint32_t trn_tnx_sbuf_bytes(uint32_t generation);

#endif /* TRN_TNX_H */
