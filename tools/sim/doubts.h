/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a job's figures do not say by themselves: that a cache took the writes, or served the reads,
 * that flash had nothing to read, that the rate was not level. A figure with a doubt is right for
 * the job as it ran. It is not what the drive does in the long run. Some doubts refute it: what ran
 * was not what was asked for.
 */
#ifndef DAVID_SIM_DOUBTS_H
#define DAVID_SIM_DOUBTS_H

#include "job.h"

enum doubt_kind {
	DOUBT_CACHED_WRITES,	/* writes that a cache held at the end, or that never left it */
	DOUBT_CACHED_READS,	/* reads that the drive's cache served */
	DOUBT_EMPTY_READS,	/* pages that were read and never written */
	DOUBT_ERASED_FLASH,	/* an SSD that wrote to erased blocks only */
	DOUBT_TREND,		/* the rate rose or fell */
	DOUBT_UNSTEADY,		/* a "steady" job gave up */
	DOUBT_FAILED,		/* requests that failed */
	DOUBT_UNMET_FAULTS,	/* there are faults, and no request met one */
	DOUBT_NR
};

struct doubt {
	enum doubt_kind kind;
	double share;		/* of the whole, 0 to 1; of a trend its size, with its sign */
	char text[256];
};

/*
 * The doubts about @result, which job_run() made of @job with look_after. Each part of the job is
 * judged by itself. Returns how many of @doubts it has filled, at most one of each kind.
 */
u32 job_doubts(const struct job *job, const struct job_result *result,
	       const struct job_limits *limits, struct doubt doubts[DOUBT_NR]);

/* Does one of them say that the figures are not to be believed? */
bool doubts_refute(const struct doubt *doubts, u32 nr);

/* Its name in JSON. */
const char *doubt_name(enum doubt_kind kind);

#endif
