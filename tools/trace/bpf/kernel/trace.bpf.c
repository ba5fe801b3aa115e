// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's part: at the tracepoints of calls and tasks it makes raw records (tracefile.h) and
 * puts them into a ring. Nothing waits: where the ring is full, a record is counted as lost.
 *
 * Paths are read at the exit of a call. At its entry their page may not be in memory, and nothing
 * here can wait for it; at the exit the kernel has read them.
 */
#include <stdbool.h>
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "kernel.bpf.h"
#include "../trace.bpf.h"

#include "../../../calls/tracefile.h"

#define CLONE_VFORK_VM 0x4100
#define CS_32 0x23 /* code segment of a 32 bit task */
#define VM_MAYSHARE 0x80 /* VM_SHARED is not there if the file was opened for reading only */
#define FAULT_WRITE 0x2 /* error code of x86 */
#define FAULT_USER 0x4
#define TASK_UNINTERRUPTIBLE 0x2
#define INODE_BYTES 192 /* all that is read of an inode is in its beginning */
#define SLOTS 16384 /* a power of two */
#define SHORT 512 /* a record that is made in the ring */
#define SHORT_PATH 256

struct state { /* of a traced task */
	u64 entry;
	u64 touched; /* time of the touch that it may be waiting for; 0: there is none */
	u32 tid; /* whose slot it is; 0: it is free */
	u32 nr;
	u8 in_call;
	u8 waits; /* for the page that it has touched */
	u8 has_before;
	u8 foreign; /* not a call of x86-64 */
	u8 plain; /* of it nothing is recorded but its numbers; args are not filled in */
	u64 args[8]; /* six, and what an index can reach */
	struct raw_attr before;
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

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, 2 * SCRATCH);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/* What the reader sees and sets. */
struct shared shared SEC(".data.shared");

/* Set before this is loaded, and constant from then on: what cannot be reached is not verified. */
struct constants constants SEC(".rodata.kernel");

static __always_inline u8 *room(void)
{
	return bpf_map_lookup_elem(&scratch, &(u32){ 0 });
}

static __always_inline void count(enum counted what)
{
	__sync_fetch_and_add(&shared.counts.of[what], 1);
}

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

static __always_inline void start(u8 *to, u16 type, u32 tid, u64 entry, u64 exit)
{
	struct raw_record *r = (struct raw_record *)to;

	__builtin_memset(r, 0, sizeof(*r));
	r->type = type;
	r->tid = tid;
	r->entry = entry;
	r->exit = exit;
}

static u64 filled; /* bytes of the ring since the reader was woken; about, with several CPUs */

/*
 * How a record of @used bytes is to be put into the ring. To wake the reader costs more than a
 * record, so that is done once for each part of the ring. Until then the reader comes by itself, a
 * few times a second.
 */
static __always_inline u64 wakeup_with(u32 used)
{
	filled += used;
	if (filled < RING_BYTES / RING_PARTS)
		return BPF_RB_NO_WAKEUP;
	filled = 0;
	return BPF_RB_FORCE_WAKEUP;
}

/* Puts a record of @used bytes into the ring. */
static __always_inline void put(u8 *to, u32 used)
{
	struct raw_record *r = (struct raw_record *)to;

	used = (used + 7) & ~7u;
	if (used > SCRATCH)
		used = SCRATCH;
	r->length = used;
	if (bpf_ringbuf_output(&ring, to, used, wakeup_with(used)))
		count(LOST);
}

/* The head of a blob of @length bytes that are there already; where the next one begins. */
static __always_inline u32 close_blob(u8 *to, u32 used, u16 kind, u32 length)
{
	struct raw_blob *blob;

	if (used > SCRATCH - sizeof(*blob))
		return used;
	blob = (struct raw_blob *)(to + used);
	blob->kind = kind;
	blob->length = length;
	return used + sizeof(*blob) + ((length + 3) & ~3u);
}

static __always_inline u32 add_small(u8 *to, u32 used, u16 kind, const void *data, u32 length)
{
	if (used > SCRATCH - 256)
		return used;
	__builtin_memcpy(to + used + sizeof(struct raw_blob), data, length);
	return close_blob(to, used, kind, length);
}

/* Blobs end at a multiple of 4, records at one of 8: what fills up has to be an empty blob. */
static __always_inline u32 fill_up(u8 *to, u32 used)
{
	if (used & 4 && used <= SCRATCH - 4) {
		*(u32 *)(to + used) = 0;
		used += 4;
	}
	return used;
}

