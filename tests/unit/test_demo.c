// SPDX-License-Identifier: BSD-2-Clause
/* trn-demo: its parts, and the program itself as a user starts it. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "runtime/demo/demo.h"

#define OUTPUT_MAX (1 << 20)
#define ARGS_MAX   16
#define LIMIT_S	   100

/** struct outcome - a finished run of the program. */
struct outcome {
	int status; /* exit status, or -signal */
	char out[OUTPUT_MAX];
	char err[OUTPUT_MAX];
};

/** struct running - a run under way. */
struct running {
	pid_t pid;
	int out, err;
};

static char directory[64];

static const char *demo_path(void)
{
	static char path[512];
	char self[400];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = 0;
	snprintf(path, sizeof(path), "%s/../../bin/trn-demo", dirname(self));
	return path;
}

static struct running start(const char *device, const char *rank, char *const argv[])
{
	struct running r;
	int out[2], err[2];

	ck_assert_int_eq(pipe(out), 0);
	ck_assert_int_eq(pipe(err), 0);
	demo_path();
	r.pid = fork();
	ck_assert_int_ge(r.pid, 0);
	if (!r.pid) {
		dup2(out[1], 1);
		dup2(err[1], 2);
		close(out[0]);
		close(err[0]);
		close(out[1]);
		close(err[1]);
		unsetenv("TRN_RANK");
		unsetenv("TRN_DEVICE");
		if (device)
			setenv("TRN_DEVICE", device, 1);
		if (rank)
			setenv("TRN_RANK", rank, 1);
		execv(demo_path(), argv);
		_exit(127);
	}
	close(out[1]);
	close(err[1]);
	r.out = out[0];
	r.err = err[0];
	return r;
}

static bool drain(int fd, char *text, size_t *used)
{
	ssize_t n = read(fd, text + *used, OUTPUT_MAX - 1 - *used);

	if (n > 0)
		*used += (size_t)n;
	text[*used] = 0;
	return n > 0;
}

static void finish(struct running *r, struct outcome *o)
{
	struct pollfd fds[2] = { { r->out, POLLIN, 0 }, { r->err, POLLIN, 0 } };
	size_t used[2] = { 0, 0 };
	time_t limit = time(NULL) + LIMIT_S;
	int status;

	memset(o->out, 0, 1);
	memset(o->err, 0, 1);
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		ck_assert_msg(time(NULL) < limit, "the demo hangs: %s", o->out);
		poll(fds, 2, 1000);
		if (fds[0].fd >= 0 && fds[0].revents && !drain(r->out, o->out, &used[0]))
			fds[0].fd = -1;
		if (fds[1].fd >= 0 && fds[1].revents && !drain(r->err, o->err, &used[1]))
			fds[1].fd = -1;
	}
	close(r->out);
	close(r->err);
	ck_assert_int_eq(waitpid(r->pid, &status, 0), r->pid);
	o->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Runs the program with up to ARGS_MAX - 2 arguments, NULL-terminated. */
static struct outcome *run_on(const char *device, const char *rank, char *const args[])
{
	static struct outcome o;
	char *argv[ARGS_MAX] = { (char *)"trn-demo" };
	struct running r;
	int i;

	for (i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	r = start(device, rank, argv);
	finish(&r, &o);
	return &o;
}

#define RUN(...) run_on("emu:trn1", NULL, (char *const[]){ __VA_ARGS__, NULL })

static void succeeded(const struct outcome *o)
{
	static const char last[] = "demo: ok\n";
	size_t n = strlen(o->out);

	ck_assert_msg(o->status == 0, "status %d: %s", o->status, o->err);
	ck_assert_msg(n >= sizeof(last) && !strcmp(o->out + n - (sizeof(last) - 1), last),
		      "last line is not demo: ok: %s", o->out);
}

static void failed(const struct outcome *o, const char *word)
{
	ck_assert_msg(o->status == 1, "status %d: %s", o->status, o->err);
	ck_assert_msg(strstr(o->err, word) != NULL, "no \"%s\" in: %s", word, o->err);
	ck_assert_msg(!strncmp(o->err, "demo: ", 6), "%s", o->err);
	ck_assert_ptr_null(strstr(o->out, "demo: ok"));
}

/* Numbers of "losses" in the JSON output. */
static size_t losses(const char *json, double *list, size_t max)
{
	const char *at = strstr(json, "\"losses\": [");
	size_t n = 0;
	char *end;

	ck_assert_msg(at != NULL, "no losses in: %s", json);
	at += strlen("\"losses\": [");
	while (n < max) {
		list[n] = strtod(at, &end);
		ck_assert_ptr_ne(end, at);
		n++;
		if (*end != ',')
			break;
		at = end + 1;
	}
	return n;
}

static double field(const char *json, const char *name)
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\": ", name);
	at = strstr(json, key);
	ck_assert_msg(at != NULL, "no %s in: %s", name, json);
	return strtod(at + strlen(key), NULL);
}

