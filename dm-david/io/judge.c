// SPDX-License-Identifier: GPL-2.0
/*
 * The verdict on each block of a write. In this order, with classify= a(uto), e(xplicit),
 * i(mplicit), d(ata):
 *
 *	evidence			with	who gives it		what it may do
 *	request flags			a e i	the block layer		keep; with i only REQ_SWAP
 *	place and log			i	implicit.h, classifier/	squash, keep
 *	page owner			a e	owner/owner.h		squash, keep
 *	checksums			a e i d	csum-policy.h		keep where none can be kept
 *	end of the mounted file system	a e	extent.h		keep what is anonymous there
 *	content of the block		a e i	owner/special.h		keep what the above squash
 *	the classifier's veto		a	implicit.h		keep what owners squash
 *	made-up content			a e	lib/content.h		squash copies without owner
 *	content of RAW files		a e	twin.h			keep what the above squash
 *	RAW rules			a e i d	store/raw.h		keep what all others squash
 *
 * A block that is one repeated word becomes that word, whatever it is. docs/CLASSIFICATION.md has
 * the reasons.
 *
 * Locking: a RAW rule, or content that looks like a quota file, takes the inode's i_lock, and names
 * take rename_lock. Nothing here sleeps. Process context.
 */
#include "io.h"

#include <linux/highmem.h>
#include "../base/inject.h"
#include "../owner/special.h"
#include "../timing/trace.h"
#include "extent.h"
#include "twin.h"

/*
 * Do all @n words from @p on equal @word? A constant block is compared to its end, so the loop
 * compares four words at a time.
 */
static bool all_equal(const u64 *p, unsigned int n, u64 word)
{
	for (; n >= 4; n -= 4, p += 4)
		if ((p[0] ^ word) | (p[1] ^ word) | (p[2] ^ word) | (p[3] ^ word))
			return false;
	for (; n; n--, p++)
		if (*p != word)
			return false;
	return true;
}

/*
 * The checksum policy for data at @sector. What is known of the whole disk counts first, then what
 * the classifier said of this request.
 */
static enum csum_policy csum_policy_at(const struct david_io *io, sector_t sector, u32 sectors)
{
	enum csum_policy policy = csum_policy(io->d, &io->top);

	if (policy == CSUM_IGNORE &&
	    implicit_evidence_has_csum(&io->implicit, sector - io->first, sectors))
		return CSUM_KEEP;
	return policy;
}

enum csum_policy csum_policy_of(const struct david_io *io, struct rt_range *r)
{
	unsigned int shift = io->d->store->block_shift;
	sector_t sector = r->start << shift, end = (r->start + r->len) << shift, next;
	enum csum_policy policy = csum_policy(io->d, &io->top);

	/* The whole disk has a policy, or the classifier said nothing of this request. */
	if (policy != CSUM_IGNORE || !io->implicit.runs)
		return policy;
	for (; sector < end; sector = next) {
		next = min(round_down(sector, CSUM_SECTORS) + CSUM_SECTORS, end);
		if (sector == r->start << shift)
			policy = csum_policy_at(io, sector, next - sector);
		else if (csum_policy_at(io, sector, next - sector) != policy)
			break;
	}
	r->len = (sector >> shift) - r->start;
	return policy;
}

/*
 * Called only if the disk may have checksums. Data is kept if its checksum would be lost: a part of
 * a unit has none of its own, and CSUM_REFUSE says that the checksum cannot be recorded.
 */
static noinline void judge_csum(struct david_io *io, struct bvec_iter from, unsigned int bytes,
				struct judgement *judged)
{
	enum csum_policy policy;

	if (judged->verdict != VERDICT_SQUASH)
		return;
	csum_policy_watch(io->d, io_first_sector(io), bio_sectors(io->bio));
	policy = csum_policy_at(io, from.bi_sector, bytes >> SECTOR_SHIFT);
	if (policy == CSUM_IGNORE)
		return;
	if (policy == CSUM_REFUSE)
		judged->evidence = DAVID_EV_UNPROVEN;
	else if (bytes < CSUM_UNIT || from.bi_sector % CSUM_SECTORS)
		judged->evidence = DAVID_EV_PARTIAL;
	else
		return;
	judged->verdict = VERDICT_KEEP;
}

