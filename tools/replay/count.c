// SPDX-License-Identifier: GPL-2.0
#include "count.h"

#define STEPS 16 /* bins a doubling */

const char *const outcome_names[OUTCOMES] = {
	"same", "other-error", "unexpected-success", "unexpected-failure", "other-number",
};

const char *const shortage_names[SHORTAGES] = {
	"too-few-descriptors",
	"no-room",
	"no-memory",
};

static u32 bin_of(u64 value)
{
	u32 log;

	if (value < STEPS)
		return value;
	log = 63 - __builtin_clzll(value);
	return min_t(u32, (log - 3) * STEPS + ((value >> (log - 4)) & (STEPS - 1)), BINS - 1);
}

/* The middle of a bin. */
static u64 value_of(u32 bin)
{
	u32 log = bin / STEPS + 3;

	if (bin < STEPS)
		return bin;
	return ((u64)(STEPS + bin % STEPS) << (log - 4)) + ((1ull << (log - 4)) / 2);
}

void spread_add(struct spread *s, u64 value)
{
	s->least = s->n ? min(s->least, value) : value;
	s->most = max(s->most, value);
	s->n++;
	s->sum += value;
	s->squares += (double)value * value;
	s->bin[bin_of(value)]++;
}

void spread_merge(struct spread *to, const struct spread *from)
{
	u32 i;

	if (!from->n)
		return;
	to->least = to->n ? min(to->least, from->least) : from->least;
	to->most = max(to->most, from->most);
	to->n += from->n;
	to->sum += from->sum;
	to->squares += from->squares;
	for (i = 0; i < BINS; i++)
		to->bin[i] += from->bin[i];
}

u64 spread_quantile(const struct spread *s, u32 thousandths)
{
	u64 wanted = (s->n * thousandths + 999) / 1000, seen = 0;
	u32 i;

	for (i = 0; i < BINS; i++) {
		seen += s->bin[i];
		if (seen && seen >= wanted)
			return max(s->least, min(s->most, value_of(i)));
	}
	return s->most;
}

/* The square root by Newton's way: the mathematical library is not linked. */
static double root(double value)
{
	double guess = value > 1 ? value : 1;
	int i;

	for (i = 0; i < 200 && value > 0; i++)
		guess = (guess + value / guess) / 2;
	return value > 0 ? guess : 0;
}

double spread_deviation(const struct spread *s)
{
	double mean = s->n ? (double)s->sum / s->n : 0;

	return s->n > 1 ? root((s->squares - s->n * mean * mean) / (s->n - 1)) : 0;
}

static enum shortage shortage_of(s64 result)
{
	switch (-result) {
	case EMFILE:
	case ENFILE:
		return TOO_FEW_DESCRIPTORS;
	case ENOSPC:
	case EDQUOT:
		return NO_ROOM;
	case ENOMEM:
		return NO_MEMORY;
	default:
		return SHORTAGES;
	}
}

void counted_outcome(struct counted *c, enum outcome as, s64 result)
{
	enum shortage shortage = shortage_of(result);

	c->outcome[as]++;
	if (as != SAME && shortage != SHORTAGES)
		c->shortage[shortage]++;
}

static void add_to(struct spread **s, u64 value, struct spread *room)
{
	if (!*s)
		*s = room ?: calloc(1, sizeof(**s));
	if (*s)
		spread_add(*s, value);
}

void counted_call(struct counted *c, u8 op, u64 time, u64 original)
{
	add_to(&c->call[op], time, c->room ? &c->room[2 * op] : NULL);
	add_to(&c->original[op], original, c->room ? &c->room[2 * op + 1] : NULL);
}

void counted_bytes(struct counted *c, u8 op, s64 result)
{
	if (result <= 0)
		return;
	switch (op) {
	case WL_READ:
	case WL_PREAD:
		c->read += result;
		break;
	case WL_WRITE:
	case WL_PWRITE:
		c->written += result;
		break;
	case WL_TOUCH:
		c->touched += result;
		break;
	case WL_COPY:
	case WL_SENDFILE:
		c->read += result;
		c->written += result;
		break;
	}
}

static void merge_to(struct spread **to, const struct spread *from)
{
	if (from && !*to)
		*to = calloc(1, sizeof(**to));
	if (from && *to)
		spread_merge(*to, from);
}

void counted_merge(struct counted *to, const struct counted *from)
{
	u32 i;

	for (i = 0; i < OUTCOMES; i++)
		to->outcome[i] += from->outcome[i];
	for (i = 0; i < SHORTAGES; i++)
		to->shortage[i] += from->shortage[i];
	to->late += from->late;
	to->read += from->read;
	to->written += from->written;
	to->touched += from->touched;
	spread_merge(&to->issue, &from->issue);
	spread_merge(&to->wait, &from->wait);
	for (i = 0; i < WL_OPS; i++) {
		merge_to(&to->call[i], from->call[i]);
		merge_to(&to->original[i], from->original[i]);
	}
}

void counted_free(struct counted *c)
{
	u32 i;

	for (i = 0; i < WL_OPS && !c->room; i++) {
		free(c->call[i]);
		free(c->original[i]);
	}
}

enum outcome outcome_of(const struct wl_command *c, s64 result)
{
	char kind = wl_ops[c->op].result;

	if (c->result < 0)
		return result >= 0 ? UNEXPECTED_SUCCESS : result == c->result ? SAME : OTHER_ERROR;
	if (result < 0)
		return UNEXPECTED_FAILURE;
	if (kind == 'n' && result != c->result)
		return OTHER_NUMBER;
	if (kind == 'z' && !result != !c->result)
		return OTHER_NUMBER;
	return SAME;
}
