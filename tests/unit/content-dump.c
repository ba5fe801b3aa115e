// SPDX-License-Identifier: GPL-2.0
/* Writes MIB mebibytes of incompressible content to standard output, for compressors to try. */
#include <stdio.h>

#include "../../dm-david/content.h"

static u8 buf[1 << 20];

int main(int argc, char **argv)
{
	u64 mib, n = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;

	for (mib = 0; mib < n; mib++) {
		content_fill(buf, CONTENT_INCOMPRESSIBLE, 1, mib << 11, 0, sizeof(buf));
		if (fwrite(buf, sizeof(buf), 1, stdout) != 1) {
			perror("content-dump: standard output");
			return 1;
		}
	}
	return 0;
}
