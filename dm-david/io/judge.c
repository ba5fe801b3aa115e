// SPDX-License-Identifier: GPL-2.0
/*
 * The verdict on each block of a write. In this order, with classify= a(uto), e(xplicit),
 * i(mplicit), d(ata):
 *
 *	evidence			with	who gives it		what it may do
 *	request flags			a e i	the block layer		keep
 *	place and log			i	implicit.h, classifier/	squash, keep
 *	page owner			a e	owner/owner.h		squash, keep
 *	checksums			a e i d	csum-policy.h		keep where none can be kept
 *	end of the mounted file system	a e	extent.h		keep what owners squash
 *	content of the block		a e i	owner/special.h		keep what is squashed so far
 *	the classifier's veto		a	implicit.h		keep what owners squash
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

/* Do all @n words from @p on equal @word? Four at a time: constant blocks are read to the end. */
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

/* What is to be done about the checksums of data: by what is known of all, or of this request. */
static enum csum_policy csum_policy_at(const struct david_io *io, sector_t sector, u32 sectors)
{
	enum csum_policy policy = csum_policy(io->d, &io->top);

	if (policy == CSUM_IGNORE && implied_csum(&io->implied, sector - io->first, sectors))
		return CSUM_KEEP;
	return policy;
}

enum csum_policy csum_policy_of(const struct david_io *io, struct rt_range *r)
{
	unsigned int shift = io->d->store->block_shift;
	sector_t sector = r->start << shift, end = (r->start + r->len) << shift, next;
	enum csum_policy policy = csum_policy(io->d, &io->top);

	/* Known of all, or nobody has told of parts. */
	if (policy != CSUM_IGNORE || !io->implied.runs)
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

/* Where checksums may matter: what is no whole unit, or has one we cannot keep, is kept itself. */
static noinline void judge_csum(struct david_io *io, struct bvec_iter from, unsigned int bytes,
				struct judgement *judged)
{
	enum csum_policy policy;

	if (judged->verdict != VERDICT_SQUASH)
		return;
	csum_policy_watch(io->d, io->bio);
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

/* Look at @bytes of a write from @from on: evidence of every page, and whether it is constant. */
static void judge_pages(struct david_io *io, struct bvec_iter from, unsigned int bytes,
			struct judgement *judged)
{
	struct david *d = io->d;
	bool by_owner = d->classify == CLASSIFY_AUTO || d->classify == CLASSIFY_EXPLICIT;
	struct bvec_iter iter;
	struct bio_vec bv;
	bool first = true;
	u64 *p;

	judged->evidence = DAVID_EV_MODE;
	if (by_owner && (io->bio->bi_opf & (REQ_META | REQ_PRIO | REQ_SWAP)) && !INJECTED(marks)) {
		judged->evidence = DAVID_EV_FLAGS;
		by_owner = false;
	}
	if (unlikely(io->implied.runs) && d->classify == CLASSIFY_IMPLICIT)
		judged->evidence = io->bio->bi_opf & REQ_SWAP ? DAVID_EV_FLAGS :
				 implied_at(&io->implied, from.bi_sector - io->first,
					    bytes >> SECTOR_SHIFT);
	judged->verdict = verdict_of(d->classify, judged->evidence);
	judged->constant = true;

	from.bi_size = bytes;
	__bio_for_each_segment(bv, io->bio, iter, from) {
		/* One page that says metadata is enough to keep the block. */
		if (by_owner && (first || judged->verdict != VERDICT_KEEP)) {
			judged->evidence = owner_evidence(&d->owners, io->top.dev, &io->owners,
							  bv.bv_page);
			judged->verdict = verdict_of(d->classify, judged->evidence);
		}
		if (judged->constant && !((bv.bv_offset | bv.bv_len) & 7)) {
			p = bvec_kmap_local(&bv);
			if (first)
				judged->word = *p;
			judged->constant = all_equal(p, bv.bv_len / 8, judged->word);
			kunmap_local(p);
		} else {
			judged->constant = false;
		}
		first = false;
	}
	if (unlikely(READ_ONCE(d->owners.may_have_csums)))
		judge_csum(io, from, bytes, judged);
}

/* It is data so far. Does its content, or what its pages are, say that it is to be kept? */
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
		judged->evidence = special_evidence(d->owners.raw, io->bio->bi_opf,
						    judged->evidence, &bv, p);
		kunmap_local(p);
	}
	judged->verdict = verdict_of(d->classify, judged->evidence);
}

