/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From a trace to a compiled one: follows its calls through the world of tools/calls, and makes of
 * each the command that replays it, with the resources that it uses.
 */
#ifndef COMPILE_COMPILER_H
#define COMPILE_COMPILER_H

#include "../calls/effects.h"
#include "output.h"
#include "source.h"
#include "uses.h"

struct compile_options {
	u32 rules;
	u64 from; /* ns */
	u64 to;
	u64 cached; /* ns; a read that took no longer came from the page cache */
	u32 pid; /* only this process; 0: all */
	const char *path; /* only names that match this pattern; NULL: all */
	const char *root; /* only what is below it, and there the replay begins; NULL: all */
};

struct compile_figures {
	u64 calls; /* of the trace */
	u64 left_out; /* by --to, --only */
	u64 unknown; /* not in the table of calls, or another architecture's */
	u64 kernel; /* about /proc, /sys, /dev, sockets and other things without a disk */
	u64 no_call; /* only their order is replayed: locks, waits, exits */
	u64 shared; /* threads that share memory with the one that made them */
	u64 futexes;
	u64 forbidden; /* that failed for lack of rights */
	u64 not_done; /* what the trace has too little of to do it again: xattrs, ioctl, ... */
	u64 mapped; /* mappings of files, whose accesses nobody has recorded */
	u64 touches; /* commands */
	u64 touched; /* pages that these touch */
	u64 touches_left; /* pages that none touches: their file has no name */
};

struct compiler;

struct compiler *compiler_new(struct source *source, const struct compile_options *options);
void compiler_free(struct compiler *c);

/* All of the trace. */
void compiler_run(struct compiler *c);

struct output *compiler_output(struct compiler *c);
struct order *compiler_order(struct compiler *c);
struct tree *compiler_tree(struct compiler *c);
struct uses *compiler_uses(struct compiler *c);
u32 compiler_slots(const struct compiler *c); /* that the replay needs */
struct compile_figures compiler_figures(const struct compiler *c);

#endif
