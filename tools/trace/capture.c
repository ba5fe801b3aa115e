// SPDX-License-Identifier: GPL-2.0
#include "capture.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../common/map.h"
#include "../common/vec.h"

#define ARGV_MAX 64 /* strings */
#define ARGV_BYTES 4096
#define IOVECS_MAX 1024 /* UIO_MAXIOV */
#define SAME_TRIED 64 /* descriptors that may be of one description */
#define NAME_LONG (PATH_MAX - 64) /* from there on */

static u64 ns_of_timespec(struct timespec t)
{
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void attr_of_stat(struct tracefile_attr *attr, const struct stat *st)
{
	*attr = (struct tracefile_attr){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = st->st_size,
		.mtime = ns_of_timespec(st->st_mtim),
		.atime = ns_of_timespec(st->st_atim),
		.mode = st->st_mode,
		.nlink = st->st_nlink,
	};
}

static void capture_look(struct task *task, enum tracefile_kind kind, const char *path, bool follow)
{
	struct tracefile_attr attr;
	struct stat st;

	if (follow ? stat(path, &st) : lstat(path, &st))
		return;
	attr_of_stat(&attr, &st);
	task_blob(task, kind, &attr, sizeof(attr));
}

static void capture_look_fd(struct task *task, enum tracefile_kind kind, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", task->tid, fd);
	capture_look(task, kind, path, true);
}

/* What there is of the record so far; a path has its end. NULL: no such blob. */
static const void *find_blob(const struct task *task, u16 kind)
{
	u32 at = 0;

	while (at < task->blobs_used) {
		const struct tracefile_blob *blob =
			(const struct tracefile_blob *)(task->blobs + at);

		if (blob->kind == kind)
			return blob + 1;
		at += sizeof(*blob) + ((blob->length + 3) & ~3u);
	}
	return NULL;
}

/* What its own process would find there, the tracer would not. */
static bool means_itself(const char *path)
{
	return !strncmp(path, "/proc/", 6) || !strncmp(path, "/dev/fd", 7) ||
	       !strncmp(path, "/dev/std", 8);
}

/* Has a process that is traced another root than the tracer, or may it have other mounts? */
static bool roots_differ;

static ssize_t link_of(pid_t tid, const char *what, char *text, size_t room)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", tid, what);
	n = readlink(link, text, room - 1);
	text[max_t(ssize_t, n, 0)] = 0;
	return n;
}

/*
 * Symbolic links lead from the task's root on, not from the tracer's. So the path is looked up with
 * that root: a relative one too, as far as its beginning lies below.
 */
static void look_below_root(struct task *task, enum tracefile_kind kind, int dirfd,
			    const char *path, bool follow)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW),
				.resolve = RESOLVE_IN_ROOT };
	char root[PATH_MAX], start[PATH_MAX], whole[2 * PATH_MAX], at[32];
	struct tracefile_attr attr;
	size_t length;
	struct stat st;
	int dir, fd;

	if (link_of(task->tid, "root", root, sizeof(root)) <= 0)
		return;
	snprintf(at, sizeof(at), dirfd == AT_FDCWD ? "cwd" : "fd/%d", dirfd);
	length = strcmp(root, "/") ? strlen(root) : 0;
	*start = 0;
	if (*path != '/' && (link_of(task->tid, at, start, sizeof(start)) <= 0 ||
			     strncmp(start, root, length) ||
			     (start[length] && start[length] != '/')))
		return; /* it is outside */
	snprintf(whole, sizeof(whole), "%s/%s", *start ? start + length : "", path);
	snprintf(at, sizeof(at), "/proc/%d/root", task->tid);
	dir = open(at, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	fd = syscall(SYS_openat2, dir, whole, &how, sizeof(how));
	close(dir);
	if (fd < 0)
		return;
	if (!fstat(fd, &st)) {
		attr_of_stat(&attr, &st);
		task_blob(task, kind, &attr, sizeof(attr));
	}
	close(fd);
}

