// SPDX-License-Identifier: BSD-2-Clause
/* Errors, opening, options, information, fork. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt_rig.h"

START_TEST(test_status_texts)
{
	int status;

	for (status = TRN_OK; status <= TRN_ERR_DRIVER; status++) {
		ck_assert_ptr_nonnull(trn_strerror(status));
		ck_assert_str_ne(trn_strerror(status), "unknown status");
	}
	ck_assert_str_eq(trn_strerror(9999), "unknown status");
	ck_assert_str_eq(trn_strerror((enum trn_status) - 1), "unknown status");
	ck_assert_str_eq(trn_version(), "0.1");
}
END_TEST

START_TEST(test_errno_map)
{
	ck_assert_int_eq(trn_status_from_errno(0), TRN_OK);
	ck_assert_int_eq(trn_status_from_errno(-EINVAL), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_status_from_errno(EINVAL), TRN_ERR_INVALID);
	ck_assert_int_eq(trn_status_from_errno(-EBUSY), TRN_ERR_BUSY);
	ck_assert_int_eq(trn_status_from_errno(-ENOBUFS), TRN_ERR_NO_DEVICE_MEMORY);
	ck_assert_int_eq(trn_status_from_errno(-ENOMEM), TRN_ERR_NO_HOST_MEMORY);
	ck_assert_int_eq(trn_status_from_errno(-ETIME), TRN_ERR_TIMEOUT);
	ck_assert_int_eq(trn_status_from_errno(-EIO), TRN_ERR_FAULT);
	ck_assert_int_eq(trn_status_from_errno(-ECANCELED), TRN_ERR_CANCELED);
	ck_assert_int_eq(trn_status_from_errno(-ENODEV), TRN_ERR_GONE);
	ck_assert_int_eq(trn_status_from_errno(-ENOTTY), TRN_ERR_DRIVER);
	ck_assert_int_eq(trn_status_from_errno(-EPIPE), TRN_ERR_IO);
}
END_TEST

START_TEST(test_sentence_can_quote_itself)
{
	char old[64];

	trn_error_set(TRN_ERR_IO, "inner");
	snprintf(old, sizeof(old), "%s", trn_error_text());
	ck_assert_int_eq(trn_error_set(TRN_ERR_BUSY, "outer (%s)", trn_error_text()), TRN_ERR_BUSY);
	ck_assert_str_eq(trn_error_text(), "outer (inner)");
	trn_error_clear();
	ck_assert_str_eq(trn_error_text(), "");
}
END_TEST

/* What happened and what to do stand at the end of a sentence, however long the names in it are. */
START_TEST(test_sentence_with_a_long_name)
{
	char name[5000];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	trn_error_set(TRN_ERR_IO, "file %s: cannot be opened: no such file", name);
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "file nnn"));
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "nnn... nnn"));
	ck_assert_ptr_nonnull(strstr(trn_error_text(), "nnn: cannot be opened: no such file"));
	ck_assert_uint_eq(strlen(trn_error_text()), 1023);
}
END_TEST

/* A name from a file or the environment must not command the terminal. */
START_TEST(test_sentence_without_control_characters)
{
	trn_error_set(TRN_ERR_IO, "device %s: none", "a\033[31m\n\x7f\u00fc");
	ck_assert_str_eq(trn_error_text(), "device a?[31m??\u00fc: none");
}
END_TEST

/* The machine of the tests has no card, or TRN_DEVICE would not be needed. */
START_TEST(test_no_device_names_the_emulated_one)
{
	struct trn_device_info info = TRN_OPTIONS(info);
	struct trn_device *device;
	size_t count = 0;

	unsetenv("TRN_DEVICE");
	rt_ok(trn_device_list(NULL, &count));
	if (count)
		return;
	rt_fails(trn_device_open(NULL, &device), TRN_ERR_NO_DEVICE, "TRN_DEVICE=emu:trn1");
	ck_assert_ptr_null(device);
	rt_fails(trn_device_open("trn0", &device), TRN_ERR_NO_DEVICE, "TRN_DEVICE=emu:trn1");
}
END_TEST

