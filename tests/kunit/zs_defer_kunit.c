// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of objects that are freed later: that they are, by whom, and that they
 * are in nobody's way until then.
 *
 * Each case starts with an empty pool and ends with a check of the pool's
 * books and of every item's bytes.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/preempt.h>

#include "../../zs_compact.h"
#include "zs_kunit.h"

#define NR_ITEMS	(4 * ZS_DEFER_MAX)

static int defer_init(struct kunit *test)
{
	test->priv = zs_test_create(test, NR_ITEMS);
	return 0;
}

static void defer_exit(struct kunit *test)
{
	zs_test_finish(test, test->priv);
}

static void defer_items(struct zs_test_owner *owner, u32 from, u32 to)
{
	while (from < to)
		zs_test_drop_later(owner, from++);
}

/* Objects in use, as the pool has it, with those that wait. */
static unsigned long in_use(struct zs_pool *pool)
{
	unsigned long used = 0;
	unsigned int class;

	zs_lock(pool);
	for (class = 0; class < zs_classes.nr; class++)
		used += pool->classes[class].used;
	zs_unlock(pool);
	return used;
}

/* Does the pool get empty by itself within a second or two? */
static bool drains(struct zs_pool *pool)
{
	unsigned int i;

	for (i = 0; i < 100 && READ_ONCE(pool->pages); i++)
		msleep(20);
	return !READ_ONCE(pool->pages);
}

/* Expect: what waits is freed when somebody asks for it; all else stays. */
static void flush_frees_what_waits(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test);

	zs_test_fill(test, owner, size);
	defer_items(owner, 0, NR_ITEMS / 2);
	zs_pool_flush(owner->pool);
	KUNIT_EXPECT_EQ(test, in_use(owner->pool), NR_ITEMS / 2UL);
	KUNIT_EXPECT_FALSE(test, zs_pool_flush(owner->pool));
	defer_items(owner, NR_ITEMS / 2, NR_ITEMS);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
}

/* Expect: a few objects are freed even if nothing ever happens again. */
static void few_do_not_wait_for_others(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 n;

	for (n = 1; n < 4; n++) {
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 0, 3000, 0));
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, n, PAGE_SIZE, 0));
		defer_items(owner, 0, n + 1);
		KUNIT_EXPECT_TRUE(test, drains(owner->pool));
	}
}

/* Expect: many are freed, too, without anybody's asking. */
static void many_are_freed_in_the_background(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	zs_test_fill(test, owner, 700);
	defer_items(owner, 0, NR_ITEMS);
	KUNIT_EXPECT_TRUE(test, drains(owner->pool));
}

/* Expect: where no worker gets the CPU, so much waits and no more. */
static void full_list_takes_no_more(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned long used;

	zs_test_fill(test, owner, 48);
	/* All of them go to one list. */
	preempt_disable();
	defer_items(owner, 0, NR_ITEMS);
	used = in_use(owner->pool);
	preempt_enable();
	KUNIT_EXPECT_LE(test, used, (unsigned long)ZS_DEFER_MAX);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
}

/* Expect: compaction is not kept from packing by what waits. */
static void compaction_frees_what_waits(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 id;

	zs_test_fill(test, owner, 700);
	/* So few that nobody frees them by himself. */
	for (id = ZS_DEFER_MAX / 4; id < NR_ITEMS; id++)
		zs_test_drop(owner, id);
	for (id = 0; id < ZS_DEFER_MAX / 4; id++)
		if (id % 8)
			zs_test_drop_later(owner, id);
	zs_pool_compact(owner->pool, NULL);
	KUNIT_EXPECT_EQ(test, READ_ONCE(owner->pool->pages),
			zs_test_min_pages(owner));
}

