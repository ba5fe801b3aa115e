// SPDX-License-Identifier: GPL-2.0
/* Of each call the command that does it again, and the resources that it uses. */
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "making.h"

#define DIRENTS_MAX 0x100000u
#define SOCK_PAIR_TYPES (SOCK_CLOEXEC | SOCK_NONBLOCK)

static u64 text(struct compiler *c, const struct named *named)
{
	return texts_add(&c->output.texts, named->text);
}

void choose_use_file(struct compiler *c, enum use_access access)
{
	if (c->making.about.file)
		uses_add(&c->uses, USE_FILE, access, compiler_file_key(c->making.about.file));
}

void choose_use_ofd(struct compiler *c, const struct ofd *ofd, enum use_access access)
{
	if (ofd)
		uses_add(&c->uses, USE_FD, access, ofd->id);
}

bool choose_on_fd(struct compiler *c, u8 op, const struct ofd *ofd, enum use_access access)
{
	u32 slot = slots_of(&c->slots, ofd);

	choose_use_ofd(c, ofd, access);
	if (slot == NO_SLOT) {
		choose_none(c, BECAUSE_KERNEL);
		return false;
	}
	c->making.op = op;
	c->making.args[0] = slot;
	return true;
}

/* A command about a name. */
bool choose_on_path(struct compiler *c, u8 op, const struct named *named)
{
	if (!named->given || named->kernel) {
		choose_none(c, named->given ? BECAUSE_KERNEL : BECAUSE_NOT_DONE);
		return false;
	}
	c->making.op = op;
	c->making.args[0] = text(c, named);
	return true;
}

/* Reading and writing. */

static u64 bytes_asked(const struct compiler *c, unsigned int at)
{
	u64 total;
	const void *blob =
		tracefile_find(c->making.item->record, TRACEFILE_TOTAL, sizeof(total), NULL);

	if (!blob)
		return choose_arg(c, at);
	memcpy(&total, blob, sizeof(total));
	return total;
}

/* With RWF_APPEND a write goes to the end, and where the description stands moves there, too. */
static void seek_to_end(struct compiler *c)
{
	struct making *g = &c->making;
	u64 args[WL_ARGS] = { g->args[0], g->item->offset, SEEK_SET };

	command_make_up(c, WL_SEEK, g->item->offset, args);
}

/* Who reads a counter waits for one who adds to it. */
static void count_event(struct compiler *c, const struct ofd *ofd, bool write)
{
	u64 key = hash_u64(ofd->id) ^ SYS_eventfd2;

	choose_none(c, BECAUSE_ORDER);
	if (c->making.result < 0)
		return;
	uses_add(&c->uses, USE_WAKE, write ? ACCESS_STAGE : ACCESS_READ, key);
	if (!write)
		uses_on_return(&c->uses);
}

static void choose_transfer(struct compiler *c, bool write)
{
	struct making *g = &c->making;
	u64 flags = choose_nr(c) == SYS_pwritev2 ? choose_arg(c, 5) : 0;
	bool appends = flags & RWF_APPEND;
	const struct ofd *ofd = g->about.ofd;
	bool positioned = g->call->effect == DOES_PREAD || g->call->effect == DOES_PWRITE;
	u8 op;

	if (choose_nr(c) == SYS_preadv2 || choose_nr(c) == SYS_pwritev2)
		positioned = choose_arg(c, 3) != U64_MAX;
	if (ofd && ofd->counter) {
		count_event(c, ofd, write);
		return;
	}
	if (slots_is_pipe(&c->slots, ofd)) {
		pipe_transfer(c, ofd, write);
		return;
	}
	choose_use_file(c, write ? ACCESS_WRITE : ACCESS_DATA);
	if (positioned)
		op = write ? WL_PWRITE : WL_PREAD;
	else
		op = write ? WL_WRITE : WL_READ;
	if (!choose_on_fd(c, op, ofd, positioned ? ACCESS_DATA : ACCESS_WRITE))
		return;
	/* The replay's would go to the end: it has the description's flags alone. */
	if (flags & RWF_NOAPPEND_FLAG && ofd->flags & O_APPEND) {
		choose_none(c, BECAUSE_NOT_DONE);
		return;
	}
	g->args[1] = choose_length(bytes_asked(c, 2));
	g->args[2] = appends ? (u64)g->item->offset : choose_arg(c, 3);
	if (appends && !positioned && g->result >= 0)
		seek_to_end(c);
}

