/* SPDX-License-Identifier: GPL-2.0 */
/* What is counted while a trace is replayed: by thread, then added up. */
#ifndef REPLAY_COUNT_H
#define REPLAY_COUNT_H

#include "../calls/workload.h"

#define BINS 1024 /* 16 for each doubling: a quantile is right within 7 % */

struct spread {
	u64 n;
	u64 sum; /* ns */
	u64 least;
	u64 most;
	double squares;
	u32 bin[BINS];
};

enum outcome {
	SAME,
	OTHER_ERROR,
	UNEXPECTED_SUCCESS,
	UNEXPECTED_FAILURE,
	OTHER_NUMBER,
	OUTCOMES,
};

/* What the replay had too little of, where the original had enough. */
enum shortage {
	TOO_FEW_DESCRIPTORS,
	NO_ROOM, /* on the disk, or in a quota */
	NO_MEMORY,
	SHORTAGES,
};

extern const char *const shortage_names[SHORTAGES];

#define COUNTED_ROOM (2 * WL_OPS)

extern const char *const outcome_names[OUTCOMES];

struct counted {
	u64 outcome[OUTCOMES];
	u64 shortage[SHORTAGES]; /* calls that failed for it */
	u64 read; /* bytes */
	u64 written;
	u64 touched; /* of mapped files */
	u64 late; /* calls that came due before the one in front of them was done */
	struct spread issue; /* from when a call was planned to when it was made */
	struct spread wait; /* for other threads */
	struct spread *call[WL_OPS]; /* NULL: none was made */
	struct spread *original[WL_OPS];
	struct spread *room; /* COUNTED_ROOM of them, empty, for these; NULL: they are allocated */
};

void spread_add(struct spread *s, u64 value);
void spread_merge(struct spread *to, const struct spread *from);
u64 spread_quantile(const struct spread *s, u32 thousandths);
double spread_deviation(const struct spread *s);

void counted_outcome(struct counted *c, enum outcome as, s64 result);
void counted_call(struct counted *c, u8 op, u64 time, u64 original);
/* What a command has moved. */
void counted_bytes(struct counted *c, u8 op, s64 result);
void counted_merge(struct counted *to, const struct counted *from);
void counted_free(struct counted *c);

enum outcome outcome_of(const struct wl_command *command, s64 result);

#endif
