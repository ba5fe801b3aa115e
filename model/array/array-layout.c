// SPDX-License-Identifier: GPL-2.0
#include "../planted.h"
#include "array-layout.h"

struct row {
	u32 data, p, q;		/* members of a data chunk, and of the row's parity */
};

static const struct {
	const char *name, *brief;
	enum array_parity parity;
	bool five, six;
} parities[] = {
	{ "left-symmetric", "ls", PARITY_LEFT_SYMMETRIC, true, true },
	{ "left-asymmetric", "la", PARITY_LEFT_ASYMMETRIC, true, true },
	{ "right-symmetric", "rs", PARITY_RIGHT_SYMMETRIC, true, true },
	{ "right-asymmetric", "ra", PARITY_RIGHT_ASYMMETRIC, true, true },
	{ "parity-first", "parity-first", PARITY_FIRST, true, true },
	{ "parity-last", "parity-last", PARITY_LAST, true, true },
	{ "ddf-zero-restart", "ddf-zero-restart", PARITY_ZERO_RESTART, false, true },
	{ "ddf-N-restart", "ddf-N-restart", PARITY_N_RESTART, false, true },
	{ "ddf-N-continue", "ddf-N-continue", PARITY_N_CONTINUE, false, true },
	{ "left-symmetric-6", "left-symmetric-6", PARITY_LEFT_SYMMETRIC_6, false, true },
	{ "left-asymmetric-6", "left-asymmetric-6", PARITY_LEFT_ASYMMETRIC_6, false, true },
	{ "right-symmetric-6", "right-symmetric-6", PARITY_RIGHT_SYMMETRIC_6, false, true },
	{ "right-asymmetric-6", "right-asymmetric-6", PARITY_RIGHT_ASYMMETRIC_6, false, true },
	{ "parity-first-6", "parity-first-6", PARITY_FIRST_6, false, true },
};

static bool parse_parity(struct array_layout *layout, const char *word)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(parities); i++) {
		if (strcmp(word, parities[i].name) && strcmp(word, parities[i].brief))
			continue;
		layout->parity = parities[i].parity;
		return layout->level == ARRAY_5 ? parities[i].five : parities[i].six;
	}
	return false;
}

/* n2, f3, o2 */
static bool parse_copies(struct array_layout *layout, const char *word)
{
	u32 copies = 0;
	const char *c;

	for (c = word + !!*word; *c >= '0' && *c <= '9' && copies < ARRAY_MEMBERS; c++)
		copies = copies * 10 + (*c - '0');
	if (*c || !copies || !strchr("nfo", *word))
		return false;
	layout->near = *word == 'n' ? copies : 1;
	layout->far = *word == 'n' ? 1 : copies;
	layout->offset = *word == 'o';
	return true;
}

bool layout_parse(struct array_layout *layout, const char *word)
{
	if (layout->level == ARRAY_5 || layout->level == ARRAY_6)
		return parse_parity(layout, word ?: "left-symmetric");
	if (layout->level == ARRAY_10)
		return parse_copies(layout, word ?: "n2");
	return !word;
}

void layout_print(const struct array_layout *layout, char *text, size_t size)
{
	u32 i;

	*text = '\0';
	if (layout->level == ARRAY_10)
		snprintf(text, size, "%c%u", layout->far == 1 ? 'n' : layout->offset ? 'o' : 'f',
			 layout->near * layout->far);
	if (layout->level != ARRAY_5 && layout->level != ARRAY_6)
		return;
	for (i = 0; i < ARRAY_SIZE(parities); i++)
		if (parities[i].parity == layout->parity)
			strscpy(text, parities[i].name, size);
}

/* md's calc_sectors(): far copies begin on a whole row of chunks each. */
static void init_copies(struct array_layout *layout, u64 chunks)
{
	chunks = div_u64(chunks, layout->far) * layout->members;
	chunks = div_u64(chunks, layout->near);
	layout->sectors = chunks * layout->chunk;
	chunks = div_u64(chunks * layout->near * layout->far + layout->members - 1,
			 layout->members);
	layout->member_sectors = chunks * layout->chunk;
	layout->stride = layout->offset ? layout->chunk :
			 div_u64(chunks, layout->far) * layout->chunk;
}

