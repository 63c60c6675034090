/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zcomp: compression streams and the codecs behind them.
 *
 * A backend is one algorithm of the kernel's libraries, described by a const
 * table. A zcomp is one backend plus its streams. A stream is the working
 * memory of one compression or decompression and the buffers beside it; it
 * belongs to one task at a time, from zcomp_stream_get() to zcomp_stream_put().
 *
 * Where the streams are:
 * - per CPU (the default): a fast backend's stream is pinned by a local_lock,
 *   so its holder must not sleep; a slow backend's stream is guarded by a
 *   mutex, so its holder may sleep but must allocate GFP_NOIO.
 * - in one list of N (force_stream_list=1): whoever finds it empty sleeps
 *   until a stream comes back. The stream is its holder's alone, so nothing
 *   else is locked and preemption stays on; even so the holder must treat a
 *   fast backend's stream as atomic, so that both ways have one rule.
 *
 * A task holds at most one stream at a time, of whichever zcomp: two of them,
 * taken in either order by two tasks, would deadlock, and lockdep says so.
 * A stream is the outermost lock of the data path: see zram_drv.h.
 */
#ifndef _ZCOMP_H_
#define _ZCOMP_H_

#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/local_lock.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

/*
 * Room that the compressor of any backend may use for a page, whatever is in it:
 * lzo's worst case, which is the worst of all.
 */
#define ZCOMP_ROOM	(PAGE_SIZE + PAGE_SIZE / 16 + 64 + 3 + 2)

/**
 * struct zcomp_backend - one compression algorithm
 * @name: as written to comp_algorithm
 * @fast: compress() neither sleeps nor takes long: run with preemption off
 * @in_place: decompress() needs no working memory (its @work may be NULL), does
 *	not sleep and is fast: it may run under a slot lock
 * @create: allocate one stream's working memory, near @node. May sleep. NULL
 *	return is -ENOMEM. A backend without working memory leaves it NULL.
 * @destroy: free what @create returned; set whenever @create is
 * @compress: compress the PAGE_SIZE bytes at @src into at most *@len bytes at
 *	@dst, setting *@len; it may use ZCOMP_ROOM bytes there on the way.
 *	-ENOSPC where the result is larger, -EINVAL where the library failed
 *	otherwise. @src may change while it is read; what comes of that must
 *	still expand to a page.
 * @decompress: expand @len bytes at @src into exactly PAGE_SIZE bytes at @dst.
 *	-EINVAL where the input is corrupt, never touching anything outside
 *	the page at @dst.
 */
struct zcomp_backend {
	const char *name;
	bool fast;
	bool in_place;
	void *(*create)(int node);
	void (*destroy)(void *work);
	int (*compress)(void *work, const void *src, void *dst,
			unsigned int *len);
	int (*decompress)(void *work, const void *src, unsigned int len,
			  void *dst);
};

/*
 * Pages that may be compressed before the first is stored. A fast codec's user
 * is not preempted meanwhile: some ten microseconds a page.
 */
#define ZCOMP_BATCH	6

/*
 * Results of a batch are kept one behind the other, and the last may need
 * ZCOMP_ROOM on the way: so the others may take up to 0.97 of a page each. More
 * is of no use to anybody who stores them.
 */
#define ZCOMP_OUT_SIZE	(ZCOMP_BATCH * PAGE_SIZE)

/**
 * struct zcomp_stream - what one compression needs
 * @lock: pins a fast backend's per-CPU stream
 * @mutex: guards a slow backend's per-CPU stream; also the coming and going of
 *	the three buffers with CPU hotplug, whatever the backend
 * @link: place in the list of idle streams (list mode only)
 * @work: the backend's working memory
 * @out: compressed output, ZCOMP_OUT_SIZE bytes
 * @in: copy of compressed input for a backend that is not in_place, PAGE_SIZE
 *	bytes; NULL otherwise
 *
 * Invariant: @out is NULL exactly while the stream has no buffers, that is
 * before its CPU is prepared and after it is dead.
 */
struct zcomp_stream {
	local_lock_t lock;
	struct mutex mutex;	/* see above */
	struct list_head link;
	void *work;
	void *out;
	void *in;
};

/**
 * struct zcomp - one backend and its streams
 * @backend: the algorithm; never changes
 * @streams: the streams, one for each possible CPU; NULL in list mode
 * @pinned: @streams is there and @backend is fast: getting a stream is
 *	taking its local_lock
 * @node: place among the instances of the CPU hotplug state
 * @nr_list: number of streams in list mode, else 0
 * @idle_lock: guards @idle; innermost, never held over anything that sleeps
 * @idle: list mode: streams that nobody holds, last used first
 * @idle_wait: list mode: tasks that found @idle empty
 *
 * Only zcomp_stream_get() and its kin look inside.
 */
struct zcomp {
	const struct zcomp_backend *backend;
	struct zcomp_stream __percpu *streams;
	bool pinned;
	struct hlist_node node;

	unsigned int nr_list;
	spinlock_t idle_lock;	/* guards idle */
	struct list_head idle;
	wait_queue_head_t idle_wait;
};

