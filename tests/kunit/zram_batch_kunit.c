// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of several slots stored or emptied together: as good as one by one, and
 * where it ends, it ends between two slots.
 *
 * Each case starts with empty slots and ends with a check of the books.
 */
#include "zram_kunit.h"
#include "../../zs_internal.h"

#define NR_PAGES	64
#define FIRST		20	/* where most cases work */

/* Bytes that cases store: from wherever they say in this. */
static u8 noise[2 * PAGE_SIZE];

static const struct zram_content empty = { .state = ZRAM_SLOT_EMPTY };

static int batch_init(struct kunit *test)
{
	struct zram_test *t;

	t = zram_test_create(test, zcomp_backend_default(), NR_PAGES);
	prandom_bytes_state(&t->rnd, noise, sizeof(noise));
	test->priv = t;
	return 0;
}

static void batch_exit(struct kunit *test)
{
	zram_test_finish(test, test->priv);
}

/* Every number of slots, from one to all that go together. */
static const u32 numbers[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
};

static_assert(ARRAY_SIZE(numbers) == ZRAM_SLOT_BATCH);

static void describe_number(const u32 *n, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u slots", *n);
}

KUNIT_ARRAY_PARAM(number, numbers, describe_number);

static u32 number(struct kunit *test)
{
	return *(const u32 *)test->param_value;
}

/* Contents of a state, with bytes of their own. */
static void make(struct zram_test *t, struct zram_content *new,
		 enum zram_slot_state state)
{
	*new = (struct zram_content){ .state = state };
	switch (state) {
	case ZRAM_SLOT_EMPTY:
		return;
	case ZRAM_SLOT_SAME:
		new->fill = prandom_u32_state(&t->rnd);
		return;
	case ZRAM_SLOT_COMPRESSED:
		new->codec = zcomp_test_below(&t->rnd, ZRAM_MAX_CODECS);
		new->size = 1 + zcomp_test_below(&t->rnd, 3000);
		break;
	case ZRAM_SLOT_HUGE:
		new->size = PAGE_SIZE;
		break;
	}
	new->data = noise + zcomp_test_below(&t->rnd, PAGE_SIZE);
}

static void make_any(struct zram_test *t, struct zram_content *new)
{
	make(t, new, zcomp_test_below(&t->rnd, ZRAM_SLOT_HUGE + 1));
}

static void make_all(struct zram_test *t, struct zram_content *new, u32 n)
{
	while (n--)
		make_any(t, new++);
}

/* Store together, with as much memory as that takes. */
static int store_all(struct zram_state *state, u32 first,
		     const struct zram_content *new, u32 n)
{
	u32 done = 0;
	int ret;

	for (;;) {
		ret = zram_slots_store(state, first + done, new + done,
				       n - done);
		if (ret < 0)
			return ret;
		done += ret;
		if (done >= n)
			return done - n;
		ret = zs_pool_grow(state->pool, new[done].size, GFP_KERNEL);
		if (ret)
			return ret;
	}
}

static void put(struct kunit *test, u32 first, const struct zram_content *new,
		u32 n)
{
	struct zram_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, store_all(t->state, first, new, n), 0);
}

/* How many of the slots do not hold what they should. */
static u32 wrong(struct kunit *test, u32 first, const struct zram_content *new,
		 u32 n)
{
	struct zram_test *t = test->priv;
	u32 i, bad = 0;

	for (i = 0; i < n; i++)
		bad += !zram_test_holds(t->state, first + i, &new[i]);
	return bad;
}

/* Is the slot's object there, and known to be the slot's? */
static bool is_owner(struct zram_state *state, u32 index)
{
	struct zs_place place;
	bool is;

	zs_lock(state->pool);
	is = zs_locate(state->pool, state->slots[index].loc, &place) &&
	     zs_owners(place.zspage)[place.index] == index;
	zs_unlock(state->pool);
	return is;
}

