// SPDX-License-Identifier: GPL-2.0
/*
 * zs_compact: empties sparse zspages into fuller ones and frees them: when told
 * to, in the background when a pool has grown, and, by one shrinker for all
 * pools, when the kernel is short of memory.
 *
 * Compaction takes the emptiest zspage of a class off its list (busy: nothing
 * is allocated in it from then on) and moves its objects, some at a time: first
 * room is taken for them in zspages that are made busy, too; then each is copied
 * under its owner's lock, blocking, which proves that the object is still where
 * the bitmap said; then what they left is freed. So nobody else frees anything
 * in these zspages meanwhile but what its owner has given up, and the pool lock is
 * taken twice for all and never held across a copy. Objects in flight or given up
 * meanwhile are passed over; a zspage that could not be emptied goes back to its list.
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

/* Objects to move between two acquisitions of the pool lock. */
#define MOVES	16

/**
 * struct move - an object on its way to another zspage
 * @from: where it is
 * @to: room for it, taken in its owner's name
 * @owner: whose it was when its room was taken
 * @done: it is there, and the owner knows
 */
struct move {
	u64 from;
	u64 to;
	u32 owner;
	bool done;
};

/**
 * struct moves - a zspage being emptied, and some of its objects on their way
 * @source: the zspage, busy; NULL where there is none
 * @next: first of its objects that was not looked at yet
 * @last: there is nothing to move after these
 * @targets: the zspages they go to, busy
 * @n: how many
 * @move: the objects
 */
struct moves {
	struct zspage *source;
	u32 next;
	bool last;
	struct list_head targets;
	unsigned int n;
	struct move move[MOVES];
};

/* The emptiest zspage, if it is worth emptying, becomes the source. */
static void choose_source(struct zs_pool *pool, unsigned int class,
			  struct moves *m)
{
	if (!surplus(pool, class))
		return;
	m->source = zs_emptiest(pool, class);
	if (!m->source)
		return;
	m->next = 0;
	zs_set_busy(pool, m->source);
}

/* Where the next object can go; busy until settle(). NULL without room. */
static struct zspage *target_for(struct zs_pool *pool, struct moves *m)
{
	struct zspage *target;

	target = list_first_entry_or_null(&m->targets, struct zspage, link);
	if (target && target->inuse < zs_shape(target)->objects)
		return target;
	target = zs_fullest(pool, m->source->class);
	if (target) {
		zs_set_busy(pool, target);
		list_add(&target->link, &m->targets);
	}
	return target;
}

/* Choose the next objects of the source, and take room for them. */
static void plan(struct zs_pool *pool, struct moves *m)
{
	struct zspage *source = m->source, *target;

	m->last = true;
	for_each_set_bit_from(m->next, source->bitmap, zs_shape(source)->objects) {
		u32 owner = zs_owners(source)[m->next];

		if (owner == ZS_OWNER_NONE)
			continue;
		m->last = m->n < MOVES;
		target = m->last ? target_for(pool, m) : NULL;
		if (!target)
			break;
		m->move[m->n++] = (struct move){
			.from = zs_object_loc(source, m->next),
			.to = zs_take_from(pool, target, owner),
			.owner = owner,
		};
	}
}

/* Move an object, unless its owner has freed it meanwhile. */
static void move(struct zs_pool *pool, u32 size, struct move *m)
{
	const void *data;

	if (!pool->ops->lock(pool->owner, m->owner, m->from))
		return;
	data = zs_obj_read_begin(m->from, size);
	zs_obj_write(m->to, data, size);
	zs_obj_read_end(data);
	pool->ops->relocate(pool->owner, m->owner, m->from, m->to);
	pool->ops->unlock(pool->owner, m->owner);
	m->done = true;
}

/* Free what was moved, or the room for what was not. */
static void settle(struct zs_pool *pool, struct moves *m,
		   struct list_head *emptied)
{
	struct zspage *target, *next;
	unsigned int i;

	for (i = 0; i < m->n; i++)
		zs_drop(pool, m->move[i].done ? m->move[i].from : m->move[i].to,
			emptied);
	m->n = 0;
	list_for_each_entry_safe(target, next, &m->targets, link) {
		list_del_init(&target->link);
		zs_clear_busy(pool, target, emptied);
	}
}

