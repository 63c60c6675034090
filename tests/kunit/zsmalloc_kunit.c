// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the allocator's objects: taking, writing, reading and freeing them.
 *
 * Each case starts with an empty pool and a table of items without objects,
 * and ends with a check of the pool's books and of every item's bytes.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/sort.h>

#include "zs_kunit.h"

#define NR_ITEMS	4096

static int objects_init(struct kunit *test)
{
	test->priv = zs_test_create(test, NR_ITEMS);
	return 0;
}

static void objects_exit(struct kunit *test)
{
	zs_test_finish(test, test->priv);
}

/* Ask for the item's object to be replaced, without making room for it. */
static int try_replace(struct zs_test_owner *owner, u32 id, u32 size, u64 *loc)
{
	struct zs_test_item *item = &owner->items[id];
	LIST_HEAD(emptied);
	int err;

	raw_spin_lock(&item->lock);
	err = zs_test_replace(owner->pool, item->loc, size, id, loc, &emptied);
	raw_spin_unlock(&item->lock);
	zs_free_emptied(&emptied);
	return err;
}

/* Expect: no room before the pool grows; then for a zspage's objects. */
static void grow_makes_room_for_one_zspage(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test), id;
	struct zs_shape *shape = zs_test_shape(size);
	u64 loc = ZS_LOC_NONE;

	KUNIT_EXPECT_EQ(test, -EAGAIN, try_replace(owner, 0, size, &loc));
	KUNIT_ASSERT_EQ(test, 0, zs_pool_grow(owner->pool, size, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), (unsigned long)shape->chain);
	for (id = 0; id < shape->objects; id++) {
		KUNIT_ASSERT_EQ(test, 0, try_replace(owner, id, size, &loc));
		owner->items[id].loc = loc;
	}
	KUNIT_EXPECT_EQ(test, -EAGAIN, try_replace(owner, id, size, &loc));
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), (unsigned long)shape->chain);
}

/* Expect: without room, nothing happens to the old object, of any size. */
static void replace_without_room_keeps_the_old(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u64 old, loc = ZS_LOC_NONE;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 0, PAGE_SIZE, 7));
	old = owner->items[0].loc;
	for (i = 0; i < ARRAY_SIZE(zs_test_sizes); i++) {
		KUNIT_EXPECT_EQ(test, -EAGAIN,
				try_replace(owner, 0, zs_test_sizes[i], &loc));
		KUNIT_EXPECT_EQ(test, loc, ZS_LOC_NONE);
	}
	KUNIT_EXPECT_EQ(test, old, owner->items[0].loc);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 1UL);
	KUNIT_EXPECT_TRUE(test, zs_test_intact(owner, 0));
}

/* Expect: -EINVAL for more than a page; the old one stays. */
static void replace_refuses_bad_sizes(struct kunit *test)
{
	static const u32 bad[] = { PAGE_SIZE + 1, 2 * PAGE_SIZE, U32_MAX };
	struct zs_test_owner *owner = test->priv;
	u64 loc = ZS_LOC_NONE;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 0, 100, 7));
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ(test, -EINVAL,
				try_replace(owner, 0, bad[i], &loc));
	KUNIT_EXPECT_EQ(test, loc, ZS_LOC_NONE);
	KUNIT_EXPECT_TRUE(test, zs_test_intact(owner, 0));
}

/* Expect: the old object is free exactly when the new one is taken. */
static void replace_frees_the_old_in_one_step(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test), id;
	u32 other = size > 1000 ? 40 : 2000;
	u32 nr = 2 * zs_test_shape(size)->objects;
	unsigned long pages;
	u64 loc;

	for (id = 0; id < nr; id++)
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, id));
	pages = zs_test_pages(owner);
	KUNIT_EXPECT_EQ(test, -EAGAIN, try_replace(owner, 0, size, &loc));

	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 0, other, 1));
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_min_pages(owner));
	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, nr, size, 2));
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner),
			pages + zs_test_shape(other)->chain);
}

