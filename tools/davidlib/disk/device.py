# SPDX-License-Identifier: GPL-2.0
"""david create, remove, resize and list: fake disks made, removed and looked at.

The kernel checks the table line itself and strictly. What is checked here is what the kernel cannot say well:
who uses a device, whether something of value stands on the backing device, what to do about it.
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import stat
import sys
import time
from dataclasses import dataclass

from ..command import Commands, add
from ..drive import profileword
from ..sizes import SECTOR, format_both, format_size, size_arg
from ..util import DAVID, INSTALLED
from . import dm, lateness, plan, pools, since, stats
from .dm import DeviceError
from .kmsg import KernelLog

MODES = ("timing-accurate", "speedup", "model-only")
CLASSIFY = ("auto", "implicit", "explicit", "keep", "data")
STORE_MAGIC = b"dm-david store\n\0"
CONTENT = ("incompressible", "zeros", "compressible:20 to compressible:1000", "text", "pattern:HEX", "stamp")


@dataclass(frozen=True)
class OneOf:
    """An argparse type: one of these words. A shell's completion offers them."""

    words: tuple[str, ...]

    def __call__(self, text: str) -> str:
        if text not in self.words:
            raise argparse.ArgumentTypeError(f"'{text}' is not one of {', '.join(self.words)}")
        return text


def _content(text: str) -> str:
    """The kind only: the module says what is wrong with its value."""
    if text.partition(":")[0] not in {kind.partition(":")[0] for kind in CONTENT}:
        raise argparse.ArgumentTypeError(f"'{text}' is not one of {', '.join(CONTENT)}")
    return text


def name_arg(text: str) -> str:
    # device-mapper's own set: other characters would be replaced by \\xNN in /dev/mapper.
    if not re.fullmatch(r"[A-Za-z0-9#+.:=@_][A-Za-z0-9#+.:=@_-]*", text) or len(text) >= stats.NAME_LEN:
        raise argparse.ArgumentTypeError(
            f"'{text}' cannot be a device's name; use up to {stats.NAME_LEN - 1} letters, digits and #+-.:=@_"
        )
    return text


def _option(text: str) -> str:
    key, equals, value = text.partition("=")
    if not key or not equals or not value or any(char.isspace() for char in text):
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form KEY=VALUE, without spaces")
    if key in ("mode", "classify", "content", "profile"):
        raise argparse.ArgumentTypeError(f"'{text}': use --{key} {value}")
    return text


def need_root(what: str) -> None:
    if os.geteuid():
        lab = "" if INSTALLED else f", or try it in a lab: {DAVID} lab run -- COMMAND"
        raise DeviceError(f"{what} needs root: sudo {DAVID} {what} ...{lab}")


