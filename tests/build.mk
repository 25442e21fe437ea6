# SPDX-License-Identifier: BSD-2-Clause
#
# Test, benchmark and lint targets. Fragments add to:
#   UNIT_TESTS    libcheck binaries, run under AddressSanitizer and UBSan
#   TSAN_TESTS    those of them with threads, run under ThreadSanitizer too
#   VM_TESTS      binaries that run in the guest
#   BENCHES       benchmark binaries

SYSTEM_TESTS := $(sort $(wildcard tests/system/test_*.sh))
CHECK_LOGS = build/check
DEMO_ARGS = $(if $(TEXT),--text $(TEXT)) $(if $(RANKS),--ranks $(RANKS)) $(if $(STEPS),--steps $(STEPS))
KERNELS ?= 6.1 6.12
FUZZ_SECONDS ?= 60

include tests/conformance/build.mk
include tests/standalone/build.mk
include tests/fuzz/build.mk

# Also for libraries of tests beside them, whoever compiles these.
$(B)/tests/unit/%.o: CPPFLAGS += -include tests/unit/check_points.h

.PHONY: unit-tests vm-tests deps-demo deps-check demo demo-vm check check-unit check-vm check-kasan \
	check-fuzz bench lint qemu run-asan run-tsan run-system run-vm

unit-tests: $(UNIT_TESTS)
vm-tests: $(VM_TESTS)

deps-demo:
	$(Q)scripts/deps demo
deps-check:
	$(Q)scripts/deps build demo check vm

# A second make, so that what the dependencies brought (pkg-config results) is seen.
demo: deps-demo
	$(Q)$(MAKE) --no-print-directory all
	$(Q)TRN_DEVICE=$${TRN_DEVICE:-emu:trn1} $(B)/bin/trn-demo $(DEMO_ARGS)

demo-vm:
	$(Q)scripts/deps build demo vm
	$(Q)$(MAKE) --no-print-directory all vm-guest
	$(Q)tests/vm/demo --kernel $(or $(KERNEL),6.12) $(if $(TEXT),--text $(TEXT)) \
		$(if $(RANKS),--ranks $(RANKS)) $(if $(STEPS),--steps $(STEPS))

# What the guest image takes: the module for each kernel and the programs.
.PHONY: vm-guest
vm-guest: all vm-tests
	$(Q)scripts/qemu-build >/dev/null
	$(Q)for k in $(KERNELS); do \
		$(MAKE) --no-print-directory module KDIR="$$(scripts/kernel-fetch --kdir $$k)" || exit 1; done

# Parts leave their sums in build/check/*.result; a part that fails does not hide the others.
check: CHECK_PARTS := asan tsan smoke system vm
check-unit: CHECK_PARTS := asan tsan system
check check-unit: deps-check
	$(Q)rm -rf $(CHECK_LOGS) && mkdir -p $(CHECK_LOGS)
	$(Q)$(MAKE) --no-print-directory all
	$(Q)for part in $(CHECK_PARTS); do $(MAKE) --no-print-directory run-$$part || true; done
	$(Q)tests/run --total $(CHECK_PARTS:%=$(CHECK_LOGS)/%.result)

check-vm: deps-check
	$(Q)mkdir -p $(CHECK_LOGS)
	$(Q)$(MAKE) --no-print-directory run-vm

run-asan:
	$(Q)$(MAKE) --no-print-directory B=build/asan SANITIZE=address,undefined unit-tests
	$(Q)ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 tests/run --label asan --jobs 2 --result $(CHECK_LOGS)/asan.result \
		--log-dir $(CHECK_LOGS) $(patsubst $(B)/%,build/asan/%,$(UNIT_TESTS))

run-tsan:
	$(Q)$(MAKE) --no-print-directory B=build/tsan SANITIZE=thread $(patsubst $(B)/%,build/tsan/%,$(TSAN_TESTS))
	$(Q)TSAN_OPTIONS=halt_on_error=0:exitcode=66 tests/run --label tsan --jobs 2 --result $(CHECK_LOGS)/tsan.result \
		--log-dir $(CHECK_LOGS) $(patsubst $(B)/%,build/tsan/%,$(TSAN_TESTS))

run-system: all $(CONF_BIN)
	$(Q)scripts/qemu-build >/dev/null
	$(Q)tests/run --label system --result $(CHECK_LOGS)/system.result --log-dir $(CHECK_LOGS) \
		$(SYSTEM_TESTS)

run-vm:
	$(Q)$(MAKE) --no-print-directory vm-guest
	$(Q)tests/run --label vm --timeout 2700 --jobs 2 --result $(CHECK_LOGS)/vm.result --log-dir $(CHECK_LOGS) \
		$(foreach k,$(KERNELS),"tests/vm/suite --kernel $(k)") "tests/vm/machines --kernel $(lastword $(KERNELS))" "tests/vm/removal --kernel $(lastword $(KERNELS))"

check-kasan:
	$(Q)scripts/deps build demo check vm kasan
	$(Q)$(MAKE) --no-print-directory all vm-tests
	$(Q)tests/vm/kasan

bench: $(BENCHES)
	$(Q)mkdir -p build/bench
	$(Q)for b in $(BENCHES); do echo "== $${b##*/}"; $$b --json build/bench/$${b##*/}.json || exit 1; done

lint:
	$(Q)scripts/lint
