# SPDX-License-Identifier: GPL-2.0
"""Kernels of the user's: `--kernel ~/linux`, and `--config FRAGMENT`.

A source tree is copied (sourcetree.py) and built in CACHE/kernels/tree-NAME-HASH, one directory for each
tree and configuration, so that what was changed is all that is built again. What a lab needs of a build goes
to a directory of its own, CACHE/kernels/uml-RELEASE-DIGEST: the kernel, what modules are built with, and
own.json, which says what it is. The digest is of the sources, the configuration and the compiler. Everywhere
else such a directory's path is the kernel's name. So a lab that was told of one kernel gets that kernel,
whatever becomes of the tree meanwhile.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from ..packages import to_get
from ..util import CACHE, KERNELS, UserError, locked, say
from . import kbuild, kernels, sourcetree, uml_kernel

ABOUT = "own.json"
# Directories of one tree's builds that are kept: the newest.
KEPT = 6
# No date and no count of builds: a kernel is not another one for when it was built.
ENVIRONMENT = {"KBUILD_BUILD_TIMESTAMP": "Tue Jan  1 00:00:00 UTC 2030", "KBUILD_BUILD_VERSION": "1",
               "KBUILD_BUILD_USER": "david", "KBUILD_BUILD_HOST": "lab"}
CCACHE = shutil.which("ccache")
# What a lab cannot do without.
NEEDED = {"HOSTFS", "DEVTMPFS", "TMPFS", "MODULES", "BLOCK", "BLK_DEV_DM", "PROC_FS", "SYSFS"}
OPTION = re.compile(r"^(CONFIG_\w+=|# CONFIG_\w+ is not set)", re.M)
# What modules see of a kernel; see interface().
INTERFACE = ("include", "arch", "scripts", "Makefile", "Kbuild", ".config", "Module.symvers")
# Bump when the way of building changes.
RECIPE = 1


@dataclass(frozen=True)
class About:
    """own.json. `virtual_time` is "yes", or why there is none; `interface` a digest of what modules see."""

    source: str
    release: str
    digest: str
    interface: str
    virtual_time: str


def is_own(kernel: str) -> bool:
    """Is it a path? What has no `/` is a version that Debian serves."""
    return "/" in kernel


def path_of(kernel: str) -> Path:
    """A `~NAME` of nobody is a name like others."""
    return Path(os.path.expanduser(kernel))


def is_resolved(kernel: str) -> bool:
    return is_own(kernel) and (Path(kernel) / ABOUT).exists()


def called(kernel: str) -> str:
    """In a message, whether it is built or not."""
    return version(kernel) if is_resolved(kernel) or not is_own(kernel) else kernel


def about(kernel: str) -> About:
    """Of a kernel that was resolved."""
    return About(**json.loads((Path(kernel) / ABOUT).read_text()))


def said(kernel: str) -> str:
    """What a page calls it."""
    found = about(kernel)
    return f"{found.release} of {Path(found.source).name}, {found.digest[:10]}"


def version(kernel: str) -> str:
    """MAJOR.MINOR."""
    return kernels.version_of(about(kernel).release) if is_own(kernel) else kernel


def check(kind: str, kernel: str, config: Sequence[str | Path] = (), debug: bool = False) -> None:
    """Refuse, before anything is copied or built, what cannot be a lab's kernel."""
    for name in config:
        if not Path(name).is_file():
            raise UserError(f"--config {name}: there is no such file")
        if not OPTION.search(Path(name).read_text(errors="replace")):
            raise UserError(f"--config {name}: it has no line such as CONFIG_EXT4_DEBUG=y")
    if not is_own(kernel):
        kernels.check(kernel)
        if config:
            raise UserError("--config: it is about a kernel that is built of your sources; name their "
                            "directory with --kernel")
        return
    path = path_of(kernel)
    if (path / ABOUT).exists():
        return
    if not path.exists():
        raise UserError(f"--kernel {kernel}: there is no such directory")
    if kind != "uml":
        raise UserError(f"--kernel {kernel}: a source tree is built for --kind uml only")
    if not path.is_dir() or not sourcetree.is_source(path):
        raise UserError(f"--kernel {kernel}: no source tree of a kernel; it has no Kconfig, Kbuild, "
                        "kernel/sched and arch/x86")
    if debug:
        raise UserError(f"--debug: of Debian's kernel only; give {kernel} the options with --config")
    sourcetree.version(path)


