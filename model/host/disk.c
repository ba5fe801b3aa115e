// SPDX-License-Identifier: GPL-2.0
/*
 * The engine of Linux 2.6.23 with its one queue; nvme.c and blk-mq.c have those of other hosts.
 *
 * Requests enter the queue. Commands go from the queue into the drive's window. The
 * drive serves one of the window's commands after another.
 *
 * A drive without an arm has no window: it serves all commands that it has.
 *
 * There are two kinds of events: the end of a command that the drive serves, and the unplug
 * timer. At the same time they come in this order. Every entry point first processes all events up
 * to its own time, each with the clock at the event's time. So a late call changes nothing.
 */
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "blk-mq.h"
#include "nvme.h"
#include "queue.h"
#include "window.h"
#include "zone-plugs.h"

/* Linux 2.6.23, block/ll_rw_blk.c: BLK_BATCH_TIME */
#define BATCH_TIME	(20ULL * 1000 * 1000)

#define NEVER		U64_MAX

/* disk->host of a disk with faults, */
#define HOST_FAULTY	(HOST_BLK_MQ + 1)

/* and of one with zones and without faults */
#define HOST_ZONED	(HOST_BLK_MQ + 2)

struct disk {
	const struct profile *profile;
	u8 host;			/* enum profile_host, HOST_FAULTY or HOST_ZONED */
	struct nvme *nvme;		/* host = nvme: nothing else is used */
	struct blk_mq *mq;		/* host = blk-mq: the same */
	struct queue queue;
	u64 now;
	u64 seq;

	/* Requests let in, by direction, as struct request_list of Linux 2.6 counts them */
	u32 count[2];
	u32 woken[2];			/* submitters that were woken and have not come yet */
	bool full[2];			/* only batching submitters may add */
	struct request_list pending[2];	/* that no slot is left for, or for a part of them */

	u64 unplug_at;			/* NEVER: not plugged */

	struct window window;
	struct request_list done;	/* of linux-2.6.23, and of all with zones */
	struct zone_plugs *plugs;	/* NULL: it has no zones */

	/* NULL: none, and the following are not used. */
	struct faults *faults;
	struct drive_sums *sums;	/* of a drive without an arm: what faults add goes there */
	struct request_list held;	/* that the host has back at ->completion, in that order */
};

struct disk *disk_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp)
{
	struct disk *disk = kvzalloc(sizeof(*disk), gfp);

	if (!disk)
		return NULL;
	disk->profile = profile;
	disk->host = profile->host;
	disk->unplug_at = NEVER;
	if (profile->zone_size) {
		disk->host = HOST_ZONED;
		disk->plugs = zone_plugs_create(profile, gfp);
		if (!disk->plugs)
			goto free_disk;
	}
	if (profile->host == HOST_NVME) {
		disk->nvme = nvme_create(profile, ftl, gfp);
		if (!disk->nvme)
			goto free_plugs;
		return disk;
	}
	if (profile->host == HOST_BLK_MQ) {
		disk->mq = blk_mq_create(profile, ftl, gfp);
		if (!disk->mq)
			goto free_plugs;
		return disk;
	}
	if (queue_init(&disk->queue, profile, gfp))
		goto free_disk;
	if (window_init(&disk->window, profile, ftl, gfp))
		goto exit_queue;
	return disk;

exit_queue:
	queue_exit(&disk->queue);
free_plugs:
	zone_plugs_destroy(disk->plugs);
free_disk:
	kvfree(disk);
	return NULL;
}

void disk_destroy(struct disk *disk)
{
	if (!disk)
		return;
	if (disk->nvme) {
		nvme_destroy(disk->nvme);
	} else if (disk->mq) {
		blk_mq_destroy(disk->mq);
	} else {
		window_exit(&disk->window);
		queue_exit(&disk->queue);
	}
	zone_plugs_destroy(disk->plugs);
	kvfree(disk);
}

size_t disk_bytes(const struct disk *disk)
{
	size_t plugs = disk->plugs ? zone_plugs_bytes(disk->plugs) : 0;

	if (disk->nvme)
		return sizeof(*disk) + plugs + nvme_bytes(disk->nvme);
	if (disk->mq)
		return sizeof(*disk) + plugs + blk_mq_bytes(disk->mq);
	return sizeof(*disk) + queue_bytes(&disk->queue) + window_bytes(&disk->window);
}

