/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notification ring entry: 32 bytes, part of the open extension (Documentation/open-extension.md).
 */
#ifndef TRAINIUM_NOTIFY_H
#define TRAINIUM_NOTIFY_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define TRN_NOTIFY_SIZE			32

enum trn_notify_type {
	TRN_NOTIFY_TRACE = 0,		/* implicit: an instruction started or ended */
	TRN_NOTIFY_EXPLICIT = 1,	/* NOTIFY instruction or "notify at end" flag */
	TRN_NOTIFY_EVENT = 2,
	/* code = enum trn_fault; payload: cookie of the run, offending address */
	TRN_NOTIFY_ERROR = 3,
	TRN_NOTIFY_DMA_TRACE = 4,
	TRN_NOTIFY_THROTTLE = 5,
	/* a run request ended; code = enum trn_fault, 0 on success; payload: cookie, pc */
	TRN_NOTIFY_RUN_END = 6,
};

/* 1 on the first pass through the ring, then flips each pass */
#define TRN_NOTIFY_FLAG_PHASE		0x01
/* entries before this one were dropped because the ring was full */
#define TRN_NOTIFY_FLAG_OVERFLOW	0x02

/** struct trn_notification - one entry; little-endian. */
struct trn_notification {
	uint8_t type;
	/* enum trn_engine; RUN_END: the engine that faulted, or 0 */
	uint8_t engine;
	uint8_t flags;
	uint8_t code;
	uint32_t tag;			/* tag of the instruction */
	uint64_t timestamp;		/* device clock, ns */
	uint64_t payload[2];
};

/*
 * Slots of a core's NOTIFIC block: 0 carries RUN_END and ERROR of the core, slot e the entries of
 * engine e.
 */
#define TRN_NOTIFY_SLOT_CORE		0

#endif /* TRAINIUM_NOTIFY_H */
