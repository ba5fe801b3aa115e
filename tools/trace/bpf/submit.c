// SPDX-License-Identifier: GPL-2.0
/*
 * A submission's record has to follow that of the call that submitted it, and a completion's that
 * of its submission. The kernel makes the call's record last, when it returns. So submissions wait
 * here, and completions wait for them. As a program may use its user_data again as soon as it has
 * the completion, those of one ring and user_data keep their order.
 */
#include "submit.h"

#include <sys/syscall.h>

#include "../../common/alloc.h"
#include "../uring-calls.h"

#define NO_TASK 0
#define ALL_TASKS -1

struct waiting {
	struct waiting *next;
	pid_t tgid;
	pid_t owner; /* whose descriptor the ring's number is */
	u64 user_data;
	bool returned; /* the call that submitted it is over */
	struct tracefile_record record; /* with blobs behind it */
};

/* Descriptors that a ring's numbers of files stand for. */
struct registered {
	struct registered *next;
	pid_t tgid;
	u32 ring;
	u32 count;
	s32 fd[];
};

static struct waiting *first;
static struct waiting **last = &first;
static struct registered *registered;

static u8 op_field(const char *fields, int place)
{
	if (place < 0)
		return OP_NO_FIELD;
	return fields[place] == 'o' ? OP_OFFSET : OP_ADDRESS;
}

void submit_plan(struct uring_op *ops)
{
	u32 opcode;

	for (opcode = 0; opcode < URING_OPS; opcode++) {
		const char *fields = uring_fields(opcode);
		u32 nr = uring_call(opcode, NULL);
		const struct call *call = call_of(nr);

		if (!call)
			continue;
		ops[opcode] = (struct uring_op){
			.path = op_field(fields, call_arg(call, 'p')),
			.path2 = op_field(fields, call_arg(call, 'P')),
			.how = op_field(fields, call_arg(call, 'h')),
			.iovec = call_arg(call, 'v') >= 0,
			.closes = call->effect == DOES_CLOSE,
			.opens = uring_opens(nr),
		};
	}
}

static struct registered **registered_place(pid_t tgid, u32 ring)
{
	struct registered **place = &registered;

	while (*place && ((*place)->tgid != tgid || (*place)->ring != ring))
		place = &(*place)->next;
	return place;
}

static void registered_forget(struct registered **place)
{
	struct registered *files = *place;

	if (!files)
		return;
	*place = files->next;
	free(files);
}

static void learn_files(const struct tracefile_record *call, pid_t tgid)
{
	u32 ring = call->args[0], length;
	const void *fds = tracefile_find(call, BPF_FILES, 0, &length);
	struct registered *files;

	if (call->args[1] == IORING_UNREGISTER_FILES || fds)
		registered_forget(registered_place(tgid, ring));
	if (!fds)
		return;
	files = xmalloc(sizeof(*files) + length);
	*files = (struct registered){ registered, tgid, ring, length / sizeof(s32) };
	memcpy(files->fd, fds, length);
	registered = files;
}

static s32 submit_file(const struct io_uring_sqe *sqe, pid_t tgid, u32 ring)
{
	const struct registered *files;

	if (!(sqe->flags & IOSQE_FIXED_FILE))
		return sqe->fd;
	files = *registered_place(tgid, ring);
	return files && (u32)sqe->fd < files->count ? files->fd[sqe->fd] : -1;
}

static void write_record(struct tracer *t, const struct tracefile_record *r,
			 const struct tracefile_submit *submit)
{
	const char *data;
	u32 at = 0, length;
	u16 kind;

	tracefile_begin(&t->writer, r);
	while (tracefile_each(r, &at, &kind, &data, &length)) {
		if (kind != BPF_SQE)
			tracefile_add(&t->writer, kind, data, length);
	}
	if (submit)
		tracefile_add(&t->writer, TRACEFILE_SUBMIT, submit, sizeof(*submit));
	tracefile_end(&t->writer);
}

static void submit_write(struct tracer *t, struct waiting *w)
{
	struct tracefile_record *r = &w->record;
	struct tracefile_submit submit = { .ring = r->nr };
	struct io_uring_sqe sqe;

	memcpy(&sqe, tracefile_find(r, BPF_SQE, sizeof(sqe), NULL), sizeof(sqe));
	submit.opcode = sqe.opcode;
	submit.flags = sqe.flags;
	submit.user_data = sqe.user_data;
	r->nr = uring_call(sqe.opcode, &sqe);
	r->args[0] = 0; /* the ring's owner, till here */
	if (call_of(r->nr))
		uring_args(&sqe, submit_file(&sqe, w->tgid, submit.ring), r->args);
	write_record(t, r, &submit);
	t->balance.submissions++;
}

static void write_waiting(struct tracer *t, struct waiting *w)
{
	if (w->record.type == TRACEFILE_SQE) {
		submit_write(t, w);
		return;
	}
	write_record(t, &w->record, NULL);
	t->balance.completions++;
}

/* Does one wait before @w that belongs to the same submissions, as far as is known? */
static bool is_behind(const struct waiting *w)
{
	const struct waiting *other;

	for (other = first; other != w; other = other->next) {
		if (other->owner == w->owner && other->record.nr == w->record.nr &&
		    other->user_data == w->user_data)
			return true;
	}
	return false;
}

/* @returned: the task whose call is over; NO_TASK, or ALL_TASKS. */
static bool is_ready(struct waiting *w, pid_t returned)
{
	if (returned == ALL_TASKS || w->record.tid == returned)
		w->returned = true;
	return w->returned && !is_behind(w);
}

static void write_ready(struct tracer *t, pid_t returned)
{
	struct waiting **place = &first, *w;

	while ((w = *place)) {
		if (!is_ready(w, returned)) {
			place = &w->next;
			continue;
		}
		write_waiting(t, w);
		*place = w->next;
		free(w);
	}
	last = place;
}

void submit_take(struct tracer *t, const struct tracefile_record *record, pid_t tgid)
{
	struct waiting *w = xmalloc(sizeof(*w) - sizeof(w->record) + record->length);

	w->next = NULL;
	w->tgid = tgid;
	memcpy(&w->record, record, record->length);
	if (record->type == TRACEFILE_SQE) {
		const struct io_uring_sqe *sqe =
			tracefile_find(record, BPF_SQE, sizeof(*sqe), NULL);

		memcpy(&w->user_data, &sqe->user_data, sizeof(w->user_data)); /* not aligned */
		w->owner = record->args[0];
		w->returned = record->flags & TRACEFILE_POLLED;
	} else {
		w->user_data = record->args[0];
		w->owner = record->tid;
		w->returned = true;
	}
	*last = w;
	last = &w->next;
	if (record->type == TRACEFILE_CQE || record->flags & TRACEFILE_POLLED)
		write_ready(t, NO_TASK);
}

void submit_follow(struct tracer *t, const struct tracefile_record *record, pid_t tgid)
{
	const struct call *call = call_of(record->nr);

	if (record->nr == SYS_io_uring_register && !record->result)
		learn_files(record, tgid);
	else if (call && call->effect == DOES_CLOSE)
		registered_forget(registered_place(tgid, record->args[0]));
	else if (call && call->effect == DOES_URING)
		write_ready(t, record->tid);
}

void submit_end(struct tracer *t)
{
	write_ready(t, ALL_TASKS);
	while (registered)
		registered_forget(&registered);
}
