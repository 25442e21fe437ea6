// SPDX-License-Identifier: BSD-2-Clause
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm.h"
#include "comm/slot.h"

#define DEFAULT_TIMEOUT_NS 30000000000ull
#define LONGEST_TIMEOUT_NS (86400ull * 1000000000)
#define FAREWELL_NS	   5000000000ll /* destroy waits so long for the others */
#define FAREWELL_US	   1000

/* What each rank tells the others once its endpoint is open. */
struct contact {
	char provider[32];
	uint32_t address_bytes;
	uint32_t reserved;
	uint8_t address[TRN_COMM_ADDRESS_MAX];
};

_Static_assert(sizeof(struct contact) <= TRN_COMM_GATHER_MAX, "a contact fits into a gather");

static const char *setting(const char *given, const char *variable)
{
	if (!given || !given[0])
		given = getenv(variable);
	return given && given[0] ? given : NULL;
}

/* All have the provider and the address length of rank 0? */
static enum trn_status compare_contacts(const struct trn_comm *comm, const struct contact *contacts)
{
	char names[2][128];
	uint32_t i;

	for (i = 1; i < comm->ranks; i++) {
		if (strncmp(contacts[i].provider, contacts[0].provider,
			    sizeof(contacts[0].provider)) == 0 &&
		    contacts[i].address_bytes == contacts[0].address_bytes)
			continue;
		trn_comm_peer_name(trn_comm_control_peer(comm->control, 0), names[0],
				   sizeof(names[0]));
		trn_comm_peer_name(trn_comm_control_peer(comm->control, i), names[1],
				   sizeof(names[1]));
		return trn_error_set(TRN_ERR_COMM,
				     "%s got libfabric provider \"%.31s\", %s \"%.31s\"; set "
				     "TRN_COMM_PROVIDER to one that both have",
				     names[0], contacts[0].provider, names[1],
				     contacts[i].provider);
	}
	return TRN_OK;
}

static enum trn_status connect_fabric(struct trn_comm *comm, const struct contact *contacts)
{
	size_t bytes = contacts[0].address_bytes;
	enum trn_status status = compare_contacts(comm, contacts);
	uint8_t *addresses;
	uint32_t i;

	if (status)
		return status;
	addresses = malloc(bytes * comm->ranks + 1);
	if (!addresses)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no host memory for %u addresses",
				     comm->ranks);
	for (i = 0; i < comm->ranks; i++)
		memcpy(addresses + i * bytes, contacts[i].address, bytes);
	status = trn_comm_fabric_connect(comm->fabric, addresses, comm->ranks);
	free(addresses);
	return status;
}

static enum trn_status open_transport(struct trn_comm *comm, const char *provider,
				      const char *local_host, int64_t deadline)
{
	struct contact mine = { .provider = "" }, *contacts;
	enum trn_status status = trn_comm_fabric_open(provider, local_host, &comm->fabric);
	const void *address;
	uint8_t ready = 1;

	if (status)
		return status;
	contacts = calloc(comm->ranks, sizeof(*contacts));
	if (!contacts)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no host memory for %u ranks",
				     comm->ranks);
	snprintf(mine.provider, sizeof(mine.provider), "%s",
		 trn_comm_fabric_provider(comm->fabric));
	mine.address_bytes = (uint32_t)trn_comm_fabric_address(comm->fabric, &address);
	memcpy(mine.address, address, mine.address_bytes);
	status = trn_comm_control_gather(comm->control, &mine, sizeof(mine), contacts, deadline);
	if (!status)
		status = connect_fabric(comm, contacts);
	/* Nobody goes on before everybody can be reached. */
	if (!status)
		status = trn_comm_control_gather(comm->control, &ready, sizeof(ready), contacts,
						 deadline);
	free(contacts);
	return status;
}

static enum trn_status join(struct trn_comm *comm, const char *provider,
			    struct trn_comm_meeting *meeting)
{
	int64_t deadline = trn_comm_now() + (int64_t)comm->timeout_ns;
	char text[TRN_COMM_TEXT_MAX];
	enum trn_status status = trn_comm_meet(meeting);

	if (status)
		return status;
	status = trn_comm_control_start(meeting, &comm->control);
	trn_comm_meeting_clear(meeting);
	if (status)
		return status;
	status = open_transport(comm, provider, meeting->local_host, deadline);
	if (!status)
		return TRN_OK;
	/* The others learn why; who is the first to fail has his sentence told to all. */
	snprintf(text, sizeof(text), "rank %u could not open its transport: %.400s", comm->rank,
		 trn_error_text());
	if (!trn_comm_control_failed(comm->control))
		trn_comm_control_fail(comm->control, status, comm->rank, text);
	return status;
}

static enum trn_status prepare(const struct trn_comm_options *options, uint32_t rank,
			       uint32_t ranks, struct trn_comm *comm,
			       struct trn_comm_meeting *meeting)
{
	const char *root = setting(options ? options->root : NULL, "TRN_COMM_ROOT");
	const char *provider = setting(options ? options->provider : NULL, "TRN_COMM_PROVIDER");
	const char *job = setting(NULL, "TRN_COMM_JOB");

