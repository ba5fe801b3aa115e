// SPDX-License-Identifier: GPL-2.0
#include "command.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../common/alloc.h"
#include "control.h"
#include "filter.h"
#include "tracer.h"

static bool executable(const char *path)
{
	struct stat st;

	return !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* As a shell finds it, so that only one exec is in the trace. */
static const char *find_program(const char *name)
{
	static char path[PATH_MAX];
	const char *at = getenv("PATH") ?: "/usr/bin:/bin", *end;

	if (strchr(name, '/')) {
		if (executable(name))
			return name;
		at = "";
	}
	for (; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, ':');
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "",
			 name);
		if (executable(path))
			return path;
	}
	die("there is no program %s", name);
}

void command_priority(int priority)
{
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ priority }))
		die("--fifo: no real-time priority: %s; it is for root, or needs ulimit -r %d",
		    strerror(errno), FIFO_TRACER);
}

/* @go is a pipe, from which the tracer's word comes. If the tracer dies before, its end does. */
static void child(const struct record_options *options, const char *program, bool filter,
		  const int *go)
{
	char byte;

	close(go[1]);
	if (read(go[0], &byte, 1) != 1)
		_exit(STATUS_UNTRACED);
	if (options->fifo)
		command_priority(FIFO_COMMAND);
	if (filter && !filter_install(tracer_classes(options)))
		die("no seccomp filter can be set: %s", strerror(errno));
	execv(program, options->command);
	fprintf(stderr, "david-trace: %s: %s\n", program, strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

pid_t command_start(const struct record_options *options, bool filter, int *go)
{
	const char *program = find_program(options->command[0]);
	int both[2];
	pid_t pid;

	if (pipe2(both, O_CLOEXEC))
		die("no pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		die("no process: %s", strerror(errno));
	if (!pid)
		child(options, program, filter, both);
	close(both[0]);
	*go = both[1];
	return pid;
}

void command_go(int go)
{
	if (write(go, "", 1) != 1)
		die("no command: %s", strerror(errno));
	close(go);
}

/* Is the trace on the disk whose use it records? Memory is no disk. What was there before stays. */
static void check_disk(const struct record_options *options, int out, bool made)
{
	const char *disk = options->disk ?: ".";
	struct stat trace, traced;
	struct statfs fs;

	if (fstat(out, &trace) || stat(disk, &traced))
		die("%s: %s", disk, strerror(errno));
	if (options->share_disk || trace.st_dev != traced.st_dev || !S_ISREG(trace.st_mode) ||
	    (!fstatfs(out, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)))
		return;
	if (made)
		unlink(options->out);
	die("%s is on the disk that is traced, that of %s; see --disk and --share-disk",
	    options->out, disk);
}

int open_trace(const struct record_options *options)
{
	bool made = access(options->out, F_OK);
	int out;

	/* A mistyped one leaves neither a new file nor an old one empty. */
	if (options->command)
		find_program(options->command[0]);
	/* Truncated only when it is known that no tracer writes it. */
	out = open(options->out, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (out < 0)
		die("%s: %s", options->out, strerror(errno));
	check_disk(options, out, made);
	if (!control_lock(out, 0, true) && (errno == EACCES || errno == EAGAIN))
		die("%s is being written by another tracer", options->out);
	if (ftruncate(out, 0) && errno != EINVAL)
		die("%s: %s", options->out, strerror(errno));
	return out;
}
