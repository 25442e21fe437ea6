/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hardware layer on the device model, in process: the fixture of tests that need a device which
 * answers.
 */
#ifndef HW_MODEL_H
#define HW_MODEL_H

#include "tests/emulator/emu.h"
#include "tests/emulator/inproc.h"
#include "tests/unit/hw_stub.h"

#define HW_MODEL_WAIT_S 20

/** struct hw_model - a model and the hardware layer on it; @interrupts: by vector. */
struct hw_model {
	struct emu_inproc *inproc;
	struct emu_device *device;
	struct device *dev;
	struct trnhw hw;
	unsigned int interrupts[1 + 2 * TRN_MAX_CORES];
	int alloc_live;
	char log[TRNHW_USER_LOG_BYTES];
};

/** struct hw_buffer - host memory the device reaches. */
struct hw_buffer {
	u8 *ptr;
	size_t size;
	u64 bus;
	u64 address; /* device address */
};

/** hw_model_create() - trnhw_init() done; no reset yet. @disable: TRN_FEATURE_* to leave out. */
struct hw_model *hw_model_create(const char *arch, u32 disable);
/** hw_model_start() - a device of hw_model_arch, reset and DMA engines initialised. */
struct hw_model *hw_model_start(void);
/** hw_model_arch - which product hw_model_start() makes; a fixture sets it. */
extern const char *hw_model_arch;
/** hw_model_cores() - mask of all cores. */
u32 hw_model_cores(const struct hw_model *m);
/** hw_model_suite() - adds a case of the same tests for each generation. @setup may be NULL. */
void hw_model_suite(Suite *suite, const char *name, void (*add)(TCase *tc), void (*setup)(void),
		    void (*teardown)(void));
/** hw_model_destroy() - fails the test when the device had more or fewer complaints. */
void hw_model_destroy(struct hw_model *m, u64 complaints);
void hw_model_fault(struct hw_model *m, const char *name, u64 value);
/** hw_model_fast() - time of this thread runs a hundred times faster, for long time-outs. */
void hw_model_fast(bool on);

struct hw_buffer hw_buffer_alloc(struct hw_model *m, size_t size);
void hw_buffer_free(struct hw_model *m, struct hw_buffer *b);

/** hw_copy_wait() - waits for a batch; fails the test when it does not come. */
void hw_copy_wait(struct trnhw_copyq *q, u64 batch);
/** hw_copy() - one transfer of any size, waited for. */
void hw_copy(struct trnhw_copyq *q, u64 dst, u64 src, size_t size);
/** hw_core_wait() - next RUN_END; other entries are dropped. */
void hw_core_wait(struct trnhw_core *core, struct trn_notification *entry);

#endif /* HW_MODEL_H */
