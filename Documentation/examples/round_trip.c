// SPDX-License-Identifier: BSD-2-Clause
/* One number to the device and back. */
#include <stdio.h>
#include <trn/trn.h>

int main(void)
{
	struct trn_device *device;
	struct trn_queue *queue;
	struct trn_memory *memory;
	int out = 42, in = 0;

	if (trn_device_open(NULL, &device) || trn_queue_create(device, NULL, &queue) ||
	    trn_memory_alloc(device, sizeof(out), NULL, &memory) ||
	    trn_queue_write(queue, memory, 0, &out, sizeof(out), NULL) ||
	    trn_queue_read(queue, &in, memory, 0, sizeof(in), NULL) ||
	    trn_queue_finish(queue, UINT64_MAX)) {
		fprintf(stderr, "%s\n", trn_error_text());
		return 1;
	}
	printf("%d came back\n", in);
	trn_device_close(device);
	return 0;
}