/* Of a name that leaves no room for that of a directory in front of it. */
static void look_from(struct task *task, enum tracefile_kind kind, int dirfd, const char *path,
		      bool follow)
{
	struct tracefile_attr attr;
	char start[64];
	struct stat st;
	int dir;

	if (*path == '/')
		snprintf(start, sizeof(start), "/proc/%d/root", task->tid);
	else if (dirfd == AT_FDCWD)
		snprintf(start, sizeof(start), "/proc/%d/cwd", task->tid);
	else
		snprintf(start, sizeof(start), "/proc/%d/fd/%d", task->tid, dirfd);
	path += strspn(path, "/");
	dir = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	if (!fstatat(dir, path, &st, follow ? 0 : AT_SYMLINK_NOFOLLOW)) {
		attr_of_stat(&attr, &st);
		task_blob(task, kind, &attr, sizeof(attr));
	}
	close(dir);
}

/* The file that the path at letter @letter names. */
static void capture_look_path(struct task *task, const struct call *call, char letter,
			      enum tracefile_kind kind, bool follow)
{
	int at = call_arg(call, letter), dirfd = AT_FDCWD;
	const char *path = find_blob(task, letter == 'p' ? TRACEFILE_PATH : TRACEFILE_PATH2);
	char whole[PATH_MAX + 64];

	if (!path || means_itself(path))
		return;
	if (at > 0 && call->args[at - 1] == (letter == 'p' ? 'd' : 'D'))
		dirfd = task->call.args[at - 1];
	if (roots_differ && *path) {
		look_below_root(task, kind, dirfd, path, follow);
		return;
	}
	if (strlen(path) >= NAME_LONG) {
		look_from(task, kind, dirfd, path, follow);
		return;
	}
	if (!*path)
		snprintf(whole, sizeof(whole), "/proc/%d/fd/%d", task->tid, dirfd);
	else if (*path == '/')
		snprintf(whole, sizeof(whole), "/proc/%d/root%s", task->tid, path);
	else if (dirfd == AT_FDCWD)
		snprintf(whole, sizeof(whole), "/proc/%d/cwd/%s", task->tid, path);
	else
		snprintf(whole, sizeof(whole), "/proc/%d/fd/%d/%s", task->tid, dirfd, path);
	capture_look(task, kind, whole, follow || !*path);
}

/* Of a local socket that has one: not of other families, nor of the abstract ones of Linux. */
static void get_socket_name(struct task *task, u64 at, u64 length)
{
	struct sockaddr_un address = {};
	size_t head = offsetof(struct sockaddr_un, sun_path), got;

	got = peek_memory(task->tid, at, &address, min_t(u64, length, sizeof(address)));
	if (got <= head || address.sun_family != AF_UNIX || !*address.sun_path)
		return;
	got = strnlen(address.sun_path, got - head);
	if (got == sizeof(address.sun_path))
		return;
	address.sun_path[got] = 0;
	task_blob(task, TRACEFILE_PATH, address.sun_path, got + 1);
}

static void get_path(struct task *task, u64 at, enum tracefile_kind kind)
{
	char path[PATH_MAX];
	int length;

	if (!at) /* "the descriptor itself", or an error */
		return;
	length = peek_string(task->tid, at, path, sizeof(path));
	if (length >= 0)
		task_blob(task, kind, path, length + 1); /* with its end: find_blob() says so */
	else
		task->flags |= TRACEFILE_BAD_PATH;
}

static void get_iovec(struct task *task, u64 at, u64 count)
{
	union {
		struct iovec wide;
		struct {
			u32 base;
			u32 length;
		} narrow;
	} iov[IOVECS_MAX];
	size_t each = task->narrow ? sizeof(iov->narrow) : sizeof(iov->wide), i, got;
	u64 total = 0;

	got = peek_memory(task->tid, at, iov, min_t(u64, count, IOVECS_MAX) * each) / each;
	for (i = 0; i < got; i++)
		total += task->narrow ? (&iov->narrow)[i].length : (&iov->wide)[i].iov_len;
	task_blob(task, TRACEFILE_TOTAL, &total, sizeof(total));
}

static void get_argv(struct task *task, u64 at)
{
	char all[ARGV_BYTES];
	u64 strings[ARGV_MAX], string;
	size_t each = task->narrow ? sizeof(u32) : sizeof(u64), i, used = 0,
	       got = peek_memory(task->tid, at, strings, ARGV_MAX * each) / each;

	for (i = 0; i < got; i++) {
		int length;

		string = task->narrow ? ((u32 *)strings)[i] : strings[i];
		if (!string)
			break;
		length = peek_string(task->tid, string, all + used, sizeof(all) - used);

		if (length < 0)
			break;
		used += length + 1;
	}
	task_blob(task, TRACEFILE_ARGV, all, used);
}

