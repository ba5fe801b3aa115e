/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Traces of requests, one at a time: a table with the columns op, lbn, blocks, delay_us and
 * measured_us. Each request comes some time after the end of the one before.
 */
#ifndef DAVID_SIM_TRACE_H
#define DAVID_SIM_TRACE_H

#include "../../model/array/array.h"
#include "memberwords.h"

struct trace_request {
	u64 sector;
	u32 sectors;
	u8 op;			/* enum disk_op */
	u64 measured;		/* ns; 0 if the trace does not tell */
	u64 delay;		/* ns from the end of this one to the arrival of the next */
	u64 modelled;		/* ns, by trace_run() */
};

struct trace {
	struct trace_request *requests;
	size_t nr;
	bool measured;		/* there are measured times */
	size_t state_bytes;	/* of the drive, by trace_run() */
};

/*
 * Read a CSV file whose first line names its columns: op (R or W), lbn, blocks (of 512
 * bytes), delay_us, and, for a comparison, measured_us. Others are ignored.
 * Complains on standard error, with the line, and returns -1 if it is not one, or if
 * a request does not lie on a disk of @sectors.
 */
int trace_load(struct trace *trace, const char *file, u64 sectors);
void trace_free(struct trace *trace);

/* Serve all of it by a drive, filling in the modelled times. Returns -1 without memory. */
int trace_run(struct trace *trace, const struct profile *profile);

/* What members of an array did. */
struct members {
	struct array_member_figures figures[ARRAY_MEMBERS];
	u32 nr;
	u64 ns;
	u64 lost;		/* requests that md could not serve */
	const char *doubt;	/* array_doubt() */
};

/* The same by an array, whose members have queues. @angles: those of @words, not of the seed. */
int trace_run_array(struct trace *trace, const struct array_setup *setup,
		    const struct member_words *words, bool angles, struct members *members);

#endif
