// SPDX-License-Identifier: GPL-2.0
/*
 * Snooping an xfs log: see xfs-log.h. The formats are those of the kernel's
 * xfs_log_format.h and xfs_log_recover.c: all big-endian but the items
 * themselves, which are as the writing machine has them. Only little-endian
 * ones are read; others leave the log incomplete permanently.
 */
#include "xfs-log.h"

#define SECTOR_BYTES	512
#define MOST_BYTES	(256 * 1024)	/* of a record */
#define LITTLE_ENDIAN_ITEMS	1
#define EXTENDED_WORDS	64		/* first words in each sector of header */

#define CLIENT_TRANSACTION	0x69
#define OP_START	0x01
#define OP_COMMIT	0x02
#define OP_CONTINUES	0x04
#define OP_CONTINUED	0x08

#define BUFFER_ITEM	0x123c
#define BUFFER_CANCEL	0x02
#define BUFFER_TYPE(flags)	((flags) >> 11)
#define BUFFER_MOST	128		/* sectors: 64 KiB, the largest directory block */

/*
 * Buffers that carry their file system's name in each block: quota, btrees, group
 * headers, inodes, attributes, superblock.
 */
#define NAMED_TYPES	(BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(7) | BIT(8) | \
			 BIT(16) | BIT(17) | BIT(18))

void xfs_log_init(struct xfs_log *l, const struct xfs_log_geo *geo)
{
	struct logset set = l->set;

	BUILD_BUG_ON(offsetof(struct xfs_log_header, uuid) != 304);
	memset(l, 0, sizeof(*l));
	l->geo = *geo;
	l->set = set;
	logset_clear(&l->set);
}

static u64 xfs_log_position(const struct xfs_log *l, u32 cycle, u32 place)
{
	return (u64)cycle * l->geo.sectors + place;
}

static u64 xfs_log_head(const struct xfs_log *l)
{
	return xfs_log_position(l, l->head_cycle, l->head_block);
}

/* Forget what is in the log. @fresh: because a mount begins. */
static void xfs_log_forget(struct xfs_log *l, bool fresh)
{
	l->joined = false;
	l->complete = false;
	l->at_rest = false;
	l->fresh = fresh;
	l->expired = 0;
	if (l->set.used)
		logset_clear(&l->set);
}

static void xfs_log_missed(struct xfs_log *l)
{
	l->count.missed++;
	xfs_log_forget(l, false);
}

static void xfs_log_count_bad(struct xfs_log *l)
{
	l->count.bad++;
	xfs_log_missed(l);
}

void xfs_log_mount(struct xfs_log *l)
{
	if (!l->at_rest)
		xfs_log_forget(l, l->fresh);
}

/* @at as a short number, for logset. The log's length is a small part of its range. */
static u32 xfs_log_age(const struct xfs_log *l, u64 at)
{
	int bits = fls64(l->geo.sectors);

	return at >> (bits > 13 ? bits - 13 : 0);
}

static bool xfs_log_add(struct xfs_log *l, u64 block)
{
	u64 now = xfs_log_head(l);

	if (logset_add(&l->set, block, xfs_log_age(l, now)))
		return true;
	/*
	 * No room: drop blocks that are home. That looks at the whole set, so only for a new tail.
	 */
	if (l->expired == l->tail)
		return false;
	l->expired = l->tail;
	return logset_expire(&l->set, xfs_log_age(l, l->tail), xfs_log_age(l, now)) &&
	       logset_add(&l->set, block, xfs_log_age(l, now));
}

