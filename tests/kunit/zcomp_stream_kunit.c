// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of the streams: who gets one, who waits, what CPU hotplug does to them.
 *
 * Most run on codecs of our own, which count their workspaces, can fail to make
 * one, and do not compress. Threads answer through kthread_stop(): what a test expects is
 * expected in the test's own thread.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "zcomp_kunit.h"

#define MAX_WORKERS 32
#define PATIENCE (60 * HZ)

KUNIT_ARRAY_PARAM(codec, zcomp_test_names, zcomp_test_describe);

/* --- A codec that counts ------------------------------------------------- */

static atomic_t nr_created, nr_live;
static int fail_at;	/* creating this one fails; 0: none */

static void *counting_create(int node)
{
	if (atomic_inc_return(&nr_created) == fail_at)
		return NULL;
	atomic_inc(&nr_live);
	return kmalloc(16, GFP_KERNEL);
}

static void counting_destroy(void *work)
{
	atomic_dec(&nr_live);
	kfree(work);
}

static const struct zcomp_backend slow_codec = {
	.name		= "slow",
	.create		= counting_create,
	.destroy	= counting_destroy,
};

static const struct zcomp_backend fast_codec = {
	.name		= "fast",
	.fast		= true,
	.in_place	= true,
	.create		= counting_create,
	.destroy	= counting_destroy,
};

static const struct zcomp_backend bare_codec = {
	.name		= "bare",
	.fast		= true,
	.in_place	= true,
};

static int stream_init(struct kunit *test)
{
	atomic_set(&nr_created, 0);
	atomic_set(&nr_live, 0);
	fail_at = 0;
	return 0;
}

static void need_two_cpus(struct kunit *test)
{
	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
}

static struct zcomp *create(struct kunit *test,
			    const struct zcomp_backend *backend,
			    unsigned int list_streams)
{
	struct zcomp *comp = zcomp_create(backend, list_streams);

	KUNIT_ASSERT_FALSE(test, IS_ERR(comp));
	return comp;
}

/* --- Threads ------------------------------------------------------------- */

/**
 * struct worker - a thread that takes streams
 * @comp: from where
 * @cpu: where the thread runs
 * @rounds: how often
 * @seed: of the pages it compresses
 * @task: the thread
 * @busy: shared by all: how many hold a stream
 * @most: shared by all: the highest @busy ever was
 * @settled: the thread runs on @cpu
 * @got: complete when the first stream is there
 * @done: complete when all rounds are over
 * @stream: the last it had
 */
struct worker {
	struct zcomp *comp;
	unsigned int cpu;
	unsigned int rounds;
	u32 seed;
	struct task_struct *task;
	atomic_t *busy;
	atomic_t *most;
	bool settled;
	struct completion got;
	struct completion done;
	struct zcomp_stream *stream;
};

/* A new thread of 6.14 and later forgets what was set before it ran. */
static void settle(struct worker *worker)
{
	set_cpus_allowed_ptr(current, cpumask_of(worker->cpu));
	WRITE_ONCE(worker->settled, true);
}

