# SPDX-License-Identifier: GPL-2.0
"""Drives: their profiles, and everyday jobs on them, held against what they should come to.

Command: profile.py. files.py finds a profile, profileword.py makes one word of it, everyday.py and
everyday_figures.py are the table of jobs, profile_bench.py runs them.
Imports from: build, sizes, util. The model and the parser of profiles are C: build/david-sim does the work,
so that there is one of each.
"""
