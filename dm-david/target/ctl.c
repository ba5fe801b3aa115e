// SPDX-License-Identifier: GPL-2.0
/* /dev/david: the ioctls of uapi/dm-david.h. */
#include "../io/david.h"

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

static const u32 target_version[3] = DAVID_VERSION;

static long ctl_version(void __user *arg)
{
	struct david_version version = { .abi = DAVID_ABI_VERSION };

	memcpy(version.target, target_version, sizeof(version.target));
	return copy_to_user(arg, &version, sizeof(version)) ? -EFAULT : 0;
}

/* @most: bytes that the caller's struct may have. */
static long ctl_stats(void __user *arg, u32 most)
{
	const size_t in = offsetofend(struct david_stats, name);
	struct david_stats *st;
	u32 size, abi;
	long r;

	/* Zeroed, so that nothing of the kernel's memory is told along. */
	st = kzalloc(sizeof(*st), GFP_KERNEL);
	if (!st)
		return -ENOMEM;
	r = -EFAULT;
	if (copy_from_user(st, arg, in))
		goto out;
	abi = st->version;
	size = min3(st->size, most, (u32)sizeof(*st));
	r = -EINVAL;
	if (size < in || strnlen(st->name, sizeof(st->name)) == sizeof(st->name))
		goto out;
	st->version = DAVID_ABI_VERSION;
	st->size = size;
	if (abi == DAVID_ABI_VERSION) {
		r = store_stats_by_name(st->name, st);
		if (r)
			goto out;
	} else {
		size = in;
		r = -EPROTONOSUPPORT;
	}
	if (copy_to_user(arg, st, size))
		r = -EFAULT;
out:
	kfree(st);
	return r;
}

static long ctl_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	switch (cmd) {
	case DAVID_IOC_VERSION:
		return ctl_version((void __user *)arg);
	case DAVID_IOC_STATS:
		return ctl_stats((void __user *)arg, U32_MAX);
	default:
		if (cmd == DAVID_IOC_STATS_SIZED(_IOC_SIZE(cmd)))
			return ctl_stats((void __user *)arg, _IOC_SIZE(cmd));
		return -ENOTTY;
	}
}

static const struct file_operations ctl_fops = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.unlocked_ioctl = ctl_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice ctl_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "david",
	.mode = 0600,
	.fops = &ctl_fops,
};

int david_ctl_init(void)
{
	return misc_register(&ctl_device);
}

void david_ctl_exit(void)
{
	misc_deregister(&ctl_device);
}
