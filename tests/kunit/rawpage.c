// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/rawpage.c"
