# SPDX-License-Identifier: GPL-2.0
"""An array of md over fake disks, whose times are compared with those of david-sim's array.

Each member's platters stand otherwise, and david-sim is told how they stood as something began.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from helpers.guest import Failed, david, device_stats, loop_disk, run
from helpers.units import GIB, KIB

DRIVE = "hitachi-hds721010kla330"
REVOLUTION_US = 8333
ARRAY = "/dev/md7"


def phase_us(member: int) -> int:
    return member * 8021107 % REVOLUTION_US


def part(span: int) -> str:
    """Words of david-sim for what md has of each member below, which is so many bytes."""
    return f"metadata=1.0 member-size={span}"


def angles(members: int, began: int) -> str:
    """For david-sim's --angles, of what began at so many ns."""
    return "+".join(str(began + phase_us(number) * 1000) for number in range(members))


@contextmanager
def array(level: str, members: int, layout: str, span: int, backing: int,
          chunk: int = 0, options: tuple[str, ...] = ()) -> Iterator[list[str]]:
    """SPAN bytes of each member, but of RAID-0, BACKING for what all of them keep. The members' names; no
    times yet. A chunk of 0 bytes is mdadm's. OPTIONS are of the drive's profile."""
    names = [f"m{number}" for number in range(members)]
    with loop_disk(backing) as store:
        david("pool", "create", "p", "--backing", store, "--format")
        made: list[str] = []
        try:
            for number, name in enumerate(names):
                words = [word for option in (f"phase={phase_us(number)}us", *options)
                         for word in ("--profile-option", option)]
                david("create", name, "--pool", "p", "--size", str(GIB), "--profile", DRIVE, "--mode",
                      "speedup", *words)
                made.append(name)
            words = ["--layout", layout] if layout else []
            words += ["--chunk", str(chunk // KIB)] if chunk else []
            # Stripes without copies take all that there is.
            words += ["--assume-clean", "--bitmap=none", "--size", str(span // KIB)] if level != "0" else []
            run("mdadm", "--create", ARRAY, "--run", "--force", "--metadata=1.0", "--level", level, *words,
                "--raid-devices", str(members), *(f"/dev/mapper/{name}" for name in names))
            yield names
        finally:
            with suppress(Failed):
                run("mdadm", "--stop", ARRAY)
            for name in made:
                run("dmsetup", "remove", "--retry", name)


def done_by_members(names: list[str], before: list[dict]) -> list[dict]:
    """Requests, sectors and faults of each, since device_stats() said so BEFORE."""
    return [{group: {name: now[group][name] - then[group][name] for name in now[group]}
             for group in ("requests", "sectors", "faults")}
            for now, then in zip(map(device_stats, names), before, strict=True)]


def begin_times(names: list[str], faults: Iterable[tuple[int, str]]) -> None:
    """From now on members take the drives' time, and fail as is said of each by its number."""
    for member, text in faults:
        run("dmsetup", "message", names[member], "0", "fault", "add", text)
    for name in names:
        run("dmsetup", "message", name, "0", "mode", "timing-accurate")
