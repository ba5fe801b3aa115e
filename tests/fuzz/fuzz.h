/* SPDX-License-Identifier: GPL-2.0 */
/* What libFuzzer calls, and memory for it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdlib.h>

#include "../../dm-david/portable/portable-alloc.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/*
 * Zeroed memory, to be given back by fuzz_free(). Large pieces are kept for the
 * next run: mapping their pages anew takes longer than most runs do.
 */
#define FUZZ_KEPT	8
#define FUZZ_LARGE	65536

static struct fuzz_piece {
	void *p;
	size_t bytes;
	bool used;
} fuzz_piece[FUZZ_KEPT];

static inline void *fuzz_zalloc(size_t bytes)
{
	struct fuzz_piece *piece;

	for (piece = fuzz_piece; bytes >= FUZZ_LARGE && piece < fuzz_piece + FUZZ_KEPT; piece++) {
		if (piece->used || (piece->p && piece->bytes != bytes))
			continue;
		if (!piece->p)
			piece->p = malloc(bytes);
		piece->bytes = bytes;
		piece->used = true;
		return memset(piece->p, 0, bytes);
	}
	return calloc(1, bytes);
}

static inline void fuzz_free(const void *p)
{
	struct fuzz_piece *piece;

	for (piece = fuzz_piece; p && piece < fuzz_piece + FUZZ_KEPT; piece++) {
		if (piece->p != p)
			continue;
		piece->used = false;
		return;
	}
	free((void *)p);
}

#endif
