/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conformance suite of the device model: one named case per row of the hardware facts, driven by
 * registers alone.
 *
 * Two sources are compared here on purpose. The model is built from include/trainium/; addresses,
 * offsets and values in this folder are written down a second time, from the facts pages. So
 * nothing of include/trainium/ may be included here: a slip in one of the two shows as a failing
 * case.
 *
 * A case gets a device in its power-up state. Checks record the first mismatch and go on; a case
 * fails when it recorded one, or when the device counted a guest mistake that was not expected.
 */
#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tests/emulator/emu.h"
#include "tests/emulator/inproc.h"

#define CONF_TIMEOUT_MS 20000u

/* Products a row applies to. */
#define TRN1 1u
#define INF2 2u
#define TRN2 4u
#define V2   (TRN1 | INF2)
#define V3   TRN2
#define ALL  (V2 | V3)

/** struct conf_product - what the pages say of a product; all literals. */
struct conf_product {
	const char *arch;
	unsigned int bit, generation;
	uint16_t pci_device;
	unsigned int cores, stacks, top_sps, engines, seng_engines;
	uint64_t bar0_size, hbm_size, bar4_stride;
	uint64_t hbm[4]; /* device addresses */
	uint64_t host;	 /* base of the host window */
	uint64_t misc, misc_dev;
};

/** struct conf - a run of the suite over one product. */
struct conf {
	const struct conf_product *p;
	struct emu_inproc *inproc;
	struct emu_device *dev;
	uint8_t *host; /* host memory the device reaches */
	uint64_t host_bus;
	size_t host_used, host_dirty;
	uint32_t interrupts; /* messages the device sent since the case began; atomic */
	uint64_t complaints; /* what the device had counted, plus what the case expected */
	char failure[512];
};

/** conf_run - a case; @row is what was given to conf_case(). */
typedef void conf_run(struct conf *c, const void *row);

/* A number as a row. */
#define ROW(n)	  ((const void *)(uintptr_t)(n))
#define NUM(row)  ((unsigned int)(uintptr_t)(row))
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define PRINTF(f) __attribute__((format(printf, f, (f) + 1)))

struct conf_list;
/** conf_case() - add a case. @section: page and section, "udma.md 2.3"; the rest names the row. */
void conf_case(struct conf_list *list, unsigned int products, conf_run *run, const void *row,
	       const char *section, const char *format, ...) PRINTF(6);

/* One function per page; main.c calls them in this order. */
void conf_readme(struct conf_list *list);
void conf_pci(struct conf_list *list);
void conf_map(struct conf_list *list);
void conf_udma_registers(struct conf_list *list);
void conf_udma_queue(struct conf_list *list);
void conf_udma_errors(struct conf_list *list);
void conf_udma_traces(struct conf_list *list);
void conf_udma_rings(struct conf_list *list);
void conf_udma_copies(struct conf_list *list);
void conf_misc_ram(struct conf_list *list);
void conf_firmware(struct conf_list *list);
void conf_reset(struct conf_list *list);
void conf_cores(struct conf_list *list);
void conf_notific(struct conf_list *list);
void conf_topology(struct conf_list *list);
void conf_links(struct conf_list *list);
void conf_vendor(struct conf_list *list);

/* main.c: a device of its own for a case; false: the failure is noted in @c. */
bool conf_open(struct conf *c, const struct emu_config *config);
void conf_close(struct conf *c);

