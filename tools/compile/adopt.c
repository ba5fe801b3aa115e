// SPDX-License-Identifier: GPL-2.0
/*
 * What was there before the trace began: files by their names, and descriptors that nobody was seen
 * to open. The replay opens the latter when the trace first uses them.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "making.h"

/* The first argument that is the descriptor of the row's open file description. */
static int fd_argument(const struct call *call)
{
	switch (call->effect) {
	case DOES_COPY:
	case DOES_SPLICE:
		return 2;
	case DOES_MMAP:
		return 4;
	default:
		return call->args[0] == 'f' ? 0 : -1;
	}
}

/* As the kernel says it of a file that has no name any more. */
static bool is_deleted(const char *name)
{
	static const char end[] = " (deleted)";
	size_t length = strlen(name), tail = strlen(end);

	return length >= tail && !strcmp(name + length - tail, end);
}

bool adopt_name(struct compiler *c, const char *name, u32 file, u64 *text)
{
	struct node *node = names_find(&c->world.names, c->world.names.root, name, false);
	struct tree_found f = {};
	struct tracefile_attr attr;
	s64 size;

	if (*name != '/' || is_deleted(name) || path_is_kernels(node) ||
	    !path_is_below_root(c->root, node) ||
	    !source_file(c->source, file, &attr, &size) || (attr.mode && !S_ISREG(attr.mode)))
		return false;
	f = (struct tree_found){
		.mode = attr.mode ?: S_IFREG | 0755,
		.size = max_t(s64, size, 0),
		.file = path_file_number(&attr),
	};
	if (node->file ? compiler_file_key(node->file) != file : !tree_unknown(&c->tree, node))
		return false;
	tree_found(&c->tree, node, &f, NULL);
	*text = texts_add(&c->output.texts, path_behind_root(c->root, name) ?: "");
	return true;
}

/* It has no name any more. So it is made, and its name is removed. */
static void make_nameless(struct compiler *c, struct ofd *ofd, const struct source_ofd *known,
			  u64 size)
{
	struct names *names = &c->world.names;
	struct node *node = names_find(names, names->root, known->name, false);
	u64 path = texts_add(&c->output.texts, path_behind_root(c->root, known->name) ?: "");
	u64 how = (known->flags & ~(u64)(O_ACCMODE | O_TMPFILE)) | O_RDWR | O_CREAT;
	u64 args[WL_ARGS] = { path, how, 0600 };
	u64 slot = slots_new(&c->slots, compiler_place(c), ofd);

	tree_found(&c->tree, node->parent, &(struct tree_found){ .mode = S_IFDIR | 0755 }, NULL);
	args[3] = slot;
	command_make_up(c, WL_OPEN, 0, args);
	memset(args, 0, sizeof(args));
	args[0] = slot;
	args[1] = size;
	command_make_up(c, WL_FTRUNCATE, 0, args);
	args[0] = path;
	args[1] = 0;
	command_make_up(c, WL_UNLINK, 0, args);
}

static void stand_where_it_stood(struct compiler *c, struct ofd *ofd, s64 at)
{
	u64 args[WL_ARGS] = { slots_of(&c->slots, ofd), at, SEEK_SET };

	if (at <= 0)
		return;
	ofd->position = at;
	command_make_up(c, WL_SEEK, at, args);
}

static void open_again(struct compiler *c, struct ofd *ofd, const struct source_ofd *known)
{
	u64 args[WL_ARGS];
	struct node *node = names_find(&c->world.names, c->world.names.root, known->name, false);
	struct tree_found f = {};
	struct tracefile_attr attr;
	s64 size;

	if (path_is_kernels(node) || !path_is_below_root(c->root, node) ||
	    !source_file(c->source, c->making.item->file, &attr, &size) ||
	    (!S_ISREG(attr.mode) && !S_ISDIR(attr.mode)))
		return;
	f = (struct tree_found){
		.mode = attr.mode,
		.size = max_t(s64, size, 0),
		.file = path_file_number(&attr),
	};
	if (is_deleted(known->name)) {
		/* Of memory the kernel tells no path: such as /memfd:x (deleted). */
		if (!S_ISREG(attr.mode) || !node->parent || !node->parent->parent)
			return;
		ofd->file = world_file(&c->world, &attr, world_now(&c->world));
		make_nameless(c, ofd, known, f.size);
		stand_where_it_stood(c, ofd, known->found_at);
		return;
	}
	tree_found(&c->tree, node, &f, NULL);
	ofd->node = node;
	ofd->file = world_file(&c->world, &attr, world_now(&c->world));
	args[0] = texts_add(&c->output.texts, path_behind_root(c->root, known->name) ?: "");
	args[1] = known->flags & ~(u64)(O_CREAT | O_TRUNC | O_EXCL);
	if ((known->flags & O_TMPFILE) == O_TMPFILE) /* it has got a name since */
		args[1] &= ~(u64)O_TMPFILE;
	args[2] = 0;
	args[3] = slots_new(&c->slots, compiler_place(c), ofd);
	command_make_up(c, WL_OPEN, 0, args);
	if (S_ISREG(attr.mode))
		stand_where_it_stood(c, ofd, known->found_at);
}

/* What others have inherited too, and used first; NULL: nobody has, or all have closed it. */
static struct ofd *adopted_by_others(struct compiler *c, u32 number)
{
	u64 id = *map_at(&c->adopted, number);
	struct ofd *ofd = c->world.open;

	while (id && ofd && ofd->id != id)
		ofd = ofd->next;
	return id ? ofd : NULL;
}

/*
 * Who is first to use it has inherited it: those that it comes from have it still, and so have
 * others that come from these.
 */
static void share(struct compiler *c, u32 fd, struct ofd *ofd)
{
	const struct process *process = c->making.about.thread->process->parent;
	struct thread *thread;

	for (; process; process = process->parent) {
		thread = world_living(&c->world, process->pid);
		if (thread && thread->process == process && !world_ofd(thread, fd))
			world_share(thread, fd, ofd);
	}
}

static void open_adopted(struct compiler *c, u32 fd, const struct source_ofd *known)
{
	struct ofd *ofd = world_open(&c->world, c->making.about.thread, fd, known->flags);
	u32 slot;

	if (!ofd)
		return;
	*map_at(&c->adopted, c->making.item->ofd) = ofd->id;
	/* If the trace knows what there was at its start, it was made in some unseen way. */
	if (known->found || !source_knows_start(c->source))
		share(c, fd, ofd);
	if (known->name && *known->name == '/')
		open_again(c, ofd, known);
	slot = slots_of(&c->slots, ofd);
	if (slot != NO_SLOT)
		c->slots.state[slot].opened.count = order_count(c->order, compiler_place(c));
}

/* A descriptor that nobody was seen to open: it was there before the trace. */
void adopt_descriptor(struct compiler *c)
{
	struct making *g = &c->making;
	const struct source_ofd *known = source_ofd(c->source, g->item->ofd);
	int at = fd_argument(g->call);
	struct ofd *ofd;
	u32 fd, slot;

	if (at < 0 || !known || known->event)
		return;
	fd = g->item->record->args[at];
	if (world_ofd(g->about.thread, fd))
		return;
	ofd = adopted_by_others(c, g->item->ofd);
	if (!ofd) {
		open_adopted(c, fd, known);
		return;
	}
	world_share(g->about.thread, fd, ofd);
	slot = slots_of(&c->slots, ofd);
	if (slot != NO_SLOT)
		closes_use_opened(c, slot);
}
