// SPDX-License-Identifier: GPL-2.0
/* The model's events, and who waits for room in its queue: see timing.h. */
#include "timing-internal.h"

#include <linux/device-mapper.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "../base/inject.h"
#include "trace.h"

#define SLACK_NS	(50 * NSEC_PER_USEC)	/* a planted bug: what programs' timers have */

/* What a bio is to the model. */

/* Of a bio without sectors. */
static enum disk_op bio_zone_op(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_ZONE_OPEN:
		return DISK_ZONE_OPEN;
	case REQ_OP_ZONE_CLOSE:
		return DISK_ZONE_CLOSE;
	case REQ_OP_ZONE_FINISH:
		return DISK_ZONE_FINISH;
	case REQ_OP_ZONE_RESET:
		return DISK_ZONE_RESET;
	default:
		return DISK_FLUSH;
	}
}

static enum disk_op bio_disk_op(const struct bio *bio)
{
	if (!bio_sectors(bio))
		return bio_zone_op(bio);
	return op_is_write(bio_op(bio)) ? DISK_WRITE : DISK_READ;
}

static unsigned int bio_disk_flags(const struct bio *bio)
{
	return (bio->bi_opf & REQ_FUA ? DISK_FUA : 0) |
	       (op_is_sync(bio->bi_opf) ? DISK_SYNC : 0);
}

void timed_init(struct timed *timed, const struct bio *bio, u64 sector)
{
	timed->request.sector = sector;
	timed->request.sectors = bio_sectors(bio);
	timed->request.op = bio_disk_op(bio);
	timed->request.flags = bio_disk_flags(bio);
	timed->request.cpu = raw_smp_processor_id();
	timed->request.plug = NULL;
	timed->plug = 0;
	atomic_set(&timed->over, 0);
}

/* The model's time now. It never goes back. The lock is held. */
static u64 timing_now(struct timing *t)
{
	lockdep_assert_held(&t->figures->model.lock);
	t->last = max_t(u64, t->last, platter_clock(t));
	return t->last;
}

static struct disk_submitter *find_submitter(struct timing *t)
{
	struct submitter *set = t->submitters[hash_32(current->pid, SUBMITTER_BITS)];
	struct submitter *victim = set;
	unsigned int i;

	for (i = 0; i < SUBMITTER_WAYS; i++) {
		if (set[i].pid == current->pid)
			return &set[i].disk;
		if (set[i].disk.batch_until < victim->disk.batch_until)
			victim = &set[i];
	}
	memset(victim, 0, sizeof(*victim));
	victim->pid = current->pid;
	return &victim->disk;
}

/* A submitter, that comes from this CPU now. */
static struct disk_submitter *current_submitter(struct timing *t)
{
	struct disk_submitter *who = find_submitter(t);

	who->cpu = raw_smp_processor_id();
	return who;
}

/* The model's events */

static void timing_submit(struct timing *t, struct timed *timed, u64 now)
{
	timed->id = t->next_id++;
	trace_david_queue(t->dev, timed, now);
	if (!t->outstanding++)
		t->busy_since = now;
	disk_submit(t->disk, &timed->request, now);
}

void timing_free_beside(struct timing *t, struct timed *timed)
{
	struct beside *beside = container_of(timed, struct beside, timed);

	list_del(&beside->list);
	t->nr_beside--;
	kfree(beside);
}

void timing_count_completion(struct model_figures *figures, const struct timed *timed)
{
	const struct disk_request *request = &timed->request;
	u64 ns = request->completion - timed->arrived_ns;

	/* The two enums number the kinds alike. */
	BUILD_BUG_ON((int)DISK_READ != (int)DAVID_REQ_READ);
	BUILD_BUG_ON((int)DISK_WRITE != (int)DAVID_REQ_WRITE);
	BUILD_BUG_ON((int)DISK_FLUSH != (int)DAVID_REQ_FLUSH);
	BUILD_BUG_ON(DISK_ZONE_RESET - DISK_ZONE_OPEN != DAVID_ZONE_RESET - DAVID_ZONE_OPEN);
	if (unlikely(request->op >= DISK_OP_NR)) {
		if (request->op >= DISK_ZONE_OPEN)
			figures->zones_ns[request->op - DISK_ZONE_OPEN] += ns;
		return;
	}
	figures->requests[request->op]++;
	figures->ns[request->op] += ns;
	if (request->op != DISK_FLUSH)
		figures->times[stats_bucket(ns)]++;
}

