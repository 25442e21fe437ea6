/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to kernel/hw: byte order of memory shared with the device, waits, checked register reads.
 */
#ifndef TRNHW_INTERNAL_H
#define TRNHW_INTERNAL_H

#include <linux/compiler.h>
#include <linux/errno.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#include "trnhw.h"

/*
 * The wire structures of include/trainium/ hold little-endian values in plain integers, because the
 * same headers serve the device model. These four are the only places that cross the boundary.
 */
static inline u32 trnhw_to_wire32(u32 value)
{
	return (__force u32)cpu_to_le32(value);
}

static inline u64 trnhw_to_wire64(u64 value)
{
	return (__force u64)cpu_to_le64(value);
}

static inline u32 trnhw_from_wire32(u32 value)
{
	return le32_to_cpu((__force __le32)value);
}

static inline u64 trnhw_from_wire64(u64 value)
{
	return le64_to_cpu((__force __le64)value);
}

static inline bool trnhw_stopping(const struct trnhw *hw)
{
	return READ_ONCE(hw->stopping);
}

/** trnhw_pause() - sleep @ms, in slices. Return: 0, -ENODEV after trnhw_stop(). */
int trnhw_pause(const struct trnhw *hw, unsigned int ms);
/** trnhw_misc_write() - one word of MISC RAM. */
void trnhw_misc_write(const struct trnhw *hw, u32 reg, u32 value);
/**
 * trnhw_misc_read() - one word of MISC RAM, retried every millisecond for 15 s while the firmware
 * is not ready; sleeps. Return: 0, -ETIMEDOUT, -ENODEV.
 */
int trnhw_misc_read(const struct trnhw *hw, u32 reg, u32 *value);

int trnhw_fwio_init(struct trnhw *hw);
void trnhw_fwio_fini(struct trnhw *hw);

/** trnhw_torus_neighbours() - @links: by device index in a 4 x 4 torus. 0: no whole torus. */
unsigned int trnhw_torus_neighbours(const u8 links[][TRN_TORUS_LINKS], u32 index, u32 total,
				    u32 *neighbours);

extern const struct trnhw_arch trnhw_arch_trn1;
extern const struct trnhw_arch trnhw_arch_inf2;
extern const struct trnhw_arch trnhw_arch_trn2;

#endif /* TRNHW_INTERNAL_H */
