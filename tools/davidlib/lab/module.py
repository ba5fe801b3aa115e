# SPDX-License-Identifier: GPL-2.0
"""dm-david.ko for a lab's kernel.

One source tree is built for several kernels, at once if need be, so each has
its own copy of the sources, in build/KIND-VERSION/, and Kbuild's objects stay
out of the tree. Warnings are errors: the module has none with W=1. What was built
of the same sources for the same kernel, in any tree, is taken from the cache.
"""

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from ..util import BUILD, CACHE, TREE, UserError, jobs, locked, say
from . import debroot, kernels, needs, own_kernel, uml_kernel

SOURCES = ["Makefile", "dm-david", "model", "classifier", "tests/unit", "tests/kunit"]
SUFFIXES = {".c", ".h", ".S", ".lds", ".sh"}
MODULE = "dm-david/dm-david.ko"
MODULES = (MODULE, "tests/kunit/dm-david-test.ko")
KEPT = CACHE / "modules"
KEPT_DAYS = 30  # a newer compiler may warn of more
# A module that can be told to lose data (dm-david/base/inject.h): for the test of the power-cut test.
PLANTED = os.environ.get("DAVID_PLANT") == "1"
# A fifth of the compiler's time is what it writes for debuggers (-g0 below). The kernel wants types of that.
NO_TYPES = "CONFIG_DEBUG_INFO_BTF_MODULES="
# With W=1 a script in Perl reads each source for comments of kernel-doc. There are none.
NO_DOCUMENTS = "cmd_checkdoc="


def where(kind: str, kernel: str, debug: bool = False) -> Path:
    name = f"own-{own_kernel.about(kernel).interface[:10]}" if own_kernel.is_own(kernel) else kernel
    return BUILD / f"{kind}-{name}{'-debug' if debug else ''}{'-plant' if PLANTED else ''}"


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
    # Of a kernel of the user's, what modules see of it: another directory may have the same.
    interface: str = ""

    def identity(self) -> str:
        return self.interface or f"Target(make={self.make!r}, root={self.root!r})"

    def command(self, place: Path, *more: str) -> list[str]:
        command = ["make", *self.make, f"M={place}", f"-j{jobs()}", "W=1", NO_TYPES, NO_DOCUMENTS, *more,
                   "modules"]
        return debroot.command(self.root, command, [place]) if self.root else command


def kernel_build(kind: str, kernel: str, debug: bool = False) -> Target:
    if kind == "uml":
        words = ("ARCH=um", "-C", str(uml_kernel.ensure(kernel, debug)))
        return Target(words, None, own_kernel.about(kernel).interface if own_kernel.is_own(kernel) else "")
    root = kernels.build_root(kernel)
    return Target(("-C", str(kernels.headers(kernel))), root)


def ensure(kind: str, kernel: str, debug: bool = False, checks: list[str] | None = None) -> list[Path]:
    """Build what has changed; return the modules to load, none when the tree has none yet. With `checks`
    sparse looks at each source when it is compiled, if that is all of them: what make said is added there.
    """
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
            if not fetch(place, state):
                all_of_them = next(place.rglob("*.o"), None) is None
                checking = check_words(target, 1) if checks is not None and all_of_them else []
                said = build(place, target, kind, kernel, checking)
                if checks is not None and checking:
                    checks.append(said)
                keep(place, state)
            stamp.write_text(state)
    return [place / MODULE]


def forget_another(place: Path, target: Target) -> None:
    """Objects for a kernel of another configuration: make goes by times, and may take them for new."""
    kernel = place / ".kernel"
    if not kernel.exists() or kernel.read_text() != target.identity():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        kernel.write_text(target.identity())


def fingerprint(names: list[Path], target: Target) -> str:
    digest = hashlib.sha256(target.identity().encode())
    for name in names:
        digest.update(f"{name}\0".encode())
        digest.update((TREE / name).read_bytes())
    return digest.hexdigest()


