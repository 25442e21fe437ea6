# SPDX-License-Identifier: BSD-2-Clause
#
# Device model and in-process shell: build/lib/libtrn-emulator.a. core.mk lists the NeuronCore. The QEMU shell in qemu/ is compiled inside of
# QEMU's tree by scripts/qemu-build.

EMU := tests/emulator
EMU_DEVICE_SRCS := $(addprefix $(EMU)/, \
	clock.c complaint.c crc32c.c decode.c device.c ecc.c ext.c far.c far_client.c far_conn.c far_listen.c far_serve.c \
	fault.c firmware.c fis.c hbm.c iofic.c irq.c link.c link_copy.c memory.c misc_ram.c notify.c pci_config.c port.c \
	product.c regs.c stat.c submit.c timing.c tpb.c trace.c udma.c udma_regs.c udma_time.c unit.c window.c wiring.c \
	worker.c \
	inproc/inproc.c)

include $(EMU)/core.mk

EMU_SRCS := $(EMU_DEVICE_SRCS) $(EMU_CORE_SRCS)
EMU_OBJS := $(EMU_SRCS:%.c=$(B)/%.o)
EMU_LIB := $(B)/lib/libtrn-emulator.a

# -fPIC: the library is linked into libtrn.so. -O3: the arithmetic of the cores.
$(EMU_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) -I$(EMU) $(CPPFLAGS) $(CFLAGS) $(EMU_OPT) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

EMU_OPT := $(if $(SANITIZE),,-O3)

$(EMU_LIB): $(EMU_OBJS)
	@mkdir -p $(@D)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

all: $(EMU_LIB)

-include $(EMU_OBJS:.o=.d)

# Unit tests: one binary per suite, all use the rig and have threads throughout. Only the fuzzer does not run under ThreadSanitizer: its guest races by
# intent.
EMU_TESTS := device far fault firmware fuzz links order stress submit time trn2 udma ultraserver
EMU_TEST_BINS := $(EMU_TESTS:%=$(B)/tests/unit/test_emu_%)
EMU_RIG := $(B)/tests/unit/emu_rig.o $(B)/tests/unit/emu_rig_map.o
EMU_TEST_OBJS := $(EMU_TEST_BINS:=.o) $(EMU_RIG) $(B)/tests/unit/link_rig.o

$(EMU_TEST_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(addprefix $(B)/tests/unit/test_emu_,far links ultraserver): $(B)/tests/unit/link_rig.o
$(EMU_TEST_BINS): %: %.o $(EMU_RIG) $(EMU_LIB)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check) -lpthread -lm

UNIT_TESTS += $(EMU_TEST_BINS)
TSAN_TESTS += $(filter-out %_fuzz,$(EMU_TEST_BINS))

-include $(EMU_TEST_OBJS:.o=.d)

EMU_BENCHES := $(B)/bench/bench_dma $(B)/bench/bench_device
BENCHES += $(EMU_BENCHES)
$(EMU_BENCHES): $(B)/bench/%: tests/bench/%.c $(EMU_LIB)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $^ -lpthread -lm
-include $(EMU_BENCHES:=.d)
