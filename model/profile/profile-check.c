// SPDX-License-Identifier: GPL-2.0
/* What must be true between the parameters of a profile, so that nobody else needs to ask. */
#include "profile-options.h"

struct check {
	const struct profile *profile;
	const struct profile_lines *lines;
	struct profile_error *error;
};

u32 profile_line(const struct profile *profile, const struct profile_lines *lines,
		 const void *field)
{
	size_t offset = (const char *)field - (const char *)profile;
	unsigned int i;

	for (i = ITEM_NR; i < profile_nr_options; i++)
		if (profile_options[i].offset == offset && lines->options[i])
			return lines->options[i];
	return 0;
}

/* The line of a scalar parameter, or that of its stand-in when it was not given. */
static u32 line_of(const struct check *check, const void *field)
{
	return profile_line(check->profile, check->lines, field) ?: 1;
}

static bool power_of_two(u32 n)
{
	return n && !(n & (n - 1));
}

static u64 multiple_of(u64 n, u32 of)
{
	return div64_u64(n, of) * of == n;
}

static int check_blocks(const struct check *check)
{
	const struct profile *profile = check->profile;
	u32 logical = profile->logical_block, physical = profile->physical_block;

	if (!power_of_two(logical))
		return profile_fail(check->error, line_of(check, &profile->logical_block),
				    "logical_block is %u bytes, not a power of two", logical);
	if (!power_of_two(physical) || physical < logical)
		return profile_fail(check->error, line_of(check, &profile->physical_block),
				    "physical_block is %u bytes, not a power of two from logical_block (%u) on",
				    physical, logical);
	if (!multiple_of(profile->sectors, logical / 512))
		return profile_fail(check->error, line_of(check, &profile->sectors),
				    "capacity is no multiple of logical_block");
	if (!multiple_of(profile->max_sectors, logical / 512))
		return profile_fail(check->error, line_of(check, &profile->max_sectors),
				    "max_sectors is no multiple of logical_block");
	return 0;
}

static u64 zone_total(const struct check *check, const struct profile_zone *zone)
{
	return (u64)(zone->last_cyl - zone->first_cyl + 1) * check->profile->heads *
	       zone->sectors_per_track;
}

static int check_zone(const struct check *check, u32 i)
{
	const struct profile_zone *zone = &check->profile->zones[i];
	u32 line = check->lines->items[ITEM_ZONE][i];

	if (zone->last_cyl < zone->first_cyl)
		return profile_fail(check->error, line, "zone %u ends before it begins", i);
	if (zone->last_cyl >= check->profile->cylinders)
		return profile_fail(check->error, line,
				    "zone %u ends with cylinder %u, but there are only %u", i,
				    zone->last_cyl, check->profile->cylinders);
	if (i && zone->first_cyl <= zone[-1].last_cyl)
		return profile_fail(check->error, line, "zone %u %s zone %u", i,
				    zone->last_cyl < zone[-1].first_cyl ?
				    "must come before" : "overlaps", i - 1);
	if (zone->sectors + zone->front_empty > zone_total(check, zone))
		return profile_fail(check->error, line,
				    "zone %u cannot hold %llu sectors: its tracks have %llu, the first %u empty",
				    i, (unsigned long long)zone->sectors,
				    (unsigned long long)zone_total(check, zone),
				    zone->front_empty);
	return 0;
}

static int check_zones(const struct check *check)
{
	const struct profile *profile = check->profile;
	u64 sum = 0;
	u32 i;
	int ret;

	for (i = 0; i < profile->nr_zones; i++) {
		ret = check_zone(check, i);
		if (ret)
			return ret;
		sum += profile->zones[i].sectors;
	}
	if (sum != profile->sectors)
		return profile_fail(check->error, line_of(check, &profile->sectors),
				    "capacity is %llu sectors, but the zones hold %llu",
				    (unsigned long long)profile->sectors, (unsigned long long)sum);
	return 0;
}

static int check_seeks(const struct check *check)
{
	const struct profile *profile = check->profile;
	const struct profile_seek *seek = profile->seeks;
	u32 i;

	if (!profile->nr_seeks && !profile->seek_short_base && !profile->seek_short_factor &&
	    !profile->seek_long_base && !profile->seek_long_factor)
		return profile_fail(check->error, 1,
				    "no seek times: give items 'seek', or the curve seek_short_base ...");
	if (profile->nr_seeks && (profile->seek_short_base || profile->seek_short_factor ||
				  profile->seek_long_base || profile->seek_long_factor))
		return profile_fail(check->error, check->lines->items[ITEM_SEEK][0],
				    "both items 'seek' and the curve seek_short_base ...; give one");
	for (i = 1; i < profile->nr_seeks; i++)
		if (seek[i].cylinders <= seek[i - 1].cylinders)
			return profile_fail(check->error, check->lines->items[ITEM_SEEK][i],
					    "seek of %u cylinders follows one of %u; distances must grow",
					    seek[i].cylinders, seek[i - 1].cylinders);
	return 0;
}

