// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of slots: what each step leaves in them, in the counters and in the
 * pool.
 *
 * Each case starts with empty slots and ends with a check of the books.
 */
#include "zram_kunit.h"

#define NR_PAGES	256

/* Bytes that cases store: as many as they say, from the start of this. */
static u8 noise[PAGE_SIZE];

static const struct zram_content empty = { .state = ZRAM_SLOT_EMPTY };

static const struct zram_content same = {
	.state = ZRAM_SLOT_SAME, .fill = 0x5a5a5a5a,
};

static const struct zram_content small = {
	.state = ZRAM_SLOT_COMPRESSED, .codec = 1, .size = 48, .data = noise,
};

static const struct zram_content compressed = {
	.state = ZRAM_SLOT_COMPRESSED, .size = 1500, .data = noise,
};

static const struct zram_content huge = {
	.state = ZRAM_SLOT_HUGE, .size = PAGE_SIZE, .data = noise,
};

/* By enum zram_slot_state. */
static const struct zram_content * const contents[] = {
	&empty, &same, &compressed, &huge,
};

static int slot_init(struct kunit *test)
{
	struct zram_test *t;

	t = zram_test_create(test, zcomp_backend_default(), NR_PAGES);
	prandom_bytes_state(&t->rnd, noise, sizeof(noise));
	test->priv = t;
	return 0;
}

static void slot_exit(struct kunit *test)
{
	zram_test_finish(test, test->priv);
}

static void put(struct kunit *test, u32 index,
		const struct zram_content *content)
{
	struct zram_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, zram_test_store(t->state, index, content), 0);
}

static void expect_counters(struct kunit *test,
			    const struct zram_content *content, s64 huge_since)
{
	struct zram_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_STORED),
			content->state != ZRAM_SLOT_EMPTY);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_BYTES),
			content->size);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_SAME),
			content->state == ZRAM_SLOT_SAME);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_HUGE),
			content->state == ZRAM_SLOT_HUGE);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_HUGE_SINCE),
			huge_since);
}

/* --- Contents and counters ------------------------------------------------ */

struct transition {
	const struct zram_content *from;
	const struct zram_content *to;
};

static const struct transition transitions[] = {
	{ &empty, &empty }, { &empty, &same },
	{ &empty, &compressed }, { &empty, &huge },
	{ &same, &empty }, { &same, &same },
	{ &same, &compressed }, { &same, &huge },
	{ &compressed, &empty }, { &compressed, &same },
	{ &compressed, &compressed }, { &compressed, &huge },
	{ &huge, &empty }, { &huge, &same },
	{ &huge, &compressed }, { &huge, &huge },
	{ &compressed, &small }, { &small, &compressed },
};

static void describe_transition(const struct transition *c, char *desc)
{
	static const char * const names[] = {
		"empty", "same", "compressed", "huge",
	};

	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %u to %s %u",
		 names[c->from->state], c->from->size,
		 names[c->to->state], c->to->size);
}

KUNIT_ARRAY_PARAM(transition, transitions, describe_transition);

/* Expect: the new contents only, in the slot as in every counter. */
static void transition_replaces_contents(struct kunit *test)
{
	const struct transition *c = test->param_value;
	struct zram_test *t = test->priv;
	s64 since = c->from == &huge;

	put(test, 7, c->from);
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 7, c->from));
	expect_counters(test, c->from, since);
	put(test, 7, c->to);
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 7, c->to));
	expect_counters(test, c->to, since + (c->to == &huge));
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 6, &empty));
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 8, &empty));
}

/* Expect: a fresh table holds nothing. */
static void new_slots_are_empty(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 i;

	for (i = 0; i < NR_PAGES; i++)
		KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, i, &empty));
	expect_counters(test, &empty, 0);
	KUNIT_EXPECT_EQ(test, zram_test_pool_pages(t->state), 0UL);
}

