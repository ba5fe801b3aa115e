// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs in a closed loop. Each outstanding request has a slot. A slot waits until its
 * time to send, or waits for room in the queue, or has a request in flight.
 */
#include <math.h>

#include "../../dm-david/portable/portable-alloc.h"
#include "../../dm-david/portable/splitmix.h"
#include "../../model/drive/seek.h"
#include "../../model/flash/ftl.h"
#include "job.h"
#include "rank.h"
#include "target.h"
#include "zonejob.h"

#define START	1000000		/* ns: not at the index mark */
#define SEEKS	20000		/* samples of the seek curve */
#define MOST_WINDOWS	1000ULL	/* that a "steady" job warms up for */
#define FILLINGS	4	/* of the caches */

/* SLOT_BLOCKED: until a request of its part ends */
enum slot_state { SLOT_READY, SLOT_BLOCKED, SLOT_WAITING, SLOT_SENT, SLOT_DONE };

struct slot {
	struct disk_request request;
	struct disk_submitter who;
	struct slot *next;		/* of those that wait for room */
	u64 ready;
	u32 part;
	u32 index;			/* within the part */
	u32 stream;			/* of the part, if that is of zones */
	enum slot_state state;
};

struct part {
	const struct job_part *job;
	u64 *at;			/* the streams' next sectors; random: their states */
	u32 turn;
	u64 sent;			/* flushes included */
	u64 due;			/* with a rate: no request before */
	struct zone_part zones;
};

/* What has been written, and what shingled disks had not written home then. */
struct media_mark {
	struct pending_figures pending;
	u64 written, writes;		/* bytes, requests */
};

struct run {
	const struct job *job;
	struct target target;
	u32 members;			/* of an array */
	struct slot *slots;
	u32 nr_slots;
	struct slot *first[2];		/* lists of those that wait: disk_line() */
	struct part parts[JOB_PARTS];
	u64 rnd;
	u64 now;
	u64 sent;
	u64 done;
	u64 failed;			/* of these, flushes included */
	u64 warm;			/* requests that are not counted */
	u64 window;			/* requests */
	u64 warm_window;
	struct job_windows warming;
	struct media_mark media[JOB_WINDOWS + 1];	/* at the ends of its windows */
	struct media_mark media_begin;	/* of the requests that are counted */
	struct ftl *flash;		/* NULL: the disk's own */
	struct zones *zones;		/* of the drive; NULL: it has none */
	const char *refused;		/* why the drive would refuse what the job asks for */
	struct faults *faults;		/* NULL: none */
	u64 faults_before;		/* what they had done when counting began */
	u64 begin;			/* time of the last completion that is not counted */
	struct job_result *result;
	struct array_member_figures before[ARRAY_MEMBERS];	/* at that time */
	u64 read_pages;			/* of 4 KiB, from the beginning; */
	u64 read_pages_before;		/* at that time */
	u64 written, writes;		/* bytes, requests, from the beginning */
	struct drive_sums sums;		/* of a disk, up to now; */
	struct drive_sums sums_before;	/* at that time */
	struct solid_figures solid_before;	/* of what the job found done; */
	struct media_mark media_before;		/* and members of an array were given */
};

static struct slot *slot_of(struct disk_request *request)
{
	return (struct slot *)((char *)request - offsetof(struct slot, request));
}

/* Streams share the span evenly. */
static u64 stream_start(const struct job_part *job, u32 stream)
{
	return job->start + job->span / job->streams / 8 * 8 * stream;
}

static u64 stream_end(const struct job_part *job, u32 stream)
{
	return stream + 1 == job->streams ? job->start + job->span : stream_start(job, stream + 1);
}

/* Whose turn it is */
static u32 next_stream(struct part *part, u32 slot)
{
	const struct job_part *job = part->job;

	return job->depth >= job->streams ? slot % job->streams : part->turn++ % job->streams;
}

/* Of several streams each has places of its own, which another job of the seed has, too. */
static u64 job_random_place(struct run *run, struct part *part, u32 slot)
{
	const struct job_part *job = part->job;
	u64 align = job->align ?: job->sectors;
	u64 room = job->span - job->sectors - job->offset;
	u64 *rnd = job->streams > 1 ? &part->at[next_stream(part, slot)] : &run->rnd;

	return job->start + splitmix_next(rnd) % (room / align + 1) * align;
}

static u64 stream_place(struct part *part, u32 slot)
{
	const struct job_part *job = part->job;
	u32 stream = next_stream(part, slot);
	u64 *at = &part->at[stream], place = *at;

	if (job->order == JOB_BACKWARD) {
		*at -= job->sectors + job->gap;
		if ((s64)*at < (s64)stream_start(job, stream))
			*at = stream_end(job, stream) - job->sectors - job->offset;
		return place;
	}
	*at += job->sectors + job->gap;
	if (*at + job->sectors + job->offset > stream_end(job, stream))
		*at = stream_start(job, stream);
	return place;
}

static u64 pages_of(const struct disk_request *request)
{
	return (request->sector + request->sectors + 7) / 8 - request->sector / 8;
}

static void count_asked(struct run *run, const struct disk_request *request)
{
	if (request->op == DISK_WRITE) {
		run->written += request->sectors * 512ULL;
		run->writes++;
	} else if (request->op == DISK_READ) {
		run->read_pages += pages_of(request);
	}
}

