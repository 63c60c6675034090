// SPDX-License-Identifier: GPL-2.0
/*
 * zbench: drives a block device with bios from inside the kernel and tells how
 * long they take, and how long the bare codecs take on the same pages.
 *
 * For measuring a driver's own cost: no system calls, no page cache. The pages
 * come from a file (parameter corpus), so that they are as compressible as what
 * is in it. Threads are pinned, each works on a part of the device of its own,
 * and each bio is timed.
 *
 * Use, through debugfs:
 *
 *   echo "op=write bio=16 threads=1 pages=32768 random=1" > zbench/run
 *   cat zbench/result
 *
 * op is read, write, discard or codec; codec takes no device and needs
 * alg=lz4, lzo-rle or lzo instead of the rest. The answer is a line of JSON.
 * op=lock takes and drops a lock for each page: what statistics say of nothing.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/kernel_read_file.h>
#include <linux/kthread.h>
#include <linux/lz4.h>
#include <linux/lzo.h>
#include <linux/module.h>
#include <linux/parser.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "zbench_compat.h"

#define MAX_THREADS	64
#define MAX_BIO_PAGES	64

static char *corpus;
module_param(corpus, charp, 0444);
MODULE_PARM_DESC(corpus, "File of pages to write");
static char *device = "/dev/zram0";
module_param(device, charp, 0644);
MODULE_PARM_DESC(device, "Block device to drive");

/* The corpus, page by page. Constant once loaded. */
static struct page **pages;
static u32 nr_pages;

/**
 * struct job - one run
 * @op: REQ_OP_READ, REQ_OP_WRITE or REQ_OP_DISCARD
 * @bio_pages: pages per bio
 * @threads: how many, pinned to CPUs one after the other
 * @pages: pages of the device used, shared out among the threads
 * @random: bios in random order rather than one after the other
 * @seed: of that order
 * @alg: codec to time instead of a device
 * @lock: take a lock instead
 */
struct job {
	enum req_op op;
	u32 bio_pages;
	u32 threads;
	u32 pages;
	u32 random;
	u32 seed;
	char alg[16];
	bool lock;
};

/**
 * struct thread - one thread's share
 * @job: the run
 * @bdev: the device
 * @first: its first page on the device
 * @nr_bios: bios it sends
 * @order: which part of its share each bio is for
 * @ns: how long each bio took
 * @target: pages that reads go to
 * @total_ns: first bio to last
 * @error: the first error
 * @start: all begin together
 * @done: completed by the thread when it is through
 */
struct thread {
	const struct job *job;
	struct block_device *bdev;
	u32 first;
	u32 nr_bios;
	u32 *order;
	u32 *ns;
	struct page *target[MAX_BIO_PAGES];
	u64 total_ns;
	int error;
	struct completion *start;
	struct completion done;
};

static DEFINE_MUTEX(run_lock);
static DEFINE_RAW_SPINLOCK(zbench_empty_lock);
static char result[512] = "{}\n";

static int send_bio(struct thread *t, struct bio *bio, struct bio_vec *vecs,
		    u32 nth)
{
	const struct job *job = t->job;
	u32 page = t->first + t->order[nth] * job->bio_pages;
	u32 shift = job->seed * 4099;	/* another seed, other contents */
	u32 i;
	int ret;

	bio_init(bio, t->bdev, vecs, job->bio_pages, job->op);
	bio->bi_iter.bi_sector = (sector_t)page * PAGE_SECTORS;
	if (job->op == REQ_OP_DISCARD)
		bio->bi_iter.bi_size = job->bio_pages << PAGE_SHIFT;
	else
		for (i = 0; i < job->bio_pages; i++)
			__bio_add_page(bio, job->op == REQ_OP_WRITE ?
				       pages[(page + i + shift) % nr_pages] :
				       t->target[i], PAGE_SIZE, 0);
	ret = submit_bio_wait(bio);
	bio_uninit(bio);
	return ret;
}

