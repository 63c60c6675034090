// SPDX-License-Identifier: GPL-2.0
/*
 * demo-fill MB: fills MB megabytes of memory with the pages of the files that
 * are named on standard input, then reads all of it back, twice, and compares
 * each page with its checksum. With less RAM than that, most goes through swap.
 *
 * Prints: pages, MB/s while filling, MB/s while verifying.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* FNV-1a over words: any change of a page changes it. */
static uint64_t checksum(const void *page)
{
	const uint64_t *p = page;
	uint64_t sum = 0xcbf29ce484222325;
	size_t i;

	for (i = 0; i < PAGE / sizeof(*p); i++)
		sum = (sum ^ p[i]) * 0x100000001b3;
	return sum;
}

/* Reads the whole pages of a file to memory; returns how many. */
static size_t take(const char *path, off_t from, unsigned char *to, size_t room)
{
	int fd = open(path, O_RDONLY);
	size_t n = 0;
	ssize_t got;

	if (fd < 0)
		return 0;
	while (n < room * PAGE) {
		got = pread(fd, to + n, room * PAGE - n, from + n);
		if (got <= 0)
			break;
		n += got;
	}
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return n / PAGE;
}

static size_t fill(unsigned char *memory, uint64_t *sums, size_t want, FILE *list)
{
	size_t pages = 0, before = 0, len = 0, i, n;
	char *line = NULL;
	off_t from = 0;

	while (pages < want) {
		if (getline(&line, &len, list) <= 0) {
			if (pages == before)
				return pages;
			before = pages;
			from += 512;
			rewind(list);
			continue;
		}
		line[strcspn(line, "\n")] = 0;
		n = take(line, from, memory + pages * PAGE, want - pages);
		for (i = pages; i < pages + n; i++)
			sums[i] = checksum(memory + i * PAGE);
		pages += n;
	}
	return pages;
}

static size_t verify(const unsigned char *memory, const uint64_t *sums, size_t pages)
{
	size_t i, bad = 0;

	for (i = 0; i < pages; i++)
		bad += checksum(memory + i * PAGE) != sums[i];
	return bad;
}

int main(int argc, char **argv)
{
	size_t want = argc == 3 ? strtoul(argv[1], NULL, 0) << 20 >> 12 : 0;
	FILE *list = argc == 3 ? fopen(argv[2], "r") : NULL;
	double start, filled, end;
	unsigned char *memory;
	uint64_t *sums;
	size_t bad;

	memory = mmap(NULL, want * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	sums = calloc(want, sizeof(*sums));
	if (!list || memory == MAP_FAILED || !sums) {
		fprintf(stderr, "usage: demo-fill MB LIST\n");
		return 2;
	}
	start = now();
	if (fill(memory, sums, want, list) < want) {
		fprintf(stderr, "demo-fill: no files to take pages from\n");
		return 2;
	}
	filled = now();
	bad = verify(memory, sums, want);
	end = now();
	if (bad) {
		fprintf(stderr, "demo-fill: %zu pages came back wrong\n", bad);
		return 1;
	}
	printf("%zu %.0f %.0f\n", want, want / 256 / (filled - start),
	       want / 256 / (end - filled));
	return 0;
}
