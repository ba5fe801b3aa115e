// SPDX-License-Identifier: GPL-2.0
/* The packed blocks of a store: see store.h. */
#include "store.h"

#include <inttypes.h>

#include "../../dm-david/lib/pack.h"
#include "../../dm-david/portable/portable-alloc.h"

struct reader {
	const struct opened *o;
	struct squeeze *squeeze;
	u8 pack[PACK_BYTES];
	u64 number;		/* of that; U64_MAX: none */
};

/* NULL, or what is wrong. */
static const char *read_pack(struct reader *reader, u64 number)
{
	const struct opened *o = reader->o;
	struct rt_range r;
	const char *why;
	u32 i;

	reader->number = U64_MAX;
	for (i = 0; i < PACK_PAGES; i++) {
		rt_lookup(&o->table, FORMAT_PACKS + number * PACK_PAGES + i, &r);
		if (r.kind != RT_STORED)
			break;
		if (!read_at(o->fd, reader->pack + i * FORMAT_PAGE, FORMAT_PAGE,
			     r.value * FORMAT_PAGE))
			return "a pack cannot be read";
	}
	why = pack_check(reader->pack, i * FORMAT_PAGE, number);
	if (!why)
		reader->number = number;
	return why;
}

static const char *read_block(struct reader *reader, u64 number, u64 block)
{
	const char *why = reader->number == number ? NULL : read_pack(reader, number);
	u8 content[SQUEEZE_BLOCK];

	return why ?: pack_read(reader->pack, reader->squeeze, block, content);
}

enum status check_packs(const struct opened *o)
{
	static struct reader reader;
	enum status status = STATUS_GOOD;
	struct rt_range r;
	const char *why;
	u64 at, i;

	if (!o->table.ranges[RT_PACKED])
		return STATUS_GOOD;
	reader.o = o;
	reader.number = U64_MAX;
	reader.squeeze = squeeze_new(GFP_KERNEL);
	if (!reader.squeeze)
		return STATUS_UNREADABLE;
	for (at = 0; at < FORMAT_META; at = r.start + r.len) {
		rt_lookup(&o->table, at, &r);
		for (i = 0; r.kind == RT_PACKED && i < r.len; i++) {
			why = read_block(&reader, r.value, r.start + i);
			if (!why)
				continue;
			printf("block %" PRIu64 " of the disk, in pack %" PRIu64 ": %s\n",
			       r.start + i, r.value, why);
			status = STATUS_DAMAGED;
		}
	}
	squeeze_free(reader.squeeze);
	return status;
}
