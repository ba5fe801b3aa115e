# SPDX-License-Identifier: GPL-2.0
"""What test programs need inside a lab: commands, backing devices, fake disks, and the kernel's
complaints.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import fcntl
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from weakref import WeakSet

from davidlib import sizes, util  # noqa: F401
from davidlib.disk import array, check, create, device, dm, fault, info, kmsg
from davidlib.disk import packing, pool, rawrules, setting, show, stack, stats, top
from davidlib.drive import profileword  # noqa: F401

from helpers import devmapper, udev
from helpers.sparse import data_runs
from helpers.units import DEBUG_KERNEL

TREE = Path(__file__).resolve().parents[3]
DAVID = str(TREE / "tools" / "david")
SCRATCH = Path("/tmp/david-tests")
MOUNT_FLAGS = {"ro": 1, "sync": 16, "noatime": 1024}
libc = ctypes.CDLL(None, use_errno=True)

# What no run may leave in the kernel log.
COMPLAINTS = re.compile(
    r"BUG:|WARNING:|Oops|Call Trace|possible (recursive|circular) locking|inconsistent lock state|"
    r"blocked for more than|UBSAN|KASAN|EXT4-fs (error|warning)|EXT2-fs.*error|"
    r"BTRFS (error|critical|warning)|XFS .*([Cc]orruption|error|Unmount and run)|I/O error|JBD2: .*error"
)
# Known and none of ours: said on every mount of the kind; and udev, in the vm, may find the reference's
# btrfs on the loop device below dm-linear as well. And when btrfs replays its log, replay_one_extent() reads
# 53 bytes, as of a regular extent, of what may be an inline one at a leaf's end (6.12, fs/btrfs/tree-log.c).
HARMLESS = re.compile(
    r"mounting with \"discard\"|checking for lazytime|(has been|is being) deprecated|EXPERIMENTAL|"
    r"BTRFS warning: duplicate device /dev/loop\d+ .* scanned by|"
    r"BTRFS warning .*: access to eb bytenr \d+ len \d+ out of range start \d+ len 53$"
)


class Failed(Exception):
    """A check did not hold; the text is for the one who reads the test's report."""


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@cache
def program(name: str) -> str:
    """Its path: an exec that fails in each directory of PATH costs much in a lab."""
    return shutil.which(name, path=dm.environment()["PATH"]) or name


def run(*command: str, ok: tuple[int, ...] = (0,), env: dict[str, str] | None = None) -> str:
    """Output of a command; with an unwanted exit status, Failed with the end of what it said."""
    if command[0] == "dmsetup" and (said := devmapper.output(*command[1:])) is not None:
        return said
    words = [program(command[0]), *command[1:]]
    done = subprocess.run(
        words, env={**dm.environment(), **(env or {})}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output = done.stdout.decode(errors="replace")
    if done.returncode not in ok:
        raise Failed(f"{' '.join(command)}: exit status {done.returncode}: {output.strip()[-1500:]}")
    return output


@cache
def david_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="david")
    commands = parser.add_subparsers()
    for module in (array, create, device, show, top, check, fault, info, packing, pool, setting, rawrules,
                   stack):
        module.add_parsers(commands)
    return parser


def david(*args: str) -> str:
    """tools/david in this process: a start of Python takes seconds in a lab without KVM."""
    parsed = david_parser().parse_args(args)
    output = io.StringIO()
    with redirect_stdout(output):
        try:
            status = parsed.func(parsed)
        except util.UserError as error:
            raise Failed(f"david {' '.join(args)}: {error}") from None
    if status:
        raise Failed(f"david {' '.join(args)}: exit status {status}")
    return output.getvalue()


def complaint(*args: str) -> str:
    """Why david(ARGS) is refused."""
    try:
        david(*args)
    except Failed as error:
        return str(error)
    raise Failed(f"david {' '.join(args)}: not refused")


def leaks() -> str:
    """What kmemleak finds of this module's, "" without a kernel that has it."""
    report = Path("/sys/kernel/debug/kmemleak")
    if not report.exists():
        subprocess.run(["mount", "-t", "debugfs", "debugfs", "/sys/kernel/debug"], capture_output=True)
    if not report.exists():
        if DEBUG_KERNEL:
            raise Failed(f"the debug kernel has no {report}")
        return ""
    for _ in range(2):  # what was just freed or moved may be taken for a leak once
        report.write_text("scan")
        time.sleep(1)
    found = report.read_text().split("unreferenced object")[1:]
    return "".join(text for text in found if "david" in text)


