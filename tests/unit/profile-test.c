// SPDX-License-Identifier: GPL-2.0
/* Profiles: text to struct and back without loss, and exact complaints about bad text. */
#include <kunit/test.h>

#include "../../model/profile/profile-options.h"
#include "random.h"

#ifdef __KERNEL__
#define ROUNDS	100
#else
#define ROUNDS	2000
#endif

#define TEXT	(16 << 10)

struct text {
	char *at;
	size_t len;
};

__printf(2, 3)
static void add(struct text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text->len += vsnprintf(text->at + text->len, TEXT - text->len, format, args);
	va_end(args);
}

static u64 random_within(struct rnd *rnd, s64 least, s64 most)
{
	u64 span = most - least;

	return least + (span == U64_MAX ? rnd_next(rnd) :
			(rnd_next(rnd) >> rnd_below(rnd, 64)) % (span + 1));
}

static const char *smallest_unit(enum option_kind kind)
{
	switch (kind) {
	case OPTION_TIME:
		return "ns";
	case OPTION_FINE_TIME:
		return "ps";
	case OPTION_SECTORS:
		return "sectors";
	default:
		return "";
	}
}

static void add_value(struct text *text, const struct profile_option *option, struct rnd *rnd)
{
	s64 value = random_within(rnd, option->least, option->most);
	u32 n = 0;

	switch (option->kind) {
	case OPTION_FLAG:
		add(text, "%s", value ? "yes" : "no");
		return;
	case OPTION_CHOICE:
		while (option->choices[n])
			n++;
		do {
			value = rnd_below(rnd, n);
		} while (!option->choices[value][0]);
		add(text, "%s", option->choices[value]);
		return;
	case OPTION_SPEED:
	case OPTION_SHARE:
		add(text, "%lld.%03lld", (long long)div64_u64(value, 1000),
		    (long long)(value - div64_u64(value, 1000) * 1000));
		return;
	default:
		add(text, "%lld%s%s", (long long)value, rnd_below(rnd, 2) ? " " : "",
		    smallest_unit(option->kind));
	}
}

