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
 * @op: what this thread does
 * @bio_pages: pages of each of its bios
 * @bdev: the device
 * @first: its first page on the device
 * @share: bios of one pass
 * @nr_bios: bios of all passes
 * @sent: bios sent
 * @order: which part of its share each bio of a pass is for
 * @ns: how long each bio took, from sending it to its end; the latest, if it
 *	sends more than @nr_bios
 * @target: pages that reads go to
 * @bio_begin: when the bio under way was sent
 * @bio_end: when it ended
 * @bio_done: completed then
 * @begin: when its first bio began
 * @end: when its last was through
 * @error: the first error
 * @start: all begin together
 * @until: if set, goes on until that is completed, and not for @nr_bios
 * @done: completed by the thread when it is through
 */
struct thread {
	const struct zbench_job *job;
	enum zbench_op op;
	u32 bio_pages;
	struct block_device *bdev;
	u32 first;
	u32 share;
	u32 nr_bios;
	u32 sent;
	u32 *order;
	u32 *ns;
	struct page *target[ZBENCH_MAX_BIO_PAGES];
	u64 bio_begin;
	u64 bio_end;
	struct completion bio_done;
	u64 begin;
	u64 end;
	int error;
	struct completion *start;
	struct completion *until;
	struct completion done;
};

/* Of a mix, each half of a thread's share is read and written in turn. */
static enum req_op op_of(const struct thread *t, u32 place, u32 salt)
{
	switch (t->op) {
	case ZBENCH_WRITE:
		return REQ_OP_WRITE;
	case ZBENCH_DISCARD:
		return REQ_OP_DISCARD;
	case ZBENCH_MIXED:
		return (place + salt) % 2 ? REQ_OP_WRITE : REQ_OP_READ;
	default:
		return REQ_OP_READ;
	}
}

/*
 * Here a bio's time ends: waiting for it may let other threads run, and what
 * they take is not the device's.
 */
static void bio_ended(struct bio *bio)
{
	struct thread *t = bio->bi_private;

	t->bio_end = ktime_get_ns();
	complete(&t->bio_done);
}

static int send_bio(struct thread *t, struct bio *bio, struct bio_vec *vecs,
		    u32 nth)
{
	u32 place = t->order[nth % t->share];
	u32 salt = t->job->seed + nth / t->share;
	u32 page = t->first + place * t->bio_pages;
	enum req_op op = op_of(t, place, salt);
	u32 shift = salt * 4099;	/* another pass or seed, other contents */
	u32 i;
	int ret;

	bio_init(bio, t->bdev, vecs, t->bio_pages, op | REQ_SYNC);
	bio->bi_iter.bi_sector = (sector_t)page * PAGE_SECTORS;
	if (op == REQ_OP_DISCARD)
		bio->bi_iter.bi_size = t->bio_pages << PAGE_SHIFT;
	else
		for (i = 0; i < t->bio_pages; i++)
			__bio_add_page(bio, op == REQ_OP_WRITE ?
				       zbench_page(page + i + shift) :
				       t->target[i], PAGE_SIZE, 0);
	bio->bi_private = t;
	bio->bi_end_io = bio_ended;
	reinit_completion(&t->bio_done);
	t->bio_begin = ktime_get_ns();
	submit_bio(bio);
	wait_for_completion(&t->bio_done);
	ret = blk_status_to_errno(bio->bi_status);
	bio_uninit(bio);
	return ret;
}

static bool has_more(const struct thread *t)
{
	if (t->error)
		return false;
	return t->until ? !completion_done(t->until) : t->sent < t->nr_bios;
}

static int bench_thread(void *data)
{
	struct thread *t = data;
	struct bio_vec *vecs = kcalloc(ZBENCH_MAX_BIO_PAGES, sizeof(*vecs),
				       GFP_KERNEL);
	struct bio *bio = kzalloc(sizeof(*bio), GFP_KERNEL);

	wait_for_completion(t->start);
	t->begin = ktime_get_ns();
	for (; has_more(t); t->sent++) {
		t->error = bio && vecs ? send_bio(t, bio, vecs, t->sent) :
					 -ENOMEM;
		t->ns[t->sent % t->nr_bios] =
			min_t(u64, t->bio_end - t->bio_begin, U32_MAX);
		cond_resched();
	}
	t->end = ktime_get_ns();
	kfree(bio);
	kfree(vecs);
	complete_all(&t->done);
	return 0;
}

/*
 * The numbers below @nr, in random order if @job asks for that: another one for
 * each @nth.
 */
void zbench_shuffle(u32 *order, u32 nr, const struct zbench_job *job, u32 nth)
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

