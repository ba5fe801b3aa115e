// SPDX-License-Identifier: GPL-2.0
/*
 * The same calls as a program for i386 and as one for x86-64, without a library: so cc -m32
 * -nostdlib builds it where none is installed for i386. With calls that i386 has in a form of its
 * own: a position in two halves or behind a pointer (pread64, ftruncate64, _llseek), in pages
 * (mmap2), other structs (stat64, fstat64, fcntl64), wider numbers of users (chown32). Its argument
 * is a directory with a file "in".
 */
#include <asm/unistd.h>
#include <linux/fcntl.h>

#define PAGE	4096
#define FAR	5000000000LL	/* does not fit into 32 bits */

static char buffer[2 * PAGE];
static long long other[64];

#if __SIZEOF_LONG__ == 4
enum {
	CALL_CHOWN = __NR_chown32, CALL_FCNTL = __NR_fcntl64, CALL_FSTAT = __NR_fstat64,
	CALL_LSTAT = __NR_lstat64, CALL_MMAP = __NR_mmap2, CALL_STAT = __NR_stat64,
};

#define MMAP_UNIT	1	/* page */

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	long args[2] = { nr, f }, result;

	asm volatile("push %%ebp\n\tmov 4(%%eax), %%ebp\n\tmov (%%eax), %%eax\n\t"
		     "int $0x80\n\tpop %%ebp"
		     : "=a"(result)
		     : "a"(args), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
		     : "memory");
	return result;
}

static void seek(long fd, long long to, long whence)
{
	call(__NR__llseek, fd, to >> 32, (unsigned int)to, (long)other, whence, 0);
}

static void at(long nr, long fd, long length, long long offset)
{
	call(nr, fd, (long)buffer, length, (unsigned int)offset, offset >> 32, 0);
}

static void resize(long fd, long long size)
{
	call(__NR_ftruncate64, fd, (unsigned int)size, size >> 32, 0, 0, 0);
}

asm(".globl _start\n_start: mov %esp, %eax\n\tpush %eax\n\tcall begin\n");
#else
enum {
	CALL_CHOWN = __NR_chown, CALL_FCNTL = __NR_fcntl, CALL_FSTAT = __NR_fstat,
	CALL_LSTAT = __NR_lstat, CALL_MMAP = __NR_mmap, CALL_STAT = __NR_stat,
};

#define MMAP_UNIT	PAGE

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 asm("r10") = d, r8 asm("r8") = e, r9 asm("r9") = f;
	long result;

	asm volatile("syscall"
		     : "=a"(result)
		     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		     : "rcx", "r11", "memory");
	return result;
}

static void seek(long fd, long long to, long whence)
{
	call(__NR_lseek, fd, to, whence, 0, 0, 0);
}

static void at(long nr, long fd, long length, long long offset)
{
	call(nr, fd, (long)buffer, length, offset, 0, 0);
}

static void resize(long fd, long long size)
{
	call(__NR_ftruncate, fd, size, 0, 0, 0, 0);
}

asm(".globl _start\n_start: mov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin\n");
#endif

static long call3(long nr, long a, long b, long c)
{
	return call(nr, a, b, c, 0, 0, 0);
}

static long named(long nr, const char *name, long b, long c)
{
	return call3(nr, (long)name, b, c);
}

static void two(long nr, const char *from, const char *to)
{
	call3(nr, (long)from, (long)to, 0);
}

void begin(long *stack)
{
	long fd, more;

	call3(__NR_chdir, stack[2], 0, 0);
	named(__NR_mkdir, "d", 0755, 0);
	fd = named(__NR_open, "d/a", O_RDWR | O_CREAT | O_LARGEFILE, 0644);
	call3(__NR_write, fd, (long)buffer, PAGE);
	seek(fd, FAR, 0);
	call3(__NR_write, fd, (long)buffer, 100);
	at(__NR_pwrite64, fd, 2 * PAGE, FAR + PAGE);
	at(__NR_pread64, fd, PAGE, FAR);
	seek(fd, -10, 1);
	call3(__NR_read, fd, (long)buffer, 30);
	call3(CALL_FSTAT, fd, (long)other, 0);
	resize(fd, FAR + 50);
	call(CALL_MMAP, 0, PAGE, 1, 1, fd, MMAP_UNIT);
	more = call3(CALL_FCNTL, fd, F_DUPFD, 9);
	call3(__NR_dup2, more, 20, 0);
	call3(__NR_close, more, 0, 0);
	call3(__NR_read, 20, (long)buffer, 7);
	call3(__NR_fsync, 20, 0, 0);
	call3(__NR_close, 20, 0, 0);
	call3(__NR_close, fd, 0, 0);
	two(__NR_rename, "d/a", "d/b");
	two(__NR_link, "d/b", "c");
	two(__NR_symlink, "d/b", "way");
	named(CALL_STAT, "way", (long)other, 0);
	named(CALL_LSTAT, "way", (long)other, 0);
	named(CALL_CHOWN, "c", -1, -1);
	named(__NR_chmod, "c", 0600, 0);
	fd = call(__NR_openat, AT_FDCWD, (long)"in", O_RDONLY, 0, 0, 0);
	call3(__NR_read, fd, (long)buffer, 50);
	call3(__NR_close, fd, 0, 0);
	fd = named(__NR_open, "d", O_RDONLY | O_DIRECTORY, 0);
	call3(__NR_getdents64, fd, (long)other, sizeof(other));
	call3(__NR_close, fd, 0, 0);
	named(__NR_unlink, "way", 0, 0);
	named(__NR_unlink, "c", 0, 0);
	named(__NR_unlink, "d/b", 0, 0);
	named(__NR_rmdir, "d", 0, 0);
	named(__NR_unlink, "none", 0, 0);
	call3(__NR_exit, 0, 0, 0);
}
