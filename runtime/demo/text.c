// SPDX-License-Identifier: BSD-2-Clause
/* The text: loading it, drawing samples from it. Any bytes are fine. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "demo.h"

#define BYTES_MAX (1ull << 30)

static bool read_all(int fd, const char *path, struct demo_text *text)
{
	size_t room = 0;

	for (;;) {
		ssize_t n;

		if (text->bytes == room) {
			uint8_t *grown = realloc(text->data, room ? room * 2 : 65536);

			if (!grown)
				return demo_fail("%s: no memory for more than %zu bytes", path,
						 room);
			text->data = grown;
			room = room ? room * 2 : 65536;
		}
		n = read(fd, text->data + text->bytes, room - text->bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return demo_fail("%s: cannot be read: %s", path, strerror(errno));
		if (!n)
			return true;
		text->bytes += (size_t)n;
		if (text->bytes > BYTES_MAX)
			return demo_fail("%s: is larger than 1 GiB", path);
	}
}

bool demo_text_load(const char *path, struct demo_text *text)
{
	/* A pipe that nobody writes to is an empty text; one with a writer is waited for. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	bool ok;

	memset(text, 0, sizeof(*text));
	if (fd < 0)
		return demo_fail("%s: cannot be opened: %s", path, strerror(errno));
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode)) {
		close(fd);
		return demo_fail("%s: is a directory, a file with text is needed", path);
	}
	ok = fcntl(fd, F_SETFL, 0) ? demo_fail("%s: cannot be read: %s", path, strerror(errno))
				   : read_all(fd, path, text);
	close(fd);
	if (ok && text->bytes < DEMO_SAMPLE)
		ok = demo_fail("%s: has %zu bytes, at least %d are needed", path, text->bytes,
			       DEMO_SAMPLE);
	if (!ok)
		demo_text_free(text);
	return ok;
}

void demo_text_free(struct demo_text *text)
{
	free(text->data);
	memset(text, 0, sizeof(*text));
}

void demo_text_batch(const struct demo_text *text, uint64_t seed, uint64_t step, uint32_t batch,
		     uint8_t *samples)
{
	uint64_t state = (seed << 20) ^ step * 0xd1342543de82ef95ull;
	size_t places = text->bytes - DEMO_SAMPLE + 1;
	uint32_t b;

	for (b = 0; b < batch; b++)
		memcpy(samples + (size_t)b * DEMO_SAMPLE, text->data + demo_random(&state) % places,
		       DEMO_SAMPLE);
}

void demo_text_printable(const uint8_t *data, size_t bytes, char *out)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		out[i] = data[i] == '\n' || (data[i] >= ' ' && data[i] < 127) ? (char)data[i] : '.';
	out[bytes] = 0;
}