static void read_offset(struct task *task, u64 at, u64 *offset)
{
	u32 half;

	if (!task->short_offset)
		peek_memory(task->tid, at, offset, sizeof(*offset));
	else if (peek_memory(task->tid, at, &half, sizeof(half)) == sizeof(half))
		*offset = half;
}

static void get_offsets(struct task *task, const struct call *call)
{
	u64 offsets[2] = { U64_MAX, U64_MAX };
	unsigned int i, n = 0;

	for (i = 0; call->args[i]; i++) {
		if (call->args[i] != 'y')
			continue;
		if (task->call.args[i])
			read_offset(task, task->call.args[i], &offsets[n]);
		n++;
	}
	task_blob(task, TRACEFILE_OFFSETS, offsets, sizeof(offsets));
}

static void get_lock(struct task *task, int command, u64 at)
{
	struct flock lock;

	switch (command) {
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		if (!task->narrow && /* its lock has another form */
		    peek_memory(task->tid, at, &lock, sizeof(lock)) == sizeof(lock))
			task_blob(task, TRACEFILE_LOCK, &lock, sizeof(lock));
	}
}

static void get_how(struct task *task, u64 at)
{
	u64 how[3] = {};

	peek_memory(task->tid, at, how, sizeof(how));
	task_blob(task, TRACEFILE_HOW, how, sizeof(how));
}

struct xattr_args { /* as the kernel has it, since 6.13 */
	u64 value;
	u32 size;
	u32 flags;
};

/* Where the value is, or is to be. */
static struct xattr_args xattr_place(const struct task *task, unsigned int name)
{
	const u64 *args = task->call.args;
	struct xattr_args place = { args[2], args[3], args[4] };

	if (call_xattr_at(task->call.nr)) {
		place = (struct xattr_args){};
		peek_memory(task->tid, args[name + 1], &place, sizeof(place));
	}
	return place;
}

static void get_value(struct task *task, u64 from, size_t length)
{
	static u8 value[XATTR_SIZE_MAX];
	size_t got = peek_memory(task->tid, from, value, min_t(size_t, length, sizeof(value)));

	if (got == length)
		task_blob(task, TRACEFILE_VALUE, value, got);
}

static void get_xattr(struct task *task)
{
	struct {
		struct tracefile_xattr head;
		char name[XATTR_NAME_MAX + 2];
	} said;
	unsigned int at;
	enum call_xattr does = call_xattr(task->call.nr, &at);
	struct xattr_args place;
	int length;

	if (does == XATTR_NONE || does == XATTR_LIST)
		return;
	length = peek_string(task->tid, task->call.args[at], said.name, sizeof(said.name));
	if (length <= 0)
		return;
	place = does == XATTR_REMOVE ? (struct xattr_args){} : xattr_place(task, at);
	said.head.size = place.size;
	said.head.flags = does == XATTR_SET ? place.flags : 0;
	task_blob(task, TRACEFILE_XATTR, &said, sizeof(said.head) + length + 1);
	if (does == XATTR_SET)
		get_value(task, place.value, place.size);
}

/* What it was found to be; of a list the names. */
static void get_found_value(struct task *task, s64 result)
{
	const u64 *args = task->call.args;
	unsigned int at;
	enum call_xattr does = call_xattr(task->call.nr, &at);
	struct xattr_args place = { args[at], args[at + 1], 0 };

	if ((does != XATTR_GET && does != XATTR_LIST) || result <= 0)
		return;
	if (does == XATTR_GET)
		place = xattr_place(task, at);
	if (place.size)
		get_value(task, place.value, result);
}

static void get_argument(struct task *task, const struct call *call, unsigned int i)
{
	const u64 *args = task->call.args;

	switch (call->args[i]) {
	case 'p':
		if (!find_blob(task, TRACEFILE_PATH)) /* mount has two */
			get_path(task, args[i], TRACEFILE_PATH);
		break;
	case 'P':
		get_path(task, args[i], TRACEFILE_PATH2);
		break;
	case 'v':
		get_iovec(task, args[i], args[i + 1]);
		break;
	case 'a':
		get_argv(task, args[i]);
		break;
	case 'k':
		get_lock(task, args[1], args[i]);
		break;
	case 'h':
		get_how(task, args[i]);
		break;
	}
}

