// SPDX-License-Identifier: GPL-2.0
#include "submissions.h"

#include "../common/alloc.h"

struct submission *submission_add(struct submissions *all, const struct raw_record *record,
				  const struct raw_submit *submit, const struct thread *thread)
{
	struct submission *s = xmalloc(sizeof(*s) - sizeof(s->record) + record->length);

	*s = (struct submission){ .process = thread->process->id, .thread = thread->id };
	s->submit = *submit;
	memcpy((u8 *)s + offsetof(struct submission, record), record, record->length);
	if (!all->first)
		all->last = &all->first;
	s->before = all->last;
	*all->last = s;
	all->last = &s->next;
	return s;
}

struct submission *submission_find(struct submissions *all, u32 process, u32 ring, u64 user_data)
{
	struct submission *s = all->first;

	while (s && (s->process != process || s->submit.ring != ring ||
		     s->submit.user_data != user_data))
		s = s->next;
	return s;
}

const struct raw_record *submission_record(struct submission *submission,
					   const struct raw_record *completion)
{
	const struct raw_record *submitted = &submission->record;
	u32 blobs = completion->length - sizeof(*completion);
	struct raw_record *whole;

	submission->whole = xrealloc(submission->whole, submitted->length + blobs);
	memcpy(submission->whole, submitted, submitted->length);
	memcpy(submission->whole + submitted->length, completion + 1, blobs);
	whole = (struct raw_record *)submission->whole;
	whole->type = RAW_CALL;
	whole->length = submitted->length + blobs;
	return whole;
}

void submission_drop(struct submissions *all, struct submission *submission)
{
	*submission->before = submission->next;
	if (submission->next)
		submission->next->before = submission->before;
	else
		all->last = submission->before;
	free(submission->whole);
	free(submission);
}
