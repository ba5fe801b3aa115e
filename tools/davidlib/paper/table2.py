# SPDX-License-Identifier: GPL-2.0
"""Table 2: what workloads store, and how long they take, on the paper's disk of 1 TB.

All of them run one after another on one file system. Before each it is mounted anew and caches are dropped.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import partial
from typing import Any

from ..bench import testbed
from ..disk import setting
from ..workload import called, image, servers
from ..workload.kinds import KINDS
from . import disks, packing
from .disks import MIB

ONE_DIRECTORY = 10**6


def _image(top: str, params: dict[str, Any], seed: int) -> None:
    os.mkdir(f"{top}/image")
    known = KINDS["impressions"].params
    image.run("impressions", f"{top}/image", known | params | {"largest": 1 << 40}, seed)


def _call(*words: str) -> None:
    called.note(words[0])
    # Everything that there is may have been searched without a hit.
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or done.stderr:
        raise testbed.RunFailed(f"{words[0]}: exit status {done.returncode}: {done.stderr[-400:]}")


def _server(kind: str, top: str, params: dict[str, Any], seed: int) -> None:
    """With its files, which the paper's figures include."""
    place = f"{top}/{kind}"
    os.mkdir(place)
    known = KINDS[kind].params | params
    servers.prepare(place, known, seed)
    servers.run(kind, place, known, seed)


def steps(top: str, params: dict[str, Any], seed: int) -> dict[str, Callable[[], None]]:
    """The rows of the table behind the first; each leaves its files for the next."""
    servers_of = {
        "postmark": {"width": ONE_DIRECTORY} | params["postmark"],
        "webserver": {"files": 1000, "processes": 1} | params["webserver"],
        "varmail": {"files": 1000, "width": ONE_DIRECTORY} | params["varmail"],
    }
    return {
        "imp": lambda: _image(top, params["image"], seed),
        "tar": lambda: _call("tar", "-C", top, "-czf", f"{top}/image.tar.gz", "image"),
        "grep": lambda: _call("grep", "-r", "nothing", top),
        "find": lambda: _call("find", top, "-size", "+1000000000k"),
        "du": lambda: _call("du", "-s", top),
        **{kind: partial(_server, kind, top, more, seed) for kind, more in servers_of.items()},
    }


def run(run: dict[str, Any]) -> dict[str, Any]:
    told = disks.described(run, backing=3072 * MIB)
    with disks.disk(told):
        # The archive of the paper's image has a 500th of its size. A 50th is the least that is to be had, but
        # for zeros, of which gzip makes constant blocks.
        setting.change(testbed.NAME, [("content", "compressible:20")])
        words = testbed.mkfs_words(told["file_system"], run["seed"])
        rows = {"mkfs": disks.timed(lambda: testbed.call(*words))}
        before = packing.pack()
        rows["mkfs"]["packed_store_used"] = testbed.figures()["store_used"] * packing.BLOCK
        for name, body in steps(testbed.MOUNT, run["params"], run["seed"]).items():
            rows[name] = disks.mounted(told, body)
            now = packing.pack()
            rows[name]["packed"] = rows[name]["kept"] - packing.spared(before, now)
            before = now
        return {"rows": rows, "disk": testbed.figures()["target_sectors"] * 512}
