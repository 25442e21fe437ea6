// SPDX-License-Identifier: BSD-2-Clause
/*
 * libtrn on whatever TRN_DEVICE names, else on the first device of the machine: the same cases in
 * the guest through the module and in process. Prints a line for each case.
 *
 * Programs are a few instructions made by hand and handed to the backend, without builder and
 * loader.
 */
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"
#include "memory.h"
#include "trainium/isa.h"

#define MIB	(1ull << 20)
#define FOREVER UINT64_MAX
#define LIMIT	300000000ull /* ns a job may run */

static const char *spec;
static struct trn_device *device;
static bool drm;
static unsigned int passed, failed, skipped;

static __attribute__((format(printf, 2, 3))) bool ok(bool good, const char *format, ...)
{
	va_list list;

	printf("%sok - runtime: ", good ? "" : "not ");
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
	if (good) {
		passed++;
	} else {
		failed++;
		printf("  last error: %s\n", trn_error_text());
	}
	return good;
}

static void skip(const char *what, const char *why)
{
	printf("skip - runtime: %s: %s\n", what, why);
	skipped++;
}

static bool fails(enum trn_status got, enum trn_status want, const char *word)
{
	return got == want && strstr(trn_error_text(), word);
}

/* Set-up that must work for the rest to mean anything. */
static void must(enum trn_status status, const char *what)
{
	if (!status)
		return;
	printf("not ok - runtime: %s: %s: %s\n", what, trn_strerror(status), trn_error_text());
	exit(EXIT_FAILURE);
}

static struct trn_queue *queue_new(uint32_t cores)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_queue *queue;

	options.core_count = cores;
	options.timeout_ns = cores ? LIMIT : 0;
	must(trn_queue_create(device, &options, &queue), "trn_queue_create");
	return queue;
}

static struct trn_memory *memory_new(uint64_t bytes)
{
	struct trn_memory *memory;

	must(trn_memory_alloc(device, bytes, NULL, &memory), "trn_memory_alloc");
	return memory;
}

static void pattern(uint8_t *out, size_t bytes, uint32_t seed)
{
	size_t i;

	for (i = 0; i < bytes; i++) {
		seed = seed * 1664525u + 1013904223u;
		out[i] = seed >> 24;
	}
}

static void test_info(void)
{
	struct trn_device_info info = TRN_OPTIONS(info);

	ok(!trn_device_get_info(device, &info) && info.cores && info.stacks && info.hbm_total,
	   "the device says what it is");
	ok(info.hbm_free <= info.hbm_total && info.can_run, "it has memory and can run programs");
	ok(!drm || (strlen(info.pci) == 12 && info.node[0] == '/'),
	   "a device of the module has a node and a PCI address");
}

static bool opens(const char *name)
{
	struct trn_device *other;

	if (trn_device_open(name, &other))
		return false;
	trn_device_close(other);
	return true;
}

/* A user without rights to the node is told which node, and what to do. */
static bool refused_without_rights(const char *node)
{
	struct trn_device *other;
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		_exit(!fails(trn_device_open(node, &other), TRN_ERR_PERMISSION, node));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void test_names(void)
{
	struct trn_device_info info = TRN_OPTIONS(info);
	struct trn_device *other;
	struct stat node;

	must(trn_device_get_info(device, &info), "trn_device_get_info");
	ok(fails(trn_device_open("trn63", &other), TRN_ERR_NO_DEVICE, "trn63"),
	   "a device that is not there is named");
	if (!drm) {
		skip("a device opens by node and by PCI address", "an in-process device has none");
		skip("without rights the node is named", "an in-process device needs none");
		return;
	}
	ok(opens(info.node) && opens(info.pci), "a device opens by node and by PCI address");
	if (geteuid() || stat(info.node, &node) || node.st_mode & 0006)
		skip("without rights the node is named", "everybody here has them");
	else
		ok(refused_without_rights(info.node), "without rights the node is named");
}

/* Copies of more than a user may lock: pieces wait for those before them. */
static bool copies_within_limit(void)
{
	const struct rlimit limit = { 8 << 20, 8 << 20 };
	size_t size = 16 << 20, i;
	uint8_t *out = malloc(size), *in = calloc(1, size);
	struct trn_queue *queue = queue_new(0);
	struct trn_memory *memory = memory_new(size);

	pattern(out, size, 1);
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(65534) || setuid(65534))
		return false;
	for (i = 0; i < 20; i++)
		if (trn_queue_write(queue, memory, 0, out, size, NULL) ||
		    trn_queue_read(queue, in, memory, 0, size, NULL) ||
		    (i % 2 && trn_queue_finish(queue, FOREVER)))
			return false;
	return !memcmp(in, out, size);
}