static void disk_dispatch_flush(struct disk *disk)
{
	struct disk_command *command = queue_next_flush(&disk->queue);

	command_dispatched(command, disk->now);
	window_send_flush(&disk->window, command, disk->now);
}

/*
 * Fill the window, and keep the drive busy. The drive does not queue a flush. So a flush waits
 * until the drive has no other command, and none follows before its end.
 */
static void disk_dispatch(struct disk *disk)
{
	struct disk_command *command;

	if (window_flushes(&disk->window))
		return;
	while (disk->unplug_at == NEVER && queue_ready(&disk->queue) &&
	       window_used(&disk->window) < disk->profile->ncq_depth) {
		if (disk->queue.flushes.first) {
			if (window_used(&disk->window))
				break;
			disk_dispatch_flush(disk);
			return;
		}
		command = queue_next(&disk->queue, disk->now);
		command_dispatched(command, disk->now);
		window_send(&disk->window, command, disk->now);
	}
	window_start(&disk->window, disk->now);
}

static void unplug_device(struct disk *disk)
{
	disk->unplug_at = NEVER;
	disk_dispatch(disk);
}

/* Requests into commands */

static bool flush_fits(struct disk *disk, struct disk_request *request)
{
	if (disk->count[DISK_WRITE] >= queue_most(disk->profile))
		return false;
	disk->count[DISK_WRITE]++;
	queue_add_flush(&disk->queue, request, disk->now);
	return true;
}

/*
 * Make commands of as much of @request as there are slots for. disk_enter() gave the first slot.
 * For the others the target's host would have waited without batching. So they are free only below
 * the limit.
 */
static bool disk_place(struct disk *disk, struct disk_request *request)
{
	unsigned int direction = direction_of(request->op);
	u32 limit = queue_most(disk->profile);

	if (request->op == DISK_FLUSH)
		return flush_fits(disk, request);
	while (request->left) {
		u32 sectors = min(request->left, disk->queue.piece);

		if (queue_merge(&disk->queue, request, sectors))
			continue;
		if (request->left < request->sectors)
			limit = disk->profile->nr_requests;
		if (disk->count[direction] >= limit)
			return false;
		disk->count[direction]++;
		queue_add(&disk->queue, request, sectors, disk->now);
	}
	return true;
}

/* Must @request wait for what is pending in the other direction? */
static bool must_wait_behind(const struct disk *disk, const struct disk_request *request)
{
	const struct disk_request *other = disk->pending[!direction_of(request->op)].first;

	for (; other; other = other->next)
		if (other->seq < request->seq &&
		    other->sector < request->sector + request->sectors &&
		    request->sector < other->sector + other->sectors)
			return true;
	return false;
}

/* A slot is free: requests that wait for one get it first, in order of arrival. */
static void disk_place_pending(struct disk *disk)
{
	bool progress;
	unsigned int direction;

	do {
		progress = false;
		for (direction = DISK_READ; direction <= DISK_WRITE; direction++) {
			struct request_list *pending = &disk->pending[direction];

			while (pending->first && !must_wait_behind(disk, pending->first)) {
				struct disk_request *request = request_list_pop(pending);

				if (disk_place(disk, request)) {
					progress = true;
					continue;
				}
				request_list_push(pending, request);
				break;
			}
		}
	} while (progress && (disk->pending[0].first || disk->pending[1].first));
}

/* Commands that are in the host's queue, not in the drive. */
static u32 commands_waiting(const struct disk *disk)
{
	return disk->count[0] + disk->count[1] - window_used(&disk->window);
}

static void update_full(struct disk *disk, unsigned int direction)
{
	if (disk->count[direction] < disk->profile->nr_requests)
		disk->full[direction] = false;
}

/* Events */

static void finish_command(struct disk *disk, struct disk_command *command)
{
	unsigned int direction = direction_of(command->op);

	command_ended(command, &disk->window.parts, disk->now, &disk->done);
	queue_complete(&disk->queue, command);
	disk->count[direction]--;
	update_full(disk, direction);
	if (disk->pending[DISK_READ].first || disk->pending[DISK_WRITE].first)
		disk_place_pending(disk);
	unplug_device(disk);	/* as the SCSI layer runs the queue when a command is done */
}