/* The same as make_request(), of a part that is of zones. */
static bool make_zone_request(struct run *run, struct slot *slot)
{
	struct part *part = &run->parts[slot->part];
	struct disk_request *request = &slot->request;

	slot->stream = next_stream(part, slot->index);
	if (!zonejob_next(&part->zones, run->zones, slot->stream, &run->rnd, request,
			  &run->refused))
		return false;
	if (part->job->fua && request->op == DISK_WRITE)
		request->flags |= DISK_FUA;
	count_asked(run, request);
	return true;
}

/* Choose the slot's next request. False: there is none until another one of the part has ended. */
static bool make_request(struct run *run, struct slot *slot)
{
	struct part *part = &run->parts[slot->part];
	const struct job_part *job = part->job;
	struct disk_request *request = &slot->request;

	memset(request, 0, sizeof(*request));
	request->flags = job->async ? 0 : DISK_SYNC;
	if (job->flush && part->sent % (job->flush + 1) == job->flush) {
		request->op = DISK_FLUSH;
		part->sent++;
		return true;
	}
	if (job->zones) {
		if (!make_zone_request(run, slot))
			return false;
		part->sent++;
		return true;
	}
	part->sent++;
	request->sectors = job->sectors;
	request->op = DISK_READ;
	if (job->writes == 100 || (job->writes && splitmix_next(&run->rnd) % 100 < job->writes))
		request->op = DISK_WRITE;
	if (job->fua && request->op == DISK_WRITE)
		request->flags |= DISK_FUA;
	request->sector = job->order == JOB_RANDOM ? job_random_place(run, part, slot->index) :
						     stream_place(part, slot->index);
	request->sector += job->offset;
	count_asked(run, request);
	return true;
}

static void job_send(struct run *run, struct slot *slot)
{
	slot->state = SLOT_SENT;
	target_submit(&run->target, &slot->request, run->now);
}

/* @slot was refused. It is the last of its list. */
static void job_wait(struct run *run, struct slot *slot)
{
	struct slot **at = &run->first[disk_line(run->target.disk, slot->request.op)];

	disk_wait(run->target.disk, &slot->who, &slot->request);
	slot->next = NULL;
	while (*at)
		at = &(*at)->next;
	*at = slot;
}

static void job_enter(struct run *run, struct slot *slot)
{
	struct part *part = &run->parts[slot->part];

	if (!make_request(run, slot)) {
		slot->state = SLOT_BLOCKED;
		return;
	}
	if (run->refused)
		return;
	run->sent++;
	if (part->job->rate)
		part->due = max(part->due, run->now) +
			    slot->request.sectors * 512ULL * 1000000000 / part->job->rate;
	if (target_merges(&run->target, &slot->request, run->now) ||
	    target_enter(&run->target, &slot->who, slot->request.op, run->now)) {
		job_send(run, slot);
		return;
	}
	slot->state = SLOT_WAITING;
	job_wait(run, slot);
}

/* Send requests of waiting slots while the queue has room. */
static void job_admit(struct run *run, u32 line)
{
	struct slot **at, *slot;
	bool entered;

	while (run->first[line] && target_wakeups(&run->target, run->first[line]->request.op)) {
		for (at = &run->first[line]; *at; at = &(*at)->next)
			if (disk_wakes(run->target.disk, &(*at)->request))
				break;
		slot = *at;
		if (!slot)
			return;
		disk_woken(run->target.disk, &slot->who, slot->request.op, run->now);
		entered = target_enter(&run->target, &slot->who, slot->request.op, run->now);
		if (!entered && disk_line(run->target.disk, DISK_WRITE))
			return;
		*at = slot->next;
		if (entered)
			job_send(run, slot);
		else
			job_wait(run, slot);
	}
}

static u64 ready_at(const struct run *run, const struct slot *slot)
{
	return max(slot->ready, run->parts[slot->part].due);
}

/* A job that is drained sends only requests that it counts, so that no others add to its time. */
static bool may_send(const struct run *run)
{
	return !run->job->drain || run->sent < run->warm + run->job->count;
}

static void send_ready(struct run *run)
{
	u32 i;

	for (i = 0; i < run->nr_slots && may_send(run); i++)
		if (run->slots[i].state == SLOT_READY && ready_at(run, &run->slots[i]) <= run->now)
			job_enter(run, &run->slots[i]);
	/* With blk-mq two requests that become one free a tag. */
	if (run->target.disk && !disk_line(run->target.disk, DISK_WRITE))
		job_admit(run, 0);
}

static u64 next_time(const struct run *run)
{
	u64 next = target_next_event(&run->target);
	u32 i;

	for (i = 0; i < run->nr_slots && may_send(run); i++)
		if (run->slots[i].state == SLOT_READY)
			next = min(next, ready_at(run, &run->slots[i]));
	return max(next, run->now);
}

static void job_count(struct job_figures *figures, const struct disk_request *request)
{
	u64 ns = request->completion - request->arrival;

	figures->requests++;
	if (request->fault != FAULT_NONE) {
		figures->failed++;
		figures->failed_ns += ns;
		return;
	}
	figures->bytes += request->sectors * 512ULL;
	figures->hits += request->parts.hit;
	figures->cached += request->parts.cached;
	figures->ns += ns;
	figures->most = max(figures->most, ns);
}

/* A part has room for all of the job's. Pages of it that are not touched cost nothing. */
static void keep_time(struct job_figures *figures, const struct disk_request *request)
{
	figures->times[figures->nr_times++] = request->completion - request->arrival;
}

/* What flash did since the job began. */
static bool solid_now(const struct run *run, struct solid_figures *figures)
{
	bool has = target_solid_figures(&run->target, figures);

	solid_figures_subtract(figures, &run->solid_before);
	return has;
}