/* Objects in the pool that no slot has, or the wrong one. */
static s64 leaked(struct zram_state *state)
{
	s64 objects = 0, misowned = 0;
	unsigned int class;
	u32 i;

	for (i = 0; i < state->nr_pages; i++) {
		if (zram_slot_peek_loc(state, i) == ZS_LOC_NONE)
			continue;
		misowned += !is_owner(state, i);
		objects--;
	}
	zs_lock(state->pool);
	for (class = 0; class < zs_classes.nr; class++)
		objects += state->pool->classes[class].used;
	zs_unlock(state->pool);
	return abs(objects) + misowned;
}

/* What must not change where nothing is done. */
struct snapshot {
	unsigned long word[NR_PAGES];
	u64 loc[NR_PAGES];
	s64 stat[ZRAM_NR_STATS];
	unsigned long pages;
};

static void take_snapshot(struct zram_state *state, struct snapshot *s)
{
	enum zram_stat stat;
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < NR_PAGES; i++) {
		s->word[i] = zram_slot_peek(state, i);
		s->loc[i] = zram_slot_peek_loc(state, i);
	}
	for (stat = 0; stat < ZRAM_NR_STATS; stat++)
		s->stat[stat] = zram_test_sum(state, stat);
	s->pages = zram_test_pool_pages(state);
}

/* --- Stores --------------------------------------------------------------- */

/* Expect: slots and counters as if the same had been stored one by one. */
static void store_is_as_good_as_one_by_one(struct kunit *test)
{
	struct zram_test *t = test->priv, *twin;
	struct zram_content *model, new[ZRAM_SLOT_BATCH];
	u32 n = number(test), round, first, i, bad = 0;
	enum zram_stat stat;

	model = kunit_kcalloc(test, NR_PAGES, sizeof(*model), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, model);
	twin = zram_test_create(test, zcomp_backend_default(), NR_PAGES);
	for (round = 0; round < 60; round++) {
		first = zcomp_test_below(&t->rnd, NR_PAGES - n + 1);
		make_all(t, new, n);
		bad += !!store_all(t->state, first, new, n);
		for (i = 0; i < n; i++) {
			model[first + i] = new[i];
			bad += !!zram_test_store(twin->state, first + i,
						 &new[i]);
		}
		for (stat = 0; stat < ZRAM_NR_STATS; stat++)
			bad += zram_test_sum(t->state, stat) !=
			       zram_test_sum(twin->state, stat);
	}
	for (i = 0; i < NR_PAGES; i++)
		bad += !zram_test_holds(twin->state, i, &model[i]);
	KUNIT_EXPECT_EQ(test, bad, 0U);
	KUNIT_EXPECT_EQ(test, wrong(test, 0, model, NR_PAGES), 0U);
	KUNIT_EXPECT_EQ(test, leaked(t->state), 0);
	zram_test_finish(test, twin);
}

/* Expect: so it is for every pair of contents in place of every other. */
static void every_pair_replaces_every_pair(struct kunit *test)
{
	struct zram_content from[2], to[2];
	struct zram_test *t = test->priv;
	u32 mix;

	for (mix = 0; mix < 256; mix++) {
		make(t, &from[0], mix & 3);
		make(t, &from[1], mix >> 2 & 3);
		make(t, &to[0], mix >> 4 & 3);
		make(t, &to[1], mix >> 6);
		put(test, FIRST, from, 2);
		KUNIT_EXPECT_EQ(test, wrong(test, FIRST, from, 2), 0U);
		put(test, FIRST, to, 2);
		KUNIT_EXPECT_EQ(test, wrong(test, FIRST, to, 2), 0U);
		KUNIT_EXPECT_EQ(test, leaked(t->state), 0);
		zram_test_check_books(test, t->state);
	}
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, FIRST - 1, &empty));
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, FIRST + 2, &empty));
}

/*
 * Expect: with room for k objects all slots before the next one that needs room
 * are stored, and not a bit of it and those after it has changed.
 */
