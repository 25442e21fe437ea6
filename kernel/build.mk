# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel module, out of tree: build/kernel/RELEASE/trainium.ko for the headers in KDIR (default:
# the running kernel's). The source tree is not touched: RELEASE/ holds links to the sources, and
# everything Kbuild makes. MODFLAGS are more arguments for Kbuild, such as W=1, C=1, LLVM=1.

KDIR ?= /lib/modules/$(shell uname -r)/build
# Not include/config/kernel.release: Debian's 6.1 headers have the upstream version there.
KREL ?= $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
MODFLAGS ?=
MODULE_DIR = $(abspath $(B))/kernel/$(KREL)
MODULE_SRCS := $(wildcard kernel/*.c kernel/hw/*.c)

.PHONY: module modules-guest
module:
	$(Q)test -n "$(KREL)" || { echo "make module: no kernel headers in $(KDIR);" \
		"install linux-headers-$$(uname -r) or set KDIR=" >&2; exit 1; }
	$(Q)mkdir -p $(MODULE_DIR)/hw $(MODULE_DIR)/gen
	$(Q)kernel/configure.sh $(KDIR) $(MODULE_DIR)/gen $(MODFLAGS)
	$(Q)for f in kernel/Kbuild $(MODULE_SRCS); do \
		test -e $(MODULE_DIR)/$${f#kernel/} || ln -sfn $(CURDIR)/$$f $(MODULE_DIR)/$${f#kernel/}; \
	done
	$(Q)find $(MODULE_DIR) -xtype l -delete
	$(Q)$(MAKE) --no-print-directory -C $(KDIR) M=$(MODULE_DIR) TRAINIUM_SRC=$(CURDIR) \
		TRAINIUM_GEN=$(MODULE_DIR)/gen $(MODFLAGS) modules

# Both kernels the guests of the VM tests run.
modules-guest:
	$(Q)for k in 6.1 6.12; do \
		$(MAKE) --no-print-directory module KDIR="$$(scripts/kernel-fetch --kdir $$k)" || exit 1; \
	done

# Tests of the interface itself, for the guest; static, so that they need nothing there.
UAPI_TESTS := $(patsubst tests/vm/uapi/%.c,$(B)/tests/vm/%,$(wildcard tests/vm/uapi/test_*.c))
VM_TESTS += $(UAPI_TESTS)

$(UAPI_TESTS): $(B)/tests/vm/%: tests/vm/uapi/%.c $(B)/tests/vm/uapi.o tests/vm/uapi/uapi.h
	$(say) LD $@
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -MF $@.d -static -o $@ $< $(B)/tests/vm/uapi.o -lpthread

$(B)/tests/vm/uapi.o: tests/vm/uapi/uapi.c tests/vm/uapi/uapi.h
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(UAPI_TESTS:=.d) $(B)/tests/vm/uapi.d

# The same tests on devices that lack or do something: a guest each, minutes.
.PHONY: check-degraded
check-degraded: vm-guest
	$(Q)tests/vm/degraded --kernel $(or $(KERNEL),6.12)
