// SPDX-License-Identifier: BSD-2-Clause
/*
 * pci-and-address-map.md 1, 2 and 3: identity, BARs, the host window.
 */
#include <string.h>
#include "conformance.h"

static uint32_t config_word(struct conf *c, unsigned int at, unsigned int bytes)
{
	uint8_t config[4096];
	uint32_t value = 0;

	emu_device_pci_config(c->dev, config);
	while (bytes--)
		value = value << 8 | config[at + bytes];
	return value;
}

static void vendor(struct conf *c, const void *row)
{
	(void)row;
	conf_is(c, config_word(c, 0x00, 2), 0x1d0f, "vendor id");
}

static void device(struct conf *c, const void *row)
{
	(void)row;
	conf_is(c, config_word(c, 0x02, 2), c->p->pci_device, "device id");
}

static void class_code(struct conf *c, const void *row)
{
	(void)row;
	conf_is(c, config_word(c, 0x09, 3), 0x088000, "class code");
}

static void revision(struct conf *c, const void *row)
{
	conf_true(c, config_word(c, 0x08, 1) != NUM(row), "revision is not %u", NUM(row));
}

static void native(struct conf *c, const void *row)
{
	(void)row;
	conf_is(c, config_word(c, 0x08, 1), 0, "revision");
}

/* Works with nothing but BARs: no interrupt, no capability. */
static void no_interrupts(struct conf *c, const void *row)
{
	struct conf_queue h2t[8];
	unsigned int n;
	uint64_t src, dst;

	(void)row;
	conf_probe(c, h2t, 64);
	conf_host(c, 4, &src);
	conf_host(c, 4, &dst);
	for (n = 0; n < c->p->cores; n++)
		conf_copy(&h2t[n], dst, src, 4, "copy by polling");
	conf_is(c, __atomic_load_n(&c->interrupts, __ATOMIC_RELAXED), 0, "messages sent");
}

static void bar(struct conf *c, const void *row)
{
	unsigned int n = NUM(row);

	conf_is(c, emu_device_bar_size(c->dev, n),
		n ? c->p->stacks * c->p->bar4_stride : c->p->bar0_size, "size of BAR%u", n);
}

/* Highest address the driver uses is inside and answers. */
static void bar0_highest(struct conf *c, const void *row)
{
	(void)row;
	if (c->p->generation == 2)
		conf_is(c, conf_read(c, 0x30fa0808) & 8, 0, "FW_STATUS at BAR0 0x30FA_0808");
	else
		conf_reg(c, 0xf4800000 - 0x400000 + 0x1000 - 8 * 0x0, 0, "semaphores of ts15");
}

static void bar_type(struct conf *c, const void *row)
{
	static const uint32_t want[2] = { 0x4, 0xc };

	conf_is(c, config_word(c, 0x10 + 4 * NUM(row), 4) & 0xf, want[NUM(row) / 4],
		"type bits of BAR%u", NUM(row));
}

/* BAR2 holds nothing of the vendor's in native mode: the extension alone, off the public map. */
static void bar2(struct conf *c, const void *row)
{
	(void)row;
	conf_true(c, emu_device_bar_size(c->dev, 2) < c->p->bar0_size,
		  "BAR2 is no second register BAR");
	conf_works(c, 0, 0, "without any access of BAR2");
}

/* 3: host memory. */
static void host_window(struct conf *c, const void *row)
{
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4096, &src), *to = conf_host(c, 4096, &dst);

	(void)row;
	conf_is(c, src & ~(c->p->host - 1), c->p->generation == 3 ? 1ull << 46 : 1ull << 44,
		"bit of the host window");
	conf_pattern(from, 4096, 4);
	conf_dma(c, 0, dst, src, 4096, "host to host");
	conf_same(c, to, from, 4096, "bus address OR window base");
}

/* v2: bits 48:44 must be 00001b; v3: bit 46. Another route is not the host. */
static void host_test(struct conf *c, const void *row)
{
	uint64_t src, dst, bit = 1ull << NUM(row);
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);

	*from = 0x900d;
	conf_dma_refused(c, 0, dst, (src & (c->p->host - 1)) | bit, "another route");
	conf_is(c, *to, 0, "destination");
}

/* A copy by a route with one more bit, under way. Return: where the word must not arrive. */
static const uint32_t *route_try(struct conf *c, unsigned int bit)
{
	uint64_t src, dst;
	uint32_t *from = conf_host(c, 4, &src), *to = conf_host(c, 4, &dst);
	struct conf_queue queue;

	*from = 0x900d;
	conf_queue_open(c, &queue, 0, 0, 32);
	conf_packet(&queue, dst, src | 1ull << bit, 4);
	conf_ring_both(&queue, 1);
	return to;
}

/* What else the route may be (an extension gives some values a meaning), it is not the host. */
static void host_test_more(struct conf *c, const void *row)
{
	const uint32_t *to = route_try(c, NUM(row));

	conf_complaints_forgive(c);
	conf_is(c, *to, 0, "destination");
}

