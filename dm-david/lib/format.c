// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and writing the store's own pages: see format.h.
 *
 * The log ends at the first page that is not the expected one. The expected page
 * is whole, is of this store, has the next sequence, and is not of an earlier
 * opening than the page in front of it. The last condition is for pages of a batch
 * that a power cut has torn. They stay behind the end. The next opening has a
 * higher epoch and overwrites them one by one. Those that are not overwritten yet
 * must not be taken for pages of that opening.
 *
 * A page that became unreadable later looks like the end, too. But pages follow
 * it that were written when it was durable. So the log is damaged if a page behind
 * the end is of a batch that began behind the end. It is also damaged if a page in
 * front of the superblock's log_end is missing.
 */
#include "format.h"

#include "../portable/crc.h"
#include "pack.h"
#include "../portable/portable-alloc.h"

#define LEN_MAX		((u64)1 << 60)
#define CLAIM_RANGES	16	/* looked at in a row, on the stack */
#define SPARE_NODES	8	/* of the range table, in a replay */
#define AHEAD		4	/* operations that are known before their turn */
#define NEAR		65536	/* blocks: most likely in the same node, or the next */

static bool format_is_zero(const void *p, size_t len)
{
	const u8 *byte = p;

	return !byte[0] && !memcmp(byte, byte + 1, len - 1);
}

static u32 super_crc(const void *page)
{
	static const u8 zero[4];
	u32 crc = crc_update(CRC_32C, ~0u, page, offsetof(struct format_disk_super, crc));

	crc = crc_update(CRC_32C, crc, zero, sizeof(zero));
	return ~crc_update(CRC_32C, crc, page + offsetof(struct format_disk_super, version),
			   FORMAT_PAGE - offsetof(struct format_disk_super, version));
}

/* Zones begin and end with a block, and the disk with zones. */
static bool zones_sane(const struct format_super *s)
{
	const struct format_zones *zones = &s->zones;
	u32 block_mask = (s->block_size >> 9) - 1;

	return zones->size && !(zones->size & (zones->size - 1)) && zones->size <= 1ull << 31 &&
	       zones->capacity && zones->capacity <= zones->size &&
	       !((zones->size | zones->capacity) & block_mask) &&
	       !(s->target_sectors & (zones->size - 1));
}

/* Are the numbers consistent? A hostile page can have a correct checksum. */
static bool super_sane(const struct format_super *s)
{
	u32 pages_a_block;

	if (s->block_size < 512 || s->block_size > FORMAT_PAGE ||
	    (s->block_size & (s->block_size - 1)))
		return false;
	pages_a_block = FORMAT_PAGE / s->block_size;
	if (s->version == FORMAT_VERSION_PACKS && s->block_size != SQUEEZE_BLOCK)
		return false;
	if (s->version == FORMAT_VERSION_ZONES && !zones_sane(s))
		return false;
	return s->log_pages >= FORMAT_LOG_MIN && s->log_pages <= FORMAT_LOG_MAX &&
	       s->backing_blocks < (u64)1 << 40 &&
	       div_u64(s->backing_blocks, pages_a_block) > FORMAT_SUPERS + s->log_pages &&
	       s->target_sectors < (u64)1 << 55 &&
	       s->log_end < (u64)1 << 60 && s->log_start <= s->log_end &&
	       s->log_end - s->log_start <= s->log_pages;
}

static enum format_found look_at_super(const void *page, struct format_super *s)
{
	const struct format_disk_super *disk = page;

