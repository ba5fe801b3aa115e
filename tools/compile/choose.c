// SPDX-License-Identifier: GPL-2.0
/* Of each call the command that does it again, and the resources that it uses. */
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "making.h"

#define DIRENTS_MAX 0x100000u
#define SOCK_PAIR_TYPES (SOCK_CLOEXEC | SOCK_NONBLOCK)

static u64 choose_arg(const struct model *m, unsigned int i)
{
	return m->making.item->record->args[i];
}

static u32 nr(const struct model *m)
{
	return m->making.item->record->nr;
}

static void none(struct model *m, enum reason reason)
{
	m->making.op = WL_NONE;
	m->making.reason = reason;
}

static u64 length(u64 asked)
{
	return min_t(u64, asked, WL_LENGTH_MAX);
}

static u64 text(struct model *m, const struct named *named)
{
	return texts_add(&m->output.texts, named->text);
}

static void use_file(struct model *m, enum use_access access)
{
	if (m->making.about.file)
		model_use(m, USE_FILE, access, model_file_key(m->making.about.file));
}

static void use_ofd(struct model *m, const struct ofd *ofd, enum use_access access)
{
	if (ofd)
		model_use(m, USE_FD, access, ofd->id);
}

/* A command about a descriptor, if it is one that is replayed. */
static bool on_fd(struct model *m, u8 op, const struct ofd *ofd, enum use_access access)
{
	u32 slot = model_slot(m, ofd);

	use_ofd(m, ofd, access);
	if (slot == NO_SLOT) {
		none(m, BECAUSE_KERNEL);
		return false;
	}
	m->making.op = op;
	m->making.args[0] = slot;
	return true;
}

/* A command about a name. */
static bool on_path(struct model *m, u8 op, const struct named *named)
{
	if (!named->given || named->kernel) {
		none(m, named->given ? BECAUSE_KERNEL : BECAUSE_NOT_DONE);
		return false;
	}
	m->making.op = op;
	m->making.args[0] = text(m, named);
	return true;
}

/* Reading and writing. */

static u64 bytes_asked(const struct model *m, unsigned int at)
{
	u64 total;
	const void *blob = raw_find(m->making.item->record, RAW_TOTAL, sizeof(total), NULL);

	if (!blob)
		return choose_arg(m, at);
	memcpy(&total, blob, sizeof(total));
	return total;
}

/*
 * Of a pipe as much is taken as the original got. How much stands in it at a time is chance. The
 * end of it is a read of one byte that gets none.
 */
static void on_pipe(struct model *m, const struct ofd *ofd, bool write)
{
	struct making *g = &m->making;

	if (g->result < 0 || (write && !g->result)) {
		none(m, BECAUSE_ORDER);
		return;
	}
	on_fd(m, write ? WL_FILL : WL_DRAIN, ofd, ACCESS_READ);
	g->args[1] = length(g->result ?: 1);
}

static void choose_transfer(struct model *m, bool write)
{
	struct making *g = &m->making;
	const struct ofd *ofd = g->about.ofd;
	bool positioned = g->call->effect == DOES_PREAD || g->call->effect == DOES_PWRITE;

	if (nr(m) == SYS_preadv2 || nr(m) == SYS_pwritev2)
		positioned = choose_arg(m, 3) != U64_MAX;
	if (model_is_pipe(m, ofd)) {
		on_pipe(m, ofd, write);
		return;
	}
	use_file(m, write ? ACCESS_WRITE : ACCESS_DATA);
	if (!on_fd(m,
		   positioned ? (write ? WL_PWRITE : WL_PREAD)
		   : write    ? WL_WRITE
			      : WL_READ,
		   ofd, positioned ? ACCESS_DATA : ACCESS_WRITE))
		return;
	g->args[1] = length(bytes_asked(m, 2));
	g->args[2] = choose_arg(m, 3);
}

static void seek(struct model *m)
{
	if (!on_fd(m, WL_SEEK, m->making.about.ofd, ACCESS_WRITE))
		return;
	use_file(m, ACCESS_READ);
	m->making.args[1] = choose_arg(m, 1);
	m->making.args[2] = choose_arg(m, 2);
}

