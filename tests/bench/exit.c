// SPDX-License-Identifier: GPL-2.0
/*
 * exit PROCESSES MIB CORPUS: how long processes take to exit, all at once, that
 * have MIB of pages of CORPUS each, all of it in swap.
 *
 * Prints a line of NAME=VALUE words: nanoseconds from letting them go until the
 * last one is reaped, and how many pages they had in swap. Fails if that were
 * not nearly all.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "user.h"

/* How often to ask for a page that was busy; which part has to be in swap */
#define TRIES		5
#define MOST(pages)	((pages) / 100 * 95)

/* The number makes it a page that no other one is. */
static void fill(uint8_t *memory, uint64_t nr, uint64_t first, const char *path)
{
	int corpus;
	uint64_t nr_corpus = open_corpus(path, &corpus);

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t number = first + i;

		read_corpus(corpus, number % nr_corpus, memory + i * PAGE);
		memcpy(memory + i * PAGE, &number, sizeof(number));
	}
	close(corpus);
}

/* All have been written to: those that are not in memory are in swap alone. */
static uint64_t swapped(void *memory, uint64_t nr)
{
	unsigned char *in_memory = map(nr, 0);
	uint64_t found = 0;

	if (mincore(memory, nr * PAGE, in_memory))
		err(1, "mincore");
	for (uint64_t i = 0; i < nr; i++)
		found += !(in_memory[i] & 1);
	munmap(in_memory, nr);
	return found;
}

static uint64_t swap_out(void *memory, uint64_t nr)
{
	uint64_t found = 0;

	for (int i = 0; i < TRIES && found < nr; i++) {
		if (madvise(memory, nr * PAGE, MADV_PAGEOUT))
			err(1, "MADV_PAGEOUT");
		found = swapped(memory, nr);
	}
	return found;
}

/* Says on @ready how much is in swap; exits when nobody can write to @go. */
static void child(uint64_t nr, uint64_t first, const char *corpus, int ready, int go)
{
	void *memory = map(nr * PAGE, 0);
	uint64_t found;
	char none;

	madvise(memory, nr * PAGE, MADV_NOHUGEPAGE);
	fill(memory, nr, first, corpus);
	found = swap_out(memory, nr);
	if (write(ready, &found, sizeof(found)) != sizeof(found))
		err(1, "pipe");
	close(ready);
	_exit(read(go, &none, 1) != 0);
}

static void start(int processes, uint64_t nr, const char *corpus, int ready[2], int go[2])
{
	if (pipe(ready) || pipe(go))
		err(1, "pipe");
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (!pid) {
			close(go[1]);
			child(nr, i * nr, corpus, ready[1], go[0]);
		}
	}
	close(ready[1]);
}

int main(int argc, char **argv)
{
	int processes, status, ready[2], go[2];
	uint64_t nr, found, all = 0;
	long long begin;

	if (argc != 4)
		errx(2, "usage: exit PROCESSES MIB CORPUS");
	processes = atoi(argv[1]);
	nr = strtoull(argv[2], NULL, 0) * (MIB / PAGE);
	start(processes, nr, argv[3], ready, go);
	for (int i = 0; i < processes; i++) {
		if (read(ready[0], &found, sizeof(found)) != sizeof(found))
			errx(1, "a process died");
		if (found < MOST(nr))
			errx(1, "%llu of %llu pages in swap",
			     (unsigned long long)found, (unsigned long long)nr);
		all += found;
	}
	begin = now_ns();
	close(go[1]);
	for (int i = 0; i < processes; i++)
		if (wait(&status) < 0 || status)
			errx(1, "a process failed");
	printf("value=%lld pages=%llu\n", now_ns() - begin, (unsigned long long)all);
	return 0;
}
