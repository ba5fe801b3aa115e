/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace file (NAME.dtr): what the tracer writes, and importers too. docs/TRACE-TABLES.md has it
 * for readers in other languages.
 *
 * A file is a sequence of frames, each with a checksum and compressed by itself. A tracer that is
 * killed leaves whole frames, and possibly a piece of one: a reader takes all whole ones in front
 * of it. Frames hold whole records. All numbers are little-endian; times are nanoseconds of the
 * monotonic clock.
 */
#ifndef TRACEFILE_H
#define TRACEFILE_H

#ifdef __bpf__ /* trace/bpf/kernel/trace.bpf.c has its types, and wants records only */
#define static_assert _Static_assert
#else
#include "../../dm-david/portable/portable.h"
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "trace files are little-endian"
#endif

#define TRACEFILE_MAGIC 0x46525444u /* "DTRF" */
#define TRACEFILE_VERSION 1
#define TRACEFILE_FRAME_MAX 0x100000u /* bytes of records in a frame */
#define TRACEFILE_RECORD_MAX 0x20000u
#define TRACEFILE_BLOB_MAX 65535u

/* Flags of a frame. */
#define TRACEFILE_ZSTD 0x1 /* its records are compressed */
#define TRACEFILE_BEGINS 0x2 /* the first of a file of a ring: those in front of it may be gone */

/* Device of attributes whose inode number is the number of a file of the finished trace. */
#define TRACEFILE_OWN_DEV 1

#define TRACEFILE_SEGMENTS_MAX 64 /* files of a ring: T, T.1, T.2, ... */
#define TRACEFILE_SEGMENT_MIN 0x80000u

struct tracefile_frame {
	u32 magic;
	u16 version;
	u16 flags;
	u32 stored; /* bytes that follow */
	u32 length; /* bytes of records in them */
	u32 sequence; /* 0, 1, ... */
	u32 crc; /* CRC-32 (as zlib's) of all in front of this, and what follows */
};

static_assert(sizeof(struct tracefile_frame) == 24, "a frame's header has no holes");

/* Names in comments are without TRACEFILE_: kinds of the blobs that a record carries, and flags. */
enum tracefile_type {
	/* The first record, how the trace was made: blobs TEXT, "key=value". */
	TRACEFILE_ABOUT = 1,
	/* A system call that has returned; or has not: NO_EXIT. */
	TRACEFILE_CALL,
	/* tid has made the task nr; args[0]: flags of clone. */
	TRACEFILE_FORK,
	/* tid runs a new program; nr: the thread that called. */
	TRACEFILE_EXEC,
	/* tid is gone; result: status of wait; args[0]: us of CPU of its process, if the last. */
	TRACEFILE_EXIT,
	/* tid is there at the start; nr: its process; args: parent, uid; CWD, PATH. */
	TRACEFILE_TASK,
	/*
	 * A descriptor at the start: tid, nr; args: flags, offset, then one more than another
	 * descriptor of the same description, and whose that is (0: none is known); PATH, ATTR.
	 */
	TRACEFILE_FD,
	/* The last record, what was counted: blobs TEXT. */
	TRACEFILE_BALANCE,
	/* Recording goes on, or, args[0] = 0, off. */
	TRACEFILE_SWITCH,
	/* File nr of a ring begins, behind its ABOUT; args: calls so far, on. */
	TRACEFILE_SEGMENT,
	/*
	 * A submission to io_uring, as the call nr that does the same, or U32_MAX; SUBMIT.
	 * Behind the call that it was made by, or POLLED.
	 */
	TRACEFILE_SQE,
	/* A completion on ring nr has been seen; args: user_data, flags; ATTR of result. */
	TRACEFILE_CQE,
	/*
	 * Pages of a mapped file are in tid's page tables; args: address and length of the
	 * mapping, offset in the file, pages, shared, enum tracefile_pages; PATH, ATTR, RUNS.
	 */
	TRACEFILE_PAGES,
	/* tid has touched a mapped file's page first; args: enum tracefile_fault; ATTR. */
	TRACEFILE_FAULT,
	/* tid, whose touch was at entry, has waited for the page until exit. */
	TRACEFILE_WAITED,
};

/* Flags of a record. */
#define TRACEFILE_NO_EXIT 0x1 /* the task was gone before the call returned */
#define TRACEFILE_FOREIGN 0x2 /* not a call of x86-64: nr is another table's */
#define TRACEFILE_BAD_PATH 0x4 /* a path could not be read */
#define TRACEFILE_AGAIN 0x8 /* of a task, a descriptor: not the first; those not told are closed */
#define TRACEFILE_NO_DISK 0x10 /* a read that took long, and asked no disk */
#define TRACEFILE_POLLED 0x20 /* a submission that a thread of the kernel took, in no call */
#define TRACEFILE_LOOKED 0x40 /* of a task, a descriptor: to be compared with the kernel's now */
#define TRACEFILE_SAME_FILE 0x80 /* of a rename, both names: it has done nothing */

