/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is closed without a call that says so: at an exec, at an exit, by dup2() and close_range().
 * An exec closes all of its descriptors at one instant, and so does an exit. None of these waits
 * for what others did with the same description meanwhile: they have descriptors of their own, and
 * let go of these (slots.h).
 */
#ifndef COMPILE_CLOSES_H
#define COMPILE_CLOSES_H

#include "../calls/world.h"
#include "source.h"

struct compiler;

struct closes {
	u32 *ofd; /* descriptions of descriptors that are closed just now */
	u32 count;
	u64 room;
	u32 *done; /* by thread of the trace: commands of its replay thread up to its last one */
	u32 *next; /* thread of the same process */
	struct map first; /* by process: 1 + a thread */
};

void closes_init(struct closes *closes, const struct source *source);
void closes_free(struct closes *closes);

/* The replay thread of the trace's thread has got a command of it. */
void closes_follow(struct closes *closes, u32 thread, u32 done);

/* In front of what closes descriptors of @thread, from @from to @to: those, or only if at exec. */
void closes_note(struct compiler *c, const struct thread *thread, u32 from, u32 to, bool exec);

/* After it: commands for them, and for descriptions that have ended. */
void closes_add(struct compiler *c);

/* The same for a process that has ended, or its program: after all that its threads have done. */
void closes_add_all(struct compiler *c);

/* The command comes after the one that opens what the slot is of. */
void closes_use_opened(struct compiler *c, u32 slot);

#endif
