// SPDX-License-Identifier: BSD-2-Clause
/* Status texts and the sentence of each thread. Locking: none; everything is the thread's own. */
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_QUOTE(x)	   #x
#define VERSION_TEXT(major, minor) VERSION_QUOTE(major) "." VERSION_QUOTE(minor)

static _Thread_local char error_text[1024];

static const char *const status_names[] = {
	[TRN_OK] = "success",
	[TRN_ERR_INVALID] = "invalid argument",
	[TRN_ERR_NO_DEVICE] = "no such device",
	[TRN_ERR_PERMISSION] = "permission denied",
	[TRN_ERR_BUSY] = "busy",
	[TRN_ERR_NO_DEVICE_MEMORY] = "out of device memory",
	[TRN_ERR_NO_HOST_MEMORY] = "out of host memory",
	[TRN_ERR_TIMEOUT] = "timed out",
	[TRN_ERR_FAULT] = "device fault",
	[TRN_ERR_CANCELED] = "canceled",
	[TRN_ERR_GONE] = "device removed",
	[TRN_ERR_UNSUPPORTED] = "not supported",
	[TRN_ERR_BAD_FILE] = "bad program file",
	[TRN_ERR_IO] = "operating system error",
	[TRN_ERR_COMM] = "communication failure",
	[TRN_ERR_NOT_FOUND] = "not found",
	[TRN_ERR_FORKED] = "handle from before fork",
	[TRN_ERR_DRIVER] = "unusable driver",
};

const char *trn_strerror(enum trn_status status)
{
	if ((unsigned int)status >= sizeof(status_names) / sizeof(status_names[0]))
		return "unknown status";
	return status_names[status];
}

const char *trn_error_text(void)
{
	return error_text;
}

enum trn_status trn_error_set(enum trn_status status, const char *format, ...)
{
	char text[sizeof(error_text)], *long_text = NULL, *at;
	va_list list;
	int length;

	/* Formatted aside first: the old sentence may be an argument of the new one. */
	va_start(list, format);
	length = vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (length >= (int)sizeof(text)) {
		/* Names can be long; what happened and what to do stand at the end. */
		va_start(list, format);
		if (vasprintf(&long_text, format, list) < 0)
			long_text = NULL;
		va_end(list);
		if (long_text)
			snprintf(text + sizeof(text) / 2 - 4, sizeof(text) / 2 + 4, "... %s",
				 long_text + length - (sizeof(text) / 2 - 1));
		free(long_text);
	}
	/* Names come from files and the environment; a terminal must not obey them. */
	for (at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 127)
			*at = '?';
	memcpy(error_text, text, sizeof(text));
	return status;
}

void trn_error_clear(void)
{
	error_text[0] = 0;
}

enum trn_status trn_status_from_errno(int error)
{
	switch (error < 0 ? -error : error) {
	case 0:
		return TRN_OK;
	case EINVAL:
	case EFAULT:
	case E2BIG:
	case ENOENT:
	case EOVERFLOW:
	case EACCES: /* of a ring or program that would leave its buffers; a node's permissions are
			told by open */
		return TRN_ERR_INVALID;
	case EPERM:
		return TRN_ERR_PERMISSION;
	case EBUSY:
		return TRN_ERR_BUSY;
	case ENOBUFS:
		return TRN_ERR_NO_DEVICE_MEMORY;
	case ENOMEM:
		return TRN_ERR_NO_HOST_MEMORY;
	case ETIME:
	case ETIMEDOUT:
		return TRN_ERR_TIMEOUT;
	case EIO:
		return TRN_ERR_FAULT;
	case ECANCELED:
		return TRN_ERR_CANCELED;
	case ENODEV:
	case ENXIO:
		return TRN_ERR_GONE;
	case EOPNOTSUPP:
		return TRN_ERR_UNSUPPORTED;
	case ENOTTY:
		return TRN_ERR_DRIVER;
	default:
		return TRN_ERR_IO;
	}
}

const char *trn_version(void)
{
	return VERSION_TEXT(TRN_VERSION_MAJOR, TRN_VERSION_MINOR);
}