/* Expect: a pool can go at any time; what waits goes with it. */
static void pool_goes_with_what_waits(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 round, id;

	for (round = 0; round < 20; round++) {
		zs_test_fill(test, owner, 700);
		defer_items(owner, 0, zs_test_random(owner, NR_ITEMS));
		zs_pool_destroy(owner->pool);
		for (id = 0; id < NR_ITEMS; id++)
			owner->items[id].loc = ZS_LOC_NONE;
		owner->pool = zs_pool_create(&zs_test_ops, owner);
		KUNIT_ASSERT_NOT_NULL(test, owner->pool);
	}
	/* Whoever still came for the old ones would come by then. */
	msleep(200);
}

/* Expect: what is no object is refused when its time has come. */
static void what_is_no_object_is_refused(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	LIST_HEAD(emptied);
	u64 loc;

	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 0, 700, 0));
	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 1, 700, 0));
	loc = owner->items[1].loc;
	zs_test_drop_later(owner, 1);
	preempt_disable();
	zs_obj_free_later(owner->pool, loc, &emptied);
	zs_obj_free_later(owner->pool, ~0ULL, &emptied);
	zs_obj_free_later(owner->pool, 0x5a5a5a5a5a5a5a5aULL, &emptied);
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, zs_pool_flush(owner->pool));
	KUNIT_EXPECT_EQ(test, in_use(owner->pool), 1UL);
	KUNIT_EXPECT_TRUE(test, list_empty(&emptied));
}

/**
 * struct filler - a thread that fills a part of the items and frees them later
 * @owner: whose
 * @from: its first item
 * @to: the one behind its last
 * @bad: what failed
 */
struct filler {
	struct zs_test_owner *owner;
	u32 from;
	u32 to;
	u32 bad;
};

static int fill_and_free(void *data)
{
	struct filler *filler = data;
	u32 round = 0, id;

	while (!kthread_should_stop()) {
		round++;
		for (id = filler->from; id < filler->to; id++)
			filler->bad += !!zs_test_put(filler->owner, id,
						     1 + id % PAGE_SIZE, round);
		for (id = filler->from; id < filler->to; id++)
			filler->bad += !zs_test_intact(filler->owner, id);
		defer_items(filler->owner, filler->from, filler->to);
		cond_resched();
	}
	return 0;
}

/* Expect: lists that are filled and emptied by several at once lose nothing. */
static void threads_free_side_by_side(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct filler filler[3];
	struct task_struct *task[3];
	u32 i;

	for (i = 0; i < 3; i++) {
		filler[i] = (struct filler){
			.owner = owner,
			.from = i * (NR_ITEMS / 3),
			.to = (i + 1) * (NR_ITEMS / 3),
		};
		task[i] = kthread_run(fill_and_free, &filler[i], "zs_filler");
		KUNIT_EXPECT_FALSE(test, IS_ERR(task[i]));
	}
	for (i = 0; i < 25; i++) {
		zs_pool_flush(owner->pool);
		zs_pool_compact(owner->pool, NULL);
		msleep(20);
	}
	for (i = 0; i < 3; i++) {
		if (!IS_ERR(task[i]))
			kthread_stop(task[i]);
		KUNIT_EXPECT_EQ(test, filler[i].bad, 0U);
	}
	defer_items(owner, 0, NR_ITEMS);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
}

static struct kunit_case defer_cases[] = {
	KUNIT_CASE_PARAM(flush_frees_what_waits, zs_test_sizes_gen_params),
	KUNIT_CASE(few_do_not_wait_for_others),
	KUNIT_CASE(many_are_freed_in_the_background),
	KUNIT_CASE(full_list_takes_no_more),
	KUNIT_CASE(compaction_frees_what_waits),
	KUNIT_CASE(pool_goes_with_what_waits),
	KUNIT_CASE(what_is_no_object_is_refused),
	KUNIT_CASE(threads_free_side_by_side),
	{}
};

static struct kunit_suite defer_suite = {
	.name = "zs_defer",
	.init = defer_init,
	.exit = defer_exit,
	.test_cases = defer_cases,
};

kunit_test_suite(defer_suite);