static bool fixed_by_the_test(const char *name)
{
	static const char *const names[] = {
		"name", "capacity", "heads", "cylinders", "logical_block", "physical_block",
		"segments", "segment_sectors", "write_segments", "readahead_min", "readahead_max",
		"readahead_stream",
		"seek_short_base", "seek_short_factor", "seek_long_base", "seek_long_factor",
		"max_sectors", "kind", "host", "scheduler", "hw_queues", "media_cache", "band",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return strstr(name, "_zones") || strstr(name, "zone_") == name;
}

/* Some of what goes together. */
static const char *random_host(struct rnd *rnd)
{
	static const char *const hosts[] = {
		"host=linux-2.6.23", "scheduler=clook", "scheduler=deadline;host=linux-2.6.23",
		"host=blk-mq", "host=blk-mq;scheduler=none;hw_queues=4",
		"hw_queues=7;scheduler=mq-deadline;host=blk-mq",
	};

	return hosts[rnd_below(rnd, ARRAY_SIZE(hosts))];
}

static const char *separator(struct rnd *rnd)
{
	static const char *const separators[] = {
		"\n", ";", " ;\n\n", " # why = not; so\n", "\r\n"
	};

	return separators[rnd_below(rnd, ARRAY_SIZE(separators))];
}

/* A profile that is right, with values from all of their ranges, in any order of lines. */
static void random_text(struct text *text, struct rnd *rnd)
{
	u32 zones = 1 + rnd_below(rnd, 20), seeks = rnd_below(rnd, 20), slips = rnd_below(rnd, 30);
	u32 heads = 1 + rnd_below(rnd, 8), i, first = 0, distance = 0;
	unsigned int o;
	u64 sum = 0;

	text->len = 0;
	add(text, "name = random-%u%s", rnd_below(rnd, 1000), separator(rnd));
	add(text, "\t heads=%u%s", heads, separator(rnd));
	add(text, "%s%s", random_host(rnd), separator(rnd));
	for (o = 0; o < profile_nr_options; o++) {
		const struct profile_option *option = &profile_options[o];

		if (option->kind == OPTION_ITEMS || !profile_has(option, DRIVE_DISK) ||
		    fixed_by_the_test(option->name) ||
		    (!option->required && rnd_below(rnd, 3) == 0))
			continue;
		add(text, "%s = ", option->name);
		add_value(text, option, rnd);
		add(text, "%s", separator(rnd));
	}
	for (i = 0; i < zones; i++) {
		u32 cylinders = 1 + rnd_below(rnd, 1000), track = 1 + rnd_below(rnd, 2000);
		u64 sectors = 1 + rnd_next(rnd) % ((u64)cylinders * heads * track);

		first += rnd_below(rnd, 3);
		add(text, "zone = %u, %u,%u, %llu", first, first + cylinders - 1, track,
		    (unsigned long long)sectors);
		if (rnd_below(rnd, 2))
			add(text, ",%u,%u,%u", rnd_below(rnd, track), rnd_below(rnd, track),
			    rnd_below(rnd, track));
		add(text, "%s", separator(rnd));
		first += cylinders;
		sum += sectors;
	}
	add(text, "cylinders = %u%s", first, separator(rnd));
	add(text, "capacity = %llu sectors%s", (unsigned long long)sum, separator(rnd));
	for (i = 0; i < seeks; i++) {
		distance += 1 + rnd_below(rnd, 1000);
		add(text, "seek = %u, %u.%06u ms%s", distance, rnd_below(rnd, 30),
		    rnd_below(rnd, 1000000), separator(rnd));
	}
	if (!seeks)
		add(text, "seek_short_base=%uus%sseek_long_factor= 1.5 ns%s",
		    1 + rnd_below(rnd, 3000), separator(rnd), separator(rnd));
	for (i = 0; i < slips; i++)
		add(text, "slip = %u,0%s", rnd_below(rnd, zones), separator(rnd));
	add(text, "segments=8;segment_sectors=1MiB;write_segments=8\n");
}

static void check_same(struct kunit *test, const struct profile *a, const struct profile *b)
{
	static struct profile copy;	/* the kernel's stack is small */

	KUNIT_ASSERT_EQ(test, memcmp(a->zones, b->zones, a->nr_zones * sizeof(*a->zones)), 0);
	KUNIT_ASSERT_EQ(test, memcmp(a->seeks, b->seeks, a->nr_seeks * sizeof(*a->seeks)), 0);
	KUNIT_ASSERT_EQ(test, memcmp(a->slips, b->slips, a->nr_slips * sizeof(*a->slips)), 0);
	KUNIT_ASSERT_EQ(test, memcmp(a->remaps, b->remaps, a->nr_remaps * sizeof(*a->remaps)), 0);
	memcpy(&copy, b, sizeof(copy));
	copy.zones = a->zones;
	copy.seeks = a->seeks;
	copy.slips = a->slips;
	copy.remaps = a->remaps;
	KUNIT_ASSERT_EQ(test, memcmp(a, &copy, sizeof(copy)), 0);
}

static void printed_and_parsed_it_is_the_same(struct kunit *test)
{
	char *first = kvzalloc(TEXT, GFP_KERNEL), *second = kvzalloc(TEXT, GFP_KERNEL);
	struct text text = { .at = kvzalloc(TEXT, GFP_KERNEL) };
	struct profile *a = kvzalloc(sizeof(*a), GFP_KERNEL);
	struct profile *b = kvzalloc(sizeof(*b), GFP_KERNEL);
	struct profile_error error;
	struct rnd rnd = { 7 };
	u32 round, i;
	size_t len;

	KUNIT_ASSERT_NOT_NULL(test, first);
	KUNIT_ASSERT_NOT_NULL(test, second);
	KUNIT_ASSERT_NOT_NULL(test, text.at);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, b);
	for (round = 0; round < ROUNDS; round++) {
		random_text(&text, &rnd);
		KUNIT_ASSERT_EQ_MSG(test, profile_parse(a, text.at, text.len, &error), 0,
				    "round %u, line %u: %s", round, error.line, error.text);
		len = profile_print(a, first, TEXT);
		KUNIT_ASSERT_EQ(test, len, strlen(first));
		for (i = 0; i < len; i++)
			KUNIT_ASSERT_TRUE(test, first[i] > ' ' && first[i] <= '~');
		KUNIT_ASSERT_EQ(test, profile_print(a, NULL, 0), len);
		KUNIT_ASSERT_EQ(test, profile_print(a, second, 10), len);
		KUNIT_ASSERT_EQ(test, memcmp(second, first, 9), 0);
		KUNIT_ASSERT_EQ(test, second[9], 0);
		KUNIT_ASSERT_EQ_MSG(test, profile_parse(b, first, len, &error), 0,
				    "round %u, item %u: %s", round, error.line, error.text);
		profile_print(b, second, TEXT);
		KUNIT_ASSERT_STREQ(test, first, second);
		check_same(test, a, b);
		profile_free(a);
		profile_free(b);
	}
	kvfree(first);
	kvfree(second);
	kvfree(text.at);
	kvfree(a);
	kvfree(b);
}