static void without_room_the_first_are_stored(struct kunit *test)
{
	struct zram_content old[ZRAM_SLOT_BATCH], new[ZRAM_SLOT_BATCH];
	struct zram_test *t = test->priv;
	struct snapshot *a, *b;
	u32 room, i, until, k;

	a = kunit_kzalloc(test, 2 * sizeof(*a), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, a);
	b = a + 1;
	for (room = 0; room < ZRAM_SLOT_BATCH; room++) {
		for (i = 0; i < ZRAM_SLOT_BATCH; i++) {
			/* Objects that are freed make no room for huge ones. */
			make(t, &old[i], zcomp_test_below(&t->rnd,
							  ZRAM_SLOT_HUGE));
			make_any(t, &new[i]);
			if (new[i].state == ZRAM_SLOT_COMPRESSED)
				make(t, &new[i], ZRAM_SLOT_HUGE);
		}
		put(test, FIRST, old, ZRAM_SLOT_BATCH);
		for (i = 0; i < ZRAM_SLOT_BATCH; i++)
			zram_slot_begin(t->state, FIRST + i);
		for (until = 0, k = 0; until < ZRAM_SLOT_BATCH; until++)
			if (new[until].state == ZRAM_SLOT_HUGE && k++ == room)
				break;
		for (i = 0; i < room; i++)
			KUNIT_ASSERT_EQ(test, 0, zs_pool_grow(t->state->pool,
							      PAGE_SIZE,
							      GFP_KERNEL));
		take_snapshot(t->state, a);
		KUNIT_EXPECT_EQ(test, (int)until,
				zram_slots_store(t->state, FIRST, new,
						 ZRAM_SLOT_BATCH));
		take_snapshot(t->state, b);
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, FIRST, new, until));
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, FIRST + until, old + until,
						ZRAM_SLOT_BATCH - until));
		for (i = FIRST + until; i < NR_PAGES; i++) {
			KUNIT_EXPECT_EQ(test, a->word[i], b->word[i]);
			KUNIT_EXPECT_EQ(test, a->loc[i], b->loc[i]);
		}
		KUNIT_EXPECT_EQ(test, leaked(t->state), 0);
		zram_test_check_books(test, t->state);
		/* With room the rest of it follows. */
		put(test, FIRST + until, new + until, ZRAM_SLOT_BATCH - until);
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, FIRST, new,
						ZRAM_SLOT_BATCH));
		zram_slots_clear(t->state, FIRST, ZRAM_SLOT_BATCH);
		zs_pool_compact(t->state->pool, NULL);
	}
}

/* Expect: one impossible size anywhere, and nothing at all is changed. */
static void impossible_size_changes_nothing(struct kunit *test)
{
	static const u32 sizes[] = { 0, PAGE_SIZE + 1, U32_MAX };
	struct zram_content old[ZRAM_SLOT_BATCH], new[ZRAM_SLOT_BATCH];
	struct zram_test *t = test->priv;
	struct snapshot *a, *b;
	u32 i, at, n = number(test);

	a = kunit_kzalloc(test, 2 * sizeof(*a), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, a);
	b = a + 1;
	make_all(t, old, n);
	put(test, FIRST, old, n);
	for (i = 0; i < n; i++)
		zram_slot_begin(t->state, FIRST + i);
	take_snapshot(t->state, a);
	for (at = 0; at < n; at++) {
		make_all(t, new, n);
		make(t, &new[at], at % 2 ? ZRAM_SLOT_HUGE :
		     ZRAM_SLOT_COMPRESSED);
		new[at].size = sizes[at % ARRAY_SIZE(sizes)];
		KUNIT_EXPECT_EQ(test, -EINVAL,
				zram_slots_store(t->state, FIRST, new, n));
		take_snapshot(t->state, b);
		KUNIT_EXPECT_EQ(test, 0, memcmp(a, b, sizeof(*a)));
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, FIRST, old, n));
	}
}

