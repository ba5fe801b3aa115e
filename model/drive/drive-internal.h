/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a drive consists of: drive-read.c and drive-write.c serve commands, readahead.c
 * and destage.c go on between them.
 */
#ifndef DAVID_MODEL_DRIVE_INTERNAL_H
#define DAVID_MODEL_DRIVE_INTERNAL_H

#include "cache.h"
#include "drive.h"
#include "media.h"
#include "../planted.h"
#include "write-buffer.h"

struct readahead {
	struct segment *segment;	/* NULL: none goes on */
	struct media_pass pass;
	struct media_stretch stretch;	/* under the head */
	u32 done;			/* sectors of it that are in the segment */
	u64 start;			/* time */
	u64 reached;			/* time until which it has gone on for a read */
	u64 least;			/* it is not given up before this sector */
};

struct destage {
	struct segment *segment;	/* NULL: none goes on */
	struct media_pass pass;
	u64 written;			/* sectors, since it began */
	bool begun;
	/* Of a shingled drive */
	u64 at;				/* where on the media the next sector goes */
	u64 piece;			/* sectors that go there in a row; 0: not known yet */
	u64 band_next;			/* of a band that is being written: its next sector, */
	u64 band_left;			/* and how many are left */
};

/* What a shingled drive does with a band, one after the other. */
enum cleaning_phase {
	CLEANING_CACHED,		/* read what the media cache has of it */
	CLEANING_BAND,			/* read the band */
	CLEANING_COPY,			/* write its copy, which a power cut leaves */
	CLEANING_HOME,			/* write the band */
};

struct cleaning {
	u32 band;			/* number + 1; 0: none goes on */
	u8 phase;			/* enum cleaning_phase */
	u32 done;			/* sectors of the band whose cached ones have been read */
	u32 pieces;			/* in which those lay */
	struct media_pass pass;		/* of sectors as they lie on the media */
};

/* The last write to the media cache. */
struct packet {
	u64 end;			/* time */
	u32 left;			/* runs that may follow without another header */
};

struct drive {
	const struct profile *profile;
	struct solid *solid;		/* of no disk: it is all that there is */
	struct media media;
	struct cache *cache;
	struct write_buffer *writes;	/* NULL: dirty data is in the cache's segments */
	u64 dirty;			/* dirty sectors in the cache's segments */
	struct readahead readahead;
	struct destage destage;
	struct cleaning cleaning;
	struct packet packet;
	u64 clock;			/* time until which the above two have been worked out */
	u64 media_free;			/* time when the mechanics are free but for those two */
	u64 decoded;			/* time when the last command was decoded */
	u64 bus_free;			/* time when the bus is free */
	u64 last_end;			/* of a command */
	u64 last_write;			/* the sector after the last write */
	u64 pressed;			/* time since when the write buffer has been pressed */
	bool wrote;			/* the last command was a write */
	struct faults *faults;		/* NULL: none */
	struct place spare;		/* where moved blocks are */
	u64 ahead;			/* of them to the drive's time */
};

struct command {
	u64 sector;
	u64 sectors;
	u64 begin;			/* time when the electronics begin to decode it */
	u64 now;			/* time when the one before ended */
	bool fua;
	u64 sought, turned;		/* of the media, when it began to wait for the arm */
	u64 hidden;			/* of seek and rotation: before @now */
	struct drive_parts parts;	/* without transfer, which is the rest */
};

/* Both return when the command ends. */
u64 drive_read(struct drive *drive, struct command *cmd);
u64 drive_write(struct drive *drive, struct command *cmd);

static inline u64 drive_overhead(const struct drive *drive, enum profile_kind kind)
{
	return drive->profile->overhead + drive->profile->overhead_by_kind[kind][drive->wrote];
}

/*
 * How long after its begin a read that misses has the arm. What the host waits for may be more. A
 * drive that keeps the bus for reads shows it no release of it, so what such a command takes only
 * after another read was seen on the bus, and the arm is on its way meanwhile (hp_c2490a).
 */
