// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of requests as the block layer and swap send them, made by hand for a
 * disk that is in no system.
 *
 * That way memory of any shape reaches the driver, direct I/O's included, and
 * the case sees how each bio ends.
 */
#include <linux/bio.h>
#include <linux/irqflags.h>

#include "zram_kunit.h"

#define NR_PAGES	32
#define MAX_SEGMENTS	6

/* The bytes all bios of a case move: pages of no relation to the disk's. */
#define AREA_ORDER	2
#define AREA_SIZE	(PAGE_SIZE << AREA_ORDER)

/**
 * struct bench - the case's disk and memory
 * @zram: the device
 * @t: what helpers of other suites work on; its state is the device's
 * @area: where bios read to and write from
 * @model: what the disk holds
 */
struct bench {
	struct zram *zram;
	struct zram_test t;
	struct page *area;
	u8 *model;
};

static int bio_suite_init(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	test->priv = bench;
	zcomp_test_seed(test, &bench->t.rnd);
	bench->t.page = zram_test_page(test);
	bench->t.want = zram_test_page(test);
	bench->model = kunit_kzalloc(test, NR_PAGES * PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench->model);
	bench->area = alloc_pages(GFP_KERNEL, AREA_ORDER);
	KUNIT_ASSERT_NOT_NULL(test, bench->area);
	bench->zram = zram_test_device(test);
	KUNIT_ASSERT_EQ(test, 0,
			zram_device_init(bench->zram, NR_PAGES * PAGE_SIZE));
	bench->t.state = bench->zram->state;
	return 0;
}

static void bio_suite_exit(struct kunit *test)
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

static u8 *area(struct bench *bench)
{
	return page_address(bench->area);
}

static void note_end(struct bio *bio)
{
	(*(u32 *)bio->bi_private)++;
}

/*
 * Send a bio of segments of @lens bytes, one behind the other in the area from
 * byte @from on, and wait for it. Returns how it ended; -EPROTO where it
 * did not end just once.
 */
static int send(struct bench *bench, blk_opf_t op, u64 at, u32 from,
		const u32 *lens)
{
	struct bio_vec table[MAX_SEGMENTS];
	u32 i, ends = 0;
	struct bio bio;

	bio_init(&bio, bench->zram->disk->part0, table, MAX_SEGMENTS, op);
	for (i = 0; i < MAX_SEGMENTS && lens[i]; i++) {
		bvec_set_page(&table[i], bench->area + from / PAGE_SIZE,
			      lens[i], from % PAGE_SIZE);
		from += lens[i];
		bio.bi_iter.bi_size += lens[i];
	}
	bio.bi_vcnt = i;
	bio.bi_iter.bi_sector = at >> SECTOR_SHIFT;
	bio.bi_private = &ends;
	bio.bi_end_io = note_end;
	zram_submit_bio(&bio);
	bio_uninit(&bio);
	return ends == 1 ? blk_status_to_errno(bio.bi_status) : -EPROTO;
}

/* A request without data for @len bytes. */
static int send_empty(struct bench *bench, blk_opf_t op, u64 at, u32 len)
{
	u32 ends = 0;
	struct bio bio;

	bio_init(&bio, bench->zram->disk->part0, NULL, 0, op);
	bio.bi_iter.bi_sector = at >> SECTOR_SHIFT;
	bio.bi_iter.bi_size = len;
	bio.bi_private = &ends;
	bio.bi_end_io = note_end;
	zram_submit_bio(&bio);
	bio_uninit(&bio);
	return ends == 1 ? blk_status_to_errno(bio.bi_status) : -EPROTO;
}

/* How many pages of the disk are not as the model has them. */
static u32 damaged(struct bench *bench)
{
	u32 i, bad = 0;

	for (i = 0; i < NR_PAGES; i++) {
		bad += !!zram_read_page(bench->t.state, i, bench->t.page);
		bad += !!memcmp(bench->t.page, bench->model + i * PAGE_SIZE,
				PAGE_SIZE);
	}
	return bad;
}

/* Fill the disk and the model with pages of all kinds. */
static void fill_disk(struct kunit *test, struct bench *bench)
{
	u32 i;

	for (i = 0; i < NR_PAGES; i++) {
		KUNIT_ASSERT_EQ(test, 0, zram_test_write(&bench->t, i, 40 * i +
							 i % 4));
		memcpy(bench->model + i * PAGE_SIZE, bench->t.page, PAGE_SIZE);
	}
}

