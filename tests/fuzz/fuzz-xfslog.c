// SPDX-License-Identifier: GPL-2.0
/*
 * The log of an xfs. Input: commands of 8 bytes, some with content behind them: a record, whose
 * header is made to fit, at the log's end or near it; sectors of it again, or damaged; a mount;
 * what a mount clears and then reads.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "../../classifier/xfs/xfs-log.h"

#define LOG_SECTORS	1024

static struct xfs_log l;
static u8 disk[LOG_SECTORS][512];
static u64 memory[LOGSET_MIN_BYTES / 8];
static u32 place, cycle;

static void put32(u8 *to, u32 at, u32 value)
{
	__be32 word = cpu_to_be32(value);

	memcpy(to + at, &word, sizeof(word));
}

static void see(u32 at)
{
	xfs_log_write(&l, at, disk[at]);
	if (l.set.used > l.set.slots || (l.complete && !l.joined) || (l.at_rest && !l.complete) ||
	    l.head_block >= LOG_SECTORS || l.seen < l.base)
		abort();
}

static void header(u32 at, u32 of_cycle, u32 bytes, u32 operations, u32 size, u32 back)
{
	u64 tail = (u64)of_cycle * LOG_SECTORS + at;
	u8 *h = disk[at];

	tail -= tail < back ? tail : back;
	memset(h, 0, 512);
	put32(h, 0, XFS_LOG_MAGIC);
	put32(h, 4, of_cycle);
	put32(h, 8, 2);
	put32(h, 12, bytes);
	put32(h, 16, of_cycle);
	put32(h, 20, at);
	put32(h, 24, tail / LOG_SECTORS);
	put32(h, 28, tail % LOG_SECTORS);
	put32(h, 40, operations);
	put32(h, 300, 1);
	memset(h + 304, 0x77, SELFID_UUID);
	put32(h, 320, size);
}

/* A record of @n bytes; the words that its sectors lack are those of @words. */
static void record(const u8 *content, u32 n, const u8 *command)
{
	u32 size = command[1] & 1 ? 65536 : 32768, headers = size / 32768;
	u32 sectors = DIV_ROUND_UP(n, 512), first = place, i, at;

	if (command[1] & 2)
		place = (place + command[2]) % LOG_SECTORS;
	at = place;
	header(at, cycle, sectors * 512, command[3], size, command[4] * 8);
	memcpy(disk[at] + 44, command, 8);
	for (i = 1; i < headers + sectors; i++) {
		at = (place + i) % LOG_SECTORS;
		memset(disk[at], 0, 512);
		if (i >= headers)
			memcpy(disk[at], content + (i - headers) * 512,
			       min_t(u32, n - (i - headers) * 512, 512));
		memcpy(disk[place] + 44 + i % 64 * 4, disk[at], 4);
		put32(disk[at], 0, cycle + (at < place));
	}
	if (command[1] & 4)
		disk[(place + command[5]) % LOG_SECTORS][command[6]] ^= command[7];
	for (i = 0; i < headers + sectors; i++)
		see((place + i) % LOG_SECTORS);
	/* Behind it, or the one before still to come. */
	if (!(command[1] & 8)) {
		cycle += place + headers + sectors >= LOG_SECTORS;
		place = (place + headers + sectors) % LOG_SECTORS;
	} else {
		place = first;
	}
}

static void clear(u32 n)
{
	u32 i;

	for (i = 0; i < n && place + i < LOG_SECTORS; i++) {
		header(place + i, cycle - 1, 0, 0, 0, n);
		see(place + i);
	}
}

static void learn(void)
{
	u32 at, n;

	if (!xfs_log_want(&l, &at, &n))
		return;
	if (!n || n > XFS_LOG_REMEMBERED || at + n > LOG_SECTORS)
		abort();
	xfs_log_learn(&l, disk[at]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct xfs_log_geo geo = { .sectors = LOG_SECTORS, .block_shift = 3 };
	size_t at = 0;
	u32 n, i;

	memset(&l, 0, sizeof(l));
	memset(disk, 0, sizeof(disk));
	memset(memory, 0, sizeof(memory));
	memset(geo.uuid, 0x77, sizeof(geo.uuid));
	xfs_log_init(&l, &geo);
	logset_give(&l.set, memory, sizeof(memory));
	place = 0;
	cycle = 1;
	while (at + 8 <= size) {
		const u8 *command = data + at;

		at += 8;
		switch (command[0] % 6) {
		case 0:
		case 1:
			n = min_t(size_t, (command[2] | (command[7] & 15) << 8) + 1, size - at);
			if (!n)
				return 0;
			record(data + at, n, command);
			at += n;
			break;
		case 2:
			for (i = 0; i < command[1] % 32u; i++)
				see((place + LOG_SECTORS - command[2] % 16u + i) % LOG_SECTORS);
			break;
		case 3:
			xfs_log_mount(&l);
			break;
		case 4:
			clear(command[1]);
			break;
		case 5:
			learn();
			break;
		}
	}
	return 0;
}