/* Judge the next page, the @first or a further one. One page of metadata is enough to keep all. */
static __always_inline void judge_page(struct david_io *io, struct bio_vec *bv, bool by_owner,
				       bool first, struct judgement *judged)
{
	struct david *d = io->d;
	u64 *p;

	if (by_owner && (first || judged->verdict != VERDICT_KEEP)) {
		judged->evidence = owner_evidence(&d->owners, &io->top, &io->owners, bv->bv_page);
		judged->verdict = verdict_of(d->classify, judged->evidence);
	}
	if (judged->constant && !((bv->bv_offset | bv->bv_len) & 7)) {
		p = bvec_kmap_local(bv);
		if (first)
			judged->word = *p;
		/* What is not constant mostly shows that in the last word. */
		judged->constant = p[bv->bv_len / 8 - 1] == judged->word &&
				   all_equal(p, bv->bv_len / 8, judged->word);
		kunmap_local(p);
	} else {
		judged->constant = false;
	}
}

/* Judge the @bytes from @from on, whose first page is judged. */
static noinline void judge_more_pages(struct david_io *io, struct bvec_iter from,
				      unsigned int bytes, bool by_owner, struct judgement *judged)
{
	struct bvec_iter iter;
	struct bio_vec bv;
	bool first = true;

	from.bi_size = bytes;
	__bio_for_each_segment(bv, io->bio, iter, from) {
		if (!first)
			judge_page(io, &bv, by_owner, false, judged);
		first = false;
	}
}

/*
 * Judge @bytes of a write from @from on by its flags, by the classifier, and by the owner of each
 * page. Also finds out whether the bytes are one repeated word.
 */
static __always_inline void judge_pages(struct david_io *io, const struct bvec_iter *from,
					unsigned int bytes, struct judgement *judged)
{
	struct david *d = io->d;
	bool by_owner = d->classify == CLASSIFY_AUTO || d->classify == CLASSIFY_EXPLICIT;
	struct bio_vec bv = bio_iter_iovec(io->bio, *from);

	judged->evidence = DAVID_EV_MODE;
	if (by_owner && owner_is_marked(io->bio->bi_opf) && !INJECTED(marks) &&
	    !INJECTED(buffers)) {
		judged->evidence = DAVID_EV_FLAGS;
		by_owner = false;
	}
	if (unlikely(io->implicit.runs) && d->classify == CLASSIFY_IMPLICIT)
		judged->evidence = io->bio->bi_opf & REQ_SWAP ? DAVID_EV_FLAGS :
				 implicit_evidence_at(&io->implicit, from->bi_sector - io->first,
						      bytes >> SECTOR_SHIFT);
	/* By owner, the first page's verdict is the first. */
	judged->verdict = by_owner ? VERDICT_KEEP : verdict_of(d->classify, judged->evidence);
	judged->constant = true;
	judged->word = 0;

	bv.bv_len = min(bv.bv_len, bytes);
	judge_page(io, &bv, by_owner, true, judged);
	if (unlikely(bv.bv_len < bytes))
		judge_more_pages(io, *from, bytes, by_owner, judged);
	if (unlikely(READ_ONCE(d->owners.may_have_csums)))
		judge_csum(io, *from, bytes, judged);
}

/* Do @len bytes of the write from @from on, @pos bytes behind its sector, equal made-up content? */
static bool equals_content(const struct david_io *io, const struct content *content,
			   struct bvec_iter from, unsigned int pos, unsigned int len)
{
	sector_t sector = from.bi_sector;
	struct bvec_iter iter;
	struct bio_vec bv;
	unsigned int at, n;
	bool equal = true;
	u8 made[128];
	u8 *p;

	bio_advance_iter(io->bio, &from, pos);
	from.bi_size = len;
	__bio_for_each_segment(bv, io->bio, iter, from) {
		p = bvec_kmap_local(&bv);
		for (at = 0; equal && at < bv.bv_len; at += n) {
			n = min_t(unsigned int, bv.bv_len - at, sizeof(made));
			content_fill(made, content, io->d->seed, sector, pos, n);
			equal = !memcmp(made, p + at, n);
			pos += n;
		}
		kunmap_local(p);
		if (!equal)
			break;
	}
	return equal;
}

/*
 * Of 512 blocks that are no copies, the first word tells all but one. Where pages of content do not
 * begin with blocks, and of other kinds, it tells nothing. What is one repeated word has constant
 * blocks, not copies.
 */
