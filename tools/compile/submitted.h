/* SPDX-License-Identifier: GPL-2.0 */
/* Submissions to io_uring, each a thread of its own: which have begun, which were seen to end. */
#ifndef COMPILE_SUBMITTED_H
#define COMPILE_SUBMITTED_H

#include "uses.h"

struct submitted {
	struct map begun; /* by thread of the trace */
	u32 *seen; /* replay threads of those that the next call sees to have ended */
	u32 seen_count;
	u64 seen_room;
};

void submitted_free(struct submitted *submitted);

/* Is it the first time that @thread is told of? */
bool submitted_begins(struct submitted *submitted, u32 thread);

/* The next call sees that what the replay thread @place does has ended; or that is past. */
void submitted_see(struct submitted *submitted, u32 place);
void submitted_forget_seen(struct submitted *submitted);

/* A command that comes after all that its call sees to have ended. */
void submitted_use_seen(const struct submitted *submitted, struct uses *uses);

#endif