static void mark(struct run *run)
{
	struct job_mark *mark = &run->result->marks[run->result->nr_marks++];

	mark->ns = run->result->ns;
	mark->served = job_served(&run->result->all);
	solid_now(run, &mark->solid);
}

static void window_end(struct job_windows *windows, u64 now, u64 served)
{
	if (windows->nr == ARRAY_SIZE(windows->ns)) {
		windows->nr--;
		memmove(windows->ns, windows->ns + 1, windows->nr * sizeof(*windows->ns));
		memmove(windows->served, windows->served + 1,
			windows->nr * sizeof(*windows->served));
	}
	windows->ns[windows->nr] = now;
	windows->served[windows->nr++] = served;
}

static double mean_of(const double *rate, u32 nr)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < nr; i++)
		sum += rate[i];
	return sum / nr;
}

static double squares_about(const double *rate, u32 nr, double mean)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < nr; i++)
		sum += (rate[i] - mean) * (rate[i] - mean);
	return sum;
}

/* In percent. Nothing is served while a drive is gone: what comes after that is all new. */
static double change(double from, double to)
{
	return from > 0 ? 100 * (to / from - 1) : to > 0 ? 100 : 0;
}

/*
 * The line's change in percent of where it begins, or 0 as it is no steeper than those of level
 * rates. Of what falls too fast for a line the change is that of the windows.
 */
static double trend_line(const double *rate, double *off)
{
	const double middle = (JOB_WINDOWS - 1) / 2.0, most = 5.041;
	double mean = mean_of(rate, JOB_WINDOWS), slope = 0, spread = 0;
	u32 i;

	for (i = 0; i < JOB_WINDOWS; i++)
		spread += (i - middle) * (i - middle);
	for (i = 0; i < JOB_WINDOWS; i++)
		slope += (i - middle) * (rate[i] - mean) / spread;
	*off = 0;
	for (i = 0; i < JOB_WINDOWS; i++)
		*off += pow(rate[i] - mean - slope * (i - middle), 2);
	if (fabs(slope) < most * sqrt(*off / (JOB_WINDOWS - 2) / spread))
		return 0;
	if (fabs(slope) * middle >= mean)
		return change(rate[0], rate[JOB_WINDOWS - 1]);
	return change(mean - slope * middle, mean + slope * middle);
}

/*
 * The step between two windows that fits best, in percent of the rate before it, or 0 as it is no
 * higher than those of level rates: of 400,000 drawn at random, 99.9 % were less high.
 */
static double trend_step(const double *rate, double *off)
{
	const double most = 7.06;
	double best = 0, before, after, left, scatter;
	u32 at, rest;

	*off = INFINITY;
	for (at = 1; at < JOB_WINDOWS; at++) {
		rest = JOB_WINDOWS - at;
		before = mean_of(rate, at);
		after = mean_of(rate + at, rest);
		left = squares_about(rate, at, before) + squares_about(rate + at, rest, after);
		if (left >= *off)
			continue;
		*off = left;
		scatter = sqrt(left / (JOB_WINDOWS - 2) * (1.0 / at + 1.0 / rest));
		best = fabs(after - before) < most * scatter ? 0 : change(before, after);
	}
	return best;
}

/*
 * The change from the first window to the last in percent of the first, if nearly all windows are
 * in the order of their rates, as those of a curve are; else 0. Kendall's S of level rates is
 * nearer to 0 in 99.9 % of all orders.
 */
static double trend_curve(const double *rate)
{
	const int most = 35;
	int s = 0;
	u32 i, k;

	for (i = 0; i < JOB_WINDOWS; i++)
		for (k = i + 1; k < JOB_WINDOWS; k++)
			s += (rate[k] > rate[i]) - (rate[k] < rate[i]);
	return abs(s) < most ? 0 : change(rate[0], rate[JOB_WINDOWS - 1]);
}

static double trend_of(const double *rate)
{
	double line, step, trend, off_line, off_step;

	line = trend_line(rate, &off_line);
	step = trend_step(rate, &off_step);
	trend = off_step < off_line ? step : line;
	return trend ? trend : trend_curve(rate);
}

static double window_ns(const struct job_windows *windows, u32 i)
{
	return max(1.0, (double)(windows->ns[i + 1] - windows->ns[i]));
}

double job_trend(const struct job_windows *windows)
{
	double rate[JOB_WINDOWS];
	u32 i;

	if (windows->nr <= JOB_WINDOWS)
		return 0;
	for (i = 0; i < JOB_WINDOWS; i++)
		rate[i] = (windows->served[i + 1] - windows->served[i]) / window_ns(windows, i);
	return trend_of(rate);
}

double job_part_trend(const struct job_result *result, u32 part, u32 least)
{
	double rate[JOB_WINDOWS];
	u64 served;
	u32 i;

	if (result->windows.nr <= JOB_WINDOWS)
		return 0;
	for (i = 0; i < JOB_WINDOWS; i++) {
		served = result->part_served[i + 1][part] - result->part_served[i][part];
		if (served < least)
			return 0;
		rate[i] = served / window_ns(&result->windows, i);
	}
	return trend_of(rate);
}

/* Of requests that are counted. */
static void counted_window_end(struct job_result *result, u64 now)
{
	u64 flushes = result->flushes - result->failed_flushes;
	u32 i;

	for (i = 0; i < JOB_PARTS; i++)
		result->part_served[result->windows.nr][i] = job_served(&result->parts[i]);
	window_end(&result->windows, now, job_served(&result->all) + flushes);
}

