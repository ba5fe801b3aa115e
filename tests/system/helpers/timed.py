# SPDX-License-Identifier: GPL-2.0
"""Disks with a profile: making them, recording their requests, and asking david-sim about the recording."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from helpers.guest import SCRATCH, TREE, Failed, david, device_stats, dm, run

PROFILES = Path(__file__).resolve().parents[1] / "profiles"
SIM = TREE / "build" / "david-sim"
TRACING = Path("/sys/kernel/tracing")
EVENTS = TRACING / "events" / "david"
READ, WRITE, FLUSH = range(3)


def profile(name: str) -> str:
    """The file of a profile that only tests use."""
    return str(PROFILES / f"{name}.profile")


@contextmanager
def timed_disk(name: str, size: int, backing: str, drive: str, *options: str) -> Iterator[str]:
    """A disk with the times of `drive`, made and removed by tools/david."""
    args = ["--size", str(size), "--backing", backing, "--format", "--profile", drive, *options]
    david("create", name, *args)
    try:
        yield f"/dev/mapper/{name}"
    finally:
        if dm.exists(name):
            david("remove", name)


@dataclass
class Event:
    """A line of the trace: david_queue, david_wait, david_unplug or david_complete."""

    kind: str
    fields: dict[str, int]

    def __getitem__(self, name: str) -> int:
        return self.fields[name]


class Recording:
    """The events of all david disks since it began."""

    def __init__(self, text: str) -> None:
        self.text = text

    def events(self, kind: str, device: str = r"\S+") -> list[Event]:
        found = []
        for line in self.text.splitlines():
            if match := re.search(rf" david_{kind}: dev={device} (.*)", line):
                pairs = (word.split("=") for word in match[1].split())
                found.append(Event(kind, {key: int(value) for key, value in pairs}))
        return found

    def replay(self, drive: str, size: int, *options: str) -> dict[str, int]:
        """What david-sim says to it; Failed if any completion is not the kernel's."""
        if not SIM.exists():
            raise Failed(f"{SIM} is missing: make sim")
        SCRATCH.mkdir(parents=True, exist_ok=True)
        path = SCRATCH / "recorded"
        path.write_text(self.text)
        command = [str(SIM), "replay", "--profile", drive, "--size", str(size >> 9), "--recorded", str(path)]
        done = subprocess.run([*command, "--json", *options], capture_output=True, text=True)
        path.unlink()
        if done.returncode:
            raise Failed(
                f"david-sim: exit status {done.returncode}: {done.stderr.strip()} {done.stdout.strip()}"
            )
        return json.loads(done.stdout)


@contextmanager
def recording(kilobytes: int = 20000) -> Iterator[list[Recording]]:
    """Record while the block runs; the list has the recording afterwards."""
    if not EVENTS.exists():
        with suppress(Failed):
            run("mount", "-t", "tracefs", "tracefs", str(TRACING))
    if not EVENTS.exists():
        raise Failed("the kernel has no trace points of the module: is tracefs there?")
    result: list[Recording] = []
    (TRACING / "trace").write_text("")
    (TRACING / "buffer_size_kb").write_text(str(kilobytes))
    (EVENTS / "enable").write_text("1")
    try:
        yield result
    finally:
        (EVENTS / "enable").write_text("0")
        result.append(Recording((TRACING / "trace").read_text()))
        (TRACING / "trace").write_text("")
        (TRACING / "buffer_size_kb").write_text("8")


def check_parts(figures: dict, said: dict) -> dict[str, int]:
    """The kernel's parts of the drive's time are the simulator's, to the nanosecond."""
    parts = figures["parts"]
    if parts != said["drive_ns"] or figures["hits"] != said["hits"]:
        raise Failed(f"the kernel's parts are {parts}, {figures['hits']} hits; david-sim says {said}")
    return parts


def settle() -> None:
    """The kernel's clock ticks coarsely at first."""
    time.sleep(1 - time.monotonic() if time.monotonic() < 1 else 0)


def check_lateness(name: str) -> None:
    """The virtual clock moves when it is read, and for nothing else."""
    figures = device_stats(name)
    if figures["late_50us"] or figures["late_max"] > 20_000:
        raise Failed(f"late by up to {figures['late_max']} ns, {figures['late_50us']} requests over 50 us")


def fio(*jobs: str) -> dict:
    """fio's own view; one start for all jobs, as it calibrates for long."""
    command = ["fio", "--output-format=json", "--clocksource=clock_gettime", "--direct=1", "--bs=4k"]
    output = run(*command, *jobs)
    return json.loads(output[output.index("{") :])
