/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TCP for the control plane: numeric and named hosts, IPv4 and IPv6, every wait bounded. All
 * sockets are non-blocking and close-on-exec; SIGPIPE is never raised.
 */
#ifndef TRN_COMM_SOCKET_H
#define TRN_COMM_SOCKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "trn/trn.h"

/** struct trn_comm_address - where rank 0 listens. */
struct trn_comm_address {
	struct sockaddr_storage storage;
	socklen_t length;
};

/** trn_comm_now() - CLOCK_MONOTONIC in nanoseconds. */
int64_t trn_comm_now(void);
/** trn_comm_poll_ms() - time until @deadline_ns as poll() takes it: rounded up, at most @cap_ms. */
int trn_comm_poll_ms(int64_t deadline_ns, int cap_ms);

/** trn_comm_address_parse() - "host:port", "a.b.c.d:port" or "[v6]:port"; resolves names. */
enum trn_status trn_comm_address_parse(const char *text, struct trn_comm_address *address);

/** trn_comm_listen() - *@fd listens at @address; @text is for the sentence. */
enum trn_status trn_comm_listen(const struct trn_comm_address *address, const char *text, int *fd);
/** trn_comm_accept() - next connection, or -1 when there is none now. */
int trn_comm_accept(int listener);
/**
 * trn_comm_dial() - one attempt to connect, until @deadline_ns. Return: the descriptor, or a
 * negative errno. A connection of a socket to itself (loopback, port not taken yet) is
 * -ECONNREFUSED.
 */
int trn_comm_dial(const struct trn_comm_address *address, int64_t deadline_ns);
/** trn_comm_local_host() - numeric address of our end of @fd, the one that routes to the peer. */
void trn_comm_local_host(int fd, char *host, size_t size);

/** trn_comm_wait_readable() - until @fd can be read or is closed. Return: 0 or a negative errno. */
int trn_comm_wait_readable(int fd, int64_t deadline_ns);
/** trn_comm_send_all() - all of @data before @deadline_ns. Return: 0 or a negative errno. */
int trn_comm_send_all(int fd, const void *data, size_t bytes, int64_t deadline_ns);
/** trn_comm_recv_all() - the same for receiving; -ECONNRESET when the peer closed. */
int trn_comm_recv_all(int fd, void *data, size_t bytes, int64_t deadline_ns);

#endif /* TRN_COMM_SOCKET_H */
