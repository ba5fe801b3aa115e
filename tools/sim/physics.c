// SPDX-License-Identifier: GPL-2.0
/*
 * david-sim physics: random jobs are checked against rules that hold for any disk (rules.h). A
 * job that breaks a rule is simplified as long as it still breaks the rule.
 */

#include "../../dm-david/portable/portable-alloc.h"
#include "../../dm-david/portable/splitmix.h"
#include "../../model/drive/seek.h"
#include "../../model/flash/ftl.h"
#include "../common/complain.h"
#include "jobtext.h"
#include "load.h"
#include "physics.h"
#include "rules.h"

static const char usage[] =
"Usage: david-sim physics --profile P [--jobs N] [--seed S] [--rule NAME]... [--option N=V]\n"
"\n"
"Hold random jobs against what no disk breaks, whatever its parameters, each job against one rule, and\n"
"print for each rule how many jobs were tried and what came nearest to breaking it. A job that\n"
"breaks a rule is printed in its simplest form, as words for david-sim bench. An SSD is new, written\n"
"in order, or written over at random, as chance has it. Of jobs that no rule speaks of it is\n"
"printed how many were left out, and why.\n"
"\n"
"  --profile P         a profile or a file of DiskSim parameters (.params), or the name of\n"
"                      one in profiles/\n"
"  --jobs N            random jobs (300)\n"
"  --seed S            of the random jobs (1)\n"
"  --rule NAME         this rule only; may be given many times\n"
"  --option NAME=VALUE replace a value of the profile; may be given many times\n"
"  --known NAME        this rule is known to be broken: it is tried, and does not count; may be given\n"
"                      many times\n"
"  --keep-going        do not stop at the first job that breaks a rule\n"
"  --coarse            an SSD's map knows an eighth of the pages that it would: its states are made\n"
"                      in a moment, which is what a few jobs would take longest for\n"
"  -h, --help          this text\n"
"\n"
"The exit status is 0 if no rule was broken, 1 if one was, or if the command line is bad.\n"
"\n"
"Rules, and the part of the time by which jobs may miss them:\n";

#define MAX_RULES	32
#define MAX_LEFT	64
#define COARSE		8	/* pages of the map for one */
#define SHOWN		2	/* broken jobs of a rule that is known to be broken */

/* Jobs that a rule did not speak of */
struct left_out {
	const struct rule *rule;
	const char *why;
	u32 jobs;
};

struct physics {
	struct profile profile;
	const char *profile_name;
	struct option_list values;
	u64 jobs;
	u64 seed;
	bool only;
	bool wanted[MAX_RULES];
	bool known[MAX_RULES];	/* to be broken */
	bool keep_going;
	bool coarse;
	struct ftl *states[STATE_NR];	/* of an SSD, */
	struct profile made[STATE_NR];	/* whose profiles these are */
	u64 rnd;
	u64 slack;		/* ns: the way to the first request and from the last one */
	u32 tried[MAX_RULES];
	u32 broken[MAX_RULES];
	struct left_out left[MAX_LEFT];
	u32 nr_left;
	double worst[MAX_RULES];	/* excess over the tolerance's 0, a share */
};

