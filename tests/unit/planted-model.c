// SPDX-License-Identifier: GPL-2.0
/* Linked into david-sim built with MODEL_PLANT: the bug is that of the environment. */
#include <stdlib.h>

const char *model_plant;

static __attribute__((constructor)) void plant(void)
{
	model_plant = getenv("MODEL_PLANT");
}
