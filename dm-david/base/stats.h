/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters that are always on. Each is per CPU; an event costs one addition. For CPU time the clock
 * is read once wherever a request passes from one component to the next.
 */
#ifndef DM_DAVID_STATS_H
#define DM_DAVID_STATS_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/delay.h>
#include <linux/irqflags.h>	/* which 6.1's percpu.h needs in UML */
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/math64.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include "../uapi/dm-david.h"
#include "inject.h"

struct reach;

struct stats {
	u64 cpu[DAVID_CPU_NR];	/* ticks of stopwatch_clock(); ns in sums */
	u64 verdict[DAVID_WRITTEN_NR];
	u64 evidence[DAVID_EV_NR];
	u64 requests[DAVID_REQ_NR];
	u64 sectors[DAVID_REQ_NR];
	u64 nospc;
	u64 errors;
	u64 range_locks;
	u64 late[DAVID_BUCKETS];
	u64 late_50us;
	u64 late_ns;
	u64 delivered[DAVID_REQ_NR];
	u64 delivered_ns[DAVID_REQ_NR];
	u64 delivered_late_ns[DAVID_REQ_NR];
	u64 delivered_over[DAVID_REQ_NR];
	u64 measured[DAVID_REQ_NR];
	u64 measured_ns[DAVID_REQ_NR];
	u64 measured_times[DAVID_BUCKETS];
	u64 zones[DAVID_ZONE_NR];
};

/*
 * A model whose own counters are asked when somebody wants figures: what is counted there costs
 * requests nothing here.
 */
struct model_source {
	struct list_head list;
	/* Bring flash, reach, pending and faults of the figures up to date. Their lock is held. */
	void (*count)(struct model_source *source);
};

/* The model's figures. Its events are ordered by the lock, so one copy for all CPUs is enough. */
struct model_figures {
	spinlock_t lock;	/* irqsave; guards all but late_max, and the live target's model */
	u64 requests[DAVID_REQ_NR];
	u64 ns[DAVID_REQ_NR];
	u64 times[DAVID_BUCKETS];
	u64 parts[DAVID_PART_NR];
	u64 hits;
	u64 read_hits;
	u64 read_pages;
	u64 flash[DAVID_FLASH_NR];
	u64 reach[DAVID_REACH_NR];
	u64 cached[DAVID_REQ_FLUSH];	/* of reads and writes */
	u64 pending[DAVID_PENDING_NR];
	u64 faults[DAVID_FAULTS_NR];
	u64 zones_ns[DAVID_ZONE_TIMED];
	struct list_head sources;	/* the models of the disk's tables */
	struct reach *reached;		/* NULL until a table has a model that counts it */
	u64 busy_ns;
	u64 queue_waits;
	u64 queue_wait_ns;
	u64 unmodelled;
	atomic64_t late_max;	/* not under the lock */
};

/*
 * What a disk's model and classifier have counted, and the memory that its targets hold. It belongs
 * to the disk and not to a table: a reload goes on with it. So the disk's store keeps it, and knows
 * nothing of what is in it.
 */
struct figures {
	struct model_figures model;
	u64 created;			/* us since 1970 */
	enum david_mode mode;		/* of the live table */
	atomic64_t unclassified[DAVID_UNCLASSIFIED_NR];	/* bytes */
	atomic64_t raw_names, raw_names_full;	/* classify=implicit: files RAW by name */
	/* Bytes held by the targets: of implicit classification, models, pools, and otherwise. */
	atomic64_t classify_bytes;
	atomic64_t model_bytes;
	atomic64_t pool_bytes;
	atomic64_t target_bytes;
};

/* For figures of struct david_stats, which has room for kinds to come. */
#define COPY_ARRAY(to, from) do {					\
	BUILD_BUG_ON(sizeof(from) > sizeof(to));			\
	memcpy(to, from, sizeof(from));					\
} while (0)

/* All are 0, but for when they began. NULL without memory. Sleeps. */
struct figures *figures_create(void);
void figures_destroy(struct figures *figures);

/* Add @figures, of a disk with blocks of @block_size bytes, to @st. Takes figures->model.lock. */
void figures_stats(struct figures *figures, unsigned int block_size, struct david_stats *st);

/*
 * The clock for CPU accounting. The scheduler's clock costs eight times as many instructions as the
 * time stamp counter. So the counter is read directly if it is reliable. UML has no such counter,
 * and its scheduler's clock moves by 10 ms, with the timer's interrupt: there timekeeping's clock
 * is read. Under virtual time each reading of that one moves it, and computing takes no time.
 */
#if defined(CONFIG_X86_TSC) && !defined(CONFIG_UML)
#define STOPWATCH_TSC
#include <asm/tsc.h>
DECLARE_STATIC_KEY_FALSE(stopwatch_tsc);
#elif defined(CONFIG_UML)
#include <linux/time-internal.h>
#include <linux/timekeeping.h>
#endif

static inline u64 stopwatch_clock(void)
{
#ifdef STOPWATCH_TSC
	if (static_branch_likely(&stopwatch_tsc))
		return rdtsc();
#elif defined(CONFIG_UML)
	if (time_travel_mode == TT_MODE_OFF)
		return ktime_get_mono_fast_ns();
#endif
	return local_clock();
}

/* Call once, when the module is loaded. */
void stopwatch_setup(void);

/* Accounts CPU time to the components that a request passes through. */
struct stopwatch {
	struct stats __percpu *stats;
	u64 since;
};

static inline void stopwatch_start(struct stopwatch *timer, struct stats __percpu *stats)
{
	timer->stats = stats;
	timer->since = stopwatch_clock();
}

/* Is a loop planted where time is accounted to @component? */
static inline bool stopwatch_is_busy(enum david_cpu component)
{
	switch (component) {
	case DAVID_CPU_CLASSIFY:
		return INJECTED(busy_classify);
	case DAVID_CPU_MAP:
		return INJECTED(busy_map);
	case DAVID_CPU_CONTENT:
		return INJECTED(busy_content);
	case DAVID_CPU_MODEL:
		return INJECTED(busy_model);
	default:
		return INJECTED(busy_io) || INJECTED(untold);
	}
}

/*
 * Account the time since the last call, or since stopwatch_start(), to @component. Preemption
 * counts as well. The clocks of two CPUs may differ a little: a negative time counts as 0.
 */
static inline void stopwatch_account(struct stopwatch *timer, enum david_cpu component)
{
	u64 now;

	if (stopwatch_is_busy(component))
		mdelay(PLANTED_BUSY_MS);
	now = stopwatch_clock();
	if ((s64)(now - timer->since) > 0)
		this_cpu_add(timer->stats->cpu[component],
			     (now - timer->since) >> INJECTED(untold));
	timer->since = now;
}

/* The bucket of a histogram (DAVID_BUCKETS) that @ns belongs to. */
static inline unsigned int stats_bucket(u64 ns)
{
	return min(fls64(div_u64(ns, NSEC_PER_USEC)), DAVID_BUCKETS - 1);
}

/* Set what @stats counts in @st. Sleeps. */
void stats_read(struct stats __percpu *stats, struct david_stats *st);

/* A mode's name in a table line, and back, or -EINVAL. */
const char *mode_name(enum david_mode mode);
int mode_parse(const char *name);

/*
 * Print @st as words "name=value", separated by blanks, into @result of @maxlen bytes. Status and
 * the stats message share this form. Returns the length, as scnprintf() does.
 */
int stats_print(const struct david_stats *st, char *result, unsigned int maxlen);

#endif
