# SPDX-License-Identifier: GPL-2.0
"""david calibrate: a profile from a drive's answer times.

cli.py is the command. probe.py says what a disk is here: requests go in, times come out. blockdisk.py and
simdisk.py are such disks; nothing else knows which one it is, and nothing looks into a profile. In order:
cache.py (what hits), rotation.py, layout.py (zones, tracks, angles), heads.py, seeks.py, writes.py, depth.py.
result.py is the profile with the source of each line, validation.py holds it against jobs that nothing was
fitted to, output.py puts it into a file. Without a disk fromfio.py fits a profile to results of fio, which
fiojobs.py reads: fiomodel.py says what the model makes of them, knobs.py what a job determines, fitdisk.py
and fitssd.py which values of a disk and of an SSD these are. newprofile.py, `david profile new`, does the
same with a data sheet, which sheet.py reads as jobs, and refuses if no drive can be like that. leftout.py
makes such a profile of each drive that was measured, as if the drive were not known, and holds it.
"""
