// SPDX-License-Identifier: GPL-2.0
/* Jobs as text: one word table makes the parser, the printer's order and --help. */
#include <math.h>

#include "../common/number.h"
#include "job.h"
#include "jobtext.h"

const char job_words[] =
"  read, write           what the requests do (read); writes=30 makes 30 % of them writes\n"
"  sequential, random, backward   where they go (sequential)\n"
"  size=4K               of a request, 512 to 64M (4K)\n"
"  depth=1               requests outstanding, to 128 (1)\n"
"  streams=1             sequential streams, evenly over the span, taken in turn (1); with at least\n"
"                        that depth each has requests of its own outstanding; random: programs,\n"
"                        each with places of its own, which it has in every job of the seed\n"
"  gap=0                 bytes left out after each request of a stream (0)\n"
"  pace=0                time between a completion and the next request: 20us, 1ms, 2s (0)\n"
"  rate=0                bytes a second at most: 10M (0: no limit); K, M, G and T are of 1024\n"
"  at=outer              where the span begins: outer, middle, inner, bytes, a multiple of 4K, or\n"
"                        percent, rounded down to 4K (outer); middle and inner need a span\n"
"  span=100%             bytes or percent of the disk (to its end); the disk must have it, and each\n"
"                        stream room for a request\n"
"  align=size, offset=0  random: to multiples of bytes, moved on by bytes (the size, 0)\n"
"  flush=0               a flush after so many requests of the part (0: none)\n"
"  fua, async            writes go to the media at once; nobody waits, so the queue may plug\n"
"On a drive with zones, where a span is whole zones (those that are not conventional). Of streams\n"
"each has zones in turn, fills one after the other, and resets the next one if it is full:\n"
"  append                writes are zone appends\n"
"  reset, finish         the requests are such commands, of one zone after the other\n"
"  filled=0              percent of each zone of the span that are written before, in no time\n"
"And for the whole job:\n"
"  cache=off             both caches of the drive; read-cache=off, write-cache=off: one of them\n"
"  count=1000, warm=100  requests and flushes that are counted, and those before them that are not\n"
"  every=0               figures of each so many of those that are counted, in JSON (0: none)\n"
"  seed=1                of random places\n"
"  drain                 the time ends with a last flush\n"
"  trim                  what the spans have is trimmed first, which takes no time\n"
"  untimed               an SSD's map takes the writes at once: all times are 0. For what comes after it\n"
"  again=0               run it, empty the caches, wait so long, and count a second run: 10s (0: no)\n"
"  steady                count only when the rate is level: warm on until ten windows, of count / 10\n"
"                        requests and as many as the caches take, have no trend, and writes can have\n"
"                        filled the caches\n";

static const char unknown[] = "no such word in a job; see david-sim bench --help";

/* Words that say something of the whole job come once in all parts, the others once in a part. */
static const struct word {
	const char *name;
	bool of_job;
	const char *without[2];		/* words that say the contrary */
} words[] = {
	{ .name = "read", .without = { "write" } },
	{ .name = "write", .without = { "read", "writes" } },
	{ .name = "writes", .without = { "write" } },
	{ .name = "append", .without = { "read", "writes" } },
	{ .name = "reset", .without = { "finish", "append" } },
	{ .name = "finish", .without = { "reset", "append" } },
	{ .name = "filled" },
	{ .name = "sequential", .without = { "random", "backward" } },
	{ .name = "random", .without = { "sequential", "backward" } },
	{ .name = "backward", .without = { "sequential", "random" } },
	{ .name = "size" }, { .name = "depth" }, { .name = "streams" }, { .name = "gap" },
	{ .name = "pace" }, { .name = "rate" }, { .name = "at" }, { .name = "span" },
	{ .name = "align" }, { .name = "offset" }, { .name = "flush" }, { .name = "fua" },
	{ .name = "async" },
	{ .name = "cache", .of_job = true, .without = { "read-cache", "write-cache" } },
	{ .name = "read-cache", .of_job = true, .without = { "cache" } },
	{ .name = "write-cache", .of_job = true, .without = { "cache" } },
	{ .name = "count", .of_job = true }, { .name = "warm", .of_job = true },
	{ .name = "every", .of_job = true }, { .name = "seed", .of_job = true },
	{ .name = "drain", .of_job = true }, { .name = "trim", .of_job = true },
	{ .name = "untimed", .of_job = true }, { .name = "again", .of_job = true },
	{ .name = "steady", .of_job = true },
};

