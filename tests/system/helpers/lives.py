# SPDX-License-Identifier: GPL-2.0
"""One random life of a file system: one seed is one life, on the reference or on a fake disk.

A life is a mkfs with features that the seed chooses, and some episodes. Each mounts with options that the
seed chooses, does random operations (randomops.py), perhaps grows or shrinks or balances what is mounted, and
ends in one of four ways: unmounted; remounted read-only and back, then unmounted; cut off after a sync; cut
off in the midst of operations. Cut off means that the disk is gone from one request to the next, with the
file system still mounted; then it is there again with all that had been completed, and is recovered by mount
or by the checker. What was synced before must be there. Operations in the midst of which a cut falls have a
directory of their own, which is looked at by the checker alone and removed afterwards.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from helpers import aftertools, layers
from helpers.cutoff import Cut, Modes
from helpers.guest import Failed, mounted, run
from helpers.lifekinds import KNOWN, LATE, FileSystem
from helpers.manifest import difference, manifest
from helpers.randomops import Operations

LINEAR = "linear"  # in place of a mode: the reference, or cuts on dm-linear
CHANGE = "change"  # the same: another mode again and again


def driver_of(fs: str) -> str:
    """Kernels without a driver of its own for ext3 leave it to ext4's."""
    fs = fs.partition("-")[0]
    with open("/proc/filesystems") as file:
        return "ext4" if fs == "ext3" and "ext3" not in file.read().split() else fs


