/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The raw trace: what the tracer writes, and importers too. docs/TRACE.md has it for readers in
 * other languages.
 *
 * A file is a sequence of frames, each with a checksum and compressed by itself. A tracer that is
 * killed leaves whole frames, and possibly a piece of one: a reader takes all whole ones in front
 * of it. Frames hold whole records. All numbers are little-endian; times are nanoseconds of the
 * monotonic clock.
 */
#ifndef TRACE_RAW_H
#define TRACE_RAW_H

#ifdef __bpf__ /* bpf/trace.bpf.c has its types, and wants records only */
#define static_assert _Static_assert
#else
#include "../../dm-david/portable/portable.h"
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "raw traces are little-endian"
#endif

#define RAW_MAGIC 0x46525444u /* "DTRF" */
#define RAW_VERSION 1
#define RAW_FRAME_MAX 0x100000u /* bytes of records in a frame */
#define RAW_RECORD_MAX 0x20000u
#define RAW_BLOB_MAX 65535u

/* Flags of a frame. */
#define RAW_ZSTD 0x1 /* its records are compressed */
#define RAW_BEGINS 0x2 /* the first of a file of a ring: those in front of it may be gone */

#define RAW_SEGMENTS_MAX 64 /* files of a ring: T, T.1, T.2, ... */
#define RAW_SEGMENT_MIN 0x80000u

struct raw_frame {
	u32 magic;
	u16 version;
	u16 flags;
	u32 stored; /* bytes that follow */
	u32 length; /* bytes of records in them */
	u32 sequence; /* 0, 1, ... */
	u32 crc; /* CRC-32 (as zlib's) of all in front of this, and what follows */
};

static_assert(sizeof(struct raw_frame) == 24, "a frame's header has no holes");

enum raw_type {
	/* The first record, how the trace was made: blobs RAW_TEXT, "key=value". */
	RAW_ABOUT = 1,
	/* A system call that has returned; or has not: RAW_NO_EXIT. */
	RAW_CALL,
	/* tid has made the task nr; args[0]: flags of clone. */
	RAW_FORK,
	/* tid runs a new program; nr: the thread that called. */
	RAW_EXEC,
	/*
	 * tid is gone; result: status of wait; args[0]: CPU time of its process, us, if the last.
	 *
	 */
	RAW_EXIT,
	/* tid is there at the start; nr: its process; args: parent, uid; RAW_CWD, RAW_PATH. */
	RAW_TASK,
	/* A descriptor at the start: tid, nr; args: flags, offset; RAW_PATH, RAW_ATTR. */
	RAW_FD,
	/* The last record, what was counted: blobs RAW_TEXT. */
	RAW_BALANCE,
	/* Recording goes on, or, args[0] = 0, off. */
	RAW_SWITCH,
	/* File nr of a ring begins, behind its RAW_ABOUT; args: calls so far, on. */
	RAW_SEGMENT,
	/*
	 * A submission to io_uring, as the call nr that does the same, or U32_MAX; RAW_SUBMIT.
	 * Behind the call that it was made by, or RAW_POLLED.
	 */
	RAW_SQE,
	/* A completion on ring nr has been seen; args: user_data, flags; RAW_ATTR of result. */
	RAW_CQE,
	/*
	 * Pages of a mapped file are in tid's page tables; args: address and length of the
	 * mapping, offset in the file, pages, shared, enum raw_pages; RAW_PATH, RAW_ATTR, RAW_RUNS.
	 */
	RAW_PAGES,
	/* tid has touched a mapped file's page first; args: enum raw_fault; RAW_ATTR. */
	RAW_FAULT,
	/* tid, whose touch was at entry, has waited for the page until exit. */
	RAW_WAITED,
};

