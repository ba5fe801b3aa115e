// SPDX-License-Identifier: GPL-2.0
/*
 * Every parameter of a profile: name, kind, place, limits, value when it is not given.
 *
 * The limits keep the model's arithmetic within 64 bits. They also bound the memory and the time
 * that a hostile profile costs.
 */
#include "profile-options.h"

#define NSEC_US		1000LL
#define NSEC_MS		1000000LL
#define NSEC_S		1000000000LL

/* No mechanical step and no command overhead takes longer; the square fits in 64 bits. */
#define LONGEST		PROFILE_LONGEST

#define COLUMN(s, f)	.size = sizeof(((struct s *)0)->f), .offset = offsetof(struct s, f)
#define FIELD(f)	COLUMN(profile, f)

#define COUNT(n, f, l, m, p, h, ...)							\
	{ .name = n, .kind = OPTION_COUNT, FIELD(f), .least = l, .most = m, .preset = p,	\
	  .help = h, __VA_ARGS__ }
#define SECTORS(n, f, l, m, p, h, ...)						\
	{ .name = n, .kind = OPTION_SECTORS, FIELD(f),				\
	  .least = l, .most = m, .preset = p, .help = h, \
	  __VA_ARGS__ }
#define TIME(n, f, p, h, ...)							\
	{ .name = n, .kind = OPTION_TIME, FIELD(f), .most = LONGEST, .preset = p, .help = h, \
	  __VA_ARGS__ }
#define SHARE(n, f, p, h, ...)							\
	{ .name = n, .kind = OPTION_SHARE, FIELD(f), .most = 1000, .preset = p, .help = h, \
	  __VA_ARGS__ }
#define FLAG(n, f, p, h, ...)							\
	{ .name = n, .kind = OPTION_FLAG, FIELD(f), .most = 1, .preset = p, .help = h, \
	  __VA_ARGS__ }
#define RATE(n, f, l, p, h, ...)						\
	{ .name = n, .kind = OPTION_RATE, FIELD(f), .least = l, .most = 1LL << 50,	\
	  .preset = p, .help = h, __VA_ARGS__ }
#define CHOICE(n, f, c, p, h, ...)							\
	{ .name = n, .kind = OPTION_CHOICE, FIELD(f), .choices = c, .preset = p, .help = h, \
	  __VA_ARGS__ }

static const char *const sparing_names[] = {
	[SPARING_NONE] = "none",
	[SPARING_TRACKS] = "tracks",
	[SPARING_CYLINDER] = "cylinder",
	[SPARING_TRACK] = "track",
	[4] = "", [5] = "", [6] = "",
	[SPARING_DISK_END] = "disk-end",
	[SPARING_RANGE] = "range",
	[SPARING_ZONE_END] = "zone-end",
	NULL
};

static const char *const readahead_names[] = {
	[READAHEAD_NONE] = "none",
	[READAHEAD_TRACK] = "track",
	[READAHEAD_CYLINDER] = "cylinder",
	[READAHEAD_MAX] = "max",
	[READAHEAD_TRACK_NEXT] = "track-next",
	NULL
};

static const char *const write_cache_names[] = {
	[WRITE_CACHE_OFF] = "off",
	[WRITE_CACHE_THROUGH] = "through",
	[WRITE_CACHE_SEQUENTIAL] = "sequential",
	[WRITE_CACHE_BACK] = "back",
	NULL
};

static const char *const scheduler_names[] = {
	[SCHEDULER_FIFO] = "fifo",
	[SCHEDULER_DEADLINE] = "deadline",
	[SCHEDULER_CLOOK] = "clook",
	[SCHEDULER_NONE] = "none",
	[SCHEDULER_MQ_DEADLINE] = "mq-deadline",
	NULL
};

static const char *const scheduler_refused[] = {
	"bfq", "goes by processes and their past, which the model does not have",
	"kyber", "is not modelled",
	NULL
};

static const char *const kind_names[] = {
	[DRIVE_DISK] = "disk",
	[DRIVE_SSD] = "ssd",
	[DRIVE_MEMORY] = "memory",
	NULL
};

static const char *const host_names[] = {
	[HOST_LINUX_2_6_23] = "linux-2.6.23",
	[HOST_NVME] = "nvme",
	[HOST_BLK_MQ] = "blk-mq",
	NULL
};

static const char *const interface_names[] = {
	[INTERFACE_HOST] = "host",
	[INTERFACE_SATA] = "sata",
	[INTERFACE_SAS] = "sas",
	[INTERFACE_PCIE] = "pcie",
	NULL
};

