/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Implicit classification of one disk. The verdict on a write comes from the writes so far, from
 * the mount state, and from blocks read back from the store. Nothing else is asked.
 *
 * The kernel target and the offline tool both call this. The caller owns all I/O and all memory:
 *
 *   on each write       classifier_write(), from left to right over the request. It reads a
 *                       block's content only where the content may matter.
 *   when the mount      classifier_mount()
 *   state changes
 *   in a worker, while  classifier_memory(): allocate without the lock, then classifier_give().
 *   ->pending is set    classifier_want(): read the store without the lock, then
 *                       classifier_learn(). classifier_claim(): a run of blocks that were
 *                       undecided when they were written, and have turned out to be data. Drop
 *                       their content, with classifier_is_data() before and classifier_done()
 *                       after.
 *
 * The safe side is KEEP. A block is kept if no volume is known there; if the volume is not mounted,
 * or not known to be; if something is not learned yet, or memory for it is missing; if the journal
 * was not seen from its beginning; if the format is not understood. If blocks from which something
 * was learned are written while the volume is not mounted, the classifier forgets what it learned
 * from them.
 *
 * The caller stores a block that is one repeated word as that word, whatever the verdict. So writes
 * of zeros, such as lazy initialisation of inode tables, need no care here.
 *
 * Sectors are of 512 bytes and count from the disk's start. Portable, any context. The caller
 * serialises all calls on one classifier. Nothing here allocates or sleeps. A loop goes at
 * most over the words of a block, the entries of the log set, or the volumes.
 */
#ifndef CLASSIFIER_CLASSIFIER_H
#define CLASSIFIER_CLASSIFIER_H

#include "undecided.h"
#include "verdict.h"
#include "volume.h"

#define CLASSIFIER_BLOCK	4096	/* largest file system block that is understood */
#define CLASSIFIER_BLOCK_BITS	12
#define CLASSIFIER_PROBES	8

/* Why a verdict was given. */
enum classify_reason {
	REASON_NO_VOLUME,	/* keep: no file system known there */
	REASON_UNMOUNTED,	/* keep: not mounted read-write, or not known to be */
	REASON_UNPLACED,	/* keep: not known that the file system reaches there */
	REASON_LEARNING,	/* keep: layout or journal not completely known yet */
	REASON_UNSAFE,	/* keep: a feature of this file system is not understood */
	REASON_UNJOURNALED,	/* keep: mounted, but its journal is not in use */
	REASON_STATIC,	/* keep: metadata by its place */
	REASON_JOURNAL,	/* keep: journal */
	REASON_LOGGED,	/* keep: in the journal's log */
	REASON_UNLOGGED,	/* squash: not in the journal's log */
	REASON_LOOKS,		/* keep: its content may be metadata */
	REASON_UNDECIDED,	/* kept until an inode, or the next commit, decides */
	REASON_NAMED,		/* keep: has the file system's uuid, or is part of such a block */
	REASON_STORED,	/* keep: no uuid, but it overwrites a block that was kept */
	REASON_PART,		/* keep: may belong to a block with the uuid */
	REASON_COMPRESSED,	/* keep: may be compressed data. Programs know it as `packed` */
	REASON_UNNAMED,	/* squash: no uuid, and all metadata of this kind has one */
	REASON_NR
};

const char *classify_reason_name(enum classify_reason reason);

/* Who asked for the block that is being read. */
enum {
	CLASSIFY_READS_VOLUME,		/* volume_ops.want() */
	CLASSIFY_READS_TABLE,		/* the partition table is to be read */
	CLASSIFY_READS_SHARED,		/* volume_ops.want_shared() */
	CLASSIFY_READS_OWN,		/* from here on: numbers of a kind's own for its ->want() */
};

/* Copy @len bytes at byte @offset of the request's content to @to. Must not fail. */
typedef void (*classify_copy_fn)(void *ctx, u32 offset, void *to, u32 len);

struct classify_write {
	u64 sector;
	u32 sectors;
	bool fua;		/* REQ_FUA: durable when it completes */
	classify_copy_fn copy;
	void *ctx;
};

/* Files that the user has chosen to be kept (RAW rules). Each answer is that of the moment. */
struct classify_choice {
	/* Is inode @ino of the volume at sector @start chosen? */
	bool (*inode)(void *ctx, u64 start, u32 ino);
	/* Is a file of this name chosen? */
	bool (*suffix)(void *ctx, const char *name, u32 len);
	/* The chosen directory with the next inode number after @after; 0: no more. */
	u32 (*next_dir)(void *ctx, u64 start, u32 after);
	void *ctx;
};

