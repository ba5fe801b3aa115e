// SPDX-License-Identifier: GPL-2.0
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../calls/calls.h"
#include "filter.h"
#include "../common/alloc.h"

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP(test, value, yes, no) BPF_JUMP(BPF_JMP | BPF_K | (test), value, yes, no)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)

#define STEPS_MAX 1200

struct program {
	struct sock_filter step[STEPS_MAX];
	unsigned int steps;
};

static void filter_add(struct program *p, struct sock_filter step)
{
	if (p->steps == STEPS_MAX)
		die("the filter is too long");
	p->step[p->steps++] = step;
}

static bool traced(u32 nr, u32 classes)
{
	const struct call *call = call_of(nr);

	return !call || classes & 1u << call->class;
}

bool filter_wants(u32 nr, const u64 *args, u32 classes)
{
	return traced(nr, classes) && !(nr == SYS_mmap && args[3] & MAP_ANONYMOUS);
}

static void filter_add_mmap(struct program *p)
{
	filter_add(p, (struct sock_filter)JUMP(BPF_JEQ, SYS_mmap, 0, 4));
	filter_add(p, (struct sock_filter)LOAD(args[3]));
	filter_add(p, (struct sock_filter)JUMP(BPF_JSET, MAP_ANONYMOUS, 0, 1));
	filter_add(p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	filter_add(p, (struct sock_filter)RETURN(SECCOMP_RET_TRACE));
}

/* Runs of numbers that are alike: "below the end of the run: return". */
static void filter_add_runs(struct program *p, u32 classes)
{
	unsigned int nr;

	for (nr = 1; nr < calls_end; nr++) {
		if (traced(nr, classes) == traced(nr - 1, classes))
			continue;
		filter_add(p, (struct sock_filter)JUMP(BPF_JGE, nr, 1, 0));
		filter_add(p, (struct sock_filter)RETURN(traced(nr - 1, classes) ? SECCOMP_RET_TRACE
									  : SECCOMP_RET_ALLOW));
	}
	if (!traced(calls_end - 1, classes)) {
		filter_add(p, (struct sock_filter)JUMP(BPF_JGE, calls_end, 1, 0));
		filter_add(p, (struct sock_filter)RETURN(SECCOMP_RET_ALLOW));
	}
	filter_add(p, (struct sock_filter)RETURN(SECCOMP_RET_TRACE));
}

bool filter_install(u32 classes)
{
	struct program p = {};
	struct sock_fprog all = { 0, p.step };

	filter_add(&p, (struct sock_filter)LOAD(arch));
	filter_add(&p, (struct sock_filter)JUMP(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0));
	filter_add(&p, (struct sock_filter)RETURN(SECCOMP_RET_TRACE));
	filter_add(&p, (struct sock_filter)LOAD(nr));
	filter_add_mmap(&p);
	filter_add_runs(&p, classes);
	all.len = p.steps;
	/* Who may, keeps what set-user-id programs give. */
	if (!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all))
		return true;
	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all);
}
