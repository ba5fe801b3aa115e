/* SPDX-License-Identifier: GPL-2.0 */
/* The replay itself: threads that do their commands, each when its turn is. */
#ifndef REPLAY_RUN_H
#define REPLAY_RUN_H

#include "act.h"
#include "count.h"
#include "log.h"

enum timing {
	TIMING_CLOSED, /* as long after what a call came after as in the original */
	TIMING_OPEN, /* as long after the start as in the original */
	TIMING_AFAP, /* at once */
	TIMING_ARTC, /* as closed, but a thread waits its time out first, then for others */
};

enum mismatch {
	MISMATCH_COUNT,
	MISMATCH_STOP,
	MISMATCH_IGNORE,
};

struct replay_options {
	enum timing timing;
	double scale; /* of times between calls */
	enum mismatch mismatch;
	bool spin; /* the last microseconds before a call */
	u64 shuffle; /* 0: no delays but those of the trace; else a seed of some */
	u64 delay; /* ns within each call */
	bool processes; /* as the original's, not only threads */
};

#define DIFFERENCES_MAX 20

struct difference {
	u32 event;
	u8 op;
	s64 expected;
	s64 got;
};

struct replay_result {
	u64 elapsed;
	bool stopped;
	u64 made; /* calls; without what only has a place in the order */
	u64 compared;
	u64 same; /* of the trace's calls: they came to the original's result */
	struct counted counted;
	struct difference difference[DIFFERENCES_MAX];
	u32 differences;
};

/*
 * @log: NULL, or for all commands. False: there was no memory, no thread or process, or one of the
 * processes was killed.
 */
bool replay_run(const struct stage *stage, const struct replay_options *options,
		struct log_entry *log, struct replay_result *result);

#endif
