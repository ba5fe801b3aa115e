/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The portability seam: all that the portable sources (range table, remap
 * bitmap, content, classifier/, model/) know of the world around them. In the
 * kernel it is the kernel's own headers; elsewhere a few lines over libc, so
 * that the same sources run in unit tests, fuzzers and offline tools.
 *
 * This room has nothing to do with device-mapper. It is what all C of the
 * project stands on: the seam, checksums, hashing.
 *
 * Portable code takes no locks, does no I/O, uses no floating point, and gets
 * the time as an argument. What allocates includes portable-alloc.h, too: the
 * kernel's headers for that are six times as long as all of these.
 */
#ifndef DAVID_PORTABLE_H
#define DAVID_PORTABLE_H

/*
 * For a large variable on a hot path that is written before it is read: kernels
 * that zero every variable on the stack leave this one alone.
 */
#if __has_attribute(__uninitialized__)
#define __uninit	__attribute__((__uninitialized__))
#else
#define __uninit
#endif

#ifdef __KERNEL__

#include <asm/byteorder.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#else

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/cdefs.h>		/* __always_inline */
#include <linux/types.h>	/* __le64, in <linux> of any C library */

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned int gfp_t;

#define U32_MAX		UINT32_MAX
#define S32_MAX		INT32_MAX
#define U64_MAX		UINT64_MAX
#define S64_MAX		INT64_MAX
#define BITS_PER_LONG	64

#define cpu_to_le16(x)	((__le16)htole16(x))
#define cpu_to_le32(x)	((__le32)htole32(x))
#define cpu_to_le64(x)	((__le64)htole64(x))
#define cpu_to_be16(x)	((__be16)htobe16(x))
#define cpu_to_be32(x)	((__be32)htobe32(x))
#define le16_to_cpu(x)	le16toh((u16)(x))
#define le32_to_cpu(x)	le32toh((u32)(x))
#define le64_to_cpu(x)	le64toh((u64)(x))
#define be16_to_cpu(x)	be16toh((u16)(x))
#define be32_to_cpu(x)	be32toh((u32)(x))
#define be64_to_cpu(x)	be64toh((u64)(x))
#define cpu_to_be64(x)	((__be64)htobe64(x))

#define WARN_ON_ONCE(x)	({ bool w_ = !!(x); assert(!w_); w_; })
#define BIT(n)		(1UL << (n))
#define OPTIMIZER_HIDE_VAR(x)	__asm__("" : "+r" (x))
#define BUILD_BUG_ON(x)	_Static_assert(!(x), #x)
#define __packed	__attribute__((__packed__))
#define noinline	__attribute__((__noinline__))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define min(a, b)	({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b)	({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min_t(t, a, b)	min((t)(a), (t)(b))
#define max_t(t, a, b)	max((t)(a), (t)(b))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define __printf(format, first)	__attribute__((__format__(__printf__, format, first)))
#define check_mul_overflow(a, b, d)	__builtin_mul_overflow(a, b, d)
#define check_add_overflow(a, b, d)	__builtin_add_overflow(a, b, d)

static inline u16 get_unaligned_le16(const void *p)
{
	const u8 *byte = p;

	return byte[0] | byte[1] << 8;
}

static inline u32 get_unaligned_le32(const void *p)
{
	return get_unaligned_le16(p) | (u32)get_unaligned_le16(p + 2) << 16;
}

static inline void put_unaligned_le32(u32 value, void *p)
{
	u8 *byte = p;

	byte[0] = value;
	byte[1] = value >> 8;
	byte[2] = value >> 16;
	byte[3] = value >> 24;
}

static inline u64 get_unaligned_le64(const void *p)
{
	return get_unaligned_le32(p) | (u64)get_unaligned_le32(p + 4) << 32;
}

static inline u16 get_unaligned_be16(const void *p)
{
	const u8 *byte = p;

	return byte[0] << 8 | byte[1];
}

static inline u32 get_unaligned_be32(const void *p)
{
	return (u32)get_unaligned_be16(p) << 16 | get_unaligned_be16(p + 2);
}

static inline u64 get_unaligned_be64(const void *p)
{
	return (u64)get_unaligned_be32(p) << 32 | get_unaligned_be32(p + 4);
}

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div_u64_rem(u64 dividend, u32 divisor, u32 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 div64_u64_rem(u64 dividend, u64 divisor, u64 *remainder)
{
	*remainder = dividend % divisor;
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

static inline u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 divisor)
{
	return (__uint128_t)a * b / divisor;
}

/* The largest integer whose square is no more than @x */
static inline u32 int_sqrt64(u64 x)
{
	u64 root = 0, bit = 1ULL << 62;

	for (; bit; bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

static inline long strscpy(char *to, const char *from, size_t size)
{
	size_t n = 0;

	/* Of strnlen() gcc 14 warns: a constant may be shorter than @size. */
	while (n < size && from[n])
		n++;
	if (!size)
		return -E2BIG;
	memcpy(to, from, n < size ? n + 1 : size);
	to[size - 1] = '\0';
	return n < size ? (long)n : -E2BIG;
}

static inline unsigned long __ffs64(u64 word)
{
	return __builtin_ctzll(word);
}

static inline unsigned int hweight64(u64 word)
{
	return __builtin_popcountll(word);
}

static inline int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

#endif /* !__KERNEL__ */
#endif
