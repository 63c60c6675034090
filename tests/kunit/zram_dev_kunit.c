// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of a device's life: states come and go, disksize, reset and claims.
 */
#include "zram_kunit.h"

#define DISKSIZE	(16 * PAGE_SIZE)

static int dev_init(struct kunit *test)
{
	test->priv = zram_test_device(test);
	return 0;
}

static void dev_exit(struct kunit *test)
{
	zram_test_device_end(test->priv);
}

KUNIT_ARRAY_PARAM(codec, zcomp_test_names, zcomp_test_describe);

/* --- States --------------------------------------------------------------- */

/* Expect: of every codec a state that holds nothing, with streams per CPU. */
static void state_is_made_for_every_codec(struct kunit *test)
{
	const struct zcomp_backend *backend = zcomp_test_codec(test);
	struct zram_state *state = zram_state_create(backend, 0, 100);
	enum zram_stat stat;

	KUNIT_ASSERT_FALSE(test, IS_ERR(state));
	KUNIT_EXPECT_EQ(test, state->nr_pages, 100U);
	KUNIT_EXPECT_PTR_EQ(test, zcomp_backend_of(state->comp[0]), backend);
	KUNIT_EXPECT_EQ(test, state->comp[0]->nr_list, 0U);
	for (stat = 0; stat < ZRAM_NR_STATS; stat++)
		KUNIT_EXPECT_EQ(test, zram_stat_sum(state, stat), 0ULL);
	zram_test_check_books(test, state);
	zram_state_destroy(state);
}

/* Expect: or with as many streams in a list as were asked for. */
static void state_may_keep_streams_in_a_list(struct kunit *test)
{
	const struct zcomp_backend *backend = zcomp_test_codec(test);
	struct zram_state *state = zram_state_create(backend, 3, 8);
	u8 *page = zram_test_page(test);
	u8 *want = zram_test_page(test);

	KUNIT_ASSERT_FALSE(test, IS_ERR(state));
	KUNIT_EXPECT_EQ(test, state->comp[0]->nr_list, 3U);
	zram_test_make(want, ZRAM_TEST_TEXT);
	KUNIT_EXPECT_EQ(test, zram_write_page(state, 1, want), 0);
	KUNIT_EXPECT_EQ(test, zram_read_page(state, 1, page), 0);
	KUNIT_EXPECT_EQ(test, memcmp(page, want, PAGE_SIZE), 0);
	zram_state_destroy(state);
}

/* Expect: one page is a disk, and its only page works. */
static void state_may_have_one_page(struct kunit *test)
{
	struct zram_test *t;

	t = zram_test_create(test, zcomp_backend_default(), 1);
	KUNIT_EXPECT_EQ(test, zram_test_write(t, 0, ZRAM_TEST_TEXT), 0);
	KUNIT_EXPECT_TRUE(test, zram_test_reads(t, 0, ZRAM_TEST_TEXT));
	KUNIT_EXPECT_TRUE(test, zram_test_refused(t->state, 1,
						  t->state->slots[0].loc));
	zram_test_finish(test, t);
}

/* Expect: destroying a state takes all it stores with it. */
static void state_goes_with_all_it_holds(struct kunit *test)
{
	struct zram_test *t;
	u32 i;

	t = zram_test_create(test, zcomp_backend_default(), 256);
	for (i = 0; i < 256; i++)
		KUNIT_ASSERT_EQ(test, zram_test_write(t, i, i), 0);
	KUNIT_EXPECT_GT(test, zram_test_pool_pages(t->state), 64UL);
	zram_state_destroy(t->state);
}

/* Expect: a table larger than memory is an error and no warning. */
static void state_too_large_is_no_memory(struct kunit *test)
{
	static const u32 sizes[] = { ZRAM_MAX_PAGES, U32_MAX };
	struct zram_state *state;
	u32 i;

	if (totalram_pages() > ZRAM_MAX_PAGES / (PAGE_SIZE / 16))
		kunit_skip(test, "here it is not larger than memory");
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		state = zram_state_create(zcomp_backend_default(), 0, sizes[i]);
		KUNIT_EXPECT_TRUE(test, IS_ERR(state));
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(state), -ENOMEM);
	}
}

static void *no_memory(int node)
{
	return NULL;
}

static void not_reached(void *work)
{
	WARN_ON_ONCE(1);
}

static const struct zcomp_backend hungry_backend = {
	.name = "hungry",
	.create = no_memory,
	.destroy = not_reached,
};

/* Expect: a codec without memory fails the state, which leaves nothing. */
static void state_without_streams_is_an_error(struct kunit *test)
{
	u32 streams;

	for (streams = 0; streams < 3; streams++) {
		struct zram_state *state;

		state = zram_state_create(&hungry_backend, streams, 8);
		KUNIT_EXPECT_TRUE(test, IS_ERR(state));
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(state), -ENOMEM);
	}
}