static void seek(struct compiler *c)
{
	if (!choose_on_fd(c, WL_SEEK, c->making.about.ofd, ACCESS_WRITE))
		return;
	choose_use_file(c, ACCESS_READ);
	*map_at(&c->listed, c->making.about.ofd->id) = 0;
	c->making.args[1] = choose_arg(c, 1);
	c->making.args[2] = choose_arg(c, 2);
}

/* An ioctl of terminals (is it one?) and of descriptors, or one that the file's kind has not. */
static bool asks_no_disk(struct compiler *c)
{
	return (u8)(choose_arg(c, 1) >> 8) == 'T' || c->making.result == -ENOTTY;
}

static void map(struct compiler *c)
{
	struct making *g = &c->making;

	if ((s32)choose_arg(c, 4) < 0) {
		choose_none(c, BECAUSE_KERNEL);
		return;
	}
	choose_use_file(c, ACCESS_READ);
	if (mapped_map(c)) {
		choose_use_ofd(c, g->about.ofd, ACCESS_READ);
		return;
	}
	if (!choose_on_fd(c, WL_MMAP, g->about.ofd, ACCESS_READ))
		return;
	g->args[1] = choose_length(choose_arg(c, 1));
	g->args[2] = choose_arg(c, 2) & 7;
	/* Anywhere, and nothing is reserved for it. */
	g->args[3] = choose_arg(c, 3) & 3;
	g->args[4] = choose_arg(c, 5);
	c->figures.mapped += g->result >= 0 && !source_has_touches(c->source);
}

/* Descriptors. */

static u64 flags_of_open(const struct compiler *c)
{
	const struct tracefile_record *r = c->making.item->record;

	switch (c->making.call->effect) {
	case DOES_CREAT:
		return O_CREAT | O_WRONLY | O_TRUNC;
	case DOES_OPENAT2:
		return effect_open_how(&c->making.about, 0);
	default:
		return r->args[call_arg(c->making.call, 'o')];
	}
}

static u64 umask_of(struct compiler *c)
{
	u64 mask = *map_at(&c->umasks, c->making.about.thread->process->id);

	return mask ? mask - 1 : 022;
}

/* With what mode something is made. */
static u64 mode_of(struct compiler *c)
{
	int at = call_arg(c->making.call, 'm');
	u64 mode = at < 0 ? effect_open_how(&c->making.about, 1) : choose_arg(c, at);

	return mode & 07777 & ~umask_of(c);
}

/*
 * openat2() has refused the way that a path takes, as its caller had asked for. A replay's flags
 * would not: it would open, or make, what the original did not. False: it is not that.
 */
static bool open_refused(struct compiler *c)
{
	struct making *g = &c->making;
	u64 resolve = effect_open_how(&g->about, 2);
	bool within = resolve & (RESOLVE_BENEATH | RESOLVE_IN_ROOT);
	char text[NAMES_PATH_MAX], said[PATH_MAX];
	const char *dir = "", *path = g->first.text;

	if (g->call->effect != DOES_OPENAT2 || !resolve || !g->first.given ||
	    g->about.path_length >= sizeof(said))
		return false;
	if (g->result == -EAGAIN) { /* RESOLVE_CACHED */
		choose_none(c, BECAUSE_ORDER);
		return true;
	}
	if (g->result != -ELOOP && g->result != -EXDEV)
		return false;
	if (g->result == -EXDEV && !within) { /* RESOLVE_NO_XDEV: a replay has one file system */
		choose_none(c, BECAUSE_ELSEWHERE);
		return true;
	}
	if (within) {
		names_path(effect_start(&g->about, 'p').node, text, sizeof(text));
		dir = path_behind_root(c->root, text);
		memcpy(said, g->about.path, g->about.path_length);
		said[g->about.path_length] = 0;
		path = said;
	}
	if (!dir || !choose_on_path(c, WL_REFUSED, &g->first))
		return true;
	g->args[0] = texts_add(&c->output.texts, dir);
	g->args[1] = texts_add(&c->output.texts, path);
	g->args[2] = flags_of_open(c);
	g->args[3] = resolve;
	return true;
}

