// SPDX-License-Identifier: BSD-2-Clause
/* "trn1,routing-id=3,hbm=1G": the product and its options. Locking: none needed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/emulator/product.h"

#include "emu.h"

#define OPTIONS_KNOWN                                                                   \
	"known: routing-id=N, hbm=BYTES with K, M or G (per stack), no-irq, no-cores, " \
	"no-windows, "                                                                  \
	"time=0|1, trace=FILE, trace-events=N, and faults on demand by name, e.g. irq-lost=N"

static int refuse(const char *spec, const char *option)
{
	trn_error_set(TRN_ERR_INVALID,
		      "device emu:%s: option \"%s\" is unknown or has a bad value; " OPTIONS_KNOWN,
		      spec, option);
	return -EINVAL;
}

/* A number with an optional K, M or G. */
static bool number_parse(const char *text, uint64_t *value)
{
	unsigned int shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	else if (*end == 'G' || *end == 'g')
		shift = 30;
	if (shift)
		end++;
	if (errno || *end || *value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}

/* A fault on demand, as the model calls it; the model knows which values it takes. */
static bool fault_option(struct trn_emu_options *options, const char *option)
{
	const char *name, *help;
	unsigned int i;
	size_t len;

	for (i = 0; (name = emu_fault_name(i, &help)); i++) {
		len = strlen(name);
		if (strncmp(option, name, len) || option[len] != '=')
			continue;
		if (options->faults == TRN_EMU_FAULTS ||
		    !number_parse(option + len + 1, &options->fault[options->faults].value))
			return false;
		options->fault[options->faults++].name = name;
		return true;
	}
	return false;
}

static bool option_set(struct trn_emu_options *options, const char *option)
{
	uint64_t value;

	if (!strcmp(option, "no-irq"))
		options->disable |= TRN_FEATURE_MSIX;
	else if (!strcmp(option, "no-cores"))
		options->disable |= TRN_FEATURE_CORES;
	else if (!strcmp(option, "no-windows"))
		options->disable |= TRN_FEATURE_WINDOWS;
	else if (!strncmp(option, "routing-id=", 11) && number_parse(option + 11, &value) &&
		 value < TRN_MAX_DEVICES)
		options->routing_id = value;
	else if (!strncmp(option, "hbm=", 4) && number_parse(option + 4, &value) && value)
		options->hbm = value;
	else if (!strncmp(option, "time=", 5) && number_parse(option + 5, &value) && value <= 1)
		options->time_mode = value;
	else if (!strncmp(option, "trace=", 6) && option[6])
		strcpy(options->trace, option + 6);
	else if (!strncmp(option, "trace-events=", 13) && number_parse(option + 13, &value) &&
		 value)
		options->trace_events = value;
	else
		return fault_option(options, option);
	return true;
}

/* Says which products there are. */
static int product_unknown(const char *spec, const char *name)
{
	const struct emu_product *product;
	char names[128] = "";
	size_t at = 0;
	unsigned int i;

	for (i = 0; (product = emu_product_at(i)) && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%semu:%s", i ? ", " : "",
				       product->arch);
	trn_error_set(TRN_ERR_NO_DEVICE,
		      "device emu:%s: there is no emulated product \"%s\"; there are %s", spec,
		      name, names);
	return -ENODEV;
}

int trn_emu_options_parse(const char *spec, struct trn_emu_options *options)
{
	char text[TRN_EMU_SPEC_BYTES], *at, *option;

	memset(options, 0, sizeof(*options));
	if (strlen(spec) >= sizeof(text)) {
		trn_error_set(TRN_ERR_INVALID,
			      "device emu:%.32s...: the name is longer than %zu characters", spec,
			      sizeof(text) - 1);
		return -EINVAL;
	}
	strcpy(text, spec);
	option = strtok_r(text, ",", &at);
	if (!option || strlen(option) >= sizeof(options->arch) || !emu_product_find(option))
		return product_unknown(spec, option ? option : "");
	strcpy(options->arch, option);
	while ((option = strtok_r(NULL, ",", &at)))
		if (!option_set(options, option))
			return refuse(spec, option);
	return 0;
}