def resolve(kind: str, kernel: str, config: Sequence[str | Path] = ()) -> str:
    """Build it, unless that was done: a version is itself, a source tree the directory of its kernel."""
    check(kind, kernel, config)
    if not is_own(kernel):
        return kernels.version(kernel)
    path = path_of(kernel).resolve()
    if (path / ABOUT).exists():
        return str(path)
    return str(of_source(path, [Path(name).resolve() for name in config]))


def known(kind: str, kernel: str, config: Sequence[str | Path] = ()) -> str:
    """The same without building: the source tree, if there is no kernel of it as it is now."""
    check(kind, kernel, config)
    path = path_of(kernel).resolve()
    if (path / ABOUT).exists():
        return str(path)
    work, fragments = _work(path, [Path(name).resolve() for name in config])
    if not work.exists():
        return str(path)
    with locked(work.with_name(work.name + ".lock"), f"it is building the kernel of {path}"):
        copy = sourcetree.Copy(path, work, uml_kernel.UNPACK_WITHOUT, uml_kernel.PATCHES)
        there = _there(work, _digest(copy.bring_up_to_date(), fragments))
    return str(there or path)


def of_source(tree: Path, config: list[Path]) -> Path:
    work, fragments = _work(tree, config)
    with locked(work.with_name(work.name + ".lock"), f"it is building the kernel of {tree}"):
        return _built(tree, work, fragments, config)


def _work(tree: Path, config: list[Path]) -> tuple[Path, list[Path]]:
    """Where a tree's kernel is built, and all fragments of its configuration."""
    texts = b"".join(path.read_bytes() for path in config)
    name = hashlib.sha256(os.fsencode(tree) + b"\0" + texts).hexdigest()[:10]
    work = KERNELS / f"tree-{re.sub(r'[^A-Za-z0-9.]+', '-', tree.name)}-{name}"
    return work, [*uml_kernel.FRAGMENTS, *config]


def _digest(sources: str, fragments: list[Path]) -> str:
    return hashlib.sha256(f"{RECIPE} {sources} {_compiler()} ".encode() +
                          b"".join(path.read_bytes() for path in fragments)).hexdigest()


def _there(work: Path, digest: str) -> Path | None:
    """What was built of that before."""
    release = ".".join(map(str, sourcetree.version(work)))
    found = (path for path in KERNELS.glob(f"uml-{release}*-{digest[:10]}") if (path / ABOUT).exists())
    return next(found, None)


def _built(tree: Path, work: Path, fragments: list[Path], config: list[Path]) -> Path:
    start = time.monotonic()
    if not work.exists():
        say(f"copying and building the kernel of {tree} for the uml lab; the first time that is all of it "
            f"({work})")
    work.mkdir(parents=True, exist_ok=True)
    copy = sourcetree.Copy(tree, work, uml_kernel.UNPACK_WITHOUT, uml_kernel.PATCHES)
    digest = _digest(copy.bring_up_to_date(), fragments)
    if there := _there(work, digest):
        os.utime(there)
        return there
    virtual_time = f"{copy.refused}, a patch of the lab's" if copy.refused else "yes"
    if copy.refused:
        say(f"{tree}: {copy.refused}: this kernel has no virtual time")
    log = work.with_name(work.name + ".log")
    kind, stamp = _kind(tree), work.with_name(work.name + ".configured")
    configured = copy.digest_of(lambda name: "config" in name.lower()) + \
        hashlib.sha256(b"".join(path.read_bytes() for path in fragments)).hexdigest()
    with open(log, "w") as out:
        if not stamp.exists() or stamp.read_text() != configured or not (work / ".config").exists():
            stamp.unlink(missing_ok=True)
            _configure(kind, work, out, fragments, config)
            stamp.write_text(configured)
        kbuild.make(kind, work, ["linux", "modules"], out, 0)
    where = _take(tree, work, digest, virtual_time)
    say(f"kernel of {tree} ready after {time.monotonic() - start:.0f} s")
    _forget(tree)
    return where


