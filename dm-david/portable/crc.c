// SPDX-License-Identifier: GPL-2.0
/*
 * Checksums by table, eight bytes a step, and crc32c by the CPU's instruction.
 *
 * The instruction takes three cycles, and one can start in each cycle. So a page
 * is divided into three lanes, whose checksums are computed side by side. To join
 * them, the register of a lane is multiplied by x^8 for each byte that follows
 * the lane. There are tables for that one length.
 */
#include "crc.h"

#define LANE		1360u	/* three are a page but 16 bytes */

static const u32 polynomial[CRC_KINDS] = {
	[CRC_32C] = 0x82f63b78,
	[CRC_32] = 0xedb88320,
};

/* table[kind][n][b]: the register after byte b and n zero bytes, from 0. */
static u32 table[CRC_KINDS][8][256];
static u32 skip_lane[4][256];
static bool by_cpu;

u32 crc_multiply(enum crc_kind kind, u32 a, u32 b)
{
	u32 poly = polynomial[kind], product = 0;
	unsigned int i;

	for (i = 0; i < 32; i++) {
		product ^= b & -(a >> 31);
		a <<= 1;
		b = b >> 1 ^ (poly & -(b & 1));
	}
	return product;
}

static u32 crc_x_power(enum crc_kind kind, u32 base, u64 n)
{
	u32 result = 1u << 31;

	for (; n; n >>= 1) {
		if (n & 1)
			result = crc_multiply(kind, result, base);
		base = crc_multiply(kind, base, base);
	}
	return result;
}

u32 crc_power(enum crc_kind kind, u64 bytes)
{
	return crc_x_power(kind, 1u << 23, bytes);	/* x^8 */
}

/*
 * P has a constant term, so x has an inverse: y = (P + 1) / x, as x * y = P + 1
 * is 1 modulo P. In the register's bit order this division is a shift by one.
 */
u32 crc_inverse_power(enum crc_kind kind, u64 bytes)
{
	u32 inverse_x = polynomial[kind] << 1 | 1;

	return crc_x_power(kind, crc_x_power(kind, inverse_x, 8), bytes);
}

#ifdef __x86_64__
static bool cpu_can(void)
{
	u32 a = 1, b, c = 0, d;

	asm volatile("cpuid" : "+a" (a), "=b" (b), "+c" (c), "=d" (d));
	return c >> 20 & 1;	/* SSE 4.2 */
}

static __always_inline u64 cpu_word(u64 state, const u8 *p)
{
	/* Eight bytes at any address. A u64 would have to be aligned. */
	asm("crc32q %1, %0" : "+r" (state) : "m" (*(const u8 (*)[8])p));
	return state;
}

static __always_inline u32 cpu_byte(u32 state, const u8 *p)
{
	asm("crc32b %1, %0" : "+r" (state) : "m" (*p));
	return state;
}
#else
static bool cpu_can(void)
{
	return false;
}

static __always_inline u64 cpu_word(u64 state, const u8 *p)
{
	return state + *p;	/* never called */
}

static __always_inline u32 cpu_byte(u32 state, const u8 *p)
{
	return state + *p;
}
#endif

static __always_inline u32 over_lane(u32 s)
{
	return skip_lane[0][s & 255] ^ skip_lane[1][s >> 8 & 255] ^
	       skip_lane[2][s >> 16 & 255] ^ skip_lane[3][s >> 24];
}

static u32 update_by_cpu(u32 state, const u8 *p, size_t len)
{
	u64 a = state, b, c;
	const u8 *end;

	for (; len >= 3 * LANE; len -= 3 * LANE, p += 2 * LANE) {
		b = 0;
		c = 0;
		for (end = p + LANE; p < end; p += 8) {
			a = cpu_word(a, p);
			b = cpu_word(b, p + LANE);
			c = cpu_word(c, p + 2 * LANE);
		}
		a = over_lane(over_lane(a) ^ b) ^ c;
	}
	for (; len >= 8; len -= 8, p += 8)
		a = cpu_word(a, p);
	for (; len; len--)
		a = cpu_byte(a, p++);
	return a;
}

static u32 update_by_table(u32 (*t)[256], u32 state, const u8 *p, size_t len)
{
	for (; len >= 8; len -= 8, p += 8) {
		__le32 low, high;
		u32 x, y;

		memcpy(&low, p, 4);
		memcpy(&high, p + 4, 4);
		x = state ^ le32_to_cpu(low);
		y = le32_to_cpu(high);
		state = t[7][x & 255] ^ t[6][x >> 8 & 255] ^ t[5][x >> 16 & 255] ^ t[4][x >> 24] ^
			t[3][y & 255] ^ t[2][y >> 8 & 255] ^ t[1][y >> 16 & 255] ^ t[0][y >> 24];
	}
	while (len--)
		state = state >> 8 ^ t[0][(state ^ *p++) & 255];
	return state;
}

u32 crc_update(enum crc_kind kind, u32 state, const void *p, size_t len)
{
	if (kind == CRC_32C && by_cpu)
		return update_by_cpu(state, p, len);
	return update_by_table(table[kind], state, p, len);
}

bool crc_use_cpu(bool yes)
{
	by_cpu = yes && cpu_can();
	return by_cpu;
}

void crc_setup(void)
{
	u32 lane = crc_power(CRC_32C, LANE);
	unsigned int kind, i, n;

	for (kind = 0; kind < CRC_KINDS; kind++) {
		u32 (*t)[256] = table[kind];

		for (i = 0; i < 256; i++)
			t[0][i] = crc_multiply(kind, 1u << 23, i);
		for (n = 1; n < 8; n++)
			for (i = 0; i < 256; i++)
				t[n][i] = t[n - 1][i] >> 8 ^ t[0][t[n - 1][i] & 255];
	}
	for (i = 0; i < 256; i++)
		for (n = 0; n < 4; n++)
			skip_lane[n][i] = crc_multiply(CRC_32C, lane, i << 8 * n);
	crc_use_cpu(true);
}