static int report(struct worker *worker, int ret)
{
	complete_all(&worker->got);
	complete(&worker->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return ret;
}

static void start(struct kunit *test, struct worker *worker,
		  int (*body)(void *worker), unsigned int cpu)
{
	worker->cpu = cpu;
	init_completion(&worker->got);
	init_completion(&worker->done);
	worker->task = kthread_run(body, worker, "zcomp_test/%u", cpu);
	KUNIT_ASSERT_FALSE(test, IS_ERR(worker->task));
}

/* What the thread says, or -ETIMEDOUT if it is stuck and has to be left. */
static int finish(struct worker *worker)
{
	if (!wait_for_completion_timeout(&worker->done, PATIENCE))
		return -ETIMEDOUT;
	return kthread_stop(worker->task);
}

/* Asleep for a stream, that is, not for a move to another CPU. */
static bool falls_asleep(const struct worker *worker)
{
	int i;

	for (i = 0; i < 500; i++) {
		if (READ_ONCE(worker->settled) &&
		    READ_ONCE(worker->task->__state) & TASK_UNINTERRUPTIBLE)
			return true;
		msleep(20);
	}
	return false;
}

static int take_and_put(void *data)
{
	struct worker *worker = data;

	settle(worker);
	worker->stream = zcomp_stream_get(worker->comp);
	complete_all(&worker->got);
	zcomp_stream_put(worker->comp, worker->stream);
	return report(worker, 0);
}

static void note_most(struct worker *worker)
{
	int busy = atomic_inc_return(worker->busy);
	int most = atomic_read(worker->most);

	while (busy > most && !atomic_try_cmpxchg(worker->most, &most, busy))
		;
}

static int pack_and_unpack(struct worker *worker, const u8 *page, u8 *packed,
			   u8 *back)
{
	struct zcomp *comp = worker->comp;
	unsigned int len = PAGE_SIZE;
	struct zcomp_stream *stream = zcomp_stream_get(comp);
	int ret;

	note_most(worker);
	ret = zcomp_compress(comp, stream, page, stream->out, &len);
	if (!ret)
		memcpy(packed, stream->out, len);
	atomic_dec(worker->busy);
	zcomp_stream_put(comp, stream);
	if (ret)
		return ret;

	stream = zcomp_stream_get(comp);
	note_most(worker);
	if (stream->in)
		memcpy(stream->in, packed, len);
	ret = zcomp_decompress(comp, stream, stream->in ?: packed, len, back);
	atomic_dec(worker->busy);
	zcomp_stream_put(comp, stream);
	if (!ret && memcmp(page, back, PAGE_SIZE))
		ret = -EILSEQ;
	return ret;
}

static int compress_for_long(void *data)
{
	struct worker *worker = data;
	u8 *pages = kmalloc(3 * PAGE_SIZE, GFP_KERNEL);
	struct rnd_state rnd;
	unsigned int i;
	int ret = -ENOMEM;

	settle(worker);
	if (!pages)
		return report(worker, ret);
	prandom_seed_state(&rnd, worker->seed);
	for (i = 0; i < worker->rounds; i++) {
		zcomp_test_text(&rnd, pages);
		ret = pack_and_unpack(worker, pages, pages + PAGE_SIZE,
				      pages + 2 * PAGE_SIZE);
		if (ret)
			break;
		cond_resched();
	}
	kfree(pages);
	return report(worker, ret);
}

/* @per_cpu threads on each CPU; returns the most that ever held a stream. */
static int compress_everywhere(struct kunit *test, struct zcomp *comp,
			       unsigned int per_cpu, const struct cpumask *cpus)
{
	struct worker *workers = kunit_kcalloc(test, MAX_WORKERS,
					       sizeof(*workers), GFP_KERNEL);
	atomic_t busy = ATOMIC_INIT(0), most = ATOMIC_INIT(0);
	unsigned int cpu, i, nr = 0;

	KUNIT_ASSERT_NOT_NULL(test, workers);
	for_each_cpu(cpu, cpus) {
		for (i = 0; i < per_cpu && nr < MAX_WORKERS; i++, nr++) {
			workers[nr].comp = comp;
			workers[nr].rounds = 100;
			workers[nr].seed = nr + 1;
			workers[nr].busy = &busy;
			workers[nr].most = &most;
			start(test, &workers[nr], compress_for_long, cpu);
		}
	}
	for (i = 0; i < nr; i++)
		KUNIT_EXPECT_EQ(test, finish(&workers[i]), 0);
	return atomic_read(&most);
}

/* --- Where the streams are ----------------------------------------------- */

/* Each CPU that is up has buffers, and only what the codec needs. */
static void every_cpu_has_a_stream(struct kunit *test)
{
	const struct zcomp_backend *backend = zcomp_test_codec(test);
	struct zcomp *comp = create(test, backend, 0);
	unsigned int cpu;

	KUNIT_EXPECT_PTR_EQ(test, zcomp_backend_of(comp), backend);
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct zcomp_stream *stream = per_cpu_ptr(comp->streams, cpu);
		bool up = cpu_online(cpu);

		KUNIT_EXPECT_EQ(test, !!stream->out, up);
		KUNIT_EXPECT_EQ(test, !!stream->work, up);
		KUNIT_EXPECT_EQ(test, !!stream->in, up && !backend->in_place);
	}
	cpus_read_unlock();
	zcomp_destroy(comp);
}

