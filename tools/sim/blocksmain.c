// SPDX-License-Identifier: GPL-2.0
/* david-sim blocks: a block trace's requests from a file, and what they came to. */
#define _GNU_SOURCE	/* getline */
#include <stdio.h>

#include "../../dm-david/portable/portable-alloc.h"
#include "../../model/flash/ftl.h"
#include "../common/complain.h"
#include "../common/vec.h"
#include "arraytext.h"
#include "blocks.h"
#include "load.h"
#include "rank.h"
#include "target.h"

static const char usage[] =
"Usage: david-sim blocks --profile P --requests FILE [--open] [--closed] [--bound NS]\n"
"                        [--array WORDS] [--size S] [--option N=V] [--out FILE]\n"
"\n"
"Serve a block trace's requests by the modelled disk, queue included, or by an array, and print\n"
"figures as JSON. `david sim` makes such a file of a block trace. A line is a request, six numbers\n"
"in the order of time:\n"
"\n"
"  START,OP,SECTOR,SECTORS,FLAGS,DEPTH   ns; 0 (read), 1 (write), 2 (flush) or 3 (discard); sum of\n"
"                                        1 (FUA), 2 (somebody waits for it), 8 (flush before); how\n"
"                                        many were under way, with it\n"
"\n"
"  --profile P         a profile or a file of DiskSim parameters (.params), or the name of\n"
"                      one in profiles/\n"
"  --requests FILE     the requests; those that do not lie on the disk are left out and counted\n"
"  --open              at the trace's times\n"
"  --closed            each as soon as fewer are under way than in the trace\n"
"  --bound NS          how many times as fast the requests may come until the 99th percentile of\n"
"                      the response times is longer: by bisection, to 1 %, at most 2^20 times\n"
"  --array WORDS       on an array of such disks, such as '6 members=12'\n"
"  --size S            sectors of 512 bytes of each disk (default: the profile's)\n"
"  --option NAME=VALUE replace a value of the profile; may be given many times\n"
"  --out FILE          of the one run that there is: a line \"index,arrival_ns,completion_ns\" for\n"
"                      each request as it ends, counted from 0; - is standard output, and the\n"
"                      figures go to standard error then\n"
"  -h, --help          this text\n"
"\n"
"A new SSD has nothing to read. So an SSD was written in order before, unless the profile or\n"
"--option precondition=fresh says otherwise.\n"
"\n"
"The exit status is 0 if all went well, 1 if a file or the command line is bad.\n";

#define MOST_SPEED	1048576		/* times */
#define MOST_SECTORS	U32_MAX
#define MOST_TIME	(U64_MAX / 4)

static const char command[] = "david-sim blocks";

struct arguments {
	const char *profile, *requests, *array, *out;
	struct option_list values;
	u64 size, bound;
	bool open, closed;
};

/* The result of a bisection. */
struct blocks_load {
	double speed;		/* 0: not even the slowest that was tried */
	u64 p99;		/* ns, at that speed */
	double per_s;
	u64 left;		/* ns, to empty the caches afterwards */
};

static void blocks_help(void)
{
	fputs(usage, stdout);
}

static bool is_preconditioned(const struct option_list *values)
{
	unsigned int i;

	for (i = 0; i < values->nr; i++)
		if (!strncmp(values->texts[i], "precondition=", strlen("precondition=")))
			return true;
	return false;
}

static int blocks_arguments(int argc, char **argv, struct arguments *args)
{
	const struct sim_option options[] = {
		SIM_OPTION_PROFILE(&args->profile),
		SIM_OPTION_VALUES(&args->values),
		SIM_OPTION_SIZE(&args->size),
		SIM_OPTION_ARRAY(&args->array),
		SIM_OPTION_OUT(&args->out),
		{ .name = "requests", .kind = SIM_TEXT, .into = &args->requests },
		{ .name = "open", .kind = SIM_FLAG, .into = &args->open },
		{ .name = "closed", .kind = SIM_FLAG, .into = &args->closed },
		{ .name = "bound", .kind = SIM_NUMBER, .into = &args->bound, .least = 1,
		  .most = MOST_TIME, .what = "a time in nanoseconds" },
		{ }
	};

	if (options_read_all(command, argc, argv, options, blocks_help))
		return 1;
	if (!args->profile || !args->requests)
		return bad_usage(command, "--profile and --requests are needed");
	if (!args->open && !args->closed && !args->bound)
		return bad_usage(command, "one of --open, --closed and --bound is needed");
	if (args->out && (args->open == args->closed || args->bound))
		return bad_usage(command, "--out goes with one of --open and --closed");
	return 0;
}

