// SPDX-License-Identifier: GPL-2.0
/*
 * david-sim physics: random jobs are checked against rules that hold for any disk (rules.h). A
 * job that breaks a rule is simplified as long as it still breaks the rule.
 */
#include <getopt.h>

#include "../../dm-david/portable/splitmix.h"
#include "../../model/drive/seek.h"
#include "../common/complain.h"
#include "../common/number.h"
#include "jobtext.h"
#include "load.h"
#include "physics.h"
#include "rules.h"

static const char usage[] =
"Usage: david-sim physics --profile P [--jobs N] [--seed S] [--rule NAME]... [--option N=V]\n"
"\n"
"Hold random jobs against what no disk breaks, whatever its parameters, each job against one rule, and\n"
"print for each rule how many jobs were tried and what came nearest to breaking it. A job that\n"
"breaks a rule is printed in its simplest form, as words for david-sim bench.\n"
"\n"
"  --profile P         a profile or a file of DiskSim parameters (.params), or the name of\n"
"                      one in profiles/\n"
"  --jobs N            random jobs (300)\n"
"  --seed S            of the random jobs (1)\n"
"  --rule NAME         this rule only; may be given many times\n"
"  --option NAME=VALUE replace a value of the profile; may be given many times\n"
"  --keep-going        do not stop at the first job that breaks a rule\n"
"  -h, --help          this text\n"
"\n"
"The exit status is 0 if no rule was broken, 1 if one was, or if the command line is bad.\n"
"\n"
"Rules, and the part of the time by which jobs may miss them:\n";

#define MAX_OPTIONS	64
#define MAX_RULES	32

struct physics {
	struct profile profile;
	const char *profile_name;
	char *options[MAX_OPTIONS];
	unsigned int nr_options;
	u32 jobs;
	u64 seed;
	bool only;
	bool wanted[MAX_RULES];
	bool keep_going;
	u64 rnd;
	u64 slack;		/* ns: the way to the first request and from the last one */
	u32 tried[MAX_RULES];
	u32 broken[MAX_RULES];
	double worst[MAX_RULES];	/* excess over the tolerance's 0, a share */
};

/* The result of a rule for a job. */
struct trial {
	struct job slow, fast;
	double slow_s, fast_s;
	double excess;		/* of the faster one's time, a share of the other's */
	bool broken;
};

static u32 below(struct physics *ph, u32 n)
{
	return splitmix_next(&ph->rnd) % n;
}

static bool one_in(struct physics *ph, u32 n)
{
	return !below(ph, n);
}

/* A power of two up to 2^most, now and then a number in between. */
static u32 spread(struct physics *ph, u32 most)
{
	u32 n = 1u << below(ph, most + 1);

	return one_in(ph, 4) && n > 1 ? n / 2 + below(ph, n / 2) + 1 : n;
}

static void physics_random_place(struct physics *ph, struct job_part *part)
{
	u64 sectors = ph->profile.sectors;

	part->span = sectors >> below(ph, 10);
	part->start = (sectors - part->span) / 16 * below(ph, 17) / 8 * 8;
}

static void cut_caches(struct job *job, bool off)
{
	job->read_cache_off = off;
	job->write_cache_off = off;
}

static u32 least_count(const struct job_part *part)
{
	return part->order == JOB_RANDOM ? RANDOM_LEAST : 100;
}

