// SPDX-License-Identifier: GPL-2.0
/*
 * zram_slot: contents of pages, and the lock on each.
 *
 * A slot is 16 bytes: a value (location or fill word) and one word of bits,
 * the lowest of which is the lock. The lock is a bit spin lock with a lockdep
 * map, one for all slots of a state; it is dropped by one release store of the
 * whole word. While it is held only the holder writes the slot.
 *
 * The flag `processing` lets somebody work on a page without the lock and find
 * out, when he stores the result, whether the page has changed meanwhile:
 * every store clears it.
 *
 * What is not done here: compress, decompress, or know about bios.
 */
#include <linux/vmalloc.h>

#include "compat.h"
#include "zram_slot.h"

/**
 * zram_slots_alloc - make a table of empty slots
 * @nr_pages: how many
 *
 * Context: may sleep. Does not warn: the size comes from the user.
 * Return: the table, or NULL without memory.
 */
struct zram_slot *zram_slots_alloc(u32 nr_pages)
{
	return __vmalloc(array_size(nr_pages, sizeof(struct zram_slot)),
			 GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
}

/**
 * zram_slots_free - free a table of slots
 * @slots: the table, or NULL; the objects it names are gone or go otherwise
 *
 * Context: may sleep.
 */
void zram_slots_free(struct zram_slot *slots)
{
	vfree(slots);
}

/**
 * zram_slots_init_map - tell lockdep about a state's slot locks
 * @state: the state
 *
 * The wait type is that of a raw spin lock: nothing that sleeps on PREEMPT_RT
 * may be taken inside.
 *
 * Context: any.
 */
void zram_slots_init_map(struct zram_state *state)
{
	static struct lock_class_key key;

	lockdep_init_map_wait(&state->slot_map, "zram_slot", &key, 0,
			      LD_WAIT_SPIN);
}

/* What a slot that is emptied gets. */
static const struct zram_content empty = { .state = ZRAM_SLOT_EMPTY };

static bool has_object(enum zram_slot_state state)
{
	return state >= ZRAM_SLOT_COMPRESSED;
}

/* As zram_count(), but under a slot's lock, which keeps us on this CPU. */
static __always_inline void count(struct zram_counters __percpu *counters,
				  enum zram_stat stat, s64 amount)
{
	__this_cpu_add(counters->value[stat], amount);
}

/* A slot's state was @old and is @new. */
static __always_inline void count_states(struct zram_counters __percpu *counters,
					 enum zram_slot_state old,
					 enum zram_slot_state new)
{
	if (old == ZRAM_SLOT_EMPTY || new == ZRAM_SLOT_EMPTY)
		count(counters, ZRAM_STORED, (new != ZRAM_SLOT_EMPTY) -
		      (old != ZRAM_SLOT_EMPTY));
	if (old == ZRAM_SLOT_SAME || new == ZRAM_SLOT_SAME)
		count(counters, ZRAM_SAME, (new == ZRAM_SLOT_SAME) -
		      (old == ZRAM_SLOT_SAME));
	if (old == ZRAM_SLOT_HUGE || new == ZRAM_SLOT_HUGE)
		count(counters, ZRAM_HUGE, (new == ZRAM_SLOT_HUGE) -
		      (old == ZRAM_SLOT_HUGE));
}

/* The one place where a slot's contents change, and the counters with them. */
static __always_inline void commit(struct zram_state *state, u32 index,
				   const struct zram_content *new, u64 value)
{
	struct zram_counters __percpu *counters = state->counters;
	struct zram_slot *slot = &state->slots[index];
	unsigned long word = slot->word;
	enum zram_slot_state from = zram_word_state(word), to = new->state;
	u32 old_size = has_object(from) ? zram_word_size(word) : 0;
	u32 new_size = has_object(to) ? new->size : 0;

	zram_slot_assert_locked(state, index);
	slot->loc = value;
	WRITE_ONCE(slot->word, ZRAM_SLOT_LOCK |
		   (unsigned long)to << ZRAM_SLOT_STATE_SHIFT |
		   (unsigned long)new->codec << ZRAM_SLOT_CODEC_SHIFT |
		   (unsigned long)new_size << ZRAM_SLOT_SIZE_SHIFT);

	count(counters, ZRAM_BYTES, (s64)new_size - old_size);
	if (to == ZRAM_SLOT_HUGE)
		count(counters, ZRAM_HUGE_SINCE, 1);
	if (from != to)
		count_states(counters, from, to);
}

static bool possible(const struct zram_content *new)
{
	return !has_object(new->state) || (new->size && new->size <= PAGE_SIZE);
}

/*
 * What has to be exchanged for @slot to hold @new. False for nothing: there is
 * no object, or the new one takes the place of the old.
 */
static __always_inline bool plan(const struct zram_slot *slot,
				 const struct zram_content *new,
				 struct zs_exchange *x)
{
	bool had = has_object(zram_word_state(slot->word));
	bool has = has_object(new->state);