START_TEST(test_unknown_specs)
{
	struct trn_device *device;

	rt_fails(trn_device_open("gpu0", &device), TRN_ERR_NO_DEVICE, "\"gpu0\"");
	rt_fails(trn_device_open("emu:", &device), TRN_ERR_NO_DEVICE, "emu:trn1");
	rt_fails(trn_device_open("emu:trn9", &device), TRN_ERR_NO_DEVICE, "trn9");
	rt_fails(trn_device_open("emu:trn1,colour=red", &device), TRN_ERR_INVALID, "colour=red");
	rt_fails(trn_device_open("emu:trn1,hbm=99999999G", &device), TRN_ERR_INVALID, "hbm");
	rt_fails(trn_device_open("emu:trn1,routing-id=64", &device), TRN_ERR_INVALID,
		 "routing-id=64");
	rt_fails(trn_device_open("/dev/no/such/node", &device), TRN_ERR_NO_DEVICE,
		 "/dev/no/such/node");
	rt_fails(trn_device_open("/dev/null", &device), TRN_ERR_NO_DEVICE, "another driver");
	rt_fails(trn_device_open("0000:ff:1f.7", &device), TRN_ERR_NO_DEVICE, "0000:ff:1f.7");
	rt_fails(trn_device_open("emu:trn1", NULL), TRN_ERR_INVALID, "NULL");
	trn_device_close(NULL);
}
END_TEST

START_TEST(test_no_permission)
{
	char path[] = "/tmp/trn-test-node-XXXXXX";
	struct trn_device *device;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, 0), 0);
	close(fd);
	/* Root may open anything, but then it is no device. */
	if (geteuid())
		rt_fails(trn_device_open(path, &device), TRN_ERR_PERMISSION, path);
	else
		rt_fails(trn_device_open(path, &device), TRN_ERR_NO_DEVICE, path);
	unlink(path);
}
END_TEST

START_TEST(test_environment)
{
	struct trn_device_info info = TRN_OPTIONS(info);
	struct trn_device *device;
	size_t count = 1;

	setenv("TRN_DEVICE", "emu:inf2,hbm=128M", 1);
	device = rt_open(NULL);
	rt_ok(trn_device_get_info(device, &info));
	ck_assert_str_eq(info.spec, "emu:inf2,hbm=128M");
	ck_assert_str_eq(info.product, "Inferentia2");
	trn_device_close(device);
	rt_ok(trn_device_list(&info, &count));
	ck_assert_uint_ge(count, 1);
	if (count == 1) {
		ck_assert_str_eq(info.spec, "emu:inf2,hbm=128M");
		ck_assert_uint_eq(info.hbm_total, 2 * ((128ull << 20) - (16ull << 20)));
		ck_assert(info.can_run);
	}
	setenv("TRN_DEVICE", "emu:nonsense", 1);
	count = 1;
	rt_ok(trn_device_list(&info, &count));
	unsetenv("TRN_DEVICE");
}
END_TEST

START_TEST(test_info)
{
	struct trn_device *device = rt_open("emu:trn1,routing-id=3,hbm=1G");
	struct trn_device_info info = TRN_OPTIONS(info);

	rt_ok(trn_device_get_info(device, &info));
	ck_assert_str_eq(info.backend, "emu");
	ck_assert_str_eq(info.node, "");
	ck_assert_str_eq(info.pci, "");
	ck_assert_str_eq(info.arch, "trn1");
	ck_assert_uint_eq(info.cores, 2);
	ck_assert_uint_eq(info.stacks, 2);
	ck_assert_uint_eq(info.routing_id, 3);
	ck_assert_uint_eq(info.hbm_total, 2 * ((1ull << 30) - (16ull << 20)));
	ck_assert_uint_eq(info.hbm_free, info.hbm_total);
	ck_assert_uint_eq(info.hbm_stack_free[1], info.hbm_total / 2);
	ck_assert(info.can_run);
	ck_assert(info.interrupts);
	info.size = sizeof(info) + 8;
	rt_fails(trn_device_get_info(device, &info), TRN_ERR_INVALID, "TRN_OPTIONS");
	info.size = 3;
	rt_fails(trn_device_get_info(device, &info), TRN_ERR_INVALID, "3");
	rt_fails(trn_device_get_info(device, NULL), TRN_ERR_INVALID, "NULL");
	rt_fails(trn_device_get_info(NULL, &info), TRN_ERR_INVALID, "NULL");
	trn_device_close(device);
}
END_TEST

