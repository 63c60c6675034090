// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of pages in and out: every codec gives back every kind of page, errors
 * leave the old contents, and writers that meet do not undo each other.
 *
 * Where two must meet at a certain point a codec of the suite's own makes them
 * meet: it compresses as another does, after a call to whoever wants to come
 * in between.
 */
#include "zram_kunit.h"

#define NR_PAGES	64

static int io_init(struct kunit *test)
{
	test->priv = zram_test_create(test, zcomp_backend_default(), NR_PAGES);
	return 0;
}

static int io_codec_init(struct kunit *test)
{
	test->priv = zram_test_create(test, zcomp_test_codec(test), NR_PAGES);
	return 0;
}

static void io_exit(struct kunit *test)
{
	zram_test_finish(test, test->priv);
}

KUNIT_ARRAY_PARAM(codec, zcomp_test_names, zcomp_test_describe);

/* --- A codec that lets others in ------------------------------------------ */

/**
 * struct hook - what the codec "hook" does before it compresses
 * @state: whose page is written
 * @index: which page
 * @act: called @left more times; its result, unless 0, is the codec's
 * @left: see there
 */
static struct hook {
	struct zram_state *state;
	u32 index;
	int (*act)(struct hook *hook);
	int left;
} hook;

static void *hook_create(int node)
{
	return zcomp_backend_default()->create(node);
}

static void hook_destroy(void *work)
{
	zcomp_backend_default()->destroy(work);
}

static int hook_compress(void *work, const void *src, void *dst,
			 unsigned int *len)
{
	int ret = 0;

	if (hook.left > 0) {
		hook.left--;
		ret = hook.act(&hook);
	}
	return ret ?: zcomp_backend_default()->compress(work, src, dst, len);
}

static int hook_decompress(void *work, const void *src, unsigned int len,
			   void *dst)
{
	return zcomp_backend_default()->decompress(work, src, len, dst);
}

static const struct zcomp_backend hook_backend = {
	.name = "hook",
	.fast = true,
	.in_place = true,
	.create = hook_create,
	.destroy = hook_destroy,
	.compress = hook_compress,
	.decompress = hook_decompress,
};

/* Give the fixture's state that codec; @index will be written. */
static struct zram_test *with_hook(struct kunit *test, u32 index,
				   int (*act)(struct hook *hook))
{
	struct zram_test *t = test->priv;
	struct zcomp *comp;

	if (!zcomp_backend_default()->create ||
	    !zcomp_backend_default()->in_place)
		kunit_skip(test, "the default codec is not of the usual kind");
	comp = zcomp_create(&hook_backend, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(comp));
	zcomp_destroy(t->state->comp[0]);
	t->state->comp[0] = comp;
	hook.state = t->state;
	hook.index = index;
	hook.act = act;
	hook.left = 0;
	return t;
}

static int hook_fails(struct hook *hook)
{
	return -EINVAL;
}

/* Whole pages of one word, which need no memory, hence no sleep. */
static int hook_overwrites(struct hook *hook)
{
	struct zram_content new = {
		.state = ZRAM_SLOT_SAME, .fill = 0x1000 + hook->left,
	};

	WARN_ON(zram_slot_store(hook->state, hook->index, &new, false));
	return 0;
}

static int hook_discards(struct hook *hook)
{
	zram_slot_free(hook->state, hook->index);
	return 0;
}

/* --- What is written comes back ------------------------------------------- */

/* Expect: zeroes, whatever the buffer held. */
static void unwritten_pages_read_as_zeroes(struct kunit *test)
{
	struct zram_test *t = test->priv;

	KUNIT_EXPECT_TRUE(test, zram_test_reads(t, 0, 0));
	KUNIT_EXPECT_TRUE(test, zram_test_reads(t, NR_PAGES - 1, 0));
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_STORED), 0);
}

/* Expect: every kind of page comes back, twice, through every codec. */
static void every_kind_of_page_comes_back(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 i;

	for (i = 0; i < NR_PAGES; i++)
		KUNIT_ASSERT_EQ(test, zram_test_write(t, i, 1000 * i + i % 4),
				0);
	for (i = 0; i < 2 * NR_PAGES; i++) {
		u32 index = i % NR_PAGES;

		KUNIT_EXPECT_TRUE(test, zram_test_reads(t, index, 1000 * index +
							index % 4));
	}
	zram_test_check_books(test, t->state);
}

