// SPDX-License-Identifier: BSD-2-Clause
/*
 * Locking: @lock protects all fields but those set before the thread starts and the atomics. It is
 * held while sending, which serialises senders; a send is bounded by a second. Only the thread
 * reads from the connections. Nothing else is locked inside.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "comm/control.h"
#include "error.h"

#define PING_MS	 1000
#define BLIND_US 20000

/* What a rank has given, and whether it has left. */
struct seat {
	uint8_t gather[TRN_COMM_GATHER_MAX];
	uint32_t gather_bytes;
	bool gathered;
	bool left;
	uint64_t operations;
	int pidfd; /* -1: other host, or old kernel */
};

struct trn_comm_control {
	uint32_t rank;
	uint32_t ranks;
	struct trn_comm_peer *peers;
	struct trn_comm_stream *streams;
	uint32_t stream_count;
	struct pollfd *pollers; /* of the thread */
	uint32_t *polled;	/* which connection, or stream_count + rank, each entry is */
	pthread_t thread;
	int wake_fd;
	int failure_fd;
	atomic_bool stop;
	atomic_bool failed;
	atomic_uint left_count;

	pthread_mutex_t lock;
	pthread_cond_t changed; /* CLOCK_MONOTONIC */
	struct seat *seats;
	uint32_t gather_count; /* rank 0: ranks that have given */
	uint8_t *gathered;     /* result for the caller, NULL: not there yet */
	uint32_t gathered_bytes;
	bool all_bye;
	struct trn_comm_abort failure;
};

static void wake(int fd)
{
	const uint64_t one = 1;
	ssize_t ignored = write(fd, &one, sizeof(one));

	(void)ignored; /* the counter is full: it is awake */
}

/* Rank of the other end of stream @index. */
static uint32_t stream_rank(const struct trn_comm_control *control, uint32_t index)
{
	return control->rank == 0 ? index : 0;
}

/* To every connection but @except; caller holds the lock. A peer that cannot take it is dying. */
static void flood(struct trn_comm_control *control, uint32_t except,
		  enum trn_comm_message_type type, const void *payload, size_t bytes)
{
	uint32_t i;

	for (i = 0; i < control->stream_count; i++)
		if (control->streams[i].fd >= 0 && stream_rank(control, i) != except)
			trn_comm_stream_send(&control->streams[i], type, payload, bytes);
}

/* Caller holds the lock. */
static void fail_locked(struct trn_comm_control *control, const struct trn_comm_abort *failure,
			uint32_t source)
{
	if (atomic_load(&control->failed))
		return;
	control->failure = *failure;
	control->failure.text[TRN_COMM_TEXT_MAX - 1] = '\0';
	atomic_store(&control->failed, true);
	flood(control, source, TRN_COMM_ABORT, &control->failure, sizeof(control->failure));
	wake(control->failure_fd);
	pthread_cond_broadcast(&control->changed);
}

static void died_locked(struct trn_comm_control *control, uint32_t rank, const char *how)
{
	struct trn_comm_abort failure = { .status = TRN_ERR_COMM, .culprit = rank };
	char name[128];

	trn_comm_peer_name(&control->peers[rank], name, sizeof(name));
	if (control->seats[rank].left)
		snprintf(failure.text, sizeof(failure.text),
			 "%s has left the communicator after %llu operations", name,
			 (unsigned long long)control->seats[rank].operations);
	else
		snprintf(failure.text, sizeof(failure.text), "%s died (%s)", name, how);
	fail_locked(control, &failure, rank);
}

/* The end of stream @index. A rank that said good-bye may go; without rank 0 nobody watches. */
static void ended_locked(struct trn_comm_control *control, uint32_t index, const char *how)
{
	uint32_t rank = stream_rank(control, index);

	trn_comm_stream_close(&control->streams[index]);
	if (control->rank == 0 && control->seats[rank].left)
		return;
	if (rank == 0 && control->all_bye)
		return;
	died_locked(control, rank, how);
}

static void gather_finish_locked(struct trn_comm_control *control)
{
	uint32_t bytes = control->seats[0].gather_bytes;
	uint8_t *all = malloc((size_t)bytes * control->ranks + 1);
	struct trn_comm_abort failure = { .status = TRN_ERR_NO_HOST_MEMORY };
	uint32_t i;

	for (i = 0; i < control->ranks; i++) {
		if (all && control->seats[i].gather_bytes == bytes) {
			memcpy(all + (size_t)i * bytes, control->seats[i].gather, bytes);
			control->seats[i].gathered = false;
			continue;
		}
		snprintf(failure.text, sizeof(failure.text),
			 "rank %u gave %u bytes to the creation of the communicator, rank 0 gave "
			 "%u; use "
			 "one version of libtrn everywhere",
			 i, control->seats[i].gather_bytes, bytes);
		fail_locked(control, &failure, UINT32_MAX);
		free(all);
		return;
	}
	control->gather_count = 0;
	control->gathered = all;
	control->gathered_bytes = bytes * control->ranks;
	flood(control, UINT32_MAX, TRN_COMM_GATHERED, all, control->gathered_bytes);
	pthread_cond_broadcast(&control->changed);
}

