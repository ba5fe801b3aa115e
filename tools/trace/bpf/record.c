// SPDX-License-Identifier: GPL-2.0
/*
 * The other tracer, for root: the kernel makes the records (trace.bpf.c), this writes them down.
 * What is traced does not wait. Processes of a user or a cgroup are traced from their first call
 * on.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../common/alloc.h"
#include "../capture.h"
#include "../command.h"
#include "../filter.h"
#include "../layout.h"
#include "../scope.h"
#include "../tracer.h"
#include "submit.h"
#include "trace.bpf.h"

#define POLL_MS 200
#define COMPLETE "btf_trace_io_uring_complete"
#define FIRST_PID_NAMESPACE 0xeffffffcu /* its inode: PROC_PID_INIT_INO */

/* The kernel's part, as it was compiled. */
__asm__(".section .rodata\n"
	".balign 8\n"
	"bpf_begin:\n"
	".incbin \"" BPF_OBJECT "\"\n"
	"bpf_end:\n"
	".previous\n");

struct bpf_tracer {
	struct tracer t;
	struct bpf_object *object;
	struct ring_buffer *ring;
	int named; /* a map */
	struct shared *shared;
	bool started; /* the command */
};

/* Programs that are not always wanted, or that not every kernel has a trace point for. */
static const struct optional {
	const char *name;
	const char *tracepoint; /* a type of the kernel */
} optional[] = {
	{ "ring_created", "btf_trace_io_uring_create" },
	{ "submitted", "btf_trace_io_uring_submit_req" },
	{ "submitted_sqe", "btf_trace_io_uring_submit_sqe" },
	{ "failed", "btf_trace_io_uring_req_failed" },
	{ "completed", COMPLETE },
	{ "user_touched", NULL }, /* these cost each fault, and each switch, of any process */
	{ "kernel_touched", NULL },
	{ "switched", NULL },
};

/* From here on what the task does is recorded. */
static void follow(struct bpf_tracer *b, pid_t tid, pid_t tgid)
{
	struct task *task;

	if (task_find(&b->t.tasks, tid))
		return;
	if (bpf_map_update_elem(b->named, &tid, &(u8){ 1 }, BPF_ANY))
		die("bpf: %s", strerror(errno));
	__atomic_fetch_add(&b->shared->awaited, 1, __ATOMIC_SEQ_CST);
	task = task_add(&b->t.tasks, tid);
	task->tgid = tgid;
	b->t.balance.tasks++;
	capture_state(&b->t.writer, tid, tgid, tracer_now(&b->t), 0);
}

static void follow_process(void *arg, pid_t pid)
{
	pid_t tgid = capture_process(pid);
	struct dirent *entry;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	threads = opendir(path);
	while (threads && (entry = readdir(threads))) {
		if (*entry->d_name != '.')
			follow(arg, atoi(entry->d_name), tgid);
	}
	if (threads)
		closedir(threads);
}

static u8 argument_place(const struct call *call, char letter)
{
	return call_arg(call, letter) + 1;
}

static u8 effect_of_plan(u32 nr, const struct call *call)
{
	if (nr == SYS_io_setup)
		return PLAN_AIO_SETUP;
	if (nr == SYS_io_submit)
		return PLAN_AIO_SUBMIT;
	if (nr == SYS_io_getevents || nr == SYS_io_pgetevents)
		return PLAN_AIO_EVENTS;
	if (nr == SYS_io_uring_register)
		return PLAN_REGISTER;
	if (nr == SYS_sendmsg)
		return PLAN_SENDS;
	if (nr == SYS_recvmsg)
		return PLAN_RECEIVES;
	if (nr == SYS_pidfd_getfd)
		return PLAN_TAKES;
	switch (call->effect) {
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_SOCKET:
		return PLAN_OPENS;
	case DOES_OPENAT2:
		return PLAN_HOW;
	case DOES_CLOSE:
		return PLAN_CLOSES;
	case DOES_MMAP:
		return PLAN_MMAP;
	case DOES_CLONE:
		return PLAN_CLONE;
	case DOES_CLONE3:
		return PLAN_CLONE3;
	case DOES_VFORK:
		return PLAN_VFORK;
	case DOES_EXEC:
		return PLAN_EXEC;
	case DOES_FCNTL:
		return PLAN_LOCK;
	case DOES_READLINK:
		return PLAN_READLINK;
	case DOES_COPY:
	case DOES_SPLICE:
		return PLAN_OFFSETS;
	case DOES_SENDFILE:
		return PLAN_SENDFILE;
	default:
		return PLAN_NONE;
	}
}

