# SPDX-License-Identifier: GPL-2.0
"""One side of a composed attack: fake disks, or the control, which is dm-linear over sparse files of full
size. Both have the same names and the same layers, so the same steps are done to either.

What a side is asked for at each look: what the checker says; the tree, as it was in memory and as it reads
from the disk; what must be kept; the kernel's complaints.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from helpers import attacklayers, randomops, raw, writelog
from helpers.attacklayers import Place
from helpers.attackplan import Plan, rows
from helpers.filesystems import TOOLS, UNKNOWN
from helpers.guest import (
    SCRATCH,
    Complaints,
    Failed,
    attached,
    copy_sparse,
    david,
    device_stats,
    dm,
    loop_disk,
    mount,
    remove,
    run,
    swap_table,
    unmount,
)
from helpers.lives import driver_of
from helpers.manifest import difference, manifest
from helpers.poolbox import made
from helpers.randomops import Operations
from helpers.units import GIB, MIB
from helpers.victim import drop_caches, flush_buffers, size_of

STORE = 512 * MIB  # of a fake disk alone; of a pool, for each disk
BESIDE = 384 * MIB
TIGHT = 256 * MIB  # a pool that the disk beside can fill
GROWTH = 256 * MIB
LOG = 2 * GIB  # of what is written until a power cut
NUMBERS = re.compile(r"\b(dm-|loop|md)?\d+\b|0x[0-9a-f]+")


def apply(fd: int, entry: writelog.Entry) -> None:
    """A discard may be of the whole device, as mkfs's is."""
    if not entry.flags & writelog.DISCARD:
        writelog.apply(fd, entry)
        return
    mode = randomops.PUNCH_HOLE | randomops.KEEP_SIZE
    size = writelog.SECTOR
    randomops.checked(randomops.libc.fallocate(fd, mode, entry.sector * size, entry.sectors * size))


class NotBuilt(Exception):
    """The stack cannot be made: the text is why."""


@dataclass
class Moment:
    """What a step came to."""

    step: int
    name: str
    refused: str = ""
    tree: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


