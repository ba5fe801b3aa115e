// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: 33 cases of calls that are seldom made, one by its name, in the working
 * directory. Without a name it says all of them. What a case needs and does not get goes to
 * stderr; so does a call that succeeds and should not.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <poll.h>
#include <dirent.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/sendfile.h>
#include <sys/inotify.h>
#include <sys/fanotify.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/time.h>
#include <sys/prctl.h>
#include <sys/mount.h>
#include <linux/openat2.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/futex.h>
extern char **environ;

static void ok(long result, const char *what)
{
	if (result < 0)
		perror(what);
}

#define OK(x) ok((long)(x), #x)

static void wrong(const char *what)
{
	fprintf(stderr, "%s: succeeds\n", what);
}

/* A call that must not succeed. */
#define NOT(x)                      \
	do {                        \
		if ((long)(x) >= 0) \
			wrong(#x);  \
	} while (0)

static char buf[1 << 20];
static int mk(const char *n, size_t len)
{
	int fd = open(n, O_CREAT | O_RDWR | O_TRUNC, 0644);

	if (len)
		OK(write(fd, buf, len));
	return fd;
}

static void tmpfile_(void)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0600);

	OK(fd);
	OK(write(fd, buf, 5000));
	char p[64];

	sprintf(p, "/proc/self/fd/%d", fd);
	OK(linkat(AT_FDCWD, p, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW));
	OK(linkat(fd, "", AT_FDCWD, "linked2", AT_EMPTY_PATH));
	close(fd);
	fd = open(".", O_TMPFILE | O_RDWR | O_EXCL, 0600);
	OK(write(fd, buf, 100));
	close(fd);
	OK(open("linked", O_RDONLY));
}

static void exchange(void)
{
	close(mk("a", 100));
	close(mk("b", 200));
	mkdir("d", 0755);
	close(mk("d/x", 10));
	OK(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE));
	OK(syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "d", RENAME_EXCHANGE));
	int fd = open("a/x", O_RDONLY);

	OK(fd);
	close(fd);
	fd = open("d", O_WRONLY | O_APPEND);
	OK(write(fd, buf, 7));
	close(fd);
	NOT(syscall(SYS_renameat2, AT_FDCWD, "b", AT_FDCWD, "d", RENAME_NOREPLACE));
	OK(syscall(SYS_renameat2, AT_FDCWD, "b", AT_FDCWD, "c", RENAME_NOREPLACE));
	OK(syscall(SYS_renameat2, AT_FDCWD, "c", AT_FDCWD, "w", RENAME_WHITEOUT));
}

static void copy(void)
{
	int a = mk("a", 300000), b = mk("b", 0), c = mk("c", 0), e = mk("e", 0);
	loff_t o = 1000, p = 50;

	OK(copy_file_range(a, &o, b, &p, 200000, 0));
	lseek(a, 0, 0);
	OK(copy_file_range(a, NULL, b, NULL, 100, 0));
	off_t s = 0;

	OK(sendfile(c, a, &s, 150000));
	OK(sendfile(c, a, NULL, 1000));
	int pp[2];

	OK(pipe(pp));
	lseek(a, 0, 0);
	loff_t q = 10;

	OK(splice(a, &q, pp[1], NULL, 30000, 0));
	OK(splice(pp[0], NULL, e, NULL, 30000, 0));
	int p2[2];

	OK(pipe2(p2, O_NONBLOCK));
	OK(write(pp[1], buf, 999));
	OK(tee(pp[0], p2[1], 999, 0));
	struct iovec v = { buf, 500 };

	OK(vmsplice(pp[1], &v, 1, 0));
	OK(read(pp[0], buf, 2000));
	OK(read(p2[0], buf, 2000));
	OK(ioctl(c, FICLONE, a) < 0 ? 0 : 0);
}

