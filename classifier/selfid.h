/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What btrfs and xfs have in common: their metadata blocks name themselves (btrfs.h, xfs.h).
 *
 * Each metadata block has the file system's uuid in its first bytes. It may be several disk blocks
 * long. It fills a slot: n sectors, aligned to n sectors. The first sector of a slot shows what the
 * whole slot is. The uuid alone decides. Checksums and addresses are ignored, because a damaged or
 * copied block is better kept.
 *
 * If no layer between the file system and this disk splits requests, a request has whole slots. If
 * a layer does, the later parts of a slot may come in requests of their own. Parts that come after
 * their header are remembered here. Parts that come before it are decided by their place, or kept.
 *
 * Portable, any context; the caller serialises. Sectors are of 512 bytes and
 * count from the volume's start.
 */
#ifndef CLASSIFIER_SELFID_H
#define CLASSIFIER_SELFID_H

#include "verdict.h"

#define SELFID_UUID	16
#define SELFID_OPEN	16

/* Why a verdict was given. */
enum selfid_reason {
	SELFID_UNSAFE,		/* keep: a feature of this file system is not understood */
	SELFID_SUPER,		/* keep: superblock, or reserved beside it */
	SELFID_BEYOND,		/* keep: behind the file system's end */
	SELFID_LOG,		/* keep: xfs log */
	SELFID_AG,		/* keep: xfs allocation group header */
	SELFID_BTREE,		/* keep: xfs btree block */
	SELFID_DIRECTORY,	/* keep: xfs directory, or node of one */
	SELFID_ATTR,		/* keep: xfs attribute leaf or remote value */
	SELFID_SYMLINK,		/* keep: xfs remote symbolic link */
	SELFID_DQUOT,		/* keep: xfs quota */
	SELFID_INODE,		/* keep: xfs inodes */
	SELFID_NAMED,		/* keep: xfs, uuid at a header's offset, unknown magic number */
	SELFID_TREE,		/* keep: btrfs tree block */
	SELFID_CHUNK,		/* keep: in a btrfs chunk of metadata */
	SELFID_CACHE,		/* keep: btrfs free-space cache, version 1 */
	SELFID_REST,		/* keep: its header came in an earlier request */
	SELFID_COMPRESSED,	/* keep: may be part of a compressed btrfs extent; `packed` */
	SELFID_UNREAD,		/* keep: xfs, the log is not read yet */
	SELFID_LOGGED,		/* keep: xfs, the log has a change to it */
	SELFID_STORED,		/* keep: xfs, no uuid, but it overwrites a block that was kept */
	SELFID_PART,		/* undecided or keep: slot's first sector not seen; another xfs */
	SELFID_DATA,		/* squash: no header, or data by its place */
	SELFID_REASONS
};

const char *selfid_reason_name(enum selfid_reason reason);

/*
 * What a write shows about the mount state. While a file system is mounted, nobody else writes to
 * its disk, so a block without its uuid is data. While it is not mounted, such a block may belong
 * to another file system that is being made there. selfid-volume.c infers the mount state from
 * these signs, and from reads.
 */
enum selfid_sign {
	SELFID_NO_SIGN,
	SELFID_AT_WORK,		/* only a driver that has it mounted writes this */
	SELFID_AT_REST,		/* from now on unmounted, frozen or read-only */
};

/* A request, or the part of it that lies in the volume. */
struct selfid_request {
	u64 sector;
	u32 sectors;
	/* Copy @len bytes at byte @offset of the content to @to. Must not fail. */
	void (*copy)(void *ctx, u32 offset, void *to, u32 len);
	void *ctx;
};

/* Slots whose header was seen lately and whose rest has not come yet. */
struct selfid_open {
	struct {
		u64 start;
		u64 end;	/* 0: free */
	} slot[SELFID_OPEN];
	unsigned int next;
	unsigned int used;
};

/* [@start, @end) belongs to a header in front of it. */
void selfid_open_add(struct selfid_open *o, u64 start, u64 end);

/* How many of the @sectors from @sector on belong to such a header. */
u32 selfid_open_take(struct selfid_open *o, u64 sector, u32 sectors);

/* Another slot begins in these sectors: forget what was remembered of them. */
void selfid_open_end(struct selfid_open *o, u64 sector, u32 sectors);

static inline void selfid_copy(const struct selfid_request *r, u32 pos, void *to, u32 bytes)
{
	r->copy(r->ctx, pos << 9, to, bytes);
}

#endif