static const char *const gc_names[] = {
	[GC_GREEDY] = "greedy",
	[GC_FIFO] = "fifo",
	[GC_CHOICES] = "choices",
	[GC_COST_BENEFIT] = "cost-benefit",
	NULL
};

static const char *const slc_full_names[] = {
	[SLC_FULL_DIRECT] = "direct",
	[SLC_FULL_FOLD] = "fold",
	NULL
};

static const char *const precondition_names[] = {
	[PRECONDITION_FRESH] = "fresh",
	[PRECONDITION_SEQUENTIAL] = "sequential",
	[PRECONDITION_RANDOM] = "random",
	NULL
};

/* Kinds of drives that have a parameter; without a word it is a disk's. */
#define OF_SSD		.kinds = BIT(DRIVE_SSD)
#define OF_MEMORY	.kinds = BIT(DRIVE_MEMORY)
#define OF_SOLID	.kinds = BIT(DRIVE_SSD) | BIT(DRIVE_MEMORY)
#define OF_CACHED	.kinds = BIT(DRIVE_DISK) | BIT(DRIVE_SSD)
#define OF_ALL		.kinds = BIT(DRIVE_KIND_NR) - 1

/* DiskSim has this parameter, and its files are imported. It has no effect on the model. */
#define NO_EFFECT	"no effect: "

#define MAX_HEADS	256
#define MAX_TRACK	65536		/* sectors of a track */

static const struct profile_option zone_columns[] = {
	{ .name = "first_cyl", .kind = OPTION_COUNT, COLUMN(profile_zone, first_cyl),
	  .required = true, .most = PROFILE_MAX_CYLINDERS - 1 },
	{ .name = "last_cyl", .kind = OPTION_COUNT, COLUMN(profile_zone, last_cyl),
	  .required = true, .most = PROFILE_MAX_CYLINDERS - 1 },
	{ .name = "sectors_per_track", .kind = OPTION_COUNT,
	  COLUMN(profile_zone, sectors_per_track), .required = true,
	  .least = 1, .most = MAX_TRACK },
	{ .name = "sectors", .kind = OPTION_COUNT, COLUMN(profile_zone, sectors),
	  .required = true, .least = 1, .most = PROFILE_MAX_SECTORS },
	{ .name = "track_skew", .kind = OPTION_COUNT, COLUMN(profile_zone, track_skew),
	  .most = MAX_TRACK },
	{ .name = "cyl_skew", .kind = OPTION_COUNT, COLUMN(profile_zone, cyl_skew),
	  .most = MAX_TRACK },
	{ .name = "first_offset", .kind = OPTION_COUNT, COLUMN(profile_zone, first_offset),
	  .most = MAX_TRACK },
	{ .name = "front_empty", .kind = OPTION_COUNT, COLUMN(profile_zone, front_empty),
	  .most = 1 << 30 },
	{ .name = "spares", .kind = OPTION_COUNT, COLUMN(profile_zone, spares),
	  .most = 1 << 24 },
	{ }
};

static const struct profile_option seek_columns[] = {
	{ .name = "cylinders", .kind = OPTION_COUNT, COLUMN(profile_seek, cylinders),
	  .required = true, .least = 1, .most = PROFILE_MAX_CYLINDERS },
	{ .name = "time", .kind = OPTION_TIME, COLUMN(profile_seek, ns),
	  .required = true, .most = LONGEST },
	{ }
};

/* A slip's zone only says whose it is: it is stored in no field of its own. */
static const struct profile_option slip_columns[] = {
	{ .name = "zone", .kind = OPTION_COUNT, COLUMN(profile_remap, zone),
	  .required = true, .most = PROFILE_MAX_ZONES - 1 },
	{ .name = "location", .kind = OPTION_COUNT, COLUMN(profile_remap, from),
	  .required = true, .most = U32_MAX },
	{ }
};

static const struct profile_option remap_columns[] = {
	{ .name = "zone", .kind = OPTION_COUNT, COLUMN(profile_remap, zone),
	  .required = true, .most = PROFILE_MAX_ZONES - 1 },
	{ .name = "from", .kind = OPTION_COUNT, COLUMN(profile_remap, from),
	  .required = true, .most = U32_MAX },
	{ .name = "to", .kind = OPTION_COUNT, COLUMN(profile_remap, to),
	  .required = true, .most = U32_MAX },
	{ }
};

