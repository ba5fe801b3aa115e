# SPDX-License-Identifier: GPL-2.0
"""Debian's stock kernels: headers to build against, images for the vm lab.

Headers that are installed are used where they are. For other kernels there are roots
(debroot.py) with headers and compiler. An image is not installed, which would change how
the user's own machine boots, but unpacked into the cache; one that is installed anyway is used.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ..util import DAVID, KERNELS, UserError, locked, say
from . import archive, debroot

# What every change is tried on, besides the newest that Debian serves.
VERSIONS = ("6.1", "6.12")
NEWEST = "newest"
# Which one that was when it was last asked for: tests of one day are about one kernel.
CHOSEN = KERNELS / "newest"
ARCH = "-amd64"


def numbers(name: str) -> list[int]:
    return [int(n) for n in re.findall(r"\d+", name)]


def newest(releases: Iterable[str]) -> str | None:
    return max(releases, key=numbers, default=None)


def of_version(releases: Iterable[str], kernel: str) -> list[str]:
    """The stock kernels among them that are of this version; no flavours such as cloud and rt."""
    pattern = re.compile(rf"{re.escape(kernel)}\.\d+(-\d+|\+deb\d+){ARCH}")
    return [name for name in releases if pattern.fullmatch(name)]


def version_of(release: str) -> str:
    return ".".join(release.split(".")[:2])


def check(kernel: str) -> None:
    """UserError if that is no name of a Debian kernel."""
    if kernel != NEWEST and not re.fullmatch(r"\d+\.\d+", kernel):
        raise UserError(f"--kernel {kernel}: want a version such as 6.12, {NEWEST}, or a directory with a "
                        "kernel's source, such as ./linux")


def version(kernel: str) -> str:
    """MAJOR.MINOR of what a user calls a kernel."""
    check(kernel)
    if kernel != NEWEST:
        return kernel
    with locked(CHOSEN.with_suffix(".lock"), "it is looking for the newest kernel"):
        if not CHOSEN.exists():
            choose()
        return version_of(CHOSEN.read_text())


def choose() -> None:
    """Remember which kernel is the newest for which there is all that the labs need."""
    sources = archive.names("linux-source-")
    release = newest(name for name in served() if f"linux-source-{version_of(name)}" in sources)
    if not release:
        raise UserError("Debian serves no kernel with headers, image and source in "
                        f"{', '.join(archive.SUITES)}")
    CHOSEN.write_text(release)
    say(f"the newest kernel that Debian serves is {release}")


def choose_again() -> None:
    archive.refresh()
    choose()


def served() -> list[str]:
    """All kernels that Debian serves with headers and image."""
    headers, images = ({name.removeprefix(start) for name in archive.names(start)}
                       for start in ("linux-headers-", "linux-image-"))
    return [name for name in headers & images if of_version([name], version_of(name))]


def installed(kernel: str) -> str | None:
    """The newest installed headers' kernel release, such as 6.1.0-42-amd64."""
    found = [p.name.removeprefix("linux-headers-") for p in Path("/usr/src").glob("linux-headers-*")]
    return newest(of_version(found, kernel))


def release(kernel: str) -> str:
    """The release that stands for this version here."""
    if kernel in VERSIONS and (name := installed(kernel)):
        return name
    chosen = CHOSEN.read_text() if CHOSEN.exists() else ""
    cached = [p.name.removeprefix("headers-") for p in KERNELS.glob(f"headers-*{ARCH}")]
    name = newest(of_version([chosen], kernel)) or newest(of_version(cached, kernel)) or \
        newest(of_version(served(), kernel))
    if not name:
        others = sorted({version_of(name) for name in served()}, key=numbers)
        raise UserError(f"Debian serves no kernel {kernel} with headers and image in "
                        f"{', '.join(archive.SUITES)}; it serves {', '.join(others)}")
    return name


def build_root(kernel: str) -> Path | None:
    """The root to build modules in, made if it is not there; None: they are built on this machine."""
    if kernel in VERSIONS and installed(kernel):
        return None
    name = release(kernel)
    root = KERNELS / f"headers-{name}"
    with locked(KERNELS / f"headers-{name}.lock", f"it is fetching the headers of {name}"):
        if not root.exists():
            where = archive.version(f"linux-headers-{name}")
            if not where:
                raise UserError(f"Debian does not serve linux-headers-{name} any more: "
                                f"run `{DAVID} lab setup newest`")
            debroot.make(root, where[1], ["gcc", "make", f"linux-headers-{name}"])
    return root