/* --- Reading and writing -------------------------------------------------- */

/**
 * struct shape - where a bio goes and what memory it comes with
 * @name: of the case
 * @at: first byte on the disk
 * @from: first byte in the area
 * @lens: bytes of each segment
 */
struct shape {
	const char *name;
	u64 at;
	u32 from;
	u32 lens[MAX_SEGMENTS + 1];
};

static const struct shape shapes[] = {
	{ "one page", PAGE_SIZE, 0, { PAGE_SIZE } },
	{ "last page", (NR_PAGES - 1) * PAGE_SIZE, PAGE_SIZE, { PAGE_SIZE } },
	{ "three pages", 0, 0, { PAGE_SIZE, PAGE_SIZE, PAGE_SIZE } },
	{ "pages in one segment", 2 * PAGE_SIZE, 0, { 4 * PAGE_SIZE } },
	{ "page across two", 3 * PAGE_SIZE, 512, { PAGE_SIZE - 512, 512 } },
	{ "page not aligned in memory", 3 * PAGE_SIZE, 512, { PAGE_SIZE } },
	{ "pages across pages", 5 * PAGE_SIZE, 3584,
	  { 512, PAGE_SIZE, PAGE_SIZE - 512 } },
	{ "page in pieces", 0, 0, { 512, 512, 1024, 512, PAGE_SIZE - 2560 } },
	{ "first block of a page", PAGE_SIZE, 0, { 512 } },
	{ "last block of a page", 2 * PAGE_SIZE - 512, 0, { 512 } },
	{ "across a boundary", 2 * PAGE_SIZE - 1024, 512, { 2048 } },
	{ "part, page, part", 3 * PAGE_SIZE - 512, 0,
	  { 512, PAGE_SIZE, 1024 } },
	{ "half a page in two", PAGE_SIZE + 512, 3584, { 512, 512 } },
};

static void describe_shape(const struct shape *shape, char *desc)
{
	strscpy(desc, shape->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(shape, shapes, describe_shape);

static u32 length(const struct shape *shape)
{
	u32 i, len = 0;

	for (i = 0; i < MAX_SEGMENTS; i++)
		len += shape->lens[i];
	return len;
}

/* Expect: the disk's bytes, and not one byte beside the bio's memory. */
static void read_fills_the_memory_it_was_given(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct bench *bench = test->priv;
	u32 len = length(shape);

	fill_disk(test, bench);
	memset(area(bench), 0xa5, AREA_SIZE);
	KUNIT_EXPECT_EQ(test, send(bench, REQ_OP_READ, shape->at, shape->from,
				   shape->lens), 0);
	KUNIT_EXPECT_EQ(test, 0, memcmp(area(bench) + shape->from,
					bench->model + shape->at, len));
	memset(area(bench) + shape->from, 0xa5, len);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(area(bench), 0xa5, AREA_SIZE));
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
}

/* Expect: those bytes of the disk, and no others, are replaced. */
static void write_changes_what_it_was_told(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct bench *bench = test->priv;

	fill_disk(test, bench);
	prandom_bytes_state(&bench->t.rnd, area(bench), AREA_SIZE);
	KUNIT_EXPECT_EQ(test, send(bench, REQ_OP_WRITE, shape->at, shape->from,
				   shape->lens), 0);
	memcpy(bench->model + shape->at, area(bench) + shape->from,
	       length(shape));
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
}

/* Expect: the same of a disk that holds nothing yet. */
static void write_to_an_empty_disk(struct kunit *test)
{
	const struct shape *shape = test->param_value;
	struct bench *bench = test->priv;

	prandom_bytes_state(&bench->t.rnd, area(bench), AREA_SIZE);
	KUNIT_EXPECT_EQ(test, send(bench, REQ_OP_WRITE, shape->at, shape->from,
				   shape->lens), 0);
	memcpy(bench->model + shape->at, area(bench) + shape->from,
	       length(shape));
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
}

/* --- Discarding ----------------------------------------------------------- */

/* Expect: pages wholly inside are emptied and counted, others untouched. */
static void discard_empties_whole_pages(struct kunit *test)
{
	static const struct {
		blk_opf_t op;
		u64 at;
		u32 len;
		u32 first;
		u32 nr;
	} cases[] = {
		{ REQ_OP_DISCARD, 0, PAGE_SIZE, 0, 1 },
		{ REQ_OP_DISCARD, 2 * PAGE_SIZE, 3 * PAGE_SIZE, 2, 3 },
		{ REQ_OP_DISCARD, 6 * PAGE_SIZE + 512, PAGE_SIZE, 0, 0 },
		{ REQ_OP_DISCARD, 7 * PAGE_SIZE - 512, PAGE_SIZE + 1024, 7, 1 },
		{ REQ_OP_DISCARD, 8 * PAGE_SIZE + 512, 512, 0, 0 },
		{ REQ_OP_WRITE_ZEROES, 9 * PAGE_SIZE, 2 * PAGE_SIZE, 9, 2 },
		{ REQ_OP_DISCARD, (NR_PAGES - 1) * PAGE_SIZE, PAGE_SIZE,
		  NR_PAGES - 1, 1 },
		{ REQ_OP_DISCARD, 0, PAGE_SIZE, 0, 0 },
	};
	struct bench *bench = test->priv;
	s64 freed = 0;
	u32 i;

	fill_disk(test, bench);
	/* The one page of zeroes is stored as such; it counts like others. */
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ(test, 0,
				send_empty(bench, cases[i].op, cases[i].at,
					   cases[i].len));
		memset(bench->model + cases[i].first * PAGE_SIZE, 0,
		       cases[i].nr * PAGE_SIZE);
		freed += cases[i].nr;
		KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
		KUNIT_EXPECT_EQ(test, freed,
				zram_test_sum(bench->t.state, ZRAM_NOTIFY_FREE));
		KUNIT_EXPECT_EQ(test, NR_PAGES - freed,
				zram_test_sum(bench->t.state, ZRAM_STORED));
	}
}

