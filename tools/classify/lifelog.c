// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds a log of dm-log-writes to the classifier, as the kernel target would.
 *
 * The output file holds what a read of the fake disk would return, with noise for
 * squashed blocks: kept blocks as they were written, and blocks of one repeated
 * word, which the target has in its range table. So a file system checker, and a
 * comparison with the real disk, show whether anything was lost.
 *
 * Counts writes that the log marks as metadata (REQ_META: ext4 and jbd2 set it)
 * and that the classifier squashed. There must be none. Of all other writes while
 * mounted, the share that was squashed is what the classifier saves.
 *
 * With a seed for tearing, each request is divided at random 4 KiB boundaries. Its
 * parts come in random order, mixed with the parts of neighbouring requests, but
 * not across a flush. Servers that write through a page cache do that. The option
 * to mix across flushes, too, is harder than any stack of devices. Then only
 * requests to the places of btrfs's superblocks stay in order.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/complain.h"
#include "classify.h"
#include "../../classifier/btrfs/btrfs.h"
#include "../../classifier/ext/ext-volume.h"
#include "../../classifier/xfs/xfs.h"

#define LOG_MAGIC	0x6a736677736872ULL
#define FLAG_FLUSH	1
#define FLAG_FUA	2
#define FLAG_DISCARD	4
#define FLAG_MARK	8
#define FLAG_METADATA	16

#define SECTOR		512u
#define STORE_BLOCK	8u	/* sectors */
#define AGAIN		1000u	/* entries */
#define MIXED		8u	/* requests whose parts are mixed */
#define PARTS		65536u

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
	bool fua;
	bool feed;
	u8 *data;
};

/* A request's content, as the classifier asks for it. */
struct content {
	const u8 *data;
	u32 bytes;
};

struct lifelog {
	struct classifier classifier;
	u64 seed;			/* 0: requests come as they are */
	bool across;			/* torn and mixed across flushes, too */
	struct part waiting[MIXED];
	unsigned int nr_waiting;
	int out;
	u64 bytes;
	u64 *squashed;		/* bit a sector */
	u64 *stored;		/* likewise: kept, and not constant */
	u64 *meta;		/* likewise: last written with REQ_META */
	u64 *counted;		/* likewise: last written as data that counts */
	bool mounted;
	u64 entries, marks;
	u64 data, data_squashed;	/* sectors while mounted, not REQ_META, not constant */
	u64 meta_squashed;		/* sectors */
	u64 undecided;
	u64 kept;			/* sectors not constant */
	u64 later;			/* sectors squashed later */
	u64 later_meta, later_data;	/* of those: written with REQ_META, or data that counts */
	size_t memory;			/* peak */
};

static void lifelog_copy(void *ctx, u32 offset, void *to, u32 len)
{
	const struct content *content = ctx;

	if (offset + (u64)len > content->bytes)
		die("the classifier read beyond a request's end");
	memcpy(to, content->data + offset, len);
}

static bool constant(const u8 *data, u32 bytes)
{
	return !memcmp(data, data + 8, bytes - 8);
}

static void set_bits(u64 *map, u64 sector, u64 n, bool value)
{
	for (; n--; sector++) {
		if (value)
			map[sector / 64] |= 1ULL << sector % 64;
		else
			map[sector / 64] &= ~(1ULL << sector % 64);
	}
}

static void set_squashed(struct lifelog *r, u64 sector, u64 n, bool squashed)
{
	set_bits(r->squashed, sector, n, squashed);
}

static bool get_bit(const u64 *map, u64 sector)
{
	return map[sector / 64] >> sector % 64 & 1;
}

static bool any_bit(const u64 *map, u64 sector, u64 n)
{
	for (; n--; sector++)
		if (get_bit(map, sector))
			return true;
	return false;
}

/* The store holds whole blocks. */
static bool is_stored(void *ctx, u64 sector, u32 sectors)
{
	const struct lifelog *r = ctx;
	u64 first = sector / STORE_BLOCK * STORE_BLOCK;

	return any_bit(r->stored, first, sector + sectors - first);
}

