// SPDX-License-Identifier: GPL-2.0
/* Linux of today in front of a drive: see blk-mq.h. */
#include "../../dm-david/portable/portable-alloc.h"
#include "blk-mq.h"
#include "mq-deadline.h"
#include "mq-tags.h"
#include "../planted.h"
#include "window.h"

#define CPUS		MQ_CPUS
#define PLUG_REQUESTS	32		/* BLK_MAX_REQUEST_COUNT */
#define PLUG_SECTORS	256		/* BLK_PLUG_FLUSH_SIZE */
#define MERGE_LOOKS	8		/* blk_bio_list_merge() */
#define FLUSH_TIMEOUT	(5ULL * 1000 * 1000 * 1000)	/* FLUSH_PENDING_TIMEOUT */

/* The flush machine of a hardware queue. */
struct flushes {
	struct mq_request rq;		/* the flush under way */
	struct command_list pending;	/* what waits for the next one */
	struct command_list running;	/* what it is for; none: no flush is under way */
	u64 since;			/* when the first of the pending ones came */
	u32 data;			/* writes under way that a flush has to follow */
};

/* A hardware queue. */
struct hw_queue {
	struct mq_tags tags;		/* of requests */
	u32 in_drive;			/* tags of the drive */
	u32 busy;			/* dispatch_busy: above 0 if requests were held up lately */
	u32 next_cpu;			/* whose list is next */
	bool run;			/* it is to look for what it can send */
	bool sent;			/* something, in this round: dispatch_round() */
	struct command_list dispatch;	/* taken from the scheduler, but held up */
	struct request_list pending;	/* that no tag is left for, or for a part of them */
	struct flushes flushes;
};

struct blk_mq {
	const struct profile *profile;
	bool scheduler;
	u32 tags;			/* of each hardware queue */
	u32 piece;			/* sectors of the largest command */
	u32 nr_rqs;
	struct mq_request *rqs;
	struct command_list free;	/* of these */
	struct hw_queue *hw;
	struct mq_deadline deadline;
	struct command_list cpus[CPUS];	/* without a scheduler */
	u16 *woken;			/* a ring of places, each that of a waiter to be woken */
	u32 first_woken, nr_woken, most_woken;
	u8 line;			/* of the one woken last, if it has to wait again */
	bool again;
	struct window window;
	struct request_list done;
	u64 now;
};

/* A place where somebody waits: the hardware queue, and a line of its tags. */
static u32 waiter_place(u32 hw, u8 line)
{
	return hw * MQ_LINES + line;
}

/* Making and unmaking */

static int blk_mq_init(struct blk_mq *mq, struct ftl *ftl, gfp_t gfp)
{
	const struct profile *profile = mq->profile;
	u32 i, async = mq->scheduler && profile->async_depth ?
		       min(profile->async_depth, mq->tags) : mq->tags;

	mq->rqs = kvcalloc(mq->nr_rqs, sizeof(*mq->rqs), gfp);
	mq->hw = kvcalloc(profile->hw_queues, sizeof(*mq->hw), gfp);
	mq->most_woken = mq->nr_rqs + profile->hw_queues * MQ_WAKE_BATCH;
	mq->woken = kvcalloc(mq->most_woken, sizeof(*mq->woken), gfp);
	if (!mq->rqs || !mq->hw || !mq->woken)
		return -ENOMEM;
	for (i = 0; i < mq->nr_rqs; i++)
		command_list_append(&mq->free, &mq->rqs[i].command);
	for (i = 0; i < profile->hw_queues; i++)
		if (mq_tags_init(&mq->hw[i].tags, mq->tags, async, gfp))
			return -ENOMEM;
	return mq_deadline_init(&mq->deadline, profile, mq->nr_rqs, gfp) ?:
	       window_init(&mq->window, profile, ftl, gfp);
}

struct blk_mq *blk_mq_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp)
{
	struct blk_mq *mq = kvzalloc(sizeof(*mq), gfp);

