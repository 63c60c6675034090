// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of compaction: what it frees, whom it asks, what it leaves alone.
 *
 * Each case starts with an empty pool and ends with a check of the pool's
 * books, of every item's bytes and of the calls the owner saw.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>

#include "../../zs_compact.h"
#include "zs_kunit.h"

#define NR_ITEMS	1024

static int compact_init(struct kunit *test)
{
	test->priv = zs_test_create(test, NR_ITEMS);
	return 0;
}

/* Every lock that was granted was dropped, and no move came out of the blue. */
static void compact_exit(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	if (!owner)
		return;
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->wrong_moves), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->locks),
			atomic_read(&owner->refused) +
			atomic_read(&owner->unlocks));
	zs_test_finish(test, owner);
}

/* How many items are elsewhere than @locs says. */
static u32 moved_since(struct zs_test_owner *owner, const u64 *locs)
{
	u32 id, moved = 0;

	for (id = 0; id < NR_ITEMS; id++)
		moved += owner->items[id].loc != locs[id];
	return moved;
}

static u64 *copy_locs(struct kunit *test, struct zs_test_owner *owner)
{
	u64 *locs = kunit_kzalloc(test, NR_ITEMS * sizeof(*locs), GFP_KERNEL);
	u32 id;

	KUNIT_ASSERT_NOT_NULL(test, locs);
	for (id = 0; id < NR_ITEMS; id++)
		locs[id] = owner->items[id].loc;
	return locs;
}

/* Expect: nothing to do in a pool without pages. */
static void empty_pool_has_nothing_to_free(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	KUNIT_EXPECT_EQ(test, zs_pool_freeable(owner->pool), 0UL);
	KUNIT_EXPECT_EQ(test, zs_pool_compact(owner->pool, NULL), 0UL);
}

/* Expect: nor in one that was only filled; no object is touched. */
static void dense_pool_is_left_alone(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	zs_test_fill(test, owner, zs_test_param(test));
	KUNIT_EXPECT_EQ(test, zs_pool_freeable(owner->pool), 0UL);
	KUNIT_EXPECT_EQ(test, zs_pool_compact(owner->pool, NULL), 0UL);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->moves), 0);
}

/* Expect: what is left fits as tightly as it can, every byte of it. */
static void fragmented_pool_shrinks_to_the_minimum(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned long before, freeable, freed;

	zs_test_fragment(test, owner, zs_test_param(test));
	before = zs_test_pages(owner);
	freeable = zs_pool_freeable(owner->pool);
	freed = zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), before - freed);
	KUNIT_EXPECT_EQ(test, zs_test_stats(owner).compacted, freed);
	KUNIT_EXPECT_GE(test, freeable, freed);
	KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
	KUNIT_EXPECT_EQ(test, !!freed, !!atomic_read(&owner->moves));
	KUNIT_EXPECT_EQ(test, !freed, zs_test_param(test) == PAGE_SIZE);
}

/* Expect: a second pass finds nothing left to free or to move. */
static void second_compaction_frees_nothing(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	int moves;

	zs_test_fragment(test, owner, zs_test_param(test));
	zs_pool_compact(owner->pool, NULL);
	moves = atomic_read(&owner->moves);
	KUNIT_EXPECT_EQ(test, zs_pool_freeable(owner->pool), 0UL);
	KUNIT_EXPECT_EQ(test, zs_pool_compact(owner->pool, NULL), 0UL);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->moves), moves);
}

