// SPDX-License-Identifier: GPL-2.0
/*
 * stress [OPTIONS] DEVICE BLOCKS: parallel writers, readers and discards, each
 * block checked for its own content.
 *
 * Three quarters of the blocks are "owned": a mutex per block in this program
 * orders the operations on it, so the one right content is known. The rest is
 * "free for all": many threads write, read and discard the same few blocks
 * without order, and a reader must see zeroes or one whole version that was
 * written for that block, never a mixture.
 *
 *   -t N	threads (4)
 *   -n N	operations for each thread (2000)
 *   -S SEED
 *   -k KIND	only this kind of content (a number from page.h)
 *   -e		writes and reads may fail; a failed write must leave the old content
 *   -E		as -e, and at least one must fail
 *   -f		ask the kernel to fail allocations of the threads (see
 *		Documentation/fault-injection); implies -e
 */
#define _GNU_SOURCE
#include "page.h"
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ioctl.h>

#define SHARED_DIV	4	/* one block in four is free for all … */
#define SHARED_MAX	64	/* … but so few that threads do meet */

struct block {
	pthread_mutex_t lock;
	uint32_t generation;	/* 0: never written or discarded */
};

struct worker {
	pthread_t thread;
	uint64_t rng;
	uint8_t *buf;		/* what goes to the device or comes from it */
	uint8_t *expected;
};

static struct block *blocks;
static uint64_t nr_owned, nr_shared, ops_each = 2000, seed;
static int dev_fd, only_kind = -1;
static bool may_fail, must_fail, inject;
static atomic_ulong writes, reads, discards, errors;
static atomic_uint next_generation;

static void fill(void *page, uint64_t block, uint64_t gen)
{
	if (only_kind < 0 || !gen)
		page_fill(page, seed, block, gen);
	else
		page_fill_kind(page, only_kind, seed, block, gen);
}

/* 0, or -1 if the operation failed and may fail. */
static int done(ssize_t n, size_t bytes, const char *what, uint64_t block)
{
	if (n == (ssize_t)bytes)
		return 0;
	if (!may_fail || n >= 0 || (errno != EIO && errno != ENOMEM && errno != ENOSPC))
		die("%s of block %llu: %zd, %s", what, (unsigned long long)block,
		    n, strerror(errno));
	errors++;
	return -1;
}

static void check(struct worker *w, uint64_t block, uint32_t gen)
{
	fill(w->expected, block, gen);
	if (!memcmp(w->buf, w->expected, PAGE_SZ))
		return;
	page_explain(w->buf, w->expected, seed, block);
	die("block %llu: generation %u expected", (unsigned long long)block, gen);
}

static void owned_write(struct worker *w, uint64_t block)
{
	struct block *b = &blocks[block];
	uint32_t gen = ++next_generation;

	fill(w->buf, block, gen);
	pthread_mutex_lock(&b->lock);
	if (!done(pwrite(dev_fd, w->buf, PAGE_SZ, block * PAGE_SZ), PAGE_SZ,
		  "write", block))
		b->generation = gen;
	pthread_mutex_unlock(&b->lock);
	writes++;
}

static void owned_read(struct worker *w, uint64_t block)
{
	struct block *b = &blocks[block];

	memset(w->buf, 0xa5, PAGE_SZ);
	pthread_mutex_lock(&b->lock);
	if (!done(pread(dev_fd, w->buf, PAGE_SZ, block * PAGE_SZ), PAGE_SZ,
		  "read", block))
		check(w, block, b->generation);
	pthread_mutex_unlock(&b->lock);
	reads++;
}

static void owned_discard(struct worker *w, uint64_t block)
{
	uint64_t n = 1 + below(&w->rng, 8), i;
	uint64_t range[2];

	if (n > nr_owned - block)
		n = nr_owned - block;
	range[0] = block * PAGE_SZ;
	range[1] = n * PAGE_SZ;
	for (i = 0; i < n; i++)
		pthread_mutex_lock(&blocks[block + i].lock);
	if (!done(ioctl(dev_fd, BLKDISCARD, range), 0, "discard", block))
		for (i = 0; i < n; i++)
			blocks[block + i].generation = 0;
	for (i = 0; i < n; i++)
		pthread_mutex_unlock(&blocks[block + i].lock);
	discards++;
}

