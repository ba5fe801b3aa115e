/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The disk or image that is looked at, mapped by windows. Mapped as a whole, a terabyte does not
 * fit into every address space: a process in User Mode Linux has less.
 *
 * A pointer is valid while at most WINDOWS - 1 other windows have been asked for since. Whoever
 * keeps one for longer maps that part by itself.
 */
#ifndef MAPPED_H
#define MAPPED_H

#include "../../dm-david/portable/portable.h"

#define WINDOWS	8
/* Usually. A process in User Mode Linux may have 65,530 pages that do not lie in a row. */
#define WINDOW_BYTES	(16u << 20)
#define VIEW_AT_MOST	(64u << 10)	/* bytes that one call of view_at() may ask for */

struct window {
	const u8 *base;		/* NULL: unused */
	u64 number;
	u64 used;		/* when it was asked for last */
};

struct mapped {
	const u8 *memory;	/* all of it, if it is in memory; or NULL, and: */
	int fd;
	u64 bytes;
	u32 window;		/* a multiple of VIEW_AT_MOST */
	u64 now;
	struct window windows[WINDOWS];
};

/* What of a disk is a volume's. */
struct view {
	struct mapped *disk;
	u64 start;
	u64 bytes;		/* that are really there */
};

/* Returns false, with errno set, if it cannot be opened or its size is not known. */
bool mapped_open(struct mapped *disk, const char *path, u32 window);
void mapped_close(struct mapped *disk);

/*
 * @len bytes from @offset on; NULL if they are not all there. Ends the program if they cannot be
 * mapped.
 */
const u8 *view_at(const struct view *view, u64 offset, u32 len);

/* The same of any length, in a map of its own; for view_unmap() with the same arguments. */
const u8 *view_map(const struct view *view, u64 offset, u64 len);
void view_unmap(const struct view *view, u64 offset, u64 len, const u8 *mapped);

#endif
