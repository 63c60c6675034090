// SPDX-License-Identifier: GPL-2.0
/*
 * Compression streams: who may use which codec's working memory, and when.
 *
 * Data structure: a zcomp has one stream for each possible CPU, in per-CPU
 * memory. The stream's lock and mutex live as long as the zcomp; its buffers
 * (work, out, in) live from the CPU's prepare callback to its dead callback, so
 * that CPUs which never come up cost some bytes, not a codec's workspace. In
 * list mode a zcomp has a list of N streams instead, which hotplug leaves
 * alone.
 *
 * Concurrency: see zcomp.h for what the users see. The buffers of a per-CPU
 * stream change under its mutex. A fast backend's user does not take the mutex:
 * it runs on the stream's CPU with preemption (RT: migration) off, and the
 * callbacks run only while that CPU is down. A slow backend's user may have
 * slept on the mutex while its CPU went away: it looks at the buffers once it
 * has the mutex and, if they are gone, starts again where it now runs. The
 * mutex is never held over an allocation, because reclaim may swap out to the
 * very device that the stream belongs to.
 *
 * What it does not do: know about slots, pages or devices; retry; allocate
 * while compressing; choose a codec.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/topology.h>
#include "zcomp.h"
#include "zcomp_backends.h"

/* NULL where the kernel's configuration lacks the library. */
static const struct zcomp_backend * const backends[] = {
	ZCOMP_HAS_LZO ? &zcomp_lzo : NULL,
	ZCOMP_HAS_LZO ? &zcomp_lzorle : NULL,
	ZCOMP_HAS_LZ4 ? &zcomp_lz4 : NULL,
	ZCOMP_HAS_LZ4HC ? &zcomp_lz4hc : NULL,
	ZCOMP_HAS_ZSTD ? &zcomp_zstd : NULL,
	ZCOMP_HAS_DEFLATE ? &zcomp_deflate : NULL,
	ZCOMP_HAS_842 ? &zcomp_842 : NULL,
};

/* The number the CPU hotplug core gave us; 0 while there is none. */
static int hotplug_state;

/**
 * zcomp_backend_find - look a backend up by name
 * @name: exact name, such as "lz4"
 *
 * Context: Any.
 * Return: the backend, or NULL if this kernel has none of that name.
 */
const struct zcomp_backend *zcomp_backend_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(backends); i++) {
		if (backends[i] && !strcmp(backends[i]->name, name))
			return backends[i];
	}
	return NULL;
}

/**
 * zcomp_backend_default - the backend of a device that was told none
 *
 * Context: Any.
 * Return: lzo-rle, or the first there is; NULL if there is none, in which case
 * zcomp_init() has failed.
 */
const struct zcomp_backend *zcomp_backend_default(void)
{
	const struct zcomp_backend *backend = zcomp_backend_find("lzo-rle");
	size_t i;

	for (i = 0; !backend && i < ARRAY_SIZE(backends); i++)
		backend = backends[i];
	return backend;
}

/**
 * zcomp_backends_show - list the backends as comp_algorithm does
 * @current_backend: the one to put in [brackets]; NULL for none
 * @buf: a page, as a sysfs show method gets it
 *
 * Context: Any.
 * Return: bytes written, the closing newline included.
 */
ssize_t zcomp_backends_show(const struct zcomp_backend *current_backend,
			    char *buf)
{
	ssize_t at = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(backends); i++) {
		const struct zcomp_backend *backend = backends[i];

		if (!backend)
			continue;
		at += sysfs_emit_at(buf, at, "%s%s%s%s", at ? " " : "",
				    backend == current_backend ? "[" : "",
				    backend->name,
				    backend == current_backend ? "]" : "");
	}
	at += sysfs_emit_at(buf, at, "\n");
	return at;
}

static void release(const struct zcomp_backend *backend, void *work, void *out,
		    void *in)
{
	if (work)
		backend->destroy(work);
	kvfree(out);
	kvfree(in);
}

/* Give @stream its buffers, from memory near @node. */
static int fill(const struct zcomp_backend *backend,
		struct zcomp_stream *stream, int node)
{
	void *work = NULL, *in = NULL;
	void *out = kvmalloc_node(ZCOMP_OUT_SIZE, GFP_KERNEL, node);

	if (!out)
		return -ENOMEM;
	if (backend->create) {
		work = backend->create(node);
		if (!work)
			goto err;
	}
	if (!backend->in_place) {
		in = kvmalloc_node(PAGE_SIZE, GFP_KERNEL, node);
		if (!in)
			goto err;
	}

