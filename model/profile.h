/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A drive's parameters, and those of the host's request queue in front of it.
 *
 * All times are nanoseconds, all places and lengths on the disk are sectors of
 * 512 bytes unless they say otherwise. One option table (profile-options.c)
 * parses, prints, validates and documents the parameters; a parsed profile has
 * been validated, and nobody checks it again.
 */
#ifndef DAVID_MODEL_PROFILE_H
#define DAVID_MODEL_PROFILE_H

#include "../dm-david/lib/portable.h"

#define PROFILE_NAME_LEN	32

/* How sectors are numbered past defects; the numbers are those of DiskSim's sparing schemes. */
enum profile_sparing {
	SPARING_NONE = 0,
	SPARING_TRACKS = 1,	/* spare tracks at the end of a zone: slips are track numbers */
	SPARING_CYLINDER = 2,	/* spare sectors in each cylinder */
	SPARING_TRACK = 3,	/* spare sectors in each track */
	SPARING_DISK_END = 7,	/* spares at the end of the disk */
	SPARING_RANGE = 8,	/* spares for each range of cylinders */
	SPARING_ZONE_END = 9,	/* spare sectors at the end of a zone */
};

enum profile_readahead {
	READAHEAD_NONE,
	READAHEAD_TRACK = 1,	/* to the end of the track */
	READAHEAD_CYLINDER = 2,	/* to the end of the cylinder */
	READAHEAD_MAX = 3,	/* readahead_max sectors past the request; 0: all of the segment */
	READAHEAD_TRACK_NEXT = 4, /* to the end of the track, through the next if sequential */
};

enum profile_write_cache {
	WRITE_CACHE_OFF,	/* done when on the media */
	WRITE_CACHE_THROUGH,	/* as off, but reads hit what was written */
	WRITE_CACHE_SEQUENTIAL,	/* immediate report for sequential streams */
	WRITE_CACHE_BACK,	/* done when in the buffer; destaged later */
};

enum profile_scheduler {
	SCHEDULER_FIFO,
	SCHEDULER_DEADLINE,
	SCHEDULER_CLOOK,
};

/* Zones lie one after another from sector 0 on. */
struct profile_zone {
	u32 first_cyl;
	u32 last_cyl;
	u32 sectors_per_track;
	u32 first_offset;	/* angle of the zone's first sector, in sectors */
	u32 track_skew;		/* sectors */
	u32 cyl_skew;		/* sectors */
	u32 front_empty;	/* sectors at the zone's start that hold no data */
	u32 spares;		/* unit by sparing scheme */
	u64 first_sector;	/* of the disk */
	u64 sectors;
	u32 first_slip;		/* index into profile.slips */
	u32 slips;
};

struct profile_seek {
	u32 cylinders;
	u64 ns;
};

struct profile_remap {
	u32 zone;
	u32 from;
	u32 to;
};

/* Command overhead by the kind of a request and by that of the one before it. */
enum profile_kind { KIND_READ_HIT, KIND_READ_MISS, KIND_WRITE_HIT, KIND_WRITE_MISS, KIND_NR };

struct profile {
	char name[PROFILE_NAME_LEN];

	/* Geometry */
	u64 sectors;			/* capacity */
	u32 logical_block;		/* bytes */
	u32 physical_block;		/* bytes */
	u32 rpm;			/* thousandths of a revolution per minute */
	u64 revolution;			/* from rpm */
	u32 cylinders;
	u32 heads;
	bool serpentine;		/* heads run backwards on odd cylinders of a zone */
	enum profile_sparing sparing;
	u32 sparing_range;		/* cylinders */
	u32 nr_zones;
	struct profile_zone *zones;
	u32 nr_slips;
	u32 *slips;
	u32 nr_remaps;
	struct profile_remap *remaps;

	/* Mechanics: a table if there is one, else the two-part curve */
	u32 nr_seeks;
	struct profile_seek *seeks;	/* by distance; linear between and past the entries */
	u64 seek_short_base;		/* distance < seek_limit: base + factor * sqrt(distance) */
	u64 seek_short_factor;
	u64 seek_long_base;		/* else: base + factor * distance */
	u64 seek_long_factor;		/* picoseconds per cylinder */
	u32 seek_limit;			/* cylinders */
	u64 head_switch;
	u64 cylinder_switch;		/* least time of any seek; 0: as the curve says */
	s64 write_settle;		/* added to each repositioning of a write */
	bool settle_on_switch;		/* to a head switch and a seek of one cylinder, too */

