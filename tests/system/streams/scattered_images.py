# SPDX-License-Identifier: GPL-2.0
"""Images of xfs whose directory blocks lie in pieces, as `david-classify image` sees them. Runs in a lab.

Two oracles: xfs_metadump on the image, and where the kernel said that directories and files are while it was
mounted. An image is looked at twice: unmounted, and as the kernel leaves it behind when it is cut off with
directories changed since, which are in the log only.
"""

from __future__ import annotations

import os
import random
import subprocess
from contextlib import ExitStack
from pathlib import Path

from helpers.guest import Failed, attached, run, say
from helpers.units import MIB
from streams.scatter import EXTENT, fill, in_pieces, make_directories, no_reserve, scatter
from streams.selfid_oracle import classified, taken_for_data, xfs_metadata

SIZE = 320 * MIB
BARE = ("-m", "reflink=0,rmapbt=0,finobt=0")  # others keep space back, in one piece
DIRECTORIES = 4
NAMES = 700

# mkfs.xfs's arguments, and directory blocks' size.
IMAGES: dict[str, tuple[tuple[str, ...], int]] = {
    "image-dir8k": (("-n", "size=8192"), 8192),
    "image-dir64k": (("-n", "size=65536"), 65536),
    "image-1k": (("-b", "size=1024"), 4096),
    # Kernels before 5.5 could mount it, so `implicit` keeps it whole.
    "image-old": (("-n", "size=8192", "-m", "bigtime=0,inobtcount=0"), 8192),
}

Runs = list[tuple[int, int]]


def places(path: str) -> Runs:
    """Where the kernel has it: (byte, bytes)."""
    return [
        (int(first) * 512, (int(last) - int(first) + 1) * 512)
        for first, last in EXTENT.findall(run("xfs_bmap", path))
    ]


def total(runs: Runs) -> int:
    return sum(n for _, n in runs)


def covered(pieces: Runs, runs: list[tuple[int, int, str]]) -> int:
    """Bytes of the pieces that the runs, sorted and disjoint, hold."""
    found, i = 0, 0
    for at, n in sorted(pieces):
        while i < len(runs) and runs[i][0] + runs[i][1] <= at:
            i += 1
        k = i
        while k < len(runs) and runs[k][0] < at + n:
            found += min(at + n, runs[k][0] + runs[k][1]) - max(at, runs[k][0])
            k += 1
    return found


class Image:
    def __init__(self, program: str, name: str, path: Path) -> None:
        self.program = program
        self.name = name
        self.path = path
        self.mkfs, self.size = IMAGES[name]
        self.top = "/tmp/scattered"
        self.directories: Runs = []
        self.files: Runs = []
        os.makedirs(self.top, exist_ok=True)

    def mkfs_and_mount(self, stack: ExitStack, fresh: bool) -> None:
        device = stack.enter_context(attached(str(self.path)))
        if fresh:
            run("mkfs.xfs", "-q", "-f", "-K", *BARE, *self.mkfs, device)
        run("mount", "-t", "xfs", device, self.top)
        stack.callback(subprocess.run, ["umount", self.top], capture_output=True)

    def look(self) -> None:
        """Where everything is now."""
        names = [f"{self.top}/directory-{i}" for i in range(DIRECTORIES)]
        self.directories = [place for name in names for place in places(name)]
        self.files = [place for name in ("data", "scatter") for place in places(f"{self.top}/{name}")]
        pieces = sum(in_pieces(name, self.size) for name in names)
        if pieces < 30:
            raise Failed(f"{self.name}: only {pieces} pieces of directory blocks")

    def fill(self, first: int) -> None:
        fill(self.top, DIRECTORIES, first, NAMES)
        run("sync", "-f", self.top)
        self.look()

    def live(self) -> None:
        with ExitStack() as stack:
            self.mkfs_and_mount(stack, True)
            make_directories(self.top, DIRECTORIES)
            Path(f"{self.top}/data").write_bytes(random.Random(1).randbytes(8 * MIB))
            # Some of its places become directories', and the other way round.
            scatter(self.top, 6000)
            self.fill(0)

    def go_on_and_be_cut_off(self) -> None:
        with ExitStack() as stack:
            self.mkfs_and_mount(stack, False)
            no_reserve(self.top)
            self.fill(NAMES)
            run("xfs_io", "-x", "-c", "shutdown -f", self.top)

    def compare(self, how: str, least: float) -> float:
        try:
            runs, data, end = classified(self.program, str(self.path), "xfs")
            metadata = xfs_metadata(str(self.path))
        except RuntimeError as error:
            raise Failed(f"{self.name}, {how}: {error}") from None
        for what, pieces in (("xfs_metadump", metadata), ("the kernel", self.directories)):
            if wrong := taken_for_data(pieces, runs, end):
                raise Failed(
                    f"{self.name}, {how}: {len(wrong)} of {len(pieces)} pieces of metadata that "
                    f"{what} names are data: {wrong[:5]}"
                )
        share = 1 - covered(self.files, runs) / total(self.files)
        say(f"scattered: {self.name}, {how}: {len(metadata)} pieces, {data} data blocks, share {share:.5f}")
        if share < least:
            raise Failed(f"{self.name}, {how}: {share:.5f} of the files' blocks are data")
        return share


def one(program: str, name: str) -> dict[str, object]:
    path = Path(f"/tmp/{name}.img")
    image = Image(program, name, path)
    try:
        with open(path, "wb") as file:
            file.truncate(SIZE)
        image.live()
        clean = image.compare("unmounted", 0.999)
        image.go_on_and_be_cut_off()
        return {"share": clean, "cut off": image.compare("cut off", 0.99)}
    finally:
        path.unlink(missing_ok=True)