/* Only what is as large as all of a format's fields can be one. */
static void take_format(struct xfs_log *l)
{
	u32 flags = get_unaligned_le16(l->now.format + 4);
	u32 sectors = get_unaligned_le16(l->now.format + 6);
	u32 unit = 1u << l->geo.block_shift;
	u64 at = get_unaligned_le64(l->now.format + 8);

	if (flags & BUFFER_CANCEL || NAMED_TYPES >> BUFFER_TYPE(flags) & 1)
		return;
	/* No directory block; as likely as not the beginning of some content. */
	if (!sectors || sectors > BUFFER_MOST || (at | sectors) & (unit - 1) ||
	    at >> LOGSET_BLOCK_BITS)
		return;
	l->count.formats++;
	for (; sectors; at += unit, sectors -= unit) {
		if (xfs_log_add(l, at >> l->geo.block_shift))
			continue;
		xfs_log_missed(l);
		return;
	}
}

static void take_format_bytes(struct xfs_log *l, const u8 *p, u32 n)
{
	n = min(n, XFS_LOG_FORMAT_BYTES - l->now.format_bytes);
	memcpy(l->now.format + l->now.format_bytes, p, n);
	l->now.format_bytes += n;
	if (l->now.rest)
		return;
	if (l->now.format_bytes >= 2 && get_unaligned_le16(l->now.format) != BUFFER_ITEM) {
		l->now.wanted = false;
	} else if (l->now.format_bytes == XFS_LOG_FORMAT_BYTES) {
		l->now.wanted = false;
		take_format(l);
	}
}

/* Were all sectors between two positions read? @from: of a record; @to: later. */
static bool xfs_log_is_whole(const struct xfs_log *l, u64 from, u64 to)
{
	unsigned int i;

	for (i = 0; i < XFS_LOG_RUNS; i++)
		if (from >= l->run[i].start && to <= l->run[i].end)
			return true;
	return to <= l->seen;
}

/* The beginning of a format of transaction @id that goes on in the record at @at. */
static struct xfs_log_part *find_first(struct xfs_log *l, u32 id, u64 at)
{
	struct xfs_log_part *p, *found = NULL;

	for (p = l->first; p < l->first + XFS_LOG_PARTS; p++)
		if (p->used && p->id == id && p->at < at && (!found || p->at > found->at))
			found = p;
	return found && xfs_log_is_whole(l, found->at, at) ? found : NULL;
}

static void add_part(struct xfs_log *l, struct xfs_log_part *parts)
{
	unsigned int i;

	for (i = 0; i < XFS_LOG_PARTS && parts[i].used; i++)
		;
	if (i == XFS_LOG_PARTS) {
		xfs_log_missed(l);
		return;
	}
	parts[i].used = true;
	parts[i].id = l->now.id;
	parts[i].at = l->now.start;
	parts[i].bytes = l->now.format_bytes;
	memcpy(parts[i].format, l->now.format, XFS_LOG_FORMAT_BYTES);
}

/* The operation's region may be the rest of a format. */
static void resume_format(struct xfs_log *l)
{
	struct xfs_log_part *first = find_first(l, l->now.id, l->now.start);

	l->now.format_bytes = 0;
	l->now.wanted = first || l->now.start != l->seen;
	l->now.rest = !first;
	if (!first)
		return;
	first->used = false;
	memcpy(l->now.format, first->format, XFS_LOG_FORMAT_BYTES);
	l->now.format_bytes = first->bytes;
}

static void end_operation(struct xfs_log *l)
{
	if (l->now.wanted && l->now.rest)
		add_part(l, l->rests);
	else if (l->now.wanted && l->now.continued)
		add_part(l, l->first);
	l->now.operations--;
	l->now.operation_bytes = 0;
}

/* The operation's header is complete. */
static void begin_operation(struct xfs_log *l)
{
	u32 flags = l->now.operation[9], client = l->now.operation[8];

	l->now.id = get_unaligned_be32(l->now.operation);
	l->now.left = get_unaligned_be32(l->now.operation + 4);
	if ((client != CLIENT_TRANSACTION && client != XFS_LOG_CLIENT) ||
	    l->now.left > MOST_BYTES) {
		xfs_log_count_bad(l);
		return;
	}
	l->now.unmount |= client == XFS_LOG_CLIENT && flags & XFS_LOG_UNMOUNT;
	l->now.continued = flags & OP_CONTINUES;
	if (flags & OP_CONTINUED) {
		resume_format(l);
	} else {
		l->now.wanted = client == CLIENT_TRANSACTION && !(flags & (OP_START | OP_COMMIT));
		l->now.rest = false;
		l->now.format_bytes = 0;
	}
	if (!l->now.left)
		end_operation(l);
}

