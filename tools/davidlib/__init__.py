# SPDX-License-Identifier: GPL-2.0
"""What tools/david is made of, in rooms. Each room's __init__.py tells what it does and what it imports from.

    drive      drives' profiles
    disk       fake disks                     imports from drive
    calibrate  a profile from answer times    imports from drive
    image      disks as files                 imports from drive, disk
    lab        lab machines
    workload   what programs do to a disk
    trace      what programs do to files, recorded
    replay     that, again                    imports from disk, image, trace
    bench      a question's runs              imports from workload, disk, drive, lab
    report     a page of their results        imports from workload, bench
    paper      the same for David's paper     imports from drive, disk, lab, workload, bench, report

The files beside the rooms (build, command, filesystems, losses, nearest, packages, sizes, source, student,
util) are for all of them, and import from none. The command line (tools/david) loads a room's modules by
COMMANDS, a table. tests/rooms holds the imports to this.
"""
