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
	u64 calls; /* of the trace, with those that it only counts */
	u64 without[WL_REASONS]; /* of these: what is no call of the replay */
	u64 shared; /* threads that share memory with the one that made them */
	u64 futexes;
	u64 mapped; /* mappings of files, whose accesses nobody has recorded */
	u64 undecided; /* calls of which the trace does not say which came first */
	u64 others; /* names that somebody who was not traced has made or removed */
	u64 touches; /* commands */
	u64 touched; /* pages that these touch */
	u64 touches_left; /* pages that none touches: their file has no name */
};

/* Calls about an extended attribute that a replay leaves alone. */
struct xattr_left {
	char *name;
	u64 calls;
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
const struct xattr_left *compiler_xattrs_left(const struct compiler *c, u32 *count);

#endif
