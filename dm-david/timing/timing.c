// SPDX-License-Identifier: GPL-2.0
/* The modelled disk in a running kernel: see timing.h. */
#include "timing.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/wait_bit.h>
#include "../../model/flash/ftl.h"
#include "../base/inject.h"
#include "../compat/compat.h"
#include "../store/store.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

#define DM_MSG_PREFIX "david"

/* model-only: the most requests in the model. Others count as unmodelled. */
#define MAX_BESIDE	4096

#define LATE_NS		(50 * NSEC_PER_USEC)
#define SLACK_NS	(50 * NSEC_PER_USEC)	/* a planted bug: what programs' timers have */
/* A request is late for its program if it is later than this part of its modelled response time. */
#define LATE_SHARE	16

/*
 * A task that has slept for room in the queue may then add a batch of requests. Few tasks have that
 * privilege at a time. They are in a table of sets; a new one replaces the one of its set whose
 * privilege ends first.
 */
#define SUBMITTER_BITS	4
#define SUBMITTER_WAYS	4

struct submitter {
	pid_t pid;
	struct disk_submitter disk;
};

/* What a CPU is to deliver, of what is due. The timer fired on another one. */
struct delivery {
	struct timing *timing;
	struct llist_head due;
	call_single_data_t call;
};

struct timing {
	struct dm_target *ti;
	struct store *store;
	dev_t dev;			/* the fake disk, for tracing */
	struct profile profile;		/* scaled */
	char *word;			/* not scaled */
	size_t bytes;			/* counted in store->model_bytes */

	/* Under store->model.lock; each made when a mode first needs it. */
	struct disk *disk;
	struct drive *drive;		/* speedup's own */
	u64 drive_clock;
	struct ftl *ftl;		/* an SSD's map: of both; else NULL */
	bool followed;			/* timing_follow() has been called */
	struct drive_sums sums;		/* of commands, until requests complete */

	u64 last;			/* the model's time */
	u64 armed;			/* when the timer fires; U64_MAX: not at all */
	u64 next_id;
	u64 next_plug;
	atomic_t plugs;			/* tasks that have one: see struct task_plug */
	struct list_head waiting[2];	/* to be let in, in order of arrival: disk_line() */
	struct timed *due;		/* to be delivered by the timer */
	struct timed **due_tail;
	struct list_head beside;	/* struct beside, all there are */
	unsigned int nr_beside;
	struct submitter submitters[1 << SUBMITTER_BITS][SUBMITTER_WAYS];

	struct hrtimer timer;
	struct delivery __percpu *deliveries;
};

/* What a task has plugged. The task frees it when it unplugs. timing_destroy() waits for that. */
struct task_plug {
	struct blk_plug_cb cb;
	struct disk_plug disk;
	u64 number;
};

/* model-only: the model's own copy of a request, as the bio may be gone before. */
struct beside {
	struct timed timed;
	struct list_head list;
};

/* What a bio is to the model. */

static enum disk_op bio_disk_op(const struct bio *bio)
{
	if (!bio_sectors(bio))
		return DISK_FLUSH;
	return op_is_write(bio_op(bio)) ? DISK_WRITE : DISK_READ;
}

static unsigned int bio_disk_flags(const struct bio *bio)
{
	return (bio->bi_opf & REQ_FUA ? DISK_FUA : 0) |
	       (op_is_sync(bio->bi_opf) ? DISK_SYNC : 0);
}

static void timed_init(struct timed *timed, const struct bio *bio, u64 sector)
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

/* The clock that the model's platters turn by. */
static u64 platter_clock(const struct timing *t)
{
	return ktime_get_ns() + t->profile.phase;
}

/* The model's time now. It never goes back. The lock is held. */
static u64 timing_now(struct timing *t)
{
	lockdep_assert_held(&t->store->model.lock);
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
	disk_submit(t->disk, &timed->request, now);
}

static void timing_free_beside(struct timing *t, struct timed *timed)
{
	struct beside *beside = container_of(timed, struct beside, timed);

	list_del(&beside->list);
	t->nr_beside--;
	kfree(beside);
}

