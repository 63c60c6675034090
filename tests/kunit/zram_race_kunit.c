// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of I/O in several threads: whole pages, parts, discards and readers of
 * pages whose codec changes.
 *
 * Pages tell what they must be (zram_test_make()), so that a reader needs to
 * know nothing of the writers.
 */
#include "zram_kunit.h"

#define NR_PAGES	8
#define PART		1024
#define PART_LEN	512

/* How long threads are left alone with each other */
#define A_WHILE_MS	500

static int race_init(struct kunit *test)
{
	test->priv = zram_test_create(test, zcomp_backend_default(), NR_PAGES);
	return 0;
}

static int race_codec_init(struct kunit *test)
{
	test->priv = zram_test_create(test, zcomp_test_codec(test), NR_PAGES);
	return 0;
}

static void race_exit(struct kunit *test)
{
	zram_test_finish(test, test->priv);
}

KUNIT_ARRAY_PARAM(codec, zcomp_test_names, zcomp_test_describe);

/* --- Whole pages ---------------------------------------------------------- */

static int write_read_free(void *data)
{
	struct zram_worker *worker = data;
	struct zram_state *state = worker->t->state;

	while (!kthread_should_stop()) {
		u32 random = prandom_u32_state(&worker->rnd);

		zram_test_make(worker->page, random >> 8);
		worker->bad += !!zram_write_page(state, random % NR_PAGES,
						 worker->page);
		random >>= 3;
		worker->bad += !!zram_read_page(state, random % NR_PAGES,
						worker->page);
		worker->bad += !zram_test_whole(worker->page, worker->scratch);
		if (random % 64 == 0)
			zram_slot_free(state, random / 64 % NR_PAGES);
		worker->steps++;
		cond_resched();
	}
	return 0;
}

/* Expect: readers see whole pages only, of whichever writer. */
static void threads_see_whole_pages(struct kunit *test)
{
	struct zram_test *t = test->priv;
	struct zram_worker *workers = zram_workers(test, t, 3);
	u32 i;

	for (i = 0; i < 3; i++)
		zram_worker_start(&workers[i], write_read_free);
	msleep(A_WHILE_MS);
	zram_workers_stop(test, workers, 3);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_READS), 0);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 0);
}

/* --- Parts against whole pages -------------------------------------------- */

/* Does the page hold @word everywhere but in the part? */
static bool is_around_part(const u8 *page, unsigned long word)
{
	const unsigned long *words = (const unsigned long *)page;
	u32 i;

	for (i = 0; i < PAGE_SIZE / sizeof(long); i++) {
		if (i == PART / sizeof(long))
			i += PART_LEN / sizeof(long) - 1;
		else if (words[i] != word)
			return false;
	}
	return true;
}

/* Are the part's bytes those of one write? */
static bool is_one_part(const u8 *page)
{
	return !memcmp(page + PART, page + PART + sizeof(long),
		       PART_LEN - sizeof(long));
}

/*
 * The only one to write whole pages: so that around the part they stay as he
 * left them, until he writes the next.
 */
static int write_whole(void *data)
{
	struct zram_worker *worker = data;
	struct zram_state *state = worker->t->state;

	while (!kthread_should_stop()) {
		unsigned long word = ++worker->steps % 3 ? worker->steps : 0;
		u32 i;

		memset_l((unsigned long *)worker->page, word,
			 PAGE_SIZE / sizeof(long));
		if (word)
			worker->bad += !!zram_write_page(state, 1,
							 worker->page);
		else
			zram_slot_free(state, 1);
		for (i = 0; i < 3; i++) {
			worker->bad += !!zram_read_page(state, 1,
							worker->page);
			worker->bad += !is_around_part(worker->page, word);
			worker->bad += !is_one_part(worker->page);
			cond_resched();
		}
	}
	return 0;
}