/* Requests of a window. Of one of warming, as many as the caches take: else its rate is theirs. */
static void set_windows(struct run *run)
{
	u32 i, sectors = 1;

	for (i = 0; i < run->job->nr_parts; i++)
		sectors = max(sectors, run->job->parts[i].sectors);
	run->window = max(1U, run->job->count / JOB_WINDOWS);
	run->warm_window = max(run->window, run->result->cache / 512 / sectors);
}

/* Of an array what its members were given: each copy, and parity. */
static struct media_mark media_now(const struct run *run)
{
	struct media_mark mark = { .written = run->written, .writes = run->writes };
	struct array_member_figures member[ARRAY_MEMBERS] = { };
	u32 i;

	target_pending_figures(&run->target, &mark.pending);
	if (!run->members)
		return mark;
	target_figures(&run->target, run->members, member);
	mark.written = -run->media_before.written;
	mark.writes = -run->media_before.writes;
	for (i = 0; i < run->members; i++) {
		mark.written += member[i].write_sectors * 512;
		mark.writes += member[i].writes;
	}
	return mark;
}

/*
 * Of what was written between two marks, what shingled disks did not write home: of the bytes, or
 * of the requests, if that is more. A stream beside small writes has nearly all bytes.
 */
static double media_share(const struct media_mark *from, const struct media_mark *to)
{
	double sectors = (double)to->pending.sectors - from->pending.sectors;
	double runs = (double)to->pending.runs - from->pending.runs;
	double share = fmax(512 * sectors / fmax(to->written - from->written, 1),
			    runs / fmax(to->writes - from->writes, 1));

	return fmin(fmax(share, 0), 1);
}

/*
 * Can the caches be full? While they take what comes, the media write, too, and nearly as fast.
 * So it takes a few times their size. A job that has written nothing need not fill them.
 */
static bool filled(const struct run *run, const struct media_mark *mark)
{
	return !mark->written || mark->written >= FILLINGS * run->result->cache;
}

/* Will they ever be, at the pace of the requests up to now? */
static bool can_fill(const struct run *run, const struct media_mark *mark)
{
	double windows = fmax((double)run->done / run->warm_window, 1);

	return mark->written / windows * MOST_WINDOWS >= FILLINGS * run->result->cache;
}

/* And what came in the last windows of warming, did it not stay in a media cache? */
static bool went_home(const struct run *run)
{
	return media_share(&run->media[0], &run->media[JOB_WINDOWS]) < JOB_LEVEL / 100.0;
}

/*
 * A "steady" job that has warmed up: may it be counted? If not, it warms up for another window. Ten
 * windows must be level, and writes must have had the time to fill the caches: until then a cache
 * that takes everything has a level rate, too.
 */
static void warm_on(struct run *run, u64 now)
{
	const struct job_windows *warming = &run->warming;
	struct job_result *result = run->result;
	struct media_mark *mark = &run->media[JOB_WINDOWS];
	bool full, settled;

	window_end(&run->warming, now, run->done - run->failed);
	memmove(run->media, run->media + 1, sizeof(run->media) - sizeof(run->media[0]));
	*mark = media_now(run);
	full = filled(run, mark);
	settled = full && went_home(run);
	result->level = warming->nr > JOB_WINDOWS && fabs(job_trend(warming)) < JOB_LEVEL &&
			settled;
	if (result->level)
		result->before = (warming->served[JOB_WINDOWS] - warming->served[0]) * 1e9 /
				 max((u64)1, warming->ns[JOB_WINDOWS] - warming->ns[0]);
	else if ((full || can_fill(run, mark)) &&
		 (run->warm < MOST_WINDOWS * run->warm_window || !settled))
		run->warm += run->warm_window;
}

static void sums_subtract(struct drive_sums *sums, const struct drive_sums *before)
{
	drive_parts_subtract(&sums->parts, &before->parts);
	sums->hits -= before->hits;
}

static void member_subtract(struct array_member_figures *now,
			    const struct array_member_figures *before)
{
	now->reads -= before->reads;
	now->writes -= before->writes;
	now->flushes -= before->flushes;
	now->read_sectors -= before->read_sectors;
	now->write_sectors -= before->write_sectors;
	now->prereads -= before->prereads;
	now->preread_sectors -= before->preread_sectors;
	now->redundant_sectors -= before->redundant_sectors;
	now->response -= before->response;
	now->busy -= before->busy;
	now->waiting -= before->waiting;
	now->idle -= before->idle;
	sums_subtract(&now->drive, &before->drive);
}

/* All that is counted, in one sum: is it more than before? */
static u64 faults_done(const struct faults *faults)
{
	const struct fault_figures *done = &faults->figures;

	return done->media_reads + done->media_writes + done->timeouts + done->gone +
	       done->slowed + done->stalled + done->detours + done->moved;
}

/* What the drive, or all members, did since the last request that does not count. */
static void end_counting(struct run *run)
{
	struct drive_sums *drive = &run->result->drive;
	struct array_member_figures *member = run->result->members;
	u32 i;

	*drive = run->sums;
	sums_subtract(drive, &run->sums_before);
	target_figures(&run->target, run->members, member);
	run->result->written = media_now(run).written;
	run->result->read_pages = run->members ? 0 : run->read_pages - run->read_pages_before;
	for (i = 0; i < run->members; i++, member++) {
		member_subtract(member, &run->before[i]);
		run->result->read_pages += member->read_sectors / 8;
		drive_parts_add(&drive->parts, &member->drive.parts);
		drive->hits += member->drive.hits;
	}
	run->result->state = target_bytes(&run->target) + (run->flash ? ftl_bytes(run->flash) : 0);
	run->result->has_solid = solid_now(run, &run->result->solid);
	run->result->doubt = run->target.array ? array_doubt(run->target.array) : NULL;
	run->result->has_faults = run->faults && run->faults->nr;
	if (run->faults)
		run->result->faults_met = faults_done(run->faults) - run->faults_before;
}

