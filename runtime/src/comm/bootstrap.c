// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "comm/bootstrap.h"
#include "comm/bootstrap_root.h"
#include "error.h"

#define FIRST_PAUSE_MS	 5
#define LONGEST_PAUSE_MS 200
#define GRACE_NS	 1000000000ll /* rank 0 reports first, with the names */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	while (bytes--)
		hash = (hash ^ *at++) * 0x100000001b3ull;
	return hash;
}

/* Processes with the same boot and the same pid name space can watch each other by pid. */
static uint64_t host_identity(const char *host)
{
	uint64_t hash = hash_bytes(0xcbf29ce484222325ull, host, strlen(host));
	struct stat status;
	char boot[40];
	size_t got;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file) {
		got = fread(boot, 1, sizeof(boot), file);
		fclose(file);
		hash = hash_bytes(hash, boot, got);
	}
	if (stat("/proc/self/ns/pid", &status) == 0)
		hash = hash_bytes(hash, &status.st_ino, sizeof(status.st_ino));
	return hash;
}

void trn_comm_hello_fill(struct trn_comm_hello *hello, uint32_t rank, uint32_t ranks,
			 const char *provider, const char *job)
{
	memset(hello, 0, sizeof(*hello));
	if (gethostname(hello->peer.host, sizeof(hello->peer.host) - 1))
		snprintf(hello->peer.host, sizeof(hello->peer.host), "unknown");
	hello->peer.rank = rank;
	hello->peer.pid = getpid();
	hello->peer.host_id = host_identity(hello->peer.host);
	hello->ranks = ranks;
	hello->job = hash_bytes(0xcbf29ce484222325ull, job, strlen(job));
	snprintf(hello->provider, sizeof(hello->provider), "%s", provider);
}

const char *trn_comm_peer_name(const struct trn_comm_peer *peer, char *text, size_t size)
{
	if (peer->pid)
		snprintf(text, size, "rank %u (host %.63s, pid %d)", peer->rank, peer->host,
			 peer->pid);
	else
		snprintf(text, size, "rank %u", peer->rank);
	return text;
}

/* Connect with back-off; rank 0 may start later than we do. */
static enum trn_status reach_root(struct trn_comm_meeting *meeting, int64_t deadline, int *fd)
{
	int pause_ms = FIRST_PAUSE_MS;
	int64_t left_ns;

	for (;;) {
		*fd = trn_comm_dial(&meeting->address, deadline);
		if (*fd >= 0)
			return TRN_OK;
		left_ns = deadline - trn_comm_now();
		if (left_ns <= 0)
			break;
		if (left_ns < pause_ms * 1000000ll)
			pause_ms = (int)(left_ns / 1000000) + 1;
		usleep((useconds_t)pause_ms * 1000);
		pause_ms = pause_ms * 2 > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS : pause_ms * 2;
	}
	return trn_error_set(
		TRN_ERR_COMM,
		"rank %u of %u: rank 0 does not answer at %s after %.1f s (%s); start rank "
		"0 there, or correct TRN_COMM_ROOT",
		meeting->hello.peer.rank, meeting->hello.ranks, meeting->root,
		(double)meeting->timeout_ns / 1e9, strerror(-*fd));
}

/* A message of type @want, or the failure that came instead. */
static enum trn_status expect(struct trn_comm_meeting *meeting, struct trn_comm_stream *stream,
			      enum trn_comm_message_type want, size_t bytes, int64_t deadline)
{
	const struct trn_comm_abort *refusal;
	char root[128];
	int got;