/* Jobs are never async: the host's plug delays requests, and the rules are about the drive. */
static void random_job(struct physics *ph, struct job *job)
{
	struct job_part *part = &job->parts[0];

	memset(job, 0, sizeof(*job));
	job->nr_parts = 1;
	job->seed = below(ph, 1000);
	job->drain = true;
	part->order = below(ph, 5) < 3 ? JOB_SEQUENTIAL : JOB_RANDOM;
	if (one_in(ph, 10))
		part->order = JOB_BACKWARD;
	part->sectors = one_in(ph, 8) ? spread(ph, 15) : 8 * spread(ph, 12);
	part->writes = one_in(ph, 2) ? 100 : 0;
	/* No rule knows what a stream of mixed reads and writes should take. */
	if (part->order == JOB_RANDOM && one_in(ph, 6))
		part->writes = below(ph, 101);
	part->depth = spread(ph, 5);
	part->streams = part->order == JOB_SEQUENTIAL && one_in(ph, 3) ? spread(ph, 4) : 1;
	if (part->order == JOB_SEQUENTIAL && one_in(ph, 3))
		part->gap = spread(ph, 11);
	if (one_in(ph, 4))
		part->pace = 1000ULL * spread(ph, 14);
	if (part->order == JOB_RANDOM && one_in(ph, 5))
		part->align = spread(ph, 5);
	if (one_in(ph, 8))
		part->offset = below(ph, 16);
	if (part->writes && one_in(ph, 5))
		part->flush = spread(ph, 6);
	part->fua = part->writes && one_in(ph, 20);
	if (one_in(ph, 8))
		cut_caches(job, true);
	physics_random_place(ph, part);
	/* Long enough to make start and end negligible, short enough to run thousands. */
	job->count = min(max((64u << 11) / part->sectors, least_count(part)), 1500u);
	if (part->streams > 1)
		job->count = max(job->count,
				 part->streams * min((32u << 11) / part->sectors, 1500u));
}

static bool seconds(const struct physics *ph, const struct job *job, double *s)
{
	struct job_result result;

	if (job_run(job, &ph->profile, NULL, &result))
		return false;
	*s = result.ns / 1e9;
	job_release(&result);
	return true;
}

/* The time that media and interface need for the bytes alone. */
static double least_seconds(const struct physics *ph, const struct job *job)
{
	struct job_limits limits;
	u32 flushes = job->parts[0].flush ? job->count / (job->parts[0].flush + 1) : 0;
	double rate;

	job_limits(job, &ph->profile, &limits);
	rate = limits.interface && limits.interface < limits.media ? limits.interface :
								     limits.media;
	return (double)(job->count - flushes) * job->parts[0].sectors * 512 / rate;
}

/* Returns false if the rule does not apply. @job has been fitted to the rule. */
static bool try_rule(const struct physics *ph, const struct rule *rule, const struct job *job,
		     struct trial *trial)
{
	/* Each stream adds a first seek, and read-ahead at its end that nobody asks for. */
	double slack = ph->slack / 1e9 * (1 + job->parts[0].streams) / 2;
	double bound = rule->tolerance / 1000.0;

	trial->slow = *job;
	trial->fast = *job;
	if (rule->slow)
		rule->slow(&trial->slow, &ph->profile);
	if (rule->fast)
		rule->fast(&trial->fast, &ph->profile);
	if (!rule_sound(&trial->slow, &ph->profile) || !rule_sound(&trial->fast, &ph->profile) ||
	    !seconds(ph, &trial->fast, &trial->fast_s))
		return false;
	if (rule->limit) {
		trial->slow_s = least_seconds(ph, &trial->fast);
		trial->excess = trial->slow_s / trial->fast_s - 1;
	} else {
		if (!seconds(ph, &trial->slow, &trial->slow_s))
			return false;
		trial->excess = (trial->fast_s - slack) / trial->slow_s - 1;
		if (rule->both)
			trial->excess = max(trial->excess,
					    (trial->slow_s - slack) / trial->fast_s - 1);
	}
	trial->broken = trial->excess > bound;
	return true;
}

/* Each makes the job simpler in one way. Returns false if it is that simple already. */

