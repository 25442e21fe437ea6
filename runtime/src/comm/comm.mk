# SPDX-License-Identifier: BSD-2-Clause
# Sources of the communicator, for runtime/build.mk.
RT_SRCS += $(addprefix runtime/src/comm/, allreduce.c bootstrap.c bootstrap_root.c comm.c control.c \
	fabric.c fabric_load.c host.c operation.c schedule.c slot.c socket.c stream.c)
