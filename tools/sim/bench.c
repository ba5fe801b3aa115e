// SPDX-License-Identifier: GPL-2.0
/* david-sim bench: jobs on the modelled disk, and what they came to. */

#include "../../dm-david/portable/portable-alloc.h"
#include "../../model/flash/ftl.h"
#include "../common/complain.h"
#include "arraytext.h"
#include "bench.h"
#include "doubts.h"
#include "jobtext.h"
#include "load.h"
#include "rank.h"
#include "target.h"

static const char usage[] =
"Usage: david-sim bench --profile P [--job JOB]... [--jobs FILE] [--before JOB]...\n"
"                       [--array WORDS] [--size S] [--option N=V] [--json]\n"
"\n"
"Run jobs, as fio would, on the whole modelled disk: the host's queue and the drive. Each job begins\n"
"with a disk that has just been made. The same job gives the same figures everywhere.\n"
"\n"
"  --profile P         a profile or a file of DiskSim parameters (.params), or the name of\n"
"                      one in profiles/\n"
"  --job JOB           \"NAME: words\" or just words; may be given many times\n"
"  --jobs FILE         a job a line; \"#\" begins a comment; - is standard input\n"
"  --before JOB        that the disk has served when each of the others begins; may be given\n"
"                      many times; nothing of it counts\n"
"  --keep-flash        each job begins with an SSD's flash as the job before left it\n"
"  --array WORDS       on an array of such disks, such as '5 members=8 chunk=64K'\n"
"  --size S            sectors of 512 bytes of each disk (default: the profile's)\n"
"  --option NAME=VALUE replace a value of the profile; may be given many times\n"
"  --faults TEXT       the drive fails like that: docs/MODEL.md. Its age is 0 when a job begins.\n"
"                      Requests that fail are done when the host knows\n"
"  --faulty N          of an array, the member that does, from 0 on. Its faults only take\n"
"                      time, or are media errors, and then jobs only read\n"
"  --json              print the figures as JSON\n"
"  --no-doubts         end with the job's last request; do not ask what its figures leave out\n"
"  -h, --help          this text\n"
"\n"
"The exit status is 2 if a job's figures are not to be believed: reads of what was never written,\n"
"\"steady\" without a steady rate, requests that failed, or faults that no request met.\n"
"\n"
"A job's words, with what holds without them; \"+\" joins parts that run at the same time:\n";

struct arguments {
	const char *profile;
	struct option_list values;
	struct option_list jobs;	/* allocated */
	struct option_list before;
	const char *array;
	struct array_setup setup;	/* of it */
	const char *fault_text;
	struct faults *faults;	/* what that says; NULL: none */
	bool media;		/* of an array's member: something cannot be read */
	u64 faulty;
	u64 size;
	bool json;
	bool no_doubts;
	bool keep_flash;
	bool refuted;		/* out: some job's figures are not to be believed */
};

struct named_job {
	char *name;
	struct job job;
};

static const char command[] = "david-sim bench";

#define NOT_BELIEVABLE	2	/* an exit status: done, and not to be believed */

/* Between words a tab is a blank. */
static void blank_tabs(char *words)
{
	for (; *words; words++)
		if (*words == '\t')
			*words = ' ';
}

static int add_job(void *jobs, char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -complain("%s: out of memory", command);
	option_list_add(jobs, copy);
	return 0;
}

/* A line of a file of jobs, of @length bytes. */
static int add_line(struct arguments *args, char *line, size_t length, u32 number)
{
	if (strlen(line) != length)
		return bad_usage(command, "--jobs: line %u has a zero byte", number);
	line[strcspn(line, "#\n")] = '\0';
	return line[strspn(line, " \t")] ? add_job(&args->jobs, line) : 0;
}

static int read_jobs(struct arguments *args, const char *name)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "r") : stdin;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	u32 number = 0;
	int r = 0;

	if (!file)
		return bad_usage(command, "%s: %s", name, strerror(errno));
	while (!r && (length = getline(&line, &room, file)) >= 0)
		r = add_line(args, line, length, ++number);
	if (!r && !feof(file))
		r = bad_usage(command, "%s: %s", name, strerror(errno));
	free(line);
	if (file != stdin)
		fclose(file);
	return r;
}

static int read_jobs_option(void *args, char *name)
{
	return read_jobs(args, name);
}

static int take_array(void *array, char *words)
{
	blank_tabs(words);
	*(const char **)array = words;
	return 0;
}

