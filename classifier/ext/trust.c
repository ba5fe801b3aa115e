// SPDX-License-Identifier: GPL-2.0
/* How far the order of a volume's writes may be trusted: see trust.h. */
#include "trust.h"

void trust_reset(struct trust *t)
{
	memset(t, 0, sizeof(*t));
	t->next = U32_MAX;
}

static void trust_begin(struct trust *t, const struct jbd2 *j)
{
	trust_reset(t);
	t->begun = true;
	t->at_work = true;
	t->missed = j->count.missed;
}

void trust_told(struct trust *t, const struct jbd2 *j)
{
	trust_begin(t, j);
	t->proved = true;
}

void trust_mount(struct trust *t, const struct jbd2 *j, bool clean, bool durable)
{
	/*
	 * After a crash the mount begins with recovery, which moves the log. If the log has not
	 * moved, the journal is not in use: a mount with ro,noload was made writable.
	 */
	if (!clean && !t->log_moved) {
		trust_reset(t);
		return;
	}
	trust_begin(t, j);
	t->proved = durable;
	t->opening = !durable;
	/* Until flushes are seen, this may be a copy of a superblock by another writer. */
	t->at_work = durable;
}

void trust_looked(struct trust *t)
{
	t->at_work = false;
	t->log_moved = false;
}

void trust_foreign(struct trust *t)
{
	t->at_work = false;
	t->broken = true;
}

/* Blocks of the log from @from to @to, in a ring. */
static u32 trust_log_distance(const struct jbd2 *j, u32 from, u32 to)
{
	return to >= from ? to - from : to + jbd2_log_blocks(j) - from;
}

static bool seen_before(struct trust *t, u32 logical)
{
	u32 i;

	for (i = 0; i < min(t->nr_seen, TRUST_SEEN); i++)
		if (t->seen[i] == logical)
			return true;
	t->seen[t->nr_seen++ % TRUST_SEEN] = logical;
	return false;
}

static bool is_older(const struct trust *t, u32 tid)
{
	if (t->blocks)
		return jbd2_before(tid, t->tid);
	return t->next != U32_MAX && !jbd2_before(t->tid, tid);
}

/* A descriptor or revoke block announces @blocks of transaction @tid. */
static void trust_describe(struct trust *t, const struct jbd2 *j, u32 tid, u32 logical, u32 blocks,
			   u64 flushes)
{
	if (t->blocks && t->tid != tid)
		t->broken = true;	/* the commit in between did not come */
	if (!t->blocks || t->tid != tid) {
		t->tid = tid;
		t->blocks = 0;
		t->nr_seen = 0;
		t->start = logical;
	}
	if (seen_before(t, logical))
		return;
	/* They may come in any order. */
	if (trust_log_distance(j, logical, t->start) < jbd2_log_blocks(j) / 2)
		t->start = logical;
	t->blocks += blocks;
	t->described = flushes;
}

static bool trust_commit(struct trust *t, const struct jbd2 *j, u32 tid, u32 logical, u64 flushes)
{
	u32 start = t->next == U32_MAX ? t->start : t->next;

	/* A transaction may have nothing to log. */
	if (!t->blocks || t->tid != tid) {
		t->broken |= t->next != U32_MAX && t->next != logical;
	} else {
		t->broken |= trust_log_distance(j, start, logical) != t->blocks ||
		t->described == flushes;
		if (t->begun && !t->broken)
			t->proved = true;
	}
	if (j->count.missed != t->missed)
		t->begun = false;
	t->tid = tid;
	t->blocks = 0;
	t->next = logical + 1 == j->first + jbd2_log_blocks(j) ? j->first : logical + 1;
	t->at_work = true;
	return true;
}

bool trust_control(struct trust *t, const struct jbd2 *j, enum jbd2_block_kind kind, u32 tid,
		   u32 logical, u32 tags, u64 flushes)
{
	switch (kind) {
	case JBD2_SUPER:
		t->log_moved = true;
		return false;
	case JBD2_DESCRIPTOR:
		if (!is_older(t, tid))
			trust_describe(t, j, tid, logical, tags + 1, flushes);
		return false;
	case JBD2_REVOKE:
		if (!is_older(t, tid))
			trust_describe(t, j, tid, logical, 1, flushes);
		return false;
	case JBD2_COMMIT:
		return !is_older(t, tid) && trust_commit(t, j, tid, logical, flushes);
	default:
		return false;
	}
}
