// SPDX-License-Identifier: GPL-2.0
/*
 * zram_dev: making, publishing, withdrawing and freeing a device's state.
 *
 * Everything an initialised device has is one struct zram_state. disksize makes
 * it and publishes it with release; reset takes it away whole, which cannot
 * fail, and leaves freeing it to a worker, so that nobody waits for memory to
 * be freed but the next disksize, lest old and new memory add up.
 *
 * Concurrency: zram.lock orders disksize, reset and readers of statistics. I/O
 * takes no lock: reset needs a device without openers and claims it, see
 * zram_device_claim().
 */
#include <linux/module.h>
#include <linux/part_stat.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "zram_dev.h"
#include "zram_slot.h"

/* How streams were kept before they were per CPU; for comparison. */
bool zram_force_stream_list;
module_param_named(force_stream_list, zram_force_stream_list, bool, 0444);
MODULE_PARM_DESC(force_stream_list,
		 "Keep max_comp_streams streams in one list, not one per CPU");

/* Where states are freed. */
static struct workqueue_struct *zram_free_wq;

/**
 * zram_dev_init - set up what all devices share
 *
 * Context: module init. May sleep.
 * Return: 0 or -ENOMEM.
 */
int zram_dev_init(void)
{
	zram_free_wq = alloc_workqueue("zram_free",
				       WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return zram_free_wq ? 0 : -ENOMEM;
}

/**
 * zram_dev_exit - undo zram_dev_init(), after all states are freed
 *
 * Context: all devices are gone. May sleep.
 */
void zram_dev_exit(void)
{
	destroy_workqueue(zram_free_wq);
}

/**
 * zram_state_destroy - free a state and all it stores
 * @state: not in use any more; or made by zram_state_create() in part
 *
 * Context: may sleep; takes time by the memory stored.
 */
void zram_state_destroy(struct zram_state *state)
{
	unsigned int i;

	/* Before the table: page migration locks slots until the pool is gone. */
	if (state->pool)
		zs_pool_destroy(state->pool);
	for (i = 0; i < ZRAM_MAX_CODECS; i++)
		if (state->comp[i])
			zcomp_destroy(state->comp[i]);
	zram_slots_free(state->slots);
	free_percpu(state->counters);
	kfree(state);
}

/* Set-ups that wait for what is being freed, and what they wake. */
static atomic_t hurried;
static DECLARE_WAIT_QUEUE_HEAD(hurry);

/*
 * Not at once: where there is one CPU to run on, whoever reset the device would
 * see it taken away by his own worker for a whole time slice.
 */
static void zram_free_worker(struct work_struct *work)
{
	wait_event_timeout(hurry, atomic_read(&hurried), 1);
	zram_state_destroy(container_of(work, struct zram_state, free_work));
}

/**
 * zram_state_create - make the state for a disk
 * @backend: codec for writes
 * @list_streams: streams to keep in a list; 0 for streams per CPU
 * @nr_pages: pages of the disk
 *
 * Context: may sleep.
 * Return: the state, or an ERR_PTR, then with nothing left behind.
 */
struct zram_state *zram_state_create(const struct zcomp_backend *backend,
				     unsigned int list_streams, u32 nr_pages)
{
	struct zram_state *state = kzalloc(sizeof(*state), GFP_KERNEL);
	int i, ret = -ENOMEM;

	if (!state)
		return ERR_PTR(-ENOMEM);
	INIT_WORK(&state->free_work, zram_free_worker);
	zram_slots_init_map(state);
	for (i = 0; i < ZRAM_NR_PARTIAL; i++)
		mutex_init(&state->partial[i]);

	state->nr_pages = nr_pages;
	state->slots = zram_slots_alloc(nr_pages);
	state->counters = alloc_percpu(struct zram_counters);
	state->pool = zs_pool_create(&zram_owner_ops, state);
	if (!state->slots || !state->counters || !state->pool)
		goto out_state;

	state->comp[0] = zcomp_create(backend, list_streams);
	if (IS_ERR(state->comp[0])) {
		ret = PTR_ERR(state->comp[0]);
		state->comp[0] = NULL;
		goto out_state;
	}
	return state;

out_state:
	zram_state_destroy(state);
	return ERR_PTR(ret);
}

/**
 * zram_stat_sum - a statistic over all CPUs
 * @state: the state
 * @stat: which
 *
 * Context: any. Shares are read one after the other while they change, so that
 * a sum may lag; it is never negative.
 * Return: the sum.
 */
u64 zram_stat_sum(struct zram_state *state, enum zram_stat stat)
{
	s64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(state->counters, cpu)->value[stat]);
	return max_t(s64, sum, 0);
}

