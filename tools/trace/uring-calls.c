// SPDX-License-Identifier: GPL-2.0
#include "uring-calls.h"

#include <sys/syscall.h>

#define OP_FTRUNCATE 55 /* younger than the oldest headers */

static const struct equivalent {
	u32 nr;
	const char *args;
} equivalents[] = {
	[IORING_OP_READV] = { SYS_preadv2, "falo0r" },
	[IORING_OP_WRITEV] = { SYS_pwritev2, "falo0r" },
	[IORING_OP_FSYNC] = { SYS_fsync, "f" },
	[IORING_OP_READ_FIXED] = { SYS_pread64, "falo" },
	[IORING_OP_WRITE_FIXED] = { SYS_pwrite64, "falo" },
	[IORING_OP_SYNC_FILE_RANGE] = { SYS_sync_file_range, "folr" },
	[IORING_OP_SENDMSG] = { SYS_sendmsg, "far" },
	[IORING_OP_RECVMSG] = { SYS_recvmsg, "far" },
	[IORING_OP_ACCEPT] = { SYS_accept4, "faor" },
	[IORING_OP_CONNECT] = { SYS_connect, "fao" },
	[IORING_OP_FALLOCATE] = { SYS_fallocate, "floa" },
	[IORING_OP_OPENAT] = { SYS_openat, "farl" },
	[IORING_OP_CLOSE] = { SYS_close, "f" },
	[IORING_OP_STATX] = { SYS_statx, "farlo" },
	[IORING_OP_READ] = { SYS_pread64, "falo" },
	[IORING_OP_WRITE] = { SYS_pwrite64, "falo" },
	[IORING_OP_FADVISE] = { SYS_fadvise64, "folr" },
	[IORING_OP_SEND] = { SYS_sendto, "falr" },
	[IORING_OP_RECV] = { SYS_recvfrom, "falr" },
	[IORING_OP_OPENAT2] = { SYS_openat2, "faol" },
	[IORING_OP_SHUTDOWN] = { SYS_shutdown, "fl" },
	[IORING_OP_RENAMEAT] = { SYS_renameat2, "falor" },
	[IORING_OP_UNLINKAT] = { SYS_unlinkat, "far" },
	[IORING_OP_MKDIRAT] = { SYS_mkdirat, "fal" },
	[IORING_OP_SYMLINKAT] = { SYS_symlinkat, "afo" },
	[IORING_OP_LINKAT] = { SYS_linkat, "falor" },
	[IORING_OP_SOCKET] = { SYS_socket, "fol" },
	[OP_FTRUNCATE] = { SYS_ftruncate, "fo" },
};

const char *uring_fields(u8 opcode)
{
	return opcode < ARRAY_SIZE(equivalents) ? equivalents[opcode].args : NULL;
}

static u64 sqe_argument(const struct io_uring_sqe *sqe, s32 fd, char field)
{
	switch (field) {
	case 'f':
		return fd;
	case 'a':
		return sqe->addr;
	case 'l':
		return sqe->len;
	case 'o':
		return sqe->off;
	case 'r':
		return sqe->rw_flags;
	default:
		return 0;
	}
}

void uring_args(const struct io_uring_sqe *sqe, s32 fd, u64 *args)
{
	const char *fields = uring_fields(sqe->opcode);
	unsigned int i;

	for (i = 0; fields && fields[i]; i++)
		args[i] = sqe_argument(sqe, fd, fields[i]);
}

/* A read or write at offset -1 is one where the description stands. */
static u32 without_offset(u32 nr)
{
	switch (nr) {
	case SYS_pread64:
		return SYS_read;
	case SYS_pwrite64:
		return SYS_write;
	case SYS_preadv2:
		return SYS_readv;
	case SYS_pwritev2:
		return SYS_writev;
	default:
		return nr;
	}
}

/* CALL_UNKNOWN: what has none, or is about a descriptor that only the ring has. */
u32 uring_call(u8 opcode, const struct io_uring_sqe *sqe)
{
	bool makes = opcode == IORING_OP_OPENAT || opcode == IORING_OP_OPENAT2 ||
		     opcode == IORING_OP_CLOSE || opcode == IORING_OP_ACCEPT ||
		     opcode == IORING_OP_SOCKET;

	if (!uring_fields(opcode) || (sqe && makes && sqe->file_index))
		return CALL_UNKNOWN;
	if (sqe && opcode == IORING_OP_FSYNC && sqe->rw_flags & IORING_FSYNC_DATASYNC)
		return SYS_fdatasync;
	if (sqe && sqe->off == U64_MAX)
		return without_offset(equivalents[opcode].nr);
	return equivalents[opcode].nr;
}

bool uring_opens(u32 nr)
{
	const struct call *call = call_of(nr);

	return call && (call->effect == DOES_OPEN || call->effect == DOES_OPENAT2 ||
			call->effect == DOES_SOCKET);
}
