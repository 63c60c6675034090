// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the codecs: what goes in comes out, within bounds, whatever it is.
 *
 * Every buffer is vmalloc memory, which ends at an unmapped page. Compressed
 * bytes are put against that end, so that reading past them faults; results go
 * to the second page of an area, what they must not touch holds a pattern that
 * must survive.
 */
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "zcomp_kunit.h"

#define GUARD 0xa5
#define AREA (4 * PAGE_SIZE)

/**
 * struct bench - the case's codec and buffers
 * @rnd: numbers that can be had again
 * @comp: the codec, with streams
 * @page: what is compressed, a page
 * @packed: the compressed bytes end where this page ends
 * @area: four pages; results begin with the second
 */
struct bench {
	struct rnd_state rnd;
	struct zcomp *comp;
	u8 *page;
	u8 *packed;
	u8 *area;
};

KUNIT_ARRAY_PARAM(codec, zcomp_test_names, zcomp_test_describe);

static int codec_init(struct kunit *test)
{
	struct bench *bench;
	const struct zcomp_backend *backend;

	bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench);
	if (!test->param_value)
		return 0;
	backend = zcomp_test_codec(test);
	test->priv = bench;
	zcomp_test_seed(test, &bench->rnd);
	bench->page = vmalloc(PAGE_SIZE);
	bench->packed = vmalloc(PAGE_SIZE);
	bench->area = vmalloc(AREA);
	KUNIT_ASSERT_NOT_NULL(test, bench->page);
	KUNIT_ASSERT_NOT_NULL(test, bench->packed);
	KUNIT_ASSERT_NOT_NULL(test, bench->area);
	bench->comp = zcomp_create(backend, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(bench->comp));
	return 0;
}

static void codec_exit(struct kunit *test)
{
	struct bench *bench = test->priv;

	if (!bench)
		return;
	if (!IS_ERR_OR_NULL(bench->comp))
		zcomp_destroy(bench->comp);
	vfree(bench->page);
	vfree(bench->packed);
	vfree(bench->area);
}

static bool is_guard(const u8 *from, const u8 *to)
{
	return from == to || !memchr_inv(from, GUARD, to - from);
}

/* Compress @bench->page to the area's second page, at most @limit bytes. */
static int pack(struct bench *bench, unsigned int limit, unsigned int *len)
{
	const struct zcomp_backend *backend = zcomp_backend_of(bench->comp);
	struct zcomp_stream *stream;
	int ret;

	memset(bench->area, GUARD, AREA);
	*len = limit;
	stream = zcomp_stream_get(bench->comp);
	ret = backend->compress(stream->work, bench->page,
				bench->area + PAGE_SIZE, len);
	zcomp_stream_put(bench->comp, stream);
	return ret;
}

/* Expand the last @len bytes of @bench->packed to the area's second page. */
static int unpack(struct bench *bench, unsigned int len)
{
	struct zcomp_stream *stream;
	int ret;

	memset(bench->area, GUARD, AREA);
	stream = zcomp_stream_get(bench->comp);
	ret = zcomp_decompress(bench->comp, stream,
			       bench->packed + PAGE_SIZE - len, len,
			       bench->area + PAGE_SIZE);
	zcomp_stream_put(bench->comp, stream);
	return ret;
}

/* Nothing but @room bytes from the area's second page on has been written. */
static bool is_contained(const struct bench *bench, size_t room)
{
	return is_guard(bench->area, bench->area + PAGE_SIZE) &&
	       is_guard(bench->area + PAGE_SIZE + room, bench->area + AREA);
}

static void keep(struct bench *bench, unsigned int len)
{
	memcpy(bench->packed + PAGE_SIZE - len, bench->area + PAGE_SIZE, len);
}

