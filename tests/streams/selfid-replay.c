// SPDX-License-Identifier: GPL-2.0
/*
 * A log of dm-log-writes, fed to the classifiers of btrfs and xfs.
 *
 * OUT becomes what the store would hold: what was kept, as it was written, and
 * noise where a block was squashed. So the file system's checker tells whether
 * anything was lost. Each write that the log marks as metadata (btrfs and xfs set
 * REQ_META on all of theirs) must be kept: also a version of a block that later
 * ones hide from the checker.
 *
 * A SEED divides each request at random 4 KiB boundaries and hands the parts
 * over in random order, mixed with those of the requests next to it: a harder
 * life than any stack of devices gives.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../classifier/btrfs-live.h"
#include "../../classifier/xfs.h"
#include "../../dm-david/lib/crc.h"

#define LOG_MAGIC	0x6a736677736872ULL
#define FLAG_DISCARD	4
#define FLAG_MARK	8
#define FLAG_METADATA	16
#define MIXED_REQUESTS	8
#define PARTS		65536

struct log_super {
	__le64 magic;
	__le64 version;
	__le64 entries;
	__le32 sector_size;
};

struct log_entry {
	__le64 sector;
	__le64 sectors;
	__le64 flags;
	__le64 data_len;
};

struct part {
	u64 sector;
	u32 sectors;
	bool meta;
	const u8 *data;
};

struct undecided {
	u64 sector;
	u32 sectors;
	u32 version;
	u64 tag;
	bool meta;
	bool data;
};

static struct {
	bool is_xfs, live, mounted;
	struct btrfs_live btrfs;
	struct xfs_live xfs;
	int fd;
	u64 sectors;
	u64 start;			/* of the volume */
	u32 *version;			/* of each sector: the write that it is from */
	u32 writes;
	u8 *squashed;
	u8 *stored;			/* of each sector: kept, and not one repeated word */
	struct undecided *undecided;
	size_t nr_undecided, room_undecided, most_undecided;
	u64 epoch;
	u64 seed;
	u64 data, data_squashed, data_at_once;	/* sectors */
	u64 meta, meta_squashed;
	u64 entries, supers;
	u64 reasons[SELFID_REASONS];
	size_t memory;
} r;

static u64 rnd(void)
{
	r.seed ^= r.seed << 13;
	r.seed ^= r.seed >> 7;
	r.seed ^= r.seed << 17;
	return r.seed;
}

static void put(u64 sector, const void *data, u32 sectors)
{
	if (pwrite(r.fd, data, (size_t)sectors << 9, sector << 9) != (ssize_t)sectors << 9)
		err(1, "output");
}

static void noise(u64 sector, u32 sectors)
{
	static u8 block[1 << 16];
	static bool filled;
	u64 x = 88172645463325252ULL;
	size_t i;

	for (i = 0; !filled && i < sizeof(block); i += 8) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(block + i, &x, 8);
	}
	filled = true;
	while (sectors) {
		u32 n = min_t(u32, sectors, sizeof(block) >> 9);

		put(sector, block, n);
		memset(r.squashed + sector, 1, n);
		memset(r.stored + sector, 0, n);
		sector += n;
		sectors -= n;
	}
}

static void lost(u64 sector, u32 sectors, const char *how)
{
	if (!r.meta_squashed)
		warnx("entry %" PRIu64 ": metadata squashed %s: sector %" PRIu64 " + %u", r.entries,
		      how, sector, sectors);
	r.meta_squashed += sectors;
}

static void later(u64 sector, u32 sectors, bool meta, bool data)
{
	struct undecided *u;

	if (r.nr_undecided == r.room_undecided) {
		r.room_undecided = r.room_undecided * 2 + 1024;
		r.undecided = realloc(r.undecided, r.room_undecided * sizeof(*u));
		if (!r.undecided)
			err(1, "memory");
	}
	u = &r.undecided[r.nr_undecided++];
	*u = (struct undecided){ .sector = sector, .sectors = sectors, .meta = meta, .data = data,
				 .version = r.version[sector], .tag = btrfs_live_tag(&r.btrfs) };
	r.most_undecided = max(r.most_undecided, r.nr_undecided);
}