static u64 next_event(const struct disk *disk)
{
	return min(window_next_event(&disk->window), disk->unplug_at);
}

static noinline void disk_run_events(struct disk *disk, u64 now)
{
	struct disk_command *command;
	u64 next;

	while ((next = next_event(disk)) <= now && next != NEVER) {
		disk->now = next;
		if (window_next_event(&disk->window) > next) {
			unplug_device(disk);
			continue;
		}
		command = window_advance(&disk->window, next);
		if (command)
			finish_command(disk, command);
	}
}

static inline void disk_run_to(struct disk *disk, u64 now)
{
	if (next_event(disk) <= now)
		disk_run_events(disk, now);
	disk->now = max(disk->now, now);
}

/*
 * With zones
 *
 * Writes of a zone wait for each other in front of the host's queue. So the queue is asked for each
 * event by itself: what waited for the end of a write is sent at that time.
 */

static u64 zoned_next_event(const struct disk *disk)
{
	if (disk->done.first)
		return disk->done.first->completion;
	return disk->nvme ? nvme_next_event(disk->nvme) : blk_mq_next_event(disk->mq);
}

static void zoned_submit_one(struct disk *disk, struct disk_request *request, u64 now)
{
	if (disk->nvme)
		nvme_submit(disk->nvme, request, now);
	else
		blk_mq_submit(disk->mq, request, now);
}

static void zoned_send(struct disk *disk, u64 now)
{
	struct disk_request *request;

	while ((request = zone_plugs_next(disk->plugs)))
		zoned_submit_one(disk, request, now);
}

static noinline void zoned_run_to(struct disk *disk, u64 now)
{
	struct disk_request *request, *after;
	u64 next;

	while ((next = disk->nvme ? nvme_next_event(disk->nvme) :
				    blk_mq_next_event(disk->mq)) <= now && next != NEVER) {
		request = disk->nvme ? nvme_advance(disk->nvme, next) :
				       blk_mq_advance(disk->mq, next);
		for (; request; request = after) {
			after = request->next;
			if (!zone_plugs_ended(disk->plugs, request, &disk->done))
				request_list_append(&disk->done, request);
		}
		zoned_send(disk, next);
	}
}

static noinline void zoned_submit(struct disk *disk, struct disk_request *request, u64 now)
{
	zoned_run_to(disk, now);
	if (zone_plugs_take(disk->plugs, request)) {
		zone_plugs_add(disk->plugs, request, now);
		zoned_send(disk, now);
	} else {
		zoned_submit_one(disk, request, now);
	}
}

static noinline struct disk_request *zoned_advance(struct disk *disk, u64 now)
{
	struct disk_request *done;

	zoned_run_to(disk, now);
	done = disk->done.first;
	disk->done = (struct request_list){ };
	return done;
}

/* Before another host's engine is called. */
static inline void zoned_before(struct disk *disk, u64 now)
{
	if (unlikely(disk->plugs))
		zoned_run_to(disk, now);
}

/* Out of line: who has no zones saves no registers for these. */
static noinline bool zoned_enter(struct disk *disk, struct disk_submitter *who, enum disk_op op,
				 u64 now)
{
	zoned_run_to(disk, now);
	return disk->nvme ? nvme_enter(disk->nvme, who, op, now) :
			    blk_mq_enter(disk->mq, who, op, now);
}

static noinline bool zoned_merges(struct disk *disk, const struct disk_request *request, u64 now)
{
	zoned_run_to(disk, now);
	/* A write that waits for its zone needs no room in the queue. */
	if (zone_plugs_take(disk->plugs, request))
		return zone_plugs_waits(disk->plugs, request);
	return disk->mq && blk_mq_merges(disk->mq, request, now);
}

/* The callers' side */

static bool is_batching(const struct disk *disk, const struct disk_submitter *who,
			unsigned int direction)
{
	return who->batch[direction] && (who->batch[direction] == disk->profile->nr_batching ||
					 disk->now < who->batch_until);
}

