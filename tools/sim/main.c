// SPDX-License-Identifier: GPL-2.0
/* david-sim: the modelled disk without a kernel, fed from files. */
#include <stdio.h>

#include "../common/complain.h"
#include "arraytext.h"
#include "bench.h"
#include "blocks.h"
#include "compare.h"
#include "layout.h"
#include "live.h"
#include "load.h"
#include "options.h"
#include "recorded.h"
#include "physics.h"
#include "rebuild.h"
#include "profiles.h"

static const char usage[] =
"Usage: david-sim replay --profile P --trace T.csv --out MODELLED.csv [--array WORDS] [--json]\n"
"       david-sim replay --profile P --recorded FILE [--size S] [--device D] [--out FILE] [--json]\n"
"       david-sim validate --profile P --trace T.csv [--json]\n"
"       david-sim bench --profile P --job JOB ...; david-sim bench --help tells more\n"
"       david-sim blocks --profile P --requests FILE ...; david-sim blocks --help tells more\n"
"       david-sim physics --profile P ...; david-sim physics --help tells more\n"
"       david-sim layout --array WORDS ...; david-sim layout --help tells more\n"
"       david-sim rebuild --profile P ...; david-sim rebuild --help tells more\n"
"       david-sim live --profile P ...; david-sim live --help tells more\n"
"       david-sim profile list|show|import|check|options ...; david-sim profile --help tells more\n"
"\n"
"replay    Serve the trace's requests one at a time by the modelled drive, each as long after\n"
"          the end of the one before as the trace says, and write a line \"index,modelled_us\"\n"
"          for each, counted from 0.\n"
"validate  The same, held against the times in the trace: number, mean, demerit (root mean square\n"
"          distance of the two distributions: Ruemmler and Wilkes 1994) and root mean square\n"
"          error of single requests; for all requests, for reads and for writes. And the share of\n"
"          reads not following on the request before that are within a tenth of a revolution.\n"
"\n"
"replay --recorded  Send the requests that the kernel's trace points david_queue, david_wait and\n"
"          david_complete told of through the whole modelled disk, queue included, at their\n"
"          recorded times. The model's completions must be the kernel's to the nanosecond:\n"
"          otherwise the exit status is 1. --out gets a line \"id,arrival_ns,dispatch_ns,completion_ns\"\n"
"          for each, and behind it where the time of its last command in the drive went. The\n"
"          recording must begin before the disk is made.\n"
"\n"
"  --profile P         a profile or a file of DiskSim parameters (.params), or the name of\n"
"                      one in profiles/\n"
"  --trace T.csv       requests; the first line names the columns, of which op (R or W), lbn,\n"
"                      blocks (of 512 bytes), delay_us and, for validate, measured_us are used\n"
"  --recorded FILE     /sys/kernel/tracing/trace, or the output of trace-cmd report; - is standard\n"
"                      input\n"
"  --array WORDS       by an array of such drives, each with a queue, such as '5 members=8'; the\n"
"                      trace is the array's, and --json tells what members did. Words:\n"
"                      david-sim layout --help\n"
"  --fault N:TEXT      the array's member N fails like that: docs/MODEL.md; with media-error the\n"
"                      trace may only read. May be given many times\n"
"  --angles NS+NS...   how far each member's clock is ahead (default: as the array's seed says)\n"
"  --size S            the recorded disk's size, in sectors of 512 bytes (default: the profile's)\n"
"  --device MAJOR:MINOR  which of several recorded disks\n"
"  --faults TEXT       the recorded drive fails like that, as the message \"fault list\" says:\n"
"                      docs/MODEL.md; with --fault-shift N, its word shift=\n"
"  --out FILE          where replay writes; - is standard output\n"
"  --option NAME=VALUE replace a value of the profile; may be given many times\n"
"  --json              print the figures as JSON\n"
"  -h, --help          this text\n"
"\n"
"The exit status is 0 if all went well, 1 if a file or the command line is bad; 2 if no request\n"
"met a --fault, or md would not have served all, or a time is not to be believed.\n";

struct arguments {
	const char *profile, *trace, *out, *recorded, *device, *array, *faults, *angles;
	u64 fault_shift;
	u64 size;		/* sectors; 0: the profile's */
	struct option_list values, fault;
	bool json;
};

static const char command[] = "david-sim";

static void sim_help(void)
{
	fputs(usage, stdout);
}

