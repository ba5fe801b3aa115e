// SPDX-License-Identifier: GPL-2.0
/* david-sim layout: where an array's sectors lie on its members. */

#include "../common/complain.h"
#include "arraytext.h"
#include "layout.h"
#include "options.h"

static const char usage[] =
"Usage: david-sim layout --array 'LEVEL members=N [chunk=BYTES] [layout=NAME]' [--size S]\n"
"                         [--total]\n"
"\n"
"Print where an array's sectors lie on its members, as Linux's md puts them: a line\n"
"\"holds,sector,member,member_sector,sectors\" for each chunk and copy. \"holds\" is data, P or Q;\n"
"\"sector\" is the array's, for P and Q that of the first data that they protect;\n"
"\"member_sector\" is the drive's.\n"
"\n"
"  --array WORDS       the array, such as '5 members=8 chunk=64K layout=left-symmetric'\n"
"  --size S            sectors of 512 bytes of each drive, all of them for data where the words\n"
"                      name no metadata (default: 16 chunks)\n"
"  --total             print only how many sectors the array has\n"
"  -h, --help          this text\n"
"\n"
"An array's words:\n";

static const char command[] = "david-sim layout";

static void print_piece(const char *holds, u64 sector, u32 member, u64 at, u64 sectors)
{
	printf("%s,%llu,%u,%llu,%llu\n", holds, (unsigned long long)sector, member,
	       (unsigned long long)at, (unsigned long long)sectors);
}

static void print_chunks(const struct array_layout *layout)
{
	u32 data = layout->members - layout_parities(layout), copy, i;
	struct array_piece piece;
	u64 sector;

	printf("holds,sector,member,member_sector,sectors\n");
	for (sector = 0; sector < layout->sectors; sector += piece.sectors) {
		for (copy = 0; copy < layout_copies(layout); copy++) {
			layout_piece(layout, sector, layout->sectors - sector, copy, &piece);
			print_piece("data", sector, piece.member,
				    layout->start + piece.sector, piece.sectors);
		}
		if (!layout_parities(layout) || piece.index + 1 < data)
			continue;
		for (i = 0; i < layout_parities(layout); i++)
			print_piece(i ? "Q" : "P", piece.row * layout->chunk * data,
				    layout_member(layout, piece.row, data + i),
				    layout->start + piece.row * layout->chunk, layout->chunk);
	}
}

static void layout_help(void)
{
	printf("%s%s", usage, array_words);
}

int layout_main(int argc, char **argv)
{
	const char *words = NULL;
	struct array_setup setup;
	u64 size = 0;
	bool total = false;
	const struct sim_option options[] = {
		SIM_OPTION_ARRAY(&words),
		SIM_OPTION_SIZE(&size),
		{ .name = "total", .kind = SIM_FLAG, .into = &total },
		{ }
	};

	if (options_read_all(command, argc, argv, options, layout_help))
		return 1;
	if (!words)
		return bad_usage(command, "--array is needed");
	if (array_parse(&setup, words, size))
		return 1;
	if (total)
		printf("%llu\n", (unsigned long long)setup.layout.sectors);
	else
		print_chunks(&setup.layout);
	return 0;
}