static void start_batch(const struct disk *disk, struct disk_submitter *who,
			unsigned int direction)
{
	who->batch[direction] = disk->profile->nr_batching;
	who->batch_until = disk->now + BATCH_TIME;
}

/* The rules of Linux 2.6's get_request(). */
static bool let_in(struct disk *disk, struct disk_submitter *who, unsigned int direction)
{
	bool privileged = who->woken[direction];

	if (privileged) {
		who->woken[direction] = false;
		disk->woken[direction]--;
	}
	if (disk->pending[direction].first ||
	    disk->count[direction] >= queue_most(disk->profile))
		return false;
	if (disk->count[direction] + 1 >= disk->profile->nr_requests) {
		if (!disk->full[direction]) {
			/* Whoever fills the queue may go on for a batch. */
			if (!is_batching(disk, who, direction))
				start_batch(disk, who, direction);
			disk->full[direction] = true;
		} else if (!privileged && !is_batching(disk, who, direction)) {
			return false;
		}
	}
	if (is_batching(disk, who, direction))
		who->batch[direction]--;
	return true;
}

bool disk_enter(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now)
{
	if (unlikely(disk->plugs))
		return zoned_enter(disk, who, op, now);
	if (disk->nvme)
		return nvme_enter(disk->nvme, who, op, now);
	if (disk->mq)
		return blk_mq_enter(disk->mq, who, op, now);
	disk_run_to(disk, now);
	if (let_in(disk, who, direction_of(op)))
		return true;
	unplug_device(disk);	/* a submitter waits */
	return false;
}

void disk_wait(struct disk *disk, const struct disk_submitter *who, struct disk_request *request)
{
	request->flags |= DISK_WAITED;
	if (disk->mq)
		request->place = blk_mq_wait(disk->mq, who);
}

unsigned int disk_line(const struct disk *disk, enum disk_op op)
{
	return disk->mq ? 0 : direction_of(op);
}

bool disk_wakes(const struct disk *disk, const struct disk_request *request)
{
	return !disk->mq || blk_mq_wakes(disk->mq, request->place);
}

u32 disk_wakeups(const struct disk *disk, enum disk_op op)
{
	unsigned int direction = direction_of(op);
	u32 used = disk->count[direction] + disk->woken[direction];

	if (disk->nvme)
		return nvme_wakeups(disk->nvme);
	if (disk->mq)
		return blk_mq_wakeups(disk->mq);
	if (disk->pending[direction].first || used >= disk->profile->nr_requests)
		return 0;
	return disk->profile->nr_requests - used;
}

void disk_woken(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now)
{
	unsigned int direction = direction_of(op);

	zoned_before(disk, now);
	if (disk->nvme) {
		nvme_woken(disk->nvme, who, op, now);
		return;
	}
	if (disk->mq) {
		blk_mq_woken(disk->mq, who, op, now);
		return;
	}
	disk_run_to(disk, now);
	start_batch(disk, who, direction);
	if (!who->woken[direction]) {
		who->woken[direction] = true;
		disk->woken[direction]++;
	}
}

bool disk_merges(struct disk *disk, const struct disk_request *request, u64 now)
{
	if (unlikely(disk->plugs))
		return zoned_merges(disk, request, now);
	return disk->mq && blk_mq_merges(disk->mq, request, now);
}

void disk_unplug(struct disk *disk, struct disk_plug *plug, bool sleeps, u64 now)
{
	zoned_before(disk, now);
	if (disk->mq)
		blk_mq_unplug(disk->mq, plug, sleeps, now);
}

