// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loading and running programs through the whole stack in process: backend, hardware layer, device
 * model.
 */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "rt_rig.h"
#include "tnx.h"
#include "trn/builder.h"
#include "trn/kernels.h"

/** struct bench - a device with a queue of one core. */
struct bench {
	struct trn_device *device;
	struct trn_queue *queue;
};

static struct bench bench_open(void)
{
	struct bench b;

	b.device = rt_open(RT_SPEC);
	b.queue = rt_queue(b.device, 1, 0);
	return b;
}

static void bench_close(struct bench *b)
{
	trn_queue_destroy(b->queue);
	trn_device_close(b->device);
}

static struct trn_program *load(struct trn_queue *queue, enum trn_status built,
				struct trn_image **image)
{
	struct trn_program *program = NULL;

	ck_assert_msg(built == TRN_OK, "%s", trn_error_text());
	rt_ok(trn_program_load(queue, 0, *image, NULL, 0, &program));
	trn_image_free(*image);
	*image = NULL;
	return program;
}

static void put(struct trn_queue *queue, struct trn_program *program, const char *name,
		const void *data, size_t bytes)
{
	struct trn_memory *memory;
	struct trn_fence fence;
	uint64_t offset;

	rt_ok(trn_program_tensor(program, name, &memory, &offset, NULL));
	rt_ok(trn_queue_write(queue, memory, offset, data, bytes, &fence));
	rt_ok(trn_fence_wait(fence, RT_FOREVER));
}

static void get(struct trn_queue *queue, struct trn_program *program, const char *name, void *data,
		size_t bytes)
{
	struct trn_memory *memory;
	struct trn_fence fence;
	uint64_t offset;

	rt_ok(trn_program_tensor(program, name, &memory, &offset, NULL));
	rt_ok(trn_queue_read(queue, data, memory, offset, bytes, &fence));
	rt_ok(trn_fence_wait(fence, RT_FOREVER));
}

/* a += b, checked; leaves the program usable. */
static void add_once(struct trn_queue *queue, struct trn_program *program, uint32_t count)
{
	float *a = malloc(count * 4), *b = malloc(count * 4);
	struct trn_fence fence;
	uint32_t i;

	for (i = 0; i < count; i++) {
		a[i] = (float)i;
		b[i] = (float)(i % 100);
	}
	put(queue, program, "a", a, count * 4);
	put(queue, program, "b", b, count * 4);
	rt_ok(trn_program_run(program, NULL, 0, &fence));
	rt_ok(trn_fence_wait(fence, RT_FOREVER));
	get(queue, program, "a", a, count * 4);
	for (i = 0; i < count; i++)
		ck_assert_float_eq(a[i], (float)i + b[i]);
	free(a);
	free(b);
}

START_TEST(test_add)
{
	static const uint32_t counts[] = { 1, 1000, 300000 };
	struct bench b = bench_open();
	struct trn_image *image = NULL;
	struct trn_program *program = load(b.queue, trn_kernel_add(counts[_i], &image), &image);

	add_once(b.queue, program, counts[_i]);
	add_once(b.queue, program, counts[_i]);
	trn_program_unload(program);
	bench_close(&b);
}
END_TEST

