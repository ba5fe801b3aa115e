# SPDX-License-Identifier: GPL-2.0
"""From results to a page: `david report`.

cli.py is the command. figures.py has the numbers: a metric of each run, its mean with an interval, variants
held against each other. factors.py compares what was asked within all else, and finds interactions;
crossings.py where curves over a parameter cross; answer.py puts all that into sentences. why.py says what
an operation of each costs. trust.py says how far a figure may be from the drive's. compare.py holds two
results against each other, thresholds.py a result against its question's thresholds. plots.py has the
drawings, charts.py what a drawing is: a description of Vega-Lite's and a table. page.py makes the page, by
../pages; tablepage.py the pages of other commands' tables.
script.py puts Vega, page.js and licences.txt into it, to draw there. origin.py says of which kernel,
programs and drives it is. planner.py is a page of what `david choose` found. export.py writes SVG, PNG, PDF
and CSV, forms.py tables, filenames.py names them. Not installed, as labs are not. charts.py, plots.py,
script.py, page.py, tablepage.py and export.py need the environment of bench.prepare; the others need no more
than Python.
"""