/* Beside a writer, the first thread reads one page after the other. */
static void divide_work(struct thread *t, struct thread *threads, u32 nth)
{
	t->op = t->job->op;
	t->bio_pages = t->job->bio_pages;
	if (t->op != ZBENCH_BESIDE)
		return;
	t->op = nth ? ZBENCH_WRITE : ZBENCH_READ;
	if (nth)
		t->until = &threads[0].done;
	else
		t->bio_pages = 1;
}

static int init_thread(struct thread *threads, const struct zbench_job *job,
		       u32 nth)
{
	struct thread *t = &threads[nth];
	u32 pages = job->pages / job->threads;
	u32 i;

	t->job = job;
	divide_work(t, threads, nth);
	t->first = nth * pages;
	t->share = pages / t->bio_pages;
	if (check_mul_overflow(t->share, job->passes, &t->nr_bios))
		return -EINVAL;
	init_completion(&t->bio_done);
	init_completion(&t->done);
	t->order = vmalloc(array_size(t->share, sizeof(u32)));
	t->ns = vmalloc(array_size(t->nr_bios, sizeof(u32)));
	if (!t->order || !t->ns)
		return -ENOMEM;
	for (i = 0; i < t->bio_pages; i++) {
		t->target[i] = alloc_page(GFP_KERNEL);
		if (!t->target[i])
			return -ENOMEM;
	}
	zbench_shuffle(t->order, t->share, job, nth);
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

/**
 * struct summary - what several threads found out
 * @ns: how long each bio took, sorted
 * @nr: how many
 * @bio_pages: pages of each
 * @sum: time that the threads took, added up
 * @wall: from the first bio to the last of any thread: where there are more
 *	threads than CPUs, some are through before others begin, and no thread's
 *	own time says how long it took
 */
struct summary {
	u32 *ns;
	u32 nr;
	u32 bio_pages;
	u64 sum;
	u64 wall;
};

static int sum_up(struct summary *sum, const struct thread *threads, u32 nr)
{
	u64 begin = U64_MAX, end = 0;
	const struct thread *t;

	sum->bio_pages = threads->bio_pages;
	for (t = threads; t < threads + nr; t++) {
		sum->nr += t->nr_bios;
		sum->sum += t->end - t->begin;
		begin = min(begin, t->begin);
		end = max(end, t->end);
	}
	sum->wall = end - begin;
	sum->ns = vmalloc(array_size(sum->nr, sizeof(u32)));
	if (!sum->ns)
		return -ENOMEM;
	sum->nr = 0;
	for (t = threads; t < threads + nr; t++) {
		memcpy(sum->ns + sum->nr, t->ns, t->nr_bios * sizeof(u32));
		sum->nr += t->nr_bios;
	}
	return 0;
}

/* Pages per second */
static u64 rate(u64 pages, u64 ns)
{
	return div64_u64(pages * NSEC_PER_SEC, max(ns, 1ULL));
}

static void print_summary(const struct zbench_job *job, struct summary *sum,
			  u64 other_rate, char *result)
{
	u64 pages = (u64)sum->nr * sum->bio_pages;
	u64 trimmed = zbench_trimmed_mean(sum->ns, sum->nr, sum->bio_pages);
	int len;

	len = scnprintf(result, ZBENCH_RESULT_SIZE,
			"{\"op\": \"%s\", \"bio\": %u, \"threads\": %u, \"pages\": %llu, \"ns_per_page\": %llu, \"mean_ns\": %llu, \"pages_per_s\": %llu, \"p50_ns\": %u, \"p99_ns\": %u, \"max_ns\": %u",
			zbench_ops[job->op], job->bio_pages, job->threads,
			pages, trimmed, div64_u64(sum->sum, pages),
			rate(pages, sum->wall), sum->ns[sum->nr / 2],
			sum->ns[(u64)sum->nr * 99 / 100],
			sum->ns[sum->nr - 1]);
	if (job->op == ZBENCH_BESIDE)
		len += scnprintf(result + len, ZBENCH_RESULT_SIZE - len,
				 ", \"writer_pages_per_s\": %llu",
				 other_rate);
	scnprintf(result + len, ZBENCH_RESULT_SIZE - len, "}\n");
}

/* Of all threads; of the reader alone where it is beside a writer. */
static int report(const struct zbench_job *job, const struct thread *threads,
		  char *result)
{
	const struct thread *last = &threads[job->threads - 1];
	bool beside = job->op == ZBENCH_BESIDE;
	struct summary sum = {};
	u32 i;
	int ret;

	for (i = 0; i < job->threads; i++)
		if (threads[i].error)
			return threads[i].error;
	if (!last->sent)	/* a reader that nobody wrote beside */
		return -EAGAIN;
	ret = sum_up(&sum, threads, beside ? 1 : job->threads);
	if (ret)
		return ret;
	print_summary(job, &sum, rate((u64)last->sent * last->bio_pages,
				      last->end - last->begin), result);
	vfree(sum.ns);
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
		ret = init_thread(threads, job, i);
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
