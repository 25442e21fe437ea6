// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Time mode of a device.
 *
 * Tracks of the trace: 16 for each core (its engines by number, then the parts beside them), then
 * one for each DMA engine.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device.h"
#include "timing.h"
#include "trace.h"

#define CORE_TRACKS  16u
#define DMA_TRACKS   (CORE_TRACKS * TRN_MAX_CORES)
#define EVENTS_LIMIT (1ull << 26)

struct emu_timing {
	struct emu_clock *clock;
	const struct emu_costs *costs;
	struct emu_trace *trace;
	FILE *file;
};

static int timing_refuse(char *error, size_t size, int status, const char *text)
{
	snprintf(error, size, "%s", text);
	return status;
}

static int trace_open(struct emu_timing *timing, const struct emu_config *config, char *error,
		      size_t size)
{
	timing->trace = emu_trace_create(config->trace_events ? config->trace_events
							      : EMU_TRACE_EVENTS_DEFAULT);
	if (!timing->trace)
		return timing_refuse(error, size, -ENOMEM, "out of memory for the trace");
	timing->file = fopen(config->trace, "w");
	if (!timing->file) {
		int status = -errno;

		snprintf(error, size, "trace=%s cannot be created: %s", config->trace,
			 strerror(errno));
		return status;
	}
	return 0;
}

/* Owners of actors: the worker of each core, then the workers of the groups of DMA engines. */
static struct emu_clock *device_clock(const struct emu_product *product)
{
	unsigned int actors = product->cores + product->engines;
	unsigned int owned = product->cores * TRN_ENGINES_PER_CORE, i;
	unsigned int owner[TRN_MAX_CORES + EMU_MAX_ENGINES];

	for (i = 0; i < product->cores; i++)
		owner[i] = i;
	for (i = 0; i < product->engines; i++)
		owner[product->cores + i] =
			product->cores +
			(i < owned ? i / TRN_ENGINES_PER_CORE : product->cores + (i - owned));
	return emu_clock_create(actors, owner, product->cores + EMU_MAX_GROUPS);
}

int emu_timing_create(struct emu_device *device, const struct emu_config *config, char *error,
		      size_t error_size)
{
	struct emu_timing *timing;

	if (config->trace_events && !config->trace)
		return timing_refuse(error, error_size, -EINVAL,
				     "trace-events is the length of a trace: give trace=FILE, too");
	if (!config->time_mode) {
		if (config->trace)
			return timing_refuse(error, error_size, -EINVAL,
					     "trace needs time mode: switch time-mode on");
		return 0;
	}
	if (config->trace_events > EVENTS_LIMIT) {
		snprintf(error, error_size, "trace-events=%" PRIu64 " is too many; at most %llu",
			 config->trace_events, EVENTS_LIMIT);
		return -EINVAL;
	}
	timing = calloc(1, sizeof(*timing));
	if (!timing)
		return timing_refuse(error, error_size, -ENOMEM, "out of memory for time mode");
	device->timing = timing;
	timing->costs = emu_costs_get(device->product->generation);
	if (!timing->costs) {
		snprintf(error, error_size, "time-mode: no costs are known for %s",
			 device->product->arch);
		return -EINVAL;
	}
	timing->clock = device_clock(device->product);
	if (!timing->clock)
		return timing_refuse(error, error_size, -ENOMEM, "out of memory for time mode");
	return config->trace ? trace_open(timing, config, error, error_size) : 0;
}

static void track_name(void *opaque, uint32_t track, char *name, size_t size, const char **what)
{
	static const char *const parts[CORE_TRACKS] = {
		[TRN_ENGINE_PE] = "tensor",
		[TRN_ENGINE_ACT] = "scalar",
		[TRN_ENGINE_POOL] = "gpsimd",
		[TRN_ENGINE_DVE] = "vector",
		[TRN_ENGINE_SP] = "sync",
		[TRN_ENGINE_CC] = "collectives",
		[EMU_PART_WEIGHTS] = "tensor weights",
		[EMU_PART_DGE] = "transfers",
	};
	const struct emu_device *device = opaque;
	unsigned int owned = device->product->cores * TRN_ENGINES_PER_CORE;
	unsigned int engine = track - DMA_TRACKS;

	if (track < DMA_TRACKS) {
		*what = "pc";
		snprintf(name, size, "core %u %s", track / CORE_TRACKS, parts[track % CORE_TRACKS]);
		return;
	}
	*what = "queue";
	if (engine < owned)
		snprintf(name, size, "core %u dma %u", engine / TRN_ENGINES_PER_CORE,
			 engine % TRN_ENGINES_PER_CORE);
	else
		snprintf(name, size, "host copy %u", engine - owned);
}

int emu_device_trace_write(struct emu_device *device)
{
	struct emu_timing *timing = device->timing;
	char process[64];

	if (!timing || !timing->trace)
		return -ENOENT;
	snprintf(process, sizeof(process), "%s, routing id %" PRIu32, device->product->arch,
		 device->routing_id);
	rewind(timing->file);
	return emu_trace_write(timing->trace, timing->file, device->routing_id, process, track_name,
			       device);
}

void emu_timing_destroy(struct emu_device *device)
{
	struct emu_timing *timing = device->timing;

	if (!timing)
		return;
	if (timing->file) {
		emu_device_trace_write(device);
		fclose(timing->file);
	}
	emu_trace_destroy(timing->trace);
	emu_clock_destroy(timing->clock);
	free(timing);
	device->timing = NULL;
}

const struct emu_costs *emu_timing_costs(const struct emu_device *device)
{
	return device->timing ? device->timing->costs : NULL;
}

struct emu_clock *emu_timing_clock(const struct emu_device *device)
{
	return device->timing->clock;
}

unsigned int emu_timing_core(const struct emu_device *device, unsigned int core)
{
	(void)device;
	return core;
}

unsigned int emu_timing_engine(const struct emu_device *device, unsigned int engine)
{
	return device->product->cores + engine;
}

unsigned int emu_timing_group(const struct emu_device *device, unsigned int group)
{
	return device->product->cores + group;
}

uint64_t emu_device_clock_ns(struct emu_device *device)
{
	if (device->timing)
		return emu_clock_now(device->timing->clock) / EMU_PS_PER_NS;
	return device->ops->clock_ns(device->opaque);
}

void emu_timing_arrival(const struct emu_device *device)
{
	const struct emu_timing *timing = device->timing;

	if (timing)
		emu_clock_arrival(emu_clock_now(timing->clock) + timing->costs->hop_ps);
}

void emu_timing_core_span(struct emu_device *device, unsigned int core, const struct emu_span *span)
{
	const struct emu_trace_event event = {
		.start = span->start,
		.end = span->end,
		.name = span->name,
		.track = core * CORE_TRACKS + span->part,
		.position = span->pc,
		.tag = span->tag,
		.bytes = span->bytes,
		.waited = span->waited,
	};

	if (device->timing->trace)
		emu_trace_add(device->timing->trace, &event);
}

void emu_timing_dma_span(struct emu_device *device, unsigned int id, unsigned int queue,
			 uint64_t start, uint64_t end, uint64_t bytes)
{
	const struct emu_trace_event event = {
		.start = start,
		.end = end,
		.name = "copy",
		.track = DMA_TRACKS + id,
		.position = queue,
		.bytes = bytes,
	};

	if (device->timing->trace)
		emu_trace_add(device->timing->trace, &event);
}
