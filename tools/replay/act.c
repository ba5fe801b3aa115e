// SPDX-License-Identifier: GPL-2.0
#include "act.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "beneath.h"
#include "touch.h"

#define VECTOR 1024
#define PAGE 4096

static s64 result_of(s64 result)
{
	return result < 0 ? -errno : result;
}

static int fd_of(const struct stage *s, const struct wl_command *c, unsigned int at)
{
	return descriptors_fd(s->descriptors, c->args[at]);
}

static const char *path_of(const struct stage *s, const struct wl_command *c, unsigned int at)
{
	return s->workload->text + c->args[at];
}

/* Directories in which a thread asks for one name after another: they stay open. */

/* The directory that a name is in; -ELOOP: the whole path has to be asked for. Or -errno. */
static int parent_again(const struct stage *s, const char *path, char *name)
{
	static _Thread_local struct beneath_dirs dirs;

	return beneath_parent_again(&dirs, s->directories,
				    __atomic_load_n(s->changes, __ATOMIC_ACQUIRE), s->root, path,
				    name);
}

static int open_beneath(const struct stage *s, const char *path, u64 flags, u64 mode)
{
	char name[NAME_MAX + 1];
	int fd = parent_again(s, path, name);

	if (fd >= 0)
		fd = beneath_child(fd, name, flags, mode);
	return fd == -ELOOP ? beneath_open(s->root, path, flags, mode) : fd;
}

/* Descriptors. */

/* A device, or a FIFO that nobody made here, is not the trace's business. */
static s64 act_opened(const struct stage *s, const struct wl_command *c, int fd)
{
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
		close(fd);
		return -ENXIO;
	}
	if (c->result < 0 && !(c->flags & WL_NO_RESULT)) {
		close(fd); /* the original has no descriptor, so nobody closes it */
		return 0;
	}
	descriptors_put(s->descriptors, c->args[3], fd);
	return 0;
}

static s64 act_open(const struct stage *s, const struct wl_command *c)
{
	u64 flags = c->args[1] &
		    (O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND | O_DIRECT | O_DIRECTORY |
		     O_NOFOLLOW | O_NOATIME | O_PATH | O_SYNC | O_DSYNC | O_TMPFILE | O_LARGEFILE);

	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW;
	else
		flags |= O_NONBLOCK | O_NOCTTY;
	return act_opened(s, c, open_beneath(s, path_of(s, c, 0), flags, c->args[2] & 07777));
}

/* What the original was not let do, by its own flags. Should it succeed, nobody closes it. */
static s64 act_refused(const struct stage *s, const struct wl_command *c)
{
	u64 flags = c->args[2] & (O_CREAT | O_EXCL | O_DIRECTORY | O_NOFOLLOW | O_PATH | O_ACCMODE);
	int fd;

	flags |= flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY;
	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW;
	fd = beneath_resolve(s->root, path_of(s, c, 0), path_of(s, c, 1), flags, c->args[3]);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Closes a copy: the file system is told. The description stays until the last one lets go. */
static s64 act_close_one(const struct stage *s, const struct wl_command *c)
{
	int copy = fcntl(fd_of(s, c, 0), F_DUPFD_CLOEXEC, 0);
	s64 result = copy < 0 ? -errno : result_of(close(copy));

	descriptors_leave(s->descriptors, c->args[0]);
	return result;
}

static s64 act_close(const struct stage *s, const struct wl_command *c)
{
	switch (c->op) {
	case WL_CLOSE:
		return descriptors_close(s->descriptors, c->args[0], c->args[1]);
	case WL_CLOSE_ONE:
		return act_close_one(s, c);
	default: /* WL_LEAVE */
		descriptors_leave(s->descriptors, c->args[0]);
		return 0;
	}
}

static s64 act_pair(const struct stage *s, const struct wl_command *c)
{
	bool pair = c->op == WL_PAIR;
	int fds[2], i;
	int failed =
		pair ? socketpair(AF_UNIX, c->args[2] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds)
		     : pipe2(fds, O_CLOEXEC | O_NONBLOCK);

	if (failed)
		return -errno;
	for (i = 0; i < 2; i++)
		descriptors_put_end(s->descriptors, c->args[i], fds[i], c->args[0],
				    pair ? O_RDWR : i ? O_WRONLY : O_RDONLY);
	return 0;
}

/* A new description of what another is of. */
static s64 act_reopen(const struct stage *s, const struct wl_command *c)
{
	const struct descriptor *of = &s->descriptors->slot[c->args[0]];
	u64 flags = c->args[1] & (O_ACCMODE | O_TRUNC | O_APPEND | O_DIRECT | O_NOATIME | O_SYNC);
	char way[BENEATH_WAY];
	int fd;

	beneath_way(of->fd, way);
	fd = open(way, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (of->pipe)
		descriptors_put_end(s->descriptors, c->args[2], fd, of->pipe - 1, flags);
	else
		descriptors_put(s->descriptors, c->args[2], fd);
	return 0;
}

/*
 * It waits for the other side as the original's did, but not in the kernel: nobody could see that
 * it waits. Who writes may open it to read, too: then the kernel lets it in at any time.
 */
static s64 act_open_fifo(const struct stage *s, const struct wl_command *c)
{
	bool reads = (c->args[1] & O_ACCMODE) == O_RDONLY;
	int fd = open_beneath(s, path_of(s, c, 0), (reads ? O_RDONLY : O_RDWR) | O_NONBLOCK, 0);
	struct wait wait = { .kind = WAIT_CHANGED, .event = c->event, .op = c->op };
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode)) {
		close(fd);
		return -ENXIO;
	}
	wait.word = descriptors_open_fifo(s->descriptors, c->args[3], fd, c->args[2], c->args[1],
					  &wait.value);
	return !wait.word || waiting_until(s->waiting, &wait) ? 0 : -ETIMEDOUT;
}

