/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Record of who was busy when, and its form as Chrome trace JSON, which Perfetto reads.
 */
#ifndef EMU_TRACE_H
#define EMU_TRACE_H

#include <stdint.h>
#include <stdio.h>

#define EMU_TRACE_EVENTS_DEFAULT (1u << 20)

struct emu_trace;

/** struct emu_trace_event - @track was busy from @start to @end (ps). */
struct emu_trace_event {
	uint64_t start, end;
	const char *name; /* a constant */
	uint32_t track;
	uint32_t position; /* instruction index, or queue */
	uint32_t tag;
	uint64_t bytes;	 /* of a transfer, else 0 */
	uint64_t waited; /* ps spent waiting before */
};

/** emu_trace_create() - keeps the first @limit events and counts the rest; memory grows as events
 * come. NULL when memory is short. */
struct emu_trace *emu_trace_create(uint64_t limit);
void emu_trace_destroy(struct emu_trace *trace);
/** emu_trace_add() - any thread. The events of one track come in the order of time. */
void emu_trace_add(struct emu_trace *trace, const struct emu_trace_event *event);
uint64_t emu_trace_dropped(struct emu_trace *trace);

/**
 * emu_trace_write() - everything recorded so far, as the process @pid called @process.
 * @track_name: puts the name of a track into @name and the name of what @position means in *@what.
 * Return: 0 or a negative errno.
 */
int emu_trace_write(struct emu_trace *trace, FILE *file, unsigned int pid, const char *process,
		    void (*track_name)(void *opaque, uint32_t track, char *name, size_t size,
				       const char **what),
		    void *opaque);

#endif /* EMU_TRACE_H */