static void timing_count_completion(struct model_figures *figures, const struct timed *timed)
{
	const struct disk_request *request = &timed->request;
	u64 ns = request->completion - timed->arrived_ns;
	u64 from = max(request->dispatch, figures->busy_until);

	/* The two enums number the kinds alike. */
	BUILD_BUG_ON((int)DISK_READ != (int)DAVID_REQ_READ);
	BUILD_BUG_ON((int)DISK_WRITE != (int)DAVID_REQ_WRITE);
	BUILD_BUG_ON((int)DISK_FLUSH != (int)DAVID_REQ_FLUSH);
	figures->requests[request->op]++;
	figures->ns[request->op] += ns;
	if (request->op != DISK_FLUSH)
		figures->times[stats_bucket(ns)]++;
	/* Completions come in order, so the union of intervals needs no list. */
	if (request->completion > from) {
		figures->busy_ns += request->completion - from;
		figures->busy_until = request->completion;
	}
}

/* What commands took since the last call. */
static void timing_count_commands(struct model_figures *figures, struct drive_sums *sums)
{
	figures->parts[DAVID_PART_OVERHEAD] += sums->parts.overhead;
	figures->parts[DAVID_PART_SEEK] += sums->parts.seek;
	figures->parts[DAVID_PART_ROTATION] += sums->parts.rotation;
	figures->parts[DAVID_PART_TRANSFER] += sums->parts.transfer;
	figures->parts[DAVID_PART_FLUSH] += sums->parts.flush;
	figures->parts[DAVID_PART_QUEUED] += sums->parts.queued;
	figures->hits += sums->hits;
	*sums = (struct drive_sums){ };
}

/*
 * Two must be done with @timed: the store with its effect, the model with its time. Who comes
 * second, and is told so, delivers it. Needs no lock.
 */
static bool is_over(struct timed *timed)
{
	return atomic_inc_return(&timed->over) == 2;
}