static void read_content(struct xfs_log *l, const u8 *p)
{
	const u8 *end = p + SECTOR_BYTES;
	u32 n;

	while (p < end && l->now.operations && l->joined) {
		if (l->now.operation_bytes < sizeof(l->now.operation)) {
			n = min_t(u32, end - p, sizeof(l->now.operation) - l->now.operation_bytes);
			memcpy(l->now.operation + l->now.operation_bytes, p, n);
			l->now.operation_bytes += n;
			p += n;
			if (l->now.operation_bytes == sizeof(l->now.operation))
				begin_operation(l);
			continue;
		}
		n = min_t(u32, end - p, l->now.left);
		if (l->now.wanted)
			take_format_bytes(l, p, n);
		p += n;
		l->now.left -= n;
		if (!l->now.left)
			end_operation(l);
	}
}

/* Is @h, at @place, a valid header of a record? */
static bool xfs_log_is_header(const struct xfs_log *l, u32 place, const struct xfs_log_header *h)
{
	u32 bytes = be32_to_cpu(h->bytes), size = be32_to_cpu(h->size);

	return be32_to_cpu(h->magic) == XFS_LOG_MAGIC && be32_to_cpu(h->version) == 2 &&
	       be32_to_cpu(h->format) == LITTLE_ENDIAN_ITEMS &&
	       !memcmp(h->uuid, l->geo.uuid, sizeof(h->uuid)) &&
	       be32_to_cpu(h->lsn_block) == place && h->lsn_cycle == h->cycle &&
	       bytes <= MOST_BYTES && size <= MOST_BYTES &&
	       DIV_ROUND_UP(bytes, SECTOR_BYTES) <= xfs_log_headers(h) * EXTENDED_WORDS;
}

static u64 tail_of(const struct xfs_log *l, const struct xfs_log_header *h)
{
	return xfs_log_position(l, be32_to_cpu(h->tail_cycle), be32_to_cpu(h->tail_block));
}

static void xfs_log_read_header(struct xfs_log *l, const struct xfs_log_header *h)
{
	u64 at = xfs_log_head(l), tail = tail_of(l, h);

	if (!xfs_log_is_header(l, l->head_block, h) || be32_to_cpu(h->cycle) != l->head_cycle ||
	    !h->bytes || tail > at || tail + l->geo.sectors < at) {
		xfs_log_count_bad(l);
		return;
	}
	l->now.start = at;
	l->now.headers = xfs_log_headers(h);
	l->now.content = DIV_ROUND_UP(be32_to_cpu(h->bytes), SECTOR_BYTES);
	l->now.at = 0;
	l->now.operations = 0;
	l->now.unmount = false;
	/* From before it was joined. */
	if (at < l->base)
		return;
	l->count.records++;
	l->at_rest = false;
	l->highest = max(l->highest, at);
	l->tail = tail;
	if (l->proofs && tail >= l->complete_from)
		l->proofs--;
	l->complete = !l->proofs;
	l->now.operations = be32_to_cpu(h->operations);
	l->now.operation_bytes = 0;
	memcpy(l->now.first_word, h->cycle_data, sizeof(h->cycle_data));
}

/*
 * A gap was closed: join the parts of formats on both sides, and drop parts that cannot be joined.
 */
