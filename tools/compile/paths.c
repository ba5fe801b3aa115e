// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a call: what they lead to, what they say of the initial tree, how the replay says
 * them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "making.h"

static u64 key_of(const struct node *dir, const char *name, size_t length)
{
	return map_hash((uintptr_t)dir * HASH_GOLDEN, name, length);
}

struct walk {
	struct names *names;
	struct uses *uses;
	struct named *named;
	struct view view; /* of who walks */
	u32 links;
};

/* As names_find(), and each name on the way is used. */
static struct node *visit(struct walk *w, struct node *at, const char *path, bool follow)
{
	struct names *names = w->names;
	char name[NAME_MAX + 1];

	if (*path == '/') {
		at = w->view.root.node;
		w->view.mount = w->view.root.mount;
	}
	for (;;) {
		struct node *child, *dir = at;
		size_t length;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (!length)
			return at;
		if (length > NAME_MAX)
			return at; /* the kernel goes no further */
		memcpy(name, path, length);
		name[length] = 0;
		path += length;
		at = names_find_in(names, &w->view, dir, name, false);
		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		child = at;
		w->named->dir = dir;
		w->named->dir_key = (uintptr_t)dir;
		w->named->key = key_of(dir, name, length);
		uses_add_name(w->uses, w->named->key, name);
		if (child->target && (follow || *path) && w->links++ < LINKS_MAX) {
			w->view.linked = true;
			at = visit(w, dir, child->target, true);
		}
	}
}

/* The names that lead to where a relative path begins: the replay goes by them. */
static void use_way(struct uses *uses, const struct node *node)
{
	for (; node->parent; node = node->parent)
		uses_add(uses, USE_PATH, ACCESS_READ,
			 key_of(node->parent, node->name, strlen(node->name)));
}

bool path_is_kernels(const struct node *node)
{
	static const char *const tops[] = { "proc", "sys", "dev" };
	const struct node *top = NULL;
	unsigned int i;

	for (; node && node->parent; node = node->parent) {
		if (node->kernels)
			return true;
		top = node;
	}
	for (i = 0; top && i < ARRAY_SIZE(tops); i++) {
		if (!strcmp(top->name, tops[i]))
			return true;
	}
	return false;
}

void path_find(struct compiler *c, struct named *named, char letter)
{
	struct about *a = &c->making.about;
	struct walk walk = { &c->world.names, &c->uses, named, effect_view(a, letter), 0 };
	char path[NAMES_PATH_MAX], *text = c->said[letter == 'P'];
	bool own = false;
	struct node *start;
	const char *blob;
	u32 length, used = 0;

	named->given = false;
	named->gone = false;
	blob = tracefile_find(a->record, letter == 'p' ? TRACEFILE_PATH : TRACEFILE_PATH2, 0,
			      &length);
	length = blob ? strnlen(blob, length) : 0;
	if (!length || length >= sizeof(path) ||
	    (letter == 'p' && a->call->effect == DOES_SYMLINK))
		return;
	memcpy(path, blob, length);
	path[length] = 0;
	effect_own_path(&c->world, a, letter, path, sizeof(path), &walk.view);
	start = *path == '/' ? walk.view.root.node : effect_start(a, letter).node;
	*named = (struct named){ .given = true, .text = text };
	use_way(&c->uses, start);
	for (;;) {
		named->node = visit(&walk, start, path, effect_follows(a, letter));
		if (walk.links > LINKS_MAX || !effect_own_node(&c->world, a, letter, named->node,
							       path, sizeof(path), &walk.view))
			break;
		walk.links++;
		own = true;
	}
	named->gone = *path != '/' && names_is_gone(start) && names_is_gone(named->node);
	named->kernel = path_is_kernels(named->node) || effect_kernels(&c->world, a);
	named->aside = walk.view.root.node->parent || walk.view.root.mount != MOUNT_FIRST ||
		       walk.view.mount != MOUNT_FIRST || walk.view.crossed;
	if (start->parent)
		used = names_path(start, text, NAMES_PATH_MAX);
	/*
	 * There, and from a removed directory on, a name as it was said may lead elsewhere. A path
	 * that is longer than the kernel takes is gone in pieces (beneath.c), which is right if it
	 * has neither links nor dots.
	 */
	own |= used + strlen(path) >= PATH_MAX - 1 && (s64)a->record->result != -ENAMETOOLONG;
	own |= *path != '/' && names_is_gone(start);
	if (named->aside || own || used >= NAMES_PATH_MAX)
		used = names_path(named->node, text, NAMES_PATH_MAX);
	else
		used += snprintf(text + used, NAMES_PATH_MAX - used, "%s%s",
				 used ? "/" : "", path);
	named->gone |= used >= NAMES_PATH_MAX;
}

