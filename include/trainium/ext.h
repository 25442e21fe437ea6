/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The open extension of the emulated device: what the public register map lacks (interrupts,
 * program execution, protection windows). Announced by a PCIe vendor-specific extended capability;
 * placed only where the public map has nothing. Documentation/open-extension.md is the
 * specification in prose.
 */
#ifndef TRAINIUM_EXT_H
#define TRAINIUM_EXT_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

/* Vendor-specific extended capability (PCI config space, extended id 0x000b). */
#define TRN_VSEC_ID			0x5452
#define TRN_VSEC_REVISION		1
#define TRN_VSEC_LENGTH			0x20
/* where the model puts it; a driver walks the capability list */
#define TRN_VSEC_CONFIG_OFFSET		0x100
#define TRN_VSEC_FEATURES		0x08	/* from the capability header: TRN_FEATURE_* */
#define TRN_VSEC_BAR			0x0c	/* BAR that holds the extension registers */
#define TRN_VSEC_BAR_OFFSET		0x10
#define TRN_VSEC_VECTORS		0x14

/* interrupts: vectors below, DESC_INT honoured */
#define TRN_FEATURE_MSIX		(1u << 0)
/* cores fetch and execute programs; submission queues */
#define TRN_FEATURE_CORES		(1u << 1)
/* device addresses of a run are checked against its windows */
#define TRN_FEATURE_WINDOWS		(1u << 2)
/* notification entries of notify.h are written */
#define TRN_FEATURE_NOTIFY		(1u << 3)
#define TRN_FEATURE_CLOCK		(1u << 4)	/* device clock readable */
/* link registers, link windows besides those of the public map */
#define TRN_FEATURE_LINKS		(1u << 5)
#define TRN_FEATURE_ALL			0x3fu

/* BAR2: extension registers, MSI-X table, pending bits. */
#define TRN_EXT_BAR			2
#define TRN_EXT_BAR_SIZE		0x10000u
#define TRN_EXT_MSIX_TABLE		0x8000u
#define TRN_EXT_MSIX_PBA		0xc000u

#define TRN_EXT_ID			0x0000	/* RO TRN_EXT_ID_VALUE */
#define TRN_EXT_ID_VALUE		0x584e5254u	/* "TRNX" */
#define TRN_EXT_VERSION			0x0004	/* RO 1 */
#define TRN_EXT_FEATURES		0x0008	/* RO TRN_FEATURE_* */
#define TRN_EXT_VECTORS			0x000c	/* RO */
/* RO device clock in ns; reading LOW latches HIGH */
#define TRN_EXT_CLOCK_LOW		0x0010
#define TRN_EXT_CLOCK_HIGH		0x0014
#define TRN_EXT_COMPLAINTS		0x0018	/* RO guest mistakes counted so far */
/* RO code of the last one (enum emu_complaint of the model) */
#define TRN_EXT_COMPLAINT_LAST		0x001c
/*
 * Interrupt control of vector v. An event on a vector sets PENDING; an unmasked vector sends its
 * MSI-X message and clears PENDING. Clearing MASK while PENDING is set sends at once, so mask -
 * drain - unmask loses nothing.
 */
#define TRN_EXT_IRQ_MASK(v)		(0x0100 + (v) * 8)	/* RW bit 0, reset 1 */
#define TRN_EXT_IRQ_PENDING(v)		(0x0104 + (v) * 8)	/* RO bit 0; write 1 clears */

/*
 * Vector numbers: 0 device, 1 + n core n (its NOTIFIC slot 0, and TRN_DESC_INT of its DMA engines),
 * then one per host copy engine.
 */
#define TRN_VECTOR_DEVICE		0
#define TRN_VECTOR_CORE(n)		(1 + (n))
#define TRN_VECTOR_H2T(cores, k)	(1 + (cores) + (k))

/* Links: what the windows of device addresses lead to. */
#define TRN_EXT_LINK_COUNT		0x1000	/* RO */
#define TRN_EXT_LINK_NODE		0x1004	/* RO node | nodes << 8 */
#define TRN_EXT_LINK_SUMMARY		0x1008	/* RO bit l: link l has events */
/* RO connections closed because of foreign or malformed traffic */
#define TRN_EXT_LINK_REJECTED		0x100c
#define TRN_LINK_STRIDE			0x40
#define TRN_EXT_LINK(l)			(0x1040 + (l) * TRN_LINK_STRIDE)
#define TRN_LINK_STATE			0x00	/* RO */
#define TRN_LINK_STATE_UNCONNECTED	0
#define TRN_LINK_STATE_DOWN		1
#define TRN_LINK_STATE_UP		2
#define TRN_LINK_PEER			0x04	/* RO routing id | node << 8, bit 31 wired */
#define TRN_LINK_PEER_ROUTING_ID	0xffu
#define TRN_LINK_PEER_NODE_SHIFT	8
#define TRN_LINK_PEER_WIRED		(1u << 31)
#define TRN_LINK_ERRORS			0x08	/* RO */
#define TRN_LINK_EVENTS			0x0c	/* RW1C */
#define TRN_LINK_EVENT_UP		(1u << 0)
#define TRN_LINK_EVENT_DOWN		(1u << 1)
#define TRN_LINK_EVENT_ERROR		(1u << 2)
#define TRN_LINK_EVENT_ALL		0x7u
#define TRN_LINK_ENABLE			0x10	/* RW events that raise vector 0, reset 0 */
#define TRN_LINK_WINDOW_LOW		0x18	/* RO device address of the window */
#define TRN_LINK_WINDOW_HIGH		0x1c
/*
 * Windows. v2: routes 0x10 and up in bits 48:44, which the public map leaves open. v3: bits 53:52
 * are 2, link in bits 51:50; the torus of a device whose public windows lead to other nodes.
 */
