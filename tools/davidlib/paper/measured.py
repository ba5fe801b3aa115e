# SPDX-License-Identifier: GPL-2.0
"""Our values, out of the results of the labs."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import Any

from ..bench.results import grade_of
from ..report import figures
from . import plan

Runs = list[dict[str, Any]]
FILE_SYSTEMS = ("ext3", "ext4", "xfs", "btrfs")


def of(runs: Runs, experiment: str) -> Runs:
    return [one for one in runs if one["run"]["experiment"] == experiment]


def form(runs: Runs, experiments: set[str], quick: bool) -> list[str]:
    """How much of these was run, where that is not all of the whole form, or of the quick one."""
    said = []
    for experiment in sorted(experiments):
        mine = of(runs, experiment)
        short = any(one.get("quick") for one in mine)
        labs = [run for run in plan.experiments(quick or short) if run.described["experiment"] == experiment]
        name = experiment.replace("table", "table ").replace("figure", "figure ")
        if short:
            said.append(f"Here {name} is of the quick form.")
        if len(mine) < len(labs):
            said.append(f"{len(mine)} of the {len(labs)} labs of {name} were run for this page.")
    return said


def savings(row: dict[str, Any], disk: int = 0) -> float:
    """Percent that need not be stored. mkfs is held against the whole disk, as in the paper."""
    if disk:
        return 100 * (1 - row["store_used"] / disk)
    return 100 * (1 - row["kept"] / row["original"]) if row["original"] > 0 else 0.0


def packed(row: dict[str, Any]) -> dict[str, Any]:
    """The same with what `david pack` leaves of what is kept."""
    return row | {"kept": row.get("packed", row["kept"])}


def table_2(runs: Runs) -> dict[str, list[dict[str, Any]]]:
    """file system -> the tables of its seeds."""
    found: dict[str, list[dict[str, Any]]] = {}
    for fs in FILE_SYSTEMS:
        mine = [one["result"] for one in of(runs, "table2") if one["run"]["file_system"]["name"] == fs]
        if mine:
            found[fs] = mine
    return found


def savings_of(tables: list[dict[str, Any]], name: str) -> float:
    """The least of all seeds."""
    return min(savings(one["rows"][name], one["disk"] if name == "mkfs" else 0) for one in tables)


def packed_savings_of(tables: list[dict[str, Any]], name: str) -> float:
    """The same, of what is packed; mkfs leaves constant blocks, which are not."""
    if name == "mkfs":
        return savings_of(tables, name)
    return min(savings(packed(one["rows"][name])) for one in tables)


def seconds(tables: list[dict[str, Any]], name: str) -> figures.Estimate:
    return figures.estimate([one["rows"][name]["seconds"] for one in tables])


def table_3(runs: Runs) -> dict[str, dict[int, float]]:
    """what -> disks -> requests a second."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for one in of(runs, "table3"):
        for what, rate in one["result"]["rates"].items():
            found[what][one["run"]["params"]["disks"]] = rate
    return {what: dict(sorted(rates.items())) for what, rates in found.items()}


def figure_1(runs: Runs) -> list[tuple[float, float, list[float]]]:
    """mu, sigma and, for each seed, the share of metadata in percent."""
    shares: dict[tuple[float, float], list[float]] = defaultdict(list)
    for one in of(runs, "figure1"):
        params, result = one["run"]["params"], one["result"]
        shares[params["mu"], params["sigma"]].append(100 * result["store"] / result["original"])
    return [(mu, sigma, found) for (mu, sigma), found in sorted(shares.items())]


def figure_8(runs: Runs) -> dict[str, list[dict[str, Any]]]:
    """file system -> results, the smallest image first."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in of(runs, "figure8"):
        found[one["run"]["file_system"]["name"]].append(one["result"] | {"name": one["run"]["variant"]})
    return {fs: sorted(rows, key=lambda row: row["bytes"]) for fs, rows in sorted(found.items())}


def figure_9(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Memory in MB and CPU in percent of one processor, for each interval."""
    points = []
    for before, after in zip(rows, rows[1:], strict=False):
        span = after["s"] - before["s"]
        if span < 0.2:
            continue
        ours = sum(after["cpu"].values()) - sum(before["cpu"].values())
        model = after["cpu"]["model"] - before["cpu"]["model"]
        points.append({
            "s": after["s"],
            "memory": sum(after["mem"].values()) / 1e6,
            "model_memory": after["mem"]["model"] / 1e6,
            "cpu": ours / 1e7 / span,
            "model_cpu": model / 1e7 / span,
            "machine": 100 * (after["machine"] - before["machine"]) / span,
        })
    whole = rows[-1]["s"] - rows[0]["s"]
    used = sum(rows[-1]["cpu"].values()) - sum(rows[0]["cpu"].values())
    return {"points": points, "cpu": used / 1e7 / whole, "most": max(each["memory"] for each in points),
            "model": max(each["model_memory"] for each in points),
            "peak": max(each["cpu"] for each in points),
            "mean": statistics.fmean(each["memory"] for each in points)}


def wrong(runs: Runs) -> list[str]:
    """What makes a result doubtful, by the kernel's own figures."""
    found = []
    for one in runs:
        result = one["result"]
        for part in (result, *result["rows"].values()) if isinstance(result.get("rows"), dict) else (result,):
            found += [f"{one['id']}: {text}" for text in part.get("wrong", ())]
    return found


def grades(runs: Runs) -> list[str]:
    """What times of their drives are worth, by today's table of what was measured."""
    names = {name for one in runs for name in one["run"]["parts"]["profile"]}
    return [grade_of(name) for name in sorted(names)]
