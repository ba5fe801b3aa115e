# SPDX-License-Identifier: GPL-2.0
"""What a device tells about itself, as text: the table that `david stats` prints, and what its words mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..sizes import SECTOR, format_size, format_time
from . import dm, lateness
from .stats import EVIDENCE_MEANS, REACH_PAGE, quantile_us

FAULTS_MEAN = {
    "none": "",
    "flush": ": the backing device could not flush, and may have forgotten what it had",
    "log": ": the backing device would not take the store's log, at a second try neither",
    "superblock": ": the backing device would not take the store's superblock, at a second try neither",
    "room": ": the store's log has no room, which cannot be",
}


CHECKSUMS_MEAN = {
    "blocks": "each of 4 KiB",
    "store": "blocks of the store that hold some of them",
    "loads": "times that some were read from there",
    "evictions": "times that some left memory",
}


UNCLASSIFIED_MEANS = {
    "now": "blocks kept until an inode tells what they are",
    "most": "at any time so far",
    "spilled": "past the bound: kept permanently",
    "data": "told to be data: content dropped",
    "metadata": "told to be metadata",
}


def _mean(total_ns: int, count: int) -> str:
    return format_time(total_ns // count) if count else "-"


def _histogram(counts: list[int]) -> Iterator[tuple[str, int]]:
    for bucket, count in enumerate(counts):
        if count:
            yield f"< {format_time(1000 << bucket)}", count


PART_TEXTS = {
    "overhead": "from here on: the time of commands in the drive, {:.2f} at a time",
    "flush": "until what a flush or FUA needs is on the media",
    "queued": "for the drive's other work: room, the arm, a die, the link",
    "die": "of an SSD's reads: dies read",
    "channel": "the same: channels are waited for, and carry",
    "map": "the same: parts of the map are read",
    "fault": "retries, detours, stalls, and more of all of a slow drive",
}
FAILED_MEANS = {
    "media_read": "requests that failed: a block is bad",
    "media_write": "the same, written in part, or no spare block was left",
    "timeout": "the same: the drive did not answer",
    "gone": "the same: the drive was gone",
    "slowed": "commands that took a multiple of their time",
    "stalled": "commands that waited for the drive's firmware",
    "detours": "ways to a spare block",
    "moved": "blocks that were moved to a spare one",
}
ZONE_MEANS = {
    "open": "commands to open a zone",
    "close": "to close one",
    "finish": "to make one full",
    "reset": "to empty one",
    "append": "writes whose place the disk chose",
    "opened": "writes that found their zone not open",
    "refused": "commands and writes that the zone's state or a limit does not allow",
}


def _times(stats: dict[str, Any], row: Callable[..., None], title: Callable[[str], None]) -> None:
    """Of a disk with a profile: what the drive took, and whether the host kept up."""
    total = sum(stats["modelled"].values())
    busy = stats["busy_ns"]
    title(f"modelled times ({stats['mode']})")
    for name, count in stats["modelled"].items():
        row(name, _mean(stats["modelled_ns"][name], count), f"mean response of {count} requests")
    rate = f"{total * 1_000_000_000 / busy:.1f} requests a second of it" if busy else ""
    row("drive busy", format_time(busy), rate)
    under_way = sum(stats["parts"].values()) / busy if busy else 0
    for name, ns in stats["parts"].items():
        row(name, format_time(ns), PART_TEXTS.get(name, "").format(under_way))
    row("cache hits", str(stats["hits"]), "commands that the drive's cache served or took")
    row("read hits", str(stats["read_hits"]), f"of {stats['modelled']['read']} reads")
    for what, kind in (("read again", "read"), ("overwritten", "write")):
        if cached := stats["cached"][kind]:
            of = format_size(stats["sectors"][kind] * SECTOR)
            row(what, format_size(cached * SECTOR), f"of {of}: only the drive's cache saw them")
    if pending := stats["pending"]["sectors"]:
        row("not at home", format_size(pending * SECTOR), "in a shingled disk's media cache or buffer")
    if empty := stats["flash"]["empty_reads"]:
        row("empty reads", str(empty), f"of {stats['read_pages']} pages that were read: never written")
    if stats["reach"]["end"]:
        disk, reach = stats["target_sectors"] * SECTOR, stats["reach"]
        stroked, touched = (reach["most_end"] - reach["most_first"]) * SECTOR, reach["pages"] * REACH_PAGE
        row("stroked", f"{100 * stroked / disk:.3g} %",
            "of the disk: from the first sector to the last, without metadata and few outliers")
        row("touched", f"{100 * touched / disk:.3g} %", f"of it: {format_size(touched)}, each page once")
    if any(stats["zones"].values()):
        title("zones")
        for name, count in stats["zones"].items():
            ns = stats["zones_ns"].get(name, 0)
            took = f", {format_time(ns)} of the modelled drive" if ns else ""
            if count:
                row(name, str(count), ZONE_MEANS[name] + took)
    if any(stats["faults"].values()):
        title("faults of the modelled drive")
        for name, count in stats["faults"].items():
            if count:
                row(name.replace("_", " "), str(count), FAILED_MEANS[name])
    waits = f"waited to enter the queue, {format_time(stats['queue_wait_ns'])} in all"
    row("queue waits", str(stats["queue_waits"]), waits)
    if late := sum(stats["late"]):
        over = stats["late_50us"]
        title("lateness: delivered minus modelled")
        title(f"  {lateness.verdict(stats)}")
        half = format_time(1000 * quantile_us(stats["late"], 0.5))
        row("requests", str(late), f"half of them less than {half}")
        row("over 50 us", str(over), f"{100 * over / late:.2f} %")
        row("mean", _mean(stats["late_ns"], late))
        row("most", format_time(stats["late_max"]))
        for label, count in _histogram(stats["late"]):
            row(label, str(count))
    if sum(stats["measured"].values()):
        title("measured times of the backing device")
        for name, count in stats["measured"].items():
            row(name, _mean(stats["measured_ns"][name], count), f"mean response of {count} requests")
        row("unmodelled", str(stats["unmodelled"]), "requests that the model was too far behind for")
        title("response times of reads and writes: modelled, measured")
        modelled, measured = stats["modelled_times"], stats["measured_times"]
        for bucket in range(max(len(modelled), len(measured))):
            counts = [series[bucket] if bucket < len(series) else 0 for series in (modelled, measured)]
            if any(counts):
                row(f"< {format_time(1000 << bucket)}", str(counts[0]), str(counts[1]))


def mounted_above(name: str) -> list[dict[str, str]]:
    """Devices that lie on the disk, and have written there while a file system had them mounted."""
    said = dm.run("dmsetup", "message", name, "0", "stack").stdout
    return [
        {"device": dm.device_node(number), "file_system": kind}
        for number, kind in (line.split() for line in said.splitlines())
    ]


def as_text(stats: dict[str, Any]) -> str:
    """The table that `david stats` prints."""
    block = stats["block_size"]
    used, total = stats["store_used"], stats["store_blocks"]
    lines: list[str] = []

    def row(label: str, value: str, note: str = "") -> None:
        lines.append(f"  {label:<12} {value:>14}  {note}".rstrip())

    def size_row(label: str, size: int, note: str = "") -> None:
        row(label, format_size(size), note)

    lines.append(f"{stats['name']}: {stats['state']}{FAULTS_MEAN.get(stats['fault'], '')}")
    sectors = stats["target_sectors"]
    size_row("target", sectors * SECTOR, f"{sectors} sectors of {SECTOR} bytes")
    size_row("store", total * block, f"{total} blocks of {block} bytes")
    size_row("store used", used * block, f"{used} blocks, {100 * used / total if total else 0:.1f} %")
    if packs := stats["packs_store"]:
        size_row("packs", packs * block, f"{packs} blocks that hold {stats['blocks']['packed']} packed ones")
    if memory := stats["pool_memory"]:
        saved = stats["pool_saved"]
        size_row("pool saves", saved * block, f"{saved} blocks that several of its disks have, stored once")
        size_row("pool memory", memory, "once for all of its disks")
    row("low water", str(stats["store_low_water"]), "free blocks at which an event is raised")
    row("no space", str(stats["nospc"]), "requests that got ENOSPC")
    row("errors", str(stats["errors"]), "requests failed by the backing device")
    row("range locks", str(stats["range_locks"]), "requests that waited for an overlapping one")
    if retries := stats["log_retries"]:
        row("log retries", str(retries), "writes of the store's log that failed at first")

    mem = stats["mem"]
    lines.append("memory")
    for name, size in mem.items():
        size_row(name, size)
    size_row("total", sum(mem.values()))

    cpu = stats["cpu"]
    lines.append("CPU time")
    for name, ns in cpu.items():
        row(name, format_time(ns))
    row("total", format_time(sum(cpu.values())))

    lines.append("blocks written, by verdict")
    for name, count in stats["written"].items():
        row(name, str(count), format_size(count * block))
    lines.append("blocks written, by evidence")
    for name, count in stats["evidence"].items():
        if count:
            row(name, str(count), EVIDENCE_MEANS.get(name, ""))
    if above := stats.get("mounted_above"):
        lines.append("seen through layers")
        for device in above:
            row(device["file_system"], device["device"])
    lines.append("target now")
    for name, count in stats["blocks"].items():
        row(name, str(count), f"blocks in {stats['ranges'][name]} ranges, {format_size(count * block)}")
    if limit := stats["exact_limit"]:
        row("exact", str(stats["exact_blocks"]), f"of the stored are data, the newest; limit {limit}")
    if stats["checksums"]["blocks"]:
        lines.append("checksums of squashed blocks")
        for name, note in CHECKSUMS_MEAN.items():
            row(name, str(stats["checksums"][name]), note)
    lines.append("requests")
    for name, count in stats["requests"].items():
        row(name, str(count), format_size(stats["sectors"][name] * SECTOR))
    if names := stats["raw_names"]:
        everything = "; no room for all of them: everything is kept" if stats["raw_names_full"] else ""
        row("RAW names", str(names), f"files known by name or directory{everything}")
    if stats["unclassified"]["most"]:
        lines.append("written undecided (classify=implicit)")
        for name, count in stats["unclassified"].items():
            row(name, str(count), UNCLASSIFIED_MEANS[name])
    if stats["mem"]["model"]:
        _times(stats, row, lines.append)
    return "\n".join(lines)
