/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Included before every file of a unit test by the compiler's option. A ck_assert() that holds
 * sends its place to libcheck's parent process by a system call, for the message of a test that
 * crashes later. In a loop over a million values that is nearly all of a suite's time; so a place
 * is not sent again before another took its slot.
 */
#ifndef CHECK_POINTS_H
#define CHECK_POINTS_H

#include <check.h>

#define CHECK_POINTS 256 /* places remembered, by line */

/* Threads of a test have points of their own. The names of files are constants of one object. */
static inline void check_point(const char *file, int line)
{
	static _Thread_local struct {
		const char *file;
		int line;
	} sent[CHECK_POINTS];
	unsigned int i = (unsigned int)line % CHECK_POINTS;

	if (sent[i].line == line && sent[i].file == file)
		return;
	sent[i].file = file;
	sent[i].line = line;
	_mark_point(file, line);
}

#define _mark_point check_point

#endif /* CHECK_POINTS_H */
