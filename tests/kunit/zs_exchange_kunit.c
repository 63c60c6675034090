// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of several objects exchanged in one step: which of it is done, and that
 * what is not done has not begun.
 *
 * Each case starts with an empty pool and a table of items without objects,
 * and ends with a check of the pool's books and of every item's bytes.
 */
#include <kunit/test.h>
#include <linux/lockdep.h>
#include <linux/mm.h>

#include "zs_kunit.h"

#define NR_ITEMS	1024

/* As many locks of one kind as lockdep lets a task hold. */
#define MAX_BATCH	8
static_assert(MAX_BATCH <= MAX_LOCKDEP_SUBCLASSES);

/* What x.new holds before: no object has it. */
#define UNTOUCHED	(ZS_LOC_VALID | 0xeeULL << 48)

/**
 * struct batch - exchanges of items that follow each other
 * @first: the first item
 * @n: how many
 * @keep: bit per exchange that has nothing to free: the item's object stays
 * @size: of the new objects, 0 for none
 * @x: as they are handed to the pool, and what came back
 * @emptied: zspages that became empty
 */
struct batch {
	u32 first;
	u32 n;
	u32 keep;
	u32 size[MAX_BATCH];
	struct zs_exchange x[MAX_BATCH];
	u32 emptied;
};

static int exchange_init(struct kunit *test)
{
	test->priv = zs_test_create(test, NR_ITEMS);
	return 0;
}

static void exchange_exit(struct kunit *test)
{
	zs_test_finish(test, test->priv);
}

static struct zs_test_item *item_of(struct zs_test_owner *owner,
				    struct batch *b, u32 i)
{
	return &owner->items[b->first + i];
}

static void lock_items(struct zs_test_owner *owner, struct batch *b)
{
	u32 i;

	for (i = 0; i < b->n; i++)
		raw_spin_lock_nested(&item_of(owner, b, i)->lock, i);
}

static void unlock_items(struct zs_test_owner *owner, struct batch *b)
{
	u32 i = b->n;

	while (i--)
		raw_spin_unlock(&item_of(owner, b, i)->lock);
}

/* What was done: the item has its new object, with bytes, or none. */
static void record(struct zs_test_owner *owner, struct batch *b, u32 i)
{
	struct zs_test_item *item = item_of(owner, b, i);

	if (b->x[i].size && b->x[i].new != UNTOUCHED) {
		item->loc = b->x[i].new;
		item->size = b->size[i];
		item->seed = zs_test_random(owner, PAGE_SIZE);
		zs_obj_write(item->loc, zs_test_bytes(owner, item->seed),
			     item->size);
	} else if (!(b->keep & BIT(i))) {
		item->loc = ZS_LOC_NONE;
	}
}

/* Exchange without making room, and believe what is returned. */
static int exchange(struct zs_test_owner *owner, struct batch *b)
{
	struct list_head *zspage;
	LIST_HEAD(emptied);
	int i, ret;

	lock_items(owner, b);
	for (i = 0; i < b->n; i++) {
		b->x[i].old = b->keep & BIT(i) ? ZS_LOC_NONE :
						 item_of(owner, b, i)->loc;
		b->x[i].new = UNTOUCHED;
		b->x[i].size = b->size[i];
		b->x[i].owner = b->first + i;
	}
	ret = zs_obj_exchange(owner->pool, b->x, b->n, &emptied);
	for (i = 0; i < ret; i++)
		record(owner, b, i);
	unlock_items(owner, b);
	b->emptied = 0;
	list_for_each(zspage, &emptied)
		b->emptied++;
	zs_free_emptied(&emptied);
	return ret;
}

/* How many classes have more or fewer objects than the items. */
static u32 miscounted(struct zs_test_owner *owner)
{
	unsigned int class;
	u32 bad = 0;

	zs_test_min_pages(owner);
	for (class = 0; class < zs_classes.nr; class++)
		bad += owner->pool->classes[class].used != owner->used[class];
	return bad;
}

