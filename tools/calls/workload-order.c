// SPDX-License-Identifier: GPL-2.0
/*
 * Can all commands of a compiled trace be done? They are gone through without doing anything, each
 * thread as far as it gets. What others have to do first, and how many bytes stand in which pipe,
 * does not depend on who goes first: a read of a pipe takes as many as it says, and waits for them.
 * A pipe holds any number of bytes here: that it is full the replay itself finds.
 */
#include "workload.h"

#include <fcntl.h>

#define CHAIN_MAX 6

struct end { /* of a pipe, by slot */
	u32 in; /* 1 + stream that is read from it; 0: none */
	u32 out;
	s32 left; /* commands that let go of it; WL_OPEN_SLOT more until the last one */
};

struct stream { /* of bytes in one direction, by number of the pipe or of the socket */
	u64 bytes;
	u32 writers;
	u32 waits; /* 1 + thread: a list */
};

struct runner { /* of a thread */
	struct wl_cursor cursor;
	struct wl_command command; /* the next one */
	u32 done;
	u32 dep; /* of its dependencies, how many are met */
	const u8 *next_dep;
	u32 waits; /* 1 + who waits for this one: a list */
	u32 next_waiting;
	u32 stream; /* 1 + the one that it waits for; 0: none */
	bool gives_up;
};

struct order_check {
	struct workload *w;
	struct runner *runner;
	u32 *stack;
	u32 depth;
	struct end *end;
	struct stream *stream;
};

static void load_command(struct runner *r, const struct wl_thread *t)
{
	r->gives_up = false;
	if (r->done < le32_to_cpu(t->commands) && wl_next(&r->cursor, &r->command)) {
		r->dep = 0;
		r->next_dep = r->command.dep;
	}
}

static void wait_in(struct order_check *o, u32 thread, u32 *list)
{
	o->runner[thread].next_waiting = *list;
	*list = thread + 1;
}

/* Who waits may go on. */
static void wake(struct order_check *o, u32 *list)
{
	u32 at = *list;

	*list = 0;
	for (; at; at = o->runner[at - 1].next_waiting) {
		o->runner[at - 1].stream = 0;
		o->stack[o->depth++] = at - 1;
	}
}

/* Pipes. */

static void open_end(struct order_check *o, u64 slot, u32 in, u32 out)
{
	o->end[slot] = (struct end){ in, out, WL_OPEN_SLOT };
	if (out)
		o->stream[out - 1].writers++;
}

static void open_by_flags(struct order_check *o, u64 slot, u64 flags, u32 stream)
{
	bool reads = (flags & O_ACCMODE) != O_WRONLY, writes = (flags & O_ACCMODE) != O_RDONLY;

	open_end(o, slot, reads ? stream : 0, writes ? stream : 0);
}

static void end_writing(struct order_check *o, struct end *e)
{
	struct stream *s;

	if (!e->out)
		return;
	s = &o->stream[e->out - 1];
	e->out = 0;
	if (s->writers && !--s->writers)
		wake(o, &s->waits);
}

static void release_end(struct order_check *o, u64 slot, s64 change)
{
	struct end *e = &o->end[slot];

	e->left = (u32)e->left + (u32)change;
	if (!e->left)
		end_writing(o, e);
}

static void follow_open(struct order_check *o, const struct wl_command *c)
{
	const u64 *a = c->args;

	/* What failed has opened nothing, and has no slot. */
	if (c->result < 0)
		return;
	switch (c->op) {
	case WL_OPEN:
		o->end[a[3]] = (struct end){};
		break;
	case WL_PIPE:
		o->stream[a[0]] = (struct stream){ .waits = o->stream[a[0]].waits };
		open_end(o, a[0], a[0] + 1, 0);
		open_end(o, a[1], 0, a[0] + 1);
		break;
	case WL_PAIR:
		o->stream[a[0]] = (struct stream){ .waits = o->stream[a[0]].waits };
		o->stream[a[1]] = (struct stream){ .waits = o->stream[a[1]].waits };
		open_end(o, a[0], a[0] + 1, a[1] + 1);
		open_end(o, a[1], a[1] + 1, a[0] + 1);
		break;
	case WL_OPEN_FIFO:
		open_by_flags(o, a[3], a[1], a[2] + 1);
		break;
	case WL_REOPEN:
		open_by_flags(o, a[2], a[1], o->end[a[0]].in ?: o->end[a[0]].out);
		break;
	}
}

static void write_bytes(struct order_check *o, u64 slot, u64 bytes)
{
	struct stream *s;

	if (!o->end[slot].out)
		return;
	s = &o->stream[o->end[slot].out - 1];
	s->bytes += bytes;
	wake(o, &s->waits);
}

static void read_bytes(struct order_check *o, u64 slot, u64 bytes)
{
	struct stream *s;

	if (!o->end[slot].in)
		return;
	s = &o->stream[o->end[slot].in - 1];
	s->bytes -= min(s->bytes, bytes);
}