static void finish_requests(struct timing *t, struct timed *timed)
{
	timing_count_completion(&t->store->model, timed);
	if (!timed->bio) {
		trace_david_complete(t->dev, timed, timed->request.completion);
		timing_free_beside(t, timed);
		return;
	}
	if (!is_over(timed))
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
static bool timing_try_enter(struct timing *t, struct timed *timed, bool waits, u64 now)
{
	struct disk_submitter *who = current_submitter(t);

	lockdep_assert_held(&t->store->model.lock);
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
	t->store->model.queue_waits++;
	return false;
}

/* Admit requests that wait, as many as there is room for. No other request comes in between. */
static void admit_waiters(struct timing *t, struct list_head *waiting, u64 now)
{
	struct model_figures *figures = &t->store->model;
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
static void timing_admit_after_merge(struct timing *t, u64 now)
{
	if (unlikely(!list_empty(&t->waiting[0])) && !disk_line(t->disk, DISK_WRITE))
		admit_waiters(t, &t->waiting[0], now);
}

/* Process the model's events until now. Returns the time. The lock is held. */
static u64 timing_run_model(struct timing *t)
{
	u64 now = timing_now(t);
	struct disk_request *done, *next;
	unsigned int i;

	lockdep_assert_held(&t->store->model.lock);
	do {
		done = disk_advance(t->disk, now);
		if (done)
			timing_count_commands(&t->store->model, &t->sums);
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

/* Set the timer to the next event. The lock is held. */
static void timing_arm(struct timing *t)
{
	lockdep_assert_held(&t->store->model.lock);
	/* If requests are due, the callback has to deliver them now. */
	u64 next = t->due ? t->last : disk_next_event(t->disk), phase = t->profile.phase;

	/* A timer that fires early costs less than setting it again. */
	if (next >= t->armed)
		return;
	t->armed = next;
	hrtimer_start_range_ns(&t->timer, ns_to_ktime(max(next, phase) - phase),
			       INJECTED(slack) ? SLACK_NS : 0, HRTIMER_MODE_ABS);
}

static void timing_count_delivery(struct timing *t, const struct timed *timed)
{
	struct stats __percpu *stats = t->store->stats;
	atomic64_t *late_max = &t->store->model.late_max;
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
	this_cpu_inc(stats->delivered[op]);
	this_cpu_add(stats->delivered_ns[op], modelled);
	this_cpu_add(stats->delivered_late_ns[op], late);
	if (late > modelled / LATE_SHARE)
		this_cpu_inc(stats->delivered_over[op]);
	old = atomic64_read(late_max);
	while (unlikely(late > old) && !atomic64_try_cmpxchg(late_max, &old, late))
		;
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
static void timing_deliver_here(void *data)
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

static enum hrtimer_restart timing_timer(struct hrtimer *timer)
{
	struct timing *t = container_of(timer, struct timing, timer);
	struct timed *timed, *next;
	unsigned long flags;
	struct stopwatch watch;

	stopwatch_start(&watch, t->store->stats);
	spin_lock_irqsave(&t->store->model.lock, flags);
	t->armed = U64_MAX;
	timing_run_model(t);
	timed = t->due;
	t->due = NULL;
	t->due_tail = &t->due;
	timing_arm(t);
	spin_unlock_irqrestore(&t->store->model.lock, flags);
	stopwatch_account(&watch, DAVID_CPU_MODEL);

	for (; timed; timed = next) {
		next = timed->next_due;
		if (!timing_deliver_elsewhere(t, timed))
			timing_deliver(t, timed);
	}
	return HRTIMER_NORESTART;
}

/* Plugging: with host = blk-mq the modelled host knows the tasks' plug lists */

static void task_unplugs(struct blk_plug_cb *cb, bool from_schedule)
{
	struct task_plug *plug = container_of(cb, struct task_plug, cb);
	struct timing *t = cb->data;
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&t->store->model.lock, flags);
	now = timing_run_model(t);
	trace_david_unplug(t->dev, t->next_id, now, plug->number, from_schedule);
	disk_unplug(t->disk, &plug->disk, from_schedule, now);
	timing_admit_after_merge(t, now);
	timing_arm(t);
	spin_unlock_irqrestore(&t->store->model.lock, flags);
	kfree(plug);
	if (atomic_dec_and_test(&t->plugs))
		wake_up_var(&t->plugs);
}

/* The plug of this task for this disk; NULL: it does not plug. */
static struct task_plug *current_plug(struct timing *t)
{
	struct blk_plug_cb *cb;
	struct task_plug *plug;

	if (t->profile.host != HOST_BLK_MQ)
		return NULL;
	cb = blk_check_plugged(task_unplugs, t, sizeof(*plug));
	if (!cb)
		return NULL;
	plug = container_of(cb, struct task_plug, cb);
	if (!plug->number) {	/* a new one, zeroed */
		plug->number = ++t->next_plug;
		atomic_inc(&t->plugs);
	}
	return plug;
}

/* A request's way, by mode */

bool timing_accurate_submit(struct timing *t, struct timed *timed, struct bio *bio)
{
	DECLARE_COMPLETION_ONSTACK(admitted);
	bool waits = !(bio->bi_opf & REQ_NOWAIT);
	struct task_plug *plug;
	unsigned long flags;
	struct stopwatch timer;
	bool enters;
	u64 now;

	timed_init(timed, bio, dm_target_offset(t->ti, bio->bi_iter.bi_sector));
	timed->bio = bio;
	timed->admitted = &admitted;

	stopwatch_start(&timer, t->store->stats);
	spin_lock_irqsave(&t->store->model.lock, flags);
	plug = current_plug(t);
	if (plug) {
		timed->request.plug = &plug->disk;
		timed->plug = plug->number;
	}
	now = timing_run_model(t);
	enters = timing_try_enter(t, timed, waits, now);
	timing_admit_after_merge(t, now);
	timing_arm(t);
	spin_unlock_irqrestore(&t->store->model.lock, flags);
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
	if (!is_over(timed))
		return false;
	timing_count_delivery(t, timed);
	return true;
}

void timing_speedup_submit(struct timing *t, const struct bio *bio)
{
	struct model_figures *figures = &t->store->model;
	u32 max_sectors = t->profile.max_sectors;
	struct drive_parts parts;
	struct timed timed;
	unsigned long flags;
	struct stopwatch timer;
	u32 sectors;
	u64 start;

	timed_init(&timed, bio, dm_target_offset(t->ti, bio->bi_iter.bi_sector));
	stopwatch_start(&timer, t->store->stats);
	spin_lock_irqsave(&figures->lock, flags);
	start = t->drive_clock;
	do {
		const struct drive_command command = {
			.sector = timed.request.sector,
			.sectors = min(timed.request.sectors, max_sectors),
			.op = timed.request.op,
			.flags = timed.request.flags,
			.arrived = t->drive_clock,
		};

		sectors = command.sectors;
		t->drive_clock = drive_serve(t->drive, &command, t->drive_clock, &parts);
		drive_sums_add(&t->sums, &parts);
		timed.request.sector += sectors;
		timed.request.sectors -= sectors;
	} while (timed.request.sectors);
	timed.arrived_ns = start;
	timed.request.dispatch = start;
	timed.request.completion = t->drive_clock;
	timed.request.parts = parts;
	/* speedup has a clock of its own, so its busy intervals do not overlap with others. */
	figures->busy_until = 0;
	timing_count_completion(figures, &timed);
	timing_count_commands(figures, &t->sums);
	figures->busy_until = 0;
	spin_unlock_irqrestore(&figures->lock, flags);
	stopwatch_account(&timer, DAVID_CPU_MODEL);
}

void timing_discard(struct timing *t, const struct bio *bio, enum david_mode mode)
{
	struct disk_request *request;
	struct timed timed = { };
	unsigned long flags;
	u64 now;

	if (t->profile.kind != DRIVE_SSD)
		return;
	timed_init(&timed, bio, dm_target_offset(t->ti, bio->bi_iter.bi_sector));
	request = &timed.request;
	request->op = DISK_TRIM;
	spin_lock_irqsave(&t->store->model.lock, flags);
	if (mode == DAVID_MODE_SPEEDUP) {
		drive_trim(t->drive, request->sector, request->sectors, t->drive_clock);
	} else {
		now = timing_run_model(t);
		timed.arrived_ns = now;
		timed.id = t->next_id++;
		trace_david_queue(t->dev, &timed, now);
		disk_trim(t->disk, request->sector, request->sectors, now);
		timing_arm(t);
	}
	spin_unlock_irqrestore(&t->store->model.lock, flags);
}

void timing_zeroes(struct timing *t, const struct bio *bio, enum david_mode mode)
{
	u64 sector = dm_target_offset(t->ti, bio->bi_iter.bi_sector), end, now;
	unsigned long flags;

	if (!t->ftl)
		return;
	end = sector + bio_sectors(bio);
	spin_lock_irqsave(&t->store->model.lock, flags);
	if (mode != DAVID_MODE_SPEEDUP) {
		now = timing_run_model(t);
		trace_david_written(t->dev, t->next_id, now, sector, end - sector);
		timing_arm(t);
	}
	ftl_fill(t->ftl, sector / FTL_PAGE, DIV_ROUND_UP(end, FTL_PAGE) - sector / FTL_PAGE);
	spin_unlock_irqrestore(&t->store->model.lock, flags);
}

u64 timing_model_only_submit(struct timing *t, const struct bio *bio)
{
	struct beside *beside = kmalloc(sizeof(*beside), GFP_NOWAIT | __GFP_NOWARN);
	struct timed *timed = &beside->timed;
	unsigned long flags;
	struct stopwatch timer;
	u64 now;

	stopwatch_start(&timer, t->store->stats);
	spin_lock_irqsave(&t->store->model.lock, flags);
	now = timing_run_model(t);
	if (!beside || t->nr_beside >= MAX_BESIDE) {
		t->store->model.unmodelled++;
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
	spin_unlock_irqrestore(&t->store->model.lock, flags);
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

/* Making and unmaking */

const struct profile *timing_profile(const struct timing *t)
{
	return &t->profile;
}

const char *timing_word(const struct timing *t)
{
	return t->word;
}

bool timing_writes_through(const struct timing *t)
{
	return t->profile.write_cache == WRITE_CACHE_OFF ||
	       t->profile.write_cache == WRITE_CACHE_THROUGH;
}

static void count_bytes(struct timing *t, size_t bytes)
{
	t->bytes += bytes;
	atomic64_add(bytes, &t->store->model_bytes);
}

int timing_set_mode(struct timing *t, enum david_mode mode)
{
	if (mode == DAVID_MODE_SPEEDUP) {
		if (t->drive)
			return 0;
		t->drive = drive_create(&t->profile, t->ftl, GFP_KERNEL);
		if (!t->drive)
			return -ENOMEM;
		count_bytes(t, drive_bytes(t->drive));
		return 0;
	}
	if (t->disk)
		return 0;
	t->disk = disk_create(&t->profile, t->ftl, GFP_KERNEL);
	if (!t->disk)
		return -ENOMEM;
	disk_sum_into(t->disk, &t->sums);
	count_bytes(t, disk_bytes(t->disk));
	return 0;
}

static size_t profile_bytes(const struct profile *profile)
{
	return profile->nr_zones * sizeof(*profile->zones) +
	       profile->nr_slips * sizeof(*profile->slips) +
	       profile->nr_remaps * sizeof(*profile->remaps) +
	       profile->nr_seeks * sizeof(*profile->seeks);
}

/* Parse @word, keep what it says in canonical form, and scale it. */
static int timing_read_profile(struct timing *t, const char *word, u64 sectors, char **error)
{
	/* Shared by all: two constructors that fail at once may garble the text. */
	static char text[160];
	struct profile_error e;
	size_t size;
	int r;

	r = profile_parse(&t->profile, word, strlen(word), &e);
	if (r) {
		*error = "Not enough memory for the profile";
		if (r == -EINVAL) {
			snprintf(text, sizeof(text), "profile: item %u: %s", e.line, e.text);
			*error = text;
		}
		return r;
	}
	*error = "Not enough memory for the profile";
	size = profile_print(&t->profile, NULL, 0) + 1;
	t->word = kvmalloc(size, GFP_KERNEL);
	if (!t->word)
		return -ENOMEM;
	profile_print(&t->profile, t->word, size);
	r = profile_scale(&t->profile, sectors);
	if (r == -EINVAL)
		*error = "profile: cannot be scaled to a disk of this size";
	if (r)
		return r;
	count_bytes(t, size + profile_bytes(&t->profile));
	return 0;
}

/* Ranges that are asked for at a time: few enough for the lock; pages that are told of at a time */
#define FOLLOWED_RANGES	16
#define FOLLOWED_PAGES	BIT_ULL(24)

/* Sectors [@start, @end) have been written. Those behind the disk's end are no matter. */
static void timing_tell_written(struct timing *t, u64 start, u64 end)
{
	u64 page, next, last;

	end = min(end, t->profile.sectors);
	if (start >= end)
		return;
	trace_david_written(t->dev, 0, 0, start, end - start);
	if (!t->ftl)
		return;
	last = DIV_ROUND_UP(end, FTL_PAGE);
	for (page = start / FTL_PAGE; page < last; page = next) {
		next = min(last, page + FOLLOWED_PAGES);
		ftl_fill(t->ftl, page, next - page);
		cond_resched();
	}
}

void timing_follow(struct timing *t)
{
	struct store *store = t->store;
	struct rt_range ranges[FOLLOWED_RANGES];
	u64 at = 0, start = 0, end = 0;
	unsigned long flags;
	unsigned int i, nr;

	/* Of a drive without flash only a recording wants to know. */
	if (t->followed || (!t->ftl && !trace_david_written_enabled()) || INJECTED(blank))
		return;
	t->followed = true;
	do {
		spin_lock_irqsave(&store->lock, flags);
		nr = rt_read(&store->table, at, ranges, FOLLOWED_RANGES);
		spin_unlock_irqrestore(&store->lock, flags);
		for (i = 0; i < nr; i++) {
			at = ranges[i].start + ranges[i].len;
			if (ranges[i].start << store->block_shift != end) {
				timing_tell_written(t, start, end);
				start = ranges[i].start << store->block_shift;
			}
			end = at << store->block_shift;
		}
		cond_resched();
	} while (nr && end < t->profile.sectors);
	timing_tell_written(t, start, end);
}

void timing_forget(struct timing *t)
{
	u64 pages = DIV_ROUND_UP(t->profile.sectors, FTL_PAGE), page, nr;
	unsigned long flags;

	for (page = 0; t->ftl && page < pages; page += nr) {
		nr = min(pages - page, FOLLOWED_PAGES);
		spin_lock_irqsave(&t->store->model.lock, flags);
		ftl_trim(t->ftl, page, nr);
		spin_unlock_irqrestore(&t->store->model.lock, flags);
		cond_resched();
	}
}

void timing_tell_mode(struct timing *t, enum david_mode mode)
{
	trace_david_mode(t->dev, mode);
}

static int make_map(struct timing *t)
{
	if (t->profile.kind != DRIVE_SSD)
		return 0;
	t->ftl = ftl_create(&t->profile, GFP_KERNEL);
	if (!t->ftl)
		return -ENOMEM;
	count_bytes(t, ftl_bytes(t->ftl));
	return 0;
}

static int make_deliveries(struct timing *t)
{
	struct delivery *delivery;
	int cpu;

	t->deliveries = alloc_percpu(struct delivery);
	if (!t->deliveries)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		delivery = per_cpu_ptr(t->deliveries, cpu);
		delivery->timing = t;
		INIT_CSD(&delivery->call, timing_deliver_here, delivery);
	}
	count_bytes(t, num_possible_cpus() * sizeof(*delivery));
	return 0;
}

struct timing *timing_create(struct dm_target *ti, struct store *store, const char *word,
			     char **error)
{
	struct timing *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int r;

	if (!t) {
		*error = "Not enough memory for the model";
		return ERR_PTR(-ENOMEM);
	}
	t->ti = ti;
	t->store = store;
	t->dev = disk_devt(dm_disk(dm_table_get_md(ti->table)));
	t->armed = U64_MAX;
	t->due_tail = &t->due;
	INIT_LIST_HEAD(&t->beside);
	INIT_LIST_HEAD(&t->waiting[0]);
	INIT_LIST_HEAD(&t->waiting[1]);
	hrtimer_setup(&t->timer, timing_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	count_bytes(t, sizeof(*t));
	*error = "Not enough memory for the model";
	r = make_deliveries(t) ?: timing_read_profile(t, word, ti->len, error);
	if (!r) {
		*error = "Not enough memory for the model";
		r = make_map(t);
	}
	if (r) {
		timing_destroy(t);
		return ERR_PTR(r);
	}
	return t;
}

void timing_destroy(struct timing *t)
{
	struct beside *beside, *next;

	if (!t)
		return;
	wait_var_event(&t->plugs, !atomic_read(&t->plugs));
	hrtimer_cancel(&t->timer);
	/* A call on another CPU has delivered the last request, and may still be on its way out. */
	if (num_possible_cpus() > 1)
		synchronize_rcu();
	free_percpu(t->deliveries);
	/* Nobody waits for these. */
	list_for_each_entry_safe(beside, next, &t->beside, list)
		timing_free_beside(t, &beside->timed);
	if (t->disk)
		disk_destroy(t->disk);
	if (t->drive)
		drive_destroy(t->drive);
	ftl_destroy(t->ftl);
	profile_free(&t->profile);
	kvfree(t->word);
	atomic64_sub(t->bytes, &t->store->model_bytes);
	kfree(t);
}