/* Expect: after any sequence of stores, slots and counters as in a table. */
static void random_stores_match_a_model(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u8 model[NR_PAGES] = {};
	u32 i, step, pick, wrong = 0;
	s64 since = 0;

	for (step = 0; step < 4000; step++) {
		i = zcomp_test_below(&t->rnd, NR_PAGES);
		pick = zcomp_test_below(&t->rnd, ARRAY_SIZE(contents));
		if (pick || step % 2)
			put(test, i, contents[pick]);
		else
			wrong += zram_slot_free(t->state, i) != !!model[i];
		since += pick == ZRAM_SLOT_HUGE;
		model[i] = pick;
	}
	for (i = 0; i < NR_PAGES; i++)
		wrong += !zram_test_holds(t->state, i, contents[model[i]]);
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_HUGE_SINCE), since);
	zram_test_check_books(test, t->state);
}

/* Expect: a slot's word keeps every codec and size apart from the rest. */
static void word_keeps_codec_and_size(struct kunit *test)
{
	static const u32 sizes[] = { 1, 2, 255, 256, PAGE_SIZE - 1, PAGE_SIZE };
	struct zram_content new = {
		.state = ZRAM_SLOT_COMPRESSED, .data = noise,
	};
	struct zram_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes) * ZRAM_MAX_CODECS; i++) {
		new.codec = i % ZRAM_MAX_CODECS;
		new.size = sizes[i / ZRAM_MAX_CODECS];
		put(test, 3, &new);
		KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 3, &new));
		expect_counters(test, &new, 0);
	}
}

/* Expect: a word of all ones is kept, not taken for flags or a location. */
static void fill_keeps_every_bit(struct kunit *test)
{
	static const u64 fills[] = { 0, 1, ULONG_MAX, 1ULL << 63, ZS_LOC_NONE };
	struct zram_content new = { .state = ZRAM_SLOT_SAME };
	struct zram_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fills); i++) {
		new.fill = fills[i];
		put(test, 0, &new);
		KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 0, &new));
	}
}

/* Expect: whatever was in the slot is gone, and the call says so once. */
static void free_empties_a_slot(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 i;

	for (i = ZRAM_SLOT_SAME; i <= ZRAM_SLOT_HUGE; i++) {
		put(test, i, contents[i]);
		KUNIT_EXPECT_TRUE(test, zram_slot_free(t->state, i));
		KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, i, &empty));
		KUNIT_EXPECT_FALSE(test, zram_slot_free(t->state, i));
	}
	expect_counters(test, &empty, 1);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_NOTIFY_FREE), 0);
}

/* Expect: nothing at all happens to a slot that was never used. */
static void free_of_an_empty_slot_does_nothing(struct kunit *test)
{
	struct zram_test *t = test->priv;

	KUNIT_EXPECT_FALSE(test, zram_slot_free(t->state, 0));
	KUNIT_EXPECT_FALSE(test, zram_slot_free(t->state, NR_PAGES - 1));
	KUNIT_EXPECT_EQ(test, zram_slot_peek(t->state, 0), 0UL);
	expect_counters(test, &empty, 0);
}

/*
 * Expect: without room, -EAGAIN; the slot, its flag, the counters and the
 * pool stay as they were, and the store succeeds once the pool has grown.
 */
static void store_without_room_changes_nothing(struct kunit *test)
{
	struct zram_content new = {
		.state = ZRAM_SLOT_COMPRESSED, .size = 700, .data = noise,
	};
	struct zram_test *t = test->priv;
	unsigned long pages, word;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(contents); i++) {
		put(test, 1, contents[i]);
		zram_slot_begin(t->state, 1);
		word = zram_slot_peek(t->state, 1);
		pages = zram_test_pool_pages(t->state);
		KUNIT_EXPECT_EQ(test, -EAGAIN,
				zram_slot_store(t->state, 1, &new, true));
		KUNIT_EXPECT_TRUE(test,
				  zram_test_holds(t->state, 1, contents[i]));
		KUNIT_EXPECT_EQ(test, zram_slot_peek(t->state, 1), word);
		KUNIT_EXPECT_EQ(test, zram_test_pool_pages(t->state), pages);
		expect_counters(test, contents[i], i == ZRAM_SLOT_HUGE);
	}
	KUNIT_EXPECT_EQ(test, zs_pool_grow(t->state->pool, 700, GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, zram_slot_store(t->state, 1, &new, true), 0);
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 1, &new));
}

