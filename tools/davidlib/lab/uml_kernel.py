# SPDX-License-Identifier: GPL-2.0
"""The uml lab's kernels: User Mode Linux from Debian's linux-source packages.

The first has one CPU and virtual time; the newest that Debian serves has several CPUs.
Built once per Debian version and configuration, into
CACHE/kernels/uml-VERSION-HASH. What stays there afterwards is the kernel
(`linux`) and what `make ARCH=um M=...` needs to build modules for it.
"""

import hashlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..util import KERNELS, UserError, locked, say
from . import archive, kbuild, needs

HERE = Path(__file__).resolve().parent
FRAGMENTS = [HERE / "uml.config"]
SMP_FRAGMENTS = [HERE / "uml-smp.config"]
DEBUG = HERE / "uml-debug.config"
UML = kbuild.Kind("um", "the uml kernel")
# UML has several CPUs from 6.19 on.
FIRST_SMP = (6, 19)
PATCHES = [HERE / f"uml-{name}.patch" for name in ("xstate", "random", "dcache", "time")]
# Bump when the way of building changes and old trees must not be used any more.
RECIPE = 1
# Kbuild steps of a full build, for the progress line; a guess is good enough.
STEPS = {"6.1": 1750, "6.12": 2250}
# Large, and neither Kconfig nor an ARCH=um build looks at them.
UNPACK_WITHOUT = ["Documentation/*/*", "tools/testing", "tools/perf", "drivers/gpu/drm/amd/include",
                  "drivers/gpu/drm/*/*.[ch]", "drivers/net/*/*/*/*.[ch]", "drivers/media/*/*.[ch]",
                  "drivers/staging/*/*.[ch]", "sound/*/*.[ch]", "sound/*/*/*.[ch]",
                  "arch/*/boot/dts", "arch/arm*/*/*.[ch]", "arch/[bchlmnops]*/*/*.[chS]"]
# After the build only these are of use to an external module's build.
KEEP_TOP = {"include", "arch", "scripts", "linux", "Makefile", "Kbuild", "Kconfig", ".config",
            "Module.symvers", "modules.builtin", "modules.builtin.modinfo", "modules.order", "System.map"}


def installed(kernel: str) -> str | None:
    """Debian's version of the installed linux-source package, such as 6.12.117-1~deb12u1."""
    said = archive.run("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", f"linux-source-{kernel}")
    status, _, version = said.stdout.partition(" ")
    return version if status == "installed" else None


def source_version(kernel: str) -> str:
    served = installed(kernel) or archive.version(f"linux-source-{kernel}")
    if not served:
        raise UserError(f"the uml lab's kernel is built from linux-source-{kernel}, which is not installed, "
                        f"and which Debian does not serve in {', '.join(archive.SUITES)}")
    return served if isinstance(served, str) else served[0]


def smp(kernel: str) -> bool:
    """Has this kernel several CPUs? It has no virtual time then. One of the user's has one."""
    return "/" not in kernel and tuple(int(part) for part in kernel.split(".")) >= FIRST_SMP


def fragments(kernel: str, debug: bool) -> list[Path]:
    return [*(SMP_FRAGMENTS if smp(kernel) else FRAGMENTS), *([DEBUG] if debug else [])]


def patches(kernel: str) -> list[Path]:
    return [] if smp(kernel) else PATCHES


def tree(kernel: str, debug: bool = False) -> Path:
    """Where the kernel of this version and configuration is, or will be."""
    text = b"".join(path.read_bytes() for path in [*fragments(kernel, debug), *patches(kernel)])
    digest = hashlib.sha256(text + b"recipe %d" % RECIPE).hexdigest()[:10]
    return KERNELS / f"uml-{source_version(kernel)}-{digest}"


def ensure(kernel: str, debug: bool = False) -> Path:
    """Build the kernel unless that was done before; return its tree."""
    if "/" in kernel:  # of the user's: own_kernel.resolve() has built it
        return Path(kernel)
    where = tree(kernel, debug)
    if (where / "built").exists():
        return where
    with locked(where.with_name(where.name + ".lock"), f"it is building the uml kernel in {where}"):
        if not (where / "built").exists():
            build(kernel, where, debug)
    return where


def build(kernel: str, where: Path, debug: bool) -> None:
    needs.check("the uml lab", needs.missing(needs.MACHINE, needs.MODULE, needs.KERNEL))
    start = time.monotonic()
    say(f"building the uml kernel from linux-source-{kernel}, once; "
        f"this usually takes about {18 if debug else 6} minutes on 2 cores ({where})")
    if where.exists():
        shutil.rmtree(where)
    where.mkdir(parents=True)
    unpack(kernel, where)
    log = where.with_name(where.name + ".log")
    with open(log, "w") as out:
        configure(where, out, fragments(kernel, debug))
        kbuild.make(UML, where, ["linux", "modules"], out, STEPS.get(kernel, 2250))
    prune(where)
    (where / "built").write_text(f"{time.monotonic() - start:.0f} s\n")
    say(f"uml kernel ready after {time.monotonic() - start:.0f} s")


def unpack(kernel: str, where: Path) -> None:
    say("unpacking the source, about half a minute")
    excludes = [f"--exclude=linux-source-{kernel}/{pattern}" for pattern in UNPACK_WITHOUT]
    with tarball(kernel) as path:
        subprocess.run(["tar", "-C", where, "--strip-components=1", "--wildcards", *excludes, "-xJf", path],
                       check=True)
    for path in patches(kernel):
        subprocess.run(["patch", "-d", where, "-p1", "--quiet", "--input", path], check=True)


@contextmanager
def tarball(kernel: str) -> Iterator[Path]:
    """The source: of the installed package, or fetched for now."""
    name = f"usr/src/linux-source-{kernel}.tar.xz"
    if installed(kernel):
        yield Path("/") / name
        return
    with tempfile.TemporaryDirectory(dir=KERNELS, prefix="source-") as scratch:
        say(f"fetching linux-source-{kernel}, about 160 MB")
        [deb] = archive.download([f"linux-source-{kernel}"], Path(scratch))
        subprocess.run(["dpkg", "-x", deb, scratch], check=True)
        yield Path(scratch) / name


def configure(where: Path, log: IO[str], fragments: list[Path]) -> None:
    """As defconfig, with the fragments on top; UserError if one of their options is refused."""
    kbuild.configure(UML, where, log, fragments)
    refused = kbuild.lost_options((where / ".config").read_text(), fragments)
    if fragments[0] in SMP_FRAGMENTS:
        # Fragments are written for the kernel that does not move: a newer one may have dropped an option.
        refused = kbuild.known_here(where, refused)
    if refused:
        raise UserError("the uml kernel's configuration refuses these options of "
                        f"{fragments[-1].name} and before: {' '.join(refused)}")


def prune(where: Path) -> None:
    """Drop what is of no use any more: a gigabyte of sources and objects."""
    for entry in where.iterdir():
        if entry.name not in KEEP_TOP:
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
    for arch in (where / "arch").iterdir():
        if arch.is_dir() and arch.name not in ("um", "x86"):
            shutil.rmtree(arch)
    for path in (where / "arch").rglob("*.[oa]"):
        path.unlink()