/* Expect: all classes are compacted in one pass. */
static void mixed_sizes_shrink_to_the_minimum(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 id, size;

	for (id = 0; id < NR_ITEMS; id++) {
		size = zs_test_sizes[id % ARRAY_SIZE(zs_test_sizes)];
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, id));
	}
	for (id = 0; id < NR_ITEMS; id++)
		if (zs_test_random(owner, 4))
			zs_test_drop(owner, id);
	KUNIT_EXPECT_GT(test, zs_pool_compact(owner->pool, NULL), 0UL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

/* Expect: room that was made and never used is given back. */
static void unused_room_is_freed(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test), i;

	for (i = 0; i < 5; i++)
		KUNIT_ASSERT_EQ(test, 0,
				zs_pool_grow(owner->pool, size, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, zs_pool_freeable(owner->pool),
			5UL * zs_test_shape(size)->chain);
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
}

/* Expect: a limit below use does not keep compaction from working. */
static void compaction_works_at_the_limit(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	zs_test_fragment(test, owner, 1500);
	zs_pool_set_limit(owner->pool, 1);
	KUNIT_EXPECT_GT(test, zs_pool_compact(owner->pool, NULL), 0UL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
	zs_pool_set_limit(owner->pool, 0);
}

/* Expect: objects whose owner says no stay where they are, all of them. */
static void refused_objects_stay(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned long pages;
	u64 *locs;

	zs_test_fragment(test, owner, zs_test_param(test));
	locs = copy_locs(test, owner);
	pages = zs_test_pages(owner);
	owner->refuse = true;
	KUNIT_EXPECT_EQ(test, zs_pool_compact(owner->pool, NULL), 0UL);
	KUNIT_EXPECT_EQ(test, moved_since(owner, locs), 0U);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), pages);
	owner->refuse = false;
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

/* Expect: ids that the owner does not know are asked for and left alone. */
static void unknown_owners_stay(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u64 *locs;

	zs_test_fragment(test, owner, 700);
	locs = copy_locs(test, owner);
	owner->nr = 0;
	KUNIT_EXPECT_EQ(test, zs_pool_compact(owner->pool, NULL), 0UL);
	owner->nr = NR_ITEMS;
	KUNIT_EXPECT_GT(test, atomic_read(&owner->refused), 0);
	KUNIT_EXPECT_EQ(test, moved_since(owner, locs), 0U);
}

/* Expect: objects in flight are not moved, nor is anybody asked about them. */
static void objects_in_flight_stay(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test), id;
	LIST_HEAD(emptied);
	u64 *locs;

	for (id = 0; id < NR_ITEMS; id++) {
		struct zs_test_item *item = &owner->items[id];

		while (zs_test_replace(owner->pool, ZS_LOC_NONE, size,
				       ZS_OWNER_NONE, &item->loc, &emptied))
			KUNIT_ASSERT_EQ(test, 0, zs_pool_grow(owner->pool, size,
							      GFP_KERNEL));
		item->size = size;
		zs_obj_write(item->loc, zs_test_bytes(owner, 0), size);
	}
	for (id = 0; id < NR_ITEMS; id++)
		if (zs_test_random(owner, 3))
			zs_test_drop(owner, id);
	locs = copy_locs(test, owner);
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, moved_since(owner, locs), 0U);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->locks), 0);
}

static void free_the_object(struct zs_test_owner *owner, u32 id)
{
	zs_test_drop(owner, id);
}

/* Expect: an object freed after it was seen is not moved; all goes on. */
static void object_freed_meanwhile_is_passed_over(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	zs_test_fragment(test, owner, zs_test_param(test));
	owner->before_lock = free_the_object;
	zs_pool_compact(owner->pool, NULL);
	owner->before_lock = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->moves), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->refused),
			atomic_read(&owner->locks));
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

static void replace_the_object(struct zs_test_owner *owner, u32 id)
{
	struct zs_test_item *item = &owner->items[id];

	/* Without memory it keeps the old one, which is as well. */
	zs_test_put(owner, id, item->size, item->seed + 1);
}

/* Expect: nor is one whose owner has a new object elsewhere by now. */
static void object_replaced_meanwhile_is_passed_over(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	zs_test_fragment(test, owner, zs_test_param(test));
	owner->before_lock = replace_the_object;
	zs_pool_compact(owner->pool, NULL);
	owner->before_lock = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->moves), 0);
	KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

/* Objects that their owner does not know of, where anybody may look. */
static u32 strays;

static void count_strays(struct zs_test_owner *owner, u32 id)
{
	struct zs_class *class = owner->pool->classes;
	struct zspage *zspage;
	unsigned int index;

	zs_lock(owner->pool);
	for (; class < owner->pool->classes + zs_classes.nr; class++)
		list_for_each_entry(zspage, &class->all, siblings) {
			if (zspage->busy)
				continue;
			for_each_set_bit(index, zspage->bitmap,
					 zs_shape(zspage)->objects)
				strays += zs_object_loc(zspage, index) !=
					  owner->items[zs_owners(zspage)[index]].loc;
		}
	zs_unlock(owner->pool);
}

/*
 * Expect: zspages that objects are on their way from and to are busy: migration,
 * which asks the owners of all objects, must not come across these.
 */
static void moving_is_between_busy_zspages(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	zs_test_fragment(test, owner, zs_test_param(test));
	strays = 0;
	owner->before_lock = count_strays;
	zs_pool_compact(owner->pool, NULL);
	owner->before_lock = NULL;
	KUNIT_EXPECT_EQ(test, strays, 0U);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

/* Expect: with the stop flag set nothing is moved. */
static void stop_flag_prevents_a_pass(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	bool stop = true;

	zs_test_fragment(test, owner, zs_test_param(test));
	KUNIT_EXPECT_EQ(test, zs_pool_compact(owner->pool, &stop), 0UL);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->locks), 0);
}

