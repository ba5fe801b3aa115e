# SPDX-License-Identifier: GPL-2.0
"""Memory of the module, part by part: what its functions asked the kernel for, and did not give back.

The kernel's trace points say of each allocation how much was asked for, and by which functions. vmalloc()
has none: what it gave, in whole pages, is in /proc/vmallocinfo. None of it is the module's own account.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from helpers.guest import Failed, run
from helpers.timed import TRACING

MODULE = "[dm_david]"
EVENTS = ("kmem/kmalloc", "kmem/kmem_cache_alloc", "kmem/kfree", "kmem/kmem_cache_free", "kmem/mm_page_alloc",
          "kmem/mm_page_free", "percpu/percpu_alloc_percpu", "percpu/percpu_free_percpu")
KILOBYTES = 64 << 10
PAGE = 4096
EVENT = re.compile(rf"^ *\S.*\[\d+\].*?: ({'|'.join(Path(event).name for event in EVENTS)}): (.*)$")
FRAME = re.compile(r"^ => ([\w.]+)")
# The allocators' functions; an allocation is whose function called the first of them.
ALLOCATORS = re.compile("(trace_k|_*kv?[mz]alloc|_*kmem_cache_alloc|_*alloc_pages|pcpu_alloc)")
# What a pool has for the time when there is no memory
ELEMENTS = {"mempool_alloc_slab", "mempool_kmalloc", "mempool_alloc_pages"}
# By the functions on the way, the outermost last; the first that fits decides.
PARTS = (
    ("ranges", re.compile("rt_node_alloc")),
    ("bitmap", re.compile("bm_init")),
    ("pools", re.compile("wal_open|log_page_alloc|david_pools_init")),
    ("classify", re.compile("implicit_")),
    ("checksums", re.compile("csum_|crct_")),
    ("model", re.compile("timing_")),
    ("target", re.compile("")),
)


@dataclass
class Asked:
    """One allocation: its bytes, and functions, from the innermost to the outermost."""

    kind: str
    size: int
    frames: list[str] = field(default_factory=list)


def alive(lines: Iterable[str], about: set[str]) -> list[Asked]:
    """Of a trace: what was asked for by way of functions ABOUT, and was not given back. Of others nothing is
    kept: a user-mode kernel has no room for as many pages of one process."""
    found: dict[tuple[str, str], Asked] = {}
    key, last = ("", ""), Asked("", 0)
    cpus = os.sysconf("SC_NPROCESSORS_CONF")
    for line in itertools.chain(lines, ["end"]):
        if frame := FRAME.match(line):
            last.frames.append(frame[1])
            continue
        if line.rstrip().endswith("<stack trace>"):
            continue
        if last.kind and about.isdisjoint(last.frames):
            del found[key]
        last = Asked("", 0)
        if not (event := EVENT.match(line)):
            continue
        kind, words = event[1], dict(re.findall(r"(\w+)=(\S+)", event[2]))
        if kind in ("kfree", "kmem_cache_free"):
            found.pop(("slab", words["ptr"]), None)
        elif kind == "mm_page_free":
            found.pop(("page", words["pfn"]), None)
        elif kind == "percpu_free_percpu":
            found.pop(("percpu", words["ptr"]), None)
        elif kind == "mm_page_alloc":
            key, last = ("page", words["pfn"]), Asked("page", PAGE << int(words["order"]))
        elif kind == "percpu_alloc_percpu":
            key, last = ("percpu", words["ptr"]), Asked("percpu", cpus * int(words["size"]))
        else:
            key, last = ("slab", words["ptr"]), Asked("slab", int(words["bytes_req"]))
        if last.kind:
            found[key] = last
    for one in found.values():
        # Behind the trace's own functions
        of_trace = [n for n, name in enumerate(one.frames) if name.startswith("__traceiter_")]
        one.frames = one.frames[of_trace[-1] + 1 if of_trace else 0:]
    return list(found.values())


def functions() -> set[str]:
    """The module's."""
    return {words[2] for words in map(str.split, Path("/proc/kallsyms").read_text().splitlines())
            if words[3:] == [MODULE]}


def part_of(frames: list[str], ours: set[str]) -> str:
    return next(part for part, names in PARTS if any(names.match(name) for name in frames if name in ours))


def parts(lines: Iterable[str], virtual: dict[str, tuple[str, int]]) -> Counter[str]:
    """Bytes of each part."""
    found: Counter[str] = Counter()
    ours, request = functions(), 0
    of_device_mapper = 0
    for one in alive(lines, ours | {"dm_table_complete"}):
        frames = one.frames
        while frames and ALLOCATORS.match(frames[0]):
            # Pages for what is asked of another allocator, which has said so.
            inner = one.kind == "page" and "alloc_pages" not in frames[0]
            frames = [] if inner else frames[1:]
        if not frames:
            continue
        if frames[0] in ELEMENTS:
            if "david_pools_init" in frames:
                found["pools"] += one.size
                if frames[0] == "mempool_kmalloc":
                    request = one.size
            # Device-mapper's own bios have our bytes in front, as many as that request.
            of_device_mapper += "dm_table_complete" in frames
        elif frames[0] in ours:
            found[part_of(frames, ours)] += one.size
    found["pools"] += of_device_mapper * request
    for caller, size in virtual.values():
        # Of those nothing else is known. What is large and no other part's is the modelled drive's.
        part = part_of([caller], ours)
        found["model" if part == "target" else part] += size
    return found


def vmallocs() -> dict[str, tuple[str, int]]:
    """By address: who asked, and bytes in whole pages, without the one that guards them."""
    found = {}
    for line in Path("/proc/vmallocinfo").read_text().splitlines():
        words = line.split()
        if MODULE in words:
            found[words[0]] = words[2].split("+")[0], int(words[1]) - PAGE
    return found


class Allocations:
    """Traced while the block runs."""

    def __init__(self, instance: Path) -> None:
        self.instance, self.before = instance, vmallocs()

    def parts(self) -> Counter[str]:
        """Of what was asked for since the beginning, and is not given back now."""
        (self.instance / "tracing_on").write_text("0")
        for cpu in self.instance.glob("per_cpu/cpu*/stats"):
            lost = dict(line.split(": ") for line in cpu.read_text().splitlines())
            if int(lost["overrun"]):
                raise Failed(f"the trace of allocations has lost {lost['overrun']} events")
        virtual = {place: one for place, one in vmallocs().items() if place not in self.before}
        with (self.instance / "trace").open() as trace:
            found = parts(trace, virtual)
        (self.instance / "tracing_on").write_text("1")
        return found


@contextmanager
def allocations() -> Iterator[Allocations]:
    if not (TRACING / "instances").exists():
        run("mount", "-t", "tracefs", "tracefs", str(TRACING))
    instance = TRACING / "instances" / "allocations"
    instance.mkdir()
    try:
        (instance / "buffer_size_kb").write_text(str(KILOBYTES))
        (instance / "options/stacktrace").write_text("1")
        for event in EVENTS:
            (instance / "events" / event / "enable").write_text("1")
        yield Allocations(instance)
    finally:
        instance.rmdir()
