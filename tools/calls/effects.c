// SPDX-License-Identifier: GPL-2.0
#include "effects.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Younger than the oldest headers, or in no header of theirs. */
#define CLOSE_RANGE_CLOEXEC_FLAG 4u
#define CLOSE_RANGE_UNSHARE_FLAG 2u
#define SECCOMP_FILTER 1u
#define SECCOMP_NEW_LISTENER 8u
#define BPF_COMMANDS 37u

static u64 arg(const struct about *a, unsigned int i)
{
	return a->record->args[i];
}

static s64 result(const struct about *a)
{
	return a->record->result;
}

static const struct tracefile_attr *effect_attr(const struct about *a, enum tracefile_kind kind)
{
	return tracefile_find(a->record, kind, sizeof(struct tracefile_attr), NULL);
}

/* When attributes were looked up: as a call began; as it ended; meanwhile, if it returned them. */
static struct looked at_entry(const struct about *a)
{
	return (struct looked){ a->record->entry, a->record->entry };
}

static struct looked at_exit(const struct about *a)
{
	return (struct looked){ a->record->exit, a->record->exit };
}

static struct looked by_result(const struct about *a)
{
	bool returned = call_arg(a->call, 's') >= 0 || call_arg(a->call, 't') >= 0;

	return (struct looked){ returned ? a->record->entry : a->record->exit, a->record->exit };
}

/* The look that said something else may have seen what this call does. */
static bool was_under_way(const struct about *a, const struct file *file)
{
	return a->record->entry <= file->counted.at;
}

static void is_directory(struct file *file)
{
	if (file && !file->mode)
		file->mode = S_IFDIR | 0755;
}

static bool is_disk_file(const struct file *file)
{
	return file &&
	       (!file->mode || S_ISREG(file->mode) || S_ISBLK(file->mode) || S_ISDIR(file->mode));
}

/* Names. */

/* The last argument of a call, where its flags are. */
static u64 last_arg(const struct about *a)
{
	size_t n = strlen(a->call->args);

	return n ? arg(a, n - 1) : 0;
}

struct ofd *effect_dir(const struct about *a, char letter)
{
	int at = call_arg(a->call, letter);

	if (at <= 0 || a->call->args[at - 1] != (letter == 'p' ? 'd' : 'D') ||
	    (s32)arg(a, at - 1) == AT_FDCWD)
		return NULL;
	return world_ofd(a->thread, arg(a, at - 1));
}

struct spot effect_start(const struct about *a, char letter)
{
	struct ofd *dir = effect_dir(a, letter);

	return dir && dir->node ? (struct spot){ dir->node, dir->mount } : a->thread->place->cwd;
}

u64 effect_open_how(const struct about *a, unsigned int at)
{
	u64 how[3] = {};
	const void *blob = tracefile_find(a->record, TRACEFILE_HOW, sizeof(how), NULL);

	if (blob)
		memcpy(how, blob, sizeof(how));
	return how[at];
}

struct view effect_view(const struct about *a, char letter)
{
	struct spot start = effect_start(a, letter), root = a->thread->place->root;

	if (a->call->effect == DOES_OPENAT2 && effect_open_how(a, 2) & RESOLVE_IN_ROOT)
		root = start;
	return (struct view){ .root = root,
			      .mounts = a->thread->place->mounts,
			      .mount = start.mount };
}

