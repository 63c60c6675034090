/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the driver's suites share: a state to work on, pages that say what they
 * must hold, threads, and a disk that is in no system.
 */
#ifndef _ZRAM_KUNIT_H_
#define _ZRAM_KUNIT_H_

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "../../compat.h"
#include "../../zram_dev.h"
#include "../../zram_bio.h"
#include "../../zram_io.h"
#include "../../zram_slot.h"
#include "../../zs_compact.h"
#include "zcomp_kunit.h"

/**
 * struct zram_test - the fixture of a case
 * @rnd: numbers that can be had again
 * @state: an initialised device's
 * @page: a page to work with
 * @want: another
 */
struct zram_test {
	struct rnd_state rnd;
	struct zram_state *state;
	u8 *page;
	u8 *want;
};

static inline u8 *zram_test_page(struct kunit *test)
{
	u8 *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	return page;
}

/* A fixture around a fresh state of @nr_pages pages. */
static inline struct zram_test *
zram_test_create(struct kunit *test, const struct zcomp_backend *backend,
		 u32 nr_pages)
{
	struct zram_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct zram_state *state;

	KUNIT_ASSERT_NOT_NULL(test, t);
	zcomp_test_seed(test, &t->rnd);
	t->page = zram_test_page(test);
	t->want = zram_test_page(test);
	state = zram_state_create(backend, 0, nr_pages);
	KUNIT_ASSERT_FALSE(test, IS_ERR(state));
	t->state = state;
	return t;
}

/* What the kinds of pages are stored as is up to the driver. */
enum zram_test_kind {
	ZRAM_TEST_SAME,		/* one word; tag 0: zeroes */
	ZRAM_TEST_TEXT,		/* some noise, then words over and over */
	ZRAM_TEST_RANDOM,	/* noise only */
	ZRAM_TEST_NEARLY,	/* one word, but for the last byte */
	ZRAM_TEST_NR_KINDS
};

static inline void zram_test_noise(u8 *to, u32 seed, size_t len)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, seed);
	prandom_bytes_state(&rnd, to, len);
}

/*
 * The page of a number: its kind is the number's remainder, its first word the
 * number, so that a page tells what the rest of it must be.
 */
static inline void zram_test_make(void *page, u32 tag)
{
	static const char words[] = "the page that swap wrote comes back\n";
	size_t at = tag % 3001;

	switch ((enum zram_test_kind)(tag % ZRAM_TEST_NR_KINDS)) {
	case ZRAM_TEST_SAME:
		memset_l(page, tag, PAGE_SIZE / sizeof(long));
		return;
	case ZRAM_TEST_TEXT:
		zram_test_noise(page, tag, at);
		for (; at < PAGE_SIZE; at += sizeof(words) - 1)
			memcpy(page + at, words,
			       min_t(size_t, sizeof(words) - 1,
				     PAGE_SIZE - at));
		break;
	case ZRAM_TEST_RANDOM:
		zram_test_noise(page, tag, PAGE_SIZE);
		break;
	case ZRAM_TEST_NEARLY:
		memset_l(page, tag, PAGE_SIZE / sizeof(long));
		((u8 *)page)[PAGE_SIZE - 1] ^= 1;
		return;
	case ZRAM_TEST_NR_KINDS:
		break;
	}
	*(unsigned long *)page = tag;
}

/* Is the page one that zram_test_make() made? @scratch is a page, too. */
static inline bool zram_test_whole(const void *page, void *scratch)
{
	zram_test_make(scratch, *(const unsigned long *)page);
	return !memcmp(page, scratch, PAGE_SIZE);
}

/* Write the page of @tag. */
static inline int zram_test_write(struct zram_test *t, u32 index, u32 tag)
{
	zram_test_make(t->page, tag);
	return zram_write_page(t->state, index, t->page);
}

/* Does the slot read as the page of @tag? */
static inline bool zram_test_reads(struct zram_test *t, u32 index, u32 tag)
{
	memset(t->page, 0xee, PAGE_SIZE);
	zram_test_make(t->want, tag);
	return !zram_read_page(t->state, index, t->page) &&
	       !memcmp(t->page, t->want, PAGE_SIZE);
}

