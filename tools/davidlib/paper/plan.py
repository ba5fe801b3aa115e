# SPDX-License-Identifier: GPL-2.0
"""The labs of the paper's evaluation: what each is to do, in the quick form and in the whole one."""

from __future__ import annotations

from typing import Any

from ..bench.runs import Run, identified

# Which module has an experiment, where it is not called so.
MODULES = {"figure1": "images", "figure8": "images", "figure4": "load", "figure9": "load",
           "figure6": "requests", "figure7": "requests", "kept": "storage"}
KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
HITACHI = "hitachi-hds721010kla330"
SEAGATE = "seagate-exos-x20-20tb"
TABLE_2 = ("ext3", "ext4", "xfs", "btrfs")
# The two ends of the paper's figure 1, and what lies evenly between.
SIZES = tuple((round(7.53 + step * 0.16, 2), round(2.48 + step * 0.14, 2)) for step in range(6))
# Of the paper's image: 10.2 GB in 5,000 files and 1,000 directories.
IMAGE_BYTES, IMAGE_FILES, IMAGE_DIRECTORIES = 11_224_140 * KIB, 5000, 1000
# It does not say with which sizes. The middle of its figure 1 is taken.
IMAGE_MU, IMAGE_SIGMA = 7.93, 2.83


def _image(total: int, share: float) -> dict[str, Any]:
    """An image of so many bytes, with that share of the files and directories of the paper's."""
    return {"total": total, "files": int(IMAGE_FILES * share), "directories": int(IMAGE_DIRECTORIES * share),
            "mu": IMAGE_MU, "sigma": IMAGE_SIGMA}


def _part_of_image(share: float) -> dict[str, Any]:
    return _image(int(IMAGE_BYTES * share), share)


def _run(experiment: str, name: str, params: dict[str, Any], where: str = "virtual", memory: str = "2G",
         timeout: int = 1200, seed: int = 1, fs: str = "none") -> dict[str, Any]:
    return {
        "variant": name, "program": "paper/guest.py", "where": where,
        "memory": memory, "timeout": timeout, "experiment": experiment, "seed": seed, "params": params,
        "file_system": {"type": fs, "name": fs, "mkfs": [], "mount": ""},
        "workload": {"kind": experiment, "name": name},
        "module": f"paper/{MODULES.get(experiment, experiment)}.py",
        "profiles": sorted({HITACHI, params.get("drive", HITACHI)}), "built": ["david-store"],
    }


def _table_2(quick: bool) -> list[dict[str, Any]]:
    params = {
        "image": _part_of_image(0.1 if quick else 1),
        "postmark": {"files": 5000 if quick else 20000, "operations": 5000 if quick else 20000},
        "webserver": {"operations": 11 * (3000 if quick else 30000)},
        "varmail": {"operations": 1000 if quick else 10000},
    }
    # How far the seed matters is asked of the paper's own file system.
    seeds = {fs: (1, 2, 3) if fs == "ext3" and not quick else (1,) for fs in TABLE_2}
    return [_run("table2", "table 2", params, fs=fs, seed=seed, memory="4G")
            for fs in TABLE_2 for seed in seeds[fs]]


def _kept(quick: bool) -> dict[str, Any]:
    """As table 2 on ext3, with a tenth of its image; webserver's log is as long as the paper's."""
    described = _table_2(quick)[0]
    params = described["params"] | {"image": _part_of_image(0.1)}
    if not quick:
        params["webserver"] = {"operations": 11 * 239_700}
    return _run("kept", "kept by kind", params, fs="ext3", memory="4G", timeout=2400)


def _figure_8(quick: bool) -> list[dict[str, Any]]:
    sizes = (10, 25, 50) if quick else (10, 50, 100, 200, 400, 600, 800)
    # ext3's indirect blocks alone are a 1024th of the data.
    backings = {"ext4": 1 * GIB, "ext3": 2 * GIB}
    runs = [
        _run("figure8", f"{size} GB", {"drive": HITACHI, "image": _image(size * GIB, size / 10),
                                       "backing": backing}, fs=fs, memory="4G", timeout=600 + 3 * size)
        for size in sizes for fs, backing in backings.items()
    ]
    if not quick:
        params = {"drive": SEAGATE, "image": _image(10 * TIB, 200), "backing": 8 * GIB}
        runs.append(_run("figure8", "10 TB", params, fs="ext4", memory="12G", timeout=4 * 3600))
    return runs


def experiments(quick: bool) -> list[Run]:
    return identified(described(quick))


def described(quick: bool) -> list[dict[str, Any]]:
    """All labs, the longest last: whoever stops in between has most of the page."""
    requests = 2000 if quick else 20000
    seeds = (1,) if quick else (1, 2, 3)
    # With classify=implicit some data of a large file passes the bound, and is stored.
    store, memory = ({}, "2G") if quick else ({"backing": 6 * GIB}, "8G")
    return [
        *(_run("table3", f"{disks} disks", {"disks": disks, "requests": requests}, timeout=1800)
          for disks in (3, 2, 1)),
        _run("figure9", "figure 9", store | {
            "image": _part_of_image(0.2 if quick else 1), "every": 1 if quick else 5}, where="uml", fs="ext3",
             memory=memory),
        _run("figure4", "figure 4", store | {
            "file": (4 if quick else 24) * GIB, "every": 2 if quick else 10}, fs="ext3", memory=memory),
        *(_run("figure1", f"figure 1, {mu} {sigma}",
               {"mu": mu, "sigma": sigma, "files": 2000 if quick else 10000}, fs="ext2", seed=seed)
          for mu, sigma in SIZES for seed in seeds),
        _run("figure6", "figure 6", {"requests": 1000 if quick else 5000}),
        _run("figure7", "figure 7", {"share": 1 if quick else 5}, fs="ext3", memory="3G"),
        *_table_2(quick),
        _kept(quick),
        *_figure_8(quick),
    ]