static void gather_add_locked(struct trn_comm_control *control, uint32_t rank, const void *data,
			      uint32_t bytes)
{
	struct seat *seat = &control->seats[rank];

	if (seat->gathered || bytes > sizeof(seat->gather))
		return;
	memcpy(seat->gather, data, bytes);
	seat->gather_bytes = bytes;
	seat->gathered = true;
	if (++control->gather_count == control->ranks)
		gather_finish_locked(control);
}

static void bye_locked(struct trn_comm_control *control, const struct trn_comm_bye *bye,
		       uint32_t source)
{
	uint32_t i;

	if (bye->rank >= control->ranks || control->seats[bye->rank].left)
		return;
	control->seats[bye->rank].operations = bye->operations;
	control->seats[bye->rank].left = true;
	atomic_fetch_add(&control->left_count, 1);
	flood(control, source, TRN_COMM_BYE, bye, sizeof(*bye));
	if (control->rank == 0) {
		for (i = 0; i < control->ranks && control->seats[i].left; i++)
			;
		if (i == control->ranks) {
			control->all_bye = true;
			flood(control, UINT32_MAX, TRN_COMM_ALL_BYE, NULL, 0);
		}
	}
	wake(control->failure_fd);
	pthread_cond_broadcast(&control->changed);
}

static void handle_locked(struct trn_comm_control *control, uint32_t index)
{
	struct trn_comm_stream *stream = &control->streams[index];
	uint32_t rank = stream_rank(control, index);
	uint32_t bytes = stream->head.bytes;

	switch (stream->head.type) {
	case TRN_COMM_ABORT:
		if (bytes == sizeof(struct trn_comm_abort))
			fail_locked(control, (const void *)stream->payload, rank);
		break;
	case TRN_COMM_GATHER:
		if (control->rank == 0)
			gather_add_locked(control, rank, stream->payload, bytes);
		break;
	case TRN_COMM_GATHERED:
		free(control->gathered);
		control->gathered = stream->payload;
		control->gathered_bytes = bytes;
		stream->payload = NULL;
		pthread_cond_broadcast(&control->changed);
		break;
	case TRN_COMM_BYE:
		if (bytes == sizeof(struct trn_comm_bye))
			bye_locked(control, (const void *)stream->payload, rank);
		break;
	case TRN_COMM_ALL_BYE:
		control->all_bye = true;
		pthread_cond_broadcast(&control->changed);
		break;
	default:
		break;
	}
}

static void drain_stream(struct trn_comm_control *control, uint32_t index)
{
	struct trn_comm_stream *stream = &control->streams[index];
	char how[96];
	int got;

	while (stream->fd >= 0) {
		got = trn_comm_stream_read(stream);
		if (got == 0)
			return;
		pthread_mutex_lock(&control->lock);
		if (got == 1) {
			handle_locked(control, index);
		} else {
			snprintf(how, sizeof(how),
				 got == -ECONNRESET ? "its control connection closed"
						    : "its control connection failed: %s",
				 strerror(-got));
			ended_locked(control, index, how);
		}
		pthread_mutex_unlock(&control->lock);
	}
}

static void pid_ended(struct trn_comm_control *control, uint32_t rank)
{
	uint32_t index = control->rank == 0 ? rank : 0;

	/* What it sent before its end comes first: an abort of its own, or a good-bye. */
	drain_stream(control, index);
	pthread_mutex_lock(&control->lock);
	close(control->seats[rank].pidfd);
	control->seats[rank].pidfd = -1;
	if (!control->seats[rank].left && !control->all_bye)
		died_locked(control, rank, "its process ended");
	pthread_mutex_unlock(&control->lock);
}

/* What to poll: connections, then pidfds, open ones only, for poll() counts them all. */
static uint32_t list_pollers(struct trn_comm_control *control)
{
	uint32_t i, count = 0;

	control->pollers[count++] = (struct pollfd){ .fd = control->wake_fd, .events = POLLIN };
	for (i = 0; i < control->stream_count; i++) {
		if (control->streams[i].fd < 0)
			continue;
		control->polled[count] = i;
		control->pollers[count++] =
			(struct pollfd){ .fd = control->streams[i].fd, .events = POLLIN };
	}
	for (i = 0; i < control->ranks; i++) {
		if (control->seats[i].pidfd < 0)
			continue;
		control->polled[count] = control->stream_count + i;
		control->pollers[count++] =
			(struct pollfd){ .fd = control->seats[i].pidfd, .events = POLLIN };
	}
	return count;
}

