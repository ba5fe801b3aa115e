// SPDX-License-Identifier: GPL-2.0
#include "run.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../../dm-david/portable/hash.h"
#include "../common/clock.h"

#define SPIN_NS 60000 /* so much before a call its thread is woken, to spin */
#define SHUFFLE_NS 200000
#define STACK_BYTES 0x20000
#define NOT_DUE U64_MAX
#define TOGETHER_NS 256 /* under the virtual clock: so near are calls that are due at one time */
#define YIELDS 16 /* so often a thread lets those go first that are due */
#define LOOK_NS 100000000 /* who waits looks so often whether all has been stopped */

struct progress { /* alone on its line of the cache */
	u32 done; /* commands; what others wait for */
	u32 wanted; /* by those who wait: the least count; 0: none */
	u32 reached; /* how often it was */
	u64 due; /* under the virtual clock: the step at which its next call is made; or NOT_DUE */
	u8 rest[40];
};

struct show;

struct worker {
	struct show *show;
	u32 number;
	pthread_t thread;
	struct log_entry *log;
	struct counted counted;
	u64 random;
	u64 made;
	u64 compared;
	u64 same; /* of the trace's calls: no touches */
	u64 last; /* when the last call returned; ns since the start */
	bool within; /* ... but for the last one, which takes no time of its own */
	void *scratch;
};

struct show {
	const struct stage *stage;
	const struct replay_options *options;
	struct progress *progress;
	struct worker *worker;
	pthread_barrier_t ready;
	pthread_barrier_t begun; /* all that is before --from is done */
	u32 arrived; /* threads, there */
	u64 start;
	u64 step; /* of a clock that stands while nobody waits; 0: it goes by itself */
	u64 look; /* what a look at the clock takes: a thread has to run one earlier */
	u32 stopped;
	pthread_mutex_t lock; /* of the differences */
	struct replay_result result;
};

static u64 now(const struct show *show)
{
	return clock_look() - show->start;
}

static u64 look_takes(void)
{
	u64 least = U64_MAX, last = clock_look(), at;
	u32 i;

	for (i = 0; i < 16; i++, last = at) {
		at = clock_look();
		least = min(least, at - last);
	}
	return least;
}

static struct timespec timespec_of(u64 ns)
{
	return (struct timespec){ ns / 1000000000, ns % 1000000000 };
}

