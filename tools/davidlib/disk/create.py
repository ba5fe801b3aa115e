# SPDX-License-Identifier: GPL-2.0
"""david create: a fake disk is made.

create_disk() is for programs, create() for the command line. The kernel checks the table line itself and
strictly. What is checked here is what the kernel cannot say well: who uses a device, whether something of
value stands on the backing device, what to do about it.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext
from dataclasses import dataclass, replace

from ..command import Commands, add
from ..drive import profileword
from ..sizes import SECTOR, format_both, format_size, size_arg
from ..util import DAVID
from . import dm, plan, pools, zones
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


def table_line(disk: DiskParameters, profile: profileword.Word | None, zoned: str = "") -> str:
    """ZONED is the device that has the disk's zones."""
    words = [f"classify={disk.classify}", f"content={disk.content}", *disk.options]
    if zoned:
        words.append(f"zones={zoned}")
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


def kept_in_scaling(has_zones: bool) -> str:
    """Of zones, the host's or a platter's, and of seeks, where a disk is of another size than its drive."""
    return "zones keep their size, seeks their share" if has_zones else "zones and seeks keep their share"


def _size_of(disk: DiskParameters, profile: profileword.Word | None) -> int:
    """The size that was asked for, or the drive's own; another one is another drive, and is said."""
    drive = profile.capacity() if profile else 0
    size = disk.size or drive
    if not size:
        raise DeviceError("--size: needed without --profile, whose drive's size it would be")
    if drive and size != drive:
        kept = kept_in_scaling(profile.has_zones if profile else False)
        print(
            f"david: --size: the drive has {format_both(drive)}. It is scaled to {format_both(size)}, "
            f"{100 * size / drive:.4g} % of it: {kept}. Without --size it has its own.",
            file=sys.stderr,
        )
    return size


def _zones_of(disk: DiskParameters, profile: profileword.Word | None) -> zones.Shape | None:
    """The zones that are to be made for the disk. Who names a zoned device has made them."""
    if any(word.startswith("zones=") for word in disk.options):
        return None
    shape = zones.of_profile(profile, disk.size)
    if shape and disk.pool:
        raise DeviceError("--pool: not for a drive with zones, whose disk needs a backing device of its own")
    if shape and disk.mode == "model-only":
        raise DeviceError("--mode model-only: not for a drive with zones, as the backing device has none")
    return shape


def _with_block(disk: DiskParameters, shape: zones.Shape | None) -> DiskParameters:
    """Blocks that are no larger than what the drive writes, if nothing else was asked for."""
    if not shape or any(word.startswith("block_size=") for word in disk.options):
        return disk
    block = zones.block_of(shape)
    return disk if block == zones.DEFAULT_BLOCK else replace(
        disk, options=(*disk.options, f"block_size={block}"))


def _check_room(disk: DiskParameters) -> None:
    """Warn where mkfs would end without space. It may be given other parameters: nothing is refused."""
    if disk.classify in ("data", "keep") or disk.mode == "model-only":
        return
    if is_store(disk.backing) and not disk.format:
        return
    if said := plan.warning(disk.size, dm.size_of(disk.backing)):
        print(f"david: --backing {disk.backing}: {said}", file=sys.stderr)


def _backing_of(disk: DiskParameters, with_zones: bool) -> str:
    """The backing device, or that of the pool. What needs room is known of disks without zones."""
    if not disk.pool and not disk.backing:
        raise DeviceError("--backing or --pool: one of them is needed, for what is kept")
    if not disk.pool:
        check_backing(disk.backing, disk.format)
        if not with_zones:
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
    shape = _zones_of(disk, profile)
    dm.load_module()
    if dm.exists(disk.name):
        raise DeviceError(f"NAME {disk.name}: in use; choose another, or first: david remove {disk.name}")
    disk = _with_block(replace(disk, backing=_backing_of(disk, bool(profile and profile.has_zones))), shape)
    name = profile.name() if profile else ""
    with zones.made(disk.name, shape, name) if shape else nullcontext("") as zoned:
        try:
            _make(disk, profile, table_line(disk, profile, zoned))
        except BaseException:
            # dmsetup takes back a device whose table was refused; make sure, nothing half-made may stay.
            if dm.exists(disk.name):
                dm.run("dmsetup", "remove", "--retry", disk.name)
            raise
    return Disk(f"/dev/mapper/{disk.name}", disk.size, disk.backing, name, disk.mode or "timing-accurate")


def _make(disk: DiskParameters, profile: profileword.Word | None, table: str) -> None:
    """The device of this table, or none."""
    with KernelLog() as log:
        try:
            dm.dmsetup("create", disk.name, "--uuid", dm.UUID + disk.name, "--table", table)
        except DeviceError as error:
            says = kernel_says(log.new_lines())
            if profile:
                says = profile.explain(says)
            table = dm.shortened(table)
            raise DeviceError(f"the kernel refuses the device: {says or error} (table: {table})") from None
    dm.make_node(disk.name)


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