	/* Host bus, ns per sector */
	u64 bus_read;
	u64 bus_write;

	/* Cache */
	u32 segments;			/* 0: none */
	u32 segment_sectors;
	u32 write_segments;
	u32 write_buffer;		/* 0: writes take segments of the above */
	bool read_cache;
	enum profile_write_cache write_cache;
	enum profile_readahead readahead;
	u32 readahead_min;
	u32 readahead_max;
	u32 readahead_stream;
	bool readahead_over_requested;
	bool drop_requested;
	bool keep_requested;
	bool readahead_on_idle_hit;
	bool read_any_free;
	bool read_hits_on_write_data;
	bool separate_write_segment;
	bool combine_sequential_writes;
	bool stop_prefetch_in_sector;
	bool write_hit_stops_prefetch;
	bool read_directly_to_buffer;
	bool transfer_partial_hit;
	bool immediate_read;
	bool immediate_write;
	bool water_mark_by_request;
	u32 read_water_mark;		/* thousandths of a segment, or of the request */
	u32 write_water_mark;
	u64 destage_idle;		/* idle time before the write cache is destaged */

	/* Overheads */
	u64 overhead;			/* of every request */
	u64 overhead_by_kind[KIND_NR][2];	/* [kind][0: after a read, 1: after a write] */
	u64 read_completion;
	u64 write_completion;
	u64 data_preparation;
	u64 first_reselect;
	u64 other_reselect;
	u64 read_disconnect_after_read;
	u64 read_disconnect_after_write;
	u64 write_disconnect;
	bool extra_write_disconnect;
	u64 xd_command;
	u64 xd_disconnect;
	u64 xd_inter;
	u64 xd_second;
	u64 xd_seek_delta;
	u64 min_seek_delay;
	bool hold_bus_read;
	bool hold_bus_write;
	bool never_disconnect;
	u64 flush_overhead;
	bool write_zeroes;		/* the drive has the command; it takes no time */

	/* Native command queue of the drive */
	u32 ncq_depth;			/* 1: none */
	u64 ncq_age_limit;		/* a command that waited longer goes first */
	u32 ncq_rotation;		/* thousandths of the rotation that the choice knows */
	u32 ncq_rotation_stream;	/* share of that, if another command continues this one */

	/* The host's request queue, which the replica queue copies */
	u32 nr_requests;		/* for each direction */
	u32 nr_batching;		/* requests a woken submitter may add to a full queue */
	u32 max_sectors;		/* largest request */
	u32 max_segments;
	enum profile_scheduler scheduler;
	u64 plug_time;			/* 0: no plugging */
	u32 plug_threshold;		/* requests that unplug */
};

/* Where and what is wrong with a profile. */
struct profile_error {
	unsigned int line;		/* from 1 on; for a one-word profile, the item */
	char text[120];
};

/*
 * Parse the text form: items "name = value unit", one on a line or separated by
 * ";", blanks free, "#" to the end of a line is comment (a source, mostly).
 * Numbers may have decimals, and are exact to the unit of the struct. @text need
 * not end in NUL. Allocates the tables with GFP_KERNEL. Returns 0, -ENOMEM, or
 * -EINVAL with @error filled, and then nothing to free.
 */
int profile_parse(struct profile *profile, const char *text, size_t len,
		  struct profile_error *error);

/*
 * Print the one-word form. It has no blanks, and parsing it gives the same struct. Returns what
 * snprintf() would.
 */
size_t profile_print(const struct profile *profile, char *buf, size_t size);

/*
 * Make @profile describe a disk of @sectors, by giving every zone the same share
 * of the cylinders, and every seek the same share of the full stroke, that it had.
 * Returns 0, -ENOMEM or -EINVAL.
 */
int profile_scale(struct profile *profile, u64 sectors);

/* Free the tables. Takes a zeroed profile, too. */
void profile_free(struct profile *profile);

#endif
