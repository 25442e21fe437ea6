// SPDX-License-Identifier: BSD-2-Clause
/* Products and whole machines: Trn2 with all its cores and stacks, sixteen of them, topology. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trn/builder.h"

#include "rt_rig.h"

#define DEVICES	  16u
#define TRN2	  "emu:trn2"
#define TRN2_TINY "emu:trn2,hbm=64M"
/* Of real size; ThreadSanitizer leaves no room for that much address space. */
#if defined(__SANITIZE_THREAD__)
#define TRN2_OF_16 "emu:trn2,hbm=1G"
#define HBM_OF_16  (3ull << 30)
#else
#define TRN2_OF_16 TRN2
#define HBM_OF_16  (95ull << 30)
#endif

/* Device index of each routing id of Trn2. */
static const uint32_t place[DEVICES] = { 0, 3, 4, 7, 12, 15, 8, 11, 1, 2, 5, 6, 13, 14, 9, 10 };

/* Bytes of this process that are in memory. */
static uint64_t resident(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%*u %lu", &pages), 1);
	fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* There and back through @stack. */
static void copy_check(struct trn_device *device, int stack, uint32_t seed)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_queue *queue = rt_queue(device, 0, 0);
	struct trn_memory *memory;
	uint8_t out[5000], in[5000];

	options.stack = stack;
	rt_ok(trn_memory_alloc(device, 1 << 20, &options, &memory));
	rt_pattern(out, sizeof(out), seed);
	memset(in, 0, sizeof(in));
	rt_ok(trn_queue_write(queue, memory, 777, out, sizeof(out), NULL));
	rt_ok(trn_queue_read(queue, in, memory, 777, sizeof(in), NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_mem_eq(in, out, sizeof(out));
	trn_memory_free(memory);
	trn_queue_destroy(queue);
}

START_TEST(test_trn2_info)
{
	struct trn_device_info info = TRN_OPTIONS(info);
	struct trn_device *device = rt_open(TRN2);
	int i;

	rt_ok(trn_device_get_info(device, &info));
	ck_assert_str_eq(info.arch, "trn2");
	ck_assert_str_eq(info.product, "Trainium2");
	ck_assert_uint_eq(info.generation, 3);
	ck_assert_uint_eq(info.cores, 8);
	ck_assert_uint_eq(info.stacks, 4);
	ck_assert_uint_eq(info.dma_engines, 132);
	ck_assert_uint_eq(info.hbm_total, 4 * ((24ull << 30) - (16ull << 20)));
	for (i = 0; i < 4; i++)
		copy_check(device, i, i + 1);
	trn_device_close(device);
}
END_TEST

/* A queue per core, all busy at once; a ninth core does not exist. */
START_TEST(test_trn2_all_cores)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_insn insns[] = { rt_insn(TRN_OP_NOP), rt_insn(TRN_OP_HALT) };
	struct trn_device_info info = TRN_OPTIONS(info);
	struct trn_device *device = rt_open(TRN2_TINY);
	struct rt_program program[8];
	struct trn_queue *queue[8], *none;
	unsigned int i, round, used = 0;

	for (i = 0; i < 8; i++) {
		queue[i] = rt_queue(device, 1, 0);
		used |= 1u << trn_queue_core(queue[i], 0);
		rt_program_make(&program[i], queue[i], insns, 2);
	}
	ck_assert_uint_eq(used, 0xff);
	options.core_count = 1;
	rt_fails(trn_queue_create(device, &options, &none), TRN_ERR_BUSY, "core");
	for (round = 0; round < 50; round++)
		for (i = 0; i < 8; i++)
			rt_ok(rt_program_run(&program[i], NULL));
	for (i = 0; i < 8; i++)
		rt_ok(trn_queue_finish(queue[i], RT_FOREVER));
	rt_ok(trn_device_get_info(device, &info));
	for (i = 0; i < 8; i++) {
		ck_assert_uint_eq(info.core[i].runs, 50);
		rt_program_free(&program[i]);
		trn_queue_destroy(queue[i]);
	}
	trn_device_close(device);
}
END_TEST

/* One queue that owns the whole device. */
START_TEST(test_trn2_queue_of_eight)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_device *device = rt_open(TRN2_TINY);
	struct trn_queue *queue = rt_queue(device, 8, 0), *more;
	unsigned int i;

	for (i = 0; i < 8; i++)
		ck_assert_uint_eq(trn_queue_core(queue, i), i);
	trn_queue_destroy(queue);
	options.core_count = 9;
	rt_fails(trn_queue_create(device, &options, &more), TRN_ERR_INVALID, "cores 0 to 7");
	trn_device_close(device);
}
END_TEST

