# SPDX-License-Identifier: GPL-2.0
"""`kernel` of a question: what the labs of its runs boot, one or several: versions of Debian's kernels, and
source trees of the user's, which are built once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..lab import kernels as stock
from ..lab import own_kernel, run
from ..lab.lab import Lab
from ..util import UserError
from .dimensions import KERNEL, Factors, Level, double, points
from .tables import Table

DEFAULT = "6.12"
KIND = {"virtual": "uml", "uml": "uml", "vm": "vm"}


@dataclass(frozen=True)
class Kernel:
    """`name` is a version, or a path: of a source tree, or of what was built of one (own_kernel.py)."""

    name: str = DEFAULT
    factors: Factors = field(default_factory=dict)

    def told(self) -> dict[str, str]:
        """For a run's description, of which nothing is new where the lab has its own kernel."""
        return {} if self.name == DEFAULT else {"kernel": self.name}


def _path(word: str, base: Path) -> str:
    """A tree's, from the question's own place."""
    return str((base / own_kernel.path_of(word)).resolve()) if own_kernel.is_own(word) else word


def _word(name: str) -> str:
    return Path(name).name if own_kernel.is_own(name) else name


def read(top: Table, where: str, base: Path) -> list[Kernel]:
    is_named = "kernel" in top.left
    found = [_path(word, base) for word in top.several("kernel", str, [DEFAULT])]
    if is_named and where == "here":
        raise top.wrong("kernel", 'kernel: where = "here" has the kernel of this machine; leave it out')
    for name in found if is_named else ():
        if own_kernel.is_own(name) and not Path(name).is_dir():
            raise top.gone("kernel", f"kernel: there is no directory {name}")
        try:
            check(where, name)
        except UserError as error:
            raise top.wrong("kernel", f"kernel: {str(error).replace('--kernel ', '')}") from None
    levels = [Level(_word(name), name) for name in found]
    words = [level.word for level in levels]
    if twice := double(levels[::-1]) or next((word for word in words if words.count(word) > 1), ""):
        raise top.wrong("kernel", f"kernel: two of them are called {twice}, and a page could not tell them "
                        "apart; rename a directory")
    return [Kernel(values[KERNEL], factors) for values, factors in points({KERNEL: levels})]


def check(where: str, name: str) -> None:
    """UserError if no lab of the kind has it; nothing is built."""
    run.check(Lab(["true"], kind=KIND[where], kernel=name, virtual_time=where == "virtual"))


def built(where: str, kernels: Iterable[Kernel], build: bool) -> list[Kernel]:
    """The same, source trees by what was built of them, and `newest` by its version. What is not built yet
    is built now, or stays as it is. UserError if a kernel has no virtual time, and the question wants it."""
    ready = own_kernel.resolve if build else own_kernel.known
    found = []
    for kernel in kernels:
        is_own = own_kernel.is_own(kernel.name)
        name = ready(KIND[where], kernel.name) if is_own else stock.version(kernel.name)
        check(where, name)
        found.append(replace(kernel, name=name))
    return found