static bool simpler(struct job *job, const struct profile *profile, u32 step)
{
	struct job before = *job;
	struct job_part *part = &job->parts[0];

	switch (step) {
	case 0:
		part->fua = false;
		break;
	case 1:
		part->offset = 0;
		part->align = 0;
		break;
	case 2:
		part->flush = 0;
		break;
	case 3:
		part->pace = 0;
		break;
	case 4:
		cut_caches(job, false);
		break;
	case 5:
		part->gap = 0;
		break;
	case 6:
		part->streams = 1;
		break;
	case 7:
		part->writes = part->writes < 100 ? 0 : 100;
		break;
	case 8:
		part->start = 0;
		break;
	case 9:
		if (!part->start)
			part->span = profile->sectors;
		break;
	case 10:
		part->depth = 1;
		break;
	case 11:
		part->depth = max(part->depth / 2, 1u);
		break;
	case 12:
		part->sectors = 8;
		break;
	case 13:
		part->sectors = 256;
		break;
	case 14:
		part->sectors = max(part->sectors / 2, 8u);
		break;
	case 15:
		part->gap /= 2;
		break;
	case 16:
		part->streams = max(part->streams / 2, 1u);
		break;
	case 17:
		if (part->order != JOB_RANDOM || job->count > 2 * least_count(part))
			job->count = max(job->count / 2, 20u);
		break;
	case 18:
		part->pace /= 2;
		break;
	case 19:
		job->seed = 1;
		break;
	default:
		return false;
	}
	return memcmp(&before, job, sizeof(before));
}

#define STEPS	20

static void shrink(const struct physics *ph, const struct rule *rule, struct job *job,
		   struct trial *trial)
{
	struct trial attempt;
	struct job simple;
	bool progress = true;
	u32 step, left = 400;

	while (progress && left) {
		progress = false;
		for (step = 0; step < STEPS && left; step++) {
			simple = *job;
			if (!simpler(&simple, &ph->profile, step))
				continue;
			left--;
			if (!rule->fit(&simple, &ph->profile) ||
			    !memcmp(&simple, job, sizeof(simple)) ||
			    !try_rule(ph, rule, &simple, &attempt) || !attempt.broken)
				continue;
			*job = simple;
			*trial = attempt;
			progress = true;
		}
	}
}

static void report(const struct physics *ph, const struct rule *rule, const struct trial *trial,
		   u32 number)
{
	char *slow = job_print(&trial->slow, &ph->profile);
	char *fast = job_print(&trial->fast, &ph->profile);

	printf("BROKEN: %s: \"%s\": seed %llu, job %u, in its simplest form\n", ph->profile.name,
	       rule->text, (unsigned long long)ph->seed, number);
	printf("  %10.6f s  --job '%s'\n", trial->fast_s, fast ?: "?");
	if (rule->limit)
		printf("  %10.6f s  is what media and interface take\n", trial->slow_s);
	else
		printf("  %10.6f s  --job '%s'\n", trial->slow_s, slow ?: "?");
	printf("  off by %.1f %%, allowed are %.1f %% and %.0f ms\n", 100 * trial->excess,
	       rule->tolerance / 10.0, rule->limit ? 0 : ph->slack / 1e6);
	free(slow);
	free(fast);
}

/* Returns true to stop. */
static bool one_job(struct physics *ph, u32 number)
{
	const struct rule *rule;
	struct trial trial;
	struct job job;
	u32 k, tries;

	/* A job depends on the seed and its own number alone, so it can be repeated. */
	ph->rnd = ph->seed * HASH_GOLDEN + number * 0xd1342543de82ef95;
	for (tries = 0; tries < 100; tries++) {
		k = below(ph, nr_rules);
		rule = &rules[k];
		random_job(ph, &job);
		if ((ph->only && !ph->wanted[k]) || !rule->fit(&job, &ph->profile) ||
		    !try_rule(ph, rule, &job, &trial))
			continue;
		if (!ph->tried[k]++ || trial.excess > ph->worst[k])
			ph->worst[k] = trial.excess;
		if (!trial.broken)
			return false;
		ph->broken[k]++;
		shrink(ph, rule, &job, &trial);
		report(ph, rule, &trial, number);
		return !ph->keep_going;
	}
	return false;
}

