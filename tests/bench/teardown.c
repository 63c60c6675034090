// SPDX-License-Identifier: GPL-2.0
/*
 * teardown: how long a zram device takes to come and go.
 *
 *   teardown cycle SECONDS DISKSIZE DIRECTORY
 *	disksize, mkfs.ext4, mount, umount, reset on zram0, over and over
 *   teardown hot SECONDS
 *	hot_add, hot_remove, over and over
 *   teardown reset MIB DISKSIZE CORPUS
 *	once: disksize, MIB of pages of the corpus, reset, disksize, reset
 *
 * The algorithm is that of the environment variable ALG, chosen before each
 * disksize. Prints lines of "STEP VALUE": "cycles" is how many there were in a second,
 * everything else the nanoseconds of one step, for cycles on average. The time
 * of an attribute is that of write(2) alone, for hot_add that of read(2).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "user.h"

#define DISK	"/dev/zram0"
#define SYS	"/sys/block/zram0/"
#define CONTROL	"/sys/class/zram-control/"

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Nanoseconds that the write takes. */
static long long put(const char *path, const char *text)
{
	size_t len = strlen(text);
	long long begin, ns;
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		die(path);
	begin = now_ns();
	if (write(fd, text, len) != (ssize_t)len)
		die(path);
	ns = now_ns() - begin;
	close(fd);
	return ns;
}

/* Nanoseconds that disksize takes. */
static long long set_up(const char *size)
{
	const char *alg = getenv("ALG");

	if (alg)
		put(SYS "comp_algorithm", alg);
	return put(SYS "disksize", size);
}

static long long make_fs(void)
{
	long long begin = now_ns();
	int status;
	pid_t pid = fork();

	if (!pid) {
		execlp("mkfs.ext4", "mkfs.ext4", "-q", DISK, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		errno = EIO;
		die("mkfs.ext4");
	}
	return now_ns() - begin;
}

enum step { SET_UP, MKFS, MOUNT, UMOUNT, RESET, NR_STEPS };

static const char *const step_names[NR_STEPS] = {
	"disksize", "mkfs", "mount", "umount", "reset"
};

/* More than a machine does in any time that somebody waits for. */
#define MAX_CYCLES	100000
static long long took[NR_STEPS][MAX_CYCLES];

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

static long long median(long long *ns, int nr)
{
	qsort(ns, nr, sizeof(*ns), compare);
	return ns[nr / 2];
}

static void one_cycle(const char *size, const char *dir, int nth)
{
	long long begin;

	took[SET_UP][nth] = set_up(size);
	took[MKFS][nth] = make_fs();
	begin = now_ns();
	if (mount(DISK, dir, "ext4", 0, NULL))
		die("mount");
	took[MOUNT][nth] = now_ns() - begin;
	begin = now_ns();
	if (umount(dir))
		die("umount");
	took[UMOUNT][nth] = now_ns() - begin;
	took[RESET][nth] = put(SYS "reset", "1");
}

static void cycle(double seconds, const char *size, const char *dir)
{
	long long begin = now_ns(), spent;
	int i, nr = 0;

	do {
		one_cycle(size, dir, nr++);
		spent = now_ns() - begin;
	} while (spent < seconds * 1e9 && nr < MAX_CYCLES);
	printf("cycles %.3f\n", nr * 1e9 / spent);
	for (i = 0; i < NR_STEPS; i++)
		printf("%s %lld\n", step_names[i], median(took[i], nr));
}

static void hot(double seconds)
{
	long long *add = took[0], *away = took[1];
	long long begin = now_ns(), before, spent;
	char id[16];
	int nr = 0;

	do {
		int fd = open(CONTROL "hot_add", O_RDONLY);
		ssize_t len;

		before = now_ns();
		len = fd < 0 ? -1 : read(fd, id, sizeof(id) - 1);
		if (len <= 0)
			die("hot_add");
		add[nr] = now_ns() - before;
		close(fd);
		id[len] = '\0';
		away[nr++] = put(CONTROL "hot_remove", id);
		spent = now_ns() - begin;
	} while (spent < seconds * 1e9 && nr < MAX_CYCLES);
	printf("cycles %.3f\nhot_add %lld\nhot_remove %lld\n",
	       nr * 1e9 / spent, median(add, nr), median(away, nr));
}

/* Pages of the corpus, from its beginning again and again. */
static void fill(unsigned long mib, const char *corpus)
{
	int from = open(corpus, O_RDONLY);
	int to = open(DISK, O_WRONLY | O_DIRECT);
	struct stat st;
	unsigned long i, nr;
	char *pages;

	if (from < 0 || fstat(from, &st) || st.st_size < (off_t)MIB)
		die(corpus);
	if (to < 0)
		die(DISK);
	nr = st.st_size / MIB;
	if (posix_memalign((void **)&pages, 4096, nr * MIB))
		die("memory");
	if (read(from, pages, nr * MIB) != (ssize_t)(nr * MIB))
		die(corpus);
	for (i = 0; i < mib; i++)
		if (write(to, pages + i % nr * MIB, MIB) != (ssize_t)MIB)
			die("write");
	close(to);
	close(from);
	free(pages);
}

static void reset(unsigned long mib, const char *size, const char *corpus)
{
	long long first, away, again;

	first = set_up(size);
	if (mib)
		fill(mib, corpus);
	away = put(SYS "reset", "1");
	again = set_up(size);
	put(SYS "reset", "1");
	printf("first %lld\nreset %lld\nagain %lld\n", first, away, again);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "cycle"))
		cycle(atof(argv[2]), argv[3], argv[4]);
	else if (argc == 3 && !strcmp(argv[1], "hot"))
		hot(atof(argv[2]));
	else if (argc == 5 && !strcmp(argv[1], "reset"))
		reset(strtoul(argv[2], NULL, 10), argv[3], argv[4]);
	else
		return 2;
	return 0;
}
