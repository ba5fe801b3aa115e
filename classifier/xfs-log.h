/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log snooping: what the internal log of a live xfs says about blocks elsewhere.
 *
 * A directory block of several file-system blocks may lie in several places, of
 * which only the first has a header. But xfs writes no directory buffer home
 * before the log records that hold its changes are on the disk, and the log's
 * tail stays in front of them until it is home. A buffer's item in the log
 * begins with its place and length (xfs_buf_log_format), one for each place of a
 * buffer in pieces that has changes. So while xfs_log_complete() is true, a
 * block that xfs_log_has() not is part of no changed directory block.
 *
 * A piece without changes is not named, and is written home with the others.
 * Its content is what it was, so if that is not one repeated word it is what the
 * store holds: whoever squashes has to keep what overwrites a stored block.
 *
 * The log is read as a stream of sectors, as they are written: record header with
 * the first words of all sectors, which the sectors themselves hold the cycle's
 * number in place of; operations with their headers; regions, which may be
 * continued in a later record. What is not a buffer's format is passed over.
 * Transactions need not be told apart or be committed: taking too much only
 * keeps more. Nothing is ever taken out for a cancelled buffer.
 *
 * Records come in any order, as many as the file system has buffers for; each
 * comes in one piece, or its pieces in order, and others may come between some
 * pieces (a server's page cache may be written to the disk while a record is still
 * being copied to it). What is behind one that is missing is of no transaction
 * that is on the disk.
 *
 * It is not complete from a mount on, until a record says that all that was
 * logged before the mount's first record is home: at once where the log was seen
 * to end in the record of an unmount, or, where a mount cleared what is behind its
 * end, the sectors in front of that are read back and do. So, too, after anything that was not
 * understood, or found no room; then two records have to say so, as a transaction
 * may have been under way.
 *
 * Sectors are of 512 bytes. A sector's position counts from the beginning of
 * cycle 0: cycle * sectors of the log + its place. Portable, any context; the
 * caller serialises. A sector costs its operations, at most 42.
 */
#ifndef CLASSIFIER_XFS_LOG_H
#define CLASSIFIER_XFS_LOG_H

#include "logset.h"
#include "selfid.h"

#define XFS_LOG_MAGIC		0xfeedbabeu
#define XFS_LOG_CLIENT		0xaa
#define XFS_LOG_UNMOUNT		0x20
#define XFS_LOG_HEADER_BYTES	32768	/* of a record, for which one sector of header is enough */

#define XFS_LOG_RECORD_SECTORS	512	/* of content, at most */
#define XFS_LOG_REMEMBERED	8	/* sectors that a page cache may write again */
#define XFS_LOG_AHEAD		(8 * (512 + 8))	/* sectors that may come before others */
#define XFS_LOG_RUNS		8	/* of them */
#define XFS_LOG_BESIDE		4	/* records whose sectors may come in turns */
#define XFS_LOG_PARTS		16	/* of formats that a record's end cut off */
#define XFS_LOG_FORMAT_BYTES	16	/* of a format: what says where the buffer is */

/* A record begins with this, in a sector of its own. */
struct xfs_log_header {
	__be32 magic;
	__be32 cycle;
	__be32 version;
	__be32 bytes;
	__be32 lsn_cycle;
	__be32 lsn_block;	/* its own place in the log, in sectors */
	__be32 tail_cycle;
	__be32 tail_block;
	__le32 crc;
	__be32 previous;
	__be32 operations;
	__be32 cycle_data[64];
	__be32 format;
	u8 uuid[SELFID_UUID];
	__be32 size;
} __packed;

struct xfs_log_geo {
	u8 uuid[SELFID_UUID];
	u32 sectors;		/* of the log */
	u32 block_shift;	/* sectors in a file-system block */
};

struct xfs_log_counters {
	u64 records;
	u64 formats;		/* directory blocks, or what may be parts of one, that were named */
	u64 bad;		/* what made no sense */
	u64 missed;		/* times that the stream was lost, or there was no room */
};

