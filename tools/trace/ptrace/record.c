// SPDX-License-Identifier: GPL-2.0
/*
 * The tracer. Every call that filter.h wants stops its task twice: at its entry, by seccomp, and
 * at its exit. At either the clock is read once, and nowhere else while calls are recorded, in the
 * way of clock.h, which does not move virtual time.
 *
 * A record is written at the exit. So records are in the order in which the tracer saw calls end;
 * those of one thread are in the order in which it made them.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "aio.h"
#include "../../common/alloc.h"
#include "../capture.h"
#include "../../common/clock.h"
#include "../command.h"
#include "../disk-read.h"
#include "../filter.h"
#include "hold.h"
#include "i386.h"
#include "../layout.h"
#include "pages.h"
#include "../rights.h"
#include "../scope.h"
#include "../tracer.h"
#include "turns.h"
#include "uring.h"

#define SCAN_MS 100 /* between looks at all processes, with --uid and --cgroup */

#define SYSCALL_STOP (SIGTRAP | 0x80)

void tracer_resume(struct tracer *t, struct task *task, int signal)
{
	bool to_exit = task->in_call && !task->ignored, all = task->attached && t->on;

	turns_resumed(t->turns, task);
	ptrace(to_exit || all ? PTRACE_SYSCALL : PTRACE_CONT, task->tid, NULL,
	       (void *)(long)signal);
}

static void record_call(struct tracer *t, struct task *task, u64 exit, s64 result, u16 flags)
{
	struct tracefile_record record = {
		.type = TRACEFILE_CALL,
		.flags = task->flags | flags,
		.tid = task->tid,
		.nr = task->call.nr,
		.entry = task->entry,
		.exit = exit,
		.result = result,
	};

	memcpy(record.args, task->call.args, sizeof(record.args));
	tracefile_begin(&t->writer, &record);
	tracefile_blobs(&t->writer, task->blobs, task->blobs_used);
	tracefile_end(&t->writer);
	balance_call(&t->balance, &record);
	task->in_call = false;
}

/* The CPU clock of a process, as clock_getcpuclockid() makes it. */
static void add_cpu(struct task *task)
{
	clockid_t clock = (~(clockid_t)task->tgid << 3) | 2;
	struct timespec time;
	u64 ns;

	if (clock_gettime(clock, &time))
		return;
	ns = time.tv_sec * 1000000000ull + time.tv_nsec;
	task_blob(task, TRACEFILE_CPU, &ns, sizeof(ns));
}

/* False: there is no call. */
static bool find_call(struct task *task, bool (*peek)(pid_t tid, struct peek_call *call))
{
	task->narrow = false;
	task->short_offset = false;
	task->found_at = 0;
	if (!peek(task->tid, &task->call))
		return false;
	if (task->call.foreign)
		i386_entry(task);
	return true;
}

static void call_enter(struct tracer *t, struct task *task)
{
	const struct call *call;

	task->blobs_used = 0;
	task->flags = 0;
	if (!find_call(task, peek_entry))
		return;
	task->in_call = true;
	/* A command's filter stops it at what is wanted, and while nothing is, too. */
	task->ignored = !t->on || ((task->attached || task->narrow) && !task->call.foreign &&
				   !filter_wants(task->call.nr, task->call.args,
						 tracer_classes(t->options)));
	t->balance.skipped += !t->on;
	if (task->ignored)
		return;
	task->entry = tracer_now(t);
	if (task->epoch != t->epoch)
		look_again(t, task);
	if (task->call.foreign)
		task->flags = TRACEFILE_FOREIGN;
	call = task->call.foreign ? NULL : call_of(task->call.nr);
	if (call)
		capture_entry(task, call);
	if (call)
		uring_entry(t, task, call);
	if (call)
		aio_entry(task);
	if (call)
		rights_entry(task);
	if (call && t->options->pages)
		pages_entry(t, task);
	if (t->options->cpu)
		add_cpu(task);
}

static bool makes_task(const struct call *call)
{
	return call->effect == DOES_FORK || call->effect == DOES_VFORK ||
	       call->effect == DOES_CLONE || call->effect == DOES_CLONE3;
}

/*
 * For --look: the descriptors of a process at random moments, beside what follows from its calls.
 * The task is stopped; what its other threads and those who share a description do meanwhile is
 * not known yet. So there is no look after a call that has made a task: that one runs by now.
 */
static void look_at_random(struct tracer *t, const struct task *task, const struct call *call,
			   s64 result)
{
	if (!t->options->look || (call && makes_task(call) && result > 0))
		return;
	t->looks = t->looks * 6364136223846793005ull + 1442695040888963407ull;
	if ((t->looks >> 33) % t->options->look)
		return;
	/* Of a thread: the first one may be gone. */
	capture_state(&t->writer, task->tid, task->tid, t->balance.last, TRACEFILE_LOOKED);
}

