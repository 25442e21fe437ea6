# SPDX-License-Identifier: BSD-2-Clause
# libtrn: program builder, container, loader and kernel library; and their tests.

RT_SRCS += $(addprefix $(RT)/,\
	builder.c builder_dma.c builder_finish.c builder_map.c builder_ops.c builder_sync.c builder_tile.c builder_view.c \
	program.c tnx.c tnx_crc.c tnx_parse.c)
RT_SRCS += $(addprefix $(RT)/kernels/, adam.c eltwise.c embedding.c kernel.c matmul.c rows.c)

# Those with a rig run programs on an emulated core alone; test_program uses the whole stack in process.
PROGRAM_TESTS := builder kernels program tnx
PROGRAM_TEST_BIN := $(PROGRAM_TESTS:%=$(B)/tests/unit/test_%)
PROGRAM_TEST_OBJS := $(PROGRAM_TEST_BIN:=.o) $(B)/tests/unit/program_rig.o
UNIT_TESTS += $(PROGRAM_TEST_BIN)
TSAN_TESTS += $(B)/tests/unit/test_builder $(B)/tests/unit/test_program

$(PROGRAM_TEST_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) -I$(RT) -Itests/unit $(CFLAGS) -MMD -MP -c -o $@ $<

$(PROGRAM_TEST_BIN): %: %.o $(B)/tests/unit/program_rig.o $(B)/tests/unit/rt_rig.o \
		$(B)/lib/libtrn.a
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(RT_LIBS)

-include $(PROGRAM_TEST_OBJS:.o=.d)

# Benchmark: the public API alone.
PROGRAM_BENCH := $(B)/bench/bench_program
BENCHES += $(PROGRAM_BENCH)

$(PROGRAM_BENCH): tests/bench/bench_program.c $(B)/lib/libtrn.a
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $^ $(RT_LIBS)

-include $(PROGRAM_BENCH:=.d)