	mutex_lock(&stream->mutex);
	stream->work = work;
	stream->in = in;
	stream->out = out;
	mutex_unlock(&stream->mutex);
	return 0;
err:
	release(backend, work, out, in);
	return -ENOMEM;
}

/* Take the buffers away again. Harmless for a stream without. */
static void drain(const struct zcomp_backend *backend,
		  struct zcomp_stream *stream)
{
	void *work, *out, *in;

	mutex_lock(&stream->mutex);
	work = stream->work;
	out = stream->out;
	in = stream->in;
	stream->work = NULL;
	stream->out = NULL;
	stream->in = NULL;
	mutex_unlock(&stream->mutex);
	release(backend, work, out, in);
}

/**
 * zcomp_cpu_prepare - a CPU is about to come up: give its stream buffers
 * @cpu: which; nothing runs on it yet, or zcomp_create() has just begun
 * @node: the zcomp's place among the instances of the hotplug state
 *
 * Context: CPU hotplug callback. Sleeps, allocates.
 * Return: 0 or -ENOMEM, which keeps the CPU down.
 */
int zcomp_cpu_prepare(unsigned int cpu, struct hlist_node *node)
{
	struct zcomp *comp = hlist_entry(node, struct zcomp, node);

	return fill(comp->backend, per_cpu_ptr(comp->streams, cpu),
		    cpu_to_node(cpu));
}

/**
 * zcomp_cpu_dead - a CPU has gone down: free its stream's buffers
 * @cpu: which; nothing runs on it any more, or zcomp_destroy() has begun
 * @node: the zcomp's place among the instances of the hotplug state
 *
 * Waits for a task that got the stream while it ran there and was moved.
 *
 * Context: CPU hotplug callback. Sleeps.
 * Return: 0.
 */
int zcomp_cpu_dead(unsigned int cpu, struct hlist_node *node)
{
	struct zcomp *comp = hlist_entry(node, struct zcomp, node);

	drain(comp->backend, per_cpu_ptr(comp->streams, cpu));
	return 0;
}

static void init_stream(struct zcomp_stream *stream)
{
	local_lock_init(&stream->lock);
	mutex_init(&stream->mutex);
	INIT_LIST_HEAD(&stream->link);
}

static int create_percpu(struct zcomp *comp)
{
	unsigned int cpu;
	int ret;

	comp->streams = alloc_percpu(struct zcomp_stream);
	if (!comp->streams)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		init_stream(per_cpu_ptr(comp->streams, cpu));
	comp->pinned = comp->backend->fast;

	/* On failure this has undone the CPUs for which it had succeeded. */
	ret = cpuhp_state_add_instance(hotplug_state, &comp->node);
	if (ret)
		free_percpu(comp->streams);
	return ret;
}

static struct zcomp_stream *pop(struct zcomp *comp)
{
	struct zcomp_stream *stream;

	spin_lock(&comp->idle_lock);
	stream = list_first_entry_or_null(&comp->idle, struct zcomp_stream,
					  link);
	if (stream)
		list_del_init(&stream->link);
	spin_unlock(&comp->idle_lock);
	return stream;
}

static void push(struct zcomp *comp, struct zcomp_stream *stream)
{
	spin_lock(&comp->idle_lock);
	list_add(&stream->link, &comp->idle);
	spin_unlock(&comp->idle_lock);
}

static void destroy_list(struct zcomp *comp)
{
	struct zcomp_stream *stream;

	while ((stream = pop(comp))) {
		drain(comp->backend, stream);
		kfree(stream);
		comp->nr_list--;
	}
	/* One that is still held somewhere is leaked rather than freed. */
	WARN_ON_ONCE(comp->nr_list);
}

static int create_list(struct zcomp *comp, unsigned int nr)
{
	while (comp->nr_list < nr) {
		struct zcomp_stream *stream = kzalloc(sizeof(*stream),
						      GFP_KERNEL);
		if (!stream)
			goto err;
		init_stream(stream);
		if (fill(comp->backend, stream, NUMA_NO_NODE)) {
			kfree(stream);
			goto err;
		}
		push(comp, stream);
		comp->nr_list++;
	}
	return 0;
err:
	destroy_list(comp);
	return -ENOMEM;
}

/**
 * zcomp_create - a backend with streams
 * @backend: the algorithm
 * @list_streams: 0 for one stream per CPU, else the number of streams to keep
 *	in one list
 *
 * Context: Process context, after zcomp_init(). Sleeps, allocates GFP_KERNEL,
 * takes the CPU hotplug lock.
 * Return: the zcomp, or ERR_PTR(-ENOMEM), having freed all it had allocated.
 */
