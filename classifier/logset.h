/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log set: which blocks stand in a journal's log, and in which transaction
 * last.
 *
 * A hash of block numbers, 8 bytes an entry, in memory that the caller gives
 * (logset_give()), since nothing is allocated where blocks are written. A set
 * never loses a block silently: logset_add() says when there is no room.
 *
 * What is in it is bounded by the log: once the log's tail has passed a
 * block's last transaction, the block has been written home for good and can
 * go. That is done only when room is needed (logset_expire()).
 *
 * Block numbers are below 2^48. Of a transaction's number 16 bits are kept: an
 * entry is dropped only if it is certainly old, and may stay longer than needed.
 *
 * Portable; the caller serialises. Cost of a lookup: a multiplication and the
 * probes, at most two thirds of the slots being used.
 */
#ifndef CLASSIFIER_LOGSET_H
#define CLASSIFIER_LOGSET_H

#include "../dm-david/lib/portable.h"

#define LOGSET_MIN_BYTES	8192
#define LOGSET_BLOCK_BITS	48

struct logset {
	u64 *slot;	/* NULL: no memory given yet, the set is empty */
	u32 slots;	/* a power of 2 */
	u32 used;
	u32 most;	/* used, at most so far */
};

/* Bytes that the set wants next (0: enough for now), if it may have @limit. */
size_t logset_wants(const struct logset *set, size_t limit);

/*
 * Move to the zeroed memory at @memory of @bytes, a power of 2 and not less
 * than before. Returns the old memory for the caller to free, or NULL.
 */
void *logset_give(struct logset *set, void *memory, size_t bytes);

/* Note that @block was logged in transaction @tid. False if there is no room. */
bool logset_add(struct logset *set, u64 block, u32 tid);

bool logset_has(const struct logset *set, u64 block);

/* Remove @block if it was last logged before transaction @tid. */
void logset_revoke(struct logset *set, u64 block, u32 tid);

/*
 * Drop what was last logged before @tail, @head being the newest transaction.
 * Reads the whole set. Returns the number dropped.
 */
u32 logset_expire(struct logset *set, u32 tail, u32 head);

void logset_clear(struct logset *set);

#endif