static __always_inline u32 add_path(u8 *to, u32 used, u16 kind, u64 at)
{
	struct raw_record *r = (struct raw_record *)to;
	long length;

	if (!at || used > SCRATCH - 5000)
		return used;
	length = bpf_probe_read_user_str(to + used + sizeof(struct raw_blob), 4096, (void *)at);
	if (length < 0) {
		r->flags |= RAW_BAD_PATH;
		return used;
	}
	if (!length) { /* Linux 6.1 says so of the empty string */
		to[used + sizeof(struct raw_blob)] = 0;
		length = 1;
	}
	return close_blob(to, used, kind, length);
}

/* A field of an inode that was copied: one read of all is cheaper than one each. */
#define COPIED(type, copy, field) (*(type *)((copy) + bpf_core_field_offset(struct inode, field)))

static __always_inline u64 nanoseconds(s64 seconds, u32 rest)
{
	return seconds * 1000000000ull + rest;
}

static __always_inline u64 time_of(const u8 *timespec)
{
	return nanoseconds(*(s64 *)timespec, *(u64 *)(timespec + 8));
}

static __always_inline void times_of(const u8 *copy, struct raw_attr *attr)
{
	if (bpf_core_field_exists(struct inode, i_mtime_sec)) {
		attr->mtime = nanoseconds(COPIED(s64, copy, i_mtime_sec),
					  COPIED(u32, copy, i_mtime_nsec));
		attr->atime = nanoseconds(COPIED(s64, copy, i_atime_sec),
					  COPIED(u32, copy, i_atime_nsec));
	} else if (bpf_core_field_exists(struct inode, __i_mtime)) {
		attr->mtime = time_of(copy + bpf_core_field_offset(struct inode, __i_mtime));
		attr->atime = time_of(copy + bpf_core_field_offset(struct inode, __i_atime));
	} else if (bpf_core_field_exists(struct inode, i_mtime)) {
		attr->mtime = time_of(copy + bpf_core_field_offset(struct inode, i_mtime));
		attr->atime = time_of(copy + bpf_core_field_offset(struct inode, i_atime));
	} else {
		attr->mtime = 0;
		attr->atime = 0;
	}
}

/* The kernel's number of a device as programs see it. */
static __always_inline u64 device_of(u32 dev)
{
	u32 major = dev >> 20, minor = dev & 0xfffff;

	return (minor & 0xff) | (major & 0xfff) << 8 | (u64)(minor & ~0xffu) << 12;
}

#define AS(type, at) ((type *)bpf_rdonly_cast(at, bpf_core_type_id_kernel(type)))

static __always_inline void times_of_inode(const struct inode *inode, struct raw_attr *attr)
{
	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		attr->mtime = nanoseconds(inode->i_mtime_sec, inode->i_mtime_nsec);
		attr->atime = nanoseconds(inode->i_atime_sec, inode->i_atime_nsec);
	} else if (bpf_core_field_exists(inode->__i_mtime)) {
		attr->mtime = nanoseconds(inode->__i_mtime.tv_sec, inode->__i_mtime.tv_nsec);
		attr->atime = nanoseconds(inode->__i_atime.tv_sec, inode->__i_atime.tv_nsec);
	} else {
		attr->mtime = nanoseconds(inode->i_mtime.tv_sec, inode->i_mtime.tv_nsec);
		attr->atime = nanoseconds(inode->i_atime.tv_sec, inode->i_atime.tv_nsec);
	}
}

/* @copy has room for INODE_BYTES. */
static __always_inline bool attr_by_copy(const struct file *file, struct raw_attr *attr, u8 *copy)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	if (!inode || bpf_probe_read_kernel(copy, INODE_BYTES, inode))
		return false;
	attr->dev = device_of(BPF_CORE_READ(COPIED(struct super_block *, copy, i_sb), s_dev));
	attr->ino = COPIED(u64, copy, i_ino);
	attr->size = COPIED(u64, copy, i_size);
	attr->mode = COPIED(u16, copy, i_mode);
	attr->nlink = COPIED(u32, copy, i_nlink);
	times_of(copy, attr);
	return true;
}

static __always_inline bool attr_of(const struct file *file, struct raw_attr *attr)
{
	const struct inode *inode;

	if (!file)
		return false;
	if (!constants.has_cast) {
		u8 *copy = room();

		return copy && attr_by_copy(file, attr, copy + SCRATCH);
	}
	inode = AS(struct file, file)->f_inode;
	if (!inode)
		return false;
	attr->dev = device_of(inode->i_sb->s_dev);
	attr->ino = inode->i_ino;
	attr->size = inode->i_size;
	attr->mode = inode->i_mode;
	attr->nlink = inode->i_nlink;
	times_of_inode(inode, attr);
	return true;
}