static int check_remaps(const struct check *check)
{
	const struct profile *profile = check->profile;
	const struct profile_remap *remap = profile->remaps;
	u64 total;
	u32 i;

	for (i = 0; i < profile->nr_remaps; i++, remap++) {
		u32 line = check->lines->items[ITEM_REMAP][i];

		if (remap->zone >= profile->nr_zones)
			return profile_fail(check->error, line,
					    "remap in zone %u, but zones are 0 to %u",
					    remap->zone, profile->nr_zones - 1);
		total = zone_total(check, &profile->zones[remap->zone]);
		if (max(remap->from, remap->to) >= total)
			return profile_fail(check->error, line,
					    "remap of %u to %u, but zone %u has only %llu sectors",
					    remap->from, remap->to, remap->zone,
					    (unsigned long long)total);
	}
	return 0;
}

static int check_cache(const struct check *check)
{
	const struct profile *profile = check->profile;

	if (!profile->segments) {
		if (profile->write_cache > WRITE_CACHE_THROUGH)
			return profile_fail(check->error, line_of(check, &profile->write_cache),
					    "write_cache needs a cache, but there are no segments");
		if (profile->readahead != READAHEAD_NONE)
			return profile_fail(check->error, line_of(check, &profile->readahead),
					    "readahead needs a cache, but there are no segments");
		return 0;
	}
	if (!profile->segment_sectors)
		return profile_fail(check->error, line_of(check, &profile->segments),
				    "segments have no size; give segment_sectors");
	if (profile->write_segments > profile->segments && !profile->write_buffer)
		return profile_fail(check->error, line_of(check, &profile->write_segments),
				    "write_segments is %u, but there are only %u segments",
				    profile->write_segments, profile->segments);
	if (profile->readahead_min > profile->readahead_max)
		return profile_fail(check->error, line_of(check, &profile->readahead_min),
				    "readahead_min is more than readahead_max");
	if (profile->readahead_stream > profile->readahead_max)
		return profile_fail(check->error, line_of(check, &profile->readahead_stream),
				    "readahead_stream is more than readahead_max");
	return 0;
}

static int check_shingled(const struct check *check)
{
	const struct profile *profile = check->profile;

	if (!profile->media_cache)
		return 0;
	if (!profile->band || (profile->band | profile->media_cache) & (SHINGLE_BLOCK - 1))
		return profile_fail(check->error, line_of(check, &profile->band),
				    "band and media_cache are multiples of 4 KiB, and not 0");
	if (profile->band > profile->media_cache ||
	    profile->sectors / 2 < (u64)profile->media_cache + profile->band)
		return profile_fail(check->error, line_of(check, &profile->media_cache),
				    "media_cache is less than band, or more than half of the disk");
	if (profile->sectors / PROFILE_MAX_BANDS >= profile->band)
		return profile_fail(check->error, line_of(check, &profile->band),
				    "band divides the disk into more than %lu", PROFILE_MAX_BANDS);
	if (profile->write_cache == WRITE_CACHE_SEQUENTIAL ||
	    (profile->write_cache == WRITE_CACHE_BACK &&
	     profile->write_buffer / 2 < profile->band))
		return profile_fail(check->error, line_of(check, &profile->write_cache),
				    "a shingled drive's write_buffer has room for two bands");
	return 0;
}

/* Units of flash, which are looked through at once for one to collect */
#define MAX_UNITS	16384

