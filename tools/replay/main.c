// SPDX-License-Identifier: GPL-2.0
/* david-replay: the command line. `david replay` is what users call. */
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/complain.h"
#include "../common/number.h"
#include "beneath.h"
#include "report.h"

#define STATUS_FAILED 1 /* wrong usage, too */
#define STATUS_DIFFERS 2 /* done, or as far as it was to go, and not as it should be */

static const char usage_text[] =
	"Usage: david-replay check WORKLOAD\n"
	"       david-replay prepare [--holes] WORKLOAD TARGET\n"
	"       david-replay run [--timing closed|open|afap|artc] [--scale F] [--reads current|none|original]\n"
	"                        [--syncs traced|none|each] [--on-mismatch count|stop|ignore]\n"
	"                        [--log FILE] [--shuffle SEED] [--add-delay NS] [--spin]\n"
	"                        [--ballast BYTES] [--processes] [--fifo] [--share-disk] WORKLOAD TARGET\n"
	"       david-replay judge WORKLOAD LOG\n";

struct settings {
	struct replay_options run;
	struct stage stage;
	const char *log;
	const char *timing;
	u64 ballast;
	bool share_disk;
	bool fifo;
};

static int usage(void)
{
	fputs(usage_text, stderr);
	return STATUS_FAILED;
}

static const void *map_file(const char *path, u64 *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *at;

	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", path, strerror(errno));
	if (!st.st_size)
		die("%s: it is empty", path);
	at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		die("%s: %s", path, strerror(errno));
	close(fd);
	*size = st.st_size;
	return at;
}

static void load(struct workload *w, const char *path)
{
	u64 size;
	const void *data = map_file(path, &size);
	const char *said = wl_check_all(w, data, size);

	if (said)
		die("%s: %s", path, said);
}

static int open_target(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	return fd;
}

/* The trace may not be on the disk that it is replayed on: reading it would be measured. */
static void check_apart(const char *path, int target)
{
	struct stat file, there;

	if (!stat(path, &file) && !fstat(target, &there) && file.st_dev == there.st_dev)
		die("%s is on the disk that it is replayed on: put it elsewhere, or --share-disk",
		    path);
}

static struct log_entry *map_log(const char *path, const struct workload *w)
{
	u64 bytes = max_t(u64, w->commands, 1) * sizeof(struct log_entry);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	void *at;

	if (fd < 0 || ftruncate(fd, bytes))
		die("%s: %s", path, strerror(errno));
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		die("%s: %s", path, strerror(errno));
	close(fd);
	return at;
}

/* Those of the trace, and directories that stay open. How many directories each thread may have. */
static u32 more_descriptors(const struct workload *w)
{
	u64 needed = w->slots + 4ull * w->threads + 64, threads = max_t(u64, w->threads, 1);
	u64 wanted = needed + threads * BENEATH_DIRS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	if (limit.rlim_cur < wanted) {
		limit.rlim_cur = min_t(u64, limit.rlim_max, wanted);
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	/* A directory that is removed while somebody has it open is freed later than it was. */
	if (w->removes || limit.rlim_cur < needed)
		return 0;
	return min_t(u64, BENEATH_DIRS, (limit.rlim_cur - needed) / threads);
}

/* Memory that the original had, so that the page cache gets no more than it left. */
static void hold_memory(u64 bytes)
{
	void *at;

	if (!bytes)
		return;
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		die("there are no %llu bytes for the ballast", (unsigned long long)bytes);
	memset(at, 1, bytes);
	if (mlock(at, bytes))
		fprintf(stderr, "david-replay: the ballast may be swapped out: %s\n",
			strerror(errno));
}

/* For all threads to come: those that are woken together go on in the order in which they were. */
static void real_time_priority(void)
{
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 }))
		die("--fifo: no real-time priority: %s; it is for root, or needs ulimit -r 1",
		    strerror(errno));
}

static int choose(const char *option, const char *word, const char *const *words)
{
	int i;

	for (i = 0; words[i]; i++) {
		if (!strcmp(word, words[i]))
			return i;
	}
	die("--%s %s: there is no such", option, word);
}

static int check_command(const char *path)
{
	struct workload w;

	load(&w, path);
	printf("%llu commands of %u threads, %u descriptors, %llu entries of the tree\n",
	       (unsigned long long)w.commands, w.threads, w.slots, (unsigned long long)w.entries);
	return 0;
}

static int prepare_command(const char *path, const char *target, bool holes)
{
	struct workload w;
	const char *said;

	load(&w, path);
	said = act_prepare(&w, open_target(target), holes);
	if (said)
		die("%s: %s", path, said);
	return 0;
}

static int judge_command(const char *path, const char *log)
{
	struct log_figures figures;
	struct workload w;
	const void *data;
	u64 size;

	load(&w, path);
	data = map_file(log, &size);
	if (size != max_t(u64, w.commands, 1) * sizeof(struct log_entry))
		die("%s is no log of %s", log, path);
	if (!log_judge(&w, data, &figures))
		die("there is no memory");
	printf("violations %llu\nfirst %u\noverlap %.6f\noriginal-overlap %.6f\n",
	       (unsigned long long)figures.violations, figures.first, figures.overlap,
	       figures.original);
	free(figures.rate);
	return figures.violations ? STATUS_DIFFERS : 0;
}