def check_backing(path: str, format_it: bool) -> None:
    """Refuse what is no block device, in use, or carries something that the store would overwrite."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise DeviceError(f"--backing {path}: {error.strerror}; name a block device (see lsblk)") from None
    if not stat.S_ISBLK(mode):
        remedy = "make one of it: losetup --find --show FILE" if stat.S_ISREG(mode) else "see lsblk"
        raise DeviceError(f"--backing {path}: not a block device; {remedy}")
    try:
        # O_EXCL on a block device is refused while anyone has claimed it: a mount, md, dm, swap.
        os.close(os.open(path, os.O_RDWR | os.O_EXCL | os.O_CLOEXEC))
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise DeviceError(f"--backing {path}: cannot be opened for writing: {error.strerror}") from None
        number = os.stat(path).st_rdev
        who = dm.users(f"{os.major(number)}:{os.minor(number)}")
        raise DeviceError(
            f"--backing {path}: in use ({', '.join(who) or 'claimed by the kernel, perhaps swap or RAID'}); "
            "free it first, or name another device"
        ) from None
    if format_it or is_store(path):
        return
    if pool := pools.pool_name(path):
        raise DeviceError(f"--backing {path}: a pool, destroyed by --format; a disk in it: --pool {pool}")
    done = dm.run("wipefs", "--no-act", "--noheadings", "--output", "TYPE", path)
    if done.returncode:
        raise DeviceError(f"--backing {path}: cannot be looked at: {done.stderr.strip()}")
    found = sorted(set(done.stdout.split()))
    if found:
        raise DeviceError(
            f"--backing {path}: carries {', '.join(found)}, which would be overwritten; "
            "give --format if nothing on it is needed any more, or name another device"
        )


def is_store(path: str) -> bool:
    """A store of dm-david: what stood there before it may show through, but is gone."""
    with open(path, "rb") as file:
        return file.read(len(STORE_MAGIC)) == STORE_MAGIC


def table_line(args: argparse.Namespace, profile: profileword.Word | None) -> str:
    words = [f"classify={args.classify}", f"content={args.content}", *args.option]
    if args.pool:
        words.append(f"pool={args.name}")
    if args.format and not any(word.startswith("store=") for word in args.option):
        words.append("store=format")
    if args.mode:
        words.insert(0, f"mode={args.mode}")
    if profile:
        words.append(f"profile={profile.text()}")
    return f"0 {args.size // SECTOR} {dm.TARGET} {args.backing} {len(words)} {' '.join(words)}"


def kernel_says(lines: list[str]) -> str:
    """The newest line of the kernel log about a david table, without what names only the place."""
    mine = [line for line in lines if "device-mapper" in line and dm.TARGET in line]
    if not mine:
        return ""
    return mine[-1].removeprefix("device-mapper: ").removeprefix("table: ").split(f"{dm.TARGET}: ", 1)[-1]


def _shortened(words: str) -> str:
    """A table line, or its words, with the name of the profile in place of all of it."""
    return re.sub(r"profile=(?:\S*?;)?name=([^;\s]*)\S*", r"profile=\1", words)


def _check_mode(args: argparse.Namespace) -> None:
    if args.profile:
        return
    if args.mode not in (None, "speedup"):
        raise DeviceError(f"--mode {args.mode}: times need a drive; name one with --profile")
    if args.profile_option:
        raise DeviceError("--profile-option: there is no --profile that it could change")


def _settle_size(args: argparse.Namespace, profile: profileword.Word | None) -> None:
    """--size, or the drive's own; another one is another drive, and is said."""
    drive = profile.capacity() if profile else 0
    if args.size is None:
        if not drive:
            raise DeviceError("--size: needed without --profile, whose drive's size it would be")
        args.size = drive
    if drive and args.size != drive:
        print(
            f"david: --size: the drive has {format_both(drive)}. It is scaled to {format_both(args.size)}, "
            f"{100 * args.size / drive:.4g} % of it: zones and seeks keep their share. "
            "Without --size it has its own.",
            file=sys.stderr,
        )


def _check_room(args: argparse.Namespace) -> None:
    """Warn where mkfs would end without space. It may be given other parameters: nothing is refused."""
    if args.classify in ("data", "keep") or args.mode == "model-only":
        return
    if is_store(args.backing) and not args.format:
        return
    if said := plan.warning(args.size, dm.size_of(args.backing)):
        print(f"david: --backing {args.backing}: {said}", file=sys.stderr)


def _find_backing(args: argparse.Namespace) -> None:
    """--backing, or the device of --pool."""
    if not args.pool and not args.backing:
        raise DeviceError("--backing or --pool: one of them is needed, for what is kept")
    if not args.pool:
        check_backing(args.backing, args.format)
        _check_room(args)
        return
    for given, word in ((args.backing, "--backing"), (args.format, "--format")):
        if given:
            raise DeviceError(f"{word}: not with --pool, whose device it would be; see david pool --help")
    if args.mode == "model-only":
        raise DeviceError("--mode model-only: stores all at its own place, which a pool's disk does not have")
    args.backing = pools.find(args.pool)


def create(args: argparse.Namespace) -> int:
    need_root("create")
    _check_mode(args)
    profile = profileword.load(args.profile, args.profile_option) if args.profile else None
    _settle_size(args, profile)
    dm.load_module()
    if dm.exists(args.name):
        raise DeviceError(f"NAME {args.name}: in use; choose another, or first: david remove {args.name}")
    _find_backing(args)
    table = table_line(args, profile)
    with KernelLog() as log:
        try:
            dm.dmsetup("create", args.name, "--uuid", dm.UUID + args.name, "--table", table)
        except DeviceError as error:
            says = kernel_says(log.new_lines())
            if profile:
                says = profile.explain(says)
            # dmsetup takes back a device whose table was refused; make sure, nothing half-made may stay.
            if dm.exists(args.name):
                dm.run("dmsetup", "remove", args.name)
            table = _shortened(table)
            raise DeviceError(f"the kernel refuses the device: {says or error} (table: {table})") from None
    dm.make_node(args.name)
    drive = f", {args.mode or 'timing-accurate'}, drive {profile.name()}" if profile else ""
    print(f"/dev/mapper/{args.name}: {format_size(args.size)} on {args.backing}{drive}")
    return 0


