/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One mounted xfs of version 5, as its writes go by.
 *
 * Every metadata buffer of version 5 carries the file system's uuid near its
 * beginning, at one of a few offsets. Allocation group headers and the internal
 * log are known by their place. Nothing has to be learned or read: the
 * superblock is enough, and a verdict holds whatever came before.
 *
 * What has no uuid: realtime bitmap and summary, so a file system that has a
 * realtime section is kept whole. And the later blocks of a directory block that
 * is several file-system blocks large: where free space is scattered, such a
 * directory block is in pieces (xfs_da_grow_inode_int()), and nothing in a piece
 * nor beside it says what it is. mkfs makes such a file system with -n size=, and for
 * blocks below 4 KiB. There, a block without uuid is data only if the log tells of
 * no directory's change to it (xfs-log.h) and the store does not hold it. And only if the
 * superblock has a feature that keeps out kernels before 5.5: they write home what memory held
 * where a new directory block has had no change, so neither of the two knows of it.
 *
 * Portable; the caller serialises.
 */
#ifndef CLASSIFIER_XFS_H
#define CLASSIFIER_XFS_H

#include "selfid.h"
#include "xfs-log.h"

#define XFS_SUPER_BYTES		512	/* the least; it is in the first sector of the volume */
#define XFS_MAGIC		0x58465342	/* "XFSB", big-endian, at byte 0 */
#define XFS_HEAD_BYTES		176	/* what any header's uuid is within */

struct xfs_geo {
	u8 uuid[SELFID_UUID];	/* as metadata carries it */
	u8 log_uuid[SELFID_UUID];	/* as log records do */
	u64 sectors;
	u64 log_start;		/* sectors; internal log */
	u64 log_sectors;
	u32 ag_sectors;
	u32 ag_header_sectors;
	u32 block_bytes;
	u32 directory_blocks;	/* in a directory block */
	bool cleared;		/* only kernels that clear new directory blocks can write to it */
	const char *unsafe;	/* why it cannot be decided about, or NULL */
};

/*
 * Check the superblock @super, of as many bytes as its sb_sectsize says but at
 * most @bytes, on a disk of @sectors from the volume's start on. NULL if it is
 * one, otherwise what is wrong.
 */
const char *xfs_parse_super(const void *super, u32 bytes, u64 sectors, struct xfs_geo *geo);

/*
 * What the file-system block that begins with the XFS_HEAD_BYTES at @head is,
 * SELFID_DATA: no metadata. *blocks: how many blocks belong together.
 */
enum selfid_reason xfs_identify(const struct xfs_geo *geo, const void *head, u32 *blocks);

struct xfs_live {
	struct xfs_geo geo;
	struct xfs_geo fresh;		/* being parsed */
	const char *wrong;		/* keep everything, NULL: nothing wrong */
	struct selfid_open open;
	enum selfid_sign sign;		/* of the last write; whoever looks clears it */
	u64 errors;
	u8 super[4096];
	/*
	 * Is any of these sectors held by the caller's store, other than as one repeated word?
	 * NULL: who knows; then a file system with large directory blocks is kept whole.
	 */
	bool (*stored)(void *ctx, u64 sector, u32 sectors);
	void *stored_ctx;
	bool pieces_known;		/* the caller knows a directory's pieces */
	u64 start;			/* of the volume: ->stored counts from the disk's */
	u64 asked;			/* what is being read of the log, 0: nothing */
	struct xfs_log log;		/* with large directory blocks only */
};

/*
 * As btrfs_live_init(). @super: so many @bytes from the volume's start on, at least 512.
 * ->stored and ->pieces_known were set before.
 */
const char *xfs_live_init(struct xfs_live *x, const void *super, u32 bytes, u64 sectors);

/*
 * As btrfs_live_write(); never undecided. What is behind ->geo.sectors is kept, which may grow
 * here: the caller is to enlarge the volume then.
 */
enum verdict xfs_live_write(struct xfs_live *x, const struct selfid_request *r, u32 pos, u32 *len,
			    enum selfid_reason *reason);

/* Somebody begins to mount it. */
void xfs_live_mount(struct xfs_live *x);

/* As classifier_memory() and classifier_give(): for what the log says. */
size_t xfs_live_memory(const struct xfs_live *x, size_t limit);
void *xfs_live_give(struct xfs_live *x, void *memory, size_t bytes);
size_t xfs_live_bytes(const struct xfs_live *x);

/* As classifier_want() and classifier_learn(). *sector counts from the volume's start. */
bool xfs_live_want(struct xfs_live *x, u64 *sector, u32 *bytes);
void xfs_live_learn(struct xfs_live *x, u64 sector, const void *content);

/* Is there something to read, or memory wanted, of which at most @limit? */
static inline bool xfs_live_wants_work(const struct xfs_live *x, size_t limit)
{
	return unlikely(x->geo.directory_blocks > 1) &&
	       (x->log.look || xfs_live_memory(x, limit));
}

#endif