/* How many items' objects the pool does not know to be theirs. */
static u32 misowned(struct zs_test_owner *owner)
{
	struct zs_place place;
	u32 id, bad = 0;

	zs_lock(owner->pool);
	for (id = 0; id < owner->nr; id++) {
		if (owner->items[id].loc == ZS_LOC_NONE)
			continue;
		bad += !zs_locate(owner->pool, owner->items[id].loc, &place) ||
		       zs_owners(place.zspage)[place.index] != id;
	}
	zs_unlock(owner->pool);
	return bad;
}

/* Expect: pool, books, owners and bytes are as the items say. */
static void expect_as_items(struct kunit *test, struct zs_test_owner *owner)
{
	KUNIT_EXPECT_EQ(test, miscounted(owner), 0U);
	KUNIT_EXPECT_EQ(test, misowned(owner), 0U);
	KUNIT_EXPECT_EQ(test, zs_test_faults(owner->pool), 0U);
	KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
}

/* Expect: exchange @i and those after it have not begun. */
static void expect_untouched(struct kunit *test, struct zs_test_owner *owner,
			     struct batch *b, const u64 *before, u32 i)
{
	for (; i < b->n; i++) {
		KUNIT_EXPECT_EQ(test, b->x[i].new, UNTOUCHED);
		KUNIT_EXPECT_EQ(test, item_of(owner, b, i)->loc, before[i]);
	}
}

static void locations(struct zs_test_owner *owner, struct batch *b, u64 *locs)
{
	u32 i;

	for (i = 0; i < b->n; i++)
		locs[i] = item_of(owner, b, i)->loc;
}

/* Make room for just @room objects, with objects of items in the rest. */
static void make_room(struct kunit *test, u32 size, u32 room)
{
	struct zs_test_owner *owner = test->priv;
	u32 objects = zs_test_shape(size)->objects, i, id = MAX_BATCH;

	for (i = 0; i < room; i += objects)
		KUNIT_ASSERT_EQ(test, 0, zs_test_grow(owner, size));
	for (; i > room; i--) {
		KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, id, size, id));
		id++;
	}
}

/* --- What is done --------------------------------------------------------- */

/* Bits of what an exchange does. */
#define FREES	BIT(0)
#define TAKES	BIT(1)

/* Expect: whatever each exchange of a step does or does not, all are done. */
static void every_mix_is_done(struct kunit *test)
{
	static const u32 sizes[] = { 48, 2100, PAGE_SIZE };
	struct zs_test_owner *owner = test->priv;
	struct batch b = { .first = 3, .n = ARRAY_SIZE(sizes) };
	u32 mix, i, kind;

	for (mix = 0; mix < BIT(2 * ARRAY_SIZE(sizes)); mix++) {
		for (i = 0; i < b.n; i++) {
			kind = mix >> 2 * i & 3;
			zs_test_drop(owner, b.first + i);
			if (kind & FREES)
				KUNIT_ASSERT_EQ(test, 0,
						zs_test_put(owner, b.first + i,
							    1500, i));
			b.size[i] = kind & TAKES ? sizes[i] : 0;
			if (b.size[i])
				KUNIT_ASSERT_EQ(test, 0, zs_test_grow(owner,
								      sizes[i]));
		}
		KUNIT_EXPECT_EQ(test, exchange(owner, &b), (int)b.n);
		for (i = 0; i < b.n; i++)
			KUNIT_EXPECT_EQ(test, b.x[i].new == UNTOUCHED,
					!b.size[i]);
		expect_as_items(test, owner);
	}
}

/* Expect: none to do is none done. */
static void nothing_to_exchange_is_done(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct batch b = {};

	KUNIT_EXPECT_EQ(test, exchange(owner, &b), 0);
	b.n = MAX_BATCH;
	KUNIT_EXPECT_EQ(test, exchange(owner, &b), MAX_BATCH);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
}

