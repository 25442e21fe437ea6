// SPDX-License-Identifier: BSD-2-Clause
/*
 * Links between devices of different processes: neighbours that come, go and stop, connections that
 * break, processes that lie, and an UltraServer of four nodes whose election is run by registers.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "emu_rig.h"
#include "link_rig.h"
#include "tests/emulator/far_priv.h"

#define DATA LINK_RIG_DATA
#define BACK (LINK_RIG_DATA + 0x100000)
#define FLAG (LINK_RIG_DATA + 0x200000)
#define SEM  3u

/* Neighbours, as in test_emu_links.c. */
static const struct pair {
	const char *arch;
	unsigned int id[2], link[2];
} pairs[] = {
	{ "trn1", { 0, 4 }, { 1, 3 } },
	{ "inf2", { 0, 1 }, { 1, 0 } },
	{ "trn2", { 0, 8 }, { 1, 0 } },
};

static const struct pair *pair;
static char dir[64];

static void dir_make(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (!strcmp(pairs[i].arch, rig_map->arch))
			pair = &pairs[i];
	snprintf(dir, sizeof(dir), "/tmp/trainium-links-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

/* Devices remove what they made, so the folder must be empty; @left: unless one was killed. */
static void dir_remove(bool left)
{
	char path[128];
	unsigned int i;

	for (i = 0; left && i < 2; i++) {
		snprintf(path, sizeof(path), "%s/trainium-0-%u.sock", dir, pair->id[i]);
		unlink(path);
		snprintf(path, sizeof(path), "%s/trainium-0-%u.lock", dir, pair->id[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(dir), 0);
}

static struct emu_config config_of(unsigned int which)
{
	struct emu_config config = link_config(pair->arch, NULL, pair->id[which]);

	config.link_dir = dir;
	return config;
}

static void one_open(struct link_dev *dev, unsigned int which)
{
	const struct emu_config config = config_of(which);

	link_open(dev, &config);
}

/** struct child - a process; made before this one has threads, does nothing until told to go. */
struct child {
	pid_t pid;
	int tell, hear;
};

static void say(int fd, char word)
{
	if (write(fd, &word, 1) != 1)
		_exit(9);
}

static void told(int fd, char expected)
{
	char word = 0;

	if (read(fd, &word, 1) != 1 || word != expected)
		_exit(8);
}

static void child_make(struct child *child, int (*run)(int hear, int tell))
{
	int down[2], up[2];

	ck_assert_int_eq(pipe(down), 0);
	ck_assert_int_eq(pipe(up), 0);
	child->pid = fork();
	ck_assert_int_ge(child->pid, 0);
	if (!child->pid) {
		close(down[1]);
		close(up[0]);
		told(down[0], 'g');
		_exit(run(down[0], up[1]));
	}
	close(down[0]);
	close(up[1]);
	child->tell = down[1];
	child->hear = up[0];
}

static void child_go(struct child *child)
{
	say(child->tell, 'g');
}

static void child_wait(struct child *child, char expected)
{
	char word = 0;

	ck_assert_int_eq(read(child->hear, &word, 1), 1);
	ck_assert_int_eq(word, expected);
}

static void child_end(struct child *child)
{
	int status = -1;

	say(child->tell, 'e');
	close(child->tell);
	ck_assert_int_eq(waitpid(child->pid, &status, 0), child->pid);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "the other process ended with %d",
		      status);
	close(child->hear);
}

/* Returns when it has stopped. */
static void child_stop(struct child *child)
{
	int status;

	kill(child->pid, SIGSTOP);
	ck_assert_int_eq(waitpid(child->pid, &status, WUNTRACED), child->pid);
	ck_assert(WIFSTOPPED(status));
}

static void child_kill(struct child *child)
{
	int status;

	kill(child->pid, SIGKILL);
	ck_assert_int_eq(waitpid(child->pid, &status, 0), child->pid);
	close(child->tell);
	close(child->hear);
}

/* The neighbour of the device under test: exists until told to end. */
static int run_idle(int hear, int tell)
{
	struct link_dev dev;

	one_open(&dev, 1);
	say(tell, 'r');
	told(hear, 'e');
	link_close(&dev, 0);
	return 0;
}

/* Waits for the semaphore, checks the data that was sent before, sends it back the same way. */
static int run_echo(int hear, int tell)
{
	struct link_queue queue;
	struct link_dev dev;
	uint64_t window;
	uint32_t i;

	one_open(&dev, 1);
	link_wait_state(&dev, pair->link[1], 2);
	window = link_window(&dev, pair->link[1]);
	link_queue_open(&dev, &queue, 0, 0);
	say(tell, 'r');
	while (link_read(&dev, link_sem(&dev, TRN_TPB_SEM_READ, SEM)) != 1)
		link_pause(0);
	for (i = 0; i < 65536; i += 4)
		if (link_word(&dev, BACK + i) != i * 2654435761u)
			return 2;
	link_word_set(&dev, FLAG, 7);
	link_append(&queue, window + BACK, BACK, 65536, false);
	link_append(&queue, window + FLAG, FLAG, 4, false);
	link_ring(&queue, 2);
	link_wait_idle(&queue);
	told(hear, 'e');
	link_close(&dev, 0);
	return 0;
}

START_TEST(there_and_back)
{
	struct link_queue queue;
	struct link_dev dev;
	struct child child;
	uint64_t window;
	uint32_t i;

	dir_make();
	child_make(&child, run_echo);
	child_go(&child);
	one_open(&dev, 0);
	child_wait(&child, 'r');
	link_wait_state(&dev, pair->link[0], 2);
	window = link_window(&dev, pair->link[0]);
	link_queue_open(&dev, &queue, 0, 0);
	for (i = 0; i < 65536; i += 4)
		link_word_set(&dev, DATA + i, i * 2654435761u);
	link_word_set(&dev, FLAG + 4, 1);
	link_append(&queue, window + BACK, DATA, 65536, false);
	link_append(&queue, window + link_sem_dev(&dev, TRN_TPB_SEM_INC, SEM), FLAG + 4, 4, false);
	link_ring(&queue, 2);
	link_wait_word(&dev, FLAG, 7);
	ck_assert_int_eq(memcmp(dev.hbm + BACK, dev.hbm + DATA, 65536), 0);
	/* MISC RAM of the neighbour; a copy inside of the neighbour; the clock of the ring. */
	link_copy(&queue, FLAG + 8, window + link_misc_dev(&dev) + TRN_MISC_SERIAL_LOW, 8);
	link_copy(&queue, window + FLAG + 64, window + BACK, 4096);
	link_copy(&queue, BACK + 65536, window + FLAG + 64, 4096);
	link_wait_idle(&queue);
	ck_assert_uint_eq(link_word(&dev, FLAG + 8), 0x10000000 + pair->id[1]);
	ck_assert_int_eq(memcmp(dev.hbm + BACK + 65536, dev.hbm + BACK, 4096), 0);
	child_end(&child);
	link_wait_state(&dev, pair->link[0], 1);
	ck_assert_uint_eq(link_reg(&dev, pair->link[0], TRN_LINK_ERRORS), 1);
	link_close(&dev, 0);
	dir_remove(false);
}
END_TEST

/* A process that dies: down, the queue waits. Its successor takes what waits. */
START_TEST(restart)
{
	struct link_queue queue, other;
	struct link_dev dev;
	struct child first, second;
	uint64_t window;

	dir_make();
	child_make(&first, run_idle);
	child_make(&second, run_idle);
	one_open(&dev, 0);
	ck_assert_uint_eq(link_reg(&dev, pair->link[0], TRN_LINK_STATE), 0);
	link_queue_open(&dev, &queue, 0, 0);
	link_queue_open(&dev, &other, 0, 1);
	window = link_window(&dev, pair->link[0]);
	link_word_set(&dev, DATA, 0x11);
	/* before anybody is there */
	link_copy(&queue, window + BACK, DATA, 4);
	link_copy(&queue, FLAG, window + BACK, 4);
	child_go(&first);
	child_wait(&first, 'r');
	link_wait_word(&dev, FLAG, 0x11);
	link_wait_idle(&queue);
	child_kill(&first);
	link_wait_state(&dev, pair->link[0], 1);
	link_word_set(&dev, DATA, 0x22);
	link_copy(&queue, window + BACK, DATA, 4);
	link_copy(&queue, FLAG, window + BACK, 4);
	link_copy(&other, FLAG + 4, DATA, 4);
	link_wait_idle(&other);
	ck_assert_uint_eq(link_word(&dev, FLAG), 0x11);
	child_go(&second);
	child_wait(&second, 'r');
	link_wait_word(&dev, FLAG, 0x22);
	link_wait_idle(&queue);
	child_end(&second);
	link_close(&dev, 0);
	dir_remove(true);
}
END_TEST

/* A process that is stopped holds up its queue and nothing else; a queue reset forgets it. */
START_TEST(stopped)
{
	struct link_queue queue, other;
	struct link_dev dev;
	struct child child;
	uint64_t window;

	dir_make();
	child_make(&child, run_idle);
	child_go(&child);
	one_open(&dev, 0);
	child_wait(&child, 'r');
	link_wait_state(&dev, pair->link[0], 2);
	link_queue_open(&dev, &queue, 0, 0);
	link_queue_open(&dev, &other, 0, 1);
	window = link_window(&dev, pair->link[0]);
	child_stop(&child);
	link_word_set(&dev, DATA, 0x31);
	link_copy(&queue, window + BACK, DATA, 4);
	link_copy(&other, FLAG, DATA, 4);
	link_wait_idle(&other);
	ck_assert_uint_eq(link_head(&queue), 0);
	link_queue_open(&dev, &queue, 0, 0);
	link_word_set(&dev, DATA, 0x32);
	link_copy(&queue, window + BACK + 4, DATA, 4);
	link_copy(&queue, FLAG + 8, window + BACK + 4, 4);
	kill(child.pid, SIGCONT);
	link_wait_word(&dev, FLAG + 8, 0x32);
	child_stop(&child);
	link_copy(&queue, window + BACK, DATA, 4);
	emu_device_reset(dev.dev);
	link_queue_open(&dev, &queue, 0, 0);
	link_copy(&queue, window + BACK, DATA, 4);
	/* A device that ends with work under way. */
	link_close(&dev, 0);
	kill(child.pid, SIGCONT);
	child_end(&child);
	dir_remove(false);
}
END_TEST

#define ROUNDS 300u

static int run_flapping(int hear, int tell)
{
	struct link_dev dev;
	unsigned int i;

	one_open(&dev, 1);
	say(tell, 'r');
	for (i = 0; i < 15; i++) {
		link_pause(3);
		emu_device_fault_set(dev.dev, "link-down", 1u << pair->link[1]);
		link_pause(1);
		emu_device_fault_set(dev.dev, "link-down", 0);
	}
	say(tell, 'd');
	told(hear, 'e');
	i = link_read(&dev, link_sem(&dev, TRN_TPB_SEM_READ, SEM));
	link_close(&dev, 0);
	return i == ROUNDS ? 0 : 3;
}

/* Connections that break at any point lose nothing and do nothing twice. */
START_TEST(flapping)
{
	struct link_queue queue;
	struct link_dev dev;
	struct child child;
	uint64_t window;
	unsigned int i;

	dir_make();
	child_make(&child, run_flapping);
	child_go(&child);
	one_open(&dev, 0);
	child_wait(&child, 'r');
	link_queue_open(&dev, &queue, 0, 0);
	window = link_window(&dev, pair->link[0]);
	link_word_set(&dev, DATA, 1);
	for (i = 0; i < ROUNDS; i++) {
		if (i % 40 == 7)
			emu_device_fault_set(dev.dev, "link-down", 1u << pair->link[0]);
		link_append(&queue, window + link_sem_dev(&dev, TRN_TPB_SEM_INC, SEM), DATA, 4,
			    false);
		link_append(&queue, window + BACK, BACK, 65536, false);
		link_ring(&queue, 2);
		if (i % 40 == 7) {
			link_pause(1);
			emu_device_fault_set(dev.dev, "link-down", 0);
		}
		if (i % 8 == 7)
			link_wait_idle(&queue);
	}
	link_wait_idle(&queue);
	child_wait(&child, 'd');
	child_end(&child);
	link_close(&dev, 0);
	dir_remove(false);
}
END_TEST

static void refused(const struct emu_config *config, const char *first, const char *second)
{
	struct emu_inproc *inproc;
	char error[256] = "";

	ck_assert_int_lt(emu_inproc_create(config, &inproc, error, sizeof(error)), 0);
	ck_assert_msg(strstr(error, first) && strstr(error, second), "%s", error);
}

START_TEST(bad_folders)
{
	struct emu_config config;
	char text[32], longer[192];
	struct link_dev dev;
	struct child child;

	dir_make();
	child_make(&child, run_idle);
	child_go(&child);
	child_wait(&child, 'r');
	config = config_of(1);
	config.name = "newcomer";
	snprintf(text, sizeof(text), "process %d", (int)child.pid);
	refused(&config, "newcomer", text);
	child_kill(&child);
	/* Who died gave its place up. */
	link_open(&dev, &config);
	refused(&config, "newcomer", "process");
	link_close(&dev, 0);
	config.link_dir = "/tmp/trainium-no-such-folder";
	refused(&config, "link-dir", "must exist");
	/* Sockets have short names; a folder that exists and is too deep. */
	snprintf(longer, sizeof(longer), "%s/%0*d", dir, 90, 0);
	ck_assert_int_eq(mkdir(longer, 0700), 0);
	config.link_dir = longer;
	refused(&config, "link-dir", "too long");
	ck_assert_int_eq(rmdir(longer), 0);
	dir_remove(false);
}
END_TEST

/* Two devices of one process, one fabric and one folder meet in the process. */
START_TEST(same_process)
{
	struct emu_config config;
	struct link_queue queue;
	struct link_dev dev[2];

	dir_make();
	config = config_of(0);
	config.fabric = "both";
	link_open(&dev[0], &config);
	config = config_of(1);
	config.fabric = "both";
	link_open(&dev[1], &config);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_STATE), 2);
	link_queue_open(&dev[0], &queue, 0, 0);
	link_word_set(&dev[0], DATA, 0x41);
	link_copy(&queue, link_window(&dev[0], pair->link[0]) + BACK, DATA, 4);
	link_wait_idle(&queue);
	ck_assert_uint_eq(link_word(&dev[1], BACK), 0x41);
	link_close(&dev[1], 0);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_STATE), 0);
	link_close(&dev[0], 0);
	dir_remove(false);
}
END_TEST

