/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trace events of trace-events; QEMU's build makes the header under the name of the folder the
 * device has in its tree.
 */
#include "trace/trace-hw_misc_trainium.h"