/* Expect: swap's notice frees the page and is counted, once. */
static void swap_notice_frees_a_page(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct zram_state *state = bench->t.state;
	unsigned long flags;
	bool off;

	fill_disk(test, bench);
	zram_slot_free_notify(bench->zram->disk->part0, 5);
	zram_slot_free_notify(bench->zram->disk->part0, 5);
	local_irq_save(flags);
	zram_slot_free_notify(bench->zram->disk->part0, NR_PAGES - 1);
	off = irqs_disabled();
	local_irq_restore(flags);
	KUNIT_EXPECT_TRUE(test, off);
	KUNIT_EXPECT_EQ(test, zram_test_sum(state, ZRAM_NOTIFY_FREE), 2);
	memset(bench->model + 5 * PAGE_SIZE, 0, PAGE_SIZE);
	memset(bench->model + (NR_PAGES - 1) * PAGE_SIZE, 0, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
}

/* --- Errors --------------------------------------------------------------- */

/* Expect: what lies beyond the disk fails, with nothing done. */
static void request_beyond_the_disk_fails(struct kunit *test)
{
	static const u32 lens[] = { PAGE_SIZE, PAGE_SIZE, 0 };
	static const u64 ats[] = {
		(NR_PAGES - 1) * PAGE_SIZE, NR_PAGES * PAGE_SIZE,
		1ULL << 32 << PAGE_SHIFT,
	};
	struct bench *bench = test->priv;
	u32 i;

	fill_disk(test, bench);
	memset(area(bench), 0xa5, AREA_SIZE);
	for (i = 0; i < ARRAY_SIZE(ats); i++) {
		KUNIT_EXPECT_EQ(test, -EIO,
				send(bench, REQ_OP_WRITE, ats[i], 0, lens));
		KUNIT_EXPECT_EQ(test, -EIO,
				send(bench, REQ_OP_READ, ats[i], 0, lens));
		KUNIT_EXPECT_EQ(test, -EIO,
				send_empty(bench, REQ_OP_DISCARD, ats[i],
					   2 * PAGE_SIZE));
	}
	KUNIT_EXPECT_TRUE(test, !memchr_inv(area(bench), 0xa5, AREA_SIZE));
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
}

/* Expect: operations that the disk does not have are refused as such. */
static void unknown_request_is_not_supported(struct kunit *test)
{
	struct bench *bench = test->priv;

	fill_disk(test, bench);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			send_empty(bench, REQ_OP_SECURE_ERASE, 0, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
}

/* Expect: a disk without a size has nothing to read, write or free. */
static void request_to_a_disk_without_size_fails(struct kunit *test)
{
	static const u32 lens[] = { PAGE_SIZE, 0 };
	struct bench *bench = test->priv;

	zram_device_reset(bench->zram);
	KUNIT_EXPECT_EQ(test, -EIO,
			send(bench, REQ_OP_READ, 0, 0, lens));
	KUNIT_EXPECT_EQ(test, -EIO,
			send_empty(bench, REQ_OP_DISCARD, 0, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			zram_rw_whole_page(bench->zram->disk, 0, bench->area,
					   false));
}

/* Expect: a page that cannot be written or read fails its bio. */
static void failed_page_fails_the_request(struct kunit *test)
{
	static const u32 lens[] = { PAGE_SIZE, PAGE_SIZE, 0 };
	struct bench *bench = test->priv;
	struct zram_state *state = bench->t.state;
	struct zram_slot *slot = &state->slots[1];

	fill_disk(test, bench);
	prandom_bytes_state(&bench->t.rnd, area(bench), AREA_SIZE);
	zs_pool_set_limit(state->pool, 1);
	KUNIT_EXPECT_EQ(test, -EIO,
			send(bench, REQ_OP_WRITE, 0, 0, lens));
	KUNIT_EXPECT_EQ(test, zram_test_sum(state, ZRAM_FAILED_WRITES), 1);
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);

	memset(bench->t.want, 0xff, PAGE_SIZE);
	zram_slot_lock(state, 1);
	zs_obj_write(slot->loc, bench->t.want, zram_word_size(slot->word));
	zram_slot_unlock(state, 1);
	KUNIT_EXPECT_EQ(test, -EIO,
			send(bench, REQ_OP_READ, 0, 0, lens));
	KUNIT_EXPECT_EQ(test, zram_test_sum(state, ZRAM_FAILED_READS), 1);
	KUNIT_EXPECT_TRUE(test, !memchr_inv(area(bench) + PAGE_SIZE, 0,
					    PAGE_SIZE));
}

/* --- Pages without a bio -------------------------------------------------- */

/* Expect: a page goes out and comes back. */
static void whole_page_comes_back(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct gendisk *disk = bench->zram->disk;
	sector_t at = 7 * ZRAM_SECTORS_PER_PAGE;

	prandom_bytes_state(&bench->t.rnd, area(bench), PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, 0,
			zram_rw_whole_page(disk, at, bench->area, true));
	memcpy(bench->model + 7 * PAGE_SIZE, area(bench), PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, 0,
			zram_rw_whole_page(disk, at, bench->area + 1, false));
	KUNIT_EXPECT_EQ(test, 0, memcmp(area(bench), area(bench) + PAGE_SIZE,
					PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
}

/* Expect: what is not a page of the disk is left to the bio that follows. */
static void whole_page_must_be_on_the_disk(struct kunit *test)
{
	static const sector_t sectors[] = {
		1, ZRAM_SECTORS_PER_PAGE - 1, NR_PAGES * ZRAM_SECTORS_PER_PAGE,
		(sector_t)ZRAM_SECTORS_PER_PAGE << 32,
	};
	struct bench *bench = test->priv;
	u32 i;

	fill_disk(test, bench);
	for (i = 0; i < ARRAY_SIZE(sectors); i++) {
		KUNIT_EXPECT_EQ(test, -EINVAL,
				zram_rw_whole_page(bench->zram->disk,
						   sectors[i], bench->area,
						   true));
		KUNIT_EXPECT_EQ(test, -EINVAL,
				zram_rw_whole_page(bench->zram->disk,
						   sectors[i], bench->area,
						   false));
	}
	KUNIT_EXPECT_EQ(test, damaged(bench), 0U);
}

static struct kunit_case bio_cases[] = {
	KUNIT_CASE_PARAM(read_fills_the_memory_it_was_given, shape_gen_params),
	KUNIT_CASE_PARAM(write_changes_what_it_was_told, shape_gen_params),
	KUNIT_CASE_PARAM(write_to_an_empty_disk, shape_gen_params),
	KUNIT_CASE(discard_empties_whole_pages),
	KUNIT_CASE(swap_notice_frees_a_page),
	KUNIT_CASE(request_beyond_the_disk_fails),
	KUNIT_CASE(unknown_request_is_not_supported),
	KUNIT_CASE(request_to_a_disk_without_size_fails),
	KUNIT_CASE(failed_page_fails_the_request),
	KUNIT_CASE(whole_page_comes_back),
	KUNIT_CASE(whole_page_must_be_on_the_disk),
	{}
};

static struct kunit_suite bio_suite = {
	.name = "zram_bio",
	.init = bio_suite_init,
	.exit = bio_suite_exit,
	.test_cases = bio_cases,
};

kunit_test_suite(bio_suite);
