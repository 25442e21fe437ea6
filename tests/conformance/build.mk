# SPDX-License-Identifier: BSD-2-Clause
#
# Conformance suite of the device model: one case for each row of the hardware facts, by registers alone, with addresses and values of its own (no
# include/trainium/).

CONF := tests/conformance
CONF_SRCS := $(addprefix $(CONF)/, \
	main.c check.c map.c rig.c trace.c fwio.c \
	readme.c pci.c address_map.c udma_registers.c udma_queue.c udma_errors.c udma_traces.c udma_rings.c udma_copies.c \
	misc_ram.c firmware.c reset.c cores.c notific.c topology.c links.c vendor.c)
CONF_OBJS := $(CONF_SRCS:%.c=$(B)/%.o)
CONF_BIN := $(B)/tests/conformance/conformance

$(CONF_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -I. $(CFLAGS) -D_GNU_SOURCE -MMD -MP -c -o $@ $<

$(CONF_BIN): $(CONF_OBJS) $(EMU_LIB)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lpthread -lm

UNIT_TESTS += $(CONF_BIN)

-include $(CONF_OBJS:.o=.d)

.PHONY: conformance conformance-table
conformance: $(CONF_BIN)
	$(Q)$(CONF_BIN) $(if $(PRODUCT),--product $(PRODUCT)) $(if $(ONLY),--only "$(ONLY)")

# Documentation/conformance.md from the names of the cases; TRN_FACTS=folder checks the sections
# against the pages.
conformance-table: $(CONF_BIN)
	$(Q)tests/conformance/table --binary $(CONF_BIN)
