// SPDX-License-Identifier: BSD-2-Clause
/*
 * The .tnx container: any bytes to the parser. What it accepts keeps the rules, has a file form
 * that does not change any more, and survives a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "error.h"
#include "fuzz.h"
#include "tnx.h"
#include "trn/builder.h"

static char file_path[64];

static void file_remove(void)
{
	unlink(file_path);
}

/* In memory where there is such a place: a program file is flushed to its disk. */
static const char *file_name(void)
{
	const char *dir = access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm";

	if (!file_path[0]) {
		snprintf(file_path, sizeof(file_path), "%s/fuzz-tnx.%ld", dir, (long)getpid());
		atexit(file_remove);
	}
	return file_path;
}

static void check_refused(enum trn_status status, const struct trn_image *image)
{
	FUZZ_CHECK(status == TRN_ERR_BAD_FILE, "refused with status %d: %s", status,
		   trn_error_text());
	FUZZ_CHECK(!image, "refused, and there is an image");
	FUZZ_CHECK(trn_error_text()[0], "refused without a sentence");
}

/* What the loader will read: constants of tensors, places of transfers. */
static void check_content(const struct trn_image *image)
{
	uint32_t i, k;

	for (i = 0; i < image->tensor_count; i++) {
		const struct trn_tnx_tensor *t = &image->tensors[i];

		if (t->kind == TRN_TENSOR_CONSTANT)
			FUZZ_CHECK(t->constant_offset <= image->constants_bytes &&
					   t->bytes <= image->constants_bytes - t->constant_offset,
				   "constant %u leaves the constants", i);
	}
	for (i = 0; i < image->ring_count; i++) {
		const struct trn_image_ring *r = &image->rings[i];

		for (k = 0; k < r->count; k++) {
			const struct trn_tnx_xfer *x = &r->xfers[k];

			FUZZ_CHECK(x->length && x->length <= 65536, "transfer of %u bytes",
				   x->length);
			FUZZ_CHECK(x->dst_kind == TRN_TNX_REF_SEM_INC ||
					   x->src_kind != TRN_TNX_REF_TENSOR ||
					   x->src_offset + x->length <=
						   image->tensors[x->src_tensor].bytes,
				   "transfer reads behind its tensor");
			FUZZ_CHECK(x->dst_kind != TRN_TNX_REF_TENSOR ||
					   x->dst_offset + x->length <=
						   image->tensors[x->dst_tensor].bytes,
				   "transfer writes behind its tensor");
		}
	}
}

static void check_queries(const struct trn_image *image)
{
	struct trn_tensor_info info;
	size_t i, count = trn_image_tensor_count(image);

	FUZZ_CHECK(trn_image_name(image)[0], "accepted without a name");
	for (i = 0; i < count; i++) {
		FUZZ_CHECK(!trn_image_tensor(image, i, &info), "tensor %zu: %s", i,
			   trn_error_text());
		FUZZ_CHECK(info.rank >= 1 && info.rank <= 6 && info.bytes && info.name[0],
			   "tensor %zu \"%s\": rank %u, %llu bytes", i, info.name, info.rank,
			   (unsigned long long)info.bytes);
	}
	FUZZ_CHECK(trn_image_tensor(image, count, &info) == TRN_ERR_NOT_FOUND,
		   "there is a tensor behind the last");
}

/* @image and its file form @data are the same thing. */
static void check_same(const struct trn_image *image, const void *data, size_t bytes)
{
	size_t again_bytes = 0;
	void *again = NULL;

	FUZZ_CHECK(!trn_tnx_serialize(image, &again, &again_bytes), "%s", trn_error_text());
	FUZZ_CHECK(again_bytes == bytes && !memcmp(again, data, bytes),
		   "file form of %zu bytes became another of %zu", bytes, again_bytes);
	free(again);
}

static void check_accepted(struct trn_image *image)
{
	struct trn_image *copy = NULL;
	size_t bytes = 0;
	void *data = NULL;

	FUZZ_CHECK(!trn_tnx_check(image), "accepted against the rules: %s", trn_error_text());
	check_queries(image);
	check_content(image);
	FUZZ_CHECK(!trn_tnx_serialize(image, &data, &bytes), "%s", trn_error_text());
	FUZZ_CHECK(!trn_image_from_memory(data, bytes, &copy), "own file form is refused: %s",
		   trn_error_text());
	check_same(copy, data, bytes);
	trn_image_free(copy);
	FUZZ_CHECK(!trn_image_save(image, file_name()), "%s", trn_error_text());
	FUZZ_CHECK(!trn_image_open(file_name(), &copy), "%s", trn_error_text());
	check_same(copy, data, bytes);
	trn_image_free(copy);
	free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trn_image *image = NULL;
	/* Of this very size, so that a read behind the end is seen. */
	uint8_t *exact = malloc(size ? size : 1);
	enum trn_status status;

	FUZZ_CHECK(exact, "no memory");
	if (size)
		memcpy(exact, data, size);
	status = trn_image_from_memory(exact, size, &image);
	free(exact);
	if (status) {
		check_refused(status, image);
		return 0;
	}
	check_accepted(image);
	trn_image_free(image);
	return 0;
}
