# SPDX-License-Identifier: GPL-2.0
"""What a file system is aged by: a TOML file, or one of those here.

Sizes of files are log-normal. The defaults, mu = 9.48 and sigma = 2.46 of the logarithm of bytes, are those
of `david bench`'s images: docs/BENCH.md has their source. All sizes are multiplied so that so many files fill
so much of the disk: fewer and larger files than on a real disk of that size, and the same spread.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ..sizes import parse_size
from ..util import UserError

BUILT_IN: dict[str, dict[str, Any]] = {
    "desktop": {"size": "1T", "fs": "ext4", "files": 20_000, "utilization": 0.7, "churn": 2.0},
    "archive": {"size": "10T", "fs": "xfs", "files": 20_000, "utilization": 0.85, "churn": 1.0, "sigma": 1.5},
    "small": {"size": "64G", "fs": "ext4", "files": 1000, "utilization": 0.7, "churn": 1.0},
}
SYSTEMS = ("ext4", "xfs", "btrfs", "ext3", "ext2")


@dataclass
class Recipe:
    size: int  # bytes
    fs: str = "ext4"
    mkfs: str = ""
    profile: str = ""
    files: int = 20_000
    directories: int = 200
    utilization: float = 0.7  # of the disk, while it ages
    churn: float = 1.0  # how many times the bytes of all files are written again
    mu: float = 9.48
    sigma: float = 2.46
    write: bool = False  # the files that are left have data, so that reading them takes time

    def check(self, what: str) -> None:
        for name, wrong in {
            "fs": self.fs not in SYSTEMS and f"none of {', '.join(SYSTEMS)}",
            "files": not 10 <= self.files <= 10**7 and "not from 10 to 10,000,000",
            "directories": not 1 <= self.directories <= 10**5 and "not from 1 to 100,000",
            "utilization": not 0.05 <= self.utilization <= 0.95 and "not from 0.05 to 0.95",
            "churn": not 0 <= self.churn <= 100 and "not from 0 to 100",
            "sigma": not 0 <= self.sigma <= 5 and "not from 0 to 5",
        }.items():
            if wrong:
                raise UserError(f"{what}: {name} = {getattr(self, name)!r} is {wrong}")


def _values(what: str) -> dict[str, Any]:
    if what in BUILT_IN and not Path(what).exists():
        return dict(BUILT_IN[what])
    try:
        return tomllib.loads(Path(what).read_text())
    except FileNotFoundError:
        known = ", ".join(BUILT_IN)
        raise UserError(f"there is no recipe '{what}': neither a file nor one of {known}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{what}: {getattr(error, 'strerror', '') or 'no text'}") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{what}: {error}") from None


def load(what: str, changes: dict[str, Any]) -> Recipe:
    return _of(what, _values(what) | {key: value for key, value in changes.items() if value is not None})


def built_in(name: str) -> Recipe:
    """One of those here, whatever is called so where the caller is."""
    return _of(name, dict(BUILT_IN[name]))


def _of(what: str, values: dict[str, Any]) -> Recipe:
    kinds = {field.name: field.type for field in fields(Recipe)}
    for key, value in values.items():
        if key not in kinds:
            raise UserError(f"{what}: there is no '{key}'; a recipe has {', '.join(kinds)}")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        good = {"float": number, "int": isinstance(value, int) and number or key == "size",
                "str": isinstance(value, str), "bool": isinstance(value, bool)}[str(kinds[key])]
        if not good:
            raise UserError(f"{what}: {key} = {value!r} is not of the kind {kinds[key]}")
    if "size" not in values:
        raise UserError(f"{what}: size is missing, such as size = \"10T\"")
    try:
        values["size"] = parse_size(str(values["size"]))
    except ValueError as error:
        raise UserError(f"{what}: size: {error}") from None
    recipe = Recipe(**values)
    recipe.check(what)
    return recipe
