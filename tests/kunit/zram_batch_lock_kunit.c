// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the locks of several slots: threads whose slots overlap in any way
 * neither wait for each other for ever nor see what one of them has half done.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include "zram_kunit.h"

#define NR_PAGES	32

/* How long threads are left alone with each other */
#define A_WHILE_MS	700

static const u8 page_of_zeroes[PAGE_SIZE];

static int batch_lock_init(struct kunit *test)
{
	test->priv = zram_test_create(test, zcomp_backend_default(), NR_PAGES);
	return 0;
}

static void batch_lock_exit(struct kunit *test)
{
	zram_test_finish(test, test->priv);
}

/* --- The caller ----------------------------------------------------------- */

/* Stores of all that needs no room, some that does, and clears. */
static u32 use_locks(struct zram_state *state, u32 n, bool irqs_off)
{
	struct zram_content new[ZRAM_SLOT_BATCH] = {};
	int before = preempt_count();
	u32 i, bad = 0;

	for (i = 0; i < n; i++)
		new[i].state = i % 2 ? ZRAM_SLOT_EMPTY : ZRAM_SLOT_SAME;
	bad |= (zram_slots_store(state, 1, new, n) != n) << 0;
	bad |= (irqs_disabled() != irqs_off || preempt_count() != before) << 1;
	new[n - 1].state = ZRAM_SLOT_HUGE;
	new[n - 1].size = PAGE_SIZE;
	new[n - 1].data = page_of_zeroes;
	bad |= (zram_slots_store(state, 1, new, n) != n - 1) << 2;
	bad |= (irqs_disabled() != irqs_off || preempt_count() != before) << 3;
	new[n - 1].size = 0;
	bad |= (zram_slots_store(state, 1, new, n) != -EINVAL) << 4;
	bad |= (irqs_disabled() != irqs_off || preempt_count() != before) << 5;
	bad |= (zram_slots_clear(state, 1, n) != (n + 1) / 2) << 6;
	bad |= (irqs_disabled() != irqs_off || preempt_count() != before) << 7;
	bad |= zram_slots_clear(state, 1, n) << 8;
	bad |= (irqs_disabled() != irqs_off || preempt_count() != before) << 9;
	return bad;
}

/* Expect: interrupts and preemption as the caller had them, whatever happens. */
static void callers_are_left_as_they_were(struct kunit *test)
{
	struct zram_test *t = test->priv;
	unsigned long flags;
	u32 n, bad;

	for (n = 1; n <= ZRAM_SLOT_BATCH; n++) {
		KUNIT_EXPECT_EQ(test, use_locks(t->state, n, false), 0U);
		local_irq_save(flags);
		bad = use_locks(t->state, n, true);
		local_irq_restore(flags);
		KUNIT_EXPECT_EQ(test, bad, 0U);
		preempt_disable();
		bad = use_locks(t->state, n, false);
		preempt_enable();
		KUNIT_EXPECT_EQ(test, bad, 0U);
	}
}

/* Expect: all the slots are locked and no other; then none. */
static void lock_takes_just_those_slots(struct kunit *test)
{
	struct zram_test *t = test->priv;
	u32 n, i, locked, others, left;
	int before = preempt_count(), under;

	for (n = 1; n <= ZRAM_SLOT_BATCH; n++) {
		locked = 0;
		others = 0;
		left = 0;
		zram_slots_lock(t->state, 5, n);
		under = preempt_count();
		for (i = 0; i < NR_PAGES; i++) {
			if (i >= 5 && i < 5 + n)
				locked += zram_test_locked(t->state, i);
			else
				others += zram_test_locked(t->state, i);
		}
		zram_slots_unlock(t->state, 5, n);
		for (i = 0; i < NR_PAGES; i++)
			left += zram_test_locked(t->state, i);
		KUNIT_EXPECT_EQ(test, locked, n);
		KUNIT_EXPECT_EQ(test, others, 0U);
		KUNIT_EXPECT_EQ(test, left, 0U);
		KUNIT_EXPECT_EQ(test, preempt_count(), before);
		if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
			KUNIT_EXPECT_GT(test, under, before);
	}
}

