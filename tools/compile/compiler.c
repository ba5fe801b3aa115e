// SPDX-License-Identifier: GPL-2.0
#include "compiler.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <linux/close_range.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../common/alloc.h"
#include "../common/complain.h"
#include "making.h"
#include "threads.h"

static u32 text_of(void *arg, const struct node *node)
{
	return 0;
}

static bool is_inside(const struct compiler *c, const struct named *named)
{
	u32 effect = c->making.call->effect;

	if (!named->given || !c->root->parent)
		return true;
	/* The root itself is there, and stays. */
	if (named->node == c->root)
		return effect < DOES_RENAME || effect > DOES_MKNOD;
	return path_is_below_root(c->root, named->node);
}

static bool wanted(struct compiler *c)
{
	const struct making *g = &c->making;
	const struct compile_options *o = &c->options;

	if (g->item->entry >= o->to)
		return false;
	if (o->pid && g->about.thread->process->pid != o->pid)
		return false;
	if (!is_inside(c, &g->second) ||
	    (!is_inside(c, &g->first) && !(g->first.kernel && g->second.given)))
		return false;
	if (!o->path || !g->first.given)
		return true;
	return !fnmatch(o->path, g->first.text, 0) ||
	       (g->second.given && !fnmatch(o->path, g->second.text, 0));
}

static void count(struct compiler *c)
{
	const struct making *g = &c->making;
	enum wl_reason reason = g->reason;

	if (wl_is_call(g->op))
		return;
	/* Descriptors of such numbers are not followed (world.h): what they are of is not known. */
	if (reason == BECAUSE_KERNEL && g->result >= 0 && g->call && *g->call->args == 'f' &&
	    choose_arg(c, 0) >= FD_MAX && choose_arg(c, 0) <= INT_MAX)
		reason = BECAUSE_NOT_DONE;
	/* Without its open, a descriptor looks like one of a file that has no disk. */
	if (reason == BECAUSE_KERNEL && g->outside)
		reason = g->outside - 1;
	c->figures.without[reason]++;
}

/* What the call has opened is not replayed, and why. */
static void note_left_out(struct compiler *c, enum wl_reason reason)
{
	u32 ofd;

	for (ofd = c->making.ofd_before; ofd < c->world.ofd_count; ofd++)
		*map_at(&c->left_out, ofd + 1) = reason + 1;
}

static void leave_out(struct compiler *c)
{
	c->figures.without[BECAUSE_LEFT_OUT]++;
	note_left_out(c, BECAUSE_LEFT_OUT);
}

static void add_other(struct compiler *c)
{
	struct making *g = &c->making;
	u64 args[WL_ARGS] = { g->other_slot, g->result };

	command_make_up(c, g->other_op, g->result, args);
}

/* Before --from nothing is read; the descriptor moves on as if. */
static void skip_reading(struct compiler *c)
{
	struct making *g = &c->making;

	if (g->item->exit > c->options.from)
		return;
	if (g->op == WL_READ && g->result > 0) {
		g->op = WL_SEEK;
		g->args[1] = g->result;
		g->args[2] = SEEK_CUR;
		g->flags |= WL_NO_RESULT;
	} else if (g->op == WL_PREAD) {
		g->op = WL_NONE;
		g->reason = BECAUSE_LEFT_OUT;
	}
}

/*
 * What refused the call is not in a replay: it has rights and limits of its own, one file system
 * with what room and which features that has, and no program runs in it.
 */
static bool by_surroundings(const struct making *g)
{
	switch (g->result) {
	case -EACCES:
	case -EPERM:
	case -EROFS:
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -EIO:
	case -EXDEV:
	case -EBUSY:
	case -ETXTBSY:
	case -EMLINK:
	case -EOPNOTSUPP:
		return true;
	case -EINVAL: /* a file system without direct I/O */
		return g->op == WL_OPEN && g->args[1] & O_DIRECT;
	default:
		return false;
	}
}

/* The replay might do what the original did not. So it does not try. */
static void skip_forbidden(struct compiler *c)
{
	struct making *g = &c->making;

	if (!wl_is_call(g->op) || g->op == WL_REFUSED || !by_surroundings(g))
		return;
	g->op = WL_NONE;
	g->reason = BECAUSE_FORBIDDEN;
}

/*
 * No call says that it asked the disk: how long it took does. Copying takes a nanosecond a byte at
 * most. That it did not ask is known of some that took longer.
 */
