# SPDX-License-Identifier: GPL-2.0
"""What the page says of each part: what was done, and why ours is not the paper's.

Paragraphs are set apart by an empty line.
"""

from __future__ import annotations

TABLE_2 = """
One disk of 1 TB, the paper's Hitachi. The workloads run one after another on one file system. In use are
the blocks that a workload takes; kept are those of them that are not dropped. Packed is what these take in
the store after `david pack`, run when the workload has ended and its file system is unmounted: each block's
piece, and its share of what the packs hold besides. The aims above are held against that. The paper's David
stored everything that mkfs writes, the journal included. Here zeros cost no room, so the journal's blocks
come into the store when they are first written. Together with blocks that were packed after the workload
before, and are written again, that is the difference between kept and what the store grew by, before it is
packed.

ext3 was made as in 2007 (inodes of 128 bytes, one for 16 KiB, a journal of 128 MB): it writes what the
paper's 7,900,712 KB after mkfs come to, within 1 %. The sizes of imp's files are not in the paper. The
middle of its figure 1 was taken (mu 7.93, sigma 2.83); what is missing to the image's size went to the
largest hundredth of the files.

On ext3 one block in 1,024 of a file's data is an indirect block, which is metadata: no more than 99.90 %
of a large file can be dropped there. An image with a directory for every ten megabytes cannot come to
99.99 % on any file system whose directories take a block each, unless it is packed.
"""
TABLE_2_QUICK = """
This is the quick form: the image has a tenth of the paper's bytes and files, the others have fewer
operations.
"""
KEPT = """
The workloads once more, on ext3 of 64 GiB, with a tenth of the image, and with webserver's log as long as
its 3,854,828 KB say. After each of them every kept block that was not kept before is looked up in the file
system; in KB. Data that is kept would show: it is that of a file of a few bytes, whose block could as well
be the target of a symbolic link. Over zeros are written the journal and the inode tables: mkfs has left
zeros there, which were kept before. All else is of no inode any more.

Indirect blocks and directories are metadata, and their content must come back. An indirect block of a file
in one piece counts up, from its first number to its last.

The names of postmark's files take 16 bytes each, and all are in one directory, whose hashed blocks are some
60 % full. So what is dropped of postmark depends on the sizes of its files, which the paper does not say.

In how few bytes could these blocks be kept? The second table reads each of them. As one run: 24 bytes for a
block that is one run of numbers that count up, and zeros. As runs: 8 bytes more for each run, where there
are several; to the paper's small directories that is a list of what is not zero. Less zeros at the end:
4 KiB cut behind the last byte that is not zero. Deflated: each block by zlib at its best. The shortest: of
these four, block by block. These are computed. Packed is measured: `david pack` codes each block, at its
best as numbers that differ little, and puts many of them into few places; what a pack's head and ends take
is shared out among its blocks.

So the image comes to what a list of runs would give, and postmark's directory to less than a compressor
of each block leaves. The price is in docs/REFERENCE.md: what is packed is read through a decoder, and takes
a new place when it is written.
"""
RUN_TIMES = """
Seconds of the drive's time, until all is on the disk, in virtual time: computing takes none. In brackets
is the interval of 95 % over three seeds. None of these workloads is known exactly, so none can be held
against the paper's within 2.5 %.
"""
RUN_TIMES_QUICK = """
In this quick form most of them are smaller than the paper's.
"""
TABLE_3 = """
Mirrors of md over one to three fake disks, caches off, {requests} requests each (paper: 20,000). Random
ones come from as many processes as there are disks, sequential ones one at a time: the paper does not say
how its threads share them, and this gives its figures.

The profile's seek curve and write settle were chosen to meet the paper's random reads and writes on one
disk. The other ten figures were not fitted.
"""
FIGURE_1 = """
Images with log-normal file sizes, from the smallest to the largest of the paper's parameters, with five
files a directory, on ext2: the layout of ext3 without its journal, which would be most of a small image.
The paper says roughly 1 to 10 %, and gives neither numbers of files nor of directories.
"""
FIGURE_4 = """
A file is written to ext3 (ordered, commits each 5 s) with classify=implicit, at the drive's speed, in
virtual time. The paper's David held up to 240 MB with journal snooping, and ran out of 2 GB without. Here
the order of journal writes decides at once: a block of a file that was not logged is data.
"""
FIGURES_6_AND_7 = """
The paper ran the model beside the drive that it modelled. That drive is not here: below the model lies a
disk that david itself emulates, in virtual time. So this compares what the model foretells when a request
is issued with what a program then waits. It does not say how far the model is from a real drive:
docs/results/disksim.csv has that, for seven drives whose times were measured.

Neither the number of requests nor their size is in the paper. The last column says how many of 4 KiB, one
at a time, would take as long on this drive. No one number fits all four, so the paper's run times cannot
be held against ours.

webserver's and varmail's curves differ most: a request that arrives when another completes is early by
the one clock and late by the other.
"""
FIGURE_8 = """
Images of the paper's kind, with 5,000 files and 1,000 directories for each 10 GB, on its drive of 1 TB.
That of 10 TB has 1,000,000 files and lies on a 20 TB Seagate. What is stored includes mkfs and the
journal. Large files are written by direct I/O, which is faster in a lab and the same to the disk. The
paper needed a backing device of 10 GB for 800 GB.

ext4 has a journal of 128 MB, as ext3 had in 2007: its default of 1 GB comes into the store as it is written.
On ext3 the indirect blocks of 800 GB are 0.78 GB alone. ext4's extents take next to nothing.

The paper's run times are lines of a drawing without numbers. That David's were within 2.5 % of the
drive's can only be repeated with the drive.
"""
FIGURE_9 = """
The paper's image is created on ext3 in real time, at the drive's speed, with classify=implicit. The lab
is User Mode Linux, whose kernel is a process here. CPU time is of one processor, david's by its own
counters, which move by 10 ms there.
"""
# Why a run time is none that could be held against the paper's.
TIMES = {
    "mkfs": "what is written agrees; in which order the mke2fs of 2007 wrote it is not known",
    "imp": "the sizes of the files, and how a kernel of 2007 cut them into requests, are not in the paper",
    "tar": "gzip takes no virtual time here; the paper's time includes it",
    "grep": "it reads what imp and tar left",
    "find": "the paper does not say what else was on the disk",
    "du": "the same inodes as find; why the paper's took four times as long it does not say",
    "postmark": "the numbers of files and transactions are not in the paper",
    "webserver": "Filebench runs for a time, not for a number of operations",
    "varmail": "the same",
}


def paragraphs(text: str, **values: str) -> list[str]:
    return [" ".join(part.split()).format(**values) for part in text.strip().split("\n\n")]
