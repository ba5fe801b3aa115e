/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers that users write. */
#ifndef COMMON_NUMBER_H
#define COMMON_NUMBER_H

#include "../../dm-david/portable/portable.h"

/* The whole of @text: decimal digits, or hexadecimal ones behind 0x; at most @most. */
bool number_parse(const char *text, u64 most, u64 *number);

/* "65536", "64K", "1.5M": bytes, with K, M, G, T or P of 1024, below 2^62. */
bool number_parse_bytes(const char *text, u64 *bytes);

/* A number in front of other text, with decimals or without. *@rest is what follows it. */
bool number_parse_real(const char *text, double *number, const char **rest);

/* The value of an option. What is no number, or too large a one, ends the program. */
u64 number_of_option(const char *option, const char *text, u64 most);

#endif
