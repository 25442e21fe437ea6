// SPDX-License-Identifier: BSD-2-Clause
/* The .tnx container: round trips, and everything that can be wrong with a file. */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "error.h"
#include "tnx.h"
#include "trn/builder.h"
#include "trn/kernels.h"

static struct trn_image *sample_image(void)
{
	static const float weights[6] = { 1, 2, 3, 4, 5, 6 };
	uint64_t shape[2] = { 2, 3 };
	struct trn_builder *b = trn_builder_create("sample", 2);
	struct trn_tile tile = trn_builder_tile(b, TRN_MEM_SBUF, 2, 12);
	struct trn_view view = trn_view(tile, TRN_DTYPE_FP32, 3);
	struct trn_image *image = NULL;
	int w = trn_builder_tensor(b, "weights", TRN_TENSOR_CONSTANT, TRN_DTYPE_FP32, shape, 2,
				   weights);
	int y = trn_builder_tensor(b, "y", TRN_TENSOR_OUTPUT, TRN_DTYPE_FP32, shape, 2, NULL);

	trn_builder_load(b, view, w, 0, 12);
	trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, view, view, TRN_ALU_MUL, trn_scalar(2),
			       TRN_ALU_BYPASS, trn_scalar(0), 0);
	trn_builder_store(b, y, 0, 12, view);
	ck_assert_msg(trn_builder_finish(b, &image) == TRN_OK, "%s", trn_error_text());
	trn_builder_free(b);
	return image;
}

/** struct file - a serialised image. */
struct file {
	uint8_t *data;
	size_t bytes;
};

static struct file sample_file(void)
{
	struct trn_image *image = sample_image();
	struct file f;

	ck_assert_int_eq(trn_tnx_serialize(image, (void **)&f.data, &f.bytes), TRN_OK);
	trn_image_free(image);
	return f;
}

static struct trn_tnx_header *header(struct file *f)
{
	return (struct trn_tnx_header *)(void *)f->data;
}

static struct trn_tnx_section *section(struct file *f, unsigned int i)
{
	return (struct trn_tnx_section *)(void *)(f->data + sizeof(struct trn_tnx_header)) + i;
}

/* First section of a type. */
static struct trn_tnx_section *section_of(struct file *f, uint32_t type)
{
	unsigned int i;

	for (i = 0; i < header(f)->sections; i++) {
		if (section(f, i)->type == type)
			return section(f, i);
	}
	ck_abort_msg("no section of type %u", type);
	return NULL;
}

/* Checksums that fit again, so that the rule behind them is reached. */
static void seal(struct file *f)
{
	struct trn_tnx_header *h = header(f);
	unsigned int i;

	if (sizeof(*h) + h->sections * sizeof(struct trn_tnx_section) > f->bytes)
		return;
	for (i = 0; i < h->sections; i++) {
		struct trn_tnx_section *s = section(f, i);

		if (s->offset <= f->bytes && s->size <= f->bytes - s->offset)
			s->crc = trn_tnx_crc32c(0, f->data + s->offset, s->size);
	}
	h->crc = 0;
	h->crc = trn_tnx_crc32c(0, f->data,
				sizeof(*h) + h->sections * sizeof(struct trn_tnx_section));
}

static void refused(const struct file *f, const char *word)
{
	struct trn_image *image = NULL;
	/* A copy of exactly the size, so that a sanitizer sees a read past the end. */
	uint8_t *copy = malloc(f->bytes ? f->bytes : 1);

	memcpy(copy, f->data, f->bytes);
	ck_assert_int_eq(trn_image_from_memory(copy, f->bytes, &image), TRN_ERR_BAD_FILE);
	ck_assert_ptr_null(image);
	ck_assert_msg(strstr(trn_error_text(), word) != NULL, "no \"%s\" in: %s", word,
		      trn_error_text());
	free(copy);
}

