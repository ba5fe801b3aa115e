// SPDX-License-Identifier: GPL-2.0
/* What the kernel reads past a file's pages: see signature.h. */
#include "signature.h"

#define JOURNAL_MAGIC	0xc03b3998u	/* fs/jbd2: JBD2_MAGIC_NUMBER, big-endian */
#define JOURNAL_SUPER_1	3u		/* JBD2_SUPERBLOCK_V1, _V2 */
#define JOURNAL_SUPER_2	4u
#define QUOTA_USER	0xd9c01f11u	/* fs/quota/quotaio_v2.h: V2_INITQMAGICS */
#define QUOTA_GROUP	0xd9c01927u
#define QUOTA_PROJECT	0xd9c03f14u
#define BITMAP_MAGIC	0x6d746962u	/* drivers/md/md-bitmap.h */

bool signature_begins(const void *start)
{
	__be32 big[2];

	switch (get_unaligned_le32(start)) {
	case QUOTA_USER:
	case QUOTA_GROUP:
	case QUOTA_PROJECT:
	case BITMAP_MAGIC:
		return true;
	}
	memcpy(big, start, sizeof(big));
	return be32_to_cpu(big[0]) == JOURNAL_MAGIC &&
	       (be32_to_cpu(big[1]) == JOURNAL_SUPER_1 || be32_to_cpu(big[1]) == JOURNAL_SUPER_2);
}

bool signature_ends(const void *last)
{
	/* SWAPSPACE2, SWAP-SPACE; S1SUSPEND, S2SUSPEND, ULSUSPEND, LINHIB0001 without two bytes. */
	static const char * const ends[] = { "APSPACE2", "AP-SPACE", "SUSPEND", "NHIB0001" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (!memcmp(last, ends[i], 8))
			return true;
	return false;
}
