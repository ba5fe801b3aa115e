# SPDX-License-Identifier: GPL-2.0
"""Arrays of david-sim, held against md: where sectors lie, byte by byte, and what members are asked for."""

from __future__ import annotations

import csv
import itertools
import json
import mmap
import os
import random
import re
import subprocess
from contextlib import ExitStack
from functools import reduce
from pathlib import Path

from helpers.guest import SCRATCH, Failed, loop_disk, mapped, run
from helpers.timed import SIM, profile
from helpers.units import GIB, KIB, MIB

from . import case

ARRAY = "/dev/md7"
SIZE = 2 * MIB + 256 * KIB
RAID5 = ("left-symmetric", "left-asymmetric", "right-symmetric", "right-asymmetric")
RAID5 += ("parity-first", "parity-last")
DDF = ("ddf-zero-restart", "ddf-N-restart", "ddf-N-continue")
SIXES = tuple(f"{name}-6" for name in RAID5[:5])


def pattern(block: int, salt: int) -> bytes:
    return (salt << 32 | block).to_bytes(8, "little") * (4 * KIB // 8)


def said(level: str, members: int, chunk: int, layout: str, sectors: int) -> list[dict[str, str]]:
    """What david-sim prints, a dictionary a line."""
    words = f"{level} members={members}" + (f" chunk={chunk}" if chunk else "")
    words += f" layout={layout}" if layout else ""
    command = [SIM, "layout", "--array", words, "--size", str(sectors)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return list(csv.DictReader(done.stdout.splitlines()))


def used(level: str, chunk: int) -> int:
    """Sectors of each member that md uses."""
    name = "rd0/size" if level == "0" else "component_size"
    sectors = int(Path(f"/sys/block/{Path(ARRAY).name}/md/{name}").read_text()) * 2
    return sectors // (chunk // 512) * (chunk // 512) if chunk else sectors


def written(disks: list[str], level: str, chunk: int, layout: str, salt: int) -> tuple[int, int]:
    """Make the array, write each of its blocks, stop it: sectors of a member, and of the array."""
    words = ["--level", level, "--raid-devices", str(len(disks)), "--assume-clean", "--metadata=1.0"]
    words += ["--chunk", str(chunk // KIB)] if chunk else []
    words += ["--layout", layout] if layout else []
    words += ["--bitmap=none"] if level != "0" else []
    run("mdadm", "--create", ARRAY, "--run", "--force", *words, *disks)
    try:
        member = used(level, chunk)
        fd = os.open(ARRAY, os.O_RDWR)
        size = os.lseek(fd, 0, os.SEEK_END)
        os.pwrite(fd, b"".join(pattern(block, salt) for block in range(size // (4 * KIB))), 0)
        os.fsync(fd)
        os.close(fd)
    finally:
        run("mdadm", "--stop", ARRAY)
    return member, size // 512


def bytes_of(disk: str) -> bytes:
    fd = os.open(disk, os.O_RDONLY)
    try:
        return os.pread(fd, SIZE, 0)
    finally:
        os.close(fd)


def xor(parts: list[bytes]) -> bytes:
    number = reduce(lambda a, b: a ^ b, (int.from_bytes(part, "little") for part in parts))
    return number.to_bytes(len(parts[0]), "little")


def compare(rows: list[dict[str, str]], members: list[bytes], salt: int) -> int:
    """Every line against what the members have; returns the sectors that lines of data tell of."""
    end = 0
    data: dict[int, list[bytes]] = {}  # by place on the member, for parity
    for row in rows:
        sector, at, sectors = int(row["sector"]), int(row["member_sector"]) * 512, int(row["sectors"])
        there = members[int(row["member"])][at : at + sectors * 512]
        if row["holds"] == "data":
            end = max(end, sector + sectors)
            data.setdefault(at, []).append(there)
            expected = b"".join(pattern(block, salt) for block in range(sector // 8, (sector + sectors) // 8))
        elif row["holds"] == "P":
            expected = xor(data[at])
        else:
            continue  # Q is what is left
        if there != expected:
            raise Failed(f"{row}: not what md has there")
    return end


def agrees(disks: list[str], level: str, layout: str = "", chunk: int = 64 * KIB, salt: int = 0) -> None:
    member, size = written(disks, level, chunk, layout, salt)
    rows = said(level, len(disks), chunk, layout, member)
    end = compare(rows, [bytes_of(disk) for disk in disks], salt)
    if end != size:
        raise Failed(f"RAID-{level} {layout} of {len(disks)}: md has {size} sectors, david-sim {end}")
    places = {(row["member"], row["member_sector"]) for row in rows}
    if len(places) != len(rows):
        raise Failed(f"RAID-{level} {layout} of {len(disks)}: two chunks in one place")
    for disk in disks:
        run("mdadm", "--zero-superblock", disk)


def on_disks(arrays: list[tuple[int, str, str, int]]) -> None:
    """Of each the number of members, the level, the layout, and the chunk's size."""
    with ExitStack() as stack:
        most = max(count for count, *_ in arrays)
        disks = [stack.enter_context(loop_disk(SIZE)) for _ in range(most)]
        for salt, (count, level, layout, chunk) in enumerate(arrays, 1):
            agrees(disks[:count], level, layout, chunk, salt)


@case(seldom=True)
def david_sim_has_mds_layouts_of_stripes_and_mirrors() -> None:
    words = [("0", ""), ("10", "n2"), ("10", "n3"), ("10", "f2"), ("10", "f3"), ("10", "o2"), ("10", "o3")]
    arrays = [(count, level, layout, 64 * KIB) for count in (3, 4) for level, layout in words]
    on_disks([*arrays, (4, "0", "", 4 * KIB), (2, "1", "", 0), (3, "1", "", 0)])


@case(seldom=True)
def david_sim_has_mds_layouts_of_raid_4_and_5() -> None:
    arrays = [(count, "5", layout, 64 * KIB) for count in (3, 5) for layout in RAID5]
    on_disks([*arrays, (4, "4", "", 64 * KIB), (4, "5", "left-symmetric", 4 * KIB)])


@case(seldom=True)
def david_sim_has_mds_layouts_of_raid_6() -> None:
    arrays = [(5, "6", layout, 64 * KIB) for layout in (*RAID5, *DDF, *SIXES)]
    on_disks([*arrays, (4, "6", "left-symmetric", 4 * KIB), (6, "6", "ddf-N-restart", 64 * KIB)])


# Each member's data on a disk of their own, so that md's superblock is not counted with them.
DATA = 8 * MIB
TAIL = 512 * KIB
Request = tuple[str, int, int]  # R or W, sector, sectors


def some_requests(seed: int, sectors: int, count: int = 80) -> list[Request]:
    """Of all sizes up to 256 KiB, in no more blocks of a member than md's stripe cache has."""
    rng = random.Random(seed)
    requests = []
    for _ in range(count):
        size = rng.choice((8, 8, 8, 8, 16, 24, 64, 128, 200, 384, 512))
        requests.append((rng.choice("RWW"), rng.randrange((sectors // 9 - size) // 8) * 8, size))
    return requests


def serve(requests: list[Request]) -> None:
    fd = os.open(ARRAY, os.O_RDWR | os.O_DIRECT)
    with mmap.mmap(-1, 256 * KIB) as room:
        for op, sector, sectors in requests:
            part = memoryview(room)[: sectors * 512]
            (os.preadv if op == "R" else os.pwritev)(fd, [part], sector * 512)
            part.release()
    os.close(fd)


def counted(disk: str) -> tuple[int, int]:
    """Sectors that were read and written."""
    words = Path(f"/sys/block/{Path(disk).name}/stat").read_text().split()
    return int(words[2]), int(words[6])


SIZES = (20 * MIB, 100 * MIB, 1000 * MIB, 4 * GIB, 9 * GIB, 250 * GIB, 1000204886016)


def part_of_md(disk: str) -> tuple[int, int]:
    """Of a member: where its data begin, and how many sectors of them md uses."""
    said = re.findall(r"^ *(.*?) : (\d+) sectors", run("mdadm", "--examine", disk), re.MULTILINE)
    found = {name: int(sectors) for name, sectors in said}
    return found.get("Data Offset", 0), found.get("Used Dev Size", found["Avail Dev Size"])


def part_of_david_sim(words: str, sectors: int) -> tuple[int, int]:
    """The same, by the first line and the last."""
    rows = run(SIM, "layout", "--array", words, "--size", str(sectors)).splitlines()
    first, last = (dict(zip(rows[0].split(","), row.split(","), strict=True)) for row in (rows[1], rows[-1]))
    start = int(first["member_sector"])
    return start, int(last["member_sector"]) + int(last["sectors"]) - start


@case(seldom=True)
def david_sim_leaves_as_much_of_a_drive_to_data_as_mdadm() -> None:
    """The size of a drive and that of chunks decide how much room there is for a later reshape."""
    for size in SIZES:
        # david-sim prints a line a chunk.
        chunks = [one for one in (4 * KIB, 512 * KIB, 4 * MIB, 64 * MIB) if 4 <= size // one < 30_000]
        with loop_disk(size) as one, loop_disk(size) as other:
            for metadata, chunk in itertools.product(("1.0", "1.2"), (0, *chunks)):
                level = ("--level=5", f"--chunk={chunk // KIB}") if chunk else ("--level=1",)
                words = f"5 members=2 chunk={chunk}" if chunk else "1 members=2"
                run("mdadm", "--create", ARRAY, "--run", "--force", *level, "--raid-devices=2",
                    "--assume-clean", "--bitmap=none", f"--metadata={metadata}", one, other)
                try:
                    real = part_of_md(one)
                finally:
                    run("mdadm", "--stop", ARRAY)
                run("mdadm", "--zero-superblock", one, other)
                said = part_of_david_sim(f"{words} metadata={metadata}", size // 512)
                if said != real:
                    raise Failed(f"{words}, {size} bytes, {metadata}: md has {real}, david-sim {said}")


def by_md(disks: list[str], words: list[str], failed: tuple[int, ...], seed: int) -> tuple[list, list]:
    """The requests, and what each member read and wrote for them."""
    with ExitStack() as stack:
        tails = stack.enter_context(loop_disk(len(disks) * TAIL))
        names = []
        for number, disk in enumerate(disks):
            table = f"0 {DATA // 512} linear {disk} 0\n"
            table += f"{DATA // 512} {TAIL // 512} linear {tails} {number * TAIL // 512}"
            stack.enter_context(mapped(f"member{number}", table))
            names.append(f"/dev/mapper/member{number}")
        words = [*words, "--metadata=1.0", "--bitmap=none", "--assume-clean", f"--size={DATA // KIB}"]
        run("mdadm", "--create", ARRAY, "--run", "--force", f"--raid-devices={len(disks)}", *words, *names)
        try:
            for number in failed:
                run("mdadm", ARRAY, "--fail", names[number])
            requests = some_requests(seed, int(run("blockdev", "--getsz", ARRAY)))
            before = [counted(disk) for disk in disks]
            serve(requests)
            after = [counted(disk) for disk in disks]
        finally:
            run("mdadm", "--stop", ARRAY)
        for name in names:
            run("mdadm", "--zero-superblock", name)
        return requests, [(b[0] - a[0], b[1] - a[1]) for a, b in zip(before, after, strict=True)]


def by_david_sim(requests: list[Request], array: str) -> list[tuple[int, int]]:
    trace = SCRATCH / "trace.csv"
    lines = [f"{op},{sector},{sectors},1000" for op, sector, sectors in requests]
    trace.write_text("\n".join(["op,lbn,blocks,delay_us", *lines]))
    command = [SIM, "replay", "--profile", profile("plain"), "--trace", trace, "--out", "/dev/null"]
    command += ["--array", array, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    # Single times are doubted of parity, and of copies that come round. What members do may not differ.
    doubted = array[0] in "456" or array.startswith("10 members=3")
    if done.returncode not in ((0, 2) if doubted else (0,)):
        raise Failed(f"{array}: david-sim replay ends with {done.returncode}")
    members = json.loads(done.stdout)["members"]
    return [(member["read_bytes"] // 512, member["written_bytes"] // 512) for member in members]


def does_the_same(count: int, level: str, failed: tuple[int, ...] = (), layout: str = "") -> None:
    with ExitStack() as stack:
        disks = [stack.enter_context(loop_disk(DATA)) for _ in range(count)]
        for disk in disks:  # md chooses otherwise among disks that do not rotate
            Path(f"/sys/block/{Path(disk).name}/queue/rotational").write_text("1")
        words = ["--level", level] + ([] if level == "1" else ["--chunk=64"])
        words += ["--layout", layout] if layout else []
        array = f"{level} members={count}" + ("" if level == "1" else " chunk=64K")
        array += f" layout={layout}" if layout else ""
        array += f" failed={'+'.join(map(str, failed))}" if failed else ""
        array += f" metadata=1.0 member-size={DATA}"
        requests, real = by_md(disks, words, failed, count)
    modelled = by_david_sim(requests, array)
    if modelled != real:
        raise Failed(f"{array}: sectors read and written by each member: md {real}, david-sim {modelled}")


@case(seldom=True)
def david_sim_asks_of_mirrors_what_md_asks() -> None:
    for count, level, failed in ((2, "1", ()), (3, "1", (0,)), (4, "10", ()), (3, "10", ()), (4, "10", (2,))):
        does_the_same(count, level, failed)


@case(seldom=True)
def david_sim_asks_of_raid_4_and_5_what_md_asks() -> None:
    for count, level, failed in ((3, "5", ()), (4, "5", ()), (5, "4", ()), (8, "5", ())):
        does_the_same(count, level, failed)


@case
def david_sim_asks_of_raid_6_what_md_asks() -> None:
    for count in (4, 5, 8):
        does_the_same(count, "6")


@case
def david_sim_asks_what_md_asks_when_members_have_failed() -> None:
    for count, level, failed in ((3, "5", (1,)), (5, "5", (0,)), (6, "6", (2,)), (6, "6", (0, 3))):
        does_the_same(count, level, failed)
