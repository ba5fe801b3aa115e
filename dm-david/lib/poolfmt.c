// SPDX-License-Identifier: GPL-2.0
/* Reading and writing a pool's directory: see poolfmt.h. */
#include "poolfmt.h"

#include "../portable/crc.h"

#define COPY_BYTES	(POOL_COPY * FORMAT_PAGE)
#define AREA_SHARE	128	/* of the pool: one area by default */

static void pool_asserts(void)
{
	BUILD_BUG_ON(sizeof(struct pool_disk_entry) != 128);
	BUILD_BUG_ON(offsetof(struct pool_disk_entry, first) != 80);
	BUILD_BUG_ON(offsetof(struct pool_disk_super, generation) != 40);
	BUILD_BUG_ON(offsetof(struct pool_disk_super, blocks) != 56);
	BUILD_BUG_ON(offsetof(struct pool_disk_super, disk) != 128);
	BUILD_BUG_ON(sizeof(struct pool_disk_super) != COPY_BYTES);
	BUILD_BUG_ON(POOL_PAGES > FORMAT_LOOK);
}

bool pool_name_ok(const char *name)
{
	static const char more[] = "#+-.:=@_";
	size_t i, len = strlen(name);

	if (!len || len >= POOL_NAME || name[0] == '-')
		return false;
	for (i = 0; i < len; i++) {
		char c = name[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !strchr(more, c))
			return false;
	}
	return true;
}

static bool pool_is_zero(const void *p, size_t len)
{
	const u8 *byte = p;

	return !byte[0] && !memcmp(byte, byte + 1, len - 1);
}

static u32 copy_crc(const void *copy)
{
	static const u8 zero[4];
	u32 crc = crc_update(CRC_32C, ~0u, copy, offsetof(struct pool_disk_super, crc));

	crc = crc_update(CRC_32C, crc, zero, sizeof(zero));
	return ~crc_update(CRC_32C, crc, copy + offsetof(struct pool_disk_super, version),
			   COPY_BYTES - offsetof(struct pool_disk_super, version));
}

/* A name that ends, and is one. */
static bool pool_take_name(char *to, const u8 *from)
{
	if (from[POOL_NAME - 1])
		return false;
	memcpy(to, from, POOL_NAME);
	return pool_name_ok(to);
}

static bool pool_take_entry(struct pool_entry *entry, const struct pool_disk_entry *disk, u64 pages)
{
	memset(entry, 0, sizeof(*entry));
	if (!disk->name[0])
		return pool_is_zero(disk, sizeof(*disk));
	memcpy(entry->uuid, disk->uuid, sizeof(entry->uuid));
	entry->first = le64_to_cpu(disk->first);
	entry->pages = le64_to_cpu(disk->pages);
	entry->reserve = le64_to_cpu(disk->reserve);
	return pool_take_name(entry->name, disk->name) && entry->first >= POOL_PAGES &&
	       entry->pages >= FORMAT_SUPERS + FORMAT_LOG_MIN &&
	       entry->pages <= FORMAT_SUPERS + FORMAT_LOG_MAX && entry->first < pages &&
	       entry->pages <= pages - entry->first && entry->reserve < (u64)1 << 40;
}

/* No two of a name. That areas do not overlap, pool_claim_areas() sees. */
static bool names_differ(const struct pool_super *s)
{
	unsigned int i;

	for (i = 0; i < POOL_DISKS; i++)
		if (s->disk[i].name[0] && pool_find(s, s->disk[i].name) != i)
			return false;
	return true;
}

static enum format_found look_at_copy(const void *copy, struct pool_super *s)
{
	const struct pool_disk_super *disk = copy;
	unsigned int i;

	if (memcmp(disk->magic, POOL_MAGIC, sizeof(disk->magic)))
		return pool_is_zero(copy, COPY_BYTES) ? FORMAT_BLANK : FORMAT_FOREIGN;
	if (le32_to_cpu(disk->crc) != copy_crc(copy))
		return FORMAT_BROKEN;
	if (le32_to_cpu(disk->version) != POOL_VERSION)
		return FORMAT_OTHER_VERSION;
	memcpy(s->uuid, disk->uuid, sizeof(s->uuid));
	s->generation = le64_to_cpu(disk->generation);
	s->blocks = le64_to_cpu(disk->blocks);
	s->share = le32_to_cpu(disk->flags) & POOL_SHARE;
	if (le32_to_cpu(disk->block_size) != FORMAT_PAGE ||
	    le32_to_cpu(disk->flags) & ~POOL_SHARE ||
	    s->blocks < POOL_PAGES_MIN || s->blocks >= (u64)1 << 40 ||
	    !pool_take_name(s->name, disk->name))
		return FORMAT_BROKEN;
	for (i = 0; i < POOL_DISKS; i++)
		if (!pool_take_entry(&s->disk[i], &disk->disk[i], s->blocks))
			return FORMAT_BROKEN;
	if (s->share && s->disk[POOL_SHARE_DISKS].name[0])
		return FORMAT_BROKEN;
	return names_differ(s) ? FORMAT_STORE : FORMAT_BROKEN;
}

enum format_found pool_look(const void *pages, struct pool_super *super)
{
	u64 newest = 0;
	enum format_found found[POOL_COPIES], best = FORMAT_FOREIGN;
	unsigned int i, place = POOL_COPIES;

