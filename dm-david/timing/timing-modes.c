// SPDX-License-Identifier: GPL-2.0
/* A request's way through the model, by mode: see timing.h. */
#include "timing-internal.h"

#include <linux/device-mapper.h>
#include <linux/slab.h>
#include "trace.h"

/* model-only: the most requests in the model. Others count as unmodelled. */
#define MAX_BESIDE	4096

bool timing_accurate_submit(struct timing *t, struct timed *timed, struct bio *bio,
			    u8 zone_flags)
{
	DECLARE_COMPLETION_ONSTACK(admitted);
	bool waits = !(bio->bi_opf & REQ_NOWAIT);
	struct task_plug *plug;
	unsigned long flags;
	struct stopwatch timer;
	bool enters;
	u64 now;

	timed_init(timed, bio, dm_target_offset(t->ti, bio->bi_iter.bi_sector));
	timed->request.flags |= zone_flags;
	timed->bio = bio;
	timed->admitted = &admitted;

	stopwatch_start(&timer, t->store->stats);
	spin_lock_irqsave(&t->figures->model.lock, flags);
	now = timing_catch_up(t, timing_may_sleep(bio), &flags);
	plug = current_plug(t);
	if (plug) {
		timed->request.plug = &plug->disk;
		timed->plug = plug->number;
	}
	enters = timing_try_enter(t, timed, waits, now);
	timing_admit_after_merge(t, now);
	timing_arm(t);
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
	stopwatch_account(&timer, DAVID_CPU_MODEL);

	/*
	 * No deadlock: model time alone makes room in the queue, even if this task holds back
	 * plugged bios.
	 */
	if (!enters && waits)
		wait_for_completion_io(&admitted);
	return enters || waits;
}

bool timing_accurate_stored(struct timing *t, struct timed *timed)
{
	/* If it is not due yet, it is the timer's from here on. */
	if (!timing_is_over(timed))
		return false;
	timing_count_delivery(t, timed);
	return true;
}

/* Does @request fail without the drive? Else, if a block of it is bad, *@bad is its sector. */
static noinline bool speedup_fails(struct timing *t, struct disk_request *request, u64 *bad)
{
	struct fault_met met;

	faults_meet(t->faults, request->op, request->sector, request->sectors,
		    t->drive_clock + t->drive_ahead, &met);
	request->fault = met.kind;
	if (met.kind == FAULT_MEDIA)
		*bad = met.sector;
	t->drive_clock += met.ns;
	return met.kind == FAULT_GONE || met.kind == FAULT_TIMEOUT;
}

u8 timing_speedup_submit(struct timing *t, const struct bio *bio, u8 zone_flags)
{
	struct model_figures *figures = &t->figures->model;
	u32 max_sectors = t->profile.max_sectors;
	struct drive_parts parts;
	struct timed timed;
	unsigned long flags;
	struct stopwatch timer;
	u64 start, bad = U64_MAX;
	u32 sectors;

	timed_init(&timed, bio, dm_target_offset(t->ti, bio->bi_iter.bi_sector));
	timed.request.flags |= zone_flags;
	stopwatch_start(&timer, t->store->stats);
	spin_lock_irqsave(&figures->lock, flags);
	start = t->drive_clock;
	timed.request.fault = FAULT_NONE;
	if (unlikely(t->faults) && speedup_fails(t, &timed.request, &bad))
		goto unlock;
	do {
		const struct drive_command command = {
			.sector = timed.request.sector,
			.sectors = min(timed.request.sectors, max_sectors),
			.op = timed.request.op,
			.flags = timed.request.flags |
				 (bad - timed.request.sector < max_sectors ? DISK_BAD : 0),
			.arrived = t->drive_clock,
		};

		sectors = command.sectors;
		t->drive_clock = drive_serve(t->drive, &command, t->drive_clock, &parts);
		drive_sums_add(&t->sums, &parts);
		timed.request.sector += sectors;
		timed.request.sectors -= sectors;
		/* The first command has opened the zone. */
		timed.request.flags &= ~DISK_OPENS;
	} while (timed.request.sectors);
	timed.arrived_ns = start;
	timed.request.dispatch = start;
	timed.request.completion = t->drive_clock;
	timed.request.parts = parts;
	/* On the drive's own clock there is never a second one. */
	figures->busy_ns += t->drive_clock - start;
	timing_count_completion(figures, &timed);
	timing_count_commands(figures, &t->sums);
unlock:
	spin_unlock_irqrestore(&figures->lock, flags);
	stopwatch_account(&timer, DAVID_CPU_MODEL);
	return timed.request.fault;
}

u64 timing_model_only_submit(struct timing *t, const struct bio *bio)
{
	struct beside *beside = kmalloc(sizeof(*beside), GFP_NOWAIT | __GFP_NOWARN);
	struct timed *timed = &beside->timed;
	unsigned long flags;
	struct stopwatch timer;
	u64 now;

	stopwatch_start(&timer, t->store->stats);
	spin_lock_irqsave(&t->figures->model.lock, flags);
	now = timing_catch_up(t, timing_may_sleep(bio), &flags);
	if (!beside || t->nr_beside >= MAX_BESIDE) {
		t->figures->model.unmodelled++;
	} else {
		list_add_tail(&beside->list, &t->beside);
		t->nr_beside++;
		beside = NULL;
		timed_init(timed, bio, dm_target_offset(t->ti, bio->bi_iter.bi_sector));
		timed->bio = NULL;
		timed->admitted = NULL;
		timing_try_enter(t, timed, true, now);
		timing_admit_after_merge(t, now);
	}
	timing_arm(t);
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
	stopwatch_account(&timer, DAVID_CPU_MODEL);
	kfree(beside);
	return now;
}

void timing_model_only_done(struct timing *t, enum david_request kind, u64 arrived_ns)
{
	struct stats __percpu *stats = t->store->stats;
	u64 ns = platter_clock(t) - arrived_ns;

	this_cpu_inc(stats->measured[kind]);
	this_cpu_add(stats->measured_ns[kind], ns);
	if (kind != DAVID_REQ_FLUSH)
		this_cpu_inc(stats->measured_times[stats_bucket(ns)]);
}
