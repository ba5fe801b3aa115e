// SPDX-License-Identifier: GPL-2.0
#include "arraytext.h"

#include "../common/complain.h"
#include "../common/number.h"
#include "target.h"

#define DEFAULT_CHUNK	1024	/* sectors: mdadm's 512 KiB */
#define DEFAULT_CACHE	256	/* md's NR_STRIPES */
#define MAX_CACHE	32768	/* as md has it */

const char array_words[] =
"  0, 1, 4, 5, 6, 10     the level, as Linux's md has it; comes first\n"
"  members=N             how many disks, 1 to 64\n"
"  chunk=512K            4K to 64M, a power of two (512K, as mdadm's); RAID-1 has none\n"
"  layout=NAME           RAID-5 and 6: left-symmetric, which is mdadm's choice, left-asymmetric,\n"
"                        right-symmetric, right-asymmetric (or ls, la, rs, ra), parity-first,\n"
"                        parity-last. RAID-6 only: ddf-zero-restart, ddf-N-restart,\n"
"                        ddf-N-continue, and the first five with -6 behind.\n"
"                        RAID-10: n2, f2, o2 and the like: near, far or offset copies (n2)\n"
"  metadata=1.2          where md's superblock lies, and how much of a drive mdadm leaves to data:\n"
"                        1.2, as david array create and mdadm have it, 1.0, or none: all of it\n"
"  member-size=BYTES     of each member, such as 64M: mdadm's --size (as much as there is). It\n"
"                        says where far copies lie\n"
"  data-offset=BYTES     where a member's data begin (as metadata says)\n"
"  failed=N+N            members, counted from 0, that have failed (none)\n"
"  reads=md              which copy is read: as md chooses, first, round-robin, shortest (queue)\n"
"  rmw=enable            md's rmw_level, for small writes with parity: disable, enable, prefer\n"
"  stripe-cache=256      blocks of each member that md keeps, 0 to 32768 (256)\n"
"  seed=1                of the members' start angles\n";

/* What an array's text says of the part of each drive that md uses. */
struct used_part {
	enum array_metadata metadata;
	u64 size, start;	/* sectors */
	bool has_size, has_start;
};

static int array_wrong_word(const char *word, const char *text)
{
	return complain("david-sim: --array: '%s': %s", word, text);
}

static bool parse_level(const char *word, enum array_level *level)
{
	static const struct {
		const char *word;
		enum array_level level;
	} levels[] = { { "0", ARRAY_0 }, { "1", ARRAY_1 }, { "4", ARRAY_4 },
		       { "5", ARRAY_5 }, { "6", ARRAY_6 }, { "10", ARRAY_10 } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(levels); i++)
		if (!strcmp(levels[i].word, word)) {
			*level = levels[i].level;
			return true;
		}
	return false;
}

/* "65536", "64K" or "1M": bytes, stored as sectors. */
static bool parse_chunk(const char *word, u32 *chunk)
{
	u64 bytes;

	if (!number_parse_bytes(word, &bytes) || bytes < 4096 || bytes > 64 << 20)
		return false;
	*chunk = bytes / 512;
	return !(bytes & (bytes - 1));
}

/* The index of @word in @words, or a negative number. */
static int index_of(const char *word, const char *const *words, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (!strcmp(word, words[i]))
			return i;
	return -1;
}

/* "0+3+5": the members that have failed, as bits. */
static bool parse_failed(char *value, u64 *failed)
{
	char *word;
	u64 n;

	while ((word = strsep(&value, "+"))) {
		if (!number_parse(word, ARRAY_MEMBERS - 1, &n))
			return false;
		*failed |= 1ULL << n;
	}
	return true;
}