/* Expect: who works on a slot learns of the store, and nobody else does. */
static void store_tells_those_at_work(struct kunit *test)
{
	struct zram_content new[ZRAM_SLOT_BATCH];
	struct zram_test *t = test->priv;
	u32 i, n = number(test), round;

	for (round = 0; round < 8; round++) {
		for (i = 0; i < NR_PAGES; i++)
			zram_slot_begin(t->state, i);
		make_all(t, new, n);
		put(test, FIRST, new, n);
		for (i = 0; i < NR_PAGES; i++) {
			bool inside = i >= FIRST && i < FIRST + n;

			KUNIT_EXPECT_EQ(test, inside ? -ESTALE : 0,
					zram_slot_store(t->state, i, &empty,
							true));
		}
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, FIRST, new, n));
	}
}

/* --- In the old object's place -------------------------------------------- */

/* Pairs of sizes that take the same room, and one of each kind that do not. */
static const struct {
	u32 from;
	u32 to;
} sizes_in_place[] = {
	{ 1, 32 }, { 32, 1 }, { 700, 700 }, { 1500, 1499 }, { 1499, 1500 },
	{ 2720, 2719 }, { PAGE_SIZE, PAGE_SIZE }, { PAGE_SIZE, PAGE_SIZE - 1 },
	{ 48, 700 }, { 700, 48 }, { 1500, PAGE_SIZE }, { PAGE_SIZE, 1500 },
};

static void make_size(struct zram_test *t, struct zram_content *new, u32 size)
{
	make(t, new, size == PAGE_SIZE ? ZRAM_SLOT_HUGE : ZRAM_SLOT_COMPRESSED);
	new->size = size;
}

/*
 * Expect: what takes the same room is written over the old object, for which
 * no room is needed; what does not frees it.
 */
static void same_room_is_used_again(struct kunit *test)
{
	struct zram_content old[ZRAM_SLOT_BATCH], new[ZRAM_SLOT_BATCH];
	struct zram_test *t = test->priv;
	u32 c, i, n = number(test), kept = 0;
	u64 loc[ZRAM_SLOT_BATCH];

	for (c = 0; c < ARRAY_SIZE(sizes_in_place); c++) {
		u32 from = sizes_in_place[c].from, to = sizes_in_place[c].to;
		bool same = zs_same_class(from, to);

		for (i = 0; i < n; i++) {
			make_size(t, &old[i], from);
			make_size(t, &new[i], to);
		}
		put(test, FIRST, old, n);
		for (i = 0; i < n; i++)
			loc[i] = zram_slot_peek_loc(t->state, FIRST + i);
		kept += same;
		if (same)
			KUNIT_EXPECT_EQ(test, (int)n,
					zram_slots_store(t->state, FIRST, new,
							 n));
		else
			put(test, FIRST, new, n);
		for (i = 0; i < n; i++)
			if (same)
				KUNIT_EXPECT_EQ(test, loc[i],
						zram_slot_peek_loc(t->state,
								   FIRST + i));
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, FIRST, new, n));
		KUNIT_EXPECT_EQ(test, leaked(t->state), 0);
	}
	KUNIT_EXPECT_GT(test, kept, 0U);
	KUNIT_EXPECT_LT(test, kept, c);
}

/* Expect: in one step some stay in their place and others do not. */
static void some_stay_where_they_are(struct kunit *test)
{
	struct zram_content old[ZRAM_SLOT_BATCH], new[ZRAM_SLOT_BATCH];
	struct zram_test *t = test->priv;
	u64 loc[ZRAM_SLOT_BATCH];
	u32 round, i, stays;

	for (round = 0; round < 100; round++) {
		stays = prandom_u32_state(&t->rnd);
		for (i = 0; i < ZRAM_SLOT_BATCH; i++) {
			make_size(t, &old[i], 1500);
			make_any(t, &new[i]);
			if (stays & BIT(i))
				make_size(t, &new[i], 1500 - i % 2);
		}
		put(test, FIRST, old, ZRAM_SLOT_BATCH);
		for (i = 0; i < ZRAM_SLOT_BATCH; i++)
			loc[i] = zram_slot_peek_loc(t->state, FIRST + i);
		put(test, FIRST, new, ZRAM_SLOT_BATCH);
		for (i = 0; i < ZRAM_SLOT_BATCH; i++)
			if (stays & BIT(i))
				KUNIT_EXPECT_EQ(test, loc[i],
						zram_slot_peek_loc(t->state,
								   FIRST + i));
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, FIRST, new,
						ZRAM_SLOT_BATCH));
		KUNIT_EXPECT_EQ(test, leaked(t->state), 0);
	}
}