static int blocks_bad_line(const char *file, u64 line, const char *text)
{
	return complain("%s:%llu: %s", file, (unsigned long long)line, text);
}

/* Six numbers, and nothing else. */
static bool blocks_numbers(const char *line, u64 *value)
{
	char *end;
	int i;

	for (i = 0; i < 6; i++) {
		if (*line < '0' || *line > '9')
			return false;
		errno = 0;
		value[i] = strtoull(line, &end, 10);
		if (errno || *end != (i < 5 ? ',' : '\n'))
			return false;
		line = end + 1;
	}
	return true;
}

static const char *blocks_line(struct blocks *blocks, const char *line, u64 number, u64 sectors)
{
	u64 v[6];
	bool flush;

	if (!blocks_numbers(line, v))
		return "START,OP,SECTOR,SECTORS,FLAGS,DEPTH must stand there";
	flush = v[1] == DISK_FLUSH;
	if (v[0] > MOST_TIME || v[1] > DISK_TRIM || flush != !v[3] || v[3] > MOST_SECTORS ||
	    v[4] & ~(u64)(DISK_FUA | DISK_SYNC | BLOCKS_PREFLUSH) || !v[5] || v[5] > U32_MAX)
		return "no such request";
	if (blocks->nr && v[0] < blocks->requests[blocks->nr - 1].start)
		return "it comes before the one before it";
	if (v[2] > sectors || v[3] > sectors - v[2]) {
		if (!blocks->beyond++)
			blocks->beyond_line = number;
		return NULL;
	}
	blocks->requests = vec_reserve(blocks->requests, &blocks->room, blocks->nr + 1,
				       sizeof(*blocks->requests));
	blocks->requests[blocks->nr++] = (struct blocks_request) {
		.start = v[0], .op = v[1], .sector = v[2], .sectors = v[3], .flags = v[4],
		.depth = v[5],
	};
	return NULL;
}

static int blocks_load_file(struct blocks *blocks, const char *name, u64 sectors)
{
	FILE *file = fopen(name, "r");
	const char *bad = NULL;
	size_t room = 0;
	char *line = NULL;
	u64 number = 0;

	if (!file)
		return complain("%s: %s", name, strerror(errno));
	while (!bad && getline(&line, &room, file) >= 0)
		bad = blocks_line(blocks, line, ++number, sectors);
	if (!bad && ferror(file))
		bad = "cannot be read";
	free(line);
	fclose(file);
	if (bad)
		return blocks_bad_line(name, number, bad);
	if (!blocks->nr)
		return complain("%s: %s", name, blocks->beyond ?
				"no request lies on the disk" : "no requests");
	return 0;
}

/* A block trace has no commands to zones. So nobody knows where a write may go. */
static int blocks_check_zones(const struct blocks *blocks, const struct profile *profile)
{
	u64 first = (u64)profile->conventional_zones * profile->zone_size, i;
	const struct blocks_request *request;

	for (i = 0; profile->zone_size && i < blocks->nr; i++) {
		request = &blocks->requests[i];
		if ((request->op == DISK_WRITE || request->op == DISK_TRIM) &&
		    request->sector + request->sectors > first)
			return complain("%s: %s; take a drive without zones", profile->name,
					"writes or discards lie in zones that are written in order");
	}
	return 0;
}

static double per_second(double count, u64 ns)
{
	return ns ? count * 1e9 / ns : 0;
}

static double ratio(double a, double b)
{
	return b ? a / b : 0;
}

static void blocks_print_times(FILE *to, const u64 *times, u64 nr, u64 sum)
{
	static const struct {
		const char *name;
		u32 thousandths;
	} ranks[] = {
		{ "p50_us", 500 }, { "p90_us", 900 }, { "p99_us", 990 }, { "p999_us", 999 },
		{ "max_us", 1000 },
	};
	u32 i;

	fprintf(to, "\"requests\": %llu, \"mean_us\": %.3f", (unsigned long long)nr,
		ratio(sum / 1e3, nr));
	for (i = 0; i < ARRAY_SIZE(ranks); i++)
		fprintf(to, ", \"%s\": %.3f", ranks[i].name,
			rank_time(times, nr, ranks[i].thousandths) / 1e3);
}

