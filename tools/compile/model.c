// SPDX-License-Identifier: GPL-2.0
#include "model.h"

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

void model_use(struct model *m, enum use_kind kind, enum use_access access, u64 key)
{
	m->use = vec_reserve(m->use, &m->use_room, m->uses + 1, sizeof(*m->use));
	m->use[m->uses++] = (struct use){ .kind = kind, .access = access, .key = key };
}

u64 model_file_key(const struct file *file)
{
	return file->known ? file->ino : (u64)(uintptr_t)file;
}

u32 model_slot(struct model *m, const struct ofd *ofd)
{
	return ofd ? (u32)*map_at(&m->slots, ofd->id) - 1 : NO_SLOT;
}

bool model_is_pipe(struct model *m, const struct ofd *ofd)
{
	return ofd && *map_at(&m->pipes, ofd->id);
}

/*
 * One whose last user is done whenever this thread is here: so no order, not even none at all, can
 * mix them up.
 */
u32 model_take_slot(struct model *m)
{
	u32 thread = m->place[m->making.item->thread];
	u32 i, tried = min_t(u32, m->free_count, FREE_TRIED);

	for (i = m->free_count; i > m->free_count - tried; i--) {
		struct free_slot *f = &m->free_slots[i - 1];
		u32 slot = f->slot;

		if (!order_implies(m->order, thread, f->thread, f->count))
			continue;
		*f = m->free_slots[--m->free_count];
		return slot;
	}
	if (m->output.slots == WL_SLOTS_MAX)
		die("the trace needs more than %u descriptors", WL_SLOTS_MAX);
	return m->output.slots++;
}

void model_give_slot(struct model *m, u32 slot)
{
	u32 thread = m->place[m->making.item->thread];

	m->free_slots = vec_reserve(m->free_slots, &m->free_room, m->free_count + 1,
				    sizeof(*m->free_slots));
	m->free_slots[m->free_count++] =
		(struct free_slot){ slot, thread, order_count(m->order, thread) };
}

u32 model_new_slot(struct model *m, const struct ofd *ofd, bool pipe)
{
	u32 slot = model_take_slot(m);

	*map_at(&m->slots, ofd->id) = slot + 1;
	*map_at(&m->pipes, ofd->id) = pipe;
	return slot;
}

static void ofd_ended(void *arg, const struct ofd *ofd, u64 closed)
{
	struct model *m = arg;
	u64 *slot = map_at(&m->slots, ofd->id);

	if (!*slot)
		return;
	m->ended = vec_reserve(m->ended, &m->ended_room, m->ended_count + 1, sizeof(*m->ended));
	m->ended[m->ended_count++] = (struct ended){ *slot - 1, ofd->id };
	*slot = 0;
}

static u32 text_of(void *arg, const struct node *node)
{
	return 0;
}

/* Commands. */

static u64 gap_of(const struct model *m, const struct wl_command *c, u64 exit,
		  const struct order_result *deps)
{
	u64 from = m->options.from;
	/* What is no call takes as long as it took, if its process did not end before it. */
	u64 until = wl_is_call(c->op) || !m->making.item->finished ? c->start : exit;
	u64 since = max(max(deps->latest, m->making.latest), from);

	if (c->flags & WL_MADE_UP || exit <= from || until <= since)
		return 0;
	return until - since;
}

/* Who ended a wait would have ended those before it, for the same futex, that timed out. */
static void follow_wait(struct model *m, const struct wl_command *c, u32 thread,
			const struct order_result *deps)
{
	const struct dep *last = NULL;
	u32 i;

	for (i = 0; i < deps->deps; i++) {
		if (deps->dep[i].exit > c->start && (!last || deps->dep[i].exit > last->exit))
			last = &deps->dep[i];
	}
	if (c->op == WL_WAIT)
		waits_timed_out(&m->waits, &m->output, thread, m->making.futex);
	else if (last)
		waits_ended(&m->waits, &m->output, thread, m->making.futex, last->thread,
			    last->count);
}

