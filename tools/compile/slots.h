/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The replay's descriptors: a slot for each open file description of the trace that is replayed,
 * and for each mapping (mapped.h).
 *
 * A description ends with the last of its descriptors. In the trace an exec takes long, and closes
 * at one instant of it; a process ends some time before anybody has seen that. So which descriptor
 * was the last one often nobody knows. The replay counts them, as the kernel does: each command
 * that closes one of several lets go of the slot. The last one in the trace, WL_CLOSE, says how
 * many these are. Whichever is done last in the replay closes the description.
 */
#ifndef COMPILE_SLOTS_H
#define COMPILE_SLOTS_H

#include "../calls/world.h"
#include "order.h"

#define NO_SLOT U32_MAX

struct slot_use { /* a command that opens a slot or lets go of it: the thread's @count-th */
	u32 thread;
	u32 count;
};

struct slot_state {
	u32 ofd; /* number of the description; 0: none */
	struct slot_use opened; /* count 0: no command has */
	u32 releases; /* that WL_CLOSE is to say */
	struct slot_use *last; /* of each thread that has let go of it */
	u32 lasts;
	u64 room;
	u32 pipe; /* 1 + number of the pipe that it is an end of; 0: none */
	bool writes; /* such an end */
	u64 fifo; /* key of the file, if it has a name; 0: none */
	/* Of the pipe with this slot's number: */
	u32 ends; /* that have not been given back */
	u32 given; /* 1 + slot of an end that has been; a list */
	u32 next_given;
};

struct ended { /* an open file description that has been closed */
	u32 slot;
	u32 ofd;
};

struct slots {
	const struct order *order; /* who may take what another thread has given back */
	struct slot_state *state;
	u64 state_room;
	u32 count; /* that the replay needs */
	struct map by_ofd; /* 1 + slot */
	u32 *free;
	u32 free_count;
	u64 free_room;
	struct ended *ended; /* descriptions that the call closed beside what it says */
	u32 ended_count;
	u64 ended_room;
};

void slots_init(struct slots *slots, const struct order *order);
void slots_free(struct slots *slots);

/* The slot of a description; NO_SLOT: it is none that is replayed. */
u32 slots_of(struct slots *slots, const struct ofd *ofd);
u32 slots_of_number(struct slots *slots, u32 ofd);
bool slots_is_pipe(struct slots *slots, const struct ofd *ofd);
bool slots_writes(struct slots *slots, const struct ofd *ofd); /* to a pipe */

/* A slot for the replay thread @thread, and one that its last command has ended. */
u32 slots_take(struct slots *slots, u32 thread);
void slots_give(struct slots *slots, u32 thread, u32 slot);

/* There is a slot at all; the first one may be anybody's. */
void slots_reserve(struct slots *slots);

/* The same for a description that the call has made. */
u32 slots_new(struct slots *slots, u32 thread, const struct ofd *ofd);

/*
 * The slot is an end of pipe @pipe, which is the number of a slot: of its first end, or of one that
 * is never given back. An end may stay open until the last one goes: so all are given back then.
 */
void slots_set_end(struct slots *slots, u32 slot, u32 pipe, bool writes);
u32 slots_pipe(const struct slots *slots, u32 slot);

/* The end is one of the FIFO with that key. 0: it is none's. */
void slots_set_fifo(struct slots *slots, u32 slot, u64 key);
u64 slots_fifo(const struct slots *slots, u32 slot);

/* The last command of @thread has let go of the slot, and does not close it. */
void slots_released(struct slots *slots, u32 thread, u32 slot);
u32 slots_releases(const struct slots *slots, u32 slot);

/* A command says that it closes the description. */
void slots_closed(struct slots *slots, const struct ofd *ofd);

/* For struct world, with struct slots as @arg: no command said that; it is put into @ended. */
void slots_ofd_ended(void *arg, const struct ofd *ofd, u64 closed);

#endif