static void begin_counting(struct run *run)
{
	target_figures(&run->target, run->members, run->before);
	run->sums_before = run->sums;
	run->media_begin = media_now(run);
	run->read_pages_before = run->read_pages;
	if (run->faults)
		run->faults_before = faults_done(run->faults);
	solid_now(run, &run->result->begin.solid);
}

/* A request that is not counted. */
static void account_warm(struct run *run, u64 now)
{
	run->begin = now;
	if (run->done < run->warm)
		return;
	if (run->job->steady)
		warm_on(run, now);
	if (run->done < run->warm)
		return;
	begin_counting(run);
	run->result->filled = filled(run, &run->media_begin);
	counted_window_end(run->result, now);
}

/* No flush. */
static void count_request(struct run *run, const struct slot *slot)
{
	const struct disk_request *request = &slot->request;
	struct job_result *result = run->result;

	job_count(&result->all, request);
	job_count(&result->parts[slot->part], request);
	if (disk_op_has_data(request->op)) {
		job_count(&result->op[request->op], request);
		job_count(&result->part_op[slot->part][request->op], request);
	}
	if (request->fault != FAULT_NONE)
		return;
	if (result->parts[slot->part].times)
		keep_time(&result->parts[slot->part], request);
	result->times[result->nr_times++] = request->completion - request->arrival;
}

static void count_flush(struct job_result *result, const struct disk_request *request)
{
	result->flushes++;
	if (request->fault != FAULT_NONE)
		result->failed_flushes++;
	else
		result->flush_ns += request->completion - request->arrival;
}

/* One that fails is a request that failed. */
static void count_zone_command(struct job_result *result, const struct disk_request *request)
{
	if (request->fault != FAULT_NONE) {
		job_count(&result->all, request);
		return;
	}
	result->zone_commands++;
	result->zone_ns += request->completion - request->arrival;
}

static void account(struct run *run, const struct slot *slot)
{
	const struct disk_request *request = &slot->request;
	struct job_result *result = run->result;

	run->done++;
	run->failed += request->fault != FAULT_NONE;
	if (run->done <= run->warm) {
		account_warm(run, request->completion);
		return;
	}
	if (run->done > run->warm + run->job->count)
		return;
	result->ns = request->completion - run->begin;
	if (request->op == DISK_FLUSH)
		count_flush(result, request);
	else if (!disk_op_has_data(request->op) && !run->parts[slot->part].job->zone_op)
		count_zone_command(result, request);
	else
		count_request(run, slot);
	if ((run->done - run->warm) % run->window == 0 &&
	    result->windows.nr <= JOB_WINDOWS)
		counted_window_end(result, request->completion);
	if (run->job->every && (run->done - run->warm) % run->job->every == 0)
		mark(run);
	/* Before another one is sent in its place. */
	if (run->done == run->warm + run->job->count && !run->job->drain)
		end_counting(run);
}

static void zone_request_ended(struct run *run, const struct slot *slot)
{
	const char *refused = zonejob_ended(&run->parts[slot->part].zones, slot->stream,
					    &slot->request);

	if (refused)
		run->refused = refused;
}

static bool is_of_zones(const struct run *run, const struct slot *slot)
{
	return run->parts[slot->part].job->zones && slot->request.op != DISK_FLUSH;
}

/* Of requests under way those that will have failed; the host does not know yet. */
static void end_failed(struct run *run)
{
	const struct slot *slot;

	for (slot = run->slots; slot < run->slots + run->nr_slots; slot++)
		if (slot->state == SLOT_SENT && slot->request.fault != FAULT_NONE &&
		    is_of_zones(run, slot))
			zone_request_ended(run, slot);
}

static void complete(struct run *run, struct disk_request *request)
{
	struct slot *slot = slot_of(request);
	struct part *part = &run->parts[slot->part];
	u32 i;

	account(run, slot);
	slot->ready = request->completion + part->job->pace;
	slot->state = SLOT_READY;
	if (!is_of_zones(run, slot))
		return;
	zone_request_ended(run, slot);
	for (i = 0; i < run->nr_slots; i++)
		if (run->slots[i].state == SLOT_BLOCKED && run->slots[i].part == slot->part) {
			run->slots[i].ready = request->completion;
			run->slots[i].state = SLOT_READY;
		}
}

static void advance(struct run *run)
{
	struct disk_request *request, *next;

	for (request = target_advance(&run->target, run->now); request; request = next) {
		next = request->next;
		complete(run, request);
	}
	job_admit(run, 0);
	job_admit(run, 1);
}

/* Wait for the requests in flight, then flush. Nothing else is sent. run->now is then the end. */
static void drain(struct run *run)
{
	struct disk_submitter who = { };
	struct disk_request flush = { .op = DISK_FLUSH, .flags = DISK_SYNC };
	struct disk_request *request = NULL;
	bool sent = false;
	u64 next;
	u32 i, busy;

	while (!flush.completion) {
		for (busy = 0, i = 0; i < run->nr_slots; i++)
			busy += run->slots[i].state == SLOT_SENT ||
				run->slots[i].state == SLOT_WAITING;
		if (!busy && !sent && target_enter(&run->target, &who, DISK_FLUSH, run->now)) {
			target_submit(&run->target, &flush, run->now);
			sent = true;
		}
		next = target_next_event(&run->target);
		if (next == U64_MAX)
			break;
		run->now = max(run->now, next);
		request = target_advance(&run->target, run->now);
		for (; request; request = request->next)
			if (request != &flush)
				slot_of(request)->state = SLOT_DONE;
		job_admit(run, 0);
		job_admit(run, 1);
	}
}

