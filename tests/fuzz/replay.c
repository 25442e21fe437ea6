// SPDX-License-Identifier: BSD-2-Clause
/*
 * main() of a target without libFuzzer: runs the files of a folder in the order of their names.
 * The folder is tests/fuzz/corpus/NAME for a program named replay_NAME, or the argument.
 *
 * One case for the whole folder; the file under way is named when it fails.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"

#define FILE_BYTES_MAX (1u << 20)
#define PREFIX	       "replay_"

static int wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int run_file(const char *path)
{
	uint8_t *data = malloc(FILE_BYTES_MAX);
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!data || !file) {
		printf("not ok - %s: cannot be read\n", path);
		free(data);
		if (file)
			fclose(file);
		return -1;
	}
	size = fread(data, 1, FILE_BYTES_MAX, file);
	fclose(file);
	/* A failing target ends the process; this line is then the last. */
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	char folder[512], path[1024];
	struct dirent **list;
	int count, i, failed = 0;

	name = name ? name + 1 : argv[0];
	if (!strncmp(name, PREFIX, strlen(PREFIX)))
		name += strlen(PREFIX);
	if (argc > 1)
		snprintf(folder, sizeof(folder), "%s", argv[1]);
	else
		snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s", name);
	count = scandir(folder, &list, wanted, alphasort);
	if (count <= 0) {
		printf("not ok - %s: no corpus in %s\n", name, folder);
		return EXIT_FAILURE;
	}
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		failed |= run_file(path);
		free(list[i]);
	}
	free(list);
	if (failed)
		return EXIT_FAILURE;
	printf("ok - %s: %d inputs\n", name, count);
	return EXIT_SUCCESS;
}
