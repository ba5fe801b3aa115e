# SPDX-License-Identifier: GPL-2.0
"""A kernel's source tree of the user's, and its copy in the cache, which is what is built.

The tree itself is only read. What git tracks is copied, with its changes, and what is new and not ignored;
of a tree without git all but what a build leaves. A file whose content is as before keeps its time in the
copy, so that make builds only what was changed. Patches of the lab go on the copy, not on the tree.
"""

import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..packages import to_get
from ..util import UserError

# What a build leaves in a tree without git.
BUILT = re.compile(r"(\.(o|a|ko|mod|cmd|order|symvers|dtb|gcno|su|d|tmp)|\.mod\.c|\.lex\.c|\.tab\.[ch])$"
                   r"|(^|/)(\.git|\.tmp_[^/]*)(/|$)"
                   r"|^(\.config|\.version|vmlinux|linux|System\.map)(/|\.|$)"
                   r"|^(include/config|(arch/[^/]+/)?include/generated)(/|$)|^modules\.")


def is_source(path: Path) -> bool:
    return all((path / name).exists() for name in ("Kconfig", "Kbuild", "kernel/sched", "arch/x86"))


def version(path: Path) -> tuple[int, int]:
    """MAJOR and MINOR by the tree's Makefile."""
    text = (path / "Makefile").read_text(errors="replace")[:4096]
    found = [re.search(rf"^{name} *= *(\d+)", text, re.M) for name in ("VERSION", "PATCHLEVEL")]
    if not found[0] or not found[1]:
        raise UserError(f"--kernel {path}: its Makefile names no VERSION and PATCHLEVEL")
    return int(found[0][1]), int(found[1][1])


def names(tree: Path) -> list[str]:
    """The files that are the tree's, from its root, in order."""
    git = ["git", "-c", "safe.directory=*", "-C", str(tree), "ls-files", "-z", "--cached", "--others",
           "--exclude-standard"]
    env = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
    with suppress(FileNotFoundError):  # no git
        said = subprocess.run(git, capture_output=True, check=False, env=env)
        found = os.fsdecode(said.stdout).split("\0")
        # Else the tree lies in a repository that ignores it.
        if not said.returncode and "Kconfig" in found:
            return sorted({name for name in found if name})
    return sorted(_all_but_built(tree))


def _all_but_built(tree: Path) -> Iterator[str]:
    for directory, below, files in os.walk(tree):
        top = "" if directory == str(tree) else os.path.relpath(directory, tree) + "/"
        links = [name for name in below if os.path.islink(os.path.join(directory, name))]
        below[:] = [name for name in below if name not in links and not BUILT.search(top + name)]
        yield from (top + name for name in [*files, *links] if not BUILT.search(top + name))


def matches(name: str, patterns: Iterable[str]) -> bool:
    """As tar's --exclude: a pattern of a directory is one of all below it."""
    return any(fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(name, f"{pattern}/*")
               for pattern in patterns)


