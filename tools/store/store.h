/* SPDX-License-Identifier: GPL-2.0 */
/* A store that no device uses, read as the kernel reads it. */
#ifndef TOOLS_STORE_H
#define TOOLS_STORE_H

#include "../../dm-david/lib/format.h"
#include "../../dm-david/lib/poolfmt.h"

enum status {
	STATUS_GOOD,
	STATUS_DAMAGED,		/* or no store at all */
	STATUS_UNREADABLE,	/* nothing can be said, or done; the program ends with 1 for both */
};

struct opened {
	int fd;
	const char *path;
	u64 base;			/* page of its superblocks: 0, or of a pool's disk */
	u64 data;			/* no block before this one is stored */
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

/* These print what is wrong on standard error. @disk: of a pool, or NULL. */
enum status open_store(struct opened *o, const char *path, const char *disk, bool write);
enum status read_table(struct opened *o);

/* What read_table() found wrong, on standard output. */
enum status verdict(const struct opened *o);

/* The RAW rules in it, as info prints them; and what is wrong with them, on standard output. */
void print_rules(const struct opened *o);
enum status check_rules(const struct opened *o);

/* Every packed block is read as the kernel would. What is wrong, on standard output. */
enum status check_packs(const struct opened *o);

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

/* pool.c: a pool that no disk uses; but pool_show() reads one that is in use, too */
struct pool_file {
	int fd;
	const char *path;
	struct pool_super super;
	struct remap_bitmap bitmap;	/* see scan_pool() */
};

/* These print what is wrong on standard error. */
enum status open_pool(struct pool_file *pool, const char *path, bool write, bool exclusive);
/*
 * Take in pool->bitmap what all disks have, and count the blocks that sharing saves. What is
 * damaged is told on standard output.
 */
enum status scan_pool(struct pool_file *pool, u64 *shared);
/* The number of the disk called @name; false: there is none. */
bool find_disk(const struct pool_file *pool, const char *name, unsigned int *slot);
/* Write the directory, durable when it returns. */
bool write_directory(struct pool_file *pool);
/* The superblock of a disk of it. */
enum status open_disk(struct opened *o, const struct pool_file *pool, unsigned int slot);
/* What read_table() allocated. */
void close_table(struct opened *o);

enum status pool_create(const char *path, const char *name, bool format, bool share);
enum status pool_show(const char *path);
enum status pool_check_all(const char *path);
enum status pool_drop(const char *path, const char *name);
/* As import_store(), into a new disk of the pool. */
enum status import_disk(const char *path, const char *device, const char *disk);
/* All disks of a pool, as export_store() and import_store() do one. @name: of the new pool. */
enum status pool_export(const char *device, const char *path);
enum status pool_import(const char *path, const char *device, const char *name, bool format);

#endif
