// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of attributes: sizes are parsed or refused, whatever is written, and a
 * refusal changes nothing.
 *
 * Attributes are called as sysfs calls them, for a disk that is in no system.
 */
#include <linux/device.h>

#include "../../zram_sysfs.h"
#include "zram_kunit.h"

/* --- Sizes ---------------------------------------------------------------- */

#define K(n)	((u64)(n) << 10)
#define M(n)	((u64)(n) << 20)
#define G(n)	((u64)(n) << 30)
#define T(n)	((u64)(n) << 40)
#define P(n)	((u64)(n) << 50)
#define E(n)	((u64)(n) << 60)

struct size_case {
	const char *text;
	u64 size;
};

static const struct size_case good_sizes[] = {
	{ "0", 0 }, { "1", 1 }, { "4096", 4096 }, { "1K", K(1) },
	{ "1k", K(1) }, { "512M", M(512) }, { "512m", M(512) }, { "1G", G(1) },
	{ "2T", T(2) }, { "3P", P(3) }, { "15E", E(15) }, { "1KiB", K(1) },
	{ "1KB", K(1) }, { "7kB", K(7) }, { "2GiB", G(2) }, { "0K", 0 },
	{ "0x10", 16 }, { "0x1E", 30 }, { "0x1B", 27 }, { "0XfF", 255 },
	{ "010", 8 }, { "010K", K(8) }, { " 4096\n", 4096 }, { "\t1K\t\n", K(1) },
	{ "18446744073709551615", U64_MAX },
	{ "0xffffffffffffffff", U64_MAX },
	{ "18014398509481983K", U64_MAX - 1023 },
};

static const char * const bad_sizes[] = {
	"", "\n", " ", "K", "KiB", "B", "iB", "-1", "-1K", "+1", "1.5G",
	"12junk", "1KK", "1KiBB", "1Ki", "1B", "12B", "1iB", "1kib", "1 K",
	"1\nK", "1,000", "1e3", "0x", "0xK", "0x1G", "x10", "08", "1K1", "K1",
	"99999999999999999999", "18446744073709551616", "16E", "16384P",
	"18014398509481984K", "0x1ffffffffffffffff", "1\x80", "\xff",
	"00000000000000000000000000000001",
};

/* Expect: the number of bytes. */
static void good_size_is_parsed(struct kunit *test)
{
	u64 size;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(good_sizes); i++) {
		size = 0x1234567;
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    zram_parse_size(good_sizes[i].text, &size),
				    "text '%s'", good_sizes[i].text);
		KUNIT_EXPECT_EQ_MSG(test, size, good_sizes[i].size,
				    "text '%s'", good_sizes[i].text);
	}
}

/* Expect: refused, and whatever the size was it still is. */
static void bad_size_is_refused(struct kunit *test)
{
	u64 size;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad_sizes); i++) {
		size = 0x1234567;
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    zram_parse_size(bad_sizes[i], &size),
				    "text '%s'", bad_sizes[i]);
		KUNIT_EXPECT_EQ_MSG(test, size, 0x1234567ULL,
				    "text '%s'", bad_sizes[i]);
	}
}

/* As long as sysfs hands over, and one character just of it. */
static const char long_fills[] = "019K xG\n\xff";

/* Expect: a page full of anything is refused. */
static void long_text_is_refused(struct kunit *test)
{
	char *text = zram_test_page(test);
	u64 size = 0x1234567;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(long_fills) - 1; i++) {
		memset(text, long_fills[i], PAGE_SIZE - 1);
		KUNIT_EXPECT_EQ(test, zram_parse_size(text, &size), -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, size, 0x1234567ULL);
}

/* --- Attributes ----------------------------------------------------------- */

/**
 * struct bench - the case's device
 * @zram: the device
 * @buf: what attributes show, a page
 */
struct bench {
	struct zram *zram;
	char *buf;
};

