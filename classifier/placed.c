// SPDX-License-Identifier: GPL-2.0
/* Does a file system lie in one piece: see placed.h. */
#include "placed.h"

#define PARTITIONS	4096u	/* sectors behind the last partition, fewer than so many */
#define SLACK		128u	/* of a device behind its file system's last block */
#define DOS_ENTRIES	446
#define DOS_IS_GPT	0xee
#define GPT_HEADER	512
#define GPT_ENTRIES	1024
#define GPT_ENTRY	128
#define SMALL		4096u	/* what mkfs zeroes at a volume's end, at most */

void placed_cleared(struct placed *p, u64 sector, u64 sectors)
{
	struct placed_run *last = &p->run[p->last % PLACED_RUNS];

	/* mkfs and page caches clear in steps: extend the last run. */
	if (sector < last->start || sector > last->end) {
		last = &p->run[++p->last % PLACED_RUNS];
		last->start = sector;
		last->end = sector;
	}
	last->end = max(last->end, sector + sectors);
}

void placed_forget(struct placed *p)
{
	memset(p, 0, sizeof(*p));
}

bool placed_fills(u64 start, u64 end, u64 disk)
{
	return !start && end <= disk && disk - end < PARTITIONS;
}

static bool in_gpt(const void *table, u64 start, u64 sectors)
{
	u32 at;

	if (memcmp(table + GPT_HEADER, "EFI PART", 8))
		return false;
	for (at = GPT_ENTRIES; at < PLACED_TABLE; at += GPT_ENTRY) {
		u64 first = get_unaligned_le64(table + at + 32);
		u64 last = get_unaligned_le64(table + at + 40);

		if (first == start && last >= first && last - first >= sectors - 1)
			return true;
	}
	return false;
}

bool placed_in_table(const void *table, u64 start, u64 sectors)
{
	u32 at;

	if (!start || !sectors || get_unaligned_le16(table + 510) != 0xaa55)
		return false;
	for (at = DOS_ENTRIES; at < 510; at += 16) {
		u8 type = *(const u8 *)(table + at + 4);

		if (type == DOS_IS_GPT)
			return in_gpt(table, start, sectors);
		if (type && get_unaligned_le32(table + at + 8) == start &&
		    get_unaligned_le32(table + at + 12) >= sectors)
			return true;
	}
	return false;
}

bool placed_made(const struct placed *p, u64 start, u64 end)
{
	unsigned int i;

	for (i = 0; i < PLACED_RUNS; i++) {
		const struct placed_run *run = &p->run[i];

		if (run->start >= end || run->end < end || run->end - end >= SLACK)
			continue;
		if (run->start == start || run->end - run->start <= SMALL)
			return true;
	}
	return false;
}
