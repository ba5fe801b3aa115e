/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A job: what a benchmark such as fio asks of a disk, run on the whole modelled
 * disk, queue included, in a closed loop: as many requests are outstanding as the
 * job's depth says, and a request that completes makes room for the next one.
 * No wall clock and no random device: the same job on the same profile gives the
 * same nanoseconds everywhere.
 *
 * A job has one part or several that run at the same time, such as a random reader
 * beside a sequential writer.
 */
#ifndef DAVID_SIM_JOB_H
#define DAVID_SIM_JOB_H

#include "../../model/array/array.h"

#define JOB_PARTS	4
#define JOB_DEPTH	128	/* most outstanding requests of a part */
#define JOB_STREAMS	64	/* most streams of a part */
#define JOB_SECTORS	(64 << 11)	/* largest request: 64 MiB */

enum job_order { JOB_SEQUENTIAL, JOB_RANDOM, JOB_BACKWARD };

struct job_part {
	enum job_order order;
	u32 sectors;		/* of a request */
	u32 writes;		/* percent of the requests */
	u32 depth;		/* requests outstanding */
	u32 streams;		/* evenly over the span; of random requests: programs */
	u64 gap;		/* sequential: sectors left out after each request */
	u64 pace;		/* ns between a completion and the request that follows */
	u64 rate;		/* bytes a second at most; 0: no limit */
	u64 start;		/* sectors: requests lie within [start, start + span) */
	u64 span;
	u64 align;		/* random: sectors; 0: the request's size */
	u64 offset;		/* sectors that each request is moved on */
	u32 flush;		/* a flush after so many requests; 0: none */
	bool fua;
	bool async;		/* nobody waits: the queue may plug */
	/* On a drive with zones, unless all of it lies in conventional ones */
	u32 zones;		/* sequential ones, which are the span; 0: none */
	u32 first_zone;
	u32 zone_size, zone_capacity;	/* sectors */
	u32 filled;		/* thousandths of each zone that are written when the job begins */
	bool append;		/* the writes are appends */
	u8 zone_op;		/* DISK_ZONE_...: the requests are such commands; 0: they are not */
};

struct job {
	u32 nr_parts;
	struct job_part parts[JOB_PARTS];
	u32 warm;		/* requests that are not counted, at least; then */
	u32 count;		/* requests that are */
	u32 every;		/* a mark after so many of these; 0: none */
	u64 seed;		/* of random places */
	bool read_cache_off;	/* on: as the profile says */
	bool write_cache_off;
	bool drain;		/* the time ends when a last flush has completed */
	bool steady;		/* warm until the rate is level, and the caches can be full */
	bool look_after;	/* find result->left and media_share */
	bool untimed;		/* an SSD's map takes the writes, and no time passes */
	bool trim;		/* first, what the parts' spans have is trimmed */
	u64 again;		/* ns from the end to a second run, which counts; 0: none */
	const struct ftl *flash;	/* an SSD's, which begins as a copy; NULL: by its profile */
	bool keep_flash;	/* result->flash is that copy when the job has ended */
	const struct job *before;	/* the disk has served these when it begins, in order; */
	u32 nr_before;			/* nothing of them counts */
	const struct faults *faults;	/* of the disk, which begins with a copy; NULL: none */
	u32 faulty;		/* of an array: the member that has them */
};

struct job_figures {
	u64 requests;		/* flushes not included */
	u64 failed;		/* of them, by faults; */
	u64 failed_ns;		/* sum of their response times. All else is of the others */
	u64 bytes;
	u64 hits;
	u64 cached;		/* sectors: see struct drive_parts */
	u64 ns;			/* sum of response times */
	u64 most;		/* longest response time */
	u64 nr_times;
	u64 *times;		/* all of them, sorted, if the job has several parts */
};

/* Those that did not fail. Rates are of them. */
static inline u64 job_served(const struct job_figures *figures)
{
	return figures->requests - figures->failed;
}

#define JOB_WINDOWS	10	/* of the requests that are counted, to see a trend */
#define JOB_LEVEL	10	/* percent of the rate: a trend below that is none */

/*
 * Times at the ends of windows of equally many requests. The first one is where the first begins.
 * The trend is a straight line through the windows' rates, by least squares, as in fio's
 * steadystate; or a step between two of them, if that is nearer to the rates.
 */
