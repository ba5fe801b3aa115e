// SPDX-License-Identifier: GPL-2.0
#include "aio.h"

#include <linux/aio_abi.h>
#include <sys/syscall.h>

#include "../calls/calls.h"

/* A context is known by the page that it is mapped at. */
static u32 aio_ring(u64 context)
{
	return context >> 12;
}

static u32 equivalent_of(const struct raw_iocb *iocb)
{
	switch (iocb->opcode) {
	case IOCB_CMD_PREAD:
	case IOCB_CMD_PREADV:
		return SYS_pread64;
	case IOCB_CMD_PWRITE:
	case IOCB_CMD_PWRITEV:
		return SYS_pwrite64;
	case IOCB_CMD_FSYNC:
		return SYS_fsync;
	case IOCB_CMD_FDSYNC:
		return SYS_fdatasync;
	default:
		return CALL_UNKNOWN;
	}
}

/* How many the kernel took are its result. */
static const void *taken(const struct raw_record *call, enum raw_kind kind, size_t each, u32 i)
{
	u32 length;
	const u8 *all = raw_find(call, kind, each, &length);

	if (!all || (s64)call->result <= i || i >= length / each)
		return NULL;
	return all + i * each;
}

const struct raw_record *aio_submission(const struct raw_record *call, u32 i)
{
	static struct {
		struct raw_record record;
		struct raw_blob blob;
		struct raw_submit submit;
		u32 rest;
	} one;
	struct raw_iocb iocb;
	const void *at;

	if (call->nr != SYS_io_submit)
		return NULL;
	at = taken(call, RAW_IOCBS, sizeof(iocb), i);
	if (!at)
		return NULL;
	memcpy(&iocb, at, sizeof(iocb));
	one.record = (struct raw_record){
		.length = sizeof(one),
		.type = RAW_SQE,
		.tid = call->tid,
		.nr = equivalent_of(&iocb),
		.entry = call->entry,
		.exit = call->entry,
		.args = { iocb.fd, 0, iocb.bytes, iocb.offset },
	};
	one.blob = (struct raw_blob){ RAW_SUBMIT, sizeof(one.submit) };
	one.submit = (struct raw_submit){
		.opcode = iocb.opcode,
		.flags = RAW_SUBMIT_AIO,
		.ring = aio_ring(call->args[0]),
		.user_data = iocb.address,
	};
	return &one.record;
}

const struct raw_record *aio_completion(const struct raw_record *call, u32 i)
{
	static struct raw_record one;
	struct io_event event;
	const void *at;

	if (call->nr != SYS_io_getevents && call->nr != SYS_io_pgetevents)
		return NULL;
	at = taken(call, RAW_EVENTS, sizeof(event), i);
	if (!at)
		return NULL;
	memcpy(&event, at, sizeof(event));
	one = (struct raw_record){
		.length = sizeof(one),
		.type = RAW_CQE,
		.tid = call->tid,
		.nr = aio_ring(call->args[0]),
		.entry = call->exit,
		.exit = call->exit,
		.result = event.res,
		.args = { event.obj },
	};
	return &one;
}
