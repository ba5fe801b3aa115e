/* SPDX-License-Identifier: GPL-2.0 */
/* What the export of a disk and that of a pool have in common. */
#ifndef TOOLS_STORE_EXPORT_H
#define TOOLS_STORE_EXPORT_H

#include "exportfile.h"
#include "store.h"

/* Blocks are numbered in a file in the order in which the disks' tables name them. */
struct numbers {
	u64 *of;	/* 1 + number, by place; 0: none yet. NULL: no block is named twice */
	u64 known;	/* of the disks before: these have been written */
	u64 next;
};

/* Of one disk's export. */
struct export_count {
	u64 ranges;
	u64 named;	/* blocks that these name */
	u64 blocks;	/* those of them that no disk before has */
};

/* Numbers the blocks of @o, which the next disk may then name, too. */
struct export_count export_count(const struct opened *o, struct numbers *n);

/*
 * Write the export of @o, of which export_count() was asked before. @all: blocks in the whole file,
 * for progress. Adds the disk's blocks to n->known.
 */
bool export_disk(const struct opened *o, const struct export_count *count, struct numbers *n,
		 struct export_writer *out, u64 all);

typedef bool (*export_fn)(void *what, struct export_writer *w);

/*
 * Let @put write a file, "-" for standard output. A file that was there is replaced once all is
 * written. @put prints what is wrong.
 */
enum status export_file(const char *path, export_fn put, void *what);

#endif