/* Between two descriptors. One that is no file is left out, or is the end of a pipe. */
static void choose_move(struct model *m)
{
	struct making *g = &m->making;
	bool sendfile = g->call->effect == DOES_SENDFILE;
	struct ofd *from = world_ofd(g->about.thread, choose_arg(m, sendfile ? 1 : 0));
	struct ofd *to = world_ofd(g->about.thread, choose_arg(m, sendfile ? 0 : 2));
	const u64 *given = raw_find(g->item->record, RAW_OFFSETS, 16, NULL);
	u64 offsets[2] = { U64_MAX, U64_MAX };
	bool in = model_slot(m, from) != NO_SLOT && !model_is_pipe(m, from);
	bool out = model_slot(m, to) != NO_SLOT && !model_is_pipe(m, to);

	if (given)
		memcpy(offsets, given, sizeof(offsets));
	if (from && from->file)
		model_use(m, USE_FILE, ACCESS_DATA, model_file_key(from->file));
	if (to && to->file)
		model_use(m, USE_FILE, ACCESS_WRITE, model_file_key(to->file));
	use_ofd(m, from, offsets[0] == U64_MAX ? ACCESS_WRITE : ACCESS_DATA);
	use_ofd(m, to, ACCESS_WRITE);
	if (in && out) {
		g->op = sendfile ? WL_SENDFILE : WL_COPY;
		g->args[0] = model_slot(m, sendfile ? to : from);
		g->args[1] = model_slot(m, sendfile ? from : to);
		g->args[2] = offsets[0];
		g->args[3] = sendfile ? length(choose_arg(m, 3)) : offsets[1];
		g->args[4] = length(choose_arg(m, 4));
		return;
	}
	if (in || out) {
		u64 offset = offsets[in ? 0 : 1];

		g->op = in		    ? (offset == U64_MAX ? WL_READ : WL_PREAD)
			: offset == U64_MAX ? WL_WRITE
					    : WL_PWRITE;
		g->args[0] = model_slot(m, in ? from : to);
		g->args[1] = length(g->result >= 0 ? g->result : choose_arg(m, sendfile ? 3 : 4));
		g->args[2] = offset;
	} else {
		none(m, BECAUSE_KERNEL);
	}
	if (g->result <= 0)
		return;
	if (model_is_pipe(m, to))
		g->other_op = WL_FILL, g->other_slot = model_slot(m, to);
	else if (model_is_pipe(m, from))
		g->other_op = WL_DRAIN, g->other_slot = model_slot(m, from);
	g->other_first = g->other_op == WL_DRAIN;
}

/* An ioctl of terminals (is it one?) and of descriptors, or one that the file's kind has not. */
static bool asks_no_disk(struct model *m)
{
	return (u8)(choose_arg(m, 1) >> 8) == 'T' || m->making.result == -ENOTTY;
}

static void map(struct model *m)
{
	struct making *g = &m->making;

	if ((s32)choose_arg(m, 4) < 0) {
		none(m, BECAUSE_KERNEL);
		return;
	}
	use_file(m, ACCESS_READ);
	if (mapped_map(m)) {
		use_ofd(m, g->about.ofd, ACCESS_READ);
		return;
	}
	if (!on_fd(m, WL_MMAP, g->about.ofd, ACCESS_READ))
		return;
	g->args[1] = length(choose_arg(m, 1));
	g->args[2] = choose_arg(m, 2) & 7;
	/* Anywhere, and nothing is reserved for it. */
	g->args[3] = choose_arg(m, 3) & 3;
	g->args[4] = choose_arg(m, 5);
	m->figures.mapped += g->result >= 0 && !source_has_touches(m->source);
}

/* Descriptors. */

static u64 flags_of_open(const struct model *m)
{
	const struct raw_record *r = m->making.item->record;
	const u64 *how;
	u64 flags = 0;

	switch (m->making.call->effect) {
	case DOES_CREAT:
		return O_CREAT | O_WRONLY | O_TRUNC;
	case DOES_OPENAT2:
		how = raw_find(r, RAW_HOW, 24, NULL);
		if (how)
			memcpy(&flags, how, sizeof(flags));
		return flags;
	default:
		return r->args[call_arg(m->making.call, 'o')];
	}
}

