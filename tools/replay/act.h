/* SPDX-License-Identifier: GPL-2.0 */
/* One command: the system call that it stands for. */
#ifndef REPLAY_ACT_H
#define REPLAY_ACT_H

#include "descriptors.h"
#include "touch.h"
#include "waiting.h"
#include "../calls/workload.h"

#define CHUNK 0x40000u /* bytes; longer reads and writes go round in it */

enum reads {
	READS_CURRENT, /* all, from the page cache or not */
	READS_NONE,
	READS_ORIGINAL, /* those that asked the disk, and each asks it again */
};

enum syncs {
	SYNCS_TRACED,
	SYNCS_NONE,
	SYNCS_EACH, /* write is followed by one */
};

struct stage { /* where it is done */
	const struct workload *workload;
	int root;
	u64 device; /* that it is on */
	struct descriptors *descriptors;
	struct waiting *waiting;
	struct mapping *mapping; /* of the same numbers; each process has its own */
	u32 directories; /* that a thread may keep open */
	u32 *changes; /* so often names may have come to lead elsewhere: renames, permissions */
	enum reads reads;
	enum syncs syncs;
	const void *pattern; /* CHUNK bytes, to be written */
};

/* Is a call made for it at all? */
bool act_makes(const struct stage *stage, const struct wl_command *command);

/* As a system call: a result, or -errno. @scratch: CHUNK bytes of the thread's own. */
s64 act(const struct stage *stage, const struct wl_command *command, void *scratch);

/*
 * The initial tree into the empty target; @holes: nothing is written to its files. NULL, or what
 * went wrong.
 */
const char *act_prepare(const struct workload *w, int root, bool holes);

#endif
