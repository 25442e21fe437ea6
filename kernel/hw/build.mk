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
HW_TEST_STUB := $(B)/tests/unit/hw_stub.o
HW_TEST_BIN := $(HW_STUB_TESTS:%=$(B)/tests/unit/test_hw_%)
UNIT_TESTS += $(HW_TEST_BIN)

CHECK_LIBS ?= $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)

$(B)/tests/unit/hw_%.o $(B)/tests/unit/test_hw_%.o: CPPFLAGS := -Ikernel/hw/user $(CPPFLAGS)

$(B)/tests/unit/hw_%.o: tests/unit/hw_%.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/tests/unit/test_hw_%.o: tests/unit/test_hw_%.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(HW_STUB_TESTS:%=$(B)/tests/unit/test_hw_%): $(B)/tests/unit/test_hw_%: \
		$(B)/tests/unit/test_hw_%.o $(HW_TEST_STUB) $(TRNHW_LIB)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) -lpthread

-include $(TRNHW_OBJ:.o=.d) $(HW_TEST_STUB:.o=.d) $(HW_TEST_BIN:%=%.d)
