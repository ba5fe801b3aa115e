/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A small xfs with directory blocks of four blocks, in memory, for the test and the fuzzer of what
 * tools/classify finds in one: inodes, leaves of directories' btrees, and a log.
 */
#ifndef TEST_XFS_IMAGE_H
#define TEST_XFS_IMAGE_H

#include "../../dm-david/portable/crc.h"
#include "../../tools/classify/xfs-pieces.h"

#define XI_BLOCK	1024
#define XI_AG		256	/* blocks; two of them */
#define XI_BLOCKS	(2 * XI_AG)
#define XI_AG_BITS	8
#define XI_LOG		(XI_AG + 128)	/* first block */
#define XI_LOG_BLOCKS	64
#define XI_LOG_SECTORS	(2 * XI_LOG_BLOCKS)
#define XI_INODE	512
#define XI_FORK		176
#define XI_UUID		0x41

#define XI_START	0x01
#define XI_COMMIT	0x02
#define XI_CONTINUES	0x04
#define XI_CONTINUED	0x08
#define XI_UNMOUNT	0x20
#define XI_TRANSACTION	0x69

static u8 xi[XI_BLOCKS * XI_BLOCK];
static u8 xi_kind[XI_BLOCKS];
static struct xfs_geo xi_geo;

/* The record being made, and the log's end. */
static struct {
	u8 content[XI_LOG_SECTORS * 512];
	u32 bytes, operations, place, cycle, tail;
} xi_log;

static void xi16(u8 *to, u32 value)
{
	to[0] = value >> 8;
	to[1] = value;
}

static void xi32(u8 *to, u32 value)
{
	xi16(to, value >> 16);
	xi16(to + 2, value);
}

static void xi64(u8 *to, u64 value)
{
	xi32(to, value >> 32);
	xi32(to + 4, value);
}

static u8 *xi_at(u32 block)
{
	return xi + (size_t)block * XI_BLOCK;
}

/* An empty one; false: a superblock like that is none. */
static bool xi_make(void)
{
	__le32 crc;

	memset(xi, 0, sizeof(xi));
	memset(&xi_log, 0, sizeof(xi_log));
	xi_log.cycle = 1;
	xi32(xi, XFS_MAGIC);
	xi32(xi + 4, XI_BLOCK);
	xi64(xi + 8, XI_BLOCKS);
	memset(xi + 32, XI_UUID, SELFID_UUID);
	xi64(xi + 48, XI_LOG);
	xi32(xi + 84, XI_AG);
	xi32(xi + 88, 2);
	xi32(xi + 96, XI_LOG_BLOCKS);
	xi16(xi + 100, 0xb4a5);
	xi16(xi + 102, 512);
	xi16(xi + 104, XI_INODE);
	xi16(xi + 106, XI_BLOCK / XI_INODE);
	xi[120] = 10;
	xi[121] = 9;
	xi[122] = 9;
	xi[123] = 1;
	xi[124] = XI_AG_BITS;
	xi[192] = 2;
	crc = cpu_to_le32(crc_of(CRC_32C, xi, 512));
	memcpy(xi + 224, &crc, sizeof(crc));
	return !xfs_parse_super(xi, 512, XI_BLOCKS * XI_BLOCK / 512, &xi_geo) && !xi_geo.unsafe;
}

/* As a file's map has it. */
static inline void xi_extent(u8 *to, u64 block, u32 blocks)
{
	xi64(to, block >> 43);
	xi64(to + 8, block << 21 | blocks);
}

/* The inode in half @slot of @block; its extents are put behind it by the caller. */
static u8 *xi_inode(u32 block, u32 slot, u32 mode, u32 extents)
{
	u8 *inode = xi_at(block) + slot % 2 * XI_INODE;

	xi16(inode, 0x494e);
	xi16(inode + 2, mode);
	inode[4] = 3;
	inode[5] = 2;
	xi32(inode + 76, extents);
	xi64(inode + 152, block << 1 | slot);
	memset(inode + 160, XI_UUID, SELFID_UUID);
	return inode + XI_FORK;
}

