// SPDX-License-Identifier: GPL-2.0
#include "memberwords.h"

#include "../common/complain.h"
#include "../common/number.h"
#include "options.h"

/* What md does when a member goes is not modelled. */
static int check_kinds(const char *command, const struct faults *faults)
{
	u32 i;

	for (i = 0; i < faults->nr; i++)
		if (faults->all[i].kind != FAULT_SLOW && faults->all[i].kind != FAULT_STALL &&
		    faults->all[i].kind != FAULT_MEDIA)
			return bad_usage(command,
					 "--fault: only media-error, slow and firmware-stall");
	return 0;
}

int members_parse_fault(const char *command, struct member_words *words,
			const struct array_setup *setup, const char *text)
{
	const char *colon = strchr(text, ':');
	struct fault_error error;
	char number[8] = "";
	u64 member;

	if (colon && colon - text < (long)sizeof(number))
		memcpy(number, text, colon - text);
	if (!number_parse(number, U64_MAX, &member))
		return bad_usage(command, "--fault: '%s': a member's number and a colon come first",
				 text);
	if (member >= setup->layout.members)
		return bad_usage(command, "--fault: there is no member %llu: the last is %u",
				 (unsigned long long)member, setup->layout.members - 1);
	if (setup->failed >> member & 1)
		return bad_usage(command, "--fault: member %llu has failed already",
				 (unsigned long long)member);
	if (!words->faults[member]) {
		words->faults[member] = malloc(sizeof(struct faults));
		if (!words->faults[member])
			return bad_usage(command, "out of memory");
		faults_init(words->faults[member], setup->profile);
	}
	if (faults_parse(words->faults[member], colon + 1, &error))
		return bad_usage(command, "--fault: %s", error.text);
	return check_kinds(command, words->faults[member]);
}

int members_parse_angles(const char *command, struct member_words *words,
			 const struct array_setup *setup, const char *text)
{
	u32 members = setup->layout.members, nr = 0;
	char *copy = strdup(text), *rest = copy, *word;
	int r = copy ? 0 : bad_usage(command, "out of memory");

	while (!r && (word = strsep(&rest, "+")))
		if (nr == members || !number_parse(word, U64_MAX / 2, &words->angles[nr++]))
			r = bad_usage(command,
				      "--angles: '%s': nanoseconds of each of %u members, such as 0+4000000",
				      word, members);
	if (!r && nr != members)
		r = bad_usage(command, "--angles: of %u members, and the array has %u", nr,
			      members);
	free(copy);
	return r;
}

bool members_have_media(const struct member_words *words)
{
	u32 i, n;

	for (i = 0; i < ARRAY_MEMBERS; i++)
		for (n = 0; words->faults[i] && n < words->faults[i]->nr; n++)
			if (words->faults[i]->all[n].kind == FAULT_MEDIA)
				return true;
	return false;
}

static u64 met(const struct faults *faults)
{
	const struct fault_figures *f = &faults->figures;

	return f->media_reads + f->media_writes + f->timeouts + f->gone + f->slowed + f->stalled +
	       f->detours;
}

bool members_unmet(const char *command, const struct member_words *words)
{
	bool unmet = false;
	u32 i;

	for (i = 0; i < ARRAY_MEMBERS; i++)
		unmet |= words->faults[i] && !met(words->faults[i]);
	if (unmet)
		complain("%s: no request met a --fault of some member", command);
	return unmet;
}

void members_free(struct member_words *words)
{
	u32 i;

	for (i = 0; i < ARRAY_MEMBERS; i++)
		free(words->faults[i]);
}
