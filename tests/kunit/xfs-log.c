// SPDX-License-Identifier: GPL-2.0
#include "../../classifier/xfs-log.c"