static __always_inline struct file *file_of(u32 fd)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct file *file = NULL;

	if (fd >= task->files->fdt->max_fds)
		return NULL;
	/* Any structure that begins with a pointer does for an array of them. */
	if (constants.has_cast)
		return (void *)AS(struct list_head, task->files->fdt->fd + fd)->next;
	bpf_probe_read_kernel(&file, sizeof(file), task->files->fdt->fd + fd);
	return file;
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

static __always_inline const struct plan *plan_of(const struct state *state)
{
	return state->foreign || state->nr >= PLAN_CALLS ? NULL : &shared.plans[state->nr];
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

/*
 * Bytes of an iovec of @count parts; of the first 64. Not static: so it is verified once, and not
 * in each place where it is called.
 */
__noinline u64 total_of(u64 at, u64 count)
{
	u64 total = 0, length;
	int i;

	for (i = 0; i < 64 && i < count; i++) {
		if (bpf_probe_read_user(&length, sizeof(length), (void *)(at + 16 * i + 8)))
			break;
		total += length;
	}
	return total;
}

static __always_inline u32 add_total(u8 *to, u32 used, u64 at, u64 count)
{
	u64 total = total_of(at, count);

	return add_small(to, used, RAW_TOTAL, &total, sizeof(total));
}

/* Where a blob's attributes go; NULL: there is no room. */
static __always_inline struct raw_attr *attr_at(u8 *to, u32 used)
{
	return used > SCRATCH - 256 ? NULL : (void *)(to + used + sizeof(struct raw_blob));
}

static __always_inline u32 add_attr(u8 *to, u32 used, const struct file *file)
{
	struct raw_attr *attr = attr_at(to, used);

	if (!attr || !attr_of(file, attr))
		return used;
	return close_blob(to, used, RAW_ATTR, sizeof(*attr));
}

/* struct stat and struct statx as they are in memory, in words of 8 and 4 bytes. */
static __always_inline u32 add_stat(u8 *to, u32 used, u64 at)
{
	u64 *st = (u64 *)(to + SCRATCH);
	struct raw_attr *attr = attr_at(to, used);

	if (!attr || bpf_probe_read_user(st, 14 * sizeof(*st), (void *)at))
		return used;
	attr->dev = st[0];
	attr->ino = st[1];
	attr->nlink = st[2];
	attr->mode = st[3];
	attr->size = st[6];
	attr->atime = st[9] * 1000000000ull + st[10];
	attr->mtime = st[11] * 1000000000ull + st[12];
	return close_blob(to, used, RAW_ATTR, sizeof(*attr));
}

static __always_inline u32 add_statx(u8 *to, u32 used, u64 at)
{
	u32 *st = (u32 *)(to + SCRATCH);
	struct raw_attr *attr = attr_at(to, used);

	if (!attr || bpf_probe_read_user(st, 36 * sizeof(*st), (void *)at))
		return used;
	attr->nlink = st[4];
	attr->mode = st[7] & 0xffff;
	attr->ino = st[8] | (u64)st[9] << 32;
	attr->size = st[10] | (u64)st[11] << 32;
	attr->atime = (st[16] | (u64)st[17] << 32) * 1000000000ull + st[18];
	attr->mtime = (st[28] | (u64)st[29] << 32) * 1000000000ull + st[30];
	attr->dev = device_of(st[34] << 20 | st[35]);
	return close_blob(to, used, RAW_ATTR, sizeof(*attr));
}

/* What a program is given: strings that follow each other. */
static __always_inline u32 add_argv(u8 *to, u32 used)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	u64 at = task->mm->arg_start;
	u32 length = task->mm->arg_end - at;

	if (length > 4095)
		length = 4095;
	if (used > SCRATCH - 5000 ||
	    bpf_probe_read_user(to + used + sizeof(struct raw_blob), length & 4095, (void *)at))
		return used;
	return close_blob(to, used, RAW_ARGV, length & 4095);
}

static __always_inline u32 add_exec(u8 *to, u32 used)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	long length;

	/* The kernel has put the path behind the environment. */
	length = bpf_probe_read_user_str(to + used + sizeof(struct raw_blob), 4096,
					 (void *)task->mm->env_end);
	if (length > 0)
		used = close_blob(to, used, RAW_PATH, length);
	used = add_argv(to, used);
	return add_attr(to, used, task->mm->exe_file);
}