static void decide_later_ones(void)
{
	size_t i, n = 0;

	if (r.is_xfs || btrfs_live_epoch(&r.btrfs) == r.epoch)
		return;
	r.epoch = btrfs_live_epoch(&r.btrfs);
	for (i = 0; i < r.nr_undecided; i++) {
		struct undecided u = r.undecided[i];
		enum verdict verdict;
		u32 at;

		verdict = btrfs_live_decide(&r.btrfs, u.sector - r.start, u.sectors, u.tag);
		if (verdict == VERDICT_UNDECIDED) {
			r.undecided[n++] = u;
			continue;
		}
		if (verdict == VERDICT_KEEP)
			continue;
		if (u.meta)
			lost(u.sector, u.sectors, "in the end");
		if (u.data)
			r.data_squashed += u.sectors;
		/* Only if nothing newer is there. */
		for (at = 0; at < u.sectors; at++)
			if (r.version[u.sector + at] == u.version)
				noise(u.sector + at, 1);
	}
	r.nr_undecided = n;
}

/* The store holds whole blocks. */
static bool is_stored(void *ctx, u64 sector, u32 sectors)
{
	u64 end = min((sector + sectors + 7) / 8 * 8, r.sectors);

	(void)ctx;
	for (sector = sector / 8 * 8; sector < end; sector++)
		if (r.stored[sector])
			return true;
	return false;
}

static void find_volume(const struct part *p)
{
	static u8 super[4096];
	u64 at = r.start + (r.is_xfs ? 0 : BTRFS_SUPER_SECTOR);
	const char *wrong;

	u32 bytes;

	if (r.live || p->sector > at || p->sector + p->sectors < at + (r.is_xfs ? 1 : 8))
		return;
	bytes = min_t(u64, sizeof(super), (p->sector + p->sectors - at) << 9);
	memcpy(super, p->data + ((at - p->sector) << 9), bytes);
	r.xfs.stored = is_stored;
	r.xfs.start = r.start;
	wrong = r.is_xfs ? xfs_live_init(&r.xfs, super, bytes, r.sectors - r.start) :
			   btrfs_live_init(&r.btrfs, super, r.sectors - r.start);
	if (!wrong)
		r.live = true;
	r.supers++;
}

static void copy(void *ctx, u32 offset, void *to, u32 len)
{
	const struct part *p = ctx;

	if (offset + (u64)len > (u64)p->sectors << 9)
		errx(1, "the classifier read beyond a request's end");
	memcpy(to, p->data + offset, len);
}

static void work_on_xfs(void)
{
	static u8 block[4096];
	size_t bytes;
	u64 sector;
	u32 n;

	while ((bytes = xfs_live_memory(&r.xfs, 1 << 20))) {
		free(xfs_live_give(&r.xfs, calloc(1, bytes), bytes));
		r.memory = max(r.memory, bytes);
	}
	while (xfs_live_want(&r.xfs, &sector, &n)) {
		if (pread(r.fd, block, n, (r.start + sector) << 9) != (ssize_t)n)
			err(1, "output");
		xfs_live_learn(&r.xfs, sector, block);
	}
}

static void work(void)
{
	static u8 block[BTRFS_READ_BYTES];
	size_t bytes;
	u64 sector;
	u32 n, i;

	if (!r.live)
		return;
	if (r.is_xfs) {
		work_on_xfs();
		return;
	}
	while ((bytes = btrfs_live_memory(&r.btrfs))) {
		free(btrfs_live_give(&r.btrfs, calloc(1, bytes), bytes));
		r.memory = max(r.memory, bytes);
	}
	while (btrfs_live_want(&r.btrfs, &sector, &n)) {
		const void *content;

		sector += r.start;
		content = block;
		if (pread(r.fd, block, n, sector << 9) != (ssize_t)n)
			err(1, "output");
		for (i = 0; i < n >> 9; i++)
			if (r.squashed[sector + i])
				content = NULL;
		btrfs_live_learn(&r.btrfs, content);
		while ((bytes = btrfs_live_memory(&r.btrfs)))
			free(btrfs_live_give(&r.btrfs, calloc(1, bytes), bytes));
	}
	decide_later_ones();
}