static int write_part(void *data)
{
	struct zram_worker *worker = data;
	struct zram_state *state = worker->t->state;

	while (!kthread_should_stop()) {
		u32 word = ++worker->steps;

		memset_l((unsigned long *)worker->page, word,
			 PART_LEN / sizeof(long));
		worker->bad += !!zram_write_partial(state, 1, PART, PART_LEN,
						    worker->page);
		cond_resched();
	}
	return 0;
}

/* Expect: a part never brings back what a write or discard has replaced. */
static void parts_do_not_undo_whole_pages(struct kunit *test)
{
	struct zram_worker *workers = zram_workers(test, test->priv, 3);

	zram_worker_start(&workers[0], write_whole);
	zram_worker_start(&workers[1], write_part);
	zram_worker_start(&workers[2], write_part);
	msleep(2 * A_WHILE_MS);
	zram_workers_stop(test, workers, 3);
}

/* Each writes a part of its own and finds it as it left it. */
static int write_own_part(void *data)
{
	struct zram_worker *worker = data;
	struct zram_state *state = worker->t->state;
	u32 offset = worker->number * PART_LEN;

	while (!kthread_should_stop()) {
		memset(worker->scratch, ++worker->steps, PART_LEN);
		worker->bad += !!zram_write_partial(state, 1, offset, PART_LEN,
						    worker->scratch);
		worker->bad += !!zram_read_page(state, 1, worker->page);
		worker->bad += !!memcmp(worker->page + offset, worker->scratch,
					PART_LEN);
		cond_resched();
	}
	return 0;
}

/* Expect: parts of one page that are written at a time all arrive. */
static void parts_do_not_undo_each_other(struct kunit *test)
{
	struct zram_worker *workers = zram_workers(test, test->priv, 3);
	u32 i;

	for (i = 0; i < 3; i++)
		zram_worker_start(&workers[i], write_own_part);
	msleep(A_WHILE_MS);
	zram_workers_stop(test, workers, 3);
}

/* --- Pages whose codec changes -------------------------------------------- */

/* Codec 1 of the fixture: one that decompresses with a stream of its own. */
static struct zram_test *with_zstd(struct kunit *test)
{
	const struct zcomp_backend *zstd = zcomp_backend_find("zstd");
	struct zram_test *t = test->priv;
	struct zcomp *comp;

	if (!zstd || zstd->in_place || !zcomp_backend_default()->in_place)
		kunit_skip(test, "this kernel has no two kinds of codecs");
	comp = zcomp_create(zstd, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(comp));
	t->state->comp[1] = comp;
	return t;
}

/* Store the page of @tag, which compresses, by codec @codec. */
static int store_by(struct zram_state *state, u32 index, u32 codec, u32 tag,
		    void *page)
{
	struct zcomp *comp = state->comp[codec];
	struct zram_content new = {
		.state = ZRAM_SLOT_COMPRESSED, .codec = codec,
	};
	struct zcomp_stream *stream;
	int ret;

	zram_test_make(page, tag);
	do {
		stream = zcomp_stream_get(comp);
		new.size = PAGE_SIZE;
		new.data = stream->out;
		ret = zcomp_compress(comp, stream, page, stream->out, &new.size);
		if (!ret)
			ret = zram_slot_store(state, index, &new, false);
		zcomp_stream_put(comp, stream);
		if (ret != -EAGAIN)
			return ret;
		ret = zs_pool_grow(state->pool, new.size, GFP_KERNEL);
	} while (!ret);
	return ret;
}

/* Expect: pages of both codecs read side by side. */
static void pages_of_two_codecs_come_back(struct kunit *test)
{
	struct zram_test *t = with_zstd(test);
	u32 i, tag;

	for (i = 0; i < 2 * NR_PAGES; i++) {
		tag = 100 * ZRAM_TEST_NR_KINDS * i + ZRAM_TEST_TEXT;
		KUNIT_EXPECT_EQ(test, 0, store_by(t->state, i / 2, i % 2, tag,
						  t->page));
		KUNIT_EXPECT_TRUE(test, zram_test_reads(t, i / 2, tag));
	}
}

