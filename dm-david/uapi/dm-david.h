/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * What dm-david tells user space: ioctls on /dev/david.
 *
 * The caller sets the version that it was written for, and the size of the struct that it knows.
 * The kernel answers with its own version, and fills at most that many bytes. Fields are added only
 * at the end: in reserved words of an array, or behind the last field. Any other change raises the
 * version. The kernel refuses another version with EPROTONOSUPPORT, and writes its own into the
 * struct.
 */
#ifndef _UAPI_DM_DAVID_H
#define _UAPI_DM_DAVID_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define DAVID_ABI_VERSION	1
#define DAVID_NAME_LEN		128	/* DM_NAME_LEN */

/* Memory by component: index into david_stats.mem, bytes. */
enum david_mem {
	DAVID_MEM_RANGES,	/* range table: nodes in use and in reserve */
	DAVID_MEM_BITMAP,	/* remap bitmap */
	DAVID_MEM_POOLS,	/* mempools and biosets that guarantee progress */
	DAVID_MEM_TARGET,	/* everything else: targets, counters, content */
	DAVID_MEM_MODEL,	/* the modelled disk, its profile, requests beside it */
	DAVID_MEM_CLASSIFY,	/* what implicit classification has learned */
	DAVID_MEM_CHECKSUMS,	/* checksums of squashed blocks: in memory, and their index */
	DAVID_MEM_NR
};

/* CPU time by component: index into david_stats.cpu, nanoseconds. */
enum david_cpu {
	DAVID_CPU_CLASSIFY,	/* evidence and verdict, search for constant blocks */
	DAVID_CPU_MAP,		/* range table, remap bitmap, range lock */
	DAVID_CPU_CONTENT,	/* making up what reads return */
	DAVID_CPU_IO,		/* requests to the backing device, submission */
	DAVID_CPU_MODEL,	/* the modelled disk, its timer */
	DAVID_CPU_NR
};

/* What became of blocks written: index into david_stats.verdict, blocks. */
enum david_written {
	DAVID_WRITTEN_KEPT,	/* stored on the backing device */
	DAVID_WRITTEN_FILL,	/* constant: an 8-byte word in the range table */
	DAVID_WRITTEN_SQUASHED,	/* content dropped */
	DAVID_WRITTEN_EXACT,	/* data, stored for a while before it is squashed: exact= */
	DAVID_WRITTEN_NR
};

/*
 * Kinds of evidence, a row each: X(KIND, name, what it says of a block). It says KEEP or SQUASH, or
 * NONE, where there is no evidence and the mode alone decides. The enum, the names in status and
 * trace points, and EVIDENCE_DATA of classifier/verdict.h are made from this list. Numbers are what
 * programs know, so a new kind is the last row.
 */
#define DAVID_EVIDENCE(X) \
	X(MODE, mode, NONE)			/* classify=keep or classify=data decided */ \
	X(FLAGS, flags, KEEP)			/* REQ_META, REQ_PRIO or REQ_SWAP */ \
	X(BDEV, bdev, KEEP)			/* page of a block device */ \
	X(DIRECTORY, directory, KEEP)		/* page of a directory or symbolic link */ \
	X(INTERNAL, internal, KEEP)		/* page of a file system's internal inode */ \
	X(UNOWNED, unowned, KEEP)		/* page without an owner (slab, bounce) */ \
	X(UNPROVEN, unproven, KEEP)		/* file system or checksum not known to be safe */ \
	X(UNMOUNTED, unmounted, KEEP)		/* file or anonymous page, not mounted here */ \
	X(FILE, file, SQUASH)			/* page of a regular file mounted here */ \
	X(ANON, anon, SQUASH)			/* anonymous page, mounted here */ \
	X(PARTIAL, partial, KEEP)		/* part of a block whose rest is not data */ \
	X(UNKNOWN, unknown, KEEP)		/* implicit: nothing known for certain there */ \
	X(LAYOUT, layout, KEEP)			/* implicit: metadata or journal by its place */ \
	X(LOGGED, logged, KEEP)			/* implicit: in the journal's log */ \
	X(SELF, self, KEEP)			/* its own content says that it is metadata */ \
	X(IMPLIED, implied, SQUASH)		/* implicit: data, as nothing else is possible */ \
	X(RAW, raw, KEEP)			/* data that a RAW rule names, or may name */ \
	X(MADE_UP, made_up, SQUASH)		/* equals what squashed blocks read as there */

/*
 * Why a block was kept or squashed: index into david_stats.evidence, from DAVID_SLOTS on into
 * david_stats.more_evidence; blocks written.
 */
