// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/bootstrap_root.h"
#include "error.h"

#define PENDING_MAX   64
#define HELLO_TIME_NS 1000000000ll

/* A connection that has not said a whole hello yet. */
struct pending {
	struct trn_comm_stream stream;
	int64_t deadline;
};

struct root {
	struct trn_comm_meeting *meeting;
	int listener;
	struct pending pending[PENDING_MAX];
	uint32_t pending_count;
	struct pollfd *pollers; /* listener, pending, ranks */
	uint32_t joined;	/* with rank 0 */
	uint32_t foreign;	/* connections closed because they were not ours */
	char refused[160];	/* the last of ours that was turned away, "" none */
};

/* Tell @extra (may be NULL) and all who joined, and return the error here too. */
static enum trn_status __attribute__((format(printf, 4, 5)))
give_up(struct root *root, struct trn_comm_stream *extra, uint32_t culprit, const char *format, ...)
{
	struct trn_comm_abort abort = { .status = TRN_ERR_COMM, .culprit = culprit };
	va_list args;
	uint32_t i;

	va_start(args, format);
	vsnprintf(abort.text, sizeof(abort.text), format, args);
	va_end(args);
	if (extra)
		trn_comm_stream_send(extra, TRN_COMM_ABORT, &abort, sizeof(abort));
	for (i = 1; i < root->meeting->hello.ranks; i++)
		trn_comm_stream_send(&root->meeting->streams[i], TRN_COMM_ABORT, &abort,
				     sizeof(abort));
	return trn_error_set(TRN_ERR_COMM, "%s", abort.text);
}

static void pending_drop(struct root *root, uint32_t index)
{
	trn_comm_stream_close(&root->pending[index].stream);
	root->pending[index] = root->pending[--root->pending_count];
}

/* Turn one connection away with a sentence; the others go on waiting. */
static void __attribute__((format(printf, 3, 4)))
refuse(struct root *root, uint32_t index, const char *format, ...)
{
	struct trn_comm_abort abort = { .status = TRN_ERR_COMM };
	va_list args;

	va_start(args, format);
	vsnprintf(abort.text, sizeof(abort.text), format, args);
	va_end(args);
	snprintf(root->refused, sizeof(root->refused), "%.150s", abort.text);
	trn_comm_stream_send(&root->pending[index].stream, TRN_COMM_ABORT, &abort, sizeof(abort));
	pending_drop(root, index);
}

/* A complete hello: check it, seat the rank. */
static enum trn_status seat(struct root *root, uint32_t index)
{
	struct trn_comm_meeting *meeting = root->meeting;
	struct trn_comm_stream *stream = &root->pending[index].stream;
	struct trn_comm_hello hello;
	char theirs[128], ours[128];
	uint32_t rank;

	memcpy(&hello, stream->payload, sizeof(hello));
	hello.peer.host[sizeof(hello.peer.host) - 1] = '\0';
	hello.provider[sizeof(hello.provider) - 1] = '\0';
	rank = hello.peer.rank;
	trn_comm_peer_name(&hello.peer, theirs, sizeof(theirs));
	trn_comm_peer_name(&meeting->peers[0], ours, sizeof(ours));
	if (hello.job != meeting->hello.job) {
		refuse(root, index,
		       "%s: another job (TRN_COMM_JOB differs) meets at %s; choose another "
		       "port",
		       theirs, meeting->root);
		return TRN_OK;
	}
	if (hello.ranks != meeting->hello.ranks)
		return give_up(
			root, stream, rank,
			"%s was started for %u ranks, %s for %u ranks; give all of them the same "
			"number",
			theirs, hello.ranks, ours, meeting->hello.ranks);
	if (rank >= hello.ranks)
		return give_up(root, stream, rank, "%s: there are only ranks 0 to %u", theirs,
			       hello.ranks - 1);
	if (rank == 0 || meeting->streams[rank].fd >= 0) {
		trn_comm_peer_name(&meeting->peers[rank], ours, sizeof(ours));
		return give_up(
			root, stream, rank,
			"two processes are rank %u of %u: %s and %s; give each its own number",
			rank, hello.ranks, ours, theirs);
	}
	if (strcmp(hello.provider, meeting->hello.provider) != 0)
		return give_up(
			root, stream, rank,
			"%s uses libfabric provider \"%s\", %s \"%s\"; set TRN_COMM_PROVIDER alike",
			theirs, hello.provider, ours, meeting->hello.provider);
	meeting->peers[rank] = hello.peer;
	trn_comm_stream_init(&meeting->streams[rank], stream->fd, TRN_COMM_GATHER_MAX);
	stream->fd = -1;
	pending_drop(root, index);
	root->joined++;
	trn_comm_stream_send(&meeting->streams[rank], TRN_COMM_JOINED, &meeting->peers[0],
			     sizeof(meeting->peers[0]));
	return TRN_OK;
}