/* --- Threads -------------------------------------------------------------- */

/* Store @n copies of a page that tells what it must be. Returns a fault. */
static bool store_copies(struct zram_worker *worker, u32 first, u32 n, u32 tag)
{
	struct zram_state *state = worker->t->state;
	struct zram_content new[ZRAM_SLOT_BATCH] = {};
	u32 i, done = 0;
	int ret;

	zram_test_make(worker->page, tag);
	for (i = 0; i < n; i++) {
		if (tag % ZRAM_TEST_NR_KINDS == ZRAM_TEST_SAME) {
			new[i].state = ZRAM_SLOT_SAME;
			new[i].fill = tag;
		} else {
			new[i].state = ZRAM_SLOT_HUGE;
			new[i].size = PAGE_SIZE;
			new[i].data = worker->page;
		}
	}
	while (done < n) {
		ret = zram_slots_store(state, first + done, new + done,
				       n - done);
		if (ret < 0)
			return true;
		done += ret;
		if (done < n && zs_pool_grow(state->pool, PAGE_SIZE, GFP_KERNEL))
			return true;
	}
	return false;
}

/* Write some pages with codec and all. Returns a fault. */
static bool write_copies(struct zram_worker *worker, u32 first, u32 n, u32 tag)
{
	const void *src[ZCOMP_BATCH];
	u32 i;

	zram_test_make(worker->page, tag);
	for (i = 0; i < n; i++)
		src[i] = worker->page;
	return zram_write_pages(worker->t->state, first, src, n);
}

static bool clear_some(struct zram_state *state, u32 first, u32 n)
{
	unsigned long flags;
	bool off;

	local_irq_save(flags);
	zram_slots_clear(state, first, n);
	off = irqs_disabled();
	local_irq_restore(flags);
	return !off;
}

static u32 below(struct zram_worker *worker, u32 limit)
{
	return zcomp_test_below(&worker->rnd, limit);
}

static int use_ranges(void *data)
{
	struct zram_worker *worker = data;
	struct zram_state *state = worker->t->state;

	while (!kthread_should_stop()) {
		u32 n = 1 + below(worker, ZRAM_SLOT_BATCH), i;
		u32 first = below(worker, NR_PAGES - n + 1);
		u32 tag = prandom_u32_state(&worker->rnd);

		switch (below(worker, 6)) {
		case 0:
			worker->bad += clear_some(state, first, n);
			break;
		case 1:
			worker->bad += store_copies(worker, first, 1, tag);
			break;
		case 2 ... 3:
			worker->bad += store_copies(worker, first, n, tag);
			break;
		default:
			n = min_t(u32, n, ZCOMP_BATCH);
			worker->bad += write_copies(worker, first, n, tag);
		}
		for (i = 0; i < 4; i++) {
			worker->bad += !!zram_read_page(state,
							below(worker, NR_PAGES),
							worker->page);
			worker->bad += !zram_test_whole(worker->page,
							worker->scratch);
		}
		worker->steps++;
		cond_resched();
	}
	return 0;
}

/*
 * Expect: threads that store, write, read and clear overlapping ranges while
 * objects move come to an end, and no page is of two versions.
 */
static void overlapping_ranges_do_not_mix(struct kunit *test)
{
	struct zram_test *t = test->priv;
	struct zram_worker *workers = zram_workers(test, t, 4);
	u32 i;

	for (i = 0; i < 3; i++)
		zram_worker_start(&workers[i], use_ranges);
	zram_worker_start(&workers[3], zram_worker_compacts);
	msleep(2 * A_WHILE_MS);
	zram_workers_stop(test, workers, 4);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_READS), 0);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_WRITES), 0);
}

/*
 * Slots in twos, the first of which is even, are never stored apart in the next
 * case: under their locks both hold the same version, all bytes of it.
 */
#define NR_PAIRED	16
#define VERSION_SIZE	1500

