/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log snooping: which blocks of directories the internal log of a live xfs has changes to.
 *
 * A directory block of several file-system blocks may lie in several segments, and only the first
 * has a header. But xfs writes a directory buffer home only after the log records with its changes
 * are on the disk, and the log's tail does not pass them before it is home. A buffer's item in the
 * log begins with its place and length (xfs_buf_log_format); there is one for each segment with
 * changes. So while xfs_log_complete(), a block without xfs_log_has() belongs to no changed segment
 * of a directory.
 *
 * A segment without changes is written home with the others, but the log does not name it. Its
 * content is what it was before. So if it is not one repeated word, the store has it. For that
 * reason a write that overwrites a stored block is kept.
 *
 * The log is parsed as a stream of sectors, while they are written:
 *
 *   - A record header. It has the first word of each sector of the record; the sectors themselves
 *     have the cycle's number in place of it.
 *   - Operations with their headers, and regions. A later record may continue a region. Regions
 *     that are no buffer format are skipped.
 *
 * Transactions are not told apart, and need not commit, because a block too many in the set only
 * keeps more. For the same reason a cancelled buffer is not removed.
 *
 * Records come in any order, as many as the file system has buffers. A record comes in one request,
 * or in several in order, and those of other records may come between them. (A server's page cache
 * may be written while a record is still being copied to it.) If a record is missing, the records
 * behind it belong to no transaction that is on the disk.
 *
 * From a mount on, the set is incomplete until a record shows that everything logged before the
 * mount's first record is home. It is complete at once if the log was seen to end with the record
 * of an unmount. It is also complete if the mount has cleared the sectors behind the log's end, and
 * the sectors in front of these, which are read back, end with such a record. The set is
 * incomplete, too, after something in the log was not understood or found no room. Then two records
 * have to show it, as a transaction may have been under way.
 *
 * Sectors are of 512 bytes. A sector's position counts from the beginning of cycle 0: cycle *
 * sectors of the log + place in the log. Portable, any context; the caller serialises. A sector
 * costs its operations, at most 42.
 */
#ifndef CLASSIFIER_XFS_LOG_H
#define CLASSIFIER_XFS_LOG_H

#include "../logset.h"
#include "../selfid.h"

#define XFS_LOG_MAGIC		0xfeedbabeu
#define XFS_LOG_CLIENT		0xaa
#define XFS_LOG_UNMOUNT		0x20
#define XFS_LOG_HEADER_BYTES	32768	/* of a record for each sector of header */

#define XFS_LOG_CYCLES		64	/* first words of sectors in each sector of header */
#define XFS_LOG_RECORD_SECTORS	512u	/* most sectors of content of a record */
#define XFS_LOG_REMEMBERED	8	/* sectors that a page cache may write again */
#define XFS_LOG_AHEAD		(8 * (512 + 8))	/* sectors that may come out of order */
#define XFS_LOG_RUNS		8	/* runs of these */
#define XFS_LOG_BESIDE		4	/* records whose sectors may come in turns */
#define XFS_LOG_PARTS		16	/* formats that were cut off at a record's end */
#define XFS_LOG_FORMAT_BYTES	16	/* first bytes of a format: the place of the buffer */

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
	__be32 cycle_data[XFS_LOG_CYCLES];
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
	u64 formats;		/* buffers named that are, or may be parts of, directory blocks */
	u64 bad;		/* records and operations that make no sense */
	u64 missed;		/* how often the stream was lost, or there was no room */
};

/* The part of a format that one record has. Another record has the rest. */
struct xfs_log_part {
	bool used;
	u32 id;			/* of the transaction */
	u64 at;			/* position of the record */
	u32 bytes;
	u8 format[XFS_LOG_FORMAT_BYTES];
};

/* A record whose sectors have not all come. */
struct xfs_log_record {
	u64 start;		/* position */
	u32 headers;		/* sectors of header, 0: no record is being read */
	u32 content;		/* sectors of content */
	u32 at;			/* sectors read */
	u32 operations;		/* how many more may be looked at */
	bool unmount;		/* it has the operation of an unmount */
	__be32 first_word[XFS_LOG_RECORD_SECTORS];

	/* The operation that is being read. */
	u8 operation[12];
	u32 operation_bytes;	/* bytes of @operation so far */
	u32 left;		/* bytes of its region still to come */
	u32 id;			/* of the transaction */
	bool continued;		/* its region goes on in another record */
	bool wanted;		/* its region may be a format */
	bool rest;		/* its region may be the rest of a format that is still to come */
	u8 format[XFS_LOG_FORMAT_BYTES];
	u32 format_bytes;	/* bytes of @format so far */
};

struct xfs_log {
	struct xfs_log_geo geo;

	bool joined;		/* ->head is the sector behind the one read last */
	bool complete;
	bool at_rest;		/* the last record was that of an unmount */
	bool fresh;		/* joined at a mount: no transaction was under way */
	u8 proofs;		/* so many more records have to show that the set is complete */
	u32 head_block, head_cycle;
	u64 base;		/* position at which it was joined */
	u64 seen;		/* position: all sectors from ->base to here were read */
	struct {
		u64 start, end;	/* positions: these sectors were read, too; 0, 0: free */
	} run[XFS_LOG_RUNS];
	u64 highest;		/* position of the newest record so far */
	u64 complete_from;	/* position: all records from here on were seen */
	u64 tail;		/* position, from the newest record */
	u64 expired;		/* the tail by which the set was expired last */
	u64 cleared;		/* the tail in the sectors that the last mount cleared */
	bool look;		/* the sectors in front of these are to be read */
	u32 end_block, end_cycle;	/* the first sector that was cleared */

	struct xfs_log_record now;	/* the record that is being read */
	struct {
		struct xfs_log_record record;	/* ->headers 0: free */
		u32 block, cycle;		/* of its next sector */
	} paused[XFS_LOG_BESIDE];		/* one is always free, for swapping with @now */

	struct xfs_log_part first[XFS_LOG_PARTS];	/* beginnings; the rest is to come */
	struct xfs_log_part rests[XFS_LOG_PARTS];	/* rests; the beginning is to come */

	struct logset set;	/* of file-system blocks */
	struct xfs_log_counters count;
	u8 last[XFS_LOG_REMEMBERED][512];	/* the sectors before ->head, at place % 8 */
};

/* Start with a log of which nothing is known. Keeps memory that was given. */
void xfs_log_init(struct xfs_log *l, const struct xfs_log_geo *geo);

/* The sector at @place of the log is written. */
void xfs_log_write(struct xfs_log *l, u32 place, const void *sector);

/* A mount begins. It may recover the log, unless the log was seen to be at rest. */
void xfs_log_mount(struct xfs_log *l);

/*
 * What to read: *sectors of the log from *place on, at most XFS_LOG_REMEMBERED. False: nothing.
 * After each true call xfs_log_learn(), with NULL if the sectors could not be read.
 */
bool xfs_log_want(struct xfs_log *l, u32 *place, u32 *sectors);
void xfs_log_learn(struct xfs_log *l, const void *content);

/* Has a block that is not in the set certainly no logged change? */
static inline bool xfs_log_complete(const struct xfs_log *l)
{
	return l->complete;
}

static inline bool xfs_log_has(const struct xfs_log *l, u64 block)
{
	return logset_has(&l->set, block);
}

/* Sectors of the record's header. */
static inline u32 xfs_log_headers(const struct xfs_log_header *h)
{
	return max(DIV_ROUND_UP(be32_to_cpu(h->size), XFS_LOG_HEADER_BYTES), 1u);
}

#endif
