/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DAVID_SIM_PROFILES_H
#define DAVID_SIM_PROFILES_H

/* `david-sim profile ...`; argv[0] is "profile". Returns the exit status. */
int profiles_main(int argc, char **argv);

#endif
