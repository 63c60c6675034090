// SPDX-License-Identifier: GPL-2.0
/*
 * zsmalloc: an allocator for compressed pages behind one pool lock.
 *
 * Data structure: a pool has size classes; a class has zspages, sorted into
 * lists by fullness in steps of 10 %; a zspage is a chain of pages with a
 * bitmap of objects in use and an owner id for each. Objects are taken from
 * the fullest zspage that has room, so that the others drain. Nothing is kept
 * inside free objects: freeing touches the zspage, never the object.
 *
 * Concurrency: the pool lock guards all of that and is held for list and bit
 * operations only. Object bytes are guarded by the owners' locks (zsmalloc.h).
 * An emptied zspage leaves its list under the pool lock and is freed by the
 * caller after all its locks are dropped.
 *
 * What it does not do: read and write objects (zs_access.c), move them
 * (zs_compact.c, zs_migrate.c), know what an owner is, or remember sizes: who
 * reads an object says how long it is.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "zs_internal.h"
#include "zs_migrate.h"

/* Constant after zs_init(). */
struct zs_class_table zs_classes;

/**
 * zs_init - set up what all pools share
 *
 * Context: module init. May sleep.
 * Return: 0 or -ENOMEM, with nothing left behind.
 */
int zs_init(void)
{
	int ret;

	zs_class_table_init(&zs_classes, ZS_MAX_CHAIN);
	ret = zs_access_init();
	if (ret)
		return ret;
	ret = zs_compact_init();
	if (ret)
		goto out_access;
	ret = zs_migrate_init();
	if (ret)
		goto out_compact;
	return 0;

out_compact:
	zs_compact_exit();
out_access:
	zs_access_exit();
	return ret;
}

/**
 * zs_exit - undo zs_init()
 *
 * Context: all pools are destroyed. May sleep.
 */
void zs_exit(void)
{
	zs_migrate_exit();
	zs_compact_exit();
	zs_access_exit();
}

/**
 * zs_pool_create - make an empty pool
 * @ops: how to lock and tell owners of objects
 * @owner: handed to @ops
 *
 * Context: may sleep.
 * Return: the pool, or NULL without memory.
 */
struct zs_pool *zs_pool_create(const struct zs_owner_ops *ops, void *owner)
{
	struct zs_pool *pool;
	unsigned int class, group;

	pool = kvzalloc(struct_size(pool, classes, zs_classes.nr), GFP_KERNEL);
	if (!pool)
		return NULL;
	raw_spin_lock_init(&pool->lock);
	pool->ops = ops;
	pool->owner = owner;
	for (class = 0; class < zs_classes.nr; class++) {
		INIT_LIST_HEAD(&pool->classes[class].all);
		for (group = 0; group < ZS_NR_GROUPS; group++)
			INIT_LIST_HEAD(&pool->classes[class].groups[group]);
	}
	zs_compact_add(pool);
	return pool;
}

static unsigned int group_of(const struct zspage *zspage)
{
	return zs_shape_group(zs_shape(zspage), zspage->inuse);
}

/* Put a zspage that is on no list on the one of its group, if there is one. */
static void link_zspage(struct zs_class *class, struct zspage *zspage,
			unsigned int group)
{
	zspage->group = group;
	if (group == ZS_GROUP_FULL)
		return;
	list_add(&zspage->link, &class->groups[group]);
	class->nonempty |= BIT(group);
}

static void unlink_zspage(struct zs_class *class, struct zspage *zspage)
{
	struct list_head *list = &class->groups[zspage->group];

	if (zspage->group == ZS_GROUP_FULL)
		return;
	list_del_init(&zspage->link);
	if (list_empty(list))
		class->nonempty &= ~BIT(zspage->group);
}

/* Not inlined: half of the time a zspage is in the right group. */
static noinline void move_zspage(struct zs_class *class, struct zspage *zspage,
				 unsigned int group)
{
	unlink_zspage(class, zspage);
	link_zspage(class, zspage, group);
}

