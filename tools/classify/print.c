// SPDX-License-Identifier: GPL-2.0
/* What the blocks of a volume are, for people and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "classify.h"

static void print_ranges(const struct picture *p, bool json)
{
	const char *comma = "";
	u64 block = 0;

	while (block < p->blocks) {
		u8 kind = kinds_at(&p->kind, block);
		u64 end = block + 1;

		while (end < p->blocks && kinds_at(&p->kind, end) == kind)
			end++;
		if (p->is_metadata(kind)) {
			if (json)
				printf("%s[%" PRIu64 ", %" PRIu64 ", \"%s\"]", comma, block,
				       end - block, p->name(kind));
			else
				printf("%" PRIu64 "\t%" PRIu64 "\t%s\n", block, end - 1,
				       p->name(kind));
			comma = ", ";
		}
		block = end;
	}
}

static void print_json(const struct picture *p, const u64 *count, u64 metadata, bool ranges)
{
	const char *comma = "";
	unsigned int kind;

	printf("{\"type\": \"%s\", \"start_sector\": %" PRIu64 ", \"block_size\": %u, "
	       "\"blocks\": %" PRIu64 ", \"metadata\": %" PRIu64 ", \"errors\": %" PRIu64
	       ", \"bigalloc\": %s, \"count\": {",
	       p->type, p->start, p->block_size, p->blocks, metadata, p->errors,
	       p->bigalloc ? "true" : "false");
	for (kind = 0; kind < p->kinds; kind++) {
		if (!count[kind])
			continue;
		printf("%s\"%s\": %" PRIu64, comma, p->name(kind), count[kind]);
		comma = ", ";
	}
	printf("}, \"ranges\": [");
	if (ranges)
		print_ranges(p, true);
	printf("]}");
}

void print_picture(const struct picture *p, const struct image_options *options)
{
	u64 count[256] = { }, metadata = 0, block;
	unsigned int kind;

	for (block = 0; block < p->blocks; block++)
		count[kinds_at(&p->kind, block)]++;
	for (kind = 0; kind < p->kinds; kind++)
		metadata += p->is_metadata(kind) ? count[kind] : 0;
	if (options->json) {
		print_json(p, count, metadata, !options->summary);
		return;
	}
	printf("# %s at sector %" PRIu64 ": %" PRIu64 " blocks of %u bytes, %" PRIu64
	       " of them metadata\n", p->type, p->start, p->blocks, p->block_size, metadata);
	for (kind = 0; kind < p->kinds; kind++)
		if (count[kind])
			printf("# %12" PRIu64 "  %s\n", count[kind], p->name(kind));
	if (p->errors)
		printf("# %12" PRIu64 "  pointers or counts that made no sense\n", p->errors);
	if (!options->summary) {
		printf("# first block, last block, what\n");
		print_ranges(p, false);
	}
}