static int check_flash(const struct check *check)
{
	const struct profile *profile = check->profile;

	if (!power_of_two(profile->flash_page) || !power_of_two(profile->program_unit) ||
	    profile->program_unit < profile->flash_page)
		return profile_fail(check->error, line_of(check, &profile->program_unit),
				    "program_unit and flash_page are powers of two, the first no less");
	if (!power_of_two(profile->gc_unit) || profile->gc_unit < 8)
		return profile_fail(check->error, line_of(check, &profile->gc_unit),
				    "gc_unit is no power of two");
	if (profile->raw_sectors < profile->sectors)
		return profile_fail(check->error, line_of(check, &profile->raw_sectors),
				    "raw_capacity is less than capacity");
	if (profile->raw_sectors / MAX_UNITS > profile->gc_unit)
		return profile_fail(check->error, line_of(check, &profile->gc_unit),
				    "gc_unit divides raw_capacity into more than %d units",
				    MAX_UNITS);
	if (profile->sample && !power_of_two(profile->sample))
		return profile_fail(check->error, line_of(check, &profile->sample),
				    "sample is no power of two");
	if (profile->channels > profile->dies)
		return profile_fail(check->error, line_of(check, &profile->channels),
				    "there are more channels than dies");
	if (profile->write_buffer < profile->program_unit / 512)
		return profile_fail(check->error, line_of(check, &profile->write_buffer),
				    "write_buffer is less than program_unit");
	if (profile->write_cache != WRITE_CACHE_OFF && profile->write_cache != WRITE_CACHE_BACK)
		return profile_fail(check->error, line_of(check, &profile->write_cache),
				    "write_cache of an SSD is off or back");
	return 0;
}

/* Parts of the map that a cache may have, which are allocated at once */
#define MAX_MAP_PAGES	65536

static int check_map_cache(const struct check *check)
{
	const struct profile *profile = check->profile;
	u32 pages = profile->map_cache / max(profile->map_page / 512, 1U);

	if (!power_of_two(profile->map_page))
		return profile_fail(check->error, line_of(check, &profile->map_page),
				    "map_page is no power of two");
	if (profile->map_cache && (!pages || pages > MAX_MAP_PAGES))
		return profile_fail(check->error, line_of(check, &profile->map_cache),
				    "map_cache has room for %u map_pages, not for 1 to %d", pages,
				    MAX_MAP_PAGES);
	if (div_u64(profile->sectors, profile->map_coverage) >= U32_MAX)
		return profile_fail(check->error, line_of(check, &profile->map_coverage),
				    "map_coverage divides capacity into more than 2^32 parts");
	return 0;
}

static int check_slc(const struct check *check)
{
	const struct profile *profile = check->profile;

	if (profile->slc_cache > profile->sectors)
		return profile_fail(check->error, line_of(check, &profile->slc_cache),
				    "slc_cache is more than capacity");
	if (profile->slc_cache_min > profile->slc_cache)
		return profile_fail(check->error, line_of(check, &profile->slc_cache_min),
				    "slc_cache_min is more than slc_cache");
	return 0;
}

/* Words that mean nothing without zones. The table keeps those of an SSD from a disk. */
static const void *zone_word(const struct profile *profile)
{
	const struct {
		const void *field;
		u64 value;
	} words[] = {
		{ &profile->zone_capacity, profile->zone_capacity },
		{ &profile->conventional_zones, profile->conventional_zones },
		{ &profile->max_open_zones, profile->max_open_zones },
		{ &profile->max_active_zones, profile->max_active_zones },
		{ &profile->zone_append_limit, profile->zone_append_limit },
		{ &profile->zone_open_time, profile->zone_open_time },
		{ &profile->zone_close_time, profile->zone_close_time },
		{ &profile->zone_finish_time, profile->zone_finish_time },
		{ &profile->zone_reset_time, profile->zone_reset_time },
		{ &profile->zone_implicit_open_time, profile->zone_implicit_open_time },
		{ &profile->zone_finish_empty_time, profile->zone_finish_empty_time },
		{ &profile->zone_reset_full_time, profile->zone_reset_full_time },
		{ &profile->append_command_time, profile->append_command_time },
		{ &profile->zone_dies, profile->zone_dies },
		{ &profile->zone_buffer, profile->zone_buffer },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].value)
			return words[i].field;
	return NULL;
}

static int check_zoned_flash(const struct check *check)
{
	const struct profile *profile = check->profile;

	if (!profile->power_loss_protection)
		return profile_fail(check->error, line_of(check, &profile->zone_size),
				    "an SSD with zones has power_loss_protection: less than a program_unit has to wait");
	if (profile->slc_cache || profile->map_cache)
		return profile_fail(check->error, line_of(check, &profile->zone_size),
				    "an SSD with zones has neither slc_cache nor map_cache");
	if (profile->precondition == PRECONDITION_RANDOM)
		return profile_fail(check->error, line_of(check, &profile->precondition),
				    "zones are not written at random: precondition is fresh or sequential");
	if (profile->zone_dies > profile->dies)
		return profile_fail(check->error, line_of(check, &profile->zone_dies),
				    "zone_dies is more than dies");
	if (profile->zone_buffer && profile->zone_buffer < profile->program_unit / 512)
		return profile_fail(check->error, line_of(check, &profile->zone_buffer),
				    "zone_buffer is less than program_unit");
	if (profile->zone_append_limit > profile->max_sectors)
		return profile_fail(check->error, line_of(check, &profile->zone_append_limit),
				    "zone_append_limit is more than max_sectors: an append is one command");
	return 0;
}

