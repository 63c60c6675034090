// SPDX-License-Identifier: GPL-2.0
/*
 * zs_defer: objects that are freed a little later.
 *
 * Swap tells of a free slot under its own locks, with interrupts off: whoever
 * frees slots on another CPU waits for all that is done then. So it is no more
 * than writing a location down. Each CPU has a list of them; a worker frees what
 * is in it, many under one acquisition of the pool lock, at once when there are
 * many, else after DEFER_DELAY. Where the list is full, an object is freed at
 * once.
 *
 * An object is put in a list under its owner's lock, so whoever has found out,
 * with that lock, that the owner has given up an object, and calls
 * zs_pool_flush(), knows that it is free after that. Migration depends on it, as
 * a location in a list must not outlive its page.
 *
 * Concurrency: a list has two locks. One is for adding to it, which is all that
 * happens under the owners' locks; one is for freeing what is in it, which is
 * done by one at a time, the oldest first, and nothing leaves the list before it
 * is free. The latter is outside of the former and of the pool lock.
 */
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/sched.h>

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
 * @nr: how many; 0, read with acquire, says that all there were are free
 * @loc: their locations, the oldest first
 * @flushing: held by the one who frees them
 * @pool: the pool; constant
 * @work: frees them. Queued, with or without delay, or running while there are any
 */
struct zs_deferred {
	raw_spinlock_t lock;
	unsigned int nr;
	u64 loc[ZS_DEFER_MAX];
	raw_spinlock_t flushing;	/* see above */
	struct zs_pool *pool;
	struct delayed_work work;
};

/* The @n oldest are free: the others move up. */
static void forget(struct zs_deferred *list, unsigned int n)
{
	unsigned int left;

	raw_spin_lock(&list->lock);
	left = list->nr - n;
	memmove(list->loc, &list->loc[n], left * sizeof(*list->loc));
	/* Who sees the list empty sees that its objects are free. */
	smp_store_release(&list->nr, left);
	raw_spin_unlock(&list->lock);
}

/* Free some of the oldest, at most @max. Returns how many. */
static unsigned int free_some(struct zs_deferred *list, unsigned int max)
{
	LIST_HEAD(emptied);
	unsigned int i, n;

	raw_spin_lock(&list->flushing);
	/* It only grows but for us, and behind these: pairs with whoever adds. */
	n = min3(smp_load_acquire(&list->nr), max, DEFER_BATCH);
	if (n) {
		for (i = 0; i < n; i++)
			zs_prefetch_free(list->loc[i]);
		zs_obj_free(list->pool, list->loc, n, &emptied);
		forget(list, n);
	}
	raw_spin_unlock(&list->flushing);
	zs_free_emptied(&emptied);
	return n;
}

/* Free what is in a list now. Returns whether there was anything. */
static bool flush(struct zs_deferred *list)
{
	/* Pairs with forget(). */
	unsigned int n, left = smp_load_acquire(&list->nr);
	bool any = left;

	while (left) {
		n = free_some(list, left);
		if (!n)
			break;
		left -= n;
		cond_resched();
	}
	return any;
}

static void flush_in_background(struct work_struct *work)
{
	struct zs_deferred *list = container_of(to_delayed_work(work),
						struct zs_deferred, work);
	unsigned int left;

	flush(list);
	/* Only who adds to an empty list, or the one too many, sends for us. */
	left = READ_ONCE(list->nr);
	if (left)
		queue_delayed_work(zs_wq, &list->work,
				   left < DEFER_WAKE ? DEFER_DELAY : 0);
}

/**
 * zs_obj_free_later - free an object, soon
 * @pool: the pool
 * @loc: its location. What is no object is not freed: there is a message.
 * @emptied: receives its zspage if it was freed at once and the last one there
 *
 * Context: task context, interrupts on or off, under swap's and page-table
 * locks; the owner's lock held, and he forgets @loc before he unlocks. Does not
 * sleep.
 */
void zs_obj_free_later(struct zs_pool *pool, u64 loc, struct list_head *emptied)
{
	struct zs_deferred *list = this_cpu_ptr(pool->deferred);
	unsigned int nr;

	raw_spin_lock(&list->lock);
	nr = list->nr;
	if (likely(nr < ZS_DEFER_MAX)) {
		list->loc[nr] = loc;
		/* The location before the number. */
		smp_store_release(&list->nr, nr + 1);
	}
	raw_spin_unlock(&list->lock);

	if (unlikely(nr == ZS_DEFER_MAX))
		zs_obj_free(pool, &loc, 1, emptied);
	else if (!nr)
		queue_delayed_work(zs_wq, &list->work, DEFER_DELAY);
	else if (nr == DEFER_WAKE)
		mod_delayed_work(zs_wq, &list->work, 0);
}

/**
 * zs_pool_flush - free what waits for that
 * @pool: the pool
 *
 * Context: may sleep; no owner's and no pool lock held.
 * Return: whether anything waited. All that did is free now, whoever freed it.
 */
bool zs_pool_flush(struct zs_pool *pool)
{
	bool any = false;
	int cpu;

	for_each_possible_cpu(cpu)
		any |= flush(per_cpu_ptr(pool->deferred, cpu));
	return any;
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
		raw_spin_lock_init(&list->flushing);
		list->pool = pool;
		INIT_DELAYED_WORK(&list->work, flush_in_background);
	}
	return 0;
}

/**
 * zs_defer_stop - free what waits; nothing more will
 * @pool: the pool, whose owners are gone
 *
 * Before the pool's zspages go, as migration may still free what waits.
 *
 * Context: may sleep.
 */
void zs_defer_stop(struct zs_pool *pool)
{
	int cpu;

	for_each_possible_cpu(cpu)
		cancel_delayed_work_sync(&per_cpu_ptr(pool->deferred,
						      cpu)->work);
	zs_pool_flush(pool);
}

/**
 * zs_defer_remove - undo zs_defer_add()
 * @pool: the pool, which nobody migrates any more
 *
 * Context: may sleep.
 */
void zs_defer_remove(struct zs_pool *pool)
{
	free_percpu(pool->deferred);
	pool->deferred = NULL;
}