/* Copies a tensor through a tile that fills what a partition of @generation has. */
static struct trn_image *full_partition(uint32_t generation, uint32_t *columns)
{
	struct trn_builder *b = trn_builder_create("full", generation);
	uint64_t shape[2] = { 2, 0 };
	struct trn_image *image;
	struct trn_view view;
	int in, out;

	ck_assert_ptr_nonnull(b);
	*columns = trn_builder_tile_space(b, TRN_MEM_SBUF) / sizeof(uint32_t);
	shape[1] = *columns;
	in = trn_builder_tensor(b, "in", TRN_TENSOR_INPUT, TRN_DTYPE_INT32, shape, 2, NULL);
	out = trn_builder_tensor(b, "out", TRN_TENSOR_OUTPUT, TRN_DTYPE_INT32, shape, 2, NULL);
	view = trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 2, *columns * sizeof(uint32_t)),
			TRN_DTYPE_INT32, *columns);
	trn_builder_load(b, view, in, 0, *columns * sizeof(uint32_t));
	trn_builder_store(b, out, 0, *columns * sizeof(uint32_t), view);
	rt_ok(trn_builder_finish(b, &image));
	trn_builder_free(b);
	return image;
}

START_TEST(test_image_of_each_generation)
{
	struct trn_device *trn1 = rt_open(RT_SPEC), *trn2 = rt_open(TRN2_TINY);
	struct trn_queue *on1 = rt_queue(trn1, 1, 0), *on2 = rt_queue(trn2, 1, 0);
	struct trn_program *program = NULL;
	uint32_t columns2, columns3, *data, *back;
	struct trn_image *v2 = full_partition(2, &columns2), *v3 = full_partition(3, &columns3);
	size_t bytes = 2 * sizeof(uint32_t) * columns3;
	struct trn_memory *memory;
	uint64_t offset;

	ck_assert_uint_eq(columns2 * sizeof(uint32_t), TRN_SBUF_PARTITION_BYTES_V2);
	ck_assert_uint_eq(columns3 * sizeof(uint32_t), TRN_SBUF_PARTITION_BYTES_V3);
	rt_fails(trn_program_load(on1, 0, v3, NULL, 0, &program), TRN_ERR_UNSUPPORTED,
		 "generation 3");
	rt_ok(trn_program_load(on1, 0, v2, NULL, 0, &program));
	trn_program_unload(program);
	rt_ok(trn_program_load(on2, 0, v2, NULL, 0, &program));
	trn_program_unload(program);

	data = malloc(bytes);
	back = calloc(1, bytes);
	ck_assert(data && back);
	rt_pattern((uint8_t *)data, bytes, 9);
	rt_ok(trn_program_load(on2, 0, v3, NULL, 0, &program));
	rt_ok(trn_program_tensor(program, "in", &memory, &offset, NULL));
	rt_ok(trn_queue_write(on2, memory, offset, data, bytes, NULL));
	rt_ok(trn_program_run(program, NULL, 0, NULL));
	rt_ok(trn_program_tensor(program, "out", &memory, &offset, NULL));
	rt_ok(trn_queue_read(on2, back, memory, offset, bytes, NULL));
	rt_ok(trn_queue_finish(on2, RT_FOREVER));
	ck_assert_mem_eq(data, back, bytes);
	trn_program_unload(program);
	free(data);
	free(back);
	trn_image_free(v2);
	trn_image_free(v3);
	trn_device_close(trn1);
	trn_device_close(trn2);
}
END_TEST

