// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of several pages written together: alone, and as parts of a long bio.
 *
 * Pages are those of numbers (zram_test_make()). Where memory ends in the
 * middle, those before it are new and those from there on are old.
 */
#include <linux/bio.h>
#include <linux/sched/mm.h>

#include "zram_kunit.h"

#define NR_PAGES	160

/* Pages of the longest bio here; its memory may have as many in gaps. */
#define BIO_PAGES	64
#define AREA_ORDER	7

/* A page that is as large as it was: each takes a page of the pool. */
#define NOISE(n)	(ZRAM_TEST_NR_KINDS * (n) + ZRAM_TEST_RANDOM)

static int batch_io_init(struct kunit *test)
{
	test->priv = zram_test_create(test, zcomp_backend_default(), NR_PAGES);
	return 0;
}

static int batch_codec_init(struct kunit *test)
{
	test->priv = zram_test_create(test, zcomp_test_codec(test), NR_PAGES);
	return 0;
}

static void batch_io_exit(struct kunit *test)
{
	zram_test_finish(test, test->priv);
}

KUNIT_ARRAY_PARAM(codec, zcomp_test_names, zcomp_test_describe);

/* Write the pages of some numbers together. */
static int write_tags(struct kunit *test, u32 first, const u32 *tags, u32 n)
{
	struct zram_test *t = test->priv;
	void *mem = (void *)__get_free_pages(GFP_KERNEL, get_order(ZCOMP_BATCH *
								   PAGE_SIZE));
	const void *src[ZCOMP_BATCH];
	u32 i;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	for (i = 0; i < n; i++) {
		src[i] = mem + i * PAGE_SIZE;
		zram_test_make(mem + i * PAGE_SIZE, tags[i]);
	}
	ret = zram_write_pages(t->state, first, src, n);
	free_pages((unsigned long)mem, get_order(ZCOMP_BATCH * PAGE_SIZE));
	return ret;
}

/* How many pages do not read as those of their numbers. */
static u32 wrong(struct kunit *test, u32 first, const u32 *tags, u32 n)
{
	u32 i, bad = 0;

	for (i = 0; i < n; i++)
		bad += !zram_test_reads(test->priv, first + i, tags[i]);
	return bad;
}

/* --- Every codec ---------------------------------------------------------- */

/* Expect: any number of pages of any kinds, together, over any others. */
static void pages_written_together_come_back(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 *tags = kunit_kcalloc(test, NR_PAGES, sizeof(*tags), GFP_KERNEL);
	u32 step, i, n, first, bad = 0;

	KUNIT_ASSERT_NOT_NULL(test, tags);
	for (step = 0; step < 200; step++) {
		n = 1 + step % ZCOMP_BATCH;
		first = zcomp_test_below(&t->rnd, 40 - n + 1);
		for (i = 0; i < n; i++)
			tags[first + i] = prandom_u32_state(&t->rnd);
		bad += !!write_tags(test, first, tags + first, n);
		bad += wrong(test, first, tags + first, n);
	}
	KUNIT_EXPECT_EQ(test, bad, 0U);
	KUNIT_EXPECT_EQ(test, wrong(test, 0, tags, NR_PAGES), 0U);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 0);
}

/* Expect: four in a row of each mix of kinds. */
static void every_mix_of_kinds_comes_back(struct kunit *test)
{
	u32 tags[4], mix, i, bad = 0;
	u32 mixes = 1 << 2 * ARRAY_SIZE(tags);

	static_assert(ZRAM_TEST_NR_KINDS == 4);
	static_assert(ARRAY_SIZE(tags) <= ZCOMP_BATCH);
	for (mix = 0; mix < mixes; mix++) {
		for (i = 0; i < ARRAY_SIZE(tags); i++)
			tags[i] = 4000 * i + 40 * mix + (mix >> 2 * i & 3);
		bad += !!write_tags(test, 7, tags, ARRAY_SIZE(tags));
		bad += wrong(test, 7, tags, ARRAY_SIZE(tags));
	}
	KUNIT_EXPECT_EQ(test, bad, 0U);
}