/* What commands took since the last call. */
void timing_count_commands(struct model_figures *figures, struct drive_sums *sums)
{
	figures->parts[DAVID_PART_OVERHEAD] += sums->parts.overhead;
	figures->parts[DAVID_PART_SEEK] += sums->parts.seek;
	figures->parts[DAVID_PART_ROTATION] += sums->parts.rotation;
	figures->parts[DAVID_PART_TRANSFER] += sums->parts.transfer;
	figures->parts[DAVID_PART_FLUSH] += sums->parts.flush;
	figures->parts[DAVID_PART_QUEUED] += sums->parts.queued;
	figures->parts[DAVID_PART_DIE] += sums->parts.die;
	figures->parts[DAVID_PART_CHANNEL] += sums->parts.channel;
	figures->parts[DAVID_PART_MAP] += sums->parts.map;
	figures->parts[DAVID_PART_FAULT] += sums->parts.fault;
	figures->hits += sums->hits;
	*sums = (struct drive_sums){ };
}

/* How far a request went, and what of it was in the drive's cache. */
static void count_reach(struct timing *t, const struct timed *timed)
{
	struct model_figures *figures = &t->figures->model;
	const struct disk_request *request = &timed->request;
	u64 end = request->sector + request->sectors;

	if (unlikely(request->op >= DISK_OP_NR))
		return;
	if (request->op == DISK_READ) {
		figures->read_hits += request->parts.hit;
		figures->read_pages += DIV_ROUND_UP(end, FTL_PAGE) - request->sector / FTL_PAGE;
	}
	if (request->op != DISK_FLUSH)
		figures->cached[request->op] += request->parts.cached;
	reach_add(figures->reached, request->sector, request->sectors);
	/* A journal or a superblock is no place that the disk's user has chosen. */
	if (!timed->bio || !(timed->bio->bi_opf & REQ_META))
		reach_count(figures->reached, request->sector, request->sectors);
}

/* A request may end behind others that came later. So the number outstanding says what is busy. */
static void count_busy(struct timing *t, u64 completion)
{
	timing_busy_until(t, completion);
	t->outstanding--;
}

static void finish_requests(struct timing *t, struct timed *timed)
{
	count_busy(t, timed->request.completion);
	timing_count_completion(&t->figures->model, timed);
	count_reach(t, timed);
	if (!timed->bio) {
		trace_david_complete(t->dev, timed, timed->request.completion);
		timing_free_beside(t, timed);
		return;
	}
	if (!timing_is_over(timed))
		return;
	timed->next_due = NULL;
	*t->due_tail = timed;
	t->due_tail = &timed->next_due;
}

/* @who was refused, and waits. It is the last of its list. */
static void wait_for_room(struct timing *t, struct disk_submitter *who, struct timed *timed)
{
	disk_wait(t->disk, who, &timed->request);
	list_add_tail(&timed->list, &t->waiting[disk_line(t->disk, timed->request.op)]);
}

/* The one that the model wakes; NULL: none. It stays in its list. */
static struct timed *find_woken(struct timing *t, struct list_head *waiting)
{
	struct timed *timed;

	if (list_empty(waiting))
		return NULL;
	timed = list_first_entry(waiting, struct timed, list);
	if (!disk_wakeups(t->disk, timed->request.op))
		return NULL;
	list_for_each_entry(timed, waiting, list)
		if (disk_wakes(t->disk, &timed->request))
			return timed;
	return NULL;
}

/*
 * Submit the request to the model if the queue has room, and return true. Otherwise, with @waits,
 * add it to those that wait to be admitted. The lock is held.
 */