static int physics_check(struct physics *ph)
{
	u64 revolution = ph->profile.revolution;
	u32 i, broken = 0, tried = 0;

	ph->slack = 2 * (seek_time(&ph->profile, ph->profile.cylinders - 1) + revolution);
	for (i = 0; i < ph->jobs; i++)
		if (one_job(ph, i))
			break;
	for (i = 0; i < nr_rules; i++) {
		tried += ph->tried[i];
		broken += ph->broken[i];
		if (ph->tried[i])
			printf("%-8s %6u jobs, worst %+6.1f %%, allowed %4.1f %%, broken %u\n",
			       rules[i].name, ph->tried[i], 100 * ph->worst[i],
			       rules[i].tolerance / 10.0, ph->broken[i]);
	}
	printf("%s: seed %llu, %u jobs, %u broken\n", ph->profile.name,
	       (unsigned long long)ph->seed, tried, broken);
	return broken ? 1 : 0;
}

static const char command[] = "david-sim physics";

static void help(void)
{
	u32 i;

	fputs(usage, stdout);
	for (i = 0; i < nr_rules; i++)
		printf("  %-8s %4.1f %%  %s\n", rules[i].name, rules[i].tolerance / 10.0,
		       rules[i].text);
	puts("and, but for limits, two full strokes and revolutions, for beginning and end.");
}

enum { OPTION_PROFILE = 256, OPTION_JOBS, OPTION_SEED, OPTION_RULE, OPTION_OPTION, OPTION_KEEP };

static const struct option long_options[] = {
	{ "profile", required_argument, NULL, OPTION_PROFILE },
	{ "jobs", required_argument, NULL, OPTION_JOBS },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "rule", required_argument, NULL, OPTION_RULE },
	{ "option", required_argument, NULL, OPTION_OPTION },
	{ "keep-going", no_argument, NULL, OPTION_KEEP },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static int want_rule(struct physics *ph, const char *name)
{
	u32 i;

	for (i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].name, name)) {
			ph->only = true;
			ph->wanted[i] = true;
			return 0;
		}
	return bad_usage(command, "--rule: no such rule");
}

static int physics_arguments(int argc, char **argv, struct physics *ph)
{
	u64 number;
	int c, r = 0;

	while (!r && (c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (c) {
		case OPTION_PROFILE:
			ph->profile_name = optarg;
			break;
		case OPTION_JOBS:
			if (!number_parse(optarg, U32_MAX, &number) || !number)
				r = bad_usage(command, "--jobs: a number of jobs");
			ph->jobs = number;
			break;
		case OPTION_SEED:
			if (!number_parse(optarg, U64_MAX, &ph->seed))
				r = bad_usage(command, "--seed: a number");
			break;
		case OPTION_RULE:
			r = want_rule(ph, optarg);
			break;
		case OPTION_OPTION:
			if (ph->nr_options == MAX_OPTIONS)
				return bad_usage(command, "--option: too many");
			ph->options[ph->nr_options++] = optarg;
			break;
		case OPTION_KEEP:
			ph->keep_going = true;
			break;
		case 'h':
			help();
			exit(0);
		default:
			return 1;
		}
	}
	if (!r && optind < argc)
		return bad_usage(command, "there is an argument that is no option");
	if (!r && !ph->profile_name)
		return bad_usage(command, "--profile is needed");
	return r;
}

int physics_main(int argc, char **argv)
{
	struct physics *ph = calloc(1, sizeof(*ph));
	int r;

	if (!ph)
		return 1;
	ph->jobs = 300;
	ph->seed = 1;
	r = physics_arguments(argc, argv, ph);
	if (!r && load_profile(&ph->profile, ph->profile_name, ph->options, ph->nr_options))
		r = 1;
	if (!r) {
		r = physics_check(ph);
		profile_free(&ph->profile);
	}
	free(ph);
	return r;
}
