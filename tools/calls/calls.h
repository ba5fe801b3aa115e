/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which system calls there are, what is recorded of each, and what each does. One table for the
 * tracer, the finisher, and, printed by `david-trace calls`, for the importers and exporters in
 * Python.
 *
 * Letters of arguments:
 *   f F	descriptor; F may be -1
 *   d D	directory descriptor of the path p or P that follows, or AT_FDCWD
 *   p P	first and second path
 *   o m	flags of open, mode
 *   u i l x	unsigned, int, signed 64 bit, shown as hexadecimal
 *   s t	struct stat or struct statx, filled in
 *   v		iovec; the number of them follows
 *   r		two descriptors, filled in
 *   y		pointer to an offset, or NULL
 *   a		argument strings of a new program
 *   h		struct open_how; its size follows
 *   k		third argument of fcntl: what the command says
 *   b		any other pointer
 *
 * A record may have a path though no letter says so: the name of a local socket of bind, and of
 * what open_by_handle_at has opened.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include "../../dm-david/portable/portable.h"

#define CALL_ARGS 6
#define CALL_UNKNOWN U32_MAX /* number of calls that have none here: another architecture's */
#define CALL_I386 0x10000u /* in a finished trace calls of i386 are numbered from there on */

/* Younger than the oldest headers, or in no header of theirs. */
#define RENAME_EXCHANGE_FLAG 2u
#define RENAME_WHITEOUT_FLAG 4u
#define RWF_APPEND_FLAG 0x10u
#define RWF_NOAPPEND_FLAG 0x20u

enum call_class {
	CALL_NEVER,
	CALL_FILES,
	CALL_SYNC,
	CALL_PAGES,
};

/* How a replay does a call. */
enum call_replay {
	REPLAY_DONE, /* it is done again */
	REPLAY_ORDER, /* it does nothing to a file by itself: at most others are ordered by it */
	REPLAY_OUT, /* it is left out, and counted as such */
};

/*
 * What happens at exec to the descriptors that a call has made. CALL_FDS_IF(arg, bit) says which
 * bit of which argument has them closed; without it they are kept.
 */
enum {
	CALL_FDS_NONE, /* it makes none */
	CALL_FDS_KEPT,
	CALL_FDS_CLOSED,
	CALL_FDS_HOW, /* as struct open_how says */
	CALL_FDS_COMMAND, /* as its command says */
};

#define CALL_FDS_IF(arg, bit) (((arg) + 1) << 5 | (bit))

/* What the finisher does with a call. */
enum call_effect {
	DOES_NONE, /* nothing, beyond the descriptor that an "f" in front names */
	DOES_READ,
	DOES_PREAD,
	DOES_WRITE,
	DOES_PWRITE,
	DOES_SEEK,
	DOES_RECVMMSG,
	DOES_SENDMMSG,
	DOES_SENDFILE,
	DOES_COPY,
	DOES_SPLICE,
	DOES_MMAP,
	DOES_URING,
	DOES_OPEN,
	DOES_CREAT,
	DOES_OPENAT2,
	DOES_SOCKET,
	DOES_PAIR,
	DOES_PAIR4,
	DOES_CLOSE,
	DOES_CLOSERANGE,
	DOES_DUP,
	DOES_DUP2,
	DOES_FCNTL,
	DOES_IOCTL,
	DOES_LOOK, /* at the file that a path names, through symbolic links */
	DOES_LLOOK, /* ... at the link itself */
	DOES_LOOKAT, /* ... as AT_SYMLINK_NOFOLLOW in the last argument says */
	DOES_STATX,
	DOES_FDESC, /* at the descriptor's file */
	DOES_FSYNC,
	DOES_SYNCALL,
	DOES_TRUNCATE,
	DOES_FTRUNCATE,
	DOES_FALLOCATE,
	DOES_CHDIR,
	DOES_FCHDIR,
	DOES_CHROOT,
	DOES_MOUNT,
	DOES_RENAME,
	DOES_LINK,
	DOES_SYMLINK,
	DOES_READLINK,
	DOES_UNLINK,
	DOES_RMDIR,
	DOES_MKDIR,
	DOES_BIND, /* of a local socket, to a name */
	DOES_MKNOD,
	DOES_FORK,
	DOES_VFORK,
	DOES_CLONE,
	DOES_CLONE3,
	DOES_EXEC,
	DOES_EXIT,
	DOES_WAIT,
	DOES_UNSHARE,
	DOES_SETUID,
	DOES_SETREUID,
};

struct call {
	const char *name; /* NULL: no such call */
	enum call_class class;
	enum call_effect effect;
	const char *args;
	const char *does; /* the effect as a text */
	u8 fds; /* CALL_FDS_ */
	u8 replay; /* enum call_replay */
};

/* One more than the largest number in the table. */
extern const unsigned int calls_end;

/* The call of a number; NULL if there is none. */
const struct call *call_of(u32 nr);
u32 call_number(const struct call *call);

/* The position of the first argument with that letter; -1 if there is none. */
int call_arg(const struct call *call, char letter);

/* Does it act on what its one name names? Then ENOENT says that the name is not there. */
bool call_wants_name(const struct call *call);

/* rmdir(), or unlinkat() that does the same. */
bool call_removes_directory(const struct call *call, u32 nr, const u64 *args);

/*
 * Does a write go to the end of the file, wherever the call says? Linux does so with O_APPEND in
 * the @flags of the description, also where the call has an offset.
 */
bool call_appends(u32 nr, const u64 *args, u32 flags);

/* Are the descriptors that it has made closed at exec? Not of a call with a struct or a command. */
bool call_closes_at_exec(const struct call *call, const u64 *args);

/* What a call does with an extended attribute. */
enum call_xattr {
	XATTR_NONE,
	XATTR_SET,
	XATTR_GET,
	XATTR_LIST,
	XATTR_REMOVE,
};

/* *@name: which argument is the name; the value, or a structure with it, follows. */
enum call_xattr call_xattr(u32 nr, unsigned int *name);

/* setxattrat() and its like: flags of the way in the third argument, the value in a structure. */
bool call_xattr_at(u32 nr);

/* The table as text, a line a call: number, name, class, arguments, effect, descriptors, replay. */
void calls_print(void);

#define CALLS32_END 512

/* Of a call of i386: its name, and the call of x86-64 that does the same; NULL: there is none. */
const char *call32_name(u32 nr);
const struct call *call32_like(u32 nr);

/* The table of i386: number, name, what it is like. */
void calls32_print(void);

#endif
