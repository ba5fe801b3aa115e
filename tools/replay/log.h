/* SPDX-License-Identifier: GPL-2.0 */
/* What a replay writes down of each command, and what can be said of it afterwards. */
#ifndef REPLAY_LOG_H
#define REPLAY_LOG_H

#include "../calls/workload.h"

struct log_entry {
	u64 planned; /* ns since the replay's start */
	u64 entry;
	u64 exit;
	s64 result;
};

static_assert(sizeof(struct log_entry) == 32, "an entry has no holes");

/* A log is an array of them: all commands of the first thread, then of the second, ... */
struct log_figures {
	u64 violations; /* calls that began before one that they had to come after was done */
	u32 first; /* record of the first of these */
	double overlap; /* of calls: time at which more than one was under way, each counted */
	double original;
	u64 interval; /* ns */
	struct log_rate *rate; /* of each interval from the start on; the caller's to free */
	u32 rates;
};

struct log_rate {
	u64 calls; /* planned then */
	u64 error; /* ns: how far off the plan they were made, together */
};

/* False: there was no memory. */
bool log_judge(const struct workload *w, const struct log_entry *log, struct log_figures *figures);

#endif
