// SPDX-License-Identifier: GPL-2.0
/*
 * zbench_codec: how long the bare codecs take on pages of the corpus.
 */
#include <linux/lz4.h>
#include <linux/lzo.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "zbench.h"

static int codec_page(const char *alg, void *work, const void *src, void *dst,
		      u32 *size)
{
	size_t len = 2 * PAGE_SIZE;

	int ret;

	if (!strcmp(alg, "lz4")) {
		*size = LZ4_compress_default(src, dst, PAGE_SIZE, len, work);
		return 0;
	}
	if (!strcmp(alg, "lzo"))
		ret = lzo1x_1_compress(src, PAGE_SIZE, dst, &len, work);
	else if (!strcmp(alg, "lzo-rle"))
		ret = lzorle1x_1_compress(src, PAGE_SIZE, dst, &len, work);
	else
		return -EINVAL;
	*size = len;
	return ret == LZO_E_OK ? 0 : -EIO;
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
 * @order: which group is when: as with bios, or what it takes to read pages that
 *	are not next to each other would pass for the driver's cost
 * @there: time to compress each group
 * @here: time to expand each group
 */
struct codec_run {
	void *work;
	void *packed;
	u32 sizes[ZBENCH_MAX_BIO_PAGES];
	void *back;
	u32 *order;
	u32 *there;
	u32 *here;
};

/* As many pages as a bio has, there and back. Returns the bytes they took. */
static int codec_group(const struct zbench_job *job, struct codec_run *run,
		       u32 nth)
{
	u32 first = run->order[nth] * job->bio_pages;
	u64 t0, t1;
	u32 i, bytes = 0;
	int ret = 0;

	t0 = ktime_get_ns();
	for (i = 0; i < job->bio_pages && !ret; i++)
		ret = codec_page(job->alg, run->work,
				 page_address(zbench_page(first + i)),
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

static int codec_groups(const struct zbench_job *job, struct codec_run *run,
			char *result)
{
	u32 i, groups = job->pages / job->bio_pages;
	u64 bytes = 0;
	int ret;

	zbench_shuffle(run->order, groups, job, 0);
	for (i = 0; i < groups; i++) {
		ret = codec_group(job, run, i);
		if (ret < 0)
			return ret;
		bytes += ret;
		cond_resched();
	}
	snprintf(result, ZBENCH_RESULT_SIZE,
		 "{\"alg\": \"%s\", \"bio\": %u, \"pages\": %u, \"compress_ns\": %llu, \"decompress_ns\": %llu, \"bytes_per_page\": %llu}\n",
		 job->alg, job->bio_pages, job->pages,
		 zbench_trimmed_mean(run->there, groups, job->bio_pages),
		 zbench_trimmed_mean(run->here, groups, job->bio_pages),
		 div_u64(bytes, groups * job->bio_pages));
	return 0;
}

int zbench_run_codec(const struct zbench_job *job, char *result)
{
	u32 groups = job->pages / job->bio_pages;
	struct codec_run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!run)
		return ret;
	run->work = vmalloc(max_t(size_t, LZ4_MEM_COMPRESS,
				  LZO1X_MEM_COMPRESS));
	run->packed = vmalloc(2 * ZBENCH_MAX_BIO_PAGES * PAGE_SIZE);
	run->back = vmalloc(PAGE_SIZE);
	run->order = vmalloc(array_size(groups, sizeof(u32)));
	run->there = vmalloc(array_size(groups, sizeof(u32)));
	run->here = vmalloc(array_size(groups, sizeof(u32)));
	if (run->work && run->packed && run->back && run->order &&
	    run->there && run->here)
		ret = codec_groups(job, run, result);
	vfree(run->here);
	vfree(run->there);
	vfree(run->order);
	vfree(run->back);
	vfree(run->packed);
	vfree(run->work);
	kfree(run);
	return ret;
}
