# SPDX-License-Identifier: GPL-2.0
"""Figures of disks in the format of OpenMetrics, for Prometheus and others: `david stats --openmetrics`.

A figure's help is its row in docs/figures.toml. What only grows while a disk lives is a counter, what is so
now a gauge (baseline.py knows which), times by powers of two are histograms. All is of the disk's whole life.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from ..util import FIGURES
from . import baseline, stats
from .schema import expanded

# Words, and lists of devices: not numbers. Those of WORDS are labels of david_disk_info.
WORDS = ("state", "fault", "mode")
LEFT_OUT = ("mounted_above",)
BUCKET_US = 1  # the first bucket is of times below that; each of the others is twice as wide


def helps() -> dict[str, str]:
    """By figure: what it is, and its unit."""
    found = {}
    for row in tomllib.loads(FIGURES.read_text(encoding="utf-8"))["stats"]["figure"]:
        unit = f" ({row['unit']})" if row["unit"] else ""
        for names in expanded(row["path"]):
            found[names[0]] = f"{row['meaning']}{unit}"
    return found


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _labels(**labels: str) -> str:
    return "{" + ",".join(f'{key}="{escaped(value)}"' for key, value in labels.items()) + "}"


def _is_gauge(group: str, name: str) -> bool:
    return group in baseline.STATES or name in baseline.STATES_WITHIN.get(group, ())


def _family(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# TYPE {name} {kind}"
    yield f"# HELP {name} {escaped(text)}"


def _histogram(name: str, text: str, disks: Sequence[dict[str, Any]], group: str) -> Iterator[str]:
    yield from _family(name, "histogram", text)
    for disk in disks:
        counted = 0
        for bucket, count in enumerate(disk[group][: stats.BUCKETS - 1]):
            counted += count
            edge = (BUCKET_US << bucket) / 1e6
            yield f"{name}_bucket{_labels(disk=disk['name'], le=repr(edge))} {counted}"
        counted += sum(disk[group][stats.BUCKETS - 1:])
        yield f"{name}_bucket{_labels(disk=disk['name'], le='+Inf')} {counted}"


def _scalars(disks: Sequence[dict[str, Any]], group: str, text: str) -> Iterator[str]:
    kind = "gauge" if _is_gauge(group, "") else "counter"
    name = f"david_{group}"
    yield from _family(name, kind, text)
    for disk in disks:
        yield f"{name}{'_total' * (kind == 'counter')}{_labels(disk=disk['name'])} {disk[group]}"


def _slots(disks: Sequence[dict[str, Any]], group: str, text: str) -> Iterator[str]:
    """A group's figures, by the label kind. Those of it that are so now are a family of their own."""
    for gauge in (False, True):
        names = [name for name in disks[0][group] if _is_gauge(group, name) == gauge]
        if not names:
            continue
        mixed = gauge and not _is_gauge(group, "")
        name = f"david_{group}{'_now' if mixed else ''}"
        yield from _family(name, "gauge" if gauge else "counter", text)
        for disk in disks:
            for slot in names:
                labels = _labels(disk=disk["name"], kind=slot)
                yield f"{name}{'' if gauge else '_total'}{labels} {disk[group][slot]}"


def text_of(disks: Sequence[dict[str, Any]]) -> str:
    """Of disks' figures, as stats.as_dict() has them."""
    told = helps()
    lines = [*_family("david_disk", "info", "how the disk is: its state, why it failed, how it is timed")]
    lines += [f"david_disk_info{_labels(disk=disk['name'], **{word: disk[word] for word in WORDS})} 1"
              for disk in disks]
    for group, value in disks[0].items() if disks else ():
        if isinstance(value, str) or group in LEFT_OUT:
            continue
        if group in stats.HISTOGRAMS:
            lines += _histogram(f"david_{group}_seconds", told[group], disks, group)
        elif isinstance(value, dict):
            lines += _slots(disks, group, told[group])
        else:
            lines += _scalars(disks, group, told[group])
    return "\n".join([*lines, "# EOF"]) + "\n"
