/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registers of Trn1, Inf2 (v2) and Trn2 (v3): UDMA, SDMA, interrupt controllers, MISC RAM, NOTIFIC,
 * semaphores. Offsets are relative to the block named in the comment; block bases are in map.h.
 */
#ifndef TRAINIUM_REGS_H
#define TRAINIUM_REGS_H

/* PCI identity. */
#define TRN_PCI_VENDOR			0x1d0f
#define TRN_PCI_DEVICE_TRN1		0x7164
#define TRN_PCI_DEVICE_INF2		0x7264
#define TRN_PCI_DEVICE_TRN2		0x7364
#define TRN_PCI_CLASS			0x088000
/* vendor-private modes: never presented by the model */
#define TRN_PCI_REVISION_EMULATOR	240
#define TRN_PCI_REVISION_QEMU		255

/* Blocks of a UDMA (from the engine base). */
#define TRN_UDMA_M2S			0x00000
#define TRN_UDMA_S2M			0x20000
#define TRN_UDMA_GEN			0x38000
#define TRN_UDMA_GENX			0x3c000
#define TRN_UDMA_SIZE			0x40000
#define TRN_UDMA_QUEUES			16
#define TRN_UDMA_QUEUE(q)		(0x1000 + (q) * 0x1000)	/* from M2S or S2M */

/* M2S common. */
#define TRN_M2S_AXI_DATA_RD_CFG		0x118
#define TRN_M2S_AXI_DESC_RD_CFG3	0x11c
#define TRN_M2S_AXI_OUTSTANDING		0x124
#define TRN_M2S_STATE			0x200
#define TRN_M2S_CHANGE_STATE		0x204
#define TRN_M2S_ERR_LOG_MASK		0x20c
#define TRN_M2S_PKT_LEN_CFG		0x254
#define TRN_M2S_STREAM_CFG		0x258
#define TRN_M2S_PREFETCH_CFG2		0x304
#define TRN_M2S_PREFETCH_CFG3		0x308
#define TRN_M2S_DATA_FIFO_CFG		0x310
#define TRN_M2S_ACK_TIMEOUT		0x408
#define TRN_M2S_DMA_VERSION		0x604

/* S2M common. */
#define TRN_S2M_AXI_DESC_RD_CFG3	0x11c
#define TRN_S2M_AXI_OUTSTANDING_RD	0x124
#define TRN_S2M_AXI_OUTSTANDING_WR	0x128
#define TRN_S2M_STATE			0x200
#define TRN_S2M_CHANGE_STATE		0x204
#define TRN_S2M_ERR_LOG_MASK		0x20c
#define TRN_S2M_STREAM_CFG		0x250
#define TRN_S2M_PREFETCH_CFG3		0x308
#define TRN_S2M_COMPLETION_CFG1C	0x380
#define TRN_S2M_ACK_TIMEOUT		0x38c

/* State registers: four 2-bit fields at 1:0, 5:4, 9:8, 13:12. */
#define TRN_UDMA_STATE_IDLE		0x0000
#define TRN_UDMA_STATE_NORMAL		0x1111
#define TRN_UDMA_STATE_ABORT		0x2222
#define TRN_UDMA_CHANGE_NORMAL		(1u << 0)
#define TRN_UDMA_CHANGE_DISABLE		(1u << 1)
#define TRN_UDMA_CHANGE_ABORT		(1u << 2)

/* Queue registers (from the queue block; same in both directions unless noted). */
#define TRN_Q_PREFETCH_CFG		0x00
#define TRN_Q_CFG			0x20
#define TRN_Q_STATUS			0x24
#define TRN_Q_BASE_LOW			0x28
#define TRN_Q_BASE_HIGH			0x2c
#define TRN_Q_LENGTH			0x30		/* descriptors */
#define TRN_Q_HEAD			0x34
#define TRN_Q_TAIL_INC			0x38		/* doorbell */
#define TRN_Q_TAIL			0x3c
#define TRN_Q_CURRENT			0x40
#define TRN_Q_COMPL_BASE_LOW		0x44
#define TRN_Q_COMPL_BASE_HIGH		0x48
#define TRN_Q_COMPL_HEAD		0x4c
#define TRN_Q_S2M_COMPL_CFG		0x54
#define TRN_Q_S2M_SW_CTRL		0x64
#define TRN_Q_M2S_RATE_MASK		0x74
#define TRN_Q_M2S_COMPL_CFG		0xa0
#define TRN_Q_M2S_SW_CTRL		0xb0

