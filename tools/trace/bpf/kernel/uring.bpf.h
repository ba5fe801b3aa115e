/* SPDX-License-Identifier: GPL-2.0 */
/*
 * io_uring: at the kernel's own trace points of submissions and completions, so it does not matter
 * which thread takes them from the ring. A part of trace.bpf.c.
 *
 * A submission is read from the ring where the kernel has just taken it. What the kernel has made
 * of it is of another form for each operation and each version.
 */
#define SETUP_SQE128 0x400
#define SETUP_NO_SQARRAY 0x10000
#define REGISTER_FILES 2
#define REGISTERED_MAX 2048 /* files of which the descriptors are known */
#define NR_ENTER 426
/* Where a submission's record has its entry of the queue. */
#define SQE_AT (sizeof(struct tracefile_record) + sizeof(struct tracefile_blob))
#define REGISTERED_RING 0x10 /* IORING_ENTER_REGISTERED_RING */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct io_ring_ctx {
	unsigned int flags;
	u32 *sq_array;
	struct io_uring_sqe *sq_sqes;
	unsigned int cached_sq_head;
	unsigned int sq_entries;
};

struct io_cqe {
	u64 user_data;
};

struct io_kiocb {
	u8 opcode;
	struct io_cqe cqe;
	struct io_ring_ctx *ctx;
};

#pragma clang attribute pop

struct io_completion { /* struct io_uring_cqe; not all headers have it alike */
	u64 user_data;
	int result;
	u32 flags;
};

struct ring_of_task {
	u32 fd;
	u32 tgid;
};

/* Rings of traced processes, by the kernel's structure. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct ring_of_task);
} rings SEC(".maps");

SEC("tp_btf/io_uring_create")
int ring_created(u64 *ctx)
{
	struct ring_of_task ring = { ctx[0], bpf_get_current_pid_tgid() >> 32 };
	u64 key = ctx[1];

	/* One that was traced may have been where this is. */
	if (state_of(bpf_get_current_pid_tgid()))
		bpf_map_update_elem(&rings, &key, &ring, BPF_ANY);
	else
		bpf_map_delete_elem(&rings, &key);
	return 0;
}

/* The ring that the current task, if it is traced, has entered, made before the trace. */
static __always_inline struct ring_of_task *adopt(u64 key, const struct state *state,
						  struct task_struct *task)
{
	const struct pt_regs *regs = (void *)bpf_task_pt_regs((void *)task);
	struct ring_of_task ring = { .tgid = task->tgid };

	if (!state || !state->in_call || state->foreign || state->nr != NR_ENTER)
		return NULL;
	if (regs->r10 & REGISTERED_RING) { /* the number is no descriptor's */
		count(UNKNOWN_RING);
		return NULL;
	}
	ring.fd = regs->di;
	bpf_map_update_elem(&rings, &key, &ring, BPF_ANY);
	return bpf_map_lookup_elem(&rings, &key);
}

/* Where the submission lies that was taken last. */
static __always_inline const struct io_uring_sqe *last_taken(const struct io_ring_ctx *ring)
{
	u32 at = (ring->cached_sq_head - 1) & (ring->sq_entries - 1);

	/* The verifier adds no number to a pointer that it knows. */
	if (!(ring->flags & SETUP_NO_SQARRAY) &&
	    bpf_probe_read_kernel(&at, sizeof(at), BPF_CORE_READ(ring, sq_array) + at))
		return NULL;
	if (ring->flags & SETUP_SQE128)
		at *= 2;
	return BPF_CORE_READ(ring, sq_sqes) + at;
}

static __always_inline u64 field_of(const struct io_uring_sqe *sqe, u8 field)
{
	return field == OP_ADDRESS ? sqe->addr : field == OP_OFFSET ? sqe->off : 0;
}

/* What belongs to a submission, behind it. As total_of(). */
__noinline u32 add_op(u32 used)
{
	u8 *to = room();
	const struct io_uring_sqe *sqe = (void *)(to + SQE_AT);
	const struct uring_op *op;
	u64 how[3] = {};
	struct tracefile_attr *attr;

	if (!to)
		return used;
	used &= 255; /* as the verifier does not know, it is a record's head and the submission */
	op = &shared.ops[sqe->opcode & (URING_OPS - 1)];
	if (op->path)
		used = add_path(to, used, TRACEFILE_PATH, field_of(sqe, op->path));
	if (op->path2)
		used = add_path(to, used, TRACEFILE_PATH2, field_of(sqe, op->path2));
	if (op->iovec)
		used = add_total(to, used, sqe->addr, sqe->len);
	if (op->how && !bpf_probe_read_user(how, sizeof(how), (void *)field_of(sqe, op->how)))
		used = add_small(to, used, TRACEFILE_HOW, how, sizeof(how));
	attr = attr_at(to, used);
	if (op->closes && !(sqe->flags & IOSQE_FIXED_FILE) && attr &&
	    attr_of(file_of(sqe->fd), attr))
		used = close_blob(to, used, TRACEFILE_ATTR_BEFORE, sizeof(*attr));
	return used;
}