/* Store, whatever memory it takes. */
static inline int zram_test_store(struct zram_state *state, u32 index,
				  const struct zram_content *new)
{
	int ret;

	do {
		ret = zram_slot_store(state, index, new, false);
		if (ret != -EAGAIN)
			return ret;
		ret = zs_pool_grow(state->pool, new->size, GFP_KERNEL);
	} while (!ret);
	return ret;
}

static inline enum zram_slot_state zram_test_state(struct zram_test *t,
						   u32 index)
{
	return zram_word_state(zram_slot_peek(t->state, index));
}

static inline bool zram_test_locked(struct zram_state *state, u32 index)
{
	return zram_slot_peek(state, index) & ZRAM_SLOT_LOCK;
}

static inline bool zram_test_has_object(const struct zram_content *content)
{
	return content->state == ZRAM_SLOT_COMPRESSED ||
	       content->state == ZRAM_SLOT_HUGE;
}

/* Does the slot hold @content, and is it unlocked? */
static inline bool zram_test_holds(struct zram_state *state, u32 index,
				   const struct zram_content *content)
{
	struct zram_slot *slot = &state->slots[index];
	bool equal = !zram_test_locked(state, index);
	const void *data;

	zram_slot_lock(state, index);
	equal &= zram_word_state(slot->word) == content->state;
	equal &= zram_word_codec(slot->word) == content->codec;
	equal &= zram_word_size(slot->word) == content->size;
	if (equal && zram_test_has_object(content)) {
		data = zs_obj_read_begin(slot->loc, content->size);
		equal = !memcmp(data, content->data, content->size);
		zs_obj_read_end(data);
	} else if (content->state == ZRAM_SLOT_SAME) {
		equal &= slot->fill == content->fill;
	}
	zram_slot_unlock(state, index);
	return equal;
}

/* Is the allocator told that the slot's object is not at @from? */
static inline bool zram_test_refused(struct zram_state *state, u32 id, u64 from)
{
	bool granted = zram_owner_ops.lock(state, id, from);

	if (granted)
		zram_owner_ops.unlock(state, id);
	return !granted;
}

static inline unsigned long zram_test_pool_pages(struct zram_state *state)
{
	struct zs_pool_stats stats;

	zs_pool_stats(state->pool, &stats);
	return stats.pages;
}

/* The sum that must not be negative, unlike what zram_stat_sum() returns. */
static inline s64 zram_test_sum(struct zram_state *state, enum zram_stat stat)
{
	s64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(state->counters, cpu)->value[stat];
	return sum;
}

/* Expect: the counters say what the slots do, none of which is locked. */
static inline void zram_test_check_books(struct kunit *test,
					 struct zram_state *state)
{
	s64 stored = 0, bytes = 0, same = 0, huge = 0, locked = 0;
	u32 i;

	for (i = 0; i < state->nr_pages; i++) {
		unsigned long word = zram_slot_peek(state, i);

		stored += zram_word_state(word) != ZRAM_SLOT_EMPTY;
		bytes += zram_word_size(word);
		same += zram_word_state(word) == ZRAM_SLOT_SAME;
		huge += zram_word_state(word) == ZRAM_SLOT_HUGE;
		locked += word & ZRAM_SLOT_LOCK;
	}
	KUNIT_EXPECT_EQ(test, locked, 0);
	KUNIT_EXPECT_EQ(test, zram_test_sum(state, ZRAM_STORED), stored);
	KUNIT_EXPECT_EQ(test, zram_test_sum(state, ZRAM_BYTES), bytes);
	KUNIT_EXPECT_EQ(test, zram_test_sum(state, ZRAM_SAME), same);
	KUNIT_EXPECT_EQ(test, zram_test_sum(state, ZRAM_HUGE), huge);
}

/*
 * At the end of a case. Expect: the books are right; with all slots empty,
 * nothing is stored and, once room is given back, no page is held.
 */
