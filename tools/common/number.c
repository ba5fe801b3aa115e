// SPDX-License-Identifier: GPL-2.0
#include "number.h"

#include <ctype.h>
#include <errno.h>

#include "complain.h"

bool number_parse(const char *text, u64 most, u64 *number)
{
	bool hexadecimal = text[0] == '0' && text[1] == 'x';
	char *end;

	if (!isdigit((unsigned char)*text) || (hexadecimal && !isxdigit((unsigned char)text[2])))
		return false;
	errno = 0;
	*number = strtoull(text, &end, hexadecimal ? 16 : 10);
	return !*end && !errno && *number <= most;
}

bool number_parse_real(const char *text, double *number, const char **rest)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	*number = strtod(text, &end);
	*rest = end;
	return true;
}

bool number_parse_bytes(const char *text, u64 *bytes)
{
	static const char units[] = "KMGTP";
	const char *rest, *unit;
	double value;

	if (!number_parse_real(text, &value, &rest))
		return false;
	unit = *rest ? strchr(units, toupper((unsigned char)*rest)) : NULL;
	if (*rest && (!unit || rest[1]))
		return false;
	value *= unit ? 1ull << 10 * (unit - units + 1) : 1;
	if (!(value < 0x1p62))
		return false;
	*bytes = value;
	return true;
}

u64 number_of_option(const char *option, const char *text, u64 most)
{
	u64 number;

	if (!number_parse(text, most, &number))
		die("%s: '%s' is not a number, or too large a one", option, text);
	return number;
}