/* Expect: one after the other: what is freed is room for those that follow. */
static void freed_object_is_room_for_the_next(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct batch b = { .n = 2 };
	u64 before[2];

	/* Two of one full zspage; a third item has the rest of it. */
	make_room(test, 1500, 2);
	b.size[0] = 1500;
	b.size[1] = 1500;
	KUNIT_ASSERT_EQ(test, exchange(owner, &b), 2);
	zs_test_drop(owner, 1);
	KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, 500, 1500, 1));

	b.size[0] = 0;
	locations(owner, &b, before);
	KUNIT_EXPECT_EQ(test, exchange(owner, &b), 2);
	KUNIT_EXPECT_EQ(test, b.x[1].new, before[0]);

	/* The other way about there is none yet. */
	b.size[0] = 1500;
	b.size[1] = 0;
	locations(owner, &b, before);
	KUNIT_EXPECT_EQ(test, exchange(owner, &b), 0);
	expect_untouched(test, owner, &b, before, 0);
	expect_as_items(test, owner);
}

/* Expect: zspages of any class come back, all of a step. */
static void every_emptied_zspage_comes_back(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct batch b = { .n = MAX_BATCH };
	u32 i;

	for (i = 0; i < b.n; i++)
		KUNIT_ASSERT_EQ(test, 0,
				zs_test_put(owner, i, zs_test_sizes[i], i));
	KUNIT_EXPECT_EQ(test, exchange(owner, &b), MAX_BATCH);
	KUNIT_EXPECT_EQ(test, b.emptied, MAX_BATCH);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
	expect_as_items(test, owner);
}

/*
 * Expect: as many as one likes, where no owner has to be locked; but not so many
 * that making room for them starts compaction, which takes it away again.
 */
static void objects_in_flight_are_exchanged(struct kunit *test)
{
	u32 nr = 100, i, size = zs_test_param(test);
	struct zs_test_owner *owner = test->priv;
	struct zs_exchange *x;
	LIST_HEAD(emptied);

	x = kunit_kcalloc(test, nr, sizeof(*x), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, x);
	for (i = 0; i < nr; i += zs_test_shape(size)->objects)
		KUNIT_ASSERT_EQ(test, 0, zs_test_grow(owner, size));
	for (i = 0; i < nr; i++) {
		x[i].size = size;
		x[i].owner = ZS_OWNER_NONE;
	}
	KUNIT_ASSERT_EQ(test, (int)nr,
			zs_obj_exchange(owner->pool, x, nr, &emptied));
	KUNIT_EXPECT_TRUE(test, list_empty(&emptied));
	for (i = 0; i < nr; i++) {
		zs_obj_write(x[i].new, zs_test_bytes(owner, i), size);
		/* For the check of all bytes; then they go as they came. */
		owner->items[i].loc = x[i].new;
		owner->items[i].size = size;
		owner->items[i].seed = i;
	}
	KUNIT_EXPECT_EQ(test, miscounted(owner), 0U);
	KUNIT_EXPECT_EQ(test, misowned(owner), nr);
	KUNIT_EXPECT_EQ(test, zs_test_damaged(owner), 0U);
	for (i = 0; i < nr; i++) {
		owner->items[i].loc = ZS_LOC_NONE;
		x[i].old = x[i].new;
		x[i].size = 0;
	}
	KUNIT_EXPECT_EQ(test, (int)nr,
			zs_obj_exchange(owner->pool, x, nr, &emptied));
	zs_free_emptied(&emptied);
	KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
}

/* --- What is not ---------------------------------------------------------- */

/*
 * Expect: with room for k the first k are done; the others keep their objects,
 * and nothing is taken for them.
 */