enum david_evidence {
#define DAVID_EVIDENCE_NUMBER(kind, name, says)	DAVID_EV_##kind,
	DAVID_EVIDENCE(DAVID_EVIDENCE_NUMBER)
#undef DAVID_EVIDENCE_NUMBER
	DAVID_EV_NR
};

/* Kinds of target range: index into david_stats.ranges and .blocks. */
enum david_range {
	DAVID_RANGE_HOLE,	/* never written: counted nowhere, reads as zeros */
	DAVID_RANGE_FILL,
	DAVID_RANGE_SQUASHED,
	DAVID_RANGE_STORED,
	DAVID_RANGE_PACKED,	/* stored, with others in few store blocks */
	DAVID_RANGE_NR
};

/* Requests by kind: index into david_stats.requests and .sectors. */
enum david_request {
	DAVID_REQ_READ,
	DAVID_REQ_WRITE,
	DAVID_REQ_FLUSH,
	DAVID_REQ_DISCARD,
	DAVID_REQ_ZEROES,
	DAVID_REQ_NR
};

enum david_state {
	DAVID_STATE_OK,
	DAVID_STATE_LOW,	/* fewer free store blocks than low_water */
	DAVID_STATE_FULL,	/* a write got ENOSPC since the last time there was room */
	DAVID_STATE_FAILED,	/* the store's log cannot be written: writes get EIO */
};

/* Why it is in the state DAVID_STATE_FAILED. */
enum david_fault {
	DAVID_FAULT_NONE,
	DAVID_FAULT_FLUSH,	/* a flush of the backing device failed: writes may be lost */
	DAVID_FAULT_LOG,	/* a write of the log failed twice */
	DAVID_FAULT_SUPER,	/* a write of the superblock failed twice */
	DAVID_FAULT_ROOM,	/* the log is full, which should be impossible */
};

/* When requests complete. */
enum david_mode {
	DAVID_MODE_SPEEDUP,		/* when their effect on the store is done */
	DAVID_MODE_TIMING_ACCURATE,	/* the same, but not before their modelled completion */
	DAVID_MODE_MODEL_ONLY,		/* when the backing device, which stores all, is done */
};

/* Where the modelled time went: index into david_stats.parts, nanoseconds. */
enum david_part {
	DAVID_PART_OVERHEAD,
	DAVID_PART_SEEK,
	DAVID_PART_ROTATION,
	DAVID_PART_TRANSFER,
	DAVID_PART_FLUSH,	/* until what a flush or FUA needs is on the media */
	DAVID_PART_QUEUED,	/* in the drive, for other work of it */
	DAVID_PART_DIE,	/* of an SSD's read: a die reads */
	DAVID_PART_CHANNEL,	/* the die's channel is waited for, and carries */
	DAVID_PART_MAP,		/* a part of the SSD's map is read */
	DAVID_PART_FAULT,	/* retries, detours, stalls; and more of all, of a slow drive */
	DAVID_PART_NR
};

/*
 * What an SSD did in the modes that have times: index into david_stats.flash. Pages are of 4 KiB,
 * programs and erases are operations of dies.
 */
enum david_flash {
	DAVID_FLASH_HOST_PAGES,	/* that were written, in any mode; of a sample, times its share */
	DAVID_FLASH_MOVED_PAGES,	/* by collection; the same */
	DAVID_FLASH_FOLDED_PAGES,	/* from the SLC cache to native cells; the same */
	DAVID_FLASH_READS,
	DAVID_FLASH_PROGRAMS,
	DAVID_FLASH_SLC_PROGRAMS,	/* of the programs */
	DAVID_FLASH_MAP_PROGRAMS,	/* of the programs: pages of the map */
	DAVID_FLASH_MAP_READS,	/* of pages of the map that were not in memory */
	DAVID_FLASH_ERASES,
	DAVID_FLASH_EMPTY_READS,	/* pages of reads that were never written, or trimmed */
	DAVID_FLASH_BUFFER_READS,	/* parts of reads that the write buffer served */
	DAVID_FLASH_BUFFER_WAITS,	/* writes that waited for room in it */
	DAVID_FLASH_SUSPENDED,	/* programs and erases, for a read */
	DAVID_FLASH_FRESH_PAGES,	/* of HOST_PAGES: nothing had to be collected for them */
	DAVID_FLASH_NR
};

/*
 * Of the disk, what requests in the modes that have times have reached since the message
 * "reach restart", or since its table was loaded: index into david_stats.reach.
 */
