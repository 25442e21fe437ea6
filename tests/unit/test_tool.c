// SPDX-License-Identifier: BSD-2-Clause
/* The `trn` command, run as a user runs it: exit status, both outputs, files. */
#include <check.h>
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trn/builder.h"
#include "trn/kernels.h"
#include "trn/trn.h"

#define COUNT  1000 /* elements of the program "add" */
#define EMU    "emu:trn1,hbm=256M"
#define NOBODY 65534

static char tool[4096]; /* path of the command under test */
static char work[64];	/* directory of the case */
static char out[1 << 20], err[1 << 16];
static bool as_nobody; /* the command runs without root's powers */
static bool no_file;   /* the command may not make a file longer than 100 bytes */

/* ---- running ---- */

static void slurp(const char *name, char *text, size_t size)
{
	char path[128];
	size_t got;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", work, name);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	got = fread(text, 1, size - 1, file);
	text[got] = '\0';
	fclose(file);
}

static void redirect(const char *name, int fd)
{
	char path[128];
	int file;

	snprintf(path, sizeof(path), "%s/%s", work, name);
	file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || dup2(file, fd) < 0)
		_exit(99);
}

/* Run `trn` with the words of @line, which are split at blanks; @device is TRN_DEVICE or NULL. */
static void __attribute__((format(printf, 3, 4)))
run(int expected, const char *device, const char *line, ...)
{
	char words[2048], *argv[64], *save;
	int argc = 1, status;
	va_list args;
	pid_t pid;

	va_start(args, line);
	vsnprintf(words, sizeof(words), line, args);
	va_end(args);
	argv[0] = tool;
	for (argv[1] = strtok_r(words, " ", &save); argv[argc];
	     argv[argc] = strtok_r(NULL, " ", &save))
		argc++;
	pid = fork();
	if (pid == 0) {
		if (device)
			setenv("TRN_DEVICE", device, 1);
		else
			unsetenv("TRN_DEVICE");
		redirect("out", STDOUT_FILENO);
		redirect("err", STDERR_FILENO);
		if (no_file && setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100, 100 }))
			_exit(96);
		if (as_nobody && (setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 8 << 20, 8 << 20 }) ||
				  setuid(NOBODY)))
			_exit(97);
		if (chdir(work) == 0)
			execv(tool, argv);
		_exit(98);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	slurp("out", out, sizeof(out));
	slurp("err", err, sizeof(err));
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == expected,
		      "trn %s: status %#x, expected %d\n%s\n%s", line, status, expected, out, err);
}

static void says(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is not in: %s", part, text);
}

static void silent(const char *text)
{
	ck_assert_msg(text[0] == '\0', "unexpected: %s", text);
}

/* ---- a checker of JSON ---- */

static const char *json_value(const char *at);

static const char *skip(const char *at)
{
	return at + strspn(at, " \n\t\r");
}

static const char *json_text(const char *at)
{
	if (*at++ != '"')
		return NULL;
	for (; *at && *at != '"'; at++) {
		if ((unsigned char)*at < 0x20)
			return NULL;
		if (*at == '\\' && !strchr("\"\\/bfnrtu", *++at))
			return NULL;
	}
	return *at ? at + 1 : NULL;
}

static const char *json_members(const char *at, char end)
{
	at = skip(at);
	if (*at == end)
		return at + 1;
	for (;;) {
		if (end == '}') {
			at = json_text(skip(at));
			if (!at || *(at = skip(at)) != ':')
				return NULL;
			at++;
		}
		at = json_value(at);
		if (!at)
			return NULL;
		at = skip(at);
		if (*at == end)
			return at + 1;
		if (*at++ != ',')
			return NULL;
	}
}

static const char *json_value(const char *at)
{
	static const char *const words[] = { "true", "false", "null" };
	char *end;
	size_t i;

	at = skip(at);
	if (*at == '{' || *at == '[')
		return json_members(at + 1, *at == '{' ? '}' : ']');
	if (*at == '"')
		return json_text(at);
	for (i = 0; i < 3; i++)
		if (!strncmp(at, words[i], strlen(words[i])))
			return at + strlen(words[i]);
	if (*at != '-' && !isdigit((unsigned char)*at))
		return NULL;
	strtod(at, &end);
	return end;
}

