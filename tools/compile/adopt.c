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
	tree_found(&c->tree, node, &f, NULL);
	ofd->node = node;
	ofd->file = world_file(&c->world, &attr, world_now(&c->world));
	args[0] = texts_add(&c->output.texts, path_behind_root(c->root, known->name) ?: "");
	args[1] = known->flags & ~(u64)(O_CREAT | O_TRUNC | O_EXCL);
	args[2] = 0;
	args[3] = slots_new(&c->slots, compiler_place(c), ofd);
	command_make_up(c, WL_OPEN, 0, args);
	if (!S_ISREG(attr.mode) || known->found_at <= 0)
		return;
	ofd->position = known->found_at;
	args[0] = args[3];
	args[1] = known->found_at;
	args[2] = SEEK_SET;
	args[3] = 0;
	command_make_up(c, WL_SEEK, known->found_at, args);
}

/* A descriptor that nobody was seen to open: it was there before the trace. */
void adopt_descriptor(struct compiler *c)
{
	struct making *g = &c->making;
	const struct source_ofd *known = source_ofd(c->source, g->item->ofd);
	int at = fd_argument(g->call);
	struct ofd *ofd;
	u32 fd;

	if (at < 0 || !known || known->event)
		return;
	fd = g->item->record->args[at];
	if (world_ofd(g->about.thread, fd))
		return;
	ofd = world_open(&c->world, g->about.thread, fd, known->flags);
	if (ofd && known->name && *known->name == '/')
		open_again(c, ofd, known);
}
