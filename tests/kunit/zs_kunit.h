/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the allocator's suites share: its user in the plainest form.
 *
 * The owner is a table of items. An item has a lock, the location of its one
 * object (or none) and what the object's bytes must be: an excerpt of one
 * random block, so that writing and comparing take no buffer. The locks are
 * raw, as strict as any user's, so that lockdep sees whatever does not belong
 * under them.
 */
#ifndef _ZS_KUNIT_H_
#define _ZS_KUNIT_H_

#include <kunit/test.h>
#include <linux/bitmap.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "../../zs_internal.h"

/* Build with -DZS_KUNIT_SEED=... to repeat a run. */
#ifndef ZS_KUNIT_SEED
#define ZS_KUNIT_SEED get_random_u32()
#endif

/* One size of each kind: tiny, crossing, few to a chain, last to save, huge. */
static const u32 zs_test_sizes[] = {
	1, 48, 700, 1500, 2100, 2720, 3600, PAGE_SIZE,
};

static inline void zs_test_size_desc(const u32 *size, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "size %u", *size);
}

/* The parameter of cases that are run for each of them. */
KUNIT_ARRAY_PARAM(zs_test_sizes, zs_test_sizes, zs_test_size_desc);

static inline u32 zs_test_param(struct kunit *test)
{
	return *(const u32 *)test->param_value;
}

/**
 * struct zs_test_item - one owner id
 * @lock: holds the object in place, guards what follows
 * @loc: where the object is, or ZS_LOC_NONE
 * @size: its bytes
 * @seed: which bytes
 */
struct zs_test_item {
	raw_spinlock_t lock;
	u64 loc;
	u32 size;
	u32 seed;
};

/**
 * struct zs_test_owner - the user of one pool
 * @pool: the pool
 * @rnd: the random numbers of the case; one thread only
 * @before_lock: called with the id whose lock is about to be taken, if set
 * @asked: for @before_lock to tell that it was called
 * @refuse: say of every object that it is elsewhere
 * @grown: zspages made by zs_test_put()
 * @locks: calls of zs_owner_ops.lock ...
 * @refused: ... that returned false
 * @unlocks: calls of zs_owner_ops.unlock
 * @moves: calls of zs_owner_ops.relocate ...
 * @wrong_moves: ... not from where the object was, or not to a new place
 * @pattern: the bytes all objects take theirs from
 * @used: scratch space of zs_test_min_pages()
 * @nr: number of items
 * @items: the table
 */
struct zs_test_owner {
	struct zs_pool *pool;
	struct rnd_state rnd;
	void (*before_lock)(struct zs_test_owner *owner, u32 id);
	struct completion *asked;
	bool refuse;
	atomic_t grown;
	atomic_t locks;
	atomic_t refused;
	atomic_t unlocks;
	atomic_t moves;
	atomic_t wrong_moves;
	u8 pattern[2 * PAGE_SIZE];
	u32 used[ZS_NR_STEPS];
	u32 nr;
	struct zs_test_item items[];
};

static inline bool zs_test_lock(void *data, u32 id, u64 from)
{
	struct zs_test_owner *owner = data;

	if (owner->before_lock)
		owner->before_lock(owner, id);
	atomic_inc(&owner->locks);
	if (id < owner->nr) {
		raw_spin_lock(&owner->items[id].lock);
		if (owner->items[id].loc == from && !owner->refuse)
			return true;
		raw_spin_unlock(&owner->items[id].lock);
	}
	atomic_inc(&owner->refused);
	return false;
}

static inline void zs_test_relocate(void *data, u32 id, u64 from, u64 to)
{
	struct zs_test_owner *owner = data;
	struct zs_test_item *item = &owner->items[id];

	lockdep_assert_held(&item->lock);
	atomic_inc(&owner->moves);
	if (item->loc != from || to == from || to == ZS_LOC_NONE)
		atomic_inc(&owner->wrong_moves);
	item->loc = to;
}

static inline void zs_test_unlock(void *data, u32 id)
{
	struct zs_test_owner *owner = data;

	atomic_inc(&owner->unlocks);
	raw_spin_unlock(&owner->items[id].lock);
}

static const struct zs_owner_ops zs_test_ops = {
	.lock = zs_test_lock,
	.relocate = zs_test_relocate,
	.unlock = zs_test_unlock,
};

static inline u32 zs_test_random(struct zs_test_owner *owner, u32 below)
{
	return prandom_u32_state(&owner->rnd) % below;
}

