// SPDX-License-Identifier: GPL-2.0
/* What a task has when it begins to be traced, by /proc. */
#include <dirent.h>
#include <inttypes.h>
#include <unistd.h>

#include "capture.h"

/*
 * The number behind a word at the beginning of a line of a file of /proc; @missing if there is
 * none.
 */
static u64 proc_number(const char *path, const char *word, int base, u64 missing)
{
	FILE *file = fopen(path, "r");
	char line[256];
	u64 number = missing;

	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, word, strlen(word)))
			continue;
		number = strtoull(line + strlen(word), NULL, base);
		break;
	}
	if (file)
		fclose(file);
	return number;
}

u64 capture_status(pid_t pid, const char *word)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	return proc_number(path, word, 10, 0);
}

pid_t capture_process(pid_t tid)
{
	return capture_status(tid, "Tgid:") ?: tid;
}

static void state_add_link(struct raw_writer *w, enum raw_kind kind, const char *link)
{
	char target[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target));

	if (n > 0)
		raw_add(w, kind, target, n);
}

static void state_add_attr(struct raw_writer *w, const char *path)
{
	struct raw_attr attr;

	if (!capture_attr(path, &attr))
		return;
	raw_add(w, RAW_ATTR, &attr, sizeof(attr));
}

static void state_add_fd(struct raw_writer *w, pid_t tid, int fd, u64 now, u16 flags)
{
	struct raw_record record = {
		.type = RAW_FD, .flags = flags, .tid = tid, .nr = fd, .entry = now, .exit = now
	};
	char path[64], info[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, fd);
	snprintf(info, sizeof(info), "/proc/%d/fdinfo/%d", tid, fd);
	record.args[0] = proc_number(info, "flags:", 8, 0);
	record.args[1] = proc_number(info, "pos:", 10, 0);
	raw_begin(w, &record);
	state_add_link(w, RAW_PATH, path);
	state_add_attr(w, path);
	raw_end(w);
}

void capture_task(struct raw_writer *w, pid_t tid, pid_t tgid, u64 now, u16 flags)
{
	struct raw_record record = {
		.type = RAW_TASK, .flags = flags, .tid = tid, .nr = tgid, .entry = now, .exit = now
	};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	record.args[0] = proc_number(path, "PPid:", 10, 0);
	record.args[1] = proc_number(path, "Uid:", 10, 0);
	raw_begin(w, &record);
	snprintf(path, sizeof(path), "/proc/%d/cwd", tid);
	state_add_link(w, RAW_CWD, path);
	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	state_add_link(w, RAW_PATH, path);
	raw_end(w);
}

void capture_state(struct raw_writer *w, pid_t tid, pid_t tgid, u64 now, u16 flags)
{
	struct dirent *entry;
	char path[64];
	DIR *fds;

	capture_task(w, tid, tgid, now, flags);
	if (tid != tgid)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd", tid);
	fds = opendir(path);
	if (!fds) /* it is gone */
		return;
	while ((entry = readdir(fds))) {
		if (*entry->d_name != '.')
			state_add_fd(w, tid, atoi(entry->d_name), now, flags);
	}
	closedir(fds);
}