static __always_inline int take(const struct io_kiocb *request)
{
	u64 key = (u64)request->ctx, now = bpf_ktime_get_ns();
	struct ring_of_task *ring = bpf_map_lookup_elem(&rings, &key);
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 tid = task->pid, used = sizeof(struct tracefile_record);
	struct state *state = known_state(task, tid);
	const struct io_uring_sqe *from;
	struct io_uring_sqe *sqe;
	struct tracefile_record *r;
	u8 *to = room();

	if (!shared.scope.on || !to)
		return 0;
	if (!ring)
		ring = adopt(key, state, task);
	if (!ring) {
		/* A thread of the kernel for a process that is traced. */
		if (!state && slot_of(task->tgid)->tid == task->tgid)
			count(UNKNOWN_RING);
		return 0;
	}
	barrier_var(tid); /* else it is read by one instruction from either structure */
	start(to, TRACEFILE_SQE, tid, now, now);
	r = (struct tracefile_record *)to;
	r->nr = ring->fd;
	r->args[0] = ring->tgid;
	if (!state) {
		r->tid = ring->tgid;
		r->flags = TRACEFILE_POLLED;
	}
	from = last_taken(request->ctx);
	sqe = (struct io_uring_sqe *)(to + SQE_AT);
	if (!from || bpf_probe_read_kernel(sqe, sizeof(*sqe), from) ||
	    sqe->user_data != request->cqe.user_data || sqe->opcode != request->opcode) {
		count(OVERWRITTEN);
		return 0;
	}
	used = close_blob(to, used, BPF_SQE, sizeof(*sqe));
	used = add_op(used);
	put(to, fill_up(to, used));
	return 0;
}

SEC("tp_btf/io_uring_submit_req")
int submitted(u64 *ctx)
{
	return take((const struct io_kiocb *)ctx[0]);
}

/* Up to Linux 6.3. */
SEC("tp_btf/io_uring_submit_sqe")
int submitted_sqe(u64 *ctx)
{
	return take((const struct io_kiocb *)ctx[0]);
}

/* A submission that is wrong: the kernel completes it at once. */
SEC("tp_btf/io_uring_req_failed")
int failed(u64 *ctx)
{
	return take((const struct io_kiocb *)ctx[1]);
}

static __always_inline bool opens(const struct io_kiocb *request)
{
	u8 opcode = 0;

	if (!request)
		return false;
	bpf_probe_read_kernel(&opcode, sizeof(opcode), &request->opcode);
	return shared.ops[opcode & (URING_OPS - 1)].opens;
}

SEC("tp_btf/io_uring_complete")
int completed(u64 *ctx)
{
	u64 key = ctx[0], now = bpf_ktime_get_ns();
	struct ring_of_task *ring = bpf_map_lookup_elem(&rings, &key);
	u32 used = sizeof(struct tracefile_record);
	struct io_completion cqe;
	u8 *to = room();
	struct tracefile_record *r = (struct tracefile_record *)to;

	if (!shared.scope.on || !ring || !to)
		return 0;
	if (constants.has_cqe) {
		if (bpf_probe_read_kernel(&cqe, sizeof(cqe), (void *)ctx[2]))
			return 0;
	} else {
		cqe.user_data = ctx[2];
		cqe.result = ctx[3];
		cqe.flags = ctx[4];
	}
	start(to, TRACEFILE_CQE, ring->tgid, now, now);
	r->nr = ring->fd;
	r->result = (s64)cqe.result;
	r->args[0] = cqe.user_data;
	r->args[1] = cqe.flags;
	if (cqe.result >= 0 && opens((const struct io_kiocb *)ctx[1]))
		used = add_attr(to, used, file_of(cqe.result));
	put(to, fill_up(to, used));
	return 0;
}

/* Registered files, for the reader: the call's record has them. */
__noinline u32 add_registered(u32 used, u64 at, u64 count)
{
	u32 length = (count < REGISTERED_MAX ? count : REGISTERED_MAX) * sizeof(u32);
	u8 *to = room();

	used &= 4095;
	if (!to ||
	    bpf_probe_read_user(to + used + sizeof(struct tracefile_blob), length, (void *)at))
		return used;
	return close_blob(to, used, BPF_FILES, length);
}
