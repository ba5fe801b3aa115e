// SPDX-License-Identifier: GPL-2.0
#include "compiler.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../common/vec.h"
#include "making.h"
#include "threads.h"

#define LINKS_MAX 40
#define FREE_TRIED 64
#define UMASK 022 /* until a call says something else */

struct free_slot {
	u32 slot;
	u32 thread; /* that closed it, by its @count-th command */
	u32 count;
};

/* Resources. */

void compiler_use(struct compiler *c, enum use_kind kind, enum use_access access, u64 key)
{
	c->use = vec_reserve(c->use, &c->use_room, c->uses + 1, sizeof(*c->use));
	c->use[c->uses++] = (struct use){ .kind = kind, .access = access, .key = key };
}

u64 compiler_file_key(const struct file *file)
{
	return file->known ? file->ino : (u64)(uintptr_t)file;
}

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

static void ofd_ended(void *arg, const struct ofd *ofd, u64 closed)
{
	struct compiler *c = arg;
	u64 *slot = map_at(&c->slots, ofd->id);

	if (!*slot)
		return;
	c->ended = vec_reserve(c->ended, &c->ended_room, c->ended_count + 1, sizeof(*c->ended));
	c->ended[c->ended_count++] = (struct ended){ *slot - 1, ofd->id };
	*slot = 0;
}

static u32 text_of(void *arg, const struct node *node)
{
	return 0;
}

/* Commands. */

static u64 gap_of(const struct compiler *c, const struct wl_command *command, u64 exit,
		  const struct order_result *deps)
{
	u64 from = c->options.from;
	/* What is no call takes as long as it took, if its process did not end before it. */
	u64 until = wl_is_call(command->op) || !c->making.item->finished ? command->start : exit;
	u64 since = max(max(deps->latest, c->making.latest), from);

	if (command->flags & WL_MADE_UP || exit <= from || until <= since)
		return 0;
	return until - since;
}

/* Who ended a wait would have ended those before it, for the same futex, that timed out. */
static void follow_wait(struct compiler *c, const struct wl_command *command, u32 thread,
			const struct order_result *deps)
{
	const struct dep *last = NULL;
	u32 i;

	for (i = 0; i < deps->deps; i++) {
		if (deps->dep[i].exit > command->start && (!last || deps->dep[i].exit > last->exit))
			last = &deps->dep[i];
	}
	if (command->op == WL_WAIT)
		waits_timed_out(&c->waits, &c->output, thread, c->making.futex);
	else if (last)
		waits_ended(&c->waits, &c->output, thread, c->making.futex, last->thread,
			    last->count);
}

static void add_command(struct compiler *c, u8 op, u8 flags, u64 entry, u64 exit, s64 result,
			const u64 *args)
{
	const struct source_item *item = c->making.item;
	u32 thread = c->place[item->thread];
	struct order_command ordered = {
		.thread = thread,
		.event = item->event,
		.entry = entry,
		.exit = exit,
		.use = c->use,
		.uses = c->uses,
		.within = flags & WL_WITHIN,
	};
	struct order_result deps;
	struct wl_command command = {
		.op = op,
		.flags = flags,
		.event = item->event,
		.start = entry,
		.duration = exit - entry,
		.result = result,
	};

	if (c->options.rules & RULE_PROGRAM_SEQ && !(flags & WL_MADE_UP)) {
		compiler_use(c, USE_PROGRAM, ACCESS_WRITE, 0);
		ordered.use = c->use;
		ordered.uses = c->uses;
	}
	deps = order_add(c->order, &ordered, min(source_horizon(c->source), entry));
	if (args)
		memcpy(command.args, args, sizeof(command.args));
	if (flags & WL_WITHIN) {
		c->making.latest = max(c->making.latest, deps.latest);
		command.start = c->making.latest;
		command.duration = 0;
	} else {
		command.gap = gap_of(c, &command, exit, &deps);
	}
	if (!(flags & (WL_WITHIN | WL_MADE_UP)))
		c->making.latest = 0;
	output_add(&c->output, thread, &command, &deps, exit <= c->options.from && c->options.from);
	if (c->making.futex && !(flags & WL_MADE_UP))
		follow_wait(c, &command, thread, &deps);
	c->uses = 0;
}

