/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Implicit classification of one disk: verdicts on writes from nothing but the
 * writes themselves, the mount state, and blocks read back from the store.
 *
 * The kernel target and the offline tool both call this. The caller owns all
 * I/O and all memory:
 *
 *   on each write    classifier_write(), left to right over the request; reads
 *                    a block's content only where it may teach something
 *   in a worker,     while classifier_memory() or classifier_want() has something:
 *   when             allocate, or read from the store, without the lock; then
 *   ->pending        classifier_give() or classifier_learn() under it
 *   as well          classifier_claim(), and classifier_is_data() and _done() on what it
 *                    tells: blocks that were undecided when written, and are data
 *   when it changes  classifier_mount()
 *
 * The safe side is KEEP, everywhere: no volume known there, not mounted or not
 * known to be, something not learned yet, memory not given yet, a journal not
 * seen from its beginning, a format that is not understood. What was learned
 * about a volume is thrown away when blocks that it came from are written
 * while it is not mounted.
 *
 * A block found to be one repeated word is stored as that word by the caller,
 * whatever the verdict: so writes of zeros (lazy inode table initialisation)
 * need no care here.
 *
 * Sectors are of 512 bytes and count from the disk's start. Portable, any
 * context; the caller serialises all calls on one classifier. Nothing here
 * allocates or sleeps, or loops over more than a block, the log set or the volumes.
 */
#ifndef CLASSIFIER_CLASSIFIER_H
#define CLASSIFIER_CLASSIFIER_H

#include "assoc.h"
#include "verdict.h"
#include "volume.h"

#define CLASSIFIER_BLOCK	4096	/* largest file system block that is understood */
#define CLASSIFIER_PROBES	8
#define CLASSIFIER_LOOKS	2	/* blocks in which a volume's superblock may be */

/* Why a verdict was given. */
enum classify_reason {
	REASON_NO_VOLUME,	/* keep: no file system known there */
	REASON_UNMOUNTED,	/* keep: not mounted read-write, or not known to be */
	REASON_UNPLACED,	/* keep: not known that the file system reaches there */
	REASON_LEARNING,	/* keep: layout or journal not known completely (yet) */
	REASON_UNSAFE,	/* keep: this file system cannot be decided about */
	REASON_UNJOURNALED,	/* keep: mounted, but its journal is not in use */
	REASON_STATIC,	/* keep: metadata by its place */
	REASON_JOURNAL,	/* keep: journal */
	REASON_LOGGED,	/* keep: in the journal's log */
	REASON_UNLOGGED,	/* squash: not in the journal's log */
	REASON_LOOKS,		/* keep: its content may be metadata */
	REASON_UNDECIDED,	/* kept for now: an inode, or the next commit, has to tell */
	REASON_NAMED,		/* keep: carries its file system's name, or is part of what does */
	REASON_STORED,	/* keep: no name, but overwrites what was kept */
	REASON_PART,		/* keep: may be part of what does */
	REASON_PACKED,	/* keep: data that may be compressed: not made up */
	REASON_UNNAMED,	/* squash: carries no name, and all metadata of this kind does */
	REASON_NR
};

const char *classify_reason_name(enum classify_reason reason);

/* Copy @len bytes at byte @offset of the request's content to @to. Must not fail. */
typedef void (*classify_copy_fn)(void *ctx, u32 offset, void *to, u32 len);

struct classify_write {
	u64 sector;
	u32 sectors;
	bool fua;		/* it is on the disk when it is done */
	classify_copy_fn copy;
	void *ctx;
};

/* Whose content is kept by choice. All are functions of what the caller knows at that time. */
struct classify_choice {
	/* Is inode @ino of the volume at sector @start chosen? */
	bool (*inode)(void *ctx, u64 start, u32 ino);
	/* A file of that name? */
	bool (*suffix)(void *ctx, const char *name, u32 len);
	/* The next chosen directory behind inode @after; 0: no more. */
	u32 (*next_dir)(void *ctx, u64 start, u32 after);
	void *ctx;
};

