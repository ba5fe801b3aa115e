// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "queue.h"

/* Linux 2.6.23, block/deadline-iosched.c */
#define READ_EXPIRE	(500ULL * 1000 * 1000)
#define WRITE_EXPIRE	(5ULL * 1000 * 1000 * 1000)
#define BATCH		16
#define WRITES_STARVED	2

int queue_init(struct queue *queue, const struct profile *profile, gfp_t gfp)
{
	u32 i, most = queue_most(profile);

	memset(queue, 0, sizeof(*queue));
	queue->profile = profile;
	queue->pool_size = 2 * most;
	queue->piece = min(profile->max_sectors, profile->max_segments * COMMAND_SEGMENT);
	queue->direction = DISK_OP_NR;
	queue->pool = kvcalloc(queue->pool_size, sizeof(*queue->pool), gfp);
	queue->live[0].at = kvcalloc(most, sizeof(*queue->live[0].at), gfp);
	queue->live[1].at = kvcalloc(most, sizeof(*queue->live[1].at), gfp);
	if (!queue->pool || !queue->live[0].at || !queue->live[1].at) {
		queue_exit(queue);
		return -ENOMEM;
	}
	for (i = 0; i < queue->pool_size; i++) {
		queue->pool[i].next = queue->free;
		queue->free = &queue->pool[i];
	}
	return 0;
}

void queue_exit(struct queue *queue)
{
	kvfree(queue->pool);
	kvfree(queue->live[0].at);
	kvfree(queue->live[1].at);
}

size_t queue_bytes(const struct queue *queue)
{
	return queue->pool_size * (sizeof(*queue->pool) + sizeof(*queue->live[0].at));
}

/* Sorted by seq. The place is nearly always the end; a command that was held has another one. */
static void list_insert(struct command_list *list, struct disk_command *command)
{
	struct disk_command *after = list->last;

	while (after && after->seq > command->seq)
		after = after->prev;
	command_list_insert(list, command, after);
}

/* The first that could reach @sector, given how long commands can be. */
static u32 first_near(const struct queue *queue, unsigned int direction, u64 sector)
{
	return command_sort_find(&queue->live[direction],
				 sector > queue->piece ? sector - queue->piece : 0, 0);
}

static bool command_overlaps(const struct disk_command *command, u64 sector, u32 sectors)
{
	return command->sector < sector + sectors && sector < command->sector + command->sectors;
}

/* Live commands of a direction that overlap. With @hold they are marked: others wait for them. */
static u32 count_overlaps(struct queue *queue, unsigned int direction, u64 sector, u32 sectors,
			  bool hold)
{
	struct disk_command **sorted = queue->live[direction].at;
	u32 i, n = 0;

	for (i = first_near(queue, direction, sector); i < queue->live[direction].nr; i++) {
		if (sorted[i]->sector >= sector + sectors)
			break;
		if (command_overlaps(sorted[i], sector, sectors)) {
			sorted[i]->holds |= hold;
			n++;
		}
	}
	return n;
}

/* Live commands that a new one must not overtake: writes, and if it is a write also reads. */
static u32 nr_conflicts(struct queue *queue, enum disk_op op, u64 sector, u32 sectors, bool hold)
{
	u32 n = count_overlaps(queue, DISK_WRITE, sector, sectors, hold);

	if (op == DISK_WRITE)
		n += count_overlaps(queue, DISK_READ, sector, sectors, hold);
	return n;
}

static bool may_merge(const struct queue *queue, const struct disk_command *command,
		      const struct disk_request *request, u32 sectors)
{
	const struct profile *profile = queue->profile;

	return command->state == COMMAND_QUEUED && !(command->flags & DISK_FUA) &&
	       command->sectors + sectors <= profile->max_sectors &&
	       command->segments + command_segments(sectors) <= profile->max_segments &&
	       !(command->part && command_is_part(request, sectors));
}