/* Put the source back, or retire it. Returns the pages that frees. */
static unsigned int end_source(struct zs_pool *pool, struct moves *m,
			       struct list_head *emptied)
{
	unsigned int pages = m->source->inuse ? 0 : zs_shape(m->source)->chain;

	pool->compacted += pages;
	zs_clear_busy(pool, m->source, emptied);
	m->source = NULL;
	return pages;
}

static bool stopped(const bool *stop)
{
	return stop && (READ_ONCE(*stop) || fatal_signal_pending(current));
}

static unsigned long compact_class(struct zs_pool *pool, unsigned int class,
				   const bool *stop, unsigned long budget)
{
	u32 size = zs_classes.shape[class].size;
	struct moves m = { .source = NULL };
	/* Whoever adds zspages as fast as they are emptied does not keep us. */
	unsigned long left = data_race(pool->classes[class].zspages);
	unsigned int stuck = 0, i;
	unsigned long freed = 0;
	LIST_HEAD(emptied);
	bool stays;

	INIT_LIST_HEAD(&m.targets);
	do {
		stays = false;
		/* What ends some moves begins the next: half as often. */
		zs_lock(pool);
		settle(pool, &m, &emptied);
		if (m.source && (m.last || stopped(stop))) {
			unsigned int pages = end_source(pool, &m, &emptied);

			freed += pages;
			stays = !pages;
			stuck += stays;
		}
		if (!m.source && left && freed < budget &&
		    stuck < MAX_STUCK && !stopped(stop)) {
			choose_source(pool, class, &m);
			left--;
		}
		if (m.source)
			plan(pool, &m);
		zs_unlock(pool);
		zs_free_emptied(&emptied);
		/* It may have been what waits that could not be moved. */
		if (stays)
			zs_pool_flush(pool);

		for (i = 0; i < m.n && !stopped(stop); i++)
			move(pool, size, &m.move[i]);
		cond_resched();
	} while (m.source);
	return freed;
}

static unsigned long compact(struct zs_pool *pool, const bool *stop,
			     unsigned long budget)
{
	unsigned long freed = 0;
	unsigned int class;

	lockdep_assert_held(&pool->compacting);
	/* What waits to be freed cannot be moved. */
	zs_pool_flush(pool);
	/* Large objects first: fewer copies for a page. */
	for (class = zs_classes.nr; class-- && freed < budget;)
		if (surplus(pool, class))
			freed += compact_class(pool, class, stop,
					       budget - freed);
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

	/* Not in mutex_lock(), where @stop would not be heard. */
	while (!mutex_trylock(&pool->compacting)) {
		if (stopped(stop))
			return 0;
		schedule_timeout_uninterruptible(1);
	}
	freed = compact(pool, stop, ULONG_MAX);
	mutex_unlock(&pool->compacting);
	return freed;
}

/* Pages that a writer at the limit frees at most: others are waiting, too. */
#define ROOM_PAGES	64

/* Jiffies that it waits for room in zspages that are busy. */
#define ROOM_TRIES	100

/**
 * zs_pool_make_room - find room for an object in a pool that must not grow
 * @pool: the pool
 * @size: bytes of the object, 1 to PAGE_SIZE
 * @tries: how often the caller has asked before
 *
 * First moves objects together. After that there may still be room in zspages
 * that are busy, as their objects or pages are being moved: waits for these.
 *
 * Context: may sleep; reclaim, too. No owner's lock held.
 * Return: whether it is worth trying again.
 */
bool zs_pool_make_room(struct zs_pool *pool, u32 size, unsigned int tries)
{
	struct zs_class *c = &pool->classes[zs_class_of(&zs_classes, size)];
	bool busy, room;

	if (!tries) {
		mutex_lock(&pool->compacting);
		compact(pool, NULL, ROOM_PAGES);
		mutex_unlock(&pool->compacting);
		return true;
	}
	zs_lock(pool);
	busy = c->busy;
	room = c->nonempty;
	zs_unlock(pool);
	if (tries > ROOM_TRIES || !(busy || room))
		return false;
	if (!room)
		schedule_timeout_uninterruptible(1);
	return true;
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
