// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include "comm/fabric.h"
#include "comm/fabric_load.h"
#include "error.h"

#define COMPLETIONS 16 /* read at once */

_Static_assert(sizeof(((struct trn_comm_request *)0)->provider) >= sizeof(struct fi_context2),
	       "a request has room for the provider");

struct trn_comm_fabric {
	const struct trn_comm_libfabric *lib;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	int cq_fd; /* -1: the provider has none */
	fi_addr_t *peers;
	size_t address_bytes;
	uint8_t address[TRN_COMM_ADDRESS_MAX];
	struct trn_comm_request *head, **tail; /* to be tried again */
	unsigned int ended;		       /* requests that ended outside a completion */
};

/* Tried in this order when the user names none; the names changed over libfabric's versions. */
static const char *const providers[] = { "tcp;ofi_rxm", "tcp", "net" };

static struct fi_info *hints_make(const struct trn_comm_libfabric *lib, const char *provider)
{
	struct fi_info *hints = lib->dupinfo(NULL);

	if (!hints)
		return NULL;
	hints->caps = FI_TAGGED | FI_SEND | FI_RECV;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(provider);
	return hints;
}

static int find(struct trn_comm_fabric *fabric, const char *provider, const char *local_host)
{
	const bool named = local_host[0] && strcmp(provider, "shm") != 0;
	struct trn_comm_signals *signals = trn_comm_signals_save();
	struct fi_info *hints = hints_make(fabric->lib, provider);
	int error = -FI_ENOMEM;

	if (hints)
		error = fabric->lib->getinfo(fabric->lib->version, named ? local_host : NULL, NULL,
					     named ? FI_SOURCE : 0, hints, &fabric->info);
	trn_comm_signals_restore(signals);
	if (hints)
		fabric->lib->freeinfo(hints);
	return error;
}

static int open_cq(struct trn_comm_fabric *fabric)
{
	struct fi_cq_attr attributes = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD };
	int error = fi_cq_open(fabric->domain, &attributes, &fabric->cq, NULL);

	if (!error && fi_control(&fabric->cq->fid, FI_GETWAIT, &fabric->cq_fd) == 0)
		return 0;
	fabric->cq_fd = -1;
	if (!error)
		return 0;
	attributes.wait_obj = FI_WAIT_NONE;
	return fi_cq_open(fabric->domain, &attributes, &fabric->cq, NULL);
}

static int open_objects(struct trn_comm_fabric *fabric, const char **step)
{
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	int error;

	*step = "fi_fabric";
	error = fabric->lib->fabric(fabric->info->fabric_attr, &fabric->fabric, NULL);
	if (error)
		return error;
	*step = "fi_domain";
	error = fi_domain(fabric->fabric, fabric->info, &fabric->domain, NULL);
	if (error)
		return error;
	*step = "fi_av_open";
	error = fi_av_open(fabric->domain, &av, &fabric->av, NULL);
	if (error)
		return error;
	*step = "fi_cq_open";
	error = open_cq(fabric);
	if (error)
		return error;
	*step = "fi_endpoint";
	error = fi_endpoint(fabric->domain, fabric->info, &fabric->ep, NULL);
	if (error)
		return error;
	*step = "fi_ep_bind";
	error = fi_ep_bind(fabric->ep, &fabric->av->fid, 0);
	if (!error)
		error = fi_ep_bind(fabric->ep, &fabric->cq->fid, FI_TRANSMIT | FI_RECV);
	if (error)
		return error;
	*step = "fi_enable";
	error = fi_enable(fabric->ep);
	if (error)
		return error;
	*step = "fi_getname";
	fabric->address_bytes = sizeof(fabric->address);
	return fi_getname(&fabric->ep->fid, fabric->address, &fabric->address_bytes);
}

enum trn_status trn_comm_fabric_open(const char *provider, const char *local_host,
				     struct trn_comm_fabric **out)
{
	struct trn_comm_fabric *fabric = calloc(1, sizeof(*fabric));
	const char *step = "fi_getinfo";
	int error = -FI_ENODATA;
	size_t i;

