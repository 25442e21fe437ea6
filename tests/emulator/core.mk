# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Emulated NeuronCore: its sources, its unit tests and its benchmark. Included by build.mk.

EMU_CORE_SRCS := $(addprefix tests/emulator/,\
	core.c core_sync.c insn_table.c insn_decode.c operand.c control.c \
	numeric.c numeric_row.c rng.c alu.c simd.c simd_base.c simd_avx2.c simd_avx512.c \
	engine_pe.c engine_rng.c engine_act.c engine_pool.c act_func.c accumulator.c \
	elementwise.c select.c reduce.c search.c shuffle.c xfer.c mx.c)
