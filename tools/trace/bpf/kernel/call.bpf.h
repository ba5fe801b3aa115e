/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A call: at its entry its arguments are noted, at its exit its record is made. A part of
 * trace.bpf.c.
 */
#define CS_32 0x23 /* code segment of a 32 bit task */
#define SHORT 512 /* a record that is made in the ring */
#define SHORT_PATH 256

static __always_inline void read_offset(u64 at, u64 *offset)
{
	if (at)
		bpf_probe_read_user(offset, sizeof(*offset), (void *)at);
}

static __always_inline void note_before(struct state *state, const struct plan *plan)
{
	state->has_before = 0;
	if (plan->effect == PLAN_CLOSES) {
		state->has_before = attr_of(file_of(state->args[0]), &state->before);
	} else if (plan->effect == PLAN_OFFSETS || plan->effect == PLAN_SENDFILE) {
		state->offsets[0] = (u64)-1;
		state->offsets[1] = (u64)-1;
		if (plan->effect == PLAN_SENDFILE) {
			read_offset(state->args[2], &state->offsets[0]);
		} else {
			read_offset(state->args[1], &state->offsets[0]);
			read_offset(state->args[3], &state->offsets[1]);
		}
	}
}

static __always_inline void copy_args(u64 *args, const struct pt_regs *regs)
{
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->r10;
	args[4] = regs->r8;
	args[5] = regs->r9;
}

SEC("tp_btf/sys_enter")
int enter(u64 *ctx)
{
	const struct pt_regs *regs = (const struct pt_regs *)ctx[0];
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct state *state = find(task->pid);
	const struct plan *plan;

	if (!state)
		return 0;
	state->in_call = 0;
	state->touched = 0;
	state->foreign = (u16)regs->cs == CS_32;
	state->nr = ctx[1];
	plan = plan_of(state);
	if (!shared.scope.on || (plan && !plan->wanted))
		return 0;
	if (plan && plan->effect == PLAN_MMAP && regs->r10 & 0x20) /* MAP_ANONYMOUS */
		return 0;
	state->in_call = 1;
	state->plain = plan && plan->plain;
	if (!state->plain)
		copy_args(state->args, regs);
	if (plan && plan->effect >= PLAN_CLOSES)
		note_before(state, plan);
	state->entry = bpf_ktime_get_ns();
	return 0;
}

static __always_inline u64 arg_of(const struct state *state, u8 number)
{
	return state->args[(number - 1) & 7];
}

static __always_inline u32 add_effect(u8 *to, u32 used, struct state *state,
				      const struct plan *plan, s64 result)
{
	u64 *words = (u64 *)(to + SCRATCH); /* the stack has no room for them */

	switch (plan->effect) {
	case PLAN_OPENS:
	case PLAN_HOW:
		if (result >= 0)
			used = add_attr(to, used, file_of(result));
		if (plan->effect == PLAN_HOW &&
		    !bpf_probe_read_user(words, 24, (void *)state->args[2]))
			used = add_small(to, used, TRACEFILE_HOW, words, 24);
		break;
	case PLAN_CLOSES:
		if (state->has_before)
			used = add_small(to, used, TRACEFILE_ATTR_BEFORE, &state->before,
					 sizeof(state->before));
		break;
	case PLAN_CLONE3:
		if (!bpf_probe_read_user(words, 8, (void *)state->args[0]))
			used = add_small(to, used, TRACEFILE_CLONE, words, 8);
		break;
	case PLAN_LOCK:
		/* F_GETLK to F_SETLKW, and those of open file descriptions. */
		if ((state->args[1] - 5 < 3 || state->args[1] - 36 < 3) &&
		    !bpf_probe_read_user(words, 32, (void *)state->args[2]))
			used = add_small(to, used, TRACEFILE_LOCK, words, 32);
		break;
	case PLAN_OFFSETS:
	case PLAN_SENDFILE:
		used = add_small(to, used, TRACEFILE_OFFSETS, state->offsets, 16);
		break;
	case PLAN_AIO_SETUP:
		if (!result && !bpf_probe_read_user(words, 8, (void *)state->args[1]))
			used = add_small(to, used, TRACEFILE_CONTEXT, words, 8);
		break;
	case PLAN_AIO_SUBMIT:
		if (result > 0)
			used = add_iocbs(used, state->args[2], state->args[1]) & (SCRATCH - 1);
		break;
	case PLAN_REGISTER:
		if (!result && state->args[1] == REGISTER_FILES)
			used = add_registered(used, state->args[2], state->args[3]) & (SCRATCH - 1);
		break;
	case PLAN_AIO_EVENTS:
		if (result > 0)
			used = add_events(used, state->args[3], result) & (SCRATCH - 1);
		break;
	}
	return used;
}

static __always_inline u32 add_output(u8 *to, u32 used, const struct state *state,
				      const struct plan *plan)
{
	u64 *words = (u64 *)(to + SCRATCH);

	if (plan->stat)
		used = add_stat(to, used, arg_of(state, plan->stat));
	if (plan->statx)
		used = add_statx(to, used, arg_of(state, plan->statx));
	if (plan->fds &&
	    !bpf_probe_read_user(words, 8, (void *)arg_of(state, plan->fds)))
		used = add_small(to, used, TRACEFILE_FDS, words, 8);
	return used;
}