/* All that is created is destroyed, once. */
static void destroy_frees_every_workspace(struct kunit *test)
{
	zcomp_destroy(create(test, &slow_codec, 0));
	KUNIT_EXPECT_GE(test, atomic_read(&nr_created), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), 0);
	atomic_set(&nr_created, 0);
	zcomp_destroy(create(test, &fast_codec, 7));
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_created), 7);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), 0);
}

/* A codec without working memory has streams all the same. */
static void codec_without_workspace_has_streams(struct kunit *test)
{
	struct zcomp *comp = create(test, &bare_codec, 1);
	struct zcomp_stream *stream = zcomp_stream_get(comp);

	KUNIT_EXPECT_NULL(test, stream->work);
	KUNIT_EXPECT_NOT_NULL(test, stream->out);
	zcomp_stream_put(comp, stream);
	zcomp_destroy(comp);
}

/* Wherever creating fails, the error comes back and nothing stays behind. */
static void failed_create_leaves_nothing(struct kunit *test)
{
	static const unsigned int lists[] = { 0, 5 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		int nr = lists[i] ?: num_online_cpus();

		for (fail_at = 1; fail_at <= nr; fail_at++) {
			struct zcomp *comp;

			atomic_set(&nr_created, 0);
			comp = zcomp_create(&slow_codec, lists[i]);
			KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(comp), -ENOMEM);
			KUNIT_EXPECT_EQ(test, atomic_read(&nr_created),
					fail_at);
			KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), 0);
		}
	}
}

/* --- Taking and putting -------------------------------------------------- */

/* A fast codec's stream is this CPU's, and its holder stays there. */
static void fast_stream_pins_its_holder(struct kunit *test)
{
	struct zcomp *comp = create(test, &fast_codec, 0);
	struct zcomp_stream *stream = zcomp_stream_get(comp);
	bool mine = stream == this_cpu_ptr(comp->streams);
	bool may_move = !IS_ENABLED(CONFIG_PREEMPT_RT) && preemptible();

	zcomp_stream_put(comp, stream);
	KUNIT_EXPECT_TRUE(test, mine);
	KUNIT_EXPECT_FALSE(test, may_move);
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		KUNIT_EXPECT_TRUE(test, preemptible());
	zcomp_destroy(comp);
}

/* The holder of a slow codec's stream may sleep; others of its CPU wait. */
static void slow_stream_lets_its_holder_sleep(struct kunit *test)
{
	struct zcomp *comp = create(test, &slow_codec, 0);
	struct worker worker = { .comp = comp };
	struct zcomp_stream *stream;
	unsigned int cpu = cpumask_first(cpu_online_mask);

	set_cpus_allowed_ptr(current, cpumask_of(cpu));
	stream = zcomp_stream_get(comp);
	start(test, &worker, take_and_put, cpu);
	KUNIT_EXPECT_TRUE(test, falls_asleep(&worker));
	KUNIT_EXPECT_FALSE(test, completion_done(&worker.got));
	zcomp_stream_put(comp, stream);
	KUNIT_EXPECT_EQ(test, finish(&worker), 0);
	KUNIT_EXPECT_PTR_EQ(test, worker.stream, stream);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	zcomp_destroy(comp);
}

/* Many threads on all CPUs get back what they put in. */
static void threads_on_all_cpus_keep_apart(struct kunit *test)
{
	struct zcomp *comp = create(test, zcomp_test_codec(test), 0);

	KUNIT_EXPECT_GE(test, compress_everywhere(test, comp, 3,
						  cpu_online_mask), 1);
	zcomp_destroy(comp);
}

/* Three streams serve more threads, three at a time. */
static void list_never_gives_more_than_it_has(struct kunit *test)
{
	struct zcomp *comp = create(test, zcomp_test_codec(test), 3);

	KUNIT_EXPECT_LE(test, compress_everywhere(test, comp, 6,
						  cpu_online_mask), 3);
	zcomp_destroy(comp);
}

/* Every stream of the list can be had at once, each another. */
static void list_gives_all_it_has(struct kunit *test)
{
	struct zcomp *comp = create(test, &fast_codec, 2);
	struct zcomp_stream *one = zcomp_stream_get(comp);
	struct zcomp_stream *two = zcomp_stream_get(comp);

	KUNIT_EXPECT_PTR_NE(test, one, two);
	KUNIT_EXPECT_NOT_NULL(test, one->out);
	KUNIT_EXPECT_NOT_NULL(test, two->out);
	KUNIT_EXPECT_TRUE(test, list_empty(&comp->idle));
	zcomp_stream_put(comp, one);
	zcomp_stream_put(comp, two);
	zcomp_destroy(comp);
}

