/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log set: the blocks in a journal's log, each with the last transaction that logged it.
 *
 * It is a hash table of block numbers with 8 bytes an entry. The caller gives the memory
 * (logset_give()), as nothing may be allocated when a block is written. A block is never lost
 * silently: logset_add() returns false if there is no room.
 *
 * The log bounds the set. Once the log's tail has passed a block's last transaction, the block is
 * at home and its entry can go. logset_expire() drops such entries when room is needed.
 *
 * Block numbers are below 2^48. An entry has 16 bits of its transaction's number. So an entry is
 * dropped only if it is certainly old, and may stay longer than needed.
 *
 * Portable; the caller serialises. A lookup costs a multiplication and the probes; at most two
 * thirds of the slots are in use.
 */
#ifndef CLASSIFIER_LOGSET_H
#define CLASSIFIER_LOGSET_H

#include "../dm-david/portable/portable.h"

#define LOGSET_MIN_BYTES	8192
#define LOGSET_BLOCK_BITS	48

struct logset {
	u64 *slot;	/* NULL: no memory given yet, the set is empty */
	u32 slots;	/* a power of 2 */
	u32 used;
	u32 most;	/* highest ->used so far */
};

/* Bytes that the set needs next, at most @limit; 0: it has enough. */
size_t logset_wants(const struct logset *set, size_t limit);

/* Is the set nearly full, and can it get more memory? It asked for that when it was half full. */
bool logset_crowded(const struct logset *set, size_t limit);

/*
 * Move the set to zeroed @memory of @bytes, a power of 2 and not less than before. Returns the old
 * memory for the caller to free, or NULL.
 */
void *logset_give(struct logset *set, void *memory, size_t bytes);

/* Note that @block was logged in transaction @tid. False if there is no room. */
bool logset_add(struct logset *set, u64 block, u32 tid);

bool logset_has(const struct logset *set, u64 block);

/* Remove @block if it was last logged before transaction @tid. */
void logset_revoke(struct logset *set, u64 block, u32 tid);

/*
 * Drop blocks that were last logged before transaction @tail. @head: the newest transaction. Reads
 * the whole set. Returns how many were dropped.
 */
u32 logset_expire(struct logset *set, u32 tail, u32 head);

void logset_clear(struct logset *set);

#endif