/* The result of a rule for a job. */
struct trial {
	struct job slow, fast;
	enum rule_state state;	/* of the SSD before; with rule->order of the slow one's */
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

/* A drive refuses what is no whole number of its logical blocks. */
static void logical_blocks(struct job_part *part, const struct profile *profile)
{
	u32 block = profile->logical_block / 512;

	part->sectors = DIV_ROUND_UP(part->sectors, block) * block;
	part->gap -= part->gap % block;
	part->align = DIV_ROUND_UP(part->align, block) * block;
	part->offset -= part->offset % block;
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
	logical_blocks(part, &ph->profile);
	physics_random_place(ph, part);
	/* Long enough to make start and end negligible, short enough to run thousands. */
	job->count = min(max((64u << 11) / part->sectors, least_count(part)), 1500u);
	if (part->streams > 1)
		job->count = max(job->count,
				 part->streams * min((32u << 11) / part->sectors, 1500u));
}

/* The same of zones: some of them, in order, a part of the drive's or all that it writes. */
static void random_zone_job(struct physics *ph, struct job *job)
{
	const struct profile *profile = &ph->profile;
	u32 all = div_u64(profile->sectors, profile->zone_size) - profile->conventional_zones;
	struct job_part *part = &job->parts[0];
	u32 block = profile->physical_block / 512;

	memset(job, 0, sizeof(*job));
	job->nr_parts = 1;
	job->seed = below(ph, 1000);
	job->drain = true;
	part->zone_size = profile->zone_size;
	part->zone_capacity = profile->zone_capacity;
	part->sectors = 8 * spread(ph, 9);
	part->sectors = min(DIV_ROUND_UP(part->sectors, block) * block, part->zone_capacity);
	part->depth = spread(ph, 5);
	part->streams = one_in(ph, 3) ? spread(ph, 3) : 1;
	if (profile->max_active_zones)
		part->streams = min(part->streams, profile->max_active_zones);
	part->writes = one_in(ph, 4) ? 0 : 100;
	part->append = part->writes && profile->zone_append_limit && one_in(ph, 2);
	part->filled = part->writes ? 0 : 1000;
	if (!part->writes && one_in(ph, 2))
		part->order = JOB_RANDOM;
	part->zones = min(part->streams * (1 + below(ph, 3)), all);
	part->streams = min(part->streams, part->zones);
	part->first_zone = profile->conventional_zones + below(ph, all - part->zones + 1);
	part->start = (u64)part->first_zone * part->zone_size;
	part->span = (u64)part->zones * part->zone_size;
	if (one_in(ph, 8))
		cut_caches(job, true);
	job->count = min(max((64u << 11) / part->sectors, least_count(part)), 1500u);
}

static bool physics_run(const struct physics *ph, struct job *job, enum rule_state state,
			struct job_result *result)
{
	bool good;

