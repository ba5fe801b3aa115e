// SPDX-License-Identifier: GPL-2.0
/* The timer, and what it delivers: see timing.h. */
#include "timing-internal.h"

#include <linux/device-mapper.h>
#include "trace.h"

#define LATE_NS		(50 * NSEC_PER_USEC)
/* A request is late for its program if it is later than this part of its modelled response time. */
#define LATE_SHARE	16

void timing_count_delivery(struct timing *t, const struct timed *timed)
{
	struct stats __percpu *stats = t->store->stats;
	atomic64_t *late_max = &t->figures->model.late_max;
	u64 modelled = timed->request.completion - timed->arrived_ns;
	u64 delivered = platter_clock(t);
	s64 late = delivered - timed->request.completion;
	enum disk_op op = timed->request.op;
	s64 old;

	trace_david_complete(t->dev, timed, delivered);
	late = max_t(s64, late, 0);
	this_cpu_inc(stats->late[stats_bucket(late)]);
	this_cpu_add(stats->late_ns, late);
	if (late > LATE_NS)
		this_cpu_inc(stats->late_50us);
	old = atomic64_read(late_max);
	while (unlikely(late > old) && !atomic64_try_cmpxchg(late_max, &old, late))
		;
	/* Commands to zones are in none of these. */
	if (unlikely(op >= DISK_OP_NR))
		return;
	this_cpu_inc(stats->delivered[op]);
	this_cpu_add(stats->delivered_ns[op], modelled);
	this_cpu_add(stats->delivered_late_ns[op], late);
	if (late > modelled / LATE_SHARE)
		this_cpu_inc(stats->delivered_over[op]);
}

static void timing_deliver(struct timing *t, struct timed *timed)
{
	struct bio *bio = timed->bio;

	timing_count_delivery(t, timed);
	/*
	 * Device-mapper's, which comes to david_end_io() again. bio_endio() has done its part the
	 * first time, and must not release what it released again.
	 */
	bio->bi_end_io(bio);
}

/* Hard interrupt. With its last request @data and the timing may be gone. */
void timing_deliver_here(void *data)
{
	struct delivery *here = data;
	struct timing *t = here->timing;
	struct llist_node *due = llist_reverse_order(llist_del_all(&here->due));
	struct timed *timed, *next;

	llist_for_each_entry_safe(timed, next, due, elsewhere)
		timing_deliver(t, timed);
}

/* Have @timed delivered on the CPU that submitted it. False: that is this one, or it is offline. */
static bool timing_deliver_elsewhere(struct timing *t, struct timed *timed)
{
	unsigned int cpu = timed->request.cpu;
	struct delivery *there;

	/* With PREEMPT_RT the timer's callback is a softirq, which a call there would not be. */
	if (cpu == smp_processor_id() || !cpu_online(cpu) || IS_ENABLED(CONFIG_PREEMPT_RT))
		return false;
	there = per_cpu_ptr(t->deliveries, cpu);
	if (llist_add(&timed->elsewhere, &there->due))
		smp_call_function_single_async(cpu, &there->call);
	return true;
}

enum hrtimer_restart timing_timer(struct hrtimer *timer)
{
	struct timing *t = container_of(timer, struct timing, timer);
	struct timed *timed, *next;
	unsigned long flags;
	struct stopwatch watch;

	stopwatch_start(&watch, t->store->stats);
	spin_lock_irqsave(&t->figures->model.lock, flags);
	t->armed = U64_MAX;
	timing_run_model(t);
	timed = t->due;
	t->due = NULL;
	t->due_tail = &t->due;
	timing_arm(t);
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
	stopwatch_account(&watch, DAVID_CPU_MODEL);

	for (; timed; timed = next) {
		next = timed->next_due;
		if (!timing_deliver_elsewhere(t, timed))
			timing_deliver(t, timed);
	}
	return HRTIMER_NORESTART;
}
