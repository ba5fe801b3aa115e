# SPDX-License-Identifier: GPL-2.0
"""Recorded programs, again and on any disk: `david compile`, `david replay` and `david compare`.

The manual is docs/REPLAY.md. cli.py is the commands. programs.py calls build/david-compile and
build/david-replay, the programs in C (tools/compile/, tools/replay/). target.py is the directory that a trace
is replayed in: empty at first, emptied between runs, waited for; snapshot.py gives each run the same disk;
background.py turns off what file systems do by themselves. metrology.py is the arithmetic of uncertainty,
compare.py holds replays against their originals with it, comparison.py prints that. blockreplay.py sends a
block trace's requests to a device.
"""