static void put(struct lifelog *r, u64 sector, const void *data, u32 sectors)
{
	if (pwrite(r->out, data, (size_t)sectors * SECTOR, sector * SECTOR) < 0)
		die("output: %s", strerror(errno));
}

static void squash(struct lifelog *r, u64 sector, u32 sectors)
{
	static u8 noise[CLASSIFIER_BLOCK * 16];
	u32 i;

	if (!noise[0])
		for (i = 0; i < sizeof(noise); i++)
			noise[i] = 0xa5 ^ i * 7;
	while (sectors) {
		u32 n = min(sectors, (u32)sizeof(noise) / SECTOR);

		put(r, sector, noise, n);
		set_squashed(r, sector, n, true);
		set_bits(r->stored, sector, n, false);
		sector += n;
		sectors -= n;
	}
}

/* Blocks of the store that were kept and are data, as the kernel's worker drops them. */
static bool squash_later(struct lifelog *r)
{
	struct classifier *c = &r->classifier;
	u64 sector, end;
	u32 sectors, i;

	if (!classifier_claim(c, &sector, &sectors))
		return false;
	end = sector + sectors;
	for (sector = (sector + STORE_BLOCK - 1) / STORE_BLOCK * STORE_BLOCK;
	     sector + STORE_BLOCK <= end; sector += STORE_BLOCK) {
		if (!classifier_is_data(c, sector, STORE_BLOCK))
			continue;
		for (i = 0; i < STORE_BLOCK; i++) {
			if (get_bit(r->meta, sector + i) && !r->later_meta++)
				fprintf(stderr, "metadata squashed later: sector %llu\n",
					(unsigned long long)sector + i);
			r->later_data += get_bit(r->counted, sector + i);
		}
		r->later += STORE_BLOCK;
		squash(r, sector, STORE_BLOCK);
		classifier_done(c, sector, STORE_BLOCK);
	}
	return true;
}

/* Do what the kernel's worker would do. */
static void work(struct lifelog *r)
{
	struct classifier *c = &r->classifier;

	while (c->pending) {
		static u8 block[CLASSIFIER_BLOCK];
		size_t memory;
		u64 sector;
		u32 bytes;

		while ((memory = classifier_memory(c)))
			free(classifier_give(c, calloc(1, memory), memory));
		while (squash_later(r))
			;
		if (!classifier_want(c, &sector, &bytes))
			continue;
		if (any_bit(r->squashed, sector, bytes / SECTOR) ||
		    pread(r->out, block, bytes, sector * SECTOR) != (ssize_t)bytes)
			classifier_learn(c, sector, NULL);
		else
			classifier_learn(c, sector, block);
	}
	r->memory = max(r->memory, classifier_bytes(c));
}

static void piece(struct lifelog *r, u64 sector, const u8 *data, u32 n, enum verdict verdict,
		  bool meta)
{
	bool plain = constant(data, n * SECTOR);
	bool counts = r->mounted && !meta && !plain;

	if (counts) {
		r->data += n;
		r->data_squashed += verdict == VERDICT_SQUASH ? n : 0;
	}
	if (verdict == VERDICT_UNDECIDED)
		r->undecided += n;
	if (verdict == VERDICT_SQUASH && meta && !plain) {
		if (!r->meta_squashed)
			fprintf(stderr, "metadata squashed: sector %llu, entry %llu\n",
				(unsigned long long)sector, (unsigned long long)r->entries);
		r->meta_squashed += n;
	}
	if (verdict == VERDICT_SQUASH && !plain) {
		squash(r, sector, n);
	} else {
		put(r, sector, data, n);
		set_squashed(r, sector, n, false);
		set_bits(r->meta, sector, n, meta);
		set_bits(r->counted, sector, n, counts);
		set_bits(r->stored, sector, n, !plain);
		r->kept += plain ? 0 : n;
	}
}

