// SPDX-License-Identifier: GPL-2.0
/* Exports of emulated disks: see exportfile.h. */
#include "poolexportfile.h"

#include <zlib.h>

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/pack.h"

#define LEVEL		4	/* metadata packs well at any */
#define RANGE_END	((u64)1 << 60)

static void export_layout(void)
{
	BUILD_BUG_ON(sizeof(struct export_disk_head) != 88);
	BUILD_BUG_ON(offsetof(struct export_disk_head, uuid) != 40);
	BUILD_BUG_ON(offsetof(struct export_disk_head, blocks) != 80);
	BUILD_BUG_ON(sizeof(struct export_disk_chunk) != 16);
}

u32 export_crc(u32 crc, const void *data, size_t len)
{
	return ~crc_update(CRC_32C, ~crc, data, len);
}

/* The checksum of a chunk: of all but the checksum's own field, which comes first. */
static u32 chunk_crc(u32 before, const struct export_disk_chunk *chunk, const void *packed)
{
	u32 crc = export_crc(before, (const u8 *)chunk + sizeof(chunk->crc),
			     sizeof(*chunk) - sizeof(chunk->crc));

	return export_crc(crc, packed, le32_to_cpu(chunk->packed));
}

static u32 export_disk_head_crc(u32 before, struct export_disk_head disk)
{
	disk.crc = 0;
	return export_crc(before, &disk, sizeof(disk));
}

bool export_begin(struct export_writer *w, const struct export_head *head)
{
	struct export_disk_head disk = {
		.version = cpu_to_le32(EXPORT_VERSION),
		.store_version = cpu_to_le32(head->packs ? FORMAT_VERSION_PACKS :
							   FORMAT_VERSION),
		.block_size = cpu_to_le32(head->block_size),
		.flags = cpu_to_le32(head->flags),
		.target_sectors = cpu_to_le64(head->target_sectors),
		.seed = cpu_to_le64(head->seed),
		.ranges = cpu_to_le64(head->ranges),
		.blocks = cpu_to_le64(head->blocks),
	};

	export_layout();
	memcpy(disk.magic, EXPORT_MAGIC, sizeof(disk.magic));
	memcpy(disk.uuid, head->uuid, sizeof(disk.uuid));
	w->crc = export_disk_head_crc(w->crc, disk);
	disk.crc = cpu_to_le32(w->crc);
	w->packed = malloc(compressBound(EXPORT_CHUNK));
	if (w->packed && w->write(w->ctx, &disk, sizeof(disk)))
		return true;
	export_finish(w);
	return false;
}

void export_finish(struct export_writer *w)
{
	free(w->packed);
	w->packed = NULL;
}

bool export_chunk(struct export_writer *w, enum export_kind kind, const void *data, u32 len)
{
	struct export_disk_chunk chunk = { .kind = cpu_to_le32(kind), .len = cpu_to_le32(len) };
	uLongf packed = compressBound(EXPORT_CHUNK);

	if (!len || compress2(w->packed, &packed, data, len, LEVEL) != Z_OK || packed >= len)
		packed = len;
	else
		data = w->packed;
	chunk.packed = cpu_to_le32((u32)packed);
	w->crc = chunk_crc(w->crc, &chunk, data);
	chunk.crc = cpu_to_le32(w->crc);
	return w->write(w->ctx, &chunk, sizeof(chunk)) &&
	       (!packed || w->write(w->ctx, data, packed));
}

static bool bad(struct export_reader *r, const char *why)
{
	r->why = why;
	return false;
}

static bool head_sane(const struct export_head *h)
{
	return h->block_size >= 512 && h->block_size <= FORMAT_PAGE &&
	       !(h->block_size & (h->block_size - 1)) && !(h->flags & FORMAT_CLEAN) &&
	       (!h->packs || h->block_size == SQUEEZE_BLOCK) &&
	       h->target_sectors < (u64)1 << 55 && h->blocks < (u64)1 << 40 &&
	       h->ranges < (u64)1 << 40;
}