	if (!mq)
		return NULL;
	mq->profile = profile;
	mq->scheduler = profile->scheduler == SCHEDULER_MQ_DEADLINE;
	mq->tags = mq->scheduler ? profile->nr_requests : profile->hw_depth;
	mq->piece = min(profile->max_sectors, profile->max_segments * COMMAND_SEGMENT);
	mq->nr_rqs = mq->tags * profile->hw_queues;
	if (blk_mq_init(mq, ftl, gfp)) {
		blk_mq_destroy(mq);
		return NULL;
	}
	return mq;
}

void blk_mq_destroy(struct blk_mq *mq)
{
	u32 i;

	if (!mq)
		return;
	for (i = 0; mq->hw && i < mq->profile->hw_queues; i++)
		mq_tags_exit(&mq->hw[i].tags);
	kvfree(mq->woken);
	window_exit(&mq->window);
	mq_deadline_exit(&mq->deadline);
	kvfree(mq->hw);
	kvfree(mq->rqs);
	kvfree(mq);
}

size_t blk_mq_bytes(const struct blk_mq *mq)
{
	u32 words = mq->profile->hw_queues * mq->hw[0].tags.nr_words;

	return sizeof(*mq) + mq->profile->hw_queues * sizeof(*mq->hw) +
	       words * sizeof(*mq->hw[0].tags.words) +
	       mq->most_woken * sizeof(*mq->woken) +
	       mq->nr_rqs * (sizeof(*mq->rqs) + 2 * sizeof(*mq->deadline.sort[0].at)) +
	       window_bytes(&mq->window);
}

void blk_mq_sum_into(struct blk_mq *mq, struct drive_sums *sums)
{
	mq->window.sums = sums;
}

struct solid *blk_mq_solid(const struct blk_mq *mq)
{
	return mq->window.solid;
}

struct drive *blk_mq_drive(const struct blk_mq *mq)
{
	return mq->window.drive;
}

/* Tags */

static struct hw_queue *hw_of_cpu(const struct blk_mq *mq, u32 cpu)
{
	return &mq->hw[cpu % CPUS % mq->profile->hw_queues];
}

static struct mq_request *get_tag(struct blk_mq *mq, const struct disk_request *request)
{
	struct mq_request *rq = mq_request_of(command_list_pop(&mq->free));
	struct hw_queue *hw = hw_of_cpu(mq, request->cpu);

	memset(rq, 0, sizeof(*rq));
	rq->cpu = request->cpu % CPUS;
	rq->hw = hw - mq->hw;
	rq->tag = mq_tag_get(&hw->tags, rq->cpu, request->op);
	rq->command.sector = command_next_sector(request);
	rq->command.arrival = mq->now;
	rq->command.op = request->op;
	return rq;
}

static void put_tag(struct blk_mq *mq, struct mq_request *rq)
{
	struct mq_tags *tags = &mq->hw[rq->hw].tags;
	u8 lines[MQ_WAKE_BATCH];
	u32 i, nr;

	mq_tag_put(tags, rq->cpu, rq->tag);
	nr = mq_tags_wake(tags, lines);
	for (i = 0; i < nr; i++)
		mq->woken[(mq->first_woken + mq->nr_woken++) % mq->most_woken] =
			waiter_place(rq->hw, lines[i]);
	command_list_append(&mq->free, &rq->command);
}

static void put_tags(struct blk_mq *mq, struct command_list *unused)
{
	while (unused->first)
		put_tag(mq, mq_request_of(command_list_pop(unused)));
}

/* Dispatch */

/* SATA does not queue a flush: it waits until the drive has nothing, and nothing goes with it. */
static bool flushes_alone(const struct blk_mq *mq)
{
	return mq->profile->kind != DRIVE_MEMORY;
}

/* Does the drive take another command? */
static bool drive_takes(const struct blk_mq *mq, bool flush)
{
	if (window_flushes(&mq->window))
		return false;
	if (flush && flushes_alone(mq))
		return !window_used(&mq->window);
	return window_used(&mq->window) < mq->profile->ncq_depth;
}

