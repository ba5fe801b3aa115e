// SPDX-License-Identifier: GPL-2.0
/* dm-david-test.ko: the suites in tests/unit run when it is loaded. */
#include <linux/module.h>

MODULE_DESCRIPTION("Unit tests of dm-david's portable sources");
MODULE_LICENSE("GPL");
