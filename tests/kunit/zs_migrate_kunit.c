// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of page migration: what is in one page moves to another, and nobody who
 * holds a location or an owner's lock notices.
 *
 * The cases play the kernel's compaction: they hold a reference to the page and
 * both page locks, and call zs_page_migrate(). Each ends with a check of the
 * pool's books and of every item's bytes.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/pagemap.h>

#include "../../zs_compact.h"
#include "../../zs_migrate.h"
#include "zs_kunit.h"

#define NR_ITEMS	256

static int migrate_init(struct kunit *test)
{
	test->priv = zs_test_create(test, NR_ITEMS);
	return 0;
}

static void migrate_exit(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;

	if (!owner)
		return;
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->wrong_moves), 0);
	zs_test_finish(test, owner);
}

/* A page that the pool holds, with a reference of our own; or NULL. */
static struct page *get_page_of(struct zs_test_owner *owner, u32 id)
{
	struct zs_test_item *item = &owner->items[id];
	struct page *page = NULL;

	raw_spin_lock(&item->lock);
	if (item->loc != ZS_LOC_NONE) {
		page = zs_loc_page(item->loc);
		get_page(page);
	}
	raw_spin_unlock(&item->lock);
	return page;
}

/* As the kernel's compaction does. @dst is kept by the pool on success. */
static int migrate(struct page *dst, struct page *src)
{
	int ret;

	lock_page(src);
	lock_page(dst);
	ret = zs_page_migrate(dst, src, MIGRATE_SYNC);
	unlock_page(dst);
	unlock_page(src);
	return ret;
}

/* Move the page that the item's object begins in. */
static int migrate_item(struct kunit *test, struct zs_test_owner *owner, u32 id)
{
	struct page *src = get_page_of(owner, id);
	struct page *dst = alloc_page(GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, dst);
	KUNIT_ASSERT_NOT_NULL(test, src);
	ret = migrate(dst, src);
	put_page(dst);
	put_page(src);
	return ret;
}

/* Whatever the size, every page of a pool can be moved, and all bytes stay. */
static void objects_survive_moves(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned long pages;
	u32 id;

	zs_test_fill(test, owner, zs_test_param(test));
	pages = zs_test_pages(owner);
	for (id = 0; id < NR_ITEMS; id++) {
		u64 before = owner->items[id].loc;

		KUNIT_ASSERT_EQ(test, migrate_item(test, owner, id), 0);
		KUNIT_EXPECT_NE(test, owner->items[id].loc, before);
		KUNIT_ASSERT_EQ(test, zs_test_damaged(owner), 0U);
	}
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), pages);
}

/* The new page takes the old one's place in the chain, and the old is free. */
static void new_page_takes_the_place(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct page *src, *dst = alloc_page(GFP_KERNEL);
	struct zspage *zspage;
	unsigned int place;

	KUNIT_ASSERT_NOT_NULL(test, dst);
	zs_test_fill(test, owner, 2100);
	src = get_page_of(owner, NR_ITEMS / 2);
	zspage = zs_page_zspage(src);
	place = zs_page_place(src);

	KUNIT_EXPECT_EQ(test, migrate(dst, src), 0);
	KUNIT_EXPECT_PTR_EQ(test, zs_pages(zspage)[place], dst);
	KUNIT_EXPECT_PTR_EQ(test, zs_page_zspage(dst), zspage);
	KUNIT_EXPECT_EQ(test, zs_page_place(dst), place);
	KUNIT_EXPECT_EQ(test, page_private(src), 0UL);
	KUNIT_EXPECT_EQ(test, page_count(src), 1);
	KUNIT_EXPECT_EQ(test, page_count(dst), 2);
	put_page(src);
	put_page(dst);
}

/* An object in flight has no owner to be locked: its page stays. */
static void page_with_object_in_flight_stays(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct page *src, *dst = alloc_page(GFP_KERNEL);
	LIST_HEAD(emptied);
	u64 loc;

	KUNIT_ASSERT_NOT_NULL(test, dst);
	KUNIT_ASSERT_EQ(test, zs_pool_grow(owner->pool, 700, GFP_KERNEL), 0);
	KUNIT_ASSERT_EQ(test, zs_test_replace(owner->pool, ZS_LOC_NONE, 700,
					      ZS_OWNER_NONE, &loc, &emptied), 0);
	src = zs_loc_page(loc);
	get_page(src);
	KUNIT_EXPECT_EQ(test, migrate(dst, src), -EAGAIN);
	KUNIT_EXPECT_PTR_EQ(test, zs_loc_page(loc), src);
	KUNIT_EXPECT_EQ(test, page_count(dst), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->locks), 0);
	zs_test_free(owner->pool, loc, &emptied);
	zs_free_emptied(&emptied);
	put_page(src);
	put_page(dst);
}