static int attr_init(struct kunit *test)
{
	struct bench *bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, bench);
	test->priv = bench;
	bench->buf = zram_test_page(test);
	bench->zram = zram_test_device(test);
	return 0;
}

static void attr_exit(struct kunit *test)
{
	struct bench *bench = test->priv;

	if (bench)
		zram_test_device_end(bench->zram);
}

static struct device_attribute *attr(struct kunit *test, const char *name)
{
	struct attribute **attrs = zram_disk_groups[0]->attrs;

	while (*attrs && strcmp((*attrs)->name, name))
		attrs++;
	KUNIT_ASSERT_NOT_NULL(test, *attrs);
	return container_of(*attrs, struct device_attribute, attr);
}

static ssize_t write_attr(struct kunit *test, const char *name,
			  const char *text)
{
	struct bench *bench = test->priv;
	struct device_attribute *a = attr(test, name);

	KUNIT_ASSERT_NOT_NULL(test, a->store);
	return a->store(disk_to_dev(bench->zram->disk), a, text, strlen(text));
}

static const char *read_attr(struct kunit *test, const char *name)
{
	struct bench *bench = test->priv;
	struct device_attribute *a = attr(test, name);

	KUNIT_ASSERT_NOT_NULL(test, a->show);
	memset(bench->buf, 0, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, a->show(disk_to_dev(bench->zram->disk), a,
				      bench->buf),
			(ssize_t)strlen(bench->buf));
	return bench->buf;
}

/* What a device shows. */
struct shown {
	char disksize[24];
	char initstate[4];
	char comp_algorithm[80];
	unsigned long limit;
};

static void look(struct kunit *test, struct shown *shown)
{
	struct bench *bench = test->priv;

	memset(shown, 0, sizeof(*shown));
	strscpy(shown->disksize, read_attr(test, "disksize"),
		sizeof(shown->disksize));
	strscpy(shown->initstate, read_attr(test, "initstate"),
		sizeof(shown->initstate));
	strscpy(shown->comp_algorithm, read_attr(test, "comp_algorithm"),
		sizeof(shown->comp_algorithm));
	shown->limit = bench->zram->limit_pages;
}

struct attr_case {
	const char *name;
	umode_t mode;
};