@dataclass
class Copy:
    """The copy WHERE of a TREE, without what WITHOUT matches, with PATCHES if they all apply."""

    tree: Path
    where: Path
    without: Sequence[str] = ()
    patches: Sequence[Path] = ()
    # Why the patches are not on it, "" if they are.
    refused: str = ""
    # By name: the tree's file as it was when it was last looked at, and a digest of what is in it.
    known: dict[str, list[object]] = field(default_factory=dict)

    def bring_up_to_date(self) -> str:
        """A digest of all that is in the copy then."""
        self._load()
        changed, patched = self._patched()
        seen: dict[str, list[object]] = {}
        for name in names(self.tree):
            if not matches(name, self.without):
                stamp = self._stamp(name)
                if stamp:
                    seen[name] = self._take(name, stamp, patched)
        for name in patched.keys() - seen.keys():  # made by a patch
            self._write(name, patched[name], 0o644)
        for name in self.known.keys() - seen.keys() - patched.keys():
            (self.where / name).unlink(missing_ok=True)
        self.known = seen
        self._save()
        return hashlib.sha256(self.digest_of(lambda _: True).encode() + changed).hexdigest()

    def digest_of(self, which: Callable[[str], bool]) -> str:
        """Of the tree's files whose names are such, as they were when the copy was brought up to date."""
        lines = (f"{name}\0{known[1]}\n" for name, known in sorted(self.known.items()) if which(name))
        return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()

    def _load(self) -> None:
        with suppress(OSError, ValueError):
            self.known = json.loads(self._manifest().read_text())

    def _manifest(self) -> Path:
        return self.where.with_name(self.where.name + ".files")

    def _save(self) -> None:
        self._manifest().write_text(json.dumps(self.known))

    def _stamp(self, name: str) -> str:
        try:
            is_now = os.lstat(self.tree / name)
        except OSError:  # tracked, and deleted
            return ""
        return f"{is_now.st_mtime_ns} {is_now.st_ctime_ns} {is_now.st_size} {is_now.st_mode} {is_now.st_ino}"

    def _take(self, name: str, stamp: str, patched: dict[str, bytes]) -> list[object]:
        """Copy a file unless it is as it was; what to remember of it."""
        path, before = self.tree / name, self.known.get(name)
        if before and before[0] == stamp and name not in patched and not self._was_patched(before):
            return before
        if path.is_symlink():
            content = os.fsencode(os.readlink(path))
            if self._content(name) != content or not (self.where / name).is_symlink():
                self._make_room(name)
                (self.where / name).symlink_to(os.readlink(path))
        else:
            try:
                content = path.read_bytes()
            except OSError as error:
                raise UserError(f"--kernel {self.tree}: {name}: {error.strerror}") from None
            self._write(name, patched.get(name, content), path.stat().st_mode & 0o777 | 0o600)
        return [stamp, hashlib.sha256(content).hexdigest()[:32], name in patched]

    @staticmethod
    def _was_patched(before: list[object]) -> bool:
        return bool(before[2])

    def _content(self, name: str) -> bytes | None:
        path = self.where / name
        if path.is_symlink():
            return os.fsencode(os.readlink(path))
        return path.read_bytes() if path.is_file() else None

    def _make_room(self, name: str) -> None:
        path = self.where / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)

    def _write(self, name: str, content: bytes, mode: int) -> None:
        path = self.where / name
        if self._content(name) != content or path.is_symlink():
            self._make_room(name)
            path.write_bytes(content)
        if path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)

    def _patched(self) -> tuple[bytes, dict[str, bytes]]:
        """What the patches make of the tree's files, by name; nothing if one of them does not apply."""
        with tempfile.TemporaryDirectory(prefix="dm-david-patch-") as scratch:
            touched = sorted({name for patch in self.patches for name in touched_by(patch)})
            for name in touched:
                if (self.tree / name).is_file():
                    (Path(scratch) / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(self.tree / name, Path(scratch) / name)
            for patch in self.patches:
                self.refused = apply(patch, Path(scratch))
                if self.refused:
                    return b"", {}
            text = b"".join(path.read_bytes() for path in self.patches)
            found = {name: (Path(scratch) / name).read_bytes() for name in touched
                     if (Path(scratch) / name).is_file()}
            return text, found


def touched_by(patch: Path) -> list[str]:
    return re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)


def apply(patch: Path, where: Path) -> str:
    """Why it does not apply there; "" if it is on the files now. Each line of context has to be there: a hunk
    in the wrong place would be worse than none."""
    words = ["patch", "-d", str(where), "-p1", "--forward", "--batch", "--fuzz=0", "--no-backup-if-mismatch",
             "--reject-file=-", "--input", str(patch)]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    except FileNotFoundError:
        raise UserError(f"there is no patch: {to_get('patch')}") from None
    if not done.returncode:
        return ""
    at, file = "", ""
    for line in done.stdout.splitlines():
        if named := re.match(r"(?:patching file |\|\+\+\+ b/)(\S+)", line):
            file = named[1]
        if re.search(r"FAILED|No file to patch|previously applied", line):
            at = f" at {file}" if file else ""
            break
    return f"{patch.name} does not apply{at}"