static void join_parts(struct xfs_log *l)
{
	struct xfs_log_part *rest, *first;
	unsigned int round;

	/* One's rest has no rest of its own: formats are short. */
	for (round = 0; round < XFS_LOG_PARTS; round++) {
		struct xfs_log_part *next = NULL;

		/* The earliest first. */
		for (rest = l->rests; rest < l->rests + XFS_LOG_PARTS; rest++)
			if (rest->used && find_first(l, rest->id, rest->at) &&
			    (!next || rest->at < next->at))
				next = rest;
		if (!next)
			break;
		first = find_first(l, next->id, next->at);
		next->used = false;
		first->used = false;
		memcpy(l->now.format, first->format, XFS_LOG_FORMAT_BYTES);
		l->now.format_bytes = first->bytes;
		l->now.rest = false;
		take_format_bytes(l, next->format, next->bytes);
	}
	for (rest = l->rests; rest < l->rests + XFS_LOG_PARTS; rest++)
		rest->used &= rest->at >= l->seen;
}

static void xfs_log_add_run(struct xfs_log *l, u64 start, u64 end)
{
	unsigned int i;

	/* Joined with its neighbours, or with what was read before it. */
	for (i = 0; i < XFS_LOG_RUNS; i++) {
		if (l->run[i].end == start)
			start = l->run[i].start;
		else if (l->run[i].start == end && end)
			end = l->run[i].end;
		else
			continue;
		l->run[i].start = 0;
		l->run[i].end = 0;
	}
	if (start == l->seen) {
		l->seen = end;
		join_parts(l);
		return;
	}
	for (i = 0; i < XFS_LOG_RUNS && l->run[i].end; i++)
		;
	if (i == XFS_LOG_RUNS) {
		xfs_log_missed(l);
		return;
	}
	l->run[i].start = start;
	l->run[i].end = end;
	join_parts(l);
}

/* Was the sector at this position read? */
static bool was_read(const struct xfs_log *l, u64 at)
{
	unsigned int i;

	for (i = 0; i < XFS_LOG_RUNS; i++)
		if (at >= l->run[i].start && at < l->run[i].end)
			return true;
	return at >= l->base && at < l->seen;
}

static void forget_parts(struct xfs_log *l)
{
	memset(l->first, 0, sizeof(l->first));
	memset(l->rests, 0, sizeof(l->rests));
}

/* The last record is that of an unmount: everything is home. */
static void xfs_log_rest(struct xfs_log *l)
{
	l->at_rest = true;
	l->complete = true;
	l->proofs = 0;
	l->complete_from = xfs_log_head(l);
	if (l->set.used)
		logset_clear(&l->set);
	forget_parts(l);
}

/* All of the record was read. */
static void end_record(struct xfs_log *l)
{
	l->now.headers = 0;
	if (l->now.operations) {
		xfs_log_count_bad(l);
		return;
	}
	if (l->now.start < l->base)
		return;
	xfs_log_add_run(l, l->now.start, xfs_log_head(l));
	if (!l->now.unmount || !l->joined)
		return;
	/* It is the last one. */
	if (l->seen != xfs_log_head(l)) {
		xfs_log_missed(l);
		return;
	}
	xfs_log_rest(l);
}

/* The sector at ->head is @sector. */
static void read_sector(struct xfs_log *l, const void *sector)
{
	u8 whole[SECTOR_BYTES];
	u32 n;

	memcpy(l->last[l->head_block % XFS_LOG_REMEMBERED], sector, SECTOR_BYTES);
	if (!l->now.headers) {
		xfs_log_read_header(l, sector);
	} else if (l->now.at < l->now.headers) {
		memcpy(l->now.first_word + l->now.at * EXTENDED_WORDS, sector + sizeof(__be32),
		       EXTENDED_WORDS * sizeof(__be32));
	} else {
		n = l->now.at - l->now.headers;
		memcpy(whole, sector, sizeof(whole));
		memcpy(whole, &l->now.first_word[n], sizeof(l->now.first_word[n]));
		read_content(l, whole);
	}
	if (!l->joined)
		return;
	l->now.at++;
	if (++l->head_block == l->geo.sectors) {
		l->head_block = 0;
		l->head_cycle++;
	}
	if (l->now.at == l->now.headers + l->now.content)
		end_record(l);
}