struct classifier {
	u64 sectors;			/* of the disk */
	size_t log_limit;		/* most bytes that one volume's log set may take */
	bool pending;			/* there is work for the worker */
	bool by_super;			/* superblocks say what is mounted: classifier_by_super() */
	bool strict;			/* classifier_alone() */
	u64 flushes;			/* of the disk, so far */
	bool table_wanted;		/* the partition table is to be read */
	bool (*stored)(void *ctx, u64 sector, u32 sectors);	/* classifier_stored() */
	void *stored_ctx;
	u64 last_start;			/* sector; no volume is looked for behind it */
	struct volume_table volumes;
	void *shared;			/* memory of what volumes share */

	/* Places where something was mounted and no volume is known: superblocks to read. */
	struct {
		u64 start;
		enum volume_state state;
		unsigned int asked;	/* how many of the blocks that may have one were read */
	} probe[CLASSIFIER_PROBES];
	unsigned int probes;

	struct undecided undecided;
	struct classify_choice choice;	/* classifier_choose() */
	bool by_inode, by_name, by_suffix;	/* likewise */
	unsigned int reading;		/* CLASSIFY_READS_*: who asked for the block being read */
	enum volume_kind reading_kind;	/* with CLASSIFY_READS_SHARED */
	/* A read for this state, which is a volume's live one, whatever covers the sector then. */
	struct {
		void *live;		/* NULL: none */
		enum volume_kind kind;
		u64 sector;
	} reader;

	/*
	 * The superblock of a volume that has no memory yet. It is held here, because a read could
	 * overtake its write and return an older one.
	 */
	struct {
		u64 start;		/* the volume's */
		u32 bytes;		/* 0: none */
		u64 content[CLASSIFIER_BLOCK / 8];
	} held;

	u64 count[REASON_NR];	/* sectors by reason */
	u64 errors;			/* superblocks and other blocks that make no sense */
	u64 block[CLASSIFIER_BLOCK / 8];	/* scratch: one block's content */
};

/* Bytes of zeroed memory that classifier_init() needs. */
size_t classifier_shared_bytes(void);

/*
 * Start with a disk of which nothing is known. @shared: memory for what volumes share, of
 * classifier_shared_bytes(). @log_limit: bytes that the log set of one volume may take, at least
 * LOGSET_MIN_BYTES. 16 bytes for each block of the journal always suffice.
 * When the limit is reached, everything is kept until the journal's tail has moved on.
 */
void classifier_init(struct classifier *c, void *shared, u64 sectors, size_t log_limit);

/*
 * Remember blocks that cannot be decided when they are written, until an inode decides. @bytes:
 * how much content may wait that way. Call before the first write. Without this call, or with 0,
 * such blocks stay kept.
 */
void classifier_remember(struct classifier *c, u64 bytes);

/*
 * @stored says whether the caller's store holds content for any of these sectors. One repeated word
 * is not content. An xfs with directory blocks larger than its blocks needs this (xfs-log.h);
 * without it, all of such an xfs is kept. Call before the first write.
 */
void classifier_stored(struct classifier *c, bool (*stored)(void *ctx, u64 sector, u32 sectors),
		       void *ctx);

/*
 * The classifier's verdict is final: no page owner objects to it (classify=implicit). So the
 * classifier asks for proof of three assumptions: writes arrive in order, only the file system's
 * driver writes to it (both: trust.h), and the volume lies in one piece (placed.h, for ext also
 * ext-backups.h). In an ext with a journal, place and content of a block can then overrule the
 * journal. The caller must call classifier_flush(). Call this before the first write.
 */
void classifier_alone(struct classifier *c);

/*
 * Would a write to these sectors come too early: is the worker behind with what the classifier has
 * to know of the volume, or to have, before the write is shown to it? Call classifier_write() for
 * the write when this has become false. If the caller does not wait, more is kept: of an ext whose
 * log is not known when a mount begins, most data until the next mount.
 */
bool classifier_early(const struct classifier *c, u64 sector, u64 sectors);

/* The disk was flushed. */
void classifier_flush(struct classifier *c);

/*
 * The user has chosen files of ext to be kept. The caller sets three flags:
 *
 *	->by_inode	some files are chosen
 *	->by_name	among them are directories, with all below them, or files by suffix
 *	->by_suffix	among them are files by suffix (ext-names.h)
 *
 * With ->by_inode, no block is data when it is written. If the journal has metadata only, a block
 * is undecided, whatever its content. It becomes data when an inode maps it that is not chosen and
 * was written later. All other blocks are kept. Call before the first write.
 */
void classifier_choose(struct classifier *c, const struct classify_choice *choice);

/* More files are chosen than before, or the caller has changed one of the three flags. */
void classifier_chosen_more(struct classifier *c);

/*
 * Other files are chosen than before. Blocks that are undecided now stay kept: they may belong to a
 * file that was chosen until now.
 */
void classifier_chosen_anew(struct classifier *c);