	job->flash = ph->states[state];
	good = !job_run(job, &ph->profile, NULL, result);
	job->flash = NULL;
	return good;
}

/* @net: of the time in which zones were reset */
static bool seconds(const struct physics *ph, struct job *job, enum rule_state state, bool net,
		    double *s)
{
	struct job_result result;

	if (!physics_run(ph, job, state, &result))
		return false;
	*s = (result.ns - (net ? result.zone_ns : 0)) / 1e9;
	job_release(&result);
	return true;
}

/* Do reads and writes share the interface? A disk's heads they do. */
static bool is_shared(const struct profile *profile)
{
	return profile->kind == DRIVE_DISK || profile_shares_link(profile);
}

static double least_time(const struct physics *ph, double read, double written, double rate)
{
	return (is_shared(&ph->profile) ? read + written : max(read, written)) / rate;
}

/* The time of a job, and what media and interface need for its bytes alone. */
static bool least_seconds(const struct physics *ph, struct job *job, enum rule_state state,
			  bool seeks, double *s, double *least)
{
	struct job_limits limits;
	struct job_result result;
	double rate, read, written, cached = 0;

	if (!physics_run(ph, job, state, &result))
		return false;
	*s = result.ns / 1e9;
	read = result.op[DISK_READ].bytes;
	written = result.op[DISK_WRITE].bytes;
	/* What is read again by chance crosses the interface only. */
	if (job->parts[0].order == JOB_RANDOM)
		cached = 512.0 * result.op[DISK_READ].cached;
	job_release(&result);
	job_limits(job, &ph->profile, &limits);
	rate = limits.interface && limits.interface < limits.media ? limits.interface :
								     limits.media;
	*least = least_time(ph, read - cached, written, rate);
	if (cached && limits.interface)
		*least = max(*least, least_time(ph, read, written, limits.interface));
	if (seeks)	/* the first one may find the arm there */
		*least += (job->count - 1.0) * seek_time(&ph->profile, 1) / 1e9;
	return true;
}

/*
 * A worn drive moves what its map has of a block. Each page of the map stands for many, so what is
 * moved in a short job is one more or one less by chance: a generic-qlc's stands for 16 MiB, which
 * take its dies 6 ms.
 */
static double moved_seconds(const struct physics *ph, enum rule_state state)
{
	const struct profile *profile = &ph->profile;
	double page = FTL_PAGE * 512.0 * (1ULL << ftl_shift(ph->states[state]));
	double reads = (double)profile->program_unit / profile->flash_page * profile->read_time;

	return page / profile->program_unit / profile->dies * (profile->program_time + reads) / 1e9;
}

/* NULL, or why the rule does not apply. @job has been fitted to the rule. */
static const char *try_rule(const struct physics *ph, const struct rule *rule,
			    const struct job *job, enum rule_state state, struct trial *trial)
{
	static const char failed[] = "the model failed";
	const char *unsound;
	/* Each stream adds a first seek, and read-ahead at its end that nobody asks for. */
	double slack = ph->slack / 1e9 * (1 + job->parts[0].streams) / 2;
	double bound = rule->tolerance / 1000.0;

	trial->slow = *job;
	trial->fast = *job;
	trial->state = state;
	if (rule->slow)
		rule->slow(&trial->slow, &ph->profile);
	if (rule->fast)
		rule->fast(&trial->fast, &ph->profile);
	if (rule->fresh && state != STATE_FRESH)
		return "a drive with data: what a run overwrites makes room for the next";
	/* The fewer places, the more of them have been written when they are read. */
	if (rule->places && state == STATE_FRESH && ph->profile.kind == DRIVE_SSD &&
	    job->parts[0].writes && job->parts[0].writes < 100)
		return "reads among writes of a new drive: only what was written takes flash";
	if (rule->places && state == STATE_RANDOM && ph->states[state] && job->parts[0].writes)
		return "writes to other places of a worn drive: collection goes by a sample";
	if (rule->moves && state == STATE_RANDOM && ph->states[state] && job->parts[0].writes)
		slack += moved_seconds(ph, state);
	unsound = rule_unsound(&trial->slow, &ph->profile) ?:
		  rule_unsound(&trial->fast, &ph->profile);
	if (unsound)
		return unsound;
	if (rule->limit) {
		if (!least_seconds(ph, &trial->fast, state, rule->seeks, &trial->fast_s,
				   &trial->slow_s))
			return failed;
		trial->excess = trial->slow_s / trial->fast_s - 1;
	} else {
		if (!seconds(ph, &trial->slow, state, rule->resets, &trial->slow_s) ||
		    !seconds(ph, &trial->fast, rule->order ? STATE_IN_ORDER : state,
			     rule->resets, &trial->fast_s))
			return failed;
		trial->excess = (trial->fast_s - slack) / trial->slow_s - 1;
		if (rule->both)
			trial->excess = max(trial->excess,
					    (trial->slow_s - slack) / trial->fast_s - 1);
	}
	trial->broken = trial->excess > bound;
	return NULL;
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
		part->start = part->zones ? part->start : 0;
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
	logical_blocks(part, profile);
	if (part->zones)
		part->streams = min(part->streams, part->zones);
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
			simple.nr_parts = 1;
			if (rule->fit(&simple, &ph->profile) ||
			    !memcmp(&simple, job, sizeof(simple)) ||
			    try_rule(ph, rule, &simple, trial->state, &attempt) || !attempt.broken)
				continue;
			*job = simple;
			*trial = attempt;
			progress = true;
		}
	}
}

static const char *state_option(const struct physics *ph, enum rule_state state)
{
	static const char *const options[STATE_NR] = {
		"", " --option precondition=sequential", " --option precondition=random",
	};

	return ph->states[state] ? options[state] : "";
}

static void report(const struct physics *ph, const struct rule *rule, const struct trial *trial,
		   u32 number)
{
	char *slow = job_print(&trial->slow, &ph->profile);
	char *fast = job_print(&trial->fast, &ph->profile);

	printf("BROKEN: %s: \"%s\": seed %llu, job %u, in its simplest form\n", ph->profile.name,
	       rule->text, (unsigned long long)ph->seed, number);
	printf("  %10.6f s  --job '%s'%s\n", trial->fast_s, fast ?: "?",
	       state_option(ph, rule->order ? STATE_IN_ORDER : trial->state));
	if (rule->limit)
		printf("  %10.6f s  is what media and interface take\n", trial->slow_s);
	else
		printf("  %10.6f s  --job '%s'%s\n", trial->slow_s, slow ?: "?",
		       state_option(ph, trial->state));
	printf("  off by %.1f %%, allowed are %.1f %% and %.0f ms\n", 100 * trial->excess,
	       rule->tolerance / 10.0, rule->limit ? 0 : ph->slack / 1e6);
	free(slow);
	free(fast);
}