/* One that waits to be freed is freed then, and is in nobody's way. */
static void page_with_object_that_waits_moves(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 id;

	for (id = 0; id < 5; id++)
		KUNIT_ASSERT_EQ(test, zs_test_put(owner, id, 700, id), 0);
	zs_test_drop_later(owner, 1);
	KUNIT_EXPECT_EQ(test, migrate_item(test, owner, 0), 0);
	KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
	/* Now one that only reaches into the page that moves. */
	zs_test_drop_later(owner, 4);
	for (id = 6; id < 12; id++)
		KUNIT_ASSERT_EQ(test, zs_test_put(owner, id, 700, id), 0);
	KUNIT_EXPECT_EQ(test, migrate_item(test, owner, 11), 0);
	zs_test_drop_later(owner, 11);
	KUNIT_EXPECT_EQ(test, migrate_item(test, owner, 10), 0);
}

static void give_up_first(struct zs_test_owner *owner, u32 id)
{
	if (id == 4)
		zs_test_drop_later(owner, 0);
}

/* So is one that its owner gives up when it has just been moved. */
static void object_given_up_in_the_new_page_is_freed(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 id, round;

	for (round = 0; round < 4; round++) {
		for (id = 0; id < 5; id++)
			KUNIT_ASSERT_EQ(test, 0,
					zs_test_put(owner, id, 700, id));
		zs_test_drop_later(owner, 4);
		owner->before_lock = give_up_first;
		KUNIT_EXPECT_EQ(test, migrate_item(test, owner, 1), 0);
		owner->before_lock = NULL;
		KUNIT_EXPECT_EQ(test, zs_test_faults(owner->pool), 0U);
		KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
		for (id = 1; id < 4; id++)
			zs_test_drop(owner, id);
		KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
	}
}

/* Long enough for whoever destroys the pool to be waiting for us. */
static void take_a_while(struct zs_test_owner *owner, u32 id)
{
	owner->before_lock = NULL;
	complete(owner->asked);
	msleep(200);
}

static int migrate_first(void *data)
{
	struct zs_test_owner *owner = data;
	struct page *dst = alloc_page(GFP_KERNEL);
	struct page *src = get_page_of(owner, 0);
	int ret = dst && src ? migrate(dst, src) : -ENOMEM;

	if (src)
		put_page(src);
	if (dst)
		put_page(dst);
	return ret;
}

/* A pool that goes waits for a page that moves, also with objects that wait. */
static void pool_goes_during_a_move(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	DECLARE_COMPLETION_ONSTACK(asked);
	struct task_struct *task;
	u32 id;

	for (id = 0; id < 5; id++)
		KUNIT_ASSERT_EQ(test, zs_test_put(owner, id, 700, id), 0);
	zs_test_drop_later(owner, 3);
	owner->asked = &asked;
	owner->before_lock = take_a_while;
	task = kthread_create(migrate_first, owner, "zs_migrate");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&asked);
	zs_pool_destroy(owner->pool);
	KUNIT_EXPECT_EQ(test, kthread_stop(task), 0);
	put_task_struct(task);
	for (id = 0; id < 5; id++)
		owner->items[id].loc = ZS_LOC_NONE;
	owner->pool = zs_pool_create(&zs_test_ops, owner);
}

/* So does the page that an object in flight only reaches into. */
static void tail_of_object_in_flight_stays(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct page *second, *dst = alloc_page(GFP_KERNEL);
	u64 loc[2];
	LIST_HEAD(emptied);
	int i;

	KUNIT_ASSERT_NOT_NULL(test, dst);
	KUNIT_ASSERT_EQ(test, zs_pool_grow(owner->pool, 2720, GFP_KERNEL), 0);
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, zs_test_replace(owner->pool, ZS_LOC_NONE,
						      2720, ZS_OWNER_NONE,
						      &loc[i], &emptied), 0);
	/* The second begins in the first page and ends in the next. */
	KUNIT_ASSERT_PTR_EQ(test, zs_loc_page(loc[1]), zs_loc_page(loc[0]));
	zs_test_free(owner->pool, loc[0], &emptied);
	second = zs_pages(zs_page_zspage(zs_loc_page(loc[1])))[1];
	get_page(second);
	KUNIT_EXPECT_EQ(test, migrate(dst, second), -EAGAIN);
	put_page(second);
	zs_test_free(owner->pool, loc[1], &emptied);
	zs_free_emptied(&emptied);
	put_page(dst);
}

/* Who made a zspage busy has it for himself. */
static void page_of_busy_zspage_stays(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct zspage *zspage;
	LIST_HEAD(emptied);
	struct page *page;

	zs_test_fill(test, owner, 700);
	page = get_page_of(owner, 0);
	zspage = zs_page_zspage(page);
	zs_lock(owner->pool);
	zs_set_busy(owner->pool, zspage);
	zs_unlock(owner->pool);
	KUNIT_EXPECT_EQ(test, migrate_item(test, owner, 0), -EAGAIN);
	zs_lock(owner->pool);
	zs_clear_busy(owner->pool, zspage, &emptied);
	zs_unlock(owner->pool);
	put_page(page);
}

/*
 * A new zspage can be found before it is part of its pool: it stays as it is,
 * and the pool's books know nothing of it.
 */
