/* SPDX-License-Identifier: GPL-2.0 */
/* What the import of a disk and that of a pool have in common. */
#ifndef TOOLS_STORE_IMPORT_H
#define TOOLS_STORE_IMPORT_H

#include "exportfile.h"
#include "store.h"

/* Blocks of the export, by their numbers, and where they go. */
struct extent {
	u64 first, dest, len;
};

struct import {
	struct export_reader export;
	int from, to;
	const char *path, *device;
	u64 all;			/* blocks in the file, for progress */
	struct extent *extents;
	unsigned int nr_extents;
	/* Of the disk that is being written: */
	struct format_super super;
	struct format_log_page page;
	unsigned int ops;		/* in it */
	u64 head;			/* its sequence */
	u64 base;			/* page where the superblocks go */
	/* Of one disk for a pool: */
	const char *disk;		/* its name, or NULL */
	struct pool_file pool;
};

/* These print what is wrong. */
enum status import_open_device(struct import *in, bool format);
enum status import_open_file(struct import *in);
enum status import_bad_export(const struct import *in);
enum status import_no_room(const struct import *in, const char *what, u64 needs, u64 has);
/* Say why it went wrong, and wipe what in->base begins with. @blank: that is the device. */
enum status import_failed(const struct import *in, bool blank);

/* Read one disk of the export to its end, and check it. */
bool import_verify(struct import *in);
/* Go back to the file's beginning. False: it can be read once only. */
bool import_again(const struct import *in);

/* In a pool of so many blocks, pages of log for so many ranges: a third of it is free. */
u64 import_log_pages(u64 blocks, u64 ranges);
enum status import_check_log(const struct import *in, u64 log_pages, u64 ranges);
/* What the store takes over from the export. in->super has its size and log. Prints errors. */
enum status import_fill_super(struct import *in);
bool import_add_extent(struct import *in, u64 first, u64 dest, u64 len);

/* On errors these return false, with export.why or errno set. */
bool import_wipe(const struct import *in);
/* All of one disk but its superblocks. */
bool import_put_all(struct import *in);
bool import_put_supers(struct import *in);

#endif
