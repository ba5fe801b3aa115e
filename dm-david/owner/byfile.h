/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Content by file (files=, filecontent.h) in a running kernel. The page that a read fills belongs
 * to a file. That gives the file's size and the offset, and the suffix of its name gives the
 * format.
 *
 * This applies to reads into the page cache only. Direct I/O, and reads of the disk's own device,
 * get the same made-up content as without files=.
 */
#ifndef DM_DAVID_BYFILE_H
#define DM_DAVID_BYFILE_H

#include <linux/compiler.h>
#include <linux/rcupdate.h>
#include "../lib/filecontent.h"

struct address_space;
struct bio_vec;
struct owner_watch;
struct suffixes;

/* The suffixes that have a format. A message changes them while requests read. */
struct byfile {
	struct suffixes __rcu *suffixes;	/* NULL: none */
};

/* The last lookup of one request: adjacent pages mostly belong to one file. */
struct byfile_cache {
	struct address_space *mapping;
	struct file_place place;
};

static inline bool byfile_any(const struct byfile *by)
{
	return unlikely(rcu_access_pointer(by->suffixes));
}

/*
 * If @bv, mapped at @p, is a page of a file whose suffix has a format, fill it and return true.
 * @cache->mapping is NULL at first. Any context in which no i_lock is held.
 */
bool byfile_fill(const struct byfile *by, struct owner_watch *watch, u64 seed,
		 struct byfile_cache *cache, const struct bio_vec *bv, void *p);

/*
 * Set the suffixes: "off", "default" (SUFFIX_DEFAULT), or a text for suffix_map_parse(). @text NULL
 * frees them. Returns 0, or a negative error and its reason in @error, of BYFILE_ERROR_SIZE bytes.
 * Sleeps. The caller serialises.
 */
#define BYFILE_ERROR_SIZE	160
int byfile_set(struct byfile *by, const char *text, char *error);

/* Print a text for byfile_set(). Returns the length, below @size. */
unsigned int byfile_print(const struct byfile *by, char *result, unsigned int size);

/* Bytes of memory. Not while byfile_set() runs. */
size_t byfile_bytes(const struct byfile *by);

#endif