@dataclass
class Life:
    """One life on one disk; the same plan on any disk but for the cuts, which the reference is spared."""

    fs: FileSystem
    driver: str
    seed: str
    count: int
    episodes: int
    disk: str
    cut: Cut | None  # None: the reference
    layer: layers.Layer
    exact: bool = False  # look at content, too
    change: Modes | None = None
    trees: list[list[str]] = field(default_factory=list)
    contents: list[list[str]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    written: int = 0
    operations: int = 0

    def live(self) -> None:
        fs, rng = self.fs, random.Random(self.seed)
        size = int(fs.size * fs.first) >> 20 << 20
        features = [word for choice in fs.features for word in rng.choice(choice)]
        where = fs.tools.sized(self.disk, size)
        try:
            # On any device the same words.
            words = [*fs.mkfs, *features, *where]
            self.told.append(" ".join(words).replace(self.disk, "/dev/mapper/trial"))
            run(*fs.mkfs, *features, *where)
        except Failed:  # not every feature goes with every other
            self.told.append("refused")
            run(*fs.mkfs, *where)
        work: Operations | None = None
        for number in range(self.episodes):
            work = self.episode(number, work, random.Random(f"{self.seed} {number}"))
            run(*fs.check, self.disk)
            self.layer.look(self.check_alone)
            if self.change:
                self.read_only()
        if fs.ends_with_tool and self.cut:
            self.end_with_a_tool()

    def check_alone(self, device: str) -> None:
        """What lies below the layer, by itself."""
        if self.driver == "btrfs":
            run("btrfs", "device", "scan", "--forget")
        run(*self.fs.check, device)
        with mounted(device, self.driver, ",".join(filter(None, ("ro", self.fs.always)))) as top:
            if wrong := difference(self.trees[-1], self.manifest(top, False)):
                raise Failed("below the layer the tree differs: " + "\n".join(wrong))
        if self.driver == "btrfs":
            run("btrfs", "device", "scan", "--forget")

    def read_only(self) -> None:
        assert self.change
        self.change.read_only()
        # So that the file system knows, through a layer as well: xfs writes its log at mount.
        run("blockdev", "--setro", self.disk)
        with self.mounted(",".join(filter(None, ("ro", self.fs.always)))) as top:
            if wrong := difference(self.trees[-1], self.manifest(top, False)):
                raise Failed("of a read-only disk the tree differs: " + "\n".join(wrong))
        run("blockdev", "--setrw", self.disk)
        self.change.writable()

    def end_with_a_tool(self) -> None:
        assert self.cut
        with self.mounted(self.fs.always) as top, ExitStack() as stack:
            work = Operations(f"{top}/{LATE}", f"{self.seed} end")
            stack.callback(work.close_all)
            work.run(60)
            os.sync()
            work.run(20)
            self.operations += 80
            self.cut.cut()
        self.cut.restore()
        name = self.fs.mkfs[0].partition(".")[2]
        aftertools.same_by_any_tool(name, self.driver, self.disk, f"{self.seed} tool")

    def do(self, work: Operations, count: int) -> None:
        work.run(count)
        self.operations += count

    def episode(self, number: int, work: Operations | None, rng: random.Random) -> Operations:
        fs = self.fs
        end = rng.choice(("unmount", "remount", "idle cut", "busy cut"))
        options = ",".join(word for word in (rng.choice(fs.mounts), fs.always) if word)
        repair = rng.random() < 0.5
        grow = bool(fs.tools.enlarge) and rng.random() < 0.4
        other = fs.other is not None and rng.random() < 0.3
        self.told.append(f"{number}: mount {options or '-'}{' grow' * grow}{' other' * other}, {end}")
        with self.mounted_with(options) as top, ExitStack() as stack:
            if work is None:
                self.make(f"{top}/{LATE}")
                self.make(f"{top}/tree")
                work = Operations(f"{top}/tree", self.seed)
            # Whatever happens: with a file open there is no unmounting.
            stack.callback(work.close_all)
            self.do(work, self.count // 2)
            aside = random.Random(f"{self.seed} {number} aside")
            self.layer.disturb(top, aside)
            if self.change:
                self.change.next(aside)
            if grow:
                try:
                    self.layer.grown()
                    fs.tools.grow(self.disk, top)
                except Failed:  # sparse_super2, for one
                    self.told.append("not grown")
            if other and fs.other:
                fs.other(top, rng)
            self.do(work, self.count - self.count // 2)
            self.layer.settle()
            if end == "remount":
                work.close_all()
                self.remount(top)
                self.do(work, self.count // 4)
            if not end.endswith("cut"):
                work.close_all()
            else:
                os.sync()
            self.look(top)
            if self.cut and end == "idle cut":
                self.cut.cut()
            elif self.cut and end == "busy cut":
                self.busy(f"{top}/{LATE}", f"{self.seed} {number} late")
        if end.endswith("cut") and self.cut:
            self.cut.restore()
            if fs.must_repair:
                self.repair_again()
            if fs.must_repair or (fs.tools.repair and repair):
                said = run(*fs.tools.repair, self.disk, ok=(0, 1, 12))
                # The kernel may log a superblock whose checksum is a moment older, on any disk.
                if "Superblock checksum does not match" in said:
                    said = run(*fs.tools.repair, self.disk, ok=(0, 1))
                if "Filesystem still has errors" in said:
                    raise Failed(f"{' '.join(fs.tools.repair)}: {said[-1500:]}")
            # The log is replayed, orphans are removed.
            with self.mounted(fs.always) as top:
                self.look(top, "after the cut")
                shutil.rmtree(f"{top}/{LATE}")
                self.make(f"{top}/{LATE}")
            # A kernel that noted failed writes does not follow the orphans, but leaves them to e2fsck;
            # with ea_inode it may lose one of them, on any disk.
            if fs.tools.repair and re.search("with errors|ea_inode", run("dumpe2fs", "-h", self.disk)):
                run(*fs.tools.repair, self.disk, ok=(0, 1))
        elif end.endswith("cut"):
            with self.mounted(fs.always) as top:
                self.look(top)
        else:
            with self.mounted(",".join(filter(None, ("ro", fs.always)))) as top:
                self.look(top)
        self.written += work.written
        return work

    def make(self, directory: str) -> None:
        os.mkdir(directory)
        if self.fs.made:
            self.fs.made(directory)

    @contextmanager
    def mounted(self, options: str) -> Iterator[str]:
        with mounted(self.disk, self.driver, options) as top:
            if self.fs.ready:
                self.fs.ready(top)
            yield top

    @contextmanager
    def mounted_with(self, options: str) -> Iterator[str]:
        """Not every option goes with every feature: both disks refuse then, or the lives differ."""
        with ExitStack() as stack:
            try:
                top = stack.enter_context(self.mounted(options))
            except Failed:
                self.told.append("refused")
                top = stack.enter_context(self.mounted(self.fs.always))
            yield top

    def remount(self, top: str) -> None:
        try:
            run("mount", "-o", "remount,ro", top)
        except Failed:  # nilfs2 at times is busy with what was removed, on any disk
            self.told.append("not remounted")
        self.look(top)
        run("mount", "-o", "remount,rw", top)

    def look(self, top: str, when: str = "") -> None:
        lines = self.manifest(top, False)
        if self.fs.more:
            lines += self.fs.more(top)
        self.remember(self.trees, lines, when)
        if self.exact:
            self.remember(self.contents, self.manifest(top, True), when)

    def manifest(self, top: str, content: bool) -> list[str]:
        lines = manifest(f"{top}/tree", content=content)
        return [re.sub(r" dir size=\d+", " dir", line) for line in lines] if self.fs.by_chance else lines

    def remember(self, trees: list[list[str]], lines: list[str], when: str) -> None:
        # Against what was seen before the cut, too: that was synced.
        if when and (wrong := difference(trees[-1], lines)):
            raise Failed(f"{when}, the tree is not as it was synced: " + "\n".join(wrong))
        trees.append(lines)

    def repair_again(self) -> None:
        """What e2fsck -y mends without a journal, it sometimes has to mend again, on any disk; and of the
        directories that the cut fell into some are beyond it.
        """
        for number in range(4):
            said = run(*self.fs.tools.repair, self.disk, ok=(0, 1, 4))
            beyond = re.search(r"^Couldn't fix parent of inode (\d+)", said, re.MULTILINE)
            if number == 2:
                # An inode that claims one block many times is not mended by any number of runs.
                claims = r"^Multiply-claimed block\(s\) in inode (\d+)"
                beyond = beyond or re.search(claims, said, re.MULTILINE)
            if beyond:
                run("debugfs", "-w", "-R", f"clri <{beyond[1]}>", self.disk)

    def busy(self, where: str, seed: str) -> None:
        """Cut while another process is at work."""
        child = os.fork()
        if not child:
            status = 0
            try:
                late = Operations(where, seed)
                while True:
                    late.run(50)
            except OSError:
                status = 1  # the cut
            finally:
                os._exit(status)
        rng = random.Random(seed)
        time.sleep(rng.uniform(0.02, 0.3))
        assert self.cut
        self.cut.cut()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            done, _ = os.waitpid(child, os.WNOHANG)
            if done:
                return
            time.sleep(0.02)
            if time.monotonic() > deadline - 50:
                os.kill(child, signal.SIGKILL)
        raise Failed("a process hangs on a disk that was cut off")


def live(
    name: str, seed: int, count: int, episodes: int, disk: str, cut: Cut | None, classify: str = LINEAR
) -> Life:
    fs = KNOWN[name]
    exact = fs.exact and classify != "implicit"
    kind = fs.layer if cut else ""
    first = int(fs.size * fs.first)
    with layers.between(kind, disk, fs.size, first, f"{name} {seed} layer") as layer:
        way = cut if layer.cuts else None
        words = (f"{name} {seed}", count, episodes, layer.device, way, layer, exact)
        life = Life(fs, driver_of(name), *words)
        if classify == CHANGE and cut:
            life.change = Modes(cut)
        try:
            life.live()
        except (Failed, OSError) as error:
            raise Failed(f"{'; '.join(life.told)}: {type(error).__name__}: {error}") from None
    return life