static int compare_locs(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The grains of memory under an object, as locations. Returns how many. */
static u32 grains_of(const struct zs_test_item *item, u64 *grains)
{
	struct page *page = zs_loc_page(item->loc);
	u32 offset = zs_loc_offset(item->loc);
	u32 done, nr = 0;

	for (done = 0; done < item->size; done += ZS_GRAIN) {
		grains[nr++] = zs_loc_make(page, offset, false);
		offset += ZS_GRAIN;
		if (offset < PAGE_SIZE)
			continue;
		offset = 0;
		page = zs_pages(zs_page_zspage(page))[zs_page_place(page) + 1];
	}
	return nr;
}

/* Expect: never location 0, and no memory under two objects at once. */
static void objects_do_not_overlap(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 id, i, nr = 0, shared = 0, items = NR_ITEMS / 8;
	u64 *grains;

	grains = kunit_kzalloc(test, items * (PAGE_SIZE / ZS_GRAIN) * sizeof(u64),
			       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, grains);
	for (id = 0; id < items; id++) {
		u32 size = 1 + zs_test_random(owner, PAGE_SIZE);

		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, id));
		KUNIT_EXPECT_NE(test, owner->items[id].loc, ZS_LOC_NONE);
		if (id % 3 == 0)
			zs_test_drop(owner, zs_test_random(owner, id + 1));
	}
	for (id = 0; id < items; id++)
		if (owner->items[id].loc != ZS_LOC_NONE)
			nr += grains_of(&owner->items[id], grains + nr);
	sort(grains, nr, sizeof(*grains), compare_locs, NULL);
	for (i = 1; i < nr; i++)
		shared += grains[i - 1] == grains[i];
	KUNIT_EXPECT_EQ(test, shared, 0U);
}

/* Expect: an object of any size holds what was written. */
static void every_size_keeps_its_bytes(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size;

	for (size = 1; size <= PAGE_SIZE; size++) {
		u32 id = (size - 1) % NR_ITEMS;

		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, size));
		if (id == NR_ITEMS - 1)
			KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
	}
}

/* Is it to be put together from two pages? */
static bool crosses(const struct zs_test_item *item)
{
	return zs_loc_offset(item->loc) + item->size > PAGE_SIZE &&
	       !(item->loc & ZS_LOC_FLAT);
}

/* Expect: so it does at every place of a zspage, also across two pages. */
static void every_place_keeps_its_bytes(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 crossing = 0, damaged = 0, class, id;

	for (class = 0; class < zs_classes.nr; class++) {
		struct zs_shape *shape = &zs_classes.shape[class];
		u32 nr = min_t(u32, shape->objects, NR_ITEMS);

		for (id = 0; id < nr; id++) {
			u32 seed = zs_test_random(owner, PAGE_SIZE);

			KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id,
							     shape->size, seed));
			crossing += crosses(&owner->items[id]);
		}
		for (id = 0; id < nr; id++) {
			damaged += !zs_test_intact(owner, id);
			zs_test_drop(owner, id);
		}
	}
	KUNIT_EXPECT_GT(test, crossing, 0U);
	KUNIT_EXPECT_EQ(test, damaged, 0U);
}

/* Expect: writing an object changes no other, whoever its neighbours are. */
static void write_stays_within_the_object(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_shape(zs_test_param(test))->size, id, round;
	u32 nr = min_t(u32, 2 * zs_test_shape(size)->objects, 64);
	u32 damaged = 0;

	for (id = 0; id < nr; id++)
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, id));
	for (round = 0; round < 2 * nr; round++) {
		struct zs_test_item *item;

		item = &owner->items[zs_test_random(owner, nr)];
		raw_spin_lock(&item->lock);
		item->seed = zs_test_random(owner, PAGE_SIZE);
		zs_obj_write(item->loc, zs_test_bytes(owner, item->seed), size);
		raw_spin_unlock(&item->lock);
		for (id = 0; id < nr; id++)
			damaged += !zs_test_intact(owner, id);
	}
	KUNIT_EXPECT_EQ(test, damaged, 0U);
}

/* Expect: an object in flight, without owner, is as usable as any. */
static void object_without_owner_is_usable(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test);
	LIST_HEAD(emptied);
	const void *data;
	u64 loc;

	KUNIT_ASSERT_EQ(test, 0, zs_pool_grow(owner->pool, size, GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, 0,
			zs_test_replace(owner->pool, ZS_LOC_NONE, size,
					ZS_OWNER_NONE, &loc, &emptied));
	zs_obj_write(loc, zs_test_bytes(owner, 9), size);
	preempt_disable();
	data = zs_obj_read_begin(loc, size);
	size = memcmp(data, zs_test_bytes(owner, 9), size);
	zs_obj_read_end(data);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, size, 0U);
	zs_test_free(owner->pool, loc, &emptied);
	KUNIT_EXPECT_FALSE(test, list_empty(&emptied));
	zs_free_emptied(&emptied);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
}