/* What is read of each call, by the same table as the other tracer's. */
static void set_plans(struct bpf_tracer *b)
{
	u32 classes = tracer_classes(b->t.options), nr;

	for (nr = 0; nr < PLAN_CALLS; nr++) {
		const struct call *call = call_of(nr);
		struct plan plan = { .wanted = true };

		if (call) {
			plan = (struct plan){
				.wanted = !!(classes & 1u << call->class),
				.path = argument_place(call, 'p'),
				.path2 = argument_place(call, 'P'),
				.iovec = argument_place(call, 'v'),
				.stat = argument_place(call, 's'),
				.statx = argument_place(call, 't'),
				.fds = argument_place(call, 'r'),
				.effect = effect_of_plan(nr, call),
			};
		}
		plan.plain = call && !plan.path && !plan.path2 && !plan.iovec && !plan.stat &&
			     !plan.statx && !plan.fds && plan.effect == PLAN_NONE;
		plan.brief = call && !plan.path2 && !plan.iovec && !plan.stat && !plan.statx &&
			     !plan.fds && plan.effect <= PLAN_CLOSES;
		b->shared->plans[nr] = plan;
	}
	submit_plan(b->shared->ops);
}

static bool is_submission(const struct tracefile_record *r)
{
	return r->type == TRACEFILE_SQE || r->type == TRACEFILE_CQE;
}

static void learn_task(struct bpf_tracer *b, const struct tracefile_record *r)
{
	struct tracer *t = &b->t;
	struct task *task = task_find(&t->tasks, r->tid), *new;

	if (!task) {
		/* Of a scope: this is its first call, made a while ago. */
		task = task_add(&t->tasks, r->tid);
		task->tgid = capture_process(r->tid);
		t->balance.tasks++;
		capture_task(&t->writer, r->tid, task->tgid, r->entry, 0);
	}
	switch (r->type) {
	case TRACEFILE_FORK:
		if (task_find(&t->tasks, r->nr))
			break;
		new = task_add(&t->tasks, r->nr);
		new->tgid = r->args[0] & 0x10000 ? task->tgid : (pid_t)r->nr; /* CLONE_THREAD */
		t->balance.tasks++;
		break;
	case TRACEFILE_EXEC:
		task->tgid = r->tid;
		if (r->nr != r->tid && task_find(&t->tasks, r->nr))
			task_remove(&t->tasks, task_find(&t->tasks, r->nr));
		break;
	case TRACEFILE_EXIT:
		task_remove(&t->tasks, task);
		break;
	}
}

/* Until it is the command, the process is the tracer's. */
static bool is_own(struct bpf_tracer *b, const struct tracefile_record *r)
{
	const struct call *call = call_of(r->nr);

	if (!b->t.command || r->type == TRACEFILE_EXEC)
		b->started = true;
	return !b->started && r->type == TRACEFILE_CALL && !(call && call->effect == DOES_EXEC);
}

