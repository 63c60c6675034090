// SPDX-License-Identifier: GPL-2.0
/*
 * swapfill PROCESSES MB SEED [hold]: each process fills MB megabytes of
 * anonymous memory with pages of many kinds, verifies every page in order,
 * rewrites a third of them in random order and verifies as many. With less RAM
 * than that in the guest, most pages go through swap.
 *
 * "hold": one process only; after filling it prints "filled" and waits for
 * SIGUSR1 before it verifies.
 */
#define _GNU_SOURCE
#include "page.h"
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

static uint64_t nr_pages, seed;
static uint8_t *memory;
static uint32_t *generation;

/* Of 16 pages so many are of a kind: swap is full of text and programs. */
static void fill(void *page, uint64_t id, uint64_t gen)
{
	static const enum page_kind kinds[16] = {
		PAGE_TEXT, PAGE_TEXT, PAGE_TEXT, PAGE_TEXT, PAGE_TEXT, PAGE_TEXT,
		PAGE_REAL, PAGE_REAL, PAGE_REAL, PAGE_REAL, PAGE_REAL,
		PAGE_RANDOM, PAGE_HALF, PAGE_SAME, PAGE_ZERO, PAGE_ZERO,
	};

	page_fill_kind(page, kinds[mix(seed + gen + mix(id)) % 16], seed, id, gen);
}

static void rewrite(uint64_t page)
{
	fill(memory + page * PAGE_SZ, page, ++generation[page]);
}

static void verify(uint64_t page)
{
	static uint8_t expected[PAGE_SZ];

	fill(expected, page, generation[page]);
	if (!memcmp(memory + page * PAGE_SZ, expected, PAGE_SZ))
		return;
	page_explain(memory + page * PAGE_SZ, expected, seed, page);
	die("page %llu, generation %u came back wrong from swap",
	    (unsigned long long)page, generation[page]);
}

static int run(bool hold)
{
	uint64_t rng = mix(seed), i;

	memory = mmap(NULL, nr_pages * PAGE_SZ, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	generation = calloc(nr_pages, sizeof(*generation));
	if (memory == MAP_FAILED || !generation)
		die("no memory");
	madvise(memory, nr_pages * PAGE_SZ, MADV_NOHUGEPAGE);

	for (i = 0; i < nr_pages; i++)
		rewrite(i);
	if (hold) {
		sigset_t set;
		int sig;

		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigprocmask(SIG_BLOCK, &set, NULL);
		puts("filled");
		fflush(stdout);
		sigwait(&set, &sig);
	}
	for (i = 0; i < nr_pages; i++)
		verify(i);
	for (i = 0; i < nr_pages / 3; i++)
		rewrite(below(&rng, nr_pages));
	for (i = 0; i < nr_pages / 3; i++)
		verify(below(&rng, nr_pages));
	return 0;
}

int main(int argc, char **argv)
{
	int processes, status, bad = 0;
	bool hold;

	if (argc < 4)
		die("usage: swapfill PROCESSES MB SEED [hold]");
	processes = atoi(argv[1]);
	nr_pages = strtoull(argv[2], NULL, 0) * (1048576 / PAGE_SZ);
	seed = strtoull(argv[3], NULL, 0);
	hold = argc > 4;
	corpus_open();
	if (hold)
		return run(true);
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork: %s", strerror(errno));
		if (!pid) {
			seed += i;
			exit(run(false));
		}
	}
	while (wait(&status) > 0) {
		if (WIFSIGNALED(status))
			fprintf(stderr, "a process died of signal %d\n", WTERMSIG(status));
		bad |= status;
	}
	return bad ? 1 : 0;
}
