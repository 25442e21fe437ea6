# SPDX-License-Identifier: BSD-2-Clause
# libtrn: communicators; and their tests.

RT_SRCS += $(addprefix $(RT)/comm/,allreduce.c bootstrap.c bootstrap_root.c comm.c control.c fabric.c \
	fabric_load.c host.c operation.c schedule.c slot.c socket.c stream.c)
RT_LIBS += -ldl

COMM_TESTS := comm comm_device comm_schedule
COMM_TEST_BIN := $(COMM_TESTS:%=$(B)/tests/unit/test_%)
COMM_TEST_OBJS := $(COMM_TEST_BIN:=.o) $(B)/tests/unit/comm_rig.o
UNIT_TESTS += $(COMM_TEST_BIN)
TSAN_TESTS += $(B)/tests/unit/test_comm

$(COMM_TEST_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) -I$(RT) -Itests/unit $(CFLAGS) -MMD -MP -c -o $@ $<

$(COMM_TEST_BIN): %: %.o $(B)/tests/unit/comm_rig.o $(B)/lib/libtrn.a
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(RT_LIBS)

-include $(COMM_TEST_OBJS:.o=.d)