/* Expect: a size that no object has is refused, and the slot keeps its own. */
static void store_refuses_impossible_sizes(struct kunit *test)
{
	static const u32 sizes[] = { 0, PAGE_SIZE + 1, U32_MAX };
	struct zram_content new = compressed;
	struct zram_test *t = test->priv;
	u32 i;

	put(test, 1, &compressed);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		new.size = sizes[i];
		KUNIT_EXPECT_EQ(test, -EINVAL,
				zram_slot_store(t->state, 1, &new, false));
		KUNIT_EXPECT_TRUE(test,
				  zram_test_holds(t->state, 1, &compressed));
	}
	expect_counters(test, &compressed, 0);
}

/* --- Work without the lock ------------------------------------------------ */

/* Expect: the store succeeds where nothing happened, and only once. */
static void store_succeeds_on_an_untouched_slot(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(contents); i++) {
		put(test, 5, contents[i]);
		zram_slot_begin(t->state, 5);
		KUNIT_EXPECT_TRUE(test,
				  zram_test_holds(t->state, 5, contents[i]));
		KUNIT_EXPECT_EQ(test, 0,
				zram_slot_store(t->state, 5, &same, true));
		KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 5, &same));
		KUNIT_EXPECT_EQ(test, -ESTALE,
				zram_slot_store(t->state, 5, &empty, true));
		KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 5, &same));
	}
}

/* Expect: whoever never began cannot store on that condition. */
static void store_needs_a_beginning(struct kunit *test)
{
	struct zram_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, zram_slot_store(t->state, 5, &same, true),
			-ESTALE);
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 5, &empty));
	zram_slot_begin(t->state, 5);
	KUNIT_EXPECT_EQ(test, zram_slot_store(t->state, 6, &same, true),
			-ESTALE);
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 6, &empty));
}

/* Expect: any store in between makes the work stale, even of equal bytes. */
static void store_in_between_makes_work_stale(struct kunit *test)
{
	const struct transition *c = test->param_value;
	struct zram_test *t = test->priv;

	put(test, 5, c->from);
	zram_slot_begin(t->state, 5);
	put(test, 5, c->to);
	KUNIT_EXPECT_FALSE(test, zram_slot_peek(t->state, 5) &
				 ZRAM_SLOT_PROCESSING);
	KUNIT_EXPECT_EQ(test, zram_slot_store(t->state, 5, &small, true),
			-ESTALE);
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 5, c->to));
}

/* Expect: so does a free, be the slot empty or not. */
static void free_in_between_makes_work_stale(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(contents); i++) {
		put(test, 5, contents[i]);
		zram_slot_begin(t->state, 5);
		zram_slot_free(t->state, 5);
		KUNIT_EXPECT_EQ(test, -ESTALE,
				zram_slot_store(t->state, 5, &small, true));
		KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 5, &empty));
	}
}

/* Expect: what happens to other slots is no matter. */
static void neighbours_do_not_make_work_stale(struct kunit *test)
{
	struct zram_test *t = test->priv;

	zram_slot_begin(t->state, 5);
	put(test, 4, &same);
	put(test, 6, &compressed);
	zram_slot_free(t->state, 6);
	KUNIT_EXPECT_EQ(test, zram_slot_store(t->state, 5, &same, true), 0);
}

/* --- Owners, as the allocator asks them ----------------------------------- */

/* Expect: false, with no lock held, unless the slot's object is at @from. */
static void owner_lock_refuses_what_is_elsewhere(struct kunit *test)
{
	struct zram_content trap = { .state = ZRAM_SLOT_SAME };
	struct zram_test *t = test->priv;
	struct zram_state *state = t->state;
	u64 at, other;

	put(test, 0, &compressed);
	put(test, 1, &huge);
	at = state->slots[0].loc;
	other = state->slots[1].loc;
	/* A fill that looks like the location is none. */
	trap.fill = at;
	put(test, 2, &trap);
	KUNIT_EXPECT_TRUE(test, zram_test_refused(state, NR_PAGES, at));
	KUNIT_EXPECT_TRUE(test, zram_test_refused(state, U32_MAX, at));
	KUNIT_EXPECT_TRUE(test, zram_test_refused(state, 0, other));
	KUNIT_EXPECT_TRUE(test, zram_test_refused(state, 0, ZS_LOC_NONE));
	KUNIT_EXPECT_TRUE(test, zram_test_refused(state, 1, at));
	KUNIT_EXPECT_TRUE(test, zram_test_refused(state, 2, at));
	KUNIT_EXPECT_TRUE(test, zram_test_refused(state, 3, at));
	KUNIT_EXPECT_TRUE(test, zram_test_refused(state, 3, ZS_LOC_NONE));
	zram_slot_free(state, 0);
	KUNIT_EXPECT_TRUE(test, zram_test_refused(state, 0, at));
	zram_test_check_books(test, state);
}

