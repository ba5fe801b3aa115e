/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of a kind of file system. volume_ops[] has one struct volume_ops for each kind.
 *
 * The core (this directory) knows no kind by name. classifier.c and volume.c do what all kinds
 * share: which volume covers a sector, probes, verdicts. They ask a kind by its operations only.
 * A kind is a directory below this one, and a line in volume-kinds.h. Its files include what they
 * need of the core, and nothing of another kind. A kind whose metadata blocks carry the file
 * system's uuid also has a struct selfid_ops (selfid-volume.h).
 *
 * A kind has state of two sorts. What all its volumes share is in volume_table.shared. It is there
 * from classifier_init() on. What one volume has is volume.live: the kind takes it from what is
 * shared (->attach()), or asks for memory (->memory()).
 *
 * Portable; the caller serialises. Only for the core and the kinds.
 */
#ifndef CLASSIFIER_VOLUME_OPS_H
#define CLASSIFIER_VOLUME_OPS_H

#include "classifier.h"

#define SECTOR_BITS		9
/* So many sectors of a superblock are parsed. */
#define VOLUME_SUPER_SECTORS	8u
/* The magic number of each kind is within so many bytes of the superblock. */
#define VOLUME_HEAD_BYTES	72u

struct selfid_ops;

/* Functions marked "or NULL" may be NULL. */
struct volume_ops {
	u32 super_sector;		/* from the volume's start */
	u32 magic_offset;		/* bytes into the superblock; within VOLUME_HEAD_BYTES */
	u32 magic_bytes;
	char magic[8];
	bool confirms;			/* it finds out volume.confirmed */
	const struct selfid_ops *selfid;	/* or NULL: selfid-volume.h */

	/* Bytes of what all volumes of the kind share, a multiple of 8; and its setup, or NULL. */
	size_t shared_bytes;
	void (*init)(struct classifier *c);
	/*
	 * volume_add() takes @slot into use: its live state, as it was left. volume_remove() ends
	 * @v. Or NULL, both: live state is memory that ->give() has taken.
	 */
	void *(*attach)(struct volume_table *t, unsigned int slot);
	void (*detach)(struct volume *v);

	/*
	 * A superblock for a volume at @start was seen: @super, of @bytes, with the right magic.
	 * Adds the volume if it is new. Returns it, or NULL if @super makes no sense or there is no
	 * room. @durable: the superblock was written with FUA.
	 */
	struct volume *(*super)(struct classifier *c, u64 start, const void *super, u32 bytes,
				bool durable);
	/*
	 * Called before ->write(). If what @w writes from @pos on ends @v, removes @v and returns
	 * false. Or NULL: ->write() does that.
	 */
	bool (*outlasts)(struct classifier *c, struct volume *v, const struct classify_write *w,
			 u32 pos);
	/* classifier_write() for a part of @w that lies in @v. May remove @v. */
	enum classify_reason (*write)(struct classifier *c, struct volume *v,
				      const struct classify_write *w, u32 pos, u32 *len);
	/* classifier_early() for a write to these sectors. Or NULL: never. */
	bool (*early)(const struct classifier *c, const struct volume *v, u64 sector, u64 sectors);
	/* The disk was flushed. Or NULL. */
	void (*flush)(struct volume *v);
	/* classifier_mount() has set v->state. Or NULL. */
	void (*state_told)(struct classifier *c, struct volume *v);
	/* Does a discard of these sectors end @v? */
	bool (*discarded)(const struct volume *v, u64 sector, u64 sectors);
	/* classifier_looked(): the disk's user read the sectors. */
	void (*looked)(struct volume *v, u64 sector, u64 sectors);

	/* log2 of the sectors in an undecided block. Or NULL: no block is ever undecided. */
	u32 (*undecided_shift)(const struct volume *v);
	/* Decide about some undecided blocks. True: there are more. Or NULL. */
	bool (*judge)(struct classifier *c, struct volume *v);
	/* Checksums of its data. Or NULL: CLASSIFY_SUMS_NONE. */
	enum classify_sums (*sums)(const struct volume *v);

	/* classifier_memory(), _give(), _want() and _learn() for @v. */
	size_t (*memory)(const struct classifier *c, const struct volume *v);
	void *(*give)(struct classifier *c, struct volume *v, void *memory, size_t bytes);
	bool (*want)(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes);
	void (*learn)(struct classifier *c, struct volume *v, u64 sector, const void *content);
	/* What ->want() asked for with c->reader: for that live state, whatever is there now. */
	void (*learn_live)(void *live, const void *content);
	/* Call @release for memory that was given to @live, the state of a slot. */
	void (*destroy)(void *live, void (*release)(const void *));
	/* Bytes of that memory. */
	size_t (*live_bytes)(const void *live);

	/*
	 * The same for what the kind's volumes share; all of these, or NULL. There is a volume of
	 * the kind when memory is asked for. ->want_shared() is asked when no volume wants to read.
	 * ->learn_shared() takes what it asked for with c->reading CLASSIFY_READS_SHARED. Memory
	 * that was given is released with the volumes' own.
	 */
	size_t (*memory_shared)(const struct classifier *c);
	void (*give_shared)(struct classifier *c, void *memory);
	bool (*want_shared)(struct classifier *c, u64 *sector, u32 *bytes);
	void (*learn_shared)(struct classifier *c, const void *content);
	void (*destroy_shared)(struct classifier *c, void (*release)(const void *));
	size_t (*bytes_shared)(const struct classifier *c);

	/* classifier_again(). Or NULL. */
	void (*again)(struct classifier *c);
	/* classifier_choose() and classifier_chosen_more(). Or NULL: what is chosen is kept. */
	void (*choose)(struct classifier *c);
	void (*chosen_more)(struct classifier *c);
	/* classifier_named() for @v. Or NULL: 0. */
	u64 (*named)(const struct volume *v, bool *full);
};

#define VOLUME_KIND(name)	extern const struct volume_ops name##_volume_ops;
#include "volume-kinds.h"
#undef VOLUME_KIND

extern const struct volume_ops *const volume_ops[VOLUME_KINDS];

static inline const struct volume_ops *ops_of(const struct volume *v)
{
	return volume_ops[v->kind];
}

/* Copy @sectors of @w's content to @to, from @w's sector number @sector on. */
static inline void write_copy(const struct classify_write *w, u32 sector, u32 sectors, void *to)
{
	w->copy(w->ctx, sector << SECTOR_BITS, to, sectors << SECTOR_BITS);
}

/*
 * v->state was set. A mount means that mkfs is over, and is the time to read the partition table.
 */
static inline void volume_state_is_set(struct classifier *c, struct volume *v)
{
	v->fresh &= v->state != VOLUME_MOUNTED;
	c->table_wanted |= volume_doubted(v);
}

static inline bool sectors_overlap(u64 a, u64 n, u64 b, u64 m)
{
	return a < b + m && b < a + n;
}

/* classifier.c */

/* Look for superblocks that begin in the @n sectors of @w from @pos on. May remove volumes. */
void scan_for_supers(struct classifier *c, const struct classify_write *w, u32 pos, u32 n);
/* Convert sectors of the disk to blocks of @v that may be undecided. False: there are none. */
bool undecided_blocks(const struct volume *v, u64 sector, u64 sectors, u64 *block, u64 *len);

#endif
