# SPDX-License-Identifier: GPL-2.0
"""A mounted file system on a mirror whose pool, with shared copies, is full."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cases import case
from helpers import raw
from helpers.filesystems import TOOLS, whole_check
from helpers.guest import Failed, device_stats, mounted, run, say
from helpers.layouts import ARRAY, synced
from helpers.planted import must_fail, planted
from helpers.poolbox import Writer, must_be_good, opened_all, pool_device, pool_disk
from helpers.stacks import checked_by_md
from helpers.storetool import says
from helpers.trees import equal
from helpers.units import GIB, MIB
from helpers.victim import sync, tree, wait_until

NAMES = ["a", "b", "c"]
CREATE = ("--create", "--level=1", "--raid-devices=3", "--bitmap=none", "--assume-clean")
DIRECTORIES, FILES = 20, 40
REFUSED = "store full|store low|I/O error|critical|EXT4-fs|JBD2|Disk failure|lost|md7"


@contextmanager
def mirror(device: str, names: list[str], *words: str) -> Iterator[str]:
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(pool_disk(name, device, "--classify", "auto", size=GIB))
        run("mdadm", words[0], ARRAY, "--run", *words[1:], *(f"/dev/mapper/{name}" for name in names))
        try:
            yield ARRAY
        finally:
            run("mdadm", "--stop", ARRAY)


class Farm:
    """Files of known content; a change is in place: modes, times and names of what is there."""

    def __init__(self, top: str) -> None:
        self.top, self.turn = top, 0
        for number in range(DIRECTORIES):
            os.mkdir(f"{top}/{number}")
            for each in range(FILES):
                self.path(number, each).write_text(f"{number} {each}" * 500)

    def path(self, number: int, each: int) -> Path:
        return Path(self.top, str(number), str(each))

    def change(self, directories: int) -> None:
        self.turn += 1
        for number in range(directories):
            for each in range(FILES):
                os.chmod(self.path(number, each), 0o600 + (self.turn + each) % 64)
            one = self.path(number, self.turn % FILES)
            one.rename(f"{one}x")
            Path(f"{one}x").rename(one)
        with raw.opened(self.top, os.O_RDONLY) as fd:
            os.fsync(fd)
        sync(self.top)

    def settle(self) -> None:
        """Until the journal has been everywhere, and nothing that is changed takes new room."""
        for _ in range(100):
            before = figure("a", "store_used")
            self.change(DIRECTORIES)
            if self.turn > 8 and figure("a", "store_used") == before:
                return
        raise Failed("the file system takes more room with each change")

    def wrong(self, top: str) -> str:
        """Names and contents are those of the beginning, whatever the modes are."""
        for number in range(DIRECTORIES):
            found = sorted(os.listdir(f"{top}/{number}"), key=lambda name: int(name.rstrip("x")))
            if [name.rstrip("x") for name in found] != [str(each) for each in range(FILES)]:
                return f"directory {number} has {found}"
            for each, name in enumerate(found):
                if Path(top, str(number), name).stat().st_size != len(f"{number} {each}" * 500):
                    return f"{number}/{name} has another size"
        return ""


def figure(name: str, what: str) -> int:
    return int(device_stats(name)[what])  # type: ignore[call-overload]


def in_use() -> str:
    """A letter for each leg: UUU."""
    return Path("/proc/mdstat").read_text().rpartition("[")[2].partition("]")[0]


@contextmanager
def full(device: str) -> Iterator[Farm]:
    """ext4 on the mirror, mounted; a fourth disk has all the room that it does not use."""
    with mirror(device, NAMES, *CREATE) as md:
        run(*TOOLS["ext4"].mkfs, "-J", "size=4", md)
        with mounted(md, "ext4") as top:
            farm = Farm(top)
            farm.settle()
            with opened_all(device, ["d"]) as fds:
                writer = Writer("d", 1)
                filled = writer.fill(fds["d"], 20000)
                assert 0 < filled < 20000, filled
                yield farm
                writer.check(fds["d"])


@case(full=True, complaints="store low|store full")
def a_file_system_on_a_mirror_in_a_full_pool_changes_what_it_has() -> None:
    """No more at once than the spare of 16 blocks a disk has room for."""
    with pool_device(64 * MIB, share=True) as device:
        with full(device) as farm:
            for _ in range(20):
                farm.change(1)
            assert in_use() == "UUU", in_use()
            assert [figure(name, "nospc") for name in NAMES] == [0, 0, 0]
            expected = tree(farm.top)
        must_be_good(device)
        with mirror(device, NAMES, "--assemble") as md:
            checked_by_md(md)
        with mirror(device, ["c"], "--assemble") as md:
            run(*whole_check("ext4"), md)
            with mounted(md, "ext4") as top:
                equal("a leg alone", expected, tree(top))


@case(full=True, planted=True, complaints=REFUSED)
def a_full_pool_that_keeps_no_spare_is_found_by_its_file_system() -> None:
    with planted("spared"), must_fail():
        a_file_system_on_a_mirror_in_a_full_pool_changes_what_it_has()


@case(full=True, complaints=REFUSED)
def more_at_once_than_the_spare_fails_legs_and_then_the_file_system() -> None:
    """Nothing is lost silently: what was synced before is there, and what failed was told."""
    with pool_device(64 * MIB, share=True) as device:
        told = ""
        with full(device) as farm:
            for _ in range(5):
                try:
                    farm.change(DIRECTORIES)
                except OSError as error:
                    told = str(error)
                    break
            left, refused = in_use(), [figure(name, "nospc") for name in NAMES]
            say(f"fullmirror: legs {left}, refused {refused}, the file system said '{told}'")
            # md fails a leg that was refused something, but for the last one. A leg that is left has all.
            assert all(count for letter, count in zip(left, refused, strict=True) if letter == "_"), left
            last = refused[left.index("U")]
            assert bool(told) == bool(last and left.count("U") == 1), (told, left, refused)
        must_be_good(device)
        assert says("pool", "drop", device, "d")[0] == 0
        # md has noted bad blocks, and had no room for their list: without it it takes the legs again.
        with mirror(device, NAMES, "--assemble", "--update=force-no-bbl") as md:
            run(*TOOLS["ext4"].repair, md, ok=(0, 1))
            with mounted(md, "ext4") as top:
                assert not farm.wrong(top), farm.wrong(top)
                expected = tree(top)
                for name, letter in zip(NAMES, in_use(), strict=True):
                    if letter == "_":
                        run("mdadm", md, "--add", f"/dev/mapper/{name}")
                wait_until(synced, "all legs in sync", 100)
            checked_by_md(md)
        for name in NAMES:
            with mirror(device, [name], "--assemble") as md:
                run(*whole_check("ext4"), md)
                with mounted(md, "ext4") as top:
                    equal(f"{name} alone", expected, tree(top))
        must_be_good(device)
