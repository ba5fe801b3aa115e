# SPDX-License-Identifier: GPL-2.0
"""The page of `david bench paper`: ours beside the values of the paper (Agrawal et al., FAST 2011).

published.py has the paper's values. measured.py takes ours out of the results, criteria.py says which aims
are reached. sections.py puts both into tables, words.py has the reasons, drawings.py the plots; page.py
writes HTML and Markdown.
It is a part of the room report.
"""
