// SPDX-License-Identifier: GPL-2.0
/* Volumes of xfs: see volume-ops.h and selfid-volume.h. */
#include "../selfid-volume.h"

static const char *parse(struct classifier *c, const void *super, u32 bytes, u64 room,
			 u64 *sectors, const u8 **uuid)
{
	const char *wrong = xfs_parse_super(super, bytes, room, &c->fresh.xfs);

	*sectors = c->fresh.xfs.sectors;
	*uuid = c->fresh.xfs.uuid;
	return wrong;
}

static struct volume *super_seen(struct classifier *c, u64 start, const void *super, u32 bytes,
				 bool durable)
{
	return selfid_super(c, VOLUME_XFS, start, super, bytes);
}

/* Is it a group's copy of the superblock of a known xfs? One behind its end shows that it grew. */
static bool is_copy(struct classifier *c, u64 start)
{
	const struct xfs_geo *fresh = &c->fresh.xfs;
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];
		u32 behind = 0;

		if (v->fs != VOLUME_XFS || v->start >= start ||
		    memcmp(v->uuid, fresh->uuid, sizeof(v->uuid)))
			continue;
		div_u64_rem(start - v->start, fresh->ag_sectors, &behind);
		if (behind)
			continue;
		if (v->ready && !v->xfs->wrong && fresh->ag_sectors == v->xfs->geo.ag_sectors &&
		    fresh->sectors > v->claimed && fresh->sectors <= c->sectors - v->start) {
			xfs_live_resize(v->xfs, fresh->sectors);
			selfid_resize(c, v, fresh->sectors);
		}
		return true;
	}
	return false;
}

static const char *begin(struct classifier *c, struct volume *v, const void *super, u32 bytes,
			 u64 room)
{
	v->xfs->stored = c->stored;
	v->xfs->stored_ctx = c->stored_ctx;
	v->xfs->start = v->start;
	return xfs_live_init(v->xfs, super, bytes, room);
}

static enum verdict judge_write(struct classifier *c, struct volume *v,
				const struct selfid_request *r, u32 pos, u32 *len,
				enum selfid_reason *why, enum selfid_sign *sign, u64 *sectors)
{
	enum verdict verdict = xfs_live_write(v->xfs, r, pos, len, why);

	*sign = v->xfs->sign;
	v->xfs->sign = SELFID_NO_SIGN;
	*sectors = v->xfs->geo.sectors;
	return verdict;
}

static bool wants_work(const struct classifier *c, const struct volume *v)
{
	return xfs_live_wants_work(v->xfs, c->log_limit);
}

/* No xfs discards the beginning of its log. mkfs does, behind its first superblock. */
static bool discarded(const struct volume *v, u64 sector, u64 sectors)
{
	return v->ready && v->xfs->geo.log_sectors && !v->xfs->geo.in_progress &&
	       sectors_overlap(sector, sectors, v->start + v->xfs->geo.log_start, 1);
}

static bool is_mounting(struct volume *v, u64 sector, u64 sectors)
{
	if (!v->xfs->geo.log_sectors || sector != v->xfs->geo.log_start ||
	    sectors > VOLUME_SUPER_SECTORS)
		return false;
	xfs_live_mount(v->xfs);
	return true;
}

static size_t memory(const struct classifier *c, const struct volume *v)
{
	return xfs_live_memory(v->xfs, c->log_limit);
}

static void *give(struct volume *v, void *memory, size_t bytes)
{
	return xfs_live_give(v->xfs, memory, bytes);
}

static bool want(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes)
{
	return xfs_live_want(v->xfs, sector, bytes);
}

static void learn(struct volume *v, u64 sector, const void *content)
{
	xfs_live_learn(v->xfs, sector, content);
}

static void destroy(void *live, void (*release)(const void *))
{
	struct xfs_live *x = live;

	if (x)
		release(x->log.set.slot);
	release(x);
}

static size_t live_bytes(const void *live)
{
	return live ? xfs_live_bytes(live) : 0;
}

static const struct selfid_ops xfs_selfid_ops = {
	.super_sectors = 1,
	.live_bytes = sizeof(struct xfs_live),
	.parse = parse,
	.is_copy = is_copy,
	.begin = begin,
	.write = judge_write,
	.wants_work = wants_work,
	.discarded = discarded,
	.is_mounting = is_mounting,
	.memory = memory,
	.give = give,
	.want = want,
	.learn = learn,
};

const struct volume_ops xfs_volume_ops = {
	.magic_bytes = 4,
	.magic = "XFSB",
	.selfid = &xfs_selfid_ops,
	.super = super_seen,
	.outlasts = selfid_outlasts,
	.write = selfid_write,
	.discarded = selfid_discarded,
	.looked = selfid_looked,
	.memory = selfid_memory,
	.give = selfid_give,
	.want = selfid_want,
	.learn = selfid_learn,
	.destroy = destroy,
	.live_bytes = live_bytes,
};