def sparse(root: Path) -> str:
    """The newest sparse that runs in this root: its release's own may not understand the headers."""
    path = "/usr/local/bin/sparse"
    there = Path(f"{root}{path}")
    codename = re.search(r"^VERSION_CODENAME=(\S+)", (root / "etc/os-release").read_text(), re.M)
    with locked(root.with_name(root.name + "-sparse.lock"), "it is fetching sparse"):
        # The newest may want a newer C library than the root's.
        for package in ("sparse", f"sparse/{codename[1]}" if codename else "sparse"):
            if there.exists() and archive.run(*debroot.command(root, [path, "--version"])).returncode == 0:
                break
            with tempfile.TemporaryDirectory(dir=KERNELS, prefix="sparse-") as scratch:
                [deb] = archive.download([package], Path(scratch))
                subprocess.run(["dpkg", "-x", deb, scratch], check=True)
                shutil.move(f"{scratch}/usr/bin/sparse", there)
    return path


def headers(kernel: str) -> Path:
    """Where the headers are, in the root if there is one."""
    return Path("/usr/src") / f"linux-headers-{release(kernel)}"


def image_root(kernel: str) -> Path:
    """The directory that has boot/vmlinuz-RELEASE and lib/modules/RELEASE for the headers."""
    name = release(kernel)
    cached = KERNELS / name
    for root in (Path("/"), cached):
        if (root / f"boot/vmlinuz-{name}").exists() and (root / f"lib/modules/{name}/modules.dep").exists() \
                and (root / f"lib/modules/{name}/kernel").is_dir():
            return root
    with locked(KERNELS / f"{name}.lock", f"it is fetching the kernel {name}"):
        if not cached.exists():
            fetch(kernel, name, cached)
    return cached


def vmlinuz(kernel: str) -> Path:
    return image_root(kernel) / f"boot/vmlinuz-{release(kernel)}"


def fetch(kernel: str, name: str, where: Path) -> None:
    package = f"linux-image-{name}"
    say(f"fetching Debian's {package}, once: about 100 MB, usually half a minute ({where})")
    KERNELS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=KERNELS, prefix=f"{name}-") as scratch:
        tree = Path(scratch) / "tree"
        for deb in download(kernel, name, Path(scratch)):
            subprocess.run(["dpkg", "-x", deb, tree], check=True)
        arrange(tree, name)
        subprocess.run(["/sbin/depmod", "-b", tree, name], check=True)
        tree.chmod(0o755)
        shutil.move(tree, where)


def download(kernel: str, name: str, scratch: Path) -> list[Path]:
    package = f"linux-image-{name}"
    if build_root(kernel):
        # Newer ones are in parts: image, binary, modules.
        return archive.download([package, *archive.depends(package, "linux-binary-"),
                                 *archive.depends(package, "linux-base-"),
                                 *archive.depends(package, "linux-modules-")], scratch)
    # apt's sandbox user wants to write there.
    scratch.chmod(0o755)
    # For some days after its headers there is a kernel that nobody has signed yet: the same one.
    for name_there in (package, f"{package}-unsigned"):
        got = archive.run("apt-get", "download", "-q", name_there, cwd=scratch)
        debs = list(scratch.glob("*.deb"))
        if debs and not got.returncode:
            break
    else:
        raise UserError(f"`apt-get download {package}` failed; the vm lab wants the kernel of the "
                        "installed headers. Try `apt-get update`, or install newer headers. "
                        f"apt-get said:\n{got.stdout}")
    return debs


def arrange(tree: Path, name: str) -> None:
    """Newer packages have all in usr/lib/modules: put it where older ones have it."""
    modules = tree / "usr/lib/modules"
    if not modules.is_dir():
        return
    (tree / "lib").mkdir(exist_ok=True)
    modules.rename(tree / "lib/modules")
    (tree / "boot").mkdir(exist_ok=True)
    if not (tree / f"boot/vmlinuz-{name}").exists():
        (tree / f"lib/modules/{name}/vmlinuz").rename(tree / f"boot/vmlinuz-{name}")
