// SPDX-License-Identifier: GPL-2.0
#include "hold.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../../common/alloc.h"
#include "../tracer.h"

#define AGAIN_NS 1000000 /* a signal in front of wait4() interrupts nothing: the next one does */

static void hold_on_signal(int signal)
{
}

/* The control thread is not to take it. */
static void hold_make_timer(struct tracer *t)
{
	struct sigaction action = { .sa_handler = hold_on_signal };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };

	event._sigev_un._tid = gettid();
	sigaction(SIGALRM, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &t->hold_timer))
		die("no timer: %s", strerror(errno));
	t->hold_made = true;
}

static void hold_set_timer(struct tracer *t, u64 ns)
{
	struct itimerspec time = {
		.it_value = { ns / 1000000000, ns % 1000000000 },
		.it_interval = { 0, ns ? AGAIN_NS : 0 },
	};

	timer_settime(t->hold_timer, 0, &time, NULL);
}

void hold_name(struct task *parent, struct task *child)
{
	snprintf(child->name, sizeof(child->name), "%.*s.%u", TASK_NAME - 12, parent->name,
		 ++parent->made);
}

bool hold_begins(struct tracer *t, const struct task *task)
{
	if (!t->options->hold || strcmp(t->options->hold, task->name) || task->ignored)
		return false;
	if (!t->hold_made)
		hold_make_timer(t);
	t->held = task->tid;
	t->held_until = tracer_now(t) + t->options->hold_ns;
	hold_set_timer(t, t->options->hold_ns);
	return true;
}

void hold_look(struct tracer *t)
{
	struct task *task;

	if (!t->held || tracer_now(t) < t->held_until)
		return;
	/* It may have been killed meanwhile. */
	task = task_find(&t->tasks, t->held);
	t->held = 0;
	hold_set_timer(t, 0);
	if (task)
		tracer_resume(t, task, 0);
}
