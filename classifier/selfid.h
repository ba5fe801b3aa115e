/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the file systems whose metadata names itself (btrfs.h, xfs.h) have in
 * common.
 *
 * A metadata block of theirs carries in its first bytes the file system's uuid
 * and may be several blocks of the disk long. It occupies a slot: so many
 * sectors, aligned to as many. A slot's first sector tells what the whole slot
 * is, if the sector is seen. The uuid alone decides: checksums and addresses
 * are not looked at, as a damaged or copied block is better kept.
 *
 * A request holds whole slots as long as nothing between the file system and
 * this disk divides its requests. Where something does, a slot's later parts
 * may come by themselves. Those behind a header are remembered here; those
 * in front of it have to be decided by their place, or kept.
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
	SELFID_UNSAFE,		/* keep: this file system cannot be decided about */
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
	SELFID_NAMED,		/* keep: xfs, uuid where a header has it, unknown magic number */
	SELFID_TREE,		/* keep: btrfs tree block */
	SELFID_CHUNK,		/* keep: in a btrfs chunk of metadata */
	SELFID_CACHE,		/* keep: btrfs free-space cache, version 1 */
	SELFID_REST,		/* keep: behind a header that came in an earlier request */
	SELFID_PACKED,		/* keep: may be part of a compressed btrfs extent */
	SELFID_UNREAD,		/* keep: xfs, what the log says is not known yet */
	SELFID_LOGGED,		/* keep: xfs, the log has a change to it */
	SELFID_STORED,		/* keep: xfs, no name, but overwrites what was kept */
	SELFID_PART,		/* undecided or keep: slot's beginning not seen; another xfs's */
	SELFID_DATA,		/* squash: no header, or by its place */
	SELFID_REASONS
};

const char *selfid_reason_name(enum selfid_reason reason);

/*
 * What a write told of the mount. While a file system is mounted nobody else
 * writes to its disk, and what carries none of its names is data. While it is
 * not, that may be another file system on its way to take the place. So
 * whoever wants to know who is at work watches for these, and for reads: see
 * selfid-volume.c.
 */
enum selfid_sign {
	SELFID_NO_SIGN,
	SELFID_AT_WORK,		/* a write that only those make who mount it, or know it as well */
	SELFID_AT_REST,		/* unmounted, frozen or read-only from now on */
};

/* A request, or that part of it which concerns the volume. */
struct selfid_request {
	u64 sector;
	u32 sectors;
	/* Copy @len bytes at byte @offset of the content to @to. Must not fail. */
	void (*copy)(void *ctx, u32 offset, void *to, u32 len);
	void *ctx;
};

/* Headers seen lately of which the rest has not come. */
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

/* Sectors from @sector on that do, at most @sectors: 0 if none. */
u32 selfid_open_take(struct selfid_open *o, u64 sector, u32 sectors);

/* What was remembered of these sectors is over: a slot begins anew there. */
void selfid_open_end(struct selfid_open *o, u64 sector, u32 sectors);

static inline void selfid_copy(const struct selfid_request *r, u32 pos, void *to, u32 bytes)
{
	r->copy(r->ctx, pos << 9, to, bytes);
}

#endif
