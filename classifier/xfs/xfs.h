/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verdict on writes to one mounted xfs of version 5.
 *
 * Each metadata buffer of version 5 has the file system's uuid at one of a few offsets near its
 * beginning. Allocation group headers and the internal log are known by their place. So the
 * superblock is enough: nothing else has to be read, and earlier writes do not matter.
 *
 * Two kinds of metadata have no uuid:
 *
 *   - Realtime bitmap and summary. A file system with a realtime section is kept completely.
 *   - The later blocks of a directory block that is larger than a file-system block. mkfs makes
 *     such a file system with -n size=, and for blocks below 4 KiB. If free space is scattered, the
 *     directory block lies in several segments (xfs_da_grow_inode_int()), and the later ones have
 *     nothing that identifies them. In such a file system a block without uuid is data only if
 *     the log has no change of a directory to it (xfs-log.h), and the store does not hold it.
 *     The superblock must also have a feature that keeps out kernels before 5.5. Those write stale
 *     memory home where a new directory block has had no change, which neither of the two shows.
 *
 * Portable; the caller serialises.
 */
#ifndef CLASSIFIER_XFS_H
#define CLASSIFIER_XFS_H

#include "../selfid.h"
#include "xfs-log.h"

#define XFS_SUPER_BYTES		512	/* at least; in the first sector of the volume */
#define XFS_MAGIC		0x58465342	/* "XFSB", big-endian, at byte 0 */
#define XFS_HEAD_BYTES		176	/* the uuid of each header is within so many bytes */

struct xfs_geo {
	u8 uuid[SELFID_UUID];	/* in each metadata block */
	u8 log_uuid[SELFID_UUID];	/* in each log record */
	u64 sectors;
	u64 log_start;		/* sectors; internal log */
	u64 log_sectors;
	u32 ag_sectors;
	u32 ag_header_sectors;
	u32 block_bytes;
	u32 directory_blocks;	/* in a directory block */
	bool cleared;		/* only kernels that clear new directory blocks can mount it */
	bool in_progress;	/* mkfs has not finished */
	const char *unsafe;	/* why all of it has to be kept, or NULL */
};

/*
 * Parse the superblock @super, of sb_sectsize bytes but at most @bytes. The disk has @sectors from
 * the volume's start on. Returns NULL, or what is wrong.
 */
const char *xfs_parse_super(const void *super, u32 bytes, u64 sectors, struct xfs_geo *geo);

/*
 * What a file-system block is that begins with the XFS_HEAD_BYTES at @head. SELFID_DATA: not
 * metadata. *blocks: how many blocks from this one on belong together.
 */
enum selfid_reason xfs_identify(const struct xfs_geo *geo, const void *head, u32 *blocks);

struct xfs_live {
	struct xfs_geo geo;
	struct xfs_geo fresh;		/* being parsed */
	const char *wrong;		/* why everything is kept, or NULL */
	struct selfid_open open;
	enum selfid_sign sign;		/* of the last write; the reader clears it */
	u64 former;			/* sectors before it grew last; 0: it did not */
	u64 errors;
	u8 super[4096];
	/*
	 * classifier_stored(). NULL: not known; then a file system with large directory blocks is
	 * kept completely.
	 */
	bool (*stored)(void *ctx, u64 sector, u32 sectors);
	void *stored_ctx;
	bool pieces_known;		/* the caller knows all segments of directory blocks */
	u64 start;			/* of the volume; ->stored counts from the disk's start */
	u64 asked;			/* sector of the log that is being read, 0: none */
	struct xfs_log log;		/* only with large directory blocks */
};

/*
 * As btrfs_live_init(). @super: the first @bytes of the volume, at least 512. ->stored and
 * ->pieces_known were set before.
 */
const char *xfs_live_init(struct xfs_live *x, const void *super, u32 bytes, u64 sectors);

/*
 * As btrfs_live_write(), but never undecided. Sectors behind ->geo.sectors are kept. A write of the
 * superblock, of one of its copies or of the log may change ->geo.sectors; then the caller resizes
 * the volume.
 */
enum verdict xfs_live_write(struct xfs_live *x, const struct selfid_request *r, u32 pos, u32 *len,
			    enum selfid_reason *reason);

/*
 * The driver has said that the volume has @sectors, in another way than by the superblock itself.
 * If that is less, the rest may belong to somebody else at once. Ignored if the log does not fit.
 */
void xfs_live_resize(struct xfs_live *x, u64 sectors);

/* A mount begins. */
void xfs_live_mount(struct xfs_live *x);

/* As classifier_memory() and classifier_give(), for the log set. */
size_t xfs_live_memory(const struct xfs_live *x, size_t limit);
void *xfs_live_give(struct xfs_live *x, void *memory, size_t bytes);
size_t xfs_live_bytes(const struct xfs_live *x);

/* As classifier_want() and classifier_learn(). *sector counts from the volume's start. */
bool xfs_live_want(struct xfs_live *x, u64 *sector, u32 *bytes);
void xfs_live_learn(struct xfs_live *x, u64 sector, const void *content);

/* Is there something to read, or is memory needed? @limit: as for xfs_live_memory(). */
static inline bool xfs_live_wants_work(const struct xfs_live *x, size_t limit)
{
	return unlikely(x->geo.directory_blocks > 1) &&
	       (x->log.look || xfs_live_memory(x, limit));
}

#endif