	if (!root)
		root = setting(NULL, "NEURON_RT_ROOT_COMM_ID");
	if (!root)
		return trn_error_set(TRN_ERR_INVALID,
				     "rank %u of %u does not know where rank 0 is; set "
				     "TRN_COMM_ROOT=host:port",
				     rank, ranks);
	if (strlen(root) >= sizeof(comm->root))
		return trn_error_set(TRN_ERR_INVALID,
				     "communicator root of %zu characters; at most %zu",
				     strlen(root), sizeof(comm->root) - 1);
	if (provider && strlen(provider) >= sizeof(meeting->hello.provider))
		return trn_error_set(TRN_ERR_INVALID,
				     "libfabric provider \"%.40s…\" is no provider's name",
				     provider);
	snprintf(comm->root, sizeof(comm->root), "%s", root);
	meeting->root = comm->root;
	meeting->timeout_ns = comm->timeout_ns;
	trn_comm_hello_fill(&meeting->hello, rank, ranks, provider ? provider : "", job ? job : "");
	return trn_comm_address_parse(root, &meeting->address);
}

static void release(struct trn_comm *comm)
{
	bool ours = comm->pid == getpid();

	if (ours) {
		trn_comm_control_stop(comm->control);
		trn_comm_fabric_close(comm->fabric);
		trn_comm_slots_destroy(comm->slots);
	} else {
		trn_comm_control_abandon(comm->control);
	}
	free(comm);
}

/* Say good-bye, and keep the transport moving until the others have, too. */
static void farewell(struct trn_comm *comm)
{
	int64_t deadline = trn_comm_now() + FAREWELL_NS;

	trn_comm_control_bye(comm->control, comm->operations);
	while (!trn_comm_control_all_bye(comm->control) && trn_comm_now() < deadline) {
		trn_comm_fabric_poll(comm->fabric);
		trn_comm_fabric_wait(comm->fabric, trn_comm_control_fd(comm->control), FAREWELL_US);
	}
}

static void destroy(struct trn_comm *comm)
{
	if (comm->pid == getpid() && comm->control && comm->fabric &&
	    !trn_comm_control_failed(comm->control))
		farewell(comm);
	release(comm);
}

static void destroy_child(struct trn_child *child)
{
	destroy((struct trn_comm *)((char *)child - offsetof(struct trn_comm, child)));
}

static enum trn_status check(struct trn_queue *queue, uint32_t rank, uint32_t ranks,
			     const struct trn_comm_options *options, struct trn_comm **out)
{
	if (!out)
		return trn_error_set(TRN_ERR_INVALID,
				     "trn_comm_create: no place for the result (NULL)");
	*out = NULL;
	if (ranks == 0 || ranks > TRN_COMM_RANKS_MAX)
		return trn_error_set(TRN_ERR_INVALID,
				     "a communicator of %u ranks; from 1 to %u are possible", ranks,
				     TRN_COMM_RANKS_MAX);
	if (rank >= ranks)
		return trn_error_set(TRN_ERR_INVALID,
				     "rank %u of a communicator of %u ranks; they are 0 to "
				     "%u",
				     rank, ranks, ranks - 1);
	if (options && options->size != sizeof(*options))
		return trn_error_set(TRN_ERR_INVALID,
				     "trn_comm_options of %zu bytes, this library knows %zu; "
				     "start it with TRN_OPTIONS",
				     options->size, sizeof(*options));
	return queue ? trn_device_check(queue->device, "trn_comm_create") : TRN_OK;
}

enum trn_status trn_comm_create(struct trn_queue *queue, uint32_t rank, uint32_t ranks,
				const struct trn_comm_options *options, struct trn_comm **out)
{
	struct trn_comm_meeting meeting = { 0 };
	struct trn_comm *comm;
	enum trn_status status = check(queue, rank, ranks, options, out);

	if (status)
		return status;
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return trn_error_set(TRN_ERR_NO_HOST_MEMORY, "no host memory for a communicator");
	comm->queue = queue;
	comm->pid = getpid();
	comm->rank = rank;
	comm->ranks = ranks;
	comm->timeout_ns = options && options->timeout_ns ? options->timeout_ns
							  : DEFAULT_TIMEOUT_NS;
	if (comm->timeout_ns > LONGEST_TIMEOUT_NS)
		comm->timeout_ns = LONGEST_TIMEOUT_NS;
	if (ranks > 1) {
		status = prepare(options, rank, ranks, comm, &meeting);
		if (!status)
			status = join(comm, meeting.hello.provider, &meeting);
	}
	if (status) {
		release(comm);
		return status;
	}
	comm->child.destroy = destroy_child;
	if (queue)
		trn_queue_child_add(queue, &comm->child);
	*out = comm;
	return TRN_OK;
}

void trn_comm_destroy(struct trn_comm *comm)
{
	if (!comm)
		return;
	if (comm->queue && comm->pid == getpid())
		trn_queue_child_remove(comm->queue, &comm->child);
	destroy(comm);
}
