// SPDX-License-Identifier: GPL-2.0
/* The header of a pool's export: see poolexportfile.h. */
#include "poolexportfile.h"

static void pool_image_layout(void)
{
	BUILD_BUG_ON(sizeof(struct export_pool_disk_entry) != 88);
	BUILD_BUG_ON(offsetof(struct export_pool_disk_head, name) != 32);
	BUILD_BUG_ON(offsetof(struct export_pool_disk_head, blocks) != 96);
	BUILD_BUG_ON(offsetof(struct export_pool_disk_head, disk) != 104);
	BUILD_BUG_ON(sizeof(struct export_pool_disk_head) != 104 + POOL_DISKS * 88);
}

static u32 pool_disk_head_crc(struct export_pool_disk_head head)
{
	head.crc = 0;
	return export_crc(0, &head, sizeof(head));
}

bool export_pool_begin(struct export_writer *w, const struct export_pool *pool)
{
	struct export_pool_disk_head head = {
		.version = cpu_to_le32(EXPORT_VERSION),
		.flags = cpu_to_le32(pool->share ? POOL_SHARE : 0),
		.disks = cpu_to_le32(pool->disks),
		.blocks = cpu_to_le64(pool->blocks),
	};
	unsigned int i;

	pool_image_layout();
	memcpy(head.magic, EXPORT_POOL_MAGIC, sizeof(head.magic));
	memcpy(head.name, pool->name, sizeof(head.name));
	for (i = 0; i < pool->disks; i++) {
		memcpy(head.disk[i].name, pool->disk[i].name, POOL_NAME);
		head.disk[i].reserve = cpu_to_le64(pool->disk[i].reserve);
		head.disk[i].ranges = cpu_to_le64(pool->disk[i].ranges);
		head.disk[i].blocks = cpu_to_le64(pool->disk[i].blocks);
	}
	w->crc = pool_disk_head_crc(head);
	head.crc = cpu_to_le32(w->crc);
	return w->write(w->ctx, &head, sizeof(head));
}

static bool pool_image_take_name(char *to, const u8 *from)
{
	memcpy(to, from, POOL_NAME);
	return !from[POOL_NAME - 1] && pool_name_ok(to);
}

/* Disk @i is one, and no disk before has its name. */
static bool take_disk(struct export_pool *pool, const struct export_pool_disk_head *head,
		      unsigned int i)
{
	const struct export_pool_disk_entry *entry = &head->disk[i];
	struct export_pool_disk *disk = &pool->disk[i];
	unsigned int other;

	disk->reserve = le64_to_cpu(entry->reserve);
	disk->ranges = le64_to_cpu(entry->ranges);
	disk->blocks = le64_to_cpu(entry->blocks);
	if (!pool_image_take_name(disk->name, entry->name) || disk->reserve >= (u64)1 << 40 ||
	    disk->ranges >= (u64)1 << 40 || disk->blocks > pool->blocks)
		return false;
	for (other = 0; other < i; other++)
		if (!strcmp(pool->disk[other].name, disk->name))
			return false;
	return true;
}

static bool take_head(struct export_pool *pool, const struct export_pool_disk_head *head)
{
	u32 flags = le32_to_cpu(head->flags);
	unsigned int i;

	pool->share = flags & POOL_SHARE;
	pool->disks = le32_to_cpu(head->disks);
	pool->blocks = le64_to_cpu(head->blocks);
	if (flags & ~POOL_SHARE || !pool_image_take_name(pool->name, head->name) || !pool->disks ||
	    pool->disks > (pool->share ? POOL_SHARE_DISKS : POOL_DISKS) ||
	    pool->blocks >= (u64)1 << 40)
		return false;
	for (i = 0; i < pool->disks; i++)
		if (!take_disk(pool, head, i))
			return false;
	return true;
}

bool export_pool_open(struct export_reader *r, struct export_pool *pool)
{
	struct export_pool_disk_head head;

	pool_image_layout();
	r->why = NULL;
	r->pool = pool;
	r->disk = 0;
	r->known = 0;
	memset(&head, 0, sizeof(head));
	if (!r->read(r->ctx, &head, sizeof(head)))
		r->why = "it ends before its time, or is no image of a pool";
	else if (!memcmp(head.magic, EXPORT_MAGIC, sizeof(head.magic)))
		r->why = "an image of one disk: david store import";
	else if (memcmp(head.magic, EXPORT_POOL_MAGIC, sizeof(head.magic)))
		r->why = "no image of a pool";
	else if (pool_disk_head_crc(head) != le32_to_cpu(head.crc))
		r->why = "its header is damaged";
	else if (le32_to_cpu(head.version) != EXPORT_VERSION)
		r->why = "an image of another version";
	else if (!take_head(pool, &head))
		r->why = "its header makes no sense";
	r->crc = le32_to_cpu(head.crc);
	return !r->why;
}