	for (i = 0; i < POOL_COPIES; i++) {
		found[i] = look_at_copy(pages + i * COPY_BYTES, super);
		if (found[i] == FORMAT_STORE &&
		    (place == POOL_COPIES || super->generation > newest)) {
			place = i;
			newest = super->generation;
		}
	}
	if (place < POOL_COPIES)
		return look_at_copy(pages + place * COPY_BYTES, super);
	for (i = 0; i < POOL_COPIES; i++)
		if (found[i] == FORMAT_OTHER_VERSION ||
		    (found[i] == FORMAT_BROKEN && best != FORMAT_OTHER_VERSION))
			best = found[i];
	if (best != FORMAT_FOREIGN)
		return best;
	return pool_is_zero(pages, FORMAT_LOOK * FORMAT_PAGE) ? FORMAT_BLANK : FORMAT_FOREIGN;
}

int pool_begin(struct pool_super *super, const char *name, u64 pages)
{
	memset(super, 0, sizeof(*super));
	if (!pool_name_ok(name))
		return -EINVAL;
	if (pages < POOL_PAGES_MIN || pages >= (u64)1 << 40)
		return -ENOSPC;
	memcpy(super->name, name, strlen(name));
	super->blocks = pages;
	return 0;
}

void pool_pack(const struct pool_super *super, void *copy)
{
	struct pool_disk_super *disk = copy;
	unsigned int i;

	pool_asserts();
	memset(copy, 0, COPY_BYTES);
	memcpy(disk->magic, POOL_MAGIC, sizeof(disk->magic));
	memcpy(disk->uuid, super->uuid, sizeof(disk->uuid));
	memcpy(disk->name, super->name, sizeof(disk->name));
	disk->version = cpu_to_le32(POOL_VERSION);
	disk->generation = cpu_to_le64(super->generation);
	disk->block_size = cpu_to_le32(FORMAT_PAGE);
	disk->flags = cpu_to_le32(super->share ? POOL_SHARE : 0);
	disk->blocks = cpu_to_le64(super->blocks);
	for (i = 0; i < POOL_DISKS; i++) {
		const struct pool_entry *entry = &super->disk[i];
		struct pool_disk_entry *to = &disk->disk[i];

		if (!entry->name[0])
			continue;
		memcpy(to->name, entry->name, sizeof(to->name));
		memcpy(to->uuid, entry->uuid, sizeof(to->uuid));
		to->first = cpu_to_le64(entry->first);
		to->pages = cpu_to_le64(entry->pages);
		to->reserve = cpu_to_le64(entry->reserve);
	}
	disk->crc = cpu_to_le32(copy_crc(copy));
}

unsigned int pool_find(const struct pool_super *super, const char *name)
{
	unsigned int i;

	for (i = 0; i < pool_most_disks(super); i++)
		if (!strcmp(super->disk[i].name, name))
			return i;
	return POOL_DISKS;
}

u64 pool_area_pages(u64 pages, u64 log_pages)
{
	if (!log_pages)
		log_pages = pages / AREA_SHARE;
	return FORMAT_SUPERS + min_t(u64, max_t(u64, log_pages, FORMAT_LOG_MIN), FORMAT_LOG_MAX);
}

const char *pool_claim_areas(const struct pool_super *super, struct remap_bitmap *bm)
{
	unsigned int i;

	if (!bm_claim(bm, 0, POOL_PAGES))
		return "the directory has no room";
	for (i = 0; i < POOL_DISKS; i++) {
		const struct pool_entry *entry = &super->disk[i];

		if (entry->name[0] && !bm_claim(bm, entry->first, entry->pages))
			return "two disks have their logs in one place";
	}
	return NULL;
}

/* Take @len blocks from @dest on that are not taken. Returns how many are. */
static u64 claim_rest(struct remap_bitmap *bm, u64 dest, u64 len)
{
	u64 end = dest + len, taken = 0;

	for (; dest < end; dest++)
		if (!bm_claim(bm, dest, 1))
			taken++;
	return taken;
}

const char *pool_claim_disk(const struct pool_super *super, const struct rangetable *table,
			    struct remap_bitmap *bm, u64 *block, u64 *shared)
{
	struct remap_bitmap own;
	struct rt_range r;
	const char *why;
	u64 at;

	*block = 0;
	if (!super->share)
		return format_claim(table, bm, POOL_PAGES, block);
	/* No block twice by this disk, and none in an area. */
	if (bm_init(&own, bm->size))
		return "not enough memory";
	why = pool_claim_areas(super, &own);
	if (!why)
		why = format_claim(table, &own, POOL_PAGES, block);
	bm_destroy(&own);
	for (at = 0; !why && at != U64_MAX; at = r.start + r.len) {
		rt_lookup(table, at, &r);
		if (r.kind == RT_STORED)
			*shared += claim_rest(bm, r.value, r.len);
	}
	return why;
}

const char *pool_check_disk(const struct pool_entry *entry, const struct format_super *disk)
{
	if (memcmp(entry->uuid, disk->uuid, sizeof(entry->uuid)))
		return "its superblock is of another disk";
	if (entry->pages != FORMAT_SUPERS + disk->log_pages)
		return "its log is of another length than its area";
	if (disk->block_size != FORMAT_PAGE)
		return "its blocks are not of 4096 bytes, as a pool's are";
	return NULL;
}