static void valid_json(void)
{
	const char *end = json_value(out);

	ck_assert_msg(end && !*skip(end), "not JSON: %s", out);
}

/* ---- files ---- */

static void write_file(const char *name, const void *data, size_t bytes)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", work, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(data, 1, bytes, file), bytes);
	fclose(file);
}

static bool is_there(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", work, name);
	return access(path, F_OK) == 0;
}

/* Files in the directory whose names begin with @prefix. */
static int count_files(const char *prefix)
{
	char command[256];
	int count = -1;
	FILE *pipe;

	snprintf(command, sizeof(command), "ls -A %s | grep -c '^%s'", work, prefix);
	pipe = popen(command, "r");
	ck_assert_int_eq(fscanf(pipe, "%d", &count), 1);
	pclose(pipe);
	return count;
}

static void setup(void)
{
	float values[COUNT];
	struct trn_image *image;
	char path[128];
	int i;

	snprintf(work, sizeof(work), "/tmp/trn-test-tool.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(work));
	ck_assert_int_eq(trn_kernel_add(COUNT, &image), TRN_OK);
	snprintf(path, sizeof(path), "%s/add.tnx", work);
	ck_assert_int_eq(trn_image_save(image, path), TRN_OK);
	trn_image_free(image);
	for (i = 0; i < COUNT; i++)
		values[i] = (float)i;
	write_file("a", values, sizeof(values));
	for (i = 0; i < COUNT; i++)
		values[i] = 0.5f;
	write_file("b", values, sizeof(values));
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", work);
	ck_assert_int_eq(system(command), 0);
}

/* ---- the command itself ---- */

START_TEST(help_of_everything)
{
	static const char *const commands[] = { "ls", "info", "run", "test", "doctor" };
	char usage[32];
	size_t i;

	run(0, NULL, "--help");
	for (i = 0; i < 5; i++)
		says(out, commands[i]);
	for (i = 0; i < 5; i++) {
		run(0, NULL, "%s --help", commands[i]);
		snprintf(usage, sizeof(usage), "usage: trn %s", commands[i]);
		says(out, usage);
		says(out, "--json");
		silent(err);
	}
}
END_TEST

START_TEST(version_is_the_library_s)
{
	run(0, NULL, "--version");
	says(out, trn_version());
}
END_TEST

START_TEST(usage_errors_are_2)
{
	static const char *const lines[] = {
		"",
		"frobnicate",
		"--frobnicate",
		"ls --frobnicate",
		"ls extra",
		"info a b",
		"ls --device",
		"--device",
		"run",
		"run a.tnx b.tnx",
		"run --repeat 0 add.tnx",
		"run --repeat x add.tnx",
		"run --repeat -1 add.tnx",
		"run --input a add.tnx",
		"run --input =f add.tnx",
		"run --input a= add.tnx",
		"run --input a=a --input a=b add.tnx",
		"run --output a=x --output b=x add.tnx",
		"run --args xyz add.tnx",
		"run --args 123456789 add.tnx",
		"run --args , add.tnx",
		"run --core 99 add.tnx",
		"test --size 12",
		"test --size 1Q",
		"test --size -5",
		"test --size 16E",
		"test --core x",
		"test a b",
		"doctor extra",
		"test --size 99999999999999999999",
	};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		run(2, NULL, "%s", lines[i]);
		silent(out);
		ck_assert_msg(!strncmp(err, "trn: ", 5) && strstr(err, "--help"), "%s: %s",
			      lines[i], err);
		ck_assert_msg(strchr(err, '\n') == err + strlen(err) - 1,
			      "%s: more than a line: %s", lines[i], err);
	}
}
END_TEST

START_TEST(no_color_without_terminal)
{
	run(0, EMU, "ls");
	ck_assert_ptr_null(strchr(out, '\033'));
	run(0, EMU, "info");
	ck_assert_ptr_null(strchr(out, '\033'));
}
END_TEST

START_TEST(full_disk_is_told)
{
	char command[4400];
	int status;

	snprintf(command, sizeof(command), "TRN_DEVICE=%s %s info > /dev/full 2> %s/err", EMU, tool,
		 work);
	status = system(command);
	ck_assert_int_eq(WEXITSTATUS(status), 1);
	slurp("err", err, sizeof(err));
	says(err, "cannot write to standard output: No space left");
}
END_TEST

/* ---- ls, info ---- */

