// SPDX-License-Identifier: GPL-2.0
/* How a task begins to be traced: as a command, by its number, or by the scope that it is in. */
#include <dirent.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../common/alloc.h"
#include "../capture.h"
#include "../command.h"
#include "../scope.h"
#include "../tracer.h"

static unsigned long trace_options(bool attached)
{
	unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
				PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP;

	return attached ? options : options | PTRACE_O_EXITKILL;
}

/* NULL: errno. */
static struct task *seize(struct tracer *t, pid_t tid, pid_t tgid, bool attached)
{
	struct task *task;

	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)trace_options(attached)))
		return NULL;
	task = task_add(&t->tasks, tid);
	task->tgid = tgid;
	task->attached = attached;
	task->announced = true;
	task->epoch = t->epoch;
	t->balance.tasks++;
	t->balance.attached += attached;
	/* How a stop of it looks is tried with one: without it, at the first call. */
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	if (waitpid(tid, NULL, __WALL) == tid)
		peek_init(tid);
	capture_state(&t->writer, tid, tgid, tracer_now(t), 0);
	return task;
}

void start_command(struct tracer *t)
{
	struct task *task;
	int go;

	t->command = command_start(t->options, true, &go);
	task = seize(t, t->command, t->command, false);
	if (!task)
		die("process %d cannot be traced: %s", t->command, strerror(errno));
	snprintf(task->name, sizeof(task->name), "1");
	ptrace(PTRACE_CONT, t->command, NULL, NULL);
	command_go(go);
}

static bool attach_thread(struct tracer *t, pid_t tid, pid_t tgid)
{
	struct task *task = task_find(&t->tasks, tid);

	if (task)
		return true;
	task = seize(t, tid, tgid, true);
	if (task)
		tracer_resume(t, task, 0);
	return task;
}

bool attach(struct tracer *t, pid_t pid)
{
	pid_t tgid = capture_process(pid);
	struct dirent *entry;
	unsigned int before;
	bool all = true;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	/*
	 * Threads that are made meanwhile are seen by the events of those that make them, or in
	 * the next round.
	 */
	do {
		before = t->tasks.count;
		threads = opendir(path);
		if (!threads)
			return false;
		while ((entry = readdir(threads))) {
			if (*entry->d_name != '.')
				all = attach_thread(t, atoi(entry->d_name), tgid) && all;
		}
		closedir(threads);
	} while (t->tasks.count != before);
	return all;
}

/* One that the kernel has attached by itself, but whose parent's event is still to come. */
static bool is_ours(pid_t pid)
{
	return capture_status(pid, "TracerPid:") == getpid();
}

static void attach_new(void *arg, pid_t pid)
{
	struct tracer *t = arg;

	if (task_find(&t->tasks, pid) || is_ours(pid))
		return;
	if (attach(t, pid))
		t->balance.late += t->scanned;
	else if (errno != ESRCH && errno != ENOENT)
		t->balance.refused++;
}

void attach_scope(struct tracer *t, bool all)
{
	pid_t pid;

	while (t->control.news >= 0 && (pid = scope_news(t->control.news))) {
		if (scope_wants(t->options, pid))
			attach_new(t, pid);
	}
	if (!all)
		return;
	t->balance.refused = 0; /* each scan meets them again */
	scope_each(t->options, attach_new, t);
	t->scanned = true;
}

static void let_go(struct task *task, void *arg)
{
	/* Without a tracer its calls would fail: the filter stays. */
	if (!task->attached)
		kill(task->tid, SIGKILL);
	else
		ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL);
}

void detach_all(struct tracer *t)
{
	t->detaching = true;
	tasks_each(&t->tasks, let_go, NULL);
}

void detach(struct tracer *t, struct task *task, int signal)
{
	ptrace(PTRACE_DETACH, task->tid, NULL, (void *)(long)signal);
	task_remove(&t->tasks, task);
}