struct tracefile_record {
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

static_assert(sizeof(struct tracefile_record) == 88, "a record has no holes");

/* A record's blobs follow it: kind, length, then the bytes, each from a multiple of 4 on. */
struct tracefile_blob {
	u16 kind;
	u16 length;
};

enum tracefile_kind {
	TRACEFILE_PATH = 1, /* first path, as the task gave it */
	TRACEFILE_PATH2,
	TRACEFILE_ATTR, /* struct tracefile_attr after the call: of what it opened, named or made */
	TRACEFILE_ATTR_BEFORE, /* ... before: of what it closes or removes */
	TRACEFILE_FDS, /* two u32 */
	TRACEFILE_ARGV, /* strings, each with its end */
	TRACEFILE_TOTAL, /* u64: bytes that an iovec asks for */
	TRACEFILE_CWD, /* working directory after the call */
	TRACEFILE_TARGET, /* what a symbolic link says; of an open, the kernel's file it led to */
	TRACEFILE_OFFSETS, /* two u64: what pointers to offsets pointed at; U64_MAX: NULL */
	TRACEFILE_HOW, /* three u64: flags, mode, resolve of openat2 */
	TRACEFILE_CLONE, /* u64: flags of clone3 */
	TRACEFILE_LOCK, /* struct flock as it is in memory, at entry */
	TRACEFILE_CPU, /* u64: CPU time of the process at entry, ns */
	TRACEFILE_TEXT,
	TRACEFILE_SUBMIT, /* struct tracefile_submit */
	TRACEFILE_RUNS, /* struct tracefile_run, each */
	TRACEFILE_LAYOUT, /* struct tracefile_extent, each: where the opened file lies */
	TRACEFILE_CONTEXT, /* u64: what io_setup has made */
	TRACEFILE_IOCBS, /* struct tracefile_iocb, each: what io_submit was given */
	TRACEFILE_EVENTS, /* struct io_event, each: what io_getevents has returned */
	TRACEFILE_PIDFD, /* u32: the descriptor by which who has made a process knows it */
	TRACEFILE_SENT, /* u32, each: descriptors that a message has passed on */
	TRACEFILE_RIGHTS, /* struct tracefile_right, each: descriptors that have come from others */
	TRACEFILE_MESSAGES, /* u32, each: bytes of messages that one call has sent or received */
	TRACEFILE_CHILD, /* u32: the process that waitid() has found to have ended */
	TRACEFILE_XATTR, /* struct tracefile_xattr: which extended attribute */
	TRACEFILE_VALUE, /* what it is set to, or was found to be; the names of a list */
};

struct tracefile_xattr {
	u32 size; /* of the value, or of the room for it */
	u32 flags; /* XATTR_CREATE, XATTR_REPLACE */
	char name[]; /* with its end */
};

struct tracefile_iocb {
	u64 address;
	u64 bytes;
	u64 offset;
	u32 fd;
	u16 opcode; /* IOCB_CMD_ */
	u16 zero;
} __attribute__((__packed__, __aligned__(4)));

static_assert(sizeof(struct tracefile_iocb) == 32, "an iocb has no holes");

#define TRACEFILE_SUBMIT_AIO 0x80 /* a flag of tracefile_submit that IOSQE_ has not: of AIO */

struct tracefile_extent { /* bytes */
	u64 dev;
	u64 offset; /* in the file */
	u64 place; /* on the disk */
	u64 length;
} __attribute__((__packed__, __aligned__(4)));

static_assert(sizeof(struct tracefile_extent) == 32, "an extent has no holes");

struct tracefile_run { /* of pages of 4096 bytes of a file */
	u32 first;
	u32 count;
};

enum tracefile_pages {
	TRACEFILE_PAGES_WRITABLE = 1, /* the mapping is */
	TRACEFILE_PAGES_KNOWN = 2, /* it is known whether they were written */
	TRACEFILE_PAGES_WRITTEN = 4,
};

struct tracefile_submit {
	u8 opcode; /* IORING_OP_ */
	u8 flags; /* IOSQE_, or TRACEFILE_SUBMIT_AIO */
	u16 zero;
	u32 ring; /* descriptor; of AIO, the page of the context */
	u64 user_data;
} __attribute__((__packed__, __aligned__(4)));

static_assert(sizeof(struct tracefile_submit) == 16, "a submission has no holes");

enum tracefile_fault { /* arguments of TRACEFILE_FAULT */
	TRACEFILE_FAULT_OFFSET, /* in the file */
	TRACEFILE_FAULT_WRITE,
	TRACEFILE_FAULT_SHARED, /* is the mapping? */
	TRACEFILE_FAULT_KERNEL, /* in a call of the task */
};

struct tracefile_attr {
	u64 dev;
	u64 ino;
	u64 size;
	u64 mtime; /* ns since 1970 */
	u64 atime;
	u32 mode;
	u32 nlink;
} __attribute__((__packed__, __aligned__(4))); /* blobs begin at multiples of 4 */

static_assert(sizeof(struct tracefile_attr) == 48, "attributes have no holes");

struct tracefile_right { /* a descriptor as the kernel has it when it has just come */
	u32 fd;
	u32 flags; /* of open */
	u64 position;
	u32 pid; /* it is this process's descriptor `from`; 0: it came by a message */
	u32 from;
	u32 sent; /* a traced task has sent it; 0: somebody else */
	u32 peeked; /* by MSG_PEEK: it will come again */
	struct tracefile_attr attr;
} __attribute__((__packed__, __aligned__(4)));

static_assert(sizeof(struct tracefile_right) == 80, "a right has no holes");

#ifndef __bpf__

/*
 * Writing. What cannot be written is dropped, from then on to the end: `dropped` is told of each
 * call's record, and `error` says why. The file has all whole frames in front of that. Without
 * `dropped` an error ends the program.
 */
struct tracefile_writer {
	void (*dropped)(void *arg, const struct tracefile_record *record);
	void *arg;
	int error;
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
	u8 *records; /* TRACEFILE_FRAME_MAX bytes */
	u32 used;
	u32 start; /* of the record that is being made */
	u64 oldest; /* exit time of the frame's first record */
	u64 record_bytes; /* of records, frames that are written */
	u64 stored_bytes; /* of frames */
	u64 writes;
	void *zstd;
	u8 *packed;
	size_t packed_size;
};

void tracefile_writer_init(struct tracefile_writer *w, int fd);

/* A ring of files from @path on, each of at most @bytes; with one, nothing changes. */
void tracefile_rotate(struct tracefile_writer *w, const char *path, u32 segments, u64 bytes);
bool tracefile_segment_full(struct tracefile_writer *w);
void tracefile_next_segment(struct tracefile_writer *w);

/* The name of a file of a ring. */
void tracefile_segment_path(char *path, size_t room, const char *first, u32 number);
void tracefile_begin(struct tracefile_writer *w, const struct tracefile_record *record);
void tracefile_add(struct tracefile_writer *w, enum tracefile_kind kind, const void *data,
		   u32 length);
/* Blobs that are laid out already. */
void tracefile_blobs(struct tracefile_writer *w, const u8 *blobs, u32 length);
void tracefile_end(struct tracefile_writer *w);
void tracefile_flush(struct tracefile_writer *w);

/* A text blob of the form "key=value". */
void tracefile_text(struct tracefile_writer *w, const char *format, ...)
	__attribute__((__format__(printf, 2, 3)));

/* Reading. All that is read is distrusted. */
enum tracefile_status {
	TRACEFILE_OK,
	TRACEFILE_END, /* after a whole frame */
	TRACEFILE_TORN, /* the file ends within a frame */
	TRACEFILE_BROKEN, /* a frame or record that nobody wrote like this */
};

struct tracefile_reader {
	int fd;
	int files[TRACEFILE_SEGMENTS_MAX]; /* of a ring, by age; fd is that of number `file` */
	u32 file_count;
	u32 file;
	u32 sequence; /* of the next frame */
	u64 offset; /* of the next frame in the file */
	u8 *records;
	u32 length;
	u32 at;
	u8 *packed;
	const char *problem; /* with TRACEFILE_TORN and TRACEFILE_BROKEN */
};

void tracefile_reader_init(struct tracefile_reader *r, int fd);

/* A file, or all that are there of a ring whose first is @path; "-": standard input. */
void tracefile_reader_open(struct tracefile_reader *r, const char *path);
void tracefile_reader_free(struct tracefile_reader *r);

/* *@record is valid until the next call. */
enum tracefile_status tracefile_next(struct tracefile_reader *r,
				     const struct tracefile_record **record);

/* Is a whole record, with whole blobs, in these bytes? */
bool tracefile_record_valid(const void *data, size_t length);

/*
 * The bytes of the first blob of a kind, *@length of them; NULL if there is none, or it is shorter
 * than @least.
 */
const void *tracefile_find(const struct tracefile_record *record, enum tracefile_kind kind,
			   u32 least, u32 *length);

/* The next blob: *@at is 0 at first. False: there is none. */
bool tracefile_each(const struct tracefile_record *record, u32 *at, u16 *kind, const char **data,
		    u32 *length);

#endif /* __bpf__ */
#endif
