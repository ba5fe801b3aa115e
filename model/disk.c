// SPDX-License-Identifier: GPL-2.0
/*
 * The engine: requests into the queue, commands from the queue into the drive's
 * window, one command after another under the heads.
 *
 * There are two kinds of events, the end of the command that the drive serves and
 * the unplug timer, in this order when they fall together. Every entry point first
 * lets all events happen up to its own time, each with the clock at the event's
 * time. So nothing depends on when the caller comes by.
 */
#include "planted.h"
#include "queue.h"

/* Linux 2.6.23, block/ll_rw_blk.c: BLK_BATCH_TIME */
#define BATCH_TIME	(20ULL * 1000 * 1000)

#define NEVER		U64_MAX

struct request_list {
	struct disk_request *first, *last;
};

struct disk {
	const struct profile *profile;
	struct drive *drive;
	struct queue queue;
	u64 now;
	u64 seq;

	/* Requests let in, by direction, as struct request_list of Linux 2.6 counts them */
	u32 count[2];
	u32 woken[2];			/* submitters that were woken and have not come yet */
	bool full[2];			/* only batching submitters may add */
	struct request_list pending[2];	/* that no slot is left for, or for a part of them */

	u64 unplug_at;			/* NEVER: not plugged */

	/* The drive */
	struct disk_command *active;	/* under the heads, until */
	u64 busy_until;
	struct drive_parts parts;	/* of it */
	struct disk_command **window;	/* in the drive and not active, in order of dispatch */
	u32 nr_window;
	u64 batch;			/* those that came by then go first */
	struct {
		u64 since;		/* when the arm came to where it is */
		u64 sectors;		/* that it has read or written there, */
		u64 end;		/* up to this one */
		u8 op;
	} turn;

	struct request_list done;
};

struct disk *disk_create(const struct profile *profile, gfp_t gfp)
{
	struct disk *disk = kvzalloc(sizeof(*disk), gfp);

	if (!disk)
		return NULL;
	disk->profile = profile;
	disk->unplug_at = NEVER;
	if (queue_init(&disk->queue, profile, gfp))
		goto free_disk;
	disk->window = kvcalloc(profile->ncq_depth, sizeof(*disk->window), gfp);
	if (!disk->window)
		goto exit_queue;
	disk->drive = drive_create(profile, gfp);
	if (!disk->drive)
		goto free_window;
	return disk;

free_window:
	kvfree(disk->window);
exit_queue:
	queue_exit(&disk->queue);
free_disk:
	kvfree(disk);
	return NULL;
}

void disk_destroy(struct disk *disk)
{
	if (!disk)
		return;
	drive_destroy(disk->drive);
	kvfree(disk->window);
	queue_exit(&disk->queue);
	kvfree(disk);
}

size_t disk_bytes(const struct disk *disk)
{
	return sizeof(*disk) + queue_bytes(&disk->queue) + drive_bytes(disk->drive) +
	       disk->profile->ncq_depth * sizeof(*disk->window);
}

static void append(struct request_list *list, struct disk_request *request)
{
	request->next = NULL;
	if (list->last)
		list->last->next = request;
	else
		list->first = request;
	list->last = request;
}

static struct disk_request *pop(struct request_list *list)
{
	struct disk_request *request = list->first;

	list->first = request->next;
	if (!list->first)
		list->last = NULL;
	return request;
}

/* The drive */

static struct drive_command as_drive_command(const struct disk_command *command)
{
	return (struct drive_command) {
		.sector = command->sector,
		.sectors = command->sectors,
		.op = command->op,
		.flags = command->flags,
		.arrived = command->dispatch,
		.stream = command->followed,
	};
}

static bool follows(const struct disk_command *command, const struct disk_command *other)
{
	return command->op == other->op && command->sector == other->sector + other->sectors;
}

static void link(struct disk_command *one, struct disk_command *other, int change)
{
	if (follows(one, other)) {
		one->follows += change;
		other->followed += change;
	}
	if (follows(other, one)) {
		other->follows += change;
		one->followed += change;
	}
}

/*
 * Commands that lie one behind the other go in one pass of the head, from the first on: begun
 * with a later one, each of those before it would cost a revolution.
 */