void capture_clone(struct task *task)
{
	const struct call *call = call_of(task->call.nr);

	task->clone_flags = task->call.args[0];
	if (!call || call->effect != DOES_CLONE3)
		return;
	task->clone_flags = 0;
	peek_memory(task->tid, task->call.args[0], &task->clone_flags, sizeof(task->clone_flags));
}

/* Who waits for a descriptor's process, and does not ask what came of it, waits for that one. */
static void get_awaited(struct task *task)
{
	const u64 *args = task->call.args;
	char path[64];
	u32 child;

	if (args[0] != P_PIDFD || args[2] || args[3] != WEXITED)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", task->tid, (int)args[1]);
	child = capture_number(path, "Pid:", 10);
	if (child)
		task_blob(task, TRACEFILE_CHILD, &child, sizeof(child));
}

void capture_entry(struct task *task, const struct call *call)
{
	unsigned int i;

	for (i = 0; call->args[i]; i++)
		get_argument(task, call, i);
	capture_clone(task);
	get_xattr(task);
	switch (call->effect) {
	case DOES_SENDFILE:
	case DOES_COPY:
	case DOES_SPLICE:
		get_offsets(task, call);
		break;
	case DOES_CLONE3:
		task_blob(task, TRACEFILE_CLONE, &task->clone_flags, sizeof(task->clone_flags));
		break;
	case DOES_CLOSE:
		capture_look_fd(task, TRACEFILE_ATTR_BEFORE, task->call.args[0]);
		break;
	case DOES_UNLINK:
	case DOES_RMDIR:
		capture_look_path(task, call, 'p', TRACEFILE_ATTR_BEFORE, false);
		break;
	case DOES_RENAME:
		capture_look_path(task, call, 'P', TRACEFILE_ATTR_BEFORE, false);
		break;
	case DOES_BIND:
		get_socket_name(task, task->call.args[1], task->call.args[2]);
		break;
	case DOES_EXEC:
		/* Of a script, and not of the program that reads it. */
		capture_look_path(task, call, 'p', TRACEFILE_ATTR_BEFORE, true);
		break;
	case DOES_WAIT:
		if (task->call.nr == SYS_waitid)
			get_awaited(task);
		break;
	default:
		break;
	}
}

static void get_stat(struct task *task, u64 at)
{
	struct tracefile_attr attr;
	struct stat st;

	if (peek_memory(task->tid, at, &st, sizeof(st)) < sizeof(st))
		return;
	attr_of_stat(&attr, &st);
	task_blob(task, TRACEFILE_ATTR, &attr, sizeof(attr));
}

static void get_statx(struct task *task, u64 at)
{
	struct tracefile_attr attr;
	struct statx st;

	if (peek_memory(task->tid, at, &st, sizeof(st)) < sizeof(st))
		return;
	attr = (struct tracefile_attr){
		.dev = makedev(st.stx_dev_major, st.stx_dev_minor),
		.ino = st.stx_ino,
		.size = st.stx_size,
		.mtime = st.stx_mtime.tv_sec * 1000000000ull + st.stx_mtime.tv_nsec,
		.atime = st.stx_atime.tv_sec * 1000000000ull + st.stx_atime.tv_nsec,
		.mode = st.stx_mode,
		.nlink = st.stx_nlink,
	};
	task_blob(task, TRACEFILE_ATTR, &attr, sizeof(attr));
}