static inline u64 drive_read_decoded(const struct drive *drive)
{
	u64 all = drive_overhead(drive, KIND_READ_MISS);

	if (!drive->profile->hold_bus_read)
		return all;
	return min(all, drive->profile->overhead +
			drive->profile->overhead_by_kind[KIND_READ_MISS][1]);
}

/* Time when a command that arrived in time begins to be decoded: one after another. */
static inline u64 drive_begin(const struct drive *drive, u64 arrived)
{
	return max(arrived, drive->decoded);
}

/* @cmd is decoded at @ready. What of that the host waits for is overhead. */
static inline void drive_decoded(struct drive *drive, struct command *cmd, u64 ready)
{
	drive->decoded = ready;
	cmd->parts.overhead = ready > cmd->now ? ready - cmd->now : 0;
}

/* The time since @from, in which the host waited for @cmd, and @cmd for something else. */
static inline u64 drive_waited(const struct command *cmd, u64 from, u64 until)
{
	from = max(from, cmd->now);
	return until > from ? until - from : 0;
}

/* From @from on the arm does what @cmd waits for: what it is just doing, and what comes now. */
static inline void drive_waits(const struct drive *drive, struct command *cmd, u64 from)
{
	const struct media *media = &drive->media;

	from = max(from, cmd->now);
	cmd->sought = media->sought - (max(media->there, from) - from);
	from = max(from, media->there);
	cmd->turned = media->turned - (max(media->begun, from) - from);
}

/* It did so until @until. What fits into that time is seek and rotation. */
static inline void drive_has_waited(const struct drive *drive, struct command *cmd, u64 from,
				    u64 until)
{
	u64 left = drive_waited(cmd, from, until);
	u64 seek = min(drive->media.sought - cmd->sought, left);
	u64 rotation = min(drive->media.turned - cmd->turned, left - seek);

	cmd->parts.seek += seek;
	cmd->parts.rotation += rotation;
	cmd->parts.queued += left - seek - rotation;
}

/* The mechanics are @cmd's from @time on. */
static inline void drive_has_arm(struct command *cmd, u64 time)
{
	cmd->hidden = cmd->now > time ? cmd->now - time : 0;
}

/* Does @cmd go on with what the head is just writing from the write buffer? */
static inline bool drive_writes_on(const struct drive *drive, const struct command *cmd)
{
	return drive->destage.segment && drive->destage.segment->end == cmd->sector &&
	       !write_buffer_overlap(drive->writes, cmd->sector, cmd->sectors);
}

/* Where a read finds its data. */
enum read_source {
	FROM_BUFFER,		/* all of it is there */
	FROM_READAHEAD,		/* read-ahead is bringing it */
	FROM_MEDIA,		/* the arm has to move for it, or to come back */
};

struct read_plan {
	enum read_source source;
	struct segment *segment;	/* that has the beginning, or read-ahead's; or NULL */
	u64 ready;			/* time when the command is decoded */
	u64 bus;			/* no byte is on the bus before, but FROM_BUFFER */
	u64 first;			/* time when its first sector is there, but FROM_MEDIA */
	u64 from;			/* the first sector that is not in the buffer */
};

/* The same plan chooses between commands and serves the one chosen. */
void read_plan(const struct drive *drive, const struct command *cmd, struct read_plan *plan);

/* Is it clear that none of a read is in the buffer or on its way there? Then that is its plan. */
bool read_is_far(const struct drive *drive, u64 sector, u64 sectors);

/* When the head comes to @sector, if all else is given up for it at @ready; @wait is rotation. */
u64 when_under_head(const struct drive *drive, u64 sector, u64 ready, u64 *wait);

struct write_plan {
	bool extra;			/* the drive leaves the bus before the data come */
	u64 ready;			/* time when the command is decoded */
	u64 bus_start;			/* time when its data begin to come */
	u64 not_before;			/* time when enough of them are there */
};

/* Of a write that is done when it is on the media. */
void write_plan(const struct drive *drive, const struct command *cmd, struct write_plan *plan);

/*
 * The media are through with these sectors. Of those that are in the spare area each run has a
 * detour, from @now on: the arm goes there, and comes back for the next run. Returns when the last
 * one is done. The arm is there then.
 */
