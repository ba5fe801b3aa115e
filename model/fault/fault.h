/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A drive that fails as drives do: which requests fail, which take longer, and by how much.
 *
 *	media-error	blocks that cannot be read. A read takes the drive's retries, then fails. A
 *			write of the whole block moves it to a spare one; from then on it has a
 *			detour for ever
 *	timeout		requests that the drive never answers: the host gives up after its limit
 *	gone		every request fails at once
 *	slow		commands take a multiple of their time
 *	firmware-stall	nothing happens in the drive for a while
 *
 * Whether a request fails is decided when it arrives. So what fails, and what a write mends, goes
 * by the order of arrival, as the store does. How much longer a command takes is decided when the
 * drive serves it.
 *
 * A fault may be of some sectors, of a share of the blocks or requests, which a seed draws, and of
 * some time. Time is the drive's age. The caller's clock plus ->shift is the age.
 *
 * The text form has faults with commas between, see faults_parse(). faults_print() prints all that
 * there is to know, what has been moved included.
 *
 * Portable, any context; the caller keeps others out. Nothing allocates.
 */
#ifndef DAVID_MODEL_FAULT_H
#define DAVID_MODEL_FAULT_H

#include "../flash/solid.h"

/* A command's flag beside DISK_FUA and DISK_SYNC: it meets a block that is bad */
#define DISK_BAD	BIT(4)

#define FAULTS_MOST	64	/* faults of a drive */
#define FAULTS_MOVED	1024	/* runs of blocks that can be moved; then writes fail, too */
#define FAULTS_TEXT	(64 << 10)	/* no text form is longer */
#define FAULTS_UNDRAWN	U64_MAX		/* drawn, of faults_init_added(): the text says nothing */

enum fault_kind {
	FAULT_NONE,
	/* These are errors of requests. */
	FAULT_MEDIA,
	FAULT_TIMEOUT,
	FAULT_GONE,
	/* These take time. */
	FAULT_SLOW,
	FAULT_STALL,
	FAULT_KIND_NR
};

struct fault {
	u8 kind;		/* enum fault_kind */
	u32 factor;		/* FAULT_SLOW: thousandths of the usual time, at least 1000 */
	u64 first, last;	/* sectors; last: U64_MAX to the end */
	u64 one_in;		/* FAULT_MEDIA: of so many blocks one, FAULT_TIMEOUT: requests */
	u64 seed;		/* that draws them */
	u64 over;		/* FAULT_MEDIA: so long the share grows evenly, ns; 0: at once */
	/* Ages, ns: it begins at @from, lasts @length (0: for ever), comes again every @every. */
	u64 from, length, every;
};

/* What has been counted. */
struct fault_figures {
	u64 media_reads;	/* failed */
	u64 media_writes;	/* failed: a part of a block, or no spare block was left */
	u64 timeouts;
	u64 gone;
	u64 slowed;		/* commands of a drive with an arm, requests of others */
	u64 stalled;		/* the same */
	u64 detours;		/* ways to a spare block and back */
	u64 moved;		/* blocks, ever */
};

/* Blocks that are in the spare area. */
struct fault_run {
	u64 first, end;		/* sectors */
};

struct faults {
	const struct profile *profile;
	u64 shift;		/* the age when the caller's clock is 0, modulo 2^64 */
	u64 drawn;		/* requests that have been drawn from so far */
	struct fault_figures figures;
	u32 nr;
	u32 nr_moved;
	struct fault all[FAULTS_MOST];
	struct fault_run moved[FAULTS_MOVED];	/* by sector; they do not touch */
};

/* What a request meets when it arrives. */
struct fault_met {
	u8 kind;		/* FAULT_NONE, or why it fails */
	u64 sector;		/* FAULT_MEDIA: the first that cannot be read or written */
	u64 ns;			/* FAULT_TIMEOUT: until the host gives up */
};

/* What is wrong with a text. */
struct fault_error {
	char text[120];
};

/* No fault, of age 0 at time 0. @profile must outlive @faults. */
void faults_init(struct faults *faults, const struct profile *profile);

/*
 * Add the faults of @text: faults with commas between, each a kind and then KEY=VALUE, with colons
 * before each: "media-error:sectors=8-15,slow:factor=4:from=1h:for=10m:every=1d". Sectors end with
 * the last one that is meant. Times are numbers with ns, us, ms, s, m, h or d. Two items are no
 * faults: "moved:sectors=A-B" and "drawn:requests=N" are what faults_print() prints of the past.
 * A media-error of all blocks of its sectors, and of all ages, takes back what of these was moved:
 * the spare block is bad, too. A fault that is there already is not added again. Returns 0, or
 * -EINVAL with @error filled; @faults may then have some of them.
 */
int faults_parse(struct faults *faults, const char *text, struct fault_error *error);

/*
 * In two steps, of which the first one, with all of the parsing, needs nobody kept out: make @added
 * of the text by faults_init_added() and faults_parse(), then merge it. Then @faults are as if they
 * had parsed it. faults_merge() returns what faults_parse() does.
 */
void faults_init_added(struct faults *added, const struct profile *profile);
int faults_merge(struct faults *faults, const struct faults *added, struct fault_error *error);

/* Parse an age or a time, as above. Returns 0 or -EINVAL. */
int fault_time_parse(const char *text, u64 *ns);

/* Print the text form; "none" if there is nothing to print. Returns what snprintf() would. */
size_t faults_print(const struct faults *faults, char *buf, size_t size);
/* The same of fault number @i, which must be below ->nr. */
size_t fault_print(const struct faults *faults, u32 i, char *buf, size_t size);

/* Fault number @i is no more. What was moved stays where it is. */
void faults_remove(struct faults *faults, u32 i);

/* Is there anything that requests may meet, or detours? */
static inline bool faults_any(const struct faults *faults)
{
	return faults->nr || faults->nr_moved;
}

/* A request arrives at @now. Writes move what is bad. @sectors: 0 of a flush. */
void faults_meet(struct faults *faults, enum disk_op op, u64 sector, u64 sectors, u64 now,
		 struct fault_met *met);
/*
 * The same in two steps, of a request of any size: what the drive does not answer, and then, of a
 * piece of whole blocks at a time, what is bad. The next is for who has met nothing yet.
 */
void faults_meet_silence(struct faults *faults, u64 sector, u64 sectors, u64 now,
			 struct fault_met *met);
void faults_meet_media(struct faults *faults, enum disk_op op, u64 sector, u64 sectors, u64 now,
		       struct fault_met *met);

/*
 * A command of @op began at @now and would take @ns. @bad: it tries to read or write a block that
 * is bad, and fails. Returns how long it takes.
 */
u64 faults_time(struct faults *faults, enum disk_op op, bool bad, u64 sector, u64 sectors, u64 now,
		u64 ns);

/*
 * Sectors [@first, @end), of whole blocks, are in the spare area, or no more. False, and nothing
 * changed: there would be too many runs.
 */
bool faults_move(struct faults *faults, u64 first, u64 end);
bool faults_move_back(struct faults *faults, u64 first, u64 end);

/* The first run of moved sectors that overlaps these; NULL: none. */
const struct fault_run *faults_moved(const struct faults *faults, u64 sector, u64 sectors);

#endif
