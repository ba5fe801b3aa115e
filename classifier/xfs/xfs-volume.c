// SPDX-License-Identifier: GPL-2.0
/* Volumes of xfs: see volume-ops.h and selfid-volume.h. */
#include "../selfid-volume.h"
#include "xfs.h"

static struct xfs_live *xfs_of(const struct volume *v)
{
	return v->live;
}

/* What volumes share is the superblock that is being parsed. */
static struct xfs_geo *xfs_volume_fresh(const struct classifier *c)
{
	return c->volumes.shared[xfs_volume_kind];
}

static const char *xfs_volume_parse(struct classifier *c, const void *super, u32 bytes, u64 room,
				    u64 *sectors, const u8 **uuid)
{
	struct xfs_geo *fresh = xfs_volume_fresh(c);
	const char *wrong = xfs_parse_super(super, bytes, room, fresh);

	*sectors = fresh->sectors;
	*uuid = fresh->uuid;
	return wrong;
}

static struct volume *xfs_volume_super(struct classifier *c, u64 start, const void *super,
				       u32 bytes, bool durable)
{
	return selfid_super(c, xfs_volume_kind, start, super, bytes);
}

/* Is it a group's copy of the superblock of a known xfs? One behind its end shows that it grew. */
static bool xfs_volume_is_copy(struct classifier *c, u64 start)
{
	const struct xfs_geo *fresh = xfs_volume_fresh(c);
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];
		struct xfs_live *x = xfs_of(v);
		u32 behind = 0;

		if (v->kind != xfs_volume_kind || v->start >= start ||
		    memcmp(v->uuid, fresh->uuid, sizeof(v->uuid)))
			continue;
		div_u64_rem(start - v->start, fresh->ag_sectors, &behind);
		if (behind)
			continue;
		if (v->ready && !x->wrong && fresh->ag_sectors == x->geo.ag_sectors &&
		    fresh->sectors > v->claimed && fresh->sectors <= c->sectors - v->start) {
			xfs_live_resize(x, fresh->sectors);
			selfid_resize(c, v, fresh->sectors);
		}
		return true;
	}
	return false;
}

static const char *xfs_volume_begin(struct classifier *c, struct volume *v, const void *super,
				    u32 bytes, u64 room)
{
	xfs_of(v)->stored = c->stored;
	xfs_of(v)->stored_ctx = c->stored_ctx;
	xfs_of(v)->start = v->start;
	return xfs_live_init(xfs_of(v), super, bytes, room);
}

static enum verdict xfs_volume_judge_write(struct classifier *c, struct volume *v,
					   const struct selfid_request *r, u32 pos, u32 *len,
					   enum selfid_reason *why, enum selfid_sign *sign,
					   u64 *sectors)
{
	enum verdict verdict = xfs_live_write(xfs_of(v), r, pos, len, why);

	*sign = xfs_of(v)->sign;
	xfs_of(v)->sign = SELFID_NO_SIGN;
	*sectors = xfs_of(v)->geo.sectors;
	return verdict;
}

static bool xfs_volume_wants_work(const struct classifier *c, const struct volume *v)
{
	return xfs_live_wants_work(xfs_of(v), c->log_limit);
}

/* No xfs discards the beginning of its log. mkfs does, behind its first superblock. */
static bool xfs_volume_discarded(const struct volume *v, u64 sector, u64 sectors)
{
	return v->ready && xfs_of(v)->geo.log_sectors && !xfs_of(v)->geo.in_progress &&
	       sectors_overlap(sector, sectors, v->start + xfs_of(v)->geo.log_start, 1);
}

static bool xfs_volume_is_mounting(struct volume *v, u64 sector, u64 sectors)
{
	if (!xfs_of(v)->geo.log_sectors || sector != xfs_of(v)->geo.log_start ||
	    sectors > VOLUME_SUPER_SECTORS)
		return false;
	xfs_live_mount(xfs_of(v));
	return true;
}

static size_t xfs_volume_memory(const struct classifier *c, const struct volume *v)
{
	return xfs_live_memory(xfs_of(v), c->log_limit);
}

static void *xfs_volume_give(struct volume *v, void *memory, size_t bytes)
{
	return xfs_live_give(xfs_of(v), memory, bytes);
}

static bool xfs_volume_want(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes)
{
	return xfs_live_want(xfs_of(v), sector, bytes);
}

static void xfs_volume_learn(struct volume *v, u64 sector, const void *content)
{
	xfs_live_learn(xfs_of(v), sector, content);
}

static void xfs_volume_destroy(void *live, void (*release)(const void *))
{
	struct xfs_live *x = live;

	if (x)
		release(x->log.set.slot);
	release(x);
}

static size_t xfs_volume_live_bytes(const void *live)
{
	return live ? xfs_live_bytes(live) : 0;
}

static const struct selfid_ops xfs_selfid_ops = {
	.super_sectors = 1,
	.live_bytes = sizeof(struct xfs_live),
	.parse = xfs_volume_parse,
	.is_copy = xfs_volume_is_copy,
	.begin = xfs_volume_begin,
	.write = xfs_volume_judge_write,
	.wants_work = xfs_volume_wants_work,
	.discarded = xfs_volume_discarded,
	.is_mounting = xfs_volume_is_mounting,
	.memory = xfs_volume_memory,
	.give = xfs_volume_give,
	.want = xfs_volume_want,
	.learn = xfs_volume_learn,
};

const struct volume_ops xfs_volume_ops = {
	.magic_bytes = 4,
	.magic = "XFSB",
	.selfid = &xfs_selfid_ops,
	.shared_bytes = sizeof(struct xfs_geo),
	.super = xfs_volume_super,
	.outlasts = selfid_outlasts,
	.write = selfid_write,
	.discarded = selfid_discarded,
	.looked = selfid_looked,
	.memory = selfid_memory,
	.give = selfid_give,
	.want = selfid_want,
	.learn = selfid_learn,
	.destroy = xfs_volume_destroy,
	.live_bytes = xfs_volume_live_bytes,
};
