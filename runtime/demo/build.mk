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