/* Twelve lines; the cases below leave some out and add others. */
static const char good[] =
	"name = good\n"
	"capacity = 30000 sectors\n"
	"rpm = 7200\n"
	"heads = 2\n"
	"cylinders = 200\n"
	"zone = 0,99, 100, 20000\n"
	"zone = 100,199, 50, 10000\n"
	"seek = 1, 1 ms\n"
	"seek = 199, 0.02 s\n"
	"segments = 4\n"
	"segment_sectors = 128 KiB\n"
	"write_segments = 4\n";

struct bad_case {
	const char *without;	/* begin of the line to be left out, or NULL */
	const char *with;
	u32 line;
	const char *error;
};

static const struct bad_case bad_cases[] = {
	{ NULL, "rmp = 7200", 13, "there is no parameter 'rmp'" },
	{ NULL, "\x1b[2Jevil = 1", 13, "there is no parameter '?[2Jevil'" },
	{ NULL, "what", 13, "'what' is not of the form name = value" },
	{ NULL, "# =\n = 3", 14, "there is no parameter ''" },
	{ NULL, "heads = 3", 13, "heads is given twice, first in line 4" },
	{ NULL, "overhead =", 13, "overhead has no value" },
	{ "heads", "", 13, "heads is missing" },
	{ "zone", "", 13, "zone is missing" },
	{ "name", "name = a b", 13,
	  "name 'a b' has other characters than letters, digits, '.', '_', '-'" },
	{ "name", "name = 01234567890123456789012345678901", 13,
	  "name is longer than 31 characters" },
	{ "rpm", "rpm = fast", 13, "rpm is 'fast', not a number" },
	{ "rpm", "rpm = 7200.0001", 13, "rpm has more decimals than it is kept with" },
	{ "rpm", "rpm = 10", 13, "rpm is 10rpm, less than 60rpm" },
	{ "rpm", "rpm = -7200", 13, "rpm is -7200rpm, less than 60rpm" },
	{ "rpm", "rpm = 7200 Hz", 13, "rpm has the unit 'Hz'; it takes rpm" },
	{ "rpm", "rpm = 7200.2.1", 13, "rpm has the unit '.1'; it takes rpm" },
	{ NULL, "head_switch = 1", 13, "head_switch has no unit; it takes s, ms, us, ns" },
	{ NULL, "head_switch = 1 min", 13,
	  "head_switch has the unit 'min'; it takes s, ms, us, ns" },
	{ NULL, "head_switch = 0.5 ns", 13,
	  "head_switch has more decimals than it is kept with" },
	{ NULL, "head_switch = 5 s", 13, "head_switch is 5s, more than 4s" },
	{ NULL, "head_switch = 1234567890123456789 ns", 13,
	  "head_switch has more than 18 digits" },
	{ NULL, "head_switch = 99999999999999999 s", 13, "head_switch is too large" },
	{ NULL, "write_settle = -0.2 s", 13, "write_settle is -200ms, less than -100ms" },
	{ NULL, "ncq_depth = 4 commands", 13,
	  "ncq_depth has 'commands' after the number; it takes no unit" },
	{ NULL, "serpentine = 1", 13, "serpentine is '1', neither yes nor no" },
	{ NULL, "scheduler = cfq", 13,
	  "scheduler is 'cfq', none of fifo, deadline, clook, none, mq-deadline" },
	{ NULL, "scheduler = bfq", 13,
	  "scheduler bfq goes by processes and their past, which the model does not have" },
	{ NULL, "scheduler = none", 13, "this scheduler needs host = blk-mq" },
	{ NULL, "host = blk-mq;scheduler = fifo", 13,
	  "blk-mq has the schedulers none and mq-deadline" },
	{ NULL, "sparing = ", 13, "sparing has no value" },
	{ NULL, "logical_block = 1536 B", 13,
	  "logical_block is 1536 bytes, not a power of two" },
	{ NULL, "logical_block = 4096 B;physical_block = 512 B", 13,
	  "physical_block is 512 bytes, not a power of two from logical_block (4096) on" },
	{ "capacity", "capacity = 30001 sectors", 13,
	  "capacity is 30001 sectors, but the zones hold 30000" },
	{ "zone = 100", "zone = 100,199,50", 13, "zone has no sectors" },
	{ "zone = 100", "zone = 100,199,50,10000,0,0,0,0,0,0", 13,
	  "zone has more than 9 values" },
	{ "zone = 100", "zone = 100,199,50,10000,0,x", 13, "zone: cyl_skew is 'x', not a number" },
	{ "zone = 100", "zone = 100,199,0,10000", 13,
	  "zone: sectors_per_track is 0, less than 1" },
	{ "zone = 100", "zone = 99,199,50,10000", 13, "zone 1 overlaps zone 0" },
	{ "zone = 0", "zone = 0,99,100,20000", 13, "zone 1 must come before zone 0" },
	{ "zone = 100", "zone = 199,100,50,10000", 13, "zone 1 ends before it begins" },
	{ "zone = 100", "zone = 100,200,50,10000", 13,
	  "zone 1 ends with cylinder 200, but there are only 200" },
	{ "zone = 100", "zone = 100,199,50,10001", 13,
	  "zone 1 cannot hold 10001 sectors: its tracks have 10000, the first 0 empty" },
	{ "seek = 1,", "seek = 199, 1 ms", 13,
	  "seek of 199 cylinders follows one of 199; distances must grow" },
	{ "seek = 1,", "seek = 0, 1 ms", 13, "seek: cylinders is 0, less than 1" },
	{ "seek = 1,", "seek = 1", 13, "seek has no time" },
	{ NULL, "seek_long_base = 1 ms", 8,
	  "both items 'seek' and the curve seek_short_base ...; give one" },
	{ NULL, "slip = 2,0", 13, "slip of zone 2, but zones are 0 to 1" },
	{ NULL, "slip = 0,19999\nslip=1,10000", 14,
	  "slip of 10000, but zone 1 has only 10000 sectors" },
	{ NULL, "sparing = tracks\nslip=1,200", 14,
	  "slip of 200, but zone 1 has only 200 tracks" },
	{ NULL, "remap = 0,1,20000", 13,
	  "remap of 1 to 20000, but zone 0 has only 20000 sectors" },
	{ "segments", "write_cache = back", 13,
	  "write_cache needs a cache, but there are no segments" },
	{ "segments", "readahead = track", 13,
	  "readahead needs a cache, but there are no segments" },
	{ "segment_", "", 10, "segments have no size; give segment_sectors" },
	{ "write_", "write_segments = 5", 13,
	  "write_segments is 5, but there are only 4 segments" },
	{ NULL, "readahead_min = 1 KiB", 13, "readahead_min is more than readahead_max" },
	{ NULL, "readahead_stream = 1 KiB", 13, "readahead_stream is more than readahead_max" },
	{ NULL, "zone_reset_time = 1 ms", 13,
	  "this is of a drive with zones; give zone_size" },
	{ NULL, "host = blk-mq;zone_size = 48 sectors", 13,
	  "zone_size is no power of two, or less than physical_block" },
	{ NULL, "host = blk-mq;zone_size = 32 sectors", 13,
	  "capacity is no multiple of zone_size" },
	{ NULL, "zone_size = 16 sectors", 13,
	  "Linux 2.6.23 knows no zones; give host = blk-mq, or nvme" },
	{ NULL, "host = blk-mq;zone_size = 16 sectors\nzone_capacity = 17 sectors", 14,
	  "zone_capacity is more than zone_size, or no multiple of physical_block" },
	{ NULL, "host = blk-mq;zone_size = 16 sectors\nconventional_zones = 1875", 14,
	  "conventional_zones leaves no zone that is written in order" },
	{ NULL, "host = blk-mq;zone_size = 16 sectors\nmax_open_zones = 3\nmax_active_zones = 2",
	  14, "max_open_zones is more than max_active_zones" },
	{ NULL, "host = blk-mq;zone_size = 16 sectors\nmedia_cache = 800 sectors;band = 80 sectors",
	  14, "media_cache is of a drive that manages its shingles itself; zones are the host's" },
	{ NULL, "zone_append_limit = 8 sectors", 13,
	  "zone_append_limit is no parameter of this kind of drive" },
};