/* A command that is no call of the trace, at the time of this one. */
static void add_made_up(struct compiler *c, u8 op, s64 result, const u64 *args)
{
	struct use *use = c->use;
	u32 uses = c->uses, room = c->use_room;

	/* The call's own uses are kept for it. */
	c->use = NULL;
	c->uses = 0;
	c->use_room = 0;
	if (op == WL_CLOSE) {
		compiler_use(c, USE_FD, ACCESS_STAGE, args[1]);
		c->use[0].on_return = true;
	} else if (op == WL_UNMAP) {
		compiler_use(c, USE_MAPPING, ACCESS_STAGE, args[1]);
	}
	add_command(c, op, WL_MADE_UP | WL_NO_RESULT, c->making.item->entry, c->making.item->exit,
		    result, args);
	free(c->use);
	c->use = use;
	c->uses = uses;
	c->use_room = room;
}

void compiler_add_made_up(struct compiler *c, u8 op, const u64 *args)
{
	add_made_up(c, op, 0, args);
}

void compiler_add_now(struct compiler *c, u8 op, u8 flags, s64 result, const u64 *args)
{
	const struct source_item *item = c->making.item;

	add_command(c, op, flags, item->entry, flags & WL_WITHIN ? item->entry : item->exit,
		    result, args);
}

/* What the call has closed beside what it says: at exec, at an exit, by dup2. */
static void add_closes(struct compiler *c)
{
	u32 i;

	for (i = 0; i < c->ended_count; i++) {
		u64 args[WL_ARGS] = { c->ended[i].slot, c->ended[i].ofd };

		add_made_up(c, WL_CLOSE, 0, args);
		compiler_give_slot(c, c->ended[i].slot);
	}
	c->ended_count = 0;
}

/* Names. */

static u64 key_of(const struct node *dir, const char *name, size_t length)
{
	return map_hash((uintptr_t)dir * HASH_GOLDEN, name, length);
}

struct walk {
	struct compiler *c;
	struct named *named;
	u32 links;
};

/* As names_find(), and each name on the way is used. */
static struct node *visit(struct walk *w, struct node *at, const char *path, bool follow)
{
	struct names *names = &w->c->world.names;
	char name[NAME_MAX + 1];

	if (*path == '/')
		at = names->root;
	for (;;) {
		struct node *child, *dir = at;
		size_t length;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (!length)
			return at;
		if (length > NAME_MAX) {
			path += length;
			continue;
		}
		memcpy(name, path, length);
		name[length] = 0;
		path += length;
		at = names_find(names, dir, name, false);
		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		child = at;
		w->named->dir = dir;
		w->named->dir_key = (uintptr_t)dir;
		w->named->key = key_of(dir, name, length);
		compiler_use(w->c, USE_PATH, ACCESS_READ, w->named->key);
		*map_at(&w->c->use_names, w->named->key) = texts_add(&w->c->names, name);
		if (child->target && (follow || *path) && w->links++ < LINKS_MAX)
			at = visit(w, dir, child->target, true);
	}
}

/* The names that lead to where a relative path begins: the replay goes by them. */
static void use_way(struct compiler *c, const struct node *node)
{
	for (; node->parent; node = node->parent)
		compiler_use(c, USE_PATH, ACCESS_READ,
			     key_of(node->parent, node->name, strlen(node->name)));
}

static bool is_kernels(const struct node *node)
{
	static const char *const tops[] = { "proc", "sys", "dev" };
	const struct node *top = NULL;
	unsigned int i;

	for (; node && node->parent; node = node->parent)
		top = node;
	for (i = 0; top && i < ARRAY_SIZE(tops); i++) {
		if (!strcmp(top->name, tops[i]))
			return true;
	}
	return false;
}

static void find_name(struct compiler *c, struct named *named, char letter)
{
	struct about *a = &c->making.about;
	struct walk walk = { c, named, 0 };
	char path[PATH_MAX];
	struct node *start;
	const char *blob;
	u32 length, used = 0;

	named->given = false;
	blob = raw_find(a->record, letter == 'p' ? RAW_PATH : RAW_PATH2, 0, &length);
	length = blob ? strnlen(blob, length) : 0;
	if (!length || length >= sizeof(path) ||
	    (letter == 'p' && a->call->effect == DOES_SYMLINK))
		return;
	memcpy(path, blob, length);
	path[length] = 0;
	start = effect_start(a, letter);
	*named = (struct named){ .given = true };
	if (*path != '/')
		use_way(c, start);
	named->node = visit(&walk, start, path, effect_follows(a, letter));
	named->kernel = is_kernels(named->node);
	if (*path != '/')
		used = names_path(start, named->text, sizeof(named->text) - 1);
	snprintf(named->text + used, sizeof(named->text) - used, "%s%s", used ? "/" : "", path);
}