/* blk_mq_update_dispatch_busy(): a mean that forgets two successes after a failure. */
static void note_busy(struct hw_queue *hw, bool busy)
{
	hw->busy = (hw->busy * 7 + (busy ? 16 : 0)) / 8;
}

/* Send @rq to the drive. False: the drive does not take it, or there is no tag. */
static bool rq_issue(struct blk_mq *mq, struct mq_request *rq)
{
	struct hw_queue *hw = &mq->hw[rq->hw];
	bool flush = rq->command.op == DISK_FLUSH;

	if (!drive_takes(mq, flush) || hw->in_drive >= mq->profile->hw_depth)
		return false;
	hw->in_drive++;
	command_dispatched(&rq->command, mq->now);
	model_sent(&rq->command);
	if (flush && flushes_alone(mq))
		window_send_flush(&mq->window, &rq->command, mq->now);
	else
		window_send(&mq->window, &rq->command, mq->now);
	return true;
}

/* Issue @list in order; what cannot be issued stays in it. Returns whether all could. */
static bool rq_issue_list(struct blk_mq *mq, struct command_list *list)
{
	struct disk_command *command;

	while ((command = command_list_pop(list))) {
		if (rq_issue(mq, mq_request_of(command)))
			continue;
		command_list_insert(list, command, NULL);
		return false;
	}
	return true;
}

static void move_list(struct command_list *to, struct command_list *from)
{
	while (from->first)
		command_list_append(to, command_list_pop(from));
}

/*
 * Take requests from the scheduler while the drive takes them, whatever hardware queue they are of.
 * One that finds no tag ends the round. It is kept before the others of its queue: nothing
 * overtakes it any more. If requests were held up lately a round is one request. Returns whether
 * all that were taken for some hardware queue were sent.
 */
static bool dispatch_round(struct blk_mq *mq, struct hw_queue *hw)
{
	struct hw_queue *refused = NULL, *each;
	bool one = hw->busy, any = false;
	struct mq_request *rq;
	u32 i;

	do {
		if (hw->dispatch.first || !mq_deadline_has_work(&mq->deadline) ||
		    !drive_takes(mq, false))
			break;
		if (MODEL_PLANTED(lookahead) && hw->in_drive >= mq->profile->hw_depth)
			break;
		rq = mq_deadline_next(&mq->deadline, mq->now);
		each = &mq->hw[rq->hw];
		if (rq_issue(mq, rq)) {
			each->sent = true;
		} else {
			command_list_append(&each->dispatch, &rq->command);
			refused = each;
		}
	} while (!refused && !one);
	for (i = 0; i < mq->profile->hw_queues; i++) {
		each = &mq->hw[i];
		any |= each->sent && each != refused;
		if (each->sent || each == refused)
			note_busy(each, each == refused);
		each->sent = false;
	}
	return any;
}

static void dispatch_deadline(struct blk_mq *mq, struct hw_queue *hw)
{
	while (dispatch_round(mq, hw))
		;
}

/* Of @hw's CPUs from @cpu on, round robin, the first that has a request waiting; CPUS: none. */
static u32 waiting_cpu(const struct blk_mq *mq, const struct hw_queue *hw, u32 cpu)
{
	u32 i, at;

	for (i = 0; i < CPUS; i++) {
		at = (cpu + i) % CPUS;
		if (hw_of_cpu(mq, at) == hw && mq->cpus[at].first)
			return at;
	}
	return CPUS;
}

/* The queue is busy: one request of each CPU in turn. */
static void dispatch_in_turn(struct blk_mq *mq, struct hw_queue *hw)
{
	u32 cpu;

	while (drive_takes(mq, false) && (cpu = waiting_cpu(mq, hw, hw->next_cpu)) < CPUS) {
		if (!rq_issue(mq, mq_request_of(command_list_pop(&mq->cpus[cpu]))))
			return;
		note_busy(hw, false);
		hw->next_cpu = cpu + 1;
	}
}