static void look_round(struct trn_comm_control *control, int64_t until)
{
	uint32_t i, count = list_pollers(control);
	bool blind = false;

	if (poll(control->pollers, count, trn_comm_poll_ms(until, PING_MS)) < 0 && errno != EINTR) {
		/* The program has lowered its limit of descriptors: go round by the clock. */
		blind = true;
		usleep(BLIND_US);
	}
	for (i = 1; i < count; i++) {
		if (!blind && !control->pollers[i].revents)
			continue;
		if (control->polled[i] < control->stream_count)
			drain_stream(control, control->polled[i]);
		else if (!blind)
			pid_ended(control, control->polled[i] - control->stream_count);
	}
}

static void *control_thread(void *argument)
{
	struct trn_comm_control *control = argument;
	int64_t ping = trn_comm_now() + PING_MS * 1000000ll;

	while (!atomic_load(&control->stop)) {
		look_round(control, ping);
		if (trn_comm_now() < ping)
			continue;
		ping = trn_comm_now() + PING_MS * 1000000ll;
		pthread_mutex_lock(&control->lock);
		flood(control, UINT32_MAX, TRN_COMM_PING, NULL, 0);
		pthread_mutex_unlock(&control->lock);
	}
	return NULL;
}

/* Watch by pid those we have a connection to, when they are on this host. */
static void open_pidfds(struct trn_comm_control *control)
{
	uint32_t last = control->rank == 0 ? control->ranks : 1;
	uint32_t i;

	for (i = 0; i < control->ranks; i++)
		control->seats[i].pidfd = -1;
	for (i = 0; i < last; i++)
		if (i != control->rank &&
		    control->peers[i].host_id == control->peers[control->rank].host_id)
			control->seats[i].pidfd =
				(int)syscall(SYS_pidfd_open, control->peers[i].pid, 0);
}

static void control_free(struct trn_comm_control *control)
{
	uint32_t i;

	for (i = 0; i < control->stream_count; i++)
		trn_comm_stream_close(&control->streams[i]);
	for (i = 0; control->seats && i < control->ranks; i++)
		if (control->seats[i].pidfd >= 0)
			close(control->seats[i].pidfd);
	if (control->wake_fd >= 0)
		close(control->wake_fd);
	if (control->failure_fd >= 0)
		close(control->failure_fd);
	free(control->gathered);
	free(control->seats);
	free(control->polled);
	free(control->pollers);
	free(control->streams);
	free(control->peers);
	free(control);
}

static int start_thread(struct trn_comm_control *control)
{
	pthread_condattr_t attributes;
	sigset_t all, old;
	int error;

	pthread_mutex_init(&control->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&control->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&control->thread, NULL, control_thread, control);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

enum trn_status trn_comm_control_start(struct trn_comm_meeting *meeting,
				       struct trn_comm_control **out)
{
	struct trn_comm_control *control = calloc(1, sizeof(*control));
	uint32_t ranks = meeting->hello.ranks;
	int error;

	if (!control)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no host memory for %u ranks", ranks);
	control->rank = meeting->hello.peer.rank;
	control->ranks = ranks;
	control->peers = meeting->peers;
	control->streams = meeting->streams;
	control->stream_count = meeting->stream_count;
	meeting->peers = NULL;
	meeting->streams = NULL;
	control->seats = calloc(ranks, sizeof(*control->seats));
	control->pollers =
		calloc(1 + control->stream_count + (size_t)ranks, sizeof(*control->pollers));
	control->polled =
		calloc(1 + control->stream_count + (size_t)ranks, sizeof(*control->polled));
	control->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	control->failure_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!control->seats || !control->pollers || !control->polled || control->wake_fd < 0 ||
	    control->failure_fd < 0) {
		error = errno;
		free(control->seats);
		control->seats = NULL;
		control_free(control);
		return trn_error_set(TRN_ERR_IO, "communicator of %u ranks: %s", ranks,
				     strerror(error));
	}
	open_pidfds(control);
	error = start_thread(control);
	if (error) {
		control_free(control);
		return trn_error_set(TRN_ERR_IO, "communicator of %u ranks: no thread: %s", ranks,
				     strerror(error));
	}
	*out = control;
	return TRN_OK;
}

void trn_comm_control_stop(struct trn_comm_control *control)
{
	if (!control)
		return;
	atomic_store(&control->stop, true);
	wake(control->wake_fd);
	pthread_join(control->thread, NULL);
	pthread_cond_destroy(&control->changed);
	pthread_mutex_destroy(&control->lock);
	control_free(control);
}