/* A neighbour that was in another process once, then is in this one, leaves no broken connection.
 */
START_TEST(same_process_later)
{
	struct emu_config config;
	struct link_dev dev[2];
	struct child child;

	dir_make();
	child_make(&child, run_idle);
	config = config_of(0);
	config.fabric = "both";
	link_open(&dev[0], &config);
	child_go(&child);
	child_wait(&child, 'r');
	link_wait_state(&dev[0], pair->link[0], 2);
	child_end(&child);
	link_wait_state(&dev[0], pair->link[0], 1);
	config = config_of(1);
	config.fabric = "both";
	link_open(&dev[1], &config);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_STATE), 2);
	link_close(&dev[1], 0);
	ck_assert_uint_eq(link_reg(&dev[0], pair->link[0], TRN_LINK_STATE), 0);
	link_close(&dev[0], 0);
	dir_remove(false);
}
END_TEST

static int dial(unsigned int which)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/trainium-0-%u.sock", dir,
		 pair->id[which]);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void send_all(int fd, const void *data, size_t len)
{
	/* The other end may have closed already, which is what some tests want. */
	if (send(fd, data, len, MSG_NOSIGNAL) < 0)
		ck_assert(errno == EPIPE || errno == ECONNRESET);
}

/* Return: the other end closed the connection. */
static bool closed(int fd)
{
	char byte;

	return recv(fd, &byte, 1, 0) <= 0;
}

