/* SPDX-License-Identifier: GPL-2.0 */
/*
 * May the order of an ext volume's writes be trusted?
 *
 * jbd2 writes metadata to the log, flushes, writes the commit block, and only then writes the
 * metadata to its home. So a block that is in no log is not metadata, whatever its content. Three
 * things must hold for that:
 *
 *   - Nothing between the file system and this disk changes the order of writes (!->broken). A
 *     cache that is not flushed may write a block home before its log.
 *   - The log was followed since the mount began (->begun). A mirror that joins an array under a
 *     mounted file system receives copies of old metadata, which is in no log.
 *   - The writer is the driver (->at_work), not a repair tool.
 *
 * The disk has no record of any of the three. These events show them:
 *
 *   event                                   conclusion
 *   superblock of a mount written           begun; proved, if with FUA or if a flush is next
 *   commit block, with a flush between it   a driver is at work, and writes come in order
 *   and all that it commits
 *   commit block without such a flush, or   broken until the next mount
 *   with a descriptor missing
 *   superblock read                         a tool may be at work, until the next commit
 *   bitmap, inode table or descriptor       a tool is at work
 *   written that is not in the log
 *
 * Portable; the caller serialises. The caller reports control blocks of the journal, superblocks,
 * flushes, and metadata by place that is not in the log.
 */
#ifndef CLASSIFIER_TRUST_H
#define CLASSIFIER_TRUST_H

#include "jbd2.h"

#define TRUST_SEEN	8

struct trust {
	bool at_work;		/* the driver is the writer, as far as is known */
	bool begun;		/* the log was followed since the mount began */
	bool proved;		/* flushes of the file system arrive at this disk */
	bool broken;		/* out of order, or another writer; until the next mount */
	bool opening;		/* the last write to the volume was the superblock of a mount */
	bool log_moved;		/* the journal's superblock was written since a superblock read */

	/* The transaction that is being logged. */
	u32 tid;
	u32 blocks;		/* that its descriptors and revoke blocks announce; 0: none yet */
	u32 start;		/* logical block of the first of these in the log */
	u64 described;		/* count of flushes when the last one was written */
	u32 seen[TRUST_SEEN];	/* the last ones: a page cache may write a block twice */
	u32 nr_seen;

	u32 next;		/* logical block of the next transaction; U32_MAX: unknown */
	u64 missed;		/* jbd2's count of missed blocks when the mount began */
};

/* Nothing is known of the volume, or it is not mounted. */
void trust_reset(struct trust *t);

/* The caller knows that the driver has it mounted, with no layer between. */
void trust_told(struct trust *t, const struct jbd2 *j);

/*
 * A superblock is written that begins a mount. @clean: the volume was unmounted before. @durable:
 * the write has FUA.
 */
void trust_mount(struct trust *t, const struct jbd2 *j, bool clean, bool durable);

/* The disk's user reads the superblock. */
void trust_looked(struct trust *t);

/* A block was written that a driver with a journal does not write that way. */
void trust_foreign(struct trust *t);

/* A flush. Right behind the superblock of a mount it proves that flushes arrive. */
static inline void trust_flush(struct trust *t)
{
	if (unlikely(t->opening)) {
		t->proved = true;
		t->at_work = true;
		t->opening = false;
	}
}

/*
 * A control block of the journal is written at @logical. @tags: blocks that a descriptor announces.
 * @flushes: of the disk, so far. Returns true for a commit block that shows a driver at work.
 */
bool trust_control(struct trust *t, const struct jbd2 *j, enum jbd2_block_kind kind, u32 tid,
		   u32 logical, u32 tags, u64 flushes);

/* If the driver is at work, is a block that is not in the log certainly no metadata? */
static inline bool trust_order(const struct trust *t)
{
	return t->begun && t->proved && !t->broken;
}

/* May trust_order() still become true in this mount? */
static inline bool trust_may_come(const struct trust *t)
{
	return t->begun && !t->broken;
}

#endif
