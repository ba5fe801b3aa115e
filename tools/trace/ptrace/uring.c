// SPDX-License-Identifier: GPL-2.0
#include "uring.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "../capture.h"
#include "../../common/alloc.h"
#include "../uring-calls.h"

/* Younger than the oldest headers. */
#define SETUP_SQE128 0x400u
#define SETUP_CQE32 0x800u
#define SETUP_NO_MMAP 0x4000u
#define SETUP_NO_SQARRAY 0x10000u
#define ENTER_REGISTERED_RING 0x10u

#define ENTRIES_MAX 32768u
#define FILES_MAX 32768u

struct ring {
	pid_t tgid;
	int fd;
	struct io_uring_params params;
	u64 sq; /* addresses; 0: not mapped */
	u64 cq;
	u64 sqes;
	u32 seen; /* completions */
	u32 polled; /* submissions that the kernel's thread took */
	s32 *files; /* registered */
	u32 file_count;
	u64 *opens; /* user_data of submissions that are to make a descriptor */
	u32 open_count;
	struct ring *next;
};

/* A submission that is to be recorded once it is known to have been taken. */
struct noted {
	struct task call; /* as if the task made the equivalent call */
	struct tracefile_submit submit;
};

static struct ring *rings;

static struct ring **ring_place(pid_t tgid, int fd)
{
	struct ring **place = &rings;

	while (*place && ((*place)->tgid != tgid || (*place)->fd != fd))
		place = &(*place)->next;
	return place;
}

static void ring_forget(struct ring **place)
{
	struct ring *ring = *place;

	*place = ring->next;
	free(ring->files);
	free(ring->opens);
	free(ring);
}

static bool read_u32(pid_t tid, u64 at, u32 *value)
{
	return peek_memory(tid, at, value, sizeof(*value)) == sizeof(*value);
}

/* The last member of either kind of offsets has another name in older headers. */
static u64 user_address(const void *offsets, size_t size)
{
	u64 address;

	memcpy(&address, (const u8 *)offsets + size - sizeof(address), sizeof(address));
	return address;
}

static void set_up(struct task *task, s64 fd)
{
	struct ring *ring = xmalloc(sizeof(*ring));

	*ring = (struct ring){ .tgid = task->tgid, .fd = fd, .next = rings };
	if (peek_memory(task->tid, task->call.args[1], &ring->params, sizeof(ring->params)) <
		    sizeof(ring->params) ||
	    ring->params.sq_entries > ENTRIES_MAX || ring->params.cq_entries > 4 * ENTRIES_MAX) {
		free(ring);
		return;
	}
	if (ring->params.flags & SETUP_NO_MMAP) {
		ring->cq = user_address(&ring->params.cq_off, sizeof(ring->params.cq_off));
		ring->sq = ring->cq;
		ring->sqes = user_address(&ring->params.sq_off, sizeof(ring->params.sq_off));
	}
	rings = ring;
}

static void mapped(const struct task *task, u64 address)
{
	struct ring *ring = *ring_place(task->tgid, task->call.args[4]);

	if (!ring)
		return;
	switch (task->call.args[5]) {
	case IORING_OFF_SQ_RING:
		ring->sq = address;
		if (ring->params.features & IORING_FEAT_SINGLE_MMAP)
			ring->cq = address;
		break;
	case IORING_OFF_CQ_RING:
		ring->cq = address;
		break;
	case IORING_OFF_SQES:
		ring->sqes = address;
		break;
	}
}

static void registered(const struct task *task)
{
	struct ring *ring = *ring_place(task->tgid, task->call.args[0]);
	u32 count = min_t(u64, task->call.args[3], FILES_MAX);
	size_t size = count * sizeof(*ring->files);

	if (!ring || (task->call.args[1] != IORING_REGISTER_FILES &&
		      task->call.args[1] != IORING_UNREGISTER_FILES))
		return;
	free(ring->files);
	ring->files = NULL;
	ring->file_count = 0;
	if (task->call.args[1] == IORING_UNREGISTER_FILES)
		return;
	ring->files = xmalloc(size);
	if (peek_memory(task->tid, task->call.args[2], ring->files, size) == size)
		ring->file_count = count;
}

static s32 ring_file(const struct ring *ring, const struct io_uring_sqe *sqe)
{
	if (!(sqe->flags & IOSQE_FIXED_FILE))
		return sqe->fd;
	return (u32)sqe->fd < ring->file_count ? ring->files[sqe->fd] : -1;
}

