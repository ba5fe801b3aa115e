# SPDX-License-Identifier: GPL-2.0
"""RAW files where no page owner tells whose a block is: by inode, behind a loop device, on ext."""

from __future__ import annotations

import os
import random

from cases import case
from helpers.filesystems import TOOLS
from helpers.guest import device_stats, fake_disk, looped, mounted, ram_disk, run
from helpers.raw import BLOCK
from helpers.units import FULL, KIB, MIB
from helpers.waiting import settle


class Files:
    """Files that grow, shrink, are written over and take each other's blocks; some are chosen."""

    def __init__(self, top: str, chosen: int, seed: int) -> None:
        self.rng = random.Random(seed)
        self.top = top
        self.content = {f"chosen-{number}": bytearray() for number in range(chosen)}
        self.made = 0
        for name in self.content:
            self.put(name, 0, b"")

    def put(self, name: str, at: int, data: bytes) -> None:
        with open(f"{self.top}/{name}", "r+b" if os.path.exists(f"{self.top}/{name}") else "wb") as file:
            file.seek(at)
            file.write(data)

    def inodes(self) -> list[int]:
        return [os.stat(f"{self.top}/{name}").st_ino for name in self.content if name.startswith("chosen")]

    def step(self) -> None:
        what, names = self.rng.random(), list(self.content)
        name = self.rng.choice(names)
        content = self.content[name]
        if what < 0.15:
            name = f"other-{self.made}"
            self.made += 1
            content = self.content[name] = bytearray()
        elif what < 0.3 and name.startswith("other"):
            os.unlink(f"{self.top}/{name}")
            del self.content[name]
            return
        elif what < 0.4:
            size = self.rng.randrange(len(content) + 1)
            os.truncate(f"{self.top}/{name}", size)
            del content[size:]
            return
        elif what < 0.45:
            run("sync", "-f", self.top)
            return
        elif what < 0.5:
            # Not only what is committed: what tells of it goes home.
            os.sync()
            return
        # With holes: so that there are more extents than an inode has room for.
        at = self.rng.randrange(400 * KIB) if what < 0.8 else self.rng.randrange(100) * 2 * BLOCK
        data = self.rng.randbytes(self.rng.choice((100, BLOCK, BLOCK, 5 * BLOCK)))
        self.put(name, at, data)
        content.extend(bytes(max(0, at + len(data) - len(content))))
        content[at : at + len(data)] = data

    def look(self) -> tuple[list[str], int, int]:
        """Chosen files that are not exact; blocks of others that are, and that are not."""
        wrong, same, gone = [], 0, 0
        for name, content in self.content.items():
            with open(f"{self.top}/{name}", "rb") as file:
                found = file.read()
            if name.startswith("chosen") and found != content:
                blocks = range(0, max(len(found), len(content)), BLOCK)
                bad = [at // BLOCK for at in blocks if found[at : at + BLOCK] != content[at : at + BLOCK]]
                wrong.append(f"{name}, {len(content)} bytes: blocks {bad}")
            if name.startswith("other"):
                for at in range(0, len(content), BLOCK):
                    if any(content[at : at + BLOCK]):
                        equal = found[at : at + BLOCK] == content[at : at + BLOCK]
                        same, gone = same + equal, gone + (not equal)
        return wrong, same, gone


def chosen_files_are_exact(fs: str, seed: int, steps: int, lives: int) -> None:
    with (
        ram_disk(160 * MIB) as dev,
        fake_disk("inodes", 1200 * MIB, dev, "--classify", "implicit") as disk,
        looped(disk) as loop,
    ):
        run(f"mkfs.{fs}", "-q", "-J", "size=8", loop)
        with mounted(loop, fs) as top:
            files = Files(top, 12, seed)
            rules = [f"ino:{inode}" for inode in files.inodes()]
            run("dmsetup", "message", "inodes", "0", "raw", "add", *rules)
            for _ in range(steps):
                files.step()
        for life in range(lives):
            with mounted(loop, fs) as top:
                wrong, *_ = files.look()
                assert not wrong, f"{fs}, seed {seed}, life {life}: {wrong}"
                for _ in range(steps):
                    files.step()
            settle("inodes")
        with mounted(loop, fs) as top:
            wrong, same, gone = files.look()
        assert not wrong, f"{fs}, seed {seed}: {wrong}"
        # Or this would be a test of a disk that keeps everything.
        figures = device_stats("inodes")["unclassified"]
        print(f"{fs}, seed {seed}: {gone} of {same + gone} blocks of others dropped; {figures}", flush=True)
        assert gone > same / 4, f"{gone} blocks dropped, {same} kept; {figures}"
        run("e2fsck", "-fn", loop)


@case
def files_by_inode_are_exact_on_ext4_behind_a_loop_device() -> None:
    for seed in range(20 if FULL else 1):
        chosen_files_are_exact("ext4", seed, 1000 if FULL else 120, 4 if FULL else 1)


@case
def where_no_inode_can_tell_all_is_kept_while_there_are_rules() -> None:
    data = random.Random(1).randbytes(MIB)
    for fs, words in (("ext4", ("-O", "^has_journal")), ("btrfs", ())):
        with (
            ram_disk(160 * MIB) as dev,
            fake_disk("inodes", 1200 * MIB, dev, "--classify", "implicit") as disk,
            looped(disk) as loop,
        ):
            run(*TOOLS[fs].mkfs, *words, loop)
            run("dmsetup", "message", "inodes", "0", "raw", "add", "ino:5000")
            for mode in ("wb", "rb"):
                with mounted(loop, fs) as top:
                    for number in range(3):
                        with open(f"{top}/{number}", mode) as file:
                            if mode == "wb":
                                file.write(data)
                            else:
                                assert file.read() == data, number
                    os.sync()
                assert not device_stats("inodes")["blocks"]["squashed"]  # type: ignore[index]
