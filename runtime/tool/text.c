// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

const char *text_bytes(uint64_t bytes, char *out)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes / 1024;
	int unit = 0;

	if (bytes < 1024) {
		snprintf(out, TEXT_CELL, "%" PRIu64 " bytes", bytes);
		return out;
	}
	for (; value >= 1024 && unit < 3; unit++)
		value /= 1024;
	snprintf(out, TEXT_CELL, "%.*f %s", value < 100 ? 1 : 0, value, units[unit]);
	return out;
}

const char *text_rate(uint64_t bytes, double seconds, char *out)
{
	double rate = seconds > 0 ? (double)bytes / seconds : 0;

	if (rate >= 1e9)
		snprintf(out, TEXT_CELL, "%.2f GB/s", rate / 1e9);
	else
		snprintf(out, TEXT_CELL, "%.1f MB/s", rate / 1e6);
	return out;
}

const char *text_time(double seconds, char *out)
{
	if (seconds >= 1)
		snprintf(out, TEXT_CELL, "%.2f s", seconds);
	else if (seconds >= 1e-3)
		snprintf(out, TEXT_CELL, "%.1f ms", seconds * 1e3);
	else
		snprintf(out, TEXT_CELL, "%.0f us", seconds * 1e6);
	return out;
}

void text_paint(bool color, const char *code, const char *text)
{
	if (color)
		printf("\033[%sm%s\033[0m", code, text);
	else
		fputs(text, stdout);
}

bool text_row(struct text_table *table, const char *const *cells)
{
	size_t bytes = (table->rows + 1) * table->columns * sizeof(*table->cells);
	char(*grown)[TEXT_CELL] = realloc(table->cells, bytes);
	unsigned int i;

	if (!grown)
		return false;
	table->cells = grown;
	for (i = 0; i < table->columns; i++)
		snprintf(table->cells[table->rows * table->columns + i], TEXT_CELL, "%s", cells[i]);
	table->rows++;
	return true;
}

static int column_width(const struct text_table *table, unsigned int column)
{
	size_t row, length, width = 0;

	for (row = 0; row < table->rows; row++) {
		length = strlen(table->cells[row * table->columns + column]);
		if (length > width)
			width = length;
	}
	return (int)width;
}

void text_print(const struct text_table *table, bool color)
{
	const char *cell;
	char padded[TEXT_CELL + 1];
	unsigned int i;
	size_t row;
	int width;

	for (row = 0; row < table->rows; row++) {
		for (i = 0; i < table->columns; i++) {
			cell = table->cells[row * table->columns + i];
			width = column_width(table, i);
			/* No blanks at the end of a line. */
			if (!(table->right >> i & 1))
				width = i + 1 == table->columns ? 0 : -width;
			snprintf(padded, sizeof(padded), "%*s", width, cell);
			text_paint(color && row == 0, TEXT_BOLD, padded);
			fputs(i + 1 == table->columns ? "\n" : "  ", stdout);
		}
	}
}