static void window_add(struct disk *disk, struct disk_command *command)
{
	u32 i;

	command->follows = 0;
	command->followed = 0;
	for (i = 0; i < disk->nr_window; i++)
		link(command, disk->window[i], 1);
	disk->window[disk->nr_window++] = command;
}

static struct disk_command *window_take(struct disk *disk, u32 i)
{
	struct disk_command *command = disk->window[i];

	if (--disk->nr_window > i)
		memmove(&disk->window[i], &disk->window[i + 1],
			(disk->nr_window - i) * sizeof(*disk->window));
	for (i = 0; i < disk->nr_window; i++)
		link(command, disk->window[i], -1);
	return command;
}

/* Does @command go on where the arm is? */
static bool goes_on(const struct disk *disk, const struct disk_command *command)
{
	return command->op == disk->turn.op && command->sector == disk->turn.end;
}

#define NONE	U32_MAX

/* Of what needs the arm, as places in the window; NONE if there is none such. */
struct choice {
	u32 on;			/* goes on where the arm is */
	u32 nearest;
	u64 time;		/* of that */
	u32 write;		/* waited longest for room in the buffer */
	u32 first;		/* of all these, waited longest */
	bool stream;		/* a stream's writes wait for room */
};

/*
 * What there is to choose from: @old came no later than disk->batch, @recent came later.
 * Returns what needs no arm, NONE if there is none such.
 */
static u32 look(const struct disk *disk, struct choice *old, struct choice *recent)
{
	u32 i, hit = NONE;

	*old = (struct choice) { .on = NONE, .nearest = NONE, .time = NEVER, .write = NONE,
				 .first = NONE };
	*recent = *old;
	for (i = 0; i < disk->nr_window; i++) {
		const struct drive_command command = as_drive_command(disk->window[i]);
		struct choice *choice = command.arrived <= disk->batch ? old : recent;
		u64 time;

		if (disk->window[i]->follows && !MODEL_PLANTED(order))
			continue;
		time = drive_access_time(disk->drive, &command, disk->now);
		if (!time && (command.op == DISK_WRITE || !goes_on(disk, disk->window[i]) ||
			      MODEL_PLANTED(order))) {
			hit = min(hit, i);
			continue;
		}
		choice->first = min(choice->first, i);
		if (time == DRIVE_NO_ROOM) {
			choice->write = min(choice->write, i);
			choice->stream |= disk->window[i]->followed;
		} else if (goes_on(disk, disk->window[i]) && !MODEL_PLANTED(order)) {
			choice->on = min(choice->on, i);
		} else if (time < choice->time) {
			choice->time = time;
			choice->nearest = i;
		}
	}
	return hit;
}

/* A stream's turn: what it had asked for when that began, and as much as is read ahead of one. */
static bool turn_is_over(const struct disk *disk, const struct disk_command *command)
{
	return command->dispatch > disk->turn.since &&
	       disk->turn.sectors >= max(disk->profile->readahead_stream,
					 2 * disk->profile->max_sectors);
}

/*
 * Which of the window comes next: what waited too long; what needs no arm; what goes on where
 * the arm is; the nearest. Nothing is to starve beside a stream: then those that wait all come
 * before those that come later; so do reads and writes that wait for room in the buffer. Beside a
 * stream of these all go in order of arrival: a Toshiba P300 gives a random reader, a reader and a
 * writer as many requests each. Returns whether it needs the arm.
 */
static bool ncq_choose(struct disk *disk, u32 *which)
{
	struct choice old, recent, *choice;
	u32 hit;

	*which = 0;		/* dispatched first, waited longest */
	if (disk->nr_window == 1 ||
	    disk->now - disk->window[0]->dispatch > disk->profile->ncq_age_limit)
		return true;
	hit = look(disk, &old, &recent);
	if (hit != NONE) {
		*which = hit;
		return false;
	}
	choice = &old;
	if (old.first == NONE) {
		choice = &recent;
		if (recent.write != NONE && min(recent.on, recent.nearest) != NONE)
			disk->batch = disk->now;
	}
	if (choice->on == NONE && choice->stream)
		*which = choice->first;
	else if (choice->on == NONE)
		*which = choice->nearest != NONE ? choice->nearest : choice->write;
	else if (turn_is_over(disk, disk->window[choice->on]) &&
		 disk->window[0]->dispatch <= disk->turn.since)
		disk->batch = disk->turn.since;		/* window[0] comes first */
	else
		*which = choice->on;
	return true;
}