/* Expect: the second free of an object changes nothing. */
static void double_free_is_refused(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test), id;
	u32 nr = 2 * zs_test_shape(size)->objects;
	unsigned long pages;
	u64 loc;

	for (id = 0; id < nr; id++)
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, id));
	loc = owner->items[nr / 2].loc;
	zs_test_drop(owner, nr / 2);
	pages = zs_test_pages(owner);
	KUNIT_EXPECT_FALSE(test, zs_test_free_bad(owner, loc));
	KUNIT_EXPECT_FALSE(test, zs_test_free_bad(owner, loc));
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), pages);
	KUNIT_EXPECT_EQ(test, zs_test_faults(owner->pool), 0U);
}

/* Expect: locations that are no object's start are refused. */
static void malformed_location_is_refused(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u64 loc, bad[5];
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 0, 500, 1));
	loc = owner->items[0].loc;
	bad[0] = ZS_LOC_NONE;
	bad[1] = loc & ~ZS_LOC_VALID;
	bad[2] = zs_loc_make(zs_loc_page(loc), zs_loc_offset(loc) + ZS_GRAIN,
			     false);
	bad[3] = zs_loc_make(zs_loc_page(loc), PAGE_SIZE - ZS_GRAIN, false);
	bad[4] = U64_MAX;
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_FALSE(test, zs_test_free_bad(owner, bad[i]));
		KUNIT_EXPECT_TRUE(test, zs_test_intact(owner, 0));
		KUNIT_EXPECT_EQ(test, zs_test_faults(owner->pool), 0U);
	}
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner),
			(unsigned long)zs_test_shape(500)->chain);
}

/* Expect: an object of another pool is refused, and stays there. */
static void location_of_another_pool_is_refused(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct zs_test_owner *other = zs_test_create(test, 1);

	KUNIT_EXPECT_EQ(test, 0, zs_test_put(owner, 0, 500, 1));
	KUNIT_EXPECT_EQ(test, 0, zs_test_put(other, 0, 500, 2));
	KUNIT_EXPECT_FALSE(test, zs_test_free_bad(owner, other->items[0].loc));
	KUNIT_EXPECT_FALSE(test, zs_test_free_bad(other, owner->items[0].loc));
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), zs_test_pages(other));
	KUNIT_EXPECT_EQ(test, zs_test_faults(owner->pool), 0U);
	zs_test_finish(test, other);
}

/* Expect: a page of somebody else is refused, whatever its private field. */
static void location_in_a_foreign_page_is_refused(struct kunit *test)
{
	static const unsigned long private[] = { 0, 1, 10, 0x200010, ULONG_MAX };
	struct zs_test_owner *owner = test->priv;
	struct page *page = alloc_page(GFP_KERNEL);
	u64 loc;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (i = 0; i < ARRAY_SIZE(private); i++) {
		set_page_private(page, private[i]);
		loc = zs_loc_make(page, 0, false);
		KUNIT_EXPECT_FALSE(test, zs_test_free_bad(owner, loc));
	}
	set_page_private(page, 0);
	__free_page(page);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
}

/* Expect: a bad old object is refused; the new one is taken all the same. */
static void replace_refuses_a_bad_old_object(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u64 gone, loc = ZS_LOC_NONE;

	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 0, 500, 1));
	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 1, 500, 2));
	gone = owner->items[1].loc;
	zs_test_drop(owner, 1);
	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 2, 500, 3));
	KUNIT_ASSERT_EQ(test, gone, owner->items[2].loc);
	zs_test_drop(owner, 2);

	owner->items[1].loc = gone | (u64)ZS_GRAIN << 1;
	KUNIT_EXPECT_EQ(test, 0, try_replace(owner, 1, 500, &loc));
	KUNIT_EXPECT_EQ(test, gone, loc);
	owner->items[1].loc = ZS_LOC_NONE;
	KUNIT_EXPECT_EQ(test, zs_test_faults(owner->pool), 0U);
	KUNIT_EXPECT_FALSE(test, zs_test_free_bad(owner, loc));
}

/* Expect: each zspage comes back with its last object, page for page. */
static void emptied_zspages_are_given_back(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test), id;
	struct zs_shape *shape = zs_test_shape(size);
	u32 nr = 3 * shape->objects;
	struct list_head *zspage;
	LIST_HEAD(emptied);

	for (id = 0; id < nr; id++)
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, id));
	for (id = 0; id < nr; id++) {
		u32 zspages = 0;

		zs_test_free(owner->pool, owner->items[id].loc, &emptied);
		owner->items[id].loc = ZS_LOC_NONE;
		list_for_each(zspage, &emptied)
			zspages++;
		KUNIT_EXPECT_EQ(test, zspages, (id + 1) / shape->objects);
		KUNIT_EXPECT_EQ(test, zs_test_pages(owner),
				(3UL - zspages) * shape->chain);
	}
	zs_free_emptied(&emptied);
	KUNIT_EXPECT_TRUE(test, list_empty(&emptied));
	zs_free_emptied(&emptied);
}