START_TEST(test_matmul)
{
	struct trn_matmul_options o = {
		.size = sizeof(o), .m = 130, .n = 520, .k = 140, .bias = 1
	};
	struct bench b = bench_open();
	struct trn_image *image = NULL;
	struct trn_program *program = load(b.queue, trn_kernel_matmul(&o, &image), &image);
	float *x = malloc(130 * 140 * 4), *y = malloc(140 * 520 * 4), *z = malloc(130 * 520 * 4),
	      bias[520];
	uint32_t i, k;

	for (i = 0; i < 130 * 140; i++)
		x[i] = (float)(i % 13) - 6;
	for (i = 0; i < 140 * 520; i++)
		y[i] = (float)(i % 7) - 3;
	for (i = 0; i < 520; i++)
		bias[i] = (float)i;
	put(b.queue, program, "a", x, 130 * 140 * 4);
	put(b.queue, program, "b", y, 140 * 520 * 4);
	put(b.queue, program, "bias", bias, sizeof(bias));
	rt_ok(trn_program_run(program, NULL, 0, NULL));
	get(b.queue, program, "c", z, 130 * 520 * 4);
	for (i = 0; i < 130 * 520; i++) {
		float want = bias[i % 520];

		for (k = 0; k < 140; k++)
			want += x[i / 520 * 140 + k] * y[k * 520 + i % 520];
		ck_assert_float_eq(z[i], want); /* small integers: exact */
	}
	trn_program_unload(program);
	bench_close(&b);
	free(x);
	free(y);
	free(z);
}
END_TEST