static void fallocs(void)
{
	int fd = mk("f", 100000);

	OK(fallocate(fd, 0, 200000, 50000));
	OK(fallocate(fd, FALLOC_FL_KEEP_SIZE, 400000, 50000));
	OK(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 8192, 16384));
	OK(fallocate(fd, FALLOC_FL_ZERO_RANGE, 0, 4096));
	OK(fallocate(fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 300000, 4096));
	OK(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 4096, 8192));
	OK(fallocate(fd, FALLOC_FL_INSERT_RANGE, 4096, 4096));
	OK(lseek(fd, 0, SEEK_DATA));
	OK(lseek(fd, 0, SEEK_HOLE));
	OK(lseek(fd, 1, SEEK_END));
	lseek(fd, 100, SEEK_CUR);
	OK(write(fd, buf, 10));
	OK(ftruncate(fd, 777777));
	OK(truncate("f", 600001));
	OK(posix_fallocate(fd, 700000, 10));
	OK(sync_file_range(fd, 0, 1000, 7));
	OK(syncfs(fd));
	close(fd);
}

static void rwf(void)
{
	int fd = mk("f", 100000);
	struct iovec v[3] = { { buf, 100 }, { buf, 200 }, { buf, 3000 } };

	OK(preadv2(fd, v, 3, 10, 0));
	OK(preadv2(fd, v, 3, -1, 0));
	OK(preadv2(fd, v, 2, 0, RWF_HIPRI) < 0 ? 0 : 0);
	OK(preadv2(fd, v, 2, 0, RWF_NOWAIT));
	OK(pwritev2(fd, v, 3, 5, RWF_DSYNC));
	OK(pwritev2(fd, v, 3, 0, RWF_APPEND));
	OK(pwritev2(fd, v, 3, -1, RWF_SYNC));
	OK(pwritev(fd, v, 2, 200000));
	OK(readv(fd, v, 3));
	OK(writev(fd, v, 3));
	int a = open("f", O_WRONLY | O_APPEND);

	OK(pwrite(a, buf, 50, 0));
	OK(write(a, buf, 60));
	OK(lseek(a, 0, SEEK_CUR));
	OK(pwritev2(a, v, 1, 0, 0x20) < 0 ? 0 : 0);
}

static void mmaps(void)
{
	int fd = mk("f", 0);

	ftruncate(fd, 1 << 20);
	char *m = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	for (int i = 0; i < 100; i++)
		m[i * 8192] = i;
	OK(msync(m, 1 << 20, MS_SYNC));
	m = mremap(m, 1 << 20, 2 << 20, MREMAP_MAYMOVE);
	ftruncate(fd, 2 << 20);
	m[1500000] = 1;
	OK(madvise(m, 4096, MADV_WILLNEED));
	OK(munmap(m, 65536));
	m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 4096);
	m[0] = 1;
	close(fd);
	m[5000] = 2;
	OK(mincore(m, 8192, (unsigned char *)buf));
	OK(mlock(m, 4096));
	OK(munlock(m, 4096));
	unlink("f");
	m[1] = 5;
}

static void locks(void)
{
	int fd = mk("l", 100), f2 = open("l", O_RDWR);

	OK(flock(fd, LOCK_EX));
	NOT(flock(f2, LOCK_EX | LOCK_NB));
	OK(flock(fd, LOCK_UN));
	struct flock k = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10 };

	OK(fcntl(fd, F_SETLK, &k));
	k.l_pid = 0;
	OK(fcntl(f2, F_GETLK, &k));
	k.l_type = F_WRLCK;
	k.l_pid = 0;
	k.l_start = 50;
	OK(fcntl(fd, F_OFD_SETLKW, &k));
	NOT(fcntl(f2, F_OFD_SETLK, &k));
	OK(lockf(fd, F_TLOCK, 5));
	OK(fcntl(fd, F_SETLEASE, F_RDLCK) < 0 ? 0 : 0);
	OK(fcntl(fd, F_DUPFD_CLOEXEC, 100));
	OK(dup3(fd, 200, O_CLOEXEC));
	OK(fcntl(fd, F_SETFL, O_APPEND));
	OK(write(fd, buf, 3));
	OK(fcntl(fd, F_GETFL));
	OK(write(200, buf, 4));
}