static void hand_over(const struct part *p)
{
	struct selfid_request request = {
		.sector = p->sector - r.start, .sectors = p->sectors,
		.copy = copy, .ctx = (void *)p,
	};
	u32 pos, len, i;

	find_volume(p);
	for (pos = 0; pos < p->sectors; pos += len) {
		const u8 *data = p->data + ((size_t)pos << 9);
		enum selfid_reason reason = SELFID_UNSAFE;
		enum verdict verdict = VERDICT_KEEP;
		u64 sector = p->sector + pos;
		bool plain, counts;

		len = p->sectors - pos;
		if (r.live)
			verdict = r.is_xfs ?
				xfs_live_write(&r.xfs, &request, pos, &len, &reason) :
				btrfs_live_write(&r.btrfs, &request, pos, &len, &reason);
		if (!len || len > p->sectors - pos)
			errx(1, "a verdict for %u sectors", len);
		if (!r.mounted)
			verdict = VERDICT_KEEP;
		plain = !memcmp(data, data + 8, (len << 9) - 8);
		counts = r.mounted && !p->meta && !plain;
		if (r.mounted) {
			r.reasons[reason] += len;
			r.meta += p->meta ? len : 0;
		}
		r.writes++;
		for (i = 0; i < len; i++) {
			r.version[sector + i] = r.writes;
			r.squashed[sector + i] = 0;
			r.stored[sector + i] = !plain;
		}
		r.data += counts ? len : 0;
		if (verdict == VERDICT_SQUASH) {
			if (p->meta && !plain)
				lost(sector, len, "at once");
			if (counts) {
				r.data_squashed += len;
				r.data_at_once += len;
			}
		}
		if (verdict == VERDICT_SQUASH && !plain) {
			noise(sector, len);
			continue;
		}
		put(sector, data, len);
		if (verdict == VERDICT_UNDECIDED && !plain && !r.is_xfs)
			for (i = 0; i < len; i += 8)
				later(sector + i, min(len - i, 8u), p->meta, counts);
	}
	work();
}

/* Requests that wait to be torn and mixed. */
static struct part waiting[MIXED_REQUESTS];
static unsigned int nr_waiting;

static void flush_waiting(void)
{
	static struct part parts[PARTS];
	unsigned int i, n = 0;

	for (i = 0; i < nr_waiting; i++) {
		u32 pos = 0, len;

		while (pos < waiting[i].sectors) {
			len = min_t(u32, waiting[i].sectors - pos, 8 * (1 + rnd() % 3));
			if (n == PARTS)
				errx(1, "too many parts");
			parts[n] = waiting[i];
			parts[n].sector += pos;
			parts[n].data += (size_t)pos << 9;
			parts[n++].sectors = len;
			pos += len;
		}
	}
	for (i = n; i > 1; i--) {
		unsigned int j = rnd() % i;
		struct part t = parts[j];

		parts[j] = parts[i - 1];
		parts[i - 1] = t;
	}
	for (i = 0; i < n; i++)
		hand_over(&parts[i]);
	for (i = 0; i < nr_waiting; i++)
		free((void *)waiting[i].data);
	nr_waiting = 0;
}

static void request(u64 sector, u32 sectors, u8 *data, bool meta)
{
	struct part p = { .sector = sector, .sectors = sectors, .meta = meta, .data = data };
	unsigned int i;

	/* Superblocks wait for nothing, and nothing overtakes them. */
	if (!r.seed || sector < r.start + BTRFS_RESERVED_SECTORS) {
		flush_waiting();
		hand_over(&p);
		free(data);
		return;
	}
	for (i = 0; i < nr_waiting; i++)
		if (waiting[i].sector < sector + sectors &&
		    sector < waiting[i].sector + waiting[i].sectors)
			break;
	if (i < nr_waiting || nr_waiting == MIXED_REQUESTS)
		flush_waiting();
	waiting[nr_waiting++] = p;
}

static void mark(const char *text)
{
	flush_waiting();
	if (!strcmp(text, "mounted"))
		r.mounted = true;
	else if (!strcmp(text, "unmounted"))
		r.mounted = false;
}