static void mark_cached(struct compiler *c)
{
	struct making *g = &c->making;
	u64 copying = g->result > 0 ? g->result : 0;

	if ((g->op == WL_READ || g->op == WL_PREAD) &&
	    (g->item->record->flags & TRACEFILE_NO_DISK ||
	     g->item->exit - g->item->entry <= c->options.cached + copying))
		g->flags |= WL_CACHED;
}

static void add_call(struct compiler *c)
{
	struct making *g = &c->making;

	mark_cached(c);
	skip_reading(c);
	skip_forbidden(c);
	if (g->other_op && g->other_first)
		add_other(c);
	command_add(c, g->op, g->flags, g->item->entry, g->item->exit, g->result, g->args);
	if (g->op == WL_CLOSE)
		slots_give(&c->slots, compiler_place(c), g->args[0]);
	if (g->other_op && !g->other_first)
		add_other(c);
	pipe_more(c);
	count(c);
}

static void begin(struct compiler *c, const struct source_item *item)
{
	struct making *g = &c->making;
	const struct tracefile_record *r = item->record;

	g->item = item;
	g->call = r->flags & TRACEFILE_FOREIGN ? NULL : call_of(r->nr);
	g->about = (struct about){
		.record = r,
		.call = g->call,
		.offset = NO_OFFSET,
		/* Who never returned may be gone. */
		.thread = item->finished ? world_thread(&c->world, r->tid) : NULL,
	};
	g->first.given = false;
	g->second.given = false;
	g->op = WL_NONE;
	g->reason = BECAUSE_NOT_DONE;
	g->flags = item->finished ? 0 : WL_NO_RESULT;
	g->result = r->result;
	g->futex = 0;
	g->other_op = 0;
	g->more = 0;
	g->last_close = false;
	g->outside = 0;
	memset(g->args, 0, sizeof(g->args));
	uses_clear(&c->uses);
	c->world.event = item->event;
	c->world.time = item->exit;
	c->figures.calls++;
}

/* Submissions to io_uring. */

/* It comes after all that its submitter had done before it entered the kernel with it. */
static void begin_submission(struct compiler *c, u32 thread)
{
	if (submitted_begins(&c->submitted, thread))
		order_spawn(c->order, c->place[thread],
			    c->place[source_thread(c->source, thread)->parent]);
}

static void note_submissions(struct compiler *c, const struct source_item *item)
{
	u32 thread;

	if (!item->submitted) {
		for (thread = source_submitted(c->source, item->event, 0); thread;
		     thread = source_submitted(c->source, item->event, thread))
			begin_submission(c, thread);
		return;
	}
	begin_submission(c, item->thread);
	submitted_see(&c->submitted, c->place[item->thread]);
}

static void follow_link(struct compiler *c, const struct source_item *item)
{
	u32 after = item->submitted ? source_thread(c->source, item->thread)->after : 0;

	if (after)
		uses_add(&c->uses, USE_JOINED, ACCESS_READ, c->place[after]);
}

/* What the call closes beside what it says, or all the same though it is left out: not @use. */
static void note_closes(struct compiler *c, bool use)
{
	const struct making *g = &c->making;
	const u64 *args = g->item->record->args;

	if (g->call->effect == DOES_CLOSE && !use)
		closes_note(c, g->about.thread, args[0], args[0], false);
	if (g->result < 0)
		return;
	if (g->call->effect == DOES_DUP2 && args[0] != args[1])
		closes_note(c, g->about.thread, args[1], args[1], false);
	else if (g->call->effect == DOES_CLOSERANGE && !(args[2] & CLOSE_RANGE_CLOEXEC))
		closes_note(c, g->about.thread, args[0], min_t(u64, args[1], U32_MAX - 1), false);
}

/* Between a descriptor and memory, or another one. */
static bool moves_data(const struct call *call)
{
	return (call->effect >= DOES_READ && call->effect <= DOES_PWRITE) ||
	       (call->effect >= DOES_RECVMMSG && call->effect <= DOES_SPLICE);
}

/*
 * It has done nothing: a signal came before, and the kernel has it made again, as a call of its own
 * in the trace (the four numbers are Linux's, of include/linux/errno.h); or it would have waited;
 * or what it was given in memory, its flags or its length made no sense, and of these a replay has
 * nothing.
 */