static struct disk_command *find_back(const struct queue *queue, const struct disk_request *request,
				      u32 sectors)
{
	unsigned int direction = direction_of(request->op);
	u64 sector = command_next_sector(request);
	u32 i = command_sort_find(&queue->live[direction], sector, 0);

	while (i--) {
		struct disk_command *command = queue->live[direction].at[i];

		if (command->sector + queue->piece < sector)
			break;
		if (command->sector + command->sectors == sector &&
		    may_merge(queue, command, request, sectors))
			return command;
	}
	return NULL;
}

static struct disk_command *find_front(const struct queue *queue,
				       const struct disk_request *request, u32 sectors)
{
	const struct command_sort *live = &queue->live[direction_of(request->op)];
	u64 end = command_next_sector(request) + sectors;
	u32 i;

	for (i = command_sort_find(live, end, 0); i < live->nr; i++) {
		struct disk_command *command = live->at[i];

		if (command->sector != end)
			break;
		if (may_merge(queue, command, request, sectors))
			return command;
	}
	return NULL;
}

bool queue_merge(struct queue *queue, struct disk_request *request, u32 sectors)
{
	struct disk_command *command;

	if (!queue->live[direction_of(request->op)].nr || request->flags & DISK_FUA)
		return false;
	command = find_back(queue, request, sectors);
	if (command) {
		if (nr_conflicts(queue, request->op, command_next_sector(request), sectors,
				 false))
			return false;
		command_carry(command, request, sectors);
		return true;
	}
	command = find_front(queue, request, sectors);
	if (!command || nr_conflicts(queue, request->op, command_next_sector(request), sectors,
				     false))
		return false;
	command_sort_remove(&queue->live[direction_of(command->op)], command);
	command->sector -= sectors;
	command_sort_insert(&queue->live[direction_of(command->op)], command);
	command_carry(command, request, sectors);
	return true;
}

static struct disk_command *queue_take(struct queue *queue, struct disk_request *request,
				       u32 sectors, u64 now)
{
	struct disk_command *command = queue->free;

	queue->free = command->next;
	memset(command, 0, sizeof(*command));
	command->sector = command_next_sector(request);
	command->seq = queue->seq++;
	command->arrival = now;
	command->op = request->op;
	command_carry(command, request, sectors);
	return command;
}

void queue_add(struct queue *queue, struct disk_request *request, u32 sectors, u64 now)
{
	u64 sector = command_next_sector(request);
	u32 waits_for = queue_live(queue) ?
			nr_conflicts(queue, request->op, sector, sectors, true) : 0;
	struct disk_command *command = queue_take(queue, request, sectors, now);

	command->waits_for = waits_for;
	command_sort_insert(&queue->live[direction_of(command->op)], command);
	if (waits_for) {
		command->state = COMMAND_HELD;
	} else {
		command->state = COMMAND_QUEUED;
		list_insert(&queue->fifo[direction_of(command->op)], command);
	}
}

void queue_add_flush(struct queue *queue, struct disk_request *request, u64 now)
{
	struct disk_command *command = queue_take(queue, request, 0, now);

	command->state = COMMAND_QUEUED;
	list_insert(&queue->flushes, command);
}

/* The first of a direction's queued commands from (@sector, @seq) on. */
static struct disk_command *first_queued(const struct queue *queue, unsigned int direction,
					 u64 sector, u64 seq)
{
	const struct command_sort *live = &queue->live[direction];
	u32 i;

	if (!queue->fifo[direction].first)
		return NULL;
	for (i = command_sort_find(live, sector, seq); i < live->nr; i++)
		if (live->at[i]->state == COMMAND_QUEUED)
			return live->at[i];
	return NULL;
}

static bool place_before(const struct disk_command *a, const struct disk_command *b)
{
	return a->sector < b->sector || (a->sector == b->sector && a->seq < b->seq);
}

static struct disk_command *lower_of(struct disk_command *a, struct disk_command *b)
{
	return !b || (a && place_before(a, b)) ? a : b;
}

static struct disk_command *choose_fifo(const struct queue *queue)
{
	struct disk_command *read = queue->fifo[DISK_READ].first;
	struct disk_command *write = queue->fifo[DISK_WRITE].first;