static bool is_pair(struct zram_worker *worker, u32 first)
{
	struct zram_state *state = worker->t->state;
	u8 version[2];
	bool whole = true;
	const u8 *data;
	u32 i;

	zram_slots_lock(state, first, 2);
	for (i = 0; i < 2; i++) {
		data = zs_obj_read_begin(state->slots[first + i].loc,
					 VERSION_SIZE);
		version[i] = data[0];
		whole &= !memchr_inv(data, version[i], VERSION_SIZE);
		zs_obj_read_end(data);
	}
	zram_slots_unlock(state, first, 2);
	return whole && version[0] == version[1];
}

/* In place, so that a store is never cut short. */
static int store_pairs(struct zram_worker *worker, u32 first, u32 n)
{
	struct zram_content new[ZRAM_SLOT_BATCH] = {};
	u32 i;

	memset(worker->page, prandom_u32_state(&worker->rnd), VERSION_SIZE);
	for (i = 0; i < n; i++) {
		new[i].state = ZRAM_SLOT_COMPRESSED;
		new[i].size = VERSION_SIZE;
		new[i].data = worker->page;
	}
	return zram_slots_store(worker->t->state, first, new, n);
}

static int use_pairs(void *data)
{
	struct zram_worker *worker = data;

	while (!kthread_should_stop()) {
		u32 n = 2 * (1 + below(worker, NR_PAIRED / 2));
		u32 first = 2 * below(worker, (NR_PAIRED - n) / 2 + 1);

		worker->bad += store_pairs(worker, first, n) != n;
		first = 2 * below(worker, NR_PAIRED / 2);
		worker->bad += !is_pair(worker, first);
		worker->steps++;
		cond_resched();
	}
	return 0;
}

/* Store and free among the pairs' objects, so that there is something to move. */
static int make_holes(void *data)
{
	struct zram_worker *worker = data;
	struct zram_state *state = worker->t->state;
	const struct zram_content new = {
		.state = ZRAM_SLOT_COMPRESSED, .size = VERSION_SIZE,
		.data = page_of_zeroes,
	};

	while (!kthread_should_stop()) {
		u32 at = NR_PAIRED + below(worker, NR_PAGES - NR_PAIRED);

		if (below(worker, 2))
			worker->bad += !!zram_test_store(state, at, &new);
		else
			zram_slot_free(state, at);
		if (worker->steps % 8 == 0)
			zs_pool_compact(state->pool, NULL);
		worker->steps++;
		cond_resched();
	}
	return 0;
}

/* Expect: what is stored together is seen together, wherever it moves. */
static void slots_change_in_one_step(struct kunit *test)
{
	struct zram_test *t = test->priv;
	struct zram_worker *workers = zram_workers(test, t, 4);
	const struct zram_content start = {
		.state = ZRAM_SLOT_COMPRESSED, .size = VERSION_SIZE,
		.data = page_of_zeroes,
	};
	struct zs_pool_stats stats;
	u32 i;

	/* Those that make holes share zspages with the pairs. */
	for (i = 0; i < NR_PAIRED; i++) {
		KUNIT_ASSERT_EQ(test, 0, zram_test_store(t->state, i, &start));
		KUNIT_ASSERT_EQ(test, 0, zram_test_store(t->state, i + NR_PAIRED,
							 &start));
	}
	for (i = 0; i < 3; i++)
		zram_worker_start(&workers[i], use_pairs);
	zram_worker_start(&workers[3], make_holes);
	msleep(A_WHILE_MS);
	zram_workers_stop(test, workers, 4);
	zs_pool_stats(t->state->pool, &stats);
	KUNIT_EXPECT_GT(test, stats.compacted, 0UL);
}

static struct kunit_case batch_lock_cases[] = {
	KUNIT_CASE(callers_are_left_as_they_were),
	KUNIT_CASE(lock_takes_just_those_slots),
	KUNIT_CASE(overlapping_ranges_do_not_mix),
	KUNIT_CASE(slots_change_in_one_step),
	{}
};

static struct kunit_suite batch_lock_suite = {
	.name = "zram_batch_lock",
	.init = batch_lock_init,
	.exit = batch_lock_exit,
	.test_cases = batch_lock_cases,
};

kunit_test_suite(batch_lock_suite);
