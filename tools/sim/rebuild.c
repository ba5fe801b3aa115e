// SPDX-License-Identifier: GPL-2.0
/* david-sim rebuild: how long md takes to fill new drives of an array that nobody else uses. */

#include "../../dm-david/portable/portable-alloc.h"
#include "../../model/array/array-rebuild.h"
#include "../common/complain.h"
#include "../common/number.h"
#include "arraytext.h"
#include "load.h"
#include "memberwords.h"
#include "options.h"
#include "rebuild.h"

static const char usage[] =
"Usage: david-sim rebuild --profile P --array 'LEVEL members=N failed=N ...' [--size S] [--json]\n"
"                         [--span S] [--hz N] [--after-tick NS] [--angles NS+NS...]\n"
"                         [--speed-max N] [--fault N:TEXT]...\n"
"\n"
"How long Linux's md takes to fill new drives in place of the failed ones, while nobody uses the\n"
"array: RAID-1, 4, 5, 6 and 10. Each 4 KiB is modelled, so all of a large drive takes long: --span.\n"
"\n"
"  --profile P         a profile or a file of DiskSim parameters (.params), or the name of\n"
"                      one in profiles/\n"
"  --array WORDS       the array; failed= says which members are filled\n"
"  --size S            sectors of 512 bytes of each disk (default: the profile's)\n"
"  --span S            sectors of each member that are filled, from the first on (default: all)\n"
"  --hz N              ticks of the kernel a second, 100 to 1000 (default 250, Debian's)\n"
"  --after-tick NS     how long after a tick it begins (default 0)\n"
"  --angles NS+NS...   how far each member's clock is ahead then (default: as the array's seed\n"
"                      says); a clock tells where the platters are\n"
"  --speed-max N       KiB a second, md's speed_limit_max (default 200000)\n"
"  --fault N:TEXT      member N fails like that: docs/MODEL.md; may be given many times\n"
"  --option NAME=VALUE replace a value of the profile; may be given many times\n"
"  --json              print the figures as JSON\n"
"  -h, --help          this text\n"
"\n"
"The exit status is 2 if something could not be rebuilt, or no request met a --fault.\n"
"\n"
"An array's words:\n";

static const char command[] = "david-sim rebuild";

#define NOT_BELIEVABLE	2

struct arguments {
	const char *profile, *array, *angles;
	struct option_list values, faults;
	u64 size, span, hz, after_tick, speed_max;
	bool json;
	struct array_setup setup;
	struct member_words members;
};

static void rebuild_help(void)
{
	printf("%s%s", usage, array_words);
}

static int rebuild_arguments(int argc, char **argv, struct arguments *args)
{
	const struct sim_option options[] = {
		SIM_OPTION_PROFILE(&args->profile),
		SIM_OPTION_VALUES(&args->values),
		SIM_OPTION_ARRAY(&args->array),
		SIM_OPTION_SIZE(&args->size),
		SIM_OPTION_JSON(&args->json),
		{ .name = "span", .kind = SIM_NUMBER, .into = &args->span, .least = 8,
		  .most = U64_MAX, .what = "a number of sectors of 512 bytes, 8 or more" },
		{ .name = "hz", .kind = SIM_NUMBER, .into = &args->hz, .least = 100, .most = 1000,
		  .what = "ticks a second, 100 to 1000" },
		{ .name = "after-tick", .kind = SIM_NUMBER, .into = &args->after_tick, .least = 0,
		  .most = 9999999, .what = "ns, less than a tick" },
		{ .name = "angles", .kind = SIM_TEXT, .into = &args->angles },
		{ .name = "speed-max", .kind = SIM_NUMBER, .into = &args->speed_max, .least = 1,
		  .most = U32_MAX, .what = "KiB a second" },
		{ .name = "fault", .kind = SIM_LIST, .into = &args->faults },
		{ }
	};

	if (options_read_all(command, argc, argv, options, rebuild_help))
		return 1;
	if (!args->profile || !args->array)
		return bad_usage(command, "--profile and --array are needed");
	return 0;
}

