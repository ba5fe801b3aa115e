# SPDX-License-Identifier: GPL-2.0
"""What a source file says, without its comments and its layout, as a digest; and which files it is made with.

Two files with one digest do the same. A changed comment, docstring or indentation gives the same digest; a
changed constant gives another one. It does not depend on the version of Python that asks.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from .util import TOOLS

LIBRARY = TOOLS / "davidlib"
# Operators that are another thing than their characters one by one.
OPERATORS = (r"<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||##|[-+*/%&|^]=")
LITERAL = r'"(?:[^"\\\n]|\\.)*"|' + r"'(?:[^'\\\n]|\\.)*'"
COMMENT = r"/\*.*?\*/|//[^\n]*"
UNCOMMENTED = re.compile(rf"({LITERAL})|{COMMENT}", re.DOTALL)
TOKEN = re.compile(rf"{LITERAL}|\w+|{OPERATORS}|\S")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
SHORT = 16
# Of a tree without git: what is not its own.
LEFT_AT_TOP = ("build", ".git", ".pc")
LEFT = re.compile(r"\.git|__pycache__|\.(mypy|ruff|pytest)_cache|.*\.(o|ko|mod|mod\.c|pyc|orig|rej)|\..*\.cmd"
                  r"|.*\.egg-info|Module\.symvers|modules\.order|\.checkpatch-camelcase.*|\.tmp_.*")
LEFT_FILES = ("dm-david/compat/found.h",)


def short(data: bytes) -> str:
    """As many digits of a digest as tell apart what people write."""
    return hashlib.sha256(data).hexdigest()[:SHORT]


def c_says(text: str) -> str:
    """Tokens of C. Each line of the preprocessor stays a line: there blanks may mean something."""
    text = UNCOMMENTED.sub(lambda found: found[1] or " ", text.replace("\\\n", " "))
    out: list[str] = []
    code: list[str] = []
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            out += [" ".join(TOKEN.findall("\n".join(code))), " ".join(line.split())]
            code = []
        else:
            code.append(line)
    return "\n".join(filter(None, [*out, " ".join(TOKEN.findall("\n".join(code)))]))


def of_git(tree: Path) -> list[str] | None:
    """What git tracks of a tree; None where git does not know, as in an unpacked tarball."""
    if not (tree / ".git").exists():
        return None  # a repository around it is another one's
    # Whoever owns it: it is only read.
    git = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    try:
        said = subprocess.run(git, cwd=tree, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return None if said.returncode else os.fsdecode(said.stdout).split("\0")


def walked(tree: Path) -> Iterator[str]:
    """All that lies in a tree but what a build or a test leaves there: .gitignore has the same."""
    for directory, below, files in os.walk(tree):
        top = Path(directory).relative_to(tree)
        below[:] = sorted(name for name in below if name not in (LEFT_AT_TOP if top == Path() else ())
                          and not LEFT.fullmatch(name))
        links = [name for name in below if (tree / top / name).is_symlink()]
        yield from (str(top / name) for name in [*files, *links]
                    if not LEFT.fullmatch(name) and str(top / name) not in LEFT_FILES)


def whole(tree: Path) -> list[Path]:
    """The files and links of a tree that are its own, from its root, in order; none that is deleted."""
    names = of_git(tree)
    return sorted(Path(name) for name in (walked(tree) if names is None else names)
                  if name and ((tree / name).is_file() or (tree / name).is_symlink()))


def tracked(tree: Path) -> list[Path]:
    """The same without links."""
    return [path for path in whole(tree) if not (tree / path).is_symlink()]


def programs(tree: Path) -> dict[str, Path]:
    """The programs in C: each name, and the directory of its makefile, from the tree's root."""
    found = {}
    for path in tracked(tree):
        if path.parts[0] == "tools" and path.name == "Makefile":
            named = re.search(r"^PROGRAM := (\S+)", (tree / path).read_text(), re.MULTILINE)
            if named:
                found[named[1]] = path.parent
    return found


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    is_one = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and \
        isinstance(first.value.value, str)
    return body[1:] if is_one else body


