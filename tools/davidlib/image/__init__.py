# SPDX-License-Identifier: GPL-2.0
"""Disks as files: david image and david age.

cli.py is the commands. archive.py is the file: a description and an exported store, with checksums. disk.py
makes one of a disk and a disk of one. recipe.py says what a file system is aged by, aging.py does it. Above
disk/.
"""
