// SPDX-License-Identifier: GPL-2.0
/* Content by file in a running kernel: see byfile.h. */
#include "byfile.h"

#include <linux/bvec.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include "../compat/compat.h"
#include "../lib/suffixmap.h"
#include "fs.h"
#include "owner.h"

struct suffixes {
	struct suffix_map map;
	char text[];		/* as it was given */
};

/*
 * May the content of the file be chosen freely? Not on btrfs, which has checksums of data: a read
 * must return content with the checksum of what was written, and no well-formed file has that.
 */
static bool may_be_by_file(const struct inode *inode)
{
	const struct owner_fs *fs = owner_fs_of(inode->i_sb);

	return fs && !fs->no_content_by_file;
}

/* The format by any of the file's names. Whoever reads the file has it open, so one is cached. */
static enum file_kind kind_of(const struct suffix_map *map, struct inode *inode)
{
	enum file_kind kind = FILE_NONE;
	struct dentry *name;

	spin_lock(&inode->i_lock);
	for_each_alias(name, inode) {
		spin_lock(&name->d_lock);
		kind = suffix_map_find(map, name->d_name.name, name->d_name.len);
		spin_unlock(&name->d_lock);
		if (kind != FILE_NONE)
			break;
	}
	spin_unlock(&inode->i_lock);
	return kind;
}

static void byfile_look_up(const struct suffixes *suffixes, struct inode *inode, u64 seed,
			   struct file_place *place)
{
	place->kind = may_be_by_file(inode) ? kind_of(&suffixes->map, inode) : FILE_NONE;
	if (place->kind == FILE_NONE)
		return;
	place->size = i_size_read(inode);
	/* Any odd number with bits all over: the golden ratio's. */
	place->seed = seed ^ (inode->i_ino * 0x9e3779b97f4a7c15ull);
}

bool byfile_fill(const struct byfile *by, struct owner_watch *watch, u64 seed,
		 struct byfile_cache *cache, const struct bio_vec *bv, void *p)
{
	struct folio *folio = page_folio(bv->bv_page);
	const struct suffixes *suffixes;
	struct file_place place;
	struct inode *inode;

	rcu_read_lock();
	suffixes = rcu_dereference(by->suffixes);
	inode = suffixes ? owner_of_read(watch, folio) : NULL;
	if (!inode) {
		rcu_read_unlock();
		return false;
	}
	if (inode->i_mapping != cache->mapping) {
		cache->mapping = inode->i_mapping;
		byfile_look_up(suffixes, inode, seed, &cache->place);
	}
	place = cache->place;
	rcu_read_unlock();
	if (place.kind == FILE_NONE)
		return false;
	file_fill(p, &place, folio_pos(folio) + bv->bv_offset +
		  ((u64)folio_page_idx(folio, bv->bv_page) << PAGE_SHIFT), bv->bv_len);
	return true;
}

int byfile_set(struct byfile *by, const char *text, char *error)
{
	struct suffixes *old = rcu_dereference_protected(by->suffixes, true), *new = NULL;
	const char *map = text;
	unsigned int noio;
	int r;

	if (text && strcmp(text, "off")) {
		if (!strcmp(text, "default"))
			map = SUFFIX_DEFAULT;
		noio = memalloc_noio_save();
		new = kvzalloc(struct_size(new, text, strlen(text) + 1), GFP_KERNEL);
		memalloc_noio_restore(noio);
		if (!new) {
			strscpy(error, "no memory for suffixes", BYFILE_ERROR_SIZE);
			return -ENOMEM;
		}
		strscpy(new->text, text, strlen(text) + 1);
		r = suffix_map_parse(&new->map, map, error, BYFILE_ERROR_SIZE);
		if (r) {
			kvfree(new);
			return r;
		}
	}
	rcu_assign_pointer(by->suffixes, new);
	if (old) {
		synchronize_rcu();
		kvfree(old);
	}
	return 0;
}

size_t byfile_bytes(const struct byfile *by)
{
	const struct suffixes *suffixes = rcu_dereference_protected(by->suffixes, true);

	return suffixes ? struct_size(suffixes, text, strlen(suffixes->text) + 1) : 0;
}

unsigned int byfile_print(const struct byfile *by, char *result, unsigned int size)
{
	const struct suffixes *suffixes;
	unsigned int len;

	rcu_read_lock();
	suffixes = rcu_dereference(by->suffixes);
	len = scnprintf(result, size, "%s", suffixes ? suffixes->text : "off");
	rcu_read_unlock();
	return len;
}
