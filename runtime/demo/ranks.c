// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ranks: the process the user starts becomes the parent of one process per rank and does nothing
 * but watch them.
 *
 * A rank's life is tied to the parent's by PR_SET_PDEATHSIG, so killing the parent leaves nothing
 * behind; when a rank ends badly the parent stops the others.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "demo.h"

#define PARENT_VARIABLE "TRN_DEMO_PARENT"
#define GRACE_MS	3000

extern char **environ;

bool demo_ranks_self(uint32_t *rank)
{
	const char *text = getenv("TRN_RANK");

	*rank = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
	return text != NULL;
}

bool demo_ranks_join(void)
{
	const char *text = getenv(PARENT_VARIABLE);

	if (!text)
		return false;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Started as /proc/self/exe, which is no name to tell others who holds a core. */
	prctl(PR_SET_NAME, "trn-demo");
	/* The parent may have gone before the call above. */
	if (getppid() != (pid_t)strtol(text, NULL, 10))
		raise(SIGKILL);
	return true;
}

/* A port that is free now, on the loopback interface; 0: none. */
static unsigned int free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unsigned int port = 0;

	if (fd < 0)
		return 0;
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)) &&
	    !getsockname(fd, (struct sockaddr *)&address, &size))
		port = ntohs(address.sin_port);
	close(fd);
	return port;
}

/* Which device a rank uses when the user named none: the machine's in turn. */
static void choose_device(uint32_t rank)
{
	struct trn_device_info list[DEMO_RANKS_MAX];
	size_t count = DEMO_RANKS_MAX;
	uint32_t i;

	memset(list, 0, sizeof(list));
	for (i = 0; i < DEMO_RANKS_MAX; i++)
		list[i].size = sizeof(list[i]);
	if (trn_device_list(list, &count) || !count)
		return;
	if (count > DEMO_RANKS_MAX)
		count = DEMO_RANKS_MAX;
	setenv("TRN_DEVICE", list[rank % count].spec, 1);
}

/* The environment of a rank is made in the parent's own and inherited. */
static bool spawn(uint32_t rank, bool named, char **argv, pid_t *pid)
{
	char text[16];
	int error;

	snprintf(text, sizeof(text), "%u", rank);
	setenv("TRN_RANK", text, 1);
	if (!named)
		choose_device(rank);
	error = posix_spawn(pid, "/proc/self/exe", NULL, NULL, argv, environ);
	if (error)
		return demo_fail("rank %u cannot be started: %s", rank, strerror(error));
	return true;
}

static bool environment(const struct demo_options *options)
{
	unsigned int port = free_port();
	char text[64];

	if (!port)
		return demo_fail("no free port on the loopback interface for %u ranks: %s",
				 options->ranks, strerror(errno));
	snprintf(text, sizeof(text), "127.0.0.1:%u", port);
	setenv("TRN_COMM_ROOT", text, 1);
	snprintf(text, sizeof(text), "%u", options->ranks);
	setenv("TRN_RANKS", text, 1);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	setenv(PARENT_VARIABLE, text, 1);
	return true;
}

static void signal_all(const pid_t *pids, uint32_t count, int signal)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (pids[i] > 0)
			kill(pids[i], signal);
	}
}

/* Ends what still runs: asked first, then killed; returns when all are gone. */
static void stop_all(pid_t *pids, uint32_t count)
{
	struct timespec pause = { 0, 10000000 };
	uint32_t i, left, waited;

	signal_all(pids, count, SIGTERM);
	for (waited = 0;; waited += 10) {
		for (i = left = 0; i < count; i++) {
			if (pids[i] > 0 && waitpid(pids[i], NULL, WNOHANG) == pids[i])
				pids[i] = 0;
			left += pids[i] > 0;
		}
		if (!left)
			return;
		if (waited == GRACE_MS)
			signal_all(pids, count, SIGKILL);
		nanosleep(&pause, NULL);
	}
}

static bool ended(uint32_t rank, pid_t pid, int status)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	if (WIFSIGNALED(status))
		return demo_fail("rank %u (process %d) was ended by signal %d (%s); the other "
				 "ranks were stopped",
				 rank, (int)pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return demo_fail("rank %u (process %d) failed with status %d; the other ranks were stopped",
			 rank, (int)pid, WEXITSTATUS(status));
}

static bool watch(pid_t *pids, uint32_t count)
{
	uint32_t left = count, i;

	while (left) {
		int status;
		pid_t pid = waitpid(-1, &status, 0);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return demo_fail("the ranks cannot be waited for: %s", strerror(errno));
		for (i = 0; i < count && pids[i] != pid; i++)
			;
		if (i == count)
			continue;
		pids[i] = 0;
		left--;
		if (!ended(i, pid, status)) {
			stop_all(pids, count);
			return false;
		}
	}
	return true;
}

bool demo_ranks_run(const struct demo_options *options, char **argv)
{
	pid_t pids[DEMO_RANKS_MAX] = { 0 };
	bool named = getenv("TRN_DEVICE") != NULL;
	uint32_t rank;

	if (!environment(options))
		return false;
	fflush(stdout);
	for (rank = 0; rank < options->ranks; rank++) {
		if (!spawn(rank, named, argv, &pids[rank])) {
			stop_all(pids, rank);
			return false;
		}
	}
	return watch(pids, options->ranks);
}