#define BITMAP_SMALL	8		/* sectors that mdadm keeps for a bitmap, */
#define BITMAP_MEDIUM	128		/* from 8 GiB on, */
#define BITMAP_LARGE	256		/* and from 200 GiB on */
#define HEADROOM	262144		/* sectors, most, or 0.1 %, for a later reshape */
#define MEBIBYTE	2048		/* sectors */
#define MIRROR_UNIT	128		/* sectors: mdadm's sizes of mirrors are such */

static u32 bitmap_room(u64 sectors)
{
	if (sectors < 128)
		return 0;
	if (sectors - 128 >= 200ULL * 1024 * MEBIBYTE)
		return BITMAP_LARGE;
	return sectors - 8 > 8ULL * 1024 * MEBIBYTE ? BITMAP_MEDIUM : BITMAP_SMALL;
}

static u64 whole_units(const struct array_layout *layout, u64 sectors, u64 taken)
{
	sectors = sectors > taken ? sectors - taken : 0;
	return layout->level == ARRAY_1 ? sectors & ~(MIRROR_UNIT - 1ULL) : sectors;
}

u64 layout_metadata(struct array_layout *layout, enum array_metadata metadata, u64 sectors)
{
	u32 headroom = HEADROOM, bitmap = bitmap_room(sectors);
	u64 taken;

	layout->start = 0;
	layout->superblock = ((sectors & ~7ULL) - 16) & ~7ULL;
	if (metadata == METADATA_NONE)
		return sectors;
	if (metadata == METADATA_1_0) {		/* superblock, list of bad blocks, bitmap */
		taken = sectors % 8 + 16 + 8 + bitmap;
		return whole_units(layout, sectors, taken);
	}
	while ((u64)headroom << 10 > sectors && (!layout->chunk || headroom >= 4 * layout->chunk))
		headroom >>= 1;
	taken = div_u64(24 + bitmap + headroom + MEBIBYTE - 1, MEBIBYTE) * MEBIBYTE;
	layout->start = taken;
	layout->superblock = 8;
	return whole_units(layout, sectors, taken);
}

static u32 least_members(const struct array_layout *layout)
{
	static const u32 least[] = { [ARRAY_0] = 1, [ARRAY_1] = 1, [ARRAY_4] = 2,
				     [ARRAY_5] = 2, [ARRAY_6] = 4, [ARRAY_10] = 1 };

	return max(least[layout->level], layout_copies(layout));
}

const char *layout_init(struct array_layout *layout, u64 member_sectors)
{
	u64 chunks;

	if (layout->members < least_members(layout))
		return "too few members for the level and its copies";
	if (layout->members > ARRAY_MEMBERS)
		return "more than 64 members";
	if (layout->level == ARRAY_1) {
		layout->sectors = member_sectors;
		layout->member_sectors = member_sectors;
		return member_sectors ? NULL : "members without a sector";
	}
	if (layout->chunk < ARRAY_BLOCK || layout->chunk > ARRAY_CHUNK ||
	    layout->chunk & (layout->chunk - 1))
		return "a chunk is a power of two from 4 KiB to 64 MiB";
	chunks = div_u64(member_sectors, layout->chunk);
	if (!chunks || chunks < layout->far)
		return "members smaller than a chunk for each copy";
	if (layout->level == ARRAY_10) {
		init_copies(layout, chunks);
		return NULL;
	}
	layout->member_sectors = chunks * layout->chunk;
	layout->sectors = layout->member_sectors * (layout->members - layout_parities(layout));
	return NULL;
}

/* P, then Q, then data to its right: Q D D D P, D D P Q D */
static void behind_both(const struct array_layout *layout, struct row *row, u32 index)
{
	row->q = row->p + 1;
	row->data = index;
	if (row->q == layout->members) {
		row->data++;
		row->q = 0;
	} else if (index >= row->p) {
		row->data += 2;
	}
}

static void row_of_five(const struct array_layout *layout, u64 number, u32 index,
			u32 members, enum array_parity parity, struct row *row)
{
	u32 turn;

	div_u64_rem(number, members, &turn);
	if (MODEL_PLANTED(rotation))
		turn = members - 1 - turn;
	switch (parity) {
	case PARITY_LEFT_ASYMMETRIC:
	case PARITY_LEFT_SYMMETRIC:
		row->p = members - 1 - turn;
		break;
	case PARITY_RIGHT_ASYMMETRIC:
	case PARITY_RIGHT_SYMMETRIC:
		row->p = turn;
		break;
	case PARITY_FIRST:
		row->p = 0;
		break;
	default:
		row->p = members - 1;
		break;
	}
	if (parity == PARITY_LEFT_SYMMETRIC || parity == PARITY_RIGHT_SYMMETRIC)
		row->data = (row->p + 1 + index) % members;
	else
		row->data = index + (index >= row->p);
}

