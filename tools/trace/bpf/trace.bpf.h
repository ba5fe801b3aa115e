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
};

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
	UNSEEN, /* touches of pages whose mapping could not be looked at */
	COUNTED,
};

struct counts {
	unsigned long long of[COUNTED];
};

/* The reader has it in its memory too. */
struct shared {
	struct scope scope;
	unsigned int awaited; /* tasks that were named and not seen yet */
	struct counts counts;
	struct plan plans[PLAN_CALLS];
};

/* The kernel's part, as it was compiled: in record.c. */
extern const char bpf_begin[], bpf_end[];

#endif
