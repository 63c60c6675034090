// SPDX-License-Identifier: GPL-2.0
/*
 * direct CASE DEVICE SEED: direct I/O with awkward buffers and ranges.
 *
 *   split	buffers 512 … 3584 bytes into a page, so that each block of the
 *		device is split over two pages of memory
 *   vector	readv and writev, every piece at another offset in its page
 *   odd	pieces of an odd number of 512 bytes: right or refused
 *   edge	beyond the end, across it, and unaligned: refused
 *
 * The device is written in one way and read back in another. Guard bytes lie
 * around each buffer.
 */
#define _GNU_SOURCE
#include "page.h"
#include <linux/fs.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#define BLOCKS		64u
#define BYTES		(BLOCKS * PAGE_SZ)
#define GUARD		0x5a
#define MAX_VEC		48
#define ARENA		(BYTES + 2 * MAX_VEC * PAGE_SZ)

static uint64_t seed, rng, generation;
static uint8_t *want;		/* what the device must hold */
static uint8_t *aligned;	/* a buffer without tricks */
static uint8_t *arena;		/* ARENA bytes, buffers with tricks */
static int fd;

static void fill_want(uint64_t block, uint64_t count)
{
	generation++;
	for (; count; count--, block++)
		page_fill(want + block * PAGE_SZ, seed, block, generation);
}

/* Read all of it through an aligned buffer. */
static void check_all(const char *what)
{
	if (pread(fd, aligned, BYTES, 0) != BYTES)
		die("%s: read back: %s", what, strerror(errno));
	for (uint64_t b = 0; b < BLOCKS; b++) {
		if (!memcmp(aligned + b * PAGE_SZ, want + b * PAGE_SZ, PAGE_SZ))
			continue;
		page_explain(aligned + b * PAGE_SZ, want + b * PAGE_SZ, seed, b);
		die("%s: wrong bytes", what);
	}
}

static void check_guard(const uint8_t *from, const uint8_t *to, const char *what)
{
	for (; from < to; from++)
		if (*from != GUARD)
			die("%s: a byte outside the buffer was changed", what);
}

static void split_one(size_t off, uint64_t block, uint64_t count)
{
	size_t bytes = count * PAGE_SZ;
	uint8_t *buf = arena + PAGE_SZ + off;
	char what[80];

	snprintf(what, sizeof(what), "buffer at +%zu, %llu blocks at %llu", off,
		 (unsigned long long)count, (unsigned long long)block);
	fill_want(block, count);
	memset(arena, GUARD, bytes + 3 * PAGE_SZ);
	memcpy(buf, want + block * PAGE_SZ, bytes);
	if (pwrite(fd, buf, bytes, block * PAGE_SZ) != (ssize_t)bytes)
		die("%s: write: %s", what, strerror(errno));
	check_all(what);

	fill_want(block, count);
	memcpy(aligned, want + block * PAGE_SZ, bytes);
	if (pwrite(fd, aligned, bytes, block * PAGE_SZ) != (ssize_t)bytes)
		die("%s: aligned write: %s", what, strerror(errno));
	memset(arena, GUARD, bytes + 3 * PAGE_SZ);
	if (pread(fd, buf, bytes, block * PAGE_SZ) != (ssize_t)bytes)
		die("%s: read: %s", what, strerror(errno));
	check_guard(arena, buf, what);
	check_guard(buf + bytes, arena + bytes + 3 * PAGE_SZ, what);
	if (memcmp(buf, want + block * PAGE_SZ, bytes))
		die("%s: wrong bytes read", what);
}

static void test_split(void)
{
	for (size_t off = 512; off < PAGE_SZ; off += 512) {
		split_one(off, 0, 1);
		split_one(off, 7, 2);
		split_one(off, BLOCKS - 9, 9);
		split_one(off, 0, BLOCKS);
	}
}

/*
 * Cut bytes into pieces of multiples of unit, each at some 512 … 3584 of a
 * page of its own in the arena.
 */
