// SPDX-License-Identifier: BSD-2-Clause
/* Images: lifetime, queries, rules, and reading and writing files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "error.h"
#include "tnx.h"
#include "trn/builder.h"

uint32_t trn_tnx_sbuf_bytes(uint32_t generation)
{
	switch (generation) {
	case 2:
		return TRN_SBUF_PARTITION_BYTES_V2;
	case 3:
		return TRN_SBUF_PARTITION_BYTES_V3;
	}
	return 0;
}

void trn_image_free(struct trn_image *image)
{
	uint32_t i;

	if (!image)
		return;
	for (i = 0; i < TRN_ENGINE_MAX; i++)
		free(image->code[i].insns);
	for (i = 0; image->rings && i < image->ring_count; i++)
		free(image->rings[i].xfers);
	free(image->rings);
	free(image->tensors);
	free(image->constants);
	free(image);
}

const char *trn_image_name(const struct trn_image *image)
{
	return image ? image->name : "";
}

size_t trn_image_tensor_count(const struct trn_image *image)
{
	return image ? image->tensor_count : 0;
}

enum trn_status trn_image_tensor(const struct trn_image *image, size_t index,
				 struct trn_tensor_info *info)
{
	const struct trn_tnx_tensor *t;

	if (!image || !info)
		return trn_error_set(TRN_ERR_INVALID,
				     "trn_image_tensor: image and info must not be NULL");
	if (index >= image->tensor_count)
		return trn_error_set(TRN_ERR_NOT_FOUND,
				     "image \"%s\" has %u tensors, there is no number %zu",
				     image->name, image->tensor_count, index);
	t = &image->tensors[index];
	memset(info, 0, sizeof(*info));
	memcpy(info->name, t->name, sizeof(info->name));
	info->dtype = t->dtype;
	info->kind = t->kind;
	info->rank = t->rank;
	memcpy(info->shape, t->shape, sizeof(info->shape));
	info->bytes = t->bytes;
	return TRN_OK;
}

static enum trn_status check_tensor(const struct trn_image *image, uint32_t index)
{
	const struct trn_tnx_tensor *t = &image->tensors[index];
	uint64_t bytes = trn_dtype_bytes(t->dtype);
	uint32_t i;

	if (memchr(t->name, 0, sizeof(t->name)) == NULL || !t->name[0])
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "tensor %u: the name is empty or not terminated", index);
	if (!bytes)
		return trn_error_set(TRN_ERR_BAD_FILE, "tensor %u \"%s\": type 0x%x is unknown",
				     index, t->name, t->dtype);
	if (t->kind > TRN_TENSOR_CONSTANT)
		return trn_error_set(TRN_ERR_BAD_FILE, "tensor %u \"%s\": kind %u is unknown",
				     index, t->name, t->kind);
	if (!t->rank || t->rank > 6)
		return trn_error_set(TRN_ERR_BAD_FILE, "tensor %u \"%s\": rank %u is not in 1..6",
				     index, t->name, t->rank);
	for (i = 0; i < 6; i++) {
		if (i < t->rank ? !t->shape[i] || __builtin_mul_overflow(bytes, t->shape[i], &bytes)
				: !!t->shape[i])
			return trn_error_set(TRN_ERR_BAD_FILE,
					     "tensor %u \"%s\": dimension %u of %llu is impossible",
					     index, t->name, i, (unsigned long long)t->shape[i]);
	}
	if (bytes != t->bytes || bytes >> 48)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "tensor %u \"%s\": size %llu, its shape needs %llu", index,
				     t->name, (unsigned long long)t->bytes,
				     (unsigned long long)bytes);
	if (t->kind != TRN_TENSOR_CONSTANT
		    ? t->constant_offset != 0
		    : t->constant_offset > image->constants_bytes ||
			      bytes > image->constants_bytes - t->constant_offset)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "tensor %u \"%s\": content at %llu with %llu bytes, the "
				     "constants have %llu",
				     index, t->name, (unsigned long long)t->constant_offset,
				     (unsigned long long)bytes,
				     (unsigned long long)image->constants_bytes);
	for (i = 0; i < index; i++) {
		if (!strncmp(image->tensors[i].name, t->name, sizeof(t->name)))
			return trn_error_set(TRN_ERR_BAD_FILE,
					     "tensors %u and %u are both named \"%s\"", i, index,
					     t->name);
	}
	return TRN_OK;
}

/* Source or destination of a transfer; NULL when it is all right, else what is wrong. */
static const char *check_ref(const struct trn_image *image, unsigned int kind, uint32_t tensor,
			     uint64_t offset, uint32_t length, bool destination)
{
	uint64_t stride = TRN_SBUF_PARTITION_STRIDE;

	if (kind == TRN_TNX_REF_TENSOR) {
		if (tensor >= image->tensor_count)
			return "names no tensor of the image";
		if (offset > image->tensors[tensor].bytes ||
		    length > image->tensors[tensor].bytes - offset)
			return "ends past its tensor";
		if (destination && image->tensors[tensor].kind == TRN_TENSOR_CONSTANT)
			return "writes a constant";
		return NULL;
	}
	if (tensor)
		return "has a tensor number where none belongs";
	if (kind == TRN_TNX_REF_SBUF) {
		if (offset / stride >= TRN_PARTITIONS ||
		    offset % stride + length > trn_tnx_sbuf_bytes(image->generation))
			return "leaves its SBUF partition";
		return NULL;
	}
	if (kind == TRN_TNX_REF_SEM_INC && destination)
		return offset < TRN_SEM_COUNT && length == 4 ? NULL : "is no semaphore increment";
	return "is of an unknown kind";
}

