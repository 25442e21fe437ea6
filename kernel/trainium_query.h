/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers: the QUERY call, fdinfo. */
#ifndef TRAINIUM_QUERY_H
#define TRAINIUM_QUERY_H

#include <linux/seq_file.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>

int trainium_query_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file);
void trainium_query_fdinfo(struct drm_printer *p, struct drm_file *drm_file);

#endif /* TRAINIUM_QUERY_H */
