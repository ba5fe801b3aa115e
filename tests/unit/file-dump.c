// SPDX-License-Identifier: GPL-2.0
/*
 * Writes generated files, for parsers to try.
 *
 *	file-dump NAME KIND SIZE [NAME KIND SIZE]...
 *	file-dump - KIND SIZE FROM LEN		part of one, to standard output
 */
#include <stdio.h>

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/filecontent.h"

static u8 buf[1 << 20];

static int kind_of(const char *name)
{
	int kind;

	for (kind = 0; kind < FILE_KINDS; kind++)
		if (!strcmp(file_kind_name(kind), name))
			return kind;
	fprintf(stderr, "file-dump: %s: no kind of file\n", name);
	exit(2);
}

static void dump(FILE *out, const char *name, const struct file_place *f, u64 from, u64 end)
{
	unsigned int n;

	for (; from < end; from += n) {
		n = min_t(u64, end - from, sizeof(buf));
		file_fill(buf, f, from, n);
		if (fwrite(buf, n, 1, out) != 1) {
			perror(name);
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	crc_setup();
	for (; argc > 3; argc -= 3, argv += 3) {
		struct file_place f = { .kind = kind_of(argv[2]), .seed = 1,
					.size = strtoull(argv[3], NULL, 0) };
		FILE *out;

		if (!strcmp(argv[1], "-") && argc > 5) {
			u64 from = strtoull(argv[4], NULL, 0);

			dump(stdout, "file-dump", &f, from, from + strtoull(argv[5], NULL, 0));
			return 0;
		}
		out = fopen(argv[1], "wb");
		if (!out) {
			perror(argv[1]);
			return 1;
		}
		dump(out, argv[1], &f, 0, f.size);
		if (fclose(out)) {
			perror(argv[1]);
			return 1;
		}
	}
	return 0;
}