static int bench_thread(void *data)
{
	struct thread *t = data;
	struct bio_vec *vecs = kcalloc(MAX_BIO_PAGES, sizeof(*vecs),
				       GFP_KERNEL);
	struct bio *bio = kzalloc(sizeof(*bio), GFP_KERNEL);
	u64 before, begin;
	u32 i;

	wait_for_completion(t->start);
	begin = ktime_get_ns();
	for (i = 0; i < t->nr_bios && !t->error; i++) {
		before = ktime_get_ns();
		t->error = bio && vecs ? send_bio(t, bio, vecs, i) : -ENOMEM;
		t->ns[i] = ktime_get_ns() - before;
		cond_resched();
	}
	t->total_ns = ktime_get_ns() - begin;
	kfree(bio);
	kfree(vecs);
	complete(&t->done);
	return 0;
}

static void shuffle(u32 *order, u32 nr, const struct job *job, u32 nth)
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

	for (i = 0; i < MAX_BIO_PAGES; i++)
		if (t->target[i])
			__free_page(t->target[i]);
	vfree(t->order);
	vfree(t->ns);
}

static int init_thread(struct thread *t, const struct job *job, u32 nth)
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
static u64 trimmed_mean(u32 *ns, u32 nr, u32 pages_each)
{
	u32 i, most = max(nr * 9 / 10, 1U);
	u64 sum = 0;

	sort(ns, nr, sizeof(u32), compare, NULL);
	for (i = 0; i < most; i++)
		sum += ns[i];
	return div64_u64(sum, (u64)most * pages_each);
}