static void write_entry(struct lifelog *r, const struct part *p)
{
	struct content content = { .data = p->data, .bytes = p->sectors * SECTOR };
	struct classify_write w = {
		.sector = p->sector, .sectors = p->sectors, .fua = p->fua, .copy = lifelog_copy,
		.ctx = &content,
	};
	enum classify_reason reason;
	enum verdict verdict;
	u32 pos, len;

	for (pos = 0; pos < p->sectors; pos += len) {
		verdict = VERDICT_KEEP;
		len = p->sectors - pos;
		if (p->feed)
			verdict = classifier_write(&r->classifier, &w, pos, &len, &reason);
		if (!len || len > p->sectors - pos)
			die("a verdict for %u sectors of %u", len, p->sectors - pos);
		piece(r, p->sector + pos, p->data + (size_t)pos * SECTOR, len, verdict, p->meta);
	}
}

static u64 chance(struct lifelog *r)
{
	r->seed ^= r->seed << 13;
	r->seed ^= r->seed >> 7;
	r->seed ^= r->seed << 17;
	return r->seed;
}

/* Write the parts that wait to be mixed. */
static void write_waiting(struct lifelog *r)
{
	static struct part parts[PARTS];
	unsigned int i, j, n = 0;

	for (i = 0; i < r->nr_waiting; i++) {
		const struct part *w = &r->waiting[i];
		u32 pos, len;

		for (pos = 0; pos < w->sectors; pos += len) {
			len = min_t(u32, w->sectors - pos, STORE_BLOCK * (1 + chance(r) % 3));
			if (n == PARTS)
				die("requests too large to be torn");
			parts[n] = *w;
			parts[n].sector += pos;
			parts[n].data += (size_t)pos * SECTOR;
			parts[n++].sectors = len;
		}
	}
	for (i = n; i > 1; i--) {
		struct part t = parts[i - 1];

		j = chance(r) % i;
		parts[i - 1] = parts[j];
		parts[j] = t;
	}
	for (i = 0; i < n; i++)
		write_entry(r, &parts[i]);
	for (i = 0; i < r->nr_waiting; i++)
		free(r->waiting[i].data);
	r->nr_waiting = 0;
}

/* Takes over part->data, and frees it. */
static void request(struct lifelog *r, const struct part *part, u64 flags)
{
	bool ordered = r->across ? part->sector < BTRFS_RESERVED_SECTORS :
				   flags & (FLAG_FLUSH | FLAG_FUA);
	bool alone = !r->seed || ordered;
	unsigned int i;

	for (i = 0; i < r->nr_waiting && !alone; i++)
		if (r->waiting[i].sector < part->sector + part->sectors &&
		    part->sector < r->waiting[i].sector + r->waiting[i].sectors)
			break;
	if (alone || i < r->nr_waiting || r->nr_waiting == MIXED)
		write_waiting(r);
	if (flags & FLAG_FLUSH && part->feed)
		classifier_flush(&r->classifier);
	if (!alone) {
		r->waiting[r->nr_waiting++] = *part;
		return;
	}
	write_entry(r, part);
	free(part->data);
}

static void discard(struct lifelog *r, u64 sector, u64 sectors, bool feed)
{
	if (feed)
		classifier_discard(&r->classifier, sector, sectors);
	if (fallocate(r->out, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, sector * SECTOR,
		      sectors * SECTOR))
		die("output: punch hole: %s", strerror(errno));
	set_squashed(r, sector, sectors, false);
	set_bits(r->stored, sector, sectors, false);
}

static void mark(struct lifelog *r, const char *text, bool feed)
{
	enum volume_state state;

	r->marks++;
	if (!strcmp(text, "mounted"))
		state = VOLUME_MOUNTED;
	else if (!strcmp(text, "unmounted"))
		state = VOLUME_UNMOUNTED;
	else if (!strcmp(text, "unknown"))
		state = VOLUME_UNKNOWN;
	else
		return;
	r->mounted = state == VOLUME_MOUNTED;
	classifier_again(&r->classifier);
	/* The log has no reads. The next user of the disk would read the superblock. */
	if (feed && state != VOLUME_MOUNTED) {
		classifier_looked(&r->classifier, 0, STORE_BLOCK);
		classifier_looked(&r->classifier, BTRFS_SUPER_SECTOR, STORE_BLOCK);
	}
	if (feed && !r->classifier.by_super)
		classifier_mount(&r->classifier, 0, state);
}