/* The zspage, on no list, is no longer part of its pool. */
static void retire(struct zs_pool *pool, struct zspage *zspage,
		   struct list_head *emptied)
{
	lockdep_assert_held(&pool->lock);
	/* Whoever still reaches it through a page shall leave it alone. */
	zspage->busy = true;
	pool->classes[zspage->class].zspages--;
	pool->pages -= zs_shape(zspage)->chain;
	list_del(&zspage->siblings);
	list_add(&zspage->link, emptied);
}

/* Bounds how long the pool lock is held to empty a list. */
#define RETIRE_BATCH	128

/* Retire zspages of a class that are not busy. False where none is left. */
static bool retire_some(struct zs_pool *pool, struct zs_class *class,
			struct list_head *emptied)
{
	unsigned int left = RETIRE_BATCH;
	struct zspage *zspage, *next;

	zs_lock(pool);
	list_for_each_entry_safe(zspage, next, &class->all, siblings) {
		if (zspage->busy)
			continue;
		if (!left--)
			break;
		unlink_zspage(class, zspage);
		retire(pool, zspage, emptied);
	}
	zs_unlock(pool);
	return !list_empty(emptied);
}

/**
 * zs_pool_destroy - free a pool and every object still in it
 * @pool: nobody uses it or holds a location of it any more
 *
 * Walks zspages, not objects: the time goes with the memory held. Waits for
 * compaction or migration that is looking at the pool.
 *
 * Context: may sleep.
 */
void zs_pool_destroy(struct zs_pool *pool)
{
	struct zs_pool_stats stats;
	unsigned int class;
	LIST_HEAD(emptied);

	zs_compact_remove(pool);
	do {
		for (class = 0; class < zs_classes.nr; class++) {
			while (retire_some(pool, &pool->classes[class],
					   &emptied)) {
				zs_free_emptied(&emptied);
				cond_resched();
			}
		}
		/* What is left is busy: a page of it is being migrated. */
		cond_resched();
		zs_pool_stats(pool, &stats);
	} while (stats.pages);
	zs_migrate_flush();
	kvfree(pool);
}

/*
 * Pages that follow each other, if they are free to have: without reclaim or
 * reserves, and only where all memory is mapped. What a power of two has too
 * many goes back.
 */
static bool alloc_flat(struct zspage *zspage, unsigned int chain, gfp_t gfp)
{
	unsigned int order = order_base_2(chain);
	unsigned int place;
	struct page *page;

	if (chain == 1 || IS_ENABLED(CONFIG_KMAP_LOCAL))
		return false;
	page = alloc_pages((gfp & ~__GFP_RECLAIM) | __GFP_NORETRY |
			   __GFP_NOMEMALLOC, order);
	if (!page)
		return false;
	split_page(page, order);
	for (place = 0; place < chain; place++)
		zs_pages(zspage)[place] = page + place;
	for (; place < 1U << order; place++)
		__free_page(page + place);
	return true;
}

static bool alloc_single(struct zspage *zspage, unsigned int chain, gfp_t gfp)
{
	unsigned int place;

	for (place = 0; place < chain; place++) {
		zs_pages(zspage)[place] = alloc_page(gfp);
		if (!zs_pages(zspage)[place])
			goto out_pages;
	}
	return true;

out_pages:
	while (place--)
		__free_page(zs_pages(zspage)[place]);
	return false;
}

/* Whole cache lines, so that what is used most shares one. */
static size_t zspage_bytes(const struct zs_shape *shape)
{
	size_t bytes = struct_size((struct zspage *)NULL, bitmap,
				   BITS_TO_LONGS(shape->objects));

	bytes += shape->chain * sizeof(struct page *);
	bytes += shape->objects * sizeof(u32);
	return ALIGN(bytes, L1_CACHE_BYTES);
}

/**
 * zs_zspage_alloc - make a zspage without objects
 * @pool: whose it will be
 * @class: its size class
 * @gfp: how to allocate
 *
 * Its pages can be found by the kernel's compaction from now on, so it is busy
 * until it is part of the pool; or is freed with zs_zspage_free().
 *
 * Context: as @gfp says; no owner's and no pool lock held.
 * Return: the zspage, or NULL without memory.
 */