static s64 act_pipe_end(const struct stage *s, const struct wl_command *c)
{
	switch (c->op) {
	case WL_REOPEN:
		return act_reopen(s, c);
	case WL_OPEN_FIFO:
		return act_open_fifo(s, c);
	case WL_SHUTDOWN:
		return result_of(shutdown(fd_of(s, c, 0), SHUT_WR));
	default: /* WL_RESIZE */
		return result_of(fcntl(fd_of(s, c, 0), F_SETPIPE_SZ, (int)c->args[1]));
	}
}

/* Reading and writing. */

static s64 vector(const struct stage *s, const struct wl_command *c, void *buffer, u64 left,
		  s64 offset, bool write)
{
	struct iovec pieces[VECTOR];
	int fd = fd_of(s, c, 0), n = 0;

	if (left <= CHUNK && offset >= 0)
		return write ? pwrite(fd, buffer, left, offset) : pread(fd, buffer, left, offset);
	if (left <= CHUNK)
		return write ? syscall(SYS_write, fd, buffer, left)
			     : syscall(SYS_read, fd, buffer, left);
	for (; left && n < VECTOR; n++) {
		pieces[n] = (struct iovec){ buffer, min_t(u64, left, CHUNK) };
		left -= pieces[n].iov_len;
	}
	if (offset >= 0)
		return write ? pwritev(fd, pieces, n, offset) : preadv(fd, pieces, n, offset);
	return write ? writev(fd, pieces, n) : readv(fd, pieces, n);
}

static s64 act_transfer(const struct stage *s, const struct wl_command *c, void *buffer, bool write)
{
	bool positioned = c->op == WL_PREAD || c->op == WL_PWRITE;
	s64 offset = positioned ? (s64)c->args[2] : -1, n, moved = 0;
	u64 left = c->args[1], asked;

	if (positioned && offset < 0)
		return -EINVAL;
	do {
		asked = min_t(u64, left, (u64)VECTOR * CHUNK);
		n = vector(s, c, buffer, asked, positioned ? offset + moved : -1, write);
		if (n < 0)
			return moved ?: -errno;
		moved += n;
		left -= n;
	} while (left && n == asked);
	return moved;
}

static bool is_read(const struct wl_command *c)
{
	return c->op == WL_READ || c->op == WL_PREAD || (c->op == WL_TOUCH && !c->args[3]);
}

bool act_makes(const struct stage *s, const struct wl_command *c)
{
	/* No page that was only found to be there is known to have asked the disk, or not to. */
	if (is_read(c) && s->reads != READS_CURRENT)
		return s->reads == READS_ORIGINAL && !(c->flags & WL_CACHED);
	return wl_is_call(c->op);
}

