# SPDX-License-Identifier: BSD-2-Clause
# Hardware layer compiled for user space: build/lib/libtrnhw.a, and the same under sanitizers for
# the unit tests. The module compiles the same files through kernel/Kbuild.

include kernel/hw/hw.mk

TRNHW_SRCS := $(patsubst %,kernel/hw/%.c,$(TRNHW_NAMES)) $(wildcard kernel/hw/user/*.c)
TRNHW_CPPFLAGS := -Ikernel/hw/user -Ikernel/hw
TRNHW_LIB := $(B)/lib/libtrnhw.a
TRNHW_OBJ := $(TRNHW_SRCS:kernel/hw/%.c=$(B)/kernel/hw/user/%.o)

# -Wno-unused-parameter, as in the kernel: a generation's callback may not need its argument.
$(TRNHW_OBJ): $(B)/kernel/hw/user/%.o: kernel/hw/%.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(TRNHW_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter -fPIC \
		-fvisibility=hidden -MMD -MP -c -o $@ $<

$(TRNHW_LIB): $(TRNHW_OBJ)
	@mkdir -p $(@D)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^


# Tests: those of HW_STUB_TESTS run against a recording stub, those of HW_MODEL_TESTS against the
# device model.
HW_STUB_TESTS := arch check copyq core fwio registers reset shim topology udma
HW_MODEL_TESTS := device dma run
HW_STUB_BIN := $(HW_STUB_TESTS:%=$(B)/tests/unit/test_hw_%)
HW_MODEL_BIN := $(HW_MODEL_TESTS:%=$(B)/tests/unit/test_hw_%)
HW_TEST_OBJ := $(HW_STUB_BIN:=.o) $(HW_MODEL_BIN:=.o) $(B)/tests/unit/hw_stub.o \
	$(B)/tests/unit/hw_model.o
UNIT_TESTS += $(HW_STUB_BIN) $(HW_MODEL_BIN)
# Not "device": a mailbox request given up on is overwritten while a silent firmware may still read
# it. That race is part of the protocol; the request's CRC is what protects from it.
TSAN_TESTS += $(B)/tests/unit/test_hw_dma $(B)/tests/unit/test_hw_run

HW_CHECK_LIBS := $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)

$(HW_TEST_OBJ): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(TRNHW_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(HW_STUB_BIN): %: %.o $(B)/tests/unit/hw_stub.o $(TRNHW_LIB)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(HW_CHECK_LIBS) -lpthread

$(HW_MODEL_BIN): %: %.o $(B)/tests/unit/hw_stub.o $(B)/tests/unit/hw_model.o $(TRNHW_LIB) $(EMU_LIB)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(HW_CHECK_LIBS) -lpthread -lm

-include $(TRNHW_OBJ:.o=.d) $(HW_TEST_OBJ:.o=.d)