/* Expect: the attributes of the documentation, with its permissions. */
static void attributes_are_as_documented(struct kunit *test)
{
	static const struct attr_case cases[] = {
		{ "disksize", 0644 }, { "initstate", 0444 },
		{ "reset", 0200 }, { "comp_algorithm", 0644 },
		{ "max_comp_streams", 0644 }, { "mem_limit", 0200 },
		{ "mem_used_max", 0200 }, { "compact", 0200 },
		{ "mm_stat", 0444 }, { "io_stat", 0444 },
		{ "debug_stat", 0444 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, attr(test, cases[i].name)->attr.mode,
				    cases[i].mode, "%s", cases[i].name);
}

/* Expect: what is written is shown, and takes effect when the size is set. */
static void parameters_take_effect(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_EXPECT_STREQ(test, read_attr(test, "disksize"), "0\n");
	KUNIT_EXPECT_STREQ(test, read_attr(test, "initstate"), "0\n");
	KUNIT_EXPECT_EQ(test, write_attr(test, "comp_algorithm", "lzo\n"), 4);
	KUNIT_EXPECT_TRUE(test, strstr(read_attr(test, "comp_algorithm"),
				       "[lzo]"));
	KUNIT_EXPECT_EQ(test, write_attr(test, "mem_limit", "5K"), 2);
	KUNIT_EXPECT_EQ(test, bench->zram->limit_pages,
			DIV_ROUND_UP(5120, PAGE_SIZE));
	KUNIT_EXPECT_EQ(test, write_attr(test, "disksize", "1M\n"), 3);
	KUNIT_EXPECT_STREQ(test, read_attr(test, "disksize"), "1048576\n");
	KUNIT_EXPECT_STREQ(test, read_attr(test, "initstate"), "1\n");
	KUNIT_EXPECT_STREQ(test, "lzo",
			   zcomp_backend_of(bench->zram->state->comp[0])->name);
	KUNIT_EXPECT_EQ(test, write_attr(test, "reset", "1\n"), 2);
	KUNIT_EXPECT_STREQ(test, read_attr(test, "initstate"), "0\n");
	KUNIT_EXPECT_FALSE(test, bench->zram->claim);
}

struct refusal {
	const char *name;
	const char *text;
	int error;
};

static const struct refusal fresh_refusals[] = {
	{ "disksize", "", -EINVAL }, { "disksize", "0", -EINVAL },
	{ "disksize", "-1", -EINVAL }, { "disksize", "junk", -EINVAL },
	{ "disksize", "16E", -EINVAL }, { "disksize", "15E", -EINVAL },
	{ "disksize", "18446744073709551615", -EINVAL },
	{ "comp_algorithm", "", -EINVAL }, { "comp_algorithm", "\n", -EINVAL },
	{ "comp_algorithm", "rot13", -EINVAL },
	{ "comp_algorithm", "lzo lz4", -EINVAL },
	{ "comp_algorithm", "[lzo]", -EINVAL },
	{ "comp_algorithm", "LZO", -EINVAL },
	{ "mem_limit", "", -EINVAL }, { "mem_limit", "-1", -EINVAL },
	{ "mem_limit", "1KK", -EINVAL }, { "mem_limit", "16E", -EINVAL },
	{ "max_comp_streams", "", -EINVAL },
	{ "max_comp_streams", "0", -EINVAL },
	{ "max_comp_streams", "-1", -EINVAL },
	{ "max_comp_streams", "65536", -EINVAL },
	{ "max_comp_streams", "many", -EINVAL },
	{ "mem_used_max", "1", -EINVAL }, { "mem_used_max", "", -EINVAL },
	{ "mem_used_max", "0x0", -EINVAL },
	{ "reset", "0", -EINVAL }, { "reset", "", -EINVAL },
	{ "reset", "-1", -EINVAL }, { "reset", "yes", -EINVAL },
	{ "reset", "65536", -ERANGE },
	{ "compact", "1", -EINVAL },
};

static const struct refusal busy_refusals[] = {
	{ "disksize", "2M", -EBUSY }, { "disksize", "1M", -EBUSY },
	{ "disksize", "0", -EINVAL },
	{ "comp_algorithm", "lzo", -EBUSY },
	{ "comp_algorithm", "lzo-rle", -EBUSY },
	{ "comp_algorithm", "rot13", -EINVAL },
	{ "mem_limit", "junk", -EINVAL },
	{ "mem_used_max", "4096", -EINVAL },
	{ "reset", "0", -EINVAL },
};

static void expect_refusals(struct kunit *test, const struct refusal *cases,
			    u32 nr)
{
	struct shown *before = kunit_kzalloc(test, 2 * sizeof(*before),
					     GFP_KERNEL);
	struct shown *after = before + 1;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, before);
	look(test, before);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ_MSG(test, (ssize_t)cases[i].error,
				    write_attr(test, cases[i].name,
					       cases[i].text),
				    "%s: '%s'", cases[i].name, cases[i].text);
		look(test, after);
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    memcmp(before, after, sizeof(*before)),
				    "%s: '%s'", cases[i].name, cases[i].text);
	}
}

/* Expect: nonsense is refused and changes nothing ... */
static void nonsense_changes_nothing(struct kunit *test)
{
	struct bench *bench = test->priv;

	expect_refusals(test, fresh_refusals, ARRAY_SIZE(fresh_refusals));
	KUNIT_EXPECT_NULL(test, bench->zram->state);
}

