# SPDX-License-Identifier: GPL-2.0
"""From a question to figures: `david bench`.

cli.py is the command. spec.py reads a question (TOML, by tables.py; a mistake is named by its line): disks.py
its disks, works.py its workloads, kernelwords.py its kernels. Each list is a dimension (dimensions.py).
metrics.py has what it may ask, goals.py its thresholds. precheck.py asks programs what only they know to be
wrong, mountoptions.py is what a mount takes. runs.py makes runs of it, each with an id that is the digest of
all that decides its figures (parts.py); durations.py says how long they will take. loop.py does those that
are not there and calls for the page; prepare.py sees to what that needs.
labrun.py does one run in a lab of its own, by testbed.py, which is what goes on in the lab: disk, file
system, workload, with samples.py beside it. target.py is that disk, or an array of md over such disks
(arraywords.py), with figures as of one; faultwords.py is what fails of it, zonewords.py
what cannot be on a drive with zones. localhost.py is where = "here".
places.py counts where requests go, journal.py knows where a file system's journal lies. costs.py has what an
operation cost the disk.
doubts.py says why a run's figures may not be what the drive does in the long run, limits.py what the drive
allows. sweep.py hands many runs to Dask; results.py keeps what came of them, one directory with JSON and
SQLite, where one sweep is at work at a time (lock.py). Not installed, as labs are not. No date, host or
path is in a run's figures, and in virtual time they repeat to the byte: lab/uml.py gives each machine the
same memory, date and random numbers. Where a sweep ran, and when, is in environment.json.
"""
