// SPDX-License-Identifier: GPL-2.0
/* The log in an xfs image: see xfs-log-image.h. Structures: xfs_log_format.h. */
#include "../common/vec.h"
#include "xfs-log-image.h"

#define SECTOR		512u
#define MOST_BYTES	(256u << 10)	/* of a record, and of its header's h_size */
#define WORDS		64		/* of a header, each from a sector of content */
#define LINUX_LE	1
#define IN_FLIGHT	(8 * (512 + 8))	/* sectors of records that are written side by side */
#define OP_BYTES	12
#define OP_START	0x01
#define OP_COMMIT	0x02
#define OP_CONTINUES	0x04
#define OP_CONTINUED	0x08
#define CLIENT_TRANSACTION	0x69
#define TRANSACTION_BYTES	16	/* of the header that each begins with */
#define TRANSACTIONS	64		/* under way at once */
#define ITEM_BYTES	16777216	/* of an item, at most */

struct record {
	u64 at;			/* position: cycle * sectors + place */
	u64 tail;		/* likewise */
	u32 place;
	u32 headers;		/* sectors */
	u32 content;		/* likewise */
	u32 bytes;
	u32 operations;
};

struct transaction {
	bool used;
	bool more;		/* the region that was added last goes on */
	u32 id;
	u32 header;		/* bytes of its own header so far */
	u32 wanted;		/* regions of the item, 0: not known yet */
	u32 regions;
	u32 end[XFS_LOG_REGIONS];
	u32 bytes;
	u64 room;
	u8 *content;		/* of the item's regions, one behind the other */
};

struct xfs_log_image {
	const u8 *log;
	u32 sectors;
	const u8 *uuid;
	struct record *record;	/* to be read, in order */
	u64 records, room;
	u64 errors;
	struct transaction transaction[TRANSACTIONS];
	struct xfs_log_item item;
	u8 *content;		/* of the record being read */
	void (*take)(void *ctx, const struct xfs_log_item *item);
	void *ctx;
};

static const u8 *sector_at(const struct xfs_log_image *image, u64 place)
{
	return image->log + place % image->sectors * SECTOR;
}

/* Each sector begins with the cycle's number. Are all of this cycle: all written, none again? */
static bool log_image_is_whole(const struct xfs_log_image *image, const struct record *r, u32 cycle)
{
	u32 i;

	for (i = 1; i < r->headers + r->content; i++)
		if (get_unaligned_be32(sector_at(image, r->place + i)) !=
		    cycle + (r->place + i >= image->sectors))
			return false;
	return true;
}

/* The record that begins at @place, if one does. */
static bool log_image_read_header(const struct xfs_log_image *image, u32 place, struct record *r)
{
	const struct xfs_log_header *h = (const void *)sector_at(image, place);
	u32 cycle = be32_to_cpu(h->cycle), bytes = be32_to_cpu(h->bytes);

	if (be32_to_cpu(h->magic) != XFS_LOG_MAGIC || be32_to_cpu(h->version) != 2 ||
	    be32_to_cpu(h->format) != LINUX_LE ||
	    memcmp(h->uuid, image->uuid, sizeof(h->uuid)) ||
	    be32_to_cpu(h->lsn_block) != place || h->lsn_cycle != h->cycle ||
	    /* Mounts clear what is behind the end with empty ones. */
	    !bytes || bytes > MOST_BYTES || be32_to_cpu(h->size) > MOST_BYTES)
		return false;
	*r = (struct record) {
		.at = (u64)cycle * image->sectors + place,
		.tail = (u64)be32_to_cpu(h->tail_cycle) * image->sectors +
			be32_to_cpu(h->tail_block),
		.place = place, .headers = xfs_log_headers(h),
		.content = DIV_ROUND_UP(bytes, SECTOR), .bytes = bytes,
		.operations = be32_to_cpu(h->operations),
	};
	return r->content <= r->headers * WORDS && r->headers + r->content <= image->sectors &&
	       log_image_is_whole(image, r, cycle);
}