/* Flags of a record. */
#define RAW_NO_EXIT 0x1 /* the task was gone before the call returned */
#define RAW_FOREIGN 0x2 /* not a call of x86-64: nr is another table's */
#define RAW_BAD_PATH 0x4 /* a path could not be read */
#define RAW_AGAIN 0x8 /* RAW_TASK, RAW_FD: not the first time; descriptors not told are closed */
#define RAW_NO_DISK 0x10 /* a read that took long, and asked no disk */
#define RAW_POLLED 0x20 /* RAW_SQE: taken from the ring by a thread of the kernel, in no call */

struct raw_record {
	u32 length; /* with blobs; a multiple of 8 */
	u16 type;
	u16 flags;
	u32 tid;
	u32 nr;
	u64 entry;
	u64 exit;
	u64 result;
	u64 args[6];
};

static_assert(sizeof(struct raw_record) == 88, "a record has no holes");

/* A record's blobs follow it: kind, length, then the bytes, each from a multiple of 4 on. */
struct raw_blob {
	u16 kind;
	u16 length;
};

enum raw_kind {
	RAW_PATH = 1, /* first path, as the task gave it */
	RAW_PATH2,
	RAW_ATTR, /* struct raw_attr after the call: of what it opened, named or made */
	RAW_ATTR_BEFORE, /* ... before: of what it closes or removes */
	RAW_FDS, /* two u32 */
	RAW_ARGV, /* strings, each with its end */
	RAW_TOTAL, /* u64: bytes that an iovec asks for */
	RAW_CWD, /* working directory after the call */
	RAW_TARGET, /* what a symbolic link says */
	RAW_OFFSETS, /* two u64: what pointers to offsets pointed at; U64_MAX: NULL */
	RAW_HOW, /* three u64: flags, mode, resolve of openat2 */
	RAW_CLONE, /* u64: flags of clone3 */
	RAW_LOCK, /* struct flock as it is in memory, at entry */
	RAW_CPU, /* u64: CPU time of the process at entry, ns */
	RAW_TEXT,
	RAW_SUBMIT, /* struct raw_submit */
	RAW_RUNS, /* struct raw_run, each */
	RAW_LAYOUT, /* struct raw_extent, each: where the opened file lies */
	RAW_CONTEXT, /* u64: what io_setup has made */
	RAW_IOCBS, /* struct raw_iocb, each: what io_submit was given */
	RAW_EVENTS, /* struct io_event, each: what io_getevents has returned */
};

struct raw_iocb {
	u64 address;
	u64 bytes;
	u64 offset;
	u32 fd;
	u16 opcode; /* IOCB_CMD_ */
	u16 zero;
} __attribute__((__packed__, __aligned__(4)));

static_assert(sizeof(struct raw_iocb) == 32, "an iocb has no holes");

#define RAW_SUBMIT_AIO 0x80 /* a flag of raw_submit that IOSQE_ has not: of AIO */

struct raw_extent { /* bytes */
	u64 dev;
	u64 offset; /* in the file */
	u64 place; /* on the disk */
	u64 length;
} __attribute__((__packed__, __aligned__(4)));

static_assert(sizeof(struct raw_extent) == 32, "an extent has no holes");

struct raw_run { /* of pages of 4096 bytes of a file */
	u32 first;
	u32 count;
};

enum raw_pages {
	RAW_PAGES_WRITABLE = 1, /* the mapping is */
	RAW_PAGES_KNOWN = 2, /* it is known whether they were written */
	RAW_PAGES_WRITTEN = 4,
};

struct raw_submit {
	u8 opcode; /* IORING_OP_ */
	u8 flags; /* IOSQE_, or RAW_SUBMIT_AIO */
	u16 zero;
	u32 ring; /* descriptor; of AIO, the page of the context */
	u64 user_data;
} __attribute__((__packed__, __aligned__(4)));

static_assert(sizeof(struct raw_submit) == 16, "a submission has no holes");

enum raw_fault { /* arguments of RAW_FAULT */
	RAW_FAULT_OFFSET, /* in the file */
	RAW_FAULT_WRITE,
	RAW_FAULT_SHARED, /* is the mapping? */
	RAW_FAULT_KERNEL, /* in a call of the task */
};

