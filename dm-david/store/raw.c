// SPDX-License-Identifier: GPL-2.0
/*
 * RAW rules in a running kernel: see raw.h.
 *
 * The names of an inode are walked with rename_lock held, as in the second try of d_path(). So
 * nothing is renamed meanwhile. The inode's i_lock keeps its dentries, and each dentry keeps its
 * parent, up to the root.
 */
#include "raw.h"

#include <linux/dcache.h>
#include <linux/exportfs.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/sched/mm.h>
#include <linux/seqlock.h>
#include "../compat/compat.h"

/* btrfs_fid without a parent, in words of 32 bits: inode, root, generation. */
#define BTRFS_FID_WORDS	5
#define BTRFS_FID_ROOT	2

/*
 * Inode numbers of btrfs are unique within a subvolume only. The file handles that btrfs makes for
 * NFS name the subvolume.
 */
static bool volume_of(struct inode *inode, u64 *volume)
{
	const struct export_operations *ops = inode->i_sb->s_export_op;
	u32 fid[BTRFS_FID_WORDS];
	int words = BTRFS_FID_WORDS;

	*volume = 0;
	if (inode->i_sb->s_magic != BTRFS_SUPER_MAGIC)
		return true;
	if (!ops || !ops->encode_fh ||
	    ops->encode_fh(inode, fid, &words, NULL) != FILEID_BTRFS_WITHOUT_PARENT)
		return false;
	memcpy(volume, fid + BTRFS_FID_ROOT, sizeof(*volume));
	return true;
}

/* The way up from a name. */
struct climb {
	const struct dentry *at;
	bool lost;		/* it did not end at the root */
};

static bool climb_up(void *ctx, u64 *volume, u64 *ino)
{
	struct climb *climb = ctx;
	const struct dentry *parent = climb->at->d_parent;
	struct inode *inode;

	if (IS_ROOT(climb->at)) {
		climb->lost = climb->at != climb->at->d_sb->s_root;
		return false;
	}
	inode = d_inode(parent);
	if (!inode || !volume_of(inode, volume)) {
		climb->lost = true;
		return false;
	}
	climb->at = parent;
	*ino = inode->i_ino;
	return true;
}

static bool has_name(const struct rawset *set, struct raw_file *file, const struct dentry *name)
{
	struct climb climb = { .at = name };

	file->name = name->d_name.name;
	file->name_len = name->d_name.len;
	return rawset_file(set, file, climb_up, &climb) || climb.lost;
}

static bool has_any_name(const struct rawset *set, struct raw_file *file, struct inode *inode)
{
	unsigned int names = 0;
	struct dentry *name;
	bool found = false;

	read_seqlock_excl(&rename_lock);
	spin_lock(&inode->i_lock);
	for_each_alias(name, inode) {
		found = has_name(set, file, name);
		if (found)
			break;
		names += !d_unhashed(name);
	}
	/* A name that is not in the cache may match a rule. */
	found |= names < inode->i_nlink;
	spin_unlock(&inode->i_lock);
	read_sequnlock_excl(&rename_lock);
	return found;
}

bool raw_has_file(const struct raw *raw, struct inode *inode)
{
	const struct rawset *set = rcu_dereference(raw->set);
	struct raw_file file = {};

	if (!set || !rawset_has_files(set))
		return false;
	if (!inode || !volume_of(inode, &file.volume))
		return true;
	file.ino = inode->i_ino;
	if (!rawset_has_names(set))
		return rawset_file(set, &file, NULL, NULL);
	return has_any_name(set, &file, inode);
}

bool raw_has_sectors(const struct raw *raw, u64 sector, u64 sectors)
{
	const struct rawset *set;
	bool found = false;
	u64 len;

	rcu_read_lock();
	set = rcu_dereference(raw->set);
	if (set)
		found = rawset_sector(set, sector, &len) || len < sectors;
	rcu_read_unlock();
	return found;
}

static bool has_rules(const struct raw *raw, bool (*has)(const struct rawset *set))
{
	const struct rawset *set;
	bool found;

	rcu_read_lock();
	set = rcu_dereference(raw->set);
	found = set && has(set);
	rcu_read_unlock();
	return found;
}

bool raw_has_file_rules(const struct raw *raw)
{
	return has_rules(raw, rawset_has_files);
}

bool raw_has_name_rules(const struct raw *raw)
{
	return has_rules(raw, rawset_has_names);
}

bool raw_has_suffix_rules(const struct raw *raw)
{
	return has_rules(raw, rawset_has_suffixes);
}

bool raw_has_inode(const struct raw *raw, u64 volume, u64 ino)
{
	struct raw_file file = { .volume = volume, .ino = ino };
	const struct rawset *set;
	bool found;

	rcu_read_lock();
	set = rcu_dereference(raw->set);
	found = set && rawset_file(set, &file, NULL, NULL);
	rcu_read_unlock();
	return found;
}

bool raw_has_name(const struct raw *raw, const char *name, size_t len)
{
	const struct rawset *set;
	bool found;

	rcu_read_lock();
	set = rcu_dereference(raw->set);
	found = set && rawset_name(set, name, len);
	rcu_read_unlock();
	return found;
}

u64 raw_next_dir(const struct raw *raw, u64 volume, u64 after)
{
	const struct rawset *set;
	u64 ino;

	rcu_read_lock();
	set = rcu_dereference(raw->set);
	ino = set ? rawset_next_dir(set, volume, after) : 0;
	rcu_read_unlock();
	return ino;
}