void trn_comm_control_abandon(struct trn_comm_control *control)
{
	if (control)
		control_free(control);
}

const struct trn_comm_peer *trn_comm_control_peer(const struct trn_comm_control *control,
						  uint32_t rank)
{
	return &control->peers[rank];
}

bool trn_comm_control_failed(const struct trn_comm_control *control)
{
	return atomic_load(&control->failed);
}

enum trn_status trn_comm_control_failure(struct trn_comm_control *control, char *text, size_t size)
{
	enum trn_status status;

	pthread_mutex_lock(&control->lock);
	status = (enum trn_status)control->failure.status;
	snprintf(text, size, "%s", control->failure.text);
	pthread_mutex_unlock(&control->lock);
	return status == TRN_OK ? TRN_ERR_COMM : status;
}

void trn_comm_control_fail(struct trn_comm_control *control, enum trn_status status,
			   uint32_t culprit, const char *text)
{
	struct trn_comm_abort failure = { .status = status, .culprit = culprit };

	snprintf(failure.text, sizeof(failure.text), "%s", text);
	pthread_mutex_lock(&control->lock);
	fail_locked(control, &failure, UINT32_MAX);
	pthread_mutex_unlock(&control->lock);
}

int trn_comm_control_fd(const struct trn_comm_control *control)
{
	return control->failure_fd;
}

void trn_comm_control_check(struct trn_comm_control *control, uint64_t operation, const char *what)
{
	struct trn_comm_abort failure = { .status = TRN_ERR_COMM };
	char name[128];
	uint32_t i;

	if (atomic_load(&control->left_count) == 0)
		return;
	pthread_mutex_lock(&control->lock);
	for (i = 0; i < control->ranks; i++) {
		if (!control->seats[i].left || control->seats[i].operations >= operation)
			continue;
		failure.culprit = i;
		trn_comm_peer_name(&control->peers[i], name, sizeof(name));
		snprintf(failure.text, sizeof(failure.text),
			 "%s left the communicator after operation %llu; %s of rank %u is "
			 "operation %llu",
			 name, (unsigned long long)control->seats[i].operations, what,
			 control->rank, (unsigned long long)operation);
		fail_locked(control, &failure, UINT32_MAX);
		break;
	}
	pthread_mutex_unlock(&control->lock);
}

static enum trn_status gather_late(struct trn_comm_control *control)
{
	uint32_t i;
	char name[128];

	for (i = 0; control->rank == 0 && i < control->ranks; i++)
		if (!control->seats[i].gathered)
			break;
	trn_comm_peer_name(&control->peers[i == control->ranks ? 0 : i], name, sizeof(name));
	return trn_error_set(TRN_ERR_COMM,
			     "rank %u of %u: %s does not go on with the creation of the "
			     "communicator",
			     control->rank, control->ranks, name);
}

enum trn_status trn_comm_control_gather(struct trn_comm_control *control, const void *mine,
					size_t bytes, void *all, int64_t deadline_ns)
{
	struct timespec until = { .tv_sec = deadline_ns / 1000000000,
				  .tv_nsec = deadline_ns % 1000000000 };
	enum trn_status status = TRN_OK;

	pthread_mutex_lock(&control->lock);
	if (control->rank == 0)
		gather_add_locked(control, 0, mine, (uint32_t)bytes);
	else
		trn_comm_stream_send(&control->streams[0], TRN_COMM_GATHER, mine, bytes);
	while (!control->gathered && !atomic_load(&control->failed) && !status)
		if (pthread_cond_timedwait(&control->changed, &control->lock, &until) ==
			    ETIMEDOUT &&
		    !control->gathered)
			status = gather_late(control);
	if (control->gathered && control->gathered_bytes == bytes * control->ranks)
		memcpy(all, control->gathered, control->gathered_bytes);
	else if (!status)
		status = trn_error_set((enum trn_status)(control->failure.status
								 ? control->failure.status
								 : TRN_ERR_COMM),
				       "%s", control->failure.text);
	free(control->gathered);
	control->gathered = NULL;
	pthread_mutex_unlock(&control->lock);
	return status;
}

void trn_comm_control_bye(struct trn_comm_control *control, uint64_t operations)
{
	const struct trn_comm_bye bye = { .rank = control->rank, .operations = operations };

	pthread_mutex_lock(&control->lock);
	bye_locked(control, &bye, UINT32_MAX);
	pthread_mutex_unlock(&control->lock);
}

bool trn_comm_control_all_bye(struct trn_comm_control *control)
{
	bool all;

	pthread_mutex_lock(&control->lock);
	all = control->all_bye || atomic_load(&control->failed);
	pthread_mutex_unlock(&control->lock);
	return all;
}