static void without_room_the_first_are_done(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 size = zs_test_param(test), room, i;
	u32 other = size > 1000 ? 40 : 2000;
	struct batch b = { .n = MAX_BATCH };
	u64 before[MAX_BATCH];

	for (room = 0; room < MAX_BATCH; room++) {
		for (i = 0; i < b.n; i++) {
			KUNIT_ASSERT_EQ(test, 0,
					zs_test_put(owner, i, other, i));
			b.size[i] = size;
		}
		make_room(test, size, room);
		locations(owner, &b, before);
		KUNIT_EXPECT_EQ(test, exchange(owner, &b), (int)room);
		expect_untouched(test, owner, &b, before, room);
		expect_as_items(test, owner);
		/* Those that take nothing need none. */
		memset(b.size, 0, sizeof(b.size));
		b.size[MAX_BATCH - 1] = 300;
		KUNIT_EXPECT_EQ(test, exchange(owner, &b), MAX_BATCH - 1);
		expect_as_items(test, owner);
		for (i = 0; i < NR_ITEMS; i++)
			zs_test_drop(owner, i);
		KUNIT_EXPECT_EQ(test, zs_test_pages(owner), 0UL);
	}
}

/* Expect: a bad size anywhere, with room for the rest: none is done. */
static void bad_size_refuses_all(struct kunit *test)
{
	static const u32 bad[] = { PAGE_SIZE + 1, 2 * PAGE_SIZE, U32_MAX };
	struct zs_test_owner *owner = test->priv;
	struct batch b = { .n = 5 };
	u64 before[MAX_BATCH];
	u32 i, at, size;

	for (i = 0; i < b.n; i++) {
		if (i % 2)
			KUNIT_ASSERT_EQ(test, 0, zs_test_put(owner, i, 900, i));
		KUNIT_ASSERT_EQ(test, 0, zs_test_grow(owner, 700));
	}
	locations(owner, &b, before);
	for (at = 0; at < b.n; at++) {
		for (size = 0; size < ARRAY_SIZE(bad); size++) {
			/* The second has nothing to take. */
			for (i = 0; i < b.n; i++)
				b.size[i] = i == 1 ? 0 : 700;
			b.size[at] = bad[size];
			KUNIT_EXPECT_EQ(test, exchange(owner, &b), -EINVAL);
			KUNIT_EXPECT_EQ(test, b.emptied, 0U);
			expect_untouched(test, owner, &b, before, 0);
			expect_as_items(test, owner);
		}
	}
}

/* What is no object of the pool, or not any more. */
enum bad_old { STALE, TWICE, FOREIGN, INNER, NO_LOCATION, NR_BAD_OLD };

/*
 * Expect: what is no object is not freed; all else is done, also in the
 * same exchange.
 */
static void bad_old_object_is_skipped_alone(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	struct zs_test_owner *other = zs_test_create(test, 1);
	struct batch b = { .n = 5 };
	u32 i, at, kind;
	u64 stale;
	int ret;

	KUNIT_EXPECT_EQ(test, 0, zs_test_put(other, 0, 500, 2));
	KUNIT_EXPECT_EQ(test, 0, zs_test_put(owner, 100, 300, 2));
	stale = owner->items[100].loc;
	zs_test_drop(owner, 100);
	for (at = 1; at < b.n; at++) {
		for (kind = 0; kind < NR_BAD_OLD; kind++) {
			const u64 bad[] = {
				[STALE] = stale,
				[TWICE] = owner->items[0].loc,
				[FOREIGN] = other->items[0].loc,
				[INNER] = other->items[0].loc + (ZS_GRAIN >> 2),
				[NO_LOCATION] = ZS_LOC_VALID | 1ULL << 63,
			};

			for (i = 0; i < b.n; i++) {
				zs_test_drop(owner, i);
				if (i != at && zs_test_put(owner, i, 500, i))
					KUNIT_FAIL(test, "no memory");
				KUNIT_EXPECT_EQ(test, 0,
						zs_test_grow(owner, 1500));
				b.size[i] = i % 2 ? 1500 : 0;
			}
			owner->items[at].loc = kind == TWICE ?
					       owner->items[0].loc : bad[kind];
			ret = exchange(owner, &b);
			KUNIT_EXPECT_EQ(test, ret, (int)b.n);
			if (ret <= (int)at)
				owner->items[at].loc = ZS_LOC_NONE;
			expect_as_items(test, owner);
		}
	}
	KUNIT_EXPECT_TRUE(test, zs_test_intact(other, 0));
	KUNIT_EXPECT_EQ(test, miscounted(other), 0U);
	zs_test_finish(test, other);
}