static int prepare_times(struct job_result *result, const struct job *job)
{
	u32 i;

	result->times = calloc(job->count, sizeof(*result->times));
	if (job->every)
		result->marks = calloc(job->count / job->every + 1, sizeof(*result->marks));
	if (!result->times || (job->every && !result->marks))
		return -ENOMEM;
	for (i = 0; i < job->nr_parts && job->nr_parts > 1; i++) {
		result->parts[i].times = calloc(job->count, sizeof(*result->times));
		if (!result->parts[i].times)
			return -ENOMEM;
	}
	return 0;
}

/* Where a stream's first request is; a random one's state. The first has the job's own places. */
static u64 stream_begin(const struct job *job, const struct job_part *part, u32 stream)
{
	switch (part->order) {
	case JOB_RANDOM:
		return job->seed + stream * 0xd1342543de82ef95ULL;
	case JOB_BACKWARD:
		return stream_end(part, stream) - part->sectors - part->offset;
	default:
		return stream_start(part, stream);
	}
}

/* All slots are ready at @ready for the first requests of their parts. Returns 0 or -ENOMEM. */
static int begin_parts(struct run *run, u64 ready)
{
	u32 i, k;

	run->rnd = run->job->seed;
	run->nr_slots = 0;
	for (i = 0; i < run->job->nr_parts; i++) {
		const struct job_part *p = &run->job->parts[i];
		struct part *part = &run->parts[i];

		zonejob_free(&part->zones);
		*part = (struct part){ .job = p, .at = part->at };
		if (zonejob_begin(&part->zones, p, run->zones))
			return -ENOMEM;
		for (k = 0; k < p->streams; k++)
			part->at[k] = stream_begin(run->job, p, k);
		for (k = 0; k < p->depth; k++)
			run->slots[run->nr_slots++] = (struct slot) {
				.part = i, .index = k, .ready = ready,
			};
	}
	return 0;
}

static int prepare(struct run *run, const struct job *job)
{
	u32 i;

	if (run->zones)
		zonejob_fill(run->zones, job, run->flash);
	for (i = 0; i < job->nr_parts; i++)
		run->nr_slots += job->parts[i].depth;
	run->slots = calloc(run->nr_slots, sizeof(*run->slots));
	if (!run->slots || prepare_times(run->result, job))
		return -ENOMEM;
	for (i = 0; i < job->nr_parts; i++) {
		run->parts[i].at = calloc(job->parts[i].streams, sizeof(u64));
		if (!run->parts[i].at)
			return -ENOMEM;
	}
	return begin_parts(run, run->now);
}

static void trim(struct run *run)
{
	u32 i;

	for (i = 0; i < run->job->nr_parts && run->target.disk; i++)
		disk_trim(run->target.disk, run->job->parts[i].start, run->job->parts[i].span,
			  run->now);
}

/* The slots take turns. */
static void serve_untimed(struct run *run)
{
	u32 i = 0;

	while (run->done < run->warm + run->job->count) {
		struct slot *slot = &run->slots[i];
		struct disk_request *request = &slot->request;

		i = i + 1 == run->nr_slots ? 0 : i + 1;
		make_request(run, slot);	/* nothing is under way that it could wait for */
		if (run->refused)
			return;
		request->arrival = run->now;
		request->completion = run->now;
		if (run->zones)
			zonejob_untimed(run->zones, run->flash, request);
		else if (request->op == DISK_WRITE)
			ftl_write(run->flash, request->sector / FTL_PAGE, pages_of(request));
		complete(run, request);
	}
}

static void loop(struct run *run)
{
	if (run->job->untimed)
		serve_untimed(run);
	while (run->done < run->warm + run->job->count && !target_stopped(&run->target) &&
	       !run->refused) {
		run->now = next_time(run);
		advance(run);
		send_ready(run);
	}
	end_failed(run);
	run->result->warmed = run->warm;
	if (!run->job->drain || run->refused)
		return;
	drain(run);
	run->result->ns = run->now - run->begin;
	end_counting(run);
}

static void free_slots(struct run *run)
{
	u32 i;

	for (i = 0; i < JOB_PARTS; i++) {
		free(run->parts[i].at);
		zonejob_free(&run->parts[i].zones);
	}
	free(run->slots);
}

/* The drive serves @job, and is idle then. */
static int serve_before(struct run *run, const struct job *job)
{
	struct job_result result = { };
	struct run before = {
		.job = job, .target = run->target, .members = run->members, .now = run->now,
		.begin = run->now, .result = &result, .warm = job->warm, .zones = run->zones,
		.flash = run->flash,
	};
	int r;

	set_windows(&before);
	r = prepare(&before, job);
	if (!r) {
		loop(&before);
		if (!job->drain && !before.refused)
			drain(&before);
		run->now = before.now;
		run->refused = before.refused;
	}
	free_slots(&before);
	job_release(&result);
	return r;
}

static int serve_all_before(struct run *run)
{
	u32 i;
	int r = 0;

	for (i = 0; i < run->job->nr_before && !r; i++)
		r = serve_before(run, &run->job->before[i]);
	target_solid_figures(&run->target, &run->solid_before);
	run->media_before = media_now(run);
	run->result->found_pages = run->solid_before.host_pages;
	return r;
}