static void sleep_until(const struct show *show, u64 time)
{
	struct timespec t = timespec_of(time + show->start);

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static u64 draw(u64 *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* Waiting for other threads. */

static u32 private(const struct show *show)
{
	return show->options->processes ? 0 : FUTEX_PRIVATE_FLAG;
}

/* Not until a time from now on: then the kernel would look at the clock once more. */
static void futex_wait(const struct show *show, u32 *word, u32 value, u64 ns)
{
	struct timespec until = timespec_of(clock_look() + ns);

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET | private(show), value, &until, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

static void futex_wake(const struct show *show, u32 *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE | private(show), INT_MAX, NULL, NULL, 0);
}

/* So that no other progress of the thread than this wakes anybody. */
static void want(struct progress *p, u32 count)
{
	u32 wanted = __atomic_load_n(&p->wanted, __ATOMIC_SEQ_CST);

	while ((!wanted || wanted > count) &&
	       !__atomic_compare_exchange_n(&p->wanted, &wanted, count, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
}

/* Until the thread has made @count calls, but for no longer than @ns. True: it has. */
static bool wait_for(struct show *show, u32 thread, u32 count, u64 ns)
{
	struct progress *p = &show->progress[thread];
	u32 reached = __atomic_load_n(&p->reached, __ATOMIC_SEQ_CST);

	want(p, count);
	if (__atomic_load_n(&p->done, __ATOMIC_SEQ_CST) >= count)
		return true;
	futex_wait(show, &p->reached, reached, ns);
	return __atomic_load_n(&p->done, __ATOMIC_SEQ_CST) >= count;
}

static void tell(struct show *show, u32 thread)
{
	struct progress *p = &show->progress[thread];
	u32 done = __atomic_add_fetch(&p->done, 1, __ATOMIC_SEQ_CST);
	u32 wanted = __atomic_load_n(&p->wanted, __ATOMIC_SEQ_CST);

	if (!wanted || done < wanted)
		return;
	/* Who wants more says so again: its want may be lost here, but not that it is woken. */
	__atomic_store_n(&p->wanted, 0, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&p->reached, 1, __ATOMIC_SEQ_CST);
	futex_wake(show, &p->reached);
}

/* A planted bug: the waits of one record are left out. Only in a program built to be found out. */
static bool forgets(const struct wl_command *c)
{
#ifdef REPLAY_PLANT
	const char *planted = getenv("REPLAY_PLANT");

	return planted && strtoul(planted, NULL, 10) == c->event;
#else
	return false;
#endif
}

/* True: it had to wait. */
static bool meet_deps(struct show *show, const struct wl_command *c)
{
	const struct workload *w = show->stage->workload;
	const u8 *dep = c->dep;
	struct wait wait = { .kind = WAIT_REACHED, .event = c->event, .op = c->op };
	u32 i, thread, count;
	bool waited = false;

	for (i = 0; i < c->deps && !forgets(c); i++) {
		wl_dep(&dep, w->data + w->size, &thread, &count);
		if (__atomic_load_n(&show->progress[thread].done, __ATOMIC_ACQUIRE) >= count)
			continue;
		waited = true;
		wait.thread = thread;
		wait.word = &show->progress[thread].done;
		wait.value = count;
		waiting_begin(show->stage->waiting, &wait);
		while (!wait_for(show, thread, count, LOOK_NS) &&
		       !__atomic_load_n(&show->stopped, __ATOMIC_RELAXED))
			;
		waiting_end(show->stage->waiting);
	}
	return waited;
}

/* When a call is due, and then to make it. */

static u64 plan(const struct worker *worker, const struct wl_command *c, u64 since)
{
	const struct replay_options *o = worker->show->options;
	const struct stage *stage = worker->show->stage;
	/* What came from the page cache asked no disk: it takes as long as it took. */
	u64 cached = stage->reads == READS_ORIGINAL && c->flags & WL_CACHED ? c->duration : 0;

	switch (o->timing) {
	case TIMING_CLOSED:
	case TIMING_ARTC:
		return since + (u64)((c->gap + cached) * o->scale);
	case TIMING_OPEN:
		return max(since, (u64)((c->start + cached) * o->scale));
	default:
		return since;
	}
}

/* A wait that timed out in the original: who would have ended it later may come before. */
static void wait_for_either(struct show *show, const struct wl_command *c, u64 time)
{
	u32 count = c->args[1] ? min_t(u64, c->args[1], U32_MAX) : U32_MAX; /* 0: nobody did */
	u64 at = now(show);

	while (at < time && !__atomic_load_n(&show->stopped, __ATOMIC_RELAXED)) {
		if (wait_for(show, c->args[0], count, min_t(u64, time - at, LOOK_NS)))
			break;
		at = now(show);
	}
}

static bool another_is_due(const struct show *show, u64 time)
{
	u32 i;

	for (i = 0; i < show->stage->workload->threads; i++) {
		if (__atomic_load_n(&show->progress[i].due, __ATOMIC_RELAXED) <= time)
			return true;
	}
	return false;
}

/*
 * Each look moves the virtual clock by a step, for all. Threads that were woken together have made
 * their calls some steps after each other, and shall be woken together again: so their times are
 * made one. One step more goes by if somebody in the kernel looks while the thread is woken: so a
 * sleep ends one step before its time, and a look lets that step go by. No more is looked away:
 * others run while a thread sleeps, and who has just been woken would be late. Who is due already
 * goes first.
 */
static void wait_for_step(const struct show *show, u64 *due, u64 time)
{
	u32 yields = 0;
	u64 at;

	time = (time + TOGETHER_NS / 2) / TOGETHER_NS * TOGETHER_NS;
	__atomic_store_n(due, time, __ATOMIC_RELAXED);
	while ((at = now(show)) < time) {
		if (time >= at + 3 * show->step) {
			sleep_until(show, time - show->step);
		} else if (yields < YIELDS && another_is_due(show, at)) {
			yields++;
			sched_yield();
		} else {
			clock_look_moving();
		}
	}
	__atomic_store_n(due, NOT_DUE, __ATOMIC_RELAXED);
}

static void wait_until(struct worker *worker, u64 time)
{
	const struct show *show = worker->show;

	if (show->step) {
		wait_for_step(show, &worker->show->progress[worker->number].due, time);
		return;
	}
	if (!show->options->spin) {
		sleep_until(show, time - min(time, show->look));
		return;
	}
	if (time > now(show) + SPIN_NS)
		sleep_until(show, time - SPIN_NS);
	while (clock_look_moving() - show->start < time)
		;
}

/*
 * Some calls later than they could be, and one thread's always: what another order would show,
 * shows.
 */
static void shuffle(struct worker *worker)
{
	u64 seed = worker->show->options->shuffle, number;
	struct timespec t = {};

	if (!seed)
		return;
	number = draw(&worker->random);
	t.tv_nsec = (number >> 8) % SHUFFLE_NS;
	if (seed % worker->show->stage->workload->threads == worker->number)
		t.tv_nsec += SHUFFLE_NS;
	if (number % 4 == 0 || t.tv_nsec >= SHUFFLE_NS)
		nanosleep(&t, NULL);
	else if (number % 4 == 1)
		sched_yield();
}

static void note_difference(struct worker *worker, const struct wl_command *c, s64 result)
{
	struct show *show = worker->show;
	struct replay_result *r = &show->result;

	pthread_mutex_lock(&show->lock);
	if (r->differences < DIFFERENCES_MAX)
		r->difference[r->differences++] =
			(struct difference){ c->event, c->op, c->result, result };
	pthread_mutex_unlock(&show->lock);
	if (show->options->mismatch != MISMATCH_STOP)
		return;
	__atomic_store_n(&show->stopped, 1, __ATOMIC_RELAXED);
	waiting_stop(show->stage->waiting);
}

static void run_compare(struct worker *worker, const struct wl_command *c, s64 result)
{
	enum outcome outcome;

	if (c->flags & WL_NO_RESULT || worker->show->options->mismatch == MISMATCH_IGNORE)
		return;
	outcome = outcome_of(c, result);
	worker->compared++;
	counted_outcome(&worker->counted, outcome, result);
	worker->same += outcome == SAME && c->op != WL_TOUCH;
	if (outcome != SAME)
		note_difference(worker, c, result);
}

static s64 make_call(struct worker *worker, const struct wl_command *c)
{
	s64 result = act(worker->show->stage, c, worker->scratch);
	struct timespec delay = { .tv_nsec = worker->show->options->delay };

	if (delay.tv_nsec)
		nanosleep(&delay, NULL);
	return result;
}

static void note_call(struct worker *worker, const struct wl_command *c, u64 planned, u64 entry,
		      s64 result, bool measured)
{
	if (measured && !(c->flags & WL_MADE_UP)) {
		worker->made++;
		counted_bytes(&worker->counted, c->op, result);
	}
	/* When the original made it, and how long it took, is not known. */
	if (measured && !(c->flags & (WL_MADE_UP | WL_WITHIN))) {
		spread_add(&worker->counted.issue,
			   entry > planned ? entry - planned : planned - entry);
		counted_call(&worker->counted, c->op, worker->last - entry, c->duration);
	}
	run_compare(worker, c, result);
}

static void wait_its_time(struct worker *worker, const struct wl_command *c, u64 time)
{
	if (c->op == WL_WAIT)
		wait_for_either(worker->show, c, time);
	else
		wait_until(worker, time);
}

static void do_command(struct worker *worker, const struct wl_command *c, bool measured)
{
	struct show *show = worker->show;
	bool first = measured && show->options->timing == TIMING_ARTC;
	u64 since = worker->last, planned = first ? plan(worker, c, since) : since, entry;
	bool call = act_makes(show->stage, c), waits = planned > since;
	s64 result = c->result;

	if (waits)
		wait_its_time(worker, c, planned);
	if (meet_deps(show, c)) {
		since = max(now(show), planned);
		spread_add(&worker->counted.wait, since - max(worker->last, planned));
		planned = since;
	}
	if (measured && !first) {
		planned = plan(worker, c, since);
		waits = planned > since;
	}
	shuffle(worker);
	if (waits && !first)
		wait_its_time(worker, c, planned);
	/*
	 * A look takes time, but for the virtual clock's. Where nothing was waited for the last one
	 * still holds. What others did meanwhile is before this one, and is to be so in the log.
	 */
	entry = c->deps || waits || worker->within || show->options->shuffle ? now(show) : since;
	worker->within = call && c->flags & WL_WITHIN;
	worker->counted.late += measured && waits && entry > planned + SPIN_NS;
	if (call)
		result = make_call(worker, c);
	else if (c->op == WL_READ || c->op == WL_LEAVE)
		act(show->stage, c, worker->scratch); /* the descriptor moves on, or is let go of */
	worker->last = call ? now(show) : entry;
	if (call)
		note_call(worker, c, planned, entry, result, measured);
	if (worker->log)
		*worker->log++ = (struct log_entry){ planned, entry, worker->last, result };
	/* The time that the next command is due after goes on from before it. */
	if (worker->within)
		worker->last = since;
}

static void begin(struct show *show)
{
	struct wait wait = {
		.kind = WAIT_START,
		.word = &show->arrived,
		.value = show->stage->workload->threads,
	};

	__atomic_add_fetch(&show->arrived, 1, __ATOMIC_SEQ_CST);
	waiting_begin(show->stage->waiting, &wait);
	if (pthread_barrier_wait(&show->begun) == PTHREAD_BARRIER_SERIAL_THREAD)
		show->start = clock_look();
	pthread_barrier_wait(&show->begun);
	waiting_end(show->stage->waiting);
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct show *show = worker->show;
	const struct workload *w = show->stage->workload;
	const struct wl_thread *t = &w->thread[worker->number];
	struct wl_cursor cursor = wl_commands(w, worker->number);
	u32 i, before = le32_to_cpu(t->before), all = le32_to_cpu(t->commands);
	struct wl_command command;

	waiting_set_thread(worker->number);
	prctl(PR_SET_TIMERSLACK, 1); /* ns; it is 50 us otherwise */
	pthread_barrier_wait(&show->ready);
	for (i = 0; i <= all; i++) {
		if (i == before) {
			begin(show);
			worker->last = 0;
		}
		if (i == all || __atomic_load_n(&show->stopped, __ATOMIC_RELAXED))
			break;
		wl_next(&cursor, &command);
		do_command(worker, &command, i >= before);
		tell(show, worker->number);
	}
	if (i < before)
		begin(show);
	waiting_leave(show->stage->waiting);
	return NULL;
}

/* All threads, from start to end. */

/* Memory that processes share; NULL: there is none. */
static void *shared(u64 bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static u64 progress_bytes(const struct show *show)
{
	return (show->stage->workload->threads + 1ull) * sizeof(*show->progress);
}

static u64 worker_bytes(const struct show *show)
{
	return (show->stage->workload->threads + 1ull) * sizeof(*show->worker);
}

static bool set_up(struct show *show, struct log_entry *log)
{
	const struct workload *w = show->stage->workload;
	u32 i;

	show->progress = shared(progress_bytes(show));
	show->worker = shared(worker_bytes(show));
	if (!show->progress || !show->worker)
		return false;
	for (i = 0; i < w->threads; i++) {
		struct worker *worker = &show->worker[i];

		show->progress[i].due = NOT_DUE;
		worker->show = show;
		worker->number = i;
		worker->log = log;
		worker->random = (show->options->shuffle + 1) * HASH_GOLDEN + i;
		worker->scratch = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (worker->scratch == MAP_FAILED)
			return false;
		if (show->options->processes) {
			worker->counted.room = shared(COUNTED_ROOM * sizeof(struct spread));
			if (!worker->counted.room)
				return false;
		}
		if (log)
			log += le32_to_cpu(w->thread[i].commands);
	}
	return true;
}

static void tear_down(struct show *show)
{
	u32 i;

	for (i = 0; i < show->stage->workload->threads; i++) {
		struct worker *worker = &show->worker[i];

		counted_merge(&show->result.counted, &worker->counted);
		counted_free(&worker->counted);
		show->result.made += worker->made;
		show->result.compared += worker->compared;
		show->result.same += worker->same;
		show->result.elapsed = max(show->result.elapsed, worker->last);
		munmap(worker->scratch, CHUNK);
		if (worker->counted.room)
			munmap(worker->counted.room, COUNTED_ROOM * sizeof(struct spread));
	}
	munmap(show->progress, progress_bytes(show));
	munmap(show->worker, worker_bytes(show));
}

/* A planted bug: all threads are of the first process. Only in a program built to be found out. */
static u32 process_of(const struct workload *w, u32 thread)
{
#ifdef REPLAY_PLANT
	if (getenv("REPLAY_PLANT_PROCESS"))
		return 0;
#endif
	return le32_to_cpu(w->thread[thread].process);
}

/* Those of a process, or all. */
static bool start_threads(struct show *show, bool all, u32 process)
{
	const struct workload *w = show->stage->workload;
	pthread_attr_t attr;
	u32 i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (i = 0; i < w->threads; i++) {
		if (!all && process_of(w, i) != process)
			continue;
		/* Those that there are wait for the rest: there is no way back. */
		if (pthread_create(&show->worker[i].thread, &attr, work, &show->worker[i]))
			return false;
	}
	pthread_attr_destroy(&attr);
	for (i = 0; i < w->threads; i++) {
		if (all || process_of(w, i) == process)
			pthread_join(show->worker[i].thread, NULL);
	}
	return true;
}

/*
 * A process with a memory of its own, which shares the table of descriptors: so what the original's
 * processes inherited from each other is there. fork() has no such thing.
 */
static pid_t start_process(struct show *show, u32 process)
{
	pid_t parent = getpid(), pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	clock_start();
	_exit(getppid() != parent || !start_threads(show, false, process));
}

/* True: each has done all that it had to. If one has not, the others would wait for it. */
static bool await_processes(pid_t *pid, u32 count)
{
	bool good = true;
	u32 i, left = count;
	pid_t gone;
	int status;

	while (left) {
		gone = wait(&status);
		if (gone < 0 && errno != EINTR)
			return false;
		for (i = 0; i < count && (gone < 0 || pid[i] != gone); i++)
			;
		if (i == count)
			continue;
		pid[i] = 0;
		left--;
		if (!status)
			continue;
		good = false;
		for (i = 0; i < count; i++) {
			if (pid[i])
				kill(pid[i], SIGKILL);
		}
	}
	return good;
}

static bool start_processes(struct show *show)
{
	u32 count = show->stage->workload->processes, i;
	pid_t *pid = calloc(count, sizeof(*pid));
	bool good = pid;

	for (i = 0; i < count && good; i++) {
		pid[i] = start_process(show, i);
		good = pid[i] > 0;
	}
	if (!good && pid) {
		for (i = 0; i < count; i++) {
			if (pid[i] > 0)
				kill(pid[i], SIGKILL);
		}
	}
	good = good && await_processes(pid, count);
	free(pid);
	return good;
}

static bool set_barriers(struct show *show)
{
	u32 threads = show->stage->workload->threads;
	pthread_barrierattr_t barrier;
	pthread_mutexattr_t mutex;

	return !pthread_barrierattr_init(&barrier) && !pthread_mutexattr_init(&mutex) &&
	       !pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED) &&
	       !pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) &&
	       !pthread_mutex_init(&show->lock, &mutex) &&
	       !pthread_barrier_init(&show->ready, &barrier, threads) &&
	       !pthread_barrier_init(&show->begun, &barrier, threads);
}

bool replay_run(const struct stage *stage, const struct replay_options *options,
		struct log_entry *log, struct replay_result *result)
{
	struct show *show = shared(sizeof(*show));
	bool good;

	*result = (struct replay_result){};
	if (!show)
		return false;
	*show = (struct show){
		.stage = stage,
		.options = options,
		.step = clock_start(),
		.start = clock_look(),
		.look = look_takes(),
	};
	if (!stage->workload->threads)
		return true;
	stage->waiting->timed = !show->step;
	good = set_barriers(show) && set_up(show, log) &&
	       (options->processes ? start_processes(show) : start_threads(show, true, 0));
	if (!good)
		return false;
	tear_down(show);
	*result = show->result;
	result->stopped = show->stopped;
	munmap(show, sizeof(*show));
	return true;
}
