/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Content by file (filecontent.h) in a running kernel: the page that a read fills
 * tells the file, its size and the offset, and the file's name what it is.
 *
 * That holds for reads into the page cache. Reads by other means (direct I/O, the
 * disk's own device) get what the disk returns elsewhere.
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

/* What is a file's content by: changed by message, while requests read. */
struct byfile {
	struct suffixes __rcu *suffixes;	/* NULL: nothing is */
};

/* One request's memory: neighbours mostly share a file. */
struct byfile_cache {
	struct address_space *mapping;
	struct file_place place;
};

static inline bool byfile_any(const struct byfile *by)
{
	return unlikely(rcu_access_pointer(by->suffixes));
}

/*
 * Fill what @bv maps at @p, if that is a part of a file that has content by its name;
 * says whether it did. @cache->mapping is NULL at first. Any context that has no inode's i_lock.
 */
bool byfile_fill(const struct byfile *by, struct owner_watch *watch, u64 seed,
		 struct byfile_cache *cache, const struct bio_vec *bv, void *p);

/*
 * Set it: "off", "default" (SUFFIX_DEFAULT) or a text as suffix_map_parse() takes. Returns
 * 0 or a negative error, with what is wrong in @error, of BYFILE_ERROR_SIZE. Sleeps.
 * Only one at a time; NULL for @text takes it away.
 */
#define BYFILE_ERROR_SIZE	160
int byfile_set(struct byfile *by, const char *text, char *error);

/* As byfile_set() takes it: the length, less than @size. */
unsigned int byfile_print(const struct byfile *by, char *result, unsigned int size);

/* Memory of it. Not while it is set. */
size_t byfile_bytes(const struct byfile *by);

#endif
