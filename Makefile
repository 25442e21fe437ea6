# SPDX-License-Identifier: BSD-2-Clause
# The only entry point. `make help` explains the targets; each part's rules are in its build.mk.

B := build
CC ?= gcc
V ?= 0
Q := $(if $(filter 1,$(V)),,@)

CPPFLAGS += -Iinclude -Iinclude/uapi -Iruntime/include -I. -D_GNU_SOURCE
DRM_CFLAGS := $(shell pkg-config --cflags libdrm 2>/dev/null || echo -I/usr/include/libdrm)
CPPFLAGS += $(DRM_CFLAGS)
WARNFLAGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
CFLAGS ?= -O2 -g
CFLAGS += -std=gnu11 $(WARNFLAGS) -fno-strict-aliasing -ffp-contract=off

.DEFAULT_GOAL := all
.PHONY: all help clean
all:

-include tests/emulator/build.mk
-include kernel/build.mk
-include kernel/hw/build.mk
-include runtime/build.mk
-include runtime/tool/build.mk
-include runtime/demo/build.mk
-include tests/build.mk

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

clean:
	rm -rf $(B)