/* The path of an open, as the tracer sees it while the process is there; without it as it is. */
static int layout_by_path(const struct tracefile_record *r, const struct tracefile_attr *attr,
			  bool gone, struct tracefile_extent *extent)
{
	int at = call_arg(call_of(r->nr), 'd');
	int dirfd = at < 0 ? AT_FDCWD : (int)r->args[at];
	const char *path = tracefile_find(r, TRACEFILE_PATH, 1, NULL);
	char whole[PATH_MAX + 64];

	if (!path || (gone && *path != '/' && dirfd != AT_FDCWD))
		return -1;
	if (gone)
		snprintf(whole, sizeof(whole), "%s", path);
	else if (*path == '/')
		snprintf(whole, sizeof(whole), "/proc/%u/root%s", r->tid, path);
	else if (dirfd == AT_FDCWD)
		snprintf(whole, sizeof(whole), "/proc/%u/cwd/%s", r->tid, path);
	else
		snprintf(whole, sizeof(whole), "/proc/%u/fd/%d/%s", r->tid, dirfd, path);
	return layout_at(whole, attr->dev, attr->ino, extent);
}

/*
 * Where a file lies that a call has opened. That was a while ago: the descriptor may be another
 * file's, and the process gone.
 */
static void add_layout(struct bpf_tracer *b, const struct tracefile_record *r)
{
	const struct call *call = r->flags & TRACEFILE_FOREIGN ? NULL : call_of(r->nr);
	const struct tracefile_attr *attr = tracefile_find(r, TRACEFILE_ATTR, sizeof(*attr), NULL);
	struct tracefile_extent extent[LAYOUT_MAX];
	char path[64];
	int n;

	if (!call || (call->effect != DOES_OPEN && call->effect != DOES_OPENAT2) ||
	    (s64)r->result < 0 || !attr || !S_ISREG(attr->mode) || !attr->size ||
	    !layout_first(attr->dev, attr->ino))
		return;
	snprintf(path, sizeof(path), "/proc/%u/fd/%d", r->tid, (int)r->result);
	n = layout_at(path, attr->dev, attr->ino, extent);
	if (n < 0)
		n = layout_by_path(r, attr, false, extent);
	if (n < 0)
		n = layout_by_path(r, attr, true, extent);
	b->t.balance.unseen_layouts += n < 0;
	if (n > 0)
		tracefile_add(&b->t.writer, TRACEFILE_LAYOUT, extent, n * sizeof(*extent));
}

static int on_record(void *arg, void *data, size_t size)
{
	struct bpf_tracer *b = arg;
	const struct tracefile_record *r = data;
	struct tracefile_writer *w = &b->t.writer;

	if (!tracefile_record_valid(data, size))
		die("the kernel's part made a record that is not whole");
	if (is_own(b, r))
		return 0;
	if (is_submission(r)) {
		const struct task *task = task_find(&b->t.tasks, r->tid);

		if (task) /* else what the kernel does with its ring, when it is gone */
			submit_take(&b->t, r, task->tgid);
		return 0;
	}
	learn_task(b, r);
	if (r->exit > b->t.balance.last)
		b->t.balance.last = r->exit;
	tracefile_begin(w, r);
	/* A registration's blob is for submit.c. */
	if (r->type != TRACEFILE_CALL || r->nr != SYS_io_uring_register)
		tracefile_blobs(w, (const u8 *)(r + 1), r->length - sizeof(*r));
	if (b->t.options->layout && r->type == TRACEFILE_CALL)
		add_layout(b, r);
	tracefile_end(w);
	if (r->type == TRACEFILE_CALL && !(r->flags & TRACEFILE_FOREIGN))
		submit_follow(&b->t, r, task_find(&b->t.tasks, r->tid)->tgid);
	if (r->type == TRACEFILE_CALL)
		balance_call(&b->t.balance, r);
	else if (r->type == TRACEFILE_FAULT)
		b->t.balance.mapped_pages++;
	rotate_if_full(&b->t);
	return 0;
}

