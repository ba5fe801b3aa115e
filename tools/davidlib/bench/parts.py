# SPDX-License-Identifier: GPL-2.0
"""What decides a run's figures besides its description, as digests: the drive's profile, the model and the
module, the lab, the code that does the run, and the files that the workload names.

A run has them from the beginning, they are part of its id, and stay beside its figures. So two runs can be
told apart, and the difference can be named. Groups of names with a digest or a version each:

    profile        the drive's parameters, by the profile's name
    model, classifier, dm-david     the sources of the module, by file
    lab            kernel, configuration, patches, how the machine is started
    machine        where = "here": this machine's kernel, and the module in it
    run            the code that runs in the lab, by file
    program        sources of C programs that it calls, by file
    files          that the spec names, by parameter or path
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .. import build, source
from ..drive import files as profiles
from ..lab import identity
from ..lab.lab import FRESH, KERNELS_OWN, below
from ..packages import to_get
from ..util import TREE, UserError
from ..workload.kinds import KINDS, files_of
from . import kernelwords, localhost
from .dimensions import KERNEL

Described = dict[str, Any]
Parts = dict[str, dict[str, str]]
HERE = Path(__file__).resolve().parent
WORKLOAD = source.LIBRARY / "workload"
# Words of a command or a job, any of which may be a path.
SEPARATED = re.compile(r"[\s;&|<>()'\"=:,$`{}]+")
# Directories that a command may name, and that are not its input.
SYSTEM = {Path("/", name) for name in ("", "bin", "boot", "etc", "home", "lib", "lib64", "mnt", "opt", "root",
                                       "sbin", "srv", "usr", "usr/bin", "usr/lib", "usr/sbin", "usr/share",
                                       "usr/local", "var")}
MOST_FILES = 20_000
MODULE = {"model": "model/", "classifier": "classifier/", "dm-david": "dm-david/"}


def _said(paths: list[Path], top: Path) -> dict[str, str]:
    return {str(path.relative_to(top)): source.digest(path) for path in paths}


def _of_kind(kind: str) -> tuple[list[Path], set[Path]]:
    """The modules that do a workload of that kind, and those that kinds.py has for others, too."""
    known = KINDS[kind]
    called = [function for function in (known.run, known.prepare) if function]
    own = [WORKLOAD / f"{function.__module__.rpartition('.')[2]}.py" for function in called]
    return own, source.imported(WORKLOAD / "kinds.py")


def program_of(run: Described) -> str:
    """The file of davidlib that does it in the lab."""
    return str(run.get("program", "bench/testbed.py"))


def code(program: str, kind: str, module: str) -> dict[str, str]:
    """The Python of a run: its program with all it imports, but for what does other kinds of work. MODULE
    does the work of an experiment, in whose program's directory the others are."""
    first = source.LIBRARY / program
    if module:
        own, every = [source.LIBRARY / module], set(first.parent.glob("*.py")) - {first}
    else:
        own, every = _of_kind(kind)
        every -= source.imported(first)
    found = [HERE / "labrun.py", *source.closure([first], every), *source.closure(own)]
    return _said(sorted(set(found)), source.LIBRARY)


def program(name: str) -> dict[str, str]:
    """The sources of one of build.DIRECTORIES, with what they include and how they are compiled."""
    top = TREE / build.DIRECTORIES[name]
    words = ["make", "-s", "--no-print-directory", "-C", str(top), "sources"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"{done.stderr.rstrip()}\nthe sources of {name} cannot be listed; "
                        f"{to_get('make')}")
    found = source.closure(Path(line).resolve() for line in done.stdout.split())
    return _said([top / "Makefile", TREE / "tools" / "program.mk", *found], TREE)


def _words(text: str) -> set[str]:
    """What of a command, a job or an option may be a path."""
    found = set(SEPARATED.split(text))
    with contextlib.suppress(ValueError):  # quotes that do not end
        found |= set(shlex.split(text))
    # A path may stand right behind an option's letter: tar -C/opt/tree.
    found |= {word[word.index("/"):] for word in found if word.startswith("-") and "/" in word}
    return {word for word in found if "/" in word}


def _named_paths(text: str) -> Iterator[Path]:
    """The paths that are there. A relative one is of /, where a run is."""
    for word in sorted(_words(text)):
        path = Path("/", word)
        with contextlib.suppress(ValueError, OSError):  # no path at all, or too long a one
            yield from [path] if path.exists() else map(Path, glob.glob(str(path)))


