// SPDX-License-Identifier: GPL-2.0
/*
 * zram_io: one page in, one page out, discard, and the loop over a bio.
 *
 * The loop walks pages of the device, not segments of the bio: memory given for
 * direct I/O may split a device page over two segments, and with large pages a
 * bio may cover part of one. Whole aligned pages go straight between the bio's
 * memory and the codec; everything else through a bounce page.
 *
 * Concurrency: no device lock (zram_drv.h). Bios to the same page meet at its
 * slot lock. A read decodes under it where the codec allows, which is safe and
 * short; otherwise it copies the compressed bytes to its stream, drops the
 * lock and decodes then. A write compresses first and takes the slot lock to
 * exchange the result for the old contents.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/highmem.h>
#include <linux/prefetch.h>
#include <linux/sched.h>

#include "compat.h"
#include "zram_io.h"
#include "zram_slot.h"

/* The codec whose stream is needed to read what @word says, NULL if none is. */
static struct zcomp *stream_needed(struct zram_state *state, unsigned long word)
{
	struct zcomp *comp;

	if (zram_word_state(word) != ZRAM_SLOT_COMPRESSED)
		return NULL;
	comp = state->comp[zram_word_codec(word)];
	return zcomp_backend_of(comp)->in_place ? NULL : comp;
}

/*
 * Under the slot lock: the page, or with a @stream the compressed bytes, which
 * are left in stream->in.
 */
static int read_locked(struct zram_state *state, u32 index,
		       struct zcomp_stream *stream, void *dst)
{
	const struct zram_slot *slot = &state->slots[index];
	struct zcomp *comp = state->comp[zram_word_codec(slot->word)];
	u32 size = zram_word_size(slot->word);
	const void *data;
	int ret = 0;

	zram_slot_assert_locked(state, index);
	switch (zram_word_state(slot->word)) {
	case ZRAM_SLOT_EMPTY:
		clear_page(dst);
		break;
	case ZRAM_SLOT_SAME:
		memset_l(dst, slot->fill, PAGE_SIZE / sizeof(long));
		break;
	case ZRAM_SLOT_COMPRESSED:
		zs_prefetch_read(slot->loc, size);
		data = zs_obj_read_begin(slot->loc, size);
		if (stream)
			memcpy(stream->in, data, size);
		else
			ret = zcomp_decompress(comp, NULL, data, size, dst);
		zs_obj_read_end(data);
		break;
	case ZRAM_SLOT_HUGE:
		data = zs_obj_read_begin(slot->loc, PAGE_SIZE);
		memcpy(dst, data, PAGE_SIZE);
		zs_obj_read_end(data);
		break;
	}
	return ret;
}

static int read_fail(struct zram_state *state, u32 index, unsigned int codec,
		     void *dst, int error)
{
	zram_count(state, ZRAM_FAILED_READS, 1);
	memset(dst, 0, PAGE_SIZE);
	pr_err_ratelimited("page %u: %s cannot decompress it: %d\n", index,
			   zcomp_backend_of(state->comp[codec])->name, error);
	return -EIO;
}

/**
 * zram_read_page - read one page
 * @state: the state
 * @index: the page, below state->nr_pages
 * @dst: PAGE_SIZE bytes, page aligned; all zero where reading fails
 *
 * Context: may sleep, for a codec with a stream of its own.
 * Return: 0 or -EIO where the stored bytes are damaged.
 */
int zram_read_page(struct zram_state *state, u32 index, void *dst)
{
	struct zcomp_stream *stream;
	struct zcomp *comp;
	unsigned long word;
	int ret;

again:
	stream = NULL;
	comp = stream_needed(state, zram_slot_peek(state, index));
	if (comp)
		stream = zcomp_stream_get(comp);

	zram_slot_lock(state, index);
	word = state->slots[index].word;
	/* The codec is certain only now: the stream must be its own. */
	if (unlikely(stream_needed(state, word) != comp)) {
		zram_slot_unlock(state, index);
		if (comp)
			zcomp_stream_put(comp, stream);
		goto again;
	}
	ret = read_locked(state, index, stream, dst);
	zram_slot_unlock(state, index);

	if (comp) {
		ret = zcomp_decompress(comp, stream, stream->in,
				       zram_word_size(word), dst);
		zcomp_stream_put(comp, stream);
	}
	if (unlikely(ret))
		return read_fail(state, index, zram_word_codec(word), dst, ret);
	return 0;
}

/* Whether a page is one word repeated. It may change meanwhile, harmlessly. */
static bool same_filled(const void *page, u64 *fill)
{
	const unsigned long *word = page;
	unsigned long first = READ_ONCE(word[0]);
	unsigned int i, last = PAGE_SIZE / sizeof(long) - 1;

	/* Most pages that begin alike end differently. */
	if (word[last] != first)
		return false;
	for (i = 1; i < last; i++)
		if (word[i] != first)
			return false;
	*fill = first;
	return true;
}

