/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of david-sim bench. */
#ifndef DAVID_SIM_BENCH_H
#define DAVID_SIM_BENCH_H

int bench_main(int argc, char **argv);

#endif