/* Parse a word about how the array serves requests. NULL, or what the value must be. */
static const char *service_word(struct array_setup *setup, const char *name, char *value)
{
	static const char *const reads[] = {
		[READS_MD] = "md", [READS_FIRST] = "first",
		[READS_ROUND_ROBIN] = "round-robin", [READS_SHORTEST] = "shortest",
	};
	static const char *const rmw[] = {
		[RMW_DISABLE] = "disable", [RMW_ENABLE] = "enable", [RMW_PREFER] = "prefer",
	};
	u64 n = 0;
	int place;

	if (!strcmp(name, "failed")) {
		if (!parse_failed(value, &setup->failed))
			return "members counted from 0, such as 0+3";
	} else if (!strcmp(name, "reads")) {
		place = index_of(value, reads, ARRAY_SIZE(reads));
		if (place < 0)
			return "md, first, round-robin or shortest";
		setup->reads = place;
	} else if (!strcmp(name, "rmw")) {
		place = index_of(value, rmw, ARRAY_SIZE(rmw));
		if (place < 0)
			return "disable, enable or prefer";
		setup->rmw = place;
	} else if (!strcmp(name, "stripe-cache")) {
		if (!number_parse(value, MAX_CACHE, &n))
			return "0 to 32768";
		setup->stripe_cache = n;
	} else if (!strcmp(name, "seed")) {
		if (!number_parse(value, U64_MAX, &setup->seed))
			return "a number";
	} else {
		return "no such word in an array; see david-sim layout --help";
	}
	return NULL;
}

/* Sectors, of bytes that are whole KiB, as mdadm counts. */
static bool parse_part_sectors(const char *value, u64 *sectors)
{
	u64 bytes;

	if (!number_parse_bytes(value, &bytes) || bytes % 1024)
		return false;
	*sectors = bytes / 512;
	return true;
}

/* Parse a word about the part of each drive that md uses. NULL, or what the value must be. */
static const char *part_word(struct array_setup *setup, struct used_part *part, const char *name,
			     char *value)
{
	static const char *const metadata[] = {
		[METADATA_NONE] = "none", [METADATA_1_0] = "1.0", [METADATA_1_2] = "1.2",
	};
	int place;

	if (!strcmp(name, "metadata")) {
		place = index_of(value, metadata, ARRAY_SIZE(metadata));
		if (place < 0)
			return "1.2, 1.0 or none";
		part->metadata = place;
	} else if (!strcmp(name, "member-size")) {
		part->has_size = true;
		if (!parse_part_sectors(value, &part->size) || !part->size)
			return "bytes, whole KiB, such as 64M";
	} else if (!strcmp(name, "data-offset")) {
		part->has_start = true;
		if (!parse_part_sectors(value, &part->start))
			return "bytes, whole KiB, such as 1M";
	} else {
		return service_word(setup, name, value);
	}
	return NULL;
}

/* Parse any word of an array. NULL, or what the value must be. */
static const char *array_value_word(struct array_setup *setup, struct used_part *part,
				    const char *name, char *value)
{
	struct array_layout *layout = &setup->layout;
	u64 n = 0;

	if (!strcmp(name, "members")) {
		if (!number_parse(value, ARRAY_MEMBERS, &n) || !n)
			return "1 to 64";
		layout->members = n;
	} else if (!strcmp(name, "chunk")) {
		if (layout->level == ARRAY_1)
			return "RAID-1 has no chunks; leave it out";
		if (!parse_chunk(value, &layout->chunk))
			return "a power of two from 4K to 64M";
	} else if (!strcmp(name, "layout")) {
		if (!layout_parse(layout, value))
			return "no layout of this level; see david-sim layout --help";
	} else {
		return part_word(setup, part, name, value);
	}
	return NULL;
}

#define MOST_WORDS	32	/* more than there are, each of which may stand once */

static int parse_words(struct array_setup *setup, struct used_part *part, char *rest)
{
	struct array_layout *layout = &setup->layout;
	char *word = strsep(&rest, " \t,"), *value;
	const char *given[MOST_WORDS];
	const char *wrong;
	u32 nr = 0;

	if (!parse_level(word, &layout->level))
		return array_wrong_word(word, "the first word is the level: 0, 1, 4, 5, 6 or 10");
	layout->chunk = layout->level == ARRAY_1 ? 0 : DEFAULT_CHUNK;
	layout_parse(layout, NULL);
	while ((word = strsep(&rest, " \t,"))) {
		if (!*word)
			continue;
		value = word + strcspn(word, "=");
		if (*value)
			*value++ = '\0';
		if (index_of(word, given, nr) >= 0)
			return array_wrong_word(word, "is there twice");
		wrong = array_value_word(setup, part, word, value);
		if (wrong)
			return array_wrong_word(word, wrong);
		given[nr++] = word;
	}
	if (!layout->members)
		return array_wrong_word("members",
					"of how many disks? Add members=4, for instance");
	return 0;
}