/* Expect: -EDQUOT; pages there was memory for are new, all others old. */
static void limit_cuts_between_two_pages(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 old[ZCOMP_BATCH], new[ZCOMP_BATCH], n, room, i;
	s64 failed = 0;

	for (n = 1; n <= ZCOMP_BATCH; n++) {
		for (room = 0; room < n; room++) {
			for (i = 0; i < n; i++) {
				/* Freed, they are no room for what follows. */
				old[i] = 4 * (100 + i);
				new[i] = NOISE(1000 * n + 10 * room + i);
			}
			zs_pool_set_limit(t->state->pool, 0);
			KUNIT_ASSERT_EQ(test, 0, write_tags(test, 3, old, n));
			KUNIT_ASSERT_EQ(test, 0UL,
					zram_test_pool_pages(t->state));
			/* Something to keep: no limit is no limit. */
			KUNIT_ASSERT_EQ(test, 0, zram_test_write(t, 99,
								 NOISE(1)));
			zs_pool_set_limit(t->state->pool, 1 + room);
			KUNIT_EXPECT_EQ(test, -EDQUOT,
					write_tags(test, 3, new, n));
			KUNIT_EXPECT_EQ(test, 0U, wrong(test, 3, new, room));
			KUNIT_EXPECT_EQ(test, 0U, wrong(test, 3 + room,
							old + room, n - room));
			KUNIT_EXPECT_TRUE(test, zram_test_reads(t, 99,
								NOISE(1)));
			zram_test_check_books(test, t->state);
			zram_slot_free(t->state, 99);
			KUNIT_EXPECT_EQ(test, (unsigned long)room,
					zram_test_pool_pages(t->state));
			KUNIT_EXPECT_GT(test, zram_test_sum(t->state,
							    ZRAM_FAILED_WRITES),
					failed);
			failed = zram_test_sum(t->state, ZRAM_FAILED_WRITES);
		}
	}
}

/* Expect: at the limit, pages that need no memory are written together. */
static void limit_lets_pages_shrink_together(struct kunit *test)
{
	u32 old[ZCOMP_BATCH], new[ZCOMP_BATCH], i;
	struct zram_test *t = test->priv;

	for (i = 0; i < ZCOMP_BATCH; i++) {
		old[i] = NOISE(1 + i);
		new[i] = i % 2 ? NOISE(101 + i) : 4 * (101 + i);
	}
	KUNIT_ASSERT_EQ(test, write_tags(test, 9, old, ZCOMP_BATCH), 0);
	zs_pool_set_limit(t->state->pool, 1);
	KUNIT_EXPECT_EQ(test, write_tags(test, 9, new, ZCOMP_BATCH), 0);
	KUNIT_EXPECT_EQ(test, wrong(test, 9, new, ZCOMP_BATCH), 0U);
	KUNIT_EXPECT_EQ(test, zram_test_pool_pages(t->state),
			ZCOMP_BATCH / 2UL);
}

/* --- Without memory ------------------------------------------------------- */

/* Words, which need no memory, and noise. */
static void words_and_noise(u32 *words, u32 *noise)
{
	u32 i;

	for (i = 0; i < ZCOMP_BATCH; i++) {
		words[i] = 4 * (1 + i);
		noise[i] = NOISE(101 + i);
	}
}

/* Write noise over words, with room for @room pages and then one failure. */
static int write_failing(struct kunit *test, const u32 *old, const u32 *new,
			 u32 room)
{
	struct zram_test *t = test->priv;
	u32 i;
	int ret;

	KUNIT_ASSERT_EQ(test, 0, write_tags(test, 0, old, ZCOMP_BATCH));
	for (i = 0; i < room; i++)
		KUNIT_ASSERT_EQ(test, 0, zs_pool_grow(t->state->pool, PAGE_SIZE,
						      GFP_KERNEL));
	zram_test_fail_allocation(true);
	ret = write_tags(test, 0, new, ZCOMP_BATCH);
	zram_test_fail_allocation(false);
	return ret;
}

static bool can_fail(struct kunit *test)
{
	struct zram_test *t = test->priv;

	/* A slow codec's allocations sleep, and those do not fail on demand. */
	return zram_test_can_fail_allocations() &&
	       zcomp_backend_of(t->state->comp[0])->fast;
}

/* Expect: in reclaim no memory is -ENOMEM, in the middle as anywhere. */
static void no_memory_cuts_between_two_pages(struct kunit *test)
{
	u32 old[ZCOMP_BATCH], new[ZCOMP_BATCH], room;
	struct zram_test *t = test->priv;
	unsigned int flags;
	int ret;

	if (!can_fail(test))
		kunit_skip(test, "this kernel's allocations do not fail");
	words_and_noise(old, new);
	for (room = 0; room < ZCOMP_BATCH; room++) {
		flags = memalloc_noreclaim_save();
		ret = write_failing(test, old, new, room);
		memalloc_noreclaim_restore(flags);
		KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, 0, new, room));
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, room, old + room,
						ZCOMP_BATCH - room));
		KUNIT_EXPECT_EQ(test, (unsigned long)room,
				zram_test_pool_pages(t->state));
		zram_test_check_books(test, t->state);
	}
	KUNIT_EXPECT_GT(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 0);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_WRITE_STALLS), 0);
}