	trn_comm_peer_name(&meeting->peers[0], root, sizeof(root));
	for (;;) {
		got = trn_comm_stream_read(stream);
		if (got != 0)
			break;
		if (trn_comm_now() >= deadline)
			return trn_error_set(
				TRN_ERR_COMM,
				"rank %u of %u: %s at %s accepted the connection and then "
				"said nothing for %.1f s",
				meeting->hello.peer.rank, meeting->hello.ranks, root, meeting->root,
				(double)meeting->timeout_ns / 1e9);
		trn_comm_wait_readable(stream->fd, deadline);
	}
	if (got == -EPROTO)
		return trn_error_set(TRN_ERR_COMM,
				     "what listens at %s is not rank 0 of a communicator "
				     "(its answer is foreign); choose another TRN_COMM_ROOT",
				     meeting->root);
	if (got == -EPROTONOSUPPORT)
		return trn_error_set(TRN_ERR_COMM,
				     "rank 0 at %s speaks protocol %u, this library %u; "
				     "use one version of libtrn everywhere",
				     meeting->root, stream->head.protocol, TRN_COMM_PROTOCOL);
	if (got < 0)
		return trn_error_set(TRN_ERR_COMM,
				     "%s at %s died while the ranks were meeting (%s)", root,
				     meeting->root, strerror(-got));
	if (stream->head.type == TRN_COMM_ABORT && stream->head.bytes == sizeof(*refusal)) {
		refusal = (const void *)stream->payload;
		return trn_error_set((enum trn_status)refusal->status, "%.*s", TRN_COMM_TEXT_MAX,
				     refusal->text);
	}
	if (stream->head.type != want || stream->head.bytes != bytes)
		return trn_error_set(TRN_ERR_COMM,
				     "%s at %s sent message %u of %u bytes where message "
				     "%u of %zu bytes was expected",
				     root, meeting->root, stream->head.type, stream->head.bytes,
				     want, bytes);
	return TRN_OK;
}

static enum trn_status meet_as_member(struct trn_comm_meeting *meeting)
{
	int64_t deadline = trn_comm_now() + (int64_t)meeting->timeout_ns;
	size_t list = meeting->hello.ranks * sizeof(struct trn_comm_peer);
	struct trn_comm_stream *stream = &meeting->streams[0];
	enum trn_status status;
	int error, fd;

	for (;;) {
		status = reach_root(meeting, deadline, &fd);
		if (status)
			return status;
		trn_comm_stream_init(stream, fd, TRN_COMM_RANKS_MAX * TRN_COMM_GATHER_MAX);
		trn_comm_local_host(fd, meeting->local_host, sizeof(meeting->local_host));
		error = trn_comm_stream_send(stream, TRN_COMM_HELLO, &meeting->hello,
					     sizeof(meeting->hello));
		if (!error) {
			status = expect(meeting, stream, TRN_COMM_JOINED, sizeof(meeting->peers[0]),
					deadline + GRACE_NS);
			break;
		}
		/* Closed before it heard us: something old on the port that is going away. */
		trn_comm_stream_close(stream);
		usleep(LONGEST_PAUSE_MS * 1000);
		if (trn_comm_now() >= deadline)
			return trn_error_set(TRN_ERR_COMM,
					     "rank %u of %u: rank 0 at %s hangs up: %s",
					     meeting->hello.peer.rank, meeting->hello.ranks,
					     meeting->root, strerror(-error));
	}
	if (status)
		return status;
	memcpy(&meeting->peers[0], stream->payload, sizeof(meeting->peers[0]));
	status = expect(meeting, stream, TRN_COMM_WELCOME, list, deadline + GRACE_NS);
	if (!status)
		memcpy(meeting->peers, stream->payload, list);
	return status;
}

enum trn_status trn_comm_meet(struct trn_comm_meeting *meeting)
{
	uint32_t ranks = meeting->hello.ranks;
	enum trn_status status;
	uint32_t i;

	meeting->stream_count = meeting->hello.peer.rank == 0 ? ranks : 1;
	meeting->peers = calloc(ranks, sizeof(*meeting->peers));
	meeting->streams = calloc(meeting->stream_count, sizeof(*meeting->streams));
	if (!meeting->peers || !meeting->streams) {
		free(meeting->peers);
		free(meeting->streams);
		meeting->peers = NULL;
		meeting->streams = NULL;
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no host memory for %u ranks", ranks);
	}
	for (i = 0; i < meeting->stream_count; i++)
		trn_comm_stream_init(&meeting->streams[i], -1, 0);
	status = meeting->hello.peer.rank == 0 ? trn_comm_meet_as_root(meeting)
					       : meet_as_member(meeting);
	if (status)
		trn_comm_meeting_clear(meeting);
	return status;
}

void trn_comm_meeting_clear(struct trn_comm_meeting *meeting)
{
	uint32_t i;

	for (i = 0; meeting->streams && i < meeting->stream_count; i++)
		trn_comm_stream_close(&meeting->streams[i]);
	free(meeting->streams);
	free(meeting->peers);
	meeting->streams = NULL;
	meeting->peers = NULL;
}