struct raw_attr {
	u64 dev;
	u64 ino;
	u64 size;
	u64 mtime; /* ns since 1970 */
	u64 atime;
	u32 mode;
	u32 nlink;
} __attribute__((__packed__, __aligned__(4))); /* blobs begin at multiples of 4 */

static_assert(sizeof(struct raw_attr) == 48, "attributes have no holes");

#ifndef __bpf__

/* Writing. Errors end the program: a trace that silently misses something is worse than none. */
struct raw_writer {
	int fd;
	int lock; /* the first file, on which locks are */
	const char *path;
	u32 segments; /* files of the ring; 1: there is none */
	u64 segment_bytes;
	u64 segment_start; /* stored_bytes when the current one began */
	u32 segment; /* 0, 1, ...: the current one */
	bool begins; /* the next frame is its first */
	u32 frame_limit; /* a frame is written when it has so many */
	u32 sequence;
	u8 *records; /* RAW_FRAME_MAX bytes */
	u32 used;
	u32 start; /* of the record that is being made */
	u64 oldest; /* exit time of the frame's first record */
	u64 raw_bytes; /* of records, frames that are written */
	u64 stored_bytes; /* of frames */
	u64 writes;
	void *zstd;
	u8 *packed;
	size_t packed_size;
};

void raw_writer_init(struct raw_writer *w, int fd);

/* A ring of files from @path on, each of at most @bytes; with one, nothing changes. */
void raw_rotate(struct raw_writer *w, const char *path, u32 segments, u64 bytes);
bool raw_segment_full(const struct raw_writer *w);
void raw_next_segment(struct raw_writer *w);

/* The name of a file of a ring. */
void raw_segment_path(char *path, size_t room, const char *first, u32 number);
void raw_begin(struct raw_writer *w, const struct raw_record *record);
void raw_add(struct raw_writer *w, enum raw_kind kind, const void *data, u32 length);
/* Blobs that are laid out already. */
void raw_blobs(struct raw_writer *w, const u8 *blobs, u32 length);
void raw_end(struct raw_writer *w);
void raw_flush(struct raw_writer *w);

/* A text blob of the form "key=value". */
void raw_text(struct raw_writer *w, const char *format, ...)
	__attribute__((__format__(printf, 2, 3)));

/* Reading. All that is read is distrusted. */
enum raw_status {
	RAW_OK,
	RAW_END, /* after a whole frame */
	RAW_TORN, /* the file ends within a frame */
	RAW_BROKEN, /* a frame or record that nobody wrote like this */
};

struct raw_reader {
	int fd;
	int files[RAW_SEGMENTS_MAX]; /* of a ring, by age; fd is that of number `file` */
	u32 file_count;
	u32 file;
	u32 sequence; /* of the next frame */
	u64 offset; /* of the next frame in the file */
	u8 *records;
	u32 length;
	u32 at;
	u8 *packed;
	const char *problem; /* with RAW_TORN and RAW_BROKEN */
};

void raw_reader_init(struct raw_reader *r, int fd);

/* A file, or all that are there of a ring whose first is @path; "-": standard input. */
void raw_reader_open(struct raw_reader *r, const char *path);
void raw_reader_free(struct raw_reader *r);

/* *@record is valid until the next call. */
enum raw_status raw_next(struct raw_reader *r, const struct raw_record **record);

/* Is a whole record, with whole blobs, in these bytes? */
bool raw_record_valid(const void *data, size_t length);

/*
 * The bytes of the first blob of a kind, *@length of them; NULL if there is none, or it is shorter
 * than @least.
 */
const void *raw_find(const struct raw_record *record, enum raw_kind kind, u32 least, u32 *length);

/* The next blob: *@at is 0 at first. False: there is none. */
bool raw_each(const struct raw_record *record, u32 *at, u16 *kind, const char **data, u32 *length);

#endif /* __bpf__ */
#endif
