// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: calls that do other things than they seem to, a case by its name, in the
 * working directory.
 *
 *   append	writes that go to the end of a file, though they have an offset
 *   same	a rename of two names of one file, which does nothing
 *   socket	names that bind makes
 *   own	names by which a process means its own descriptors and directory
 *   deep	a path of more than 4,096 bytes, and names of nearly as many
 *   far	a descriptor of a file whose path has more than 4,096 bytes
 *   handle	a file that is opened by its handle; ends with 77 if that is not allowed
 *   uring	vectors that io_uring reads and writes; 77 if there is none
 *   root	names of a process that has another root (chroot); 77 if that is not allowed
 *   lost	r/way, a link that was there before, leads nowhere from the root r; 77 as above
 *   mounts	names of a process with mounts of its own; 77 if that is not allowed
 *   pivot	names of one whose root is another mount (pivot_root); 77 if that is not allowed
 *   newmounts	the same, by fsmount, open_tree and move_mount; 77 if that is not allowed
 *   resolve	what openat2 is told of the way that a path takes
 *   watched	a directory that inotify watches, by a name that no other call has
 *   whiteout	a rename that leaves a whiteout; 77 if that is not allowed
 *   removed	names from a directory that has been removed, and from the one above it
 *   ways	names by symbolic links to the process's own descriptors and directory
 *   refused	calls that fail by what a replay does not have: bad memory, limits, a busy program
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

#define NOT_HERE 77
#define DEEP 60
#define LONG 100

static char zeros[100000];

static int make(const char *name, int flags, size_t bytes)
{
	int fd = open(name, O_CREAT | O_RDWR | flags, 0644);

	need(fd >= 0 && write(fd, zeros, bytes) == (ssize_t)bytes, name);
	return fd;
}

static void append(void)
{
	struct iovec parts[2] = { { zeros, 100 }, { zeros, 23 } };
	int fd = make("flag", 0, 1000), end;

	need(pwritev2(fd, parts, 2, 10, RWF_APPEND) == 123, "RWF_APPEND");
	need(lseek(fd, 0, SEEK_CUR) == 1000, "where it stands");
	need(write(fd, zeros, 5) == 5, "write");
	need(pwritev2(fd, parts, 1, -1, RWF_APPEND) == 100, "RWF_APPEND at -1");
	need(lseek(fd, 0, SEEK_CUR) == 1223, "where it stands then");
	end = make("end", O_APPEND, 700);
	need(pwrite(end, zeros, 50, 0) == 50, "pwrite");
	need(pwrite(end, zeros, 7, 100000) == 7, "pwrite");
	need(lseek(end, 0, SEEK_CUR) == 700, "where the other stands");
	need(!ftruncate(end, 10) && write(end, zeros, 3) == 3, "write");
}

static void same(void)
{
	close(make("one", 0, 10));
	close(make("third", 0, 30));
	need(!link("one", "two") && !rename("one", "two"), "rename");
	need(!access("one", F_OK) && !link("two", "again"), "link");
	need(!rename("third", "two"), "rename");
	close(make("one", O_APPEND, 5));
}

static void bind_to(const char *name, int type)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", name);
	need(!bind(fd, (struct sockaddr *)&at, sizeof(at)), name);
	need(bind(fd, (struct sockaddr *)&at, sizeof(at)), "bind again");
	close(fd);
}

static void sockets(void)
{
	need(!mkdir("d", 0755) && !chdir("d"), "d");
	bind_to("stays", SOCK_STREAM);
	bind_to("gone", SOCK_DGRAM);
	bind_to("../above", SOCK_SEQPACKET);
	need(!unlink("gone"), "unlink");
	close(make("gone", 0, 4));
	need(!rename("stays", "moved"), "rename");
}

static void write_to(const char *name, int flags, int bytes)
{
	int fd = open(name, O_WRONLY | flags, 0644);

	need(fd >= 0 && write(fd, zeros, bytes) == bytes, name);
	close(fd);
}

