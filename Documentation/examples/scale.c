// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <trn/builder.h>
#include <trn/trn.h>

static void check(enum trn_status status)
{
	if (status == TRN_OK)
		return;
	fprintf(stderr, "%s\n", trn_error_text());
	exit(1);
}

/* y = 2 x for 1024 numbers, as 128 rows of 8. */
static struct trn_image *build(void)
{
	struct trn_builder *b = trn_builder_create("scale", 2);
	struct trn_image *image;
	struct trn_view v;
	uint64_t n = 1024;
	int x, y;

	x = trn_builder_tensor(b, "x", TRN_TENSOR_INPUT, TRN_DTYPE_FP32, &n, 1, NULL);
	y = trn_builder_tensor(b, "y", TRN_TENSOR_OUTPUT, TRN_DTYPE_FP32, &n, 1, NULL);
	v = trn_view(trn_builder_tile(b, TRN_MEM_SBUF, 128, 8 * 4), TRN_DTYPE_FP32, 8);
	trn_builder_load(b, v, x, 0, 8 * 4);
	trn_emit_tensor_scalar(b, TRN_ENGINE_DVE, v, v, TRN_ALU_MUL, trn_scalar(2.0f),
			       TRN_ALU_BYPASS, trn_scalar(0.0f), 0);
	trn_builder_store(b, y, 0, 8 * 4, v);
	check(trn_builder_finish(b, &image));
	trn_builder_free(b);
	return image;
}

int main(void)
{
	struct trn_queue_options options = TRN_OPTIONS(options);
	struct trn_device *device;
	struct trn_queue *queue;
	struct trn_program *program;
	struct trn_memory *x, *y;
	uint64_t x_offset, y_offset;
	struct trn_image *image = build();
	float data[1024];

	for (int i = 0; i < 1024; i++)
		data[i] = i;
	options.core_count = 1;
	check(trn_device_open(NULL, &device));
	check(trn_queue_create(device, &options, &queue));
	check(trn_program_load(queue, 0, image, NULL, 0, &program));
	trn_image_free(image);
	check(trn_program_tensor(program, "x", &x, &x_offset, NULL));
	check(trn_program_tensor(program, "y", &y, &y_offset, NULL));
	check(trn_queue_write(queue, x, x_offset, data, sizeof(data), NULL));
	check(trn_program_run(program, NULL, 0, NULL));
	check(trn_queue_read(queue, data, y, y_offset, sizeof(data), NULL));
	check(trn_queue_finish(queue, UINT64_MAX));
	printf("2 * 1023 = %g\n", data[1023]);
	trn_device_close(device);
	return 0;
}