static void dispatch_all(struct blk_mq *mq, struct hw_queue *hw)
{
	struct command_list all = { };
	u32 cpu;

	while ((cpu = waiting_cpu(mq, hw, 0)) < CPUS)
		move_list(&all, &mq->cpus[cpu]);
	if (!all.first)
		return;
	note_busy(hw, !rq_issue_list(mq, &all));
	move_list(&hw->dispatch, &all);
}

/* blk_mq_sched_dispatch_requests() */
static void hw_run(struct blk_mq *mq, struct hw_queue *hw)
{
	bool in_turn = hw->busy;

	if (hw->dispatch.first) {
		in_turn = rq_issue_list(mq, &hw->dispatch);
		note_busy(hw, !in_turn);
		if (!in_turn)
			return;
	}
	if (mq->scheduler)
		dispatch_deadline(mq, hw);
	else if (in_turn)
		dispatch_in_turn(mq, hw);
	else
		dispatch_all(mq, hw);
}

/* Run the hardware queues that are to. */
static void run_queues(struct blk_mq *mq)
{
	u32 i;

	for (i = 0; i < mq->profile->hw_queues; i++) {
		if (!mq->hw[i].run && !MODEL_PLANTED(queues))
			continue;
		mq->hw[i].run = false;
		hw_run(mq, &mq->hw[i]);
	}
	window_start(&mq->window, mq->now);
}

/*
 * A command of @hw has ended, so there is a tag for that hardware queue. If the drive took no more,
 * others may wait for it, too.
 */
static void run_after_command(struct blk_mq *mq, struct hw_queue *hw)
{
	u32 i, nr = mq->profile->hw_queues;
	bool drive_was_full = window_used(&mq->window) + 1 >= mq->profile->ncq_depth;

	if (drive_was_full || flushes_alone(mq))
		for (i = 0; i < nr; i++)
			mq->hw[i].run = true;
	hw->run = true;
	run_queues(mq);
}

/* Flushes */

/* Begin a flush for all that wait for one, unless one is under way, or writes that want one, too */
static void kick_flush(struct blk_mq *mq, struct hw_queue *hw)
{
	struct flushes *flushes = &hw->flushes;

	if (flushes->running.first || !flushes->pending.first ||
	    (flushes->data && mq->now < flushes->since + FLUSH_TIMEOUT))
		return;
	move_list(&flushes->running, &flushes->pending);
	memset(&flushes->rq, 0, sizeof(flushes->rq));
	flushes->rq.hw = hw - mq->hw;
	flushes->rq.command.op = DISK_FLUSH;
	flushes->rq.command.arrival = mq->now;
	command_list_insert(&hw->dispatch, &flushes->rq.command, NULL);
	hw->run = true;
}

static void want_flush(struct blk_mq *mq, struct mq_request *rq)
{
	struct hw_queue *hw = &mq->hw[rq->hw];

	if (!hw->flushes.pending.first)
		hw->flushes.since = mq->now;
	command_list_append(&hw->flushes.pending, &rq->command);
	kick_flush(mq, hw);
}

static void rq_end(struct blk_mq *mq, struct mq_request *rq)
{
	command_ended(&rq->command, &mq->window.parts, mq->now, &mq->done);
	put_tag(mq, rq);
}

static void flush_ended(struct blk_mq *mq, struct hw_queue *hw)
{
	struct mq_request *rq;

	while (hw->flushes.running.first) {
		rq = mq_request_of(command_list_pop(&hw->flushes.running));
		rq->command.dispatch = rq->command.dispatch ?: hw->flushes.rq.command.dispatch;
		command_dispatched(&rq->command, rq->command.dispatch);
		rq_end(mq, rq);
	}
}

/* From the host to the scheduler */