static int read_once(void *data)
{
	struct zram_worker *worker = data;

	worker->bad += !!zram_read_page(worker->t->state, 1, worker->page);
	worker->bad += !zram_test_whole(worker->page, worker->scratch);
	worker->steps++;
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/*
 * Expect: a reader that waited for a codec's only stream, and meanwhile the
 * page is another codec's, reads the page all the same.
 */
static void reader_notices_another_codec(struct kunit *test)
{
	struct zram_test *t = with_zstd(test);
	struct zram_worker *worker = zram_workers(test, t, 1);
	struct zcomp *zstd = t->state->comp[1];
	struct zcomp_stream *stream;
	int ret;

	KUNIT_ASSERT_EQ(test, 0, store_by(t->state, 1, 1, ZRAM_TEST_TEXT,
					  t->page));
	stream = zcomp_stream_get(zstd);
	zram_worker_start(worker, read_once);
	msleep(50);
	ret = store_by(t->state, 1, 0, 8 + ZRAM_TEST_TEXT, t->page);
	zcomp_stream_put(zstd, stream);
	KUNIT_EXPECT_EQ(test, ret, 0);
	msleep(50);
	zram_workers_stop(test, worker, 1);
	KUNIT_EXPECT_TRUE(test, zram_test_whole(worker->page, t->want));
	KUNIT_EXPECT_EQ(test, *(unsigned long *)worker->page,
			8UL + ZRAM_TEST_TEXT);
}

static int store_by_turns(void *data)
{
	struct zram_worker *worker = data;
	struct zram_state *state = worker->t->state;

	while (!kthread_should_stop()) {
		u32 step = ++worker->steps;
		u32 tag = ZRAM_TEST_NR_KINDS * step;

		tag += step % 2 ? ZRAM_TEST_TEXT : ZRAM_TEST_NEARLY;
		worker->bad += !!store_by(state, 1, step / 2 % 2, tag,
					  worker->page);
		cond_resched();
	}
	return 0;
}

static int read_all_the_time(void *data)
{
	struct zram_worker *worker = data;

	while (!kthread_should_stop()) {
		worker->bad += !!zram_read_page(worker->t->state, 1,
						worker->page);
		worker->bad += !zram_test_whole(worker->page, worker->scratch);
		worker->steps++;
		cond_resched();
	}
	return 0;
}

/* Expect: readers keep up with a page that goes from codec to codec. */
static void readers_follow_changing_codecs(struct kunit *test)
{
	struct zram_test *t = with_zstd(test);
	struct zram_worker *workers = zram_workers(test, t, 3);

	zram_worker_start(&workers[0], store_by_turns);
	zram_worker_start(&workers[1], read_all_the_time);
	zram_worker_start(&workers[2], read_all_the_time);
	msleep(2 * A_WHILE_MS);
	zram_workers_stop(test, workers, 3);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_READS), 0);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(parts_do_not_undo_whole_pages),
	KUNIT_CASE(parts_do_not_undo_each_other),
	KUNIT_CASE(pages_of_two_codecs_come_back),
	KUNIT_CASE(reader_notices_another_codec),
	KUNIT_CASE(readers_follow_changing_codecs),
	{}
};

static struct kunit_suite race_suite = {
	.name = "zram_race",
	.init = race_init,
	.exit = race_exit,
	.test_cases = race_cases,
};

static struct kunit_case race_codec_cases[] = {
	KUNIT_CASE_PARAM(threads_see_whole_pages, codec_gen_params),
	{}
};

static struct kunit_suite race_codec_suite = {
	.name = "zram_race_codec",
	.init = race_codec_init,
	.exit = race_exit,
	.test_cases = race_codec_cases,
};

kunit_test_suites(&race_suite, &race_codec_suite);