/* A device that a call has made, or that was there, is none in a replay: it asks no disk. */
static bool is_device(const struct compiler *c)
{
	struct tracefile_attr attr;
	s64 size;

	return c->making.result >= 0 &&
	       source_file(c->source, c->making.item->file, &attr, &size) && S_ISCHR(attr.mode);
}

static void open_file(struct compiler *c)
{
	struct making *g = &c->making;
	u64 flags = flags_of_open(c);
	bool writes = flags & (O_TRUNC | O_CREAT) && g->result >= 0;

	if (open_refused(c))
		return;
	if (is_device(c)) {
		choose_none(c, BECAUSE_KERNEL);
		return;
	}
	choose_use_file(c, writes ? ACCESS_WRITE : ACCESS_READ);
	if (pipe_open(c, flags) || !choose_on_path(c, WL_OPEN, &g->first))
		return;
	g->args[1] = flags;
	g->args[2] = mode_of(c);
	if (g->result >= 0 && g->about.ofd) {
		choose_use_ofd(c, g->about.ofd, ACCESS_STAGE);
		g->args[3] = slots_new(&c->slots, compiler_place(c), g->about.ofd);
		return;
	}
	/* Should it succeed here, there is a place for it. */
	slots_reserve(&c->slots);
	g->flags |= g->result >= 0 ? WL_NO_RESULT : 0;
}

static void close_file(struct compiler *c)
{
	struct making *g = &c->making;

	if (g->result == -EBADF) {
		choose_none(c, BECAUSE_KERNEL);
		return;
	}
	if (!g->last_close) {
		choose_on_fd(c, WL_CLOSE_ONE, g->about.ofd, ACCESS_READ);
		return;
	}
	/* Who opens a FIFO later does not find this end. */
	if (slots_is_pipe(&c->slots, g->about.ofd) &&
	    slots_fifo(&c->slots, slots_of(&c->slots, g->about.ofd)))
		choose_use_file(c, ACCESS_WRITE);
	/* It was the last one as others had returned, be it while this one was under way. */
	if (choose_on_fd(c, WL_CLOSE, g->about.ofd, ACCESS_STAGE))
		uses_on_return(&c->uses);
}

static void control(struct compiler *c)
{
	struct making *g = &c->making;

	switch (choose_arg(c, 1)) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		choose_on_fd(c, WL_DUP, g->about.ofd, ACCESS_READ);
		break;
	case F_SETPIPE_SZ:
		pipe_resize(c);
		break;
	case F_SETFL:
		if (slots_is_pipe(&c->slots, g->about.ofd))
			choose_none(c, BECAUSE_ORDER);
		else if (choose_on_fd(c, WL_FLAGS, g->about.ofd, ACCESS_READ))
			g->args[1] = choose_arg(c, 2) & (O_APPEND | O_DIRECT | O_NOATIME);
		break;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		choose_use_file(c, ACCESS_WRITE);
		choose_use_ofd(c, g->about.ofd, ACCESS_READ);
		choose_none(c, BECAUSE_ORDER);
		break;
	default:
		choose_use_ofd(c, g->about.ofd, ACCESS_READ);
		choose_none(c, BECAUSE_ORDER);
		break;
	}
}

/*
 * The list of a directory that was there is shorter in the replay, by names that no call has looked
 * at. So of calls that list it, all but the first and the one that comes to its end may get less.
 */