static void add_good(struct text *text, const char *without)
{
	const char *line, *end;

	for (line = good; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!without || strncmp(line, without, strlen(without)))
			add(text, "%.*s", (int)(end - line), line);
		add(text, "\n");
	}
}

static void bad_text_is_refused_with_line_and_reason(struct kunit *test)
{
	struct text text = { .at = kvzalloc(TEXT, GFP_KERNEL) };
	static struct profile profile;	/* the kernel's stack is small */
	struct profile_error error;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, text.at);
	add_good(&text, NULL);
	KUNIT_ASSERT_EQ_MSG(test, profile_parse(&profile, text.at, text.len, &error), 0, "%s",
			    error.text);
	profile_free(&profile);
	for (i = 0; i < ARRAY_SIZE(bad_cases); i++) {
		text.len = 0;
		add_good(&text, bad_cases[i].without);
		add(&text, "%s", bad_cases[i].with);
		KUNIT_EXPECT_EQ_MSG(test, profile_parse(&profile, text.at, text.len, &error),
				    -EINVAL, "case %u", i);
		KUNIT_EXPECT_STREQ(test, error.text, bad_cases[i].error);
		KUNIT_EXPECT_EQ_MSG(test, error.line, bad_cases[i].line, "%s", error.text);
	}
	kvfree(text.at);
}

