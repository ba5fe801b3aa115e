# SPDX-License-Identifier: GPL-2.0
"""What programs do to files: `david trace`. docs/TRACE.md is its manual.

cli.py is the command. program.py calls build/david-trace, the program in C (tools/trace/), which records
calls and finishes what was recorded into SQLite. switch.py finds a tracer that runs, causal.py says who waits
for whom, disks.py what was asked of each disk. tracefile.py writes trace files too, for importers. figures.py
has the tables and figures of a report, page.py prints and draws them. importing.py imports, formats.py is
the one table of formats, recognise.py says of which of them a text is, otherforms.py what it is if of none,
from_*.py are the importers.
account.py says what became of each line. exporting.py has the exporters, constants.py the numbers of flags
that texts name. blocks.py takes a trace of requests to disks as such.
"""
