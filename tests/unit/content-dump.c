// SPDX-License-Identifier: GPL-2.0
/*
 * Writes content to standard output, for compressors and eyes to try.
 *
 *	content-dump KIND BYTES [PLACE]
 *
 * KIND as in a table line; PLACE in bytes, 0 by default. The seed is 1.
 */
#include <stdio.h>

#include "../../dm-david/lib/content.h"

static u8 buf[1 << 20];

int main(int argc, char **argv)
{
	const char *error = argc > 2 ? NULL : "usage: content-dump KIND BYTES [PLACE]";
	struct content c = { .kind = CONTENT_ZEROS };
	u64 left, at;

	if (!error)
		error = content_parse(argv[1], &c);
	if (error) {
		fprintf(stderr, "content-dump: %s\n", error);
		return 2;
	}
	left = strtoull(argv[2], NULL, 0);
	at = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	while (left) {
		unsigned int n = min_t(u64, left, sizeof(buf));

		content_fill_at(buf, &c, 1, at, n);
		if (fwrite(buf, n, 1, stdout) != 1) {
			perror("content-dump: standard output");
			return 1;
		}
		at += n;
		left -= n;
	}
	return 0;
}
