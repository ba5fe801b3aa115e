# SPDX-License-Identifier: GPL-2.0
"""Encrypted directories on ext4 and f2fs: names, links and sizes are as they were, in every mode; and as
encrypted content comes from pages that nobody owns, `auto` and `explicit` keep it: it reads back exactly.
Names that differ in case only are looked for in the same lives.

DAVID_SCALE=full: more ways to make and mount them, every mode, and a reference on dm-linear.
"""

from __future__ import annotations

import os
import random
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cases import case
from helpers import raw
from helpers.cutoff import Cut
from helpers.f2fs import collect_garbage
from helpers.fscrypt import FS_CASEFOLD_FL, add_key, encrypt, is_locked, set_flags
from helpers.guest import Complaints, Failed, device_stats, fake_disk, linear_disk, mounted, ram_disk, run
from helpers.lifekinds import FILE_SYSTEMS
from helpers.manifest import manifest
from helpers.planted import must_fail, planted
from helpers.trees import equal
from helpers.units import FULL, GIB, MIB
from helpers.workload import SCALES, Workload

SIZE, NAME = 2 * GIB, "crypt"
ENTRIES = 1000 if FULL else 150
CRASH = r"F2FS-fs|EXT4-fs|JBD2|I/O error|lost async page write"
MODES = ("explicit", "auto", "implicit")
EXT4 = ("mkfs.ext4", "-q", "-F", "-E", "encoding=utf8", "-O")
F2FS = ("mkfs.f2fs", "-q", "-f", "-C", "utf8", "-O")


@dataclass(frozen=True)
class Way:
    """How an encrypted file system is made and mounted."""

    mkfs: tuple[str, ...]
    options: str = ""
    journal: bool = True

    @property
    def fs(self) -> str:
        return self.mkfs[0].removeprefix("mkfs.")


WAYS = (
    Way((*EXT4, "encrypt,casefold")),
    Way((*F2FS, "encrypt,casefold")),
    Way((*EXT4, "encrypt,casefold,^has_journal"), journal=False),
    Way((*EXT4, "encrypt,casefold"), "data=journal"),
    Way((*EXT4, "encrypt,casefold", "-b", "1024"), "data=writeback"),
    # Not both: what is replayed from fast commits is in no quota, on dm-linear neither.
    Way((*EXT4, "encrypt,casefold,quota,verity,stable_inodes")),
    Way((*EXT4, "encrypt,casefold,inline_data,ea_inode,fast_commit")),
    Way((*EXT4, "encrypt,casefold"), "inlinecrypt"),
    Way((*F2FS, "encrypt,casefold,extra_attr,inode_checksum,flexible_inline_xattr,quota"), "mode=lfs"),
    Way((*F2FS, "encrypt,casefold"), "inlinecrypt"),
)


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


def name_of(i: int) -> str:
    """Short and long ones; 255 bytes are as many with encryption."""
    return f"{i:x}-" + "ñ" * (i * 37 % 125 if i % 7 else 0)


def fill(where: str, seed: int) -> None:
    """A directory of several blocks with links of all lengths, and much of it changed again."""
    rng = random.Random(seed)
    for i in range(ENTRIES):
        path = f"{where}/{name_of(i)}"
        if i % 4 == 0:
            # Up to 23 bytes are in ext's inode; 1023 with all that belongs to them are no more than a block.
            os.symlink("t" * rng.choice((1, 20, 40, 59, 60, 200, 900)) + f"{i}", path)
        elif i % 4 == 1:
            os.mkdir(path)
        else:
            with open(path, "wb") as file:
                file.write(noise(i, rng.choice((0, 1, 100, 4096, 5000, 30_000))))
    for i in range(3, ENTRIES, 8):
        os.rename(f"{where}/{name_of(i)}", f"{where}/{name_of(i - 2)}/moved-{i}")
    for i in range(2, ENTRIES, 8):
        os.unlink(f"{where}/{name_of(i)}")
    with suppress(OSError):  # more than one link is nothing special
        os.link(f"{where}/{name_of(6)}", f"{where}/linked")
    if FULL:
        os.mkdir(f"{where}/life")
        Workload(f"{where}/life", seed, SCALES["tiny"]).run()


