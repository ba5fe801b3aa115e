// SPDX-License-Identifier: GPL-2.0
/*
 * RAW rules in a store as anybody may have made them, checksums put right. Input: pages, each as
 * the number of bytes of it that follow. What is taken must be rules that could have been added
 * one by one.
 */
#include "fuzz.h"

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/rawpage.h"

#define PAGES	4u

static u8 pages[RAWPAGE_MOST][RAWPAGE_SIZE];

static void check(const struct rawset *set, u64 generation)
{
	char text[RAW_TEXT_SIZE], error[RAW_ERROR_SIZE];
	struct rawset *made = rawset_new(GFP_KERNEL), *next;
	static u8 again[RAWPAGE_MOST][RAWPAGE_SIZE];
	struct rawset *got;
	const char *wrong;
	unsigned int i, n;

	for (i = 0; i < rawset_count(set); i++) {
		rawset_print(set, i, text, sizeof(text));
		next = rawset_add(made, text, GFP_KERNEL, error);
		if (!next)
			abort();
		rawset_free(made);
		made = next;
	}
	/* Neighbours may have become one. */
	if (!rawset_count(made) || rawset_count(made) > rawset_count(set))
		abort();
	for (i = 0; i < rawpage_count(set); i++)
		rawpage_pack(set, generation, i, again[i]);
	n = rawpage_look(again, &wrong);
	if (n != rawpage_count(set) ||
	    rawpage_unpack(again, n, GFP_KERNEL, &got, &generation, &wrong) ||
	    !rawset_same(got, set))
		abort();
	rawset_free(got);
	rawset_free(made);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct rawset *set;
	const char *wrong;
	u64 generation;
	unsigned int i, n;

	crc_setup();
	memset(pages, 0, PAGES * RAWPAGE_SIZE);
	for (i = 0; i < PAGES && size > 2; i++) {
		size_t len = min(size - 2, (size_t)(data[0] | data[1] << 8) % (RAWPAGE_SIZE + 1));

		memcpy(pages[i], data + 2, len);
		/* What any input gets right: magic, version and number. */
		memcpy(pages[i] + 4, "DRaw\1", 6);
		pages[i][10] = i;
		pages[i][11] = 0;
		*(__le32 *)pages[i] = cpu_to_le32(crc_of(CRC_32C, pages[i] + 4, RAWPAGE_SIZE - 4));
		data += 2 + len;
		size -= 2 + len;
	}
	n = rawpage_look(pages, &wrong);
	if (n > RAWPAGE_MOST)
		abort();
	if (n && !rawpage_unpack(pages, n, GFP_KERNEL, &set, &generation, &wrong)) {
		check(set, generation);
		rawset_free(set);
	}
	return 0;
}