const struct profile_option profile_options[] = {
	[ITEM_ZONE] = { .name = "zone", .kind = OPTION_ITEMS, .required = true,
	  .most = PROFILE_MAX_ZONES, .columns = zone_columns,
	  .help = "a zone, from the first sector on; angles and skews in sectors" },
	[ITEM_SEEK] = { .name = "seek", .kind = OPTION_ITEMS,
	  .most = PROFILE_MAX_SEEKS, .columns = seek_columns,
	  .help = "time of a seek by distance; linear between and past the entries" },
	[ITEM_SLIP] = { .name = "slip", .kind = OPTION_ITEMS,
	  .most = PROFILE_MAX_SLIPS, .columns = slip_columns,
	  .help = "a defect that was slipped: sector of the zone, or track with sparing=tracks" },
	[ITEM_REMAP] = { .name = "remap", .kind = OPTION_ITEMS,
	  .most = PROFILE_MAX_REMAPS, .columns = remap_columns,
	  .help = "a defect that was replaced by another sector of the zone" },

	{ .name = "name", .kind = OPTION_NAME, FIELD(name), .required = true, OF_ALL,
	  .help = "of the drive: letters, digits, dots, dashes, underscores" },

	CHOICE("kind", kind, kind_names, DRIVE_DISK, "what the drive is", OF_ALL),
	CHOICE("host", host, host_names, HOST_LINUX_2_6_23, "queue in front of the drive", OF_ALL),
	{ .name = "capacity", .kind = OPTION_SECTORS, FIELD(sectors), .required = true, OF_ALL,
	  .least = 1, .most = PROFILE_MAX_SECTORS, .help = "as the drive reports it" },
	{ .name = "logical_block", .kind = OPTION_BYTES, FIELD(logical_block), OF_ALL,
	  .least = 512, .most = 4096, .preset = 512, .help = "512 or 4096" },
	{ .name = "physical_block", .kind = OPTION_BYTES, FIELD(physical_block), OF_ALL,
	  .least = 512, .most = 4096, .preset = 512, .help = "512, or 4096 for 512e and 4Kn" },
	{ .name = "rpm", .kind = OPTION_SPEED, FIELD(rpm), .required = true,
	  .least = 60000, .most = 100000000, .help = "spindle speed" },
	{ .name = "cylinders", .kind = OPTION_COUNT, FIELD(cylinders), .required = true,
	  .least = 1, .most = PROFILE_MAX_CYLINDERS, .help = "in all zones, and between them" },
	{ .name = "heads", .kind = OPTION_COUNT, FIELD(heads), .required = true,
	  .least = 1, .most = MAX_HEADS, .help = "data surfaces" },
	FLAG("serpentine", serpentine, 0, "heads run backwards on odd cylinders of a zone"),
	CHOICE("sparing", sparing, sparing_names, SPARING_NONE, "where the spares lie"),
	COUNT("sparing_range", sparing_range, 1, PROFILE_MAX_CYLINDERS, 1,
	      "cylinders that share spares with sparing=range"),

	TIME("seek_short_base", seek_short_base, 0, "seeks shorter than seek_limit: base"),
	TIME("seek_short_factor", seek_short_factor, 0,
	     "... + factor * square root of the distance"),
	TIME("seek_long_base", seek_long_base, 0, "longer seeks: base"),
	{ .name = "seek_long_factor", .kind = OPTION_FINE_TIME, FIELD(seek_long_factor),
	  .most = PROFILE_LONGEST_FINE, .help = "... + factor * distance, time a cylinder" },
	COUNT("seek_limit", seek_limit, 0, PROFILE_MAX_CYLINDERS, 0,
	      "distance of the first long seek"),
	TIME("head_switch", head_switch, 0, "change to another head of the cylinder"),
	TIME("cylinder_switch", cylinder_switch, 0,
	     "least time of any seek; 0: as the curve says"),
	{ .name = "write_settle", .kind = OPTION_TIME, FIELD(write_settle),
	  .least = -100 * NSEC_MS, .most = 100 * NSEC_MS,
	  .help = "added to a seek or head switch before a write; may be negative" },
	FLAG("settle_on_switch", settle_on_switch, 1,
	     "write_settle is added to a head switch and to a seek of one cylinder, too"),

	TIME("bus_read", bus_read, 0, "time on the host bus of a sector read"),
	TIME("bus_write", bus_write, 0, "time on the host bus of a sector written"),

	COUNT("segments", segments, 0, 1024, 0, "of the cache; 0: no cache"),
	SECTORS("segment_sectors", segment_sectors, 0, 1 << 24, 0, "size of a segment"),
	COUNT("write_segments", write_segments, 0, 8192, 1,
	      "segments that writes may use, or runs in the write buffer"),
	SECTORS("write_buffer", write_buffer, 0, 1 << 24, 0,
		"what may be dirty; 0: a write takes a segment, however short it is", OF_CACHED),
	FLAG("read_cache", read_cache, 1, "reads may be served from the cache"),
	CHOICE("write_cache", write_cache, write_cache_names, WRITE_CACHE_OFF,
	       "when a write is done; of an SSD: back, if the host has to flush", OF_CACHED),
	CHOICE("readahead", readahead, readahead_names, READAHEAD_NONE,
	       "how far a read goes on by itself"),
	SECTORS("readahead_min", readahead_min, 0, 1 << 24, 0, "read ahead whatever waits"),
	SECTORS("readahead_max", readahead_max, 0, 1 << 24, 0, "read ahead at most"),
	SECTORS("readahead_stream", readahead_stream, 0, 1 << 24, 0,
		"as readahead_min, after a read that goes on with one before"),
	FLAG("readahead_over_requested", readahead_over_requested, 0,
	     "read-ahead may overwrite what was asked for"),
	FLAG("drop_requested", drop_requested, 0,
	     "what was asked for leaves the cache once the host has it"),
	FLAG("keep_requested", keep_requested, 0,
	     "... stays, if it is no more than half a segment, until a read goes on with it"),
	FLAG("readahead_on_idle_hit", readahead_on_idle_hit, 0,
	     "a hit on an idle drive starts read-ahead again"),
	FLAG("read_any_free", read_any_free, 0, "read what comes under the head before the data"),
	FLAG("read_hits_on_write_data", read_hits_on_write_data, 1,
	     "reads may be served with data written"),
	FLAG("separate_write_segment", separate_write_segment, 0,
	     "writes have a segment of their own"),
	FLAG("combine_sequential_writes", combine_sequential_writes, 1,
	     "sequential writes share a segment"),
	FLAG("stop_prefetch_in_sector", stop_prefetch_in_sector, 0,
	     "read-ahead stops in the middle of a sector"),
	FLAG("write_hit_stops_prefetch", write_hit_stops_prefetch, 1,
	     "a write taken by the cache stops read-ahead"),
	FLAG("read_directly_to_buffer", read_directly_to_buffer, 1,
	     NO_EFFECT "reads may begin before the segment is free"),
	FLAG("transfer_partial_hit", transfer_partial_hit, 1,
	     NO_EFFECT "what is in the cache goes to the host before the rest is read"),
	FLAG("immediate_read", immediate_read, 0, "a track is read from where the head comes down"),
	FLAG("immediate_write", immediate_write, 0,
	     "a track is written from where the head comes down"),
	FLAG("water_mark_by_request", water_mark_by_request, 1,
	     "water marks are shares of the request, not of a segment"),
	SHARE("read_water_mark", read_water_mark, 0,
	      "share in the buffer when a read takes the bus"),
	SHARE("write_water_mark", write_water_mark, 0,
	      NO_EFFECT "share left in the buffer when a write takes the bus again"),
	TIME("destage_idle", destage_idle, 0, "idle time before the write cache is written out"),

	SECTORS("media_cache", media_cache, 0, 1U << 30, 0,
		"shingled (SMR): what is not a whole band goes there first; 0: not shingled"),
	COUNT("media_cache_map", media_cache_map, 2, 1 << 19, 1 << 17,
	      "runs of sectors that may be there"),
	COUNT("media_cache_packet", media_cache_packet, 1, 1 << 16, 32,
	      "runs that are written there one behind the other"),
	TIME("media_cache_overhead", media_cache_overhead, 0, "... after a header of that time"),
	SECTORS("band", band, 0, 1 << 24, 0, "that can only be written as a whole"),
	TIME("clean_idle", clean_idle, 0, "idle time before bands are written with what is there"),

	SECTORS("zone_size", zone_size, 0, 1 << 26, 0,
		"zones that the host writes in order: of so much, a power of two; 0: none",
		OF_CACHED),
	SECTORS("zone_capacity", zone_capacity, 0, 1 << 26, 0,
		"of each, what can be written; 0: all of it", OF_CACHED),
	COUNT("conventional_zones", conventional_zones, 0, 1 << 20, 0,
	      "at the front of the disk, that are written at any place", OF_CACHED),
	COUNT("max_open_zones", max_open_zones, 0, 1 << 20, 0, "at a time; 0: no limit",
	      OF_CACHED),
	COUNT("max_active_zones", max_active_zones, 0, 1 << 20, 0,
	      "open or closed, with data and room for more; 0: no limit", OF_CACHED),
	SECTORS("zone_append_limit", zone_append_limit, 0, 65536, 0,
		"the largest zone append; 0: the drive has none", OF_SSD),
	TIME("zone_open_time", zone_open_time, 0, "of the command that opens a zone", OF_CACHED),
	TIME("zone_close_time", zone_close_time, 0, "that closes it", OF_CACHED),
	TIME("zone_finish_time", zone_finish_time, 0, "that makes it full", OF_CACHED),
	TIME("zone_reset_time", zone_reset_time, 0, "that empties it", OF_CACHED),
	TIME("zone_implicit_open_time", zone_implicit_open_time, 0,
	     "more, of a write that opens its zone", OF_SSD),
	TIME("zone_finish_empty_time", zone_finish_empty_time, 0,
	     "more, to finish a zone with nothing in it; in between, by what is missing", OF_SSD),
	TIME("zone_reset_full_time", zone_reset_full_time, 0,
	     "more, to reset a full zone; in between, by what is in it", OF_SSD),
	TIME("append_command_time", append_command_time, 0,
	     "as write_command_time, of an append; 0: no other", OF_SSD),
	COUNT("zone_dies", zone_dies, 0, 1024, 0, "that a zone lies on; 0: all", OF_SSD),
	SECTORS("zone_buffer", zone_buffer, 0, 1 << 24, 0,
		"of a zone, what may wait for dies; 0: all of write_buffer", OF_SSD),

	TIME("overhead", overhead, 0, "of every command"),
	TIME("overhead_read_hit_after_read", overhead_by_kind[KIND_READ_HIT][0],
	     0, "by kind of the command and of the one before"),
	TIME("overhead_read_hit_after_write", overhead_by_kind[KIND_READ_HIT][1], 0, "..."),
	TIME("overhead_read_miss_after_read", overhead_by_kind[KIND_READ_MISS][0], 0, "..."),
	TIME("overhead_read_miss_after_write", overhead_by_kind[KIND_READ_MISS][1], 0, "..."),
	TIME("overhead_write_hit_after_read", overhead_by_kind[KIND_WRITE_HIT][0], 0, "..."),
	TIME("overhead_write_hit_after_write", overhead_by_kind[KIND_WRITE_HIT][1], 0, "..."),
	TIME("overhead_write_miss_after_read", overhead_by_kind[KIND_WRITE_MISS][0], 0, "..."),
	TIME("overhead_write_miss_after_write", overhead_by_kind[KIND_WRITE_MISS][1], 0, "..."),
	TIME("read_completion", read_completion, 0, "end of a read, on the bus"),
	TIME("write_completion", write_completion, 0, "end of a write, on the bus"),
	TIME("data_preparation", data_preparation, 0, "before data go over the bus"),
	TIME("first_reselect", first_reselect, 0, "first taking the bus again after a disconnect"),
	TIME("other_reselect", other_reselect, 0, "each later one"),
	TIME("read_disconnect_after_read", read_disconnect_after_read, 0,
	     NO_EFFECT "leaving the bus in a read that follows a read"),
	TIME("read_disconnect_after_write", read_disconnect_after_write, 0,
	     NO_EFFECT "leaving the bus in a read that follows a write"),
	TIME("write_disconnect", write_disconnect, 0, NO_EFFECT "leaving the bus in a write"),
	FLAG("extra_write_disconnect", extra_write_disconnect, 0,
	     "writes leave the bus once more after the command"),
	TIME("xd_command", xd_command, 0, "that extra disconnect: command overhead before it"),
	TIME("xd_disconnect", xd_disconnect, 0, "... leaving the bus"),
	TIME("xd_inter", xd_inter, 0, "... off the bus"),
	TIME("xd_second", xd_second, 0, NO_EFFECT "... second leaving"),
	TIME("xd_seek_delta", xd_seek_delta, 0, "... delay of the seek"),
	TIME("min_seek_delay", min_seek_delay, 0, "least time from command to start of the seek"),
	FLAG("hold_bus_read", hold_bus_read, 0,
	     "a read keeps the bus: what it takes after a read only is not in the arm's way"),
	FLAG("hold_bus_write", hold_bus_write, 0,
	     NO_EFFECT "a write keeps the bus until it has its data"),
	FLAG("never_disconnect", never_disconnect, 0,
	     "the drive keeps the bus for all of a command"),
	TIME("flush_overhead", flush_overhead, 0, "of a flush, beside the writing", OF_ALL),
	FLAG("write_zeroes", write_zeroes, 0,
	     "the drive zeroes a range by command, in no time; else its host writes zeros",
	     OF_ALL),

	CHOICE("interface", interface, interface_names, INTERFACE_HOST,
	       "with sata reads and writes share the link; host: pcie with nvme, else sata",
	       OF_SOLID),
	RATE("link_rate", link_rate, 1000000, 600000000, "of the interface, each way", OF_SOLID),
	TIME("link_command_time", link_command_time, 0,
	     "of the link, for a command's frames without data", OF_SOLID),
	TIME("command_time", command_time, 0, "of the controller, for one command at a time",
	     OF_SOLID),
	TIME("write_command_time", write_command_time, 0, "the same, of a write; 0: command_time",
	     OF_SOLID),
	TIME("page_time", page_time, 0, "more, for each 4 KiB of a read after the first",
	     OF_SOLID),
	TIME("wake_time", wake_time, 0, "more, of a read that finds the drive idle", OF_SOLID),
	TIME("write_wake_time", write_wake_time, 0, "more, of a write that does", OF_SOLID),
	TIME("read_latency", read_latency, 0, "of a read beside that, shared with others",
	     OF_SOLID),
	TIME("write_latency", write_latency, 0, "of a write", OF_SOLID),
	COUNT("interrupt_batch", interrupt_batch, 0, 64, 0,
	      "commands that have ended for an interrupt of the host, if more are under way",
	      OF_SOLID),
	TIME("interrupt_time", interrupt_time, 0,
	     "the most that a command waits for others to end, with interrupt_batch", OF_SOLID),
	COUNT("units", units, 1, 255, 1, "commands served at a time, each for its latency",
	      OF_MEMORY),

	COUNT("dies", dies, 1, 1024, 16, "of flash: each does one thing at a time", OF_SSD),
	COUNT("channels", channels, 1, 64, 4, "that dies share", OF_SSD),
	RATE("channel_rate", channel_rate, 1000000, 400000000, "of each channel", OF_SSD),
	{ .name = "flash_page", .kind = OPTION_BYTES, FIELD(flash_page), OF_SSD,
	  .least = 4096, .most = 1 << 20, .preset = 16384, .help = "that a die reads at a time" },
	{ .name = "program_unit", .kind = OPTION_BYTES, FIELD(program_unit), OF_SSD,
	  .least = 4096, .most = 1 << 22, .preset = 65536, .help = "that a die writes at a time" },
	COUNT("page_types", page_types, 1, 4, 3,
	      "bits of a cell, which are read at different speeds", OF_SSD),
	TIME("read_time", read_time, 50 * NSEC_US, "of a die, for the fastest page type", OF_SSD),
	TIME("scattered_read_time", scattered_read_time, 0,
	     "the same, of a page that was written by itself; 0: read_time", OF_SSD),
	TIME("read_step", read_step, 0, "the other types are slower by 1, 3 and 7 times this",
	     OF_SSD),
	SHARE("retries", retries, 0, "of all reads of a die, that take longer", OF_SSD),
	TIME("retry_time", retry_time, 0, "by this", OF_SSD),
	TIME("program_time", program_time, 700 * NSEC_US, "of a die", OF_SSD),
	TIME("erase_time", erase_time, 3 * NSEC_MS, "of a die", OF_SSD),
	TIME("suspend_time", suspend_time, 0, "until a die that programs or erases can read",
	     OF_SSD),
	COUNT("suspends", suspends, 0, 65536, 0,
	      "reads that go before the rest of a program or erase; 0: they wait for its end",
	      OF_SSD),
	SHARE("locked_programs", locked_programs, 0,
	      "of all programs, that reads cannot suspend", OF_SSD),
	COUNT("map_flushes", map_flushes, 0, 1 << 20, 0,
	      "every so many flushes that write, the map is written, too; 0: never", OF_SSD),
	TIME("map_flush_time", map_flush_time, 0, "which takes so long", OF_SSD),
	{ .name = "write_stripe", .kind = OPTION_COUNT, FIELD(write_stripe), OF_SSD,
	  .most = 1 << 30, .help = "bytes over the dies that collection moves in one go" },
	TIME("flush_time", flush_time, 0,
	     "of a flush that has something to write, one after another; without power-loss protection",
	     OF_SSD),
	SECTORS("map_cache", map_cache, 0, 1 << 24, 0,
		"memory for parts of the map; a part that is not there is read first; 0: all are",
		OF_SSD),
	{ .name = "map_page", .kind = OPTION_BYTES, FIELD(map_page), OF_SSD,
	  .least = 512, .most = 1 << 20, .preset = 4096, .help = "such a part: a power of two" },
	SECTORS("map_coverage", map_coverage, 8, 1 << 24, 1 << 13, "that a part tells of", OF_SSD),
	FLAG("power_loss_protection", power_loss_protection, 0,
	     "what is in the write buffer lasts, so a flush writes nothing", OF_SSD),
	FLAG("buffer_reads", buffer_reads, 0,
	     "what waits in the write buffer, or is being programmed, is read from there", OF_SSD),
	SECTORS("slc_cache", slc_cache, 0, PROFILE_MAX_SECTORS, 0,
		"data that are written with one bit a cell at first; 0: none", OF_SSD),
	SECTORS("slc_cache_min", slc_cache_min, 0, PROFILE_MAX_SECTORS, 0,
		"what that shrinks to as the drive fills; 0: it does not", OF_SSD),
	TIME("slc_program_time", slc_program_time, 200 * NSEC_US,
	     "of a die there, for a program_unit", OF_SSD),
	TIME("slc_read_time", slc_read_time, 25 * NSEC_US, "of a die there", OF_SSD),
	CHOICE("slc_full", slc_full, slc_full_names, SLC_FULL_DIRECT,
	       "writes that find no room there: direct goes past it, fold makes room first",
	       OF_SSD),
	{ .name = "slc_idle_after", .kind = OPTION_TIME, FIELD(slc_idle_after), OF_SSD,
	  .most = 86400 * NSEC_S, .help = "an idle drive empties it after this time" },
	RATE("slc_fold_rate", slc_fold_rate, 0, 0, "bytes a second of that; 0: none", OF_SSD),
	SECTORS("raw_capacity", raw_sectors, 0, PROFILE_MAX_SECTORS, 0,
		"flash for data and collection; 0: 7 % more than capacity", OF_SSD),
	SECTORS("gc_unit", gc_unit, 8, 1LL << 31, 1 << 21, "erased together: a power of two",
		OF_SSD),
	CHOICE("gc", gc, gc_names, GC_GREEDY, "which unit is collected", OF_SSD),
	COUNT("gc_choices", gc_choices, 1, 64, 10, "drawn with gc=choices", OF_SSD),
	FLAG("gc_separate", gc_separate, 1, "pages moved are kept apart from those written",
	     OF_SSD),
	{ .name = "gc_idle_after", .kind = OPTION_TIME, FIELD(gc_idle_after), OF_SSD,
	  .most = 86400 * NSEC_S, .help = "an idle drive collects after this time" },
	RATE("gc_idle_rate", gc_idle_rate, 0, 0, "bytes that it moves a second; 0: none", OF_SSD),
	SECTORS("gc_idle_room", gc_idle_room, 0, PROFILE_MAX_SECTORS, 0,
		"free flash that it stops at", OF_SSD),
	COUNT("sample", sample, 0, 4096, 0,
	      "one page of so many is in the map: a power of two; 0: so many that it fits 7 MiB",
	      OF_SSD),
	CHOICE("precondition", precondition, precondition_names, PRECONDITION_FRESH,
	       "what had been written before", OF_SSD),
	SHARE("precondition_fill", precondition_fill, 1000, "share of the capacity that was",
	      OF_SSD),

	COUNT("ncq_depth", ncq_depth, 1, 256, 1,
	      "commands the drive chooses from; 1: none queued", OF_ALL),
	COUNT("ncq_unseen", ncq_unseen, 0, 255, 0,
	      "the commands that came last, which it does not choose from yet"),
	COUNT("ncq_fair", ncq_fair, 0, 255, 0,
	      "with so many waiting in it or fewer, none is passed over more than twice"),
	TIME("ncq_age_limit", ncq_age_limit, 2000 * NSEC_MS,
	     "a command that waited longer in the drive goes first"),
	SHARE("ncq_rotation", ncq_rotation, 1000,
	      "of the rotational wait that the choice knows; the rest counts as half a revolution"),
	SHARE("ncq_rotation_stream", ncq_rotation_stream, 1000,
	      "of that share, where another command in the drive goes on with this one"),

	/* Linux 2.6.23, block/ll_rw_blk.c and include/linux/blkdev.h */
	COUNT("nr_requests", nr_requests, 1, 2048, 128,
	      "requests of the queue, each direction; with blk-mq of both, 2 * hw_depth", OF_ALL),
	COUNT("nr_batching", nr_batching, 0, 2048, 32,
	      "requests that a woken submitter may add to a full queue", OF_ALL),
	SECTORS("max_sectors", max_sectors, 8, 65536, 1024,
		"largest request; with blk-mq 1280 KiB", OF_ALL),
	COUNT("max_segments", max_segments, 1, 65536, 128,
	      "memory pages of the largest request; with blk-mq 168", OF_ALL),
	CHOICE("scheduler", scheduler, scheduler_names, SCHEDULER_FIFO,
	       "of the host's queue; with blk-mq mq-deadline, or none",
	       .refused = scheduler_refused, OF_ALL),
	COUNT("hw_queues", hw_queues, 1, 32, 1, "of blk-mq; a request's is its CPU modulo these",
	      OF_ALL),
	COUNT("hw_depth", hw_depth, 1, 1024, 32,
	      "of blk-mq: commands of each of these that the drive may have", OF_ALL),
	COUNT("async_depth", async_depth, 0, 2048, 0,
	      "of mq-deadline: requests of a hardware queue that may be writes; 0: all", OF_ALL),
	FLAG("fua", fua, 1, "the drive has it; else blk-mq sends a flush after the write", OF_ALL),
	TIME("plug_time", plug_time, 3 * NSEC_MS,
	     "a plugged queue waits this long; 0: no plugging", OF_ALL),
	COUNT("plug_threshold", plug_threshold, 1, 2048, 4, "requests that unplug it", OF_ALL),

	COUNT("read_retries", read_retries, 0, 10000, 20,
	      "of a block that cannot be read, until the drive says so", OF_ALL),
	/* Seagate Enterprise Performance 10K HDD v7, product manual, rev. C, table 2 */
	{ .name = "read_retry_time", .kind = OPTION_TIME, FIELD(read_retry_time), OF_ALL,
	  .most = LONGEST, .preset = 124320000, .help = "of each" },
	{ .name = "write_error_time", .kind = OPTION_TIME, FIELD(write_error_time), OF_ALL,
	  .most = LONGEST, .preset = 421790000,
	  .help = "of a write that fails, until the drive says so" },
	{ .name = "erc_read", .kind = OPTION_TIME, FIELD(erc_read), OF_ALL, .most = 6554 * NSEC_S,
	  .help = "limited recovery time (SCT ERC): the drive gives a read up then; 0: no limit" },
	{ .name = "erc_write", .kind = OPTION_TIME, FIELD(erc_write), OF_ALL,
	  .most = 6554 * NSEC_S, .help = "the same, a write" },
	{ .name = "host_timeout", .kind = OPTION_TIME, FIELD(host_timeout), OF_ALL,
	  .least = NSEC_MS, .most = 86400 * NSEC_S, .preset = 30 * NSEC_S,
	  .help = "the host waits so long for an answer" },
	COUNT("host_retries", host_retries, 0, 100, 0,
	      "and sends the command so often again; 0: none", OF_ALL),

	TIME("phase", phase, 0,
	     "in the kernel, how far the platters have turned at time 0; members of arrays differ",
	     OF_ALL),
};

