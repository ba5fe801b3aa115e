# SPDX-License-Identifier: GPL-2.0
"""The evaluation of David's paper (Agrawal et al., FAST 2011), repeated: `david bench paper`, and its page.

cli.py is the commands `david bench` and `david report`, which do this, too. plan.py says which labs there
are, in the quick form and in the whole one; command.py runs them, by the same sweeps and with the same kind
of directory as any other bench. guest.py is what goes on in a lab. It calls table2.py (workloads and what
they store), table3.py (mirrors), images.py (figures 1 and 8), requests.py (figures 6 and 7), load.py (figures
4 and 9) and storage.py; disks.py has what they share. packing.py says what a workload takes once it is
packed, compact.py in how few bytes it could be said. The page has ours beside the paper's values, which are
in published.py. measured.py takes ours out of the results, criteria.py says which aims are reached.
sections.py puts both into tables, words.py has the reasons, drawings.py the plots; page.py writes HTML and
Markdown. Nobody imports from here: bench and report know nothing of the paper.
"""
