// SPDX-License-Identifier: GPL-2.0
#include "waiting.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../common/clock.h"

#define LOOK_NS 100000000 /* who waits for a word looks so often whether all stop */

struct waiter {
	struct wait wait;
	bool gives_up;
	bool left;
};

static _Thread_local u32 own;

static void *waiting_room(u64 bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

struct waiting *waiting_new(u32 threads)
{
	struct waiting *w = waiting_room(sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct waiting){ .threads = threads, .running = threads };
	w->waiter = waiting_room((threads + 1ull) * sizeof(*w->waiter));
	w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return w->waiter && w->wake >= 0 ? w : NULL;
}

void waiting_free(struct waiting *w)
{
	close(w->wake);
	munmap(w->waiter, (w->threads + 1ull) * sizeof(*w->waiter));
	munmap(w, sizeof(*w));
}

void waiting_set_thread(u32 thread)
{
	own = thread;
}

static enum wait_kind kind_of(const struct waiter *waiter)
{
	return __atomic_load_n(&waiter->wait.kind, __ATOMIC_SEQ_CST);
}

/* Has it come? Then the thread goes on as soon as it can. */
static bool has_come(const struct wait *wait)
{
	struct pollfd pipe = { .fd = wait->fd, .events = wait->events };

	switch (wait->kind) {
	case WAIT_REACHED:
	case WAIT_START:
		return __atomic_load_n(wait->word, __ATOMIC_SEQ_CST) >= wait->value;
	case WAIT_CHANGED:
		return __atomic_load_n(wait->word, __ATOMIC_SEQ_CST) != wait->value;
	case WAIT_PIPE:
		return poll(&pipe, 1, 0) != 0;
	default:
		return false;
	}
}

/* Who gives up: the first in the trace. NULL: nobody can, or somebody is about to go on. */
static struct waiter *find_stalled(struct waiting *w)
{
	u32 ends = __atomic_load_n(&w->ends, __ATOMIC_SEQ_CST), i;
	struct waiter *found = NULL;

	for (i = 0; i < w->threads; i++) {
		struct waiter *waiter = &w->waiter[i];
		enum wait_kind kind = kind_of(waiter);

		if (__atomic_load_n(&waiter->left, __ATOMIC_SEQ_CST))
			continue;
		if (kind == WAIT_NONE || has_come(&waiter->wait) ||
		    __atomic_load_n(&waiter->gives_up, __ATOMIC_SEQ_CST))
			return NULL;
		if ((kind == WAIT_PIPE || kind == WAIT_CHANGED) &&
		    (!found || waiter->wait.event < found->wait.event))
			found = waiter;
	}
	/* Who went on meanwhile may have let others go on, and looks when it waits again. */
	return __atomic_load_n(&w->ends, __ATOMIC_SEQ_CST) == ends ? found : NULL;
}

static void keep_stalled(struct waiting *w, const struct waiter *first)
{
	u32 i, n = 0;

	w->stalled[n++] = first->wait;
	for (i = 0; i < w->threads && n < STALLED_MAX; i++) {
		if (&w->waiter[i] != first && kind_of(&w->waiter[i]) != WAIT_NONE)
			w->stalled[n++] = w->waiter[i].wait;
	}
	w->stalled_count = n;
}

static void wake_all(struct waiting *w)
{
	u64 one = 1;

	if (write(w->wake, &one, sizeof(one)) < 0)
		return; /* it is set already */
}

static void look_for_stall(struct waiting *w)
{
	struct waiter *stalled = find_stalled(w);

	if (!stalled)
		return;
	if (!w->stalls++)
		keep_stalled(w, stalled);
	__atomic_store_n(&stalled->gives_up, true, __ATOMIC_SEQ_CST);
	if (kind_of(stalled) == WAIT_CHANGED)
		syscall(SYS_futex, stalled->wait.word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
	else
		wake_all(w);
}

static void stop_running(struct waiting *w)
{
	if (__atomic_sub_fetch(&w->running, 1, __ATOMIC_SEQ_CST))
		return;
	if (w->timed)
		w->idle_since = clock_look();
	look_for_stall(w);
}

void waiting_begin(struct waiting *w, const struct wait *what)
{
	struct waiter *waiter = &w->waiter[own];

	waiter->wait = *what;
	waiter->wait.kind = WAIT_NONE;
	__atomic_store_n(&waiter->wait.kind, what->kind, __ATOMIC_SEQ_CST);
	stop_running(w);
}

void waiting_end(struct waiting *w)
{
	__atomic_add_fetch(&w->ends, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&w->waiter[own].wait.kind, WAIT_NONE, __ATOMIC_SEQ_CST);
	if (__atomic_add_fetch(&w->running, 1, __ATOMIC_SEQ_CST) == 1 && w->timed) {
		w->idle_ns += clock_look() - w->idle_since;
		w->idle_times++;
	}
}

void waiting_leave(struct waiting *w)
{
	__atomic_store_n(&w->waiter[own].left, true, __ATOMIC_SEQ_CST);
	stop_running(w);
}

/* Has it been told to give up? Once it has said so it has not. */
static bool gives_up(struct waiting *w)
{
	u64 value;

	if (__atomic_load_n(&w->stopped, __ATOMIC_SEQ_CST))
		return true;
	if (!__atomic_load_n(&w->waiter[own].gives_up, __ATOMIC_SEQ_CST))
		return false;
	while (read(w->wake, &value, sizeof(value)) > 0)
		;
	__atomic_store_n(&w->waiter[own].gives_up, false, __ATOMIC_SEQ_CST);
	return true;
}

void waiting_stop(struct waiting *w)
{
	__atomic_store_n(&w->stopped, true, __ATOMIC_SEQ_CST);
	wake_all(w);
}

static bool wait_for_pipe(struct waiting *w, const struct wait *what)
{
	struct pollfd fds[2] = { { .fd = what->fd, .events = what->events },
				 { .fd = w->wake, .events = POLLIN } };

	do {
		if (poll(fds, 2, -1) >= 0 && fds[0].revents)
			return true;
	} while (!gives_up(w));
	return false;
}

static bool wait_for_change(struct waiting *w, const struct wait *what)
{
	struct timespec look = { .tv_nsec = LOOK_NS };

	while (!has_come(what)) {
		if (gives_up(w))
			return false;
		syscall(SYS_futex, what->word, FUTEX_WAIT, what->value, &look, NULL, 0);
	}
	return true;
}

bool waiting_until(struct waiting *w, const struct wait *what)
{
	bool come;

	if (has_come(what))
		return true;
	waiting_begin(w, what);
	come = what->kind == WAIT_PIPE ? wait_for_pipe(w, what) : wait_for_change(w, what);
	waiting_end(w);
	return come;
}