/* Expect: nor does anybody wait for another pass with it set. */
static void stop_flag_ends_waiting(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	bool stop = true;

	mutex_lock(&owner->pool->compacting);
	KUNIT_EXPECT_EQ(test, zs_pool_compact(owner->pool, &stop), 0UL);
	mutex_unlock(&owner->pool->compacting);
}

static bool stop_soon;

static void raise_stop_flag(struct zs_test_owner *owner, u32 id)
{
	WRITE_ONCE(stop_soon, true);
}

/* Expect: set during a pass, the object at hand is the last. */
static void stop_flag_ends_a_pass(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	zs_test_fragment(test, owner, 700);
	stop_soon = false;
	owner->before_lock = raise_stop_flag;
	zs_pool_compact(owner->pool, &stop_soon);
	owner->before_lock = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->locks), 1);
	KUNIT_EXPECT_GT(test, zs_pool_freeable(owner->pool), 0UL);
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

/* Expect: another pool, and whoever owns its objects, is not concerned. */
static void other_pools_are_left_alone(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct zs_test_owner *other = zs_test_create(test, NR_ITEMS);
	unsigned long pages;

	zs_test_fragment(test, owner, 700);
	zs_test_fragment(test, other, 700);
	pages = zs_test_pages(other);
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(other), pages);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->locks), 0);
	zs_test_finish(test, other);
}

/* Expect: any sequence of operations survives passes in between. */
static void random_operations_survive_compaction(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 step, id, size;

	for (step = 1; step <= 20000; step++) {
		id = zs_test_random(owner, NR_ITEMS);
		size = 1 + zs_test_random(owner, PAGE_SIZE);
		if (zs_test_random(owner, 2))
			zs_test_drop(owner, id);
		else
			KUNIT_ASSERT_EQ(test, 0,
					zs_test_put(owner, id, size, step));
		if (step % 1000)
			continue;
		zs_pool_compact(owner->pool, NULL);
		KUNIT_EXPECT_EQ(test, zs_test_pages(owner),
				zs_test_min_pages(owner));
		KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
		KUNIT_EXPECT_EQ(test, zs_test_faults(owner->pool), 0U);
	}
}

/* A thread that keeps the first owner that compaction asks for waiting. */
static struct {
	struct completion wanted;
	struct completion held;
	u32 id;
	bool released;
} holder;

static int hold_lock(void *data)
{
	struct zs_test_owner *owner = data;
	struct zs_test_item *item;

	wait_for_completion(&holder.wanted);
	item = &owner->items[holder.id];
	raw_spin_lock(&item->lock);
	complete(&holder.held);
	mdelay(20);
	holder.released = true;
	raw_spin_unlock(&item->lock);
	return 0;
}

static void let_holder_lock(struct zs_test_owner *owner, u32 id)
{
	owner->before_lock = NULL;
	holder.id = id;
	complete(&holder.wanted);
	wait_for_completion(&holder.held);
}

/* Expect: compaction waits for a lock that is held, then moves the object. */
static void locked_owner_is_waited_for(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct task_struct *task;
	u64 *locs;

	zs_test_fragment(test, owner, 700);
	locs = copy_locs(test, owner);
	init_completion(&holder.wanted);
	init_completion(&holder.held);
	holder.released = false;
	task = kthread_run(hold_lock, owner, "zs_kunit_holder");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	owner->before_lock = let_holder_lock;
	zs_pool_compact(owner->pool, NULL);

	KUNIT_EXPECT_TRUE(test, holder.released);
	KUNIT_EXPECT_NE(test, owner->items[holder.id].loc, locs[holder.id]);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->refused), 0);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

/**
 * struct worker - a thread at work on a pool
 * @owner: the pool's owner
 * @task: the thread
 * @rnd: its random numbers
 * @steps: how much it did
 * @bad: objects without the right bytes, and operations that failed
 */
struct worker {
	struct zs_test_owner *owner;
	struct task_struct *task;
	struct rnd_state rnd;
	u32 steps;
	u32 bad;
};

