# SPDX-License-Identifier: GPL-2.0
"""Are the times of a disk to be believed? One answer, for every command that shows times.

A request is never delivered before its modelled time, but on a busy machine after it. The program that waits
for it sends its next one later by as much. So the share by which requests came late is about the error of a
run. The kernel counts it by kind of request, of those requests that were waited for.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from ..sizes import format_time

# At most this share may come late by more than a sixteenth of their own time, or be added to the times of a
# kind of request. One request may always come so late: of less than a hundred it is more than that share.
TOLERATED = 0.01
# Kinds that are rarer, and have less of the modelled time, cannot change a run's times by much.
RARE = 0.01
REMEDY = "use --virtual-time (david lab run), or a machine with less to do"
# There the machine has nothing to do with it.
REMEDY_VIRTUAL = "time is virtual here: it waited for something in this lab, such as a slow backing device"


@dataclass(frozen=True)
class Verdict:
    """good is None where there is nothing to judge."""

    good: bool | None
    text: str

    def __str__(self) -> str:
        return self.text


def remedy() -> str:
    """What to do about requests that came late."""
    return REMEDY_VIRTUAL if os.environ.get("DAVID_LAB_VIRTUAL_TIME") == "1" else REMEDY


def untimed(stats: dict[str, Any]) -> str:
    """Why nothing was waited for; "" if something was."""
    if not stats["mem"]["model"]:
        return "no times: the disk has no profile"
    if sum(stats["delivered"].values()):
        return ""
    return {
        "speedup": "no times to judge: in speedup they are added up and not waited for",
        "model-only": "no times to judge: in model-only the backing device's are delivered",
    }.get(stats["mode"], "no times to judge: nothing has been waited for so far")


def _added(stats: dict[str, Any]) -> tuple[float, str]:
    """The kind of request whose times came out longest, as its share of the modelled time.

    A few short requests may be late by much of their time, and a run is no longer for it: it took at least as
    long as the slowest kind takes on average, and all of these together make it longer by so much of that.
    """
    counts, modelled, late = stats["delivered"], stats["delivered_ns"], stats["delivered_late_ns"]
    kinds = [kind for kind, count in counts.items() if count]
    slowest = max(modelled[kind] / counts[kind] for kind in kinds)
    return max(
        (late[kind] / max(modelled[kind], slowest, 1), kind)
        for kind in kinds
        if counts[kind] > RARE * sum(counts.values()) or modelled[kind] > RARE * sum(modelled.values())
    )


def _share_above(counts: list[int], wanted: float) -> tuple[float, int]:
    """The bound of the histogram above which lies the share nearest to this one: share, nanoseconds."""
    total = sum(counts)
    bounds = [(sum(counts[bucket + 1 :]) / total, 1000 << bucket) for bucket in range(len(counts))]
    return min(bounds, key=lambda bound: (abs(bound[0] - wanted), -bound[1]))


def verdict(stats: dict[str, Any]) -> Verdict:
    """Of figures as stats.as_dict() has them."""
    if reason := untimed(stats):
        return Verdict(None, reason)
    total = sum(stats["delivered"].values())
    late = sum(stats["delivered_over"].values())
    over = late / total
    added, kind = _added(stats)
    mean = sum(stats["delivered_late_ns"].values()) // total
    if late <= max(TOLERATED * total, 1) and added <= TOLERATED:
        return Verdict(
            True,
            f"trustworthy: {total} requests came {format_time(mean)} later than modelled on average, "
            f"which makes their times at most {100 * added:.2g} % longer",
        )
    share, bound = _share_above(stats["late"], over)
    count = stats["delivered"][kind]
    modelled = stats["delivered_ns"][kind] // count
    took = modelled + stats["delivered_late_ns"][kind] // count
    what = "not to be believed" if added > TOLERATED else "right in sum, but not of single requests"
    times = f"{format_time(took)} where {format_time(modelled)} were modelled"
    return Verdict(
        False,
        f"{what}: {100 * share:.3g} % of requests came more than {format_time(bound)} later than "
        f"modelled, a {kind} took {times}: {remedy()}",
    )
