/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zram_slot: the table of slots, one for each page of the disk, and the only
 * code that touches a slot's bits.
 *
 * A slot says what its page holds and carries the lock for it, which is also
 * the lock that keeps the page's object in its place (zsmalloc.h). Every change
 * of contents goes through one function, whether for one slot or for several.
 */
#ifndef _ZRAM_SLOT_H_
#define _ZRAM_SLOT_H_

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/instruction_pointer.h>
#include <linux/preempt.h>
#include <linux/processor.h>

#include "zram_drv.h"

/**
 * enum zram_slot_state - what a page holds
 * @ZRAM_SLOT_EMPTY: nothing: it reads as zeroes
 * @ZRAM_SLOT_SAME: one word, repeated
 * @ZRAM_SLOT_COMPRESSED: an object, compressed
 * @ZRAM_SLOT_HUGE: an object of PAGE_SIZE bytes, as written
 */
enum zram_slot_state {
	ZRAM_SLOT_EMPTY,
	ZRAM_SLOT_SAME,
	ZRAM_SLOT_COMPRESSED,
	ZRAM_SLOT_HUGE,
};

/**
 * struct zram_slot - one page of the disk
 * @loc: location of its object (compressed, huge)
 * @fill: the repeated word (same)
 * @word: everything else, see ZRAM_SLOT_*: lock bit, state, codec, size
 *
 * Guarded by the lock bit. Only @word may be read without it, and then means
 * nothing but a hint.
 */
struct zram_slot {
	union {
		u64 loc;
		u64 fill;
	};
	unsigned long word;
};

static_assert(sizeof(struct zram_slot) <= 16);

#define ZRAM_SLOT_LOCK_BIT	0
#define ZRAM_SLOT_LOCK		BIT(ZRAM_SLOT_LOCK_BIT)
#define ZRAM_SLOT_PROCESSING	BIT(1)
#define ZRAM_SLOT_STATE_SHIFT	2
#define ZRAM_SLOT_STATE_MASK	3UL
#define ZRAM_SLOT_CODEC_SHIFT	4
#define ZRAM_SLOT_CODEC_MASK	3UL
#define ZRAM_SLOT_SIZE_SHIFT	8

static_assert(ZRAM_SLOT_HUGE <= ZRAM_SLOT_STATE_MASK);
static_assert(ZRAM_MAX_CODECS - 1 <= ZRAM_SLOT_CODEC_MASK);
static_assert(PAGE_SHIFT + 1 + ZRAM_SLOT_SIZE_SHIFT <= 32);

/**
 * struct zram_content - what to store in a slot
 * @state: the slot's new state
 * @codec: which codec compressed it (compressed)
 * @size: bytes at @data (compressed, huge)
 * @data: the object's bytes (compressed, huge)
 * @fill: the repeated word (same)
 */
struct zram_content {
	enum zram_slot_state state;
	unsigned int codec;
	u32 size;
	const void *data;
	u64 fill;
};

/* Slots that may be changed together: bounds how long their locks are held. */
#define ZRAM_SLOT_BATCH	16
static_assert(ZRAM_SLOT_BATCH >= ZCOMP_BATCH);

extern const struct zs_owner_ops zram_owner_ops;

struct zram_slot *zram_slots_alloc(u32 nr_pages);
void zram_slots_free(struct zram_slot *slots);

void zram_slots_init_map(struct zram_state *state);

int zram_slot_store(struct zram_state *state, u32 index,
		    const struct zram_content *new, bool if_processing);
int zram_slots_store(struct zram_state *state, u32 first,
		     const struct zram_content *new, unsigned int n);
unsigned int zram_slots_clear(struct zram_state *state, u32 first,
			      unsigned int n);
bool zram_slot_free(struct zram_state *state, u32 index);
void zram_slot_begin(struct zram_state *state, u32 index);

/* A slot's word taken apart; the lock is held, or the result is a hint. */
static inline enum zram_slot_state zram_word_state(unsigned long word)
{
	return (word >> ZRAM_SLOT_STATE_SHIFT) & ZRAM_SLOT_STATE_MASK;
}

