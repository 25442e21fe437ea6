// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <trn/kernels.h>
#include <trn/trn.h>

#define COUNT 1000

static void check(enum trn_status status)
{
	if (status == TRN_OK)
		return;
	fprintf(stderr, "%s\n", trn_error_text());
	exit(1);
}

int main(void)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_device *device;
	struct trn_queue *queue;
	struct trn_image *image;
	struct trn_program *program;
	struct trn_memory *a, *b;
	uint64_t a_offset, b_offset;
	float x[COUNT], y[COUNT], sum[COUNT];

	for (int i = 0; i < COUNT; i++) {
		x[i] = i;
		y[i] = 2 * i;
	}
	options.core_count = 1;
	check(trn_device_open(NULL, &device));
	check(trn_queue_create(device, &options, &queue));
	check(trn_kernel_add(COUNT, &image));
	check(trn_program_load(queue, 0, image, NULL, 0, &program));
	check(trn_program_tensor(program, "a", &a, &a_offset, NULL));
	check(trn_program_tensor(program, "b", &b, &b_offset, NULL));
	check(trn_queue_write(queue, a, a_offset, x, sizeof(x), NULL));
	check(trn_queue_write(queue, b, b_offset, y, sizeof(y), NULL));
	check(trn_program_run(program, NULL, 0, NULL));
	check(trn_queue_read(queue, sum, a, a_offset, sizeof(sum), NULL));
	check(trn_queue_finish(queue, UINT64_MAX));
	printf("%g + %g = %g\n", x[999], y[999], sum[999]);
	trn_program_unload(program);
	trn_image_free(image);
	trn_queue_destroy(queue);
	trn_device_close(device);
	return 0;
}
