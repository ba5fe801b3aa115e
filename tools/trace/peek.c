// SPDX-License-Identifier: GPL-2.0
#include <linux/audit.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "peek.h"

#define PAGE 4096u
#define SHORT 512u /* most strings are shorter */
#define CS_32 0x23 /* code segment of a 32 bit task */

static bool by_info;

void peek_init(pid_t tid)
{
	struct __ptrace_syscall_info info;

	by_info = ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) > 0;
}

static bool entry_by_info(pid_t tid, struct peek_call *call)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) < 0)
		return false;
	call->nr = info.op == PTRACE_SYSCALL_INFO_SECCOMP ? info.seccomp.nr : info.entry.nr;
	memcpy(call->args,
	       info.op == PTRACE_SYSCALL_INFO_SECCOMP ? info.seccomp.args : info.entry.args,
	       sizeof(call->args));
	call->foreign = info.arch != AUDIT_ARCH_X86_64;
	call->exit = info.op == PTRACE_SYSCALL_INFO_EXIT;
	return true;
}

bool peek_call(pid_t tid, struct peek_call *call)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) < 0)
		return false;
	*call = (struct peek_call){
		.nr = regs.orig_rax,
		.foreign = regs.cs == CS_32,
		.args = { regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9 },
	};
	if (call->foreign) /* i386's are in others */
		memcpy(call->args,
		       (u64[]){ regs.rbx, regs.rcx, regs.rdx, regs.rsi, regs.rdi, regs.rbp },
		       sizeof(call->args));
	return true;
}

bool peek_entry(pid_t tid, struct peek_call *call)
{
	return by_info ? entry_by_info(tid, call) : peek_call(tid, call);
}

bool peek_result(pid_t tid, s64 *result)
{
	struct __ptrace_syscall_info info;
	struct user_regs_struct regs;

	if (by_info) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) < 0)
			return false;
		*result = info.exit.rval;
		return info.op == PTRACE_SYSCALL_INFO_EXIT;
	}
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) < 0)
		return false;
	*result = regs.rax;
	return true;
}

size_t peek_memory(pid_t tid, u64 at, void *data, size_t length)
{
	u64 first = PAGE - at % PAGE;
	struct iovec local = { data, length };
	struct iovec remote[2] = { { (void *)at, min_t(u64, first, length) }, {} };
	ssize_t got;

	/*
	 * What ends in the middle is read up to there: a range that fails does not hurt those in
	 * front of it.
	 */
	if (length > first)
		remote[1] = (struct iovec){ (void *)(at + first), length - first };
	got = process_vm_readv(tid, &local, 1, remote, length > first ? 2 : 1, 0);
	return got < 0 ? 0 : got;
}

int peek_string(pid_t tid, u64 at, char *text, size_t room)
{
	size_t got = 0;

	while (got < room) {
		size_t length = min_t(size_t, got ? PAGE : SHORT, room - got);
		size_t more = peek_memory(tid, at + got, text + got, length);
		char *end = memchr(text + got, 0, more);

		if (end)
			return end - text;
		if (!more)
			return -1;
		got += more;
	}
	return -1;
}