static char *file(const char *name, const void *data, size_t bytes)
{
	static char path[4][128];
	static int next;
	char *p = path[next++ % 4];
	int fd;

	snprintf(p, sizeof(path[0]), "%s/%s", directory, name);
	fd = open(p, O_CREAT | O_WRONLY | O_TRUNC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
	close(fd);
	return p;
}

static void make_directory(void)
{
	strcpy(directory, "/tmp/test_demo.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
	DIR *d = opendir(directory);
	struct dirent *e;
	char path[400];

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
		unlink(path);
	}
	closedir(d);
	rmdir(directory);
}

/* Words repeated: easy to learn. */
static char *easy_text(void)
{
	static char text[6000];
	size_t i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = "the quick brown fox jumps over the lazy dog.\n"[i % 45];
	return file("easy", text, sizeof(text));
}

/* ---- the program ---- */

START_TEST(test_run)
{
	struct outcome *o = RUN((char *)"--text", easy_text(), (char *)"--steps", (char *)"25");

	succeeded(o);
	ck_assert_ptr_nonnull(strstr(o->out, "device: emu:trn1"));
	ck_assert_ptr_nonnull(strstr(o->out, "6000 bytes"));
	ck_assert_ptr_nonnull(strstr(o->out, "seed 1"));
	ck_assert_ptr_nonnull(strstr(o->out, "samples/s"));
	ck_assert_ptr_nonnull(strstr(o->out, "loss +----"));
	ck_assert_ptr_nonnull(strstr(o->out, "generated"));
	ck_assert_ptr_nonnull(strstr(o->out, "deviation from the host"));
	ck_assert_str_eq(o->err, "");
}
END_TEST

START_TEST(test_trn2)
{
	char *const args[] = { (char *)"--text", easy_text(), (char *)"--steps", (char *)"3",
			       NULL };
	struct outcome *o = run_on("emu:trn2", NULL, args);

	succeeded(o);
	ck_assert_ptr_nonnull(strstr(o->out, "device: emu:trn2 (Trainium2, 8 cores"));
}
END_TEST

START_TEST(test_no_plot)
{
	struct outcome *o = RUN((char *)"--text", easy_text(), (char *)"--steps", (char *)"2",
				(char *)"--no-plot");

	succeeded(o);
	ck_assert_ptr_null(strstr(o->out, "loss +----"));
}
END_TEST

START_TEST(test_json)
{
	struct outcome *o = RUN((char *)"--text", easy_text(), (char *)"--steps", (char *)"30",
				(char *)"--json");
	double list[40];

	ck_assert_int_eq(o->status, 0);
	ck_assert_int_eq(o->out[0], '{');
	ck_assert_uint_eq(losses(o->out, list, 40), 30);
	ck_assert_double_eq_tol(list[0], log(256), 0.05);
	ck_assert_double_lt(list[29], 3.0);
	ck_assert_double_lt(field(o->out, "loss_deviation"), 1e-3);
	ck_assert_double_lt(field(o->out, "parameter_deviation"), 1e-2);
	ck_assert_str_eq(o->err, "demo: ok\n");
}
END_TEST

/* The real text. */
START_TEST(test_default_text)
{
	struct outcome *o;

	if (access(DEMO_DEFAULT_TEXT, R_OK))
		return;
	o = RUN((char *)"--steps", (char *)"40", (char *)"--json");
	ck_assert_int_eq(o->status, 0);
	ck_assert_double_lt(field(o->out, "loss_final"), 3.5);
	ck_assert_double_lt(field(o->out, "loss_deviation"), DEMO_DEVIATION_MAX);
}
END_TEST

START_TEST(test_seed)
{
	static double first[16], again[16], other[16];
	char *text = easy_text();

	losses(RUN((char *)"--text", text, (char *)"--steps", (char *)"5", (char *)"--json",
		   (char *)"--seed", (char *)"7")
		       ->out,
	       first, 16);
	losses(RUN((char *)"--text", text, (char *)"--steps", (char *)"5", (char *)"--json",
		   (char *)"--seed", (char *)"7")
		       ->out,
	       again, 16);
	losses(RUN((char *)"--text", text, (char *)"--steps", (char *)"5", (char *)"--json",
		   (char *)"--seed", (char *)"8")
		       ->out,
	       other, 16);
	ck_assert_mem_eq(first, again, 5 * sizeof(double));
	ck_assert_int_ne(memcmp(first, other, 5 * sizeof(double)), 0);
}
END_TEST

START_TEST(test_verify_steps)
{
	struct outcome *o = RUN((char *)"--text", easy_text(), (char *)"--steps", (char *)"8",
				(char *)"--verify-steps", (char *)"3");

	succeeded(o);
	ck_assert_ptr_nonnull(strstr(o->out, "only the first 3 of 8 steps"));
	ck_assert_ptr_nonnull(strstr(o->out, "double precision, 3 steps"));
}
END_TEST

START_TEST(test_batches)
{
	static char *const batch[] = { (char *)"1", (char *)"5", (char *)"128" };
	struct outcome *o = RUN((char *)"--text", easy_text(), (char *)"--steps", (char *)"4",
				(char *)"--batch", batch[_i], (char *)"--no-plot");

	succeeded(o);
}
END_TEST

START_TEST(test_text_shortest)
{
	struct outcome *o = RUN((char *)"--text", file("short", "12345678901234567", 17),
				(char *)"--steps", (char *)"3");

	succeeded(o);
}
END_TEST

START_TEST(test_text_binary)
{
	uint8_t data[4000];
	uint64_t state = 3;
	size_t i;
	struct outcome *o;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)demo_random(&state);
	o = RUN((char *)"--text", file("binary", data, sizeof(data)), (char *)"--steps",
		(char *)"25");
	succeeded(o);
	for (i = 0; o->out[i]; i++)
		ck_assert_msg(o->out[i] == '\n' || (o->out[i] >= ' ' && o->out[i] < 127),
			      "byte %02x on the terminal", o->out[i]);
}
END_TEST

