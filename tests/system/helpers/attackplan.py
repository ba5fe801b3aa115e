# SPDX-License-Identifier: GPL-2.0
"""What a composed attack is to do: a seed becomes a plan, and a plan is a file that one can run again.

attack.toml has what there is to choose from. A plan says all that was chosen: the fake disks, the layers on
them, the file system, and the steps, each with a seed of its own. So a step does the same when others are
left out.
"""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "attack.toml"
STORES = ("alone", "pool", "shared pool")
MODES = ("auto", "explicit", "implicit", "keep")
OFTEN = 40  # the weight of a step that is held to come often
SELDOM = 0.75  # of plans that drop nothing, so many are drawn again
LAYERS_MOST, DISKS_MOST, STEPS_LEAST, STEPS_MOST = 4, 4, 60, 90


@dataclass
class Plan:
    seed: int
    mode: str  # how the fake disks classify
    store: str  # one of STORES
    disks: int
    layers: list[str]  # from the lowest on
    cut: str  # what the uppermost layer is cut off by: "" or "linear"
    caches: bool  # the backing devices lose at a power cut what was not flushed
    rule: bool  # by a RAW rule files below a directory must be kept
    fs: str
    mkfs: list[str]
    mount: str
    beside: str  # how another fake disk, that is written to past any file system, classifies
    steps: list[tuple[str, int]] = field(default_factory=list)

    def text(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"

    def says(self) -> str:
        layers = " / ".join(
            [f"{self.disks} {self.mode} ({self.store})", *self.layers, *filter(None, [self.cut])]
        )
        mkfs = " ".join([self.fs, *self.mkfs])
        return (
            f"{layers} / {mkfs}, -o {self.mount or '-'}; beside it {self.beside}{', with a rule' * self.rule}"
        )

    def with_steps(self, steps: Iterable[tuple[str, int]]) -> Plan:
        return Plan(**{**asdict(self), "steps": list(steps)})


def read(path: str | Path) -> Plan:
    """Raises ValueError where it is not a plan."""
    words = json.loads(Path(path).read_text())
    words["steps"] = [(str(name), int(seed)) for name, seed in words["steps"]]
    return Plan(**words)


@cache
def table() -> dict[str, Any]:
    with open(TABLE, "rb") as file:
        return tomllib.load(file)


def rows(kind: str) -> list[dict[str, Any]]:
    """Of the table, those that can be built here."""
    return [row for row in table()[kind] if "not_here" not in row]


def drawn(rng: random.Random, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return rng.choices(rows, [row.get("weight", 4) for row in rows])[0]


def layers_of(rng: random.Random) -> tuple[list[str], int]:
    """From the lowest on, and how many disks they need: those that join take several devices each."""
    while True:
        chosen = [drawn(rng, rows("layers")) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, LAYERS_MOST)))]
        disks = 1
        for row in chosen:
            disks *= row.get("joins", 1)
        seldom = [row["name"] for row in chosen if row.get("once")]
        if disks <= DISKS_MOST and len(seldom) == len(set(seldom)):
            return [row["name"] for row in chosen], disks


def fits(step: dict[str, Any], plan: Plan) -> bool:
    """Is there what it is done to? One layer of those it names is enough."""
    if "fs" in step and plan.fs not in step["fs"]:
        return False
    if "layers" in step and not set(step["layers"]) & set(plan.layers):
        return False
    simple = {row["name"] for row in rows("layers") if row.get("plain")}
    if step.get("plain") and not set(plan.layers) <= simple:
        return False
    return not (step.get("cut") and not plan.cut) and not (step.get("caches") and not plan.caches)


def without_steps(rng: random.Random, seed: int, held: dict[str, Any]) -> Plan:
    layers, disks = layers_of(rng)
    if "layers" in held:
        layers, disks = held["layers"], 1
        joins = {row["name"]: row.get("joins", 1) for row in rows("layers")}
        for name in layers:
            disks *= joins[name]
    known = {row["name"]: row for row in rows("file_systems")}
    row = drawn(rng, rows("file_systems"))
    row = known[held.get("fs", row["name"])]
    # A file system of several devices takes the place of a layer that joins them.
    several = bool(row.get("several")) and not layers and rng.random() < 0.5
    disks = held.get("disks", 2 if several else disks)
    words = [rng.choice(choice) for choice in row.get("mkfs", [])]
    words += [rng.choice(row["several"])] if disks > 1 and not layers and row.get("several") else []
    plan = Plan(
        seed,
        rng.choices(MODES, (5, 2, 5, 1))[0],
        rng.choices(STORES, (5, 2, 3))[0],
        disks,
        layers,
        "linear" if rng.random() < 0.4 else "",
        rng.random() < 0.3,
        False,
        row["name"],
        [word for text in words for word in text.split()],
        rng.choice(row.get("mount", [""])),
        rng.choice(("keep", "data", "auto")),
    )
    # While there is a rule, implicit drops little, and auto no direct I/O.
    plan.rule = rng.random() < (0.2 if plan.mode == "implicit" else 0.6)
    for name in ("mode", "store", "cut", "caches", "rule", "mount", "beside", "mkfs"):
        if name in held:
            setattr(plan, name, held[name])
    # To implicit a disk in a file is a file's data.
    if any("on a file" in name for name in plan.layers):
        plan.layers = [name for name in plan.layers if name != "fake disk that is implicit"]
        plan.mode = "auto" if plan.mode == "implicit" else plan.mode
    return plan


def drops(plan: Plan) -> bool:
    """Is data dropped in such a life, if all is as it should be? If not, nothing can be lost."""
    mode = {"explicit": "auto"}.get(plan.mode, plan.mode)
    chosen = [row for row in rows("layers") if row["name"] in plan.layers]
    chosen += [row for row in rows("file_systems") if row["name"] == plan.fs]
    return all(mode in row.get("drops", ()) for row in chosen)


def compose(seed: int, held: dict[str, Any] | None = None) -> Plan:
    """The plan of a seed. `held` has what is not left to chance, and steps that come often. With nothing
    held, most plans drop data.
    """
    rng = random.Random(f"attack {seed}")
    plan = without_steps(rng, seed, held or {})
    while not held and not drops(plan) and rng.random() < SELDOM:
        plan = without_steps(rng, seed, {})
    often = (held or {}).get("often", ())
    possible = [
        {**step, "weight": OFTEN} if step["name"] in often else step
        for step in rows("steps")
        if fits(step, plan)
    ]
    count = rng.randrange(STEPS_LEAST, STEPS_MOST + 1)
    plan.steps = [(drawn(rng, possible)["name"], rng.randrange(1 << 30)) for _ in range(count)]
    return plan
