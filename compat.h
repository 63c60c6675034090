/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat: the only place that knows kernel versions. The module is written for
 * the newest kernel; here 6.1 and 6.12 are taught its spelling. Each entry says
 * what changed when; it goes when the last kernel on the old side goes.
 *
 * Supported are 6.1 (Debian 12), 6.12 (Debian 13) and 7.2 or newer. What lies
 * between is not tested and mixes both sides, hence refused.
 */
#ifndef _ZRAM_COMPAT_H_
#define _ZRAM_COMPAT_H_

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "zram needs Linux 6.1 or newer"
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#error "zram supports Linux 6.1, 6.12 and 7.2 or newer, nothing between"
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0) && \
	LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#error "zram supports Linux 6.1, 6.12 and 7.2 or newer, nothing between"
#endif

#define COMPAT_6_1	(LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0))
#define COMPAT_6_X	(LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0))

#include <linux/blkdev.h>
#include <linux/device/class.h>
#include <linux/err.h>
#include <linux/migrate.h>
#include <linux/mm.h>
#include <linux/shrinker.h>
#include <linux/slab.h>

/*
 * Shrinkers. 6.7: shrinker_alloc(), shrinker_register(), shrinker_free()
 * replaced an embedded structure and register_shrinker(), which could fail.
 */
typedef unsigned long (*compat_shrink_fn)(struct shrinker *shrinker,
					  struct shrink_control *sc);

#if COMPAT_6_1
static inline struct shrinker *compat_shrinker_create(const char *name,
						      compat_shrink_fn count,
						      compat_shrink_fn scan)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->seeks = DEFAULT_SEEKS;
	if (register_shrinker(shrinker, "%s", name)) {
		kfree(shrinker);
		return NULL;
	}
	return shrinker;
}

static inline void compat_shrinker_destroy(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(shrinker);
}
#else
static inline struct shrinker *compat_shrinker_create(const char *name,
						      compat_shrink_fn count,
						      compat_shrink_fn scan)
{
	struct shrinker *shrinker = shrinker_alloc(0, "%s", name);

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->seeks = DEFAULT_SEEKS;
	shrinker_register(shrinker);
	return shrinker;
}

static inline void compat_shrinker_destroy(struct shrinker *shrinker)
{
	shrinker_free(shrinker);
}
#endif

/*
 * Page migration of driver pages. Up to 6.x the operations hang on each page
 * (__SetPageMovable); 6.17 made them one global slot per page type, and the
 * mark sticks to the page until it is freed. 6.2 or so dropped
 * MIGRATE_SYNC_NO_COPY; it still exists where COMPAT_6_1 holds.
 */
#if COMPAT_6_X
#define COMPAT_MOVABLE_DEFAULT	true

/* The core forgets a page that we have freed. */
#define COMPAT_MOVABLE_STICKS	false

static inline int compat_movable_start(const struct movable_operations *ops)
{
	return IS_ENABLED(CONFIG_COMPACTION) ? 0 : -EOPNOTSUPP;
}

static inline void compat_movable_stop(void)
{
}

static inline void compat_page_set_movable(struct page *page,
					   const struct movable_operations *ops)
{
	__SetPageMovable(page, ops);
}

static inline void compat_page_clear_movable(struct page *page)
{
	__ClearPageMovable(page);
}
#else
/* The slot belongs to the kernel's own zsmalloc wherever that is built in. */
#define COMPAT_MOVABLE_DEFAULT	false

/* The core calls back for a page it isolated even if we have freed it. */
#define COMPAT_MOVABLE_STICKS	true

static inline int compat_movable_start(const struct movable_operations *ops)
{
	return set_movable_ops(ops, PGTY_zsmalloc);
}

static inline void compat_movable_stop(void)
{
	set_movable_ops(NULL, PGTY_zsmalloc);
}

static inline void compat_page_set_movable(struct page *page,
					   const struct movable_operations *ops)
{
	__SetPageZsmalloc(page);
	SetPageMovableOps(page);
}

static inline void compat_page_clear_movable(struct page *page)
{
}
#endif

#if COMPAT_6_1
static inline bool compat_migrate_without_copy(enum migrate_mode mode)
{
	return mode == MIGRATE_SYNC_NO_COPY;
}
#else
static inline bool compat_migrate_without_copy(enum migrate_mode mode)
{
	return false;
}
#endif

/*
 * Disk operations. 6.5: open() and release() take the disk, not the block
 * device, and blk_mode_t. These emit compat_<fn>() with the kernel's prototype.
 */
