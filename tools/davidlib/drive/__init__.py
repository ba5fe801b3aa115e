# SPDX-License-Identifier: GPL-2.0
"""Drives: their profiles, and everyday jobs on them, held against what they should come to.

Commands: profile.py; sim.py, which serves what recording.py reads, or by served.py a block trace;
choose.py, which looks for a drive that will do, by candidates.py and asking.py, which asks david-sim by
many threads that can be stopped. files.py finds a profile, profileword.py
makes one word of it, disksim.py reads DiskSim's descriptions of drives. everyday.py is the table of jobs,
profile_bench.py runs them. evidence.py reads profiles/evidence/*.toml: what real drives did, which jobs of
the table and realdrives.py are held against. classes.py reads profiles/classes/*.toml: kinds of drives, and
how far their drives are apart. worth.py grades profiles by kind of job. presets.py has ways in which drives
were seen to fail.
The model and the parser of profiles are C: build/david-sim does the work, so that there is one of each.
"""
