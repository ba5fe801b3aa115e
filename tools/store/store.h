/* SPDX-License-Identifier: GPL-2.0 */
/* A store that no device uses, read as the kernel reads it. */
#ifndef TOOLS_STORE_H
#define TOOLS_STORE_H

#include "../../dm-david/lib/format.h"

enum status {
	STATUS_GOOD,
	STATUS_DAMAGED,		/* or no store at all */
	STATUS_UNREADABLE,	/* nothing can be said, or done */
};

struct opened {
	int fd;
	const char *path;
	struct format_super super;
	bool copy_broken;		/* one of the two */
	struct rangetable table;
	struct remap_bitmap bitmap;
	struct format_replay replay;
	enum format_step step;
	const char *claim;		/* what is wrong with the table */
	u64 claim_block;
};

/* All of @len bytes at @at; false at an error or the end of the file. */
bool read_at(int fd, void *buf, size_t len, u64 at);
bool write_at(int fd, const void *buf, size_t len, u64 at);

/* These print what is wrong on standard error. */
enum status open_store(struct opened *o, const char *path, bool write);
enum status read_table(struct opened *o);

/* What read_table() found wrong, on standard output. */
enum status verdict(const struct opened *o);

/* The RAW rules in it, as info prints them; and what is wrong with them, on standard output. */
void print_rules(const struct opened *o);
enum status check_rules(const struct opened *o);

/* A line on a terminal, now and then: @done of @all. At the end @done == @all. */
void progress(const char *what, u64 done, u64 all);

/*
 * The disk on @o as one file, "-" for standard output. A file that was there is
 * replaced once all is written.
 */
enum status export_store(struct opened *o, const char *path);

/*
 * The other way: "-" is standard input. @device must be blank, unless @format.
 * What can be read twice is checked before anything is written; otherwise
 * @device is left blank if the file turns out to be bad.
 */
enum status import_store(const char *path, const char *device, bool format);

#endif