const unsigned int profile_nr_options = ARRAY_SIZE(profile_options);

static const struct option_unit no_unit[] = { { "", 1 } };

static const struct option_unit sector_units[] = {
	{ "TiB", 1ULL << 31 }, { "GiB", 1 << 21 }, { "MiB", 1 << 11 }, { "KiB", 2 },
	{ "sectors", 1 }, { "", 1 }
};

static const struct option_unit byte_units[] = { { "KiB", 1024 }, { "B", 1 }, { "", 1 } };

static const struct option_unit speed_units[] = { { "rpm", 1000 }, { "", 1000 } };

static const struct option_unit share_units[] = { { "%", 10 }, { "", 1000 } };

static const struct option_unit rate_units[] = {
	{ "GB/s", NSEC_S }, { "MB/s", NSEC_MS }, { "kB/s", 1000 }, { "B/s", 1 }, { "", 0 }
};

static const struct option_unit time_units[] = {
	{ "s", NSEC_S }, { "ms", NSEC_MS }, { "us", NSEC_US }, { "ns", 1 }, { "", 0 }
};

static const struct option_unit fine_time_units[] = {
	{ "ms", 1000 * NSEC_MS }, { "us", 1000 * NSEC_US }, { "ns", 1000 }, { "ps", 1 }, { "", 0 }
};

const struct option_unit *profile_units(enum option_kind kind)
{
	switch (kind) {
	case OPTION_SECTORS:
		return sector_units;
	case OPTION_BYTES:
		return byte_units;
	case OPTION_SPEED:
		return speed_units;
	case OPTION_SHARE:
		return share_units;
	case OPTION_RATE:
		return rate_units;
	case OPTION_TIME:
		return time_units;
	case OPTION_FINE_TIME:
		return fine_time_units;
	default:
		return no_unit;
	}
}
