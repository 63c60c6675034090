// SPDX-License-Identifier: GPL-2.0
/*
 * zs_compact: empties sparse zspages into fuller ones and frees them: when told
 * to, in the background when a pool has grown, and, by one shrinker for all
 * pools, when the kernel is short of memory.
 *
 * Compaction takes the emptiest zspage of a class off its list (busy: nothing
 * is allocated in it from then on) and moves its objects one at a time: the
 * owner's lock is taken first, blocking, and proves that the object is still
 * where the bitmap said; the pool lock is taken inside it for single steps and
 * never held across a copy. Objects in flight or freed meanwhile are passed
 * over; a zspage that could not be emptied goes back to its list.
 *
 * One compaction at a time per pool. It allocates nothing.
 */
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/shrinker.h>
#include <linux/wait_bit.h>

#include "compat.h"
#include "zs_compact.h"
#include "zs_internal.h"

/* A zspage that stays after this many tries leaves its class alone. */
#define MAX_STUCK	3

/*
 * Growth by this share of the pool's pages, at least so many, makes us look, and
 * as much to win starts compaction: 0.8 % is what a user would not notice.
 */
#define BACKGROUND_SHIFT	7
#define BACKGROUND_MIN		128UL

static LIST_HEAD(pools);
static DEFINE_SPINLOCK(pools_lock);
static struct shrinker *shrinker;
static struct workqueue_struct *compact_wq;

/* Zspages of a class that could go if its objects were packed tightly. */
static unsigned long surplus(const struct zs_pool *pool, unsigned int class)
{
	const struct zs_class *c = &pool->classes[class];
	unsigned long objects = zs_classes.shape[class].objects;
	unsigned long room, used;

	/* Racy on purpose where no lock is held: an estimate. */
	room = data_race(c->zspages) * objects;
	/* So is this. */
	used = data_race(c->used);
	return room > used ? (room - used) / objects : 0;
}

/* The emptiest zspage that is worth emptying, now busy. */
static struct zspage *begin_source(struct zs_pool *pool, unsigned int class)
{
	struct zs_class *c = &pool->classes[class];
	struct zspage *source = NULL;
	unsigned int group;

	zs_lock(pool);
	group = ffs(c->nonempty);
	if (group && surplus(pool, class)) {
		source = list_last_entry(&c->groups[group - 1], struct zspage,
					 link);
		zs_set_busy(pool, source);
	}
	zs_unlock(pool);
	return source;
}

/* Free @source if it is empty. Returns the pages freed. */
static unsigned int end_source(struct zs_pool *pool, struct zspage *source)
{
	unsigned int pages = 0;
	LIST_HEAD(emptied);

	zs_lock(pool);
	zs_clear_busy(pool, source, &emptied);
	if (!list_empty(&emptied)) {
		pages = zs_shape(source)->chain;
		pool->compacted += pages;
	}
	zs_unlock(pool);
	zs_free_emptied(&emptied);
	return pages;
}

/* Under the owner's lock: move its object. False where there is no room. */
static bool move(struct zs_pool *pool, unsigned int class, u32 owner, u64 from)
{
	struct zs_exchange x = {
		.old = from, .size = zs_classes.shape[class].size, .owner = owner,
	};
	LIST_HEAD(emptied);
	const void *data;

	/*
	 * From a busy zspage: nothing is emptied, and nobody is given the room
	 * where the bytes still are.
	 */
	if (zs_obj_exchange(pool, &x, 1, &emptied) != 1)
		return false;
	data = zs_obj_read_begin(from, x.size);
	zs_obj_write(x.new, data, x.size);
	zs_obj_read_end(data);
	pool->ops->relocate(pool->owner, owner, from, x.new);
	return true;
}

