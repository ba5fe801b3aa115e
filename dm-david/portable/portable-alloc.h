/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The portability seam (portable.h) for those portable sources that allocate
 * memory, or run so long that they offer the CPU to others.
 */
#ifndef DAVID_PORTABLE_ALLOC_H
#define DAVID_PORTABLE_ALLOC_H

#include "portable.h"

#ifdef __KERNEL__

#include <linux/sched.h>
#include <linux/slab.h>

#else

#define GFP_KERNEL	0u
#define GFP_NOIO	0u
#define GFP_NOWAIT	0u
#define __GFP_NOWARN	0u

#define cond_resched()	((void)0)

static inline void *kmalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return malloc(size);
}

static inline void kfree(const void *p)
{
	free((void *)p);
}

static inline void *kvzalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return calloc(1, size);
}

static inline void *kvcalloc(size_t n, size_t size, gfp_t gfp)
{
	(void)gfp;
	return calloc(n, size);
}

static inline void kvfree(const void *p)
{
	free((void *)p);
}

#endif /* !__KERNEL__ */
#endif
