// SPDX-License-Identifier: GPL-2.0
/*
 * The classifier as the target calls it: an input is a series of commands on a
 * disk of 16 MiB, which begins as one of the real file systems that ./seeds
 * made. Whatever is written, the worker comes to an end, lengths are what they
 * must be, and nothing is squashed that is not in a mounted volume.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "../../classifier/classifier.h"

#define SECTORS	32768u
#define IMAGES	6
#define CHANGES	512u

static const char * const names[IMAGES] = {
	"ext2", "ext3", "ext4", "ext4-1k", "no-csum", "meta-bg",
};

static u8 images[IMAGES][SECTORS * 512];
static struct classifier c;
static u8 *disk;

/* To be undone when an input is done: copying an image takes too long. */
struct change {
	u32 at, bytes;
	u8 was[256];
};

static struct change change[CHANGES];
static u32 changes;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *top = getenv("FUZZ_IMAGES");
	int i;

	(void)argc;
	(void)argv;
	for (i = 0; i < IMAGES; i++) {
		char path[256];
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", top ?: "build/fuzz/seeds/images", names[i]);
		file = fopen(path, "rb");
		if (!file || fread(images[i], sizeof(images[i]), 1, file) != 1) {
			fprintf(stderr, "%s cannot be read; FUZZ_IMAGES names the place\n", path);
			exit(1);
		}
		fclose(file);
	}
	return 0;
}

static void put(u32 at, const u8 *data, u32 bytes)
{
	bytes = min(bytes, SECTORS * 512 - at);
	change[changes].at = at;
	change[changes].bytes = bytes;
	memcpy(change[changes].was, disk + at, bytes);
	memcpy(disk + at, data, bytes);
	changes++;
}

static void undo(void)
{
	while (changes) {
		changes--;
		memcpy(disk + change[changes].at, change[changes].was, change[changes].bytes);
	}
}

static void copy(void *ctx, u32 offset, void *to, u32 len)
{
	memcpy(to, (const u8 *)ctx + offset, len);
}

static void release(const void *memory)
{
	fuzz_free(memory);
}

static void work(void)
{
	unsigned int rounds = 0;

	while (c.pending) {
		static u64 content[CLASSIFIER_BLOCK / 8];
		size_t memory;
		u64 sector;
		u32 bytes, claimed;

		if (++rounds > 20000)
			abort();
		while ((memory = classifier_memory(&c)))
			fuzz_free(classifier_give(&c, fuzz_zalloc(memory), memory));
		while (classifier_claim(&c, &sector, &claimed)) {
			if (sector > SECTORS || claimed > SECTORS - sector)
				abort();
			for (; claimed >= 8; claimed -= 8, sector += 8)
				if (classifier_is_data(&c, sector, 8))
					classifier_done(&c, sector, 8);
		}
		if (!classifier_want(&c, &sector, &bytes))
			continue;
		if (bytes > CLASSIFIER_BLOCK || sector + bytes / 512 > SECTORS)
			abort();
		memcpy(content, disk + sector * 512, bytes);
		classifier_learn(&c, sector, content);
	}
}

static void write_disk(u64 sector, u32 sectors)
{
	struct classify_write w = {
		.sector = sector, .sectors = sectors, .fua = sectors & 1, .copy = copy,
		.ctx = disk + sector * 512,
	};
	enum classify_reason reason;
	u32 pos, len;
	u64 next;

	for (pos = 0; pos < sectors; pos += len) {
		struct volume *v = volume_find(&c.volumes, sector + pos, &next);
		bool mounted = v && v->state == VOLUME_MOUNTED;

		if (classifier_write(&c, &w, pos, &len, &reason) == VERDICT_SQUASH && !mounted)
			abort();
		if (!len || len > sectors - pos)
			abort();
	}
	work();
}

/* Commands: what to do, where (2 bytes), how much; then bytes to change at an offset. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	bool alone, by_super;

	if (!size)
		return 0;
	disk = images[data[0] % IMAGES];
	alone = data[0] & 0x40;
	by_super = data[0] & 0x80;
	data++;
	size--;
	classifier_init(&c, calloc(1, classifier_shared_bytes()), SECTORS, 65536);
	classifier_remember(&c, 1 << 15);
	if (alone)
		classifier_alone(&c);
	if (by_super)
		classifier_by_super(&c);
	write_disk(0, 16);
	while (size >= 8 && changes < CHANGES) {
		u32 sector = (data[1] << 8 | data[2]) % SECTORS;
		u32 sectors = min(1 + data[3] % 16u, SECTORS - sector);
		u32 bytes = min_t(size_t, data[4], size - 8);

		put(sector * 512 + (data[5] << 8 | data[6]) % (sectors * 512), data + 8, bytes);
		switch (data[0] % 8) {
		case 0:
			classifier_mount(&c, sector & ~7u, data[7] % 4);
			break;
		case 1:
			classifier_mount(&c, 0, VOLUME_MOUNTED);
			break;
		case 3:
			classifier_again(&c);
			classifier_looked(&c, sector, sectors);
			write_disk(sector, sectors);
			break;
		case 4:
			classifier_flush(&c);
			write_disk(sector, sectors);
			break;
		case 2:
			classifier_discard(&c, sector, sectors);
			break;
		default:
			write_disk(sector, sectors);
		}
		work();
		data += 8 + bytes;
		size -= 8 + bytes;
	}
	classifier_destroy(&c, release);
	undo();
	return 0;
}