START_TEST(test_round_trip)
{
	struct file f = sample_file(), again;
	struct trn_image *image = NULL;

	ck_assert_msg(trn_image_from_memory(f.data, f.bytes, &image) == TRN_OK, "%s",
		      trn_error_text());
	ck_assert_str_eq(trn_image_name(image), "sample");
	ck_assert_uint_eq(trn_image_tensor_count(image), 2);
	ck_assert_int_eq(trn_tnx_serialize(image, (void **)&again.data, &again.bytes), TRN_OK);
	ck_assert_uint_eq(f.bytes, again.bytes);
	ck_assert_mem_eq(f.data, again.data, f.bytes);
	trn_image_free(image);
	free(again.data);
	free(f.data);
}
END_TEST

START_TEST(test_round_trip_kernels)
{
	struct trn_matmul_options o = {
		.size = sizeof(o), .m = 200, .n = 600, .k = 300, .bias = 1
	};
	struct trn_image *image = NULL, *loaded = NULL;
	struct file f, again;

	ck_assert_int_eq(_i ? trn_kernel_adam(300000, &image) : trn_kernel_matmul(&o, &image),
			 TRN_OK);
	ck_assert_int_eq(trn_tnx_serialize(image, (void **)&f.data, &f.bytes), TRN_OK);
	ck_assert_msg(trn_image_from_memory(f.data, f.bytes, &loaded) == TRN_OK, "%s",
		      trn_error_text());
	ck_assert_int_eq(trn_tnx_serialize(loaded, (void **)&again.data, &again.bytes), TRN_OK);
	ck_assert_uint_eq(f.bytes, again.bytes);
	ck_assert_mem_eq(f.data, again.data, f.bytes);
	trn_image_free(image);
	trn_image_free(loaded);
	free(f.data);
	free(again.data);
}
END_TEST

START_TEST(test_tensor_info)
{
	struct trn_image *image = sample_image();
	struct trn_tensor_info info;

	ck_assert_int_eq(trn_image_tensor(image, 0, &info), TRN_OK);
	ck_assert_str_eq(info.name, "weights");
	ck_assert_uint_eq(info.kind, TRN_TENSOR_CONSTANT);
	ck_assert_uint_eq(info.dtype, TRN_DTYPE_FP32);
	ck_assert_uint_eq(info.rank, 2);
	ck_assert_uint_eq(info.shape[1], 3);
	ck_assert_uint_eq(info.bytes, 24);
	ck_assert_int_eq(trn_image_tensor(image, 2, &info), TRN_ERR_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "2 tensors"));
	ck_assert_int_eq(trn_image_tensor(NULL, 0, &info), TRN_ERR_INVALID);
	trn_image_free(image);
	trn_image_free(NULL);
}
END_TEST

/* Every prefix is refused, whatever is cut off. */
START_TEST(test_truncated)
{
	struct file f = sample_file(), cut;

	cut.data = f.data;
	for (cut.bytes = 0; cut.bytes < f.bytes; cut.bytes++)
		refused(&cut, cut.bytes < 8 ? "not a .tnx program" : "truncated");
	free(f.data);
}
END_TEST

