// SPDX-License-Identifier: BSD-2-Clause
/*
 * Checks of the conformance suite. The first mismatch of a case is kept; waiting ends after
 * CONF_TIMEOUT_MS, which only ends what hangs.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "conformance.h"

uint64_t conf_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void pause_short(void)
{
	const struct timespec some = { .tv_nsec = 20000 };

	nanosleep(&some, NULL);
}

void conf_fail(struct conf *c, const char *format, ...)
{
	va_list args;

	if (c->failure[0])
		return;
	va_start(args, format);
	vsnprintf(c->failure, sizeof(c->failure), format, args);
	va_end(args);
}

/* "object: what" unless something failed before. */
static void fail_about(struct conf *c, const char *what, const char *format, va_list args)
{
	char object[200];

	vsnprintf(object, sizeof(object), format, args);
	conf_fail(c, "%s: %s", object, what);
}

static bool same(struct conf *c, uint64_t got, uint64_t want, const char *at, const char *format,
		 va_list args)
{
	char what[160];

	if (got == want)
		return true;
	snprintf(what, sizeof(what), "%sgot 0x%llx, expected 0x%llx", at, (unsigned long long)got,
		 (unsigned long long)want);
	fail_about(c, what, format, args);
	return false;
}

bool conf_is(struct conf *c, uint64_t got, uint64_t want, const char *format, ...)
{
	va_list args;
	bool good;

	va_start(args, format);
	good = same(c, got, want, "", format, args);
	va_end(args);
	return good;
}

bool conf_true(struct conf *c, bool holds, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!holds)
		fail_about(c, "does not hold", format, args);
	va_end(args);
	return holds;
}

uint32_t conf_read(struct conf *c, uint64_t bar0)
{
	return emu_device_read(c->dev, 0, bar0, 4);
}

void conf_write(struct conf *c, uint64_t bar0, uint32_t value)
{
	emu_device_write(c->dev, 0, bar0, value, 4);
}

static bool reg_check(struct conf *c, uint64_t bar0, uint32_t want, const char *format,
		      va_list args)
{
	char at[40];

	snprintf(at, sizeof(at), "BAR0 0x%llx ", (unsigned long long)bar0);
	return same(c, conf_read(c, bar0), want, at, format, args);
}

bool conf_reg(struct conf *c, uint64_t bar0, uint32_t want, const char *format, ...)
{
	va_list args;
	bool good;

	va_start(args, format);
	good = reg_check(c, bar0, want, format, args);
	va_end(args);
	return good;
}

bool conf_store(struct conf *c, uint64_t bar0, uint32_t value, const char *format, ...)
{
	va_list args;
	bool good;

	conf_write(c, bar0, value);
	va_start(args, format);
	good = reg_check(c, bar0, value, format, args);
	va_end(args);
	return good;
}

void conf_storage(struct conf *c, uint64_t bar0, uint32_t value, const char *format, ...)
{
	const uint32_t pattern[3] = { 0xa5c396f0, 0x5a3c690f, value };
	unsigned int i;
	va_list args;

	for (i = 0; i < COUNT(pattern); i++) {
		conf_write(c, bar0, pattern[i]);
		va_start(args, format);
		reg_check(c, bar0, pattern[i], format, args);
		va_end(args);
	}
}

void conf_read_only(struct conf *c, uint64_t bar0, const char *format, ...)
{
	uint32_t value = conf_read(c, bar0);
	va_list args;

	conf_write(c, bar0, ~value);
	va_start(args, format);
	reg_check(c, bar0, value, format, args);
	va_end(args);
	conf_complaint(c, EMU_COMPLAINT_READ_ONLY, 1);
}

bool conf_wait(struct conf *c, uint64_t bar0, uint32_t mask, uint32_t value, const char *format,
	       ...)
{
	uint64_t end = conf_now_ms() + CONF_TIMEOUT_MS;
	char at[64];
	va_list args;
	bool good;

	if (c->failure[0])
		return false;
	while ((conf_read(c, bar0) & mask) != value && conf_now_ms() < end)
		pause_short();
	snprintf(at, sizeof(at), "BAR0 0x%llx after %u ms ", (unsigned long long)bar0,
		 CONF_TIMEOUT_MS);
	va_start(args, format);
	good = same(c, conf_read(c, bar0) & mask, value, at, format, args);
	va_end(args);
	return good;
}

bool conf_wait_word(struct conf *c, const void *word, uint32_t value, const char *format, ...)
{
	uint64_t end = conf_now_ms() + CONF_TIMEOUT_MS;
	va_list args;
	bool good;

	if (c->failure[0])
		return false;
	while (__atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE) != value &&
	       conf_now_ms() < end)
		pause_short();
	va_start(args, format);
	good = same(c, __atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE), value,
		    "memory word ", format, args);
	va_end(args);
	return good;
}

void conf_quiesce(struct conf *c)
{
	if (emu_device_quiesce(c->dev, CONF_TIMEOUT_MS))
		conf_fail(c, "the device is still at work after %u ms", CONF_TIMEOUT_MS);
}

void conf_complaint(struct conf *c, enum emu_complaint kind, uint64_t count)
{
	uint64_t now = emu_device_complaints(c->dev, EMU_COMPLAINT_NONE) - c->complaints;
	char text[256];

	emu_device_complaint_text(c->dev, text, sizeof(text));
	if (now != count)
		conf_fail(c, "%llu mistakes counted, expected %llu of kind %s; the last: %s",
			  (unsigned long long)now, (unsigned long long)count,
			  emu_complaint_name(kind), text);
	else if (count && emu_device_complaints(c->dev, kind) < count)
		conf_fail(c, "the mistake counted is not of kind %s: %s", emu_complaint_name(kind),
			  text);
	c->complaints += now;
}

void conf_complaints_forgive(struct conf *c)
{
	conf_quiesce(c);
	c->complaints = emu_device_complaints(c->dev, EMU_COMPLAINT_NONE);
}
