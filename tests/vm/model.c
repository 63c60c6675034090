// SPDX-License-Identifier: GPL-2.0
/*
 * model DEVICE BLOCKS OPERATIONS SEED: random operations on /dev/DEVICE, each
 * done on a plain array in memory as well, which is what the device must then
 * look like. So must the first and sixth column of mm_stat (bytes stored and
 * same-filled pages), which the array knows too. The device has to be set up
 * with the default or any other algorithm; it is reset and set up again on the
 * way, with MODEL_ALGORITHM from the environment.
 */
#define _GNU_SOURCE
#include "page.h"
#include <linux/fs.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#define MAX_RUN		24	/* blocks in one operation */
#define MAX_VEC		6

enum op { OP_WRITE, OP_READ, OP_DISCARD, OP_ZEROOUT, OP_COMPACT, OP_STAT, OP_RESET };

struct run {
	uint64_t block;
	uint64_t count;
};

static const char *device;
static uint64_t nr_blocks, seed, rng, generation;
static uint8_t *model;		/* the bytes */
static bool *stored;		/* does the device hold a page for the block? */
static uint8_t *arena;		/* user buffers, at odd offsets of it */
static uint8_t *scratch;	/* a run, in one piece */
static int dev_fd;

static void sys_put(const char *attr, const char *value)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", device, attr);
	err = file_put(path, value);
	if (err)
		die("%s: cannot write %s: %s", path, value, strerror(err));
}

static void open_device(void)
{
	char path[128];

	snprintf(path, sizeof(path), "/dev/%s", device);
	dev_fd = open(path, O_RDWR | O_DIRECT);
	if (dev_fd < 0)
		die("%s: %s", path, strerror(errno));
}

static struct run random_run(uint64_t max)
{
	struct run r = { .block = below(&rng, nr_blocks) };

	r.count = 1 + below(&rng, below(&rng, 2) ? max : 2);
	if (r.count > nr_blocks - r.block)
		r.count = nr_blocks - r.block;
	return r;
}

/*
 * A vector over the arena: pieces of whole blocks, some of them 512, 1024, …
 * bytes into a page, so that a block is split over two pages of memory.
 */
static int random_vector(struct iovec *vec, struct run r)
{
	uint8_t *at = arena;
	int n = 0;

	while (r.count) {
		uint64_t blocks = 1 + below(&rng, r.count);

		if (n == MAX_VEC - 1)
			blocks = r.count;
		at += below(&rng, 2) ? 512 * below(&rng, 8) : 0;
		vec[n].iov_base = at;
		vec[n++].iov_len = blocks * PAGE_SZ;
		at += blocks * PAGE_SZ;
		at = (uint8_t *)(((uintptr_t)at + PAGE_SZ - 1) & ~(uintptr_t)(PAGE_SZ - 1));
		r.count -= blocks;
	}
	return n;
}

static void copy_vector(const struct iovec *vec, int n, bool to_user)
{
	uint8_t *p = scratch;

	for (int i = 0; i < n; p += vec[i++].iov_len) {
		if (to_user)
			memcpy(vec[i].iov_base, p, vec[i].iov_len);
		else
			memcpy(p, vec[i].iov_base, vec[i].iov_len);
	}
}

static void do_write(void)
{
	struct run r = random_run(MAX_RUN);
	size_t bytes = r.count * PAGE_SZ;
	struct iovec vec[MAX_VEC];
	int n = random_vector(vec, r);

	for (uint64_t i = 0; i < r.count; i++) {
		page_fill(scratch + i * PAGE_SZ, seed, r.block + i, ++generation);
		stored[r.block + i] = true;
	}
	copy_vector(vec, n, true);
	memcpy(model + r.block * PAGE_SZ, scratch, bytes);
	if (pwritev(dev_fd, vec, n, r.block * PAGE_SZ) != (ssize_t)bytes)
		die("write of %llu blocks at %llu: %s", (unsigned long long)r.count,
		    (unsigned long long)r.block, strerror(errno));
}

static void compare(struct run r)
{
	for (uint64_t i = 0; i < r.count; i++) {
		uint8_t *got = scratch + i * PAGE_SZ;
		uint8_t *expected = model + (r.block + i) * PAGE_SZ;

		if (!memcmp(got, expected, PAGE_SZ))
			continue;
		page_explain(got, expected, seed, r.block + i);
		die("after %llu generations, run of %llu at %llu",
		    (unsigned long long)generation, (unsigned long long)r.count,
		    (unsigned long long)r.block);
	}
}

