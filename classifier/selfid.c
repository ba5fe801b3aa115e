// SPDX-License-Identifier: GPL-2.0
/* Parts of metadata blocks that came without their header: see selfid.h. */
#include "selfid.h"

static const char * const names[SELFID_REASONS] = {
	[SELFID_UNSAFE] = "unsafe",
	[SELFID_SUPER] = "superblock",
	[SELFID_BEYOND] = "beyond",
	[SELFID_LOG] = "log",
	[SELFID_AG] = "ag-header",
	[SELFID_BTREE] = "btree",
	[SELFID_DIRECTORY] = "directory",
	[SELFID_ATTR] = "attr",
	[SELFID_SYMLINK] = "symlink",
	[SELFID_DQUOT] = "dquot",
	[SELFID_INODE] = "inode",
	[SELFID_NAMED] = "named",
	[SELFID_TREE] = "tree-block",
	[SELFID_CHUNK] = "metadata-chunk",
	[SELFID_CACHE] = "space-cache",
	[SELFID_REST] = "rest",
	[SELFID_COMPRESSED] = "packed",
	[SELFID_UNREAD] = "log-unread",
	[SELFID_LOGGED] = "logged",
	[SELFID_STORED] = "stored",
	[SELFID_PART] = "part",
	[SELFID_DATA] = "data",
};

const char *selfid_reason_name(enum selfid_reason reason)
{
	return reason < SELFID_REASONS ? names[reason] : "unknown";
}

void selfid_open_add(struct selfid_open *o, u64 start, u64 end)
{
	if (start >= end)
		return;
	o->used += !o->slot[o->next].end;
	o->slot[o->next].start = start;
	o->slot[o->next].end = end;
	o->next = (o->next + 1) % SELFID_OPEN;
}

/*
 * The slot stays remembered after a part of it has come, as parts may come in any order. It is
 * forgotten when another slot begins there, or when SELFID_OPEN others have come since.
 */
u32 selfid_open_take(struct selfid_open *o, u64 sector, u32 sectors)
{
	unsigned int i;

	if (!o->used)
		return 0;
	for (i = 0; i < SELFID_OPEN; i++)
		if (sector >= o->slot[i].start && sector < o->slot[i].end)
			return min_t(u64, sectors, o->slot[i].end - sector);
	return 0;
}

void selfid_open_end(struct selfid_open *o, u64 sector, u32 sectors)
{
	unsigned int i;

	if (!o->used)
		return;
	for (i = 0; i < SELFID_OPEN; i++) {
		if (o->slot[i].start >= sector + sectors || o->slot[i].end <= sector)
			continue;
		o->slot[i].end = 0;
		o->used--;
	}
}
