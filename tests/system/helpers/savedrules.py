# SPDX-License-Identifier: GPL-2.0
"""Rules that a power cut must not lose once their message has returned."""

from __future__ import annotations

import random

from helpers import raw, writelog
from helpers.guest import Failed, fake_disk, loop_disk, mapped, run
from helpers.raw import BLOCK
from helpers.stores import table
from helpers.units import FULL, MIB, TIB

SOME = ["ino:5/12-20", "dir:5/256", "sectors:2097152-2097167", "suffix:db"]


def rules(name: str) -> list[str]:
    return run("dmsetup", "message", name, "0", "raw", "list").split()


def message(name: str, *words: str) -> None:
    run("dmsetup", "message", name, "0", "raw", *words)


def is_ours(entry: writelog.Entry) -> bool:
    return bool(entry.flags & writelog.MARK) and entry.data.isdigit()


def rules_survive_a_power_cut() -> None:
    """Each mark is set when a message has returned; nothing else flushes."""
    steps = [("add", "ino:1"), ("add", *SOME), ("remove", "ino:1")]
    steps += [("add", *(f"dir:{number}" for number in range(300, 500))), ("remove", "suffix:db")]
    steps += [("remove", *(f"dir:{number}" for number in range(300, 500)))]
    rng = random.Random(1)
    with writelog.log_disk(64 * MIB) as log:
        with (
            loop_disk(MIB) as dev,
            writelog.recorded("recorded", dev, log) as backing,
            fake_disk("rules", TIB, backing, "--classify", "data") as path,
            raw.opened(path) as fd,
        ):
            expected: list[list[str]] = [rules("rules")]
            writelog.mark("recorded", "0")
            for number, step in enumerate(steps, 1):
                raw.write(fd, raw.patterned(number, BLOCK), number * MIB)
                message("rules", *step)
                writelog.mark("recorded", str(number))
                expected.append(rules("rules"))
        found = list(writelog.entries(log))
    marks = [place for place, entry in enumerate(found) if is_ours(entry)]
    between = range(marks[0], marks[-1])
    places = marks[1::2] + rng.sample(between, len(between) if FULL else 1)
    for place in sorted(set(places)):
        at = sum(is_ours(entry) for entry in found[: place + 1]) - 1

        def prepare(image: str, place: int = place) -> None:
            with open(image, "r+b") as file:
                (cut,) = writelog.cuts(file, found, (place,))
                writelog.left_at(file.fileno(), found, cut, rng)

        with loop_disk(MIB, prepare=prepare) as dev, mapped("rules", table(dev, "classify=data")):
            now = rules("rules")
        may = expected[at : at + 2]
        if now not in may:
            raise Failed(f"cut behind entry {place} of {len(found)}: {now} instead of {may}")
