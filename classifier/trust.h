/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far the order of an ext volume's writes may be trusted.
 *
 * jbd2 flushes what it has logged, writes the commit block, and writes home after that. So a block
 * in no log is no metadata, whatever it holds. That is true only while
 *
 *   - nothing between the file system and this disk changes the order: a cache that is not
 *     flushed, or is written back when it likes, brings home blocks before their log (->broken);
 *   - the log was followed from the beginning of the mount on: a mirror that is taken in under a
 *     mounted file system gets copies of old metadata, which stands in no log (->begun);
 *   - who writes is the driver (->at_work), and not a tool on a file system that was cut off.
 *
 * Nothing on the disk tells. What is seen does:
 *
 *   the superblock begins a mount: begun. With FUA, or with a flush right behind it: flushes arrive
 *   a commit, all that it commits before the last flush: a driver is at work, in order
 *   a commit with its descriptors in one go, or with some missing: broken until the next mount
 *   the superblock read: somebody else may be at work, until the next commit
 *   written at a place of bitmaps, inodes or descriptors, and not logged: no driver did that
 *
 * Portable; the caller serialises. Called for control blocks of the journal, superblocks,
 * flushes, and metadata by its place that is not logged.
 */
#ifndef CLASSIFIER_TRUST_H
#define CLASSIFIER_TRUST_H

#include "jbd2.h"

#define TRUST_SEEN	8

struct trust {
	bool at_work;		/* the driver, as far as is known */
	bool begun;		/* the log was followed since the mount began */
	bool proved;		/* flushes arrive here */
	bool broken;		/* not in order, or not by the driver alone, until the next mount */
	bool opening;		/* the last write to the volume was the superblock that began it */
	bool log_moved;		/* the journal's superblock was written since others looked */

	/* the transaction that is being logged, 0 blocks: none */
	u32 tid;
	u32 blocks;		/* of the log, by its descriptors and revoke blocks */
	u32 start;		/* where the first of these stands */
	u64 described;		/* flushes when the last one came */
	u32 seen[TRUST_SEEN];	/* the last ones: a page cache may write them twice */
	u32 nr_seen;

	u32 next;		/* where the next transaction begins, U32_MAX: not known */
	u64 missed;		/* jbd2's count when the mount began */
};

/* Nothing is known of the volume, or it is not mounted. */
void trust_reset(struct trust *t);

/* The caller knows that it is mounted, by the driver and without anything between. */
void trust_told(struct trust *t, const struct jbd2 *j);

/*
 * The superblock is written as a mount begins. @clean: it was unmounted before. @durable: the
 * write has FUA.
 */
void trust_mount(struct trust *t, const struct jbd2 *j, bool clean, bool durable);

/* Somebody reads the superblock. */
void trust_looked(struct trust *t);

/* Something was written that a driver with a journal does not write. */
void trust_foreign(struct trust *t);

/* A flush: all that was written before it was written by who is above. */
static inline void trust_flush(struct trust *t)
{
	if (unlikely(t->opening)) {
		t->proved = true;
		t->at_work = true;
		t->opening = false;
	}
}

/*
 * A control block of the journal is written at @logical. @tags: of a descriptor. @flushes: so far.
 * True: it is a commit, so the driver is at work.
 */
bool trust_control(struct trust *t, const struct jbd2 *j, enum jbd2_block_kind kind, u32 tid,
		   u32 logical, u32 tags, u64 flushes);

/* Is a block that is not logged no metadata, whatever it holds, if the driver is at work? */
static inline bool trust_order(const struct trust *t)
{
	return t->begun && t->proved && !t->broken;
}

/* May trust_order() come to be true in this mount? */
static inline bool trust_may_come(const struct trust *t)
{
	return t->begun && !t->broken;
}

#endif
