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
 * Here are pools and their memory; objects are in zs_object.c, their bytes in
 * zs_access.c, and who moves them in zs_compact.c and zs_migrate.c. What none
 * of it does: know what an owner is, or remember sizes: who reads an object says
 * how long it is.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "zs_internal.h"
#include "zs_migrate.h"

/* Constant after zs_init(). */
struct zs_class_table zs_classes;
/* Frees objects and zspages: nothing that takes long. */
struct workqueue_struct *zs_wq;

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
	/* For reclaim: freeing a pool, which may be for that, waits for it. */
	zs_wq = alloc_workqueue("zram_free", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!zs_wq)
		return -ENOMEM;
	ret = zs_access_init();
	if (ret)
		goto out_wq;
	ret = zs_compact_init();
	if (ret)
		goto out_access;
	zs_migrate_init();
	return 0;

out_access:
	zs_access_exit();
out_wq:
	destroy_workqueue(zs_wq);
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
	destroy_workqueue(zs_wq);
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
	if (zs_defer_add(pool)) {
		kvfree(pool);
		return NULL;
	}
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
		zs_retire(pool, zspage, emptied);
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
	unsigned int class;
	LIST_HEAD(emptied);

	zs_compact_remove(pool);
	zs_defer_stop(pool);
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
	} while (READ_ONCE(pool->pages));
	zs_migrate_flush();
	zs_defer_remove(pool);
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
		zs_admit(pool, zspage);
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
 * Context: may sleep.
 */
void zs_pool_reset_max(struct zs_pool *pool)
{
	zs_pool_flush(pool);
	zs_lock(pool);
	pool->max_pages = pool->pages;
	zs_unlock(pool);
}

/**
 * zs_pool_stats - snapshot of a pool's counts
 * @pool: the pool
 * @stats: filled in, consistent in itself. Frees what waits for that first.
 *
 * Context: may sleep.
 */
void zs_pool_stats(struct zs_pool *pool, struct zs_pool_stats *stats)
{
	zs_pool_flush(pool);
	zs_lock(pool);
	stats->pages = pool->pages;
	stats->max_pages = pool->max_pages;
	stats->compacted = pool->compacted;
	zs_unlock(pool);
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