bool timing_try_enter(struct timing *t, struct timed *timed, bool waits, u64 now)
{
	struct disk_submitter *who = current_submitter(t);

	lockdep_assert_held(&t->figures->model.lock);
	timed->arrived_ns = now;
	if (disk_merges(t->disk, &timed->request, now) ||
	    disk_enter(t->disk, who, timed->request.op, now)) {
		timing_submit(t, timed, now);
		return true;
	}
	trace_david_wait(t->dev, timed, t->next_id);
	if (!waits)
		return false;
	/* The task sleeps, which unplugs it and frees its plug. */
	timed->request.plug = NULL;
	timed->plug = 0;
	timed->submitter = who;
	wait_for_room(t, who, timed);
	t->figures->model.queue_waits++;
	return false;
}

/* Admit requests that wait, as many as there is room for. No other request comes in between. */
static void admit_waiters(struct timing *t, struct list_head *waiting, u64 now)
{
	struct model_figures *figures = &t->figures->model;
	struct disk_submitter *who;
	struct timed *timed;

	while ((timed = find_woken(t, waiting))) {
		who = timed->submitter;
		who->cpu = timed->request.cpu;
		disk_woken(t->disk, who, timed->request.op, now);
		if (!disk_enter(t->disk, who, timed->request.op, now)) {
			/* Others that the model wakes may find room, if they share one list. */
			if (disk_line(t->disk, DISK_WRITE))
				return;
			list_del(&timed->list);
			wait_for_room(t, who, timed);
			continue;
		}
		list_del(&timed->list);
		figures->queue_wait_ns += now - timed->arrived_ns;
		timing_submit(t, timed, now);
		if (timed->admitted)
			complete(timed->admitted);
	}
}

/* With blk-mq two requests that become one free a tag, which somebody may wait for. */
void timing_admit_after_merge(struct timing *t, u64 now)
{
	if (unlikely(!list_empty(&t->waiting[0])) && !disk_line(t->disk, DISK_WRITE))
		admit_waiters(t, &t->waiting[0], now);
}

/* Process the model's events until now. Returns the time. The lock is held. */
u64 timing_run_model(struct timing *t)
{
	u64 now = timing_now(t);
	struct disk_request *done, *next;
	unsigned int i;

	lockdep_assert_held(&t->figures->model.lock);
	do {
		done = disk_advance(t->disk, now);
		if (done)
			timing_count_commands(&t->figures->model, &t->sums);
		for (; done; done = next) {
			next = done->next;
			finish_requests(t, container_of(done, struct timed, request));
		}
		for (i = 0; i < ARRAY_SIZE(t->waiting); i++)
			if (unlikely(!list_empty(&t->waiting[i])))
				admit_waiters(t, &t->waiting[i], now);
	} while (disk_next_event(t->disk) <= now);
	return now;
}

/*
 * The same, and what an SSD has done in its idle time. That may be work for its whole map, so it is
 * done in pieces. The lock is free in between, so that nobody else waits for all of it.
 */
u64 timing_catch_up(struct timing *t, bool sleeps, unsigned long *flags)
	__must_hold(&t->figures->model.lock)
{
	u64 now = timing_run_model(t);

	lockdep_assert_held(&t->figures->model.lock);
	while (unlikely(disk_catch_up(t->disk, now)) && !INJECTED(whole)) {
		timing_arm(t);
		spin_unlock_irqrestore(&t->figures->model.lock, *flags);
		if (sleeps)
			cond_resched();
		spin_lock_irqsave(&t->figures->model.lock, *flags);
		now = timing_run_model(t);
	}
	return now;
}

/* Set the timer to the next event. The lock is held. */
void timing_arm(struct timing *t)
{
	lockdep_assert_held(&t->figures->model.lock);
	/* If requests are due, the callback has to deliver them now. */
	u64 next = t->due ? t->last : disk_next_event(t->disk), phase = t->profile.phase;

	/* A timer that fires early costs less than setting it again. */
	if (next >= t->armed)
		return;
	t->armed = next;
	hrtimer_start_range_ns(&t->timer, ns_to_ktime(max(next, phase) - phase),
			       INJECTED(slack) ? SLACK_NS : 0, HRTIMER_MODE_ABS);
}