static int cut(struct iovec *vec, size_t bytes, size_t unit)
{
	uint8_t *at = arena;
	int n = 0;

	while (bytes) {
		size_t len = unit * (1 + below(&rng, 5 * PAGE_SZ / unit));

		if (len > bytes || n == MAX_VEC - 1)
			len = bytes;
		vec[n].iov_base = at + 512 * below(&rng, 8);
		vec[n].iov_len = len;
		at = (uint8_t *)vec[n++].iov_base + len + PAGE_SZ;
		at -= (uintptr_t)at % PAGE_SZ;
		bytes -= len;
	}
	return n;
}

static void gather(uint8_t *flat, const struct iovec *vec, int n)
{
	for (; n; n--, vec++) {
		memcpy(flat, vec->iov_base, vec->iov_len);
		flat += vec->iov_len;
	}
}

static void scatter(const struct iovec *vec, int n, const uint8_t *flat)
{
	for (; n; n--, vec++) {
		memcpy(vec->iov_base, flat, vec->iov_len);
		flat += vec->iov_len;
	}
}

/*
 * The block layer may refuse a vector of odd pieces, or some way into it. Each
 * block is then the old or the new one.
 */
static void settle(const uint8_t *old, uint64_t block, uint64_t count)
{
	size_t bytes = count * PAGE_SZ;

	if (pread(fd, aligned, bytes, block * PAGE_SZ) != (ssize_t)bytes)
		die("read after refusal: %s", strerror(errno));
	for (; count; count--, block++, old += PAGE_SZ) {
		uint8_t *got = aligned + bytes - count * PAGE_SZ;

		if (memcmp(got, old, PAGE_SZ) &&
		    memcmp(got, want + block * PAGE_SZ, PAGE_SZ))
			die("block %llu is neither old nor new after a refusal",
			    (unsigned long long)block);
		memcpy(want + block * PAGE_SZ, got, PAGE_SZ);
	}
	check_all("refused vector");
}

/* Returns false if the kernel refused the vector. */
static bool vector_write(size_t unit, uint64_t block, uint64_t count)
{
	static uint8_t old[BYTES];
	size_t bytes = count * PAGE_SZ;
	struct iovec vec[MAX_VEC];
	int n = cut(vec, bytes, unit);
	ssize_t done;

	memcpy(old, want + block * PAGE_SZ, bytes);
	fill_want(block, count);
	scatter(vec, n, want + block * PAGE_SZ);
	done = pwritev(fd, vec, n, block * PAGE_SZ);
	if (done != (ssize_t)bytes) {
		if (unit == PAGE_SZ || (done < 0 && errno != EINVAL))
			die("writev: %zd of %zu: %s", done, bytes, strerror(errno));
		settle(old, block, count);
		return false;
	}
	check_all("writev");
	return true;
}

static bool vector_read(size_t unit, uint64_t block, uint64_t count)
{
	size_t bytes = count * PAGE_SZ;
	struct iovec vec[MAX_VEC];
	int n = cut(vec, bytes, unit);
	ssize_t done;

	memset(arena, GUARD, ARENA);
	done = preadv(fd, vec, n, block * PAGE_SZ);
	if (done != (ssize_t)bytes &&
	    (unit == PAGE_SZ || (done < 0 && errno != EINVAL)))
		die("readv: %zd of %zu: %s", done, bytes, strerror(errno));
	gather(aligned, vec, n);
	if (done > 0 && memcmp(aligned, want + block * PAGE_SZ, done))
		die("readv: wrong bytes");
	memset(aligned, GUARD, bytes);
	scatter(vec, n, aligned);
	check_guard(arena, arena + ARENA, "readv");
	return done == (ssize_t)bytes;
}

static void test_vector(size_t unit)
{
	unsigned int wrote = 0, read = 0, i;

	for (i = 0; i < 150; i++) {
		uint64_t block = below(&rng, BLOCKS);
		uint64_t count = 1 + below(&rng, BLOCKS - block);

		wrote += vector_write(unit, block, count);
		read += vector_read(unit, block, count);
	}
	printf("of %u vectors %u were written and %u read\n", i, wrote, read);
}

