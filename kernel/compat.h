/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, hidden behind the newest kernel's names.
 *
 * What a kernel has is found out by compiling (kernel/configure.sh), never by its version number:
 * distributions carry features back.
 */
#ifndef TRAINIUM_COMPAT_H
#define TRAINIUM_COMPAT_H

#include <linux/mm.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>

#include "trainium_features.h"

#ifdef TRAINIUM_HAVE_DRM_ACCEL
#include <drm/drm_accel.h>
#define TRAINIUM_DRIVER_NODE	DRIVER_COMPUTE_ACCEL
#define TRAINIUM_NODE_OPEN	accel_open
#else
#define TRAINIUM_DRIVER_NODE	DRIVER_RENDER
#define TRAINIUM_NODE_OPEN	drm_open
#endif

#ifndef TRAINIUM_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags &= ~flags;
}
#endif

#endif /* TRAINIUM_COMPAT_H */
