# SPDX-License-Identifier: GPL-2.0
"""A recorded life, classified again, and what is compared with the disk that was recorded."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from helpers.sparse import data_runs
from helpers.units import MIB
from streams.stream_cases import Case

BLOCK = 4096


def metadata_blocks(image: Path, program: Path, scratch: Path) -> Iterator[tuple[int, int, str]]:
    """Offset, length and origin of what must be on both disks: e2image's word, and the classifier's."""
    done = subprocess.run([program, "image", "--json", image], check=True, stdout=subprocess.PIPE)
    volume = json.loads(done.stdout)["volumes"][0]
    size = volume["block_size"]
    for first, count, kind in volume["ranges"]:
        yield first * size, count * size, kind
    if volume["bigalloc"]:
        return  # e2image copies whole clusters, of which an xattr block uses the first block only
    with tempfile.NamedTemporaryFile(dir=scratch) as raw:
        subprocess.run(["e2image", "-r", image, raw.name], check=True, capture_output=True)
        for begin, end in data_runs(raw.fileno()):
            for at in range(begin, end, size):
                if any(os.pread(raw.fileno(), size, at)):
                    yield at, size, "e2image"


def differences(image: Path, out: Path, program: Path, before: Path | None = None) -> list[str]:
    """Metadata that is on one only, but for what was not the same @before either: it never was on a disk."""
    found = []
    with open(image, "rb") as real, open(out, "rb") as fake, open(before or image, "rb") as old:
        for offset, length, kind in metadata_blocks(image, program, out.parent):
            while length:
                n = min(length, BLOCK)
                content = os.pread(real.fileno(), n, offset)
                there = content == os.pread(old.fileno(), n, offset)
                if there and content != os.pread(fake.fileno(), n, offset):
                    found.append(f"{kind} at byte {offset}")
                offset, length = offset + n, length - n
    return found


def replay(program: Path, case: Case, out: Path, log: Path, *options: str) -> dict[str, int]:
    words = [program, "replay", "--size", str(case.size * MIB), "--out", out, *options, log]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def lost(case: Case, figures: dict[str, int]) -> int:
    """Sectors squashed that were written as metadata: with data=journal file content is so, too."""
    later = 0 if "data=journal" in case.options else figures["later_metadata"]
    return figures["metadata_squashed"] + later