struct classifier {
	u64 sectors;			/* of the disk */
	size_t log_limit;		/* bytes of one volume's log set, at most */
	bool pending;			/* the worker is wanted */
	bool by_super;			/* superblocks say what is mounted: classifier_by_super() */
	bool strict;			/* classifier_alone() */
	u64 flushes;			/* so far */
	bool table_wanted;		/* of partitions */
	bool (*stored)(void *ctx, u64 sector, u32 sectors);	/* classifier_stored() */
	void *stored_ctx;
	u64 last_start;			/* volumes that begin behind it are not looked for */
	struct volume_table volumes;

	/* superblocks to read, because something was mounted there */
	struct {
		u64 start;
		enum volume_state state;
		unsigned int asked;	/* blocks, of CLASSIFIER_LOOKS */
	} probe[CLASSIFIER_PROBES];
	unsigned int probes;

	struct undecided undecided;
	struct assoc assoc;
	struct classify_choice choice;	/* classifier_choose() */
	bool by_inode, by_name, by_suffix;	/* likewise */
	enum classify_reader {
		CLASSIFY_READS_LIVE,
		CLASSIFY_READS_LAYOUT,
		CLASSIFY_READS_ASSOC,
		CLASSIFY_READS_NAMES,
		CLASSIFY_READS_TABLE,
	} reading;			/* who wanted what is being read */
	struct btrfs_live *reader;	/* whose chunk tree is being read */
	u64 reader_sector;
	union {				/* a superblock being parsed */
		struct btrfs_geo btrfs;
		struct xfs_geo xfs;
	} fresh;

	/*
	 * The superblock of btrfs or xfs that waits for its volume's memory. Not read again
	 * then: it may still be on its way, as reads and writes are in no order.
	 */
	struct {
		u64 start;		/* the volume's */
		u32 bytes;		/* 0: none */
		u64 content[CLASSIFIER_BLOCK / 8];
	} held;

	u64 count[REASON_NR];	/* sectors by reason */
	u64 errors;			/* superblocks and such that made no sense */
	u64 block[CLASSIFIER_BLOCK / 8];	/* one block's content, for a moment */
};

/*
 * Begin on a disk of which nothing is known. @log_limit: bytes that the log
 * set of one volume may take, at least LOGSET_MIN_BYTES; 8 bytes a block of
 * the journal always suffice twice over. Past it everything is kept until the
 * journal's tail has moved on.
 */
void classifier_init(struct classifier *c, u64 sectors, size_t log_limit);

/*
 * Blocks that nothing decides about at once may be remembered, up to @bytes of
 * content, until an inode tells what they are. Before the first write. Without
 * this call, or with 0, they stay kept.
 */
void classifier_remember(struct classifier *c, u64 bytes);

/*
 * @stored tells whether the caller's store holds any of these sectors other than as one
 * repeated word, now. An xfs with large directory blocks needs it (xfs-log.h); without it
 * such a one is kept whole. Before the first write.
 */
void classifier_stored(struct classifier *c, bool (*stored)(void *ctx, u64 sector, u32 sectors),
		       void *ctx);

/*
 * Nobody else objects where the classifier says data. So it does not take for granted what the
 * disk cannot tell: that the order of writes is kept, that a file system's driver is the only one
 * that writes to it, and that it lies in one piece (trust.h, placed.h). With a journal
 * place and content have a say, too. Needs classifier_flush(). Before the first write.
 */
void classifier_alone(struct classifier *c);

/* The disk was flushed. */
void classifier_flush(struct classifier *c);

/*
 * Some files of ext are chosen to be kept. While ->by_inode is set, which the caller does when
 * there are any, no block is called data when it is written: with a journal that has only
 * metadata it is undecided, whatever its content, until an inode that was written
 * after it and is not chosen maps it; everything else is kept. ->by_name: among them are
 * directories with all that is below them, or (->by_suffix, too) files with certain names
 * (ext-names.h). Before the first write.
 */
void classifier_choose(struct classifier *c, const struct classify_choice *choice);

/* More is chosen than before, or those three are set otherwise. */
void classifier_chosen_more(struct classifier *c);

/* Other files are chosen: what is undecided now stays kept, as it may have been one's that was. */
void classifier_chosen_anew(struct classifier *c);

/* Free with @release all memory that was given. */
void classifier_destroy(struct classifier *c, void (*release)(const void *));

/*
 * The verdict on the part of @w that begins @pos sectors from its start; *len
 * becomes the length of that part in sectors (never more than a file-system
 * block where one is known). Call with pos = 0, then pos += *len up to
 * w->sectors: also learns from what it passes. A block of the store that has
 * parts with several verdicts is kept if one of them is.
 */