static void wait_until_freed(void)
{
	atomic_inc(&hurried);
	wake_up_all(&hurry);
	flush_workqueue(zram_free_wq);
	atomic_dec(&hurried);
}

/**
 * zram_device_init - give a device its size and all that comes with it
 * @zram: the device
 * @disksize: bytes, above 0; rounded up to whole pages
 *
 * Context: takes zram->lock; may sleep, among others until what the device held
 * before its last reset is freed.
 * Return: 0; -EBUSY where it is initialised or being removed, -EINVAL for a
 * size that slots cannot number, -ENOMEM. On error nothing has changed.
 */
int zram_device_init(struct zram *zram, u64 disksize)
{
	u64 nr_pages = DIV_ROUND_UP_ULL(disksize, PAGE_SIZE);
	struct zram_state *state;
	int ret = -EBUSY;

	if (!disksize || disksize > U64_MAX - PAGE_SIZE ||
	    nr_pages > ZRAM_MAX_PAGES)
		return -EINVAL;

	down_write(&zram->lock);
	if (zram->state || zram->removed)
		goto out;
	wait_until_freed();
	state = zram_state_create(zram->backend,
				  zram_force_stream_list ? zram->nr_streams : 0,
				  nr_pages);
	if (IS_ERR(state)) {
		ret = PTR_ERR(state);
		goto out;
	}
	zs_pool_set_limit(state->pool, zram->limit_pages);
	/* Pairs with the acquire in zram_state(). */
	smp_store_release(&zram->state, state);
	set_capacity_and_notify(zram->disk, nr_pages * ZRAM_SECTORS_PER_PAGE);
	ret = 0;
out:
	up_write(&zram->lock);
	return ret;
}

/**
 * zram_device_reset - take a device back to where it was before disksize
 * @zram: the device, claimed by the caller: no opener, hence no I/O
 *
 * Cannot fail and does not wait for memory to be freed. Parameters go back to
 * their defaults, too.
 *
 * Context: takes zram->lock; may sleep.
 */
void zram_device_reset(struct zram *zram)
{
	struct zram_state *state;

	/* Two resets may meet here; then one of them has nothing to do. */
	WRITE_ONCE(zram->stop, true);
	down_write(&zram->lock);
	WRITE_ONCE(zram->stop, false);
	state = zram->state;
	zram->limit_pages = 0;
	zram->backend = zcomp_backend_default();
	zram->nr_streams = num_online_cpus();
	if (state) {
		set_capacity_and_notify(zram->disk, 0);
		part_stat_set_all(zram->disk->part0, 0);
		WRITE_ONCE(zram->state, NULL);
		queue_work(zram_free_wq, &state->free_work);
	}
	up_write(&zram->lock);
}

/**
 * zram_device_claim - keep openers away
 * @zram: the device
 *
 * Context: may sleep.
 * Return: 0, then zram_device_unclaim() follows; -EBUSY where somebody has it
 * open or claimed.
 */
int zram_device_claim(struct zram *zram)
{
	struct gendisk *disk = zram->disk;
	int ret = -EBUSY;

	mutex_lock(&disk->open_mutex);
	if (!disk_openers(disk) && !zram->claim) {
		zram->claim = true;
		ret = 0;
	}
	mutex_unlock(&disk->open_mutex);
	return ret;
}

/**
 * zram_device_unclaim - let openers in again
 * @zram: the device, claimed by the caller
 *
 * Context: may sleep.
 */
void zram_device_unclaim(struct zram *zram)
{
	mutex_lock(&zram->disk->open_mutex);
	zram->claim = false;
	mutex_unlock(&zram->disk->open_mutex);
}