/* Who finds the list empty sleeps until a stream comes back, and gets it. */
static void list_waiter_sleeps_until_put(struct kunit *test)
{
	struct zcomp *comp = create(test, &fast_codec, 1);
	struct zcomp_stream *stream = zcomp_stream_get(comp);
	struct worker workers[3] = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		workers[i].comp = comp;
		start(test, &workers[i], take_and_put,
		      cpumask_first(cpu_online_mask));
		KUNIT_EXPECT_TRUE(test, falls_asleep(&workers[i]));
	}
	for (i = 0; i < ARRAY_SIZE(workers); i++)
		KUNIT_EXPECT_FALSE(test, completion_done(&workers[i].got));
	zcomp_stream_put(comp, stream);
	for (i = 0; i < ARRAY_SIZE(workers); i++) {
		KUNIT_EXPECT_EQ(test, finish(&workers[i]), 0);
		KUNIT_EXPECT_PTR_EQ(test, workers[i].stream, stream);
	}
	zcomp_destroy(comp);
}

/* --- CPUs come and go ---------------------------------------------------- */

/* A CPU's buffers go with it and come back with it. */
static void hotplug_frees_and_refills(struct kunit *test)
{
	struct zcomp *comp = create(test, &slow_codec, 0);
	unsigned int cpu = cpumask_last(cpu_online_mask);
	struct zcomp_stream *stream = per_cpu_ptr(comp->streams, cpu);
	int live = atomic_read(&nr_live);

	KUNIT_EXPECT_EQ(test, zcomp_cpu_dead(cpu, &comp->node), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), live - 1);
	KUNIT_EXPECT_FALSE(test, stream->out || stream->in || stream->work);
	KUNIT_EXPECT_EQ(test, zcomp_cpu_dead(cpu, &comp->node), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), live - 1);
	KUNIT_EXPECT_EQ(test, zcomp_cpu_prepare(cpu, &comp->node), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), live);
	KUNIT_EXPECT_TRUE(test, stream->out && stream->in && stream->work);
	zcomp_destroy(comp);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), 0);
}

/* A CPU for which there is no memory stays down, with nothing allocated. */
static void hotplug_without_memory_fails(struct kunit *test)
{
	struct zcomp *comp = create(test, &slow_codec, 0);
	unsigned int cpu = cpumask_last(cpu_online_mask);
	int live = atomic_read(&nr_live);

	zcomp_cpu_dead(cpu, &comp->node);
	fail_at = atomic_read(&nr_created) + 1;
	KUNIT_EXPECT_EQ(test, zcomp_cpu_prepare(cpu, &comp->node), -ENOMEM);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), live - 1);
	KUNIT_EXPECT_NULL(test, per_cpu_ptr(comp->streams, cpu)->out);
	KUNIT_EXPECT_EQ(test, zcomp_cpu_prepare(cpu, &comp->node), 0);
	zcomp_destroy(comp);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), 0);
}

static int kill_cpu_0(void *data)
{
	struct worker *worker = data;

	settle(worker);
	zcomp_cpu_dead(cpumask_first(cpu_online_mask), &worker->comp->node);
	return report(worker, 0);
}

/*
 * Who sleeps on the stream of a CPU that goes away gets that of the CPU it was
 * moved to. The order of the sleepers is the point: holder, hotplug, waiter.
 */
