# SPDX-License-Identifier: GPL-2.0
"""Made-up files by suffix, held to the parsers of their formats."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from helpers import raw
from helpers.guest import TREE, Failed, mounted
from helpers.rulefiles import disk_with, drop_caches
from helpers.scripts import loaded
from helpers.units import MIB

FILES = ("-o", "files=default")
SUFFIX = {"text": "txt", "html": "html", "json": "json", "pdf": "PDF", "gzip": "tar.gz", "jpeg": "jpg"}
NOISE = raw.patterned(1, 4 * MIB)


def parsers() -> ModuleType:
    """The real parsers of `make unit`."""
    return loaded(TREE / "tests" / "unit" / "parsers")


def put(path: str, size: int) -> None:
    with open(path, "wb") as file:
        for start in range(0, size, len(NOISE)):
            file.write(NOISE[: size - start])


def content(path: str) -> bytes:
    drop_caches()
    return Path(path).read_bytes()


def well_formed(fs: str, sizes: Iterable[tuple[str, int]]) -> None:
    judge = parsers().KINDS
    with disk_with(fs, *FILES) as disk:
        names = {}
        with mounted(disk, fs) as top:
            for kind, size in sizes:
                names[f"{kind}-{size}.{SUFFIX[kind]}"] = kind
                put(f"{top}/{kind}-{size}.{SUFFIX[kind]}", size)
        with mounted(disk, fs) as top:
            for name, kind in names.items():
                try:
                    judge[kind](Path(top) / name)
                except (AssertionError, ValueError, OSError, EOFError, zlib.error) as wrong:
                    raise Failed(f"{fs}: {name}: {str(wrong)[:500]}") from None
