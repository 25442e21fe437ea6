// SPDX-License-Identifier: BSD-2-Clause
/* Queues and fences over the in-process device; refusals of a driver by a table that stands before
 * it. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rt_rig.h"

#define MIB (1ull << 20)

static struct trn_device *device;
static struct trn_queue *queue;

static void setup(void)
{
	device = rt_open(RT_SPEC);
	queue = rt_queue(device, 0, 0);
}

static void teardown(void)
{
	trn_device_close(device);
}

/* ---- copies ---- */

static const size_t sizes[] = { 1,    3,     63,    64,	   65,	    4095,
				4096, 65535, 65536, 65537, 1000003, 8 * MIB + 5 };

START_TEST(test_copy_sizes)
{
	size_t size = sizes[_i], offset = _i * 7;
	uint8_t *out = malloc(size + 64), *in = malloc(size + 64);
	struct trn_memory *memory = rt_alloc(device, size + offset + 128),
			  *other = rt_alloc(device, size + 3);

	rt_pattern(out, size + 64, 1 + _i);
	memset(in, 0, size + 64);
	rt_ok(trn_queue_write(queue, memory, offset, out + 1, size, NULL));
	rt_ok(trn_queue_copy(queue, other, 3, memory, offset, size, NULL));
	rt_ok(trn_queue_read(queue, in + 5, other, 3, size, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_mem_eq(in + 5, out + 1, size);
	ck_assert_uint_eq(in[4], 0);
	ck_assert_uint_eq(in[5 + size], 0);
	free(out);
	free(in);
}
END_TEST

START_TEST(test_order)
{
	struct trn_memory *a = rt_alloc(device, 4096), *b = rt_alloc(device, 4096);
	uint32_t word = 0, i;

	/* Each command reads what the one before it wrote. */
	for (i = 0; i < 300; i++) {
		rt_ok(trn_queue_fill(queue, a, 0, i, 4096, NULL));
		rt_ok(trn_queue_copy(queue, b, 0, a, 2048, 2048, NULL));
		rt_ok(trn_queue_copy(queue, a, 4092, b, 1024, 4, NULL));
	}
	rt_ok(trn_queue_read(queue, &word, a, 4092, 4, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_uint_eq(word, 299);
}
END_TEST

START_TEST(test_fill_edges)
{
	struct trn_memory *memory = rt_alloc(device, 200004);
	uint32_t *in = malloc(200004);
	size_t i;

	rt_ok(trn_queue_fill(queue, memory, 4, 0xabad1dea, 199996, NULL));
	rt_ok(trn_queue_read(queue, in, memory, 0, 200004, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_uint_eq(in[0], 0);
	ck_assert_uint_eq(in[50000], 0);
	for (i = 1; i < 50000; i++)
		ck_assert_uint_eq(in[i], 0xabad1dea);
	rt_fails(trn_queue_fill(queue, memory, 2, 0, 4, NULL), TRN_ERR_INVALID, "multiples of 4");
	rt_fails(trn_queue_fill(queue, memory, 0, 0, 6, NULL), TRN_ERR_INVALID, "multiples of 4");
	free(in);
}
END_TEST

START_TEST(test_bad_arguments)
{
	struct trn_memory *memory = rt_alloc(device, 100);
	uint8_t byte = 0;

	rt_fails(trn_queue_write(NULL, memory, 0, &byte, 1, NULL), TRN_ERR_INVALID,
		 "queue is NULL");
	rt_fails(trn_queue_write(queue, NULL, 0, &byte, 1, NULL), TRN_ERR_INVALID,
		 "memory is NULL");
	rt_fails(trn_queue_write(queue, memory, 0, NULL, 1, NULL), TRN_ERR_INVALID, "NULL");
	rt_fails(trn_queue_write(queue, memory, 0, &byte, 0, NULL), TRN_ERR_INVALID, "0 bytes");
	rt_fails(trn_queue_write(queue, memory, 100, &byte, 1, NULL), TRN_ERR_INVALID,
		 "1 bytes at offset 100 pass the end of a memory of 100");
	rt_fails(trn_queue_write(queue, memory, 0, &byte, UINT64_MAX, NULL), TRN_ERR_INVALID,
		 "18446744073709551615");
	rt_fails(trn_queue_read(queue, &byte, memory, UINT64_MAX, 2, NULL), TRN_ERR_INVALID,
		 "pass the end");
	rt_fails(trn_queue_read(queue, NULL, memory, 0, 2, NULL), TRN_ERR_INVALID, "NULL");
	rt_fails(trn_queue_copy(queue, memory, 0, memory, 99, 2, NULL), TRN_ERR_INVALID, "source");
	rt_fails(trn_queue_copy(queue, memory, 0, memory, 4, 5, NULL), TRN_ERR_INVALID, "overlap");
	rt_fails(trn_queue_copy(queue, memory, 4, memory, 0, 5, NULL), TRN_ERR_INVALID, "overlap");
	rt_fails(trn_queue_copy(queue, memory, 0, memory, 0, 1, NULL), TRN_ERR_INVALID, "overlap");
	rt_fails(trn_queue_copy(queue, memory, 99, memory, 0, 2, NULL), TRN_ERR_INVALID,
		 "destination");
	rt_fails(trn_queue_read(queue, (void *)(UINTPTR_MAX - 4), memory, 0, 50, NULL),
		 TRN_ERR_INVALID, "address space");
	rt_fails(trn_queue_flush(NULL), TRN_ERR_INVALID, "NULL");
	rt_fails(trn_queue_finish(NULL, 0), TRN_ERR_INVALID, "NULL");
	rt_fails(trn_queue_reset(NULL), TRN_ERR_INVALID, "NULL");
	trn_queue_destroy(NULL);
	/* None of it disturbed the queue. */
	rt_ok(trn_queue_write(queue, memory, 99, &byte, 1, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
}
END_TEST

/* A buffer that is not mapped: the job is refused, the queue says so until it is reset, then it
 * works again. */
START_TEST(test_unmapped_buffer)
{
	struct trn_memory *memory = rt_alloc(device, 8192);
	uint8_t *hole =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct trn_fence before, bad, after;
	uint8_t byte = 1;

	munmap(hole + 4096, 4096);
	rt_ok(trn_queue_write(queue, memory, 0, &byte, 1, &before));
	rt_ok(trn_queue_flush(queue));
	rt_ok(trn_queue_write(queue, memory, 0, hole, 8192, &bad));
	rt_fails(trn_queue_finish(queue, RT_FOREVER), TRN_ERR_INVALID, "not (or no more) mapped");
	rt_fails(trn_fence_wait(bad, RT_FOREVER), TRN_ERR_INVALID, "Bad address");
	ck_assert(trn_fence_done(bad));
	rt_ok(trn_fence_wait(before, RT_FOREVER));
	rt_fails(trn_queue_write(queue, memory, 0, &byte, 1, NULL), TRN_ERR_CANCELED,
		 "trn_queue_reset()");
	rt_fails(trn_queue_flush(queue), TRN_ERR_CANCELED, "Bad address");
	rt_fails(trn_queue_finish(queue, RT_FOREVER), TRN_ERR_INVALID, "Bad address");
	rt_ok(trn_queue_reset(queue));
	rt_ok(trn_queue_write(queue, memory, 0, &byte, 1, &after));
	rt_ok(trn_fence_wait(after, RT_FOREVER));
	/* The old fence keeps its answer. */
	rt_fails(trn_fence_wait(bad, RT_FOREVER), TRN_ERR_INVALID, "Bad address");
	munmap(hole, 4096);
}
END_TEST

/* Memory that may not be read or written is refused as well, wherever in the buffer it lies: the
 * process does not die of it. */
START_TEST(test_protected_buffer)
{
	struct trn_memory *memory = rt_alloc(device, 4 * MIB);
	uint8_t *buffer =
		mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static const size_t at[] = { 0, MIB, 2 * MIB };
	size_t i;

	ck_assert_ptr_ne(buffer, MAP_FAILED);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(mprotect(buffer + at[i], 2 * MIB, PROT_READ), 0);
		rt_ok(trn_queue_read(queue, buffer, memory, 0, 4 * MIB, NULL));
		rt_fails(trn_queue_finish(queue, RT_FOREVER), TRN_ERR_INVALID, "read-only");
		rt_ok(trn_queue_reset(queue));
		/* Reading it is fine. */
		rt_ok(trn_queue_write(queue, memory, 0, buffer, 4 * MIB, NULL));
		rt_ok(trn_queue_finish(queue, RT_FOREVER));
		ck_assert_int_eq(mprotect(buffer + at[i], 2 * MIB, PROT_NONE), 0);
		rt_ok(trn_queue_write(queue, memory, 0, buffer, 4 * MIB, NULL));
		rt_fails(trn_queue_finish(queue, RT_FOREVER), TRN_ERR_INVALID, "Bad address");
		rt_ok(trn_queue_reset(queue));
		ck_assert_int_eq(mprotect(buffer, 4 * MIB, PROT_READ | PROT_WRITE), 0);
	}
	rt_ok(trn_queue_read(queue, buffer, memory, 0, 4 * MIB, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	munmap(buffer, 4 * MIB);
}
END_TEST

/* ---- fences ---- */

START_TEST(test_fence_values)
{
	struct trn_memory *memory = rt_alloc(device, 4096);
	struct trn_fence first, second, third, never = { .queue = queue, .point = 1000 };
	uint32_t word = 5;

	rt_ok(trn_queue_write(queue, memory, 0, &word, 4, &first));
	rt_ok(trn_queue_write(queue, memory, 4, &word, 4, &second));
	ck_assert_ptr_eq(first.queue, queue);
	/* One batch, one point. */
	ck_assert_uint_eq(first.point, second.point);
	rt_ok(trn_queue_flush(queue));
	rt_ok(trn_queue_write(queue, memory, 8, &word, 4, &third));
	ck_assert_uint_gt(third.point, second.point);
	/* Waiting sends what was not sent. */
	rt_ok(trn_fence_wait(third, RT_FOREVER));
	ck_assert(trn_fence_done(first));
	rt_fails(trn_fence_wait(never, RT_FOREVER), TRN_ERR_INVALID, "never enqueued");
	rt_fails(trn_fence_wait((struct trn_fence){ 0 }, 0), TRN_ERR_INVALID, "no queue");
	ck_assert(!trn_fence_done((struct trn_fence){ 0 }));
}
END_TEST

START_TEST(test_fence_fd)
{
	struct trn_memory *memory = rt_alloc(device, 16 * MIB);
	uint8_t *out = calloc(1, 16 * MIB);
	struct trn_fence fence;
	struct pollfd poll_fd = { .events = POLLIN };
	int again;

	rt_ok(trn_queue_write(queue, memory, 0, out, 16 * MIB, &fence));
	rt_ok(trn_fence_fd(fence, &poll_fd.fd));
	ck_assert_int_eq(poll(&poll_fd, 1, 20000), 1);
	ck_assert(trn_fence_done(fence));
	/* A point that has passed is readable at once. */
	rt_ok(trn_fence_fd(fence, &again));
	close(poll_fd.fd);
	poll_fd.fd = again;
	ck_assert_int_eq(poll(&poll_fd, 1, 0), 1);
	close(again);
	rt_fails(trn_fence_fd(fence, NULL), TRN_ERR_INVALID, "NULL");
	fence.point += 100;
	rt_fails(trn_fence_fd(fence, &again), TRN_ERR_INVALID, "never enqueued");
	free(out);
}
END_TEST

/* A descriptor may be closed before its point passes. */
START_TEST(test_fence_fd_closed_early)
{
	struct trn_memory *memory = rt_alloc(device, 16 * MIB);
	uint8_t *out = calloc(1, 16 * MIB);
	struct trn_fence fence;
	int fd;

	rt_ok(trn_queue_write(queue, memory, 0, out, 16 * MIB, &fence));
	rt_ok(trn_fence_fd(fence, &fd));
	close(fd);
	rt_ok(trn_fence_wait(fence, RT_FOREVER));
	free(out);
}
END_TEST

START_TEST(test_empty_queue)
{
	rt_ok(trn_queue_flush(queue));
	rt_ok(trn_queue_finish(queue, 0));
	rt_ok(trn_queue_reset(queue));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
}
END_TEST

/* ---- several queues ---- */

static void relay(struct trn_queue *from, struct trn_queue *to, struct trn_memory *source,
		  struct trn_memory *target, uint8_t *buffer, size_t size)
{
	struct trn_fence fence;

	rt_ok(trn_queue_read(from, buffer, source, 0, size, &fence));
	rt_ok(trn_queue_wait_fence(to, fence));
	rt_ok(trn_queue_write(to, target, 0, buffer, size, NULL));
}

START_TEST(test_wait_across_queues)
{
	struct trn_queue *other = rt_queue(device, 0, 0);
	struct trn_memory *a = rt_alloc(device, 4 * MIB), *b = rt_alloc(device, 4 * MIB);
	uint8_t *out = malloc(4 * MIB), *buffer = calloc(1, 4 * MIB), *in = malloc(4 * MIB);

	rt_pattern(out, 4 * MIB, 11);
	rt_ok(trn_queue_write(queue, a, 0, out, 4 * MIB, NULL));
	relay(queue, other, a, b, buffer, 4 * MIB);
	rt_ok(trn_queue_read(other, in, b, 0, 4 * MIB, NULL));
	rt_ok(trn_queue_finish(other, RT_FOREVER));
	ck_assert_mem_eq(in, out, 4 * MIB);
	free(out);
	free(buffer);
	free(in);
}
END_TEST

START_TEST(test_wait_across_devices)
{
	struct trn_device *second = rt_open(RT_SPEC);
	struct trn_queue *other = rt_queue(second, 0, 0);
	struct trn_memory *a = rt_alloc(device, 4 * MIB), *b = rt_alloc(second, 4 * MIB);
	uint8_t *out = malloc(4 * MIB), *buffer = calloc(1, 4 * MIB), *in = malloc(4 * MIB);

	rt_pattern(out, 4 * MIB, 12);
	rt_ok(trn_queue_write(queue, a, 0, out, 4 * MIB, NULL));
	relay(queue, other, a, b, buffer, 4 * MIB);
	rt_ok(trn_queue_read(other, in, b, 0, 4 * MIB, NULL));
	rt_ok(trn_queue_finish(other, RT_FOREVER));
	ck_assert_mem_eq(in, out, 4 * MIB);
	rt_fails(trn_queue_copy(queue, a, 0, b, 0, 64, NULL), TRN_ERR_INVALID, "the memory of");
	trn_device_close(second);
	free(out);
	free(buffer);
	free(in);
}
END_TEST

START_TEST(test_wait_fence_bounds)
{
	struct trn_queue *other = rt_queue(device, 0, 0);
	struct trn_memory *memory = rt_alloc(device, 64);
	struct trn_fence fence, never = { .queue = other, .point = 77 };
	uint32_t word = 1, i;

	rt_fails(trn_queue_wait_fence(queue, never), TRN_ERR_INVALID, "point 77");
	rt_fails(trn_queue_wait_fence(queue, (struct trn_fence){ 0 }), TRN_ERR_INVALID, "NULL");
	for (i = 0; i < 200; i++) {
		rt_ok(trn_queue_write(other, memory, 0, &word, 4, &fence));
		rt_ok(trn_queue_wait_fence(queue, fence));
	}
	/* A queue need not wait for itself. */
	rt_ok(trn_queue_write(queue, memory, 0, &word, 4, &fence));
	rt_ok(trn_queue_wait_fence(queue, fence));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
}
END_TEST

/* The queue that is waited for may be gone before the work that waits is sent, its device too. */
START_TEST(test_waited_queue_goes_away)
{
	struct trn_device *second = rt_open(RT_SPEC);
	struct trn_queue *first = rt_queue(device, 0, 0), *other = rt_queue(second, 0, 0);
	struct trn_memory *a = rt_alloc(device, MIB), *b = rt_alloc(second, MIB);
	uint8_t *out = calloc(1, MIB);
	struct trn_fence fence;

	rt_ok(trn_queue_write(first, a, 0, out, MIB, &fence));
	rt_ok(trn_queue_wait_fence(queue, fence));
	rt_ok(trn_queue_write(other, b, 0, out, MIB, &fence));
	rt_ok(trn_queue_wait_fence(queue, fence));
	rt_ok(trn_queue_fill(queue, a, 0, 1, 4096, NULL));
	/* Both queues have done their work, so that nothing is canceled. */
	rt_ok(trn_queue_finish(first, RT_FOREVER));
	rt_ok(trn_queue_finish(other, RT_FOREVER));
	trn_queue_destroy(first);
	trn_device_close(second);
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	free(out);
}
END_TEST

START_TEST(test_destroy_with_work)
{
	struct trn_queue *other = rt_queue(device, 1, 0);
	struct trn_memory *memory = rt_alloc(device, 32 * MIB);
	uint8_t *out = calloc(1, 32 * MIB);
	unsigned int i;

	for (i = 0; i < 10; i++)
		rt_ok(trn_queue_write(other, memory, 0, out, 32 * MIB, NULL));
	rt_ok(trn_queue_write(other, memory, 0, out, 4, NULL));
	trn_queue_destroy(other);
	/* Nobody reads the buffer any more, and the core is free. */
	memset(out, 0xff, 32 * MIB);
	free(out);
	trn_queue_destroy(rt_queue(device, 2, 0));
}
END_TEST

/* ---- cores ---- */

START_TEST(test_cores)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_queue *first, *second, *third;

	options.core_mask = 2;
	rt_ok(trn_queue_create(device, &options, &first));
	ck_assert_uint_eq(trn_queue_cores(first), 2);
	ck_assert_uint_eq(trn_queue_core(first, 0), 1);
	ck_assert_uint_eq(trn_queue_core(first, 1), UINT32_MAX);
	rt_fails(trn_queue_create(device, &options, &second), TRN_ERR_BUSY,
		 "core 1 is held by process");
	options.core_mask = 0;
	options.core_count = 2;
	rt_fails(trn_queue_create(device, &options, &second), TRN_ERR_BUSY, "no 2 of 2 cores");
	options.core_count = 1;
	rt_ok(trn_queue_create(device, &options, &second));
	ck_assert_uint_eq(trn_queue_cores(second), 1);
	trn_queue_destroy(first);
	rt_ok(trn_queue_create(device, &options, &third));
	ck_assert_uint_eq(trn_queue_cores(third), 2);
	options.core_count = 3;
	rt_fails(trn_queue_create(device, &options, &first), TRN_ERR_INVALID, "cores 0 to 1");
	options.core_count = 0;
	options.core_mask = 1;
	options.core_count = 2;
	rt_fails(trn_queue_create(device, &options, &first), TRN_ERR_INVALID, "one of the two");
	options.core_count = 0;
	options.core_mask = 4;
	rt_fails(trn_queue_create(device, &options, &first), TRN_ERR_INVALID, "0x4");
	options.core_mask = 0;
	options.timeout_ns = UINT64_MAX;
	rt_fails(trn_queue_create(device, &options, &first), TRN_ERR_INVALID, "timeout_ns");
	rt_fails(trn_queue_create(device, NULL, NULL), TRN_ERR_INVALID, "NULL");
}
END_TEST

/* ---- a driver that counts and refuses ---- */

static struct trn_backend_ops ops;
static unsigned int submits;
static int refuse;

static int submit_count(struct trn_backend_device *backend, const struct trn_backend_job *job)
{
	submits++;
	return refuse ? refuse : trn_backend_emu.submit(backend, job);
}

static void ops_install(void)
{
	ops = trn_backend_emu;
	ops.submit = submit_count;
	submits = 0;
	refuse = 0;
	device->ops = &ops;
}

START_TEST(test_one_call_per_batch)
{
	struct trn_memory *memory = rt_alloc(device, 8192);
	uint32_t words[1000] = { 0 }, i;

	ops_install();
	for (i = 0; i < 100; i++)
		rt_ok(trn_queue_write(queue, memory, i * 4, &words[i], 4, NULL));
	ck_assert_uint_eq(submits, 0);
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_uint_eq(submits, 1);
	for (i = 0; i < TRN_BATCH_CMDS * 3; i++)
		rt_ok(trn_queue_write(queue, memory, i * 4, &words[i], 4, NULL));
	ck_assert_uint_eq(submits, 4);
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_uint_eq(submits, 4);
}
END_TEST

START_TEST(test_large_batch_is_sent)
{
	struct trn_memory *memory = rt_alloc(device, 40 * MIB);
	uint8_t *out = calloc(1, 40 * MIB);

	ops_install();
	rt_ok(trn_queue_write(queue, memory, 0, out, 40 * MIB, NULL));
	ck_assert_uint_eq(submits, 1);
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	free(out);
}
END_TEST

START_TEST(test_refused_submission)
{
	static const struct {
		int error;
		enum trn_status status;
		const char *word;
	} cases[] = {
		{ -ENOMEM, TRN_ERR_NO_HOST_MEMORY, "ulimit -l" },
		{ -ENODEV, TRN_ERR_GONE, "was removed" },
		{ -ENOENT, TRN_ERR_INVALID, "was freed" },
		{ -EINVAL, TRN_ERR_INVALID, "Invalid argument" },
	};
	struct trn_memory *memory = rt_alloc(device, 64);
	struct trn_queue *other = rt_queue(device, 0, 0);
	struct trn_fence fence;
	uint32_t word = 0;

	ops_install();
	refuse = cases[_i].error;
	rt_ok(trn_queue_write(queue, memory, 0, &word, 4, &fence));
	rt_fails(trn_queue_flush(queue), cases[_i].status, cases[_i].word);
	refuse = 0;
	rt_fails(trn_fence_wait(fence, RT_FOREVER), cases[_i].status, cases[_i].word);
	rt_fails(trn_queue_wait_fence(other, fence), cases[_i].status, cases[_i].word);
	rt_fails(trn_queue_read(queue, &word, memory, 0, 4, NULL), TRN_ERR_CANCELED,
		 cases[_i].word);
	/* Another queue is not concerned. */
	rt_ok(trn_queue_write(other, memory, 0, &word, 4, NULL));
	rt_ok(trn_queue_finish(other, RT_FOREVER));
	rt_ok(trn_queue_reset(queue));
	rt_ok(trn_queue_read(queue, &word, memory, 0, 4, &fence));
	rt_ok(trn_fence_wait(fence, RT_FOREVER));
}
END_TEST

/* ---- children ---- */

struct child {
	struct trn_child child;
	unsigned int number;
};

static unsigned int destroyed[4], destroyed_count;

static void child_destroy(struct trn_child *child)
{
	destroyed[destroyed_count++] =
		trn_list_entry(&child->link, struct child, child.link)->number;
}

START_TEST(test_children_go_newest_first)
{
	struct trn_queue *other = rt_queue(device, 0, 0);
	struct child children[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		children[i].child.destroy = child_destroy;
		children[i].number = i;
		trn_queue_child_add(other, &children[i].child);
	}
	trn_queue_child_remove(other, &children[1].child);
	trn_queue_destroy(other);
	ck_assert_uint_eq(destroyed_count, 3);
	ck_assert_uint_eq(destroyed[0], 3);
	ck_assert_uint_eq(destroyed[1], 2);
	ck_assert_uint_eq(destroyed[2], 0);
}
END_TEST

/* ---- threads ---- */

static struct trn_fence shared_fence;

static void *wait_thread(void *arg)
{
	(void)arg;
	return trn_fence_wait(shared_fence, RT_FOREVER) ? (void *)1 : NULL;
}

/* Several threads wait for one fence while its queue takes more work. */
START_TEST(test_waiting_threads)
{
	struct trn_memory *memory = rt_alloc(device, MIB);
	uint8_t *out = calloc(1, MIB);
	pthread_t threads[3];
	unsigned int round, i;
	void *wrong;

	for (round = 0; round < 30; round++) {
		rt_ok(trn_queue_write(queue, memory, 0, out, MIB, &shared_fence));
		for (i = 0; i < 3; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL, wait_thread, NULL), 0);
		rt_ok(trn_queue_fill(queue, memory, 0, round, 4096, NULL));
		for (i = 0; i < 3; i++) {
			pthread_join(threads[i], &wrong);
			ck_assert_ptr_null(wrong);
		}
	}
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	free(out);
}
END_TEST

/* A queue per thread, all on one device. */
static void *queue_thread(void *arg)
{
	uint32_t out[256], in[256], round, i, seed = (uintptr_t)arg;
	struct trn_memory *memory;
	struct trn_queue *own;

	if (trn_queue_create(device, NULL, &own) ||
	    trn_memory_alloc(device, sizeof(out), NULL, &memory))
		return (void *)1;
	for (round = 0; round < 50; round++) {
		for (i = 0; i < 256; i++)
			out[i] = seed * 1000 + round * 7 + i;
		if (trn_queue_write(own, memory, 0, out, sizeof(out), NULL) ||
		    trn_queue_read(own, in, memory, 0, sizeof(in), NULL) ||
		    trn_queue_finish(own, RT_FOREVER) || memcmp(out, in, sizeof(out)))
			return (void *)2;
	}
	trn_memory_free(memory);
	trn_queue_destroy(own);
	return NULL;
}

START_TEST(test_queue_per_thread)
{
	pthread_t threads[4];
	unsigned int i;
	void *wrong;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(
			pthread_create(&threads[i], NULL, queue_thread, (void *)(uintptr_t)i), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rt_queue");
	TCase *tc = tcase_create("queue");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_copy_sizes, 0, sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_test(tc, test_order);
	tcase_add_test(tc, test_fill_edges);
	tcase_add_test(tc, test_bad_arguments);
	tcase_add_test(tc, test_unmapped_buffer);
	tcase_add_test(tc, test_protected_buffer);
	tcase_add_test(tc, test_fence_values);
	tcase_add_test(tc, test_fence_fd);
	tcase_add_test(tc, test_fence_fd_closed_early);
	tcase_add_test(tc, test_empty_queue);
	tcase_add_test(tc, test_wait_across_queues);
	tcase_add_test(tc, test_wait_across_devices);
	tcase_add_test(tc, test_wait_fence_bounds);
	tcase_add_test(tc, test_waited_queue_goes_away);
	tcase_add_test(tc, test_destroy_with_work);
	tcase_add_test(tc, test_cores);
	tcase_add_test(tc, test_one_call_per_batch);
	tcase_add_test(tc, test_large_batch_is_sent);
	tcase_add_loop_test(tc, test_refused_submission, 0, 4);
	tcase_add_test(tc, test_children_go_newest_first);
	tcase_add_test(tc, test_waiting_threads);
	tcase_add_test(tc, test_queue_per_thread);
	suite_add_tcase(suite, tc);
	return rt_main(suite);
}