def need_disk(name: str) -> None:
    """DeviceError unless there is a david device of that name."""
    if name in (device.name for device in dm.devices()):
        return
    if dm.exists(name):
        raise DeviceError(f"NAME {name}: not a david device; dmsetup handles the others")
    raise DeviceError(f"NAME {name}: no such device; 'david list' shows those there are")


def _last_word(name: str) -> str:
    """On the times of a disk that is about to go; "" if none were delivered."""
    try:
        verdict = lateness.verdict(stats.as_dict(stats.fetch(name)))
    except stats.StatsError:
        return ""
    return "" if verdict.good is None else f"{name}: its times were {verdict}"


def remove(args: argparse.Namespace) -> int:
    need_root("remove")
    need_disk(args.name)
    number = dm.minor(args.name)
    said = _last_word(args.name)
    deadline = time.monotonic() + args.wait
    while True:
        done = dm.run("dmsetup", "remove", args.name)
        if done.returncode == 0:
            since.drop_mark(args.name)
            if said:
                print(said)
            return 0
        if "busy" not in done.stderr:
            raise DeviceError(f"NAME {args.name}: {done.stderr.strip()}")
        if time.monotonic() >= deadline:
            break
        time.sleep(0.1)
    who = dm.users(number)
    raise DeviceError(
        f"NAME {args.name}: busy for {args.wait:g} s ({', '.join(who) or 'opened by someone out of sight'}); "
        "unmount it or end what has it open, then try again"
    )


def _store_size(name: str) -> tuple[int, int]:
    """Blocks of the store, and bytes of a block."""
    words = stats.parse_words(dm.dmsetup("status", name))
    return int(words["store_blocks"]), int(words["block_size"])


def resize(args: argparse.Namespace) -> int:
    """The table line again, with another length or for a larger backing device: the store goes on, requests
    wait for a moment.
    """
    need_root("resize")
    if not args.size and not args.backing:
        raise DeviceError("nothing to do: give a SIZE, or --backing")
    need_disk(args.name)
    table = dm.dmsetup("table", args.name)
    if len(table.splitlines()) != 1:
        raise DeviceError(f"NAME {args.name}: its table has more than one line; use dmsetup")
    fields = table.split()
    old = int(fields[1])
    new = args.size // SECTOR if args.size else old
    pooled = any(field.startswith("pool=") for field in fields)
    if args.backing and pooled:
        raise DeviceError("--backing: the disk is of a pool: david pool grow")
    if new < old:
        raise DeviceError(
            f"SIZE {format_size(args.size)}: the disk has {format_size(old * SECTOR)}, and what is behind "
            "its new end would be lost; a disk can only grow"
        )
    fields[1] = str(new)
    blocks, block = _store_size(args.name)
    # One that was the default is the default again.
    if fields.count(f"low_water={blocks // 16}"):
        fields.remove(f"low_water={blocks // 16}")
        fields[4] = str(int(fields[4]) - 1)
    with KernelLog() as log:
        try:
            dm.dmsetup("load", args.name, "--table", " ".join(fields))
        except DeviceError as error:
            says = kernel_says(log.new_lines())
            raise DeviceError(f"the kernel refuses the new size: {says or error}") from None
        # Suspends the disk as it is, waits for requests under way, and resumes with the new table. The file
        # system need not be frozen, and one that gave up when the store was full cannot be.
        try:
            dm.dmsetup("resume", "--nolockfs", args.name)
        except DeviceError as error:
            says = kernel_says(log.new_lines())
            raise DeviceError(f"NAME {args.name}: cannot go on: {says or error}; see dmsetup info") from None
        grown, _ = _store_size(args.name)
        if args.backing and grown == blocks:
            says = kernel_says(log.new_lines())
            remedy = says or "make it larger first: lvextend, or truncate and losetup --set-capacity"
            node, size = dm.device_node(fields[3]), format_size(blocks * block)
            raise DeviceError(f"--backing: all that {node} has for blocks, {size}, is used already; {remedy}")
    if new != old:
        print(f"/dev/mapper/{args.name}: {format_size(old * SECTOR)}, now {format_size(new * SECTOR)}")
    if grown != blocks and not pooled:
        print(f"its store: {format_size(blocks * block)}, now {format_size(grown * block)}")
    return 0