static void test_locked_memory(void)
{
	const char *name = "16 MiB are copied with 8 MiB of lockable memory";
	int status = -1;
	pid_t pid;

	if (!drm || geteuid()) {
		skip(name, "the limit is not checked here");
		return;
	}
	pid = fork();
	if (!pid) {
		if (trn_device_open(NULL, &device))
			_exit(1);
		_exit(!copies_within_limit());
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), name);
}

static void test_copies(void)
{
	static const size_t sizes[] = { 1,     3,      4095,	4096,	       65536,
					65537, 100003, 4 << 20, (40 << 20) + 5 };
	struct trn_queue *queue = queue_new(0);
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = sizes[i];
		uint8_t *out = malloc(size + 64), *in = calloc(1, size + 64);
		struct trn_memory *a = memory_new(size + 77), *b = memory_new(size + 5);
		bool good;

		pattern(out, size + 64, i);
		good = !trn_queue_write(queue, a, 77, out + 3, size, NULL) &&
		       !trn_queue_copy(queue, b, 5, a, 77, size, NULL) &&
		       !trn_queue_read(queue, in + 9, b, 5, size, NULL) &&
		       !trn_queue_finish(queue, FOREVER) && !memcmp(in + 9, out + 3, size) &&
		       !in[8] && !in[9 + size];
		ok(good, "%zu bytes go to the device, across it and back", size);
		trn_memory_free(a);
		trn_memory_free(b);
		free(out);
		free(in);
	}
	trn_queue_destroy(queue);
}

static bool all_zero(const uint8_t *bytes, size_t count)
{
	size_t i;

	for (i = 0; i < count && !bytes[i]; i++)
		;
	return i == count;
}

static void test_zeroed(void)
{
	struct trn_queue *queue = queue_new(0);
	uint8_t *bytes = malloc(MIB);
	bool good = true;
	unsigned int i;

	for (i = 0; i < 3 && good; i++) {
		struct trn_memory *memory = memory_new(MIB);

		good = !trn_queue_read(queue, bytes, memory, 0, MIB, NULL) &&
		       !trn_queue_fill(queue, memory, 0, 0xffffffff, MIB, NULL) &&
		       !trn_queue_finish(queue, FOREVER) && all_zero(bytes, MIB);
		trn_memory_free(memory);
	}
	ok(good, "memory is zero, also where other memory was");
	free(bytes);
	trn_queue_destroy(queue);
}

static void test_order(void)
{
	struct trn_queue *queue = queue_new(0);
	struct trn_memory *a = memory_new(8192), *b = memory_new(8192);
	uint32_t word = 0, i;
	bool good = true;

	for (i = 1; i <= 200 && good; i++)
		good = !trn_queue_fill(queue, a, 0, i, 4096, NULL) &&
		       !trn_queue_copy(queue, b, 0, a, 0, 4096, NULL) &&
		       !trn_queue_copy(queue, a, 4096, b, 4092, 4, NULL);
	good = good && !trn_queue_read(queue, &word, a, 4096, 4, NULL) &&
	       !trn_queue_finish(queue, FOREVER);
	ok(good && word == 200, "each of 600 commands sees what the one before it did");
	trn_memory_free(a);
	trn_memory_free(b);
	trn_queue_destroy(queue);
}

static void test_host_memory(void)
{
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_queue *queue = queue_new(0);
	struct trn_memory *host, *hbm = memory_new(MIB);
	uint8_t *pointer;

	options.host = 1;
	must(trn_memory_alloc(device, 2 * MIB, &options, &host), "host memory");
	pointer = trn_memory_host_pointer(host);
	ok(pointer && all_zero(pointer, 2 * MIB), "host memory is mapped and zero");
	pattern(pointer, MIB, 5);
	ok(!trn_queue_copy(queue, hbm, 0, host, 0, MIB, NULL) &&
		   !trn_queue_copy(queue, host, MIB, hbm, 0, MIB, NULL) &&
		   !trn_queue_finish(queue, FOREVER) && !memcmp(pointer, pointer + MIB, MIB),
	   "the device reads and writes it");
	trn_memory_free(host);
	trn_memory_free(hbm);
	trn_queue_destroy(queue);
}

