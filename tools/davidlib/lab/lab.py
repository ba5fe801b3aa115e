# SPDX-License-Identifier: GPL-2.0
"""A command and the lab machine that it wants, and what all kinds of labs make of that: the command's
environment, the directories that it may see, and what became of it.
"""

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..util import BUILD, BUILD_WORD, INSTALLED, PREFIX, PREFIX_WORD, TREE, UserError
from . import own_kernel
from .memory import machines_megabytes, parse_memory

TIMED_OUT = 124
LAB_FAILED = 125
KERNEL_WARNED = 126

# Fresh in the guest, so that what the host has there is not to be seen.
FRESH = [Path("/tmp"), Path("/run"), Path("/var/tmp")]
# The guest has its own of these; nothing of the host's can be shown there.
KERNELS_OWN = [Path("/dev"), Path("/proc"), Path("/sys")]
DEFAULT_MEMORY = {"uml": "1G", "vm": "2G", "icount": "2G"}
DEFAULT_TIMEOUT = 600
PRIVATE = "dm-david-lab-"
# In the uml lab, what stands before the host's own programs.
GUEST_BIN = Path(__file__).resolve().with_name("guest") / "uml-bin"
# What a sealed command sees of the host under names that are the same everywhere: the tree, and the
# directories that are open for writing, by number.
SEALED_TREE = Path("/run/david")
SEALED_RW = Path("/run/open")
SBIN = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]


@dataclass
class Lab:
    """What to run, where. The fields are the options of `david lab run`."""

    argv: Sequence[str]
    kind: str = "uml"
    kernel: str = "6.12"
    # of a kernel of the user's: fragments of its configuration
    config: Sequence[str | Path] = ()
    virtual_time: bool = False
    debug: bool = False
    memory: str | None = None
    # of the lab's RAM disks, /dev/ram0 and on
    ram_disk: str | None = None
    cpus: int | None = None
    rw: Sequence[str | Path] = ()
    timeout: float = DEFAULT_TIMEOUT
    env: dict[str, str] = field(default_factory=dict)
    cwd: Path = field(default_factory=Path.cwd)
    # The command sees nothing of who calls it, and from where.
    sealed: bool = False
    load_module: bool = True
    # Standard input is the command's: as it comes, or by the caller's terminal.
    stdin: bool = False
    shell: bool = False
    # icount only: what the guest needs of the host, besides what the command names
    files: Sequence[str | Path] = ()

    def megabytes(self) -> int:
        return parse_memory(self.memory or DEFAULT_MEMORY[self.kind])

    def ram_disk_kilobytes(self) -> int:
        """0: as the kernel has it."""
        return parse_memory(self.ram_disk, "--ram-disk") << 10 if self.ram_disk else 0


@dataclass
class Result:
    """What became of it; returncode as `david lab run` exits."""

    returncode: int
    console: str = ""
    warnings: list[str] = field(default_factory=list)


@dataclass
class Streams:
    """Where the command's output and the lab's own messages go."""

    stdout: Callable[[bytes], None]
    stderr: Callable[[bytes], None]

    def tell(self, message: str) -> None:
        self.stderr(f"lab: {message}\n".encode())


def to_fd(fd: int) -> Callable[[bytes], None]:
    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view):]
    return write


def check_memory(lab: Lab) -> None:
    """A guest with more memory than there is would be started, and stand still when it needs it."""
    wanted, there = lab.megabytes(), machines_megabytes()
    if wanted > there:
        raise UserError(f"--memory {lab.memory or DEFAULT_MEMORY[lab.kind]}: this machine has {there} MiB")