static int check_zoned(const struct check *check)
{
	const struct profile *profile = check->profile;
	const void *word = zone_word(profile);
	u32 block = profile->physical_block / 512;

	if (!profile->zone_size)
		return word ? profile_fail(check->error, line_of(check, word),
					   "this is of a drive with zones; give zone_size") : 0;
	if (!power_of_two(profile->zone_size) || profile->zone_size < block)
		return profile_fail(check->error, line_of(check, &profile->zone_size),
				    "zone_size is no power of two, or less than physical_block");
	if (!multiple_of(profile->sectors, profile->zone_size))
		return profile_fail(check->error, line_of(check, &profile->zone_size),
				    "capacity is no multiple of zone_size");
	if (div64_u64(profile->sectors, profile->zone_size) > PROFILE_MAX_HOST_ZONES)
		return profile_fail(check->error, line_of(check, &profile->zone_size),
				    "zone_size divides capacity into more than %lu zones",
				    PROFILE_MAX_HOST_ZONES);
	if (profile->zone_capacity > profile->zone_size ||
	    !multiple_of(profile->zone_capacity, block))
		return profile_fail(check->error, line_of(check, &profile->zone_capacity),
				    "zone_capacity is more than zone_size, or no multiple of physical_block");
	if (profile->conventional_zones >= div64_u64(profile->sectors, profile->zone_size))
		return profile_fail(check->error, line_of(check, &profile->conventional_zones),
				    "conventional_zones leaves no zone that is written in order");
	if (profile->max_active_zones && profile->max_open_zones > profile->max_active_zones)
		return profile_fail(check->error, line_of(check, &profile->max_open_zones),
				    "max_open_zones is more than max_active_zones");
	if (profile->host == HOST_LINUX_2_6_23)
		return profile_fail(check->error, line_of(check, &profile->zone_size),
				    "Linux 2.6.23 knows no zones; give host = blk-mq, or nvme");
	if (profile->media_cache)
		return profile_fail(check->error, line_of(check, &profile->media_cache),
				    "media_cache is of a drive that manages its shingles itself; zones are the host's");
	return profile->kind == DRIVE_SSD ? check_zoned_flash(check) : 0;
}

/* Requests of all hardware queues, which are allocated at once */
#define MAX_TAGS	16384

static int check_host(const struct check *check)
{
	const struct profile *profile = check->profile;
	bool mq = profile->host == HOST_BLK_MQ, knows = profile->scheduler >= SCHEDULER_NONE;

	if (profile->kind == DRIVE_DISK && profile->host == HOST_NVME)
		return profile_fail(check->error, line_of(check, &profile->host),
				    "host = nvme has no disk behind it");
	if (mq != knows)
		return profile_fail(check->error, line_of(check, &profile->scheduler),
				    mq ? "blk-mq has the schedulers none and mq-deadline" :
					 "this scheduler needs host = blk-mq");
	if (mq && profile->hw_queues * max(profile->hw_depth, profile->nr_requests) > MAX_TAGS)
		return profile_fail(check->error, line_of(check, &profile->hw_queues),
				    "all hardware queues together have more than %d tags",
				    MAX_TAGS);
	return 0;
}

int profile_check(const struct profile *profile, const struct profile_lines *lines,
		  struct profile_error *error)
{
	const struct check check = { .profile = profile, .lines = lines, .error = error };

	if (check_host(&check))
		return -EINVAL;
	if (profile->kind == DRIVE_MEMORY)
		return check_blocks(&check);
	if (profile->kind == DRIVE_SSD)
		return check_blocks(&check) ?: check_flash(&check) ?: check_map_cache(&check) ?:
		       check_slc(&check) ?: check_zoned(&check);
	return check_blocks(&check) ?: check_zones(&check) ?: check_seeks(&check) ?:
	       check_remaps(&check) ?: check_cache(&check) ?: check_shingled(&check) ?:
	       check_zoned(&check);
}
