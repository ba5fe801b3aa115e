// SPDX-License-Identifier: GPL-2.0
#include "i386.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "../capture.h"

/* Numbers of i386's, where a call's arguments are not those of the call that it is like. */
enum i386 {
	I386_LCHOWN = 16,
	I386_LSEEK = 19,
	I386_UMOUNT = 22,
	I386_FCNTL = 55,
	I386_SETREUID = 70,
	I386_READDIR = 89,
	I386_MMAP = 90,
	I386_TRUNCATE = 92,
	I386_FTRUNCATE = 93,
	I386_FCHOWN = 95,
	I386_SOCKETCALL = 102,
	I386_LLSEEK = 140,
	I386_SETRESUID = 164,
	I386_PREAD = 180,
	I386_PWRITE = 181,
	I386_CHOWN = 182,
	I386_SENDFILE = 187,
	I386_MMAP2 = 192,
	I386_TRUNCATE64 = 193,
	I386_FTRUNCATE64 = 194,
	I386_FCNTL64 = 221,
	I386_READAHEAD = 225,
	I386_FADVISE64 = 250,
	I386_FADVISE64_64 = 272,
	I386_SYNC_FILE_RANGE = 314,
	I386_FALLOCATE = 324,
	I386_PREADV = 333,
	I386_PWRITEV = 334,
	I386_FANOTIFY_MARK = 339,
	I386_PREADV2 = 378,
	I386_PWRITEV2 = 379,
};

#define GETLK64 12 /* and the two behind it: in fcntl64, F_GETLK and so on */
#define NOBODY16 0xffff /* of 16 bits: leave it as it is */

/* Whose structures in memory are not followed: several messages, what is submitted. */
static bool has_other_forms(u32 nr)
{
	switch (nr) {
	case SYS_sendmmsg:
	case SYS_recvmmsg:
	case SYS_io_setup:
	case SYS_io_submit:
	case SYS_io_getevents:
	case SYS_io_pgetevents:
	case SYS_io_uring_setup:
	case SYS_io_uring_enter:
	case SYS_io_uring_register:
		return true;
	default:
		return false;
	}
}

static u64 both(const u64 *low)
{
	return (u32)low[0] | low[1] << 32;
}

/* A number of 64 bits stands in two arguments, from @at on; what is behind it moves up. */
static void join(u64 *args, unsigned int at)
{
	args[at] = both(args + at);
	for (at++; at < 5; at++)
		args[at] = args[at + 1];
}

static void owners(u64 *args, unsigned int at)
{
	unsigned int i;

	for (i = at; i < at + 2; i++) {
		if (args[i] == NOBODY16)
			args[i] = U32_MAX;
	}
}

/* Its arguments are in memory. */
static bool old_mmap(struct task *task)
{
	u32 args[6];
	unsigned int i;

	if (peek_memory(task->tid, task->call.args[0], args, sizeof(args)) < sizeof(args))
		return false;
	for (i = 0; i < 6; i++)
		task->call.args[i] = args[i];
	return true;
}

static bool put_arguments(struct task *task, u32 nr)
{
	u64 *args = task->call.args;

	switch (nr) {
	case I386_LSEEK:
	case I386_TRUNCATE:
	case I386_FTRUNCATE:
		args[1] = (s32)args[1];
		break;
	case I386_LLSEEK:
		task->found_at = args[3];
		args[1] = args[1] << 32 | args[2];
		args[2] = args[4];
		break;
	case I386_UMOUNT:
		args[1] = 0;
		break;
	case I386_READDIR: /* one name a call, and no end */
		return false;
	case I386_MMAP:
		return old_mmap(task);
	case I386_SENDFILE:
		task->short_offset = true;
		break;
	case I386_MMAP2:
		args[5] <<= 12;
		break;
	case I386_SETREUID:
	case I386_SETRESUID:
		owners(args, 0);
		break;
	case I386_CHOWN:
	case I386_LCHOWN:
	case I386_FCHOWN:
		owners(args, 1);
		break;
	case I386_FCNTL:
	case I386_FCNTL64:
		if (args[1] - GETLK64 < 3)
			args[1] += F_GETLK - GETLK64;
		break;
	case I386_TRUNCATE64:
	case I386_FTRUNCATE64:
	case I386_READAHEAD:
	case I386_FADVISE64:
		join(args, 1);
		break;
	case I386_PREAD:
	case I386_PWRITE:
	case I386_PREADV:
	case I386_PWRITEV:
		join(args, 3);
		break;
	case I386_PREADV2:
	case I386_PWRITEV2: /* x86-64 has the upper half twice */
		args[3] = both(args + 3);
		break;
	case I386_FADVISE64_64:
	case I386_SYNC_FILE_RANGE:
		join(args, 1);
		join(args, 2);
		break;
	case I386_FALLOCATE:
		join(args, 2);
		join(args, 3);
		break;
	case I386_FANOTIFY_MARK:
		join(args, 2);
		break;
	}
	return true;
}

/* All of sockets is one call, by a number of its own, and with its arguments in memory. */
static const struct call *socket_call(struct task *task)
{
	static const struct {
		u32 nr;
		u32 arguments;
	} calls[] = {
		{ SYS_socket, 3 },	{ SYS_bind, 3 },	{ SYS_connect, 3 },
		{ SYS_listen, 2 },	{ SYS_accept, 3 },	{ SYS_getsockname, 3 },
		{ SYS_getpeername, 3 }, { SYS_socketpair, 4 },	{ SYS_sendto, 4 },
		{ SYS_recvfrom, 4 },	{ SYS_sendto, 6 },	{ SYS_recvfrom, 6 },
		{ SYS_shutdown, 2 },	{ SYS_setsockopt, 5 },	{ SYS_getsockopt, 5 },
		{ SYS_sendmsg, 3 },	{ SYS_recvmsg, 3 },	{ SYS_accept4, 4 },
	};
	u64 which = task->call.args[0] - 1;
	u32 args[6] = {}, i;
	size_t bytes;

	if (which >= ARRAY_SIZE(calls))
		return NULL;
	bytes = calls[which].arguments * sizeof(*args);
	if (peek_memory(task->tid, task->call.args[1], args, bytes) < bytes)
		return NULL;
	for (i = 0; i < 6; i++)
		task->call.args[i] = args[i];
	return call_of(calls[which].nr);
}

bool i386_entry(struct task *task)
{
	u32 nr = task->call.nr;
	const struct call *like = nr == I386_SOCKETCALL ? socket_call(task) : call32_like(nr);

	if (!like)
		return false;
	if (has_other_forms(call_number(like)) || !put_arguments(task, nr))
		return false;
	task->call.nr = call_number(like);
	task->call.foreign = false;
	task->narrow = true;
	return true;
}

s64 i386_result(const struct task *task, s64 result)
{
	u64 at;

	if (!task->found_at || result < 0 ||
	    peek_memory(task->tid, task->found_at, &at, sizeof(at)) < sizeof(at))
		return result;
	return at;
}