static void send_frame(int fd, uint8_t type, uint32_t length, uint32_t value, uint64_t seq,
		       uint64_t addr, const void *data)
{
	const struct emu_far_frame frame = {
		.magic = EMU_FAR_MAGIC,
		.type = type,
		.length = length,
		.value = value,
		.seq = seq,
		.addr = addr,
	};

	send_all(fd, &frame, sizeof(frame));
	if (data)
		send_all(fd, data, length);
}

/* HELLO of the neighbour of device 0. */
static struct emu_far_hello neighbour(void)
{
	struct emu_far_hello hello = {
		.version = EMU_FAR_VERSION,
		.nodes = 1,
		.routing_id = pair->id[1],
		.link = pair->link[1],
		.instance = 77,
	};

	strncpy(hello.arch, pair->arch, sizeof(hello.arch) - 1);
	return hello;
}

static struct emu_far_frame receive_frame(int fd, void *data, size_t size)
{
	struct emu_far_frame frame;

	ck_assert_int_eq(recv(fd, &frame, sizeof(frame), MSG_WAITALL), sizeof(frame));
	ck_assert_uint_le(frame.length, size);
	if (frame.length)
		ck_assert_int_eq(recv(fd, data, frame.length, MSG_WAITALL), (ssize_t)frame.length);
	return frame;
}