/* A caller compiled when the structure was shorter gets what it knows, and not a byte more. */
START_TEST(test_info_of_an_older_caller)
{
	struct trn_device *device = rt_open(RT_SPEC);
	struct trn_device_info info;

	memset(&info, 0x5a, sizeof(info));
	info.size = offsetof(struct trn_device_info, arch);
	rt_ok(trn_device_get_info(device, &info));
	ck_assert_str_eq(info.backend, "emu");
	ck_assert_uint_eq((uint8_t)info.arch[0], 0x5a);
	ck_assert_uint_eq(info.size, offsetof(struct trn_device_info, arch));
	trn_device_close(device);
}
END_TEST

START_TEST(test_options_of_a_newer_caller)
{
	struct {
		struct trn_memory_options options;
		uint64_t unknown;
	} newer = { .options = { .size = sizeof(newer) } };
	struct trn_device *device = rt_open(RT_SPEC);
	struct trn_memory *memory;

	rt_ok(trn_memory_alloc(device, 64, &newer.options, &memory));
	newer.unknown = 1;
	rt_fails(trn_memory_alloc(device, 64, &newer.options, &memory), TRN_ERR_INVALID,
		 "does not know");
	newer.options.size = 0;
	rt_fails(trn_memory_alloc(device, 64, &newer.options, &memory), TRN_ERR_INVALID,
		 "TRN_OPTIONS");
	trn_device_close(device);
}
END_TEST

START_TEST(test_holders)
{
	struct trn_device *device = rt_open(RT_SPEC);
	struct trn_queue *queue = rt_queue(device, 1, 0);
	struct trn_holder holder[2];
	size_t count = 2;

	rt_alloc(device, 4096);
	rt_ok(trn_device_holders(device, holder, &count));
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(holder[0].pid, getpid());
	ck_assert_uint_eq(holder[0].cores, trn_queue_cores(queue));
	ck_assert_uint_ge(holder[0].hbm_bytes, 4096);
	ck_assert_uint_gt(strlen(holder[0].comm), 0);
	count = 0;
	rt_ok(trn_device_holders(device, NULL, &count));
	ck_assert_uint_eq(count, 1);
	trn_device_close(device);
}
END_TEST

START_TEST(test_every_open_is_a_device)
{
	struct trn_device *a = rt_open(RT_SPEC), *b = rt_open(RT_SPEC);
	struct trn_queue *qa = rt_queue(a, 2, 0), *qb = rt_queue(b, 2, 0);
	struct trn_memory *m = rt_alloc(a, 64);
	char byte = 0;

	rt_fails(trn_queue_write(qb, m, 0, &byte, 1, NULL), TRN_ERR_INVALID, "other device");
	trn_queue_destroy(qa);
	trn_device_close(b);
	trn_device_close(a);
}
END_TEST

