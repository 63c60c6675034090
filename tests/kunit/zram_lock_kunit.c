// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of slot locks: they keep others out, take nothing from their caller but
 * preemption, and objects do not move under them.
 */
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include "zram_kunit.h"

#define NR_PAGES	64

static const u8 page_of_zeroes[PAGE_SIZE];

static const struct zram_content content = {
	.state = ZRAM_SLOT_COMPRESSED, .size = 1500, .data = page_of_zeroes,
};

static int lock_init(struct kunit *test)
{
	test->priv = zram_test_create(test, zcomp_backend_default(), NR_PAGES);
	return 0;
}

static void lock_exit(struct kunit *test)
{
	zram_test_finish(test, test->priv);
}

static void put(struct kunit *test)
{
	struct zram_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, zram_test_store(t->state, 1, &content), 0);
}

/* One of everything that takes a slot's lock. Returns a bit per failure. */
static u32 use_every_lock(struct zram_state *state, bool irqs_off)
{
	u32 bad = 0;
	u64 loc;

	bad |= !!zram_slot_store(state, 1, &content, false) << 0;
	bad |= (irqs_disabled() != irqs_off) << 1;
	zram_slot_begin(state, 1);
	bad |= (irqs_disabled() != irqs_off) << 2;
	loc = state->slots[1].loc;
	bad |= !zram_owner_ops.lock(state, 1, loc) << 3;
	bad |= (irqs_disabled() != irqs_off) << 4;
	zram_owner_ops.unlock(state, 1);
	bad |= (irqs_disabled() != irqs_off) << 5;
	bad |= !zram_test_refused(state, 1, loc + 2) << 6;
	bad |= (irqs_disabled() != irqs_off) << 7;
	bad |= !zram_slot_free(state, 1) << 8;
	bad |= (irqs_disabled() != irqs_off) << 9;
	bad |= zram_slot_free(state, 1) << 10;
	return bad;
}

/* Expect: callers keep their interrupts as they were: on ... */
static void interrupts_stay_on(struct kunit *test)
{
	struct zram_test *t = test->priv;

	put(test);
	KUNIT_EXPECT_EQ(test, use_every_lock(t->state, false), 0U);
}

/* Expect: ... or off, under locks that interrupts take. */
static void interrupts_stay_off(struct kunit *test)
{
	struct zram_test *t = test->priv;
	unsigned long flags;
	u32 bad;

	put(test);
	local_irq_save(flags);
	bad = use_every_lock(t->state, true);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, bad, 0U);
}

/* Expect: preemption is off under the lock, and as before after it. */
static void lock_keeps_its_holder_running(struct kunit *test)
{
	struct zram_test *t = test->priv;
	int before = preempt_count(), under, after;

	zram_slot_lock(t->state, 1);
	under = preempt_count();
	zram_slot_unlock(t->state, 1);
	after = preempt_count();
	KUNIT_EXPECT_EQ(test, after, before);
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		KUNIT_EXPECT_GT(test, under, before);
}

/* What one slot's lock guards in the next case. */
static struct {
	u64 first;
	u64 second;
} guarded;

static int count_under_lock(void *data)
{
	struct zram_worker *worker = data;
	struct zram_state *state = worker->t->state;

	while (!kthread_should_stop()) {
		zram_slot_lock(state, 1);
		worker->bad += guarded.first != guarded.second;
		WRITE_ONCE(guarded.first, guarded.first + 1);
		cpu_relax();
		WRITE_ONCE(guarded.second, guarded.second + 1);
		zram_slot_unlock(state, 1);
		worker->steps++;
		cond_resched();
	}
	return 0;
}

/* Expect: nobody sees what a holder is in the middle of; no count is lost. */
static void lock_has_one_holder(struct kunit *test)
{
	struct zram_worker *workers = zram_workers(test, test->priv, 3);
	u64 steps = 0;
	u32 i;

	guarded.first = 0;
	guarded.second = 0;
	for (i = 0; i < 3; i++)
		zram_worker_start(&workers[i], count_under_lock);
	msleep(300);
	zram_workers_stop(test, workers, 3);
	for (i = 0; i < 3; i++)
		steps += workers[i].steps;
	KUNIT_EXPECT_EQ(test, guarded.first, steps);
}

/* Few slots, so that threads meet; contents tell whether they are whole. */
static int use_slots(void *data)
{
	struct zram_worker *worker = data;
	struct zram_state *state = worker->t->state;

	while (!kthread_should_stop()) {
		u32 random = prandom_u32_state(&worker->rnd);
		u32 index = random % NR_PAGES;
		unsigned long flags;

		if (random >> 30) {
			zram_test_make(worker->page, random >> 8);
			worker->bad += !!zram_write_page(state, index,
							 worker->page);
		} else {
			local_irq_save(flags);
			zram_slot_free(state, index);
			worker->bad += !irqs_disabled();
			local_irq_restore(flags);
		}
		index = (random >> 6) % NR_PAGES;
		worker->bad += !!zram_read_page(state, index, worker->page);
		worker->bad += !zram_test_whole(worker->page, worker->scratch);
		worker->steps++;
		cond_resched();
	}
	return 0;
}

/* Expect: threads that store, read and free never see a page of two halves. */
static void threads_at_work_survive_compaction(struct kunit *test)
{
	struct zram_test *t = test->priv;
	struct zram_worker *workers = zram_workers(test, t, 4);
	struct zs_pool_stats stats;
	u32 i;

	for (i = 0; i < 3; i++)
		zram_worker_start(&workers[i], use_slots);
	zram_worker_start(&workers[3], zram_worker_compacts);
	msleep(2000);
	zram_workers_stop(test, workers, 4);
	zs_pool_stats(t->state->pool, &stats);
	KUNIT_EXPECT_GT(test, stats.compacted, 0UL);
	KUNIT_EXPECT_EQ(test, zram_test_sum(t->state, ZRAM_FAILED_READS), 0);
}

static struct kunit_case lock_cases[] = {
	KUNIT_CASE(interrupts_stay_on),
	KUNIT_CASE(interrupts_stay_off),
	KUNIT_CASE(lock_keeps_its_holder_running),
	KUNIT_CASE(lock_has_one_holder),
	KUNIT_CASE(threads_at_work_survive_compaction),
	{}
};

static struct kunit_suite lock_suite = {
	.name = "zram_lock",
	.init = lock_init,
	.exit = lock_exit,
	.test_cases = lock_cases,
};

kunit_test_suite(lock_suite);