/* Expect: shares of CPUs add up; a sum that lags behind is not negative. */
static void statistics_add_up(struct kunit *test)
{
	struct zram_test *t;
	s64 *value, want = 0;
	int cpu;

	t = zram_test_create(test, zcomp_backend_default(), 1);
	for_each_possible_cpu(cpu) {
		value = per_cpu_ptr(t->state->counters, cpu)->value;
		value[ZRAM_NOTIFY_FREE] = cpu % 2 ? -5 : 10;
		value[ZRAM_FAILED_READS] = -1;
		want += value[ZRAM_NOTIFY_FREE];
	}
	KUNIT_EXPECT_EQ(test, zram_stat_sum(t->state, ZRAM_NOTIFY_FREE),
			(u64)want);
	KUNIT_EXPECT_EQ(test, zram_stat_sum(t->state, ZRAM_FAILED_READS), 0ULL);
	zram_count(t->state, ZRAM_NOTIFY_FREE, 3);
	KUNIT_EXPECT_EQ(test, zram_stat_sum(t->state, ZRAM_NOTIFY_FREE),
			(u64)want + 3);
	zram_test_finish(test, t);
}

static int store_and_free(void *data)
{
	struct zram_worker *worker = data;

	while (!kthread_should_stop()) {
		zram_test_make(worker->page, worker->steps++ % 32);
		worker->bad += !!zram_write_page(worker->t->state,
						 worker->steps % 4,
						 worker->page);
		zram_slot_free(worker->t->state, (worker->steps + 2) % 4);
		cond_resched();
	}
	return 0;
}

/* Expect: even while threads count, no more is reported than there can be. */
static void statistics_stay_within_bounds(struct kunit *test)
{
	struct zram_test *t;
	struct zram_worker *workers;
	unsigned long end = jiffies + HZ / 3;
	u32 bad = 0;

	t = zram_test_create(test, zcomp_backend_default(), 4);
	workers = zram_workers(test, t, 2);
	zram_worker_start(&workers[0], store_and_free);
	zram_worker_start(&workers[1], store_and_free);
	while (time_before(jiffies, end)) {
		/* Shares are read while they change: some slack. */
		bad += zram_stat_sum(t->state, ZRAM_STORED) > 1000;
		bad += zram_stat_sum(t->state, ZRAM_BYTES) > 1000 * PAGE_SIZE;
		cond_resched();
	}
	zram_workers_stop(test, workers, 2);
	KUNIT_EXPECT_EQ(test, bad, 0U);
	zram_test_finish(test, t);
}

/* --- disksize and reset --------------------------------------------------- */

/* Expect: the size in whole pages, as capacity and as slots. */
static void disksize_is_rounded_up_to_pages(struct kunit *test)
{
	static const struct {
		u64 size;
		u32 pages;
	} cases[] = {
		{ 1, 1 }, { PAGE_SIZE - 1, 1 }, { PAGE_SIZE, 1 },
		{ PAGE_SIZE + 1, 2 }, { DISKSIZE, 16 },
	};
	struct zram *zram = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_ASSERT_EQ(test, zram_device_init(zram, cases[i].size), 0);
		KUNIT_EXPECT_EQ(test, zram->state->nr_pages, cases[i].pages);
		KUNIT_EXPECT_EQ(test, get_capacity(zram->disk),
				(sector_t)cases[i].pages *
				ZRAM_SECTORS_PER_PAGE);
		zram_device_reset(zram);
		KUNIT_EXPECT_EQ(test, get_capacity(zram->disk), (sector_t)0);
	}
}

/* Expect: sizes that cannot be are refused, and the device is as it was. */
static void impossible_disksize_is_refused(struct kunit *test)
{
	static const u64 sizes[] = {
		0, U64_MAX, U64_MAX - PAGE_SIZE + 1, U64_MAX - PAGE_SIZE,
		(u64)ZRAM_MAX_PAGES * PAGE_SIZE + 1,
		1ULL << 32 << PAGE_SHIFT, (1ULL << 32 << PAGE_SHIFT) + 4096,
	};
	struct zram *zram = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		KUNIT_EXPECT_EQ(test, zram_device_init(zram, sizes[i]),
				-EINVAL);
		KUNIT_EXPECT_NULL(test, zram->state);
		KUNIT_EXPECT_EQ(test, get_capacity(zram->disk), (sector_t)0);
	}
	KUNIT_EXPECT_EQ(test, zram_device_init(zram, DISKSIZE), 0);
}

/* Expect: what no memory is there for fails; a smaller size then works. */
static void disksize_without_memory_leaves_nothing(struct kunit *test)
{
	struct zram *zram = test->priv;

	if (totalram_pages() > ZRAM_MAX_PAGES / (PAGE_SIZE / 16))
		kunit_skip(test, "here there is memory for any size");
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			zram_device_init(zram, (u64)ZRAM_MAX_PAGES *
					 PAGE_SIZE));
	KUNIT_EXPECT_NULL(test, zram->state);
	KUNIT_EXPECT_EQ(test, get_capacity(zram->disk), (sector_t)0);
	zram->backend = &hungry_backend;
	KUNIT_EXPECT_EQ(test, zram_device_init(zram, DISKSIZE), -ENOMEM);
	KUNIT_EXPECT_NULL(test, zram->state);
	zram->backend = zcomp_backend_default();
	KUNIT_EXPECT_EQ(test, zram_device_init(zram, DISKSIZE), 0);
}

