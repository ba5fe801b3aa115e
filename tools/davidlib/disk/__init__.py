# SPDX-License-Identifier: GPL-2.0
"""Fake disks: create, look at, resize and remove them; plan their stores; what lies on them and below them.

Commands: create.py, device.py (remove, resize, list), show.py (stats), top.py, check.py, info.py, setting.py
(set), fault.py, packing.py (pack), pool.py, array.py, rawrules.py (raw), record.py, plan.py, stack.py,
store.py, classify.py, schema.py. Each has add_parsers(), which tools/david calls. create.create_disk() makes
a disk of DiskParameters (parameters.py), array.create_array() an array; the commands and other rooms call
them.
backing.py looks at a device before something is stored on it, pools.py finds a pool's, layers.py says what a
device is made of, mounts.py what is mounted. dm.py runs dmsetup for all of them, md.py mdadm; kmsg.py has the
kernel's reasons, modulehelp.py the command that helps where there is no target, zones.py the zoned
device that a disk with zones has. stats.py mirrors
dm-david/uapi/dm-david.h, statstext.py puts it into words, group.py adds up those of an array or a pool,
openmetrics.py prints them for Prometheus, baseline.py takes two of its figures from each
other, lateness.py judges the times in them. Not from lab: all of this is installed, where there is no source
tree. Only build.ensure() knows of one. Errors: DeviceError for what a device or the kernel refuses, UserError
for the rest; the text says what to do.
"""
