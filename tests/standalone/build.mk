# SPDX-License-Identifier: BSD-2-Clause
#
# A driver of 200 lines, written from the hardware facts alone, on the in-process device. Neither kernel/hw nor include/trainium is in its path.

STANDALONE_BIN := $(B)/tests/standalone/driver

$(STANDALONE_BIN): tests/standalone/driver.c $(EMU_LIB)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) -I. $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $^ -lpthread -lm

UNIT_TESTS += $(STANDALONE_BIN)

-include $(STANDALONE_BIN).d
