// SPDX-License-Identifier: GPL-2.0
#include "../../model/write-buffer.c"
