/* SPDX-License-Identifier: GPL-2.0 */
/* For kernels before 6.12, which have it elsewhere: found after the kernel's own (-idirafter). */
#include <asm/unaligned.h>
