# SPDX-License-Identifier: GPL-2.0
"""Power cuts of a pool with three file systems on it: a recorded life, and the pool as each cut leaves it.

Beside the file systems other disks come and go, the pool grows, disks are closed and opened again, and now
and then a write of the pool's directory fails in its middle. What is looked at after a cut goes on: one disk
is written to, and the others must keep what they have.
"""

from __future__ import annotations

import os
import random
import string
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field

from helpers import devmapper, writelog
from helpers.cutlives import Files, Life, marked
from helpers.filesystems import TOOLS, whole_check
from helpers.guest import (
    Failed,
    david,
    device_stats,
    load_table,
    loop_disk,
    mapped,
    mounted,
    run,
    say,
)
from helpers.poolbox import (
    COPY,
    DIRECTORY,
    copies_of,
    cut_at,
    fails_at,
    made,
    made_sharing,
    place_of,
    pool_disk,
    reload,
)
from helpers.raw import BLOCK, SECTOR
from helpers.storetool import says
from helpers.units import GIB, MIB, TIB
from helpers.victim import drop_caches

SYSTEMS = {"a": "ext4", "b": "xfs", "c": "btrfs"}
OTHERS = [name for name in string.ascii_lowercase if name not in SYSTEMS]
SIZE = 2 * GIB
# What lies below: it grows twice.
SIZES = (128 * MIB, 144 * MIB, 192 * MIB)
RECORDED = "/dev/mapper/recorded"
SHOWN = "/dev/mapper/shown"
COMMON = 12  # contents that all have


def whole(size: int) -> str:
    """The table of a device that shows so much of what is recorded."""
    return f"0 {size >> 9} linear {RECORDED} 0"


def content(which: str) -> bytes:
    return random.Random(f"content {which}").randbytes(BLOCK)


class Kept:
    """A file that a rule keeps, written over in place: some of its blocks have what others have, too."""

    BLOCKS = 48

    def __init__(self, top: str, name: str, seed: int) -> None:
        self.path, self.name = f"{top}/inplace.kept", name
        self.rng = random.Random(f"{seed} {name}")
        self.number = 0
        self.held: list[list[tuple[int, str]]] = [[] for _ in range(self.BLOCKS)]
        with open(self.path, "wb"):
            pass
        self.write(-1, range(self.BLOCKS))

    def draw(self, most: int = 10) -> list[int]:
        return sorted(self.rng.sample(range(self.BLOCKS), self.rng.randrange(1, most)))

    def write(self, step: int, blocks: range | list[int], path: str = "") -> None:
        """These blocks anew, and durable."""
        with open(path or self.path, "r+b") as file:
            for block in blocks:
                self.number += 1
                common = self.rng.random() < 0.6
                which = str(self.rng.randrange(COMMON)) if common else f"{self.name} {self.number}"
                if not path:
                    self.held[block].append((step, which))
                file.seek(block * BLOCK)
                file.write(content(which))
            file.flush()
            os.fsync(file.fileno())

    def wrong(self, path: str, synced: int) -> str:
        with open(path, "rb") as file:
            data = file.read()
        for block, held in enumerate(self.held):
            last = max(i for i, (step, _) in enumerate(held) if step <= synced)
            may = [which for step, which in held[last:] if step <= synced + 1]
            found = data[block * BLOCK : (block + 1) * BLOCK]
            if found not in [content(which) for which in may]:
                return f"{os.path.basename(path)}: block {block} after sync {synced} is none of {may}"
        return ""