static void test_fences(void)
{
	struct trn_queue *first = queue_new(0), *second = queue_new(0);
	struct trn_memory *a = memory_new(8 * MIB), *b = memory_new(8 * MIB);
	uint8_t *out = malloc(8 * MIB), *middle = calloc(1, 8 * MIB), *in = calloc(1, 8 * MIB);
	struct pollfd fd = { .events = POLLIN };
	struct trn_fence fence;
	bool good;

	pattern(out, 8 * MIB, 6);
	good = !trn_queue_write(first, a, 0, out, 8 * MIB, NULL) &&
	       !trn_queue_read(first, middle, a, 0, 8 * MIB, &fence) &&
	       !trn_queue_wait_fence(second, fence) &&
	       !trn_queue_write(second, b, 0, middle, 8 * MIB, NULL) &&
	       !trn_queue_read(second, in, b, 0, 8 * MIB, &fence) &&
	       !trn_fence_wait(fence, FOREVER) && !memcmp(in, out, 8 * MIB);
	ok(good, "a queue waits for another one");
	good = !trn_queue_write(first, a, 0, out, 8 * MIB, &fence) &&
	       !trn_fence_fd(fence, &fd.fd) && poll(&fd, 1, 30000) == 1 && trn_fence_done(fence);
	ok(good, "a fence is a descriptor that polls readable");
	close(fd.fd);
	trn_memory_free(a);
	trn_memory_free(b);
	trn_queue_destroy(first);
	trn_queue_destroy(second);
	free(out);
	free(middle);
	free(in);
}

static void test_two_devices(void)
{
	struct trn_queue *first = queue_new(0), *second;
	struct trn_memory *a = memory_new(MIB), *b;
	uint8_t *out = malloc(MIB), *middle = calloc(1, MIB), *in = calloc(1, MIB);
	struct trn_device *other = NULL;
	struct trn_fence fence;

	if (trn_device_open(drm ? "trn1" : spec, &other)) {
		skip("a queue waits for one of another device", "there is one device");
		goto out;
	}
	must(trn_queue_create(other, NULL, &second), "queue of the other device");
	must(trn_memory_alloc(other, MIB, NULL, &b), "memory of the other device");
	pattern(out, MIB, 7);
	ok(!trn_queue_write(first, a, 0, out, MIB, NULL) &&
		   !trn_queue_read(first, middle, a, 0, MIB, &fence) &&
		   !trn_queue_wait_fence(second, fence) &&
		   !trn_queue_write(second, b, 0, middle, MIB, NULL) &&
		   !trn_queue_read(second, in, b, 0, MIB, NULL) &&
		   !trn_queue_finish(second, FOREVER) && !memcmp(in, out, MIB),
	   "a queue waits for one of another device");
	trn_device_close(other);
out:
	trn_memory_free(a);
	trn_queue_destroy(first);
	free(out);
	free(middle);
	free(in);
}

static void test_bad_buffers(void)
{
	struct trn_queue *queue = queue_new(0);
	struct trn_memory *memory = memory_new(8192);
	uint8_t *hole = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t word = 1;

	munmap(hole + 4096, 4096);
	ok(!trn_queue_write(queue, memory, 0, hole, 8192, NULL) &&
		   fails(trn_queue_finish(queue, FOREVER), TRN_ERR_INVALID, "mapped"),
	   "an unmapped buffer is refused");
	ok(trn_queue_write(queue, memory, 0, &word, 4, NULL) == TRN_ERR_CANCELED &&
		   !trn_queue_reset(queue) && !trn_queue_write(queue, memory, 0, &word, 4, NULL) &&
		   !trn_queue_finish(queue, FOREVER),
	   "the queue works again after a reset");
	ok(!trn_queue_read(queue, hole, memory, 0, 4096, NULL) &&
		   fails(trn_queue_finish(queue, FOREVER), TRN_ERR_INVALID, "mapped"),
	   "a read-only buffer is refused as a destination");
	munmap(hole, 4096);
	trn_memory_free(memory);
	trn_queue_destroy(queue);
}

static void test_out_of_memory(void)
{
	struct trn_device_info info = TRN_OPTIONS(info);
	struct trn_memory_options options = TRN_OPTIONS(options);
	struct trn_memory *memory;

	options.tag = "ballast";
	must(trn_device_get_info(device, &info), "trn_device_get_info");
	ok(fails(trn_memory_alloc(device, UINT64_MAX, NULL, &memory), TRN_ERR_NO_DEVICE_MEMORY,
		 "18446744073709551615"),
	   "2^64-1 bytes are more than there are");
	if (!ok(!trn_memory_alloc(device, info.hbm_stack_free[0] / 2, &options, &memory),
		"half of a stack is one block"))
		return;
	ok(fails(trn_memory_alloc(device, info.hbm_stack_free[0], &options,
				  &(struct trn_memory *){ NULL }),
		 TRN_ERR_NO_DEVICE_MEMORY, "\"ballast\""),
	   "when memory runs out the sentence says who holds it");
	trn_memory_free(memory);
}

