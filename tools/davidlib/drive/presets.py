# SPDX-License-Identifier: GPL-2.0
"""Ways in which drives were seen to fail, as faults' text: what was published, and what is assumed.

The text is what `david create -o faults=`, `david-sim bench --faults` and a question's [[faults]] take.
docs/MODEL.md has the table of them; tests/system/test_faults.py holds it to this one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..util import UserError

CLUSTER = 20480  # sectors: 10 MiB
ONE_IN = 512  # blocks of a cluster
ALIGNED = 8  # sectors: no physical block is larger
GOLDEN = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class Preset:
    says: str
    text: Callable[[int, int], str]  # of the disk's sectors and a seed
    source: str
    common: str  # how many drives, or how much of the time, it was
    assumed: str


def _place(sectors: int, seed: int) -> int:
    """Where the cluster begins: anywhere on the disk, the same each time."""
    room = max(sectors - CLUSTER, 0) // ALIGNED
    return ((seed + 1) * GOLDEN % (1 << 64) * (room + 1) >> 64) * ALIGNED


def _latent_errors(sectors: int, seed: int) -> str:
    first = _place(sectors, seed)
    last = min(first + CLUSTER, sectors) - 1
    return f"media-error:sectors={first}-{last}:one_in={ONE_IN}:seed={seed}"


LATENT = "Bairavasundaram et al., SIGMETRICS 2007; Schroeder et al., FAST 2010"
TAIL = "Hao et al., FAST 2016"
FAIL_SLOW = "Gunawi et al., FAST 2018 and ;login: summer 2018"
PERSEUS = "304 of 248,000 drives were found to fail slow in 10 months (Lu et al., FAST 2023)"

PRESETS = {
    "latent-errors": Preset(
        "blocks within 10 MiB cannot be read: 40 of 512 bytes or 5 of 4 KiB, in the mean", _latent_errors,
        LATENT,
        "3.45 % of 1.53 million disks in 32 months: 8.5 % of nearline, 1.9 % of enterprise ones",
        "how many: most disks with errors had fewer than 50. All in one cluster: another error lay within "
        "10 MB with a probability of 0.5, and nearly all came within two weeks. Evenly within it: runs were "
        "like Pareto's"),
    "slow-hour-disk": Preset(
        "twice as slow for an hour in 500", lambda sectors, seed: "slow:factor=2:for=1h:every=500h", TAIL,
        "0.2 % of 857 million drive hours of disks were more than twice as slow as their peers'",
        "twice and not more; an hour at a time, as the study counts hours; evenly, beginning at age 0"),
    "slow-hour-ssd": Preset(
        "twice as slow for an hour in 167", lambda sectors, seed: "slow:factor=2:for=1h:every=167h", TAIL,
        "0.6 % of 7 million drive hours of SSDs were more than twice as slow as their peers'",
        "as of slow-hour-disk"),
    "vibration": Preset(
        "a thousand times as slow", lambda sectors, seed: "slow:factor=1000", FAIL_SLOW, PERSEUS,
        "a thousandth of the throughput, as it was at the worst, for ever, and of each command alike"),
    "stalling-firmware": Preset(
        "stops for 2 s each minute", lambda sectors, seed: "firmware-stall:for=2s:every=1m", FAIL_SLOW,
        PERSEUS,
        "2 s, of \"seconds\", and each minute: the reports do not say how often"),
}


def text_of(name: str, sectors: int, seed: int = 0) -> str:
    """The faults of a preset on a disk of so many sectors."""
    if name not in PRESETS:
        raise UserError(f"there is no preset '{name}' of faults; there are {', '.join(PRESETS)}")
    return PRESETS[name].text(sectors, seed)