static u64 umask_of(struct model *m)
{
	u64 mask = *map_at(&m->umasks, m->making.about.thread->process->id);

	return mask ? mask - 1 : 022;
}

/* With what mode something is made. */
static u64 mode_of(struct model *m)
{
	int at = call_arg(m->making.call, 'm');
	const u64 *how = raw_find(m->making.item->record, RAW_HOW, 24, NULL);
	u64 mode = at < 0 ? 0 : choose_arg(m, at);

	if (how)
		memcpy(&mode, how + 1, sizeof(mode));
	return mode & 07777 & ~umask_of(m);
}

static void open_file(struct model *m)
{
	struct making *g = &m->making;
	u64 flags = flags_of_open(m);
	bool writes = flags & (O_TRUNC | O_CREAT) && g->result >= 0;

	use_file(m, writes ? ACCESS_WRITE : ACCESS_READ);
	if (!on_path(m, WL_OPEN, &g->first))
		return;
	g->args[1] = flags;
	g->args[2] = mode_of(m);
	if (g->result >= 0 && g->about.ofd) {
		use_ofd(m, g->about.ofd, ACCESS_STAGE);
		g->args[3] = model_new_slot(m, g->about.ofd, false);
		return;
	}
	/* Should it succeed here, there is a place for it. */
	if (!m->output.slots)
		m->output.slots = 1;
	g->flags |= g->result >= 0 ? WL_NO_RESULT : 0;
}

static void close_file(struct model *m)
{
	struct making *g = &m->making;

	if (g->result == -EBADF) {
		none(m, BECAUSE_KERNEL);
		return;
	}
	if (!g->last_close) {
		on_fd(m, WL_CLOSE_ONE, g->about.ofd, ACCESS_READ);
		return;
	}
	/* It was the last one as others had returned, be it while this one was under way. */
	if (on_fd(m, WL_CLOSE, g->about.ofd, ACCESS_STAGE))
		m->use[m->uses - 1].on_return = true;
}

static void make_pair(struct model *m)
{
	struct making *g = &m->making;
	const u32 *fds = raw_find(g->item->record, RAW_FDS, 8, NULL);
	unsigned int i;

	if (g->result < 0 || !fds || m->options.rules & RULE_ONE_THREAD) {
		none(m, BECAUSE_KERNEL);
		return;
	}
	g->op = g->call->effect == DOES_PAIR4 ? WL_PAIR : WL_PIPE;
	for (i = 0; i < 2; i++) {
		struct ofd *ofd = world_ofd(g->about.thread, fds[i]);

		if (!ofd || ofd->id <= g->ofd_before) {
			none(m, BECAUSE_NOT_DONE);
			return;
		}
		use_ofd(m, ofd, ACCESS_STAGE);
		g->args[i] = model_new_slot(m, ofd, true);
	}
}

static void control(struct model *m)
{
	struct making *g = &m->making;

	switch (choose_arg(m, 1)) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		on_fd(m, WL_DUP, g->about.ofd, ACCESS_READ);
		break;
	case F_SETFL:
		if (model_is_pipe(m, g->about.ofd))
			none(m, BECAUSE_ORDER);
		else if (on_fd(m, WL_FLAGS, g->about.ofd, ACCESS_READ))
			g->args[1] = choose_arg(m, 2) & (O_APPEND | O_DIRECT | O_NOATIME);
		break;
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		use_file(m, ACCESS_WRITE);
		use_ofd(m, g->about.ofd, ACCESS_READ);
		none(m, BECAUSE_ORDER);
		break;
	default:
		use_ofd(m, g->about.ofd, ACCESS_READ);
		none(m, BECAUSE_ORDER);
		break;
	}
}