	if (!fabric)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no host memory for the network");
	fabric->cq_fd = -1;
	fabric->tail = &fabric->head;
	fabric->lib = trn_comm_libfabric();
	if (!fabric->lib) {
		free(fabric);
		return TRN_ERR_UNSUPPORTED;
	}
	if (provider[0])
		error = find(fabric, provider, local_host);
	for (i = 0; !provider[0] && error && i < sizeof(providers) / sizeof(providers[0]); i++)
		error = find(fabric, providers[i], local_host);
	if (!error)
		error = open_objects(fabric, &step);
	if (!error) {
		*out = fabric;
		return TRN_OK;
	}
	if (error == -EMFILE || error == -ENFILE) {
		trn_error_set(TRN_ERR_IO,
			      "libfabric provider \"%s\" has too few open files at address \"%s\" "
			      "(%s); raise the limit (ulimit -n) to 20 and one for each rank",
			      provider[0] ? provider : "tcp;ofi_rxm", local_host, step);
		trn_comm_fabric_close(fabric);
		return TRN_ERR_IO;
	}
	trn_error_set(TRN_ERR_UNSUPPORTED,
		      "libfabric provider \"%s\" cannot be used at address \"%s\": %s: %s; set "
		      "TRN_COMM_PROVIDER to one that `fi_info` lists with FI_EP_RDM",
		      provider[0] ? provider : "tcp;ofi_rxm", local_host, step,
		      fabric->lib->strerror(-error));
	trn_comm_fabric_close(fabric);
	return TRN_ERR_UNSUPPORTED;
}

void trn_comm_fabric_shutdown(struct trn_comm_fabric *fabric)
{
	if (fabric->ep)
		fi_close(&fabric->ep->fid);
	fabric->ep = NULL;
	fabric->head = NULL;
	fabric->tail = &fabric->head;
}

void trn_comm_fabric_close(struct trn_comm_fabric *fabric)
{
	if (!fabric)
		return;
	trn_comm_fabric_shutdown(fabric);
	if (fabric->cq)
		fi_close(&fabric->cq->fid);
	if (fabric->av)
		fi_close(&fabric->av->fid);
	if (fabric->domain)
		fi_close(&fabric->domain->fid);
	if (fabric->fabric)
		fi_close(&fabric->fabric->fid);
	if (fabric->info)
		fabric->lib->freeinfo(fabric->info);
	free(fabric->peers);
	free(fabric);
}

const char *trn_comm_fabric_provider(const struct trn_comm_fabric *fabric)
{
	return fabric->info->fabric_attr->prov_name;
}

size_t trn_comm_fabric_address(const struct trn_comm_fabric *fabric, const void **address)
{
	*address = fabric->address;
	return fabric->address_bytes;
}

enum trn_status trn_comm_fabric_connect(struct trn_comm_fabric *fabric, const void *addresses,
					uint32_t count)
{
	int got;

	fabric->peers = calloc(count, sizeof(*fabric->peers));
	if (!fabric->peers)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no host memory for %u peers", count);
	got = fi_av_insert(fabric->av, addresses, count, fabric->peers, 0, NULL);
	if (got == (int)count)
		return TRN_OK;
	return trn_error_set(TRN_ERR_COMM,
			     "libfabric provider \"%s\" takes %d of the %u peers' "
			     "addresses",
			     trn_comm_fabric_provider(fabric), got < 0 ? 0 : got, count);
}

static void request_fail(struct trn_comm_fabric *fabric, struct trn_comm_request *request,
			 int error, const char *reason)
{
	request->state = TRN_COMM_REQUEST_FAILED;
	request->error = error;
	snprintf(request->reason, sizeof(request->reason), "%s", reason);
	fabric->ended++;
}

/* Hand @request to the provider. False when it is busy. */
static bool request_post(struct trn_comm_fabric *fabric, struct trn_comm_request *request)
{
	fi_addr_t peer = request->receive ? FI_ADDR_UNSPEC : fabric->peers[request->peer];
	bool inject = false;
	ssize_t error;

	request->state = TRN_COMM_REQUEST_POSTED;
	if (request->receive) {
		/* The tag says who sent it. */
		error = fi_trecv(fabric->ep, request->data, request->bytes, NULL, peer,
				 request->tag, 0, request);
	} else if (request->bytes <= fabric->info->tx_attr->inject_size) {
		inject = true;
		error = fi_tinject(fabric->ep, request->data, request->bytes, peer, request->tag);
	} else {
		error = fi_tsend(fabric->ep, request->data, request->bytes, NULL, peer,
				 request->tag, request);
	}
	if (error == -FI_EAGAIN) {
		request->state = TRN_COMM_REQUEST_QUEUED;
		return false;
	}
	if (error) {
		request_fail(fabric, request, (int)-error, fabric->lib->strerror((int)-error));
	} else if (inject) {
		request->state = TRN_COMM_REQUEST_DONE;
		fabric->ended++;
	}
	return true;
}