START_TEST(test_device_without_extension)
{
	struct trn_device *device = rt_open("emu:trn1,hbm=256M,no-cores,no-irq");
	struct trn_device_info info = TRN_OPTIONS(info);
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_memory *memory = rt_alloc(device, 100000);
	uint8_t out[5000], in[5000];
	struct trn_queue *queue;

	rt_ok(trn_device_get_info(device, &info));
	ck_assert(!info.can_run);
	ck_assert(!info.interrupts);
	options.core_count = 1;
	rt_fails(trn_queue_create(device, &options, &queue), TRN_ERR_UNSUPPORTED, "without cores");
	/* Copies work, by polling. */
	queue = rt_queue(device, 0, 0);
	rt_pattern(out, sizeof(out), 1);
	rt_ok(trn_queue_write(queue, memory, 77, out, sizeof(out), NULL));
	rt_ok(trn_queue_read(queue, in, memory, 77, sizeof(in), NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_mem_eq(in, out, sizeof(in));
	trn_device_close(device);
}
END_TEST

/* The child may not use what it inherited, can open its own, and leaves the parent's alone. */
START_TEST(test_fork)
{
	struct trn_device *device = rt_open(RT_SPEC);
	struct trn_queue *queue = rt_queue(device, 1, 0);
	struct trn_memory *memory = rt_alloc(device, 4096);
	struct trn_fence fence;
	uint32_t word = 7;
	int status;
	pid_t pid;

	rt_ok(trn_queue_write(queue, memory, 0, &word, 4, &fence));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	pid = fork();
	if (!pid) {
		struct trn_device *own = NULL;
		struct trn_memory *other;
		int wrong = 0;

		wrong |= trn_queue_write(queue, memory, 0, &word, 4, NULL) != TRN_ERR_FORKED;
		wrong |= (trn_memory_alloc(device, 64, NULL, &other) != TRN_ERR_FORKED) << 1;
		wrong |= (trn_fence_wait(fence, 0) != TRN_ERR_FORKED) << 2;
		wrong |= !strstr(trn_error_text(), "fork()") << 3;
		trn_memory_free(memory);
		trn_queue_destroy(queue);
		trn_device_close(device);
#ifdef __SANITIZE_THREAD__
		_exit(wrong); /* its runtime cannot start threads in the child of a process with
				 threads */
#endif
		wrong |= (trn_device_open(RT_SPEC, &own) != TRN_OK) << 4;
		wrong |= (trn_memory_alloc(own, 64, NULL, &other) != TRN_OK) << 5;
		/* Opening one does not make the inherited one usable. */
		wrong |= (trn_queue_flush(queue) != TRN_ERR_FORKED) << 6;
		trn_device_close(own);
		_exit(wrong);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "child: 0x%x", status);
	word = 0;
	rt_ok(trn_queue_read(queue, &word, memory, 0, 4, NULL));
	rt_ok(trn_queue_finish(queue, RT_FOREVER));
	ck_assert_uint_eq(word, 7);
	trn_device_close(device);
}
END_TEST

START_TEST(test_open_close_leaves_nothing)
{
	struct trn_memory_options host = TRN_OPTIONS(host);
	unsigned int i;

	host.host = 1;
	for (i = 0; i < 20; i++) {
		struct trn_device *device = rt_open(RT_SPEC);
		struct trn_queue *queue = rt_queue(device, 2, 0);
		struct trn_memory *memory = rt_alloc(device, 123456), *other;

		rt_ok(trn_memory_alloc(device, 5000, &host, &other));
		rt_ok(trn_queue_fill(queue, memory, 0, i, 4096, NULL));
		/* Work not even sent, memory not freed, queue not destroyed: close does all of it.
		 */
		trn_device_close(device);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rt_device");
	TCase *tc = tcase_create("device");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_status_texts);
	tcase_add_test(tc, test_errno_map);
	tcase_add_test(tc, test_sentence_can_quote_itself);
	tcase_add_test(tc, test_sentence_with_a_long_name);
	tcase_add_test(tc, test_sentence_without_control_characters);
	tcase_add_test(tc, test_no_device_names_the_emulated_one);
	tcase_add_test(tc, test_unknown_specs);
	tcase_add_test(tc, test_no_permission);
	tcase_add_test(tc, test_environment);
	tcase_add_test(tc, test_info);
	tcase_add_test(tc, test_info_of_an_older_caller);
	tcase_add_test(tc, test_options_of_a_newer_caller);
	tcase_add_test(tc, test_holders);
	tcase_add_test(tc, test_every_open_is_a_device);
	tcase_add_test(tc, test_device_without_extension);
	tcase_add_test(tc, test_fork);
	tcase_add_test(tc, test_open_close_leaves_nothing);
	suite_add_tcase(suite, tc);
	return rt_main(suite);
}