static int main_arguments(int argc, char **argv, struct arguments *args)
{
	const struct sim_option options[] = {
		SIM_OPTION_PROFILE(&args->profile),
		SIM_OPTION_VALUES(&args->values),
		SIM_OPTION_SIZE(&args->size),
		SIM_OPTION_ARRAY(&args->array),
		SIM_OPTION_OUT(&args->out),
		SIM_OPTION_JSON(&args->json),
		{ .name = "trace", .kind = SIM_TEXT, .into = &args->trace },
		{ .name = "recorded", .kind = SIM_TEXT, .into = &args->recorded },
		{ .name = "device", .kind = SIM_TEXT, .into = &args->device },
		{ .name = "faults", .kind = SIM_TEXT, .into = &args->faults },
		{ .name = "fault", .kind = SIM_LIST, .into = &args->fault },
		{ .name = "angles", .kind = SIM_TEXT, .into = &args->angles },
		{ .name = "fault-shift", .kind = SIM_NUMBER, .into = &args->fault_shift,
		  .most = U64_MAX, .what = "a number of ns" },
		{ }
	};

	if (options_read_all(command, argc, argv, options, sim_help))
		return 1;
	if (!args->profile || !args->trace == !args->recorded)
		return bad_usage(command, "--profile and either --trace or --recorded are needed");
	return 0;
}

static int write_times(const struct trace *trace, const char *name)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "w") : stdout;
	size_t i;
	int bad;

	if (!file) {
		fprintf(stderr, "%s: %s\n", name, strerror(errno));
		return -1;
	}
	fprintf(file, "index,modelled_us\n");
	for (i = 0; i < trace->nr; i++) {
		u64 ns = trace->requests[i].modelled;

		fprintf(file, "%zu,%llu.%03u\n", i, (unsigned long long)(ns / 1000),
			(unsigned int)(ns % 1000));
	}
	bad = ferror(file);
	if (file != stdout)
		bad |= fclose(file);
	else
		bad |= fflush(file);
	if (bad)
		fprintf(stderr, "%s: %s\n", name, strerror(errno));
	return bad ? -1 : 0;
}

static int replay(const struct arguments *args, const struct profile *profile,
		  struct trace *trace, const struct members *members)
{
	FILE *to = args->out && strcmp(args->out, "-") ? stdout : stderr;
	double sum = 0;
	size_t i;

	if (write_times(trace, args->out))
		return 1;
	if (!args->json)
		return 0;
	for (i = 0; i < trace->nr; i++)
		sum += trace->requests[i].modelled / 1e6;
	fprintf(to, "{\"profile\": \"%s\", \"n\": %zu, \"modelled_mean_ms\": %.6f",
		profile->name, trace->nr, sum / trace->nr);
	if (args->array) {
		fprintf(to, ",\n  \"array\": \"%s\", ", args->array);
		array_print_json(to, members->figures, members->nr, members->ns);
	}
	fprintf(to, "}\n");
	return 0;
}

static double percent(double of, double mean)
{
	return mean ? 100 * of / mean : 0;
}

static void comparison_print_json(const struct profile *profile, const struct comparison *all,
				  const struct trace *trace, size_t nonsequential, double share)
{
	static const char *const names[] = { "reads", "writes", "pooled" };
	int i;

	printf("{\"profile\": \"%s\"", profile->name);
	for (i = 0; i < 3; i++) {
		const struct comparison *c = &all[i];

		printf(",\n \"%s\": {\"n\": %zu, \"mean_ms\": %.6f, \"modelled_mean_ms\": %.6f, ",
		       names[i], c->n, c->measured_mean, c->modelled_mean);
		printf("\"demerit_ms\": %.6f, \"demerit_percent\": %.4f, \"rms_ms\": %.6f, ",
		       c->demerit, percent(c->demerit, c->measured_mean), c->rms);
		printf("\"rms_percent\": %.4f}", percent(c->rms, c->measured_mean));
	}
	printf(",\n \"nonsequential_reads\": {\"n\": %zu, \"within_tenth_revolution\": %.6f}",
	       nonsequential, share);
	printf(",\n \"state_bytes\": %zu}\n", trace->state_bytes);
}

static void comparison_print_text(const struct profile *profile, const struct comparison *all,
				  size_t nonsequential, double share)
{
	static const char *const names[] = { "reads", "writes", "pooled" };
	int i;

	printf("%s\n\n%-8s%8s%12s%12s%12s%9s%12s%9s\n", profile->name, "", "n", "mean ms",
	       "model ms", "demerit ms", "%", "request rms", "%");
	for (i = 0; i < 3; i++) {
		const struct comparison *c = &all[i];

		printf("%-8s%8zu%12.3f%12.3f%12.3f%9.2f%12.3f%9.2f\n", names[i], c->n,
		       c->measured_mean, c->modelled_mean, c->demerit,
		       percent(c->demerit, c->measured_mean), c->rms,
		       percent(c->rms, c->measured_mean));
	}
	printf("\n%zu reads not following on the request before: ", nonsequential);
	printf("%.1f %% within a tenth of a revolution\n", 100 * share);
}

static int validate(const struct arguments *args, const struct profile *profile,
		    struct trace *trace)
{
	static const int ops[] = { DISK_READ, DISK_WRITE, DISK_OP_NR };
	struct comparison all[3];
	size_t nonsequential;
	double share;
	int i;

	for (i = 0; i < 3; i++)
		if (trace_compare(trace, ops[i], &all[i]))
			return 1;
	share = compare_share(trace, profile->revolution / 10, &nonsequential);
	if (args->json)
		comparison_print_json(profile, all, trace, nonsequential, share);
	else
		comparison_print_text(profile, all, nonsequential, share);
	return 0;
}

