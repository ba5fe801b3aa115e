// SPDX-License-Identifier: GPL-2.0
/* Locks that are never held over I/O: see iolocks.h. */
#include "iolocks.h"

#ifdef CONFIG_LOCKDEP

#include <linux/bio.h>
#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>
#include "../owner/hear.h"

#define MESSAGE	"david_message"

static struct lock_class_key message_key;
struct lockdep_map iolocks_message = STATIC_LOCKDEP_MAP_INIT(MESSAGE, &message_key);

/* By the names that lockdep has. Those of the table of locks that say "not held over I/O". */
static const char *const never_held[] = {
	"stores_lock", "pools_lock", "devices_lock", "watch_lock", "&d->mode_lock", MESSAGE,
};

/* Mutexes of messages that do I/O: they are held over it by design, and so is SRCU. */
static const char *const held_by_messages[] = {
	"&raw->lock", "&d->pack_lock", "&pool->members_lock",
};

static unsigned long warned;	/* bits, by the index in never_held */
static struct tracepoint *sent;

static bool iolocks_holds(const char *name)
{
	int i;

	for (i = 0; i < current->lockdep_depth; i++)
		if (!strcmp(current->held_locks[i].instance->name, name))
			return true;
	return false;
}

static bool iolocks_may_wait(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(held_by_messages); i++)
		if (iolocks_holds(held_by_messages[i]))
			return true;
	return false;
}

/* The trace point: a task sends @bio, or somebody does for it while it waits for memory. */
static void iolocks_see_bio(void *unused, struct bio *bio)
{
	unsigned int i;

	if (!in_task() || !current->lockdep_depth)
		return;
	for (i = 0; i < ARRAY_SIZE(never_held); i++) {
		if (!iolocks_holds(never_held[i]))
			continue;
		if (!strcmp(never_held[i], MESSAGE) && iolocks_may_wait())
			continue;
		if (!test_and_set_bit(i, &warned))
			WARN(true, "dm-david: I/O under %s\n", never_held[i]);
	}
}

void iolocks_watch(void)
{
	check_trace_callback_type_block_bio_queue(iolocks_see_bio);
	sent = hear_tracepoint("block_bio_queue", iolocks_see_bio);
	if (IS_ERR(sent))
		sent = NULL;
}

void iolocks_unwatch(void)
{
	hear_no_more(sent, iolocks_see_bio);
	tracepoint_synchronize_unregister();
}

#else

void iolocks_watch(void)
{
}

void iolocks_unwatch(void)
{
}

#endif
