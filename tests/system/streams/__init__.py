# SPDX-License-Identifier: GPL-2.0
"""Recorded lives: which there are, how one is recorded, and what a replay of it is held to. The programs that
record are in the directory above, stream_record.py and selfid_record.py; so are those that hunt.
"""
