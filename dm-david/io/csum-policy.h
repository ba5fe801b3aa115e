/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which squashed blocks have their checksum kept (csum.h):
 *	CSUM_OFF	none
 *	CSUM_AUTO	those of a btrfs mounted on this disk, or on a device on it (stack.h). Page
 *			owners tell. It must have crc32c and sectors of 4 KiB; otherwise its data
 *			is kept. With classify=implicit the classifier tells instead. Its answer
 *			travels with the request (implicit-evidence.h), so no other write can change
 *			it
 *	CSUM_ON		all
 *
 * With CSUM_ON a write that is not made of units shows that the file system's sectors do not begin
 * where our units do (a partition at sector 63). Our checksums are then not its checksums. From
 * then on all is kept.
 */
#ifndef DM_DAVID_CSUM_POLICY_H
#define DM_DAVID_CSUM_POLICY_H

#include <linux/bio.h>
#include "../store/csum.h"

struct david;
struct owner_top;

enum csum_mode {
	CSUM_AUTO,
	CSUM_ON,
	CSUM_OFF,
	CSUM_MODES
};

const char *csum_mode_name(enum csum_mode mode);
int csum_mode_parse(const char *name);	/* or -EINVAL */

/* What one table's target knows of the file system above. */
struct csum_watch {
	enum csum_mode mode;
	bool is_misaligned;	/* units and the file system's sectors: see above */
};

/* What is to be done about a block that would be squashed. */
enum csum_policy {
	CSUM_IGNORE,		/* nothing */
	CSUM_KEEP,		/* its checksum */
	CSUM_REFUSE,		/* it must not be squashed */
};

/* In ctr, once the table line is parsed: set watch_btrfs and may_have_csums of d->owners. */
void csum_policy_init(struct david *d);

/*
 * A write of @sectors from the target's sector @first on would be squashed. With CSUM_ON, note if
 * it is not made of whole units. Any context.
 */
void csum_policy_watch(struct david *d, sector_t first, unsigned int sectors);

/*
 * The policy for a write to @top. If it is CSUM_IGNORE, the request itself (implicit-evidence.h)
 * may still ask for CSUM_KEEP.
 */
enum csum_policy csum_policy(const struct david *d, const struct owner_top *top);

#endif
