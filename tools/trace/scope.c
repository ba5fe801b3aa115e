// SPDX-License-Identifier: GPL-2.0
#include "scope.h"

#include <dirent.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <mntent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/alloc.h"
#include "capture.h"

const char *scope_cgroup_top(void)
{
	static char top[PATH_MAX];
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *entry;

	*top = 0;
	while (mounts && !*top && (entry = getmntent(mounts))) {
		if (!strcmp(entry->mnt_type, "cgroup2"))
			snprintf(top, sizeof(top), "%s", entry->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return top;
}

const char *scope_cgroup(const char *name)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/cgroup.procs", name);
	if (!access(path, R_OK))
		return name;
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", scope_cgroup_top(), name);
	if (access(path, R_OK))
		die("there is no cgroup %s", name);
	*strrchr(path, '/') = 0;
	return path;
}

bool scope_is_open(const struct record_options *options)
{
	return options->by_uid || options->cgroup;
}

/* Of the tracer and its ancestors, whose calls would follow from those that are recorded. */
static bool is_ancestor(pid_t pid)
{
	pid_t at = getpid();
	unsigned int steps = 0;

	while (at > 1 && at != pid && steps++ < 1000)
		at = capture_status(at, "PPid:");
	return at == pid;
}

/* What the kernel itself runs has no program. */
static bool has_program(pid_t pid)
{
	char path[64], target[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, target, sizeof(target)) > 0;
}

/* Path of the process's cgroup 2 below its mount. */
static bool in_cgroup(const char *cgroup, pid_t pid)
{
	char path[64], line[PATH_MAX + 16];
	const char *top = scope_cgroup_top(), *name = cgroup + strlen(top);
	size_t length = strlen(name);
	bool found = false;
	FILE *file;

	while (length && name[length - 1] == '/')
		length--;
	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	file = fopen(path, "r");
	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *end = line + 3 + length;

		found = !strncmp(line, "0::", 3) && !strncmp(line + 3, name, length) &&
			(*end == '/' || *end == '\n');
	}
	if (file)
		fclose(file);
	return found;
}

bool scope_wants(const struct record_options *options, pid_t pid)
{
	if (options->by_uid && (uid_t)capture_status(pid, "Uid:") != options->uid)
		return false;
	if (options->cgroup && !in_cgroup(options->cgroup, pid))
		return false;
	return has_program(pid) && !is_ancestor(pid);
}

void scope_each(const struct record_options *options, void (*each)(void *arg, pid_t pid),
		void *arg)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;

	if (!all)
		die("/proc cannot be read: %s", strerror(errno));
	while ((entry = readdir(all))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && scope_wants(options, pid))
			each(arg, pid);
	}
	closedir(all);
}

int scope_news_open(void)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	struct {
		struct nlmsghdr header;
		struct cn_msg message;
		enum proc_cn_mcast_op op;
	} __attribute__((__packed__)) ask = {
		.header = { .nlmsg_len = sizeof(ask), .nlmsg_type = NLMSG_DONE },
		.message = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof(ask.op) },
		.op = PROC_CN_MCAST_LISTEN,
	};
	int news =
		socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR);

	if (news < 0)
		return -1;
	if (bind(news, (struct sockaddr *)&address, sizeof(address)) ||
	    send(news, &ask, sizeof(ask), 0) != sizeof(ask)) {
		close(news);
		return -1;
	}
	return news;
}

pid_t scope_news(int news)
{
	char data[512] __attribute__((__aligned__(8)));
	const struct cn_msg *message = NLMSG_DATA((struct nlmsghdr *)data);
	const struct proc_event *event = (const struct proc_event *)message->data;

	while (recv(news, data, sizeof(data), 0) > 0) {
		switch (event->what) {
		case PROC_EVENT_FORK:
			return event->event_data.fork.child_tgid;
		case PROC_EVENT_EXEC:
			return event->event_data.exec.process_tgid;
		case PROC_EVENT_UID:
			return event->event_data.id.process_tgid;
		default:
			break;
		}
	}
	return 0;
}
