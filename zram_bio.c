// SPDX-License-Identifier: GPL-2.0
/*
 * zram_bio: what the block layer and swap ask of a disk.
 *
 * The loop over a bio walks pages of the device, not segments: memory given for
 * direct I/O may split a device page over two segments, and with large pages a
 * bio may cover part of one. Whole aligned pages go straight between the bio's
 * memory and the codec; everything else through a bounce page.
 *
 * Concurrency: no lock here, see zram_io.c and, for a disk that is reset,
 * zram_drv.h.
 */
#include <linux/bio.h>
#include <linux/highmem.h>
#include <linux/sched.h>

#include "compat.h"
#include "zram_bio.h"
#include "zram_io.h"
#include "zram_slot.h"

/* Copy @len bytes between @buf and the bio's memory at @iter. */
static void copy_bio(struct bio *bio, struct bvec_iter iter, void *buf, u32 len,
		     bool to_bio)
{
	while (len) {
		struct bio_vec bv = bio_iter_iovec(bio, iter);

		bv.bv_len = min(bv.bv_len, len);
		if (to_bio)
			memcpy_to_bvec(&bv, buf);
		else
			memcpy_from_bvec(buf, &bv);
		buf += bv.bv_len;
		len -= bv.bv_len;
		bio_advance_iter_single(bio, &iter, bv.bv_len);
	}
}

/* How much of the device page that @iter is at, and from where on. */
static u32 within_page(const struct bvec_iter *iter, u32 *offset)
{
	*offset = iter->bi_sector % ZRAM_SECTORS_PER_PAGE << SECTOR_SHIFT;
	return min_t(u32, PAGE_SIZE - *offset, iter->bi_size);
}

/*
 * Whether a whole page is next, and in one piece of memory, which is @bv. Then
 * moves @iter on.
 */
static bool next_direct(struct bio *bio, struct bvec_iter *iter,
			struct bio_vec *bv)
{
	u32 offset;

	if (within_page(iter, &offset) != PAGE_SIZE)
		return false;
	*bv = bio_iter_iovec(bio, *iter);
	/* A segment as long as a page is a whole, aligned page. */
	if (bv->bv_len != PAGE_SIZE)
		return false;
	/* The end of a bio, as that of one page, is quickly found. */
	if (iter->bi_size > PAGE_SIZE)
		bio_advance_iter_single(bio, iter, PAGE_SIZE);
	else
		iter->bi_size = 0;
	return true;
}

/* Part of a page, or one that lies in the bio's memory in pieces. */
static int rw_bounced(struct zram_state *state, struct bio *bio,
		      struct bvec_iter *iter, u32 index)
{
	void *buf = (void *)__get_free_page(GFP_NOIO);
	u32 offset, len = within_page(iter, &offset);
	int ret;

	if (!buf)
		return -ENOMEM;
	if (op_is_write(bio_op(bio))) {
		copy_bio(bio, *iter, buf, len, false);
		if (len == PAGE_SIZE)
			ret = zram_write_page(state, index, buf);
		else
			ret = zram_write_partial(state, index, offset, len,
						 buf);
	} else {
		ret = zram_read_page(state, index, buf);
		copy_bio(bio, *iter, buf + offset, len, true);
	}
	free_page((unsigned long)buf);
	bio_advance_iter(bio, iter, len);
	return ret;
}

/* Read what is next, up to the end of a page; moves @iter on. */
static int read_next(struct zram_state *state, struct bio *bio,
		     struct bvec_iter *iter)
{
	u32 index = iter->bi_sector / ZRAM_SECTORS_PER_PAGE;
	struct bio_vec bv;
	void *mem;
	int ret;

	/* The codec takes long enough for memory to come near. */
	if (iter->bi_size > PAGE_SIZE)
		zram_slot_prefetch_read(state, index + 1);
	if (!next_direct(bio, iter, &bv))
		return rw_bounced(state, bio, iter, index);
	mem = bvec_kmap_local(&bv);
	ret = zram_read_page(state, index, mem);
	flush_dcache_page(bv.bv_page);
	kunmap_local(mem);
	return ret;
}

/* Write what is next, as many whole pages as go at once; moves @iter on. */
static int write_next(struct zram_state *state, struct bio *bio,
		      struct bvec_iter *iter)
{
	u32 index = iter->bi_sector / ZRAM_SECTORS_PER_PAGE;
	const void *src[ZCOMP_BATCH] compat_uninitialized;
	unsigned int n = 0;
	struct bio_vec bv;
	int ret;