def _tree_of(node: object) -> object:
    """Not ast.dump(): what that leaves out, and which empty fields there are, depends on Python's version."""
    if isinstance(node, list):
        return [_tree_of(one) for one in node]
    if not isinstance(node, ast.AST):
        return repr(node)
    found = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef |
                                         ast.AsyncFunctionDef):
            value = _without_docstring(value)
        if value is not None and value != []:
            found.append((name, _tree_of(value)))
    # A constant may be None.
    return (type(node).__name__, found)


def python_says(text: str) -> str:
    return repr(_tree_of(ast.parse(text)))


def lines_say(text: str) -> str:
    """Of makefiles, shell scripts and the like: lines that are no comment, without blanks at their ends."""
    lines = (line.rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def profile_says(text: str) -> str:
    """Of a drive's profile: the parameters, one a line."""
    lines = (" ".join(line.partition("#")[0].split()) for line in text.splitlines())
    return "\n".join(line.replace(" = ", "=", 1) for line in lines if line)


def config_says(text: str) -> str:
    """Of a kernel's configuration, where a line that begins as a comment may be an option."""
    lines = (line.rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if re.match(r"CONFIG_|# CONFIG_\w+ is not set", line))


def patch_says(text: str) -> str:
    """What it changes. Why stands above the first file."""
    found = re.search(r"^(diff |--- )", text, re.MULTILINE)
    return text[found.start():] if found else text


READERS: dict[str, Callable[[str], str]] = {
    ".c": c_says, ".h": c_says, ".py": python_says, ".config": config_says, ".patch": patch_says,
}
Answer = TypeVar("Answer")


def _while_unchanged(ask: Callable[[Path], Answer]) -> Callable[[Path], Answer]:
    """Asked of a file once, until it is another."""
    known: dict[Path, tuple[tuple[int, int, int], Answer]] = {}

    def answer(path: Path) -> Answer:
        there = path.stat()
        stamp = (there.st_mtime_ns, there.st_size, there.st_ino)
        if path not in known or known[path][0] != stamp:
            known[path] = stamp, ask(path)
        return known[path][1]

    return answer


@_while_unchanged
def digest(path: Path) -> str:
    """Of what a file says, by its suffix; of others as of a script."""
    says = READERS.get(path.suffix, lines_say)(path.read_text(errors="surrogateescape"))
    return short(says.encode(errors="surrogateescape"))


@_while_unchanged
def imported(path: Path) -> set[Path]:
    """The modules of davidlib that one of them imports, anywhere in it."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            above = path.parents[node.level - 1] if node.level else TOOLS
            package = above.joinpath(*(node.module or "").split("."))
            found |= {package.with_suffix(".py"), *(package / f"{alias.name}.py" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {TOOLS.joinpath(*alias.name.split(".")).with_suffix(".py") for alias in node.names}
    found |= {package / "__init__.py" for module in found for package in module.parents
              if package.is_relative_to(LIBRARY)}
    return {module for module in found if module.exists()}


@_while_unchanged
def included(path: Path) -> set[Path]:
    """The files beside it, or of the tree, that a C file includes by their path from its own place."""
    found = (path.parent / name for name in INCLUDE.findall(path.read_text(errors="replace")))
    return {other.resolve() for other in found if other.is_file()}


def closure(first: Iterable[Path], without: Iterable[Path] = ()) -> list[Path]:
    """These files and all that they are made with, but for those of `without` and what only those need."""
    todo, seen, not_these = list(first), set(), set(without)
    while todo:
        path = todo.pop()
        if path not in seen and path not in not_these:
            seen.add(path)
            todo += imported(path) if path.suffix == ".py" else included(path)
    return sorted(seen)