/* --- Clears --------------------------------------------------------------- */

/* Expect: how many there were; all are gone, and their memory with them. */
static void clear_empties_all(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 i, n = number(test), round, used, at;
	struct zram_content *all;

	all = kunit_kcalloc(test, NR_PAGES, sizeof(*all), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, all);
	for (round = 0; round < 10; round++) {
		make_all(t, all, NR_PAGES);
		for (i = 0; i < NR_PAGES; i += ZRAM_SLOT_BATCH)
			put(test, i, all + i, ZRAM_SLOT_BATCH);
		for (at = FIRST, used = 0; at < FIRST + n; at++) {
			used += all[at].state != ZRAM_SLOT_EMPTY;
			all[at] = empty;
		}
		KUNIT_EXPECT_EQ(test, used, zram_slots_clear(t->state, FIRST,
							     n));
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, 0, all, NR_PAGES));
		KUNIT_EXPECT_EQ(test, 0U, zram_slots_clear(t->state, FIRST, n));
		zram_test_check_books(test, t->state);
		KUNIT_EXPECT_EQ(test, leaked(t->state), 0);
	}
	for (i = 0; i < NR_PAGES; i += ZRAM_SLOT_BATCH)
		zram_slots_clear(t->state, i, ZRAM_SLOT_BATCH);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_STORED), 0);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_NOTIFY_FREE), 0);
	KUNIT_EXPECT_EQ(test, zram_test_pool_pages(t->state), 0UL);
}

/* Expect: who works on any of them learns of it, though all be empty. */
static void clear_tells_those_at_work(struct kunit *test)
{
	struct zram_content old[ZRAM_SLOT_BATCH] = {};
	struct zram_test *t = test->priv;
	u32 at, i, n = number(test), round;

	for (round = 0; round < 2; round++) {
		for (at = FIRST - 1; at <= FIRST + n; at++) {
			bool inside = at >= FIRST && at < FIRST + n;

			if (round)
				make_all(t, old, n);
			put(test, FIRST, old, n);
			zram_slot_begin(t->state, at);
			zram_slots_clear(t->state, FIRST, n);
			KUNIT_EXPECT_EQ(test, inside ? -ESTALE : 0,
					zram_slot_store(t->state, at, &empty,
							true));
			for (i = 0; i < n; i++)
				KUNIT_EXPECT_EQ(test, 0UL,
						zram_slot_peek(t->state,
							       FIRST + i));
		}
	}
}

static struct kunit_case batch_cases[] = {
	KUNIT_CASE_PARAM(store_is_as_good_as_one_by_one, number_gen_params),
	KUNIT_CASE(every_pair_replaces_every_pair),
	KUNIT_CASE(without_room_the_first_are_stored),
	KUNIT_CASE_PARAM(impossible_size_changes_nothing, number_gen_params),
	KUNIT_CASE_PARAM(store_tells_those_at_work, number_gen_params),
	KUNIT_CASE_PARAM(same_room_is_used_again, number_gen_params),
	KUNIT_CASE(some_stay_where_they_are),
	KUNIT_CASE_PARAM(clear_empties_all, number_gen_params),
	KUNIT_CASE_PARAM(clear_tells_those_at_work, number_gen_params),
	{}
};

static struct kunit_suite batch_suite = {
	.name = "zram_batch",
	.init = batch_init,
	.exit = batch_exit,
	.test_cases = batch_cases,
};

kunit_test_suite(batch_suite);
