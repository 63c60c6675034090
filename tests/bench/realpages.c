// SPDX-License-Identifier: GPL-2.0
/*
 * realpages: LD_PRELOADed, makes a program write pages of the file REALPAGES
 * where it meant to write something else, as long as it is half a KiB or more
 * and goes to a regular file. For programs of load that write nothing but zeroes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE		4096u
#define SMALLEST	512u

static const char *corpus;
static size_t corpus_pages;
/* Where the next write takes its pages from; all threads share it. */
static size_t position;

/* Processes of one program begin at different places. */
static void start_elsewhere(void)
{
	position = (size_t)getpid() * 1031;
}

static void __attribute__((constructor)) open_corpus(void)
{
	const char *path = getenv("REALPAGES");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		_exit(126);
	corpus = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	corpus_pages = st.st_size / PAGE;
	if (corpus == MAP_FAILED || !corpus_pages)
		_exit(126);
	close(fd);
	pthread_atfork(NULL, NULL, start_elsewhere);
}

ssize_t write(int fd, const void *buf, size_t len)
{
	struct iovec vecs[2];
	struct stat st;
	size_t page, rest;

	if (len < SMALLEST || len > corpus_pages * PAGE || fstat(fd, &st) ||
	    !S_ISREG(st.st_mode))
		return syscall(SYS_write, fd, buf, len);
	page = __atomic_fetch_add(&position, (len + PAGE - 1) / PAGE,
				  __ATOMIC_RELAXED) % corpus_pages;
	rest = (corpus_pages - page) * PAGE;
	/* Whole, as programs expect: over the end of the corpus, if need be. */
	vecs[0].iov_base = (void *)(corpus + page * PAGE);
	vecs[0].iov_len = len < rest ? len : rest;
	vecs[1].iov_base = (void *)corpus;
	vecs[1].iov_len = len - vecs[0].iov_len;
	return syscall(SYS_writev, fd, vecs, 2);
}
