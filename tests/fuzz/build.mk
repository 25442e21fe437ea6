# SPDX-License-Identifier: BSD-2-Clause
#
# Fuzz targets. Each is linked twice:
#   build/fuzz/NAME              libFuzzer, AddressSanitizer, UBSan; clang; by "make check-fuzz"
#   $(B)/tests/fuzz/replay_NAME  runs the files of the target's corpus, a unit test; under
#                                ThreadSanitizer also inputs made from them, by "make check-fuzz"
# Documentation/fuzzing.md is the manual.

FUZZ := tests/fuzz
FUZZ_DEVICE_TARGETS := registers rings fwio submit link
FUZZ_TARGETS := $(FUZZ_DEVICE_TARGETS) insns simd tnx check answers config
FUZZ_MUTATED := insns tnx
FUZZ_CC ?= clang
FUZZ_B := build/fuzz

# What a target tests: its sources for libFuzzer, its library for the replay.
FUZZ_TNX_SRCS := $(sort $(wildcard runtime/src/builder*.c)) $(addprefix runtime/src/,error.c tnx.c tnx_crc.c tnx_parse.c)
FUZZ_IDENTITY := runtime/src/backend_emu/identity
$(foreach t,$(FUZZ_DEVICE_TARGETS),$(eval FUZZ_SRCS_$t := $(FUZZ)/device.c tests/unit/emu_rig_map.c $(EMU_SRCS)))
$(foreach t,$(FUZZ_DEVICE_TARGETS),$(eval REPLAY_LIB_$t := $(B)/$(FUZZ)/device.o $(B)/tests/unit/emu_rig_map.o $(EMU_LIB)))
FUZZ_SRCS_insns := $(EMU_CORE_SRCS)
REPLAY_LIB_insns := $(EMU_CORE_SRCS:%.c=$(B)/%.o)
FUZZ_SRCS_simd := $(EMU_CORE_SRCS)
REPLAY_LIB_simd := $(REPLAY_LIB_insns)
FUZZ_SRCS_tnx := $(FUZZ_TNX_SRCS)
REPLAY_LIB_tnx := $(FUZZ_TNX_SRCS:%.c=$(B)/%.o)
FUZZ_SRCS_check := $(TRNHW_SRCS)
REPLAY_LIB_check := $(TRNHW_LIB)
FUZZ_SRCS_answers := $(TRNHW_SRCS)
REPLAY_LIB_answers := $(TRNHW_LIB)
FUZZ_SRCS_config := $(FUZZ_IDENTITY).c
REPLAY_LIB_config := $(B)/$(FUZZ_IDENTITY).o

FUZZ_INCLUDE = $(if $(filter kernel/hw/% %/fuzz_check.c %/fuzz_answers.c,$1),$(TRNHW_CPPFLAGS)) \
	$(if $(filter runtime/% %tnx.c,$1),-Iruntime/src) $(if $(filter tests/emulator/%,$1),-I$(EMU))

# libFuzzer. Coverage leaves out the worker's loops and the random generators: how often they turn
# says nothing about an input. Mappings of the model get guard pages.
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FUZZ_CFLAGS := -O1 -g -std=gnu11 $(WARNFLAGS) -Wno-unused-parameter -fno-strict-aliasing \
	-ffp-contract=off $(FUZZ_SAN)
FUZZ_COVER = $(if $(filter tests/emulator/worker.c tests/emulator/rng.c $(FUZZ)/fuzz.c $(FUZZ)/device.c tests/unit/emu_rig_map.c $(FUZZ)/guard.c,$1),,-fsanitize=fuzzer-no-link)
FUZZ_GUARD = $(if $(filter tests/emulator/%,$1),-Dmmap=fuzz_mmap -Dmunmap=fuzz_munmap -Dmadvise=fuzz_madvise)

FUZZ_BINS := $(FUZZ_TARGETS:%=$(FUZZ_B)/%)
FUZZ_OBJS :=

$(FUZZ_B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $@
	$(Q)$(FUZZ_CC) $(call FUZZ_INCLUDE,$<) $(CPPFLAGS) $(FUZZ_CFLAGS) $(call FUZZ_COVER,$<) \
		$(call FUZZ_GUARD,$<) -MMD -MP -c -o $@ $<

define fuzz_target
FUZZ_OBJS_$1 := $$(patsubst %.c,$(FUZZ_B)/obj/%.o,$(FUZZ)/fuzz_$1.c $(FUZZ)/fuzz.c $(FUZZ)/guard.c \
	$(if $(filter $1,$(FUZZ_MUTATED)),$(FUZZ)/mutate_$1.c) $$(FUZZ_SRCS_$1))
FUZZ_OBJS += $$(FUZZ_OBJS_$1)

$(FUZZ_B)/$1: $$(FUZZ_OBJS_$1)
	$$(say) LD $$@
	$$(Q)$$(FUZZ_CC) $$(FUZZ_SAN) -fsanitize=fuzzer -o $$@ $$^ -lpthread -lm

$(B)/$(FUZZ)/replay_$1: $(B)/$(FUZZ)/fuzz_$1.o $(B)/$(FUZZ)/fuzz.o $(B)/$(FUZZ)/replay.o $$(REPLAY_LIB_$1)
	$$(say) LD $$@
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ -lpthread -lm
endef
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz_target,$t)))

.PHONY: fuzzers
fuzzers: $(FUZZ_BINS)

check-fuzz:
	$(Q)scripts/deps build check
	$(Q)mkdir -p $(CHECK_LOGS)
	$(Q)$(MAKE) --no-print-directory run-fuzz

# A part of "make check" is a minute of all targets, two at a time.
FUZZ_TSAN_BINS := $(FUZZ_DEVICE_TARGETS:%=build/tsan/$(FUZZ)/replay_%)
FUZZ_SMOKE_SECONDS := $(shell expr 120 / $(words $(FUZZ_TARGETS) $(FUZZ_TSAN_BINS)))

.PHONY: run-fuzz run-smoke
run-smoke:
	$(Q)$(MAKE) --no-print-directory run-fuzz FUZZ_SECONDS=$(FUZZ_SMOKE_SECONDS)

run-fuzz:
	$(Q)$(MAKE) --no-print-directory fuzzers
	$(Q)$(MAKE) --no-print-directory B=build/tsan SANITIZE=thread $(FUZZ_TSAN_BINS)
	$(Q)TSAN_OPTIONS="halt_on_error=1 exitcode=66 suppressions=$(FUZZ)/tsan.supp" \
		tests/run --label fuzz --jobs 2 --timeout $$(($(FUZZ_SECONDS) + 300)) --log-dir $(CHECK_LOGS) \
		--result $(CHECK_LOGS)/smoke.result \
		$(foreach t,$(FUZZ_TARGETS),"$(FUZZ)/run --seconds $(FUZZ_SECONDS) $t") \
		$(foreach t,$(FUZZ_TSAN_BINS),"$t --seconds $(FUZZ_SECONDS)")

# Replay.
REPLAY_BINS := $(FUZZ_TARGETS:%=$(B)/$(FUZZ)/replay_%)
REPLAY_OBJS := $(FUZZ_TARGETS:%=$(B)/$(FUZZ)/fuzz_%.o) $(addprefix $(B)/$(FUZZ)/,device.o fuzz.o replay.o)
UNIT_TESTS += $(REPLAY_BINS)

$(REPLAY_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(call FUZZ_INCLUDE,$<) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(REPLAY_OBJS:.o=.d) $(sort $(FUZZ_OBJS:.o=.d))