/* Expect: pages are stored as what they are. */
static void kinds_of_pages_become_states(struct kunit *test)
{
	static const enum zram_slot_state states[] = {
		[ZRAM_TEST_SAME] = ZRAM_SLOT_SAME,
		[ZRAM_TEST_TEXT] = ZRAM_SLOT_COMPRESSED,
		[ZRAM_TEST_RANDOM] = ZRAM_SLOT_HUGE,
		[ZRAM_TEST_NEARLY] = ZRAM_SLOT_COMPRESSED,
	};
	struct zram_test *t = test->priv;
	u32 kind;

	for (kind = 0; kind < ZRAM_TEST_NR_KINDS; kind++) {
		KUNIT_EXPECT_EQ(test, zram_test_write(t, kind, kind), 0);
		KUNIT_EXPECT_EQ(test, zram_test_state(t, kind), states[kind]);
		KUNIT_EXPECT_TRUE(test, zram_test_reads(t, kind, kind));
	}
}

/* Expect: the last write counts, whatever the page was before. */
static void overwritten_pages_come_back(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 tags[NR_PAGES] = {};
	u32 step, i, wrong = 0;

	for (step = 0; step < 600; step++) {
		i = zcomp_test_below(&t->rnd, NR_PAGES);
		tags[i] = zcomp_test_below(&t->rnd, 1 << 24);
		wrong += !!zram_test_write(t, i, tags[i]);
		i = zcomp_test_below(&t->rnd, NR_PAGES);
		wrong += !zram_test_reads(t, i, tags[i]);
	}
	KUNIT_EXPECT_EQ(test, wrong, 0U);
	zram_test_check_books(test, t->state);
}

/* Expect: one word alone takes no memory; one other byte anywhere does. */
static void one_odd_byte_is_kept(struct kunit *test)
{
	static const u32 odd[] = {
		0, 1, 7, 8, 2047, 2048, PAGE_SIZE - 8, PAGE_SIZE - 1,
	};
	struct zram_test *t = test->priv;
	u32 i;

	memset(t->want, 0x77, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, zram_write_page(t->state, 0, t->want), 0);
	KUNIT_EXPECT_EQ(test, zram_test_state(t, 0), ZRAM_SLOT_SAME);
	KUNIT_EXPECT_EQ(test, zram_test_pool_pages(t->state), 0UL);
	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		t->want[odd[i]] ^= 0x10;
		KUNIT_EXPECT_EQ(test, zram_write_page(t->state, i, t->want), 0);
		KUNIT_EXPECT_EQ(test, zram_test_state(t, i),
				ZRAM_SLOT_COMPRESSED);
		KUNIT_EXPECT_EQ(test, zram_read_page(t->state, i, t->page), 0);
		KUNIT_EXPECT_EQ(test, memcmp(t->page, t->want, PAGE_SIZE), 0);
		t->want[odd[i]] ^= 0x10;
	}
}

/* Expect: what does not shrink is kept as it is, and counted each time. */
static void incompressible_pages_are_huge(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, 0,
				zram_test_write(t, 1, 8 * i +
						ZRAM_TEST_RANDOM));
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_HUGE), 1);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_HUGE_SINCE), 3);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_BYTES), PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, zram_test_pool_pages(t->state), 1UL);
}

/* --- Parts of pages ------------------------------------------------------- */

struct part {
	u32 offset;
	u32 len;
};

static const struct part parts[] = {
	{ 0, 1 }, { 1, 1 }, { 0, 512 }, { 512, 512 }, { 3584, 512 },
	{ 3, 4001 }, { 1, PAGE_SIZE - 2 }, { PAGE_SIZE - 1, 1 },
	{ 0, PAGE_SIZE },
};