/* Expect: elsewhere the write waits for memory, and goes on where it was. */
static void write_waits_for_memory(struct kunit *test)
{
	u32 old[ZCOMP_BATCH], new[ZCOMP_BATCH], room;
	struct zram_test *t = test->priv;

	if (!can_fail(test))
		kunit_skip(test, "this kernel's allocations do not fail");
	words_and_noise(old, new);
	for (room = 0; room < ZCOMP_BATCH; room++) {
		KUNIT_EXPECT_EQ(test, write_failing(test, old, new, room), 0);
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, 0, new, ZCOMP_BATCH));
		KUNIT_EXPECT_EQ(test, (s64)room + 1,
				zram_test_sum(t->state, ZRAM_WRITE_STALLS));
		KUNIT_EXPECT_EQ(test, (s64)(room + 1) * ZCOMP_BATCH,
				zram_test_sum(t->state, ZRAM_HUGE_SINCE));
		zram_test_check_books(test, t->state);
	}
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 0);
}

/* --- A codec that fails --------------------------------------------------- */

/* Calls until the codec of the next case fails. */
static int left;

static void *failing_create(int node)
{
	return zcomp_backend_default()->create(node);
}

static void failing_destroy(void *work)
{
	zcomp_backend_default()->destroy(work);
}

static int failing_compress(void *work, const void *src, void *dst,
			    unsigned int *len)
{
	if (!left--)
		return -EINVAL;
	return zcomp_backend_default()->compress(work, src, dst, len);
}

static int failing_decompress(void *work, const void *src, unsigned int len,
			      void *dst)
{
	return zcomp_backend_default()->decompress(work, src, len, dst);
}

static const struct zcomp_backend failing_backend = {
	.name = "failing",
	.fast = true,
	.in_place = true,
	.create = failing_create,
	.destroy = failing_destroy,
	.compress = failing_compress,
	.decompress = failing_decompress,
};

/* Expect: -EINVAL; pages before the one it fails at are new, others old. */
static void codec_failure_cuts_between_two_pages(struct kunit *test)
{
	u32 old[ZCOMP_BATCH], new[ZCOMP_BATCH], at;
	struct zram_test *t = test->priv;
	struct zcomp *comp;

	if (!zcomp_backend_default()->create ||
	    !zcomp_backend_default()->in_place)
		kunit_skip(test, "the default codec is not of the usual kind");
	comp = zcomp_create(&failing_backend, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(comp));
	zcomp_destroy(t->state->comp[0]);
	t->state->comp[0] = comp;
	for (at = 0; at < ZCOMP_BATCH; at++) {
		old[at] = 5 + 4 * at;
		new[at] = at == 1 ? NOISE(6) : 401 + 4 * at;
	}
	for (at = 0; at < ZCOMP_BATCH; at++) {
		left = INT_MAX;
		KUNIT_ASSERT_EQ(test, 0, write_tags(test, 2, old, ZCOMP_BATCH));
		left = at;
		KUNIT_EXPECT_EQ(test, -EINVAL,
				write_tags(test, 2, new, ZCOMP_BATCH));
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, 2, new, at));
		KUNIT_EXPECT_EQ(test, 0U, wrong(test, 2 + at, old + at,
						ZCOMP_BATCH - at));
		zram_test_check_books(test, t->state);
	}
	KUNIT_EXPECT_GT(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 0);
}

/* --- Long bios ------------------------------------------------------------ */

/**
 * struct bench - a disk, and memory for its bios
 * @zram: the device
 * @t: what helpers work on; its state is the device's
 * @area: where bios read to and write from
 * @tags: numbers of the pages that the disk holds
 */
struct bench {
	struct zram *zram;
	struct zram_test t;
	struct page *area;
	u32 tags[NR_PAGES];
};

static int batch_bio_init(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	test->priv = bench;
	zcomp_test_seed(test, &bench->t.rnd);
	bench->t.page = zram_test_page(test);
	bench->t.want = zram_test_page(test);
	bench->area = alloc_pages(GFP_KERNEL, AREA_ORDER);
	KUNIT_ASSERT_NOT_NULL(test, bench->area);
	bench->zram = zram_test_device(test);
	KUNIT_ASSERT_EQ(test, 0,
			zram_device_init(bench->zram, NR_PAGES * PAGE_SIZE));
	bench->t.state = bench->zram->state;
	return 0;
}