static void read_log(FILE *log)
{
	struct log_super super;
	struct log_entry entry;
	u64 entries, unit;

	if (fread(&super, sizeof(super), 1, log) != 1 || le64_to_cpu(super.magic) != LOG_MAGIC)
		errx(1, "not a log of dm-log-writes");
	unit = le32_to_cpu(super.sector_size);
	entries = le64_to_cpu(super.entries);
	fseeko(log, unit, SEEK_SET);
	for (r.entries = 0; r.entries < entries; r.entries++) {
		u64 flags, sector, n, len, i;
		u8 *data;

		if (fread(&entry, sizeof(entry), 1, log) != 1)
			errx(1, "the log ends in entry %" PRIu64, r.entries);
		flags = le64_to_cpu(entry.flags);
		sector = le64_to_cpu(entry.sector) * (unit >> 9);
		n = le64_to_cpu(entry.sectors) * (unit >> 9);
		len = le64_to_cpu(entry.data_len);
		if (flags & FLAG_MARK) {
			char text[64] = "";

			len = min_t(u64, len, sizeof(text) - 1);
			if (fread(text, len, 1, log) != 1)
				errx(1, "a mark without text");
			fseeko(log, unit - sizeof(entry) - len, SEEK_CUR);
			mark(text);
			continue;
		}
		fseeko(log, unit - sizeof(entry), SEEK_CUR);
		if (!n)
			continue;
		if (sector > r.sectors || n > r.sectors - sector)
			errx(1, "entry %" PRIu64 " is beyond the disk", r.entries);
		if (flags & FLAG_DISCARD) {
			flush_waiting();
			if (fallocate(r.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				      sector << 9, n << 9))
				err(1, "punch hole");
			for (i = 0; i < n; i++) {
				r.version[sector + i] = 0;
				r.squashed[sector + i] = 0;
				r.stored[sector + i] = 0;
			}
			continue;
		}
		data = malloc(n << 9);
		if (!data || fread(data, n << 9, 1, log) != 1)
			errx(1, "entry %" PRIu64 " is cut off", r.entries);
		request(sector, n, data, flags & FLAG_METADATA);
	}
	flush_waiting();
}

int main(int argc, char **argv)
{
	const char *wrong;
	FILE *log;
	int i;

	if (argc < 5 || argc > 6)
		errx(2, "usage: selfid-replay btrfs|xfs LOG OUT BYTES [SEED]");
	crc_setup();
	r.is_xfs = !strcmp(argv[1], "xfs");
	log = fopen(argv[2], "rb");
	if (!log)
		err(2, "%s", argv[2]);
	r.sectors = strtoull(argv[4], NULL, 0) >> 9;
	r.seed = argc > 5 ? strtoull(argv[5], NULL, 0) : 0;
	r.fd = open(argv[3], O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (r.fd < 0 || ftruncate(r.fd, r.sectors << 9))
		err(2, "%s", argv[3]);
	r.version = calloc(r.sectors, sizeof(*r.version));
	r.squashed = calloc(r.sectors, 1);
	r.stored = calloc(r.sectors, 1);
	if (!r.version || !r.squashed || !r.stored)
		err(2, "memory");
	read_log(log);
	wrong = r.is_xfs ? r.xfs.wrong : r.btrfs.wrong;
	printf("{\"entries\": %" PRIu64 ", \"data\": %" PRIu64 ", \"squashed\": %" PRIu64
	       ", \"at_once\": %" PRIu64 ", \"meta\": %" PRIu64 ", \"lost\": %" PRIu64
	       ", \"most_undecided\": %zu, \"still_undecided\": %zu, \"errors\": %" PRIu64
	       ", \"memory\": %zu, \"chunks\": %u, \"missed\": %" PRIu64
	       ", \"wrong\": \"%s\", \"reasons\": {",
	       r.entries, r.data, r.data_squashed, r.data_at_once, r.meta, r.meta_squashed,
	       r.most_undecided, r.nr_undecided, r.is_xfs ? r.xfs.errors : r.btrfs.errors, r.memory,
	       r.btrfs.map.nr, r.xfs.log.count.missed,
	       !r.live ? "no file system found" : wrong ? wrong : "");
	for (i = 0; i < SELFID_REASONS; i++)
		printf("%s\"%s\": %" PRIu64, i ? ", " : "", selfid_reason_name(i), r.reasons[i]);
	printf("}}\n");
	return 0;
}
