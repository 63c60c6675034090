// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of compaction that begins by itself: when it does, and when not.
 *
 * Each case starts with an empty pool and ends with a check of the pool's
 * books and of every item's bytes.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/mm.h>

#include "../../zs_compact.h"
#include "zs_kunit.h"

#define NR_ITEMS	1024

static int background_init(struct kunit *test)
{
	test->priv = zs_test_create(test, NR_ITEMS);
	return 0;
}

static void background_exit(struct kunit *test)
{
	zs_test_finish(test, test->priv);
}

/* Give whatever has no object a large one, and wait for what that started. */
static void refill(struct kunit *test, struct zs_test_owner *owner)
{
	u32 id;

	for (id = 0; id < NR_ITEMS; id++)
		if (owner->items[id].loc == ZS_LOC_NONE)
			KUNIT_ASSERT_EQ(test, 0,
					zs_test_put(owner, id, PAGE_SIZE, id));
	flush_work(&owner->pool->background);
}

/* Expect: growth makes an end of what lies unused; nothing is lost. */
static void growth_compacts_what_is_sparse(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned long freeable;

	zs_test_fragment(test, owner, 3000);
	freeable = zs_pool_freeable(owner->pool);
	KUNIT_ASSERT_GT(test, freeable, 200UL);
	refill(test, owner);
	KUNIT_EXPECT_LT(test, zs_pool_freeable(owner->pool), freeable / 2);
	KUNIT_EXPECT_GT(test, atomic_read(&owner->moves), 0);
	KUNIT_EXPECT_GT(test, zs_test_stats(owner).compacted, freeable / 2);
}

/* Expect: a small part that could be won is not worth it. */
static void growth_leaves_a_dense_pool_alone(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned long pages;
	u32 id;

	zs_test_fill(test, owner, 3000);
	for (id = 0; id < NR_ITEMS; id += 8)
		zs_test_drop(owner, id);
	KUNIT_ASSERT_GT(test, zs_pool_freeable(owner->pool), 50UL);
	pages = zs_test_pages(owner);
	refill(test, owner);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), pages + NR_ITEMS / 8);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->moves), 0);
}

/* Expect: a pool that only loses objects is not compacted by itself. */
static void nothing_is_compacted_without_growth(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned long freeable;

	zs_test_fragment(test, owner, zs_test_param(test));
	freeable = zs_pool_freeable(owner->pool);
	flush_work(&owner->pool->background);
	KUNIT_EXPECT_EQ(test, zs_pool_freeable(owner->pool), freeable);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->moves), 0);
}

/* Expect: a pool can go while it is being compacted. */
static void pool_goes_during_compaction(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 round, id;

	for (round = 0; round < 20; round++) {
		zs_test_fragment(test, owner, 3000);
		zs_compact_background(owner->pool);
		udelay(zs_test_random(owner, 500));
		zs_pool_destroy(owner->pool);
		for (id = 0; id < NR_ITEMS; id++)
			owner->items[id].loc = ZS_LOC_NONE;
		owner->pool = zs_pool_create(&zs_test_ops, owner);
		KUNIT_ASSERT_NOT_NULL(test, owner->pool);
	}
	KUNIT_EXPECT_GT(test, atomic_read(&owner->moves), 0);
}

static struct kunit_case background_cases[] = {
	KUNIT_CASE(growth_compacts_what_is_sparse),
	KUNIT_CASE(growth_leaves_a_dense_pool_alone),
	KUNIT_CASE_PARAM(nothing_is_compacted_without_growth,
			 zs_test_sizes_gen_params),
	KUNIT_CASE(pool_goes_during_compaction),
	{}
};

static struct kunit_suite background_suite = {
	.name = "zs_background",
	.init = background_init,
	.exit = background_exit,
	.test_cases = background_cases,
};

kunit_test_suite(background_suite);
