/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for people: units, aligned columns, colour. */
#ifndef TRN_TOOL_TEXT_H
#define TRN_TOOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TEXT_CELL 64

/** text_bytes() - "15.2 GiB", "512 bytes" into @out of TEXT_CELL. Return: @out. */
const char *text_bytes(uint64_t bytes, char *out);
/** text_rate() - "3.1 GB/s" of @bytes in @seconds; 10^9, as links are sold. */
const char *text_rate(uint64_t bytes, double seconds, char *out);
/** text_time() - "1.24 s", "310 ms", "14 us". */
const char *text_time(double seconds, char *out);

#define TEXT_RED    "31"
#define TEXT_GREEN  "32"
#define TEXT_YELLOW "33"
#define TEXT_BOLD   "1"

/** text_paint() - print @text, in @code when @color. */
void text_paint(bool color, const char *code, const char *text);

/** struct text_table - @columns cells a row; printed with every column as wide as its widest cell.
 */
struct text_table {
	unsigned int columns;
	size_t rows;
	char (*cells)[TEXT_CELL]; /* rows * columns; free() it */
	uint32_t right;		  /* bit mask of right-aligned columns */
};

/** text_row() - add a row of @columns strings, longer ones are cut. False when memory is short. */
bool text_row(struct text_table *table, const char *const *cells);
/** text_print() - the first row is the heading. */
void text_print(const struct text_table *table, bool color);

#endif /* TRN_TOOL_TEXT_H */