static void do_read(struct run r)
{
	size_t bytes = r.count * PAGE_SZ;
	struct iovec vec[MAX_VEC];
	int n = random_vector(vec, r);

	memset(arena, 0xa5, bytes + MAX_VEC * 2 * PAGE_SZ);
	if (preadv(dev_fd, vec, n, r.block * PAGE_SZ) != (ssize_t)bytes)
		die("read: %s", strerror(errno));
	copy_vector(vec, n, false);
	compare(r);
}

static void do_range(unsigned long request, const char *name)
{
	struct run r = random_run(below(&rng, 8) ? 16 : nr_blocks);
	uint64_t range[2] = { r.block * PAGE_SZ, r.count * PAGE_SZ };

	if (ioctl(dev_fd, request, range))
		die("%s: %s", name, strerror(errno));
	memset(model + range[0], 0, range[1]);
	memset(stored + r.block, 0, r.count * sizeof(*stored));
}

static bool same_filled(const uint8_t *page)
{
	return !memcmp(page, page + sizeof(long), PAGE_SZ - sizeof(long));
}

static void check_stat(void)
{
	unsigned long long orig, same, want_orig = 0, want_same = 0;
	char path[128];
	FILE *f;

	for (uint64_t i = 0; i < nr_blocks; i++) {
		want_orig += stored[i] ? PAGE_SZ : 0;
		want_same += stored[i] && same_filled(model + i * PAGE_SZ);
	}
	snprintf(path, sizeof(path), "/sys/block/%s/mm_stat", device);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu %*u %*u %*u %*u %llu", &orig, &same) != 2)
		die("%s: cannot be read", path);
	fclose(f);
	if (orig != want_orig || same != want_same)
		die("mm_stat says %llu bytes, %llu same-filled; it is %llu, %llu",
		    orig, same, want_orig, want_same);
}

static void do_reset(void)
{
	const char *algorithm = getenv("MODEL_ALGORITHM");
	char size[32];

	close(dev_fd);
	sys_put("reset", "1");
	if (algorithm)
		sys_put("comp_algorithm", algorithm);
	snprintf(size, sizeof(size), "%llu",
		 (unsigned long long)(nr_blocks * PAGE_SZ));
	sys_put("disksize", size);
	memset(model, 0, nr_blocks * PAGE_SZ);
	memset(stored, 0, nr_blocks * sizeof(*stored));
	open_device();
}

static enum op random_op(void)
{
	static const struct {
		enum op op;
		unsigned int weight;	/* of 1000 */
	} table[] = {
		{ OP_WRITE, 460 }, { OP_READ, 400 }, { OP_DISCARD, 80 },
		{ OP_ZEROOUT, 30 }, { OP_COMPACT, 14 }, { OP_STAT, 14 },
	};
	uint64_t r = below(&rng, 1000);

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (r < table[i].weight)
			return table[i].op;
		r -= table[i].weight;
	}
	return OP_RESET;
}

static void step(void)
{
	switch (random_op()) {
	case OP_WRITE:
		do_write();
		break;
	case OP_READ:
		do_read(random_run(MAX_RUN));
		break;
	case OP_DISCARD:
		do_range(BLKDISCARD, "discard");
		break;
	case OP_ZEROOUT:
		do_range(BLKZEROOUT, "write zeroes");
		break;
	case OP_COMPACT:
		sys_put("compact", "1");
		break;
	case OP_STAT:
		check_stat();
		break;
	case OP_RESET:
		do_reset();
		break;
	}
}

int main(int argc, char **argv)
{
	uint64_t ops;

	if (argc != 5)
		die("usage: model DEVICE BLOCKS OPERATIONS SEED");
	device = argv[1];
	nr_blocks = strtoull(argv[2], NULL, 0);
	ops = strtoull(argv[3], NULL, 0);
	seed = strtoull(argv[4], NULL, 0);
	rng = mix(seed);
	printf("model: %s, %s blocks, %s operations, seed %s\n",
	       device, argv[2], argv[3], argv[4]);
	corpus_open();
	model = page_alloc(nr_blocks * PAGE_SZ);
	stored = calloc(nr_blocks, sizeof(*stored));
	arena = page_alloc((MAX_RUN + MAX_VEC * 2) * PAGE_SZ);
	scratch = page_alloc(MAX_RUN * PAGE_SZ);
	open_device();
	for (uint64_t i = 0; i < ops; i++)
		step();
	for (struct run r = { 0, 1 }; r.block < nr_blocks; r.block++)
		do_read(r);
	check_stat();
	return 0;
}