static __always_inline u32 add_target(u8 *to, u32 used, u64 at, s64 length)
{
	if (length < 0 || length > 4095 || used > SCRATCH - 5000 ||
	    bpf_probe_read_user(to + used + sizeof(struct raw_blob), length & 4095, (void *)at))
		return used;
	return close_blob(to, used, RAW_TARGET, length & 4095);
}

struct submitting {
	u64 at; /* pointers to what is submitted */
	u32 used;
};

static long add_iocb(u32 i, struct submitting *s)
{
	u32 used = s->used;
	struct raw_iocb *one;
	struct iocb *iocb;
	u8 *to = room();
	u64 address;

	if (!to || used > SCRATCH - 256)
		return 1;
	iocb = (struct iocb *)(to + SCRATCH);
	if (bpf_probe_read_user(&address, sizeof(address), (void *)(s->at + 8 * i)) ||
	    bpf_probe_read_user(iocb, sizeof(*iocb), (void *)address))
		return 1;
	barrier_var(used); /* Linux 6.1 has forgotten by now that it is less */
	one = (struct raw_iocb *)(to + (used & (SCRATCH - 1)));
	one->address = address;
	one->bytes = iocb->aio_nbytes;
	if (iocb->aio_lio_opcode == IOCB_CMD_PREADV || iocb->aio_lio_opcode == IOCB_CMD_PWRITEV)
		one->bytes = total_of(iocb->aio_buf, iocb->aio_nbytes);
	one->offset = iocb->aio_offset;
	one->fd = iocb->aio_fildes;
	one->opcode = iocb->aio_lio_opcode;
	one->zero = 0;
	s->used = used + sizeof(*one);
	return 0;
}

/* As total_of(). */
__noinline u32 add_iocbs(u32 used, u64 at, u64 count)
{
	struct submitting s = { at, used + sizeof(struct raw_blob) };
	u8 *to = room();

	if (!to)
		return used;
	bpf_loop(count < AIO_AT_ONCE ? count : AIO_AT_ONCE, add_iocb, &s, 0);
	return close_blob(to, used, RAW_IOCBS, s.used - used - sizeof(struct raw_blob));
}

__noinline u32 add_events(u32 used, u64 at, u64 count)
{
	u32 length = (count < AIO_AT_ONCE ? count : AIO_AT_ONCE) * sizeof(struct io_event);
	u8 *to = room();

	used &= 4095; /* it is little more than a record's head; the verifier does not know */
	if (!to || bpf_probe_read_user(to + used + sizeof(struct raw_blob), length, (void *)at))
		return used;
	return close_blob(to, used, RAW_EVENTS, length);
}

#include "uring.bpf.h"

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
			used = add_small(to, used, RAW_HOW, words, 24);
		break;
	case PLAN_CLOSES:
		if (state->has_before)
			used = add_small(to, used, RAW_ATTR_BEFORE, &state->before,
					 sizeof(state->before));
		break;
	case PLAN_CLONE3:
		if (!bpf_probe_read_user(words, 8, (void *)state->args[0]))
			used = add_small(to, used, RAW_CLONE, words, 8);
		break;
	case PLAN_LOCK:
		/* F_GETLK to F_SETLKW, and those of open file descriptions. */
		if ((state->args[1] - 5 < 3 || state->args[1] - 36 < 3) &&
		    !bpf_probe_read_user(words, 32, (void *)state->args[2]))
			used = add_small(to, used, RAW_LOCK, words, 32);
		break;
	case PLAN_OFFSETS:
	case PLAN_SENDFILE:
		used = add_small(to, used, RAW_OFFSETS, state->offsets, 16);
		break;
	case PLAN_AIO_SETUP:
		if (!result && !bpf_probe_read_user(words, 8, (void *)state->args[1]))
			used = add_small(to, used, RAW_CONTEXT, words, 8);
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
		used = add_small(to, used, RAW_FDS, words, 8);
	return used;
}

static __always_inline u32 add_blobs(u8 *to, struct state *state, const struct plan *plan,
				     s64 result)
{
	u32 used = sizeof(struct raw_record);

	if (plan->effect == PLAN_EXEC && !result)
		return add_exec(to, used);
	if (plan->path)
		used = add_path(to, used, RAW_PATH, arg_of(state, plan->path));
	if (plan->path2)
		used = add_path(to, used, RAW_PATH2, arg_of(state, plan->path2));
	if (plan->iovec)
		used = add_total(to, used, arg_of(state, plan->iovec),
				 arg_of(state, plan->iovec + 1));
	if (plan->effect == PLAN_READLINK)
		used = add_target(to, used, arg_of(state, plan->path + 1), result);
	else if (plan->effect)
		used = add_effect(to, used, state, plan, result);
	if (result >= 0)
		used = add_output(to, used, state, plan);
	return used;
}