/* Expect: ... nor can be changed what is fixed once the size is set. */
static void initialised_device_keeps_its_parameters(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct zram_state *state;

	KUNIT_ASSERT_EQ(test, write_attr(test, "disksize", "1M"), 2);
	state = bench->zram->state;
	expect_refusals(test, busy_refusals, ARRAY_SIZE(busy_refusals));
	KUNIT_EXPECT_PTR_EQ(test, bench->zram->state, state);
}

/* Expect: text as long as sysfs allows is refused by all of them. */
static void attributes_refuse_long_text(struct kunit *test)
{
	static const char * const names[] = {
		"disksize", "reset", "comp_algorithm", "max_comp_streams",
		"mem_limit", "mem_used_max",
	};
	char *text = zram_test_page(test);
	u32 i, fill;

	for (fill = 0; fill < ARRAY_SIZE(long_fills) - 1; fill++) {
		memset(text, long_fills[fill], PAGE_SIZE - 1);
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			/* Zeroes are zero, which is all one may write. */
			if (long_fills[fill] == '0' &&
			    !strcmp(names[i], "mem_used_max"))
				continue;
			KUNIT_EXPECT_LT_MSG(test, (ssize_t)0,
					    -write_attr(test, names[i], text),
					    "%s: '%c'", names[i],
					    long_fills[fill]);
		}
	}
}

/* Expect: a claimed device is not reset, and a reset one is as new. */
static void reset_respects_claims(struct kunit *test)
{
	struct bench *bench = test->priv;

	KUNIT_ASSERT_EQ(test, write_attr(test, "disksize", "1M"), 2);
	KUNIT_ASSERT_EQ(test, zram_device_claim(bench->zram), 0);
	KUNIT_EXPECT_EQ(test, write_attr(test, "reset", "1"), -EBUSY);
	KUNIT_EXPECT_STREQ(test, read_attr(test, "initstate"), "1\n");
	zram_device_unclaim(bench->zram);
	KUNIT_EXPECT_EQ(test, write_attr(test, "reset", "1"), 1);
	KUNIT_EXPECT_STREQ(test, read_attr(test, "disksize"), "0\n");
}

/* Expect: a limit holds from when it is written, and 0 takes it away. */
static void limit_may_change_at_any_time(struct kunit *test)
{
	struct bench *bench = test->priv;
	u8 *page = zram_test_page(test);
	struct zram_state *state;

	KUNIT_ASSERT_EQ(test, write_attr(test, "disksize", "1M"), 2);
	state = bench->zram->state;
	zram_test_make(page, ZRAM_TEST_RANDOM);
	KUNIT_EXPECT_EQ(test, zram_write_page(state, 0, page), 0);
	KUNIT_EXPECT_EQ(test, write_attr(test, "mem_limit", "1"), 1);
	KUNIT_EXPECT_LT(test, zram_write_page(state, 1, page), 0);
	KUNIT_EXPECT_EQ(test, write_attr(test, "mem_limit", "0"), 1);
	KUNIT_EXPECT_EQ(test, zram_write_page(state, 1, page), 0);
}