/* Sectors of each member that md uses, of drives of @sectors; 0: it has complained. */
static u64 sectors_used(struct array_layout *layout, const struct used_part *part, u64 sectors)
{
	u64 used = layout_metadata(layout, part->metadata, sectors), left;

	if (part->has_start) {
		left = layout->start + used;
		if (part->start >= left) {
			array_wrong_word("data-offset", "it lies behind the drive's last data");
			return 0;
		}
		layout->start = part->start;
		used = left - part->start;
	}
	if (part->has_size && part->size > used) {
		complain("david-sim: --array: 'member-size': %llu bytes; of a drive md has %llu",
			 (unsigned long long)part->size * 512, (unsigned long long)used * 512);
		return 0;
	}
	if (part->has_size)
		used = part->size;
	used &= ~1ULL;	/* mdadm counts KiB */
	if (!used)
		array_wrong_word("metadata", "the drive is too small for it");
	return used;
}

static int parse_all(struct array_setup *setup, const char *text, u64 sectors,
		     enum array_metadata metadata)
{
	struct array_layout *layout = &setup->layout;
	struct used_part part = { .metadata = metadata };
	char *copy = strdup(text);
	const char *wrong;
	int r;

	*setup = (struct array_setup){ .rmw = RMW_ENABLE, .stripe_cache = DEFAULT_CACHE,
				       .seed = 1 };
	r = copy ? parse_words(setup, &part, copy) : array_wrong_word(text, "out of memory");
	free(copy);
	if (r)
		return r;
	sectors = sectors ?: 16ULL * (layout->chunk ?: ARRAY_BLOCK);
	sectors = sectors_used(layout, &part, sectors);
	if (!sectors)
		return -1;
	wrong = layout_init(layout, sectors);
	if (!wrong)
		wrong = array_check(setup);
	return wrong ? array_wrong_word(text, wrong) : 0;
}

int array_parse(struct array_setup *setup, const char *text, u64 sectors)
{
	return parse_all(setup, text, sectors, METADATA_NONE);
}

int array_parse_of(struct array_setup *setup, const char *text, const struct profile *profile)
{
	if (profile->zone_size)
		return array_wrong_word(text, "drives with zones are in no array");
	if (parse_all(setup, text, profile->sectors, METADATA_1_2))
		return -1;
	setup->profile = profile;
	return 0;
}

#define MB	(512 / 1e6)	/* a sector */

static double share(u64 part, u64 of)
{
	return of ? (double)part / of : 0;
}

/* Of all members. */
static struct array_member_figures sum_of(const struct array_member_figures *figures, u32 members)
{
	struct array_member_figures sum = { };
	u32 i;

	for (i = 0; i < members; i++) {
		sum.reads += figures[i].reads;
		sum.prereads += figures[i].prereads;
		sum.write_sectors += figures[i].write_sectors;
		sum.redundant_sectors += figures[i].redundant_sectors;
		sum.busy += figures[i].busy;
		sum.waiting += figures[i].waiting;
		sum.idle += figures[i].idle;
		drive_parts_add(&sum.drive.parts, &figures[i].drive.parts);
	}
	return sum;
}

static u64 time_of(const struct array_member_figures *figures)
{
	return figures->busy + figures->waiting + figures->idle;
}