static void list_on(struct compiler *c, const struct ofd *ofd)
{
	struct making *g = &c->making;
	u64 *listed = map_at(&c->listed, ofd->id);

	if (g->result > 0 && *listed && ofd->node && tree_was_there(&c->tree, ofd->node))
		g->flags |= WL_NO_RESULT;
	*listed = g->result > 0;
}

static void on_descriptor(struct compiler *c)
{
	struct making *g = &c->making;
	const struct ofd *ofd = g->about.ofd;
	enum use_access file = ACCESS_READ, fd = ACCESS_READ;
	u8 op = WL_NONE;

	if (xattrs_choose(c))
		return;
	switch (choose_nr(c)) {
	case SYS_fstat:
		op = WL_FSTAT;
		break;
	case SYS_getdents:
	case SYS_getdents64:
		op = WL_GETDENTS;
		fd = ACCESS_WRITE;
		if (ofd && ofd->node)
			uses_add(&c->uses, USE_DIR, ACCESS_WRITE, (uintptr_t)ofd->node);
		break;
	case SYS_fchmod:
		op = WL_FCHMOD;
		file = ACCESS_WRITE;
		break;
	case SYS_fchown:
		op = WL_FCHOWN;
		file = ACCESS_WRITE;
		break;
	case SYS_fstatfs:
		op = WL_FSTATFS;
		break;
	case SYS_readahead:
		op = WL_READAHEAD;
		break;
	case SYS_fadvise64:
		op = WL_FADVISE;
		break;
	case SYS_sync_file_range:
		op = WL_SYNC_RANGE;
		break;
	}
	choose_use_file(c, file);
	if (op == WL_NONE || slots_is_pipe(&c->slots, ofd)) {
		choose_use_ofd(c, ofd, fd);
		choose_none(c, slots_of(&c->slots, ofd) == NO_SLOT ? BECAUSE_KERNEL
								   : BECAUSE_NOT_DONE);
		return;
	}
	if (!choose_on_fd(c, op, ofd, fd))
		return;
	memcpy(&g->args[1], &g->item->record->args[1], 4 * sizeof(u64));
	if (op == WL_GETDENTS) {
		g->args[1] = min_t(u64, choose_arg(c, 2), DIRENTS_MAX);
		list_on(c, ofd);
	} else if (op == WL_READAHEAD) {
		g->args[2] = choose_length(choose_arg(c, 2));
	}
}

/* Names. */

static u64 no_follow(const struct compiler *c)
{
	return !effect_follows(&c->making.about, 'p');
}

static void chown_name(struct compiler *c, unsigned int at)
{
	c->making.args[1] = (s64)(s32)choose_arg(c, at);
	c->making.args[2] = (s64)(s32)choose_arg(c, at + 1);
	c->making.args[3] = no_follow(c);
}

/* AT_EMPTY_PATH: it is about the descriptor. */
static void look_at_descriptor(struct compiler *c)
{
	struct making *g = &c->making;
	const struct ofd *ofd = g->about.ofd;

	choose_use_file(c, ACCESS_READ);
	switch (choose_nr(c)) {
	case SYS_newfstatat:
	case SYS_statx:
		choose_on_fd(c, WL_FSTAT, ofd, ACCESS_READ);
		break;
	case SYS_utimensat:
		choose_on_fd(c, WL_FUTIMES, ofd, ACCESS_READ);
		break;
	case SYS_fchownat:
		if (choose_on_fd(c, WL_FCHOWN, ofd, ACCESS_READ)) {
			g->args[1] = (s64)(s32)choose_arg(c, 2);
			g->args[2] = (s64)(s32)choose_arg(c, 3);
		}
		break;
	default:
		choose_use_ofd(c, ofd, ACCESS_READ);
		choose_none(c, BECAUSE_NOT_DONE);
		break;
	}
	if (slots_is_pipe(&c->slots, ofd))
		choose_none(c, BECAUSE_KERNEL);
}