/* ---- cores ---- */

/* A child process takes all cores and says so; it ends by SIGKILL. */
static pid_t holder_start(void)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_device *own;
	struct trn_queue *queue;
	char byte = 0;
	int pipes[2];
	pid_t pid;

	if (pipe(pipes))
		return -1;
	pid = fork();
	if (!pid) {
		options.core_count = 2;
		if (trn_device_open(spec, &own) || trn_queue_create(own, &options, &queue))
			_exit(1);
		if (write(pipes[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1)
		pid = -1;
	close(pipes[0]);
	return pid;
}

static void test_busy(void)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_queue *queue = NULL;
	unsigned int tries;
	char word[32];
	pid_t pid;

	options.core_count = 1;
	if (!drm) {
		skip("a busy core names its holder", "an in-process device has one process");
		return;
	}
	pid = holder_start();
	snprintf(word, sizeof(word), "process %d", pid);
	ok(pid > 0 && fails(trn_queue_create(device, &options, &queue), TRN_ERR_BUSY, word),
	   "a busy core names its holder");
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	for (tries = 0; tries < 50 && trn_queue_create(device, &options, &queue); tries++)
		usleep(100000);
	ok(queue, "a killed process gives its cores back");
	trn_queue_destroy(queue);
}

/** struct program - instructions of the sync engine. */
struct program {
	struct trn_memory *code;
	uint32_t handle;
};

static bool program_make(struct trn_queue *queue, struct trn_insn *insns, uint32_t count,
			 struct program *program)
{
	struct drm_trainium_program_image image = { .engine = TRN_ENGINE_SP, .insns = count };
	struct drm_trainium_program_create create = { .ctx = queue->ctx,
						      .core = trn_queue_core(queue, 0) };
	struct drm_trainium_program_bo *bos;
	struct trn_place place;
	uint64_t generation;
	uint32_t i;
	int error;

	for (i = 0; i < count; i++)
		insns[i].engine = TRN_ENGINE_SP;
	program->code = memory_new(count * sizeof(*insns));
	must(trn_queue_write(queue, program->code, 0, insns, count * sizeof(*insns), NULL), "code");
	must(trn_queue_finish(queue, FOREVER), "code");
	must(trn_memory_place(program->code, 0, count * sizeof(*insns), "code", &place), "code");
	must(trn_device_buffers(device, &bos, &create.bo_count, &generation), "buffers");
	image.handle = place.handle;
	image.offset = place.offset;
	create.images = (uintptr_t)&image;
	create.image_count = 1;
	create.bos = (uintptr_t)bos;
	error = device->ops->program_create(device->backend, &create);
	free(bos);
	program->handle = create.handle;
	return !error;
}

static enum trn_status program_run(struct trn_queue *queue, const struct program *program,
				   struct trn_fence *fence)
{
	struct drm_trainium_cmd cmd = { .type = DRM_TRAINIUM_CMD_RUN };

	cmd.run.program = program->handle;
	return trn_queue_enqueue(queue, &cmd, fence);
}

static bool queue_works(struct trn_queue *queue, const struct program *good,
			struct trn_memory *memory)
{
	uint32_t out = 99, in = 0;

	return !trn_queue_write(queue, memory, 0, &out, 4, NULL) &&
	       !program_run(queue, good, NULL) && !trn_queue_read(queue, &in, memory, 0, 4, NULL) &&
	       !trn_queue_finish(queue, FOREVER) && in == 99;
}

static void test_runs(void)
{
	struct trn_insn insns[2] = { { .opcode = TRN_OP_NOP }, { .opcode = TRN_OP_HALT } };
	struct trn_queue *queue = queue_new(1), *other = queue_new(1);
	struct trn_memory *memory = memory_new(4096);
	struct program good, illegal, endless, neighbour;
	struct trn_fence bad, later;
	struct trn_fault_info fault;
	bool made, fine = true;
	uint32_t word = 1;
	unsigned int i;

	made = program_make(queue, insns, 2, &good) && program_make(other, insns, 2, &neighbour);
	insns[0].opcode = 0xfe;
	made = made && program_make(queue, insns, 2, &illegal);
	insns[0].opcode = TRN_OP_NOP;
	insns[0].wait[0] = (struct trn_sync){ .op = TRN_WAIT_SEM_GE, .index = 7, .value = 1 };
	made = made && program_make(queue, insns, 2, &endless);
	if (!ok(made, "programs are made"))
		return;

	for (i = 0; i < 200; i++)
		fine = fine && !program_run(queue, &good, NULL);
	ok(fine && !trn_queue_finish(queue, FOREVER), "200 runs in a row");

	ok(!program_run(queue, &illegal, &bad) &&
		   fails(trn_fence_wait(bad, FOREVER), TRN_ERR_FAULT, "illegal instruction"),
	   "an illegal instruction is a fault with its name");
	ok(!trn_queue_fault(queue, &fault) && fault.fault == TRN_FAULT_ILLEGAL_INSN &&
		   fault.engine == TRN_ENGINE_SP,
	   "the fault's numbers can be asked for");
	ok(!trn_queue_reset(queue) && queue_works(queue, &good, memory),
	   "the core works after a fault");

	fine = !program_run(queue, &endless, &bad) && !trn_queue_flush(queue) &&
	       !trn_queue_write(queue, memory, 0, &word, 4, &later) && !trn_queue_flush(queue);
	for (i = 0; i < 20; i++)
		fine = fine && queue_works(other, &neighbour, memory);
	ok(fine, "the other core goes on beside one that hangs");
	ok(fails(trn_fence_wait(later, FOREVER), TRN_ERR_CANCELED, "endless loop") &&
		   fails(trn_fence_wait(bad, FOREVER), TRN_ERR_TIMEOUT, "endless loop"),
	   "an endless loop is stopped, and the work behind it canceled");
	ok(!trn_queue_reset(queue) && queue_works(queue, &good, memory),
	   "the core works after an endless loop");
	ok(fails(trn_fence_wait(bad, 0), TRN_ERR_TIMEOUT, "endless loop"),
	   "an old fence keeps its answer");
	trn_queue_destroy(queue);
	trn_queue_destroy(other);
}

static void test_fork(void)
{
	struct trn_queue *queue = queue_new(0);
	struct trn_memory *memory = memory_new(64);
	uint32_t word = 3;
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(trn_queue_write(queue, memory, 0, &word, 4, NULL) != TRN_ERR_FORKED);
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status),
	   "a forked child is told to open its own device");
	ok(!trn_queue_write(queue, memory, 0, &word, 4, NULL) && !trn_queue_finish(queue, FOREVER),
	   "the parent goes on");
	trn_memory_free(memory);
	trn_queue_destroy(queue);
}