static enum trn_status check_ring(const struct trn_image *image, uint32_t index)
{
	const struct trn_image_ring *r = &image->rings[index];
	uint32_t i;

	if (r->engine >= TRN_TNX_DMA_ENGINES || r->queue >= TRN_TNX_QUEUES || !r->count ||
	    r->count > TRN_TNX_XFERS_MAX)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "ring %u: DMA engine %u, queue %u, %u transfers; 0..15, 0..13 "
				     "and 1..%u are possible",
				     index, r->engine, r->queue, r->count, TRN_TNX_XFERS_MAX);
	for (i = 0; i < index; i++) {
		if (image->rings[i].engine == r->engine && image->rings[i].queue == r->queue)
			return trn_error_set(TRN_ERR_BAD_FILE,
					     "rings %u and %u share queue %u of DMA engine %u", i,
					     index, r->queue, r->engine);
	}
	for (i = 0; i < r->count; i++) {
		const struct trn_tnx_xfer *x = &r->xfers[i];
		const char *wrong = NULL;

		if (!x->length || x->length > 65536 || x->flags & ~TRN_TNX_XFER_BARRIER ||
		    x->reserved)
			wrong = "has a length outside 1..65536 or an unknown flag";
		else if (x->dst_kind != TRN_TNX_REF_SEM_INC)
			wrong = check_ref(image, x->src_kind, x->src_tensor, x->src_offset,
					  x->length, false);
		else if (x->src_kind || x->src_tensor || x->src_offset)
			wrong = "increments a semaphore and has a source";
		if (!wrong)
			wrong = check_ref(image, x->dst_kind, x->dst_tensor, x->dst_offset,
					  x->length, true);
		if (wrong)
			return trn_error_set(
				TRN_ERR_BAD_FILE,
				"ring %u (DMA engine %u), transfer %u %s: %u bytes, source kind %u "
				"tensor %u offset %llu, destination kind %u tensor %u offset %llu",
				index, r->engine, i, wrong, x->length, x->src_kind, x->src_tensor,
				(unsigned long long)x->src_offset, x->dst_kind, x->dst_tensor,
				(unsigned long long)x->dst_offset);
	}
	return TRN_OK;
}

enum trn_status trn_tnx_check(const struct trn_image *image)
{
	enum trn_status status = TRN_OK;
	uint64_t insns = 0;
	uint32_t i;

	if (!image->name[0] || !memchr(image->name, 0, sizeof(image->name)))
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "the program's name is empty or not terminated");
	if (!trn_tnx_sbuf_bytes(image->generation))
		return trn_error_set(TRN_ERR_BAD_FILE, "generation %u is unknown; 2 and 3 are",
				     image->generation);
	if (image->tensor_count > TRN_TNX_TENSORS_MAX || image->ring_count > TRN_TNX_RINGS_MAX)
		return trn_error_set(TRN_ERR_BAD_FILE,
				     "%u tensors and %u rings; at most %u and %u are possible",
				     image->tensor_count, image->ring_count, TRN_TNX_TENSORS_MAX,
				     TRN_TNX_RINGS_MAX);
	for (i = 0; !status && i < image->tensor_count; i++)
		status = check_tensor(image, i);
	for (i = 0; !status && i < image->ring_count; i++)
		status = check_ring(image, i);
	for (i = 0; !status && i < TRN_ENGINE_MAX; i++) {
		insns += image->code[i].count;
		if (image->code[i].count > TRN_TNX_INSNS_MAX ||
		    (image->code[i].count && (i == TRN_ENGINE_NONE || i == 4)))
			status = trn_error_set(TRN_ERR_BAD_FILE, "engine %u has %u instructions", i,
					       image->code[i].count);
	}
	if (!status && !insns)
		status = trn_error_set(TRN_ERR_BAD_FILE, "program \"%s\" has no instructions",
				       image->name);
	return status;
}