/* What was not in the original's page cache is not to be in this one. */
static void forget_pages(const struct stage *s, const struct wl_command *c)
{
	int fd = fd_of(s, c, 0);
	s64 from = c->op == WL_PREAD ? (s64)c->args[2] : lseek(fd, 0, SEEK_CUR);
	s64 within = from < 0 ? 0 : from % PAGE;

	if (from >= 0)
		posix_fadvise(fd, from - within, (c->args[1] + within + PAGE - 1) / PAGE * PAGE,
			      POSIX_FADV_DONTNEED);
}

static s64 act_read(const struct stage *s, const struct wl_command *c, void *scratch)
{
	if (act_makes(s, c)) {
		if (s->reads == READS_ORIGINAL)
			forget_pages(s, c);
		return act_transfer(s, c, scratch, false);
	}
	if (c->op == WL_READ && c->result > 0)
		lseek(fd_of(s, c, 0), c->result, SEEK_CUR);
	return c->result;
}

static s64 act_write(const struct stage *s, const struct wl_command *c)
{
	s64 n = act_transfer(s, c, (void *)s->pattern, true);

	if (n > 0 && s->syncs == SYNCS_EACH && fdatasync(fd_of(s, c, 0)))
		return -errno;
	return n;
}

/* A pipe's end: until all is through. */
static s64 act_pipe(const struct stage *s, const struct wl_command *c, void *scratch)
{
	bool write = c->op == WL_FILL;
	struct wait wait = {
		.kind = WAIT_PIPE,
		.event = c->event,
		.op = c->op,
		.fd = fd_of(s, c, 0),
		.events = write ? POLLOUT : POLLIN,
	};
	u64 left = c->args[1];
	s64 n;

	while (left) {
		u64 bytes = min_t(u64, left, CHUNK);

		n = write ? syscall(SYS_write, wait.fd, s->pattern, bytes)
			  : syscall(SYS_read, wait.fd, scratch, bytes);
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (!n)
			break;
		if (n > 0)
			left -= n;
		else if (!waiting_until(s->waiting, &wait))
			return -ETIMEDOUT;
	}
	return c->args[1] - left;
}

static s64 act_sync(const struct stage *s, const struct wl_command *c)
{
	int fd;

	if (s->syncs == SYNCS_NONE)
		return 0;
	fd = c->op == WL_SYNC ? s->root : fd_of(s, c, 0); /* not all file systems: the target's */
	switch (c->op) {
	case WL_FSYNC:
		return result_of(fsync(fd));
	case WL_FDATASYNC:
		return result_of(fdatasync(fd));
	case WL_SYNC_RANGE:
		return result_of(sync_file_range(fd, c->args[1], c->args[2], c->args[3]));
	default:
		return result_of(syncfs(fd));
	}
}

static s64 act_map(const struct stage *s, const struct wl_command *c)
{
	void *at =
		mmap(NULL, c->args[1], c->args[2] & 7, c->args[3] & 3, fd_of(s, c, 0), c->args[4]);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, c->args[1]);
	return 0;
}

/* A planted bug. Only in a program built to be found out. */
static bool forgets_touches(void)
{
#ifdef REPLAY_PLANT
	return getenv("REPLAY_PLANT_TOUCH");
#else
	return false;
#endif
}

static s64 act_mapping(const struct stage *s, const struct wl_command *c)
{
	struct mapping *m = &s->mapping[c->args[c->op == WL_MAP ? 4 : 0]];
	bool again = s->reads == READS_ORIGINAL && !(c->flags & WL_WITHIN);
	s64 n;

	switch (c->op) {
	case WL_MAP:
		return mapping_make(m, fd_of(s, c, 0), c->args[1], c->args[2], c->args[3],
				    s->reads == READS_ORIGINAL);
	case WL_UNMAP:
		return mapping_end(m);
	case WL_ADVISE:
		return mapping_advise(m, c->args[1], c->args[2], c->args[3]);
	case WL_MSYNC:
		return s->syncs == SYNCS_NONE ?
			       0 :
			       mapping_sync(m, c->args[1], c->args[2], c->args[3]);
	default: /* WL_TOUCH */
		if (!act_makes(s, c))
			return c->result;
		if (forgets_touches())
			return 0;
		n = mapping_touch(m, c->args[1], c->args[2], c->args[3], again);
		if (n > 0 && c->args[3] && s->syncs == SYNCS_EACH)
			mapping_sync(m, c->args[1], n, MS_SYNC);
		return n;
	}
}

