/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Block traces on a modelled disk or array: requests at the trace's times, or at its depth, and how
 * much faster they may come.
 */
#ifndef DAVID_SIM_BLOCKS_H
#define DAVID_SIM_BLOCKS_H

#include "target.h"

#define BLOCKS_PREFLUSH	BIT(3)	/* beside DISK_FUA and DISK_SYNC: a flush must end first */

struct blocks_request {
	u64 start;		/* ns */
	u64 sector;
	u32 sectors;
	u32 depth;		/* that were under way when it came, with it */
	u8 op;			/* enum disk_op, or DISK_TRIM */
	u8 flags;
};

struct blocks {
	struct blocks_request *requests;	/* in the order of time */
	u64 room, nr;
	u64 beyond;		/* that do not lie on the target, and are not among these */
	u64 beyond_line;	/* the first of them */
};

/* Times are ns, and are sorted when it has run. */
struct blocks_figures {
	u64 nr, sectors, hits, sum;
	u64 *times;
};

struct blocks_result {
	u64 ns;				/* from the first request to the last one's end */
	u64 busy;			/* with a request under way */
	struct blocks_figures op[3];	/* reads, writes, flushes */
	u64 *times;			/* of reads and writes */
	u64 nr_times;
	u64 trims;
	bool beyond_bound;		/* ended early: the bound is passed */
	u64 left;			/* ns, to empty the caches when the last one had ended; */
	bool stays_in_cache;		/* or a flush need not, and there is room for all twice */
	struct drive_sums sums;		/* of a disk's drive; of an array its members have them */
	struct array_member_figures members[ARRAY_MEMBERS];
	bool has_solid;
	struct solid_figures solid;
};

/* How to run. */
struct blocks_way {
	const struct profile *profile;
	const struct array_setup *setup;	/* NULL: one disk */
	const struct ftl *flash;	/* of an SSD by itself, which begins as a copy */
	bool closed;			/* at the trace's depth, not at its times */
	double speed;			/* open: how many times as fast */
	u64 bound;			/* ns: end when the 99th percentile is beyond; 0: go on */
	bool look_after;		/* say what is left in caches */
	FILE *out;			/* a line for each that ends; NULL: none */
};

/* Returns NULL, or why what it says means nothing. Then there is nothing to be released. */
const char *blocks_run(const struct blocks *blocks, const struct blocks_way *way,
		       struct blocks_result *result);
void blocks_release(struct blocks_result *result);

int blocks_main(int argc, char **argv);

#endif