/* An owner of @nr items without objects, and its empty pool. */
static inline struct zs_test_owner *zs_test_create(struct kunit *test, u32 nr)
{
	struct zs_test_owner *owner;
	u32 seed = ZS_KUNIT_SEED;
	u32 id;

	owner = kunit_kzalloc(test, struct_size(owner, items, nr), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, owner);
	kunit_info(test, "seed %#x\n", seed);
	prandom_seed_state(&owner->rnd, seed);
	prandom_bytes_state(&owner->rnd, owner->pattern,
			    sizeof(owner->pattern));
	owner->nr = nr;
	for (id = 0; id < nr; id++)
		raw_spin_lock_init(&owner->items[id].lock);
	owner->pool = zs_pool_create(&zs_test_ops, owner);
	KUNIT_ASSERT_NOT_NULL(test, owner->pool);
	return owner;
}

static inline const u8 *zs_test_bytes(struct zs_test_owner *owner, u32 seed)
{
	return owner->pattern + seed % PAGE_SIZE;
}

/* One object for another: -EAGAIN without room. */
static inline int zs_test_replace(struct zs_pool *pool, u64 old, u32 size,
				  u32 owner, u64 *new, struct list_head *emptied)
{
	struct zs_exchange x = { .old = old, .size = size, .owner = owner };
	int ret = zs_obj_exchange(pool, &x, 1, emptied);

	if (ret < 0)
		return ret;
	if (!ret)
		return -EAGAIN;
	*new = x.new;
	return 0;
}

/* One object for none. */
static inline void zs_test_free(struct zs_pool *pool, u64 loc,
				struct list_head *emptied)
{
	struct zs_exchange x = { .old = loc };

	/* Freeing needs no room. */
	WARN_ON(zs_obj_exchange(pool, &x, 1, emptied) != 1);
}

/*
 * Make room for an object. Every other zspage is used as if its pages lay apart,
 * which without pressure on memory they hardly ever do.
 */
static inline int zs_test_grow(struct zs_test_owner *owner, u32 size)
{
	unsigned int class = zs_class_of(&zs_classes, size);
	struct zspage *zspage;
	int err;

	err = zs_pool_grow(owner->pool, size, GFP_KERNEL);
	if (err || atomic_inc_return(&owner->grown) % 2)
		return err;
	zs_lock(owner->pool);
	list_for_each_entry(zspage, &owner->pool->classes[class].groups[0],
			    link)
		if (!zspage->inuse)
			zspage->flat = false;
	zs_unlock(owner->pool);
	return 0;
}

/*
 * Give an item a new object, in place of the one it may have. On failure it
 * keeps what it had.
 */
static inline int zs_test_put(struct zs_test_owner *owner, u32 id, u32 size,
			      u32 seed)
{
	struct zs_test_item *item = &owner->items[id];
	LIST_HEAD(emptied);
	u64 loc;
	int err;

	do {
		raw_spin_lock(&item->lock);
		err = zs_test_replace(owner->pool, item->loc, size, id, &loc,
				      &emptied);
		if (!err) {
			zs_obj_write(loc, zs_test_bytes(owner, seed), size);
			item->loc = loc;
			item->size = size;
			item->seed = seed;
		}
		raw_spin_unlock(&item->lock);
		zs_free_emptied(&emptied);
		if (err != -EAGAIN)
			return err;
		err = zs_test_grow(owner, size);
	} while (!err);
	return err;
}

/* The item gives up its object, if there is one: it is freed now, or later. */
static inline void zs_test_give_up(struct zs_test_owner *owner, u32 id,
				   bool later)
{
	struct zs_test_item *item = &owner->items[id];
	LIST_HEAD(emptied);

	raw_spin_lock(&item->lock);
	if (item->loc != ZS_LOC_NONE && later)
		zs_obj_free_later(owner->pool, item->loc, &emptied);
	else if (item->loc != ZS_LOC_NONE)
		zs_test_free(owner->pool, item->loc, &emptied);
	item->loc = ZS_LOC_NONE;
	raw_spin_unlock(&item->lock);
	zs_free_emptied(&emptied);
}

static inline void zs_test_drop(struct zs_test_owner *owner, u32 id)
{
	zs_test_give_up(owner, id, false);
}

static inline void zs_test_drop_later(struct zs_test_owner *owner, u32 id)
{
	zs_test_give_up(owner, id, true);
}

/* Does the item have the bytes it was given, or no object? */
static inline bool zs_test_intact(struct zs_test_owner *owner, u32 id)
{
	struct zs_test_item *item = &owner->items[id];
	bool intact = true;
	const void *data;

	raw_spin_lock(&item->lock);
	if (item->loc != ZS_LOC_NONE) {
		data = zs_obj_read_begin(item->loc, item->size);
		intact = !memcmp(data, zs_test_bytes(owner, item->seed),
				 item->size);
		zs_obj_read_end(data);
	}
	raw_spin_unlock(&item->lock);
	return intact;
}

/* How many items do not have the bytes they were given. */
static inline u32 zs_test_damaged(struct zs_test_owner *owner)
{
	u32 id, damaged = 0;

	for (id = 0; id < owner->nr; id++)
		damaged += !zs_test_intact(owner, id);
	return damaged;
}

