# SPDX-License-Identifier: GPL-2.0
"""david create: a fake disk is made.

create_disk() is for programs, create() for the command line. The kernel checks the table line itself and
strictly. What is checked here is what the kernel cannot say well: who uses a device, whether something of
value stands on the backing device, what to do about it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace

from ..command import Commands, add
from ..drive import profileword
from ..sizes import SECTOR, format_both, format_size, size_arg
from ..util import DAVID
from . import dm, plan, pools
from .backing import check_backing, is_store
from .dm import DeviceError, need_root
from .kmsg import KernelLog, kernel_says
from .parameters import DiskParameters, add_drive_options, name_arg, of_options


@dataclass(frozen=True)
class Disk:
    """One that was made."""

    path: str
    size: int
    backing: str
    drive: str  # its name; "" without
    mode: str

    def __str__(self) -> str:
        drive = f", {self.mode}, drive {self.drive}" if self.drive else ""
        return f"{self.path}: {format_size(self.size)} on {self.backing}{drive}"


def table_line(disk: DiskParameters, profile: profileword.Word | None) -> str:
    words = [f"classify={disk.classify}", f"content={disk.content}", *disk.options]
    if disk.pool:
        words.append(f"pool={disk.name}")
    if disk.format and not any(word.startswith("store=") for word in disk.options):
        words.append("store=format")
    if disk.mode:
        words.insert(0, f"mode={disk.mode}")
    if profile:
        words.append(f"profile={profile.text()}")
    return f"0 {disk.size // SECTOR} {dm.TARGET} {disk.backing} {len(words)} {' '.join(words)}"


def _check_mode(disk: DiskParameters) -> None:
    if disk.profile:
        return
    if disk.mode not in ("", "speedup"):
        raise DeviceError(f"--mode {disk.mode}: times need a drive; name one with --profile")
    if disk.profile_options:
        raise DeviceError("--profile-option: there is no --profile that it could change")


def _size_of(disk: DiskParameters, profile: profileword.Word | None) -> int:
    """The size that was asked for, or the drive's own; another one is another drive, and is said."""
    drive = profile.capacity() if profile else 0
    size = disk.size or drive
    if not size:
        raise DeviceError("--size: needed without --profile, whose drive's size it would be")
    if drive and size != drive:
        print(
            f"david: --size: the drive has {format_both(drive)}. It is scaled to {format_both(size)}, "
            f"{100 * size / drive:.4g} % of it: zones and seeks keep their share. "
            "Without --size it has its own.",
            file=sys.stderr,
        )
    return size


def _check_room(disk: DiskParameters) -> None:
    """Warn where mkfs would end without space. It may be given other parameters: nothing is refused."""
    if disk.classify in ("data", "keep") or disk.mode == "model-only":
        return
    if is_store(disk.backing) and not disk.format:
        return
    if said := plan.warning(disk.size, dm.size_of(disk.backing)):
        print(f"david: --backing {disk.backing}: {said}", file=sys.stderr)


def _backing_of(disk: DiskParameters) -> str:
    """The backing device, or that of the pool."""
    if not disk.pool and not disk.backing:
        raise DeviceError("--backing or --pool: one of them is needed, for what is kept")
    if not disk.pool:
        check_backing(disk.backing, disk.format)
        _check_room(disk)
        return disk.backing
    for given, word in ((disk.backing, "--backing"), (disk.format, "--format")):
        if given:
            raise DeviceError(f"{word}: not with --pool, whose device it would be; see david pool --help")
    if disk.mode == "model-only":
        raise DeviceError("--mode model-only: stores all at its own place, which a pool's disk does not have")
    return pools.find(disk.pool)


def create_disk(wanted: DiskParameters) -> Disk:
    """Make a fake disk. DeviceError says in the words of the options what is in its way."""
    need_root("create")
    _check_mode(wanted)
    profile = profileword.load(wanted.profile, list(wanted.profile_options)) if wanted.profile else None
    disk = replace(wanted, size=_size_of(wanted, profile))
    dm.load_module()
    if dm.exists(disk.name):
        raise DeviceError(f"NAME {disk.name}: in use; choose another, or first: david remove {disk.name}")
    disk = replace(disk, backing=_backing_of(disk))
    table = table_line(disk, profile)
    with KernelLog() as log:
        try:
            dm.dmsetup("create", disk.name, "--uuid", dm.UUID + disk.name, "--table", table)
        except DeviceError as error:
            says = kernel_says(log.new_lines())
            if profile:
                says = profile.explain(says)
            # dmsetup takes back a device whose table was refused; make sure, nothing half-made may stay.
            if dm.exists(disk.name):
                dm.run("dmsetup", "remove", disk.name)
            table = dm.shortened(table)
            raise DeviceError(f"the kernel refuses the device: {says or error} (table: {table})") from None
    dm.make_node(disk.name)
    name = profile.name() if profile else ""
    return Disk(f"/dev/mapper/{disk.name}", disk.size, disk.backing, name, disk.mode or "timing-accurate")


def create(args: argparse.Namespace) -> int:
    print(create_disk(of_options(args)))
    return 0


def add_parsers(sub: Commands) -> None:
    parser = add(
        sub,
        "create",
        create,
        "make a fake disk, /dev/mapper/NAME",
        "  modprobe brd rd_nr=1 rd_size=131072\n"
        f"  {DAVID} create big --size 1T --backing /dev/ram0 --profile hitachi-hds721010kla330\n"
        "  mkfs.ext4 /dev/mapper/big && mount /dev/mapper/big /mnt",
    )
    parser.add_argument("name", metavar="NAME", type=name_arg, help="device-mapper name of the new disk")
    parser.add_argument(
        "--size",
        type=size_arg,
        metavar="SIZE",
        help="size of the fake disk, a multiple of 512 bytes: 1T, 1.5T, 100G, 512M, 64K or bytes in powers "
        "of 1024, 20TB in powers of 1000 (default: that of the drive in --profile, which is scaled to "
        "any other)",
    )
    parser.add_argument(
        "--backing",
        metavar="DEV",
        help="block device that holds what is kept: a store, which is opened, or blank (or --format)",
    )
    parser.add_argument(
        "--pool",
        metavar="POOL",
        help="instead of --backing: a pool, by its name or device, that holds what is kept of this and other "
        "disks; it opens its disk of this name, or makes one (see david pool)",
    )
    add_drive_options(parser)