/* Where the time went in which a member had requests. Commands under way together share it. */
static void print_busy(FILE *out, const struct array_member_figures *sum)
{
	const struct drive_parts *parts = &sum->drive.parts;
	const struct {
		const char *name;
		u64 ns;
	} all[] = {
		{ "overhead", parts->overhead }, { "seek", parts->seek },
		{ "rotation", parts->rotation }, { "transfer", parts->transfer },
		{ "flush", parts->flush }, { "queued", parts->queued }, { "die", parts->die },
		{ "channel", parts->channel }, { "map", parts->map },
		{ "fault", parts->fault },
	};
	u64 total = drive_parts_total(parts), most = max(total, sum->busy);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].ns)
			fprintf(out, ", %s %.1f", all[i].name,
				100 * share(all[i].ns, most) * share(sum->busy, time_of(sum)));
	if (sum->busy > total)
		fprintf(out, ", no command in the drive %.1f",
			100 * share(sum->busy - total, time_of(sum)));
}

void array_print_text(FILE *out, const struct array_member_figures *figures, u32 members)
{
	const struct array_member_figures sum = sum_of(figures, members);
	u32 i;

	fprintf(out, "%8s %10s %10s %12s %12s %8s %10s %8s\n", "member", "reads", "writes",
		"read MB", "written MB", "busy %", "waiting %", "idle %");
	for (i = 0; i < members; i++) {
		const struct array_member_figures *f = &figures[i];
		u64 time = time_of(f);

		fprintf(out, "%8u %10llu %10llu %12.3f %12.3f %8.1f %10.1f %8.1f\n", i,
			(unsigned long long)f->reads, (unsigned long long)f->writes,
			f->read_sectors * MB, f->write_sectors * MB, 100 * share(f->busy, time),
			100 * share(f->waiting, time), 100 * share(f->idle, time));
	}
	fprintf(out, "Of %.6f member-seconds, in %%: waiting for others %.1f, idle %.1f",
		time_of(&sum) / 1e9, 100 * share(sum.waiting, time_of(&sum)),
		100 * share(sum.idle, time_of(&sum)));
	print_busy(out, &sum);
	fprintf(out, ".\nOf %llu reads %llu had what only the array needs; ",
		(unsigned long long)sum.reads, (unsigned long long)sum.prereads);
	fprintf(out, "of %.3f MB written %.3f were parity or copies.\n", sum.write_sectors * MB,
		sum.redundant_sectors * MB);
}

static void print_times(FILE *out, const struct array_member_figures *figures)
{
	fprintf(out, "\"busy_ns\": %llu, \"waiting_ns\": %llu, \"idle_ns\": %llu",
		(unsigned long long)figures->busy, (unsigned long long)figures->waiting,
		(unsigned long long)figures->idle);
}

void array_print_json(FILE *out, const struct array_member_figures *figures, u32 members, u64 ns)
{
	const struct array_member_figures sum = sum_of(figures, members);
	u32 i;

	fprintf(out, "\"member_time\": {\"all_ns\": %llu, ", (unsigned long long)time_of(&sum));
	print_times(out, &sum);
	fprintf(out, "},\n  \"members\": [");
	for (i = 0; i < members; i++) {
		const struct array_member_figures *f = &figures[i];

		fprintf(out, "%s\n   {\"reads\": %llu, \"writes\": %llu, ", i ? "," : "",
			(unsigned long long)f->reads, (unsigned long long)f->writes);
		fprintf(out, "\"flushes\": %llu, \"read_bytes\": %llu, ",
			(unsigned long long)f->flushes, (unsigned long long)f->read_sectors * 512);
		fprintf(out, "\"written_bytes\": %llu, \"busy\": %.6f,\n    ",
			(unsigned long long)f->write_sectors * 512, share(f->busy, ns));
		fprintf(out, "\"prereads\": %llu, \"preread_bytes\": %llu, ",
			(unsigned long long)f->prereads,
			(unsigned long long)f->preread_sectors * 512);
		fprintf(out, "\"redundant_bytes\": %llu, \"hits\": %llu,\n    ",
			(unsigned long long)f->redundant_sectors * 512,
			(unsigned long long)f->drive.hits);
		fprintf(out, "\"response_ns\": %llu, ", (unsigned long long)f->response);
		print_times(out, f);
		fprintf(out, ",\n    ");
		target_print_sums(out, &f->drive);
		fprintf(out, "}");
	}
	fprintf(out, "]");
}