/**
 * struct batch - pages that follow each other, on their way in
 * @first: the first page
 * @n: how many, at most ZCOMP_BATCH
 * @src: their bytes
 * @if_processing: only if nothing was stored since zram_slot_begin(); one page
 * @done: how many have been stored
 * @new: what to store: for those that are encoded
 */
struct batch {
	u32 first;
	unsigned int n;
	const void *const *src;
	bool if_processing;
	unsigned int done;
	struct zram_content new[ZCOMP_BATCH];
};

/* What freeing the old objects will look at. */
static void prefetch_old(struct zram_state *state, const struct batch *b)
{
	unsigned int i;

	for (i = b->done; i < b->n; i++) {
		u64 loc = zram_slot_peek_loc(state, b->first + i);

		if (loc != ZS_LOC_NONE)
			zs_prefetch_free(loc);
	}
}

/*
 * Find out what to store for the pages that are not stored yet. Takes a stream
 * at the first one that needs it. Returns up to which page that went well.
 */
static unsigned int encode(struct zram_state *state, struct batch *b,
			   struct zcomp_stream **stream, int *error)
{
	struct zcomp *comp = state->comp[0];
	void *out = NULL;
	unsigned int i;

	for (i = b->done; i < b->n; i++) {
		struct zram_content *new = &b->new[i];

		*new = (struct zram_content){ .state = ZRAM_SLOT_SAME };
		if (same_filled(b->src[i], &new->fill))
			continue;
		if (!*stream) {
			*stream = zcomp_stream_get(comp);
			out = (*stream)->out;
		}
		new->size = zs_classes.huge_size;
		*error = zcomp_compress(comp, *stream, b->src[i], out,
					&new->size);
		if (!*error) {
			new->state = ZRAM_SLOT_COMPRESSED;
			new->data = out;
			out += new->size;
		} else if (*error == -ENOSPC) {
			new->state = ZRAM_SLOT_HUGE;
			new->data = b->src[i];
			new->size = PAGE_SIZE;
			*error = 0;
		} else {
			break;
		}
	}
	return i;
}