static s64 act_move(const struct stage *s, const struct wl_command *c)
{
	off_t in = c->args[2], out = c->args[3];
	s64 n;

	if (c->op == WL_SENDFILE) {
		n = sendfile(fd_of(s, c, 0), fd_of(s, c, 1), in == -1 ? NULL : &in, c->args[3]);
		return result_of(n);
	}
	n = copy_file_range(fd_of(s, c, 0), in == -1 ? NULL : &in, fd_of(s, c, 1),
			    out == -1 ? NULL : &out, c->args[4], 0);
	return result_of(n);
}

/* Extended attributes. */

/* The value that digits say; NULL: they say none. */
static u8 *xattr_value(const char *digits, size_t *length)
{
	size_t i;
	unsigned int byte;
	u8 *value;

	*length = strlen(digits) / 2;
	value = malloc(*length + 1);
	for (i = 0; value && i < *length; i++) {
		if (sscanf(digits + 2 * i, "%2x", &byte) != 1) {
			free(value);
			return NULL;
		}
		value[i] = byte;
	}
	return value;
}

/* Of an open file, or of what @way leads to. */
static s64 act_xattr(const struct stage *s, const struct wl_command *c, int fd, const char *way)
{
	const char *name = path_of(s, c, 1);
	size_t room = min_t(u64, c->args[2], XATTR_SIZE_MAX);
	u8 *value = NULL;
	s64 result;

	switch (c->op) {
	case WL_GETXATTR:
	case WL_FGETXATTR:
		value = malloc(room + 1);
		if (!value)
			return -ENOMEM;
		result = result_of(way ? getxattr(way, name, value, room) :
					 fgetxattr(fd, name, value, room));
		break;
	case WL_SETXATTR:
	case WL_FSETXATTR:
		value = xattr_value(path_of(s, c, 2), &room);
		if (!value)
			return -EINVAL;
		result = result_of(way ? setxattr(way, name, value, room, c->args[3] & 3) :
					 fsetxattr(fd, name, value, room, c->args[3] & 3));
		break;
	default: /* remove it */
		result = result_of(way ? removexattr(way, name) : fremovexattr(fd, name));
		break;
	}
	free(value);
	return result;
}

/* About the file that a name leads to. */

static s64 about(const struct stage *s, int fd, const struct wl_command *c)
{
	char way[BENEATH_WAY];
	struct statfs fs;
	struct stat st;

	beneath_way(fd, way);
	switch (c->op) {
	case WL_STAT:
		return result_of(fstat(fd, &st));
	case WL_ACCESS:
		return result_of(faccessat(AT_FDCWD, way, c->args[1], AT_EACCESS));
	case WL_STATFS:
		return result_of(fstatfs(fd, &fs));
	case WL_CHMOD:
		return result_of(chmod(way, c->args[1] & 07777));
	case WL_CHOWN:
		return result_of(fchownat(fd, "", c->args[1], c->args[2], AT_EMPTY_PATH));
	case WL_UTIMES:
		return result_of(utimensat(AT_FDCWD, way, NULL, 0));
	case WL_LISTXATTR:
		return result_of(listxattr(way, NULL, 0));
	case WL_GETXATTR:
	case WL_SETXATTR:
	case WL_REMOVEXATTR:
		return act_xattr(s, c, fd, way);
	default: /* is it there? */
		return 0;
	}
}

static bool no_follow(const struct wl_command *c)
{
	switch (c->op) {
	case WL_STAT:
	case WL_UTIMES:
	case WL_LISTXATTR:
		return c->args[1];
	case WL_ACCESS:
	case WL_REMOVEXATTR:
		return c->args[2];
	case WL_CHOWN:
	case WL_GETXATTR:
		return c->args[3];
	case WL_SETXATTR:
		return c->args[4];
	default:
		return false;
	}
}

/*
 * Is it there? In a directory that is open this is one call. -ELOOP: it is a symbolic link, or
 * another file system's, so it has to be opened.
 */
static s64 look_at(const struct stage *s, const struct wl_command *c)
{
	char name[NAME_MAX + 1];
	int dir = parent_again(s, path_of(s, c, 0), name);
	struct stat st;

	if (dir < 0)
		return dir;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	return (S_ISLNK(st.st_mode) && !no_follow(c)) || st.st_dev != s->device ? -ELOOP : 0;
}