static void openat2_(void)
{
	mkdir("d", 0755);
	symlink("d", "s");
	struct open_how h = { .flags = O_CREAT | O_RDWR, .mode = 0600, .resolve = RESOLVE_BENEATH };
	int fd = syscall(SYS_openat2, AT_FDCWD, "d/f", &h, sizeof(h));

	OK(fd);
	OK(write(fd, buf, 33));
	h.resolve = RESOLVE_NO_SYMLINKS;
	NOT(syscall(SYS_openat2, AT_FDCWD, "s/g", &h, sizeof(h)));
	h.flags = O_PATH;
	h.mode = 0;
	h.resolve = 0;
	int p = syscall(SYS_openat2, AT_FDCWD, "d", &h, sizeof(h));

	OK(p);
	OK(openat(p, "h", O_CREAT | O_WRONLY, 0640));
	OK(mkdirat(p, "dd", 0700));
	OK(fchownat(p, "h", 0, 0, 0));
	OK(fchmodat(p, "h", 0444, 0));
	OK(faccessat(p, "h", R_OK, AT_EACCESS));
	OK(symlinkat("x", p, "sl"));
	OK(readlinkat(p, "sl", buf, 100));
	OK(unlinkat(p, "dd", AT_REMOVEDIR));
	struct stat st;

	OK(fstat(p, &st));
	OK(fchdir(p));
	OK(open("../d/f", O_RDONLY));
	struct {
		struct file_handle h;
		char b[128];
	} fh = { .h.handle_bytes = 128 };
	int mid;

	OK(name_to_handle_at(AT_FDCWD, "f", &fh.h, &mid, 0));
	int m = open("/", O_RDONLY);
	int o = open_by_handle_at(m, &fh.h, O_RDWR);

	OK(o);
	if (o >= 0) {
		OK(lseek(o, 0, SEEK_END));
		OK(write(o, buf, 10));
	}
	struct statx sx;

	OK(statx(AT_FDCWD, "f", 0, STATX_ALL, &sx));
	struct statfs sf;

	OK(statfs(".", &sf));
	OK(fstatfs(o, &sf));
	OK(syscall(439, AT_FDCWD, "f", R_OK, 0));
}

static void times(void)
{
	int fd = mk("t", 1);
	struct timespec ts[2] = { { 1000, 5 }, { 2000, 7 } };

	OK(utimensat(AT_FDCWD, "t", ts, 0));
	OK(futimens(fd, ts));
	struct timeval tv[2] = { { 3, 4 }, { 5, 6 } };

	OK(utimes("t", tv));
	OK(setxattr("t", "user.a", "bb", 2, 0));
	OK(getxattr("t", "user.a", buf, 100));
	OK(listxattr("t", buf, 100));
	OK(fremovexattr(fd, "user.a"));
	OK(mknod("fifo", S_IFIFO | 0600, 0));
	OK(mkfifo("fifo2", 0600));
	OK(mknod("reg", S_IFREG | 0600, 0));
	OK(mknod("dev", S_IFCHR | 0600, 0x103));
	int d = open("dev", O_WRONLY);

	OK(write(d, buf, 5));
	OK(chown("t", 1, 1));
	OK(lchown("t", 0, 0));
	OK(link("t", "t2"));
	umask(077);
	close(mk("u", 0));
	OK(creat("cr", 0666));
	OK(access("t", W_OK));
	sync();
}

static void names(void)
{
	static const char *const n[] = { "new\nline",
			    "\xff\xfe\200bad",
			    "tab\there",
			    " lead",
			    "trail ",
			    "quote\"'\\",
			    "-dash",
			    "%s%n",
			    "\x01\x7f",
			    "e\xcc\x81",
			    "\xe6\x97\xa5\xe6\x9c\xac",
			    "*?[",
			    "a,b;c",
			    "{x}",
			    "$HOME`id`",
			    "0)",
			    "<unfinished ...>",
			    "..." };
	for (unsigned int i = 0; i < sizeof(n) / sizeof(*n); i++) {
		int fd = mk(n[i], i + 1);

		OK(fd);
		close(fd);
		char t[300];

		sprintf(t, "%s_d", n[i]);
		OK(mkdir(t, 0755));
		strcat(t, "/");
		strcat(t, n[i]);
		OK(rename(n[i], t));
		OK(symlink(t, n[i]));
		struct stat st;

		OK(stat(n[i], &st));
	}
	char l[256];

	memset(l, 'n', 255);
	l[255] = 0;
	OK(mk(l, 1));
	l[0] = '\xc3';
	OK(mk(l, 2));
}

