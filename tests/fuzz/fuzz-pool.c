// SPDX-License-Identifier: GPL-2.0
/*
 * A pool's directory as anybody may have made it, the checksum put right. Input: for each disk a
 * number, then as many bytes of its entry; the rest of the entry is that of a good one. An input of
 * an odd length is of a pool whose disks share blocks, and its last entry is empty. What is
 * taken must have names, and areas inside the device; written again it must read the same.
 */
#include <stdlib.h>

#include "fuzz.h"

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/poolfmt.h"

#define BLOCKS	20000u

static u8 look[FORMAT_LOOK * FORMAT_PAGE];
static struct pool_super made, found, again;

static void make(const u8 *data, size_t size)
{
	struct pool_disk_super *disk = (void *)look;
	unsigned int i;
	u8 n;

	if (pool_begin(&made, "farm", BLOCKS))
		abort();
	made.share = size & 1;
	for (i = 0; i < pool_most_disks(&made); i++) {
		made.disk[i].name[0] = '0' + i / 10;
		made.disk[i].name[1] = '0' + i % 10;
		made.disk[i].first = POOL_PAGES + 100 * i;
		made.disk[i].pages = 100;
	}
	memset(look, 0, sizeof(look));
	pool_pack(&made, look);
	for (i = 0; i < POOL_DISKS && size; i++) {
		n = min_t(size_t, data[0] % (sizeof(disk->disk[i]) + 1), size - 1);
		memcpy(&disk->disk[i], data + 1, n);
		data += 1 + n;
		size -= 1 + n;
	}
	disk->crc = 0;
	disk->crc = cpu_to_le32(crc_of(CRC_32C, look, POOL_COPY * FORMAT_PAGE));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct remap_bitmap bm;
	u64 pages = 0;
	unsigned int i;

	crc_setup();
	make(data, size);
	if (pool_look(look, &found) != FORMAT_STORE) {
		/* Unchanged it is good: else nothing would be tried. */
		if (!size)
			abort();
		return 0;
	}
	for (i = 0; i < POOL_DISKS; i++) {
		if (!found.disk[i].name[0])
			continue;
		if (!pool_name_ok(found.disk[i].name) || pool_find(&found, found.disk[i].name) != i)
			abort();
		if (found.disk[i].first < POOL_PAGES || found.disk[i].first >= BLOCKS ||
		    found.disk[i].pages > BLOCKS - found.disk[i].first)
			abort();
		pages += found.disk[i].pages;
	}
	if (bm_init(&bm, BLOCKS))
		abort();
	if (!pool_claim_areas(&found, &bm) && bm.used != POOL_PAGES + pages)
		abort();
	bm_destroy(&bm);
	pool_pack(&found, look);
	if (pool_look(look, &again) != FORMAT_STORE || memcmp(&found, &again, sizeof(found)))
		abort();
	return 0;
}