static s64 act_about(const struct stage *s, const struct wl_command *c)
{
	u64 flags =
		O_PATH | (no_follow(c) ? O_NOFOLLOW : 0) | (c->op == WL_CHDIR ? O_DIRECTORY : 0);
	s64 result = c->op == WL_STAT || c->op == WL_EXEC ? look_at(s, c) : -ELOOP;
	int fd;

	if (result != -ELOOP)
		return result;
	fd = open_beneath(s, path_of(s, c, 0), flags, 0);
	if (fd < 0)
		return fd;
	result = about(s, fd, c);
	close(fd);
	return result;
}

static s64 act_truncate(const struct stage *s, const struct wl_command *c)
{
	int fd = open_beneath(s, path_of(s, c, 0), O_WRONLY | O_NONBLOCK, 0);
	s64 result;

	if (fd < 0)
		return fd;
	result = result_of(ftruncate(fd, c->args[1]));
	close(fd);
	return result;
}

/* Names. */

static s64 make_node(int dir, const char *name, u64 mode)
{
	/*
	 * A device of the trace would be a device here. A character device of no driver, which
	 * anybody may make (a whiteout), takes its place; a file that of a block device.
	 */
	if (S_ISBLK(mode))
		mode = S_IFREG | (mode & 07777);
	return mknodat(dir, name, mode, 0);
}

static s64 in_directory(const struct stage *s, const struct wl_command *c, int dir,
			const char *name)
{
	char target[PATH_MAX], way[BENEATH_WAY];

	switch (c->op) {
	case WL_MKDIR:
		return mkdirat(dir, name, c->args[1] & 07777);
	case WL_RMDIR:
		return unlinkat(dir, name, AT_REMOVEDIR);
	case WL_UNLINK:
		return unlinkat(dir, name, 0);
	case WL_SYMLINK:
		return symlinkat(path_of(s, c, 0), dir, name);
	case WL_MKNOD:
		return make_node(dir, name, c->args[1]);
	case WL_READLINK:
		return readlinkat(dir, name, target, min_t(u64, c->args[1], sizeof(target)));
	default: /* WL_LINK_FD */
		beneath_way(fd_of(s, c, 0), way);
		return linkat(AT_FDCWD, way, dir, name, AT_SYMLINK_FOLLOW);
	}
}

static s64 act_name(const struct stage *s, const struct wl_command *c)
{
	bool second = c->op == WL_SYMLINK || c->op == WL_LINK_FD;
	const char *path = path_of(s, c, second);
	char name[NAME_MAX + 1];
	int dir = parent_again(s, path, name);
	s64 result;

	if (dir >= 0)
		return result_of(in_directory(s, c, dir, name));
	if (dir != -ELOOP)
		return dir;
	dir = beneath_parent(s->root, path, name);
	if (dir == -EINVAL && (second || c->op == WL_MKDIR || c->op == WL_MKNOD))
		return -EEXIST; /* "." or "..", or the root */
	if (dir < 0)
		return dir;
	result = result_of(in_directory(s, c, dir, name));
	close(dir);
	return result;
}

/* May names lead elsewhere, or who may go there be somebody else? */
static bool changes_ways(const struct wl_command *c)
{
	return c->op == WL_RENAME || c->op == WL_CHMOD || c->op == WL_CHOWN ||
	       c->op == WL_FCHMOD || c->op == WL_FCHOWN;
}

static s64 act_two_names(const struct stage *s, const struct wl_command *c)
{
	char name[NAME_MAX + 1], other[NAME_MAX + 1];
	int dir = beneath_parent(s->root, path_of(s, c, 0), name), to;
	s64 result;

	if (dir < 0)
		return dir;
	to = beneath_parent(s->root, path_of(s, c, 1), other);
	if (to < 0)
		result = to;
	else if (c->op == WL_LINK)
		result = result_of(linkat(dir, name, to, other, 0));
	else
		result = result_of(syscall(SYS_renameat2, dir, name, to, other, c->args[2] & 7));
	if (to >= 0)
		close(to);
	close(dir);
	return result;
}

