# SPDX-License-Identifier: GPL-2.0
"""A tool on a file system whose disk was cut off: what it leaves on the fake disk must be what it leaves on a
copy of that, made before, on a disk that keeps everything.
"""

from __future__ import annotations

import fcntl
import os
import random
from collections.abc import Callable
from pathlib import Path

from helpers.guest import SCRATCH, Failed, attached, libc, mounted, run
from helpers.manifest import difference, manifest

CHUNK = 1 << 20
BLKFLSBUF = 0x1261
Tool = Callable[[str, random.Random], object]
ANY = tuple(range(16))


def undo(disk: str, rng: random.Random) -> None:
    file = SCRATCH / "undo"
    file.unlink(missing_ok=True)
    run("e2fsck", "-z", str(file), rng.choice(("-fy", "-fyD")), disk, ok=ANY)
    if file.exists():
        run("e2undo", "-f", str(file), disk, ok=ANY)


def edit(disk: str, rng: random.Random) -> None:
    script = SCRATCH / "edit"
    lines = [f"mkdir new{i}" for i in range(rng.randrange(1, 40))]
    lines += [f"symlink long{i} {'z' * rng.randrange(61, 200)}" for i in range(5)]
    script.write_text("\n".join([*lines, "write /bin/true written", "rmdir new0", ""]))
    run("debugfs", "-w", "-f", str(script), disk, ok=ANY)


def image(disk: str, rng: random.Random) -> None:
    """Its own metadata as it is now, after something else was changed."""
    run("e2image", disk, str(SCRATCH / "saved"), ok=ANY)
    edit(disk, rng)
    run("e2image", "-I", disk, str(SCRATCH / "saved"), ok=ANY)


def check(disk: str, rng: random.Random) -> None:
    run("e2fsck", rng.choice(("-p", "-fy", "-fyD", "-fp")), disk, ok=ANY)


def check_by_backup(disk: str, rng: random.Random) -> None:
    run("e2fsck", "-fy", "-b", "32768", "-B", "4096", disk, ok=ANY)


def tune(disk: str, rng: random.Random) -> None:
    for words in rng.sample(("-O ^has_journal", "-O quota", "-O ^dir_index", "-L name", "-U random"), 2):
        run("tune2fs", "-f", *words.split(), disk, ok=ANY)


def resize(disk: str, rng: random.Random) -> None:
    run("resize2fs", "-f", disk, f"{rng.randrange(300, 500)}M", ok=ANY)


def without_log(disk: str, rng: random.Random) -> None:
    """mount -o ro,noload, then remount,rw; a name may be wrong as the log is not read, on any disk."""
    try:
        with mounted(disk, "ext4", "ro,noload") as top:
            run("mount", "-o", "remount,rw", top)
            for i in range(rng.randrange(20, 80)):
                os.makedirs(f"{top}/without-{i}/log")
                os.symlink("z" * rng.randrange(61, 150), f"{top}/without-{i}/link")
            libc.sync()
    except (Failed, OSError) as error:
        print(f"aftertools: {error}", flush=True)


def repair_xfs(disk: str, rng: random.Random) -> None:
    run("xfs_repair", *rng.choice(((), ("-L",), ("-d",))), disk, ok=ANY)


def edit_xfs(disk: str, rng: random.Random) -> None:
    run("xfs_admin", "-L", "name", disk, ok=ANY)
    run("xfs_repair", "-L", disk, ok=ANY)


EXT_TOOLS: tuple[Tool, ...] = (undo, edit, image, check, check_by_backup, tune, resize, without_log)
TOOLS: dict[str, tuple[Tool, ...]] = {
    "ext2": (undo, edit, image, check, check_by_backup, resize),
    "ext3": EXT_TOOLS,
    "ext4": EXT_TOOLS,
    "xfs": (repair_xfs, edit_xfs),
}
MEND = {
    "ext": ("e2fsck", "-fy"),
    "xfs": ("xfs_repair", "-L"),
}


def copy_of(disk: str) -> Path:
    """Without the holes: a fake disk is large, and most of it zeros."""
    path = SCRATCH / "copy"
    zeros = bytes(CHUNK)
    with open(disk, "rb", buffering=0) as source, open(path, "wb") as to:
        size = source.seek(0, os.SEEK_END)
        to.truncate(size)
        source.seek(0)
        for at in range(0, size, CHUNK):
            if (data := source.read(CHUNK)) != zeros[: len(data)]:
                os.pwrite(to.fileno(), data, at)
    return path


def settled(disk: str) -> None:
    os.sync()
    with open(disk, "rb") as file:
        fcntl.ioctl(file, BLKFLSBUF)


def outcome(fs: str, driver: str, disk: str, tool: Tool, seed: str) -> list[str]:
    """Twice mended, as on any disk once may not be enough; then the tree, or why there is none."""
    tool(disk, random.Random(seed))
    settled(disk)
    mend = MEND[fs if fs == "xfs" else "ext"]
    for _ in range(2):
        said = run(*mend, disk, ok=ANY)
    try:
        with mounted(disk, driver, "nouuid" if fs == "xfs" else "") as top:
            return manifest(top)
    except (Failed, OSError) as error:
        print(f"aftertools: {error}: {said[-500:]}", flush=True)
        return ["no tree"]


def same_by_any_tool(fs: str, driver: str, disk: str, seed: str) -> str:
    """Returns the tool's name."""
    tool = random.Random(seed).choice(TOOLS[fs])
    settled(disk)
    path = copy_of(disk)
    try:
        with attached(str(path)) as loop:
            expected = outcome(fs, driver, loop, tool, seed)
        found = outcome(fs, driver, disk, tool, seed)
    finally:
        path.unlink()
    if wrong := difference(expected, found):
        raise Failed(f"after {tool.__name__} not as on a disk that keeps everything:\n" + "\n".join(wrong))
    return tool.__name__