static void in_one_word_errors_count_items(struct kunit *test)
{
	static const char word[] = "name=x;heads=2;rpm=7200;rpm=5400";
	static struct profile profile;	/* the kernel's stack is small */
	struct profile_error error;

	KUNIT_EXPECT_EQ(test, profile_parse(&profile, word, strlen(word), &error), -EINVAL);
	KUNIT_EXPECT_EQ(test, error.line, 4);
	KUNIT_EXPECT_STREQ(test, error.text, "rpm is given twice, first in item 3");
}

/* Whatever is cut off or changed: a profile, or a complaint; the sanitizers look on. */
static void damaged_text_does_no_harm(struct kunit *test)
{
	struct text text = { .at = kvzalloc(TEXT, GFP_KERNEL) };
	static struct profile profile;	/* the kernel's stack is small */
	struct profile_error error;
	struct rnd rnd = { 8 };
	u32 round, i, bad = 0;
	char *copy;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, text.at);
	for (round = 0; round < ROUNDS; round++) {
		random_text(&text, &rnd);
		for (i = rnd_below(&rnd, 4); i; i--)
			text.at[rnd_below(&rnd, text.len)] = rnd_next(&rnd);
		if (rnd_below(&rnd, 2))
			text.len = rnd_below(&rnd, text.len);
		copy = kmalloc(text.len + 1, GFP_KERNEL);	/* for reads past the end */
		KUNIT_ASSERT_NOT_NULL(test, copy);
		memcpy(copy, text.at, text.len);
		ret = profile_parse(&profile, copy, text.len, &error);
		kfree(copy);
		if (ret) {
			KUNIT_ASSERT_EQ(test, ret, -EINVAL);
			KUNIT_ASSERT_NE(test, error.line, 0);
			KUNIT_ASSERT_NE(test, error.text[0], 0);
			bad++;
		} else {
			profile_free(&profile);
		}
	}
	KUNIT_EXPECT_GE(test, bad, ROUNDS / 2);
	kvfree(text.at);
}

