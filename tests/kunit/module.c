// SPDX-License-Identifier: GPL-2.0
/* dm-david-test.ko: the suites in tests/unit run when it is loaded. */
#include <linux/module.h>
#include "../../dm-david/portable/crc.h"

/* Runs before the suites do. */
static int __init david_test_init(void)
{
	crc_setup();
	return 0;
}

static void __exit david_test_exit(void)
{
}

module_init(david_test_init);
module_exit(david_test_exit);

MODULE_DESCRIPTION("Unit tests of dm-david's portable sources");
MODULE_LICENSE("GPL");