static void on_descriptor(struct model *m)
{
	struct making *g = &m->making;
	const struct ofd *ofd = g->about.ofd;
	enum use_access file = ACCESS_READ, fd = ACCESS_READ;
	u8 op = WL_NONE;

	switch (nr(m)) {
	case SYS_fstat:
		op = WL_FSTAT;
		break;
	case SYS_getdents:
	case SYS_getdents64:
		op = WL_GETDENTS;
		fd = ACCESS_WRITE;
		if (ofd && ofd->node)
			model_use(m, USE_DIR, ACCESS_WRITE, (uintptr_t)ofd->node);
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
	case SYS_flistxattr:
		op = WL_FLISTXATTR;
		break;
	}
	use_file(m, file);
	if (op == WL_NONE || model_is_pipe(m, ofd)) {
		use_ofd(m, ofd, fd);
		none(m, model_slot(m, ofd) == NO_SLOT ? BECAUSE_KERNEL : BECAUSE_NOT_DONE);
		return;
	}
	if (!on_fd(m, op, ofd, fd))
		return;
	memcpy(&g->args[1], &g->item->record->args[1], 4 * sizeof(u64));
	if (op == WL_GETDENTS)
		g->args[1] = min_t(u64, choose_arg(m, 2), DIRENTS_MAX);
	else if (op == WL_READAHEAD)
		g->args[2] = length(choose_arg(m, 2));
}

/* Names. */

static u64 no_follow(const struct model *m)
{
	return !effect_follows(&m->making.about, 'p');
}

static void chown_name(struct model *m, unsigned int at)
{
	m->making.args[1] = (s64)(s32)choose_arg(m, at);
	m->making.args[2] = (s64)(s32)choose_arg(m, at + 1);
	m->making.args[3] = no_follow(m);
}

/* AT_EMPTY_PATH: it is about the descriptor. */
static void look_at_descriptor(struct model *m)
{
	struct making *g = &m->making;
	const struct ofd *ofd = g->about.ofd;

	use_file(m, ACCESS_READ);
	switch (nr(m)) {
	case SYS_newfstatat:
	case SYS_statx:
		on_fd(m, WL_FSTAT, ofd, ACCESS_READ);
		break;
	case SYS_utimensat:
		on_fd(m, WL_FUTIMES, ofd, ACCESS_READ);
		break;
	case SYS_fchownat:
		if (on_fd(m, WL_FCHOWN, ofd, ACCESS_READ)) {
			g->args[1] = (s64)(s32)choose_arg(m, 2);
			g->args[2] = (s64)(s32)choose_arg(m, 3);
		}
		break;
	default:
		use_ofd(m, ofd, ACCESS_READ);
		none(m, BECAUSE_NOT_DONE);
		break;
	}
	if (model_is_pipe(m, ofd))
		none(m, BECAUSE_KERNEL);
}

static void look(struct model *m)
{
	struct making *g = &m->making;
	const struct named *p = &g->first;
	enum use_access file = ACCESS_WRITE;
	int mode = call_arg(g->call, 'm');

	if (!p->given) {
		/* futimens() is utimensat() with no path at all. */
		if (nr(m) == SYS_utimensat)
			g->about.ofd = world_ofd(g->about.thread, choose_arg(m, 0));
		look_at_descriptor(m);
		return;
	}
	switch (nr(m)) {
	case SYS_stat:
	case SYS_lstat:
	case SYS_newfstatat:
	case SYS_statx:
		file = ACCESS_READ;
		on_path(m, WL_STAT, p);
		g->args[1] = no_follow(m);
		break;
	case SYS_access:
	case SYS_faccessat:
	case SYS_faccessat2:
		file = ACCESS_READ;
		on_path(m, WL_ACCESS, p);
		g->args[1] = choose_arg(m, mode) & 7;
		g->args[2] = no_follow(m);
		break;
	case SYS_chmod:
	case SYS_fchmodat:
	case 452: /* fchmodat2 */
		on_path(m, WL_CHMOD, p);
		g->args[1] = choose_arg(m, mode) & 07777;
		break;
	case SYS_chown:
	case SYS_lchown:
		on_path(m, WL_CHOWN, p);
		chown_name(m, 1);
		break;
	case SYS_fchownat:
		on_path(m, WL_CHOWN, p);
		chown_name(m, 2);
		break;
	case SYS_utime:
	case SYS_utimes:
	case SYS_futimesat:
	case SYS_utimensat:
		on_path(m, WL_UTIMES, p);
		g->args[1] = no_follow(m);
		break;
	case SYS_statfs:
		file = ACCESS_READ;
		on_path(m, WL_STATFS, p);
		break;
	case SYS_listxattr:
	case SYS_llistxattr:
		file = ACCESS_READ;
		on_path(m, WL_LISTXATTR, p);
		g->args[1] = nr(m) == SYS_llistxattr;
		break;
	default: /* of attributes nobody has recorded the name */
		file = ACCESS_READ;
		none(m, p->kernel ? BECAUSE_KERNEL : BECAUSE_NOT_DONE);
		break;
	}
	use_file(m, file);
}