/* A leaf of inode @owner's btree. */
static u8 *xi_leaf(u8 *block, u64 owner, u32 extents)
{
	xi32(block, 0x424d4133);
	xi16(block + 4, 0);
	xi16(block + 6, extents);
	memset(block + 40, XI_UUID, SELFID_UUID);
	xi64(block + 56, owner);
	return block + 72;
}

static void xi_operation(u32 id, u8 flags, const void *data, u32 n)
{
	u8 *to = xi_log.content + xi_log.bytes;

	if (n + 12 > sizeof(xi_log.content) - xi_log.bytes)
		return;
	xi32(to, id);
	xi32(to + 4, n);
	to[8] = flags & XI_UNMOUNT ? XFS_LOG_CLIENT : XI_TRANSACTION;
	to[9] = flags;
	to[10] = 0;
	to[11] = 0;
	if (n)
		memcpy(to + 12, data, n);
	xi_log.bytes += n + 12;
	xi_log.operations++;
}

/* Write what was put together; the tail is @back sectors in front of it. */
static void xi_record(u32 back)
{
	u32 sectors = DIV_ROUND_UP(xi_log.bytes, 512), i;
	u64 at = (u64)xi_log.cycle * XI_LOG_SECTORS + xi_log.place, tail = at - min(back, at);
	u8 *log = xi_at(XI_LOG), *h = log + xi_log.place * 512;

	if (!sectors || sectors > 64)
		return;
	memset(h, 0, 512);
	xi32(h, XFS_LOG_MAGIC);
	xi32(h + 4, xi_log.cycle);
	xi32(h + 8, 2);
	xi32(h + 12, xi_log.bytes);
	xi32(h + 16, xi_log.cycle);
	xi32(h + 20, xi_log.place);
	xi32(h + 24, tail / XI_LOG_SECTORS);
	xi32(h + 28, tail % XI_LOG_SECTORS);
	xi32(h + 40, xi_log.operations);
	xi32(h + 300, 1);
	memset(h + 304, XI_UUID, SELFID_UUID);
	xi32(h + 320, 32768);
	for (i = 0; i < sectors; i++) {
		u32 place = xi_log.place + 1 + i;
		u8 *to = log + place % XI_LOG_SECTORS * 512;

		memcpy(to, xi_log.content + i * 512, 512);
		memcpy(h + 44 + i * 4, to, 4);
		xi32(to, xi_log.cycle + (place >= XI_LOG_SECTORS));
	}
	xi_log.place += 1 + sectors;
	xi_log.cycle += xi_log.place >= XI_LOG_SECTORS;
	xi_log.place %= XI_LOG_SECTORS;
	xi_log.bytes = 0;
	xi_log.operations = 0;
	memset(xi_log.content, 0, sizeof(xi_log.content));
}

static void xi_unmount(void)
{
	xi_operation(1, XI_UNMOUNT, "nU\0\0\0\0\0", 8);
	xi_record(0);
}

/* What each block says itself, then what can be found. Returns the number of errors. */
static u64 xi_find(void)
{
	struct mapped disk = { .memory = xi, .bytes = sizeof(xi) };
	struct view view = { &disk, 0, sizeof(xi) };
	struct kinds kinds;
	u32 block, blocks;
	u64 errors;

	kinds_init(&kinds, XI_BLOCKS);
	for (block = 0; block < XI_BLOCKS; block++) {
		xi_kind[block] = xfs_identify(&xi_geo, xi_at(block), &blocks);
		if (block % XI_AG < 2)
			xi_kind[block] = SELFID_AG;
		if (block >= XI_LOG && block < XI_LOG + XI_LOG_BLOCKS)
			xi_kind[block] = SELFID_LOG;
		kinds_set(&kinds, block, xi_kind[block]);
	}
	errors = xfs_find_pieces(&xi_geo, &view, &kinds);
	for (block = 0; block < XI_BLOCKS; block++)
		xi_kind[block] = kinds_at(&kinds, block);
	kinds_free(&kinds);
	return errors;
}

#endif