static void get_cwd(struct task *task)
{
	char link[64], cwd[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/cwd", task->tid);
	n = readlink(link, cwd, sizeof(cwd));
	if (n > 0)
		task_blob(task, TRACEFILE_CWD, cwd, n);
}

/* What was opened by no name has one all the same. */
static void get_name(struct task *task, int fd)
{
	char link[64], name[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/fd/%d", task->tid, fd);
	n = readlink(link, name, sizeof(name) - 1);
	if (n <= 0 || *name != '/')
		return;
	name[n] = 0;
	task_blob(task, TRACEFILE_PATH, name, n + 1);
}

/*
 * A link may lead to a file that the kernel makes up, as /etc/mtab does to /proc/self/mounts. Such
 * files have no size, and what is read of them no disk has.
 */
static void get_kernels_name(struct task *task, int fd)
{
	const struct tracefile_attr *attr = find_blob(task, TRACEFILE_ATTR);
	const char *path = find_blob(task, TRACEFILE_PATH);
	char link[64], name[PATH_MAX];
	struct statfs fs;
	ssize_t n;

	if (!attr || attr->size || !S_ISREG(attr->mode) || major(attr->dev) || !path ||
	    !strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5))
		return;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", task->tid, fd);
	if (statfs(link, &fs) || (fs.f_type != PROC_SUPER_MAGIC && fs.f_type != SYSFS_MAGIC))
		return;
	n = readlink(link, name, sizeof(name));
	if (n > 0)
		task_blob(task, TRACEFILE_TARGET, name, n);
}

static void get_program(struct task *task)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", task->tid);
	capture_look(task, TRACEFILE_ATTR, path, true);
}

static bool follows(const struct task *task, const struct call *call)
{
	unsigned int last = strlen(call->args) - 1;

	switch (call->effect) {
	case DOES_LLOOK:
		return false;
	case DOES_LOOK:
		return !call_xattr_at(task->call.nr) ||
		       !(task->call.args[2] & AT_SYMLINK_NOFOLLOW);
	case DOES_LOOKAT:
		return !(task->call.args[last] & AT_SYMLINK_NOFOLLOW);
	default:
		return true;
	}
}

/* What the call has found, by another look: in the program's memory it has many forms. */
static void get_narrow_stat(struct task *task, const struct call *call)
{
	if (call_arg(call, 'p') < 0)
		capture_look_fd(task, TRACEFILE_ATTR, task->call.args[0]);
	else
		capture_look_path(task, call, 'p', TRACEFILE_ATTR, follows(task, call));
}

static void get_output(struct task *task, const struct call *call, s64 result)
{
	int at;

	at = call_arg(call, 's');
	if (at >= 0 && task->narrow)
		get_narrow_stat(task, call);
	else if (at >= 0)
		get_stat(task, task->call.args[at]);
	at = call_arg(call, 't');
	if (at >= 0)
		get_statx(task, task->call.args[at]);
	at = call_arg(call, 'r');
	if (at >= 0) {
		u32 fds[2] = {};

		if (peek_memory(task->tid, task->call.args[at], fds, sizeof(fds)) == sizeof(fds))
			task_blob(task, TRACEFILE_FDS, fds, sizeof(fds));
	}
	if (call->effect == DOES_READLINK) {
		char target[PATH_MAX];
		u64 from = task->call.args[call_arg(call, 'b')];
		size_t length = min_t(u64, result, sizeof(target));

		length = peek_memory(task->tid, from, target, length);
		task_blob(task, TRACEFILE_TARGET, target, length);
	}
}

/* How long each message was: the kernel has written it behind the message. */
static void get_messages(struct task *task, u64 at, u64 count)
{
	static struct mmsghdr messages[UIO_MAXIOV];
	u32 lengths[UIO_MAXIOV];
	size_t i, got;

	got = peek_memory(task->tid, at, messages,
			  min_t(u64, count, UIO_MAXIOV) * sizeof(*messages)) /
	      sizeof(*messages);
	for (i = 0; i < got; i++)
		lengths[i] = messages[i].msg_len;
	task_blob(task, TRACEFILE_MESSAGES, lengths, got * sizeof(*lengths));
}

/* Who has ended, of all that waitid() was to wait for: not who was only stopped. */
static void get_child(struct task *task)
{
	const u64 *args = task->call.args;
	struct {
		int signo;
		int errno_;
		int code;
		int rest[2]; /* the process; but of a program of 64 bits that is the second */
	} said;
	u32 child;

	if (!args[2] || peek_memory(task->tid, args[2], &said, sizeof(said)) < sizeof(said))
		return;
	child = said.rest[!task->narrow];
	if (said.signo == SIGCHLD && child &&
	    (said.code == CLD_EXITED || said.code == CLD_KILLED || said.code == CLD_DUMPED))
		task_blob(task, TRACEFILE_CHILD, &child, sizeof(child));
}

