/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of `trn run`: read whole, written whole or not at all. */
#ifndef TRN_TOOL_FILES_H
#define TRN_TOOL_FILES_H

#include <stddef.h>
#include <stdint.h>

/**
 * files_read() - exactly @bytes of @path into @data. A file of another size is a failure that tells
 * both. @what is for the sentence. Return: TOOL_OK or TOOL_FAILED, told.
 */
int files_read(const char *path, const char *what, void *data, uint64_t bytes);

/** struct files_output - a file being written: beside its final place until files_commit(). */
struct files_output {
	const char *path;
	char *temporary; /* NULL: @path is no regular file and is written directly */
	int fd;		 /* -1: not open */
};

/**
 * files_check() - can @path be written? Told now, before hours of work, and nothing is left behind
 * when the command is interrupted meanwhile.
 */
int files_check(const char *path);
/** files_create() - open for writing. */
int files_create(struct files_output *output, const char *path);
int files_write(struct files_output *output, const void *data, uint64_t bytes);
/** files_commit() - put the file into its place. */
int files_commit(struct files_output *output);
/** files_discard() - remove what was not committed; harmless otherwise. */
void files_discard(struct files_output *output);

#endif /* TRN_TOOL_FILES_H */