/* Stamped kinds only, so that a reader can tell what it should have read. */
static uint64_t stamped_generation(uint64_t block)
{
	uint64_t gen;
	enum page_kind kind;

	do {
		gen = ++next_generation;
		kind = page_kind_of(seed, block, gen);
	} while (only_kind < 0 && !page_is_stamped(kind));
	return gen;
}

static void check_shared(struct worker *w, uint64_t block)
{
	const struct page_stamp *stamp = (void *)w->buf;
	uint64_t gen = 0;

	if (stamp->magic == (STAMP_MAGIC ^ seed) && stamp->block == block)
		gen = stamp->generation;
	check(w, block, gen);
}

static void shared_op(struct worker *w)
{
	uint64_t block = nr_owned + below(&w->rng, nr_shared);
	uint64_t range[2] = { block * PAGE_SZ, PAGE_SZ };

	switch (below(&w->rng, 8)) {
	case 0:
		done(ioctl(dev_fd, BLKDISCARD, range), 0, "discard", block);
		discards++;
		break;
	case 1: case 2: case 3:
		fill(w->buf, block, stamped_generation(block));
		done(pwrite(dev_fd, w->buf, PAGE_SZ, range[0]), PAGE_SZ, "write", block);
		writes++;
		break;
	default:
		if (!done(pread(dev_fd, w->buf, PAGE_SZ, range[0]), PAGE_SZ, "read", block))
			check_shared(w, block);
		reads++;
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t i;

	if (inject && file_put("/proc/thread-self/make-it-fail", "1"))
		die("no fault injection");
	for (i = 0; i < ops_each; i++) {
		uint64_t dice = below(&w->rng, 100);
		uint64_t block = below(&w->rng, nr_owned);

		if (dice < 45)
			owned_write(w, block);
		else if (dice < 70)
			owned_read(w, block);
		else if (dice < 78)
			owned_discard(w, block);
		else
			shared_op(w);
	}
	return NULL;
}

static void verify_all(struct worker *w)
{
	uint64_t block;

	for (block = 0; block < nr_owned + nr_shared; block++) {
		if (pread(dev_fd, w->buf, PAGE_SZ, block * PAGE_SZ) != PAGE_SZ) {
			if (may_fail)
				continue;
			die("last read of block %llu: %s",
			    (unsigned long long)block, strerror(errno));
		}
		if (block < nr_owned)
			check(w, block, blocks[block].generation);
		else
			check_shared(w, block);
	}
}

int main(int argc, char **argv)
{
	unsigned int nr_threads = 4, i;
	struct worker *workers;
	uint64_t n;
	int opt;

	while ((opt = getopt(argc, argv, "t:n:S:k:eEf")) > 0) {
		switch (opt) {
		case 't': nr_threads = atoi(optarg); break;
		case 'n': ops_each = strtoull(optarg, NULL, 0); break;
		case 'S': seed = strtoull(optarg, NULL, 0); break;
		case 'k': only_kind = atoi(optarg); break;
		case 'f': inject = may_fail = true; break;
		case 'E': must_fail = true; /* fall through */
		case 'e': may_fail = true; break;
		default: return 2;
		}
	}
	if (argc - optind != 2)
		die("usage: stress [OPTIONS] DEVICE BLOCKS");
	n = strtoull(argv[optind + 1], NULL, 0);
	nr_shared = n / SHARED_DIV < SHARED_MAX ? n / SHARED_DIV : SHARED_MAX;
	nr_owned = n - nr_shared;
	dev_fd = open(argv[optind], O_RDWR | O_DIRECT);
	if (dev_fd < 0)
		die("%s: %s", argv[optind], strerror(errno));
	corpus_open();
	blocks = calloc(nr_owned, sizeof(*blocks));
	workers = calloc(nr_threads, sizeof(*workers));
	for (n = 0; n < nr_owned; n++)
		pthread_mutex_init(&blocks[n].lock, NULL);
	for (i = 0; i < nr_threads; i++) {
		workers[i].rng = mix(seed + i);
		workers[i].buf = page_alloc(PAGE_SZ);
		workers[i].expected = page_alloc(PAGE_SZ);
	}
	for (i = 0; i < nr_threads; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("no thread");
	for (i = 0; i < nr_threads; i++)
		pthread_join(workers[i].thread, NULL);
	verify_all(&workers[0]);
	printf("%lu writes, %lu reads, %lu discards, %lu errors\n", writes, reads,
	       discards, errors);
	if (must_fail && !errors)
		die("no operation failed");
	return 0;
}
