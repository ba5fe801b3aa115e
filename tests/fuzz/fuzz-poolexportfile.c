// SPDX-License-Identifier: GPL-2.0
/*
 * Exports of pools (tools/store/poolexportfile.h) as anybody may have made them. Input: a byte; if
 * it is even, the export as it is. Else a header and chunks, which are given right checksums: how
 * many disks, whether they share, how many blocks, three numbers for each disk; then kind, length
 * (2 bytes), content each; an end goes on with the next disk. At last one byte is changed where
 * the first byte says so.
 */
#include "fuzz-exportfiles.h"

#define MOST	1024u	/* blocks that there is room for */

static struct export_pool pool;

static void make_pool(const u8 *data)
{
	unsigned int i;

	memset(&pool, 0, sizeof(pool));
	pool.name[0] = 'p';
	pool.disks = 1 + data[1] % 3;
	pool.share = data[2] & 1;
	pool.blocks = data[3];
	for (i = 0; i < pool.disks; i++) {
		pool.disk[i].name[0] = 'a' + i;
		pool.disk[i].ranges = data[4 + 3 * i];
		pool.disk[i].blocks = data[5 + 3 * i];
	}
}

static bool begin_disk(struct export_writer *w, const u8 *data, unsigned int i)
{
	struct export_head head = {
		.block_size = FORMAT_PAGE,
		.ranges = pool.disk[i].ranges,
		.blocks = data[6 + 3 * i],
	};

	return export_begin(w, &head);
}

static void make(const u8 *data, size_t size)
{
	struct export_writer w = { .write = put };
	const u8 *at = data + 13;
	unsigned int disk = 0;

	make_pool(data);
	export_pool_begin(&w, &pool);
	if (!begin_disk(&w, data, 0))
		return;
	for (size -= 13; size > 3;) {
		size_t len = min(size - 3, (size_t)(at[1] | at[2] << 8));
		u8 kind = at[0] & 3;

		if (!export_chunk(&w, kind, at + 3, kind == EXPORT_END ? 0 : len))
			break;
		at += 3 + len;
		size -= 3 + len;
		if (kind != EXPORT_END || ++disk == pool.disks)
			continue;
		export_finish(&w);
		if (!begin_disk(&w, data, disk))
			return;
	}
	export_chunk(&w, EXPORT_END, NULL, 0);
	export_finish(&w);
	if (data[0] & 2)
		export[data[0] * 137u % made] ^= data[0];
}

/* Each block that ranges name is one that there is, and none is named twice by a disk. */
static void take_ranges(const struct export_reader *r, u32 len, u8 *named)
{
	struct rt_range range;
	u32 i;
	u64 at;

	for (i = 0; i < len / sizeof(struct format_op); i++) {
		export_range(r, i, &range);
		if (range.kind != RT_STORED)
			continue;
		for (at = range.value; at < range.value + range.len; at++)
			if (at >= pool.blocks || named[at]++)
				abort();
	}
}

static bool take_disk(struct export_reader *r, u64 *blocks)
{
	static u8 named[MOST];
	enum export_kind kind = 0;
	bool good;
	u32 len;

	memset(named, 0, sizeof(named));
	if (export_open(r)) {
		while ((kind = export_next(r, &len)) && kind != EXPORT_END) {
			if (kind == EXPORT_BLOCKS)
				*blocks += len / FORMAT_PAGE;
			else
				take_ranges(r, len, named);
		}
	}
	good = kind == EXPORT_END;
	if (good == !!r->why)
		abort();
	export_close(r);
	return good;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct export_reader r = { .read = get };
	u64 blocks = 0;
	unsigned int i;

	if (!lay_out(data, size, 14, make))
		return 0;
	if (!export_pool_open(&r, &pool) || pool.blocks > MOST)
		return 0;
	for (i = 0; i < pool.disks; i++)
		if (!take_disk(&r, &blocks))
			return 0;
	if (blocks != pool.blocks)
		abort();
	return 0;
}