static __always_inline u32 add_blobs(u8 *to, struct state *state, const struct plan *plan,
				     s64 result)
{
	u32 used = sizeof(struct tracefile_record);

	if (plan->effect == PLAN_EXEC && !result)
		return add_exec(to, used, state->script);
	if (plan->path)
		used = add_path(to, used, TRACEFILE_PATH, arg_of(state, plan->path));
	if (plan->path2)
		used = add_path(to, used, TRACEFILE_PATH2, arg_of(state, plan->path2));
	if (plan->iovec)
		used = add_total(to, used, arg_of(state, plan->iovec),
				 arg_of(state, plan->iovec + 1));
	if (plan->effect >= PLAN_SENDS)
		return result < 0 ? used : add_passed(used, plan->effect, result, state);
	if (plan->effect == PLAN_READLINK)
		used = add_target(to, used, arg_of(state, plan->path + 1), result);
	else if (plan->effect)
		used = add_effect(to, used, state, plan, result);
	if (result >= 0)
		used = add_output(to, used, state, plan);
	return used;
}

/* The head of a call's record. */
static __always_inline struct tracefile_record *start_call(u8 *to, const struct state *state,
							   u64 exit)
{
	struct tracefile_record *r = (struct tracefile_record *)to;

	start(to, TRACEFILE_CALL, bpf_get_current_pid_tgid(), state->entry, exit);
	r->nr = state->nr;
	r->flags = state->foreign ? TRACEFILE_FOREIGN : 0;
	__builtin_memcpy(r->args, state->args, sizeof(r->args));
	return r;
}

/* A call of any kind. As total_of(): the verifier takes long for it. */
__noinline int write_call(struct state *state, s64 result)
{
	u32 used = sizeof(struct tracefile_record);
	const struct plan *plan;
	u8 *to = room();

	if (!to || !state)
		return 0;
	plan = plan_of(state);
	start_call(to, state, bpf_ktime_get_ns())->result = result;
	if (plan)
		used = add_blobs(to, state, plan, result);
	put(to, fill_up(to, used));
	return 0;
}

static __always_inline void fill_in(struct tracefile_record *r, const struct state *state, u32 tid,
				    s64 result)
{
	r->length = sizeof(*r);
	r->type = TRACEFILE_CALL;
	r->flags = 0;
	r->tid = tid;
	r->nr = state->nr;
	r->entry = state->entry;
	r->exit = bpf_ktime_get_ns();
	r->result = result;
}

/* A call of which nothing is recorded but its numbers: these are written where they stay. */
static __always_inline void write_plain(const struct state *state, const struct pt_regs *regs,
					u32 tid, s64 result)
{
	struct tracefile_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		count(LOST);
		return;
	}
	fill_in(r, state, tid, result);
	copy_args(r->args, regs);
	bpf_ringbuf_submit(r, wakeup_with(sizeof(*r)));
}

/* As close_blob(), in a record of SHORT bytes. */
static __always_inline u32 close_short(u8 *to, u32 used, u16 kind, u32 length)
{
	struct tracefile_blob *blob = (struct tracefile_blob *)(to + used);

	blob->kind = kind;
	blob->length = length;
	return used + sizeof(*blob) + ((length + 3) & ~3u);
}

/*
 * A call with a path and the attributes of a file at most: its record is made in the ring too.
 * False: it does not fit. Not a part of leave(), which has not stack enough for all.
 */
static __noinline bool write_short(const struct state *state, const struct plan *plan, u32 tid,
				   s64 result)
{
	u8 *to = bpf_ringbuf_reserve(&ring, SHORT, 0);
	struct tracefile_record *r = (struct tracefile_record *)to;
	u32 used = sizeof(*r);
	bool opens = plan->effect == PLAN_OPENS && result >= 0;
	long length;

	if (!to) {
		count(LOST);
		return true;
	}
	fill_in(r, state, tid, result);
	__builtin_memcpy(r->args, state->args, sizeof(r->args));
	if (plan->path) {
		length = bpf_probe_read_user_str(to + used + sizeof(struct tracefile_blob),
						 SHORT_PATH, (void *)arg_of(state, plan->path));
		if (length <= 0 || length >= SHORT_PATH) {
			bpf_ringbuf_discard(to, BPF_RB_NO_WAKEUP);
			return false;
		}
		used = close_short(to, used, TRACEFILE_PATH, length);
	}
	if (opens &&
	    attr_of(file_of(result),
		    (struct tracefile_attr *)(to + used + sizeof(struct tracefile_blob)))) {
		used = close_short(to, used, TRACEFILE_ATTR, sizeof(struct tracefile_attr));
	} else if (plan->effect == PLAN_CLOSES && state->has_before) {
		__builtin_memcpy(to + used + sizeof(struct tracefile_blob), &state->before,
				 sizeof(state->before));
		used = close_short(to, used, TRACEFILE_ATTR_BEFORE, sizeof(state->before));
	}
	if (used & 4) {
		*(u32 *)(to + used) = 0;
		used += 4;
	}
	r->length = used;
	bpf_ringbuf_submit(r, wakeup_with(SHORT));
	return true;
}

SEC("tp_btf/sys_exit")
int leave(u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 tid = task->pid;
	struct state *state = known_state(task, tid);
	const struct plan *plan;

	if (!state || !state->in_call)
		return 0;
	state->in_call = 0;
	if (state->plain) {
		write_plain(state, (const struct pt_regs *)ctx[0], tid, ctx[1]);
		return 0;
	}
	plan = plan_of(state);
	if (!plan || !plan->brief || !write_short(state, plan, tid, ctx[1]))
		write_call(state, ctx[1]);
	return 0;
}
