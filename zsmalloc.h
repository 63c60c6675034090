/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zsmalloc: an allocator for compressed pages.
 *
 * Objects of 1 to PAGE_SIZE bytes are packed by size class into zspages,
 * chains of pages that need not be contiguous. An object is named by its
 * *location*, a u64 made of page frame and offset: whoever holds it reaches
 * the bytes without asking the allocator. A location is never 0.
 *
 * Objects move (compaction, page migration), so every object has an *owner*:
 * a u32 chosen by the pool's user. Whoever holds the owner's lock knows that
 * the object stays where it is. The rules for the user:
 *
 * - Read, write and free an object only under its owner's lock, or while its
 *   owner is ZS_OWNER_NONE, which means: in flight, do not move. An object to
 *   be freed later is given up under that lock.
 * - The owner's lock is a spin lock that disables preemption, and the pool
 *   lock nests inside it. The allocator takes no lock to read or write bytes.
 *
 * The pool lock (raw, one per pool) guards lists, bitmaps, owner ids and
 * counts; nothing is allocated, freed or copied under it. It is taken with
 * interrupts on or off, never from interrupts.
 */
#ifndef _ZRAM_ZSMALLOC_H_
#define _ZRAM_ZSMALLOC_H_

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/types.h>

#include "zs_class.h"

/* Owner of an object in flight: it is not moved. */
#define ZS_OWNER_NONE	U32_MAX

/* No object. */
#define ZS_LOC_NONE	0ULL

/**
 * struct zs_owner_ops - how the allocator asks a user to let an object move
 * @lock: take the lock of owner @id, then return true if that owner's object
 *	is at @from. Otherwise return false with the lock not held. @id may be
 *	stale or out of range.
 * @relocate: under the lock: the object, already copied, is now at @to
 * @unlock: drop the lock of owner @id
 */
struct zs_owner_ops {
	bool (*lock)(void *owner, u32 id, u64 from);
	void (*relocate)(void *owner, u32 id, u64 from, u64 to);
	void (*unlock)(void *owner, u32 id);
};

struct zs_pool;

/**
 * struct zs_pool_stats - a snapshot of a pool
 * @pages: pages held now
 * @max_pages: most pages ever held since the last zs_pool_reset_max()
 * @compacted: pages given back by compaction
 */
struct zs_pool_stats {
	unsigned long pages;
	unsigned long max_pages;
	unsigned long compacted;
};

/**
 * struct zs_exchange - an object for another
 * @old: the object to free, or ZS_LOC_NONE
 * @new: out: the new object's location; untouched where @size is 0
 * @size: bytes of the new object, at most PAGE_SIZE; 0 for none
 * @owner: of the new object, or ZS_OWNER_NONE
 */
struct zs_exchange {
	u64 old;
	u64 new;
	u32 size;
	u32 owner;
};

extern struct zs_class_table zs_classes;

int zs_init(void);
void zs_exit(void);

struct zs_pool *zs_pool_create(const struct zs_owner_ops *ops, void *owner);
void zs_pool_destroy(struct zs_pool *pool);
int zs_pool_grow(struct zs_pool *pool, u32 size, gfp_t gfp);
void zs_pool_set_limit(struct zs_pool *pool, unsigned long pages);
void zs_pool_reset_max(struct zs_pool *pool);
void zs_pool_stats(struct zs_pool *pool, struct zs_pool_stats *stats);

int zs_obj_exchange(struct zs_pool *pool, struct zs_exchange *exchange,
		    unsigned int n, struct list_head *emptied);
void zs_obj_free_later(struct zs_pool *pool, u64 loc,
		       struct list_head *emptied);
bool zs_pool_flush(struct zs_pool *pool);
void zs_free_zspages(struct list_head *emptied);

void zs_prefetch_read(u64 loc, u32 size);
void zs_prefetch_free(u64 loc);
void zs_obj_write(u64 loc, const void *src, u32 size);
const void *zs_obj_read_begin(u64 loc, u32 size);
void zs_obj_read_end(const void *data);

/**
 * zs_free_emptied - give emptied zspages back, if there are any
 * @emptied: zspages collected by other calls; empty afterwards
 *
 * Context: no owner's and no pool lock held; interrupts may be off.
 */
static inline void zs_free_emptied(struct list_head *emptied)
{
	if (unlikely(!list_empty(emptied)))
		zs_free_zspages(emptied);
}

/**
 * zs_same_class - may an object's bytes be replaced where they are
 * @a: bytes of the object as it is, 1 to PAGE_SIZE
 * @b: bytes it is to have, 1 to PAGE_SIZE
 *
 * Context: any.
 * Return: whether objects of both sizes take the same room.
 */
static inline bool zs_same_class(u32 a, u32 b)
{
	return zs_class_of(&zs_classes, a) == zs_class_of(&zs_classes, b);
}

#endif /* _ZRAM_ZSMALLOC_H_ */