/* A new request into the plug list, after that list was flushed if it is full. */
static void add_to_plug(struct blk_mq *mq, struct disk_plug *plug, struct mq_request *rq)
{
	if (plug->nr >= PLUG_REQUESTS ||
	    (plug->nr && plug->list.last->sectors >= PLUG_SECTORS))
		blk_mq_unplug(mq, plug, false, mq->now);
	command_list_append(&plug->list, &rq->command);
	plug->nr++;
}

static void rq_insert(struct blk_mq *mq, struct mq_request *rq)
{
	struct command_list unused = { };

	mq->hw[rq->hw].run = true;
	if (mq->scheduler)
		mq_deadline_insert(&mq->deadline, rq, mq->now, &unused);
	else
		command_list_append(&mq->cpus[rq->cpu], &rq->command);
	put_tags(mq, &unused);
}

/* Without a scheduler and with nothing held up a request goes to the drive at once. */
static void rq_send(struct blk_mq *mq, struct mq_request *rq)
{
	struct hw_queue *hw = &mq->hw[rq->hw];
	bool sync = rq->command.op == DISK_READ || rq->command.flags & (DISK_SYNC | DISK_FUA);

	if (mq->scheduler || (hw->busy && (mq->profile->hw_queues == 1 || !sync)) ||
	    !rq_issue(mq, rq))
		rq_insert(mq, rq);
}

/* Flush and FUA; false: it goes the way of other requests. */
static bool rq_insert_flush(struct blk_mq *mq, struct mq_request *rq)
{
	if (rq->command.op == DISK_FLUSH) {
		want_flush(mq, rq);
		return true;
	}
	if (!(rq->command.flags & DISK_FUA) || mq->profile->fua || MODEL_PLANTED(postflush))
		return false;
	rq->command.flags &= ~DISK_FUA;
	rq->flush_after = true;
	mq->hw[rq->hw].flushes.data++;
	return false;
}

/* Merging */

static u32 next_piece(const struct blk_mq *mq, const struct disk_request *request)
{
	return min(request->left, mq->piece);
}

/* Room is looked at only where they lie side by side. */
static bool rq_merge(struct blk_mq *mq, struct mq_request *rq, struct disk_request *request,
		     enum mq_merge kind)
{
	u32 sectors = next_piece(mq, request);

	if (!mq_merge_fits(mq->profile, rq, sectors)) {
		rq->no_merge = true;
		return false;
	}
	mq_merge(rq, request, sectors, kind);
	return true;
}

/* With the last request of the plug list. */
static struct mq_request *plug_last(const struct disk_request *request)
{
	return request->plug && request->plug->nr ? mq_request_of(request->plug->list.last) : NULL;
}

/* Of those that wait on the same CPU, the last few. Returns the one that lies beside @request. */
static struct mq_request *cpu_neighbour(const struct blk_mq *mq, const struct disk_request *request,
					enum mq_merge *kind)
{
	struct disk_command *command = mq->cpus[request->cpu % CPUS].last;
	u32 i;

	for (i = 0; command && i < MERGE_LOOKS; i++, command = command->prev) {
		*kind = mq_merge_kind(mq_request_of(command), request, next_piece(mq, request));
		if (*kind != MQ_MERGE_NONE)
			return mq_request_of(command);
	}
	return NULL;
}

static bool blk_mq_merge(struct blk_mq *mq, struct disk_request *request)
{
	struct mq_request *rq = plug_last(request);
	struct command_list unused = { };
	enum mq_merge kind;
	bool merged;

	if (!disk_op_has_data(request->op))
		return false;
	kind = rq ? mq_merge_kind(rq, request, next_piece(mq, request)) : MQ_MERGE_NONE;
	if (kind != MQ_MERGE_NONE && rq_merge(mq, rq, request, kind))
		return true;
	if (mq->scheduler) {
		merged = mq_deadline_merge(&mq->deadline, request, next_piece(mq, request),
					   &unused);
		put_tags(mq, &unused);
		return merged;
	}
	rq = cpu_neighbour(mq, request, &kind);
	return rq && rq_merge(mq, rq, request, kind);
}