/* Expect: the part is there, the rest of the page as before, if anything. */
static void part_is_written_into_any_page(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u8 *part = zram_test_page(test);
	u32 i, kind, index;

	prandom_bytes_state(&t->rnd, part, PAGE_SIZE);
	for (i = 0; i < ARRAY_SIZE(parts) * ZRAM_TEST_NR_KINDS; i++) {
		const struct part *p = &parts[i / ZRAM_TEST_NR_KINDS];

		kind = i % ZRAM_TEST_NR_KINDS;
		index = i % NR_PAGES;
		KUNIT_EXPECT_EQ(test, zram_test_write(t, index, kind), 0);
		KUNIT_EXPECT_EQ(test, 0,
				zram_write_partial(t->state, index, p->offset,
						   p->len, part));
		zram_test_make(t->want, kind);
		memcpy(t->want + p->offset, part, p->len);
		KUNIT_EXPECT_EQ(test, 0,
				zram_read_page(t->state, index, t->page));
		KUNIT_EXPECT_EQ(test, memcmp(t->page, t->want, PAGE_SIZE), 0);
	}
	zram_test_check_books(test, t->state);
}

/* Expect: a page that was never written is zero around the part. */
static void part_is_written_into_an_empty_page(struct kunit *test)
{
	struct zram_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, 0,
			zram_write_partial(t->state, 2, 100, 4, "part"));
	memcpy(t->want + 100, "part", 4);
	KUNIT_EXPECT_EQ(test, zram_read_page(t->state, 2, t->page), 0);
	KUNIT_EXPECT_EQ(test, memcmp(t->page, t->want, PAGE_SIZE), 0);
}

/* Expect: parts that add up to one word make it a page of one word. */
static void parts_may_make_a_page_of_one_word(struct kunit *test)
{
	struct zram_test *t = test->priv;

	KUNIT_EXPECT_EQ(test, zram_test_write(t, 3, ZRAM_TEST_NEARLY), 0);
	KUNIT_EXPECT_EQ(test, 0,
			zram_write_partial(t->state, 3, PAGE_SIZE - 1, 1, ""));
	KUNIT_EXPECT_EQ(test, zram_read_page(t->state, 3, t->page), 0);
	KUNIT_EXPECT_EQ(test, t->page[PAGE_SIZE - 1], 0);
	memset(t->want, 0, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, 0,
			zram_write_partial(t->state, 3, 0, PAGE_SIZE - 1,
					   t->want));
	KUNIT_EXPECT_EQ(test, zram_test_state(t, 3), ZRAM_SLOT_SAME);
}

/* What a part of eight bytes at 512 makes of a page of one word. */
static void expect_part_on_top(struct kunit *test, unsigned long word)
{
	struct zram_test *t = test->priv;

	memset_l((unsigned long *)t->want, word, PAGE_SIZE / sizeof(long));
	memcpy(t->want + 512, "the part", 8);
	KUNIT_EXPECT_EQ(test, zram_read_page(t->state, 1, t->page), 0);
	KUNIT_EXPECT_EQ(test, memcmp(t->page, t->want, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, hook.left, 0);
}

/*
 * Expect: pages written while a part is on its way are not undone: the part
 * ends up on top of the last of them.
 */
static void part_lands_on_a_page_written_meanwhile(struct kunit *test)
{
	struct zram_test *t = with_hook(test, 1, hook_overwrites);

	KUNIT_EXPECT_EQ(test, zram_test_write(t, 1, ZRAM_TEST_TEXT), 0);
	hook.left = 3;
	KUNIT_EXPECT_EQ(test, 0,
			zram_write_partial(t->state, 1, 512, 8, "the part"));
	expect_part_on_top(test, 0x1000);
}

/* Expect: nor does what was discarded meanwhile come back. */
static void part_lands_on_a_page_discarded_meanwhile(struct kunit *test)
{
	struct zram_test *t = with_hook(test, 1, hook_discards);

	KUNIT_EXPECT_EQ(test, zram_test_write(t, 1, ZRAM_TEST_TEXT), 0);
	hook.left = 2;
	KUNIT_EXPECT_EQ(test, 0,
			zram_write_partial(t->state, 1, 512, 8, "the part"));
	expect_part_on_top(test, 0);
}

/* --- Errors --------------------------------------------------------------- */

/* Overwrite the object of a slot with bytes that no codec accepts. */
static void damage(struct zram_test *t, u32 index)
{
	struct zram_slot *slot = &t->state->slots[index];

	memset(t->want, 0xff, PAGE_SIZE);
	zram_slot_lock(t->state, index);
	zs_obj_write(slot->loc, t->want, zram_word_size(slot->word));
	zram_slot_unlock(t->state, index);
}

/* Expect: -EIO and zeroes rather than wrong bytes; a new write heals. */
static void damaged_page_is_an_error(struct kunit *test)
{
	struct zram_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, zram_test_write(t, 4, 4000 + ZRAM_TEST_TEXT), 0);
	KUNIT_ASSERT_EQ(test, zram_test_state(t, 4), ZRAM_SLOT_COMPRESSED);
	damage(t, 4);
	memset(t->page, 0xee, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, zram_read_page(t->state, 4, t->page), -EIO);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(t->page, 0, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_READS), 1);
	KUNIT_EXPECT_FALSE(test, zram_test_locked(t->state, 4));
	KUNIT_EXPECT_EQ(test, zram_test_write(t, 4, 8 + ZRAM_TEST_TEXT), 0);
	KUNIT_EXPECT_TRUE(test, zram_test_reads(t, 4, 8 + ZRAM_TEST_TEXT));
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_READS), 1);
}