static void bench_help(void)
{
	printf("%s%s\nAn array's words:\n%s", usage, job_words, array_words);
}

static int bench_arguments(int argc, char **argv, struct arguments *args)
{
	const struct sim_option options[] = {
		SIM_OPTION_PROFILE(&args->profile),
		SIM_OPTION_VALUES(&args->values),
		SIM_OPTION_SIZE(&args->size),
		SIM_OPTION_JSON(&args->json),
		{ .name = "array", .kind = SIM_CALL, .into = &args->array, .call = take_array },
		{ .name = "job", .kind = SIM_CALL, .into = &args->jobs, .call = add_job },
		{ .name = "jobs", .kind = SIM_CALL, .into = args, .call = read_jobs_option },
		{ .name = "before", .kind = SIM_LIST, .into = &args->before },
		{ .name = "no-doubts", .kind = SIM_FLAG, .into = &args->no_doubts },
		{ .name = "keep-flash", .kind = SIM_FLAG, .into = &args->keep_flash },
		{ .name = "faults", .kind = SIM_TEXT, .into = &args->fault_text },
		{ .name = "faulty", .kind = SIM_NUMBER, .into = &args->faulty,
		  .most = ARRAY_MEMBERS - 1, .what = "the number of a member" },
		{ }
	};

	if (options_read_all(command, argc, argv, options, bench_help))
		return 1;
	if (!args->profile)
		return bad_usage(command, "--profile is needed");
	if (!args->jobs.nr)
		return bad_usage(command, "no job; give --job or --jobs");
	if (args->keep_flash && (args->array || args->before.nr))
		return bad_usage(command, "--keep-flash: neither with --array nor with --before");
	return 0;
}

/* In which an SSD is when a job begins: enum profile_precondition */
static const struct {
	const char *name, *means;
} states[] = {
	[PRECONDITION_FRESH] = { "fresh", "never written, so a read finds nothing on flash" },
	[PRECONDITION_SEQUENTIAL] = { "sequential", "written in order" },
	[PRECONDITION_RANDOM] = { "random", "overwritten at random" },
};

/* Print the drive's name, and what has been written to its flash. */
static void print_state(const struct profile *p)
{
	printf("%s", p->name);
	if (p->kind == DRIVE_SSD)
		printf(", precondition=%s: %s", states[p->precondition].name,
		       states[p->precondition].means);
	if (p->kind == DRIVE_SSD && p->precondition && p->precondition_fill < 1000)
		printf(", %g %% of it", p->precondition_fill / 10.0);
	printf("\n\n");
}

/* Print what formulas need to predict a drive's figures. */
static void print_drive(const struct profile *p)
{
	static const char *const caches[] = { "off", "through", "sequential", "back" };

	printf(" \"drive\": {\"sectors\": %llu, \"physical_block\": %u, \"revolution_us\": %.3f, ",
	       (unsigned long long)p->sectors, p->physical_block, p->revolution / 1e3);
	printf("\"overhead_us\": {\"read\": %.3f, \"write\": %.3f, ",
	       (p->overhead + p->overhead_by_kind[KIND_READ_MISS][0]) / 1e3,
	       (p->overhead + p->overhead_by_kind[KIND_WRITE_MISS][1]) / 1e3);
	printf("\"read_hit\": %.3f, \"write_hit\": %.3f}, \"write_settle_us\": %.3f,\n  ",
	       (p->overhead + p->overhead_by_kind[KIND_READ_HIT][0]) / 1e3,
	       (p->overhead + p->overhead_by_kind[KIND_WRITE_HIT][1]) / 1e3,
	       p->write_settle / 1e3);
	printf("\"flush_overhead_us\": %.3f, ", p->flush_overhead / 1e3);
	printf("\"read_cache\": %s, \"readahead\": %s, \"write_cache\": \"%s\", ",
	       p->read_cache && p->segments ? "true" : "false",
	       p->readahead != READAHEAD_NONE ? "true" : "false", caches[p->write_cache]);
	printf("\"drops_requested\": %s, \"segments\": %u, \"cache_bytes\": %llu, ",
	       p->drop_requested ? "true" : "false", p->segments,
	       (unsigned long long)p->segments * p->segment_sectors * 512);
	printf("\"readahead_bytes\": %llu, \"ncq_depth\": %u,\n  ",
	       (p->readahead_max ?: p->segment_sectors) * 512ULL, p->ncq_depth);
	printf("\"logical_block\": %u, \"precondition\": \"%s\", \"precondition_fill\": %.3f},\n",
	       p->logical_block, p->kind == DRIVE_SSD ? states[p->precondition].name : "",
	       p->kind == DRIVE_SSD && p->precondition ? p->precondition_fill / 1e3 : 0);
}