static void look(struct compiler *c)
{
	struct making *g = &c->making;
	const struct named *p = &g->first;
	enum use_access file = ACCESS_WRITE;
	int mode = call_arg(g->call, 'm');

	if (xattrs_choose(c))
		return;
	if (!p->given) {
		/* futimens() is utimensat() with no path at all. */
		if (choose_nr(c) == SYS_utimensat)
			g->about.ofd = world_ofd(g->about.thread, choose_arg(c, 0));
		look_at_descriptor(c);
		return;
	}
	switch (choose_nr(c)) {
	case SYS_stat:
	case SYS_lstat:
	case SYS_newfstatat:
	case SYS_statx:
		file = ACCESS_READ;
		choose_on_path(c, WL_STAT, p);
		g->args[1] = no_follow(c);
		break;
	case SYS_access:
	case SYS_faccessat:
	case SYS_faccessat2:
		file = ACCESS_READ;
		choose_on_path(c, WL_ACCESS, p);
		g->args[1] = choose_arg(c, mode) & 7;
		g->args[2] = no_follow(c);
		break;
	case SYS_chmod:
	case SYS_fchmodat:
	case 452: /* fchmodat2 */
		choose_on_path(c, WL_CHMOD, p);
		g->args[1] = choose_arg(c, mode) & 07777;
		break;
	case SYS_chown:
	case SYS_lchown:
		choose_on_path(c, WL_CHOWN, p);
		chown_name(c, 1);
		break;
	case SYS_fchownat:
		choose_on_path(c, WL_CHOWN, p);
		chown_name(c, 2);
		break;
	case SYS_utime:
	case SYS_utimes:
	case SYS_futimesat:
	case SYS_utimensat:
		choose_on_path(c, WL_UTIMES, p);
		g->args[1] = no_follow(c);
		break;
	case SYS_statfs:
		file = ACCESS_READ;
		choose_on_path(c, WL_STATFS, p);
		break;
	default:
		file = ACCESS_READ;
		choose_none(c, p->kernel ? BECAUSE_KERNEL : BECAUSE_NOT_DONE);
		break;
	}
	choose_use_file(c, file);
}

/* /proc/self/fd/N as the first name of linkat(): a file that was made without one. */
static const struct ofd *linked_descriptor(const struct compiler *c)
{
	const char *start = "/proc/self/fd/";
	const struct named *p = &c->making.first;

	if (!p->given)
		return world_ofd(c->making.about.thread, choose_arg(c, 0));
	if (strncmp(p->text, start, strlen(start)))
		return NULL;
	return world_ofd(c->making.about.thread, strtoul(p->text + strlen(start), NULL, 10));
}

static void link_name(struct compiler *c)
{
	struct making *g = &c->making;
	const struct ofd *ofd = linked_descriptor(c);

	choose_use_file(c, ACCESS_WRITE);
	if (!g->second.given || g->second.kernel) {
		choose_none(c, BECAUSE_KERNEL);
		return;
	}
	if (ofd) {
		choose_on_fd(c, WL_LINK_FD, ofd, ACCESS_READ);
		g->args[1] = text(c, &g->second);
		return;
	}
	choose_on_path(c, WL_LINK, &g->first);
	g->args[1] = text(c, &g->second);
}

static void rename_name(struct compiler *c)
{
	struct making *g = &c->making;

	choose_use_file(c, ACCESS_READ);
	if (!g->second.given || g->second.kernel || !choose_on_path(c, WL_RENAME, &g->first)) {
		choose_none(c, BECAUSE_KERNEL);
		return;
	}
	g->args[1] = text(c, &g->second);
	g->args[2] = choose_nr(c) == SYS_renameat2 ? choose_arg(c, 4) & 7 : 0;
}

