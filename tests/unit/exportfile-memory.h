/* SPDX-License-Identifier: GPL-2.0 */
/* An export of a disk in memory, for its test and its fuzzer: what tools/store writes and reads. */
#ifndef TEST_EXPORTFILE_MEMORY_H
#define TEST_EXPORTFILE_MEMORY_H

#include "../../tools/store/poolexportfile.h"

static u8 export[1 << 20];
static size_t made;	/* bytes written */
static size_t there;	/* bytes of them that can be read */
static size_t taken;	/* bytes read */

static bool put(void *ctx, const void *buf, size_t len)
{
	if (len > sizeof(export) - made)
		return false;
	memcpy(export + made, buf, len);
	made += len;
	return true;
}

static bool get(void *ctx, void *buf, size_t len)
{
	if (len > there - taken)
		return false;
	memcpy(buf, export + taken, len);
	taken += len;
	return true;
}

#endif
