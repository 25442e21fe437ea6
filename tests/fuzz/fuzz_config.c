// SPDX-License-Identifier: BSD-2-Clause
/*
 * Configuration space: the in-process backend's search for the open extension, on any image of
 * 4 KiB. An input is a list of words and where they are, on top of what the model presents.
 */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "runtime/src/backend_emu/identity.h"
#include "trainium/ext.h"
#include "trainium/regs.h"

#define WORDS_MAX 200
#define FIRST	  0x100u

static void word_put(uint8_t *config, uint32_t at, uint32_t value)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		config[at + i] = (uint8_t)(value >> (8 * i));
}

static uint32_t word_get(const uint8_t *config, uint32_t at)
{
	return config[at] | config[at + 1] << 8 | config[at + 2] << 16 |
	       (uint32_t)config[at + 3] << 24;
}

/* A capability; where it is and what follows it come from the input. */
static void capability(struct fuzz_input *in, uint8_t *config)
{
	uint32_t at = fuzz_u16(in) % (TRN_EMU_CONFIG_BYTES - 0x20), next = fuzz_u16(in) & 0xfff;
	uint8_t what = fuzz_u8(in);

	if (what & 0x80)
		at = FIRST;
	word_put(config, at, (what & 1 ? fuzz_u16(in) : 0x000bu) | 1u << 16 | next << 20);
	word_put(config, at + 4,
		 (what & 2 ? fuzz_u16(in) : TRN_VSEC_ID) | TRN_VSEC_REVISION << 16 |
			 (what & 4 ? fuzz_u16(in) & 0xfffu : TRN_VSEC_LENGTH) << 20);
	word_put(config, at + TRN_VSEC_FEATURES, fuzz_u32(in));
	word_put(config, at + TRN_VSEC_BAR, what & 8 ? fuzz_u32(in) : TRN_EXT_BAR);
	word_put(config, at + TRN_VSEC_BAR_OFFSET, what & 16 ? fuzz_u32(in) : 0);
	word_put(config, at + TRN_VSEC_VECTORS, fuzz_u8(in));
}

/* What was found is there: some capability has the identifier and these values. */
static void check_found(const uint8_t *config, const struct trn_emu_identity *id)
{
	uint32_t at;

	for (at = FIRST; at + TRN_VSEC_LENGTH <= TRN_EMU_CONFIG_BYTES; at += 4)
		if ((word_get(config, at) & 0xffff) == 0x000b &&
		    (word_get(config, at + 4) & 0xffff) == TRN_VSEC_ID &&
		    word_get(config, at + TRN_VSEC_FEATURES) == id->features &&
		    word_get(config, at + TRN_VSEC_VECTORS) == id->vectors &&
		    (!id->ext || (word_get(config, at + TRN_VSEC_BAR) == TRN_EXT_BAR &&
				  !word_get(config, at + TRN_VSEC_BAR_OFFSET))))
			return;
	fuzz_fail("features %x with %u vectors are nowhere in the image", id->features,
		  id->vectors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct trn_emu_identity id, again;
	/* On the heap, so that a read outside is seen. */
	uint8_t *config = calloc(1, TRN_EMU_CONFIG_BYTES);
	unsigned int i;

	FUZZ_CHECK(config, "no memory");
	for (i = 0; in.left && i < WORDS_MAX; i++) {
		if (fuzz_u8(&in) & 1)
			capability(&in, config);
		else
			word_put(config, fuzz_u16(&in) % (TRN_EMU_CONFIG_BYTES - 3), fuzz_u32(&in));
	}
	memset(&id, 0xff, sizeof(id));
	memset(&again, 0, sizeof(again));
	trn_emu_identify(config, &id);
	trn_emu_identify(config, &again);
	FUZZ_CHECK(id.device == (config[2] | config[3] << 8), "device %x", id.device);
	FUZZ_CHECK(id.features == again.features && id.vectors == again.vectors &&
			   id.ext == again.ext,
		   "not the same twice");
	if (id.ext || id.features || id.vectors)
		check_found(config, &id);
	free(config);
	return 0;
}