def kept(place: Path, state: str) -> Path:
    return KEPT / f"{place.name}-{hashlib.sha256((compiler_flags(place) + state).encode()).hexdigest()[:32]}"


def fetch(place: Path, state: str) -> bool:
    """The modules that keep() has of these sources."""
    found = kept(place, state)
    if not (found / MODULE).is_file():
        return False
    for name in MODULES:
        (place / name).unlink(missing_ok=True)
        if (found / name).exists():
            shutil.copy(found / name, place / name)
    return True


def keep(place: Path, state: str) -> None:
    """For the next tree with these sources; whole, or not at all. What is old goes."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another tree's has got its name meanwhile
            if old.stat().st_mtime < time.time() - KEPT_DAYS * 86400:
                shutil.rmtree(old, ignore_errors=True)
    new = Path(tempfile.mkdtemp(dir=KEPT))
    for name in MODULES:
        if (place / name).exists():
            (new / name).parent.mkdir(parents=True)
            shutil.copy(place / name, new / name)
    try:
        new.rename(kept(place, state))
    except OSError:  # another has been faster
        shutil.rmtree(new)


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


def build(place: Path, target: Target, kind: str, kernel: str, words: list[str]) -> str:
    needs.check("the lab's module", needs.missing(needs.MODULE))
    called = own_kernel.said(kernel) if own_kernel.is_own(kernel) else kernel
    say(f"building dm-david.ko for {kind} {called}{', and running sparse' if words else ''}")
    said = kbuild(place, target, *words)
    if not (place / MODULE).exists():
        raise UserError(f"make said nothing of an error, but there is no {place / MODULE}")
    return said


def compiler_flags(place: Path) -> str:
    # KASAN's red zones stand on the stack: the limit that 64-bit kernels have by default, not uml's.
    flags = "-Werror -Wframe-larger-than=2048" if "-debug" in place.name else "-Werror"
    return f"-g0 {flags}" + (" -DDAVID_PLANT" if PLANTED else "")


def kbuild(place: Path, target: Target, *more: str) -> str:
    command = target.command(place, f"KCFLAGS={compiler_flags(place)}", *more)
    # Not the flags of a make that called: with its -s this one would not say what it checked.
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
    run = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", env=environment)
    if run.returncode:
        raise UserError(f"{run.stdout.rstrip()}\nbuilding the module failed; this was {shlex.join(command)}")
    return run.stdout


def check_words(target: Target, which: int) -> list[str]:
    """make's, to run sparse: 1 over what is compiled, 2 over all that would be. Not by C=, which a kernel
    takes back if its headers' package has no script that looks for sparse.
    """
    checker = kernels.sparse(target.root) if target.root else "sparse"
    return [f"KBUILD_CHECKSRC={which}", f"CHECK={checker}", "CF=-D__CHECK_ENDIAN__"]


def sparse(kind: str, kernel: str) -> None:
    """Build the module and check all sources with sparse; UserError when it has something to say."""
    checks: list[str] = []
    ensure(kind, kernel, checks=checks)
    place, target = where(kind, kernel), kernel_build(kind, kernel)
    passed = kept(place, (place / ".built").read_text()) / "sparse"
    if passed.exists():
        return
    if not checks:
        with locked(place.with_name(place.name + ".lock"), f"it is running sparse in {place}"):
            # The objects are up to date: all that is left is to check their sources.
            checks.append(kbuild(place, target, *check_words(target, 2)))
    said = checks[0]
    if not re.search(r"^ *CHECK .*\bmain\.c$", said, re.M):
        raise UserError(f"make has not run sparse; it said:\n{said}")
    complaints = [line for line in said.splitlines() if ": warning: " in line or ": error: " in line]
    if complaints:
        raise UserError("sparse complains:\n  " + "\n  ".join(complaints))
    if passed.parent.exists():
        passed.touch()