struct zspage *zs_zspage_alloc(struct zs_pool *pool, unsigned int class,
			       gfp_t gfp)
{
	const struct zs_shape *shape = &zs_classes.shape[class];
	gfp_t page_gfp = gfp | zs_migrate_gfp();
	struct zspage *zspage;
	unsigned int place;

	zspage = kzalloc(zspage_bytes(shape), gfp);
	if (!zspage)
		return NULL;
	INIT_LIST_HEAD(&zspage->link);
	zspage->pool = pool;
	zspage->class = class;
	zspage->busy = true;
	zspage->flat = alloc_flat(zspage, shape->chain, page_gfp);
	if (!zspage->flat && !alloc_single(zspage, shape->chain, page_gfp)) {
		kfree(zspage);
		return NULL;
	}
	for (place = 0; place < shape->chain; place++)
		set_page_private(zs_pages(zspage)[place],
				 (unsigned long)zspage | place);
	zs_migrate_register(zspage);
	return zspage;
}

static bool over_limit(struct zs_pool *pool, unsigned int pages)
{
	unsigned long limit = READ_ONCE(pool->limit);

	return limit && READ_ONCE(pool->pages) + pages > limit;
}

/**
 * zs_pool_grow - make room for objects of one size
 * @pool: the pool
 * @size: bytes the objects will have, 1 to PAGE_SIZE
 * @gfp: how to allocate; never warns
 *
 * Adds one zspage. The room is for whoever comes first: a caller whose
 * zs_obj_exchange() still finds none grows again. Now and then growth starts
 * compaction in the background.
 *
 * Context: as @gfp says; no owner's lock held.
 * Return: 0, -ENOMEM, or -ENOSPC where the pool's limit is reached.
 */
int zs_pool_grow(struct zs_pool *pool, u32 size, gfp_t gfp)
{
	unsigned int class = zs_class_of(&zs_classes, size);
	unsigned int chain = zs_classes.shape[class].chain;
	struct zspage *zspage;
	bool refused, due = false;

	/* Racy but free: spares the allocation. Decided under the lock. */
	if (over_limit(pool, chain))
		return -ENOSPC;
	zspage = zs_zspage_alloc(pool, class, gfp | __GFP_NOWARN);
	if (!zspage)
		return -ENOMEM;

	zs_lock(pool);
	refused = over_limit(pool, chain);
	if (!refused) {
		pool->pages += chain;
		pool->max_pages = max(pool->max_pages, pool->pages);
		pool->classes[class].zspages++;
		list_add(&zspage->siblings, &pool->classes[class].all);
		zspage->busy = false;
		link_zspage(&pool->classes[class], zspage, group_of(zspage));
		due = zs_compact_due(pool, chain);
	}
	zs_unlock(pool);

	if (refused) {
		zs_zspage_free(zspage);
		return -ENOSPC;
	}
	if (due)
		zs_compact_background(pool);
	return 0;
}

/**
 * zs_pool_set_limit - bound a pool's memory
 * @pool: the pool
 * @pages: most pages it may hold, 0 for no bound. A bound below what it holds
 *	refuses growth and takes nothing away.
 *
 * Context: any task context.
 */
void zs_pool_set_limit(struct zs_pool *pool, unsigned long pages)
{
	WRITE_ONCE(pool->limit, pages);
}

/**
 * zs_pool_reset_max - start watching for a new maximum
 * @pool: the pool
 *
 * Context: any task context.
 */
void zs_pool_reset_max(struct zs_pool *pool)
{
	zs_lock(pool);
	pool->max_pages = pool->pages;
	zs_unlock(pool);
}

/**
 * zs_pool_stats - snapshot of a pool's counts
 * @pool: the pool
 * @stats: filled in, consistent in itself
 *
 * Context: any task context.
 */
void zs_pool_stats(struct zs_pool *pool, struct zs_pool_stats *stats)
{
	zs_lock(pool);
	stats->pages = pool->pages;
	stats->max_pages = pool->max_pages;
	stats->compacted = pool->compacted;
	zs_unlock(pool);
}

