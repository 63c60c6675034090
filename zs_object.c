// SPDX-License-Identifier: GPL-2.0
/*
 * zs_object: which objects are in use, and which zspages have room.
 *
 * The books of a pool: the lists of zspages by fullness, the bitmaps, the
 * owners' ids. All of it is done under the pool lock, and nothing else: no
 * allocation, no copying, no look at an object's bytes.
 *
 * What is called for every page is inlined into who calls it; out of line it
 * is for compaction.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/printk.h>

#include "compat.h"
#include "zs_internal.h"

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

/**
 * zs_admit - a zspage becomes part of its pool
 * @pool: the pool
 * @zspage: from zs_zspage_alloc()
 *
 * Context: pool lock held.
 */
void zs_admit(struct zs_pool *pool, struct zspage *zspage)
{
	struct zs_class *c = &pool->classes[zspage->class];

	lockdep_assert_held(&pool->lock);
	pool->pages += zs_shape(zspage)->chain;
	pool->max_pages = max(pool->max_pages, pool->pages);
	c->zspages++;
	list_add(&zspage->siblings, &c->all);
	zspage->busy = false;
	link_zspage(c, zspage, group_of(zspage));
}

/* A zspage that is on no list is no longer part of its pool. */
static void retire_unlinked(struct zs_pool *pool, struct zspage *zspage,
			    struct list_head *emptied)
{
	/* Whoever still reaches it through a page shall leave it alone. */
	zspage->busy = true;
	pool->classes[zspage->class].zspages--;
	pool->pages -= zs_shape(zspage)->chain;
	list_del(&zspage->siblings);
	list_add(&zspage->link, emptied);
}

/**
 * zs_retire - a zspage is no longer part of its pool
 * @pool: the pool
 * @zspage: not busy
 * @emptied: receives it, for zs_free_emptied()
 *
 * Context: pool lock held.
 */
void zs_retire(struct zs_pool *pool, struct zspage *zspage,
	       struct list_head *emptied)
{
	lockdep_assert_held(&pool->lock);
	unlink_zspage(&pool->classes[zspage->class], zspage);
	retire_unlinked(pool, zspage, emptied);
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
		zs_retire(pool, zspage, emptied);
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
 * zs_emptiest - the zspage to empty
 * @pool: the pool
 * @class: a size class
 *
 * Context: pool lock held.
 * Return: of those with room, the one that has been in the lowest group for
 * longest, or NULL.
 */
struct zspage *zs_emptiest(struct zs_pool *pool, unsigned int class)
{
	struct zs_class *c = &pool->classes[class];
	struct zspage *zspage;

	lockdep_assert_held(&pool->lock);
	while (c->nonempty) {
		zspage = list_last_entry(&c->groups[__ffs(c->nonempty)],
					 struct zspage, link);
		if (group_of(zspage) <= zspage->group + 1)
			return zspage;
		/* Objects were taken from it while none was fuller. */
		move_zspage(c, zspage, group_of(zspage));
	}
	return NULL;
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
 * Context: pool lock held; the owner's lock, too, or it has given it up.
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
		retire_unlinked(pool, zspage, emptied);
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
 * zs_obj_free - free objects
 * @pool: the pool
 * @loc: their locations. What is no object is not freed: there is a message.
 * @n: how many
 * @emptied: receives zspages that became empty
 *
 * Context: task context, interrupts on or off; their owners' locks held, or
 * their owners have forgotten them. One acquisition of the pool lock. Does not
 * sleep.
 */
void zs_obj_free(struct zs_pool *pool, const u64 *loc, unsigned int n,
		 struct list_head *emptied)
{
	u64 refused = ZS_LOC_NONE;
	unsigned int i;

	zs_lock(pool);
	for (i = 0; i < n; i++)
		if (!drop(pool, loc[i], emptied))
			refused = loc[i];
	zs_unlock(pool);
	if (unlikely(refused != ZS_LOC_NONE))
		report_refused(refused);
}
