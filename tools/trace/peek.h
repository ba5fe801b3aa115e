/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Looking into a stopped task: its call with the arguments, the result, its memory. This is how to
 * read. All that the tracer by ptrace reads of a task's memory comes here; the one by eBPF reads in
 * the kernel (bpf/kernel/). What is read for the sake of a record, and which argument leads to it,
 * is in capture.h; for io_uring and AIO in ptrace/uring.h and ptrace/aio.h. Nothing here reads a
 * clock.
 */
#ifndef TRACE_PEEK_H
#define TRACE_PEEK_H

#include <sys/types.h>

#include "../../dm-david/portable/portable.h"

struct peek_call {
	u32 nr;
	bool foreign; /* not a call of x86-64 */
	bool exit; /* known only where the kernel tells of stops */
	u64 args[6];
};

/*
 * Which of the two ways does this kernel have? PTRACE_GET_SYSCALL_INFO, or, in user mode Linux,
 * registers only. To be called once, with a stopped task.
 */
void peek_init(pid_t tid);

/* The call at whose entry, or SECCOMP's stop, the task stands. False: it is gone. */
bool peek_entry(pid_t tid, struct peek_call *call);
/* The call that a task is within, at another stop. */
bool peek_call(pid_t tid, struct peek_call *call);
bool peek_result(pid_t tid, s64 *result);

/* As many bytes as can be read of @length. */
size_t peek_memory(pid_t tid, u64 at, void *data, size_t length);

/* A string into @text of @room bytes; its length, or -1 if it cannot be read, or is longer. */
int peek_string(pid_t tid, u64 at, char *text, size_t room);

#endif