static void report_ext(const struct volume *v)
{
	const struct ext_live *e = ext_of(v);
	const struct jbd2_counters *n = &e->jbd2.count;

	printf("{\"start\": %" PRIu64 ", \"stage\": %d, \"wrong\": \"%s\", "
	       "\"descriptors\": %" PRIu64 ", \"commits\": %" PRIu64 ", \"revokes\": %" PRIu64
	       ", \"tags\": %" PRIu64 ", \"revoked\": %" PRIu64 ", \"bad\": %" PRIu64
	       ", \"missed\": %" PRIu64 ", \"logged_most\": %u, \"errors\": %" PRIu64 "}",
	       v->start, e->stage, e->wrong ?: "", n->descriptors, n->commits, n->revokes, n->tags,
	       n->revoked, n->bad, n->missed, e->jbd2.set.most, e->errors);
}

static void report_xfs(const struct volume *v)
{
	const struct xfs_live *x = v->live;

	printf("{\"start\": %" PRIu64 ", \"wrong\": \"%s\", \"records\": %" PRIu64
	       ", \"formats\": %" PRIu64 ", \"bad\": %" PRIu64 ", \"missed\": %" PRIu64
	       ", \"most\": %u}", v->start, x->wrong ?: "", x->log.count.records,
	       x->log.count.formats, x->log.count.bad, x->log.count.missed, x->log.set.most);
}

static void report(const struct lifelog *r)
{
	const struct classifier *c = &r->classifier;
	const struct undecided_figures *u = &c->undecided.figures;
	const struct assoc *assoc = ext_assoc_of(c);
	const char *comma = "";
	unsigned int i;

	printf("{\"entries\": %" PRIu64 ", \"marks\": %" PRIu64 ", \"data_sectors\": %" PRIu64
	       ", \"data_squashed\": %" PRIu64 ", \"metadata_squashed\": %" PRIu64
	       ", \"undecided\": %" PRIu64 ", \"kept\": %" PRIu64 ", \"errors\": %" PRIu64
	       ", \"memory\": %zu, \"later\": %" PRIu64 ", \"later_metadata\": %" PRIu64
	       ", \"later_data\": %" PRIu64
	       ", \"unclassified\": {\"now\": %" PRIu64 ", \"most\": %" PRIu64
	       ", \"spilled\": %" PRIu64 ", \"data\": %" PRIu64 ", \"metadata\": %" PRIu64
	       ", \"missed\": %" PRIu64 ", \"read\": %" PRIu64 "}, \"reasons\": {",
	       r->entries, r->marks, r->data, r->data_squashed, r->meta_squashed, r->undecided,
	       r->kept, c->errors, r->memory, r->later, r->later_meta, r->later_data, u->now,
	       u->most, u->spilled, u->data, u->metadata, assoc->missed, assoc->read);
	for (i = 0; i < REASON_NR; i++)
		printf("%s\"%s\": %" PRIu64, i ? ", " : "", classify_reason_name(i), c->count[i]);
	printf("}, \"volumes\": [");
	for (i = 0; i < c->volumes.nr; i++) {
		if (c->volumes.volume[i].kind != ext_volume_kind)
			continue;
		printf("%s", comma);
		report_ext(&c->volumes.volume[i]);
		comma = ", ";
	}
	printf("], \"xfs_logs\": [");
	comma = "";
	for (i = 0; i < c->volumes.nr; i++) {
		if (c->volumes.volume[i].kind != xfs_volume_kind || !c->volumes.volume[i].ready)
			continue;
		printf("%s", comma);
		report_xfs(&c->volumes.volume[i]);
		comma = ", ";
	}
	printf("]}\n");
}

static void release(const void *memory)
{
	free((void *)memory);
}

