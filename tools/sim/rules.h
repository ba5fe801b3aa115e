/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What no disk breaks, as rules about two jobs: one of them never takes longer than the
 * other, whatever the drive. Each rule holds for a set of jobs only, as physics has it:
 * without read-ahead, for instance, a small gap between requests is faster than none. What a rule
 * does not speak of has a name: david-sim physics counts the jobs that it left out by these.
 */
#ifndef DAVID_SIM_RULES_H
#define DAVID_SIM_RULES_H

#include "job.h"

/* Random places differ between two jobs of other sizes or spans: their mean must not. */
#define RANDOM_LEAST	400U

/* What an SSD has when a job begins: profile.precondition. Other drives are fresh. */
enum rule_state { STATE_FRESH, STATE_IN_ORDER, STATE_RANDOM, STATE_NR };

struct rule {
	const char *name;
	const char *text;
	u32 tolerance;		/* permille of the time */
	/* Make of a random job one that the rule speaks of. NULL: done, else why it does not. */
	const char *(*fit)(struct job *job, const struct profile *profile);
	/* Make of a job that fits the faster and the slower one; NULL: that is the job itself. */
	void (*fast)(struct job *job, const struct profile *profile);
	void (*slow)(struct job *job, const struct profile *profile);
	bool both;		/* nor may it be faster */
	bool limit;		/* the time is held against what media and interface allow */
	bool order;		/* the faster one finds what was written in order, not at random */
	bool places;		/* the two jobs are of different places */
	bool moves;		/* of a worn drive: in one of them others are collected */
	bool fresh;		/* on a drive that is new only */
	bool resets;		/* without the time that zones were reset in */
	bool seeks;		/* with limit: each request costs a seek, too */
};

/* The first are of drives without zones, those from nr_plain_rules on of drives with zones. */
extern const struct rule rules[];
extern const u32 nr_rules, nr_plain_rules;

/*
 * Is @job within the disk, do its streams not come round, and is it one that a rule may take? NULL:
 * yes, else why not.
 */
const char *rule_unsound(const struct job *job, const struct profile *profile);

#endif