struct job_windows {
	u64 ns[JOB_WINDOWS + 1];
	u64 served[JOB_WINDOWS + 1];	/* requests and flushes until then that did not fail */
	u32 nr;			/* of these */
};

/* How far a job was. */
struct job_mark {
	u64 ns;			/* since the last request that was not counted */
	u64 served;		/* requests that did not fail, flushes not included */
	struct solid_figures solid;
};

struct job_result {
	const char *failed;	/* why, if job_run() did */
	u64 ns;			/* from the last request that was not counted to the last one */
	struct job_figures all;
	struct job_figures op[2];		/* reads, writes */
	struct job_figures parts[JOB_PARTS];
	struct job_figures part_op[JOB_PARTS][2];	/* reads, writes of parts */
	u64 flushes;
	u64 failed_flushes;	/* of them */
	u64 flush_ns;		/* of the others */
	u64 zone_commands;	/* about zones that were reset to be written again; */
	u64 zone_ns;		/* all of them */
	u64 nr_times;
	u64 *times;		/* response times of counted requests that did not fail, sorted */
	u32 nr_members;		/* of an array */
	struct array_member_figures members[ARRAY_MEMBERS];	/* in @ns */
	struct job_mark begin;	/* where counting began */
	u64 nr_marks;
	struct job_mark *marks;
	struct job_windows windows;	/* of the requests that are counted, flushes included */
	u64 part_served[JOB_WINDOWS + 1][JOB_PARTS];	/* when these begin and end */
	u64 warmed;		/* requests before those that are counted */
	bool level;		/* "steady": the rate was, before it was counted */
	double before;		/* "steady": requests a second of the last ten windows before */
	bool lasting_cache;	/* a flush need not empty it */
	bool filled;		/* caches could be full before requests were counted */
	u64 left;		/* ns that a flush took afterwards, with what was under way; */
	u64 left_before;	/* and would have taken when counting began */
	u64 written;		/* bytes, from the beginning, to the disk or all members */
	u64 cache;		/* bytes that the caches of the disk, or of all members, take */
	u64 found_pages;	/* of 4 KiB, written to flash by jobs before */
	double media_share;	/* of what was written: not at home on shingled disks after that */
	u64 read_pages;		/* of 4 KiB, of all reads of drives in @ns */
	const char *doubt;	/* array_doubt() */
	bool has_faults;	/* the drive was to fail; */
	u64 faults_met;		/* what faults did in it: failures, commands, ways and blocks */
	struct drive_sums drive;	/* of commands that ended in it, of all members */
	u64 state;		/* bytes of the modelled disk, or of all members */
	struct ftl *flash;	/* with job->keep_flash: the caller may take it out */
	bool has_solid;		/* of SSDs or memories, of all members, from the beginning */
	struct solid_figures solid;
};

struct job_limits {
	/* Bytes a second that pass the heads, at most in the job's span, or a member's */
	double media;
	double least_media;	/* and at least */
	double interface;	/* bytes a second */
	double seek;		/* ns on average between two places in the first part's span */
	double places;		/* SSD: bytes of the disk, or of a member, that are written to */
	u32 rewrites;		/* SSD: of each place, until collection costs what it always does */
	double program_pages;	/* SSD: of 4 KiB, that a program writes */
};

/*
 * On a disk, or on the array @setup if that is not NULL. Returns 0, -ENOMEM, or -EIO: the model is
 * wrong and cannot go on, or no request was served. @result is to be released with job_release().
 */
int job_run(const struct job *job, const struct profile *profile, const struct array_setup *setup,
	    struct job_result *result);
void job_release(struct job_result *result);

/*
 * The trend of @windows, in percent of the rate before: of a line from the first window to the
 * last, of a step, or of a curve. 0 if it is no more than what 99.9 % of level rates have:
 * Student's t with 8 degrees of freedom of line and step, Kendall's S of a curve.
 */
double job_trend(const struct job_windows *windows);

/* The same of @part's requests in the windows; 0, too, if fewer than @least were served in one. */
double job_part_trend(const struct job_result *result, u32 part, u32 least);

/* What media and interface allow on a disk. */
void job_limits(const struct job *job, const struct profile *profile,
		struct job_limits *limits);

/* The same of a member of an array, whose whole span a job may use. */
void job_limits_member(const struct profile *profile, struct job_limits *limits);

#endif
