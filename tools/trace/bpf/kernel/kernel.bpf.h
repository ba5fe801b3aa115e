/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's structures, as far as they are read. A part of trace.bpf.c. */

void *bpf_rdonly_cast(const void *at, u32 type) __ksym __weak;

/* Of the kernel's structures, what is read; where it is, is found when the program is loaded. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct timespec64 {
	s64 tv_sec;
	long tv_nsec;
};

struct super_block {
	u32 s_dev;
};

struct inode {
	u16 i_mode;
	unsigned int i_nlink;
	unsigned long i_ino;
	s64 i_size;
	struct super_block *i_sb;
	struct timespec64 i_mtime; /* 6.5 and older */
	struct timespec64 i_atime;
	struct timespec64 __i_mtime; /* 6.6 to 6.10 */
	struct timespec64 __i_atime;
	s64 i_mtime_sec; /* 6.11 on */
	s64 i_atime_sec;
	u32 i_mtime_nsec;
	u32 i_atime_nsec;
};

struct list_head {
	struct list_head *next;
};

struct file {
	struct inode *f_inode;
	unsigned int f_flags;
	s64 f_pos;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_pgoff;
	unsigned long vm_flags;
	struct file *vm_file;
};

struct mm_struct {
	struct file *exe_file;
	unsigned long arg_start;
	unsigned long arg_end;
	unsigned long env_end;
};

struct sched_entity {
	u64 sum_exec_runtime;
};

struct task_struct;

struct signal_struct {
	u64 sum_sched_runtime;
	struct task_struct *group_exec_task; /* a thread that runs a new program */
};

struct task_struct {
	int pid;
	int tgid;
	int exit_code;
	struct files_struct *files;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct sched_entity se;
};

struct linux_binprm {
	const char *filename;
	const char *interp; /* another one, if a script was executed */
};

struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9, cs;
};

#pragma clang attribute pop