/* Is the disk that is about to be read the pool's next one? */
static bool member_sane(const struct export_reader *r)
{
	const struct export_pool_disk *disk = &r->pool->disk[r->disk];
	const struct export_head *h = &r->head;

	return h->block_size == FORMAT_PAGE && !h->packs && h->ranges == disk->ranges &&
	       h->blocks <= disk->blocks && h->blocks <= r->pool->blocks - r->known;
}

static void begin_disk(struct export_reader *r)
{
	r->ranges = 0;
	r->blocks = 0;
	r->stored = 0;
	r->others = 0;
	r->next = 0;
	r->why = NULL;
	r->data = NULL;
	r->packed = NULL;
	memset(&r->named, 0, sizeof(r->named));
	if (!r->pool)
		r->crc = 0;
}

bool export_open(struct export_reader *r)
{
	struct export_head *h = &r->head;
	struct export_disk_head disk;

	export_layout();
	begin_disk(r);
	if (!r->read(r->ctx, &disk, sizeof(disk)))
		return bad(r, "it ends before its time");
	if (!memcmp(disk.magic, EXPORT_POOL_MAGIC, sizeof(disk.magic)))
		return bad(r, "an image of a whole pool: david pool import");
	if (memcmp(disk.magic, EXPORT_MAGIC, sizeof(disk.magic)))
		return bad(r, "no image of an emulated disk");
	r->crc = export_disk_head_crc(r->crc, disk);
	if (le32_to_cpu(disk.crc) != r->crc)
		return bad(r, "its header is damaged");
	h->packs = le32_to_cpu(disk.store_version) == FORMAT_VERSION_PACKS;
	if (le32_to_cpu(disk.version) != EXPORT_VERSION ||
	    (le32_to_cpu(disk.store_version) != FORMAT_VERSION && !h->packs))
		return bad(r, "an image of another version");
	h->block_size = le32_to_cpu(disk.block_size);
	h->flags = le32_to_cpu(disk.flags);
	memcpy(h->uuid, disk.uuid, sizeof(h->uuid));
	h->target_sectors = le64_to_cpu(disk.target_sectors);
	h->seed = le64_to_cpu(disk.seed);
	h->ranges = le64_to_cpu(disk.ranges);
	h->blocks = le64_to_cpu(disk.blocks);
	if (!head_sane(h) || (r->pool && !member_sane(r)))
		return bad(r, "its header makes no sense");
	/* No larger than the export's content. */
	r->room = min_t(u64, EXPORT_CHUNK, max(h->ranges * sizeof(struct format_op),
					       h->blocks * h->block_size) + 1);
	r->data = malloc(r->room);
	r->packed = malloc(r->room);
	if (!r->data || !r->packed ||
	    (r->pool && r->pool->share && r->pool->blocks && bm_init(&r->named, r->pool->blocks)))
		return bad(r, "not enough memory");
	return true;
}

void export_close(struct export_reader *r)
{
	free(r->data);
	free(r->packed);
	bm_destroy(&r->named);
}

void export_range(const struct export_reader *r, u32 i, struct rt_range *out)
{
	const struct format_op *op = (const struct format_op *)r->data + i;
	u64 len_kind = le64_to_cpu(op->len_kind);

	out->start = le64_to_cpu(op->start);
	out->len = len_kind >> FORMAT_KIND_BITS;
	out->kind = len_kind & ((1u << FORMAT_KIND_BITS) - 1);
	out->value = le64_to_cpu(op->value);
}

/* The blocks that a stored range names: the next new ones, or some that a disk before has, too. */
static bool take_stored(struct export_reader *r, const struct rt_range *range)
{
	if (range->value == r->known + r->stored && range->len <= r->head.blocks - r->stored)
		r->stored += range->len;
	else if (r->named.size && range->value < r->known && range->len <= r->known - range->value)
		r->others += range->len;
	else
		return false;
	return !r->named.size || bm_claim(&r->named, range->value, range->len);
}