void judge_content_changed(struct david *d)
{
	u64 mask = 0, mark = 0;

	switch (d->content.kind) {
	case CONTENT_INCOMPRESSIBLE:
	case CONTENT_COMPRESSIBLE:
		if (d->store->block_size == CSUM_UNIT) {
			mask = (__force u64)cpu_to_le64(CONTENT_MARK);
			mark = (__force u64)cpu_to_le64(content_mark(d->seed));
		}
		break;
	case CONTENT_ZEROS:
	case CONTENT_PATTERN:
		mark = 1;
		break;
	default:
		break;
	}
	/* Who sees one without the other compares for nothing, or keeps a copy. */
	WRITE_ONCE(d->copy_mask, mask);
	WRITE_ONCE(d->copy_mark, mark);
}

static __always_inline bool may_be_copy(const struct david *d, const struct judgement *judged)
{
	return (judged->word & READ_ONCE(d->copy_mask)) == READ_ONCE(d->copy_mark) &&
	       !judged->constant && (judged->evidence == DAVID_EV_UNOWNED ||
				     judged->evidence == DAVID_EV_UNMOUNTED);
}

/*
 * A mirror is resynced, or a volume moved: what was squashed is read, made up, and written to where
 * it would be made up the same. It is squashed there, too, and reads as it was written. A block
 * with a checksum has its last four bytes by that (store/csum.h): squash it with its checksum.
 */
static noinline void judge_copy(struct david_io *io, struct bvec_iter from, unsigned int bytes,
				struct judgement *judged)
{
	bool is_unit = bytes == CSUM_UNIT && !(from.bi_sector % CSUM_SECTORS);
	struct content content = david_content(io->d);

	if (!equals_content(io, &content, from, 0, bytes - 4))
		return;
	if (!equals_content(io, &content, from, bytes - 4, 4) && !INJECTED(copy)) {
		if (!is_unit || !owner_expect_csums(&io->d->owners))
			return;
	} else if (!is_unit && READ_ONCE(io->d->owners.may_have_csums)) {
		return;
	}
	judged->evidence = DAVID_EV_MADE_UP;
	judged->verdict = VERDICT_SQUASH;
}

/* The evidence so far says data. The end of the file system, or the content, may still object. */
static noinline void judge_content(const struct david_io *io, struct bvec_iter from,
				   unsigned int bytes, struct judgement *judged)
{
	struct david *d = io->d;
	struct bvec_iter iter;
	struct bio_vec bv;
	void *p;

	if (judged->evidence == DAVID_EV_ANON &&
	    extent_behind(d, &io->top, from.bi_sector + (bytes >> SECTOR_SHIFT))) {
		judged->evidence = DAVID_EV_UNMOUNTED;
		judged->verdict = VERDICT_KEEP;
		return;
	}
	from.bi_size = bytes;
	__bio_for_each_segment(bv, io->bio, iter, from) {
		p = bvec_kmap_local(&bv);
		judged->evidence = special_evidence(d->owners.raw, io->top.is_direct,
						    judged->evidence, &bv, p);
		kunmap_local(p);
	}
	judged->verdict = verdict_of(d->classify, judged->evidence);
}

/* classify=auto: the page owner says data. The classifier may object. */
static noinline void apply_veto(const struct david_io *io, sector_t sector, unsigned int bytes,
				struct judgement *judged)
{
	enum david_evidence implicit = implicit_evidence_at(&io->implicit, sector - io->first,
							    bytes >> SECTOR_SHIFT);

	if (io->d->classify != CLASSIFY_AUTO || !verdict_objects(implicit, judged->evidence) ||
	    INJECTED(buffers))
		return;
	judged->evidence = implicit;
	judged->verdict = VERDICT_KEEP;
}

/* The verdict on @bytes from @from on, but for the RAW rules. */
static __always_inline void judge_bytes(struct david_io *io, const struct bvec_iter *from,
					unsigned int bytes, struct judgement *judged)
{
	judge_pages(io, from, bytes, judged);
	if (judged->verdict != VERDICT_SQUASH) {
		if (unlikely(may_be_copy(io->d, judged)))
			judge_copy(io, *from, bytes, judged);
		if (unlikely(judged->evidence == DAVID_EV_RAW) && twin_any(io->d))
			twin_judge(io, from, bytes, judged);
		return;
	}
	if (!judged->constant && io->d->classify != CLASSIFY_DATA)
		judge_content(io, *from, bytes, judged);
	if (unlikely(io->implicit.runs))
		apply_veto(io, from->bi_sector, bytes, judged);
	if (twin_any(io->d))
		twin_judge(io, from, bytes, judged);
}

