// SPDX-License-Identifier: GPL-2.0
/*
 * A store's superblocks and log as anybody may have made them, checksums put right.
 * Input: 112 bytes of superblock, then log pages, each as the number of bytes of it that follow.
 */
#include "fuzz.h"

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/format.h"

#define PAGES	16u

static u8 supers[FORMAT_LOOK * FORMAT_PAGE];
static struct format_log_page pages[PAGES];

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct format_super super, made;
	enum format_step step = FORMAT_MORE;
	struct format_replay replay;
	struct remap_bitmap bm;
	struct rangetable rt;
	bool honest;
	unsigned int n, i;
	u64 block;

	crc_setup();
	if (size < 113)
		return 0;
	honest = data[0] & 1;
	memset(supers, 0, sizeof(supers));
	memcpy(supers + FORMAT_PAGE, data + 1, 112);
	format_look(supers, &super);
	/* As above, with a right checksum. */
	memset(&made, 0, sizeof(made));
	memcpy(&made, data + 1, sizeof(made) < 112 ? sizeof(made) : 112);
	made.version = FORMAT_VERSION + made.version % 3;
	made.zones.conventional = (u32)(made.zones.size ^ made.zones.capacity);
	if (made.version != FORMAT_VERSION_ZONES)
		memset(&made.zones, 0, sizeof(made.zones));
	if (honest && made.version == FORMAT_VERSION_ZONES) {
		u64 size = 8ull << made.zones.size % 29;

		made.zones.size = size;
		made.zones.capacity = size - (made.zones.capacity % size & ~7ull);
		made.target_sectors &= ((1ull << 50) - 1) & ~(size - 1);
	}
	if (honest) {
		made.log_pages = FORMAT_LOG_MIN;
		made.block_size = 4096;
		made.backing_blocks = 1000;
		made.log_start &= 0xff;
		made.log_end = made.log_start;
	}
	format_pack(&made, supers);
	if (format_look(supers, &super) != FORMAT_STORE)
		return 0;
	if (memcmp(&super, &made, sizeof(super)))
		abort();
	data += 113;
	size -= 113;
	memset(pages, 0, sizeof(pages));
	for (n = 0; n < PAGES && size > 2; n++) {
		size_t len = min(size - 2, (size_t)(data[0] | data[1] << 8) % FORMAT_PAGE);

		memcpy(&pages[n], data + 2, len);
		format_seal(&pages[n], &super, super.log_start + n, data[0] % 4,
			    data[1] % (FORMAT_OPS + 1));
		/* What format_seal() says may be a lie as well. */
		if (data[0] & 0x80)
			pages[n].ops = cpu_to_le16(data[1] * 3);
		pages[n].crc = cpu_to_le32(crc_of(CRC_32C, (u8 *)&pages[n] + 4, FORMAT_PAGE - 4));
		data += 2 + len;
		size -= 2 + len;
	}
	rt_init(&rt);
	format_replay_begin(&replay, &super, &rt);
	for (i = 0; i < n && step == FORMAT_MORE; i++)
		step = format_replay_page(&replay, &pages[i]);
	if (rt_check(&rt))
		abort();
	if (!bm_init(&bm, 1000)) {
		bm_claim(&bm, 0, 70);
		format_claim(&rt, &bm, 70, &block);
		if (bm_check(&bm))
			abort();
		bm_destroy(&bm);
	}
	rt_destroy(&rt);
	return 0;
}
