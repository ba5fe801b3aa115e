/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Files by their descriptors, and what their inodes say: the attributes that tell which file it is.
 * A part of trace.bpf.c.
 */
#define INODE_BYTES 192 /* all that is read of an inode is in its beginning */

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

static __always_inline void times_of(const u8 *copy, struct tracefile_attr *attr)
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

static __always_inline void times_of_inode(const struct inode *inode, struct tracefile_attr *attr)
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
static __always_inline bool attr_by_copy(const struct file *file, struct tracefile_attr *attr,
					 u8 *copy)
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

static __always_inline bool attr_of(const struct file *file, struct tracefile_attr *attr)
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

/* Where a blob's attributes go; NULL: there is no room. */
static __always_inline struct tracefile_attr *attr_at(u8 *to, u32 used)
{
	return used > SCRATCH - 256 ? NULL : (void *)(to + used + sizeof(struct tracefile_blob));
}

static __always_inline u32 add_attr(u8 *to, u32 used, const struct file *file)
{
	struct tracefile_attr *attr = attr_at(to, used);

	if (!attr || !attr_of(file, attr))
		return used;
	return close_blob(to, used, TRACEFILE_ATTR, sizeof(*attr));
}