/* check.c */
void conf_fail(struct conf *c, const char *format, ...) PRINTF(2);
/** conf_is() - @got must be @want; the rest names object and register. */
bool conf_is(struct conf *c, uint64_t got, uint64_t want, const char *format, ...) PRINTF(4);
bool conf_true(struct conf *c, bool holds, const char *format, ...) PRINTF(3);
uint32_t conf_read(struct conf *c, uint64_t bar0);
void conf_write(struct conf *c, uint64_t bar0, uint32_t value);
/** conf_reg() - the register reads @want. */
bool conf_reg(struct conf *c, uint64_t bar0, uint32_t want, const char *format, ...) PRINTF(4);
/** conf_store() - the register keeps @value. */
bool conf_store(struct conf *c, uint64_t bar0, uint32_t value, const char *format, ...) PRINTF(4);
/** conf_storage() - the register keeps any value: two complementary patterns, then @value. */
void conf_storage(struct conf *c, uint64_t bar0, uint32_t value, const char *format, ...) PRINTF(4);
/** conf_read_only() - a write of the complement is counted as a mistake and changes nothing. */
void conf_read_only(struct conf *c, uint64_t bar0, const char *format, ...) PRINTF(3);
/** conf_wait() - until the register reads @value under @mask. */
bool conf_wait(struct conf *c, uint64_t bar0, uint32_t mask, uint32_t value, const char *format,
	       ...) PRINTF(5);
/** conf_wait_word() - until a word of memory is @value. */
bool conf_wait_word(struct conf *c, const void *word, uint32_t value, const char *format, ...)
	PRINTF(4);
void conf_quiesce(struct conf *c);
/** conf_complaint() - exactly @count mistakes of @kind were counted since the last look, no other
 * kind; they are forgiven. */
void conf_complaint(struct conf *c, enum emu_complaint kind, uint64_t count);
/** conf_complaints_forgive() - whatever was counted so far is of no interest to the row. */
void conf_complaints_forgive(struct conf *c);
uint64_t conf_now_ms(void);

/* map.c: BAR0 offsets and device addresses */
extern const struct conf_product conf_products[3];
uint64_t conf_udma(const struct conf *c, unsigned int engine);
uint64_t conf_udma_dev(const struct conf *c, unsigned int engine);
uint64_t conf_sdma(const struct conf *c, unsigned int engine);
uint64_t conf_fis(unsigned int engine); /* v3 */
uint64_t conf_tpb(const struct conf *c, unsigned int core);
uint64_t conf_tpb_dev(const struct conf *c, unsigned int core);
uint64_t conf_top_sp(const struct conf *c, unsigned int t); /* as a driver numbers them */
uint64_t conf_top_sp_dev(const struct conf *c, unsigned int t);
uint64_t conf_nc_notific(const struct conf *c, unsigned int core);
uint64_t conf_top_sp_notific(const struct conf *c, unsigned int t);
uint64_t conf_counters(const struct conf *c, unsigned int core);
/** conf_h2t() - engine for the copies of a core; *queue receives its queue. */
unsigned int conf_h2t(const struct conf *c, unsigned int core, unsigned int *queue);
/** conf_owned() - compute engines: those before the host copy engines. */
unsigned int conf_owned(const struct conf *c);

/* Queue registers. */
#define M2S	0
#define S2M	1
#define M2S_AT	0x00000u
#define S2M_AT	0x20000u
#define GEN_AT	0x38000u
#define GENX_AT 0x3c000u

/* rig.c: host memory, rings */
/** struct conf_desc - 16 bytes, little-endian. */
struct conf_desc {
	uint32_t ctrl, meta;
	uint64_t addr;
};

#define D_FIRST	   (1u << 26)
#define D_LAST	   (1u << 27)
#define D_DMB	   (1u << 30)
#define META_PLAIN 0x01080003u
#define META_WRITE 0x05080003u /* with write barrier */

struct conf_queue {
	struct conf *c;
	unsigned int engine, queue;
	uint64_t udma;
	uint32_t length[2];
	uint64_t ring[2]; /* device addresses */
	struct conf_desc *desc[2];
	uint32_t next[2], pass[2];
};

/** conf_host() - @len bytes of zeroed host memory, page aligned, until the case ends. */
void *conf_host(struct conf *c, size_t len, uint64_t *dev);
/** conf_hbm() - BAR4 behind @offset of stack @h. */
void *conf_hbm(struct conf *c, unsigned int h, uint64_t offset);
void conf_pattern(void *memory, size_t len, uint32_t seed);
bool conf_same(struct conf *c, const void *got, const void *want, size_t len, const char *what);

