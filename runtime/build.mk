# SPDX-License-Identifier: BSD-2-Clause
#
# libtrn: build/lib/libtrn.so.0, build/lib/libtrn.a, build/lib/pkgconfig/trn.pc.
#
# RT_SRCS collects the sources; parts of the library add theirs in runtime/src/*.mk and runtime/src/*/*.mk. The in-process device (device model and
# hardware layer) is linked in: EMU_OBJS and HW_OBJS come from their own fragments.

RT := runtime/src
RT_CPPFLAGS := -I$(RT)
RT_LIBS := -ldrm -lnuma -lpthread -lm

RT_SRCS := $(addprefix $(RT)/, device.c error.c failure.c fence.c fork.c heap.c heap_check.c heap_tag.c info.c memory.c queue.c)

-include $(wildcard $(RT)/*.mk) $(wildcard $(RT)/*/*.mk)