/* How many arguments a trace point has; one is the kernel's own. */
static int arguments_of(const struct btf *types, const char *tracepoint)
{
	int id = btf__find_by_name_kind(types, tracepoint, BTF_KIND_TYPEDEF);
	const struct btf_type *type = id > 0 ? btf__type_by_id(types, id) : NULL;

	while (type && !btf_is_func_proto(type))
		type = type->type ? btf__type_by_id(types, type->type) : NULL;
	return type ? btf_vlen(type) : 0;
}

/* Before it is loaded: what the kernel's part takes as constant, and which programs there are. */
static void fit_to_kernel(struct bpf_tracer *b)
{
	struct btf *types = btf__load_vmlinux_btf();
	struct bpf_map *map = bpf_object__find_map_by_name(b->object, ".rodata.kernel");
	struct constants constants;
	unsigned int i;

	if (!types || !map)
		die("the kernel does not take the tracer: it says nothing of its types");
	constants.has_cast = btf__find_by_name_kind(types, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	constants.has_cqe = arguments_of(types, COMPLETE) == 4;
	if (bpf_map__set_initial_value(map, &constants, sizeof(constants)))
		die("bpf: %s", strerror(errno));
	for (i = 0; i < ARRAY_SIZE(optional); i++) {
		const struct optional *o = &optional[i];
		bool wanted = o->tracepoint ? btf__find_by_name(types, o->tracepoint) > 0
					    : b->t.options->pages;

		bpf_program__set_autoload(bpf_object__find_program_by_name(b->object, o->name),
					  wanted);
	}
	btf__free(types);
}

static void load(struct bpf_tracer *b)
{
	struct bpf_map *map;
	struct stat st;

	/* The kernel's numbers of tasks are those of its first namespace. */
	if (!stat("/proc/self/ns/pid", &st) && st.st_ino != FIRST_PID_NAMESPACE)
		die("the kernel does not take the tracer: this is not its first PID namespace");
	libbpf_set_print(NULL);
	b->object = bpf_object__open_mem(bpf_begin, bpf_end - bpf_begin, NULL);
	if (b->object)
		fit_to_kernel(b);
	if (!b->object || bpf_object__load(b->object))
		die("the kernel does not take the tracer (root, CONFIG_DEBUG_INFO_BTF?): %s",
		    strerror(errno));
	b->named = bpf_object__find_map_fd_by_name(b->object, "named");
	map = bpf_object__find_map_by_name(b->object, ".data.shared");
	b->shared = mmap(NULL, sizeof(*b->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
			 bpf_map__fd(map), 0);
	if (b->shared == MAP_FAILED)
		die("bpf: %s", strerror(errno));
	b->ring = ring_buffer__new(bpf_object__find_map_fd_by_name(b->object, "ring"), on_record,
				   b, NULL);
	if (!b->ring)
		die("bpf: %s", strerror(errno));
	set_plans(b);
	b->shared->scope.spared = getpid();
}

static void attach_programs(struct bpf_tracer *b)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, b->object) {
		if (bpf_program__autoload(program) && !bpf_program__attach(program))
			die("bpf: %s: %s", bpf_program__name(program), strerror(errno));
	}
}