u64 drive_detours(struct drive *drive, u64 sector, u64 sectors, bool write, u64 now);

/* The media's next stretch of a command. */
static inline void drive_stretch(struct drive *drive, struct media_pass *pass,
				 struct command *cmd, struct media_stretch *stretch)
{
	media_next(&drive->media, pass, stretch);
	cmd->parts.seek += stretch->seek;
	cmd->parts.rotation += stretch->wait;
	drive->media_free = stretch->end;
}

/* Read on behind @segment, from @time on, up to sector @limit. */
void readahead_start(struct drive *drive, struct segment *segment, u64 limit, u64 time);
/* A stream came back after another command: read readahead_stream sectors before that may stop. */
void readahead_secure(struct drive *drive);
void readahead_advance(struct drive *drive, u64 now);
/* Go on to @limit, if that is further. */
void readahead_extend(struct drive *drive, u64 limit);
/* Go on until all before @sector, which is within the limit, is in the segment; returns when. */
u64 readahead_reach(struct drive *drive, u64 sector);
/* About when the head gets to @sector, from the segment's end on. */
u64 readahead_time(const struct drive *drive, u64 sector);
/* Time when it can be given up at the earliest, if that is to be at @now. */
u64 readahead_stops(const struct drive *drive, u64 now);
/* Give up at @now; media_free then says when the mechanics are. */
void readahead_stop(struct drive *drive, u64 now);

/*
 * Part of a physical block cannot be written. The drive reads those at the ends of @pass that
 * are written in part and not in the buffer, and comes back a revolution later.
 */
void drive_fill_parts(struct drive *drive, struct media_pass *pass);

static inline void drive_fill_blocks(struct drive *drive, struct media_pass *pass)
{
	u32 block = drive->profile->physical_block / 512;

	if ((pass->sector | (pass->sector + pass->left)) & (block - 1))
		drive_fill_parts(drive, pass);
}

/* Begin to write what is due before @now, and finish what has begun before. */
void destage_advance(struct drive *drive, u64 now);
/* Write all that is dirty, from @now on; media_free is then its end. */
void destage_all(struct drive *drive, u64 now);
/* Begin to write @segment at @now. The mechanics are free, and no more idle time is needed. */
void destage_start(struct drive *drive, struct segment *segment, u64 now);
/* Write the segment that has begun, or else that to be written next, if there is one. */
void destage_one(struct drive *drive, u64 now);
/* The same of the write buffer, but no more than the rest of a track. */
void destage_some(struct drive *drive, u64 now);
/* Finish what has begun, and write what is dirty of these sectors. */
void destage_overlap(struct drive *drive, u64 sector, u64 sectors, u64 now);
/*
 * Finish the write that has begun. In the write buffer that is only its track. media_free is then
 * the end.
 */
void destage_finish(struct drive *drive);
/* Write @segment's dirty sectors, from @now on, until no more than @left of them are left. */
void destage_segment(struct drive *drive, struct segment *segment, u64 left, u64 now);
/* Is it worth while to begin writing @segment, though there is room for more? */
bool destage_is_long(const struct drive *drive, const struct segment *segment);
/* The dirty segment to be written next, NULL if there is none. */
struct segment *destage_choose(struct drive *drive, u64 now);

/*
 * Of a shingled drive: a place in the media cache for up to @sectors from @sector on, of one band.
 * Bands are cleaned first if there is none. *time is moved on to when the place can be written.
 * Returns how many sectors it is for. The caller writes them, and then says when by clean_wrote().
 */
u32 clean_place(struct drive *drive, u64 sector, u64 sectors, u64 *at, u64 *time);
void clean_wrote(struct drive *drive, u64 end);
/* Are there runs that the packet was begun for, and is the head where they are written? */
bool clean_packet_goes_on(const struct drive *drive);
/* @band is written again, or is about to have more in the media cache: begin it anew later. */
void clean_abandon(struct drive *drive, u32 band);
/* Clean while the drive is idle, until @now; what has begun is finished. */
void clean_advance(struct drive *drive, u64 now);

#endif