static bool is_unmount(const struct xfs_log_image *image, const struct record *r)
{
	const u8 *operation = sector_at(image, r->place + r->headers);

	return r->operations == 1 && operation[8] == XFS_LOG_CLIENT &&
	       operation[9] & XFS_LOG_UNMOUNT;
}

static int log_image_compare(const void *one, const void *two)
{
	const struct record *a = one, *b = two;

	return a->at < b->at ? -1 : a->at > b->at;
}

static void add_record(struct xfs_log_image *image, const struct record *r)
{
	image->record = vec_reserve(image->record, &image->room, image->records + 1, sizeof(*r));
	image->record[image->records++] = *r;
}

/*
 * Keep the records that recovery may read. Behind the newest tail, gaps are allowed only where
 * records were in flight. In front of the tail, all records that are still there are kept.
 */
static void cut(struct xfs_log_image *image)
{
	struct record *r = image->record;
	const struct record *last = r + image->records - 1;
	u64 tail = last->tail, late = last->at > IN_FLIGHT ? last->at - IN_FLIGHT : 0;
	u64 from = tail;
	size_t i, first = 0;
	bool gap = true;

	for (i = 0; i < image->records; i++)
		if (r[i].at >= late)
			from = min(from, r[i].tail);
	for (i = 0; i < image->records; i++) {
		if (r[i].at < from || r[i].at + image->sectors <= last->at)
			first = i + 1;
		if (r[i].at == tail && i >= first)
			gap = false;
		else if (r[i].at > tail && r[i].at < late)
			gap |= r[i - 1].at + r[i - 1].headers + r[i - 1].content != r[i].at;
	}
	image->errors += gap;
	image->records -= first;
	memmove(r, r + first, image->records * sizeof(*r));
}

struct xfs_log_image *xfs_log_open(const u8 *log, u32 sectors, const u8 *uuid, u64 *errors)
{
	struct xfs_log_image *image = calloc(1, sizeof(*image));
	struct record r;
	u32 place;

	if (!image)
		abort();
	image->log = log;
	image->sectors = sectors;
	image->uuid = uuid;
	for (place = 0; place < sectors; place++)
		if (log_image_read_header(image, place, &r))
			add_record(image, &r);
	if (!image->records) {
		image->errors++;
	} else {
		qsort(image->record, image->records, sizeof(r), log_image_compare);
		if (is_unmount(image, &image->record[image->records - 1]))
			image->records = 0;
		else
			cut(image);
	}
	*errors += image->errors;
	return image;
}

void xfs_log_close(struct xfs_log_image *image)
{
	unsigned int i;

	for (i = 0; i < TRANSACTIONS; i++)
		free(image->transaction[i].content);
	free(image->record);
	free(image->content);
	free(image);
}

static struct transaction *log_image_find(struct xfs_log_image *image, u32 id)
{
	struct transaction *t;

	for (t = image->transaction; t < image->transaction + TRANSACTIONS; t++)
		if (t->used && t->id == id)
			return t;
	return NULL;
}

static void log_image_begin(struct xfs_log_image *image, u32 id)
{
	struct transaction *t = log_image_find(image, id);

	for (t = t ?: image->transaction; t->used && t->id != id;)
		if (++t == image->transaction + TRANSACTIONS) {
			image->errors++;
			return;
		}
	t->used = true;
	t->more = false;
	t->id = id;
	t->header = 0;
	t->wanted = 0;
	t->regions = 0;
	t->bytes = 0;
}

static void log_image_drop(struct xfs_log_image *image, struct transaction *t)
{
	image->errors++;
	t->used = false;
}

static void hand_over(struct xfs_log_image *image, const struct transaction *t)
{
	struct xfs_log_item *item = &image->item;
	u32 i, start = 0;

	item->type = t->content[0] | t->content[1] << 8;
	item->regions = t->regions;
	for (i = 0; i < t->regions; i++) {
		item->region[i] = (struct xfs_log_region){ t->content + start, t->end[i] - start };
		start = t->end[i];
	}
	image->take(image->ctx, item);
}