/* The head of a call's record. */
static __always_inline struct raw_record *start_call(u8 *to, const struct state *state, u64 exit)
{
	struct raw_record *r = (struct raw_record *)to;

	start(to, RAW_CALL, bpf_get_current_pid_tgid(), state->entry, exit);
	r->nr = state->nr;
	r->flags = state->foreign ? RAW_FOREIGN : 0;
	__builtin_memcpy(r->args, state->args, sizeof(r->args));
	return r;
}

/* A call of any kind. As total_of(): the verifier takes long for it. */
__noinline int write_call(struct state *state, s64 result)
{
	u32 used = sizeof(struct raw_record);
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

static __always_inline void fill_in(struct raw_record *r, const struct state *state, u32 tid,
				    s64 result)
{
	r->length = sizeof(*r);
	r->type = RAW_CALL;
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
	struct raw_record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

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
	struct raw_blob *blob = (struct raw_blob *)(to + used);

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
	struct raw_record *r = (struct raw_record *)to;
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
		length = bpf_probe_read_user_str(to + used + sizeof(struct raw_blob), SHORT_PATH,
						 (void *)arg_of(state, plan->path));
		if (length <= 0 || length >= SHORT_PATH) {
			bpf_ringbuf_discard(to, BPF_RB_NO_WAKEUP);
			return false;
		}
		used = close_short(to, used, RAW_PATH, length);
	}
	if (opens &&
	    attr_of(file_of(result), (struct raw_attr *)(to + used + sizeof(struct raw_blob)))) {
		used = close_short(to, used, RAW_ATTR, sizeof(struct raw_attr));
	} else if (plan->effect == PLAN_CLOSES && state->has_before) {
		__builtin_memcpy(to + used + sizeof(struct raw_blob), &state->before,
				 sizeof(state->before));
		used = close_short(to, used, RAW_ATTR_BEFORE, sizeof(state->before));
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
	struct raw_record *r = (struct raw_record *)to;
	u64 now;

	if (!state || !to)
		return 0;
	trace_task(child);
	now = bpf_ktime_get_ns();
	start(to, RAW_FORK, tid, now, now);
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
	u32 former = ctx[1];
	struct state *state = state_of(former);
	u8 *to = room();
	struct raw_record *r = (struct raw_record *)to;

	if (!state || !to)
		return 0;
	state = rename(state, task);
	if (!state)
		return 0;
	start(to, RAW_EXEC, task->pid, state->entry, state->entry);
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
	struct raw_record *r = (struct raw_record *)to;
	u64 now;

	if (!state || !to)
		return 0;
	if (state->in_call) {
		if (state->plain)
			copy_args(state->args, (void *)bpf_task_pt_regs((void *)task));
		r = start_call(to, state, state->entry);
		r->flags |= RAW_NO_EXIT;
		put(to, sizeof(*r));
	}
	if (!is_replaced(task)) {
		now = bpf_ktime_get_ns();
		start(to, RAW_EXIT, tid, now, now);
		r->result = task->exit_code;
		r->args[0] = (task->signal->sum_sched_runtime + task->se.sum_exec_runtime) / 1000;
		put(to, sizeof(*r));
	}
	forget(state);
	return 0;
}

/*
 * A record of its own, on the stack: a call's record may be in the making, when reading the task's
 * memory for it faults.
 */
struct fault {
	struct raw_record record;
	struct raw_blob blob;
	struct raw_attr attr;
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
	fault.record.type = RAW_FAULT;
	fault.record.tid = tid;
	fault.record.entry = bpf_ktime_get_ns();
	fault.record.exit = fault.record.entry;
	fault.record.args[RAW_FAULT_OFFSET] = found.offset;
	fault.record.args[RAW_FAULT_WRITE] = !!(error & FAULT_WRITE);
	fault.record.args[RAW_FAULT_SHARED] = !!(found.flags & VM_MAYSHARE);
	fault.record.args[RAW_FAULT_KERNEL] = !(error & FAULT_USER);
	fault.blob.kind = RAW_ATTR;
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
	struct raw_record record = { .length = sizeof(record), .type = RAW_WAITED };

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

char license_of_it[] SEC("license") = "GPL";