static void print_json_head(const struct profile *profile)
{
	static const char *const kinds[] = { "disk", "ssd", "memory" };

	printf("{\"profile\": \"%s\", \"kind\": \"%s\",\n", profile->name,
	       kinds[profile->kind]);
	print_drive(profile);
	printf(" \"jobs\": [\n");
}

static double per(double what, double of)
{
	return of ? what / of : 0;
}

static double quantile_us(const u64 *times, u64 n, u32 thousandths)
{
	return rank_time(times, n, thousandths) / 1e3;
}

static void print_quantiles(const u64 *times, u64 n)
{
	static const struct {
		const char *name;
		u32 thousandths;
	} quantiles[] = {
		{ "p1_us", 10 }, { "p50_us", 500 }, { "p90_us", 900 }, { "p99_us", 990 },
		{ "p999_us", 999 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(quantiles); i++)
		printf("%s\"%s\": %.3f", i ? ", " : "", quantiles[i].name,
		       quantile_us(times, n, quantiles[i].thousandths));
}

static void print_figures(const char *name, const struct job_figures *f, double seconds)
{
	printf("\"%s\": {\"requests\": %llu, \"per_s\": %.4f, \"mb_s\": %.5f, \"mean_us\": %.3f, ",
	       name, (unsigned long long)f->requests, per(job_served(f), seconds),
	       per(f->bytes / 1e6, seconds), per(f->ns / 1e3, job_served(f)));
	printf("\"max_us\": %.3f, \"hits\": %.5f, \"cached\": %.5f, ", f->most / 1e3,
	       per(f->hits, job_served(f)), per(512.0 * f->cached, f->bytes));
	printf("\"failed\": %llu, \"failed_mean_us\": %.3f", (unsigned long long)f->failed,
	       per(f->failed_ns / 1e3, f->failed));
	if (f->times) {
		printf(", ");
		print_quantiles(f->times, f->nr_times);
	}
	printf("}");
}

/* Print how many member requests each request of the array took. */
static void print_array(const struct arguments *args, const struct job_result *result)
{
	u32 members = args->setup.layout.members, i;
	u64 reads = 0, writes = 0;

	for (i = 0; i < members; i++) {
		reads += result->members[i].reads;
		writes += result->members[i].writes;
	}
	printf(",\n  \"array\": \"%s\", \"member_reads\": %.4f, \"member_writes\": %.4f, ",
	       args->array, per(reads, result->all.requests), per(writes, result->all.requests));
	array_print_json(stdout, result->members, members, result->ns);
}

/* Null: nothing was written that the map's sample has. */
static void print_amplification(u64 host, u64 moved)
{
	if (host)
		printf("\"write_amplification\": %.4f", per(host + moved, host));
	else
		printf("\"write_amplification\": null");
}

static void print_limits(const struct job_limits *limits)
{
	printf(",\n  \"media_mb_s\": %.5f, \"least_media_mb_s\": %.5f, \"interface_mb_s\": %.5f, ",
	       limits->media / 1e6, limits->least_media / 1e6, limits->interface / 1e6);
	printf("\"mean_seek_us\": %.3f", limits->seek / 1e3);
}

static void job_print_json(const char *name, const char *text, const struct job *job,
			   const struct job_result *result)
{
	double seconds = result->ns / 1e9;
	u32 i;

	printf("{\"name\": \"%s\", \"job\": \"%s\", \"seconds\": %.9f,\n  ", name, text, seconds);
	print_figures("all", &result->all, seconds);
	printf(",\n  ");
	print_figures("reads", &result->op[0], seconds);
	printf(",\n  ");
	print_figures("writes", &result->op[1], seconds);
	printf(",\n  \"parts\": [");
	for (i = 0; i < job->nr_parts; i++) {
		char part[16];

		snprintf(part, sizeof(part), "part%u", i);
		printf("%s{", i ? ", " : "");
		print_figures(part, &result->parts[i], seconds);
		printf("}");
	}
	printf("],\n  ");
	print_quantiles(result->times, result->nr_times);
	printf(",\n  \"warmed\": %llu", (unsigned long long)result->warmed);
	printf(",\n  \"failed\": %llu", (unsigned long long)result->all.failed);
	printf(",\n  \"flushes\": %llu, \"failed_flushes\": %llu, \"flush_mean_us\": %.3f",
	       (unsigned long long)result->flushes, (unsigned long long)result->failed_flushes,
	       per(result->flush_ns / 1e3, result->flushes - result->failed_flushes));
	printf(", \"zone_commands\": %llu, \"zone_command_mean_us\": %.3f",
	       (unsigned long long)result->zone_commands,
	       per(result->zone_ns / 1e3, result->zone_commands));
	printf(", \"state_bytes\": %llu", (unsigned long long)result->state);
	printf(",\n  ");
	target_print_sums(stdout, &result->drive);
}

/* What flash did in the time that counts. Its map is a sample, so few pages tell little. */
static void print_solid(const struct job_result *result)
{
	struct solid_figures now = result->solid;
	const struct solid_figures *figures = &now;

	solid_figures_subtract(&now, &result->begin.solid);
	printf(",\n  \"host_pages\": %llu, \"moved_pages\": %llu, ",
	       (unsigned long long)figures->host_pages, (unsigned long long)figures->moved_pages);
	print_amplification(figures->host_pages, figures->moved_pages);
	printf(", \"sample\": %llu,\n  ", (unsigned long long)figures->sample);
	printf("\"flash_reads\": %llu, \"programs\": %llu, \"erases\": %llu, ",
	       (unsigned long long)figures->flash_reads, (unsigned long long)figures->programs,
	       (unsigned long long)figures->erases);
	printf("\"suspended\": %llu, \"buffer_waits\": %llu, \"buffer_reads\": %llu,\n  ",
	       (unsigned long long)figures->suspended, (unsigned long long)figures->buffer_waits,
	       (unsigned long long)figures->buffer_reads);
	printf("\"empty_reads\": %llu, ", (unsigned long long)figures->empty_reads);
	printf("\"slc_programs\": %llu, \"folded_pages\": %llu, ",
	       (unsigned long long)figures->slc_programs,
	       (unsigned long long)figures->folded_pages);
	printf("\"map_reads\": %llu, \"map_programs\": %llu",
	       (unsigned long long)figures->map_reads, (unsigned long long)figures->map_programs);
}

/* Requests a second, and what flash did, between marks. */
static void print_marks(const struct job_result *result)
{
	u64 i;

	printf(",\n  \"every\": [");
	for (i = 0; i < result->nr_marks; i++) {
		const struct job_mark *mark = &result->marks[i];
		const struct job_mark *last = i ? mark - 1 : &result->begin;

		printf("%s{\"per_s\": %.1f, ", i ? ",\n   " : "",
		       per(mark->served - last->served, (mark->ns - last->ns) / 1e9));
		print_amplification(mark->solid.host_pages - last->solid.host_pages,
				    mark->solid.moved_pages - last->solid.moved_pages);
		printf("}");
	}
	printf("]");
}

static void job_print_text(const char *name, const struct job_result *result)
{
	double seconds = result->ns / 1e9;

	printf("%10.2f %10.3f %12.1f %12.1f %12.1f %6.1f  %s\n",
	       per(job_served(&result->all), seconds), per(result->all.bytes / 1e6, seconds),
	       per(result->all.ns / 1e3, job_served(&result->all)),
	       quantile_us(result->times, result->nr_times, 990), result->all.most / 1e3,
	       100 * per(result->all.hits, job_served(&result->all)), name);
}

static void print_failed(const struct job_figures *all)
{
	if (all->failed)
		printf("%llu of %llu requests failed, after a mean of %.1f us\n",
		       (unsigned long long)all->failed, (unsigned long long)all->requests,
		       per(all->failed_ns / 1e3, all->failed));
}

static bool has_controls(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

/* Split "NAME: words": returns the words, *name is the name. */
static char *cut_name(char *text, char **name)
{
	char *colon = strchr(text, ':');

	*name = text + strspn(text, " \t");
	if (!colon) {
		blank_tabs(*name);
		return *name;
	}
	*colon = '\0';
	return colon + 1;
}

static void print_doubts(const struct doubt *doubts, u32 nr)
{
	u32 i;

	printf(",\n  \"doubts\": [");
	for (i = 0; i < nr; i++)
		printf("%s{\"kind\": \"%s\", \"share\": %.5f, \"text\": \"%s\"}", i ? ", " : "",
		       doubt_name(doubts[i].kind), doubts[i].share, doubts[i].text);
	printf("]");
}

static void warn_of_doubts(const struct named_job *named, const struct doubt *doubts, u32 nr)
{
	u32 i;

	fflush(stdout);
	for (i = 0; i < nr; i++)
		fprintf(stderr, "david-sim bench: job \"%s\": %s\n", named->name, doubts[i].text);
}

/*
 * The limits of media and interface are printed of a disk only. Returns whether the figures are not
 * to be believed.
 */
static bool print_result(const struct arguments *args, const struct profile *profile,
			 const struct named_job *named, const char *text,
			 const struct job_result *result)
{
	struct doubt doubts[DOUBT_NR];
	struct job_limits limits;
	u32 nr_doubts = 0;

	if (args->array)
		job_limits_member(profile, &limits);
	else
		job_limits(&named->job, profile, &limits);
	if (!args->no_doubts && !named->job.untimed)
		nr_doubts = job_doubts(&named->job, result, &limits, doubts);
	if (!args->json) {
		job_print_text(named->name, result);
		print_failed(&result->all);
		warn_of_doubts(named, doubts, nr_doubts);
		if (args->array)
			array_print_text(stdout, result->members, args->setup.layout.members);
		return doubts_refute(doubts, nr_doubts);
	}
	job_print_json(named->name, text, &named->job, result);
	if (result->has_solid)
		print_solid(result);
	if (result->nr_marks)
		print_marks(result);
	if (args->array)
		print_array(args, result);
	else
		print_limits(&limits);
	if (!args->no_doubts)
		print_doubts(doubts, nr_doubts);
	printf("}");
	return doubts_refute(doubts, nr_doubts);
}

/* @flash: an SSD's map, as the job finds it; with --keep-flash then as the job has left it. */
static int run_job(struct arguments *args, const struct profile *profile,
		   const struct profile *whole, const struct named_job *named,
		   const struct job *before, struct ftl **flash, bool first)
{
	const struct array_setup *setup = args->array ? &args->setup : NULL;
	char *text = job_print(&named->job, whole);
	struct job_result result;
	struct job job = named->job;

	job.look_after = !args->no_doubts && !job.untimed;
	job.before = before;
	job.nr_before = args->before.nr;
	job.faults = args->faults;
	job.faulty = args->faulty;
	job.flash = *flash;
	job.keep_flash = args->keep_flash;
	if (!text || job_run(&job, profile, setup, &result)) {
		fprintf(stderr, "david-sim bench: %s\n", text ? result.failed : "out of memory");
		free(text);
		return 1;
	}
	if (args->json && !first)
		printf(" ,\n");
	if (print_result(args, profile, named, text, &result))
		args->refuted = true;
	if (result.doubt) {
		complain("%s: %s", command, result.doubt);
		args->refuted = true;
	}
	free(text);
	if (args->keep_flash) {
		ftl_destroy(*flash);
		*flash = result.flash;
		result.flash = NULL;
	}
	job_release(&result);
	return 0;
}

static bool job_writes(const struct job *job)
{
	u32 i;

	for (i = 0; i < job->nr_parts; i++)
		if (job->parts[i].writes)
			return true;
	return false;
}

static int parse_jobs(const struct arguments *args, const struct profile *profile,
		      struct named_job *jobs)
{
	char why[JOB_WHY], *words;
	unsigned int i;

	for (i = 0; i < args->jobs.nr; i++) {
		words = cut_name(args->jobs.texts[i], &jobs[i].name);
		if (strpbrk(jobs[i].name, "\"\\"))
			snprintf(why, sizeof(why), "quotes in its name");
		else if (has_controls(jobs[i].name))
			snprintf(why, sizeof(why), "control characters in that name");
		else if (job_parse(&jobs[i].job, words, profile, why))
			;
		else if (jobs[i].job.untimed && args->array)
			snprintf(why, sizeof(why), "'untimed': not on an array");
		else if (args->media && (job_writes(&jobs[i].job) || args->before.nr))
			snprintf(why, sizeof(why), "with media-error of a member, jobs only read");
		else
			continue;
		fprintf(stderr, "david-sim bench: job \"%s\": %s\n", jobs[i].name, why);
		return 1;
	}
	return 0;
}

static int parse_before(const struct arguments *args, const struct profile *profile,
			struct job *before)
{
	char why[JOB_WHY];
	unsigned int i;

	for (i = 0; i < args->before.nr; i++) {
		blank_tabs(args->before.texts[i]);
		if (job_parse(&before[i], args->before.texts[i], profile, why))
			;
		else if (before[i].untimed)	/* its moves would be work for the dies later */
			snprintf(why, sizeof(why), "'untimed': give a job and --keep-flash");
		else
			continue;
		fprintf(stderr, "david-sim bench: --before \"%s\": %s\n",
			args->before.texts[i], why);
		return 1;
	}
	return 0;
}

static int run_jobs(struct arguments *args, const struct profile *profile)
{
	struct named_job *jobs = calloc(args->jobs.nr, sizeof(*jobs));
	struct job *before = calloc(args->before.nr + 1, sizeof(*before));
	struct profile whole = *profile;	/* of it, jobs know the size only */
	struct ftl *flash = NULL;
	unsigned int i;
	int r = 1;

	if (args->array)
		whole.sectors = args->setup.layout.sectors;
	if (jobs && before)
		r = parse_jobs(args, &whole, jobs) ?: parse_before(args, &whole, before);
	/* Made once, as that takes longer than many a job */
	if (!r && profile->kind == DRIVE_SSD && !args->array) {
		flash = ftl_create(profile, GFP_KERNEL);
		r = flash ? 0 : bad_usage(command, "out of memory");
	}
	if (r)
		goto out;
	if (args->json)
		print_json_head(profile);
	else
		print_state(profile);
	if (!args->json)
		printf("%10s %10s %12s %12s %12s %6s  job\n", "per s", "MB/s", "mean us", "p99 us",
		       "max us", "hit %");
	for (i = 0; i < args->jobs.nr && !r; i++)
		r = run_job(args, profile, &whole, &jobs[i], before, &flash, !i);
	if (args->json)
		printf("\n]}\n");
out:
	ftl_destroy(flash);
	free(before);
	free(jobs);
	return r;
}

/* What --faults says. Returns 0, or 1 and complains. */
static int parse_faults(struct arguments *args, const struct profile *profile)
{
	struct fault_error error;
	u32 i;

	args->faults = malloc(sizeof(*args->faults));
	if (!args->faults)
		return bad_usage(command, "out of memory");
	faults_init(args->faults, profile);
	if (faults_parse(args->faults, args->fault_text, &error))
		return bad_usage(command, "--faults: %s", error.text);
	if (args->faulty >= max(1U, args->setup.layout.members))
		return bad_usage(command, "--faulty: there is no such member");
	for (i = 0; args->array && i < args->faults->nr; i++)
		if (args->faults->all[i].kind == FAULT_MEDIA)
			args->media = true;
		else if (args->faults->all[i].kind != FAULT_SLOW &&
			 args->faults->all[i].kind != FAULT_STALL)
			return bad_usage(command,
					 "--faults: of an array only media-error, slow and firmware-stall");
	if (args->media && (args->setup.failed || args->setup.layout.level == ARRAY_0))
		return bad_usage(command,
				 "--faults: media-error only of an array with copies or parity and no failed member");
	if (args->array && args->setup.constant)
		return bad_usage(command, "--faults: members of a constant time do not fail");
	return 0;
}

int bench_main(int argc, char **argv)
{
	struct arguments *args = calloc(1, sizeof(*args));
	struct profile profile = { };
	int r = args ? bench_arguments(argc, argv, args) : 1;

	if (!r && load_profile(&profile, args->profile, &args->values))
		r = 1;
	if (!r)
		r = load_scaled(command, &profile, args->size);
	if (!r && args->array && array_parse_of(&args->setup, args->array, &profile))
		r = 1;
	if (!r && args->keep_flash && profile.kind != DRIVE_SSD)
		r = bad_usage(command, "--keep-flash: the drive has none");
	if (!r && args->fault_text)
		r = parse_faults(args, &profile);
	if (!r)
		r = run_jobs(args, &profile) ?: args->refuted ? NOT_BELIEVABLE : 0;
	profile_free(&profile);
	while (args && args->jobs.nr)
		free(args->jobs.texts[--args->jobs.nr]);
	if (args) {
		free(args->jobs.texts);
		free(args->faults);
	}
	free(args);
	return r;
}
