// SPDX-License-Identifier: GPL-2.0
/*
 * Pipes, FIFOs, socketpairs. The replay has real ones: what is read waits for what was written, an
 * end waits for all writers to have gone. What is kept is how many bytes a call got, not which
 * write they came from.
 */
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "making.h"

static bool is_replayed(const struct compiler *c)
{
	/* Of one thread none could wait for another; without other processes nobody would write. */
	return !(c->options.rules & RULE_ONE_THREAD) && !c->options.pid;
}

void pipe_make(struct compiler *c)
{
	struct making *g = &c->making;
	const u32 *fds = tracefile_find(g->item->record, TRACEFILE_FDS, 8, NULL);
	bool pair = g->call->effect == DOES_PAIR4;
	unsigned int i;

	if (g->result < 0 || !fds || !is_replayed(c)) {
		choose_none(c, g->result < 0 || !fds ? BECAUSE_KERNEL : BECAUSE_LEFT_OUT);
		return;
	}
	for (i = 0; i < 2; i++) {
		struct ofd *ofd = world_ofd(g->about.thread, fds[i]);

		if (!ofd || ofd->id <= g->ofd_before) {
			choose_none(c, BECAUSE_NOT_DONE);
			return;
		}
	}
	g->op = pair ? WL_PAIR : WL_PIPE;
	for (i = 0; i < 2; i++) {
		struct ofd *ofd = world_ofd(g->about.thread, fds[i]);

		choose_use_ofd(c, ofd, ACCESS_STAGE);
		g->args[i] = slots_new(&c->slots, compiler_place(c), ofd);
		slots_set_end(&c->slots, g->args[i], g->args[0], pair || i);
	}
	if (pair)
		g->args[2] = choose_arg(c, 1) & 0xf;
}

/* Nothing was asked for, or all stays where it is. */
static bool takes_nothing(const struct compiler *c)
{
	switch (choose_nr(c)) {
	case SYS_read:
		return !choose_arg(c, 2);
	case SYS_recvfrom:
		return !choose_arg(c, 2) || choose_arg(c, 3) & MSG_PEEK;
	case SYS_recvmsg:
		return choose_arg(c, 2) & MSG_PEEK;
	default:
		return false;
	}
}

/* All ends of a pipe, for the order of what @op does with them. */
static u64 key_of_pipe(const struct file *file, u8 op)
{
	return hash_u64(compiler_file_key(file)) ^ op;
}

/*
 * As much is taken as the original got. How much stands in a pipe at a time is chance. The end of
 * it is a read of one byte that gets none.
 */
void pipe_transfer(struct compiler *c, const struct ofd *ofd, bool write)
{
	struct making *g = &c->making;

	write = write && slots_writes(&c->slots, ofd); /* vmsplice() goes both ways */
	if (g->result < 0 || (write ? !g->result : takes_nothing(c))) {
		choose_none(c, BECAUSE_ORDER);
		return;
	}
	/* Who wrote it may have begun behind --to. */
	if (!write && g->item->exit > c->options.to) {
		choose_none(c, BECAUSE_LEFT_OUT);
		return;
	}
	choose_on_fd(c, write ? WL_FILL : WL_DRAIN, ofd, ACCESS_READ);
	g->args[1] = choose_length(g->result ?: 1);
	if (write || !ofd->file)
		return;
	/*
	 * Of several who read the same pipe each gets what it got after those who had got theirs:
	 * who passes a token on must not come behind who keeps it.
	 */
	uses_add(&c->uses, USE_FD, ACCESS_WRITE, key_of_pipe(ofd->file, WL_DRAIN));
	uses_on_return(&c->uses);
	/* What is read of a FIFO before anybody can write to it is its end. */
	if (g->result && slots_fifo(&c->slots, slots_of(&c->slots, ofd))) {
		uses_add(&c->uses, USE_FD, ACCESS_READ, key_of_pipe(ofd->file, WL_OPEN_FIFO));
		uses_on_return(&c->uses);
	}
}

/*
 * A message's end is kept by a socket that has such. So each is written and read by itself. Those
 * behind an empty one are empty, too: it was the end.
 */
void pipe_messages(struct compiler *c, bool write)
{
	struct making *g = &c->making;
	u64 flags = choose_arg(c, 3);
	const u8 *lengths;
	u32 length;

	if (!slots_is_pipe(&c->slots, g->about.ofd)) {
		choose_use_ofd(c, g->about.ofd, ACCESS_READ);
		choose_none(c, BECAUSE_KERNEL);
		return;
	}
	if (g->result <= 0 || (!write && flags & MSG_PEEK)) {
		choose_none(c, BECAUSE_ORDER);
		return;
	}
	lengths = tracefile_find(g->item->record, TRACEFILE_MESSAGES, sizeof(u32), &length);
	if (!lengths || length / sizeof(u32) < (u64)g->result) {
		choose_none(c, BECAUSE_NOT_DONE);
		return;
	}
	g->result = get_unaligned_le32(lengths);
	g->lengths = lengths + sizeof(u32);
	g->more = length / sizeof(u32) - 1;
	pipe_transfer(c, g->about.ofd, write);
}

