# SPDX-License-Identifier: GPL-2.0
"""Fake disks: create, look at, resize and remove them; plan their stores; what lies on them and below them.

Commands: device.py (create, remove, resize, list), show.py (stats), top.py, check.py, info.py, setting.py
(set), array.py, rawrules.py (raw), plan.py, stack.py, store.py, classify.py. Each has add_parsers(),
which tools/david calls. dm.py runs dmsetup for all of them, md.py mdadm. stats.py mirrors dm-
david/uapi/dm-david.h, since.py takes two of its figures from each other, lateness.py judges the times in
them.
Imports from: drive, for a profile as the word of a table line; build, sizes, util. Not from lab: all of this
is installed, where there is no source tree. Only build.ensure() knows of one.
Errors: DeviceError for what a device or the kernel refuses, UserError for the rest; the text says what to do.
"""
