// SPDX-License-Identifier: GPL-2.0
/*
 * churn SECONDS SEED: hot_add, disksize, open, I/O, reset and hot_remove of
 * the same and of different devices at the same time.
 *
 * "Owners" add a device, use it, reset it, use it again and remove it.
 * "Intruders" open, read, reset and remove whatever device there is. An owner
 * therefore accepts that a step is refused, but as long as it holds the device
 * open, what it wrote must be there. Everything is gone at the end.
 */
#define _GNU_SOURCE
#include "page.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define OWNERS		3
#define INTRUDERS	3
#define BLOCKS		64u
#define MAX_ID		32

static uint64_t seed;
static time_t deadline;
static atomic_ulong added, removed, resets, filled, refused;

struct worker {
	pthread_t thread;
	uint64_t rng;
	uint8_t *buf;
	uint8_t *expected;
};

/* Which refusals are right when others pull at the same device. */
static void tolerate(const char *what, int err)
{
	switch (err) {
	case 0:
		return;
	case EBUSY: case ENODEV: case ENOENT: case ENXIO: case EINVAL: case EAGAIN:
		refused++;
		return;
	default:
		die("%s: %s", what, strerror(err));
	}
}

static int attr_put(int id, const char *attr, const char *value)
{
	char path[96];
	int err;

	snprintf(path, sizeof(path), "/sys/block/zram%d/%s", id, attr);
	err = file_put(path, value);
	tolerate(path, err);
	return err;
}

static int hot_add(void)
{
	char text[16] = "";
	int id = -1, fd = open("/sys/class/zram-control/hot_add", O_RDONLY);

	if (fd < 0)
		die("hot_add: %s", strerror(errno));
	if (read(fd, text, sizeof(text) - 1) <= 0)
		tolerate("hot_add", errno);
	else
		id = atoi(text);
	close(fd);
	if (id >= 0)
		added++;
	return id;
}

static int hot_remove(int id)
{
	char text[16];
	int err;

	snprintf(text, sizeof(text), "%d", id);
	err = file_put("/sys/class/zram-control/hot_remove", text);
	tolerate("hot_remove", err);
	if (!err)
		removed++;
	return err;
}

/* Write and read back, as long as the device is there and set up. */
static void use(struct worker *w, int id, bool write)
{
	uint64_t gen = 1 + below(&w->rng, 1000), b;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/zram%d", id);
	/* Writers exclude each other: an id may have got a second owner. */
	fd = open(path, (write ? O_RDWR | O_EXCL : O_RDONLY) | O_DIRECT);
	if (fd < 0) {
		tolerate(path, errno);
		return;
	}
	/* Not set up yet, or being taken away: no capacity. */
	if (pread(fd, w->buf, PAGE_SZ, (BLOCKS - 1) * PAGE_SZ) != PAGE_SZ || !write) {
		close(fd);
		return;
	}
	for (b = 0; b < BLOCKS; b++) {
		page_fill(w->buf, seed + id, b, gen);
		if (pwrite(fd, w->buf, PAGE_SZ, b * PAGE_SZ) != PAGE_SZ)
			die("%s: write of block %llu while open: %s", path,
			    (unsigned long long)b, strerror(errno));
	}
	for (b = 0; b < BLOCKS; b++) {
		page_fill(w->expected, seed + id, b, gen);
		if (pread(fd, w->buf, PAGE_SZ, b * PAGE_SZ) != PAGE_SZ)
			die("%s: read while open: %s", path, strerror(errno));
		if (!memcmp(w->buf, w->expected, PAGE_SZ))
			continue;
		page_explain(w->buf, w->expected, seed + id, b);
		die("%s: changed while open", path);
	}
	filled++;
	close(fd);
}

static int set_up(struct worker *w, int id)
{
	static const char * const algorithms[] = { "lzo", "lzo-rle", "lz4", "zstd" };
	char size[24];

	attr_put(id, "comp_algorithm", algorithms[below(&w->rng, 4)]);
	snprintf(size, sizeof(size), "%u", BLOCKS * PAGE_SZ);
	return attr_put(id, "disksize", size);
}

static void *own(void *arg)
{
	struct worker *w = arg;

	while (time(NULL) < deadline) {
		int id = hot_add(), lives = 1 + below(&w->rng, 3);

		if (id < 0)
			continue;
		while (lives--) {
			set_up(w, id);
			use(w, id, true);
			if (!attr_put(id, "reset", "1"))
				resets++;
		}
		set_up(w, id);
		hot_remove(id);
	}
	return NULL;
}

static void *intrude(void *arg)
{
	struct worker *w = arg;

	while (time(NULL) < deadline) {
		int id = below(&w->rng, 5);
		char path[64], text[256];
		int fd;

		switch (below(&w->rng, 8)) {
		case 0:
			hot_remove(id);
			break;
		case 1:
			if (!attr_put(id, "reset", "1"))
				resets++;
			break;
		case 2:
			set_up(w, id);
			break;
		case 3:
			attr_put(id, "compact", "1");
			break;
		case 4:
			snprintf(path, sizeof(path), "/sys/block/zram%d/mm_stat", id);
			fd = open(path, O_RDONLY);
			if (fd < 0)
				break;
			if (read(fd, text, sizeof(text)) < 0)
				tolerate("mm_stat", errno);
			close(fd);
			break;
		default:
			use(w, id, false);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[OWNERS + INTRUDERS] = { };
	char path[32];
	int i;

	if (argc != 3)
		die("usage: churn SECONDS SEED");
	seed = strtoull(argv[2], NULL, 0);
	deadline = time(NULL) + strtoull(argv[1], NULL, 0);
	corpus_open();
	for (i = 0; i < OWNERS + INTRUDERS; i++) {
		struct worker *w = &workers[i];

		w->rng = mix(seed + i);
		w->buf = page_alloc(PAGE_SZ);
		w->expected = page_alloc(PAGE_SZ);
		if (pthread_create(&w->thread, NULL, i < OWNERS ? own : intrude, w))
			die("no thread");
	}
	for (i = 0; i < OWNERS + INTRUDERS; i++)
		pthread_join(workers[i].thread, NULL);
	for (i = 0; i < MAX_ID; i++) {
		snprintf(path, sizeof(path), "/sys/block/zram%d", i);
		if (!access(path, F_OK) && hot_remove(i))
			die("%s cannot be removed at the end", path);
	}
	printf("%lu added, %lu removed, %lu resets, %lu fills verified, %lu refused\n",
	       added, removed, resets, filled, refused);
	if (!added || !filled || !resets)
		die("too little happened");
	return 0;
}