static void own(void)
{
	int file = make("file", 0, 10), dir;
	char name[64];

	snprintf(name, sizeof(name), "/dev/fd/%d", file);
	write_to(name, O_APPEND, 1);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	write_to(name, O_APPEND, 2);
	snprintf(name, sizeof(name), "/proc/%d/fd/%d", getpid(), file);
	write_to(name, O_APPEND, 4);
	need(dup2(file, STDOUT_FILENO) >= 0, "dup2");
	write_to("/dev/stdout", O_APPEND, 8);
	need(!mkdir("d", 0755), "d");
	write_to("/proc/self/cwd/d/by-cwd", O_CREAT, 16);
	dir = open("d", O_RDONLY | O_DIRECTORY);
	snprintf(name, sizeof(name), "/proc/thread-self/fd/%d/by-dir", dir);
	write_to(name, O_CREAT, 32);
	need(!rename("/proc/self/cwd/d/by-cwd", "moved"), "rename");
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	need(!truncate(name, 20), "truncate");
}

static void deep(void)
{
	char part[LONG + 1], *path = zeros;
	struct stat st;
	int i;

	memset(part, 'd', LONG);
	part[LONG] = 0;
	for (i = 0; i < DEEP; i++)
		need(!mkdir(part, 0755) && !chdir(part), "deep");
	close(make("bottom", 0, 4));
	need(!rename("bottom", "bottom2") && !mkdir("below", 0755), "below");
	for (i = 0; i < DEEP; i++)
		need(!chdir(".."), "up");
	for (i = 0; i < 40; i++)
		path += sprintf(path, "%s/", part);
	sprintf(path, "middle"); /* 4,046 bytes */
	close(open(zeros, O_CREAT | O_WRONLY, 0644));
	need(!stat(zeros, &st) && !unlink(zeros), "middle");
	sprintf(path, "left");
	need(!symlink("x", zeros), "left");
}

static void handle(void)
{
	struct {
		struct file_handle head;
		char rest[MAX_HANDLE_SZ];
	} where = { .head.handle_bytes = MAX_HANDLE_SZ };
	int mount, dir = open(".", O_RDONLY | O_DIRECTORY), fd;

	close(make("file", 0, 100));
	need(!name_to_handle_at(AT_FDCWD, "file", &where.head, &mount, 0), "handle");
	fd = open_by_handle_at(dir, &where.head, O_WRONLY | O_APPEND);
	if (fd < 0)
		exit(NOT_HERE);
	need(write(fd, zeros, 11) == 11, "write");
	close(fd);
}