static void take_turn(struct disk *disk, const struct disk_command *command)
{
	/* A gap that is read through ends no turn. Where nobody waits, the next one begins. */
	if (command->op != disk->turn.op ||
	    command->sector - disk->turn.end > disk->profile->readahead_stream ||
	    turn_is_over(disk, command)) {
		disk->turn.since = disk->now;
		disk->turn.sectors = 0;
	}
	disk->turn.op = command->op;
	disk->turn.end = command->sector + command->sectors;
	disk->turn.sectors += command->sectors;
}

static void serve(struct disk *disk, struct disk_command *command)
{
	const struct drive_command to_drive = as_drive_command(command);

	disk->active = command;
	disk->busy_until = drive_serve(disk->drive, &to_drive, disk->now, &disk->parts);
}

static void serve_next(struct disk *disk)
{
	struct disk_command *command;
	bool arm;
	u32 i;

	if (disk->active || !disk->nr_window)
		return;
	arm = ncq_choose(disk, &i);
	command = window_take(disk, i);
	if (arm)
		take_turn(disk, command);
	serve(disk, command);
}

static void mark_dispatched(struct disk *disk, struct disk_command *command)
{
	struct disk_request *request;

	command->dispatch = disk->now;
	for (request = command->first; request; request = request->next)
		request->dispatch = min(request->dispatch, disk->now);
	if (command->part)
		command->part->dispatch = min(command->part->dispatch, disk->now);
}

/*
 * Fill the window, and keep the drive busy. A flush is not queued by the drive: it
 * waits for what the drive has got, and nothing goes with it.
 */
static void dispatch(struct disk *disk)
{
	struct disk_command *command;

	if (disk->active && disk->active->op == DISK_FLUSH)
		return;
	while (disk->unplug_at == NEVER && queue_ready(&disk->queue) &&
	       disk->nr_window + !!disk->active < disk->profile->ncq_depth) {
		if (disk->queue.flushes.first) {
			if (disk->nr_window || disk->active)
				break;
			command = queue_next_flush(&disk->queue);
			mark_dispatched(disk, command);
			serve(disk, command);
			return;
		}
		command = queue_next(&disk->queue, disk->now);
		mark_dispatched(disk, command);
		window_add(disk, command);
	}
	serve_next(disk);
}