/* Names as the replay says them, whose root is the original's directory @c->root. */

static bool is_below_root(const struct compiler *c, const struct node *node)
{
	while (node && node != c->root)
		node = node->parent;
	return node;
}

/* Of a path from the original's root on, what is behind @c->root; NULL: it does not begin so. */
static const char *behind_root(const struct compiler *c, const char *path)
{
	char root[PATH_MAX];
	u32 length = c->root->parent ? names_path(c->root, root, sizeof(root)) : 0;

	if (strncmp(path, root, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

void compiler_target(const struct compiler *c, const char *said, char *target, size_t room)
{
	const char *behind = *said == '/' ? behind_root(c, said) : NULL;

	snprintf(target, room, "%s", !behind ? said : *behind ? behind : "/");
}

static bool goes_up(const char *path)
{
	size_t length;

	for (; *path; path += length) {
		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (length == 2 && !strncmp(path, "..", 2))
			return true;
	}
	return false;
}

/* As it was said, if that does not lead out of @c->root on the way. */
static void rebase(const struct compiler *c, struct named *named)
{
	const char *behind;

	if (!c->root->parent || !named->given || named->kernel)
		return;
	behind = goes_up(named->text) ? NULL : behind_root(c, named->text);
	if (!behind) {
		names_path(named->node, named->text, sizeof(named->text));
		behind = behind_root(c, named->text) ?: "";
	}
	memmove(named->text, behind, strlen(behind) + 1);
}

static const char *link_target(const struct making *g, char *text, size_t room)
{
	u32 length;
	const char *target = raw_find(g->about.record, RAW_TARGET, 1, &length);

	if (!target || length >= room)
		return NULL;
	memcpy(text, target, length);
	text[length] = 0;
	return text;
}

static bool unnamed(struct compiler *c)
{
	const struct source_ofd *ofd = source_ofd(c->source, c->making.item->ofd);

	return ofd && (ofd->flags & O_TMPFILE) == O_TMPFILE;
}

/* Did this call make the file? */
static bool creates(struct compiler *c)
{
	struct making *g = &c->making;
	const struct source_ofd *ofd = source_ofd(c->source, g->item->ofd);
	u64 flags = g->call->effect == DOES_CREAT ? O_CREAT : ofd ? ofd->flags : 0;

	if (!ofd || !(flags & O_CREAT))
		return false;
	if (flags & O_EXCL)
		return true;
	return tree_unknown(&c->tree, g->first.node) && !g->first.node->file &&
	       ofd->size_open <= 0;
}

/*
 * What was taken for a file is a symbolic link: the file is where that leads. A call went through
 * the link before one read it.
 */
static void found_link(struct compiler *c, const struct named *named)
{
	char said[PATH_MAX], target[PATH_MAX];
	struct tree_found link = { .target = target }, before = {};
	struct node *node;

	if (!link_target(&c->making, said, sizeof(said)))
		return;
	compiler_target(c, said, target, sizeof(target));
	if (!tree_found(&c->tree, named->node, &link, &before))
		return;
	if (!before.mode || S_ISLNK(before.mode))
		return;
	node = names_find(&c->world.names, named->dir, said, true);
	if (!is_kernels(node))
		tree_found(&c->tree, node, &before, NULL);
}

/* An inode number means something on its own device only. */
static u32 file_number(const struct raw_attr *attr)
{
	u64 number = hash_u64(attr->dev) + attr->ino;

	return (u32)number ?: 1;
}

/* The name that the call has found was there before the trace, if no call has made it. */
static void name_found(struct compiler *c, const struct named *named, bool with_file)
{
	struct making *g = &c->making;
	struct tree_found f = {};
	struct raw_attr attr;
	s64 size;

	if (named->kernel)
		return;
	if (g->call->effect == DOES_READLINK) {
		found_link(c, named);
		return;
	}
	if (g->call->effect == DOES_CHDIR || g->call->effect == DOES_RMDIR)
		f.mode = S_IFDIR | 0755;
	if (with_file && source_file(c->source, g->item->file, &attr, &size)) {
		f.file = file_number(&attr);
		f.mode = attr.mode ?: f.mode;
		f.size = max_t(s64, size, 0);
		f.layout = raw_find(g->item->record, RAW_LAYOUT, sizeof(struct raw_extent),
				    &f.extents);
		f.extents = f.layout ? f.extents / sizeof(struct raw_extent) : 0;
	}
	tree_found(&c->tree, named->node, &f, NULL);
}

static void name_made(struct compiler *c, const struct named *named)
{
	if (!named->kernel)
		tree_made(&c->tree, named->node);
	compiler_use(c, USE_PATH, ACCESS_STAGE, named->key);
	/* Shared with others that change it: only who lists it is alone. */
	compiler_use(c, USE_DIR, ACCESS_READ, named->dir_key);
}

static void failed(struct compiler *c)
{
	struct making *g = &c->making;
	struct tree_found file = { .mode = S_IFREG | 0644 }, dir = { .mode = S_IFDIR | 0755 };
	const struct named *last = g->second.given ? &g->second : &g->first;

	if (!last->given || last->kernel)
		return;
	if (g->result == -EEXIST)
		tree_found(&c->tree, last->node, g->call->effect == DOES_MKDIR ? &dir : &file,
			   NULL);
	else if (g->result == -EINVAL && g->call->effect == DOES_READLINK)
		tree_found(&c->tree, last->node, &(struct tree_found){}, NULL);
}

/* What the names say of the initial tree, and which of them change. */
static void use_names(struct compiler *c)
{
	struct tree_found dir = { .mode = S_IFDIR | 0755 };
	struct making *g = &c->making;

	if (g->call->effect == DOES_RMDIR && g->first.given)
		compiler_use(c, USE_DIR, ACCESS_WRITE, (uintptr_t)g->first.node);
	if (g->result < 0) {
		failed(c);
		return;
	}
	switch (g->call->effect) {
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
		if (g->first.given && unnamed(c))
			tree_found(&c->tree, g->first.node, &dir, NULL);
		else if (g->first.given && creates(c))
			name_made(c, &g->first);
		else if (g->first.given)
			name_found(c, &g->first, true);
		break;
	case DOES_MKDIR:
	case DOES_MKNOD:
		if (g->first.given)
			name_made(c, &g->first);
		break;
	case DOES_SYMLINK:
		if (g->second.given)
			name_made(c, &g->second);
		break;
	case DOES_LINK:
		if (g->first.given)
			name_found(c, &g->first, true);
		if (g->second.given)
			name_made(c, &g->second);
		break;
	case DOES_RENAME:
		if (!g->first.given || !g->second.given)
			break;
		name_found(c, &g->first, true);
		if (g->item->record->nr == SYS_renameat2 && g->item->record->args[4] & 2)
			name_found(c, &g->second, false);
		name_made(c, &g->first);
		name_made(c, &g->second);
		break;
	case DOES_UNLINK:
	case DOES_RMDIR:
		if (!g->first.given)
			break;
		name_found(c, &g->first, true);
		name_made(c, &g->first);
		break;
	default:
		if (g->first.given)
			name_found(c, &g->first, true);
		break;
	}
}

/* Descriptors. */

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
	struct raw_attr attr;
	s64 size;

	if (*name != '/' || is_deleted(name) || is_kernels(node) || !is_below_root(c, node) ||
	    !source_file(c->source, file, &attr, &size) || (attr.mode && !S_ISREG(attr.mode)))
		return false;
	f = (struct tree_found){
		.mode = attr.mode ?: S_IFREG | 0755,
		.size = max_t(s64, size, 0),
		.file = file_number(&attr),
	};
	if (node->file ? compiler_file_key(node->file) != file : !tree_unknown(&c->tree, node))
		return false;
	tree_found(&c->tree, node, &f, NULL);
	*text = texts_add(&c->output.texts, behind_root(c, name) ?: "");
	return true;
}

static void open_again(struct compiler *c, struct ofd *ofd, const struct source_ofd *known)
{
	u64 args[WL_ARGS];
	struct node *node = names_find(&c->world.names, c->world.names.root, known->name, false);
	struct tree_found f = {};
	struct raw_attr attr;
	s64 size;

	if (is_kernels(node) || !is_below_root(c, node) ||
	    !source_file(c->source, c->making.item->file, &attr, &size) ||
	    (!S_ISREG(attr.mode) && !S_ISDIR(attr.mode)))
		return;
	f = (struct tree_found){
		.mode = attr.mode,
		.size = max_t(s64, size, 0),
		.file = file_number(&attr),
	};
	tree_found(&c->tree, node, &f, NULL);
	ofd->node = node;
	ofd->file = world_file(&c->world, &attr);
	args[0] = texts_add(&c->output.texts, behind_root(c, known->name) ?: "");
	args[1] = known->flags & ~(u64)(O_CREAT | O_TRUNC | O_EXCL);
	args[2] = 0;
	args[3] = compiler_new_slot(c, ofd, false);
	add_made_up(c, WL_OPEN, 0, args);
}

/* A descriptor that nobody was seen to open: it was there before the trace. */
static void adopt(struct compiler *c)
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

/* Calls. */

static bool is_inside(const struct compiler *c, const struct named *named)
{
	u32 effect = c->making.call->effect;

	if (!named->given || !c->root->parent)
		return true;
	/* The root itself is there, and stays. */
	if (named->node == c->root)
		return effect < DOES_RENAME || effect > DOES_MKNOD;
	return is_below_root(c, named->node);
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
	struct compile_figures *f = &c->figures;

	if (wl_is_call(c->making.op))
		return;
	switch (c->making.reason) {
	case BECAUSE_KERNEL:
		f->kernel++;
		break;
	case BECAUSE_ORDER:
		f->no_call++;
		break;
	case BECAUSE_FORBIDDEN:
		f->forbidden++;
		break;
	default:
		f->not_done++;
		break;
	}
}

static void add_other(struct compiler *c)
{
	struct making *g = &c->making;
	u64 args[WL_ARGS] = { g->other_slot, g->result };

	add_made_up(c, g->other_op, g->result, args);
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
	}
}

/*
 * A replay has rights of its own: what the original was not allowed to do it may be. So it does not
 * try.
 */
static void skip_forbidden(struct compiler *c)
{
	struct making *g = &c->making;

	if (!wl_is_call(g->op) || (g->result != -EACCES && g->result != -EPERM))
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
	    (g->item->record->flags & RAW_NO_DISK ||
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
	add_command(c, g->op, g->flags, g->item->entry, g->item->exit, g->result, g->args);
	if (g->op == WL_CLOSE)
		compiler_give_slot(c, g->args[0]);
	if (g->other_op && !g->other_first)
		add_other(c);
	count(c);
}

static void begin(struct compiler *c, const struct source_item *item)
{
	struct making *g = &c->making;
	const struct raw_record *r = item->record;

	g->item = item;
	g->call = r->flags & RAW_FOREIGN ? NULL : call_of(r->nr);
	g->about = (struct about){
		.record = r,
		.call = g->call,
		.offset = NO_OFFSET,
		.thread = world_thread(&c->world, r->tid),
	};
	g->first.given = false;
	g->second.given = false;
	g->op = WL_NONE;
	g->reason = BECAUSE_NOT_DONE;
	g->flags = item->finished ? 0 : WL_NO_RESULT;
	g->result = r->result;
	g->futex = 0;
	g->other_op = 0;
	g->last_close = false;
	memset(g->args, 0, sizeof(g->args));
	c->uses = 0;
	c->world.event = item->event;
	c->world.time = item->exit;
	c->figures.calls++;
	if (!g->call)
		c->figures.unknown++;
}

/* Submissions to io_uring. */

/* It comes after all that its submitter had done before it entered the kernel with it. */
static void begin_submission(struct compiler *c, u32 thread)
{
	u64 *begun = map_at(&c->begun, thread);

	if (*begun)
		return;
	*begun = 1;
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
	c->seen = vec_reserve(c->seen, &c->seen_room, c->seen_count + 1, sizeof(*c->seen));
	c->seen[c->seen_count++] = c->place[item->thread];
}

void compiler_wait_for_seen(struct compiler *c)
{
	u32 i;

	for (i = 0; i < c->seen_count; i++)
		compiler_use(c, USE_JOINED, ACCESS_READ, c->seen[i]);
}

static void follow_link(struct compiler *c, const struct source_item *item)
{
	u32 after = item->submitted ? source_thread(c->source, item->thread)->after : 0;

	if (after)
		compiler_use(c, USE_JOINED, ACCESS_READ, c->place[after]);
}

static void take_call(struct compiler *c, const struct source_item *item)
{
	struct making *g = &c->making;
	bool use;

	note_submissions(c, item);
	mapped_add_pages(c);
	begin(c, item);
	if (!g->call || !item->finished) {
		g->reason = BECAUSE_ORDER;
		if (item->entry < c->options.to)
			add_call(c);
		return;
	}
	adopt(c);
	find_name(c, &g->first, 'p');
	find_name(c, &g->second, 'P');
	use = wanted(c);
	if (use) {
		rebase(c, &g->first);
		rebase(c, &g->second);
		use_names(c);
	}
	g->ofd_before = c->world.ofd_count;
	effect_of(&c->world, &g->about);
	if (g->call->effect == DOES_CLOSE && g->about.ofd && g->result != -EBADF)
		g->last_close = g->about.ofd->refs == 1;
	if (use)
		choose(c);
	mapped_follow(c);
	follow_link(c, item);
	if (g->last_close && compiler_slot(c, g->about.ofd) != NO_SLOT)
		*map_at(&c->slots, g->about.ofd->id) = 0; /* closed by this command */
	if (g->call->effect == DOES_CLOSE && g->about.ofd && g->result != -EBADF)
		world_close(&c->world, g->about.thread, g->item->record->args[0]);
	if (use)
		add_call(c);
	else
		c->figures.left_out++;
	add_closes(c);
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
		child->place->cwd = names_find(&c->world.names, c->world.names.root, cwd, false);
}

static void take_exit(struct compiler *c, const struct source_item *item)
{
	u32 tid = source_thread(c->source, item->thread)->tid;
	struct source_item at = *item;
	struct thread *thread = world_thread(&c->world, tid);

	at.exit = min(source_thread(c->source, item->thread)->end, item->exit);
	at.entry = at.exit;
	c->making.item = &at;
	c->uses = 0;
	if (thread->process->threads == 1)
		compiler_use(c, USE_PROCESS, ACCESS_STAGE, thread->process->pid);
	if (thread->process->threads == 1)
		mapped_end(c, source_thread(c->source, item->thread)->process);
	world_exit(&c->world, thread, 0, 0);
	add_closes(c);
	mapped_add_ends(c);
	if (c->uses && at.entry < c->options.to)
		add_command(c, WL_NONE, WL_MADE_UP | WL_NO_RESULT, at.entry, at.exit, 0, NULL);
	c->making.item = item;
}

void compiler_run(struct compiler *c)
{
	const struct source_item *item;

	for (;;) {
		item = source_next(c->source);
		c->making.item = item;
		switch (item->kind) {
		case SOURCE_END:
			return;
		case SOURCE_FORK:
			take_fork(c, item);
			break;
		case SOURCE_EXEC:
			c->world.time = item->exit;
			mapped_add_pages(c);
			mapped_end(c, source_thread(c->source, item->thread)->process);
			world_exec(&c->world, source_thread(c->source, item->thread)->tid,
				   source_thread(c->source, item->thread)->tid);
			add_closes(c);
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
				c->seen_count = 0;
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
	texts_init(&c->names);
	world_init(&c->world);
	c->root = names_find(&c->world.names, c->world.names.root, options->root ?: "", false);
	tree_init(&c->tree, c->root);
	c->world.ofd_ended = ofd_ended;
	c->world.text_of = text_of;
	c->world.arg = c;
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
	map_free(&c->begun);
	free(c->seen);
	output_free(&c->output);
	tree_free(&c->tree);
	texts_free(&c->names);
	map_free(&c->slots);
	map_free(&c->pipes);
	map_free(&c->umasks);
	map_free(&c->threads);
	map_free(&c->use_names);
	free(c->place);
	free(c->free_slots);
	free(c->ended);
	free(c->use);
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

void compiler_name(struct compiler *c, const struct use *use, char *text, size_t room)
{
	static const char *const kinds[USE_KINDS] = {
		"the program", "file",	  "name",  "directory",	       "description",
		"mapping", "AIO context", "process", "futex", "all of its thread",
	};

	if (!use)
		snprintf(text, room, "the thread's beginning");
	else if (use->kind == USE_PATH)
		snprintf(text, room, "name %s", c->names.data + *map_at(&c->use_names, use->key));
	else
		snprintf(text, room, "%s %llu", kinds[use->kind], (unsigned long long)use->key);
}