/* With CLONE_PIDFD: at clone's third argument, or where clone3's structure says. */
static void get_pidfd(struct task *task, const struct call *call)
{
	u64 at = task->call.args[2];
	u32 pidfd;

	if (!(task->clone_flags & CLONE_PIDFD))
		return;
	if (call->effect == DOES_CLONE3 &&
	    peek_memory(task->tid, task->call.args[0] + sizeof(u64), &at, sizeof(at)) < sizeof(at))
		return;
	if (peek_memory(task->tid, at, &pidfd, sizeof(pidfd)) == sizeof(pidfd))
		task_blob(task, TRACEFILE_PIDFD, &pidfd, sizeof(pidfd));
}

/* Is there what was there before? Then both names of a rename were of one file. */
static bool is_unchanged(const struct task *task)
{
	const struct tracefile_attr *before = find_blob(task, TRACEFILE_ATTR_BEFORE);
	const struct tracefile_attr *after = find_blob(task, TRACEFILE_ATTR);

	return before && after && before->dev == after->dev && before->ino == after->ino;
}

bool capture_attr(const char *path, struct tracefile_attr *attr)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	attr_of_stat(attr, &st);
	return true;
}

void capture_fd(struct task *task, int fd)
{
	capture_look_fd(task, TRACEFILE_ATTR, fd);
}

void capture_exit(struct task *task, const struct call *call, s64 result)
{
	if (result < 0)
		return;
	get_output(task, call, result);
	get_found_value(task, result);
	switch (call->effect) {
	case DOES_OPEN:
	case DOES_OPENAT2:
		if (call_arg(call, 'p') < 0)
			get_name(task, result);
		capture_look_fd(task, TRACEFILE_ATTR, result);
		get_kernels_name(task, result);
		break;
	case DOES_CREAT:
	case DOES_SOCKET:
		capture_look_fd(task, TRACEFILE_ATTR, result);
		break;
	case DOES_LOOK:
	case DOES_LLOOK:
	case DOES_LOOKAT:
		if (call_arg(call, 's') < 0)
			capture_look_path(task, call, 'p', TRACEFILE_ATTR, follows(task, call));
		break;
	case DOES_TRUNCATE:
		capture_look_path(task, call, 'p', TRACEFILE_ATTR, true);
		break;
	case DOES_MKDIR:
	case DOES_BIND:
	case DOES_MKNOD:
		capture_look_path(task, call, 'p', TRACEFILE_ATTR, false);
		break;
	case DOES_RENAME:
		capture_look_path(task, call, 'P', TRACEFILE_ATTR, false);
		if (is_unchanged(task))
			task->flags |= TRACEFILE_SAME_FILE;
		break;
	case DOES_LINK:
	case DOES_SYMLINK:
		capture_look_path(task, call, 'P', TRACEFILE_ATTR, false);
		break;
	case DOES_CHROOT:
	case DOES_MOUNT:
		roots_differ = true;
		break;
	case DOES_CHDIR:
	case DOES_FCHDIR:
		get_cwd(task);
		break;
	case DOES_EXEC:
		get_program(task);
		break;
	case DOES_CLONE:
	case DOES_CLONE3:
		get_pidfd(task, call);
		break;
	case DOES_RECVMMSG:
	case DOES_SENDMMSG:
		get_messages(task, task->call.args[1], result);
		break;
	case DOES_WAIT:
		if (task->call.nr == SYS_waitid)
			get_child(task);
		break;
	default:
		break;
	}
}

/* What a task has when it begins to be traced, by /proc. */

u64 capture_number(const char *path, const char *word, int base)
{
	FILE *file = fopen(path, "r");
	char line[256];
	u64 number = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, word, strlen(word)))
			continue;
		number = strtoull(line + strlen(word), NULL, base);
		break;
	}
	if (file)
		fclose(file);
	return number;
}

u64 capture_status(pid_t pid, const char *word)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return capture_number(path, word, 10);
}

pid_t capture_process(pid_t tid)
{
	return capture_status(tid, "Tgid:") ?: tid;
}