static void print_rebuild(const struct arguments *args, const struct array *array,
			  const struct array_rebuilt *found)
{
	u32 members = args->setup.layout.members, i;
	struct array_member_figures figures[ARRAY_MEMBERS];
	double seconds = found->ns / 1e9, bytes = (found->blocks - found->lost) * 4096.0;

	for (i = 0; i < members; i++)
		array_figures(array, i, &figures[i]);
	if (!args->json) {
		printf("%.6f s, %.3f MB/s of each new drive\n", seconds, bytes / 1e6 / seconds);
		printf("Of %llu blocks of 4 KiB %llu could not be rebuilt. ",
		       (unsigned long long)found->blocks, (unsigned long long)found->lost);
		printf("%llu reads of members failed, and %llu blocks were written anew.\n",
		       (unsigned long long)found->bad_reads, (unsigned long long)found->mended);
		array_print_text(stdout, figures, members);
		return;
	}
	printf("{\"array\": \"%s\", \"seconds\": %.9f, \"mb_s\": %.5f, \"blocks\": %llu, ",
	       args->array, seconds, bytes / 1e6 / seconds, (unsigned long long)found->blocks);
	printf("\"lost\": %llu, \"bad_reads\": %llu, \"mended\": %llu, \"stripes\": %u,\n  ",
	       (unsigned long long)found->lost, (unsigned long long)found->bad_reads,
	       (unsigned long long)found->mended, found->stripes);
	array_print_json(stdout, figures, members, found->ns);
	printf("}\n");
}

static int rebuild(struct arguments *args, const struct array_rebuild *how)
{
	struct array *array = array_create(&args->setup, GFP_KERNEL);
	struct array_rebuilt found;
	bool unmet;
	int r;

	if (!array)
		return bad_usage(command, "out of memory");
	r = array_rebuild(array, how, &found);
	if (r) {
		r = bad_usage(command, "out of memory");
	} else {
		print_rebuild(args, array, &found);
		unmet = members_unmet(command, &args->members);
		r = found.lost || unmet ? NOT_BELIEVABLE : 0;
	}
	array_destroy(array);
	return r;
}

static int prepare_rebuild(struct arguments *args, const struct profile *profile,
			   struct array_rebuild *how)
{
	const char *wrong;
	u32 i;

	if (array_parse_of(&args->setup, args->array, profile))
		return 1;
	how->hz = args->hz;
	how->speed_max = args->speed_max;
	how->after_tick = args->after_tick;
	how->of_member = args->members.faults;
	if (args->angles &&
	    members_parse_angles(command, &args->members, &args->setup, args->angles))
		return 1;
	how->angles = args->angles ? args->members.angles : NULL;
	if (how->after_tick >= 1000000000 / how->hz)
		return bad_usage(command, "--after-tick: a tick takes %llu ns, and it is less",
				 1000000000 / (unsigned long long)how->hz);
	how->sectors = args->span ?: args->setup.layout.member_sectors & ~7ULL;
	how->superblock = args->setup.layout.superblock;
	wrong = array_rebuild_check(&args->setup, how);
	if (wrong)
		return bad_usage(command, "%s", wrong);
	for (i = 0; i < args->faults.nr; i++)
		if (members_parse_fault(command, &args->members, &args->setup,
					args->faults.texts[i]))
			return 1;
	if (!layout_parities(&args->setup.layout) && members_have_media(&args->members))
		return bad_usage(command, "--fault: of RAID-1 and 10 only slow and firmware-stall");
	return 0;
}

int rebuild_main(int argc, char **argv)
{
	struct arguments args = { .hz = 250, .speed_max = 200000 };
	struct array_rebuild how = { };
	struct profile profile = { };
	int r = rebuild_arguments(argc, argv, &args);

	if (!r && load_profile(&profile, args.profile, &args.values))
		r = 1;
	if (!r)
		r = load_scaled(command, &profile, args.size);
	if (!r)
		r = prepare_rebuild(&args, &profile, &how) ?: rebuild(&args, &how);
	profile_free(&profile);
	members_free(&args.members);
	return r;
}