/* One random operation on a random item, and on the naive twin of it. */
static void random_step(struct kunit *test, struct zs_test_owner *owner)
{
	u32 id = zs_test_random(owner, 1000);
	struct zs_test_item *item = &owner->items[id];
	u32 size = 1 + zs_test_random(owner, PAGE_SIZE);
	u64 loc = item->loc;
	int err;

	switch (zs_test_random(owner, 10)) {
	case 0 ... 4:
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, size * id));
		return;
	case 5 ... 6:
		zs_test_drop(owner, id);
		if (zs_test_random(owner, 4) == 0)
			KUNIT_EXPECT_FALSE(test, zs_test_free_bad(owner, loc));
		return;
	case 7:
		zs_pool_set_limit(owner->pool, 1);
		err = zs_test_put(owner, id, size, id);
		zs_pool_set_limit(owner->pool, 0);
		KUNIT_EXPECT_TRUE(test, !err || err == -ENOSPC);
		return;
	case 8:
		KUNIT_EXPECT_EQ(test, -EINVAL,
				zs_test_put(owner, id, PAGE_SIZE + 1, id));
		return;
	default:
		KUNIT_EXPECT_TRUE(test, zs_test_intact(owner, id));
	}
}

/* Expect: after any sequence of operations all is as in the naive table. */
static void random_operations_match_the_model(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct zs_pool_stats stats;
	u32 step;

	for (step = 1; step <= 30000; step++) {
		random_step(test, owner);
		if (step % 1000)
			continue;
		stats = zs_test_stats(owner);
		KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
		KUNIT_EXPECT_EQ(test, zs_test_faults(owner->pool), 0U);
		KUNIT_EXPECT_GE(test, stats.pages, zs_test_min_pages(owner));
		KUNIT_EXPECT_GE(test, stats.max_pages, stats.pages);
	}
}

/*
 * Expect: the zspage to empty is the one with fewest objects, also if the other
 * has filled up in the list of the emptiest.
 */
static void emptiest_has_fewest_objects(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	unsigned int class = zs_class_of(&zs_classes, 700);
	u32 objects = zs_classes.shape[class].objects, id;
	struct zs_pool *pool = owner->pool;
	struct zspage *first, *found;

	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 0, 700, 0));
	zs_lock(pool);
	first = zs_fullest(pool, class);
	zs_unlock(pool);
	for (id = 1; id < objects * 7 / 4; id++)
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, 700, id));
	for (id = 0; id < objects / 2; id++)
		zs_test_drop(owner, id);
	zs_lock(pool);
	found = zs_emptiest(pool, class);
	zs_unlock(pool);
	KUNIT_EXPECT_PTR_EQ(test, found, first);
}

static struct kunit_case object_cases[] = {
	KUNIT_CASE_PARAM(grow_makes_room_for_one_zspage, zs_test_sizes_gen_params),
	KUNIT_CASE(replace_without_room_keeps_the_old),
	KUNIT_CASE(replace_refuses_bad_sizes),
	KUNIT_CASE_PARAM(replace_frees_the_old_in_one_step, zs_test_sizes_gen_params),
	KUNIT_CASE(objects_do_not_overlap),
	KUNIT_CASE(every_size_keeps_its_bytes),
	KUNIT_CASE(every_place_keeps_its_bytes),
	KUNIT_CASE_PARAM(write_stays_within_the_object, zs_test_sizes_gen_params),
	KUNIT_CASE_PARAM(object_without_owner_is_usable, zs_test_sizes_gen_params),
	KUNIT_CASE_PARAM(double_free_is_refused, zs_test_sizes_gen_params),
	KUNIT_CASE(malformed_location_is_refused),
	KUNIT_CASE(location_of_another_pool_is_refused),
	KUNIT_CASE(location_in_a_foreign_page_is_refused),
	KUNIT_CASE(replace_refuses_a_bad_old_object),
	KUNIT_CASE_PARAM(emptied_zspages_are_given_back, zs_test_sizes_gen_params),
	KUNIT_CASE(emptiest_has_fewest_objects),
	KUNIT_CASE(random_operations_match_the_model),
	{}
};

static struct kunit_suite object_suite = {
	.name = "zsmalloc",
	.init = objects_init,
	.exit = objects_exit,
	.test_cases = object_cases,
};

kunit_test_suite(object_suite);