static void batch_bio_exit(struct kunit *test)
{
	struct bench *bench = test->priv;

	if (!bench)
		return;
	if (bench->zram && bench->zram->state)
		zram_test_check_books(test, bench->zram->state);
	zram_test_device_end(bench->zram);
	if (bench->area)
		__free_pages(bench->area, AREA_ORDER);
}

static void note_end(struct bio *bio)
{
	(*(u32 *)bio->bi_private)++;
}

/**
 * struct shape - what memory a bio comes with
 * @from: first byte in the area
 * @segment: most bytes of a segment, a multiple of 512
 * @gap: bytes between segments
 */
struct shape {
	u32 from;
	u32 segment;
	u32 gap;
};

/* Where in the area byte @at of the bio is. */
static u32 place(const struct shape *shape, u32 at)
{
	return shape->from + at + at / shape->segment * shape->gap;
}

/* Send a bio of @n pages and wait for it. Returns how it ended. */
static int send(struct kunit *test, blk_opf_t op, u32 index, u32 n,
		const struct shape *shape)
{
	u32 at, len, ends = 0, max = 2 * BIO_PAGES;
	struct bench *bench = test->priv;
	struct bio_vec *table;
	struct bio bio;

	table = kunit_kcalloc(test, max, sizeof(*table), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, table);
	bio_init(&bio, bench->zram->disk->part0, table, max, op);
	for (at = 0; at < n * PAGE_SIZE && bio.bi_vcnt < max; at += len) {
		u32 to = place(shape, at);

		len = min_t(u32, shape->segment, n * PAGE_SIZE - at);
		bvec_set_page(&table[bio.bi_vcnt++],
			      bench->area + to / PAGE_SIZE, len,
			      to % PAGE_SIZE);
		bio.bi_iter.bi_size += len;
	}
	bio.bi_iter.bi_sector = (sector_t)index * ZRAM_SECTORS_PER_PAGE;
	bio.bi_private = &ends;
	bio.bi_end_io = note_end;
	zram_submit_bio(&bio);
	bio_uninit(&bio);
	kunit_kfree(test, table);
	return ends == 1 ? blk_status_to_errno(bio.bi_status) : -EPROTO;
}

static u8 *area(struct bench *bench)
{
	return page_address(bench->area);
}

/* How many pages of the disk are not those of their numbers. */
static u32 damaged(struct bench *bench)
{
	u32 i, bad = 0;

	for (i = 0; i < NR_PAGES; i++)
		bad += !zram_test_reads(&bench->t, i, bench->tags[i]);
	return bad;
}

/* Lay page @i of a bio out in the area. */
static void lay_out(struct bench *bench, const struct shape *shape, u32 i,
		    u32 tag)
{
	u32 at;

	zram_test_make(bench->t.page, tag);
	for (at = 0; at < PAGE_SIZE; at += 512)
		memcpy(area(bench) + place(shape, i * PAGE_SIZE + at),
		       bench->t.page + at, 512);
}

/* Is page @i of a bio in the area? If so, it is taken away. */
static bool take_out(struct bench *bench, const struct shape *shape, u32 i,
		     u32 tag)
{
	bool equal = true;
	u32 at;

	zram_test_make(bench->t.page, tag);
	for (at = 0; at < PAGE_SIZE; at += 512) {
		u8 *mem = area(bench) + place(shape, i * PAGE_SIZE + at);

		equal &= !memcmp(mem, bench->t.page + at, 512);
		memset(mem, 0xa5, 512);
	}
	return equal;
}

/*
 * Expect: the pages of a bio, however many, of whatever kinds, come back, and
 * not a byte beside its memory is written.
 */