static void deep(void)
{
	char c[99];

	memset(c, 'd', 98);
	c[98] = 0;
	for (int i = 0; i < 60; i++) {
		OK(mkdir(c, 0755));
		OK(chdir(c));
	}
	close(mk("bottom", 4));
	char *p = malloc(4096);

	p[0] = 0;
	for (int i = 0; i < 39; i++) {
		strcat(p, c);
		strcat(p, "/");
	}
	strcat(p, "top");
	for (int i = 0; i < 60; i++)
		OK(chdir(".."));
	close(open(p, O_CREAT | O_WRONLY, 0644));
	struct stat st;

	OK(stat(p, &st));
	memset(p, 'a', 4095);
	p[4095] = 0;
	NOT(stat(p, &st));
	for (int i = 0; i < 4095; i++)
		p[i] = i % 2 ? '/' : '.';
	OK(stat(p, &st));
}

static void *thr(void *a)
{
	long i = (long)a;
	char n[32];

	sprintf(n, "t%ld", i % 97);
	int fd = open(n, O_CREAT | O_WRONLY | O_APPEND, 0644);

	OK(write(fd, buf, i % 50));
	close(fd);
	return NULL;
}

static void threads(void)
{
	for (long i = 0; i < 10000; i += 20) {
		pthread_t t[20];

		for (int j = 0; j < 20; j++)
			if (pthread_create(&t[j], NULL, thr, (void *)(i + j)))
				perror("create");
		for (int j = 0; j < 20; j++)
			pthread_join(t[j], NULL);
	}
}

static void manyatonce(void)
{
	static pthread_t t[2000];
	pthread_attr_t at;

	pthread_attr_init(&at);
	pthread_attr_setstacksize(&at, 65536);
	for (long i = 0; i < 2000; i++)
		if (pthread_create(&t[i], &at, thr, (void *)i)) {
			perror("create");
			break;
		}
	for (int i = 0; i < 2000; i++)
		if (t[i])
			pthread_join(t[i], NULL);
}

static void forks(void)
{
	for (int d = 0; d < 60; d++) {
		char n[16];

		sprintf(n, "d%d", d);
		close(mk(n, d));
		pid_t p = fork();

		if (p) {
			int st;

			waitpid(p, &st, 0);
			_exit(d ? WEXITSTATUS(st) : 0);
		}
	}
}

static void manyfiles(void)
{
	for (int i = 0; i < 100; i++) {
		char n[64];

		sprintf(n, "d%d", i);
		mkdir(n, 0755);
		for (int j = 0; j < 1000; j++) {
			sprintf(n, "d%d/f%d", i, j);
			close(open(n, O_CREAT | O_WRONLY, 0644));
			if (j % 3 == 0)
				unlink(n);
		}
	}
}

static int child(void *a)
{
	int fd = open("clone_vm", O_CREAT | O_WRONLY, 0644);

	OK(write(fd, buf, 9));
	*(int *)a = fd;
	return 0;
}

static void clones(void)
{
	char *st = malloc(65536);
	int fd = -1, s;
	pid_t p = clone(child, st + 65536, CLONE_VM | CLONE_FILES | SIGCHLD, &fd);

	OK(p);
	waitpid(p, &s, 0);
	OK(write(fd, buf, 4));
	close(fd);
	p = clone(child, st + 65536, CLONE_VM | CLONE_FS | SIGCHLD, &fd);
	waitpid(p, &s, 0);
	char *const av[] = { "sh", "-c", "echo sp > spawned", NULL };
	posix_spawn_file_actions_t fa;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 1, "spawnout", O_CREAT | O_WRONLY, 0644);
	OK(-posix_spawnp(&p, "sh", &fa, NULL, av, environ));
	waitpid(p, &s, 0);
	p = vfork();
	if (p == 0) {
		execlp("sh", "sh", "-c", "echo v > vforked", NULL);
		_exit(1);
	}
	waitpid(p, &s, 0);
	p = vfork();
	if (p == 0) {
		close(open("vf", O_CREAT, 0644));
		_exit(3);
	}
	waitpid(p, &s, 0);
	struct {
		unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal, stack, ssz;
		unsigned long long tls, set_tid, set_tid_size, cgroup;
	} ca = { .flags = 0x1000 /* PIDFD */, .exit_signal = SIGCHLD };
	int pfd;

	ca.pidfd = (unsigned long)&pfd;
	p = syscall(SYS_clone3, &ca, sizeof(ca));
	if (p == 0) {
		close(mk("clone3", 12));
		pause();
	}
	usleep(100000);
	OK(syscall(SYS_pidfd_send_signal, pfd, SIGKILL, NULL, 0));
	siginfo_t si;

	OK(waitid(P_PIDFD, pfd, &si, WEXITED));
	int d = syscall(SYS_pidfd_open, getpid(), 0);

	OK(d);
	int g = mk("pf", 3);
	int h = syscall(SYS_pidfd_getfd, d, g, 0);

	OK(h);
	OK(write(h, buf, 5));
}

