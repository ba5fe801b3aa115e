/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mappings of files, and touches of their pages. A touch is one access to each page, as the
 * original's were: so the kernel does what it did there, reads ahead and maps pages around it. A
 * page behind the file's end raises SIGBUS, which ends the touch and not the program.
 *
 * Any thread of the process may use any mapping at any time: nobody may have checked the order.
 */
#ifndef REPLAY_TOUCH_H
#define REPLAY_TOUCH_H

#include "../../dm-david/portable/portable.h"

struct mapping { /* all 0: there is none */
	u8 *at;
	u64 length;
	u64 offset; /* in the file */
	u32 users; /* who is at it just now */
	int fd; /* a copy of its descriptor, to empty the page cache by; -1: none */
	bool shared;
	bool written; /* may be */
	bool ended; /* is taken away by its last user */
};

/* Once, before the first touch. */
void touch_begin(void);

/* As system calls: 0, bytes, or -errno. @flags: WL_MAP_; @keep: a copy of @fd. */
s64 mapping_make(struct mapping *m, int fd, u64 length, u64 offset, u64 flags, bool keep);
s64 mapping_end(struct mapping *m);

/* Bytes, from @at on, whose pages were touched. @again: not from the page cache. */
s64 mapping_touch(struct mapping *m, u64 at, u64 length, bool write, bool again);
s64 mapping_sync(struct mapping *m, u64 at, u64 length, u64 flags);
s64 mapping_advise(struct mapping *m, u64 at, u64 length, u64 advice);

#endif