static void page_of_new_zspage_stays(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned int class = zs_class_of(&zs_classes, 700);
	struct page *dst = alloc_page(GFP_KERNEL);
	struct zspage *zspage;
	struct page *src;

	KUNIT_ASSERT_NOT_NULL(test, dst);
	zspage = zs_zspage_alloc(owner->pool, class, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, zspage);
	src = zs_pages(zspage)[0];
	get_page(src);
	KUNIT_EXPECT_EQ(test, migrate(dst, src), -EAGAIN);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
	KUNIT_EXPECT_PTR_EQ(test, zs_page_zspage(src), zspage);
	zs_zspage_free(zspage);
	put_page(src);
	put_page(dst);
}

/* A page freed since it was isolated is nobody's: nothing is done. */
static void page_of_nobody_is_left_alone(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct page *src, *dst = alloc_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dst);
	KUNIT_ASSERT_EQ(test, zs_test_put(owner, 0, PAGE_SIZE, 0), 0);
	src = get_page_of(owner, 0);
	zs_test_drop(owner, 0);
	KUNIT_EXPECT_EQ(test, migrate(dst, src), 0);
	KUNIT_EXPECT_EQ(test, page_private(dst), 0UL);
	KUNIT_EXPECT_EQ(test, page_count(dst), 1);
	put_page(src);
	put_page(dst);
}

static void drop_first(struct zs_test_owner *owner, u32 id)
{
	zs_test_drop(owner, id);
}

/*
 * Objects freed when their owners are about to be locked do not move. Where all
 * of a zspage are, it is freed, although its pages are locked just then.
 */
static void freed_objects_do_not_move(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 id;

	zs_test_fill(test, owner, zs_test_param(test));
	owner->before_lock = drop_first;
	for (id = 0; id < NR_ITEMS; id++)
		if (owner->items[id].loc != ZS_LOC_NONE)
			KUNIT_EXPECT_EQ(test, migrate_item(test, owner, id), 0);
	owner->before_lock = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&owner->moves), 0);
	for (id = 0; id < NR_ITEMS; id++)
		zs_test_drop(owner, id);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
}

struct worker {
	struct zs_test_owner *owner;
	struct rnd_state rnd;
	u32 first;
	u32 damaged;
};

/* Replaces, frees and reads a half of the items. */
static int work(void *data)
{
	struct worker *w = data;

	while (!kthread_should_stop()) {
		u32 id = w->first + prandom_u32_state(&w->rnd) % (NR_ITEMS / 2);
		u32 size = zs_test_sizes[prandom_u32_state(&w->rnd) %
					 ARRAY_SIZE(zs_test_sizes)];

		w->damaged += !zs_test_intact(w->owner, id);
		if (size & 1)
			zs_test_drop(w->owner, id);
		else
			zs_test_put(w->owner, id, size, id);
		cond_resched();
	}
	return 0;
}

/* Pages are moved and compacted while others use the objects in them. */
static void pages_move_under_load(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct worker *w = kunit_kcalloc(test, 2, sizeof(*w), GFP_KERNEL);
	struct task_struct *task[2];
	u32 i, moved = 0;

	KUNIT_ASSERT_NOT_NULL(test, w);
	zs_test_fill(test, owner, 2100);
	for (i = 0; i < 2; i++) {
		w[i].owner = owner;
		w[i].first = i * NR_ITEMS / 2;
		prandom_seed_state(&w[i].rnd, zs_test_random(owner, U32_MAX));
		task[i] = kthread_run(work, &w[i], "zs_migrate_%u", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task[i]));
	}
	for (i = 0; i < 3000; i++) {
		struct page *src = get_page_of(owner, i % NR_ITEMS);
		struct page *dst = alloc_page(GFP_KERNEL);

		if (src && dst)
			moved += !migrate(dst, src);
		if (src)
			put_page(src);
		if (dst)
			put_page(dst);
		if (i % 256 == 0)
			zs_pool_compact(owner->pool, NULL);
	}
	for (i = 0; i < 2; i++) {
		kthread_stop(task[i]);
		KUNIT_EXPECT_EQ(test, w[i].damaged, 0U);
	}
	KUNIT_EXPECT_GT(test, moved, 100U);
}

static struct kunit_case migrate_cases[] = {
	KUNIT_CASE_PARAM(objects_survive_moves, zs_test_sizes_gen_params),
	KUNIT_CASE(new_page_takes_the_place),
	KUNIT_CASE(page_with_object_in_flight_stays),
	KUNIT_CASE(page_with_object_that_waits_moves),
	KUNIT_CASE(object_given_up_in_the_new_page_is_freed),
	KUNIT_CASE(pool_goes_during_a_move),
	KUNIT_CASE(tail_of_object_in_flight_stays),
	KUNIT_CASE(page_of_busy_zspage_stays),
	KUNIT_CASE(page_of_new_zspage_stays),
	KUNIT_CASE(page_of_nobody_is_left_alone),
	KUNIT_CASE_PARAM(freed_objects_do_not_move, zs_test_sizes_gen_params),
	KUNIT_CASE(pages_move_under_load),
	{}
};

static struct kunit_suite migrate_suite = {
	.name = "zs_migrate",
	.init = migrate_init,
	.exit = migrate_exit,
	.test_cases = migrate_cases,
};

kunit_test_suite(migrate_suite);
