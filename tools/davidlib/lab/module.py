# SPDX-License-Identifier: GPL-2.0
"""dm-david.ko for a lab's kernel.

One source tree is built for several kernels, at once if need be, so each has
its own copy of the sources, in build/KIND-VERSION/, and Kbuild's objects stay
out of the tree. Warnings are errors: the module has none with W=1.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..util import BUILD, TREE, UserError, jobs, locked, say
from . import debroot, kernels, uml_kernel

SOURCES = ["Makefile", "dm-david", "model", "classifier", "tests/unit", "tests/kunit"]
SUFFIXES = {".c", ".h", ".S", ".lds", ".sh"}
MODULE = "dm-david/dm-david.ko"
# A module that can be told to lose data (dm-david/base/inject.h): for the test of the power-cut test.
PLANTED = os.environ.get("DAVID_PLANT") == "1"


def where(kind: str, kernel: str, debug: bool = False) -> Path:
    return BUILD / f"{kind}-{kernel}{'-debug' if debug else ''}{'-plant' if PLANTED else ''}"


def sources() -> list[Path]:
    """What the module and its tests are built from, relative to the tree."""
    found = []
    for name in SOURCES:
        top = TREE / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and not path.name.startswith(".") and not path.name.endswith(".mod.c") and \
                    (path.suffix in SUFFIXES or path.name in ("Kbuild", "Makefile")):
                found.append(path.relative_to(TREE))
    return found


@dataclass(frozen=True)
class Target:
    """What kernel to build for: make's arguments, and the root to run it in, if not on this machine."""

    make: tuple[str, ...]
    root: Path | None = None

    def command(self, place: Path, *more: str) -> list[str]:
        command = ["make", *self.make, f"M={place}", f"-j{jobs()}", "W=1", *more, "modules"]
        return debroot.command(self.root, command, [place]) if self.root else command


def kernel_build(kind: str, kernel: str, debug: bool = False) -> Target:
    if kind == "uml":
        return Target(("ARCH=um", "-C", str(uml_kernel.ensure(kernel, debug))))
    root = kernels.build_root(kernel)
    return Target(("-C", str(kernels.headers(kernel))), root)


def ensure(kind: str, kernel: str, debug: bool = False) -> list[Path]:
    """Build what has changed; return the modules to load, none when the tree has none yet."""
    if not (TREE / "dm-david" / "Kbuild").exists():
        return []
    place, target = where(kind, kernel, debug), kernel_build(kind, kernel, debug)
    with locked(place.with_name(place.name + ".lock"), f"it is building the module in {place}"):
        names = sources()
        state = fingerprint(names, target)
        stamp = place / ".built"
        if not stamp.exists() or stamp.read_text() != state:
            stamp.unlink(missing_ok=True)
            forget_another(place, target)
            refresh(place, names)
            build(place, target, kind, kernel)
            stamp.write_text(state)
    return [place / MODULE]


def forget_another(place: Path, target: Target) -> None:
    """Objects for a kernel of another configuration: make goes by times, and may take them for new."""
    kernel = place / ".kernel"
    if not kernel.exists() or kernel.read_text() != repr(target):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        kernel.write_text(repr(target))


def fingerprint(names: list[Path], target: Target) -> str:
    digest = hashlib.sha256(repr(target).encode())
    for name in names:
        digest.update(f"{name}\0".encode())
        digest.update((TREE / name).read_bytes())
    return digest.hexdigest()


def refresh(place: Path, names: list[Path]) -> None:
    """Bring the copy up to date; a file that is the same keeps its time, for make's sake."""
    wanted = set(names)
    for path in [p for top in SOURCES for p in (place / top).rglob("*") if p.suffix in SUFFIXES]:
        if path.is_file() and path.relative_to(place) not in wanted and not path.name.endswith(".mod.c"):
            path.unlink()
    for name in names:
        copy, text = place / name, (TREE / name).read_bytes()
        if not copy.exists() or copy.read_bytes() != text:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(text)


def build(place: Path, target: Target, kind: str, kernel: str) -> None:
    say(f"building dm-david.ko for {kind} {kernel}")
    kbuild(place, target)
    if not (place / MODULE).exists():
        raise UserError(f"make said nothing of an error, but there is no {place / MODULE}")


def compiler_flags(place: Path) -> str:
    # KASAN's red zones stand on the stack: the limit that 64-bit kernels have by default, not uml's.
    flags = "-Werror -Wframe-larger-than=2048" if place.name.endswith("-debug") else "-Werror"
    return flags + (" -DDAVID_PLANT" if PLANTED else "")


def kbuild(place: Path, target: Target, *more: str) -> str:
    command = target.command(place, f"KCFLAGS={compiler_flags(place)}", *more)
    run = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace")
    if run.returncode:
        raise UserError(f"{run.stdout.rstrip()}\nbuilding the module failed; this was {shlex.join(command)}")
    return run.stdout


def sparse(kind: str, kernel: str) -> None:
    """Check all sources with sparse; UserError when it has something to say."""
    ensure(kind, kernel)
    place, target = where(kind, kernel), kernel_build(kind, kernel)
    checker = kernels.sparse(target.root) if target.root else "sparse"
    with locked(place.with_name(place.name + ".lock"), f"it is running sparse in {place}"):
        # The objects are up to date: all that is left is to check their sources. Not by C=2, which a kernel
        # takes back if its headers' package has no script that looks for sparse.
        said = kbuild(place, target, "KBUILD_CHECKSRC=2", f"CHECK={checker}", "CF=-D__CHECK_ENDIAN__")
    if not re.search(r"^ *CHECK .*\bmain\.c$", said, re.M):
        raise UserError(f"make has not run sparse; it said:\n{said}")
    complaints = [line for line in said.splitlines() if ": warning: " in line or ": error: " in line]
    if complaints:
        raise UserError("sparse complains:\n  " + "\n  ".join(complaints))