	return !write || (read && read->seq < write->seq) ? read : write;
}

/* Upwards from the end of the last command, then from the lowest sector. */
static struct disk_command *choose_clook(const struct queue *queue)
{
	return lower_of(first_queued(queue, DISK_READ, queue->end, 0),
			first_queued(queue, DISK_WRITE, queue->end, 0)) ?:
	       lower_of(first_queued(queue, DISK_READ, 0, 0),
			first_queued(queue, DISK_WRITE, 0, 0));
}

static bool command_expired(const struct disk_command *command, u64 now)
{
	return now >= command->arrival + (command->op == DISK_READ ? READ_EXPIRE : WRITE_EXPIRE);
}

/*
 * Batches of one direction. A batch goes upwards from the end of the last one. It begins with the
 * oldest command if that has waited too long, or if none lies above. Reads come first. Writes come
 * when reads were preferred WRITES_STARVED times.
 */
static struct disk_command *choose_deadline(struct queue *queue, u64 now)
{
	struct disk_command *oldest[2] = {
		queue->fifo[DISK_READ].first, queue->fifo[DISK_WRITE].first
	};
	struct disk_command *next = NULL;
	unsigned int direction;

	if (queue->direction < DISK_OP_NR)
		next = first_queued(queue, queue->direction, queue->sector, queue->last_seq + 1);
	if (next && queue->batch < BATCH) {
		queue->batch++;
		return next;
	}
	if (!oldest[DISK_READ] && !oldest[DISK_WRITE])
		return NULL;
	direction = DISK_READ;
	if (!oldest[DISK_READ] || (oldest[DISK_WRITE] && queue->starved++ >= WRITES_STARVED)) {
		queue->starved = 0;
		direction = DISK_WRITE;
	}
	queue->batch = 1;
	if (next && direction == queue->direction && !command_expired(oldest[direction], now))
		return next;
	return oldest[direction];
}

struct disk_command *queue_next(struct queue *queue, u64 now)
{
	struct disk_command *command;

	if (queue->profile->scheduler == SCHEDULER_FIFO)
		command = choose_fifo(queue);
	else if (queue->profile->scheduler == SCHEDULER_DEADLINE)
		command = choose_deadline(queue, now);
	else
		command = choose_clook(queue);
	if (!command)
		return NULL;
	command_list_remove(&queue->fifo[direction_of(command->op)], command);
	command->state = COMMAND_DRIVE;
	queue->direction = command->op;
	queue->sector = command->sector;
	queue->last_seq = command->seq;
	queue->end = command->sector + command->sectors;
	return command;
}

struct disk_command *queue_next_flush(struct queue *queue)
{
	struct disk_command *command = queue->flushes.first;

	if (command) {
		command_list_remove(&queue->flushes, command);
		command->state = COMMAND_DRIVE;
	}
	return command;
}

/* One command less that those of @direction wait for which overlap @done. */
static void let_go(struct queue *queue, unsigned int direction, const struct disk_command *done)
{
	struct disk_command **sorted = queue->live[direction].at;
	u32 i;

	for (i = first_near(queue, direction, done->sector); i < queue->live[direction].nr; i++) {
		struct disk_command *command = sorted[i];

		if (command->sector >= done->sector + done->sectors)
			break;
		if (command->state != COMMAND_HELD || command->seq < done->seq ||
		    !command_overlaps(command, done->sector, done->sectors))
			continue;
		if (!--command->waits_for) {
			command->state = COMMAND_QUEUED;
			list_insert(&queue->fifo[direction], command);
		}
	}
}

void queue_complete(struct queue *queue, struct disk_command *command)
{
	if (command->op != DISK_FLUSH) {
		command_sort_remove(&queue->live[direction_of(command->op)], command);
		if (command->holds) {
			let_go(queue, DISK_WRITE, command);
			if (command->op == DISK_WRITE)
				let_go(queue, DISK_READ, command);
		}
	}
	command->next = queue->free;
	queue->free = command;
}
