// SPDX-License-Identifier: GPL-2.0
/* The replay's descriptors: a slot for each open file description of the trace that is replayed. */
#include <fcntl.h>
#include <sys/stat.h>

#include "../common/vec.h"
#include "making.h"

#define FREE_TRIED 64

struct free_slot {
	u32 slot;
	u32 thread; /* that closed it, by its @count-th command */
	u32 count;
};

u32 compiler_slot(struct compiler *c, const struct ofd *ofd)
{
	return ofd ? (u32)*map_at(&c->slots, ofd->id) - 1 : NO_SLOT;
}

bool compiler_is_pipe(struct compiler *c, const struct ofd *ofd)
{
	return ofd && *map_at(&c->pipes, ofd->id);
}

/*
 * One whose last user is done whenever this thread is here: so no order, not even none at all, can
 * mix them up.
 */
u32 compiler_take_slot(struct compiler *c)
{
	u32 thread = c->place[c->making.item->thread];
	u32 i, tried = min_t(u32, c->free_count, FREE_TRIED);

	for (i = c->free_count; i > c->free_count - tried; i--) {
		struct free_slot *f = &c->free_slots[i - 1];
		u32 slot = f->slot;

		if (!order_implies(c->order, thread, f->thread, f->count))
			continue;
		*f = c->free_slots[--c->free_count];
		return slot;
	}
	if (c->output.slots == WL_SLOTS_MAX)
		die("the trace needs more than %u descriptors", WL_SLOTS_MAX);
	return c->output.slots++;
}

void compiler_give_slot(struct compiler *c, u32 slot)
{
	u32 thread = c->place[c->making.item->thread];

	c->free_slots = vec_reserve(c->free_slots, &c->free_room, c->free_count + 1,
				    sizeof(*c->free_slots));
	c->free_slots[c->free_count++] =
		(struct free_slot){ slot, thread, order_count(c->order, thread) };
}

u32 compiler_new_slot(struct compiler *c, const struct ofd *ofd, bool pipe)
{
	u32 slot = compiler_take_slot(c);

	*map_at(&c->slots, ofd->id) = slot + 1;
	*map_at(&c->pipes, ofd->id) = pipe;
	return slot;
}

void slots_ofd_ended(void *arg, const struct ofd *ofd, u64 closed)
{
	struct compiler *c = arg;
	u64 *slot = map_at(&c->slots, ofd->id);

	if (!*slot)
		return;
	c->ended = vec_reserve(c->ended, &c->ended_room, c->ended_count + 1, sizeof(*c->ended));
	c->ended[c->ended_count++] = (struct ended){ *slot - 1, ofd->id };
	*slot = 0;
}

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

bool compiler_text_of(struct compiler *c, const char *name, u32 file, u64 *text)
{
	struct node *node = names_find(&c->world.names, c->world.names.root, name, false);
	struct tree_found f = {};
	struct tracefile_attr attr;
	s64 size;

	if (*name != '/' || is_deleted(name) || path_is_kernels(node) ||
	    !path_is_below_root(c, node) ||
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
	*text = texts_add(&c->output.texts, path_behind_root(c, name) ?: "");
	return true;
}

static void open_again(struct compiler *c, struct ofd *ofd, const struct source_ofd *known)
{
	u64 args[WL_ARGS];
	struct node *node = names_find(&c->world.names, c->world.names.root, known->name, false);
	struct tree_found f = {};
	struct tracefile_attr attr;
	s64 size;

	if (path_is_kernels(node) || !path_is_below_root(c, node) ||
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
	ofd->file = world_file(&c->world, &attr);
	args[0] = texts_add(&c->output.texts, path_behind_root(c, known->name) ?: "");
	args[1] = known->flags & ~(u64)(O_CREAT | O_TRUNC | O_EXCL);
	args[2] = 0;
	args[3] = compiler_new_slot(c, ofd, false);
	command_make_up(c, WL_OPEN, 0, args);
}

/* A descriptor that nobody was seen to open: it was there before the trace. */
void slots_adopt(struct compiler *c)
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
