// SPDX-License-Identifier: GPL-2.0
/*
 * zs_defer: objects that are freed a little later.
 *
 * Swap tells of a free slot under its own locks, with interrupts off: whoever
 * frees slots on another CPU waits for all that is done then. So it is no more
 * than writing a location down. Each CPU has a list of them; a worker frees what
 * is in it, many under one acquisition of the pool lock, soon when there are
 * many, else within DEFER_DELAY. Who finds the list full frees what is in it by
 * himself, so memory that waits is bounded.
 *
 * An object in a list has no owner: compaction and migration take it for one in
 * flight and leave it where it is. Who must know what is really in use, or needs
 * the room, calls zs_pool_flush().
 *
 * Concurrency: a list has a lock, as its worker and zs_pool_flush() may run on
 * another CPU. It is innermost and never held together with the pool lock.
 */
#include <linux/jiffies.h>
#include <linux/percpu.h>

#include "compat.h"
#include "zs_internal.h"

/* Objects in a list when its worker is woken. */
#define DEFER_WAKE	(ZS_DEFER_MAX / 2)

/* Jiffies that an object waits in a list that does not grow. */
#define DEFER_DELAY	(HZ / 20)

/* Objects freed under one acquisition of the pool lock. */
#define DEFER_BATCH	64U

/**
 * struct zs_deferred - objects of a pool that one CPU has yet to free
 * @lock: guards @nr and @loc
 * @nr: how many
 * @loc: their locations
 * @pool: the pool; constant
 * @work: frees them
 */
struct zs_deferred {
	raw_spinlock_t lock;
	unsigned int nr;
	u64 loc[ZS_DEFER_MAX];
	struct zs_pool *pool;
	struct delayed_work work;
};

/* Take the last objects from a list. Returns how many. */
static unsigned int pop(struct zs_deferred *list, u64 *loc)
{
	unsigned int n;

	raw_spin_lock(&list->lock);
	n = min(list->nr, DEFER_BATCH);
	list->nr -= n;
	memcpy(loc, &list->loc[list->nr], n * sizeof(*loc));
	raw_spin_unlock(&list->lock);
	return n;
}

/* Returns how many objects there were. */
static unsigned int flush(struct zs_deferred *list)
{
	u64 loc[DEFER_BATCH] compat_uninitialized;
	unsigned int i, n, all = 0;

	while ((n = pop(list, loc))) {
		for (i = 0; i < n; i++)
			zs_prefetch_free(loc[i]);
		zs_obj_free(list->pool, loc, n);
		all += n;
	}
	return all;
}

static void flush_in_background(struct work_struct *work)
{
	struct zs_deferred *list = container_of(to_delayed_work(work),
						struct zs_deferred, work);

	flush(list);
}

/**
 * zs_obj_free_later - free an object, soon
 * @pool: the pool
 * @loc: its location, which nobody has any more. What is no object is not freed:
 *	there is a message.
 *
 * Context: task context, interrupts on or off, under swap's and page-table
 * locks; no owner's and no pool lock held. Does not sleep.
 */
void zs_obj_free_later(struct zs_pool *pool, u64 loc)
{
	/* Any CPU's list will do: one may be moved from here on. */
	struct zs_deferred *list = raw_cpu_ptr(pool->deferred);
	unsigned int nr;

	raw_spin_lock(&list->lock);
	while (unlikely(list->nr == ZS_DEFER_MAX)) {
		raw_spin_unlock(&list->lock);
		flush(list);
		raw_spin_lock(&list->lock);
	}
	list->loc[list->nr] = loc;
	nr = ++list->nr;
	raw_spin_unlock(&list->lock);

	if (nr == 1)
		queue_delayed_work(zs_wq, &list->work, DEFER_DELAY);
	else if (nr == DEFER_WAKE)
		mod_delayed_work(zs_wq, &list->work, 0);
}

/**
 * zs_pool_flush - free what waits for that
 * @pool: the pool
 *
 * Context: task context; no owner's and no pool lock held. Does not sleep.
 * Return: how many objects it has freed.
 */
unsigned int zs_pool_flush(struct zs_pool *pool)
{
	unsigned int n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += flush(per_cpu_ptr(pool->deferred, cpu));
	return n;
}

/**
 * zs_defer_add - let objects of a pool be freed later
 * @pool: the pool
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int zs_defer_add(struct zs_pool *pool)
{
	int cpu;

	pool->deferred = alloc_percpu(struct zs_deferred);
	if (!pool->deferred)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct zs_deferred *list = per_cpu_ptr(pool->deferred, cpu);

		raw_spin_lock_init(&list->lock);
		list->pool = pool;
		/* What waits is no reason to wake a CPU up. */
		INIT_DEFERRABLE_WORK(&list->work, flush_in_background);
	}
	return 0;
}

/**
 * zs_defer_remove - undo zs_defer_add()
 * @pool: the pool, which is not used any more. What waits is left to who frees
 *	the zspages.
 *
 * Context: may sleep.
 */
void zs_defer_remove(struct zs_pool *pool)
{
	int cpu;

	for_each_possible_cpu(cpu)
		cancel_delayed_work_sync(&per_cpu_ptr(pool->deferred,
						      cpu)->work);
	free_percpu(pool->deferred);
}
