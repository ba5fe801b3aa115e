/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel's part of the tracer and the user's agree on. */
#ifndef TRACE_BPF_H
#define TRACE_BPF_H

#define PLAN_CALLS 512
#define SCRATCH (16u << 10) /* the longest record */
#define AIO_AT_ONCE 256 /* requests of a call; more are left out */
#define RING_BYTES (16u << 20)
#define RING_PARTS 16 /* the reader is woken when one is full */

/* What is done at a call. Arguments are counted from 1; 0: there is none. */
struct plan {
	unsigned char wanted;
	unsigned char path;
	unsigned char path2;
	unsigned char iovec; /* the number of them follows */
	unsigned char stat;
	unsigned char statx;
	unsigned char fds; /* two descriptors */
	unsigned char effect; /* enum plan_effect */
	unsigned char plain; /* there is none of these */
	unsigned char brief; /* a path at most, and PLAN_OPENS or PLAN_CLOSES */
};

enum plan_effect {
	PLAN_NONE,
	PLAN_OPENS, /* the result is a descriptor */
	PLAN_CLOSES,
	PLAN_MMAP, /* wanted only with a file */
	PLAN_CLONE,
	PLAN_CLONE3,
	PLAN_VFORK,
	PLAN_EXEC,
	PLAN_HOW,
	PLAN_LOCK,
	PLAN_READLINK,
	PLAN_OFFSETS, /* pointers in the second and the fourth argument, of copy and splice */
	PLAN_SENDFILE, /* ... in the third */
	PLAN_AIO_SETUP,
	PLAN_AIO_SUBMIT,
	PLAN_AIO_EVENTS,
	PLAN_REGISTER, /* of files, with a ring of io_uring */
	PLAN_SENDS, /* a message, which may pass descriptors on */
	PLAN_RECEIVES,
	PLAN_TAKES, /* pidfd_getfd */
};

#define URING_OPS 64 /* a power of two */

/* What is read of a submission to io_uring. */
struct uring_op {
	unsigned char path; /* enum op_field */
	unsigned char path2;
	unsigned char how;
	unsigned char iovec;
	unsigned char closes;
	unsigned char opens;
};

enum op_field {
	OP_NO_FIELD,
	OP_ADDRESS,
	OP_OFFSET,
};

/*
 * Blobs that the reader takes out of a record. One of TRACEFILE_SQE has a struct io_uring_sqe; the
 * record's nr is the ring's descriptor, its args[0] the process that has it.
 */
#define BPF_SQE 0xff00
#define BPF_FILES 0xff01 /* io_uring_register: the descriptors */

struct scope {
	unsigned long long cgroup; /* id of the directory; 0: none */
	int level; /* of it, from the top */
	unsigned int uid;
	unsigned char by_uid;
	unsigned char open; /* by uid or cgroup */
	unsigned char on;
	unsigned char pages; /* touches of mapped files are recorded */
	unsigned int spared; /* the tracer itself */
};

enum counted {
	LOST, /* records for which there was no room */
	LATE, /* tasks found by the scope */
	UNTRACED, /* tasks for which there was no room */
	UNKNOWN_RING, /* submissions to rings whose descriptor is not known */
	OVERWRITTEN, /* submissions that were not where the kernel has taken them from */
	UNSEEN, /* touches of pages whose mapping could not be looked at */
	COUNTED,
};

struct counts {
	unsigned long long of[COUNTED];
};

/* What the reader knows of the kernel before it loads the programs. */
struct constants {
	/* Memory can be read as a type. Before Linux 6.2, by bpf_probe_read_kernel() only. */
	unsigned char has_cast;
	/* The trace point of completions has the completion, not its members (up to 6.14). */
	unsigned char has_cqe;
};

/* The reader has it in its memory too. */
struct shared {
	struct scope scope;
	unsigned int awaited; /* tasks that were named and not seen yet */
	struct counts counts;
	struct plan plans[PLAN_CALLS];
	struct uring_op ops[URING_OPS];
};

/* The kernel's part, as it was compiled: in record.c. */
extern const char bpf_begin[], bpf_end[];

#endif
