// SPDX-License-Identifier: GPL-2.0
/*
 * zs_migrate: lets the kernel's compaction move pages of zspages elsewhere, and
 * frees zspages, which is the harder for it.
 *
 * Moving one page moves its objects one at a time, each under its owner's lock.
 * Meanwhile the zspage is busy, so no object is allocated in it, and the old
 * and the new page both lead to it at the same place in the chain: a location
 * on either is valid. An object that begins in the page before and reaches into
 * this one is locked while the chain is switched to the new page. Objects in
 * flight (ZS_OWNER_NONE) cannot be locked; then the page stays. Those that wait
 * to be freed (zs_defer.c) are freed when they are come across.
 *
 * Concurrency: the core calls us with the page locked. A registered page may
 * only be freed with its page lock held, but freeing happens where one must
 * not sleep: whoever cannot get all page locks of a zspage at once leaves it to
 * a worker. Page locks are outside owners' locks and the pool lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/highmem.h>
#include <linux/migrate.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "zs_internal.h"
#include "zs_migrate.h"

static bool page_migration = COMPAT_MOVABLE_DEFAULT;
module_param(page_migration, bool, 0444);
MODULE_PARM_DESC(page_migration,
		 "Let the kernel's compaction move pages of ours");

static const struct movable_operations zs_movable_ops;

/* Zspages whose page locks somebody else held when they were to be freed. */
static LIST_HEAD(waiting);
static DEFINE_RAW_SPINLOCK(waiting_lock);

/* Pages the core has isolated and not yet given back (COMPAT_MOVABLE_STICKS). */
static atomic_t isolated;

/* Migrations under way, which may outlive their pool by a few steps. */
static atomic_t migrations;

static void free_locked(struct zspage *zspage)
{
	unsigned int place, chain = zs_shape(zspage)->chain;
	bool movable = zspage->movable;

	for (place = 0; place < chain; place++) {
		struct page *page = zs_pages(zspage)[place];

		set_page_private(page, 0);
		if (movable) {
			compat_page_clear_movable(page);
			unlock_page(page);
		}
		__free_page(page);
	}
	kfree(zspage);
}

static bool trylock_pages(struct zspage *zspage)
{
	unsigned int place, chain = zs_shape(zspage)->chain;

	for (place = 0; place < chain; place++) {
		if (trylock_page(zs_pages(zspage)[place]))
			continue;
		while (place--)
			unlock_page(zs_pages(zspage)[place]);
		return false;
	}
	return true;
}

static void free_waiting(struct work_struct *work)
{
	LIST_HEAD(list);
	struct zspage *zspage, *next;

	raw_spin_lock_irq(&waiting_lock);
	list_splice_init(&waiting, &list);
	raw_spin_unlock_irq(&waiting_lock);

	list_for_each_entry_safe(zspage, next, &list, link) {
		unsigned int place;

		for (place = 0; place < zs_shape(zspage)->chain; place++)
			lock_page(zs_pages(zspage)[place]);
		free_locked(zspage);
		cond_resched();
	}
}

static DECLARE_WORK(waiting_work, free_waiting);

/**
 * zs_zspage_free - free a zspage and its pages
 * @zspage: on no list, and retired from its pool unless that is being destroyed
 *
 * Context: no owner's and no pool lock held; interrupts may be off. Does not
 * sleep.
 */
void zs_zspage_free(struct zspage *zspage)
{
	unsigned long flags;

	if (!zspage->movable || trylock_pages(zspage)) {
		free_locked(zspage);
		return;
	}
	raw_spin_lock_irqsave(&waiting_lock, flags);
	list_add(&zspage->link, &waiting);
	raw_spin_unlock_irqrestore(&waiting_lock, flags);
	queue_work(zs_wq, &waiting_work);
}

/* The objects that begin in the page at @place of the chain: [first, end). */
static void objects_in(struct zspage *zspage, unsigned int place,
		       u32 *first, u32 *end)
{
	u32 size = zs_shape(zspage)->size;
	u32 start = place << PAGE_SHIFT;

	*first = DIV_ROUND_UP(start, size);
	*end = min_t(u32, DIV_ROUND_UP(start + PAGE_SIZE, size),
		     zs_shape(zspage)->objects);
}

/*
 * Lock the owner of the object at @index if there is an object. Owners give it up
 * under their lock: one that is no longer at @from is free or waits to be freed,
 * which must be done before its page is gone.
 */
