/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of david-sim physics. */
#ifndef DAVID_SIM_PHYSICS_H
#define DAVID_SIM_PHYSICS_H

int physics_main(int argc, char **argv);

#endif