static void leave_out(struct physics *ph, const struct rule *rule, const char *why)
{
	struct left_out *left = ph->left;

	while (left < ph->left + ph->nr_left && (left->rule != rule || left->why != why))
		left++;
	if (left == ph->left + MAX_LEFT)
		return;
	if (left == ph->left + ph->nr_left) {
		*left = (struct left_out){ .rule = rule, .why = why };
		ph->nr_left++;
	}
	left->jobs++;
}

static enum rule_state random_state(struct physics *ph, const struct rule *rule)
{
	static const enum rule_state states[] = {
		STATE_FRESH, STATE_FRESH, STATE_IN_ORDER, STATE_RANDOM,
	};
	enum rule_state state = states[below(ph, ARRAY_SIZE(states))];

	if (ph->profile.zone_size)	/* which are never written at random */
		return min(state, STATE_IN_ORDER);
	return rule->order ? STATE_RANDOM : state;
}

/* Returns true to stop. */
static bool one_job(struct physics *ph, u32 number)
{
	const struct rule *rule;
	enum rule_state state;
	struct trial trial;
	const char *why;
	struct job job;
	u32 k, tries;

	/* A job depends on the seed and its own number alone, so it can be repeated. */
	ph->rnd = ph->seed * HASH_GOLDEN + number * 0xd1342543de82ef95;
	for (tries = 0; tries < 100; tries++) {
		k = ph->profile.zone_size ? nr_plain_rules + below(ph, nr_rules - nr_plain_rules) :
					    below(ph, nr_plain_rules);
		rule = &rules[k];
		if (ph->profile.zone_size)
			random_zone_job(ph, &job);
		else
			random_job(ph, &job);
		state = random_state(ph, rule);
		if (ph->only && !ph->wanted[k])
			continue;
		why = rule->fit(&job, &ph->profile) ?: try_rule(ph, rule, &job, state, &trial);
		if (why) {
			leave_out(ph, rule, why);
			continue;
		}
		if (!ph->tried[k]++ || trial.excess > ph->worst[k])
			ph->worst[k] = trial.excess;
		if (!trial.broken)
			return false;
		if (ph->broken[k]++ >= SHOWN && ph->known[k])
			return false;
		shrink(ph, rule, &job, &trial);
		report(ph, rule, &trial, number);
		return !ph->keep_going && !ph->known[k];
	}
	return false;
}

static bool make_coarse(struct physics *ph)
{
	struct ftl *ftl;

	if (ph->profile.kind != DRIVE_SSD)
		return true;
	ph->profile.precondition = PRECONDITION_FRESH;
	ftl = ftl_create(&ph->profile, GFP_KERNEL);
	if (!ftl)
		return false;
	ph->profile.sample = COARSE << ftl_shift(ftl);
	ftl_destroy(ftl);
	return true;
}

/* An SSD in each state, of which jobs have copies. False: out of memory. */
static bool create_states(struct physics *ph)
{
	static const enum profile_precondition preconditions[STATE_NR] = {
		PRECONDITION_FRESH, PRECONDITION_SEQUENTIAL, PRECONDITION_RANDOM,
	};
	u32 i;

	if (ph->coarse && !make_coarse(ph))
		return false;
	for (i = 0; i < STATE_NR && ph->profile.kind == DRIVE_SSD; i++) {
		ph->made[i] = ph->profile;	/* its tables are shared */
		ph->made[i].precondition = preconditions[i];
		ph->states[i] = ftl_create(&ph->made[i], GFP_KERNEL);
		if (!ph->states[i])
			return false;
	}
	return true;
}

static void print_left_out(const struct physics *ph, const struct rule *rule)
{
	const struct left_out *left;

	for (left = ph->left; left < ph->left + ph->nr_left; left++)
		if (left->rule == rule)
			printf("  left out: %u, %s\n", left->jobs, left->why);
}

