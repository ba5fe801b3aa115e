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

#include "../../dm-david/portable/portable.h"

#define PROFILE_NAME_LEN	32
#define SHINGLE_BLOCK		8	/* sectors: the media cache is written in whole blocks */

enum drive_kind {
	DRIVE_DISK,		/* rotates; one command at a time: drive.h */
	DRIVE_SSD,		/* flash: ssd.h */
	DRIVE_MEMORY,		/* the same time wherever the data lie: solid.h */
	DRIVE_KIND_NR
};

/* What is in front of the drive. */
enum profile_host {
	HOST_LINUX_2_6_23,	/* one queue with a scheduler: queue.h */
	HOST_NVME,		/* none: nvme.h */
	HOST_BLK_MQ,		/* queues by CPU, a scheduler: blk-mq.h */
};

/* What connects the drive, which says whether reads and writes share link_rate. */
enum profile_interface {
	INTERFACE_HOST,		/* PCIe with HOST_NVME, else Serial ATA */
	INTERFACE_SATA,		/* half duplex: one frame at a time, whichever way it goes */
	INTERFACE_SAS,		/* full duplex */
	INTERFACE_PCIE,		/* full duplex */
};

enum profile_gc {
	GC_GREEDY,		/* the block with the least valid pages */
	GC_FIFO,		/* the oldest */
	GC_CHOICES,		/* of some drawn at random the one with the least valid pages */
	GC_COST_BENEFIT,	/* age and room together */
};

/* Where writes go when the SLC cache is full. */
enum profile_slc_full {
	SLC_FULL_DIRECT,	/* past it */
	SLC_FULL_FOLD,		/* into it; as much has to leave it first */
};

/* What had been written before the drive is made. */
enum profile_precondition { PRECONDITION_FRESH, PRECONDITION_SEQUENTIAL, PRECONDITION_RANDOM };

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
	SCHEDULER_NONE,		/* this and the next are blk-mq's */
	SCHEDULER_MQ_DEADLINE,
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

/* Too large for a kernel's stack: allocate it, or make it static. */
struct profile {
	char name[PROFILE_NAME_LEN];

	u8 kind;			/* enum drive_kind */
	u8 host;			/* enum profile_host */

	u64 sectors;			/* capacity */
	u32 logical_block;		/* bytes */
	u32 physical_block;		/* bytes */

	/* Geometry */
	u64 revolution;			/* from rpm */
	u32 rpm;			/* thousandths of a revolution per minute */
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
	bool settle_on_switch;		/* write_settle: to a switch of head or cylinder, too */
	u64 head_switch;
	u64 cylinder_switch;		/* least time of any seek; 0: as the curve says */
	s64 write_settle;		/* added to each repositioning of a write */

	/* Host bus, ns per sector */
	u64 bus_read;
	u64 bus_write;

	/* Cache */
	u32 segments;			/* 0: none */
	u32 segment_sectors;
	u32 write_segments;
	u32 write_buffer;		/* 0: writes take segments of the above */
	bool read_cache;
	u8 write_cache;			/* enum profile_write_cache */
	u8 readahead;			/* enum profile_readahead */
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

	/* Shingled tracks, managed by the drive */
	u32 media_cache;		/* sectors; 0: the tracks are not shingled */
	u32 media_cache_map;		/* runs of sectors that it may have at most */
	u32 media_cache_packet;		/* runs that are appended together, */
	u32 media_cache_overhead;	/* with a header that takes so long */
	u32 band;			/* sectors that can only be written together */
	u32 clean_idle;			/* idle time before bands are cleaned */

	/* Zones that the host manages: host-managed SMR, NVMe's ZNS */
	u32 zone_size;			/* sectors, a power of two; 0: the drive has no zones */
	u32 zone_capacity;		/* of these the first so many can be written */
	u32 conventional_zones;		/* at the front of the disk: written at any place */
	u32 max_open_zones;		/* 0: no limit */
	u32 max_active_zones;
	u32 zone_append_limit;		/* sectors; 0: the drive has no append */
	u64 zone_open_time;		/* of the command, */
	u64 zone_close_time;
	u64 zone_finish_time;
	u64 zone_reset_time;
	/* and of an SSD */
	u64 zone_implicit_open_time;	/* more, of a write that opens its zone */
	u64 zone_finish_empty_time;	/* more, of an empty zone; else by what is not in it */
	u64 zone_reset_full_time;	/* more, of a full zone; else by what is in it */
	u32 append_command_time;	/* as write_command_time, of an append; 0: no other */
	u32 zone_dies;			/* that a zone lies on; 0: all */
	u32 zone_buffer;		/* sectors of a zone that may wait for dies */

	/* Overheads */
	u64 overhead;			/* of every request */
	u64 overhead_by_kind[KIND_NR][2];	/* [kind][0: after a read, 1: after a write] */
	u64 read_completion;
	u64 write_completion;
	u64 data_preparation;
	u64 first_reselect;
	u64 other_reselect;
	u32 read_disconnect_after_read;
	u32 read_disconnect_after_write;
	u32 write_disconnect;
	bool extra_write_disconnect;
	u64 xd_command;
	u64 xd_disconnect;
	u64 xd_inter;
	u32 xd_second;
	u64 xd_seek_delta;
	u64 min_seek_delay;
	bool hold_bus_read;
	bool hold_bus_write;
	bool never_disconnect;
	bool write_zeroes;		/* the drive has the command; it takes no time */
	u64 flush_overhead;

