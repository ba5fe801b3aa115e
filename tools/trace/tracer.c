// SPDX-License-Identifier: GPL-2.0
#include "tracer.h"

#include <inttypes.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../calls/calls.h"
#include "../common/clock.h"
#include "capture.h"
#include "command.h"

u64 tracer_now(struct tracer *t)
{
	t->balance.last = max(clock_look(), t->balance.last + 1);
	return t->balance.last;
}

static void on_dropped(void *arg, const struct tracefile_record *record)
{
	struct tracer *t = arg;

	if (!t->unwritten)
		fprintf(stderr,
			"david-trace: the trace cannot be written: %s; what is traced goes on\n",
			strerror(t->writer.error));
	t->unwritten = true;
	balance_lose(&t->balance, record);
}

void tracer_open(struct tracer *t)
{
	const struct record_options *options = t->options;

	tracefile_writer_init(&t->writer, open_trace(options));
	tracefile_rotate(&t->writer, options->out, options->segments, options->segment_bytes);
	t->writer.dropped = on_dropped;
	t->writer.arg = t;
}

int tracer_close(struct tracer *t)
{
	int status = WIFSIGNALED(t->status) ? 128 + WTERMSIG(t->status) : WEXITSTATUS(t->status);

	write_balance(&t->writer, &t->balance, t->detaching ? "detached" : "all tasks have ended");
	if (t->writer.error)
		fprintf(stderr, "david-trace: %s has no end: %s\n", t->options->out,
			strerror(t->writer.error));
	if (t->unwritten)
		fprintf(stderr, "david-trace: %" PRIu64 " calls are not in %s\n", t->balance.lost,
			t->options->out);
	close(t->writer.fd);
	if (!status && (t->unwritten || t->writer.error))
		return STATUS_BAD;
	return status;
}

u32 tracer_classes(const struct record_options *options)
{
	return 1u << CALL_FILES | (options->sync ? 1u << CALL_SYNC : 0) |
	       (options->pages ? 1u << CALL_PAGES : 0);
}

/*
 * Recording on and off, and the next file of a ring. At either, what is known of descriptors from
 * calls has a gap: so what there is then is looked up, as at the start.
 */

static void write_switch(struct tracer *t, bool on)
{
	u64 now = tracer_now(t);
	struct tracefile_record record = {
		.type = TRACEFILE_SWITCH, .entry = now, .exit = now, .args = { on }
	};

	tracefile_begin(&t->writer, &record);
	tracefile_end(&t->writer);
	tracefile_flush(&t->writer);
	if (!on)
		t->off_since = now;
	else
		t->balance.off_ns += now - t->off_since;
	t->balance.switches++;
	control_lock(t->writer.lock, 1, on);
}

static void interrupt_task(struct task *task, void *arg)
{
	if (task->attached)
		ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL);
}

void switch_on(struct tracer *t)
{
	if (t->on)
		return;
	t->on = true;
	t->epoch++;
	write_switch(t, true);
	/* Attached tasks run without stopping at calls. */
	tasks_each(&t->tasks, interrupt_task, NULL);
}

void switch_off(struct tracer *t)
{
	if (!t->on)
		return;
	t->on = false;
	write_switch(t, false);
}

void look_again(struct tracer *t, struct task *task)
{
	struct task *leader = task_find(&t->tasks, task->tgid) ?: task;

	task->epoch = t->epoch;
	if (leader != task && leader->epoch == t->epoch)
		return;
	leader->epoch = t->epoch;
	capture_state(&t->writer, task->tgid, task->tgid, t->balance.last, TRACEFILE_AGAIN);
}

static void write_task_state(struct task *task, void *arg)
{
	struct tracer *t = arg;

	capture_state(&t->writer, task->tid, task->tgid, t->balance.last, TRACEFILE_AGAIN);
}

void look_at_all(struct tracer *t)
{
	tasks_each(&t->tasks, write_task_state, t);
}

void rotate_if_full(struct tracer *t)
{
	struct tracefile_record record = { .type = TRACEFILE_SEGMENT };

	if (!tracefile_segment_full(&t->writer) || balance_calls(&t->balance) == t->rotated_at)
		return;
	tracefile_flush(&t->writer);
	tracefile_next_segment(&t->writer);
	t->rotated_at = balance_calls(&t->balance);
	write_about(&t->writer, t->options, t->balance.first);
	record.nr = t->writer.segment;
	record.entry = t->balance.last;
	record.exit = t->balance.last;
	record.args[0] = t->rotated_at;
	record.args[1] = t->on;
	tracefile_begin(&t->writer, &record);
	tracefile_end(&t->writer);
	look_at_all(t);
}