static void add(struct model *m, u8 op, u8 flags, u64 entry, u64 exit, s64 result, const u64 *args)
{
	const struct source_item *item = m->making.item;
	u32 thread = m->place[item->thread];
	struct order_command ordered = {
		.thread = thread,
		.event = item->event,
		.entry = entry,
		.exit = exit,
		.use = m->use,
		.uses = m->uses,
		.within = flags & WL_WITHIN,
	};
	struct order_result deps;
	struct wl_command c = {
		.op = op,
		.flags = flags,
		.event = item->event,
		.start = entry,
		.duration = exit - entry,
		.result = result,
	};

	if (m->options.rules & RULE_PROGRAM_SEQ && !(flags & WL_MADE_UP)) {
		model_use(m, USE_PROGRAM, ACCESS_WRITE, 0);
		ordered.use = m->use;
		ordered.uses = m->uses;
	}
	deps = order_add(m->order, &ordered, min(source_horizon(m->source), entry));
	if (args)
		memcpy(c.args, args, sizeof(c.args));
	if (flags & WL_WITHIN) {
		m->making.latest = max(m->making.latest, deps.latest);
		c.start = m->making.latest;
		c.duration = 0;
	} else {
		c.gap = gap_of(m, &c, exit, &deps);
	}
	if (!(flags & (WL_WITHIN | WL_MADE_UP)))
		m->making.latest = 0;
	output_add(&m->output, thread, &c, &deps, exit <= m->options.from && m->options.from);
	if (m->making.futex && !(flags & WL_MADE_UP))
		follow_wait(m, &c, thread, &deps);
	m->uses = 0;
}

/* A command that is no call of the trace, at the time of this one. */
static void add_made_up(struct model *m, u8 op, s64 result, const u64 *args)
{
	struct use *use = m->use;
	u32 uses = m->uses, room = m->use_room;

	/* The call's own uses are kept for it. */
	m->use = NULL;
	m->uses = 0;
	m->use_room = 0;
	if (op == WL_CLOSE) {
		model_use(m, USE_FD, ACCESS_STAGE, args[1]);
		m->use[0].on_return = true;
	} else if (op == WL_UNMAP) {
		model_use(m, USE_MAPPING, ACCESS_STAGE, args[1]);
	}
	add(m, op, WL_MADE_UP | WL_NO_RESULT, m->making.item->entry, m->making.item->exit, result,
	    args);
	free(m->use);
	m->use = use;
	m->uses = uses;
	m->use_room = room;
}

void model_add_made_up(struct model *m, u8 op, const u64 *args)
{
	add_made_up(m, op, 0, args);
}

void model_add_now(struct model *m, u8 op, u8 flags, s64 result, const u64 *args)
{
	const struct source_item *item = m->making.item;

	add(m, op, flags, item->entry, flags & WL_WITHIN ? item->entry : item->exit, result, args);
}

/* What the call has closed beside what it says: at exec, at an exit, by dup2. */
static void add_closes(struct model *m)
{
	u32 i;

	for (i = 0; i < m->ended_count; i++) {
		u64 args[WL_ARGS] = { m->ended[i].slot, m->ended[i].ofd };

		add_made_up(m, WL_CLOSE, 0, args);
		model_give_slot(m, m->ended[i].slot);
	}
	m->ended_count = 0;
}

/* Names. */

static u64 key_of(const struct node *dir, const char *name, size_t length)
{
	return map_hash((uintptr_t)dir * HASH_GOLDEN, name, length);
}

struct walk {
	struct model *m;
	struct named *named;
	u32 links;
};

/* As names_find(), and each name on the way is used. */
static struct node *visit(struct walk *w, struct node *at, const char *path, bool follow)
{
	struct names *names = &w->m->world.names;
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
		model_use(w->m, USE_PATH, ACCESS_READ, w->named->key);
		*map_at(&w->m->use_names, w->named->key) = texts_add(&w->m->names, name);
		if (child->target && (follow || *path) && w->links++ < LINKS_MAX)
			at = visit(w, dir, child->target, true);
	}
}