class Complaints:
    """The kernel log from now on. What writes more than fits there calls read_along() meanwhile."""

    def __init__(self) -> None:
        self.log = kmsg.KernelLog()
        self.heard: list[str] = []
        if self.log.fd < 0:
            raise Failed("the kernel log cannot be read: no complaint would be heard")
        ALL_COMPLAINTS.add(self)

    def read(self) -> None:
        self.heard += [
            text for text in self.log.new_lines() if COMPLAINTS.search(text) and not HARMLESS.search(text)
        ]
        if self.log.lost:
            self.heard.append("some of the kernel log was overwritten before it could be read for complaints")
            self.log.lost = 0

    def found(self) -> list[str]:
        self.read()
        found, self.heard = self.heard, []
        return found


ALL_COMPLAINTS: WeakSet[Complaints] = WeakSet()


def busy() -> float:
    """Seconds of CPU time that this machine, the lab, has spent on everything since it was started."""
    spent = list(map(int, Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]))
    idle = sum(spent[3:5])  # idle, waiting for a device
    return (sum(spent) - idle) / os.sysconf("SC_CLK_TCK")


def read_along() -> None:
    """Read what the kernel log has, for everybody who listens for complaints."""
    for complaints in ALL_COMPLAINTS:
        complaints.read()


def settle_size(device: str, size: int) -> str:
    with open(device, "rb") as file:
        real = file.seek(0, os.SEEK_END)
    if real != size:
        raise Failed(f"{device} has {real} bytes instead of {size}")
    return device


def built_in_ram_disk(size: int) -> str:
    """A brd that came with the kernel, if it has that size."""
    for path in sorted(Path("/sys/block").glob("ram*/size")):
        device = f"/dev/{path.parent.name}"
        number = f"{path.parent.joinpath('dev').read_text().strip()}"
        if int(path.read_text()) << 9 == size and not dm.users(number):
            return device
    return ""


@contextmanager
def ram_disk(size: int) -> Iterator[str]:
    """brd of that size, or else a loop device over a file in RAM."""
    loaded = subprocess.run(
        ["modprobe", "brd", "rd_nr=1", f"rd_size={size >> 10}"], capture_output=True, env=dm.environment()
    )
    if loaded.returncode == 0 and Path("/sys/module/brd/refcnt").exists() and Path("/dev/ram0").exists():
        try:
            yield settle_size("/dev/ram0", size)
        finally:
            unload("brd", "/dev/ram0")
        return
    if device := built_in_ram_disk(size):
        yield device
        return
    with loop_disk(size) as device:
        yield device


# <linux/loop.h>
LOOP_CLR_FD, LOOP_CONFIGURE, LOOP_CTL_GET_FREE = 0x4C01, 0x4C0A, 0x4C82
LOOP_DIRECT_IO = 16


@contextmanager
def attached(path: str, offset: int = 0, block_size: int = 0, direct: bool = False) -> Iterator[str]:
    """A loop device over a file or a device, without the starts of losetup."""
    device = attach(path, offset, block_size, direct)
    try:
        yield device
    finally:
        with open(device, "rb", buffering=0) as loop:
            fcntl.ioctl(loop, LOOP_CLR_FD)


@contextmanager
def looped(disk: str, offset: int = 0) -> Iterator[str]:
    """A loop device that reads and writes the disk past the page cache, as a guest's machine would."""
    with attached(disk, offset, direct=True) as loop:
        yield loop


def attach(path: str, offset: int, block_size: int, direct: bool) -> str:
    if not os.path.exists("/dev/loop-control"):
        run("modprobe", "loop")
    flags = LOOP_DIRECT_IO if direct else 0
    with open(path, "r+b", buffering=0) as file, open("/dev/loop-control", "rb") as control:
        # struct loop_config, with the struct loop_info64 in it
        name = path.encode()[:63]
        config = struct.pack(
            "=II5Q4I64s", file.fileno(), block_size, 0, 0, 0, offset, 0, 0, 0, 0, flags, name
        )
        for _ in range(50):
            device = f"/dev/loop{fcntl.ioctl(control, LOOP_CTL_GET_FREE)}"
            try:
                with open(device, "r+b", buffering=0) as loop:
                    fcntl.ioctl(loop, LOOP_CONFIGURE, config.ljust(304, b"\0"))
                return device
            except OSError as error:  # somebody else was faster
                if error.errno != errno.EBUSY:
                    raise Failed(f"{device} over {path}: {error}") from None
    raise Failed(f"no loop device for {path}: all that were free were taken")