static void waiter_of_dead_cpu_moves_on(struct kunit *test)
{
	struct worker killer = {}, waiter = {};
	struct zcomp *comp;
	unsigned int from = cpumask_first(cpu_online_mask);
	unsigned int to = cpumask_last(cpu_online_mask);
	struct zcomp_stream *stream;

	need_two_cpus(test);
	comp = create(test, &slow_codec, 0);
	killer.comp = comp;
	waiter.comp = comp;
	set_cpus_allowed_ptr(current, cpumask_of(from));
	stream = zcomp_stream_get(comp);
	start(test, &killer, kill_cpu_0, from);
	KUNIT_EXPECT_TRUE(test, falls_asleep(&killer));
	start(test, &waiter, take_and_put, from);
	KUNIT_EXPECT_TRUE(test, falls_asleep(&waiter));
	set_cpus_allowed_ptr(waiter.task, cpumask_of(to));
	set_cpus_allowed_ptr(current, cpumask_of(to));
	zcomp_stream_put(comp, stream);

	KUNIT_EXPECT_EQ(test, finish(&killer), 0);
	KUNIT_EXPECT_EQ(test, finish(&waiter), 0);
	KUNIT_EXPECT_PTR_EQ(test, waiter.stream,
			    per_cpu_ptr(comp->streams, to));
	KUNIT_EXPECT_NULL(test, stream->out);
	KUNIT_EXPECT_EQ(test, zcomp_cpu_prepare(from, &comp->node), 0);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	zcomp_destroy(comp);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), 0);
}

static int cycle_last_cpu(void *data)
{
	struct worker *worker = data;
	unsigned int cpu = cpumask_last(cpu_online_mask), i;
	int ret = 0;

	settle(worker);
	for (i = 0; i < worker->rounds && !ret; i++) {
		if (IS_ENABLED(CONFIG_HOTPLUG_CPU)) {
			ret = remove_cpu(cpu) ?: add_cpu(cpu);
		} else {
			zcomp_cpu_dead(cpu, &worker->comp->node);
			ret = zcomp_cpu_prepare(cpu, &worker->comp->node);
		}
		cond_resched();
	}
	return report(worker, ret);
}

/* The other CPUs compress on while one goes down and up. */
static void hotplug_leaves_other_cpus_alone(struct kunit *test)
{
	unsigned int first = cpumask_first(cpu_online_mask);
	struct worker cycler = { .rounds = 10 };
	struct zcomp *comp;

	need_two_cpus(test);
	comp = create(test, zcomp_test_codec(test), 0);
	cycler.comp = comp;
	start(test, &cycler, cycle_last_cpu, first);
	compress_everywhere(test, comp, 3, cpumask_of(first));
	KUNIT_EXPECT_EQ(test, finish(&cycler), 0);
	KUNIT_EXPECT_GE(test, compress_everywhere(test, comp, 1,
						  cpu_online_mask), 1);
	zcomp_destroy(comp);
}

/* After exit nothing is registered: init works again, once. */
static void exit_makes_room_for_init(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, zcomp_init(), -EALREADY);
	zcomp_exit();
	zcomp_exit();
	KUNIT_ASSERT_EQ(test, zcomp_init(), 0);
	KUNIT_EXPECT_EQ(test, zcomp_init(), -EALREADY);
	zcomp_destroy(create(test, &slow_codec, 0));
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_live), 0);
}

static struct kunit_case stream_cases[] = {
	KUNIT_CASE_PARAM(every_cpu_has_a_stream, codec_gen_params),
	KUNIT_CASE(destroy_frees_every_workspace),
	KUNIT_CASE(codec_without_workspace_has_streams),
	KUNIT_CASE(failed_create_leaves_nothing),
	KUNIT_CASE(fast_stream_pins_its_holder),
	KUNIT_CASE(slow_stream_lets_its_holder_sleep),
	KUNIT_CASE_PARAM(threads_on_all_cpus_keep_apart, codec_gen_params),
	KUNIT_CASE_PARAM(list_never_gives_more_than_it_has, codec_gen_params),
	KUNIT_CASE(list_gives_all_it_has),
	KUNIT_CASE(list_waiter_sleeps_until_put),
	KUNIT_CASE(hotplug_frees_and_refills),
	KUNIT_CASE(hotplug_without_memory_fails),
	KUNIT_CASE(waiter_of_dead_cpu_moves_on),
	KUNIT_CASE_PARAM(hotplug_leaves_other_cpus_alone, codec_gen_params),
	KUNIT_CASE(exit_makes_room_for_init),
	{}
};

static struct kunit_suite stream_suite = {
	.name = "zcomp_streams",
	.suite_init = zcomp_test_start,
	.suite_exit = zcomp_test_stop,
	.init = stream_init,
	.test_cases = stream_cases,
};

kunit_test_suite(stream_suite);