static void test_nothing_left(void)
{
	struct trn_device_info before = TRN_OPTIONS(before), after = TRN_OPTIONS(after);
	struct trn_device *second;
	struct trn_memory *memory;
	struct trn_queue *queue;
	unsigned int i;

	if (!drm) {
		skip("closing gives everything back", "an in-process device ends with its close");
		return;
	}
	must(trn_device_get_info(device, &before), "trn_device_get_info");
	for (i = 0; i < 10; i++) {
		must(trn_device_open(spec, &second), "second open");
		must(trn_queue_create(second, NULL, &queue), "queue");
		must(trn_memory_alloc(second, 100 * MIB, NULL, &memory), "memory");
		must(trn_queue_fill(queue, memory, 0, 1, MIB, NULL), "fill");
		trn_device_close(second);
	}
	/* The kernel frees after the last job; give it a moment. */
	for (i = 0; i < 50; i++) {
		must(trn_device_get_info(device, &after), "trn_device_get_info");
		if (after.hbm_free == before.hbm_free)
			break;
		usleep(100000);
	}
	ok(after.hbm_free == before.hbm_free, "closing gives everything back");
}

int main(void)
{
	struct trn_device_info info = TRN_OPTIONS(info);

	setvbuf(stdout, NULL, _IOLBF, 0);
	spec = getenv("TRN_DEVICE");
	must(trn_device_open(spec, &device), "trn_device_open");
	must(trn_device_get_info(device, &info), "trn_device_get_info");
	spec = info.spec;
	drm = !strcmp(info.backend, "drm");
	test_info();
	test_names();
	test_copies();
	test_locked_memory();
	test_zeroed();
	test_order();
	test_host_memory();
	test_fences();
	test_two_devices();
	test_bad_buffers();
	test_out_of_memory();
	test_busy();
	test_runs();
	test_fork();
	test_nothing_left();
	trn_device_close(device);
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