static s64 act_fd(const struct stage *s, const struct wl_command *c, void *scratch)
{
	int fd = fd_of(s, c, 0), copy;
	s64 n;
	struct statfs fs;
	struct stat st;

	switch (c->op) {
	case WL_DUP:
		copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		return copy < 0 ? -errno : result_of(close(copy));
	case WL_SEEK:
		return result_of(lseek(fd, c->args[1], c->args[2]));
	case WL_FTRUNCATE:
		return result_of(ftruncate(fd, c->args[1]));
	case WL_FALLOCATE:
		return result_of(fallocate(fd, c->args[1], c->args[2], c->args[3]));
	case WL_FADVISE:
		return -posix_fadvise(fd, c->args[1], c->args[2], c->args[3]);
	case WL_READAHEAD:
		return result_of(readahead(fd, c->args[1], c->args[2]));
	case WL_FSTAT:
		return result_of(fstat(fd, &st));
	case WL_FSTATFS:
		return result_of(fstatfs(fd, &fs));
	case WL_GETDENTS:
		n = syscall(SYS_getdents64, fd, scratch, min_t(u64, c->args[1], CHUNK));
		return result_of(n);
	case WL_FCHMOD:
		return result_of(fchmod(fd, c->args[1] & 07777));
	case WL_FCHOWN:
		return result_of(fchown(fd, c->args[1], c->args[2]));
	case WL_FUTIMES:
		return result_of(futimens(fd, NULL));
	case WL_FLISTXATTR:
		return result_of(flistxattr(fd, NULL, 0));
	case WL_FGETXATTR:
	case WL_FSETXATTR:
	case WL_FREMOVEXATTR:
		return act_xattr(s, c, fd, NULL);
	default: /* WL_FLAGS */
		n = c->args[1] & (O_APPEND | O_DIRECT | O_NOATIME);
		return result_of(fcntl(fd, F_SETFL, n));
	}
}

static s64 act_by_op(const struct stage *s, const struct wl_command *c, void *scratch)
{
	switch (c->op) {
	case WL_NONE:
	case WL_WAIT:
		return c->result;
	case WL_OPEN:
		return act_open(s, c);
	case WL_REFUSED:
		return act_refused(s, c);
	case WL_CLOSE:
	case WL_CLOSE_ONE:
	case WL_LEAVE:
		return act_close(s, c);
	case WL_READ:
	case WL_PREAD:
		return act_read(s, c, scratch);
	case WL_WRITE:
	case WL_PWRITE:
		return act_write(s, c);
	case WL_FSYNC:
	case WL_FDATASYNC:
	case WL_SYNC:
	case WL_SYNCFS:
	case WL_SYNC_RANGE:
		return act_sync(s, c);
	case WL_TRUNCATE:
		return act_truncate(s, c);
	case WL_STAT:
	case WL_ACCESS:
	case WL_STATFS:
	case WL_CHMOD:
	case WL_CHOWN:
	case WL_UTIMES:
	case WL_LISTXATTR:
	case WL_GETXATTR:
	case WL_SETXATTR:
	case WL_REMOVEXATTR:
	case WL_CHDIR:
	case WL_EXEC:
		return act_about(s, c);
	case WL_READLINK:
	case WL_MKDIR:
	case WL_RMDIR:
	case WL_UNLINK:
	case WL_SYMLINK:
	case WL_MKNOD:
	case WL_LINK_FD:
		return act_name(s, c);
	case WL_RENAME:
	case WL_LINK:
		return act_two_names(s, c);
	case WL_PIPE:
	case WL_PAIR:
		return act_pair(s, c);
	case WL_REOPEN:
	case WL_OPEN_FIFO:
	case WL_SHUTDOWN:
	case WL_RESIZE:
		return act_pipe_end(s, c);
	case WL_DRAIN:
	case WL_FILL:
		return act_pipe(s, c, scratch);
	case WL_MMAP:
		return act_map(s, c);
	case WL_MAP:
	case WL_UNMAP:
	case WL_TOUCH:
	case WL_MSYNC:
	case WL_ADVISE:
		return act_mapping(s, c);
	case WL_COPY:
	case WL_SENDFILE:
		return act_move(s, c);
	default:
		return act_fd(s, c, scratch);
	}
}

s64 act(const struct stage *s, const struct wl_command *c, void *scratch)
{
	s64 result = act_by_op(s, c, scratch);

	if (changes_ways(c) && result >= 0)
		__atomic_add_fetch(s->changes, 1, __ATOMIC_RELEASE);
	return result;
}