/* Which of them were given. */
struct given {
	bool word[ARRAY_SIZE(words)];
};

/* A part's "at" and "span". They are resolved when all words have been parsed. */
struct where {
	double at_share, span_share;	/* of the disk; below 0: not given */
	u64 at, span;			/* sectors */
	bool middle, inner, at_given, span_given;
};

static int job_wrong_word(char *why, const char *word, const char *text)
{
	snprintf(why, JOB_WHY, "'%s': %s", word, text);
	return -1;
}

static const struct word *find_word(const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(words[i].name, name))
			return &words[i];
	return NULL;
}

/* Note that @word was given; -1: it was before, or its contrary. */
static int give(struct given *given, const struct word *word, char *why)
{
	u32 i;

	if (given->word[word - words])
		return job_wrong_word(why, word->name, "is there twice");
	given->word[word - words] = true;
	for (i = 0; i < ARRAY_SIZE(word->without) && word->without[i]; i++) {
		if (!given->word[find_word(word->without[i]) - words])
			continue;
		snprintf(why, JOB_WHY, "'%s': and '%s' is there, too", word->name,
			 word->without[i]);
		return -1;
	}
	return 0;
}

/* Another part begins. */
static void forget_part(struct given *given)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		given->word[i] &= words[i].of_job;
}

static bool parse_sectors(const char *text, u64 *sectors)
{
	u64 bytes;

	if (!number_parse_bytes(text, &bytes) || bytes % 512)
		return false;
	*sectors = bytes / 512;
	return true;
}

static bool parse_share(const char *text, double *share)
{
	const char *rest;
	double value;

	if (!number_parse_real(text, &value, &rest) || strcmp(rest, "%") || value > 100)
		return false;
	*share = value / 100;
	return true;
}

static bool parse_ns(const char *text, u64 *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	const char *rest;
	double value;
	u32 i;

	if (!strcmp(text, "0")) {
		*ns = 0;
		return true;
	}
	if (!number_parse_real(text, &value, &rest))
		return false;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(rest, units[i].unit) && value * units[i].ns < 0x1p62) {
			*ns = value * units[i].ns;
			return true;
		}
	return false;
}

static bool parse_count(const char *text, u64 least, u64 most, u64 *count)
{
	const char *rest;
	double value;

	if (!number_parse_real(text, &value, &rest) || *rest || value < least || value > most ||
	    value != floor(value))
		return false;
	*count = value;
	return true;
}

static bool flag(struct job *job, struct job_part *part, const char *word)
{
	if (!strcmp(word, "read"))
		return true;	/* as a part begins; "writes" may be there, too */
	part->append |= !strcmp(word, "append");
	if (!strcmp(word, "write") || !strcmp(word, "append"))
		part->writes = 100;
	else if (!strcmp(word, "sequential"))
		part->order = JOB_SEQUENTIAL;
	else if (!strcmp(word, "random"))
		part->order = JOB_RANDOM;
	else if (!strcmp(word, "backward"))
		part->order = JOB_BACKWARD;
	else if (!strcmp(word, "fua"))
		part->fua = true;
	else if (!strcmp(word, "async"))
		part->async = true;
	else if (!strcmp(word, "drain"))
		job->drain = true;
	else if (!strcmp(word, "steady"))
		job->steady = true;
	else if (!strcmp(word, "untimed"))
		job->untimed = true;
	else if (!strcmp(word, "reset"))
		part->zone_op = DISK_ZONE_RESET;
	else if (!strcmp(word, "finish"))
		part->zone_op = DISK_ZONE_FINISH;
	else if (!strcmp(word, "trim"))
		job->trim = true;
	else
		return false;
	return true;
}