/* Replay what a kernel recorded, on a disk of the recorded size. */
static int replay_kernel(const struct arguments *args, struct profile *profile)
{
	if (load_scaled("david-sim replay", profile, args->size))
		return 1;
	return replay_recorded(profile, &(struct recorded_options) {
		.file = args->recorded, .device = args->device, .out = args->out,
		.faults = args->faults, .fault_shift = args->fault_shift, .json = args->json,
	});
}

/* What md does with what it reads before it writes, if that cannot be read, is not modelled. */
static int parse_members(const struct arguments *args, const struct array_setup *setup,
			 struct member_words *words)
{
	u32 i;

	for (i = 0; i < args->fault.nr; i++)
		if (members_parse_fault(command, words, setup, args->fault.texts[i]))
			return 1;
	if (members_have_media(words) && setup->failed)
		return bad_usage(command, "--fault: media-error, but not with failed members");
	if (members_have_media(words) && setup->layout.level == ARRAY_0)
		return bad_usage(command, "--fault: media-error, but RAID-0 has no copy");
	return args->angles ? members_parse_angles(command, words, setup, args->angles) : 0;
}

static int run_array(const struct arguments *args, const struct array_setup *setup,
		     struct member_words *words, struct trace *trace, struct members *members)
{
	size_t i;

	for (i = 0; i < trace->nr; i++)
		if (trace->requests[i].op != DISK_READ && members_have_media(words))
			return bad_usage(command,
					 "--fault: media-error, but request %zu is no read", i);
	return trace_run_array(trace, setup, words, args->angles, members) ? 1 : 0;
}

#define NOT_BELIEVABLE	2

static int judge_members(const struct members *members, const struct member_words *words)
{
	bool unmet = members_unmet(command, words);

	if (members->lost)
		complain("%s: %llu requests could not be read from anywhere", command,
			 (unsigned long long)members->lost);
	if (members->doubt)
		complain("%s: %s", command, members->doubt);
	return unmet || members->lost || members->doubt ? NOT_BELIEVABLE : 0;
}

static int run_trace(const struct arguments *args, const struct profile *profile,
		     bool replaying)
{
	struct member_words words = { };
	struct array_setup setup = { };
	struct members members = { };
	struct trace trace;
	int status = 0;
	u64 sectors;

	if (args->array && array_parse_of(&setup, args->array, profile))
		return 1;
	setup.profile = profile;
	members.nr = setup.layout.members;
	if (parse_members(args, &setup, &words)) {
		members_free(&words);
		return 1;
	}
	sectors = args->array ? setup.layout.sectors : profile->sectors;
	if (trace_load(&trace, args->trace, sectors)) {
		members_free(&words);
		return 1;
	}
	if (!replaying && !trace.measured) {
		fprintf(stderr, "%s: no column \"measured_us\" to compare with\n", args->trace);
		status = 1;
	} else if (args->array) {
		status = run_array(args, &setup, &words, &trace, &members);
	} else {
		status = trace_run(&trace, profile) ? 1 : 0;
	}
	if (!status)
		status = replaying ? replay(args, profile, &trace, &members) :
				     validate(args, profile, &trace);
	if (!status && args->array)
		status = judge_members(&members, &words);
	members_free(&words);
	trace_free(&trace);
	return status;
}

int main(int argc, char **argv)
{
	struct arguments args = { };
	struct profile profile = { };
	bool replaying;
	int status;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		sim_help();
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "profile"))
		return profiles_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "bench"))
		return bench_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "blocks"))
		return blocks_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "layout"))
		return layout_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "live"))
		return live_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "rebuild"))
		return rebuild_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "physics"))
		return physics_main(argc - 1, argv + 1);
	if (argc < 2 || (strcmp(argv[1], "replay") && strcmp(argv[1], "validate")))
		return bad_usage(command, "the first argument must be replay or validate");
	replaying = !strcmp(argv[1], "replay");
	status = main_arguments(argc - 1, argv + 1, &args);
	if (status)
		return status;
	if (args.recorded && !replaying)
		return bad_usage(command, "--recorded is for replay");
	if (!args.recorded && (args.size || args.device || args.faults || args.fault_shift))
		return bad_usage(command,
				 "--size, --device, --faults and --fault-shift go with --recorded");
	if (!args.array && (args.fault.nr || args.angles))
		return bad_usage(command, "--fault and --angles go with --array");
	if (args.array && (args.recorded || !replaying))
		return bad_usage(command, "--array is for replay --trace");
	if (!args.recorded && replaying != !!args.out)
		return bad_usage(command, "%s",
				 replaying ? "replay needs --out" : "validate takes no --out");
	if (load_profile(&profile, args.profile, &args.values))
		return 1;
	if (args.recorded) {
		status = replay_kernel(&args, &profile);
		profile_free(&profile);
		return status;
	}
	status = run_trace(&args, &profile, replaying);
	profile_free(&profile);
	return status;
}
