// SPDX-License-Identifier: BSD-2-Clause
/*
 * main() of a target without libFuzzer: runs the files of a folder in the order of their names,
 * then on request inputs made from them by chance. That is how a target runs where libFuzzer cannot
 * go: its counters race under ThreadSanitizer.
 *
 * One case for the whole folder; the file under way is named when it fails, a made input is kept.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "fuzz.h"

#define FILE_BYTES_MAX (1u << 20)
#define MADE_BYTES_MAX 4096u
#define EDITS_MAX      8u
#define PREFIX	       "replay_"

/** struct corpus - the files of the folder, in the order of their names. */
struct corpus {
	struct dirent **name;
	int count;
	uint8_t **data;
	size_t *size;
};

static uint64_t random_state;

/* splitmix64 */
static uint64_t random_next(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static size_t random_below(size_t limit)
{
	return (size_t)(random_next() % limit);
}

static int wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static bool corpus_load(struct corpus *corpus, const char *folder)
{
	char path[1024];
	FILE *file;
	int i;

	corpus->count = scandir(folder, &corpus->name, wanted, alphasort);
	if (corpus->count <= 0)
		return false;
	corpus->data = calloc((size_t)corpus->count, sizeof(*corpus->data));
	corpus->size = calloc((size_t)corpus->count, sizeof(*corpus->size));
	for (i = 0; corpus->data && corpus->size && i < corpus->count; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, corpus->name[i]->d_name);
		file = fopen(path, "rb");
		corpus->data[i] = malloc(FILE_BYTES_MAX);
		if (!file || !corpus->data[i]) {
			printf("not ok - %s: cannot be read: %s\n", path, strerror(errno));
			return false;
		}
		corpus->size[i] = fread(corpus->data[i], 1, FILE_BYTES_MAX, file);
		fclose(file);
	}
	return corpus->data && corpus->size;
}

static void corpus_free(struct corpus *corpus)
{
	int i;

	for (i = 0; i < corpus->count; i++) {
		if (corpus->data)
			free(corpus->data[i]);
		free(corpus->name[i]);
	}
	if (corpus->count > 0)
		free(corpus->name);
	free(corpus->data);
	free(corpus->size);
}

/* Some bytes of one file changed, part of another copied over, or the end cut off. */
static size_t input_make(const struct corpus *corpus, uint8_t *input)
{
	size_t from = random_below((size_t)corpus->count), other, at, len;
	size_t size = corpus->size[from] < MADE_BYTES_MAX ? corpus->size[from] : MADE_BYTES_MAX;
	unsigned int edits = 1 + (unsigned int)random_below(EDITS_MAX);

	memcpy(input, corpus->data[from], size);
	while (edits-- && size) {
		at = random_below(size);
		switch (random_below(4)) {
		case 0:
			input[at] ^= (uint8_t)(1u << random_below(8));
			break;
		case 1:
			input[at] = (uint8_t)random_next();
			break;
		case 2:
			other = random_below((size_t)corpus->count);
			len = size - at < corpus->size[other] ? size - at : corpus->size[other];
			if (len)
				memcpy(input + at, corpus->data[other], 1 + random_below(len));
			break;
		default:
			if (!random_below(8))
				size = at;
			break;
		}
	}
	return size;
}

/* The input is on disk before it runs, for one that ends the process. */
static bool input_keep(const char *path, const uint8_t *input, size_t size)
{
	FILE *file = fopen(path, "wb");
	bool kept = file && fwrite(input, 1, size, file) == size;

	if (file && fclose(file))
		kept = false;
	return kept;
}

static unsigned long made_run(const struct corpus *corpus, unsigned long seconds, const char *kept)
{
	time_t end = time(NULL) + (time_t)seconds;
	uint8_t input[MADE_BYTES_MAX];
	unsigned long runs = 0;
	size_t size;

	mkdir("build", 0777);
	mkdir("build/fuzz", 0777);
	for (; time(NULL) < end; runs++) {
		size = input_make(corpus, input);
		if (!input_keep(kept, input, size)) {
			printf("not ok - %s: cannot be written: %s\n", kept, strerror(errno));
			exit(EXIT_FAILURE);
		}
		LLVMFuzzerTestOneInput(input, size);
	}
	remove(kept);
	return runs;
}

static int usage(void)
{
	fputs("usage: replay_NAME [--seconds N [--seed N] [--keep FILE]] [FOLDER]\n"
	      "Runs the files of FOLDER (tests/fuzz/corpus/NAME), then for N seconds inputs made\n"
	      "from them by chance. The input under way is FILE (build/fuzz/NAME-input).\n",
	      stderr);
	return 2;
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	char folder[512], kept[512];
	unsigned long seconds = 0, made = 0;
	struct corpus corpus = { 0 };
	int i;

	name = name ? name + 1 : argv[0];
	if (!strncmp(name, PREFIX, strlen(PREFIX)))
		name += strlen(PREFIX);
	snprintf(folder, sizeof(folder), "tests/fuzz/corpus/%s", name);
	snprintf(kept, sizeof(kept), "build/fuzz/%s-input", name);
	random_state = (uint64_t)time(NULL);
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--seconds") && i + 1 < argc)
			seconds = strtoul(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			random_state = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--keep") && i + 1 < argc)
			snprintf(kept, sizeof(kept), "%s", argv[++i]);
		else if (argv[i][0] == '-')
			return usage();
		else
			snprintf(folder, sizeof(folder), "%s", argv[i]);
	}
	if (!corpus_load(&corpus, folder)) {
		printf("not ok - %s: no corpus in %s\n", name, folder);
		corpus_free(&corpus);
		return EXIT_FAILURE;
	}
	for (i = 0; i < corpus.count; i++) {
		/* A failing target ends the process; this line is then the last. */
		printf("%s/%s\n", folder, corpus.name[i]->d_name);
		fflush(stdout);
		LLVMFuzzerTestOneInput(corpus.data[i], corpus.size[i]);
	}
	if (seconds) {
		printf("seed %llu\n", (unsigned long long)random_state);
		fflush(stdout);
		made = made_run(&corpus, seconds, kept);
	}
	corpus_free(&corpus);
	printf("ok - %s: %d inputs, %lu made from them\n", name, i, made);
	return EXIT_SUCCESS;
}