void pipe_more(struct compiler *c)
{
	struct making *g = &c->making;
	u64 args[WL_ARGS] = { g->args[0] };
	u32 i, bytes = g->result;

	for (i = 0; wl_is_call(g->op) && i < g->more && bytes; i++) {
		bytes = get_unaligned_le32(g->lengths + i * sizeof(u32));
		if (!bytes && g->op == WL_FILL)
			break;
		args[1] = bytes ?: 1;
		command_make_up(c, g->op, bytes, args);
	}
}

void pipe_resize(struct compiler *c)
{
	if (c->making.result < 0 || !slots_is_pipe(&c->slots, c->making.about.ofd))
		choose_none(c, BECAUSE_ORDER);
	else if (choose_on_fd(c, WL_RESIZE, c->making.about.ofd, ACCESS_READ))
		c->making.args[1] = choose_length(choose_arg(c, 2));
}

/* What is copied stays in the first pipe. */
void pipe_tee(struct compiler *c)
{
	struct making *g = &c->making;
	const struct ofd *to = world_ofd(g->about.thread, choose_arg(c, 1));

	choose_none(c, BECAUSE_ORDER);
	if (g->result > 0 && slots_is_pipe(&c->slots, to))
		pipe_transfer(c, to, true);
}

/* Who reads the other end sees that no more comes. */
void pipe_shutdown(struct compiler *c)
{
	struct making *g = &c->making;

	choose_none(c, BECAUSE_KERNEL);
	if (g->result >= 0 && choose_arg(c, 1) != SHUT_RD &&
	    slots_is_pipe(&c->slots, g->about.ofd))
		choose_on_fd(c, WL_SHUTDOWN, g->about.ofd, ACCESS_READ);
}

/* Between two files. */
static void move_files(struct compiler *c, u32 from, u32 to, const u64 *offsets)
{
	struct making *g = &c->making;
	bool sendfile = g->call->effect == DOES_SENDFILE;

	g->op = sendfile ? WL_SENDFILE : WL_COPY;
	g->args[0] = sendfile ? to : from;
	g->args[1] = sendfile ? from : to;
	g->args[2] = offsets[0];
	g->args[3] = sendfile ? choose_length(choose_arg(c, 3)) : offsets[1];
	g->args[4] = choose_length(choose_arg(c, 4));
}

/* One is a file: what is read from it, or written to it. */
static void move_file(struct compiler *c, u32 slot, bool write, u64 offset)
{
	struct making *g = &c->making;
	bool sendfile = g->call->effect == DOES_SENDFILE;

	if (offset == U64_MAX)
		g->op = write ? WL_WRITE : WL_READ;
	else
		g->op = write ? WL_PWRITE : WL_PREAD;
	g->args[0] = slot;
	g->args[1] = choose_length(g->result >= 0 ? g->result : choose_arg(c, sendfile ? 3 : 4));
	g->args[2] = offset;
}

/* The ends of pipes: the call's command, if none is a file; and one of its own for the other. */
static void move_pipes(struct compiler *c, const struct ofd *from, const struct ofd *to)
{
	struct making *g = &c->making;
	bool drains = slots_is_pipe(&c->slots, from), fills = slots_is_pipe(&c->slots, to);

	if (g->result < 0 || (!g->result && !drains))
		return;
	/* Nothing was moved: it was the pipe's end. */
	if (drains && (g->op == WL_NONE || !g->result)) {
		pipe_transfer(c, from, false);
		drains = false;
	} else if (fills && g->op == WL_NONE) {
		pipe_transfer(c, to, true);
		fills = false;
	}
	if (!g->result || (!drains && !fills))
		return;
	g->other_op = drains ? WL_DRAIN : WL_FILL;
	g->other_slot = slots_of(&c->slots, drains ? from : to);
	g->other_first = drains;
}

