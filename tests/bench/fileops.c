// SPDX-License-Identifier: GPL-2.0
/*
 * fileops TEST same|different PROCESSES SECONDS DIR [CORPUS]: so many processes
 * do the same to files of their own, all in DIR or each in a folder of its own
 * below it, for so many seconds. Prints operations per second of all together.
 *
 *   open    open a file that is there, and close it
 *   creat   create an empty file, and delete it
 *   fsync   create a file of 16 KiB from CORPUS, fsync it, and delete it
 *
 * The first two are those of file-ops-test; the third is for the device: the
 * others go to the file system's caches.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES	16384u
/* One process's counter has a cache line of its own */
#define STRIDE		8

/**
 * struct shared - what all processes see
 * @ready: processes that are set up
 * @go: they may begin
 * @stop: they shall end
 * @ops: operations done, one counter every STRIDE
 */
struct shared {
	unsigned int ready;
	unsigned int go;
	unsigned int stop;
	uint64_t ops[];
};

static struct shared *shared;
static const char *corpus;
static size_t corpus_bytes;

static void op_open(const char *name, uint64_t nth)
{
	int fd = open(name, O_RDONLY);

	(void)nth;
	if (fd < 0)
		err(1, "%s", name);
	close(fd);
}

static void op_creat(const char *name, uint64_t nth)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);

	(void)nth;
	if (fd < 0)
		err(1, "%s", name);
	close(fd);
	if (unlink(name))
		err(1, "%s", name);
}

static void op_fsync(const char *name, uint64_t nth)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
	size_t from = nth * 7919 * 4096 % (corpus_bytes - FILE_BYTES);

	if (fd < 0)
		err(1, "%s", name);
	if (write(fd, corpus + from, FILE_BYTES) != FILE_BYTES)
		err(1, "write %s", name);
	if (fsync(fd))
		err(1, "fsync %s", name);
	close(fd);
	if (unlink(name))
		err(1, "%s", name);
}

static const struct test {
	const char *name;
	void (*op)(const char *name, uint64_t nth);
} tests[] = {
	{ "open", op_open },
	{ "creat", op_creat },
	{ "fsync", op_fsync },
};

static void enter(const char *dir, int different, unsigned int process)
{
	char own[32];

	if (chdir(dir))
		err(1, "%s", dir);
	if (!different)
		return;
	snprintf(own, sizeof(own), "d%u", process);
	mkdir(own, 0755);
	if (chdir(own))
		err(1, "%s", own);
}

static void run(const struct test *test, const char *dir, int different,
		unsigned int process)
{
	uint64_t *done = &shared->ops[process * STRIDE];
	char name[32];

	enter(dir, different, process);
	snprintf(name, sizeof(name), "f%u", process);
	unlink(name);
	if (test->op == op_open)
		close(open(name, O_CREAT | O_WRONLY, 0644));
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&shared->go, __ATOMIC_ACQUIRE))
		sched_yield();
	while (!__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		test->op(name, *done + process * 65537);
		__atomic_store_n(done, *done + 1, __ATOMIC_RELAXED);
	}
	unlink(name);
	exit(0);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static uint64_t total(unsigned int processes)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < processes; i++)
		sum += __atomic_load_n(&shared->ops[i * STRIDE],
				       __ATOMIC_RELAXED);
	return sum;
}

static void open_corpus(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		err(1, "%s", path);
	corpus_bytes = st.st_size;
	if (corpus_bytes <= FILE_BYTES)
		errx(1, "%s is too small", path);
	corpus = mmap(NULL, corpus_bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE,
		      fd, 0);
	if (corpus == MAP_FAILED)
		err(1, "%s", path);
	close(fd);
}

static const struct test *find_test(const char *name)
{
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		if (!strcmp(tests[i].name, name))
			return &tests[i];
	errx(1, "no such test: %s", name);
}

int main(int argc, char **argv)
{
	const struct test *test;
	unsigned int processes;
	int different, status, bad = 0;
	struct timespec nap;
	double seconds, start;
	uint64_t ops;

	if (argc < 6)
		errx(2, "usage: fileops open|creat|fsync same|different PROCESSES SECONDS DIR [CORPUS]");
	test = find_test(argv[1]);
	different = !strcmp(argv[2], "different");
	processes = atoi(argv[3]);
	seconds = atof(argv[4]);
	if (argc > 6)
		open_corpus(argv[6]);
	else if (test->op == op_fsync)
		errx(2, "fsync takes a corpus");
	shared = mmap(NULL, sizeof(*shared) + processes * STRIDE * sizeof(uint64_t),
		      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!processes || shared == MAP_FAILED)
		err(1, "shared memory");
	for (unsigned int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (!pid)
			run(test, argv[5], different, i);
	}
	while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < processes)
		sched_yield();
	start = now();
	__atomic_store_n(&shared->go, 1, __ATOMIC_RELEASE);
	nap.tv_sec = seconds;
	nap.tv_nsec = (seconds - nap.tv_sec) * 1e9;
	nanosleep(&nap, NULL);
	/* The parent may come late: what counts is when it looked. */
	ops = total(processes);
	seconds = now() - start;
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELAXED);
	while (wait(&status) > 0)
		bad |= status;
	if (bad)
		errx(1, "a process failed");
	printf("%.1f\n", ops / seconds);
	return 0;
}
