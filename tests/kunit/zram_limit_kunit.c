// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of a device at its memory limit: what fails, what goes on working, and
 * what room is found before a write is refused.
 */
#include "../../zs_internal.h"
#include "zram_kunit.h"

#define NR_PAGES	64

static int limit_init(struct kunit *test)
{
	test->priv = zram_test_create(test, zcomp_backend_default(), NR_PAGES);
	return 0;
}

static void limit_exit(struct kunit *test)
{
	zram_test_finish(test, test->priv);
}

/* Write pages of @kind until one fails. Returns its number. */
static u32 write_until_full(struct zram_test *t, enum zram_test_kind kind,
			    int *ret)
{
	u32 i;

	for (i = 0; i < NR_PAGES; i++) {
		*ret = zram_test_write(t, i, 1000 * ZRAM_TEST_NR_KINDS + kind);
		if (*ret)
			break;
	}
	return i;
}

/* Expect: at the limit writes fail and are counted; nothing else changes. */
static void limit_fails_writes(struct kunit *test)
{
	static const enum zram_test_kind kinds[] = {
		ZRAM_TEST_TEXT, ZRAM_TEST_RANDOM,
	};
	struct zram_test *t = test->priv;
	u32 i, full;
	int ret;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		zs_pool_set_limit(t->state->pool, 8);
		full = write_until_full(t, kinds[i], &ret);
		KUNIT_ASSERT_GT(test, full, 0U);
		KUNIT_ASSERT_LT(test, full, (u32)NR_PAGES);
		KUNIT_EXPECT_TRUE(test, ret == -ENOSPC || ret == -EDQUOT);
		KUNIT_EXPECT_LE(test, zram_test_pool_pages(t->state), 8UL);
		KUNIT_EXPECT_EQ(test, (s64)i + 1,
				zram_test_sum(t->state, ZRAM_FAILED_WRITES));
		KUNIT_EXPECT_TRUE(test, zram_test_reads(t, full, 0));
		KUNIT_EXPECT_TRUE(test, zram_test_reads(t, full - 1, 4000 +
							kinds[i]));
		zram_test_check_books(test, t->state);
		zs_pool_set_limit(t->state->pool, 0);
		KUNIT_EXPECT_EQ(test, 0, zram_test_write(t, full, kinds[i]));
		do
			zram_slot_free(t->state, full);
		while (full--);
		zs_pool_compact(t->state->pool, NULL);
	}
}

/* Expect: what was in the page stays in it, all of it. */
static void failed_overwrite_keeps_the_old_page(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u8 *noise = zram_test_page(test);
	u32 kind, to;

	prandom_bytes_state(&t->rnd, noise, PAGE_SIZE);
	for (kind = 0; kind < ZRAM_TEST_NR_KINDS; kind++)
		KUNIT_ASSERT_EQ(test, zram_test_write(t, kind, kind), 0);
	zs_pool_set_limit(t->state->pool, 1);
	for (kind = 0; kind < ZRAM_TEST_NR_KINDS; kind++) {
		/* That one's object has the room already. */
		if (kind == ZRAM_TEST_RANDOM)
			continue;
		to = 2000 * ZRAM_TEST_NR_KINDS + ZRAM_TEST_RANDOM;
		KUNIT_EXPECT_LT(test, zram_test_write(t, kind, to), 0);
		KUNIT_EXPECT_TRUE(test, zram_test_reads(t, kind, kind));
		KUNIT_EXPECT_LT(test, zram_write_partial(t->state, kind, 9,
							 4000, noise), 0);
		KUNIT_EXPECT_TRUE(test, zram_test_reads(t, kind, kind));
	}
	zram_test_check_books(test, t->state);
}

/* Expect: at the limit, whatever needs no memory goes on working. */
static void limit_lets_pages_shrink(struct kunit *test)
{
	struct zram_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, zram_test_write(t, 0, ZRAM_TEST_RANDOM), 0);
	zs_pool_set_limit(t->state->pool, 1);
	KUNIT_EXPECT_LT(test, zram_test_write(t, 1, ZRAM_TEST_RANDOM), 0);
	KUNIT_EXPECT_EQ(test, zram_test_write(t, 0, ZRAM_TEST_SAME + 4), 0);
	KUNIT_EXPECT_EQ(test, zram_test_pool_pages(t->state), 0UL);
	KUNIT_EXPECT_EQ(test, zram_test_write(t, 1, ZRAM_TEST_RANDOM), 0);
	KUNIT_EXPECT_TRUE(test, zram_test_reads(t, 1, ZRAM_TEST_RANDOM));
}