static void state_add_link(struct tracefile_writer *w, enum tracefile_kind kind, const char *link)
{
	char target[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target));

	if (n > 0)
		tracefile_add(w, kind, target, n);
}

struct met { /* a descriptor that was told of */
	pid_t tid;
	int fd;
	u32 next; /* 1 + the place of another that may be of the same description */
};

/*
 * A descriptor that was told of before, and is of the same open file description: a shell's
 * `>out 2>&1`, what a process has inherited. They have one offset. NULL: none, or the kernel does
 * not say (without CONFIG_KCMP). What a device does has no offset: there are many of those.
 */
static const struct met *same_description(pid_t tid, int fd, const struct tracefile_attr *attr,
					  const struct tracefile_record *r)
{
	static struct map first;
	static struct met *met;
	static u64 room;
	static u32 count;
	u64 key = hash_u64(hash_u64(attr->ino) ^ attr->dev) ^ hash_u64(r->args[1]) ^ r->args[0];
	u64 *place = map_at(&first, key & ~(u64)O_CLOEXEC);
	const struct met *found = NULL;
	unsigned int tries = 0;
	u32 at;

	if (S_ISCHR(attr->mode) || S_ISBLK(attr->mode) || r->flags & TRACEFILE_LOOKED)
		return NULL;
	for (at = *place; at && !found && tries++ < SAME_TRIED; at = met[at - 1].next) {
		const struct met *other = &met[at - 1];

		if ((other->tid != tid || other->fd != fd) &&
		    !syscall(SYS_kcmp, tid, other->tid, KCMP_FILE, fd, other->fd))
			found = other;
	}
	if (found)
		return found;
	met = vec_reserve(met, &room, count + 1ull, sizeof(*met));
	met[count++] = (struct met){ tid, fd, *place };
	*place = count;
	return NULL;
}

static void state_add_fd(struct tracefile_writer *w, pid_t tid, int fd, u64 now, u16 flags)
{
	struct tracefile_record record = {
		.type = TRACEFILE_FD,
		.flags = flags,
		.tid = tid,
		.nr = fd,
		.entry = now,
		.exit = now,
	};
	struct tracefile_attr attr;
	const struct met *same;
	char path[64], info[64];
	bool known;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, fd);
	snprintf(info, sizeof(info), "/proc/%d/fdinfo/%d", tid, fd);
	record.args[0] = capture_number(info, "flags:", 8);
	record.args[1] = capture_number(info, "pos:", 10);
	known = capture_attr(path, &attr);
	same = known ? same_description(tid, fd, &attr, &record) : NULL;
	if (same) {
		record.args[2] = same->fd + 1;
		record.args[3] = same->tid;
	}
	tracefile_begin(w, &record);
	state_add_link(w, TRACEFILE_PATH, path);
	if (known)
		tracefile_add(w, TRACEFILE_ATTR, &attr, sizeof(attr));
	tracefile_end(w);
}

void capture_task(struct tracefile_writer *w, pid_t tid, pid_t tgid, u64 now, u16 flags)
{
	struct tracefile_record record = {
		.type = TRACEFILE_TASK,
		.flags = flags,
		.tid = tid,
		.nr = tgid,
		.entry = now,
		.exit = now,
	};
	char path[64], root[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	record.args[0] = capture_number(path, "PPid:", 10);
	record.args[1] = capture_number(path, "Uid:", 10);
	tracefile_begin(w, &record);
	if (link_of(tid, "root", root, sizeof(root)) > 0 && strcmp(root, "/"))
		roots_differ = true;
	snprintf(path, sizeof(path), "/proc/%d/cwd", tid);
	state_add_link(w, TRACEFILE_CWD, path);
	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	state_add_link(w, TRACEFILE_PATH, path);
	tracefile_end(w);
}

void capture_state(struct tracefile_writer *w, pid_t tid, pid_t tgid, u64 now, u16 flags)
{
	struct dirent *entry;
	char path[64];
	DIR *fds;

	capture_task(w, tid, tgid, now, flags);
	if (tid != tgid)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd", tid);
	fds = opendir(path);
	if (!fds) /* it is gone */
		return;
	while ((entry = readdir(fds))) {
		if (*entry->d_name != '.')
			state_add_fd(w, tid, atoi(entry->d_name), now, flags);
	}
	closedir(fds);
}
