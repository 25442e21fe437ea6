# SPDX-License-Identifier: BSD-2-Clause
# The demo: build/bin/trn-demo.

DEMO_SRCS := $(addprefix runtime/demo/,\
	fail.c generate.c main.c model.c options.c plot.c ranks.c reference.c text.c train.c verify.c)
DEMO_OBJS := $(DEMO_SRCS:%.c=$(B)/%.o)

$(DEMO_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# The library is linked statically: the program is copied into guests by itself.
$(B)/bin/trn-demo: $(DEMO_OBJS) $(RT_A)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(RT_LIBS)

all: $(B)/bin/trn-demo

-include $(DEMO_OBJS:.o=.d)

# Tests: the model on an emulated core alone; the parts and the program as started by a user.
DEMO_TEST_BIN := $(B)/tests/unit/test_demo $(B)/tests/unit/test_demo_model
DEMO_TEST_OBJS := $(DEMO_TEST_BIN:=.o)
UNIT_TESTS += $(DEMO_TEST_BIN)

$(DEMO_TEST_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) -I$(RT) -Itests/unit $(CFLAGS) -MMD -MP -c -o $@ $<

$(B)/tests/unit/test_demo: $(B)/tests/unit/test_demo.o $(filter-out %/main.o,$(DEMO_OBJS)) $(RT_A) | $(B)/bin/trn-demo
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(RT_LIBS)

$(B)/tests/unit/test_demo_model: $(B)/tests/unit/test_demo_model.o $(B)/tests/unit/program_rig.o \
		$(B)/runtime/demo/model.o $(B)/runtime/demo/reference.o $(RT_A)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(RT_LIBS)

-include $(DEMO_TEST_OBJS:.o=.d)