/* @bench->page survives; returns its compressed size, kept in packed. */
static unsigned int round_trip(struct kunit *test)
{
	struct bench *bench = test->priv;
	unsigned int len;

	KUNIT_ASSERT_EQ(test, pack(bench, PAGE_SIZE, &len), 0);
	KUNIT_ASSERT_GT(test, len, 0u);
	KUNIT_ASSERT_LE(test, (size_t)len, (size_t)PAGE_SIZE);
	keep(bench, len);
	KUNIT_ASSERT_EQ(test, unpack(bench, len), 0);
	KUNIT_EXPECT_TRUE(test, is_contained(bench, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, memcmp(bench->page, bench->area + PAGE_SIZE,
				     PAGE_SIZE), 0);
	return len;
}

/* Prose shrinks to less than three quarters and comes back. */
static void text_round_trips(struct kunit *test)
{
	struct bench *bench = test->priv;
	int i;

	for (i = 0; i < 20; i++) {
		zcomp_test_text(&bench->rnd, bench->page);
		KUNIT_EXPECT_LT(test, round_trip(test),
				(unsigned int)PAGE_SIZE / 4 * 3);
	}
}

/* The kernel's own code, and memory full of pointers, come back. */
static void kernel_pages_round_trip(struct kunit *test)
{
	struct bench *bench = test->priv;
	size_t i;

	memcpy(bench->page, PTR_ALIGN_DOWN((void *)kvfree, PAGE_SIZE),
	       PAGE_SIZE);
	round_trip(test);
	for (i = 0; i < PAGE_SIZE; i += sizeof(void *)) {
		const u8 *object = bench->page;

		object += 64 * zcomp_test_below(&bench->rnd, 4096);
		memcpy(bench->page + i, &object, sizeof(object));
	}
	round_trip(test);
}

/* A page of one byte, or of one word, shrinks to less than an eighth. */
static void filled_page_round_trips(struct kunit *test)
{
	struct bench *bench = test->priv;
	unsigned long word = 0x0123456789abcdefull;
	unsigned int max = PAGE_SIZE / 8;
	size_t i;

	memset(bench->page, 0, PAGE_SIZE);
	KUNIT_EXPECT_LT(test, round_trip(test), max);
	memset(bench->page, 0xff, PAGE_SIZE);
	KUNIT_EXPECT_LT(test, round_trip(test), max);
	for (i = 0; i < PAGE_SIZE; i += sizeof(word))
		memcpy(bench->page + i, &word, sizeof(word));
	KUNIT_EXPECT_LT(test, round_trip(test), max);
}

/* A single odd byte in a zero page comes back, wherever it is. */
static void one_byte_off_round_trips(struct kunit *test)
{
	static const unsigned int at[] = {
		0, 1, 7, 8, PAGE_SIZE / 2 - 1, PAGE_SIZE / 2, PAGE_SIZE - 9,
		PAGE_SIZE - 8, PAGE_SIZE - 2, PAGE_SIZE - 1,
	};
	struct bench *bench = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		memset(bench->page, 0, PAGE_SIZE);
		bench->page[at[i]] = 0x11;
		round_trip(test);
	}
}

/* Pages between prose and noise: every ratio comes back, or does not fit. */
static void mixed_page_round_trips_or_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	unsigned int noise, len;
	int ret;

	for (noise = 0; noise <= PAGE_SIZE; noise += PAGE_SIZE / 32) {
		zcomp_test_text(&bench->rnd, bench->page);
		prandom_bytes_state(&bench->rnd, bench->page, noise);
		ret = pack(bench, PAGE_SIZE - 1, &len);
		if (!ret) {
			round_trip(test);
			continue;
		}
		/* lzo hurries on after noise, and may miss what follows. */
		KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
		KUNIT_EXPECT_GT(test, noise, 0U);
	}
}

/* Noise does not fit, and trying takes no more room than is said. */
static void random_page_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	unsigned int limit = PAGE_SIZE - 1, len;
	int i;

	for (i = 0; i < 50; i++) {
		prandom_bytes_state(&bench->rnd, bench->page, PAGE_SIZE);
		KUNIT_EXPECT_EQ(test, pack(bench, limit, &len), -ENOSPC);
		KUNIT_EXPECT_TRUE(test, is_contained(bench, ZCOMP_ROOM));
	}
}

/* No limit is exceeded; one below the true size is refused. */
static void limit_is_honoured(struct kunit *test)
{
	struct bench *bench = test->priv;
	unsigned int limit, len, full;

	zcomp_test_text(&bench->rnd, bench->page);
	full = round_trip(test);
	for (limit = 0; limit <= PAGE_SIZE; limit++) {
		int ret;

		/* All limits near the ends and the true size, some between. */
		if (limit > 64 && limit + 64 < PAGE_SIZE && limit % 37 &&
		    (limit + 64 < full || limit > full + 64))
			continue;
		ret = pack(bench, limit, &len);
		if (limit < full)
			KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
		if (ret)
			KUNIT_EXPECT_EQ(test, ret, -ENOSPC);
		else
			KUNIT_EXPECT_LE(test, len, limit);
		KUNIT_EXPECT_TRUE(test, is_contained(bench, ZCOMP_ROOM));
	}
}

