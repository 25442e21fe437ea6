// SPDX-License-Identifier: BSD-2-Clause
/* Device and host memory: placement, zeroing, exhaustion, lifetime, generation of the buffers. */
#include <stdlib.h>
#include <string.h>

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

static uint64_t hbm_free(int stack)
{
	struct trn_device_info info = TRN_OPTIONS(info);

	rt_ok(trn_device_get_info(device, &info));
	return stack < 0 ? info.hbm_free : info.hbm_stack_free[stack];
}

START_TEST(test_bad_arguments)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_memory *memory;

	rt_fails(trn_memory_alloc(device, 0, NULL, &memory), TRN_ERR_INVALID, "0 bytes");
	rt_fails(trn_memory_alloc(device, 1, NULL, NULL), TRN_ERR_INVALID, "NULL");
	rt_fails(trn_memory_alloc(NULL, 1, NULL, &memory), TRN_ERR_INVALID, "NULL");
	options.alignment = 100;
	rt_fails(trn_memory_alloc(device, 1, &options, &memory), TRN_ERR_INVALID, "100");
	options.alignment = 1ull << 63;
	rt_fails(trn_memory_alloc(device, 1, &options, &memory), TRN_ERR_INVALID, "alignment");
	options.alignment = 0;
	options.stack = 2;
	rt_fails(trn_memory_alloc(device, 1, &options, &memory), TRN_ERR_INVALID, "stack 2");
	options.stack = -2;
	rt_fails(trn_memory_alloc(device, 1, &options, &memory), TRN_ERR_INVALID, "stack -2");
	options.stack = 0;
	options.host = 2;
	rt_fails(trn_memory_alloc(device, 1, &options, &memory), TRN_ERR_INVALID, "host");
	ck_assert_ptr_null(memory);
	trn_memory_free(NULL);
	ck_assert_uint_eq(trn_memory_size(NULL), 0);
	ck_assert_ptr_null(trn_memory_host_pointer(NULL));
}
END_TEST

START_TEST(test_huge_sizes)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_memory *memory;

	rt_fails(trn_memory_alloc(device, UINT64_MAX, NULL, &memory), TRN_ERR_NO_DEVICE_MEMORY,
		 "18446744073709551615");
	rt_fails(trn_memory_alloc(device, 1ull << 45, NULL, &memory), TRN_ERR_NO_DEVICE_MEMORY,
		 "32.00 TiB");
	options.host = 1;
	rt_fails(trn_memory_alloc(device, UINT64_MAX, &options, &memory), TRN_ERR_NO_HOST_MEMORY,
		 "18446744073709551615");
	options.host = 0;
	options.stack = TRN_STACK_ANY;
	rt_fails(trn_memory_alloc(device, UINT64_MAX - 4096, &options, &memory),
		 TRN_ERR_NO_DEVICE_MEMORY, "bytes");
}
END_TEST

START_TEST(test_out_of_memory_says_who)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_memory *weights, *memory;

	options.tag = "weights";
	rt_ok(trn_memory_alloc(device, 200 * MIB, &options, &weights));
	rt_fails(trn_memory_alloc(device, 60 * MIB, &options, &memory), TRN_ERR_NO_DEVICE_MEMORY,
		 "200.00 MiB in 1 blocks tagged \"weights\"");
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "emu:trn1"));
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "process "));
	/* The other stack has room. */
	options.stack = TRN_STACK_ANY;
	rt_ok(trn_memory_alloc(device, 60 * MIB, &options, &memory));
	trn_memory_free(weights);
	options.stack = 0;
	rt_ok(trn_memory_alloc(device, 230 * MIB, &options, &weights));
}
END_TEST

START_TEST(test_all_of_a_stack)
{
	uint64_t all = hbm_free(1);
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_memory *memory[2];

	options.stack = 1;
	rt_ok(trn_memory_alloc(device, all, &options, &memory[0]));
	ck_assert_uint_eq(hbm_free(1), 0);
	rt_fails(trn_memory_alloc(device, 1, &options, &memory[1]), TRN_ERR_NO_DEVICE_MEMORY,
		 "stack 1");
	trn_memory_free(memory[0]);
	rt_ok(trn_memory_alloc(device, 1, &options, &memory[1]));
}
END_TEST