	x->old = had ? slot->loc : ZS_LOC_NONE;
	x->new = x->old;
	x->size = has ? new->size : 0;
	if (!had || !has || !zs_same_class(zram_word_size(slot->word), x->size))
		return had || has;
	x->old = ZS_LOC_NONE;
	x->size = 0;
	return false;
}

/*
 * Under the slot locks: exchange objects as the slots' new contents need, then
 * commit. The contents are @new, or with @each one for each slot. Returns for how
 * many slots that was possible, or -EINVAL for a bad size.
 *
 * Inlined into its few callers: for one slot, or to empty it, half of this goes
 * away, and swap frees slots one by one. The room for exchanges, @x, is the
 * caller's.
 */
static __always_inline int store_locked(struct zram_state *state, u32 first,
					const struct zram_content *new,
					bool each, unsigned int n,
					struct zs_exchange *x,
					struct list_head *emptied)
{
	bool exchange = false;
	int i, stored = n;

	for (i = 0; i < n; i++) {
		const struct zram_content *to = each ? &new[i] : new;

		if (unlikely(!possible(to)))
			return -EINVAL;
		x[i].owner = first + i;
		exchange |= plan(&state->slots[first + i], to, &x[i]);
	}
	if (exchange)
		stored = zs_obj_exchange(state->pool, x, n, emptied);
	for (i = 0; i < n && i < stored; i++) {
		const struct zram_content *to = each ? &new[i] : new;
		u64 value = has_object(to->state) ? x[i].new : to->fill;

		if (has_object(to->state))
			zs_obj_write(value, to->data, to->size);
		commit(state, first + i, to, value);
	}
	return stored;
}

/**
 * zram_slots_store - give slots that follow each other new contents
 * @state: the state
 * @first: the first slot
 * @new: the contents
 * @n: how many, 1 to ZRAM_SLOT_BATCH
 *
 * Context: task context, interrupts on or off; no slot is locked. Does not
 * sleep. At most one acquisition of the pool lock.
 * Return: how many were stored. The pool has no room for the next one, if there
 * is one, and must grow; it and those that follow are unchanged. -EINVAL for a
 * size that no object can have, with nothing changed.
 */
int zram_slots_store(struct zram_state *state, u32 first,
		     const struct zram_content *new, unsigned int n)
{
	struct zs_exchange x[ZRAM_SLOT_BATCH] compat_uninitialized;
	LIST_HEAD(emptied);
	int stored;

	zram_slots_lock(state, first, n);
	stored = store_locked(state, first, new, true, n, x, &emptied);
	zram_slots_unlock(state, first, n);
	zs_free_emptied(&emptied);
	return stored;
}

/**
 * zram_slot_store - give a slot new contents
 * @state: the state
 * @index: the slot
 * @new: the contents
 * @if_processing: only if nothing was stored since zram_slot_begin()
 *
 * Context: as zram_slots_store().
 * Return: 0; -EAGAIN where the pool has no room for the object and must grow;
 * -ESTALE where @if_processing forbids it; -EINVAL for a size that no object can
 * have. On error the slot is unchanged.
 */
int zram_slot_store(struct zram_state *state, u32 index,
		    const struct zram_content *new, bool if_processing)
{
	struct zram_slot *slot = &state->slots[index];
	struct zs_exchange x compat_uninitialized;
	LIST_HEAD(emptied);
	int ret = -ESTALE;

	zram_slot_lock(state, index);
	if (!if_processing || slot->word & ZRAM_SLOT_PROCESSING)
		ret = store_locked(state, index, new, false, 1, &x, &emptied);
	zram_slot_unlock(state, index);
	zs_free_emptied(&emptied);
	if (ret < 0)
		return ret;
	return ret ? 0 : -EAGAIN;
}

/*
 * Not even the lock for an empty slot: whoever stores something just now is not
 * ordered against a free anyway. But a slot that is being processed must learn
 * that it was freed.
 */
static bool nothing_to_free(struct zram_state *state, u32 index)
{
	unsigned long word = zram_slot_peek(state, index);

	return zram_word_state(word) == ZRAM_SLOT_EMPTY &&
	       !(word & (ZRAM_SLOT_LOCK | ZRAM_SLOT_PROCESSING));
}

/**
 * zram_slots_clear - empty slots that follow each other
 * @state: the state
 * @first: the first slot
 * @n: how many, 1 to ZRAM_SLOT_BATCH
 *
 * Context: task context, interrupts on or off, under swap's and page-table
 * locks. Does not sleep. At most one acquisition of the pool lock.
 * Return: how many were not empty.
 */
unsigned int zram_slots_clear(struct zram_state *state, u32 first,
			      unsigned int n)
{
	struct zs_exchange x[ZRAM_SLOT_BATCH] compat_uninitialized;
	unsigned int i, used = 0;
	LIST_HEAD(emptied);

	for (i = 0; i < n && nothing_to_free(state, first + i); i++)
		;
	if (i == n)
		return 0;

	zram_slots_lock(state, first, n);
	for (i = 0; i < n; i++)
		used += zram_word_state(state->slots[first + i].word) !=
			ZRAM_SLOT_EMPTY;
	/* Storing nothing needs no room: it cannot fail. */
	store_locked(state, first, &empty, false, n, x, &emptied);
	zram_slots_unlock(state, first, n);
	zs_free_emptied(&emptied);
	return used;
}

/**
 * zram_slot_free - empty one slot
 * @state: the state
 * @index: the slot
 *
 * The slot is empty at once, and its object is freed soon: swap frees its slots
 * one by one, with all others waiting.
 *
 * Context: as zram_slots_clear().
 * Return: false where it was empty already.
 */
bool zram_slot_free(struct zram_state *state, u32 index)
{
	struct zram_slot *slot = &state->slots[index];
	enum zram_slot_state old;
	LIST_HEAD(emptied);

	if (nothing_to_free(state, index))
		return false;
	zram_slot_lock(state, index);
	old = zram_word_state(slot->word);
	if (has_object(old))
		zs_obj_free_later(state->pool, slot->loc, &emptied);
	commit(state, index, &empty, 0);
	zram_slot_unlock(state, index);
	zs_free_emptied(&emptied);
	return old != ZRAM_SLOT_EMPTY;
}

/**
 * zram_slot_begin - start working on a slot without holding its lock
 * @state: the state
 * @index: the slot
 *
 * A later zram_slot_store() with @if_processing finds out whether the slot has
 * been stored to since. One at a time: callers exclude each other.
 *
 * Context: task context; the slot is not locked.
 */
void zram_slot_begin(struct zram_state *state, u32 index)
{
	struct zram_slot *slot = &state->slots[index];

	zram_slot_lock(state, index);
	WRITE_ONCE(slot->word, slot->word | ZRAM_SLOT_PROCESSING);
	zram_slot_unlock(state, index);
}

static bool zram_owner_lock(void *owner, u32 id, u64 from)
{
	struct zram_state *state = owner;
	struct zram_slot *slot;

	if (id >= state->nr_pages)
		return false;
	slot = &state->slots[id];
	zram_slot_lock(state, id);
	if (has_object(zram_word_state(slot->word)) && slot->loc == from)
		return true;
	zram_slot_unlock(state, id);
	return false;
}

static void zram_owner_relocate(void *owner, u32 id, u64 from, u64 to)
{
	struct zram_state *state = owner;

	zram_slot_assert_locked(state, id);
	state->slots[id].loc = to;
}

static void zram_owner_unlock(void *owner, u32 id)
{
	zram_slot_unlock(owner, id);
}

/* How the allocator moves the objects of slots; the owner id is the index. */
const struct zs_owner_ops zram_owner_ops = {
	.lock = zram_owner_lock,
	.relocate = zram_owner_relocate,
	.unlock = zram_owner_unlock,
};
