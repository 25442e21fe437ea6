// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "tool.h"

#define PART ((size_t)1 << 30) /* of one read() or write() */

static int read_all(int fd, const char *path, void *data, uint64_t bytes, uint64_t *got)
{
	ssize_t now;

	for (*got = 0; *got < bytes; *got += (uint64_t)now) {
		now = read(fd, (char *)data + *got,
			   bytes - *got < PART ? (size_t)(bytes - *got) : PART);
		if (now < 0 && errno == EINTR)
			now = 0;
		else if (now < 0)
			return tool_fail("cannot read \"%s\": %s", path, strerror(errno));
		else if (now == 0)
			break;
	}
	return TOOL_OK;
}

static int wrong_size(const char *path, const char *what, uint64_t expected, uint64_t actual,
		      const char *least)
{
	return tool_fail("%s takes %" PRIu64 " bytes, \"%s\" has %s%" PRIu64, what, expected, path,
			 least, actual);
}

int files_read(const char *path, const char *what, void *data, uint64_t bytes)
{
	struct stat status;
	uint64_t got;
	char extra;
	int fd = open(path, O_RDONLY | O_CLOEXEC), code;

	if (fd < 0)
		return tool_fail("cannot open \"%s\" for %s: %s", path, what, strerror(errno));
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    (uint64_t)status.st_size != bytes) {
		close(fd);
		return wrong_size(path, what, bytes, (uint64_t)status.st_size, "");
	}
	code = read_all(fd, path, data, bytes, &got);
	if (!code && got < bytes)
		code = wrong_size(path, what, bytes, got, "");
	else if (!code && read(fd, &extra, 1) == 1)
		code = wrong_size(path, what, bytes, bytes + 1, "at least ");
	close(fd);
	return code;
}

int files_create(struct files_output *output, const char *path)
{
	struct stat status;
	mode_t mask;

	output->path = path;
	output->fd = -1;
	output->temporary = NULL;
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		output->fd = open(path, O_WRONLY | O_CLOEXEC);
	} else if (asprintf(&output->temporary, "%s.XXXXXX", path) < 0) {
		output->temporary = NULL;
		return tool_fail("no host memory for the name of \"%s\"", path);
	} else {
		output->fd = mkostemp(output->temporary, O_CLOEXEC);
		mask = umask(0);
		umask(mask);
		if (output->fd >= 0)
			fchmod(output->fd, 0666 & ~mask);
	}
	if (output->fd >= 0)
		return TOOL_OK;
	tool_fail("cannot write \"%s\": %s", path, strerror(errno));
	free(output->temporary);
	output->temporary = NULL;
	return TOOL_FAILED;
}

int files_write(struct files_output *output, const void *data, uint64_t bytes)
{
	const char *from = data;
	ssize_t now;

	while (bytes > 0) {
		now = write(output->fd, from, bytes < PART ? (size_t)bytes : PART);
		if (now < 0 && errno == EINTR)
			continue;
		if (now < 0)
			return tool_fail("cannot write \"%s\": %s", output->path, strerror(errno));
		from += now;
		bytes -= (uint64_t)now;
	}
	return TOOL_OK;
}

int files_commit(struct files_output *output)
{
	int error = close(output->fd) ? errno : 0;

	output->fd = -1;
	if (!error && output->temporary && rename(output->temporary, output->path))
		error = errno;
	if (error)
		return tool_fail("cannot write \"%s\": %s", output->path, strerror(error));
	free(output->temporary);
	output->temporary = NULL;
	return TOOL_OK;
}

void files_discard(struct files_output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	output->fd = -1;
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
	output->temporary = NULL;
}

int files_check(const char *path)
{
	struct files_output output;
	struct stat status;
	int code;

	/* Opening a pipe or a device may have effects; that waits until there is something to
	 * write. */
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		if (S_ISDIR(status.st_mode))
			return tool_fail("cannot write \"%s\": %s", path, strerror(EISDIR));
		if (access(path, W_OK))
			return tool_fail("cannot write \"%s\": %s", path, strerror(errno));
		return TOOL_OK;
	}
	code = files_create(&output, path);
	files_discard(&output);
	return code;
}
