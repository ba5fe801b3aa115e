/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RAW rules in a running kernel: which files and sectors are RAW, by a disk's rules (rawset.h).
 *
 * A file is known by the owner of a page: its inode, its names in the dentry cache, and the
 * directories above these. If that is not enough, the file is RAW. Two cases: rules for names or
 * directories exist, and the file has more links than names in the cache; or rules for files exist,
 * and the I/O is direct, so its pages do not belong to the file.
 *
 * The rules belong to a store, so they outlive tables. A store that survives saves them
 * (rawstore.h). A change waits until it is saved, and for a grace period. It applies to requests
 * that come after it has returned.
 */
#ifndef DM_DAVID_RAW_H
#define DM_DAVID_RAW_H

#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include "../lib/rawset.h"

struct inode;

struct raw {
	struct mutex lock;		/* serialises changes of the rules */
	struct rawset __rcu *set;	/* NULL: no rules */
	/*
	 * Makes @set durable before it takes effect; the lock is held. Returns 0, or an error and
	 * its reason. NULL: rules need not be durable.
	 */
	int (*save)(struct raw *raw, const struct rawset *set, char *error);
};

static inline void raw_init(struct raw *raw)
{
	mutex_init(&raw->lock);
	RCU_INIT_POINTER(raw->set, NULL);
	raw->save = NULL;
}

/* There must be no other user. */
void raw_destroy(struct raw *raw);

/* Is there any rule? Costs one load. */
static inline bool raw_any(const struct raw *raw)
{
	return unlikely(rcu_access_pointer(raw->set));
}

/*
 * Is the file of @inode, on this disk, RAW? NULL: the file is not known. The caller is in an RCU
 * read-side section and keeps @inode alive. Process context; neither an i_lock nor rename_lock is
 * held.
 */
bool raw_has_file(const struct raw *raw, struct inode *inode);

/* Is any of the @sectors from @sector on RAW by a rule for sectors? */
bool raw_has_sectors(const struct raw *raw, u64 sector, u64 sectors);

/* Are there rules for files? For names or directories? For suffixes? */
bool raw_has_file_rules(const struct raw *raw);
bool raw_has_name_rules(const struct raw *raw);
bool raw_has_suffix_rules(const struct raw *raw);

/*
 * Is inode @ino of the file system at @volume RAW itself? Is every file called @name RAW? Which RAW
 * directory of @volume has the next inode number after @after; 0: none?
 */
bool raw_has_inode(const struct raw *raw, u64 volume, u64 ino);
bool raw_has_name(const struct raw *raw, const char *name, size_t len);
u64 raw_next_dir(const struct raw *raw, u64 volume, u64 after);

/*
 * Add all rules in @words, or remove them: all or none. Returns 0, or a negative error and its
 * reason in @error, of RAW_ERROR_SIZE bytes. Sleeps, also for the I/O that saves the rules, but not
 * for requests of the disk's user.
 */
int raw_change(struct raw *raw, bool add, unsigned int n, char **words, char *error);

/* Add the rules in @text, separated by commas; "none" is no rule. Modifies @text. */
int raw_add_text(struct raw *raw, char *text, char *error);

/*
 * Move all rules of @from to @raw. @replace: rules that @raw has are removed. Returns as
 * raw_change(), or 1 if rules were removed.
 */
int raw_take(struct raw *raw, struct raw *from, bool replace, char *error);

/* Print all rules with @separator between them, and a final 0. Returns the length, below @size. */
unsigned int raw_print(struct raw *raw, char separator, char *result, unsigned int size);

size_t raw_bytes(const struct raw *raw);

#endif
