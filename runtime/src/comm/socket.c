// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "comm/socket.h"
#include "error.h"

#define LISTEN_BACKLOG	128
#define USER_TIMEOUT_MS 8000 /* a host that was cut off is an error within 10 s */
#define NS_PER_MS	1000000ll

int64_t trn_comm_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int trn_comm_poll_ms(int64_t deadline_ns, int cap_ms)
{
	int64_t left = deadline_ns - trn_comm_now();

	if (left <= 0)
		return 0;
	if (left >= cap_ms * NS_PER_MS)
		return cap_ms;
	return (int)((left + NS_PER_MS - 1) / NS_PER_MS);
}

static enum trn_status bad_address(const char *text)
{
	return trn_error_set(
		TRN_ERR_INVALID,
		"communicator root \"%s\" is not host:port; write it like 10.0.0.1:5555, "
		"[fe80::1]:5555 or node1:5555, with a port from 1 to 65535",
		text);
}

enum trn_status trn_comm_address_parse(const char *text, struct trn_comm_address *address)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	const char *colon = strrchr(text, ':');
	struct addrinfo *found = NULL;
	size_t length;
	char *end = NULL;
	char *host;
	long port;
	int error;

	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9')
		return bad_address(text);
	port = strtol(colon + 1, &end, 10);
	if (*end || port < 1 || port > 65535)
		return bad_address(text);
	length = (size_t)(colon - text);
	if (text[0] == '[') {
		if (length < 3 || text[length - 1] != ']')
			return bad_address(text);
		host = strndup(text + 1, length - 2);
	} else {
		if (memchr(text, ':', length))
			return bad_address(text);
		host = strndup(text, length);
	}
	if (!host)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no memory to resolve \"%s\"", text);
	error = getaddrinfo(host, colon + 1, &hints, &found);
	free(host);
	if (error)
		return trn_error_set(TRN_ERR_INVALID,
				     "communicator root \"%s\": the host cannot be resolved: %s",
				     text,
				     error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
	memset(address, 0, sizeof(*address));
	memcpy(&address->storage, found->ai_addr, found->ai_addrlen);
	address->length = found->ai_addrlen;
	freeaddrinfo(found);
	return TRN_OK;
}

/* Small messages at once; a peer whose host is gone is noticed by the kernel. */
static void tune(int fd)
{
	unsigned int user_timeout = USER_TIMEOUT_MS;
	int on = 1;
	int idle = 2;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &user_timeout, sizeof(user_timeout));
}

enum trn_status trn_comm_listen(const struct trn_comm_address *address, const char *text, int *fd)
{
	int on = 1;
	int error;

	*fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return trn_error_set(TRN_ERR_IO, "communicator root %s: socket: %s", text,
				     strerror(errno));
	setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(*fd, (const struct sockaddr *)&address->storage, address->length) == 0 &&
	    listen(*fd, LISTEN_BACKLOG) == 0)
		return TRN_OK;
	error = errno;
	close(*fd);
	*fd = -1;
	if (error == EADDRNOTAVAIL)
		return trn_error_set(
			TRN_ERR_INVALID,
			"rank 0 cannot listen at %s: no interface of this host has that "
			"address; the root is the host of rank 0",
			text);
	return trn_error_set(TRN_ERR_IO, "rank 0 cannot listen at %s: %s%s", text, strerror(error),
			     error == EADDRINUSE ? "; another job holds the port, choose another"
						 : "");
}

int trn_comm_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0)
		tune(fd);
	return fd;
}

static bool self_connected(int fd)
{
	struct sockaddr_storage ours = { 0 }, theirs = { 0 };
	socklen_t ours_length = sizeof(ours), theirs_length = sizeof(theirs);

	if (getsockname(fd, (struct sockaddr *)&ours, &ours_length) ||
	    getpeername(fd, (struct sockaddr *)&theirs, &theirs_length))
		return false;
	return ours_length == theirs_length && memcmp(&ours, &theirs, ours_length) == 0;
}

/* 0 when @fd became ready for @events, -ETIMEDOUT, or another negative errno. */
static int wait_ready(int fd, short events, int64_t deadline_ns)
{
	struct pollfd poller = { .fd = fd, .events = events };
	int ready;

	for (;;) {
		ready = poll(&poller, 1, trn_comm_poll_ms(deadline_ns, 1000));
		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
		if (trn_comm_now() >= deadline_ns)
			return -ETIMEDOUT;
	}
}

static int dial_finish(int fd, const struct trn_comm_address *address, int64_t deadline_ns)
{
	socklen_t length = sizeof(int);
	int error = 0;

	if (connect(fd, (const struct sockaddr *)&address->storage, address->length)) {
		if (errno != EINPROGRESS && errno != EINTR)
			return -errno;
		error = wait_ready(fd, POLLOUT, deadline_ns);
		if (error)
			return error;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length))
			return -errno;
		if (error)
			return -error;
	}
	return self_connected(fd) ? -ECONNREFUSED : 0;
}

int trn_comm_dial(const struct trn_comm_address *address, int64_t deadline_ns)
{
	int fd = socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd < 0)
		return -errno;
	error = dial_finish(fd, address, deadline_ns);
	if (error) {
		close(fd);
		return error;
	}
	tune(fd);
	return fd;
}

void trn_comm_local_host(int fd, char *host, size_t size)
{
	struct sockaddr_storage ours = { 0 };
	socklen_t length = sizeof(ours);

	host[0] = '\0';
	if (getsockname(fd, (struct sockaddr *)&ours, &length) == 0 &&
	    getnameinfo((struct sockaddr *)&ours, length, host, size, NULL, 0, NI_NUMERICHOST))
		host[0] = '\0';
}

int trn_comm_send_all(int fd, const void *data, size_t bytes, int64_t deadline_ns)
{
	const char *from = data;
	ssize_t sent;
	int error;

	while (bytes > 0) {
		sent = send(fd, from, bytes, MSG_NOSIGNAL);
		if (sent >= 0) {
			from += sent;
			bytes -= (size_t)sent;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return -errno;
		error = wait_ready(fd, POLLOUT, deadline_ns);
		if (error)
			return error;
	}
	return 0;
}

int trn_comm_recv_all(int fd, void *data, size_t bytes, int64_t deadline_ns)
{
	char *to = data;
	ssize_t got;
	int error;

	while (bytes > 0) {
		got = recv(fd, to, bytes, 0);
		if (got == 0)
			return -ECONNRESET;
		if (got > 0) {
			to += got;
			bytes -= (size_t)got;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return -errno;
		error = wait_ready(fd, POLLIN, deadline_ns);
		if (error)
			return error;
	}
	return 0;
}

int trn_comm_wait_readable(int fd, int64_t deadline_ns)
{
	return wait_ready(fd, POLLIN, deadline_ns);
}