/* prefetch and scheduling (stream) enable */
#define TRN_Q_CFG_ENABLE		0x00030000u
#define TRN_Q_CFG_RESET_VALUE		0x03000000u
#define TRN_Q_RATE_MASK_RESET		7u
#define TRN_Q_RATE_MASK_HONOUR_DMB	3u
#define TRN_Q_SW_CTRL_RESET		0x100u
#define TRN_Q_BASE_LOW_MASK		0xffffffc0u
#define TRN_Q_INDEX_MASK		0x00ffffffu
#define TRN_Q_RING_ID_SHIFT		30

/* GEN block: interrupt controllers and AXI control. An IOFIC group is 0x40 bytes. */
#define TRN_IOFIC_CAUSE			0x00
#define TRN_IOFIC_CAUSE_SET		0x08
#define TRN_IOFIC_MASK			0x10
/* written with the complement of what is to be unmasked */
#define TRN_IOFIC_MASK_CLEAR		0x18
#define TRN_IOFIC_STATUS		0x20
#define TRN_IOFIC_CONTROL		0x28
#define TRN_IOFIC_ABORT_MASK		0x30		/* 0 in a bit: the event aborts the UDMA */
#define TRN_IOFIC_CONTROL_INIT		0x28u
#define TRN_IOFIC_SIZE			0x40
#define TRN_GEN_IOFIC_PRIMARY(g)	(0x0000 + (g) * 0x40)
#define TRN_GEN_IOFIC_SECONDARY_A	0x2000
#define TRN_GEN_IOFIC_SECONDARY_B	0x2040
#define TRN_GEN_IOFIC_SECONDARY_C	0x2080
#define TRN_GEN_AXI_TIMEOUT		0x2300
#define TRN_GEN_AXI_ERR_DETECT(t)	(0x2900 + (t) * 0x40)
#define TRN_GEN_AXI_ERR_CTRL_ADDR(t)	(0x2b00 + (t) * 8)
#define TRN_GEN_AXI_ERR_CTRL_DATA(t)	(0x2b04 + (t) * 8)
/* state request, error status (reading clears it), configuration */
#define TRN_GEN_AXI_QUEUE(q)		(0x2c00 + (q) * 0xc)
#define TRN_GEN_AXI_QUEUE_STATUS	0x4
#define TRN_GEN_IOFIC_AXI(k)		(0x2d00 + (k) * 0x100)	/* k 0..6 */
#define TRN_GEN_SPARE_ZEROES0		0x3460
#define TRN_GEN_SPARE_ONES0		0x3468
#define TRN_ERR_A_ALL			0x0fffffffu
#define TRN_ERR_A_WRONG_RING_ID		(1u << 17)
#define TRN_ERR_A_TOO_MANY_DESCS	(1u << 14)
#define TRN_ERR_A_DATA_RESPONSE		(1u << 8)
#define TRN_ERR_A_PREFETCH_RESPONSE	(1u << 11)
#define TRN_ERR_A_PKT_TOO_LONG		(1u << 13)
#define TRN_ERR_A_BAD_FIRST		(1u << 15)
#define TRN_ERR_A_BAD_LAST		(1u << 16)
#define TRN_ERR_B_ALL			0xffffef07u
#define TRN_ERR_B_DATA_RESPONSE		(1u << 1)
#define TRN_ERR_B_PREFETCH_RESPONSE	(1u << 9)
#define TRN_ERR_B_WRONG_RING_ID		(1u << 11)
#define TRN_ERR_B_LENGTH_MISMATCH	(1u << 24)

/*
 * FIS, fabric interrupts and errors (v3, engines owned by a core): four groups in the IOFIC layout.
 * Group 2 is M2S, group 3 is S2M.
 */
#define TRN_FIS_GROUPS			4
#define TRN_FIS_GROUP(g)		((g) * TRN_IOFIC_SIZE)
#define TRN_FIS_M2S_WRONG_RING_ID	(1u << 11)
#define TRN_FIS_S2M_WRONG_RING_ID	(1u << 2)

/* GENX: per-queue selectors. */
#define TRN_GENX_SELECTOR(q)		(0x400 + (q) * 0x40)	/* tx; rx 0..2 at +4, +8, +0xc */

/* SDMA wrapper. */
#define TRN_SDMA_EVENT_ACCEL		0x00
#define TRN_SDMA_READ_REORDER		0x1c
#define TRN_SDMA_WRITE_REORDER		0x20
#define TRN_SDMA_BCAST_GROUP		0x100
#define TRN_SDMA_BCAST_LAST		0x104
#define TRN_SDMA_TX_BEATS		0x800
#define TRN_SDMA_NOTIFIC		0x1000