static void expect(const char *what, ssize_t got, ssize_t want_bytes, int err)
{
	if (got != want_bytes || (got < 0 && errno != err))
		die("%s: %zd, %s; expected %zd, %s", what, got,
		    got < 0 ? strerrorname_np(errno) : "-", want_bytes,
		    err ? strerrorname_np(err) : "-");
	check_all(what);
}

static void test_edge(void)
{
	uint64_t past[2] = { BYTES, PAGE_SZ }, odd[2] = { 512, PAGE_SZ };
	uint64_t wrap[2] = { PAGE_SZ, -(uint64_t)PAGE_SZ };
	uint8_t *junk = arena;

	fill_random((uint64_t *)junk, 2 * PAGE_WORDS, &rng);
	expect("write at the end", pwrite(fd, junk, PAGE_SZ, BYTES), -1, ENOSPC);
	expect("write far beyond the end", pwrite(fd, junk, PAGE_SZ, 1ll << 50), -1, ENOSPC);
	expect("read at the end", pread(fd, junk, PAGE_SZ, BYTES), 0, 0);
	memcpy(junk, want + BYTES - PAGE_SZ, PAGE_SZ);
	expect("write across the end",
	       pwrite(fd, junk, 2 * PAGE_SZ, BYTES - PAGE_SZ), PAGE_SZ, 0);
	fill_random((uint64_t *)junk, 2 * PAGE_WORDS, &rng);
	expect("write of 512 bytes", pwrite(fd, junk, 512, 0), -1, EINVAL);
	expect("write of 4608 bytes", pwrite(fd, junk, PAGE_SZ + 512, 0), -1, EINVAL);
	expect("write at 512", pwrite(fd, junk, PAGE_SZ, 512), -1, EINVAL);
	expect("write from an odd address", pwrite(fd, junk + 1, PAGE_SZ, 0), -1, EINVAL);
	expect("write of nothing", pwrite(fd, junk, 0, 0), 0, 0);
	expect("read of 512 bytes", pread(fd, junk, 512, 0), -1, EINVAL);
	expect("read at 2048", pread(fd, junk, PAGE_SZ, 2048), -1, EINVAL);
	expect("discard at the end", ioctl(fd, BLKDISCARD, past), -1, EINVAL);
	expect("discard at 512", ioctl(fd, BLKDISCARD, odd), -1, EINVAL);
	expect("discard that wraps", ioctl(fd, BLKDISCARD, wrap), -1, EINVAL);
	expect("zeroes at the end", ioctl(fd, BLKZEROOUT, past), -1, EINVAL);
	expect("zeroes at 512", ioctl(fd, BLKZEROOUT, odd), -1, EINVAL);
}

int main(int argc, char **argv)
{
	unsigned long long bytes = 0;

	if (argc != 4)
		die("usage: direct split|vector|odd|edge DEVICE SEED");
	seed = strtoull(argv[3], NULL, 0);
	rng = mix(seed);
	corpus_open();
	fd = open(argv[2], O_RDWR | O_DIRECT);
	if (fd < 0)
		die("%s: %s", argv[2], strerror(errno));
	if (ioctl(fd, BLKGETSIZE64, &bytes) || bytes != BYTES)
		die("the device must have %u bytes", BYTES);
	want = page_alloc(BYTES);
	aligned = page_alloc(BYTES);
	arena = page_alloc(ARENA);
	fill_want(0, BLOCKS);
	memcpy(aligned, want, BYTES);
	if (pwrite(fd, aligned, BYTES, 0) != BYTES)
		die("first write: %s", strerror(errno));
	check_all("first write");

	if (!strcmp(argv[1], "split"))
		test_split();
	else if (!strcmp(argv[1], "vector"))
		test_vector(PAGE_SZ);
	else if (!strcmp(argv[1], "odd"))
		test_vector(512);
	else if (!strcmp(argv[1], "edge"))
		test_edge();
	else
		die("no such case: %s", argv[1]);
	check_all("end");
	return 0;
}
