/* SPDX-License-Identifier: GPL-2.0 */
/* Submissions to io_uring that have not been completed yet. */
#ifndef TRACE_SUBMISSIONS_H
#define TRACE_SUBMISSIONS_H

#include "../calls/tracefile.h"
#include "../calls/world.h"

#define CQE_MORE 0x2u /* more completions of the same submission follow */

struct submission {
	u64 event; /* the call that submitted it */
	u32 process;
	u32 thread;
	struct raw_submit submit;
	struct submission *next;
	struct submission **before;
	u8 *whole; /* made by submission_record() */
	struct raw_record record; /* with blobs behind it */
};

struct submissions {
	struct submission *first; /* by age */
	struct submission **last;
};

/* A copy of @record. */
struct submission *submission_add(struct submissions *all, const struct raw_record *record,
				  const struct raw_submit *submit, const struct thread *thread);

/* The oldest with that number; NULL: there is none. */
struct submission *submission_find(struct submissions *all, u32 process, u32 ring, u64 user_data);

/* As a RAW_CALL, with what the completion carries. Valid as long as the submission. */
const struct raw_record *submission_record(struct submission *submission,
					   const struct raw_record *completion);
void submission_drop(struct submissions *all, struct submission *submission);

#endif