static void *execer(void *a)
{
	(void)a;
	usleep(50000);
	execlp("sh", "sh", "-c", "echo thread > execd; exit 3", NULL);
	return NULL;
}

static void *spinner(void *a)
{
	for (;;)
		close(open("spin", O_CREAT | O_WRONLY, 0644));
	return a;
}

static void threadexec(void)
{
	pthread_t t;

	pthread_create(&t, NULL, spinner, NULL);
	pthread_create(&t, NULL, execer, NULL);
	for (;;)
		pause();
}

static void sigdeath(void)
{
	for (int i = 0; i < 4; i++) {
		pid_t p = fork();

		if (!p) {
			int fd = mk(i & 1 ? "k1" : "k0", 10);

			if (i == 0)
				abort();
			if (i == 1)
				raise(SIGKILL);
			if (i == 2)
				kill(getpid(), SIGSEGV);
			if (i == 3) {
				alarm(1);
				for (;;)
					OK(write(fd, buf, 1000) < 0 ? 0 : usleep(1000));
			}
		}
		int s;

		waitpid(p, &s, 0);
	}
	pid_t p = fork();

	if (!p) {
		raise(SIGSTOP);
		close(mk("cont", 6));
		_exit(0);
	}
	int s;

	waitpid(p, &s, WUNTRACED);
	OK(WIFSTOPPED(s) ? 0 : -1);
	usleep(50000);
	kill(p, SIGCONT);
	waitpid(p, &s, WCONTINUED);
	waitpid(p, &s, 0);
	OK(WIFEXITED(s) ? 0 : -1);
}

static void hnd(int s)
{
	(void)s;
	close(mk("handled", 2));
}

static void eintr(void)
{
	struct sigaction sa = { .sa_handler = hnd };

	sigaction(SIGALRM, &sa, NULL);
	int p[2];

	pipe(p);
	alarm(1);
	NOT(read(p[0], buf, 1));
	sa.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &sa, NULL);
	pid_t c = fork();

	if (!c) {
		usleep(1500000);
		write(p[1], "x", 1);
		_exit(0);
	}
	alarm(1);
	OK(read(p[0], buf, 1));
	wait(NULL);
}

static void sockets(void)
{
	int s[2];

	OK(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	pid_t p = fork();

	if (!p) {
		int f = mk("sent", 100);
		struct iovec v = { "x", 1 };
		char c[CMSG_SPACE(4)];
		struct msghdr m = { .msg_iov = &v,
				    .msg_iovlen = 1,
				    .msg_control = c,
				    .msg_controllen = sizeof(c) };
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);

		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(4);
		memcpy(CMSG_DATA(h), &f, 4);
		OK(sendmsg(s[1], &m, 0));
		_exit(0);
	}
	struct iovec v = { buf, 1 };
	char c[CMSG_SPACE(4)];
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = c, .msg_controllen = sizeof(c)
	};
	OK(recvmsg(s[0], &m, 0));
	int f;

	memcpy(&f, CMSG_DATA(CMSG_FIRSTHDR(&m)), 4);
	OK(write(f, buf, 50));
	OK(lseek(f, 0, SEEK_CUR));
	OK(pwrite(f, buf, 50, 300));
	wait(NULL);
	int l = socket(AF_UNIX, SOCK_STREAM, 0);
	struct sockaddr_un a = { AF_UNIX, "sock" };

	OK(bind(l, (void *)&a, sizeof(a)));
	OK(listen(l, 5));
	p = fork();
	if (!p) {
		int k = socket(AF_UNIX, SOCK_STREAM, 0);

		OK(connect(k, (void *)&a, sizeof(a)));
		OK(write(k, "hello", 5));
		OK(read(k, buf, 100));
		int o = mk("fromsock", 0);

		OK(write(o, buf, 4));
		_exit(0);
	}
	int k = accept(l, 0, 0);

	OK(read(k, buf, 100));
	int in = open("sent", O_RDONLY);
	off_t z = 0;

	OK(sendfile(k, in, &z, 50));
	wait(NULL);
	unlink("sock");
	int e = eventfd(0, 0);

	p = fork();
	unsigned long one = 1;

	if (!p) {
		close(mk("ev", 1));
		write(e, &one, 8);
		_exit(0);
	}
	OK(read(e, &one, 8));
	OK(open("ev", O_RDONLY));
	wait(NULL);
}