/* Small blocks fill a stack to the last extent, however little is left for it. */
START_TEST(test_fill_by_small_blocks)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_memory *memory, *list[600];
	unsigned int count = 0;

	options.stack = 1;
	while (count < 600 && trn_memory_alloc(device, MIB / 2, &options, &memory) == TRN_OK)
		list[count++] = memory;
	ck_assert_uint_eq(count, 480);
	while (count)
		trn_memory_free(list[--count]);
	/* At most one unused buffer is kept. */
	ck_assert_uint_ge(hbm_free(1), 128 * MIB);
}
END_TEST

START_TEST(test_zeroed)
{
	uint64_t size = 3 * MIB;
	uint8_t *bytes = malloc(size);
	struct trn_memory *memory;
	unsigned int round;
	uint64_t i;

	for (round = 0; round < 4; round++) {
		memory = rt_alloc(device, size - round * 100000);
		memset(bytes, 0xff, size);
		rt_ok(trn_queue_read(queue, bytes, memory, 0, trn_memory_size(memory), NULL));
		rt_ok(trn_queue_finish(queue, RT_FOREVER));
		for (i = 0; i < trn_memory_size(memory); i++)
			ck_assert_msg(!bytes[i], "round %u, byte %lu is %u", round,
				      (unsigned long)i, bytes[i]);
		memset(bytes, 0xa5, size);
		rt_ok(trn_queue_write(queue, memory, 0, bytes, trn_memory_size(memory), NULL));
		trn_memory_free(memory);
	}
	free(bytes);
}
END_TEST

START_TEST(test_host_memory)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_memory *host, *again, *hbm = rt_alloc(device, 65536);
	uint8_t *pointer;
	unsigned int i;

	options.host = 1;
	options.alignment = 4096;
	rt_ok(trn_memory_alloc(device, 65536, &options, &host));
	pointer = trn_memory_host_pointer(host);
	ck_assert_ptr_nonnull(pointer);
	ck_assert_uint_eq((uintptr_t)pointer % 4096, 0);
	ck_assert_ptr_null(trn_memory_host_pointer(hbm));
	for (i = 0; i < 65536; i++)
		ck_assert_uint_eq(pointer[i], 0);
	rt_pattern(pointer, 65536, 3);
	rt_ok(trn_queue_copy(queue, hbm, 0, host, 0, 65536, NULL));
	rt_ok(trn_queue_fill(queue, host, 0, 0, 32768, NULL));
	rt_ok(trn_queue_copy(queue, host, 0, hbm, 32768, 32768, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_mem_eq(pointer, pointer + 32768, 32768);
	trn_memory_free(host);
	rt_ok(trn_memory_alloc(device, 65536, &options, &again));
	pointer = trn_memory_host_pointer(again);
	for (i = 0; i < 65536; i++)
		ck_assert_uint_eq(pointer[i], 0);
}
END_TEST

START_TEST(test_tags)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_memory *a, *b;
	struct trn_heap_tag tags[4];
	size_t count = 4;

	options.tag = "gradients";
	rt_ok(trn_memory_alloc(device, 1000, &options, &a));
	rt_ok(trn_memory_alloc(device, 1000, &options, &b));
	trn_memory_free(a);
	rt_ok(trn_heap_tags(device, tags, &count));
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(tags[0].tag, "gradients");
	ck_assert_uint_eq(tags[0].bytes, 1024);
	ck_assert_uint_eq(tags[0].blocks, 1);
	ck_assert_uint_eq(tags[0].peak, 2048);
	rt_fails(trn_heap_tags(device, NULL, &count), TRN_ERR_INVALID, "NULL");
}
END_TEST