/* Of the pages that an SSD was given, those for which nothing had to be collected. */
static double blocks_fresh(const struct blocks_result *result)
{
	if (!result->has_solid || !result->op[DISK_WRITE].nr)
		return 0;
	return target_fresh_share(&result->solid, &result->solid);
}

/* How much of the time members had a request. */
static void blocks_print_members(FILE *to, const struct blocks_result *result, u32 members)
{
	double least = 1, most = 0, sum = 0, busy;
	u32 i;

	for (i = 0; i < members; i++) {
		busy = ratio(result->members[i].busy, result->ns);
		least = min(least, busy);
		most = max(most, busy);
		sum += busy;
	}
	fprintf(to, "\"member_busy\": {\"least\": %.6f, \"mean\": %.6f, \"most\": %.6f}", least,
		sum / members, most);
}

static void blocks_print(FILE *to, const struct blocks_result *result,
			 const struct blocks_way *way)
{
	static const char *const names[] = { "reads", "writes", "flushes" };
	const struct blocks_figures *op = result->op;
	u64 sum = op[0].sum + op[1].sum, all = sum + op[2].sum;
	u32 i;

	fprintf(to, "{\"loop\": \"%s\", \"seconds\": %.9f, ", way->closed ? "closed" : "open",
		result->ns / 1e9);
	fprintf(to, "\"per_s\": %.12g, \"mb_s\": %.12g, \"busy\": %.6f, \"queue\": %.6f, ",
		per_second(result->nr_times, result->ns),
		per_second((op[0].sectors + op[1].sectors) * 512.0 / 1e6, result->ns),
		ratio(result->busy, result->ns), ratio(all, result->ns));
	fprintf(to, "\"hits\": %.6f, \"discards\": %llu, \"empty_reads\": %llu",
		ratio(op[0].hits + op[1].hits, result->nr_times),
		(unsigned long long)result->trims,
		result->has_solid ? (unsigned long long)result->solid.empty_reads : 0ULL);
	fprintf(to, ", \"left_seconds\": %.9f, \"stays_in_cache\": %s", result->left / 1e9,
		result->stays_in_cache ? "true" : "false");
	fprintf(to, ", \"fresh\": %.6f", blocks_fresh(result));
	fprintf(to, ",\n   \"all\": {");
	blocks_print_times(to, result->times, result->nr_times, sum);
	for (i = 0; i < 3; i++) {
		fprintf(to, "},\n   \"%s\": {", names[i]);
		blocks_print_times(to, op[i].times, op[i].nr, op[i].sum);
	}
	fprintf(to, "},\n   ");
	if (way->setup)
		blocks_print_members(to, result, way->setup->layout.members);
	else
		target_print_sums(to, &result->sums);
	fprintf(to, "}");
}

/* One run, printed. Returns 0, or -1 and has complained. */
static int blocks_run_and_print(const struct blocks *blocks, const struct blocks_way *way,
				FILE *to)
{
	struct blocks_result result;
	const char *failed = blocks_run(blocks, way, &result);

	if (failed)
		return complain("%s: %s", command, failed);
	blocks_print(to, &result, way);
	blocks_release(&result);
	return 0;
}

/* 1: the bound holds at this speed, and then @load is of it. -1: has complained. */
static int blocks_holds(const struct blocks *blocks, struct blocks_way *way, double speed,
			struct blocks_load *load)
{
	struct blocks_result result;
	const char *failed;
	int holds;

	way->speed = speed;
	failed = blocks_run(blocks, way, &result);
	if (failed)
		return complain("%s: %s", command, failed);
	holds = !result.beyond_bound;
	if (holds)
		*load = (struct blocks_load) {
			.speed = speed, .p99 = rank_time(result.times, result.nr_times, 990),
			.per_s = per_second(result.nr_times, result.ns), .left = result.left,
		};
	blocks_release(&result);
	return holds;
}

/* By doubling and halving, then by bisection: is there a larger speed at which the bound holds? */
static int blocks_find_load(const struct blocks *blocks, struct blocks_way *way,
			    struct blocks_load *load)
{
	double good = 0, bad = 0, speed = 1;
	int holds;