@contextlib.contextmanager
def private_directory(min_free_megabytes: int = 256) -> Iterator[Path]:
    """A directory for one lab, in memory where there is room: files in it are written synchronously."""
    shm = Path("/dev/shm")
    roomy = shm.is_dir() and os.access(shm, os.W_OK) and \
        shutil.disk_usage(shm).free >> 20 >= min_free_megabytes
    sweep(shm)
    where = Path(tempfile.mkdtemp(prefix=PRIVATE, dir=shm if roomy else None))
    lock = os.open(where, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield where
    finally:
        shutil.rmtree(where, ignore_errors=True)
        os.close(lock)


def sweep(top: Path) -> None:
    """Remove what labs left in memory that were killed: their directories are not locked any more."""
    for where in top.glob(f"{PRIVATE}*"):
        with contextlib.suppress(OSError):
            # One that is just being made may not be locked yet.
            if time.time() - where.stat().st_mtime < 60:
                continue
            lock = os.open(where, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(where, ignore_errors=True)
            finally:
                os.close(lock)


def callers_environment() -> dict[str, str]:
    ours = os.environ
    path = ours.get("PATH", "").split(":")
    env = {
        "PATH": ":".join(p for p in dict.fromkeys(path + SBIN) if p),
        "HOME": ours.get("HOME", "/root"),
        "LANG": ours.get("LC_ALL") or ours.get("LANG") or "C.UTF-8",
        "TERM": ours.get("TERM", "dumb"),
    }
    env |= {key: ours[key] for key in ("XDG_CACHE_HOME", "PYTHONPYCACHEPREFIX") if key in ours}
    return env | {key: value for key, value in ours.items() if key.startswith("DAVID_")}


def environment(lab: Lab) -> dict[str, str]:
    """The command's environment: sane, the caller's DAVID_*, and what the caller asked for."""
    sealed = {"PATH": ":".join(SBIN), "HOME": "/tmp", "LANG": "C.UTF-8", "TERM": "dumb"}
    env = sealed if lab.sealed else callers_environment()
    if lab.kind == "uml":
        first = SEALED_TREE / GUEST_BIN.relative_to(TREE) if lab.sealed else GUEST_BIN
        env["PATH"] = f"{first}:{env['PATH']}"
    if BUILD != TREE / "build":
        env[BUILD_WORD] = str(BUILD)
    if INSTALLED:
        env[PREFIX_WORD] = str(PREFIX)
    return env | {
        "USER": "root",
        "LOGNAME": "root",
        "SHELL": "/bin/sh",
        # There is no udev in a lab: libdevmapper makes /dev/mapper/NAME itself.
        "DM_DISABLE_UDEV": "1",
        # Which lab a script finds itself in.
        "DAVID_LAB": lab.kind,
        "DAVID_LAB_KERNEL": own_kernel.version(lab.kernel),
        "DAVID_LAB_VIRTUAL_TIME": "1" if lab.virtual_time else "0",
        "DAVID_LAB_DEBUG": "1" if lab.debug else "0",
    } | lab.env


def command_script(lab: Lab) -> str:
    """A shell script that becomes the command, to be started with an empty environment."""
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in environment(lab).items())
    return (f"{exports}cd {shlex.quote('/' if lab.sealed else str(lab.cwd))} || exit {LAB_FAILED}\n"
            f"exec {shlex.join(lab.argv)}\n")


def below(path: Path, tops: Sequence[Path]) -> Path | None:
    return next((top for top in tops if path == top or top in path.parents), None)


def named_paths(lab: Lab) -> list[Path]:
    """The tree, the working directory and the existing paths that the command names."""
    found = [TREE, lab.cwd]
    for word in lab.argv:
        # An argument, its value, or inside a script that is one.
        for part in [word, word.partition("=")[2], *re.findall(r"/[\w.,+@%/-]+", word)]:
            path = lab.cwd / part
            # A whole script is too long for a name.
            with contextlib.suppress(OSError, ValueError):
                if part and path.exists():
                    found += [Path(os.path.abspath(path)), path.resolve()]
    return found


def shown_paths(lab: Lab) -> list[Path]:
    """Host paths to be put back over the fresh directories, outermost first."""
    shown: set[Path] = set()
    for path in [] if lab.sealed else named_paths(lab):
        top = below(path, FRESH)
        if not top or path == top:
            continue
        # A script's neighbours are part of it.
        if not path.is_dir() and path.parent not in FRESH:
            path = path.parent
        shown.add(path)
    return sorted(p for p in shown if not any(q in shown for q in p.parents))


def rw_paths(lab: Lab) -> list[Path]:
    paths = []
    for name in lab.rw:
        path = Path(name).resolve()
        if not path.is_dir():
            raise UserError(f"--rw {name}: there is no such directory; make it first")
        if below(path, KERNELS_OWN) and not below(path, [Path("/dev/shm")]) or path == Path("/"):
            raise UserError(f"--rw {name}: the lab has its own {path}; name another directory")
        paths.append(path)
    return paths


def opened_paths(lab: Lab) -> list[tuple[Path, Path]]:
    """The directories that are open for writing, outermost first: the host's, and its name in the guest."""
    paths = rw_paths(lab)
    if lab.sealed:
        return [(path, SEALED_RW / str(number)) for number, path in enumerate(paths)]
    return [(path, path) for path in sorted(paths)]
