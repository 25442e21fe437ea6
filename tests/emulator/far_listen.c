// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where devices of different processes meet: a folder with a socket and a lock file for each.
 *
 * Who holds the lock of a place owns it; a process that dies gives it up, and the next one removes
 * the socket it left. The lock file says who holds it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "far_priv.h"

#define LOCK_TRIES 16

static int place_path(const char *dir, const struct emu_place *place, char *path, size_t size)
{
	int len =
		snprintf(path, size, "%s/trainium-%u-%u.sock", dir, place->node, place->routing_id);

	return len < 0 || (size_t)len >= size ? -1 : 0;
}

/* The name may have been removed between open and lock, and be another file by now. */
static bool lock_is_current(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

static void lock_owner(int fd, char *text, size_t size)
{
	ssize_t len = pread(fd, text, size - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	if (len <= 0)
		snprintf(text, size, "another device");
}

static int lock_take(struct emu_far *far, char *error, size_t size)
{
	const struct emu_port *port = far->links->port;
	char owner[96];
	int i, fd, len;

	for (i = 0; i < LOCK_TRIES; i++) {
		fd = open(far->lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0) {
			snprintf(error, size, "link-dir: cannot make %s: %s", far->lock_path,
				 strerror(errno));
			return -errno;
		}
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			lock_owner(fd, owner, sizeof(owner));
			close(fd);
			snprintf(error, size,
				 "routing-id=%u of %s is taken by %s (node %u in link-dir); give "
				 "every device of a node its own",
				 port->place.routing_id, port->name, owner, port->place.node);
			return -EEXIST;
		}
		if (lock_is_current(fd, far->lock_path)) {
			len = snprintf(owner, sizeof(owner), "%.63s, process %d", port->name,
				       (int)getpid());
			/* For messages alone; a full disk changes nothing else. */
			if (ftruncate(fd, 0) || pwrite(fd, owner, (size_t)len, 0) != len)
				len = 0;
			far->lock_fd = fd;
			return 0;
		}
		close(fd);
	}
	snprintf(error, size, "link-dir: %s is made and removed all the time", far->lock_path);
	return -EBUSY;
}

static int listen_at(struct emu_far *far)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	memcpy(addr.sun_path, far->path, sizeof(addr.sun_path));
	unlink(far->path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, EMU_FAR_PEERS)) {
		int status = -errno;

		close(fd);
		return status;
	}
	far->listener = fd;
	far->listening = true;
	return 0;
}

/* Neighbours are looked for later on, when the process may be in another folder. */
static int folder_set(struct emu_far *far, const char *given, char *error, size_t size)
{
	char *dir = realpath(given, NULL);
	int status = 0;

	if (!dir) {
		snprintf(error, size, "link-dir=%s: %s; the folder must exist", given,
			 strerror(errno));
		return -errno;
	}
	if (strlen(dir) >= sizeof(far->dir) ||
	    place_path(dir, &far->links->port->place, far->path, sizeof(far->path))) {
		snprintf(error, size,
			 "link-dir=%s is too long; sockets have names of at most %zu bytes, of "
			 "which the folder may have %zu",
			 dir, sizeof(far->path) - 1, sizeof(far->dir) - 1);
		status = -ENAMETOOLONG;
	} else {
		snprintf(far->dir, sizeof(far->dir), "%s", dir);
	}
	free(dir);
	return status;
}

int emu_far_listen(struct emu_far *far, const char *dir, char *error, size_t size)
{
	int status = folder_set(far, dir, error, size);

	if (status)
		return status;
	snprintf(far->lock_path, sizeof(far->lock_path), "%.*slock", (int)strlen(far->path) - 4,
		 far->path);
	status = lock_take(far, error, size);
	if (status)
		return status;
	status = listen_at(far);
	if (status)
		snprintf(error, size, "link-dir: cannot listen at %s: %s", far->path,
			 strerror(-status));
	return status;
}

void emu_far_listen_end(struct emu_far *far)
{
	if (far->listening) {
		close(far->listener);
		unlink(far->path);
	}
	far->listening = false;
	if (far->lock_fd >= 0) {
		unlink(far->lock_path);
		close(far->lock_fd);
	}
	far->lock_fd = -1;
}

int emu_far_dial(const struct emu_far *far, const struct emu_place *place)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;

	if (place_path(far->dir, place, addr.sun_path, sizeof(addr.sun_path)))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		close(fd);
		fd = -1;
	}
	return fd;
}
