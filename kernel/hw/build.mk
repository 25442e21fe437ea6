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
	$(Q)$(CC) $(TRNHW_CPPFLAGS) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter -fPIC \
		-fvisibility=hidden -MMD -MP -c -o $@ $<

$(TRNHW_LIB): $(TRNHW_OBJ)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

-include $(TRNHW_OBJ:.o=.d)