static void note(struct noted *noted, const struct task *task, const struct ring *ring,
		 const struct io_uring_sqe *sqe)
{
	const struct call *call;

	*noted = (struct noted){
		.call = { .tid = task->tid, .tgid = task->tgid, .entry = task->entry },
		.submit = { .opcode = sqe->opcode,
			    .flags = sqe->flags,
			    .ring = ring->fd,
			    .user_data = sqe->user_data },
	};
	noted->call.call.nr = uring_call(sqe->opcode, sqe);
	call = call_of(noted->call.call.nr);
	if (call) {
		uring_args(sqe, ring_file(ring, sqe), noted->call.call.args);
		capture_entry(&noted->call, call);
	}
	task_blob(&noted->call, TRACEFILE_SUBMIT, &noted->submit, sizeof(noted->submit));
}

/* Submissions from the ring's head on; how many could be read. */
static u32 note_all(struct noted *noted, const struct task *task, const struct ring *ring,
		    u32 head, u32 count)
{
	const struct io_sqring_offsets *off = &ring->params.sq_off;
	u32 mask = ring->params.sq_entries - 1, size = sizeof(struct io_uring_sqe);
	struct io_uring_sqe sqe;
	u32 i, index;

	if (ring->params.flags & SETUP_SQE128)
		size *= 2;
	for (i = 0; i < count; i++) {
		index = (head + i) & mask;
		if (!(ring->params.flags & SETUP_NO_SQARRAY) &&
		    !read_u32(task->tid, ring->sq + off->array + index * sizeof(u32), &index))
			break;
		if (peek_memory(task->tid, ring->sqes + (index & mask) * size, &sqe, sizeof(sqe)) <
		    sizeof(sqe))
			break;
		note(&noted[i], task, ring, &sqe);
	}
	return i;
}

static void note_submissions(struct tracer *t, struct task *task, const struct ring *ring)
{
	const struct io_sqring_offsets *off = &ring->params.sq_off;
	u32 head, tail, count = task->call.args[1];

	if (!read_u32(task->tid, ring->sq + off->head, &head) ||
	    !read_u32(task->tid, ring->sq + off->tail, &tail))
		return;
	count = min_t(u32, count, min_t(u32, tail - head, ring->params.sq_entries));
	if (!count)
		return;
	task->noted = xmalloc(count * sizeof(*task->noted));
	task->noted_count = note_all(task->noted, task, ring, head, count);
}

static void drop_noted(struct task *task)
{
	u32 i;

	for (i = 0; i < task->noted_count; i++)
		free(task->noted[i].call.blobs);
	free(task->noted);
	task->noted = NULL;
	task->noted_count = 0;
}

static void add_open(struct ring *ring, u64 user_data)
{
	ring->opens = xrealloc(ring->opens, (ring->open_count + 1) * sizeof(*ring->opens));
	ring->opens[ring->open_count++] = user_data;
}

/* Is it the completion of an open? */
static bool take_open(struct ring *ring, u64 user_data)
{
	u32 i;

	for (i = 0; i < ring->open_count; i++) {
		if (ring->opens[i] != user_data)
			continue;
		ring->opens[i] = ring->opens[--ring->open_count];
		return true;
	}
	return false;
}

/* Those that the kernel took; the others are still in the ring. */
static void write_noted(struct tracer *t, struct task *task, s64 taken)
{
	struct ring *ring = *ring_place(task->tgid, task->call.args[0]);
	u32 i;

	for (i = 0; i < task->noted_count && i < taken; i++) {
		struct task *call = &task->noted[i].call;
		struct tracefile_record record = {
			.type = TRACEFILE_SQE,
			.flags = call->flags,
			.tid = task->tid,
			.nr = call->call.nr,
			.entry = call->entry,
			.exit = call->entry,
		};

		memcpy(record.args, call->call.args, sizeof(record.args));
		tracefile_begin(&t->writer, &record);
		tracefile_blobs(&t->writer, call->blobs, call->blobs_used);
		tracefile_end(&t->writer);
		t->balance.submissions++;
		if (ring && uring_opens(call->call.nr))
			add_open(ring, task->noted[i].submit.user_data);
	}
	drop_noted(task);
}

/* The file that a completion has opened. */
static void add_opened(struct tracer *t, const struct task *task, s32 fd)
{
	static struct task seen;

	seen.tid = task->tid;
	seen.blobs_used = 0;
	capture_fd(&seen, fd);
	tracefile_blobs(&t->writer, seen.blobs, seen.blobs_used);
}

