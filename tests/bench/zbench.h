/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zbench: what its files share. Runs come one after the other, under a lock of
 * zbench_main.c; the corpus is constant.
 */
#ifndef _ZBENCH_H_
#define _ZBENCH_H_

#include <linux/mm_types.h>
#include <linux/types.h>

#define ZBENCH_MAX_THREADS	64
#define ZBENCH_MAX_BIO_PAGES	64
#define ZBENCH_RESULT_SIZE	512

enum zbench_op {
	ZBENCH_READ,
	ZBENCH_WRITE,
	ZBENCH_DISCARD,
	ZBENCH_MIXED,
	ZBENCH_BESIDE,
	ZBENCH_CODEC,
	ZBENCH_LOCK,
	ZBENCH_NR_OPS
};

extern const char * const zbench_ops[ZBENCH_NR_OPS];

/**
 * struct zbench_job - one run
 * @op: what to do
 * @bio_pages: pages per bio
 * @threads: how many, pinned to CPUs one after the other
 * @pages: pages of the device used, shared out among the threads
 * @passes: how many times each thread goes through its share
 * @random: bios, or groups of pages for a codec, in random order rather than
 *	one after the other
 * @seed: of that order, and of what is written
 * @alg: codec to time instead of a device
 */
struct zbench_job {
	enum zbench_op op;
	u32 bio_pages;
	u32 threads;
	u32 pages;
	u32 passes;
	u32 random;
	u32 seed;
	char alg[16];
};

/* The corpus, page by page. Constant once loaded. */
extern struct page **zbench_pages;
extern u32 zbench_nr_pages;

static inline struct page *zbench_page(u32 nth)
{
	return zbench_pages[nth % zbench_nr_pages];
}

/* Each leaves a line of JSON in @result. */
int zbench_run_bios(const struct zbench_job *job, const char *device,
		    char *result);
int zbench_run_codec(const struct zbench_job *job, char *result);

/* Fills @order. */
void zbench_shuffle(u32 *order, u32 nr, const struct zbench_job *job, u32 nth);

/* Sorts @ns. */
u64 zbench_trimmed_mean(u32 *ns, u32 nr, u32 pages_each);

#endif /* _ZBENCH_H_ */
