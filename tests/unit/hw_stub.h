/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Recording device for tests of the hardware layer: registers are plain storage, every access is
 * written down, time is a number the test reads and the code under test advances by sleeping.
 */
#ifndef HW_STUB_H
#define HW_STUB_H

#include <errno.h>

#include <check.h>

#include "kernel/hw/trnhw.h"
#include "kernel/hw/user/trnhw_user.h"

#define HW_STUB_TRACE_MAX 65536u
#define HW_STUB_MISC	  0x30fa0000u
#define HW_STUB_MISC_V3	  0x06c84000u

/** struct hw_access - one register access. */
struct hw_access {
	bool write;
	unsigned int bar;
	u32 offset;
	u32 value;
	s64 time_ns;
};

struct hw_stub_register {
	u64 key; /* bar and offset, plus 1; 0: free */
	u32 value;
};

/**
 * struct hw_stub - the device and what happened to it.
 * @on_read: may replace the value of a read
 * @on_write: called after a write was stored
 * @on_sleep: called after time advanced, to play the device
 * @gone: all reads are all ones
 * @bus_next: bus address of the next allocation
 * @alloc_fail: n: the n-th allocation from now fails
 * @alloc_live: allocations not freed
 * @log: last message
 */
struct hw_stub {
	struct device *dev;
	struct trnhw hw;
	struct hw_access *trace;
	unsigned int trace_count;
	struct hw_stub_register *regs;
	s64 now_ns;
	void (*on_read)(struct hw_stub *stub, u32 offset, u32 *value);
	void (*on_write)(struct hw_stub *stub, u32 offset, u32 value);
	void (*on_sleep)(struct hw_stub *stub);
	void *opaque;
	bool gone;
	u64 bus_next;
	unsigned int alloc_fail;
	int alloc_live;
	char log[TRNHW_USER_LOG_BYTES];
	unsigned int log_count;
	struct trnhw_user_clock clock;
};

/** hw_stub_create() - a device that identifies as routing id 0, nothing initialised. */
struct hw_stub *hw_stub_create(void);
/** hw_stub_init_as() - the same with trnhw_init() done for a PCI device id, extension present,
 * empty trace. */
struct hw_stub *hw_stub_init_as(u16 pci_device);
/** hw_stub_init() - the same for Trn1. */
struct hw_stub *hw_stub_init(void);
void hw_stub_destroy(struct hw_stub *stub);

void hw_stub_set(struct hw_stub *stub, unsigned int bar, u32 offset, u32 value);
u32 hw_stub_get(const struct hw_stub *stub, unsigned int bar, u32 offset);
void hw_stub_trace_clear(struct hw_stub *stub);
/** hw_stub_expect() - access number @index was this one. */
void hw_stub_expect(const struct hw_stub *stub, unsigned int index, bool write, u32 offset,
		    u32 value);
/** hw_stub_writes() - how often @offset of BAR0 was written. */
unsigned int hw_stub_writes(const struct hw_stub *stub, u32 offset);

/** hw_suite_run() - run a suite under the usual options; the value for main() to return. */
int hw_suite_run(Suite *suite);

#endif /* HW_STUB_H */