	if (memcmp(disk->magic, FORMAT_MAGIC, sizeof(disk->magic)))
		return format_is_zero(page, FORMAT_PAGE) ? FORMAT_BLANK : FORMAT_FOREIGN;
	if (le32_to_cpu(disk->crc) != super_crc(page))
		return FORMAT_BROKEN;
	s->version = le32_to_cpu(disk->version);
	if (s->version < FORMAT_VERSION || s->version > FORMAT_VERSION_ZONES)
		return FORMAT_OTHER_VERSION;
	memcpy(s->uuid, disk->uuid, sizeof(s->uuid));
	s->generation = le64_to_cpu(disk->generation);
	s->epoch = le64_to_cpu(disk->epoch);
	s->block_size = le32_to_cpu(disk->block_size);
	s->flags = le32_to_cpu(disk->flags);
	s->backing_blocks = le64_to_cpu(disk->backing_blocks);
	s->target_sectors = le64_to_cpu(disk->target_sectors);
	s->seed = le64_to_cpu(disk->seed);
	s->log_pages = le64_to_cpu(disk->log_pages);
	s->log_start = le64_to_cpu(disk->log_start);
	s->log_end = le64_to_cpu(disk->log_end);
	memset(&s->zones, 0, sizeof(s->zones));
	if (s->version == FORMAT_VERSION_ZONES) {
		s->zones.size = le64_to_cpu(disk->zone_size);
		s->zones.capacity = le64_to_cpu(disk->zone_capacity);
		s->zones.conventional = le32_to_cpu(disk->conventional_zones);
	}
	return super_sane(s) ? FORMAT_STORE : FORMAT_BROKEN;
}

enum format_found format_look(const void *pages, struct format_super *super)
{
	struct format_super copy[FORMAT_SUPERS];
	enum format_found found[FORMAT_SUPERS];
	unsigned int i, best;

	for (i = 0; i < FORMAT_SUPERS; i++)
		found[i] = look_at_super(pages + i * FORMAT_PAGE, &copy[i]);
	if (found[0] == FORMAT_STORE || found[1] == FORMAT_STORE) {
		best = found[0] != FORMAT_STORE ||
		       (found[1] == FORMAT_STORE && copy[1].generation > copy[0].generation);
		*super = copy[best];
		return FORMAT_STORE;
	}
	/* A copy that is blank or of something else counts only if the other one is, too. */
	for (i = 0; i < FORMAT_SUPERS; i++)
		if (found[i] == FORMAT_OTHER_VERSION)
			return FORMAT_OTHER_VERSION;
	for (i = 0; i < FORMAT_SUPERS; i++)
		if (found[i] == FORMAT_BROKEN)
			return FORMAT_BROKEN;
	return format_is_zero(pages, FORMAT_LOOK * FORMAT_PAGE) ? FORMAT_BLANK : FORMAT_FOREIGN;
}

void format_pack(const struct format_super *super, void *page)
{
	struct format_disk_super *disk = page;

	format_asserts();
	memset(page, 0, FORMAT_PAGE);
	memcpy(disk->magic, FORMAT_MAGIC, sizeof(disk->magic));
	memcpy(disk->uuid, super->uuid, sizeof(disk->uuid));
	disk->version = cpu_to_le32((u32)super->version);
	disk->generation = cpu_to_le64(super->generation);
	disk->epoch = cpu_to_le64(super->epoch);
	disk->block_size = cpu_to_le32(super->block_size);
	disk->flags = cpu_to_le32(super->flags);
	disk->backing_blocks = cpu_to_le64(super->backing_blocks);
	disk->target_sectors = cpu_to_le64(super->target_sectors);
	disk->seed = cpu_to_le64(super->seed);
	disk->log_pages = cpu_to_le64(super->log_pages);
	disk->log_start = cpu_to_le64(super->log_start);
	disk->log_end = cpu_to_le64(super->log_end);
	if (super->version == FORMAT_VERSION_ZONES) {
		disk->zone_size = cpu_to_le64(super->zones.size);
		disk->zone_capacity = cpu_to_le64(super->zones.capacity);
		disk->conventional_zones = cpu_to_le32((u32)super->zones.conventional);
	}
	disk->crc = cpu_to_le32(super_crc(page));
}

bool format_is_copy(const void *pages, const struct format_super *super, void *scratch)
{
	unsigned int place = super->generation % FORMAT_SUPERS;
	struct format_super other;

	format_pack(super, scratch);
	if (!(super->flags & FORMAT_CLEAN) ||
	    memcmp(pages + place * FORMAT_PAGE, scratch, FORMAT_PAGE))
		return false;
	/* A store that has been used since has a newer superblock in the other page. */
	return look_at_super(pages + (1 - place) * FORMAT_PAGE, &other) != FORMAT_STORE ||
	       other.generation < super->generation;
}