enum verdict classifier_write(struct classifier *c, const struct classify_write *w, u32 pos,
			      u32 *len, enum classify_reason *reason);

/*
 * What the file system knows of its data, at a sector of which classifier_write() or
 * classifier_is_data() just said that it is or may be data. Whoever drops that has to keep it.
 */
enum classify_sums {
	CLASSIFY_SUMS_NONE,	/* nothing */
	CLASSIFY_SUMS_CRC32C,	/* btrfs: of each 4 KiB, counted from the disk's start */
	CLASSIFY_SUMS_OTHER,	/* btrfs: something else, or of other pieces, or not known yet */
};

enum classify_sums classifier_sums(struct classifier *c, u64 sector);

/* The first sector of the file system that covers @sector, or @sector. */
u64 classifier_volume(struct classifier *c, u64 sector);

/* May classifier_sums() return anything but CLASSIFY_SUMS_NONE? Without a btrfs it does not. */
static inline bool classifier_has_sums(const struct classifier *c)
{
	return c->volumes.had_btrfs;
}

/* The sectors are discarded or zeroed, without a write. */
void classifier_discard(struct classifier *c, u64 sector, u64 sectors);

/*
 * Somebody else than classifier_want() read the sectors, with whatever result:
 * with classifier_by_super() that may tell who is at work.
 */
void classifier_looked(struct classifier *c, u64 sector, u64 sectors);

/*
 * The file system that begins at sector @start is now mounted read-write
 * (VOLUME_MOUNTED: since log recovery is over), read-only, not mounted, or
 * nobody knows.
 */
void classifier_mount(struct classifier *c, u64 start, enum volume_state state);

/*
 * Nobody will say what is mounted: take it from what is seen. A journaling ext
 * marks its superblock as needing recovery from the end of its mount's recovery
 * to its unmount, and repair tools take the mark away before they write. For
 * btrfs and xfs see selfid-volume.h. Others count as not mounted. A volume that
 * begins at sector 0 is looked for.
 */
void classifier_by_super(struct classifier *c);

/* From now on find only volumes that begin at sector 0. */
void classifier_only_whole(struct classifier *c);

/* After classifier_only_whole(), with no volume known, writes from here on may be skipped. */
#define CLASSIFIER_SUPERS_END	(BTRFS_SUPER_SECTOR + 8)

/*
 * A run of sectors in which there are blocks that were undecided when they were
 * written and are found to be data. False if there is none. True with *sectors 0: call
 * again, the search goes on. The caller asks
 * classifier_is_data() about each block of the store in it, under the lock
 * that keeps writes to that block from going on, then drops its content, and
 * says classifier_done(). What was written since is no longer data.
 */
bool classifier_claim(struct classifier *c, u64 *sector, u32 *sectors);
bool classifier_is_data(struct classifier *c, u64 sector, u32 sectors);
void classifier_done(struct classifier *c, u64 sector, u32 sectors);

/*
 * To be called every few seconds while undecided_any(): blocks may have been
 * written after the inodes that tell of them were looked at.
 */
void classifier_again(struct classifier *c);

/*
 * What was just written to these sectors is kept for a reason that the
 * classifier does not know of: it stays kept, whatever inodes tell of it.
 */
void classifier_kept(struct classifier *c, u64 sector, u64 sectors);

/* Bytes of zeroed memory wanted next, 0: none. */
size_t classifier_memory(struct classifier *c);

/* @memory of exactly the size wanted. Returns memory that is no longer needed, or NULL. */
void *classifier_give(struct classifier *c, void *memory, size_t bytes);

/*
 * What to read next: false if nothing. @bytes is at most CLASSIFIER_BLOCK.
 * Every true is answered by one classifier_learn() with the same sector, with
 * NULL if it could not be read. Read as the disk's user would: fills count as
 * what they are; a block that was squashed counts as not readable.
 */
bool classifier_want(struct classifier *c, u64 *sector, u32 *bytes);
void classifier_learn(struct classifier *c, u64 sector, const void *content);

/* Files known to be chosen by name, and if there are more than there is room for: then all are. */
u64 classifier_named(const struct classifier *c, bool *full);

/* Bytes of memory given and in use. */
size_t classifier_bytes(const struct classifier *c);

#endif
