// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runner of the conformance suite: list, selection, one device for each product, reset between the
 * cases.
 */
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conformance.h"

#define HOST_BYTES (24u << 20)

struct one_case {
	unsigned int products;
	conf_run *run;
	const void *row;
	char name[160];
};

struct conf_list {
	struct one_case *at;
	size_t count, room;
};

static void (*const pages[])(struct conf_list *list) = {
	conf_readme,	  conf_pci,	    conf_map,	     conf_udma_registers, conf_udma_queue,
	conf_udma_errors, conf_udma_traces, conf_udma_rings, conf_udma_copies,	  conf_misc_ram,
	conf_firmware,	  conf_reset,	    conf_cores,	     conf_notific,	  conf_topology,
	conf_links,	  conf_vendor,
};

void conf_case(struct conf_list *list, unsigned int products, conf_run *run, const void *row,
	       const char *section, const char *format, ...)
{
	struct one_case *one;
	va_list args;
	int used;

	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 256;
		list->at = realloc(list->at, list->room * sizeof(*list->at));
		if (!list->at)
			abort();
	}
	one = &list->at[list->count++];
	one->products = products;
	one->run = run;
	one->row = row;
	used = snprintf(one->name, sizeof(one->name), "%s ", section);
	va_start(args, format);
	vsnprintf(one->name + used, sizeof(one->name) - (size_t)used, format, args);
	va_end(args);
}

/* Two rows with one name would hide each other in the table; one check under two names would be
 * counted twice (rows.txt is the place to say that a case covers another row too). */
static bool names_differ(const struct conf_list *list)
{
	bool good = true;
	size_t i, j;

	for (i = 0; i < list->count; i++) {
		const struct one_case *a = &list->at[i];

		for (j = 0; j < i; j++) {
			const struct one_case *b = &list->at[j];

			if (!(a->products & b->products))
				continue;
			if (!strcmp(a->name, b->name))
				printf("not ok - two cases are called %s\n", a->name);
			else if (a->run == b->run && a->row == b->row)
				printf("not ok - %s: the check of %s\n", a->name, b->name);
			else
				continue;
			good = false;
		}
	}
	return good;
}

static void interrupt(void *arg, unsigned int vector)
{
	struct conf *c = arg;

	(void)vector;
	__atomic_fetch_add(&c->interrupts, 1, __ATOMIC_RELAXED);
}

bool conf_open(struct conf *c, const struct emu_config *config)
{
	char error[256] = "";

	if (emu_inproc_create(config, &c->inproc, error, sizeof(error))) {
		conf_fail(c, "no device: %s", error);
		return false;
	}
	c->dev = emu_inproc_device(c->inproc);
	emu_inproc_interrupt_handler(c->inproc, interrupt, c);
	c->host = aligned_alloc(4096, HOST_BYTES);
	if (!c->host || emu_inproc_map(c->inproc, c->host, HOST_BYTES, true, &c->host_bus)) {
		conf_fail(c, "no host memory");
		return false;
	}
	memset(c->host, 0, HOST_BYTES);
	return true;
}

void conf_close(struct conf *c)
{
	emu_inproc_destroy(c->inproc);
	free(c->host);
}

void *conf_host(struct conf *c, size_t len, uint64_t *dev)
{
	uint8_t *at = c->host + c->host_used;

	len = (len + 4095) / 4096 * 4096;
	if (len > HOST_BYTES - c->host_used) {
		conf_fail(c, "the case needs more than %u bytes of host memory", HOST_BYTES);
		abort();
	}
	*dev = c->p->host | (c->host_bus + c->host_used);
	c->host_used += len;
	if (c->host_used > c->host_dirty)
		c->host_dirty = c->host_used;
	return at;
}

