# SPDX-License-Identifier: GPL-2.0
"""Regular files whose content is read past the page cache later, by the kernel or by a boot loader: a
journal, quotas, swap. A page of such a file is metadata, though its owner is a regular file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from helpers.guest import Failed, device_stats, libc, mounted, run
from helpers.victim import MODES, drop_caches, fake, in_modes, look, make, populate, told, tree

SWAP = 8 << 20


def given_a_journal(mode: str, fs: str, *features: str) -> None:
    """tune2fs makes /.journal through the mounted file system."""
    with fake(mode) as (disk, _):
        make(fs, disk, *features)
        with mounted(disk, fs if fs != "ext2" else "ext4") as top:
            populate(top, "old", 100)
            run("tune2fs", "-j", disk)
            os.sync()
        told(mode)
        drop_caches()
        with mounted(disk, "ext4") as top:
            expected = tree(top)
        assert "has_journal" in run("dumpe2fs", "-h", disk), "the journal is gone"
        look("ext4", disk, expected)


@in_modes(*MODES)
def an_ext2_given_a_journal_while_mounted_mounts_again(mode: str) -> None:
    given_a_journal(mode, "ext2")


@in_modes(*MODES)
def an_ext4_given_a_journal_while_mounted_mounts_again(mode: str) -> None:
    given_a_journal(mode, "ext4", "-O", "^has_journal")


def limits(top: str) -> list[str]:
    said = run("repquota", "-v", "-u", "-n", top)
    return [line for line in said.splitlines() if line.startswith("#")]


def quota_files(mode: str, form: str, name: str, remount: bool = True) -> None:
    with fake(mode) as (disk, _):
        make("ext4", disk)
        options = f"usrjquota={name},jqfmt={form}" if form != "vfsold" else "usrquota"
        with mounted(disk, "ext4", options) as top:
            populate(top, "old", 60)
            for number, entry in enumerate(sorted(Path(top, "old").rglob("file*"))):
                os.chown(entry, 1000 + number % 40, 0)
            run("quotacheck", "-cum", "-F", form, top)
            if not remount:
                libc.sync()
            else:
                os.sync()
                before = Path(f"{top}/{name}").read_bytes()
        if remount:
            drop_caches()
        with mounted(disk, "ext4", options) as top:
            run("quotaon", "-u", "-F", form, top)
            run("setquota", "-u", "-F", form, "1007", "1000", "2000", "100", "200", top)
            expected = limits(top)
            run("quotaoff", "-u", top)
        assert len(expected) > 39, f"quotas of {len(expected)} users: {expected}"
        assert remount is False or before, "an empty file of quotas"
        told(mode)
        drop_caches()
        with mounted(disk, "ext4", options) as top:
            run("quotaon", "-u", "-F", form, top)
            found = limits(top)
            run("quotaoff", "-u", top)
        if found != expected:
            raise Failed("quotas are not what they were:\n" + "\n".join(set(expected) ^ set(found)))
        run("e2fsck", "-fn", disk)


@in_modes(*MODES)
def quota_files_made_by_quotacheck_can_be_turned_on(mode: str) -> None:
    quota_files(mode, "vfsv1", "aquota.user")


@in_modes(*MODES)
def quota_files_of_the_older_form_can_be_turned_on(mode: str) -> None:
    quota_files(mode, "vfsv0", "aquota.user")


@in_modes(*MODES)
def quota_files_of_the_oldest_form_can_be_turned_on(mode: str) -> None:
    quota_files(mode, "vfsold", "quota.user")


@in_modes(*MODES)
def a_swap_file_made_before_can_be_turned_on(mode: str) -> None:
    """swapon reads its first page from the disk."""
    with fake(mode) as (disk, _):
        make("ext4", disk)
        with mounted(disk, "ext4") as top:
            Path(f"{top}/swap").write_bytes(os.urandom(SWAP))
            os.chmod(f"{top}/swap", 0o600)
            run("mkswap", "-L", "kept", f"{top}/swap")
        told(mode)
        drop_caches()
        with mounted(disk, "ext4") as top:
            run("swapon", f"{top}/swap")
            run("swapoff", f"{top}/swap")
            assert re.search("LABEL=.?kept", run("blkid", "-p", f"{top}/swap")), "its label is gone"


@in_modes(*MODES)
def a_swap_file_on_xfs_can_be_turned_on(mode: str) -> None:
    with fake(mode) as (disk, _):
        make("xfs", disk)
        with mounted(disk, "xfs") as top:
            Path(f"{top}/swap").write_bytes(os.urandom(SWAP))
            os.chmod(f"{top}/swap", 0o600)
            run("mkswap", f"{top}/swap")
        drop_caches()
        with mounted(disk, "xfs") as top:
            run("swapon", f"{top}/swap")
            run("swapoff", f"{top}/swap")
        assert device_stats("victim")["errors"] == 0
