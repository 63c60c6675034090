/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the allocator's files share: the structures and the few steps that more
 * than one of them takes. Nobody else includes this.
 */
#ifndef _ZS_INTERNAL_H_
#define _ZS_INTERNAL_H_

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/prefetch.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "zsmalloc.h"

/**
 * struct zspage - a chain of pages holding objects of one size class
 * @link: in its class's list for @group; or alone (@busy, full); or in a
 *	caller's list of emptied zspages
 * @siblings: in its class's list of all zspages, while part of its pool
 * @pool: the pool it belongs to; constant
 * @inuse: objects in use; equals the number of bits set in the bitmap
 * @class: index of its size class; constant
 * @group: fullness group whose list it is on: its own as it was when it was
 *	last moved, see drop(). ZS_GROUP_FULL if and only if it has no room
 * @busy: in no group's list: not part of its pool yet or any more, or taken off by
 *	compaction or migration. Objects may be freed from it but none
 *	allocated, and whoever made it busy puts it back
 * @movable: its pages are registered for page migration
 * @flat: its pages follow each other in memory
 * @bitmap: objects in use
 *
 * All but the constants is guarded by the pool lock. Behind @bitmap follow the
 * pages, zs_pages(), and the owner ids, zs_owners(). All that freeing an object
 * touches is in the first cache line, but for classes of very small objects.
 */
struct zspage {
	struct list_head link;
	struct list_head siblings;
	struct zs_pool *pool;
	u16 inuse;
	u8 class;
	u8 group;
	bool busy;
	bool movable;
	bool flat;
	unsigned long bitmap[];
};

/* page_private carries the place in the chain in its low bits. */
#define ZS_PLACE_MASK	((unsigned long)ZS_MAX_CHAIN - 1)
static_assert(ARCH_KMALLOC_MINALIGN >= ZS_MAX_CHAIN);

/**
 * struct zs_class - one size class of a pool
 * @all: zspages, in no order
 * @groups: zspages by fullness, more or less, the most recently moved first.
 *	Most are full, and most changes are to one of these: listed, each would
 *	fetch two others to leave the list
 * @nonempty: bit per group whose list is not empty
 * @busy: zspages that zs_set_busy() took off their lists: they may have room
 * @zspages: zspages of this class, busy ones included
 * @used: objects in use
 */
struct zs_class {
	struct list_head all;
	struct list_head groups[ZS_NR_GROUPS];
	u16 nonempty;
	u32 busy;
	unsigned long zspages;
	unsigned long used;
} ____cacheline_aligned;

/**
 * struct zs_pool - zspages of one user
 * @lock: the pool lock: guards everything here but what is constant or says
 *	otherwise, and every zspage
 * @pages: pages held
 * @max_pages: most pages held
 * @limit: pages allowed, 0 for no limit
 * @compacted: pages freed by compaction
 * @grown: pages added since somebody last looked for room to win
 * @ops: how to lock and tell owners; constant
 * @owner: handed to @ops; constant
 * @compacting: held by the one compaction that may run
 * @background: compacts
 * @closing: it shall stop
 * @scanners: shrinker scans that use the pool (atomic)
 * @link: in the shrinker's list of pools, guarded by its lock
 * @deferred: objects that wait to be freed (zs_defer.c)
 * @classes: the size classes
 */
struct zs_pool {
	raw_spinlock_t lock;
	unsigned long pages;
	unsigned long max_pages;
	unsigned long limit;
	unsigned long compacted;
	unsigned long grown;

	const struct zs_owner_ops *ops;
	void *owner;
	struct mutex compacting;	/* see above */
	struct work_struct background;
	bool closing;
	atomic_t scanners;
	struct list_head link;
	struct zs_deferred __percpu *deferred;

	struct zs_class classes[];
};

/**
 * struct zs_place - a location, resolved
 * @zspage: the zspage that holds the object
 * @shape: its geometry
 * @index: the object's index in it
 */
struct zs_place {
	struct zspage *zspage;
	const struct zs_shape *shape;
	u32 index;
};

/* The pool lock: a task-context spin lock, as the owners' locks around it are. */
static inline void zs_lock(struct zs_pool *pool)
	__acquires(&pool->lock)
{
	lockdep_assert(!in_hardirq() && !in_serving_softirq());
	raw_spin_lock(&pool->lock);
}

