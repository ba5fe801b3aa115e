// SPDX-License-Identifier: GPL-2.0
/* For fuzzers that make checksums: their table, once. */
#include "fuzz.h"
#include "../../dm-david/portable/crc.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	crc_setup();
	return 0;
}