static int lock_object(struct zspage *zspage, u32 index, u64 from, u32 *owner)
{
	struct zs_pool *pool = zspage->pool;
	bool used;

	zs_lock(pool);
	used = test_bit(index, zspage->bitmap);
	*owner = zs_owners(zspage)[index];
	zs_unlock(pool);
	if (!used)
		return -ENOENT;
	if (pool->ops->lock(pool->owner, *owner, from))
		return 0;

	zs_pool_flush(pool);
	zs_lock(pool);
	used = test_bit(index, zspage->bitmap);
	zs_unlock(pool);
	return used ? -EAGAIN : -ENOENT;
}

/*
 * Before a page leaves a flat zspage: tell all owners that their objects are
 * not flat any more. The bytes stay where they are.
 */
static void unflatten(struct zspage *zspage)
{
	struct zs_pool *pool = zspage->pool;
	u32 index, owner;

	for (index = 0; index < zs_shape(zspage)->objects; index++) {
		u64 from = zs_object_loc(zspage, index);

		if (lock_object(zspage, index, from, &owner))
			continue;
		pool->ops->relocate(pool->owner, owner, from,
				    from & ~ZS_LOC_FLAT);
		pool->ops->unlock(pool->owner, owner);
	}
	zs_lock(pool);
	zspage->flat = false;
	zs_unlock(pool);
}

/* Move what begins in @src, at @place of the chain, to @dst; all that can be. */
static int move_objects(struct zspage *zspage, unsigned int place,
			struct page *dst, struct page *src)
{
	struct zs_pool *pool = zspage->pool;
	u32 size = zs_shape(zspage)->size;
	u32 index, end, owner;
	int stuck = 0;

	objects_in(zspage, place, &index, &end);
	for (; index < end; index++) {
		u32 offset = index * size - (place << PAGE_SHIFT);
		u64 from = zs_loc_make(src, offset, false);
		u64 to = zs_loc_make(dst, offset, false);
		int ret = lock_object(zspage, index, from, &owner);

		if (ret == -EAGAIN)
			stuck = ret;
		if (ret)
			continue;
		memcpy_page(dst, offset, src, offset,
			    min_t(u32, size, PAGE_SIZE - offset));
		pool->ops->relocate(pool->owner, owner, from, to);
		pool->ops->unlock(pool->owner, owner);
	}
	return stuck;
}

/* Make @dst the page at @place, with the tail of the object reaching into it. */
static int switch_page(struct zspage *zspage, unsigned int place,
		       struct page *dst, struct page *src)
{
	struct zs_pool *pool = zspage->pool;
	u32 size = zs_shape(zspage)->size;
	u32 index = (place << PAGE_SHIFT) / size;
	u32 tail = (index + 1) * size - (place << PAGE_SHIFT);
	u32 owner;
	int ret = -ENOENT;

	/* An object boundary at the page boundary, or nothing reaches in. */
	if (tail < size && index < zs_shape(zspage)->objects)
		ret = lock_object(zspage, index, zs_object_loc(zspage, index),
				  &owner);
	if (ret && ret != -ENOENT)
		return ret;
	if (!ret)
		memcpy_page(dst, 0, src, 0, tail);
	zs_lock(pool);
	zs_pages(zspage)[place] = dst;
	zs_unlock(pool);
	if (!ret)
		pool->ops->unlock(pool->owner, owner);
	return 0;
}

static bool nothing_in_flight(struct zspage *zspage)
{
	u32 index;

	for (index = 0; index < zs_shape(zspage)->objects; index++)
		if (test_bit(index, zspage->bitmap) &&
		    zs_owners(zspage)[index] == ZS_OWNER_NONE)
			return false;
	return true;
}

/*
 * Only whether the page is ours still; being busy or freed from here on is
 * found out by migrate_page(). So there is nothing to put back either.
 */
static bool zs_page_isolate(struct page *page, isolate_mode_t mode)
{
	if (!zs_page_zspage(page))
		return false;
	if (COMPAT_MOVABLE_STICKS)
		atomic_inc(&isolated);
	return true;
}

/* Where the core calls back for every page it isolated, freed or not. */
static void end_isolation(void)
{
	if (COMPAT_MOVABLE_STICKS && atomic_dec_and_test(&isolated))
		wake_up_var(&isolated);
}

static void zs_page_putback(struct page *page)
{
	end_isolation();
}

static int move_page(struct zspage *zspage, struct page *dst, struct page *src)
{
	unsigned int place = zs_page_place(src);
	int ret;

	if (zspage->flat)
		unflatten(zspage);
	set_page_private(dst, page_private(src));
	ret = move_objects(zspage, place, dst, src);
	if (!ret)
		ret = switch_page(zspage, place, dst, src);
	if (!ret)
		return 0;
	/* An owner disowns its object, which is a bug: the others go back. */
	WARN_ON_ONCE(1);
	move_objects(zspage, place, src, dst);
	set_page_private(dst, 0);
	return ret;
}

