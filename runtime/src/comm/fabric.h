/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transport over libfabric: tagged messages between the ranks, through one reliable-datagram
 * endpoint. The library is opened when the first communicator needs it; nothing links to it.
 *
 * Threads: one at a time per fabric. Nothing here blocks but trn_comm_fabric_wait().
 */
#ifndef TRN_COMM_FABRIC_H
#define TRN_COMM_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trn/trn.h"

#define TRN_COMM_ADDRESS_MAX 256

struct trn_comm_fabric;

enum trn_comm_request_state {
	TRN_COMM_REQUEST_IDLE = 0,
	TRN_COMM_REQUEST_QUEUED, /* the provider was busy; tried again by each poll */
	TRN_COMM_REQUEST_POSTED,
	TRN_COMM_REQUEST_DONE,
	TRN_COMM_REQUEST_FAILED,
};

/**
 * struct trn_comm_request - a message on its way. It and its buffer belong to the transport until
 * the state is DONE or FAILED, or the endpoint is shut down. Starts zeroed; can be used again.
 */
struct trn_comm_request {
	void *provider[8];	       /* the provider's; must be first */
	struct trn_comm_request *next; /* in the queue of those to be tried again */
	void *data;
	size_t bytes;
	uint64_t tag;
	uint32_t peer;
	bool receive;
	enum trn_comm_request_state state;
	size_t received; /* bytes that came */
	int error;	 /* libfabric code when FAILED */
	char reason[80];
};

/**
 * trn_comm_fabric_open() - load the library (which costs 0.3 s the first time; the program's signal
 * dispositions are left as they were) and open an endpoint.
 * @provider: libfabric's name, or "" for the first of the built-in list that works
 * @local_host: numeric address to be reached at; "" for the provider's choice
 */
enum trn_status trn_comm_fabric_open(const char *provider, const char *local_host,
				     struct trn_comm_fabric **fabric);
/** trn_comm_fabric_close() - NULL is allowed. */
void trn_comm_fabric_close(struct trn_comm_fabric *fabric);
/** trn_comm_fabric_shutdown() - close the endpoint: no buffer is touched any more. */
void trn_comm_fabric_shutdown(struct trn_comm_fabric *fabric);

const char *trn_comm_fabric_provider(const struct trn_comm_fabric *fabric);
/** trn_comm_fabric_address() - our address, at most TRN_COMM_ADDRESS_MAX bytes. */
size_t trn_comm_fabric_address(const struct trn_comm_fabric *fabric, const void **address);
/** trn_comm_fabric_connect() - know the peers: @count addresses of our own length, one after
 * another. */
enum trn_status trn_comm_fabric_connect(struct trn_comm_fabric *fabric, const void *addresses,
					uint32_t count);

void trn_comm_fabric_send(struct trn_comm_fabric *fabric, uint32_t peer, uint64_t tag,
			  const void *data, size_t bytes, struct trn_comm_request *request);
void trn_comm_fabric_receive(struct trn_comm_fabric *fabric, uint32_t peer, uint64_t tag,
			     void *data, size_t bytes, struct trn_comm_request *request);
/** trn_comm_fabric_poll() - advance; Return: number of requests that ended. */
unsigned int trn_comm_fabric_poll(struct trn_comm_fabric *fabric);
/** trn_comm_fabric_wait() - sleep until the network or @wake_fd has news, at most @timeout_us. */
void trn_comm_fabric_wait(struct trn_comm_fabric *fabric, int wake_fd, unsigned int timeout_us);

#endif /* TRN_COMM_FABRIC_H */