bool effect_follows(const struct about *a, char letter)
{
	switch (a->call->effect) {
	case DOES_LLOOK:
	case DOES_UNLINK:
	case DOES_RMDIR:
	case DOES_RENAME:
	case DOES_SYMLINK:
	case DOES_MKDIR:
	case DOES_BIND:
	case DOES_MKNOD:
	case DOES_READLINK:
		return false;
	case DOES_LOOK:
		return !call_xattr_at(a->record->nr) || !(arg(a, 2) & AT_SYMLINK_NOFOLLOW);
	case DOES_LINK:
		return letter == 'p' && last_arg(a) & AT_SYMLINK_FOLLOW &&
		       a->record->nr == SYS_linkat;
	case DOES_LOOKAT:
		return !(last_arg(a) & AT_SYMLINK_NOFOLLOW);
	case DOES_STATX:
		return !(arg(a, 2) & AT_SYMLINK_NOFOLLOW);
	case DOES_OPEN:
		return !(arg(a, call_arg(a->call, 'o')) & O_NOFOLLOW) &&
		       (arg(a, call_arg(a->call, 'o')) & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	case DOES_OPENAT2:
		return !(effect_open_how(a, 0) & O_NOFOLLOW) &&
		       (effect_open_how(a, 0) & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	default:
		return true;
	}
}

/* A number, and what follows it. False: there is none, or something else than a slash. */
static bool read_number(const char *at, u32 *number, const char **rest)
{
	char *end;

	if (*at < '0' || *at > '9')
		return false;
	*number = strtoul(at, &end, 10);
	*rest = end;
	return !*end || *end == '/';
}

/* What is behind the names by which a process means itself; NULL: the path is none of these. */
static const char *behind_own_proc(const struct about *a, const char *path)
{
	static const char *const tops[] = { "/proc/self/", "/proc/thread-self/" };
	const char *rest;
	unsigned int i;
	u32 pid;

	for (i = 0; i < ARRAY_SIZE(tops); i++) {
		if (!strncmp(path, tops[i], strlen(tops[i])))
			return path + strlen(tops[i]);
	}
	if (strncmp(path, "/proc/", 6) || !read_number(path + 6, &pid, &rest) || !*rest ||
	    pid != a->thread->process->pid)
		return NULL;
	return rest + 1;
}

/* The descriptor that a path names, and what follows it. */
static bool own_descriptor(const struct about *a, const char *path, u32 *fd, const char **rest)
{
	static const char *const streams[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	const char *proc = behind_own_proc(a, path);

	for (*fd = 0; *fd < ARRAY_SIZE(streams); (*fd)++) {
		*rest = path + strlen(streams[*fd]);
		if (!strcmp(path, streams[*fd]))
			return true;
	}
	if (proc)
		return !strncmp(proc, "fd/", 3) && read_number(proc + 3, fd, rest);
	return !strncmp(path, "/dev/fd/", 8) && read_number(path + 8, fd, rest);
}

bool effect_own_path(struct world *w, const struct about *a, char letter, char *path, size_t room,
		     struct view *view)
{
	const char *proc = behind_own_proc(a, path), *rest;
	const struct node *node = NULL;
	char whole[NAMES_PATH_MAX];
	struct ofd *ofd;
	u32 fd, length;

	if (own_descriptor(a, path, &fd, &rest)) {
		ofd = world_ofd(a->thread, fd);
		node = ofd ? ofd->node : NULL;
	} else if (proc && !strncmp(proc, "cwd", 3) && (!proc[3] || proc[3] == '/')) {
		node = a->thread->place->cwd.node;
		rest = proc + 3;
	}
	/* The link itself, or what has no name any more. */
	if (!node || (!*rest && !effect_follows(a, letter)) || (!node->parent && *node->name) ||
	    names_in_tree(node))
		return false;
	length = names_path(node, whole, sizeof(whole));
	if (length + strlen(rest) + 1 > min_t(size_t, sizeof(whole), room))
		return false;
	memcpy(whole + length, rest, strlen(rest) + 1);
	memcpy(path, whole, length + strlen(rest) + 1);
	*view = (struct view){ .root = { w->names.root, MOUNT_FIRST },
			       .mounts = &mounts_none,
			       .mount = MOUNT_FIRST };
	return true;
}

bool effect_own_node(struct world *w, const struct about *a, char letter, const struct node *node,
		     char *path, size_t room, struct view *view)
{
	char whole[NAMES_PATH_MAX];

	if (!view->linked || names_path(node, whole, sizeof(whole)) >= sizeof(whole) ||
	    !effect_own_path(w, a, letter, whole, min(sizeof(whole), room), view))
		return false;
	memcpy(path, whole, strlen(whole) + 1);
	return true;
}

static struct node *effect_find(struct world *w, struct about *a, char letter, const char *path,
				u32 length, u32 *mount)
{
	struct view view = effect_view(a, letter);
	char terminated[NAMES_PATH_MAX];
	struct node *node, *start;
	unsigned int links = 0;

	if (!path || length >= sizeof(terminated))
		return NULL;
	if (a->call->effect == DOES_SYMLINK && letter == 'p')
		return NULL; /* what the link is to say, not a name */
	memcpy(terminated, path, length);
	terminated[length] = 0;
	if (!length)
		return NULL;
	effect_own_path(w, a, letter, terminated, sizeof(terminated), &view);
	start = effect_start(a, letter).node;
	do {
		node = names_find_in(&w->names, &view, start, terminated,
				     effect_follows(a, letter));
	} while (links++ < LINKS_MAX && effect_own_node(w, a, letter, node, terminated,
							sizeof(terminated), &view));
	*mount = view.mount;
	return node;
}

/* The descriptor from which a relative path begins is a directory's. */
static void holds_name(struct about *a, char letter, const char *path)
{
	struct ofd *dir = effect_dir(a, letter);

	if (dir && path && *path != '/' && result(a) >= 0)
		is_directory(dir->file);
}

/*
 * The name of a file that a call has opened by its handle, where the tracer does not tell it: one
 * by which the file is known.
 */
static void name_of_handle(struct world *w, struct about *a)
{
	const struct tracefile_attr *attr = effect_attr(a, TRACEFILE_ATTR);
	static char path[NAMES_PATH_MAX]; /* until the next such call */
	struct node *node = w->names.last;
	struct file *file;

	if (a->path || a->record->nr != SYS_open_by_handle_at || result(a) < 0 ||
	    !world_identifies(attr))
		return;
	file = world_find(w, attr);
	while (node && (node->file != file || node->state != NODE_THERE || names_is_gone(node)))
		node = node->all;
	if (!file || !node)
		return;
	a->path_length = names_path(node, path, sizeof(path));
	a->path = a->path_length < sizeof(path) ? path : NULL;
}

static void find_names(struct world *w, struct about *a)
{
	u32 length;

	a->path = tracefile_find(a->record, TRACEFILE_PATH, 0, &length);
	a->path_length = a->path ? strnlen(a->path, length) : 0;
	name_of_handle(w, a);
	a->path2 = tracefile_find(a->record, TRACEFILE_PATH2, 0, &length);
	a->path2_length = a->path2 ? strnlen(a->path2, length) : 0;
	a->node = effect_find(w, a, 'p', a->path, a->path_length, &a->mount);
	a->node2 = effect_find(w, a, 'P', a->path2, a->path2_length, &a->mount2);
	holds_name(a, 'p', a->path_length ? a->path : NULL);
	holds_name(a, 'P', a->path2_length ? a->path2 : NULL);
	a->name = a->node ? w->text_of(w->arg, a->node) : 0;
	a->name2 = a->node2 ? w->text_of(w->arg, a->node2) : 0;
}

/* The name has been seen to lead to that file. */
static void bind(struct world *w, struct node *node, struct file *file)
{
	if (!node)
		return;
	node->state = NODE_THERE;
	node->file = file;
	if (file && !file->name)
		file->name = w->text_of(w->arg, node);
}

/* A name's link and what that leads to are two files. */
static bool is_type_of(const struct tracefile_attr *attr, const struct file *file)
{
	return !attr || !file->mode || (attr->mode & S_IFMT) == (file->mode & S_IFMT);
}

/*
 * The file of a name that a call has found: by its attributes, or, where a trace has none, by the
 * name.
 */
static struct file *file_at(struct world *w, struct node *node, const struct tracefile_attr *attr,
			    struct looked looked)
{
	struct file *file;

	if (world_identifies(attr)) {
		file = world_file(w, attr, looked);
	} else if (!node) {
		return NULL;
	} else if (node->file && is_type_of(attr, node->file)) {
		file = node->file;
		if (attr)
			world_learn(w, file, attr, looked);
	} else {
		file = world_new_file(w, attr);
	}
	bind(w, node, file);
	return file;
}

/* What a descriptor is of. */
static void descriptor_is(struct world *w, struct about *a, const struct tracefile_attr *attr)
{
	if (!a->ofd)
		return;
	if (!a->ofd->file) {
		a->ofd->file = world_identifies(attr) ? world_file(w, attr, by_result(a)) :
							world_new_file(w, attr);
		a->file = a->ofd->file;
	} else if (!a->file->removed) {
		world_learn(w, a->file, attr, by_result(a));
	}
}

static void looked(struct world *w, struct about *a)
{
	const struct tracefile_attr *attr = effect_attr(a, TRACEFILE_ATTR);

	if (!a->node && a->path && !a->path_length) { /* AT_EMPTY_PATH */
		a->ofd = world_ofd(a->thread, arg(a, 0));
		a->file = a->ofd ? a->ofd->file : NULL;
		if (attr && result(a) >= 0)
			descriptor_is(w, a, attr);
		return;
	}
	if (a->node && result(a) == -ENOENT)
		a->node->state = NODE_ABSENT;
	if (result(a) < 0)
		return;
	a->file = file_at(w, a->node, attr, by_result(a));
}

/* A file that the call has made. Another may have met it already, while this one was under way. */
static struct file *fresh_file(struct world *w, const struct about *a,
			       const struct tracefile_attr *attr)
{
	struct file *file = world_identifies(attr) ? world_find(w, attr) : NULL;

	if (!file || file->removed || file->met < a->record->entry)
		return world_new_file(w, attr);
	world_learn(w, file, attr, at_exit(a));
	return file;
}

/* Descriptors. */

static struct ofd *ofd_at(struct world *w, struct about *a, unsigned int i)
{
	u32 fd = arg(a, i);
	struct ofd *ofd = world_ofd(a->thread, fd);

	if (!ofd && result(a) >= 0) {
		/* Nobody saw it opened: it was there before, or came by a socket. */
		ofd = world_open(w, a->thread, fd, 0);
		if (ofd)
			ofd->open_event = 0;
	}
	return ofd;
}

static struct session *about_ofd(struct world *w, struct about *a, unsigned int i)
{
	a->ofd = ofd_at(w, a, i);
	if (!a->ofd)
		return NULL;
	a->file = a->ofd->file;
	return world_session(w, a->ofd, a->thread->process);
}

/* How large the file is for a call that changes that by some bytes. */
static s64 size_for(const struct about *a, const struct file *file)
{
	return was_under_way(a, file) ? file->counted.size : file->size;
}

static void sized(const struct about *a, struct file *file, s64 size)
{
	file->size = size;
	file->counted.size = size;
	file->changed = a->record->exit;
}

static void reaches(const struct about *a, struct file *file, s64 end)
{
	file->counted.size = max(file->counted.size, end);
	if (end > file->size) {
		file->size = end;
		file->changed = a->record->exit;
	}
}

static void transferred(const struct about *a, struct session *session, s64 bytes, bool write)
{
	struct ofd *ofd = a->ofd;
	s64 end;

	if (write) {
		ofd->writes++;
		session->writes++;
		ofd->bytes_written += bytes;
		session->bytes_written += bytes;
	} else {
		ofd->reads++;
		session->reads++;
		ofd->bytes_read += bytes;
		session->bytes_read += bytes;
	}
	if (a->offset == NO_OFFSET)
		return;
	end = (u64)a->offset + bytes;
	ofd->sequential += a->offset == ofd->expected;
	ofd->expected = end;
	if (ofd->file && !write && !ofd->adrift)
		initial_held(&ofd->file->initial, end);
	if (write && ofd->file)
		reaches(a, ofd->file, end);
}

static bool goes_to_end(const struct about *a, const struct ofd *ofd)
{
	return is_disk_file(ofd->file) && call_appends(a->record->nr, a->record->args, ofd->flags);
}

/*
 * read, write and those like them; @at: of a call with an offset; NO_OFFSET: where the description
 * stands.
 */
static void transfer(struct world *w, struct about *a, unsigned int fd, s64 at, bool write)
{
	struct session *session = about_ofd(w, a, fd);
	struct ofd *ofd = a->ofd;
	s64 end = NO_OFFSET;
	bool appends;

	if (!session || result(a) < 0)
		return;
	a->offset = at;
	appends = write && goes_to_end(a, ofd);
	if (appends && ofd->file->initial.source != INITIAL_TOLD)
		initial_appended(&ofd->file->initial, result(a));
	if (appends && ofd->file->size >= 0)
		end = size_for(a, ofd->file);
	if (at == NO_OFFSET && is_disk_file(ofd->file)) {
		ofd->adrift |= appends && ofd->file->initial.source != INITIAL_TOLD;
		if (end != NO_OFFSET)
			ofd->position = end;
		a->offset = ofd->position;
		ofd->position = (u64)ofd->position + result(a);
	} else if (appends) {
		a->offset = end;
	}
	if (write && !appends && ofd->file && a->offset != NO_OFFSET)
		initial_written(&ofd->file->initial, (u64)a->offset + result(a));
	transferred(a, session, result(a), write);
}

u64 effect_asked(const struct about *a)
{
	const void *total = tracefile_find(a->record, TRACEFILE_TOTAL, sizeof(u64), NULL);

	if (total)
		return get_unaligned_le64(total);
	return a->record->nr == SYS_read || a->record->nr == SYS_pread64 ? arg(a, 2) : 0;
}

static void has_read(struct world *w, struct about *a, s64 at)
{
	struct initial *initial;

	transfer(w, a, 0, at, false);
	if (!a->ofd || !is_disk_file(a->ofd->file))
		return;
	initial = &a->ofd->file->initial;
	if (result(a) == -EISDIR)
		is_directory(a->ofd->file);
	if (result(a) >= 0 && a->offset != NO_OFFSET && !a->ofd->adrift &&
	    (u64)result(a) < effect_asked(a))
		initial_ended(initial, a->offset, result(a));
}

/* One end of a call that moves data between descriptors. */
static void move_end(struct world *w, struct about *a, unsigned int fd, u64 offset, bool write)
{
	transfer(w, a, fd, offset == U64_MAX ? NO_OFFSET : (s64)offset, write);
}

static void moved(struct world *w, struct about *a, unsigned int from, unsigned int to)
{
	const u64 *given = tracefile_find(a->record, TRACEFILE_OFFSETS, 16, NULL);
	u64 offsets[2] = { U64_MAX, U64_MAX };
	bool sendfile = a->call->effect == DOES_SENDFILE;

	if (given)
		memcpy(offsets, given, sizeof(offsets));
	/* The row tells of what is written; the reading end is in the description's figures. */
	move_end(w, a, from, offsets[0], false);
	a->source = a->ofd;
	a->source_at = offsets[0] == U64_MAX ? NO_OFFSET : (s64)offsets[0];
	move_end(w, a, to, sendfile ? U64_MAX : offsets[1], true);
}

static void learn_open(struct ofd *ofd, const struct tracefile_attr *attr)
{
	if (attr) {
		ofd->size_open = attr->size;
		ofd->mtime = attr->mtime;
		ofd->atime = attr->atime;
	} else if (ofd->file) {
		ofd->size_open = ofd->file->size;
	}
}

/* What is there when the call ends others have written since, or are still writing. */
static void emptied(struct world *w, const struct about *a, const struct tracefile_attr *attr)
{
	struct file *file = world_find(w, attr);

	if (file)
		sized(a, file, 0);
}

struct node *effect_kernels(struct world *w, const struct about *a)
{
	char path[PATH_MAX];
	u32 length;
	const char *target = tracefile_find(a->record, TRACEFILE_TARGET, 1, &length);

	if (!target || length >= sizeof(path) || a->call->effect < DOES_OPEN ||
	    a->call->effect > DOES_OPENAT2)
		return NULL;
	memcpy(path, target, length);
	path[length] = 0;
	return names_find(&w->names, w->names.root, path, false);
}

static void opened(struct world *w, struct about *a, u64 flags)
{
	const struct tracefile_attr *attr = effect_attr(a, TRACEFILE_ATTR);
	bool fresh = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;

	if (a->node && result(a) == -ENOENT && !(flags & O_CREAT))
		a->node->state = NODE_ABSENT;
	if (result(a) < 0)
		return;
	a->node = effect_kernels(w, a) ?: a->node;
	a->ofd = world_open(w, a->thread, result(a), flags);
	if (!a->ofd)
		return;
	if (world_identifies(attr) && flags & O_TRUNC)
		emptied(w, a, attr);
	if (fresh || unnamed) {
		a->file = fresh_file(w, a, attr);
		if (fresh)
			bind(w, a->node, a->file);
	} else {
		/* Not the link that the name is, but what that leads to. */
		if (!attr && a->node && a->node->file && S_ISLNK(a->node->file->mode))
			a->node->file = NULL;
		a->file = file_at(w, a->node, attr, at_exit(a));
	}
	if (!attr && a->file) {
		if (flags & O_TRUNC || fresh) {
			sized(a, a->file, 0);
			initial_replaced(&a->file->initial);
		}
		if (flags & O_DIRECTORY && !unnamed)
			is_directory(a->file);
	}
	a->ofd->file = a->file;
	a->ofd->node = unnamed ? NULL : a->node;
	a->ofd->mount = a->mount;
	a->ofd->name = a->name;
	learn_open(a->ofd, attr);
}

/* O_CLOEXEC, if exec closes what the call has made. */
static u64 cloexec_of(const struct about *a)
{
	return call_closes_at_exec(a->call, a->record->args) ? O_CLOEXEC : 0;
}

/* Commands of bpf() that make a descriptor, by their numbers: bits. */
static const u64 bpf_opens = 1ull << 0 | 1ull << 5 | 1ull << 7 | 0x3ull << 13 | 0x7ull << 17 |
			     1ull << 28 | 1ull << 30 | 0x3ull << 32 | 1ull << 36;

/* Is the result a descriptor? Some calls have commands that return something else. */
static bool opens_descriptor(const struct about *a)
{
	if (tracefile_find(a->record, TRACEFILE_RIGHTS, sizeof(struct tracefile_right), NULL))
		return false; /* it is no new one: passed_on() */
	switch (a->record->nr) {
	case SYS_bpf:
		return arg(a, 0) < BPF_COMMANDS && bpf_opens >> arg(a, 0) & 1;
	case SYS_landlock_create_ruleset:
		return !arg(a, 2); /* else a version */
	case SYS_seccomp:
		return arg(a, 0) == SECCOMP_FILTER && arg(a, 1) & SECCOMP_NEW_LISTENER;
	case SYS_signalfd:
	case SYS_signalfd4:
		return (s32)arg(a, 0) == -1; /* else that one has other signals now */
	default:
		return true;
	}
}

/* A descriptor of a tree that is mounted nowhere yet: of a new one, or a copy of one. */
static void tree_opened(struct world *w, struct about *a)
{
	if (!a->ofd)
		return;
	if (a->record->nr == SYS_fsmount) {
		a->ofd->node = names_new_tree(&w->names, NULL);
		a->ofd->mount = MOUNT_NONE;
		return;
	}
	a->ofd->node = a->node;
	a->ofd->mount = arg(a, 2) & OPEN_TREE_CLONE ? MOUNT_NONE : a->mount;
}

static void other_opened(struct world *w, struct about *a, s64 fd)
{
	const struct tracefile_attr *attr = effect_attr(a, TRACEFILE_ATTR);

	if (!opens_descriptor(a))
		return;
	a->ofd = world_open(w, a->thread, fd, O_RDWR | cloexec_of(a));
	if (!a->ofd)
		return;
	a->ofd->counter = a->record->nr == SYS_eventfd || a->record->nr == SYS_eventfd2;
	a->ofd->file = attr ? world_file(w, attr, at_exit(a)) : world_new_file(w, NULL);
	if (!attr)
		a->ofd->file->mode = S_IFSOCK;
	a->file = a->ofd->file;
	if (a->record->nr == SYS_fsmount || a->record->nr == SYS_open_tree)
		tree_opened(w, a);
}

static void pair(struct world *w, struct about *a)
{
	const u32 *fds = tracefile_find(a->record, TRACEFILE_FDS, 8, NULL);
	bool sockets = a->call->effect == DOES_PAIR4;
	unsigned int i;

	if (result(a) < 0 || !fds)
		return;
	for (i = 0; i < 2; i++) {
		u64 mode = sockets ? O_RDWR : i ? O_WRONLY : O_RDONLY;
		struct ofd *ofd = world_open(w, a->thread, fds[i], mode | cloexec_of(a));

		if (!ofd)
			continue;
		if (!i || sockets)
			a->file = world_new_file(w, NULL);
		a->file->mode = sockets ? S_IFSOCK : S_IFIFO;
		ofd->file = a->file;
	}
}

static void closed(struct world *w, struct about *a)
{
	const struct tracefile_attr *attr = effect_attr(a, TRACEFILE_ATTR_BEFORE);

	a->ofd = world_closing(a->thread, arg(a, 0));
	if (!a->ofd || result(a) == -EBADF)
		return;
	a->file = a->ofd->file;
	if (attr && a->file)
		world_learn(w, a->file, attr, at_entry(a));
	if (a->file)
		a->ofd->size_close = a->file->size;
}

static void close_range(struct world *w, struct about *a)
{
	u64 fd, last = min_t(u64, arg(a, 1), a->thread->fds->count);

	if (result(a) < 0)
		return;
	if (arg(a, 2) & CLOSE_RANGE_UNSHARE_FLAG)
		world_unshare(a->thread, CLONE_FILES);
	for (fd = arg(a, 0); fd <= last; fd++) {
		if (arg(a, 2) & CLOSE_RANGE_CLOEXEC_FLAG)
			world_cloexec(a->thread, fd, true);
		else
			world_close(w, a->thread, fd);
	}
}

static void fcntl_done(struct world *w, struct about *a)
{
	about_ofd(w, a, 0);
	if (result(a) < 0 || !a->ofd)
		return;
	switch (arg(a, 1)) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		world_dup(w, a->thread, arg(a, 0), result(a), arg(a, 1) == F_DUPFD_CLOEXEC);
		break;
	case F_SETFD:
		world_cloexec(a->thread, arg(a, 0), arg(a, 2) & FD_CLOEXEC);
		break;
	case F_SETFL:
		a->ofd->flags = (a->ofd->flags & ~(u64)(O_APPEND | O_NONBLOCK | O_DIRECT)) |
				(arg(a, 2) & (O_APPEND | O_NONBLOCK | O_DIRECT));
		break;
	}
}

static void fallocated(struct world *w, struct about *a)
{
	s64 end = arg(a, 2) + arg(a, 3);

	about_ofd(w, a, 0);
	if (result(a) < 0 || !a->file)
		return;
	if (arg(a, 1) & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE))
		initial_replaced(&a->file->initial);
	else if (!(arg(a, 1) & FALLOC_FL_KEEP_SIZE))
		initial_written(&a->file->initial, end);
	if (a->file->size < 0)
		return;
	if (arg(a, 1) & FALLOC_FL_COLLAPSE_RANGE)
		sized(a, a->file, (u64)size_for(a, a->file) - arg(a, 3));
	else if (arg(a, 1) & FALLOC_FL_INSERT_RANGE)
		sized(a, a->file, (u64)size_for(a, a->file) + arg(a, 3));
	else if (!(arg(a, 1) & FALLOC_FL_KEEP_SIZE))
		reaches(a, a->file, end);
}

/* Changes of names. */

/* How many names it has before this one goes: as the call began, if no other has ended since. */
static u32 links_before(struct world *w, const struct about *a, struct file *file,
			const struct tracefile_attr *before)
{
	bool newest = before && file->changed <= a->record->entry;
	bool under_way = was_under_way(a, file);
	u32 links = newest ? before->nlink : under_way ? file->counted.links : file->links;

	if (newest)
		world_learn(w, file, before, at_entry(a));
	return links;
}

/* Directories have one name. Of a file whose links nobody told, the last known name is the last. */
static void lose_name(struct world *w, const struct about *a, struct file *file,
		      const struct tracefile_attr *before)
{
	u32 links = links_before(w, a, file, before);

	file->counted.links -= min(file->counted.links, 1u);
	if (links <= 1 || (before && S_ISDIR(before->mode)))
		world_removed(w, file);
	else
		file->links = links - 1;
	file->changed = a->record->exit;
}

static void unlinked(struct world *w, struct about *a)
{
	const struct tracefile_attr *before = effect_attr(a, TRACEFILE_ATTR_BEFORE);

	if (result(a) < 0 || !a->node)
		return;
	if (before && !a->node->file)
		bind(w, a->node, world_file(w, before, at_entry(a)));
	a->file = a->node->file;
	if (a->file)
		lose_name(w, a, a->file, before);
	names_remove(&w->names, a->node);
}

/* Two names of one file: rename does nothing. */
static bool is_same_file(const struct about *a, const struct tracefile_attr *before,
			 const struct tracefile_attr *attr)
{
	if (a->record->flags & TRACEFILE_SAME_FILE)
		return true;
	return before && attr ? before->ino == attr->ino && before->dev == attr->dev :
				a->file && a->node2->file == a->file;
}

/* Of an overlay: a device in the place of the name, which says that there is none. */
static void leave_whiteout(struct world *w, const struct about *a)
{
	struct node *parent = a->node->parent;
	char name[NAME_MAX + 1];
	struct file *file;

	snprintf(name, sizeof(name), "%s", a->node->name);
	names_move(&w->names, a->node, a->node2); /* the node has the other name then */
	file = world_new_file(w, NULL);
	file->mode = S_IFCHR;
	bind(w, names_find(&w->names, parent, name, false), file);
}

static void renamed(struct world *w, struct about *a)
{
	const struct tracefile_attr *attr = effect_attr(a, TRACEFILE_ATTR);
	u64 flags = strlen(a->call->args) == 5 ? last_arg(a) : 0;
	bool exchange = flags & RENAME_EXCHANGE_FLAG;
	const struct tracefile_attr *before = effect_attr(a, TRACEFILE_ATTR_BEFORE);

	if (result(a) < 0 || !a->node || !a->node2 || a->node == a->node2)
		return;
	a->file = file_at(w, a->node, attr, at_exit(a));
	if (exchange) {
		if (before)
			bind(w, a->node2, world_file(w, before, at_entry(a)));
		names_exchange(&w->names, a->node, a->node2);
		return;
	}
	if (is_same_file(a, before, attr)) {
		bind(w, a->node2, a->file);
		return;
	}
	if (before && !a->node2->file)
		a->node2->file = world_file(w, before, at_entry(a));
	if (a->node2->file)
		lose_name(w, a, a->node2->file, before);
	if (flags & RENAME_WHITEOUT_FLAG) {
		leave_whiteout(w, a);
		return;
	}
	names_move(&w->names, a->node, a->node2);
}

static void link_says(struct node *node, const char *target, u32 length)
{
	char *old = node->target;

	node->target = strndup(target, length);
	free(old);
}

static void gain_name(const struct about *a, struct file *file)
{
	file->links = max(file->links, 1u) + 1;
	file->counted.links++;
	file->changed = a->record->exit;
}

static void linked(struct world *w, struct about *a)
{
	const struct tracefile_attr *attr = effect_attr(a, TRACEFILE_ATTR);
	struct ofd *ofd;

	if (result(a) < 0 || !a->node2)
		return;
	ofd = a->node ? NULL : world_ofd(a->thread, arg(a, 0));
	if (attr)
		a->file = world_find(w, attr);
	else if (ofd)
		a->file = ofd->file;
	else
		a->file = file_at(w, a->node, NULL, at_exit(a));
	if (a->file)
		gain_name(a, a->file);
	if (attr)
		a->file = world_file(w, attr, at_exit(a));
	/* A second name of a symbolic link says the same. */
	if (a->node && a->node->target)
		link_says(a->node2, a->node->target, strlen(a->node->target));
	bind(w, a->node2, a->file);
}

static void made(struct world *w, struct about *a, struct node *node, u32 mode)
{
	const struct tracefile_attr *attr = effect_attr(a, TRACEFILE_ATTR);

	if (result(a) < 0 || !node)
		return;
	a->file = fresh_file(w, a, attr);
	if (!attr) {
		a->file->mode = mode;
		a->file->links = !S_ISDIR(mode);
		if (!S_ISLNK(mode) && !S_ISDIR(mode))
			sized(a, a->file, 0);
	}
	bind(w, node, a->file);
}

static void bound(struct world *w, struct about *a)
{
	about_ofd(w, a, 0);
	made(w, a, a->node, S_IFSOCK | 0777);
}

static void symlinked(struct world *w, struct about *a)
{
	made(w, a, a->node2, S_IFLNK | 0777);
	if (result(a) >= 0 && a->node2 && a->path)
		link_says(a->node2, a->path, a->path_length);
}

static void link_read(struct world *w, struct about *a)
{
	u32 length;
	const char *target = tracefile_find(a->record, TRACEFILE_TARGET, 1, &length);

	looked(w, a);
	if (result(a) < 0 || !a->node)
		return;
	/*
	 * Those of /proc say something else each time, and of a relative one only its own process
	 * knows.
	 */
	if (target && length == result(a) && strncmp(a->path, "/proc/", 6))
		link_says(a->node, target, length);
	a->node->state = NODE_THERE;
}

static void truncated(struct world *w, struct about *a)
{
	if (a->call->effect == DOES_TRUNCATE)
		looked(w, a);
	else
		about_ofd(w, a, 0);
	if (result(a) < 0 || !a->file)
		return;
	sized(a, a->file, arg(a, 1));
	initial_replaced(&a->file->initial);
}

/* Of a call that means a directory by its descriptor. */
static void about_directory(struct world *w, struct about *a)
{
	about_ofd(w, a, 0);
	a->node = a->ofd ? a->ofd->node : NULL;
	a->mount = a->ofd ? a->ofd->mount : MOUNT_FIRST;
}

static void cwd_changed(struct world *w, struct about *a)
{
	u32 length;
	const char *cwd = tracefile_find(a->record, TRACEFILE_CWD, 1, &length);
	char path[PATH_MAX];
	struct place *place = a->thread->place;
	struct view view = { .root = place->mounts->root,
			     .mounts = place->mounts,
			     .mount = MOUNT_FIRST };

	if (a->call->effect == DOES_FCHDIR)
		about_directory(w, a);
	if (result(a) < 0)
		return;
	if (a->ofd)
		is_directory(a->ofd->file);
	if (a->node)
		place->cwd = (struct spot){ a->node, a->mount };
	if (!cwd || length >= sizeof(path))
		return;
	memcpy(path, cwd, length);
	path[length] = 0;
	if (*path != '/' || (a->node && names_in_tree(a->node)))
		return;
	/* The kernel says it from the root of all mounts on, not from that of the process. */
	place->cwd.node = names_find_in(&w->names, &view, view.root.node, path, false);
	place->cwd.mount = view.mount;
}

/* Of all threads that share the working directory. */
static void root_changed(struct world *w, struct about *a)
{
	if (!strchr(a->call->args, 'p'))
		about_directory(w, a);
	if (result(a) >= 0 && a->node)
		a->thread->place->root = (struct spot){ a->node, a->mount };
}

static void learn_seek(struct initial *initial, u64 whence, s64 offset, s64 at)
{
	switch (whence) {
	case SEEK_END:
		initial_told(initial, (u64)at - offset);
		break;
	case SEEK_DATA:
		initial_held(initial, (u64)at + 1);
		break;
	case SEEK_HOLE: /* behind the last data is the end */
		initial_held(initial, at);
		break;
	}
}

static void seeked(struct world *w, struct about *a)
{
	about_ofd(w, a, 0);
	if (result(a) < 0 || !a->ofd)
		return;
	a->ofd->seeks++;
	a->ofd->position = result(a);
	a->ofd->adrift = false;
	a->offset = result(a);
	if (is_disk_file(a->file))
		learn_seek(&a->file->initial, arg(a, 2), arg(a, 1), result(a));
}

/* What has been executed is known from before; of traces that do not have that, what runs. */
static void executed(struct world *w, struct about *a)
{
	const struct tracefile_attr *before = effect_attr(a, TRACEFILE_ATTR_BEFORE);

	if (result(a) < 0 || !before)
		looked(w, a);
	else
		a->file = file_at(w, a->node, before, at_entry(a));
	if (result(a) < 0)
		return;
	a->thread->process->program = a->file;
	a->thread->process->command = a->name;
}

static bool lists(const struct about *a)
{
	return a->record->nr == SYS_getdents || a->record->nr == SYS_getdents64;
}

static void look_descriptor(struct world *w, struct about *a)
{
	const struct tracefile_attr *attr = effect_attr(a, TRACEFILE_ATTR);

	about_ofd(w, a, 0);
	if (attr)
		descriptor_is(w, a, attr);
	else if (result(a) >= 0 && lists(a))
		is_directory(a->file);
}

static s64 given_offset(const struct about *a)
{
	/* preadv2 and pwritev2 with -1: where the description stands */
	return (a->record->nr == SYS_preadv2 || a->record->nr == SYS_pwritev2) &&
			       arg(a, 3) == U64_MAX
		       ? NO_OFFSET
		       : (s64)arg(a, 3);
}

/* Several messages a call: its result is how many. */
static void messages_done(struct world *w, struct about *a, bool write)
{
	struct session *session = about_ofd(w, a, 0);
	u32 i, length;
	const u8 *bytes = tracefile_find(a->record, TRACEFILE_MESSAGES, sizeof(u32), &length);

	if (!session || result(a) < 0)
		return;
	for (i = 0; bytes && i + sizeof(u32) <= length; i += sizeof(u32))
		transferred(a, session, get_unaligned_le32(bytes + i), write);
}

static void effect_of_data(struct world *w, struct about *a)
{
	switch (a->call->effect) {
	case DOES_RECVMMSG:
		messages_done(w, a, false);
		break;
	case DOES_SENDMMSG:
		messages_done(w, a, true);
		break;
	case DOES_READ:
		has_read(w, a, NO_OFFSET);
		break;
	case DOES_PREAD:
		has_read(w, a, given_offset(a));
		break;
	case DOES_WRITE:
		transfer(w, a, 0, NO_OFFSET, true);
		break;
	case DOES_PWRITE:
		transfer(w, a, 0, given_offset(a), true);
		break;
	case DOES_SENDFILE:
		moved(w, a, 1, 0);
		break;
	case DOES_COPY:
	case DOES_SPLICE:
		moved(w, a, 0, 2);
		break;
	case DOES_SEEK:
		seeked(w, a);
		break;
	case DOES_MMAP:
		if ((s32)arg(a, 4) >= 0)
			about_ofd(w, a, 4);
		if (is_disk_file(a->file) && result(a) >= 0)
			initial_held(&a->file->initial, arg(a, 5) + arg(a, 1));
		break;
	case DOES_FSYNC:
		about_ofd(w, a, 0);
		if (a->ofd && result(a) >= 0)
			a->ofd->syncs++;
		break;
	case DOES_FALLOCATE:
		fallocated(w, a);
		break;
	default:
		truncated(w, a);
		break;
	}
}

/* Some ioctls make a descriptor: by their numbers, as the kernel's headers have them. */
static bool ioctl_opens(const struct about *a, u64 *flags)
{
	switch ((u32)arg(a, 1)) {
	case 0x5441: /* TIOCGPTPEER: a terminal's other side */
		*flags = arg(a, 2);
		return true;
	case 0xb701: /* NS_GET_USERNS */
	case 0xb702: /* NS_GET_PARENT */
	case 0xae01: /* KVM_CREATE_VM */
	case 0xae41: /* KVM_CREATE_VCPU */
	case 0xff01 ... 0xff0a: /* PIDFD_GET_..._NAMESPACE */
	case 0x894c: /* SIOCGSKNS */
		*flags = O_RDWR | O_CLOEXEC;
		return true;
	default:
		return false;
	}
}

static void controlled(struct world *w, struct about *a)
{
	u64 flags;

	about_ofd(w, a, 0);
	if (result(a) < 0 || !ioctl_opens(a, &flags))
		return;
	a->ofd = world_open(w, a->thread, result(a), flags);
	if (!a->ofd)
		return;
	a->ofd->file = world_new_file(w, NULL);
	a->ofd->file->mode = S_IFCHR;
	a->file = a->ofd->file;
}

static void effect_of_descriptors(struct world *w, struct about *a)
{
	switch (a->call->effect) {
	case DOES_IOCTL:
		controlled(w, a);
		break;
	case DOES_SOCKET:
		if (result(a) >= 0)
			other_opened(w, a, result(a));
		break;
	case DOES_PAIR:
	case DOES_PAIR4:
		pair(w, a);
		break;
	case DOES_CLOSE:
		closed(w, a);
		break;
	case DOES_CLOSERANGE:
		close_range(w, a);
		break;
	case DOES_DUP:
		about_ofd(w, a, 0);
		if (result(a) >= 0)
			world_dup(w, a->thread, arg(a, 0), result(a), false);
		break;
	case DOES_DUP2:
		about_ofd(w, a, 0);
		/* What stood there is closed by the same call. */
		if (result(a) >= 0 && arg(a, 0) != arg(a, 1)) {
			world_close(w, a->thread, arg(a, 1));
			world_dup(w, a->thread, arg(a, 0), arg(a, 1), cloexec_of(a));
		}
		break;
	default:
		fcntl_done(w, a);
		break;
	}
}

static void effect_of_names(struct world *w, struct about *a)
{
	switch (a->call->effect) {
	case DOES_OPEN:
		opened(w, a, arg(a, call_arg(a->call, 'o')));
		break;
	case DOES_CREAT:
		opened(w, a, O_CREAT | O_WRONLY | O_TRUNC);
		break;
	case DOES_OPENAT2:
		opened(w, a, effect_open_how(a, 0));
		break;
	case DOES_RENAME:
		renamed(w, a);
		break;
	case DOES_LINK:
		linked(w, a);
		break;
	case DOES_SYMLINK:
		symlinked(w, a);
		break;
	case DOES_UNLINK:
	case DOES_RMDIR:
		unlinked(w, a);
		break;
	case DOES_MKDIR:
		made(w, a, a->node, S_IFDIR | (arg(a, call_arg(a->call, 'm')) & 07777));
		break;
	case DOES_BIND:
		bound(w, a);
		break;
	case DOES_MKNOD:
		made(w, a, a->node, arg(a, call_arg(a->call, 'm')));
		break;
	case DOES_READLINK:
		link_read(w, a);
		break;
	case DOES_CHROOT:
		root_changed(w, a);
		break;
	default:
		cwd_changed(w, a);
		break;
	}
}

/* Who has made a process may know it by a descriptor of its own. */
static void cloned(struct world *w, struct about *a)
{
	const void *pidfd = tracefile_find(a->record, TRACEFILE_PIDFD, sizeof(u32), NULL);

	if (pidfd)
		other_opened(w, a, get_unaligned_le32(pidfd));
}

/* Mounts. */

static struct mounts *mounts_of(const struct about *a)
{
	return a->thread->place->mounts;
}

/* What the call names at @letter, or, by an empty path, the descriptor in front of it. */
static struct spot spot_at(struct about *a, char letter)
{
	struct node *node = letter == 'p' ? a->node : a->node2;
	u32 mount = letter == 'p' ? a->mount : a->mount2;
	struct ofd *dir = effect_dir(a, letter);

	if (!node && dir)
		return (struct spot){ dir->node, dir->mount };
	return (struct spot){ node, mount };
}

bool effect_mounts_kernels(const struct about *a)
{
	static const char *const kernels[] = { "proc",	 "sysfs",  "devpts",
					       "mqueue", "cgroup2", "tmpfs" };
	u32 length;
	const char *path = tracefile_find(a->record, TRACEFILE_PATH, 0, &length);
	unsigned int i;

	length = path ? strnlen(path, length) : 0;
	for (i = 0; i < ARRAY_SIZE(kernels); i++) {
		if (length == strlen(kernels[i]) && !memcmp(path, kernels[i], length))
			return true;
	}
	return false;
}

bool effect_mounts_new(const struct about *a)
{
	return a->record->nr == SYS_mount &&
	       !(arg(a, 3) & (MS_REMOUNT | MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE |
			      MS_MOVE | MS_BIND));
}

/* A file system, of which no name is known. */
static struct node *new_tree(struct world *w, const struct about *a, const struct node *at)
{
	struct node *root = names_new_tree(&w->names, at);

	root->kernels = effect_mounts_kernels(a);
	return root;
}

static void mount_tree(struct world *w, struct about *a, struct spot from, bool below)
{
	struct spot at = spot_at(a, 'P');
	u32 id = w->mount_count++;

	mounts_of(a)->unknown |= mounts_of(a)->copied && !mounts_of(a)->apart;
	mounts_add(mounts_of(a), id, at, from.node ?: new_tree(w, a, at.node));
	if (from.node && below)
		mounts_add_below(mounts_of(a), id, from, &w->mount_count);
}

static void mounted(struct world *w, struct about *a)
{
	u64 flags = arg(a, 3);

	if (!a->node2)
		return;
	if (flags & (MS_PRIVATE | MS_SLAVE) && flags & MS_REC &&
	    a->node2 == mounts_of(a)->root.node)
		mounts_of(a)->apart = true;
	if (effect_mounts_new(a))
		mount_tree(w, a, (struct spot){}, false);
	else if (flags & MS_MOVE)
		mounts_move(mounts_of(a), a->mount, spot_at(a, 'P'));
	else if (flags & MS_BIND && !(flags & MS_REMOUNT) && a->node)
		mount_tree(w, a, spot_at(a, 'p'), flags & MS_REC);
}

/* What has been mounted nowhere yet, or somewhere else. */
static void tree_moved(struct world *w, struct about *a)
{
	struct spot from = spot_at(a, 'p'), at = spot_at(a, 'P');

	if (!at.node)
		return;
	if (from.node && from.mount != MOUNT_NONE) {
		mounts_move(mounts_of(a), from.mount, at);
		return;
	}
	if (from.node && from.node->mounted && !from.node->parent)
		names_mount_tree(from.node, at.node);
	mount_tree(w, a, from, false);
}

static void effect_of_mounts(struct world *w, struct about *a)
{
	if (result(a) < 0)
		return;
	switch (a->record->nr) {
	case SYS_mount:
		mounted(w, a);
		break;
	case SYS_move_mount:
		tree_moved(w, a);
		break;
	case SYS_umount2:
		if (a->node)
			mounts_remove(mounts_of(a), spot_at(a, 'p'));
		break;
	case SYS_pivot_root:
		if (a->node && a->node2)
			world_pivot(w, mounts_of(a), spot_at(a, 'p'), spot_at(a, 'P'));
		break;
	case SYS_setns:
		if (arg(a, 1) && !(arg(a, 1) & CLONE_NEWNS))
			break;
		world_leave_mounts(w, a->thread);
		break;
	}
}

static void effect_of_tasks(struct world *w, struct about *a)
{
	struct process *process = a->thread->process;

	if (result(a) < 0)
		return;
	switch (a->call->effect) {
	case DOES_CLONE:
	case DOES_CLONE3:
		cloned(w, a);
		break;
	case DOES_EXEC:
		executed(w, a);
		break;
	case DOES_UNSHARE:
		world_unshare(a->thread, arg(a, 0));
		break;
	case DOES_SETUID:
		process->uid = arg(a, 0);
		break;
	case DOES_SETREUID:
		if ((s32)arg(a, 0) >= 0)
			process->uid = arg(a, 0);
		break;
	default:
		break;
	}
}

/* What a message passes on, and what comes by one, or is taken of another process. */
static void passed_on(struct world *w, struct about *a)
{
	const struct tracefile_right *right;
	u32 i, length;
	const u8 *sent;

	if (result(a) < 0 || a->record->length == sizeof(*a->record))
		return;
	sent = tracefile_find(a->record, TRACEFILE_SENT, sizeof(u32), &length);
	for (i = 0; sent && i + sizeof(u32) <= length; i += sizeof(u32)) {
		struct ofd *ofd = world_ofd(a->thread, get_unaligned_le32(sent + i));

		if (ofd)
			world_send(w, ofd);
	}
	right = tracefile_find(a->record, TRACEFILE_RIGHTS, sizeof(*right), &length);
	for (i = 0; right && i < length / sizeof(*right); i++)
		world_receive(w, a->thread, &right[i]);
}

void effect_of(struct world *w, struct about *a)
{
	find_names(w, a);
	switch (a->call->effect) {
	case DOES_READ ... DOES_MMAP:
	case DOES_FSYNC:
	case DOES_TRUNCATE ... DOES_FALLOCATE:
		effect_of_data(w, a);
		break;
	case DOES_SOCKET ... DOES_IOCTL:
		effect_of_descriptors(w, a);
		break;
	case DOES_OPEN ... DOES_OPENAT2:
	case DOES_RENAME ... DOES_MKNOD:
	case DOES_CHDIR ... DOES_CHROOT:
		effect_of_names(w, a);
		break;
	case DOES_LOOK ... DOES_STATX:
		looked(w, a);
		break;
	case DOES_FDESC:
		look_descriptor(w, a);
		break;
	case DOES_CLONE ... DOES_EXEC:
	case DOES_UNSHARE ... DOES_SETREUID:
		effect_of_tasks(w, a);
		break;
	case DOES_MOUNT:
		effect_of_mounts(w, a);
		break;
	default:
		if (a->call->args[0] == 'f')
			about_ofd(w, a, 0);
		break;
	}
	passed_on(w, a);
}