def _kind(tree: Path) -> kbuild.Kind:
    words = ("CC=ccache gcc",) if CCACHE else ()
    cache = {"CCACHE_DIR": str(CACHE / "ccache-kernels"), "CCACHE_MAXSIZE": "2G", "CCACHE_NOHASHDIR": "1"}
    return kbuild.Kind("um", f"the kernel of {tree}", words, ENVIRONMENT | cache)


def _compiler() -> str:
    try:
        said = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout
        return said.splitlines()[0]
    except FileNotFoundError:
        raise UserError(f"there is no gcc: {to_get('gcc')}") from None


def _configure(kind: kbuild.Kind, work: Path, out: IO[str], fragments: list[Path],
               config: list[Path]) -> None:
    """UserError says which option of the user's is refused, or that a lab cannot do with this kernel."""
    kbuild.configure(kind, work, out, fragments)
    text = (work / ".config").read_text()
    if lost := kbuild.lost_options(text, config):
        raise UserError(f"the kernel refuses these options of --config: {', '.join(lost)}; what they depend "
                        "on may be off")
    lost = kbuild.lost_options(text, uml_kernel.FRAGMENTS)
    names = {name for line in lost for name in re.findall(r"CONFIG_(\w+)", line)[:1]}
    # The owner's fragment may take back what it likes, but for these.
    if names & NEEDED:
        raise UserError(f"a lab cannot do without {', '.join(sorted(names & NEEDED))}, and this kernel's "
                        "configuration has none of it")


def _take(tree: Path, work: Path, digest: str, virtual_time: str) -> Path:
    """What a lab needs of a build, in a directory of its own, whole or not at all."""
    release = (work / "include/config/kernel.release").read_text().strip()
    where = KERNELS / f"uml-{release}-{digest[:10]}"
    scratch = Path(tempfile.mkdtemp(dir=KERNELS, prefix="take-"))
    try:
        for name in sorted(uml_kernel.KEEP_TOP):
            if (work / name).is_dir():
                shutil.copytree(work / name, scratch / name, symlinks=True, ignore=_objects)
            elif (work / name).exists():
                shutil.copy(work / name, scratch / name)
        found = About(str(tree), release, digest, _interface(scratch), virtual_time)
        (scratch / ABOUT).write_text(json.dumps(asdict(found), indent=1) + "\n")
        scratch.chmod(0o755)
        shutil.rmtree(where, ignore_errors=True)
        scratch.rename(where)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return where


def _objects(directory: str, names: list[str]) -> list[str]:
    others = names if directory.endswith("/arch") else []
    return [name for name in others if name not in ("um", "x86", "Kconfig") and "." not in name] + \
        [name for name in names if re.search(r"\.(o|a|cmd)$", name)]


def _interface(top: Path) -> str:
    """A digest of what modules see: a module that was built with one kernel fits each with the same one."""
    found = hashlib.sha256()
    for name in INTERFACE:
        below = sorted((top / name).rglob("*")) if (top / name).is_dir() else [top / name]
        for path in below:
            if path.is_file() and (name != "arch" or re.search(r"\.(h|lds)$|^(Makefile|Kbuild)", path.name)):
                found.update(f"{path.relative_to(top)}\0".encode())
                found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _forget(tree: Path) -> None:
    """Of a tree's kernels the oldest, when there are many."""
    mine = []
    for path in KERNELS.glob(f"uml-*/{ABOUT}"):
        with suppress(OSError, ValueError):
            if json.loads(path.read_text())["source"] == str(tree):
                mine.append(path.parent)
    for old in sorted(mine, key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old, ignore_errors=True)