START_TEST(ls_text)
{
	run(0, EMU, "ls");
	says(out, "DEVICE");
	says(out, "Trainium1");
	says(out, "2/2 free");
	says(out, "MiB");
	silent(err);
}
END_TEST

START_TEST(ls_json)
{
	run(0, EMU, "ls --json");
	valid_json();
	says(out, "\"devices\": [");
	says(out, "\"arch\": \"trn1\"");
	says(out, "\"cores_total\": 2");
	says(out, "\"cores_free\": 2");
	run(0, EMU, "--json ls");
	valid_json();
}
END_TEST

START_TEST(ls_device_option_wins)
{
	run(0, EMU, "ls --device emu:inf2,hbm=256M");
	says(out, "Inferentia2");
	run(0, EMU, "--device emu:inf2,hbm=256M ls --json");
	says(out, "Inferentia2");
	run(1, EMU, "ls --device nonsense");
	says(err, "nonsense");
	silent(out);
}
END_TEST

/* Where the test runs there may be a card; these two say nothing then. */
static bool machine_has_devices(void)
{
	run(0, NULL, "ls --json");
	return strstr(out, "spec") != NULL;
}

START_TEST(ls_without_device)
{
	if (machine_has_devices())
		return;
	valid_json();
	says(out, "\"devices\": []");
	says(err, "TRN_DEVICE=emu:trn1");
	run(0, NULL, "ls");
	silent(out);
	says(err, "TRN_DEVICE=emu:trn1");
}
END_TEST

START_TEST(others_without_device)
{
	static const char *const lines[] = { "info", "test", "run --input b=b add.tnx" };
	size_t i;

	if (machine_has_devices())
		return;
	for (i = 0; i < 3; i++) {
		run(1, NULL, "%s", lines[i]);
		silent(out);
		says(err, "TRN_DEVICE=emu:trn1");
	}
}
END_TEST

START_TEST(wrong_device_is_named)
{
	run(1, "emu:trn99", "info");
	says(err, "trn99");
	run(1, NULL, "info /dev/null");
	says(err, "/dev/null");
	run(1, NULL, "info 0000:ff:1f.7");
	says(err, "0000:ff:1f.7");
	run(1, NULL, "test trn77");
	says(err, "trn77");
	silent(out);
}
END_TEST

START_TEST(info_text_and_json)
{
	run(0, EMU, "info");
	says(out, "Trainium1");
	says(out, "core 1");
	says(out, "stack 1");
	says(out, "DMA engines");
	run(0, NULL, "info --json " EMU);
	valid_json();
	says(out, "\"device\": {");
	says(out, "\"holders\": [");
	says(out, "\"hbm_stack_free_bytes\": [");
	says(out, "\"state\": \"free\"");
}
END_TEST

/* ---- run ---- */

static void check_sum(const char *name, float each)
{
	float values[COUNT];
	char path[128];
	FILE *file;
	int i;

	snprintf(path, sizeof(path), "%s/%s", work, name);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(values, sizeof(float), COUNT, file), COUNT);
	ck_assert_int_eq(fgetc(file), EOF);
	fclose(file);
	for (i = 0; i < COUNT; i++)
		ck_assert_float_eq(values[i], (float)i + each);
}

START_TEST(run_once)
{
	run(0, EMU, "run add.tnx --input a=a --input b=b --output a=sum");
	says(out, "1 run in");
	silent(err);
	check_sum("sum", 0.5f);
	ck_assert_int_eq(count_files("sum"), 1);
}
END_TEST

START_TEST(run_many_times_json)
{
	run(0, EMU, "run --repeat 10 --json --input a=a --input b=b --output a=sum add.tnx");
	valid_json();
	says(out, "\"repeat\": 10");
	says(out, "\"bytes\": 4000");
	check_sum("sum", 5.0f);
}
END_TEST

START_TEST(run_on_a_core_with_args)
{
	run(0, EMU,
	    "run --core 1 --args 0,ffffffff,0x3f800000 --input a=a --input b=b --output a=sum "
	    "add.tnx");
	check_sum("sum", 0.5f);
	run(1, EMU, "run --core 7 --input a=a --input b=b add.tnx");
	says(err, "add.tnx");
}
END_TEST

