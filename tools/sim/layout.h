/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of david-sim layout. */
#ifndef DAVID_SIM_LAYOUT_H
#define DAVID_SIM_LAYOUT_H

int layout_main(int argc, char **argv);

#endif