/* Parse a word such as cache=off. NULL, or what is wrong. */
static const char *cache_word(struct job *job, const char *name, const char *value)
{
	bool off = !strcmp(value, "off");

	if (!off && strcmp(value, "on"))
		return "on or off";
	if (strcmp(name, "write-cache"))
		job->read_cache_off = off;
	if (strcmp(name, "read-cache"))
		job->write_cache_off = off;
	return NULL;
}

static const char *where_word(struct where *where, const char *name, const char *value)
{
	if (!strcmp(name, "span")) {
		where->span_given = true;
		return parse_share(value, &where->span_share) ||
		       parse_sectors(value, &where->span) ? NULL :
		       "bytes, a multiple of 512, or percent of the disk";
	}
	where->at_given = true;
	where->middle = !strcmp(value, "middle");
	where->inner = !strcmp(value, "inner");
	if (where->middle || where->inner || !strcmp(value, "outer") ||
	    parse_share(value, &where->at_share) ||
	    (parse_sectors(value, &where->at) && !(where->at % 8)))
		return NULL;
	return "outer, middle, inner, bytes, a multiple of 4K, or percent of the disk";
}

/* NULL, or what the value must be. */
static const char *job_value_word(struct job *job, struct job_part *part, struct where *where,
				  const char *name, const char *value)
{
	static const char size[] = "bytes, a multiple of 512";
	u64 n = 0;

	if (strstr(name, "cache"))
		return cache_word(job, name, value);
	if (!strcmp(name, "at") || !strcmp(name, "span"))
		return where_word(where, name, value);
	if (!strcmp(name, "size")) {
		if (!parse_sectors(value, &n) || !n || n > JOB_SECTORS)
			return "512 to 64M, a multiple of 512";
		part->sectors = n;
	} else if (!strcmp(name, "gap")) {
		return parse_sectors(value, &part->gap) ? NULL : size;
	} else if (!strcmp(name, "align")) {
		return parse_sectors(value, &part->align) ? NULL : size;
	} else if (!strcmp(name, "offset")) {
		return parse_sectors(value, &part->offset) ? NULL : size;
	} else if (!strcmp(name, "rate")) {
		return number_parse_bytes(value, &part->rate) ? NULL : "bytes a second";
	} else if (!strcmp(name, "again")) {
		return parse_ns(value, &job->again) ? NULL : "a time such as 20us, 1ms, 2s";
	} else if (!strcmp(name, "pace")) {
		return parse_ns(value, &part->pace) ? NULL : "a time such as 20us, 1ms, 2s";
	} else if (!strcmp(name, "writes")) {
		if (!parse_count(value, 0, 100, &n))
			return "percent, 0 to 100";
		part->writes = n;
	} else if (!strcmp(name, "filled")) {
		if (!parse_count(value, 0, 100, &n))
			return "percent, 0 to 100";
		part->filled = 10 * n;
	} else if (!strcmp(name, "depth")) {
		if (!parse_count(value, 1, JOB_DEPTH, &n))
			return "1 to 128";
		part->depth = n;
	} else if (!strcmp(name, "streams")) {
		if (!parse_count(value, 1, JOB_STREAMS, &n))
			return "1 to 64";
		part->streams = n;
	} else if (!strcmp(name, "flush")) {
		if (!parse_count(value, 0, U32_MAX - 1, &n))
			return "a number of requests";
		part->flush = n;
	} else if (!strcmp(name, "count") || !strcmp(name, "warm")) {
		if (!parse_count(value, *name == 'c', 100000000, &n))
			return "a number of requests";
		*(*name == 'c' ? &job->count : &job->warm) = n;
	} else if (!strcmp(name, "every")) {
		if (!parse_count(value, 0, 100000000, &n))
			return "a number of requests";
		job->every = n;
	} else if (!strcmp(name, "seed")) {
		return parse_count(value, 0, U32_MAX, &job->seed) ? NULL : "a number";
	} else {
		return "takes no value";
	}
	return NULL;
}

