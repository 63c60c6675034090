// SPDX-License-Identifier: GPL-2.0
/*
 * zram_io: pages in and pages out, between memory and slots.
 *
 * Concurrency: no device lock (zram_drv.h). Readers and writers of the same page
 * meet at its slot lock. A read decodes under it where the codec allows, which is
 * safe and short; otherwise it copies the compressed bytes to its stream, drops
 * the lock and decodes then. A write compresses first and takes the slot lock to
 * exchange the result for the old contents.
 *
 * What is not done here: know about bios and swap (zram_bio.c).
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm.h>
#include <linux/prefetch.h>
#include <linux/sched.h>

#include "compat.h"
#include "zram_io.h"
#include "zram_slot.h"
#include "zs_compact.h"

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
 *
 * What works on it is inlined, once for one page and once for several: for one
 * the loops are gone.
 */
struct batch {
	u32 first;
	unsigned int n;
	const void *const *src;
	bool if_processing;
};

/* What will be looked at soon. */
static __always_inline void prefetch_batch(struct zram_state *state,
					   const struct batch *b)
{
	unsigned int i;

	/* Where same_filled() looks. The codec goes on from there in order. */
	for (i = 0; i < b->n; i++) {
		prefetch(b->src[i]);
		prefetch(b->src[i] + PAGE_SIZE - L1_CACHE_BYTES);
	}
	/* To free the old objects. */
	for (i = 0; i < b->n; i++) {
		u64 loc = zram_slot_peek_loc(state, b->first + i);

		if (loc != ZS_LOC_NONE)
			zs_prefetch_free(loc);
	}
}

/* What to store of a page that is not one word repeated, at @out if compressed. */
static __always_inline int compress(struct zcomp *comp,
				    struct zcomp_stream *stream,
				    const void *src, void *out,
				    struct zram_content *new)
{
	int ret;

	new->size = zs_classes.huge_size;
	ret = zcomp_compress(comp, stream, src, out, &new->size);
	if (likely(!ret)) {
		new->state = ZRAM_SLOT_COMPRESSED;
		new->data = out;
		return 0;
	}
	if (ret != -ENOSPC)
		return ret;
	new->state = ZRAM_SLOT_HUGE;
	new->data = src;
	new->size = PAGE_SIZE;
	return 0;
}

/*
 * Find out what to store. Takes a stream at the first page that needs it.
 * Returns up to which page that went well.
 */
static __always_inline unsigned int encode(struct zcomp *comp,
					   const struct batch *b,
					   struct zram_content *new,
					   struct zcomp_stream **stream,
					   int *error)
{
	void *out = NULL;
	unsigned int i;

	for (i = 0; i < b->n; i++, new++) {
		new->codec = 0;
		if (same_filled(b->src[i], &new->fill)) {
			new->state = ZRAM_SLOT_SAME;
			continue;
		}
		if (!*stream) {
			*stream = zcomp_stream_get(comp);
			out = (*stream)->out;
		}
		*error = compress(comp, *stream, b->src[i], out, new);
		if (unlikely(*error))
			break;
		if (new->state == ZRAM_SLOT_COMPRESSED)
			out += new->size;
	}
	return i;
}

/* How to allocate under a stream: under a fast codec's one must not sleep. */
static gfp_t grow_gfp(struct zram_state *state)
{
	return zcomp_backend_of(state->comp[0])->fast ? GFP_NOWAIT : GFP_NOIO;
}

/*
 * Store the first @n pages, growing the pool as need be. Returns how many were
 * stored; if not all, @error says why.
 */
static __always_inline unsigned int store(struct zram_state *state,
					  const struct batch *b,
					  const struct zram_content *new,
					  unsigned int n, int *error)
{
	unsigned int done = 0;
	int ret;

	while (done < n) {
		if (b->n == 1) {
			ret = zram_slot_store(state, b->first, new,
					      b->if_processing);
			ret = ret == -EAGAIN ? 0 : ret ?: 1;
		} else {
			ret = zram_slots_store(state, b->first + done,
					       new + done, n - done);
		}
		if (unlikely(ret < 0)) {
			*error = ret;
			break;
		}
		done += ret;
		if (likely(done == n))
			break;
		ret = zs_pool_grow(state->pool, new[done].size,
				   grow_gfp(state));
		if (unlikely(ret)) {
			*error = ret;
			break;
		}
	}
	return done;
}

/*
 * Compress and store under one stream. Returns how many pages were stored; if
 * not all, @error says why, and with -ENOMEM and -ENOSPC @size is what found no
 * room.
 */
static __always_inline unsigned int write_some(struct zram_state *state,
					       const struct batch *b, u32 *size,
					       int *error)
{
	struct zram_content new[ZCOMP_BATCH] compat_uninitialized;
	struct zcomp *comp = state->comp[0];
	struct zcomp_stream *stream = NULL;
	unsigned int n, done;

	*error = 0;
	prefetch_batch(state, b);
	n = encode(comp, b, new, &stream, error);
	done = store(state, b, new, n, error);
	if (stream)
		zcomp_stream_put(comp, stream);
	*size = done < n ? new[done].size : PAGE_SIZE;
	return done;
}

/*
 * Write pages, after somebody has tried that and got as far as @error: 0 for not
 * yet; if it was for the room, that of @size bytes.
 */
static noinline int write_batch(struct zram_state *state, struct batch b,
				u32 size, int error)
{
	unsigned int done, tries = 0;
	bool flushed = false;

	do {
		/* What waits to be freed may leave room enough. */
		if ((error == -ENOMEM || error == -ENOSPC) && !flushed) {
			flushed = true;
			if (zs_pool_flush(state->pool))
				error = 0;
		}
		/* In reclaim, waiting for memory is waiting for oneself. */
		if (error == -ENOMEM && !(current->flags & PF_MEMALLOC)) {
			zram_count(state, ZRAM_WRITE_STALLS, 1);
			error = zs_pool_grow(state->pool, size, GFP_NOIO);
		}
		if (error == -ENOSPC &&
		    zs_pool_make_room(state->pool, size, tries++))
			error = 0;
		if (error)
			break;
		done = write_some(state, &b, &size, &error);
		b.first += done;
		b.src += done;
		b.n -= done;
	} while (error);
	/* At the limit is not the same as out of space on the disk. */
	return error == -ENOSPC ? -EDQUOT : error;
}

/* The same for one page, which nearly always goes at once. */
static __always_inline int write_one(struct zram_state *state, u32 index,
				     const void *const *src)
{
	const struct batch b = { .first = index, .n = 1, .src = src };
	u32 size;
	int error;

	write_some(state, &b, &size, &error);
	return likely(!error) ? 0 : write_batch(state, b, size, error);
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
	const struct batch b = { .first = first, .n = n, .src = src };
	int ret = n == 1 ? write_one(state, first, src) :
			   write_batch(state, b, 0, 0);

	if (unlikely(ret))
		zram_count(state, ZRAM_FAILED_WRITES, 1);
	return ret;
}

/* Fill in @len bytes of a page: read, change, write, unless it changed. */
static int rewrite(struct zram_state *state, u32 index, void *page, u32 offset,
		   u32 len, const void *src)
{
	const void *whole = page;
	const struct batch b = {
		.first = index,
		.n = 1,
		.src = &whole,
		.if_processing = true,
	};
	int ret;

	do {
		zram_slot_begin(state, index);
		ret = zram_read_page(state, index, page);
		if (ret)
			break;
		memcpy(page + offset, src, len);
		ret = write_batch(state, b, 0, 0);
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