static void row_of_six(const struct array_layout *layout, u64 number, u32 index, struct row *row)
{
	u32 members = layout->members, turn;

	div_u64_rem(number + (layout->parity == PARITY_N_RESTART), members, &turn);
	switch (layout->parity) {
	case PARITY_LEFT_ASYMMETRIC:
	case PARITY_N_RESTART:
		row->p = members - 1 - turn;
		behind_both(layout, row, index);
		break;
	case PARITY_RIGHT_ASYMMETRIC:
	case PARITY_ZERO_RESTART:
		row->p = turn;
		behind_both(layout, row, index);
		break;
	case PARITY_LEFT_SYMMETRIC:
	case PARITY_RIGHT_SYMMETRIC:
		row->p = layout->parity == PARITY_LEFT_SYMMETRIC ? members - 1 - turn : turn;
		row->q = (row->p + 1) % members;
		row->data = (row->p + 2 + index) % members;
		break;
	case PARITY_FIRST:
		row->p = 0;
		row->q = 1;
		row->data = index + 2;
		break;
	case PARITY_LAST:
		row->p = members - 2;
		row->q = members - 1;
		row->data = index;
		break;
	case PARITY_N_CONTINUE:
		row->p = members - 1 - turn;
		row->q = (row->p + members - 1) % members;
		row->data = (row->p + 1 + index) % members;
		break;
	default:
		row_of_five(layout, number, index, members - 1,
			    layout->parity - PARITY_LEFT_ASYMMETRIC_6, row);
		row->q = members - 1;
		break;
	}
}

u32 layout_member(const struct array_layout *layout, u64 number, u32 index)
{
	u32 data = layout->members - layout_parities(layout);
	enum array_parity parity = layout->level == ARRAY_4 ? PARITY_LAST : layout->parity;
	struct row row = { .q = NO_MEMBER };

	if (layout->level == ARRAY_6)
		row_of_six(layout, number, index < data ? index : 0, &row);
	else
		row_of_five(layout, number, index < data ? index : 0, layout->members, parity,
			    &row);
	if (index < data)
		return row.data;
	return index == data ? row.p : row.q;
}

/* The chunk's first copy, the near ones beside it, and each one's far ones after it. */
static void place_copy(const struct array_layout *layout, u64 chunk, u32 copy,
		       struct array_piece *piece)
{
	u32 near = copy / layout->far, far = copy % layout->far, first;
	u64 row = div_u64_rem(chunk * layout->near, layout->members, &first);

	if (layout->offset)
		row *= layout->far;
	row += (first + near) / layout->members;
	piece->member = (first + near + far * layout->near) % layout->members;
	piece->sector += row * layout->chunk + far * layout->stride;
}

/* md's raid10_find_virt() */
u64 layout_virtual(const struct array_layout *layout, u32 member, u64 sector)
{
	u32 far = 0, within;
	u64 chunk = div_u64_rem(sector, layout->chunk, &within);

	if (layout->offset)
		chunk = div_u64_rem(chunk, layout->far, &far);
	else if (layout->far > 1)
		for (; chunk * layout->chunk >= layout->stride; far++)
			chunk -= div_u64(layout->stride, layout->chunk);
	member = (member + layout->members - far * layout->near % layout->members) %
		 layout->members;
	return div_u64(chunk * layout->members + member, layout->near) * layout->chunk + within;
}

void layout_piece(const struct array_layout *layout, u64 sector, u64 sectors, u32 copy,
		  struct array_piece *piece)
{
	u32 data = layout->members - layout_parities(layout), within;
	u64 chunk;

	if (layout->level == ARRAY_1) {
		*piece = (struct array_piece){ .sector = sector, .sectors = sectors,
					       .member = copy };
		return;
	}
	chunk = div_u64_rem(sector, layout->chunk, &within);
	*piece = (struct array_piece){ .sector = within };
	piece->sectors = min_t(u64, sectors, layout->chunk - within);
	if (layout->level == ARRAY_10) {
		place_copy(layout, chunk, copy, piece);
		return;
	}
	piece->row = div_u64_rem(chunk, data, &piece->index);
	piece->sector += piece->row * layout->chunk;
	piece->member = layout->level == ARRAY_0 ? piece->index :
						   layout_member(layout, piece->row, piece->index);
}