void pipe_move(struct compiler *c)
{
	struct making *g = &c->making;
	bool sendfile = g->call->effect == DOES_SENDFILE;
	struct ofd *from = world_ofd(g->about.thread, choose_arg(c, sendfile ? 1 : 0));
	struct ofd *to = world_ofd(g->about.thread, choose_arg(c, sendfile ? 0 : 2));
	const u64 *given = tracefile_find(g->item->record, TRACEFILE_OFFSETS, 16, NULL);
	u64 offsets[2] = { U64_MAX, U64_MAX };
	u32 in = slots_of(&c->slots, from), out = slots_of(&c->slots, to);
	bool reads = in != NO_SLOT && !slots_is_pipe(&c->slots, from);
	bool writes = out != NO_SLOT && !slots_is_pipe(&c->slots, to);

	if (given)
		memcpy(offsets, given, sizeof(offsets));
	if (from && from->file)
		uses_add(&c->uses, USE_FILE, ACCESS_DATA, compiler_file_key(from->file));
	if (to && to->file)
		uses_add(&c->uses, USE_FILE, ACCESS_WRITE, compiler_file_key(to->file));
	choose_use_ofd(c, from, offsets[0] == U64_MAX ? ACCESS_WRITE : ACCESS_DATA);
	choose_use_ofd(c, to, ACCESS_WRITE);
	choose_none(c, BECAUSE_KERNEL);
	if (g->result < 0) /* not by the one end that a replay has */
		return;
	if (reads && writes)
		move_files(c, in, out, offsets);
	else if (reads || writes)
		move_file(c, reads ? in : out, writes, offsets[reads ? 0 : 1]);
	move_pipes(c, from, to);
}

/* The descriptor that a name in /proc or /dev stands for; NULL: it is no such name. */
static const struct ofd *named_descriptor(const struct compiler *c)
{
	static const char *const stands[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	const struct thread *thread = c->making.about.thread;
	const char *text = c->making.first.text;
	char own[32], *end;
	const char *const ways[] = { "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/", own };
	unsigned long fd;
	u32 i;

	snprintf(own, sizeof(own), "/proc/%u/fd/", thread->process->pid);
	for (i = 0; i < ARRAY_SIZE(stands); i++) {
		if (!strcmp(text, stands[i]))
			return world_ofd((struct thread *)thread, i);
	}
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		if (strncmp(text, ways[i], strlen(ways[i])))
			continue;
		fd = strtoul(text + strlen(ways[i]), &end, 10);
		if (!*end && end > text + strlen(ways[i]) && fd < FD_MAX)
			return world_ofd((struct thread *)thread, fd);
	}
	return NULL;
}

/* A new description of what the descriptor is of. */
static bool open_descriptor(struct compiler *c, const struct ofd *of, u64 flags)
{
	struct making *g = &c->making;
	bool pipe = slots_is_pipe(&c->slots, of);
	u32 slot = slots_of(&c->slots, of);

	choose_use_ofd(c, of, ACCESS_READ);
	choose_use_ofd(c, g->about.ofd, ACCESS_STAGE);
	g->op = WL_REOPEN;
	g->args[0] = slot;
	g->args[1] = flags & ~(u64)(O_CREAT | O_EXCL);
	g->args[2] = slots_new(&c->slots, compiler_place(c), g->about.ofd);
	if (pipe)
		slots_set_end(&c->slots, g->args[2], slots_pipe(&c->slots, slot),
			      (flags & O_ACCMODE) != O_RDONLY);
	return true;
}

/* Each has a number for good: who opens it next may come at any time. */
static u32 number_of_fifo(struct compiler *c, const struct file *file)
{
	u64 *number = map_at(&c->fifos, compiler_file_key(file));

	if (!*number)
		*number = slots_take(&c->slots, compiler_place(c)) + 1;
	return *number - 1;
}

static void open_fifo(struct compiler *c, u64 flags)
{
	struct making *g = &c->making;

	choose_use_ofd(c, g->about.ofd, ACCESS_STAGE);
	if ((flags & O_ACCMODE) != O_RDONLY)
		uses_add(&c->uses, USE_FD, ACCESS_STAGE,
			 key_of_pipe(g->about.file, WL_OPEN_FIFO));
	g->op = WL_OPEN_FIFO;
	g->args[0] = texts_add(&c->output.texts, g->first.text);
	g->args[1] = flags;
	g->args[2] = number_of_fifo(c, g->about.file);
	g->args[3] = slots_new(&c->slots, compiler_place(c), g->about.ofd);
	slots_set_end(&c->slots, g->args[3], g->args[2], (flags & O_ACCMODE) != O_RDONLY);
	slots_set_fifo(&c->slots, g->args[3], compiler_file_key(g->about.file));
}

bool pipe_open(struct compiler *c, u64 flags)
{
	struct making *g = &c->making;
	const struct ofd *of;

	if (g->result < 0 || !g->about.ofd || !g->first.given || flags & O_PATH)
		return false;
	if (g->first.kernel) {
		of = named_descriptor(c);
		return of && slots_of(&c->slots, of) != NO_SLOT && open_descriptor(c, of, flags);
	}
	if (!g->about.file || !S_ISFIFO(g->about.file->mode))
		return false;
	if (is_replayed(c))
		open_fifo(c, flags);
	else
		choose_none(c, BECAUSE_LEFT_OUT);
	return true;
}
