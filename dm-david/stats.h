/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters, cheap enough to be always on: per CPU, one add an event, and a
 * clock read at each border between components of a request's way.
 */
#ifndef DM_DAVID_STATS_H
#define DM_DAVID_STATS_H

#include <linux/irqflags.h>	/* which 6.1's percpu.h needs in UML */
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include "uapi/dm-david.h"

struct stats {
	u64 cpu[DAVID_CPU_NR];
	u64 verdict[DAVID_WRITTEN_NR];
	u64 evidence[DAVID_EV_NR];
	u64 requests[DAVID_REQ_NR];
	u64 sectors[DAVID_REQ_NR];
	u64 nospc;
	u64 errors;
	u64 range_locks;
};

/* A stopwatch that charges the time since the last border to a component. */
struct lap {
	struct stats __percpu *stats;
	u64 since;
};

static inline void lap_start(struct lap *lap, struct stats __percpu *stats)
{
	lap->stats = stats;
	lap->since = local_clock();
}

/*
 * The clocks of two CPUs may differ a little, and a preempted request takes
 * what others used: time that seems to run backwards counts as none.
 */
static inline void lap_charge(struct lap *lap, enum david_cpu component)
{
	u64 now = local_clock();

	if ((s64)(now - lap->since) > 0)
		this_cpu_add(lap->stats->cpu[component], now - lap->since);
	lap->since = now;
}

/* Add up all CPUs' counters into @sum. */
void stats_sum(struct stats __percpu *stats, struct stats *sum);

/*
 * Print @st as words "name=value", separated by blanks, into @result of
 * @maxlen bytes: the one form that status and the stats message share.
 * Returns the length that it would have with room enough, as snprintf() does.
 */
int stats_print(const struct david_stats *st, char *result, unsigned int maxlen);

#endif
