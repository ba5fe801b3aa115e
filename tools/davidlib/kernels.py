# SPDX-License-Identifier: GPL-2.0
"""Debian's stock kernels: headers to build against, images for the vm lab.

An image is not installed, which would change how the user's own machine
boots, but unpacked into the cache; one that is installed anyway is used.
"""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .util import KERNELS, UserError, locked, say

RELEASE = {"6.1": r"6\.1\.0-\d+-amd64", "6.12": r"6\.12\.\d+\+deb\d+-amd64"}
VERSIONS = tuple(RELEASE)


def newest(releases: list[str]) -> str | None:
    return max(releases, key=lambda name: [int(n) for n in re.findall(r"\d+", name)], default=None)


def release(kernel: str) -> str:
    """The newest installed headers' kernel release, such as 6.1.0-42-amd64."""
    found = newest([name for p in Path("/usr/src").glob("linux-headers-*")
                    if re.fullmatch(RELEASE[kernel], name := p.name.removeprefix("linux-headers-"))])
    if not found:
        raise UserError(f"the headers of Debian's {kernel} kernel are not installed: "
                        "run `tools/setup packages`")
    return found


def headers(kernel: str) -> Path:
    return Path("/usr/src") / f"linux-headers-{release(kernel)}"


def image_root(kernel: str) -> Path:
    """The directory that has boot/vmlinuz-RELEASE and lib/modules/RELEASE for the installed headers."""
    name = release(kernel)
    cached = KERNELS / name
    for root in (Path("/"), cached):
        if (root / f"boot/vmlinuz-{name}").exists() and (root / f"lib/modules/{name}/modules.dep").exists() \
                and (root / f"lib/modules/{name}/kernel").is_dir():
            return root
    with locked(KERNELS / f"{name}.lock", f"it is fetching the kernel {name}"):
        if not cached.exists():
            fetch(name, cached)
    return cached


def vmlinuz(kernel: str) -> Path:
    return image_root(kernel) / f"boot/vmlinuz-{release(kernel)}"


def fetch(name: str, where: Path) -> None:
    package = f"linux-image-{name}"
    say(f"fetching Debian's {package}, once: about 100 MB, usually half a minute ({where})")
    KERNELS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=KERNELS, prefix=f"{name}-") as scratch:
        # apt's sandbox user wants to write there.
        Path(scratch).chmod(0o755)
        got = subprocess.run(["apt-get", "download", "-q", package], cwd=scratch, check=False,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        debs = list(Path(scratch).glob("*.deb"))
        if got.returncode or not debs:
            raise UserError(f"`apt-get download {package}` failed; the vm lab wants the kernel of the "
                            "installed headers. Try `apt-get update`, or install newer headers. "
                            f"apt-get said:\n{got.stdout}")
        tree = Path(scratch) / "tree"
        subprocess.run(["dpkg", "-x", debs[0], tree], check=True)
        subprocess.run(["/sbin/depmod", "-b", tree, name], check=True)
        tree.chmod(0o755)
        shutil.move(tree, where)
