# SPDX-License-Identifier: BSD-2-Clause
# libtrn: program builder, container, loader and kernel library.

RT_SRCS += $(addprefix $(RT)/,\
	builder.c builder_dma.c builder_finish.c builder_map.c builder_ops.c builder_sync.c builder_tile.c builder_view.c \
	program.c tnx.c tnx_crc.c tnx_parse.c)
RT_SRCS += $(wildcard $(RT)/kernels/*.c)