/* Times that a program was not run, since it ran already. */
static u64 missed(const struct bpf_tracer *b)
{
	struct bpf_program *program;
	u64 sum = 0;

	bpf_object__for_each_program(program, b->object) {
		struct bpf_prog_info info = {};
		u32 size = sizeof(info);

		if (bpf_program__autoload(program) &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			sum += info.recursion_misses;
	}
	return sum;
}

static int depth_of(const char *path)
{
	int depth = 0;

	for (; *path; path++)
		depth += *path == '/' && path[1] && path[1] != '/';
	return depth;
}

static void open_scope(struct bpf_tracer *b)
{
	const struct record_options *options = b->t.options;
	struct scope *scope = &b->shared->scope;
	struct stat st;

	scope->by_uid = options->by_uid;
	scope->uid = options->uid;
	if (options->cgroup) {
		if (stat(options->cgroup, &st))
			die("%s: %s", options->cgroup, strerror(errno));
		scope->cgroup = st.st_ino;
		scope->level = depth_of(options->cgroup) - depth_of(scope_cgroup_top());
	}
	__atomic_store_n(&scope->open, true, __ATOMIC_RELEASE);
	scope_each(options, follow_process, b);
}

static void bpf_set_on(struct bpf_tracer *b, bool on)
{
	if (b->t.on == on)
		return;
	if (on)
		switch_on(&b->t);
	else
		switch_off(&b->t);
	b->shared->scope.on = on;
	if (on)
		look_at_all(&b->t);
}

/* A task whose end was lost. */
static void remove_gone(struct task *task, void *arg)
{
	struct bpf_tracer *b = arg;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", task->tid);
	if (!access(path, F_OK))
		return;
	if (!bpf_map_delete_elem(b->named, &task->tid))
		__atomic_fetch_sub(&b->shared->awaited, 1, __ATOMIC_SEQ_CST);
	task_remove(&b->t.tasks, task);
}

static void bpf_end_asked(struct tracer *t)
{
	int signal = t->control.signal;

	if (t->command && signal != SIGINT && signal != SIGQUIT)
		kill(t->command, signal);
	else if (!t->command)
		t->detaching = true;
}

static void bpf_loop(struct bpf_tracer *b)
{
	struct tracer *t = &b->t;

	while (!t->detaching && (t->tasks.count || t->command || scope_is_open(t->options))) {
		u32 asked;

		if (!ring_buffer__poll(b->ring, POLL_MS) && !ring_buffer__consume(b->ring))
			tasks_each(&t->tasks, remove_gone, b);
		asked = control_take(&t->control);
		if (asked & (ASKED_ON | ASKED_OFF))
			bpf_set_on(b, asked & ASKED_ON);
		if (asked & ASKED_END)
			bpf_end_asked(t);
		if (t->command && waitpid(t->command, &t->status, WNOHANG) == t->command)
			t->command = 0;
	}
}

static int end(struct bpf_tracer *b)
{
	const struct counts *counts = &b->shared->counts;

	/* From here on nothing more is recorded. */
	b->shared->scope.on = false;
	ring_buffer__consume(b->ring);
	submit_end(&b->t);
	b->t.balance.lost += counts->of[LOST] + missed(b);
	b->t.balance.unknown_rings = counts->of[UNKNOWN_RING];
	b->t.balance.overwritten = counts->of[OVERWRITTEN];
	b->t.balance.untraced = counts->of[UNTRACED];
	b->t.balance.unseen_pages = counts->of[UNSEEN];
	return tracer_close(&b->t);
}

static int record_by_bpf(const struct record_options *options)
{
	struct bpf_tracer b = { .t.options = options };
	struct tracer *t = &b.t;
	const pid_t *pid;
	int go = -1;

	if (options->cpu)
		die("--method bpf has no --cpu");
	if (options->look)
		die("--method bpf has no --look: nothing stops");
	tracer_open(t);
	t->balance.first = tracer_now(t);
	write_about(&t->writer, options, t->balance.first);
	/* First, so that it has none of the descriptors that follow. */
	if (options->command)
		t->command = command_start(options, false, &go);
	load(&b);
	t->on = true;
	if (options->off)
		switch_off(t);
	b.shared->scope.on = t->on;
	b.shared->scope.pages = options->pages;
	if (t->command)
		follow(&b, t->command, t->command);
	control_start(&t->control, -1, -1);
	attach_programs(&b);
	for (pid = options->pids; pid && *pid; pid++)
		follow_process(&b, *pid);
	if (scope_is_open(options))
		open_scope(&b);
	control_lock(t->writer.lock, 1, t->on);
	tracefile_flush(&t->writer);
	if (go >= 0)
		command_go(go);
	bpf_loop(&b);
	return end(&b);
}

const struct method method = { "bpf", record_by_bpf };