static bool did_nothing(const struct making *g)
{
	switch (g->result) {
	case -512: /* ERESTARTSYS */
	case -513: /* ERESTARTNOINTR */
	case -514: /* ERESTARTNOHAND */
	case -516: /* ERESTART_RESTARTBLOCK */
	case -EINTR:
	case -EFAULT:
		return true;
	case -EBADF: /* of the directory that a name was to be looked for in */
		return strchr(g->call->args, 'd') || strchr(g->call->args, 'D');
	case -EAGAIN:
	case -EINVAL:
	case -EOPNOTSUPP:
		return moves_data(g->call);
	default:
		return false;
	}
}

/*
 * Calls about the same name that were under way with it: those that came first, by what it says of
 * the name, are done before it.
 */
static void use_races(struct compiler *c)
{
	u64 event = c->making.item->event, first, done;
	u32 own = compiler_place(c), at = 0;

	while ((first = source_comes_after(c->source, event, &at))) {
		done = *map_at(&c->raced, first);
		if (done && done >> 32 != own)
			uses_add_joined(&c->uses, done >> 32, (u32)done);
	}
}

static void note_race(struct compiler *c)
{
	u32 own = compiler_place(c);

	if (!c->making.item->submitted && source_comes_first(c->source, c->making.item->event))
		*map_at(&c->raced, c->making.item->event) =
			(u64)own << 32 | order_count(c->order, own);
}

static void take_call(struct compiler *c, const struct source_item *item)
{
	struct making *g = &c->making;
	bool use, hidden;

	note_submissions(c, item);
	mapped_add_pages(c);
	begin(c, item);
	if (!g->call || !item->finished) {
		g->reason = g->call ? BECAUSE_ORDER : BECAUSE_UNKNOWN;
		if (item->entry < c->options.to)
			add_call(c);
		else
			c->figures.without[BECAUSE_LEFT_OUT]++;
		return;
	}
	adopt_descriptor(c);
	path_find(c, &g->first, 'p');
	path_find(c, &g->second, 'P');
	hidden = elsewhere_hides(c);
	use = wanted(c);
	if (use && !hidden) {
		path_rebase(c->root, &g->first);
		path_rebase(c->root, &g->second);
		path_use_names(c);
		if (!item->submitted)
			use_races(c);
		if (!item->submitted && source_undecided(c->source, item->event)) {
			g->flags |= WL_NO_RESULT;
			c->figures.undecided++;
		}
	}
	g->ofd_before = c->world.ofd_count;
	note_closes(c, use);
	effect_of(&c->world, &g->about);
	g->outside = g->about.ofd ? *map_at(&c->left_out, g->about.ofd->id) : 0;
	if (g->call->effect == DOES_CLOSE && g->about.ofd && g->result != -EBADF)
		g->last_close = g->about.ofd->refs == 1;
	if (use && hidden) {
		choose_none(c, elsewhere_reason(c));
		note_left_out(c, elsewhere_reason(c));
	} else if (use && did_nothing(g)) {
		choose_none(c, BECAUSE_ORDER);
	} else if (use) {
		choose(c);
	}
	mapped_follow(c);
	follow_link(c, item);
	if (use && g->last_close && slots_of(&c->slots, g->about.ofd) != NO_SLOT)
		slots_closed(&c->slots, g->about.ofd);
	if (g->call->effect == DOES_CLOSE && g->about.ofd && g->result != -EBADF)
		world_close(&c->world, g->about.thread, g->item->record->args[0]);
	if (use)
		add_call(c);
	else
		leave_out(c);
	note_race(c);
	closes_add(c);
	mapped_add_ends(c);
}

static void take_fork(struct compiler *c, const struct source_item *item)
{
	const struct source_thread *made = source_thread(c->source, item->other);
	struct thread *parent, *child;
	const char *cwd;

	if (item->thread) {
		parent = world_thread(&c->world, source_thread(c->source, item->thread)->tid);
		child = world_fork(&c->world, parent, made->tid, item->flags);
		*map_at(&c->umasks, child->process->id) = *map_at(&c->umasks, parent->process->id);
		if (child->process == parent->process) {
			c->figures.shared++;
			*map_at(&c->threads, made->tid) = c->place[item->other] + 1;
		}
		order_spawn(c->order, c->place[item->other], c->place[item->thread]);
		return;
	}
	child = world_thread(&c->world, made->tid);
	cwd = source_cwd(c->source, made->tid);
	if (cwd)
		child->place->cwd.node =
			names_find(&c->world.names, c->world.names.root, cwd, false);
}

