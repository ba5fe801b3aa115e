// SPDX-License-Identifier: GPL-2.0
#include "../../classifier/btrfs-packed.c"