/* Mean per page over all threads; percentiles of all bios. */
static int report(const struct job *job, struct thread *threads)
{
	u64 slowest = 0, sum = 0, nr = 0, trimmed;
	u32 *all, i;

	for (i = 0; i < job->threads; i++) {
		if (threads[i].error)
			return threads[i].error;
		sum += threads[i].total_ns;
		nr += threads[i].nr_bios;
		slowest = max(slowest, threads[i].total_ns);
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
	trimmed = trimmed_mean(all, nr, job->bio_pages);
	snprintf(result, sizeof(result),
		 "{\"op\": %u, \"bio\": %u, \"threads\": %u, \"pages\": %llu, \"ns_per_page\": %llu, \"mean_ns\": %llu, \"pages_per_s\": %llu, \"p50_ns\": %u, \"p99_ns\": %u, \"max_ns\": %u}\n",
		 job->op, job->bio_pages, job->threads, nr * job->bio_pages,
		 trimmed, div64_u64(sum, nr * job->bio_pages),
		 div64_u64(nr * job->bio_pages * NSEC_PER_SEC, slowest),
		 all[nr / 2], all[nr * 99 / 100], all[nr - 1]);
	vfree(all);
	return 0;
}

/* Start the threads, wait for them. */
static int go(const struct job *job, struct thread *threads,
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

static int run_bios(const struct job *job)
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
		ret = report(job, threads);
out_threads:
	for (i = 0; i < job->threads; i++)
		free_thread(&threads[i]);
	kvfree(threads);
	return ret;
}

static int codec_page(const char *alg, void *work, const void *src, void *dst,
		      u32 *size)
{
	size_t len = 2 * PAGE_SIZE;

	if (!strcmp(alg, "lz4"))
		*size = LZ4_compress_default(src, dst, PAGE_SIZE, len, work);
	else if (lzorle1x_1_compress(src, PAGE_SIZE, dst, &len, work) ==
		 LZO_E_OK)
		*size = len;
	else
		return -EIO;
	return 0;
}

static int uncodec_page(const char *alg, const void *src, u32 size, void *dst)
{
	size_t len = PAGE_SIZE;

	if (!strcmp(alg, "lz4"))
		return LZ4_decompress_safe(src, dst, size, PAGE_SIZE) -
		       PAGE_SIZE;
	return lzo1x_decompress_safe(src, size, dst, &len);
}

/**
 * struct codec_run - what timing a codec takes
 * @work: the codec's working memory
 * @packed: compressed pages, two pages of room for each of a group
 * @sizes: their sizes
 * @back: one page, expanded again
 * @there: time to compress each group
 * @here: time to expand each group
 */
struct codec_run {
	void *work;
	void *packed;
	u32 sizes[MAX_BIO_PAGES];
	void *back;
	u32 *there;
	u32 *here;
};

/* As many pages as a bio has, there and back. Returns the bytes they took. */
static int codec_group(const struct job *job, struct codec_run *run, u32 nth)
{
	u64 t0, t1;
	u32 i, bytes = 0;
	int ret = 0;

	t0 = ktime_get_ns();
	for (i = 0; i < job->bio_pages && !ret; i++)
		ret = codec_page(job->alg, run->work,
				 page_address(pages[(nth * job->bio_pages + i) %
						    nr_pages]),
				 run->packed + 2 * i * PAGE_SIZE,
				 &run->sizes[i]);
	t1 = ktime_get_ns();
	run->there[nth] = t1 - t0;
	for (i = 0; i < job->bio_pages && !ret; i++) {
		ret = uncodec_page(job->alg, run->packed + 2 * i * PAGE_SIZE,
				   run->sizes[i], run->back);
		bytes += run->sizes[i];
	}
	run->here[nth] = ktime_get_ns() - t1;
	return ret ? -EIO : bytes;
}

static int codec_groups(const struct job *job, struct codec_run *run)
{
	u32 i, groups = job->pages / job->bio_pages;
	u64 bytes = 0;
	int ret;

	for (i = 0; i < groups; i++) {
		ret = codec_group(job, run, i);
		if (ret < 0)
			return ret;
		bytes += ret;
		cond_resched();
	}
	snprintf(result, sizeof(result),
		 "{\"alg\": \"%s\", \"bio\": %u, \"pages\": %u, \"compress_ns\": %llu, \"decompress_ns\": %llu, \"bytes_per_page\": %llu}\n",
		 job->alg, job->bio_pages, job->pages,
		 trimmed_mean(run->there, groups, job->bio_pages),
		 trimmed_mean(run->here, groups, job->bio_pages),
		 div_u64(bytes, groups * job->bio_pages));
	return 0;
}

static int run_codec(const struct job *job)
{
	u32 groups = job->pages / job->bio_pages;
	struct codec_run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!run)
		return ret;
	run->work = vmalloc(max_t(size_t, LZ4_MEM_COMPRESS,
				  LZO1X_MEM_COMPRESS));
	run->packed = vmalloc(2 * MAX_BIO_PAGES * PAGE_SIZE);
	run->back = vmalloc(PAGE_SIZE);
	run->there = vmalloc(array_size(groups, sizeof(u32)));
	run->here = vmalloc(array_size(groups, sizeof(u32)));
	if (run->work && run->packed && run->back && run->there && run->here)
		ret = codec_groups(job, run);
	vfree(run->here);
	vfree(run->there);
	vfree(run->back);
	vfree(run->packed);
	vfree(run->work);
	kfree(run);
	return ret;
}

static int run_lock_only(const struct job *job)
{
	for (u32 i = 0; i < job->pages; i++) {
		raw_spin_lock(&zbench_empty_lock);
		raw_spin_unlock(&zbench_empty_lock);
	}
	return 0;
}