static void unplug(struct disk *disk)
{
	disk->unplug_at = NEVER;
	dispatch(disk);
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
 * Make commands of as much of @request as there are slots for. The first slot was
 * given by disk_enter(). For the others the target's host would have waited with no
 * batching left to it, so they are to be had below the limit only.
 */
static bool place(struct disk *disk, struct disk_request *request)
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
static bool behind(const struct disk *disk, const struct disk_request *request)
{
	const struct disk_request *other = disk->pending[!direction_of(request->op)].first;

	for (; other; other = other->next)
		if (other->seq < request->seq &&
		    other->sector < request->sector + request->sectors &&
		    request->sector < other->sector + other->sectors)
			return true;
	return false;
}

/* A slot was freed: those that wait for one come first, in order. */
static void place_pending(struct disk *disk)
{
	bool progress;
	unsigned int direction;

	do {
		progress = false;
		for (direction = DISK_READ; direction <= DISK_WRITE; direction++) {
			struct request_list *pending = &disk->pending[direction];

			while (pending->first && !behind(disk, pending->first)) {
				struct disk_request *request = pop(pending);

				if (place(disk, request)) {
					progress = true;
					continue;
				}
				request->next = pending->first;
				pending->first = request;
				if (!request->next)
					pending->last = request;
				break;
			}
		}
	} while (progress && (disk->pending[0].first || disk->pending[1].first));
}

/* Commands that are in the host's queue, not in the drive. */
static u32 waiting(const struct disk *disk)
{
	return disk->count[0] + disk->count[1] - disk->nr_window - !!disk->active;
}

static void update_full(struct disk *disk, unsigned int direction)
{
	if (disk->count[direction] < disk->profile->nr_requests)
		disk->full[direction] = false;
}

/* Events */

static void finish_request(struct disk *disk, struct disk_request *request)
{
	request->parts = disk->parts;
	request->completion = disk->now;
	if (--request->commands || request->left)
		return;
	append(&disk->done, request);
}

static void finish_command(struct disk *disk)
{
	struct disk_command *command = disk->active;
	unsigned int direction = direction_of(command->op);
	struct disk_request *request, *next;

	for (request = command->first; request; request = next) {
		next = request->next;
		finish_request(disk, request);
	}
	if (command->part)
		finish_request(disk, command->part);
	queue_complete(&disk->queue, command);
	disk->active = NULL;
	disk->count[direction]--;
	update_full(disk, direction);
	if (disk->pending[DISK_READ].first || disk->pending[DISK_WRITE].first)
		place_pending(disk);
	unplug(disk);	/* as the SCSI layer runs the queue when a command is done */
}

static u64 next_event(const struct disk *disk)
{
	return min(disk->active ? disk->busy_until : NEVER, disk->unplug_at);
}

static noinline void run_events(struct disk *disk, u64 now)
{
	u64 next;

	while ((next = next_event(disk)) <= now && next != NEVER) {
		disk->now = next;
		if (disk->active && disk->busy_until == next)
			finish_command(disk);
		else
			unplug(disk);
	}
}

static inline void run(struct disk *disk, u64 now)
{
	if (next_event(disk) <= now)
		run_events(disk, now);
	disk->now = max(disk->now, now);
}

/* The callers' side */

static bool batching(const struct disk *disk, const struct disk_submitter *who,
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
			if (!batching(disk, who, direction))
				start_batch(disk, who, direction);
			disk->full[direction] = true;
		} else if (!privileged && !batching(disk, who, direction)) {
			return false;
		}
	}
	if (batching(disk, who, direction))
		who->batch[direction]--;
	return true;
}

bool disk_enter(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now)
{
	run(disk, now);
	if (let_in(disk, who, direction_of(op)))
		return true;
	unplug(disk);	/* it waits: no use in collecting more */
	return false;
}

u32 disk_wakeups(const struct disk *disk, enum disk_op op)
{
	unsigned int direction = direction_of(op);
	u32 used = disk->count[direction] + disk->woken[direction];

	if (disk->pending[direction].first || used >= disk->profile->nr_requests)
		return 0;
	return disk->profile->nr_requests - used;
}

void disk_woken(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now)
{
	unsigned int direction = direction_of(op);

	run(disk, now);
	start_batch(disk, who, direction);
	if (!who->woken[direction]) {
		who->woken[direction] = true;
		disk->woken[direction]++;
	}
}

void disk_submit(struct disk *disk, struct disk_request *request, u64 now)
{
	unsigned int direction = direction_of(request->op);
	struct request_list *pending = &disk->pending[direction];
	bool now_please = request->flags & DISK_SYNC || request->op == DISK_FLUSH;
	u32 before;

	run(disk, now);
	request->arrival = disk->now;
	request->dispatch = NEVER;
	request->seq = disk->seq++;
	request->left = request->op == DISK_FLUSH ? 0 : request->sectors;
	request->commands = 0;
	request->next = NULL;
	if (!request->sectors && request->op != DISK_FLUSH) {	/* nothing to do */
		request->completion = disk->now;
		request->dispatch = disk->now;
		append(&disk->done, request);
		return;
	}
	before = waiting(disk);
	if (pending->first || behind(disk, request) || !place(disk, request))
		append(pending, request);
	update_full(disk, direction);	/* it may have been merged, and left the slot unused */
	if (!before && disk->profile->plug_time)
		disk->unplug_at = disk->now + disk->profile->plug_time;
	if (now_please || waiting(disk) >= disk->profile->plug_threshold)
		disk->unplug_at = NEVER;
	dispatch(disk);
}

u64 disk_next_event(const struct disk *disk)
{
	return disk->done.first ? disk->done.first->completion : next_event(disk);
}

struct disk_request *disk_advance(struct disk *disk, u64 now)
{
	struct disk_request *done;

	run(disk, now);
	done = disk->done.first;
	disk->done = (struct request_list){ };
	return done;
}