static inline void zs_unlock(struct zs_pool *pool)
	__releases(&pool->lock)
{
	raw_spin_unlock(&pool->lock);
}

static inline const struct zs_shape *zs_shape(const struct zspage *zspage)
{
	return &zs_classes.shape[zspage->class];
}

/*
 * The chain; a page's page_private is its zspage | its place in here. Guarded by
 * the pool lock and, for each object, by its owner's lock.
 */
static inline struct page **zs_pages(struct zspage *zspage)
{
	return (struct page **)(zspage->bitmap +
				BITS_TO_LONGS(zs_shape(zspage)->objects));
}

/* Read and written under the pool lock only: stale ids move wrong objects. */
static inline u32 *zs_owners(struct zspage *zspage)
{
	lockdep_assert_held(&zspage->pool->lock);
	return (u32 *)(zs_pages(zspage) + zs_shape(zspage)->chain);
}

/*
 * A location is: page frame | offset / ZS_GRAIN | flat bit | valid bit. Flat
 * are all objects of a flat zspage: their bytes follow each other in memory
 * even where they cross into the next page.
 */
#define ZS_LOC_VALID		1ULL
#define ZS_LOC_FLAT		2ULL
#define ZS_LOC_FLAG_BITS	2
#define ZS_LOC_OFFSET_BITS	(PAGE_SHIFT - ZS_GRAIN_SHIFT)

static inline u64 zs_loc_make(struct page *page, u32 offset, bool flat)
{
	u64 loc = page_to_pfn(page);

	loc = loc << ZS_LOC_OFFSET_BITS | offset >> ZS_GRAIN_SHIFT;
	return loc << ZS_LOC_FLAG_BITS | (flat ? ZS_LOC_FLAT : 0) |
	       ZS_LOC_VALID;
}

static inline unsigned long zs_loc_pfn(u64 loc)
{
	return loc >> (ZS_LOC_OFFSET_BITS + ZS_LOC_FLAG_BITS);
}

static inline struct page *zs_loc_page(u64 loc)
{
	return pfn_to_page(zs_loc_pfn(loc));
}

static inline u32 zs_loc_offset(u64 loc)
{
	return ((loc >> ZS_LOC_FLAG_BITS) << ZS_GRAIN_SHIFT) & (PAGE_SIZE - 1);
}

/*
 * Where an object begins, if all memory is mapped: no struct page is looked at
 * or computed with. Of what is no location it is any address.
 */
static inline void *zs_loc_address(u64 loc)
{
	return __va((phys_addr_t)(loc >> ZS_LOC_FLAG_BITS << ZS_GRAIN_SHIFT));
}

/*
 * Lines of an object that are fetched ahead, at most: there are not many more
 * that a CPU waits for at a time, and what follows it fetches by itself.
 */
#define ZS_PREFETCH_BYTES	(8U * L1_CACHE_BYTES)

/*
 * Soon this object will be read or filled. The location may be stale by now, or
 * none at all.
 */
static __always_inline void zs_prefetch(u64 loc, u32 size, bool write)
{
	const void *data = zs_loc_address(loc);
	const void *end = data + min(size, ZS_PREFETCH_BYTES);

	if (IS_ENABLED(CONFIG_HIGHMEM))
		return;
	/* By two, as counting costs as much as fetching. */
	for (; data < end; data += 2 * L1_CACHE_BYTES) {
		if (write) {
			prefetchw(data);
			prefetchw(data + L1_CACHE_BYTES);
		} else {
			prefetch(data);
			prefetch(data + L1_CACHE_BYTES);
		}
	}
}

static inline struct zspage *zs_page_zspage(struct page *page)
{
	return (struct zspage *)(page_private(page) & ~ZS_PLACE_MASK);
}

static inline unsigned int zs_page_place(struct page *page)
{
	return page_private(page) & ZS_PLACE_MASK;
}

/* Where object @index begins. The pool lock or the owner's lock is held. */
static inline u64 zs_object_loc(struct zspage *zspage, u32 index)
{
	u32 offset = index * zs_shape(zspage)->size;

	return zs_loc_make(zs_pages(zspage)[offset >> PAGE_SHIFT],
			   offset & (PAGE_SIZE - 1), zspage->flat);
}