/* Every single flipped bit is noticed. */
START_TEST(test_bit_flips)
{
	struct file f = sample_file();
	struct trn_image *image = NULL;
	size_t bit;

	for (bit = 0; bit < f.bytes * 8; bit++) {
		f.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_msg(trn_image_from_memory(f.data, f.bytes, &image) == TRN_ERR_BAD_FILE,
			      "bit %zu passed", bit);
		f.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	ck_assert_int_eq(trn_image_from_memory(f.data, f.bytes, &image), TRN_OK);
	trn_image_free(image);
	free(f.data);
}
END_TEST

START_TEST(test_too_long)
{
	struct file f = sample_file();

	f.data = realloc(f.data, f.bytes + 200);
	memset(f.data + f.bytes, 0, 200);
	f.bytes += 1;
	refused(&f, "too long");
	header(&f)->file_size = f.bytes;
	seal(&f);
	refused(&f, "too long");
	free(f.data);
}
END_TEST

START_TEST(test_other_files)
{
	struct file f = sample_file(),
		    other = { (uint8_t *)"\177ELF and more, surely not a program of ours", 42 };

	refused(&other, "not a .tnx program");
	other.data = (uint8_t *)"TRNX\n\x1a\n and more"; /* a transfer in text mode ate the carriage
							    return */
	other.bytes = 16;
	refused(&other, "not a .tnx program");
	header(&f)->version = 2;
	seal(&f);
	refused(&f, "version at offset 8 is 2");
	free(f.data);
}
END_TEST

/* Rules about header and section table. */
static const char *damage_table(struct file *f, int i)
{
	struct trn_tnx_section *tensors = section_of(f, TRN_TNX_TENSORS);
	struct trn_tnx_section *ring = section_of(f, TRN_TNX_RING);
	struct trn_tnx_section *code = section_of(f, TRN_TNX_CODE);

	switch (i) {
	case 0:
		header(f)->generation = 9;
		return "generation 9";
	case 1:
		header(f)->sections = 1000000;
		return "section count";
	case 2:
		header(f)->header_size = 64;
		return "header size";
	case 3:
		header(f)->reserved[3] = 1;
		return "reserved";
	case 4:
		memset(header(f)->name, 'x', 64);
		return "name";
	case 5:
		tensors->offset = UINT64_MAX - 7;
		return "offset 18446744073709551608";
	case 6:
		tensors->size = UINT64_MAX;
		return "size 18446744073709551615";
	case 7:
		tensors->size -= 1;
		return "section";
	case 8:
		tensors->type = 77;
		return "type 77";
	case 9:
		code->index = 99;
		return "code 99";
	case 10:
		ring->index = 16;
		return "DMA engine 16";
	case 11:
		ring->index = 15 << 8;
		return "queue 15";
	case 12:
		code->index = 4;
		return "engine 4";
	case 13:
		ring->reserved = 1;
		return "ring";
	case 14:
		code->type = TRN_TNX_CONSTANTS;
		code->index = 0;
		return "twice";
	}
	return NULL;
}

/** struct damage - a field of a tensor or transfer set to what it must not be. */
struct damage {
	size_t offset;
	size_t bytes;
	uint64_t value;
	const char *word;
};

#define FIELD(type, index, field)                                     \
	(index) * sizeof(struct type) + offsetof(struct type, field), \
		sizeof(((struct type *)NULL)->field)
#define TENSOR(index, field) FIELD(trn_tnx_tensor, index, field)
#define XFER(field)	     FIELD(trn_tnx_xfer, 0, field)

static const struct damage tensor_damage[] = {
	{ TENSOR(0, dtype), 0x77, "type 0x77" },
	{ TENSOR(0, kind), 9, "kind 9" },
	{ TENSOR(0, rank), 7, "rank 7" },
	{ TENSOR(0, rank), 0, "rank 0" },
	{ TENSOR(0, shape[0]), UINT64_MAX, "dimension" },
	{ TENSOR(0, shape[0]), 0, "dimension 0 of 0" },
	{ TENSOR(0, shape[5]), 1, "dimension 5 of 1" },
	{ TENSOR(0, bytes), 4, "shape needs" },
	{ TENSOR(0, constant_offset), 1 << 20, "the constants have" },
	{ TENSOR(0, constant_offset), UINT64_MAX, "the constants have" },
	{ TENSOR(1, constant_offset), 1, "the constants have" },
};

static const struct damage xfer_damage[] = {
	{ XFER(length), 0, "length outside" },
	{ XFER(length), 65537, "length outside" },
	{ XFER(src_tensor), 2, "names no tensor" },
	{ XFER(src_offset), UINT64_MAX, "past its tensor" },
	{ XFER(src_offset), 16, "past its tensor" },
	{ XFER(dst_offset), 128ull * TRN_SBUF_PARTITION_STRIDE, "SBUF partition" },
	{ XFER(dst_offset), UINT64_MAX, "SBUF partition" },
	{ XFER(dst_offset), TRN_SBUF_PARTITION_BYTES_V2 - 4, "SBUF partition" },
	{ XFER(dst_kind), 3, "unknown kind" },
	{ XFER(dst_kind), TRN_TNX_REF_TENSOR, "writes a constant" },
	{ XFER(src_kind), TRN_TNX_REF_SEM_INC, "unknown kind" },
	{ XFER(flags), 2, "unknown flag" },
	{ XFER(reserved), 1, "unknown flag" },
	{ XFER(dst_tensor), 1, "where none belongs" },
};

static void damaged(uint32_t type, const struct damage *d)
{
	struct file f = sample_file();

	memcpy(f.data + section_of(&f, type)->offset + d->offset, &d->value, d->bytes);
	seal(&f);
	refused(&f, d->word);
	free(f.data);
}

/* One rule after the other broken under valid checksums. */
START_TEST(test_rules_table)
{
	struct file f = sample_file();
	const char *word = damage_table(&f, _i);

	seal(&f);
	refused(&f, word);
	free(f.data);
}
END_TEST

START_TEST(test_rules_tensors)
{
	damaged(TRN_TNX_TENSORS, &tensor_damage[_i]);
}
END_TEST

START_TEST(test_rules_transfers)
{
	damaged(TRN_TNX_RING, &xfer_damage[_i]);
}
END_TEST

START_TEST(test_rules_names)
{
	struct file f = sample_file();
	struct trn_tnx_tensor *t =
		(struct trn_tnx_tensor *)(void *)(f.data + section_of(&f, TRN_TNX_TENSORS)->offset);

	if (_i)
		memset(t[1].name, 'y', 64);
	else
		memcpy(t[1].name, t[0].name, 64);
	seal(&f);
	refused(&f, _i ? "not terminated" : "both named");
	free(f.data);
}
END_TEST

START_TEST(test_padding_not_zero)
{
	struct file f = sample_file();
	struct trn_tnx_section *s = section(&f, 0);

	ck_assert_uint_ne(s->offset,
			  sizeof(struct trn_tnx_header) + header(&f)->sections * sizeof(*s));
	f.data[s->offset - 1] = 1;
	refused(&f, "not zero");
	free(f.data);
}
END_TEST

START_TEST(test_no_code)
{
	struct trn_builder *b = trn_builder_create("empty", 2);
	struct trn_image *image = NULL;

	ck_assert_int_eq(trn_builder_finish(b, &image), TRN_ERR_BAD_FILE);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "no instructions"));
	trn_builder_free(b);
}
END_TEST