int format_begin(struct format_super *super, u64 pages, u32 block_size)
{
	if (pages < FORMAT_PAGES_MIN)
		return -ENOSPC;
	memset(super, 0, sizeof(*super));
	super->version = FORMAT_VERSION;
	super->block_size = block_size;
	super->backing_blocks = pages * (FORMAT_PAGE / block_size);
	super->log_pages = min_t(u64, max_t(u64, pages / 16, FORMAT_LOG_MIN), FORMAT_LOG_MAX);
	return 0;
}

void format_room(u64 log_pages, struct format_room *room)
{
	u64 table;

	room->ring = min_t(u64, max_t(u64, log_pages / 32, 2), 16);
	room->walk = room->ring;
	room->slack = 2 * (room->ring + 1 + room->walk);
	/* Two checkpoints, and one batch more: the least log holds eleven pages of table. */
	table = div_u64(log_pages - 3 * room->slack, 3);
	room->ranges = table * FORMAT_OPS;
}

void format_seal(struct format_log_page *page, const struct format_super *super, u64 sequence,
		 unsigned int batch, unsigned int ops)
{
	page->magic = cpu_to_le32(FORMAT_LOG_MAGIC);
	memcpy(page->uuid, super->uuid, sizeof(page->uuid));
	page->sequence = cpu_to_le64(sequence);
	page->epoch = cpu_to_le32((u32)super->epoch);
	page->batch = cpu_to_le16(batch);
	page->ops = cpu_to_le16(ops);
	memset(page->op + ops, 0, (FORMAT_OPS - ops) * sizeof(page->op[0]));
	page->crc = cpu_to_le32(crc_of(CRC_32C, (u8 *)page + sizeof(page->crc),
				       FORMAT_PAGE - sizeof(page->crc)));
}

static bool page_is(const struct format_replay *replay, const struct format_log_page *page,
		    u64 sequence)
{
	const struct format_super *super = replay->super;

	return le32_to_cpu(page->magic) == FORMAT_LOG_MAGIC &&
	       !memcmp(page->uuid, super->uuid, sizeof(page->uuid)) &&
	       le64_to_cpu(page->sequence) == sequence &&
	       /* The difference cannot overflow: no log lives for 2^31 openings. */
	       (s32)(le32_to_cpu(page->epoch) - replay->epoch) >= 0 &&
	       (s32)((u32)super->epoch - le32_to_cpu(page->epoch)) >= 0 &&
	       le16_to_cpu(page->batch) < FORMAT_BATCH_MAX &&
	       le16_to_cpu(page->ops) <= FORMAT_OPS &&
	       le32_to_cpu(page->crc) == crc_of(CRC_32C, (const u8 *)page + sizeof(page->crc),
						FORMAT_PAGE - sizeof(page->crc));
}

static void ignore_freed(void *ctx, u64 dest, u64 len)
{
}

/* Adds some nodes more than needed: to compute the exact number takes divisions. */
static bool reserve_op(struct rangetable *rt)
{
	struct rt_node *node;

	while (rt->spare < SPARE_NODES || !rt_reserve(rt)) {
		node = rt_node_alloc(GFP_KERNEL);
		if (!node)
			return false;
		rt_add_node(rt, node);
	}
	return true;
}

/*
 * In a large table, a change at a random place waits for memory two or three times. So
 * fetch that memory some operations ahead. A checkpoint's operations are in order and do
 * not need it.
 */
static void look_ahead(const struct rangetable *rt, const struct format_log_page *page,
		       unsigned int i)
{
	u64 start = le64_to_cpu(page->op[i].start);

	if (start - le64_to_cpu(page->op[i - 1].start) > NEAR)
		rt_prefetch(rt, start);
}

static bool format_packed_sane(const struct format_super *super, const struct rt_range *r)
{
	return super->version >= FORMAT_VERSION_PACKS &&
	       super->block_size == SQUEEZE_BLOCK && r->value < PACK_NUMBERS &&
	       r->start < FORMAT_META && r->len <= FORMAT_META - r->start;
}