/* So few items that threads meet, of so few classes that zspages are shared. */
static int use_objects(void *data)
{
	struct worker *worker = data;
	struct zs_test_owner *owner = worker->owner;

	while (!kthread_should_stop()) {
		u32 random = prandom_u32_state(&worker->rnd);
		u32 id = random % 256;
		u32 size = 1 + (random >> 8) % 8 * 500;

		worker->bad += !zs_test_intact(owner, id);
		if (random >> 30)
			worker->bad += !!zs_test_put(owner, id, size, random);
		else
			zs_test_drop(owner, id);
		worker->steps++;
		cond_resched();
	}
	return 0;
}

static int compact_again_and_again(void *data)
{
	struct worker *worker = data;

	while (!kthread_should_stop()) {
		zs_pool_compact(worker->owner->pool, NULL);
		worker->steps++;
		cond_resched();
	}
	return 0;
}

static void start(struct zs_test_owner *owner, struct worker *worker,
		  int (*work)(void *data))
{
	worker->owner = owner;
	prandom_seed_state(&worker->rnd, prandom_u32_state(&owner->rnd));
	worker->task = kthread_run(work, worker, "zs_kunit_worker");
}

static void stop(struct kunit *test, struct worker *worker)
{
	if (!IS_ERR(worker->task))
		kthread_stop(worker->task);
	KUNIT_EXPECT_FALSE(test, IS_ERR(worker->task));
	KUNIT_EXPECT_GT(test, worker->steps, 0U);
	KUNIT_EXPECT_EQ(test, worker->bad, 0U);
}

/* Expect: threads that allocate, read and free never see a wrong byte. */
static void threads_at_work_survive_compaction(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct worker *workers;
	u32 i;

	workers = kunit_kzalloc(test, 4 * sizeof(*workers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, workers);
	for (i = 0; i < 3; i++)
		start(owner, &workers[i], use_objects);
	start(owner, &workers[3], compact_again_and_again);
	msleep(2000);
	for (i = 0; i < 4; i++)
		stop(test, &workers[i]);
	KUNIT_EXPECT_GT(test, atomic_read(&owner->moves), 0);
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

/* Expect: passes that meet in one pool take turns. */
static void passes_of_two_threads_take_turns(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct worker *workers;
	u32 round;

	workers = kunit_kzalloc(test, 2 * sizeof(*workers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, workers);
	start(owner, &workers[0], compact_again_and_again);
	start(owner, &workers[1], compact_again_and_again);
	for (round = 0; round < 5; round++)
		zs_test_fragment(test, owner, 1 + zs_test_random(owner, 3000));
	msleep(100);
	stop(test, &workers[0]);
	stop(test, &workers[1]);
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

static struct kunit_case compact_cases[] = {
	KUNIT_CASE(empty_pool_has_nothing_to_free),
	KUNIT_CASE_PARAM(dense_pool_is_left_alone, zs_test_sizes_gen_params),
	KUNIT_CASE_PARAM(fragmented_pool_shrinks_to_the_minimum,
			 zs_test_sizes_gen_params),
	KUNIT_CASE_PARAM(second_compaction_frees_nothing,
			 zs_test_sizes_gen_params),
	KUNIT_CASE(mixed_sizes_shrink_to_the_minimum),
	KUNIT_CASE_PARAM(unused_room_is_freed, zs_test_sizes_gen_params),
	KUNIT_CASE(compaction_works_at_the_limit),
	KUNIT_CASE_PARAM(refused_objects_stay, zs_test_sizes_gen_params),
	KUNIT_CASE(unknown_owners_stay),
	KUNIT_CASE_PARAM(objects_in_flight_stay, zs_test_sizes_gen_params),
	KUNIT_CASE_PARAM(object_freed_meanwhile_is_passed_over,
			 zs_test_sizes_gen_params),
	KUNIT_CASE_PARAM(object_replaced_meanwhile_is_passed_over,
			 zs_test_sizes_gen_params),
	KUNIT_CASE_PARAM(moving_is_between_busy_zspages,
			 zs_test_sizes_gen_params),
	KUNIT_CASE_PARAM(stop_flag_prevents_a_pass, zs_test_sizes_gen_params),
	KUNIT_CASE(stop_flag_ends_waiting),
	KUNIT_CASE(stop_flag_ends_a_pass),
	KUNIT_CASE(other_pools_are_left_alone),
	KUNIT_CASE(random_operations_survive_compaction),
	KUNIT_CASE(locked_owner_is_waited_for),
	KUNIT_CASE(passes_of_two_threads_take_turns),
	KUNIT_CASE(threads_at_work_survive_compaction),
	{}
};

static struct kunit_suite compact_suite = {
	.name = "zs_compact",
	.init = compact_init,
	.exit = compact_exit,
	.test_cases = compact_cases,
};

kunit_test_suite(compact_suite);