static int dial_as_neighbour(void)
{
	const struct emu_far_hello hello = neighbour();
	struct emu_far_hello answer;
	int fd = dial(0);

	send_frame(fd, EMU_FAR_HELLO, sizeof(hello), 0, 0, 0, &hello);
	ck_assert_uint_eq(receive_frame(fd, &answer, sizeof(answer)).type, EMU_FAR_HELLO);
	ck_assert_uint_eq(answer.routing_id, pair->id[0]);
	ck_assert_uint_eq(answer.link, pair->link[0]);
	return fd;
}

static void rejected_wait(struct link_dev *dev, uint32_t count)
{
	unsigned int i;

	for (i = 0; i < LINK_RIG_WAIT_MS && link_ext(dev, TRN_EXT_LINK_REJECTED) < count; i++)
		link_pause(1);
	ck_assert_uint_eq(link_ext(dev, TRN_EXT_LINK_REJECTED), count);
}

/* Whatever a stranger sends: the connection ends and is counted. */
START_TEST(strangers)
{
	struct emu_far_hello hello;
	uint8_t noise[256];
	struct link_dev dev;
	uint32_t count = 0;
	unsigned int i;
	int fd;

	dir_make();
	one_open(&dev, 0);
	memset(noise, 0xee, sizeof(noise));
	fd = dial(0);
	send_all(fd, noise, sizeof(noise));
	ck_assert(closed(fd));
	close(fd);
	rejected_wait(&dev, ++count);
	/* longer than any message */
	fd = dial(0);
	send_frame(fd, EMU_FAR_HELLO, EMU_FAR_BYTES + 1, 0, 0, 0, NULL);
	ck_assert(closed(fd));
	close(fd);
	rejected_wait(&dev, ++count);
	/* a request before HELLO */
	fd = dial(0);
	send_frame(fd, EMU_FAR_READ, 0, 4, 1, 0, NULL);
	ck_assert(closed(fd));
	close(fd);
	rejected_wait(&dev, ++count);
	/* somebody who is no neighbour, each field once */
	for (i = 0; i < sizeof(hello); i++) {
		if (i >= offsetof(struct emu_far_hello, instance))
			break;
		hello = neighbour();
		((uint8_t *)&hello)[i] ^= 0x40;
		fd = dial(0);
		send_frame(fd, EMU_FAR_HELLO, sizeof(hello), 0, 0, 0, &hello);
		ck_assert(closed(fd));
		close(fd);
		rejected_wait(&dev, ++count);
	}
	/* Silent ones, and half a message, are no harm; many make room for others. */
	fd = dial(0);
	send_all(fd, noise, 5);
	for (i = 0; i < 64; i++)
		close(dial(0));
	close(fd);
	fd = dial_as_neighbour();
	close(fd);
	ck_assert_uint_eq(link_complaints(&dev, EMU_COMPLAINT_NONE), 0);
	link_close(&dev, 0);
	dir_remove(false);
}
END_TEST