/* The names that lead to where a relative path begins: the replay goes by them. */
static void use_way(struct model *m, const struct node *node)
{
	for (; node->parent; node = node->parent)
		model_use(m, USE_PATH, ACCESS_READ,
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

static void find_name(struct model *m, struct named *named, char letter)
{
	struct about *a = &m->making.about;
	struct walk walk = { m, named, 0 };
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
		use_way(m, start);
	named->node = visit(&walk, start, path, effect_follows(a, letter));
	named->kernel = is_kernels(named->node);
	if (*path != '/')
		used = names_path(start, named->text, sizeof(named->text) - 1);
	snprintf(named->text + used, sizeof(named->text) - used, "%s%s", used ? "/" : "", path);
}

/* Names as the replay says them, whose root is the original's directory @m->root. */

static bool is_below_root(const struct model *m, const struct node *node)
{
	while (node && node != m->root)
		node = node->parent;
	return node;
}

/* Of a path from the original's root on, what is behind @m->root; NULL: it does not begin so. */
static const char *behind_root(const struct model *m, const char *path)
{
	char root[PATH_MAX];
	u32 length = m->root->parent ? names_path(m->root, root, sizeof(root)) : 0;

	if (strncmp(path, root, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

void model_target(const struct model *m, const char *said, char *target, size_t room)
{
	const char *behind = *said == '/' ? behind_root(m, said) : NULL;

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

/* As it was said, if that does not lead out of @m->root on the way. */
static void rebase(const struct model *m, struct named *named)
{
	const char *behind;

	if (!m->root->parent || !named->given || named->kernel)
		return;
	behind = goes_up(named->text) ? NULL : behind_root(m, named->text);
	if (!behind) {
		names_path(named->node, named->text, sizeof(named->text));
		behind = behind_root(m, named->text) ?: "";
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

static bool unnamed(struct model *m)
{
	const struct source_ofd *ofd = source_ofd(m->source, m->making.item->ofd);

	return ofd && (ofd->flags & O_TMPFILE) == O_TMPFILE;
}

/* Did this call make the file? */
static bool creates(struct model *m)
{
	struct making *g = &m->making;
	const struct source_ofd *ofd = source_ofd(m->source, g->item->ofd);
	u64 flags = g->call->effect == DOES_CREAT ? O_CREAT : ofd ? ofd->flags : 0;

	if (!ofd || !(flags & O_CREAT))
		return false;
	if (flags & O_EXCL)
		return true;
	return tree_unknown(&m->tree, g->first.node) && !g->first.node->file &&
	       ofd->size_open <= 0;
}

/*
 * What was taken for a file is a symbolic link: the file is where that leads. A call went through
 * the link before one read it.
 */
static void found_link(struct model *m, const struct named *named)
{
	char said[PATH_MAX], target[PATH_MAX];
	struct tree_found link = { .target = target }, before = {};
	struct node *node;

	if (!link_target(&m->making, said, sizeof(said)))
		return;
	model_target(m, said, target, sizeof(target));
	if (!tree_found(&m->tree, named->node, &link, &before))
		return;
	if (!before.mode || S_ISLNK(before.mode))
		return;
	node = names_find(&m->world.names, named->dir, said, true);
	if (!is_kernels(node))
		tree_found(&m->tree, node, &before, NULL);
}

/* An inode number means something on its own device only. */
static u32 file_number(const struct raw_attr *attr)
{
	u64 number = hash_u64(attr->dev) + attr->ino;

	return (u32)number ?: 1;
}

/* The name that the call has found was there before the trace, if no call has made it. */
static void name_found(struct model *m, const struct named *named, bool with_file)
{
	struct making *g = &m->making;
	struct tree_found f = {};
	struct raw_attr attr;
	s64 size;

	if (named->kernel)
		return;
	if (g->call->effect == DOES_READLINK) {
		found_link(m, named);
		return;
	}
	if (g->call->effect == DOES_CHDIR || g->call->effect == DOES_RMDIR)
		f.mode = S_IFDIR | 0755;
	if (with_file && source_file(m->source, g->item->file, &attr, &size)) {
		f.file = file_number(&attr);
		f.mode = attr.mode ?: f.mode;
		f.size = max_t(s64, size, 0);
		f.layout = raw_find(g->item->record, RAW_LAYOUT, sizeof(struct raw_extent),
				    &f.extents);
		f.extents = f.layout ? f.extents / sizeof(struct raw_extent) : 0;
	}
	tree_found(&m->tree, named->node, &f, NULL);
}

static void name_made(struct model *m, const struct named *named)
{
	if (!named->kernel)
		tree_made(&m->tree, named->node);
	model_use(m, USE_PATH, ACCESS_STAGE, named->key);
	/* Shared with others that change it: only who lists it is alone. */
	model_use(m, USE_DIR, ACCESS_READ, named->dir_key);
}

static void failed(struct model *m)
{
	struct making *g = &m->making;
	struct tree_found file = { .mode = S_IFREG | 0644 }, dir = { .mode = S_IFDIR | 0755 };
	const struct named *last = g->second.given ? &g->second : &g->first;

	if (!last->given || last->kernel)
		return;
	if (g->result == -EEXIST)
		tree_found(&m->tree, last->node, g->call->effect == DOES_MKDIR ? &dir : &file,
			   NULL);
	else if (g->result == -EINVAL && g->call->effect == DOES_READLINK)
		tree_found(&m->tree, last->node, &(struct tree_found){}, NULL);
}

/* What the names say of the initial tree, and which of them change. */
static void use_names(struct model *m)
{
	struct tree_found dir = { .mode = S_IFDIR | 0755 };
	struct making *g = &m->making;

	if (g->call->effect == DOES_RMDIR && g->first.given)
		model_use(m, USE_DIR, ACCESS_WRITE, (uintptr_t)g->first.node);
	if (g->result < 0) {
		failed(m);
		return;
	}
	switch (g->call->effect) {
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
		if (g->first.given && unnamed(m))
			tree_found(&m->tree, g->first.node, &dir, NULL);
		else if (g->first.given && creates(m))
			name_made(m, &g->first);
		else if (g->first.given)
			name_found(m, &g->first, true);
		break;
	case DOES_MKDIR:
	case DOES_MKNOD:
		if (g->first.given)
			name_made(m, &g->first);
		break;
	case DOES_SYMLINK:
		if (g->second.given)
			name_made(m, &g->second);
		break;
	case DOES_LINK:
		if (g->first.given)
			name_found(m, &g->first, true);
		if (g->second.given)
			name_made(m, &g->second);
		break;
	case DOES_RENAME:
		if (!g->first.given || !g->second.given)
			break;
		name_found(m, &g->first, true);
		if (g->item->record->nr == SYS_renameat2 && g->item->record->args[4] & 2)
			name_found(m, &g->second, false);
		name_made(m, &g->first);
		name_made(m, &g->second);
		break;
	case DOES_UNLINK:
	case DOES_RMDIR:
		if (!g->first.given)
			break;
		name_found(m, &g->first, true);
		name_made(m, &g->first);
		break;
	default:
		if (g->first.given)
			name_found(m, &g->first, true);
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

bool model_text_of(struct model *m, const char *name, u32 file, u64 *text)
{
	struct node *node = names_find(&m->world.names, m->world.names.root, name, false);
	struct tree_found f = {};
	struct raw_attr attr;
	s64 size;

	if (*name != '/' || is_deleted(name) || is_kernels(node) || !is_below_root(m, node) ||
	    !source_file(m->source, file, &attr, &size) || (attr.mode && !S_ISREG(attr.mode)))
		return false;
	f = (struct tree_found){
		.mode = attr.mode ?: S_IFREG | 0755,
		.size = max_t(s64, size, 0),
		.file = file_number(&attr),
	};
	if (node->file ? model_file_key(node->file) != file : !tree_unknown(&m->tree, node))
		return false;
	tree_found(&m->tree, node, &f, NULL);
	*text = texts_add(&m->output.texts, behind_root(m, name) ?: "");
	return true;
}

static void open_again(struct model *m, struct ofd *ofd, const struct source_ofd *known)
{
	u64 args[WL_ARGS];
	struct node *node = names_find(&m->world.names, m->world.names.root, known->name, false);
	struct tree_found f = {};
	struct raw_attr attr;
	s64 size;

	if (is_kernels(node) || !is_below_root(m, node) ||
	    !source_file(m->source, m->making.item->file, &attr, &size) ||
	    (!S_ISREG(attr.mode) && !S_ISDIR(attr.mode)))
		return;
	f = (struct tree_found){
		.mode = attr.mode,
		.size = max_t(s64, size, 0),
		.file = file_number(&attr),
	};
	tree_found(&m->tree, node, &f, NULL);
	ofd->node = node;
	ofd->file = world_file(&m->world, &attr);
	args[0] = texts_add(&m->output.texts, behind_root(m, known->name) ?: "");
	args[1] = known->flags & ~(u64)(O_CREAT | O_TRUNC | O_EXCL);
	args[2] = 0;
	args[3] = model_new_slot(m, ofd, false);
	add_made_up(m, WL_OPEN, 0, args);
}

/* A descriptor that nobody was seen to open: it was there before the trace. */
static void adopt(struct model *m)
{
	struct making *g = &m->making;
	const struct source_ofd *known = source_ofd(m->source, g->item->ofd);
	int at = fd_argument(g->call);
	struct ofd *ofd;
	u32 fd;

	if (at < 0 || !known || known->event)
		return;
	fd = g->item->record->args[at];
	if (world_ofd(g->about.thread, fd))
		return;
	ofd = world_open(&m->world, g->about.thread, fd, known->flags);
	if (ofd && known->name && *known->name == '/')
		open_again(m, ofd, known);
}

/* Calls. */

static bool is_inside(const struct model *m, const struct named *named)
{
	u32 effect = m->making.call->effect;

	if (!named->given || !m->root->parent)
		return true;
	/* The root itself is there, and stays. */
	if (named->node == m->root)
		return effect < DOES_RENAME || effect > DOES_MKNOD;
	return is_below_root(m, named->node);
}

static bool wanted(struct model *m)
{
	const struct making *g = &m->making;
	const struct model_options *o = &m->options;

	if (g->item->entry >= o->to)
		return false;
	if (o->pid && g->about.thread->process->pid != o->pid)
		return false;
	if (!is_inside(m, &g->second) ||
	    (!is_inside(m, &g->first) && !(g->first.kernel && g->second.given)))
		return false;
	if (!o->path || !g->first.given)
		return true;
	return !fnmatch(o->path, g->first.text, 0) ||
	       (g->second.given && !fnmatch(o->path, g->second.text, 0));
}

static void count(struct model *m)
{
	struct model_figures *f = &m->figures;

	if (wl_is_call(m->making.op))
		return;
	switch (m->making.reason) {
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

static void add_other(struct model *m)
{
	struct making *g = &m->making;
	u64 args[WL_ARGS] = { g->other_slot, g->result };

	add_made_up(m, g->other_op, g->result, args);
}

/* Before --from nothing is read; the descriptor moves on as if. */
static void skip_reading(struct model *m)
{
	struct making *g = &m->making;

	if (g->item->exit > m->options.from)
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
static void skip_forbidden(struct model *m)
{
	struct making *g = &m->making;

	if (!wl_is_call(g->op) || (g->result != -EACCES && g->result != -EPERM))
		return;
	g->op = WL_NONE;
	g->reason = BECAUSE_FORBIDDEN;
}

/*
 * No call says that it asked the disk: how long it took does. Copying takes a nanosecond a byte at
 * most. That it did not ask is known of some that took longer.
 */
static void mark_cached(struct model *m)
{
	struct making *g = &m->making;
	u64 copying = g->result > 0 ? g->result : 0;

	if ((g->op == WL_READ || g->op == WL_PREAD) &&
	    (g->item->record->flags & RAW_NO_DISK ||
	     g->item->exit - g->item->entry <= m->options.cached + copying))
		g->flags |= WL_CACHED;
}

static void add_call(struct model *m)
{
	struct making *g = &m->making;

	mark_cached(m);
	skip_reading(m);
	skip_forbidden(m);
	if (g->other_op && g->other_first)
		add_other(m);
	add(m, g->op, g->flags, g->item->entry, g->item->exit, g->result, g->args);
	if (g->op == WL_CLOSE)
		model_give_slot(m, g->args[0]);
	if (g->other_op && !g->other_first)
		add_other(m);
	count(m);
}

static void begin(struct model *m, const struct source_item *item)
{
	struct making *g = &m->making;
	const struct raw_record *r = item->record;

	g->item = item;
	g->call = r->flags & RAW_FOREIGN ? NULL : call_of(r->nr);
	g->about = (struct about){
		.record = r,
		.call = g->call,
		.offset = NO_OFFSET,
		.thread = world_thread(&m->world, r->tid),
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
	m->uses = 0;
	m->world.event = item->event;
	m->world.time = item->exit;
	m->figures.calls++;
	if (!g->call)
		m->figures.unknown++;
}

/* Submissions to io_uring. */

/* It comes after all that its submitter had done before it entered the kernel with it. */
static void begin_submission(struct model *m, u32 thread)
{
	u64 *begun = map_at(&m->begun, thread);

	if (*begun)
		return;
	*begun = 1;
	order_spawn(m->order, m->place[thread],
		    m->place[source_thread(m->source, thread)->parent]);
}

static void note_submissions(struct model *m, const struct source_item *item)
{
	u32 thread;

	if (!item->submitted) {
		for (thread = source_submitted(m->source, item->event, 0); thread;
		     thread = source_submitted(m->source, item->event, thread))
			begin_submission(m, thread);
		return;
	}
	begin_submission(m, item->thread);
	m->seen = vec_reserve(m->seen, &m->seen_room, m->seen_count + 1, sizeof(*m->seen));
	m->seen[m->seen_count++] = m->place[item->thread];
}

void model_wait_for_seen(struct model *m)
{
	u32 i;

	for (i = 0; i < m->seen_count; i++)
		model_use(m, USE_JOINED, ACCESS_READ, m->seen[i]);
}

static void follow_link(struct model *m, const struct source_item *item)
{
	u32 after = item->submitted ? source_thread(m->source, item->thread)->after : 0;

	if (after)
		model_use(m, USE_JOINED, ACCESS_READ, m->place[after]);
}

static void take_call(struct model *m, const struct source_item *item)
{
	struct making *g = &m->making;
	bool use;

	note_submissions(m, item);
	mapped_add_pages(m);
	begin(m, item);
	if (!g->call || !item->finished) {
		g->reason = BECAUSE_ORDER;
		if (item->entry < m->options.to)
			add_call(m);
		return;
	}
	adopt(m);
	find_name(m, &g->first, 'p');
	find_name(m, &g->second, 'P');
	use = wanted(m);
	if (use) {
		rebase(m, &g->first);
		rebase(m, &g->second);
		use_names(m);
	}
	g->ofd_before = m->world.ofd_count;
	effect_of(&m->world, &g->about);
	if (g->call->effect == DOES_CLOSE && g->about.ofd && g->result != -EBADF)
		g->last_close = g->about.ofd->refs == 1;
	if (use)
		choose(m);
	mapped_follow(m);
	follow_link(m, item);
	if (g->last_close && model_slot(m, g->about.ofd) != NO_SLOT)
		*map_at(&m->slots, g->about.ofd->id) = 0; /* closed by this command */
	if (g->call->effect == DOES_CLOSE && g->about.ofd && g->result != -EBADF)
		world_close(&m->world, g->about.thread, g->item->record->args[0]);
	if (use)
		add_call(m);
	else
		m->figures.left_out++;
	add_closes(m);
	mapped_add_ends(m);
}

static void take_fork(struct model *m, const struct source_item *item)
{
	const struct source_thread *made = source_thread(m->source, item->other);
	struct thread *parent, *child;
	const char *cwd;

	if (item->thread) {
		parent = world_thread(&m->world, source_thread(m->source, item->thread)->tid);
		child = world_fork(&m->world, parent, made->tid, item->flags);
		*map_at(&m->umasks, child->process->id) = *map_at(&m->umasks, parent->process->id);
		if (child->process == parent->process) {
			m->figures.shared++;
			*map_at(&m->threads, made->tid) = m->place[item->other] + 1;
		}
		order_spawn(m->order, m->place[item->other], m->place[item->thread]);
		return;
	}
	child = world_thread(&m->world, made->tid);
	cwd = source_cwd(m->source, made->tid);
	if (cwd)
		child->place->cwd = names_find(&m->world.names, m->world.names.root, cwd, false);
}

static void take_exit(struct model *m, const struct source_item *item)
{
	u32 tid = source_thread(m->source, item->thread)->tid;
	struct source_item at = *item;
	struct thread *thread = world_thread(&m->world, tid);

	at.exit = min(source_thread(m->source, item->thread)->end, item->exit);
	at.entry = at.exit;
	m->making.item = &at;
	m->uses = 0;
	if (thread->process->threads == 1)
		model_use(m, USE_PROCESS, ACCESS_STAGE, thread->process->pid);
	if (thread->process->threads == 1)
		mapped_end(m, source_thread(m->source, item->thread)->process);
	world_exit(&m->world, thread, 0, 0);
	add_closes(m);
	mapped_add_ends(m);
	if (m->uses && at.entry < m->options.to)
		add(m, WL_NONE, WL_MADE_UP | WL_NO_RESULT, at.entry, at.exit, 0, NULL);
	m->making.item = item;
}

void model_run(struct model *m)
{
	const struct source_item *item;

	for (;;) {
		item = source_next(m->source);
		m->making.item = item;
		switch (item->kind) {
		case SOURCE_END:
			return;
		case SOURCE_FORK:
			take_fork(m, item);
			break;
		case SOURCE_EXEC:
			m->world.time = item->exit;
			mapped_add_pages(m);
			mapped_end(m, source_thread(m->source, item->thread)->process);
			world_exec(&m->world, source_thread(m->source, item->thread)->tid,
				   source_thread(m->source, item->thread)->tid);
			add_closes(m);
			break;
		case SOURCE_EXIT:
			take_exit(m, item);
			break;
		case SOURCE_TOUCH:
			mapped_add_touch(m);
			break;
		case SOURCE_CALL:
			take_call(m, item);
			if (!item->submitted)
				m->seen_count = 0;
			break;
		}
	}
}

struct model *model_new(struct source *source, const struct model_options *options)
{
	struct model *m = xmalloc(sizeof(*m));
	u32 threads, *processes;

	memset(m, 0, sizeof(*m));
	m->source = source;
	m->options = *options;
	m->place = threads_place(source, options->rules & RULE_ONE_THREAD, &threads,
				 &processes);
	if (threads > WL_THREADS_MAX)
		die("the trace has %u threads at once", threads);
	m->order = order_new(threads, options->rules);
	output_init(&m->output, threads, processes);
	texts_init(&m->names);
	world_init(&m->world);
	m->root = names_find(&m->world.names, m->world.names.root, options->root ?: "", false);
	tree_init(&m->tree, m->root);
	m->world.ofd_ended = ofd_ended;
	m->world.text_of = text_of;
	m->world.arg = m;
	return m;
}

void model_free(struct model *m)
{
	m->world.ofd_ended = NULL;
	world_end(&m->world);
	world_free(&m->world);
	order_free(m->order);
	mapped_free(&m->mapped);
	waits_free(&m->waits);
	map_free(&m->begun);
	free(m->seen);
	output_free(&m->output);
	tree_free(&m->tree);
	texts_free(&m->names);
	map_free(&m->slots);
	map_free(&m->pipes);
	map_free(&m->umasks);
	map_free(&m->threads);
	map_free(&m->use_names);
	free(m->place);
	free(m->free_slots);
	free(m->ended);
	free(m->use);
	free(m);
}

struct output *model_output(struct model *m)
{
	return &m->output;
}

struct order *model_order(struct model *m)
{
	return m->order;
}

struct tree *model_tree(struct model *m)
{
	return &m->tree;
}

struct model_figures model_figures(const struct model *m)
{
	return m->figures;
}

void model_name(struct model *m, const struct use *use, char *text, size_t room)
{
	static const char *const kinds[USE_KINDS] = {
		"the program", "file",	  "name",  "directory",	       "description",
		"mapping", "AIO context", "process", "futex", "all of its thread",
	};

	if (!use)
		snprintf(text, room, "the thread's beginning");
	else if (use->kind == USE_PATH)
		snprintf(text, room, "name %s", m->names.data + *map_at(&m->use_names, use->key));
	else
		snprintf(text, room, "%s %llu", kinds[use->kind], (unsigned long long)use->key);
}
