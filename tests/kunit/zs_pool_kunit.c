// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the allocator's pools: their growth, limits, statistics and end,
 * with memory and without.
 *
 * Each case starts with an empty pool and a table of items without objects,
 * and ends with a check of the pool's books and of every item's bytes.
 */
#include <kunit/test.h>
#include <linux/mm.h>

#include "zs_kunit.h"

#define NR_ITEMS	1024

static int pool_init(struct kunit *test)
{
	test->priv = zs_test_create(test, NR_ITEMS);
	return 0;
}

static void pool_exit(struct kunit *test)
{
	zs_test_finish(test, test->priv);
}

/* Expect: a new pool holds nothing. */
static void create_makes_an_empty_pool(struct kunit *test)
{
	struct zs_pool_stats stats = zs_test_stats(test->priv);

	KUNIT_EXPECT_EQ(test, stats.pages, 0UL);
	KUNIT_EXPECT_EQ(test, stats.max_pages, 0UL);
	KUNIT_EXPECT_EQ(test, stats.compacted, 0UL);
}

/* Expect: pages and their maximum are exact, through growth and freeing. */
static void stats_count_every_page(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct zs_pool_stats stats;
	unsigned long max;
	u32 id;

	for (id = 0; id < 500; id++) {
		u32 size = zs_test_sizes[id % ARRAY_SIZE(zs_test_sizes)];

		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, id));
		stats = zs_test_stats(owner);
		KUNIT_EXPECT_EQ(test, stats.pages, zs_test_min_pages(owner));
		KUNIT_EXPECT_EQ(test, stats.max_pages, stats.pages);
	}
	max = stats.pages;
	for (id = 0; id < 400; id++)
		zs_test_drop(owner, id);
	stats = zs_test_stats(owner);
	KUNIT_EXPECT_LT(test, stats.pages, max);
	KUNIT_EXPECT_EQ(test, stats.max_pages, max);
	zs_pool_reset_max(owner->pool);
	KUNIT_EXPECT_EQ(test, zs_test_stats(owner).max_pages, stats.pages);
}

/* Expect: growth up to the very limit, then -ENOSPC with nothing changed. */
static void limit_is_exact(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test), i;
	unsigned long chain = zs_test_shape(size)->chain;

	zs_pool_set_limit(owner->pool, 3 * chain);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, 0,
				zs_pool_grow(owner->pool, size, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			zs_pool_grow(owner->pool, size, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 3 * chain);
	KUNIT_EXPECT_EQ(test, zs_test_stats(owner).max_pages, 3 * chain);

	zs_pool_set_limit(owner->pool, 4 * chain - 1);
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			zs_pool_grow(owner->pool, size, GFP_KERNEL));
	zs_pool_set_limit(owner->pool, 4 * chain);
	KUNIT_EXPECT_EQ(test, 0, zs_pool_grow(owner->pool, size, GFP_KERNEL));
}

/* Expect: a limit below use takes nothing away; 0 lifts it. */
static void limit_below_use_refuses_growth_only(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned long pages;
	u32 id;

	for (id = 0; id < 100; id++)
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, 1500, id));
	pages = zs_test_pages(owner);
	zs_pool_set_limit(owner->pool, pages / 2);
	KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
	KUNIT_EXPECT_EQ(test, -ENOSPC, zs_test_put(owner, 0, 3000, 5));
	KUNIT_EXPECT_TRUE(test, zs_test_intact(owner, 0));
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), pages);
	zs_test_drop(owner, 1);
	KUNIT_EXPECT_EQ(test, 0, zs_test_put(owner, 1, 1500, 1));
	zs_pool_set_limit(owner->pool, 0);
	KUNIT_EXPECT_EQ(test, 0, zs_test_put(owner, 0, 3000, 5));
}

/* Take what memory there is, without reclaim, largest pieces first. */
static void hog_memory(struct list_head *hog)
{
	struct page *page;
	int order;

	for (order = 8; order >= 0; order--) {
		while ((page = alloc_pages(GFP_NOWAIT | __GFP_NOWARN, order))) {
			set_page_private(page, order);
			list_add(&page->lru, hog);
		}
	}
}

static void release_memory(struct list_head *hog, u32 pieces)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, hog, lru) {
		unsigned int order = page_private(page);

		if (!pieces--)
			break;
		list_del(&page->lru);
		set_page_private(page, 0);
		__free_pages(page, order);
	}
}

/* Expect: without memory for all of a zspage -ENOMEM, and nothing is kept. */
static void grow_without_memory_fails(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 spare, tries, grown = 0, failed = 0;
	struct zs_pool_stats stats;
	LIST_HEAD(hog);

	hog_memory(&hog);
	for (spare = 0; spare < ZS_MAX_CHAIN; spare++) {
		release_memory(&hog, spare);
		for (tries = 0; tries < 10000; tries++) {
			int err = zs_pool_grow(owner->pool, 3600, GFP_NOWAIT);

			grown += !err;
			failed += err == -ENOMEM;
			if (err)
				break;
		}
	}
	release_memory(&hog, U32_MAX);
	stats = zs_test_stats(owner);
	KUNIT_EXPECT_GT(test, failed, 0U);
	/* The shrinker and migration take away room that was never used. */
	KUNIT_EXPECT_LE(test, stats.pages + stats.compacted,
			(unsigned long)grown * zs_test_shape(3600)->chain);
}

/* How many items' locations are in pages that somebody holds. */
static u32 held(struct zs_test_owner *owner)
{
	u32 id, nr = 0;

	for (id = 0; id < NR_ITEMS; id++)
		nr += page_count(zs_loc_page(owner->items[id].loc)) > 0;
	return nr;
}

/* Expect: destroying a pool gives its pages back, objects or not. */
static void destroy_frees_live_objects(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 id;

	for (id = 0; id < NR_ITEMS; id++) {
		u32 size = 1 + zs_test_random(owner, PAGE_SIZE);

		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, id));
	}
	KUNIT_EXPECT_EQ(test, held(owner), (u32)NR_ITEMS);
	zs_pool_destroy(owner->pool);
	owner->pool = NULL;
	/* Others may have taken some by now. */
	KUNIT_EXPECT_LT(test, held(owner), (u32)NR_ITEMS / 4);
}

static struct kunit_case pool_cases[] = {
	KUNIT_CASE(create_makes_an_empty_pool),
	KUNIT_CASE(stats_count_every_page),
	KUNIT_CASE_PARAM(limit_is_exact, zs_test_sizes_gen_params),
	KUNIT_CASE(limit_below_use_refuses_growth_only),
	KUNIT_CASE(grow_without_memory_fails),
	KUNIT_CASE(destroy_frees_live_objects),
	{}
};

static struct kunit_suite pool_suite = {
	.name = "zs_pool",
	.init = pool_init,
	.exit = pool_exit,
	.test_cases = pool_cases,
};

kunit_test_suite(pool_suite);