START_TEST(run_overwrites_and_in_place)
{
	write_file("sum", "old", 3);
	run(0, EMU, "run --input a=a --input b=b --output a=sum add.tnx");
	check_sum("sum", 0.5f);
	run(0, EMU, "run --input a=sum --input b=b --output a=sum add.tnx");
	check_sum("sum", 1.0f);
	run(0, EMU, "run --input a=sum --input b=b --output a=/dev/null add.tnx");
}
END_TEST

START_TEST(run_list)
{
	run(0, NULL, "run --list add.tnx");
	says(out, "fp32");
	says(out, "input");
	says(out, "state");
	says(out, "4000");
	run(0, NULL, "run --list --json add.tnx");
	valid_json();
	says(out, "\"name\": \"a\"");
}
END_TEST

START_TEST(run_missing_input_is_named)
{
	run(1, EMU, "run --input a=a --output a=sum add.tnx");
	says(err, "input \"b\"");
	says(err, "4000 bytes");
	says(err, "--input b=FILE");
	ck_assert(!is_there("sum"));
}
END_TEST

START_TEST(run_unknown_tensor_lists_them)
{
	run(1, EMU, "run --input zz=a --input b=b add.tnx");
	says(err, "no tensor \"zz\"");
	says(err, "a (state), b (input)");
	run(1, EMU, "run --input b=b --output zz=sum add.tnx");
	says(err, "no tensor \"zz\"");
	ck_assert(!is_there("sum"));
}
END_TEST

START_TEST(run_wrong_sizes_tell_both)
{
	write_file("short", "123", 3);
	write_file("empty", "", 0);
	run(1, EMU, "run --input b=short add.tnx");
	says(err, "takes 4000 bytes");
	says(err, "has 3");
	run(1, EMU, "run --input b=empty add.tnx");
	says(err, "has 0");
	run(1, EMU, "run --input b=/dev/zero add.tnx");
	says(err, "at least 4001");
	run(1, EMU, "run --input b=/dev/null add.tnx");
	says(err, "has 0");
	run(1, EMU, "run --input b=add.tnx add.tnx");
	says(err, "takes 4000 bytes");
}
END_TEST

START_TEST(run_missing_files)
{
	run(1, EMU, "run nothing.tnx");
	says(err, "nothing.tnx");
	says(err, "No such file");
	run(1, EMU, "run --input b=nothing add.tnx");
	says(err, "nothing");
	says(err, "No such file");
	run(1, EMU, "run --input b=. add.tnx");
	says(err, "Is a directory");
	run(1, EMU, "run .");
	says(err, "trn: ");
}
END_TEST

START_TEST(run_bad_containers)
{
	char whole[65536], path[128];
	size_t bytes, i;
	FILE *file;

	snprintf(path, sizeof(path), "%s/add.tnx", work);
	file = fopen(path, "r");
	bytes = fread(whole, 1, sizeof(whole), file);
	fclose(file);
	ck_assert_uint_gt(bytes, 256);
	write_file("empty.tnx", "", 0);
	run(1, EMU, "run --input b=b empty.tnx");
	says(err, "empty.tnx");
	write_file("text.tnx", "#!/bin/sh\necho hello\n", 21);
	run(1, EMU, "run --input b=b text.tnx");
	says(err, "text.tnx");
	for (i = 0; i < 6; i++) {
		write_file("cut.tnx", whole, bytes * (i + 1) / 7);
		run(1, EMU, "run --input b=b cut.tnx");
		says(err, "cut.tnx");
	}
	for (i = 0; i < 8; i++) {
		whole[bytes * i / 8 + 3] ^= 0x40;
		write_file("flip.tnx", whole, bytes);
		whole[bytes * i / 8 + 3] ^= 0x40;
		run(1, EMU, "run --input b=b flip.tnx");
		says(err, "flip.tnx");
	}
}
END_TEST

START_TEST(run_unwritable_output)
{
	run(1, EMU, "run --input a=a --input b=b --output a=no/such/dir/sum add.tnx");
	says(err, "no/such/dir/sum");
	run(1, EMU, "run --input a=a --input b=b --output a=/dev/full add.tnx");
	says(err, "No space left");
	no_file = true;
	run(1, EMU, "run --input a=a --input b=b --output a=long add.tnx");
	no_file = false;
	ck_assert_int_eq(count_files("long"), 0);
	/* One good and one bad: neither is left behind, also not in part. */
	run(1, EMU, "run --input a=a --input b=b --output a=good --output b=no/dir/bad add.tnx");
	ck_assert_int_eq(count_files("good"), 0);
}
END_TEST