/* /proc/self/fd/N as the first name of linkat(): a file that was made without one. */
static const struct ofd *linked_descriptor(const struct model *m)
{
	const char *start = "/proc/self/fd/";
	const struct named *p = &m->making.first;

	if (!p->given)
		return world_ofd(m->making.about.thread, choose_arg(m, 0));
	if (strncmp(p->text, start, strlen(start)))
		return NULL;
	return world_ofd(m->making.about.thread, strtoul(p->text + strlen(start), NULL, 10));
}

static void link_name(struct model *m)
{
	struct making *g = &m->making;
	const struct ofd *ofd = linked_descriptor(m);

	use_file(m, ACCESS_WRITE);
	if (!g->second.given || g->second.kernel) {
		none(m, BECAUSE_KERNEL);
		return;
	}
	if (ofd) {
		on_fd(m, WL_LINK_FD, ofd, ACCESS_READ);
		g->args[1] = text(m, &g->second);
		return;
	}
	on_path(m, WL_LINK, &g->first);
	g->args[1] = text(m, &g->second);
}

static void rename_name(struct model *m)
{
	struct making *g = &m->making;

	use_file(m, ACCESS_READ);
	if (!g->second.given || g->second.kernel || !on_path(m, WL_RENAME, &g->first)) {
		none(m, BECAUSE_KERNEL);
		return;
	}
	g->args[1] = text(m, &g->second);
	g->args[2] = nr(m) == SYS_renameat2 ? choose_arg(m, 4) & 7 : 0;
}

static void symlink_name(struct model *m)
{
	struct making *g = &m->making;
	char said[PATH_MAX], target[PATH_MAX];

	if (!g->second.given || g->second.kernel || !g->about.path ||
	    g->about.path_length >= sizeof(said)) {
		none(m, BECAUSE_KERNEL);
		return;
	}
	memcpy(said, g->about.path, g->about.path_length);
	said[g->about.path_length] = 0;
	model_target(m, said, target, sizeof(target));
	g->op = WL_SYMLINK;
	g->args[0] = texts_add(&m->output.texts, target);
	g->args[1] = text(m, &g->second);
	use_file(m, ACCESS_STAGE);
}

static void choose_name(struct model *m)
{
	struct making *g = &m->making;

	switch (g->call->effect) {
	case DOES_RENAME:
		rename_name(m);
		break;
	case DOES_LINK:
		link_name(m);
		break;
	case DOES_SYMLINK:
		symlink_name(m);
		break;
	case DOES_READLINK:
		use_file(m, ACCESS_READ);
		if (on_path(m, WL_READLINK, &g->first))
			g->args[1] = min_t(u64, choose_arg(m, call_arg(g->call, 'u')), PATH_MAX);
		break;
	case DOES_UNLINK:
		use_file(m, ACCESS_WRITE);
		on_path(m,
			nr(m) == SYS_unlinkat && choose_arg(m, 2) & AT_REMOVEDIR ? WL_RMDIR :
										   WL_UNLINK,
			&g->first);
		break;
	case DOES_RMDIR:
		on_path(m, WL_RMDIR, &g->first);
		break;
	case DOES_MKDIR:
		use_file(m, ACCESS_STAGE);
		on_path(m, WL_MKDIR, &g->first);
		g->args[1] = mode_of(m);
		break;
	case DOES_MKNOD:
		use_file(m, ACCESS_STAGE);
		on_path(m, WL_MKNOD, &g->first);
		g->args[1] = mode_of(m) | (choose_arg(m, call_arg(g->call, 'm')) & S_IFMT);
		break;
	case DOES_TRUNCATE:
		use_file(m, ACCESS_WRITE);
		on_path(m, WL_TRUNCATE, &g->first);
		g->args[1] = choose_arg(m, 1);
		break;
	case DOES_CHDIR:
		on_path(m, WL_CHDIR, &g->first);
		break;
	case DOES_EXEC:
		use_file(m, ACCESS_READ);
		on_path(m, WL_EXEC, &g->first);
		break;
	default:
		break;
	}
}

