/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is read of a task's memory: paths, structures, the strings that a program is given. A part
 * of trace.bpf.c.
 *
 * Paths are read at the exit of a call. At its entry their page may not be in memory, and nothing
 * here can wait for it; at the exit the kernel has read them.
 */

static __always_inline u32 add_path(u8 *to, u32 used, u16 kind, u64 at)
{
	struct tracefile_record *r = (struct tracefile_record *)to;
	long length;

	if (!at || used > SCRATCH - 5000)
		return used;
	length = bpf_probe_read_user_str(to + used + sizeof(struct tracefile_blob), 4096,
					 (void *)at);
	if (length < 0) {
		r->flags |= TRACEFILE_BAD_PATH;
		return used;
	}
	if (!length) { /* Linux 6.1 says so of the empty string */
		to[used + sizeof(struct tracefile_blob)] = 0;
		length = 1;
	}
	return close_blob(to, used, kind, length);
}

struct summing {
	u64 at; /* of the lengths */
	u64 total;
};

static long add_part(u32 i, struct summing *s)
{
	u64 length;

	if (bpf_probe_read_user(&length, sizeof(length), (void *)(s->at + 16 * i)))
		return 1;
	s->total += length;
	return 0;
}

/*
 * Bytes of an iovec of @count parts, which are 1,024 at most (UIO_MAXIOV). Not static: so it is
 * verified once, and not in each place where it is called.
 */
__noinline u64 total_of(u64 at, u64 count)
{
	struct summing s = { .at = at + 8 };

	bpf_loop(count < 1024 ? count : 1024, add_part, &s, 0);
	return s.total;
}

static __always_inline u32 add_total(u8 *to, u32 used, u64 at, u64 count)
{
	u64 total = total_of(at, count);

	return add_small(to, used, TRACEFILE_TOTAL, &total, sizeof(total));
}

/* struct stat and struct statx as they are in memory, in words of 8 and 4 bytes. */
static __always_inline u32 add_stat(u8 *to, u32 used, u64 at)
{
	u64 *st = (u64 *)(to + SCRATCH);
	struct tracefile_attr *attr = attr_at(to, used);

	if (!attr || bpf_probe_read_user(st, 14 * sizeof(*st), (void *)at))
		return used;
	attr->dev = st[0];
	attr->ino = st[1];
	attr->nlink = st[2];
	attr->mode = st[3];
	attr->size = st[6];
	attr->atime = st[9] * 1000000000ull + st[10];
	attr->mtime = st[11] * 1000000000ull + st[12];
	return close_blob(to, used, TRACEFILE_ATTR, sizeof(*attr));
}

static __always_inline u32 add_statx(u8 *to, u32 used, u64 at)
{
	u32 *st = (u32 *)(to + SCRATCH);
	struct tracefile_attr *attr = attr_at(to, used);

	if (!attr || bpf_probe_read_user(st, 36 * sizeof(*st), (void *)at))
		return used;
	attr->nlink = st[4];
	attr->mode = st[7] & 0xffff;
	attr->ino = st[8] | (u64)st[9] << 32;
	attr->size = st[10] | (u64)st[11] << 32;
	attr->atime = (st[16] | (u64)st[17] << 32) * 1000000000ull + st[18];
	attr->mtime = (st[28] | (u64)st[29] << 32) * 1000000000ull + st[30];
	attr->dev = device_of(st[34] << 20 | st[35]);
	return close_blob(to, used, TRACEFILE_ATTR, sizeof(*attr));
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
	    bpf_probe_read_user(to + used + sizeof(struct tracefile_blob), length & 4095,
				(void *)at))
		return used;
	return close_blob(to, used, TRACEFILE_ARGV, length & 4095);
}

/* A script's own file is closed by now: what runs is the program that reads it. */
static __always_inline u32 add_exec(u8 *to, u32 used, bool script)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	long length;

	/* The kernel has put the path behind the environment. */
	length = bpf_probe_read_user_str(to + used + sizeof(struct tracefile_blob), 4096,
					 (void *)task->mm->env_end);
	if (length > 0)
		used = close_blob(to, used, TRACEFILE_PATH, length);
	used = add_argv(to, used);
	return script ? used : add_attr(to, used, task->mm->exe_file);
}

static __always_inline u32 add_target(u8 *to, u32 used, u64 at, s64 length)
{
	if (length < 0 || length > 4095 || used > SCRATCH - 5000 ||
	    bpf_probe_read_user(to + used + sizeof(struct tracefile_blob), length & 4095,
				(void *)at))
		return used;
	return close_blob(to, used, TRACEFILE_TARGET, length & 4095);
}
