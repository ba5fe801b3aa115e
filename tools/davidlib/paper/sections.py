# SPDX-License-Identifier: GPL-2.0
"""The page in sections: what was done, ours beside the paper's, and why the two differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..report.answer import digits, interval
from . import criteria, drawings, measured, published, words
from .measured import Runs

Table = tuple[list[str], list[list[str]]]
Draw = Callable[[], Any]
Plots = dict[str, tuple[str, Draw]]
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass
class Section:
    heading: str
    said: list[str]
    tables: list[Table] = field(default_factory=list)
    plots: Plots = field(default_factory=dict)


def table_2(runs: Runs, quick: bool) -> Section:
    tables = measured.table_2(runs)
    names = [name for name, row in published.TABLE_2.items() if row.savings is not None]
    head = ["workload", "paper: KB in use", "stored", "savings", "ext3: KB in use", "kept", "packed",
            "store grew by", *(f"savings, {fs}" for fs in tables), *(f"packed, {fs}" for fs in tables)]
    rows = []
    for name in names:
        row, found = published.TABLE_2[name], tables["ext3"][0]["rows"][name] if "ext3" in tables else None
        disk = tables["ext3"][0]["disk"] if "ext3" in tables else 0
        ours = ["-"] * 4
        if found and name == "mkfs":
            ours = [f"{disk // KIB:,}", f"{found['store_used'] // KIB:,}", "-", f"{found['store'] // KIB:,}"]
        elif found:
            sizes = {"packed": "-"} | {key: f"{found[key] // KIB:,}"
                                       for key in ("original", "kept", "packed", "store") if key in found}
            ours = [sizes[key] for key in ("original", "kept", "packed", "store")]
        rows.append([name, f"{row.original:,}", f"{row.stored:,}", f"{row.savings} %", *ours,
                     *(criteria.percent(measured.savings_of(found, name)) for found in tables.values()),
                     *(criteria.percent(measured.packed_savings_of(found, name))
                       for found in tables.values())])
    return Section(
        "Table 2: what is stored",
        [*words.paragraphs(words.TABLE_2), *(words.paragraphs(words.TABLE_2_QUICK) if quick else [])],
        [(head, rows)],
        {"table-2": ("What has to be stored", lambda: drawings.table_2(runs))},
    )


def kept(runs: Runs) -> Section:
    head = ["workload", "KB in use", "kept", "savings", "paper's", "directories", "indirect blocks",
            "of these count up", "data", "all else", "written over zeros"]
    rows = []
    for one in measured.of(runs, "kept"):
        found = one["result"]["rows"]
        for name, row in ((name, found[name]) for name in published.TABLE_2 if name in found):
            new = dict(row["new"])
            parts = [new.pop(kind, 0) for kind in ("directory", "indirect")] + [row["counts_up"]]
            parts += [new.pop("data", 0), sum(new.values()) - row["gone"], sum(row["zeros"].values())]
            rows.append([name, f"{row['original'] // KIB:,}", f"{row['kept'] // KIB:,}",
                         criteria.percent(measured.savings(row)), f"{published.TABLE_2[name].savings} %",
                         *(f"{part // KIB:,}" for part in parts)])
    tables = [(head, rows)]
    if short := _in_fewer_bytes(runs):
        tables.append(short)
    return Section("Table 2: what is kept, by kind", words.paragraphs(words.KEPT), tables)


def _in_fewer_bytes(runs: Runs) -> Table | None:
    ways = {"one": "as one run", "several": "as runs", "trimmed": "less zeros at the end",
            "deflate": "deflated", "best": "the shortest", "packed": "packed"}
    head = ["workload", "kept, KB", *(f"{said}, KB" for said in ways.values()), "savings", *ways.values()]
    rows = []
    for one in measured.of(runs, "kept"):
        found = one["result"]["rows"]
        for name, row in ((name, found[name]) for name in published.TABLE_2 if name in found):
            if "compact" in row:
                # Of a run from before there was packing: as it is kept.
                found_so = row["compact"] | {"packed": measured.packed(row)["kept"]}
                taken = [found_so[way] for way in ways]
                shares = [measured.savings(row | {"kept": kept}) for kept in (row["kept"], *taken)]
                rows.append([name, f"{row['kept'] // KIB:,}", *(f"{bytes_ / KIB:,.1f}" for bytes_ in taken),
                             *map(criteria.percent, shares)])
    return (head, rows) if rows else None


def run_times(runs: Runs, quick: bool) -> Section:
    tables = measured.table_2(runs)
    head = ["workload", "paper: measured, s", "with David", *(f"{fs}, s" for fs in tables), "why they differ"]
    rows = []
    for name, row in published.TABLE_2.items():
        ours = []
        for found in tables.values():
            took = measured.seconds(found, name)
            between = f" ({interval(took)})" if took.ends else ""
            ours.append(digits(took.mean) + between)
        rows.append([name, f"{row.measured}", f"{row.modelled}", *ours, words.TIMES[name]])
    scan = published.VIRUS_SCAN
    rows.append(["virus scan", f"{scan.measured}", f"{scan.modelled}", *["-"] * len(tables),
                 "not run: AVG's scanner of 2011 is not to be had"])
    said = words.paragraphs(words.RUN_TIMES)
    said += words.paragraphs(words.RUN_TIMES_QUICK) if quick else []
    return Section("Table 2: run times", said, [(head, rows)])


def table_3(runs: Runs) -> Section:
    found = measured.table_3(runs)
    head = ["requests of 4 KiB", "disks", "paper: measured", "paper: modelled", "ours", "from the measured"]
    rows = []
    for what, rates in found.items():
        for disks, rate in rates.items():
            theirs = [side[disks - 1] for side in published.TABLE_3[what]]
            rows.append([what, str(disks), *map(str, theirs), f"{rate:.2f}",
                         f"{100 * (rate / theirs[0] - 1):+.1f} %"])
    counts = {one["run"]["params"]["requests"] for one in measured.of(runs, "table3")}
    requests = ", ".join(f"{count:,}" for count in counts)
    return Section(
        "Table 3: RAID-1",
        words.paragraphs(words.TABLE_3, requests=requests),
        [(head, rows)],
        {"table-3": ("Mirrors of one to three disks", lambda: drawings.table_3(runs))},
    )


def figure_1(runs: Runs) -> Section:
    rows = [[f"{mu}", f"{sigma}", ", ".join(f"{share:.2f} %" for share in shares)]
            for mu, sigma, shares in measured.figure_1(runs)]
    return Section(
        "Figure 1: the share of metadata",
        words.paragraphs(words.FIGURE_1),
        [(["mu", "sigma", "metadata, one figure a seed"], rows)],
        {"figure-1": ("Metadata of an image", lambda: drawings.figure_1(runs))},
    )


def figure_4(runs: Runs) -> Section:
    said = words.paragraphs(words.FIGURE_4)
    for one in measured.of(runs, "figure4"):
        result = one["result"]
        most, spilled = digits(result["most"] / 1e6), digits(result["spilled"] / 1e6)
        dropped = criteria.percent(100 * result["squashed"] / result["file"])
        size = digits(result["file"] / GIB)
        said.append(f"File of {size} GB: at most {most} MB waited; {spilled} MB passed the bound of 64 MB "
                    f"and were stored at first. In the end {dropped} was dropped.")
    return Section("Figure 4: what waits for a verdict", said, [],
                   {"figure-4": ("Waiting unclassified", lambda: drawings.figure_4(runs))})


def _times(result: dict[str, Any]) -> list[str]:
    waited, foretold, demerit = (result[key] / 1e6 for key in ("measured_ns", "modelled_ns", "demerit_ns"))
    return [f"{result['n']:,}", f"{waited:.3f}", f"{foretold:.3f}", f"{demerit:.4f}",
            f"{100 * demerit / waited:.2f} %"]


def figures_6_and_7(runs: Runs) -> Section:
    head = ["workload", "requests", "measured, ms", "modelled, ms", "demerit, ms", "of the mean",
            "paper: measured, s", "modelled, s", "demerit", "requests that take as long here"]
    rows, plots = [], Plots()
    for one in measured.of(runs, "figure6"):
        for name, (real, model, demerit) in published.MICRO.items():
            result = one["result"][name]
            count = f"{real / (result['measured_ns'] / 1e9):,.0f}"
            rows.append([name, *_times(result), f"{real}", f"{model}", f"{demerit}", count])
            plots[f"figure-6-{name.replace(' ', '-')}"] = (
                f"{name.capitalize()}", partial(drawings.distribution, result))
    for one in measured.of(runs, "figure7"):
        for name, result in one["result"].items():
            rows.append([name, *_times(result), *["-"] * 4])
            plots[f"figure-7-{name}"] = (
                name.capitalize(), partial(drawings.distribution, result))
    return Section(
        "Figures 6 and 7, section 7.2: the model beside a disk",
        words.paragraphs(words.FIGURES_6_AND_7),
        [(head, rows)], plots,
    )


def figure_8(runs: Runs) -> Section:
    head = ["image", "file system", "files", "in use, GB", "stored, GB", "savings", "backing device, GB",
            "the drive would take, s"]
    rows = []
    for fs, found in measured.figure_8(runs).items():
        for one in found:
            share = 100 * (1 - one["store_used"] / one["original"])
            rows.append([one["name"], fs, f"{one['files']:,}", digits(one["original"] / GIB),
                         f"{one['store_used'] / GIB:.3f}", criteria.percent(share),
                         digits(one["backing"] / GIB), digits(one["seconds"])])
    return Section(
        "Figure 8: large images on small backing devices",
        words.paragraphs(words.FIGURE_8),
        [(head, rows)],
        {"figure-8": ("Storage by size of image", lambda: drawings.figure_8(runs))},
    )


def figure_9(runs: Runs) -> Section:
    head = ["image, GB", "memory, MB: most", "mean", "the model's", "paper: mean", "the model's",
            "CPU: mean", "highest interval", "paper: mean"]
    rows = []
    for one in measured.of(runs, "figure9"):
        found = measured.figure_9(one["result"]["rows"])
        rows.append([digits(one["result"]["bytes"] / GIB), f"{found['most']:.2f}", f"{found['mean']:.2f}",
                     f"{found['model']:.2f}", str(published.FIGURE_9_MB), f"< {published.FIGURE_9_MODEL_MB}",
                     f"{found['cpu']:.2f} %", f"{found['peak']:.1f} %", f"{published.FIGURE_9_CPU} %"])
    return Section(
        "Figure 9: memory and CPU time",
        words.paragraphs(words.FIGURE_9),
        [(head, rows)],
        {"figure-9-memory": ("Memory", lambda: drawings.figure_9_memory(runs)),
         "figure-9-cpu": ("CPU time", lambda: drawings.figure_9_cpu(runs))},
    )


def all_of(runs: Runs, quick: bool) -> list[Section]:
    """Those that have results."""
    there = {one["run"]["experiment"] for one in runs}
    short = quick or any(one.get("quick") for one in measured.of(runs, "table2"))
    found = []
    for experiments, make in (({"table2"}, lambda runs: table_2(runs, short)),
                              ({"table2"}, lambda runs: run_times(runs, short)),
                              ({"kept"}, kept), ({"table3"}, table_3), ({"figure1"}, figure_1),
                              ({"figure4"}, figure_4), ({"figure6", "figure7"}, figures_6_and_7),
                              ({"figure8"}, figure_8), ({"figure9"}, figure_9)):
        if experiments & there:
            section = make(runs)
            section.said += measured.form(runs, experiments, quick)
            found.append(section)
    return found
