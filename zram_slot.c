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

static bool has_object(enum zram_slot_state state)
{
	return state == ZRAM_SLOT_COMPRESSED || state == ZRAM_SLOT_HUGE;
}

/* Adjust counter @stat by how a property changed from @was to @is. */
static void count_change(struct zram_state *state, enum zram_stat stat,
			 s64 was, s64 is)
{
	if (was != is)
		zram_count(state, stat, is - was);
}

/* The one place where a slot's contents change, and the counters with them. */
static void commit(struct zram_state *state, u32 index,
		   const struct zram_content *new, u64 value)
{
	struct zram_slot *slot = &state->slots[index];
	enum zram_slot_state old = zram_word_state(slot->word);
	u32 old_size = has_object(old) ? zram_word_size(slot->word) : 0;
	u32 new_size = has_object(new->state) ? new->size : 0;

	zram_slot_assert_locked(state, index);
	slot->loc = value;
	WRITE_ONCE(slot->word, ZRAM_SLOT_LOCK |
		   (unsigned long)new->state << ZRAM_SLOT_STATE_SHIFT |
		   (unsigned long)new->codec << ZRAM_SLOT_CODEC_SHIFT |
		   (unsigned long)new_size << ZRAM_SLOT_SIZE_SHIFT);

	count_change(state, ZRAM_STORED, old != ZRAM_SLOT_EMPTY,
		     new->state != ZRAM_SLOT_EMPTY);
	count_change(state, ZRAM_BYTES, old_size, new_size);
	count_change(state, ZRAM_SAME, old == ZRAM_SLOT_SAME,
		     new->state == ZRAM_SLOT_SAME);
	count_change(state, ZRAM_HUGE, old == ZRAM_SLOT_HUGE,
		     new->state == ZRAM_SLOT_HUGE);
	if (new->state == ZRAM_SLOT_HUGE)
		zram_count(state, ZRAM_HUGE_SINCE, 1);
}

/* Under the slot lock: exchange objects as @new needs, then commit. */
static int store_locked(struct zram_state *state, u32 index,
			const struct zram_content *new,
			struct list_head *emptied)
{
	struct zram_slot *slot = &state->slots[index];
	u64 old = ZS_LOC_NONE, value = new->fill;
	int ret;

	if (has_object(zram_word_state(slot->word)))
		old = slot->loc;
	if (has_object(new->state)) {
		ret = zs_obj_replace(state->pool, old, new->size, index,
				     &value, emptied);
		if (ret)
			return ret;
		zs_obj_write(value, new->data, new->size);
	} else if (old != ZS_LOC_NONE) {
		zs_obj_free(state->pool, old, emptied);
	}
	commit(state, index, new, value);
	return 0;
}

/**
 * zram_slot_store - give a slot new contents
 * @state: the state
 * @index: the slot
 * @new: the contents
 * @if_processing: only if nothing was stored since zram_slot_begin()
 *
 * Context: task context, interrupts on or off; the slot is not locked. Does not
 * sleep.
 * Return: 0; -EAGAIN where the pool has no room for the object and must grow;
 * -ESTALE where @if_processing forbids it. On error the slot is unchanged.
 */
int zram_slot_store(struct zram_state *state, u32 index,
		    const struct zram_content *new, bool if_processing)
{
	struct zram_slot *slot = &state->slots[index];
	LIST_HEAD(emptied);
	int ret = -ESTALE;

	zram_slot_lock(state, index);
	if (!if_processing || slot->word & ZRAM_SLOT_PROCESSING)
		ret = store_locked(state, index, new, &emptied);
	zram_slot_unlock(state, index);
	zs_free_emptied(&emptied);
	return ret;
}

/**
 * zram_slot_free - empty a slot
 * @state: the state
 * @index: the slot
 *
 * Context: task context, interrupts on or off, under swap's and page-table
 * locks. Does not sleep.
 * Return: false where it was empty already.
 */
bool zram_slot_free(struct zram_state *state, u32 index)
{
	static const struct zram_content empty = { .state = ZRAM_SLOT_EMPTY };
	unsigned long word = zram_slot_peek(state, index);
	LIST_HEAD(emptied);

	/*
	 * Not even the lock for an empty slot: whoever stores something just
	 * now is not ordered against this free anyway. But a slot that is being
	 * processed must learn that it was freed.
	 */
	if (zram_word_state(word) == ZRAM_SLOT_EMPTY &&
	    !(word & (ZRAM_SLOT_LOCK | ZRAM_SLOT_PROCESSING)))
		return false;

	zram_slot_lock(state, index);
	word = state->slots[index].word;
	/* Storing nothing needs no room: it cannot fail. */
	store_locked(state, index, &empty, &emptied);
	zram_slot_unlock(state, index);
	zs_free_emptied(&emptied);
	return zram_word_state(word) != ZRAM_SLOT_EMPTY;
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