static noinline void queue_submit(struct disk *disk, struct disk_request *request, u64 now)
{
	unsigned int direction = direction_of(request->op);
	struct request_list *pending = &disk->pending[direction];
	bool now_please = request->flags & DISK_SYNC || request->op == DISK_FLUSH;
	u32 before;

	disk_run_to(disk, now);
	request->arrival = disk->now;
	request->dispatch = NEVER;
	request->seq = disk->seq++;
	request->left = request->op == DISK_FLUSH ? 0 : request->sectors;
	request->commands = 0;
	request->cached = 0;
	request->next = NULL;
	if (!request->sectors && request->op != DISK_FLUSH) {	/* nothing to do */
		request->completion = disk->now;
		request->dispatch = disk->now;
		request_list_append(&disk->done, request);
		return;
	}
	before = commands_waiting(disk);
	if (pending->first || must_wait_behind(disk, request) || !disk_place(disk, request))
		request_list_append(pending, request);
	update_full(disk, direction);	/* it may have been merged, and left the slot unused */
	if (!before && disk->profile->plug_time)
		disk->unplug_at = disk->now + disk->profile->plug_time;
	if (now_please || commands_waiting(disk) >= disk->profile->plug_threshold)
		disk->unplug_at = NEVER;
	disk_dispatch(disk);
}

/* It ends at @request->completion, of those at that time as the last. */
static void disk_hold(struct disk *disk, struct disk_request *request)
{
	struct disk_request **at = &disk->held.first, *before = NULL;

	while (*at && (*at)->completion <= request->completion) {
		before = *at;
		at = &before->next;
	}
	request->next = *at;
	*at = request;
	if (disk->held.last == before)
		disk->held.last = request;
}

/* Does @request fail without the drive? Then it is held until the host knows. */
static bool fails_at_once(struct disk *disk, struct disk_request *request, u64 now)
{
	struct fault_met met;

	faults_meet(disk->faults, request->sectors ? request->op : DISK_FLUSH, request->sector,
		    request->sectors, now, &met);
	request->fault = met.kind;
	if (met.kind == FAULT_MEDIA) {
		request->bad = met.sector;
		request->flags |= DISK_BAD;
	}
	if (met.kind != FAULT_GONE && met.kind != FAULT_TIMEOUT)
		return false;
	request->arrival = now;
	request->dispatch = now;
	request->completion = now + met.ns;
	request->commands = 0;
	request->parts = (struct drive_parts){ .fault = met.ns };
	disk_hold(disk, request);
	return true;
}

static noinline void submit_with_faults(struct disk *disk, struct disk_request *request, u64 now)
{
	if ((request->sectors || !disk_op_has_data(request->op)) &&
	    fails_at_once(disk, request, now))
		return;
	if (disk->plugs)
		zoned_submit(disk, request, now);
	else if (disk->nvme)
		nvme_submit(disk->nvme, request, now);
	else if (disk->mq)
		blk_mq_submit(disk->mq, request, now);
	else
		queue_submit(disk, request, now);
}

/* This function and the two below only choose: so a host pays for no registers of another's. */
void disk_submit(struct disk *disk, struct disk_request *request, u64 now)
{
	request->fault = FAULT_NONE;
	if (disk->host == HOST_LINUX_2_6_23)
		queue_submit(disk, request, now);
	else if (disk->host == HOST_BLK_MQ)
		blk_mq_submit(disk->mq, request, now);
	else if (disk->host == HOST_NVME)
		nvme_submit(disk->nvme, request, now);
	else if (disk->host == HOST_ZONED)
		zoned_submit(disk, request, now);
	else
		submit_with_faults(disk, request, now);
}

static noinline u64 queue_next_event(const struct disk *disk)
{
	return disk->done.first ? disk->done.first->completion : next_event(disk);
}

static noinline struct disk_request *queue_advance(struct disk *disk, u64 now)
{
	struct disk_request *done;

	disk_run_to(disk, now);
	done = disk->done.first;
	disk->done = (struct request_list){ };
	return done;
}

static noinline u64 next_event_with_faults(const struct disk *disk)
{
	u64 next;

	if (disk->plugs)
		next = zoned_next_event(disk);
	else if (disk->nvme)
		next = nvme_next_event(disk->nvme);
	else if (disk->mq)
		next = blk_mq_next_event(disk->mq);
	else
		next = queue_next_event(disk);
	return disk->held.first ? min(next, disk->held.first->completion) : next;
}

u64 disk_next_event(const struct disk *disk)
{
	if (disk->host == HOST_LINUX_2_6_23)
		return queue_next_event(disk);
	if (disk->host == HOST_BLK_MQ)
		return blk_mq_next_event(disk->mq);
	if (disk->host == HOST_NVME)
		return nvme_next_event(disk->nvme);
	return disk->host == HOST_ZONED ? zoned_next_event(disk) : next_event_with_faults(disk);
}