/* --- Any sequence --------------------------------------------------------- */

/* Random exchanges; what is done must be what a naive look says can be done. */
static void random_batch(struct kunit *test, struct zs_test_owner *owner)
{
	struct batch b = {
		.n = zs_test_random(owner, MAX_BATCH + 1),
		.first = zs_test_random(owner, 256),
	};
	u64 before[MAX_BATCH];
	bool bad = false;
	int i, ret;

	for (i = 0; i < b.n; i++) {
		u32 kind = zs_test_random(owner, 64);

		b.size[i] = kind < 20 ? 0 : 1 + zs_test_random(owner, PAGE_SIZE);
		if (!kind)
			b.size[i] = PAGE_SIZE + kind + 1;
		bad |= b.size[i] > PAGE_SIZE;
		if (!b.size[i] && zs_test_random(owner, 2))
			b.keep |= BIT(i);
	}
	locations(owner, &b, before);
	ret = exchange(owner, &b);
	if (bad) {
		KUNIT_EXPECT_EQ(test, ret, -EINVAL);
		ret = 0;
	}
	KUNIT_ASSERT_GE(test, ret, 0);
	KUNIT_ASSERT_LE(test, ret, (int)b.n);
	expect_untouched(test, owner, &b, before, ret);
	if (bad || ret == b.n)
		return;
	/* There was no room, which must be true of this one. */
	KUNIT_EXPECT_NE(test, b.size[ret], 0U);
	b.first += ret;
	b.size[0] = b.size[ret];
	b.keep = 0;
	b.n = 1;
	KUNIT_EXPECT_EQ(test, exchange(owner, &b), 0);
	KUNIT_EXPECT_EQ(test, 0, zs_test_grow(owner, b.size[0]));
	KUNIT_EXPECT_EQ(test, exchange(owner, &b), 1);
}

/* Expect: after any sequence of steps all is as in the naive table. */
static void random_batches_match_the_model(struct kunit *test)
{
	struct zs_test_owner *owner = test->priv;
	u32 step;

	for (step = 1; step <= 6000; step++) {
		random_batch(test, owner);
		if (step % 300 == 0)
			expect_as_items(test, owner);
	}
	KUNIT_EXPECT_GE(test, zs_test_pages(owner), zs_test_min_pages(owner));
}

static struct kunit_case exchange_cases[] = {
	KUNIT_CASE(every_mix_is_done),
	KUNIT_CASE(nothing_to_exchange_is_done),
	KUNIT_CASE(freed_object_is_room_for_the_next),
	KUNIT_CASE(every_emptied_zspage_comes_back),
	KUNIT_CASE_PARAM(objects_in_flight_are_exchanged, zs_test_sizes_gen_params),
	KUNIT_CASE_PARAM(without_room_the_first_are_done, zs_test_sizes_gen_params),
	KUNIT_CASE(bad_size_refuses_all),
	KUNIT_CASE(bad_old_object_is_skipped_alone),
	KUNIT_CASE(random_batches_match_the_model),
	{}
};

static struct kunit_suite exchange_suite = {
	.name = "zs_exchange",
	.init = exchange_init,
	.exit = exchange_exit,
	.test_cases = exchange_cases,
};

kunit_test_suite(exchange_suite);
