# SPDX-License-Identifier: BSD-2-Clause
#
# libtrn: build/lib/libtrn.so.0 (libtrn.so for linking), build/lib/libtrn.a for tests, and
# build/lib/pkgconfig/trn.pc.
#
# RT_SRCS collects the sources; the parts of the library add theirs, and RT_LIBS, in runtime/src/*.mk and
# runtime/src/*/*.mk. The in-process device is linked in: device model (EMU_OBJS) and hardware layer
# compiled for user space (TRNHW_OBJ).

RT := runtime/src
RT_LIBS := -ldrm -lnuma -lpthread -lm
RT_VERSION := 0.1
RT_SONAME := libtrn.so.0
RT_PC_MAKE = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(RT_VERSION)|' runtime/trn.pc.in

RT_SRCS := $(addprefix $(RT)/,device.c error.c failure.c fence.c fork.c heap.c heap_check.c heap_tag.c \
	info.c memory.c queue.c)
RT_SRCS += $(addprefix $(RT)/backend_drm/,bo.c context.c device.c discover.c ioctl.c list.c)
RT_EMU_SRCS := $(addprefix $(RT)/backend_emu/,bo.c context.c copy.c device.c handle.c identity.c irq.c mem.c \
	options.c program.c query.c recover.c ring.c run.c submit.c topology.c worker.c)
RT_SRCS += $(RT_EMU_SRCS)

-include $(wildcard $(RT)/*.mk) $(wildcard $(RT)/*/*.mk)

RT_OBJS := $(RT_SRCS:%.c=$(B)/%.o)
RT_SO := $(B)/lib/$(RT_SONAME)
RT_A := $(B)/lib/libtrn.a
RT_PC := $(B)/lib/pkgconfig/trn.pc

# The shims of the hardware layer stand in for <linux/...> in this backend alone.
$(RT_EMU_SRCS:%.c=$(B)/%.o): RT_SHIMS := -Ikernel/hw/user -Ikernel/hw

$(RT_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(RT_SHIMS) $(CPPFLAGS) -I$(RT) $(CFLAGS) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

$(RT_SO): $(RT_OBJS) $(TRNHW_OBJ) $(EMU_OBJS) runtime/libtrn.map
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(RT_SONAME) -Wl,--version-script=runtime/libtrn.map \
		$(if $(SANITIZE),,-Wl,-z,defs) -Wl,--as-needed -o $@ $(filter %.o,$^) $(RT_LIBS)
	$(Q)ln -sf $(RT_SONAME) $(B)/lib/libtrn.so

$(RT_A): $(RT_OBJS) $(TRNHW_OBJ) $(EMU_OBJS)
	@mkdir -p $(@D)
	$(say) AR $@
	$(Q)$(AR) rcs $@.$$$$ $^ && mv $@.$$$$ $@

$(RT_PC): runtime/trn.pc.in runtime/build.mk
	@mkdir -p $(@D)
	$(say) GEN $@
	$(Q)$(RT_PC_MAKE) > $@

all: $(RT_SO) $(RT_PC)

.PHONY: install-libtrn
install: install-libtrn
install-libtrn: $(RT_SO)
	$(Q)install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/trn $(DESTDIR)$(PREFIX)/include/trainium
	$(Q)install -m 755 $(RT_SO) $(DESTDIR)$(PREFIX)/lib/
	$(Q)ln -sf $(RT_SONAME) $(DESTDIR)$(PREFIX)/lib/libtrn.so
	$(Q)$(RT_PC_MAKE) > $(DESTDIR)$(PREFIX)/lib/pkgconfig/trn.pc
	$(Q)install -m 644 runtime/include/trn/*.h $(DESTDIR)$(PREFIX)/include/trn/
	$(Q)install -m 644 include/trainium/isa.h $(DESTDIR)$(PREFIX)/include/trainium/

-include $(RT_OBJS:.o=.d)

# Tests of this part: linked with the static library, whose inner functions they call.
RT_TESTS := heap device memory queue run emu fault machine
RT_TEST_BIN := $(RT_TESTS:%=$(B)/tests/unit/test_rt_%)
RT_TEST_OBJS := $(RT_TESTS:%=$(B)/tests/unit/test_rt_%.o) $(B)/tests/unit/rt_rig.o
UNIT_TESTS += $(RT_TEST_BIN)
TSAN_TESTS += $(filter-out %_heap,$(RT_TEST_BIN))

CHECK_LIBS ?= $(shell pkg-config --libs check 2>/dev/null || echo -lcheck)

$(B)/tests/unit/test_rt_fault.o: RT_SHIMS := -Ikernel/hw/user -Ikernel/hw

$(RT_TEST_OBJS): $(B)/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(RT_SHIMS) $(CPPFLAGS) -I$(RT) $(CFLAGS) -MMD -MP -c -o $@ $<

$(RT_TEST_BIN): %: %.o $(B)/tests/unit/rt_rig.o $(RT_A)
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(CHECK_LIBS) $(RT_LIBS)

-include $(RT_TEST_OBJS:.o=.d)

# Benchmarks of this part. bench_copy uses the public API alone and also runs in the guest.
RT_BENCHES := $(B)/bench/bench_heap $(B)/bench/bench_copy
BENCHES += $(RT_BENCHES)

$(B)/bench/bench_heap $(B)/bench/bench_copy: $(B)/bench/%: tests/bench/%.c $(RT_A)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CPPFLAGS) -I$(RT) $(CFLAGS) $(LDFLAGS) -MMD -MP -o $@ $^ $(RT_LIBS)

-include $(RT_BENCHES:=.d)

# The same cases through the module in the guest and on an emulated device here.
RT_VM_TEST := $(B)/tests/vm/test_runtime
VM_TESTS += $(RT_VM_TEST)

$(RT_VM_TEST): tests/vm/runtime/test_runtime.c $(RT_A)
	@mkdir -p $(@D)
	$(say) LD $@
	$(Q)$(CC) $(CPPFLAGS) -I$(RT) $(CFLAGS) $(LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(RT_A) $(RT_LIBS)

-include $(RT_VM_TEST).d