/* A request that has a tag goes its way. */
static void rq_start(struct blk_mq *mq, struct mq_request *rq, struct disk_plug *plug)
{
	if (rq_insert_flush(mq, rq))
		return;
	if (plug)
		add_to_plug(mq, plug, rq);
	else
		rq_send(mq, rq);
}

/*
 * Make requests of as much of @request as there are tags for. False: there are too few. What waited
 * for a tag is not merged before it has one.
 */
static bool blk_mq_place(struct blk_mq *mq, struct disk_request *request)
{
	struct mq_request *rq;

	do {
		if ((!(request->flags & DISK_WAITED) || MODEL_PLANTED(waited)) &&
		    blk_mq_merge(mq, request))
			continue;
		if (!mq_tag_free(&hw_of_cpu(mq, request->cpu)->tags, request->op)) {
			request->flags |= DISK_WAITED;
			return false;
		}
		rq = get_tag(mq, request);
		request->flags &= ~DISK_WAITED;
		command_carry(&rq->command, request, next_piece(mq, request));
		rq_start(mq, rq, request->plug);
	} while (request->left);
	return true;
}

static void hw_place_pending(struct blk_mq *mq, struct hw_queue *hw)
{
	struct disk_request *request;

	while (hw->pending.first) {
		request = request_list_pop(&hw->pending);
		if (blk_mq_place(mq, request))
			continue;
		request_list_push(&hw->pending, request);
		return;
	}
}

/* Events */

static void rq_finish(struct blk_mq *mq, struct mq_request *rq)
{
	struct hw_queue *hw = &mq->hw[rq->hw];

	hw->in_drive--;
	if (rq == &hw->flushes.rq) {
		/* Linux lets others go on before it comes to the next flush. */
		flush_ended(mq, hw);
		hw_place_pending(mq, hw);
		run_after_command(mq, hw);
		kick_flush(mq, hw);
	} else if (rq->flush_after) {
		hw->flushes.data--;
		want_flush(mq, rq);
	} else {
		rq_end(mq, rq);
	}
	hw_place_pending(mq, hw);
	run_after_command(mq, hw);
}

static noinline void blk_mq_run_events(struct blk_mq *mq, u64 now)
{
	struct disk_command *command;
	u64 next;

	while ((next = window_next_event(&mq->window)) <= now && next != U64_MAX) {
		mq->now = next;
		command = window_advance(&mq->window, next);
		if (command)
			rq_finish(mq, mq_request_of(command));
	}
}

static void blk_mq_run_to(struct blk_mq *mq, u64 now)
{
	if (window_next_event(&mq->window) <= now)
		blk_mq_run_events(mq, now);
	mq->now = max(mq->now, now);
}

/* The callers' side */

bool blk_mq_merges(struct blk_mq *mq, const struct disk_request *request, u64 now)
{
	struct disk_request whole = *request;
	struct mq_request *rq;
	enum mq_merge kind;

	blk_mq_run_to(mq, now);
	whole.left = whole.sectors;
	if (!disk_op_has_data(whole.op) || !whole.sectors || whole.sectors > mq->piece ||
	    hw_of_cpu(mq, whole.cpu)->pending.first)
		return false;
	rq = plug_last(&whole);
	if (rq && mq_merge_kind(rq, &whole, whole.sectors) != MQ_MERGE_NONE &&
	    mq_merge_fits(mq->profile, rq, whole.sectors))
		return true;
	if (mq->scheduler)
		return mq_deadline_may_merge(&mq->deadline, &whole, whole.sectors);
	rq = cpu_neighbour(mq, &whole, &kind);
	return rq && mq_merge_fits(mq->profile, rq, whole.sectors);
}