static void long_bios_come_back(struct kunit *test)
{
	/* Pages, pages in one segment, and pages that lie across segments. */
	static const struct shape shapes[] = {
		{ 0, PAGE_SIZE, 0 }, { 0, PAGE_SIZE, 3 * PAGE_SIZE / 4 },
		{ 0, 64 * PAGE_SIZE, 0 }, { PAGE_SIZE, PAGE_SIZE, PAGE_SIZE / 2 },
		{ 512, 3 * PAGE_SIZE, 512 }, { 0, PAGE_SIZE + 512, 1024 },
		{ 3584, PAGE_SIZE * 3 / 4, 512 },
	};
	struct bench *bench = test->priv;
	u32 step, i, n, index, bad = 0;

	for (step = 0; step < 60; step++) {
		const struct shape *shape = &shapes[step % ARRAY_SIZE(shapes)];

		n = step % 3 ? 1 + zcomp_test_below(&bench->t.rnd, BIO_PAGES) :
			       BIO_PAGES;
		index = zcomp_test_below(&bench->t.rnd, NR_PAGES - n + 1);
		for (i = 0; i < n; i++) {
			bench->tags[index + i] =
				prandom_u32_state(&bench->t.rnd);
			lay_out(bench, shape, i, bench->tags[index + i]);
		}
		bad += !!send(test, REQ_OP_WRITE, index, n, shape);
		memset(area(bench), 0xa5, PAGE_SIZE << AREA_ORDER);
		bad += !!send(test, REQ_OP_READ, index, n, shape);
		for (i = 0; i < n; i++)
			bad += !take_out(bench, shape, i,
					 bench->tags[index + i]);
		bad += !!memchr_inv(area(bench), 0xa5, PAGE_SIZE << AREA_ORDER);
	}
	KUNIT_EXPECT_EQ(test, bad, 0U);
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
}

/*
 * Expect: where the limit is met in the middle, the bio fails, those before it
 * are new, it and all that follow are old.
 */
static void limit_cuts_a_long_bio(struct kunit *test)
{
	static const struct shape shape = { 0, PAGE_SIZE, 0 };
	struct bench *bench = test->priv;
	struct zram_state *state = bench->t.state;
	u32 room, i, until, noise;

	for (room = 1; room <= 40; room += 1 + room % 4) {
		zs_pool_set_limit(state->pool, 0);
		for (i = 0; i < BIO_PAGES; i++) {
			bench->tags[50 + i] = 4 * (room + i);
			zram_test_make(bench->t.page, bench->tags[50 + i]);
			KUNIT_ASSERT_EQ(test, 0,
					zram_write_page(state, 50 + i,
							bench->t.page));
		}
		KUNIT_ASSERT_EQ(test, zram_test_pool_pages(state), 0UL);
		/* Every third is one word and needs no room. */
		until = BIO_PAGES;
		for (i = 0, noise = 0; i < BIO_PAGES; i++) {
			u32 tag = i % 3 ? NOISE(i) : 4 * (1000 + i);

			if (i % 3 && noise++ == room)
				until = i;
			lay_out(bench, &shape, i, tag);
			if (i < until)
				bench->tags[50 + i] = tag;
		}
		KUNIT_ASSERT_LT(test, until, (u32)BIO_PAGES);
		zs_pool_set_limit(state->pool, room);
		KUNIT_EXPECT_EQ(test, -EIO, send(test, REQ_OP_WRITE, 50,
						 BIO_PAGES, &shape));
		KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
		KUNIT_EXPECT_EQ(test, zram_test_pool_pages(state),
				(unsigned long)room);
		zram_test_check_books(test, state);
	}
	KUNIT_EXPECT_GT(test, zram_test_sum(state, ZRAM_FAILED_WRITES), 0);
}

static struct kunit_case batch_codec_cases[] = {
	KUNIT_CASE_PARAM(pages_written_together_come_back, codec_gen_params),
	KUNIT_CASE_PARAM(every_mix_of_kinds_comes_back, codec_gen_params),
	KUNIT_CASE_PARAM(limit_cuts_between_two_pages, codec_gen_params),
	KUNIT_CASE_PARAM(limit_lets_pages_shrink_together, codec_gen_params),
	{}
};

static struct kunit_suite batch_codec_suite = {
	.name = "zram_batch_codec",
	.init = batch_codec_init,
	.exit = batch_io_exit,
	.test_cases = batch_codec_cases,
};

static struct kunit_case batch_io_cases[] = {
	KUNIT_CASE(no_memory_cuts_between_two_pages),
	KUNIT_CASE(write_waits_for_memory),
	KUNIT_CASE(codec_failure_cuts_between_two_pages),
	{}
};

static struct kunit_suite batch_io_suite = {
	.name = "zram_batch_io",
	.init = batch_io_init,
	.exit = batch_io_exit,
	.test_cases = batch_io_cases,
};

static struct kunit_case batch_bio_cases[] = {
	KUNIT_CASE(long_bios_come_back),
	KUNIT_CASE(limit_cuts_a_long_bio),
	{}
};

static struct kunit_suite batch_bio_suite = {
	.name = "zram_batch_bio",
	.init = batch_bio_init,
	.exit = batch_bio_exit,
	.test_cases = batch_bio_cases,
};

kunit_test_suites(&batch_codec_suite, &batch_io_suite, &batch_bio_suite);