class System:
    """A disk of the pool with a file system on it."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.fs, self.seed = name, SYSTEMS[name], seed
        self.stack = ExitStack()

    def make(self) -> None:
        name, seed = self.name, self.seed
        disk = self.stack.enter_context(self.disk())
        run(*TOOLS[self.fs].mkfs, *(("-J", "size=8") if self.fs == "ext4" else ()), disk)
        top = self.stack.enter_context(mounted(disk, self.fs))
        david("raw", "add", name, "suffix:kept")
        self.files = Files(top, "recorded", seed, name)
        self.kept = Kept(top, name, seed)

    def disk(self) -> AbstractContextManager[str]:
        return pool_disk(self.name, SHOWN, "--classify", "auto", "-o", "pool_reserve=64", size=SIZE)

    def again(self) -> None:
        """Closed, and opened."""
        self.stack.close()
        self.stack.enter_context(mounted(self.stack.enter_context(self.disk()), self.fs))

    def step(self, number: int) -> None:
        self.kept.write(number, self.kept.draw())
        with open(f"{self.files.top}/{number}.kept", "wb") as file:
            file.write(b"".join(content(str(each)) for each in range(number, number + 8)))
            file.flush()
            os.fsync(file.fileno())
        self.files.step(number)

    def wrong(self, top: str, synced: int) -> str:
        said = self.files.wrong(top, synced) or self.kept.wrong(f"{top}/inplace.kept", synced)
        for number in range(synced + 1):
            expected = b"".join(content(str(each)) for each in range(number, number + 8))
            with open(f"{top}/{number}.kept", "rb") as file:
                if file.read() != expected:
                    said = said or f"{number}.kept is not what was written"
        return f"{self.fs}: {said}" if said else ""


@dataclass
class Other:
    """A disk without a file system, which comes and goes."""

    name: str
    seed: int
    stack: ExitStack = field(default_factory=ExitStack)

    def made(self) -> None:
        disk = self.stack.enter_context(pool_disk(self.name, SHOWN, "-o", "pool_reserve=32"))
        writelog.mark("recorded", f"made-{self.name}")
        self.life = Life(disk, "recorded", self.seed, self.name)
        self.stack.callback(self.life.close)
        self.life.most = 40
        # Of what the file systems have, too.
        self.life.version = lambda number: (
            content(str(number % COMMON)) if number % 2 else content(f"own {number}")
        )

    def closed(self) -> None:
        self.stack.close()
        writelog.mark("recorded", f"drop-{self.name}")


def is_directory(entry: writelog.Entry) -> bool:
    return bool(entry.data) and not entry.flags & writelog.MARK and entry.sector * SECTOR < DIRECTORY


def torn_directory(path: str, entry: writelog.Entry, rng: random.Random) -> None:
    """A write of the directory was under way: some of its sectors. With few disks one block has all of it."""
    with open(path, "r+b") as file:
        for at in range(0, len(entry.data), SECTOR):
            if rng.random() < 0.5:
                file.seek(entry.sector * SECTOR + at)
                file.write(entry.data[at : at + SECTOR])


def close_all(others: list[Other]) -> None:
    for other in others:
        other.stack.close()


class Recording:
    """A pool that lives, and what it has to have at each moment."""

    def __init__(self, seed: int, share: bool) -> None:
        self.rng = random.Random(seed)
        self.seed, self.share = seed, share
        self.systems: dict[str, System] = {}
        self.others: dict[str, Other] = {}
        self.size = SIZES[0]
        self.done: dict[str, int] = dict.fromkeys(("made", "dropped", "failed", "again", "grown"), 0)

    def fails(self, *doing: str) -> bool:
        """Refused, as of the directory's next copy the beginning can be written, and the rest cannot. False:
        it was written elsewhere, which the cuts have to judge.
        """
        begin = self.rng.choice((SECTOR, 2 * SECTOR, BLOCK))
        place = place_of(RECORDED, copies_of(RECORDED)[1])
        reload("shown", fails_at(RECORDED, self.size, place + begin, COPY - begin))
        refused = True
        if doing:
            # run() would try it again.
            refused = devmapper.output(*doing) is None
        else:
            with suppress(Failed), pool_disk("refused", SHOWN):
                refused = False
        reload("shown", whole(self.size))
        self.done["failed"] += refused
        return refused

    def make(self) -> None:
        if self.rng.random() < 0.7:
            self.fails()
        name = next(name for name in OTHERS if name not in self.others)
        self.others[name] = Other(name, self.seed)
        self.others[name].made()
        self.done["made"] += 1

    def drop(self, alive: list[Other]) -> None:
        other = alive.pop(0)
        other.closed()
        words = ("message", "a", "0", "pool", "drop", other.name)
        if self.rng.random() < 0.3 or self.fails(*words):
            run("dmsetup", *words)
        self.done["dropped"] += 1

    def grow(self) -> None:
        self.size = SIZES[SIZES.index(self.size) + 1]
        load_table("shown", whole(self.size))
        assert "now" in david("pool", "grow", SHOWN)
        self.done["grown"] += 1

    def event(self, alive: list[Other]) -> None:
        what = self.rng.random()
        if what < 0.5 and len(alive) < 3 and len(self.others) < len(OTHERS):
            self.make()
            alive.append(list(self.others.values())[-1])
        elif what < 0.75 and alive:
            self.drop(alive)
        elif what < 0.9:
            self.rng.choice(list(self.systems.values())).again()
            self.done["again"] += 1

    def run(self, syncs: int) -> list[writelog.Entry]:
        alive: list[Other] = []
        with writelog.log_disk(4 * GIB) as log:
            with (
                loop_disk(SIZES[-1]) as dev,
                writelog.recorded("recorded", dev, log),
                mapped("shown", whole(self.size)) as backing,
                ExitStack() as stack,
            ):
                (made_sharing if self.share else made)(backing)
                for name in SYSTEMS:
                    self.systems[name] = System(name, self.seed)
                    stack.push(self.systems[name].stack.__exit__)
                    self.systems[name].make()
                os.sync()
                writelog.mark("recorded", "mounted")
                stack.callback(close_all, alive)
                for number in range(syncs):
                    if number in (syncs // 3, syncs * 2 // 3):
                        self.grow()
                    for system in self.systems.values():
                        system.step(number)
                    for other in alive:
                        other.life.run(other.life.flushes + 1, last=False)
                    self.event(alive)
                saved = int(device_stats("a")["pool_saved"])  # type: ignore[call-overload]
                if (saved > syncs) != self.share:
                    raise Failed(f"{saved} blocks saved")
            return list(writelog.entries(log))

    def places(self, found: list[writelog.Entry], cuts: int, rng: random.Random) -> list[int]:
        """A third, at most, while the directory is written: first what follows on a write that failed."""
        first = writelog.first_mark(found)
        directory = [at for at in range(first + 1, len(found)) if is_directory(found[at])]
        failed = [at for at in directory if len(found[at].data) < COPY]
        after = (at for one in failed for at in [at for at in directory if at > one][:2])
        chosen = list(dict.fromkeys(after))
        rest = [at for at in directory if at not in chosen]
        chosen += rng.sample(rest, len(rest))
        # Behind the entry before it: it is on its way.
        near = {at - 1 for at in chosen[: cuts // 3]}
        return sorted(near | set(writelog.places(found, first, cuts - len(near), rng)))

    def there(self, done: list[writelog.Entry]) -> Iterator[Other]:
        marks = {entry.data for entry in done if entry.flags & writelog.MARK}
        for other in self.others.values():
            if f"made-{other.name}".encode() in marks and f"drop-{other.name}".encode() not in marks:
                yield other

    def wrong(self, dev: str, done: list[writelog.Entry], rng: random.Random) -> str:
        """What is not as it may be after this cut."""
        with ExitStack() as stack:
            tops = {}
            for name, system in self.systems.items():
                words = f"classify=auto pool={name}"
                disk = stack.enter_context(mapped(f"back-{name}", f"0 {SIZE >> 9} david {dev} 2 {words}"))
                tops[name] = stack.enter_context(mounted(disk, system.fs))
            paths = {}
            for other in self.there(done):
                words = f"classify=keep pool={other.name}"
                disk = stack.enter_context(
                    mapped(f"back-{other.name}", f"0 {TIB >> 9} david {dev} 2 {words}")
                )
                paths[other.name] = disk

            def look(but: str = "") -> str:
                for name, system in self.systems.items():
                    if name != but and (said := system.wrong(tops[name], marked(done, name))):
                        return said
                for name, path in paths.items():
                    if said := self.others[name].life.wrong(path, marked(done, name)):
                        return f"disk {name}: {said}"
                return ""

            if said := look():
                return said
            # It goes on: one of them writes over what it has, and the others keep what they have.
            writer = rng.choice(list(self.systems))
            path = f"{tops[writer]}/inplace.kept"
            kept = self.systems[writer].kept
            kept.write(0, kept.draw(Kept.BLOCKS), path)
            os.sync()
            drop_caches()
            if said := look(writer):
                return f"when {writer} had written: {said}"
        return self.checked(dev)

    def checked(self, dev: str) -> str:
        """By the checkers, unmounted."""
        for name, system in self.systems.items():
            words = f"classify=auto pool={name}"
            with mapped(f"back-{name}", f"0 {SIZE >> 9} david {dev} 2 {words}") as disk:
                run(*whole_check(system.fs), disk)
        status, said = says("pool", "check", dev)
        return said if status else ""


def cut_systems(seed: int, syncs: int, cuts: int, share: bool = True) -> int:
    """A life and its cuts. Returns how many cuts were looked at, all of them good."""
    recording = Recording(seed, share)
    found = recording.run(syncs)
    rng = random.Random(seed)
    places = recording.places(found, cuts, rng)

    def look(dev: str, done: list[writelog.Entry], number: int) -> str:
        return recording.wrong(dev, done, rng)

    def tear(path: str, entry: writelog.Entry) -> None:
        if is_directory(entry) and rng.random() < 0.9:
            torn_directory(path, entry, rng)

    cut_at(SIZES[-1], found, places, rng, look, tear, f"seed {seed}, ")
    flushes = sum(1 for entry in found if entry.flags & writelog.FLUSH)
    events = ", ".join(f"{count} {what}" for what, count in recording.done.items())
    say(f"poolsystems: seed {seed}: {len(places)} cuts, {len(found)} entries, {flushes} flushes; {events}")
    return len(places)