static int parse_word(struct job *job, char *word)
{
	char *value = strchr(word, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(word, "bio"))
		return kstrtou32(value, 10, &job->bio_pages);
	if (!strcmp(word, "threads"))
		return kstrtou32(value, 10, &job->threads);
	if (!strcmp(word, "pages"))
		return kstrtou32(value, 10, &job->pages);
	if (!strcmp(word, "random"))
		return kstrtou32(value, 10, &job->random);
	if (!strcmp(word, "seed"))
		return kstrtou32(value, 10, &job->seed);
	if (!strcmp(word, "alg"))
		return strscpy(job->alg, value, sizeof(job->alg)) < 0 ?
		       -EINVAL : 0;
	if (strcmp(word, "op"))
		return -EINVAL;
	if (!strcmp(value, "read"))
		job->op = REQ_OP_READ;
	else if (!strcmp(value, "write"))
		job->op = REQ_OP_WRITE;
	else if (!strcmp(value, "discard"))
		job->op = REQ_OP_DISCARD;
	else if (!strcmp(value, "lock"))
		job->lock = true;
	else if (strcmp(value, "codec"))
		return -EINVAL;
	return 0;
}

static int run(char *text)
{
	struct job job = { .bio_pages = 1, .threads = 1, .pages = 1024 };
	char *word;
	int ret;

	while ((word = strsep(&text, "\n "))) {
		ret = *word ? parse_word(&job, word) : 0;
		if (ret)
			return ret;
	}
	if (!job.bio_pages || job.bio_pages > MAX_BIO_PAGES ||
	    !job.threads || job.threads > MAX_THREADS ||
	    job.pages / job.threads < job.bio_pages)
		return -EINVAL;
	if (job.lock)
		return run_lock_only(&job);
	return job.alg[0] ? run_codec(&job) : run_bios(&job);
}

static ssize_t run_write(struct file *file, const char __user *from, size_t len,
			 loff_t *pos)
{
	char *text = memdup_user_nul(from, len);
	int ret;

	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&run_lock);
	ret = run(text);
	mutex_unlock(&run_lock);
	kfree(text);
	return ret ?: len;
}

static ssize_t result_read(struct file *file, char __user *to, size_t len,
			   loff_t *pos)
{
	ssize_t ret;

	mutex_lock(&run_lock);
	ret = simple_read_from_buffer(to, len, pos, result, strlen(result));
	mutex_unlock(&run_lock);
	return ret;
}

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.write = run_write,
};

static const struct file_operations result_fops = {
	.owner = THIS_MODULE,
	.read = result_read,
};

static struct dentry *dir;

static void free_corpus(void)
{
	while (nr_pages)
		__free_page(pages[--nr_pages]);
	vfree(pages);
}

static int load_corpus(void)
{
	void *data = NULL;
	ssize_t size;
	u32 i, nr;

	size = kernel_read_file_from_path(corpus, 0, &data, INT_MAX, NULL,
					  READING_UNKNOWN);
	if (size < (ssize_t)PAGE_SIZE) {
		vfree(data);
		return size < 0 ? size : -EINVAL;
	}
	nr = size / PAGE_SIZE;
	pages = vmalloc(array_size(nr, sizeof(*pages)));
	for (i = 0; pages && i < nr; i++) {
		pages[i] = alloc_page(GFP_KERNEL);
		if (!pages[i])
			break;
		nr_pages++;
		memcpy(page_address(pages[i]), data + i * PAGE_SIZE, PAGE_SIZE);
	}
	vfree(data);
	if (nr_pages == nr)
		return 0;
	free_corpus();
	return -ENOMEM;
}

static int __init zbench_init(void)
{
	int ret;

	if (!corpus) {
		pr_err("corpus=FILE is needed\n");
		return -EINVAL;
	}
	ret = load_corpus();
	if (ret) {
		pr_err("cannot load %s: %d\n", corpus, ret);
		return ret;
	}
	dir = debugfs_create_dir("zbench", NULL);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("result", 0400, dir, NULL, &result_fops);
	return 0;
}

static void __exit zbench_exit(void)
{
	debugfs_remove(dir);
	free_corpus();
}

module_init(zbench_init);
module_exit(zbench_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Load generator for block devices");