START_TEST(test_text_bad)
{
	switch (_i) {
	case 0:
		failed(RUN((char *)"--text", (char *)"/nonexistent/text"),
		       "/nonexistent/text: cannot be opened");
		break;
	case 1:
		failed(RUN((char *)"--text", directory), "is a directory");
		break;
	case 2:
		failed(RUN((char *)"--text", file("empty", "", 0)), "has 0 bytes, at least 17");
		break;
	case 3:
		failed(RUN((char *)"--text", file("one", "x", 1)), "has 1 bytes");
		break;
	case 4:
		failed(RUN((char *)"--text", file("sixteen", "1234567890123456", 16)),
		       "has 16 bytes");
		break;
	case 5:
		failed(RUN((char *)"--text", (char *)"/proc/self/mem"), "cannot be read");
		break;
	case 6:
		failed(RUN((char *)"--text", file("one", "x", 1), (char *)"--ranks", (char *)"2"),
		       "has 1 bytes");
		break;
	}
}
END_TEST

static const char *const bad_options[][3] = {
	{ "--steps", "0", "--steps 0" },
	{ "--steps", "x", "--steps x" },
	{ "--steps", "99999999999999999999", "--steps" },
	{ "--batch", "0", "--batch 0" },
	{ "--batch", "129", "batch of 129" },
	{ "--ranks", "0", "--ranks 0" },
	{ "--ranks", "65", "--ranks 65" },
	{ "--ranks", "3", "batch of 128 cannot be split among 3" },
	{ "--seed", "-1", "--seed -1" },
	{ "--verify-steps", "0", "--verify-steps 0" },
	{ "--lr", "0", "--lr 0" },
	{ "--lr", "nan", "--lr nan" },
	{ "--lr", "1e9", "--lr 1e9" },
	{ "--wrong", NULL, "--wrong" },
	{ "--steps", NULL, "--steps" },
	{ "file", NULL, "file" },
};

START_TEST(test_options_bad)
{
	failed(RUN((char *)bad_options[_i][0], (char *)bad_options[_i][1]), bad_options[_i][2]);
}
END_TEST

START_TEST(test_help)
{
	struct outcome *o = RUN((char *)"--help");

	ck_assert_int_eq(o->status, 0);
	ck_assert_ptr_nonnull(strstr(o->out, "--verify-steps"));
	ck_assert_str_eq(o->err, "");
}
END_TEST