/* The counted requests of a first run are forgotten; the disk is as that left it. */
static int begin_again(struct run *run)
{
	struct job_result *result = run->result;
	u32 i;

	drain(run);
	run->now += run->job->again;
	run->sent = 0;
	run->done = 0;
	run->failed = 0;
	run->warming.nr = 0;
	run->warm = run->result->warmed;
	run->begin = run->now;
	result->ns = 0;
	result->flushes = 0;
	result->failed_flushes = 0;
	result->flush_ns = 0;
	result->nr_times = 0;
	result->nr_marks = 0;
	result->windows.nr = 0;
	result->all = (struct job_figures){ };
	memset(result->op, 0, sizeof(result->op));
	memset(result->part_op, 0, sizeof(result->part_op));
	for (i = 0; i < run->job->nr_parts; i++)
		result->parts[i] = (struct job_figures) { .times = result->parts[i].times };
	if (!run->warm) {
		begin_counting(run);
		counted_window_end(result, run->now);
	}
	return begin_parts(run, run->now);
}

/*
 * What is left to be written when the job has ended, by the time that it takes; and what is not
 * home then: the buffer is empty, which was not when counting began.
 */
static void look_after(struct run *run)
{
	struct media_mark media;
	u64 end = run->now;

	if (!run->job->drain)
		drain(run);
	run->result->left = run->now - end;
	media = media_now(run);
	run->result->media_share = media_share(&run->media_begin, &media);
}

/* The drive, or a member's, fails from now on, when its age is 0. Returns 0 or -ENOMEM. */
static int begin_faults(struct run *run, const struct profile *profile)
{
	run->faults = malloc(sizeof(*run->faults));
	if (!run->faults)
		return -ENOMEM;
	*run->faults = *run->job->faults;
	run->faults->profile = profile;
	run->faults->shift = -run->now;
	if (run->target.array)
		array_set_faults(run->target.array, run->job->faulty, run->faults);
	else
		disk_set_faults(run->target.disk, run->faults);
	return 0;
}

/*
 * The drive's zones, as --before finds them. Their state is that of the order in which requests are
 * made. Returns 0 or -ENOMEM.
 */
static int begin_zones(struct run *run, struct zones *zones, const struct profile *profile)
{
	if (!profile->zone_size)
		return 0;
	if (!run->flash && profile->kind == DRIVE_SSD)
		run->flash = ftl_create(profile, GFP_KERNEL);
	if (!run->flash && profile->kind == DRIVE_SSD)
		return -ENOMEM;
	run->zones = zones;
	return zonejob_zones(zones, profile, run->flash);
}

static int run_once(const struct job *job, const struct profile *profile,
		    const struct array_setup *setup, struct job_result *result)
{
	struct run run = { .job = job, .now = START, .begin = START,
			   .result = result };
	struct profile changed = *profile;	/* its tables are shared */
	struct zones zones = { };
	int r = -ENOMEM;
	u32 i;

	memset(result, 0, sizeof(*result));
	result->failed = "out of memory";
	if (job->read_cache_off) {
		changed.read_cache = false;
		changed.readahead = READAHEAD_NONE;
	}
	if (job->write_cache_off)
		changed.write_cache = WRITE_CACHE_OFF;
	run.members = setup ? setup->layout.members : 0;
	result->nr_members = run.members;
	result->cache = target_cache_bytes(&changed, run.members);
	set_windows(&run);
	run.warm = job->steady ? max_t(u64, job->warm, run.warm_window) : job->warm;
	result->lasting_cache = target_cache_lasts(&changed);
	if (job->flash)
		run.flash = ftl_copy(job->flash, GFP_KERNEL);
	if ((run.flash || !job->flash) && !begin_zones(&run, &zones, &changed) &&
	    !target_create(&run.target, &changed, setup, run.flash))
		r = serve_all_before(&run) ?: prepare(&run, job);
	if (!r && job->faults)
		r = begin_faults(&run, &changed);
	if (!r && run.target.disk)
		disk_sum_into(run.target.disk, &run.sums);
	if (!r) {
		run.begin = run.now;
		if (!run.warm)
			counted_window_end(result, run.now);
		if (job->trim)
			trim(&run);
		/* Nothing happens until then. */
		target_advance(&run.target, run.now);
		begin_counting(&run);
		loop(&run);
		if (job->again && !target_failed(&run.target) && !run.refused) {
			r = begin_again(&run);
			if (!r)
				loop(&run);
		}
		if (!r && job->look_after && !target_failed(&run.target) && !run.refused)
			look_after(&run);
		rank_sort(result->times, result->nr_times);
		for (i = 0; i < job->nr_parts; i++)
			rank_sort(result->parts[i].times, result->parts[i].nr_times);
	}
	if (!r && target_failed(&run.target)) {
		result->failed = target_failed(&run.target);
		r = -EIO;
	}
	if (!r && run.refused) {
		result->failed = run.refused;
		r = -EIO;
	}
	target_destroy(&run.target);
	zones_exit(&zones);
	if (job->keep_flash)
		result->flash = run.flash;
	else
		ftl_destroy(run.flash);
	free(run.faults);
	free_slots(&run);
	if (r)
		job_release(result);
	return r;
}

/*
 * What caches held when counting began is no doubt about what was counted. To ask for it changes a
 * disk, so another one serves the requests up to then.
 */