def overwrite(where: str) -> None:
    """In the middle, by direct I/O where the kernel does that with encrypted files, and past the end."""
    path = f"{where}/{name_of(6)}"
    with raw.opened(path, os.O_RDWR) as fd:
        os.pwrite(fd, noise(7, 200_000), 0)
        os.fsync(fd)
        os.pwrite(fd, noise(8, 7000), 60_001)
        os.pwrite(fd, noise(9, 5000), 300_000)
    with raw.opened(path) as fd:
        raw.write(fd, noise(10, 64 << 10), 128 << 10)


def fold(directory: str) -> None:
    os.mkdir(directory)
    set_flags(directory, FS_CASEFOLD_FL)
    for i in range(60):
        with open(f"{directory}/Straße-{i}", "wb") as file:
            file.write(noise(i, 3000))


def folds(directory: str) -> None:
    for i in range(60):
        os.stat(f"{directory}/STRASSE-{i}")


def begin(top: str) -> None:
    key = add_key(top)
    for name in ("secret", "plain"):
        os.mkdir(f"{top}/{name}")
    encrypt(f"{top}/secret", key)
    fold(f"{top}/secret/folded")
    fold(f"{top}/folded")
    fill(f"{top}/secret", 1)
    overwrite(f"{top}/secret")
    for name in ("plain", "secret"):
        with open(f"{top}/{name}/large", "wb") as file:
            file.write(noise(3, MIB))
    # For garbage collection, segments of which a part is free.
    parts = [f"{top}/secret/part-{i}" for i in range(24)]
    for i, path in enumerate(parts):
        Path(path).write_bytes(noise(i, 192 << 10))
    os.sync()
    for path in parts[::3]:
        os.unlink(path)


def look(top: str, exact: bool) -> list[str]:
    """The tree, and where that is kept the content of what is encrypted."""
    return manifest(top) + manifest(f"{top}/secret", content=exact)


def alike(lines: list[str]) -> list[str]:
    """Where a name goes in a directory is by its encrypted form, and that is by chance."""
    return [re.sub(r" dir size=\d+", " dir", line) for line in lines]


def blocks_written() -> int:
    written = device_stats(NAME)["written"]
    return int(written["squashed"]) + int(written["kept"])  # type: ignore[index]


def write_directly(when: str, top: str) -> None:
    """The block layer encrypts it on its way: it does not wait in the page cache to be written."""
    with raw.opened(f"{top}/secret/direct", raw.DIRECT | os.O_CREAT) as fd:
        before = blocks_written()
        raw.write(fd, noise(11, MIB), 0)
        if blocks_written() - before < MIB // 4096:
            raise Failed(f"{when}: direct I/O was not direct")


def look_without_the_key(when: str, disk: str, way: Way) -> None:
    with mounted(disk, way.fs, way.options) as top:
        files = [entry.path for entry in os.scandir(f"{top}/secret") if entry.is_file(follow_symlinks=False)]
        if not files or not all(map(is_locked, files)):
            raise Failed(f"{when}: not all is encrypted")


def late(top: str) -> None:
    """Partly on the disk when it goes away; what was synchronised is."""
    for i in range(20):
        with open(f"{top}/secret/folded/late-{i}", "wb") as file:
            file.write(noise(i, 5000 * (i % 9) + 1))
            if i % 3 == 0:
                os.fsync(file.fileno())