/* A page compresses to the same bytes whatever was compressed before it. */
static void result_does_not_depend_on_history(struct kunit *test)
{
	struct bench *bench = test->priv;
	u8 *first = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	u8 *text = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned int len, again;

	KUNIT_ASSERT_NOT_NULL(test, first);
	KUNIT_ASSERT_NOT_NULL(test, text);
	zcomp_test_text(&bench->rnd, text);
	memcpy(bench->page, text, PAGE_SIZE);
	len = round_trip(test);
	memcpy(first, bench->packed + PAGE_SIZE - len, len);

	prandom_bytes_state(&bench->rnd, bench->page, PAGE_SIZE);
	pack(bench, 100, &again);
	memset(bench->packed, 0x5a, PAGE_SIZE);
	unpack(bench, PAGE_SIZE);

	memcpy(bench->page, text, PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, round_trip(test), len);
	KUNIT_EXPECT_EQ(test, memcmp(first, bench->packed + PAGE_SIZE - len,
				     len), 0);
}

/* Whatever is expanded, there is a page or -EINVAL, and nothing else. */
static int expand_anything(struct kunit *test, unsigned int len)
{
	struct bench *bench = test->priv;
	int ret = unpack(bench, len);

	if (ret)
		KUNIT_EXPECT_EQ(test, ret, -EINVAL);
	KUNIT_EXPECT_TRUE(test, is_contained(bench, PAGE_SIZE));
	return ret;
}

/* Input that ends early is refused, wherever it ends. */
static void truncated_input_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	unsigned int full, len;

	zcomp_test_text(&bench->rnd, bench->page);
	KUNIT_ASSERT_EQ(test, pack(bench, PAGE_SIZE - 1, &full), 0);
	memcpy(bench->page, bench->area + PAGE_SIZE, full);
	for (len = 1; len < full; len++) {
		memcpy(bench->packed + PAGE_SIZE - len, bench->page, len);
		/* 842 rounds up to 8 bytes, the last of which say nothing. */
		if (!expand_anything(test, len))
			KUNIT_EXPECT_GT(test, len + 8, full);
	}
}

/* Flipped bits give an error or some page, never a byte outside it. */
static void corrupt_input_stays_inside(struct kunit *test)
{
	struct bench *bench = test->priv;
	unsigned int len, flips, refused = 0, i;

	for (i = 0; i < 2000; i++) {
		if (i % 100 == 0)
			zcomp_test_text(&bench->rnd, bench->page);
		KUNIT_ASSERT_EQ(test, pack(bench, PAGE_SIZE - 1, &len), 0);
		keep(bench, len);
		flips = 1 + zcomp_test_below(&bench->rnd, 8);
		while (flips--) {
			u32 at = zcomp_test_below(&bench->rnd, len);

			bench->packed[PAGE_SIZE - 1 - at] ^=
				1 << zcomp_test_below(&bench->rnd, 8);
		}
		refused += !!expand_anything(test, len);
	}
	KUNIT_EXPECT_GT(test, refused, 0u);
}

/* So does input that never was compressed. */
static void garbage_input_stays_inside(struct kunit *test)
{
	struct bench *bench = test->priv;
	unsigned int len, i;

	for (i = 0; i < 2000; i++) {
		len = 1 + zcomp_test_below(&bench->rnd, PAGE_SIZE);
		prandom_bytes_state(&bench->rnd, bench->packed, PAGE_SIZE);
		/* Half of them with few different bytes: longer runs. */
		if (i % 2) {
			memset(bench->packed, bench->packed[0], PAGE_SIZE);
			bench->packed[PAGE_SIZE - len] = bench->packed[1] | 1;
		}
		expand_anything(test, len);
	}
}

/* Lengths that no compressed page has are refused. */
static void impossible_length_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	static const unsigned int lens[] = { 0, PAGE_SIZE + 1, UINT_MAX };
	struct zcomp_stream *stream = zcomp_stream_get(bench->comp);
	int ret[ARRAY_SIZE(lens)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		ret[i] = zcomp_decompress(bench->comp, stream, bench->packed,
					  lens[i], bench->page);
	zcomp_stream_put(bench->comp, stream);
	for (i = 0; i < ARRAY_SIZE(lens); i++)
		KUNIT_EXPECT_EQ(test, ret[i], -EINVAL);
}