static void take_exit(struct compiler *c, const struct source_item *item)
{
	u32 tid = source_thread(c->source, item->thread)->tid;
	struct source_item at = *item;
	struct thread *thread = world_thread(&c->world, tid);

	at.exit = min(source_thread(c->source, item->thread)->end, item->exit);
	at.entry = at.exit;
	c->making.item = &at;
	uses_clear(&c->uses);
	if (thread->process->threads == 1)
		uses_add(&c->uses, USE_PROCESS, ACCESS_STAGE, thread->process->pid);
	if (thread->process->threads == 1)
		mapped_end(&c->mapped, source_thread(c->source, item->thread)->process);
	if (thread->fds->refs == 1)
		closes_note(c, thread, 0, FD_MAX, false);
	world_exit(&c->world, thread, 0, 0);
	closes_add_all(c);
	mapped_add_ends(c);
	if (c->uses.next.count && at.entry < c->options.to)
		command_add(c, WL_NONE, WL_MADE_UP | WL_NO_RESULT, at.entry, at.exit, 0, NULL);
	c->making.item = item;
}

static void take_exec(struct compiler *c, const struct source_item *item)
{
	const struct source_thread *t = source_thread(c->source, item->thread);

	c->world.time = item->exit;
	mapped_add_pages(c);
	mapped_end(&c->mapped, t->process);
	uses_clear(&c->uses);
	closes_note(c, world_thread(&c->world, t->tid), 0, FD_MAX, true);
	world_exec(&c->world, t->tid, t->tid);
	closes_add_all(c);
}

void compiler_run(struct compiler *c)
{
	const struct source_item *item;

	for (;;) {
		item = source_next(c->source);
		c->making.item = item;
		switch (item->kind) {
		case SOURCE_END:
			c->figures.without[BECAUSE_MISSING] = source_missing(c->source);
			c->figures.calls += source_missing(c->source);
			return;
		case SOURCE_FORK:
			take_fork(c, item);
			break;
		case SOURCE_EXEC:
			take_exec(c, item);
			break;
		case SOURCE_EXIT:
			take_exit(c, item);
			break;
		case SOURCE_TOUCH:
			mapped_add_touch(c);
			break;
		case SOURCE_CALL:
			take_call(c, item);
			if (!item->submitted)
				submitted_forget_seen(&c->submitted);
			break;
		}
	}
}

struct compiler *compiler_new(struct source *source, const struct compile_options *options)
{
	struct compiler *c = xmalloc(sizeof(*c));
	u32 threads, *processes;

	memset(c, 0, sizeof(*c));
	c->source = source;
	c->options = *options;
	c->place = threads_place(source, options->rules & RULE_ONE_THREAD, &threads,
				 &processes);
	if (threads > WL_THREADS_MAX)
		die("the trace has %u threads at once", threads);
	c->order = order_new(threads, options->rules);
	output_init(&c->output, threads, processes);
	uses_init(&c->uses);
	slots_init(&c->slots, c->order);
	closes_init(&c->closes, source);
	world_init(&c->world);
	c->root = names_find(&c->world.names, c->world.names.root, options->root ?: "", false);
	tree_init(&c->tree, c->root);
	c->world.ofd_ended = slots_ofd_ended;
	c->world.text_of = text_of;
	c->world.told = true;
	c->world.arg = &c->slots;
	return c;
}

void compiler_free(struct compiler *c)
{
	c->world.ofd_ended = NULL;
	world_end(&c->world);
	world_free(&c->world);
	order_free(c->order);
	mapped_free(&c->mapped);
	waits_free(&c->waits);
	submitted_free(&c->submitted);
	uses_free(&c->uses);
	slots_free(&c->slots);
	closes_free(&c->closes);
	output_free(&c->output);
	tree_free(&c->tree);
	map_free(&c->left_out);
	map_free(&c->fifos);
	map_free(&c->umasks);
	map_free(&c->listed);
	map_free(&c->adopted);
	map_free(&c->threads);
	map_free(&c->raced);
	xattrs_free(c);
	map_free(&c->missing);
	map_free(&c->named_files);
	free(c->place);
	free(c);
}

struct output *compiler_output(struct compiler *c)
{
	return &c->output;
}

struct order *compiler_order(struct compiler *c)
{
	return c->order;
}

struct tree *compiler_tree(struct compiler *c)
{
	return &c->tree;
}

struct compile_figures compiler_figures(const struct compiler *c)
{
	return c->figures;
}

struct uses *compiler_uses(struct compiler *c)
{
	return &c->uses;
}

u32 compiler_slots(const struct compiler *c)
{
	return c->slots.count;
}

const struct xattr_left *compiler_xattrs_left(const struct compiler *c, u32 *count)
{
	*count = c->xattr_lefts;
	return c->xattr_left;
}