enum david_reach {
	DAVID_REACH_FIRST,	/* sector */
	DAVID_REACH_END,	/* behind the last sector; 0: nothing yet */
	DAVID_REACH_PAGES,	/* of 4 KiB, each once. Above some 2000 an estimate: lib/reach.h */
	/* Where all but 1 in 100 at either end went, of those that are not REQ_META; sectors. */
	DAVID_REACH_MOST_FIRST,
	DAVID_REACH_MOST_END,
	DAVID_REACH_NR
};

/*
 * What a shingled drive has taken in and not written home yet: index into david_stats.pending. It
 * is in its media cache, or in its buffer.
 */
enum david_pending {
	DAVID_PENDING_SECTORS,
	DAVID_PENDING_RUNS,	/* in which they lie */
	DAVID_PENDING_NR
};

/* What faults of the modelled drive did: index into david_stats.faults. */
enum david_faults {
	/* Requests that failed: a block was bad, */
	DAVID_FAULTS_MEDIA_READ,
	DAVID_FAULTS_MEDIA_WRITE,	/* ... and was written in part, or no spare one was left */
	DAVID_FAULTS_TIMEOUT,		/* the drive did not answer */
	DAVID_FAULTS_GONE,		/* it was gone */
	/* Commands that took longer; of a drive without an arm requests */
	DAVID_FAULTS_SLOWED,
	DAVID_FAULTS_STALLED,
	DAVID_FAULTS_DETOURS,	/* ways to a spare block */
	DAVID_FAULTS_MOVED,	/* blocks that were moved to a spare one */
	DAVID_FAULTS_NR
};

/*
 * To the zones of a zoned disk: index into david_stats.zones, and up to DAVID_ZONE_TIMED into
 * david_stats.zones_ns.
 */
enum david_zone {
	DAVID_ZONE_OPEN,	/* commands that were done */
	DAVID_ZONE_CLOSE,
	DAVID_ZONE_FINISH,
	DAVID_ZONE_RESET,
	DAVID_ZONE_TIMED,
	DAVID_ZONE_APPEND = DAVID_ZONE_TIMED,
	DAVID_ZONE_OPENED,	/* writes and appends that found their zone not open */
	DAVID_ZONE_REFUSED,	/* by the zone's state, or by a limit */
	DAVID_ZONE_NR
};

/*
 * Blocks that were undecided when they were written, and are kept until an inode decides: index
 * into david_stats.unclassified, blocks.
 */
enum david_unclassified {
	DAVID_UNCLASSIFIED_NOW,
	DAVID_UNCLASSIFIED_MOST,	/* at any time so far */
	DAVID_UNCLASSIFIED_SPILLED,	/* past the limit: kept permanently */
	DAVID_UNCLASSIFIED_DATA,	/* turned out to be data: content dropped */
	DAVID_UNCLASSIFIED_METADATA,	/* turned out to be metadata */
	DAVID_UNCLASSIFIED_NR
};

/* Checksums of squashed blocks: index into david_stats.checksums. */
enum david_sums {
	DAVID_SUMS_BLOCKS,	/* checksums of 4 KiB, entered or read since the start */
	DAVID_SUMS_STORE,	/* store blocks that hold some of them */
	DAVID_SUMS_LOADS,	/* chunks read from the store, so far */
	DAVID_SUMS_EVICTIONS,	/* chunks that left memory */
	DAVID_SUMS_SAVES,	/* chunks written for a flush */
	DAVID_SUMS_NR
};

#define DAVID_SLOTS		16	/* room in each array, for kinds to come */

/*
 * Histograms of times: bucket 0 holds those of less than 1 us, bucket i those
 * of at least 2^(i - 1) us and less than 2^i us, the last one all above, too.
 */
#define DAVID_BUCKETS		32

