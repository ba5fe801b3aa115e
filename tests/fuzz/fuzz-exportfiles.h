/* SPDX-License-Identifier: GPL-2.0 */
/* The export that a fuzzer of exports reads: its input, or what is made of it. */
#ifndef FUZZ_EXPORTFILES_H
#define FUZZ_EXPORTFILES_H

#include "fuzz.h"

#include "../../dm-david/portable/crc.h"
#include "../unit/exportfile-memory.h"

/*
 * Lay out the export: by @make if @data[0] is odd, else all that follows @data[0]. False if there
 * are fewer than @least bytes.
 */
static inline bool lay_out(const u8 *data, size_t size, size_t least,
			   void (*make)(const u8 *data, size_t size))
{
	crc_setup();
	made = 0;
	taken = 0;
	if (size < least)
		return false;
	if (data[0] & 1)
		make(data, size);
	else
		put(NULL, data + 1, size - 1);
	there = made;
	return true;
}

#endif