/* Pause the record that is being read, if there is one. @spare places must stay free. */
static bool pause_record(struct xfs_log *l, unsigned int spare)
{
	unsigned int i, n, room = 0;

	if (!l->now.headers)
		return true;
	for (n = 0, i = 0; n < XFS_LOG_BESIDE; n++) {
		if (l->paused[n].record.headers)
			continue;
		room++;
		i = n;
	}
	if (room <= spare)
		return false;
	l->paused[i].record = l->now;
	l->paused[i].block = l->head_block;
	l->paused[i].cycle = l->head_cycle;
	l->now.headers = 0;
	return true;
}

/* If a paused record goes on with this sector, resume it. */
static bool resume_record(struct xfs_log *l, u32 place, u32 cycle)
{
	unsigned int i;

	for (i = 0; i < XFS_LOG_BESIDE; i++)
		if (l->paused[i].record.headers && l->paused[i].block == place &&
		    l->paused[i].cycle == cycle)
			break;
	if (i == XFS_LOG_BESIDE || !pause_record(l, 0))
		return false;
	l->now = l->paused[i].record;
	l->paused[i].record.headers = 0;
	l->head_block = place;
	l->head_cycle = cycle;
	return true;
}

static bool is_within(const struct xfs_log_record *r, u64 at)
{
	return r->headers && at >= r->start && at < r->start + r->headers + r->content;
}

/* Is this a sector of a record that has begun? */
static bool is_begun(const struct xfs_log *l, u64 at)
{
	unsigned int i;

	for (i = 0; i < XFS_LOG_BESIDE; i++)
		if (is_within(&l->paused[i].record, at))
			return true;
	return is_within(&l->now, at);
}

/* Go on from here. */
static void xfs_log_begin(struct xfs_log *l, u32 place, u32 cycle)
{
	u64 at = xfs_log_position(l, cycle, place);
	unsigned int i;

	l->joined = true;
	l->head_block = place;
	l->head_cycle = cycle;
	l->now.headers = 0;
	for (i = 0; i < XFS_LOG_BESIDE; i++)
		l->paused[i].record.headers = 0;
	l->base = at;
	l->seen = at;
	memset(l->run, 0, sizeof(l->run));
	l->complete_from = max(at, l->highest);
	l->proofs = l->fresh ? 1 : 2;
	l->fresh = false;
	forget_parts(l);
}

/* While nothing is known of the log: if @h is the header of a record at @place, follow the log. */
static void xfs_log_join(struct xfs_log *l, u32 place, const struct xfs_log_header *h)
{
	if (!xfs_log_is_header(l, place, h) || !h->bytes)
		return;
	xfs_log_begin(l, place, be32_to_cpu(h->cycle));
	read_sector(l, h);
}

/*
 * Each mount clears what is behind the log's end with headers of empty records, of
 * the cycle before, that name the tail.
 */
static void xfs_log_clear(struct xfs_log *l, u32 place, const struct xfs_log_header *h)
{
	u64 tail = tail_of(l, h);

	/* One of them is as good as all, and the page cache may write them again. */
	if (tail == l->cleared)
		return;
	l->cleared = tail;
	if (l->at_rest && xfs_log_position(l, be32_to_cpu(h->cycle) + 1, place) >= xfs_log_head(l))
		return;
	xfs_log_forget(l, true);
	l->look = true;
	l->end_block = place;
	l->end_cycle = be32_to_cpu(h->cycle) + 1;
}

bool xfs_log_want(struct xfs_log *l, u32 *place, u32 *sectors)
{
	if (!l->look)
		return false;
	l->look = false;
	*sectors = min_t(u32, l->end_block, XFS_LOG_REMEMBERED);
	*place = l->end_block - *sectors;
	return *sectors && !l->joined;
}

