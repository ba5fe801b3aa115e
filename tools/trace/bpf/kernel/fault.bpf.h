/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mapped files: a task touches a page that is not there, and waits for it. A part of trace.bpf.c.
 */
#define VM_MAYSHARE 0x80 /* VM_SHARED is not there if the file was opened for reading only */
#define FAULT_WRITE 0x2 /* error code of x86 */
#define FAULT_USER 0x4
#define TASK_UNINTERRUPTIBLE 0x2

/*
 * A record of its own, on the stack: a call's record may be in the making, when reading the task's
 * memory for it faults.
 */
struct fault {
	struct tracefile_record record;
	struct tracefile_blob blob;
	struct tracefile_attr attr;
	u32 fill; /* an empty blob */
} __attribute__((packed, aligned(8)));

struct found {
	struct file *file;
	u64 offset;
	u64 flags;
	u64 address;
};

static long look_at_area(struct task_struct *task, struct vm_area_struct *area, struct found *found)
{
	found->file = area->vm_file;
	found->flags = area->vm_flags;
	found->offset = (area->vm_pgoff << 12) + ((found->address - area->vm_start) & ~0xfffull);
	return 0;
}

static __always_inline int touched(u64 address, u64 error)
{
	u32 tid = bpf_get_current_pid_tgid();
	struct found found = { .address = address };
	struct state *state;
	struct fault fault = {};
	u8 copy[INODE_BYTES];

	if (!shared.scope.pages || !shared.scope.on)
		return 0;
	state = state_of(tid);
	if (!state)
		return 0;
	state->touched = 0;
	if (bpf_find_vma(bpf_get_current_task_btf(), address, look_at_area, &found, 0) == -16)
		count(UNSEEN); /* EBUSY: the memory's lock is taken */
	if (!found.file || !attr_by_copy(found.file, &fault.attr, copy))
		return 0;
	fault.record.length = sizeof(fault);
	fault.record.type = TRACEFILE_FAULT;
	fault.record.tid = tid;
	fault.record.entry = bpf_ktime_get_ns();
	fault.record.exit = fault.record.entry;
	fault.record.args[TRACEFILE_FAULT_OFFSET] = found.offset;
	fault.record.args[TRACEFILE_FAULT_WRITE] = !!(error & FAULT_WRITE);
	fault.record.args[TRACEFILE_FAULT_SHARED] = !!(found.flags & VM_MAYSHARE);
	fault.record.args[TRACEFILE_FAULT_KERNEL] = !(error & FAULT_USER);
	fault.blob.kind = TRACEFILE_ATTR;
	fault.blob.length = sizeof(fault.attr);
	/* What a call waits for is in the call's time. */
	if (error & FAULT_USER)
		state->touched = fault.record.entry;
	if (bpf_ringbuf_output(&ring, &fault, sizeof(fault), wakeup_with(sizeof(fault))))
		count(LOST);
	return 0;
}

SEC("tp_btf/page_fault_user")
int user_touched(u64 *ctx)
{
	return touched(ctx[0], ctx[2]);
}

SEC("tp_btf/page_fault_kernel")
int kernel_touched(u64 *ctx)
{
	return touched(ctx[0], ctx[2]);
}

/*
 * Where a fault ends nothing tells. But until its task enters a call or faults again, all that it
 * waits for is the page: the disk that reads it, or a lock.
 */
SEC("tp_btf/sched_switch")
int switched(u64 *ctx)
{
	struct task_struct *from = (struct task_struct *)ctx[1], *to = (struct task_struct *)ctx[2];
	struct state *state = from->pid ? known_state(from, from->pid) : NULL;
	struct tracefile_record record = { .length = sizeof(record), .type = TRACEFILE_WAITED };

	if (state)
		state->waits = state->touched && ctx[3] & TASK_UNINTERRUPTIBLE;
	state = to->pid ? known_state(to, to->pid) : NULL; /* the idle task is in no slot */
	if (!state || !state->waits)
		return 0;
	state->waits = 0;
	record.tid = to->pid;
	record.entry = state->touched;
	record.exit = bpf_ktime_get_ns();
	if (bpf_ringbuf_output(&ring, &record, sizeof(record), wakeup_with(sizeof(record))))
		count(LOST);
	return 0;
}