#define TRN_V2_LINK_BASE(l)		((0x10ull + (l)) << 44)
#define TRN_V2_LINK_MASK		0xfffff00000000000ull	/* bits 63:44 */
#define TRN_V3_TORUS_BASE(l)		(0x20000000000000ull + (l) * 0x4000000000000ull)
#define TRN_V3_TORUS_MASK		0x3c000000000000ull	/* bits 53:50 */

/* PSUM debug access and control blocks inside a core window. */
#define TRN_TPB_PSUM			0x02000000
#define TRN_TPB_PSUM_SIZE		0x00200000
#define TRN_TPB_ENGINE(e)		(0x02800000 + (e) * 0x1000)
#define TRN_TPB_CORE			0x02880000

/* Engine control (debugging). */
#define TRN_ENG_ID			0x00	/* RO engine number | version << 16 */
#define TRN_ENG_CAPS			0x04
#define TRN_ENG_BASE_LOW		0x08
#define TRN_ENG_BASE_HIGH		0x0c
#define TRN_ENG_COUNT			0x10
#define TRN_ENG_CONTROL			0x14	/* W */
#define TRN_ENG_CONTROL_START		(1u << 0)	/* run this image once, no windows */
#define TRN_ENG_CONTROL_STOP		(1u << 1)	/* end the core's present run */
#define TRN_ENG_STATUS			0x18	/* RO */
#define TRN_ENG_STATUS_IDLE		0
#define TRN_ENG_STATUS_RUNNING		1
#define TRN_ENG_STATUS_HALTED		2
#define TRN_ENG_STATUS_FAULT		3
#define TRN_ENG_PC			0x1c
#define TRN_ENG_CYCLES_LOW		0x20
#define TRN_ENG_CYCLES_HIGH		0x24
#define TRN_ENG_FAULT			0x28
#define TRN_ENG_FAULT_TAG		0x2c
#define TRN_ENG_REG(r)			(0x100 + (r) * 4)

/* Core block. */
#define TRN_CORE_ID			0x00	/* RO TRN_CORE_ID_VALUE */
#define TRN_CORE_ID_VALUE		0x434e5254u	/* "TRNC" */
#define TRN_CORE_GENERATION		0x04	/* RO 2 or 3 */
#define TRN_CORE_CAPS			0x08	/* RO */
#define TRN_CORE_STATUS			0x10	/* RO */
#define TRN_CORE_STATUS_IDLE		0
#define TRN_CORE_STATUS_RUNNING		1
/* stopped after a fault; requests behind it wait for SQ_CONTROL */
#define TRN_CORE_STATUS_HALTED		2
#define TRN_CORE_SQ_BASE_LOW		0x20
#define TRN_CORE_SQ_BASE_HIGH		0x24
#define TRN_CORE_SQ_SIZE		0x28	/* entries, power of two 2..4096 */
/* W doorbell: free-running count of requests written */
#define TRN_CORE_SQ_TAIL		0x2c
#define TRN_CORE_SQ_HEAD		0x30	/* RO free-running count of requests finished */
#define TRN_CORE_SQ_CONTROL		0x34
#define TRN_SQ_ENABLE			(1u << 0)	/* RW; 0 -> 1 starts with head = tail = 0 */
/* W1: stop the current run (TRN_FAULT_STOPPED) and drop the queued ones */
#define TRN_SQ_ABORT			(1u << 1)
#define TRN_SQ_RESUME			(1u << 2)	/* W1: continue after HALTED */
#define TRN_SQ_MAX			4096u

/** struct trn_run_request - submission queue entry, 64 bytes. */
struct trn_run_request {
	uint64_t program;		/* device address of a struct trn_program_table */
	uint64_t args;			/* device address of the argument block, or 0 */
	uint32_t args_size;		/* bytes */
	uint32_t flags;			/* 0 */
	uint64_t windows;		/* device address of struct trn_window[], sorted by base */
	uint32_t window_count;
	uint32_t reserved0;
	uint64_t cookie;		/* echoed in the RUN_END notification */
	uint64_t reserved1[2];
};

/** struct trn_window - memory a run may reach, 32 bytes. */
struct trn_window {
	uint64_t base;
	uint64_t size;
	uint32_t access;		/* TRN_ACCESS_* */
	uint32_t reserved0;
	uint64_t reserved1;
};

#define TRN_ACCESS_READ			(1u << 0)
#define TRN_ACCESS_WRITE		(1u << 1)
#define TRN_ACCESS_EXEC			(1u << 2)
#define TRN_WINDOWS_MAX			4096u

/** struct trn_program_table - what a run starts: header and one entry per engine. */
struct trn_program_table {
	uint32_t magic;			/* TRN_PROGRAM_TABLE_MAGIC */
	uint32_t count;			/* 1..6 */
	struct trn_program_entry {
		uint32_t engine;	/* enum trn_engine */
		uint32_t insns;
		uint64_t base;		/* device address, 128-byte aligned */
	} entry[6];
};

#define TRN_PROGRAM_TABLE_MAGIC		0x504e5254u	/* "TRNP" */

#endif /* TRAINIUM_EXT_H */
