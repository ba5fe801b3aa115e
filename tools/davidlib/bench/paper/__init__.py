# SPDX-License-Identifier: GPL-2.0
"""The evaluation of David's paper (Agrawal et al., FAST 2011), repeated: `david bench paper`.

plan.py says which labs there are, in the quick form and in the whole one; command.py runs them, by the same
sweeps and with the same kind of directory as any other bench. guest.py is what goes on in a lab. It calls
table2.py (workloads and what they store), table3.py (mirrors), images.py (figures 1 and 8), requests.py
(figures 6 and 7), load.py (figures 4 and 9); disks.py has what they share. The page, with the paper's own
values beside, is report/paper.py's.
It is a part of the room bench.
"""