/* The zspage to take an object from: the fullest one with room, or NULL. */
static __always_inline struct zspage *fullest(struct zs_class *c)
{
	if (!c->nonempty)
		return NULL;
	return list_first_entry(&c->groups[__fls(c->nonempty)], struct zspage,
				link);
}

/* Take an object. The caller sees to the list that the zspage is on, if any. */
static __always_inline u64 take_from(struct zs_class *c, struct zspage *zspage,
				     u32 owner)
{
	unsigned long *word = zspage->bitmap;
	u32 *owners = zs_owners(zspage);
	u32 index;
	u64 loc;

	/* There is a bit that is clear, before those that stand for no object. */
	while (*word == ~0UL)
		word++;
	index = (word - zspage->bitmap) * BITS_PER_LONG + ffz(*word);
	loc = zs_object_loc(zspage, index);
	__set_bit(index, zspage->bitmap);
	owners[index] = owner;
	zspage->inuse++;
	c->used++;
	return loc;
}

static __always_inline u64 take(struct zs_pool *pool, unsigned int class,
				u32 owner)
{
	struct zs_class *c = &pool->classes[class];
	struct zspage *zspage = fullest(c);
	u64 loc;

	if (!zspage)
		return ZS_LOC_NONE;
	loc = take_from(c, zspage, owner);
	/* Until it is full it stays where it is: none is fuller. */
	if (zspage->inuse == zs_classes.shape[class].objects)
		move_zspage(c, zspage, ZS_GROUP_FULL);
	return loc;
}

/*
 * Free an object. False, with nothing changed, where @loc names none.
 *
 * The zspage is moved to another list when it is two groups away from its own,
 * either way: objects come and go, and half of all moves would be back.
 */
static __always_inline bool drop(struct zs_pool *pool, u64 loc,
				 struct list_head *emptied)
{
	struct zs_place place compat_uninitialized;
	struct zspage *zspage;
	struct zs_class *c;
	unsigned int group;

	if (!zs_locate(pool, loc, &place))
		return false;
	zspage = place.zspage;
	c = &pool->classes[zspage->class];
	__clear_bit(place.index, zspage->bitmap);
	c->used--;
	zspage->inuse--;
	if (zspage->busy)
		return true;
	group = zs_shape_group(place.shape, zspage->inuse);
	if (!zspage->inuse) {
		unlink_zspage(c, zspage);
		retire(pool, zspage, emptied);
	} else if (zspage->group == ZS_GROUP_FULL ||
		   group - zspage->group + 1 > 2) {
		move_zspage(c, zspage, group);
	}
	return true;
}

/**
 * zs_fullest - the zspage to take an object from
 * @pool: the pool
 * @class: a size class
 *
 * Context: pool lock held.
 * Return: the fullest one with room, or NULL.
 */
struct zspage *zs_fullest(struct zs_pool *pool, unsigned int class)
{
	lockdep_assert_held(&pool->lock);
	return fullest(&pool->classes[class]);
}

/**
 * zs_take_from - take an object from a zspage
 * @pool: the pool
 * @zspage: one with room, busy
 * @owner: the object's owner
 *
 * Context: pool lock held.
 * Return: its location.
 */
u64 zs_take_from(struct zs_pool *pool, struct zspage *zspage, u32 owner)
{
	lockdep_assert_held(&pool->lock);
	return take_from(&pool->classes[zspage->class], zspage, owner);
}

/**
 * zs_drop - free an object
 * @pool: the pool
 * @loc: its location
 * @emptied: receives the zspage if this was its last object
 *
 * Context: pool lock and owner's lock held.
 * Return: false, with nothing changed, where @loc names no object.
 */
bool zs_drop(struct zs_pool *pool, u64 loc, struct list_head *emptied)
{
	lockdep_assert_held(&pool->lock);
	return drop(pool, loc, emptied);
}

/**
 * zs_set_busy - take a zspage off its list, so that nothing is allocated in it
 * @pool: the pool
 * @zspage: not busy so far
 *
 * Context: pool lock held.
 */
void zs_set_busy(struct zs_pool *pool, struct zspage *zspage)
{
	lockdep_assert_held(&pool->lock);
	unlink_zspage(&pool->classes[zspage->class], zspage);
	pool->classes[zspage->class].busy++;
	zspage->busy = true;
}

