/* SPDX-License-Identifier: GPL-2.0 */
/* david-sim live: a modelled disk for a program that asks one request after another. */
#ifndef DAVID_SIM_LIVE_H
#define DAVID_SIM_LIVE_H

int live_main(int argc, char **argv);

#endif