static bool export_packed_sane(const struct export_head *head, const struct rt_range *r)
{
	return head->packs && r->value < PACK_NUMBERS &&
	       r->start < FORMAT_META && r->len <= FORMAT_META - r->start;
}

static bool take_ranges(struct export_reader *r, u32 len)
{
	u32 n = len / sizeof(struct format_op), i;
	struct rt_range range;

	if (len % sizeof(struct format_op) || r->blocks || n > r->head.ranges - r->ranges)
		return bad(r, "more ranges than its header announces");
	for (i = 0; i < n; i++) {
		export_range(r, i, &range);
		if (range.kind == RT_HOLE || range.kind >= RT_KINDS || !range.len ||
		    range.start < r->next || range.start >= RANGE_END ||
		    range.len > RANGE_END - range.start ||
		    (range.kind == RT_SQUASHED && range.value) ||
		    (range.kind == RT_PACKED && !export_packed_sane(&r->head, &range)))
			return bad(r, "a range makes no sense");
		if (range.kind == RT_STORED && !take_stored(r, &range))
			return bad(r, "a range names blocks that are not its own");
		r->next = range.start + range.len;
	}
	r->ranges += n;
	return true;
}

static bool take_blocks(struct export_reader *r, u32 len)
{
	u32 n = len / r->head.block_size;

	if (r->ranges != r->head.ranges || r->stored != r->head.blocks)
		return bad(r, "fewer ranges than its header announces");
	if (len % r->head.block_size || n > r->head.blocks - r->blocks)
		return bad(r, "more blocks than its header announces");
	r->blocks += n;
	return true;
}

/* The disk that ends has what was announced for it; at the last one's end, so has the file. */
static bool end_of_member(struct export_reader *r)
{
	const struct export_pool_disk *disk = &r->pool->disk[r->disk++];

	r->known += r->blocks;
	return r->blocks + r->others == disk->blocks &&
	       (r->disk < r->pool->disks || r->known == r->pool->blocks);
}

static bool take_end(struct export_reader *r, u32 len)
{
	u8 more;

	if (len || r->ranges != r->head.ranges || r->stored != r->head.blocks ||
	    r->blocks != r->head.blocks)
		return bad(r, "less in it than its header announces");
	if (r->pool && !end_of_member(r))
		return bad(r, "a disk has other blocks than its header announces");
	if (r->pool && r->disk < r->pool->disks)
		return true;
	return !r->read(r->ctx, &more, 1) || bad(r, "something follows its end");
}

/* Read the next chunk into r->data, and check its checksum. */
static bool read_chunk(struct export_reader *r, u32 *kind, u32 *len)
{
	struct export_disk_chunk chunk;
	uLongf size;
	u32 packed;

	if (!r->read(r->ctx, &chunk, sizeof(chunk)))
		return bad(r, "it ends before its time");
	*kind = le32_to_cpu(chunk.kind);
	*len = le32_to_cpu(chunk.len);
	packed = le32_to_cpu(chunk.packed);
	if (*len > r->room || packed > *len)
		return bad(r, "it is damaged");
	if (packed && !r->read(r->ctx, r->packed, packed))
		return bad(r, "it ends before its time");
	r->crc = chunk_crc(r->crc, &chunk, r->packed);
	if (r->crc != le32_to_cpu(chunk.crc))
		return bad(r, "it is damaged");
	size = *len;
	if (packed == *len)
		memcpy(r->data, r->packed, *len);
	else if (uncompress(r->data, &size, r->packed, packed) != Z_OK || size != *len)
		return bad(r, "a part of it cannot be unpacked");
	return true;
}

enum export_kind export_next(struct export_reader *r, u32 *len)
{
	bool good;
	u32 kind;

	if (!read_chunk(r, &kind, len))
		return 0;
	if (kind == EXPORT_RANGES && *len)
		good = take_ranges(r, *len);
	else if (kind == EXPORT_BLOCKS && *len)
		good = take_blocks(r, *len);
	else if (kind == EXPORT_END)
		good = take_end(r, *len);
	else
		good = bad(r, "a part of it is of no known kind");
	return good ? kind : 0;
}