def _tree_digest(top: Path) -> str:
    """Of all files below a directory: their names and what is in them; of very many, of the first. A link to
    a directory is what is there, but for one that the walk has been in: it may go round."""
    found, left, been = hashlib.sha256(), MOST_FILES, {os.path.realpath(top)}
    for directory, names, files in os.walk(top, followlinks=True):
        names[:] = [name for name in sorted(names) if os.path.realpath(Path(directory, name)) not in been]
        been |= {os.path.realpath(Path(directory, name)) for name in names}
        for name in sorted(files):
            path = Path(directory, name)
            found.update(f"{path.relative_to(top)}\0".encode(errors="surrogateescape"))
            if path.is_file():
                found.update(path.read_bytes())
            left -= 1
            if not left:
                return found.hexdigest()[: source.SHORT]
    return found.hexdigest()[: source.SHORT]


def _digest_of(path: Path) -> str:
    try:
        return _tree_digest(path) if path.is_dir() else source.short(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: the question names it, and it cannot be read: {error.strerror}") from None


def named_files(run: Described) -> dict[str, str]:
    """Files that are a parameter, and files and directories that the workload's text, or a word for mkfs or
    mount, names by a path. What a lab has fresh, such as /tmp, is not the host's."""
    found = {key: source.short(Path(name).read_bytes()) for key, name in files_of(run).items()}
    params = run["workload"].get("params", {})
    texts = [value for key, value in params.items() if isinstance(value, str) and key not in found]
    texts += [*run["file_system"]["mkfs"], run["file_system"]["mount"]]
    others = KERNELS_OWN + (FRESH if run["where"] != "here" else [])
    for path in {path for text in texts for path in _named_paths(text)}:
        whole = path.is_file() or (path.is_dir() and path not in SYSTEM)
        if whole and not below(path, others):
            found[str(path)] = _digest_of(path)
    return found


def profile_digest(text: str) -> str:
    return source.short(source.profile_says(text).encode())


class Tree:
    """What the tree and the machine are at one time: asked once for all runs of a sweep."""

    def __init__(self) -> None:
        self.asked: dict[tuple[object, ...], dict[str, Any]] = {}

    def _once(self, ask: Callable[..., dict[str, Any]], *about: str) -> dict[str, Any]:
        key = (ask, *about)
        if key not in self.asked:
            self.asked[key] = ask(*about)
        return self.asked[key]

    def _profiles(self, run: Described) -> dict[str, str]:
        if "profile_text" in run:
            return {run["profile"]: profile_digest(run["profile_text"])}
        return {name: profile_digest(profiles.path_of(name).read_text()) for name in run["profiles"]}

    def parts(self, run: Described) -> Parts:
        """Of a run as spec or plan describe it."""
        found = {"profile": self._profiles(run)}
        if run["where"] == "here":
            found["machine"] = self._once(localhost.identity)
        else:
            found |= self._once(identity.sources)
            about = (kernelwords.KIND[run["where"]], run.get("kernel", kernelwords.DEFAULT))
            found["lab"] = self._once(identity.lab, *about)
        work = run["workload"]
        found["run"] = self._once(code, program_of(run), work["kind"], run.get("module", ""))
        known = KINDS.get(work["kind"])
        for name in run.get("built", known.built if known else ()):
            found["program"] = found.get("program", {}) | self._once(program, name)
        return found | {"files": files} if (files := named_files(run)) else found


def digest(found: Any) -> str:
    """One of many."""
    return source.short(json.dumps(found, sort_keys=True).encode())


def content(run: Described) -> str:
    """A digest of all that decides the run's figures, and of nothing else."""
    parts = run["parts"]
    work, system = run["workload"], run["file_system"]
    named = files_of(run)
    params = {key: value for key, value in work.get("params", {}).items() if key not in named}
    left_out = ("variant", "factors", "timeout", "profile", "profile_text", "profiles", "built", "module",
                "kernel", "parts")
    what = {key: value for key, value in run.items() if key not in left_out} | {
        "file_system": {key: value for key, value in system.items() if key != "name"},
        "workload": {"kind": work["kind"], "params": params},
        # A drive is what its profile says, whatever that is called.
        "parts": parts | {"profile": sorted(parts["profile"].values())},
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:12]


def _names(found: list[str]) -> str:
    return ", ".join(found[:4]) + (f" and {len(found) - 4} more" if len(found) > 4 else "")


def _other(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _parameters(text: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in source.profile_says(text).splitlines())
    found: dict[str, str] = {}
    for name, _, value in pairs:
        found[name] = f"{found[name]}; {value}" if name in found else value
    return found


def _short(value: object) -> str:
    text = "nothing" if value in (None, "", []) else str(value)
    return text if len(text) <= 30 else "another one"


def _changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for name in _other(old, new):
        was, now = _short(old.get(name)), _short(new.get(name))
        yield f"{name}" if "another one" in (was, now) else f"{name} {was} -> {now}"


def _profile_differs(old: Described, new: Described) -> Iterator[str]:
    if sorted(old["parts"]["profile"].values()) == sorted(new["parts"]["profile"].values()):
        return
    texts = [_parameters(run.get("profile_text", "")) for run in (old, new)]
    changes = list(_changes(*texts))
    yield "the profile is another one" + (f": {_names(changes)}" if changes else "")


def _params(run: Described, without: dict[str, str]) -> dict[str, Any]:
    found = run["workload"].get("params") or run.get("params", {})
    return {key: value for key, value in found.items() if key not in without}


# What decides a run's figures beside its drive, file system, workload and seed.
DECIDING = ("where", "memory", "size", "backing", "classify", "options", "profile_options", "array",
            "array_state", "age", "faults")


def _described_differs(old: Described, new: Described) -> Iterator[str]:
    for key in DECIDING:
        yield from _changes({key: old.get(key)}, {key: new.get(key)})
    for key in ("mkfs", "mount"):
        yield from _changes({key: old["file_system"].get(key)}, {key: new["file_system"].get(key)})
    files = files_of(new)
    yield from _changes(_params(old, files), _params(new, files))


def difference(old: Described, new: Described) -> list[str]:
    """What is another one, in words; `old` is as it stands in a result."""
    if not isinstance(old.get("parts"), dict):
        return ["it does not say of which model, drive and lab it is: an older dm-david made it"]
    found = [*_profile_differs(old, new), *_described_differs(old, new)]
    was, now = old["parts"], new["parts"]
    for group, place in MODULE.items():
        if other := _other(was.get(group, {}), now.get(group, {})):
            found.append(f"{place} is another one: {_names(other)}")
    for group, called in (("lab", "the lab"), ("machine", "this machine")):
        names = _other(was.get(group, {}), now.get(group, {}))
        for name in [name for name in names if name in ("kernel", "qemu")]:
            pair = (str(run.get(group, {}).get(name, "none")) for run in (was, now))
            found.append(f"{called}'s {name}: {' -> '.join(pair)}")
        if rest := [name for name in names if name not in ("kernel", "qemu")]:
            found.append(f"{called} is another one: {_names(rest)}")
    for group, called in (("run", "the code that does it"), ("program", "a program that it calls"),
                          ("files", "what the workload names")):
        if other := _other(was.get(group, {}), now.get(group, {})):
            found.append(f"{called} is another one: {_names(other)}")
    return found or ["its description is another one"]


def _labelled(one: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """All that must be one and the same on a page, by a name that says what it is."""
    run = one["run"]
    # Each value of that dimension is a kernel of its own.
    which = run.get("factors", {}).get(KERNEL, "")
    of_it = f" that is called {which}" if which else ""
    for group, names in run["parts"].items():
        for name, value in names.items():
            if group == "files":
                yield f"{name} of the workload {run['workload']['name']}", value
            elif group == "profile":
                yield f"the profile {name}", value
            elif group in ("lab", "machine") and name in ("kernel", "qemu"):
                yield f"the lab's {name}{of_it}" if group == "lab" else f"the machine's {name}", value
            else:
                yield f"{MODULE.get(group, '')}{name}", value
    for name, value in one.get("versions", {}).items():
        yield f"the version of {name}{of_it if name == KERNEL else ''}", value


def refuse_another_tree(run: Described) -> None:
    """UserError if a run was told of other parts than there are here: a worker elsewhere may have another
    tree, and one here may have been changed since the sweep was started."""
    here_and_now = Tree().parts(run)
    if here_and_now != run["parts"]:
        said = "; ".join(difference(run, run | {"parts": here_and_now}))
        raise UserError(f"the tree is not the one that the sweep was started with: {said}")


def refuse_mixture(runs: list[dict[str, Any]]) -> None:
    """UserError if two of these results were not made by one and the same."""
    seen: dict[str, tuple[str, str]] = {}
    for one in runs:
        if not isinstance(one["run"].get("parts"), dict):
            raise UserError(f"{one['id']}: it does not say of which model, drive and lab it is: an older "
                            "dm-david made it; 'david bench' runs it again")
        for name, value in _labelled(one):
            value_before, before = seen.setdefault(name, (value, one["id"]))
            if value != value_before:
                raise UserError(
                    f"{before} and {one['id']} were not made alike, and one page cannot have both: "
                    f"{name} is {value_before} of the one, {value} of the other; remove what is old "
                    "from runs/, and 'david bench' runs it again")
