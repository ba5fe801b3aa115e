# SPDX-License-Identifier: GPL-2.0
"""Debian packages of other releases than this machine's: found and fetched by apt, with lists of its own.

Nothing is installed from there, and the machine's own package sources are not touched.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..util import CACHE, DAVID, UserError, locked, say

APT = CACHE / "apt"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
IN_ARCHIVE = re.compile(r"'(\S+)/pool/main/b/base-files/")
# Where kernels are looked for. Suites without a hyphen are releases that a root can be made of.
SUITES = ("bookworm", "trixie", "trixie-backports", "sid")


def run(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)


def _room(lists: str) -> None:
    """Directories that apt wants to be there."""
    for name in (f"{lists}/partial", "cache/archives/partial"):
        (APT / name).mkdir(parents=True, exist_ok=True)


def mirror() -> str:
    """The archive that this machine has its own packages from. Where its lists are not there, as in an image
    that was tidied up, they are read into lists of ours: who runs labs need not be root.
    """
    said = run("apt-get", "download", "--print-uris", "base-files").stdout
    if not (found := IN_ARCHIVE.search(said)):
        words = ["-o", f"Dir::State::Lists={APT / 'machine'}", "-o", f"Dir::Cache={APT / 'cache'}"]
        _room("machine")
        updated = run("apt-get", *words, "-q=2", "update").stdout
        found = IN_ARCHIVE.search(run("apt-get", *words, "download", "--print-uris", "base-files").stdout)
        said = updated or said
    if not found:
        raise UserError("apt does not say where this machine has Debian's packages from. "
                        f"apt-get said:\n{said}")
    return found[1]


def source(suite: str, uri: str) -> str:
    """A line for sources.list."""
    return f"deb [signed-by={KEYRING}] {uri} {suite} main"


def options() -> list[str]:
    words = {"Dir::Etc::SourceList": APT / "sources.list", "Dir::Etc::SourceParts": "/dev/null",
             "Dir::Etc::Preferences": "/dev/null", "Dir::Etc::PreferencesParts": "/dev/null",
             "Dir::State::Lists": APT / "lists", "Dir::State::Status": "/dev/null",
             "Dir::Cache": APT / "cache",
             # Lists of sid expire after a week, and a mirror may lag behind. They are signed all the same.
             "Acquire::Check-Valid-Until": "false"}
    return [word for name, value in words.items() for word in ("-o", f"{name}={value}")]


def refresh() -> None:
    """Read the lists again: this decides which kernel is the newest."""
    say(f"reading Debian's package lists of {', '.join(SUITES)}, usually 10 seconds ({APT})")
    _room("lists")
    uri = mirror()
    (APT / "sources.list").write_text("".join(source(suite, uri) + "\n" for suite in SUITES))
    got = run("apt-get", *options(), "-q=2", "update")
    if got.returncode:
        raise UserError(f"reading Debian's package lists failed. apt-get said:\n{got.stdout}")
    (APT / "ready").touch()


def known() -> bool:
    """Have Debian's lists been read? Then what is asked of them needs no network."""
    return (APT / "ready").exists()


def ensure() -> None:
    with locked(APT.with_suffix(".lock"), "it is reading Debian's package lists"):
        if not known():
            refresh()


def names(start: str) -> list[str]:
    """The packages whose names begin so."""
    ensure()
    return run("apt-cache", *options(), "pkgnames", start).stdout.split()


def version(package: str) -> tuple[str, str] | None:
    """A package's newest version, and the suite that serves it."""
    ensure()
    return version_in(run("apt-cache", *options(), "madison", package).stdout)


def version_in(said: str) -> tuple[str, str] | None:
    """The first version and its suite in what `apt-cache madison` said. Debian 13's apt pads columns."""
    line = r"^\s*\S+ \|\s*(\S+)\s*\|\s*\S+ (\S+)/main amd64 Packages$"
    found = re.search(line, said, re.MULTILINE)
    return (found[1], found[2]) if found else None


def depends(package: str, start: str) -> list[str]:
    """The packages that PACKAGE needs and whose names begin so."""
    ensure()
    said = run("apt-cache", *options(), "depends", "--important", package).stdout
    return re.findall(rf"Depends: ({re.escape(start)}\S+)", said)


def download(packages: Sequence[str], where: Path) -> list[Path]:
    """Fetch packages into a directory; return the files."""
    ensure()
    # apt's sandbox user wants to write there.
    where.chmod(0o755)
    got = run("apt-get", *options(), "-q", "download", *packages, cwd=where)
    debs = sorted(where.glob("*.deb"))
    if got.returncode or len(debs) < len(packages):
        raise UserError(f"fetching {' '.join(packages)} failed; `{DAVID} lab setup newest` reads Debian's "
                        f"lists again. apt-get said:\n{got.stdout}")
    return debs