static void memfd(void)
{
	int m = memfd_create("x", MFD_ALLOW_SEALING);

	OK(write(m, buf, 100));
	OK(fcntl(m, F_ADD_SEALS, F_SEAL_WRITE));
	int f = mk("o", 0);
	off_t z = 0;

	OK(sendfile(f, m, &z, 100));
	char p[64];

	sprintf(p, "/proc/self/fd/%d", m);
	OK(open(p, O_RDONLY));
	int sh = syscall(SYS_memfd_secret, 0);
	(void)sh;
	int b = memfd_create("exe", 0);
	int t = open("/bin/true", O_RDONLY);
	struct stat st;

	fstat(t, &st);
	OK(sendfile(b, t, NULL, st.st_size));
	pid_t c = fork();

	if (!c) {
		char *const av[] = { "true", NULL };

		syscall(SYS_execveat, b, "", av, environ, AT_EMPTY_PATH);
		_exit(1);
	}
	int s;

	waitpid(c, &s, 0);
	OK(WEXITSTATUS(s) ? -1 : 0);
}

static void notify(void)
{
	int i = inotify_init1(IN_NONBLOCK);

	OK(i);
	OK(inotify_add_watch(i, ".", IN_ALL_EVENTS));
	close(mk("w", 5));
	unlink("w");
	OK(read(i, buf, 4096));
	int f = syscall(SYS_fanotify_init, 0, O_RDONLY);

	if (f >= 0) {
		OK(fanotify_mark(f, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, "."));
		close(open("w2", O_CREAT, 0644));
	}
}

