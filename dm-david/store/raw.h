/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RAW in a running kernel: a disk's rules (rawset.h), and files and places asked
 * about them.
 *
 * Files are known by the owners of pages: inode, and by way of its names in the
 * dentry cache the directories above. What cannot be known is RAW: a file with
 * more links than names in the cache, where names or directories matter; and all
 * direct I/O while there is any rule for files, as its pages do not tell whose
 * data they hold.
 *
 * A store has the rules, so they outlive tables, and are saved in it where it lasts
 * (rawstore.h). Changes wait for that and for a grace period; they hold for requests
 * that come after them.
 */
#ifndef DM_DAVID_RAW_H
#define DM_DAVID_RAW_H

#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include "../lib/rawset.h"

struct inode;

struct raw {
	struct mutex lock;		/* of those who change the rules */
	struct rawset __rcu *set;	/* NULL without rules */
	/*
	 * Makes rules last before they count, under lock. Returns 0 or an error with
	 * what is wrong. NULL: they need not last.
	 */
	int (*save)(struct raw *raw, const struct rawset *set, char *error);
};

static inline void raw_init(struct raw *raw)
{
	mutex_init(&raw->lock);
	RCU_INIT_POINTER(raw->set, NULL);
	raw->save = NULL;
}

/* Nobody else has it. */
void raw_destroy(struct raw *raw);

/* Cheap: is there any rule? */
static inline bool raw_any(const struct raw *raw)
{
	return unlikely(rcu_access_pointer(raw->set));
}

/*
 * Is a file RAW that lies on this disk, or (NULL) one that is not known? The caller is in
 * an RCU read-side section and keeps @inode alive. Process context, no inode's i_lock and
 * not rename_lock held.
 */
bool raw_has_file(const struct raw *raw, struct inode *inode);

/* Is any of @sectors from @sector on RAW by its place? */
bool raw_has_sectors(const struct raw *raw, u64 sector, u64 sectors);

/* Are there rules for files; by name or directory; by suffix? */
bool raw_has_file_rules(const struct raw *raw);
bool raw_has_name_rules(const struct raw *raw);
bool raw_has_suffix_rules(const struct raw *raw);

/*
 * Is the file or directory itself RAW by its number, counted in @volume? Is every file of that
 * name? And the RAW directory in @volume with the least number above @after, 0: none.
 */
bool raw_has_inode(const struct raw *raw, u64 volume, u64 ino);
bool raw_has_name(const struct raw *raw, const char *name, size_t len);
u64 raw_next_dir(const struct raw *raw, u64 volume, u64 after);

/*
 * Put all of the rules in @words in, or take them away; all or none. Returns 0 or a
 * negative error with what is wrong in @error, of RAW_ERROR_SIZE. Sleeps; no I/O of the disk's
 * own is waited for, only that of saving them.
 */
int raw_change(struct raw *raw, bool add, unsigned int n, char **words, char *error);

/* The same with rules that are separated by commas, @text is changed; "none" is none. */
int raw_add_text(struct raw *raw, char *text, char *error);

/*
 * Add all rules of @from, which then has none, or (@replace) put them in the place of
 * others. As raw_change(), but 1 if others were there and are gone.
 */
int raw_take(struct raw *raw, struct raw *from, bool replace, char *error);

/* Print all rules with @separator between them: the length, less than @size, and a final 0. */
unsigned int raw_print(struct raw *raw, char separator, char *result, unsigned int size);

size_t raw_bytes(const struct raw *raw);

#endif
