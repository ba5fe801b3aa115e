# SPDX-License-Identifier: GPL-2.0
"""Tables, and pages of them that open without a network. Installed with every command.

tables.py is a table: as text, as a CSV file, and what of it is to be drawn. document.py and document.css make
an HTML file, theme.py has its colours, in light, dark and on paper. writing.py writes a page of tables: with
drawings where `david report` is installed, which draws them, and else without.
"""