START_TEST(run_killed_leaves_nothing)
{
	char path[128];
	int status, i;
	pid_t pid = fork();

	if (pid == 0) {
		setenv("TRN_DEVICE", EMU, 1);
		redirect("out", STDOUT_FILENO);
		if (chdir(work) == 0)
			execl(tool, tool, "run", "--repeat", "100000000", "--input", "b=b",
			      "--output", "a=sum", "add.tnx", NULL);
		_exit(98);
	}
	/* Long enough to be at work, which no file shows. */
	for (i = 0; i < 50 && waitpid(pid, &status, WNOHANG) == 0; i++)
		usleep(10000);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(count_files("sum"), 0);
	snprintf(path, sizeof(path), "%s/sum", work);
	run(0, EMU, "run --input a=a --input b=b --output a=sum add.tnx");
	ck_assert_int_eq(access(path, R_OK), 0);
}
END_TEST

START_TEST(run_device_trouble_leaves_no_output)
{
	run(1, "emu:nothing", "run --input a=a --input b=b --output a=sum add.tnx");
	says(err, "nothing");
	ck_assert_int_eq(count_files("sum"), 0);
}
END_TEST

/* A program of one raw instruction, saved as @name. */
static void save_raw(const char *name, struct trn_insn insn)
{
	struct trn_builder *builder = trn_builder_create(name, 2);
	struct trn_image *image;
	char path[128];

	ck_assert_int_ge(trn_builder_emit(builder, &insn), 0);
	ck_assert_int_eq(trn_builder_finish(builder, &image), TRN_OK);
	snprintf(path, sizeof(path), "%s/%s", work, name);
	ck_assert_int_eq(trn_image_save(image, path), TRN_OK);
	trn_image_free(image);
	trn_builder_free(builder);
}

START_TEST(run_of_a_program_that_faults)
{
	struct trn_insn insn = { .opcode = 0x7f, .engine = TRN_ENGINE_DVE };

	save_raw("illegal.tnx", insn);
	run(1, EMU, "run illegal.tnx");
	says(err, "illegal.tnx");
	says(err, "illegal instruction");
	says(err, "vector engine");
	memset(&insn, 0, sizeof(insn));
	insn.opcode = TRN_OP_WRITE32;
	insn.engine = TRN_ENGINE_SP;
	insn.write32.address = 0x7fffff000ull;
	save_raw("outside.tnx", insn);
	run(1, EMU, "run --json outside.tnx");
	says(err, "0x7fffff000");
	silent(out);
}
END_TEST

START_TEST(run_of_an_endless_program)
{
	struct trn_insn insn = { .opcode = TRN_OP_BRANCH, .engine = TRN_ENGINE_ACT };

	save_raw("endless.tnx", insn);
	run(1, EMU, "run --timeout 1 endless.tnx");
	says(err, "endless.tnx");
	says(err, "time");
	run(2, EMU, "run --timeout 0 endless.tnx");
	says(err, "--timeout");
}
END_TEST

/* ---- test ---- */

START_TEST(test_of_a_healthy_device)
{
	run(0, EMU, "test --size 4M");
	says(out, "memory");
	says(out, "copy host to HBM");
	says(out, "copy HBM to host");
	says(out, "core 0 matrix product");
	says(out, "core 1 semaphores");
	says(out, "GFLOP/s");
	ck_assert_msg(!strcmp(out + strlen(out) - 9, "test: ok\n"), "%s", out);
	silent(err);
}
END_TEST

START_TEST(test_json_one_core)
{
	run(0, NULL, "test " EMU " --json --size 64K --core 1 --seed 77");
	valid_json();
	says(out, "\"ok\": true");
	says(out, "\"core\": 1");
	says(out, "seed 77");
	ck_assert_ptr_null(strstr(out, "\"core\": 0"));
}
END_TEST

START_TEST(test_of_too_much)
{
	run(1, EMU, "test --size 64G");
	says(err, "64.0 GiB");
	silent(out);
	run(1, EMU, "test --core 5");
	says(err, "cores 0 to 1");
}
END_TEST

/* ---- doctor ---- */