/* Published check value, and splitting does not matter. */
START_TEST(test_crc)
{
	uint8_t data[64];
	size_t i, cut;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 37);
	ck_assert_uint_eq(trn_tnx_crc32c(0, "123456789", 9), 0xe3069283u);
	ck_assert_uint_eq(trn_tnx_crc32c(0, "", 0), 0);
	for (cut = 0; cut <= sizeof(data); cut++)
		ck_assert_uint_eq(trn_tnx_crc32c(trn_tnx_crc32c(0, data, cut), data + cut,
						 sizeof(data) - cut),
				  trn_tnx_crc32c(0, data, sizeof(data)));
}
END_TEST

static char directory[64];

static const char *path(const char *name)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s/%s", directory, name);
	return text;
}

static void make_directory(void)
{
	strcpy(directory, "/tmp/test_tnx.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
	unlink(path("a.tnx"));
	unlink(path("pipe"));
	rmdir(path("dir"));
	ck_assert_msg(!rmdir(directory), "%s is not empty", directory);
}

START_TEST(test_save_and_open)
{
	struct trn_image *image = sample_image(), *loaded = NULL;
	struct stat st;

	ck_assert_msg(trn_image_save(image, path("a.tnx")) == TRN_OK, "%s", trn_error_text());
	ck_assert_int_eq(trn_image_save(image, path("a.tnx")), TRN_OK);
	ck_assert_int_eq(stat(path("a.tnx"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0644);
	ck_assert_msg(trn_image_open(path("a.tnx"), &loaded) == TRN_OK, "%s", trn_error_text());
	ck_assert_str_eq(trn_image_name(loaded), "sample");
	trn_image_free(loaded);
	trn_image_free(image);
}
END_TEST

START_TEST(test_open_errors)
{
	struct trn_image *image = NULL;

	ck_assert_int_eq(trn_image_open(path("missing.tnx"), &image), TRN_ERR_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "missing.tnx"));
	ck_assert_int_eq(mkdir(path("dir"), 0755), 0);
	ck_assert_int_eq(trn_image_open(path("dir"), &image), TRN_ERR_BAD_FILE);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "not a regular file"));
	/* A pipe without a writer is not waited for. */
	ck_assert_int_eq(mkfifo(path("pipe"), 0644), 0);
	ck_assert_int_eq(trn_image_open(path("pipe"), &image), TRN_ERR_BAD_FILE);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "not a regular file"));
	ck_assert_int_eq(trn_image_open(NULL, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_image_open(path("a.tnx"), NULL), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_image_from_memory(NULL, 1, &image), TRN_ERR_INVALID);
	ck_assert_int_eq(close(open(path("a.tnx"), O_CREAT | O_WRONLY, 0644)), 0);
	ck_assert_int_eq(trn_image_open(path("a.tnx"), &image), TRN_ERR_BAD_FILE);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "a.tnx: not a .tnx program"));
	ck_assert_ptr_null(image);
}
END_TEST