static int physics_check(struct physics *ph)
{
	u64 revolution = ph->profile.revolution;
	u32 i, broken = 0, known = 0, tried = 0;

	ph->slack = 2 * (seek_time(&ph->profile, ph->profile.cylinders - 1) + revolution);
	for (i = 0; i < ph->jobs; i++)
		if (one_job(ph, i))
			break;
	for (i = 0; i < nr_rules; i++) {
		tried += ph->tried[i];
		*(ph->known[i] ? &known : &broken) += ph->broken[i];
		if (ph->tried[i])
			printf("%-8s %6u jobs, worst %+6.1f %%, allowed %4.1f %%, broken %u%s\n",
			       rules[i].name, ph->tried[i], 100 * ph->worst[i],
			       rules[i].tolerance / 10.0, ph->broken[i],
			       ph->known[i] ? ", as is known" : "");
		else if (ph->only ? ph->wanted[i] :
				    (i >= nr_plain_rules) == !!ph->profile.zone_size)
			printf("%-8s none\n", rules[i].name);
		print_left_out(ph, &rules[i]);
	}
	printf("%s: seed %llu%s, %u jobs, %u broken", ph->profile.name,
	       (unsigned long long)ph->seed, ph->coarse ? ", coarse" : "", tried, broken);
	if (known)
		printf(", and %u as is known", known);
	putchar('\n');
	return broken ? 1 : 0;
}

static const char command[] = "david-sim physics";

static void physics_help(void)
{
	u32 i;

	fputs(usage, stdout);
	for (i = 0; i < nr_rules; i++) {
		if (i == nr_plain_rules)
			puts("of drives with zones, and only these:");
		printf("  %-8s %4.1f %%  %s\n", rules[i].name, rules[i].tolerance / 10.0,
		       rules[i].text);
	}
	puts("and, but for limits, two full strokes and revolutions, for beginning and end.");
}

/* Which of all rules are @chosen: one more, by its name. */
static int choose_rule(bool chosen[], const char *name)
{
	u32 i;

	for (i = 0; i < nr_rules; i++)
		if (!strcmp(rules[i].name, name)) {
			chosen[i] = true;
			return 0;
		}
	return bad_usage(command, "--rule, --known: no such rule");
}

static int choose_wanted(void *physics, char *name)
{
	struct physics *ph = physics;

	ph->only = true;
	return choose_rule(ph->wanted, name);
}

static int choose_known(void *known, char *name)
{
	return choose_rule(known, name);
}

static int physics_arguments(int argc, char **argv, struct physics *ph)
{
	const struct sim_option options[] = {
		SIM_OPTION_PROFILE(&ph->profile_name),
		SIM_OPTION_VALUES(&ph->values),
		{ .name = "jobs", .kind = SIM_NUMBER, .into = &ph->jobs, .least = 1,
		  .most = U32_MAX, .what = "a number of jobs" },
		{ .name = "seed", .kind = SIM_NUMBER, .into = &ph->seed, .most = U64_MAX,
		  .what = "a number" },
		{ .name = "rule", .kind = SIM_CALL, .into = ph, .call = choose_wanted },
		{ .name = "known", .kind = SIM_CALL, .into = ph->known, .call = choose_known },
		{ .name = "keep-going", .kind = SIM_FLAG, .into = &ph->keep_going },
		{ .name = "coarse", .kind = SIM_FLAG, .into = &ph->coarse },
		{ }
	};

	if (options_read_all(command, argc, argv, options, physics_help))
		return 1;
	if (!ph->profile_name)
		return bad_usage(command, "--profile is needed");
	return 0;
}

int physics_main(int argc, char **argv)
{
	struct physics *ph = calloc(1, sizeof(*ph));
	u32 i;
	int r;

	if (!ph)
		return 1;
	ph->jobs = 300;
	ph->seed = 1;
	r = physics_arguments(argc, argv, ph);
	if (!r && load_profile(&ph->profile, ph->profile_name, &ph->values))
		r = 1;
	if (!r) {
		r = create_states(ph) ? physics_check(ph) : -complain("%s: out of memory", command);
		for (i = 0; i < STATE_NR; i++)
			ftl_destroy(ph->states[i]);
		profile_free(&ph->profile);
	}
	free(ph);
	return r;
}