/* The rest. */

static void sync_file(struct model *m, u8 op)
{
	use_file(m, ACCESS_READ);
	if (model_is_pipe(m, m->making.about.ofd))
		none(m, BECAUSE_KERNEL);
	else
		on_fd(m, op, m->making.about.ofd, ACCESS_READ);
}

static void choose_data(struct model *m)
{
	struct making *g = &m->making;

	switch (g->call->effect) {
	case DOES_FSYNC:
		sync_file(m, nr(m) == SYS_fsync ? WL_FSYNC : WL_FDATASYNC);
		break;
	case DOES_SYNCALL:
		if (nr(m) == SYS_sync)
			g->op = WL_SYNC;
		else
			sync_file(m, WL_SYNCFS);
		break;
	case DOES_FTRUNCATE:
		use_file(m, ACCESS_WRITE);
		on_fd(m, WL_FTRUNCATE, g->about.ofd, ACCESS_READ);
		g->args[1] = choose_arg(m, 1);
		break;
	case DOES_FALLOCATE:
		use_file(m, ACCESS_WRITE);
		if (on_fd(m, WL_FALLOCATE, g->about.ofd, ACCESS_READ))
			memcpy(&g->args[1], &g->item->record->args[1], 3 * sizeof(u64));
		break;
	case DOES_FCHDIR:
		on_fd(m, WL_FSTAT, g->about.ofd, ACCESS_READ);
		break;
	default:
		break;
	}
}

static void wait_for(struct model *m)
{
	none(m, BECAUSE_ORDER);
	if (m->making.result <= 0)
		return;
	model_use(m, USE_PROCESS, ACCESS_READ, m->making.result);
	m->use[m->uses - 1].on_return = true;
}

/*
 * The kernel wakes who joins a thread, when that is gone, and no call of the trace does. The C
 * library's join waits while the futex has the thread's number.
 */
static void choose_futex(struct model *m, u64 key)
{
	u64 joined = *map_at(&m->threads, choose_arg(m, 2) & U32_MAX);
	bool wake = (choose_arg(m, 1) & 0x7f) == 1 || (choose_arg(m, 1) & 0x7f) == 10;
	u32 waker;

	none(m, BECAUSE_ORDER);
	m->figures.futexes++;
	if (!wake)
		m->making.futex = key;
	if (m->making.result == -ETIMEDOUT)
		m->making.op = WL_WAIT;
	if (m->making.result < 0)
		return;
	if (wake) {
		model_use(m, USE_WAKE, ACCESS_STAGE, key);
		return;
	}
	model_use(m, USE_WAKE, ACCESS_READ, key);
	m->use[m->uses - 1].on_return = true;
	waker = source_waker(m->source, choose_arg(m, 0));
	if (joined)
		model_use(m, USE_JOINED, ACCESS_READ, joined - 1);
	if (waker)
		model_use(m, USE_JOINED, ACCESS_READ, m->place[waker]);
}

/* A futex or a context of AIO, which is an address of the process. */
static u64 choose_address(const struct model *m, u64 address)
{
	return m->making.about.thread->process->id * 0x100000001b3ull ^ address;
}

