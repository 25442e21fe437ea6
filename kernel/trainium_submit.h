/* SPDX-License-Identifier: GPL-2.0-only */
/* Submission of jobs. */
#ifndef TRAINIUM_SUBMIT_H
#define TRAINIUM_SUBMIT_H

#include <drm/drm_file.h>

int trainium_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);

#endif /* TRAINIUM_SUBMIT_H */
