/* SPDX-License-Identifier: GPL-2.0 */
/* What libFuzzer calls. */
#ifndef FUZZ_H
#define FUZZ_H

#include "../../dm-david/portable.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#endif