/* Run arguments reach the registers. */
START_TEST(test_arguments)
{
	struct bench b = bench_open();
	struct trn_builder *builder = trn_builder_create("scale", 2);
	struct trn_image *image = NULL;
	struct trn_program *program;
	uint64_t n = 8;
	int x = trn_builder_tensor(builder, "x", TRN_TENSOR_STATE, TRN_DTYPE_FP32, &n, 1, NULL), i;
	struct trn_view v =
		trn_view(trn_builder_tile(builder, TRN_MEM_SBUF, 1, 32), TRN_DTYPE_FP32, 8);
	float data[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, args[16] = { 0 };

	trn_builder_load(builder, v, x, 0, 0);
	trn_emit_tensor_scalar(builder, TRN_ENGINE_DVE, v, v, TRN_ALU_MUL, trn_scalar_register(3),
			       TRN_ALU_ADD, trn_scalar_register(15), 0);
	trn_builder_store(builder, x, 0, 0, v);
	program = load(b.queue, trn_builder_finish(builder, &image), &image);
	trn_builder_free(builder);
	put(b.queue, program, "x", data, sizeof(data));
	args[3] = 10;
	args[15] = 0.5f;
	rt_ok(trn_program_run(program, args, sizeof(args), NULL));
	args[3] = 2;
	rt_ok(trn_program_run(program, args, sizeof(args), NULL));
	get(b.queue, program, "x", data, sizeof(data));
	for (i = 0; i < 8; i++)
		ck_assert_float_eq(data[i], ((float)(i + 1) * 10 + 0.5f) * 2 + 0.5f);
	rt_fails(trn_program_run(program, args, 257, NULL), TRN_ERR_INVALID, "257 bytes");
	rt_fails(trn_program_run(program, args, 260, NULL), TRN_ERR_INVALID, "260 bytes");
	rt_fails(trn_program_run(program, args, 3, NULL), TRN_ERR_INVALID, "3 bytes");
	rt_fails(trn_program_run(program, NULL, 4, NULL), TRN_ERR_INVALID, "args");
	rt_fails(trn_program_run(NULL, NULL, 0, NULL), TRN_ERR_INVALID, "program");
	trn_program_unload(program);
	bench_close(&b);
}
END_TEST

START_TEST(test_tensors)
{
	struct bench b = bench_open();
	struct trn_image *image = NULL;
	struct trn_program *program = load(b.queue, trn_kernel_softmax(3, 5, &image), &image);
	struct trn_tensor_info info;
	struct trn_memory *memory;
	uint64_t offset;

	rt_ok(trn_program_tensor(program, "x", &memory, &offset, &info));
	ck_assert_uint_eq(info.bytes, 60);
	ck_assert_uint_eq(info.rank, 2);
	ck_assert_uint_ge(trn_memory_size(memory), offset + 60);
	rt_ok(trn_program_tensor(program, "y", NULL, NULL, NULL));
	rt_fails(trn_program_tensor(program, "z", NULL, NULL, NULL), TRN_ERR_NOT_FOUND, "\"z\"");
	rt_fails(trn_program_tensor(program, NULL, NULL, NULL, NULL), TRN_ERR_INVALID, "name");
	trn_program_unload(program);
	trn_program_unload(NULL);
	bench_close(&b);
}
END_TEST

/* ---- bindings ---- */

START_TEST(test_binding_shared)
{
	struct bench b = bench_open();
	struct trn_memory *shared = rt_alloc(b.device, 4096 + 400);
	struct trn_binding first[] = { { "a", shared, 4096 } },
			   second[] = { { "b", shared, 4096 } };
	struct trn_program *p, *q;
	struct trn_image *image = NULL;
	float x[100], y[100];
	int i;

	rt_ok(trn_kernel_add(100, &image));
	rt_ok(trn_program_load(b.queue, 0, image, first, 1, &p));
	rt_ok(trn_program_load(b.queue, 0, image, second, 1, &q));
	trn_image_free(image);
	for (i = 0; i < 100; i++)
		x[i] = (float)i;
	put(b.queue, p, "a", x, sizeof(x));
	put(b.queue, p, "b", x, sizeof(x));
	rt_ok(trn_program_run(p, NULL, 0, NULL)); /* shared = 2 x */
	rt_ok(trn_program_run(q, NULL, 0, NULL)); /* a of q = 0 + 2 x */
	rt_ok(trn_program_run(q, NULL, 0, NULL));
	get(b.queue, q, "a", y, sizeof(y));
	for (i = 0; i < 100; i++)
		ck_assert_float_eq(y[i], 4 * x[i]);
	/* The owner may free before the programs are unloaded. */
	trn_memory_free(shared);
	rt_ok(trn_program_run(q, NULL, 0, NULL));
	get(b.queue, q, "a", y, sizeof(y));
	ck_assert_float_eq(y[99], 6 * x[99]);
	trn_program_unload(p);
	trn_program_unload(q);
	bench_close(&b);
}
END_TEST

START_TEST(test_binding_host)
{
	struct bench b = bench_open();
	struct trn_memory_options o = { .size = sizeof(o), .stack = TRN_STACK_ANY, .host = 1 };
	struct trn_binding binding = { "b", NULL, 0 };
	struct trn_program *program;
	struct trn_image *image = NULL;
	float x[64] = { 0 }, *host;
	int i;

	rt_ok(trn_memory_alloc(b.device, sizeof(x), &o, &binding.memory));
	host = trn_memory_host_pointer(binding.memory);
	for (i = 0; i < 64; i++)
		host[i] = (float)i * 3;
	rt_ok(trn_kernel_add(64, &image));
	rt_ok(trn_program_load(b.queue, 0, image, &binding, 1, &program));
	trn_image_free(image);
	put(b.queue, program, "a", x, sizeof(x));
	rt_ok(trn_program_run(program, NULL, 0, NULL));
	get(b.queue, program, "a", x, sizeof(x));
	for (i = 0; i < 64; i++)
		ck_assert_float_eq(x[i], (float)i * 3);
	trn_program_unload(program);
	trn_memory_free(binding.memory);
	bench_close(&b);
}
END_TEST

START_TEST(test_binding_bad)
{
	struct bench b = bench_open(), other = { NULL, NULL };
	struct trn_memory *m = rt_alloc(b.device, 400);
	struct trn_binding list[2] = { { "a", m, 0 }, { "b", m, 0 } };
	struct trn_program *program = (struct trn_program *)1;
	struct trn_image *image = NULL;

	rt_ok(trn_kernel_add(100, &image));
	switch (_i) {
	case 0:
		list[0].name = "nothing";
		rt_fails(trn_program_load(b.queue, 0, image, list, 2, &program), TRN_ERR_NOT_FOUND,
			 "\"nothing\"");
		break;
	case 1:
		list[1].name = "a";
		rt_fails(trn_program_load(b.queue, 0, image, list, 2, &program), TRN_ERR_INVALID,
			 "bound twice");
		break;
	case 2:
		list[0].offset = 4;
		rt_fails(trn_program_load(b.queue, 0, image, list, 2, &program), TRN_ERR_INVALID,
			 "400 bytes");
		break;
	case 3:
		list[0].offset = UINT64_MAX - 3;
		rt_fails(trn_program_load(b.queue, 0, image, list, 2, &program), TRN_ERR_INVALID,
			 "400 bytes");
		break;
	case 4:
		list[0].offset = 2;
		rt_fails(trn_program_load(b.queue, 0, image, list, 2, &program), TRN_ERR_INVALID,
			 "multiple of 4");
		break;
	case 5:
		list[0].memory = NULL;
		rt_fails(trn_program_load(b.queue, 0, image, list, 2, &program), TRN_ERR_INVALID,
			 "no memory");
		break;
	case 6:
		list[0].name = NULL;
		rt_fails(trn_program_load(b.queue, 0, image, list, 2, &program), TRN_ERR_INVALID,
			 "no name");
		break;
	case 7:
		rt_fails(trn_program_load(b.queue, 0, image, NULL, 2, &program), TRN_ERR_INVALID,
			 "bindings");
		program = NULL;
		break;
	case 8:
		other = bench_open();
		rt_fails(trn_program_load(other.queue, 0, image, list, 1, &program),
			 TRN_ERR_INVALID, "belongs to");
		bench_close(&other);
		break;
	}
	ck_assert_ptr_null(program);
	trn_image_free(image);
	trn_memory_free(m);
	bench_close(&b);
}
END_TEST

START_TEST(test_constant_bound)
{
	static const float one = 1;
	struct bench b = bench_open();
	struct trn_builder *builder = trn_builder_create("constant", 2);
	struct trn_memory *m = rt_alloc(b.device, 4);
	struct trn_binding binding = { "c", m, 0 };
	struct trn_program *program;
	struct trn_image *image = NULL;
	uint64_t n = 1;
	int c = trn_builder_tensor(builder, "c", TRN_TENSOR_CONSTANT, TRN_DTYPE_FP32, &n, 1, &one);
	int y = trn_builder_tensor(builder, "y", TRN_TENSOR_OUTPUT, TRN_DTYPE_FP32, &n, 1, NULL);
	float out = 0;

	trn_builder_copy(builder, y, 0, c, 0, 4);
	rt_ok(trn_builder_finish(builder, &image));
	trn_builder_free(builder);
	rt_fails(trn_program_load(b.queue, 0, image, &binding, 1, &program), TRN_ERR_INVALID,
		 "constant");
	rt_ok(trn_program_load(b.queue, 0, image, NULL, 0, &program));
	rt_ok(trn_program_run(program, NULL, 0, NULL));
	get(b.queue, program, "y", &out, 4);
	ck_assert_float_eq(out, 1);
	trn_image_free(image);
	trn_program_unload(program);
	trn_memory_free(m);
	bench_close(&b);
}
END_TEST

/* ---- loading ---- */

START_TEST(test_load_bad)
{
	struct bench b = bench_open();
	struct trn_queue *copies = rt_queue(b.device, 0, 0);
	struct trn_program *program = NULL;
	struct trn_image *image = NULL;

	rt_ok(trn_kernel_add(10, &image));
	rt_fails(trn_program_load(b.queue, 1, image, NULL, 0, &program), TRN_ERR_INVALID,
		 "index 1");
	rt_fails(trn_program_load(copies, 0, image, NULL, 0, &program), TRN_ERR_INVALID,
		 "owns 0 cores");
	rt_fails(trn_program_load(NULL, 0, image, NULL, 0, &program), TRN_ERR_INVALID, "queue");
	rt_fails(trn_program_load(b.queue, 0, NULL, NULL, 0, &program), TRN_ERR_INVALID, "image");
	rt_fails(trn_program_load(b.queue, 0, image, NULL, 0, NULL), TRN_ERR_INVALID, "program");
	image->generation = 3;
	rt_fails(trn_program_load(b.queue, 0, image, NULL, 0, &program), TRN_ERR_UNSUPPORTED,
		 "generation 3");
	ck_assert_ptr_null(program);
	trn_image_free(image);
	trn_queue_destroy(copies);
	bench_close(&b);
}
END_TEST

/* The driver refuses what an image that bypassed the builder asks for; nothing stays behind. */
START_TEST(test_load_refused)
{
	struct bench b = bench_open();
	struct trn_program *program = NULL;
	struct trn_image *image = NULL;
	struct trn_device_info before = TRN_OPTIONS(before), after = TRN_OPTIONS(after);

	rt_ok(trn_device_get_info(b.device, &before));
	rt_ok(trn_kernel_add(1000, &image));
	image->rings[0].xfers[0].length = 1000000;
	ck_assert_int_ne(trn_program_load(b.queue, 0, image, NULL, 0, &program), TRN_OK);
	ck_assert_ptr_null(program);
	trn_image_free(image);
	image = NULL;
	program = load(b.queue, trn_kernel_add(1000, &image), &image);
	add_once(b.queue, program, 1000);
	trn_program_unload(program);
	rt_ok(trn_device_get_info(b.device, &after));
	ck_assert_uint_eq(before.hbm_total, after.hbm_total);
	bench_close(&b);
}
END_TEST

START_TEST(test_too_large)
{
	struct bench b = bench_open();
	struct trn_program *program = NULL;
	struct trn_builder *builder = trn_builder_create("huge", 2);
	struct trn_image *image = NULL;
	uint64_t n = 1ull << 33;
	int t = trn_builder_tensor(builder, "t", TRN_TENSOR_STATE, TRN_DTYPE_FP32, &n, 1, NULL);

	trn_builder_copy(builder, t, 0, t, 1024, 1024);
	rt_ok(trn_builder_finish(builder, &image));
	trn_builder_free(builder);
	rt_fails(trn_program_load(b.queue, 0, image, NULL, 0, &program), TRN_ERR_NO_DEVICE_MEMORY,
		 "34359738368");
	ck_assert_ptr_null(program);
	trn_image_free(image);
	image = NULL;
	program = load(b.queue, trn_kernel_add(100, &image), &image);
	add_once(b.queue, program, 100);
	bench_close(&b); /* with the program still loaded */
}
END_TEST

/* Loading and unloading leaves the accounting of the heap where it was. */
START_TEST(test_load_unload)
{
	struct bench b = bench_open();
	struct trn_heap_tag tags[8];
	struct trn_image *image = NULL;
	size_t count, i;
	int round;

	for (round = 0; round < 40; round++) {
		struct trn_program *program = load(b.queue, trn_kernel_add(5000, &image), &image);

		if (round % 10 == 0)
			add_once(b.queue, program, 5000);
		trn_program_unload(program);
	}
	count = 8;
	rt_ok(trn_heap_tags(b.device, tags, &count));
	for (i = 0; i < count && i < 8; i++)
		ck_assert_msg(tags[i].bytes == 0, "%s holds %llu bytes", tags[i].tag,
			      (unsigned long long)tags[i].bytes);
	bench_close(&b);
}
END_TEST

START_TEST(test_file)
{
	char path[] = "/tmp/test_program.XXXXXX";
	struct bench b = bench_open();
	struct trn_image *image = NULL;
	struct trn_program *program;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	rt_ok(trn_kernel_add(777, &image));
	rt_ok(trn_image_save(image, path));
	trn_image_free(image);
	rt_ok(trn_image_open(path, &image));
	unlink(path);
	program = load(b.queue, TRN_OK, &image);
	add_once(b.queue, program, 777);
	trn_program_unload(program);
	bench_close(&b);
}
END_TEST

/* ---- running ---- */

START_TEST(test_thousand_runs)
{
	struct bench b = bench_open();
	struct trn_image *image = NULL;
	struct trn_program *program = load(b.queue, trn_kernel_add(256, &image), &image);
	float a[256] = { 0 }, one[256];
	int i;

	for (i = 0; i < 256; i++)
		one[i] = 1;
	put(b.queue, program, "a", a, sizeof(a));
	put(b.queue, program, "b", one, sizeof(one));
	for (i = 0; i < 1000; i++)
		rt_ok(trn_program_run(program, NULL, 0, NULL));
	rt_ok(trn_queue_finish(b.queue, RT_FOREVER));
	get(b.queue, program, "a", a, sizeof(a));
	for (i = 0; i < 256; i++)
		ck_assert_float_eq(a[i], 1000);
	trn_program_unload(program);
	bench_close(&b);
}
END_TEST

/*
 * Two programs in turn on one core: each finds its rings at their beginning and its semaphores at
 * zero.
 */
START_TEST(test_two_programs)
{
	struct bench b = bench_open();
	struct trn_image *image = NULL;
	struct trn_program *add = load(b.queue, trn_kernel_add(3000, &image), &image);
	struct trn_program *soft = load(b.queue, trn_kernel_softmax(10, 10, &image), &image);
	float x[100] = { 0 }, y[100];
	int i;

	put(b.queue, soft, "x", x, sizeof(x));
	for (i = 0; i < 20; i++) {
		add_once(b.queue, add, 3000);
		rt_ok(trn_program_run(soft, NULL, 0, NULL));
		get(b.queue, soft, "y", y, sizeof(y));
		ck_assert_float_eq_tol(y[55], 0.1f, 1e-6f);
	}
	trn_program_unload(add);
	trn_program_unload(soft);
	bench_close(&b);
}
END_TEST

/** struct worker - a thread that runs programs on a core of its own. */
struct worker {
	struct trn_device *device;
	pthread_t thread;
};

static void *work(void *opaque)
{
	struct worker *w = opaque;
	struct trn_queue *queue = rt_queue(w->device, 1, 0);
	struct trn_image *image = NULL;
	struct trn_program *program = load(queue, trn_kernel_add(2000, &image), &image);
	int i;

	for (i = 0; i < 20; i++)
		add_once(queue, program, 2000);
	trn_program_unload(program);
	trn_queue_destroy(queue);
	return NULL;
}

START_TEST(test_two_cores)
{
	struct trn_device *device = rt_open(RT_SPEC);
	struct worker w[2] = { { device, 0 }, { device, 0 } };
	int i;

	for (i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	for (i = 0; i < 2; i++)
		pthread_join(w[i].thread, NULL);
	trn_device_close(device);
}
END_TEST

/* ---- bad programs ---- */

static struct trn_program *raw(struct trn_queue *queue, const struct trn_insn *insns,
			       uint32_t count)
{
	struct trn_builder *builder = trn_builder_create("raw", 2);
	struct trn_image *image = NULL;
	struct trn_program *program;
	uint32_t i;

	for (i = 0; i < count; i++)
		ck_assert_int_eq(trn_builder_emit(builder, &insns[i]), (int)i);
	program = load(queue, trn_builder_finish(builder, &image), &image);
	trn_builder_free(builder);
	return program;
}

/* Fails once as expected, then the same queue works again. */
static void fails_then_works(struct bench *b, struct trn_program *bad, enum trn_status status,
			     uint32_t fault, uint32_t engine)
{
	struct trn_fault_info info;
	struct trn_image *image = NULL;
	struct trn_program *good = load(b->queue, trn_kernel_add(500, &image), &image);
	struct trn_fence fence;

	add_once(b->queue, good, 500);
	rt_ok(trn_program_run(bad, NULL, 0, &fence));
	ck_assert_int_eq(trn_fence_wait(fence, RT_FOREVER), status);
	if (fault) {
		rt_ok(trn_queue_fault(b->queue, &info));
		ck_assert_uint_eq(info.fault, fault);
		ck_assert_uint_eq(info.engine, engine);
	}
	ck_assert_int_eq(trn_program_run(good, NULL, 0, NULL), TRN_ERR_CANCELED);
	rt_ok(trn_queue_reset(b->queue));
	add_once(b->queue, good, 500);
	trn_program_unload(bad);
	trn_program_unload(good);
}

START_TEST(test_illegal_instruction)
{
	struct bench b = bench_open();
	struct trn_insn insn = { .opcode = 0x7f, .engine = TRN_ENGINE_DVE };

	fails_then_works(&b, raw(b.queue, &insn, 1), TRN_ERR_FAULT, TRN_FAULT_ILLEGAL_INSN,
			 TRN_ENGINE_DVE);
	bench_close(&b);
}
END_TEST

/* An address the program made up: outside everything it owns. */
START_TEST(test_address_outside)
{
	struct bench b = bench_open();
	struct trn_insn insn = { .opcode = TRN_OP_WRITE32, .engine = TRN_ENGINE_SP };

	insn.write32.address = 0x7fffff000ull;
	insn.write32.value = 1;
	fails_then_works(&b, raw(b.queue, &insn, 1), TRN_ERR_FAULT, TRN_FAULT_WINDOW,
			 TRN_ENGINE_SP);
	bench_close(&b);
}
END_TEST

START_TEST(test_endless_loop)
{
	struct bench b;
	struct trn_insn insn = { .opcode = TRN_OP_BRANCH, .engine = TRN_ENGINE_ACT };

	b.device = rt_open(RT_SPEC);
	b.queue = rt_queue(b.device, 1, RT_HANG_NS);
	fails_then_works(&b, raw(b.queue, &insn, 1), TRN_ERR_TIMEOUT, 0, 0);
	bench_close(&b);
}
END_TEST

START_TEST(test_waits_for_ever)
{
	struct bench b;
	struct trn_insn insn = { .opcode = TRN_OP_NOP, .engine = TRN_ENGINE_PE };

	insn.wait[0].op = TRN_WAIT_SEM_GE;
	insn.wait[0].index = 200;
	insn.wait[0].value = 1;
	b.device = rt_open(RT_SPEC);
	b.queue = rt_queue(b.device, 1, RT_HANG_NS);
	fails_then_works(&b, raw(b.queue, &insn, 1), TRN_ERR_TIMEOUT, 0, 0);
	bench_close(&b);
}
END_TEST

/* Destroying the queue destroys its programs, also with work under way. */
START_TEST(test_queue_destroyed_first)
{
	struct bench b = bench_open();
	struct trn_image *image = NULL;
	struct trn_program *program = load(b.queue, trn_kernel_add(100000, &image), &image);
	int i;

	for (i = 0; i < 10; i++)
		rt_ok(trn_program_run(program, NULL, 0, NULL));
	rt_ok(trn_queue_flush(b.queue));
	bench_close(&b);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("program");
	TCase *tc = tcase_create("program");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, test_add, 0, 3);
	tcase_add_test(tc, test_matmul);
	tcase_add_test(tc, test_arguments);
	tcase_add_test(tc, test_tensors);
	tcase_add_test(tc, test_binding_shared);
	tcase_add_test(tc, test_binding_host);
	tcase_add_loop_test(tc, test_binding_bad, 0, 9);
	tcase_add_test(tc, test_constant_bound);
	tcase_add_test(tc, test_load_bad);
	tcase_add_test(tc, test_load_refused);
	tcase_add_test(tc, test_too_large);
	tcase_add_test(tc, test_load_unload);
	tcase_add_test(tc, test_file);
	tcase_add_test(tc, test_thousand_runs);
	tcase_add_test(tc, test_two_programs);
	tcase_add_test(tc, test_two_cores);
	tcase_add_test(tc, test_illegal_instruction);
	tcase_add_test(tc, test_address_outside);
	tcase_add_test(tc, test_endless_loop);
	tcase_add_test(tc, test_waits_for_ever);
	tcase_add_test(tc, test_queue_destroyed_first);
	suite_add_tcase(suite, tc);
	return rt_main(suite);
}