/* Expect: a part does not turn a damaged page into a good one of zeroes. */
static void part_of_a_damaged_page_is_an_error(struct kunit *test)
{
	struct zram_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, zram_test_write(t, 4, 4000 + ZRAM_TEST_TEXT), 0);
	damage(t, 4);
	KUNIT_EXPECT_EQ(test, -EIO,
			zram_write_partial(t->state, 4, 512, 4, "part"));
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 1);
	KUNIT_EXPECT_EQ(test, zram_read_page(t->state, 4, t->page), -EIO);
}

/* Expect: a codec's failure is the write's, and the old page stays. */
static void codec_failure_fails_the_write(struct kunit *test)
{
	struct zram_test *t = with_hook(test, 1, hook_fails);

	KUNIT_EXPECT_EQ(test, zram_test_write(t, 1, ZRAM_TEST_TEXT), 0);
	hook.left = 2;
	KUNIT_EXPECT_EQ(test, zram_test_write(t, 1, 8 + ZRAM_TEST_TEXT),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			zram_write_partial(t->state, 1, 0, 4, "part"));
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 2);
	KUNIT_EXPECT_TRUE(test, zram_test_reads(t, 1, ZRAM_TEST_TEXT));
}

static struct kunit_case io_cases[] = {
	KUNIT_CASE(unwritten_pages_read_as_zeroes),
	KUNIT_CASE(kinds_of_pages_become_states),
	KUNIT_CASE(one_odd_byte_is_kept),
	KUNIT_CASE(incompressible_pages_are_huge),
	KUNIT_CASE(part_is_written_into_an_empty_page),
	KUNIT_CASE(parts_may_make_a_page_of_one_word),
	KUNIT_CASE(part_lands_on_a_page_written_meanwhile),
	KUNIT_CASE(part_lands_on_a_page_discarded_meanwhile),
	KUNIT_CASE(codec_failure_fails_the_write),
	{}
};

static struct kunit_suite io_suite = {
	.name = "zram_io",
	.init = io_init,
	.exit = io_exit,
	.test_cases = io_cases,
};

/* These are run for every codec. */
static struct kunit_case io_codec_cases[] = {
	KUNIT_CASE_PARAM(every_kind_of_page_comes_back, codec_gen_params),
	KUNIT_CASE_PARAM(overwritten_pages_come_back, codec_gen_params),
	KUNIT_CASE_PARAM(part_is_written_into_any_page, codec_gen_params),
	KUNIT_CASE_PARAM(damaged_page_is_an_error, codec_gen_params),
	KUNIT_CASE_PARAM(part_of_a_damaged_page_is_an_error, codec_gen_params),
	{}
};

static struct kunit_suite io_codec_suite = {
	.name = "zram_io_codec",
	.init = io_codec_init,
	.exit = io_exit,
	.test_cases = io_codec_cases,
};

kunit_test_suites(&io_suite, &io_codec_suite);
