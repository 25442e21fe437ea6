# SPDX-License-Identifier: BSD-2-Clause
#
# The only entry point. Each part's rules are in its build.mk; all outputs go under $(B).
#
## usage: make [target] [VARIABLE=value ...]
##
##   all           library, tool, demo program, device model (default)
##   module        kernel module for the running kernel's headers, or KDIR=...
##   demo          install what is missing, build, train a small language model on the
##                 embedded device; TEXT=file, RANKS=n, STEPS=n
##   demo-vm       the same program in a QEMU guest, through the module; KERNEL=6.1|6.12
##   check         install what is missing, build, run every test including the VM ones
##   check-unit    unit tests under sanitizers and the whole-program tests, no VM
##   conformance   the device model against every row of the hardware facts;
##                 PRODUCT=trn1|inf2|trn2, ONLY=pattern
##   conformance-table  writes Documentation/conformance.md from the names of the cases
##   check-vm      the VM suite on both guest kernels
##   check-kasan   the VM suite on a debug kernel with KASAN, lockdep and kmemleak
##   check-fuzz    fuzzers, 60 s each (FUZZ_SECONDS=n); check has a minute of all
##   bench         every benchmark; tables here, JSON under build/bench/
##   lint          style and static checks
##   install       DESTDIR=, PREFIX=/usr/local
##   clean         remove build/
##
##   V=1 shows commands. SANITIZE=address,undefined|thread builds a variant (use with B=).

B ?= build
CC ?= gcc
PREFIX ?= /usr/local
V ?= 0
Q := $(if $(filter 1,$(V)),,@)
ifeq ($(V),1)
say = @:
else
say = @printf '  %-7s %s\n'
endif

DRM_CFLAGS := $(shell pkg-config --cflags libdrm 2>/dev/null || echo -I/usr/include/libdrm)
CPPFLAGS += -Iinclude -Iinclude/uapi -Iruntime/include -I. $(DRM_CFLAGS) -D_GNU_SOURCE
WARNFLAGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
CFLAGS ?= -O2 -g
CFLAGS += -std=gnu11 $(WARNFLAGS) -fno-strict-aliasing -ffp-contract=off
ifneq ($(SANITIZE),)
CFLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
LDFLAGS += -fsanitize=$(SANITIZE)
ifneq ($(findstring undefined,$(SANITIZE)),)
CFLAGS += -fno-sanitize-recover=undefined
# For gcc an array at the end of a struct may go on behind its end otherwise; clang 14 has no such check.
ifeq ($(findstring clang,$(CC)),)
CFLAGS += -fsanitize=bounds-strict -fno-sanitize-recover=bounds-strict
endif
endif
endif
ifeq ($(WERROR),1)
CFLAGS += -Werror
endif

.DEFAULT_GOAL := all
.PHONY: all help clean install

all:

-include tests/emulator/build.mk
-include kernel/hw/build.mk
-include kernel/build.mk
-include runtime/build.mk
-include runtime/tool/build.mk
-include runtime/demo/build.mk
-include tests/build.mk

help:
	@sed -n 's/^## \{0,1\}//p' Makefile

clean:
	$(Q)rm -rf $(B)
