// SPDX-License-Identifier: GPL-2.0
/*
 * Log set: see logset.h. Open addressing with linear probing; a slot is the
 * block's number plus one in the low 49 bits (0: free) and the low 15 bits of
 * the transaction above. Removing moves later entries of the same cluster up,
 * so that there are no tombstones.
 */
#include "logset.h"
#include "../dm-david/portable/hash.h"

#define KEY_BITS	(LOGSET_BLOCK_BITS + 1)
#define KEY_MASK	((1ULL << KEY_BITS) - 1)
#define TID_MASK	((1u << (64 - KEY_BITS)) - 1)

static inline u32 logset_home(const struct logset *set, u64 key)
{
	return hash_slot(key, set->slots);
}

/* The slot of @key, or the free one where it would be. */
static inline u32 logset_find(const struct logset *set, u64 key)
{
	u32 at = logset_home(set, key);

	/* Ends: there is always a free slot. */
	while (set->slot[at] && (set->slot[at] & KEY_MASK) != key)
		at = (at + 1) & (set->slots - 1);
	return at;
}

static inline bool logset_is_full(const struct logset *set)
{
	return set->used >= set->slots - set->slots / 8;
}

size_t logset_wants(const struct logset *set, size_t limit)
{
	size_t bytes = (size_t)set->slots * sizeof(u64);

	if (!bytes)
		return LOGSET_MIN_BYTES;
	if (set->used < set->slots / 2 || bytes * 2 > limit)
		return 0;
	return bytes * 2;
}

bool logset_crowded(const struct logset *set, size_t limit)
{
	return set->slots && set->used >= set->slots - set->slots / 4 && logset_wants(set, limit);
}

void *logset_give(struct logset *set, void *memory, size_t bytes)
{
	u64 *old = set->slot;
	u32 slots = set->slots, i;

	set->slot = memory;
	set->slots = bytes / sizeof(u64);
	for (i = 0; i < slots; i++)
		if (old[i])
			set->slot[logset_find(set, old[i] & KEY_MASK)] = old[i];
	return old;
}

bool logset_add(struct logset *set, u64 block, u32 tid)
{
	u64 key = block + 1;
	u32 at;

	if (!set->slot || block >> LOGSET_BLOCK_BITS)
		return false;
	at = logset_find(set, key);
	if (!set->slot[at]) {
		if (logset_is_full(set))
			return false;
		set->used++;
		set->most = max(set->most, set->used);
	}
	set->slot[at] = key | (u64)(tid & TID_MASK) << KEY_BITS;
	return true;
}

bool logset_has(const struct logset *set, u64 block)
{
	return set->slot && set->slot[logset_find(set, block + 1)];
}

static void remove_at(struct logset *set, u32 at)
{
	u32 mask = set->slots - 1, next = at;

	for (;;) {
		u32 want;

		next = (next + 1) & mask;
		if (!set->slot[next])
			break;
		/* An entry may move up to @at unless that lies in front of its home. */
		want = logset_home(set, set->slot[next] & KEY_MASK);
		if (((next - want) & mask) >= ((next - at) & mask)) {
			set->slot[at] = set->slot[next];
			at = next;
		}
	}
	set->slot[at] = 0;
	set->used--;
}

void logset_revoke(struct logset *set, u64 block, u32 tid)
{
	u32 at, age;

	if (!set->slot || block >> LOGSET_BLOCK_BITS)
		return;
	at = logset_find(set, block + 1);
	age = (tid - (u32)(set->slot[at] >> KEY_BITS)) & TID_MASK;
	if (set->slot[at] && age && age <= TID_MASK / 2)
		remove_at(set, at);
}

u32 logset_expire(struct logset *set, u32 tail, u32 head)
{
	u32 alive = head - tail, dropped = 0, at = 0;

	/* With so many transactions the short numbers are ambiguous: all may be in the log. */
	if (!set->slot || alive >= TID_MASK)
		return 0;
	while (at < set->slots) {
		u32 age = (head - (u32)(set->slot[at] >> KEY_BITS)) & TID_MASK;

		/* A removal moves another entry here: look again. */
		if (set->slot[at] && age > alive) {
			remove_at(set, at);
			dropped++;
		} else {
			at++;
		}
	}
	return dropped;
}

void logset_clear(struct logset *set)
{
	if (set->slot)
		memset(set->slot, 0, (size_t)set->slots * sizeof(u64));
	set->used = 0;
}