/*
 * Whether an address is one of memory, by the cheap test, which is right for
 * nearly all that is asked about: memory that was added later lies beyond it on
 * some architectures.
 */
static inline bool zs_in_range(const void *p)
{
	return (unsigned long)p >= PAGE_OFFSET && p < high_memory;
}

/**
 * struct zs_memory - the page frames of memory that has always been there
 * @first: the first
 * @end: the one behind the last, holes included
 *
 * Constant after zs_access_init().
 */
struct zs_memory {
	unsigned long first;
	unsigned long end;
};

extern struct zs_memory zs_memory;
bool zs_pfn_valid(unsigned long pfn);

/*
 * Whether there is a page to look at: all locations were, but what is none may
 * name anything. Holes in memory are not looked for, which would take longer
 * than all the rest.
 */
static inline bool zs_loc_has_page(u64 loc)
{
	unsigned long pfn = zs_loc_pfn(loc);

	return likely(pfn >= zs_memory.first && pfn < zs_memory.end) ||
	       zs_pfn_valid(pfn);
}

/**
 * zs_locate - find the object a location names
 * @pool: the pool it should be in
 * @loc: a location, of whatever pool and object, which may be gone
 * @place: filled in on success, and maybe otherwise
 *
 * The page may be anybody's by now, and its private field hold anything: only
 * what could be a zspage is looked into.
 *
 * Context: pool lock held.
 * Return: false where @loc names no object in use in this pool.
 */
static __always_inline bool zs_locate(struct zs_pool *pool, u64 loc,
				      struct zs_place *place)
{
	const struct zs_shape *shape;
	unsigned long private;
	struct zspage *zspage;
	u32 offset;

	lockdep_assert_held(&pool->lock);
	if (!(loc & ZS_LOC_VALID) || !zs_loc_has_page(loc))
		return false;
	private = page_private(zs_loc_page(loc));
	zspage = (struct zspage *)(private & ~ZS_PLACE_MASK);
	if (unlikely(!zs_in_range(zspage)) && !virt_addr_valid(zspage))
		return false;
	if (zspage->pool != pool)
		return false;
	shape = zs_shape(zspage);
	offset = (private & ZS_PLACE_MASK) * PAGE_SIZE + zs_loc_offset(loc);
	place->zspage = zspage;
	place->shape = shape;
	place->index = zs_shape_index(shape, offset);
	return place->index < shape->objects &&
	       place->index * shape->size == offset &&
	       test_bit(place->index, zspage->bitmap);
}

/* zsmalloc.c */
extern struct workqueue_struct *zs_wq;
struct zspage *zs_zspage_alloc(struct zs_pool *pool, unsigned int class,
			       gfp_t gfp);

/* zs_object.c */
void zs_admit(struct zs_pool *pool, struct zspage *zspage);
void zs_retire(struct zs_pool *pool, struct zspage *zspage,
	       struct list_head *emptied);
struct zspage *zs_fullest(struct zs_pool *pool, unsigned int class);
struct zspage *zs_emptiest(struct zs_pool *pool, unsigned int class);
u64 zs_take_from(struct zs_pool *pool, struct zspage *zspage, u32 owner);
bool zs_drop(struct zs_pool *pool, u64 loc, struct list_head *emptied);
void zs_obj_free(struct zs_pool *pool, const u64 *loc, unsigned int n,
		 struct list_head *emptied);
void zs_set_busy(struct zs_pool *pool, struct zspage *zspage);
void zs_clear_busy(struct zs_pool *pool, struct zspage *zspage,
		   struct list_head *emptied);

/* zs_access.c */
int zs_access_init(void);
void zs_access_exit(void);

/* zs_defer.c */
#define ZS_DEFER_MAX	512	/* objects of a CPU that wait, at most */

int zs_defer_add(struct zs_pool *pool);
void zs_defer_stop(struct zs_pool *pool);
void zs_defer_remove(struct zs_pool *pool);

/* zs_compact.c */
int zs_compact_init(void);
void zs_compact_exit(void);
void zs_compact_add(struct zs_pool *pool);
void zs_compact_remove(struct zs_pool *pool);
bool zs_compact_due(struct zs_pool *pool, unsigned int pages);
void zs_compact_background(struct zs_pool *pool);

#endif /* _ZS_INTERNAL_H_ */
