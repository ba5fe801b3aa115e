// SPDX-License-Identifier: GPL-2.0
/* By ptrace: what is submitted to AIO, in the task's memory, and what has ended. */
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "aio.h"
#include "../capture.h"

#define AT_ONCE 1024 /* more of one call are left out */
#define PARTS 64 /* of an iovec, that are added up */

static u64 bytes_of(const struct task *task, const struct iocb *iocb)
{
	struct iovec part[PARTS];
	u64 count = min_t(u64, iocb->aio_nbytes, PARTS), bytes = 0, i;

	if (iocb->aio_lio_opcode != IOCB_CMD_PREADV && iocb->aio_lio_opcode != IOCB_CMD_PWRITEV)
		return iocb->aio_nbytes;
	count = peek_memory(task->tid, iocb->aio_buf, part, count * sizeof(*part)) / sizeof(*part);
	for (i = 0; i < count; i++)
		bytes += part[i].iov_len;
	return bytes;
}

void aio_entry(struct task *task)
{
	u64 count = min_t(u64, task->call.args[1], AT_ONCE), at[AT_ONCE], i;
	struct tracefile_iocb all[AT_ONCE];
	struct iocb iocb;

	if (task->call.nr != SYS_io_submit || (s64)task->call.args[1] <= 0)
		return;
	count = peek_memory(task->tid, task->call.args[2], at, count * sizeof(*at)) / sizeof(*at);
	for (i = 0; i < count; i++) {
		if (peek_memory(task->tid, at[i], &iocb, sizeof(iocb)) < sizeof(iocb))
			break;
		all[i] = (struct tracefile_iocb){
			.address = at[i],
			.bytes = bytes_of(task, &iocb),
			.offset = iocb.aio_offset,
			.fd = iocb.aio_fildes,
			.opcode = iocb.aio_lio_opcode,
		};
	}
	if (i)
		task_blob(task, TRACEFILE_IOCBS, all, i * sizeof(*all));
}

void aio_exit(struct task *task, s64 result)
{
	struct io_event all[AT_ONCE];
	u64 context;
	size_t got;

	if (task->call.nr == SYS_io_setup && !result &&
	    peek_memory(task->tid, task->call.args[1], &context, sizeof(context)) ==
		    sizeof(context))
		task_blob(task, TRACEFILE_CONTEXT, &context, sizeof(context));
	if ((task->call.nr != SYS_io_getevents && task->call.nr != SYS_io_pgetevents) ||
	    result <= 0)
		return;
	got = peek_memory(task->tid, task->call.args[3], all,
			  min_t(s64, result, AT_ONCE) * sizeof(*all));
	got -= got % sizeof(*all);
	if (got)
		task_blob(task, TRACEFILE_EVENTS, all, got);
}