static inline unsigned int zram_word_codec(unsigned long word)
{
	return (word >> ZRAM_SLOT_CODEC_SHIFT) & ZRAM_SLOT_CODEC_MASK;
}

static inline u32 zram_word_size(unsigned long word)
{
	return word >> ZRAM_SLOT_SIZE_SHIFT;
}

/**
 * zram_slots_lock - lock slots that follow each other
 * @state: the state
 * @first: the first slot
 * @n: how many, 1 to ZRAM_SLOT_BATCH
 *
 * Always in ascending order, and nobody locks a slot while holding others in
 * another way: so two who want some of the same slots cannot wait for each other.
 *
 * Context: task context, interrupts on or off; disables preemption. Whoever
 * holds slots does so for microseconds.
 */
static inline void zram_slots_lock(struct zram_state *state, u32 first,
				   unsigned int n)
{
	struct zram_slot *slot = &state->slots[first], *end = slot + n;

	lockdep_assert(!in_hardirq() && !in_serving_softirq());
	/*
	 * First of all: lockdep takes the slots for locked from here on, and
	 * whoever is switched to may take locks that do not nest inside.
	 */
	preempt_disable();
	spin_acquire(&state->slot_map, 0, 0, _RET_IP_);
	for (; slot < end; slot++)
		while (unlikely(test_and_set_bit_lock(ZRAM_SLOT_LOCK_BIT,
						      &slot->word)))
			while (READ_ONCE(slot->word) & ZRAM_SLOT_LOCK)
				cpu_relax();
}

/**
 * zram_slots_unlock - unlock what zram_slots_lock() has locked
 * @state: the state
 * @first: the first slot
 * @n: how many
 *
 * Context: the slots are locked. The release pairs with the acquire in
 * zram_slots_lock().
 */
static inline void zram_slots_unlock(struct zram_state *state, u32 first,
				     unsigned int n)
{
	struct zram_slot *slot = &state->slots[first], *end = slot + n;

	spin_release(&state->slot_map, _RET_IP_);
	for (; slot < end; slot++)
		atomic_long_set_release((atomic_long_t *)&slot->word,
					slot->word & ~ZRAM_SLOT_LOCK);
	preempt_enable();
}

/* The same for one slot. */
static inline void zram_slot_lock(struct zram_state *state, u32 index)
{
	zram_slots_lock(state, index, 1);
}

static inline void zram_slot_unlock(struct zram_state *state, u32 index)
{
	zram_slots_unlock(state, index, 1);
}

/* States the need for the slot's lock, and checks it where lockdep is on. */
static inline void zram_slot_assert_locked(struct zram_state *state, u32 index)
{
	lockdep_assert(lock_is_held(&state->slot_map));
	lockdep_assert(READ_ONCE(state->slots[index].word) & ZRAM_SLOT_LOCK);
}

/* A glance at a slot's word without its lock. */
static inline unsigned long zram_slot_peek(struct zram_state *state, u32 index)
{
	return READ_ONCE(state->slots[index].word);
}

/* The location in a slot that may change any time: a hint, too. */
static inline u64 zram_slot_peek_loc(struct zram_state *state, u32 index)
{
	const struct zram_slot *slot = &state->slots[index];

	if (zram_word_state(READ_ONCE(slot->word)) < ZRAM_SLOT_COMPRESSED)
		return ZS_LOC_NONE;
	return READ_ONCE(slot->loc);
}

/* Soon slot @index will be read. May be past the last. */
static inline void zram_slot_prefetch_read(struct zram_state *state, u32 index)
{
	unsigned long word;

	if (index >= state->nr_pages)
		return;
	word = zram_slot_peek(state, index);
	if (zram_word_state(word) >= ZRAM_SLOT_COMPRESSED)
		zs_prefetch_read(READ_ONCE(state->slots[index].loc),
				 zram_word_size(word));
}

#endif /* _ZRAM_SLOT_H_ */
