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
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from labjob import PYTHON, TREE, Job
from stream_cases import CASES, CHECK, Case

FULL = os.environ.get("DAVID_SCALE") == "full"
NAMES = tuple(CASES) if FULL else CHECK
CLASSIFY = TREE / "build" / "david-classify"
PROGRAM = str(Path(__file__).with_name("stream_record.py"))
STREAMS = TREE / "build" / "streams"
STREAMS.mkdir(parents=True, exist_ok=True)
RECORD = Job(
    "streams",
    "uml",
    "6.12",
    (*PYTHON, PROGRAM, str(STREAMS), *NAMES),
    memory="1G",
    timeout=1200,
    usually=15 * len(NAMES),
    rw=str(STREAMS),
)
MIB = 1 << 20


@pytest.fixture(scope="module")
def program() -> Path:
    subprocess.run(["make", "-s", "-C", TREE / "tools" / "classify"], check=True)
    return CLASSIFY


def metadata_blocks(image: Path, program: Path) -> Iterator[tuple[int, int, str]]:
    """Offset, length and origin of what must be on both disks: e2image's word, and the classifier's."""
    done = subprocess.run([program, "image", "--json", image], check=True, stdout=subprocess.PIPE)
    volume = json.loads(done.stdout)["volumes"][0]
    size = volume["block_size"]
    for first, count, kind in volume["ranges"]:
        yield first * size, count * size, kind
    if volume["bigalloc"]:
        return  # e2image copies whole clusters, of which an xattr block uses the first block only
    with tempfile.NamedTemporaryFile(dir=STREAMS) as raw:
        subprocess.run(["e2image", "-r", image, raw.name], check=True, capture_output=True)
        offset, end = 0, os.path.getsize(raw.name)
        while offset < end:
            try:
                offset = os.lseek(raw.fileno(), offset, os.SEEK_DATA)
            except OSError:
                return
            hole = os.lseek(raw.fileno(), offset, os.SEEK_HOLE)
            for at in range(offset, hole, size):
                if any(os.pread(raw.fileno(), size, at)):
                    yield at, size, "e2image"
            offset = hole


def differences(image: Path, out: Path, program: Path) -> list[str]:
    found = []
    with open(image, "rb") as real, open(out, "rb") as fake:
        for offset, length, kind in metadata_blocks(image, program):
            while length:
                n = min(length, MIB)
                if os.pread(real.fileno(), n, offset) != os.pread(fake.fileno(), n, offset):
                    found.append(f"{kind} at byte {offset}, {n} bytes")
                offset, length = offset + n, length - n
    return found


def replay(program: Path, case: Case, out: Path, log: Path, *options: str) -> dict[str, int]:
    words = [program, "replay", "--size", str(case.size * MIB), "--out", out, *options, log]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


@pytest.mark.lab(RECORD)
@pytest.mark.parametrize("name", NAMES)
def test_stream(lab, program: Path, name: str) -> None:
    error = lab.result(case=name)["error"]
    if error:
        pytest.fail(f"recording failed: {error}", pytrace=False)
    case = CASES[name]
    image, log, out = (STREAMS / f"{name}.{suffix}" for suffix in ("img", "log", "out"))
    try:
        # Loaded in the middle of the life; with too little memory for the log set.
        for option, value in (("--from", 1111), ("--from", 2500), ("--log-limit", 8192)):
            figures = replay(program, case, out, log, option, str(value))
            assert figures["metadata_squashed"] == 0, (option, value, figures)
            checked = subprocess.run(["e2fsck", "-fn", out], capture_output=True, text=True)
            assert checked.returncode == 0, (option, value, checked.stdout)
        figures = replay(program, case, out, log)
        assert figures["metadata_squashed"] == 0, figures
        assert figures["data_sectors"] > 100000, figures
        assert figures["data_squashed"] >= case.squashed * figures["data_sectors"], figures
        checked = subprocess.run(["e2fsck", "-fn", out], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout
        assert not differences(image, out, program)[:5]
    finally:
        for path in (image, log, out):
            path.unlink(missing_ok=True)