	/* Drives without an arm */
	u64 link_rate;			/* bytes a second of the interface, each way */
	u32 link_command_time;		/* of it: frames of a command that carry no data */
	u8 interface;			/* enum profile_interface */
	u32 command_time;		/* that no two commands share */
	u32 write_command_time;		/* the same, of a write; 0: no other */
	u32 page_time;			/* more, for each page of 4 KiB of a read but the first */
	u32 wake_time;			/* more, of a read that finds the drive idle */
	u32 write_wake_time;		/* and of a write */
	u32 read_latency;		/* that they do share: controller and interface */
	u32 write_latency;
	u8 units;			/* memory: that serve a command each */
	u32 interrupt_time;		/* a command that has ended waits so long at most, */
	u8 interrupt_batch;		/* until so many have; 0: it does not wait */

	/* Flash */
	u32 dies;
	u8 channels;
	u64 channel_rate;		/* bytes a second of each */
	u32 flash_page;			/* bytes that a die reads at a time */
	u32 program_unit;		/* bytes that a die writes at a time */
	u8 page_types;			/* bits of a cell */
	bool power_loss_protection;	/* what is in the write buffer lasts */
	bool buffer_reads;		/* and is read from there */
	u32 read_time;			/* of the fastest page type; */
	u32 scattered_read_time;	/* of a page written by itself; 0: the same. And */
	u32 read_step;			/* by this times 1, 3, 7 slower are the others */
	u32 retries;			/* thousandths of all reads that take longer */
	u32 retry_time;			/* by this */
	u32 program_time;
	u32 erase_time;
	u32 suspend_time;		/* until a die that programs or erases can read */
	u32 suspends;			/* reads that go before the rest of a program or erase */
	u32 locked_programs;		/* thousandths of all: reads wait for their end */
	u32 map_flushes;		/* so many flushes write the map once; 0: never */
	u32 map_flush_time;		/* which takes so long */
	u32 flush_time;			/* that no two flushes share */
	u32 write_stripe;		/* bytes over the dies that collection moves in one go */
	u32 map_cache;			/* sectors of the map in memory; 0: all of it */
	u32 map_page;			/* bytes of the map that are read at a time, */
	u32 map_coverage;		/* and the sectors that these tell of */
	u64 slc_cache;			/* sectors written one bit a cell; 0: none */
	u64 slc_cache_min;		/* the same of a full drive; 0: as many */
	u32 slc_program_time;		/* of a program_unit */
	u32 slc_read_time;
	u8 slc_full;			/* enum profile_slc_full */
	u64 slc_idle_after;
	u64 slc_fold_rate;		/* bytes a second that an idle drive takes out of it */
	u64 raw_sectors;		/* flash for data and collection */
	u64 gc_unit;			/* sectors that are erased together */
	u8 gc;				/* enum profile_gc */
	u8 gc_choices;
	bool gc_separate;		/* pages moved have blocks of their own */
	u8 precondition;		/* enum profile_precondition */
	u64 gc_idle_after;
	u64 gc_idle_rate;		/* bytes a second */
	u64 gc_idle_room;		/* sectors free that idle collection stops at */
	u32 sample;			/* one page of so many is in the map; 0: as fits */
	u32 precondition_fill;		/* thousandths of the capacity */

	/* Native command queue of the drive */
	u32 ncq_depth;			/* 1: none */
	u32 ncq_fair;			/* up to so many, none is passed over more than twice */
	u32 ncq_unseen;			/* the last so many commands are not chosen from */
	u64 ncq_age_limit;		/* a command that waited longer goes first */
	u32 ncq_rotation;		/* thousandths of the rotation that the choice knows */
	u32 ncq_rotation_stream;	/* share of that, if another command continues this one */

	/* The host's request queue, which the replica queue copies */
	u32 nr_requests;		/* for each direction */
	u32 nr_batching;		/* requests a woken submitter may add to a full queue */
	u32 max_sectors;		/* largest request */
	u32 max_segments;
	u8 scheduler;			/* enum profile_scheduler */
	u8 hw_queues;			/* of blk-mq */
	bool fua;			/* the drive has it */
	u32 hw_depth;			/* commands of each that the drive may have */
	u32 async_depth;		/* tags that writes may have; 0: all */
	u64 plug_time;			/* 0: no plugging */
	u32 plug_threshold;		/* requests that unplug */

	/* What is known to fail: model/fault/fault.h says when */
	u32 read_retries;		/* until a read of a bad block is given up, */
	u32 read_retry_time;		/* each of this */
	u32 write_error_time;		/* until a write is given up */
	u64 erc_read, erc_write;	/* SCT ERC: no longer than this; 0: no limit */
	u64 host_timeout;		/* the host gives up a command that is not answered, */
	u32 host_retries;		/* after it has sent it so often again */

	u64 phase;			/* added to the kernel's clock: where the platters start */
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

/* Has the drive a map of pages, as SSDs without zones do? */
static inline bool profile_has_map(const struct profile *profile)
{
	return profile->kind == DRIVE_SSD && !profile->zone_size;
}

/* Do reads and writes of a drive without an arm share the link? */
static inline bool profile_shares_link(const struct profile *profile)
{
	if (profile->interface == INTERFACE_HOST)
		return profile->host != HOST_NVME;
	return profile->interface == INTERFACE_SATA;
}

#endif