/* Expect: the figures of what was done, in the places documented. */
static void statistics_are_shown_in_order(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct zram_state *state;
	u8 *page = zram_test_page(test);
	u64 v[9];

	KUNIT_ASSERT_EQ(test, 9,
			sscanf(read_attr(test, "mm_stat"),
			       "%llu %llu %llu %llu %llu %llu %llu %llu %llu",
			       &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
			       &v[7], &v[8]));
	KUNIT_ASSERT_EQ(test, write_attr(test, "disksize", "1M"), 2);
	KUNIT_ASSERT_EQ(test, write_attr(test, "mem_limit", "64K"), 3);
	state = bench->zram->state;
	zram_test_make(page, ZRAM_TEST_RANDOM);
	KUNIT_EXPECT_EQ(test, zram_write_page(state, 0, page), 0);
	KUNIT_EXPECT_EQ(test, zram_write_page(state, 1, page), 0);
	zram_test_make(page, ZRAM_TEST_SAME);
	KUNIT_EXPECT_EQ(test, zram_write_page(state, 1, page), 0);
	zram_count(state, ZRAM_FAILED_READS, 2);
	zram_count(state, ZRAM_FAILED_WRITES, 3);
	zram_count(state, ZRAM_NOTIFY_FREE, 4);
	zram_count(state, ZRAM_WRITE_STALLS, 5);
	KUNIT_ASSERT_EQ(test, 9,
			sscanf(read_attr(test, "mm_stat"),
			       "%llu %llu %llu %llu %llu %llu %llu %llu %llu",
			       &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6],
			       &v[7], &v[8]));
	KUNIT_EXPECT_EQ(test, v[0], 2ULL * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, v[1], (u64)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, v[2], (u64)PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, v[3], K(64));
	KUNIT_EXPECT_EQ(test, v[4], 2ULL * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, v[5], 1ULL);
	KUNIT_EXPECT_EQ(test, v[6], 0ULL);
	KUNIT_EXPECT_EQ(test, v[7], 1ULL);
	KUNIT_EXPECT_EQ(test, v[8], 2ULL);
	KUNIT_EXPECT_STREQ(test, read_attr(test, "io_stat"),
			   "       2        3 0        4\n");
	KUNIT_EXPECT_STREQ(test, read_attr(test, "debug_stat"),
			   "version: 1\n       5        0\n");
}

/* Expect: the maximum starts anew from what is held; compaction frees. */
static void maximum_starts_anew(struct kunit *test)
{
	struct bench *bench = test->priv;
	struct zs_pool_stats stats;
	struct zram_state *state;
	u8 *page = zram_test_page(test);
	u32 i;

	KUNIT_EXPECT_EQ(test, write_attr(test, "mem_used_max", "0"), 1);
	KUNIT_ASSERT_EQ(test, write_attr(test, "disksize", "1M"), 2);
	state = bench->zram->state;
	zram_test_make(page, ZRAM_TEST_TEXT);
	for (i = 0; i < 200; i++)
		KUNIT_EXPECT_EQ(test, zram_write_page(state, i, page), 0);
	for (i = 0; i < 200; i++)
		if (i % 20)
			zram_slot_free(state, i);
	KUNIT_EXPECT_EQ(test, write_attr(test, "compact", "1"), 1);
	zs_pool_stats(state->pool, &stats);
	KUNIT_EXPECT_LT(test, stats.pages, stats.max_pages);
	KUNIT_EXPECT_EQ(test, write_attr(test, "mem_used_max", "0"), 1);
	zs_pool_stats(state->pool, &stats);
	KUNIT_EXPECT_EQ(test, stats.pages, stats.max_pages);
}

static struct kunit_case size_cases[] = {
	KUNIT_CASE(good_size_is_parsed),
	KUNIT_CASE(bad_size_is_refused),
	KUNIT_CASE(long_text_is_refused),
	{}
};

static struct kunit_suite size_suite = {
	.name = "zram_parse_size",
	.test_cases = size_cases,
};

static struct kunit_case attr_cases[] = {
	KUNIT_CASE(attributes_are_as_documented),
	KUNIT_CASE(parameters_take_effect),
	KUNIT_CASE(nonsense_changes_nothing),
	KUNIT_CASE(initialised_device_keeps_its_parameters),
	KUNIT_CASE(attributes_refuse_long_text),
	KUNIT_CASE(reset_respects_claims),
	KUNIT_CASE(limit_may_change_at_any_time),
	KUNIT_CASE(statistics_are_shown_in_order),
	KUNIT_CASE(maximum_starts_anew),
	{}
};

static struct kunit_suite attr_suite = {
	.name = "zram_sysfs",
	.init = attr_init,
	.exit = attr_exit,
	.test_cases = attr_cases,
};

kunit_test_suites(&size_suite, &attr_suite);
