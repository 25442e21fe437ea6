# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Emulated NeuronCore: its sources, its unit tests and its benchmark. Included by build.mk.

EMU_CORE_SRCS := $(addprefix tests/emulator/,\
	core.c core_sync.c core_time.c cost.c insn_table.c insn_decode.c operand.c control.c \
	numeric.c numeric_row.c rng.c alu.c simd.c simd_base.c simd_avx2.c simd_avx512.c simd_avx512vl.c \
	engine_pe.c engine_rng.c engine_act.c engine_pool.c act_func.c accumulator.c \
	elementwise.c select.c reduce.c search.c shuffle.c xfer.c mx.c)

# Results are defined bit by bit: no fused multiply-add, whatever CFLAGS the user gives.
$(EMU_CORE_SRCS:%.c=$(B)/%.o): override CFLAGS += -ffp-contract=off

# Unit tests link the core alone, without the device. Those with threads run under ThreadSanitizer too.
EMU_CORE_TESTS := numeric core_act core_control core_doc core_fault core_pe core_vector core_xfer
EMU_CORE_TSAN_TESTS := core_control
EMU_CORE_TEST_BINS := $(EMU_CORE_TESTS:%=$(B)/tests/unit/test_%)
EMU_CORE_TEST_HELPERS := $(B)/tests/unit/core_harness.o $(B)/tests/unit/core_fuzz.o
EMU_CORE_TEST_OBJS := $(EMU_CORE_TEST_BINS:=.o) $(EMU_CORE_TEST_HELPERS)

$(EMU_CORE_TEST_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) -Itests/emulator $(CFLAGS) -MMD -MP -c -o $@ $<

$(EMU_CORE_TEST_BINS): %: %.o $(EMU_CORE_TEST_HELPERS) $(EMU_CORE_SRCS:%.c=$(B)/%.o)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) -lpthread -lm

UNIT_TESTS += $(EMU_CORE_TEST_BINS)
TSAN_TESTS += $(EMU_CORE_TSAN_TESTS:%=$(B)/tests/unit/test_%)

-include $(EMU_CORE_TEST_OBJS:.o=.d)

# Needs libopenblas-dev; left out without it.
ifneq ($(wildcard /usr/include/cblas.h /usr/include/*/cblas.h),)
BENCHES += $(B)/bench/bench_matmul
$(B)/bench/bench_matmul: tests/bench/bench_matmul.c $(EMU_CORE_SRCS:%.c=$(B)/%.o)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $^ -lopenblas -lpthread -lm
-include $(B)/bench/bench_matmul.d
endif
