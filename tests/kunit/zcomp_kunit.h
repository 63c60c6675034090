/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites of zcomp share: the names of the codecs, pages with contents.
 */
#ifndef _ZCOMP_KUNIT_H_
#define _ZCOMP_KUNIT_H_

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/string.h>

#include "../../zcomp.h"
#include "../../zcomp_backends.h"

/* Build with -DZCOMP_KUNIT_SEED=... to repeat a run. */
#ifndef ZCOMP_KUNIT_SEED
#define ZCOMP_KUNIT_SEED get_random_u32()
#endif

/* All there can be, in the order comp_algorithm shows. */
static const char * const zcomp_test_names[] __maybe_unused = {
	"lzo", "lzo-rle", "lz4", "lz4hc", "zstd", "deflate", "842",
};

static inline void zcomp_test_describe(const char * const *name, char *desc)
{
	strscpy(desc, *name, KUNIT_PARAM_DESC_SIZE);
}

/*
 * As part of zram.ko the suites find zcomp initialised; with zcomp alone in a
 * module they do it themselves.
 */
static bool zcomp_test_owns_zcomp;

static inline int zcomp_test_start(struct kunit_suite *suite)
{
	int ret = zcomp_init();

	zcomp_test_owns_zcomp = !ret;
	return ret == -EALREADY ? 0 : ret;
}

static inline void zcomp_test_stop(struct kunit_suite *suite)
{
	if (zcomp_test_owns_zcomp)
		zcomp_exit();
}

/* The case's codec; a kernel that lacks its library skips the case. */
static inline const struct zcomp_backend *zcomp_test_codec(struct kunit *test)
{
	const char * const *name = test->param_value;
	const struct zcomp_backend *backend = zcomp_backend_find(*name);

	if (!backend)
		kunit_skip(test, "this kernel has no %s", *name);
	return backend;
}

/* A generator that this run's log tells how to repeat. */
static inline void zcomp_test_seed(struct kunit *test, struct rnd_state *rnd)
{
	u32 seed = ZCOMP_KUNIT_SEED;

	kunit_info(test, "ZCOMP_KUNIT_SEED=%u\n", seed);
	prandom_seed_state(rnd, seed);
}

static inline u32 zcomp_test_below(struct rnd_state *rnd, u32 limit)
{
	return prandom_u32_state(rnd) % limit;
}

/* A page of prose, more or less. */
static inline void zcomp_test_text(struct rnd_state *rnd, char *page)
{
	static const char * const words[] = {
		"the", "kernel", "swaps", "a", "page", "of", "memory", "out",
		"and", "reads", "it", "back", "when", "some", "process",
		"touches", "that", "address", "again", "compressed", "blocks",
		"are", "smaller", "than", "they", "were", "before",
	};
	size_t at = 0;

	while (at < PAGE_SIZE) {
		u32 pick = zcomp_test_below(rnd, ARRAY_SIZE(words));
		size_t n = min_t(size_t, strlen(words[pick]), PAGE_SIZE - at);

		memcpy(page + at, words[pick], n);
		at += n;
		if (at < PAGE_SIZE)
			page[at++] = zcomp_test_below(rnd, 12) ? ' ' : '\n';
	}
}

#endif /* _ZCOMP_KUNIT_H_ */