	while (n < ZCOMP_BATCH && iter->bi_size && next_direct(bio, iter, &bv))
		src[n++] = bvec_kmap_local(&bv);
	if (!n)
		return rw_bounced(state, bio, iter, index);
	ret = zram_write_pages(state, index, src, n);
	while (n--)
		kunmap_local(src[n]);
	return ret;
}

static void rw_bio(struct zram_state *state, struct bio *bio)
{
	struct bvec_iter iter = bio->bi_iter;
	bool write = op_is_write(bio_op(bio));
	int ret = 0;

	while (iter.bi_size && !ret)
		ret = write ? write_next(state, bio, &iter) :
			      read_next(state, bio, &iter);
	if (unlikely(ret))
		bio->bi_status = BLK_STS_IOERR;
}

/* Empty the pages that lie wholly within the bio. */
static void discard_bio(struct zram_state *state, struct bio *bio)
{
	sector_t start = bio->bi_iter.bi_sector;
	sector_t end = start + bio_sectors(bio);
	u32 index = (start + ZRAM_SECTORS_PER_PAGE - 1) / ZRAM_SECTORS_PER_PAGE;
	u32 last = end / ZRAM_SECTORS_PER_PAGE;
	u32 freed = 0, n;

	for (; index < last; index += n) {
		n = min_t(u32, last - index, ZRAM_SLOT_BATCH);
		freed += zram_slots_clear(state, index, n);
		cond_resched();
	}
	zram_count(state, ZRAM_NOTIFY_FREE, freed);
}

/* The block layer has checked against the capacity, which tells of the state. */
static bool within_disk(struct zram_state *state, struct bio *bio)
{
	return state && bio_end_sector(bio) <=
	       (sector_t)state->nr_pages * ZRAM_SECTORS_PER_PAGE;
}

/**
 * zram_submit_bio - do what a bio asks and end it
 * @bio: the bio
 *
 * Context: may sleep; no locks held. Memory is allocated GFP_NOIO.
 */
void zram_submit_bio(struct bio *bio)
{
	struct zram *zram = bio->bi_bdev->bd_disk->private_data;
	struct zram_state *state = zram_state(zram);
	unsigned long start;

	if (unlikely(!within_disk(state, bio))) {
		bio_io_error(bio);
		return;
	}
	start = bio_start_io_acct(bio);
	switch (bio_op(bio)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
		rw_bio(state, bio);
		break;
	case REQ_OP_DISCARD:
	case REQ_OP_WRITE_ZEROES:
		discard_bio(state, bio);
		break;
	default:
		bio->bi_status = BLK_STS_NOTSUPP;
		break;
	}
	bio_end_io_acct(bio, start);
	bio_endio(bio);
}

/**
 * zram_slot_free_notify - swap has freed a page of its area
 * @bdev: our disk
 * @index: the page
 *
 * Context: task context, under swap's locks and maybe page-table locks, often
 * with interrupts off, many in a row. Does not sleep.
 */
void zram_slot_free_notify(struct block_device *bdev, unsigned long index)
{
	struct zram *zram = bdev->bd_disk->private_data;
	struct zram_state *state = zram_state(zram);

	if (WARN_ON_ONCE(!state || index >= state->nr_pages))
		return;
	if (zram_slot_free(state, index))
		zram_count(state, ZRAM_NOTIFY_FREE, 1);
}

/**
 * zram_rw_whole_page - read or write one page without a bio
 * @disk: our disk
 * @sector: where, page aligned
 * @page: the memory, PAGE_SIZE bytes
 * @write: direction
 *
 * Context: may sleep; allocates GFP_NOIO.
 * Return: 0; on error the caller tries again with a bio, which reports it.
 */
int zram_rw_whole_page(struct gendisk *disk, sector_t sector,
		       struct page *page, bool write)
{
	struct zram *zram = disk->private_data;
	struct zram_state *state = zram_state(zram);
	u32 index = sector / ZRAM_SECTORS_PER_PAGE;
	void *mem;
	int ret;

	if (!state || sector % ZRAM_SECTORS_PER_PAGE ||
	    sector / ZRAM_SECTORS_PER_PAGE >= state->nr_pages)
		return -EINVAL;
	mem = kmap_local_page(page);
	ret = write ? zram_write_page(state, index, mem) :
		      zram_read_page(state, index, mem);
	flush_dcache_page(page);
	kunmap_local(mem);
	/* The bio that follows fails in its turn: that one counts. */
	if (ret)
		zram_count(state, write ? ZRAM_FAILED_WRITES :
			   ZRAM_FAILED_READS, -1);
	return ret;
}