struct david_stats {
	__u32 version;		/* in and out: DAVID_ABI_VERSION */
	__u32 size;		/* in: sizeof the caller's struct; out: bytes filled */
	char name[DAVID_NAME_LEN];	/* in: device-mapper name, NUL-terminated */
	__u32 state;		/* enum david_state */
	__u32 block_size;	/* bytes */
	__u64 target_sectors;	/* size of the fake disk, 512-byte sectors */
	__u64 store_blocks;	/* backing device, blocks of block_size */
	__u64 store_used;
	__u64 store_low_water;
	__u64 nospc;		/* requests that got ENOSPC */
	__u64 errors;		/* requests failed by the backing device */
	__u64 range_locks;	/* requests that waited for an overlapping one */
	__u64 mem[DAVID_SLOTS];
	__u64 cpu[DAVID_SLOTS];
	__u64 verdict[DAVID_SLOTS];
	__u64 evidence[DAVID_SLOTS];
	__u64 ranges[DAVID_SLOTS];	/* entries in the range table */
	__u64 blocks[DAVID_SLOTS];	/* target blocks in that state now */
	__u64 requests[DAVID_SLOTS];
	__u64 sectors[DAVID_SLOTS];
	/* Times. Those of the model are of requests that it has completed. */
	__u32 mode;		/* enum david_mode */
	__u32 fault;		/* enum david_fault */
	__u64 late[DAVID_BUCKETS];	/* lateness: delivered minus modelled completion */
	__u64 late_50us;	/* requests that were later than 50 us */
	__u64 late_max;		/* ns */
	__u64 late_ns;		/* sum */
	__u64 busy_ns;		/* in which the modelled disk had a request */
	__u64 queue_waits;	/* requests that waited for room in the replica queue */
	__u64 queue_wait_ns;	/* sum; part of the response times */
	__u64 unmodelled;	/* mode=model-only: too many outstanding for the model */
	__u64 hits;		/* commands served from the drive's cache, or taken by it */
	__u64 parts[DAVID_SLOTS];	/* of commands; add up to their times in the drive */
	__u64 modelled[DAVID_SLOTS];	/* requests, by enum david_request */
	__u64 modelled_ns[DAVID_SLOTS];	/* sums of their response times */
	__u64 modelled_times[DAVID_BUCKETS];	/* response times of reads and writes */
	__u64 measured[DAVID_SLOTS];	/* mode=model-only: the backing device's */
	__u64 measured_ns[DAVID_SLOTS];
	__u64 measured_times[DAVID_BUCKETS];
	__u64 checksums[DAVID_SLOTS];
	__u64 exact_blocks;	/* stored now for that reason */
	__u64 exact_limit;	/* how many there may be */
	__u64 more_evidence[DAVID_SLOTS];	/* what has no room in evidence */
	__u64 unclassified[DAVID_SLOTS];	/* classify=implicit */
	__u64 log_retries;	/* writes of the log or the superblock that were tried again */
	__u64 raw_names;	/* classify=implicit: files known to be RAW by name or directory */
	__u64 raw_names_full;	/* 1: there are more of them than there is room for: all are kept */
	/* Of the requests that are counted in late, by enum david_request. */
	__u64 delivered[DAVID_SLOTS];
	__u64 delivered_ns[DAVID_SLOTS];	/* sums of their modelled response times */
	__u64 delivered_late_ns[DAVID_SLOTS];	/* sums of their lateness */
	__u64 delivered_over[DAVID_SLOTS];	/* late by over 1/16 of that response time */
	__u64 pool_saved;	/* blocks that sharing saves in the whole pool */
	__u64 pool_memory;	/* bytes that the pool takes, once for all of its disks */
	__u64 packs_store;	/* store blocks that the packed blocks take */
	/* Of modelled reads in the modes that have times: */
	__u64 read_hits;	/* those of which the drive's cache served every command */
	__u64 read_pages;	/* pages of 4 KiB that they asked for */
	__u64 flash[DAVID_SLOTS];	/* of an SSD */
	__u64 reach[DAVID_SLOTS];
	/*
	 * By enum david_request, sectors that only a drive's cache saw: read from it though the
	 * media brought nothing for that, or overwritten in it before they were on the media.
	 */
	__u64 cached[DAVID_SLOTS];
	__u64 pending[DAVID_SLOTS];	/* now */
	__u64 faults[DAVID_SLOTS];	/* of the modelled drive */
	/*
	 * When these figures began at 0: microseconds since 1970. A reload of the table keeps it.
	 * A disk that is made again under its name has another one.
	 */
	__u64 created;
	__u64 zones[DAVID_SLOTS];	/* of a zoned disk */
	__u64 zones_ns[DAVID_SLOTS];	/* sums of modelled response times */
};

struct david_version {
	__u32 abi;		/* out: DAVID_ABI_VERSION */
	__u32 target[3];	/* out: version of the dm target */
};

#define DAVID_IOC_VERSION	_IOR('D', 0, struct david_version)
/* A struct david_stats of any size. The number has no size in it, as the struct grows. */
#define DAVID_IOC_STATS		_IO('D', 2)
/* The same by the number that it had before, which has the size of the struct in it. */
#define DAVID_IOC_STATS_SIZED(size)	_IOC(_IOC_READ | _IOC_WRITE, 'D', 1, size)

#endif