static void hostile_counts_are_refused(struct kunit *test)
{
	static const char slip[] = "slip=0,0;";
	const u32 n = PROFILE_MAX_SLIPS + 1;
	char *text = kvzalloc(n * strlen(slip), GFP_KERNEL);
	static struct profile profile;	/* the kernel's stack is small */
	struct profile_error error;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	for (i = 0; i < n; i++)
		memcpy(text + i * strlen(slip), slip, strlen(slip));
	KUNIT_EXPECT_EQ(test, profile_parse(&profile, text, n * strlen(slip), &error), -EINVAL);
	KUNIT_EXPECT_STREQ(test, error.text, "there are more than 65536 items 'slip'");
	KUNIT_EXPECT_EQ(test, error.line, n);
	kvfree(text);
}

static u64 total(const struct profile *profile)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < profile->nr_zones; i++)
		sum += profile->zones[i].sectors;
	return sum;
}

static const char flash[] =
	"name = flash\n"
	"kind = ssd\n"
	"capacity = 1 GiB\n"
	"gc_unit = 1 MiB\n"
	"write_buffer = 1 MiB\n";

#define ZONED	"host = nvme;power_loss_protection = yes;zone_size = 4 MiB;"

struct flash_case {
	const char *with;
	u32 line;
	const char *error;	/* NULL: it is sound */
};

static const struct flash_case flash_cases[] = {
	{ "link_rate = 2.5 GB/s", 6, NULL },
	{ "precondition = random", 6, NULL },
	{ "rpm = 7200", 6, "rpm is no parameter of this kind of drive" },
	{ "zone = 0,1,2,3", 6, "zone is no parameter of this kind of drive" },
	{ "units = 3", 6, "units is no parameter of this kind of drive" },
	{ "link_rate = 300", 6, "link_rate has no unit; it takes GB/s, MB/s, kB/s, B/s" },
	{ "program_unit = 12 KiB", 6,
	  "program_unit and flash_page are powers of two, the first no less" },
	{ "raw_capacity = 1 MiB", 6, "raw_capacity is less than capacity" },
	{ "raw_capacity = 64 GiB", 4, "gc_unit divides raw_capacity into more than 16384 units" },
	{ "sample = 3", 6, "sample is no power of two" },
	{ "channels = 64", 6, "there are more channels than dies" },
	{ "program_unit = 2048 KiB", 5, "write_buffer is less than program_unit" },
	{ "write_cache = through", 6, "write_cache of an SSD is off or back" },
	{ ZONED, 6, NULL },
	{ ZONED "zone_capacity = 3 MiB;conventional_zones = 2;zone_append_limit = 64 KiB;"
	  "zone_dies = 8;"
	  "max_open_zones = 3;max_active_zones = 4;zone_reset_full_time = 1 ms", 6, NULL },
	{ "host = nvme;zone_size = 4 MiB", 6,
	  "an SSD with zones has power_loss_protection: less than a program_unit has to wait" },
	{ ZONED "slc_cache = 1 MiB", 6,
	  "an SSD with zones has neither slc_cache nor map_cache" },
	{ ZONED "precondition = random", 6,
	  "zones are not written at random: precondition is fresh or sequential" },
	{ ZONED "zone_dies = 17", 6, "zone_dies is more than dies" },
	{ ZONED "zone_buffer = 32 KiB", 6, "zone_buffer is less than program_unit" },
	{ ZONED "zone_append_limit = 4 MiB", 6,
	  "zone_append_limit is more than max_sectors: an append is one command" },
	{ ZONED "zone_capacity = 5 MiB", 6,
	  "zone_capacity is more than zone_size, or no multiple of physical_block" },
};

