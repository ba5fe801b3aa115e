# SPDX-License-Identifier: GPL-2.0
"""A kernel's source tree, configured and made, with a word on how far it is."""

import os
import re
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ..util import UserError, jobs, say


@dataclass(frozen=True)
class Kind:
    """For which architecture, what messages call it, and what make is told besides."""

    arch: str
    called: str
    words: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, where: Path, targets: list[str]) -> list[str]:
        return ["make", f"ARCH={self.arch}", *self.words, "-C", str(where), f"-j{jobs()}", *targets]

    def env(self) -> dict[str, str]:
        # Not the flags of a make that called.
        ours = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS")}
        return ours | {"ARCH": self.arch} | self.environment


def configure(kind: Kind, where: Path, log: IO[str], fragments: list[Path], first: str = "defconfig") -> None:
    """Write .config: what make's target FIRST does, "" what is there, with the fragments on top."""
    begin = [["make", f"ARCH={kind.arch}", *kind.words, first]] if first else []
    for step in (*begin,
                 ["scripts/kconfig/merge_config.sh", "-m", ".config", *map(str, fragments)],
                 ["make", f"ARCH={kind.arch}", *kind.words, "olddefconfig"]):
        run = subprocess.run(step, cwd=where, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                             env=kind.env(), check=False)
        if run.returncode:
            raise UserError(f"configuring {kind.called} failed at `{' '.join(step)}`; see {log.name}")


def declared(where: Path) -> set[str]:
    """All options that the kernel's Kconfig files know."""
    return {name for path in where.rglob("Kconfig*") if path.is_file()
            for name in re.findall(r"^\s*(?:menu)?config (\w+)", path.read_text(errors="replace"), re.M)}


def known_here(where: Path, lines: list[str]) -> list[str]:
    """Those of a fragment's lines whose option the kernel knows."""
    known = declared(where) if lines else set()
    return [line for line in lines if known.intersection(re.findall(r"CONFIG_(\w+)", line)[:1])]


def lost_options(config: str, fragments: list[Path]) -> list[str]:
    """The fragments' lines that did not survive olddefconfig."""
    have = set(config.splitlines())
    lost = []
    for line in "\n".join(path.read_text() for path in fragments).splitlines():
        off = re.fullmatch(r"# (CONFIG_\w+) is not set", line)
        if off and any(h.startswith(off[1] + "=") for h in have) or \
                line.startswith("CONFIG_") and line not in have:
            lost.append(line)
    return lost


def make(kind: Kind, where: Path, targets: list[str], log: IO[str], steps: int) -> None:
    """Run make, and say every quarter of a minute how far it is."""
    done, told = 0, time.monotonic()
    start = told
    with subprocess.Popen(kind.command(where, targets), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", env=kind.env()) as run:
        assert run.stdout
        for line in run.stdout:
            log.write(line)
            done += re.match(r"  [A-Z]+ +(\[M\] +)?\S", line) is not None
            if time.monotonic() - told > 15:
                told = time.monotonic()
                of = f" of about {steps}" if steps else ""
                say(f"{kind.called}: step {done}{of}, {told - start:.0f} s")
    if run.returncode:
        log.flush()
        raise UserError(f"building {kind.called} failed; {complaint(Path(log.name).read_text())}"
                        f"\nthe whole log: {log.name}")


def complaint(said: str) -> str:
    """The compiler's errors of what make said, else its last lines."""
    lines = said.splitlines()
    errors = [line for line in lines if re.search(r": (fatal )?error: |: undefined reference to ", line)]
    what = "the first errors" if errors else "its last lines"
    return f"{what}:\n  " + "\n  ".join(errors[:10] or lines[-25:])