static void request_start(struct trn_comm_fabric *fabric, struct trn_comm_request *request)
{
	if (!fabric->ep) {
		request_fail(fabric, request, FI_ESHUTDOWN, "the endpoint is closed");
		return;
	}
	if (!fabric->head && request_post(fabric, request))
		return;
	request->state = TRN_COMM_REQUEST_QUEUED;
	request->next = NULL;
	*fabric->tail = request;
	fabric->tail = &request->next;
}

void trn_comm_fabric_send(struct trn_comm_fabric *fabric, uint32_t peer, uint64_t tag,
			  const void *data, size_t bytes, struct trn_comm_request *request)
{
	memset(request, 0, sizeof(*request));
	request->data = (void *)data;
	request->bytes = bytes;
	request->peer = peer;
	request->tag = tag;
	request_start(fabric, request);
}

void trn_comm_fabric_receive(struct trn_comm_fabric *fabric, uint32_t peer, uint64_t tag,
			     void *data, size_t bytes, struct trn_comm_request *request)
{
	memset(request, 0, sizeof(*request));
	request->data = data;
	request->bytes = bytes;
	request->peer = peer;
	request->tag = tag;
	request->receive = true;
	request_start(fabric, request);
}

static void retry_queued(struct trn_comm_fabric *fabric)
{
	while (fabric->head && request_post(fabric, fabric->head)) {
		fabric->head = fabric->head->next;
		if (!fabric->head)
			fabric->tail = &fabric->head;
	}
}

static void completion_failed(struct trn_comm_fabric *fabric)
{
	struct fi_cq_err_entry entry = { 0 };
	struct trn_comm_request *request;
	char text[64] = "";
	char reason[80];

	if (fi_cq_readerr(fabric->cq, &entry, 0) < 1 || !entry.op_context)
		return;
	request = entry.op_context;
	if (entry.prov_errno)
		fi_cq_strerror(fabric->cq, entry.prov_errno, entry.err_data, text, sizeof(text));
	snprintf(reason, sizeof(reason), "%s, provider error %d %.30s",
		 fabric->lib->strerror(entry.err), entry.prov_errno, text);
	request_fail(fabric, request, entry.err, reason);
}

unsigned int trn_comm_fabric_poll(struct trn_comm_fabric *fabric)
{
	struct fi_cq_tagged_entry entries[COMPLETIONS];
	struct trn_comm_request *request;
	unsigned int ended;
	ssize_t got, i;

	if (!fabric->ep)
		return 0;
	got = fi_cq_read(fabric->cq, entries, COMPLETIONS);
	if (got == -FI_EAVAIL)
		completion_failed(fabric);
	for (i = 0; i < got; i++) {
		request = entries[i].op_context;
		if (!request)
			continue;
		request->received = entries[i].len;
		request->state = TRN_COMM_REQUEST_DONE;
		fabric->ended++;
	}
	retry_queued(fabric);
	ended = fabric->ended;
	fabric->ended = 0;
	return ended;
}

void trn_comm_fabric_wait(struct trn_comm_fabric *fabric, int wake_fd, unsigned int timeout_us)
{
	struct timespec timeout = { .tv_nsec = (long)timeout_us * 1000 };
	struct pollfd pollers[2] = {
		{ .fd = wake_fd, .events = POLLIN },
		{ .fd = fabric->cq_fd, .events = POLLIN },
	};
	struct fid *cq = &fabric->cq->fid;
	uint64_t count;

	if (fabric->cq_fd < 0 || !fabric->ep || fabric->head) {
		/* Nothing tells of news: look again soon, and let others run meanwhile. */
		if (timeout_us > 50)
			timeout.tv_nsec = 50000;
		nanosleep(&timeout, NULL);
		return;
	}
	if (fi_trywait(fabric->fabric, &cq, 1) != FI_SUCCESS) {
		sched_yield();
		return;
	}
	if (ppoll(pollers, 2, &timeout, NULL) > 0 && pollers[0].revents &&
	    read(wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		sched_yield();
}