static void flash_has_parameters_of_its_own(struct kunit *test)
{
	struct profile_error error;
	static struct profile profile, again;	/* the kernel's stack is small */
	char text[300], *word = kvzalloc(TEXT, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, word);
	for (i = 0; i < ARRAY_SIZE(flash_cases); i++) {
		const struct flash_case *c = &flash_cases[i];

		snprintf(text, sizeof(text), "%s%s\n", flash, c->with);
		if (profile_parse(&profile, text, strlen(text), &error)) {
			KUNIT_EXPECT_STREQ(test, error.text, c->error ?: "sound");
			KUNIT_EXPECT_EQ(test, error.line, c->line);
			continue;
		}
		KUNIT_EXPECT_TRUE(test, !c->error);
		profile_print(&profile, word, TEXT);
		KUNIT_ASSERT_EQ(test, profile_parse(&again, word, strlen(word), &error), 0);
		check_same(test, &profile, &again);
		profile_free(&again);
		KUNIT_EXPECT_EQ(test, profile_scale(&profile, 1ULL << 31), 0);
		KUNIT_EXPECT_EQ(test, profile.sectors, 1ULL << 31);
		profile_print(&profile, word, TEXT);
		KUNIT_EXPECT_EQ_MSG(test, profile_parse(&again, word, strlen(word), &error), 0,
				    "%s", error.text);
		profile_free(&again);
		profile_free(&profile);
	}
	kvfree(word);
}

static void another_size_is_a_sound_profile(struct kunit *test)
{
	struct text text = { .at = kvzalloc(TEXT, GFP_KERNEL) };
	char *word = kvzalloc(TEXT, GFP_KERNEL);
	static struct profile profile, again;	/* the kernel's stack is small */
	struct profile_error error;
	struct rnd rnd = { 9 };
	u32 round, scaled = 0;

	KUNIT_ASSERT_NOT_NULL(test, text.at);
	KUNIT_ASSERT_NOT_NULL(test, word);
	for (round = 0; round < ROUNDS; round++) {
		u64 sectors = 1 + (rnd_next(&rnd) >> (17 + rnd_below(&rnd, 46)));

		random_text(&text, &rnd);
		KUNIT_ASSERT_EQ(test, profile_parse(&profile, text.at, text.len, &error), 0);
		if (!profile_scale(&profile, sectors)) {
			scaled++;
			KUNIT_ASSERT_EQ(test, profile.sectors, sectors);
			KUNIT_ASSERT_EQ(test, total(&profile), sectors);
			profile_print(&profile, word, TEXT);
			KUNIT_ASSERT_EQ_MSG(test,
					    profile_parse(&again, word, strlen(word), &error), 0,
					    "round %u: %s", round, error.text);
			check_same(test, &profile, &again);
			profile_free(&again);
		}
		profile_free(&profile);
	}
	KUNIT_EXPECT_GE(test, scaled, ROUNDS / 2);
	kvfree(text.at);
	kvfree(word);
}

static void scaling_keeps_shares(struct kunit *test)
{
	static struct profile profile;	/* the kernel's stack is small */
	struct profile_error error;

	KUNIT_ASSERT_EQ(test, profile_parse(&profile, good, strlen(good), &error), 0);
	KUNIT_ASSERT_EQ(test, profile_scale(&profile, 300000), 0);
	KUNIT_EXPECT_EQ(test, profile.cylinders, 2000);
	KUNIT_EXPECT_EQ(test, profile.zones[0].last_cyl, 999);
	KUNIT_EXPECT_EQ(test, profile.zones[1].first_sector, 200000);
	KUNIT_EXPECT_EQ(test, profile.zones[1].sectors_per_track, 50);
	KUNIT_EXPECT_EQ(test, profile.seeks[0].cylinders, 1);
	KUNIT_EXPECT_EQ(test, profile.seeks[1].cylinders, 1990);
	KUNIT_EXPECT_EQ(test, profile.seeks[1].ns, 20000000);
	profile_free(&profile);
}

static struct kunit_case profile_cases[] = {
	KUNIT_CASE(printed_and_parsed_it_is_the_same),
	KUNIT_CASE(bad_text_is_refused_with_line_and_reason),
	KUNIT_CASE(in_one_word_errors_count_items),
	KUNIT_CASE(damaged_text_does_no_harm),
	KUNIT_CASE(hostile_counts_are_refused),
	KUNIT_CASE(flash_has_parameters_of_its_own),
	KUNIT_CASE(another_size_is_a_sound_profile),
	KUNIT_CASE(scaling_keeps_shares),
	{ }
};

static struct kunit_suite profile_suite = {
	.name = "profile",
	.test_cases = profile_cases,
};

kunit_test_suite(profile_suite);