int classify_lifelog(const struct lifelog_options *options)
{
	static struct lifelog r;
	struct log_super super;
	struct log_entry entry;
	u64 i, entries, sectors = options->bytes / SECTOR;
	u32 unit;
	FILE *log = fopen(options->log, "rb");

	if (!log)
		die("%s: %s", options->log, strerror(errno));
	if (fread(&super, sizeof(super), 1, log) != 1 || le64_to_cpu(super.magic) != LOG_MAGIC)
		die("%s: not a log of dm-log-writes", options->log);
	unit = le32_to_cpu(super.sector_size);
	entries = le64_to_cpu(super.entries);
	if (unit < SECTOR || unit > 65536 || unit % SECTOR)
		die("%s: its sector size of %u makes no sense", options->log, unit);
	r.out = open(options->out, O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (r.out < 0 || ftruncate(r.out, options->bytes))
		die("%s: %s", options->out, strerror(errno));
	r.bytes = options->bytes;
	r.seed = options->tear;
	r.across = options->across;
	r.squashed = calloc(sectors / 64 + 1, sizeof(u64));
	r.meta = calloc(sectors / 64 + 1, sizeof(u64));
	r.counted = calloc(sectors / 64 + 1, sizeof(u64));
	r.stored = calloc(sectors / 64 + 1, sizeof(u64));
	classifier_init(&r.classifier, calloc(1, classifier_shared_bytes()), sectors,
			options->log_limit);
	classifier_remember(&r.classifier, options->undecided);
	classifier_stored(&r.classifier, is_stored, &r);
	classifier_alone(&r.classifier);
	if (options->by_super)
		classifier_by_super(&r.classifier);

	fseeko(log, unit, SEEK_SET);
	entries = min(entries, options->until);
	for (i = 0; i < entries; i++) {
		u64 flags, sector, n, len;
		bool feed = i >= options->from;
		struct part part;
		u8 *data;

		if (fread(&entry, sizeof(entry), 1, log) != 1)
			die("%s: ends in entry %llu of %llu", options->log, (unsigned long long)i,
			    (unsigned long long)entries);
		flags = le64_to_cpu(entry.flags);
		/* The log counts in its own sectors. */
		sector = le64_to_cpu(entry.sector) * (unit / SECTOR);
		n = le64_to_cpu(entry.sectors) * (unit / SECTOR);
		len = le64_to_cpu(entry.data_len);
		r.entries = i;
		if (i && i == options->from) {
			write_waiting(&r);
			/* As if the target had just been loaded over an existing store. */
			classifier_mount(&r.classifier, 0, r.mounted || options->by_super ?
					 VOLUME_MOUNTED : VOLUME_UNKNOWN);
			work(&r);
		}
		if (flags & FLAG_MARK) {
			char text[64] = "";
			size_t taken = min_t(size_t, len, sizeof(text) - 1);

			if (!fread(text, taken, 1, log))
				die("%s: a mark without text", options->log);
			fseeko(log, unit - sizeof(entry) - taken, SEEK_CUR);
			write_waiting(&r);
			mark(&r, text, feed);
			work(&r);
			continue;
		}
		fseeko(log, unit - sizeof(entry), SEEK_CUR);
		if (sector > sectors || n > sectors - sector)
			die("%s: entry %llu is beyond the disk", options->log,
			    (unsigned long long)i);
		if (flags & FLAG_DISCARD) {
			write_waiting(&r);
			discard(&r, sector, n, feed);
			work(&r);
			continue;
		}
		if (!n) {
			write_waiting(&r);
			if (feed && flags & FLAG_FLUSH)
				classifier_flush(&r.classifier);
			continue;
		}
		data = malloc(n * SECTOR);
		if (!data || fread(data, n * SECTOR, 1, log) != 1)
			die("%s: entry %llu is cut off", options->log, (unsigned long long)i);
		part = (struct part){ .sector = sector, .sectors = n, .data = data,
				      .meta = flags & FLAG_METADATA, .fua = flags & FLAG_FUA,
				      .feed = feed };
		request(&r, &part, flags);
		if (i % options->lag == 0)
			work(&r);
		/* The kernel does this by a timer. */
		if (i % AGAIN == AGAIN - 1)
			classifier_again(&r.classifier);
	}
	write_waiting(&r);
	classifier_again(&r.classifier);
	work(&r);
	r.entries = entries;
	report(&r);
	classifier_destroy(&r.classifier, release);
	free(r.squashed);
	free(r.meta);
	free(r.counted);
	free(r.stored);
	fclose(log);
	close(r.out);
	return STATUS_OK;
}
