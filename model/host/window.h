/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands that the drive has. A disk has a window of them, chooses the next one, and serves
 * one after another. A drive without an arm serves all that it has.
 *
 * The host sends commands, window_start() lets the drive begin, and window_advance() tells what
 * ended. There are at most profile.ncq_depth. Time never runs backwards.
 */
#ifndef DAVID_MODEL_WINDOW_H
#define DAVID_MODEL_WINDOW_H

#include "command.h"

struct window {
	const struct profile *profile;
	struct drive *drive;
	struct solid *solid;		/* or this, of a drive without an arm */
	struct solid_command *to_solid;	/* as it has them; profile.ncq_depth */
	struct solid_command *free;	/* of these */
	u32 under_way;			/* the others */
	bool flushing;			/* one of them, which then is the only one, is a flush */
	u64 now;

	struct disk_command *active;	/* that the drive serves, until */
	u64 busy_until;
	struct drive_parts parts;	/* of it; when it ended, too */
	struct drive_sums *sums;	/* of all that have ended; NULL: nobody asks */
	struct disk_command **waiting;	/* in the drive and not active, in order of dispatch */
	u32 nr;
	u64 batch;			/* those that came by then go first */
	struct {
		u64 since;		/* when the arm came to where it is */
		u64 sectors;		/* that it has read or written there, */
		u64 end;		/* up to this one */
		u8 op;
	} turn;
};

/*
 * Returns 0 or -ENOMEM, with nothing to free. @profile must outlive the window. @ftl: as for
 * disk_create().
 */
int window_init(struct window *window, const struct profile *profile, struct ftl *ftl, gfp_t gfp);
/* Takes a zeroed one, too. */
void window_exit(struct window *window);
size_t window_bytes(const struct window *window);

/* Commands that the drive has. */
static inline u32 window_used(const struct window *window)
{
	return window->nr + !!window->active + window->under_way;
}

/* Has it a flush that it serves alone? */
static inline bool window_flushes(const struct window *window)
{
	return window->flushing || (window->active && window->active->op == DISK_FLUSH);
}

/* The drive gets @command at @now, which has been marked by command_dispatched(). */
void window_send(struct window *window, struct disk_command *command, u64 now);

/* The same of a flush, which is served alone. The drive must not have another command. */
void window_send_flush(struct window *window, struct disk_command *command, u64 now);

/* Begin with the next command, if the drive is free and has one. After all were sent. */
void window_start(struct window *window, u64 now);

/* When something ends in the drive; U64_MAX: it has nothing. */
static inline u64 window_next_event(const struct window *window)
{
	if (window->solid)
		return solid_next_event(window->solid);
	return window->active ? window->busy_until : U64_MAX;
}

/*
 * That time has come. Returns the command that ended, with window->parts, or NULL: not each event
 * of a drive without an arm is the end of one.
 */
struct disk_command *window_advance(struct window *window, u64 now);

#endif
