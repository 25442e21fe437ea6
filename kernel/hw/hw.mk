# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Objects of the hardware layer, for the module's Kbuild (relative to kernel/). They include
# "trnhw.h" from their own folder and need -I of the repository's include/.
TRNHW_NAMES := arch arch_v2 arch_v3 mmio init reset fwio udma queue desc check ring copyq core sync irq \
	telemetry topology
TRNHW_OBJS := $(addprefix hw/,$(addsuffix .o,$(TRNHW_NAMES)))
