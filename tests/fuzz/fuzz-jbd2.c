// SPDX-License-Identifier: GPL-2.0
/*
 * A journal of blocks of 1 KiB, in the order they come; the two bytes in front
 * of each are its place. A plain array beside it: what a descriptor block that
 * was understood names is in the set, or nothing is proven.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "../../classifier/ext/jbd2.h"

#define BLOCK	1024u
#define MAXLEN	1024u

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static u64 pending[JBD2_PENDING_MIN];
	static struct jbd2 j;
	static u8 block[BLOCK];
	u32 features;

	memset(&j, 0, sizeof(j));
	jbd2_init(&j, 1u << 20, BLOCK);
	free(logset_give(&j.set, calloc(1, LOGSET_MIN_BYTES), LOGSET_MIN_BYTES));
	j.pending = pending;
	j.pending_room = JBD2_PENDING_MIN;
	if (size > BLOCK) {
		jbd2_expect_super(&j);
		jbd2_read_super(&j, data, MAXLEN);
		data += BLOCK;
		size -= BLOCK;
	}
	while (size >= 2 + 12) {
		u32 n = min_t(size_t, size - 2, BLOCK), logical = (data[0] << 8 | data[1]) % MAXLEN;
		enum jbd2_block_kind kind;

		memset(block, 0, sizeof(block));
		memcpy(block, data + 2, n);
		features = j.features;
		kind = jbd2_write(&j, logical, block);
		/* The first tag's home, of a format without high halves. */
		if (kind == JBD2_DESCRIPTOR && !(features & 2)) {
			u32 home = block[12] << 24 | block[13] << 16 | block[14] << 8 | block[15];

			if (!jbd2_has(&j, home) && jbd2_complete(&j))
				abort();
		}
		if (kind == JBD2_BAD && logical && block[7] == 1 && jbd2_complete(&j))
			abort();
		data += 2 + n;
		size -= 2 + n;
	}
	free(j.set.slot);
	return 0;
}
