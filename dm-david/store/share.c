// SPDX-License-Identifier: GPL-2.0
/* Blocks that several disks of a pool have in common: see share.h. */
#include "share.h"

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "../base/inject.h"

#define SHARE_BUSY	BIT_ULL(63)	/* being written by its only holder */
#define INDEX_LEAST	1024u		/* entries */
#define INDEX_MOST	262144u		/* 2 MiB */
#define WAYS		4u		/* entries in which a key may stand */
#define LISTS		64
#define LIST_SHIFT	8		/* blocks of one list behind each other */

/* An index entry: destination, and above it the part of the key that its place does not tell. */
#define DEST_BITS	40
#define DEST_MASK	(BIT_ULL(DEST_BITS) - 1)
#define KEY_SHIFT	8

struct waiting {
	spinlock_t lock;	/* irqsave, innermost; guards the list */
	struct list_head list;
};

struct share {
	u64 blocks;
	atomic64_t *word;	/* of each block */
	u64 *index;		/* by keys; 0: none */
	u32 index_sets;		/* of WAYS entries; a power of 2 */
	atomic64_t saved;
	struct waiting waiting[LISTS];
};

static u64 share_bit_of(unsigned int slot)
{
	return BIT_ULL(slot);
}

static u32 index_entries(u64 blocks)
{
	return roundup_pow_of_two(clamp_t(u64, blocks, INDEX_LEAST, INDEX_MOST));
}

/* @nr of a pool's blocks may be more than a 32-bit kernel's memory. */
static void *share_zalloc(u64 nr, size_t size)
{
	return nr > SIZE_MAX / size ? NULL : vzalloc(nr * size);
}

struct share *share_create(u64 blocks)
{
	struct share *share = kzalloc(sizeof(*share), GFP_KERNEL);
	u32 entries = index_entries(blocks);
	unsigned int i;

	if (!share)
		return NULL;
	share->blocks = blocks;
	share->index_sets = entries / WAYS;
	share->word = share_zalloc(blocks, sizeof(share->word[0]));
	share->index = share_zalloc(entries, sizeof(share->index[0]));
	for (i = 0; i < LISTS; i++) {
		spin_lock_init(&share->waiting[i].lock);
		INIT_LIST_HEAD(&share->waiting[i].list);
	}
	if (share->word && share->index)
		return share;
	share_destroy(share);
	return NULL;
}

int share_grow(struct share *share, u64 blocks)
{
	u32 entries = index_entries(blocks);
	atomic64_t *word = share_zalloc(blocks, sizeof(word[0]));
	u64 *index = share_zalloc(entries, sizeof(index[0]));
	int r = -ENOMEM;

	if (word && index) {
		/* It may have been larger, if the pool's directory could not be written then. */
		memcpy(word, share->word, min(share->blocks, blocks) * sizeof(word[0]));
		swap(share->word, word);
		/* What was in it is forgotten: it only saves room. */
		swap(share->index, index);
		share->index_sets = entries / WAYS;
		share->blocks = blocks;
		r = 0;
	}
	vfree(word);
	vfree(index);
	return r;
}

void share_destroy(struct share *share)
{
	if (!share)
		return;
	vfree(share->word);
	vfree(share->index);
	kfree(share);
}

u64 share_bytes(const struct share *share)
{
	return sizeof(*share) + share->blocks * sizeof(share->word[0]) +
	       (u64)share->index_sets * WAYS * sizeof(share->index[0]);
}

u64 share_saved(const struct share *share)
{
	return atomic64_read(&share->saved);
}

void share_hold(struct share *share, unsigned int slot, u64 dest, u64 len)
{
	for (; len; dest++, len--)
		if (atomic64_fetch_or(share_bit_of(slot), &share->word[dest]))
			atomic64_inc(&share->saved);
}

/* The index */

/*
 * Each block has two keys: the sum of its content, and one of content and place on the disk. A disk
 * may have one content in many places, and a mirror's other leg has it in the same ones.
 */
static u32 key_of_place(const struct share_block *block)
{
	return block->sum ^ hash_64(block->block + 1, 32);
}

static u64 *index_set(const struct share *share, u32 key)
{
	return share->index + (key & (share->index_sets - 1)) * WAYS;
}

static u64 share_entry_of(u32 key, u64 dest)
{
	return (u64)(key >> KEY_SHIFT) << DEST_BITS | dest;
}

/* Two that put at once may lose one of them. */
static void index_put_key(struct share *share, u32 key, u64 dest)
{
	u64 *set = index_set(share, key), entry, want = share_entry_of(key, dest);
	unsigned int way, to = dest % WAYS;

	for (way = 0; way < WAYS; way++) {
		entry = READ_ONCE(set[way]);
		if (entry == want)
			return;
		if (!entry || !atomic64_read(&share->word[entry & DEST_MASK]))
			to = way;
	}
	WRITE_ONCE(set[to], want);
}

static void index_put(struct share *share, const struct share_block *block, u64 dest)
{
	index_put_key(share, block->sum, dest);
	index_put_key(share, key_of_place(block), dest);
}

