/* SPDX-License-Identifier: GPL-2.0 */
/* What the programs that make load have in common. */
#ifndef USER_H
#define USER_H

#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096ul
#define MIB	(1ul << 20)

static inline long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void *map(size_t bytes, int flags)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap of %zu bytes", bytes);
	return p;
}

/* Opens a file of pages; returns how many it has. */
static inline uint64_t open_corpus(const char *path, int *fd)
{
	struct stat st;

	*fd = open(path, O_RDONLY);
	if (*fd < 0 || fstat(*fd, &st) || (uint64_t)st.st_size < PAGE)
		err(1, "%s", path);
	return st.st_size / PAGE;
}

/* Reads page @nth of a file of pages. */
static inline void read_corpus(int fd, uint64_t nth, void *page)
{
	if (pread(fd, page, PAGE, nth * PAGE) != (ssize_t)PAGE)
		err(1, "corpus");
}

#endif
