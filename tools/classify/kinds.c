// SPDX-License-Identifier: GPL-2.0
/* What each block of a volume is: see kinds.h. */
#include "../common/alloc.h"
#include "kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kinds_init(struct kinds *k, u64 blocks)
{
	u64 chunks = blocks / KINDS_CHUNK + 1;

	k->blocks = blocks;
	k->chunk = xcalloc(chunks, sizeof(*k->chunk));
	k->same = xcalloc(chunks, 1);
}

void kinds_free(struct kinds *k)
{
	u64 chunk;

	for (chunk = 0; chunk <= k->blocks / KINDS_CHUNK; chunk++)
		free(k->chunk[chunk]);
	free(k->chunk);
	free(k->same);
}

void kinds_set(struct kinds *k, u64 block, u8 kind)
{
	u64 number = block / KINDS_CHUNK;
	u8 *chunk = k->chunk[number];

	if (!chunk) {
		if (k->same[number] == kind)
			return;
		chunk = xcalloc(KINDS_CHUNK, 1);
		memset(chunk, k->same[number], KINDS_CHUNK);
		k->chunk[number] = chunk;
	}
	chunk[block % KINDS_CHUNK] = kind;
	/* Whoever goes through the blocks in order leaves no chunk that is all alike. */
	if (block % KINDS_CHUNK == KINDS_CHUNK - 1 && !memcmp(chunk, chunk + 1, KINDS_CHUNK - 1)) {
		k->same[number] = kind;
		k->chunk[number] = NULL;
		free(chunk);
	}
}

void kinds_claim(struct kinds *k, u64 block, u64 n, u8 kind, u8 over, u8 or)
{
	while (n) {
		u64 number = block / KINDS_CHUNK, next = (number + 1) * KINDS_CHUNK;
		u8 same = k->same[number], now;

		if (!k->chunk[number] && same != over && same != or) {
			if (n <= next - block)
				return;
			n -= next - block;
			block = next;
		} else if (!k->chunk[number] && n >= KINDS_CHUNK && block % KINDS_CHUNK == 0) {
			k->same[number] = kind;
			n -= KINDS_CHUNK;
			block = next;
		} else {
			now = kinds_at(k, block);
			if (now == over || now == or)
				kinds_set(k, block, kind);
			n--;
			block++;
		}
	}
}
