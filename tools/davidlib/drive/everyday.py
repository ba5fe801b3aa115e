# SPDX-License-Identifier: GPL-2.0
"""Everyday jobs, and what they should come to on a drive: the table of `david profile bench`.

A row is a job for david-sim bench, the figure of it that counts, and what that figure should be: by a
closed form of the drive's own parameters, by a data sheet, or by a measurement of that drive or of its
class. A row that a parameter of the profile was chosen by is fitted: it shows that the fit holds. It is no
evidence for the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Any

KIB, MIB = 1 << 10, 1 << 20

CLOSED, PUBLISHED, MEASURED = "closed form", "published", "measured"
UNKNOWN = "no figure"  # neither a measurement nor a data sheet was found, of the drive or of its class


@dataclass
class Seen:
    """What david-sim bench says of a row's job, and of the drive."""

    drive: dict[str, Any]
    job: dict[str, Any]

    @property
    def media(self) -> float:
        """MB/s of the job's fastest zone, or of the interface if that is slower."""
        return min(self.job["media_mb_s"], self.job["interface_mb_s"] or self.job["media_mb_s"])

    @property
    def interface(self) -> float:
        return self.job["interface_mb_s"]

    def positioning(self, op: str = "read", revolutions: float = 0.5) -> float:
        """us until the transfer of a random request begins."""
        settle = self.drive["write_settle_us"] if op == "write" else 0
        return (
            self.drive["overhead_us"][op]
            + self.job["mean_seek_us"]
            + settle
            + revolutions * self.drive["revolution_us"]
        )

    def transfer(self, size: int) -> float:
        """us under the heads, at the mean of the span's zones."""
        return 2 * size / (self.job["media_mb_s"] + self.job["least_media_mb_s"])

    def random_read(self, size: int) -> float:
        return self.positioning() + self.transfer(size)


@dataclass
class Row:
    group: str
    name: str
    words: str
    unit: str  # of FIGURES
    expected: Callable[[Seen], float | None]
    source: str
    kind: str = CLOSED
    below: float = 5  # percent that it may be off
    above: float = 5
    fitted: bool = False
    known: str = ""  # why it is off, where that is not to be mended: shown, and does not fail
    options: tuple[str, ...] = ()  # of the profile
    of: str = "drive"  # or "class": another one was measured


FIGURES: dict[str, Callable[[dict[str, Any]], float]] = {
    "MB/s": lambda job: job["all"]["mb_s"],
    "MB/s read": lambda job: job["reads"]["mb_s"],
    "MB/s written": lambda job: job["writes"]["mb_s"],
    "per s": lambda job: job["all"]["per_s"],
    "reads/s": lambda job: job["reads"]["per_s"],
    "us": lambda job: job["all"]["mean_us"],
    "ms a flush": lambda job: job["flush_mean_us"] / 1000,
    "part 0 per s": lambda job: job["parts"][0]["part0"]["per_s"],
    "part 1 MB/s": lambda job: job["parts"][1]["part1"]["mb_s"],
    "part 2 MB/s": lambda job: job["parts"][2]["part2"]["mb_s"],
}

NO_LIMIT = 1e9


def size_name(size: int) -> str:
    if size >= MIB:
        return f"{size // MIB} MiB"
    return f"{size // KIB} KiB" if size >= KIB else f"{size} B"