/* Store what is encoded, up to page @end, growing the pool as need be. */
static int store(struct zram_state *state, struct batch *b, unsigned int end,
		 gfp_t gfp)
{
	while (b->done < end) {
		const struct zram_content *new = &b->new[b->done];
		int ret;

		if (end - b->done == 1) {
			ret = zram_slot_store(state, b->first + b->done, new,
					      b->if_processing);
			ret = ret == -EAGAIN ? 0 : ret ?: 1;
		} else {
			ret = zram_slots_store(state, b->first + b->done, new,
					       end - b->done);
		}
		if (ret < 0)
			return ret;
		b->done += ret;
		if (b->done == end)
			break;
		ret = zs_pool_grow(state->pool, b->new[b->done].size, gfp);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Compress and store under one stream. Under a fast codec's one must not sleep,
 * so memory may be short there: -ENOMEM for b->new[b->done].size.
 */
static int write_some(struct zram_state *state, struct batch *b)
{
	struct zcomp *comp = state->comp[0];
	gfp_t gfp = zcomp_backend_of(comp)->fast ? GFP_NOWAIT : GFP_NOIO;
	struct zcomp_stream *stream = NULL;
	int ret, error = 0;
	unsigned int end;

	/* Where same_filled() looks. The codec goes on from there in order. */
	for (end = b->done; end < b->n; end++) {
		prefetch(b->src[end]);
		prefetch(b->src[end] + PAGE_SIZE - L1_CACHE_BYTES);
	}
	prefetch_old(state, b);
	end = encode(state, b, &stream, &error);
	ret = store(state, b, end, gfp);
	if (stream)
		zcomp_stream_put(comp, stream);
	return ret ?: error;
}

static int write_batch(struct zram_state *state, struct batch *b)
{
	int ret;

	do {
		ret = write_some(state, b);
		/* In reclaim, waiting for memory is waiting for oneself. */
		if (ret != -ENOMEM || current->flags & PF_MEMALLOC)
			break;
		zram_count(state, ZRAM_WRITE_STALLS, 1);
		ret = zs_pool_grow(state->pool, b->new[b->done].size, GFP_NOIO);
	} while (!ret);
	/* At the limit is not the same as out of space on the disk. */
	return ret == -ENOSPC ? -EDQUOT : ret;
}

/**
 * zram_write_pages - write pages that follow each other
 * @state: the state
 * @first: the first page
 * @src: PAGE_SIZE bytes for each; may change meanwhile, then any mix of old and
 *	new bytes is stored
 * @n: how many, 1 to ZCOMP_BATCH; all below state->nr_pages
 *
 * Context: may sleep; allocates GFP_NOIO.
 * Return: 0. Otherwise some page and those after it still hold what they held:
 * -ENOMEM or -EDQUOT without memory or at the limit, -EINVAL where the codec
 * failed.
 */
int zram_write_pages(struct zram_state *state, u32 first,
		     const void *const *src, unsigned int n)
{
	struct batch b = { .first = first, .n = n, .src = src };
	int ret = write_batch(state, &b);

	if (unlikely(ret))
		zram_count(state, ZRAM_FAILED_WRITES, 1);
	return ret;
}

/* Fill in @len bytes of a page: read, change, write, unless it changed. */
static int rewrite(struct zram_state *state, u32 index, void *page, u32 offset,
		   u32 len, const void *src)
{
	const void *whole = page;
	struct batch b = {
		.first = index, .n = 1, .src = &whole, .if_processing = true,
	};
	int ret;

	do {
		zram_slot_begin(state, index);
		ret = zram_read_page(state, index, page);
		if (ret)
			break;
		memcpy(page + offset, src, len);
		b.done = 0;
		ret = write_batch(state, &b);
	} while (ret == -ESTALE);
	return ret;
}

/**
 * zram_write_partial - write part of one page
 * @state: the state
 * @index: the page, below state->nr_pages
 * @offset: first byte in the page
 * @len: bytes, @offset + @len <= PAGE_SIZE
 * @src: the bytes
 *
 * Writers of parts of a page exclude each other; a write of the whole page or
 * a discard in between is noticed and the part is written on top of it.
 *
 * Context: may sleep; allocates GFP_NOIO.
 * Return: 0; else the page still holds what it held, -ENOMEM or as
 * zram_read_page() and zram_write_page().
 */
int zram_write_partial(struct zram_state *state, u32 index, u32 offset,
		       u32 len, const void *src)
{
	struct mutex *lock = &state->partial[index % ZRAM_NR_PARTIAL];
	void *page = (void *)__get_free_page(GFP_NOIO);
	int ret;

	if (!page)
		return -ENOMEM;
	mutex_lock(lock);
	ret = rewrite(state, index, page, offset, len, src);
	mutex_unlock(lock);
	free_page((unsigned long)page);
	if (unlikely(ret))
		zram_count(state, ZRAM_FAILED_WRITES, 1);
	return ret;
}

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

/* Part of a page, or one that lies in the bio's memory in pieces. */
static int rw_bounced(struct zram_state *state, struct bio *bio,
		      struct bvec_iter iter, u32 index, u32 offset, u32 len)
{
	void *buf = (void *)__get_free_page(GFP_NOIO);
	int ret;

	if (!buf)
		return -ENOMEM;
	if (op_is_write(bio_op(bio))) {
		copy_bio(bio, iter, buf, len, false);
		if (len == PAGE_SIZE)
			ret = zram_write_page(state, index, buf);
		else
			ret = zram_write_partial(state, index, offset, len,
						 buf);
	} else {
		ret = zram_read_page(state, index, buf);
		copy_bio(bio, iter, buf + offset, len, true);
	}
	free_page((unsigned long)buf);
	return ret;
}

static int read_direct(struct zram_state *state, struct bio_vec *bv, u32 index)
{
	void *mem = bvec_kmap_local(bv);
	int ret = zram_read_page(state, index, mem);

	flush_dcache_page(bv->bv_page);
	kunmap_local(mem);
	return ret;
}

/* How much of the device page that @iter is at, and from where on. */
static u32 within_page(const struct bvec_iter *iter, u32 *offset)
{
	*offset = iter->bi_sector % ZRAM_SECTORS_PER_PAGE << SECTOR_SHIFT;
	return min_t(u32, PAGE_SIZE - *offset, iter->bi_size);
}

/* Whether a whole page is next, and in one piece of memory, which is @bv. */
static bool is_direct(struct bio *bio, const struct bvec_iter *iter,
		      struct bio_vec *bv)
{
	u32 offset;

	if (within_page(iter, &offset) != PAGE_SIZE)
		return false;
	*bv = bio_iter_iovec(bio, *iter);
	/* A segment as long as a page is a whole, aligned page. */
	return bv->bv_len == PAGE_SIZE;
}

/* Write whole pages, as many as there are and go at once; moves @iter on. */
static int write_direct(struct zram_state *state, struct bio *bio,
			struct bvec_iter *iter, u32 index)
{
	const void *src[ZCOMP_BATCH];
	unsigned int n = 0;
	struct bio_vec bv;
	int ret;

	while (n < ZCOMP_BATCH && iter->bi_size && is_direct(bio, iter, &bv)) {
		src[n++] = bvec_kmap_local(&bv);
		bio_advance_iter(bio, iter, PAGE_SIZE);
	}
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

	while (iter.bi_size && !ret) {
		u32 index = iter.bi_sector / ZRAM_SECTORS_PER_PAGE;
		u32 offset, len = within_page(&iter, &offset);
		struct bio_vec bv;
		bool direct = is_direct(bio, &iter, &bv);

		if (write && direct) {
			ret = write_direct(state, bio, &iter, index);
			continue;
		}
		/* The codec takes long enough for memory to come near. */
		if (!write && iter.bi_size > len)
			zram_slot_prefetch_read(state, index + 1);
		if (direct)
			ret = read_direct(state, &bv, index);
		else
			ret = rw_bounced(state, bio, iter, index, offset, len);
		bio_advance_iter(bio, &iter, len);
	}
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