/* Return: the case failed. */
static bool case_run(struct conf *c, const struct one_case *one)
{
	char text[256];

	emu_device_bus_master(c->dev, true);
	emu_device_reset(c->dev);
	memset(c->host, 0, c->host_dirty);
	c->host_used = 0;
	c->host_dirty = 0;
	c->failure[0] = '\0';
	__atomic_store_n(&c->interrupts, 0, __ATOMIC_RELAXED);
	c->complaints = emu_device_complaints(c->dev, EMU_COMPLAINT_NONE);
	one->run(c, one->row);
	conf_quiesce(c);
	if (!c->failure[0] && emu_device_complaints(c->dev, EMU_COMPLAINT_NONE) != c->complaints) {
		emu_device_complaint_text(c->dev, text, sizeof(text));
		conf_fail(c, "the device counted a mistake: %s", text);
	}
	if (c->failure[0])
		printf("not ok - %s [%s]: %s\n", one->name, c->p->arch, c->failure);
	else
		printf("ok - %s [%s]\n", one->name, c->p->arch);
	fflush(stdout);
	return c->failure[0] != '\0';
}

static bool selected(const struct one_case *one, const struct conf_product *product,
		     const char *only)
{
	char name[200], pattern[200];

	if (!(one->products & product->bit))
		return false;
	if (!only)
		return true;
	snprintf(name, sizeof(name), "%s [%s]", one->name, product->arch);
	snprintf(pattern, sizeof(pattern), "*%s*", only);
	return strstr(name, only) || !fnmatch(pattern, name, 0);
}

/* Return: cases failed; *ran counts all. */
static unsigned int product_run(const struct conf_product *product, const struct conf_list *list,
				const char *only, bool names, unsigned int *ran)
{
	const struct emu_config config = { .size = sizeof(config), .arch = product->arch };
	struct conf c = { .p = product };
	unsigned int failed = 0;
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (!selected(&list->at[i], product, only))
			continue;
		++*ran;
		if (names) {
			printf("%s [%s]\n", list->at[i].name, product->arch);
			continue;
		}
		if (!c.inproc && !conf_open(&c, &config)) {
			printf("not ok - device [%s]: %s\n", product->arch, c.failure);
			conf_close(&c);
			return failed + 1;
		}
		failed += case_run(&c, &list->at[i]);
	}
	conf_close(&c);
	return failed;
}

static bool product_known(const char *arch)
{
	size_t i;

	for (i = 0; i < COUNT(conf_products); i++)
		if (!strcmp(arch, conf_products[i].arch))
			return true;
	return false;
}

static void usage(FILE *to)
{
	fputs("usage: conformance [--list] [--only PATTERN] [--product trn1|inf2|trn2]\n"
	      "\n"
	      "One case for each row of the hardware facts, against the device model in process.\n"
	      "  --list     print the names of the cases\n"
	      "  --only     cases whose name contains PATTERN (* and ? match as in the shell)\n"
	      "  --product  one product instead of all\n",
	      to);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "list", no_argument, NULL, 'l' },
		{ "only", required_argument, NULL, 'o' },
		{ "product", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *only = NULL, *arch = NULL;
	struct conf_list list = { 0 };
	unsigned int failed = 0, ran = 0;
	bool names = false, good;
	size_t i;
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'l')
			names = true;
		else if (option == 'o')
			only = optarg;
		else if (option == 'p')
			arch = optarg;
		else if (option == 'h')
			return usage(stdout), 0;
		else
			return usage(stderr), 2;
	}
	if (arch && !product_known(arch)) {
		fprintf(stderr, "conformance: no product is called %s; trn1, inf2 or trn2\n", arch);
		return 2;
	}
	for (i = 0; i < COUNT(pages); i++)
		pages[i](&list);
	good = names_differ(&list);
	for (i = 0; i < COUNT(conf_products); i++)
		if (!arch || !strcmp(arch, conf_products[i].arch))
			failed += product_run(&conf_products[i], &list, only, names, &ran);
	free(list.at);
	if (!ran)
		fprintf(stderr, "conformance: no case has %s in its name\n",
			only ? only : "anything");
	return failed || !ran || !good;
}