/* The least span in which each stream has room for one request. Streams begin at whole blocks. */
static u64 least_span(const struct job_part *part)
{
	u64 each = part->sectors + part->offset;

	return part->streams > 1 ? DIV_ROUND_UP(each, 8) * 8 * part->streams : each;
}

static u64 where_start(const struct where *where, const struct job_part *part,
		       const struct profile *profile)
{
	u64 rest = profile->sectors - min(part->span, profile->sectors);

	if (where->inner)
		return rest / 8 * 8;
	if (where->middle)
		return rest / 16 * 8;
	if (where->at_share >= 0)
		return (u64)(where->at_share * profile->sectors) / 8 * 8;
	return where->at;
}

/* NULL, or what a part of zones cannot have; *@word is the word. */
static const char *zones_wrong(const struct job_part *part, const struct profile *profile,
			       u32 requests, const char **word)
{
	const struct {
		const char *word;
		bool wrong;
		const char *text;
	} of[] = {
		{ "backward", part->order == JOB_BACKWARD, "zones are not written backward" },
		{ "random", part->order == JOB_RANDOM && (part->writes || part->zone_op),
		  "zones are written in order" },
		{ "writes", part->writes % 100,
		  "a part writes zones or reads them: join two with +" },
		{ "gap", part->gap, "none is left in a zone" },
		{ "offset", part->offset, "requests follow on in a zone" },
		{ "size", part->sectors > part->zone_capacity, "more than a zone takes" },
		{ "append", part->append && part->sectors > profile->zone_append_limit,
		  profile->zone_append_limit ? "of more than the drive's zone_append_limit" :
					       "the drive has none" },
		{ "streams", part->streams > part->zones, "more than the span has zones" },
		{ "streams", part->zone_op && part->streams > 1, "commands go from zone to zone" },
		{ "write", part->zone_op && part->writes, "such commands have no data" },
		{ "filled", part->zone_op == DISK_ZONE_RESET && !part->filled,
		  "a reset is of zones with data: say how full they are, such as filled=100" },
		{ "count", part->zone_op && requests > part->zones,
		  "with warm it is more than the span has zones, and each is asked once" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(of); i++)
		if (of[i].wrong) {
			*word = of[i].word;
			return of[i].text;
		}
	return NULL;
}

/*
 * A part on a drive with zones: what it has of them. One in conventional zones alone is as on any
 * drive.
 */
static int settle_zones(struct job_part *part, const struct where *where,
			const struct profile *profile, char *why)
{
	u64 size = profile->zone_size, first = profile->conventional_zones * size;

	if (!where->at_given && !where->span_given) {
		part->start = first;
		part->span = profile->sectors - first;
	}
	if (part->start + part->span <= first)
		return 0;
	if (where->middle || where->inner || where->at_share >= 0)
		part->start = max(part->start / size * size, first);
	if (where->span_given && where->span_share >= 0)
		part->span = max(part->span / size * size, size);
	if (!where->span_given)
		part->span = profile->sectors - part->start;
	if (part->start < first) {
		snprintf(why, JOB_WHY,
			 "'at, span': the first %u zones, of %llu bytes, are conventional: a part has these or others",
			 profile->conventional_zones, size * 512ULL);
		return -1;
	}
	if (part->start % size || part->span % size) {
		snprintf(why, JOB_WHY, "'at, span': a part has whole zones, of %llu bytes",
			 size * 512ULL);
		return -1;
	}
	part->zones = part->span / size;
	part->first_zone = part->start / size;
	part->zone_size = size;
	part->zone_capacity = profile->zone_capacity;
	return 0;
}

/* Once all words of the job are known. */
static int check_zone_parts(const struct job *job, const struct profile *profile, char *why)
{
	const char *wrong, *word;
	u32 i;

	for (i = 0; i < job->nr_parts; i++) {
		const struct job_part *part = &job->parts[i];

		if (!part->zones && (part->append || part->zone_op || part->filled))
			return job_wrong_word(why, part->append ? "append" :
					      part->filled ? "filled" : "reset, finish",
					      "the part has no zones that are written in order");
		if (!part->zones)
			continue;
		wrong = zones_wrong(part, profile, job->count + job->warm, &word);
		if (wrong)
			return job_wrong_word(why, word, wrong);
		if (job->trim)
			return job_wrong_word(why, "trim", "zones are reset instead");
	}
	return 0;
}

/* Find where a part lies, which is where it was asked to be. */
static int settle(struct job_part *part, const struct where *where, const struct profile *profile,
		  char *why)
{
	u64 least = least_span(part), room;

	part->span = profile->sectors;
	if (where->span_given)
		part->span = where->span_share < 0 ? where->span :
			     (u64)(where->span_share * profile->sectors);
	else if (where->middle || where->inner)
		return job_wrong_word(why, "at", "middle and inner need a span");
	if (part->span < least && where->span_given) {
		snprintf(why, JOB_WHY, "'span': %llu bytes, and one request a stream takes %llu",
			 part->span * 512ULL, least * 512ULL);
		return -1;
	}
	part->start = where_start(where, part, profile);
	room = profile->sectors - min(part->start, profile->sectors);
	if (!where->span_given)
		part->span = room;
	if (part->span > room || room < least) {
		snprintf(why, JOB_WHY,
			 "'at, span': %llu bytes, and from there to the disk's end there are %llu",
			 max(part->span, least) * 512ULL, room * 512ULL);
		return -1;
	}
	return profile->zone_size ? settle_zones(part, where, profile, why) : 0;
}

/* A drive refuses what is no whole number of its logical blocks, and so does its host. */
static int job_blocks(const struct job_part *part, const struct profile *profile, char *why)
{
	const struct {
		const char *name;
		u64 sectors;
	} of[] = {
		{ "size", part->sectors }, { "gap", part->gap }, { "align", part->align },
		{ "offset", part->offset }, { "at", part->start },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		if (of[i].sectors * 512 % profile->logical_block == 0)
			continue;
		snprintf(why, JOB_WHY,
			 "'%s': %llu bytes, and the drive refuses what is no whole number of its logical blocks of %u",
			 of[i].name, of[i].sectors * 512ULL, profile->logical_block);
		return -1;
	}
	return 0;
}

/* A word that is not empty. */
static int parse_word(struct job *job, struct given *given, struct where *where, char *text,
		      char *why)
{
	struct job_part *part = &job->parts[job->nr_parts];
	char *value = strchr(text, '=');
	const struct word *word;
	const char *wrong;

	if (value)
		*value++ = '\0';
	word = find_word(text);
	if (!word)
		return job_wrong_word(why, text, unknown);
	if (give(given, word, why))
		return -1;
	if (!value)
		return flag(job, part, text) ? 0 : job_wrong_word(why, text, "needs a value");
	wrong = job_value_word(job, part, where, text, value);
	return wrong ? job_wrong_word(why, text, wrong) : 0;
}

static int parse_part(struct job *job, struct given *given, char *text,
		      const struct profile *profile, char *why)
{
	struct job_part *part = &job->parts[job->nr_parts];
	struct where where = { .at_share = -1, .span_share = -1 };
	bool empty = true;
	char *word;

	if (job->nr_parts == JOB_PARTS)
		return job_wrong_word(why, "+", "too many parts");
	*part = (struct job_part){ .sectors = 8, .depth = 1, .streams = 1 };
	forget_part(given);
	while ((word = strsep(&text, " \t,"))) {
		if (!*word)
			continue;
		empty = false;
		if (parse_word(job, given, &where, word, why))
			return -1;
	}
	if (empty)
		return job_wrong_word(why, "+", "a part without a word; say at least 'read'");
	job->nr_parts++;
	return settle(part, &where, profile, why) ?: job_blocks(part, profile, why);
}

int job_parse(struct job *job, const char *text, const struct profile *profile, char why[JOB_WHY])
{
	char *copy = strdup(text), *rest = copy, *part;
	int r = copy ? 0 : job_wrong_word(why, "job", "out of memory");
	struct given given = { };

	memset(job, 0, sizeof(*job));
	job->count = 1000;
	job->warm = 100;
	job->seed = 1;
	while (!r && (part = strsep(&rest, "+")))
		r = parse_part(job, &given, part, profile, why);
	if (!r)
		r = check_zone_parts(job, profile, why);
	if (!r && job->untimed && profile->kind != DRIVE_SSD)
		r = job_wrong_word(why, "untimed", "the drive has no flash");
	free(copy);
	return r;
}

static void print_bytes(FILE *out, const char *name, u64 bytes)
{
	static const char *const units[] = { "", "K", "M", "G", "T" };
	u32 i = 0;

	while (bytes && bytes % 1024 == 0 && i + 1 < ARRAY_SIZE(units)) {
		bytes /= 1024;
		i++;
	}
	fprintf(out, " %s=%llu%s", name, (unsigned long long)bytes, units[i]);
}

static void print_part(FILE *out, const struct job_part *part, const struct profile *profile)
{
	static const char *const orders[] = { "sequential", "random", "backward" };

	fprintf(out, "%s", part->zone_op == DISK_ZONE_RESET ? "reset" :
			   part->zone_op ? "finish" : part->append ? "append" :
			   part->writes == 100 ? "write" : "read");
	if (part->writes % 100)
		fprintf(out, " writes=%u", part->writes);
	fprintf(out, " %s", orders[part->order]);
	print_bytes(out, "size", part->sectors * 512ULL);
	fprintf(out, " depth=%u", part->depth);
	if (part->streams > 1)
		fprintf(out, " streams=%u", part->streams);
	if (part->gap)
		print_bytes(out, "gap", part->gap * 512);
	if (part->pace)
		fprintf(out, " pace=%lluns", (unsigned long long)part->pace);
	if (part->rate)
		print_bytes(out, "rate", part->rate);
	if (part->filled)
		fprintf(out, " filled=%u", part->filled / 10);
	if (part->start)
		print_bytes(out, "at", part->start * 512);
	if (part->start + part->span != profile->sectors)
		print_bytes(out, "span", part->span * 512);
	if (part->align)
		print_bytes(out, "align", part->align * 512);
	if (part->offset)
		print_bytes(out, "offset", part->offset * 512);
	if (part->flush)
		fprintf(out, " flush=%u", part->flush);
	if (part->fua)
		fputs(" fua", out);
	if (part->async)
		fputs(" async", out);
}

char *job_print(const struct job *job, const struct profile *profile)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	u32 i;

	if (!out)
		return NULL;
	for (i = 0; i < job->nr_parts; i++) {
		fputs(i ? " + " : "", out);
		print_part(out, &job->parts[i], profile);
	}
	if (job->read_cache_off && job->write_cache_off)
		fputs(" cache=off", out);
	else if (job->read_cache_off || job->write_cache_off)
		fprintf(out, " %s-cache=off", job->read_cache_off ? "read" : "write");
	if (job->every)
		fprintf(out, " every=%u", job->every);
	if (job->again)
		fprintf(out, " again=%lluns", (unsigned long long)job->again);
	fprintf(out, " count=%u warm=%u seed=%llu%s%s%s%s", job->count, job->warm,
		(unsigned long long)job->seed, job->drain ? " drain" : "",
		job->steady ? " steady" : "", job->trim ? " trim" : "",
		job->untimed ? " untimed" : "");
	fclose(out);
	return text;
}