static enum rt_kind judged_kind(const struct judgement *judged)
{
	if (judged->constant)
		return RT_FILL;
	return judged->verdict == VERDICT_SQUASH ? RT_SQUASHED : RT_STORED;
}

/*
 * How many bytes are judged at a time: a block. If the disk may have checksums, a unit, or what is
 * left of a unit if the request begins within one.
 */
static unsigned int judge_unit_bytes(const struct david_io *io)
{
	unsigned int block_size = io->d->store->block_size, bytes;

	if (likely(block_size == CSUM_UNIT || !READ_ONCE(io->d->owners.may_have_csums)))
		return block_size;
	bytes = CSUM_UNIT - ((io->iter.bi_sector % CSUM_SECTORS) << SECTOR_SHIFT);
	return min(bytes, round_down(io->iter.bi_size, block_size));
}

/*
 * @span is data, and the disk has RAW rules. Shorten @span to the blocks that a rule treats alike,
 * in steps of @step blocks, and keep them if a rule says so.
 */
static noinline void apply_raw_rules(struct david_io *io, struct span *span, u64 step)
{
	struct store *store = io->d->store;
	unsigned int shift = store->block_shift;
	u64 block = span->r.start, end = block + span->r.len;
	bool keep = raw_has_sectors(&store->raw, block << shift, step << shift);

	while ((block += step) < end)
		if (raw_has_sectors(&store->raw, block << shift, step << shift) != keep)
			break;
	span->r.len = block - span->r.start;
	if (keep) {
		span->r.kind = RT_STORED;
		span->evidence = DAVID_EV_RAW;
	}
}

/* @span is the first @bytes of the request. Add to it what is judged alike, @bytes at a time. */
static noinline void judge_more_blocks(struct david_io *io, unsigned int bytes, struct span *span)
{
	unsigned int shift = io->d->store->block_shift + SECTOR_SHIFT;
	u64 left = io->iter.bi_size >> shift, step = bytes >> shift;
	struct bvec_iter iter = io->iter;
	struct judgement next;

	for (; span->r.len + step <= left; span->r.len += step) {
		bio_advance_iter(io->bio, &iter, bytes);
		judge_bytes(io, &iter, bytes, &next);
		if (judged_kind(&next) != span->r.kind || next.evidence != span->evidence ||
		    (span->r.kind == RT_FILL && next.word != span->r.value))
			break;
	}
}

void judge_blocks(struct david_io *io, struct stopwatch *timer, struct span *span)
{
	unsigned int bytes = judge_unit_bytes(io), shift = io->d->store->block_shift;
	struct judgement first __uninit;
	u64 step = bytes >> (shift + SECTOR_SHIFT);

	judge_bytes(io, &io->iter, bytes, &first);
	span->evidence = first.evidence;
	span->r.start = io->iter.bi_sector >> shift;
	span->r.len = step;
	span->r.kind = judged_kind(&first);
	span->r.value = span->r.kind == RT_FILL ? first.word : 0;
	if (bytes < io->iter.bi_size)
		judge_more_blocks(io, bytes, span);
	if (span->r.kind == RT_SQUASHED && raw_any(&io->d->store->raw))
		apply_raw_rules(io, span, step);
	stopwatch_account(timer, DAVID_CPU_CLASSIFY);
}

void judge_part(struct david_io *io, unsigned int bytes, struct judgement *judged)
{
	const struct raw *raw = &io->d->store->raw;

	judge_bytes(io, &io->iter, bytes, judged);
	if (judged->verdict == VERDICT_SQUASH && raw_any(raw) &&
	    raw_has_sectors(raw, io->iter.bi_sector, bytes >> SECTOR_SHIFT)) {
		judged->evidence = DAVID_EV_RAW;
		judged->verdict = VERDICT_KEEP;
	}
}

/* A function of its own, so that its caller saves no registers for it while nobody traces. */
void trace_verdict(const struct david *d, sector_t sector, u32 sectors,
		   enum david_written written, enum david_evidence evidence)
{
	trace_david_verdict(d->owners.disk.bdev->bd_dev, sector, sectors, written, evidence);
}
