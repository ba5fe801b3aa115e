# SPDX-License-Identifier: GPL-2.0
"""Recorded writes of ext file systems' lives, fed to the classifier: nothing that matters may be squashed,
and nearly all data must be.

The uml lab records (stream_record.py), then `david-classify replay` writes what a fake disk would hold, with
noise for what was squashed. Against the disk that was recorded: no write that ext4 or jbd2 marked as metadata
was squashed, e2fsck finds nothing, and every block that e2image or the classifier's own walk over the
recorded disk calls metadata is the same on both.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from davidlib import build

from helpers.units import FULL, MIB
from helpers.writelog import MAGIC, PAGE, SECTOR
from labjob import PYTHON, TREE, Job
from streams.replayed import differences, lost, replay
from streams.stream_cases import CASES, CHECK

NAMES = tuple(CASES) if FULL else CHECK
PROGRAM = str(Path(__file__).with_name("stream_record.py"))
STREAMS = TREE / "build" / "streams"
STREAMS.mkdir(parents=True, exist_ok=True)
RECORD = Job(
    "streams",
    "uml",
    "6.12",
    (*PYTHON, PROGRAM, str(STREAMS)),
    NAMES,
    memory="1G",
    usually=3 * len(NAMES),
    rw=str(STREAMS),
    worked_on=True,
)
# Loaded in the middle of the life; with too little memory for the log set.
OPTIONS = ("--from 1111", "--from 2500", "--log-limit 8192")
# As the target sees it; a worker that comes late; that, and little room.
WAITING = ("--by-super", "--by-super --lag 50", "--lag 1000 --unclassified 8388608", "--by-super --from 2500")


@pytest.fixture(scope="module")
def program() -> Path:
    return build.ensure("david-classify")


def free_blocks(image: Path) -> Iterator[range]:
    said = subprocess.run(["dumpe2fs", image], check=True, capture_output=True, text=True).stdout
    for line in said.splitlines():
        head, _, words = line.partition("Free blocks:")
        if head.strip() or not words.strip():
            continue
        for word in words.split(","):
            first, _, last = word.strip().partition("-")
            yield range(int(first), int(last or first) + 1)


def squashed_share(image: Path, out: Path, program: Path) -> float:
    """Of the blocks that are no metadata, not free and not constant: those that are not the same any more."""
    done = subprocess.run([program, "image", "--json", image], check=True, stdout=subprocess.PIPE)
    volume = json.loads(done.stdout)["volumes"][0]
    size, no_data = volume["block_size"], set[int]()
    for first, count, _ in volume["ranges"]:
        no_data.update(range(first, first + count))
    for free in free_blocks(image):
        no_data.update(free)
    total = squashed = 0
    with open(image, "rb") as real, open(out, "rb") as fake:
        for block in range(os.path.getsize(image) // size):
            if block in no_data:
                continue
            content = os.pread(real.fileno(), size, block * size)
            if content == content[:8] * (size // 8):
                continue
            total += 1
            squashed += content != os.pread(fake.fileno(), size, block * size)
    return squashed / total


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.lab(RECORD, name)) for name in NAMES])
def test_stream(lab, program: Path, name: str) -> None:
    error = lab.result(case=name)["error"]
    if error:
        pytest.fail(f"recording failed: {error}", pytrace=False)
    case = CASES[name]
    image, log, out = (STREAMS / f"{name}.{suffix}" for suffix in ("img", "log", "out"))
    try:
        for options in OPTIONS + (WAITING if case.later else ()):
            figures = replay(program, case, out, log, *options.split())
            assert not lost(case, figures), (options, figures)
            checked = subprocess.run(["e2fsck", "-fn", out], capture_output=True, text=True)
            assert checked.returncode == 0, (options, checked.stdout)
            if case.later:
                assert not differences(image, out, program)[:5], options
        figures = replay(program, case, out, log)
        assert not lost(case, figures), figures
        assert figures["data_sectors"] > 100000, figures
        assert figures["data_squashed"] >= case.squashed * figures["data_sectors"], figures
        checked = subprocess.run(["e2fsck", "-fn", out], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
        assert not differences(image, out, program)[:5]
        if case.later:
            share = squashed_share(image, out, program)
            print(f"{name}: {share:.2%} of the data squashed in the end, {figures['unclassified']}")
            assert share >= case.later, (share, figures)
    finally:
        for path in (image, log, out):
            path.unlink(missing_ok=True)


def writes_of(image: Path, start: int) -> Iterator[bytes]:
    """The image as dm-log-writes would have logged its making, at byte `start` of a disk."""
    with open(image, "rb") as file:
        for at in range(start, start + os.path.getsize(image), PAGE):
            data = file.read(PAGE)
            if any(data):
                yield struct.pack("<QQQQ", at // SECTOR, PAGE // SECTOR, 0, PAGE).ljust(SECTOR, b"\0") + data


def test_a_replay_reports_each_volume_of_a_disk_with_several_kinds(program: Path, tmp_path: Path) -> None:
    image, log, out, entries = tmp_path / "img", tmp_path / "log", tmp_path / "out", list[bytes]()
    for mkfs, start, size in (("mkfs.xfs", 0, 300), ("mkfs.ext4", 512, 64), ("mkfs.xfs", 640, 300)):
        image.unlink(missing_ok=True)
        image.touch()
        os.truncate(image, size * MIB)
        subprocess.run([mkfs, "-q", image], check=True)
        entries += writes_of(image, start * MIB)
    head = struct.pack("<QQQL", MAGIC, 1, len(entries), SECTOR).ljust(SECTOR, b"\0")
    log.write_bytes(head + b"".join(entries))
    words = [program, "replay", "--size", str(1024 * MIB), "--out", out, log]
    said = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
    assert [volume["start"] for volume in said["volumes"]] == [512 * MIB // SECTOR]
    assert [volume["start"] for volume in said["xfs_logs"]] == [0, 640 * MIB // SECTOR]
