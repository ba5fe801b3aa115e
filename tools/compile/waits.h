/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits that timed out. On a faster disk such a wait may be ended before: by whoever ended a later
 * wait of that thread for the same futex. So its command says who that is, once it is known.
 */
#ifndef COMPILE_WAITS_H
#define COMPILE_WAITS_H

#include "output.h"

struct timed_out {
	u64 at; /* end of its command, in the stream */
	u32 older; /* 1 + its place; 0: none */
};

struct waits {
	struct map newest; /* by thread and futex: 1 + its place */
	struct timed_out *timed_out;
	u32 count;
	u64 room;
};

void waits_free(struct waits *waits);

/* @thread has just been given a WL_WAIT for @futex. */
void waits_timed_out(struct waits *waits, const struct output *out, u32 thread, u64 futex);

/* What @other had done by its @count-th command ended a wait for @futex. */
void waits_ended(struct waits *waits, struct output *out, u32 thread, u64 futex, u32 other,
		 u32 count);

#endif
