// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Events of the model: trace events, and a line for each mistake of the guest.
 *
 * Called from any thread, with or without the BQL; nothing here takes it.
 */
#include "trainium.h"
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "trace.h"

#define MISTAKES_SHOWN 1000 /* a guest cannot fill the host's disk with them */

static void mistake_report(TrainiumState *s, const char *kind, const char *text)
{
	unsigned int shown;

	if (!qatomic_read(&s->report_mistakes)) {
		return;
	}
	shown = qatomic_fetch_inc(&s->mistakes_shown);
	if (shown < MISTAKES_SHOWN) {
		warn_report("trainium %u: guest mistake %s: %s", s->routing_id, kind, text);
	} else if (shown == MISTAKES_SHOWN) {
		warn_report("trainium %u: %d guest mistakes shown, the others are only counted",
			    s->routing_id, MISTAKES_SHOWN);
	} else {
		qatomic_set(&s->mistakes_shown, MISTAKES_SHOWN + 1);
	}
}

static void mistake(TrainiumState *s, const struct emu_event *event)
{
	const char *kind = emu_complaint_name((enum emu_complaint)event->arg[0]);

	trace_trainium_mistake(s->routing_id, kind, event->text);
	qemu_log_mask(LOG_GUEST_ERROR, "trainium %u: guest mistake %s: %s\n", s->routing_id, kind,
		      event->text);
	mistake_report(s, kind, event->text);
}

void trainium_event(void *opaque, const struct emu_event *event)
{
	TrainiumState *s = opaque;
	const uint64_t *arg = event->arg;
	uint32_t dev = s->routing_id;

	switch (event->kind) {
	case EMU_EVENT_DOORBELL:
		trace_trainium_doorbell(dev, arg[0], arg[1], arg[2] ? "S2M" : "M2S", arg[3]);
		break;
	case EMU_EVENT_SUBMISSION:
		trace_trainium_submission(dev, arg[0], arg[1]);
		break;
	case EMU_EVENT_DMA_ERROR:
		trace_trainium_dma_error(dev, arg[0], arg[1], arg[2] >> 32, (uint32_t)arg[2],
					 arg[3]);
		break;
	case EMU_EVENT_RUN_END:
		trace_trainium_run_end(dev, arg[0], arg[1], arg[2], arg[3]);
		break;
	case EMU_EVENT_INTERRUPT:
		trace_trainium_interrupt(dev, arg[0], event->text);
		break;
	case EMU_EVENT_RESET:
		trace_trainium_reset(dev, arg[0], arg[1], event->text);
		break;
	case EMU_EVENT_FAULT:
		trace_trainium_fault(dev, event->text, arg[0]);
		break;
	case EMU_EVENT_COMPLAINT:
		mistake(s, event);
		break;
	case EMU_EVENT_LINK:
		trace_trainium_link(dev, arg[0], arg[1], arg[2], event->text);
		break;
	}
}