/* False where moving on makes no sense: no room in other zspages. */
static bool move_object(struct zs_pool *pool, struct zspage *source, u32 index)
{
	bool used, moved;
	u32 owner;
	u64 from;

	zs_lock(pool);
	used = test_bit(index, source->bitmap);
	owner = zs_owners(source)[index];
	from = zs_object_loc(source, index);
	zs_unlock(pool);

	if (!used || owner == ZS_OWNER_NONE)
		return true;
	if (!pool->ops->lock(pool->owner, owner, from))
		return true;
	moved = move(pool, source->class, owner, from);
	pool->ops->unlock(pool->owner, owner);
	return moved;
}

static bool stopped(const bool *stop)
{
	return stop && (READ_ONCE(*stop) || fatal_signal_pending(current));
}

static unsigned int compact_one(struct zs_pool *pool, unsigned int class,
				const bool *stop, bool *more)
{
	struct zspage *source = begin_source(pool, class);
	u32 index, objects = zs_classes.shape[class].objects;

	*more = source;
	if (!source)
		return 0;
	for (index = 0; index < objects && !stopped(stop); index++)
		if (!move_object(pool, source, index))
			break;
	return end_source(pool, source);
}

static unsigned long compact_class(struct zs_pool *pool, unsigned int class,
				   const bool *stop, unsigned long budget)
{
	unsigned int stuck = 0;
	unsigned long freed = 0;
	bool more = true;

	while (more && freed < budget && stuck < MAX_STUCK && !stopped(stop)) {
		unsigned int pages = compact_one(pool, class, stop, &more);

		freed += pages;
		if (!pages)
			stuck++;
		cond_resched();
	}
	return freed;
}

static unsigned long compact(struct zs_pool *pool, const bool *stop,
			     unsigned long budget)
{
	unsigned long freed = 0;
	unsigned int class;

	lockdep_assert_held(&pool->compacting);
	/* Large objects first: fewer copies for a page. */
	for (class = zs_classes.nr; class-- && freed < budget;)
		freed += compact_class(pool, class, stop, budget - freed);
	return freed;
}

/**
 * zs_pool_compact - free as many pages as moving objects together frees
 * @pool: the pool
 * @stop: if not NULL, the pass ends soon after it becomes true, or after the
 *	caller is killed
 *
 * Context: may sleep; no owner's lock held.
 * Return: pages freed.
 */
unsigned long zs_pool_compact(struct zs_pool *pool, const bool *stop)
{
	unsigned long freed;

	mutex_lock(&pool->compacting);
	freed = compact(pool, stop, ULONG_MAX);
	mutex_unlock(&pool->compacting);
	return freed;
}

/**
 * zs_pool_freeable - estimate what zs_pool_compact() would free
 * @pool: the pool
 *
 * Context: any. Takes no lock.
 * Return: pages.
 */
unsigned long zs_pool_freeable(struct zs_pool *pool)
{
	unsigned long pages = 0;
	unsigned int class;

	for (class = 0; class < zs_classes.nr; class++)
		pages += surplus(pool, class) * zs_classes.shape[class].chain;
	return pages;
}

/* What it takes for compaction to begin by itself. */
static unsigned long background_share(const struct zs_pool *pool)
{
	return max(READ_ONCE(pool->pages) >> BACKGROUND_SHIFT, BACKGROUND_MIN);
}

static void compact_in_background(struct work_struct *work)
{
	struct zs_pool *pool = container_of(work, struct zs_pool, background);

	zs_pool_compact(pool, &pool->closing);
}

static unsigned long zs_shrinker_count(struct shrinker *shrinker,
				       struct shrink_control *sc)
{
	struct zs_pool *pool;
	unsigned long pages = 0;

	spin_lock(&pools_lock);
	list_for_each_entry(pool, &pools, link)
		pages += zs_pool_freeable(pool);
	spin_unlock(&pools_lock);
	return pages ?: SHRINK_EMPTY;
}

/* The next pool with something to free, kept until put_pool(). */
static struct zs_pool *get_pool(void)
{
	struct zs_pool *pool, *found = NULL;