static enum format_step apply_op(struct format_replay *replay, const struct format_log_page *page)
{
	unsigned int i, ops = le16_to_cpu(page->ops);
	struct rangetable *rt = replay->rt;

	for (i = 0; i < ops; i++) {
		u64 len_kind = le64_to_cpu(page->op[i].len_kind);
		struct rt_range r = {
			.start = le64_to_cpu(page->op[i].start),
			.len = len_kind >> FORMAT_KIND_BITS,
			.value = le64_to_cpu(page->op[i].value),
			.kind = len_kind & ((1u << FORMAT_KIND_BITS) - 1),
		};

		if (r.kind >= RT_KINDS || !r.len || r.start >= LEN_MAX ||
		    r.len > LEN_MAX - r.start ||
		    (r.kind == RT_STORED && r.value >= LEN_MAX) ||
		    ((r.kind == RT_HOLE || r.kind == RT_SQUASHED) && r.value) ||
		    (r.kind == RT_PACKED && !format_packed_sane(replay->super, &r))) {
			replay->why = "an operation in the log makes no sense";
			return FORMAT_DAMAGED;
		}
		if (!reserve_op(rt))
			return FORMAT_NO_MEMORY;
		if (i + AHEAD < ops)
			look_ahead(rt, page, i + AHEAD);
		rt_set(rt, &r, UINT_MAX, ignore_freed, NULL);
	}
	replay->ops += ops;
	return FORMAT_MORE;
}

void format_replay_begin(struct format_replay *replay, const struct format_super *super,
			 struct rangetable *rt)
{
	memset(replay, 0, sizeof(*replay));
	replay->super = super;
	replay->rt = rt;
	replay->next = super->log_start;
	/* The first page may be of any of the last 2^30 openings. */
	replay->epoch = super->epoch > 1u << 30 ? (u32)(super->epoch - (1u << 30)) : 0;
}

enum format_step format_replay_page(struct format_replay *replay, const void *data)
{
	const struct format_log_page *page = data;
	const struct format_super *super = replay->super;
	u64 sequence = replay->next + replay->beyond;
	bool good = page_is(replay, page, sequence);

	if (!replay->beyond && good) {
		if (super->flags & FORMAT_CLEAN && sequence >= super->log_end &&
		    le32_to_cpu(page->epoch) == (u32)super->epoch) {
			replay->why = "the log goes on behind its clean end";
			return FORMAT_DAMAGED;
		}
		replay->epoch = le32_to_cpu(page->epoch);
		replay->next++;
		return apply_op(replay, page);
	}
	if (good && sequence - le16_to_cpu(page->batch) > replay->next) {
		replay->why = "a page in the midst of the log is lost";
		return FORMAT_DAMAGED;
	}
	return ++replay->beyond > FORMAT_BATCH_MAX ? format_replay_end(replay) : FORMAT_MORE;
}

enum format_step format_replay_end(struct format_replay *replay)
{
	if (replay->next >= replay->super->log_end)
		return FORMAT_END;
	replay->why = "the log ends before its time";
	return FORMAT_DAMAGED;
}

static bool has_pack(const struct rangetable *rt, u64 number)
{
	struct rt_range r;

	rt_lookup(rt, FORMAT_PACKS + number * PACK_PAGES, &r);
	return r.kind == RT_STORED;
}

const char *format_claim(const struct rangetable *rt, struct remap_bitmap *bm, u64 data,
			 u64 *block)
{
	struct rt_range range[CLAIM_RANGES];
	const struct rt_range *r;
	unsigned int n;
	u64 at = 0;

	while ((n = rt_read(rt, at, range, CLAIM_RANGES))) {
		for (r = range; r < range + n; r++) {
			*block = r->start;
			if (r->kind == RT_PACKED && !has_pack(rt, r->value))
				return "in a pack that is not there";
			if (r->kind != RT_STORED)
				continue;
			if (r->value < data || r->value > bm->size ||
			    r->len > bm->size - r->value)
				return "stored outside of the backing device's room for it";
			if (!bm_claim(bm, r->value, r->len))
				return "stored where another block is";
		}
		at = range[n - 1].start + range[n - 1].len;
	}
	return NULL;
}
