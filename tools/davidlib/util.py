# SPDX-License-Identifier: GPL-2.0
"""Paths, progress lines, locks and errors that every part of tools/david shares."""

import contextlib
import fcntl
import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
TREE = TOOLS.parent
# `make install` lays out a part of the tree as PREFIX/share/dm-david, with a file that says so: programs are
# not built there. pip has davidlib beside other packages, and what it reads within it; programs are in PATH
# (pyproject.toml).
OF_PIP = TOOLS / "davidlib" / "_profiles"
BY_PIP = OF_PIP.is_dir()
INSTALLED = BY_PIP or (TOOLS / "installed").is_file()
# A lab may have the tree elsewhere, where nothing is below it.
PREFIX_WORD = "DAVID_PREFIX"
PREFIX = Path(os.environ[PREFIX_WORD]) if PREFIX_WORD in os.environ else TREE.parents[1]
# Labs, and what works by them, need the sources of module and programs: a package of its own.
HAS_LABS = not BY_PIP and (TREE / "dm-david" / "Kbuild").is_file()
PROFILES = OF_PIP if BY_PIP else TREE / "profiles"
# The table of all figures: their units, and what they mean.
FIGURES = (OF_PIP.with_name("_figures") if BY_PIP else TREE / "docs") / "figures.toml"
if BY_PIP:
    # It reads 30 further modules: a sixth of the start of a small command.
    import importlib.metadata

    VERSION = importlib.metadata.version("dm-david")
else:
    VERSION = (TOOLS / "version").read_text().strip()
# How the user calls this program, for help and messages.
DAVID = "david" if INSTALLED else "tools/david"
# Kernels and the Python environment outlive a clone and are shared between clones.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dm-david"
KERNELS = CACHE / "kernels"


def build_directory(tree: Path, environment: Mapping[str, str]) -> Path:
    """Where what is built goes: beside the sources; of a tree that is installed, belongs to others, or is
    read-only, to the cache. In a lab nothing is built: there it is where the host has it."""
    ours = tree / "build"
    if BUILD_WORD in environment:
        return Path(environment[BUILD_WORD])
    if not INSTALLED and ("DAVID_LAB" in environment or os.access(ours if ours.exists() else tree, os.W_OK)):
        return ours
    return CACHE / "build" / hashlib.sha256(os.fsencode(tree)).hexdigest()[:10]


# What a lab is told, if that is not beside the sources.
BUILD_WORD = "DAVID_BUILD"
BUILD = build_directory(TREE, os.environ)

# Exit statuses: 0 done, and to be believed; 1 failed, or wrong input; 2 done, and not to be believed; 3 a
# threshold of the question was missed. docs/REFERENCE.md has the table.
FAILED = 1
NOT_BELIEVABLE = 2
MISSED = 3
INTERRUPTED = 130  # by Ctrl-C


# Set for a command of this program that another one of it starts: Ctrl-C comes to both, and one says so.
INNER_WORD = "DAVID_INNER"


@contextlib.contextmanager
def no_ctrl_c() -> Iterator[None]:
    """This program, begun meanwhile, gets Ctrl-C no sooner than it has said so (tools/david). Python's own
    beginning calls it a fatal error."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def inner(*words: str | Path, quiet: bool = False) -> int:
    """The status of a command of this program. If it is QUIET, only its errors are seen."""
    with no_ctrl_c():
        begun = subprocess.Popen([sys.executable, TOOLS / "david", *words], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL if quiet else None,
                                 env=os.environ | {INNER_WORD: "1"})
    with begun:
        try:
            return begun.wait()
        except BaseException:
            begun.kill()
            raise


class Ended(KeyboardInterrupt):
    """By SIGTERM: what has to be cleaned up is, as after Ctrl-C."""


def end_like_interrupted() -> None:
    """From now on SIGTERM ends this process as Ctrl-C does, with a status of its own. A second one of them
    comes no sooner to an end: it would cut short what cleans up. The main thread's."""
    def end(number: int, frame: object) -> None:
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt if number == signal.SIGINT else Ended

    signal.signal(signal.SIGTERM, end)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as of what a shell starts in the background
        signal.signal(signal.SIGINT, end)


def ended_status(error: KeyboardInterrupt) -> int:
    return 128 + signal.SIGTERM if isinstance(error, Ended) else INTERRUPTED


class UserError(Exception):
    """Something the user can put right; the message says what and how."""


def reason_of(error: Exception) -> str:
    """Why something could not be read or written, without what Python calls it."""
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def path_word(path: str | Path) -> str:
    """A path for a program's command line, where what begins with a dash would be an option. - stays."""
    text = str(path)
    return f"./{text}" if text.startswith("-") and text != "-" else text


def say(message: str) -> None:
    """One progress line. Standard output belongs to the command that runs in the lab."""
    print(f"david: {message}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def locked(path: Path, waiting_for: str) -> Iterator[None]:
    """Hold an exclusive lock on PATH; say what is being waited for when another holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            start = time.monotonic()
            say(f"waiting for another process: {waiting_for}")
            fcntl.flock(f, fcntl.LOCK_EX)
            say(f"waited {time.monotonic() - start:.0f} s")
        yield


@contextlib.contextmanager
def replacing(path: Path, *errors: type[Exception]) -> Iterator[Path]:
    """A place beside PATH for what is to be there: all of it, or what was there before stays, as a disk may
    be full. UserError says so, of OSError and of these ERRORS.
    """
    refused: tuple[type[Exception], ...] = (OSError, *errors)
    # A pipe has no place beside it.
    new = path.with_name(path.name + ".new") if path.is_file() or not path.exists() else path
    try:
        if new != path:
            new.unlink(missing_ok=True)
        yield new
        if new != path:
            os.replace(new, path)
    except BaseException as error:  # Ctrl-C, too
        with contextlib.suppress(OSError):
            if new != path:
                new.unlink(missing_ok=True)
        if not isinstance(error, refused):
            raise
        raise UserError(f"{path}: {reason_of(error)}; it is as it was before") from None


def write_whole(path: Path, content: str | bytes) -> None:
    """As replacing()."""
    with replacing(path) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)


def jobs() -> int:
    return os.cpu_count() or 1
