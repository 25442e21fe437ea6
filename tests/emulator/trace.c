// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Record of who was busy when.
 *
 * Locking: trace->lock guards the events and is a leaf. Written events are constant, so a file is
 * written from a count taken under the lock, with the array held in place by it.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include "clock.h"
#include "trace.h"

#define FIRST_ROOM 4096u
#define TRACKS_MAX 4096u

struct emu_trace {
	pthread_mutex_t lock;
	struct emu_trace_event *event;
	uint64_t count, room, limit, dropped;
};

struct emu_trace *emu_trace_create(uint64_t limit)
{
	struct emu_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return NULL;
	trace->limit = limit;
	pthread_mutex_init(&trace->lock, NULL);
	return trace;
}

void emu_trace_destroy(struct emu_trace *trace)
{
	if (!trace)
		return;
	pthread_mutex_destroy(&trace->lock);
	free(trace->event);
	free(trace);
}

/* Lock held. Return: there is room for one more. */
static bool trace_grow(struct emu_trace *trace)
{
	uint64_t room = trace->room ? 2 * trace->room : FIRST_ROOM;
	struct emu_trace_event *grown;

	if (trace->count < trace->room)
		return true;
	if (room > trace->limit)
		room = trace->limit;
	if (room <= trace->count || room > SIZE_MAX / sizeof(*grown))
		return false;
	grown = realloc(trace->event, (size_t)room * sizeof(*grown));
	if (!grown)
		return false;
	trace->event = grown;
	trace->room = room;
	return true;
}

void emu_trace_add(struct emu_trace *trace, const struct emu_trace_event *event)
{
	pthread_mutex_lock(&trace->lock);
	if (trace_grow(trace))
		trace->event[trace->count++] = *event;
	else
		trace->dropped++;
	pthread_mutex_unlock(&trace->lock);
}

uint64_t emu_trace_dropped(struct emu_trace *trace)
{
	uint64_t dropped;

	pthread_mutex_lock(&trace->lock);
	dropped = trace->dropped;
	pthread_mutex_unlock(&trace->lock);
	return dropped;
}

/* Microseconds with three digits. Start and end are rounded alike, so neighbours stay neighbours.
 */
static void put_us(FILE *file, const char *key, uint64_t ns)
{
	fprintf(file, "\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

static void put_event(FILE *file, unsigned int pid, const struct emu_trace_event *event,
		      const char *what)
{
	uint64_t start = event->start / EMU_PS_PER_NS, end = event->end / EMU_PS_PER_NS;

	if (event->bytes)
		fprintf(file, ",\n{\"name\":\"%s %" PRIu64 " B\"", event->name, event->bytes);
	else
		fprintf(file, ",\n{\"name\":\"%s\"", event->name);
	fprintf(file, ",\"ph\":\"X\",\"pid\":%u,\"tid\":%" PRIu32 ",", pid, event->track);
	put_us(file, "ts", start);
	fputc(',', file);
	put_us(file, "dur", end - start);
	fprintf(file, ",\"args\":{\"%s\":%" PRIu32, what, event->position);
	if (event->tag)
		fprintf(file, ",\"tag\":%" PRIu32, event->tag);
	if (event->waited)
		fprintf(file, ",\"waited_ns\":%" PRIu64, event->waited / EMU_PS_PER_NS);
	fputs("}}", file);
}

/* The name of a track and its place in the list, which is that of its number. */
static void put_track(FILE *file, unsigned int pid, uint32_t track, const char *name)
{
	fprintf(file,
		",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%" PRIu32
		",\"args\":{\"name\":\"%s\"}}",
		pid, track, name);
	fprintf(file,
		",\n{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":%u,\"tid\":%" PRIu32
		",\"args\":{\"sort_index\":%" PRIu32 "}}",
		pid, track, track);
}

int emu_trace_write(struct emu_trace *trace, FILE *file, unsigned int pid, const char *process,
		    void (*track_name)(void *opaque, uint32_t track, char *name, size_t size,
				       const char **what),
		    void *opaque)
{
	bool *named = calloc(TRACKS_MAX, sizeof(*named));
	uint64_t i;

	if (!named)
		return -ENOMEM;
	pthread_mutex_lock(&trace->lock);
	fprintf(file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped\":\"%" PRIu64 "\"},\n",
		trace->dropped);
	fprintf(file,
		"\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,"
		"\"args\":{\"name\":\"%s\"}}",
		pid, process);
	for (i = 0; i < trace->count; i++) {
		const struct emu_trace_event *event = &trace->event[i];
		const char *what = "";
		char name[64];

		track_name(opaque, event->track, name, sizeof(name), &what);
		if (event->track < TRACKS_MAX && !named[event->track]) {
			named[event->track] = true;
			put_track(file, pid, event->track, name);
		}
		put_event(file, pid, event, what);
	}
	fputs("\n]}\n", file);
	pthread_mutex_unlock(&trace->lock);
	free(named);
	return fflush(file) || ferror(file) ? -EIO : 0;
}
