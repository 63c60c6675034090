/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zs_class: size-class arithmetic. Pure: no lock, no page, no allocation.
 *
 * A size class serves all objects of up to zs_shape.size bytes. Its zspages
 * chain zs_shape.chain pages, so that zs_shape.objects objects fit with little
 * left over. Sizes that would give the same chain and the same count share one
 * class: the larger size wins nothing by being apart. Sizes too large to save
 * anything (as many pages as objects) are all served by one class of whole
 * pages, the "huge" class.
 */
#ifndef _ZS_CLASS_H_
#define _ZS_CLASS_H_

#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/types.h>

/* Locations carry offsets in units of 16 bytes; so sizes are multiples of it. */
#define ZS_GRAIN_SHIFT	4
#define ZS_GRAIN	16U
static_assert(ZS_GRAIN == 1 << ZS_GRAIN_SHIFT);

/* Sizes are rounded up to multiples of this before classes are merged. */
#define ZS_STEP		max(ZS_GRAIN, (unsigned int)(PAGE_SIZE >> 8))
#define ZS_NR_STEPS	256

/* Pages a zspage chains at most: kernel-wide default of newer zsmalloc. */
#define ZS_MAX_CHAIN	8

/* Objects in the zspage of the smallest class: bounds every index. */
#define ZS_MIN_SIZE	(2 * ZS_GRAIN)
#define ZS_MAX_OBJECTS	(PAGE_SIZE / ZS_MIN_SIZE * ZS_MAX_CHAIN)

/* Fullness groups: 0 (below 10 %) to 9. Full zspages are in none of these. */
#define ZS_NR_GROUPS	10
#define ZS_GROUP_FULL	ZS_NR_GROUPS

/**
 * struct zs_shape - geometry of one size class
 * @size: bytes per object, a multiple of ZS_GRAIN
 * @objects: objects per zspage
 * @chain: pages per zspage
 * @index_mul: object index of byte offset o is (o / ZS_GRAIN * index_mul) >> 32
 * @group_mul: fullness group of n objects in use is (n * group_mul) >> 28
 */
struct zs_shape {
	u32 size;
	u16 objects;
	u8 chain;
	u32 index_mul;
	u32 group_mul;
};

/**
 * struct zs_class_table - all size classes of one page size
 * @nr: number of classes
 * @huge_size: largest size that saves memory; above it a whole page is taken
 * @of_step: class index for each rounded size, by size / ZS_STEP - 1
 * @shape: the classes, by ascending size; the last is the huge class
 */
struct zs_class_table {
	unsigned int nr;
	u32 huge_size;
	u8 of_step[ZS_NR_STEPS];
	struct zs_shape shape[ZS_NR_STEPS];
};

unsigned int zs_chain_length(u32 size, unsigned int max_chain);
void zs_class_table_init(struct zs_class_table *table, unsigned int max_chain);

/**
 * zs_class_of - class index that serves an object
 * @table: the size classes
 * @size: bytes, 1 to PAGE_SIZE
 *
 * Context: any.
 * Return: index into @table->shape.
 */
static inline unsigned int zs_class_of(const struct zs_class_table *table,
				       u32 size)
{
	return table->of_step[(size - 1) / ZS_STEP];
}

/**
 * zs_shape_index - which object begins at (or spans) a byte offset
 * @shape: geometry of the class
 * @offset: bytes from the start of the zspage, a multiple of ZS_GRAIN
 *
 * Context: any.
 * Return: object index; may be >= @shape->objects for an offset in the tail
 * that no object uses.
 */
static inline u32 zs_shape_index(const struct zs_shape *shape, u32 offset)
{
	return ((u64)(offset >> ZS_GRAIN_SHIFT) * shape->index_mul) >> 32;
}

/**
 * zs_shape_group - fullness group of a zspage
 * @shape: geometry of the class
 * @inuse: objects in use, at most @shape->objects
 *
 * Context: any.
 * Return: 0 to ZS_GROUP_FULL; the latter if and only if none is left.
 */
static inline unsigned int zs_shape_group(const struct zs_shape *shape,
					  u32 inuse)
{
	if (inuse == shape->objects)
		return ZS_GROUP_FULL;
	return (inuse * shape->group_mul) >> 28;
}

#endif /* _ZS_CLASS_H_ */