class Side:
    def __init__(self, plan: Plan, fake: bool, exits: ExitStack) -> None:
        self.plan, self.fake, self.life = plan, fake, exits
        self.place = Place(fake, exits)
        self.kind = "ext4" if plan.fs.startswith("ext4") else plan.fs
        self.journal = plan.fs not in ("ext2", "ext4 without a journal")
        self.names = [f"disk{number}" for number in range(plan.disks)]
        self.bases: dict[str, str] = {}  # by name: the loop device below
        self.files: dict[str, Path] = {}
        self.logs: dict[str, str] = {}
        self.sizes = dict.fromkeys(self.names, attacklayers.SIZE) | {"beside": BESIDE}
        self.devices: list[str] = []
        self.top = ""
        self.options = plan.mount
        self.work: Operations | None = None
        self.number = 0
        self.kept: dict[str, bytes] = {}  # files below raw/
        self.promised = False
        self.blocks: dict[int, bytes] = {}  # of the disk beside
        self.ruled: set[int] = set()
        self.loose: set[int] = set()  # of these, what no flush has made durable
        self.moments: list[Moment] = []
        self.log = Complaints()
        self.failing = False
        self.implicit = plan.mode == "implicit"  # or was it, for a while
        self.blocks_squashed = self.blocks_written = self.nospc = 0  # of disks that have gone meanwhile

    @property
    def has_images(self) -> bool:
        """Are disks in files kept? Not where implicit decides, and on either side the same."""
        return not self.implicit and "fake disk that is implicit" not in self.plan.layers

    # Backing devices

    def base(self, name: str) -> str:
        return f"/dev/mapper/base-{name}"

    def base_table(self, name: str) -> str:
        sectors = size_of(self.bases[name]) >> 9
        if self.plan.caches:
            return f"0 {sectors} log-writes {self.bases[name]} {self.logs[name]}"
        return f"0 {sectors} linear {self.bases[name]} 0"

    def make_base(self, name: str, size: int) -> None:
        path = SCRATCH / f"attack-{name}"
        self.files[name] = path
        for each in (path, path.with_suffix(".durable")) if self.plan.caches else (path,):
            with open(each, "wb") as file:
                file.truncate(size)
            self.life.callback(each.unlink)
        self.bases[name] = self.life.enter_context(attached(str(path)))
        if self.plan.caches:
            self.logs[name] = self.life.enter_context(loop_disk(LOG))
        self.map_base(name)
        self.life.callback(lambda: dm.exists(f"base-{name}") and remove(f"base-{name}"))

    def map_base(self, name: str) -> None:
        run("dmsetup", "create", f"base-{name}", "--table", self.base_table(name))
        dm.make_node(f"base-{name}")

    def make_bases(self) -> None:
        SCRATCH.mkdir(parents=True, exist_ok=True)
        every = (*self.names, "beside")
        if self.fake and self.plan.store != "alone":
            tight = not self.plan.layers and self.plan.mode != "keep" and self.kind in TOOLS
            self.make_base("pool", TIGHT if tight else STORE * len(every))
            made(self.base("pool"), *(("--share",) if self.plan.store == "shared pool" else ()))
            return
        for name in every:
            size = self.sizes[name]
            self.make_base(name, min(STORE, size) if self.fake else size + GROWTH)

    # Disks

    def make_disk(self, name: str) -> str:
        size, session = self.sizes[name], self.place.session
        if not self.fake:
            return self.place.create(name, f"0 {size >> 9} linear {self.base(name)} 0")
        mode = self.plan.beside if name == "beside" else self.plan.mode
        words = ["--size", str(size), "--classify", mode]
        # A pool that has the disk opens it.
        if self.plan.store == "alone":
            words += ["--backing", self.base(name), *(("--format",) if self.place.first else ())]
        else:
            words += ["--pool", self.base("pool")]
        if mode == "data":
            words += ["-o", "exact=1"]
        if name == "disk0":
            words += ["--profile", "samsung-970-pro", "--mode", "speedup"]
        david("create", name, *words)
        session.callback(attacklayers.gone, name)
        return f"/dev/mapper/{name}"

    def open(self) -> None:
        """Make the disks and what lies on them; or bring all of it back."""
        place = self.place
        place.session, place.arrays, place.uppers, place.mounts = ExitStack(), [], [], []
        disks = [self.make_disk(name) for name in self.names]
        self.make_disk("beside")
        joins = {row["name"]: row.get("joins", 1) for row in rows("layers")}
        self.devices = attacklayers.build(place, self.plan.layers, joins, disks)
        if self.plan.cut:
            self.devices = [
                place.create(f"cut{i}", f"0 {size_of(device) >> 9} linear {device} 0")
                for i, device in enumerate(self.devices)
            ]
        place.first = False

    def close(self) -> None:
        self.count()
        if self.kind == "btrfs":
            run("btrfs", "device", "scan", "--forget", ok=(0, 1))
        self.place.session.close()

    def reopen(self) -> None:
        self.unmount()
        self.close()
        self.open()
        self.mount()

    # The file system

    def make(self) -> None:
        if self.kind in TOOLS:
            plain = TOOLS[self.kind].mkfs
        else:
            plain = UNKNOWN[self.kind][0]
        words = self.plan.mkfs
        try:
            run(*plain, *words, *self.devices)
        except Failed:  # not every feature goes with every other
            rest = ("-O", "^has_journal") if self.plan.fs == "ext4 without a journal" else ()
            run(*plain, *rest, *self.devices[: 1 if self.kind != "btrfs" else None])

    def all_options(self, options: str) -> str:
        more = [UNKNOWN[self.kind][2]] if self.kind in UNKNOWN else []
        if self.kind == "btrfs":
            more += [f"device={device}" for device in self.devices[1:]]
        return ",".join(filter(None, [options, *more]))

    def mount(self) -> None:
        point = SCRATCH / "attack"
        point.mkdir(parents=True, exist_ok=True)
        where = (self.devices[0], str(point), driver_of(self.kind))
        try:
            mount(*where, self.all_options(self.options))
        except Failed:
            if not self.options:
                raise
            self.options = "nogc" if self.kind == "nilfs2" else ""
            mount(*where, self.all_options(self.options))
        self.top = str(point)

    def unmount(self) -> None:
        if not self.top:
            return
        if self.work:
            self.work.close_all()
        for _ in range(50):
            with suppress(Failed):
                unmount(self.top, driver_of(self.kind))
                break
            time.sleep(0.1)
        else:
            unmount(self.top, driver_of(self.kind))
        self.top = ""

    @contextmanager
    def unmounted(self) -> Iterator[str]:
        self.unmount()
        try:
            yield self.devices[0]
        finally:
            self.mount()

    def remount(self) -> None:
        with self.unmounted():
            drop_caches()
            for device in self.devices:
                flush_buffers(device)

    def populate(self) -> None:
        """Where things are; and the rule for what must be kept."""
        for name in ("tree", "raw", "late"):
            os.mkdir(f"{self.top}/{name}")
        self.work = Operations(f"{self.top}/tree", f"attack {self.plan.seed}")
        self.kept = {}
        self.promise()

    def promise(self) -> None:
        """Of files below raw/ the content must be kept, by a rule, or as all is."""
        keep = "fake disk that keeps" in self.plan.layers
        self.promised = self.plan.mode == "keep" and not self.place.uppers or keep
        self.promised |= not self.fake
        asked = self.place.uppers if self.place.uppers else self.names
        if self.promised or not self.plan.rule:
            return
        try:
            for name in asked:
                david("raw", "add", name, f"{self.top}/raw")
            self.promised = True
        except Failed:  # behind a layer nothing tells of files
            self.promised = False

    def do_late(self, seed: int) -> None:
        """What a cut may find half done. Nobody looks at it."""
        late = Operations(f"{self.top}/late", f"late {seed}").without_mappings()
        try:
            late.run(25)
        finally:
            late.close_all()

    def after_cut(self, tree: list[str]) -> None:
        """All is there again: what was synced must be, too."""
        drop_caches()
        for device in self.devices:
            flush_buffers(device)
        if not self.journal or self.kind in ("jfs", "vfat", "exfat"):
            self.repair()
        self.mount()
        if wrong := difference(tree, self.tree()):
            raise Failed("after the cut, the tree is not as it was synced: " + "\n".join(wrong))
        self.check_kept("after the cut")
        shutil.rmtree(f"{self.top}/late")
        os.mkdir(f"{self.top}/late")
        if self.kind in ("ext3", "ext4"):  # the kernel may leave orphans to e2fsck, on any disk
            with self.unmounted() as device:
                run("e2fsck", "-fy", device, ok=(0, 1))

    def repair(self) -> None:
        words = {
            "jfs": ("fsck.jfs", "-f", "-p"),
            "vfat": ("fsck.vfat", "-a"),
            "exfat": ("fsck.exfat", "-y"),
        }.get(self.kind, ("e2fsck", "-fy"))
        for _ in range(3):
            run(*words, self.devices[0], ok=(0, 1, 4))

    # What it comes to

    def tree(self) -> list[str]:
        lines = manifest(f"{self.top}/tree") + manifest(f"{self.top}/raw")
        return [re.sub(r" dir size=\d+", " dir", line) for line in lines]

    def check_kept(self, when: str) -> None:
        if not self.promised:
            return
        for name, content in self.kept.items():
            found = Path(f"{self.top}/raw/{name}").read_bytes()
            if found != content:
                at = raw.first_difference(content, found)
                raise Failed(
                    f"{when}: what must be kept, raw/{name}, differs from byte {at} of {len(content)} on"
                )

    def check_beside(self) -> None:
        if not self.blocks:
            return
        with raw.opened("/dev/mapper/beside") as fd:
            for place, content in self.blocks.items():
                if self.fake and self.plan.beside == "data" and place not in self.ruled:
                    continue
                if raw.read(fd, len(content), place) != content:
                    raise Failed(f"beside: the block at {place} is not what was written")

    def check(self) -> None:
        words = TOOLS[self.kind].check if self.kind in TOOLS else UNKNOWN[self.kind][1]
        if self.kind == "btrfs":
            run("btrfs", "device", "scan", *self.devices)
            words = (*words, "--check-data-csum")
        run(*words, self.devices[0])

    def read_all(self) -> None:
        """Every file to its end: one that cannot be decompressed, or has a wrong checksum, is lost."""
        for directory, _, names in os.walk(f"{self.top}/tree"):
            for name in names:
                path = f"{directory}/{name}"
                if os.path.isfile(path) and not os.path.islink(path) and os.path.getsize(path) < 64 * MIB:
                    with open(path, "rb") as file:
                        while file.read(MIB):
                            pass

    def look(self) -> list[str]:
        """From the disk, not from memory. Raises Failed."""
        os.sync()
        before = self.tree()
        self.check_kept("in memory")
        self.unmount()
        drop_caches()
        for device in self.devices:
            flush_buffers(device)
        self.check()
        self.mount()
        after = self.tree()
        if wrong := difference(before, after):
            raise Failed("mounted again, the tree differs: " + "\n".join(wrong))
        self.check_kept("mounted again")
        self.read_all()
        self.check_beside()
        return after

    def complaints(self) -> list[str]:
        """Of what a step made fail nobody wonders."""
        found = [NUMBERS.sub("N", text) for text in self.log.found()]
        return [] if self.failing else found

    def count(self) -> None:
        """Figures go with the disk: all those that are about to go are added up."""
        squashed, written, self.nospc = self.figures()
        self.blocks_squashed, self.blocks_written = squashed, written

    def figures(self) -> tuple[int, int, int]:
        """Blocks squashed, at once or later; blocks of data or metadata written; requests without room."""
        squashed, written, nospc = self.blocks_squashed, self.blocks_written, self.nospc
        for name in [*self.names, *self.place.uppers] if self.fake else []:
            if not dm.exists(name):
                continue
            figures = device_stats(name)
            at_once, later = figures["written"], figures["unclassified"]
            squashed += int(at_once["squashed"]) + int(later["data"])  # type: ignore[index]
            written += int(at_once["squashed"]) + int(at_once["kept"])  # type: ignore[index]
            nospc += int(figures["nospc"])  # type: ignore[call-overload]
        return squashed, written, nospc

    def room(self) -> None:
        """Requests that failed though nothing was made to fail."""
        if nospc := self.figures()[2]:
            raise Failed(f"{nospc} requests failed for want of space")

    # Failing and cut off

    def base_names(self) -> list[str]:
        return list(self.bases)

    def fail(self, name: str) -> None:
        swap_table(f"base-{name}", f"0 {size_of(self.bases[name]) >> 9} error")

    def unfail(self, name: str) -> None:
        """What was written before is there: a new table begins a new log."""
        if self.plan.caches:
            with open(self.files[name].with_suffix(".durable"), "r+b") as file:
                for entry in writelog.entries(self.logs[name]):
                    apply(file.fileno(), entry)
        swap_table(f"base-{name}", self.base_table(name))

    def power_cut(self, seed: int) -> None:
        """What a flush has made durable is there; of the rest any part may be."""
        for name in self.bases:
            remove(f"base-{name}")
            found = list(writelog.entries(self.logs[name]))
            path, durable = self.files[name], self.files[name].with_suffix(".durable")
            solid = max((i for i, entry in enumerate(found) if entry.flags & writelog.FLUSH), default=0)
            with open(durable, "r+b") as file:
                for entry in found[:solid]:
                    apply(file.fileno(), entry)
                rng = random.Random(f"power {seed} {name}")
                for entry in found[solid:]:
                    if entry.flags & writelog.FUA or rng.random() < 0.5:
                        apply(file.fileno(), entry)
            size = path.stat().st_size
            os.truncate(path, 0)
            os.truncate(path, size)
            copy_sparse(str(durable), str(path))
            flush_buffers(self.bases[name])
            self.map_base(name)