static void append(struct transaction *t, const u8 *p, u32 bytes)
{
	t->content = vec_reserve(t->content, &t->room, t->bytes + bytes + 1ull, 1);
	memcpy(t->content + t->bytes, p, bytes);
	t->bytes += bytes;
	t->end[t->regions - 1] = t->bytes;
}

/* Add a region of an item, or a part of one. The item's first region has the number of regions. */
static void add_region(struct xfs_log_image *image, struct transaction *t, u32 flags, const u8 *p,
		       u32 bytes)
{
	bool rest = flags & OP_CONTINUED;

	if (t->header < TRANSACTION_BYTES) {
		t->header += bytes;
		if (t->header > TRANSACTION_BYTES)
			log_image_drop(image, t);
		return;
	}
	if (rest != t->more || t->bytes + bytes > ITEM_BYTES) {
		log_image_drop(image, t);
		return;
	}
	t->regions += !rest;
	append(t, p, bytes);
	t->more = flags & OP_CONTINUES;
	if (t->more)
		return;
	if (t->regions == 1) {
		t->wanted = t->bytes >= 4 ? t->content[2] | t->content[3] << 8 : 0;
		if (!t->wanted || t->wanted > XFS_LOG_REGIONS) {
			log_image_drop(image, t);
			return;
		}
	}
	if (t->regions < t->wanted)
		return;
	hand_over(image, t);
	t->regions = 0;
	t->bytes = 0;
}

static void take_operation(struct xfs_log_image *image, const u8 *operation, const u8 *p,
			   u32 bytes)
{
	u32 id = get_unaligned_be32(operation), flags = operation[9];
	struct transaction *t;

	if (operation[8] != CLIENT_TRANSACTION && operation[8] != XFS_LOG_CLIENT) {
		image->errors++;
		return;
	}
	if (flags & OP_START) {
		log_image_begin(image, id);
		return;
	}
	/* If there is none, the transaction began in front of the tail. */
	t = log_image_find(image, id);
	if (!t)
		return;
	if (flags & (OP_COMMIT | XFS_LOG_UNMOUNT))
		t->used = false;
	else
		add_region(image, t, flags, p, bytes);
}

static void read_record(struct xfs_log_image *image, const struct record *r)
{
	const u8 *p, *end;
	u32 i, bytes;

	image->content = xrealloc(image->content, r->content * SECTOR);
	p = image->content;
	end = p + r->bytes;
	for (i = 0; i < r->content; i++) {
		const u8 *word = sector_at(image, r->place + i / WORDS) +
				 (i < WORDS ? offsetof(struct xfs_log_header, cycle_data) : 4) +
				 i % WORDS * 4;
		u8 *to = image->content + i * SECTOR;

		memcpy(to, sector_at(image, r->place + r->headers + i), SECTOR);
		memcpy(to, word, 4);
	}
	for (i = 0; i < r->operations; i++, p += bytes) {
		if (end - p < OP_BYTES || get_unaligned_be32(p + 4) > end - p - OP_BYTES) {
			image->errors++;
			return;
		}
		bytes = get_unaligned_be32(p + 4);
		take_operation(image, p, p + OP_BYTES, bytes);
		p += OP_BYTES;
	}
}

u64 xfs_log_each(struct xfs_log_image *image,
		 void (*take)(void *ctx, const struct xfs_log_item *item), void *ctx)
{
	unsigned int t;
	size_t i;

	image->errors = 0;
	image->take = take;
	image->ctx = ctx;
	for (t = 0; t < TRANSACTIONS; t++)
		image->transaction[t].used = false;
	for (i = 0; i < image->records; i++)
		read_record(image, &image->record[i]);
	return image->errors;
}