static void __attribute__((format(printf, 2, 3))) place(const char *text, const char *format, ...)
{
	char path[256], command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p \"$(dirname root/%s)\" && printf '%s\\n' > root/%s", work, path,
		 text, path);
	ck_assert_int_eq(system(command), 0);
}

static void place_link(const char *target, const char *path)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "cd %s && mkdir -p \"$(dirname root/%s)\" && ln -sfn %s root/%s", work, path,
		 target, path);
	ck_assert_int_eq(system(command), 0);
}

/* A machine with one card and Linux @release. */
static void place_card(const char *release)
{
	place(release, "proc/sys/kernel/osrelease");
	place("0x1d0f", "sys/bus/pci/devices/0000:00:1e.0/vendor");
	place("0x7164", "sys/bus/pci/devices/0000:00:1e.0/device");
	place("0x1d0f", "sys/bus/pci/devices/0000:00:05.0/vendor");
	place("0xefa2", "sys/bus/pci/devices/0000:00:05.0/device");
}

START_TEST(doctor_here)
{
	run(0, EMU, "doctor");
	says(out, "kernel");
	says(out, "libfabric");
	says(out, "opens: Trainium1");
	says(out, "doctor: ok\n");
	run(0, EMU, "doctor --json");
	valid_json();
	says(out, "\"usable\": true");
}
END_TEST

START_TEST(doctor_without_device)
{
	if (machine_has_devices())
		return;
	run(1, NULL, "doctor");
	says(out, "no Trainium or Inferentia on the PCI bus");
	says(out, "export TRN_DEVICE=emu:trn1");
	says(out, "no device can be used");
	run(1, "emu:trn99", "doctor");
	says(out, "trn99");
}
END_TEST

START_TEST(doctor_module_missing)
{
	place_card("6.1.0-40-amd64");
	run(1, NULL, "doctor --root root");
	says(out, "Trainium1 at 0000:00:1e.0");
	ck_assert_ptr_null(strstr(out, "0000:00:05.0"));
	says(out, "neither loaded nor installed");
	says(out, "fix: make module");
	says(out, "IOMMU");
	place("extra/trainium.ko.xz: kernel/drivers/gpu/drm/drm.ko.xz",
	      "lib/modules/6.1.0-40-amd64/modules.dep");
	run(1, NULL, "doctor --root root");
	says(out, "fix: modprobe trainium");
	run(1, NULL, "doctor --root root --json");
	valid_json();
	says(out, "\"fix\": \"modprobe trainium\"");
}
END_TEST

START_TEST(doctor_old_kernel)
{
	place_card("5.10.0-30-amd64");
	run(1, NULL, "doctor --root root");
	says(out, "too old");
	says(out, "6.1");
	says(out, "fix: apt-get install linux-image-amd64");
}
END_TEST

START_TEST(doctor_driver)
{
	place_card("6.12.1");
	place("", "sys/module/trainium/version");
	run(1, NULL, "doctor --root root");
	says(out, "has no driver");
	says(out, "dmesg");
	place_link("../../../bus/pci/drivers/vfio-pci", "sys/bus/pci/devices/0000:00:1e.0/driver");
	run(1, NULL, "doctor --root root");
	says(out, "held by driver \"vfio-pci\"");
	says(out, "/sys/bus/pci/drivers/vfio-pci/unbind");
}
END_TEST

START_TEST(doctor_node)
{
	place_card("6.12.1");
	place("", "sys/module/trainium/version");
	place_link("../../../bus/pci/drivers/trainium", "sys/bus/pci/devices/0000:00:1e.0/driver");
	run(1, NULL, "doctor --root root");
	says(out, "has no device node");
	place("261:0", "sys/bus/pci/devices/0000:00:1e.0/accel/accel0/dev");
	run(1, NULL, "doctor --root root");
	says(out, "no device node at /dev/accel/accel0");
	place("", "dev/accel/accel0");
	place_link("../../../kernel/iommu_groups/3",
		   "sys/bus/pci/devices/0000:00:1e.0/iommu_group");
	place("", "sys/kernel/iommu_groups/3/type");
	run(0, NULL, "doctor --root root");
	says(out, "/dev/accel/accel0 can be opened");
	says(out, "doctor: ok");
}
END_TEST

