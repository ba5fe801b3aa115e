/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The replay's descriptors, by slots of the compiled trace. Commands let go of a slot; the last of
 * them, whichever that is, ends it (../compile/slots.h says why). An end of a pipe that may be read
 * from stays open as long as somebody may write: what the original wrote has found a reader.
 * Nobody sees that end any more, so nobody sees that it is there.
 *
 * All threads, and all processes of a replay, use one table.
 */
#ifndef REPLAY_DESCRIPTORS_H
#define REPLAY_DESCRIPTORS_H

#include <pthread.h>

#include "../../dm-david/portable/portable.h"

struct descriptor {
	int fd; /* -1: none */
	s32 left; /* commands that let go of it; WL_OPEN_SLOT more until the last is done */
	u32 pipe; /* 1 + number of the pipe that it is an end of; 0: none */
	bool reads; /* such an end */
	bool writes;
	u32 next_kept; /* 1 + slot of an end that has ended and is kept; 0: none */
};

struct pipe_ends { /* by number: that of a slot */
	u32 readers; /* ends */
	u32 writers;
	u32 kept; /* 1 + slot; 0: none */
	/* Opens of a FIFO; words to wait for. */
	u32 read_opens;
	u32 write_opens;
};

struct descriptors {
	u32 count;
	pthread_mutex_t lock; /* of pipe_ends */
	struct descriptor *slot;
	struct pipe_ends *pipe;
};

/* NULL: there is no memory. */
struct descriptors *descriptors_new(u32 count);

/* -1: there is none. */
static inline int descriptors_fd(const struct descriptors *d, u64 slot)
{
	return __atomic_load_n(&d->slot[slot].fd, __ATOMIC_ACQUIRE);
}

/* It is of the table from now on. */
void descriptors_put(struct descriptors *d, u64 slot, int fd);

/* ... as an end of a pipe, of those that O_ACCMODE of @flags says. */
void descriptors_put_end(struct descriptors *d, u64 slot, int fd, u64 pipe, u64 flags);

/* The same of a FIFO. The word to wait for while it is *@value; NULL: the other side is there. */
u32 *descriptors_open_fifo(struct descriptors *d, u64 slot, int fd, u64 pipe, u64 flags,
			   u32 *value);

/* One of several lets go. */
void descriptors_leave(struct descriptors *d, u64 slot);

/* The last of the trace does; @others do, too. As close(), or 0 if that is another's. */
s64 descriptors_close(struct descriptors *d, u64 slot, u64 others);

#endif