/* Expect: the right owner is locked, told of the move, and unlocked. */
static void owner_follows_its_object(struct kunit *test)
{
	struct zram_test *t = test->priv;
	bool granted, locked;
	u64 from, now;

	put(test, 9, &compressed);
	from = t->state->slots[9].loc;
	granted = zram_owner_ops.lock(t->state, 9, from);
	KUNIT_ASSERT_TRUE(test, granted);
	locked = zram_test_locked(t->state, 9);
	zram_owner_ops.relocate(t->state, 9, from, from + 2);
	now = t->state->slots[9].loc;
	zram_owner_ops.relocate(t->state, 9, from + 2, from);
	zram_owner_ops.unlock(t->state, 9);
	KUNIT_EXPECT_TRUE(test, locked);
	KUNIT_EXPECT_EQ(test, now, from + 2);
	KUNIT_EXPECT_TRUE(test, zram_test_holds(t->state, 9, &compressed));
}

/* Expect: compaction moves objects, and slots find theirs where they went. */
static void slots_find_objects_that_moved(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u64 *locs = kunit_kzalloc(test, NR_PAGES * sizeof(*locs), GFP_KERNEL);
	u32 i, moved = 0, wrong = 0;

	KUNIT_ASSERT_NOT_NULL(test, locs);
	for (i = 0; i < NR_PAGES; i++)
		put(test, i, &compressed);
	for (i = 0; i < NR_PAGES; i++)
		if (zcomp_test_below(&t->rnd, 3))
			zram_slot_free(t->state, i);
	for (i = 0; i < NR_PAGES; i++)
		locs[i] = t->state->slots[i].loc;
	KUNIT_EXPECT_GT(test, zs_pool_compact(t->state->pool, NULL), 0UL);
	for (i = 0; i < NR_PAGES; i++) {
		if (zram_test_state(t, i) == ZRAM_SLOT_EMPTY)
			continue;
		moved += locs[i] != t->state->slots[i].loc;
		wrong += !zram_test_holds(t->state, i, &compressed);
	}
	KUNIT_EXPECT_GT(test, moved, 0U);
	KUNIT_EXPECT_EQ(test, wrong, 0U);
}

static struct kunit_case slot_cases[] = {
	KUNIT_CASE(new_slots_are_empty),
	KUNIT_CASE_PARAM(transition_replaces_contents, transition_gen_params),
	KUNIT_CASE(random_stores_match_a_model),
	KUNIT_CASE(word_keeps_codec_and_size),
	KUNIT_CASE(fill_keeps_every_bit),
	KUNIT_CASE(free_empties_a_slot),
	KUNIT_CASE(free_of_an_empty_slot_does_nothing),
	KUNIT_CASE(store_without_room_changes_nothing),
	KUNIT_CASE(store_refuses_impossible_sizes),
	KUNIT_CASE(store_succeeds_on_an_untouched_slot),
	KUNIT_CASE(store_needs_a_beginning),
	KUNIT_CASE_PARAM(store_in_between_makes_work_stale,
			 transition_gen_params),
	KUNIT_CASE(free_in_between_makes_work_stale),
	KUNIT_CASE(neighbours_do_not_make_work_stale),
	KUNIT_CASE(owner_lock_refuses_what_is_elsewhere),
	KUNIT_CASE(owner_follows_its_object),
	KUNIT_CASE(slots_find_objects_that_moved),
	{}
};

static struct kunit_suite slot_suite = {
	.name = "zram_slot",
	.init = slot_init,
	.exit = slot_exit,
	.test_cases = slot_cases,
};

kunit_test_suite(slot_suite);
