/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The replay's descriptors: a slot for each open file description of the trace that is replayed,
 * and for each mapping (mapped.h).
 */
#ifndef COMPILE_SLOTS_H
#define COMPILE_SLOTS_H

#include "../calls/world.h"
#include "order.h"

#define NO_SLOT U32_MAX

struct free_slot {
	u32 slot;
	u32 thread; /* that closed it, by its @count-th command */
	u32 count;
};

struct ended { /* an open file description that has been closed */
	u32 slot;
	u32 ofd;
};

struct slots {
	const struct order *order; /* who may take what another thread has given back */
	u32 count; /* that the replay needs */
	struct map by_ofd; /* 1 + slot */
	struct map pipes; /* by description: is it an end of a pipe or of a socketpair? */
	struct free_slot *free;
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
bool slots_is_pipe(struct slots *slots, const struct ofd *ofd);

/* A slot for the replay thread @thread, and one that its last command has ended. */
u32 slots_take(struct slots *slots, u32 thread);
void slots_give(struct slots *slots, u32 thread, u32 slot);

/* The same for a description that the call has made. */
u32 slots_new(struct slots *slots, u32 thread, const struct ofd *ofd, bool pipe);

/* A command says that it closes the description. */
void slots_closed(struct slots *slots, const struct ofd *ofd);

/* For struct world, with struct slots as @arg: no command said that; it is put into @ended. */
void slots_ofd_ended(void *arg, const struct ofd *ofd, u64 closed);

#endif