static void call_leave(struct tracer *t, struct task *task)
{
	const struct call *call = task->call.foreign ? NULL : call_of(task->call.nr);
	u64 exit;
	s64 result;

	if (task->ignored) {
		task->in_call = false;
		return;
	}
	if (!peek_result(task->tid, &result))
		return;
	result = i386_result(task, result);
	exit = tracer_now(t);
	if (call)
		capture_exit(task, call, result);
	if (call)
		aio_exit(task, result);
	if (call)
		rights_exit(task, result);
	if (call)
		disk_read_exit(task, call, result, exit);
	if (call && t->options->layout)
		layout_opened(task, call, result);
	if (call && result > 0 && task->clone_flags & CLONE_UNTRACED &&
	    (call->effect == DOES_CLONE || call->effect == DOES_CLONE3))
		t->balance.untraced++;
	record_call(t, task, exit, result, 0);
	if (call)
		uring_exit(t, task, call, result);
	look_at_random(t, task, call, result);
}

static void record_event(struct tracer *t, enum tracefile_type type, const struct task *task,
			 u32 nr, u64 arg, u64 time)
{
	struct tracefile_record record = {
		.type = type,
		.tid = task->tid,
		.nr = nr,
		.entry = time,
		.exit = time,
		.args = { arg },
	};

	tracefile_begin(&t->writer, &record);
	tracefile_end(&t->writer);
}

/*
 * At the event of a task that has made another. The new one may have stopped before this is seen:
 * then it is returned, to go on after the task that has made it.
 */
static struct task *task_forked(struct tracer *t, struct task *parent, int event)
{
	unsigned long message;
	struct task *child;
	u64 flags;

	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, NULL, &message))
		return NULL;
	/* Of a call that is not recorded nothing is known yet. */
	if ((!parent->in_call || parent->ignored) && find_call(parent, peek_call))
		capture_clone(parent);
	flags = parent->clone_flags;
	if (event == PTRACE_EVENT_VFORK && parent->call.nr != SYS_clone &&
	    parent->call.nr != SYS_clone3)
		flags = CLONE_VM | CLONE_VFORK;
	else if (event == PTRACE_EVENT_FORK && parent->call.nr != SYS_clone &&
		 parent->call.nr != SYS_clone3)
		flags = 0;
	child = task_find(&t->tasks, message) ?: task_add(&t->tasks, message);
	child->announced = true;
	hold_name(parent, child);
	child->attached = parent->attached;
	child->epoch = parent->epoch;
	child->tgid = flags & CLONE_THREAD ? parent->tgid : child->tid;
	t->balance.tasks++;
	record_event(t, TRACEFILE_FORK, parent, child->tid, flags, parent->entry);
	if (!child->stopped)
		return NULL;
	child->stopped = false;
	return child;
}

/* The thread that calls exec becomes the leader; all others are gone. */
static struct task *task_execed(struct tracer *t, struct task *task)
{
	unsigned long former = task->tid;
	struct task *caller;
	bool torn;

	ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &former);
	caller = former == task->tid ? task : task_find(&t->tasks, former);
	torn = task->torn || (caller != task && task->in_call);
	if (caller && caller != task) {
		pid_t leader = task->tid;

		task_remove(&t->tasks, task);
		task = task_add(&t->tasks, leader);
		task->announced = true;
		task->tgid = leader;
		memcpy(task->name, caller->name, sizeof(task->name));
		task->made = caller->made;
		task->attached = caller->attached;
		task->epoch = caller->epoch;
		task->in_call = caller->in_call;
		task->ignored = caller->ignored;
		task->entry = caller->entry;
		task->flags = caller->flags;
		task->call = caller->call;
		task->blobs = caller->blobs;
		task->blobs_used = caller->blobs_used;
		task->blobs_room = caller->blobs_room;
		caller->blobs = NULL;
		task_remove(&t->tasks, caller);
	}
	uring_gone(task);
	record_event(t, TRACEFILE_EXEC, task, former, 0, task->entry);
	/* What the killed threads have still done to descriptors no record says. */
	if (torn && t->on)
		capture_state(&t->writer, task->tid, task->tid, t->balance.last, TRACEFILE_AGAIN);
	task->torn = false;
	return task;
}