def live(when: str, disk: str, way: Way, exact: bool, cut: Cut | None) -> list[str]:
    """Returns the tree as it was unmounted first, without content. The reference has no cut."""
    check = FILE_SYSTEMS[way.fs].check
    run(*way.mkfs, disk)
    with mounted(disk, way.fs, way.options) as top:
        begin(top)
        before, tree = look(top, exact), manifest(top)
    run(*check, disk)
    if cut is None:
        return tree
    look_without_the_key(when, disk, way)
    with mounted(disk, way.fs, way.options) as top:
        add_key(top)
        equal(f"{when}, mounted again", before, look(top, exact))
        folds(f"{top}/folded")
        folds(f"{top}/secret/folded")
        late(top)
        if way.options == "inlinecrypt":
            write_directly(when, top)
        if way.fs == "f2fs":
            os.sync()
            if not collect_garbage(top, disk):
                raise Failed(f"{when}: no garbage was collected")
        last = look(top, exact)
        os.sync()
        # Rolled forward by f2fs from its last checkpoint, replayed by ext4.
        with open(f"{top}/secret/folded/late-1", "ab") as file:
            file.write(noise(99, 50_000))
            file.flush()
            os.fsync(file.fileno())
        cut.cut()
    cut.restore()
    if not way.journal:
        run("e2fsck", "-fy", disk, ok=(0, 1))
    with mounted(disk, way.fs, way.options) as top:
        add_key(top)
        path = f"{top}/secret/folded/LATE-1"
        size = os.stat(path).st_size
        if size != 55_001:
            raise Failed(f"{when}, after the cut: {size} bytes of 55001 that were synchronised")
        if exact and Path(path).read_bytes()[5001:] != noise(99, 50_000):
            raise Failed(f"{when}, after the cut: another content than was synchronised")
        os.truncate(path, 5001)
        equal(f"{when}, after the cut", last, look(top, exact))
    run(*check, disk)
    return tree


def live_and_crash(way: Way, classify: str, expected: list[str]) -> None:
    when = f"{' '.join(way.mkfs)} {way.options} {classify}"
    exact = classify != "implicit"
    with ram_disk(192 * MIB) as dev, fake_disk(NAME, SIZE, dev, "--classify", classify) as disk:
        found = live(when, disk, way, exact, Cut(NAME, Complaints()))
        if expected:
            equal(f"{when}, the reference", alike(expected), alike(found))
        figures = device_stats(NAME)
        squashed = figures["written"]["squashed"]  # type: ignore[index]
        # f2fs is not known by its blocks alone, and links have no form where the log does not decide.
        undecided = way.fs == "f2fs" or not way.journal or any("verity" in word for word in way.mkfs)
        whole = classify == "implicit" and undecided
        if bool(squashed) == whole:
            raise Failed(f"{when}: {squashed} blocks were squashed: {figures['evidence']}")
        if exact and figures["evidence"]["unowned"] < MIB // 4096:  # type: ignore[index]
            raise Failed(f"{when}: not kept for want of an owner: {figures['evidence']}")


def live_in(way: Way, modes: tuple[str, ...]) -> None:
    expected: list[str] = []
    if FULL:
        with linear_disk("reference", SIZE) as disk:
            expected = live("the reference", disk, way, False, None)
    for classify in modes:
        live_and_crash(way, classify, expected)


def live_in_all_ways(fs: str) -> None:
    ways = [way for way in WAYS if way.fs == fs]
    for way in ways if FULL else ways[:1]:
        live_in(way, MODES if FULL else MODES[:1])


@case(complaints=CRASH)
def encrypted_ext4_keeps_names_and_content() -> None:
    live_in_all_ways("ext4")


@case(complaints=CRASH, seldom=True)
def encrypted_f2fs_keeps_names_and_content() -> None:
    live_in_all_ways("f2fs")


@case(complaints=CRASH, planted=True)
def a_planted_bug_is_found_by_encrypted_content() -> None:
    for way in WAYS[:2]:
        with planted("unowned"), must_fail():
            live_and_crash(way, "explicit", [])
