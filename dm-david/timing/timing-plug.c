// SPDX-License-Identifier: GPL-2.0
/* With host = blk-mq the modelled host knows the tasks' plug lists: see timing.h. */
#include "timing-internal.h"

#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "trace.h"

static void task_unplugs(struct blk_plug_cb *cb, bool from_schedule)
{
	struct task_plug *plug = container_of(cb, struct task_plug, cb);
	struct timing *t = cb->data;
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&t->figures->model.lock, flags);
	now = timing_run_model(t);
	trace_david_unplug(t->dev, t->next_id, now, plug->number, from_schedule);
	disk_unplug(t->disk, &plug->disk, from_schedule, now);
	timing_admit_after_merge(t, now);
	timing_arm(t);
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
	kfree(plug);
	if (atomic_dec_and_test(&t->plugs))
		wake_up_var(&t->plugs);
}

/* The plug of this task for this disk; NULL: it does not plug. */
struct task_plug *current_plug(struct timing *t)
{
	struct blk_plug_cb *cb;
	struct task_plug *plug;

	if (t->profile.host != HOST_BLK_MQ)
		return NULL;
	cb = blk_check_plugged(task_unplugs, t, sizeof(*plug));
	if (!cb)
		return NULL;
	plug = container_of(cb, struct task_plug, cb);
	if (!plug->number) {	/* a new one, zeroed */
		plug->number = ++t->next_plug;
		atomic_inc(&t->plugs);
	}
	return plug;
}