enum trn_status trn_image_from_memory(const void *data, size_t bytes, struct trn_image **image)
{
	if (!image)
		return trn_error_set(TRN_ERR_INVALID,
				     "trn_image_from_memory: image must not be NULL");
	*image = NULL;
	if (!data)
		return trn_error_set(TRN_ERR_INVALID,
				     "trn_image_from_memory: data must not be NULL");
	return trn_tnx_parse(data, bytes, image);
}

/* Puts the file's name before the sentence of the failure below. */
static enum trn_status with_path(enum trn_status status, const char *path)
{
	char text[768];

	snprintf(text, sizeof(text), "%s", trn_error_text());
	return trn_error_set(status, "%s: %s", path, text);
}

static enum trn_status read_all(int fd, const char *path, void **data, size_t *bytes)
{
	struct stat st;
	size_t done = 0;
	uint8_t *buffer;

	if (fstat(fd, &st))
		return trn_error_set(TRN_ERR_IO, "%s: cannot be examined: %s", path,
				     strerror(errno));
	if (!S_ISREG(st.st_mode))
		return trn_error_set(TRN_ERR_BAD_FILE, "%s: is not a regular file", path);
	if ((uint64_t)st.st_size > TRN_TNX_FILE_MAX)
		return trn_error_set(TRN_ERR_BAD_FILE, "%s: has %lld bytes, more than any program",
				     path, (long long)st.st_size);
	buffer = malloc(st.st_size ? (size_t)st.st_size : 1);
	if (!buffer)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "%s: no memory for %lld bytes", path,
				     (long long)st.st_size);
	while (done < (size_t)st.st_size) {
		ssize_t n = read(fd, buffer + done, (size_t)st.st_size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(buffer);
			return trn_error_set(TRN_ERR_IO, "%s: cannot be read: %s", path,
					     strerror(errno));
		}
		if (!n)
			break;
		done += (size_t)n;
	}
	*data = buffer;
	*bytes = done;
	return TRN_OK;
}

enum trn_status trn_image_open(const char *path, struct trn_image **image)
{
	enum trn_status status;
	void *data = NULL;
	size_t bytes = 0;
	int fd;

	if (!path || !image)
		return trn_error_set(TRN_ERR_INVALID,
				     "trn_image_open: path and image must not be NULL");
	*image = NULL;
	/* Not waiting for the other end of a pipe: read_all() refuses what is no file. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		status = errno == ENOENT   ? TRN_ERR_NOT_FOUND
			 : errno == EACCES ? TRN_ERR_PERMISSION
					   : TRN_ERR_IO;
		return trn_error_set(status, "%s: cannot be opened: %s", path, strerror(errno));
	}
	status = read_all(fd, path, &data, &bytes);
	close(fd);
	if (status)
		return status;
	status = trn_tnx_parse(data, bytes, image);
	free(data);
	return status ? with_path(status, path) : TRN_OK;
}

static int write_all(int fd, const uint8_t *data, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = write(fd, data + done, bytes - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			done += (size_t)n;
	}
	return fsync(fd) ? -errno : 0;
}

/* A reader sees the old file or the whole new one: written under another name, then renamed. */
enum trn_status trn_image_save(const struct trn_image *image, const char *path)
{
	enum trn_status status;
	void *data = NULL;
	size_t bytes = 0;
	char *temp;
	int fd, error;

	if (!image || !path)
		return trn_error_set(TRN_ERR_INVALID,
				     "trn_image_save: image and path must not be NULL");
	status = trn_tnx_serialize(image, &data, &bytes);
	if (status)
		return status;
	if (asprintf(&temp, "%s.XXXXXX", path) < 0) {
		free(data);
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "%s: no memory for a file name", path);
	}
	fd = mkostemp(temp, O_CLOEXEC);
	error = fd < 0 ? -errno : write_all(fd, data, bytes);
	if (!error && fchmod(fd, 0644))
		error = -errno;
	if (fd >= 0 && close(fd) && !error)
		error = -errno;
	if (!error && rename(temp, path))
		error = -errno;
	if (error && fd >= 0)
		unlink(temp);
	free(temp);
	free(data);
	if (error)
		return trn_error_set(error == -EACCES ? TRN_ERR_PERMISSION : TRN_ERR_IO,
				     "%s: cannot be written (%zu bytes): %s", path, bytes,
				     strerror(-error));
	return TRN_OK;
}