static enum trn_status hear(struct root *root, uint32_t index)
{
	struct trn_comm_stream *stream = &root->pending[index].stream;
	int got = trn_comm_stream_read(stream);

	if (got == 0)
		return TRN_OK;
	if (got == 1 && stream->head.type == TRN_COMM_HELLO &&
	    stream->head.bytes == sizeof(struct trn_comm_hello))
		return seat(root, index);
	if (got == -EPROTONOSUPPORT) {
		refuse(root, index,
		       "a rank with protocol %u came, rank 0 at %s speaks %u; use one "
		       "version of libtrn everywhere",
		       stream->head.protocol, root->meeting->root, TRN_COMM_PROTOCOL);
		return TRN_OK;
	}
	root->foreign++;
	pending_drop(root, index);
	return TRN_OK;
}

static enum trn_status welcome_in(struct root *root)
{
	int fd;

	for (;;) {
		fd = trn_comm_accept(root->listener);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			return give_up(root, NULL, 0,
				       "rank 0 at %s is out of file descriptors with %u of "
				       "%u ranks; raise `ulimit -n`",
				       root->meeting->root, root->joined,
				       root->meeting->hello.ranks);
		if (fd < 0)
			return TRN_OK;
		if (root->pending_count == PENDING_MAX) {
			root->foreign++;
			pending_drop(root, 0);
		}
		trn_comm_stream_init(&root->pending[root->pending_count].stream, fd,
				     sizeof(struct trn_comm_hello));
		root->pending[root->pending_count++].deadline = trn_comm_now() + HELLO_TIME_NS;
	}
}

/* A rank that has joined has nothing to say yet: readable means that it died or gave up. */
static enum trn_status lost(struct root *root, uint32_t rank)
{
	struct trn_comm_stream *stream = &root->meeting->streams[rank];
	char name[128];
	int got = trn_comm_stream_read(stream);

	if (got == 0)
		return TRN_OK;
	trn_comm_stream_close(stream);
	trn_comm_peer_name(&root->meeting->peers[rank], name, sizeof(name));
	return give_up(root, NULL, rank, "%s died while %u of %u ranks had met (%s)", name,
		       root->joined, root->meeting->hello.ranks,
		       got < 0 ? strerror(-got) : "it sent an unexpected message");
}

static enum trn_status missing(struct root *root)
{
	struct trn_comm_meeting *meeting = root->meeting;
	uint32_t ranks = meeting->hello.ranks;
	char absent[160] = "", extra[256] = "";
	size_t used = 0;
	uint32_t rank, count = 0;

	for (rank = 1; rank < ranks; rank++) {
		if (meeting->streams[rank].fd >= 0)
			continue;
		if (used < sizeof(absent) - 16)
			used += (size_t)snprintf(absent + used, sizeof(absent) - used, "%s%u",
						 count ? ", " : "", rank);
		else if (used < sizeof(absent) - 4)
			used += (size_t)snprintf(absent + used, sizeof(absent) - used, ", …");
		count++;
	}
	if (root->refused[0])
		snprintf(extra, sizeof(extra), "; turned away: %s", root->refused);
	else if (root->foreign)
		snprintf(extra, sizeof(extra), "; %u foreign connections were closed",
			 root->foreign);
	return give_up(root, NULL, 0,
		       "%u of %u ranks met at %s within %.1f s; missing: rank%s %s; start %s with "
		       "the same "
		       "TRN_COMM_ROOT%s",
		       root->joined, ranks, meeting->root, (double)meeting->timeout_ns / 1e9,
		       count > 1 ? "s" : "", absent, count > 1 ? "them" : "it", extra);
}