/*
 * The drive has served @request. One with an arm has what faults add in its commands; of others it
 * is added here, to all of a request.
 */
static void hold_longer(struct disk *disk, struct disk_request *request)
{
	u64 ns = request->completion - request->dispatch, more;

	if (disk->profile->kind != DRIVE_DISK && request->dispatch != NEVER) {
		more = faults_time(disk->faults, request->sectors ? request->op : DISK_FLUSH,
				   request->flags & DISK_BAD, request->sector, request->sectors,
				   request->dispatch, ns) - ns;
		request->completion += more;
		request->parts.fault += more;
		if (disk->sums)
			disk->sums->parts.fault += more;
	}
	disk_hold(disk, request);
}

static noinline struct disk_request *advance_with_faults(struct disk *disk, u64 now)
{
	struct disk_request *request, *next;
	struct request_list over = { };

	if (disk->plugs)
		request = zoned_advance(disk, now);
	else if (disk->nvme)
		request = nvme_advance(disk->nvme, now);
	else if (disk->mq)
		request = blk_mq_advance(disk->mq, now);
	else
		request = queue_advance(disk, now);
	for (; request; request = next) {
		next = request->next;
		hold_longer(disk, request);
	}
	while (disk->held.first && disk->held.first->completion <= now)
		request_list_append(&over, request_list_pop(&disk->held));
	return over.first;
}

struct disk_request *disk_advance(struct disk *disk, u64 now)
{
	if (disk->host == HOST_LINUX_2_6_23)
		return queue_advance(disk, now);
	if (disk->host == HOST_BLK_MQ)
		return blk_mq_advance(disk->mq, now);
	if (disk->host == HOST_NVME)
		return nvme_advance(disk->nvme, now);
	if (disk->host == HOST_ZONED)
		return zoned_advance(disk, now);
	return advance_with_faults(disk, now);
}

static struct drive *drive_of(const struct disk *disk)
{
	return disk->mq ? blk_mq_drive(disk->mq) : disk->window.drive;
}

void disk_set_faults(struct disk *disk, struct faults *faults)
{
	disk->faults = faults;
	disk->host = HOST_FAULTY;
	if (drive_of(disk))
		drive_set_faults(drive_of(disk), faults, 0);
}

static struct solid *solid_of(const struct disk *disk)
{
	if (disk->nvme)
		return nvme_solid(disk->nvme);
	return disk->mq ? blk_mq_solid(disk->mq) : disk->window.solid;
}

bool disk_catch_up(struct disk *disk, u64 now)
{
	struct solid *solid = solid_of(disk);

	return solid && solid_catch_up(solid, now);
}

void disk_settle(struct disk *disk, u64 now)
{
	struct solid *solid = solid_of(disk);

	disk_advance(disk, now);
	if (solid)
		solid_settle(solid, now);
}

void disk_trim(struct disk *disk, u64 sector, u64 sectors, u64 now)
{
	zoned_before(disk, now);
	if (disk->nvme) {
		nvme_trim(disk->nvme, sector, sectors, now);
	} else if (disk->mq) {
		blk_mq_trim(disk->mq, sector, sectors, now);
	} else if (disk->window.solid) {
		disk_run_to(disk, now);
		solid_trim(disk->window.solid, sector, sectors, now);
	}
}

void disk_sum_into(struct disk *disk, struct drive_sums *sums)
{
	disk->sums = sums;
	if (disk->nvme)
		nvme_sum_into(disk->nvme, sums);
	else if (disk->mq)
		blk_mq_sum_into(disk->mq, sums);
	else
		disk->window.sums = sums;
}

bool disk_solid_figures(const struct disk *disk, struct solid_figures *figures)
{
	const struct solid *solid = solid_of(disk);

	if (solid)
		solid_figures(solid, figures);
	return solid;
}

bool disk_pending_figures(const struct disk *disk, struct pending_figures *figures)
{
	const struct drive *drive = drive_of(disk);

	*figures = (struct pending_figures){ };
	return drive && drive_pending_figures(drive, figures);
}