static void choose_other(struct model *m)
{
	struct making *g = &m->making;
	u64 key = choose_address(m, choose_arg(m, 0)), made;
	const void *context;

	none(m, BECAUSE_NOT_DONE);
	switch (nr(m)) {
	case SYS_futex:
		choose_futex(m, key);
		break;
	case SYS_io_setup:
		none(m, BECAUSE_ORDER);
		context = raw_find(g->item->record, RAW_CONTEXT, sizeof(made), NULL);
		if (!context)
			break;
		memcpy(&made, context, sizeof(made));
		model_use(m, USE_AIO, ACCESS_STAGE, choose_address(m, made));
		break;
	case SYS_io_destroy:
		none(m, BECAUSE_ORDER);
		model_use(m, USE_AIO, ACCESS_STAGE, key);
		break;
	case SYS_io_submit:
	case SYS_io_cancel:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
		none(m, BECAUSE_ORDER);
		/* It waits for that many. */
		if (nr(m) != SYS_io_submit && nr(m) != SYS_io_cancel && (s64)choose_arg(m, 1) > 0)
			model_wait_for_seen(m);
		model_use(m, USE_AIO, ACCESS_WRITE, key);
		break;
	case SYS_io_uring_enter:
		none(m, BECAUSE_ORDER);
		if (choose_arg(m, 2)) /* it waits for that many */
			model_wait_for_seen(m);
		break;
	case SYS_umask:
		none(m, BECAUSE_ORDER);
		*map_at(&m->umasks, g->about.thread->process->id) = (choose_arg(m, 0) & 0777) + 1;
		break;
	case SYS_msync:
	case SYS_madvise:
		if (!mapped_call(m))
			none(m, BECAUSE_ORDER);
		break;
	case SYS_flock:
		none(m, BECAUSE_ORDER);
		use_file(m, ACCESS_WRITE);
		break;
	default:
		if (g->call->class != CALL_FILES)
			none(m, BECAUSE_ORDER);
		else if (g->call->args[0] == 'f' && model_slot(m, g->about.ofd) == NO_SLOT)
			none(m, BECAUSE_KERNEL);
		break;
	}
}

void choose(struct model *m)
{
	struct making *g = &m->making;

	switch (g->call->effect) {
	case DOES_READ:
	case DOES_PREAD:
		choose_transfer(m, false);
		break;
	case DOES_WRITE:
	case DOES_PWRITE:
		choose_transfer(m, true);
		break;
	case DOES_SEEK:
		seek(m);
		break;
	case DOES_SENDFILE:
	case DOES_COPY:
	case DOES_SPLICE:
		choose_move(m);
		break;
	case DOES_MMAP:
		map(m);
		break;
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
		open_file(m);
		break;
	case DOES_SOCKET:
		none(m, BECAUSE_KERNEL);
		break;
	case DOES_PAIR:
	case DOES_PAIR4:
		make_pair(m);
		break;
	case DOES_CLOSE:
		close_file(m);
		break;
	case DOES_DUP:
	case DOES_DUP2:
		on_fd(m, WL_DUP, g->about.ofd, ACCESS_READ);
		break;
	case DOES_FCNTL:
		control(m);
		break;
	case DOES_FDESC:
		on_descriptor(m);
		break;
	case DOES_LOOK ... DOES_STATX:
		look(m);
		break;
	case DOES_RENAME ... DOES_MKNOD:
	case DOES_TRUNCATE:
	case DOES_CHDIR:
	case DOES_EXEC:
		choose_name(m);
		break;
	case DOES_FSYNC:
	case DOES_SYNCALL:
	case DOES_FTRUNCATE:
	case DOES_FALLOCATE:
	case DOES_FCHDIR:
		choose_data(m);
		break;
	case DOES_WAIT:
		wait_for(m);
		break;
	case DOES_CLOSERANGE:
	case DOES_FORK ... DOES_CLONE3:
	case DOES_EXIT:
	case DOES_UNSHARE:
		none(m, BECAUSE_ORDER);
		break;
	case DOES_IOCTL:
		if (asks_no_disk(m))
			none(m, BECAUSE_KERNEL);
		else
			choose_other(m);
		break;
	case DOES_NONE:
	default:
		choose_other(m);
		break;
	}
}