/* What to poll, open descriptors only, for poll() counts them all. Return: how many. */
static uint32_t list_pollers(struct root *root)
{
	struct trn_comm_stream *streams = root->meeting->streams;
	uint32_t i, count = 0;

	root->pollers[count++] = (struct pollfd){ .fd = root->listener, .events = POLLIN };
	for (i = 0; i < root->pending_count; i++)
		root->pollers[count++] =
			(struct pollfd){ .fd = root->pending[i].stream.fd, .events = POLLIN };
	for (i = 1; i < root->meeting->hello.ranks; i++)
		if (streams[i].fd >= 0)
			root->pollers[count++] =
				(struct pollfd){ .fd = streams[i].fd, .events = POLLIN };
	return count;
}

/* Has poll() news of @fd? The list is short, and most of its entries are ranks in order. */
static bool has_news(const struct root *root, uint32_t count, uint32_t *at, int fd)
{
	while (*at < count && root->pollers[*at].fd != fd)
		++*at;
	return *at < count && root->pollers[*at].revents;
}

/* One round of waiting; all descriptors are looked at. */
static enum trn_status turn(struct root *root, int64_t deadline)
{
	struct trn_comm_meeting *meeting = root->meeting;
	enum trn_status status = TRN_OK;
	uint32_t pending = root->pending_count, count = list_pollers(root), at = 1 + pending, i;

	if (poll(root->pollers, count, trn_comm_poll_ms(deadline, pending ? 100 : 1000)) < 0 &&
	    errno != EINTR)
		return give_up(root, NULL, 0, "rank 0 at %s cannot wait for %u connections: %s",
			       meeting->root, count, strerror(errno));
	for (i = 1; i < meeting->hello.ranks && !status; i++)
		if (meeting->streams[i].fd >= 0 &&
		    has_news(root, count, &at, meeting->streams[i].fd))
			status = lost(root, i);
	/* Backwards: dropping one moves the last into its place. */
	for (i = pending; i-- > 0 && !status;) {
		if (root->pollers[1 + i].revents) {
			status = hear(root, i);
		} else if (trn_comm_now() >= root->pending[i].deadline) {
			root->foreign++;
			pending_drop(root, i);
		}
	}
	if (!status)
		status = welcome_in(root);
	return status;
}

static enum trn_status gather(struct root *root)
{
	struct trn_comm_meeting *meeting = root->meeting;
	int64_t deadline = trn_comm_now() + (int64_t)meeting->timeout_ns;
	uint32_t ranks = meeting->hello.ranks;
	enum trn_status status;
	char name[128];
	uint32_t rank;

	while (root->joined < ranks) {
		if (trn_comm_now() >= deadline)
			return missing(root);
		status = turn(root, deadline);
		if (status)
			return status;
	}
	for (rank = 1; rank < ranks; rank++) {
		if (trn_comm_stream_send(&meeting->streams[rank], TRN_COMM_WELCOME, meeting->peers,
					 ranks * sizeof(*meeting->peers)) == 0)
			continue;
		trn_comm_peer_name(&meeting->peers[rank], name, sizeof(name));
		return give_up(root, NULL, rank, "%s died just after the %u ranks had met", name,
			       ranks);
	}
	return TRN_OK;
}

enum trn_status trn_comm_meet_as_root(struct trn_comm_meeting *meeting)
{
	uint32_t ranks = meeting->hello.ranks;
	struct root *root = calloc(1, sizeof(*root));
	enum trn_status status;

	if (root)
		root->pollers = calloc(1 + PENDING_MAX + (size_t)ranks, sizeof(*root->pollers));
	if (!root || !root->pollers) {
		free(root);
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no host memory for %u ranks", ranks);
	}
	root->meeting = meeting;
	root->joined = 1;
	meeting->peers[0] = meeting->hello.peer;
	status = trn_comm_listen(&meeting->address, meeting->root, &root->listener);
	if (!status) {
		status = gather(root);
		close(root->listener);
	}
	if (!status && ranks > 1)
		trn_comm_local_host(meeting->streams[1].fd, meeting->local_host,
				    sizeof(meeting->local_host));
	while (root->pending_count)
		pending_drop(root, root->pending_count - 1);
	free(root->pollers);
	free(root);
	return status;
}