#if COMPAT_6_1
#define COMPAT_DISK_OPEN(fn)						\
static int compat_##fn(struct block_device *bdev, fmode_t mode)		\
{									\
	return fn(bdev->bd_disk);					\
}
#else
#define COMPAT_DISK_OPEN(fn)						\
static int compat_##fn(struct gendisk *disk, blk_mode_t mode)		\
{									\
	return fn(disk);						\
}
#endif

/*
 * Synchronous swap. 6.1 takes a disk for synchronous if it has rw_page(); since
 * 6.3 a queue flag or feature says so, and rw_page() is gone.
 */
#if COMPAT_6_1
#include <linux/pagemap.h>
#define COMPAT_RW_PAGE(fn)						\
static int compat_##fn(struct block_device *bdev, sector_t sector,	\
		       struct page *page, enum req_op op)		\
{									\
	unsigned long start;						\
	int ret;							\
									\
	if (PageTransHuge(page))					\
		return -EOPNOTSUPP;					\
	start = bdev_start_io_acct(bdev, PAGE_SECTORS, op, jiffies);	\
	ret = fn(bdev->bd_disk, sector, page, op_is_write(op));		\
	bdev_end_io_acct(bdev, op, start);				\
	if (!ret)							\
		page_endio(page, op_is_write(op), 0);			\
	return ret;							\
}

#define COMPAT_RW_PAGE_OP(fn)	.rw_page = compat_##fn,
#else
#define COMPAT_RW_PAGE(fn)
#define COMPAT_RW_PAGE_OP(fn)
#endif

/**
 * struct compat_disk_limits - what a disk of ours tells the block layer
 * @block_size: logical block size in bytes
 * @page_size: physical block size, preferred I/O size and discard granularity
 * @write_zeroes: it can write zeroes without data
 */
struct compat_disk_limits {
	unsigned int block_size;
	unsigned int page_size;
	bool write_zeroes;
};

/*
 * Allocating a disk. 6.9: limits are passed to blk_alloc_disk(), which returns
 * an ERR_PTR; before, it took none, returned NULL, and limits were set after.
 */
#if COMPAT_6_1
#define compat_alloc_disk(l)						\
({									\
	struct gendisk *__disk = blk_alloc_disk(NUMA_NO_NODE);		\
									\
	if (__disk)							\
		compat_set_limits(__disk->queue, l);			\
	__disk ? __disk : ERR_PTR(-ENOMEM);				\
})

static inline void compat_set_limits(struct request_queue *q,
				     const struct compat_disk_limits *l)
{
	blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	blk_queue_flag_clear(QUEUE_FLAG_ADD_RANDOM, q);
	blk_queue_flag_set(QUEUE_FLAG_STABLE_WRITES, q);
	blk_queue_logical_block_size(q, l->block_size);
	blk_queue_physical_block_size(q, l->page_size);
	blk_queue_io_min(q, l->page_size);
	blk_queue_io_opt(q, l->page_size);
	q->limits.discard_granularity = l->page_size;
	blk_queue_max_discard_sectors(q, UINT_MAX);
	if (l->write_zeroes)
		blk_queue_max_write_zeroes_sectors(q, UINT_MAX);
}
#else
#define compat_alloc_disk(l)						\
({									\
	struct queue_limits __lim = compat_limits(l);			\
									\
	blk_alloc_disk(&__lim, NUMA_NO_NODE);				\
})

static inline struct queue_limits
compat_limits(const struct compat_disk_limits *l)
{
	return (struct queue_limits){
		.features = BLK_FEAT_STABLE_WRITES | BLK_FEAT_SYNCHRONOUS,
		.logical_block_size = l->block_size,
		.physical_block_size = l->page_size,
		.io_min = l->page_size,
		.io_opt = l->page_size,
		.discard_granularity = l->page_size,
		.max_hw_discard_sectors = UINT_MAX,
		.max_write_zeroes_sectors = l->write_zeroes ? UINT_MAX : 0,
	};
}
#endif

/*
 * For large variables that are filled before they are read: kernels that clear
 * the stack need not clear these. A compiler that does not know it clears them.
 */
#if __has_attribute(__uninitialized__)
#define compat_uninitialized	__attribute__((__uninitialized__))
#else
#define compat_uninitialized
#endif

/* Class attributes. 6.4: class and attribute are const in show() and store(). */
#if COMPAT_6_1
#define COMPAT_CLASS_CONST
#else
#define COMPAT_CLASS_CONST	const
#endif

#endif /* _ZRAM_COMPAT_H_ */
