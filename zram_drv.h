/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zram: compressed RAM block devices. What all files of the driver share.
 *
 * Lock order, outermost first, stated here and nowhere else:
 *
 *   zram_devices_lock	the set of devices (mutex)
 *   disk->open_mutex	openers and zram.claim (mutex, the block layer's)
 *   zram.lock		parameters, and which state is current (rwsem)
 *   partial mutex	writers of parts of one page (zram_state.partial)
 *   compacting		the one compaction of a pool (mutex); reclaim takes it, too,
 *			so nothing is allocated under it
 *   stream		working memory of a codec (local_lock or mutex)
 *   page lock		of a zspage's page, where the core migrates it
 *   slot lock		one page of the disk, and where its object is (bit spin);
 *			several at a time only in ascending order
 *   flushing		freeing what is in one CPU's list of objects to free (raw
 *			spin); not under a slot lock
 *   pool lock		the allocator's lists, bitmaps, owner ids (raw spin)
 *   deferred lock	adding to that list (raw spin); not under the pool lock
 *
 * Rules:
 * - Slot and pool lock are task-context spin locks, taken with interrupts on or
 *   off, under swap's and page-table locks: plain lock and unlock only, and
 *   under them nothing sleeps, allocates, frees or takes a spinlock_t.
 * - A stream is held across codec calls; under a slow codec's stream memory is
 *   allocated GFP_NOIO at most.
 * - The I/O path takes no device lock. An in-flight bio implies an opener;
 *   reset and removal need zero openers and keep new ones out by zram.claim.
 *   I/O reads zram.state with acquire; disksize publishes it with release.
 */
#ifndef _ZRAM_DRV_H_
#define _ZRAM_DRV_H_

#include <linux/blkdev.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "zcomp.h"
#include "zsmalloc.h"

#define ZRAM_SECTORS_PER_PAGE	(PAGE_SIZE >> SECTOR_SHIFT)
#define ZRAM_BLOCK_SIZE		4096

/* Codecs whose output one device can hold at a time; a slot names its own. */
#define ZRAM_MAX_CODECS		4

/* Slots are numbered by u32; the top bit of an owner id is kept free. */
#define ZRAM_MAX_PAGES		BIT(31)

/**
 * enum zram_stat - counters, per CPU and summed when read
 * @ZRAM_STORED: slots that are not empty
 * @ZRAM_BYTES: bytes of all objects
 * @ZRAM_SAME: slots of one repeated word
 * @ZRAM_HUGE: slots that no codec made smaller
 * @ZRAM_HUGE_SINCE: times a page was stored as such
 * @ZRAM_FAILED_READS: pages that could not be read
 * @ZRAM_FAILED_WRITES: pages that could not be written; those that follow in the
 *	same bio are not tried and not counted
 * @ZRAM_NOTIFY_FREE: pages freed by swap or discarded
 * @ZRAM_WRITE_STALLS: writes that had to wait for memory
 * @ZRAM_NR_STATS: how many there are
 */
enum zram_stat {
	ZRAM_STORED,
	ZRAM_BYTES,
	ZRAM_SAME,
	ZRAM_HUGE,
	ZRAM_HUGE_SINCE,
	ZRAM_FAILED_READS,
	ZRAM_FAILED_WRITES,
	ZRAM_NOTIFY_FREE,
	ZRAM_WRITE_STALLS,
	ZRAM_NR_STATS
};

/**
 * struct zram_counters - one CPU's share of the counters
 * @value: by enum zram_stat; a share may be negative, a sum is not
 */
struct zram_counters {
	s64 value[ZRAM_NR_STATS];
};

struct zram_slot;

/* Mutexes for writers of parts of pages, picked by slot number. */
#define ZRAM_NR_PARTIAL		16

/**
 * struct zram_state - everything an initialised device has
 * @slots: one for each page of the disk
 * @nr_pages: pages of the disk
 * @pool: where the objects are
 * @comp: codecs, by the number slots name them with; [0] compresses writes
 * @counters: statistics
 * @partial: see ZRAM_NR_PARTIAL
 * @free_work: frees the state after a reset
 * @slot_map: the slot locks, as lockdep sees them
 *
 * Allocated by disksize, swapped out whole by reset and freed by a worker. It
 * does not know its device. All fields are constant while it is in use.
 */
struct zram_state {
	struct zram_slot *slots;
	u32 nr_pages;
	struct zs_pool *pool;
	struct zcomp *comp[ZRAM_MAX_CODECS];
	struct zram_counters __percpu *counters;
	struct mutex partial[ZRAM_NR_PARTIAL];	/* see ZRAM_NR_PARTIAL */
	struct work_struct free_work;
	struct lockdep_map slot_map;
};

/**
 * struct zram - one device
 * @disk: its disk; constant
 * @id: the number in its name; constant
 * @state: NULL until disksize is set. Written under @lock
 * @claim: no new openers: it is being reset or removed. Guarded by open_mutex
 * @stop: a reset waits: long passes under @lock shall end. Racy on purpose
 *
 * @lock: guards what follows
 * @removed: on its way out: cannot be initialised any more
 * @backend: codec for the next disksize
 * @nr_streams: streams for the next disksize (force_stream_list only)
 * @limit_pages: memory limit, 0 for none
 */
struct zram {
	struct gendisk *disk;
	u32 id;
	struct zram_state *state;
	bool claim;
	bool stop;

	struct rw_semaphore lock;
	bool removed;
	const struct zcomp_backend *backend;
	unsigned int nr_streams;
	unsigned long limit_pages;
};

/* The device's state: complete if there is one. */
static inline struct zram_state *zram_state(struct zram *zram)
{
	/* Pairs with the release in zram_device_init(). */
	return smp_load_acquire(&zram->state);
}

/* Any task context. Not atomic against interrupts, which never count. */
static inline void zram_count(struct zram_state *state, enum zram_stat stat,
			      s64 amount)
{
	this_cpu_add(state->counters->value[stat], amount);
}

#endif /* _ZRAM_DRV_H_ */
