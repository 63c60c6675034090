// SPDX-License-Identifier: GPL-2.0
/*
 * zbench_bio: bios to a device, by threads that each work on a part of its own.
 *
 * Nothing is shared between the threads of a run but the job, which does not
 * change. What a thread found out is read once it is through.
 */
#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include "zbench.h"
#include "zbench_compat.h"

/**
 * struct thread - one thread's share
 * @job: the run
 * @bdev: the device
 * @first: its first page on the device
 * @nr_bios: bios it sends
 * @order: which part of its share each bio is for
 * @ns: how long each bio took
 * @target: pages that reads go to
 * @begin: when its first bio began
 * @end: when its last was through
 * @error: the first error
 * @start: all begin together
 * @done: completed by the thread when it is through
 */
struct thread {
	const struct zbench_job *job;
	struct block_device *bdev;
	u32 first;
	u32 nr_bios;
	u32 *order;
	u32 *ns;
	struct page *target[ZBENCH_MAX_BIO_PAGES];
	u64 begin;
	u64 end;
	int error;
	struct completion *start;
	struct completion done;
};

static enum req_op op_of(const struct thread *t)
{
	switch (t->job->op) {
	case ZBENCH_WRITE:
		return REQ_OP_WRITE;
	case ZBENCH_DISCARD:
		return REQ_OP_DISCARD;
	default:
		return REQ_OP_READ;
	}
}

static int send_bio(struct thread *t, struct bio *bio, struct bio_vec *vecs,
		    u32 nth)
{
	const struct zbench_job *job = t->job;
	u32 page = t->first + t->order[nth] * job->bio_pages;
	u32 shift = job->seed * 4099;	/* another seed, other contents */
	enum req_op op = op_of(t);
	u32 i;
	int ret;

	bio_init(bio, t->bdev, vecs, job->bio_pages, op);
	bio->bi_iter.bi_sector = (sector_t)page * PAGE_SECTORS;
	if (op == REQ_OP_DISCARD)
		bio->bi_iter.bi_size = job->bio_pages << PAGE_SHIFT;
	else
		for (i = 0; i < job->bio_pages; i++)
			__bio_add_page(bio, op == REQ_OP_WRITE ?
				       zbench_page(page + i + shift) :
				       t->target[i], PAGE_SIZE, 0);
	ret = submit_bio_wait(bio);
	bio_uninit(bio);
	return ret;
}

static int bench_thread(void *data)
{
	struct thread *t = data;
	struct bio_vec *vecs = kcalloc(ZBENCH_MAX_BIO_PAGES, sizeof(*vecs),
				       GFP_KERNEL);
	struct bio *bio = kzalloc(sizeof(*bio), GFP_KERNEL);
	u64 before;
	u32 i;

	wait_for_completion(t->start);
	t->begin = ktime_get_ns();
	for (i = 0; i < t->nr_bios && !t->error; i++) {
		before = ktime_get_ns();
		t->error = bio && vecs ? send_bio(t, bio, vecs, i) : -ENOMEM;
		t->ns[i] = ktime_get_ns() - before;
		cond_resched();
	}
	t->end = ktime_get_ns();
	kfree(bio);
	kfree(vecs);
	complete(&t->done);
	return 0;
}

static void shuffle(u32 *order, u32 nr, const struct zbench_job *job, u32 nth)
{
	struct rnd_state rnd;
	u32 i, other;

	for (i = 0; i < nr; i++)
		order[i] = i;
	if (!job->random)
		return;
	prandom_seed_state(&rnd, job->seed + nth);
	for (i = nr - 1; i; i--) {
		/* Not inside swap(), which evaluates its arguments twice. */
		other = prandom_u32_state(&rnd) % (i + 1);
		swap(order[i], order[other]);
	}
}

static void free_thread(struct thread *t)
{
	u32 i;

	for (i = 0; i < ZBENCH_MAX_BIO_PAGES; i++)
		if (t->target[i])
			__free_page(t->target[i]);
	vfree(t->order);
	vfree(t->ns);
}

static int init_thread(struct thread *t, const struct zbench_job *job, u32 nth)
{
	u32 share = job->pages / job->threads;
	u32 i;

	t->job = job;
	t->first = nth * share;
	t->nr_bios = share / job->bio_pages;
	init_completion(&t->done);
	t->order = vmalloc(array_size(t->nr_bios, sizeof(u32)));
	t->ns = vmalloc(array_size(t->nr_bios, sizeof(u32)));
	if (!t->order || !t->ns)
		return -ENOMEM;
	for (i = 0; i < job->bio_pages; i++) {
		t->target[i] = alloc_page(GFP_KERNEL);
		if (!t->target[i])
			return -ENOMEM;
	}
	shuffle(t->order, t->nr_bios, job, nth);
	return 0;
}