int zcomp_init(void);
void zcomp_exit(void);

const struct zcomp_backend *zcomp_backend_find(const char *name);
const struct zcomp_backend *zcomp_backend_default(void);
ssize_t zcomp_backends_show(const struct zcomp_backend *current_backend,
			    char *buf);

struct zcomp *zcomp_create(const struct zcomp_backend *backend,
			   unsigned int list_streams);
void zcomp_destroy(struct zcomp *comp);
const struct zcomp_backend *zcomp_backend_of(const struct zcomp *comp);

int zcomp_cpu_prepare(unsigned int cpu, struct hlist_node *node);
int zcomp_cpu_dead(unsigned int cpu, struct hlist_node *node);

struct zcomp_stream *zcomp_stream_get_slow(struct zcomp *comp);
void zcomp_stream_put_slow(struct zcomp *comp, struct zcomp_stream *stream);

/**
 * zcomp_stream_get - take a stream
 * @comp: whose
 *
 * Context: Process context, holding no other stream and no slot. Sleeps until
 * a stream is free, except for per-CPU streams of a fast backend, which turn
 * preemption off instead until zcomp_stream_put().
 * Return: a stream with its buffers, never NULL.
 */
static inline struct zcomp_stream *zcomp_stream_get(struct zcomp *comp)
{
	/*
	 * No look at the buffers here: this CPU is up, and with preemption
	 * (on PREEMPT_RT: migration) off it stays up.
	 */
	if (likely(comp->pinned)) {
		local_lock(&comp->streams->lock);
		return this_cpu_ptr(comp->streams);
	}
	return zcomp_stream_get_slow(comp);
}

/**
 * zcomp_stream_put - give a stream back
 * @comp: where zcomp_stream_get() took it
 * @stream: what it returned
 *
 * Context: The task that called zcomp_stream_get(). Does not sleep.
 */
static inline void zcomp_stream_put(struct zcomp *comp,
				    struct zcomp_stream *stream)
{
	if (likely(comp->pinned))
		local_unlock(&comp->streams->lock);
	else
		zcomp_stream_put_slow(comp, stream);
}

/* What a stream's holder must hold; in list mode, being off the list. */
static inline void zcomp_assert_held(struct zcomp *comp,
				     struct zcomp_stream *stream)
{
	if (comp->pinned)
		lockdep_assert_held(&stream->lock);
	else if (comp->streams)
		lockdep_assert_held(&stream->mutex);
	else if (IS_ENABLED(CONFIG_LOCKDEP))
		WARN_ON_ONCE(!list_empty(&stream->link));
}

/**
 * zcomp_compress - compress one page into a stream's output buffer
 * @comp: the compressor
 * @stream: a stream of it, held by the caller
 * @src: PAGE_SIZE bytes; may change meanwhile (O_DIRECT): the result then
 *	expands to a page of neither the old nor the new bytes
 * @dst: in @stream->out, with room for ZCOMP_ROOM bytes
 * @len: in: the largest useful result in bytes, at most PAGE_SIZE; out: bytes
 *	at @dst, if 0 is returned, else undefined
 *
 * Context: Between zcomp_stream_get() and zcomp_stream_put(). Sleeps only if
 * the backend is slow; allocates nothing.
 * Return: 0, -ENOSPC where *@len bytes are not enough, or -EINVAL where the
 * library failed. Nothing past ZCOMP_ROOM bytes is written to @dst.
 */
static inline int zcomp_compress(struct zcomp *comp,
				 struct zcomp_stream *stream,
				 const void *src, void *dst,
				 unsigned int *len)
{
	zcomp_assert_held(comp, stream);
	if (WARN_ON_ONCE(*len > PAGE_SIZE || dst < stream->out ||
			 dst + ZCOMP_ROOM > stream->out + ZCOMP_OUT_SIZE))
		return -EINVAL;
	return comp->backend->compress(stream->work, src, dst, len);
}

/**
 * zcomp_decompress - expand one page
 * @comp: the compressor
 * @stream: a stream of it, held by the caller; NULL is allowed if the backend
 *	is in_place
 * @src: compressed bytes; often @stream->in
 * @len: how many
 * @dst: a page; undefined if not 0 is returned
 *
 * Context: Between zcomp_stream_get() and zcomp_stream_put(), or, without a
 * stream, any, also atomic. Allocates nothing.
 * Return: 0, or -EINVAL where @src does not expand to exactly PAGE_SIZE bytes.
 * Nothing outside the page at @dst is written.
 */
static inline int zcomp_decompress(struct zcomp *comp,
				   struct zcomp_stream *stream,
				   const void *src, unsigned int len, void *dst)
{
	if (unlikely(!len || len > PAGE_SIZE))
		return -EINVAL;
	if (!stream) {
		if (WARN_ON_ONCE(!comp->backend->in_place))
			return -EINVAL;
		return comp->backend->decompress(NULL, src, len, dst);
	}
	zcomp_assert_held(comp, stream);
	return comp->backend->decompress(stream->work, src, len, dst);
}

#endif /* _ZCOMP_H_ */