/* A neighbour that lies reaches nothing it may not, and breaks its own connection alone. */
START_TEST(lying_neighbour)
{
	static uint8_t data[EMU_FAR_BYTES];
	struct emu_far_frame frame;
	struct link_queue queue;
	struct link_dev dev;
	uint32_t count = 0;
	int fd;

	dir_make();
	one_open(&dev, 0);
	fd = dial_as_neighbour();
	/* host memory, another link, nothing at all */
	send_frame(fd, EMU_FAR_READ, 0, 64, 1, rig_map->host_base | 0x100000, NULL);
	ck_assert_uint_eq(receive_frame(fd, data, sizeof(data)).status, EMU_FAR_REFUSED);
	send_frame(fd, EMU_FAR_READ, 0, 64, 2, link_window(&dev, 0), NULL);
	ck_assert_uint_eq(receive_frame(fd, data, sizeof(data)).status, EMU_FAR_REFUSED);
	send_frame(fd, EMU_FAR_WRITE, 4, 0, 3, LINK_RIG_HBM, data);
	ck_assert_uint_eq(receive_frame(fd, data, sizeof(data)).status, EMU_FAR_REFUSED);
	send_frame(fd, EMU_FAR_READ, 0, EMU_FAR_BYTES, 4, UINT64_MAX - 100, NULL);
	ck_assert_uint_eq(receive_frame(fd, data, sizeof(data)).status, EMU_FAR_REFUSED);
	/* A request that was answered is not carried out again, only answered. */
	link_word_set(&dev, FLAG, 5);
	memcpy(data, "\x06\0\0\0", 4);
	send_frame(fd, EMU_FAR_WRITE, 4, 0, 5, FLAG, data);
	ck_assert_uint_eq(receive_frame(fd, data, sizeof(data)).status, EMU_FAR_OK);
	ck_assert_uint_eq(link_word(&dev, FLAG), 6);
	link_word_set(&dev, FLAG, 7);
	close(fd);
	fd = dial_as_neighbour();
	send_frame(fd, EMU_FAR_WRITE, 4, 0, 3, LINK_RIG_HBM, data);
	ck_assert_uint_eq(receive_frame(fd, data, sizeof(data)).status, EMU_FAR_REFUSED);
	memcpy(data, "\x06\0\0\0", 4);
	send_frame(fd, EMU_FAR_WRITE, 4, 0, 5, FLAG, data);
	frame = receive_frame(fd, data, sizeof(data));
	ck_assert_uint_eq(frame.status, EMU_FAR_OK);
	ck_assert_uint_eq(frame.seq, 5);
	ck_assert_uint_eq(link_word(&dev, FLAG), 7);
	/* A doorbell at the end of too long a chain of doorbells. */
	link_queue_open(&dev, &queue, 0, 0);
	memset(data, 0, 4);
	data[0] = 1;
	send_frame(fd, EMU_FAR_WRITE, 4, 70000, 6,
		   link_bar0_dev(&dev,
				 queue.udma + TRN_UDMA_M2S + TRN_UDMA_QUEUE(0) + TRN_Q_TAIL_INC),
		   data);
	ck_assert_uint_eq(receive_frame(fd, data, sizeof(data)).status, EMU_FAR_OK);
	ck_assert_uint_eq(link_complaints(&dev, EMU_COMPLAINT_REGISTER_DMA_LOOP), 1);
	/* no bytes, too many, a second HELLO, an answer to nothing: the end */
	send_frame(fd, EMU_FAR_READ, 0, 0, 7, FLAG, NULL);
	ck_assert(closed(fd));
	close(fd);
	rejected_wait(&dev, ++count);
	fd = dial_as_neighbour();
	send_frame(fd, EMU_FAR_READ, 0, EMU_FAR_BYTES + 1, 8, FLAG, NULL);
	ck_assert(closed(fd));
	close(fd);
	rejected_wait(&dev, ++count);
	fd = dial_as_neighbour();
	send_frame(fd, EMU_FAR_ACK, 0, 0, 6, 0, NULL);
	ck_assert(closed(fd));
	close(fd);
	rejected_wait(&dev, ++count);
	link_close(&dev, 1);
	dir_remove(false);
}
END_TEST