/* What one record has of a format that goes on in another one. */
struct xfs_log_part {
	bool used;
	u32 id;			/* of the transaction */
	u64 at;			/* position of the record */
	u32 bytes;
	u8 format[XFS_LOG_FORMAT_BYTES];
};

/* What is known of a record of which not all sectors have come. */
struct xfs_log_record {
	u64 start;		/* position */
	u32 headers;		/* sectors of header, 0: none is being read */
	u32 content;		/* and of content */
	u32 at;			/* sectors read */
	u32 operations;		/* left that are looked at */
	bool unmount;
	__be32 first_word[XFS_LOG_RECORD_SECTORS];

	/* the operation being read */
	u8 operation[12];
	u32 operation_bytes;	/* of it, so far */
	u32 left;		/* bytes of its region */
	u32 id;
	bool continued;		/* its region goes on in another record */
	bool wanted;		/* it may be a format */
	bool rest;		/* it may be the rest of one, whose beginning is still to come */
	u8 format[XFS_LOG_FORMAT_BYTES];
	u32 format_bytes;	/* of it, so far */
};

struct xfs_log {
	struct xfs_log_geo geo;

	bool joined;		/* ->head is what follows the sector read last */
	bool complete;
	bool at_rest;		/* the last record was an unmount's */
	bool fresh;		/* nothing was under way when it was joined: a mount began */
	u8 proofs;		/* records that are wanted to say so before it is complete */
	u32 head_block, head_cycle;
	u64 base;		/* position: where it was joined */
	u64 seen;		/* position: all from ->base to here was read */
	struct {
		u64 start, end;	/* and this; 0, 0: free */
	} run[XFS_LOG_RUNS];
	u64 highest;		/* position of the newest record ever seen */
	u64 complete_from;	/* position: all records from here on were seen */
	u64 tail;		/* position, from the newest record */
	u64 expired;		/* the tail that the set was last cleared by */
	u64 cleared;		/* the tail that the last mount told, in the sectors it cleared */
	bool look;		/* what is in front of these is wanted */
	u32 end_block, end_cycle;	/* the first of them */

	struct xfs_log_record now;	/* the one being read */
	struct {
		struct xfs_log_record record;	/* ->headers 0: free */
		u32 block, cycle;		/* of the sector that it goes on with */
	} paused[XFS_LOG_BESIDE];		/* one of them is free, to change places */

	struct xfs_log_part first[XFS_LOG_PARTS];	/* whose rest is still to come */
	struct xfs_log_part rests[XFS_LOG_PARTS];

	struct logset set;	/* of file-system blocks */
	struct xfs_log_counters count;
	u8 last[XFS_LOG_REMEMBERED][512];	/* the sectors before ->head, at place % 8 */
};

/* Begin on a log of which nothing is known. Keeps the memory given. */
void xfs_log_init(struct xfs_log *l, const struct xfs_log_geo *geo);

/* The sector at @place of the log is written. */
void xfs_log_write(struct xfs_log *l, u32 place, const void *sector);

/* Somebody begins to mount the file system: he may recover it, but if it was seen to be at rest. */
void xfs_log_mount(struct xfs_log *l);

/*
 * What to read, false: nothing: *sectors, at most XFS_LOG_REMEMBERED, of the log from *place on.
 * Each true is answered by xfs_log_learn(), with NULL if they could not be read.
 */
bool xfs_log_want(struct xfs_log *l, u32 *place, u32 *sectors);
void xfs_log_learn(struct xfs_log *l, const void *content);

/* Does a block outside of the set prove that it has no logged change? */
static inline bool xfs_log_complete(const struct xfs_log *l)
{
	return l->complete;
}

static inline bool xfs_log_has(const struct xfs_log *l, u64 block)
{
	return logset_has(&l->set, block);
}

/* Its header needs so many sectors. */
static inline u32 xfs_log_headers(const struct xfs_log_header *h)
{
	return max(DIV_ROUND_UP(be32_to_cpu(h->size), XFS_LOG_HEADER_BYTES), 1u);
}

#endif