uint64_t conf_q(const struct conf_queue *queue, int dir, uint32_t reg);
/** conf_queue_open() - rings of @length descriptors in host memory, set up by the queue init trace.
 */
void conf_queue_open(struct conf *c, struct conf_queue *queue, unsigned int engine, unsigned int q,
		     uint32_t length);
/** conf_queue_place() - rings where the caller wants them. */
void conf_queue_place(struct conf *c, struct conf_queue *queue, unsigned int engine, unsigned int q,
		      uint32_t m2s_length, uint32_t s2m_length, void *m2s, uint64_t m2s_dev,
		      void *s2m, uint64_t s2m_dev);
/** conf_queue_init() - the queue init trace: 15 writes. */
void conf_queue_init(struct conf_queue *queue);
/** conf_push() - one descriptor with the ring id of the pass; no doorbell. */
void conf_push(struct conf_queue *queue, int dir, uint32_t ctrl, uint32_t meta, uint64_t addr);
/** conf_packet() - one descriptor each way, FIRST and LAST, plain copy. */
void conf_packet(struct conf_queue *queue, uint64_t dst, uint64_t src, uint32_t len);
void conf_ring(struct conf_queue *queue, int dir, uint32_t count);
/** conf_ring_both() - S2M first, then M2S. */
void conf_ring_both(struct conf_queue *queue, uint32_t count);
/** conf_finish() - wait until the heads of both directions are where the producer is. */
void conf_finish(struct conf_queue *queue, const char *what);
/** conf_copy() - packet, doorbells, end. */
void conf_copy(struct conf_queue *queue, uint64_t dst, uint64_t src, uint32_t len,
	       const char *what);
/** conf_dma() - one copy by queue 0 of @engine. */
void conf_dma(struct conf *c, unsigned int engine, uint64_t dst, uint64_t src, uint32_t len,
	      const char *what);
/** conf_dma_refused() - the copy ends in abort and its destination is untouched. */
void conf_dma_refused(struct conf *c, unsigned int engine, uint64_t dst, uint64_t src,
		      const char *what);
/** conf_works() - a copy of a pattern through host, HBM and back by queue @q of @engine. */
void conf_works(struct conf *c, unsigned int engine, unsigned int q, const char *what);

/* trace.c: the documented sequences */
/** struct conf_access - one access of a trace; mask: expected afterwards in the mask register. */
struct conf_access {
	unsigned int row; /* of the table */
	bool read;
	uint64_t bar0;
	uint32_t value;
};

/** conf_engine_init() - rows up to @last of the engine init trace. Return: number of accesses;
 * @access (may be NULL) receives them. */
unsigned int conf_engine_init(struct conf *c, unsigned int engine, bool first, unsigned int last,
			      struct conf_access *access, unsigned int room);
void conf_device_reset(struct conf *c);
void conf_tpb_reset(struct conf *c, uint32_t map);
/** conf_probe() - the whole probe trace; H2T queues with rings of @length. Return: accesses of the
 * engine and queue part. */
unsigned int conf_probe(struct conf *c, struct conf_queue *h2t, uint32_t length);

/* fwio.c */
uint32_t conf_crc32c(const void *data, size_t len);
/** struct conf_fwio - the two buffers of the mailbox. */
struct conf_fwio {
	uint8_t *request, *response;
	uint64_t request_dev, response_dev;
};
void conf_fwio_open(struct conf *c, struct conf_fwio *fwio);
/** conf_fwio_build() - request with size and CRC. */
void conf_fwio_build(struct conf_fwio *fwio, uint8_t seq, uint8_t command, const void *payload,
		     size_t len);
/** conf_fwio_ring() - addresses, response byte 0 cleared, doorbell. */
void conf_fwio_ring(struct conf *c, struct conf_fwio *fwio);
/** conf_fwio_send() - build, ring, wait for the sequence number. Return: error byte. */
uint8_t conf_fwio_send(struct conf *c, struct conf_fwio *fwio, uint8_t seq, uint8_t command,
		       const void *payload, size_t len);

#endif /* CONFORMANCE_H */