@contextmanager
def loop_disk(size: int, directory: Path = SCRATCH, prepare: Callable[[str], object] = id) -> Iterator[str]:
    """A loop device over a sparse file of that size, which `prepare` may write to before."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"disk-{os.getpid()}-{time.monotonic_ns()}"
    with open(path, "wb") as file:
        file.truncate(size)
    try:
        prepare(str(path))
        with attached(str(path)) as device:
            yield settle_size(device, size)
    finally:
        path.unlink()


def copy_sparse(source: str, to: str) -> None:
    """What stands in one file into another one, which is as large at least and has nothing in it."""
    with open(source, "rb") as old, open(to, "r+b") as new:
        for at, end in data_runs(old.fileno()):
            while at < end:
                at += os.pwrite(new.fileno(), os.pread(old.fileno(), min(end - at, 1 << 20), at), at)


@contextmanager
def mapped(name: str, table: str) -> Iterator[str]:
    """A device-mapper device of any target, removed in the end."""
    run("dmsetup", "create", name, "--table", table)
    try:
        dm.make_node(name)
        yield f"/dev/mapper/{name}"
    finally:
        remove(name)


def load_table(name: str, table: str, *flags: str) -> None:
    run("dmsetup", "suspend", *flags, name)
    run("dmsetup", "load", name, "--table", table)
    run("dmsetup", "resume", name)


def swap_table(name: str, table: str) -> None:
    """From one request to the next: nothing is flushed, no file system frozen."""
    load_table(name, table, "--noflush", "--nolockfs")


@contextmanager
def fake_disk(name: str, size: int, backing: str, *options: str) -> Iterator[str]:
    """A disk made by tools/david."""
    david("create", name, "--size", str(size), "--backing", backing, "--format", *options)
    try:
        yield f"/dev/mapper/{name}"
    finally:
        if dm.exists(name):
            remove(name)


@contextmanager
def linear_disk(
    name: str, size: int, directory: Path = SCRATCH, prepare: Callable[[str], object] = id
) -> Iterator[str]:
    """The reference: dm-linear over a sparse file of full size."""
    with loop_disk(size, directory, prepare) as loop, mapped(name, f"0 {size >> 9} linear {loop} 0") as disk:
        yield disk


def remove(name: str) -> None:
    if not udev.patiently(lambda: devmapper.output("remove", name) is not None or not dm.exists(name)):
        said = run("dmsetup", "remove", name, ok=(0, 1)).strip()
        raise Failed(f"cannot remove {name}: {said}; {dm.users(dm.minor(name))}")


def unload(module: str, *devices: str) -> None:
    """Remove a module; DEVICES are its own, for whoever has to find out who has them open."""

    def unloaded() -> bool:
        return not subprocess.run([program("modprobe"), "-r", module], capture_output=True).returncode

    if not udev.patiently(unloaded):
        said = run("modprobe", "-r", module, ok=(0, 1)).strip()
        count = Path(f"/sys/module/{module}/refcnt").read_text().strip()
        who = {device: dm.users(dm.number(device)) for device in devices}
        raise Failed(f"{said} {count} references after {udev.LIMIT} s; {who}")


def has_helper(fs: str) -> bool:
    return Path(f"/sbin/mount.{fs}").exists()


def mount(device: str, point: str, fs: str, options: str = "") -> None:
    """mount(2) where the file system has no helper: programs take long to start in a lab."""
    if has_helper(fs):
        run("mount", "-t", fs, *(["-o", options] if options else []), device, point)
        return
    flags, rest = 0, []
    for word in options.split(",") if options else []:
        flags |= MOUNT_FLAGS.get(word, 0)
        rest += [word] if word not in MOUNT_FLAGS else []
    if libc.mount(*map(os.fsencode, (device, point, fs)), ctypes.c_ulong(flags), ",".join(rest).encode()):
        error = os.strerror(ctypes.get_errno())
        raise Failed(f"mount -t {fs} -o {options or 'defaults'} {device} {point}: {error}")


def unmount(point: str, fs: str) -> None:
    if has_helper(fs):
        run("umount", point)
    elif libc.umount2(os.fsencode(point), 0):
        raise Failed(f"umount {point}: {os.strerror(ctypes.get_errno())}")


@contextmanager
def mounted(device: str, fs: str, options: str = "") -> Iterator[str]:
    point = SCRATCH / f"mnt-{os.path.basename(device)}"
    point.mkdir(parents=True, exist_ok=True)
    mount(device, str(point), fs, options)
    try:
        yield str(point)
    finally:
        for _ in range(20):
            with suppress(Failed):
                unmount(str(point), fs)
                break
            time.sleep(0.2)
        else:
            unmount(str(point), fs)


def device_stats(name: str) -> dict[str, object]:
    return stats.as_dict(stats.fetch(name))


def quiet(name: str) -> dict[str, object]:
    """The disk's figures, once nobody asks it anything any more."""
    figures: list[dict[str, object]] = []

    def unchanged() -> bool:
        figures.append(device_stats(name))
        if not udev.runs():
            return True
        time.sleep(0.5)
        return device_stats(name)["requests"] == figures[-1]["requests"]

    udev.settle()
    if not udev.patiently(unchanged):
        raise Failed(f"{name} still has requests: {figures[-1]['requests']}, {dm.users(dm.minor(name))}")
    return figures[-1]