/* Give every item an object of @size bytes. */
static inline void zs_test_fill(struct kunit *test, struct zs_test_owner *owner,
				u32 size)
{
	u32 id, seed;

	for (id = 0; id < owner->nr; id++) {
		seed = zs_test_random(owner, PAGE_SIZE);
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, seed));
	}
}

/* Fill the pool with objects of @size, then free some two thirds at random. */
static inline void zs_test_fragment(struct kunit *test,
				    struct zs_test_owner *owner, u32 size)
{
	u32 i;

	zs_test_fill(test, owner, size);
	for (i = 0; i < owner->nr; i++)
		zs_test_drop(owner, zs_test_random(owner, owner->nr));
}

/* Fewest pages that hold the items' objects. Nobody else is at work. */
static inline unsigned long zs_test_min_pages(struct zs_test_owner *owner)
{
	unsigned long pages = 0;
	unsigned int class;
	u32 id;

	memset(owner->used, 0, sizeof(owner->used));
	for (id = 0; id < owner->nr; id++) {
		struct zs_test_item *item = &owner->items[id];

		if (item->loc != ZS_LOC_NONE)
			owner->used[zs_class_of(&zs_classes, item->size)]++;
	}
	for (class = 0; class < zs_classes.nr; class++) {
		struct zs_shape *shape = &zs_classes.shape[class];

		pages += shape->chain *
			 DIV_ROUND_UP(owner->used[class], shape->objects);
	}
	return pages;
}

/* Where the pool's books of one class do not agree, and the pages it holds. */
static inline u32 zs_test_class_faults(struct zs_pool *pool, unsigned int index,
				       unsigned long *pages)
{
	const struct zs_shape *shape = &zs_classes.shape[index];
	struct zs_class *class = &pool->classes[index];
	unsigned long zspages = 0, used = 0, listed = 0;
	struct zspage *zspage;
	unsigned int group;
	u32 faults = 0;

	list_for_each_entry(zspage, &class->all, siblings) {
		faults += zspage->pool != pool || zspage->busy ||
			  zspage->class != index ||
			  zs_shape_group(shape, zspage->inuse) + 1 <
			  zspage->group ||
			  (zspage->inuse == shape->objects) !=
			  (zspage->group == ZS_GROUP_FULL);
		faults += bitmap_weight(zspage->bitmap, shape->objects) !=
			  zspage->inuse;
		zspages++;
		used += zspage->inuse;
		listed += zspage->group == ZS_GROUP_FULL;
	}
	for (group = 0; group < ZS_NR_GROUPS; group++) {
		struct list_head *list = &class->groups[group];

		faults += list_empty(list) == !!(class->nonempty & BIT(group));
		list_for_each_entry(zspage, list, link) {
			faults += zspage->group != group;
			listed++;
		}
	}
	faults += listed != zspages || class->busy;
	*pages += zspages * shape->chain;
	return faults + (class->zspages != zspages) + (class->used != used);
}

/* Where the pool's books do not agree. Nobody migrates. */
static inline u32 zs_test_faults(struct zs_pool *pool)
{
	unsigned long pages = 0;
	unsigned int class;
	u32 faults = 0;

	flush_work(&pool->background);
	zs_pool_flush(pool);
	zs_lock(pool);
	for (class = 0; class < zs_classes.nr; class++)
		faults += zs_test_class_faults(pool, class, &pages);
	faults += pool->pages != pages;
	zs_unlock(pool);
	return faults;
}

/* At the end of a case: all is as the items say. Then the pool goes. */
static inline void zs_test_finish(struct kunit *test,
				  struct zs_test_owner *owner)
{
	if (!owner || !owner->pool)
		return;
	KUNIT_EXPECT_EQ(test, zs_test_faults(owner->pool), 0U);
	KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
	zs_pool_destroy(owner->pool);
}

static inline struct zs_shape *zs_test_shape(u32 size)
{
	return &zs_classes.shape[zs_class_of(&zs_classes, size)];
}

static inline struct zs_pool_stats zs_test_stats(struct zs_test_owner *owner)
{
	struct zs_pool_stats stats;

	zs_pool_stats(owner->pool, &stats);
	return stats;
}

static inline unsigned long zs_test_pages(struct zs_test_owner *owner)
{
	return zs_test_stats(owner).pages;
}

/* Free @loc, of which nothing is to be expected: were pages given back? */
static inline bool zs_test_free_bad(struct zs_test_owner *owner, u64 loc)
{
	LIST_HEAD(emptied);
	bool gave_back;

	zs_test_free(owner->pool, loc, &emptied);
	gave_back = !list_empty(&emptied);
	zs_free_emptied(&emptied);
	return gave_back;
}

#endif /* _ZS_KUNIT_H_ */