static void follow_command(struct order_check *o, const struct wl_command *c)
{
	switch (c->op) {
	case WL_CLOSE:
		release_end(o, c->args[0], (s64)(c->args[1] - WL_OPEN_SLOT));
		break;
	case WL_CLOSE_ONE:
	case WL_LEAVE:
		release_end(o, c->args[0], -1);
		break;
	case WL_SHUTDOWN:
		end_writing(o, &o->end[c->args[0]]);
		break;
	case WL_FILL:
		write_bytes(o, c->args[0], c->args[1]);
		break;
	case WL_DRAIN:
		read_bytes(o, c->args[0], c->args[1]);
		break;
	default:
		follow_open(o, c);
		break;
	}
}

/* As many bytes as it takes, or the end, are there; else the thread waits. */
static bool has_bytes(struct order_check *o, u32 thread)
{
	struct runner *r = &o->runner[thread];
	struct stream *s;
	u32 in;

	if (!o->w->pipes || r->command.op != WL_DRAIN || r->gives_up)
		return true;
	in = o->end[r->command.args[0]].in;
	if (!in)
		return true;
	s = &o->stream[in - 1];
	if (!s->writers || s->bytes >= r->command.args[1])
		return true;
	r->stream = in;
	wait_in(o, thread, &s->waits);
	return false;
}

static bool has_deps(struct order_check *o, u32 thread)
{
	struct runner *r = &o->runner[thread];
	u32 other, count;

	while (r->dep < r->command.deps) {
		const u8 *at = r->next_dep;

		wl_dep(&at, o->w->data + o->w->size, &other, &count);
		if (o->runner[other].done < count) {
			wait_in(o, thread, &o->runner[other].waits);
			return false;
		}
		r->next_dep = at;
		r->dep++;
	}
	return true;
}

static u32 all_of(const struct order_check *o, u32 thread)
{
	return le32_to_cpu(o->w->thread[thread].commands);
}

/* As far as the thread gets. */
static void run_thread(struct order_check *o, u32 thread)
{
	struct runner *r = &o->runner[thread];
	u32 before = r->done;

	while (r->done < all_of(o, thread) && has_deps(o, thread) && has_bytes(o, thread)) {
		if (o->w->pipes)
			follow_command(o, &r->command);
		r->done++;
		load_command(r, &o->w->thread[thread]);
	}
	if (r->done > before)
		wake(o, &r->waits);
}

static void unlist(struct order_check *o, u32 thread)
{
	u32 *at = &o->stream[o->runner[thread].stream - 1].waits;

	while (*at != thread + 1)
		at = &o->runner[*at - 1].next_waiting;
	*at = o->runner[thread].next_waiting;
	o->runner[thread].stream = 0;
}

/* Nobody gets any further: the first that waits for a pipe goes without. False: there is none. */
static bool starve(struct order_check *o)
{
	struct wl_starved *starved = &o->w->starved;
	u32 i, found = o->w->threads;

	for (i = 0; i < o->w->threads; i++) {
		const struct runner *r = &o->runner[i];

		if (r->stream && (found == o->w->threads ||
				  r->command.event < o->runner[found].command.event))
			found = i;
	}
	if (found == o->w->threads)
		return false;
	if (!starved->count++) {
		starved->event = o->runner[found].command.event;
		starved->bytes = o->runner[found].command.args[1];
	}
	unlist(o, found);
	o->runner[found].gives_up = true;
	o->stack[o->depth++] = found;
	return true;
}

/* The commands that wait for each other, beginning with one of them. */
static const char *explain(const struct order_check *o, u32 thread)
{
	static char text[300];
	u32 i, other, count, used = 0;

	/* Whoever it is: after so many steps it is one of the circle. */
	for (i = 0; i < o->w->threads + CHAIN_MAX; i++) {
		const struct runner *r = &o->runner[thread];
		const u8 *at = r->next_dep;

		wl_dep(&at, o->w->data + o->w->size, &other, &count);
		if (i == o->w->threads)
			used = snprintf(text, sizeof(text),
					"record %u: waits for what waits for it: for record %u",
					r->command.event, o->runner[other].command.event);
		else if (i > o->w->threads && used < sizeof(text))
			used += snprintf(text + used, sizeof(text) - used,
					 ", that for record %u", o->runner[other].command.event);
		thread = other;
	}
	return text;
}

static const char *run_all(struct order_check *o)
{
	u32 i;

	for (i = 0; i < o->w->threads; i++) {
		o->runner[i].cursor = wl_commands(o->w, i);
		load_command(&o->runner[i], &o->w->thread[i]);
		o->stack[o->depth++] = i;
	}
	do {
		while (o->depth)
			run_thread(o, o->stack[--o->depth]);
	} while (starve(o));
	for (i = 0; i < o->w->threads; i++) {
		if (o->runner[i].done < all_of(o, i))
			return explain(o, i);
	}
	return NULL;
}

const char *wl_check_order(struct workload *w)
{
	u64 slots = w->pipes ? w->slots : 0;
	struct order_check o = {
		.w = w,
		.runner = calloc(w->threads + 1ull, sizeof(*o.runner)),
		.stack = malloc((w->threads + 1ull) * sizeof(*o.stack)),
		.end = calloc(slots + 1, sizeof(*o.end)),
		.stream = calloc(slots + 1, sizeof(*o.stream)),
	};
	const char *said = "there is no memory to look at it";

	w->starved = (struct wl_starved){};
	if (o.runner && o.stack && o.end && o.stream)
		said = run_all(&o);
	free(o.runner);
	free(o.stack);
	free(o.end);
	free(o.stream);
	return said;
}
