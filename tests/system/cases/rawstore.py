# SPDX-License-Identifier: GPL-2.0
"""RAW rules last as the store does: removed and made again, cut off, spoilt, moved, on a full store."""

from __future__ import annotations

import os
from pathlib import Path

from cases import case
from helpers import raw
from helpers.guest import SCRATCH, Failed, david, fake_disk, loop_disk, mapped, run
from helpers.raw import BLOCK, SECTOR
from helpers.savedrules import SOME, message, rules, rules_survive_a_power_cut
from helpers.stores import table
from helpers.storetool import says
from helpers.units import GIB, KIB, MIB, TIB

EVERYTHING = "sectors:0-18446744073709551615"
# The first block of the rules' pages.
PLACE = (1 << 59) + (1 << 56)


def told(dev: str) -> list[str]:
    """What the store's tool says of the rules."""
    line = next(line for line in says("info", dev)[1].splitlines() if line.startswith("raw "))
    return [] if line == "raw none" else line[4:].split(",")


def refused(name: str, rule: str) -> str:
    try:
        david("raw", "add", name, rule)
    except Failed as error:
        return str(error)
    raise Failed(f"{rule} was taken")


@case
def rules_last_until_they_are_removed() -> None:
    data = raw.patterned(1, 4 * BLOCK)
    many = [f"dir:{number}" for number in range(1, 400)]
    for unit in (512, 4096):
        words = ("classify=data", f"block_size={unit}")
        with loop_disk(8 * MIB) as dev:
            with mapped("rules", table(dev, *words)):
                message("rules", "add", *SOME)
            assert told(dev) == SOME, told(dev)
            with mapped("rules", table(dev, *words)) as path, raw.opened(path) as fd:
                assert rules("rules") == SOME
                raw.write(fd, data, GIB)
                raw.must_read(fd, data[: 2 * BLOCK], GIB)
                assert raw.read(fd, 2 * BLOCK, GIB + 2 * BLOCK) != data[2 * BLOCK :]
                line = run("dmsetup", "table", "rules").strip()
            # The printed line names them, too; a line that says none says nothing.
            for again in (line, table(dev, *words, "raw=none")) if unit == BLOCK else ():
                with mapped("rules", again):
                    assert rules("rules") == SOME
            # One that has others puts them in their place: many, so that they take several pages.
            with mapped("rules", table(dev, *words, "raw=" + ",".join(many))):
                assert rules("rules") == many
            assert told(dev) == many
            with mapped("rules", table(dev, *words)):
                assert rules("rules") == many
                message("rules", "remove", *many[5:])
                message("rules", "add", "ino:7")
            with mapped("rules", table(dev, *words)):
                assert rules("rules") == ["ino:7", *many[:5]]
                message("rules", "remove", "ino:7", *many[:5])
            assert told(dev) == []
            assert says("check", dev) == (0, "no fault found\n"), says("check", dev)
            with mapped("rules", table(dev, *words)):
                assert rules("rules") == []


@case
def a_message_that_returned_survives_a_power_cut() -> None:
    rules_survive_a_power_cut()


def spoil(dev: str, at: int) -> None:
    """Change a byte of the rules' page."""
    ranges = (line.split() for line in says("dump", dev)[1].splitlines())
    place = next(words[3] for words in ranges if words[0] == str(PLACE))
    with open(dev, "r+b") as file:
        file.seek(int(place) * BLOCK + at)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    run("blockdev", "--flushbufs", dev)


@case(complaints="rules in the store are lost")
def rules_that_are_spoilt_keep_everything() -> None:
    data = raw.patterned(1, 64 * KIB)
    with loop_disk(8 * MIB) as dev:
        with mapped("rules", table(dev, "classify=data")):
            message("rules", "add", *SOME)
        spoil(dev, 45)
        status, text = says("check", dev)
        assert status == 1 and "RAW rules are lost: a page has a wrong checksum" in text, text
        assert "raw lost: a page has a wrong checksum" in says("info", dev)[1]
        for _ in range(2):
            with mapped("rules", table(dev, "classify=data")) as path, raw.opened(path) as fd:
                assert rules("rules") == [EVERYTHING]
                raw.write(fd, data, GIB)
                raw.must_read(fd, data, GIB)
        # Until somebody says what is to be kept: in the table line, or so.
        with mapped("rules", table(dev, "classify=data")) as path:
            message("rules", "add", "dir:2")
            message("rules", "remove", EVERYTHING)
        with mapped("rules", table(dev, "classify=data")) as path, raw.opened(path) as fd:
            assert rules("rules") == ["dir:2"]
            raw.must_read(fd, data, GIB)
            raw.write(fd, data, 2 * GIB)
            assert raw.read(fd, len(data), 2 * GIB) != data
        assert says("check", dev)[0] == 0


@case(complaints="store full|store low|I/O error|critical|rules cannot be saved")
def what_cannot_be_saved_is_refused() -> None:
    with loop_disk(MIB) as dev, fake_disk("rules", TIB, dev, "--classify", "keep") as path:
        message("rules", "add", "dir:2")
        run("dmsetup", "suspend", "rules")
        said = refused("rules", "dir:3")
        assert "while the device is suspended" in said, said
        run("dmsetup", "resume", "rules")
        with raw.opened(path) as fd:
            at = 0
            try:
                while True:
                    raw.write(fd, raw.patterned(at, BLOCK), at * 2 * BLOCK)
                    at += 1
            except OSError:
                pass
            said = refused("rules", "dir:3")
            assert "the store is full" in said, said
            assert rules("rules") == ["dir:2"]
            raw.discard(fd, 0, 64 * BLOCK)
            message("rules", "add", "dir:3")
        run("dmsetup", "suspend", "rules")
        run("dmsetup", "resume", "rules")
        assert rules("rules") == ["dir:2", "dir:3"]


@case
def rules_move_with_the_disk() -> None:
    image = SCRATCH / "rules.image"
    data = raw.patterned(1, 16 * SECTOR)
    with loop_disk(8 * MIB) as first, loop_disk(4 * MIB) as second:
        with mapped("rules", table(first, "classify=data")) as path, raw.opened(path) as fd:
            message("rules", "add", *SOME)
            raw.write(fd, data, GIB)
        assert says("export", first, str(image)) == (0, "")
        assert says("import", str(image), second) == (0, "")
        run("blockdev", "--flushbufs", second)
        assert told(second) == SOME
        with mapped("rules", table(second, "classify=data")) as path, raw.opened(path) as fd:
            assert rules("rules") == SOME
            raw.must_read(fd, data, GIB)
            raw.write(fd, data[::-1], GIB)
            raw.must_read(fd, data[::-1], GIB)
    Path(image).unlink()