/* The open extension made links of these routes; nobody is at the other end. */
static void host_test_link(struct conf *c, const void *row)
{
	const uint32_t *to = route_try(c, NUM(row));

	conf_quiesce(c);
	conf_is(c, *to, 0, "destination");
}

/* Usable to the end of the window: the last address decodes as host, where no memory is. */
static void host_end(struct conf *c, const void *row)
{
	uint64_t dst, last = c->p->host + (c->p->host - 4);

	(void)row;
	conf_host(c, 4, &dst);
	conf_dma_refused(c, 0, dst, last, "last address of the host window, nothing mapped");
}

/* A link that leads nowhere never gives the device's own memory. */
static void link_route(struct conf *c, const void *row)
{
	uint64_t base = 0x0010000000000000 + NUM(row) * 0x0004000000000000, host;
	uint32_t *word = conf_hbm(c, 0, 0x1300000), *to = conf_host(c, 4, &host);
	struct conf_queue queue;

	*word = 0x5ec2e7;
	conf_queue_open(c, &queue, 32 * NUM(row) + 4, 0, 32);
	conf_packet(&queue, host, base + 0x1300000, 4);
	conf_packet(&queue, base + 0x1300000, host + 64, 4);
	conf_ring_both(&queue, 2);
	conf_complaints_forgive(c);
	conf_true(c, *to != 0x5ec2e7, "a read by link %u is not of the own HBM", NUM(row));
	conf_is(c, *word, 0x5ec2e7, "own HBM after a write by link %u", NUM(row));
}

/* One of the window bits, no other: below 4 GiB as for rings, and above. */
static void buffers_anywhere(struct conf *c, const void *row)
{
	uint64_t first, last;
	uint8_t *a = conf_host(c, 4096, &first), *b;
	unsigned int i;

	(void)row;
	for (i = 0; i < 64; i++)
		b = conf_host(c, 4096, &last);
	conf_pattern(a, 4096, 8);
	conf_dma(c, 0, last, first, 4096, "buffers apart");
	conf_same(c, b, a, 4096, "buffers apart");
}

void conf_pci(struct conf_list *list)
{
	static const char page[] = "pci-and-address-map.md 1";
	static const char modes[] =
		"pci-and-address-map.md 1/operating-modes-selected-by-revision-id";
	static const char bars[] = "pci-and-address-map.md 2";
	static const char host[] = "pci-and-address-map.md 3";
	unsigned int i;

	conf_case(list, ALL, vendor, NULL, page, "vendor 0x1D0F");
	conf_case(list, TRN1, device, NULL, page, "Trn1 device 0x7164");
	conf_case(list, INF2, device, NULL, page, "Inf2 device 0x7264");
	conf_case(list, TRN2, device, NULL, page, "Trn2 device 0x7364");
	conf_case(list, ALL, class_code, NULL, page, "class 0x088000");
	conf_case(list, ALL, native, NULL, page, "revision 0");
	conf_case(list, ALL, no_interrupts, NULL, page, "no interrupt is needed or sent");
	conf_case(list, ALL, revision, ROW(255), modes, "revision is not 255 (QEMU)");
	conf_case(list, ALL, revision, ROW(240), modes, "revision is not 240 (emulator)");
	conf_case(list, V2, bar, ROW(0), bars, "BAR0 1 GiB");
	conf_case(list, V3, bar, ROW(0), bars, "BAR0 4 GiB");
	conf_case(list, ALL, bar0_highest, NULL, bars, "highest BAR0 access");
	conf_case(list, ALL, bar2, NULL, bars, "BAR2 unused in native mode");
	conf_case(list, V2, bar, ROW(4), bars, "BAR4 32 GiB, both stacks");
	conf_case(list, V3, bar, ROW(4), bars, "BAR4 256 GiB, 4 stacks at 64 GiB stride");
	conf_case(list, ALL, bar_type, ROW(0), bars, "BAR0 64-bit, not prefetchable");
	conf_case(list, ALL, bar_type, ROW(4), bars, "BAR4 64-bit, prefetchable");
	conf_case(list, ALL, host_window, NULL, host, "host window base, HPA OR base");
	for (i = 45; i <= 47; i++)
		conf_case(list, V2, host_test, ROW(i), host, "bit %u alone is not the host", i);
	conf_case(list, V3, host_test, ROW(44), host, "bit 44 alone is not the host");
	conf_case(list, V2, host_test_link, ROW(48), host, "bits 44 and 48 are not the host");
	for (i = 45; i <= 47; i++)
		conf_case(list, V2, host_test_more, ROW(i), host, "bits 44 and %u are not the host",
			  i);
	conf_case(list, ALL, host_end, NULL, host, "window usable to its end");
	for (i = 0; i < 4; i++)
		conf_case(list, V3, link_route, ROW(i), host, "neighbour route PCIE B0_%u", i);
	conf_case(list, ALL, buffers_anywhere, NULL, host, "host buffers may be anywhere");
}