struct zcomp *zcomp_create(const struct zcomp_backend *backend,
			   unsigned int list_streams)
{
	struct zcomp *comp = kzalloc(sizeof(*comp), GFP_KERNEL);
	int ret;

	if (!comp)
		return ERR_PTR(-ENOMEM);
	comp->backend = backend;
	spin_lock_init(&comp->idle_lock);
	INIT_LIST_HEAD(&comp->idle);
	init_waitqueue_head(&comp->idle_wait);

	if (list_streams)
		ret = create_list(comp, list_streams);
	else
		ret = create_percpu(comp);
	if (ret) {
		kfree(comp);
		return ERR_PTR(ret);
	}
	return comp;
}

/**
 * zcomp_destroy - free a zcomp and its streams
 * @comp: from zcomp_create(); nobody holds a stream of it
 *
 * Context: Process context. Sleeps, takes the CPU hotplug lock.
 */
void zcomp_destroy(struct zcomp *comp)
{
	if (comp->streams) {
		cpuhp_state_remove_instance(hotplug_state, &comp->node);
		free_percpu(comp->streams);
	} else {
		destroy_list(comp);
	}
	kfree(comp);
}

/**
 * zcomp_backend_of - the algorithm of a zcomp
 * @comp: from zcomp_create()
 *
 * Context: Any.
 * Return: what zcomp_create() was given.
 */
const struct zcomp_backend *zcomp_backend_of(const struct zcomp *comp)
{
	return comp->backend;
}

/*
 * Ends: whoever runs on a CPU finds buffers there, unless it is moved between
 * the two steps and the CPU it came from goes down.
 */
static struct zcomp_stream *lock_percpu(struct zcomp *comp)
{
	for (;;) {
		struct zcomp_stream *stream = raw_cpu_ptr(comp->streams);

		mutex_lock(&stream->mutex);
		if (likely(stream->out))
			return stream;
		mutex_unlock(&stream->mutex);
	}
}

/**
 * zcomp_stream_get_slow - zcomp_stream_get() where that may have to sleep
 * @comp: whose; slow backend or list mode
 *
 * In list mode waiters are woken one by one in the order they came, but whoever
 * comes by when a stream is idle takes it.
 *
 * Context: Process context, holding no other stream. Sleeps.
 * Return: a stream, never NULL.
 */
struct zcomp_stream *zcomp_stream_get_slow(struct zcomp *comp)
{
	struct zcomp_stream *stream;

	might_sleep();
	if (comp->streams)
		return lock_percpu(comp);
	wait_event_exclusive_cmd(comp->idle_wait, (stream = pop(comp)),
				 (void)0, (void)0);
	return stream;
}

/**
 * zcomp_stream_put_slow - zcomp_stream_put() for zcomp_stream_get_slow()
 * @comp: where the stream came from
 * @stream: held by the caller
 *
 * Context: The task that holds the stream. Does not sleep.
 */
void zcomp_stream_put_slow(struct zcomp *comp, struct zcomp_stream *stream)
{
	zcomp_assert_held(comp, stream);
	if (comp->streams) {
		mutex_unlock(&stream->mutex);
		return;
	}
	push(comp, stream);
	wake_up(&comp->idle_wait);
}

/**
 * zcomp_init - get ready for zcomp_create()
 *
 * Context: Module init.
 * Return: 0, -EALREADY if it has been called, -EOPNOTSUPP if the kernel has no
 * codec at all, or what the CPU hotplug core says.
 */
int zcomp_init(void)
{
	int ret;

	if (hotplug_state)
		return -EALREADY;
	if (!zcomp_backend_default()) {
		pr_err("zcomp: this kernel is configured without any codec\n");
		return -EOPNOTSUPP;
	}
	ret = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN,
				      "zram/zcomp:prepare", zcomp_cpu_prepare,
				      zcomp_cpu_dead);
	if (ret < 0) {
		pr_err("zcomp: no CPU hotplug state: %d\n", ret);
		return ret;
	}
	hotplug_state = ret;
	return 0;
}

/**
 * zcomp_exit - undo zcomp_init()
 *
 * Context: Module exit, or init failing later. Every zcomp is destroyed.
 */
void zcomp_exit(void)
{
	if (!hotplug_state)
		return;
	cpuhp_remove_multi_state(hotplug_state);
	hotplug_state = 0;
}
