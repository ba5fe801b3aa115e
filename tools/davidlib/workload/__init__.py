# SPDX-License-Identifier: GPL-2.0
"""What programs do to a file system or a raw disk: the workloads that `david bench` has built in.

kinds.py has the table: name, parameters with their defaults, and who does it. servers.py (fileserver,
varmail, webserver, postmark), blocks.py (sequential and random I/O, on files that spread.py lays all over the
disk), trees.py (untar, grep, find, du, git clone), image.py (Impressions), fiojob.py (fio, whose options
fiooptions.py sorts) and programs.py (a command, a replay) do it. steady.py says when a rate has settled.
record.py notes what each operation took, several.py runs several at once, fileops.py has what all of them do
to files; called.py tells which programs of the system were called, and their versions. It runs where the disk
is, in a lab, and knows nothing of how that was made. All that is random comes from a seed: the same
parameters and seed make the same calls in the same order.
"""
