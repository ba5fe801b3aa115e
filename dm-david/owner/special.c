// SPDX-License-Identifier: GPL-2.0
/*
 * Pages of regular files that are kept: see special.h.
 *
 * Inodes and their names are freed after an RCU grace period: all looking is done inside one
 * read-side section.
 */
#include "special.h"

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include "../../classifier/ext/exclude.h"
#include "../../classifier/signature.h"
#include "../compat/compat.h"
#include "../store/raw.h"
#include "fs.h"

#define QUOTA_UNIT	1024u	/* what ext_looks_like_quota() goes by */

static bool page_has_signature(const void *page)
{
	return signature_begins(page) || signature_ends(page + SIGNATURE_PAGE - 8);
}

/* Does the segment have the signature of such a file, at its beginning or at its end? */
static bool has_signature(const struct bio_vec *bv, const void *p)
{
	if (bv->bv_len < 8)
		return false;
	return signature_begins(p) ||
	       (!((bv->bv_offset + bv->bv_len) % SIGNATURE_PAGE) &&
		signature_ends(p + bv->bv_len - 8));
}

/* The file that the page-cache page belongs to, and the page's place in it. */
static struct inode *file_of(struct page *page, unsigned long *index)
{
	struct folio *folio = page_folio(page);
	struct address_space *mapping;

	if (folio_test_slab(folio) || folio_test_anon(folio))
		return NULL;
	mapping = folio_mapping(folio);
	*index = folio->index + folio_page_idx(folio, page);
	return mapping ? mapping->host : NULL;
}

enum beginning {
	BEGINS_UNKNOWN,		/* not in the cache */
	BEGINS_SIGNED,
	BEGINS_AS_QUOTA,	/* with records of the old format */
	BEGINS_OTHERWISE,
};

static enum beginning beginning_of(struct address_space *mapping)
{
	struct folio *folio = filemap_get_folio(mapping, 0);
	enum beginning beginning = BEGINS_UNKNOWN;
	void *p;

	if (IS_ERR_OR_NULL(folio))
		return beginning;
	if (folio_test_uptodate(folio)) {
		p = kmap_local_folio(folio, 0);
		if (signature_begins(p))
			beginning = BEGINS_SIGNED;
		else
			beginning = ext_looks_like_quota(p, QUOTA_UNIT) ? BEGINS_AS_QUOTA :
									  BEGINS_OTHERWISE;
		kunmap_local(p);
	}
	folio_put(folio);
	return beginning;
}

static bool name_of_quota(const struct dentry *name)
{
	static const char * const names[] = {
		"quota.user", "quota.group", "aquota.user", "aquota.group",
	};
	unsigned int i;

	/* While they are made, they have a suffix. */
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(name->d_name.name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Has the inode the name of a quota file? True without a name in the cache, as it may have one. */
static bool may_be_called_so(struct inode *inode)
{
	bool may = false, named = false;
	struct dentry *name;

	spin_lock(&inode->i_lock);
	for_each_alias(name, inode) {
		named = true;
		may = READ_ONCE(name->d_parent) == inode->i_sb->s_root || name_of_quota(name);
		if (may)
			break;
	}
	spin_unlock(&inode->i_lock);
	return may || !named;
}

/* Other file systems have no quota files, or write them past the page cache only. */
static bool may_be_quota(struct inode *inode)
{
	const struct owner_fs *fs = owner_fs_of(inode->i_sb);
	enum beginning beginning;

	if (!fs || !fs->has_quota_files)
		return false;
	beginning = beginning_of(inode->i_mapping);
	return beginning == BEGINS_SIGNED ||
	       (beginning != BEGINS_OTHERWISE && may_be_called_so(inode));
}

/* A page of a regular file on this disk. */
static bool is_special(const struct bio_vec *bv, const void *p)
{
	unsigned long index;
	struct inode *inode;
	bool special = false;

	/* Cheap first: nearly all data ends here. */
	if (bv->bv_len % QUOTA_UNIT || !ext_looks_like_quota(p, bv->bv_len)) {
		if (bv->bv_len >= PAGE_SIZE)
			return false;
		/* A part of the file's first page: blocks may be smaller than that. */
		rcu_read_lock();
		inode = file_of(bv->bv_page, &index);
		special = inode && !index &&
			  page_has_signature(p - bv->bv_offset % PAGE_SIZE);
		rcu_read_unlock();
		return special;
	}
	rcu_read_lock();
	inode = file_of(bv->bv_page, &index);
	special = !inode || may_be_quota(inode);
	rcu_read_unlock();
	return special;
}

/*
 * Is the file's page the buffer of direct I/O to another one? Pages that a file system writes back
 * are locked or under write-back by then.
 */
static bool is_buffer(bool is_direct, struct page *page)
{
	struct folio *folio = page_folio(page);

	return is_direct || !(folio_test_writeback(folio) || folio_test_locked(folio));
}

static bool is_raw_buffer(const struct raw *raw, bool is_direct, struct page *page)
{
	bool found;

	if (!raw_any(raw) || !is_buffer(is_direct, page))
		return false;
	rcu_read_lock();
	found = raw_has_file(raw, NULL);
	rcu_read_unlock();
	return found;
}

enum david_evidence special_evidence(const struct raw *raw, bool is_direct,
				     enum david_evidence evidence, const struct bio_vec *bv,
				     const void *p)
{
	if (unlikely(has_signature(bv, p)))
		return DAVID_EV_SELF;
	if (evidence != DAVID_EV_FILE)
		return evidence;
	if (unlikely(is_special(bv, p)))
		return DAVID_EV_SELF;
	return is_raw_buffer(raw, is_direct, bv->bv_page) ? DAVID_EV_RAW : evidence;
}
