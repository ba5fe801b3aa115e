# SPDX-License-Identifier: GPL-2.0
"""RAW by name in classify=implicit, at length: random lives, which wait for the clock, and programs."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

from cases import case
from helpers.guest import device_stats, fake_disk, looped, mounted, ram_disk, run
from helpers.raw import BLOCK
from helpers.rulefiles import look_at, work_with
from helpers.units import FULL, GIB, KIB, MIB
from helpers.waiting import settle

FLAVOURS = {
    "ext4": ("mkfs.ext4", "-q", "-b", "4096"),
    "inline": ("mkfs.ext4", "-q", "-b", "4096", "-O", "inline_data", "-I", "256"),
    "1k": ("mkfs.ext4", "-q", "-b", "1024"),
    "ext3": ("mkfs.ext3", "-q", "-b", "4096"),
}


class File:
    """What a file has to hold, and whether all of it was written while it was chosen."""

    def __init__(self, name: str) -> None:
        self.names = {name}
        self.content = bytearray()
        self.exact = True


class Tree:
    """Files and directories that come, go and move, in and out of what is chosen: raw/, or *.db."""

    def __init__(self, top: str, seed: int, suffix: bool) -> None:
        self.rng = random.Random(seed)
        self.suffix = suffix
        self.top = top
        self.made = 0
        self.dirs = ["raw", "raw/deep", "plain", "plain/deep"]
        self.files: list[File] = []

    def path(self, name: str) -> str:
        return f"{self.top}/{name}"

    def begin(self) -> None:
        for name in self.dirs:
            os.mkdir(self.path(name))

    def rule(self) -> str:
        return f"dir:{os.stat(self.path('raw')).st_ino}"

    def chosen(self, file: File) -> bool:
        return any(name.startswith("raw/") or (self.suffix and name.endswith(".db")) for name in file.names)

    def new_name(self) -> str:
        self.made += 1
        ending = self.rng.choice(("", ".txt", ".txt", ".txt", ".db"))
        plain = [name for name in self.dirs if not name.startswith("raw")]
        where = self.rng.choice(plain if self.rng.random() < 0.6 else self.dirs)
        return f"{where}/{'n' * self.rng.randrange(60)}{self.made}{ending}"

    def widen(self, name: str, count: int) -> None:
        """So many files that the directory has a hash tree."""
        os.mkdir(self.path(name))
        self.dirs.append(name)
        for number in range(count):
            os.close(os.open(self.path(f"{name}/{number:04}{'w' * 50}"), os.O_CREAT, 0o600))

    def write(self, file: File) -> None:
        path, content = self.path(min(file.names)), file.content
        if self.rng.random() < 0.2:
            os.truncate(path, 0)
            content.clear()
            file.exact = True
        at = self.rng.randrange(60 * KIB) if self.rng.random() < 0.7 else self.rng.randrange(40) * 2 * BLOCK
        data = self.rng.randbytes(self.rng.choice((100, BLOCK, 3 * BLOCK, 9 * BLOCK)))
        with open(path, "r+b") as stream:
            stream.seek(at)
            stream.write(data)
        content.extend(bytes(max(0, at + len(data) - len(content))))
        content[at : at + len(data)] = data

    def rename(self, change: Callable[[str], str]) -> None:
        for file in self.files:
            was = self.chosen(file)
            file.names = {change(name) for name in file.names}
            # Written before it was chosen, or perhaps while it was not.
            if was != self.chosen(file) and file.content:
                file.exact = False

    def move(self, old: str, new: str) -> None:
        os.rename(self.path(old), self.path(new))
        self.rename(lambda name: new if name == old else name)

    def move_dir(self) -> None:
        old = self.rng.choice(self.dirs[4:] or [""])
        self.made += 1
        new = f"{self.rng.choice(self.dirs)}/d{self.made}"
        if not old or f"{new}/".startswith(f"{old}/"):
            return
        os.rename(self.path(old), self.path(new))

        def moved(name: str) -> str:
            return new + name.removeprefix(old) if f"{name}/".startswith(f"{old}/") else name

        self.dirs = [moved(name) for name in self.dirs]
        self.rename(moved)

    def step(self) -> None:
        what = self.rng.random()
        file = self.rng.choice(self.files) if self.files else None
        if not file or what < 0.25:
            file = File(self.new_name())
            os.close(os.open(self.path(min(file.names)), os.O_CREAT | os.O_EXCL, 0o600))
            self.files.append(file)
            self.write(file)
        elif what < 0.35:
            for name in file.names:
                os.unlink(self.path(name))
            self.files.remove(file)
        elif what < 0.45:
            self.move(self.rng.choice(sorted(file.names)), self.new_name())
        elif what < 0.48:
            name = self.new_name()
            os.link(self.path(min(file.names)), self.path(name))
            was = self.chosen(file)
            file.names.add(name)
            file.exact &= was or not self.chosen(file) or not file.content
        elif what < 0.53:
            self.made += 1
            name = f"{self.rng.choice(self.dirs)}/d{self.made}"
            os.mkdir(self.path(name))
            self.dirs.append(name)
        elif what < 0.56:
            self.move_dir()
        elif what < 0.6:
            run("sync", "-f", self.top)
        elif what < 0.63:
            # Not only what is committed: what tells of it goes home.
            os.sync()
        else:
            self.write(file)

    def look(self) -> tuple[list[str], int, int]:
        """Chosen files that are not exact; blocks of others that are, and that are not."""
        wrong, same, gone = [], 0, 0
        for file in self.files:
            with open(self.path(min(file.names)), "rb") as stream:
                found = stream.read()
            content = file.content
            if self.chosen(file):
                if file.exact and found != content:
                    blocks = range(0, max(len(found), len(content)), BLOCK)
                    bad = [at // BLOCK for at in blocks if found[at : at + BLOCK] != content[at : at + BLOCK]]
                    wrong.append(f"{sorted(file.names)}, {len(content)} bytes: blocks {bad}")
                continue
            for at in range(0, len(content), BLOCK):
                if any(content[at : at + BLOCK]):
                    equal = found[at : at + BLOCK] == content[at : at + BLOCK]
                    same, gone = same + equal, gone + (not equal)
        return wrong, same, gone


def chosen_names_are_exact(flavour: str, seed: int, steps: int, lives: int, suffix: bool) -> None:
    fs = "ext3" if flavour == "ext3" else "ext4"
    with (
        ram_disk(192 * MIB) as dev,
        fake_disk("names", 256 * MIB, dev, "--classify", "implicit") as disk,
        looped(disk) as loop,
    ):
        run(*FLAVOURS[flavour], "-J", "size=8", loop)
        with mounted(loop, fs) as top:
            tree = Tree(top, seed, suffix)
            tree.begin()
            # There before the rule is.
            tree.widen("raw/early", 300)
            run("dmsetup", "message", "names", "0", "raw", "add", tree.rule(), *["suffix:db"] * suffix)
            tree.widen("raw/wide", 1200)
            for _ in range(steps):
                tree.step()
            os.sync()
            settle("names")
        for life in range(lives):
            with mounted(loop, fs) as top:
                wrong, *_ = tree.look()
                assert not wrong, f"{flavour}, seed {seed}, life {life}: {wrong}"
                for step in range(steps):
                    tree.step()
                    if step % (steps // 2 + 1) == steps // 2:
                        os.sync()
                        time.sleep(2.2)
            settle("names")
        with mounted(loop, fs):
            wrong, same, gone = tree.look()
        assert not wrong, f"{flavour}, seed {seed}: {wrong}"
        # Or this would be a test of a disk that keeps everything. On ext3 only what inodes map can go.
        stats = device_stats("names")
        chosen = sum(tree.chosen(file) for file in tree.files)
        figures = stats["unclassified"]
        print(
            f"{flavour}, seed {seed}: {gone} of {same + gone} blocks of others dropped; {chosen} of "
            f"{len(tree.files)} files chosen; {stats['raw_names']} known; {figures}",
            flush=True,
        )
        assert gone > same / (16 if fs == "ext3" else 3), f"{gone} dropped, {same} kept; {figures}"
        assert stats["raw_names"] and not stats["raw_names_full"]
        run("e2fsck", "-fn", loop)


@case
def programs_find_their_data_in_a_directory_behind_a_loop_device() -> None:
    with (
        ram_disk(128 * MIB) as dev,
        fake_disk("raw", GIB, dev, "--classify", "implicit") as disk,
        looped(disk) as loop,
    ):
        run("mkfs.ext4", "-q", "-J", "size=8", loop)
        with mounted(loop, "ext4") as top:
            work_with(top)
        settle("raw")
        with mounted(loop, "ext4") as top:
            look_at(top)
        run("e2fsck", "-fn", loop)


@case
def directories_and_suffixes_are_exact_on_ext4_behind_a_loop_device() -> None:
    for seed in range(10 if FULL else 1):
        for flavour in FLAVOURS:
            for suffix in (False, True):
                chosen_names_are_exact(flavour, seed, 300, 3, suffix)


@case
def what_an_inode_has_told_stays_exact_when_it_moves_out() -> None:
    data = random.Random(4).randbytes(40 * BLOCK)
    with (
        ram_disk(64 * MIB) as dev,
        fake_disk("raw", 256 * MIB, dev, "--classify", "implicit") as disk,
        looped(disk) as loop,
    ):
        run("mkfs.ext4", "-q", "-J", "size=8", loop)
        with mounted(loop, "ext4") as top:
            for name in ("raw", "plain"):
                os.mkdir(f"{top}/{name}")
            run("dmsetup", "message", "raw", "0", "raw", "add", f"dir:{os.stat(f'{top}/raw').st_ino}")
            # The first block that waits makes room for those that follow.
            for name in ("plain/first", "raw/moved", "plain/stays"):
                with open(f"{top}/{name}", "wb") as file:
                    file.write(data)
                os.sync()
            settle("raw", 8)
            before = device_stats("raw")["unclassified"]
            assert before["metadata"] >= 40, before  # type: ignore[index]
            os.rename(f"{top}/raw/moved", f"{top}/plain/moved")
            # Written behind that, it is a file like others.
            with open(f"{top}/plain/moved", "ab") as file:
                file.write(data)
            os.sync()
            settle("raw", 8)
        with mounted(loop, "ext4") as top:
            with open(f"{top}/plain/moved", "rb") as file:
                assert file.read(len(data)) == data, "what was RAW when its inode told is lost"
                assert file.read() != data, "it is kept for ever"
            with open(f"{top}/plain/stays", "rb") as file:
                assert file.read() != data, "this was to be dropped"
        run("e2fsck", "-fn", loop)