bool blk_mq_enter(struct blk_mq *mq, struct disk_submitter *who, enum disk_op op, u64 now)
{
	struct hw_queue *hw = hw_of_cpu(mq, who->cpu);

	blk_mq_run_to(mq, now);
	who->woken[op != DISK_READ] = false;
	if (mq_tag_free(&hw->tags, op) && !hw->pending.first) {
		mq->again = false;
		return true;
	}
	if (!mq_tag_free(&hw->tags, op))
		mq_tag_get(&hw->tags, who->cpu, op);	/* looks for one, which is remembered */
	return false;
}

u32 blk_mq_wait(struct blk_mq *mq, const struct disk_submitter *who)
{
	struct hw_queue *hw = hw_of_cpu(mq, who->cpu);
	u8 line = mq->again ? mq->line : mq_tags_line(&hw->tags);

	mq->again = false;
	hw->tags.waiters++;
	hw->tags.waiting[line]++;
	return waiter_place(hw - mq->hw, line);
}

u32 blk_mq_wakeups(const struct blk_mq *mq)
{
	return mq->nr_woken;
}

bool blk_mq_wakes(const struct blk_mq *mq, u32 place)
{
	return mq->nr_woken && mq->woken[mq->first_woken] == place;
}

void blk_mq_woken(struct blk_mq *mq, struct disk_submitter *who, enum disk_op op, u64 now)
{
	struct hw_queue *hw = hw_of_cpu(mq, who->cpu);

	blk_mq_run_to(mq, now);
	who->woken[op != DISK_READ] = true;
	mq->first_woken = (mq->first_woken + 1) % mq->most_woken;
	mq->nr_woken--;
	hw->tags.waiters--;
	mq->line = mq_tags_line(&hw->tags);
	mq->again = true;
}

void blk_mq_submit(struct blk_mq *mq, struct disk_request *request, u64 now)
{
	struct hw_queue *hw = hw_of_cpu(mq, request->cpu);

	blk_mq_run_to(mq, now);
	request->arrival = mq->now;
	request->dispatch = U64_MAX;
	request->left = disk_op_has_data(request->op) ? request->sectors : 0;
	request->commands = 0;
	request->cached = 0;
	request->next = NULL;
	if (!request->sectors && disk_op_has_data(request->op)) {	/* nothing to do */
		request->completion = mq->now;
		request->dispatch = mq->now;
		request_list_append(&mq->done, request);
		return;
	}
	if (hw->pending.first || !blk_mq_place(mq, request)) {
		request->plug = NULL;	/* its task sleeps, and has unplugged */
		request_list_append(&hw->pending, request);
	}
	run_queues(mq);
}

void blk_mq_unplug(struct blk_mq *mq, struct disk_plug *plug, bool sleeps, u64 now)
{
	struct command_list list = plug->list;
	struct mq_request *rq;
	bool direct = !sleeps;

	blk_mq_run_to(mq, now);
	*plug = (struct disk_plug){ };
	while (list.first) {
		rq = mq_request_of(command_list_pop(&list));
		/* The first that the drive does not take is kept before all others. */
		if (mq->scheduler || !direct) {
			rq_insert(mq, rq);
		} else if (!rq_issue(mq, rq)) {
			command_list_append(&mq->hw[rq->hw].dispatch, &rq->command);
			mq->hw[rq->hw].run = true;
			direct = false;
		}
	}
	run_queues(mq);
}

void blk_mq_trim(struct blk_mq *mq, u64 sector, u64 sectors, u64 now)
{
	blk_mq_run_to(mq, now);
	if (mq->window.solid)
		solid_trim(mq->window.solid, sector, sectors, now);
}

u64 blk_mq_next_event(const struct blk_mq *mq)
{
	return mq->done.first ? mq->done.first->completion : window_next_event(&mq->window);
}

struct disk_request *blk_mq_advance(struct blk_mq *mq, u64 now)
{
	struct disk_request *done;

	blk_mq_run_to(mq, now);
	done = mq->done.first;
	mq->done = (struct request_list){ };
	return done;
}