/* The real size of everything; what nobody touched costs nothing. */
START_TEST(test_sixteen_trn2)
{
	static struct trn_device_info list[DEVICES];
	struct trn_device *device[DEVICES];
	uint32_t to[TRN_NEIGHBOURS_MAX];
	uint64_t before = resident(), grown;
	char spec[64];
	uint32_t i;

	for (i = 0; i < DEVICES; i++) {
		snprintf(spec, sizeof(spec), TRN2_OF_16 ",routing-id=%u", i);
		device[i] = rt_open(spec);
		list[i].size = sizeof(list[i]);
		rt_ok(trn_device_get_info(device[i], &list[i]));
		ck_assert_uint_eq(list[i].routing_id, i);
		ck_assert_uint_eq(list[i].device_index, place[i]);
		ck_assert_uint_ge(list[i].hbm_free, HBM_OF_16);
	}
	for (i = 0; i < DEVICES; i++) {
		copy_check(device[i], i % 4, i);
		ck_assert_uint_eq(trn_device_neighbours(list, DEVICES, i, to), 4);
	}
	grown = resident() - before;
	ck_assert_msg(grown < 1ull << 30, "16 devices take %llu MiB",
		      (unsigned long long)grown >> 20);
	/* Device 0: links of its four groups of engines, by device index 12, 1, 3, 4. */
	trn_device_neighbours(list, DEVICES, 0, to);
	ck_assert_uint_eq(list[to[0]].device_index, 12);
	ck_assert_uint_eq(list[to[1]].device_index, 1);
	ck_assert_uint_eq(list[to[2]].device_index, 3);
	ck_assert_uint_eq(list[to[3]].device_index, 4);
	for (i = 0; i < DEVICES; i++)
		trn_device_close(device[i]);
}
END_TEST

/* A machine as a list has it; nothing is opened. */
static struct trn_device_info *machine(const char *arch, uint32_t count)
{
	struct trn_device_info *list = calloc(count, sizeof(*list));
	uint32_t i;

	ck_assert_ptr_nonnull(list);
	for (i = 0; i < count; i++) {
		list[i].size = sizeof(*list);
		snprintf(list[i].arch, sizeof(list[i].arch), "%s", arch);
		list[i].device_index = i;
	}
	return list;
}

START_TEST(test_neighbours_by_machine)
{
	static const struct {
		const char *arch;
		uint32_t count, links;
	} cases[] = {
		{ "trn1", 16, 4 }, { "trn1", 1, 0 },  { "trn1", 15, 0 }, { "trn1", 32, 4 },
		{ "trn2", 16, 4 }, { "trn2", 4, 0 },  { "trn2", 64, 4 }, { "inf2", 12, 2 },
		{ "inf2", 6, 2 },  { "inf2", 16, 0 }, { "trn9", 16, 0 }, { "", 16, 0 },
	};
	struct trn_device_info *list = machine(cases[_i].arch, cases[_i].count);
	uint32_t to[TRN_NEIGHBOURS_MAX];

	ck_assert_uint_eq(trn_device_neighbours(list, cases[_i].count, 1, to),
			  cases[_i].count > 1 ? cases[_i].links : 0);
	ck_assert_uint_eq(trn_device_neighbours(list, cases[_i].count, cases[_i].count, to), 0);
	ck_assert_uint_eq(trn_device_neighbours(list, 0, 0, to), 0);
	free(list);
}
END_TEST

/* The order of the list does not matter, and a device that is counted twice leaves no machine. */
START_TEST(test_neighbours_by_position)
{
	struct trn_device_info *list = machine("inf2", 6);
	uint32_t to[TRN_NEIGHBOURS_MAX], i;

	for (i = 0; i < 6; i++)
		list[i].device_index = 5 - i;
	ck_assert_uint_eq(trn_device_neighbours(list, 6, 0, to), 1);
	ck_assert_uint_eq(to[0], 1);
	ck_assert_uint_eq(trn_device_neighbours(list, 6, 2, to), 2);
	ck_assert_uint_eq(to[0], 3);
	ck_assert_uint_eq(to[1], 1);
	list[1].device_index = 0;
	ck_assert_uint_eq(trn_device_neighbours(list, 6, 0, to), 0);
	free(list);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rt_machine");
	TCase *tc = tcase_create("machine");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_trn2_info);
	tcase_add_test(tc, test_trn2_all_cores);
	tcase_add_test(tc, test_trn2_queue_of_eight);
	tcase_add_test(tc, test_image_of_each_generation);
	tcase_add_test(tc, test_sixteen_trn2);
	tcase_add_loop_test(tc, test_neighbours_by_machine, 0, 12);
	tcase_add_test(tc, test_neighbours_by_position);
	suite_add_tcase(suite, tc);
	return rt_main(suite);
}
