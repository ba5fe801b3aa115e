# SPDX-License-Identifier: GPL-2.0
"""What a lab is, so that two can be told apart: its kernel, how that is configured, and how it is started.

Nothing is built, fetched or started for it.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from .. import source
from ..util import TREE, UserError
from . import archive, host, kernels, module, own_kernel, uml_kernel, vm

HERE = Path(__file__).resolve().parent
# The version of a kernel before the labs are set up.
NONE = "none yet"
KINDS = ("uml", "vm", "icount")
# They fetch and build. What comes of it is named by version, configuration and patches.
MAKERS = ("archive.py", "debroot.py", "kbuild.py", "kernels.py", "kvm.py", "module.py", "needs.py",
          "own_kernel.py", "sourcetree.py", "uml_kernel.py", "venv.py")
# What bench calls, and how make is called for the module.
CALLED = ("cli.py", "run.py", "module.py")
# Of the tree's Makefile, what Kbuild reads in it.
KBUILD = re.compile(r"^\s*(?:obj|ccflags|subdir-ccflags)-\w+ *[:+?]?=.*$", re.MULTILINE)


def _starters(kind: str) -> list[Path]:
    """What starts the machine: on the host, and in it."""
    without = [*(HERE / name for name in MAKERS), *source.LIBRARY.glob("*.py")]
    others = tuple(f"{other}-" for other in KINDS if other != kind)
    guest = [path for path in host.GUEST.rglob("*")
             if path.is_file() and not path.relative_to(host.GUEST).parts[0].startswith(others)]
    called = [HERE / name for name in CALLED]
    return [*source.closure([HERE / f"{kind}.py"], without), *called, *guest]


def _said(paths: list[Path]) -> dict[str, str]:
    return {str(path.relative_to(HERE)): source.digest(path) for path in sorted(paths)}


def _there(installed: str | None) -> bool:
    return installed is not None or archive.known()


def lab(kind: str, kernel: str = "6.12") -> dict[str, str]:
    """By name: a version, or the digest of a file."""
    found = _said(_starters(kind))
    if own_kernel.is_own(kernel):
        if not own_kernel.is_resolved(kernel):
            return found | {"kernel": NONE}
        return found | {"kernel": own_kernel.said(kernel)}
    if kind == "uml":
        found |= _said([*uml_kernel.fragments(kernel, False), *uml_kernel.patches(kernel)])
        version = uml_kernel.source_version(kernel) if _there(uml_kernel.installed(kernel)) else NONE
        return found | {"kernel": version, "built": str(uml_kernel.RECIPE)}
    with contextlib.suppress(UserError):  # no QEMU yet: it is installed when it is needed
        found["qemu"] = vm.qemu_version().splitlines()[0]
    return found | {"kernel": kernels.release(kernel) if _there(kernels.installed(kernel)) else NONE}


def sources() -> dict[str, dict[str, str]]:
    """Of the rooms that the module is made of: each file, by its path in the room, and its digest."""
    found: dict[str, dict[str, str]] = {"dm-david": {}, "model": {}, "classifier": {}}
    for name in module.sources():
        room, *rest = name.parts
        # david-sim alone has the arrays. found.h is what a build in the tree has left.
        if room in found and rest[0] != "array" and name.name != "found.h":
            found[room]["/".join(rest)] = source.digest(TREE / name)
    says = KBUILD.findall((TREE / "Makefile").read_text())
    found["dm-david"]["../Makefile"] = source.short("\n".join(says).encode())
    if module.PLANTED:
        found["dm-david"]["DAVID_PLANT"] = "1"
    return found