/* @dst is ours from now on, @src is not any more. */
static void swap_registration(struct page *dst, struct page *src, bool movable)
{
	get_page(dst);
	set_page_private(src, 0);
	if (movable) {
		compat_page_set_movable(dst, &zs_movable_ops);
		compat_page_clear_movable(src);
	}
	put_page(src);
}

static int migrate_locked(struct page *dst, struct page *src,
			  struct zspage *zspage)
{
	struct zs_pool *pool = zspage->pool;
	LIST_HEAD(emptied);
	bool mine;
	int ret;

	zs_lock(pool);
	mine = !zspage->busy && nothing_in_flight(zspage);
	if (mine)
		zs_set_busy(pool, zspage);
	zs_unlock(pool);
	if (!mine)
		return -EAGAIN;

	ret = move_page(zspage, dst, src);
	if (!ret)
		swap_registration(dst, src, zspage->movable);
	zs_lock(pool);
	zs_clear_busy(pool, zspage, &emptied);
	zs_unlock(pool);
	zs_free_emptied(&emptied);
	return ret;
}

/**
 * zs_page_migrate - move what is in one page of a zspage to another page
 * @dst: the new page, locked, of nobody
 * @src: the old page, locked; nobody's afterwards
 * @mode: whether to copy at all
 *
 * The kernel's compaction calls it. References go with the contents.
 *
 * Context: may sleep; both page locks held, no owner's and no pool lock.
 * Return: 0; -EAGAIN where the zspage is busy or holds an object in flight;
 * -EINVAL for a mode without copying. On error all is as it was.
 */
int zs_page_migrate(struct page *dst, struct page *src, enum migrate_mode mode)
{
	struct zspage *zspage = zs_page_zspage(src);
	int ret;

	if (compat_migrate_without_copy(mode))
		return -EINVAL;
	/* Freed since it was isolated: there is nothing to move. */
	if (!zspage)
		return 0;
	/* @src is locked: its zspage, hence its pool, is not gone yet. */
	atomic_inc(&migrations);
	ret = migrate_locked(dst, src, zspage);
	if (atomic_dec_and_test(&migrations))
		wake_up_var(&migrations);
	return ret;
}

static int migrate_isolated(struct page *dst, struct page *src,
			    enum migrate_mode mode)
{
	int ret = zs_page_migrate(dst, src, mode);

	if (!ret)
		end_isolation();
	return ret;
}

static const struct movable_operations zs_movable_ops = {
	.isolate_page = zs_page_isolate,
	.migrate_page = migrate_isolated,
	.putback_page = zs_page_putback,
};

/**
 * zs_migrate_register - let the pages of a new zspage be moved
 * @zspage: not yet in its pool's lists
 *
 * Context: any task context. Does not sleep.
 */
void zs_migrate_register(struct zspage *zspage)
{
	unsigned int place, chain = zs_shape(zspage)->chain;

	if (!page_migration || !trylock_pages(zspage))
		return;
	/* The core may come as soon as the first page is unlocked. */
	zspage->movable = true;
	for (place = 0; place < chain; place++) {
		compat_page_set_movable(zs_pages(zspage)[place], &zs_movable_ops);
		unlock_page(zs_pages(zspage)[place]);
	}
}

/**
 * zs_migrate_gfp - flags that pages of zspages are allocated with
 *
 * Only pages that can be moved may come from where movable pages live.
 *
 * Context: any.
 * Return: zone modifiers.
 */
gfp_t zs_migrate_gfp(void)
{
	return page_migration ? __GFP_HIGHMEM | __GFP_MOVABLE : __GFP_HIGHMEM;
}

/**
 * zs_migrate_flush - wait until zspages that waited for page locks are freed
 *
 * A migration that emptied a zspage may still be about to free it.
 *
 * Context: may sleep.
 */
void zs_migrate_flush(void)
{
	wait_var_event(&migrations, !atomic_read(&migrations));
	flush_work(&waiting_work);
}

/**
 * zs_migrate_init - be ready to move pages
 *
 * That the kernel refuses our operations is no error: pages are then not movable.
 *
 * Context: module init. May sleep.
 */
void zs_migrate_init(void)
{
	if (page_migration && compat_movable_start(&zs_movable_ops)) {
		pr_info("this kernel does not let us migrate pages\n");
		page_migration = false;
	}
}

/**
 * zs_migrate_exit - undo zs_migrate_init()
 *
 * Context: all pools are destroyed. May sleep.
 */
void zs_migrate_exit(void)
{
	zs_migrate_flush();
	wait_var_event(&isolated, !atomic_read(&isolated));
	if (page_migration)
		compat_movable_stop();
}
