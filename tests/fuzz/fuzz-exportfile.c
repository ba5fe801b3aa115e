// SPDX-License-Identifier: GPL-2.0
/*
 * Exports of emulated disks (tools/store/exportfile.h) as anybody may have made them.
 * Input: a byte; if it is even, the export as it is. Else a header and chunks, which
 * are given right checksums: the header's numbers, then kind, length (2 bytes), content each;
 * at last one byte of it is changed where the first byte says so.
 */
#include "fuzz-exportfiles.h"

static void make(const u8 *data, size_t size)
{
	struct export_writer w = { .write = put };
	u8 first = data[0];
	struct export_head head = {
		.block_size = 512u << (data[1] & 3),
		.flags = data[2] & 0xfe,
		.target_sectors = data[3],
		.ranges = data[4],
		.blocks = data[5],
	};

	if (!export_begin(&w, &head))
		return;
	for (data += 6, size -= 6; size > 3;) {
		size_t len = min(size - 3, (size_t)(data[1] | data[2] << 8));
		u8 kind = data[0] & 3;

		if (!export_chunk(&w, kind, data + 3, kind == EXPORT_END ? 0 : len))
			break;
		data += 3 + len;
		size -= 3 + len;
	}
	export_chunk(&w, EXPORT_END, NULL, 0);
	export_finish(&w);
	if (first & 2)
		export[first * 37u % made] ^= first;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct export_reader r = { .read = get };
	enum export_kind kind = 0;
	u64 ranges = 0, bytes = 0;
	bool good;
	u32 len;

	if (!lay_out(data, size, 7, make))
		return 0;
	if (export_open(&r)) {
		while ((kind = export_next(&r, &len)) && kind != EXPORT_END) {
			if (kind == EXPORT_RANGES)
				ranges += len / sizeof(struct format_op);
			else
				bytes += len;
		}
	}
	good = kind == EXPORT_END;
	/* Taken for good, or with a reason, and never more than was announced. */
	if (good == !!r.why || ranges > r.head.ranges ||
	    (r.why && bytes > r.head.blocks * 4096))
		abort();
	if (good &&
	    (ranges != r.head.ranges || bytes != r.head.blocks * r.head.block_size))
		abort();
	export_close(&r);
	return 0;
}
