/* SPDX-License-Identifier: GPL-2.0 */
/* The compiled trace as it is made: commands by thread, then the file (../calls/workload.h). */
#ifndef COMPILE_OUTPUT_H
#define COMPILE_OUTPUT_H

#include "../calls/workload.h"
#include "order.h"
#include "texts.h"
#include "tree.h"

struct stream { /* of a replay thread */
	u8 *data;
	u64 used;
	u64 room;
	u32 commands;
	u32 before;
	u32 event; /* of the last command */
	u64 start;
};

struct output {
	struct stream *stream;
	u32 streams;
	u32 *process; /* of each stream */
	u64 commands;
	u64 ops[WL_OPS];
	struct texts texts;
};

/* @process, of each, is freed by output_free(). */
void output_init(struct output *out, u32 streams, u32 *process);
void output_free(struct output *out);

/* command->deps and ->dep are taken from @deps. @before: it belongs to what is before --from. */
void output_add(struct output *out, u32 stream, const struct wl_command *command,
		const struct order_result *deps, bool before);

/* The WL_WAIT whose command ends at @at can be ended by @other's @count-th command. */
void output_ended(struct output *out, u32 stream, u64 at, u32 other, u32 count);

u32 output_processes(const struct output *out);

struct output_about { /* what the file's header says */
	u32 slots; /* descriptors that the replay needs */
	u64 elapsed; /* of the original, ns */
	const char *order;
	const char *command; /* that was recorded */
	u64 calls; /* of the trace */
	const u64 *without; /* of these, by enum wl_reason: what is no call of the replay */
};

/*
 * Returns the file's size; *@starved: reads of pipes that wait in vain. Ends the program if the
 * file's commands would wait for each other.
 */
u64 output_write(struct output *out, const char *path, const struct tree *tree,
		 const struct output_about *about, struct wl_starved *starved);

#endif
