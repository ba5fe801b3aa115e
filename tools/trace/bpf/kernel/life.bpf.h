/* SPDX-License-Identifier: GPL-2.0 */
/* The lives of tasks: one is made, runs a new program, ends. A part of trace.bpf.c. */
#define CLONE_VFORK_VM 0x4100

static __always_inline u64 flags_of_clone(const struct state *state)
{
	const struct plan *plan = plan_of(state);
	u64 flags = 0;

	if (plan && plan->effect == PLAN_CLONE)
		flags = state->args[0];
	else if (plan && plan->effect == PLAN_CLONE3)
		bpf_probe_read_user(&flags, sizeof(flags), (void *)state->args[0]);
	else if (plan && plan->effect == PLAN_VFORK)
		flags = CLONE_VFORK_VM;
	return flags;
}

SEC("tp_btf/sched_process_fork")
int forked(u64 *ctx)
{
	struct task_struct *child = (struct task_struct *)ctx[1];
	u32 tid = bpf_get_current_pid_tgid(), new = child->pid;
	struct state *state = state_of(tid);
	u8 *to = room();
	struct tracefile_record *r = (struct tracefile_record *)to;
	u64 made;

	if (!state || !to)
		return 0;
	trace_task(child);
	/* When the call began that makes it: so is known which one that was. */
	made = state->in_call ? state->entry : bpf_ktime_get_ns();
	start(to, TRACEFILE_FORK, tid, made, made);
	r->nr = new;
	r->args[0] = flags_of_clone(state);
	put(to, sizeof(*r));
	return 0;
}

/* A thread that is not the first takes the number of the first. */
static __always_inline struct state *rename(struct state *state, struct task_struct *task)
{
	struct state *new;

	if (state->tid == 0 || state->tid == task->pid)
		return state;
	new = trace_task(task);
	if (new) {
		new->in_call = state->in_call;
		new->entry = state->entry;
		new->nr = state->nr;
		new->foreign = state->foreign;
		new->plain = state->plain;
		__builtin_memcpy(new->args, state->args, sizeof(new->args));
	}
	forget(state);
	return new;
}

SEC("tp_btf/sched_process_exec")
int execed(u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	const struct linux_binprm *program = (const struct linux_binprm *)ctx[2];
	u32 former = ctx[1];
	struct state *state = state_of(former);
	u8 *to = room();
	struct tracefile_record *r = (struct tracefile_record *)to;

	if (!state || !to)
		return 0;
	state = rename(state, task);
	if (!state)
		return 0;
	state->script = program->filename != program->interp;
	start(to, TRACEFILE_EXEC, task->pid, state->entry, state->entry);
	r->nr = former;
	put(to, sizeof(*r));
	return 0;
}

/* The first thread goes when another one runs a new program, which then takes its number. */
static __always_inline bool is_replaced(const struct task_struct *task)
{
	const struct task_struct *other = task->signal->group_exec_task;

	return task->pid == task->tgid && other && other != task;
}

SEC("tp_btf/sched_process_exit")
int exited(u64 *ctx)
{
	const struct task_struct *task = (const struct task_struct *)ctx[0];
	u32 tid = bpf_get_current_pid_tgid();
	struct state *state = state_of(tid);
	u8 *to = room();
	struct tracefile_record *r = (struct tracefile_record *)to;
	u64 now;

	if (!state || !to)
		return 0;
	if (state->in_call) {
		if (state->plain)
			copy_args(state->args, (void *)bpf_task_pt_regs((void *)task));
		r = start_call(to, state, state->entry);
		r->flags |= TRACEFILE_NO_EXIT;
		put(to, sizeof(*r));
	}
	if (!is_replaced(task)) {
		now = bpf_ktime_get_ns();
		start(to, TRACEFILE_EXIT, tid, now, now);
		r->result = task->exit_code;
		r->args[0] = (task->signal->sum_sched_runtime + task->se.sum_exec_runtime) / 1000;
		put(to, sizeof(*r));
	}
	forget(state);
	return 0;
}