static void submit_vector(int ring, struct io_uring_params *params, __u8 opcode, int fd,
			  struct iovec *parts, off_t at)
{
	size_t size = params->sq_off.array + params->sq_entries * sizeof(__u32);
	char *sq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	struct io_uring_sqe *sqes = mmap(NULL, params->sq_entries * sizeof(*sqes),
					 PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	__u32 *tail = (__u32 *)(sq + params->sq_off.tail), slot;

	need(sq != MAP_FAILED && (void *)sqes != MAP_FAILED, "mmap");
	slot = *tail & (params->sq_entries - 1);
	sqes[slot] = (struct io_uring_sqe){ .opcode = opcode, .fd = fd, .off = at, .len = 2 };
	sqes[slot].addr = (unsigned long)parts;
	((__u32 *)(sq + params->sq_off.array))[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	/* Nobody takes completions out of the ring: those before count, too. */
	need(syscall(SYS_io_uring_enter, ring, 1, *tail, IORING_ENTER_GETEVENTS, NULL, 0) == 1,
	     "enter");
}

static void uring(void)
{
	struct iovec parts[2] = { { zeros, 3000 }, { zeros + 3000, 96 } };
	struct io_uring_params params = {};
	int ring = syscall(SYS_io_uring_setup, 4, &params), fd = make("file", 0, 100);

	if (ring < 0)
		exit(NOT_HERE);
	submit_vector(ring, &params, IORING_OP_WRITEV, fd, parts, 5000);
	submit_vector(ring, &params, IORING_OP_READV, fd, parts, 1000);
	submit_vector(ring, &params, IORING_OP_WRITEV, fd, parts, -1);
}

static void await(void)
{
	int status;

	need(wait(&status) > 0, "wait");
	if (status)
		exit(WEXITSTATUS(status));
}

/* Links and paths from / on lead to the new root, and nothing leads above it. */
static void in_root(void)
{
	int fd;

	need(!chdir("r/d"), "below the root");
	make("../../../up", 0, 50);
	need(!chdir("/"), "the root");
	fd = open("way", O_WRONLY | O_TRUNC);
	need(fd >= 0 && write(fd, zeros, 30) == 30, "by a link");
	need(!rename("/d/x", "/d/y") && !mkdir("/e", 0755) && !symlink("/d/y", "/e/way"), "names");
	fd = open("/e/way", O_WRONLY | O_APPEND);
	need(fd >= 0 && write(fd, zeros, 7) == 7, "by a new link");
	need(!link("d/../../d/y", "hard") && !unlink("way"), "link");
	need(!mkdir("/r", 0755) && !chroot("r"), "a root below it");
	make("/inner", 0, 20);
	make("outer", 0, 21); /* the directory is still outside */
	exit(0);
}

static void root(void)
{
	struct stat st;

	need(!mkdir("r", 0755) && !mkdir("r/d", 0755) && !symlink("/d/x", "r/way"), "tree");
	make("r/d/x", 0, 1000);
	if (!fork()) {
		if (chroot("r"))
			exit(NOT_HERE);
		in_root();
	}
	await();
	make("r/d/z", 0, 40); /* this one has its root still */
	need(!stat("r/d/y", &st) && st.st_size == 37, "y");
	need(!rename("r/up", "r/d/up"), "rename");
}

/* The link is found, is not found by who has another root, and is found again. */
static void lost(void)
{
	struct stat st;

	need(!stat("r/way", &st) && st.st_size == 600, "way");
	if (!fork()) {
		if (chroot("r") || chdir("/"))
			exit(NOT_HERE);
		need(open("/way", O_RDONLY) < 0 && errno == ENOENT, "lost");
		make("after", 0, 10);
		exit(0);
	}
	await();
	need(open("r/way", O_RDWR | O_APPEND) >= 0, "found again");
}

static void own_mounts(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		exit(NOT_HERE);
}

static void bind_at(const char *from, const char *to, int flags)
{
	need(!mount(from, to, NULL, MS_BIND | flags, NULL), to);
}

/* Of one name, inside and outside, there are two files. */
static void in_mounts(void)
{
	own_mounts();
	need(!mkdir("m", 0755) && !mkdir("m/under", 0755) && !mkdir("q", 0755), "names");
	make("m/covered", 0, 300);
	need(!mount("tmpfs", "m", "tmpfs", 0, NULL), "m");
	make("m/gone", 0, 10);
	make("m/covered", 0, 70);
	bind_at("a", "q", 0);
	make("q/new", 0, 11);
	need(!chdir("q/d"), "q");
	make("../by-q", 0, 12);
	make("../../beside-q", 0, 13); /* above what is mounted is where it is */
	need(!chdir("../.."), "up");
	make("there", 0, 14);
	/* What is mounted on one of two names is not on the other. */
	need(!mount("tmpfs", "q/d", "tmpfs", 0, NULL), "d");
	make("q/d/gone", 0, 15);
	make("a/d/stays", 0, 16);
	need(!mkdir("r", 0755), "r");
	bind_at("q", "r", MS_REC);
	make("r/d/gone", 0, 17);
	need(!mount("r", "m", NULL, MS_MOVE, NULL), "move");
	make("m/d/gone", 0, 18);
	make("m/by-m", 0, 19);
	make("r/r", 0, 20);
	need(!umount2("m", MNT_DETACH) && !umount2("q/d", MNT_DETACH), "umount");
	need(!umount2("q", MNT_DETACH), "q");
	make("q/own", 0, 21);
	need(!access("m/gone", F_OK) && !umount2("m", MNT_DETACH), "the first");
	make("m/after", 0, 22);
	need(!rename("m/covered", "a/moved"), "rename");
	exit(0);
}

static void mounts(void)
{
	need(!mkdir("a", 0755) && !mkdir("a/d", 0755), "tree");
	if (!fork())
		in_mounts();
	await();
	make("a/d/outside", 0, 30);
	make("m/outside", 0, 31);
}

/* The new root is in memory, and has one directory of the disk. */
static void in_pivoted(void)
{
	own_mounts();
	need(!mount("tmpfs", "n", "tmpfs", 0, NULL) && !mkdir("n/w", 0755), "n");
	need(!mkdir("n/old", 0755), "old");
	bind_at("a", "n/w", 0);
	need(!syscall(SYS_pivot_root, "n", "n/old") && !chdir("/"), "pivot_root");
	make("w/in", 0, 10);
	make("/w/../lost", 0, 11);
	need(!chdir("/w/d"), "d");
	make("../above", 0, 12);
	make("../../../../lost", 0, 13);
	need(!symlink("/w/in", "way"), "link");
	need(open("way", O_WRONLY | O_TRUNC) >= 0, "by the link");
	need(!umount2("/old", MNT_DETACH) && access("/old/etc", F_OK), "the old root");
	if (!fork()) {
		make("/w/child", 0, 14);
		exit(0);
	}
	await();
	need(!chroot("/w"), "chroot");
	make("/d/last", 0, 15);
	exit(0);
}

static void pivot(void)
{
	need(!mkdir("a", 0755) && !mkdir("a/d", 0755) && !mkdir("n", 0755), "tree");
	if (!fork())
		in_pivoted();
	await();
	make("n/outside", 0, 16);
	make("a/child", O_APPEND, 17);
}

static void attach(int from, const char *path, const char *to)
{
	unsigned int flags = *path ? 0 : MOVE_MOUNT_F_EMPTY_PATH;

	need(!syscall(SYS_move_mount, from, path, AT_FDCWD, to, flags), to);
}

static void in_new_mounts(void)
{
	int fs, tree;

	own_mounts();
	fs = syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	need(fs >= 0 && !syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0), "fsopen");
	attach(syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0), "", "m");
	make("m/hidden", 0, 10);
	tree = syscall(SYS_open_tree, AT_FDCWD, "d", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	attach(tree, "", "e");
	make("e/inside", 0, 11);
	need(!mkdir("e/sub", 0755) && !rename("e/inside", "e/sub/moved"), "e");
	attach(AT_FDCWD, "e", "k");
	make("d/sub/one directory", 0, 12);
	need(!unlink("k/sub/one directory"), "one directory");
	make("k/by another name", 0, 12);
	make("e/plain", 0, 13);
	need(!umount2("m", MNT_DETACH) && !umount2("k", MNT_DETACH), "umount");
	make("m/own", 0, 14);
	make("k/own", 0, 15);
	exit(0);
}

static void newmounts(void)
{
	need(!mkdir("d", 0755) && !mkdir("e", 0755) && !mkdir("k", 0755), "tree");
	need(!mkdir("m", 0755), "tree");
	if (!fork())
		in_new_mounts();
	await();
	make("e/outside", 0, 16);
}

static int open_way(int dir, const char *path, __u64 flags, __u64 resolve)
{
	struct open_how how = { flags, flags & O_CREAT ? 0644 : 0, resolve };

	return syscall(SYS_openat2, dir, path, &how, sizeof(how));
}

static void resolve(void)
{
	int d, fd;

	need(!mkdir("d", 0755) && !mkdir("d/e", 0755) && !symlink("/e", "d/way"), "tree");
	need(!symlink("d", "link"), "link");
	make("d/e/old", 0, 500);
	d = open("d", O_PATH | O_DIRECTORY);
	fd = open_way(d, "../../new", O_CREAT | O_WRONLY, RESOLVE_IN_ROOT);
	need(fd >= 0 && write(fd, zeros, 30) == 30, "not above the root");
	fd = open_way(d, "/way/old", O_WRONLY | O_TRUNC, RESOLVE_IN_ROOT);
	need(fd >= 0 && write(fd, zeros, 20) == 20, "by a link");
	fd = open_way(d, "way/made", O_CREAT | O_EXCL | O_WRONLY, RESOLVE_IN_ROOT);
	need(fd >= 0 && write(fd, zeros, 10) == 10, "made by a link");
	fd = open_way(d, "e/../e/beneath", O_CREAT | O_WRONLY, RESOLVE_BENEATH);
	need(fd >= 0 && write(fd, zeros, 11) == 11, "beneath");
	need(open_way(d, "../above", O_CREAT | O_WRONLY, RESOLVE_BENEATH) < 0, "above");
	need(open_way(d, "/above", O_CREAT | O_WRONLY, RESOLVE_BENEATH) < 0, "from / on");
	need(open_way(AT_FDCWD, "link/g", O_CREAT | O_WRONLY, RESOLVE_NO_SYMLINKS) < 0, "link/g");
	need(open_way(d, "way/g", O_CREAT | O_WRONLY, RESOLVE_NO_SYMLINKS) < 0, "way/g");
	need(open_way(d, "way", O_CREAT | O_EXCL | O_WRONLY, 0) < 0, "the link itself");
}

static void limit(int what, rlim_t to)
{
	struct rlimit now;

	need(!getrlimit(what, &now), "getrlimit");
	now.rlim_cur = to;
	need(!setrlimit(what, &now), "setrlimit");
}

static void copy_self(const char *to)
{
	static char all[1 << 20];
	int from = open("/proc/self/exe", O_RDONLY), fd = open(to, O_CREAT | O_WRONLY, 0755);
	ssize_t n = read(from, all, sizeof(all));

	need(n > 0 && write(fd, all, n) == n && !close(fd), to);
}

static void refused(void)
{
	char *nowhere = (char *)strtoul("8", NULL, 0);
	size_t endless = strtoul("-1", NULL, 0);
	struct iovec bad = { nowhere, 100 };
	struct rlimit files;
	int fd = make("file", 0, 1000), other = make("other", 0, 500), gate[2], runs[2], child;
	loff_t at = 0;

	need(write(fd, nowhere, 5000) < 0 && pwritev(fd, &bad, 1, 100) < 0, "bad memory");
	need(write(fd, zeros, endless) < 0, "a length that cannot be");
	need(pwritev2(fd, &(struct iovec){ zeros, 9 }, 1, 5000, 1 << 20) < 0, "unknown flags");
	need(copy_file_range(fd, &at, 999, &at, 100, 0) < 0, "to nowhere");
	need(copy_file_range(999, &at, other, &at, 5000, 0) < 0, "from nowhere");
	need(copy_file_range(fd, &at, other, &at, 900, ~0u) < 0, "flags of a copy");
	need(splice(fd, &at, other, &at, 900, 0) < 0, "no pipe");
	need(open(nowhere, O_CREAT, 0644) < 0, "a bad path");
	need(renameat(999, "file", AT_FDCWD, "moved") < 0, "in no directory");
	need(unlinkat(999, "other", 0) < 0 && mkdirat(999, "made", 0755) < 0, "in no directory");
	signal(SIGXFSZ, SIG_IGN);
	limit(RLIMIT_FSIZE, 2000);
	need(pwrite(fd, zeros, 100, 3000) < 0, "a file's limit");
	limit(RLIMIT_FSIZE, RLIM_INFINITY);
	need(!getrlimit(RLIMIT_NOFILE, &files), "getrlimit");
	limit(RLIMIT_NOFILE, other + 1);
	need(open("toomany", O_CREAT | O_RDWR, 0644) < 0, "too many");
	limit(RLIMIT_NOFILE, files.rlim_cur);
	copy_self("program");
	need(!pipe(gate) && !pipe2(runs, O_CLOEXEC), "pipe");
	child = fork();
	if (!child) {
		close(gate[1]);
		dup2(gate[0], STDIN_FILENO);
		execl("program", "program", "wait", NULL);
		exit(1);
	}
	close(runs[1]);
	need(!read(runs[0], zeros, 1), "runs");
	need(open("program", O_WRONLY | O_TRUNC) < 0, "a program that runs");
	close(gate[1]);
	need(waitpid(child, NULL, 0) == child, "wait");
	make("last", 0, 10);
}

static void watched(void)
{
	int fd = inotify_init1(0);

	need(fd >= 0 && inotify_add_watch(fd, ".", IN_ALL_EVENTS) >= 0, "inotify");
	close(make("one", 0, 10));
	need(!unlink("one"), "unlink");
	make("two", 0, 20);
}

static void whiteout(void)
{
	make("one", 0, 10);
	if (syscall(SYS_renameat2, AT_FDCWD, "one", AT_FDCWD, "two", 4))
		_exit(NOT_HERE);
}

/* The directory is gone, and the one above it is renamed meanwhile. */
static void removed(void)
{
	struct stat st;
	int fd;

	need(!mkdir("d", 0755) && !mkdir("d/e", 0755) && !chdir("d/e"), "tree");
	fd = open(".", O_RDONLY);
	need(fd >= 0 && !rmdir("../e"), "rmdir");
	need(open("x", O_CREAT | O_WRONLY, 0644) < 0 && errno == ENOENT, "x");
	need(fstatat(fd, "y", &st, 0) < 0 && mkdir("z", 0755) < 0, "y");
	need(!mkdir("../f", 0755) && !rename("../../d", "../../g") && !chdir(".."), "above");
	make("in", 0, 10);
	need(!mkdirat(fd, "../h", 0755) && !mkdir("e", 0755), "h");
	need(openat(fd, "w", O_CREAT | O_WRONLY, 0600) < 0, "w");
	need(openat(fd, "../e/v", O_CREAT | O_WRONLY, 0600) >= 0, "v");
}

static void ways(void)
{
	char path[64];
	int fd;

	need(!mkdir("d", 0755) && !symlink("/proc/self/cwd", "w") && !symlink("w/d", "x"), "tree");
	fd = open("d", O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	need(fd >= 0 && !symlink(path, "f"), "f");
	make("x/one", 0, 10);
	make("w/x/two", 0, 11);
	make("f/three", 0, 12);
	need(!rename("f/three", "w/four") && !unlink("x/one") && !chdir("f"), "names");
	make("../w/six", 0, 13);
}

static void far(void)
{
	char part[LONG + 1], path[64];
	int i;

	memset(part, 'd', LONG);
	part[LONG] = 0;
	for (i = 0; i < DEEP; i++)
		need(!mkdir(part, 0755) && !chdir(part), "far");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", make("bottom", 0, 4));
	write_to(path, O_APPEND, 1);
}

static void wait_for_end(void)
{
	need(read(STDIN_FILENO, zeros, 1) == 0, "end");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = { { "append", append }, { "same", same }, { "socket", sockets }, { "own", own },
		      { "deep", deep },	    { "handle", handle }, { "uring", uring },
		      { "root", root },	    { "lost", lost },   { "mounts", mounts },
		      { "pivot", pivot },   { "resolve", resolve }, { "refused", refused },
		      { "wait", wait_for_end }, { "newmounts", newmounts },
		      { "watched", watched }, { "whiteout", whiteout },
		      { "removed", removed }, { "ways", ways }, { "far", far } };
	unsigned int i;

	for (i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(argv[1], cases[i].name))
			continue;
		cases[i].run();
		return 0;
	}
	return 1;
}
