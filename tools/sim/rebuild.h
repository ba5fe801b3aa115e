/* SPDX-License-Identifier: GPL-2.0 */
/* david-sim rebuild */
#ifndef DAVID_SIM_REBUILD_H
#define DAVID_SIM_REBUILD_H

int rebuild_main(int argc, char **argv);

#endif
