/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Planted bugs. A test plants a bug to prove that its oracle finds it. Only a module built with
 * DAVID_PLANT has them; its parameter `plant` names the one that is active.
 *
 * The test of power cuts has to find:
 *	flush	a flush completes at once
 *	late	a flush completes before its log entries are written
 *	reuse	a freed destination is allocated again at once
 *	sums	a flush does not wait for checksums
 *	rules	a message that changes RAW rules does not wait until they are durable
 *	grow	blocks behind the old end are used before the superblock has the new size
 * The random life of a disk that is packed has to find:
 *	stale	a block is packed as it was read first, though it was written since
 *	single	a pack is free when it has only blocks that stand alone
 * Comparing a RAW file that was deduplicated with what was written has to find:
 *	twins	what a RAW file has is dropped elsewhere
 * btrfs's scrub has to find:
 *	unit	a block gets the checksum of another block
 *	copy	a copy of squashed data gets no checksum, whatever its last bytes are
 *	later	a block that is squashed later gets no checksum
 *	other	checksums of all kinds are treated as crc32c
 * f2fs's checker has to find:
 *	nodes	pages of a file system's own inodes are data
 * The checkers of file systems that other programs write to have to find (classify=implicit):
 *	alone	a block that is not logged is data, whatever its content, whoever writes it
 *	placed	every volume lies in one piece, as its superblock says
 *	rests	what may be part of a compressed extent of btrfs is data
 *	longer	an xfs ends where it ended when it was made (classifier/planted.h)
 * Replay of a log with all data has to find:
 *	marks	request flags are not looked at, as if jbd2 did not mark its log
 * Comparing what was written with what is read has to find:
 *	unowned	pages without an owner are data
 *	compressed	f2fs's compressed pages are data
 * Lives with features have to find, besides (tests/system/helpers/featurekinds.py):
 *	behind	what a file's cache has behind the file's end is content
 *	blockdev	pages of the mounted disk itself are data, behind its beginning
 *	buffers	pages without an owner, and of a file system's own inodes, are data; request
 *		flags and the classifier's veto are not looked at
 *	logged	what a log has told of is data (classify=implicit)
 * Several disks of a pool have to find:
 *	twice	blocks that are granted to a disk stay free for others
 *	greedy	a full disk takes the reserves of others
 *	forgets	a pool that has grown takes blocks that are in use for free
 *	unsaid	a pool that grows does not write its directory
 *	selfish	other disks give no blocks for checksums, rules and packs
 * Power cuts of such a pool have to find (tests/system/helpers/poolsystems.py):
 *	ahead	the log tells of blocks that may not be durable yet
 *	onlycopy	a directory that could not be written is tried over the whole copy
 *	uncounted	a disk of a pool that is opened does not count as a holder of its blocks
 * Disks of a pool that share blocks have to find:
 *	inplace	a block that others have, too, is written in its place
 *	early	a block is free when one of its holders gives it up
 *	unread	a block of another disk is joined without comparing it
 *	retained	a block that is kept from now on counts as exact data, as before
 *	spared	what is new takes the room that shared blocks need to be changed
 *	unflushed	what a disk has already is not written, though it has to be durable (FUA)
 *	recounted	a request that is served again counts its blocks again
 * Requests that must not sleep have to find:
 *	refused	what the backing device refuses as it would sleep is refused
 * How fast an SSD reads what was there before its model has to show:
 *	blank	what the range table has is not told to the SSD's map
 * How late an NVMe drive delivers has to show:
 *	slack	the timer may fire later than it is set to
 * How late a request is delivered beside a large discard has to show:
 *	whole	what takes no modelled time is done in one piece, however large
 * And once more of NVMe drives:
 *	allocates	the range table's nodes are allocated when a write needs them
 * How much of a network client's data is squashed has to show (classify=implicit):
 *	hasty	no write waits for the classifier's worker, which is slow
 * And that must not depend on this, which is no bug, but a busy machine:
 *	slow	the classifier's worker is slow
 * Who seeks room at the same time as others have to find:
 *	once	who finds no more room does not look whether others have found it meanwhile
 * That shows only on a machine as busy as this makes it, which is no bug:
 *	pause	between finding no room and asking for some there is time
 * For layers between (owner/stack.h):
 *	elsewhere	a file's page is data, whatever device its file system is on
 *	parity	requests to an array with parity have a trail
 *	legs	a leg of a mirror does not hear what another has found
 *	lost	every other request is recognised only where it arrives first
 *	unmarked	a trail begins with a request that is marked as metadata
 *	hands	a page may speak while another driver has it in hand
 *	openers	who else has opened the disk is not asked
 *	upper	a fake disk below another one believes the pages that it is sent
 * Random commands to zones, and what is there when the disk is made again, have to find:
 *	unreset	a reset drops only the first block of a zone
 *	unfinished	a finish leaves the store as it is
 * Those and the cases of blktests, of drives that fail, of file systems on zones and of what a
 * table may not say have to find (tests/system/cases/zoned*.py says which):
 *	zone_pointer	a report has a zone's pointer a block too far
 *	zone_brim	a report has a zone that was written to its end as closed
 *	zone_later	a report from the middle of a zone on begins with the next zone
 *	zone_kind	a report has the last conventional zone as a sequential one
 *	zone_capacity	a report has zones that can be written to their end
 *	zone_chunk	the queue's limits have zones of twice the size
 *	zone_limits	one more zone may be open
 *	zone_turn	the zone that is closed for another is always the first that is open
 *	zone_restore	a disk that is made again has lost each zone's last block
 *	zone_order	writes of a zone do not wait for their turn
 *	zone_failed	an open or close that the drive failed changes the zone
 *	zone_mend	what a failed write has left in the zone stays there
 *	zone_append	an append is told the sector behind its own
 *	zone_store	a store of other zones, or of none, is taken
 *	zone_profile	a profile of other zones is taken
 * Times of a zoned disk, held to the simulator's, have to find:
 *	timeless	a reset or finish takes no modelled time
 *	zone_plain	an append is a write to the model
 *	zone_count	an append is counted twice
 * CPU time by component, held to how much longer requests take, has to find:
 *	busy_classify, busy_map, busy_content, busy_io, busy_model	a loop, in that component
 *	untold	the same in io, and its time is told of half of it
 * The look at locks that are never held over I/O has to find (target/iolocks.h):
 *	overio	a device is read under each of them
 */
#ifndef DM_DAVID_INJECT_H
#define DM_DAVID_INJECT_H

#ifdef DAVID_PLANT
#include <linux/string.h>

extern char *david_plant;
#define INJECTED(bug)	(david_plant && sysfs_streq(david_plant, #bug))
#else
#define INJECTED(bug)	((void)#bug, false)
#endif

/* The loop of busy_... */
#define PLANTED_BUSY_MS		20

#define PLANTED_UNOWNED		(INJECTED(unowned) || INJECTED(buffers))
#define PLANTED_NODES		(INJECTED(nodes) || INJECTED(buffers))

/* Pages of the disk in front of this one are no file's for the bug `blockdev`: superblocks. */
#define PLANTED_FROM		1024

/* Does who found no room sleep before asking for some? */
#define PLANTED_PAUSE		(INJECTED(pause) || INJECTED(once))
#define PLANTED_PAUSE_MS	300

/* Does a planted bug give a block to two disks? */
#define PLANTED_TWICE \
	(INJECTED(twice) || INJECTED(inplace) || INJECTED(early) || INJECTED(forgets))

#endif