static int compare(const void *a, const void *b)
{
	return *(const u32 *)a < *(const u32 *)b ? -1 :
	       *(const u32 *)a > *(const u32 *)b;
}

/*
 * Mean of the fastest nine tenths, per page: what a loaded machine took away
 * from the rest is nobody's cost. Sorts @ns.
 */
u64 zbench_trimmed_mean(u32 *ns, u32 nr, u32 pages_each)
{
	u32 i, most = max(nr * 9 / 10, 1U);
	u64 sum = 0;

	sort(ns, nr, sizeof(u32), compare, NULL);
	for (i = 0; i < most; i++)
		sum += ns[i];
	return div64_u64(sum, (u64)most * pages_each);
}

/*
 * Mean per page and percentiles of all bios; pages per second from the first
 * bio to the last of any thread: where there are more threads than CPUs, some
 * are through before others begin, and no thread's own time says how long it
 * took.
 */
static int report(const struct zbench_job *job, struct thread *threads,
		  char *result)
{
	u64 begin = U64_MAX, end = 0, sum = 0, nr = 0, trimmed;
	u32 *all, i;

	for (i = 0; i < job->threads; i++) {
		if (threads[i].error)
			return threads[i].error;
		sum += threads[i].end - threads[i].begin;
		nr += threads[i].nr_bios;
		begin = min(begin, threads[i].begin);
		end = max(end, threads[i].end);
	}
	all = vmalloc(array_size(nr, sizeof(u32)));
	if (!all)
		return -ENOMEM;
	nr = 0;
	for (i = 0; i < job->threads; i++) {
		memcpy(all + nr, threads[i].ns,
		       threads[i].nr_bios * sizeof(u32));
		nr += threads[i].nr_bios;
	}
	trimmed = zbench_trimmed_mean(all, nr, job->bio_pages);
	snprintf(result, ZBENCH_RESULT_SIZE,
		 "{\"op\": \"%s\", \"bio\": %u, \"threads\": %u, \"pages\": %llu, \"ns_per_page\": %llu, \"mean_ns\": %llu, \"pages_per_s\": %llu, \"p50_ns\": %u, \"p99_ns\": %u, \"max_ns\": %u}\n",
		 zbench_ops[job->op], job->bio_pages, job->threads, nr * job->bio_pages,
		 trimmed, div64_u64(sum, nr * job->bio_pages),
		 div64_u64(nr * job->bio_pages * NSEC_PER_SEC, end - begin),
		 all[nr / 2], all[nr * 99 / 100], all[nr - 1]);
	vfree(all);
	return 0;
}

/* Start the threads, wait for them. */
static int go(const struct zbench_job *job, struct thread *threads,
	      struct block_device *bdev)
{
	DECLARE_COMPLETION_ONSTACK(start);
	u32 i, running;
	int ret = 0;

	for (running = 0; running < job->threads && !ret; running++) {
		struct task_struct *task;

		threads[running].bdev = bdev;
		threads[running].start = &start;
		task = kthread_create(bench_thread, &threads[running],
				      "zbench_%u", running);
		if (IS_ERR(task)) {
			ret = PTR_ERR(task);
			break;
		}
		kthread_bind(task, running % num_online_cpus());
		wake_up_process(task);
	}
	complete_all(&start);
	for (i = 0; i < running; i++)
		wait_for_completion(&threads[i].done);
	return ret;
}

int zbench_run_bios(const struct zbench_job *job, const char *device,
		    char *result)
{
	struct thread *threads = kvcalloc(job->threads, sizeof(*threads),
					  GFP_KERNEL);
	struct zbench_bdev bdev;
	int ret = -ENOMEM;
	u32 i;

	if (!threads)
		return ret;
	for (i = 0; i < job->threads; i++) {
		ret = init_thread(&threads[i], job, i);
		if (ret)
			goto out_threads;
	}
	ret = zbench_bdev_open(&bdev, device);
	if (ret)
		goto out_threads;
	if (bdev_nr_sectors(bdev.bdev) < (sector_t)job->pages * PAGE_SECTORS)
		ret = -ENOSPC;
	else
		ret = go(job, threads, bdev.bdev);
	zbench_bdev_close(&bdev);
	if (!ret)
		ret = report(job, threads, result);
out_threads:
	for (i = 0; i < job->threads; i++)
		free_thread(&threads[i]);
	kvfree(threads);
	return ret;
}