/* Well-formed input of less than a page is refused. */
static void short_result_is_refused(struct kunit *test)
{
	/* Each is the letter A. */
	static const struct {
		const char *codec;
		u8 bytes[16];
		u8 len;
	} inputs[] = {
		{ "lzo", { 0x12, 'A', 0x11, 0, 0 }, 5 },
		{ "lzo-rle", { 0x12, 'A', 0x11, 0, 0 }, 5 },
		{ "lz4", { 0x10, 'A' }, 2 },
		{ "lz4hc", { 0x10, 'A' }, 2 },
		{ "zstd", { 0x28, 0xb5, 0x2f, 0xfd, 0x20, 1, 9, 0, 0, 'A' },
		  10 },
		{ "deflate", { 1, 1, 0, 0xfe, 0xff, 'A' }, 6 },
	};
	struct bench *bench = test->priv;
	const char *name = zcomp_backend_of(bench->comp)->name;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(inputs); i++) {
		if (strcmp(inputs[i].codec, name))
			continue;
		memcpy(bench->packed + PAGE_SIZE - inputs[i].len,
		       inputs[i].bytes, inputs[i].len);
		KUNIT_EXPECT_EQ(test, expand_anything(test, inputs[i].len),
				-EINVAL);
		/* It was expanded: the test would fail on a bad table. */
		KUNIT_EXPECT_EQ(test, bench->area[PAGE_SIZE], 'A');
	}
}

/* Well-formed input of more than a page is refused. */
static void long_result_is_refused(struct kunit *test)
{
	struct bench *bench = test->priv;
	const char *name = zcomp_backend_of(bench->comp)->name;
	unsigned int len = 2 * PAGE_SIZE / 255;
	u8 *at = bench->packed + PAGE_SIZE - len;

	if (strncmp(name, "lz4", 3))
		return;
	/* One A, then a match of two pages at distance 1. */
	memset(at, 255, len);
	memcpy(at, ((u8[]){ 0x1f, 'A', 1, 0 }), 4);
	at[len - 1] = 0;
	KUNIT_EXPECT_EQ(test, expand_anything(test, len), -EINVAL);
}

