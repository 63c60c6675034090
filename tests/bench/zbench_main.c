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
 * The answer is a line of JSON. op is
 *
 *   read, write, discard
 *   mixed    bios of both kinds, half and half
 *   beside   one thread reads single pages while another, on another CPU, writes
 *            until it is through; the figures are the reader's
 *   codec    no device, but alg=lz4, lzo-rle or lzo
 *   lock     takes and drops a lock for each page: what statistics say of
 *            nothing
 *
 * passes=N goes through the pages N times: with more threads than CPUs a share
 * must be more than a thread gets done before another one has its turn.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/kernel_read_file.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "zbench.h"

static char *corpus;
module_param(corpus, charp, 0444);
MODULE_PARM_DESC(corpus, "File of pages to write");
static char *device = "/dev/zram0";
module_param(device, charp, 0644);
MODULE_PARM_DESC(device, "Block device to drive");

struct page **zbench_pages;
u32 zbench_nr_pages;

static DEFINE_MUTEX(run_lock);
static DEFINE_RAW_SPINLOCK(zbench_empty_lock);
static char result[ZBENCH_RESULT_SIZE] = "{}\n";

const char * const zbench_ops[ZBENCH_NR_OPS] = {
	[ZBENCH_READ] = "read",
	[ZBENCH_WRITE] = "write",
	[ZBENCH_DISCARD] = "discard",
	[ZBENCH_MIXED] = "mixed",
	[ZBENCH_BESIDE] = "beside",
	[ZBENCH_CODEC] = "codec",
	[ZBENCH_LOCK] = "lock",
};

static int run_lock_only(const struct zbench_job *job)
{
	for (u32 i = 0; i < job->pages; i++) {
		raw_spin_lock(&zbench_empty_lock);
		raw_spin_unlock(&zbench_empty_lock);
	}
	return 0;
}

static int parse_word(struct zbench_job *job, char *word)
{
	char *value = strchr(word, '=');
	int op;

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(word, "bio"))
		return kstrtou32(value, 10, &job->bio_pages);
	if (!strcmp(word, "threads"))
		return kstrtou32(value, 10, &job->threads);
	if (!strcmp(word, "pages"))
		return kstrtou32(value, 10, &job->pages);
	if (!strcmp(word, "passes"))
		return kstrtou32(value, 10, &job->passes);
	if (!strcmp(word, "random"))
		return kstrtou32(value, 10, &job->random);
	if (!strcmp(word, "seed"))
		return kstrtou32(value, 10, &job->seed);
	if (!strcmp(word, "alg"))
		return strscpy(job->alg, value, sizeof(job->alg)) < 0 ?
		       -EINVAL : 0;
	if (strcmp(word, "op"))
		return -EINVAL;
	op = sysfs_match_string(zbench_ops, value);
	if (op < 0)
		return op;
	job->op = op;
	return 0;
}

static bool is_possible(const struct zbench_job *job)
{
	if (!job->bio_pages || job->bio_pages > ZBENCH_MAX_BIO_PAGES ||
	    !job->threads || job->threads > ZBENCH_MAX_THREADS ||
	    job->pages / job->threads < job->bio_pages || !job->passes)
		return false;
	return job->op != ZBENCH_BESIDE ||
	       (job->threads == 2 && num_online_cpus() > 1);
}

static int run(char *text)
{
	struct zbench_job job = {
		.bio_pages = 1, .threads = 1, .pages = 1024, .passes = 1,
	};
	char *word;
	int ret;

	while ((word = strsep(&text, "\n "))) {
		ret = *word ? parse_word(&job, word) : 0;
		if (ret)
			return ret;
	}
	if (!is_possible(&job))
		return -EINVAL;
	switch (job.op) {
	case ZBENCH_LOCK:
		return run_lock_only(&job);
	case ZBENCH_CODEC:
		return zbench_run_codec(&job, result);
	default:
		return zbench_run_bios(&job, device, result);
	}
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
	while (zbench_nr_pages)
		__free_page(zbench_pages[--zbench_nr_pages]);
	vfree(zbench_pages);
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
	zbench_pages = vmalloc(array_size(nr, sizeof(*zbench_pages)));
	for (i = 0; zbench_pages && i < nr; i++) {
		zbench_pages[i] = alloc_page(GFP_KERNEL);
		if (!zbench_pages[i])
			break;
		zbench_nr_pages++;
		memcpy(page_address(zbench_pages[i]), data + i * PAGE_SIZE,
		       PAGE_SIZE);
	}
	vfree(data);
	if (zbench_nr_pages == nr)
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