/**
 * zs_clear_busy - put a busy zspage back, or retire it if it became empty
 * @pool: the pool
 * @zspage: made busy by the caller
 * @emptied: receives the zspage if it is empty
 *
 * Context: pool lock held.
 */
void zs_clear_busy(struct zs_pool *pool, struct zspage *zspage,
		   struct list_head *emptied)
{
	lockdep_assert_held(&pool->lock);
	pool->classes[zspage->class].busy--;
	zspage->busy = false;
	if (zspage->inuse)
		link_zspage(&pool->classes[zspage->class], zspage,
			    group_of(zspage));
	else
		retire(pool, zspage, emptied);
}

/* One exchange. False, with nothing changed, where there is no room. */
static __always_inline bool exchange_one(struct zs_pool *pool,
					 struct zs_exchange *x,
					 struct list_head *emptied, u64 *refused)
{
	u64 new;

	if (x->size) {
		new = take(pool, zs_class_of(&zs_classes, x->size), x->owner);
		if (new == ZS_LOC_NONE)
			return false;
		x->new = new;
		zs_prefetch(new, x->size, true);
	}
	if (x->old != ZS_LOC_NONE && !drop(pool, x->old, emptied))
		*refused = x->old;
	return true;
}

static noinline void report_refused(u64 loc)
{
	pr_err_ratelimited("not an object to free: %#llx\n", loc);
}

/* A look without the lock, which it spares who will have to grow anyway. */
static bool seems_full(const struct zs_pool *pool, const struct zs_exchange *x)
{
	unsigned int class;

	if (!x->size)
		return false;
	class = zs_class_of(&zs_classes, x->size);
	return !READ_ONCE(pool->classes[class].nonempty);
}

/**
 * zs_obj_exchange - free objects and take others, in one step
 * @pool: the pool
 * @exchange: what to free and what to take; done one after the other
 * @n: how many, at least 1
 * @emptied: receives zspages that became empty
 *
 * The owners of all old objects must hold their locks, and so must those of the
 * new ones that have any; they write the new objects and record their locations
 * before they unlock. What is no object is not freed: there is a message.
 *
 * Context: task context, interrupts on or off. One acquisition of the pool
 * lock. Does not sleep.
 * Return: how many were done; the next one, if there is one, found no room.
 * -EINVAL for a bad size, with nothing done.
 */
int zs_obj_exchange(struct zs_pool *pool, struct zs_exchange *exchange,
		    unsigned int n, struct list_head *emptied)
{
	u64 refused = ZS_LOC_NONE;
	unsigned int i;

	for (i = 0; i < n; i++)
		if (unlikely(exchange[i].size > PAGE_SIZE))
			return -EINVAL;
	if (seems_full(pool, &exchange[0]))
		return 0;
	zs_lock(pool);
	for (i = 0; i < n; i++)
		if (!exchange_one(pool, &exchange[i], emptied, &refused))
			break;
	zs_unlock(pool);
	if (unlikely(refused != ZS_LOC_NONE))
		report_refused(refused);
	return i;
}

/**
 * zs_obj_free - free an object
 * @pool: the pool
 * @loc: its location. What is no object is not freed: there is a message.
 * @emptied: receives its zspage if that became empty
 *
 * Context: as zs_obj_exchange().
 */
void zs_obj_free(struct zs_pool *pool, u64 loc, struct list_head *emptied)
{
	bool freed;

	zs_lock(pool);
	freed = drop(pool, loc, emptied);
	zs_unlock(pool);
	if (unlikely(!freed))
		report_refused(loc);
}

/**
 * zs_free_zspages - give zspages back
 * @emptied: zspages collected by other calls; empty afterwards
 *
 * Context: no owner's and no pool lock held; interrupts may be off.
 */
void zs_free_zspages(struct list_head *emptied)
{
	struct zspage *zspage, *next;

	list_for_each_entry_safe(zspage, next, emptied, link)
		zs_zspage_free(zspage);
	INIT_LIST_HEAD(emptied);
}