/* An in_place codec expands without a stream and without sleeping. */
static void stateless_codec_needs_no_stream(struct kunit *test)
{
	struct bench *bench = test->priv;
	const struct zcomp_backend *backend = zcomp_backend_of(bench->comp);
	bool lz = !strncmp(backend->name, "lz", 2);
	unsigned int len;
	int ret;

	KUNIT_EXPECT_EQ(test, backend->in_place, lz);
	if (!backend->in_place)
		return;
	zcomp_test_text(&bench->rnd, bench->page);
	len = round_trip(test);
	memset(bench->area, GUARD, AREA);
	preempt_disable();
	ret = zcomp_decompress(bench->comp, NULL,
			       bench->packed + PAGE_SIZE - len, len,
			       bench->area + PAGE_SIZE);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_TRUE(test, is_contained(bench, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, memcmp(bench->page, bench->area + PAGE_SIZE,
				     PAGE_SIZE), 0);
}

static int scribble(void *page)
{
	u8 *bytes = page;
	u32 i = 0;

	while (!kthread_should_stop()) {
		WRITE_ONCE(bytes[(i * 2654435761u) % PAGE_SIZE], i & 3);
		if (++i % 4096 == 0)
			cond_resched();
	}
	return 0;
}

/* A page that changes while it is compressed still expands to some page. */
static void changing_source_gives_a_page(struct kunit *test)
{
	struct bench *bench = test->priv;
	unsigned int len, i, refused = 0;
	struct task_struct *scribbler;

	zcomp_test_text(&bench->rnd, bench->page);
	scribbler = kthread_run(scribble, bench->page, "zcomp_scribble");
	KUNIT_ASSERT_FALSE(test, IS_ERR(scribbler));
	for (i = 0; i < 1000; i++) {
		if (pack(bench, PAGE_SIZE - 1, &len))
			continue;
		keep(bench, len);
		refused += !!expand_anything(test, len);
		cond_resched();
	}
	kthread_stop(scribbler);
	KUNIT_EXPECT_EQ(test, refused, 0u);
}

/* Every library of this kernel's configuration has its codec, and no other. */
static void configured_codecs_are_found(struct kunit *test)
{
	static const bool has[] = {
		ZCOMP_HAS_LZO, ZCOMP_HAS_LZO, ZCOMP_HAS_LZ4, ZCOMP_HAS_LZ4HC,
		ZCOMP_HAS_ZSTD, ZCOMP_HAS_DEFLATE, ZCOMP_HAS_842,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(has); i++) {
		const char *name = zcomp_test_names[i];
		const struct zcomp_backend *found = zcomp_backend_find(name);

		KUNIT_EXPECT_EQ(test, !!found, has[i]);
		if (found)
			KUNIT_EXPECT_STREQ(test, found->name, name);
	}
}

/* A name is matched whole and by case. */
static void unknown_name_is_not_found(struct kunit *test)
{
	static const char * const names[] = {
		"", " ", "l", "LZO", "lzo ", " lzo", "lzo\n", "lzo-rl",
		"lzo-rle2", "lz4h", "zst", "zstd,level=3", "8422", "none",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_NULL(test, zcomp_backend_find(names[i]));
}

/* The default is lzo-rle where there is one. */
static void default_is_lzorle(struct kunit *test)
{
	const struct zcomp_backend *backend = zcomp_backend_default();

	KUNIT_ASSERT_NOT_NULL(test, backend);
	if (ZCOMP_HAS_LZO)
		KUNIT_EXPECT_STREQ(test, backend->name, "lzo-rle");
}

/* All names in order, one blank between, the current one in brackets. */
static void show_lists_all_and_marks_one(struct kunit *test)
{
	char *page = (char *)__get_free_page(GFP_KERNEL);
	char want[128] = "";
	size_t i, at;

	KUNIT_ASSERT_NOT_NULL(test, page);
	for (at = 0; at <= ARRAY_SIZE(zcomp_test_names); at++) {
		const char *mark = at < ARRAY_SIZE(zcomp_test_names) ?
				   zcomp_test_names[at] : "";
		ssize_t ret;

		want[0] = '\0';
		for (i = 0; i < ARRAY_SIZE(zcomp_test_names); i++) {
			const char *name = zcomp_test_names[i];
			const char *form = strcmp(name, mark) ? "%s%s" :
								"%s[%s]";
			size_t end = strlen(want);

			if (zcomp_backend_find(name))
				snprintf(want + end, sizeof(want) - end, form,
					 end ? " " : "", name);
		}
		strcat(want, "\n");
		ret = zcomp_backends_show(zcomp_backend_find(mark), page);
		KUNIT_EXPECT_EQ(test, ret, (ssize_t)strlen(want));
		KUNIT_EXPECT_STREQ(test, page, want);
	}
	free_page((unsigned long)page);
}

static struct kunit_case codec_cases[] = {
	KUNIT_CASE_PARAM(text_round_trips, codec_gen_params),
	KUNIT_CASE_PARAM(kernel_pages_round_trip, codec_gen_params),
	KUNIT_CASE_PARAM(filled_page_round_trips, codec_gen_params),
	KUNIT_CASE_PARAM(one_byte_off_round_trips, codec_gen_params),
	KUNIT_CASE_PARAM(mixed_page_round_trips_or_is_refused,
			 codec_gen_params),
	KUNIT_CASE_PARAM(random_page_is_refused, codec_gen_params),
	KUNIT_CASE_PARAM(limit_is_honoured, codec_gen_params),
	KUNIT_CASE_PARAM(result_does_not_depend_on_history, codec_gen_params),
	KUNIT_CASE_PARAM(truncated_input_is_refused, codec_gen_params),
	KUNIT_CASE_PARAM(corrupt_input_stays_inside, codec_gen_params),
	KUNIT_CASE_PARAM(garbage_input_stays_inside, codec_gen_params),
	KUNIT_CASE_PARAM(impossible_length_is_refused, codec_gen_params),
	KUNIT_CASE_PARAM(short_result_is_refused, codec_gen_params),
	KUNIT_CASE_PARAM(long_result_is_refused, codec_gen_params),
	KUNIT_CASE_PARAM(stateless_codec_needs_no_stream, codec_gen_params),
	KUNIT_CASE_PARAM(changing_source_gives_a_page, codec_gen_params),
	KUNIT_CASE(configured_codecs_are_found),
	KUNIT_CASE(unknown_name_is_not_found),
	KUNIT_CASE(default_is_lzorle),
	KUNIT_CASE(show_lists_all_and_marks_one),
	{}
};

static struct kunit_suite codec_suite = {
	.name = "zcomp",
	.suite_init = zcomp_test_start,
	.suite_exit = zcomp_test_stop,
	.init = codec_init,
	.exit = codec_exit,
	.test_cases = codec_cases,
};

kunit_test_suite(codec_suite);
