/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time mode of a device: its clock with cores and DMA engines as actors, its table of costs, its
 * trace.
 */
#ifndef EMU_TIMING_H
#define EMU_TIMING_H

#include <stdint.h>
#include "clock.h"
#include "cost.h"

struct emu_device;
struct emu_dma_engine;
struct emu_span;
struct emu_timing;
struct emu_config;

/**
 * emu_timing_create() - sets device->timing when @config asks for time mode; before cores and
 * engines are made. Return: 0 or a negative errno with a sentence in @error.
 */
int emu_timing_create(struct emu_device *device, const struct emu_config *config, char *error,
		      size_t error_size);
/** emu_timing_destroy() - writes the trace. After all workers ended. */
void emu_timing_destroy(struct emu_device *device);

const struct emu_costs *emu_timing_costs(const struct emu_device *device);
struct emu_clock *emu_timing_clock(const struct emu_device *device);
/** emu_timing_core(), emu_timing_engine() - numbers of the actors. */
unsigned int emu_timing_core(const struct emu_device *device, unsigned int core);
unsigned int emu_timing_engine(const struct emu_device *device, unsigned int engine);
/** emu_timing_group() - number of the owner of the engines of a group. */
unsigned int emu_timing_group(const struct emu_device *device, unsigned int group);

/** emu_device_clock_ns() - the device clock: virtual in time mode, else the shell's. */
uint64_t emu_device_clock_ns(struct emu_device *device);

/** emu_timing_arrival() - what this thread does to a neighbour now happens there one hop later than
 * the present of @device, until emu_clock_arrival(0). Nothing without time mode. */
void emu_timing_arrival(const struct emu_device *device);

void emu_timing_core_span(struct emu_device *device, unsigned int core,
			  const struct emu_span *span);
/** emu_timing_dma_span() - engine @id moved @bytes of @queue. */
void emu_timing_dma_span(struct emu_device *device, unsigned int id, unsigned int queue,
			 uint64_t start, uint64_t end, uint64_t bytes);

/* udma_time.c: time of the DMA engines; nothing without time mode. */
int emu_engines_time_create(struct emu_device *device);
void emu_engines_time_destroy(struct emu_device *device);
/** emu_dma_engine_post() - the queues in @mask may have work from now on; no lock held. */
void emu_dma_engine_post(struct emu_dma_engine *engine, uint32_t mask);
void emu_engines_time_power_up(struct emu_device *device);
/** emu_group_work_timed() - turns of the group's engines until none has work. */
struct emu_group;
void emu_group_work_timed(struct emu_group *group);

#endif /* EMU_TIMING_H */