static void symlink_name(struct compiler *c)
{
	struct making *g = &c->making;
	char said[PATH_MAX], target[PATH_MAX];

	if (!g->second.given || g->second.kernel || !g->about.path ||
	    g->about.path_length >= sizeof(said)) {
		choose_none(c, BECAUSE_KERNEL);
		return;
	}
	memcpy(said, g->about.path, g->about.path_length);
	said[g->about.path_length] = 0;
	path_target(c->root, said, target, sizeof(target));
	g->op = WL_SYMLINK;
	g->args[0] = texts_add(&c->output.texts, target);
	g->args[1] = text(c, &g->second);
	choose_use_file(c, ACCESS_STAGE);
}

/* There is no socket in a replay; its name is made as bind makes it. */
static void bind_name(struct compiler *c)
{
	struct making *g = &c->making;

	if (!g->first.given || g->result < 0) {
		choose_none(c, BECAUSE_KERNEL);
		return;
	}
	choose_use_file(c, ACCESS_STAGE);
	if (choose_on_path(c, WL_MKNOD, &g->first))
		g->args[1] = S_IFSOCK | (0777 & ~umask_of(c));
}

/*
 * A program that is there and was not executed all the same: its arguments are too long, or it is
 * no program. A replay only looks whether it is there.
 */
static bool exec_has_found(const struct compiler *c)
{
	return c->making.result == -E2BIG || c->making.result == -ENOEXEC;
}

static void choose_name(struct compiler *c)
{
	struct making *g = &c->making;
	bool removes;

	switch (g->call->effect) {
	case DOES_RENAME:
		rename_name(c);
		break;
	case DOES_LINK:
		link_name(c);
		break;
	case DOES_SYMLINK:
		symlink_name(c);
		break;
	case DOES_READLINK:
		choose_use_file(c, ACCESS_READ);
		if (choose_on_path(c, WL_READLINK, &g->first))
			g->args[1] = min_t(u64, choose_arg(c, call_arg(g->call, 'u')), PATH_MAX);
		break;
	case DOES_UNLINK:
		choose_use_file(c, ACCESS_WRITE);
		removes = call_removes_directory(g->call, choose_nr(c), g->item->record->args);
		choose_on_path(c, removes ? WL_RMDIR : WL_UNLINK, &g->first);
		break;
	case DOES_RMDIR:
		choose_on_path(c, WL_RMDIR, &g->first);
		break;
	case DOES_MKDIR:
		choose_use_file(c, ACCESS_STAGE);
		choose_on_path(c, WL_MKDIR, &g->first);
		g->args[1] = mode_of(c);
		break;
	case DOES_BIND:
		bind_name(c);
		break;
	case DOES_MKNOD:
		choose_use_file(c, ACCESS_STAGE);
		choose_on_path(c, WL_MKNOD, &g->first);
		g->args[1] = mode_of(c) | (choose_arg(c, call_arg(g->call, 'm')) & S_IFMT);
		break;
	case DOES_TRUNCATE:
		choose_use_file(c, ACCESS_WRITE);
		choose_on_path(c, WL_TRUNCATE, &g->first);
		g->args[1] = choose_arg(c, 1);
		break;
	case DOES_CHDIR:
	case DOES_CHROOT:
		choose_on_path(c, WL_CHDIR, &g->first);
		break;
	case DOES_EXEC:
		choose_use_file(c, ACCESS_READ);
		choose_on_path(c, WL_EXEC, &g->first);
		g->flags |= exec_has_found(c) ? WL_NO_RESULT : 0;
		break;
	default:
		break;
	}
}

/* The rest. */

static void sync_file(struct compiler *c, u8 op)
{
	choose_use_file(c, ACCESS_READ);
	if (slots_is_pipe(&c->slots, c->making.about.ofd))
		choose_none(c, BECAUSE_KERNEL);
	else
		choose_on_fd(c, op, c->making.about.ofd, ACCESS_READ);
}