static void dirs(void)
{
	char n[40];

	mkdir("d", 0755);
	for (int i = 0; i < 500; i++) {
		sprintf(n, "d/%d", i);
		close(open(n, O_CREAT, 0644));
	}
	void *d = opendir("d");
	struct dirent *e;
	int k = 0;

	while ((e = readdir(d))) {
		k++;
		if (k == 100) {
			long at = telldir(d);

			seekdir(d, at);
		}
		if (k % 7 == 0 && e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	}
	rewinddir(d);
	while (readdir(d))
		;
	closedir(d);
	OK(rename("d", "e"));
	OK(chdir("e"));
	OK(rename("../e", "../g"));
	char c[4096];

	OK(getcwd(c, 4096) ? 0 : -1);
	OK(mkdir("sub", 0755));
	OK(chdir("sub"));
	OK(rmdir("../sub"));
	NOT(open("x", O_CREAT, 0644));
	OK(chdir("..") < 0 ? 0 : 0);
}

static void links(void)
{
	symlink("loop2", "loop1");
	symlink("loop1", "loop2");
	NOT(open("loop1", O_RDONLY));
	symlink("none", "dangling");
	int fd = open("dangling", O_CREAT | O_WRONLY, 0644);

	OK(fd);
	OK(write(fd, buf, 5));
	OK(rename("none", "none2"));
	NOT(open("dangling", O_CREAT | O_EXCL, 0644));
	OK(link("dangling", "hl"));
	OK(linkat(AT_FDCWD, "none2", AT_FDCWD, "hl2", AT_SYMLINK_FOLLOW));
	OK(rename("hl2", "none2"));
	OK(unlink("none2"));
	OK(open("hl2", O_RDONLY));
	NOT(open("hl2", O_RDONLY | O_DIRECTORY));
	NOT(open("dangling", O_RDONLY | O_NOFOLLOW));
	mkdir("d", 0755);
	NOT(rename("d", "hl2"));
	NOT(rename("d", "d/d"));
	NOT(unlink("d"));
	OK(symlink("/proc/self/cwd/d", "mag"));
	close(open("mag/in", O_CREAT, 0644));
}

static void closes(void)
{
	int a = mk("a", 10);

	for (int i = 0; i < 50; i++)
		dup(a);
	OK(syscall(SYS_close_range, 20, 40, 0));
	OK(syscall(SYS_close_range, 45, ~0U, 4));
	pid_t p = fork();

	if (!p) {
		OK(write(a, buf, 5));
		OK(syscall(SYS_close_range, 3, ~0U, 2));
		execlp("sh", "sh", "-c", "ls /proc/self/fd; echo x > shx", NULL);
	}
	wait(NULL);
	OK(lseek(a, 0, SEEK_CUR));
	unshare(CLONE_FILES);
	OK(write(a, buf, 3));
	int d = dup2(a, a);

	OK(d);
	dup2(a, 1);
	printf("to a\n");
	fflush(stdout);
}

static void unlinked(void)
{
	int a = mk("a", 1000);

	unlink("a");
	OK(write(a, buf, 500));
	int b = mk("a", 7);

	OK(pread(a, buf, 100, 1200));
	OK(ftruncate(a, 10));
	OK(fsync(a));
	char p[40];

	sprintf(p, "/proc/self/fd/%d", a);
	int r = open(p, O_RDONLY);

	OK(r);
	OK(read(r, buf, 100));
	OK(fdatasync(b));
	NOT(linkat(AT_FDCWD, p, AT_FDCWD, "back", AT_SYMLINK_FOLLOW));
	struct stat st;

	OK(stat(p, &st));
	sprintf(p, "/dev/fd/%d", b);
	r = open(p, O_WRONLY | O_APPEND);
	OK(write(r, buf, 3));
}

static void limits(void)
{
	NOT(open("x", 0x7fffffff));
	NOT(open((char *)8, 0));
	NOT(read(-1, buf, 1));
	int a = mk("a", 10);

	NOT(write(a, (void *)8, 10));
	NOT(lseek(a, -5, SEEK_SET));
	NOT(pread(a, buf, 10, -1));
	OK(ftruncate(a, 1L << 42));
	OK(pwrite(a, buf, 1, (1L << 43)));
	NOT(ftruncate(a, -1));
	OK(read(a, buf, 0));
	NOT(read(open(".", O_RDONLY), buf, 10));
	NOT(ioctl(a, 0x5401, buf));
	syscall(9999);
	syscall(-1);
	OK(prctl(PR_SET_NAME, "a\nb\xff"));
	OK(syscall(SYS_readahead, a, 0, 100));
	OK(posix_fadvise(a, 0, 0, POSIX_FADV_DONTNEED));
	struct iovec v[2000];

	for (int i = 0; i < 1024; i++)
		v[i] = (struct iovec){ buf, 3 };
	OK(writev(a, v, 1024));
	NOT(writev(a, v, 1025));
}

static void direct(void)
{
	int f = open("dio", O_CREAT | O_RDWR | O_DIRECT | O_SYNC, 0644);

	OK(f);
	void *m;

	posix_memalign(&m, 4096, 65536);
	memset(m, 7, 65536);
	OK(write(f, m, 65536));
	OK(pread(f, m, 4096, 8192));
	NOT(write(f, (char *)m + 1, 100));
	OK(pwrite(f, m, 4096, 65536));
	OK(lseek(f, 0, SEEK_END));
}

static void rootdir(void)
{
	mkdir("r", 0755);
	mkdir("r/sub", 0755);
	close(mk("r/f", 4));
	pid_t p = fork();

	if (!p) {
		OK(chroot("r"));
		OK(chdir("/"));
		int fd = open("/f", O_RDWR | O_APPEND);

		OK(fd);
		OK(write(fd, buf, 5));
		close(mk("/made", 6));
		OK(rename("/made", "/sub/moved"));
		OK(symlink("/f", "/abs"));
		OK(open("/abs", O_RDONLY));
		OK(open("../../f", O_RDONLY));
		_exit(0);
	}
	wait(NULL);
	OK(open("r/sub/moved", O_RDONLY));
}

static void mntns(void)
{
	mkdir("m", 0755);
	mkdir("b", 0755);
	close(mk("b/orig", 3));
	pid_t p = fork();

	if (!p) {
		OK(unshare(CLONE_NEWNS));
		OK(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
		OK(mount("b", "m", NULL, MS_BIND, NULL));
		close(mk("m/viabind", 11));
		OK(rename("m/orig", "m/orig2"));
		OK(umount("m"));
		OK(mount("t", "m", "tmpfs", 0, NULL));
		close(mk("m/intmp", 12));
		close(mk("out", 13));
		_exit(0);
	}
	wait(NULL);
	struct stat st;

	OK(stat("b/viabind", &st));
}

static void pivot(void)
{
	mkdir("n", 0755);
	mkdir("n/old", 0755);
	pid_t p = fork();

	if (!p) {
		OK(unshare(CLONE_NEWNS));
		OK(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
		OK(mount("n", "n", NULL, MS_BIND, NULL));
		OK(syscall(SYS_pivot_root, "n", "n/old"));
		OK(chdir("/"));
		close(mk("/pivoted", 21));
		close(open("/old/etc/hostname", O_RDONLY));
		OK(mkdir("/dd", 0755));
		_exit(0);
	}
	wait(NULL);
	OK(open("n/pivoted", O_RDONLY));
}

static void setuids(void)
{
	OK(chmod(".", 0777));
	pid_t p = fork();

	if (!p) {
		OK(setgid(65534));
		OK(setuid(65534));
		close(mk("nobody", 5));
		NOT(open("/etc/shadow", O_RDONLY));
		NOT(mkdir("/root/x", 0755));
		NOT(chown("nobody", 0, 0));
		_exit(0);
	}
	wait(NULL);
}

static void futexes(void)
{
	int *f = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t p = fork();

	if (!p) {
		for (int i = 0; i < 100; i++) {
			char n[20];

			sprintf(n, "x%d", i);
			close(mk(n, i));
			__atomic_store_n(f, i + 1, __ATOMIC_SEQ_CST);
			syscall(SYS_futex, f, FUTEX_WAKE, 1, NULL, NULL, 0);
			usleep(100);
		}
		_exit(0);
	}
	for (int i = 0; i < 100; i++) {
		int v;

		while ((v = __atomic_load_n(f, __ATOMIC_SEQ_CST)) <= i)
			syscall(SYS_futex, f, FUTEX_WAIT, v, NULL, NULL, 0);
		char n[20];

		sprintf(n, "x%d", i);
		OK(unlink(n));
	}
	wait(NULL);
}

static const struct {
	const char *n;
	void (*f)(void);
} T[] = { { "tmpfile", tmpfile_ },
	  { "exchange", exchange },
	  { "copy", copy },
	  { "fallocs", fallocs },
	  { "rwf", rwf },
	  { "mmaps", mmaps },
	  { "locks", locks },
	  { "openat2", openat2_ },
	  { "times", times },
	  { "names", names },
	  { "deep", deep },
	  { "threads", threads },
	  { "manyatonce", manyatonce },
	  { "forks", forks },
	  { "manyfiles", manyfiles },
	  { "clones", clones },
	  { "threadexec", threadexec },
	  { "sigdeath", sigdeath },
	  { "eintr", eintr },
	  { "sockets", sockets },
	  { "memfd", memfd },
	  { "notify", notify },
	  { "dirs", dirs },
	  { "links", links },
	  { "closes", closes },
	  { "unlinked", unlinked },
	  { "limits", limits },
	  { "direct", direct },
	  { "rootdir", rootdir },
	  { "mntns", mntns },
	  { "pivot", pivot },
	  { "setuids", setuids },
	  { "futexes", futexes } };

int main(int argc, char **argv)
{
	for (unsigned int i = 0; i < sizeof(T) / sizeof(*T); i++) {
		if (argc < 2)
			puts(T[i].n);
		if (argc < 2 || strcmp(argv[1], T[i].n))
			continue;
		T[i].f();
		return 0;
	}
	return argc > 1;
}