/* classify=auto: the page owner says data. Does the write itself say something else? */
static noinline void apply_veto(const struct david_io *io, sector_t sector, unsigned int bytes,
				struct judgement *judged)
{
	enum david_evidence implied = implied_at(&io->implied, sector - io->first,
						 bytes >> SECTOR_SHIFT);

	if (io->d->classify != CLASSIFY_AUTO || !verdict_objects(implied, judged->evidence))
		return;
	judged->evidence = implied;
	judged->verdict = VERDICT_KEEP;
}

/* The same, and what the write itself says. */
static __always_inline void judge_bytes(struct david_io *io, struct bvec_iter from,
					unsigned int bytes, struct judgement *judged)
{
	judge_pages(io, from, bytes, judged);
	if (judged->verdict != VERDICT_SQUASH)
		return;
	if (!judged->constant && io->d->classify != CLASSIFY_DATA)
		judge_content(io, from, bytes, judged);
	if (unlikely(io->implied.runs))
		apply_veto(io, from.bi_sector, bytes, judged);
}

static enum rt_kind judged_kind(const struct judgement *judged)
{
	if (judged->constant)
		return RT_FILL;
	return judged->verdict == VERDICT_SQUASH ? RT_SQUASHED : RT_STORED;
}

/*
 * What is judged at a time: a block, or a unit where checksums may matter. From
 * within a unit on only what is left of it.
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
 * Blocks of data on a disk that has rules for what to keep: cut to those that are alike, @step of
 * them at a time.
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

void judge_blocks(struct david_io *io, struct stopwatch *timer, struct span *span)
{
	unsigned int bytes = judge_unit_bytes(io), block_size = io->d->store->block_size;
	u64 left = io->iter.bi_size / block_size, step = bytes / block_size;
	struct bvec_iter iter = io->iter;
	struct judgement first, next;

	judge_bytes(io, iter, bytes, &first);
	span->evidence = first.evidence;
	span->r.start = io_first_block(io);
	span->r.kind = judged_kind(&first);
	span->r.value = span->r.kind == RT_FILL ? first.word : 0;
	for (span->r.len = step; span->r.len + step <= left; span->r.len += step) {
		bio_advance_iter(io->bio, &iter, bytes);
		judge_bytes(io, iter, bytes, &next);
		if (judged_kind(&next) != span->r.kind || next.evidence != span->evidence ||
		    (span->r.kind == RT_FILL && next.word != span->r.value))
			break;
	}
	if (span->r.kind == RT_SQUASHED && raw_any(&io->d->store->raw))
		apply_raw_rules(io, span, step);
	stopwatch_account(timer, DAVID_CPU_CLASSIFY);
}

void judge_part(struct david_io *io, unsigned int bytes, struct judgement *judged)
{
	const struct raw *raw = &io->d->store->raw;

	judge_bytes(io, io->iter, bytes, judged);
	if (judged->verdict == VERDICT_SQUASH && raw_any(raw) &&
	    raw_has_sectors(raw, io->iter.bi_sector, bytes >> SECTOR_SHIFT)) {
		judged->evidence = DAVID_EV_RAW;
		judged->verdict = VERDICT_KEEP;
	}
}

/* Apart, so that its caller has nothing to save for it where nobody traces. */
void trace_verdict(const struct david *d, sector_t sector, u32 sectors,
		   enum david_written written, enum david_evidence evidence)
{
	trace_david_verdict(d->owners.disk.bdev->bd_dev, sector, sectors, written, evidence);
}

void count_blocks(struct david_io *io, const struct span *span, u64 blocks)
{
	struct stats __percpu *stats = io->d->store->stats;
	enum david_written written = DAVID_WRITTEN_KEPT;

	if (span->r.kind != RT_STORED)
		written = span->r.kind == RT_FILL ? DAVID_WRITTEN_FILL : DAVID_WRITTEN_SQUASHED;
	this_cpu_add(stats->evidence[span->evidence], blocks);
	this_cpu_add(stats->verdict[written], blocks);
	if (trace_david_verdict_enabled())
		trace_verdict(io->d, span->r.start << io->d->store->block_shift,
			      blocks << io->d->store->block_shift, written, span->evidence);
}
