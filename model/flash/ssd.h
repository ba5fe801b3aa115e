/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flash of an SSD: dies that read, program and erase, each one thing at a time; a write buffer
 * in front of them; the map, ftl.h.
 *
 * Writes end when they are in the buffer. If it is full they wait, in order of arrival. The dies
 * empty it: a die without work takes the next. Erases go first, then what collection has to move,
 * then the buffer. So the buffer empties at the rate of the dies, less what collection takes.
 *
 * A read goes to the die that a hash of its address names, and to a page type that the address
 * names. It goes before programs that have not begun. It suspends one that has, if the drive can:
 * but not while that one's data come over the channel, and not more often than profile.suspends.
 * Of programs a share cannot be suspended at all, profile.locked_programs.
 *
 * With an SLC cache, units of the buffer are programmed there, or to native cells: the map says
 * which. What is folded while the drive is idle takes the dies no time, but for the folding that
 * the next command comes upon.
 *
 * If a part of the map is not in memory, a read first reads that. Other commands go on.
 *
 * Before its first command the drive has not been idle, and neither while another one used the map:
 * the disk's other mode, which is the same drive on another clock.
 *
 * Times do not depend on when the functions are called, only on the order of commands.
 */
#ifndef DAVID_MODEL_SSD_H
#define DAVID_MODEL_SSD_H

#include "solid.h"

struct ftl;
struct ssd;

/*
 * For up to @most commands at a time. @ftl: its map, which the caller destroys after it, and which
 * may be others' as well; NULL: it makes its own. Returns NULL without memory.
 */
struct ssd *ssd_create(const struct profile *profile, u32 most, struct ftl *ftl, gfp_t gfp);
void ssd_destroy(struct ssd *ssd);
size_t ssd_bytes(const struct ssd *ssd);

/*
 * Serve @command, whose controller is ready for it at @from. Returns when its data are in the
 * controller, or its data in the buffer. U64_MAX: it has to wait; ssd_ready() will return it.
 */
u64 ssd_serve(struct ssd *ssd, struct solid_command *command, u64 now, u64 from);

/*
 * What the drive has folded and collected by @now if it is idle: it goes on being so. Call it
 * before its map changes; a command and ssd_trim() do so themselves.
 */
void ssd_settle(struct ssd *ssd, u64 now);

/*
 * A piece of what ssd_settle() would do. True: there may be more. All commands up to @now have been
 * served. Changes no figure and no time: what a drive does by some moment does not depend on who
 * asked before.
 */
bool ssd_catch_up(struct ssd *ssd, u64 now);

/* When a command that waits may be ready; U64_MAX: none waits. */
u64 ssd_next_event(const struct ssd *ssd);

/* Process events until @now. */
void ssd_advance(struct ssd *ssd, u64 now);

/* Take those that have waited long enough; command->end is when that was. Ask after each call. */
struct solid_command *ssd_ready(struct ssd *ssd);

void ssd_trim(struct ssd *ssd, u64 sector, u64 sectors, u64 now);
void ssd_figures(const struct ssd *ssd, struct solid_figures *figures);

#endif