def list_devices(_args: argparse.Namespace) -> int:
    need_root("list")
    rows = [("NAME", "SIZE", "BACKING", "STATE", "STORE USED", "OPTIONS")]
    for device in dm.devices():
        status = stats.parse_words(dm.dmsetup("status", device.name))
        used = total = "?"
        if {"store_used", "store_blocks", "block_size"} <= status.keys():
            block = int(status["block_size"])
            used = format_size(int(status["store_used"]) * block)
            total = format_size(int(status["store_blocks"]) * block)
        rows.append(
            (
                device.name,
                format_size(device.sectors * SECTOR),
                device.backing,
                status.get("state", "?"),
                f"{used} of {total}",
                _shortened(" ".join(device.words)),
            )
        )
    if len(rows) == 1:
        print("no david devices; 'david create --help' tells how to make one", file=sys.stderr)
        return 0
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def add_drive_options(parser: argparse.ArgumentParser) -> None:
    """What a disk is, beside its name, size and store."""
    parser.add_argument(
        "--profile",
        metavar="P",
        help="drive whose times and properties the disk takes, scaled to its size: a name in profiles/ "
        "(see david profile list), or a file",
    )
    parser.add_argument(
        "--profile-option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change a parameter of the profile, such as write_cache=off; repeatable",
    )
    parser.add_argument(
        "--mode",
        type=OneOf(MODES),
        metavar="MODE",
        help="timing-accurate (default with --profile): requests complete when the drive would have; speedup "
        "(default without): at once, the drive's time is only added up; model-only: everything is "
        "stored, on a backing device as large as the disk, and its times are compared with the drive's",
    )
    parser.add_argument(
        "--classify",
        type=OneOf(CLASSIFY),
        default="auto",
        metavar="HOW",
        help="what is kept: auto (default): all but file data, by request flags and page owner, where what "
        "is written does not object; explicit: by flags and owner alone; implicit: by what is written, where "
        "ext2, ext3, ext4, xfs or btrfs is mounted by a guest, over a network or behind a loop device; keep: "
        "everything; data: nothing but constant blocks, for benchmarks of the raw disk",
    )
    parser.add_argument(
        "--content",
        type=_content,
        default="incompressible",
        metavar="KIND",
        help="what squashed blocks read as: incompressible (default), zeros, compressible:THOUSANDTHS, text, "
        "pattern:HEX or stamp",
    )
    parser.add_argument(
        "--option",
        "-o",
        type=_option,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="seed=N: of the made-up content; block_size=512|1024|2048|4096 (default 4096); "
        "low_water=BLOCKS: free blocks of the store below which an event is raised; "
        "unclassified=MB: with classify=implicit, what may wait for an inode (default 64); "
        "checksums=auto|on|off, "
        "checksum_memory=MB: of squashed data, for btrfs; exact=MB: the newest data is stored; "
        "table_memory=MB: the range table's bound (default a quarter of all memory); "
        "files=default: files read as well-formed ones by their suffix; raw=RULE,...: see david raw; "
        "pool_reserve=BLOCKS: of a new disk of a pool, that the others cannot take (default 1/256 of it), "
        "pool_log=PAGES: its log (default 1/128); "
        "repeatable",
    )
    parser.add_argument(
        "--format", action="store_true", help="make a new store, whatever is on the backing device"
    )


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

    text = "remove a fake disk; what it held stays on the backing device"
    parser = add(sub, "remove", remove, text, f"  {DAVID} remove big")
    parser.add_argument("name", metavar="NAME", type=name_arg)
    parser.add_argument(
        "--wait",
        type=float,
        default=5,
        metavar="SECONDS",
        help="how long to wait for those who have it open (default %(default)s)",
    )

    text = "grow a fake disk, or its store, while it is in use; the file system has to be told of the disk's"
    parser = add(
        sub,
        "resize",
        resize,
        text,
        f"  {DAVID} resize big 2T && resize2fs /dev/mapper/big\n"
        f"  lvextend -L +10G vg/backing && {DAVID} resize big --backing",
    )
    parser.add_argument("name", metavar="NAME", type=name_arg)
    parser.add_argument(
        "size", metavar="SIZE", type=size_arg, nargs="?", help="the new size; see david create --help"
    )
    parser.add_argument(
        "--backing", action="store_true", help="use the backing device to its end, now that it is larger"
    )

    add(sub, "list", list_devices, "list the fake disks", f"  {DAVID} list")