/* Call @release for all memory that was given, that of classifier_init() too. */
void classifier_destroy(struct classifier *c, void (*release)(const void *));

/*
 * Returns the verdict on the part of @w that begins @pos sectors from its start, and learns from
 * that part. *len becomes its length in sectors, at most one block of a known file system. Call
 * with pos = 0, then pos += *len, up to w->sectors. The caller keeps a block of the store if one of
 * its parts is to be kept.
 */
enum verdict classifier_write(struct classifier *c, const struct classify_write *w, u32 pos,
			      u32 *len, enum classify_reason *reason);

/*
 * Checksums that the file system has of its data. Ask right after classifier_write() or
 * classifier_is_data() said that the sector is, or may be, data. Whoever drops the data has to keep
 * its checksum.
 */
enum classify_sums {
	CLASSIFY_SUMS_NONE,
	CLASSIFY_SUMS_CRC32C,	/* btrfs: crc32c of each 4 KiB, counted from the disk's start */
	CLASSIFY_SUMS_OTHER,	/* btrfs: another kind, other units, or not known yet */
};

enum classify_sums classifier_sums(struct classifier *c, u64 sector);

/* The first sector of the file system that covers @sector, or @sector. */
u64 classifier_volume(struct classifier *c, u64 sector);

/* Has a volume's kind checksums? Otherwise classifier_sums() returns CLASSIFY_SUMS_NONE. */
static inline bool classifier_has_sums(const struct classifier *c)
{
	return c->volumes.had_csums;
}

/* The sectors are discarded or zeroed, without a write. */
void classifier_discard(struct classifier *c, u64 sector, u64 sectors);

/*
 * The disk's user read the sectors; the result does not matter. After classifier_by_super(), reads
 * of superblocks and logs show who is at work.
 */
void classifier_looked(struct classifier *c, u64 sector, u64 sectors);

/*
 * The file system that begins at sector @start is in @state from now on. VOLUME_MOUNTED: mounted
 * read-write, and log recovery is over.
 */
void classifier_mount(struct classifier *c, u64 start, enum volume_state state);

/*
 * Nobody will call classifier_mount(): infer the mount state from reads and writes. An ext with a
 * journal marks its superblock as needing recovery when the recovery of its mount is over, and
 * removes the mark when it is unmounted. Repair tools remove the mark before they write. For btrfs
 * and xfs see selfid-volume.h. Other file systems count as not mounted. Looks for a volume at
 * sector 0.
 */
void classifier_by_super(struct classifier *c);

/* From now on find only volumes that begin at sector 0. */
void classifier_only_whole(struct classifier *c);

/* After classifier_only_whole(), with no volume known, writes from here on may be skipped. */
#define CLASSIFIER_SUPERS_END	136u

/*
 * Find a run of sectors with blocks that were undecided when they were written and turned out to be
 * data. Returns false if there is none. True with *sectors 0 means: call again, the search goes on.
 * For each block of the store in the run, the caller takes the lock that excludes writes to the
 * block, asks classifier_is_data(), drops the content, and calls classifier_done(). A block that
 * was written since is not data.
 */
bool classifier_claim(struct classifier *c, u64 *sector, u32 *sectors);
bool classifier_is_data(struct classifier *c, u64 sector, u32 sectors);
void classifier_done(struct classifier *c, u64 sector, u32 sectors);

/*
 * Call every few seconds while undecided_any(). It makes the classifier look at inodes again, as
 * blocks may have been written after the inodes that map them were looked at.
 */
void classifier_again(struct classifier *c);

/*
 * What was just written to these sectors is kept for a reason that the classifier does not know. It
 * stays kept, even if an inode maps it.
 */
void classifier_kept(struct classifier *c, u64 sector, u64 sectors);

/* Bytes of zeroed memory that are needed next; 0: none. */
size_t classifier_memory(struct classifier *c);

/*
 * Hand over @memory, of the size that classifier_memory() returned. Returns memory for the caller
 * to free, or NULL.
 */
void *classifier_give(struct classifier *c, void *memory, size_t bytes);

/*
 * What to read next, at most CLASSIFIER_BLOCK bytes; false: nothing. After each true the caller
 * calls classifier_learn() once, with the same sector, and with NULL if it could not be read. A
 * fill reads as its words. A squashed block counts as not readable.
 */
bool classifier_want(struct classifier *c, u64 *sector, u32 *bytes);
void classifier_learn(struct classifier *c, u64 sector, const void *content);

/*
 * How many files are known to be chosen by name. *@full: there is no room for more, so every file
 * counts as chosen.
 */
u64 classifier_named(const struct classifier *c, bool *full);

/* Bytes of memory given and in use, but for classifier_shared_bytes(). */
size_t classifier_bytes(const struct classifier *c);

#endif