static void choose_data(struct compiler *c)
{
	struct making *g = &c->making;

	switch (g->call->effect) {
	case DOES_FSYNC:
		sync_file(c, choose_nr(c) == SYS_fsync ? WL_FSYNC : WL_FDATASYNC);
		break;
	case DOES_SYNCALL:
		if (choose_nr(c) == SYS_sync)
			g->op = WL_SYNC;
		else
			sync_file(c, WL_SYNCFS);
		break;
	case DOES_FTRUNCATE:
		choose_use_file(c, ACCESS_WRITE);
		choose_on_fd(c, WL_FTRUNCATE, g->about.ofd, ACCESS_READ);
		g->args[1] = choose_arg(c, 1);
		break;
	case DOES_FALLOCATE:
		choose_use_file(c, ACCESS_WRITE);
		if (choose_on_fd(c, WL_FALLOCATE, g->about.ofd, ACCESS_READ))
			memcpy(&g->args[1], &g->item->record->args[1], 3 * sizeof(u64));
		break;
	case DOES_FCHDIR:
		choose_on_fd(c, WL_FSTAT, g->about.ofd, ACCESS_READ);
		break;
	default:
		break;
	}
}

static void wait_for(struct compiler *c)
{
	const u64 *args = c->making.item->record->args;
	s64 child = source_waited_for(c->source, choose_nr(c), args, c->making.result);

	choose_none(c, BECAUSE_ORDER);
	if (child <= 0)
		return;
	uses_add(&c->uses, USE_PROCESS, ACCESS_READ, child);
	uses_on_return(&c->uses);
}

/*
 * The kernel wakes who joins a thread, when that is gone, and no call of the trace does. The C
 * library's join waits while the futex has the thread's number.
 */
static void choose_futex(struct compiler *c, u64 key)
{
	u64 joined = *map_at(&c->threads, choose_arg(c, 2) & U32_MAX);
	bool wake = (choose_arg(c, 1) & 0x7f) == 1 || (choose_arg(c, 1) & 0x7f) == 10;
	u32 waker;

	choose_none(c, BECAUSE_ORDER);
	c->figures.futexes++;
	if (!wake)
		c->making.futex = key;
	if (c->making.result == -ETIMEDOUT)
		c->making.op = WL_WAIT;
	if (c->making.result < 0)
		return;
	if (wake) {
		uses_add(&c->uses, USE_WAKE, ACCESS_STAGE, key);
		return;
	}
	uses_add(&c->uses, USE_WAKE, ACCESS_READ, key);
	uses_on_return(&c->uses);
	waker = source_waker(c->source, choose_arg(c, 0));
	if (joined)
		uses_add(&c->uses, USE_JOINED, ACCESS_READ, joined - 1);
	if (waker)
		uses_add(&c->uses, USE_JOINED, ACCESS_READ, c->place[waker]);
}

/* A futex or a context of AIO, which is an address of the process. */
static u64 choose_address(const struct compiler *c, u64 address)
{
	return c->making.about.thread->process->id * 0x100000001b3ull ^ address;
}