START_TEST(test_generation)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	uint64_t before = trn_device_generation(device), generation;
	struct trn_memory *first = rt_alloc(device, 64), *second, *large;
	struct drm_trainium_program_bo *list;
	struct trn_place place;
	uint32_t count;

	generation = trn_device_generation(device);
	ck_assert_uint_ne(generation, before);
	second = rt_alloc(device, 64);
	ck_assert_uint_eq(trn_device_generation(device), generation);
	rt_ok(trn_device_buffers(device, &list, &count, &before));
	ck_assert_uint_eq(before, generation);
	ck_assert_uint_eq(count, 1);
	rt_ok(trn_memory_place(second, 10, 54, "test", &place));
	ck_assert_uint_eq(place.handle, list[0].handle);
	rt_fails(trn_memory_place(second, 10, 55, "test", &place), TRN_ERR_INVALID,
		 "55 bytes at offset 10");
	rt_fails(trn_memory_place(second, UINT64_MAX, 2, "test", &place), TRN_ERR_INVALID,
		 "pass the end");
	free(list);
	options.stack = 1;
	rt_ok(trn_memory_alloc(device, 64, &options, &large));
	ck_assert_uint_ne(trn_device_generation(device), generation);
	rt_ok(trn_device_buffers(device, &list, &count, &before));
	ck_assert_uint_eq(count, 2);
	free(list);
	trn_memory_free(first);
}
END_TEST

/* A held memory outlives its owner's free; its bytes come back with the last hold. */
START_TEST(test_hold)
{
	struct trn_memory *memory = rt_alloc(device, 1000);
	struct trn_heap_tag tag;
	size_t count = 1;

	trn_memory_get(memory);
	trn_memory_free(memory);
	rt_ok(trn_heap_tags(device, &tag, &count));
	ck_assert_uint_eq(tag.bytes, 1024);
	ck_assert_uint_eq(trn_memory_size(memory), 1000);
	trn_memory_put(memory);
	rt_ok(trn_heap_tags(device, &tag, &count));
	ck_assert_uint_eq(tag.bytes, 0);
}
END_TEST

/* Freeing waits for queued work, also for work that was not sent yet, on more queues than are
 * remembered one by one. */
START_TEST(test_free_waits_for_queues)
{
	struct trn_queue *queues[TRN_MEMORY_USES + 2];
	uint8_t *out = malloc(2 * MIB);
	struct trn_memory *memory = rt_alloc(device, 2 * MIB);
	struct trn_fence fences[TRN_MEMORY_USES + 2];
	unsigned int i;

	rt_pattern(out, 2 * MIB, 9);
	for (i = 0; i < TRN_MEMORY_USES + 2; i++) {
		queues[i] = rt_queue(device, 0, 0);
		rt_ok(trn_queue_write(queues[i], memory, 0, out, 2 * MIB, &fences[i]));
	}
	trn_memory_free(memory);
	for (i = 0; i < TRN_MEMORY_USES + 2; i++)
		ck_assert(trn_fence_done(fences[i]));
	free(out);
}
END_TEST

static void *alloc_thread(void *arg)
{
	struct trn_memory *memory[8];
	unsigned int round, i;

	(void)arg;
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 8; i++)
			if (trn_memory_alloc(device, (i + 1) * 70000, NULL, &memory[i]))
				return (void *)1;
		for (i = 0; i < 8; i++)
			trn_memory_free(memory[i]);
	}
	return NULL;
}

START_TEST(test_threads)
{
	pthread_t threads[4];
	void *wrong;
	unsigned int i;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, alloc_thread, NULL), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &wrong);
		ck_assert_ptr_null(wrong);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rt_memory");
	TCase *tc = tcase_create("memory");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_bad_arguments);
	tcase_add_test(tc, test_huge_sizes);
	tcase_add_test(tc, test_out_of_memory_says_who);
	tcase_add_test(tc, test_all_of_a_stack);
	tcase_add_test(tc, test_fill_by_small_blocks);
	tcase_add_test(tc, test_zeroed);
	tcase_add_test(tc, test_host_memory);
	tcase_add_test(tc, test_tags);
	tcase_add_test(tc, test_generation);
	tcase_add_test(tc, test_hold);
	tcase_add_test(tc, test_free_waits_for_queues);
	tcase_add_test(tc, test_threads);
	suite_add_tcase(suite, tc);
	return rt_main(suite);
}
