// SPDX-License-Identifier: GPL-2.0
/*
 * Directories and a journal in which anything may be: an input changes bytes of a small volume
 * that was good, and logs some blocks. Reading its names ends, stays within the
 * volume, and what is found has a number that there is.
 */
#include <stdlib.h>

#include "fuzz.h"

#define kvzalloc(bytes, gfp)	((void)(gfp), fuzz_zalloc(bytes))
#define kvfree(p)		fuzz_free(p)
#include "../unit/ext-world.h"

static bool is_chosen(void *ctx, const char *name, u32 len)
{
	(void)ctx;
	return len && name[len - 1] == 'x';
}

static u32 next_dir(void *ctx, u32 after)
{
	(void)ctx;
	return after < 20 ? 20 : 0;
}

static void make(struct world *w)
{
	memset(w, 0, sizeof(*w));
	world_make(w);
	world_dir(w, EXT_ROOT_INO, WORLD_FREE, 1);
	world_names(world_at(w, WORLD_FREE), EXT_ROOT_INO, 20, WORLD_DIR, "raw");
	world_dir(w, 20, WORLD_FREE + 1, 2);
	world_names(world_at(w, WORLD_FREE + 1), 20, 40, WORLD_DIR, "deep");
	world_names(world_at(w, WORLD_FREE + 2), 20, 41, WORLD_FILE, "filex");
	world_dir(w, 40, WORLD_FREE + 3, 1);
	world_names(world_at(w, WORLD_FREE + 3), 40, 42, WORLD_FILE, "x");
}

/* What to do (1 byte), where (1), an offset (2), how many bytes (1); then these. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 places[] = {
		WORLD_FREE, WORLD_FREE + 1, WORLD_FREE + 2, WORLD_FREE + 3, WORLD_TABLE,
		WORLD_TABLE + 4, WORLD_TABLE + 9, WORLD_TABLE + 10,
	};
	struct ext_names_choice choice = { .suffix = is_chosen, .next_dir = next_dir };
	static struct world w;
	u32 ino;

	make(&w);
	choice.everywhere = size && data[0] & 0x80;
	while (size >= 5) {
		u32 place = places[data[1] % ARRAY_SIZE(places)];
		u32 at = (data[2] << 8 | data[3]) % WORLD_BLOCK;
		u32 bytes = min_t(size_t, min(data[4], WORLD_BLOCK - at), size - 5);
		u8 *block = world_at(&w, place);

		switch (data[0] % 8) {
		case 0:
			world_super(&w, data[3] % WORLD_LOG, w.tid + data[2] % 3);
			break;
		case 1:
			block = world_descriptor(&w, place);
			memcpy(block, world_at(&w, place), WORLD_BLOCK);
			break;
		case 2:
			world_commit(&w);
			break;
		case 3:
			block = world_at(&w, WORLD_JOURNAL + data[1] % WORLD_LOG);
			break;
		case 4:
			ext_names_choose(&w.e.names);
			break;
		}
		memcpy(block + at, data + 5, bytes);
		ext_names_again(&w.e.names);
		if (world_read(&w, &choice, 20000) > 20000)
			abort();
		for (ino = w.e.geo.inodes + 1; ino < w.e.geo.inodes + 10; ino++)
			if (ext_names_ready(&w.e) && ext_names_has(&w.e.names, ino))
				abort();
		data += 5 + bytes;
		size -= 5 + bytes;
	}
	world_end(&w);
	return 0;
}