static void write_completion(struct tracer *t, const struct task *task, struct ring *ring,
			     const struct io_uring_cqe *cqe)
{
	struct tracefile_record record = {
		.type = TRACEFILE_CQE,
		.tid = task->tid,
		.nr = ring->fd,
		.entry = t->balance.last,
		.exit = t->balance.last,
		.result = (s64)cqe->res,
		.args = { cqe->user_data, cqe->flags },
	};

	tracefile_begin(&t->writer, &record);
	if (take_open(ring, cqe->user_data) && cqe->res >= 0)
		add_opened(t, task, cqe->res);
	tracefile_end(&t->writer);
	t->balance.completions++;
}

static void count_polled(struct tracer *t, const struct task *task, struct ring *ring)
{
	u32 head;

	if (!read_u32(task->tid, ring->sq + ring->params.sq_off.head, &head))
		return;
	t->balance.polled += head - ring->polled;
	ring->polled = head;
}

/* Completions that have come since the last time. */
static void drain(struct tracer *t, const struct task *task, struct ring *ring)
{
	const struct io_cqring_offsets *off = &ring->params.cq_off;
	u32 entries = ring->params.cq_entries, size = sizeof(struct io_uring_cqe), tail;
	struct io_uring_cqe cqe;

	if (ring->params.flags & IORING_SETUP_SQPOLL) {
		count_polled(t, task, ring);
		return;
	}
	if (!ring->cq || !read_u32(task->tid, ring->cq + off->tail, &tail))
		return;
	if (ring->params.flags & SETUP_CQE32)
		size *= 2;
	if (tail - ring->seen > entries) {
		t->balance.overwritten += tail - ring->seen - entries;
		ring->seen = tail - entries;
	}
	for (; ring->seen != tail; ring->seen++) {
		u64 at = ring->cq + off->cqes + (ring->seen & (entries - 1)) * size;

		if (peek_memory(task->tid, at, &cqe, sizeof(cqe)) == sizeof(cqe))
			write_completion(t, task, ring, &cqe);
		rotate_if_full(t);
	}
}

static void drain_process(struct tracer *t, const struct task *task)
{
	struct ring *ring;

	for (ring = rings; ring; ring = ring->next) {
		if (ring->tgid == task->tgid)
			drain(t, task, ring);
	}
}

void uring_entry(struct tracer *t, struct task *task, const struct call *call)
{
	struct ring *ring;

	if (call->effect == DOES_EXIT || call->effect == DOES_EXEC) {
		drain_process(t, task);
		return;
	}
	if (call->effect != DOES_URING && call->effect != DOES_CLOSE)
		return;
	ring = rings ? *ring_place(task->tgid, task->call.args[0]) : NULL;
	if (ring)
		drain(t, task, ring);
	if (call->effect == DOES_CLOSE)
		return;
	if (!ring || !ring->sq || !ring->sqes || task->call.args[3] & ENTER_REGISTERED_RING)
		t->balance.unknown_rings++;
	else if (!(ring->params.flags & IORING_SETUP_SQPOLL))
		note_submissions(t, task, ring);
}

void uring_exit(struct tracer *t, struct task *task, const struct call *call, s64 result)
{
	struct ring **place;

	if (task->call.nr == SYS_io_uring_setup && result >= 0)
		set_up(task, result);
	if (!rings)
		return;
	if (call->effect == DOES_URING)
		write_noted(t, task, result);
	if (result < 0)
		return;
	place = ring_place(task->tgid, task->call.args[0]);
	if (call->effect == DOES_MMAP)
		mapped(task, result);
	else if (task->call.nr == SYS_io_uring_register)
		registered(task);
	else if (call->effect == DOES_CLOSE && *place)
		ring_forget(place);
	else if (call->effect == DOES_URING && *place)
		drain(t, task, *place);
}

void uring_gone(struct task *task)
{
	struct ring **place = &rings;

	drop_noted(task);
	while (*place && task->tid == task->tgid) {
		if ((*place)->tgid == task->tgid)
			ring_forget(place);
		else
			place = &(*place)->next;
	}
}

static void uring_end_task(struct task *task, void *arg)
{
	if (task->tid == task->tgid)
		drain_process(arg, task);
	drop_noted(task);
}

void uring_end(struct tracer *t)
{
	tasks_each(&t->tasks, uring_end_task, t);
	while (rings)
		ring_forget(&rings);
}