static void gone(struct tracer *t, struct task *task, int status, const struct rusage *used)
{
	struct tracefile_record record = { .type = TRACEFILE_EXIT,
					   .tid = task->tid,
					   .result = status };
	u64 time = task->in_call && !task->ignored ? task->entry : tracer_now(t);
	const struct call *call;
	struct task *leader;

	if (task->in_call && !task->ignored) {
		record_call(t, task, time, 0, TRACEFILE_NO_EXIT);
		leader = task_find(&t->tasks, task->tgid);
		call = call_of(task->call.nr);
		if (leader && !(call && call->effect == DOES_EXIT))
			leader->torn = true;
	}
	record.entry = time;
	record.exit = time;
	record.args[0] = (used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000000ull +
			 used->ru_utime.tv_usec + used->ru_stime.tv_usec;
	tracefile_begin(&t->writer, &record);
	tracefile_end(&t->writer);
	if (task->tid == t->command) {
		t->status = status;
		t->command = 0;
	}
	uring_gone(task);
	task_remove(&t->tasks, task);
}

/* A stop of a task that its parent has not announced yet is kept until it is. */
static void first_stop(struct tracer *t, pid_t tid)
{
	struct task *task = task_find(&t->tasks, tid) ?: task_add(&t->tasks, tid);

	task->stopped = true;
}

static void syscall_stop(struct tracer *t, struct task *task)
{
	if (task->in_call)
		call_leave(t, task);
	else if (task->attached)
		call_enter(t, task);
	tracer_resume(t, task, 0);
}

static void event_stop(struct tracer *t, struct task *task, int event, int signal)
{
	struct task *child = NULL;

	switch (event) {
	case PTRACE_EVENT_SECCOMP:
		/*
		 * An attached task has a filter of its own at most, and stops at the call anyway.
		 *
		 */
		if (!task->attached)
			call_enter(t, task);
		if (hold_begins(t, task))
			return;
		break;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		child = task_forked(t, task, event);
		break;
	case PTRACE_EVENT_EXEC:
		task = task_execed(t, task);
		break;
	case PTRACE_EVENT_STOP:
		/* By a signal that stops: it stays stopped. */
		if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
		    signal == SIGTTOU) {
			ptrace(PTRACE_LISTEN, task->tid, NULL, NULL);
			return;
		}
		break;
	}
	tracer_resume(t, task, 0);
	if (child)
		tracer_resume(t, child, 0);
}

static void stopped(struct tracer *t, pid_t tid, int status)
{
	struct task *task = task_find(&t->tasks, tid);
	int signal = WSTOPSIG(status), event = status >> 16;

	t->balance.stops++;
	if (!task || !task->announced) {
		first_stop(t, tid);
		return;
	}
	if (t->detaching)
		detach(t, task, event || signal == SYSCALL_STOP ? 0 : signal);
	else if (event)
		event_stop(t, task, event, signal);
	else if (signal == SYSCALL_STOP)
		syscall_stop(t, task);
	else
		tracer_resume(t, task, signal);
}

/* The first request goes to the command; what is left then, or attached tasks, are let go. */
static void record_end_asked(struct tracer *t)
{
	int signal = t->control.signal;

	if (t->command && signal != SIGINT && signal != SIGQUIT)
		kill(t->command, signal);
	else if (!t->command)
		detach_all(t);
}

static void listen_on_control(struct tracer *t)
{
	u32 asked = control_take(&t->control);

	if (asked & ASKED_OFF)
		switch_off(t);
	if (asked & ASKED_ON)
		switch_on(t);
	if (asked & (ASKED_NEWS | ASKED_SCAN) && !t->detaching)
		attach_scope(t, asked & ASKED_SCAN);
	if (asked & ASKED_END)
		record_end_asked(t);
}

/* A scope may have no process at present. */
static bool goes_on(const struct tracer *t)
{
	return t->tasks.count || (scope_is_open(t->options) && !t->detaching);
}

static void record_loop(struct tracer *t)
{
	struct turn turn;

	while (goes_on(t)) {
		listen_on_control(t);
		rotate_if_full(t);
		hold_look(t);
		if (!turns_collect(t->turns)) {
			if (errno == ECHILD && goes_on(t))
				pause(); /* the control thread interrupts it, more than once */
			if (errno == EINTR || errno == ECHILD)
				continue;
			break;
		}
		turn = turns_take(t->turns, &t->tasks);
		if (WIFSTOPPED(turn.status))
			stopped(t, turn.tid, turn.status);
		else if (task_find(&t->tasks, turn.tid))
			gone(t, task_find(&t->tasks, turn.tid), turn.status, &turn.used);
	}
}

static void start_control(struct tracer *t)
{
	bool open = scope_is_open(t->options);

	control_start(&t->control, open ? scope_news_open() : -1, open ? SCAN_MS : -1);
}

static int record_by_ptrace(const struct record_options *options)
{
	struct turns turns = {};
	struct tracer t = { .options = options, .turns = &turns };
	const pid_t *pid;

	tracer_open(&t);
	if (options->fifo)
		command_priority(FIFO_TRACER);
	clock_start();
	disk_read_start();
	t.balance.first = tracer_now(&t);
	write_about(&t.writer, options, t.balance.first);
	t.on = true;
	if (options->off)
		switch_off(&t);
	if (options->command)
		start_command(&t);
	start_control(&t);
	for (pid = options->pids; pid && *pid; pid++) {
		if (!attach(&t, *pid))
			die("process %d cannot be traced: %s", *pid, strerror(errno));
	}
	if (scope_is_open(options))
		attach_scope(&t, true);
	control_lock(t.writer.lock, 1, t.on);
	tracefile_flush(&t.writer);
	record_loop(&t);
	turns_free(&turns);
	uring_end(&t);
	if (options->pages)
		pages_end(&t);
	return tracer_close(&t);
}

const struct method method = { "ptrace", record_by_ptrace };