static int look_before(const struct job *job, const struct profile *profile,
		       const struct array_setup *setup, struct job_result *result)
{
	struct job warmed = *job;
	struct job_result before;
	int r;

	warmed.warm = 0;
	warmed.steady = false;
	warmed.drain = false;
	warmed.every = 0;
	warmed.keep_flash = false;
	warmed.count = result->warmed;
	r = run_once(&warmed, profile, setup, &before);
	if (r)
		return r;
	result->left_before = before.left;
	job_release(&before);
	return 0;
}

int job_run(const struct job *job, const struct profile *profile, const struct array_setup *setup,
	    struct job_result *result)
{
	int r = run_once(job, profile, setup, result);

	if (!r && result->all.failed && result->all.failed == result->all.requests) {
		result->failed = "all requests failed: nothing was measured";
		job_release(result);
		return -EIO;
	}
	if (r || !job->look_after || job->again || !result->warmed || result->filled ||
	    10 * result->left < result->ns)
		return r;
	r = look_before(job, profile, setup, result);
	if (r)
		job_release(result);
	return r;
}

void job_release(struct job_result *result)
{
	u32 i;

	free(result->times);
	result->times = NULL;
	free(result->marks);
	result->marks = NULL;
	ftl_destroy(result->flash);
	result->flash = NULL;
	for (i = 0; i < JOB_PARTS; i++) {
		free(result->parts[i].times);
		result->parts[i].times = NULL;
	}
}

/* The rate of sequential tracks in @zone: each takes a revolution and a skew. */
static double zone_rate(const struct profile *profile, const struct profile_zone *zone)
{
	double spt = zone->sectors_per_track, heads = profile->heads;
	double skews = (heads - 1) * zone->track_skew + zone->cyl_skew;

	return heads * spt * 512e9 / (profile->revolution * (heads + skews / spt));
}

static u32 cylinder_of(const struct profile *profile, u64 sector)
{
	const struct profile_zone *zone = profile->zones;

	while (sector >= zone->first_sector + zone->sectors &&
	       zone + 1 < profile->zones + profile->nr_zones)
		zone++;
	return zone->first_cyl + (sector - zone->first_sector) *
				 (zone->last_cyl - zone->first_cyl + 1) / zone->sectors;
}

/* The mean seek of random requests, from the seek curve alone. Rules compare results with it. */
static double mean_seek(const struct job_part *part, const struct profile *profile)
{
	u64 rnd = 1, sum = 0;
	u32 i, from = 0, to;

	for (i = 0; i <= SEEKS; i++, from = to) {
		to = cylinder_of(profile, part->start + splitmix_next(&rnd) % part->span);
		if (i)
			sum += seek_time(profile, from > to ? from - to : to - from);
	}
	return (double)sum / SEEKS;
}

/* Bytes of the disk that a job writes to, if it goes on for long enough. */
static double written_places(const struct job *job)
{
	double bytes = 0;
	u32 i;

	for (i = 0; i < job->nr_parts; i++) {
		const struct job_part *p = &job->parts[i];

		if (p->writes)
			bytes += 512.0 * p->span * p->sectors / (p->sectors + p->gap);
	}
	return bytes;
}

/*
 * How often each place is written at random until the rate comes within a tenth of where it ends,
 * with 4 and 64 KiB on a PM883 and an 860 PRO of 4 GiB: of a full drive in order once, then it is
 * within 1 %; of a fresh one, whose last pages are written late, 5 to 5.5 times.
 */
static u32 rewrites_after(const struct profile *profile)
{
	if (profile->precondition == PRECONDITION_RANDOM)
		return 0;
	return profile->precondition == PRECONDITION_SEQUENTIAL &&
	       profile->precondition_fill == 1000 ? 1 : 6;
}

/* The fastest and the slowest media there. */
static void add_media(struct job_limits *limits, const struct profile *profile, u64 start,
		      u64 sectors)
{
	u32 i;

	for (i = 0; i < profile->nr_zones; i++) {
		const struct profile_zone *zone = &profile->zones[i];
		double rate = zone_rate(profile, zone);

		if (zone->first_sector >= start + sectors ||
		    zone->first_sector + zone->sectors <= start)
			continue;
		limits->media = max(limits->media, rate);
		if (!limits->least_media || rate < limits->least_media)
			limits->least_media = rate;
	}
}

void job_limits(const struct job *job, const struct profile *profile,
		struct job_limits *limits)
{
	u64 slowest = 0;
	u32 i;

	memset(limits, 0, sizeof(*limits));
	if (profile->kind != DRIVE_DISK) {
		limits->media = profile->link_rate;
		limits->least_media = profile->link_rate;
		limits->interface = profile->link_rate;
		limits->places = written_places(job);
		limits->rewrites = rewrites_after(profile);
		limits->program_pages = profile->program_unit / 4096.0;
		return;
	}
	for (i = 0; i < job->nr_parts; i++) {
		const struct job_part *p = &job->parts[i];

		if (p->writes < 100)
			slowest = max(slowest, profile->bus_read);
		if (p->writes)
			slowest = max(slowest, profile->bus_write);
		add_media(limits, profile, p->start, p->span);
		/* A shingled drive may write to its media cache first, which is outermost. */
		if (p->writes && profile->media_cache)
			add_media(limits, profile, 0, profile->media_cache);
	}
	limits->seek = mean_seek(&job->parts[0], profile);
	if (slowest)
		limits->interface = 512e9 / slowest;
}

void job_limits_member(const struct profile *profile, struct job_limits *limits)
{
	const struct job all = {
		.nr_parts = 1, .parts = { { .writes = 50, .span = profile->sectors } },
	};

	job_limits(&all, profile, limits);
}
