# SPDX-License-Identifier: GPL-2.0
"""Minimal Debian systems in directories, made by mmdebstrap, and commands in them.

They are for what this machine's release cannot do: build for kernels whose programs want
a newer C library, try packages as a user of another release would.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ..packages import to_get
from ..util import UserError, say
from . import archive

ENVIRONMENT = "PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8"
# Of /usr/share: nobody reads it there.
LEFT_OUT = ("doc", "man", "locale")
# What programs expect to be there.
BINDS = ("/dev", "/proc", "/etc/resolv.conf")


def make(where: Path, suite: str, include: Sequence[str] = ()) -> None:
    """Make the system of a suite, with these packages, in the directory WHERE, which is not there yet.

    A suite such as trixie-backports comes on top of its release. Of it there is only what
    INCLUDE names and what that needs.
    """
    if not shutil.which("mmdebstrap"):
        raise UserError(f"there is no mmdebstrap: {to_get('mmdebstrap')}")
    release = suite.partition("-")[0]
    uri = archive.mirror()
    sources = [archive.source(name, uri) for name in dict.fromkeys((release, suite))]
    say(f"making a root of Debian's {suite}, once, usually 1 to 2 minutes ({where})")
    start = time.monotonic()
    where.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=where.parent, prefix=f"{where.name}-") as scratch:
        # By way of an archive: without root the files would belong to numbers that rm may not touch.
        tar = Path(scratch) / "root.tar"
        got = archive.run("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(include)}",
                          *[f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in LEFT_OUT],
                          release, str(tar), *sources)
        if got.returncode:
            raise UserError(f"mmdebstrap could not make a root of {suite}. It said:\n{got.stdout}")
        root = Path(scratch) / "root"
        root.mkdir(mode=0o755)
        owner = [] if os.geteuid() == 0 else ["--no-same-owner"]
        subprocess.run(["tar", "-C", root, *owner, "--exclude=./dev/*", "-xf", tar], check=True)
        root.rename(where)
    say(f"root ready after {time.monotonic() - start:.0f} s")


def command(root: Path, argv: Sequence[str], rw: Sequence[Path] = ()) -> list[str]:
    """What runs ARGV in a root, with directories of this machine under their own paths, open for writing."""
    lines = []
    for path in (*BINDS, *map(str, rw)):
        there = shlex.quote(f"{root}{path}")
        make_it = f"mkdir -p {there}" if os.path.isdir(path) else f": >>{there}"
        lines.append(f"{make_it} && mount --rbind {shlex.quote(path)} {there}")
    here = shlex.quote(str(root))
    enter = f'chroot {here} /usr/bin/env -i {ENVIRONMENT} "$@"'
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    if slash_is_a_mount():
        script = " && ".join([*lines, f"exec {enter}"])
        return ["unshare", *user, "--mount", "sh", "-c", script, "sh", *argv]
    # In a chroot unshare cannot make / private. So the mounts are below one that can be: the root itself.
    private = f"mount --make-rprivate {here}"
    lines = [f"mount --bind {here} {here}", private, *lines, private, enter]
    script = " && ".join(lines) + f"; status=$?; {private} && umount --recursive --lazy {here}; exit $status"
    return ["unshare", *user, "--mount", "--propagation", "unchanged", "sh", "-c", script, "sh", *argv]


def slash_is_a_mount() -> bool:
    """Not so in a chroot whose directory is none."""
    return any(line.split()[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines())
