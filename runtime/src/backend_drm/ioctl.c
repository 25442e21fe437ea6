// SPDX-License-Identifier: BSD-2-Clause
/* System calls that a signal may interrupt. Locking: none needed. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "drm.h"

int trn_drm_ioctl(int fd, unsigned long request, void *argument)
{
	int error;

	do {
		error = ioctl(fd, request, argument) ? -errno : 0;
	} while (error == -EINTR || error == -EAGAIN);
	return error;
}

int trn_drm_open_node(const char *node)
{
	int fd;

	do {
		fd = open(node, O_RDWR | O_CLOEXEC);
	} while (fd < 0 && (errno == EINTR || errno == EAGAIN));
	return fd < 0 ? -errno : fd;
}