/* The connection of link[0]; on Trn2 the torus has one to the same neighbour. */
static int accept_link(int listener)
{
	struct emu_far_hello said;
	int fd;

	for (;;) {
		fd = accept(listener, NULL, NULL);
		ck_assert_int_ge(fd, 0);
		ck_assert_uint_eq(receive_frame(fd, &said, sizeof(said)).type, EMU_FAR_HELLO);
		ck_assert_uint_eq(said.routing_id, pair->id[0]);
		if (said.link == pair->link[0])
			return fd;
		close(fd);
	}
}

/* A neighbour's socket that answers nonsense: the link does not come up, or goes down. */
START_TEST(lying_server)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct emu_far_hello hello, said;
	struct emu_far_frame frame;
	struct link_queue queue;
	struct link_dev dev;
	int listener, fd;

	dir_make();
	hello = neighbour();
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/trainium-0-%u.sock", dir, pair->id[1]);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(listener, 4), 0);
	one_open(&dev, 0);
	/* a wrong HELLO */
	fd = accept_link(listener);
	hello.node = 1;
	send_frame(fd, EMU_FAR_HELLO, sizeof(hello), 0, 0, 0, &hello);
	ck_assert(closed(fd));
	close(fd);
	rejected_wait(&dev, 1);
	ck_assert_uint_eq(link_reg(&dev, pair->link[0], TRN_LINK_STATE), 0);
	/* It tries again; an answer to another request. */
	fd = accept_link(listener);
	hello = neighbour();
	send_frame(fd, EMU_FAR_HELLO, sizeof(hello), 0, 0, 0, &hello);
	link_wait_state(&dev, pair->link[0], 2);
	link_queue_open(&dev, &queue, 0, 0);
	link_copy(&queue, FLAG, link_window(&dev, pair->link[0]) + DATA, 4);
	frame = receive_frame(fd, &said, sizeof(said));
	ck_assert_uint_eq(frame.type, EMU_FAR_READ);
	ck_assert_uint_eq(frame.value, 4);
	send_frame(fd, EMU_FAR_DATA, 4, 0, frame.seq + 1, 0, "abcd");
	ck_assert(closed(fd));
	close(fd);
	rejected_wait(&dev, 2);
	link_wait_state(&dev, pair->link[0], 1);
	/* And again, with the request of before; the right answer at last. */
	fd = accept_link(listener);
	send_frame(fd, EMU_FAR_HELLO, sizeof(hello), 0, 0, 0, &hello);
	ck_assert_uint_eq(receive_frame(fd, &said, sizeof(said)).seq, frame.seq);
	send_frame(fd, EMU_FAR_DATA, 4, 0, frame.seq, 0, "abcd");
	link_wait_idle(&queue);
	ck_assert_int_eq(memcmp(dev.hbm + FLAG, "abcd", 4), 0);
	close(fd);
	close(listener);
	unlink(addr.sun_path);
	link_close(&dev, 0);
	dir_remove(false);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		there_and_back,	    restart,	 stopped,
		flapping,	    bad_folders, same_process,
		same_process_later, strangers,	 lying_neighbour,
		lying_server,
	};

	return RIG_MAIN("emu_far", tests);
}
