# SPDX-License-Identifier: BSD-2-Clause
#
# The `trn` command: build/bin/trn; it finds libtrn.so.0 in ../lib, in the build tree and installed.

TOOL_SRCS := $(addprefix runtime/tool/,cmd_doctor.c cmd_info.c cmd_ls.c cmd_run.c cmd_test.c describe.c \
	files.c health_memory.c health_run.c json.c main.c options.c probe.c text.c \
	topology.c)
TOOL_OBJS := $(TOOL_SRCS:%.c=$(B)/%.o)
TOOL_LIBS := -ldl -lm

$(TOOL_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/bin/trn: $(TOOL_OBJS) $(RT_SO)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(TOOL_OBJS) -L$(B)/lib -ltrn '-Wl,-rpath,$$ORIGIN/../lib' $(TOOL_LIBS)

all: $(B)/bin/trn

.PHONY: install-tool
install: install-tool
install-tool: $(B)/bin/trn
	$(Q)install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/man/man3
	$(Q)install -m 755 $(B)/bin/trn $(DESTDIR)$(PREFIX)/bin/
	$(Q)install -m 644 Documentation/man/trn.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	$(Q)install -m 644 Documentation/man/libtrn.3 $(DESTDIR)$(PREFIX)/share/man/man3/

# Its tests run the command of the same build.
TOOL_TEST := $(B)/tests/unit/test_tool
UNIT_TESTS += $(TOOL_TEST)

$(TOOL_TEST).o: $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(TOOL_TEST): %: %.o $(RT_A) | $(B)/bin/trn
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(RT_LIBS)

-include $(TOOL_OBJS:.o=.d) $(TOOL_TEST).d
