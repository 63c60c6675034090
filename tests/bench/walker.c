// SPDX-License-Identifier: GPL-2.0
/*
 * walker swap|in user|kernel MB CORPUS SEED PASSES MARK: walks through memory
 * that is larger than the machine's, filled with the pages of CORPUS.
 *
 *   swap   touch (write) the first byte of all pages in a random order, the
 *          same in each pass: once in a steady state, each step brings one page
 *          in and sends another out. The first pass is not counted.
 *   in     walk all pages in order, free the second half of them, and touch
 *          (read) each page of the first half once: pages come in, and hardly
 *          any has to go
 *
 * It touches pages itself (user), or has the kernel do it, many in one system
 * call (kernel): it is the same for the kernel's memory management, and spares
 * what a fault costs in a virtual machine where a fault is dear.
 *
 * While it counts, the file MARK holds a word, so that somebody else can watch
 * just that; it rests a while before and after. Prints a line of NAME=VALUE words:
 * time per page, and pages swapped in and out per page.
 *
 * Each page begins with its number, so no two are the same, and at the end of
 * a walk the pages that are looked at have to be what they were.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "user.h"

#define REST_NS		400000000l
/* Pages touched in one system call */
#define BATCH		1024u
/* Every so many pages one is looked at in the end */
#define CHECK_STEP	16u

/**
 * struct counters - what the kernel has counted
 * @in: pages swapped in
 * @out: pages swapped out
 */
struct counters {
	uint64_t in;
	uint64_t out;
};

static uint8_t *memory;
static uint64_t nr_pages;
static int corpus;
static uint64_t corpus_pages;
static const char *mark;
static int by_kernel;
static uint64_t rng;

static uint64_t next_random(void)
{
	uint64_t x = rng += 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static void rest(void)
{
	struct timespec t = { .tv_nsec = REST_NS };

	nanosleep(&t, NULL);
}

static void say(const char *word)
{
	int fd = open(mark, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, word, strlen(word)) < 0)
		err(1, "%s", mark);
	close(fd);
	rest();
}

static struct counters count(void)
{
	FILE *f = fopen("/proc/vmstat", "r");
	struct counters c = { 0 };
	unsigned long long n;
	char name[64];

	if (!f)
		err(1, "vmstat");
	while (fscanf(f, "%63s %llu", name, &n) == 2) {
		if (!strcmp(name, "pswpin"))
			c.in = n;
		else if (!strcmp(name, "pswpout"))
			c.out = n;
	}
	fclose(f);
	return c;
}

/*
 * The number comes after the byte that is touched. What does not count is left
 * to system calls where it can be: see by_kernel.
 */
static void fill(void)
{
	for (uint64_t i = 0; i < nr_pages; i++) {
		uint8_t *page = memory + i * PAGE;

		read_corpus(corpus, next_random() % corpus_pages, page);
		memcpy(page + 8, &i, sizeof(i));
	}
}

static void check(uint64_t page)
{
	uint64_t number;

	memcpy(&number, memory + page * PAGE + 8, sizeof(number));
	if (number != page)
		errx(1, "page %llu came back as %llu", (unsigned long long)page,
		     (unsigned long long)number);
}

static uint32_t *make_order(int random)
{
	uint32_t *order = map(nr_pages * sizeof(*order), 0);

	for (uint64_t i = 0; i < nr_pages; i++)
		order[i] = i;
	for (uint64_t i = nr_pages - 1; random && i; i--) {
		uint64_t other = next_random() % (i + 1);
		uint32_t was = order[i];

		order[i] = order[other];
		order[other] = was;
	}
	/* It is the walker's own memory that is to be swapped, not this. */
	if (mlock(order, nr_pages * sizeof(*order)))
		err(1, "mlock");
	return order;
}

static void print(double us, uint64_t steps, struct counters from)
{
	struct counters to = count();

	printf("value=%.4f steps=%llu swapped_in=%.4f swapped_out=%.4f\n",
	       us / steps, (unsigned long long)steps,
	       (double)(to.in - from.in) / steps,
	       (double)(to.out - from.out) / steps);
}

/* One byte of each page from /dev/zero, or to a file in memory. */
static void touch_batch(const uint32_t *pages, unsigned int nr, int fd, int write)
{
	struct iovec vecs[BATCH];
	ssize_t done;

	for (unsigned int i = 0; i < nr; i++) {
		vecs[i].iov_base = memory + pages[i] * PAGE;
		vecs[i].iov_len = 1;
	}
	done = write ? readv(fd, vecs, nr) : pwritev(fd, vecs, nr, 0);
	if (done != (ssize_t)nr)
		err(1, "touched %zd of %u pages", done, nr);
}

static void touch(const uint32_t *pages, uint64_t nr, int write, int kernel)
{
	static int fd = -1;
	volatile uint8_t *bytes = memory;

	if (kernel && fd < 0) {
		fd = write ? open("/dev/zero", O_RDONLY) : memfd_create("to", 0);
		if (fd < 0)
			err(1, "no file to read or write");
	}
	if (kernel)
		for (uint64_t i = 0; i < nr; i += BATCH)
			touch_batch(pages + i, nr - i < BATCH ? nr - i : BATCH,
				    fd, write);
	else if (write)
		for (uint64_t i = 0; i < nr; i++)
			bytes[pages[i] * PAGE]++;
	else
		for (uint64_t i = 0; i < nr; i++)
			(void)bytes[pages[i] * PAGE];
}

static void walk_swap(unsigned int passes)
{
	uint32_t *order = make_order(1);
	struct counters before;
	long long start, ns;

	fill();
	touch(order, nr_pages, 1, 1);
	say("on");
	before = count();
	start = now_ns();
	for (unsigned int pass = 0; pass < passes; pass++)
		touch(order, nr_pages, 1, by_kernel);
	ns = now_ns() - start;
	print(ns * 1e-3, passes * nr_pages, before);
	rest();
	say("");
	for (uint64_t i = 0; i < nr_pages; i += CHECK_STEP)
		check(i);
}

static void walk_in(void)
{
	uint32_t *order = make_order(0);
	uint64_t half = nr_pages / 2;
	struct counters before;
	long long start, ns;

	fill();
	touch(order, nr_pages, 0, 1);
	if (munmap(memory + half * PAGE, (nr_pages - half) * PAGE))
		err(1, "munmap");
	say("on");
	before = count();
	start = now_ns();
	touch(order, half, 0, by_kernel);
	ns = now_ns() - start;
	print(ns * 1e-3, half, before);
	rest();
	say("");
	for (uint64_t i = 0; i < half; i += CHECK_STEP)
		check(i);
}

int main(int argc, char **argv)
{
	if (argc != 8)
		errx(2, "usage: walker swap|in user|kernel MB CORPUS SEED PASSES MARK");
	by_kernel = !strcmp(argv[2], "kernel");
	nr_pages = strtoull(argv[3], NULL, 0) * (MIB / PAGE);
	corpus_pages = open_corpus(argv[4], &corpus);
	rng = strtoull(argv[5], NULL, 0);
	mark = argv[7];
	if (nr_pages < 2 || nr_pages > UINT32_MAX)
		errx(2, "that is no size: %s", argv[3]);
	memory = map(nr_pages * PAGE, MAP_NORESERVE);
	madvise(memory, nr_pages * PAGE, MADV_NOHUGEPAGE);
	if (!strcmp(argv[1], "swap"))
		walk_swap(strtoul(argv[6], NULL, 0));
	else
		walk_in();
	return 0;
}