/* Changes */

static struct rawset *raw_set_held(const struct raw *raw)
{
	return rcu_dereference_protected(raw->set, lockdep_is_held(&raw->lock));
}

static struct rawset *change_words(const struct rawset *from, bool add, unsigned int n,
				   char **words, char *error)
{
	struct rawset *set = NULL, *next;
	unsigned int i;

	for (i = 0; i < n; i++) {
		next = add ? rawset_add(set ?: from, words[i], GFP_KERNEL, error) :
			     rawset_remove(set ?: from, words[i], GFP_KERNEL, error);
		rawset_free(set);
		if (!next)
			return NULL;
		set = next;
	}
	return set;
}

/* Save @set (NULL: no rules), then replace @old by it and free @old. */
static int put_in_place(struct raw *raw, struct rawset *old, struct rawset *set, char *error)
{
	int r = 0;

	if (raw->save && !rawset_same(old, set))
		r = raw->save(raw, set, error);
	if (r)
		return r;
	rcu_assign_pointer(raw->set, set);
	if (old) {
		synchronize_rcu();
		rawset_free(old);
	}
	return 0;
}

int raw_change(struct raw *raw, bool add, unsigned int n, char **words, char *error)
{
	struct rawset *old, *set, *empty = NULL;
	unsigned int noio;
	int r = -EINVAL;

	if (!n)
		return 0;
	/* The disk may be suspended: an allocation must not wait for writes to it. */
	noio = memalloc_noio_save();
	mutex_lock(&raw->lock);
	old = raw_set_held(raw);
	if (!old) {
		empty = rawset_new(GFP_KERNEL);
		if (!empty) {
			strscpy(error, "no memory for rules", RAW_ERROR_SIZE);
			r = -ENOMEM;
			goto out;
		}
	}
	set = change_words(old ?: empty, add, n, words, error);
	if (!set)
		goto out;
	if (!rawset_count(set)) {
		rawset_free(set);
		set = NULL;
	}
	r = put_in_place(raw, old, set, error);
	if (r)
		rawset_free(set);
out:
	mutex_unlock(&raw->lock);
	memalloc_noio_restore(noio);
	rawset_free(empty);
	return r;
}

int raw_add_text(struct raw *raw, char *text, char *error)
{
	unsigned int n = 1, i = 0;
	char **words, *word;
	const char *p;
	int r;

	if (!strcmp(text, "none"))
		return 0;
	for (p = text; *p; p++)
		n += *p == ',';
	words = kvmalloc_array(n, sizeof(*words), GFP_KERNEL);
	if (!words) {
		strscpy(error, "no memory for rules", RAW_ERROR_SIZE);
		return -ENOMEM;
	}
	while ((word = strsep(&text, ",")))
		words[i++] = word;
	r = raw_change(raw, true, n, words, error);
	kvfree(words);
	return r;
}

/* Add all rules of @from, which are @set. */
static int add_all(struct raw *raw, struct raw *from, const struct rawset *set, char *error)
{
	unsigned int size = rawset_count(set) * RAW_TEXT_SIZE;
	char *text = kvmalloc(size, GFP_KERNEL);
	int r = -ENOMEM;

	strscpy(error, "no memory for rules", RAW_ERROR_SIZE);
	if (text) {
		raw_print(from, ',', text, size);
		r = raw_add_text(raw, text, error);
	}
	kvfree(text);
	return r;
}

int raw_take(struct raw *raw, struct raw *from, bool replace, char *error)
{
	struct rawset *set = rcu_dereference_protected(from->set, true), *old;
	bool others = false, moves;
	unsigned int noio;
	int r = 0;

	if (!set)
		return 0;
	noio = memalloc_noio_save();
	mutex_lock(&raw->lock);
	old = raw_set_held(raw);
	moves = !old || replace;
	if (moves) {
		others = old && !rawset_same(old, set);
		r = put_in_place(raw, old, set, error);
	}
	mutex_unlock(&raw->lock);
	if (!moves)
		r = add_all(raw, from, set, error);
	memalloc_noio_restore(noio);
	if (r)
		return r;
	RCU_INIT_POINTER(from->set, NULL);
	if (!moves)
		rawset_free(set);
	return others;
}

unsigned int raw_print(struct raw *raw, char separator, char *result, unsigned int size)
{
	const struct rawset *set;
	char rule[RAW_TEXT_SIZE];
	unsigned int i, at = 0;

	result[0] = '\0';
	mutex_lock(&raw->lock);
	set = raw_set_held(raw);
	for (i = 0; set && i < rawset_count(set); i++) {
		if (at && at + 1 < size)
			result[at++] = separator;
		rawset_print(set, i, rule, sizeof(rule));
		at += scnprintf(result + at, size - at, "%s", rule);
	}
	mutex_unlock(&raw->lock);
	return at;
}

size_t raw_bytes(const struct raw *raw)
{
	const struct rawset *set;
	size_t bytes;

	rcu_read_lock();
	set = rcu_dereference(raw->set);
	bytes = set ? rawset_bytes(set) : 0;
	rcu_read_unlock();
	return bytes;
}

void raw_destroy(struct raw *raw)
{
	rawset_free(rcu_dereference_protected(raw->set, true));
}
