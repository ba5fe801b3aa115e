# SPDX-License-Identifier: GPL-2.0
"""What btrfs-progs and xfsprogs call metadata on a disk, against what david-classify does.

`btrfs inspect-internal dump-tree` names every tree block and every chunk, and so where each copy of a tree
block lies; `xfs_metadump` copies all of xfs's metadata, and says from where. No block that they name may be
data to us.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import tempfile
from pathlib import Path

CHUNK = re.compile(
    r"CHUNK_ITEM (\d+)\) itemoff.*?\n\s+length (\d+) .*?\n(.*?)(?=\n\titem|\Z|\nleaf|\nnode)", re.DOTALL
)
STRIPE = re.compile(r"stripe \d+ devid (\d+) offset (\d+)")
TREE_BLOCK = re.compile(r"^(?:leaf|node) (\d+) ", re.MULTILINE)
NODE_BYTES = re.compile(r"nodesize\s+(\d+)")
RESERVED = 1 << 20
SUPERS = (64 << 10, 64 << 20, 256 << 30)


def output(*command: str) -> bytes:
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode(errors='replace')[-500:]}")
    return done.stdout


def btrfs_metadata(device: str, devid: int = 1) -> list[tuple[int, int]]:
    """(byte, bytes) of all copies of tree blocks on the device, and of its superblocks."""
    text = output("btrfs", "inspect-internal", "dump-tree", device).decode(errors="replace")
    said = output("btrfs", "inspect-internal", "dump-super", device).decode()
    node = NODE_BYTES.search(said)
    if not node:
        raise RuntimeError("dump-super names no nodesize")
    size = int(node.group(1))
    chunks = []
    for logical, length, rest in CHUNK.findall(text):
        stripes = [int(offset) for number, offset in STRIPE.findall(rest) if int(number) == devid]
        chunks.append((int(logical), int(length), stripes))
    found = [(at, 4096) for at in SUPERS]
    for block in {int(number) for number in TREE_BLOCK.findall(text)}:
        inside = [c for c in chunks if c[0] <= block < c[0] + c[1]]
        if not inside:
            raise RuntimeError(f"tree block {block} is in no chunk")
        found += [(offset + block - c[0], size) for c in inside for offset in c[2]]
    return found


def xfs_metadata(device: str) -> list[tuple[int, int]]:
    """(byte, bytes) of all that xfs_metadump copies."""
    with tempfile.NamedTemporaryFile() as file:
        output("xfs_metadump", "-a", "-o", device, file.name)
        dump = Path(file.name).read_bytes()
    magic, count, bits, _ = struct.unpack_from(">IHBB", dump)
    if magic != 0x5846534D or bits != 9:
        raise RuntimeError(f"xfs_metadump wrote something else: {magic:x}")
    found = []
    at = 0
    most = (512 - 8) // 8
    while at < len(dump):
        magic, count, bits, _ = struct.unpack_from(">IHBB", dump, at)
        places = struct.unpack_from(f">{count}Q", dump, at + 8)
        for i, place in enumerate(places):
            # Blocks never written are dumped with the rest of a group's headers.
            if any(dump[at + 512 * (i + 1) : at + 512 * (i + 2)]):
                found.append((place * 512, 512))
        at += 512 * (count + 1)
        if count < most:
            break
    return found


def classified(program: str, image: str, fstype: str) -> tuple[list[tuple[int, int, str]], int, int]:
    """Runs of metadata in bytes, the number of data blocks, and bytes of the volume."""
    done = subprocess.run([program, "image", "--json", image], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"david-classify: exit status {done.returncode}")
    volume = json.loads(done.stdout)["volumes"][0]
    if volume["type"] != fstype or volume["start_sector"]:
        raise RuntimeError(f"found {volume['type']} at sector {volume['start_sector']}")
    size = volume["block_size"]
    runs = [(first * size, n * size, what) for first, n, what in volume["ranges"]]
    return runs, volume["count"].get("data", 0), volume["blocks"] * size


def taken_for_data(
    metadata: list[tuple[int, int]], runs: list[tuple[int, int, str]], end: int
) -> list[tuple[int, int]]:
    """What of the metadata is not in the runs, which are sorted and disjoint."""
    wrong = []
    starts = sorted(metadata)
    i = 0
    for at, n in starts:
        if at >= end:
            continue
        while i < len(runs) and runs[i][0] + runs[i][1] <= at:
            i += 1
        # A run may be followed by one of another kind.
        reached, k = at, i
        while reached < at + n and k < len(runs) and runs[k][0] <= reached:
            reached = max(reached, runs[k][0] + runs[k][1])
            k += 1
        if reached < at + n:
            wrong.append((at, n))
    return wrong


def compare(program: str, fstype: str, image: str, device: str = "", devid: int = 1) -> tuple[int, int]:
    """Numbers of the oracle's pieces of metadata and of our data blocks; RuntimeError if they disagree."""
    runs, data, end = classified(program, image, fstype)
    metadata = btrfs_metadata(device or image, devid) if fstype == "btrfs" else xfs_metadata(device or image)
    if wrong := taken_for_data(metadata, runs, end):
        raise RuntimeError(f"{len(wrong)} of {len(metadata)} are data to david-classify: {wrong[:5]}")
    return len(metadata), data