static void set_stage(struct stage *stage, const struct workload *w, const char *target)
{
	u8 *pattern = malloc(CHUNK + 4096);
	struct stat st;
	u32 i;

	stage->workload = w;
	stage->descriptors = descriptors_new(w->slots);
	stage->waiting = waiting_new(w->threads);
	stage->root = open_target(target);
	if (fstat(stage->root, &st))
		die("%s: %s", target, strerror(errno));
	stage->device = st.st_dev;
	/* Of all processes, should there be some. */
	stage->changes = mmap(NULL, sizeof(*stage->changes), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!stage->descriptors || !stage->waiting || stage->changes == MAP_FAILED || !pattern)
		die("there is no memory");
	/* Mappings are of each process: it begins with this memory, and has its own then. */
	stage->mapping = mmap(NULL, (w->slots + 1ull) * sizeof(*stage->mapping),
			      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stage->mapping == MAP_FAILED)
		die("there is no memory");
	touch_begin();
	pattern += 4096 - (uintptr_t)pattern % 4096; /* O_DIRECT */
	for (i = 0; i < CHUNK; i++)
		pattern[i] = i % 251 + 1;
	stage->pattern = pattern;
}

static int run_workload(struct settings *settings, const char *path, const char *target)
{
	struct report_about about = {
		.workload = path,
		.target = target,
		.timing = settings->timing,
		.scale = settings->run.scale,
		.processes = settings->run.processes,
	};
	struct log_entry *log = NULL;
	struct replay_result result;
	struct workload w;

	load(&w, path);
	set_stage(&settings->stage, &w, target);
	if (!settings->share_disk)
		check_apart(path, settings->stage.root);
	settings->stage.directories = more_descriptors(&w);
	hold_memory(settings->ballast);
	if (settings->log) {
		log = map_log(settings->log, &w);
		if (!settings->share_disk)
			check_apart(settings->log, settings->stage.root);
	}
	umask(0);
	signal(SIGPIPE, SIG_IGN); /* a write that nobody reads has a result, as in the original */
	if (settings->fifo)
		real_time_priority();
	if (!replay_run(&settings->stage, &settings->run, log, &result))
		die("there is no memory for %u threads, or one of its processes was killed",
		    w.threads);
	if (log && !result.stopped)
		about.judged = log_judge(&w, log, &about.figures);
	about.waiting = settings->stage.waiting;
	report_write(stdout, &w, &result, &about);
	free(about.figures.rate);
	counted_free(&result.counted);
	return result.stopped || (about.judged && about.figures.violations) ? STATUS_DIFFERS : 0;
}

static int run_command(int argc, char **argv)
{
	static const struct option longs[] = { { "timing", required_argument, NULL, 't' },
					       { "scale", required_argument, NULL, 's' },
					       { "reads", required_argument, NULL, 'r' },
					       { "syncs", required_argument, NULL, 'y' },
					       { "on-mismatch", required_argument, NULL, 'm' },
					       { "log", required_argument, NULL, 'l' },
					       { "shuffle", required_argument, NULL, 'x' },
					       { "add-delay", required_argument, NULL, 'd' },
					       { "ballast", required_argument, NULL, 'b' },
					       { "spin", no_argument, NULL, 'p' },
					       { "processes", no_argument, NULL, 'o' },
					       { "fifo", no_argument, NULL, 'f' },
					       { "share-disk", no_argument, NULL, 'h' },
					       {} };
	static const char *const timings[] = { "closed", "open", "afap", "artc", NULL };
	static const char *const reads[] = { "current", "none", "original", NULL };
	static const char *const syncs[] = { "traced", "none", "each", NULL };
	static const char *const mismatches[] = { "count", "stop", "ignore", NULL };
	struct settings s = { .run.scale = 1, .timing = "closed" };
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (option) {
		case 't':
			s.run.timing = choose("timing", optarg, timings);
			s.timing = timings[s.run.timing];
			break;
		case 's':
			s.run.scale = strtod(optarg, NULL);
			break;
		case 'r':
			s.stage.reads = choose("reads", optarg, reads);
			break;
		case 'y':
			s.stage.syncs = choose("syncs", optarg, syncs);
			break;
		case 'm':
			s.run.mismatch = choose("on-mismatch", optarg, mismatches);
			break;
		case 'l':
			s.log = optarg;
			break;
		case 'x':
			s.run.shuffle = number_of_option("--shuffle", optarg, U64_MAX);
			break;
		case 'd':
			s.run.delay = number_of_option("--add-delay", optarg, U64_MAX);
			break;
		case 'b':
			s.ballast = number_of_option("--ballast", optarg, U64_MAX);
			break;
		case 'p':
			s.run.spin = true;
			break;
		case 'o':
			s.run.processes = true;
			break;
		case 'f':
			s.fifo = true;
			break;
		case 'h':
			s.share_disk = true;
			break;
		default:
			return usage();
		}
	}
	if (argc - optind != 2 || !(s.run.scale >= 0 && s.run.scale <= 1e9) ||
	    s.run.delay >= 1000000000)
		return usage();
	return run_workload(&s, argv[optind], argv[optind + 1]);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (!strcmp(word, "check") && argc == 3)
		return check_command(argv[2]);
	if (!strcmp(word, "prepare") && argc == 4)
		return prepare_command(argv[2], argv[3], false);
	if (!strcmp(word, "prepare") && argc == 5 && !strcmp(argv[2], "--holes"))
		return prepare_command(argv[3], argv[4], true);
	if (!strcmp(word, "judge") && argc == 4)
		return judge_command(argv[2], argv[3]);
	if (!strcmp(word, "run"))
		return run_command(argc - 1, argv + 1);
	return usage();
}