/* Names as the replay says them, whose root is the original's directory @root. */

bool path_is_below_root(const struct node *root, const struct node *node)
{
	while (node && node != root)
		node = node->parent;
	return node;
}

/* Of a path from the original's root on, what is behind @root; NULL: it does not begin so. */
const char *path_behind_root(const struct node *root, const char *path)
{
	char name[NAMES_PATH_MAX];
	u32 length = root->parent ? names_path(root, name, sizeof(name)) : 0;

	if (length >= sizeof(name))
		return NULL;
	if (strncmp(path, name, length) || (path[length] && path[length] != '/'))
		return NULL;
	return path + length;
}

void path_target(const struct node *root, const char *said, char *target, size_t room)
{
	const char *behind = *said == '/' ? path_behind_root(root, said) : NULL;

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

/* As it was said, if that does not lead out of @root on the way. */
void path_rebase(const struct node *root, struct named *named)
{
	const char *behind;

	if (!root->parent || !named->given || named->kernel)
		return;
	behind = goes_up(named->text) ? NULL : path_behind_root(root, named->text);
	if (!behind) {
		names_path(named->node, named->text, NAMES_PATH_MAX);
		behind = path_behind_root(root, named->text) ?: "";
	}
	memmove(named->text, behind, strlen(behind) + 1);
}

static const char *link_target(const struct making *g, char *text, size_t room)
{
	u32 length;
	const char *target = tracefile_find(g->about.record, TRACEFILE_TARGET, 1, &length);

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

/* Who was not traced has made or removed names, too. */

static bool is_missing(struct compiler *c, const struct node *node)
{
	return c->missing.used && *map_at(&c->missing, (uintptr_t)node);
}

/* A command for somebody who was not traced, in front of the call that has seen what came of it. */
static void add_for_others(struct compiler *c, u8 op, const struct node *node, const u64 *args)
{
	const struct source_item *item = c->making.item;
	struct use_list own = uses_set_aside(&c->uses);

	uses_add(&c->uses, USE_PATH, ACCESS_STAGE,
		 key_of(node->parent, node->name, strlen(node->name)));
	uses_add(&c->uses, USE_DIR, ACCESS_READ, (uintptr_t)node->parent);
	command_add(c, op, WL_MADE_UP | WL_NO_RESULT, item->entry, item->entry, 0, args);
	uses_take_back(&c->uses, &own);
	c->figures.others++;
}

static bool text_of_node(struct compiler *c, const struct node *node, u64 *text)
{
	char path[NAMES_PATH_MAX];
	const char *behind;

	if (names_path(node, path, sizeof(path)) >= sizeof(path))
		return false;
	behind = path_behind_root(c->root, path);
	if (!behind || !*behind)
		return false;
	*text = texts_add(&c->output.texts, behind);
	return true;
}

/* What has been found was not there before: directories on the way, too. */
static void make_for_others(struct compiler *c, struct node *node, u32 mode, u64 size)
{
	u64 args[WL_ARGS] = {};

	if (!node->parent || !is_missing(c, node))
		return;
	make_for_others(c, node->parent, S_IFDIR | 0755, 0);
	*map_at(&c->missing, (uintptr_t)node) = 0;
	if (!text_of_node(c, node, &args[0]))
		return;
	args[1] = S_ISDIR(mode) ? mode & 07777 : mode;
	add_for_others(c, S_ISDIR(mode) ? WL_MKDIR : WL_MKNOD, node, args);
	tree_made(&c->tree, node);
	args[1] = size;
	if (S_ISREG(mode) && size)
		command_make_up(c, WL_TRUNCATE, 0, args);
}

/*
 * The name was not there, and no call has made it since. A link is another matter: what it leads to
 * was not there; and so is another name of a file that is known.
 */
static bool others_made(struct compiler *c, const struct named *named, const struct tree_found *f)
{
	const struct node *node;
	bool missing = false;

	for (node = named->node; node && node->parent && !missing; node = node->parent)
		missing = is_missing(c, node);
	if (!missing || !tree_unknown(&c->tree, named->node) ||
	    (!S_ISDIR(f->mode) && !S_ISREG(f->mode)) ||
	    (f->file && *map_at(&c->named_files, f->file)))
		return false;
	/* It is below one that is missing: it was not there, either. */
	*map_at(&c->missing, (uintptr_t)named->node) = 1;
	make_for_others(c, named->node, f->mode, f->size);
	uses_add(&c->uses, USE_PATH, ACCESS_STAGE, named->key);
	return true;
}

/* A call has not found the name. Of a file that was there, somebody has removed it. */
static void not_found(struct compiler *c, const struct named *named)
{
	struct node *node = named->node;
	u64 args[WL_ARGS] = {};

	if (!call_wants_name(c->making.call) || !node->parent || node->target)
		return;
	if (!tree_unknown(&c->tree, node)) {
		if (!node->file || !S_ISREG(node->file->mode) ||
		    !text_of_node(c, node, &args[0]))
			return;
		add_for_others(c, WL_UNLINK, node, args);
		names_remove(&c->world.names, node);
		node = names_find(&c->world.names, named->dir, node->name, false);
	}
	*map_at(&c->missing, (uintptr_t)node) = 1;
}

/* Did this call make the file? */
static bool creates(struct compiler *c)
{
	struct making *g = &c->making;
	const struct source_ofd *ofd = source_ofd(c->source, g->item->ofd);
	u64 flags = g->call->effect == DOES_CREAT ? O_CREAT : ofd ? ofd->flags : 0;
	struct tracefile_attr attr;
	s64 size;

	if (!ofd || !(flags & O_CREAT))
		return false;
	if (flags & O_EXCL)
		return true;
	/* It had something in it that the trace has not written. */
	if (source_file(c->source, g->item->file, &attr, &size) && size > 0)
		return false;
	return tree_unknown(&c->tree, g->first.node) && !g->first.node->file &&
	       ofd->size_open <= 0;
}

/* The path from @dir to what is below it; false: it is not, or too far. */
static bool path_below(const struct node *dir, const struct node *node, char *path, size_t room)
{
	size_t used = room - 1, length;

	path[used] = 0;
	for (; node && node != dir; node = node->parent) {
		length = strlen(node->name);
		if (length + 1 > used)
			return false;
		used -= length;
		memcpy(path + used, node->name, length);
		path[--used] = '/';
	}
	if (!node || used == room - 1)
		return false;
	memmove(path, path + used + 1, room - used - 1);
	return true;
}

/* What was found below the link before anybody knew that it is one. */
static void move_below(struct compiler *c, const struct node *link, struct node *dir)
{
	struct names *names = &c->world.names;
	struct node *node, *there;
	char path[NAMES_PATH_MAX];

	for (node = names->last; node; node = node->all) {
		if (!path_below(link, node, path, sizeof(path)))
			continue;
		there = names_find(names, dir, path, false);
		if (!there->file)
			there->file = node->file;
		tree_move(&c->tree, node, there);
	}
}

/*
 * What was taken for a file is a symbolic link: the file is where that leads. A call went through
 * the link before one read it.
 */
static void found_link(struct compiler *c, const struct named *named)
{
	char said[PATH_MAX], target[PATH_MAX];
	struct view view = effect_view(&c->making.about, 'p');
	struct tree_found link = { .target = target }, before = {};
	struct node *node;

	if (!link_target(&c->making, said, sizeof(said)))
		return;
	path_target(c->root, said, target, sizeof(target));
	if (!tree_found(&c->tree, named->node, &link, &before))
		return;
	if (!before.mode || S_ISLNK(before.mode))
		return;
	node = names_find_in(&c->world.names, &view, named->dir, said, true);
	if (path_is_kernels(node) || node == named->node)
		return;
	tree_found(&c->tree, node, &before, NULL);
	if (S_ISDIR(before.mode))
		move_below(c, named->node, node);
}

/* An inode number means something on its own device only. */
u32 path_file_number(const struct tracefile_attr *attr)
{
	u64 number = hash_u64(attr->dev) + attr->ino;

	return (u32)number ?: 1;
}

static bool removes_directory(const struct making *g)
{
	const struct tracefile_record *r = g->item->record;

	return call_removes_directory(g->call, r->nr, r->args);
}

/* A directory that the call wants to be empty, as a rename does of one that it replaces. */
static const struct node *must_be_empty(const struct making *g)
{
	const struct node *node = g->second.node;

	if (removes_directory(g))
		return g->first.given ? g->first.node : NULL;
	if (g->call->effect != DOES_RENAME || !g->second.given)
		return NULL;
	return g->result == -ENOTEMPTY || (node->file && S_ISDIR(node->file->mode)) ? node : NULL;
}

/* The name that the call has found was there before the trace, if no call has made it. */
static void name_found(struct compiler *c, const struct named *named, bool with_file)
{
	struct making *g = &c->making;
	struct tree_found f = {};
	struct tracefile_attr attr;
	s64 size;

	if (named->kernel)
		return;
	if (g->call->effect == DOES_READLINK) {
		found_link(c, named);
		return;
	}
	if (g->call->effect == DOES_CHDIR || g->call->effect == DOES_CHROOT ||
	    removes_directory(g))
		f.mode = S_IFDIR | 0755;
	/* Of a call that has a descriptor in front of the name, the row's file is that of it. */
	with_file &= *g->call->args != 'f';
	if (with_file && source_file(c->source, g->item->file, &attr, &size)) {
		f.file = path_file_number(&attr);
		f.mode = attr.mode ?: f.mode;
		f.size = max_t(s64, size, 0);
		f.guessed = source_size_guessed(c->source, g->item->file);
		if (!f.mode && f.size)
			f.mode = TREE_UNKNOWN_MODE;
		f.layout = tracefile_find(g->item->record, TRACEFILE_LAYOUT,
					  sizeof(struct tracefile_extent), &f.extents);
		f.extents = f.layout ? f.extents / sizeof(struct tracefile_extent) : 0;
	}
	if (others_made(c, named, &f))
		return;
	if (f.file)
		*map_at(&c->named_files, f.file) = 1;
	tree_found(&c->tree, named->node, &f, NULL);
}

static void name_made(struct compiler *c, const struct named *named)
{
	if (!named->kernel) {
		tree_made(&c->tree, named->node);
		if (c->missing.used)
			*map_at(&c->missing, (uintptr_t)named->node) = 0;
	}
	uses_add(&c->uses, USE_PATH, ACCESS_STAGE, named->key);
	/* Shared with others that change it: only who lists it is alone. */
	uses_add(&c->uses, USE_DIR, ACCESS_READ, named->dir_key);
}

/* Of what a call needs a directory for, and has not found one. */
static void found_no_directory(struct compiler *c, struct node *node, const struct tree_found *file)
{
	const struct making *g = &c->making;
	bool itself = g->call->effect == DOES_CHDIR || g->call->effect == DOES_CHROOT ||
		      removes_directory(g) ||
		      (g->call->effect == DOES_OPEN &&
		       g->item->record->args[call_arg(g->call, 'o')] & O_DIRECTORY);

	if (!node->parent || tree_is_file(&c->tree, node->parent))
		return;
	if (itself)
		tree_found(&c->tree, node, file, NULL);
	else if (tree_unknown(&c->tree, node->parent))
		tree_found(&c->tree, node->parent, file, NULL);
}

static void failed(struct compiler *c)
{
	struct making *g = &c->making;
	struct tree_found file = { .mode = TREE_UNKNOWN_MODE, .guessed = true };
	struct tree_found dir = { .mode = S_IFDIR | 0755 };
	const struct named *last = g->second.given ? &g->second : &g->first;

	if (!last->given || last->kernel)
		return;
	if (g->result == -EISDIR)
		tree_found(&c->tree, last->node, &dir, NULL);
	file.type_guessed = true;
	dir.type_guessed = true;
	if (g->result == -EEXIST) {
		tree_found(&c->tree, last->node, g->call->effect == DOES_MKDIR ? &dir : &file,
			   NULL);
	} else if (g->result == -ENAMETOOLONG) {
		tree_found(&c->tree, last->node, &dir, NULL); /* it was asked for the name */
	} else if (g->result == -EINVAL && g->call->effect == DOES_READLINK) {
		tree_found(&c->tree, last->node, &(struct tree_found){}, NULL);
	} else if (g->result == -ENOTDIR && !path_is_kernels(last->node)) {
		found_no_directory(c, last->node, &file);
	} else if (g->result == -ENOENT && !path_is_kernels(last->node)) {
		tree_missing(&c->tree, last->node);
		if (!g->second.given)
			not_found(c, last);
	}
}

/* What the names say of the initial tree, and which of them change. */
void path_use_names(struct compiler *c)
{
	struct tree_found dir = { .mode = S_IFDIR | 0755 };
	struct making *g = &c->making;
	const struct node *empty = must_be_empty(g);

	if (empty)
		uses_add(&c->uses, USE_DIR, ACCESS_WRITE, (uintptr_t)empty);
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
	case DOES_BIND:
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
		if (g->item->record->flags & TRACEFILE_SAME_FILE) {
			name_found(c, &g->second, true);
			break;
		}
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
