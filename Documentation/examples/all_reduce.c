// SPDX-License-Identifier: BSD-2-Clause
/* Two processes, a device each, and the sum of their vectors on both. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <trn/trn.h>

#define RANKS 2
#define COUNT 1000

static int fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, trn_error_text());
	return 1;
}

static int run_rank(uint32_t rank)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_device *device;
	struct trn_queue *queue;
	struct trn_memory *memory;
	struct trn_comm *comm;
	float values[COUNT];
	int i;

	for (i = 0; i < COUNT; i++)
		values[i] = (float)(i * (rank + 1));
	options.core_count = 1;
	if (trn_device_open(NULL, &device))
		return fail("open");
	if (trn_queue_create(device, &options, &queue) ||
	    trn_memory_alloc(device, sizeof(values), NULL, &memory))
		return fail("queue and memory");
	if (trn_comm_create(queue, rank, RANKS, NULL, &comm))
		return fail("communicator");
	if (trn_queue_write(queue, memory, 0, values, sizeof(values), NULL) ||
	    trn_comm_allreduce(comm, memory, 0, COUNT, TRN_REDUCE_SUM) ||
	    trn_queue_read(queue, values, memory, 0, sizeof(values), NULL) ||
	    trn_queue_finish(queue, UINT64_MAX))
		return fail("all-reduce");
	printf("rank %u: element 999 is %g\n", rank, (double)values[999]);
	trn_comm_destroy(comm);
	trn_memory_free(memory);
	trn_queue_destroy(queue);
	trn_device_close(device);
	return 0;
}

int main(void)
{
	int status = 0, code;
	pid_t child;

	/* Usually each rank is a program of its own, on a machine of its own. */
	setenv("TRN_COMM_ROOT", "127.0.0.1:5611", 0);
	child = fork();
	code = run_rank(child ? 0 : 1);
	if (!child)
		return code;
	waitpid(child, &status, 0);
	return code || status;
}