/* A save that fails leaves what was there, and no other file. */
START_TEST(test_save_errors)
{
	struct trn_image *image = sample_image(), *loaded = NULL;

	ck_assert_int_eq(trn_image_save(image, path("none/a.tnx")), TRN_ERR_IO);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "none/a.tnx"));
	ck_assert_int_eq(trn_image_save(image, NULL), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_image_save(NULL, path("a.tnx")), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_image_save(image, path("a.tnx")), TRN_OK);
	ck_assert_int_eq(mkdir(path("dir"), 0755), 0);
	ck_assert_int_eq(trn_image_save(image, path("dir")), TRN_ERR_IO);
	ck_assert_int_eq(trn_image_open(path("a.tnx"), &loaded), TRN_OK);
	trn_image_free(loaded);
	trn_image_free(image);
}
END_TEST

/*
 * Random damage under valid checksums: either refused, or a valid image comes out; never a crash.
 */
START_TEST(test_random_damage)
{
	struct file f = sample_file(), g;
	uint32_t state = 1, i, k;

	g.data = malloc(f.bytes);
	g.bytes = f.bytes;
	for (i = 0; i < 20000; i++) {
		struct trn_image *image = NULL;

		memcpy(g.data, f.data, f.bytes);
		for (k = 0; k < 3; k++) {
			state = state * 1664525u + 1013904223u;
			g.data[8 + (state >> 8) % (f.bytes - 8)] = (uint8_t)(state >> 24);
		}
		seal(&g);
		if (trn_image_from_memory(g.data, g.bytes, &image) == TRN_OK)
			ck_assert_int_eq(trn_tnx_check(image), TRN_OK);
		trn_image_free(image);
	}
	free(f.data);
	free(g.data);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

int main(void)
{
	Suite *suite = suite_create("tnx");
	TCase *tc = tcase_create("format"), *files = tcase_create("files");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_round_trip);
	tcase_add_loop_test(tc, test_round_trip_kernels, 0, 2);
	tcase_add_test(tc, test_tensor_info);
	tcase_add_test(tc, test_truncated);
	tcase_add_test(tc, test_bit_flips);
	tcase_add_test(tc, test_too_long);
	tcase_add_test(tc, test_other_files);
	tcase_add_loop_test(tc, test_rules_table, 0, 15);
	tcase_add_loop_test(tc, test_rules_tensors, 0, COUNT(tensor_damage));
	tcase_add_loop_test(tc, test_rules_transfers, 0, COUNT(xfer_damage));
	tcase_add_loop_test(tc, test_rules_names, 0, 2);
	tcase_add_test(tc, test_padding_not_zero);
	tcase_add_test(tc, test_no_code);
	tcase_add_test(tc, test_crc);
	tcase_add_test(tc, test_random_damage);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(files, make_directory, remove_directory);
	tcase_add_test(files, test_save_and_open);
	tcase_add_test(files, test_open_errors);
	tcase_add_test(files, test_save_errors);
	suite_add_tcase(suite, files);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
