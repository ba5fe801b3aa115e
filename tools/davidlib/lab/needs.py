# SPDX-License-Identifier: GPL-2.0
"""What labs need of the machine, by Debian's package: all that is missing is said in one line, before
anything is fetched or built. tools/setup installs it for a source tree, the package dm-david-lab recommends
it.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..packages import to_get
from ..util import KERNELS, UserError

ROOT = Path("/")
SBIN = ("/usr/sbin", "/sbin")
# By package: a program of it, or a file.
MACHINE = {"busybox-static": "busybox", "util-linux": "setpriv", "kmod": "modinfo", "dmsetup": "dmsetup"}
MODULE = {"make": "make", "gcc": "gcc", "libc6-dev": "/usr/include/stdio.h"}
KERNEL = {
    "bc": "bc", "bison": "bison", "flex": "flex", "patch": "patch", "perl": "perl", "xz-utils": "xz",
    "cpio": "cpio", "libelf-dev": "/usr/include/libelf.h", "libssl-dev": "/usr/include/openssl/ssl.h",
}  # fmt: skip
PYTHON = "python3-venv"


def _there(what: str) -> bool:
    if what.startswith("/"):
        return (ROOT / what[1:]).exists()
    return shutil.which(what, path=os.pathsep.join([os.environ.get("PATH", ""), *SBIN])) is not None


def missing(*tables: Mapping[str, str]) -> list[str]:
    """The packages of these tables that are not there."""
    return [package for table in tables for package, what in table.items() if not _there(what)]


def of_labs(kind: str = "uml") -> list[str]:
    """For a lab: of the uml lab its kernel, too, where none was built yet."""
    builds = kind == "uml" and not next(KERNELS.glob("uml-*/built"), None)
    return missing(MACHINE, MODULE, *([KERNEL] if builds else []))


def of_python() -> list[str]:
    """For environments of Python's."""
    return [] if importlib.util.find_spec("ensurepip") else [PYTHON]


def check(what: str, packages: Iterable[str]) -> None:
    """UserError names them all."""
    if names := list(packages):
        raise UserError(f"{what} needs what is not installed here, {', '.join(names)}: {to_get(*names)}")
