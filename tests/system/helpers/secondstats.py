# SPDX-License-Identifier: GPL-2.0
"""A second way to the figures of `david stats --json` and `david top --json`: from the module's trace points,
from what the block layer counted, and from a replay of the recording by david-sim.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from davidlib.disk import lateness, stats

from .figuretable import Between, Near
from .guest import Failed, dm
from .timed import Event, Recording

KINDS = ("read", "write", "flush")
BLOCK = 8  # sectors


@dataclass
class Done:
    """A request that was delivered."""

    kind: str
    sectors: int
    arrival: int  # at the disk, before it waited for room
    waited: int
    completion: int
    lateness: int

    @property
    def ns(self) -> int:
        return self.completion - self.arrival


def requests_of(recorded: Recording) -> list[Done]:
    ends = {event["id"]: event for event in recorded.events("complete")}
    return [
        done_of(event, ends[event["id"]]) for event in recorded.events("queue") if event["op"] < len(KINDS)
    ]


def done_of(event: Event, end: Event) -> Done:
    return Done(
        KINDS[event["op"]],
        event["sectors"],
        event["arrival"] - event["waited"],
        event["waited"],
        end["completion"],
        end["lateness"],
    )


def histogram(times: list[int]) -> list[int]:
    """As the kernel's, up to its last bucket that is not 0."""
    counts = Counter(min((ns // 1000).bit_length(), stats.BUCKETS - 1) for ns in times)
    return [counts[bucket] for bucket in range(max(counts, default=0) + 1)]


def busy(requests: list[Done]) -> int:
    """In which any was under way in the drive or its queue."""
    total = until = 0
    for one in sorted(requests, key=lambda one: one.arrival + one.waited):
        begin = max(one.arrival + one.waited, until)
        total += max(one.completion - begin, 0)
        until = max(until, one.completion)
    return total


def times(requests: list[Done], said: dict[str, Any]) -> dict[str, Any]:
    """All that is about time. SAID is david-sim's, of the same recording."""
    late = [one.lateness for one in requests]
    found: dict[str, Any] = {
        "busy_ns": busy(requests),
        "late_ns": sum(late),
        "late_max": max(late),
        "late_50us": sum(ns > 50_000 for ns in late),
        "hits": said["hits"],
        "read_hits": said["read_hits"],
        **{f"flash.{name}": 0 for name in stats.MODEL_GROUPS["flash"][2]},
        **{f"{group}.{name}": count for group in ("cached", "pending", "flash")
           for name, count in said.get(group, {}).items()},
        "unmodelled": 0,
        **{f"faults.{name}": 0 for name in stats.MODEL_GROUPS["faults"][2]},
        **{f"{group}.{name}": 0 for group, (_, _, names) in stats.ZONE_GROUPS.items() for name in names},
        "queue_waits": sum(one.waited > 0 for one in requests),
        "queue_wait_ns": sum(one.waited for one in requests),
        "measured_times.0": 0,
    }
    found |= {f"parts.{name}": ns for name, ns in said["drive_ns"].items()}
    data = [one.ns for one in requests if one.kind != "flush"]
    found |= {f"late.{bucket}": count for bucket, count in enumerate(histogram(late))}
    found |= {f"modelled_times.{bucket}": count for bucket, count in enumerate(histogram(data))}
    for kind in KINDS:
        mine = [one for one in requests if one.kind == kind]
        found |= {
            f"modelled.{kind}": len(mine),
            f"delivered.{kind}": len(mine),
            f"measured.{kind}": 0,
            f"modelled_ns.{kind}": sum(one.ns for one in mine),
            f"measured_ns.{kind}": 0,
            f"delivered_ns.{kind}": sum(one.ns for one in mine),
            f"delivered_late_ns.{kind}": sum(one.lateness for one in mine),
            f"delivered_over.{kind}": sum(one.lateness * 16 > one.ns for one in mine),
        }
    return found


def most(spans: list[tuple[int, int]], size: int) -> tuple[int, int]:
    """Where all but a hundredth at either end of the requests went: of 64 parts of the disk, or fewer, those
    that remain. The parts have a power of two of sectors."""
    shift = max((size - 1).bit_length() - 6, 0)
    parts: dict[int, list[tuple[int, int]]] = {}
    for begin, end in spans:
        parts.setdefault(begin >> shift, []).append((begin, end))
    left = set(parts)
    for order in (sorted(parts), sorted(parts, reverse=True)):
        spare = len(spans) // 100
        for part in order:
            if len(parts[part]) > spare:
                break
            spare -= len(parts[part])
            left.discard(part)
    kept = [span for part in left for span in parts[part]]
    return min(begin for begin, _ in kept), max(end for _, end in kept)


def reach(recorded: Recording, size: int) -> dict[str, Any]:
    """From where to where reads and writes went, and how many pages of 4 KiB they had. None is metadata."""
    spans: list[tuple[int, int]] = []
    pages: set[int] = set()
    read: list[int] = []
    ends: list[int] = []
    for event in recorded.events("queue"):
        if event["op"] < KINDS.index("flush"):
            mine = range(event["sector"] // BLOCK, (event["sector"] + event["sectors"] - 1) // BLOCK + 1)
            pages.update(mine)
            ends += [event["sector"], event["sector"] + event["sectors"]]
            spans += [(event["sector"], event["sector"] + event["sectors"])] if event["sectors"] else []
            read += [len(mine)] if event["op"] == KINDS.index("read") else []
    return {
        "read_pages": sum(read),
        "reach.first": min(ends),
        "reach.end": max(ends),
        **dict(zip(("reach.most_first", "reach.most_end"), most(spans, size), strict=True)),
        # Of a sample: a standard error of 2.7 %.
        "reach.pages": Near(len(pages), 0.12 * len(pages)),
    }


def verdicts(recorded: Recording) -> dict[str, Any]:
    """Blocks by what became of them, and by what decided so."""
    pattern = r"david_verdict: dev=\S+ sector=\d+ sectors=(\d+) written=(\w+) evidence=(\w+)"
    written: Counter[str] = Counter()
    evidence: Counter[str] = Counter()
    for sectors, what, why in re.findall(pattern, recorded.text):
        written[what] += int(sectors) // BLOCK
        evidence[why] += int(sectors) // BLOCK
    return {f"written.{name}": written[name] for name in ("kept", "fill", "squashed", "exact")} | {
        f"evidence.{name}": evidence[name] for name in stats.EVIDENCE_MEANS
    }


Map = dict[int, str]  # block -> "stored" or the word that fills it


def runs(blocks: Map) -> Counter[str]:
    """Entries that a table of runs has, by kind."""
    found: Counter[str] = Counter()
    places = sorted(blocks)
    for place, (before, now) in zip(places, pairwise([-2, *places]), strict=True):
        if before + 1 != now or blocks[before] != blocks[now]:
            found["stored" if blocks[place] == "stored" else "fill"] += 1
    return found


def content(blocks: Map) -> dict[str, Any]:
    entries, kinds = runs(blocks), Counter("stored" if one == "stored" else "fill" for one in blocks.values())
    names = ("fill", "squashed", "stored", "packed")
    return {f"ranges.{name}": entries[name] for name in names} | {
        f"blocks.{name}": kinds[name] for name in names
    }


def block_layer(name: str) -> list[int]:
    """Documentation/block/stat.rst"""
    return list(map(int, Path(f"/sys/dev/block/{dm.minor(name)}/stat").read_text().split()))


class Sent:
    """What a program has sent: sectors of each request."""

    def __init__(self) -> None:
        self.sectors: dict[str, list[int]] = {name: [] for name in stats.GROUPS["requests"][2]}

    def note(self, kind: str, sectors: int) -> None:
        self.sectors[kind].append(sectors)

    def counted(self, name: str) -> dict[str, Any]:
        """Requests as the block layer has counted them, of a disk that has had no others; where it does not
        count a kind by itself, as they were sent. Failed if these two differ in sectors."""
        layer = block_layer(name)
        queue = Path(f"/sys/dev/block/{dm.minor(name)}/queue")
        told = int((queue / "write_zeroes_max_bytes").read_text()) > 0
        zeroes = self.sectors["zeroes"] if told else []
        total = {kind: sum(sizes) for kind, sizes in self.sectors.items()}
        if (
            layer[2] != total["read"]
            or layer[6] != total["write"] + total["zeroes"]
            or layer[13] != total["discard"]
        ):
            raise Failed(f"sent were sectors of {total}, and the block layer counted {layer}")
        return {
            "requests.read": layer[0],
            "requests.write": layer[4] - len(zeroes),
            "requests.discard": layer[11],
            "requests.zeroes": len(zeroes),
            "sectors.read": layer[2],
            "sectors.write": layer[6] - sum(zeroes),
            "sectors.discard": layer[13],
            "sectors.zeroes": sum(zeroes),
        }


def nested(doc: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The second way's figures in the groups of `david stats --json`."""
    groups = {
        name: {kind: second[f"{name}.{kind}"] for kind in KINDS} for name in (*stats.DELIVERED, "modelled")
    }
    late = [second[f"late.{bucket}"] for bucket in range(len(doc["late"]))]
    return (
        doc | groups | {"late": late} | {name: second[name] for name in ("late_ns", "late_max", "late_50us")}
    )


def of_top(
    row: dict[str, Any], doc: dict[str, Any], second: dict[str, Any], clocks: list[int]
) -> dict[str, Any]:
    """Of the disk's whole life: figures of `david stats` that the second way came to, by the line's seconds.
    CLOCKS are before the first look, around what was done between the two, and behind the second."""
    seconds = row["seconds"]

    def near(value: float) -> Near:
        return Near(value, 1e-9 * abs(value))

    def mean(ns: int, count: int) -> Near | None:
        return near(ns / count / 1e6) if count else None

    parts = {name: second[f"parts.{name}"] for name in stats.PARTS}
    share = min(1, second["busy_ns"] / sum(parts.values())) / (seconds * 1e9)
    delivered = sum(second[f"delivered.{kind}"] for kind in KINDS)
    late = second["late_ns"]
    found: dict[str, Any] = {
        "created": doc["created"],
        "seconds": Between((clocks[2] - clocks[1]) / 1e9, (clocks[3] - clocks[0]) / 1e9),
        "busy": near(second["busy_ns"] / 1e9 / seconds),
        "queue": near(sum(second[f"modelled_ns.{kind}"] for kind in KINDS) / 1e9 / seconds),
        "queue_waits_per_s": near(second["queue_waits"] / seconds),
        "hits_per_s": near(second["hits"] / seconds),
        "store_bytes": second["store_used"] * 4096,
        "memory_bytes": sum(doc["mem"].values()),
        "store_share": near(second["store_used"] / doc["store_blocks"]),
        "late_ms": mean(late, delivered),
        "trustworthy": lateness.verdict(nested(doc, second)).good,
    } | {f"parts.{name}": near(ns * share) for name, ns in parts.items()}
    for kind in stats.GROUPS["requests"][2]:
        found[f"{kind}_per_s"] = near(second[f"requests.{kind}"] / seconds)
    for kind in KINDS:
        found[f"{kind}_ms"] = mean(second[f"modelled_ns.{kind}"], second[f"modelled.{kind}"])
    for kind in ("read", "write"):
        found[f"{kind}_bytes_per_s"] = near(second[f"sectors.{kind}"] * 512 / seconds)
    return found


def nothing() -> dict[str, Any]:
    """Of what did not happen."""
    names = [f"checksums.{name}" for name in stats.CHECKSUMS[2]]
    names += [f"unclassified.{name}" for name in stats.LATE_GROUPS["unclassified"][2]]
    names += ["exact_blocks", "log_retries", "raw_names", "raw_names_full", "nospc", "errors", "range_locks"]
    return dict.fromkeys([*names, *stats.POOL, *stats.PACKS], 0)


def memory(blocks: int, state: int) -> dict[str, Any]:
    """Of a disk of few ranges whose backing device has so many blocks, and whose model takes STATE bytes in
    david-sim. In the kernel it has what requests have reached: 4,096 slots of a table, half of them again,
    and 64 parts; and some thousand bytes of its own. The bitmap is there three times, as the log has two.
    Nodes of ranges, of 1 KiB, are kept in reserve."""
    reached = 8 * (4096 + 2048 + 3 * 64)
    return {
        "mem.model": Between(state + reached, state + reached + (20 << 10)),
        "mem.bitmap": Between(3 * blocks // 8, 3 * (blocks // 8 + 200)),
        "mem.ranges": Between(32 << 10, 64 << 10),
        **{f"mem.{name}": Between(0, 2 << 20) for name in ("pools", "target", "classify", "checksums")},
    }


def processor(ns: int) -> dict[str, Any]:
    """Bounds of the module's CPU time."""
    return {f"cpu.{name}": Between(0, ns) for name in stats.GROUPS["cpu"][2]}