	spin_lock(&pools_lock);
	list_for_each_entry(pool, &pools, link) {
		if (!zs_pool_freeable(pool))
			continue;
		found = pool;
		atomic_inc(&pool->scanners);
		list_move_tail(&pool->link, &pools);
		break;
	}
	spin_unlock(&pools_lock);
	return found;
}

static void put_pool(struct zs_pool *pool)
{
	/* Only the address is used after the pool may be gone. */
	if (atomic_dec_and_test(&pool->scanners))
		wake_up_var(&pool->scanners);
}

static unsigned long zs_shrinker_scan(struct shrinker *shrinker,
				      struct shrink_control *sc)
{
	struct zs_pool *pool = get_pool();
	unsigned long freed = 0;

	if (!pool)
		return SHRINK_STOP;
	/* Whoever compacts it already does the same work. */
	if (mutex_trylock(&pool->compacting)) {
		freed = compact(pool, NULL, sc->nr_to_scan);
		mutex_unlock(&pool->compacting);
	}
	put_pool(pool);
	return freed ?: SHRINK_STOP;
}

/**
 * zs_compact_due - is it time to look for room that compaction would win
 * @pool: the pool
 * @pages: by which it has just grown
 *
 * A pool that grows takes memory while parts of its zspages may lie unused:
 * sizes change as pages are overwritten, and each class keeps the room of its
 * best days. Looking goes with the growth, so that it costs little of what
 * growing does.
 *
 * Context: pool lock held.
 * Return: whether to call zs_compact_background() after unlocking.
 */
bool zs_compact_due(struct zs_pool *pool, unsigned int pages)
{
	lockdep_assert_held(&pool->lock);
	pool->grown += pages;
	if (pool->grown < background_share(pool))
		return false;
	pool->grown = 0;
	return true;
}

/**
 * zs_compact_background - compact if that frees a notable share of a pool
 * @pool: the pool
 *
 * Context: any but interrupts; no pool lock held. Does not wait.
 */
void zs_compact_background(struct zs_pool *pool)
{
	if (zs_pool_freeable(pool) >= background_share(pool))
		queue_work(compact_wq, &pool->background);
}

/**
 * zs_compact_add - let shrinker and growth compact a pool
 * @pool: the pool
 *
 * Context: task context.
 */
void zs_compact_add(struct zs_pool *pool)
{
	mutex_init(&pool->compacting);
	INIT_WORK(&pool->background, compact_in_background);
	spin_lock(&pools_lock);
	list_add_tail(&pool->link, &pools);
	spin_unlock(&pools_lock);
}

/**
 * zs_compact_remove - no more compaction of a pool
 * @pool: the pool, which does not grow any more
 *
 * Context: may sleep, until one that is under way is through.
 */
void zs_compact_remove(struct zs_pool *pool)
{
	spin_lock(&pools_lock);
	list_del(&pool->link);
	spin_unlock(&pools_lock);
	WRITE_ONCE(pool->closing, true);
	cancel_work_sync(&pool->background);
	wait_var_event(&pool->scanners, !atomic_read(&pool->scanners));
	mutex_destroy(&pool->compacting);
}

/**
 * zs_compact_init - be ready to compact
 *
 * Context: module init. May sleep.
 * Return: 0 or -ENOMEM, with nothing left behind.
 */
int zs_compact_init(void)
{
	/* For reclaim: freeing a pool, which may be for that, waits for it. */
	compact_wq = alloc_workqueue("zram_compact",
				     WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!compact_wq)
		return -ENOMEM;
	shrinker = compat_shrinker_create("zram", zs_shrinker_count,
					  zs_shrinker_scan);
	if (shrinker)
		return 0;
	destroy_workqueue(compact_wq);
	return -ENOMEM;
}

/**
 * zs_compact_exit - undo zs_compact_init()
 *
 * Context: all pools are destroyed. May sleep.
 */
void zs_compact_exit(void)
{
	compat_shrinker_destroy(shrinker);
	destroy_workqueue(compact_wq);
}
