/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages of 4 KiB have their newest data in an SSD's write buffer: those that were written
 * since the oldest bytes came that are not programmed yet. Bytes leave the buffer in the order in
 * which they came.
 *
 * This is exact: it has every page, and no sample. Of a buffer of more than 128 MiB it has the last
 * 128 MiB. A page takes a place for each time that it comes.
 *
 * Nothing is ever taken out: an entry has its end in the stream of bytes, and counts until that has
 * been programmed. Entries of one hash are linked from the newest to the oldest, so the first that
 * does not count ends the search. Costs ten instructions a page. Without locks.
 */
#ifndef DAVID_MODEL_BUFFERED_H
#define DAVID_MODEL_BUFFERED_H

#include "../../dm-david/portable/portable.h"

struct buffered;

/* Of a buffer of @sectors. Returns NULL without memory. */
struct buffered *buffered_create(u64 sectors, gfp_t gfp);
void buffered_destroy(struct buffered *buffered);
size_t buffered_bytes(const struct buffered *buffered);

/* Pages [first, first + nr) were written. With them @entered sectors came, ever. */
void buffered_add(struct buffered *buffered, u64 first, u32 nr, u64 entered);

/* Is @page in the buffer, of which @programmed sectors have left, ever? */
bool buffered_has(const struct buffered *buffered, u64 page, u64 programmed);

#endif
