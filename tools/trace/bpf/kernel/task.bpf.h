/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which tasks are traced, and the state of each: how it is found, and how a task becomes traced. A
 * part of trace.bpf.c.
 */
#define SLOTS 16384 /* a power of two */

struct state { /* of a traced task */
	u64 entry;
	u64 touched; /* time of the touch that it may be waiting for; 0: there is none */
	u32 tid; /* whose slot it is; 0: it is free */
	u32 nr;
	u8 in_call;
	u8 waits; /* for the page that it has touched */
	u8 has_before;
	u8 foreign; /* not a call of x86-64 */
	u8 script; /* what it executes is one */
	u8 plain; /* of it nothing is recorded but its numbers; args are not filled in */
	u64 args[8]; /* six, and what an index can reach */
	struct tracefile_attr before;
	u64 offsets[2];
};

/*
 * States by the last bits of the task's number: of all that finds a task's state, the fastest. A
 * task whose slot another one has gets a state in crowd.
 */
static struct state slots[SLOTS];

/* How many states are in crowd. */
static u32 crowded;

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct state);
} crowd SEC(".maps");

/* Whom the reader has named, by number; such a task gets its state when it is first seen. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, u8);
} named SEC(".maps");

static __always_inline struct state *slot_of(u32 tid)
{
	return &slots[tid & (SLOTS - 1)];
}

/* From here on, calls of the task are recorded. */
static __always_inline struct state *trace_task(struct task_struct *task)
{
	u32 tid = task->pid;
	struct state *state = slot_of(tid);

	if (__sync_val_compare_and_swap(&state->tid, 0, tid)) {
		state = bpf_task_storage_get(&crowd, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!state) {
			count(UNTRACED);
			return NULL;
		}
		__sync_fetch_and_add(&crowded, 1);
	}
	state->in_call = 0;
	state->touched = 0;
	state->waits = 0;
	return state;
}

static __always_inline void forget(struct state *state)
{
	if (state->tid)
		state->tid = 0;
	else
		__sync_fetch_and_add(&crowded, -1);
}

/* The task's, if it has one. @tid is its number, not 0. */
static __always_inline struct state *known_state(struct task_struct *task, u32 tid)
{
	struct state *state = slot_of(tid);

	if (state->tid == tid)
		return state;
	return crowded ? bpf_task_storage_get(&crowd, task, 0, 0) : NULL;
}

/* The current task's; NULL: it is not traced. @tid: as the reader may have named it. */
static __always_inline struct state *state_of(u32 tid)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct state *state = known_state(task, tid);

	if (state || !shared.awaited || !bpf_map_lookup_elem(&named, &tid) ||
	    bpf_map_delete_elem(&named, &tid))
		return state;
	__sync_fetch_and_add(&shared.awaited, -1);
	return trace_task(task);
}

/* Is the current task to be traced, by its user or its cgroup? */
static __always_inline bool in_scope(void)
{
	const struct scope *scope = &shared.scope;

	if (!scope->open || bpf_get_current_pid_tgid() >> 32 == scope->spared)
		return false;
	if (scope->by_uid)
		return (u32)bpf_get_current_uid_gid() == scope->uid;
	return bpf_get_current_ancestor_cgroup_id(scope->level) == scope->cgroup;
}

static __always_inline struct state *find(u32 tid)
{
	struct state *state = state_of(tid);

	if (state || !in_scope())
		return state;
	count(LATE);
	filled = RING_BYTES; /* the reader is to look at it soon */
	return trace_task((void *)bpf_get_current_task_btf());
}

static __always_inline const struct plan *plan_of(const struct state *state)
{
	return state->foreign || state->nr >= PLAN_CALLS ? NULL : &shared.plans[state->nr];
}