START_TEST(test_no_device)
{
	char *const args[] = { (char *)"--steps", (char *)"1", NULL };
	struct stat st;

	failed(run_on("emu:nothing", NULL, args), "emu:nothing");
	failed(run_on("trn77", NULL, args), "trn77");
	if (!stat("/dev/accel", &st) || !stat("/dev/dri", &st))
		return;
	failed(run_on(NULL, NULL, args), "TRN_DEVICE=emu:trn1");
}
END_TEST

START_TEST(test_rate_too_large)
{
	struct outcome *o = RUN((char *)"--text", easy_text(), (char *)"--steps", (char *)"60",
				(char *)"--lr", (char *)"1");

	/*
	 * Either the loss explodes or the fp32 run parts from the reference; never a success that
	 * is none.
	 */
	ck_assert_int_eq(o->status, 1);
	ck_assert_msg(strstr(o->err, "loss") != NULL, "%s", o->err);
}
END_TEST

/* ---- ranks ---- */

START_TEST(test_two_ranks)
{
	static double one[40], two[40];
	char *text = easy_text();
	struct outcome *o;
	size_t i;

	o = RUN((char *)"--text", text, (char *)"--steps", (char *)"25", (char *)"--json");
	ck_assert_msg(o->status == 0, "%s", o->err);
	ck_assert_uint_eq(losses(o->out, one, 40), 25);
	o = RUN((char *)"--text", text, (char *)"--steps", (char *)"25", (char *)"--json",
		(char *)"--ranks", (char *)"2");
	ck_assert_msg(o->status == 0, "%s", o->err);
	ck_assert_uint_eq(losses(o->out, two, 40), 25);
	ck_assert_double_eq(field(o->out, "ranks"), 2);
	for (i = 0; i < 25; i++)
		ck_assert_msg(fabs(one[i] - two[i]) < 1e-3 * one[i],
			      "step %zu: %g with one rank, %g with two", i + 1, one[i], two[i]);
}
END_TEST

START_TEST(test_two_ranks_text)
{
	struct outcome *o = RUN((char *)"--text", easy_text(), (char *)"--steps", (char *)"3",
				(char *)"--ranks", (char *)"2");

	succeeded(o);
	ck_assert_ptr_nonnull(strstr(o->out, "2 ranks"));
}
END_TEST

START_TEST(test_rank_outside)
{
	char *const args[] = { (char *)"--ranks", (char *)"2", NULL };

	failed(run_on("emu:trn1", "2", args), "TRN_RANK is 2");
}
END_TEST

static int children(pid_t parent, pid_t *list, int max)
{
	char path[64], text[512];
	FILE *f;
	int n = 0;
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f)) {
		char *at = text, *end;

		while (n < max && (pid = (pid_t)strtol(at, &end, 10)) > 0) {
			list[n++] = pid;
			at = end;
		}
	}
	if (f)
		fclose(f);
	return n;
}

static bool gone(pid_t pid)
{
	char path[64], text[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f)
		return true;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	/* A zombie waits for its new parent; it runs no more. */
	return strstr(text, ") Z ") || strstr(text, ") X ");
}

static void pause_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

/*
 * Starts two ranks that would run for hours; returns when both exist and the first progress was
 * printed.
 */
static struct running long_run(pid_t pids[2])
{
	char *argv[] = { (char *)"trn-demo", (char *)"--text",
			 easy_text(),	     (char *)"--steps",
			 (char *)"900000",   (char *)"--verify-steps",
			 (char *)"1",	     (char *)"--ranks",
			 (char *)"2",	     NULL };
	struct running r = start("emu:trn1", NULL, argv);
	char text[4096];
	size_t used = 0;
	int i;

	for (i = 0; i < 1000; i++) {
		ssize_t n = read(r.out, text + used, sizeof(text) - 1 - used);

		ck_assert_int_gt(n, 0);
		used += (size_t)n;
		text[used] = 0;
		if (strstr(text, "samples/s\n") && strstr(text, "     1  "))
			break;
	}
	ck_assert_int_eq(children(r.pid, pids, 2), 2);
	return r;
}

START_TEST(test_rank_killed)
{
	static struct outcome o;
	pid_t pids[2];
	struct running r = long_run(pids);
	time_t begin = time(NULL);

	kill(pids[_i], SIGKILL);
	finish(&r, &o);
	ck_assert_int_eq(o.status, 1);
	ck_assert_msg(strstr(o.err, "was ended by signal 9") != NULL ||
			      strstr(o.err, "failed with status") != NULL,
		      "%s", o.err);
	ck_assert_ptr_nonnull(strstr(o.err, "the other ranks were stopped"));
	ck_assert(gone(pids[0]) && gone(pids[1]));
	ck_assert_int_lt(time(NULL) - begin, 40);
}
END_TEST