/* Expect: a second size is refused, and the first stays. */
static void second_disksize_is_busy(struct kunit *test)
{
	struct zram *zram = test->priv;
	struct zram_state *state;

	KUNIT_ASSERT_EQ(test, zram_device_init(zram, DISKSIZE), 0);
	state = zram->state;
	KUNIT_EXPECT_EQ(test, zram_device_init(zram, DISKSIZE), -EBUSY);
	KUNIT_EXPECT_EQ(test, zram_device_init(zram, 2 * DISKSIZE), -EBUSY);
	KUNIT_EXPECT_EQ(test, zram_device_init(zram, 0), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, zram->state, state);
	KUNIT_EXPECT_EQ(test, state->nr_pages, 16U);
}

/* Expect: a device on its way out gets no new size. */
static void removed_device_is_busy(struct kunit *test)
{
	struct zram *zram = test->priv;

	zram->removed = true;
	KUNIT_EXPECT_EQ(test, zram_device_init(zram, DISKSIZE), -EBUSY);
	KUNIT_EXPECT_NULL(test, zram->state);
}

/* Expect: after a reset a device is as new, parameters included. */
static void reset_makes_a_device_new(struct kunit *test)
{
	struct zram *zram = test->priv;
	u8 *page = zram_test_page(test);
	u32 round;

	for (round = 0; round < 3; round++) {
		zram->backend = zcomp_backend_find("zstd") ?: zram->backend;
		zram->limit_pages = 100;
		KUNIT_ASSERT_EQ(test, zram_device_init(zram, DISKSIZE), 0);
		KUNIT_EXPECT_EQ(test, zram_read_page(zram->state, 3, page), 0);
		KUNIT_EXPECT_TRUE(test, !memchr_inv(page, 0, PAGE_SIZE));
		zram_test_make(page, ZRAM_TEST_RANDOM);
		KUNIT_EXPECT_EQ(test, zram_write_page(zram->state, 3, page), 0);
		zram_device_reset(zram);
		KUNIT_EXPECT_NULL(test, zram->state);
		KUNIT_EXPECT_FALSE(test, zram->stop);
		KUNIT_EXPECT_EQ(test, zram->limit_pages, 0UL);
		KUNIT_EXPECT_PTR_EQ(test, zram->backend,
				    zcomp_backend_default());
	}
	zram_device_reset(zram);
}

/* Expect: a limit that was set before the size binds from the first page. */
static void limit_is_kept_for_the_state(struct kunit *test)
{
	struct zram *zram = test->priv;
	u8 *page = zram_test_page(test);

	zram->limit_pages = 1;
	KUNIT_ASSERT_EQ(test, zram_device_init(zram, DISKSIZE), 0);
	zram_test_make(page, ZRAM_TEST_RANDOM);
	KUNIT_EXPECT_EQ(test, zram_write_page(zram->state, 0, page), 0);
	KUNIT_EXPECT_LT(test, zram_write_page(zram->state, 1, page), 0);
}

/* Expect: one claim at a time, and none of a device that is open. */
static void claim_needs_a_device_of_ones_own(struct kunit *test)
{
	struct zram *zram = test->priv;

	KUNIT_EXPECT_EQ(test, zram_device_claim(zram), 0);
	KUNIT_EXPECT_EQ(test, zram_device_claim(zram), -EBUSY);
	zram_device_unclaim(zram);
	KUNIT_EXPECT_EQ(test, zram_device_claim(zram), 0);
	zram_device_unclaim(zram);
	KUNIT_EXPECT_FALSE(test, zram->claim);
}

static struct kunit_case dev_cases[] = {
	KUNIT_CASE_PARAM(state_is_made_for_every_codec, codec_gen_params),
	KUNIT_CASE_PARAM(state_may_keep_streams_in_a_list, codec_gen_params),
	KUNIT_CASE(state_may_have_one_page),
	KUNIT_CASE(state_goes_with_all_it_holds),
	KUNIT_CASE(state_too_large_is_no_memory),
	KUNIT_CASE(state_without_streams_is_an_error),
	KUNIT_CASE(statistics_add_up),
	KUNIT_CASE(statistics_stay_within_bounds),
	KUNIT_CASE(disksize_is_rounded_up_to_pages),
	KUNIT_CASE(impossible_disksize_is_refused),
	KUNIT_CASE(disksize_without_memory_leaves_nothing),
	KUNIT_CASE(second_disksize_is_busy),
	KUNIT_CASE(removed_device_is_busy),
	KUNIT_CASE(reset_makes_a_device_new),
	KUNIT_CASE(limit_is_kept_for_the_state),
	KUNIT_CASE(claim_needs_a_device_of_ones_own),
	{}
};

static struct kunit_suite dev_suite = {
	.name = "zram_dev",
	.init = dev_init,
	.exit = dev_exit,
	.test_cases = dev_cases,
};

kunit_test_suite(dev_suite);