static bool nobody_reaches_tool(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (as_nobody && setuid(NOBODY))
			_exit(1);
		_exit(access(tool, X_OK) ? 1 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status == 0;
}

START_TEST(doctor_permission)
{
	char path[128];

	place_card("6.1.0");
	place("", "sys/module/trainium/version");
	place_link("../../../bus/pci/drivers/trainium", "sys/bus/pci/devices/0000:00:1e.0/driver");
	place("226:128", "sys/bus/pci/devices/0000:00:1e.0/drm/renderD128/dev");
	place("", "dev/dri/renderD128");
	snprintf(path, sizeof(path), "%s/root/dev/dri/renderD128", work);
	ck_assert_int_eq(chmod(path, 0), 0);
	/* Root may open everything; who is root becomes nobody, if nobody may come here. */
	ck_assert_int_eq(chmod(work, 0755), 0);
	as_nobody = geteuid() == 0;
	if (!nobody_reaches_tool())
		return;
	run(1, NULL, "doctor --root root");
	says(out, "you may not open /dev/dri/renderD128");
	says(out, "usermod -aG");
	if (as_nobody)
		says(out, "you may lock 8.0 MiB");
	/* To join the group of root is no advice: the node gets another group. */
	as_nobody = false;
	snprintf(path, sizeof(path), "%s/root/dev/dri/renderD128", work);
	if (geteuid() || chown(path, 0, 0))
		return;
	as_nobody = true;
	run(1, NULL, "doctor --root root");
	says(out, "SUBSYSTEM==\"drm\", GROUP=\"render\"");
	says(out, "usermod -aG render");
}
END_TEST

START_TEST(doctor_empty_root)
{
	run(1, NULL, "doctor --root /nonexistent/place");
	says(out, "shows no PCI bus");
	run(2, NULL, "doctor --root");
}
END_TEST

static void find_tool(const char *self)
{
	char path[4000], *slash;
	int i;

	if (!realpath(self, path))
		abort();
	/* build/tests/unit/test_tool → build */
	for (i = 0; i < 3; i++) {
		slash = strrchr(path, '/');
		*slash = '\0';
	}
	snprintf(tool, sizeof(tool), "%s/bin/trn", path);
}

int main(void)
{
	Suite *suite = suite_create("tool");
	TCase *tests = tcase_create("tool");
	SRunner *runner;
	int failed;

	find_tool("/proc/self/exe");
	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, help_of_everything);
	tcase_add_test(tests, version_is_the_library_s);
	tcase_add_test(tests, usage_errors_are_2);
	tcase_add_test(tests, no_color_without_terminal);
	tcase_add_test(tests, full_disk_is_told);
	tcase_add_test(tests, ls_text);
	tcase_add_test(tests, ls_json);
	tcase_add_test(tests, ls_device_option_wins);
	tcase_add_test(tests, ls_without_device);
	tcase_add_test(tests, others_without_device);
	tcase_add_test(tests, wrong_device_is_named);
	tcase_add_test(tests, info_text_and_json);
	tcase_add_test(tests, run_once);
	tcase_add_test(tests, run_many_times_json);
	tcase_add_test(tests, run_on_a_core_with_args);
	tcase_add_test(tests, run_overwrites_and_in_place);
	tcase_add_test(tests, run_list);
	tcase_add_test(tests, run_missing_input_is_named);
	tcase_add_test(tests, run_unknown_tensor_lists_them);
	tcase_add_test(tests, run_wrong_sizes_tell_both);
	tcase_add_test(tests, run_missing_files);
	tcase_add_test(tests, run_bad_containers);
	tcase_add_test(tests, run_unwritable_output);
	tcase_add_test(tests, run_killed_leaves_nothing);
	tcase_add_test(tests, run_device_trouble_leaves_no_output);
	tcase_add_test(tests, run_of_a_program_that_faults);
	tcase_add_test(tests, run_of_an_endless_program);
	tcase_add_test(tests, test_of_a_healthy_device);
	tcase_add_test(tests, test_json_one_core);
	tcase_add_test(tests, test_of_too_much);
	tcase_add_test(tests, doctor_here);
	tcase_add_test(tests, doctor_without_device);
	tcase_add_test(tests, doctor_module_missing);
	tcase_add_test(tests, doctor_old_kernel);
	tcase_add_test(tests, doctor_driver);
	tcase_add_test(tests, doctor_node);
	tcase_add_test(tests, doctor_permission);
	tcase_add_test(tests, doctor_empty_root);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