/* Expect: at the limit, room that compaction can win is used. */
static void limit_makes_room_by_compaction(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 noise = 28 + ZRAM_TEST_RANDOM, tag = ZRAM_TEST_TEXT, i;

	/* One size, of which few go into a zspage. */
	do {
		tag += ZRAM_TEST_NR_KINDS;
		KUNIT_ASSERT_EQ(test, 0, zram_test_write(t, 0, tag));
	} while (zram_word_size(zram_slot_peek(t->state, 0)) < PAGE_SIZE / 3);
	for (i = 0; i < NR_PAGES - 1; i++)
		KUNIT_ASSERT_EQ(test, 0, zram_test_write(t, i, tag));
	for (i = 0; i < NR_PAGES - 1; i++)
		if (i % 4)
			zram_slot_free(t->state, i);
	zs_pool_set_limit(t->state->pool, zram_test_pool_pages(t->state));
	KUNIT_ASSERT_GT(test, zs_pool_freeable(t->state->pool), 1UL);
	KUNIT_EXPECT_EQ(test, zram_test_write(t, NR_PAGES - 1, noise), 0);
	KUNIT_EXPECT_TRUE(test, zram_test_reads(t, NR_PAGES - 1, noise));
	for (i = 0; i < NR_PAGES - 1; i += 4)
		KUNIT_EXPECT_TRUE(test, zram_test_reads(t, i, tag));
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 0);
}

/* Expect: at the limit, what was freed a moment ago is room again. */
static void limit_uses_what_was_just_freed(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 i, round, tag;

	for (i = 0; i < NR_PAGES / 2; i++)
		KUNIT_ASSERT_EQ(test, 0,
				zram_test_write(t, i, ZRAM_TEST_RANDOM));
	zs_pool_set_limit(t->state->pool, NR_PAGES / 2);
	for (round = 1; round < 50; round++) {
		tag = round * ZRAM_TEST_NR_KINDS + ZRAM_TEST_RANDOM;
		for (i = 0; i < NR_PAGES / 2; i++)
			zram_slot_free(t->state, i);
		for (i = 0; i < NR_PAGES / 2; i++)
			KUNIT_EXPECT_EQ(test, 0, zram_test_write(t, i, tag));
	}
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 0);
}

/**
 * struct put_back - a zspage that is being moved, for a while
 * @work: puts it back
 * @pool: whose it is
 * @zspage: the zspage, busy
 */
struct put_back {
	struct delayed_work work;
	struct zs_pool *pool;
	struct zspage *zspage;
};

static void put_back(struct work_struct *work)
{
	struct put_back *p = container_of(work, struct put_back, work.work);
	LIST_HEAD(emptied);

	zs_lock(p->pool);
	zs_clear_busy(p->pool, p->zspage, &emptied);
	zs_unlock(p->pool);
	zs_free_emptied(&emptied);
}

/* As page migration does, until the work that is due in a while. */
static void take_off(struct put_back *p, struct zram_state *state, u32 index)
{
	struct zs_place place;

	p->pool = state->pool;
	zs_lock(p->pool);
	WARN_ON(!zs_locate(p->pool, state->slots[index].loc, &place));
	p->zspage = place.zspage;
	zs_set_busy(p->pool, p->zspage);
	zs_unlock(p->pool);
	INIT_DELAYED_WORK_ONSTACK(&p->work, put_back);
	schedule_delayed_work(&p->work, HZ / 10);
}

/* Expect: at the limit, room in a zspage that is being moved is waited for. */
static void limit_waits_for_room_being_moved(struct kunit *test)
{
	struct zram_test *t = test->priv;
	struct put_back p;

	KUNIT_ASSERT_EQ(test, 0, zram_test_write(t, 0, ZRAM_TEST_TEXT));
	zs_pool_set_limit(t->state->pool, zram_test_pool_pages(t->state));
	take_off(&p, t->state, 0);
	KUNIT_EXPECT_EQ(test, 0, zram_test_write(t, 1, ZRAM_TEST_TEXT));
	flush_delayed_work(&p.work);
	destroy_delayed_work_on_stack(&p.work);
	KUNIT_EXPECT_TRUE(test, zram_test_reads(t, 1, ZRAM_TEST_TEXT));
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 0);
}

/* Expect: at the limit, new contents of the old size go where the old were. */
static void limit_lets_pages_of_a_size_change(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 to = ZRAM_TEST_NR_KINDS + ZRAM_TEST_RANDOM;

	KUNIT_ASSERT_EQ(test, zram_test_write(t, 0, ZRAM_TEST_RANDOM), 0);
	zs_pool_set_limit(t->state->pool, 1);
	KUNIT_EXPECT_EQ(test, zram_test_write(t, 0, to), 0);
	KUNIT_EXPECT_TRUE(test, zram_test_reads(t, 0, to));
	KUNIT_EXPECT_EQ(test, zram_test_pool_pages(t->state), 1UL);
}

static struct kunit_case limit_cases[] = {
	KUNIT_CASE(limit_fails_writes),
	KUNIT_CASE(failed_overwrite_keeps_the_old_page),
	KUNIT_CASE(limit_lets_pages_shrink),
	KUNIT_CASE(limit_lets_pages_of_a_size_change),
	KUNIT_CASE(limit_makes_room_by_compaction),
	KUNIT_CASE(limit_uses_what_was_just_freed),
	KUNIT_CASE(limit_waits_for_room_being_moved),
	{}
};

static struct kunit_suite limit_suite = {
	.name = "zram_limit",
	.init = limit_init,
	.exit = limit_exit,
	.test_cases = limit_cases,
};

kunit_test_suite(limit_suite);
