/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bugs that the model once had. Built with MODEL_PLANT, the program that defines
 * model_plant chooses one of them by name, to prove that a test finds it:
 *
 *	order	the choice of the next command does not know what read-ahead brings
 *	gap	read-ahead ends when a command comes that does not follow on
 *	settle	a write's settle comes on top of each switch that the skews leave room for
 *	rotation	an array's parity moves the other way
 *	gc	the fullest block of an SSD is collected
 *	trim	an SSD's map keeps what was trimmed
 *	suspend	a program goes on while its die reads
 *	locked	every program of an SSD can be suspended
 *	buffered	what an SSD has programmed is read from the write buffer all the same
 *	slc	an SSD's SLC cache never gets full
 *	lookup	a read does not wait for its part of an SSD's map
 *	clock	a part of an SSD's map that was used again leaves memory as early
 *	shingle	a shingled drive's bands are never written whole
 *	packet	a shingled drive ends a packet when nobody asks for room in that instant
 *	batch	mq-deadline's batches do not end
 *	starved	mq-deadline lets reads go first for ever
 *	front	mq-deadline does not merge to the front
 *	lookahead	blk-mq takes nothing from the scheduler before there is a tag for it
 *	queues	blk-mq runs all hardware queues when one may have something to do
 *	lines	blk-mq wakes who waits for a tag in the order in which they came
 *	waited	blk-mq merges what waited for a tag before it has one
 *	postflush	blk-mq: no flush follows a FUA write to a drive without FUA
 *	waits	what a command of an SSD waits for is its transfer, too
 *	map_wait	what a read waits for the map of an SSD is its transfer
 *	turns	the rotation of a disk's command is its transfer, too
 *	crowd	an SSD's page is read the slower, the longer it waited for its die
 *	twice	a command of more than 64 KiB crosses an SSD's link twice
 *	journal	an SSD's flushes write their journals at the same time
 *	during	an SSD reads flash while it writes a journal of its map
 *	stripe	an SSD's collection moves by the unit, and not by the stripe
 *	lumps	an SSD's dies move at once what its map, which is a sample, moves at once
 *	rest	an SSD does not read the rest of a page that is written in part
 *	even	an SSD's pages that were written at random lie as evenly as others
 *	pages	a large read costs an SSD's controller as much as a small one
 *	duplex	reads and writes cross Serial ATA at the same time
 *	awake	a read that comes at the end of the one before finds an SSD asleep, others do not
 *	lonely	a command waits for an interrupt of several, though no others are under way
 *	trimmed	a trim makes each die of an SSD erase a block
 *	together	all dies of an SSD erase at once what its map, which is a sample, erases
 *	whole	a write goes into an SSD's buffer as a whole, or waits until that is empty
 *	idle	an idle SSD folds nothing of its SLC cache
 *	unsettled	an idle SSD collects before a command, and not before a trim
 *	one_die	a zone of an SSD lies on one of its dies
 *	one_buffer	a zone of an SSD may have all of the write buffer
 *	unreset	an SSD's zone that was reset has its data still
 *	append	an append takes an SSD's controller as long as a write
 *	unplugged	writes of a zone do not wait for each other
 *	plugged	appends to a zone do wait for each other
 *	wide	an append crosses the link in half of the time
 *	nearer	what was written by itself is read off an SSD in half the time
 *	parity_read	an array's small write does not read the old parity
 *	overlap	a member of an array is busy twice while it has two requests
 *	copies	what an array writes to a second copy counts as data
 *	forgotten	a rebuild does not write anew what it could not read
 *	unmended	a write to a bad block leaves it bad
 *	straight	a block that was moved has no detour
 *	unlimited	limited recovery time does not limit it
 *	unstalled	commands that are under way when a stall begins do not wait for its end
 *	open_zones	more zones than may be are open
 *	zone_active	one more zone than may be is active
 *	zone_closes	the zone that is closed for another is not the next one in turn
 *	zone_end	a zone takes a sector more than it has
 *	zone_wp	a write moves the zone's pointer a sector too far
 *	zone_report	a report has the zone's pointer a sector too low
 *	zone_reset	a reset leaves the pointer where it was
 *	zone_finish	so does a finish
 *	zone_append	an append is told the sector behind its own
 *	zone_opens	no write is told that it opened its zone
 *	zone_restore	a full zone is closed after a power-on
 *	zone_back	an open that the drive failed is not taken back
 *	zone_sense	a drive may have conventional zones only
 *	unseen	what only a disk's cache saw is not counted
 */
#ifndef DAVID_MODEL_PLANTED_H
#define DAVID_MODEL_PLANTED_H

#ifdef MODEL_PLANT
extern const char *model_plant;
#define MODEL_PLANTED(bug)	(model_plant && !strcmp(model_plant, #bug))
#else
#define MODEL_PLANTED(bug)	((void)#bug, false)
#endif

/* blk-mq has sent a command to the drive. Only the program that compares their order has this. */
struct disk_command;
#ifdef MODEL_TELL
void model_sent(const struct disk_command *command);
#else
static inline void model_sent(const struct disk_command *command)
{
}
#endif

#endif