START_TEST(test_parent_killed)
{
	pid_t pids[2];
	struct running r = long_run(pids);
	int i, status;

	kill(r.pid, SIGKILL);
	waitpid(r.pid, &status, 0);
	for (i = 0; i < 500 && !(gone(pids[0]) && gone(pids[1])); i++)
		pause_ms(20);
	ck_assert(gone(pids[0]) && gone(pids[1]));
	close(r.out);
	close(r.err);
}
END_TEST

/* ---- parts ---- */

START_TEST(test_batch_inside_text)
{
	uint8_t data[40], samples[64 * DEMO_SAMPLE], again[64 * DEMO_SAMPLE];
	struct demo_text text = { data, sizeof(data) };
	uint64_t step;
	bool last = false;
	uint32_t b, i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	for (step = 1; step < 200; step++) {
		demo_text_batch(&text, 5, step, 64, samples);
		demo_text_batch(&text, 5, step, 64, again);
		ck_assert_mem_eq(samples, again, sizeof(samples));
		for (b = 0; b < 64; b++) {
			for (i = 1; i < DEMO_SAMPLE; i++)
				ck_assert_uint_eq(samples[b * DEMO_SAMPLE + i],
						  samples[b * DEMO_SAMPLE] + i);
			last |= samples[b * DEMO_SAMPLE + DEMO_CONTEXT] == 39;
		}
	}
	ck_assert(last);
}
END_TEST

START_TEST(test_printable)
{
	char out[8];

	demo_text_printable((const uint8_t *)"a\nb\x1b\x80~\t", 7, out);
	ck_assert_str_eq(out, "a\nb..~.");
}
END_TEST

START_TEST(test_options)
{
	char *argv[] = { (char *)"trn-demo", (char *)"--steps",
			 (char *)"10",	     (char *)"--verify-steps",
			 (char *)"50",	     (char *)"--ranks",
			 (char *)"4",	     (char *)"--batch",
			 (char *)"512",	     (char *)"--lr",
			 (char *)"0.01",     (char *)"--seed",
			 (char *)"0",	     NULL };
	struct demo_options o;

	ck_assert(demo_options_parse(13, argv, &o));
	ck_assert_uint_eq(o.steps, 10);
	ck_assert_uint_eq(o.verify_steps, 10);
	ck_assert_uint_eq(o.ranks, 4);
	ck_assert_uint_eq(o.batch, 512);
	ck_assert_double_eq(o.lr, 0.01);
	ck_assert_uint_eq(o.seed, 0);
	ck_assert(o.plot && !o.json && !o.help);
	ck_assert_str_eq(o.text, DEMO_DEFAULT_TEXT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("demo");
	TCase *tc = tcase_create("program"), *ranks = tcase_create("ranks"),
	      *parts = tcase_create("parts");
	SRunner *runner;
	int failures;

	tcase_set_timeout(tc, 150);
	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_add_test(tc, test_run);
	tcase_add_test(tc, test_trn2);
	tcase_add_test(tc, test_no_plot);
	tcase_add_test(tc, test_json);
	tcase_add_test(tc, test_default_text);
	tcase_add_test(tc, test_seed);
	tcase_add_test(tc, test_verify_steps);
	tcase_add_loop_test(tc, test_batches, 0, 3);
	tcase_add_test(tc, test_text_shortest);
	tcase_add_test(tc, test_text_binary);
	tcase_add_loop_test(tc, test_text_bad, 0, 7);
	tcase_add_loop_test(tc, test_options_bad, 0, 16);
	tcase_add_test(tc, test_help);
	tcase_add_test(tc, test_no_device);
	tcase_add_test(tc, test_rate_too_large);
	suite_add_tcase(suite, tc);
	tcase_set_timeout(ranks, 150);
	tcase_add_checked_fixture(ranks, make_directory, remove_directory);
	tcase_add_test(ranks, test_two_ranks);
	tcase_add_test(ranks, test_two_ranks_text);
	tcase_add_test(ranks, test_rank_outside);
	tcase_add_loop_test(ranks, test_rank_killed, 0, 2);
	tcase_add_test(ranks, test_parent_killed);
	suite_add_tcase(suite, ranks);
	tcase_add_test(parts, test_batch_inside_text);
	tcase_add_test(parts, test_printable);
	tcase_add_test(parts, test_options);
	suite_add_tcase(suite, parts);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failures = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failures ? 1 : 0;
}
