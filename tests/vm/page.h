/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contents of test pages, shared by the helper programs.
 *
 * A page is a function of (seed, block number, generation), so a reader needs
 * to remember only the generation to know every byte. Every kind of content
 * but those of one word opens with a stamp, so a wrong page says whose it is.
 */
#ifndef TEST_PAGE_H
#define TEST_PAGE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_SZ		4096u
#define PAGE_WORDS	(PAGE_SZ / sizeof(uint64_t))
#define TEXT_POOL	65536u
#define TEXT_LINE	64u
#define STAMP_MAGIC	0x7a72616d70616765ull

enum page_kind {
	PAGE_TEXT,	/* words of English */
	PAGE_REAL,	/* a page of a program or library */
	PAGE_RANDOM,	/* does not compress */
	PAGE_HALF,	/* random, then zeroes */
	PAGE_SAME,	/* one word over and over */
	PAGE_ZERO,
	PAGE_NEARLY,	/* one word over and over, but for one in between */
	NR_PAGE_KINDS
};

struct page_stamp {
	uint64_t magic;
	uint64_t block;
	uint64_t generation;
};

static const uint8_t *corpus;
static size_t corpus_pages;
static char text_pool[TEXT_POOL + TEXT_LINE];

#define die(...)						\
	do {							\
		fprintf(stderr, __VA_ARGS__);			\
		fputc('\n', stderr);				\
		exit(1);					\
	} while (0)

static inline uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static inline uint64_t rnd(uint64_t *state)
{
	*state += 0x9e3779b97f4a7c15ull;
	return mix(*state);
}

/* 0 … n - 1 */
static inline uint64_t below(uint64_t *state, uint64_t n)
{
	return rnd(state) % n;
}

static inline void make_text_pool(void)
{
	static const char * const words[] = {
		"page ", "block ", "the ", "of ", "compressed ", "and ",
		"device\n", "memory ", "a ", "swap ", "is ", "written ",
		"slot ", "to ", "lock\n", "which ", "reader ", "in ",
		"stream ", "never ", "class ", "object ",
	};
	uint64_t state = 1;

	for (size_t at = 0; at < sizeof(text_pool);) {
		const char *w = words[below(&state, sizeof(words) / sizeof(words[0]))];

		while (*w && at < sizeof(text_pool))
			text_pool[at++] = *w++;
	}
}

/*
 * To be called first. Real pages come from the file named by TEST_CORPUS;
 * without it, PAGE_REAL is text.
 */
static inline void corpus_open(void)
{
	const char *path = getenv("TEST_CORPUS");
	struct stat st;
	void *map;
	int fd;

	make_text_pool();
	fd = path ? open(path, O_RDONLY) : -1;
	if (fd < 0)
		return;
	if (fstat(fd, &st) || st.st_size < (off_t)PAGE_SZ)
		die("%s: too small", path);
	map = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("%s: %s", path, strerror(errno));
	close(fd);
	corpus = map;
	corpus_pages = st.st_size / PAGE_SZ;
}

/* Lines cut from a pool of words: cheap, for guests that are slow. */
static inline void fill_text(uint8_t *p, uint64_t *state)
{
	for (size_t at = 0; at < PAGE_SZ; at += TEXT_LINE)
		memcpy(p + at, text_pool + below(state, TEXT_POOL), TEXT_LINE);
}

static inline void fill_random(uint64_t *p, size_t words, uint64_t *state)
{
	while (words--)
		*p++ = rnd(state);
}

static inline void page_fill_kind(void *page, enum page_kind kind,
				  uint64_t seed, uint64_t block, uint64_t gen)
{
	uint64_t state = mix(seed ^ mix(block ^ mix(gen)));
	struct page_stamp *stamp = page;
	uint64_t *word = page;
	size_t i;

	switch (kind) {
	case PAGE_REAL:
		if (corpus) {
			memcpy(page, corpus + below(&state, corpus_pages) * PAGE_SZ,
			       PAGE_SZ);
			break;
		}
		/* fall through */
	case PAGE_TEXT:
		fill_text(page, &state);
		break;
	case PAGE_RANDOM:
		fill_random(word, PAGE_WORDS, &state);
		break;
	case PAGE_HALF:
		fill_random(word, PAGE_WORDS / 2, &state);
		memset(word + PAGE_WORDS / 2, 0, PAGE_SZ / 2);
		break;
	case PAGE_SAME:
	case PAGE_NEARLY:
		word[0] = rnd(&state);
		for (i = 1; i < PAGE_WORDS; i++)
			word[i] = word[0];
		if (kind == PAGE_NEARLY)
			word[1 + below(&state, PAGE_WORDS - 2)]++;
		return;
	case PAGE_ZERO:
	case NR_PAGE_KINDS:
		memset(page, 0, PAGE_SZ);
		return;
	}
	stamp->magic = STAMP_MAGIC ^ seed;
	stamp->block = block;
	stamp->generation = gen;
}

static inline int page_is_stamped(enum page_kind kind)
{
	return kind < PAGE_SAME;
}

static inline enum page_kind page_kind_of(uint64_t seed, uint64_t block,
					  uint64_t gen)
{
	return mix(mix(seed + gen) ^ block) % NR_PAGE_KINDS;
}

/* Generation 0 is a block never written or discarded. */
static inline void page_fill(void *page, uint64_t seed, uint64_t block,
			     uint64_t gen)
{
	page_fill_kind(page, gen ? page_kind_of(seed, block, gen) : PAGE_ZERO,
		       seed, block, gen);
}

/* Say what is wrong with a page that is not as expected. */
static inline void page_explain(const void *got, const void *expected,
				uint64_t seed, uint64_t block)
{
	const uint8_t *g = got, *e = expected;
	const struct page_stamp *stamp = got;
	size_t first = 0, last = PAGE_SZ - 1;

	while (first < PAGE_SZ && g[first] == e[first])
		first++;
	while (last > first && g[last] == e[last])
		last--;
	fprintf(stderr, "block %llu differs in bytes %zu to %zu: got %02x, expected %02x\n",
		(unsigned long long)block, first, last, g[first], e[first]);
	if (stamp->magic == (STAMP_MAGIC ^ seed))
		fprintf(stderr, "it is stamped block %llu, generation %llu\n",
			(unsigned long long)stamp->block,
			(unsigned long long)stamp->generation);
}

static inline void *page_alloc(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED)
		die("no memory for %zu bytes", bytes);
	return p;
}

/* Write a short string to a sysfs or procfs file; returns 0 or an errno. */
static inline int file_put(const char *path, const char *value)
{
	int err = 0, fd = open(path, O_WRONLY);

	if (fd < 0)
		return errno;
	if (write(fd, value, strlen(value)) < 0)
		err = errno;
	close(fd);
	return err;
}

#endif
