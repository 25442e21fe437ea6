// SPDX-License-Identifier: BSD-2-Clause
/* Plot of the loss with plain characters. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "demo.h"

#define WIDTH  64
#define HEIGHT 14

/* Mean of the losses that fall into a column. */
static double column_mean(const double *losses, uint32_t steps, int column)
{
	uint64_t first = (uint64_t)column * steps / WIDTH,
		 end = (uint64_t)(column + 1) * steps / WIDTH, i;
	double sum = 0;

	if (end == first)
		end = first + 1;
	for (i = first; i < end; i++)
		sum += losses[i];
	return sum / (double)(end - first);
}

void demo_plot(const double *losses, uint32_t steps)
{
	double value[WIDTH], low = INFINITY, high = -INFINITY;
	char line[WIDTH + 1];
	int row, c;

	for (c = 0; c < WIDTH; c++) {
		value[c] = column_mean(losses, steps, c);
		low = fmin(low, value[c]);
		high = fmax(high, value[c]);
	}
	if (high - low < 1e-9)
		high = low + 1e-9;
	for (row = 0; row < HEIGHT; row++) {
		memset(line, ' ', WIDTH);
		line[WIDTH] = 0;
		for (c = 0; c < WIDTH; c++) {
			if ((int)lround((high - value[c]) / (high - low) * (HEIGHT - 1)) == row)
				line[c] = '*';
		}
		for (c = WIDTH; c && line[c - 1] == ' '; c--)
			line[c - 1] = 0;
		printf("%6.2f |%s\n", high - (high - low) * row / (HEIGHT - 1), line);
	}
	memset(line, '-', WIDTH);
	printf("  loss +%s\n        1%*u\n", line, WIDTH - 1, steps);
}
