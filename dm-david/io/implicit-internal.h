/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of implicit evidence (implicit.h) share.
 *
 *	implicit.c		its state; what the classifier is shown, and says, of requests
 *	implicit-work.c		the worker, which reads for the classifier and squashes data later
 *	implicit-rules.c	the user's RAW rules, as the classifier asks for them
 */
#ifndef DM_DAVID_IMPLICIT_INTERNAL_H
#define DM_DAVID_IMPLICIT_INTERNAL_H

#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include "implicit.h"
#include "../../classifier/classifier.h"

struct implicit {
	struct david *d;
	spinlock_t lock;		/* the classifier; process context only */
	struct classifier c;
	bool stopped;
	bool rules_going;		/* until then any file may have been chosen */
	struct undecided_figures accounted;	/* what the store has of classifier.undecided */
	bool reported_full;		/* that there is no room for all names */
	bool csum_warned;		/* that there are checksums which cannot be kept */
	struct workqueue_struct *wq;	/* of the following two */
	struct work_struct work;
	struct delayed_work again;	/* look again at what is undecided */
	wait_queue_head_t learnt;	/* of writes that come too early for the worker */
	bool busy;			/* the worker is queued or at work */
	u8 page[CLASSIFIER_BLOCK] __aligned(CLASSIFIER_BLOCK);
};

/* implicit.c; the lock is held */

/* Queue the worker if there is work for it. */
void implicit_wake(struct implicit *im);
/* Add the classifier's figures to the store's, which outlive a table. */
void implicit_account(struct implicit *im);
/* Without a file system classify=auto need not look at what cannot be the beginning of one. */
void implicit_set_watch(struct implicit *im);

/* implicit-work.c: @im->work and @im->again */

void implicit_work(struct work_struct *work);
void implicit_again(struct work_struct *work);

/* implicit-rules.c */

/* The classifier is new: it shall ask for the RAW rules. */
void implicit_choose(struct implicit *im);
/* Tell it which kinds of rules there are: none, if page owners apply them. The lock is held. */
void implicit_take_rules(struct implicit *im);
/* Account the files that are chosen by name. The lock is held. */
void implicit_account_names(struct implicit *im);

#endif
