// SPDX-License-Identifier: GPL-2.0
#include "calls.h"

static const struct call calls[] = {
#define CALL(nr, name, class, effect, args) \
	[nr] = { #name, CALL_##class, DOES_##effect, args, #effect },
#include "calls-x86-64.h"
#undef CALL
};

const unsigned int calls_end = sizeof(calls) / sizeof(*calls);

const struct call *call_of(u32 nr)
{
	return nr < calls_end && calls[nr].name ? &calls[nr] : NULL;
}

int call_arg(const struct call *call, char letter)
{
	const char *at = letter ? strchr(call->args, letter) : NULL;

	return at ? at - call->args : -1;
}

void calls_print(void)
{
	static const char *const classes[] = { "never", "files", "sync", "pages" };
	unsigned int nr;

	for (nr = 0; nr < calls_end; nr++) {
		if (calls[nr].name)
			printf("%u %s %s %s\n", nr, calls[nr].name, classes[calls[nr].class],
			       *calls[nr].args ? calls[nr].args : "-");
	}
}
