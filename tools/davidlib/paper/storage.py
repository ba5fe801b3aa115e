# SPDX-License-Identifier: GPL-2.0
"""What of table 2's workloads is kept on ext3, block by block.

After each workload the disk is taken away and its store is read: which blocks are kept that were not before?
debugfs tells what each of them is. So all that `kept` counts is accounted for, and data that is kept shows.
"""

from __future__ import annotations

import os
import re
import struct
from collections import Counter
from pathlib import Path
from typing import Any

from .. import build
from ..bench import testbed
from ..disk import setting
from . import compact, disks, packing, table2

GIB = 1 << 30
BLOCK = 4096
# Nothing that is counted here depends on the disk's size; debugfs reads all of its inode tables.
SIZE = 64 * GIB
STEPS = ("imp", "tar", "postmark", "webserver", "varmail")
JOURNAL = 8
COMMANDS = f"{testbed.SCRATCH}/debugfs"
AT_A_TIME = 500
CONTENT = [("content", "compressible:20")]


def _store() -> dict[int, str]:
    """fill or stored, by block: the disk is taken away for that, and made again."""
    table = testbed.call("dmsetup", "table", testbed.NAME).strip()
    [loop] = testbed.loops_of(testbed.BACKING)
    testbed.call("dmsetup", "remove", testbed.NAME)
    found: dict[int, str] = {}
    for line in testbed.call(str(build.ensure("david-store")), "dump", loop).splitlines():
        first, last, kind = line.split()[:3]
        if kind != "squashed" and int(first) < packing.MODULES_OWN:
            found |= dict.fromkeys(range(int(first), int(last) + 1), kind)
    testbed.call("dmsetup", "create", testbed.NAME, "--table", table)
    return found


def _debugfs(commands: list[str]) -> str:
    Path(COMMANDS).write_text("\n".join(commands) + "\n")
    return testbed.call("debugfs", "-f", COMMANDS, testbed.DISK)


def _owners(blocks: list[int]) -> dict[int, int]:
    """The inode of each block that has one."""
    parts = [blocks[at : at + AT_A_TIME] for at in range(0, len(blocks), AT_A_TIME)]
    said = _debugfs([f"icheck {' '.join(map(str, part))}" for part in parts])
    return {int(block): int(inode) for block, inode in re.findall(r"^(\d+)\t(\d+)$", said, re.MULTILINE)}


def _inodes(numbers: list[int]) -> dict[int, tuple[str, set[int]]]:
    """What each inode is, and its indirect blocks."""
    found = {}
    for at in range(0, len(numbers), AT_A_TIME):
        said = _debugfs([f"stat <{number}>" for number in numbers[at : at + AT_A_TIME]])
        for text in said.split("Inode: ")[1:]:
            indirect = {int(block) for block in re.findall(r"\([DT]?IND\):(\d+)", text)}
            found[int(text.split()[0])] = (text.split("Type: ")[1].split()[0], indirect)
    return found


def kinds(blocks: list[int]) -> dict[int, str]:
    owners = _owners(blocks)
    inodes = _inodes(sorted(set(owners.values())))

    def kind(block: int) -> str:
        inode = owners.get(block, 0)
        if inode == JOURNAL:
            return "journal"
        if not inode:
            return "of no inode"
        what, indirect = inodes[inode]
        return "indirect" if block in indirect else {"regular": "data"}.get(what, what)

    return {block: kind(block) for block in blocks}


def counts_up(block: bytes) -> bool:
    """Is that an indirect block of a file that lies in one piece, to the block's end or the file's?"""
    numbers = struct.unpack(f"<{BLOCK // 4}I", block)
    length = next((at for at, number in enumerate(numbers) if number != numbers[0] + at), len(numbers))
    return bool(numbers[0]) and not any(numbers[length:])


def _read(blocks: list[int]) -> list[bytes]:
    with open(testbed.DISK, "rb") as disk:
        return [os.pread(disk.fileno(), BLOCK, block * BLOCK) for block in blocks]


def account(before: dict[int, str], now: dict[int, str]) -> dict[str, Any]:
    """In bytes: new ones by kind; those that are not kept any more; by kind, what was zeros before."""
    new = sorted(now.keys() - before.keys())
    over = sorted(block for block in now.keys() & before.keys()
                  if before[block] == "fill" and now[block] != "fill")
    known = kinds(new + over)
    indirect = [block for block in new if known[block] == "indirect"]
    return {
        "new": {kind: BLOCK * count for kind, count in Counter(known[block] for block in new).items()},
        "gone": BLOCK * len(before.keys() - now.keys()),
        "zeros": {kind: BLOCK * count for kind, count in Counter(known[block] for block in over).items()},
        "counts_up": BLOCK * sum(map(counts_up, _read(indirect))),
        "compact": compact.account(_read(new)),
    }


def run(run: dict[str, Any]) -> dict[str, Any]:
    told = disks.described(run, backing=3 * GIB, size=run["params"].get("size", SIZE))
    with disks.disk(told):
        setting.change(testbed.NAME, CONTENT)
        testbed.call(*testbed.mkfs_words(told["file_system"], run["seed"]))
        packed = packing.pack()
        before, rows = _store(), {}
        for name, body in table2.steps(testbed.MOUNT, run["params"], run["seed"]).items():
            if name not in STEPS:
                continue
            first = testbed.figures()
            testbed.mount(told["file_system"])
            body()
            testbed.call("umount", testbed.MOUNT)
            rows[name] = disks.blocks_since(first, testbed.figures())
            now = _store()
            rows[name] |= account(before, now)
            before = now
            after = packing.pack()
            rows[name]["packed"] = rows[name]["kept"] - packing.spared(packed, after)
            packed = after
        return {"rows": rows}
