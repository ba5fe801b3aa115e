# SPDX-License-Identifier: GPL-2.0
"""How what is missing is brought, by the distribution that this machine has. Packages go by Debian's names.

Debian 12 and 13 are tried by tests. The names of Fedora and Arch were looked up, and never tried there, nor
was Ubuntu: who is told of them is told that.
"""

from __future__ import annotations

from functools import cache

from .util import INSTALLED

# Debian's name: Fedora's, Arch's.
NAMES: dict[str, tuple[str, str]] = {
    "bc": ("bc", "bc"),
    "bison": ("bison", "bison"),
    "btrfs-progs": ("btrfs-progs", "btrfs-progs"),
    "busybox-static": ("busybox", "busybox"),
    "cpio": ("cpio", "cpio"),
    "dmsetup": ("device-mapper", "device-mapper"),
    "e2fsprogs": ("e2fsprogs", "e2fsprogs"),
    "f2fs-tools": ("f2fs-tools", "f2fs-tools"),
    "fio": ("fio", "fio"),
    "flex": ("flex", "flex"),
    "gcc": ("gcc", "gcc"),
    "kmod": ("kmod", "kmod"),
    "libc6-dev": ("glibc-devel", "glibc"),
    "libelf-dev": ("elfutils-libelf-devel", "libelf"),
    "libsqlite3-dev": ("sqlite-devel", "sqlite"),
    "libssl-dev": ("openssl-devel", "openssl"),
    "libzstd-dev": ("libzstd-devel", "zstd"),
    "make": ("make", "make"),
    "mdadm": ("mdadm", "mdadm"),
    "mmdebstrap": ("mmdebstrap", "mmdebstrap"),
    "nilfs-tools": ("nilfs-utils", "nilfs-utils"),
    "patch": ("patch", "patch"),
    "perl": ("perl", "perl"),
    "python3-venv": ("python3", "python"),
    "qemu-system-x86": ("qemu-system-x86", "qemu-system-x86"),
    "util-linux": ("util-linux", "util-linux"),
    "xfsprogs": ("xfsprogs", "xfsprogs"),
    "xz-utils": ("xz", "xz"),
    "zlib1g-dev": ("zlib-devel", "zlib"),
}
# By the word of os-release: what brings packages, and which of a row's names they have.
FAMILIES = {"debian": ("apt-get install", 0), "fedora": ("dnf install", 1), "arch": ("pacman -S", 2)}


@cache
def family() -> tuple[str, str]:
    """Of FAMILIES, or "" for another; and what the distribution calls itself."""
    import platform  # for an error only: it takes longer than a small command's own modules

    try:
        said = platform.freedesktop_os_release()
    except OSError:
        said = {}
    own = said.get("ID", "")
    words = [own, *said.get("ID_LIKE", "").split()]
    return next((word for word in words if word in FAMILIES), ""), own


def to_get(*packages: str) -> str:
    """What brings these packages, by Debian's names: for errors."""
    of, own = family()
    if own == "debian" and not INSTALLED:
        return "run `tools/setup packages`"
    if not of:
        return f"Debian calls the packages {' '.join(packages)}"
    brings, column = FAMILIES[of]
    names = [(package, *NAMES.get(package, (package, package)))[column] for package in packages]
    tried = "" if own == "debian" else f" (not tried on {own})"
    return f"{brings} {' '.join(dict.fromkeys(names))}{tried}"