static enum share_found look_for_key(const struct share *share, unsigned int slot, u32 key, u64 own,
				     u64 *dest)
{
	u64 *set = index_set(share, key), entry, at, word;
	enum share_found found = SHARE_NONE;
	unsigned int way;

	for (way = 0; way < WAYS; way++) {
		entry = READ_ONCE(set[way]);
		at = entry & DEST_MASK;
		if (!entry || entry != share_entry_of(key, at) || at >= share->blocks)
			continue;
		word = atomic64_read(&share->word[at]);
		if (word & share_bit_of(slot) ? at != own || word & SHARE_BUSY : !word)
			continue;
		if (at == own || !(word & SHARE_BUSY) || found == SHARE_NONE) {
			found = word & SHARE_BUSY ? SHARE_WAIT : SHARE_THERE;
			*dest = at;
		}
		if (at == own)
			return SHARE_OWN;
	}
	return found;
}

enum share_found share_look(const struct share *share, unsigned int slot,
			    const struct share_block *block, u64 own, u64 *dest)
{
	enum share_found found = look_for_key(share, slot, key_of_place(block), own, dest);

	return found == SHARE_NONE ? look_for_key(share, slot, block->sum, own, dest) : found;
}

/* Words */

bool share_join(struct share *share, unsigned int slot, u64 dest)
{
	s64 word = atomic64_read(&share->word[dest]);

	do {
		if (!word || word & (SHARE_BUSY | share_bit_of(slot)))
			return false;
	} while (!atomic64_try_cmpxchg(&share->word[dest], &word, word | share_bit_of(slot)));
	atomic64_inc(&share->saved);
	return true;
}

/* Is the block the disk's alone? It is private then. */
static bool own_one(struct share *share, unsigned int slot, u64 dest)
{
	s64 me = share_bit_of(slot);

	return !atomic64_read(&share->word[dest]) || INJECTED(inplace) ||
	       atomic64_try_cmpxchg(&share->word[dest], &me, 0);
}

bool share_own(struct share *share, unsigned int slot, u64 dest, u64 *len)
{
	bool own = own_one(share, slot, dest);
	u64 done;

	for (done = 1; done < *len; done++)
		if (own_one(share, slot, dest + done) != own)
			break;
	*len = done;
	return own;
}

void share_offer(struct share *share, unsigned int slot, const struct share_block *block, u64 dest)
{
	atomic64_set(&share->word[dest], SHARE_BUSY | share_bit_of(slot));
	/* Who finds the entry sees the word. A missed entry costs space only. */
	index_put(share, block, dest);
}

void share_written(struct share *share, unsigned int slot, u64 dest, u64 len, bool good)
{
	for (; len; dest++, len--)
		atomic64_set(&share->word[dest], good ? share_bit_of(slot) : 0);
}

void share_learn(struct share *share, unsigned int slot, const struct share_block *block, u64 dest)
{
	s64 none = 0;

	atomic64_try_cmpxchg(&share->word[dest], &none, share_bit_of(slot));
	index_put(share, block, dest);
}

bool share_give_up(struct share *share, unsigned int slot, u64 dest)
{
	s64 word = atomic64_read(&share->word[dest]), rest;

	do {
		rest = INJECTED(early) ? 0 : word & ~(SHARE_BUSY | share_bit_of(slot));
	} while (word && !atomic64_try_cmpxchg(&share->word[dest], &word, rest));
	if (INJECTED(early))
		return word;
	if (rest)
		atomic64_dec(&share->saved);
	return !rest;
}

/* Waiting */

static struct waiting *waiting_for(struct share *share, u64 dest)
{
	return &share->waiting[(dest >> LIST_SHIFT) % LISTS];
}

bool share_wait(struct share *share, struct share_waiter *waiter)
{
	struct waiting *waiting = waiting_for(share, waiter->dest);
	unsigned long flags;
	bool busy;

	spin_lock_irqsave(&waiting->lock, flags);
	/* Pairs with share_wake(), which takes the lock when the word has changed. */
	busy = atomic64_read(&share->word[waiter->dest]) & SHARE_BUSY;
	if (busy)
		list_add_tail(&waiter->list, &waiting->list);
	spin_unlock_irqrestore(&waiting->lock, flags);
	return busy;
}

/* Those that wait for blocks of one list. */
static void wake_list(struct waiting *waiting, u64 first, u64 end)
{
	struct share_waiter *waiter, *next;
	unsigned long flags;
	LIST_HEAD(woken);

	spin_lock_irqsave(&waiting->lock, flags);
	list_for_each_entry_safe(waiter, next, &waiting->list, list)
		if (waiter->dest >= first && waiter->dest < end)
			list_move_tail(&waiter->list, &woken);
	spin_unlock_irqrestore(&waiting->lock, flags);
	list_for_each_entry_safe(waiter, next, &woken, list)
		waiter->done(waiter);
}

void share_wake(struct share *share, u64 dest, u64 len)
{
	u64 at, end = dest + len;

	for (at = dest; at < end; at = ((at >> LIST_SHIFT) + 1) << LIST_SHIFT)
		wake_list(waiting_for(share, at), dest, end);
}