/* Do the @sectors at @content, which end where the log does, end in the record of an unmount? */
static bool ends_in_unmount(const struct xfs_log *l, const void *content, u32 sectors)
{
	u32 n, headers, rest;

	for (n = 0; n < sectors; n++) {
		const struct xfs_log_header *h = content + n * SECTOR_BYTES;
		const u8 *operation;

		if (!xfs_log_is_header(l, l->end_block - sectors + n, h) ||
		    be32_to_cpu(h->cycle) != l->end_cycle || be32_to_cpu(h->operations) != 1)
			continue;
		headers = xfs_log_headers(h);
		rest = DIV_ROUND_UP(be32_to_cpu(h->bytes), SECTOR_BYTES);
		if (!rest || n + headers + rest != sectors)
			continue;
		operation = content + (n + headers) * SECTOR_BYTES;
		return operation[8] == XFS_LOG_CLIENT && operation[9] & XFS_LOG_UNMOUNT;
	}
	return false;
}

void xfs_log_learn(struct xfs_log *l, const void *content)
{
	/* Another record, or another mount, may have come meanwhile. */
	if (!content || l->joined || !l->fresh ||
	    !ends_in_unmount(l, content, min_t(u32, l->end_block, XFS_LOG_REMEMBERED)))
		return;
	xfs_log_begin(l, l->end_block, l->end_cycle);
	xfs_log_rest(l);
}

/*
 * Is the sector at @place, where @at is due, one that a page cache has written with others of
 * its page: in front of what is new there once more, or behind it?
 */
static bool is_again(const struct xfs_log *l, u32 place, const void *sector, u64 at)
{
	u32 behind = l->head_block >= place ? l->head_block - place :
					      l->head_block + l->geo.sectors - place;

	if (at < xfs_log_head(l) && (!behind || l->geo.sectors - behind < XFS_LOG_REMEMBERED))
		return true;
	return behind && behind <= XFS_LOG_REMEMBERED &&
	       !memcmp(l->last[place % XFS_LOG_REMEMBERED], sector, SECTOR_BYTES);
}

/* The sector at @place is not the next one: another record, a repetition, or another log. */
static void out_of_turn(struct xfs_log *l, u32 place, const void *sector, u32 cycle)
{
	u64 at = xfs_log_position(l, cycle, place);
	bool header = xfs_log_is_header(l, place, sector) && !is_begun(l, at);
	bool before = at < l->base && at + XFS_LOG_AHEAD >= l->base;

	if (is_again(l, place, sector, at))
		return;
	if (header && !was_read(l, at) &&
	    (at < l->base ? before : at < l->seen + XFS_LOG_AHEAD) && pause_record(l, 1)) {
		l->head_block = place;
		l->head_cycle = cycle;
		read_sector(l, sector);
		return;
	}
	xfs_log_missed(l);
	xfs_log_join(l, place, sector);
}

void xfs_log_write(struct xfs_log *l, u32 place, const void *sector)
{
	const struct xfs_log_header *h = sector;
	u32 cycle = be32_to_cpu(h->magic);

	if (cycle == XFS_LOG_MAGIC) {
		cycle = be32_to_cpu(h->cycle);
		if (!h->bytes && xfs_log_is_header(l, place, h)) {
			xfs_log_clear(l, place, h);
			return;
		}
	}
	if (!l->joined) {
		memcpy(l->last[place % XFS_LOG_REMEMBERED], sector, SECTOR_BYTES);
		xfs_log_join(l, place, h);
		return;
	}
	if (place == l->head_block && cycle == l->head_cycle &&
	    (l->now.headers || !was_read(l, xfs_log_head(l))))
		read_sector(l, sector);
	else if (be32_to_cpu(h->magic) != XFS_LOG_MAGIC && resume_record(l, place, cycle))
		read_sector(l, sector);
	else
		out_of_turn(l, place, sector, cycle);
}