static inline void zram_test_finish(struct kunit *test, struct zram_test *t)
{
	enum zram_stat stat;
	u32 i;

	if (!t || !t->state)
		return;
	zram_test_check_books(test, t->state);
	for (i = 0; i < t->state->nr_pages; i++)
		zram_slot_free(t->state, i);
	for (stat = ZRAM_STORED; stat <= ZRAM_HUGE; stat++)
		KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, stat), 0);
	zs_pool_compact(t->state->pool, NULL);
	KUNIT_EXPECT_EQ(test, zram_test_pool_pages(t->state), 0UL);
	zram_state_destroy(t->state);
	t->state = NULL;
}

/*
 * Let this task's next small allocation that may not sleep fail, or do not. Only
 * where the kernel was built for it.
 */
#ifdef CONFIG_FAILSLAB
static inline bool zram_test_can_fail_allocations(void)
{
	return true;
}

static inline void zram_test_fail_allocation(bool fail)
{
	WRITE_ONCE(current->fail_nth, fail);
}
#else
static inline bool zram_test_can_fail_allocations(void)
{
	return false;
}

static inline void zram_test_fail_allocation(bool fail)
{
}
#endif

/**
 * struct zram_worker - a thread at work on the fixture
 * @t: the fixture
 * @task: the thread
 * @rnd: its random numbers
 * @number: which of the threads it is
 * @page: a page of its own
 * @scratch: another
 * @steps: how much it did
 * @bad: how much of that went wrong
 */
struct zram_worker {
	struct zram_test *t;
	struct task_struct *task;
	struct rnd_state rnd;
	u32 number;
	u8 *page;
	u8 *scratch;
	u32 steps;
	u32 bad;
};

static inline struct zram_worker *zram_workers(struct kunit *test,
					       struct zram_test *t, u32 nr)
{
	struct zram_worker *workers;
	u32 i;

	workers = kunit_kzalloc(test, nr * sizeof(*workers), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, workers);
	for (i = 0; i < nr; i++) {
		workers[i].t = t;
		workers[i].number = i;
		workers[i].page = zram_test_page(test);
		workers[i].scratch = zram_test_page(test);
		prandom_seed_state(&workers[i].rnd,
				   prandom_u32_state(&t->rnd));
	}
	return workers;
}

static inline void zram_worker_start(struct zram_worker *worker,
				     int (*work)(void *worker))
{
	worker->task = kthread_run(work, worker, "zram_kunit/%u",
				   worker->number);
}

/* Expect: every thread did something, and nothing wrong. */
static inline void zram_workers_stop(struct kunit *test,
				     struct zram_worker *workers, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (!IS_ERR(workers[i].task))
			kthread_stop(workers[i].task);
	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_FALSE(test, IS_ERR(workers[i].task));
		KUNIT_EXPECT_GT(test, workers[i].steps, 0U);
		KUNIT_EXPECT_EQ(test, workers[i].bad, 0U);
	}
}

/*
 * A device whose disk was never added to the system: nobody but the case can
 * reach it, and so it may be used in ways that the block layer would not.
 */
static inline struct zram *zram_test_device(struct kunit *test)
{
	static const struct compat_disk_limits limits = {
		.block_size = ZRAM_BLOCK_SIZE,
		.page_size = PAGE_SIZE,
		.write_zeroes = true,
	};
	struct zram *zram = kunit_kzalloc(test, sizeof(*zram), GFP_KERNEL);
	struct gendisk *disk;

	KUNIT_ASSERT_NOT_NULL(test, zram);
	disk = compat_alloc_disk(&limits);
	KUNIT_ASSERT_FALSE(test, IS_ERR(disk));
	strscpy(disk->disk_name, "zram_kunit", sizeof(disk->disk_name));
	disk->private_data = zram;
	init_rwsem(&zram->lock);
	zram->backend = zcomp_backend_default();
	zram->nr_streams = 1;
	zram->disk = disk;
	return zram;
}

static inline void zram_test_device_end(struct zram *zram)
{
	if (!zram)
		return;
	zram_device_reset(zram);
	put_disk(zram->disk);
}

/* A thread that compacts the pool all the time. */
static inline int zram_worker_compacts(void *data)
{
	struct zram_worker *worker = data;

	while (!kthread_should_stop()) {
		zs_pool_compact(worker->t->state->pool, NULL);
		worker->steps++;
		cond_resched();
	}
	return 0;
}

#endif /* _ZRAM_KUNIT_H_ */