/* MISC RAM. */
#define TRN_MISC_API_VERSION		0x000
#define TRN_MISC_DEVICE_ID		0x024
#define TRN_MISC_SERIAL_LOW		0x038
#define TRN_MISC_SERIAL_HIGH		0x03c
#define TRN_MISC_SRAM_ECC		0x040
#define TRN_MISC_HBM_ECC(h)		(0x044 + (h) * 4)
#define TRN_MISC_POWER_D0		0x054
#define TRN_MISC_POWER_D1		0x058
#define TRN_MISC_HBM_REPAIR		0x064
#define TRN_MISC_RUNTIME0		0x0c0
#define TRN_MISC_METRIC			0x100
#define TRN_MISC_METRIC_SIZE		0x80
#define TRN_MISC_NEIGHBOR_LEFT_HIGH	0x180
#define TRN_MISC_NEIGHBOR_LEFT_LOW	0x184
#define TRN_MISC_NEIGHBOR_RIGHT_HIGH	0x188
#define TRN_MISC_NEIGHBOR_RIGHT_LOW	0x18c
#define TRN_MISC_POD_STATUS		0x190
#define TRN_MISC_POD_SERIAL_HIGH	0x194
#define TRN_MISC_POD_SERIAL_LOW		0x198
#define TRN_MISC_RUNTIME1		0x1a0
#define TRN_MISC_RESET_MAP		0x1d8
#define TRN_MISC_RESET			0x1ec
#define TRN_MISC_REQUEST_HIGH		0x1f0
#define TRN_MISC_REQUEST_LOW		0x1f4
#define TRN_MISC_RESPONSE_HIGH		0x1f8
#define TRN_MISC_RESPONSE_LOW		0x1fc
#define TRN_MISC_TRIGGER		0x800
#define TRN_MISC_FW_STATUS		0x808
#define TRN_MISC_SIZE			0x1000

#define TRN_MISC_NOT_READY		0xdeadbeefu
#define TRN_RESET_DEVICE		1u
#define TRN_RESET_TPB			2u
#define TRN_FW_STATUS_BUSY		0x8u

/* FWIO mailbox. */
#define TRN_FWIO_BUFFER_SIZE		65535u
#define TRN_FWIO_REQ_SEQ		0
#define TRN_FWIO_REQ_COMMAND		1
#define TRN_FWIO_REQ_SIZE		2
#define TRN_FWIO_REQ_CRC		4
#define TRN_FWIO_REQ_PAYLOAD		8
#define TRN_FWIO_RESP_SEQ		0
#define TRN_FWIO_RESP_ERROR		1
#define TRN_FWIO_RESP_SIZE		2
#define TRN_FWIO_RESP_PAYLOAD		4
#define TRN_FWIO_READ			1
#define TRN_FWIO_POST			2
#define TRN_FWIO_OK			0
#define TRN_FWIO_FAIL			1
#define TRN_FWIO_UNKNOWN		2

/* Inside a TPB (core) window. */
#define TRN_TPB_SBUF			0x00000000
#define TRN_TPB_SBUF_SIZE		0x02000000
#define TRN_TPB_EVENTS			0x02700000
#define TRN_TPB_SEM_READ		0x02701000
#define TRN_TPB_SEM_SET			0x02701400
#define TRN_TPB_SEM_INC			0x02701800
#define TRN_TPB_SEM_DEC			0x02701c00
/* events and semaphores, from TRN_TPB_EVENTS */
#define TRN_TPB_SYNC_SIZE		0x2000

/* NOTIFIC block: slot k. */
#define TRN_NQ_SLOTS			16
#define TRN_NQ_SLOT(k)			(0x100 + (k) * 0x28)
#define TRN_NQ_BASE_LOW			0x00
#define TRN_NQ_BASE_HIGH		0x04
/* bytes, power of two; 0 stops the producer */
#define TRN_NQ_SIZE			0x08
/* extension: next entry the device writes, free-running, RO */
#define TRN_NQ_HEAD			0x0c
/* extension: entries consumed by the reader, free-running, RW */
#define TRN_NQ_TAIL			0x10

/* Tensor-engine activity counters: group offsets. */
#define TRN_PE_COUNTER_MATMUL		0x00
#define TRN_PE_COUNTER_WEIGHTS		0x08
#define TRN_PE_COUNTER_IDLE		0x10

#endif /* TRAINIUM_REGS_H */