	while ((!good || !bad || bad > good * 1.01) && speed <= MOST_SPEED &&
	       speed >= 1.0 / MOST_SPEED) {
		holds = blocks_holds(blocks, way, speed, load);
		if (holds < 0)
			return -1;
		if (holds)
			good = speed;
		else
			bad = speed;
		if (!bad)
			speed = good * 2;
		else if (!good)
			speed = bad / 2;
		else
			speed = (good + bad) / 2;
	}
	return 0;
}

static int blocks_serve(const struct arguments *args, const struct blocks *blocks,
			struct blocks_way *way, FILE *to)
{
	struct blocks_load load = { };
	int r = 0;

	fprintf(to, " \"runs\": [");
	if (args->open)
		r = blocks_run_and_print(blocks, way, to);
	if (!r && args->open && args->closed)
		fprintf(to, ",\n  ");
	way->closed = true;
	if (!r && args->closed)
		r = blocks_run_and_print(blocks, way, to);
	fprintf(to, "],\n \"load\": ");
	way->closed = false;
	way->bound = args->bound;
	if (!r && args->bound)
		r = blocks_find_load(blocks, way, &load);
	if (args->bound)
		fprintf(to, "{\"bound_us\": %.3f, \"speed\": %.6f, \"p99_us\": %.3f, "
			"\"per_s\": %.12g, \"left_seconds\": %.9f}}\n", args->bound / 1e3,
			load.speed, load.p99 / 1e3, load.per_s, load.left / 1e9);
	else
		fprintf(to, "null}\n");
	return r;
}

static int blocks_begin(const struct arguments *args, const struct profile *profile,
			const struct array_setup *setup, const struct blocks *blocks)
{
	static const char *const kinds[] = { "disk", "ssd", "memory" };
	FILE *to = args->out && !strcmp(args->out, "-") ? stderr : stdout;
	struct blocks_way way = { .profile = profile, .setup = setup, .speed = 1,
				  .look_after = true };
	struct ftl *flash = NULL;
	int r;

	if (profile->kind == DRIVE_SSD && !setup) {
		flash = ftl_create(profile, GFP_KERNEL);
		if (!flash)
			return complain("%s: out of memory", command);
		way.flash = flash;
	}
	if (args->out)
		way.out = to == stderr ? stdout : fopen(args->out, "w");
	if (args->out && !way.out) {
		r = complain("%s: %s", args->out, strerror(errno));
		goto out;
	}
	fprintf(to, "{\"profile\": \"%s\", \"kind\": \"%s\", \"array\": \"%s\", ", profile->name,
		kinds[profile->kind], args->array ?: "");
	fprintf(to, "\"sectors\": %llu, \"beyond\": %llu, \"beyond_line\": %llu,\n",
		(unsigned long long)(setup ? setup->layout.sectors : profile->sectors),
		(unsigned long long)blocks->beyond, (unsigned long long)blocks->beyond_line);
	if (way.out)
		fprintf(way.out, "index,arrival_ns,completion_ns\n");
	r = blocks_serve(args, blocks, &way, to);
	if (way.out && (way.out == stdout ? fflush(way.out) : fclose(way.out)))
		r = complain("%s: %s", args->out, strerror(errno));
out:
	ftl_destroy(flash);
	return r;
}

int blocks_main(int argc, char **argv)
{
	struct arguments args = { };
	struct profile profile = { };
	struct array_setup setup = { };
	struct blocks blocks = { };
	u64 sectors;
	int r = blocks_arguments(argc, argv, &args);

	if (r)
		return r;
	if (load_profile(&profile, args.profile, &args.values))
		return 1;
	r = load_scaled(command, &profile, args.size);
	if (profile.kind == DRIVE_SSD && !is_preconditioned(&args.values) &&
	    profile.precondition == PRECONDITION_FRESH)
		profile.precondition = PRECONDITION_SEQUENTIAL;
	if (!r && args.array)
		r = array_parse_of(&setup, args.array, &profile);
	sectors = args.array ? setup.layout.sectors : profile.sectors;
	if (!r)
		r = blocks_load_file(&blocks, args.requests, sectors);
	if (!r)
		r = blocks_check_zones(&blocks, &profile);
	if (!r)
		r = blocks_begin(&args, &profile, args.array ? &setup : NULL, &blocks);
	free(blocks.requests);
	profile_free(&profile);
	return r ? 1 : 0;
}