static void choose_other(struct compiler *c)
{
	struct making *g = &c->making;
	u64 key = choose_address(c, choose_arg(c, 0)), made;
	const void *context;

	choose_none(c, BECAUSE_NOT_DONE);
	switch (choose_nr(c)) {
	case SYS_futex:
		choose_futex(c, key);
		break;
	case SYS_io_setup:
		choose_none(c, BECAUSE_ORDER);
		context = tracefile_find(g->item->record, TRACEFILE_CONTEXT, sizeof(made), NULL);
		if (!context)
			break;
		memcpy(&made, context, sizeof(made));
		uses_add(&c->uses, USE_AIO, ACCESS_STAGE, choose_address(c, made));
		break;
	case SYS_io_destroy:
		choose_none(c, BECAUSE_ORDER);
		uses_add(&c->uses, USE_AIO, ACCESS_STAGE, key);
		break;
	case SYS_io_submit:
	case SYS_io_cancel:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
		choose_none(c, BECAUSE_ORDER);
		/* It waits for that many. */
		if (choose_nr(c) != SYS_io_submit && choose_nr(c) != SYS_io_cancel &&
		    (s64)choose_arg(c, 1) > 0)
			submitted_use_seen(&c->submitted, &c->uses);
		uses_add(&c->uses, USE_AIO, ACCESS_WRITE, key);
		break;
	case SYS_io_uring_enter:
		choose_none(c, BECAUSE_ORDER);
		if (choose_arg(c, 2)) /* it waits for that many */
			submitted_use_seen(&c->submitted, &c->uses);
		break;
	case SYS_tee:
		pipe_tee(c);
		break;
	case SYS_shutdown:
		pipe_shutdown(c);
		break;
	case SYS_umask:
		choose_none(c, BECAUSE_ORDER);
		*map_at(&c->umasks, g->about.thread->process->id) = (choose_arg(c, 0) & 0777) + 1;
		break;
	case SYS_msync:
	case SYS_madvise:
		if (!mapped_call(c))
			choose_none(c, BECAUSE_ORDER);
		break;
	case SYS_getcwd: /* the kernel knows these without a disk */
	case SYS_setpgid:
	case SYS_setsid:
		choose_none(c, BECAUSE_ORDER);
		break;
	case SYS_flock:
		choose_none(c, BECAUSE_ORDER);
		choose_use_file(c, ACCESS_WRITE);
		break;
	default:
		if (g->call->class != CALL_FILES)
			choose_none(c, BECAUSE_ORDER);
		else if (g->call->args[0] == 'f' && slots_of(&c->slots, g->about.ofd) == NO_SLOT)
			choose_none(c, BECAUSE_KERNEL);
		break;
	}
}

void choose(struct compiler *c)
{
	struct making *g = &c->making;

	switch (g->call->effect) {
	case DOES_READ:
	case DOES_PREAD:
		choose_transfer(c, false);
		break;
	case DOES_WRITE:
	case DOES_PWRITE:
		choose_transfer(c, true);
		break;
	case DOES_RECVMMSG:
	case DOES_SENDMMSG:
		pipe_messages(c, g->call->effect == DOES_SENDMMSG);
		break;
	case DOES_SEEK:
		seek(c);
		break;
	case DOES_SENDFILE:
	case DOES_COPY:
	case DOES_SPLICE:
		pipe_move(c);
		break;
	case DOES_MMAP:
		map(c);
		break;
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
		open_file(c);
		break;
	case DOES_SOCKET:
		choose_none(c, BECAUSE_KERNEL);
		break;
	case DOES_PAIR:
	case DOES_PAIR4:
		pipe_make(c);
		break;
	case DOES_CLOSE:
		close_file(c);
		break;
	case DOES_DUP:
	case DOES_DUP2:
		choose_on_fd(c, WL_DUP, g->about.ofd, ACCESS_READ);
		break;
	case DOES_FCNTL:
		control(c);
		break;
	case DOES_FDESC:
		on_descriptor(c);
		break;
	case DOES_LOOK ... DOES_STATX:
		look(c);
		break;
	case DOES_RENAME ... DOES_MKNOD:
	case DOES_TRUNCATE:
	case DOES_CHDIR:
	case DOES_EXEC:
		choose_name(c);
		break;
	case DOES_CHROOT:
		if (strchr(g->call->args, 'p'))
			choose_name(c);
		else
			choose_on_fd(c, WL_FSTAT, g->about.ofd, ACCESS_READ);
		break;
	case DOES_FSYNC:
	case DOES_SYNCALL:
	case DOES_FTRUNCATE:
	case DOES_FALLOCATE:
	case DOES_FCHDIR:
		choose_data(c);
		break;
	case DOES_WAIT:
		wait_for(c);
		break;
	case DOES_CLOSERANGE:
	case DOES_FORK ... DOES_CLONE3:
	case DOES_EXIT:
	case DOES_UNSHARE:
		choose_none(c, BECAUSE_ORDER);
		break;
	case DOES_IOCTL:
		if (asks_no_disk(c))
			choose_none(c, BECAUSE_KERNEL);
		else
			choose_other(c);
		break;
	case DOES_NONE:
	default:
		choose_other(c);
		break;
	}
}