def _count(size: int, least: int = 100, total: int = 256 * MIB) -> int:
    return max(total // size, least)


def _sequential() -> list[Row]:
    rows = []

    def add(op: str, size: int, depth: int, where: str = "outer", more: str = "") -> None:
        count = _count(size, 24, 128 * MIB)
        rows.append(
            Row(
                "sequential",
                f"{op} {size_name(size)}, depth {depth}, {where}{', ' + more if more else ''}",
                f"{op} size={size} depth={depth} at={where} {'span=20G' if where != 'outer' else ''} {more} "
                + (
                    f"count={count} warm={count // 2}"
                    if op == "read"
                    else f"count={4 * count} warm=0 drain"
                ),
                "MB/s",
                lambda seen: seen.media,
                "the zone's media rate",
                below=3,
                above=0.5,
            )
        )

    for op in ("read", "write"):
        for size in (64 * KIB, 128 * KIB, 512 * KIB, MIB, 16 * MIB):
            for depth in (1, 4, 32):
                add(op, size, depth)
        add(op, 128 * KIB, 2)
        for where in ("middle", "inner"):
            add(op, MIB, 1, where)
            add(op, 128 * KIB, 4, where)
        add(op, 128 * KIB, 8, more="async")
    return rows


def _hit(seen: Seen, size: int, op: str = "read") -> float:
    """us of a command that needs no media: its overhead, then the interface."""
    return seen.drive["overhead_us"][f"{op}_hit"] + (size / seen.interface if seen.interface else 0)


def _command(seen: Seen, size: int, op: str = "read") -> float:
    """MB/s of such commands one after another, or of the media if those are slower."""
    return min(seen.media, size / _hit(seen, size, op))


def _small(drive: dict[str, Any]) -> list[Row]:
    """Requests so small that what the drive does for each of them counts."""
    # A reader or writer slower than the platters waits for them, where the buffer is short.
    below = 8 if drive["cache_bytes"] >= 7 * MIB else 40
    return [
        Row(
            "small",
            f"{op} {size_name(size)}, depth {depth}",
            f"{op} size={size} depth={depth} count=12000 "
            + ("warm=3000" if op == "read" else "warm=0 drain"),
            "MB/s",
            partial(_command, size=size, op=op),
            "overhead and interface in turn, or the media rate"
            + ("" if depth == 1 else "; in a queue they overlap"),
            below=below if depth == 1 else 5,
            above=5 if depth == 1 else NO_LIMIT,
        )
        for op in ("read", "write")
        for size in (4 * KIB, 16 * KIB, 32 * KIB)
        for depth in (1, 4, 32)
    ]


def _gaps() -> list[Row]:
    def skipping(seen: Seen, size: int, gap: int) -> float:
        return min(seen.media * size / (size + gap), _command(seen, size * KIB))

    rows = []
    for size, gap in ((4, 4), (4, 28), (4, 64), (32, 4), (32, 32), (64, 64), (128, 8)):
        rows.append(
            Row(
                "gaps",
                f"read {size} KiB, skip {gap} KiB",
                f"read size={size}K gap={gap}K count=6000 warm=1000",
                "MB/s",
                partial(skipping, size=size, gap=gap),
                "the contiguous span's rate, or a command's overhead",
                below=10,
                above=NO_LIMIT,
            )
        )
    rows.append(
        Row(
            "gaps",
            "read 64 KiB, skip 64 KiB, depth 8",
            "read size=64K gap=64K depth=8 count=4000 warm=500",
            "MB/s",
            lambda seen: seen.media / 2,
            "the contiguous span's rate",
            below=10,
            above=NO_LIMIT,
        )
    )
    return rows


def _streams(drive: dict[str, Any]) -> list[Row]:
    """As IOMeter's threads of one request each, and as one program that takes turns."""

    def shared(seen: Seen, share: float) -> float:
        return share * (seen.job["media_mb_s"] + seen.job["least_media_mb_s"]) / 2

    rows = []
    half = (0.5, "half of the media rate: xbitlabs, hdd-2010_11: drives that look ahead keep half")
    if drive["cache_bytes"] < 7 * MIB:
        half = (0.2, "a fifth of the media rate: xbitlabs, 160gb-roundup_9: 8 MB, less than half")
    quarter = (0.25, "a quarter of the media rate: xbitlabs, hdd-2010_11")
    if drive["segments"] < 16:
        quarter = (0.08, "a twelfth of the media rate, assumed: it has fewer segments than that")
    for streams, (share, source) in ((2, half), (16, quarter)):
        for size in (64 * KIB, 128 * KIB, MIB):
            for depth in (1, streams):
                rows.append(
                    Row(
                        "streams",
                        f"{streams} streams, read {size_name(size)}, depth {depth}",
                        f"read size={size} streams={streams} depth={depth} count={_count(size)} "
                        f"warm={_count(size) // 4}",
                        "MB/s",
                        partial(shared, share=share),
                        source,
                        PUBLISHED,
                        below=0,
                        above=NO_LIMIT,
                    )
                )
    return rows


def _paced(drive: dict[str, Any]) -> list[Row]:
    """A reader slower than the platters finds its data in the buffer.

    A drive whose buffer is full stops, and goes on when the place comes round again. Where the buffer
    lasts for less than a revolution, the reader waits for the rest of it.
    """

    def expected(seen: Seen, size: int, pace: float) -> float:
        hit = _hit(seen, size)
        requests = seen.drive["readahead_bytes"] / size
        return hit + max(0, seen.drive["revolution_us"] - requests * (hit + 1000 * pace)) / requests

    return [
        Row(
            "paced",
            f"read {size} KiB, {pace} ms between",
            f"read size={size}K pace={pace}ms count=3000 warm=200",
            "us",
            partial(expected, size=size * KIB, pace=pace),
            "overhead and interface, and what a revolution is longer than the buffer lasts",
            # Less, where that is longer, and the drive has begun before the command came.
            below=10 if drive["readahead_bytes"] / size * pace > 1.024 * drive["revolution_us"] else 60,
            above=25,
        )
        for size, pace in ((64, 1), (64, 5), (128, 2), (128, 10), (16, 1))
    ]


def _again() -> list[Row]:
    """What was just read: from the buffer, unless the drive gives that away."""

    def expected(seen: Seen, size: int) -> float:
        if seen.drive["drops_requested"]:
            return seen.drive["revolution_us"]
        return _hit(seen, size)

    return [
        Row(
            "again",
            f"read the same {size_name(size)}",
            f"read random size={size} span={size} count=300 warm=10",
            "us",
            partial(expected, size=size),
            "overhead and interface; a revolution where the drive drops what it has sent",
            below=5,
            above=5,
        )
        for size in (16 * KIB, 64 * KIB, 128 * KIB)
    ]


def _random() -> list[Row]:
    rows = []
    for size in (4 * KIB, 64 * KIB, MIB, 16 * MIB):
        rows.append(
            Row(
                "random",
                f"read {size_name(size)}",
                f"read random size={size} count={2500 if size < MIB else 500}",
                "us",
                partial(Seen.random_read, size=size),
                "overhead, mean seek, half a revolution, transfer",
                below=6,
                above=6,
            )
        )
    rows += [
        Row(
            "random",
            "read 4 KiB, depth 2",
            "read random depth=2 count=3000",
            "us",
            lambda seen: 2 * (seen.positioning() + seen.transfer(4 * KIB)),
            "as depth 1: fio-plot's four drives",
            MEASURED,
            below=6,
            above=6,
        ),
        Row(
            "random",
            "write 4 KiB, no cache",
            "write random cache=off count=3000",
            "us",
            lambda seen: seen.positioning("write") + seen.transfer(4 * KIB),
            "overhead, mean seek, settle, half a revolution, transfer",
            below=6,
            above=6,
        ),
        Row(
            "random",
            "read 4 KiB, first tenth",
            "read random span=10% count=3000",
            "us",
            lambda seen: seen.positioning() + seen.transfer(4 * KIB),
            "the same with that span's seeks",
            below=6,
            above=6,
        ),
        Row(
            "random",
            "read 4 KiB, inner hundredth",
            "read random at=inner span=1% count=3000",
            "us",
            lambda seen: seen.positioning() + seen.transfer(4 * KIB),
            "the same with that span's seeks",
            below=6,
            above=6,
        ),
        Row(
            "random",
            "read 16 MiB in 5 GB, depth 10",
            "read random size=16M depth=10 span=5G count=150 warm=20",
            "MB/s",
            lambda seen: 0.94 * seen.media,
            "92 to 97 % of the sequential rate: perfscripts' drives",
            MEASURED,
            below=8,
            above=6,
        ),
    ]
    return rows


def _mixed() -> list[Row]:
    return [
        Row(
            "mixed",
            "30 % writes, 4 KiB, no cache",
            "random writes=30 cache=off count=4000",
            "us",
            lambda seen: (
                0.7 * seen.positioning() + 0.3 * seen.positioning("write") + seen.transfer(4 * KIB)
            ),
            "between reads and writes",
            below=6,
            above=6,
        ),
        Row(
            "mixed",
            "50 % writes, 4 KiB",
            "random writes=50 count=4000 warm=1000 depth=4",
            "per s",
            lambda seen: 1e6 / (seen.positioning() + seen.transfer(4 * KIB)),
            "no less than random reads alone",
            below=10,
            above=NO_LIMIT,
        ),
    ] + _beside()


def _beside() -> list[Row]:
    """A random reader beside a stream of 4 MiB outstanding, which is 8 commands: neither starves."""

    def starved(seen: Seen, op: str) -> float:
        return 1e6 / (seen.positioning() + 8 * (seen.positioning(op) + seen.transfer(512 * KIB)))

    rows = []
    for op in ("read", "write"):
        words = f"read random + {op} size=1M depth=4 at=50% count=1500 warm=300"
        rows += [
            Row(
                "mixed",
                f"4 KiB reads beside {op}s of 1 MiB",
                words,
                "part 0 per s",
                partial(starved, op=op),
                "all that the stream asked for goes before each of them, in any order",
                below=0,
                above=NO_LIMIT,
            ),
            Row(
                "mixed",
                f"{op}s of 1 MiB beside 4 KiB reads",
                words,
                "part 1 MB/s",
                lambda seen: seen.job["least_media_mb_s"] / 4,
                "as with streams, a quarter of the media rate",
                below=0,
                above=NO_LIMIT,
            ),
        ]
    return rows


def _no_cache() -> list[Row]:
    def revolution(seen: Seen) -> float:
        return 1e6 / seen.drive["revolution_us"]

    def flushes(seen: Seen) -> float:
        turns = ceil(seen.drive["flush_overhead_us"] / seen.drive["revolution_us"])
        return revolution(seen) / max(1, turns)

    return [
        Row(
            "no cache",
            "write 4 KiB in a row",
            "write cache=off count=1000",
            "per s",
            revolution,
            "a revolution each",
            below=3,
            above=3,
        ),
        Row(
            "no cache",
            "write 4 KiB in a row, FUA",
            "write fua count=1000",
            "per s",
            revolution,
            "a revolution each",
            below=3,
            above=3,
        ),
        Row(
            "no cache",
            "append 4 KiB and flush",
            "write flush=1 count=1000",
            "per s",
            flushes,
            "a revolution each, or those that a flush's own time takes",
            below=6,
            above=6,
        ),
        Row(
            "no cache",
            "read 4 KiB in a row",
            "read cache=off count=1000",
            "per s",
            revolution,
            "a revolution each",
            below=3,
            above=3,
        ),
        Row(
            "no cache",
            "write 128 KiB, depth 32",
            "write size=128K depth=32 cache=off count=3000",
            "MB/s",
            lambda seen: seen.media,
            "the zone's media rate: the queue has the next one",
            below=10,
            above=0.5,
        ),
    ]


def _flush() -> list[Row]:
    def alone(seen: Seen) -> float:
        return seen.positioning("write") + seen.transfer(4 * KIB) + seen.drive["flush_overhead_us"]

    return [
        Row(
            "flush",
            "one random 4 KiB and flush",
            "write random flush=1 count=2000",
            "ms a flush",
            lambda seen: alone(seen) / 1000,
            "overhead, mean seek, settle, half a revolution, transfer, a flush's own",
            below=15,
            above=15,
        ),
        Row(
            "flush",
            "8 random 4 KiB and flush",
            "write random flush=8 count=2700",
            "per s",
            lambda seen: 1e6 / alone(seen),
            "no fewer than one at a time, no more than 3 times that",
            below=3,
            above=200,
        ),
        Row(
            "flush",
            "64 random 4 KiB and flush",
            "write random flush=64 count=4000",
            "per s",
            lambda seen: 1e6 / alone(seen),
            "no fewer than one at a time, no more than 6 times that",
            below=3,
            above=500,
        ),
    ]


def _aligned(drive: dict[str, Any]) -> list[Row]:
    words = "write random cache=off align=4K count=2000"

    partial = drive["physical_block"] > 512

    def turn(seen: Seen) -> float:
        revolutions = 1.5 if partial else 0.5
        return seen.positioning("write", revolutions) + seen.transfer(4 * KIB)

    source = "no difference: blocks of 512 bytes"
    if partial:
        source = "the old block is read, a revolution later the new one written"
    rows = [
        Row(
            "alignment",
            "write 4 KiB a sector off, no cache",
            f"{words} offset=512",
            "us",
            turn,
            source,
            below=6,
            above=6,
        ),
        Row(
            "alignment",
            "write 512 B, no cache",
            "write random size=512 cache=off count=2000",
            "us",
            turn,
            source,
            below=6,
            above=6,
        ),
        Row(
            "alignment",
            "write 4 KiB on blocks, no cache",
            words,
            "us",
            lambda seen: seen.positioning("write") + seen.transfer(4 * KIB),
            "overhead, mean seek, settle, half a revolution, transfer",
            below=6,
            above=6,
        ),
        Row(
            "alignment",
            "write 16 MiB a sector off",
            "write random size=16M align=4K offset=512 count=80 warm=10 drain",
            "MB/s",
            lambda seen: (
                (16 * MIB) / (seen.positioning("write", 2.5 if partial else 0.5) + seen.transfer(16 * MIB))
            ),
            "a revolution for each of its two ends" if partial else source,
            below=5,
            above=15,  # the buffer has some to choose from
        ),
        Row(
            "alignment",
            "read 4 KiB a sector off",
            "read random align=4K offset=512 count=2000",
            "us",
            lambda seen: seen.positioning() + seen.transfer(4 * KIB),
            "no difference for reads",
            below=6,
            above=6,
        ),
    ]
    # What is no whole number of logical blocks is refused.
    return rows if drive["logical_block"] == 512 else [row for row in rows if "=512" not in row.words]


def rows_for(drive: dict[str, Any], figures: list[Row] | None = None) -> list[Row]:
    """The rows that a drive of these properties has, and `figures` of its own."""
    rows = (figures or []) + _random() + _aligned(drive)
    if drive["readahead"] and drive["read_cache"]:
        rows += [row for row in _sequential() + _small(drive) if row.words.startswith("read")]
        rows += _gaps() + _streams(drive) + _paced(drive) + _again()
    if drive["write_cache"] == "back":
        rows += [row for row in _sequential() + _small(drive) if row.words.startswith("write")]
        rows += _flush()
    rows += _no_cache() + _mixed()
    return rows


@dataclass
class Outcome:
    row: Row
    modelled: float
    expected: float | None  # None: no figure
    job: str = ""
    bad: bool = field(init=False)

    def __post_init__(self) -> None:
        off = self.off or 0
        self.bad = not -self.row.below - 0.005 <= off <= self.row.above + 0.005

    @property
    def off(self) -> float | None:
        return None if self.expected is None else 100 * (self.modelled / self.expected - 1)
